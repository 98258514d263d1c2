/* SPDX-License-Identifier: Apache-2.0 */
/* syrk.c - the row of symmetric products. A case holds the product of op(A) and its transpose, of
 * which one triangle is made. Documents call the sizes n and k. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <math.h>
#include <stdio.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static void needs(const bench_case *item, bench_needs *out)
{
    const gemm_shape *g = &item->syrk.product;
    out->bytes[0] = (g->same_a ? 1 : g->batch) * g->m * g->k * item->element;
    out->results = g->batch * g->m * g->m;
    out->result_type = item->dtype;
    out->apart = !bench_gemm.has_bits(item); /* as in gemm.c */
}

/* The rows of A as they lie in memory. */
static int64_t stored_rows(const gemm_shape *g)
{
    return (g->trans_a != ISO_NO_TRANS) != (g->order == ISO_COLUMN_MAJOR) ? g->k : g->m;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const gemm_shape *g = &item->syrk.product;
    iso_syrk_args *args = &all->syrk;
    const int64_t rows = stored_rows(g), cols = g->m + g->k - rows;
    *args = (iso_syrk_args)ISO_SYRK_ARGS_INIT;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->triangle = item->syrk.triangle;
    args->trans = g->trans_a;
    args->order = g->order;
    args->n = g->m;
    args->k = g->k;
    args->alpha = g->alpha;
    args->alpha_imag = g->alpha_imag;
    args->beta = g->beta;
    args->beta_imag = g->beta_imag;
    args->lda = g->pad ? cols + g->pad : 0;
    args->ldc = g->pad ? g->m + g->pad : 0;
    args->batch = g->batch;
    args->stride_a = g->same_a ? 0 : rows * (cols + g->pad) + g->pad;
    args->stride_c = g->m * (g->m + g->pad) + g->pad;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    return ISO_OP_SYRK;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->syrk.a = inputs[0];
    args->syrk.c = result;
}

static bool other_factors(bench_args *args, int i)
{
    static const double others[][2] = {{1, 0}, {0, 0}, {0, 0.5}};
    if (i == COUNT(others)) {
        return false;
    }
    args->syrk.alpha = others[i][0];
    args->syrk.beta = others[i][1];
    return true;
}

static bool factors_at(const bench_case *item, unsigned char bytes[BENCH_FACTORS], bench_args *all,
                       iso_buffer buffer)
{
    const gemm_shape *g = &item->syrk.product;
    iso_syrk_args *args = &all->syrk;
    args->factor_dtype = g->factor_dtype;
    args->alpha = g->alpha_at ? (double)NAN : args->alpha;
    args->beta = g->beta_at ? (double)NAN : args->beta;
    return bench_factors(g, item->dtype, bytes, buffer, &args->alpha_at, &args->beta_at);
}

static bool has_bits(const bench_case *item)
{
    return bench_gemm.has_bits(item);
}

static void slows(const bench_case *item, bool native, double *rate, double *moved)
{
    bench_gemm.slows(item, native, rate, moved);
}

/* ---- measured cases -------------------------------------------------------------------------- */

/* "lower-n" */
static void set_layout(bench_case *item, const char *layout)
{
    item->syrk.triangle = layout[0] == 'u' ? ISO_UPPER : ISO_LOWER;
    item->syrk.product.trans_a = layout[6] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

static void set_product(bench_case *item, int64_t n, int64_t k)
{
    gemm_shape *g = &item->syrk.product;
    g->trans_b = g->trans_a == ISO_NO_TRANS ? ISO_TRANS : ISO_NO_TRANS;
    g->m = g->n = n;
    g->k = k;
    g->alpha = 1;
    g->batch = 1;
}

static void set_size(bench_case *item, const bench_size *size)
{
    set_product(item, size->of[0], size->count > 1 ? size->of[1] : size->of[0]);
    item->syrk.product.batch = size->batch;
}

static void shape(const bench_case *item, bench_shape *out)
{
    const gemm_shape *g = &item->syrk.product;
    const double n = (double)g->m, k = (double)g->k;
    const char *triangle = iso_triangle_name(item->syrk.triangle);
    const char *trans = iso_trans_name(g->trans_a);
    *out = (bench_shape){.names = {"n", "k", "batch"},
                         .sizes = {g->m, g->k, g->batch},
                         .count = 2,
                         .more = 1,
                         .elements = (n * k + n * n) * (double)g->batch,
                         .layout = {{"triangle", triangle}, {"trans_a", trans}}};
    int at = snprintf(out->form, sizeof out->form, "/%s-%s", triangle, trans);
    if (g->batch > 1) {
        snprintf(out->form + at, sizeof out->form - (size_t)at, "/batch%lld", (long long)g->batch);
    }
}

/* ---- conformance cases ----------------------------------------------------------------------- */

/* The other triangle of C is not read, so it is NaN. So is all of C if beta is 0. */
static void spoil(const bench_case *item, unsigned char *before)
{
    const gemm_shape *g = &item->syrk.product;
    const bool lower = (item->syrk.triangle == ISO_LOWER) != (g->order == ISO_COLUMN_MAJOR);
    const bool unread = g->beta == 0 && g->beta_imag == 0 && !g->beta_at;
    for (int64_t i = 0; i < g->batch * g->m; i++) {
        for (int64_t j = 0; j < g->m; j++) {
            if (unread || (lower ? j > i % g->m : j < i % g->m)) {
                arith_set_nan(item->dtype, before + (i * g->m + j) * item->element);
            }
        }
    }
}

static bool lay(const bench_case *item, verify_problem *p)
{
    const gemm_shape *g = &item->syrk.product;
    const int64_t count = g->batch * g->m * g->m;
    bench_args args;
    arguments(item, &args);
    verify_region a = {.element = item->element, .batch = g->batch, .offset = g->offset}, c = a;
    a.ones = true;
    a.rows = stored_rows(g);
    a.cols = g->m + g->k - a.rows;
    a.ld = args.syrk.lda;
    a.stride = args.syrk.stride_a;
    c.rows = c.cols = g->m;
    c.ld = args.syrk.ldc;
    c.stride = args.syrk.stride_c;
    unsigned char *before = verify_grow(&p->dense[2], count * item->element);
    if (!before || !verify_region_lay(&p->regions[0], &a) ||
        !verify_region_lay(&p->regions[2], &c)) {
        return false;
    }
    arith_generate(item->dtype, item->fill, item->seed + 3, count, before);
    spoil(item, before);
    verify_region_scatter(&p->regions[2], before);
    return true;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const gemm_shape *g = &item->syrk.product;
    tool_set_int(sizes, "n", g->m);
    tool_set_int(sizes, "k", g->k);
    tool_set_int(sizes, "batch", g->batch);
    tool_set_text(layout, "triangle", iso_triangle_name(item->syrk.triangle));
    tool_set_text(layout, "trans_a", iso_trans_name(g->trans_a));
    tool_set_text(layout, "order", iso_order_name(g->order));
    tool_set_int(layout, "pad", g->pad);
    tool_set_int(layout, "offset", g->offset);
    tool_set_number(layout, "alpha", g->alpha);
    tool_set_number(layout, "beta", g->beta);
    json_object_set_new(layout, "same_a", json_boolean(g->same_a));
    bench_describe_factors(g, item->dtype, layout);
}

static void add(verify_list *list, const bench_case *item, bool vendor)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_VENDOR};
    const gemm_shape *g = &item->syrk.product;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after,
             "%s/%s-%s-%s/n%lldk%lld/ld+%d/off%d/a%g,%gb%g,%g%s%s/batch%lld%s/%s", item->type,
             iso_triangle_name(item->syrk.triangle), iso_trans_name(g->trans_a),
             iso_order_name(g->order), (long long)g->m, (long long)g->k, g->pad, g->offset,
             g->alpha, g->alpha_imag, g->beta, g->beta_imag, g->alpha_at ? "-alpha-at" : "",
             g->beta_at ? "-beta-at" : "", (long long)g->batch, g->same_a ? "-a0" : "",
             arith_fill_name(item->fill));
    verify_list_add(list, item, variants, vendor ? COUNT(variants) : COUNT(variants) - 1, after);
}

static bench_case start(iso_dtype dtype, int turn, int64_t n, int64_t k)
{
    bench_case item = verify_case(&bench_syrk, dtype, "");
    item.syrk.triangle = turn & 1 ? ISO_UPPER : ISO_LOWER;
    item.syrk.product.trans_a = turn & 2 ? ISO_TRANS : ISO_NO_TRANS;
    item.syrk.product.order = turn & 4 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR;
    set_product(&item, n, k);
    return item;
}

static void cover(verify_list *list, iso_dtype dtype, bool full)
{
    static const int64_t sizes[] = {0, 1, 63, 64, 65, 7, 129, 31, 200, 2, 16, 97, 33};
    static const int64_t depths[] = {5, 0, 1, 64, 1025, 33, 9, 3, 130, 17, 2049};
    static const double scalars[][2] = {{1, 0},    {1.5, -0.5}, {0, 1},    {-1, 1},
                                        {0.25, 0}, {0, 0},      {-0.75, 2}};
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_INTS, ARITH_UNIFORM, ARITH_SPARSE,
                                       ARITH_ZEROS};
    const int rounds = full ? 120 : 13;
    for (int i = 0; i < rounds; i++) {
        const int t = i + (int)dtype * 3;
        bench_case item =
            start(dtype, i + (int)dtype, sizes[i % COUNT(sizes)], depths[(t * 3) % COUNT(depths)]);
        gemm_shape *g = &item.syrk.product;
        g->alpha = scalars[t % COUNT(scalars)][0];
        g->beta = scalars[t % COUNT(scalars)][1];
        if (arith_is_complex(dtype) && t % 3 == 1) {
            g->alpha_imag = -0.5;
            g->beta_imag = g->beta == 0 ? 0 : 1.25;
        }
        g->pad = i % 3 == 1 ? 5 : 0;
        g->offset = t % 4;
        g->batch = i % 5 == 2 ? 3 : 1;
        g->same_a = i % 10 == 2;
        item.fill = fills[t % COUNT(fills)];
        add(list, &item, true);
    }
}

static void factors(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t n, k;
        double alpha, beta;
        int32_t at; /* bits: 1: alpha, 2: beta */
        iso_dtype type;
    } rows[] = {{65, 33, -0.5, 2, 3, 0}, {70, 9, 0.5, 0, 1, ISO_F32}, {31, 5, 1, 0, 2, ISO_F64}};
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, i * 3 + (int)dtype, rows[i].n, rows[i].k);
        gemm_shape *g = &item.syrk.product;
        g->alpha = rows[i].alpha;
        g->beta = rows[i].beta;
        g->alpha_at = rows[i].at & 1;
        g->beta_at = rows[i].at & 2;
        g->factor_dtype = rows[i].type;
        item.fill = ARITH_UNIFORM;
        add(list, &item, false);
    }
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_next(bench_wide_types, 0); dtype;
         dtype = bench_next(bench_wide_types, dtype)) {
        cover(list, dtype, false);
        factors(list, dtype);
        if (full) {
            cover(list, dtype, true);
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const layouts[] = {"lower-n", "lower-t", "upper-n", "upper-t", NULL};
static const char *const size_members[] = {"n", "k", NULL};
static const char *const layout_members[] = {"triangle", "trans_a", NULL};

const bench_op bench_syrk = {
    .name = "syrk",
    .measured = "syrk",
    .verified = "syrk",
    .title = "Symmetric products",
    .size = "N",
    .computes = "",
    .variants = bench_plain_variants,
    .types = bench_wide_types,
    .layouts = layouts,
    .usual_variants = "tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "lower-n",
    .counts = 1 << 1 | 1 << 2,
    .size_members = size_members,
    .layout_members = layout_members,
    .layout_mark = "-",
    .batches = true,
    .libraries = true,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_syrk,
    .other_factors = other_factors,
    .factors = factors_at,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .has_bits = has_bits,
    .slows = slows,
    .same_in_variants = true,
    .cases = cases,
    .lay = lay,
    .describe = describe,
};
