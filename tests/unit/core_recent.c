/* SPDX-License-Identifier: Apache-2.0 */
/* core_recent.c - a call that a stream has made before does what a first call would do. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 20, ROUNDS = 3 };

static iso_operand at(const unit_session *s, int64_t index)
{
    return (iso_operand){s->buffer, index * 64};
}

static void set(const unit_session *s, int64_t index, float value)
{
    works(iso_write(s->stream, at(s, index), &value, sizeof value));
    works(iso_stream_sync(s->stream));
}

static float get(const unit_session *s, int64_t index)
{
    float value = -1;

    works(iso_read(s->stream, &value, at(s, index), sizeof value));
    works(iso_stream_sync(s->stream));
    return value;
}

static iso_map_args scale(const unit_session *s, double factor, int64_t from, int64_t to)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;

    args.op = ISO_MAP_SCALE;
    args.dtype = ISO_F32;
    args.n = 1;
    args.alpha = factor;
    args.x = at(s, from);
    args.z = at(s, to);
    return args;
}

static int setup(void **state)
{
    static unit_session session;

    unit_open(&session, "openmp");
    *state = &session;
    return 0;
}

static int teardown(void **state)
{
    unit_close(*state);
    return 0;
}

/* The operands' values are read each time, and more calls take turns than are kept. */
static void test_turns(void **state)
{
    const unit_session *s = *state;

    for (int round = 1; round <= ROUNDS; round++) {
        set(s, 0, (float)round);
        for (int i = 1; i <= MANY; i++) {
            const iso_map_args args = scale(s, i, 0, i);

            works(iso_map(s->stream, &args));
            works(iso_map(s->stream, &args));
        }
        for (int i = 1; i <= MANY; i++) {
            assert_true(get(s, i) == (float)(round * i));
        }
    }
}

/* Every field of the arguments counts, and so does the kind. */
static void test_changes(void **state)
{
    const unit_session *s = *state;
    iso_map_args args = scale(s, 2, 0, 1);
    iso_reduce_args sum = unit_sum(s->buffer, 2);

    set(s, 0, 3);
    set(s, 2, 5);
    works(iso_map(s->stream, &args));
    args.alpha = 4;
    works(iso_map(s->stream, &args));
    assert_true(get(s, 1) == 12);
    args.x.offset = 128;
    works(iso_map(s->stream, &args));
    assert_true(get(s, 1) == 20);
    args.op = ISO_MAP_COPY;
    works(iso_map(s->stream, &args));
    assert_true(get(s, 1) == 5);
    args.n = -1;
    fails(iso_map(s->stream, &args), ISO_INVALID, "iso_map: n is -1");
    args.n = 1;
    works(iso_execute(s->stream, ISO_OP_MAP, &args));
    fails(iso_execute(s->stream, ISO_OP_REDUCE, &args), ISO_INVALID, "iso_execute");
    works(iso_reduce(s->stream, &sum));
    sum.op = ISO_DOT;
    sum.y.buffer.id = 0;
    fails(iso_reduce(s->stream, &sum), ISO_INVALID, "y");
    fails(iso_map(s->stream, NULL), ISO_INVALID, "args is NULL");
}

/* A destroyed buffer is refused, also if another one took its place. */
static void test_destroyed(void **state)
{
    const unit_session *s = *state;
    iso_map_args args = scale(s, 2, 0, 0);
    iso_buffer gone, other;

    works(iso_buffer_create(s->device, 64, &gone));
    args.x = (iso_operand){gone, 0};
    works(iso_map(s->stream, &args));
    works(iso_map(s->stream, &args));
    works(iso_buffer_destroy(gone));
    works(iso_buffer_create(s->device, 64, &other));
    for (int i = 0; i < 2; i++) {
        fails(iso_map(s->stream, &args), ISO_INVALID, "x.buffer", "was destroyed");
    }
    args.x.buffer = other;
    works(iso_map(s->stream, &args));
    args.x.buffer = s->buffer;
    args.z.buffer = other; /* the buffers before it are released again */
    works(iso_map(s->stream, &args));
    works(iso_buffer_destroy(other));
    fails(iso_map(s->stream, &args), ISO_INVALID, "z.buffer", "was destroyed");
}

/* Scratch memory that has moved meanwhile. */
static void test_scratch(void **state)
{
    enum { SMALL = 40, LARGE = 100 };
    static float host[LARGE * LARGE];
    const unit_session *s = *state;
    iso_buffer large;

    for (int i = 0; i < LARGE * LARGE; i++) {
        host[i] = 1;
    }
    works(iso_buffer_create(s->device, (int64_t)(2 * sizeof host), &large));
    works(iso_write(s->stream, (iso_operand){large, 0}, host, (int64_t)sizeof host));
    for (int i = 0; i < 6; i++) {
        iso_gemm_args args = ISO_GEMM_ARGS_INIT;
        const int n = i % 2 ? LARGE : SMALL;

        args.dtype = ISO_F32;
        args.variant = i < 3 ? ISO_VARIANT_TILED : ISO_VARIANT_FIXED;
        args.m = args.n = args.k = n;
        args.a.buffer = args.b.buffer = args.c.buffer = large;
        args.c.offset = (int64_t)sizeof host;
        works(iso_gemm(s->stream, &args));
        works(iso_read(s->stream, host, args.c, (int64_t)n * n * 4));
        works(iso_stream_sync(s->stream));
        for (int j = 0; j < n * n; j++) {
            assert_true(host[j] == (float)n);
        }
    }
}

/* ---- a buffer that is destroyed meanwhile ---------------------------------------------------- */

typedef struct submission {
    const unit_session *session;
    iso_map_args args;
    iso_status status;
    int64_t ended;
    iso_graph graph; /* launched instead of the call, if there is one */
} submission;

static int64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void *submit(void *argument)
{
    submission *it = argument;

    it->status = it->graph.id ? iso_graph_launch(it->graph, it->session->stream)
                              : iso_map(it->session->stream, &it->args);
    it->ended = now();
    return NULL;
}

/* The submission of a call or a graph takes two seconds, and has begun when the buffer is
 * destroyed, or it is refused. */
static void check_waits(bool graph)
{
    const struct timespec half = {.tv_nsec = 500000000};
    submission it = {0};
    unit_session s;
    iso_buffer gone;
    pthread_t thread;
    int64_t destroyed;

    unsetenv("ISOMER_FAULT");
    unit_open(&s, "fault");
    works(iso_buffer_create(s.device, 64, &gone));
    it.session = &s;
    it.args = scale(&s, 2, 0, 1);
    it.args.x = (iso_operand){gone, 0};
    if (graph) {
        works(iso_graph_begin(s.stream));
    }
    works(iso_map(s.stream, &it.args));
    if (graph) {
        works(iso_graph_end(s.stream, &it.graph));
        works(iso_graph_launch(it.graph, s.stream));
    }
    setenv("ISOMER_FAULT", "slow-execute", 1);
    assert_int_equal(pthread_create(&thread, NULL, submit, &it), 0);
    (void)nanosleep(&half, NULL);
    works(iso_buffer_destroy(gone));
    destroyed = now();
    assert_int_equal(pthread_join(thread, NULL), 0);
    unsetenv("ISOMER_FAULT");
    if (it.status) {
        assert_int_equal(it.status, ISO_INVALID);
    } else { /* as late as a loaded machine may be */
        assert_true(destroyed > it.ended - INT64_C(1000000000));
    }
    unit_close(&s);
}

static void test_waits(void **state)
{
    (void)state;
    check_waits(false);
}

static void test_waits_for_graph(void **state)
{
    (void)state;
    check_waits(true);
}

/* The call that fails is the one that is named. */
static void test_names(void **state)
{
    const unit_session *s = *state;
    iso_map_args args = scale(s, 2, 0, 1);

    works(iso_map(s->stream, &args));
    works(iso_stream_destroy(s->stream));
    fails(iso_map(s->stream, &args), ISO_INVALID, "iso_map: stream", "was destroyed");
    works(iso_stream_create(s->device, 0, &((unit_session *)*state)->stream));
    works(iso_map(s->stream, &args));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_destroyed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scratch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_waits_for_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
