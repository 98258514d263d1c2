/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - one group of calls of a rank: everything is started before anything is awaited. MPI's
 * counts are ints: longer moves are one element of a larger type, longer reductions several. */
#include "backends/mpi/engine.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The largest count that MPI gets; smaller in a build for tests. */
#if !defined(MPI_PLUGIN_COUNT_MOST)
#define MPI_PLUGIN_COUNT_MOST INT_MAX
#endif

enum { FEW = 16 };

/* A call: where its data is, and the memory that it needs besides. */
typedef struct piece {
    const iso_engine_call *call;
    char *from, *to;
    char *scratch;          /* from host->alloc; NULL: none */
    char *copy;             /* when all is done, `bytes` from the scratch memory go here */
    int64_t bytes;          /* of n elements */
    int64_t first, started; /* its requests */
} piece;

typedef struct group {
    mpi_rank *rank;
    piece *pieces, few_pieces[FEW];
    int32_t count;
    MPI_Request *requests, few_requests[FEW];
    int64_t begun, room; /* requests */
    int64_t start;
} group;

/* ---- preparing ------------------------------------------------------------------------------- */

static int64_t parts(int64_t n)
{
    return (n - 1) / MPI_PLUGIN_COUNT_MOST + 1;
}

/* Whether n elements of each rank are more than an int counts. */
static bool is_long(const mpi_rank *rank, int64_t n)
{
    return n > MPI_PLUGIN_COUNT_MOST / rank->ranks;
}

static int64_t requests_of(const mpi_rank *rank, const iso_engine_call *call)
{
    if (call->op == ISO_COMM_ALL_REDUCE) {
        return parts(call->count);
    }
    if (call->op == ISO_COMM_REDUCE_SCATTER && is_long(rank, call->count)) {
        return rank->ranks * parts(call->count);
    }
    return 1;
}

/* MPI needs all ranks to be in place, or none. Here each rank may choose: gathers are always in
 * place and reductions never. */
static iso_status prepare(const mpi_rank *rank, const iso_engine_call *call, piece *out)
{
    const int64_t size = mpi_type_size(call->dtype);
    char *from = call->from ? (char *)call->from + call->from_offset : NULL;
    char *to = call->to ? (char *)call->to + call->to_offset : NULL;

    *out = (piece){.call = call, .from = from, .to = to, .bytes = call->count * size};
    if (call->op == ISO_COMM_ALL_REDUCE && from == to) {
        out->scratch = mpi_core->alloc(out->bytes);
        if (!out->scratch) {
            return ISO_NO_MEMORY;
        }
        memcpy(out->scratch, from, (size_t)out->bytes);
        out->from = out->scratch;
    } else if (call->op == ISO_COMM_REDUCE_SCATTER && to >= from &&
               to < from + rank->ranks * out->bytes) {
        out->scratch = mpi_core->alloc(out->bytes);
        if (!out->scratch) {
            return ISO_NO_MEMORY;
        }
        out->copy = to;
        out->to = out->scratch;
    } else if (call->op == ISO_COMM_ALL_GATHER && from != to + rank->rank * out->bytes) {
        memcpy(to + rank->rank * out->bytes, from, (size_t)out->bytes);
    } else if (call->op == ISO_COMM_BROADCAST && call->peer == rank->rank && from != to) {
        memcpy(to, from, (size_t)out->bytes);
    }
    return ISO_OK;
}

static iso_status prepare_all(group *all, const iso_engine_call *calls)
{
    iso_status status = ISO_OK;

    if (all->count > FEW) {
        all->pieces = mpi_core->alloc((int64_t)sizeof(piece) * all->count);
        if (!all->pieces) {
            return ISO_NO_MEMORY;
        }
    }
    memset(all->pieces, 0, sizeof(piece) * (size_t)all->count);
    for (int32_t i = 0; i < all->count && !status; i++) {
        all->room += requests_of(all->rank, &calls[i]);
        status = mpi_supports(&calls[i]);
    }
    if (!status && all->room > FEW) {
        all->requests = mpi_core->alloc((int64_t)sizeof(MPI_Request) * all->room);
        status = all->requests ? ISO_OK : ISO_NO_MEMORY;
    }
    for (int32_t i = 0; i < all->count && !status; i++) {
        status = prepare(all->rank, &calls[i], &all->pieces[i]);
    }
    return status;
}

/* `unfinished`: MPI may still use the scratch memory, which stays. */
static void clean_up(group *all, bool unfinished)
{
    for (int32_t i = 0; i < all->count && all->pieces && !unfinished; i++) {
        mpi_core->free(all->pieces[i].scratch);
    }
    if (all->pieces != all->few_pieces) {
        mpi_core->free(all->pieces);
    }
    if (all->requests != all->few_requests) {
        mpi_core->free(all->requests);
    }
}

/* ---- starting; with the lock ----------------------------------------------------------------- */

/* A type of n elements, for which an int may be too small. */
static int make_long(int64_t n, MPI_Datatype type, int64_t size, MPI_Datatype *out)
{
    const int64_t whole = n / MPI_PLUGIN_COUNT_MOST, rest = n % MPI_PLUGIN_COUNT_MOST;
    int lengths[2] = {(int)whole, (int)rest}, code;
    MPI_Aint places[2] = {0, (MPI_Aint)(whole * MPI_PLUGIN_COUNT_MOST * size)};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, type};

    if (!whole) {
        code = MPI_Type_contiguous((int)n, type, out);
        return code ? code : MPI_Type_commit(out);
    }
    code = MPI_Type_contiguous(MPI_PLUGIN_COUNT_MOST, type, &types[0]);
    if (!code) {
        code = MPI_Type_create_struct(rest ? 2 : 1, lengths, places, types, out);
        (void)MPI_Type_free(&types[0]);
    }
    return code ? code : MPI_Type_commit(out);
}

static int start_move(const mpi_rank *rank, const piece *what, const char **name,
                      MPI_Request *request)
{
    const iso_engine_call *call = what->call;
    const int64_t n = call->count;
    const bool is_all = call->op == ISO_COMM_ALL_GATHER || call->op == ISO_COMM_ALL_TO_ALL;
    const bool long_ = is_all ? is_long(rank, n) : n > MPI_PLUGIN_COUNT_MOST;
    MPI_Datatype type = mpi_type(call->dtype);
    int count = (int)n, code = MPI_SUCCESS;

    if (long_) {
        *name = "MPI_Type_create_struct";
        code = make_long(n, type, mpi_type_size(call->dtype), &type);
        count = 1;
    }
    if (code) {
        return code;
    }
    if (call->op == ISO_COMM_BROADCAST) {
        *name = "MPI_Ibcast";
        code = MPI_Ibcast(what->to, count, type, call->peer, rank->comm, request);
    } else if (call->op == ISO_COMM_ALL_GATHER) {
        *name = "MPI_Iallgather";
        code = MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, what->to, count, type, rank->comm,
                              request);
    } else if (call->op == ISO_COMM_ALL_TO_ALL) {
        *name = "MPI_Ialltoall";
        code = MPI_Ialltoall(what->from, count, type, what->to, count, type, rank->comm, request);
    } else if (call->op == ISO_COMM_SEND) {
        *name = "MPI_Isend";
        code = MPI_Isend(what->from, count, type, call->peer, MPI_TAG_CALL, rank->comm, request);
    } else {
        *name = "MPI_Irecv";
        code = MPI_Irecv(what->to, count, type, call->peer, MPI_TAG_CALL, rank->comm, request);
    }
    if (long_) {
        (void)MPI_Type_free(&type); /* MPI keeps it as long as it is used */
    }
    return code;
}

/* Several reductions, each of as many elements as an int counts. */
static int start_long_scatter(group *all, const piece *what, MPI_Datatype type, MPI_Op op)
{
    const mpi_rank *rank = all->rank;
    const int64_t n = what->call->count, size = mpi_type_size(what->call->dtype);

    for (int root = 0; root < rank->ranks; root++) {
        for (int64_t at = 0; at < n; at += MPI_PLUGIN_COUNT_MOST) {
            const int64_t left = n - at;
            const int count = left < MPI_PLUGIN_COUNT_MOST ? (int)left : (int)MPI_PLUGIN_COUNT_MOST;
            const int code = MPI_Ireduce(what->from + (root * n + at) * size,
                                         root == rank->rank ? what->to + at * size : NULL, count,
                                         type, op, root, rank->comm, &all->requests[all->begun]);

            if (code) {
                return code;
            }
            all->begun++;
        }
    }
    return MPI_SUCCESS;
}

static int start_reduction(group *all, const piece *what, const char **name)
{
    const iso_engine_call *call = what->call;
    const mpi_rank *rank = all->rank;
    const int64_t n = call->count, size = mpi_type_size(call->dtype);
    const MPI_Datatype type = mpi_type(call->dtype);
    const MPI_Op op = mpi_op(call->reduce ? call->reduce : ISO_SUM);
    int code = MPI_SUCCESS;

    if (call->op == ISO_COMM_REDUCE_SCATTER && is_long(rank, n)) {
        *name = "MPI_Ireduce";
        return start_long_scatter(all, what, type, op);
    }
    if (call->op == ISO_COMM_REDUCE_SCATTER) {
        *name = "MPI_Ireduce_scatter_block";
        code = MPI_Ireduce_scatter_block(what->from, what->to, (int)n, type, op, rank->comm,
                                         &all->requests[all->begun]);
        all->begun += !code;
        return code;
    }
    *name = "MPI_Iallreduce";
    for (int64_t at = 0; at < n && !code; at += MPI_PLUGIN_COUNT_MOST) {
        const int64_t left = n - at;
        const int count = left < MPI_PLUGIN_COUNT_MOST ? (int)left : (int)MPI_PLUGIN_COUNT_MOST;

        code = MPI_Iallreduce(what->from + at * size, what->to + at * size, count, type, op,
                              rank->comm, &all->requests[all->begun]);
        all->begun += !code;
    }
    return code;
}

static void fail_call(mpi_rank *rank, const iso_engine_call *call, const char *name, int code)
{
    char text[MPI_WHY_MAX - 100];

    mpi_explain(text, sizeof text, name, code);
    mpi_rank_fail(rank, ISO_BACKEND, true, "%s on rank %d of %d: %s", mpi_op_name(call->op),
                  rank->rank, rank->ranks, text);
}

/* Starts all, unless the rank fails. */
static void start_all(group *all)
{
    for (int32_t i = 0; i < all->count && !all->rank->failed; i++) {
        piece *what = &all->pieces[i];
        const char *name = "MPI_Ibarrier";
        int code;

        what->first = all->begun;
        if (what->call->op == ISO_COMM_BARRIER) {
            code = MPI_Ibarrier(all->rank->comm, &all->requests[all->begun]);
            all->begun += !code;
        } else if (mpi_reduces(what->call->op)) {
            code = start_reduction(all, what, &name);
        } else {
            code = start_move(all->rank, what, &name, &all->requests[all->begun]);
            all->begun += !code;
        }
        what->started = all->begun - what->first;
        if (code) {
            fail_call(all->rank, what->call, name, code);
        }
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void check_received(group *all, const piece *what, MPI_Status *status)
{
    const iso_engine_call *call = what->call;
    MPI_Count elements = 0;

    if (call->op == ISO_COMM_RECEIVE &&
        !MPI_Get_elements_x(status, mpi_type(call->dtype), &elements) && elements != call->count) {
        mpi_rank_fail(all->rank, ISO_BACKEND, true,
                      "receive on rank %d of %d: rank %d sent %lld elements, not %lld: both ranks "
                      "must give the same count",
                      all->rank->rank, all->rank->ranks, call->peer, (long long)elements,
                      (long long)call->count);
    }
}

/* Tests one request after the other, beginning with *done and *at, up to one that is not complete.
 * Called with the lock. */
static void test(group *all, int32_t *at, int64_t *done)
{
    while (*done < all->begun && !all->rank->failed) {
        const piece *what;
        MPI_Status status;
        int complete = 0, code;

        while (*done >= all->pieces[*at].first + all->pieces[*at].started) {
            ++*at;
        }
        what = &all->pieces[*at];
        code = MPI_Test(&all->requests[*done], &complete, &status);
        if (code) {
            fail_call(all->rank, what->call, "MPI_Test", code);
        } else if (!complete) {
            return;
        } else {
            check_received(all, what, &status);
            ++*done;
        }
    }
}

static void time_out(group *all, const piece *what)
{
    mpi_rank *rank = all->rank;

    mpi_rank_fail(rank, ISO_TIMEOUT, true,
                  "%s on rank %d of %d waited %.3g s, the timeout, and not every rank that it "
                  "needs has arrived: all ranks must make the same calls in the same order",
                  mpi_op_name(what->call->op), rank->rank, rank->ranks,
                  (double)(mpi_now() - all->start) * 1e-9);
}

/* Nothing is written to the memory of a receive that could be cancelled. */
static void let_go(group *all, int64_t done)
{
    for (int32_t i = 0; i < all->count; i++) {
        const piece *what = &all->pieces[i];

        if (what->call && what->call->op == ISO_COMM_RECEIVE && what->started &&
            what->first >= done) {
            (void)mpi_cancel(&all->requests[what->first]);
        }
    }
}

/* Returns whether all requests are complete; otherwise the rank has failed. */
static bool finish(group *all)
{
    int64_t done = 0;
    int32_t at = 0;
    int turns = 0;

    while (true) {
        const bool late = mpi_now() - all->start > all->rank->timeout;
        bool over;

        mpi_lock();
        test(all, &at, &done);
        if (done < all->begun) {
            mpi_rank_hear(all->rank);
            if (late) {
                time_out(all, &all->pieces[at]);
            }
        }
        over = done == all->begun || all->rank->failed;
        if (done < all->begun && over) {
            let_go(all, done);
        }
        mpi_unlock();
        if (over) {
            return done == all->begun;
        }
        mpi_pause(&turns);
    }
}

static iso_status run(group *all, const iso_engine_call *calls)
{
    mpi_rank *rank = all->rank;
    iso_status status = prepare_all(all, calls);
    bool complete;

    if (status) { /* the other ranks need not wait for this one */
        clean_up(all, false);
        mpi_lock();
        mpi_rank_fail(rank, status, true, "rank %d of %d could not begin %s: %s", rank->rank,
                      rank->ranks, mpi_op_name(calls[0].op),
                      status == ISO_NO_MEMORY ? "no host memory" : "it is not supported");
        mpi_unlock();
        return status;
    }
    mpi_lock();
    mpi_rank_hear(rank);
    start_all(all);
    mpi_unlock();
    complete = finish(all);
    status = mpi_rank_check(rank);
    for (int32_t i = 0; i < all->count && !status; i++) {
        if (all->pieces[i].copy) {
            memcpy(all->pieces[i].copy, all->pieces[i].scratch, (size_t)all->pieces[i].bytes);
        }
    }
    clean_up(all, !complete);
    return status;
}

iso_status mpi_submit(const iso_engine_call *calls, int32_t count)
{
    group all = {.rank = count > 0 ? calls[0].rank : NULL, .count = count, .start = mpi_now()};
    iso_status status;

    if (count < 1) {
        return ISO_OK;
    }
    all.pieces = all.few_pieces;
    all.requests = all.few_requests;
    mpi_busy++;
    status = mpi_alive();
    if (!status) {
        status = mpi_rank_check(all.rank);
    }
    if (!status) {
        status = run(&all, calls);
    }
    mpi_busy--;
    return status;
}
