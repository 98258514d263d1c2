/* SPDX-License-Identifier: Apache-2.0 */
/* comm_calls.c - every operation of a backend's engine has the right result: types, reductions,
 * places, and sizes of one piece and of several. */
#include "tests/fakes/comm.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- elements -------------------------------------------------------------------------------- */

/* Small whole numbers, and quarters of them, which every type holds. */
static void put(iso_dtype dtype, char *at, int64_t i, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    switch (dtype) {
    case ISO_F16:
        ((uint16_t *)(void *)at)[i] =
            (uint16_t)(value == 0 ? 0
                                  : (bits >> 16 & 0x8000u) | ((((bits >> 23 & 255u) - 112u) << 10) +
                                                              (bits >> 13 & 1023u)));
        break;
    case ISO_BF16:
        ((uint16_t *)(void *)at)[i] = (uint16_t)(bits >> 16);
        break;
    case ISO_F32:
        ((float *)(void *)at)[i] = narrow;
        break;
    case ISO_F64:
        ((double *)(void *)at)[i] = value;
        break;
    case ISO_I32:
        ((int32_t *)(void *)at)[i] = (int32_t)value;
        break;
    default:
        ((int64_t *)(void *)at)[i] = (int64_t)value;
        break;
    }
}

/* Element i of what rank r gives. bf16 holds a product of four such numbers below 4. */
static double given(int r, int64_t i)
{
    return (double)((i * 7 + r * 3 + i / 1000) % 3 + 1);
}

/* ---- expected results ------------------------------------------------------------------------ */

typedef struct test_case {
    iso_comm_op op;
    iso_dtype dtype;
    iso_reduce_op reduce;
    int64_t count;
    int ranks, peer;
    bool in_place;
} test_case;

static double reduced(const test_case *test, int64_t i)
{
    double total = given(0, i);
    for (int r = 1; r < test->ranks; r++) {
        const double next = given(r, i);
        total = test->reduce == ISO_PRODUCT ? total * next
                : test->reduce == ISO_MIN   ? fmin(total, next)
                : test->reduce == ISO_MAX   ? fmax(total, next)
                                            : total + next;
    }
    return test->reduce == ISO_MEAN ? total / test->ranks : total;
}

/* Element i of the result of rank r. */
static double expected(const test_case *test, int r, int64_t i)
{
    const int64_t n = test->count;
    switch (test->op) {
    case ISO_COMM_BROADCAST:
        return given(test->peer, i);
    case ISO_COMM_ALL_REDUCE:
        return reduced(test, i);
    case ISO_COMM_REDUCE_SCATTER:
        return reduced(test, r * n + i);
    case ISO_COMM_ALL_GATHER:
        return given((int)(i / n), i % n);
    default: /* all-to-all */
        return given((int)(i / n), r * n + i % n);
    }
}

static int64_t elements_from(const test_case *test)
{
    const bool all = test->op == ISO_COMM_REDUCE_SCATTER || test->op == ISO_COMM_ALL_TO_ALL;
    return test->count * (all ? test->ranks : 1);
}

static int64_t elements_to(const test_case *test)
{
    const bool all = test->op == ISO_COMM_ALL_GATHER || test->op == ISO_COMM_ALL_TO_ALL;
    return test->count * (all ? test->ranks : 1);
}

/* ---- running --------------------------------------------------------------------------------- */

enum { FILL = 0x5a, SHIFT = 2 /* elements before each operand */ };
static char data[ARRAY_BYTES], wanted[ARRAY_BYTES];

/* Of an array, with something behind the operand. */
static int64_t bytes_of(const test_case *test)
{
    return (test->count * test->ranks + 2 * SHIFT) * iso_dtype_size(test->dtype);
}

/* The call of rank r, and its arrays' content. In place, one array lies in the other. */
static iso_engine_call prepare(const test_case *test, int r)
{
    side *at = &comm_sides[r];
    const int64_t size = iso_dtype_size(test->dtype);
    iso_engine_call call = comm_call(r, test->op, test->dtype, test->count);
    call.reduce = test->reduce;
    call.peer = test->peer;
    call.from_offset = call.to_offset = SHIFT * size;
    const bool gives = test->op != ISO_COMM_BROADCAST || r == test->peer;
    const int64_t bytes = bytes_of(test);
    int64_t first = SHIFT; /* the element of `to` or `from` at which this rank's own begin */
    if (test->in_place && test->op == ISO_COMM_REDUCE_SCATTER) {
        call.to = call.from;
        call.to_offset += r * test->count * size;
    } else if (test->in_place) {
        first += test->op == ISO_COMM_ALL_GATHER ? r * test->count : 0;
        call.from = call.to;
        call.from_offset = first * size;
    }
    memset(data, FILL, (size_t)bytes);
    comm_write(at, at->to, data, bytes);
    for (int64_t i = 0; gives && i < elements_from(test); i++) {
        put(test->dtype, data, first + i, given(r, i));
    }
    comm_write(at, call.from, data, bytes);
    if (!gives && !test->in_place) {
        call.from = NULL;
    }
    return call;
}

static void check(const test_case *test, int r, const iso_engine_call *call)
{
    const int64_t size = iso_dtype_size(test->dtype);
    const int64_t n = elements_to(test);
    comm_read(&comm_sides[r], call->to, data, bytes_of(test));
    for (int64_t i = 0; i < n; i++) {
        put(test->dtype, wanted, i, expected(test, r, i));
    }
    if (memcmp(data + call->to_offset, wanted, (size_t)(n * size)) != 0) {
        fprintf(stderr,
                "op %d, %s, reduction %d, %lld elements, %d ranks, peer %d%s: rank %d is wrong\n",
                (int)test->op, iso_dtype_name(test->dtype), (int)test->reduce,
                (long long)test->count, test->ranks, test->peer, test->in_place ? ", in place" : "",
                r);
        exit(1);
    }
    for (int64_t i = 0; i < size; i++) { /* nothing behind it was written */
        CHECK((test->in_place && test->op == ISO_COMM_REDUCE_SCATTER) ||
              data[call->to_offset + n * size + i] == FILL);
    }
}

static void run(const test_case *test, comm_way way)
{
    iso_engine_call calls[RANKS_MOST];
    for (int r = 0; r < test->ranks; r++) {
        calls[r] = prepare(test, r);
        CHECK(!comm_engine->supports(&calls[r]));
    }
    CHECK(!comm_submit(calls, test->ranks, way));
    comm_sync(test->ranks);
    for (int r = 0; r < test->ranks; r++) {
        check(test, r, &calls[r]);
    }
}

static void run_places(test_case *test, comm_way way)
{
    for (int place = 0; place < 2; place++) {
        test->in_place = place == 1;
        if (!test->in_place || test->op != ISO_COMM_ALL_TO_ALL) {
            run(test, way);
        }
    }
}

static void run_reductions(test_case *test, comm_way way)
{
    static const iso_reduce_op all[] = {ISO_SUM, ISO_PRODUCT, ISO_MIN, ISO_MAX, ISO_MEAN};
    const bool whole = test->dtype == ISO_I32 || test->dtype == ISO_I64;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        test->reduce = all[i];
        if (!whole || test->reduce != ISO_MEAN) {
            run_places(test, way);
        }
    }
    test->reduce = 0;
}

void comm_test_collectives(comm_way way)
{
    static const int64_t counts[] = {1, 1001, 9000};
    for (int ranks = 1; ranks <= RANKS_MOST; ranks = ranks == 1 ? 2 : 2 * ranks) {
        CHECK(!comm_join(ranks, SECONDS(120)));
        for (int dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
            test_case test = {.dtype = (iso_dtype)dtype, .ranks = ranks, .peer = ranks - 1};
            /* The largest only in one type of each size. */
            const int sizes = dtype == ISO_F16 || dtype == ISO_I32 || dtype == ISO_F64 ? 3 : 2;
            for (int i = 0; i < sizes; i++) {
                test.count = counts[i];
                test.op = ISO_COMM_BROADCAST;
                run_places(&test, way);
                test.op = ISO_COMM_ALL_GATHER;
                run_places(&test, way);
                test.op = ISO_COMM_ALL_TO_ALL;
                run_places(&test, way);
                test.op = ISO_COMM_ALL_REDUCE;
                run_reductions(&test, way);
                test.op = ISO_COMM_REDUCE_SCATTER;
                run_reductions(&test, way);
            }
        }
        comm_leave_all(ranks);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Every rank sends rank + 1 + d numbers to the rank that is d places on, and one of them receives a
 * second message; all in one group. */
static int message_calls(iso_engine_call *calls)
{
    enum { PART = ARRAY_BYTES / 8 };
    int count = 0;
    for (int r = 0; r < RANKS_MOST; r++) {
        for (int d = 1; d < RANKS_MOST; d++) {
            const int64_t n = 3000 * (r + 1) + d;
            const int to = (r + d) % RANKS_MOST;
            calls[count] = comm_call(r, ISO_COMM_SEND, ISO_I32, n);
            calls[count].peer = to;
            calls[count++].to = NULL;
            calls[count] = comm_call(to, ISO_COMM_RECEIVE, ISO_I32, n);
            calls[count].peer = r;
            calls[count].from = NULL;
            calls[count++].to_offset = (int64_t)r * PART;
        }
    }
    calls[count] = comm_call(1, ISO_COMM_SEND, ISO_I32, 5);
    calls[count].from_offset = 400;
    calls[count].peer = 0;
    calls[count++].to = NULL;
    calls[count] = comm_call(0, ISO_COMM_RECEIVE, ISO_I32, 5);
    calls[count].peer = 1;
    calls[count].from = NULL;
    calls[count++].to_offset = (int64_t)(RANKS_MOST + 1) * PART;
    return count;
}

void comm_test_messages(void)
{
    enum { PART = ARRAY_BYTES / 8, EACH = 2 * (RANKS_MOST * (RANKS_MOST - 1) + 1) };
    iso_engine_call calls[EACH];
    static int32_t got[ARRAY_BYTES / 4];
    CHECK(!comm_join(RANKS_MOST, SECONDS(120)));
    for (int r = 0; r < RANKS_MOST; r++) {
        for (int32_t i = 0; i < ARRAY_BYTES / 4; i++) {
            got[i] = i + 1000000 * r;
        }
        comm_write(&comm_sides[r], comm_sides[r].from, got, ARRAY_BYTES);
    }
    const int count = message_calls(calls);
    CHECK(count == EACH && !comm_engine->submit(calls, count));
    comm_sync(RANKS_MOST);
    for (int r = 0; r < RANKS_MOST; r++) {
        comm_read(&comm_sides[r], comm_sides[r].to, got, ARRAY_BYTES);
        for (int s = 0; s < RANKS_MOST; s++) {
            const int d = (r - s + RANKS_MOST) % RANKS_MOST;
            const int64_t n = d > 0 ? 3000 * (s + 1) + d : 0;
            for (int64_t i = 0; i < n; i++) {
                CHECK(got[s * PART / 4 + i] == i + 1000000 * s);
            }
        }
        for (int i = 0; r == 0 && i < 5; i++) {
            CHECK(got[(RANKS_MOST + 1) * PART / 4 + i] == 1000100 + i);
        }
    }
    comm_leave_all(RANKS_MOST);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* A barrier of one rank waits for the others, calls of several streams of a rank keep the order in
 * which they were made, and a group may have messages and a collective call. */
void comm_test_order(void)
{
    iso_engine_call calls[RANKS_MOST + 2];
    void *second = NULL;
    CHECK(!comm_join(2, SECONDS(120)));
    calls[0] = comm_call(0, ISO_COMM_BARRIER, 0, 0);
    CHECK(!comm_engine->supports(&calls[0]));
    CHECK(!comm_engine->submit(calls, 1));
    for (int i = 0; i < 20; i++) {
        CHECK(comm_backend->stream_query(comm_sides[0].stream) == ISO_NOT_READY);
    }
    calls[0] = comm_call(1, ISO_COMM_BARRIER, 0, 0);
    CHECK(!comm_engine->submit(calls, 1));
    comm_sync(2);
    CHECK(!comm_backend->stream_create(comm_sides[0].device, 0, &second));
    for (int i = 0; i < 10; i++) {
        calls[0] = comm_call(0, i % 2 ? ISO_COMM_BARRIER : ISO_COMM_ALL_REDUCE, ISO_F32, 100);
        calls[1] = comm_call(1, i % 2 ? ISO_COMM_BARRIER : ISO_COMM_ALL_REDUCE, ISO_F32, 100);
        calls[0].stream = i % 2 ? second : comm_sides[0].stream;
        CHECK(!comm_engine->submit(calls, 2));
    }
    CHECK(!comm_backend->stream_sync(second));
    comm_sync(2);
    comm_backend->stream_destroy(second);
    calls[0] = comm_call(0, ISO_COMM_SEND, ISO_F64, 7);
    calls[1] = comm_call(1, ISO_COMM_RECEIVE, ISO_F64, 7);
    calls[0].peer = 1;
    calls[2] = comm_call(0, ISO_COMM_ALL_REDUCE, ISO_F64, 9);
    calls[3] = comm_call(1, ISO_COMM_ALL_REDUCE, ISO_F64, 9);
    calls[2].to_offset = calls[3].to_offset = 1024;
    CHECK(!comm_engine->submit(calls, 4));
    comm_sync(2);
    comm_leave_all(2);
}
