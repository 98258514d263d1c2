/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - events. The core records whether an event was recorded, so backends only get calls for
 * events that were. */
#include "core/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

iso_status iso_event_create(iso_device handle, iso_event *out)
{
    const char *call = "iso_event_create";
    core_event *event = NULL;
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
    event = calloc(1, sizeof *event);
    if (!event) {
        status = core_fail_no_memory(call, (int64_t)sizeof *event);
        goto out;
    }
    status = CORE_LIGHT(call, device->table,
                        device->table->event_create(device->physical->device, &event->handle));
    if (status) {
        free(event);
        goto out;
    }
    event->child.kind = CORE_EVENT;
    event->child.id = core_handle_new(call, CORE_EVENT, event);
    if (!event->child.id) {
        CORE_DO(device->table->event_destroy(event->handle));
        free(event);
        status = ISO_NO_MEMORY;
        goto out;
    }
    core_child_link(device, &event->child);
    out->id = event->child.id;
out:
    core_handle_release(handle.id);
    return status;
}

void core_event_finish(core_event *event)
{
    const iso_backend *table = event->child.device->table;
    core_kept_error kept = core_error_keep();
    uint64_t id = event->child.id;

    if (atomic_load(&event->recorded)) {
        CORE_DO(table->event_sync(event->handle));
    }
    CORE_DO(table->event_destroy(event->handle));
    core_error_restore(&kept);
    core_child_unlink(&event->child);
    free(event);
    core_handle_free(id);
}

iso_status iso_event_destroy(iso_event handle)
{
    core_event *event;
    iso_status status =
        core_handle_retire("iso_event_destroy", "event", handle.id, CORE_EVENT, &event);

    if (!status) {
        core_event_finish(event);
    }
    return status;
}

/* Acquires both handles, of one device; on success both must be released. */
static iso_status acquire(const char *call, iso_stream stream_handle, iso_event event_handle,
                          core_stream **stream, core_event **event)
{
    iso_status status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, stream);

    if (status) {
        return status;
    }
    status = core_handle_acquire(call, "event", event_handle.id, CORE_EVENT, event);
    if (status) {
        core_handle_release(stream_handle.id);
        return status;
    }
    if ((*stream)->child.device == (*event)->child.device) {
        return ISO_OK;
    }
    status = core_fail(
        ISO_MISMATCH,
        "%s: event belongs to another device handle (%s) than stream (%s): use an event "
        "of the stream's device",
        call, (*event)->child.device->physical->spec, (*stream)->child.device->physical->spec);
    core_handle_release(stream_handle.id);
    core_handle_release(event_handle.id);
    return status;
}

iso_status iso_event_record(iso_event event_handle, iso_stream stream_handle)
{
    const char *call = "iso_event_record";
    const iso_backend *table;
    core_stream *stream;
    core_event *event;
    iso_status status;

    status = acquire(call, stream_handle, event_handle, &stream, &event);
    if (status) {
        return status;
    }
    table = stream->child.device->table;
    status = core_stream_enter(call, stream);
    if (!status) {
        status = CORE_LIGHT(call, table, table->event_record(event->handle, stream->handle));
        status = core_stream_check(call, stream, status);
        if (!status) {
            atomic_store(&event->recorded, true);
        }
        core_stream_leave(stream);
    }
    core_handle_release(stream_handle.id);
    core_handle_release(event_handle.id);
    return status;
}

iso_status iso_stream_wait(iso_stream stream_handle, iso_event event_handle)
{
    const char *call = "iso_stream_wait";
    const iso_backend *table;
    core_stream *stream;
    core_event *event;
    iso_status status;

    status = acquire(call, stream_handle, event_handle, &stream, &event);
    if (status) {
        return status;
    }
    table = stream->child.device->table;
    status = core_stream_enter(call, stream);
    if (!status) {
        if (atomic_load(&event->recorded)) {
            status = CORE_LIGHT(call, table, table->stream_wait(stream->handle, event->handle));
        }
        status = core_stream_check(call, stream, status);
        core_stream_leave(stream);
    }
    core_handle_release(stream_handle.id);
    core_handle_release(event_handle.id);
    return status;
}

iso_status iso_event_sync(iso_event handle)
{
    const char *call = "iso_event_sync";
    const iso_backend *table;
    core_event *event;
    iso_status status = core_handle_acquire(call, "event", handle.id, CORE_EVENT, &event);

    if (status) {
        return status;
    }
    table = event->child.device->table;
    if (atomic_load(&event->recorded)) {
        status = CORE_LIGHT(call, table, table->event_sync(event->handle));
    } else {
        status =
            core_fail(ISO_NOT_READY, "%s: the event was never recorded: record it first", call);
    }
    core_handle_release(handle.id);
    return status;
}

iso_status iso_event_query(iso_event handle)
{
    const char *call = "iso_event_query";
    const iso_backend *table;
    core_event *event;
    iso_status status = core_handle_acquire(call, "event", handle.id, CORE_EVENT, &event);

    if (status) {
        return status;
    }
    table = event->child.device->table;
    status = ISO_NOT_READY;
    if (atomic_load(&event->recorded)) {
        status = CORE_ASK(call, table, table->event_query(event->handle));
    }
    core_handle_release(handle.id);
    return status;
}

/* NOT_READY with a text unless the event is complete. */
static iso_status must_be_complete(const char *call, const char *name, core_event *event)
{
    const iso_backend *table = event->child.device->table;
    iso_status status;

    if (!atomic_load(&event->recorded)) {
        return core_fail(ISO_NOT_READY, "%s: %s was never recorded", call, name);
    }
    status = CORE_ASK(call, table, table->event_query(event->handle));
    if (status == ISO_NOT_READY) {
        return core_fail(ISO_NOT_READY, "%s: %s is not complete yet: wait for it first", call,
                         name);
    }
    return status;
}

iso_status iso_event_elapsed(iso_event start, iso_event stop, int64_t *nanoseconds)
{
    const char *call = "iso_event_elapsed";
    core_event *first, *second;
    const iso_backend *table;
    int64_t elapsed = 0;
    iso_status status;

    if (!nanoseconds) {
        return core_fail(ISO_INVALID, "%s: nanoseconds is NULL: pass where the time goes", call);
    }
    status = core_handle_acquire(call, "start", start.id, CORE_EVENT, &first);
    if (status) {
        return status;
    }
    status = core_handle_acquire(call, "stop", stop.id, CORE_EVENT, &second);
    if (status) {
        core_handle_release(start.id);
        return status;
    }
    if (first->child.device != second->child.device) {
        status = core_fail(
            ISO_MISMATCH, "%s: start is of %s and stop of another device handle (%s)", call,
            first->child.device->physical->spec, second->child.device->physical->spec);
        goto out;
    }
    table = first->child.device->table;
    status = must_be_complete(call, "start", first);
    if (!status) {
        status = must_be_complete(call, "stop", second);
    }
    if (!status) {
        status =
            CORE_LIGHT(call, table, table->event_elapsed(first->handle, second->handle, &elapsed));
    }
    if (!status) {
        *nanoseconds = elapsed;
    }
out:
    core_handle_release(start.id);
    core_handle_release(stop.id);
    return status;
}
