/* SPDX-License-Identifier: Apache-2.0 */
/* core_events.c - events, waits, timeouts. */
#include "tests/unit/unit.h"

static void test_states(void **state)
{
    iso_event start, stop;
    int64_t time = -1, back = 1;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_event_create(s.device, &start));
    works(iso_event_create(s.device, &stop));
    iso_clear_error();
    assert_int_equal(iso_event_query(start), ISO_NOT_READY);
    assert_string_equal(iso_last_error(), "");
    fails(iso_event_sync(start), ISO_NOT_READY, "iso_event_sync", "never recorded");
    works(iso_stream_wait(s.stream, start)); /* nothing recorded: no wait */
    works(iso_event_record(start, s.stream));
    works(iso_event_sync(start));
    fails(iso_event_elapsed(start, stop, &time), ISO_NOT_READY, "stop", "never recorded");
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, "a", 1, UNIT_BYTES));
    works(iso_event_record(stop, s.stream));
    works(iso_stream_wait(s.other, stop));
    works(iso_stream_sync(s.other));
    works(iso_event_query(start));
    works(iso_event_sync(stop));
    works(iso_event_elapsed(start, stop, &time));
    works(iso_event_elapsed(stop, start, &back));
    assert_true(time >= 0);
    assert_int_equal(back, -time);
    works(iso_event_destroy(start));
    works(iso_event_destroy(stop));
    unit_close(&s);
}

/* An event is destroyed while another stream still has a wait for it queued. */
static void test_destroyed_early(void **state)
{
    uint32_t got[1024];
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    for (uint32_t i = 0; i < 50; i++) {
        iso_event event;

        works(iso_event_create(s.device, &event));
        works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, &i, 4, 4096));
        works(iso_event_record(event, s.stream));
        works(iso_stream_wait(s.other, event));
        works(iso_event_destroy(event));
        works(iso_read(s.other, got, (iso_operand){s.buffer, 0}, 4096));
        works(iso_stream_sync(s.other));
        assert_int_equal(got[0], i);
        assert_int_equal(got[1023], i);
    }
    unit_close(&s);
}

static void test_query_and_timeout(void **state)
{
    iso_status status;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_stream_sync_timeout(s.stream, 0));
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, "a", 1, UNIT_BYTES));
    iso_clear_error();
    do {
        status = iso_stream_query(s.stream);
        assert_true(status == ISO_OK || status == ISO_NOT_READY);
        assert_string_equal(iso_last_error(), "");
    } while (status == ISO_NOT_READY);
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, "a", 1, UNIT_BYTES));
    works(iso_stream_sync_timeout(s.stream, INT64_MAX));
    unit_close(&s);
}

/* Destroying waits for the work that uses the object. */
static void test_destroy_waits(void **state)
{
    enum { N = 200 };
    iso_buffer buffer;
    iso_gemm_args args;
    float *result = NULL;
    unit_session s;
    void *block;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_host_alloc(s.device, N * N * 4, &block, NULL));
    result = block;
    works(iso_buffer_create(s.device, N * N * 12, &buffer));
    works(iso_fill(s.stream, (iso_operand){buffer, 0}, &(float){1.0f}, 4, N * N * 8));
    args = unit_gemm(buffer, N);
    args.variant = ISO_VARIANT_NAIVE;
    for (int i = 0; i < 5; i++) {
        works(iso_gemm(s.stream, &args));
    }
    works(iso_read(s.stream, result, args.c, N * N * 4));
    works(iso_buffer_destroy(buffer));
    assert_true(result[0] == (float)N && result[N * N - 1] == (float)N);
    unit_close(&s);
}

/* More streams than a buffer can track separately. */
static void test_many_streams(void **state)
{
    enum { MANY = 90 };
    iso_stream streams[MANY];
    unsigned char got[MANY];
    iso_buffer buffer;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_buffer_create(s.device, MANY, &buffer));
    for (int i = 0; i < MANY; i++) {
        unsigned char value = (unsigned char)i;

        works(iso_stream_create(s.device, i % 9 ? ISO_STREAM_INLINE : 0, &streams[i]));
        works(iso_fill(streams[i], (iso_operand){buffer, i}, &value, 1, 1));
    }
    for (int i = 0; i < MANY; i++) {
        works(iso_stream_destroy(streams[i]));
    }
    works(iso_read(s.stream, got, (iso_operand){buffer, 0}, MANY));
    works(iso_buffer_destroy(buffer));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(got[i], i);
    }
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_destroyed_early),
        cmocka_unit_test(test_query_and_timeout),
        cmocka_unit_test(test_destroy_waits),
        cmocka_unit_test(test_many_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
