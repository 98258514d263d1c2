/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_event.c - events. An event marks a place in a stream. If possible, the time of the place
 * is the end of the command before it or the start of the command after it. The time of a marker
 * between the two commands is less exact, because the driver may do something else meanwhile.
 */
#include "backends/opencl/library.h"

#include <inttypes.h>
#include <string.h>

static void release(ocl_event *event)
{
    if (*event) {
        (void)cl.clReleaseEvent(*event);
        *event = NULL;
    }
}

/* Unlinks the mark from its stream and resets it. The caller holds the device's lock. */
static void forget(ocl_mark *mark)
{
    if (mark->stream) {
        ocl_mark **at = &mark->stream->waiting;
        while (*at != mark) {
            at = &(*at)->next;
        }
        *at = mark->next;
        mark->stream = NULL;
        mark->next = NULL;
    }
    release(&mark->last);
    release(&mark->marker);
    release(&mark->after);
}

iso_status ocl_event_create(simt_event *event)
{
    ocl_mark *mark = ocl_host->alloc((int64_t)sizeof *mark);
    if (!mark) {
        return ISO_NO_MEMORY;
    }
    *mark = (ocl_mark){.device = event->device->native};
    event->native = mark;
    return ISO_OK;
}

void ocl_event_destroy(simt_event *event)
{
    ocl_mark *mark = event->native;
    ocl_device *device = mark->device;
    (void)pthread_mutex_lock(&device->lock);
    forget(mark);
    (void)pthread_mutex_unlock(&device->lock);
    ocl_host->free(mark);
}

/* Adds a marker if the stream is idle, because its last command, if any, ended earlier. Also adds
 * one if the program submits commands too, because `last` may not be the last command. */
iso_status ocl_event_record(void *event, void *stream)
{
    ocl_mark *mark = ((simt_event *)event)->native;
    ocl_stream *self = ((simt_stream *)stream)->native;
    ocl_event marker = NULL;
    ocl_code code = OCL_DONE;
    const iso_status told = ocl_tell(self);
    if (told != ISO_OK) {
        return told;
    }
    (void)pthread_mutex_lock(&self->device->lock);
    if (self->foreign || !self->last || ocl_event_state(self->last) <= OCL_COMPLETE) {
        code = cl.clEnqueueMarkerWithWaitList(self->queue, 0, NULL, &marker);
    }
    if (code == OCL_DONE) {
        forget(mark);
        mark->serial = self->serial;
        mark->submitted = self->submitted;
        mark->marker = marker;
        mark->last = self->last;
        if (mark->last) {
            (void)cl.clRetainEvent(mark->last);
        }
        mark->stream = self;
        mark->next = self->waiting;
        self->waiting = mark;
    }
    (void)pthread_mutex_unlock(&self->device->lock);
    if (code != OCL_DONE) {
        return ocl_fail(code, "clEnqueueMarkerWithWaitList");
    }
    if (marker) {
        (void)cl.clFlush(self->queue);
    }
    return ISO_OK;
}

/* Returns the OpenCL event whose end completes the mark, retained; NULL if there is none. */
static ocl_event end_of(const simt_event *of)
{
    const ocl_mark *mark = of->native;
    (void)pthread_mutex_lock(&mark->device->lock);
    ocl_event event = mark->marker ? mark->marker : mark->last;
    if (event) {
        (void)cl.clRetainEvent(event);
    }
    (void)pthread_mutex_unlock(&mark->device->lock);
    return event;
}

/* Does not report that the command failed, because its stream reports that. The event is complete
 * in any case. */
iso_status ocl_event_sync(void *event)
{
    ocl_event end = end_of(event);
    if (!end) {
        return ISO_OK;
    }
    const ocl_code code = cl.clWaitForEvents(1, &end);
    const bool ended = code == OCL_DONE || ocl_event_state(end) <= OCL_COMPLETE;
    (void)cl.clReleaseEvent(end);
    return ended ? ISO_OK : ocl_fail(code, "clWaitForEvents");
}

iso_status ocl_event_query(void *event)
{
    ocl_event end = end_of(event);
    const bool busy = end && ocl_event_state(end) > OCL_COMPLETE;
    release(&end);
    return busy ? ISO_NOT_READY : ISO_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */

typedef struct moment {
    ocl_event event;
    ocl_name what; /* OCL_TIME_START or OCL_TIME_END */
} moment;

static moment place_of(const ocl_mark *mark)
{
    return (moment){.event = mark->marker ? mark->marker : mark->last, .what = OCL_TIME_END};
}

/* Chooses the moments at which the measured time begins and ends. If there are commands between two
 * places of one stream, these are the start of the first command and the end of the last. The
 * caller holds the device's lock. */
static void choose(const ocl_mark *start, const ocl_mark *stop, moment *from, moment *to)
{
    *from = place_of(start);
    *to = place_of(stop);
    if (start->serial == stop->serial && stop->submitted > start->submitted) {
        *to = (moment){.event = stop->last, .what = OCL_TIME_END};
        if (start->after) {
            *from = (moment){.event = start->after, .what = OCL_TIME_START};
        }
    }
}

static ocl_code time_of(moment at, uint64_t *nanoseconds)
{
    return cl.clGetEventProfilingInfo(at.event, at.what, sizeof *nanoseconds, nanoseconds, NULL);
}

iso_status ocl_event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const ocl_mark *first = ((simt_event *)start)->native;
    const ocl_mark *second = ((simt_event *)stop)->native;
    pthread_mutex_t *lock = &first->device->lock;
    moment from;
    moment to;
    uint64_t begin = 0;
    uint64_t end = 0;
    (void)pthread_mutex_lock(lock);
    const bool backwards = first->serial == second->serial && first->submitted > second->submitted;
    choose(backwards ? second : first, backwards ? first : second, &from, &to);
    ocl_code code = OCL_NO_PROFILE;
    if (from.event && to.event) {
        code = time_of(from, &begin);
        code = code == OCL_DONE ? time_of(to, &end) : code;
    }
    (void)pthread_mutex_unlock(lock);
    if (code == OCL_NO_PROFILE) {
        return ocl_host->fail(
            ISO_UNSUPPORTED,
            "the driver has no times for these events (CL_PROFILING_INFO_NOT_AVAILABLE): the "
            "program's own queues need CL_QUEUE_PROFILING_ENABLE, and a failed command has no "
            "times");
    }
    if (code != OCL_DONE) {
        return ocl_fail(code, "clGetEventProfilingInfo");
    }
    const int64_t taken = (int64_t)(end - begin);
    *nanoseconds = backwards ? -taken : taken;
    return ISO_OK;
}
