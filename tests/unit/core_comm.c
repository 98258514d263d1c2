/* SPDX-License-Identifier: Apache-2.0 */
/* core_comm.c - communicators of CPU ranks in one process: what is refused and with which words;
 * what calls move; groups; failures, which must reach every rank in time. `isomer verify --comm`
 * tests the results of sums. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 3, ROOM = 4096 };
#define SECOND INT64_C(1000000000)

static struct {
    iso_device device[RANKS];
    iso_stream stream[RANKS];
    iso_buffer buffer[RANKS];
    iso_comm comm[RANKS];
} s;

static int64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void make_comm(int64_t timeout)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;

    options.timeout_nanoseconds = timeout;
    works(iso_comm_create(s.device, RANKS, &options, s.comm));
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++) {
        works(iso_device_open("openmp", &s.device[i]));
        works(iso_stream_create(s.device[i], 0, &s.stream[i]));
        works(iso_buffer_create(s.device[i], ROOM, &s.buffer[i]));
    }
    make_comm(20 * SECOND);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++) {
        (void)iso_comm_destroy(s.comm[i]);
    }
    for (int i = 0; i < RANKS; i++) {
        (void)iso_device_close(s.device[i]);
    }
    return 0;
}

static iso_comm_args call_of(iso_comm_op op, int rank)
{
    iso_comm_args args = ISO_COMM_ARGS_INIT;

    args.op = op;
    args.dtype = ISO_I32;
    args.count = 1;
    args.from.buffer = args.to.buffer = s.buffer[rank];
    args.to.offset = 1024;
    return args;
}

/* Writes ints to the beginning of a rank's buffer. */
static void put(int rank, const int32_t *values, int count)
{
    works(iso_write(s.stream[rank], (iso_operand){s.buffer[rank], 0}, values, count * 4));
    works(iso_stream_sync(s.stream[rank]));
}

static void expect_ints(int rank, int64_t offset, const int32_t *want, int count)
{
    int32_t got[64];

    works(iso_read(s.stream[rank], got, (iso_operand){s.buffer[rank], offset}, count * 4));
    works(iso_stream_sync(s.stream[rank]));
    for (int i = 0; i < count; i++) {
        assert_int_equal(got[i], want[i]);
    }
}

/* Submits the same kind of call on every rank, one after another from this thread. */
static void run_all(iso_comm_args (*make)(int rank))
{
    for (int i = 0; i < RANKS; i++) {
        const iso_comm_args args = make(i);

        works(iso_comm_run(s.comm[i], s.stream[i], &args));
    }
}

/* ---- what calls move ------------------------------------------------------------------------- */

static iso_comm_args broadcast_of(int rank)
{
    iso_comm_args args = call_of(ISO_COMM_BROADCAST, rank);

    args.peer = 1;
    args.count = 2;
    return args;
}

static iso_comm_args gather_of(int rank)
{
    iso_comm_args args = call_of(ISO_COMM_ALL_GATHER, rank);

    args.count = 2;
    return args;
}

static iso_comm_args gather_in_place(int rank)
{
    iso_comm_args args = gather_of(rank);

    args.from.offset = rank * 8;
    args.to.offset = 0;
    return args;
}

static iso_comm_args exchange_of(int rank)
{
    return call_of(ISO_COMM_ALL_TO_ALL, rank);
}

static iso_comm_args scatter_of(int rank)
{
    iso_comm_args args = call_of(ISO_COMM_REDUCE_SCATTER, rank);

    args.sum = ISO_COMM_SUM_ORDERED;
    return args;
}

static void put_all(void)
{
    for (int i = 0; i < RANKS; i++) {
        const int32_t values[] = {10 * i, 10 * i + 1, 10 * i + 2, 0, 0, 0};

        put(i, values, 6);
    }
}

static void moves(void **state)
{
    (void)state;
    put_all();
    run_all(broadcast_of);
    run_all(gather_of);
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, (const int32_t[]){0, 1, 10, 11, 20, 21}, 6);
    }
    run_all(broadcast_of);
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, (const int32_t[]){10, 11, 10}, 3);
    }
    run_all(exchange_of);
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, (const int32_t[]){i, 10 + i, 20 + i}, 3);
    }
    run_all(scatter_of);
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, (const int32_t[]){30 + 3 * i}, 1);
    }
}

static void gathers_in_place(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++) {
        int32_t values[6] = {-1, -1, -1, -1, -1, -1};

        values[2 * i] = 5 * i;
        values[2 * i + 1] = 5 * i + 1;
        put(i, values, 6);
    }
    run_all(gather_in_place);
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 0, (const int32_t[]){0, 1, 5, 6, 10, 11}, 6);
    }
}

/* A ring: each rank sends to the next and receives from the one before, all from one thread. */
static void ring(void **state)
{
    iso_comm_args args[2 * RANKS];
    iso_comm_call calls[2 * RANKS], backwards[2 * RANKS];

    (void)state;
    put_all();
    for (int i = 0; i < RANKS; i++) {
        args[2 * i] = call_of(ISO_COMM_RECEIVE, i);
        args[2 * i].peer = (i + RANKS - 1) % RANKS;
        args[2 * i + 1] = call_of(ISO_COMM_SEND, i);
        args[2 * i + 1].peer = (i + 1) % RANKS;
        for (int j = 0; j < 2; j++) {
            calls[2 * i + j] = (iso_comm_call){s.comm[i], s.stream[i], &args[2 * i + j]};
        }
    }
    for (int i = 2 * RANKS - 1, turned = 0; i >= 0; i--, turned++) {
        backwards[turned] = calls[i]; /* the order of a group does not matter */
    }
    works(iso_comm_run_group(calls, 2 * RANKS));
    works(iso_comm_run_group(backwards, 2 * RANKS));
    works(iso_comm_run_group(NULL, 0));
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, (const int32_t[]){10 * ((i + RANKS - 1) % RANKS)}, 1);
    }
    calls[3].args = NULL;
    fails(iso_comm_run_group(calls, 2 * RANKS), ISO_INVALID, "iso_comm_run_group: calls[3]: ");
    fails(iso_comm_run_group(NULL, 1), ISO_INVALID, "calls is NULL");
    fails(iso_comm_run_group(calls, -1), ISO_INVALID, "count is -1");
}

/* Sums of floats: keep bits means ordered. */
static void auto_follows_keep(void **state)
{
    const float ones[RANKS] = {1e8F, 1, -1e8F};
    float got;

    (void)state;
    for (int i = 0; i < RANKS; i++) {
        put(i, (const int32_t *)(const void *)&ones[i], 1);
    }
    for (int i = 0; i < RANKS; i++) {
        iso_comm_args args = call_of(ISO_COMM_ALL_REDUCE, i);

        args.dtype = ISO_F32;
        args.keep = ISO_KEEP_BITS;
        works(iso_comm_run(s.comm[i], s.stream[i], &args));
        args.sum = ISO_COMM_SUM_FIXED;
        args.to.offset = 2048;
        works(iso_comm_run(s.comm[i], s.stream[i], &args));
    }
    for (int i = 0; i < RANKS; i++) {
        works(iso_read(s.stream[i], &got, (iso_operand){s.buffer[i], 1024}, 4));
        works(iso_stream_sync(s.stream[i]));
        assert_true(got == 0); /* (1e8 + 1) - 1e8 in f32 */
        works(iso_read(s.stream[i], &got, (iso_operand){s.buffer[i], 2048}, 4));
        works(iso_stream_sync(s.stream[i]));
        assert_true(got == 1);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        iso_comm_args args = call_of(ISO_COMM_ALL_REDUCE, 0);                                      \
        change;                                                                                    \
        fails(iso_comm_run(s.comm[0], s.stream[0], &args), ISO_INVALID, words);                    \
    } while (0)

static void bad_arguments(void **state)
{
    (void)state;
    REFUSED(args.op = 0, "op is 0: use ISO_COMM_BARRIER (1)");
    REFUSED(args.op = 9, "op is 9");
    REFUSED(args.dtype = 0, "dtype is 0");
    REFUSED(args.sum = 4, "sum is 4");
    REFUSED(args.keep = 9, "keep is 9");
    REFUSED(args.reserved = 1, "reserved");
    REFUSED(args.count = -1, "count is -1");
    REFUSED(args.count = INT64_MAX / 2, "do not fit 64 bits");
    REFUSED(args.reduce = ISO_DOT, "reduce is 6 (dot), which does not combine ranks");
    REFUSED(args.reduce = (iso_reduce_op)77, "reduce is 77");
    REFUSED(args.reduce = ISO_MEAN, "mean is for floating-point types");
    REFUSED((args.dtype = ISO_F32, args.reduce = ISO_XOR), "xor is for integers");
    REFUSED(args.sum = ISO_COMM_SUM_FIXED, "fixed sums are sums of floating-point types");
    REFUSED(args.terms = 2, "only fixed sums have several terms");
    REFUSED(args.terms = -2, "terms is -2");
    REFUSED((args.dtype = ISO_F32, args.sum = ISO_COMM_SUM_FIXED, args.terms = 1 << 22), "at most");
    REFUSED((args.dtype = ISO_F32, args.sum = ISO_COMM_SUM_FIXED, args.count = 8, args.terms = 2,
             args.ld_terms = 7),
            "ld_terms is 7");
    REFUSED((args.op = ISO_COMM_BROADCAST, args.peer = 3), "peer is 3: the communicator has");
    REFUSED((args.op = ISO_COMM_SEND, args.peer = -1), "peer is -1");
    REFUSED((args.op = ISO_COMM_SEND, args.peer = 0), "which is this rank");
    REFUSED(args.from.offset = 2, "from.offset is 2");
    REFUSED(args.to.offset = ROOM, "to");
    REFUSED(args.to.offset = -4, "to.offset");
    REFUSED((args.count = 8, args.to.offset = 4), "overlaps");
    REFUSED((args.op = ISO_COMM_ALL_TO_ALL, args.to.offset = 0), "all_to_all is never in place");
    REFUSED(args.size = 3, "size");
    REFUSED(args.from.buffer.id = 0, "from");
    REFUSED((args.op = ISO_COMM_REDUCE_SCATTER, args.dtype = ISO_F64, args.sum = ISO_COMM_SUM_FIXED,
             args.terms = 2, args.count = INT64_MAX / 2),
            "do not fit 64 bits");

    iso_comm_args args = call_of(ISO_COMM_ALL_REDUCE, 0);
    args.count = INT64_MAX / 2;
    fails(iso_comm_prepare(s.comm[0], s.stream[0], &args), ISO_INVALID, "do not fit 64 bits");
    fails(iso_comm_supports(s.comm[0], &args), ISO_INVALID, "do not fit 64 bits");
}

/* A timeout that no clock reaches. */
static void longest_timeout(void **state)
{
    const int32_t one = 1, sum = RANKS;

    (void)state;
    for (int i = 0; i < RANKS; i++) {
        works(iso_comm_destroy(s.comm[i]));
    }
    make_comm(INT64_MAX);
    for (int i = 0; i < RANKS; i++) {
        const iso_comm_args args = call_of(ISO_COMM_ALL_REDUCE, i);

        put(i, &one, 1);
        works(iso_comm_run(s.comm[i], s.stream[i], &args));
    }
    for (int i = 0; i < RANKS; i++) {
        expect_ints(i, 1024, &sum, 1);
    }
}

static void bad_handles(void **state)
{
    const iso_comm_args args = call_of(ISO_COMM_BARRIER, 0);
    const iso_comm none = {0};
    iso_stream inline_stream;
    iso_comm_info info = ISO_COMM_INFO_INIT;

    (void)state;
    fails(iso_comm_run(none, s.stream[0], &args), ISO_INVALID, "comm is zero");
    fails(iso_comm_run(s.comm[0], (iso_stream){s.comm[0].id}, &args), ISO_INVALID,
          "is a communicator, not a stream");
    fails(iso_comm_run(s.comm[0], s.stream[1], &args), ISO_MISMATCH, "stream");
    fails(iso_comm_destroy(none), ISO_INVALID, "zero");
    fails(iso_comm_abort(none), ISO_INVALID, "zero");
    fails(iso_comm_query(none), ISO_INVALID, "zero");
    fails(iso_comm_get_info(none, &info), ISO_INVALID, "zero");
    works(iso_stream_create(s.device[0], ISO_STREAM_INLINE, &inline_stream));
    fails(iso_comm_run(s.comm[0], inline_stream, &args), ISO_INVALID, "ISO_STREAM_INLINE");
    works(iso_stream_destroy(inline_stream));
    works(iso_comm_query(s.comm[0])); /* nothing above has harmed it */
}

static void bad_creation(void **state)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_comm_id id;
    iso_comm made[2] = {{7}, {7}};

    (void)state;
    fails(iso_comm_create(NULL, 2, NULL, made), ISO_INVALID, "devices is NULL");
    fails(iso_comm_create(s.device, 0, NULL, made), ISO_INVALID, "count is 0");
    fails(iso_comm_create(s.device, 2, NULL, NULL), ISO_INVALID, "out is NULL");
    options.engine = "warp";
    fails(iso_comm_create(s.device, 2, &options, made), ISO_UNAVAILABLE, "no engine \"warp\"");
    options.engine = "Warp/../x";
    fails(iso_comm_create(s.device, 2, &options, made), ISO_UNAVAILABLE, "no engine");
    options.engine = NULL;
    options.timeout_nanoseconds = -1;
    fails(iso_comm_create(s.device, 2, &options, made), ISO_INVALID, "timeout");
    options.timeout_nanoseconds = 0;
    options.reserved = 1;
    fails(iso_comm_create(s.device, 2, &options, made), ISO_INVALID, "reserved");
    assert_int_equal(made[0].id, 0);
    options = (iso_comm_options)ISO_COMM_OPTIONS_INIT;
    options.engine = "threads";
    fails(iso_comm_id_create(s.device[0], &options, &id), ISO_UNSUPPORTED, "one process");
    memset(&id, 0, sizeof id);
    fails(iso_comm_join(s.device[0], &id, 0, 1, NULL, made), ISO_INVALID,
          "does not come from iso_comm_id_create");
    fails(iso_comm_join(s.device[0], &id, 2, 2, NULL, made), ISO_INVALID, "rank is 2");
    fails(iso_comm_join(s.device[0], NULL, 0, 1, NULL, made), ISO_INVALID, "id is NULL");
}

static void describes_itself(void **state)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    iso_comm_op op;
    iso_comm_sum sum;

    (void)state;
    works(iso_comm_get_info(s.comm[2], &info));
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.ranks, RANKS);
    assert_string_equal(info.engine, "threads");
    assert_true(info.device.id == s.device[2].id);
    assert_true(info.timeout_nanoseconds == 20 * SECOND);
    works(iso_comm_op_parse("all_gather", &op));
    assert_int_equal(op, ISO_COMM_ALL_GATHER);
    works(iso_comm_sum_parse("ordered", &sum));
    assert_int_equal(sum, ISO_COMM_SUM_ORDERED);
    fails(iso_comm_op_parse("gather", &op), ISO_INVALID, "broadcast");
}

/* ---- failures -------------------------------------------------------------------------------- */

static void fails_in_time(int64_t began, int64_t most)
{
    assert_true(now() - began < most);
}

/* Two of three ranks come to a barrier, ten times. */
static void missing_rank(void **state)
{
    for (int turn = 0; turn < 10; turn++) {
        const iso_comm_args barrier = call_of(ISO_COMM_BARRIER, 0);
        iso_comm_call calls[2];
        int64_t began;

        for (int i = 0; i < RANKS; i++) {
            works(iso_comm_destroy(s.comm[i]));
        }
        make_comm(SECOND / 10);
        calls[0] = (iso_comm_call){s.comm[0], s.stream[0], &barrier};
        calls[1] = (iso_comm_call){s.comm[2], s.stream[2], &barrier};
        began = now();
        works(iso_comm_run_group(calls, 2));
        fails(iso_stream_sync(s.stream[0]), ISO_TIMEOUT, "in barrier for rank 1 of 3");
        fails(iso_stream_sync(s.stream[2]), ISO_TIMEOUT, "in barrier for rank 1 of 3");
        fails(iso_comm_query(s.comm[1]), ISO_TIMEOUT, "rank 1 of 3");
        fails(iso_comm_run(s.comm[1], s.stream[1], &barrier), ISO_TIMEOUT, "has failed");
        fails_in_time(began, 10 * SECOND);
        works(iso_stream_sync(s.stream[1])); /* it has submitted nothing */
        teardown(state);
        setup(state);
    }
}

static void aborted_rank(void **state)
{
    const iso_comm_args barrier = call_of(ISO_COMM_BARRIER, 0);
    const int64_t began = now();

    (void)state;
    works(iso_comm_run(s.comm[0], s.stream[0], &barrier));
    works(iso_comm_abort(s.comm[1]));
    works(iso_comm_abort(s.comm[1]));
    fails(iso_stream_sync(s.stream[0]), ISO_UNAVAILABLE, "iso_comm_abort");
    fails(iso_comm_query(s.comm[1]), ISO_UNAVAILABLE, "aborted");
    fails(iso_comm_query(s.comm[2]), ISO_UNAVAILABLE, "rank 1 of 3 has failed");
    fails_in_time(began, 10 * SECOND);
    works(iso_comm_destroy(s.comm[1])); /* its error was returned */
    fails(iso_comm_query(s.comm[1]), ISO_INVALID, "was destroyed");
}

static void different_calls(void **state)
{
    iso_comm_args args = call_of(ISO_COMM_ALL_REDUCE, 0);

    (void)state;
    for (int i = 0; i < RANKS; i++) {
        args.from.buffer = args.to.buffer = s.buffer[i];
        args.count = i == 2 ? 5 : 4;
        works(iso_comm_run(s.comm[i], s.stream[i], &args));
    }
    for (int i = 0; i < RANKS; i++) {
        fails(iso_stream_sync(s.stream[i]), ISO_INVALID, "same calls in the same order");
    }
}

static void different_lengths(void **state)
{
    iso_comm_args send = call_of(ISO_COMM_SEND, 0), receive = call_of(ISO_COMM_RECEIVE, 1);

    (void)state;
    send.peer = 1;
    send.count = 3;
    works(iso_comm_run(s.comm[0], s.stream[0], &send));
    works(iso_comm_run(s.comm[1], s.stream[1], &receive));
    fails(iso_stream_sync(s.stream[1]), ISO_INVALID, "sends 12 bytes");
    fails(iso_stream_sync(s.stream[0]), ISO_INVALID, "sends 12 bytes");
}

/* A rank whose device is closed leaves, while the others still use the communicator. */
static void closed_device(void **state)
{
    (void)state;
    works(iso_device_close(s.device[1]));
    fails(iso_comm_query(s.comm[1]), ISO_INVALID, "destroyed");
    works(iso_comm_query(s.comm[0]));
    works(iso_comm_destroy(s.comm[0]));
    works(iso_comm_destroy(s.comm[2]));
}

/* Calls of two communicators on two streams, submitted in opposite orders by two threads. */
static void *other_order(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        const iso_comm_args args = call_of(ISO_COMM_BARRIER, 1);

        works(iso_comm_run(s.comm[1], s.stream[1], &args));
    }
    return NULL;
}

static void threads(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_order, NULL), 0);
    for (int i = 0; i < 50; i++) {
        const iso_comm_args args = call_of(ISO_COMM_BARRIER, 0);

        works(iso_comm_run(s.comm[0], s.stream[0], &args));
        works(iso_comm_run(s.comm[2], s.stream[2], &args));
    }
    (void)pthread_join(thread, NULL);
    for (int i = 0; i < RANKS; i++) {
        works(iso_stream_sync(s.stream[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moves, setup, teardown),
        cmocka_unit_test_setup_teardown(gathers_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(ring, setup, teardown),
        cmocka_unit_test_setup_teardown(auto_follows_keep, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(longest_timeout, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_handles, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_creation, setup, teardown),
        cmocka_unit_test_setup_teardown(describes_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(aborted_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(different_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(different_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(closed_device, setup, teardown),
        cmocka_unit_test_setup_teardown(threads, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
