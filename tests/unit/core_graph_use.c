/* SPDX-License-Identifier: Apache-2.0 */
/* core_graph_use.c - how long graphs and what they use live, launches on several streams and from
 * several threads, and the memory limit. */
#include "tests/unit/graph_work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 20, DELAYS = 10, RECORDINGS = 8, MANY = 2000 };

/* ---- lifetimes ------------------------------------------------------------------------------- */

/* What was recorded is dropped with its stream or device. */
static void test_abandoned(void **state)
{
    graph_session *t = *state;
    const iso_map_args args =
        graph_scale(graph_at(t->s.buffer, 0), graph_at(t->s.buffer, NUMBERS), 2);
    iso_stream stream;
    unit_session s;
    iso_graph graph;

    works(iso_stream_create(t->s.device, 0, &stream));
    works(iso_graph_begin(stream));
    works(iso_map(stream, &args));
    works(graph_launch_kernel(t, stream));
    works(iso_stream_destroy(stream));
    fails(iso_graph_end(stream, &graph), ISO_INVALID, "a stream that was destroyed");
    unit_open(&s, graph_spec);
    graph = graph_doubling(&s);
    works(iso_graph_begin(s.stream));
    works(iso_fill(s.stream, graph_at(s.buffer, 0), &(uint32_t){1}, 4, 64));
    works(iso_graph_launch(graph, s.other));
    works(iso_device_close(s.device));
    fails(iso_graph_launch(graph, t->s.stream), ISO_INVALID, "a graph that was destroyed");
}

/* One of what graph_submit uses, destroyed; the text names its kind. */
static void lose(graph_session *t, int what)
{
    static const char *const kinds[] = {"is a buffer", "is a program", "is a sparse matrix"};
    iso_graph graph, late;

    works(iso_graph_begin(t->s.stream));
    graph_submit(t, t->s.stream);
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_launch(graph, t->s.stream));
    works(iso_graph_begin(t->s.other));
    graph_submit(t, t->s.other);
    if (what == 0) {
        works(iso_buffer_destroy(t->big));
    } else if (what == 1) {
        works(iso_program_destroy(t->program));
    } else {
        works(iso_sparse_destroy(t->spmv.matrix));
    }
    fails(iso_graph_launch(graph, t->s.stream), ISO_INVALID, "iso_graph_launch", kinds[what],
          "was destroyed");
    fails(iso_graph_end(t->s.other, &late), ISO_INVALID, "iso_graph_end", kinds[what],
          "was destroyed");
    assert_true(late.id == 0);
    works(iso_stream_sync(t->s.other));                                   /* records no longer */
    fails(iso_graph_launch(graph, t->s.other), ISO_INVALID, kinds[what]); /* its first there */
    works(iso_graph_destroy(graph));
}

static void test_destroyed(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        void *own;

        assert_int_equal(graph_setup(&own), 0);
        graph_reset(own, 1);
        lose(own, what);
        assert_int_equal(graph_teardown(&own), 0);
    }
}

/* Keeps the stream busy for a while. */
static void delay(const graph_session *t, iso_stream stream)
{
    iso_gemm_args args = unit_gemm(t->s.buffer, 64);

    args.variant = ISO_VARIANT_TILED;
    for (int i = 0; i < DELAYS; i++) {
        works(iso_gemm(stream, &args));
    }
}

/* Records ten doublings of 1, and reads them. */
static iso_graph record_long(const graph_session *t, iso_buffer buffer, float *to)
{
    const iso_map_args args = graph_scale(graph_at(buffer, 0), graph_at(buffer, 0), 2);
    iso_graph graph;

    works(iso_graph_begin(t->s.stream));
    works(iso_fill(t->s.stream, graph_at(buffer, 0), &(uint32_t){0x3f800000}, 4, NUMBERS * 4));
    for (int i = 0; i < 10; i++) {
        works(iso_map(t->s.stream, &args));
    }
    works(iso_read(t->s.stream, to, graph_at(buffer, 0), NUMBERS * 4));
    works(iso_graph_end(t->s.stream, &graph));
    return graph;
}

/* Destroying the graph of a pending launch waits for it, and so does destroying what it uses: also
 * if the graph was launched before on a stream that is gone, whose place another one has. */
static void test_pending(void **state)
{
    graph_session *t = *state;
    static float to[NUMBERS];
    iso_graph graph;
    iso_buffer buffer;

    works(iso_buffer_create(t->s.device, sizeof to, &buffer));
    graph = record_long(t, buffer, to);
    delay(t, t->s.other);
    works(iso_graph_launch(graph, t->s.other));
    works(iso_graph_destroy(graph));
    assert_true(to[NUMBERS - 1] == 1024);
    graph = record_long(t, buffer, to);
    for (int round = 0; round < 3; round++) {
        works(iso_stream_destroy(t->s.other));
        works(iso_stream_create(t->s.device, 0, &t->s.other));
        memset(to, 0, sizeof to);
        delay(t, t->s.other);
        works(iso_graph_launch(graph, t->s.other));
    }
    works(iso_buffer_destroy(buffer));
    assert_true(to[NUMBERS - 1] == 1024);
    works(iso_graph_destroy(graph));
}

/* ---- several streams ------------------------------------------------------------------------- */

typedef struct launcher {
    const graph_session *t;
    iso_graph graph;
    atomic_bool over;
    atomic_int streams; /* that came and went */
} launcher;

static void *launch_often(void *argument)
{
    const launcher *l = argument;
    iso_stream stream;

    if (iso_stream_create(l->t->s.device, 0, &stream)) {
        return NULL;
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (iso_graph_launch(l->graph, stream)) {
            fprintf(stderr, "%s\n", iso_last_error());
            return NULL;
        }
    }
    return iso_stream_destroy(stream) ? NULL : argument;
}

/* Launches run one after another, whatever streams they are on. Each adds 1 to all of A, and A * B
 * to C, where B has ones: launch i adds LONG_K * i. If one lost the other's step, or used the
 * scratch memory while the other did, C would be another sum. */
static void test_threads(void **state)
{
    graph_session *t = *state;
    const int launches = THREADS * ROUNDS + 1;
    launcher l = {.t = t};
    iso_gemm_args product = graph_long_product(t);
    iso_map_args add = ISO_MAP_ARGS_INIT;
    pthread_t thread[THREADS];
    float sums[64];

    graph_reset(t, 1);
    product.beta = 1;
    works(iso_fill(t->s.stream, product.b, &(uint32_t){0x3f800000}, 4, 8 * LONG_K * 4));
    add.op = ISO_MAP_ADD;
    add.dtype = ISO_F32;
    add.n = 8 * LONG_K;
    add.x = add.z = product.a;
    add.y = product.b;
    works(iso_graph_begin(t->s.stream));
    works(iso_map(t->s.stream, &add));
    works(iso_gemm(t->s.stream, &product));
    works(iso_graph_end(t->s.stream, &l.graph));
    works(iso_stream_sync(t->s.stream));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, launch_often, &l), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *done = NULL;

        assert_int_equal(pthread_join(thread[i], &done), 0);
        assert_non_null(done);
    }
    works(iso_graph_launch(l.graph, t->s.stream));
    works(iso_read(t->s.stream, sums, product.c, sizeof sums));
    works(iso_stream_sync(t->s.stream));
    for (int i = 0; i < 64; i++) {
        assert_true(sums[i] == (float)(LONG_K / 2 * launches * (launches + 1)));
    }
    works(iso_graph_destroy(l.graph));
}

/* Uses a vendor's library on many streams, one after another. */
static void *come_and_go(void *argument)
{
    launcher *l = argument;
    iso_gemm_args args = unit_gemm(l->t->big, 8);
    iso_stream stream;

    args.variant = ISO_VARIANT_VENDOR;
    while (!atomic_load(&l->over)) {
        if (iso_stream_create(l->t->s.device, 0, &stream) || iso_gemm(stream, &args) ||
            iso_stream_destroy(stream)) {
            fprintf(stderr, "%s\n", iso_last_error());
            return NULL;
        }
        atomic_fetch_add(&l->streams, 1);
    }
    return argument;
}

/* A library that waits for the whole device in another thread does not spoil a recording. */
static void test_libraries(void **state)
{
    graph_session *t = *state;
    launcher l = {.t = t};
    iso_gemm_args args = unit_gemm(t->big, 8);
    const char *whole = getenv("GRAPH_WHOLE");
    void *done = NULL;
    pthread_t thread;

    args.variant = ISO_VARIANT_VENDOR;
    if (graph_few || iso_supports(t->s.device, ISO_OP_GEMM, &args)) {
        printf("no vendor product: %s\n", iso_last_error());
        return;
    }
    assert_int_equal(pthread_create(&thread, NULL, come_and_go, &l), 0);
    for (int i = 0; i < RECORDINGS || atomic_load(&l.streams) < RECORDINGS; i++) {
        iso_graph_info info = ISO_GRAPH_INFO_INIT;

        works(iso_graph_begin(t->s.stream));
        for (int j = 0; j < MANY; j++) { /* the driver records for a while */
            works(iso_copy(t->s.stream, graph_at(t->s.buffer, 64), graph_at(t->s.buffer, 0), 4));
        }
        works(iso_graph_end(t->s.stream, &l.graph));
        works(iso_graph_get_info(l.graph, &info));
        assert_int_equal(info.whole, !whole || atoi(whole));
        works(iso_graph_destroy(l.graph));
    }
    atomic_store(&l.over, true);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_non_null(done);
}

/* A graph is ordered on its stream like other work, also by events. */
static void test_order(void **state)
{
    graph_session *t = *state;
    iso_graph graph = graph_doubling(&t->s);
    iso_event event;

    graph_reset(t, 1);
    works(iso_event_create(t->s.device, &event));
    for (int i = 1; i <= ROUNDS; i++) {
        const float value = (float)i;
        float got = 0;

        works(iso_write(t->s.stream, graph_at(t->s.buffer, 0), &value, 4));
        works(iso_graph_launch(graph, t->s.stream));
        works(iso_event_record(event, t->s.stream));
        works(iso_stream_wait(t->s.other, event));
        works(iso_read(t->s.other, &got, graph_at(t->s.buffer, NUMBERS), 4));
        works(iso_stream_sync(t->s.other));
        assert_true(got == 2 * value);
        /* The stream of the last launch is gone at the next one. */
        if (i % 5 == 0) {
            works(iso_graph_launch(graph, t->s.other));
            works(iso_stream_destroy(t->s.other));
            works(iso_stream_create(t->s.device, 0, &t->s.other));
        }
    }
    works(iso_event_destroy(event));
    works(iso_graph_destroy(graph));
}

/* On a CPU a graph may be recorded on, and run in, the calling thread. */
static void test_inline(void **state)
{
    graph_session *t = *state;
    iso_stream stream;
    iso_graph graph;
    static graph_result now, plain;

    if (iso_stream_create(t->s.device, ISO_STREAM_INLINE, &stream)) {
        printf("no inline streams: %s\n", iso_last_error());
        return;
    }
    graph_reset(t, 2);
    graph_submit(t, t->s.stream);
    graph_get(t, &plain);
    graph_reset(t, 2);
    works(iso_graph_begin(stream));
    graph_submit(t, stream);
    works(iso_graph_end(stream, &graph));
    works(iso_graph_launch(graph, stream));
    graph_get(t, &now);
    assert_memory_equal(&now, &plain, sizeof now);
    graph_reset(t, 2);
    works(iso_graph_launch(graph, t->s.stream));
    works(iso_graph_launch(graph, stream));
    works(iso_stream_sync(stream));
    graph_reset(t, 2);
    works(iso_graph_launch(graph, stream));
    graph_get(t, &now);
    assert_memory_equal(&now, &plain, sizeof now);
    works(iso_graph_destroy(graph));
    works(iso_stream_destroy(stream));
}

/* A launch on another stream does not report the late error of the last one: the program still gets
 * it, here at the device's end. */
static void test_late(void **state)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_comm_args barrier = ISO_COMM_ARGS_INIT;
    iso_device devices[2];
    iso_comm comm[2];
    unit_session s;
    iso_event failed;
    iso_graph graph;

    (void)state;
    unit_open(&s, "openmp");
    devices[0] = devices[1] = s.device;
    options.engine = "threads";
    options.timeout_nanoseconds = 50000000;
    works(iso_comm_create(devices, 2, &options, comm));
    graph = graph_doubling(&s);
    works(iso_graph_launch(graph, s.stream));
    barrier.op = ISO_COMM_BARRIER;
    works(iso_comm_run(comm[0], s.stream, &barrier)); /* rank 1 does not come */
    works(iso_event_create(s.device, &failed));
    works(iso_event_record(failed, s.stream));
    works(iso_event_sync(failed));
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* the stream knows of it then */
    works(iso_graph_launch(graph, s.other));
    for (int i = 0; i < 2; i++) { /* they would report it too */
        (void)iso_comm_destroy(comm[i]);
    }
    fails(iso_device_close(s.device), ISO_TIMEOUT, "barrier");
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The stand-ins' compiler fails when it is told to: an operation that cannot be prepared is
 * missing, so there is no graph, and the stream is as before. */
static void test_failed(void **state)
{
    graph_session *t = *state;
    iso_map_args args = graph_scale(graph_at(t->s.buffer, 0), graph_at(t->s.buffer, NUMBERS), 2);
    iso_graph graph = {7};

    if (strcmp(graph_spec, "cuda") != 0 && strcmp(graph_spec, "hip") != 0) {
        return;
    }
    works(iso_graph_begin(t->s.stream));
    works(iso_map(t->s.stream, &args));
    args.dtype = ISO_BF16; /* no other test has kept this program */
    args.variant = ISO_VARIANT_NAIVE;
    setenv("FAKE_COMPILE", "fail", 1);
    fails(iso_map(t->s.stream, &args), ISO_COMPILE, "iso_map: ");
    unsetenv("FAKE_COMPILE");
    args.n = -1;
    fails(iso_map(t->s.stream, &args), ISO_INVALID, "n is -1");
    fails(iso_graph_end(t->s.stream, &graph), ISO_COMPILE,
          "iso_graph_end: recording failed: iso_map: ");
    assert_true(graph.id == 0);
    works(iso_stream_sync(t->s.stream));
    works(iso_graph_begin(t->s.stream));
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_destroy(graph));
}

/* The scratch memory counts, and is allocated when recording ends. */
static void test_limit(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    graph_session t = {0};
    iso_gemm_args product;
    int64_t scratch = 0;
    iso_graph graph = {7};

    (void)state;
    options.memory_limit = BIG_BYTES + 16;
    works(iso_device_open_with(graph_spec, &options, &t.s.device));
    works(iso_stream_create(t.s.device, 0, &t.s.stream));
    works(iso_buffer_create(t.s.device, BIG_BYTES, &t.big));
    product = graph_long_product(&t);
    works(iso_workspace(t.s.device, ISO_OP_GEMM, &product, &scratch));
    assert_true(scratch > 16);
    works(iso_graph_begin(t.s.stream));
    works(iso_gemm(t.s.stream, &product));
    fails(iso_graph_end(t.s.stream, &graph), ISO_NO_MEMORY, "iso_graph_end", "memory limit");
    assert_true(graph.id == 0);
    works(iso_device_get_memory_use(t.s.device, &use));
    assert_true(use.used == BIG_BYTES);
    works(iso_fill(t.s.stream, product.c, &(uint32_t){0}, 4, 256));
    works(iso_stream_sync(t.s.stream));
    works(iso_device_close(t.s.device));
}

int graph_use_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abandoned), cmocka_unit_test(test_pending),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_inline),
        cmocka_unit_test(test_failed),
    };
    const struct CMUnitTest alone[] = {cmocka_unit_test(test_late),
                                       cmocka_unit_test(test_destroyed),
                                       cmocka_unit_test(test_limit)};

    return cmocka_run_group_tests_name("use", tests, graph_setup, graph_teardown) +
           cmocka_run_group_tests_name("alone", alone, NULL, NULL);
}
