/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - opens binaries and launches their kernels, one at a time in a process. */
#include "tests/fakes/program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in prelude.h. */
typedef struct fake_entry {
    const char *name;
    void (*call)(void **arguments);
    int threads, count;
    const int *bytes;
} fake_entry;

struct fake_kernel {
    fake_module *module;
    const fake_entry *entry;
    fake_kernel *next;
};

struct fake_module {
    void *handle;
    fake_state *state;
    char *shared;
    size_t shared_bytes;
    fake_kernel *kernels;
    fake_module *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static fake_module *modules;

/* A name that no other module ever had: the loader treats equal names as the same file. */
static void *open_object(const char *object, size_t bytes)
{
    static int number;
    char path[512];
    const char *parent = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/isomer-fake-%d-%d.XXXXXX",
                   parent && parent[0] ? parent : "/tmp", (int)getpid(),
                   __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST));
    const int file = mkstemp(path);
    if (file < 0) {
        return NULL;
    }
    size_t done = 0;
    while (done < bytes) {
        const ssize_t put = write(file, object + done, bytes - done);
        if (put <= 0) {
            break;
        }
        done += (size_t)put;
    }
    (void)close(file);
    void *handle = done == bytes ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle) {
        fprintf(stderr, "fake: %s\n", done == bytes ? dlerror() : "a module was not written");
    }
    (void)unlink(path);
    return handle;
}

/* Whether code can be loaded: it is for this chip, or this one alone ("sm_90a"), or text (PTX) for
 * this or an older one. */
static bool is_for(const char *made_for, const char *target)
{
    const size_t length = strlen(target);
    int oldest = 0;
    int chip = 0;
    return strcmp(made_for, target) == 0 ||
           (strncmp(made_for, target, length) == 0 && strcmp(made_for + length, "a") == 0) ||
           (sscanf(made_for, "compute_%d", &oldest) == 1 && sscanf(target, "sm_%d", &chip) == 1 &&
            oldest <= chip);
}

static bool refused(void)
{
    static int loads;
    return __atomic_add_fetch(&loads, 1, __ATOMIC_SEQ_CST) <= fake_setting("FAKE_REFUSE", 0);
}

int fake_module_load(const void *image, const char *target, fake_module **out)
{
    fake_image header;
    if (!image || !out) {
        return FAKE_INVALID_VALUE;
    }
    memcpy(&header, image, sizeof header.magic);
    if (memcmp(header.magic, FAKE_MAGIC, sizeof header.magic) != 0) {
        return FAKE_INVALID_IMAGE;
    }
    memcpy(&header, image, sizeof header);
    const char *object = (const char *)image + sizeof header;
    if (fake_checksum(object, header.bytes) != header.check) {
        return FAKE_INVALID_IMAGE;
    }
    if (!is_for(header.target, target) || refused()) {
        return FAKE_NO_BINARY;
    }
    fake_module *module = calloc(1, sizeof *module);
    if (!module || !(module->handle = open_object(object, header.bytes))) {
        free(module);
        return FAKE_INVALID_IMAGE;
    }
    fake_state *const *state = dlsym(module->handle, "fake_state_at");
    char *const *shared = dlsym(module->handle, "fake_shared_at");
    module->state = state ? *state : NULL;
    if (shared) {
        module->shared = shared[0];
        module->shared_bytes = (size_t)(shared[1] - shared[0]);
    }
    (void)pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    (void)pthread_mutex_unlock(&lock);
    *out = module;
    return FAKE_OK;
}

int fake_module_unload(fake_module *module)
{
    int code = FAKE_INVALID_HANDLE;
    (void)pthread_mutex_lock(&lock);
    for (fake_module **at = &modules; *at; at = &(*at)->next) {
        if (*at == module) {
            *at = module->next;
            code = FAKE_OK;
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    if (code == FAKE_OK) {
        (void)dlclose(module->handle);
        while (module->kernels) {
            fake_kernel *kernel = module->kernels;
            module->kernels = kernel->next;
            free(kernel);
        }
        free(module);
    }
    return code;
}

static bool module_known(const fake_module *module)
{
    for (const fake_module *at = modules; at; at = at->next) {
        if (at == module) {
            return true;
        }
    }
    return false;
}

static int find_kernel(fake_module *module, const char *name, fake_kernel **out)
{
    if (!module_known(module)) {
        return FAKE_INVALID_HANDLE;
    }
    for (fake_kernel *kernel = module->kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->entry->name, name) == 0) {
            *out = kernel;
            return FAKE_OK;
        }
    }
    const fake_entry *entry = dlsym(module->handle, "fake_entries");
    while (entry && entry->name && strcmp(entry->name, name) != 0) {
        entry++;
    }
    if (!entry || !entry->name) {
        return FAKE_NOT_FOUND;
    }
    fake_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        return FAKE_OUT_OF_MEMORY;
    }
    *kernel = (fake_kernel){.module = module, .entry = entry, .next = module->kernels};
    module->kernels = kernel;
    *out = kernel;
    return FAKE_OK;
}

int fake_module_kernel(fake_module *module, const char *name, fake_kernel **out)
{
    if (!name || !out) {
        return FAKE_INVALID_VALUE;
    }
    (void)pthread_mutex_lock(&lock);
    const int code = find_kernel(module, name, out);
    (void)pthread_mutex_unlock(&lock);
    return code;
}

bool fake_kernel_known(const fake_kernel *kernel)
{
    bool known = false;
    (void)pthread_mutex_lock(&lock);
    for (const fake_module *module = modules; module && !known; module = module->next) {
        for (const fake_kernel *at = module->kernels; at && !known; at = at->next) {
            known = at == kernel;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return known;
}

int fake_kernel_threads(const fake_kernel *kernel)
{
    return kernel->entry->threads ? kernel->entry->threads : 1024;
}

/* Shared by all kernels of the program. */
int64_t fake_kernel_shared(const fake_kernel *kernel)
{
    return (int64_t)kernel->module->shared_bytes;
}

/* ---- launching ------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 64, VALUES_BYTES = 8192, VALUE_ALIGN = 16 };

typedef struct launch {
    fake_context *context;
    fake_kernel *kernel;
    unsigned groups[3], threads;
    int number;
    bool early;
    _Alignas(VALUE_ALIGN) char values[VALUES_BYTES]; /* one behind another */
} launch;

static size_t value_room(const fake_entry *entry, int index)
{
    return ((size_t)entry->bytes[index] + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN;
}

static int launch_now(void *data)
{
    launch *what = data;
    void *arguments[ARGUMENTS_MAX];
    const fake_module *module = what->kernel->module;
    const fake_grid grid = {.state = module->state,
                            .call = what->kernel->entry->call,
                            .arguments = arguments,
                            .groups = {what->groups[0], what->groups[1], what->groups[2]},
                            .threads = what->threads,
                            .shared = module->shared,
                            .shared_bytes = module->shared_bytes,
                            .name = what->kernel->entry->name,
                            .early = what->early};
    char *value = what->values;
    for (int i = 0; i < what->kernel->entry->count; i++) {
        arguments[i] = value;
        value += value_room(what->kernel->entry, i);
    }
    if (what->number == fake_setting("FAKE_LOST", -1)) {
        fprintf(stderr, "fake: launch %d loses the device (FAKE_LOST)\n", what->number);
        return FAKE_ILLEGAL_ADDRESS;
    }
    (void)pthread_mutex_lock(&one_at_a_time);
    int code = fake_grid_run(&grid);
    (void)pthread_mutex_unlock(&one_at_a_time);
    if (code == FAKE_OK && !fake_memory_intact()) {
        fprintf(stderr, "fake: ... by kernel %s\n", grid.name);
        code = FAKE_ILLEGAL_ADDRESS;
    }
    return code;
}

int fake_launch(fake_stream *stream, fake_kernel *kernel, const unsigned groups[3],
                unsigned threads, void **arguments, bool early)
{
    static int launches;
    launch what = {.kernel = kernel,
                   .groups = {groups[0], groups[1], groups[2]},
                   .threads = threads,
                   .early = early};
    if (!fake_kernel_known(kernel) || !fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    const fake_entry *entry = kernel->entry;
    if (groups[0] < 1 || groups[0] > 0x7fffffffu || groups[1] < 1 || groups[1] > 65535 ||
        groups[2] < 1 || groups[2] > 65535 || threads < 1 || threads > 1024 ||
        (entry->count > 0 && !arguments)) {
        return FAKE_INVALID_VALUE;
    }
    if ((int)threads > fake_kernel_threads(kernel)) {
        return FAKE_OUT_OF_RESOURCES;
    }
    if (entry->count > ARGUMENTS_MAX) {
        return FAKE_NOT_SUPPORTED;
    }
    size_t used = 0;
    for (int i = 0; i < entry->count; i++) {
        if (!arguments[i] || used + value_room(entry, i) > VALUES_BYTES) {
            return FAKE_INVALID_VALUE;
        }
        memcpy(what.values + used, arguments[i], (size_t)entry->bytes[i]);
        used += value_room(entry, i);
    }
    what.context = fake_stream_context(stream);
    what.number = __atomic_add_fetch(&launches, 1, __ATOMIC_SEQ_CST);
    return fake_stream_submit(stream, launch_now, &what, sizeof what);
}
