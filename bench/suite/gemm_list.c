/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_list.c - which products are tried. A full grid of sizes, layouts, scalars and fills would be
 * millions; the list walks through each factor's values with strides that share no divisor with
 * their number, so that every value meets many values of every other one, and adds the corners that
 * must not depend on luck.
 */
#include "bench/suite/internal.h"

#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
static const iso_variant fast[] = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};

static const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64};

static void add_with(suite_list *list, const suite_case *item, const iso_variant *which, int count)
{
    static const char *const blocks[] = {"", "/neighbours", "/beside"};
    const suite_gemm_case *g = &item->gemm;
    char after[SUITE_ID_MAX - 16];
    snprintf(after, sizeof after, "%s/%s%s/m%lldn%lldk%lld/ld+%d/off%d/a%gb%g/batch%d%s%s/%s%s%s",
             iso_dtype_name(item->dtype), iso_trans_name(g->trans_a), iso_trans_name(g->trans_b),
             (long long)g->m, (long long)g->n, (long long)g->k, g->pad, g->offset, g->alpha,
             g->beta, g->batch, g->same_a ? "-a0" : "", g->same_b ? "-b0" : "",
             arith_fill_name(item->fill), g->sampled ? "/sampled" : "", blocks[g->blocks]);
    suite_list_add(list, item, which, count, after);
}

static suite_case start(iso_dtype dtype, int trans)
{
    suite_case item = {.op = &bench_gemm, .dtype = dtype};
    snprintf(item.type, sizeof item.type, "%s", iso_dtype_name(dtype));
    item.gemm = (suite_gemm_case){.trans_a = trans & 2 ? ISO_TRANS : ISO_NO_TRANS,
                                  .trans_b = trans & 1 ? ISO_TRANS : ISO_NO_TRANS,
                                  .alpha = 1,
                                  .batch = 1};
    return item;
}

/* Keeps the work of a case within what a plain scalar loop does in milliseconds; K stays. */
static void limit_work(suite_gemm_case *g, int64_t most)
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

static void cover(suite_list *list, iso_dtype dtype, int trans, int rounds, int64_t most, int full)
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
    int turn = trans * 5 + (int)dtype * 3 + full * 11;
    for (int i = 0; i < rounds; i++) {
        suite_case item = start(dtype, trans);
        suite_gemm_case *g = &item.gemm;
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

/* What every type must have been asked, in every pair of transpositions where that can matter. */
static void corners(suite_list *list, iso_dtype dtype, int trans)
{
    static const int64_t shapes[][3] = {{0, 5, 7},     {5, 0, 7},      {5, 7, 0},    {0, 0, 0},
                                        {1, 1, 1},     {1, 129, 3000}, {129, 1, 77}, {1, 1, 3000},
                                        {3, 2, 1024},  {2, 3, 1025},   {5, 9, 2048}, {9, 5, 2049},
                                        {131, 127, 2}, {400, 3, 40},   {3, 400, 40}};
    for (int i = 0; i < COUNT(shapes); i++) {
        for (int over = 0; over < 2; over++) {
            suite_case item = start(dtype, trans);
            item.fill = over ? ARITH_INTS : ARITH_UNIFORM;
            item.gemm.m = shapes[i][0];
            item.gemm.n = shapes[i][1];
            item.gemm.k = shapes[i][2];
            item.gemm.beta = over ? -0.5 : 0;
            item.gemm.pad = over * 5;
            item.gemm.offset = over;
            add_with(list, &item, variants, COUNT(variants));
        }
    }
}

/* Factors that are subnormal, that overflow and that vanish where they are rounded to f32: 0.1 is
 * rounded, 1e-40 is a subnormal f32, 1e-310 none and a subnormal f64. What a vendor's library makes
 * of them is not held to a bound. */
static void factors(suite_list *list, iso_dtype dtype)
{
    static const double scalars[][2] = {{1e-310, 0},   {1e-310, 0.1}, {1e-40, 0},       {1e300, 0},
                                        {0.1, -1e300}, {0.1, 1e-40},  {-1e-310, 1e-310}};
    for (int i = 0; i < COUNT(scalars); i++) {
        suite_case item = start(dtype, i);
        item.gemm.m = 9;
        item.gemm.n = 17;
        item.gemm.k = 7;
        item.gemm.alpha = scalars[i][0];
        item.gemm.beta = scalars[i][1];
        add_with(list, &item, variants, COUNT(variants) - 1);
    }
}

/* Blocks of one matrix, whose rows lie in each other's gaps. */
static void blocks(suite_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, n, k;
        int32_t trans, pad, offset, batch;
        suite_blocks how;
    } rows[] = {
        {5, 7, 3, 0, 0, 0, 1, SUITE_NEIGHBOURS},    {64, 64, 32, 0, 0, 0, 1, SUITE_NEIGHBOURS},
        {17, 33, 9, 1, 1, 3, 1, SUITE_NEIGHBOURS},  {31, 15, 65, 2, 5, 1, 1, SUITE_NEIGHBOURS},
        {9, 8, 1030, 3, 0, 0, 1, SUITE_NEIGHBOURS}, {16, 24, 40, 0, 0, 8, 3, SUITE_NEIGHBOURS},
        {7, 5, 6, 0, 0, 0, 4, SUITE_BESIDE},        {33, 1, 17, 0, 3, 1, 5, SUITE_BESIDE},
        {16, 64, 16, 1, 0, 0, 3, SUITE_BESIDE},     {66, 65, 9, 2, 2, 2, 2, SUITE_BESIDE},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        suite_case item = start(dtype, rows[i].trans);
        item.fill = i % 2 ? ARITH_INTS : ARITH_UNIFORM;
        item.gemm.m = rows[i].m;
        item.gemm.n = rows[i].n;
        item.gemm.k = rows[i].k;
        item.gemm.alpha = -1;
        item.gemm.beta = i % 3 == 2 ? 0 : 1;
        item.gemm.pad = rows[i].pad;
        item.gemm.offset = rows[i].offset;
        item.gemm.batch = rows[i].batch;
        item.gemm.blocks = rows[i].how;
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* Sums that are zero keep the sign that alpha gives them: a narrowing that adds 0 on the way loses
 * it. A K of 0 and segments that are added up come by other ways. */
static void signs(suite_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t m, n, k;
        double alpha, beta;
        arith_fill fill;
    } zeros[] = {{9, 17, 0, -1, 0, ARITH_ZEROS},      {17, 9, 5, -1, 0, ARITH_ZEROS},
                 {66, 65, 33, -0.75, 0, ARITH_ZEROS}, {128, 64, 16, -1, 0, ARITH_ZEROS},
                 {31, 33, 3, -1.5, 0, ARITH_SPARSE},  {5, 7, 3000, -2, 0, ARITH_ZEROS},
                 {16, 33, 4, -1, -0.5, ARITH_ZEROS},  {9, 17, 5, -0.0, 0, ARITH_ZEROS}};
    for (int i = 0; i < COUNT(zeros); i++) {
        suite_case item = start(dtype, (i + (int)dtype) & 3);
        item.fill = zeros[i].fill;
        item.gemm.m = zeros[i].m;
        item.gemm.n = zeros[i].n;
        item.gemm.k = zeros[i].k;
        item.gemm.alpha = zeros[i].alpha;
        item.gemm.beta = zeros[i].beta;
        add_with(list, &item, variants, COUNT(variants));
    }
}

/* Products too large to compute twice. */
static void large(suite_list *list, iso_dtype dtype)
{
    static const int64_t sizes[] = {257, 1000, 2048, 4096};
    for (int i = 0; i < COUNT(sizes); i++) {
        if (sizes[i] == 4096 && dtype == ISO_F64) {
            continue;
        }
        for (int f = 0; f < 2; f++) {
            suite_case item = start(dtype, i & 3);
            item.fill = f == 0 ? ARITH_SPARSE : ARITH_UNIFORM;
            item.gemm.m = item.gemm.n = item.gemm.k = sizes[i];
            item.gemm.n += f == 0 ? 0 : 7;
            item.gemm.pad = f;
            item.gemm.sampled = 1;
            if (sizes[i] <= 1000) {
                add_with(list, &item, variants, COUNT(variants));
            } else {
                add_with(list, &item, fast, COUNT(fast));
            }
        }
    }
}

void suite_list_gemm(suite_list *list, int full)
{
    for (int d = 0; d < COUNT(types); d++) {
        for (int trans = 0; trans < 4; trans++) {
            corners(list, types[d], trans);
            cover(list, types[d], trans, 23, 600000, 0);
            if (full) {
                cover(list, types[d], trans, 150, 8000000, 1);
            }
        }
        factors(list, types[d]);
        blocks(list, types[d]);
        signs(list, types[d]);
        if (full) {
            large(list, types[d]);
        }
    }
}
