/* SPDX-License-Identifier: Apache-2.0 */
/* company_product.c - the cases of --invariance: products, of matrices and of a matrix and a
 * vector. */
#include "bench/verify/verify.h"

#include <stdio.h>

/* A product with a vector is one of matrices with one column, so this view serves both. */
void gemm_view(const bench_case *item, int operand, bench_view *out)
{
    const gemm_shape *g = &item->gemm;
    const bench_company *at = &item->company;
    int64_t member = at->member;
    if (operand == 0) {
        bool t = g->trans_a == ISO_TRANS;
        *out =
            (bench_view){.rows = g->m, .cols = g->k, .down = t ? 1 : g->k, .across = t ? g->m : 1};
        out->first = (g->same_a ? 0 : member) * g->m * g->k + at->row * out->down;
    } else if (operand == 1) {
        bool t = g->trans_b == ISO_TRANS;
        *out =
            (bench_view){.rows = g->k, .cols = g->n, .down = t ? 1 : g->n, .across = t ? g->k : 1};
        out->first = (g->same_b ? 0 : member) * g->k * g->n + at->col * out->across;
    } else {
        *out = (bench_view){.rows = g->m, .cols = g->n, .down = g->n, .across = 1};
        out->first = (member * g->m + at->row) * g->n + at->col;
    }
}

/* ---- bases ----------------------------------------------------------------------------------- */

/* The others' elements may be huge, infinite or NaN. */
static arith_fill fill_of_others(int turn)
{
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_HUGE,      ARITH_NAN,  ARITH_UNIFORM,
                                       ARITH_INF,     ARITH_SUBNORMAL, ARITH_MIXED};
    return fills[turn % COUNT(fills)];
}

/* In two of three bases the terms of each sum cancel: the result is then nothing but the errors of
 * rounding, which any other order changes. `mnk` has the sizes. */
static company_base start(verify_list *list, const bench_op *op, iso_dtype dtype,
                          const int64_t *mnk, int turn)
{
    char text[64];
    bool vector = op == &bench_gemv, cancels = turn % 3 != 2;
    bench_case model = verify_case(op, dtype, "");
    model.company.cancels = cancels;
    model.gemm = (gemm_shape){.trans_a = turn & 1 ? ISO_TRANS : ISO_NO_TRANS,
                              .trans_b = turn & 2 && !vector ? ISO_TRANS : ISO_NO_TRANS,
                              .m = mnk[0],
                              .n = vector ? 1 : mnk[1],
                              .k = mnk[2],
                              .batch = 1,
                              .alpha = cancels    ? 0x1p20
                                       : turn % 2 ? 1
                                                  : -0.75,
                              .beta = turn % 4 == 3 ? 0.5 : 0};
    if (vector) {
        model.gemv.inc_x = model.gemv.inc_y = 1;
    }
    const gemm_shape *g = &model.gemm;
    snprintf(text, sizeof text, "%s%s/m%lldn%lldk%lld/a%gb%g%s", iso_trans_name(g->trans_a),
             vector ? "" : iso_trans_name(g->trans_b), (long long)g->m, (long long)g->n,
             (long long)g->k, g->alpha, g->beta, cancels ? "/cancels" : "");
    return company_start(list, &model, text);
}

/* The case's own part of its id, from what it does not share with its base. */
static void add(verify_list *list, const company_base *base, bench_case *item)
{
    const gemm_shape *g = &item->gemm;
    const bench_company *at = &item->company;
    char where[80];
    int used = snprintf(where, sizeof where, "m%lldn%lld-at%d,%d", (long long)g->m, (long long)g->n,
                        at->row, at->col);
    if (at->axis == COMPANY_BATCH) {
        used += snprintf(where + used, sizeof where - (size_t)used, "/batch%lld%s%s-at%d",
                         (long long)g->batch, g->same_a ? "-a0" : "", g->same_b ? "-b0" : "",
                         at->member);
    }
    if (at->axis == COMPANY_PADDING || at->axis == COMPANY_OFFSET) {
        used +=
            snprintf(where + used, sizeof where - (size_t)used, "/ld+%d/off%d", g->pad, g->offset);
    }
    if (at->axis == COMPANY_PADDING && item->op == &bench_gemv) {
        used += snprintf(where + used, sizeof where - (size_t)used, "/inc%lld,%lld",
                         (long long)item->gemv.inc_x, (long long)item->gemv.inc_y);
    }
    if (at->axis == COMPANY_TRANS || at->axis == COMPANY_EXCHANGE) {
        used += snprintf(where + used, sizeof where - (size_t)used, "/%s%s",
                         iso_trans_name(g->trans_a), iso_trans_name(g->trans_b));
    }
    snprintf(where + used, sizeof where - (size_t)used, "/%s", arith_fill_name(item->fill));
    company_add(list, base, item, where);
}

/* A place among so many. */
static int32_t somewhere(int count)
{
    return (int32_t)(arith_mix(0x9a9d, (uint64_t)count) % (uint64_t)count);
}

/* ---- companies ------------------------------------------------------------------------------- */

/* Every number of rows from 2 to 257, or of columns; in the quick list a quarter of them in each
 * type, another quarter in the next type. */
static void lines(verify_list *list, const bench_op *op, iso_dtype dtype, company_axis axis,
                  bool full)
{
    static const int64_t bases[][2] = {{3, 40}, {17, 129}, {33, 7}, {5, 1030}};
    for (int b = 0; b < COUNT(bases); b++) {
        bool down = axis == COMPANY_ROWS;
        int64_t mnk[] = {down ? 1 : bases[b][0], down ? bases[b][0] : 1, bases[b][1]};
        company_base base = start(list, op, dtype, mnk, b + (int)dtype + (down ? 0 : 2));
        for (int size = 2; size <= 257; size++) {
            if (size % COUNT(bases) != b || (!full && (size + size / 4 + (int)dtype) % 4 != 0)) {
                continue;
            }
            bench_case item = base.model;
            item.company = (bench_company){.axis = axis};
            item.fill = fill_of_others(size);
            *(down ? &item.gemm.m : &item.gemm.n) = size;
            *(down ? &item.company.row : &item.company.col) = somewhere(size);
            add(list, &base, &item);
        }
    }
}

/* Batches of 1 to 257 members; A, B or neither is the same for all members. */
static void batches(verify_list *list, const bench_op *op, iso_dtype dtype, bool full)
{
    static const int64_t bases[][3] = {{1, 3, 40}, {4, 5, 33}, {1, 1, 300}, {9, 17, 8}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, op, dtype, bases[b], b + (int)dtype);
        for (int size = 1; size <= 257; size++) {
            if (size % COUNT(bases) != b || (!full && (size + size / 4 + (int)dtype) % 4 != 0)) {
                continue;
            }
            bench_case item = base.model;
            item.company = (bench_company){.axis = COMPANY_BATCH, .member = somewhere(size)};
            item.fill = fill_of_others(size);
            item.gemm.batch = size;
            item.gemm.same_a = size % 3 == 1;
            item.gemm.same_b = size % 3 == 2;
            add(list, &base, &item);
        }
    }
}

/* Sizes around those of tiles and vectors. */
static void shapes(verify_list *list, const bench_op *op, iso_dtype dtype, bool full)
{
    static const int64_t edges[] = {7,  8,  9,   15,  16,  17,  31,  32,  33, 63,
                                    64, 65, 127, 128, 129, 191, 255, 256, 257};
    static const int64_t bases[][3] = {{5, 3, 70}, {2, 7, 1030}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, op, dtype, bases[b], b + (int)dtype);
        int64_t most = 20000000 / base.model.gemm.k; /* elements of C, so that a case is short */
        for (int i = 0; i < COUNT(edges) * (full ? 6 : 1); i++) {
            bench_case item = base.model;
            item.gemm.m = edges[i % COUNT(edges)];
            item.gemm.n = edges[(i * 7 + i / COUNT(edges) * 5 + (int)dtype) % COUNT(edges)];
            if (item.gemm.m * item.gemm.n > most) {
                item.gemm.n = 7 + i % 2;
            }
            int64_t down = item.gemm.m - base.model.gemm.m,
                    across = item.gemm.n - base.model.gemm.n;
            item.company = (bench_company){.axis = COMPANY_SHAPE,
                                           .row = (int32_t)(down * (i % 3) / 2),
                                           .col = (int32_t)(across * (i % 5) / 4)};
            item.fill = fill_of_others(i);
            add(list, &base, &item);
        }
    }
}

/* The same problem at other places: leading dimensions, distances, offsets, and stored in other
 * ways. */
static void places(verify_list *list, const bench_op *op, iso_dtype dtype)
{
    static const int64_t bases[][3] = {{5, 9, 40}, {33, 16, 129}, {1, 65, 1030}};
    static const int pads[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 32};
    static const int offsets[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 31, 32, 33, 64};
    bool vector = op == &bench_gemv;
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, op, dtype, bases[b], b + (int)dtype);
        bench_case item = base.model;
        for (int i = 0; i < COUNT(pads); i++) {
            item.company = (bench_company){.axis = COMPANY_PADDING};
            item.gemm.pad = pads[i];
            item.gemm.offset = i % 3;
            if (vector) {
                item.gemv.inc_x = 1 + i % 4;
                item.gemv.inc_y = 1 + i % 3;
            }
            add(list, &base, &item);
        }
        item = base.model;
        for (int i = 0; i < COUNT(offsets); i++) {
            item.company = (bench_company){.axis = COMPANY_OFFSET};
            item.gemm.offset = offsets[i];
            item.gemm.pad = i % 4;
            add(list, &base, &item);
        }
        item = base.model;
        for (int i = 0; i < (vector ? 2 : 4); i++) {
            item.company = (bench_company){.axis = COMPANY_TRANS};
            item.gemm.trans_a = i & 1 ? ISO_TRANS : ISO_NO_TRANS;
            item.gemm.trans_b = i & 2 ? ISO_TRANS : ISO_NO_TRANS;
            if (item.gemm.trans_a != base.model.gemm.trans_a ||
                item.gemm.trans_b != base.model.gemm.trans_b) {
                add(list, &base, &item);
            }
        }
    }
}

static void circumstances(verify_list *list, const bench_op *op, iso_dtype dtype)
{
    static const int64_t bases[][3] = {
        {1, 3, 40}, {64, 64, 64}, {130, 129, 1030}, {1, 500, 70}, {257, 3, 130}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, op, dtype, bases[b], b + (int)dtype);
        company_circumstances(list, &base);
    }
}

/* C' = B' A': rows become columns. */
static void exchanges(verify_list *list, iso_dtype dtype)
{
    static const int64_t bases[][3] = {
        {1, 5, 40}, {7, 33, 129}, {65, 16, 64}, {3, 2, 1030}, {129, 17, 31}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, &bench_gemm, dtype, bases[b], b + (int)dtype);
        bench_case item = base.model;
        item.gemm.m = base.model.gemm.n;
        item.gemm.n = base.model.gemm.m;
        item.company = (bench_company){.axis = COMPANY_EXCHANGE, .turned = true, .swapped = true};
        for (int i = 0; i < 4; i++) {
            item.gemm.trans_a = i & 1 ? ISO_TRANS : ISO_NO_TRANS;
            item.gemm.trans_b = i & 2 ? ISO_TRANS : ISO_NO_TRANS;
            add(list, &base, &item);
        }
    }
}

/* A product with a vector, as a column of a product of matrices. */
static void vectors(verify_list *list, iso_dtype dtype)
{
    static const int64_t bases[][3] = {{1, 1, 300}, {65, 1, 40}, {17, 1, 1030}, {257, 1, 64}};
    static const int64_t columns[] = {1, 2, 9, 33, 64, 129};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start(list, &bench_gemv, dtype, bases[b], b + (int)dtype);
        for (int i = 0; i < COUNT(columns); i++) {
            bench_case item = verify_case(&bench_gemm, dtype, "");
            item.gemm = base.model.gemm;
            item.gemm.n = columns[i];
            item.fill = fill_of_others(i + b);
            item.company =
                (bench_company){.axis = COMPANY_VECTOR, .col = (int32_t)(columns[i] * 2 / 3)};
            add(list, &base, &item);
        }
    }
}

void gemm_companies(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_float(0); dtype; dtype = bench_float(dtype)) {
        lines(list, &bench_gemm, dtype, COMPANY_ROWS, full);
        lines(list, &bench_gemm, dtype, COMPANY_COLUMNS, full);
        batches(list, &bench_gemm, dtype, full);
        shapes(list, &bench_gemm, dtype, full);
        places(list, &bench_gemm, dtype);
        exchanges(list, dtype);
        circumstances(list, &bench_gemm, dtype);
    }
}

void gemv_companies(verify_list *list, bool full)
{
    for (iso_dtype dtype = bench_float(0); dtype; dtype = bench_float(dtype)) {
        lines(list, &bench_gemv, dtype, COMPANY_ROWS, full);
        batches(list, &bench_gemv, dtype, full);
        places(list, &bench_gemv, dtype);
        vectors(list, dtype);
        circumstances(list, &bench_gemv, dtype);
    }
}
