/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_stream.c - streams: in-order queues. A stream keeps the events of commands that may not
 * have finished, because an event shows whether its command failed. Some have no event.
 */
#include "backends/opencl/library.h"

#include <inttypes.h>
#include <string.h>

enum {
    RING_FIRST = 64, /* initial capacity for pending commands; a power of two */
    /* With at least this many pending commands, a submission removes those that have ended. */
    SWEEP_FROM = 32
};

ocl_code ocl_event_state(ocl_event event)
{
    ocl_code state = OCL_COMPLETE;
    const ocl_code code = cl.clGetEventInfo(event, OCL_EVENT_STATUS, sizeof state, &state, NULL);
    return code == OCL_DONE ? state : code;
}

static ocl_command *command_at(ocl_stream *stream, uint32_t index)
{
    return &stream->commands[(stream->first + index) & (stream->capacity - 1)];
}

/* ---- creation -------------------------------------------------------------------------------- */

static iso_status make(ocl_device *device, ocl_queue queue, bool foreign, bool timed,
                       simt_stream *out)
{
    ocl_stream *stream = ocl_host->alloc((int64_t)sizeof *stream);
    if (!stream) {
        return ISO_NO_MEMORY;
    }
    *stream = (ocl_stream){
        .device = device, .queue = queue, .foreign = foreign, .timed = timed, .late = ISO_OK};
    stream->commands = ocl_host->alloc(RING_FIRST * (int64_t)sizeof *stream->commands);
    if (!stream->commands) {
        ocl_host->free(stream);
        return ISO_NO_MEMORY;
    }
    stream->capacity = RING_FIRST;
    (void)pthread_mutex_lock(&device->lock);
    stream->serial = ++device->next_serial;
    (void)pthread_mutex_unlock(&device->lock);
    out->native = stream;
    return ISO_OK;
}

iso_status ocl_stream_create(simt_stream *stream)
{
    ocl_device *device = stream->device->native;
    ocl_code code = OCL_DONE;
    ocl_queue queue =
        cl.clCreateCommandQueue(device->context, device->id, OCL_QUEUE_PROFILING, &code);
    if (!queue) {
        return ocl_fail(code, "clCreateCommandQueue");
    }
    const iso_status status = make(device, queue, false, true, stream);
    if (status != ISO_OK) {
        (void)cl.clReleaseCommandQueue(queue);
    }
    return status;
}

iso_status ocl_stream_adopt(simt_stream *stream, void *foreign)
{
    ocl_device *device = stream->device->native;
    ocl_queue queue = foreign;
    ocl_context context = NULL;
    ocl_device_id id = NULL;
    ocl_bits properties = 0;
    ocl_code code =
        cl.clGetCommandQueueInfo(queue, OCL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == OCL_DONE) {
        code = cl.clGetCommandQueueInfo(queue, OCL_QUEUE_DEVICE, sizeof id, &id, NULL);
    }
    if (code == OCL_DONE) {
        code = cl.clGetCommandQueueInfo(queue, OCL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                        NULL);
    }
    if (code != OCL_DONE) {
        return ocl_host->fail(ISO_INVALID,
                              "%p is not a cl_command_queue: clGetCommandQueueInfo gives %s "
                              "(%" PRId32 ")",
                              foreign, ocl_code_name(code), code);
    }
    if (context != device->context || id != device->id) {
        return ocl_host->fail(
            ISO_INVALID,
            "queue %p belongs to context %p and device %p, but the device was opened with context "
            "%p and device %p: adopt the device with the queue's context and device",
            foreign, (void *)context, (void *)id, (void *)device->context, (void *)device->id);
    }
    if (properties & OCL_QUEUE_UNORDERED) {
        return ocl_host->fail(ISO_UNSUPPORTED,
                              "queue %p runs out of order, but a stream runs in order: create it "
                              "without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE",
                              foreign);
    }
    code = cl.clRetainCommandQueue(queue);
    if (code != OCL_DONE) {
        return ocl_fail(code, "clRetainCommandQueue(%p)", foreign);
    }
    const iso_status status =
        make(device, queue, true, (properties & OCL_QUEUE_PROFILING) != 0, stream);
    if (status != ISO_OK) {
        (void)cl.clReleaseCommandQueue(queue);
    }
    return status;
}

/* ---- pending commands ------------------------------------------------------------------------ */

/* Removes the commands that have ended, and keeps the first failure. The caller holds the device's
 * lock. */
static void sweep(ocl_stream *stream)
{
    while (stream->count > 0) {
        const ocl_command *command = command_at(stream, 0);
        const ocl_code state = ocl_event_state(command->event);
        if (state > OCL_COMPLETE) {
            break;
        }
        if (state < OCL_COMPLETE && stream->late == ISO_OK) {
            stream->late_code = state;
            stream->late_call = command->call;
            stream->late = ocl_status(state);
        }
        (void)cl.clReleaseEvent(command->event);
        stream->first = (stream->first + 1) & (stream->capacity - 1);
        stream->count--;
    }
}

/* Adds a pending command. Returns false if there is no memory: the command is then not tracked. The
 * caller holds the device's lock. */
static bool push(ocl_stream *stream, ocl_event event, const char *call)
{
    if (stream->count >= SWEEP_FROM) {
        sweep(stream);
    }
    if (stream->count == stream->capacity) {
        ocl_command *more = ocl_host->alloc(2 * (int64_t)stream->capacity * (int64_t)sizeof *more);
        if (!more) {
            return false;
        }
        for (uint32_t i = 0; i < stream->count; i++) {
            more[i] = *command_at(stream, i);
        }
        ocl_host->free(stream->commands);
        stream->commands = more;
        stream->first = 0;
        stream->capacity *= 2;
    }
    *command_at(stream, stream->count) = (ocl_command){.event = event, .call = call};
    stream->count++;
    return true;
}

static void keep_last(ocl_stream *stream, ocl_event event)
{
    if (stream->last) {
        (void)cl.clReleaseEvent(stream->last);
    }
    (void)cl.clRetainEvent(event);
    stream->last = event;
}

/* Gives the event of a new command to the marks that wait for the next command. If `event` is NULL,
 * the marks stop waiting and get no event. */
static void tell_marks(ocl_stream *stream, ocl_event event)
{
    ocl_mark *next = NULL;
    for (ocl_mark *at = stream->waiting; at; at = next) {
        next = at->next;
        at->stream = NULL;
        at->next = NULL;
        if (event) {
            (void)cl.clRetainEvent(event);
            at->after = event;
        }
    }
    stream->waiting = NULL;
}

/* Whether a queue still works: an unusable queue refuses even a marker. */
static bool is_usable(ocl_queue queue)
{
    ocl_event event = NULL;
    ocl_code code = cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    if (code == OCL_DONE) {
        code = cl.clFinish(queue);
        (void)cl.clReleaseEvent(event);
    }
    return code == OCL_DONE;
}

/* Returns the status of a failure on a queue. The code does not show whether the device is lost:
 * after an invalid memory access, drivers return CL_OUT_OF_RESOURCES or codes of their own. So the
 * queue is tested; or another one of the context, if this one would wait for a call of the host. */
static iso_status judge(const ocl_stream *stream, ocl_code code)
{
    const iso_status status = ocl_status(code);
    ocl_queue queue = atomic_load(&stream->calls) > 0 ? stream->device->queue : stream->queue;
    return status == ISO_BACKEND && !is_usable(queue) ? ISO_DEVICE_LOST : status;
}

static const char *advice(iso_status status)
{
    return status == ISO_DEVICE_LOST
               ? "; the device's context is lost: destroy its handles and open it again"
               : "";
}

static iso_status refused(const ocl_stream *stream, ocl_code code, const char *call)
{
    const iso_status status = judge(stream, code);
    return ocl_host->fail(status, "%s gives %s (%" PRId32 ")%s", call, ocl_code_name(code), code,
                          advice(status));
}

/* Notes a command that is in the queue, with its event. The caller holds the device's lock. */
static void note(ocl_stream *stream, ocl_event event, const char *call)
{
    keep_last(stream, event);
    stream->untold = NULL; /* the queue is in order: `event` is complete only after those */
    tell_marks(stream, event);
    stream->submitted++;
    if (!push(stream, event, call)) {
        /* The command still runs; if it fails, perhaps only clFinish reports that. */
        (void)cl.clReleaseEvent(event);
    }
}

static iso_status flush(const ocl_stream *stream, const char *call)
{
    const ocl_code code = cl.clFlush(stream->queue);
    return code == OCL_DONE ? ISO_OK : ocl_fail(code, "clFlush after %s", call);
}

iso_status ocl_submitted(ocl_stream *stream, ocl_code code, ocl_event event, const char *call)
{
    if (code != OCL_DONE) {
        return refused(stream, code, call);
    }
    (void)pthread_mutex_lock(&stream->device->lock);
    note(stream, event, call);
    (void)pthread_mutex_unlock(&stream->device->lock);
    return flush(stream, call);
}

/* ---- commands without events -------------------------------------------------------------------
 * Launches of kernels and a library's routines, which submit several commands, get a marker at
 * their start and an event at their end only if they will be read. Creating them takes time on a
 * queue with profiling: 5 us each on NVIDIA's driver (docs/performance.md). The start is wanted if
 * an event was recorded right before, because the time of that event is the start of the command.
 * The event at the end is created if the program then records an event, or waits for or queries
 * the stream. Where a launch that fails late may be known by its event only, it always has one.
 */

bool ocl_launch_is_watched(ocl_stream *stream)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    const bool wanted = stream->waiting != NULL;
    (void)pthread_mutex_unlock(&stream->device->lock);
    return wanted || !stream->device->fails_for_good;
}

typedef enum place { AT_START, AT_END } place;

/* Submits a marker at the start or the end of commands without events, if it is wanted. The lock is
 * held until it is noted: another thread may submit a command meanwhile, and if that is noted
 * first, the marker must not hide it. */
static iso_status mark_here(ocl_stream *stream, place where, bool *done)
{
    ocl_event marker = NULL;
    ocl_code code = OCL_DONE;
    (void)pthread_mutex_lock(&stream->device->lock);
    const char *call = where == AT_END   ? stream->untold
                       : stream->waiting ? "clEnqueueMarkerWithWaitList"
                                         : NULL;
    if (call) {
        code = cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &marker);
    }
    if (marker) {
        note(stream, marker, call);
    }
    (void)pthread_mutex_unlock(&stream->device->lock);
    *done = marker != NULL;
    return code == OCL_DONE ? ISO_OK : refused(stream, code, call);
}

iso_status ocl_routine_begins(ocl_stream *stream)
{
    bool marked = false;
    const iso_status status = mark_here(stream, AT_START, &marked);
    return marked ? flush(stream, "clEnqueueMarkerWithWaitList") : status;
}

iso_status ocl_unwatched(ocl_stream *stream, const char *name)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    stream->untold = name;
    stream->submitted++;
    (void)pthread_mutex_unlock(&stream->device->lock);
    return flush(stream, name);
}

iso_status ocl_tell(ocl_stream *stream)
{
    bool marked = false;
    const iso_status status = mark_here(stream, AT_END, &marked);
    return marked ? flush(stream, "clEnqueueMarkerWithWaitList") : status;
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool ocl_stream_failed(ocl_stream *stream)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    sweep(stream);
    const bool failed = stream->late != ISO_OK;
    (void)pthread_mutex_unlock(&stream->device->lock);
    return failed;
}

ocl_event ocl_stream_end(ocl_stream *stream)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    ocl_event end = stream->foreign || stream->untold || stream->waiting ? NULL : stream->last;
    if (end) {
        (void)cl.clRetainEvent(end);
    }
    (void)pthread_mutex_unlock(&stream->device->lock);
    return end;
}

/* Reports the first command that failed after it was submitted. Reports it again at every later
 * call. */
static iso_status tell_late(ocl_stream *stream)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    sweep(stream);
    const iso_status status = stream->late;
    const ocl_code code = stream->late_code;
    const char *call = stream->late_call;
    (void)pthread_mutex_unlock(&stream->device->lock);
    if (status == ISO_OK) {
        return ISO_OK;
    }
    const iso_status judged = status == ISO_BACKEND ? judge(stream, code) : status;
    (void)pthread_mutex_lock(&stream->device->lock);
    stream->late = judged;
    (void)pthread_mutex_unlock(&stream->device->lock);
    return ocl_host->fail(judged, "a command of this stream, %s, ended with %s (%" PRId32 ")%s",
                          call, ocl_code_name(code), code, advice(judged));
}

/* Commands without events have ended with the queue, unless others were submitted meanwhile. */
static ocl_code finish_for_good(ocl_stream *stream)
{
    (void)pthread_mutex_lock(&stream->device->lock);
    const uint64_t submitted = stream->submitted;
    (void)pthread_mutex_unlock(&stream->device->lock);
    const ocl_code code = cl.clFinish(stream->queue);
    (void)pthread_mutex_lock(&stream->device->lock);
    if (code == OCL_DONE && stream->submitted == submitted) {
        stream->untold = NULL;
    }
    (void)pthread_mutex_unlock(&stream->device->lock);
    return code;
}

iso_status ocl_stream_sync(void *stream)
{
    ocl_stream *self = ((simt_stream *)stream)->native;
    const bool for_good = self->device->fails_for_good;
    bool marked = false;
    const iso_status told = for_good ? ISO_OK : mark_here(self, AT_END, &marked);
    const ocl_code code = for_good ? finish_for_good(self) : cl.clFinish(self->queue);
    const iso_status late = tell_late(self);
    if (late == ISO_OK && told != ISO_OK) {
        return told;
    }
    if (late != ISO_OK || code == OCL_DONE) {
        return late;
    }
    return refused(self, code, "clFinish");
}

/* If the program also submits commands to the queue, only a marker shows whether the queue is idle.
 * A query submits the marker if there is none. The stream is idle when a query finds the marker
 * complete. */
static iso_status query_foreign(ocl_stream *stream)
{
    iso_status status = ISO_OK;
    (void)pthread_mutex_lock(&stream->device->lock);
    if (!stream->asked) {
        const ocl_code code =
            cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &stream->asked);
        if (code != OCL_DONE) {
            stream->asked = NULL;
            status = ocl_fail(code, "clEnqueueMarkerWithWaitList");
        } else {
            (void)cl.clFlush(stream->queue);
        }
    }
    if (status == ISO_OK) {
        if (ocl_event_state(stream->asked) > OCL_COMPLETE) {
            status = ISO_NOT_READY;
        } else {
            (void)cl.clReleaseEvent(stream->asked);
            stream->asked = NULL;
        }
    }
    (void)pthread_mutex_unlock(&stream->device->lock);
    return status;
}

iso_status ocl_stream_query(void *stream)
{
    ocl_stream *self = ((simt_stream *)stream)->native;
    const iso_status told = ocl_tell(self);
    const iso_status late = tell_late(self);
    if (late != ISO_OK || told != ISO_OK) {
        return late != ISO_OK ? late : told;
    }
    if (self->foreign) {
        return query_foreign(self);
    }
    (void)pthread_mutex_lock(&self->device->lock);
    const bool busy = self->last && ocl_event_state(self->last) > OCL_COMPLETE;
    (void)pthread_mutex_unlock(&self->device->lock);
    return busy ? ISO_NOT_READY : tell_late(self);
}

/* Does not wait for an event that is complete or has failed, because a failure in one stream must
 * not stop the others. The event's queue needs no flush: it was flushed when the command was
 * submitted. */
iso_status ocl_stream_wait(void *stream, void *event)
{
    ocl_stream *self = ((simt_stream *)stream)->native;
    const ocl_mark *mark = ((simt_event *)event)->native;
    ocl_event until = NULL;
    ocl_event wait = NULL;
    (void)pthread_mutex_lock(&self->device->lock);
    until = mark->marker ? mark->marker : mark->last;
    if (until && (mark->serial == self->serial || ocl_event_state(until) <= OCL_COMPLETE)) {
        until = NULL;
    }
    if (until) {
        (void)cl.clRetainEvent(until);
    }
    (void)pthread_mutex_unlock(&self->device->lock);
    if (!until) {
        return ISO_OK;
    }
    const ocl_code code = cl.clEnqueueBarrierWithWaitList(self->queue, 1, &until, &wait);
    (void)cl.clReleaseEvent(until);
    if (code != OCL_DONE) {
        return refused(self, code, "clEnqueueBarrierWithWaitList");
    }
    (void)pthread_mutex_lock(&self->device->lock);
    keep_last(self, wait);
    tell_marks(self, NULL);
    (void)pthread_mutex_unlock(&self->device->lock);
    (void)cl.clReleaseEvent(wait);
    (void)cl.clFlush(self->queue);
    return ISO_OK;
}

void ocl_stream_destroy(simt_stream *stream)
{
    ocl_stream *self = stream->native;
    (void)pthread_mutex_lock(&self->device->lock);
    tell_marks(self, NULL);
    for (uint32_t i = 0; i < self->count; i++) {
        (void)cl.clReleaseEvent(command_at(self, i)->event);
    }
    if (self->last) {
        (void)cl.clReleaseEvent(self->last);
    }
    if (self->asked) {
        (void)cl.clReleaseEvent(self->asked);
    }
    (void)pthread_mutex_unlock(&self->device->lock);
    (void)cl.clReleaseCommandQueue(self->queue);
    ocl_host->free(self->commands);
    ocl_host->free(self);
}
