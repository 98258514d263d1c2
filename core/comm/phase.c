/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.c - the phases of a call. In each phase the device computes something and the engine then
 * moves something; most calls have one phase. An ordered sum sends each part to its owner, which
 * adds it in the ranks' order, and gathers the results. A fixed sum finds the largest exponents,
 * adds integers, and rounds. Both work on pieces, so that scratch memory stays small.
 */
#include "core/comm/comm.h"

#include <string.h>

enum {
    SCRATCH_MOST = 512 << 20, /* bytes of a piece's scratch memory */
    /* Up to so many bytes, one gather is faster than an exchange and a gather: every rank then adds
     * all parts. */
    GATHER_MOST = 64 << 10,
    DIRECT_RANKS = 8
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t limbs_of(const core_comm_op *op)
{
    return op->dtype == ISO_F64 ? 2 : 1;
}

static bool is_scatter(const core_comm_op *op)
{
    return op->op == ISO_COMM_REDUCE_SCATTER;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Elements of the operand from element `at` on. */
static iso_ref from_at(const core_comm_op *op, int64_t at)
{
    return core_buffer_ref(op->from, op->from_operand.offset + at * op->element);
}

static iso_ref to_at(const core_comm_op *op, int64_t at)
{
    return core_buffer_ref(op->to, op->to_operand.offset + at * op->element);
}

static iso_ref scratch_at(const core_comm_op *op, int64_t bytes)
{
    return (iso_ref){op->lane->scratch->memory, bytes};
}

static iso_engine_call call_of(const core_comm_op *op, iso_comm_op kind, int64_t count,
                               iso_ref from, iso_ref to)
{
    return (iso_engine_call){
        .rank = op->comm->rank_handle,
        .stream = op->stream->handle,
        .op = kind,
        .dtype = op->dtype,
        .reduce = op->reduce,
        .peer = op->peer,
        .count = count,
        .from = from.memory,
        .to = to.memory,
        .from_offset = from.offset,
        .to_offset = to.offset,
    };
}

static iso_status run_step(const char *call, const core_comm_op *op, iso_ranks_op *args)
{
    const iso_backend *table = op->comm->child.device->table;
    const iso_op what = {.size = (uint32_t)sizeof what,
                         .kind = (iso_op_kind)ISO_OP_RANKS,
                         .args = args,
                         .args_size = (uint32_t)sizeof *args};
    iso_status status;

    args->dtype = op->dtype;
    args->variant = ISO_VARIANT_TILED;
    status = CORE_CALL(call, table, table->execute(op->stream->handle, &what));
    return core_stream_check(call, op->stream, status);
}

/* ---- ordered --------------------------------------------------------------------------------- */

/* The elements of one piece of each rank's part. */
static int64_t ordered_piece(const core_comm_op *op)
{
    const int64_t ranks = op->comm->ranks, room = SCRATCH_MOST / op->element / ranks;
    const int64_t part = is_scatter(op) ? op->count : op->count / ranks;

    return least(part, most(room, 1));
}

static bool is_small(const core_comm_op *op)
{
    return !is_scatter(op) && op->count * op->element <= GATHER_MOST;
}

/* Adds what came to scratch memory: `own` says which source is at y; -1: none. */
static iso_status fold(const char *call, const core_comm_op *op, int64_t n, iso_ref y, iso_ref z,
                       bool own)
{
    iso_ranks_op args = {.step = ISO_RANKS_FOLD,
                         .reduce = op->reduce,
                         .count = op->comm->ranks,
                         .own = own ? op->comm->rank : -1,
                         .n = n,
                         .stride = n,
                         .x = scratch_at(op, 0),
                         .y = y,
                         .z = z};

    return run_step(call, op, &args);
}

/* Sends part r of this rank's piece to rank r, and receives this rank's part from every other.
 * Rank r's part begins `step` elements after that of rank r - 1. */
static int32_t exchange(const core_comm_op *op, int64_t at, int64_t step, int64_t n,
                        iso_engine_call *calls)
{
    const int32_t ranks = op->comm->ranks, rank = op->comm->rank;
    int32_t count = 0;

    for (int32_t i = 1; i < ranks; i++) {
        const int32_t to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;

        calls[count] = call_of(op, ISO_COMM_SEND, n, from_at(op, at + to * step), (iso_ref){0});
        calls[count++].peer = to;
        calls[count] =
            call_of(op, ISO_COMM_RECEIVE, n, (iso_ref){0}, scratch_at(op, from * n * op->element));
        calls[count++].peer = from;
    }
    return count;
}

/* Gives this rank's part of a piece to all, in place. Between few ranks direct messages are faster
 * than a gather, which passes data on from rank to rank (docs/performance.md). */
static int32_t gather(const core_comm_op *op, int64_t n, iso_engine_call *calls)
{
    const int32_t ranks = op->comm->ranks, rank = op->comm->rank;
    const iso_ref own = to_at(op, op->piece_at + rank * n);
    int32_t count = 0;

    if (ranks > DIRECT_RANKS) {
        calls[0] = call_of(op, ISO_COMM_ALL_GATHER, n, own, to_at(op, op->piece_at));
        return 1;
    }
    for (int32_t i = 1; i < ranks; i++) {
        const int32_t to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;

        calls[count] = call_of(op, ISO_COMM_SEND, n, own, (iso_ref){0});
        calls[count++].peer = to;
        calls[count] =
            call_of(op, ISO_COMM_RECEIVE, n, (iso_ref){0}, to_at(op, op->piece_at + from * n));
        calls[count++].peer = from;
    }
    return count;
}

/* Gathers the rest of an all_reduce, which is less than one element for each rank or a small
 * message. */
static int32_t gather_rest(const core_comm_op *op, int64_t n, iso_engine_call *calls)
{
    calls[0] = call_of(op, ISO_COMM_ALL_GATHER, n, from_at(op, op->piece_at), scratch_at(op, 0));
    return 1;
}

/* Phases of a piece: 0 exchange; 1 add and gather. Phase 2 adds the rest, which phase 0 gathered.
 */
static iso_status ordered_all_reduce(const char *call, core_comm_op *op, iso_engine_call *calls,
                                     int32_t *count)
{
    const int64_t ranks = op->comm->ranks, left = op->count - op->piece_at;
    const int64_t n = is_small(op) ? 0 : least(ordered_piece(op), left / ranks);
    const int64_t own = op->piece_at + op->comm->rank * n;
    iso_status status;

    if (op->phase == 2) {
        op->piece_at = op->count;
        *count = 0;
        return fold(call, op, left, (iso_ref){0}, to_at(op, op->count - left), false);
    }
    if (op->phase == 0) {
        *count = n ? exchange(op, op->piece_at, n, n, calls) : gather_rest(op, left, calls);
        op->phase = n ? 1 : 2;
        return ISO_OK;
    }
    status = fold(call, op, n, from_at(op, own), to_at(op, own), true);
    *count = gather(op, n, calls);
    op->piece_at += n * ranks;
    op->phase = 0;
    return status;
}

/* Phase 0: exchange. Later phases add a piece and exchange the next. */
static iso_status ordered_scatter(const char *call, core_comm_op *op, iso_engine_call *calls,
                                  int32_t *count)
{
    int64_t n = least(ordered_piece(op), op->count - op->piece_at);
    iso_status status = ISO_OK;

    if (op->phase == 1) {
        status = fold(call, op, n, from_at(op, op->comm->rank * op->count + op->piece_at),
                      to_at(op, op->piece_at), true);
        op->piece_at += n;
        n = least(n, op->count - op->piece_at);
    }
    op->phase = 1;
    *count = n ? exchange(op, op->piece_at, op->count, n, calls) : 0;
    return status;
}

/* ---- fixed ----------------------------------------------------------------------------------- */

/* Scratch memory: the exponents of a piece, its limbs, and for reduce_scatter the limbs that this
 * rank gets. `parts` parts of n elements each, of which a part's limbs are one after another. */
typedef struct fixed_layout {
    int64_t parts, n;
    int64_t limbs_at, result_at, bytes; /* exponents are at 0 */
} fixed_layout;

static fixed_layout fixed_place(const core_comm_op *op, int64_t n)
{
    const int64_t parts = is_scatter(op) ? op->comm->ranks : 1, limbs = limbs_of(op);
    fixed_layout out = {.parts = parts, .n = n};

    out.limbs_at = core_lane_padded(parts * n * (int64_t)sizeof(int32_t));
    out.result_at = out.limbs_at + core_lane_padded(parts * n * limbs * (int64_t)sizeof(int64_t));
    out.bytes = out.result_at + (is_scatter(op) ? n * limbs * (int64_t)sizeof(int64_t) : 0);
    return out;
}

static int64_t fixed_piece(const core_comm_op *op)
{
    const int64_t element = 4 + 16 * limbs_of(op), parts = is_scatter(op) ? op->comm->ranks : 1;
    const int64_t room = SCRATCH_MOST / element / parts;

    return least(op->count, most(room, 1));
}

/* Runs a step on every part of the piece. */
static iso_status fixed_step(const char *call, const core_comm_op *op, const fixed_layout *at,
                             iso_ranks_step step)
{
    iso_status status = ISO_OK;

    for (int64_t part = 0; part < at->parts && !status; part++) {
        const int64_t first = part * at->n;
        iso_ranks_op args = {
            .step = step,
            .reduce = ISO_SUM,
            .count = (int32_t)op->terms,
            .own = -1,
            .n = at->n,
            .stride = op->ld_terms,
            .limb_stride = at->n,
            .x = from_at(op, part * op->count + op->piece_at),
            .exponents = scratch_at(op, first * (int64_t)sizeof(int32_t)),
            .limbs = scratch_at(op, at->limbs_at + first * limbs_of(op) * (int64_t)sizeof(int64_t)),
        };

        status = run_step(call, op, &args);
    }
    return status;
}

static iso_status fixed_join(const char *call, const core_comm_op *op, const fixed_layout *at)
{
    const int64_t own = is_scatter(op) ? op->comm->rank * at->n : 0;
    iso_ranks_op args = {
        .step = ISO_RANKS_JOIN,
        .reduce = ISO_SUM,
        .count = 1,
        .own = -1,
        .n = at->n,
        .stride = at->n,
        .limb_stride = at->n,
        .z = to_at(op, op->piece_at),
        .exponents = scratch_at(op, own * (int64_t)sizeof(int32_t)),
        .limbs = scratch_at(op, is_scatter(op) ? at->result_at : at->limbs_at),
    };

    return run_step(call, op, &args);
}

/* Phases of a piece: 0 exponents, 1 limbs; 2 rounds it and begins the next. */
static iso_status fixed(const char *call, core_comm_op *op, iso_engine_call *calls, int32_t *count)
{
    fixed_layout at = fixed_place(op, least(fixed_piece(op), op->count - op->piece_at));
    iso_status status = ISO_OK;

    if (op->phase == 1) {
        const iso_ref limbs = scratch_at(op, at.limbs_at);
        const iso_ref result = is_scatter(op) ? scratch_at(op, at.result_at) : limbs;

        op->phase = 2;
        status = fixed_step(call, op, &at, ISO_RANKS_LIMBS);
        calls[0] = call_of(op, op->op, at.n * limbs_of(op), limbs, result);
        calls[0].dtype = ISO_I64;
        *count = 1;
        return status;
    }
    if (op->phase == 2) {
        status = fixed_join(call, op, &at);
        op->piece_at += at.n;
        at = fixed_place(op, least(fixed_piece(op), op->count - op->piece_at));
    }
    op->phase = 1;
    *count = at.n > 0;
    if (at.n && !status) {
        status = fixed_step(call, op, &at, ISO_RANKS_EXPONENTS);
        calls[0] =
            call_of(op, ISO_COMM_ALL_REDUCE, at.parts * at.n, scratch_at(op, 0), scratch_at(op, 0));
        calls[0].dtype = ISO_I32;
        calls[0].reduce = ISO_MAX;
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

bool core_comm_composed(const core_comm_op *op)
{
    return op->sum == ISO_COMM_SUM_FIXED || (op->sum == ISO_COMM_SUM_ORDERED &&
                                             !(op->comm->engine.table->flags & ISO_ENGINE_ORDERED));
}

int32_t core_comm_calls(const core_comm_op *op)
{
    return core_comm_composed(op) && op->sum == ISO_COMM_SUM_ORDERED && op->comm->ranks > 1
               ? 2 * (op->comm->ranks - 1)
               : 1;
}

int64_t core_comm_scratch(const core_comm_op *op)
{
    const int64_t ranks = op->comm->ranks;

    if (!core_comm_composed(op) || !op->count) {
        return 0;
    }
    if (op->sum == ISO_COMM_SUM_FIXED) {
        return fixed_place(op, fixed_piece(op)).bytes;
    }
    if (is_small(op)) {
        return op->count * ranks * op->element;
    }
    /* The rest of an all_reduce has less than `ranks` elements of each rank. */
    return ranks * op->element *
           (ordered_piece(op) > ranks || is_scatter(op) ? ordered_piece(op) : ranks);
}

/* Staging memory of an ordered sum: what a piece's parts take on their way there and back, or the
 * gather of a rest. */
static int64_t ordered_stage(const core_comm_op *op)
{
    const int64_t ranks = op->comm->ranks, e = op->element;
    const int64_t rest = is_small(op) ? op->count : is_scatter(op) ? 0 : ranks;
    const int64_t piece = is_small(op) ? 0 : ordered_piece(op);

    return most(2 * ranks * core_lane_padded(piece * e),
                core_lane_padded(rest * e) + core_lane_padded(ranks * rest * e));
}

int64_t core_comm_stage(const core_comm_op *op)
{
    const fixed_layout at = fixed_place(op, fixed_piece(op));

    if (!core_comm_composed(op)) {
        return core_lane_padded(op->from_bytes) + core_lane_padded(op->to_bytes);
    }
    if (op->sum == ISO_COMM_SUM_ORDERED) {
        return ordered_stage(op);
    }
    /* The limbs of a piece and their sums; its exponents need less. */
    return 2 * core_lane_padded(at.parts * at.n * limbs_of(op) * (int64_t)sizeof(int64_t));
}

iso_status core_comm_phase(const char *call, core_comm_op *op, iso_engine_call *calls,
                           int32_t *count)
{
    const iso_ref none = {0};
    iso_status status = ISO_OK;

    *count = 0;
    if (!op->count && op->op != ISO_COMM_BARRIER) {
        op->done = true;
    } else if (!core_comm_composed(op)) {
        calls[0] = call_of(op, op->op, op->count, op->from ? from_at(op, 0) : none,
                           op->to ? to_at(op, 0) : none);
        *count = 1;
        op->done = true;
    } else {
        status = op->sum == ISO_COMM_SUM_FIXED ? fixed(call, op, calls, count)
                 : is_scatter(op)              ? ordered_scatter(call, op, calls, count)
                                               : ordered_all_reduce(call, op, calls, count);
        op->done = op->piece_at == op->count;
    }
    return status;
}
