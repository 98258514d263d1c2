/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - reads small system files without allocating memory. Values from these files are read
 * only once. If an allocation failed during that one read, the values would stay unknown until the
 * process ends. */
#ifndef ISOMER_FILES_H
#define ISOMER_FILES_H

#include <stddef.h>

/* Reads the beginning of the file, NUL-terminated and without trailing newlines. Returns 0 if the
 * file cannot be read. */
int files_read(const char *path, char *text, size_t capacity);

/* Reads a file line by line. */
typedef struct files_lines {
    int file; /* -1 if it cannot be read, or is closed */
    size_t at, end;
    char data[256];
} files_lines;

void files_lines_open(files_lines *lines, const char *path);
/* Reads the next line without its newline, cut to fit. If there are no more lines, closes the file
 * and returns 0. */
int files_lines_next(files_lines *lines, char *line, size_t capacity);
void files_lines_close(files_lines *lines); /* may already be closed */

/* Follows the links of a path, and writes the name of the final file without its folder:
 * "libgomp.so.1.0.0". If the links cannot be followed, writes the name in the path. */
void files_real_name(const char *path, char *name, size_t capacity);

#endif
