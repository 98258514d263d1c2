/* SPDX-License-Identifier: Apache-2.0 */
/* trsm.c - the row of triangular solves. trsm_own.c measures them. */
#include "bench/ops/trsm.h"

#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

/* The rows of A. */
static int64_t side_of(const trsm_shape *t)
{
    return t->side == ISO_LEFT ? t->m : t->n;
}

static void needs(const bench_case *item, bench_needs *out)
{
    const trsm_shape *t = &item->trsm;
    if (item->samples > 0) { /* a measured case has arrays of its own */
        out->inputs = 0;
        return;
    }
    out->bytes[0] = (t->same_a ? 1 : t->batch) * side_of(t) * side_of(t) * item->element;
    out->results = t->batch * t->m * t->n;
    out->result_type = item->dtype;
}

iso_op_kind trsm_arguments(const bench_case *item, bench_args *all)
{
    const trsm_shape *t = &item->trsm;
    iso_trsm_args *args = &all->trsm;
    const bool by_columns = t->order == ISO_COLUMN_MAJOR;
    const int64_t side = side_of(t), cols = by_columns ? t->m : t->n;
    *args = (iso_trsm_args)ISO_TRSM_ARGS_INIT;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->side = t->side;
    args->triangle = t->triangle;
    args->trans = t->trans;
    args->unit_diagonal = t->unit;
    args->order = t->order;
    args->m = t->m;
    args->n = t->n;
    args->alpha = t->alpha;
    args->alpha_imag = t->alpha_imag;
    args->lda = t->pad ? side + t->pad : 0;
    args->ldb = t->pad ? cols + t->pad : 0;
    args->batch = t->batch;
    args->stride_a = t->same_a ? 0 : side * (side + t->pad) + t->pad;
    args->stride_b = (by_columns ? t->n : t->m) * (cols + t->pad) + t->pad;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    return ISO_OP_TRSM;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->trsm.a = inputs[0];
    args->trsm.b = result;
}

static bool other_factors(bench_args *args, int i)
{
    static const double others[] = {1, 0, 0.5};
    if (i == COUNT(others)) {
        return false;
    }
    args->trsm.alpha = others[i];
    return true;
}

static bool factors_at(const bench_case *item, unsigned char bytes[BENCH_FACTORS], bench_args *all,
                       iso_buffer buffer)
{
    const trsm_shape *t = &item->trsm;
    const gemm_shape factors = {.alpha = t->alpha,
                                .alpha_imag = t->alpha_imag,
                                .alpha_at = t->alpha_at,
                                .factor_dtype = t->factor_dtype};
    iso_trsm_args *args = &all->trsm;
    iso_operand none;
    args->factor_dtype = t->factor_dtype;
    args->alpha = t->alpha_at ? (double)NAN : args->alpha;
    return bench_factors(&factors, item->dtype, bytes, buffer, &args->alpha_at, &none);
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

/* "left-lower-n" */
static void set_layout(bench_case *item, const char *layout)
{
    trsm_shape *t = &item->trsm;
    t->side = layout[0] == 'r' ? ISO_RIGHT : ISO_LEFT;
    t->triangle = strchr(layout, '-')[1] == 'u' ? ISO_UPPER : ISO_LOWER;
    t->trans = strrchr(layout, '-')[1] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

static void set_size(bench_case *item, const bench_size *size)
{
    trsm_shape *t = &item->trsm;
    t->m = size->of[0];
    t->n = size->count > 1 ? size->of[1] : size->of[0];
    t->alpha = 1;
    t->batch = size->batch;
}

static void shape(const bench_case *item, bench_shape *out)
{
    const trsm_shape *t = &item->trsm;
    const double side = (double)side_of(t);
    const char *at = iso_side_name(t->side), *triangle = iso_triangle_name(t->triangle);
    const char *trans = iso_trans_name(t->trans);
    *out = (bench_shape){.names = {"m", "n", "batch"},
                         .sizes = {t->m, t->n, t->batch},
                         .count = 2,
                         .more = 1,
                         .elements = (side * side + (double)t->m * (double)t->n) * (double)t->batch,
                         .layout = {{"side", at}, {"triangle", triangle}, {"trans_a", trans}}};
    int length = snprintf(out->form, sizeof out->form, "/%s-%s-%s", at, triangle, trans);
    if (t->batch > 1) {
        snprintf(out->form + length, sizeof out->form - (size_t)length, "/batch%lld",
                 (long long)t->batch);
    }
}

/* ---- conformance cases ----------------------------------------------------------------------- */

/* Makes each triangle one that is dominated by its diagonal, so that solutions stay tame: the other
 * elements are scaled by a power of two below 1 / n, and the real parts of the diagonal's are
 * beyond 1. What is not read is NaN. */
static void fit(const bench_case *item, int input, void *dense)
{
    const trsm_shape *t = &item->trsm;
    const int64_t side = side_of(t), members = t->same_a ? 1 : t->batch;
    const bool lower = (t->triangle == ISO_LOWER) != (t->order == ISO_COLUMN_MAJOR);
    const iso_dtype part = arith_part(item->dtype);
    const int64_t size = iso_dtype_size(part), parts = item->element / size;
    double scale = 1;
    (void)input;
    while (scale * (double)side > 1) {
        scale /= 2;
    }
    for (int64_t e = 0; e < members * side * side; e++) {
        unsigned char *at = (unsigned char *)dense + e * item->element;
        const int64_t i = e / side % side, j = e % side;
        const double x = arith_load(part, at);
        if (i == j ? t->unit : lower ? j > i : j < i) {
            arith_set_nan(item->dtype, at);
        } else if (i == j) {
            arith_store(part, at, x < 0 ? x - 1 : x + 1);
        } else {
            for (int64_t p = 0; p < parts; p++) {
                arith_store(part, at + p * size, scale * arith_load(part, at + p * size));
            }
        }
    }
}

static bool lay(const bench_case *item, verify_problem *p)
{
    const trsm_shape *t = &item->trsm;
    const int64_t count = t->batch * t->m * t->n;
    bench_args args;
    trsm_arguments(item, &args);
    verify_region a = {.element = item->element, .batch = t->batch, .offset = t->offset}, b = a;
    a.ones = true;
    a.rows = a.cols = side_of(t);
    a.ld = args.trsm.lda;
    a.stride = args.trsm.stride_a;
    b.rows = t->order == ISO_COLUMN_MAJOR ? t->n : t->m;
    b.cols = t->m + t->n - b.rows;
    b.ld = args.trsm.ldb;
    b.stride = args.trsm.stride_b;
    char *before = verify_grow(&p->dense[2], count * item->element);
    if (!before || !verify_region_lay(&p->regions[0], &a) ||
        !verify_region_lay(&p->regions[2], &b)) {
        return false;
    }
    arith_generate(item->dtype, item->fill, item->seed + 3, count, before);
    /* If alpha is 0, B is not read. */
    for (int64_t i = 0; t->alpha == 0 && t->alpha_imag == 0 && !t->alpha_at && i < count; i++) {
        arith_set_nan(item->dtype, before + i * item->element);
    }
    verify_region_scatter(&p->regions[2], before);
    return true;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const trsm_shape *t = &item->trsm;
    tool_set_int(sizes, "m", t->m);
    tool_set_int(sizes, "n", t->n);
    tool_set_int(sizes, "batch", t->batch);
    tool_set_text(layout, "side", iso_side_name(t->side));
    tool_set_text(layout, "triangle", iso_triangle_name(t->triangle));
    tool_set_text(layout, "trans_a", iso_trans_name(t->trans));
    tool_set_text(layout, "order", iso_order_name(t->order));
    json_object_set_new(layout, "unit_diagonal", json_boolean(t->unit));
    tool_set_int(layout, "pad", t->pad);
    tool_set_int(layout, "offset", t->offset);
    tool_set_number(layout, "alpha", t->alpha);
    if (arith_is_complex(item->dtype)) {
        tool_set_number(layout, "alpha_imag", t->alpha_imag);
    }
    if (t->alpha_at) {
        tool_set_text(layout, "on_device", "alpha");
    }
    json_object_set_new(layout, "same_a", json_boolean(t->same_a));
}

static void add(verify_list *list, const bench_case *item, bool vendor)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_VENDOR};
    const trsm_shape *t = &item->trsm;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after, "%s/%s-%s-%s-%s%s/m%lldn%lld/ld+%d/off%d/a%g,%g%s/batch%lld%s/%s",
             item->type, iso_side_name(t->side), iso_triangle_name(t->triangle),
             iso_trans_name(t->trans), iso_order_name(t->order), t->unit ? "-unit" : "",
             (long long)t->m, (long long)t->n, t->pad, t->offset, t->alpha, t->alpha_imag,
             t->alpha_at ? "-at" : "", (long long)t->batch, t->same_a ? "-a0" : "",
             arith_fill_name(item->fill));
    verify_list_add(list, item, variants, vendor ? COUNT(variants) : COUNT(variants) - 1, after);
}

/* The bits of `turn` are the side, the triangle, the order and the unit diagonal. */
static bench_case start(iso_dtype dtype, int turn, int64_t side, int64_t systems)
{
    bench_case item = verify_case(&bench_trsm, dtype, "");
    trsm_shape *t = &item.trsm;
    t->side = turn & 1 ? ISO_RIGHT : ISO_LEFT;
    t->triangle = turn & 2 ? ISO_UPPER : ISO_LOWER;
    t->order = turn & 4 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR;
    t->unit = turn & 8;
    t->trans = (iso_trans)(turn / 3 % (arith_is_complex(dtype) ? 3 : 2));
    t->m = t->side == ISO_LEFT ? side : systems;
    t->n = t->side == ISO_LEFT ? systems : side;
    t->alpha = 1;
    t->batch = 1;
    return item;
}

static void cover(verify_list *list, iso_dtype dtype, int rounds, int first)
{
    static const int64_t sides[] = {64, 1, 65, 7, 0, 63, 130, 33, 2, 200, 128, 31, 257};
    static const int64_t systems[] = {5, 33, 1, 64, 9, 0, 17, 130, 3};
    static const double scalars[][2] = {{1, 0}, {-0.5, 0.75}, {0.3, 0}, {0, 0}, {2, -1}, {-1, 0}};
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_INTS, ARITH_UNIFORM, ARITH_UNIFORM};
    for (int i = 0; i < rounds; i++) {
        const int t = first + i;
        bench_case item =
            start(dtype, t, sides[t % COUNT(sides)], systems[(t * 2 + t / 9) % COUNT(systems)]);
        trsm_shape *of = &item.trsm;
        of->alpha = scalars[t % COUNT(scalars)][0];
        of->alpha_imag = arith_is_complex(dtype) ? scalars[t % COUNT(scalars)][1] : 0;
        of->pad = t % 3 == 1 ? 3 : 0;
        of->offset = t % 5 == 2 ? 7 : 0;
        of->batch = t % 4 == 2 ? 3 : 1;
        of->same_a = t % 8 == 6;
        item.fill = fills[t % COUNT(fills)];
        add(list, &item, true);
    }
}

/* Sides at the ends of blocks and panels, in each direction. Large ones take long in every variant,
 * so most are in the full list. */
static void panels(verify_list *list, iso_dtype dtype, bool full)
{
    static const int64_t sides[] = {1025, 1024, 1023, 1089, 2049, 2112, 3000};
    for (int i = 0; i < (full ? COUNT(sides) * 4 : 2); i++) {
        bench_case item = start(dtype, i * 3 + (int)dtype, sides[i % COUNT(sides)], 1 + i % 4);
        item.trsm.alpha = i % 2 ? 1 : -0.75;
        item.fill = ARITH_UNIFORM;
        add(list, &item, true);
    }
}

/* Infinities, NaNs, subnormals and signs of zeros, and factors on the device: bits alone. */
static void special(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t side, systems;
        double alpha;
        bool at;
        iso_dtype factor;
        arith_fill fill;
    } rows[] = {{70, 9, 1, false, 0, ARITH_INF},         {130, 5, -1, false, 0, ARITH_NAN},
                {33, 17, -1, false, 0, ARITH_ZEROS},     {65, 3, 0.5, false, 0, ARITH_SUBNORMAL},
                {66, 31, -0.3, true, 0, ARITH_UNIFORM},  {9, 7, 0, true, ISO_F32, ARITH_INF},
                {31, 5, 1, true, ISO_F64, ARITH_UNIFORM}};
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, i * 5 + (int)dtype, rows[i].side, rows[i].systems);
        item.trsm.alpha = rows[i].alpha;
        item.trsm.alpha_at = rows[i].at;
        item.trsm.factor_dtype = rows[i].factor;
        item.fill = rows[i].fill;
        add(list, &item, false);
    }
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_next(bench_wide_types, 0); dtype;
         dtype = bench_next(bench_wide_types, dtype)) {
        cover(list, dtype, 16, (int)dtype);
        panels(list, dtype, false);
        special(list, dtype);
        if (full) {
            cover(list, dtype, 144, 16 + (int)dtype);
            panels(list, dtype, true);
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const layouts[] = {"left-lower-n",  "left-lower-t",  "left-upper-n",
                                      "left-upper-t",  "right-lower-n", "right-lower-t",
                                      "right-upper-n", "right-upper-t", NULL};
static const char *const size_members[] = {"m", "n", NULL};
static const char *const layout_members[] = {"side", "triangle", "trans_a", NULL};

const bench_op bench_trsm = {
    .name = "trsm",
    .measured = "trsm",
    .verified = "trsm",
    .title = "Triangular solves",
    .size = "N",
    .computes = "",
    .variants = bench_plain_variants,
    .types = bench_wide_types,
    .layouts = layouts,
    .usual_variants = "tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "left-lower-n",
    .counts = 1 << 1 | 1 << 2,
    .size_members = size_members,
    .layout_members = layout_members,
    .layout_mark = "-",
    .batches = true,
    .libraries = true,
    .needs = needs,
    .arguments = trsm_arguments,
    .operands = operands,
    .check = check_trsm,
    .other_factors = other_factors,
    .factors = factors_at,
    .fit = fit,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .has_bits = has_bits,
    .own = &trsm_own,
    .slows = slows,
    .same_in_variants = true,
    .cases = cases,
    .lay = lay,
    .describe = describe,
};
