/* SPDX-License-Identifier: Apache-2.0 */
/* core_cost.c - the cost of an operation, what would run, and what it needs. */
#include "tests/unit/unit.h"

#include <string.h>

static void expect(iso_op_kind kind, const void *args, double flops, double read, double written)
{
    iso_cost_info cost = ISO_COST_INFO_INIT;

    works(iso_cost(kind, args, &cost));
    if (cost.flops != flops || cost.bytes_read != read || cost.bytes_written != written) {
        fail_msg("%s: %g flops, %g read, %g written; expected %g, %g, %g", iso_op_kind_name(kind),
                 cost.flops, cost.bytes_read, cost.bytes_written, flops, read, written);
    }
}

static void test_gemm(void **state)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    (void)state;
    args.dtype = ISO_F64;
    args.m = 3;
    args.n = 5;
    args.k = 7;
    expect(ISO_OP_GEMM, &args, 210, (21 + 35) * 8, 15 * 8);
    args.beta = 1.0;
    expect(ISO_OP_GEMM, &args, 210, (21 + 35 + 15) * 8, 15 * 8);
    args.alpha = 0.0;
    expect(ISO_OP_GEMM, &args, 0, 15 * 8, 15 * 8);
    args.alpha = 1.0;
    args.beta = 0.0;
    args.batch = 4;
    args.stride_b = 35;
    args.stride_c = 15;
    expect(ISO_OP_GEMM, &args, 840, (21 + 4 * 35) * 8, 4 * 15 * 8);
    args.n = 0;
    expect(ISO_OP_GEMM, &args, 0, 0, 0);
    args = (iso_gemm_args)ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F16;
    args.m = args.n = args.k = INT64_C(1) << 20; /* the flops exceed 64 bits */
    expect(ISO_OP_GEMM, &args, 0x1p61, 0x1p42, 0x1p41);
}

static void test_gemv(void **state)
{
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;

    (void)state;
    args.dtype = ISO_F64;
    args.m = 3;
    args.k = 7;
    expect(ISO_OP_GEMV, &args, 42, (21 + 7) * 8, 3 * 8);
    args.beta = 1.0;
    args.inc_x = 5;
    expect(ISO_OP_GEMV, &args, 42, (21 + 7 + 3) * 8, 3 * 8);
    args.alpha = 0.0;
    expect(ISO_OP_GEMV, &args, 0, 3 * 8, 3 * 8);
    args.alpha = 1.0;
    args.beta = 0.0;
    args.batch = 4;
    args.stride_x = 7;
    args.stride_y = 3;
    expect(ISO_OP_GEMV, &args, 168, (21 + 4 * 7) * 8, 4 * 3 * 8);
    args.m = 0;
    expect(ISO_OP_GEMV, &args, 0, 0, 0);
}

static void test_others(void **state)
{
    iso_transpose_args transpose = unit_transpose((iso_buffer){0}, 9);
    iso_reduce_args reduce = unit_sum((iso_buffer){0}, 10);

    (void)state;
    expect(ISO_OP_TRANSPOSE, &transpose, 0, 324, 324);
    expect(ISO_OP_REDUCE, &reduce, 10, 40, 4);
    reduce.op = ISO_DOT;
    expect(ISO_OP_REDUCE, &reduce, 20, 80, 4);
    reduce.x.buffer.id = reduce.y.buffer.id = 77;
    expect(ISO_OP_REDUCE, &reduce, 20, 40, 4);
    reduce.op = ISO_ARGMAX;
    reduce.rows = 3;
    reduce.axis = ISO_AXIS_1;
    expect(ISO_OP_REDUCE, &reduce, 30, 120, 24);
    reduce.axis = ISO_AXIS_0;
    expect(ISO_OP_REDUCE, &reduce, 30, 120, 80);
    reduce.op = ISO_ARGAMAX;
    expect(ISO_OP_REDUCE, &reduce, 30, 120, 80);
    reduce.op = ISO_AMAX;
    expect(ISO_OP_REDUCE, &reduce, 30, 120, 40);
    reduce.op = ISO_SUM;
    reduce.rows = 0;
    expect(ISO_OP_REDUCE, &reduce, 0, 0, 40);
}

static void test_map(void **state)
{
    static const double flops[] = {
        [ISO_MAP_COPY] = 0,     [ISO_MAP_SCALE] = 1, [ISO_MAP_ADD] = 1,
        [ISO_MAP_MULTIPLY] = 1, [ISO_MAP_TRIAD] = 2, [ISO_MAP_CHAIN] = 14};
    static const int operands[] = {
        [ISO_MAP_COPY] = 1,     [ISO_MAP_SCALE] = 1, [ISO_MAP_ADD] = 2,
        [ISO_MAP_MULTIPLY] = 2, [ISO_MAP_TRIAD] = 2, [ISO_MAP_CHAIN] = 1};
    iso_map_args args = unit_add((iso_buffer){0}, 10);

    (void)state;
    args.steps = 7;
    for (int op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
        args.op = (iso_map_op)op;
        expect(ISO_OP_MAP, &args, 10 * flops[op], 40 * operands[op], 40);
    }
    args.op = ISO_MAP_TRIAD;
    args.x.buffer.id = args.y.buffer.id = 77;
    expect(ISO_OP_MAP, &args, 20, 80, 40); /* at another offset */
    args.y.offset = args.x.offset;
    expect(ISO_OP_MAP, &args, 20, 40, 40);
    args.n = 0;
    expect(ISO_OP_MAP, &args, 0, 0, 0);
}

/* auto is tiled, and all queries agree. */
static void test_describe_map(void **state)
{
    iso_map_args args = unit_add((iso_buffer){0}, 64);
    iso_op_info info = ISO_OP_INFO_INIT;
    unit_session s;
    int64_t bytes = -1;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_describe(s.device, ISO_OP_MAP, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    assert_int_equal(info.math, ISO_MATH_STRICT);
    assert_string_equal(info.library, "isomer " ISO_VERSION_STRING);
    assert_non_null(strstr(info.kernel, "add_tiled_f32"));
    works(iso_workspace(s.device, ISO_OP_MAP, &args, &bytes));
    assert_int_equal(bytes, 0);
    works(iso_prepare(s.stream, ISO_OP_MAP, &args));
    args.n = 0;
    works(iso_supports(s.device, ISO_OP_MAP, &args));
    unit_close(&s);
}

static void test_describe(void **state)
{
    iso_gemm_args args = unit_gemm((iso_buffer){0}, 64);
    iso_op_info info = ISO_OP_INFO_INIT;
    unit_session s;
    int64_t bytes;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_describe(s.device, ISO_OP_GEMM, &args, &info));
    assert_int_not_equal(info.variant, ISO_VARIANT_AUTO);
    assert_int_equal(info.math, ISO_MATH_STRICT);
    args.variant = ISO_VARIANT_NAIVE;
    works(iso_describe(s.device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_NAIVE);
    assert_string_equal(info.library, "isomer " ISO_VERSION_STRING);
    for (int variant = ISO_VARIANT_AUTO; variant <= ISO_VARIANT_PARTIALS; variant++) {
        iso_status supported;

        args = unit_gemm(s.buffer, 64);
        args.variant = (iso_variant)variant;
        supported = iso_supports(s.device, ISO_OP_GEMM, &args);
        assert_true(supported == ISO_OK || supported == ISO_UNSUPPORTED);
        /* supports matches execute, and all queries agree, for empty operations too. */
        for (int empty = 0; empty < 2; empty++) {
            if (empty) {
                args.m = 0;
            }
            assert_int_equal(iso_supports(s.device, ISO_OP_GEMM, &args), supported);
            assert_int_equal(iso_gemm(s.stream, &args), supported);
            assert_int_equal(iso_describe(s.device, ISO_OP_GEMM, &args, &info), supported);
            assert_int_equal(iso_workspace(s.device, ISO_OP_GEMM, &args, &bytes), supported);
            assert_int_equal(iso_prepare(s.stream, ISO_OP_GEMM, &args), supported);
        }
    }
    works(iso_stream_sync(s.stream));
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),     cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_others),   cmocka_unit_test(test_map),
        cmocka_unit_test(test_describe), cmocka_unit_test(test_describe_map),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
