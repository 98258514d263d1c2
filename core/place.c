/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - where this library lies. What its package brings along (plug-ins, programs built ahead)
 * is found beside it, so that a prefix may be moved. */
#include "core/core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *place;

static void find(void)
{
    Dl_info found;
    char *path, *slash;

    if (!dladdr((void *)&place, &found) || !found.dli_fname)
        return;
    path = realpath(found.dli_fname, NULL);
    slash = path ? strrchr(path, '/') : NULL;
    if (slash) {
        *slash = 0;
        if (asprintf(&place, "%s/isomer", path) < 0)
            place = NULL;
    }
    free(path);
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
    return place ? place : "";
}
