/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c - the program's own devices and memory, and the native objects behind handles. */
#include "core/device.h"
#include "core/error.h"
#include "core/event.h"
#include "core/fork.h"
#include "core/handle.h"
#include "core/memory.h"
#include "core/op.h"
#include "core/physical.h"
#include "core/registry.h"
#include "core/select.h"
#include "core/settings.h"
#include "core/stream.h"
#include "core/structs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Loads the backend, which must be usable and able to adopt. */
static iso_status find_backend(const char *call, const char *name, core_backend **out)
{
    core_backend *backend = NULL;
    iso_probe *probe;
    iso_status status = ISO_OK;

    if (!name || !name[0]) {
        return core_fail(ISO_INVALID,
                         "%s: backend is %s: pass the name of one, as iso_enumerate lists them",
                         call, name ? "empty" : "NULL");
    }
    if (core_name_valid(name)) {
        status = core_backend_find(call, name, &backend);
    }
    if (status) {
        return status;
    }
    if (!backend) {
        return core_fail(
            ISO_INVALID,
            "%s: backend is \"%s\", which is not a backend: use a name that iso_enumerate "
            "lists",
            call, name);
    }
    probe = malloc(sizeof *probe);
    if (!probe) {
        return core_fail_no_memory(call, (int64_t)sizeof *probe);
    }
    status = core_backend_probe(call, backend, probe);
    if (!status && probe->state != ISO_STATE_OK) {
        status = core_fail(ISO_UNAVAILABLE, "%s: %s is not available (%s): %s", call, name,
                           iso_state_name(probe->state), probe->reason);
    } else if (!status && !backend->table.device_adopt) {
        status =
            core_fail(ISO_UNSUPPORTED,
                      "%s: %s does not adopt devices: open one with iso_device_open", call, name);
    }
    free(probe);
    *out = backend;
    return status;
}

iso_status iso_device_adopt(const char *name, const iso_native_device *native,
                            const iso_device_options *options, iso_device *out)
{
    const char *call = "iso_device_adopt";
    iso_native_device asked = ISO_NATIVE_DEVICE_INIT;
    iso_device_options checked;
    core_choice choice = {0};
    iso_status status;

    core_fork_guard();
    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
    }
    out->id = 0;
    status = core_struct_read(call, "native", native, CORE_END_OF(iso_native_device, device),
                              &asked, sizeof asked);
    if (!status) {
        status = core_check_reserved(call, "native", asked.reserved);
    }
    if (!status) {
        status = core_device_options(call, options, &checked);
    }
    if (!status) {
        status = core_settings_check(call);
    }
    if (!status) {
        status = find_backend(call, name, &choice.backend);
    }
    if (status) {
        return status;
    }
    asked.size = (uint32_t)sizeof asked;
    status = core_physical_adopt(call, choice.backend, &asked, &choice.physical);
    if (status) {
        return status;
    }
    choice.index = choice.physical->index;
    core_text_add(&choice.story, "adopted: the program's own context (%p)", asked.context);
    status = core_device_make(call, &checked, &choice, out);
    if (status) {
        core_physical_close(choice.physical);
    }
    core_text_free(&choice.story);
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

/* ---- native objects -------------------------------------------------------------------------- */

static iso_status get(const char *call, core_device *device, iso_native_kind kind, void *object,
                      void **native)
{
    const iso_backend *table = device->table;

    if (!table->native_get) {
        return core_fail(ISO_UNSUPPORTED, "%s: %s does not expose its native objects", call,
                         table->name);
    }
    return CORE_LIGHT(call, table,
                      table->native_get(device->physical->device, kind, object, native));
}

static iso_status get_memory(const char *call, core_buffer *buffer, void **native)
{
    iso_status status;

    if (!buffer->memory) {
        return ISO_OK;
    }
    status = get(call, buffer->child.device, ISO_NATIVE_MEMORY, buffer->memory, native);
    if (!status) {
        *native = (char *)*native + buffer->origin;
    }
    return status;
}

static iso_status get_of(const char *call, iso_native_kind kind, void *object, void **native)
{
    core_device *device = object;
    core_stream *stream = object;
    core_event *event = object;
    iso_status status;

    switch (kind) {
    case ISO_NATIVE_STREAM:
        pthread_mutex_lock(&stream->lock);
        status = get(call, stream->child.device, kind, stream->handle, native);
        pthread_mutex_unlock(&stream->lock);
        return status;
    case ISO_NATIVE_EVENT:
        if (!atomic_load(&event->recorded)) {
            return core_fail(ISO_NOT_READY,
                             "%s: the event was never recorded, and may have no native object yet: "
                             "record it first",
                             call);
        }
        return get(call, event->child.device, kind, event->handle, native);
    case ISO_NATIVE_MEMORY:
        return get_memory(call, object, native);
    default:
        return get(call, device, kind, device->physical->device, native);
    }
}

iso_status iso_native_get(iso_native_kind kind, uint64_t id, void **out)
{
    static const core_kind kinds[] = {
        [ISO_NATIVE_CONTEXT] = CORE_DEVICE, [ISO_NATIVE_DEVICE] = CORE_DEVICE,
        [ISO_NATIVE_STREAM] = CORE_STREAM,  [ISO_NATIVE_EVENT] = CORE_EVENT,
        [ISO_NATIVE_MEMORY] = CORE_BUFFER,
    };
    const char *call = "iso_native_get";
    void *object, *native = NULL;
    iso_status status;

    if ((int)kind < ISO_NATIVE_CONTEXT || (int)kind > ISO_NATIVE_MEMORY) {
        return core_fail(
            ISO_INVALID,
            "%s: kind is %d, which is not a kind: use ISO_NATIVE_CONTEXT (1), _DEVICE, "
            "_STREAM, _EVENT or _MEMORY (5)",
            call, (int)kind);
    }
    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the pointer goes", call);
    }
    status = core_handle_acquire(call, "id", id, kinds[kind], &object);
    if (status) {
        return status;
    }
    status = get_of(call, kind, object, &native);
    core_handle_release(id);
    if (!status) {
        *out = native;
    }
    return status;
}
