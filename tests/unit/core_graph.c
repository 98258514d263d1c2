/* SPDX-License-Identifier: Apache-2.0 */
/* core_graph.c - a graph does what its calls would have done, and a stream that records refuses
 * what it cannot record. Takes the device to try; skips if it is not there. */
#include "tests/unit/graph_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 3 };

/* Nothing runs while the stream records, and each launch gives what the calls give. */
static void test_all(void **state)
{
    static graph_result before, now, plain;
    graph_session *t = *state;
    iso_graph graph;

    for (int round = 0; round < LAUNCHES; round++) {
        graph_reset(t, (float)round);
        graph_submit(t, t->s.stream);
        graph_get(t, &plain);
        if (!round) {
            graph_reset(t, 7);
            graph_get(t, &before);
            works(iso_graph_begin(t->s.stream));
            graph_submit(t, t->s.stream);
            works(iso_graph_end(t->s.stream, &graph));
            graph_get(t, &now);
            assert_memory_equal(&now, &before, sizeof now);
        }
        graph_reset(t, (float)round);
        works(iso_graph_launch(graph, t->s.stream));
        graph_get(t, &now);
        assert_memory_equal(&now, &plain, sizeof now);
    }
    works(iso_graph_destroy(graph));
}

static void test_info(void **state)
{
    graph_session *t = *state;
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT, with = ISO_MEMORY_USE_INIT;
    const char *whole = getenv("GRAPH_WHOLE"), *why = getenv("GRAPH_REASON");
    iso_graph graph;

    works(iso_device_get_memory_use(t->s.device, &use));
    works(iso_graph_begin(t->s.stream));
    graph_submit(t, t->s.stream);
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_get_info(graph, &info));
    works(iso_device_get_memory_use(t->s.device, &with));
    assert_int_equal(info.works, graph_few ? WORKS_FEW : WORKS);
    assert_int_equal(info.refused, 0);
    assert_true(info.scratch_bytes > 0);
    assert_true(with.used - use.used == info.scratch_bytes);
    assert_int_equal(info.whole, !whole || atoi(whole));
    assert_int_equal(info.reason[0] != 0, !info.whole);
    assert_non_null(strstr(info.reason, why ? why : ""));
    works(iso_graph_destroy(graph));
    works(iso_device_get_memory_use(t->s.device, &with));
    assert_true(with.used == use.used);
}

/* An empty graph can be launched. */
static void test_empty(void **state)
{
    graph_session *t = *state;
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_graph graph;

    works(iso_graph_begin(t->s.stream));
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_get_info(graph, &info));
    assert_int_equal(info.works, 0);
    works(iso_graph_launch(graph, t->s.stream));
    works(iso_stream_sync(t->s.stream));
    works(iso_graph_destroy(graph));
}

/* A product of a vendor's library, where there is one: the same bits from a launch. */
static void check_vendor(graph_session *t, iso_op_kind kind, const void *args, iso_operand result)
{
    float plain[16], got[16];
    iso_graph graph;

    if (graph_few || iso_supports(t->s.device, kind, args)) {
        printf("no vendor product: %s\n", iso_last_error());
        return;
    }
    graph_reset(t, 1);
    works(iso_write(t->s.stream, graph_at(t->s.buffer, 0), t->in, sizeof t->in));
    works(iso_execute(t->s.stream, kind, args));
    works(iso_read(t->s.stream, plain, result, sizeof plain));
    works(iso_graph_begin(t->s.stream));
    works(iso_execute(t->s.stream, kind, args));
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_fill(t->s.stream, result, &(uint32_t){0}, 4, sizeof got));
    works(iso_graph_launch(graph, t->s.stream));
    works(iso_read(t->s.stream, got, result, sizeof got));
    works(iso_stream_sync(t->s.stream));
    assert_memory_equal(got, plain, sizeof got);
    assert_true(got[0] != 0);
    works(iso_graph_destroy(graph));
}

static void test_vendor(void **state)
{
    graph_session *t = *state;
    iso_gemm_args gemm = unit_gemm(t->s.buffer, 8);

    gemm.variant = t->spmv.variant = ISO_VARIANT_VENDOR;
    gemm.alpha = 0.5;
    check_vendor(t, ISO_OP_GEMM, &gemm, gemm.c);
    t->spmv.x = graph_at(t->s.buffer, 0);
    t->spmv.y = graph_at(t->s.buffer, 64);
    check_vendor(t, ISO_OP_SPMV, &t->spmv, t->spmv.y);
}

/* ---- what cannot be recorded ----------------------------------------------------------------- */

static void refuse_all(graph_session *t, iso_event event, iso_graph other)
{
    const iso_stream stream = t->s.stream;
    const float values[NUMBERS] = {0};
    iso_gemm_args wrong = unit_gemm(t->s.buffer, 8);
    iso_tensor tensor = ISO_TENSOR_INIT;
    void *managed = NULL;

    fails(iso_stream_sync(stream), ISO_INVALID, "iso_stream_sync: the stream records a graph",
          "iso_graph_end");
    fails(iso_stream_sync_timeout(stream, 1000), ISO_INVALID, "records a graph");
    fails(iso_stream_query(stream), ISO_INVALID, "records a graph");
    fails(iso_stream_wait(stream, event), ISO_INVALID, "records a graph");
    fails(iso_event_record(event, stream), ISO_INVALID, "records a graph");
    fails(iso_graph_begin(stream), ISO_INVALID, "records a graph already");
    fails(iso_graph_launch(other, stream), ISO_INVALID, "iso_graph_launch", "records a graph");
    fails(iso_copy_between(stream, graph_at(t->s.buffer, 0), t->s.other, graph_at(t->big, 0), 64,
                           NULL),
          ISO_INVALID, "records a graph");
    fails(iso_copy_between(t->s.other, graph_at(t->s.buffer, 0), stream, graph_at(t->big, 0), 64,
                           NULL),
          ISO_INVALID, "records a graph");
    fails(iso_sparse_write(stream, t->spmv.matrix, values, 16 * 16 * 4), ISO_INVALID,
          "records a graph");
    tensor.buffer = t->s.buffer;
    tensor.dtype = ISO_F32;
    tensor.ndim = 1;
    tensor.shape[0] = 4;
    tensor.strides[0] = 1;
    fails(iso_dlpack_export(stream, (iso_stream){0}, &tensor, &managed), ISO_INVALID,
          "records a graph");
    fails(iso_dlpack_export(t->s.other, stream, &tensor, &managed), ISO_INVALID, "records a graph");
    /* Wrong calls are wrong as always. */
    wrong.lda = 1;
    fails(iso_gemm(stream, &wrong), ISO_INVALID, "lda is 1");
    fails(iso_read(stream, NULL, graph_at(t->s.buffer, 0), 4), ISO_INVALID, "to is NULL");
    fails(iso_launch(stream, t->grow, (iso_groups){1, 1, 1}, NULL, 0), ISO_INVALID, "arguments");
}

/* A launch that the device refuses is refused when it is recorded, and so not part of the graph. */
static void test_refused_launch(void **state)
{
    static const char text[] =
        "ISO_KERNEL(k, 64, 1, 1)(ISO_INOUT(f32) y ISO_EXTENT(64), ISO_SHARED(f32, ISO_AT_LAUNCH) "
        "part)\n{\n    ISO_REGION(i)\n    {\n        part[i] = y[i];\n        y[i] = part[i];\n"
        "    }\n}\n";
    graph_session *t = *state;
    iso_program_args program_args = ISO_PROGRAM_ARGS_INIT;
    const iso_groups one = {1, 1, 1};
    iso_argument args[] = {iso_arg_buffer(graph_at(t->s.buffer, 0)), iso_arg_integer(30000000)};
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_program program;
    iso_kernel kernel;
    iso_graph graph;

    program_args.text = text;
    works(iso_program_create(t->s.device, &program_args, &program));
    works(iso_kernel_get(program, "k", &kernel));
    if (iso_launch(t->s.stream, kernel, one, args, 2) != ISO_UNSUPPORTED) {
        printf("the device has no such limit: %s\n", iso_last_error());
        works(iso_stream_sync(t->s.stream));
        works(iso_program_destroy(program));
        return;
    }
    works(iso_graph_begin(t->s.stream));
    works(iso_fill(t->s.stream, graph_at(t->s.buffer, 0), &(uint32_t){1}, 4, 256));
    fails(iso_launch(t->s.stream, kernel, one, args, 2), ISO_UNSUPPORTED, "shared arrays");
    args[1] = iso_arg_integer(64);
    works(iso_launch(t->s.stream, kernel, one, args, 2));
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_get_info(graph, &info));
    assert_int_equal(info.works, 2);
    assert_int_equal(info.refused, 1);
    works(iso_graph_launch(graph, t->s.stream));
    works(iso_stream_sync(t->s.stream));
    works(iso_graph_destroy(graph));
    works(iso_program_destroy(program));
}

/* None of the refused calls is part of the graph, and none disturbs it. */
static void test_refused(void **state)
{
    graph_session *t = *state;
    const iso_map_args args =
        graph_scale(graph_at(t->s.buffer, 0), graph_at(t->s.buffer, NUMBERS), 2);
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_graph graph, other = graph_doubling(&t->s);
    iso_event event;

    graph_reset(t, 0);
    works(iso_event_create(t->s.device, &event));
    works(iso_event_record(event, t->s.other));
    works(iso_graph_begin(t->s.stream));
    refuse_all(t, event, other);
    works(iso_map(t->s.stream, &args));
    works(iso_prepare(t->s.stream, ISO_OP_MAP, &args));
    refuse_all(t, event, other);
    works(iso_graph_end(t->s.stream, &graph));
    works(iso_graph_get_info(graph, &info));
    assert_int_equal(info.works, 1);
    graph_set(&t->s, t->s.buffer, 3, 5);
    works(iso_graph_launch(graph, t->s.stream));
    assert_true(graph_number(&t->s, t->s.buffer, NUMBERS + 3) == 10);
    works(iso_event_sync(event));
    works(iso_event_destroy(event));
    works(iso_graph_destroy(graph));
    works(iso_graph_destroy(other));
}

/* Calls of communicators are refused before they begin, so no rank waits for them. */
static void test_ranks(void **state)
{
    graph_session *t = *state;
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    iso_gemm_grid_args product = ISO_GEMM_GRID_ARGS_INIT;
    iso_comm comm;
    iso_grid grid;

    options.engine = "threads";
    works(iso_comm_create(&t->s.device, 1, &options, &comm));
    works(iso_grid_create(comm, 1, 1, &grid));
    args.op = ISO_COMM_BARRIER;
    product.dtype = ISO_F32;
    product.block_m = product.block_n = product.block_k = 1;
    works(iso_graph_begin(t->s.stream));
    fails(iso_comm_run(comm, t->s.stream, &args), ISO_INVALID, "iso_comm_run", "records a graph");
    fails(iso_gemm_grid(grid, t->s.stream, &product), ISO_INVALID, "iso_gemm_grid",
          "records a graph");
    works(iso_graph_end(t->s.stream, NULL));
    works(iso_comm_run(comm, t->s.stream, &args));
    works(iso_gemm_grid(grid, t->s.stream, &product));
    works(iso_stream_sync(t->s.stream));
    works(iso_grid_destroy(grid));
    works(iso_comm_destroy(comm));
}

static void test_wrong(void **state)
{
    graph_session *t = *state;
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_graph graph = {7}, gone;
    iso_device second;
    iso_stream far;

    fails(iso_graph_begin((iso_stream){0}), ISO_INVALID, "stream is zero");
    fails(iso_graph_end((iso_stream){0}, &graph), ISO_INVALID, "stream is zero");
    fails(iso_graph_end(t->s.stream, &graph), ISO_INVALID, "does not record", "iso_graph_begin");
    assert_true(graph.id == 0);
    fails(iso_graph_end(t->s.stream, NULL), ISO_INVALID, "does not record");
    works(iso_graph_begin(t->s.stream));
    works(iso_graph_end(t->s.stream, NULL));
    works(iso_stream_sync(t->s.stream));
    graph = graph_doubling(&t->s);
    fails(iso_graph_launch((iso_graph){0}, t->s.stream), ISO_INVALID, "graph is zero", "a graph");
    fails(iso_graph_launch(graph, (iso_stream){graph.id}), ISO_INVALID, "is a graph, not a stream");
    fails(iso_graph_get_info(graph, NULL), ISO_INVALID, "out is NULL");
    fails(iso_graph_get_info((iso_graph){1}, &info), ISO_INVALID, "not a handle");
    fails(iso_graph_destroy((iso_graph){0}), ISO_INVALID, "graph is zero");
    works(iso_device_open(graph_spec, &second));
    works(iso_stream_create(second, 0, &far));
    fails(iso_graph_launch(graph, far), ISO_MISMATCH, "graph belongs to another device");
    works(iso_device_close(second));
    gone = graph;
    works(iso_graph_destroy(graph));
    fails(iso_graph_launch(gone, t->s.stream), ISO_INVALID, "a graph that was destroyed");
    fails(iso_graph_destroy(gone), ISO_INVALID, "a graph that was destroyed");
    fails(iso_graph_get_info(gone, &info), ISO_INVALID, "a graph that was destroyed");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),     cmocka_unit_test(test_info),
        cmocka_unit_test(test_empty),   cmocka_unit_test(test_vendor),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_refused_launch),
    };
    iso_device device;

    graph_spec = argc > 1 ? argv[1] : graph_spec;
    graph_few = getenv("GRAPH_FEW") != NULL;
    if (iso_device_open(graph_spec, &device)) {
        printf("skipped: %s: %s\n", graph_spec, iso_last_error());
        return 77;
    }
    works(iso_device_close(device));
    return cmocka_run_group_tests(tests, graph_setup, graph_teardown) + graph_use_run() != 0;
}
