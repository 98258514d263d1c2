/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.c - the row of products of a matrix and a vector. A case holds a product of matrices with
 * one column. It has the same bits, so the check of products serves both. Documents call m "rows"
 * and k "cols". */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <math.h>
#include <stdio.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static void needs(const bench_case *item, bench_needs *out)
{
    bench_gemm.needs(item, out);
}

static bool has_bits(const bench_case *item)
{
    return bench_gemm.has_bits(item);
}

static void slows(const bench_case *item, bool native, double *rate, double *moved)
{
    bench_gemm.slows(item, native, rate, moved);
}

/* The rows of A as they lie in memory. */
static int64_t stored_rows(const gemm_shape *g)
{
    return (g->trans_a != ISO_NO_TRANS) != (g->order == ISO_COLUMN_MAJOR) ? g->k : g->m;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const gemm_shape *g = &item->gemm;
    iso_gemv_args *args = &all->gemv;
    int64_t rows = stored_rows(g), cols = g->m + g->k - rows;
    *args = (iso_gemv_args)ISO_GEMV_ARGS_INIT;
    args->dtype = item->dtype;
    args->order = g->order;
    args->variant = item->how;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    args->trans = g->trans_a;
    args->m = g->m;
    args->k = g->k;
    args->alpha = g->alpha;
    args->beta = g->beta;
    args->batch = g->batch;
    args->lda = g->pad ? cols + g->pad : 0;
    args->inc_x = item->gemv.inc_x;
    args->inc_y = item->gemv.inc_y;
    args->stride_a = g->same_a ? 0 : rows * (cols + g->pad) + g->pad;
    args->stride_x = g->same_b ? 0 : g->k * item->gemv.inc_x + g->pad;
    args->stride_y = g->m * item->gemv.inc_y + g->pad;
    if (g->blocks == GEMM_NEIGHBOURS) { /* y is the column to the right of A */
        args->lda = args->inc_y = cols + 1 + g->pad;
        args->stride_a = args->stride_y = rows * args->lda;
    } else if (g->blocks == GEMM_BESIDE) { /* the elements of the vectors y alternate */
        args->inc_y = g->batch + g->pad;
        args->stride_y = 1;
    }
    return ISO_OP_GEMV;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->gemv.a = inputs[0];
    args->gemv.x = inputs[1];
    args->gemv.y = result;
}

static bool factors_at(const bench_case *item, unsigned char bytes[BENCH_FACTORS], bench_args *all,
                       iso_buffer buffer)
{
    const gemm_shape *g = &item->gemm;
    iso_gemv_args *args = &all->gemv;
    args->factor_dtype = g->factor_dtype;
    args->alpha = g->alpha_at ? (double)NAN : args->alpha;
    args->beta = g->beta_at ? (double)NAN : args->beta;
    return bench_factors(g, item->dtype, bytes, buffer, &args->alpha_at, &args->beta_at);
}

static bool other_factors(bench_args *args, int i)
{
    bench_args product;
    if (!bench_gemm.other_factors(&product, i)) {
        return false;
    }
    args->gemv.alpha = product.gemm.alpha;
    args->gemv.beta = product.gemm.beta;
    return true;
}

/* ---- measured cases -------------------------------------------------------------------------- */

static void set_layout(bench_case *item, const char *layout)
{
    item->gemm.trans_a = layout[0] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

static void set_size(bench_case *item, const bench_size *size)
{
    item->gemv = (gemv_shape){.product = {.trans_a = item->gemm.trans_a,
                                          .m = size->of[0],
                                          .n = 1,
                                          .k = size->count > 1 ? size->of[1] : size->of[0],
                                          .batch = size->batch,
                                          .alpha = 1},
                              .inc_x = 1,
                              .inc_y = 1};
}

static void shape(const bench_case *item, bench_shape *out)
{
    const gemm_shape *g = &item->gemm;
    *out = (bench_shape){.names = {"rows", "cols", "batch"},
                         .sizes = {g->m, g->k, g->batch},
                         .count = 2,
                         .more = 1,
                         .elements = (double)g->m * (double)g->k * (double)g->batch,
                         .layout = {{"trans_a", iso_trans_name(g->trans_a)}}};
    int at = snprintf(out->form, sizeof out->form, "/%s", iso_trans_name(g->trans_a));
    if (g->batch > 1) {
        snprintf(out->form + at, sizeof out->form - (size_t)at, "/batch%lld", (long long)g->batch);
    }
}

/* ---- conformance cases ----------------------------------------------------------------------- */

static bool lay(const bench_case *item, verify_problem *p)
{
    const gemm_shape *g = &item->gemm;
    bool one = g->blocks == GEMM_NEIGHBOURS;
    int64_t count = g->batch * g->m;
    bench_args args;
    arguments(item, &args);
    verify_region a = {.element = item->element, .batch = g->batch, .offset = g->offset}, x, y;
    a.ones = true;
    x = a;
    y = a;
    a.ones = !one;
    a.rows = stored_rows(g);
    a.cols = g->m + g->k - a.rows;
    a.ld = args.gemv.lda;
    a.stride = args.gemv.stride_a;
    x.rows = g->k;
    x.cols = 1;
    x.ld = args.gemv.inc_x;
    x.stride = args.gemv.stride_x;
    y.rows = g->m;
    y.cols = 1;
    y.ld = args.gemv.inc_y;
    y.stride = args.gemv.stride_y;
    y.ones = false;
    if (one) {
        y.offset += a.cols;
        y.least = g->offset + g->batch * y.stride;
        verify_region_within(&p->regions[0], &a, &p->regions[2]);
    } else if (!verify_region_lay(&p->regions[0], &a)) {
        return false;
    }
    char *before = verify_grow(&p->dense[2], count * item->element);
    if (!before || !verify_region_lay(&p->regions[1], &x) ||
        !verify_region_lay(&p->regions[2], &y)) {
        return false;
    }
    arith_generate(item->dtype, item->fill, item->seed + 3, count, before);
    /* If beta is 0, y is not read, so these NaN must not reach the result. */
    for (int64_t i = 0; g->beta == 0 && !g->beta_at && i < count; i++) {
        arith_set_nan(item->dtype, before + i * item->element);
    }
    verify_region_scatter(&p->regions[2], before);
    return true;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const gemm_shape *g = &item->gemm;
    tool_set_int(sizes, "rows", g->m);
    tool_set_int(sizes, "cols", g->k);
    tool_set_int(sizes, "batch", g->batch);
    tool_set_text(layout, "trans_a", iso_trans_name(g->trans_a));
    tool_set_int(layout, "pad", g->pad);
    tool_set_int(layout, "offset", g->offset);
    tool_set_int(layout, "inc_x", item->gemv.inc_x);
    tool_set_int(layout, "inc_y", item->gemv.inc_y);
    tool_set_number(layout, "alpha", g->alpha);
    tool_set_number(layout, "beta", g->beta);
    if (g->order != ISO_ROW_MAJOR) {
        tool_set_text(layout, "order", iso_order_name(g->order));
    }
    bench_describe_factors(g, item->dtype, layout);
    json_object_set_new(layout, "same_a", json_boolean(g->same_a));
    json_object_set_new(layout, "same_x", json_boolean(g->same_b));
    if (g->blocks != GEMM_OWN) {
        tool_set_text(layout, "blocks", g->blocks == GEMM_BESIDE ? "beside" : "neighbours");
    }
}

/* ---- the conformance list: built as in gemm.c ------------------------------------------------ */

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fast[] = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fixed[] = {ISO_VARIANT_FIXED};

static void add(verify_list *list, const bench_case *item, const iso_variant *which, int count)
{
    static const char *const blocks[] = {"", "/neighbours", "/beside"};
    const gemm_shape *g = &item->gemm;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after,
             "%s/%s/m%lldk%lld/ld+%d/inc%lld,%lld/off%d/a%gb%g/batch%lld%s%s/%s%s%s%s%s%s",
             iso_dtype_name(item->dtype), iso_trans_name(g->trans_a), (long long)g->m,
             (long long)g->k, g->pad, (long long)item->gemv.inc_x, (long long)item->gemv.inc_y,
             g->offset, g->alpha, g->beta, (long long)g->batch, g->same_a ? "-a0" : "",
             g->same_b ? "-x0" : "", arith_fill_name(item->fill),
             item->samples > 0 ? "/sampled" : "", blocks[g->blocks],
             g->order == ISO_COLUMN_MAJOR ? "/column" : "", g->alpha_at ? "/alpha-at" : "",
             g->beta_at ? "/beta-at" : "");
    verify_list_add(list, item, which, count, after);
    /* Fixed is a problem of its own, because its bits are its own. The short list has every fifth.
     */
    if (list->full || list->problems % 5 == 0) {
        verify_list_add(list, item, fixed, COUNT(fixed), after);
    }
}

static bench_case start(iso_dtype dtype, int trans, int64_t m, int64_t k)
{
    bench_case item = verify_case(&bench_gemv, dtype, "");
    item.gemv = (gemv_shape){.product = {.trans_a = trans & 1 ? ISO_TRANS : ISO_NO_TRANS,
                                         .m = m,
                                         .n = 1,
                                         .k = k,
                                         .alpha = 1,
                                         .batch = 1},
                             .inc_x = 1,
                             .inc_y = 1};
    return item;
}

static void cover(verify_list *list, iso_dtype dtype, int trans, int rounds, bool full)
{
    static const int64_t sizes[] = {1,  7,  8,   9,   15,  16,  17,  31, 33, 63, 64,
                                    65, 66, 127, 128, 129, 131, 257, 97, 3,  513};
    static const int64_t depths[] = {1,    1023, 7,    64, 2,    1024, 33,   9, 1025, 128, 17, 31,
                                     2047, 129,  2048, 65, 2049, 131,  3000, 8, 15,   63,  16};
    static const double scalars[][2] = {{1, 0},     {1.5, -0.5}, {0, 1}, {-1, 1},  {0.3, 0}, {1, 1},
                                        {-0.75, 2}, {2, 0},      {1, 0}, {0, 0.5}, {1, 0.1}};
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_INTS,    ARITH_UNIFORM, ARITH_NAN,
                                       ARITH_UNIFORM, ARITH_INTS,    ARITH_INF,     ARITH_SUBNORMAL,
                                       ARITH_INTS,    ARITH_UNIFORM, ARITH_UNIFORM, ARITH_INTS,
                                       ARITH_UNIFORM};
    static const int pads[] = {0, 3, 0, 1, 8};
    static const int offsets[] = {0, 2, 1, 0, 7, 16, 3};
    static const int steps[] = {1, 1, 2, 1, 5, 1, 3, 1};
    static const int batches[] = {1, 1, 1, 3, 1, 1, 3};
    int turn = trans * 5 + (int)dtype * 3 + (full ? 11 : 0);
    for (int i = 0; i < rounds; i++) {
        int t = i + turn;
        bench_case item = start(dtype, trans, sizes[(t * 8) % COUNT(sizes)],
                                depths[(t * 3 + trans) % COUNT(depths)]);
        gemm_shape *g = &item.gemv.product;
        g->alpha = scalars[t % COUNT(scalars)][0];
        g->beta = scalars[t % COUNT(scalars)][1];
        g->pad = pads[(t + t / 5) % COUNT(pads)];
        g->offset = offsets[t % COUNT(offsets)];
        g->batch = batches[(t + t / 7) % COUNT(batches)];
        g->same_a = g->batch > 1 && t % 3 == 1;
        g->same_b = g->batch > 1 && t % 3 == 2;
        item.gemv.inc_x = steps[t % COUNT(steps)];
        item.gemv.inc_y = steps[(t * 3 + 5) % COUNT(steps)];
        item.fill = fills[(t * 5 + t / 13) % COUNT(fills)];
        add(list, &item, variants, COUNT(variants));
    }
}

static void corners(verify_list *list, iso_dtype dtype, int trans)
{
    static const int64_t shapes[][2] = {{0, 5},    {5, 0},    {0, 0},    {1, 1},    {1, 3000},
                                        {129, 77}, {3, 1024}, {2, 1025}, {5, 2048}, {9, 2049},
                                        {400, 40}, {40, 400}, {1000, 7}, {19, 19}};
    for (int i = 0; i < COUNT(shapes); i++) {
        for (int over = 0; over < 2; over++) {
            bench_case item = start(dtype, trans, shapes[i][0], shapes[i][1]);
            item.fill = over ? ARITH_INTS : ARITH_UNIFORM;
            item.gemv.product.beta = over ? -0.5 : 0;
            item.gemv.product.pad = over * 5;
            item.gemv.product.offset = over;
            item.gemv.inc_x = 1 + over;
            item.gemv.inc_y = 1 + over * 2;
            add(list, &item, variants, COUNT(variants));
        }
    }
}

/* Factors that in f32 are subnormal, overflow or become 0. Vendors' libraries are left out, because
 * no bound covers them here. */
static void factors(verify_list *list, iso_dtype dtype)
{
    static const double scalars[][2] = {{1e-310, 0.1}, {1e-40, 0}, {1e300, 0}, {0.1, -1e300}};
    for (int i = 0; i < COUNT(scalars); i++) {
        bench_case item = start(dtype, i, 17, 7);
        item.gemv.product.alpha = scalars[i][0];
        item.gemv.product.beta = scalars[i][1];
        add(list, &item, variants, COUNT(variants) - 1);
    }
}

/* y lies in the gaps between A's rows, or the elements of a batch's vectors y alternate. */
static void blocks(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, k;
        int32_t trans, pad, offset, batch;
        gemm_blocks how;
    } rows[] = {
        {5, 3, 0, 0, 0, 1, GEMM_NEIGHBOURS},   {64, 1030, 0, 0, 3, 1, GEMM_NEIGHBOURS},
        {33, 65, 0, 5, 1, 3, GEMM_NEIGHBOURS}, {7, 6, 0, 0, 0, 4, GEMM_BESIDE},
        {130, 17, 1, 3, 1, 5, GEMM_BESIDE},    {16, 1025, 1, 0, 0, 3, GEMM_BESIDE},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, rows[i].trans, rows[i].m, rows[i].k);
        gemm_shape *g = &item.gemv.product;
        item.fill = i % 2 ? ARITH_INTS : ARITH_UNIFORM;
        g->alpha = -1;
        g->beta = i % 3 == 2 ? 0 : 1;
        g->pad = rows[i].pad;
        g->offset = rows[i].offset;
        g->batch = rows[i].batch;
        g->blocks = rows[i].how;
        add(list, &item, variants, COUNT(variants));
    }
}

/* A zero sum times a negative alpha is -0, which must not become +0. */
static void signs(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, k;
        double alpha, beta;
    } zeros[] = {{17, 0, -1, 0}, {9, 5, -1, 0}, {66, 3000, -0.75, 0}, {33, 4, -1, -0.5}};
    for (int i = 0; i < COUNT(zeros); i++) {
        bench_case item = start(dtype, i + (int)dtype, zeros[i].m, zeros[i].k);
        item.fill = ARITH_ZEROS;
        item.gemv.product.alpha = zeros[i].alpha;
        item.gemv.product.beta = zeros[i].beta;
        add(list, &item, variants, COUNT(variants));
    }
}

/* GPUs run these without tiles: there are many words of 16 bytes beside each other. They read eight
 * of k ahead, twice, and three one by one. */
static void wide(verify_list *list, iso_dtype dtype)
{
    enum { WORDS = 68000 };
    const int64_t word = 16 / iso_dtype_size(dtype);
    const bool odd = word == 4; /* f32: rows that do not begin at whole words */
    bench_case item = start(dtype, 1, WORDS * word + odd, 19);
    item.fill = ARITH_UNIFORM;
    item.gemv.product.beta = odd ? -0.5 : 0;
    add(list, &item, fast, 1);
    if (dtype == ISO_F32) { /* many vectors by one A: 2 segments of k, of 10 words each */
        item = start(dtype, 1, 40, 1030);
        item.fill = ARITH_UNIFORM;
        item.gemv.product.batch = WORDS / (2 * 10);
        item.gemv.product.same_a = true;
        add(list, &item, fast, 1);
    }
}

/* A stored by columns, and factors on the device. Vendors' libraries are left out where those are 0
 * or of another type, because their products have no bound there. */
static void options(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, k;
        int32_t trans, pad, batch;
        double alpha, beta;
        int32_t at; /* bits: 1: alpha, 2: beta */
        iso_dtype factor;
        iso_order order;
    } rows[] = {
        {33, 65, 0, 3, 1, 1, 0, 0, 0, ISO_COLUMN_MAJOR},
        {130, 1025, 1, 0, 3, 0.5, -1, 0, 0, ISO_COLUMN_MAJOR},
        {66, 31, 0, 1, 1, -0.75, 2, 3, 0, ISO_ROW_MAJOR},
        {17, 1030, 1, 0, 3, 0.3, 0, 1, ISO_F16, ISO_COLUMN_MAJOR},
        {9, 0, 0, 0, 1, 1, 0, 2, ISO_F64, ISO_ROW_MAJOR},
        {40, 7, 1, 0, 1, 0, 1, 3, ISO_F32, ISO_ROW_MAJOR},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, rows[i].trans, rows[i].m, rows[i].k);
        gemm_shape *g = &item.gemv.product;
        g->pad = rows[i].pad;
        g->batch = rows[i].batch;
        g->alpha = rows[i].alpha;
        g->beta = rows[i].beta;
        g->alpha_at = rows[i].at & 1;
        g->beta_at = rows[i].at & 2;
        g->factor_dtype = rows[i].factor;
        g->order = rows[i].order;
        item.gemv.inc_x = 1 + i % 2;
        item.gemv.inc_y = 1 + i % 3;
        add(list, &item, variants, rows[i].at ? COUNT(variants) - 1 : COUNT(variants));
    }
}

static void large(verify_list *list, iso_dtype dtype)
{
    static const int64_t shapes[][2] = {{4096, 4096}, {1000, 9000}, {60000, 70}, {3, 300000}};
    for (int i = 0; i < COUNT(shapes) * 2; i++) {
        bench_case item = start(dtype, i, shapes[i / 2][0], shapes[i / 2][1]);
        item.fill = ARITH_UNIFORM;
        item.samples = 64;
        add(list, &item, fast, COUNT(fast));
    }
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_float(0); dtype; dtype = bench_float(dtype)) {
        for (int trans = 0; trans < 2; trans++) {
            corners(list, dtype, trans);
            cover(list, dtype, trans, 24, false);
            if (full) {
                cover(list, dtype, trans, 150, true);
            }
        }
        factors(list, dtype);
        blocks(list, dtype);
        signs(list, dtype);
        wide(list, dtype);
        options(list, dtype);
        if (full) {
            large(list, dtype);
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const layouts[] = {"n", "t", NULL};
static const char *const layout_members[] = {"trans_a", NULL};

const bench_op bench_gemv = {
    .name = "gemv",
    .measured = "gemv",
    .verified = "gemv",
    .title = "Products with a vector",
    .size = "N",
    .variants = bench_fixed_variants,
    .types = bench_float_types,
    .layouts = layouts,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "n",
    .counts = 1 << 1 | 1 << 2,
    .size_members = bench_matrix_members,
    .layout_members = layout_members,
    .batches = true,
    .libraries = true,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_gemm,
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
    .companies = gemv_companies,
    .view = gemm_view,
    .describe = describe,
};
