/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a plug-in that fails when it is probed, opened or used: each failure has its status and
 * text, and later calls work. */
#include "tests/faults/faults.h"

#include <string.h>

/* Switches back to a working plug-in; it and other backends must compute. */
static int after(void **state)
{
    (void)state;
    faults_set(NULL);
    faults_computes("fault");
    faults_computes("reference");
    faults_computes("openmp");
    return 0;
}

/* This test is first, because a backend whose probe succeeded is not probed again. One whose probe
 * failed is: the cause may be gone. */
static void test_probe_fails(void **state)
{
    (void)state;
    iso_device device = {1};
    faults_set("probe-fails");
    faults_expect(iso_device_open("fault", &device), ISO_UNAVAILABLE,
                  "faultInit answered 3 (NOT_INITIALIZED)");
    assert_int_equal(device.id, 0);
    faults_expect(iso_device_open("fault:0", &device), ISO_UNAVAILABLE, "faultInit");
    faults_works(iso_device_open("fault,reference", &device));
    faults_works(iso_device_close(device));

    faults_set("no-device");
    device.id = 1;
    faults_expect(iso_device_open("fault", &device), ISO_UNAVAILABLE,
                  "faultDeviceCount answered 0");
    faults_expect_error(ISO_UNAVAILABLE, (const char *const[]){"no device", NULL});
    assert_int_equal(device.id, 0);
}

static void test_open_fails(void **state)
{
    (void)state;
    iso_device device = {1};
    faults_set("open-fails");
    faults_expect(iso_device_open("fault", &device), ISO_BACKEND, "faultOpen answered 4 (BUSY)");
    assert_int_equal(device.id, 0);
}

static void test_stream_fails(void **state)
{
    (void)state;
    faults_session s;
    iso_stream stream = {1};
    faults_open(&s, "fault");
    faults_set("stream-fails");
    faults_expect(iso_stream_create(s.device, 0, &stream), ISO_BACKEND,
                  "faultStreamCreate answered 5 (LIMIT)");
    assert_int_equal(stream.id, 0);
    faults_set(NULL);
    faults_works(iso_stream_create(s.device, 0, &stream));
    faults_close(&s);
}

/* A backend without an operation reports that in advance, and everything else of it works. */
static void test_operation_absent(void **state)
{
    (void)state;
    faults_session s;
    iso_op_info info = ISO_OP_INFO_INIT;
    int64_t bytes = -1;
    static const char words[] = "there are no products here";

    faults_set("no-gemm");
    faults_open(&s, "fault");
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    const iso_reduce_args sum = faults_sum(s.buffer);
    faults_expect(iso_supports(s.device, ISO_OP_GEMM, &gemm), ISO_UNSUPPORTED, words);
    faults_expect(iso_gemm(s.stream, &gemm), ISO_UNSUPPORTED, words);
    faults_expect(iso_execute(s.stream, ISO_OP_GEMM, &gemm), ISO_UNSUPPORTED, words);
    faults_expect(iso_describe(s.device, ISO_OP_GEMM, &gemm, &info), ISO_UNSUPPORTED, words);
    faults_expect(iso_prepare(s.stream, ISO_OP_GEMM, &gemm), ISO_UNSUPPORTED, words);
    faults_expect(iso_workspace(s.device, ISO_OP_GEMM, &gemm, &bytes), ISO_UNSUPPORTED, words);
    assert_int_equal(bytes, -1);
    faults_works(iso_supports(s.device, ISO_OP_REDUCE, &sum));
    faults_works(iso_reduce(s.stream, &sum));
    faults_works(iso_stream_sync(s.stream));
    faults_close(&s);
}

/* With `fault`, a product immediately returns this status and text. Without it, the same stream
 * continues to work. */
static void product_fails(const char *fault, iso_status status, const char *word)
{
    faults_session s;
    faults_open(&s, "fault");
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    faults_set(fault);
    faults_expect(iso_gemm(s.stream, &gemm), status, word);
    faults_expect_error(status, (const char *const[]){"iso_gemm", "fault", NULL});
    faults_set(NULL);
    faults_works(iso_gemm(s.stream, &gemm));
    faults_works(iso_stream_sync(s.stream));
    faults_close(&s);
}

static void test_execute_fails(void **state)
{
    (void)state;
    product_fails("execute-fails", ISO_BACKEND, "faultLaunch answered 6 (BAD_KERNEL)");
}

/* The caller may rely on iso_supports: if execute contradicts it, the backend is blamed, not the
 * caller. */
static void test_unsupported_too_late(void **state)
{
    (void)state;
    product_fails("unsupported", ISO_INTERNAL, "on second thoughts, no");
}

static void test_no_words(void **state)
{
    (void)state;
    product_fails("no-words", ISO_BACKEND, "BACKEND");
}

static void test_odd_status(void **state)
{
    (void)state;
    product_fails("odd-status", ISO_INTERNAL, "77");
}

/* Scratch memory counts towards the limit like any other. */
static void test_huge_workspace(void **state)
{
    (void)state;
    faults_session s;
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    options.memory_limit = 12345;
    faults_works(iso_device_open_with("fault", &options, &s.device));
    faults_works(iso_stream_create(s.device, 0, &s.stream));
    faults_works(iso_buffer_create(s.device, FAULTS_BYTES, &s.buffer));
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    faults_set("huge-workspace");
    faults_expect(iso_gemm(s.stream, &gemm), ISO_NO_MEMORY, "1152921504606846976");
    faults_expect_error(ISO_NO_MEMORY, (const char *const[]){"iso_gemm", "12345", "64", NULL});
    faults_expect(iso_prepare(s.stream, ISO_OP_GEMM, &gemm), ISO_NO_MEMORY, "12345");
    faults_set(NULL);
    faults_works(iso_gemm(s.stream, &gemm));
    faults_works(iso_stream_sync(s.stream));
    faults_close(&s);
}

/* Work that never finishes: waiting with a timeout returns, and a query returns NOT_READY without
 * changing the last error. */
static void test_never_ready(void **state)
{
    (void)state;
    faults_session s;
    iso_event event, second;
    int64_t nanoseconds = 77;

    faults_open(&s, "fault");
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    faults_works(iso_event_create(s.device, &event));
    faults_works(iso_event_create(s.device, &second));
    faults_works(iso_gemm(s.stream, &gemm));
    faults_works(iso_event_record(event, s.stream));
    faults_works(iso_event_record(second, s.stream));
    faults_set("never-ready");
    iso_clear_error();
    assert_int_equal(iso_stream_query(s.stream), ISO_NOT_READY);
    assert_int_equal(iso_event_query(event), ISO_NOT_READY);
    assert_string_equal(iso_last_error(), "");
    assert_int_equal(iso_last_status(), ISO_OK);
    faults_expect(iso_stream_sync_timeout(s.stream, 3000000), ISO_TIMEOUT, "3000000");
    faults_expect(iso_stream_sync_timeout(s.stream, 0), ISO_TIMEOUT, "0");
    assert_int_equal(iso_event_elapsed(event, second, &nanoseconds), ISO_NOT_READY);
    assert_int_equal(nanoseconds, 77);
    faults_set(NULL);
    faults_works(iso_stream_sync_timeout(s.stream, 0));
    faults_works(iso_stream_query(s.stream));
    faults_works(iso_event_elapsed(event, second, &nanoseconds));
    assert_true(nanoseconds >= 0);
    faults_close(&s);
}

static void test_wrong_result_is_there(void **state)
{
    (void)state;
    static const float input[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float expected[4] = {19, 22, 43, 50};
    float output[4] = {0};
    faults_session s;

    faults_open(&s, "fault");
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    faults_set("wrong-result");
    faults_works(iso_write(s.stream, (iso_operand){s.buffer, 0}, input, sizeof(input)));
    faults_works(iso_gemm(s.stream, &gemm));
    faults_works(iso_read(s.stream, output, (iso_operand){s.buffer, 32}, sizeof(output)));
    faults_works(iso_stream_sync(s.stream));
    assert_memory_not_equal(output, expected, sizeof(float));
    assert_memory_equal(output + 1, expected + 1, 3 * sizeof(float));
    faults_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_probe_fails, after),
        cmocka_unit_test_teardown(test_open_fails, after),
        cmocka_unit_test_teardown(test_stream_fails, after),
        cmocka_unit_test_teardown(test_operation_absent, after),
        cmocka_unit_test_teardown(test_execute_fails, after),
        cmocka_unit_test_teardown(test_unsupported_too_late, after),
        cmocka_unit_test_teardown(test_no_words, after),
        cmocka_unit_test_teardown(test_odd_status, after),
        cmocka_unit_test_teardown(test_huge_workspace, after),
        cmocka_unit_test_teardown(test_never_ready, after),
        cmocka_unit_test_teardown(test_wrong_result_is_there, after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
