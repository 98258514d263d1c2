/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - buffers, host blocks and pinned ranges. */
#include "core/op.h"
#include "core/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { ORIGIN_ALIGNMENT = 256 };

/* The last holder frees the memory, or forgets it and notifies its owner. The caller's last error
 * is kept. */
void core_memory_drop(core_memory *memory)
{
    core_physical *physical = memory->physical;
    core_kept_error kept;

    if (atomic_fetch_sub(&memory->holders, 1) > 1) {
        return;
    }
    kept = core_error_keep();
    if (memory->memory && memory->imported) {
        CORE_DO(physical->table->memory_forget(physical->device, memory->memory));
    } else if (memory->memory) {
        CORE_DO(physical->table->memory_free(physical->device, memory->memory));
    }
    core_memory_give(physical, memory->counted);
    if (memory->release) {
        memory->release(memory->context);
    }
    free(memory);
    core_error_restore(&kept);
}

iso_ref core_buffer_ref(const core_buffer *buffer, int64_t offset)
{
    if (!buffer) {
        return (iso_ref){0};
    }
    return (iso_ref){buffer->memory, buffer->origin + offset};
}

iso_status core_check_writable(const char *call, const char *name, const core_buffer *buffer)
{
    if (buffer->read_only) {
        return core_fail(ISO_INVALID,
                         "%s: %s.buffer is imported read-only memory and would be written: use a "
                         "buffer of your own",
                         call, name);
    }
    return ISO_OK;
}

/* The memory is still to be filled in. NULL: none, and core_fail was called. */
static core_buffer *new_buffer(const char *call, core_device *device)
{
    core_buffer *buffer = calloc(1, sizeof *buffer);

    if (buffer) {
        buffer->owner = calloc(1, sizeof *buffer->owner);
    }
    if (!buffer || !buffer->owner) {
        core_fail_no_memory(call, (int64_t)(sizeof *buffer + sizeof *buffer->owner));
        free(buffer);
        return NULL;
    }
    buffer->owner->physical = device->physical;
    atomic_init(&buffer->owner->holders, 1);
    return buffer;
}

/* Frees one whose handle was never given out. */
static void free_buffer(core_buffer *buffer)
{
    core_memory_drop(buffer->owner);
    free(buffer);
}

/* Gives it a handle. From here on isomer releases imported memory. */
static iso_status show_buffer(const char *call, core_device *device, core_buffer *buffer,
                              const core_import *imported, iso_buffer *out)
{
    uint64_t id;

    buffer->child.kind = CORE_BUFFER;
    id = core_handle_new(call, CORE_BUFFER, buffer);
    if (!id) {
        return ISO_NO_MEMORY;
    }
    buffer->child.id = id;
    if (imported) {
        buffer->owner->release = imported->release;
        buffer->owner->context = imported->context;
    }
    core_child_link(device, &buffer->child);
    out->id = id;
    return ISO_OK;
}

iso_status iso_buffer_create(iso_device handle, int64_t bytes, iso_buffer *out)
{
    const char *call = "iso_buffer_create";
    core_buffer *buffer;
    core_device *device;
    iso_status status;

    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
    }
    out->id = 0;
    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    status = core_check_size(call, "bytes", bytes);
    if (status) {
        goto out;
    }
    buffer = new_buffer(call, device);
    if (!buffer) {
        status = ISO_NO_MEMORY;
        goto out;
    }
    status = core_memory_take(call, device, bytes);
    if (!status) {
        buffer->owner->counted = bytes;
        if (bytes) {
            status = CORE_CALL(
                call, device->table,
                device->table->memory_alloc(device->physical->device, bytes, &buffer->memory));
        }
    }
    buffer->bytes = bytes;
    if (!status) {
        buffer->owner->memory = buffer->memory;
        status = show_buffer(call, device, buffer, NULL, out);
    }
    if (status) {
        free_buffer(buffer);
    }
out:
    core_handle_release(handle.id);
    return status;
}

iso_status core_buffer_import(const char *call, core_device *device, const core_import *what,
                              iso_buffer *out)
{
    const iso_backend *table = device->table;
    iso_status status = ISO_OK;
    core_kept_error kept;
    core_buffer *buffer;
    int32_t type, id;

    if (!table->memory_import || !table->memory_forget) {
        return core_fail(ISO_UNSUPPORTED, "%s: %s cannot import memory: copy it into a buffer",
                         call, table->name);
    }
    buffer = new_buffer(call, device);
    if (!buffer) {
        return ISO_NO_MEMORY;
    }
    kept = core_error_keep();
    if (!core_dlpack_device(call, device->physical, &type, &id) && core_dlpack_is_address(type)) {
        buffer->origin = (int64_t)((uintptr_t)what->native % ORIGIN_ALIGNMENT);
    }
    core_error_restore(&kept);
    buffer->bytes = what->bytes;
    buffer->read_only = what->read_only;
    buffer->owner->imported = true;
    if (what->bytes > INT64_MAX - buffer->origin) {
        status = core_fail(ISO_INVALID, "%s: bytes is %lld, past the end of memory from %p", call,
                           (long long)what->bytes, what->native);
    } else if (what->bytes) {
        status = CORE_CALL(call, table,
                           table->memory_import(device->physical->device,
                                                (char *)what->native - buffer->origin,
                                                what->bytes + buffer->origin, &buffer->memory));
    }
    if (!status) {
        buffer->owner->memory = buffer->memory;
    }
    if (!status && what->bytes && !what->read_only && table->memory_is_read_only &&
        table->memory_is_read_only(device->physical->device, buffer->memory)) {
        status = core_fail(ISO_INVALID,
                           "%s: %s: memory %p may only be read: import it as read-only "
                           "(ISO_IMPORT_READ_ONLY)",
                           call, table->name, what->native);
    }
    if (!status) {
        status = show_buffer(call, device, buffer, what, out);
    }
    if (status) {
        free_buffer(buffer);
    }
    return status;
}

iso_status iso_buffer_import(iso_device handle, void *native, int64_t bytes, uint32_t flags,
                             void (*release)(void *context), void *context, iso_buffer *out)
{
    const char *call = "iso_buffer_import";
    const core_import what = {native, bytes, (flags & ISO_IMPORT_READ_ONLY) != 0, release, context};
    core_device *device;
    iso_status status;

    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
    }
    out->id = 0;
    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    if (flags & ~(uint32_t)ISO_IMPORT_READ_ONLY) {
        status = core_fail(ISO_INVALID, "%s: flags is 0x%x: only ISO_IMPORT_READ_ONLY (1) is known",
                           call, flags);
    }
    if (!status) {
        status = core_check_size(call, "bytes", bytes);
    }
    if (!status && !native && bytes) {
        status = core_fail(ISO_INVALID,
                           "%s: native is NULL with %lld bytes: pass the memory, as "
                           "ISO_NATIVE_MEMORY is",
                           call, (long long)bytes);
    }
    if (!status) {
        status = core_buffer_import(call, device, &what, out);
    }
    core_handle_release(handle.id);
    return status;
}

void core_buffer_finish(core_buffer *buffer)
{
    uint64_t id = buffer->child.id, users = atomic_load(&buffer->used_by);

    if (users) {
        core_streams_drain(buffer->child.device->physical, users);
    }
    core_memory_drop(buffer->owner);
    core_child_unlink(&buffer->child);
    free(buffer);
    core_handle_free(id);
}

iso_status iso_buffer_destroy(iso_buffer handle)
{
    core_buffer *buffer;
    iso_status status =
        core_handle_retire("iso_buffer_destroy", "buffer", handle.id, CORE_BUFFER, &buffer);

    if (!status) {
        core_buffer_finish(buffer);
    }
    return status;
}

iso_status iso_buffer_get_info(iso_buffer handle, iso_buffer_info *out)
{
    const char *call = "iso_buffer_get_info";
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    core_buffer *buffer;
    iso_status status = core_handle_acquire(call, "buffer", handle.id, CORE_BUFFER, &buffer);

    if (status) {
        return status;
    }
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_buffer_info, device));
    if (!status) {
        info.device.id = buffer->child.device->id;
        info.bytes = buffer->bytes;
        core_struct_write(out, &info, sizeof info);
    }
    core_handle_release(handle.id);
    return status;
}

/* ---- host memory ----------------------------------------------------------------------------- */

static void drain_device(core_device *device)
{
    core_streams_drain(device->physical, UINT64_MAX);
}

static void free_block(core_device *device, core_block *block)
{
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device;

    if (block->registered && block->from_backend) {
        CORE_DO(table->host_unregister(backend_device, block->pointer));
    } else if (!block->registered && block->from_backend) {
        CORE_DO(table->host_free(backend_device, block->pointer));
    } else if (!block->registered) {
        free(block->pointer);
    }
    free(block);
}

void core_blocks_finish(core_device *device)
{
    core_physical *physical = device->physical;
    core_block *own = NULL, **at;

    pthread_mutex_lock(&physical->lock);
    for (at = &physical->blocks; *at;) {
        core_block *block = *at;

        if (block->device == device) {
            *at = block->next;
            block->next = own;
            own = block;
        } else {
            at = &block->next;
        }
    }
    pthread_mutex_unlock(&physical->lock);
    while (own) {
        core_block *block = own;

        own = block->next;
        free_block(device, block);
    }
}

static void link_block(core_device *device, core_block *block)
{
    pthread_mutex_lock(&device->physical->lock);
    block->device = device;
    block->next = device->physical->blocks;
    device->physical->blocks = block;
    pthread_mutex_unlock(&device->physical->lock);
}

iso_status iso_host_alloc(iso_device handle, int64_t bytes, void **out, int32_t *pinned)
{
    const char *call = "iso_host_alloc";
    const iso_backend *table;
    core_block *block = NULL;
    core_device *device;
    int32_t is_pinned = 0;
    int64_t room = bytes > 0 ? bytes : 1;
    iso_status status;

    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the pointer goes", call);
    }
    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    table = device->table;
    status = core_check_size(call, "bytes", bytes);
    if (status) {
        goto out;
    }
    block = calloc(1, sizeof *block);
    if (!block) {
        status = core_fail_no_memory(call, (int64_t)sizeof *block);
        goto out;
    }
    block->bytes = room;
    block->from_backend = table->host_alloc != NULL;
    if (block->from_backend) {
        status = CORE_CALL(
            call, table,
            table->host_alloc(device->physical->device, room, &block->pointer, &is_pinned));
    } else if (posix_memalign(&block->pointer, (size_t)sysconf(_SC_PAGESIZE), (size_t)room)) {
        status = core_fail_no_memory(call, bytes);
    }
    if (status) {
        free(block);
        goto out;
    }
    link_block(device, block);
    *out = block->pointer;
    if (pinned) {
        *pinned = is_pinned != 0;
    }
out:
    core_handle_release(handle.id);
    return status;
}

/* With the physical device locked. */
static core_block **find_block(core_device *device, const void *pointer, bool registered)
{
    core_block **at;

    for (at = &device->physical->blocks; *at; at = &(*at)->next) {
        if ((*at)->device == device && (*at)->pointer == pointer &&
            (*at)->registered == registered && !(*at)->pending) {
            return at;
        }
    }
    return NULL;
}

/* Waits for the device's work and releases the block. */
static iso_status drop_block(const char *call, iso_device handle, void *pointer, bool registered)
{
    core_block **at, *block = NULL;
    core_device *device;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (status) {
        return status;
    }
    pthread_mutex_lock(&device->physical->lock);
    at = find_block(device, pointer, registered);
    if (at) {
        block = *at;
        *at = block->next;
    }
    pthread_mutex_unlock(&device->physical->lock);
    if (block) {
        drain_device(device);
        free_block(device, block);
    } else {
        status = core_fail(ISO_INVALID, "%s: pointer is %p, which is not from %s of this device",
                           call, pointer, registered ? "iso_host_register" : "iso_host_alloc");
    }
    core_handle_release(handle.id);
    return status;
}

iso_status iso_host_free(iso_device device, void *pointer)
{
    return drop_block("iso_host_free", device, pointer, false);
}

iso_status iso_host_unregister(iso_device device, void *pointer)
{
    return drop_block("iso_host_unregister", device, pointer, true);
}

/* Links the block unless it overlaps a registered one, of this handle or of another to the same
 * device. */
static iso_status claim(const char *call, core_device *device, core_block *block)
{
    uintptr_t begin = (uintptr_t)block->pointer, end = begin + (uintptr_t)block->bytes;
    iso_status status = ISO_OK;

    pthread_mutex_lock(&device->physical->lock);
    for (core_block *at = device->physical->blocks; at && !status; at = at->next) {
        uintptr_t other = (uintptr_t)at->pointer;

        if (at->registered && begin < other + (uintptr_t)at->bytes && other < end) {
            status = core_fail(ISO_INVALID,
                               "%s: pointer is %p with %lld bytes, which overlaps the registered "
                               "block at %p with %lld bytes%s: unregister that first",
                               call, block->pointer, (long long)block->bytes, at->pointer,
                               (long long)at->bytes,
                               at->device == device ? "" : " of another handle to this device");
        }
    }
    if (!status) {
        block->next = device->physical->blocks;
        device->physical->blocks = block;
    }
    pthread_mutex_unlock(&device->physical->lock);
    return status;
}

static void unclaim(core_device *device, core_block *block)
{
    core_block **at;

    pthread_mutex_lock(&device->physical->lock);
    for (at = &device->physical->blocks; *at != block; at = &(*at)->next)
        ;
    *at = block->next;
    pthread_mutex_unlock(&device->physical->lock);
}

iso_status iso_host_register(iso_device handle, void *pointer, int64_t bytes, int32_t *pinned)
{
    const char *call = "iso_host_register";
    const iso_backend *table;
    core_block *block = NULL;
    core_device *device;
    int32_t is_pinned = 0;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (status) {
        return status;
    }
    table = device->table;
    if (!pointer) {
        status = core_fail(ISO_INVALID, "%s: pointer is NULL: pass the memory to pin", call);
    } else if (bytes < 1) {
        status =
            core_fail(ISO_INVALID, "%s: bytes is %lld: pass 1 or more", call, (long long)bytes);
    } else if ((uintptr_t)pointer + (uintptr_t)bytes < (uintptr_t)pointer) {
        status = core_fail(ISO_INVALID, "%s: bytes is %lld, past the end of memory from %p", call,
                           (long long)bytes, pointer);
    } else if (!(block = calloc(1, sizeof *block))) {
        status = core_fail_no_memory(call, (int64_t)sizeof *block);
    }
    if (status) {
        goto out;
    }
    *block = (core_block){
        .device = device, .pointer = pointer, .bytes = bytes, .registered = true, .pending = true};
    status = claim(call, device, block);
    if (status) {
        free(block);
        goto out;
    }
    if (table->host_register) {
        status =
            CORE_CALL(call, table,
                      table->host_register(device->physical->device, pointer, bytes, &is_pinned));
    }
    if (status) {
        unclaim(device, block);
        free(block);
        goto out;
    }
    pthread_mutex_lock(&device->physical->lock);
    block->from_backend = table->host_register != NULL;
    block->pending = false;
    pthread_mutex_unlock(&device->physical->lock);
    if (pinned) {
        *pinned = is_pinned != 0;
    }
out:
    core_handle_release(handle.id);
    return status;
}
