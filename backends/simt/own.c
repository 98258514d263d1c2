/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - the program's own kernels: builds a text with the device's compiler, or loads it from the
 * program cache, and launches its kernels. */
#include "backends/simt/simt.h"

#include <stdio.h>
#include <string.h>

typedef struct own_program {
    void *native;
    int32_t count;
    simt_kernel kernels[];
} own_program;

static iso_status make_key(simt_device *device, const iso_program_source *source, char **key,
                           int64_t *bytes)
{
    enum { IDENTITY_MAX = 1024 };
    char identity[IDENTITY_MAX] = "";
    const iso_status status =
        device->driver->program_identity(device->native, identity, (int64_t)sizeof identity);
    if (status) {
        return status;
    }
    const size_t room = strlen(identity) + strlen(source->text) + strlen(device->driver->name) + 64;
    *key = device->host->alloc((int64_t)room);
    if (!*key) {
        return ISO_NO_MEMORY;
    }
    *bytes = snprintf(*key, room, "isomer " ISO_VERSION_STRING " program\n%s\n%s\n%s",
                      device->driver->name, identity, source->text);
    return ISO_OK;
}

/* Loads from the cache. *native stays NULL if there is no such program, or the driver refuses it.
 */
static iso_status load_kept(simt_device *device, const char *key, int64_t key_bytes, void **native)
{
    int64_t bytes = 0;
    void *binary = device->host->cache_load(key, key_bytes, &bytes);
    if (!binary) {
        return bytes < 0 ? ISO_NO_MEMORY : ISO_OK;
    }
    const iso_status status = device->driver->program_load(device->native, binary, bytes, native);
    device->host->free(binary);
    if (status && status != ISO_NO_MEMORY) {
        *native = NULL;
        return ISO_OK;
    }
    return status;
}

static iso_status compile(simt_device *device, const iso_program_source *from, const char *key,
                          int64_t key_bytes, void **native)
{
    const simt_source source = {.name = from->name, .text = from->text, .own = true};
    void *binary = NULL;
    int64_t bytes = 0;
    iso_status status = device->driver->program_build(device->native, &source, &binary, &bytes);
    if (status) {
        return status;
    }
    status = device->driver->program_load(device->native, binary, bytes, native);
    if (!status) {
        (void)device->host->cache_store(key, key_bytes, binary, bytes);
    }
    device->host->free(binary);
    return status;
}

static iso_status load(simt_device *device, const iso_program_source *source, void **native)
{
    char *key = NULL;
    int64_t bytes = 0;
    iso_status status = make_key(device, source, &key, &bytes);
    if (status) {
        return status;
    }
    *native = NULL;
    status = load_kept(device, key, bytes, native);
    if (!status && !*native) {
        (void)pthread_mutex_lock(&device->build_lock);
        status = compile(device, source, key, bytes, native);
        (void)pthread_mutex_unlock(&device->build_lock);
    }
    device->host->free(key);
    return status;
}

static iso_status get_kernel(simt_device *device, own_program *program,
                             const iso_program_source *source, int32_t index)
{
    const iso_program_entry *entry = &source->entries[index];
    simt_kernel *kernel = &program->kernels[index];
    kernel->threads = entry->items;
    const iso_status status = device->driver->kernel_get(
        program->native, entry->name, kernel->threads, &kernel->native, &kernel->info);
    program->count += kernel->native != NULL;
    if (status || kernel->info.threads_max <= 0 || kernel->info.threads_max >= kernel->threads) {
        return status;
    }
    return device->host->fail(ISO_UNSUPPORTED,
                              "%s: %s has groups of %d items, but this device runs it with at most "
                              "%d: make the groups smaller",
                              source->name, entry->name, kernel->threads, kernel->info.threads_max);
}

static void release(simt_device *device, own_program *program)
{
    for (int32_t i = 0; i < program->count && device->driver->kernel_release; i++) {
        device->driver->kernel_release(program->kernels[i].native);
    }
    if (program->native) {
        device->driver->program_unload(program->native);
    }
    device->host->free(program);
}

iso_status simt_program_build(void *on, const iso_program_source *source, void **program)
{
    simt_device *device = on;
    const size_t bytes = sizeof(own_program) + (size_t)source->entry_count * sizeof(simt_kernel);
    own_program *made = device->host->alloc((int64_t)bytes);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    memset(made, 0, bytes);
    iso_status status = load(device, source, &made->native);
    for (int32_t i = 0; i < source->entry_count && !status; i++) {
        status = get_kernel(device, made, source, i);
    }
    if (status) {
        release(device, made);
        return status;
    }
    *program = made;
    return ISO_OK;
}

void simt_program_release(void *device, void *program)
{
    release(device, program);
}

/* Checks the memory that the items of a group share. */
static iso_status check_shared(const simt_device *device, const simt_kernel *kernel,
                               int64_t shared_bytes)
{
    const simt_limits *limits = &device->limits;
    const int64_t most =
        limits->shared_most > limits->local_bytes ? limits->shared_most : limits->local_bytes;
    const int64_t declared = kernel->info.local_bytes > 0 ? kernel->info.local_bytes : 0;
    if (shared_bytes == 0 || most <= 0 || shared_bytes + declared <= most) {
        return ISO_OK;
    }
    return device->host->fail(
        ISO_UNSUPPORTED,
        "the kernel's shared arrays have %lld bytes, and %lld of them by this launch, but a group "
        "of this device has at most %lld: give smaller counts",
        (long long)(shared_bytes + declared), (long long)shared_bytes, (long long)most);
}

/* The arguments of an entry. An address is computed here; of a handle the kernel gets the offset.
 */
typedef struct own_args {
    simt_arg args[SIMT_ARGS_MAX];
    void *addresses[SIMT_ARGS_MAX];
    int32_t count;
    iso_program_place place;
} own_args;

static void make_args(const simt_device *device, const iso_program_launch *launch, own_args *made)
{
    made->place = launch->place;
    made->args[0] = (simt_arg)SIMT_ARG(made->place);
    made->count = 1;
    for (int32_t i = 0; i < launch->arg_count; i++) {
        const iso_program_arg *arg = &launch->args[i];
        if (arg->value) {
            made->args[made->count++] =
                (simt_arg){.value = arg->value, .bytes = (int32_t)arg->bytes};
        } else if (device->limits.memory_is_address) {
            made->addresses[i] = (char *)arg->memory + arg->bytes;
            made->args[made->count++] = (simt_arg){.value = &made->addresses[i]};
        } else {
            made->args[made->count++] = (simt_arg){.value = &arg->memory};
            made->args[made->count++] = (simt_arg)SIMT_ARG(arg->first);
        }
    }
}

static int64_t part_of(int64_t groups, int64_t first, int64_t most)
{
    return groups - first < most ? groups - first : most;
}

/* Launches the groups in parts that the driver can launch: nearly always one. */
static iso_status launch_parts(simt_stream *stream, const simt_kernel *kernel, own_args *args)
{
    const int64_t *groups = args->place.groups;
    const int64_t across = SIMT_GROUPS_ACROSS;
    const int64_t items = stream->device->limits.items_most;
    const int64_t most = groups[0] * kernel->threads <= items ? groups[0] : items / kernel->threads;
    iso_status status = ISO_OK;
    for (int64_t z = 0; z < groups[2] && !status; z += across) {
        for (int64_t y = 0; y < groups[1] && !status; y += across) {
            for (int64_t x = 0; x < groups[0] && !status; x += most) {
                args->place.first_x = x;
                args->place.first_yz = (uint64_t)z << 32 | (uint64_t)y;
                status = stream->device->driver->launch(
                    stream, kernel->native,
                    (simt_groups){part_of(groups[0], x, most), part_of(groups[1], y, across),
                                  part_of(groups[2], z, across)},
                    kernel->threads, args->args, args->count);
            }
        }
    }
    return status;
}

iso_status simt_program_check(void *device, const iso_program_launch *launch)
{
    const own_program *program = launch->program;
    return check_shared(device, &program->kernels[launch->entry], launch->shared_bytes);
}

iso_status simt_program_launch(void *stream, const iso_program_launch *launch)
{
    simt_stream *on = stream;
    const own_program *program = launch->program;
    const simt_kernel *kernel = &program->kernels[launch->entry];
    own_args args;
    const iso_status late = simt_calls_late(on);
    if (late) {
        return late;
    }
    const iso_status status = simt_program_check(on->device, launch);
    if (status) {
        return status;
    }
    make_args(on->device, launch, &args);
    if (launch->shared_bytes > 0) {
        args.args[args.count++] = (simt_arg){.bytes = (int32_t)launch->shared_bytes};
    }
    return launch_parts(on, kernel, &args);
}
