/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - events. The core notes whether an event was recorded, and calls the backend only for
 * events that were. */
#include "core/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

iso_status iso_event_create(iso_device handle, iso_event *out)
{
    const char *call = "iso_event_create";
    CORE_HELD core_device *device = NULL;
    core_event *event;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (status) {
        return status;
    }
    event = calloc(1, sizeof *event);
    if (!event) {
        return core_fail_no_memory(call, (int64_t)sizeof *event);
    }
    status = CORE_LIGHT(call, device->table,
                        device->table->event_create(device->physical->device, &event->handle));
    if (!status) {
        status = core_child_add(call, device, &event->child, CORE_EVENT);
        if (status) {
            CORE_DO(device->table->event_destroy(event->handle));
        }
    }
    if (status) {
        free(event);
        return status;
    }
    out->id = event->child.id;
    return ISO_OK;
}

static const iso_backend *table_of(const core_event *event)
{
    return event->child.device->table;
}

void core_event_finish(core_event *event)
{
    const iso_backend *table = table_of(event);
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

/* Acquires both handles, which must be of one device. */
static iso_status acquire(const char *call, iso_stream stream_handle, iso_event event_handle,
                          core_stream **stream, core_event **event)
{
    iso_status status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, stream);

    if (!status) {
        status = core_handle_acquire(call, "event", event_handle.id, CORE_EVENT, event);
    }
    if (!status) {
        status = core_check_device(call, "event", &(*event)->child, "stream", &(*stream)->child);
    }
    return status;
}

iso_status iso_event_record(iso_event event_handle, iso_stream stream_handle)
{
    const char *call = "iso_event_record";
    CORE_HELD core_stream *stream = NULL;
    CORE_HELD core_event *event = NULL;
    iso_status status = acquire(call, stream_handle, event_handle, &stream, &event);

    if (!status) {
        status = core_stream_enter(call, stream);
    }
    if (status) {
        return status;
    }
    status = CORE_LIGHT(call, table_of(event),
                        table_of(event)->event_record(event->handle, stream->handle));
    status = core_stream_check(call, stream, status);
    if (!status) {
        atomic_store(&event->recorded, true);
    }
    core_stream_leave(stream);
    return status;
}

iso_status iso_stream_wait(iso_stream stream_handle, iso_event event_handle)
{
    const char *call = "iso_stream_wait";
    CORE_HELD core_stream *stream = NULL;
    CORE_HELD core_event *event = NULL;
    iso_status status = acquire(call, stream_handle, event_handle, &stream, &event);

    if (!status) {
        status = core_stream_enter(call, stream);
    }
    if (status) {
        return status;
    }
    if (atomic_load(&event->recorded)) {
        status = CORE_LIGHT(call, table_of(event),
                            table_of(event)->stream_wait(stream->handle, event->handle));
        status = core_stream_check(call, stream, status);
    }
    core_stream_leave(stream);
    return status;
}

iso_status iso_event_sync(iso_event handle)
{
    const char *call = "iso_event_sync";
    CORE_HELD core_event *event = NULL;
    iso_status status = core_handle_acquire(call, "event", handle.id, CORE_EVENT, &event);

    if (status) {
        return status;
    }
    if (!atomic_load(&event->recorded)) {
        return core_fail(ISO_NOT_READY, "%s: the event was never recorded: record it first", call);
    }
    return CORE_LIGHT(call, table_of(event), table_of(event)->event_sync(event->handle));
}

/* NOT_READY sets no error text; a failure does. */
static iso_status query(const char *call, core_event *event)
{
    if (!atomic_load(&event->recorded)) {
        return ISO_NOT_READY;
    }
    return CORE_ASK(call, table_of(event), table_of(event)->event_query(event->handle));
}

iso_status iso_event_query(iso_event handle)
{
    const char *call = "iso_event_query";
    CORE_HELD core_event *event = NULL;
    iso_status status = core_handle_acquire(call, "event", handle.id, CORE_EVENT, &event);

    return status ? status : query(call, event);
}

/* NOT_READY with a text unless the event is complete. */
static iso_status must_be_complete(const char *call, const char *name, core_event *event)
{
    iso_status status = query(call, event);

    if (status == ISO_NOT_READY) {
        return core_fail(ISO_NOT_READY, "%s: %s %s", call, name,
                         atomic_load(&event->recorded) ? "is not complete yet: wait for it first"
                                                       : "was never recorded: record it first");
    }
    return status;
}

iso_status iso_event_elapsed(iso_event start, iso_event stop, int64_t *nanoseconds)
{
    const char *call = "iso_event_elapsed";
    CORE_HELD core_event *first = NULL, *second = NULL;
    int64_t elapsed = 0;
    iso_status status = core_check_out(call, "nanoseconds", nanoseconds);

    if (!status) {
        status = core_handle_acquire(call, "start", start.id, CORE_EVENT, &first);
    }
    if (!status) {
        status = core_handle_acquire(call, "stop", stop.id, CORE_EVENT, &second);
    }
    if (!status) {
        status = core_check_device(call, "start", &first->child, "stop", &second->child);
    }
    if (!status) {
        status = must_be_complete(call, "start", first);
    }
    if (!status) {
        status = must_be_complete(call, "stop", second);
    }
    if (!status) {
        status =
            CORE_LIGHT(call, table_of(first),
                       table_of(first)->event_elapsed(first->handle, second->handle, &elapsed));
    }
    if (!status) {
        *nanoseconds = elapsed;
    }
    return status;
}
