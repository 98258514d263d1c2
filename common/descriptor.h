/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - files that the library opens inside the program's process. Their descriptors are
 * above 2. If the program has closed 0, 1 or 2, a new file would get that number, and would receive
 * what the program writes to standard output or standard error. exec closes the descriptors. A
 * write past the limit on file length returns an error, and SIGXFSZ does not end the process.
 */
#ifndef ISOMER_DESCRIPTOR_H
#define ISOMER_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Returns the descriptor if it is above 2. Otherwise duplicates it to a number above 2 and closes
 * the original. On failure returns -1 and sets errno. */
int descriptor_raise(int descriptor);

/* On failure returns -1 and sets errno. */
int descriptor_open(const char *path, int flags, mode_t mode);
FILE *descriptor_read(const char *path);  /* NULL with errno */
DIR *descriptor_folder(const char *path); /* NULL with errno */
int descriptor_pipe(int ends[2]);         /* 0, or -1 with errno */

/* Writes everything. On failure returns false and sets errno: EFBIG if the file may not grow. */
bool descriptor_write(int descriptor, const void *data, size_t bytes);

#endif
