/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - buffers, host blocks and pinned ranges. */
#include "core/core.h"

#include <stdlib.h>
#include <unistd.h>

iso_status iso_buffer_create(iso_device handle, int64_t bytes, iso_buffer *out)
{
    const char *call = "iso_buffer_create";
    core_buffer *buffer = NULL;
    core_device *device;
    iso_status status;
    bool taken = false;

    if (!out)
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
    out->id = 0;
    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status)
        return status;
    status = core_check_size(call, "bytes", bytes);
    if (status)
        goto out;
    buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        status = core_fail_no_memory(call, (int64_t)sizeof *buffer);
        goto out;
    }
    status = core_memory_take(call, device, bytes);
    taken = !status;
    if (!status && bytes)
        status = CORE_CALL(
            call, device->table,
            device->table->memory_alloc(device->physical->device, bytes, &buffer->memory));
    if (status)
        goto out;
    buffer->bytes = bytes;
    buffer->child.kind = CORE_BUFFER;
    buffer->child.id = core_handle_new(call, CORE_BUFFER, buffer);
    if (!buffer->child.id) {
        status = ISO_NO_MEMORY;
        if (buffer->memory)
            device->table->memory_free(device->physical->device, buffer->memory);
        goto out;
    }
    core_child_link(device, &buffer->child);
    out->id = buffer->child.id;
out:
    if (status) {
        if (taken)
            core_memory_give(device, bytes);
        free(buffer);
    }
    core_handle_release(handle.id);
    return status;
}

void core_buffer_finish(core_buffer *buffer)
{
    core_device *device = buffer->child.device;
    uint64_t id = buffer->child.id, users = atomic_load(&buffer->used_by);

    if (users)
        core_streams_drain(device->physical, users);
    if (buffer->memory)
        device->table->memory_free(device->physical->device, buffer->memory);
    core_memory_give(device, buffer->bytes);
    core_child_unlink(&buffer->child);
    free(buffer);
    core_handle_free(id);
}

iso_status iso_buffer_destroy(iso_buffer handle)
{
    core_buffer *buffer;
    iso_status status =
        core_handle_retire("iso_buffer_destroy", "buffer", handle.id, CORE_BUFFER, &buffer);

    if (!status)
        core_buffer_finish(buffer);
    return status;
}

iso_status iso_buffer_get_info(iso_buffer handle, iso_buffer_info *out)
{
    const char *call = "iso_buffer_get_info";
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    core_buffer *buffer;
    iso_status status = core_handle_acquire(call, "buffer", handle.id, CORE_BUFFER, &buffer);

    if (status)
        return status;
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_buffer_info, device));
    if (!status) {
        info.device.id = buffer->child.device->id;
        info.bytes = buffer->bytes;
        core_struct_write(out, &info, sizeof info);
    }
    core_handle_release(handle.id);
    return status;
}

/* ---- host memory ---- */

static void drain_device(core_device *device)
{
    core_streams_drain(device->physical, UINT64_MAX);
}

static void free_block(core_device *device, core_block *block)
{
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device;

    if (block->registered && block->from_backend)
        table->host_unregister(backend_device, block->pointer);
    else if (!block->registered && block->from_backend)
        table->host_free(backend_device, block->pointer);
    else if (!block->registered)
        free(block->pointer);
    free(block);
}

void core_blocks_finish(core_device *device)
{
    while (device->blocks) {
        core_block *block = device->blocks;

        device->blocks = block->next;
        free_block(device, block);
    }
}

static void link_block(core_device *device, core_block *block)
{
    pthread_mutex_lock(&device->physical->lock);
    block->next = device->blocks;
    device->blocks = block;
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

    if (!out)
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the pointer goes", call);
    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status)
        return status;
    table = device->table;
    status = core_check_size(call, "bytes", bytes);
    if (status)
        goto out;
    block = calloc(1, sizeof *block);
    if (!block) {
        status = core_fail_no_memory(call, (int64_t)sizeof *block);
        goto out;
    }
    block->bytes = room;
    block->from_backend = table->host_alloc != NULL;
    if (block->from_backend)
        status = CORE_CALL(
            call, table,
            table->host_alloc(device->physical->device, room, &block->pointer, &is_pinned));
    else if (posix_memalign(&block->pointer, (size_t)sysconf(_SC_PAGESIZE), (size_t)room))
        status = core_fail_no_memory(call, bytes);
    if (status) {
        free(block);
        goto out;
    }
    link_block(device, block);
    *out = block->pointer;
    if (pinned)
        *pinned = is_pinned != 0;
out:
    core_handle_release(handle.id);
    return status;
}

/* With the physical device locked. */
static core_block **find_block(core_device *device, const void *pointer, bool registered)
{
    core_block **at;

    for (at = &device->blocks; *at; at = &(*at)->next)
        if ((*at)->pointer == pointer && (*at)->registered == registered && !(*at)->pending)
            return at;
    return NULL;
}

/* Waits for the device's work and lets go of the block. */
static iso_status drop_block(const char *call, iso_device handle, void *pointer, bool registered)
{
    core_block **at, *block = NULL;
    core_device *device;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (status)
        return status;
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

/* Links the block if it meets no registered one. */
static iso_status claim(const char *call, core_device *device, core_block *block)
{
    uintptr_t begin = (uintptr_t)block->pointer, end = begin + (uintptr_t)block->bytes;
    iso_status status = ISO_OK;

    pthread_mutex_lock(&device->physical->lock);
    for (core_block *at = device->blocks; at && !status; at = at->next) {
        uintptr_t other = (uintptr_t)at->pointer;

        if (at->registered && begin < other + (uintptr_t)at->bytes && other < end)
            status = core_fail(ISO_INVALID,
                               "%s: pointer is %p with %lld bytes, which overlaps the registered "
                               "block at %p with %lld bytes: unregister that first",
                               call, block->pointer, (long long)block->bytes, at->pointer,
                               (long long)at->bytes);
    }
    if (!status) {
        block->next = device->blocks;
        device->blocks = block;
    }
    pthread_mutex_unlock(&device->physical->lock);
    return status;
}

static void unclaim(core_device *device, core_block *block)
{
    core_block **at;

    pthread_mutex_lock(&device->physical->lock);
    for (at = &device->blocks; *at != block; at = &(*at)->next)
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

    if (status)
        return status;
    table = device->table;
    if (!pointer)
        status = core_fail(ISO_INVALID, "%s: pointer is NULL: pass the memory to pin", call);
    else if (bytes < 1)
        status =
            core_fail(ISO_INVALID, "%s: bytes is %lld: pass 1 or more", call, (long long)bytes);
    else if ((uintptr_t)pointer + (uintptr_t)bytes < (uintptr_t)pointer)
        status = core_fail(ISO_INVALID, "%s: bytes is %lld, past the end of memory from %p", call,
                           (long long)bytes, pointer);
    else if (!(block = calloc(1, sizeof *block)))
        status = core_fail_no_memory(call, (int64_t)sizeof *block);
    if (status)
        goto out;
    *block = (core_block){.pointer = pointer, .bytes = bytes, .registered = true, .pending = true};
    status = claim(call, device, block);
    if (status) {
        free(block);
        goto out;
    }
    if (table->host_register)
        status =
            CORE_CALL(call, table,
                      table->host_register(device->physical->device, pointer, bytes, &is_pinned));
    if (status) {
        unclaim(device, block);
        free(block);
        goto out;
    }
    pthread_mutex_lock(&device->physical->lock);
    block->from_backend = table->host_register != NULL;
    block->pending = false;
    pthread_mutex_unlock(&device->physical->lock);
    if (pinned)
        *pinned = is_pinned != 0;
out:
    core_handle_release(handle.id);
    return status;
}
