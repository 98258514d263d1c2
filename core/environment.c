/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - reads the environment (no other file of the core does) and finds the library's
 * own folder.
 *
 * A program with more rights than its caller (set-uid, set-gid, file capabilities) cannot trust its
 * environment, because the caller made it. Variables that name a path are ignored there, and
 * ISOMER_LOG reports each once.
 */
#include "core/host.h"
#include "core/settings.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char core_path_ignored[] =
    "it names a path, and is ignored: this program has more rights than "
    "its caller (set-uid, set-gid or file capabilities)";

/* Logs the problem, once for each variable. */
static void say(const char *name, const char *problem)
{
    enum { NAMES = 16 };
    static _Atomic(const char *) said[NAMES];
    const char *kept = core_keep(name);

    for (int i = 0; kept && i < NAMES; i++) {
        const char *at = NULL;

        if (atomic_compare_exchange_strong(&said[i], &at, kept)) {
            core_log(ISO_LOG_WARN, "%s: %s", name, problem);
            return;
        }
        if (!strcmp(at, name)) {
            return;
        }
    }
}

const char *core_variable(const char *name)
{
    return getenv(name);
}

const char *core_path_variable(const char *name)
{
    const char *value = secure_getenv(name);

    if (!value && core_variable(name)) {
        say(name, core_path_ignored);
    }
    return value;
}

void core_absolute_problem(const char *value, char *problem, size_t room)
{
    if (value[0] != '/') {
        snprintf(problem, room,
                 "\"%s\" is not an absolute path and is ignored: nothing is loaded from the "
                 "working directory: give the whole path",
                 value);
    }
}

const char *core_host_path(const char *name, char *problem, int64_t capacity)
{
    const char *given = core_variable(name), *value = core_path_variable(name);

    problem[0] = 0;
    if (!given || !given[0]) {
        return NULL;
    }
    if (!value) {
        snprintf(problem, (size_t)capacity, "%s", core_path_ignored);
    } else {
        core_absolute_problem(value, problem, (size_t)capacity);
    }
    if (problem[0]) {
        say(name, problem);
    }
    return problem[0] ? NULL : core_keep(value);
}

/* ---- the library's own folder ---------------------------------------------------------------- */

/* The files of the package (plug-ins, prebuilt programs) are found relative to the library, so that
 * the installed package can be moved. */
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

/* Runs when the library is loaded. The dynamic linker may report a relative path, which is wrong as
 * soon as the program changes its working directory. */
__attribute__((constructor)) static void find_early(void)
{
    pthread_once(&once, find);
}

const char *core_place(void)
{
    pthread_once(&once, find);
    return place;
}
