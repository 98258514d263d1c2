/* SPDX-License-Identifier: Apache-2.0 */
/* core_handles.c - zero, stale, foreign and wrong handles, and the effect of closing a device on
 * its handles. */
#include "tests/unit/unit.h"

#include <stdlib.h>

static void test_zero(void **state)
{
    iso_device device = {0};
    iso_stream stream = {0};
    iso_event event = {0};
    iso_buffer buffer = {0};

    (void)state;
    fails(iso_device_close(device), ISO_INVALID, "device", "zero", "not a handle");
    fails(iso_stream_create(device, 0, &stream), ISO_INVALID, "device", "zero");
    fails(iso_stream_sync(stream), ISO_INVALID, "stream", "zero", "not a handle");
    fails(iso_stream_destroy(stream), ISO_INVALID, "stream", "zero");
    fails(iso_event_query(event), ISO_INVALID, "event", "zero");
    fails(iso_event_destroy(event), ISO_INVALID, "event", "zero");
    fails(iso_buffer_destroy(buffer), ISO_INVALID, "buffer", "zero");
}

static void test_wrong_kind(void **state)
{
    unit_session s;
    iso_event event;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_event_create(s.device, &event));
    fails(iso_stream_sync((iso_stream){s.buffer.id}), ISO_INVALID, "is a buffer, not a stream");
    fails(iso_stream_sync((iso_stream){s.device.id}), ISO_INVALID, "is a device, not a stream");
    fails(iso_buffer_destroy((iso_buffer){s.stream.id}), ISO_INVALID, "is a stream, not a buffer");
    fails(iso_buffer_destroy((iso_buffer){event.id}), ISO_INVALID, "is an event, not a buffer");
    fails(iso_event_destroy((iso_event){s.device.id}), ISO_INVALID, "is a device, not an event");
    fails(iso_device_close((iso_device){s.buffer.id}), ISO_INVALID, "is a buffer, not a device");
    works(iso_stream_sync(s.stream)); /* nothing was harmed */
    unit_close(&s);
}

static void test_stale(void **state)
{
    iso_buffer first, second;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_buffer_create(s.device, 64, &first));
    works(iso_buffer_destroy(first));
    fails(iso_buffer_destroy(first), ISO_INVALID, "buffer", "was destroyed");
    works(iso_buffer_create(s.device, 64, &second)); /* reuses the first one's slot */
    assert_int_not_equal(first.id, second.id);
    fails(iso_buffer_destroy(first), ISO_INVALID, "was destroyed");
    fails(iso_write(s.stream, (iso_operand){first, 0}, "abcd", 4), ISO_INVALID, "to.buffer",
          "was destroyed");
    works(iso_buffer_destroy(second));
    works(iso_stream_destroy(s.other));
    fails(iso_stream_sync(s.other), ISO_INVALID, "stream", "was destroyed");
    unit_close(&s);
    fails(iso_device_close(s.device), ISO_INVALID, "device", "was destroyed");
}

/* Numbers that are not handles are refused without a crash. */
static void test_foreign(void **state)
{
    uint64_t random = 0x123456789abcdefull;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    fails(iso_stream_sync((iso_stream){UINT64_MAX}), ISO_INVALID, "not a handle");
    fails(iso_stream_sync((iso_stream){1}), ISO_INVALID, "not a handle");
    fails(iso_stream_sync((iso_stream){s.stream.id + (1u << 24)}), ISO_INVALID, "not a handle");
    fails(iso_stream_sync((iso_stream){s.stream.id ^ 0x00ffff}), ISO_INVALID, "not a handle");
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        if (iso_stream_query((iso_stream){random ^ random >> 29}) != ISO_INVALID) {
            fail_msg("0x%llx is not a handle, but iso_stream_query did not refuse it",
                     (unsigned long long)random);
        }
    }
    works(iso_stream_sync(s.stream));
    unit_close(&s);
}

static void test_close_frees_all(void **state)
{
    enum { MANY = 100 };
    iso_stream streams[MANY];
    iso_event events[MANY];
    iso_buffer buffers[MANY];
    unit_session s;
    void *block;

    (void)state;
    unit_open(&s, "openmp");
    for (int i = 0; i < MANY; i++) {
        works(iso_stream_create(s.device, i % 2 ? ISO_STREAM_INLINE : 0, &streams[i]));
        works(iso_event_create(s.device, &events[i]));
        works(iso_buffer_create(s.device, 256, &buffers[i]));
        works(iso_fill(streams[i], (iso_operand){buffers[i], 0}, "x", 1, 256));
        works(iso_event_record(events[i], streams[i]));
    }
    works(iso_host_alloc(s.device, 100, &block, NULL));
    for (int i = 0; i < MANY; i += 7) {
        works(iso_buffer_destroy(buffers[i]));
        works(iso_stream_destroy(streams[i]));
        works(iso_event_destroy(events[i]));
    }
    works(iso_device_close(s.device));
    for (int i = 0; i < MANY; i++) {
        fails(iso_stream_sync(streams[i]), ISO_INVALID, "was destroyed");
        fails(iso_event_query(events[i]), ISO_INVALID, "was destroyed");
        fails(iso_buffer_destroy(buffers[i]), ISO_INVALID, "was destroyed");
    }
    fails(iso_host_free(s.device, block), ISO_INVALID, "was destroyed");
}

/* Each handle to one physical device is a separate device. */
static void test_mismatch(void **state)
{
    unit_session s, t;
    iso_event event;
    iso_gemm_args gemm;
    int64_t time;

    (void)state;
    unit_open(&s, "openmp");
    unit_open(&t, "openmp");
    works(iso_event_create(t.device, &event));
    fails(iso_write(s.stream, (iso_operand){t.buffer, 0}, "abcd", 4), ISO_MISMATCH, "iso_write",
          "to.buffer", "another device");
    fails(iso_copy(s.stream, (iso_operand){s.buffer, 0}, (iso_operand){t.buffer, 0}, 4),
          ISO_MISMATCH, "iso_copy", "from.buffer");
    fails(iso_event_record(event, s.stream), ISO_MISMATCH, "iso_event_record", "event");
    fails(iso_stream_wait(s.stream, event), ISO_MISMATCH, "iso_stream_wait", "event");
    works(iso_event_record(event, t.stream));
    gemm = unit_gemm(s.buffer, 8);
    gemm.b.buffer = t.buffer;
    fails(iso_gemm(s.stream, &gemm), ISO_MISMATCH, "iso_gemm", "b.buffer");
    gemm.b.buffer = s.buffer;
    gemm.c.buffer = t.buffer;
    fails(iso_gemm(s.stream, &gemm), ISO_MISMATCH, "iso_gemm", "c.buffer");
    fails(iso_copy_between(s.stream, (iso_operand){t.buffer, 0}, t.stream,
                           (iso_operand){t.buffer, 64}, 8, NULL),
          ISO_MISMATCH, "to.buffer");
    fails(iso_copy_between(s.stream, (iso_operand){s.buffer, 0}, t.stream,
                           (iso_operand){s.buffer, 64}, 8, NULL),
          ISO_MISMATCH, "from.buffer");
    {
        iso_event own;

        works(iso_event_create(s.device, &own));
        works(iso_event_record(own, s.stream));
        fails(iso_event_elapsed(own, event, &time), ISO_MISMATCH, "start", "stop");
    }
    unit_close(&s);
    unit_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_wrong_kind),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_close_frees_all),
        cmocka_unit_test(test_mismatch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
