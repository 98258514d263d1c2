/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - loads a backend: opens a plug-in's file, calls the query function, and checks the
 * descriptor that it returns. */
#include "core/call.h"
#include "core/host.h"
#include "core/registry.h"
#include "core/settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WHY_MAX = 1024 };

typedef struct entry {
    const char *name;
    size_t offset;
} entry;
#define ENTRY(field) {#field, offsetof(iso_backend, field)}

static const entry required[] = {
    ENTRY(probe), /* keep it first: a backend without devices needs no other one */
    ENTRY(device_info),  ENTRY(device_open),   ENTRY(device_close),   ENTRY(memory_alloc),
    ENTRY(memory_free),  ENTRY(stream_create), ENTRY(stream_destroy), ENTRY(stream_sync),
    ENTRY(stream_query), ENTRY(event_create),  ENTRY(event_destroy),  ENTRY(event_record),
    ENTRY(stream_wait),  ENTRY(event_sync),    ENTRY(event_query),    ENTRY(event_elapsed),
    ENTRY(transfer),     ENTRY(supports),      ENTRY(workspace),      ENTRY(execute),
};

static const entry pairs[][2] = {
    {ENTRY(host_alloc), ENTRY(host_free)},         {ENTRY(host_register), ENTRY(host_unregister)},
    {ENTRY(memory_import), ENTRY(memory_forget)},  {ENTRY(program_build), ENTRY(program_release)},
    {ENTRY(program_build), ENTRY(program_launch)}, {ENTRY(graph_open), ENTRY(graph_begin)},
    {ENTRY(graph_open), ENTRY(graph_end)},         {ENTRY(graph_open), ENTRY(graph_launch)},
    {ENTRY(graph_open), ENTRY(graph_close)},
};

static bool has(const iso_backend *table, const entry *at)
{
    void (*function)(void);

    memcpy(&function, (const char *)table + at->offset, sizeof function);
    return function != NULL;
}

static bool refuse(iso_probe *out, const char *format, ...) ISO_PRINTF(2, 3);

static bool refuse(iso_probe *out, const char *format, ...)
{
    va_list list;

    out->state = ISO_STATE_LOAD_FAILED;
    out->devices = 0;
    va_start(list, format);
    vsnprintf(out->reason, sizeof out->reason, format, list);
    va_end(list);
    return false;
}

bool core_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");

    return length > 0 && !name[length] && length < ISO_NAME_MAX;
}

/* Copies the part of the descriptor that both the backend and the core know, and checks it. */
static bool take(core_backend *backend, const iso_backend *given, iso_probe *out)
{
    const char *origin = backend->origin;
    iso_backend *table = &backend->table;
    size_t count = sizeof required / sizeof required[0];

    if (!given) {
        return refuse(out,
                      "%s: %s returned no descriptor: it cannot work with this library (ABI %d.%d)",
                      origin, ISO_BACKEND_QUERY_NAME, ISO_ABI_MAJOR, ISO_ABI_MINOR);
    }
    if (given->size < offsetof(iso_backend, flags)) {
        return refuse(out, "%s: its descriptor's size is %u, too short to hold a version", origin,
                      given->size);
    }
    if (given->abi_major != ISO_ABI_MAJOR) {
        refuse(out,
               "%s: it was built for ABI %u.%u, and this library has ABI %d.%d: the major "
               "versions must be the same",
               origin, given->abi_major, given->abi_minor, ISO_ABI_MAJOR, ISO_ABI_MINOR);
        out->state = ISO_STATE_ABI_MISMATCH;
        return false;
    }
    if (given->size < CORE_END_OF(iso_backend, probe)) {
        return refuse(out,
                      "%s: its descriptor's size is %u, but the fields up to probe take %zu bytes",
                      origin, given->size, CORE_END_OF(iso_backend, probe));
    }
    memset(table, 0, sizeof *table);
    memcpy(table, given, given->size < sizeof *table ? given->size : sizeof *table);
    table->size = (uint32_t)sizeof *table;
    if (!table->name) {
        return refuse(out, "%s: its descriptor's name is NULL", origin);
    }
    if (strcmp(table->name, backend->name)) {
        return refuse(out,
                      "%s: its descriptor's name is \"%.100s\", but the file is named for \"%s\"",
                      origin, table->name, backend->name);
    }
    if (table->flags & (ISO_BACKEND_PROBE_ONLY | ISO_BACKEND_ENGINE_ONLY)) {
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!has(table, &required[i])) {
            return refuse(out, "%s: its required entry %s is NULL", origin, required[i].name);
        }
    }
    if (table->flags & ISO_BACKEND_ENGINE_ONLY && !table->engine) {
        return refuse(out, "%s: its required entry engine is NULL", origin);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (has(table, &pairs[i][0]) != has(table, &pairs[i][1])) {
            return refuse(out,
                          "%s: it has only one of the entries %s and %s, which belong together",
                          origin, pairs[i][0].name, pairs[i][1].name);
        }
    }
    return true;
}

/* Opens a file and leaves the program's handlers of faults as they were: some libraries that a
 * plug-in links install theirs as soon as they are loaded (UCX, which MPICH uses). */
static void *open_quietly(const char *path)
{
    static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    enum { FAULTS = sizeof faults / sizeof faults[0] };
    struct sigaction before[FAULTS];
    void *file;

    for (int i = 0; i < FAULTS; i++) {
        sigaction(faults[i], NULL, &before[i]);
    }
    dlerror();
    CORE_DO(file = dlopen(path, RTLD_NOW | RTLD_LOCAL));
    for (int i = 0; i < FAULTS; i++) {
        sigaction(faults[i], &before[i], NULL);
    }
    return file;
}

void *core_plugin_part(const char *path, char *problem, size_t room)
{
    const char *why;
    void *file;

    problem[0] = 0;
    core_absolute_problem(path, problem, room);
    if (!problem[0]) {
        core_path_problem(path, problem, room);
    }
    if (problem[0]) {
        return NULL;
    }
    file = open_quietly(path);
    if (!file) {
        why = dlerror();
        snprintf(problem, room, "%s", why ? why : "it could not be opened");
    }
    return file;
}

/* Apart from opening, so that a library's start does not have these texts on its stack. */
static __attribute__((noinline)) bool judge_file(const core_backend *backend, iso_probe *out)
{
    const char *path = backend->origin;
    char why[WHY_MAX];
    struct stat found;

    if (!core_name_valid(backend->name)) {
        return refuse(out, "%s: a backend's name has lower-case letters, digits, '-' and '_' only",
                      path);
    }
    for (int i = 0; core_builtins[i].name; i++) {
        if (!strcmp(core_builtins[i].name, backend->name)) {
            return refuse(out, "%s: its name is taken by the built-in backend %s", path,
                          backend->name);
        }
    }
    if (stat(path, &found)) {
        int error = errno;

        return refuse(out, "%s%s: %s", path,
                      !lstat(path, &found) && S_ISLNK(found.st_mode)
                          ? " is a link to a file that does not exist"
                          : "",
                      strerror(error));
    }
    if (!S_ISREG(found.st_mode)) {
        return refuse(out, "%s is %s, not a file", path,
                      S_ISDIR(found.st_mode) ? "a directory" : "a special file");
    }
    core_path_problem(path, why, sizeof why);
    if (why[0]) {
        return refuse(out, "%s is not opened: %s", path, why);
    }
    return true;
}

static bool open_file(core_backend *backend, iso_backend_query *query, iso_probe *out)
{
    const char *path = backend->origin, *problem;
    void *file;

    if (!judge_file(backend, out)) {
        return false;
    }
    file = open_quietly(path);
    if (!file) {
        problem = dlerror();
        return refuse(out, "%s could not be opened: %s", path,
                      problem ? problem : "no reason was given");
    }
    *(void **)query = dlsym(file, ISO_BACKEND_QUERY_NAME);
    if (!*query) {
        return refuse(out, "%s is not a backend: it does not export the function %s", path,
                      ISO_BACKEND_QUERY_NAME);
    }
    return true;
}

bool core_backend_load(core_backend *backend, iso_probe *out)
{
    iso_backend_query query = backend->query;

    if (backend->loaded) {
        return true;
    }
    if (!query && !open_file(backend, &query, out)) {
        return false;
    }
    backend->loaded =
        take(backend, query((uint32_t)ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &core_host), out);
    if (backend->loaded) {
        core_log(ISO_LOG_INFO, "backend %s (%s): %s", backend->name, backend->origin,
                 backend->table.build_info ? backend->table.build_info : "");
    }
    return backend->loaded;
}

/* ---- folders of plug-ins --------------------------------------------------------------------- */

/* Whether plug-ins in a folder may be opened; if not, `problem` says why. */
static bool judge_folder(const char *folder, char *problem, size_t room)
{
    char why[WHY_MAX] = "";

    problem[0] = 0;
    core_absolute_problem(folder, problem, room);
    if (!problem[0]) {
        core_path_problem(folder, why, sizeof why);
    }
    if (why[0]) {
        snprintf(problem, room, "the folder \"%s\" is ignored: %s", folder, why);
    }
    return !problem[0];
}

bool core_plugin_folders(bool (*visit)(const char *folder, void *context), void *context)
{
    const char *path = core_setting("ISOMER_BACKEND_PATH");
    char *copy = path ? strdup(path) : NULL, *rest = copy, *folder;
    char problem[2 * WHY_MAX];
    bool more = true;

    if (path && !copy) {
        return false;
    }
    while (more && rest && (folder = strsep(&rest, ":"))) {
        if (folder[0] && judge_folder(folder, problem, sizeof problem)) {
            more = visit(folder, context);
        } else if (folder[0]) {
            core_log(ISO_LOG_WARN, "ISOMER_BACKEND_PATH: %s", problem);
        }
    }
    free(copy);
    if (more && judge_folder(core_place(), problem, sizeof problem)) {
        visit(core_place(), context);
    } else if (more) {
        core_log(ISO_LOG_WARN, "plug-ins: %s", problem);
    }
    return true;
}

void core_plugin_path_problem(const char *path, char *problem, size_t room)
{
    char *copy = strdup(path), *rest = copy, *folder;
    bool good = true;

    while (good && rest && (folder = strsep(&rest, ":"))) {
        good = !folder[0] || judge_folder(folder, problem, room);
    }
    free(copy);
    if (good) {
        (void)judge_folder(core_place(), problem, room);
    }
}
