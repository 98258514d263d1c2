/* SPDX-License-Identifier: Apache-2.0 */
/* script_products.c - calls of products of more types, of groups, of symmetric products and of
 * solves that must be refused. */
#include "bench/verify/script.h"

enum { SIDE = 8, ROOM = 4096 /* bytes for each operand */ };

static iso_gemm_args product(stage *s, iso_dtype dtype)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = args.k = SIDE;
    args.a = at(s->a, 0);
    args.b = at(s->a, ROOM);
    args.c = at(s->b, 0);
    return args;
}

static bool refuse_types(stage *s)
{
    static const struct {
        iso_dtype dtype, dtype_c;
    } wrong[] = {{ISO_F32, ISO_F64}, {ISO_F16, ISO_BF16}, {ISO_F32, ISO_F16},
                 {ISO_F64, ISO_F32}, {ISO_I8, ISO_F32},   {ISO_I8, ISO_I8},
                 {ISO_I32, ISO_I32}, {ISO_C64, ISO_F32},  {ISO_C64, ISO_C128}};
    iso_gemm_args args;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        args = product(s, wrong[i].dtype);
        args.dtype_c = wrong[i].dtype_c;
        REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    }
    args = product(s, ISO_I8);
    args.variant = ISO_VARIANT_FIXED;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_UNSUPPORTED);
    args = product(s, ISO_C128);
    args.variant = ISO_VARIANT_FIXED;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_UNSUPPORTED);
    args = product(s, ISO_I8);
    args.alpha = 0.5;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args = product(s, ISO_I8);
    args.beta = 0x1p40;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    return true;
}

static bool refuse_options(stage *s)
{
    static const iso_dtype plain[] = {ISO_F16, ISO_F32, ISO_F64, ISO_I8};
    iso_gemm_args args;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        args = product(s, plain[i]);
        args.alpha_imag = 1;
        REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
        args = product(s, plain[i]);
        args.beta_imag = -1;
        REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    }
    args = product(s, ISO_F32);
    args.order = (iso_order)2;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args = product(s, ISO_F32);
    args.trans_a = (iso_trans)3;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args = product(s, ISO_F32);
    args.order = ISO_COLUMN_MAJOR;
    args.m = SIDE * 2;
    args.ldc = SIDE; /* a column of C has more elements */
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    return true;
}

static bool refuse_factors(stage *s)
{
    iso_gemm_args good = product(s, ISO_F32), args = good;
    args.alpha_at = at(s->a, 2 * ROOM);
    args.factor_dtype = ISO_I32;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args.factor_dtype = ISO_F64;
    args.alpha_at.offset += 4; /* not a multiple of 8 */
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args.alpha_at.offset = (1 << 20) - 4; /* beyond the end */
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args = good;
    args.beta_at = good.c; /* inside what is written */
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    args = good;
    args.beta_at = at(s->runner->slots[0].buffer, 0); /* of another device handle */
    REFUSED(iso_gemm(s->streams[0], &args), ISO_MISMATCH);
    args = product(s, ISO_C64);
    args.alpha_at = at(s->a, 2 * ROOM);
    args.factor_dtype = ISO_F16;
    REFUSED(iso_gemm(s->streams[0], &args), ISO_INVALID);
    return true;
}

static bool refuse_groups(stage *s)
{
    iso_gemm_args products[2] = {product(s, ISO_F32), product(s, ISO_F32)};
    const iso_gemm_member member = {products[0].a, products[0].b, products[0].c};
    const iso_gemm_member twice[] = {member, member};
    REFUSED(iso_gemm_group(s->streams[0], products, 2), ISO_INVALID); /* the same result */
    products[1].c = at(s->a, 2 * ROOM);
    products[0].b = at(s->a, 2 * ROOM + 64); /* reads what the other one writes */
    REFUSED(iso_gemm_group(s->streams[0], products, 2), ISO_INVALID);
    products[0] = products[1];
    products[0].c = at(s->b, 0);
    products[1].m = -1;
    REFUSED(iso_gemm_group(s->streams[0], products, 2), ISO_INVALID);
    REFUSED(iso_gemm_group(s->streams[0], products, -1), ISO_INVALID);
    REFUSED(iso_gemm_group(s->streams[0], NULL, 1), ISO_INVALID);
    REFUSED(iso_gemm_members(s->streams[0], &products[0], twice, 2), ISO_INVALID);
    REFUSED(iso_gemm_members(s->streams[0], &products[0], NULL, 1), ISO_INVALID);
    TRY(iso_gemm_group(s->streams[0], products, 0));
    TRY(iso_stream_sync(s->streams[0]));
    return true;
}

bool script_refuse_products(stage *s)
{
    return refuse_types(s) && refuse_options(s) && refuse_factors(s) && refuse_groups(s);
}

bool script_refuse_syrk(stage *s)
{
    iso_stream stream = s->streams[0];
    iso_syrk_args good = ISO_SYRK_ARGS_INIT, args;
    good.dtype = ISO_F32;
    good.variant = ISO_VARIANT_TILED;
    good.triangle = ISO_LOWER;
    good.n = good.k = SIDE;
    good.a = at(s->a, 0);
    good.c = at(s->b, 0);
    args = good;
    args.triangle = (iso_triangle)0;
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.dtype = ISO_C64;
    args.trans = ISO_CONJ_TRANS;
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.dtype = ISO_F16;
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.variant = ISO_VARIANT_FIXED;
    REFUSED(iso_syrk(stream, &args), ISO_UNSUPPORTED);
    args = good;
    args.alpha_imag = 1;
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.ldc = SIDE - 1;
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.c = at(s->a, 4); /* overlaps A */
    REFUSED(iso_syrk(stream, &args), ISO_INVALID);
    args = good;
    args.c.buffer = s->runner->slots[0].buffer; /* of another device handle */
    REFUSED(iso_syrk(stream, &args), ISO_MISMATCH);
    return true;
}

bool script_refuse_trsm(stage *s)
{
    iso_stream stream = s->streams[0];
    iso_trsm_args good = ISO_TRSM_ARGS_INIT, args;
    good.dtype = ISO_F32;
    good.variant = ISO_VARIANT_TILED;
    good.triangle = ISO_LOWER;
    good.m = SIDE;
    good.n = 2;
    good.a = at(s->a, 0);
    good.b = at(s->b, 0);
    args = good;
    args.triangle = (iso_triangle)3;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.side = (iso_side)2;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.unit_diagonal = 2;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.dtype = ISO_BF16;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.variant = ISO_VARIANT_FIXED;
    REFUSED(iso_trsm(stream, &args), ISO_UNSUPPORTED);
    args = good;
    args.lda = SIDE - 1;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.n = -1;
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.b = at(s->a, 4); /* overlaps A */
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.alpha_at = good.b; /* inside what is written */
    REFUSED(iso_trsm(stream, &args), ISO_INVALID);
    args = good;
    args.b.buffer = s->runner->slots[0].buffer; /* of another device handle */
    REFUSED(iso_trsm(stream, &args), ISO_MISMATCH);
    return true;
}
