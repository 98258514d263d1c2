/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - files that the library opens inside the program's process. Their descriptors are
 * above 2: a program may have closed 0, 1 or 2, and messages are still written there. exec closes
 * them. Writing raises no signal, although a limit on file length normally ends the process by one.
 */
#ifndef ISOMER_DESCRIPTOR_H
#define ISOMER_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Returns the descriptor if it is above 2; otherwise duplicates it above 2 and closes it. -1 with
 * errno. */
int descriptor_raise(int descriptor);

/* -1 with errno. */
int descriptor_open(const char *path, int flags, mode_t mode);
FILE *descriptor_read(const char *path);  /* NULL with errno */
DIR *descriptor_folder(const char *path); /* NULL with errno */
int descriptor_pipe(int ends[2]);         /* 0, or -1 with errno */

/* Writes everything. False with errno, which is EFBIG if the file may not grow. */
bool descriptor_write(int descriptor, const void *data, size_t bytes);

#endif
