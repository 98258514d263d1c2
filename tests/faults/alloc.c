/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c - the plug-in's n-th allocation fails, for every n of a whole session. Each call succeeds
 * or returns NO_MEMORY; accounted memory is returned; nothing leaks (checked by the address
 * sanitizer). */
#include "tests/faults/faults.h"

#include <stdio.h>

enum { MOST = 100, LEAST = 10 /* allocations that the session is known to make */ };

/* Result of a call: 1 if it ran out of memory, with an error text. */
static int ran_out(iso_status status)
{
    if (status == ISO_OK) {
        return 0;
    }
    faults_expect_error(ISO_NO_MEMORY, (const char *const[]){"no memory for", NULL});
    return 1;
}

static int64_t used(iso_device device)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    faults_works(iso_device_get_memory_use(device, &use));
    return use.used;
}

/* Two streams, three buffers, an event and a reduction that needs scratch memory. Continues as far
 * as possible; 1 if something ran out of memory. */
static int session(void)
{
    enum { COUNT = 10000, BYTES = COUNT * 4 };
    iso_device device;
    iso_stream streams[2];
    iso_buffer buffers[3];
    iso_event event;
    int failed = 0;

    if (ran_out(iso_device_open("fault", &device))) {
        assert_int_equal(device.id, 0);
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        const int64_t before = used(device);
        if (ran_out(iso_buffer_create(device, BYTES, &buffers[i]))) {
            assert_int_equal(buffers[i].id, 0);
            assert_int_equal(used(device), before);
            failed = 1;
        } else {
            assert_int_equal(used(device), before + BYTES);
        }
    }
    for (int i = 0; i < 2; i++) {
        failed |= ran_out(iso_stream_create(device, 0, &streams[i]));
    }
    failed |= ran_out(iso_event_create(device, &event));
    if (!failed) {
        iso_reduce_args sum = ISO_REDUCE_ARGS_INIT;
        sum.op = ISO_SUM;
        sum.dtype = ISO_F32;
        sum.variant = ISO_VARIANT_TILED;
        sum.cols = COUNT;
        sum.x = (iso_operand){buffers[0], 0};
        sum.result = (iso_operand){buffers[1], 0};
        failed |= ran_out(iso_fill(streams[0], sum.x, "\0\0\0", 4, BYTES));
        failed |= ran_out(iso_prepare(streams[1], ISO_OP_REDUCE, &sum));
        failed |= ran_out(iso_reduce(streams[0], &sum));
        failed |= ran_out(iso_copy_between(streams[1], (iso_operand){buffers[2], 0}, streams[0],
                                           (iso_operand){buffers[1], 0}, 4, NULL));
        failed |= ran_out(iso_event_record(event, streams[1]));
        faults_works(iso_stream_sync(streams[0]));
        faults_works(iso_stream_sync(streams[1]));
    }
    faults_works(iso_device_close(device));
    return failed;
}

static void test_every_allocation(void **state)
{
    (void)state;
    char fault[32];
    int n = 0;
    int failed;

    do {
        n++;
        snprintf(fault, sizeof(fault), "alloc:%d", n);
        faults_set(fault);
        failed = session();
        faults_set(NULL);
        assert_int_equal(session(), 0);
    } while (failed && n < MOST);
    assert_false(failed);
    assert_true(n > LEAST);
    faults_computes("fault");
    faults_computes("openmp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
