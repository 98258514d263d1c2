/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - moves and reductions of an engine: every operation and type, in place and not; groups;
 * several communicators at once. */
#include "tests/mpi/job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 };

static const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64, ISO_I32, ISO_I64};
enum { TYPES = sizeof types / sizeof types[0] };

static int64_t size_of(iso_dtype dtype)
{
    return dtype <= ISO_BF16 ? 2 : dtype == ISO_F32 || dtype == ISO_I32 ? 4 : 8;
}

static void put(void *array, iso_dtype dtype, int64_t i, int64_t value)
{
    switch (dtype) {
    case ISO_F16:
    case ISO_BF16:
        ((uint16_t *)array)[i] = (uint16_t)value;
        break;
    case ISO_F32:
        ((float *)array)[i] = (float)value;
        break;
    case ISO_F64:
        ((double *)array)[i] = (double)value;
        break;
    case ISO_I32:
        ((int32_t *)array)[i] = (int32_t)value;
        break;
    case ISO_I64:
        ((int64_t *)array)[i] = value;
        break;
    case ISO_I8: /* communicators do not move these */
    case ISO_C64:
    case ISO_C128:
        break;
    }
}

/* Small numbers, so that sums and products are exact. */
static int64_t given(int32_t rank, int64_t i, iso_reduce_op reduce)
{
    const int64_t value = (rank * 7 + i * 3) % 11 + 1;

    return reduce == ISO_PRODUCT ? value % 3 + 1 : value;
}

static int64_t reduced(int32_t ranks, int64_t i, iso_reduce_op reduce)
{
    int64_t total = given(0, i, reduce);

    for (int32_t r = 1; r < ranks; r++) {
        const int64_t x = given(r, i, reduce);

        total = reduce == ISO_SUM       ? total + x
                : reduce == ISO_PRODUCT ? total * x
                : reduce == ISO_MIN     ? (x < total ? x : total)
                : reduce == ISO_MAX     ? (x > total ? x : total)
                                        : total ^ x;
    }
    return total;
}

/* Element i of `to` after the call, on rank `me`. */
static int64_t expected(iso_comm_op op, iso_reduce_op reduce, int32_t me, int32_t ranks, int64_t n,
                        int64_t i, int32_t root)
{
    switch (op) {
    case ISO_COMM_BROADCAST:
        return given(root, i, reduce);
    case ISO_COMM_ALL_REDUCE:
        return reduced(ranks, i, reduce);
    case ISO_COMM_REDUCE_SCATTER:
        return reduced(ranks, me * n + i, reduce);
    case ISO_COMM_ALL_GATHER:
        return given((int32_t)(i / n), i % n, reduce);
    default: /* all_to_all */
        return given((int32_t)(i / n), me * n + i % n, reduce);
    }
}

typedef struct shape {
    iso_comm_op op;
    iso_dtype dtype;
    iso_reduce_op reduce;
    bool in_place;
    int64_t n;
    int32_t root;
} shape;

static void run_shape(const job *at, void *rank, int32_t me, int32_t ranks, const shape *s)
{
    const int64_t size = size_of(s->dtype), n = s->n;
    const bool many_from = s->op == ISO_COMM_REDUCE_SCATTER || s->op == ISO_COMM_ALL_TO_ALL;
    const bool many_to = s->op == ISO_COMM_ALL_GATHER || s->op == ISO_COMM_ALL_TO_ALL;
    const int64_t from_n = many_from ? ranks * n : n, to_n = many_to ? ranks * n : n;
    char *from = calloc(1, (size_t)((from_n + to_n) * size + 2 * GUARD));
    char *to = from + (from_n * size + GUARD) / 8 * 8,
         *wanted = calloc(1, (size_t)(to_n * size) + 1);
    char *kept = NULL;
    bool right;

    JOB_CHECK(from && wanted);
    if (s->in_place) {
        to = s->op == ISO_COMM_REDUCE_SCATTER ? from + me * n * size : from;
        from = s->op == ISO_COMM_ALL_GATHER ? calloc(1, (size_t)(to_n * size) + GUARD) : from;
        to = s->op == ISO_COMM_ALL_GATHER ? from : to;
        from = s->op == ISO_COMM_ALL_GATHER ? to + me * n * size : from;
    }
    for (int64_t i = 0; i < from_n; i++) {
        put(from, s->dtype, i, given(me, i, s->reduce));
    }
    for (int64_t i = 0; i < to_n; i++) {
        put(wanted, s->dtype, i, expected(s->op, s->reduce, me, ranks, n, i, s->root));
    }
    kept = malloc((size_t)(from_n * size) + 1);
    JOB_CHECK(kept);
    memcpy(kept, from, (size_t)(from_n * size));
    JOB_WORKS(job_run(at, rank, s->op, s->dtype, s->reduce, s->root, n, from, to));
    right = !memcmp(to, wanted, (size_t)(to_n * size));
    if (!right) {
        printf("wrong: rank %d of %d: op %d type %d reduce %d in place %d n %lld root %d\n", me,
               ranks, s->op, s->dtype, s->reduce, s->in_place, (long long)n, s->root);
    }
    JOB_CHECK(right);
    if (s->in_place && s->op == ISO_COMM_REDUCE_SCATTER) { /* only its own part changes */
        memcpy(to, kept + me * n * size, (size_t)(n * size));
    }
    JOB_CHECK(s->op == ISO_COMM_ALL_GATHER || (s->in_place && s->op != ISO_COMM_REDUCE_SCATTER) ||
              !memcmp(from, kept, (size_t)(from_n * size)));
    free(kept);
    free(wanted);
    free(s->in_place && s->op == ISO_COMM_ALL_GATHER ? to : from);
}

static void run_all(const job *at, void *rank, int32_t me, int32_t ranks, int64_t n)
{
    static const iso_reduce_op reductions[] = {ISO_SUM, ISO_PRODUCT, ISO_MIN, ISO_MAX, ISO_XOR};
    int mixed = 0;

    for (int t = 0; t < TYPES; t++) {
        for (iso_comm_op op = ISO_COMM_BROADCAST; op <= ISO_COMM_ALL_TO_ALL; op++) {
            const bool sums = op == ISO_COMM_ALL_REDUCE || op == ISO_COMM_REDUCE_SCATTER;

            for (int r = 0; r < (sums ? 5 : 1); r++) {
                shape s = {.op = op, .dtype = types[t], .reduce = reductions[r], .n = n};
                iso_engine_call call = {
                    .rank = rank, .op = op, .dtype = s.dtype, .reduce = s.reduce};
                const bool lacks =
                    sums && (s.dtype <= ISO_BF16 || (s.reduce == ISO_XOR && s.dtype < ISO_I32));

                s.root = (int32_t)(n + t) % ranks;
                JOB_CHECK(at->engine->supports(&call) == (lacks ? ISO_UNSUPPORTED : ISO_OK));
                if (lacks) {
                    continue;
                }
                run_shape(at, rank, me, ranks, &s);
                if (op != ISO_COMM_ALL_TO_ALL) {
                    s.in_place = true;
                    run_shape(at, rank, me, ranks, &s);
                    s.in_place = (me + mixed++) % 2; /* each rank may choose */
                    if (n <= 13) {
                        run_shape(at, rank, me, ranks, &s);
                    }
                }
            }
        }
    }
}

/* A hundred elements are twenty times the smallest limit of counts. */
static const int64_t counts[] = {0, 1, 2, 5, 13, 100, 1000, 30011};

static void operations(const job *at, int64_t most)
{
    void *rank = job_join(at, "operations", at->ranks - 1, at->rank, at->ranks);
    iso_engine_call call = {
        .rank = rank, .op = ISO_COMM_ALL_REDUCE, .dtype = ISO_F32, .reduce = ISO_MEAN};

    JOB_FAILS(at->engine->supports(&call), ISO_UNSUPPORTED, "mean");
    call.dtype = ISO_F16;
    call.reduce = ISO_SUM;
    JOB_FAILS(at->engine->supports(&call), ISO_UNSUPPORTED, "all_reduce of f16");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && counts[i] <= most; i++) {
        run_all(at, rank, at->rank, at->ranks, counts[i]);
        JOB_WORKS(job_run(at, rank, ISO_COMM_BARRIER, 0, 0, 0, 0, NULL, NULL));
    }
    JOB_WORKS(at->engine->query(rank));
    at->engine->leave(rank);
}

void test_operations(const job *at)
{
    operations(at, INT32_MAX);
}

void test_short(const job *at)
{
    operations(at, 100);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Round a ring in both directions, to itself, and a sum, all at once. */
static void ring(const job *at, void *rank, int32_t me, int32_t ranks, int64_t n)
{
    const int32_t next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    double *data = malloc(sizeof(double) * (size_t)(n * 8 + 8)), *mine = data,
           *from_before = data + n, *from_next = data + 2 * n, *from_me = data + 3 * n,
           *sums = data + 4 * n, *back = data + 5 * n;
    iso_engine_call calls[7];
    int count = 0;

    JOB_CHECK(data);
    for (int64_t i = 0; i < n; i++) {
        mine[i] = (double)given(me, i, ISO_SUM);
        back[i] = -mine[i];
    }
#define CALL(o, p, f, t)                                                                           \
    calls[count++] = (iso_engine_call)                                                             \
    {                                                                                              \
        .rank = rank, .op = (o), .dtype = ISO_F64, .reduce = ISO_SUM, .peer = (p), .count = n,     \
        .from = (f), .to = (t)                                                                     \
    }
    CALL(ISO_COMM_RECEIVE, before, NULL, from_before);
    CALL(ISO_COMM_SEND, next, mine, NULL);
    if (ranks > 2) { /* else the two directions are the same pair, in another order */
        CALL(ISO_COMM_SEND, before, back, NULL);
        CALL(ISO_COMM_RECEIVE, next, NULL, from_next);
        CALL(ISO_COMM_SEND, me, mine, NULL);
        CALL(ISO_COMM_RECEIVE, me, NULL, from_me);
    }
    CALL(ISO_COMM_ALL_REDUCE, 0, mine, sums);
    JOB_WORKS(at->engine->submit(calls, count));
    for (int64_t i = 0; i < n; i++) {
        JOB_CHECK(from_before[i] == (double)given(before, i, ISO_SUM));
        JOB_CHECK(sums[i] == (double)reduced(ranks, i, ISO_SUM));
        JOB_CHECK(ranks < 3 ||
                  (from_next[i] == -(double)given(next, i, ISO_SUM) && from_me[i] == mine[i]));
    }
    free(data);
}

/* Every rank sends to every rank: more calls than fit into the engine's own arrays. */
static void everyone(const job *at, void *rank, int32_t me, int32_t ranks)
{
    enum { ROUNDS = 9 };
    const int count = 2 * ranks * ROUNDS;
    iso_engine_call *calls = calloc((size_t)count, sizeof *calls);
    int32_t *out = calloc((size_t)count, sizeof *out), *in = out + count / 2;

    JOB_CHECK(calls && out);
    for (int i = 0; i < count / 2; i++) {
        const int32_t peer = i % ranks;

        out[i] = me * 1000 + peer * 100 + i / ranks;
        calls[i] = (iso_engine_call){.rank = rank,
                                     .op = ISO_COMM_RECEIVE,
                                     .dtype = ISO_I32,
                                     .peer = peer,
                                     .count = 1,
                                     .to = &in[i]};
        calls[count / 2 + i] = (iso_engine_call){.rank = rank,
                                                 .op = ISO_COMM_SEND,
                                                 .dtype = ISO_I32,
                                                 .peer = peer,
                                                 .count = 1,
                                                 .from = &out[i]};
    }
    JOB_WORKS(at->engine->submit(calls, count));
    for (int i = 0; i < count / 2; i++) {
        JOB_CHECK(in[i] == i % ranks * 1000 + me * 100 + i / ranks);
    }
    free(calls);
    free(out);
}

void test_groups(const job *at)
{
    void *rank = job_join(at, "groups", 0, at->rank, at->ranks);

    for (int64_t n = 1; n < 300000; n = n * 7 + 1) {
        ring(at, rank, at->rank, at->ranks, n);
    }
    everyone(at, rank, at->rank, at->ranks);
    at->engine->leave(rank);
}

/* ---- several communicators ------------------------------------------------------------------- */

typedef struct worker {
    const job *at;
    const char *name;
    int32_t maker, rank;
    pthread_t thread;
} worker;

static void *work(void *data)
{
    const worker *mine = data;
    void *rank = job_join(mine->at, mine->name, mine->maker, mine->rank, mine->at->ranks);

    for (int i = 0; i < 3; i++) {
        ring(mine->at, rank, mine->rank, mine->at->ranks, 1000 * i + 1);
        run_all(mine->at, rank, mine->rank, mine->at->ranks, 17 + i);
    }
    mine->at->engine->leave(rank);
    return NULL;
}

/* Four communicators are joined and used at once, with other makers and other ranks, and each
 * process begins in another order. */
void test_threads(const job *at)
{
    enum { WORKERS = 4 };
    static const char *const names[WORKERS] = {"thread-a", "thread-b", "thread-c", "thread-d"};
    worker workers[WORKERS];

    for (int i = 0; i < WORKERS; i++) {
        const int which = (i + at->rank) % WORKERS;

        workers[i] = (worker){.at = at,
                              .name = names[which],
                              .maker = which % at->ranks,
                              .rank = which % 2 ? at->ranks - 1 - at->rank : at->rank};
        JOB_CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

/* The world by the id of zeros; backwards; its halves; all but the first. */
void test_subgroups(const job *at)
{
    const int32_t half = at->rank % 2, halves = (at->ranks + 1 - half) / 2;
    const iso_engine_seat seat = {.rank = at->rank};
    iso_comm_id zeros = {{0}};
    void *world = NULL, *again = NULL, *back, *mine, *rest = NULL;

    JOB_WORKS(at->engine->join(&seat, 1, &zeros, at->ranks, JOB_LONG, &world));
    JOB_WORKS(at->engine->join(&seat, 1, &zeros, at->ranks, JOB_LONG, &again));
    back = job_join(at, "back", 0, at->ranks - 1 - at->rank, at->ranks);
    mine = job_join(at, half ? "odd" : "even", half, halves - 1 - at->rank / 2, halves);
    if (at->rank > 0) {
        rest = job_join(at, "rest", 1, at->rank % (at->ranks - 1), at->ranks - 1);
        run_all(at, rest, at->rank % (at->ranks - 1), at->ranks - 1, 9);
    }
    run_all(at, world, at->rank, at->ranks, 7);
    run_all(at, again, at->rank, at->ranks, 7);
    run_all(at, back, at->ranks - 1 - at->rank, at->ranks, 100);
    run_all(at, mine, halves - 1 - at->rank / 2, halves, 10);
    if (rest) {
        at->engine->leave(rest);
    }
    at->engine->leave(mine);
    at->engine->leave(back);
    at->engine->leave(again);
    at->engine->leave(world);
    /* Contexts are given back: more than MPICH has. */
    for (int i = 0; i < 3000 && at->ranks == 1; i++) {
        void *self = NULL;
        const iso_engine_seat only = {0};

        JOB_WORKS(at->engine->join(&only, 1, NULL, 1, JOB_LONG, &self));
        at->engine->leave(self);
    }
}
