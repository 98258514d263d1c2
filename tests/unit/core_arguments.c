/* SPDX-License-Identifier: Apache-2.0 */
/* core_arguments.c - every argument that breaks a rule is named with its value, and nothing is
 * done. */
#include "tests/unit/unit.h"

#include <stdlib.h>
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
#define G(field, value, ...) UNIT_ROW(iso_gemm_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        G(dtype, 0, "dtype is 0"),
        G(dtype, 10, "dtype is 10", "c128 (9)"),
        G(dtype, ISO_I32, "dtype is i32"),
        G(dtype, ISO_I64, "dtype is i64"),
        G(variant, 7, "variant is 7"),
        G(variant, -1, "variant is -1"),
        G(math, 3, "math is 3"),
        G(keep, 4, "keep is 4"),
        G(keep, -1, "keep is -1"),
        G(continues, 2, "continues is 2", "use 0, or 1"),
        G(continues, -1, "continues is -1"),
        G(continues, 1, "continues is 1", "beta is 0", "must be 1"),
        G(trans_a, 3, "trans_a is 3"),
        G(order, 2, "order is 2"),
        G(dtype_c, ISO_F64, "dtype_c is 4 (f64)", "dtype f32", "use f32"),
        G(dtype_c, 10, "dtype_c is 10", "not a type"),
        G(factor_dtype, ISO_I32, "factor_dtype is 5 (i32)", "0 for f32"),
        G(alpha_imag, INT64_C(0x3ff0000000000000), "alpha_imag is 1", "dtype f32", "c64"),
        G(beta_imag, INT64_C(0x3ff0000000000000), "beta_imag is 1"),
        G(trans_b, -1, "trans_b is -1"),
        G(m, -1, "m is -1"),
        G(n, -2, "n is -2"),
        G(k, INT64_MIN, "k is -9223372036854775808"),
        G(m, INT64_MAX, "9223372036854775807", "does not fit 64 bits"),
        G(m, INT64_C(1) << 61, "does not fit 64 bits"),
        G(lda, 15, "lda is 15", "16 elements", "at least 16"),
        G(ldb, 1, "ldb is 1"),
        G(ldc, -3, "ldc is -3"),
        G(lda, INT64_MAX, "A has", "9223372036854775807"),
        G(batch, -1, "batch is -1"),
        G(a.offset, -4, "a.offset is -4"),
        G(b.offset, UNIT_BYTES, "b.offset is 65536", "holds 65536 bytes"),
        G(b.offset, INT64_MAX, "b.offset is 9223372036854775807"),
        G(c.offset, 2050, "c.offset is 2050", "multiple", "4"),
        G(c.offset, UNIT_BYTES - 1020, "c.offset is 64516", "1024 bytes"),
        G(a.buffer, 0, "a.buffer is zero"),
        G(b.buffer, 0, "b.buffer is zero"),
        G(c.buffer, 0, "c.buffer is zero"),
    };
    iso_gemm_args good = unit_gemm(s.buffer, 16);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_GEMM, good, rows);
    good.batch = 2;
    good.stride_a = good.stride_b = 0;
    good.stride_c = 256;
    {
        static const unit_row batched[] = {
            G(stride_a, -1, "stride_a is -1"),
            G(stride_b, -1, "stride_b is -1"),
            G(stride_c, -1, "stride_c is -1"),
            G(stride_c, 255, "stride_c is 255", "256 elements"),
            G(stride_a, INT64_MAX, "A has", "stride 9223372036854775807"),
        };

        UNIT_CHECK_ROWS(s.stream, ISO_OP_GEMM, good, batched);
    }
    fails(iso_gemm((iso_stream){0}, &good), ISO_INVALID, "iso_gemm", "stream", "zero");
#undef G
}

static void test_continues(void **state)
{
#define G(field, value, ...) UNIT_ROW(iso_gemm_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        G(alpha, INT64_C(0x4000000000000000), "alpha is 2", "must be 1"),
        G(alpha, 0, "alpha is 0"),
        G(beta, 0, "beta is 0"),
        G(beta, INT64_C(0x3ff0000000000001), "beta is 1", "must be 1"),
        G(beta, INT64_C(0x7ff8000000000000), "beta is nan"),
        G(dtype, ISO_F16, "continues is 1", "dtype is f16", "f32 and f64"),
        G(dtype, ISO_BF16, "dtype is bf16"),
    };
    iso_gemm_args args = unit_gemm(s.buffer, 16);
    iso_cost_info cost = ISO_COST_INFO_INIT;

    (void)state;
    args.beta = 1;
    args.continues = 1;
    works(iso_gemm(s.stream, &args));
    UNIT_CHECK_ROWS(s.stream, ISO_OP_GEMM, args, rows);
    works(iso_cost(ISO_OP_GEMM, &args, &cost));
    assert_true(cost.bytes_read == 3 * 16 * 16 * 4); /* C too */
    args.variant = ISO_VARIANT_FIXED;
    fails(iso_supports(s.device, ISO_OP_GEMM, &args), ISO_UNSUPPORTED, "variant is fixed",
          "continues is 1", "use naive or tiled");
    fails(iso_gemm(s.stream, &args), ISO_UNSUPPORTED, "variant is fixed");
    args.variant = ISO_VARIANT_TILED;
    args.keep = ISO_KEEP_BITS;
    works(iso_gemm(s.stream, &args));
    args.k = 0; /* the total stays; nothing is accessed */
    args.a.buffer = args.b.buffer = (iso_buffer){0};
    works(iso_gemm(s.stream, &args));
    works(iso_stream_sync(s.stream));
#undef G
}

static void test_gemv(void **state)
{
#define V(field, value, ...) UNIT_ROW(iso_gemv_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        V(dtype, 0, "dtype is 0"),
        V(dtype, ISO_I64, "dtype is i64"),
        V(variant, 7, "variant is 7"),
        V(keep, 5, "keep is 5"),
        V(trans, 3, "trans is 3"),
        V(order, 2, "order is 2"),
        V(factor_dtype, ISO_I8, "factor_dtype is 7 (i8)"),
        V(m, -1, "m is -1"),
        V(k, INT64_MIN, "k is -9223372036854775808"),
        V(m, INT64_C(1) << 61, "does not fit 64 bits"),
        V(lda, 15, "lda is 15", "16 elements", "at least 16"),
        V(lda, INT64_MAX, "A has", "9223372036854775807"),
        V(inc_x, -1, "inc_x is -1"),
        V(inc_y, -2, "inc_y is -2"),
        V(inc_x, INT64_MAX, "x has 16 rows"),
        V(inc_y, INT64_MAX, "y has 16 rows"),
        V(inc_x, 1200, "x.offset is 1024", "holds 65536 bytes"),
        V(batch, -1, "batch is -1"),
        V(library, -1, "library is -1"),
        V(a.offset, -4, "a.offset is -4"),
        V(x.offset, 2, "x.offset is 2", "multiple"),
        V(y.offset, UNIT_BYTES - 60, "y.offset is 65476", "64 bytes"),
        V(y.offset, 1020, "y (offset 1020", "overlaps a"),
        V(y.offset, 1028, "y (offset 1028", "overlaps x"),
        V(a.buffer, 0, "a.buffer is zero"),
        V(x.buffer, 0, "x.buffer is zero"),
        V(y.buffer, 0, "y.buffer is zero"),
    };
    iso_gemv_args good = unit_gemv(s.buffer, 16);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_GEMV, good, rows);
    good.batch = 2;
    good.inc_y = 2;
    good.stride_y = 1; /* one between the other's elements */
    {
        static const unit_row batched[] = {
            V(stride_a, -1, "stride_a is -1"),
            V(stride_x, -1, "stride_x is -1"),
            V(stride_y, -1, "stride_y is -1"),
            V(stride_y, 2, "stride_y is 2", "16 elements", "at least 31"),
            V(stride_y, 0, "stride_y is 0"),
            V(stride_a, INT64_MAX, "A has", "stride 9223372036854775807"),
        };

        UNIT_CHECK_ROWS(s.stream, ISO_OP_GEMV, good, batched);
    }
    fails(iso_gemv((iso_stream){0}, &good), ISO_INVALID, "iso_gemv", "stream", "zero");
    good.variant = ISO_VARIANT_PARTIALS;
    fails(iso_gemv(s.stream, &good), ISO_UNSUPPORTED, "partials", "products with a vector");
#undef V
}

static void test_spmv(void **state)
{
#define P(field, value, ...) UNIT_ROW(iso_spmv_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        P(variant, 7, "variant is 7"),
        P(trans, 2, "trans is 2"),
        P(trans, ISO_TRANS, "ISO_SPARSE_NO_TRANSPOSE"),
        P(library, -1, "args->library is -1"),
        P(keep, 4, "keep is 4"),
        P(matrix, 0, "matrix is zero"),
        P(matrix, 1, "matrix", "not a handle", "a sparse matrix"),
        P(x.offset, 2, "x.offset is 2", "multiple"),
        P(x.offset, -4, "x.offset is -4"),
        P(x.offset, UNIT_BYTES - 4, "x.offset is 65532"),
        P(y.offset, 62, "y.offset is 62", "multiple"),
        P(y.offset, UNIT_BYTES, "y.offset is 65536"),
        P(y.offset, 60, "y (offset 60", "overlaps x"),
        P(x.buffer, 0, "x.buffer is zero"),
        P(y.buffer, 0, "y.buffer is zero"),
    };
    iso_spmv_args good = unit_spmv(s.device, s.buffer, 16);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_SPMV, good, rows);
    fails(iso_spmv((iso_stream){0}, &good), ISO_INVALID, "iso_spmv", "stream", "zero");
    works(iso_sparse_destroy(good.matrix));
#undef P
}

static void test_transpose(void **state)
{
#define T(field, value, ...) UNIT_ROW(iso_transpose_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        T(element_bytes, 0, "element_bytes is 0"),
        T(element_bytes, 3, "element_bytes is 3", "1, 2, 4, 8 or 16"),
        T(element_bytes, 32, "element_bytes is 32"),
        T(element_bytes, -4, "element_bytes is -4"),
        T(variant, 7, "variant is 7"),
        T(rows, -1, "rows is -1"),
        T(cols, -1, "cols is -1"),
        T(rows, INT64_MAX, "does not fit 64 bits"),
        T(ld_from, 7, "ld_from is 7", "8 elements"),
        T(ld_to, 7, "ld_to is 7", "8 elements"),
        T(ld_to, -8, "ld_to is -8"),
        T(from.offset, 2, "from.offset is 2", "multiple"),
        T(to.offset, -4, "to.offset is -4"),
        T(to.offset, UNIT_BYTES - 4, "to.offset is 65532"),
        T(to.offset, 252, "to (offset 252", "overlaps from"),
        T(from.buffer, 0, "from.buffer is zero"),
        T(to.buffer, 0, "to.buffer is zero"),
    };
    iso_transpose_args good = unit_transpose(s.buffer, 8);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_TRANSPOSE, good, rows);
#undef T
}

static void test_reduce(void **state)
{
#define R(field, value, ...) UNIT_ROW(iso_reduce_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        R(op, 0, "op is 0"),
        R(op, 14, "op is 14"),
        R(dtype, 0, "dtype is 0"),
        R(variant, 7, "variant is 7"),
        R(keep, 4, "keep is 4"),
        R(axis, 3, "axis is 3"),
        R(rows, -1, "rows is -1"),
        R(cols, -7, "cols is -7"),
        R(rows, INT64_MAX, "rows is 9223372036854775807"),
        R(ld_x, 99, "ld_x is 99", "100 elements"),
        R(ld_x, -1, "ld_x is -1"),
        R(x.offset, 1, "x.offset is 1", "multiple"),
        R(x.offset, -4, "x.offset is -4"),
        R(x.offset, UNIT_BYTES, "x.offset is 65536"),
        R(result.offset, 396, "result (offset 396", "overlaps x"),
        R(result.offset, 402, "result.offset is 402"),
        R(result.offset, UNIT_BYTES, "result.offset is 65536"),
        R(x.buffer, 0, "x.buffer is zero"),
        R(result.buffer, 0, "result.buffer is zero"),
    };
    iso_reduce_args args = unit_sum(s.buffer, 100);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_REDUCE, args, rows);
    args.op = ISO_DOT;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "y.buffer is zero");
    args.y = args.x;
    args.ld_y = 5;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "ld_y is 5");
    args = unit_sum(s.buffer, 10);
    args.rows = 5;
    args.ld_x = 12;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "ld_x is 12", "gaps");
    args = unit_sum(s.buffer, 0);
    for (int op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
        args.op = (iso_reduce_op)op;
        args.dtype = op == ISO_XOR ? ISO_I32 : ISO_F32;
        if (op == ISO_MIN || op == ISO_MAX || op == ISO_MEAN || op == ISO_ARGMIN ||
            op == ISO_ARGMAX || op == ISO_AMAX || op == ISO_ARGAMAX) {
            fails(iso_reduce(s.stream, &args), ISO_INVALID, "no elements",
                  iso_reduce_op_name((iso_reduce_op)op));
        } else {
            works(iso_reduce(s.stream, &args));
        }
    }
    args.op = ISO_NORM2;
    args.dtype = ISO_I32;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "norm2", "i32");
    args.op = ISO_AMAX;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "op is amax", "i32");
    args.op = ISO_ARGAMAX;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "op is argamax", "i32");
    args.op = ISO_XOR;
    args.dtype = ISO_F64;
    fails(iso_reduce(s.stream, &args), ISO_INVALID, "xor", "f64");
#undef R
}

/* Maps of rows, and what may overlap. */
static void test_map_rows(void)
{
    iso_map_args args = unit_add(s.buffer, 50);

    args.n = 10;
    args.rows = 5;
    args.ld_z = 9;
    fails(iso_map(s.stream, &args), ISO_INVALID, "ld_z is 9", "at least 10");
    args.ld_z = 10;
    works(iso_map(s.stream, &args));
    args.ld_x = 4;
    fails(iso_map(s.stream, &args), ISO_INVALID, "ld_x is 4");
    args.spread_x = ISO_SPREAD_ROW; /* then ld_x is not used */
    works(iso_map(s.stream, &args));
    args.x = args.z;
    fails(iso_map(s.stream, &args), ISO_INVALID, "z", "overlaps x");
    args.spread_x = ISO_SPREAD_NONE;
    args.ld_x = 0; /* the same place as z's */
    works(iso_map(s.stream, &args));
    /* One column of a matrix from another column of it. */
    args = unit_add(s.buffer, 5);
    args.op = ISO_MAP_COPY;
    args.inc_x = args.inc_z = 10;
    args.z.offset = args.x.offset + 12;
    works(iso_map(s.stream, &args));
    args.rows = 4;
    args.ld_x = args.ld_z = 1; /* columns 0 to 3, and 3 to 6 */
    fails(iso_map(s.stream, &args), ISO_INVALID, "z", "overlap");
    args.z.offset = args.x.offset + 16;
    works(iso_map(s.stream, &args));
    args.op = ISO_MAP_SCALE;
    args.factor_dtype = ISO_I32;
    fails(iso_map(s.stream, &args), ISO_INVALID, "factor_dtype is 5");
    args.factor_dtype = 0;
    args.alpha_at = (iso_operand){args.z.buffer, args.z.offset};
    fails(iso_map(s.stream, &args), ISO_INVALID, "z", "overlaps alpha_at");
}

static void test_map(void **state)
{
#define M(field, value, ...) UNIT_ROW(iso_map_args, field, value, __VA_ARGS__)
    static const unit_row rows[] = {
        M(op, 0, "op is 0"),
        M(op, 19, "op is 19", "ISO_MAP_CONVERT"),
        M(op, -1, "op is -1"),
        M(dtype, 0, "dtype is 0"),
        M(dtype, 10, "dtype is 10"),
        M(dtype, ISO_I8, "op is add", "dtype i8"),
        M(dtype, ISO_C64, "op is add", "dtype c64"),
        M(dtype_z, ISO_F64, "op is add", "dtype_z f64", "only convert"),
        M(dtype_z, 10, "dtype_z is 10"),
        M(variant, 7, "variant is 7"),
        M(n, -1, "n is -1"),
        M(n, INT64_MAX, "n is 9223372036854775807", "4 bytes"),
        M(rows, -1, "rows is -1"),
        M(rows, INT64_MAX, "does not fit 64 bits"),
        M(ld_x, -1, "ld_x is -1"),
        M(inc_y, -2, "inc_y is -2"),
        M(inc_z, INT64_MAX, "z", "does not fit 64 bits"),
        M(spread_x, 4, "spread_x is 4"),
        M(spread_y, -1, "spread_y is -1"),
        M(reserved, 1, "reserved is 1"),
        M(n, UNIT_BYTES, "x"),
        M(x.offset, 2, "x.offset is 2", "multiple"),
        M(y.offset, -4, "y.offset is -4"),
        M(z.offset, UNIT_BYTES - 396, "z.offset is 65140"),
        M(z.offset, 399, "z.offset is 399", "multiple"),
        M(x.buffer, 0, "x.buffer is zero"),
        M(y.buffer, 0, "y.buffer is zero"),
        M(z.buffer, 0, "z.buffer is zero"),
    };
    static const unit_row chains[] = {
        M(steps, -1, "steps is -1"),
        M(dtype, ISO_I32, "op is chain", "dtype i32", "floating-point"),
        M(dtype, ISO_I64, "op is chain", "dtype i64"),
    };
    iso_map_args args = unit_add(s.buffer, 100);

    (void)state;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_MAP, args, rows);
    args.steps = -1; /* only chain has steps */
    args.dtype = ISO_I32;
    works(iso_map(s.stream, &args));
    args.op = ISO_MAP_TRIAD;
    fails(iso_map(s.stream, &args), ISO_INVALID, "iso_map", "op is triad", "i32");
    args.op = ISO_MAP_SCALE;
    fails(iso_map(s.stream, &args), ISO_INVALID, "op is scale", "i32");
    args.op = ISO_MAP_EXP;
    fails(iso_map(s.stream, &args), ISO_INVALID, "op is exp", "i32");
    args.op = ISO_MAP_COPY;
    args.y = (iso_operand){{99}, -1}; /* ignored */
    works(iso_map(s.stream, &args));
    args.op = ISO_MAP_CHAIN;
    args.dtype = ISO_F32;
    args.steps = 3;
    UNIT_CHECK_ROWS(s.stream, ISO_OP_MAP, args, chains);
    test_map_rows();
    static const char *const refused[] = {"variant is vendor", "variant is reserved",
                                          "variant is partials"};
    for (int i = 0; i < 3; i++) {
        args.variant = (iso_variant)(ISO_VARIANT_VENDOR + i);
        fails(iso_supports(s.device, ISO_OP_MAP, &args), ISO_UNSUPPORTED, refused[i]);
        fails(iso_map(s.stream, &args), ISO_UNSUPPORTED, refused[i]);
    }
#undef M
}

static void test_kind(void **state)
{
    iso_gemm_args args = unit_gemm(s.buffer, 4);
    iso_cost_info cost = ISO_COST_INFO_INIT;
    int64_t bytes;

    (void)state;
    fails(iso_execute(s.stream, (iso_op_kind)0, &args), ISO_INVALID, "kind is 0");
    fails(iso_prepare(s.stream, (iso_op_kind)7, &args), ISO_INVALID, "kind is 7");
    fails(iso_supports(s.device, (iso_op_kind)7, &args), ISO_INVALID, "kind is 7");
    fails(iso_cost((iso_op_kind)-1, &args, &cost), ISO_INVALID, "kind is -1");
    fails(iso_workspace(s.device, (iso_op_kind)7, &args, &bytes), ISO_INVALID, "kind is 7");
    fails(iso_workspace(s.device, ISO_OP_GEMM, &args, NULL), ISO_INVALID, "bytes is NULL");
    args.variant = ISO_VARIANT_PARTIALS;
    fails(iso_supports(s.device, ISO_OP_GEMM, &args), ISO_UNSUPPORTED, "partials");
    fails(iso_gemm(s.stream, &args), ISO_UNSUPPORTED, "partials");
}

static void test_transfers(void **state)
{
    iso_operand to = {s.buffer, 0}, far_off = {s.buffer, UNIT_BYTES - 8}, none = {{0}, 0};
    iso_operand behind = {s.buffer, 4096}, negative = {s.buffer, -1}, odd = {s.buffer, 2};
    unsigned char host[4096] = {0};
    iso_path path;

    (void)state;
    fails(iso_write(s.stream, to, host, -1), ISO_INVALID, "iso_write", "bytes is -1");
    fails(iso_write(s.stream, to, NULL, 4), ISO_INVALID, "from is NULL");
    fails(iso_write(s.stream, none, host, 4), ISO_INVALID, "to.buffer is zero");
    fails(iso_write(s.stream, far_off, host, 9), ISO_INVALID, "to.offset is 65528", "9 bytes");
    fails(iso_write(s.stream, negative, host, 1), ISO_INVALID, "to.offset is -1");
    fails(iso_write((iso_stream){0}, to, host, 1), ISO_INVALID, "stream is zero");
    fails(iso_read(s.stream, NULL, to, 4), ISO_INVALID, "to is NULL");
    fails(iso_read(s.stream, host, far_off, INT64_MAX), ISO_INVALID, "from.offset is 65528");
    fails(iso_copy(s.stream, to, (iso_operand){s.buffer, 7}, 8), ISO_INVALID, "overlaps from");
    fails(iso_copy(s.stream, to, none, 8), ISO_INVALID, "from.buffer is zero");
    fails(iso_fill(s.stream, to, host, 3, 9), ISO_INVALID, "pattern_bytes is 3");
    fails(iso_fill(s.stream, to, host, 0, 8), ISO_INVALID, "pattern_bytes is 0");
    fails(iso_fill(s.stream, to, host, 4, 10), ISO_INVALID, "bytes is 10", "multiple");
    fails(iso_fill(s.stream, odd, host, 4, 8), ISO_INVALID, "to.offset is 2", "multiple");
    fails(iso_fill(s.stream, to, NULL, 4, 8), ISO_INVALID, "pattern is NULL");
    fails(iso_write_2d(s.stream, to, 7, host, 8, 8, 2), ISO_INVALID, "to_pitch is 7", "8 bytes");
    fails(iso_write_2d(s.stream, to, 8, host, 7, 8, 2), ISO_INVALID, "from_pitch is 7");
    fails(iso_write_2d(s.stream, to, 8, host, 8, -8, 2), ISO_INVALID, "width is -8");
    fails(iso_write_2d(s.stream, to, 8, host, 8, 8, -2), ISO_INVALID, "height is -2");
    fails(iso_write_2d(s.stream, to, INT64_MAX, host, 8, 8, 3), ISO_INVALID, "to_pitch", "64 bits");
    fails(iso_read_2d(s.stream, host, -8, to, 8, 8, 2), ISO_INVALID, "to_pitch is -8");
    fails(iso_read_2d(s.stream, host, 8, to, UNIT_BYTES, 8, 2), ISO_INVALID, "from.offset is 0",
          "65544 bytes");
    fails(iso_copy_2d(s.stream, to, 64, (iso_operand){s.buffer, 31}, 64, 32, 4), ISO_INVALID,
          "to (offset 0, 224 bytes)", "overlaps from (offset 31", "share no byte");
    works(iso_copy_2d(s.stream, to, 64, (iso_operand){s.buffer, 32}, 64, 32, 4));
    fails(iso_fill_2d(s.stream, to, 10, host, 4, 8, 2), ISO_INVALID, "to_pitch is 10", "multiple");
    fails(iso_copy_between(s.stream, to, s.other, behind, -1, &path), ISO_INVALID, "bytes is -1");
    fails(iso_copy_between(s.stream, to, s.other, (iso_operand){s.buffer, 4}, 8, &path),
          ISO_INVALID, "overlaps");
    fails(iso_copy_between(s.stream, to, (iso_stream){0}, behind, 8, &path), ISO_INVALID,
          "from_stream is zero");
    fails(iso_copy_between((iso_stream){0}, to, s.other, behind, 8, &path), ISO_INVALID,
          "to_stream is zero");
    /* Empty operands are no error, even at the very end. */
    works(iso_write(s.stream, to, NULL, 0));
    works(iso_write(s.stream, (iso_operand){s.buffer, UNIT_BYTES}, NULL, 0));
    works(iso_read_2d(s.stream, NULL, 0, to, 0, 0, 5));
    works(iso_copy_2d(s.stream, to, 8, to, 8, 8, 0));
    works(iso_copy_between(s.stream, to, s.other, to, 0, NULL));
    works(iso_stream_sync(s.stream));
}

static void test_objects(void **state)
{
    iso_property property = ISO_PROPERTY_INIT;
    iso_stream stream = {5};
    iso_event event = {5};
    iso_buffer buffer = {5};
    int64_t time;
    int32_t i = 0;
    void *block;

    (void)state;
    fails(iso_stream_create(s.device, 2, &stream), ISO_INVALID, "flags is 0x2");
    assert_int_equal(stream.id, 0);
    fails(iso_stream_create(s.device, 0, NULL), ISO_INVALID, "out is NULL");
    fails(iso_event_create(s.device, NULL), ISO_INVALID, "out is NULL");
    fails(iso_event_create((iso_device){0}, &event), ISO_INVALID, "device is zero");
    assert_int_equal(event.id, 0);
    fails(iso_buffer_create(s.device, -1, &buffer), ISO_INVALID, "bytes is -1");
    assert_int_equal(buffer.id, 0);
    fails(iso_buffer_create(s.device, 1, NULL), ISO_INVALID, "out is NULL");
    fails(iso_host_alloc(s.device, -1, &block, NULL), ISO_INVALID, "bytes is -1");
    fails(iso_host_alloc(s.device, 1, NULL, NULL), ISO_INVALID, "out is NULL");
    fails(iso_host_free(s.device, NULL), ISO_INVALID, "pointer");
    fails(iso_host_free(s.device, &block), ISO_INVALID, "pointer", "iso_host_alloc");
    fails(iso_host_register(s.device, NULL, 1, NULL), ISO_INVALID, "pointer is NULL");
    fails(iso_host_register(s.device, &block, 0, NULL), ISO_INVALID, "bytes is 0");
    fails(iso_host_register(s.device, &block, INT64_MIN, NULL), ISO_INVALID, "bytes is -");
    fails(iso_host_unregister(s.device, &block), ISO_INVALID, "pointer", "iso_host_register");
    fails(iso_stream_sync_timeout(s.stream, -1), ISO_INVALID, "nanoseconds is -1");
    fails(iso_device_get_property(s.device, -1, &property), ISO_INVALID, "index is -1");
    works(iso_event_create(s.device, &event));
    fails(iso_event_elapsed(event, event, NULL), ISO_INVALID, "nanoseconds is NULL");
    fails(iso_event_elapsed(event, event, &time), ISO_NOT_READY, "start", "never recorded");
    works(iso_event_destroy(event));
    iso_clear_error();
    while (iso_device_get_property(s.device, i, &property) == ISO_OK) {
        assert_true(property.name[0] && i++ < 1000);
    }
    assert_int_equal(iso_device_get_property(s.device, i, &property), ISO_NOT_READY);
    assert_string_equal(iso_last_error(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),      cmocka_unit_test(test_continues),
        cmocka_unit_test(test_gemv),      cmocka_unit_test(test_spmv),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_map),       cmocka_unit_test(test_kind),
        cmocka_unit_test(test_transfers), cmocka_unit_test(test_objects),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
