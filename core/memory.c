/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - buffers, host blocks and pinned ranges. */
#include "core/op.h"
#include "core/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ORIGIN_ALIGNMENT = 256 };

/* Drops one reference; the last one frees the memory. Imported memory is not freed: its owner is
 * notified. The thread's last error stays as it was. */
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
    return buffer ? (iso_ref){buffer->owner->memory, buffer->origin + offset} : (iso_ref){0};
}

iso_status core_check_writable(const char *call, const char *name, const core_buffer *buffer)
{
    if (buffer->read_only) {
        return core_fail(
            ISO_INVALID,
            "%s: %s.buffer is imported read-only memory, and the call would write to it: use a "
            "buffer that may be written",
            call, name);
    }
    return ISO_OK;
}

iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer)
{
    if (offset < 0) {
        return core_fail(ISO_INVALID, "%s: %s.offset is %lld: pass 0 or more", call, name,
                         (long long)offset);
    }
    if (offset > buffer->bytes || bytes > buffer->bytes - offset) {
        return core_fail(ISO_INVALID,
                         "%s: %s.offset is %lld and %lld bytes follow, but its buffer holds %lld "
                         "bytes",
                         call, name, (long long)offset, (long long)bytes, (long long)buffer->bytes);
    }
    return ISO_OK;
}

iso_status core_check_alignment(const char *call, const char *name, int64_t offset, int64_t align,
                                const core_buffer *buffer)
{
    if (offset % align) {
        return core_fail(ISO_INVALID,
                         "%s: %s.offset is %lld, which is not a multiple of the element's %lld "
                         "bytes",
                         call, name, (long long)offset, (long long)align);
    }
    if ((buffer->origin + offset) % align) {
        return core_fail(ISO_INVALID,
                         "%s: %s.buffer is imported memory that begins %lld bytes after a multiple "
                         "of the element's %lld bytes: import it from an aligned address",
                         call, name, (long long)(buffer->origin % align), (long long)align);
    }
    return ISO_OK;
}

iso_status core_operand_acquire(const char *call, const char *name, iso_operand operand,
                                const core_stream *stream, core_buffer **out)
{
    char argument[32];
    iso_status status;

    if (core_handle_get(operand.buffer.id, CORE_BUFFER, out)) {
        if ((*out)->child.device == stream->child.device) {
            return ISO_OK;
        }
        core_handle_release(operand.buffer.id);
    }
    snprintf(argument, sizeof argument, "%s.buffer", name); /* takes longer than the rest */
    status = core_handle_acquire(call, argument, operand.buffer.id, CORE_BUFFER, out);
    return status ? status
                  : core_check_device(call, argument, &(*out)->child, "stream", &stream->child);
}

/* Makes a buffer that has no memory yet. On failure calls core_fail and returns NULL. */
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

/* Gives a new buffer its handle, or frees it if an earlier step failed. `release` is set only after
 * success: if the import failed, the caller still owns the memory. */
static iso_status finish_buffer(const char *call, core_device *device, core_buffer *buffer,
                                const core_import *imported, iso_status status, iso_buffer *out)
{
    if (!status) {
        status = core_child_add(call, device, &buffer->child, CORE_BUFFER);
    }
    if (status) {
        core_memory_drop(buffer->owner);
        free(buffer);
        return status;
    }
    if (imported) {
        buffer->owner->release = imported->release;
        buffer->owner->context = imported->context;
    }
    out->id = buffer->child.id;
    return ISO_OK;
}

iso_status iso_buffer_create(iso_device handle, int64_t bytes, iso_buffer *out)
{
    const char *call = "iso_buffer_create";
    CORE_HELD core_device *device = NULL;
    void *memory = NULL;
    core_buffer *buffer;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (!status) {
        status = core_check_size(call, "bytes", bytes);
    }
    if (status) {
        return status;
    }
    buffer = new_buffer(call, device);
    if (!buffer) {
        return ISO_NO_MEMORY;
    }
    buffer->bytes = bytes;
    status = core_memory_take(call, device, bytes);
    if (!status) {
        buffer->owner->counted = bytes;
    }
    if (!status && bytes) {
        status = CORE_CALL(call, device->table,
                           device->table->memory_alloc(device->physical->device, bytes, &memory));
        buffer->owner->memory = status ? NULL : memory;
    }
    return finish_buffer(call, device, buffer, NULL, status, out);
}

/* Rounds the address down to an aligned one and imports from there. Memory that has no address is
 * imported as it is. */
static iso_status import_memory(const char *call, core_device *device, const core_import *what,
                                core_buffer *buffer)
{
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device, *memory = NULL;
    core_kept_error kept = core_error_keep();
    int32_t type, id;
    iso_status status;

    if (!core_dlpack_device(call, device->physical, &type, &id) && core_dlpack_is_address(type)) {
        buffer->origin = (int64_t)((uintptr_t)what->native % ORIGIN_ALIGNMENT);
    }
    core_error_restore(&kept);
    if (what->bytes > INT64_MAX - buffer->origin) {
        return core_fail(ISO_INVALID,
                         "%s: bytes is %lld, which goes past the end of memory from %p", call,
                         (long long)what->bytes, what->native);
    }
    if (!what->bytes) {
        return ISO_OK;
    }
    status = CORE_CALL(call, table,
                       table->memory_import(backend_device, (char *)what->native - buffer->origin,
                                            what->bytes + buffer->origin, &memory));
    if (status) {
        return status;
    }
    buffer->owner->memory = memory;
    if (!what->read_only && table->memory_is_read_only &&
        table->memory_is_read_only(backend_device, memory)) {
        return core_fail(ISO_INVALID,
                         "%s: %s: memory %p may only be read: import it as read-only "
                         "(ISO_IMPORT_READ_ONLY)",
                         call, table->name, what->native);
    }
    return ISO_OK;
}

iso_status core_buffer_import(const char *call, core_device *device, const core_import *what,
                              iso_buffer *out)
{
    core_buffer *buffer;

    if (!device->table->memory_import || !device->table->memory_forget) {
        return core_fail(ISO_UNSUPPORTED, "%s: %s cannot import memory: copy it into a buffer",
                         call, device->table->name);
    }
    buffer = new_buffer(call, device);
    if (!buffer) {
        return ISO_NO_MEMORY;
    }
    buffer->bytes = what->bytes;
    buffer->read_only = what->read_only;
    buffer->owner->imported = true;
    return finish_buffer(call, device, buffer, what, import_memory(call, device, what, buffer),
                         out);
}

iso_status iso_buffer_import(iso_device handle, void *native, int64_t bytes, uint32_t flags,
                             void (*release)(void *context), void *context, iso_buffer *out)
{
    const char *call = "iso_buffer_import";
    const core_import what = {native, bytes, (flags & ISO_IMPORT_READ_ONLY) != 0, release, context};
    CORE_HELD core_device *device = NULL;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (status) {
        return status;
    }
    if (flags & ~(uint32_t)ISO_IMPORT_READ_ONLY) {
        return core_fail(ISO_INVALID, "%s: flags is 0x%x: only ISO_IMPORT_READ_ONLY (1) is known",
                         call, flags);
    }
    status = core_check_size(call, "bytes", bytes);
    if (!status && !native && bytes) {
        status = core_fail(
            ISO_INVALID,
            "%s: native is NULL with %lld bytes: pass the memory as ISO_NATIVE_MEMORY describes it",
            call, (long long)bytes);
    }
    return status ? status : core_buffer_import(call, device, &what, out);
}

void core_buffer_finish(core_buffer *buffer)
{
    uint64_t id = buffer->child.id, users = atomic_load(&buffer->used_by);

    if (users) {
        core_streams_drain(buffer->child.device->physical, users, NULL);
    }
    core_memory_drop(buffer->owner);
    core_child_unlink(&buffer->child);
    free(buffer);
    core_handle_free(id);
}

void core_buffer_keep(iso_buffer handle)
{
    core_buffer *buffer;

    if (core_handle_get(handle.id, CORE_BUFFER, &buffer)) {
        atomic_fetch_add(&buffer->owner->holders, 1);
        core_handle_release(handle.id);
    }
}

/* Whether a kept operation with the buffer may be in submission. */
static bool is_submitted(iso_buffer handle)
{
    CORE_HELD core_buffer *buffer = NULL;

    return core_handle_get(handle.id, CORE_BUFFER, &buffer) &&
           core_streams_again(buffer->child.device->physical, atomic_load(&buffer->used_by));
}

iso_status iso_buffer_destroy(iso_buffer handle)
{
    const char *call = "iso_buffer_destroy";
    core_buffer *buffer;
    iso_status status;

    if (core_inside() && is_submitted(handle)) {
        return core_handle_in_use(call, "buffer");
    }
    status = core_handle_retire(call, "buffer", handle.id, CORE_BUFFER, &buffer);
    if (!status) {
        core_buffer_finish(buffer);
    }
    return status;
}

iso_status iso_buffer_get_info(iso_buffer handle, iso_buffer_info *out)
{
    const char *call = "iso_buffer_get_info";
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    CORE_HELD core_buffer *buffer = NULL;
    iso_status status = core_handle_acquire(call, "buffer", handle.id, CORE_BUFFER, &buffer);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_buffer_info, device));
    }
    if (!status) {
        info.device.id = buffer->child.device->id;
        info.bytes = buffer->bytes;
        core_struct_write(out, &info, sizeof info);
    }
    return status;
}

/* ---- host memory ----------------------------------------------------------------------------- */

static void free_block(core_block *block)
{
    const iso_backend *table = block->device->table;
    void *backend_device = block->device->physical->device;

    if (block->registered && block->from_backend) {
        CORE_DO(table->host_unregister(backend_device, block->pointer));
    } else if (!block->registered && block->from_backend) {
        CORE_DO(table->host_free(backend_device, block->pointer));
    } else if (!block->registered) {
        free(block->pointer);
    }
    free(block);
}

/* Links the block. INVALID if it is registered memory that overlaps a registered block of any
 * handle to the device. */
static iso_status link_block(const char *call, core_block *block)
{
    core_physical *physical = block->device->physical;
    uintptr_t begin = (uintptr_t)block->pointer, end = begin + (uintptr_t)block->bytes;
    iso_status status = ISO_OK;

    pthread_mutex_lock(&physical->lock);
    for (core_block *at = physical->blocks; block->registered && at && !status; at = at->next) {
        uintptr_t other = (uintptr_t)at->pointer;

        if (at->registered && begin < other + (uintptr_t)at->bytes && other < end) {
            status = core_fail(
                ISO_INVALID,
                "%s: pointer is %p with %lld bytes, which overlaps the registered "
                "block at %p with %lld bytes%s: unregister that first",
                call, block->pointer, (long long)block->bytes, at->pointer, (long long)at->bytes,
                at->device == block->device ? "" : " of another handle to this device");
        }
    }
    if (!status) {
        block->next = physical->blocks;
        physical->blocks = block;
    }
    pthread_mutex_unlock(&physical->lock);
    return status;
}

/* Unlinks and returns the block that matches `like`, or any block of the device if `like` is NULL.
 * Returns NULL if there is none. */
static core_block *take_block(core_device *device, const core_block *like)
{
    core_block **at = &device->physical->blocks, *found = NULL;

    pthread_mutex_lock(&device->physical->lock);
    while (*at && !found) {
        core_block *here = *at;

        if (here->device == device &&
            (!like || (here->pointer == like->pointer && here->registered == like->registered &&
                       here->pending == like->pending))) {
            found = here;
            *at = here->next;
        } else {
            at = &here->next;
        }
    }
    pthread_mutex_unlock(&device->physical->lock);
    return found;
}

void core_blocks_finish(core_device *device)
{
    core_block *block;

    while ((block = take_block(device, NULL))) {
        free_block(block);
    }
}

iso_status iso_host_alloc(iso_device handle, int64_t bytes, void **out, int32_t *pinned)
{
    const char *call = "iso_host_alloc";
    CORE_HELD core_device *device = NULL;
    const iso_backend *table;
    core_block *block;
    int32_t is_pinned = 0;
    int64_t room = bytes > 0 ? bytes : 1;
    iso_status status = core_check_out(call, "out", out);

    if (!status) {
        status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    }
    if (!status) {
        status = core_check_size(call, "bytes", bytes);
    }
    if (status) {
        return status;
    }
    table = device->table;
    block = calloc(1, sizeof *block);
    if (!block) {
        return core_fail_no_memory(call, (int64_t)sizeof *block);
    }
    *block =
        (core_block){.device = device, .bytes = room, .from_backend = table->host_alloc != NULL};
    if (block->from_backend) {
        status = CORE_CALL(
            call, table,
            table->host_alloc(device->physical->device, room, &block->pointer, &is_pinned));
    } else if (posix_memalign(&block->pointer, (size_t)sysconf(_SC_PAGESIZE), (size_t)room)) {
        status = core_fail_no_memory(call, bytes);
    }
    if (status) {
        free(block);
        return status;
    }
    *out = block->pointer;
    if (pinned) {
        *pinned = is_pinned != 0;
    }
    return link_block(call, block);
}

/* Waits for the device's work and releases the block. */
static iso_status drop_block(const char *call, iso_device handle, void *pointer, bool registered)
{
    const core_block like = {.pointer = pointer, .registered = registered};
    CORE_HELD core_device *device = NULL;
    core_block *block;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (status) {
        return status;
    }
    block = take_block(device, &like);
    if (!block) {
        return core_fail(ISO_INVALID, "%s: pointer is %p, which is not from %s of this device",
                         call, pointer, registered ? "iso_host_register" : "iso_host_alloc");
    }
    core_streams_drain(device->physical, UINT64_MAX, device);
    free_block(block);
    return ISO_OK;
}

iso_status iso_host_free(iso_device device, void *pointer)
{
    return drop_block("iso_host_free", device, pointer, false);
}

iso_status iso_host_unregister(iso_device device, void *pointer)
{
    return drop_block("iso_host_unregister", device, pointer, true);
}

iso_status iso_host_register(iso_device handle, void *pointer, int64_t bytes, int32_t *pinned)
{
    const char *call = "iso_host_register";
    CORE_HELD core_device *device = NULL;
    const iso_backend *table;
    core_block *block;
    int32_t is_pinned = 0;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (status) {
        return status;
    }
    table = device->table;
    if (!pointer) {
        return core_fail(ISO_INVALID, "%s: pointer is NULL: pass the memory to pin", call);
    }
    if (bytes < 1) {
        return core_fail(ISO_INVALID, "%s: bytes is %lld: pass 1 or more", call, (long long)bytes);
    }
    if ((uintptr_t)pointer + (uintptr_t)bytes < (uintptr_t)pointer) {
        return core_fail(ISO_INVALID,
                         "%s: bytes is %lld, which goes past the end of memory from %p", call,
                         (long long)bytes, pointer);
    }
    block = calloc(1, sizeof *block);
    if (!block) {
        return core_fail_no_memory(call, (int64_t)sizeof *block);
    }
    *block = (core_block){
        .device = device, .pointer = pointer, .bytes = bytes, .registered = true, .pending = true};
    status = link_block(call, block);
    if (!status && table->host_register) {
        status =
            CORE_CALL(call, table,
                      table->host_register(device->physical->device, pointer, bytes, &is_pinned));
        if (status) {
            take_block(device, block);
        }
    }
    if (status) {
        free(block);
        return status;
    }
    pthread_mutex_lock(&device->physical->lock);
    block->from_backend = table->host_register != NULL;
    block->pending = false;
    pthread_mutex_unlock(&device->physical->lock);
    if (pinned) {
        *pinned = is_pinned != 0;
    }
    return ISO_OK;
}
