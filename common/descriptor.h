/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - files that the library opens in somebody's process: never as descriptor 0, 1 or 2,
 * which a program may have closed and which messages are written to; closed by exec; and written
 * without the signal that ends a process where a limit on the length of files is met.
 */
#ifndef ISOMER_DESCRIPTOR_H
#define ISOMER_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Another number for one under 3, which is closed; others stay. -1 with errno. */
int descriptor_raise(int descriptor);

/* -1 with errno. */
int descriptor_open(const char *path, int flags, mode_t mode);
FILE *descriptor_read(const char *path);  /* NULL with errno */
DIR *descriptor_folder(const char *path); /* NULL with errno */
int descriptor_pipe(int ends[2]);         /* 0, or -1 with errno */

/* Writes all of it. False with errno, which is EFBIG where the file may not grow. */
bool descriptor_write(int descriptor, const void *data, size_t bytes);

#endif
