/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - the folder of this library. Files of its package (plug-ins, programs built ahead) are
 * found beside it, so that a prefix can be moved. */
#include "core/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char place[PATH_MAX + 16]; /* static, so that a failed allocation cannot lose it */

static void find(void)
{
    Dl_info found;
    char *slash;

    if (!dladdr((void *)&place, &found) || !found.dli_fname || !realpath(found.dli_fname, place)) {
        place[0] = 0;
        return;
    }
    slash = strrchr(place, '/');
    snprintf(slash, sizeof place - (size_t)(slash - place), "/isomer");
}

/* Runs when the library is loaded: the dynamic linker's path may be relative, to a working
 * directory that changes later. */
__attribute__((constructor)) static void find_early(void)
{
    pthread_once(&once, find);
}

const char *core_place(void)
{
    pthread_once(&once, find);
    return place;
}
