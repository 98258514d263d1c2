/* SPDX-License-Identifier: Apache-2.0 */
/* core_forms.c - descriptors of products in other forms, of symmetric products and of solves: what
 * is refused, and with which words. */
#include "tests/unit/unit.h"

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

/* Types of C, factors and orders that do not fit each other. */
static void test_forms(void **state)
{
    iso_gemm_args args = unit_gemm(s.buffer, 16);

    (void)state;
    args.dtype = ISO_I8;
    args.dtype_c = ISO_F32;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "dtype_c is 3 (f32)", "dtype i8", "use i32");
    args.dtype_c = ISO_I32;
    args.alpha = 0.5;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "alpha is 0.5", "dtype i8", "whole numbers");
    args.alpha = 1;
    args.beta = 4294967296.0;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "beta is 4.29497e+09", "32 bits");
    args.beta = 0;
    args.variant = ISO_VARIANT_FIXED;
    fails(iso_gemm(s.stream, &args), ISO_UNSUPPORTED, "variant is fixed", "i8");
    args = unit_gemm(s.buffer, 16);
    args.dtype = ISO_C64;
    args.variant = ISO_VARIANT_FIXED;
    args.b.offset = 2048;
    args.c.offset = 4096;
    fails(iso_gemm(s.stream, &args), ISO_UNSUPPORTED, "variant is fixed", "complex");
    args.factor_dtype = ISO_F16;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "factor_dtype is 1 (f16)", "complex dtype");
    args = unit_gemm(s.buffer, 16);
    args.alpha_at = args.c;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "c (offset", "overlaps alpha_at");
    args.alpha_at.offset = 2;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "alpha_at.offset is 2", "multiple", "4");
    args = unit_gemm(s.buffer, 16);
    args.continues = 1;
    args.beta = 1;
    args.beta_at = args.a;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "continues is 1", "beta_at has a buffer");
    args = unit_gemm(s.buffer, 16); /* a library that is not there, though the core composes */
    args.variant = ISO_VARIANT_VENDOR;
    args.library = 7;
    args.beta_at = (iso_operand){s.buffer, 8192};
    fails(iso_gemm(s.stream, &args), ISO_UNSUPPORTED, "variant vendor");
    args = unit_gemm(s.buffer, 16); /* messages have the caller's names */
    args.order = ISO_COLUMN_MAJOR;
    args.m = 8;
    args.lda = 7;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "lda is 7", "columns of A hold 8");
    args.lda = 0;
    args.b.offset = UNIT_BYTES;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "b.offset is 65536");
}

static void test_syrk(void **state)
{
#define S(field, value, ...) UNIT_ROW(iso_syrk_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        S(dtype, 0, "dtype is 0"),
        S(dtype, ISO_F16, "dtype is f16", "f32, f64, c64 and c128"),
        S(dtype, ISO_I8, "dtype is i8"),
        S(variant, 7, "variant is 7"),
        S(triangle, 0, "triangle is 0", "ISO_LOWER"),
        S(triangle, 3, "triangle is 3"),
        S(trans, 2, "trans is 2", "symmetric"),
        S(order, -1, "order is -1"),
        S(n, -1, "n is -1"),
        S(k, -1, "k is -1"),
        S(n, INT64_C(1) << 61, "does not fit 64 bits"),
        S(lda, 3, "lda is 3", "8 elements"),
        S(ldc, 15, "ldc is 15", "16 elements"),
        S(batch, -1, "batch is -1"),
        S(keep, 4, "keep is 4"),
        S(library, -1, "library is -1"),
        S(alpha_imag, INT64_C(0x3ff0000000000000), "alpha_imag is 1"),
        S(a.offset, 2048, "c (offset 2048", "overlaps a"),
        S(c.offset, 2050, "c.offset is 2050"),
        S(a.buffer, 0, "a.buffer is zero"),
        S(c.buffer, 0, "c.buffer is zero"),
    };
    iso_syrk_args good = ISO_SYRK_ARGS_INIT;

    (void)state;
    good.dtype = ISO_F32;
    good.variant = ISO_VARIANT_TILED;
    good.triangle = ISO_LOWER;
    good.n = 16;
    good.k = 8;
    good.a = (iso_operand){s.buffer, 0};
    good.c = (iso_operand){s.buffer, 2048};
    UNIT_CHECK_ROWS(s.stream, ISO_OP_SYRK, good, rows);
    fails(iso_syrk((iso_stream){0}, &good), ISO_INVALID, "iso_syrk", "stream", "zero");
#undef S
}

static void test_trsm(void **state)
{
#define L(field, value, ...) UNIT_ROW(iso_trsm_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        L(dtype, 0, "dtype is 0"),
        L(dtype, ISO_BF16, "dtype is bf16", "f32, f64, c64 and c128"),
        L(variant, 7, "variant is 7"),
        L(side, 2, "side is 2"),
        L(triangle, 0, "triangle is 0"),
        L(trans, 3, "trans is 3"),
        L(unit_diagonal, 2, "unit_diagonal is 2"),
        L(order, 2, "order is 2"),
        L(m, -1, "m is -1"),
        L(n, -1, "n is -1"),
        L(lda, 15, "lda is 15", "16 elements"),
        L(ldb, 7, "ldb is 7", "8 elements"),
        L(batch, -1, "batch is -1"),
        L(keep, 4, "keep is 4"),
        L(library, -1, "library is -1"),
        L(alpha_imag, INT64_C(0x3ff0000000000000), "alpha_imag is 1"),
        L(factor_dtype, ISO_I64, "factor_dtype is 6 (i64)"),
        L(a.offset, 4096, "b (offset 4096", "overlaps a"),
        L(b.offset, 2050, "b.offset is 2050"),
        L(a.buffer, 0, "a.buffer is zero"),
        L(b.buffer, 0, "b.buffer is zero"),
    };
    iso_trsm_args good = ISO_TRSM_ARGS_INIT;

    (void)state;
    good.dtype = ISO_F32;
    good.variant = ISO_VARIANT_TILED;
    good.triangle = ISO_LOWER;
    good.m = 16;
    good.n = 8;
    good.a = (iso_operand){s.buffer, 0};
    good.b = (iso_operand){s.buffer, 4096};
    UNIT_CHECK_ROWS(s.stream, ISO_OP_TRSM, good, rows);
    fails(iso_trsm((iso_stream){0}, &good), ISO_INVALID, "iso_trsm", "stream", "zero");
#undef L
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_syrk),
        cmocka_unit_test(test_trsm),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
