/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - where this library lies. What its package brings along (plug-ins, programs built ahead)
 * is found beside it, so that a prefix may be moved. */
#include "core/core.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char place[PATH_MAX + 16]; /* no allocation can make it unknown for good */

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

/* When the library is loaded: the path that the dynamic linker knows may be relative, to a folder
 * that is left later. */
__attribute__((constructor)) static void find_early(void)
{
    pthread_once(&once, find);
}

const char *core_place(void)
{
    pthread_once(&once, find);
    return place;
}
