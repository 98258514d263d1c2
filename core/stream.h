/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - streams, events, and the trace that ISOMER_TRACE requests. */
#ifndef ISOMER_CORE_STREAM_H
#define ISOMER_CORE_STREAM_H

#include "core/call.h"
#include "core/memory.h"

typedef struct core_trace_stream core_trace_stream;
typedef struct core_recent core_recent;
typedef struct core_record core_record;

struct core_stream {
    core_child child;
    void *handle; /* the backend's */
    uint64_t bit; /* stands for this stream in a buffer's used_by */
    uint64_t serial;
    bool runs_inline;     /* ISO_STREAM_INLINE */
    core_stream *next;    /* of the physical device */
    pthread_mutex_t lock; /* held while something is submitted */
    iso_ref scratch;
    int64_t scratch_bytes;
    void *link; /* an event that orders copies between streams; NULL until needed */
    core_trace_stream *trace;
    core_recent *recent;           /* recent.h; NULL until an operation was kept */
    _Atomic(core_record *) record; /* graph/graph.h; NULL unless the stream records */
    /* For submissions of kept operations and graphs. What it uses is not acquired, which would
     * take longer than the rest of a small operation: who destroys that waits for this instead.
     * Counts beginnings and ends, so it is odd meanwhile. */
    _Atomic uint64_t again;
    pthread_mutex_t late_lock;
    atomic_int late; /* iso_status */
    bool late_told;  /* the late error was reported */
    core_kept_error late_error;
};

/* Around such a submission, on the locked stream. */
void core_stream_again_begin(core_stream *stream);
void core_stream_again_end(core_stream *stream);

/* Called after the handle was retired: waits for the stream's work and frees the stream. Returns
 * its late error, and sets *told if that was reported before. */
iso_status core_stream_finish(const char *call, core_stream *stream, bool *told);

/* Locks the stream for a submission; fails with its late error, and with INVALID if the stream
 * records. */
iso_status core_stream_enter(const char *call, core_stream *stream);
/* The same for what a stream can record. */
iso_status core_stream_enter_recording(const char *call, core_stream *stream);
/* Locks the stream, whatever its state is. */
iso_status core_stream_lock(const char *call, core_stream *stream);
/* Locks the stream as core_stream_enter does, after it was made to wait for all that was submitted
 * to another one, which is not locked any more. */
iso_status core_stream_enter_after(const char *call, core_stream *stream, core_stream *before);
void core_stream_leave(core_stream *stream);
/* The same for two streams, which may be the same one. */
iso_status core_streams_enter(const char *call, core_stream *a, core_stream *b);
void core_streams_leave(core_stream *a, core_stream *b);
/* Called with the status of a submission, which it returns. If the submission failed because of a
 * late error, keeps this error in the stream and returns it instead. */
iso_status core_stream_check(const char *call, core_stream *stream, iso_status status);
/* Makes the stream fail with this status and this thread's error text, unless it has failed before.
 */
void core_stream_fail(core_stream *stream, iso_status status);
/* Waits for the stream and keeps its late error. */
iso_status core_stream_drain(const char *call, core_stream *stream);
/* Fails with the stream's late error, which then counts as reported; ISO_OK if it has none. */
iso_status core_stream_late(const char *call, core_stream *stream);
/* Waits for the streams of `physical` whose bits are in the mask; if `device` is not NULL, only for
 * its own. */
void core_streams_drain(core_physical *physical, uint64_t mask, const core_device *device);
/* Whether a kept operation or a graph is being submitted to one of the streams whose bits are in
 * the mask. */
bool core_streams_again(core_physical *physical, uint64_t mask);
/* Waits for the stream with that serial, also if another thread is destroying it. */
void core_stream_await(core_physical *physical, uint64_t serial);
/* Makes later submissions to `after` wait for everything that was submitted to `before`. Both are
 * locked and belong to one physical device. */
iso_status core_stream_link(const char *call, core_stream *before, core_stream *after);

/* ---- events ---------------------------------------------------------------------------------- */

typedef struct core_event {
    core_child child;
    void *handle;
    atomic_bool recorded;
} core_event;

/* Called after the handle was retired: waits for the event and frees it. */
void core_event_finish(core_event *event);

/* ---- the trace ------------------------------------------------------------------------------- */

/* The time in nanoseconds, from a clock that never goes backwards. */
int64_t core_now(void);
extern atomic_bool core_trace_on;
typedef struct core_trace_span {
    bool on;
    core_fpenv callers; /* the caller's environment, restored by core_trace_end */
    int64_t began;
    void *start; /* backend event */
} core_trace_span;

/* Opens the trace's file if it is not open. `problem` is "" on success. */
bool core_trace_open(const char *path, char *problem, size_t room);
/* Called before and after a submission to a locked stream. */
void core_trace_start(core_stream *stream, core_trace_span *span);
static inline void core_trace_begin(core_stream *stream, core_trace_span *span)
{
    span->on = false;
    if (atomic_load_explicit(&core_trace_on, memory_order_relaxed)) {
        core_trace_start(stream, span);
    }
}
void core_trace_end(core_stream *stream, core_trace_span *span, bool accepted, const char *name,
                    double bytes);
/* Writes finished work. The stream is locked or being destroyed. */
void core_trace_resolve(core_stream *stream);
void core_trace_drop(core_stream *stream);

#endif
