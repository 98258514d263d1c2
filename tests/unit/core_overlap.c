/* SPDX-License-Identifier: Apache-2.0 */
/* core_overlap.c - which overlaps are allowed, to the byte, and what an empty operation touches. */
#include "tests/unit/unit.h"

#include <string.h>

static unit_session s;

static int setup(void **state)
{
    (void)state;
    unit_open(&s, "openmp");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_close(&s);
    return 0;
}

static void test_gemm(void **state)
{
    iso_gemm_args args = unit_gemm(s.buffer, 8); /* 256 bytes each */

    (void)state;
    args.b = args.a; /* A and B may be the same */
    works(iso_gemm(s.stream, &args));
    args.c.offset = 256; /* C right behind A */
    works(iso_gemm(s.stream, &args));
    args.c.offset = 252;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "c (offset 252", "overlaps a");
    args.a.offset = args.b.offset = 1024;
    args.c.offset = 1024 - 256;
    works(iso_gemm(s.stream, &args));
    args.c.offset += 4;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "overlaps");
    args.alpha = 0.0; /* A and B are not accessed */
    works(iso_gemm(s.stream, &args));
    args.alpha = 1.0;
    args.k = 0;
    works(iso_gemm(s.stream, &args));
    args.alpha = 1e-60; /* rounds to 0 in f32 */
    args.k = 8;
    works(iso_gemm(s.stream, &args));
    works(iso_stream_sync(s.stream));
}

static void test_gemv(void **state)
{
    iso_gemv_args args = unit_gemv(s.buffer, 8); /* 256, 32 and 32 bytes */

    (void)state;
    args.x = args.a; /* A and x may be the same */
    args.y.offset = 256;
    works(iso_gemv(s.stream, &args));
    args.y.offset = 252;
    fails(iso_gemv(s.stream, &args), ISO_INVALID, "y (offset 252", "overlaps a");
    args.lda = 9; /* y goes down the column after A's last */
    args.inc_y = 9;
    args.y.offset = 32;
    works(iso_gemv(s.stream, &args));
    args.inc_y = 8;
    fails(iso_gemv(s.stream, &args), ISO_INVALID, "y (offset 32", "overlaps a");
    args.alpha = 0.0; /* A and x are not accessed */
    works(iso_gemv(s.stream, &args));
    works(iso_stream_sync(s.stream));
}

static void test_transpose(void **state)
{
    iso_transpose_args args = unit_transpose(s.buffer, 8);

    (void)state;
    args.to = args.from; /* in place */
    works(iso_transpose(s.stream, &args));
    args.ld_from = 9;
    fails(iso_transpose(s.stream, &args), ISO_INVALID, "overlaps");
    args.ld_to = 9;
    works(iso_transpose(s.stream, &args));
    args.rows = 7;
    fails(iso_transpose(s.stream, &args), ISO_INVALID, "overlaps");
    args = unit_transpose(s.buffer, 8);
    args.to.offset = 252;
    fails(iso_transpose(s.stream, &args), ISO_INVALID, "overlaps");
    args.to.offset = 256;
    works(iso_transpose(s.stream, &args));
    works(iso_stream_sync(s.stream));
}

static void test_reduce(void **state)
{
    iso_reduce_args args = unit_sum(s.buffer, 16);

    (void)state;
    args.x.offset = 64;
    args.result.offset = 60;
    works(iso_reduce(s.stream, &args));
    args.result.offset = 64;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "result (offset 64", "overlaps x");
    args.op = ISO_DOT;
    args.y = (iso_operand){s.buffer, 1024};
    args.result.offset = 1084;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "overlaps y");
    args.y = args.x; /* x and y may be the same */
    works(iso_reduce(s.stream, &args));
    works(iso_stream_sync(s.stream));
}

static void test_map(void **state)
{
    iso_map_args args = unit_add(s.buffer, 16);

    (void)state;
    args.z.offset = 60;
    fails(iso_map(s.stream, &args), ISO_INVALID, "z (offset 60", "overlaps x");
    args.z.offset = 68;
    fails(iso_map(s.stream, &args), ISO_INVALID, "overlaps y");
    args.z = args.x; /* in place on x */
    works(iso_map(s.stream, &args));
    args.z = args.y;
    works(iso_map(s.stream, &args));
    args.y = args.x; /* x and y may be the same, and overlap */
    works(iso_map(s.stream, &args));
    args.y.offset = 4;
    args.z.offset = 68;
    works(iso_map(s.stream, &args));
    args.z = args.x; /* ... but z must not equal one and partly overlap the other */
    fails(iso_map(s.stream, &args), ISO_INVALID, "z (offset 0", "overlaps y");
    args.z = args.y;
    fails(iso_map(s.stream, &args), ISO_INVALID, "z (offset 4", "overlaps x");
    args.op = ISO_MAP_SCALE; /* y is not used */
    args.z = args.x;
    works(iso_map(s.stream, &args));
    works(iso_stream_sync(s.stream));
}

/* Nothing to do: operands may be absent, but all other rules hold. */
static void test_empty(void **state)
{
    iso_gemm_args gemm = unit_gemm((iso_buffer){0}, 8);
    iso_transpose_args transpose = unit_transpose((iso_buffer){0}, 8);
    iso_reduce_args reduce = unit_sum(s.buffer, 0);
    iso_map_args map = unit_add((iso_buffer){0}, 0);

    (void)state;
    works(iso_map(s.stream, &map));
    map.x.buffer.id = 99;
    fails(iso_map(s.stream, &map), ISO_INVALID, "x.buffer", "not a handle");
    gemm.m = 0;
    works(iso_gemm(s.stream, &gemm));
    gemm.lda = 7;
    fails(iso_gemm(s.stream, &gemm), ISO_INVALID, "lda is 7");
    gemm.lda = 0;
    gemm.n = -1;
    fails(iso_gemm(s.stream, &gemm), ISO_INVALID, "n is -1");
    gemm.n = 8;
    gemm.a.buffer.id = 99;
    fails(iso_gemm(s.stream, &gemm), ISO_INVALID, "a.buffer", "not a handle");
    transpose.cols = 0;
    works(iso_transpose(s.stream, &transpose));
    reduce.axis = ISO_AXIS_0; /* no columns: no results */
    reduce.op = ISO_MIN;
    reduce.rows = 5;
    reduce.result.buffer.id = 0;
    works(iso_reduce(s.stream, &reduce));
    works(iso_stream_sync(s.stream));
}

static void test_neutral(void **state)
{
    static const unsigned char ones[][8] = {
        [ISO_F16] = {0x00, 0x3c},
        [ISO_BF16] = {0x80, 0x3f},
        [ISO_F32] = {0, 0, 0x80, 0x3f},
        [ISO_F64] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f},
        [ISO_I32] = {1},
        [ISO_I64] = {1},
    };
    static const unsigned char zeros[8] = {0};
    iso_reduce_args args = unit_sum(s.buffer, 0);
    unsigned char got[24];

    (void)state;
    args.axis = ISO_AXIS_1; /* three rows of no elements */
    args.rows = 3;
    for (int dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
        size_t size = (size_t)iso_dtype_size((iso_dtype)dtype);

        args.dtype = (iso_dtype)dtype;
        for (int product = 0; product < 2; product++) {
            args.op = product ? ISO_PRODUCT : ISO_SUM;
            works(iso_fill(s.stream, args.result, &(unsigned char){0xff}, 1, 64));
            works(iso_reduce(s.stream, &args));
            works(iso_read(s.stream, got, args.result, (int64_t)(3 * size)));
            works(iso_stream_sync(s.stream));
            for (size_t i = 0; i < 3; i++) {
                assert_memory_equal(got + i * size, product ? ones[dtype] : zeros, size);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),      cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_map),       cmocka_unit_test(test_empty),
        cmocka_unit_test(test_neutral),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
