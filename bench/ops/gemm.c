/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the row of products. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

iso_dtype bench_result_type(const bench_case *item)
{
    return item->dtype_c != 0 ? item->dtype_c : item->dtype == ISO_I8 ? ISO_I32 : item->dtype;
}

/* The rows of a matrix as they lie in memory, if op(X) has rows x cols elements. */
static int64_t stored_rows(const gemm_shape *g, iso_trans trans, int64_t rows, int64_t cols)
{
    return (trans != ISO_NO_TRANS) != (g->order == ISO_COLUMN_MAJOR) ? cols : rows;
}

static void needs(const bench_case *item, bench_needs *out)
{
    const gemm_shape *g = &item->gemm;
    out->inputs = 2;
    out->bytes[0] = (g->same_a ? 1 : g->batch) * g->m * g->k * item->element;
    out->bytes[1] = (g->same_b ? 1 : g->batch) * g->k * g->n * item->element;
    out->results = g->batch * g->m * g->n;
    out->result_type = bench_result_type(item);
    /* Before it multiplies, CLBlast copies operands that are not at the beginning of a buffer. A
     * program that calls only this product would avoid that, so each operand has a buffer here. */
    out->apart = item->how == ISO_VARIANT_VENDOR || item->how == ISO_VARIANT_AUTO;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const gemm_shape *g = &item->gemm;
    iso_gemm_args *args = &all->gemm;
    int64_t rows_a = stored_rows(g, g->trans_a, g->m, g->k), cols_a = g->m + g->k - rows_a;
    int64_t rows_b = stored_rows(g, g->trans_b, g->k, g->n), cols_b = g->k + g->n - rows_b;
    int64_t rows_c = stored_rows(g, ISO_NO_TRANS, g->m, g->n), cols_c = g->m + g->n - rows_c;
    *args = (iso_gemm_args)ISO_GEMM_ARGS_INIT;
    args->dtype = item->dtype;
    args->dtype_c = item->dtype_c;
    args->order = g->order;
    args->variant = item->how;
    args->math = item->math;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    args->trans_a = g->trans_a;
    args->trans_b = g->trans_b;
    args->m = g->m;
    args->n = g->n;
    args->k = g->k;
    args->alpha = g->alpha;
    args->beta = g->beta;
    args->alpha_imag = g->alpha_imag;
    args->beta_imag = g->beta_imag;
    args->continues = g->continues;
    args->batch = g->batch;
    if (g->blocks == GEMM_NEIGHBOURS) {
        args->lda = args->ldb = args->ldc = cols_a + cols_b + cols_c + g->pad;
        args->stride_a = args->stride_b = args->stride_c =
            greater(greater(rows_a, rows_b), rows_c) * args->lda;
        return ISO_OP_GEMM;
    }
    args->lda = g->pad ? cols_a + g->pad : 0;
    args->ldb = g->pad ? cols_b + g->pad : 0;
    args->ldc = g->pad ? cols_c + g->pad : 0;
    /* Members of a batch follow each other as closely as the padding allows. */
    args->stride_a = g->same_a ? 0 : rows_a * (cols_a + g->pad) + g->pad;
    args->stride_b = g->same_b ? 0 : rows_b * (cols_b + g->pad) + g->pad;
    args->stride_c = rows_c * (cols_c + g->pad) + g->pad;
    if (g->blocks == GEMM_BESIDE) {
        args->ldc = g->batch * cols_c + g->pad;
        args->stride_c = cols_c;
    }
    return ISO_OP_GEMM;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->gemm.a = inputs[0];
    args->gemm.b = inputs[1];
    args->gemm.c = result;
}

/* The factors that the call has on the host are ignored, so they are NaN. */
static bool factors_at(const bench_case *item, unsigned char bytes[BENCH_FACTORS], bench_args *all,
                       iso_buffer buffer)
{
    const gemm_shape *g = &item->gemm;
    iso_gemm_args *args = &all->gemm;
    args->factor_dtype = g->factor_dtype;
    args->alpha = g->alpha_at ? (double)NAN : args->alpha;
    args->beta = g->beta_at ? (double)NAN : args->beta;
    return bench_factors(g, item->dtype, bytes, buffer, &args->alpha_at, &args->beta_at);
}

static bool other_factors(bench_args *args, int i)
{
    static const double others[][2] = {{1, 0}, {0, 0}, {0, 0.5}};
    if (i == COUNT(others) || args->gemm.continues) {
        return false;
    }
    args->gemm.alpha = others[i][0];
    args->gemm.beta = args->gemm.dtype == ISO_I8 ? 4 * others[i][1] : others[i][1];
    return true;
}

/* ---- measured cases -------------------------------------------------------------------------- */

static bool set_kind(bench_case *item, const char *kind)
{
    (void)kind;
    return item->how != ISO_VARIANT_FIXED || (arith_is_float(item->dtype) && item->dtype_c == 0);
}

static void set_layout(bench_case *item, const char *layout)
{
    item->gemm.trans_a = layout[0] == 't' ? ISO_TRANS : ISO_NO_TRANS;
    item->gemm.trans_b = layout[1] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

static void set_size(bench_case *item, const bench_size *size)
{
    gemm_shape *g = &item->gemm;
    g->m = size->of[0];
    g->n = size->count > 1 ? size->of[1] : size->of[0];
    g->k = size->count > 2 ? size->of[2] : size->of[0];
    g->batch = size->batch;
    g->alpha = 1;
}

static void shape(const bench_case *item, bench_shape *out)
{
    const gemm_shape *g = &item->gemm;
    double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    const char *a = iso_trans_name(g->trans_a), *b = iso_trans_name(g->trans_b);
    *out = (bench_shape){.names = {"m", "n", "k", "batch"},
                         .sizes = {g->m, g->n, g->k, g->batch},
                         .count = 3,
                         .more = 1,
                         .elements = (m * k + k * n + m * n) * (double)g->batch,
                         .layout = {{"trans_a", a}, {"trans_b", b}}};
    int at = snprintf(out->form, sizeof out->form, "/%s%s", a, b);
    if (g->batch > 1) {
        snprintf(out->form + at, sizeof out->form - (size_t)at, "/batch%lld", (long long)g->batch);
    }
}

static bool has_bits(const bench_case *item)
{
    return item->how == ISO_VARIANT_NAIVE || item->how == ISO_VARIANT_TILED ||
           item->how == ISO_VARIANT_FIXED;
}

static void slows(const bench_case *item, bool native, double *rate, double *moved)
{
    (void)moved;
    if (item->how == ISO_VARIANT_NAIVE) {
        *rate /= native ? 8 : 40;
    } else if (!native) {
        *rate /= 10;
    }
}

/* ---- conformance cases ----------------------------------------------------------------------- */

/* Each operand has its own memory, except with GEMM_NEIGHBOURS: there all lie side by side in C's
 * image. */
static bool lay(const bench_case *item, verify_problem *p)
{
    const gemm_shape *g = &item->gemm;
    bool one = g->blocks == GEMM_NEIGHBOURS;
    int64_t count = g->batch * g->m * g->n;
    bench_args args;
    arguments(item, &args);
    verify_region a = {.element = item->element, .batch = g->batch, .offset = g->offset}, b, c;
    a.ones = !one;
    b = c = a;
    a.rows = stored_rows(g, g->trans_a, g->m, g->k);
    a.cols = g->m + g->k - a.rows;
    a.ld = args.gemm.lda;
    a.stride = args.gemm.stride_a;
    b.rows = stored_rows(g, g->trans_b, g->k, g->n);
    b.cols = g->k + g->n - b.rows;
    b.ld = args.gemm.ldb;
    b.stride = args.gemm.stride_b;
    c.element = iso_dtype_size(bench_result_type(item));
    c.rows = stored_rows(g, ISO_NO_TRANS, g->m, g->n);
    c.cols = g->m + g->n - c.rows;
    c.ld = args.gemm.ldc;
    c.stride = args.gemm.stride_c;
    c.ones = false;
    if (one) {
        c.offset += a.cols;
        b.offset += a.cols + c.cols;
        c.least = g->offset + g->batch * c.stride;
        verify_region_within(&p->regions[0], &a, &p->regions[2]);
        verify_region_within(&p->regions[1], &b, &p->regions[2]);
    } else if (!verify_region_lay(&p->regions[0], &a) || !verify_region_lay(&p->regions[1], &b)) {
        return false;
    }
    char *before = verify_grow(&p->dense[2], count * c.element);
    if (!before || !verify_region_lay(&p->regions[2], &c)) {
        return false;
    }
    arith_generate(bench_result_type(item), item->fill, item->seed + 3, count, before);
    /* If beta is 0, C is not read, so these NaN must not reach the result. */
    for (int64_t i = 0; g->beta == 0 && g->beta_imag == 0 && !g->beta_at && i < count; i++) {
        arith_set_nan(bench_result_type(item), before + i * c.element);
    }
    verify_region_scatter(&p->regions[2], before);
    return true;
}

/* What the usual products do not have. */
static void describe_options(const bench_case *item, json_t *layout)
{
    static const char *const calls[] = {"one", "members", "group"};
    const gemm_shape *g = &item->gemm;
    if (g->order != ISO_ROW_MAJOR) {
        tool_set_text(layout, "order", iso_order_name(g->order));
    }
    if (bench_result_type(item) != item->dtype) {
        tool_set_text(layout, "dtype_c", iso_dtype_name(bench_result_type(item)));
    }
    bench_describe_factors(g, item->dtype, layout);
    if (g->call != GEMM_ONE) {
        tool_set_text(layout, "call", calls[g->call]);
    }
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const gemm_shape *g = &item->gemm;
    tool_set_int(sizes, "m", g->m);
    tool_set_int(sizes, "n", g->n);
    tool_set_int(sizes, "k", g->k);
    tool_set_int(sizes, "batch", g->batch);
    tool_set_text(layout, "trans_a", iso_trans_name(g->trans_a));
    tool_set_text(layout, "trans_b", iso_trans_name(g->trans_b));
    tool_set_int(layout, "pad", g->pad);
    tool_set_int(layout, "offset", g->offset);
    tool_set_number(layout, "alpha", g->alpha);
    tool_set_number(layout, "beta", g->beta);
    json_object_set_new(layout, "same_a", json_boolean(g->same_a));
    json_object_set_new(layout, "same_b", json_boolean(g->same_b));
    describe_options(item, layout);
    if (g->continues) {
        json_object_set_new(layout, "continues", json_true());
    }
    if (g->blocks != GEMM_OWN) {
        tool_set_text(layout, "blocks", g->blocks == GEMM_BESIDE ? "beside" : "neighbours");
    }
}

/* ---- the conformance list -------------------------------------------------------------------- */

/*
 * A full grid of sizes, layouts, scalars and fills would have millions of cases. Instead the list
 * steps through the values of each factor with a stride that has no common divisor with their
 * number. So every value is combined with many values of every other factor. Important combinations
 * are added separately, by corners().
 */

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fast[] = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fixed[] = {ISO_VARIANT_FIXED};

static void add_with(verify_list *list, const bench_case *item, const iso_variant *which, int count)
{
    static const char *const blocks[] = {"", "/neighbours", "/beside"};
    const gemm_shape *g = &item->gemm;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after,
             "%s/%s%s/m%lldn%lldk%lld/ld+%d/off%d/a%gb%g/batch%lld%s%s/%s%s%s%s",
             iso_dtype_name(item->dtype), iso_trans_name(g->trans_a), iso_trans_name(g->trans_b),
             (long long)g->m, (long long)g->n, (long long)g->k, g->pad, g->offset, g->alpha,
             g->beta, (long long)g->batch, g->same_a ? "-a0" : "", g->same_b ? "-b0" : "",
             arith_fill_name(item->fill), item->samples > 0 ? "/sampled" : "", blocks[g->blocks],
             g->continues ? "/continues" : "");
    verify_list_add(list, item, which, count, after);
    /* Fixed is a problem of its own, because its bits are its own. The short list has every third.
     */
    if (which != fixed && !g->continues && (list->full || list->problems % 3 == 0)) {
        verify_list_add(list, item, fixed, COUNT(fixed), after);
    }
}

static bench_case start(iso_dtype dtype, int trans)
{
    bench_case item = verify_case(&bench_gemm, dtype, "");
    item.gemm = (gemm_shape){.trans_a = trans & 2 ? ISO_TRANS : ISO_NO_TRANS,
                             .trans_b = trans & 1 ? ISO_TRANS : ISO_NO_TRANS,
                             .alpha = 1,
                             .batch = 1};
    return item;
}

static void set_mnk(bench_case *item, int64_t m, int64_t n, int64_t k)
{
    item->gemm.m = m;
    item->gemm.n = n;
    item->gemm.k = k;
}

/* Reduces m and n until a plain scalar loop takes only milliseconds. Does not change K. */
static void limit_work(gemm_shape *g, int64_t most)
{
    static const int64_t thin[] = {9, 5, 2, 1};
    for (int i = 0; i < COUNT(thin) && g->m * g->n * g->k * g->batch > most; i++) {
        if (g->m > g->n) {
            g->m = g->m < thin[i] ? g->m : thin[i] + 8;
        } else {
            g->n = g->n < thin[i] ? g->n : thin[i] + 8;
        }
    }
}

static void cover(verify_list *list, iso_dtype dtype, int trans, int rounds, int64_t most,
                  bool full)
{
    static const int64_t sizes[] = {1,  7,  8,  9,   15,  16,  17,  31, 33, 63,
                                    64, 65, 66, 127, 128, 129, 131, 97, 3};
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
    static const int batches[] = {1, 1, 1, 3, 1, 1, 3};
    int turn = trans * 5 + (int)dtype * 3 + (full ? 11 : 0);
    for (int i = 0; i < rounds; i++) {
        bench_case item = start(dtype, trans);
        gemm_shape *g = &item.gemm;
        int t = i + turn;
        g->m = sizes[(t * 7) % COUNT(sizes)];
        g->n = sizes[(t * 5 + t / COUNT(sizes) + 3) % COUNT(sizes)];
        g->k = depths[(t * 3 + trans) % COUNT(depths)];
        g->alpha = scalars[t % COUNT(scalars)][0];
        g->beta = scalars[t % COUNT(scalars)][1];
        g->pad = pads[(t + t / 5) % COUNT(pads)];
        g->offset = offsets[t % COUNT(offsets)];
        g->batch = batches[(t + t / 7) % COUNT(batches)];
        g->same_a = g->batch > 1 && t % 3 == 1;
        g->same_b = g->batch > 1 && t % 3 == 2;
        item.fill = fills[(t * 5 + t / 13) % COUNT(fills)];
        limit_work(g, most);
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* Empty, thin and other special shapes. Every type and every pair of transpositions has them. */
static void corners(verify_list *list, iso_dtype dtype, int trans)
{
    static const int64_t shapes[][3] = {{0, 5, 7},     {5, 0, 7},      {5, 7, 0},    {0, 0, 0},
                                        {1, 1, 1},     {1, 129, 3000}, {129, 1, 77}, {1, 1, 3000},
                                        {3, 2, 1024},  {2, 3, 1025},   {5, 9, 2048}, {9, 5, 2049},
                                        {131, 127, 2}, {400, 3, 40},   {3, 400, 40}};
    for (int i = 0; i < COUNT(shapes); i++) {
        for (int over = 0; over < 2; over++) {
            bench_case item = start(dtype, trans);
            item.fill = over ? ARITH_INTS : ARITH_UNIFORM;
            set_mnk(&item, shapes[i][0], shapes[i][1], shapes[i][2]);
            item.gemm.beta = over ? -0.5 : 0;
            item.gemm.pad = over * 5;
            item.gemm.offset = over;
            add_with(list, &item, variants, COUNT(variants));
        }
    }
}

/* Factors whose rounding to f32 is special: 0.1 is rounded, 1e-40 becomes subnormal, 1e-310 becomes
 * 0 (in f64 it is subnormal) and 1e300 overflows. Vendors' libraries are left out, because no bound
 * covers them here. On GPUs a product of 256 results or fewer may have no tile, so these are
 * larger, and so are those of signs(). */
static void factors(verify_list *list, iso_dtype dtype)
{
    static const double scalars[][2] = {{1e-310, 0},   {1e-310, 0.1}, {1e-40, 0},       {1e300, 0},
                                        {0.1, -1e300}, {0.1, 1e-40},  {-1e-310, 1e-310}};
    for (int i = 0; i < COUNT(scalars); i++) {
        bench_case item = start(dtype, i);
        set_mnk(&item, 9, 33, 7);
        item.gemm.alpha = scalars[i][0];
        item.gemm.beta = scalars[i][1];
        add_with(list, &item, variants, COUNT(variants) - 1);
    }
}

/* Operands that are blocks of one matrix: the rows of one lie in the gaps between the rows of
 * another. */
static void blocks(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, n, k;
        int32_t trans, pad, offset, batch;
        gemm_blocks how;
    } rows[] = {
        {5, 7, 3, 0, 0, 0, 1, GEMM_NEIGHBOURS},    {64, 64, 32, 0, 0, 0, 1, GEMM_NEIGHBOURS},
        {17, 33, 9, 1, 1, 3, 1, GEMM_NEIGHBOURS},  {31, 15, 65, 2, 5, 1, 1, GEMM_NEIGHBOURS},
        {9, 8, 1030, 3, 0, 0, 1, GEMM_NEIGHBOURS}, {16, 24, 40, 0, 0, 8, 3, GEMM_NEIGHBOURS},
        {7, 5, 6, 0, 0, 0, 4, GEMM_BESIDE},        {33, 1, 17, 0, 3, 1, 5, GEMM_BESIDE},
        {16, 64, 16, 1, 0, 0, 3, GEMM_BESIDE},     {66, 65, 9, 2, 2, 2, 2, GEMM_BESIDE},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, rows[i].trans);
        item.fill = i % 2 ? ARITH_INTS : ARITH_UNIFORM;
        set_mnk(&item, rows[i].m, rows[i].n, rows[i].k);
        item.gemm.alpha = -1;
        item.gemm.beta = i % 3 == 2 ? 0 : 1;
        item.gemm.pad = rows[i].pad;
        item.gemm.offset = rows[i].offset;
        item.gemm.batch = rows[i].batch;
        item.gemm.blocks = rows[i].how;
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* C holds a total, to which no terms are added, one segment, or several. Those have one layout,
 * because a stand-in for a GPU compiles a program for each. */
static void continued(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, n, k;
        int32_t trans, pad, offset, batch;
        gemm_blocks how;
        arith_fill fill;
    } rows[] = {{5, 7, 0, 0, 1, 0, 1, GEMM_OWN, ARITH_UNIFORM},
                {9, 17, 1024, 2, 0, 0, 1, GEMM_OWN, ARITH_UNIFORM},
                {33, 65, 2048, 1, 3, 1, 1, GEMM_OWN, ARITH_UNIFORM},
                {131, 3, 3001, 1, 0, 0, 1, GEMM_OWN, ARITH_UNIFORM},
                {2, 129, 2049, 1, 0, 2, 3, GEMM_BESIDE, ARITH_UNIFORM},
                {16, 24, 1030, 1, 8, 0, 2, GEMM_NEIGHBOURS, ARITH_UNIFORM},
                {7, 5, 4100, 1, 0, 0, 1, GEMM_OWN, ARITH_ZEROS},
                {1, 31, 2500, 1, 5, 3, 1, GEMM_OWN, ARITH_INF}};
    for (int i = 0; i < COUNT(rows); i++) {
        bench_case item = start(dtype, rows[i].trans);
        item.fill = rows[i].fill;
        set_mnk(&item, rows[i].m, rows[i].n, rows[i].k);
        item.gemm.beta = 1;
        item.gemm.continues = true;
        item.gemm.pad = rows[i].pad;
        item.gemm.offset = rows[i].offset;
        item.gemm.batch = rows[i].batch;
        item.gemm.blocks = rows[i].how;
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* A zero sum times a negative alpha is -0. Code that adds 0 while it converts to a shorter type
 * turns that into +0. The kernels have separate code for K = 0 and for sums of several segments, so
 * both are in the list. */
static void signs(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, n, k;
        double alpha, beta;
        arith_fill fill;
    } zeros[] = {{9, 33, 0, -1, 0, ARITH_ZEROS},      {33, 9, 5, -1, 0, ARITH_ZEROS},
                 {66, 65, 33, -0.75, 0, ARITH_ZEROS}, {128, 64, 16, -1, 0, ARITH_ZEROS},
                 {31, 33, 3, -1.5, 0, ARITH_SPARSE},  {5, 7, 3000, -2, 0, ARITH_ZEROS},
                 {16, 33, 4, -1, -0.5, ARITH_ZEROS},  {9, 33, 5, -0.0, 0, ARITH_ZEROS}};
    for (int i = 0; i < COUNT(zeros); i++) {
        bench_case item = start(dtype, (i + (int)dtype) & 3);
        item.fill = zeros[i].fill;
        set_mnk(&item, zeros[i].m, zeros[i].n, zeros[i].k);
        item.gemm.alpha = zeros[i].alpha;
        item.gemm.beta = zeros[i].beta;
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* Fixed products alone: the greatest sums, at the K where one more modulus is needed for a sum by
 * residues, and where sums of slices must be added to a longer number; sums that end in a half;
 * rows and columns of very different elements. */
static void fixed_cases(verify_list *list, iso_dtype dtype, bool full)
{
    static const arith_fill fills[] = {ARITH_ODD,  ARITH_NEAR_ONE, ARITH_MIXED, ARITH_HUGE,
                                       ARITH_TIES, ARITH_ZEROS,    ARITH_INF,   ARITH_SUBNORMAL};
    static const int64_t depths[] = {1, 2, 31, 32, 64, 129, 255, 256, 257, 1000};
    const int64_t limit = dtype == ISO_F64 ? 340108 : dtype == ISO_F32 ? 24410 : 114910;
    const int64_t next = dtype == ISO_F64 ? 0 : dtype == ISO_F32 ? 5589949 : 27463533;
    const int64_t longs[] = {limit,     limit + 1, limit + limit / 256, limit - 1,
                             8192 + 17, 65537,     131072 + 1,          8191};
    int turn = (int)dtype;
    for (int i = 0; i < COUNT(fills) * (full ? 60 : 3); i++) {
        bench_case item = start(dtype, i + turn);
        item.fill = fills[i % COUNT(fills)];
        set_mnk(&item, 1 + (i * 5 + turn) % 9, 1 + (i * 7) % 11,
                depths[(i * 3 + turn) % COUNT(depths)]);
        item.gemm.beta = i % 4 == 3 ? -0.5 : 0;
        add_with(list, &item, fixed, COUNT(fixed));
    }
    /* A stand-in for a GPU compiles a program for each number of moduli. */
    for (int i = 0; i < COUNT(longs) * (full                                    ? 4
                                        : dtype == ISO_F16 || dtype == ISO_BF16 ? 0
                                                                                : 1);
         i++) {
        bench_case item = start(dtype, i + turn);
        item.fill = i % 4 == 3 ? ARITH_NEAR_ONE : ARITH_TOP;
        set_mnk(&item, 1, 1 + i % 2, longs[i % COUNT(longs)]);
        item.gemm.pad = i % 3;
        add_with(list, &item, fixed, COUNT(fixed));
    }
    if (full && next > 0) {
        bench_case item = start(dtype, 1);
        item.fill = ARITH_TOP;
        set_mnk(&item, 1, 1, next + 1);
        add_with(list, &item, fixed, COUNT(fixed));
    }
}

/* Products that are too large for the model. Projections and samples check them. */
static void large(verify_list *list, iso_dtype dtype)
{
    static const int64_t sizes[] = {257, 1000, 2048, 4096};
    for (int i = 0; i < COUNT(sizes); i++) {
        if (sizes[i] == 4096 && dtype == ISO_F64) {
            continue;
        }
        for (int f = 0; f < 2; f++) {
            bench_case item = start(dtype, i & 3);
            item.fill = f == 0 ? ARITH_SPARSE : ARITH_UNIFORM;
            set_mnk(&item, sizes[i], sizes[i] + (f == 0 ? 0 : 7), sizes[i]);
            item.gemm.pad = f;
            item.samples = (int32_t)(6 * item.gemm.n);
            if (sizes[i] <= 1000) {
                add_with(list, &item, variants, COUNT(variants));
            } else {
                add_with(list, &item, fast, COUNT(fast));
            }
        }
    }
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_float(0); dtype; dtype = bench_float(dtype)) {
        fixed_cases(list, dtype, full);
        for (int trans = 0; trans < 4; trans++) {
            corners(list, dtype, trans);
            cover(list, dtype, trans, 23, 600000, false);
            if (full) {
                cover(list, dtype, trans, 150, 8000000, true);
            }
        }
        factors(list, dtype);
        blocks(list, dtype);
        signs(list, dtype);
        if (full) {
            large(list, dtype);
        }
    }
    continued(list, ISO_F32);
    continued(list, ISO_F64);
    gemm_option_cases(list, full);
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const layouts[] = {"nn", "nt", "tn", "tt", NULL};
static const char *const maths[] = {"strict", "tf32", NULL};
static const char *const size_members[] = {"m", "n", "k", NULL};
static const char *const layout_members[] = {"trans_a", "trans_b", NULL};

const bench_op bench_gemm = {
    .name = "gemm",
    .measured = "gemm",
    .verified = "gemm",
    .title = "Products",
    .size = "N",
    .computes = "",
    .variants = bench_fixed_variants,
    .types = bench_product_types,
    .layouts = layouts,
    .maths = maths,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "nn",
    .counts = 1 << 1 | 1 << 3,
    .size_members = size_members,
    .layout_members = layout_members,
    .batches = true,
    .libraries = true,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_gemm,
    .other_factors = other_factors,
    .call = gemm_call_of,
    .factors = factors_at,
    .set_kind = set_kind,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .has_bits = has_bits,
    .slows = slows,
    .same_in_variants = true,
    .cases = cases,
    .lay = lay,
    .companies = gemm_companies,
    .view = gemm_view,
    .describe = describe,
};
