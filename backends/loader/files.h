/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - reads small system files without allocating. Otherwise a first read that fails for lack
 * of memory would leave their values unknown until the process ends. */
#ifndef ISOMER_FILES_H
#define ISOMER_FILES_H

#include <stddef.h>

/* The beginning of the file, NUL-terminated, without trailing newlines; 0: it cannot be read. */
int files_read(const char *path, char *text, size_t capacity);

/* A file line by line. */
typedef struct files_lines {
    int file; /* -1: it cannot be read */
    size_t at, end;
    char data[256];
} files_lines;

void files_lines_open(files_lines *lines, const char *path);
/* The next line without its newline, cut to fit; 0: there is none, and the file has been closed. */
int files_lines_next(files_lines *lines, char *line, size_t capacity);
void files_lines_close(files_lines *lines); /* may already be closed */

/* The name of the file that a path leads to through links, without its folder: "libgomp.so.1.0.0".
 * If that cannot be found out, the path's own name. */
void files_real_name(const char *path, char *name, size_t capacity);

#endif
