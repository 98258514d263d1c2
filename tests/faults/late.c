/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - work that fails after it was accepted: the error stays with its stream and affects
 * nothing else. */
#include "tests/faults/faults.h"

#include <string.h>

static const char backend_words[] = "faultSync answered 7 (LAUNCH_FAILED)";
static const char lost_words[] = "faultSync answered 9 (GONE)";

static int after(void **state)
{
    (void)state;
    faults_set(NULL);
    faults_computes("fault");
    faults_computes("reference");
    return 0;
}

/* A stream whose product was accepted and then failed. */
static void open_broken(faults_session *s, const char *fault)
{
    faults_open(s, "fault");
    const iso_gemm_args gemm = faults_gemm(s->buffer);
    faults_set(fault);
    faults_works(iso_gemm(s->stream, &gemm));
    faults_set(NULL);
}

/* Every call with a failed stream returns its error, whatever the call and however often. */
static void expect_broken(const faults_session *s, iso_status status, const char *words)
{
    const iso_gemm_args gemm = faults_gemm(s->buffer);
    const iso_reduce_args sum = faults_sum(s->buffer);
    const iso_operand start = {s->buffer, 0};
    char bytes[16] = "untouched";
    iso_event event;

    faults_works(iso_event_create(s->device, &event));
    for (int again = 0; again < 2; again++) {
        faults_expect(iso_stream_sync(s->stream), status, words);
        faults_expect(iso_stream_sync_timeout(s->stream, 1000000), status, words);
        faults_expect(iso_stream_query(s->stream), status, words);
        faults_expect(iso_gemm(s->stream, &gemm), status, words);
        faults_expect(iso_reduce(s->stream, &sum), status, words);
        faults_expect(iso_prepare(s->stream, ISO_OP_GEMM, &gemm), status, words);
        faults_expect(iso_write(s->stream, start, bytes, 16), status, words);
        faults_expect(iso_read(s->stream, bytes, start, 16), status, words);
        faults_expect(iso_fill(s->stream, start, "x", 1, 16), status, words);
        faults_expect(iso_copy(s->stream, start, (iso_operand){s->buffer, 32}, 16), status, words);
        faults_expect(iso_event_record(event, s->stream), status, words);
        faults_expect(iso_stream_wait(s->stream, event), status, words);
    }
    assert_string_equal(bytes, "untouched");
    faults_works(iso_event_destroy(event));
}

static void test_late_error_sticks(void **state)
{
    (void)state;
    faults_session s;
    open_broken(&s, "late-error");
    expect_broken(&s, ISO_BACKEND, backend_words);
    faults_expect(iso_stream_destroy(s.stream), ISO_BACKEND, backend_words);
    /* It is gone nevertheless, and its error has been reported: closing has nothing to report. */
    faults_expect(iso_stream_sync(s.stream), ISO_INVALID, "stream");
    faults_works(iso_device_close(s.device));
}

static void test_device_lost_sticks(void **state)
{
    (void)state;
    faults_session s;
    open_broken(&s, "device-lost");
    expect_broken(&s, ISO_DEVICE_LOST, lost_words);
    faults_expect(iso_stream_destroy(s.stream), ISO_DEVICE_LOST, lost_words);
    faults_works(iso_device_close(s.device));
}

/* All later calls return the same as the first. */
static void test_destroy_is_the_first_to_tell(void **state)
{
    (void)state;
    faults_session s;
    open_broken(&s, "late-error");
    faults_expect(iso_stream_destroy(s.stream), ISO_BACKEND, backend_words);
    faults_works(iso_device_close(s.device));
}

/* An error that no call has returned yet is returned by closing the device, which still closes. */
static void test_close_tells(void **state)
{
    (void)state;
    faults_session s;
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    open_broken(&s, "late-error");
    faults_expect(iso_device_close(s.device), ISO_BACKEND, backend_words);
    faults_expect(iso_buffer_get_info(s.buffer, &info), ISO_INVALID, "buffer");
    faults_expect(iso_device_close(s.device), ISO_INVALID, "device");
}

static void test_other_streams_go_on(void **state)
{
    (void)state;
    faults_session s;
    iso_stream other;
    iso_buffer buffer;
    static const float input[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float expected[4] = {19, 22, 43, 50};
    float output[4] = {0};

    open_broken(&s, "late-error");
    faults_expect(iso_stream_sync(s.stream), ISO_BACKEND, backend_words);
    faults_works(iso_stream_create(s.device, 0, &other));
    faults_works(iso_buffer_create(s.device, FAULTS_BYTES, &buffer));
    const iso_gemm_args gemm = faults_gemm(buffer);
    faults_works(iso_write(other, (iso_operand){buffer, 0}, input, sizeof(input)));
    faults_works(iso_gemm(other, &gemm));
    faults_works(iso_read(other, output, (iso_operand){buffer, 32}, sizeof(output)));
    faults_works(iso_stream_sync(other));
    assert_memory_equal(output, expected, sizeof(expected));
    faults_expect(iso_stream_query(s.stream), ISO_BACKEND, backend_words);
    faults_works(iso_stream_destroy(other));
    faults_works(iso_buffer_destroy(buffer));
    faults_works(iso_buffer_destroy(s.buffer));
    faults_works(iso_device_close(s.device));
}

/* An event recorded before or after the failed work still completes. */
static void test_events_complete(void **state)
{
    (void)state;
    faults_session s;
    iso_event before, behind;
    int64_t nanoseconds = -1;

    faults_open(&s, "fault");
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    faults_works(iso_event_create(s.device, &before));
    faults_works(iso_event_create(s.device, &behind));
    faults_works(iso_event_record(before, s.stream));
    faults_set("late-error");
    faults_works(iso_gemm(s.stream, &gemm));
    faults_set(NULL);
    faults_works(iso_event_record(behind, s.stream));
    faults_works(iso_event_sync(behind));
    faults_works(iso_event_query(before));
    faults_works(iso_event_elapsed(before, behind, &nanoseconds));
    assert_true(nanoseconds >= 0);
    faults_expect(iso_stream_sync(s.stream), ISO_BACKEND, backend_words);
    faults_works(iso_device_close(s.device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_late_error_sticks, after),
        cmocka_unit_test_teardown(test_device_lost_sticks, after),
        cmocka_unit_test_teardown(test_destroy_is_the_first_to_tell, after),
        cmocka_unit_test_teardown(test_close_tells, after),
        cmocka_unit_test_teardown(test_other_streams_go_on, after),
        cmocka_unit_test_teardown(test_events_complete, after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
