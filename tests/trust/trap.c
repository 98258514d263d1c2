/* SPDX-License-Identifier: Apache-2.0 */
/* trap.c - a library that should never be loaded: it creates the file MARK in its folder. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void sprung(void)
{
    const int file = open(MARK, O_WRONLY | O_CREAT, 0666);

    if (file >= 0) {
        (void)close(file);
    }
}
