/* SPDX-License-Identifier: Apache-2.0 */
/* core_fixed.c - fixed products whose great terms cancel, so that the loss of a single bit of a sum
 * shows; at lengths around every limit of the kernels, with each instruction set. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 17, COLS = 35 };

/* A type's bits of 1, and its digits. */
typedef struct format {
    iso_dtype dtype;
    int bytes, digits;
    uint64_t one;
} format;

static const format formats[] = {
    {ISO_F16, 2, 11, 0x3c00},
    {ISO_BF16, 2, 8, 0x3f80},
    {ISO_F32, 4, 24, 0x3f800000},
    {ISO_F64, 8, 53, 0x3ff0000000000000},
};

static void put(char *to, const format *f, uint64_t bits, int negative)
{
    bits |= (uint64_t)(negative != 0) << (8 * f->bytes - 1);
    memcpy(to, &bits, (size_t)f->bytes);
}

/* Row i of A is +x or -x in every element, column j of B first has k / 2 times +x or -x and then as
 * many times the opposite, but its last element is smaller by one unit in the last place. x is just
 * below 1. So the sum is x times that unit. */
static void fill(const format *f, int64_t k, char *a, char *b)
{
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t p = 0; p < k; p++) {
            put(a + (i * k + p) * f->bytes, f, f->one - 1, (int)(i & 1));
        }
    }
    for (int64_t p = 0; p < k; p++) {
        for (int64_t j = 0; j < COLS; j++) {
            put(b + (p * COLS + j) * f->bytes, f, f->one - (p == k - 1 ? 2 : 1),
                (p >= k / 2) ^ (j % 3 == 1));
        }
    }
}

static void check(iso_device device, iso_stream stream, const format *f, int64_t k)
{
    const size_t a_bytes = (size_t)(ROWS * k * f->bytes);
    const size_t b_bytes = (size_t)(COLS * k * f->bytes);
    const size_t c_bytes = ROWS * COLS * (size_t)f->bytes;
    char *a = calloc(1, a_bytes);
    char *b = calloc(1, b_bytes);
    char *c = calloc(1, c_bytes);
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    assert_true(a && b && c);
    fill(f, k, a, b);
    args.dtype = f->dtype;
    args.variant = ISO_VARIANT_FIXED;
    args.m = ROWS;
    args.n = COLS;
    args.k = k;
    works(iso_buffer_create(device, (int64_t)a_bytes, &args.a.buffer));
    works(iso_buffer_create(device, (int64_t)b_bytes, &args.b.buffer));
    works(iso_buffer_create(device, (int64_t)c_bytes, &args.c.buffer));
    works(iso_write(stream, args.a, a, (int64_t)a_bytes));
    works(iso_write(stream, args.b, b, (int64_t)b_bytes));
    works(iso_gemm(stream, &args));
    works(iso_read(stream, c, args.c, (int64_t)c_bytes));
    works(iso_stream_sync(stream));
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            char expected[8];
            const char *is = c + (i * COLS + j) * f->bytes;
            const uint64_t t = f->one - 1 - ((uint64_t)f->digits << (f->digits - 1));
            put(expected, f, t, (i % 2) ^ (j % 3 == 1));
            if (memcmp(expected, is, (size_t)f->bytes) != 0) {
                uint64_t bits = 0;
                memcpy(&bits, is, (size_t)f->bytes);
                fail_msg("%s, k = %lld: element (%d, %d) is 0x%llx", iso_dtype_name(f->dtype),
                         (long long)k, i, j, (unsigned long long)bits);
            }
        }
    }
    works(iso_buffer_destroy(args.a.buffer));
    works(iso_buffer_destroy(args.b.buffer));
    works(iso_buffer_destroy(args.c.buffer));
    free(a);
    free(b);
    free(c);
}

static void test_cancellation(void **state)
{
    static const char *const sets[] = {"generic", "neon", "sve256", "sve512", "avx2", "avx512"};
    static const int64_t depths[] = {2,   30,  32,   34,   62,   64,   66,    128,   258,   512,
                                     514, 700, 2048, 2050, 4098, 8192, 16386, 32770, 65536, 65538};
    int tried = 0;
    (void)state;
    for (size_t set = 0; set < sizeof sets / sizeof sets[0]; set++) {
        iso_device device;
        iso_stream stream;
        setenv("ISOMER_CPU_ISA", sets[set], 1);
        if (iso_device_open("openmp", &device) != ISO_OK) {
            continue;
        }
        print_message("%s\n", sets[set]);
        works(iso_stream_create(device, 0, &stream));
        for (size_t type = 0; type < sizeof formats / sizeof formats[0]; type++) {
            for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
                check(device, stream, &formats[type], depths[i]);
            }
        }
        works(iso_stream_destroy(stream));
        works(iso_device_close(device));
        tried++;
    }
    unsetenv("ISOMER_CPU_ISA");
    assert_true(tried > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancellation)};
    return cmocka_run_group_tests_name("core_fixed", tests, NULL, NULL);
}
