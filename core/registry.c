/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the known backends: the built-in ones, and the plug-ins found so far. Entries stay
 * until the process ends. */
#include "core/registry.h"
#include "common/descriptor.h"
#include "core/call.h"
#include "core/fork.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static core_backend *registry_first, **registry_end = &registry_first;

static const char prefix[] = "isomer-", suffix[] = ".so";

/* Called with the registry locked. */
static void link_last(core_backend *made)
{
    pthread_mutex_init(&made->lock, NULL);
    *registry_end = made;
    registry_end = &made->next;
}

/* Called with the registry locked. NULL if there is no memory. */
static core_backend *add_plugin(const char *name, const char *path)
{
    core_backend *made = calloc(1, sizeof *made);
    char *origin = strdup(path);

    if (!made || !origin) {
        free(made);
        free(origin);
        return NULL;
    }
    snprintf(made->name, sizeof made->name, "%s", name);
    made->origin = origin;
    made->is_plugin = true;
    link_last(made);
    return made;
}

/* Called with the registry locked. */
static void add_builtins(void)
{
    if (registry_first) {
        return;
    }
    for (int i = 0; core_builtins[i].name; i++) {
        core_backend *made = &core_builtin_backends[i];

        snprintf(made->name, sizeof made->name, "%s", core_builtins[i].name);
        made->origin = "built in";
        made->query = core_builtins[i].query;
        made->is_last = !core_builtins[i + 1].name;
        link_last(made);
    }
}

core_backend *core_backend_builtin(int i)
{
    pthread_mutex_lock(&registry_lock);
    add_builtins();
    pthread_mutex_unlock(&registry_lock);
    return &core_builtin_backends[i];
}

static core_backend *find_builtin(const char *name)
{
    core_backend *at;

    pthread_mutex_lock(&registry_lock);
    add_builtins();
    for (at = registry_first; at; at = at->next) {
        if (!at->is_plugin && !strcmp(at->name, name)) {
            break;
        }
    }
    pthread_mutex_unlock(&registry_lock);
    return at;
}

/* Finds or adds the plug-in with this path. NULL if there is no memory. */
static core_backend *plugin_of(const char *name, const char *path)
{
    core_backend *at;

    pthread_mutex_lock(&registry_lock);
    add_builtins();
    for (at = registry_first; at; at = at->next) {
        if (at->is_plugin && !strcmp(at->origin, path)) {
            break;
        }
    }
    if (!at) {
        at = add_plugin(name, path);
    }
    pthread_mutex_unlock(&registry_lock);
    return at;
}

typedef struct seek {
    const char *name;
    core_backend *found;
    bool failed; /* no memory */
} seek;

static bool seek_in(const char *folder, void *context)
{
    char *path = NULL;
    seek *what = context;
    struct stat there; /* a dangling link counts too: opening it reports the problem */
    bool seen;

    if (asprintf(&path, "%s/%s%s%s", folder, prefix, what->name, suffix) < 0) {
        what->failed = true;
        return false;
    }
    seen = strlen(path) < ISO_REASON_MAX && !lstat(path, &there);
    if (seen) {
        what->found = plugin_of(what->name, path);
        what->failed = !what->found;
    }
    free(path);
    return !seen;
}

iso_status core_backend_find(const char *call, const char *name, core_backend **out)
{
    seek what = {.name = name, .found = find_builtin(name)};

    core_fork_guard();
    if (!what.found && core_name_valid(name) && !core_plugin_folders(seek_in, &what)) {
        what.failed = true;
    }
    *out = what.found;
    return what.failed
               ? core_fail(ISO_NO_MEMORY, "%s: no host memory for looking up %s", call, name)
               : ISO_OK;
}

typedef struct collection {
    core_backend **list;
    int count, room;
    int builtins;
    bool failed; /* no memory */
} collection;

static void collect(collection *into, core_backend *backend)
{
    if (into->count == into->room) {
        int room = into->room ? into->room * 2 : 16;
        core_backend **grown = realloc(into->list, (size_t)room * sizeof *grown);

        if (!grown) {
            into->failed = true;
            return;
        }
        into->list = grown;
        into->room = room;
    }
    into->list[into->count++] = backend;
}

/* Whether a plug-in of this name was collected. If several files have one name, only the first is
 * used, as in a look-up by name. */
static bool known(const collection *so_far, const char *name)
{
    for (int i = so_far->builtins; i < so_far->count; i++) {
        if (!strcmp(so_far->list[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static void collect_file(collection *into, const char *folder, const char *file)
{
    size_t length = strlen(file), ends = strlen(prefix) + strlen(suffix);
    core_backend *plugin = NULL;
    char *path = NULL, name[256];

    if (length <= ends || strncmp(file, prefix, strlen(prefix)) ||
        strcmp(file + length - strlen(suffix), suffix)) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length - ends), file + strlen(prefix));
    if (strlen(name) >= ISO_NAME_MAX || known(into, name)) {
        return;
    }
    if (asprintf(&path, "%s/%s", folder, file) < 0) {
        into->failed = true;
        return;
    }
    if (strlen(path) < ISO_REASON_MAX) {
        plugin = plugin_of(name, path);
        into->failed = !plugin;
    }
    free(path);
    if (plugin) {
        collect(into, plugin);
    }
}

/* Ignores a missing folder, which has no plug-ins. Fails if a folder cannot be read for lack of
 * memory, because it may have some. */
static bool collect_folder(const char *folder, void *context)
{
    collection *into = context;
    struct dirent *file;
    DIR *open;

    errno = 0;
    open = descriptor_folder(folder);
    while (open && !into->failed && (errno = 0, file = readdir(open))) {
        collect_file(into, folder, file->d_name);
    }
    into->failed = into->failed || errno == ENOMEM;
    if (open) {
        closedir(open);
    }
    return !into->failed;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(core_backend *const *)a)->name, (*(core_backend *const *)b)->name);
}

core_backend **core_backend_list(int *count)
{
    collection into = {0};

    core_fork_guard();
    for (int i = 0; core_builtins[i].name; i++) {
        core_backend *builtin = find_builtin(core_builtins[i].name);

        collect(&into, builtin);
    }
    into.builtins = into.count;
    if (!core_plugin_folders(collect_folder, &into) || into.failed) {
        free(into.list);
        return NULL;
    }
    qsort(into.list + into.builtins, (size_t)(into.count - into.builtins), sizeof *into.list,
          by_name);
    *count = into.count;
    return into.list;
}

/* Called with the backend locked and loaded. Probes it, and completes its answer. */
static iso_status ask(const char *call, core_backend *backend, iso_probe *out)
{
    core_kept_error kept = core_error_keep();
    iso_status status;

    *out = (iso_probe){.size = (uint32_t)sizeof *out};
    core_backend_enter();
    status = core_backend_leave("probe", backend->name, backend->table.probe(out), false);
    out->reason[sizeof out->reason - 1] = 0;
    if (status == ISO_NO_MEMORY) {
        *out = (iso_probe){0}; /* the next call probes it again */
        free(kept.text);
        return core_fail(status, "%s: %s", call, iso_last_error());
    }
    if (status) {
        if (out->state <= ISO_STATE_OK || out->state > ISO_STATE_BROKEN) {
            out->state = ISO_STATE_LOAD_FAILED;
        }
        if (!out->reason[0]) {
            snprintf(out->reason, sizeof out->reason, "%s", iso_last_error());
        }
    } else if (out->state < ISO_STATE_OK || out->state > ISO_STATE_BROKEN) {
        snprintf(out->reason, sizeof out->reason,
                 "its probe set the state %d, which does not exist", (int)out->state);
        out->state = ISO_STATE_LOAD_FAILED;
    } else if (out->state == ISO_STATE_OK &&
               (out->devices < 1 ||
                backend->table.flags & (ISO_BACKEND_PROBE_ONLY | ISO_BACKEND_ENGINE_ONLY))) {
        out->state = ISO_STATE_NO_DEVICE;
    }
    if (out->state != ISO_STATE_OK) {
        out->devices = 0;
        if (!out->reason[0]) {
            snprintf(out->reason, sizeof out->reason, "its probe set no reason");
        }
    }
    core_error_restore(&kept);
    return ISO_OK;
}

iso_status core_backend_probe(const char *call, core_backend *backend, iso_probe *out)
{
    iso_status status = ISO_OK;

    *out = (iso_probe){.size = (uint32_t)sizeof *out};
    pthread_mutex_lock(&backend->lock);
    if (backend->forked) {
        out->state = ISO_STATE_FORKED;
        snprintf(out->reason, sizeof out->reason,
                 "the parent process used %s before fork() (listing devices counts as use), and a "
                 "child cannot use its driver: start a new program instead",
                 backend->name);
    } else if (core_backend_load(backend, out)) {
        /* A usable backend is not probed again. Others are, because they may have become usable. */
        if (backend->probe.state != ISO_STATE_OK) {
            const bool touched = backend->touched;

            backend->touched = true; /* in case another thread forks during the probe */
            status = ask(call, backend, &backend->probe);
            backend->touched = touched || backend->probe.state != ISO_STATE_NOT_FOUND;
        }
        *out = backend->probe;
    }
    pthread_mutex_unlock(&backend->lock);
    return status;
}

iso_status core_backend_ready(const char *call, core_backend *backend, int32_t *devices)
{
    iso_probe *probe = malloc(sizeof *probe);
    iso_status status;

    if (!probe) {
        return core_fail_no_memory(call, (int64_t)sizeof *probe);
    }
    status = core_backend_probe(call, backend, probe);
    if (!status && probe->state != ISO_STATE_OK) {
        status = core_fail(ISO_UNAVAILABLE, "%s: %s is not available (%s): %s", call, backend->name,
                           iso_state_name(probe->state), probe->reason);
    }
    *devices = probe->devices;
    free(probe);
    return status;
}

iso_status core_backend_device_info(const char *call, core_backend *backend, int32_t index,
                                    iso_device_info *out)
{
    iso_status status;

    *out = (iso_device_info)ISO_DEVICE_INFO_INIT;
    status = CORE_CALL(call, &backend->table, backend->table.device_info(index, out));
    if (status) {
        return status;
    }
    out->size = (uint32_t)sizeof *out;
    out->index = index;
    out->reserved = 0;
    snprintf(out->spec, sizeof out->spec, "%.100s:%d", backend->name, index);
    snprintf(out->backend, sizeof out->backend, "%s", backend->name);
    out->name[ISO_NAME_MAX - 1] = out->vendor[ISO_NAME_MAX - 1] = out->uuid[ISO_NAME_MAX - 1] = 0;
    out->architecture[ISO_NAME_MAX - 1] = out->driver[ISO_NAME_MAX - 1] = 0;
    out->runtime[ISO_NAME_MAX - 1] = 0;
    /* A backend may leave 0 if the size is unknown: no device has 0 bytes of memory. */
    out->memory_total = out->memory_total > 0 ? out->memory_total : -1;
    return ISO_OK;
}

iso_status core_backend_device_usable(const char *call, core_backend *backend, int32_t index)
{
    if (!backend->table.device_usable) {
        return ISO_OK;
    }
    return CORE_CALL(call, &backend->table, backend->table.device_usable(index));
}

void core_registry_fork(int stage)
{
    core_fork_lock(&registry_lock, stage);
    if (stage != CORE_FORK_CHILD) {
        return;
    }
    for (core_backend *at = registry_first; at; at = at->next) {
        pthread_mutex_init(&at->lock, NULL);
        if (at->touched && !(at->table.flags & ISO_BACKEND_FORK_SAFE)) {
            at->forked = true;
        }
        at->touched = false;
        at->probe = (iso_probe){0};
    }
}

/* ---- listing every backend and device -------------------------------------------------------- */

typedef struct rows {
    char *entries; /* `stride` bytes apart */
    uint32_t stride;
    int32_t capacity, count;
} rows;

static void put(rows *into, const iso_entry *entry)
{
    if (into->count < into->capacity) {
        char *at = into->entries + (size_t)into->count * into->stride;

        memcpy(at, &into->stride, sizeof into->stride);
        core_struct_write(at, entry, sizeof *entry);
    }
    into->count++;
}

/* The text of a backend's failure, without the names of the call and the backend, which the core
 * put in front of it. */
static const char *own_words(const char *call, const core_backend *backend)
{
    const char *text = iso_last_error();
    char start[2 * ISO_NAME_MAX];
    const int length = snprintf(start, sizeof start, "%s: %s: ", call, backend->name);

    return strncmp(text, start, (size_t)length) ? text : text + length;
}

/* Fills the row with the device's description, or with the reason why it cannot be used. Fails only
 * with NO_MEMORY. */
static iso_status describe_device(const char *call, core_backend *backend, int32_t index,
                                  iso_entry *entry)
{
    core_kept_error kept = core_error_keep();
    iso_status status = core_backend_device_info(call, backend, index, &entry->device);
    const bool known = !status;

    if (known) {
        status = core_backend_device_usable(call, backend, index);
    }
    if (status == ISO_NO_MEMORY) {
        free(kept.text);
        return status;
    }
    if (!known) {
        entry->state = ISO_STATE_NO_DEVICE;
        snprintf(entry->reason, sizeof entry->reason, "device %d: %.4000s", index,
                 iso_last_error());
        memset(&entry->device, 0, sizeof entry->device);
    } else if (status) {
        entry->state = ISO_STATE_BROKEN;
        snprintf(entry->reason, sizeof entry->reason, "%s", own_words(call, backend));
    }
    core_error_restore(&kept);
    return ISO_OK;
}

/* Adds the backend's rows. Fails only with NO_MEMORY. */
static iso_status put_backend(const char *call, rows *into, core_backend *backend, iso_entry *entry,
                              iso_probe *probe)
{
    iso_status status = core_backend_probe(call, backend, probe);

    for (int32_t i = 0; !status && (i < probe->devices || i == 0); i++) {
        memset(entry, 0, sizeof *entry);
        entry->size = (uint32_t)sizeof *entry;
        entry->state = probe->state;
        entry->is_plugin = backend->is_plugin;
        snprintf(entry->backend, sizeof entry->backend, "%s", backend->name);
        snprintf(entry->origin, sizeof entry->origin, "%s", backend->origin);
        snprintf(entry->reason, sizeof entry->reason, "%s",
                 probe->state == ISO_STATE_OK ? "" : probe->reason);
        if (probe->state == ISO_STATE_OK && into->count < into->capacity) {
            status = describe_device(call, backend, i, entry);
        }
        if (!status) {
            put(into, entry);
        }
    }
    return status;
}

/* `context` points to the rows. */
static iso_status list_all(void *context)
{
    const char *call = "iso_enumerate";
    rows *into = context;
    iso_status status = ISO_OK;
    iso_entry *entry = malloc(sizeof *entry);
    iso_probe *probe = malloc(sizeof *probe);
    int backends = 0;
    core_backend **list = core_backend_list(&backends);

    if (!list || !entry || !probe) {
        status = core_fail_no_memory(call, (int64_t)(sizeof *entry + sizeof *probe));
    }
    for (int i = 0; i < backends && !status; i++) {
        status = put_backend(call, into, list[i], entry, probe);
    }
    free(list);
    free(entry);
    free(probe);
    return status;
}

iso_status iso_enumerate(iso_entry *entries, int32_t capacity, int32_t *count)
{
    const char *call = "iso_enumerate";
    rows into = {.entries = (char *)entries, .capacity = capacity};
    iso_status status = core_check_out(call, "count", count);

    if (!status) {
        status = core_check_size(call, "capacity", capacity);
    }
    if (!status && capacity > 0) {
        status = core_struct_check(call, "entries", entries, CORE_END_OF(iso_entry, state));
        into.stride = status ? 0 : entries->size;
    }
    if (!status) {
        status = core_stack_run(call, list_all, &into);
    }
    if (!status) {
        *count = into.count;
    }
    return status;
}
