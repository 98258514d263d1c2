/* SPDX-License-Identifier: Apache-2.0 */
/* core_late.c - an error after work was accepted stays with its stream. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static iso_event event;

/* A session whose first stream has failed; the error has not been reported yet. */
static void open_failed(unit_session *s, const char *fault)
{
    iso_reduce_args args;

    unsetenv("ISOMER_FAULT");
    unit_open(s, "fault");
    works(iso_event_create(s->device, &event));
    args = unit_sum(s->buffer, 100);
    setenv("ISOMER_FAULT", fault, 1);
    works(iso_reduce(s->stream, &args));
    unsetenv("ISOMER_FAULT");
}

static void test_sticks(void **state)
{
    iso_gemm_args args;
    unit_session s;
    float host[4];

    (void)state;
    open_failed(&s, "late-error");
    args = unit_gemm(s.buffer, 4);
    fails(iso_stream_sync(s.stream), ISO_BACKEND, "iso_stream_sync", "fault", "LAUNCH_FAILED");
    for (int i = 0; i < 2; i++) {
        fails(iso_stream_sync(s.stream), ISO_BACKEND, "has failed", "LAUNCH_FAILED");
        fails(iso_stream_query(s.stream), ISO_BACKEND, "iso_stream_query", "LAUNCH_FAILED");
        fails(iso_stream_sync_timeout(s.stream, 1000), ISO_BACKEND, "LAUNCH_FAILED");
        fails(iso_gemm(s.stream, &args), ISO_BACKEND, "iso_gemm", "LAUNCH_FAILED");
        fails(iso_prepare(s.stream, ISO_OP_GEMM, &args), ISO_BACKEND, "iso_prepare");
        fails(iso_read(s.stream, host, args.a, 16), ISO_BACKEND, "iso_read", "LAUNCH_FAILED");
        fails(iso_event_record(event, s.stream), ISO_BACKEND, "iso_event_record");
    }
    args.lda = 1; /* wrong calls are still reported as wrong */
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "lda is 1");
    works(iso_read(s.other, host, args.a, 16)); /* other streams continue */
    works(iso_stream_sync(s.other));
    fails(iso_stream_destroy(s.stream), ISO_BACKEND, "iso_stream_destroy", "LAUNCH_FAILED");
    fails(iso_stream_sync(s.stream), ISO_INVALID, "was destroyed");
    works(iso_device_close(s.device));
}

/* Closing reports only errors that have not been reported before. */
static void test_close_tells(void **state)
{
    unit_session s;

    (void)state;
    open_failed(&s, "late-error");
    fails(iso_device_close(s.device), ISO_BACKEND, "iso_device_close", "LAUNCH_FAILED");
    fails(iso_stream_sync(s.stream), ISO_INVALID, "was destroyed");
    open_failed(&s, "late-error");
    fails(iso_stream_query(s.stream), ISO_BACKEND, "LAUNCH_FAILED");
    works(iso_device_close(s.device));
}

/* Destroying a buffer waits for the stream, and leaves its error to be reported by calls on the
 * stream. */
static void test_quiet_waits(void **state)
{
    unit_session s;

    (void)state;
    open_failed(&s, "device-lost");
    iso_clear_error();
    works(iso_buffer_destroy(s.buffer));
    assert_string_equal(iso_last_error(), "");
    fails(iso_stream_sync(s.stream), ISO_DEVICE_LOST, "GONE");
    works(iso_device_close(s.device));
    unit_open(&s, "fault"); /* and opens again */
    unit_close(&s);
}

/* A plug-in without graphs: the work is submitted in turn, its failures are those of the launch,
 * and a late error is the stream's. A launch on another stream does not wait for ever for the
 * failed one. */
static void test_graph(void **state)
{
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_reduce_args args;
    iso_graph graph;
    unit_session s;

    (void)state;
    unit_open(&s, "fault");
    args = unit_sum(s.buffer, 100);
    works(iso_graph_begin(s.stream));
    works(iso_reduce(s.stream, &args));
    works(iso_graph_end(s.stream, &graph));
    works(iso_graph_get_info(graph, &info));
    assert_int_equal(info.whole, 0);
    assert_string_equal(info.reason, "fault: graphs only fail here");
    setenv("ISOMER_FAULT", "execute-fails", 1);
    fails(iso_graph_launch(graph, s.stream), ISO_BACKEND,
          "iso_graph_launch: fault: ", "BAD_KERNEL");
    setenv("ISOMER_FAULT", "late-error", 1);
    works(iso_graph_launch(graph, s.stream));
    unsetenv("ISOMER_FAULT");
    works(iso_graph_begin(s.stream));
    works(iso_graph_end(s.stream, NULL));
    iso_clear_error();
    works(iso_graph_launch(graph, s.other));
    works(iso_stream_sync(s.other));
    fails(iso_stream_sync(s.stream), ISO_BACKEND, "LAUNCH_FAILED");
    fails(iso_graph_launch(graph, s.stream), ISO_BACKEND, "iso_graph_launch", "has failed");
    fails(iso_graph_begin(s.stream), ISO_BACKEND, "iso_graph_begin", "has failed");
    iso_clear_error();
    works(iso_graph_launch(graph, s.other)); /* after a stream that is known to have failed */
    assert_string_equal(iso_last_error(), "");
    works(iso_stream_sync(s.other));
    works(iso_graph_destroy(graph));
    works(iso_device_close(s.device));
}

static iso_graph record_sum(const unit_session *s)
{
    const iso_reduce_args args = unit_sum(s->buffer, 100);
    iso_graph graph;

    works(iso_graph_begin(s->stream));
    works(iso_reduce(s->stream, &args));
    works(iso_graph_end(s->stream, &graph));
    return graph;
}

/* A backend's graph that cannot be made: the work is submitted in turn, or the call fails. */
static void test_faulty_graph(void **state)
{
    static const char *const kinds[][2] = {{"graph-begin", "SHUT"}, {"graph-end", "TORN"}};
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_graph graph = {7};
    unit_session s;

    (void)state;
    unsetenv("ISOMER_FAULT");
    unit_open(&s, "fault");
    setenv("ISOMER_FAULT", "graph-open", 1);
    fails(iso_graph_begin(s.stream), ISO_BACKEND, "iso_graph_begin: fault: ", "FULL");
    fails(iso_graph_end(s.stream, &graph), ISO_INVALID, "does not record");
    for (int i = 0; i < 2; i++) {
        setenv("ISOMER_FAULT", kinds[i][0], 1);
        iso_clear_error();
        graph = record_sum(&s);
        assert_string_equal(iso_last_error(), "");
        works(iso_graph_get_info(graph, &info));
        assert_int_equal(info.whole, 0);
        assert_non_null(strstr(info.reason, kinds[i][1]));
        works(iso_graph_launch(graph, s.stream));
        works(iso_graph_destroy(graph));
    }
    setenv("ISOMER_FAULT", "graph-memory", 1);
    works(iso_graph_begin(s.stream));
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, "1234", 4, 64));
    fails(iso_graph_end(s.stream, &graph), ISO_NO_MEMORY, "iso_graph_end: fault: ", "the graph");
    unsetenv("ISOMER_FAULT");
    works(iso_graph_destroy(record_sum(&s)));
    works(iso_stream_sync(s.stream));
    works(iso_device_close(s.device));
}

/* A stream that fails while it records has no graph to give. */
static void test_recording(void **state)
{
    iso_graph graph = {7};
    iso_reduce_args args;
    unit_session s;

    (void)state;
    open_failed(&s, "late-error");
    args = unit_sum(s.buffer, 100);
    works(iso_graph_begin(s.stream)); /* nobody knows yet */
    works(iso_reduce(s.stream, &args));
    works(iso_buffer_destroy(s.buffer)); /* waits for the stream */
    fails(iso_graph_end(s.stream, &graph), ISO_BACKEND, "iso_graph_end", "has failed",
          "LAUNCH_FAILED");
    assert_true(graph.id == 0);
    fails(iso_graph_end(s.stream, &graph), ISO_INVALID, "does not record");
    works(iso_device_close(s.device));
}

/* A submission that fails without a late error leaves the stream unchanged. */
static void test_refused(void **state)
{
    iso_gemm_args args;
    unit_session s;

    (void)state;
    unit_open(&s, "fault");
    args = unit_gemm(s.buffer, 4);
    setenv("ISOMER_FAULT", "execute-fails", 1);
    fails(iso_gemm(s.stream, &args), ISO_BACKEND, "iso_gemm: fault: ", "BAD_KERNEL");
    setenv("ISOMER_FAULT", "unsupported", 1);
    fails(iso_gemm(s.stream, &args), ISO_INTERNAL, "UNSUPPORTED", "said it supports",
          "on second thoughts");
    setenv("ISOMER_FAULT", "odd-status", 1);
    fails(iso_gemm(s.stream, &args), ISO_INTERNAL, "77", "not a status");
    setenv("ISOMER_FAULT", "no-words", 1);
    fails(iso_gemm(s.stream, &args), ISO_BACKEND, "fault", "without a reason");
    setenv("ISOMER_FAULT", "huge-workspace", 1);
    fails(iso_gemm(s.stream, &args), ISO_NO_MEMORY, "iso_gemm");
    unsetenv("ISOMER_FAULT");
    works(iso_gemm(s.stream, &args));
    works(iso_stream_sync(s.stream));
    unit_close(&s);
}

static void test_timeout(void **state)
{
    unit_session s;

    (void)state;
    unit_open(&s, "fault");
    setenv("ISOMER_FAULT", "never-ready", 1);
    fails(iso_stream_sync_timeout(s.stream, 3000000), ISO_TIMEOUT, "3000000 nanoseconds");
    fails(iso_stream_sync_timeout(s.stream, 0), ISO_TIMEOUT, "0 nanoseconds");
    iso_clear_error();
    assert_int_equal(iso_stream_query(s.stream), ISO_NOT_READY);
    assert_string_equal(iso_last_error(), "");
    unsetenv("ISOMER_FAULT");
    works(iso_stream_sync_timeout(s.stream, 0));
    unit_close(&s);
}

/* A copy between two backends goes through host memory. */
static void test_staged(void **state)
{
    enum { BYTES = 9 << 20 };
    iso_buffer here, there;
    unsigned char got[4];
    iso_path path;
    unit_session s, t;

    (void)state;
    unit_open(&s, "fault");
    unit_open(&t, "openmp");
    works(iso_buffer_create(s.device, BYTES + 8, &here));
    works(iso_buffer_create(t.device, BYTES, &there));
    works(iso_fill(t.stream, (iso_operand){there, 0}, "abcd", 4, BYTES));
    works(iso_copy_between(s.stream, (iso_operand){here, 8}, t.stream, (iso_operand){there, 0},
                           BYTES, &path));
    assert_int_equal(path, ISO_PATH_STAGED);
    works(iso_read(s.stream, got, (iso_operand){here, BYTES + 4}, 4));
    works(iso_stream_sync(s.stream));
    assert_memory_equal(got, "abcd", 4);
    unit_close(&s);
    unit_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sticks),      cmocka_unit_test(test_close_tells),
        cmocka_unit_test(test_quiet_waits), cmocka_unit_test(test_graph),
        cmocka_unit_test(test_recording),   cmocka_unit_test(test_faulty_graph),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_staged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
