/* SPDX-License-Identifier: Apache-2.0 */
/* nested.c - a program that uses OpenMP itself calls isomer from inside its parallel regions, on
 * streams of both kinds, and continues with regions of its own. */
#include "tests/concurrency/check.h"

#include <omp.h>

enum { ROUNDS = 4, SIZE = 100 };

static void inside(iso_device device, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        int thread = omp_get_thread_num();
        iso_stream stream = check_stream(device, thread % 2 ? 0 : ISO_STREAM_INLINE);
        for (int round = 0; round < ROUNDS; round++) {
            check_product product = check_product_make(device, SIZE, thread + round);
            check_product_submit(&product, stream, ISO_VARIANT_TILED);
            CHECK_OK(iso_stream_sync(stream));
            check_product_result(&product);
            check_product_free(&product);
#pragma omp barrier
        }
        CHECK_OK(iso_stream_destroy(stream));
    }
}

/* The program's own regions are unaffected. */
static void own_region(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) {
        sum += i;
    }
    CHECK(sum == 499500);
}

int main(void)
{
    own_region();
    iso_device device = check_device();
    own_region();
    inside(device, 3);
    own_region();
    inside(device, 2);
    CHECK_OK(iso_device_close(device));
    own_region();

    /* Opened inside a region, where the runtime reports a single thread. */
    iso_device opened = {0};
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        opened = check_device();
    }
    inside(opened, 2);
    CHECK_OK(iso_device_close(opened));
    return 0;
}
