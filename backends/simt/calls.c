/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - calls of the host in the order of a stream. A stream has a thread for them, made at the
 * first one, because a call may wait for that of another stream: drivers run their callbacks one
 * after another. For each call the stream gets a mark, for which the thread waits before the call,
 * and a wait, which the thread ends after it. The wait always ends well: a failed call is kept here
 * and reported by later calls of the stream.
 */
#include "backends/simt/simt.h"

#include <isomer/status.h>

#include <stdio.h>
#include <string.h>

/* A driver's gate. A stream that is destroyed leaves it to the next one, because a driver may wait
 * for all streams before it frees memory, and one of them may be in a call. */
typedef struct simt_gate {
    struct simt_gate *next;
    void *native;
    uint32_t number; /* of the last call */
} simt_gate;

struct simt_calls {
    simt_stream *stream;
    simt_gate *gate; /* NULL: the driver has none */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the following fields */
    pthread_cond_t changed;
    simt_call *first, **last; /* submitted */
    simt_call *unused;
    bool stop;
    atomic_int late; /* the status of the first failed call; its text was written before */
    char text[ISO_REASON_MAX];
};

/* ---- gates ----------------------------------------------------------------------------------- */

static iso_status gate_get(simt_device *device, simt_gate **out)
{
    (void)pthread_mutex_lock(&device->gates_lock);
    simt_gate *gate = device->gates;
    if (gate) {
        device->gates = gate->next;
    }
    (void)pthread_mutex_unlock(&device->gates_lock);
    if (!gate) {
        gate = device->host->alloc((int64_t)sizeof *gate);
        if (!gate) {
            return ISO_NO_MEMORY;
        }
        *gate = (simt_gate){.number = 0};
        const iso_status status = device->driver->gate_open(device->native, &gate->native);
        if (status) {
            device->host->free(gate);
            return status;
        }
    }
    *out = gate;
    return ISO_OK;
}

static void gate_put(simt_device *device, simt_gate *gate)
{
    if (gate) {
        (void)pthread_mutex_lock(&device->gates_lock);
        gate->next = device->gates;
        device->gates = gate;
        (void)pthread_mutex_unlock(&device->gates_lock);
    }
}

void simt_gates_close(simt_device *device)
{
    while (device->gates) {
        simt_gate *gate = device->gates;
        device->gates = gate->next;
        device->driver->gate_close(device->native, gate->native);
        device->host->free(gate);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void make_call(simt_calls *calls, simt_call *call)
{
    simt_stream *stream = calls->stream;
    const simt_driver *driver = stream->device->driver;
    const int32_t failed = driver->call_await(stream, call);
    const int late = atomic_load(&calls->late);
    const iso_status status = call->run(call->data, failed || late != ISO_OK);
    if (status && late == ISO_OK) {
        (void)snprintf(calls->text, sizeof calls->text, "%s", iso_last_error());
        atomic_store(&calls->late, (int)status);
    }
    driver->call_finish(stream, call);
}

static void *serve(void *argument)
{
    simt_calls *calls = argument;
    (void)pthread_setname_np(pthread_self(), "isomer-calls");
    (void)pthread_mutex_lock(&calls->lock);
    for (;;) {
        while (!calls->first && !calls->stop) {
            (void)pthread_cond_wait(&calls->changed, &calls->lock);
        }
        simt_call *call = calls->first;
        if (!call) {
            break;
        }
        calls->first = call->next;
        if (!calls->first) {
            calls->last = &calls->first;
        }
        (void)pthread_mutex_unlock(&calls->lock);
        make_call(calls, call);
        (void)pthread_mutex_lock(&calls->lock);
        call->next = calls->unused;
        calls->unused = call;
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return NULL;
}

/* ---- the life of a stream's calls ------------------------------------------------------------ */

static void forget(simt_calls *calls)
{
    simt_stream *stream = calls->stream;
    const iso_host *host = stream->device->host;
    while (calls->unused) {
        simt_call *call = calls->unused;
        calls->unused = call->next;
        stream->device->driver->call_close(stream, call);
        host->free(call);
    }
    gate_put(stream->device, calls->gate);
    (void)pthread_cond_destroy(&calls->changed);
    (void)pthread_mutex_destroy(&calls->lock);
    host->free(calls);
}

static iso_status calls_open(simt_stream *stream, simt_calls **out)
{
    simt_device *device = stream->device;
    simt_calls *calls = device->host->alloc((int64_t)sizeof *calls);
    if (!calls) {
        return ISO_NO_MEMORY;
    }
    memset(calls, 0, sizeof *calls);
    calls->stream = stream;
    calls->last = &calls->first;
    atomic_init(&calls->late, ISO_OK);
    (void)pthread_mutex_init(&calls->lock, NULL);
    (void)pthread_cond_init(&calls->changed, NULL);
    iso_status status = device->driver->gate_open ? gate_get(device, &calls->gate) : ISO_OK;
    if (!status) {
        const int error = simt_thread_start(&calls->thread, serve, calls);
        if (error) {
            status = device->host->fail(ISO_NO_MEMORY,
                                        "the calls of a stream need a thread, and the system "
                                        "grants no more (pthread_create: %s): close streams",
                                        strerror(error));
        }
    }
    if (status) {
        forget(calls);
        return status;
    }
    atomic_store(&stream->calls, calls);
    *out = calls;
    return ISO_OK;
}

void simt_calls_close(simt_stream *stream)
{
    simt_calls *calls = atomic_load(&stream->calls);
    if (!calls) {
        return;
    }
    (void)pthread_mutex_lock(&calls->lock);
    calls->stop = true;
    (void)pthread_cond_signal(&calls->changed);
    (void)pthread_mutex_unlock(&calls->lock);
    (void)pthread_join(calls->thread, NULL);
    if (calls->gate) { /* the stream has to see the last number before the gate is used again */
        (void)stream->device->driver->stream_sync(stream);
    }
    atomic_store(&stream->calls, NULL);
    forget(calls);
}

iso_status simt_calls_late(const simt_stream *stream)
{
    const simt_calls *calls = atomic_load(&stream->calls);
    const iso_status late = calls ? (iso_status)atomic_load(&calls->late) : ISO_OK;
    return late ? stream->device->host->fail(late, "%s", calls->text) : ISO_OK;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static simt_call *take(simt_calls *calls)
{
    (void)pthread_mutex_lock(&calls->lock);
    simt_call *call = calls->unused;
    if (call) {
        calls->unused = call->next;
    }
    (void)pthread_mutex_unlock(&calls->lock);
    if (!call) {
        call = calls->stream->device->host->alloc((int64_t)sizeof *call);
        if (call) {
            *call = (simt_call){.next = NULL};
        }
    }
    return call;
}

iso_status simt_stream_call(void *stream, iso_status (*run)(void *data, int32_t skip), void *data)
{
    simt_stream *self = stream;
    simt_device *device = self->device;
    simt_calls *calls = atomic_load(&self->calls);
    iso_status status = simt_calls_late(self);
    if (status) {
        return status;
    }
    if (!device->driver->call_submit) {
        return device->host->fail(ISO_UNSUPPORTED, "%s has no calls of the host in a stream",
                                  device->driver->name);
    }
    status = calls ? ISO_OK : calls_open(self, &calls);
    if (status) {
        return status;
    }
    simt_call *call = take(calls);
    if (!call) {
        return ISO_NO_MEMORY;
    }
    call->next = NULL;
    call->run = run;
    call->data = data;
    if (calls->gate) {
        call->gate = calls->gate->native;
        call->number = ++calls->gate->number;
    }
    status = device->driver->call_submit(self, call);
    (void)pthread_mutex_lock(&calls->lock);
    if (status) {
        call->next = calls->unused;
        calls->unused = call;
    } else {
        *calls->last = call;
        calls->last = &call->next;
        (void)pthread_cond_signal(&calls->changed);
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return status;
}
