/* SPDX-License-Identifier: Apache-2.0 */
/* core_edges.c - valid but extreme arguments, and what `auto` promises. */
#include "tests/unit/unit.h"

#include <string.h>

/* A leading dimension that is never used may have any value. */
static void test_one_row(void **state)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_PARTIALS,
                                           ISO_VARIANT_TILED};
    unit_session s;
    const float x[3] = {1, 2, 3};

    (void)state;
    unit_open(&s, "openmp");
    works(iso_write(s.stream, (iso_operand){s.buffer, 0}, x, sizeof x));
    for (int i = 0; i < 3; i++) {
        for (int axis = ISO_AXIS_ALL; axis <= ISO_AXIS_1; axis++) {
            iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
            float result = 0;

            args.op = ISO_DOT;
            args.dtype = ISO_F32;
            args.variant = variants[i];
            args.axis = (iso_axis)axis;
            args.cols = 3;
            args.ld_x = args.ld_y = INT64_MAX;
            args.x.buffer = args.y.buffer = args.result.buffer = s.buffer;
            args.result.offset = 64;
            works(iso_reduce(s.stream, &args));
            works(iso_read(s.stream, &result, args.result, sizeof result));
            works(iso_stream_sync(s.stream));
            assert_true((double)result == (axis == ISO_AXIS_0 ? 1 : 14));
        }
    }
    unit_close(&s);
}

/* The same for products and transposes. */
static void test_one_row_matrices(void **state)
{
    const float x[4] = {1, 2, 3, 4};
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_write(s.stream, (iso_operand){s.buffer, 0}, x, sizeof x));
    for (int variant = ISO_VARIANT_AUTO; variant <= ISO_VARIANT_TILED; variant++) {
        iso_gemm_args gemm = unit_gemm(s.buffer, 1);
        iso_transpose_args transpose = unit_transpose(s.buffer, 1);
        float product[2] = {0}, turned[4] = {0};

        gemm.variant = transpose.variant = (iso_variant)variant;
        gemm.n = 2;
        gemm.lda = gemm.ldb = gemm.ldc = INT64_MAX;
        gemm.b.offset = 8;
        gemm.c.offset = 64;
        works(iso_gemm(s.stream, &gemm));
        works(iso_read(s.stream, product, gemm.c, sizeof product));
        transpose.cols = 4;
        transpose.ld_from = INT64_MAX;
        transpose.ld_to = 1;
        transpose.to.offset = 128;
        works(iso_transpose(s.stream, &transpose));
        works(iso_read(s.stream, turned, transpose.to, sizeof turned));
        works(iso_stream_sync(s.stream));
        assert_memory_equal(product, &x[2], sizeof product);
        assert_memory_equal(turned, x, sizeof x);
    }
    unit_close(&s);
}

/* An empty product does nothing, however large its other sizes are. */
static void test_empty_and_huge(void **state)
{
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    for (int variant = ISO_VARIANT_AUTO; variant <= ISO_VARIANT_TILED; variant++) {
        iso_gemm_args args = ISO_GEMM_ARGS_INIT;
        iso_op_info info = ISO_OP_INFO_INIT;
        int64_t bytes = -1;

        args.dtype = ISO_F32;
        args.variant = (iso_variant)variant;
        args.n = args.k = INT64_MAX;
        works(iso_describe(s.device, ISO_OP_GEMM, &args, &info));
        works(iso_workspace(s.device, ISO_OP_GEMM, &args, &bytes));
        works(iso_prepare(s.stream, ISO_OP_GEMM, &args));
        works(iso_gemm(s.stream, &args));
    }
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, NULL, 4, 0));
    works(iso_stream_sync(s.stream));
    unit_close(&s);
}

/* `auto` moves bits: signalling NaNs, infinities beside NaNs, and negative zeros. */
static void test_auto_transpose(void **state)
{
    static const uint64_t from[4] = {0x7ff0000000000001, 0x8000000000000000, 0x7ff0000000000000,
                                     0xfff0dead00000001};
    unit_session s;
    uint64_t to[4];

    (void)state;
    unit_open(&s, "openmp");
    for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
        iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;

        args.element_bytes = bytes;
        args.rows = 1;
        args.cols = (int64_t)sizeof from / bytes;
        args.from.buffer = args.to.buffer = s.buffer;
        args.to.offset = 64;
        works(iso_write(s.stream, args.from, from, sizeof from));
        works(iso_transpose(s.stream, &args));
        works(iso_read(s.stream, to, args.to, sizeof to));
        works(iso_stream_sync(s.stream));
        assert_memory_equal(from, to, sizeof from);
    }
    unit_close(&s);
}

static void test_huge_buffer(void **state)
{
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    fails(iso_buffer_create(s.device, INT64_MAX, &(iso_buffer){0}), ISO_NO_MEMORY,
          "9223372036854775807");
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_row),        cmocka_unit_test(test_one_row_matrices),
        cmocka_unit_test(test_empty_and_huge), cmocka_unit_test(test_auto_transpose),
        cmocka_unit_test(test_huge_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
