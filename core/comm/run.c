/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - submits calls: of one rank, or of several as a group. */
#include "core/comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group that is being submitted. */
typedef struct group {
    const char *call;
    core_comm_op *ops;
    int32_t count;
    /* Those of the group, each once, by address: the order of their locks. */
    core_stream **streams;
    core_comm **comms;
    int32_t stream_count, comm_count;
} group;

/* ---- reading --------------------------------------------------------------------------------- */

static iso_status read_call(const char *call, const iso_comm_call *given, core_comm_op *out)
{
    core_comm *comm = NULL;
    core_stream *stream = NULL;
    iso_status status;

    memset(out, 0, sizeof *out);
    status = core_handle_acquire(call, "comm", given->comm.id, CORE_COMM, &comm);
    if (!status) {
        status = core_handle_acquire(call, "stream", given->stream.id, CORE_STREAM, &stream);
    }
    if (!status) {
        status = core_comm_read(call, comm, given->args, out);
    }
    out->comm = comm; /* even after a failure: both are held */
    out->stream = stream;
    if (!status) {
        status = core_check_device(call, "stream", &stream->child, "comm", &comm->child);
    }
    if (!status && stream->runs_inline) {
        status = core_fail(ISO_INVALID,
                           "%s: stream was made with ISO_STREAM_INLINE: a call may wait for other "
                           "ranks, so it needs an asynchronous stream",
                           call);
    }
    if (!status) {
        status = core_comm_bind(call, out);
    }
    return status ? status : core_comm_check(call, out);
}

static void release_call(core_comm_op *op)
{
    core_comm_unbind(op);
    if (op->stream) {
        core_handle_release(op->stream->child.id);
    }
    if (op->comm) {
        core_handle_release(op->comm->child.id);
    }
}

/* Checks two calls of one group. All have one engine, because it submits them together. A rank uses
 * one stream, and has one piece of scratch memory there. */
static iso_status check_pair(const char *call, const core_comm_op *a, const core_comm_op *b)
{
    const iso_engine *first = a->comm->engine.table, *second = b->comm->engine.table;

    if (first != second) {
        return core_fail(
            ISO_INVALID,
            "%s: call %d is of the engine %s and call %d of %s: a group has one engine", call,
            a->place, first->name, b->place, second->name);
    }
    if (a->comm == b->comm && a->stream != b->stream) {
        return core_fail(
            ISO_INVALID,
            "%s: calls %d and %d are of one rank and on two streams: in a group a rank "
            "uses one stream",
            call, a->place, b->place);
    }
    if (a->comm == b->comm && core_comm_composed(a) && core_comm_composed(b)) {
        return core_fail(ISO_INVALID,
                         "%s: calls %d and %d are ordered or fixed sums of one rank: a group may "
                         "have one of them for each rank",
                         call, a->place, b->place);
    }
    return ISO_OK;
}

static iso_status check_group(const group *of)
{
    iso_status status = ISO_OK;

    for (int32_t i = 0; i < of->count; i++) {
        for (int32_t j = 0; j < i && !status; j++) {
            status = check_pair(of->call, &of->ops[j], &of->ops[i]);
        }
    }
    return status;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const uintptr_t first = *(const uintptr_t *)a, second = *(const uintptr_t *)b;

    return first < second ? -1 : first > second;
}

/* Sorts pointers, and returns how many different ones there are, which come first. */
static int32_t sort_once(void *pointers, int32_t count)
{
    uintptr_t *at = pointers;
    int32_t kept = 0;

    if (count > 1) {
        qsort(at, (size_t)count, sizeof *at, by_address);
    }
    for (int32_t i = 0; i < count; i++) {
        if (!kept || at[kept - 1] != at[i]) {
            at[kept++] = at[i];
        }
    }
    return kept;
}

static void list_objects(group *of)
{
    for (int32_t i = 0; i < of->count; i++) {
        of->streams[i] = of->ops[i].stream;
        of->comms[i] = of->ops[i].comm;
    }
    of->stream_count = sort_once(of->streams, of->count);
    of->comm_count = sort_once(of->comms, of->count);
}

static void leave_streams(const group *of, int32_t count)
{
    while (count > 0) {
        core_stream_leave(of->streams[--count]);
    }
}

static iso_status enter_streams(const group *of)
{
    for (int32_t i = 0; i < of->stream_count; i++) {
        iso_status status = core_stream_enter(of->call, of->streams[i]);

        if (status) {
            leave_streams(of, i);
            return status;
        }
    }
    return ISO_OK;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* A host engine gets the calls of a lane together, so its operations become neighbours. */
static int by_lane(const void *a, const void *b)
{
    const core_comm_op *first = a, *second = b;

    if (first->lane != second->lane) {
        return first->lane < second->lane ? -1 : 1;
    }
    return first->place - second->place;
}

/* Gets staging memory for the operations of each lane, which are neighbours. */
static iso_status prepare_stages(const group *of)
{
    const bool stages = of->ops[0].comm->engine.table->flags & ISO_ENGINE_HOST;
    iso_status status = ISO_OK;
    int64_t bytes = 0;

    for (int32_t i = 0; i < of->count && !status && stages; i++) {
        const core_comm_op *op = &of->ops[i];

        bytes += core_comm_on_host(op->comm) ? 0 : core_comm_stage(op);
        if (i + 1 == of->count || of->ops[i + 1].lane != op->lane) {
            status = core_lane_stage(of->call, op->comm, op->lane, op->stream, bytes);
            bytes = 0;
        }
    }
    return status;
}

/* Prepares lanes and memory, while nothing has been submitted, and sorts the operations by lane. */
static iso_status prepare_group(const group *of)
{
    int32_t calls = 0;
    iso_status status = ISO_OK;

    for (int32_t i = 0; i < of->count && !status; i++) {
        core_comm_op *op = &of->ops[i];

        status = core_comm_late(of->call, op->comm);
        op->lane = status ? NULL : core_comm_lane(of->call, op->comm, op->stream);
        if (!status && !op->lane) {
            status = ISO_NO_MEMORY;
        }
        if (!status) {
            status =
                core_lane_scratch(of->call, op->comm, op->lane, op->stream, core_comm_scratch(op));
        }
        calls += core_comm_calls(op);
    }
    if (status) {
        return status;
    }
    if (of->count > 1) {
        qsort(of->ops, (size_t)of->count, sizeof *of->ops, by_lane);
    }
    status = prepare_stages(of);
    return status ? status : core_lane_calls(of->call, of->ops[0].lane, calls);
}

static void mark_used(const core_comm_op *op)
{
    if (op->from) {
        atomic_fetch_or(&op->from->used_by, op->stream->bit);
    }
    if (op->to) {
        atomic_fetch_or(&op->to->used_by, op->stream->bit);
    }
}

static iso_status submit_device(const group *of, const iso_engine_call *calls, int32_t count)
{
    const iso_engine *engine = of->comms[0]->engine.table;
    iso_status status = core_stack_check(of->call, of->comms[0]->child.device->table);

    if (status) {
        return status;
    }
    for (int32_t i = 0; i < of->comm_count; i++) {
        pthread_mutex_lock(&of->comms[i]->submit_lock);
        atomic_store_explicit(&of->comms[i]->submitting, core_now(), memory_order_relaxed);
    }
    status = CORE_ENGINE(of->call, engine, engine->submit(calls, count));
    for (int32_t i = of->comm_count - 1; i >= 0; i--) {
        atomic_store_explicit(&of->comms[i]->submitting, 0, memory_order_relaxed);
        pthread_mutex_unlock(&of->comms[i]->submit_lock);
    }
    return status;
}

/* Submits the calls of one phase. Those of operation i are `counts[i]` in number. A host engine
 * gets the calls of each lane together, which the group has in any order. */
static iso_status submit_phase(const group *of, iso_engine_call *calls, const int32_t *counts,
                               int32_t total)
{
    iso_status status = ISO_OK;
    int32_t at = 0;

    if (!(of->ops[0].comm->engine.table->flags & ISO_ENGINE_HOST)) {
        return total ? submit_device(of, calls, total) : ISO_OK;
    }
    for (int32_t i = 0; i < of->count && !status; i++) {
        const core_comm_op *op = &of->ops[i];

        if (counts[i]) {
            status =
                core_comm_host(of->call, op->comm, op->stream, op->lane, calls + at, counts[i]);
        }
        at += counts[i];
    }
    return status;
}

static iso_status run_phases(const group *of, int32_t *counts)
{
    iso_engine_call *calls = of->ops[0].lane->calls;
    iso_status status = ISO_OK;
    bool more = true;

    while (more && !status) {
        int32_t total = 0;

        more = false;
        for (int32_t i = 0, last = -1; i < of->count && !status; i++) {
            core_comm_op *op = &of->ops[i];

            counts[i] = 0;
            if (op->done) {
                continue;
            }
            status = core_comm_phase(of->call, op, calls + total, &counts[i]);
            total += counts[i];
            more = more || !op->done;
            if (counts[i]) { /* the calls of a lane are counted at its last operation */
                if (last >= 0 && of->ops[last].lane == op->lane) {
                    counts[i] += counts[last];
                    counts[last] = 0;
                }
                last = i;
            }
        }
        if (!status) {
            status = submit_phase(of, calls, counts, total);
        }
    }
    return status;
}

static void trace_begin(const group *of)
{
    for (int32_t i = 0; i < of->count; i++) {
        core_trace_begin(of->ops[i].stream, &of->ops[i].span);
    }
}

static void trace_end(const group *of, bool accepted)
{
    for (int32_t i = of->count - 1; i >= 0; i--) {
        core_comm_op *op = &of->ops[i];
        const bool sum = op->op == ISO_COMM_ALL_REDUCE || op->op == ISO_COMM_REDUCE_SCATTER;
        char name[192];

        if (op->span.on) {
            snprintf(name, sizeof name, "%s%s%s%s%s %s %lld rank %d of %d",
                     iso_comm_op_name(op->op), sum ? " " : "",
                     sum ? iso_reduce_op_name(op->reduce) : "", sum ? " " : "",
                     sum ? iso_comm_sum_name(op->sum) : "", iso_dtype_name(op->dtype),
                     (long long)op->count, op->comm->rank, op->comm->ranks);
            core_trace_end(op->stream, &op->span, accepted, name,
                           (double)op->from_bytes + (double)op->to_bytes);
        }
    }
}

/* A rank whose part of a call was not submitted can never make it, so its communicator fails. */
static void fail_all(const group *of, iso_status status)
{
    for (int32_t i = 0; i < of->count; i++) {
        core_kept_error kept = core_error_keep();

        core_comm_fail(of->ops[i].comm, status);
        core_error_restore(&kept);
    }
}

static iso_status submit_group(group *of, int32_t *counts)
{
    iso_status status = enter_streams(of);

    if (status) {
        return status;
    }
    status = prepare_group(of);
    if (!status) {
        trace_begin(of);
        for (int32_t i = 0; i < of->count; i++) {
            mark_used(&of->ops[i]);
            atomic_fetch_add_explicit(&of->ops[i].lane->submitted, 1, memory_order_relaxed);
        }
        status = run_phases(of, counts);
        trace_end(of, !status);
        if (status) {
            fail_all(of, status);
        }
    }
    leave_streams(of, of->stream_count);
    return status;
}

static iso_status run_group(const char *call, const iso_comm_call *given, int32_t count,
                            core_comm_op *ops, void **pointers, int32_t *counts)
{
    group of = {.call = call,
                .ops = ops,
                .streams = (core_stream **)pointers,
                .comms = (core_comm **)pointers + count};
    iso_status status = ISO_OK;

    while (of.count < count && !status) {
        core_comm_op *op = &ops[of.count];

        status = read_call(call, &given[of.count], op);
        op->place = of.count++;
        if (status && count > 1) {
            core_fail(status, "%s: calls[%d]: %s", call, op->place, core_reason(call));
        }
    }
    if (!status) {
        status = check_group(&of);
    }
    if (!status) {
        list_objects(&of);
        status = submit_group(&of, counts);
    }
    for (int32_t i = 0; i < of.count; i++) {
        release_call(&ops[i]);
    }
    return status;
}

iso_status iso_comm_run(iso_comm comm, iso_stream stream, const iso_comm_args *args)
{
    const iso_comm_call one = {.comm = comm, .stream = stream, .args = args};
    core_comm_op op;
    void *pointers[2];
    int32_t count;

    return run_group("iso_comm_run", &one, 1, &op, pointers, &count);
}

iso_status iso_comm_run_group(const iso_comm_call *calls, int32_t count)
{
    const char *call = "iso_comm_run_group";
    iso_status status = core_check_size(call, "count", count);
    core_comm_op *ops;
    void **pointers;
    int32_t *counts;

    if (status || !count) {
        return status;
    }
    status = core_check_out(call, "calls", calls);
    if (status) {
        return status;
    }
    ops = calloc((size_t)count, sizeof *ops);
    pointers = calloc((size_t)count, 2 * sizeof *pointers);
    counts = calloc((size_t)count, sizeof *counts);
    if (ops && pointers && counts) {
        status = run_group(call, calls, count, ops, pointers, counts);
    } else {
        status = core_fail_no_memory(call, count * (int64_t)sizeof *ops);
    }
    free(ops);
    free(pointers);
    free(counts);
    return status;
}

/* ---- queries --------------------------------------------------------------------------------- */

iso_status iso_comm_supports(iso_comm handle, const iso_comm_args *args)
{
    const char *call = "iso_comm_supports";
    CORE_HELD core_comm *comm = NULL;
    core_comm_op op;
    iso_status status = core_handle_acquire(call, "comm", handle.id, CORE_COMM, &comm);

    if (!status) {
        status = core_comm_read(call, comm, args, &op);
    }
    return status ? status : core_comm_check(call, &op);
}

/* Builds the kernels of a sum that the core composes. */
static iso_status prepare_steps(const char *call, const core_comm_op *op)
{
    static const iso_ranks_step ordered[] = {ISO_RANKS_FOLD};
    static const iso_ranks_step fixed[] = {ISO_RANKS_EXPONENTS, ISO_RANKS_LIMBS, ISO_RANKS_JOIN};
    const bool is_fixed = op->sum == ISO_COMM_SUM_FIXED;
    const iso_ranks_step *steps = is_fixed ? fixed : ordered;
    const iso_backend *table = op->comm->child.device->table;
    iso_status status = ISO_OK;

    for (int i = 0; i < (is_fixed ? 3 : 1) && !status && table->prepare; i++) {
        const iso_ranks_op args = {.step = steps[i],
                                   .dtype = op->dtype,
                                   .reduce = op->reduce,
                                   .variant = ISO_VARIANT_TILED,
                                   .count = op->comm->ranks,
                                   .own = -1,
                                   .n = op->count,
                                   .stride = op->count,
                                   .limb_stride = op->count};
        const iso_op what = {.size = (uint32_t)sizeof what,
                             .kind = (iso_op_kind)ISO_OP_RANKS,
                             .args = &args,
                             .args_size = (uint32_t)sizeof args};

        status = CORE_CALL(call, table, table->prepare(op->stream->handle, &what));
        status = core_stream_check(call, op->stream, status);
    }
    return status;
}

static iso_status prepare(const char *call, core_comm_op *op)
{
    group of = {.call = call, .ops = op, .count = 1};
    iso_status status = core_stream_enter(call, op->stream);

    if (status) {
        return status;
    }
    status = prepare_group(&of);
    if (!status && core_comm_composed(op) && op->count) {
        status = prepare_steps(call, op);
    }
    core_stream_leave(op->stream);
    return status;
}

iso_status iso_comm_prepare(iso_comm handle, iso_stream stream_handle, const iso_comm_args *args)
{
    const char *call = "iso_comm_prepare";
    CORE_HELD core_comm *comm = NULL;
    CORE_HELD core_stream *stream = NULL;
    core_comm_op op;
    iso_status status = core_handle_acquire(call, "comm", handle.id, CORE_COMM, &comm);

    if (!status) {
        status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, &stream);
    }
    if (!status) {
        status = core_check_device(call, "stream", &stream->child, "comm", &comm->child);
    }
    if (!status) {
        status = core_comm_read(call, comm, args, &op);
    }
    if (!status) {
        status = core_comm_check(call, &op);
    }
    op.stream = stream;
    return status ? status : prepare(call, &op);
}
