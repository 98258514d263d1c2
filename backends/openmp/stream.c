/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - streams. An asynchronous stream has a worker thread and a ring of commands. Only a
 * submitting thread makes the ring larger, never the worker. An inline stream runs its commands in
 * the calling thread. The same function runs a command in both. A graph is a stream that has no
 * worker: its ring only grows, and to launch it is one command of another stream. */
#include "backends/openmp/runtime.h"

#include <isomer/status.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    STREAM_FIRST_CAPACITY = 64,
    /* A worker without commands spins this long: the next one often follows at once. */
    STREAM_LINGER_NS = 50000
};

struct cpu_stream {
    cpu_device_object *device;
    int is_inline;
    pthread_t worker;
    pthread_mutex_t lock; /* guards the following fields */
    pthread_cond_t work;  /* wakes the worker */
    pthread_cond_t done;  /* wakes threads that wait for the worker */

    cpu_command *ring;
    uint64_t capacity;                     /* a power of two */
    _Atomic uint64_t submitted, completed; /* commands so far; a spinning thread reads them */
    uint64_t wanted;                       /* the smallest `completed` that a thread waits for */
    int worker_sleeps;
    _Atomic int stop;

    iso_status error; /* the first late error; its text follows */
    char text[ISO_REASON_MAX];

    /* Of an inline stream: how many commands have begun and ended, without the lock. Only the
     * submitting thread changes them, and there is one at a time. */
    _Atomic uint64_t begun, ended;
    _Atomic uint32_t waiters; /* threads that wait for `ended` */
    _Atomic uint32_t failed;  /* whether there is an error */
};

/* ---- running one command --------------------------------------------------------------------- */

static iso_status run_operation(cpu_stream *stream, const cpu_operation *operation,
                                const iso_op *op)
{
    cpu_device *device = &stream->device->base;
    iso_status status = cpu_team_lock(device->team, !stream->is_inline);
    if (status == ISO_OK) {
        status = operation->execute(device, op);
        cpu_team_unlock(device->team);
    }
    return status;
}

static iso_status run_copy(cpu_stream *stream, const cpu_command *command)
{
    iso_op op = command->op;
    op.args = &command->args;
    return run_operation(stream, command->operation, &op);
}

/* Without the team's lock, because the call may wait for that of another stream. It is always made,
 * because it owns its data. */
static iso_status run_call(const cpu_command *command, int skip)
{
    const iso_status status = cpu_team_pass();
    const iso_status result = command->call.run(command->call.data, skip || status != ISO_OK);
    return result != ISO_OK ? result : status;
}

/* Runs what can be in a graph, and keeps it. */
static iso_status run_work(cpu_stream *stream, const cpu_command *command)
{
    cpu_device *device = &stream->device->base;
    switch (command->kind) {
    case CPU_COMMAND_OPERATION:
        return run_copy(stream, command);
    case CPU_COMMAND_TRANSFER:
        return cpu_transfer_run(device, &command->transfer, !stream->is_inline);
    default:
        return cpu_launch_run(device, command->launch, !stream->is_inline);
    }
}

static iso_status run_graph(cpu_stream *stream, const cpu_stream *graph)
{
    iso_status status = ISO_OK;
    for (uint64_t i = 0; i < graph->submitted && status == ISO_OK; i++) {
        status = run_work(stream, &graph->ring[i]);
    }
    return status;
}

static iso_status run_command(cpu_stream *stream, const cpu_command *command, int skip)
{
    iso_status status = ISO_OK;
    switch (command->kind) {
    case CPU_COMMAND_OPERATION:
    case CPU_COMMAND_TRANSFER:
        if (!skip) {
            status = run_work(stream, command);
        }
        break;
    case CPU_COMMAND_LAUNCH:
        if (!skip) {
            status = run_work(stream, command);
        }
        /* If an inline launch fails, the caller keeps it. */
        if (!status || !stream->is_inline) {
            cpu_launch_free(command->launch);
        }
        break;
    case CPU_COMMAND_RECORD:
        cpu_point_complete(command->point);
        cpu_point_release(stream->device, command->point);
        break;
    case CPU_COMMAND_WAIT:
        if (!skip) {
            status = cpu_point_wait(command->point);
        }
        /* If an inline wait fails, the caller keeps the point. */
        if (!status || !stream->is_inline) {
            cpu_point_release(stream->device, command->point);
        }
        break;
    case CPU_COMMAND_CALL:
        status = run_call(command, skip);
        break;
    case CPU_COMMAND_GRAPH:
        if (!skip) {
            status = run_graph(stream, command->graph);
        }
        break;
    }
    return status;
}

/* The caller holds the lock. Keeps the first error, with the text of this thread's last error. */
static void keep_error(cpu_stream *stream, iso_status status)
{
    if (status != ISO_OK && stream->error == ISO_OK) {
        stream->error = status;
        (void)snprintf(stream->text, sizeof stream->text, "%s", iso_last_error());
    }
}

/* The caller holds the lock. */
static iso_status tell_error(const cpu_stream *stream)
{
    if (stream->error == ISO_OK) {
        return ISO_OK;
    }
    return cpu_host->fail(stream->error, "%s", stream->text);
}

/* The caller holds the lock. */
static void complete_one(cpu_stream *stream)
{
    stream->completed++;
    if (stream->completed >= stream->wanted) {
        stream->wanted = UINT64_MAX;
        (void)pthread_cond_broadcast(&stream->done);
    }
}

/* ---- the worker ------------------------------------------------------------------------------ */

/* Whether there are commands, or none will come. */
static int is_called(const cpu_stream *stream)
{
    return atomic_load(&stream->completed) != atomic_load(&stream->submitted) ||
           atomic_load(&stream->stop);
}

/* The caller holds the lock. Spins without it before it sleeps. */
static void await_commands(cpu_stream *stream)
{
    cpu_spin spin = {0};
    if (!is_called(stream)) {
        (void)pthread_mutex_unlock(&stream->lock);
        while (!is_called(stream) && cpu_spin_more(&spin, STREAM_LINGER_NS)) {
        }
        (void)pthread_mutex_lock(&stream->lock);
    }
    while (!is_called(stream)) {
        stream->worker_sleeps = 1;
        (void)pthread_cond_wait(&stream->work, &stream->lock);
        stream->worker_sleeps = 0;
    }
}

static void *work(void *argument)
{
    cpu_stream *stream = argument;
    (void)pthread_setname_np(pthread_self(), "isomer-stream");
    (void)pthread_mutex_lock(&stream->lock);
    for (;;) {
        await_commands(stream);
        if (stream->completed == stream->submitted) {
            break;
        }
        cpu_command command = stream->ring[stream->completed & (stream->capacity - 1)];
        int skip = stream->error != ISO_OK;
        (void)pthread_mutex_unlock(&stream->lock);
        iso_status status = run_command(stream, &command, skip);
        (void)pthread_mutex_lock(&stream->lock);
        keep_error(stream, status);
        complete_one(stream);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* The caller holds the lock. */
static iso_status make_room(cpu_stream *stream)
{
    if (stream->submitted - stream->completed < stream->capacity) {
        return ISO_OK;
    }
    uint64_t capacity = stream->capacity * 2;
    cpu_command *ring = cpu_host->alloc((int64_t)(capacity * sizeof *ring));
    if (!ring) {
        return ISO_NO_MEMORY;
    }
    for (uint64_t i = stream->completed; i < stream->submitted; i++) {
        ring[i & (capacity - 1)] = stream->ring[i & (stream->capacity - 1)];
    }
    cpu_host->free(stream->ring);
    stream->ring = ring;
    stream->capacity = capacity;
    return ISO_OK;
}

/* ---- inline streams -------------------------------------------------------------------------- */

static iso_status tell_inline(cpu_stream *stream)
{
    if (!atomic_load_explicit(&stream->failed, memory_order_acquire)) {
        return ISO_OK;
    }
    (void)pthread_mutex_lock(&stream->lock);
    const iso_status status = tell_error(stream);
    (void)pthread_mutex_unlock(&stream->lock);
    return status;
}

static iso_status begin_inline(cpu_stream *stream)
{
    const iso_status status = tell_inline(stream);
    if (status == ISO_OK) {
        const uint64_t count = atomic_load_explicit(&stream->begun, memory_order_relaxed);
        atomic_store_explicit(&stream->begun, count + 1, memory_order_release);
    }
    return status;
}

static void end_inline(cpu_stream *stream, iso_status status)
{
    if (status != ISO_OK) {
        (void)pthread_mutex_lock(&stream->lock);
        keep_error(stream, status);
        atomic_store_explicit(&stream->failed, 1, memory_order_release);
        (void)pthread_mutex_unlock(&stream->lock);
    }
    /* Either this thread sees the waiter, or the waiter sees the count. */
    atomic_store(&stream->ended, atomic_load_explicit(&stream->ended, memory_order_relaxed) + 1);
    if (atomic_load(&stream->waiters) > 0) {
        (void)pthread_mutex_lock(&stream->lock);
        (void)pthread_cond_broadcast(&stream->done);
        (void)pthread_mutex_unlock(&stream->lock);
    }
}

static iso_status submit_inline(cpu_stream *stream, const cpu_command *command)
{
    if (cpu_team_outside() != ISO_OK) {
        return ISO_INTERNAL;
    }
    iso_status status = begin_inline(stream);
    if (status == ISO_OK) {
        status = run_command(stream, command, 0);
        end_inline(stream, status);
    }
    return status;
}

static iso_status execute_inline(cpu_stream *stream, const cpu_operation *operation,
                                 const iso_op *op)
{
    iso_status status = begin_inline(stream);
    if (status == ISO_OK) {
        status = run_operation(stream, operation, op);
        end_inline(stream, status);
    }
    return status;
}

static iso_status sync_inline(cpu_stream *stream)
{
    const uint64_t target = atomic_load(&stream->begun);
    if (atomic_load(&stream->ended) < target) {
        (void)pthread_mutex_lock(&stream->lock);
        (void)atomic_fetch_add(&stream->waiters, 1);
        while (atomic_load(&stream->ended) < target) {
            const struct timespec until = cpu_team_patience();
            if (pthread_cond_timedwait(&stream->done, &stream->lock, &until) != 0 &&
                cpu_team_ended()) {
                break;
            }
        }
        (void)atomic_fetch_sub(&stream->waiters, 1);
        (void)pthread_mutex_unlock(&stream->lock);
    }
    return atomic_load(&stream->ended) < target ? cpu_team_outside() : tell_inline(stream);
}

static iso_status query_inline(cpu_stream *stream)
{
    const uint64_t target = atomic_load(&stream->begun);
    return atomic_load(&stream->ended) < target ? ISO_NOT_READY : tell_inline(stream);
}

/* ---- submitting ------------------------------------------------------------------------------ */

iso_status cpu_stream_submit(cpu_stream *stream, const cpu_command *command)
{
    if (stream->is_inline) {
        return submit_inline(stream, command);
    }
    (void)pthread_mutex_lock(&stream->lock);
    iso_status status = tell_error(stream);
    if (status == ISO_OK) {
        status = make_room(stream);
    }
    if (status == ISO_OK) {
        stream->ring[stream->submitted & (stream->capacity - 1)] = *command;
        stream->submitted++;
        if (stream->worker_sleeps) {
            (void)pthread_cond_signal(&stream->work);
        }
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return status;
}

iso_status cpu_stream_execute(cpu_stream *stream, const cpu_operation *operation, const iso_op *op)
{
    if (stream->is_inline) {
        return execute_inline(stream, operation, op);
    }
    cpu_command command = {.kind = CPU_COMMAND_OPERATION, .operation = operation, .op = *op};
    memcpy(&command.args, op->args, op->args_size);
    return cpu_stream_submit(stream, &command);
}

/* ---- the entries ----------------------------------------------------------------------------- */

static void stream_free(cpu_stream *stream)
{
    (void)pthread_cond_destroy(&stream->work);
    (void)pthread_cond_destroy(&stream->done);
    (void)pthread_mutex_destroy(&stream->lock);
    cpu_host->free(stream->ring);
    cpu_host->free(stream);
}

/* NULL: no memory. */
static cpu_stream *stream_new(cpu_device_object *device, int is_inline)
{
    cpu_stream *made = cpu_host->alloc((int64_t)sizeof *made);
    if (!made) {
        return NULL;
    }
    memset(made, 0, sizeof *made);
    made->device = device;
    made->is_inline = is_inline;
    made->wanted = UINT64_MAX;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->work, NULL);
    (void)pthread_cond_init(&made->done, NULL);
    return made;
}

/* Returns 0 if there is no memory. */
static int make_ring(cpu_stream *stream)
{
    stream->capacity = STREAM_FIRST_CAPACITY;
    stream->ring = cpu_host->alloc((int64_t)(stream->capacity * sizeof *stream->ring));
    return stream->ring != NULL;
}

iso_status cpu_stream_create(void *device, uint32_t flags, void **stream)
{
    if (flags & ~(uint32_t)ISO_STREAM_INLINE) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "flags is 0x%" PRIx32 ", but the openmp backend knows only "
                              "ISO_STREAM_INLINE (0x%x)",
                              flags, (unsigned)ISO_STREAM_INLINE);
    }
    cpu_stream *made = stream_new(device, (flags & ISO_STREAM_INLINE) != 0);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    iso_status status = ISO_OK;
    if (!made->is_inline) {
        status = make_ring(made) ? ISO_OK : ISO_NO_MEMORY;
        const int error = status == ISO_OK ? cpu_thread_start(&made->worker, work, made) : 0;
        if (error != 0) {
            status = cpu_host->fail(ISO_NO_MEMORY,
                                    "a stream needs a thread, and the system grants no more "
                                    "(pthread_create: %s): close streams, or use ISO_STREAM_INLINE",
                                    strerror(error));
        }
    }
    if (status != ISO_OK) {
        stream_free(made);
        return status;
    }
    *stream = made;
    return ISO_OK;
}

void cpu_stream_destroy(void *stream)
{
    cpu_stream *gone = stream;
    if (cpu_team_outside() != ISO_OK) {
        return;
    }
    if (!gone->is_inline) {
        cpu_team_resume();
        (void)pthread_mutex_lock(&gone->lock);
        gone->stop = 1;
        (void)pthread_cond_signal(&gone->work);
        (void)pthread_mutex_unlock(&gone->lock);
        (void)pthread_join(gone->worker, NULL);
    }
    stream_free(gone);
}

iso_status cpu_stream_sync(void *stream)
{
    cpu_stream *awaited = stream;
    if (cpu_team_outside() != ISO_OK) {
        return ISO_INTERNAL;
    }
    if (awaited->is_inline) {
        return sync_inline(awaited);
    }
    cpu_team_resume();
    const uint64_t target = atomic_load(&awaited->submitted);
    cpu_spin spin = {0};
    while (atomic_load(&awaited->completed) < target && cpu_spin_more(&spin, CPU_SPIN_NS)) {
    }
    (void)pthread_mutex_lock(&awaited->lock);
    while (awaited->completed < target) {
        if (target < awaited->wanted) {
            awaited->wanted = target;
        }
        const struct timespec until = cpu_team_patience();
        if (pthread_cond_timedwait(&awaited->done, &awaited->lock, &until) != 0 &&
            cpu_team_ended()) {
            break;
        }
    }
    iso_status status = awaited->completed < target ? cpu_team_outside() : tell_error(awaited);
    (void)pthread_mutex_unlock(&awaited->lock);
    return status;
}

iso_status cpu_stream_query(void *stream)
{
    cpu_stream *asked = stream;
    if (asked->is_inline) {
        return query_inline(asked);
    }
    cpu_team_resume();
    (void)pthread_mutex_lock(&asked->lock);
    iso_status status = ISO_NOT_READY;
    if (asked->completed == asked->submitted) {
        status = tell_error(asked);
    }
    (void)pthread_mutex_unlock(&asked->lock);
    return status;
}

iso_status cpu_stream_wait(void *stream, void *event)
{
    cpu_stream *waiting = stream;
    cpu_point *point = cpu_event_last(event);
    if (!point) {
        return ISO_OK;
    }
    cpu_command command = {.kind = CPU_COMMAND_WAIT, .point = point};
    iso_status status = cpu_stream_submit(waiting, &command);
    if (status != ISO_OK) {
        cpu_point_release(waiting->device, point);
    }
    return status;
}

iso_status cpu_stream_call(void *stream, iso_status (*run)(void *data, int32_t skip), void *data)
{
    cpu_stream *on = stream;
    if (on->is_inline) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "the stream has ISO_STREAM_INLINE, so it has no thread that could "
                              "wait for other streams: create it with flags 0");
    }
    cpu_command command = {.kind = CPU_COMMAND_CALL, .call = {.run = run, .data = data}};
    return cpu_stream_submit(on, &command);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

iso_status cpu_graph_open(void *device, void **graph)
{
    cpu_stream *made = stream_new(device, 0);
    if (!made || !make_ring(made)) {
        if (made) {
            stream_free(made);
        }
        return ISO_NO_MEMORY;
    }
    *graph = made;
    return ISO_OK;
}

/* The ring takes work as soon as it is there. */
iso_status cpu_graph_begin(void *graph)
{
    (void)graph;
    return ISO_OK;
}

iso_status cpu_graph_end(void *graph)
{
    (void)graph;
    return ISO_OK;
}

iso_status cpu_graph_launch(void *stream, void *graph)
{
    cpu_command command = {.kind = CPU_COMMAND_GRAPH, .graph = graph};
    return cpu_stream_submit(stream, &command);
}

void cpu_graph_close(void *graph)
{
    cpu_stream *gone = graph;
    for (uint64_t i = 0; i < gone->submitted; i++) {
        if (gone->ring[i].kind == CPU_COMMAND_LAUNCH) {
            cpu_launch_free(gone->ring[i].launch);
        }
    }
    stream_free(gone);
}

cpu_device *cpu_stream_device(const cpu_stream *stream)
{
    return &stream->device->base;
}
