/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams and events, which order work. Every transfer and operation is submitted to a
 * stream and runs after everything that was submitted to that stream before. Only events order
 * different streams of a device.
 *
 * Late errors: if work fails after it was accepted, its stream fails. From then on every
 * synchronisation of that stream and every submission to it returns that error, and nothing more
 * runs on it until it is destroyed. Results of its work are undefined. Other streams continue.
 *
 * While a stream records a graph (graph.h), waiting for it, asking for its state, and events on it
 * are INVALID.
 */
#ifndef ISOMER_STREAM_H
#define ISOMER_STREAM_H

#include <isomer/device.h>

ISO_BEGIN_DECLS

/* A queue of work on a device. */
typedef struct iso_stream {
    uint64_t id;
} iso_stream;

/* A point in the work of a stream. */
typedef struct iso_event {
    uint64_t id;
} iso_event;

/* Flags of iso_stream_create. */
enum {
    /* Work runs in the calling thread before the call returns, and is not passed to another thread:
     * for small work on a CPU. Order, errors and bits are the same. UNSUPPORTED if the device has
     * no such streams. */
    ISO_STREAM_INLINE = 1
};

/*
 * Creates a stream. INVALID: not a device, unknown flags, NULL. UNSUPPORTED: inline on a GPU.
 * NO_MEMORY, BACKEND: from the backend.
 */
ISO_API iso_status iso_stream_create(iso_device device, uint32_t flags, iso_stream *out);

/* Waits for the stream's work and frees the stream. If the stream has a late error, returns it
 * after that. */
ISO_API iso_status iso_stream_destroy(iso_stream stream);

/* Waits until everything submitted has finished. Returns the stream's late error, if it has one. */
ISO_API iso_status iso_stream_sync(iso_stream stream);

/* The same, but waits for at most `nanoseconds` (0 or more). TIMEOUT: not finished by then. */
ISO_API iso_status iso_stream_sync_timeout(iso_stream stream, int64_t nanoseconds);

/* ISO_OK: everything has finished. NOT_READY: not yet (the error text is not changed). Otherwise
 * the stream's late error. */
ISO_API iso_status iso_stream_query(iso_stream stream);

/*
 * Work submitted to `stream` after this call waits for the most recent record of the event at the
 * time of this call. If the event was never recorded, nothing waits. The event may have been
 * recorded on another stream of the same device. On an inline stream the calling thread waits.
 * MISMATCH: the event belongs to another device.
 */
ISO_API iso_status iso_stream_wait(iso_stream stream, iso_event event);

/* Creates an event of a device. INVALID, NO_MEMORY, BACKEND. */
ISO_API iso_status iso_event_create(iso_device device, iso_event *out);

/* Waits for the event's last record, and frees it. */
ISO_API iso_status iso_event_destroy(iso_event event);

/* Marks this point of the stream: the event is complete when everything before it has finished. May
 * be recorded again; waits that were submitted before keep the earlier point. */
ISO_API iso_status iso_event_record(iso_event event, iso_stream stream);

/* Waits until the event's last record is complete. NOT_READY: never recorded. */
ISO_API iso_status iso_event_sync(iso_event event);

/* ISO_OK: complete. NOT_READY: not yet, or never recorded (the error text is not changed). */
ISO_API iso_status iso_event_query(iso_event event);

/*
 * Nanoseconds between two completed records on the device's own clock; negative if `stop` came
 * first. NOT_READY: one of them is not complete. MISMATCH: they belong to different devices.
 * UNSUPPORTED: the driver has no times, because an adopted OpenCL queue has no profiling or a
 * command failed.
 */
ISO_API iso_status iso_event_elapsed(iso_event start, iso_event stop, int64_t *nanoseconds);

ISO_END_DECLS

#endif
