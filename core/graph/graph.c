/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - makes graphs of what streams recorded, and launches them. */
#include "core/graph/graph.h"
#include "core/host.h"
#include "core/kernel/kernel.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the messages call an object that was destroyed. */
static const char used_name[] = "something that the graph uses";

/* ---- recording begins ------------------------------------------------------------------------ */

/* Makes the backend's graph, or notes why there is none. */
static iso_status open_graph(const char *call, core_device *device, core_work *work)
{
    const iso_backend *table = device->table;
    core_kept_error kept;
    iso_status status;

    if (!table->graph_open) {
        snprintf(work->reason, sizeof work->reason, "the %s backend has no graphs", table->name);
        return ISO_OK;
    }
    kept = core_error_keep();
    status = CORE_CALL(call, table, table->graph_open(device->physical->device, &work->graph));
    if (status != ISO_UNSUPPORTED) {
        free(kept.text);
        return status;
    }
    work->graph = NULL;
    snprintf(work->reason, sizeof work->reason, "%s", core_reason(call));
    core_error_restore(&kept);
    return ISO_OK;
}

static iso_status begin(const char *call, core_stream *stream)
{
    core_device *device = stream->child.device;
    core_record *record;
    iso_status status;

    if (atomic_load(&stream->record)) {
        return core_fail(ISO_INVALID,
                         "%s: the stream records a graph already: end that one with iso_graph_end",
                         call);
    }
    record = calloc(1, sizeof *record);
    if (!record) {
        return core_fail_no_memory(call, (int64_t)sizeof *record);
    }
    status = open_graph(call, device, &record->work);
    if (status) {
        core_record_free(device, record);
        return status;
    }
    atomic_store(&stream->record, record);
    return ISO_OK;
}

iso_status iso_graph_begin(iso_stream handle)
{
    const char *call = "iso_graph_begin";
    CORE_HELD core_stream *stream = NULL;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_stream_enter_recording(call, stream);
    }
    if (!status) {
        status = begin(call, stream);
        core_stream_leave(stream);
    }
    return status;
}

/* ---- recording ends -------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const core_used *one = a, *other = b;

    return one->id < other->id ? -1 : one->id > other->id;
}

/* Leaves each object once. */
static void sort_used(core_work *work)
{
    int64_t count = 0;

    if (work->used_count > 1) {
        qsort(work->used, (size_t)work->used_count, sizeof *work->used, by_id);
    }
    for (int64_t i = 0; i < work->used_count; i++) {
        if (i == 0 || work->used[i].id != work->used[i - 1].id) {
            work->used[count++] = work->used[i];
        }
    }
    work->used_count = count;
}

static void release_used(const core_work *work, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        core_handle_release(work->used[i].id);
    }
}

/* Acquires all objects, or none. */
static iso_status acquire_used(const char *call, const core_work *work)
{
    iso_status status = ISO_OK;
    int64_t held = 0;

    while (held < work->used_count && !status) {
        const core_used *used = &work->used[held];
        void *object;

        status = core_handle_acquire(call, used_name, used->id, used->kind, &object);
        held += !status;
    }
    if (status) {
        release_used(work, held);
    }
    return status;
}

/* Where the structs of operations have references that may be to scratch memory. */
static const size_t refs[][6] = {
    [ISO_OP_GEMM] = {offsetof(iso_gemm_op, a), offsetof(iso_gemm_op, b), offsetof(iso_gemm_op, c)},
    [ISO_OP_GEMV] = {offsetof(iso_gemv_op, a), offsetof(iso_gemv_op, x), offsetof(iso_gemv_op, y)},
    [ISO_OP_REDUCE] = {offsetof(iso_reduce_op_args, result)},
    [ISO_OP_MAP] = {offsetof(iso_map_op_args, x), offsetof(iso_map_op_args, z)},
    [ISO_OP_FINISH] = {offsetof(iso_finish_op, t)},
};

/* Replaces what stands for the graph's scratch memory. */
static void place(iso_op *op, iso_op_args *args, void *scratch)
{
    const size_t *at = (size_t)op->kind < sizeof refs / sizeof refs[0] ? refs[op->kind] : NULL;

    for (int i = 0; at && i < 6 && at[i]; i++) {
        iso_ref *ref = (iso_ref *)(void *)((char *)args + at[i]);

        if (ref->memory == core_record_scratch) {
            ref->memory = scratch;
        }
    }
}

/* Allocates the scratch memory, and completes the operations. */
static iso_status complete(const char *call, core_graph *graph)
{
    core_device *device = graph->child.device;
    const iso_backend *table = device->table;
    core_work *work = &graph->work;
    iso_status status = ISO_OK;

    if (work->scratch_bytes) {
        status = core_memory_take(call, device, work->scratch_bytes);
        if (status) {
            return status;
        }
        status = CORE_CALL(
            call, table,
            table->memory_alloc(device->physical->device, work->scratch_bytes, &graph->scratch));
        if (status) {
            graph->scratch = NULL;
            core_memory_give(device->physical, work->scratch_bytes);
            return status;
        }
    }
    for (int64_t i = 0; i < work->count; i++) {
        core_step *step = &work->steps[i];

        if (step->kind == CORE_STEP_OPERATION) {
            step->op.args = &step->args;
            place(&step->op, &step->args, graph->scratch);
            if (step->op.workspace_bytes) {
                step->op.workspace.memory = graph->scratch;
                step->op.workspace_bytes = work->scratch_bytes - step->op.workspace.offset;
            } else {
                step->op.workspace = (iso_ref){0};
            }
        }
    }
    return ISO_OK;
}

/* Submits the steps to a stream of the backend's. */
static iso_status submit_steps(const iso_backend *table, void *stream, const core_work *work)
{
    iso_status status = ISO_OK;

    for (int64_t i = 0; i < work->count && !status; i++) {
        const core_step *step = &work->steps[i];

        status = step->kind == CORE_STEP_OPERATION  ? table->execute(stream, &step->op)
                 : step->kind == CORE_STEP_TRANSFER ? table->transfer(stream, &step->transfer)
                                                    : table->program_launch(stream, step->launch);
    }
    return status;
}

static iso_status fill_graph(const iso_backend *table, const core_work *work)
{
    iso_status status = table->graph_begin(work->graph);

    if (!status) {
        status = submit_steps(table, work->graph, work);
    }
    return status ? status : table->graph_end(work->graph);
}

/* Gives the steps to the backend's graph. If it cannot take them, they stay. */
static iso_status build(const char *call, core_graph *graph)
{
    const iso_backend *table = graph->child.device->table;
    core_work *work = &graph->work;
    core_kept_error kept = core_error_keep();
    iso_status status = CORE_CALL(call, table, fill_graph(table, work));

    if (status == ISO_UNSUPPORTED || status == ISO_BACKEND) {
        snprintf(work->reason, sizeof work->reason, "%s", core_reason(call));
        core_log(ISO_LOG_WARN, "%s: the work is submitted in turn: %s", call, work->reason);
        CORE_DO(table->graph_close(work->graph));
        work->graph = NULL;
        core_error_restore(&kept);
        return ISO_OK;
    }
    free(kept.text);
    if (status) {
        return status;
    }
    for (int64_t i = 0; i < work->count; i++) {
        if (work->steps[i].kind == CORE_STEP_LAUNCH) {
            free(work->steps[i].launch);
        }
    }
    free(work->steps);
    work->steps = NULL;
    return ISO_OK;
}

/* Frees all but the struct. */
static void close_graph(core_graph *graph)
{
    core_device *device = graph->child.device;
    const int64_t scratch_bytes = graph->work.scratch_bytes;

    core_work_free(device, &graph->work);
    if (graph->scratch) {
        CORE_DO(device->table->memory_free(device->physical->device, graph->scratch));
        core_memory_give(device->physical, scratch_bytes);
    }
    pthread_mutex_destroy(&graph->lock);
}

/* Makes a graph of the recording's work, which it takes. */
static iso_status make(const char *call, core_device *device, core_record *record, iso_graph *out)
{
    core_graph *graph = calloc(1, sizeof *graph);
    iso_status status;

    if (!graph) {
        return core_fail_no_memory(call, (int64_t)sizeof *graph);
    }
    graph->child.device = device;
    graph->work = record->work;
    graph->refused = record->refused;
    record->work = (core_work){0};
    pthread_mutex_init(&graph->lock, NULL);
    sort_used(&graph->work);
    status = acquire_used(call, &graph->work);
    if (!status) {
        status = complete(call, graph);
        if (!status && graph->work.graph && graph->work.count) {
            status = build(call, graph);
        }
        release_used(&graph->work, graph->work.used_count);
    }
    if (!status) {
        status = core_child_add(call, device, &graph->child, CORE_GRAPH);
    }
    if (status) {
        core_kept_error kept = core_error_keep();

        close_graph(graph);
        free(graph);
        core_error_restore(&kept);
        return status;
    }
    out->id = graph->child.id;
    return ISO_OK;
}

/* Makes the stream as it was before. */
static iso_status take_record(const char *call, core_stream *stream, core_record **out)
{
    iso_status status = core_stream_lock(call, stream);

    if (status) {
        return status;
    }
    *out = atomic_exchange(&stream->record, NULL);
    core_stream_leave(stream);
    return *out ? ISO_OK
                : core_fail(ISO_INVALID,
                            "%s: the stream does not record: call iso_graph_begin first", call);
}

iso_status iso_graph_end(iso_stream handle, iso_graph *out)
{
    const char *call = "iso_graph_end";
    CORE_HELD core_stream *stream = NULL;
    core_record *record = NULL;
    iso_status status;

    if (out) {
        out->id = 0;
    }
    status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);
    if (!status) {
        status = take_record(call, stream, &record);
    }
    if (status) {
        return status;
    }
    if (out && record->failed) {
        status = core_fail(record->failed, "%s: recording failed: %s", call,
                           core_error_text(&record->error));
    } else if (out) {
        status = core_stream_late(call, stream);
        if (!status) {
            status = make(call, stream->child.device, record, out);
        }
    }
    core_record_free(stream->child.device, record);
    return status;
}

/* ---- launches -------------------------------------------------------------------------------- */

static _Atomic uint64_t *users_of(const core_used *used, void *object)
{
    return used->kind == CORE_BUFFER    ? &((core_buffer *)object)->used_by
           : used->kind == CORE_PROGRAM ? &((core_program *)object)->used_by
                                        : &((core_sparse *)object)->used_by;
}

/* At the first launch on a stream: notes it in each object, so that who destroys one waits for the
 * stream. */
static iso_status mark_used(const char *call, core_graph *graph, const core_stream *stream)
{
    for (int64_t i = 0; i < graph->work.used_count; i++) {
        const core_used *used = &graph->work.used[i];
        void *object;
        iso_status status = core_handle_acquire(call, used_name, used->id, used->kind, &object);

        if (status) {
            return status;
        }
        atomic_fetch_or(users_of(used, object), stream->bit);
        core_handle_release(used->id);
    }
    atomic_fetch_or(&graph->used_by, stream->bit);
    return ISO_OK;
}

/* INVALID if an object was destroyed. While stream->again is set, none that lives is freed. */
static iso_status check_used(const char *call, core_graph *graph, const core_stream *stream)
{
    const core_work *work = &graph->work;
    bool all = true;

    if (!(atomic_load(&graph->used_by) & stream->bit)) {
        return mark_used(call, graph, stream);
    }
    for (int64_t i = 0; i < work->used_count; i++) {
        all = all && core_handle_alive(work->used[i].id);
    }
    /* The slow way names the object. */
    return all ? ISO_OK : mark_used(call, graph, stream);
}

static iso_status submit(const char *call, core_graph *graph, core_stream *stream)
{
    const iso_backend *table = stream->child.device->table;
    const core_work *work = &graph->work;
    core_trace_span span;
    iso_status status;
    char name[64];

    if (!work->count) {
        return ISO_OK;
    }
    core_trace_begin(stream, &span);
    status = CORE_CALL(call, table,
                       work->graph ? table->graph_launch(stream->handle, work->graph)
                                   : submit_steps(table, stream->handle, work));
    if (span.on) {
        snprintf(name, sizeof name, "graph of %lld", (long long)work->count);
        core_trace_end(stream, &span, !status, name, work->bytes);
    }
    graph->last = stream->child.id;
    graph->last_serial = stream->serial;
    return core_stream_check(call, stream, status);
}

/* If the stream of the last launch is gone, waits until its work is done. This thread must hold no
 * stream: who destroys one waits for that, and may be who destroys the last one too. */
static void settle_last(core_graph *graph)
{
    if (graph->last && !core_handle_alive(graph->last)) {
        core_stream_await(graph->child.device->physical, graph->last_serial);
        graph->last = 0;
    }
}

/* Locks the stream, and makes it wait for the graph's last launch. If the stream of that is being
 * destroyed, sets *gone instead. */
static iso_status enter(const char *call, core_graph *graph, core_stream *stream, bool *gone)
{
    CORE_HELD core_stream *last = NULL;

    if (!graph->last || graph->last == stream->child.id) {
        return core_stream_enter(call, stream);
    }
    *gone = !core_handle_get(graph->last, CORE_STREAM, &last);
    return *gone ? ISO_OK : core_stream_enter_after(call, stream, last);
}

static iso_status lock_graph(const char *call, core_graph *graph)
{
    if (!core_inside()) {
        pthread_mutex_lock(&graph->lock);
    } else if (pthread_mutex_trylock(&graph->lock)) {
        return core_fail(
            ISO_INTERNAL,
            "%s: called from an exit handler while this thread is inside a backend's call", call);
    }
    return ISO_OK;
}

/* Acquires the stream, and checks it for the graph. */
static iso_status acquire_stream(const char *call, core_graph *graph, iso_stream handle,
                                 core_stream **out)
{
    const iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, out);

    return status ? status
                  : core_check_device(call, "graph", &graph->child, "stream", &(*out)->child);
}

static iso_status check_stream(const char *call, core_graph *graph, iso_stream handle)
{
    CORE_HELD core_stream *stream = NULL;

    return acquire_stream(call, graph, handle, &stream);
}

/* Launches the locked graph, or sets *gone: see enter. */
static iso_status launch(const char *call, core_graph *graph, iso_stream handle, bool *gone)
{
    CORE_HELD core_stream *stream = NULL;
    iso_status status = acquire_stream(call, graph, handle, &stream);

    if (!status) {
        status = enter(call, graph, stream, gone);
    }
    if (status || *gone) {
        return status;
    }
    core_stream_again_begin(stream);
    status = check_used(call, graph, stream);
    if (!status) {
        status = submit(call, graph, stream);
    }
    core_stream_again_end(stream);
    core_stream_leave(stream);
    return status;
}

iso_status iso_graph_launch(iso_graph handle, iso_stream stream)
{
    const char *call = "iso_graph_launch";
    CORE_HELD core_graph *graph = NULL;
    iso_status status = core_handle_acquire(call, "graph", handle.id, CORE_GRAPH, &graph);
    bool gone;

    if (!status) {
        status = check_stream(call, graph, stream);
    }
    if (!status) {
        status = lock_graph(call, graph);
    }
    if (status) {
        return status;
    }
    do {
        gone = false;
        settle_last(graph);
        status = launch(call, graph, stream, &gone);
    } while (gone);
    pthread_mutex_unlock(&graph->lock);
    return status;
}

/* ---- the handle ------------------------------------------------------------------------------ */

void core_graph_finish(core_graph *graph)
{
    const uint64_t id = graph->child.id, users = atomic_load(&graph->used_by);
    core_kept_error kept = core_error_keep();

    if (users) {
        core_streams_drain(graph->child.device->physical, users, NULL);
    }
    close_graph(graph);
    core_error_restore(&kept);
    core_child_unlink(&graph->child);
    free(graph);
    core_handle_free(id);
}

iso_status iso_graph_destroy(iso_graph handle)
{
    core_graph *graph;
    iso_status status =
        core_handle_retire("iso_graph_destroy", "graph", handle.id, CORE_GRAPH, &graph);

    if (!status) {
        core_graph_finish(graph);
    }
    return status;
}

iso_status iso_graph_get_info(iso_graph handle, iso_graph_info *out)
{
    const char *call = "iso_graph_get_info";
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    CORE_HELD core_graph *graph = NULL;
    iso_status status = core_handle_acquire(call, "graph", handle.id, CORE_GRAPH, &graph);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_graph_info, whole));
    }
    if (status) {
        return status;
    }
    info.whole = graph->work.graph != NULL;
    info.works = graph->work.count;
    info.refused = graph->refused;
    info.scratch_bytes = graph->work.scratch_bytes;
    snprintf(info.reason, sizeof info.reason, "%s", graph->work.reason);
    core_struct_write(out, &info, sizeof info);
    return ISO_OK;
}
