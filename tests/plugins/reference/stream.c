/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - the simplest kind of streams and events: submitted work has run when the submitting
 * call returns. So a stream is always idle, an event is complete as soon as it is recorded, and
 * there are no late errors.
 *
 * The ABI allows this for asynchronous streams too: "may return before it has run" is a permission,
 * not a duty. A backend with a queue keeps a late error in its stream: once work has failed,
 * stream_sync and stream_query return that status (with its text through host->fail) every time,
 * and later work is dropped.
 */
#include "tests/plugins/reference/reference.h"

#include <time.h>

typedef struct ref_stream {
    void *device;
} ref_stream;

typedef struct ref_event {
    struct timespec when;
} ref_event;

iso_status ref_stream_create(void *device, uint32_t flags, void **stream)
{
    /* An unknown flag may request something that this plug-in does not do. */
    if (flags & ~(uint32_t)ISO_STREAM_INLINE) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "stream flags are 0x%x; known flags are 0x%x (inline)",
                              (unsigned)flags, (unsigned)ISO_STREAM_INLINE);
    }
    ref_stream *made = ref_host->alloc((int64_t)sizeof(*made));
    if (!made) {
        return ISO_NO_MEMORY;
    }
    made->device = device;
    *stream = made;
    return ISO_OK;
}

void ref_stream_destroy(void *stream)
{
    ref_host->free(stream);
}

iso_status ref_stream_sync(void *stream)
{
    (void)stream;
    return ISO_OK;
}

iso_status ref_stream_query(void *stream)
{
    (void)stream;
    return ISO_OK;
}

iso_status ref_event_create(void *device, void **event)
{
    (void)device;
    ref_event *made = ref_host->alloc((int64_t)sizeof(*made));
    if (!made) {
        return ISO_NO_MEMORY;
    }
    *made = (ref_event){.when = {0}};
    *event = made;
    return ISO_OK;
}

void ref_event_destroy(void *event)
{
    ref_host->free(event);
}

iso_status ref_event_record(void *event, void *stream)
{
    (void)stream;
    ref_event *recorded = event;
    clock_gettime(CLOCK_MONOTONIC, &recorded->when);
    return ISO_OK;
}

/* The work that the event marks has already run. */
iso_status ref_stream_wait(void *stream, void *event)
{
    (void)stream;
    (void)event;
    return ISO_OK;
}

iso_status ref_event_sync(void *event)
{
    (void)event;
    return ISO_OK;
}

iso_status ref_event_query(void *event)
{
    (void)event;
    return ISO_OK;
}

iso_status ref_event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const ref_event *from = MUTATE(62, stop, start);
    const ref_event *to = MUTATE(62, start, stop);
    *nanoseconds = (to->when.tv_sec - from->when.tv_sec) * INT64_C(1000000000) +
                   (to->when.tv_nsec - from->when.tv_nsec);
    return ISO_OK;
}
