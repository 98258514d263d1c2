/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - the programs of a device. A trie over the hashes of specs finds them. The trie only
 * grows while the device is open, so a look-up needs only a read lock. One thread at a time loads a
 * missing program from the program cache, or builds it and stores it there.
 */
#include "backends/simt/simt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    OPTION_MAX = 64, /* bytes of one "-DNAME=VALUE" */
    OPTIONS_MAX = OPTION_MAX * SIMT_DEFINES_MAX,
    IDENTITY_MAX = 1024
};

struct simt_program {
    simt_program *child[4]; /* by the next two bits of the hash */
    simt_program *next;     /* list of all programs of the device, for closing */
    uint64_t hash;
    simt_spec spec;
    void *native;
    simt_kernel kernels[SIMT_KERNELS_MAX]; /* native NULL: not requested yet */
};

/* ---- options --------------------------------------------------------------------------------- */

/* Writes one define as an option; false: it is omitted. */
static bool write_option(const simt_spec *spec, int32_t index, char *text, size_t room)
{
    const char *name = spec->text->defines[index];
    if (*name == '?') {
        if (spec->values[index] == 0) {
            return false;
        }
        name++;
    }
    (void)snprintf(text, room, "-D%s=%" PRId32, name, spec->values[index]);
    return true;
}

void simt_spec_options(const simt_spec *spec, char *text, int64_t capacity)
{
    int64_t used = 0;
    char option[OPTION_MAX];
    text[0] = '\0';
    for (int32_t i = 0; i < SIMT_DEFINES_MAX && spec->text->defines[i]; i++) {
        if (used < capacity && write_option(spec, i, option, sizeof option)) {
            used +=
                snprintf(text + used, (size_t)(capacity - used), "%s%s", used ? " " : "", option);
        }
    }
}

/* ---- look-up --------------------------------------------------------------------------------- */

static uint64_t hash_of(const simt_spec *spec)
{
    uint64_t hash = (uint64_t)(uintptr_t)spec->text;
    for (int32_t i = 0; i < SIMT_DEFINES_MAX; i++) {
        hash = (hash ^ (uint32_t)spec->values[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_spec(const simt_spec *a, const simt_spec *b)
{
    return a->text == b->text && memcmp(a->values, b->values, sizeof a->values) == 0;
}

/* Where a program is in the trie or, if it is missing, where it must be added. */
static simt_program **find(simt_program **at, const simt_spec *spec, uint64_t hash)
{
    uint64_t rest = hash;
    while (*at && !((*at)->hash == hash && same_spec(&(*at)->spec, spec))) {
        at = &(*at)->child[rest >> 62];
        rest <<= 2;
    }
    return at;
}

static const simt_kernel *find_kernel(simt_device *device, const simt_spec *spec, uint64_t hash,
                                      int32_t kernel)
{
    const simt_kernel *found = NULL;
    (void)pthread_rwlock_rdlock(&device->programs_lock);
    simt_program *program = *find(&device->programs, spec, hash);
    if (program && program->kernels[kernel].native) {
        found = &program->kernels[kernel];
    }
    (void)pthread_rwlock_unlock(&device->programs_lock);
    return found;
}

/* ---- building -------------------------------------------------------------------------------- */

/* The key has everything that affects a binary: what it was made from, and by what. */
iso_status simt_spec_key(simt_device *device, const simt_spec *spec, const char *what, char **key,
                         int64_t *bytes)
{
    char options[OPTIONS_MAX];
    char identity[IDENTITY_MAX] = "";
    simt_spec_options(spec, options, (int64_t)sizeof options);
    iso_status status =
        device->driver->program_identity(device->native, identity, (int64_t)sizeof identity);
    if (status != ISO_OK) {
        return status;
    }
    size_t room =
        strlen(identity) + strlen(options) + strlen(device->driver->name) + strlen(what) + 64;
    for (int32_t i = 0; i < spec->text->part_count; i++) {
        room += strlen(spec->text->parts[i]) + 1;
    }
    char *made = device->host->alloc((int64_t)room);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    int used = snprintf(made, room, "isomer " ISO_VERSION_STRING "%s\n%s\n%s\n%s\n", what,
                        device->driver->name, identity, options);
    for (int32_t i = 0; i < spec->text->part_count; i++) {
        used += snprintf(made + used, room - (size_t)used, "%s\n", spec->text->parts[i]);
    }
    *key = made;
    *bytes = used;
    return ISO_OK;
}

/* Joins the parts of a text. The first of several is dialect.h. */
static char *join(const iso_host *host, const simt_text *text)
{
    size_t room = 1;
    size_t used = 0;
    for (int32_t i = 0; i < text->part_count; i++) {
        room += strlen(text->parts[i]) + strlen(text->name) + 32;
    }
    char *made = host->alloc((int64_t)room);
    for (int32_t i = 0; made && i < text->part_count; i++) {
        if (i == 0 && text->part_count > 1) {
            used += (size_t)snprintf(made, room, "#line 1 \"dialect.h\"\n%s\n", text->parts[i]);
        } else {
            used += (size_t)snprintf(made + used, room - used, "#line 1 \"%s.%d.cl\"\n%s\n",
                                     text->name, i, text->parts[i]);
        }
    }
    return made;
}

static iso_status compile(simt_device *device, const simt_spec *spec, void **binary, int64_t *bytes)
{
    char texts[SIMT_DEFINES_MAX][OPTION_MAX];
    const char *options[SIMT_DEFINES_MAX];
    char *text = join(device->host, spec->text);
    simt_source source = {
        .name = spec->text->name, .text = text, .options = options, .rounds = spec->text->rounds};
    if (!text) {
        return ISO_NO_MEMORY;
    }
    for (int32_t i = 0; i < SIMT_DEFINES_MAX && spec->text->defines[i]; i++) {
        if (write_option(spec, i, texts[i], sizeof texts[i])) {
            options[source.option_count++] = texts[i];
        }
    }
    const iso_status status = device->driver->program_build(device->native, &source, binary, bytes);
    device->host->free(text);
    return status;
}

static double milliseconds_since(const struct timespec *start)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 +
           (double)(now.tv_nsec - start->tv_nsec) * 1e-6;
}

/* Loads from the cache. *program stays NULL if the cache has no such program or the driver refuses
 * it. If memory runs out, fails instead of building the program, because a build takes longer and
 * needs even more memory. */
static iso_status load_kept(simt_device *device, const simt_spec *spec, const char *options,
                            const char *key, int64_t key_bytes, void **program)
{
    const iso_host *host = device->host;
    struct timespec start;
    int64_t bytes = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    void *binary = host->cache_load(key, key_bytes, &bytes);
    if (!binary) {
        return bytes < 0 ? ISO_NO_MEMORY : ISO_OK;
    }
    iso_status status = device->driver->program_load(device->native, binary, bytes, program);
    host->free(binary);
    if (status == ISO_NO_MEMORY) {
        return status;
    }
    if (status != ISO_OK) {
        host->log(ISO_LOG_WARN,
                  "%s: %s (%s): the driver refuses the cached program; it is built again",
                  device->driver->name, spec->text->name, options);
        *program = NULL;
        return ISO_OK;
    }
    host->log(ISO_LOG_DEBUG, "%s: %s (%s) from the cache in %.1f ms", device->driver->name,
              spec->text->name, options, milliseconds_since(&start));
    return ISO_OK;
}

static iso_status build(simt_device *device, const simt_spec *spec, const char *options,
                        const char *key, int64_t key_bytes, void **program)
{
    const iso_host *host = device->host;
    struct timespec start;
    void *binary = NULL;
    int64_t bytes = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    iso_status status = compile(device, spec, &binary, &bytes);
    if (status != ISO_OK) {
        host->log(ISO_LOG_ERROR, "%s: %s (%s) did not build", device->driver->name,
                  spec->text->name, options);
        return status;
    }
    status = device->driver->program_load(device->native, binary, bytes, program);
    if (status == ISO_OK) {
        (void)host->cache_store(key, key_bytes, binary, bytes);
        host->log(ISO_LOG_DEBUG, "%s: %s (%s) built in %.1f ms", device->driver->name,
                  spec->text->name, options, milliseconds_since(&start));
    }
    host->free(binary);
    return status;
}

static iso_status load(simt_device *device, const simt_spec *spec, void **program)
{
    char options[OPTIONS_MAX];
    char *key = NULL;
    int64_t key_bytes = 0;
    simt_spec_options(spec, options, (int64_t)sizeof options);
    iso_status status = simt_spec_key(device, spec, "", &key, &key_bytes);
    if (status != ISO_OK) {
        return status;
    }
    *program = NULL;
    status = load_kept(device, spec, options, key, key_bytes, program);
    if (status == ISO_OK && !*program) {
        status = build(device, spec, options, key, key_bytes, program);
    }
    device->host->free(key);
    return status;
}

/* ---- storing --------------------------------------------------------------------------------- */

/* The caller holds build_lock. Only this thread can then change the trie, so it may read it without
 * programs_lock. */
static iso_status get_program(simt_device *device, const simt_spec *spec, uint64_t hash,
                              simt_program **out)
{
    simt_program *made = *find(&device->programs, spec, hash);
    if (made) {
        *out = made;
        return ISO_OK;
    }
    made = device->host->alloc((int64_t)sizeof *made);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->hash = hash;
    made->spec = *spec;
    iso_status status = load(device, spec, &made->native);
    if (status != ISO_OK) {
        device->host->free(made);
        return status;
    }
    (void)pthread_rwlock_wrlock(&device->programs_lock);
    if (device->programs) {
        made->next = device->programs->next;
        device->programs->next = made;
    }
    *find(&device->programs, spec, hash) = made;
    (void)pthread_rwlock_unlock(&device->programs_lock);
    *out = made;
    return ISO_OK;
}

static iso_status check_threads(const simt_device *device, const simt_spec *spec, int32_t kernel,
                                const simt_kernel *got)
{
    if (got->info.threads_max <= 0 || got->info.threads_max >= got->threads) {
        return ISO_OK;
    }
    return device->host->fail(
        ISO_COMPILE,
        "kernel %s of %s was built for groups of %" PRId32
        " work-items, but this device runs it with at most %" PRId32 ": set ISOMER_TILES=small",
        spec->text->kernels[kernel], spec->text->name, got->threads, got->info.threads_max);
}

static void release(const simt_driver *driver, void *kernel)
{
    if (kernel && driver->kernel_release) {
        driver->kernel_release(kernel);
    }
}

/* The caller holds build_lock. */
static iso_status make_kernel(simt_device *device, simt_program *program, int32_t kernel)
{
    const simt_spec *spec = &program->spec;
    simt_kernel got = {.threads = spec->values[spec->text->threads[kernel]]};
    if (program->kernels[kernel].native) {
        return ISO_OK;
    }
    iso_status status = device->driver->kernel_get(program->native, spec->text->kernels[kernel],
                                                   got.threads, &got.native, &got.info);
    if (status != ISO_OK) {
        return status;
    }
    status = check_threads(device, spec, kernel, &got);
    if (status != ISO_OK) {
        release(device->driver, got.native);
        return status;
    }
    (void)pthread_rwlock_wrlock(&device->programs_lock);
    program->kernels[kernel] = got;
    (void)pthread_rwlock_unlock(&device->programs_lock);
    return ISO_OK;
}

iso_status simt_kernel_get(simt_device *device, const simt_spec *spec, int32_t kernel,
                           const simt_kernel **out)
{
    uint64_t hash = hash_of(spec);
    simt_program *program = NULL;
    *out = find_kernel(device, spec, hash, kernel);
    if (*out) {
        return ISO_OK;
    }
    (void)pthread_mutex_lock(&device->build_lock);
    iso_status status = get_program(device, spec, hash, &program);
    if (status == ISO_OK) {
        status = make_kernel(device, program, kernel);
    }
    (void)pthread_mutex_unlock(&device->build_lock);
    if (status == ISO_OK) {
        *out = &program->kernels[kernel];
    }
    return status;
}

void simt_programs_drop(simt_device *device)
{
    simt_program *next = NULL;
    for (simt_program *at = device->programs; at; at = next) {
        next = at->next;
        for (int32_t i = 0; i < SIMT_KERNELS_MAX; i++) {
            release(device->driver, at->kernels[i].native);
        }
        device->driver->program_unload(at->native);
        device->host->free(at);
    }
    device->programs = NULL;
}
