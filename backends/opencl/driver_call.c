/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call.c - the driver's part of calls of the host. The mark is a marker or the last command.
 * The gate is a user event, and a barrier waits for it. If a user event is never completed, its
 * queue never goes on. So every path that creates one also calls clSetUserEventStatus.
 */
#include "backends/opencl/library.h"

static void open_gate(simt_call *call)
{
    const ocl_code code = cl.clSetUserEventStatus(call->gate, OCL_COMPLETE);
    if (code != OCL_DONE) {
        ocl_host->log(ISO_LOG_ERROR, "opencl: clSetUserEventStatus gives %s", ocl_code_name(code));
    }
    (void)cl.clReleaseEvent(call->gate);
    call->gate = NULL;
}

static void drop_mark(simt_call *call)
{
    (void)cl.clReleaseEvent(call->mark);
    call->mark = NULL;
}

/* Submits the marker, unless the last command can be the mark. The stream owns the marker's event,
 * so the call gets a reference of its own. */
static iso_status submit_mark(ocl_stream *stream, simt_call *call)
{
    ocl_event marker = NULL;
    call->mark = ocl_stream_end(stream);
    if (call->mark) {
        return ISO_OK;
    }
    const ocl_code code = cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &marker);
    if (code == OCL_DONE) {
        (void)cl.clRetainEvent(marker);
        call->mark = marker;
    }
    const iso_status status =
        ocl_submitted(stream, code, marker, "clEnqueueMarkerWithWaitList before a call");
    if (status && call->mark) {
        drop_mark(call);
    }
    return status;
}

static iso_status submit_barrier(ocl_stream *stream, ocl_event gate)
{
    ocl_event barrier = NULL;
    const ocl_code code = cl.clEnqueueBarrierWithWaitList(stream->queue, 1, &gate, &barrier);
    return ocl_submitted(stream, code, barrier, "clEnqueueBarrierWithWaitList after a call");
}

iso_status ocl_call_submit(simt_stream *stream, simt_call *call)
{
    ocl_stream *self = stream->native;
    iso_status status = submit_mark(self, call);
    if (status) {
        return status;
    }
    ocl_code code = OCL_DONE;
    call->gate = cl.clCreateUserEvent(self->device->context, &code);
    if (!call->gate) {
        drop_mark(call);
        return ocl_fail(code, "clCreateUserEvent");
    }
    (void)atomic_fetch_add(&self->calls, 1);
    status = submit_barrier(self, call->gate);
    if (status) {
        (void)atomic_fetch_sub(&self->calls, 1);
        open_gate(call);
        drop_mark(call);
    }
    return status;
}

/* The mark of a wait for another stream may fail although this stream has not. */
int32_t ocl_call_await(simt_stream *stream, simt_call *call)
{
    ocl_event mark = call->mark;
    const ocl_code code = cl.clWaitForEvents(1, &mark);
    const bool ended = code == OCL_DONE || ocl_event_state(mark) <= OCL_COMPLETE;
    drop_mark(call);
    return !ended || ocl_stream_failed(stream->native);
}

void ocl_call_finish(simt_stream *stream, simt_call *call)
{
    ocl_stream *self = stream->native;
    (void)atomic_fetch_sub(&self->calls, 1);
    open_gate(call);
}

void ocl_call_close(simt_stream *stream, simt_call *call)
{
    (void)stream;
    (void)call;
}
