/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_options.c - conformance cases of products that are stored by columns, of complex numbers and
 * of i8, with results of another type, with factors on the device, and of groups. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>

/* ---- groups ---------------------------------------------------------------------------------- */

enum { MEMBERS = 16, PARTS = 3 };

static iso_operand moved(iso_operand at, int64_t elements, int64_t element)
{
    return (iso_operand){at.buffer, at.offset + elements * element};
}

/* The operands of a member of the batch. */
static iso_gemm_member member_of(const bench_case *item, const iso_gemm_args *args, int64_t i)
{
    const int64_t size = iso_dtype_size(bench_result_type(item));
    return (iso_gemm_member){.a = moved(args->a, i * args->stride_a, item->element),
                             .b = moved(args->b, i * args->stride_b, item->element),
                             .c = moved(args->c, i * args->stride_c, size)};
}

/* In an order in which some neighbours are the same distance apart and others are not. What the
 * call ignores is wrong. */
static iso_status call_members(const bench_case *item, iso_stream stream, const iso_gemm_args *args)
{
    iso_gemm_member members[MEMBERS];
    iso_gemm_args shared = *args;
    int64_t count = 0;
    for (int64_t first = 0; first < 2; first++) {
        for (int64_t i = first; i < args->batch; i += 2) {
            members[count++] = member_of(item, args, i);
        }
    }
    shared.a = shared.b = shared.c = (iso_operand){0};
    shared.batch = 77;
    return iso_gemm_members(stream, &shared, members, count);
}

/* Cuts each member into products with few, no and many rows of C as it lies in memory: rows of
 * op(A) or, of column-major matrices, columns of op(B). */
static iso_status call_group(const bench_case *item, iso_stream stream, const iso_gemm_args *args)
{
    const gemm_shape *g = &item->gemm;
    const bool by_columns = g->order == ISO_COLUMN_MAJOR;
    const bool turned = by_columns ? g->trans_b != ISO_NO_TRANS : g->trans_a != ISO_NO_TRANS;
    const int64_t rows = by_columns ? g->n : g->m, cols = by_columns ? g->m : g->n;
    const int64_t cuts[PARTS + 1] = {0, rows / 3, rows / 3, rows};
    const int64_t ld = by_columns ? args->ldb : args->lda, ldc = args->ldc ? args->ldc : cols;
    const int64_t usual = turned ? rows : g->k, step = turned ? 1 : ld ? ld : usual;
    iso_gemm_args products[MEMBERS * PARTS];
    int64_t count = 0;
    for (int64_t i = 0; i < args->batch; i++) {
        const iso_gemm_member at = member_of(item, args, i);
        for (int p = 0; p < PARTS; p++) {
            iso_gemm_args *one = &products[count++];
            *one = *args;
            one->batch = 1;
            one->a = at.a;
            one->b = at.b;
            one->c = moved(at.c, cuts[p] * ldc, iso_dtype_size(bench_result_type(item)));
            *(by_columns ? &one->b : &one->a) =
                moved(by_columns ? at.b : at.a, cuts[p] * step, item->element);
            *(by_columns ? &one->n : &one->m) = cuts[p + 1] - cuts[p];
            /* A leading dimension of 0 follows from the sizes, which are smaller now. */
            one->lda = !by_columns && turned && ld == 0 ? usual : args->lda;
            one->ldb = by_columns && turned && ld == 0 ? usual : args->ldb;
        }
    }
    return iso_gemm_group(stream, products, count);
}

iso_status gemm_call_of(const bench_case *item, iso_stream stream, const bench_args *args)
{
    return item->gemm.call == GEMM_MEMBERS ? call_members(item, stream, &args->gemm)
           : item->gemm.call == GEMM_GROUP ? call_group(item, stream, &args->gemm)
                                           : iso_execute(stream, ISO_OP_GEMM, args);
}

/* ---- the list -------------------------------------------------------------------------------- */

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fixed[] = {ISO_VARIANT_FIXED};

/* `vendor`: its library too. A fixed product is a problem of its own. */
static void add(verify_list *list, const bench_case *item, bool vendor, bool with_fixed)
{
    static const char *const calls[] = {"", "/members", "/group"};
    const gemm_shape *g = &item->gemm;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after,
             "%s/%s/%s%s/m%lldn%lldk%lld/ld+%d/off%d/a%g,%gb%g,%g%s%s%s/batch%lld%s%s/%s%s",
             item->type, iso_order_name(g->order), iso_trans_name(g->trans_a),
             iso_trans_name(g->trans_b), (long long)g->m, (long long)g->n, (long long)g->k, g->pad,
             g->offset, g->alpha, g->alpha_imag, g->beta, g->beta_imag,
             g->alpha_at ? "-alpha-at" : "", g->beta_at ? "-beta-at" : "",
             g->factor_dtype ? iso_dtype_name(g->factor_dtype) : "", (long long)g->batch,
             g->same_a ? "-a0" : "", g->same_b ? "-b0" : "", arith_fill_name(item->fill),
             calls[g->call]);
    verify_list_add(list, item, variants, vendor ? COUNT(variants) : COUNT(variants) - 1, after);
    if (with_fixed) {
        verify_list_add(list, item, fixed, COUNT(fixed), after);
    }
}

static bench_case start(iso_dtype dtype, iso_dtype dtype_c)
{
    bench_case item = verify_case(&bench_gemm, dtype, "");
    item.gemm = (gemm_shape){.alpha = 1, .batch = 1};
    if (dtype_c) {
        item.dtype_c = dtype_c;
        snprintf(item.type, sizeof item.type, "%s-%s", iso_dtype_name(dtype),
                 iso_dtype_name(dtype_c));
    }
    return item;
}

/* Steps through sizes, layouts, factors and fills, as gemm.c does. */
static bench_case turn_of(iso_dtype dtype, iso_dtype dtype_c, int t)
{
    static const int64_t sizes[] = {1, 7, 64, 33, 0, 65, 16, 129, 3, 63, 31, 9, 97};
    static const int64_t depths[] = {1, 64, 1025, 7, 33, 0, 130, 1024, 17, 2049, 5};
    static const double scalars[][2] = {{1, 0}, {2, -1}, {0, 1},  {-1, 1},
                                        {3, 0}, {1, 1},  {-7, 2}, {0, 0}};
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_INTS,    ARITH_UNIFORM, ARITH_UNIFORM,
                                       ARITH_SPARSE,  ARITH_UNIFORM, ARITH_ZEROS};
    static const int pads[] = {0, 3, 0, 1, 8}, offsets[] = {0, 2, 1, 0, 7};
    bench_case item = start(dtype, dtype_c);
    gemm_shape *g = &item.gemm;
    const bool complex = arith_is_complex(dtype);
    g->order = t & 1 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR;
    g->trans_a = (iso_trans)(complex ? t / 2 % 3 : t / 2 % 2);
    g->trans_b = (iso_trans)(complex ? t / 6 % 3 : t / 4 % 2);
    g->m = sizes[(t * 5) % COUNT(sizes)];
    g->n = sizes[(t * 3 + 2) % COUNT(sizes)];
    g->k = depths[(t * 4 + t / 11) % COUNT(depths)];
    g->alpha = scalars[t % COUNT(scalars)][0];
    g->beta = scalars[t % COUNT(scalars)][1];
    if (dtype != ISO_I8 && t % 3 == 1) {
        g->alpha *= 0.3;
    }
    if (complex && t % 4 != 1) {
        g->alpha_imag = t % 5 == 0 ? 0 : 0.75;
        g->beta_imag = t % 3 == 0 ? 0 : -1.5;
    }
    g->pad = pads[t % COUNT(pads)];
    g->offset = offsets[(t + t / 5) % COUNT(offsets)];
    g->batch = t % 4 == 3 ? 3 : 1;
    g->same_a = t % 8 == 3;
    g->same_b = t % 16 == 7;
    item.fill = fills[(t + t / 7) % COUNT(fills)];
    for (; g->m * g->n * g->k * g->batch > 300000 && g->n > 1; g->n = g->n > 9 ? 9 : 1) {
    }
    return item;
}

static void cover(verify_list *list, iso_dtype dtype, iso_dtype dtype_c, int rounds, int first)
{
    const bool has_fixed = arith_is_float(dtype);
    for (int i = 0; i < rounds; i++) {
        bench_case item = turn_of(dtype, dtype_c, first + i);
        add(list, &item, true, has_fixed && i % 3 == 0);
    }
}

/* Infinities and NaNs, and zeros with signs: bits alone, because a complex factor of a vendor's
 * library may have products that a factor with no imaginary part has not. */
static void special(verify_list *list, iso_dtype dtype)
{
    static const arith_fill fills[] = {ARITH_NAN, ARITH_INF, ARITH_ZEROS, ARITH_SUBNORMAL};
    for (int i = 0; i < COUNT(fills) * 2; i++) {
        bench_case item = turn_of(dtype, (iso_dtype)0, i * 3 + (int)dtype);
        item.fill = fills[i % COUNT(fills)];
        item.gemm.m = 17 + i;
        item.gemm.n = 33;
        item.gemm.k = i == 3 ? 0 : 40;
        add(list, &item, false, false);
    }
}

/* Operands of i8 at the ends of their range, and sums that wrap. */
static void wraps(verify_list *list)
{
    static const struct {
        int64_t m, n, k;
        double alpha, beta;
        arith_fill fill;
    } rows[] = {{9, 17, 140000, 1, 0, ARITH_EXTREMES},
                {33, 5, 1030, 2147483647, -2147483648.0, ARITH_UNIFORM},
                {5, 66, 3, -1, -1, ARITH_EXTREMES},
                {130, 70, 65, 65537, 3, ARITH_UNIFORM}};
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(ISO_I8, i % 2 ? ISO_I32 : (iso_dtype)0);
        snprintf(item.type, sizeof item.type, "i8");
        item.fill = rows[i].fill;
        item.gemm.m = rows[i].m;
        item.gemm.n = rows[i].n;
        item.gemm.k = rows[i].k;
        item.gemm.alpha = rows[i].alpha;
        item.gemm.beta = rows[i].beta;
        item.gemm.trans_b = i & 1 ? ISO_TRANS : ISO_NO_TRANS;
        add(list, &item, true, false);
    }
}

/* Factors on the device. Vendors' libraries are left out, because no bound covers a 0 that meets an
 * infinity. */
static void factors(verify_list *list, iso_dtype dtype, iso_dtype dtype_c)
{
    static const struct {
        int64_t m, n, k;
        double alpha, beta;
        int32_t at; /* bits: 1: alpha, 2: beta */
        iso_dtype type;
        iso_order order;
        arith_fill fill;
    } rows[] = {{17, 33, 65, -0.75, 2, 3, 0, ISO_ROW_MAJOR, ARITH_UNIFORM},
                {66, 9, 1030, 0.5, 0, 1, ISO_F32, ISO_COLUMN_MAJOR, ARITH_UNIFORM},
                {31, 16, 9, 1, 0, 2, ISO_F64, ISO_ROW_MAJOR, ARITH_UNIFORM},
                {9, 40, 7, 0, 1, 3, ISO_F32, ISO_ROW_MAJOR, ARITH_INF},
                {33, 5, 0, -1, 0.3, 1, ISO_F16, ISO_ROW_MAJOR, ARITH_UNIFORM},
                {5, 33, 40, 0.3, -1, 3, ISO_BF16, ISO_COLUMN_MAJOR, ARITH_UNIFORM}};
    for (int i = 0; i < COUNT(rows); i++) {
        const bool complex = arith_is_complex(dtype);
        bench_case item = start(dtype, dtype_c);
        gemm_shape *g = &item.gemm;
        if (complex && (rows[i].type == ISO_F16 || rows[i].type == ISO_BF16)) {
            continue;
        }
        item.fill = rows[i].fill;
        g->m = rows[i].m;
        g->n = rows[i].n;
        g->k = rows[i].k;
        g->alpha = rows[i].alpha;
        g->beta = rows[i].beta;
        g->alpha_imag = complex && i % 2 ? -0.5 : 0;
        g->beta_imag = complex && i == 0 ? 1.5 : 0;
        g->alpha_at = rows[i].at & 1;
        g->beta_at = rows[i].at & 2;
        g->factor_dtype = rows[i].type;
        g->order = rows[i].order;
        g->trans_a = i % 3 == 1 ? ISO_TRANS : ISO_NO_TRANS;
        add(list, &item, false, i < 2 && (dtype == ISO_F32 || dtype == ISO_F64));
    }
}

static void groups(verify_list *list, iso_dtype dtype, iso_dtype dtype_c)
{
    static const struct {
        int64_t m, n, k, batch;
        int32_t trans, pad;
        gemm_call call;
        iso_order order;
    } rows[] = {{7, 5, 9, 1, 0, 0, GEMM_MEMBERS, ISO_ROW_MAJOR},
                {33, 17, 65, 5, 1, 3, GEMM_MEMBERS, ISO_ROW_MAJOR},
                {16, 9, 40, 8, 2, 0, GEMM_MEMBERS, ISO_COLUMN_MAJOR},
                {40, 33, 70, 1, 0, 0, GEMM_GROUP, ISO_ROW_MAJOR},
                {65, 9, 1025, 3, 2, 1, GEMM_GROUP, ISO_ROW_MAJOR},
                {9, 65, 33, 2, 3, 0, GEMM_GROUP, ISO_COLUMN_MAJOR}};
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, dtype_c);
        gemm_shape *g = &item.gemm;
        item.fill = i % 2 ? ARITH_UNIFORM : ARITH_INTS;
        g->m = rows[i].m;
        g->n = rows[i].n;
        g->k = rows[i].k;
        g->batch = rows[i].batch;
        g->trans_a = rows[i].trans & 2 ? ISO_TRANS : ISO_NO_TRANS;
        g->trans_b = rows[i].trans & 1 ? ISO_TRANS : ISO_NO_TRANS;
        g->pad = rows[i].pad;
        g->alpha = -1;
        g->beta = i % 3 == 2 ? 0 : 1;
        g->call = rows[i].call;
        g->order = rows[i].order;
        add(list, &item, true, false);
    }
}

void gemm_option_cases(verify_list *list, bool full)
{
    static const iso_dtype types[][2] = {{ISO_F32, 0},  {ISO_F64, 0},       {ISO_F16, 0},
                                         {ISO_BF16, 0}, {ISO_C64, 0},       {ISO_C128, 0},
                                         {ISO_I8, 0},   {ISO_F16, ISO_F32}, {ISO_BF16, ISO_F32}};
    for (int i = 0; i < COUNT(types); i++) {
        const iso_dtype dtype = types[i][0], dtype_c = types[i][1];
        const bool whole = dtype == ISO_I8, complex = arith_is_complex(dtype);
        cover(list, dtype, dtype_c, complex ? 24 : whole || dtype_c ? 16 : 8, i);
        if (full) {
            cover(list, dtype, dtype_c, 150, 24 + i);
        }
        if (!whole) {
            factors(list, dtype, dtype_c);
        }
        if (full || dtype == ISO_F32 || dtype == ISO_C64 || whole) {
            groups(list, dtype, dtype_c);
        }
        if (complex) {
            special(list, dtype);
        }
    }
    wraps(list);
}
