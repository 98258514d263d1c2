/* SPDX-License-Identifier: Apache-2.0 */
/* compute.c - results of the plain model. */
#include "bench/check/check.h"
#include "bench/tool.h"
#include "bench/vectors/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "a test vector";

/* Returns input `index` (0: the first) of a case, which the caller frees. */
static unsigned char *input(const bench_case *item, int index, int64_t count)
{
    unsigned char *made = tool_alloc((size_t)(count * item->element) + 1, 1, what);
    uint64_t seed = item->seed + (uint64_t)index;
    if (item->dtype != 0) {
        arith_generate(item->dtype, item->fill, seed, count, made);
        return made;
    }
    int64_t part = item->element < 8 ? item->element : 8, words = count * item->element / part;
    for (int64_t i = 0; i < words; i++) {
        uint64_t mix = arith_mix(seed, (uint64_t)i);
        memcpy(made + i * part, &mix, (size_t)part);
    }
    return made;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Returns op(X), which has rows x cols elements, as f64. */
static double *operand(const bench_case *item, int index, iso_trans trans, int64_t rows,
                       int64_t cols)
{
    bool turned = trans == ISO_TRANS;
    unsigned char *stored = input(item, index, rows * cols);
    double *wide = tool_alloc((size_t)(rows * cols) + 1, sizeof *wide, what);
    for (int64_t i = 0; i < rows; i++) {
        arith_widen(item->dtype, stored + i * (turned ? 1 : cols) * item->element,
                    turned ? rows : 1, cols, wide + i * cols);
    }
    free(stored);
    return wide;
}

/* Writes `count` numbers of f32 over those of f64. */
static float *narrow(double *wide, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float value = (float)wide[i];
        memcpy((char *)wide + i * (int64_t)sizeof value, &value, sizeof value);
    }
    return (float *)(void *)wide;
}

/* The operands may be overwritten. */
static void plain(const bench_case *item, double *a, double *b, double *c, double *out)
{
    const gemm_shape *g = &item->gemm;
    int64_t m = g->m, n = g->n, k = g->k;
    double *row = tool_alloc((size_t)n * 2 + 1, sizeof *row, what);
    if (item->dtype == ISO_F64) {
        arith_gemm_f64(m, n, k, g->alpha, a, b, g->beta, c, g->continues, out, row, row + n);
        free(row);
        return;
    }
    float *made = tool_alloc((size_t)(m * n) + 1, sizeof *made, what);
    arith_gemm_f32(m, n, k, (float)g->alpha, narrow(a, m * k), narrow(b, k * n), (float)g->beta,
                   narrow(c, m * n), g->continues, made, (float *)(void *)row,
                   (float *)(void *)(row + n));
    for (int64_t i = 0; i < m * n; i++) {
        out[i] = (double)made[i];
    }
    free(made);
    free(row);
}

static void fixed(const bench_case *item, const double *a, const double *b, const double *c,
                  double *out)
{
    const gemm_shape *g = &item->gemm;
    bool none = item->dtype == ISO_F64 ? g->alpha == 0 : (float)g->alpha == 0;
    int64_t k = none ? 0 : g->k;
    for (int64_t i = 0; i < g->m * g->n; i++) {
        const double *row = a + i / g->n * g->k, *column = b + i % g->n;
        double t = arith_fixed(item->dtype, k, row, column, g->n);
        out[i] = arith_fixed_value(item->dtype, t, g->alpha, g->beta, c[i]);
    }
}

static void product(const bench_case *item, unsigned char *out)
{
    const gemm_shape *g = &item->gemm;
    double *a = operand(item, 0, g->trans_a, g->m, g->k);
    double *b = operand(item, 1, g->trans_b, g->k, g->n);
    double *c = operand(item, 2, ISO_NO_TRANS, g->m, g->n);
    double *made = tool_alloc((size_t)(g->m * g->n) + 1, sizeof *made, what);
    if (item->how == ISO_VARIANT_FIXED) {
        fixed(item, a, b, c, made);
    } else {
        plain(item, a, b, c, made);
    }
    for (int64_t i = 0; i < g->m * g->n; i++) {
        arith_store(item->dtype, out + i * item->element, made[i]);
    }
    free(a);
    free(b);
    free(c);
    free(made);
}

/* ---- the others ------------------------------------------------------------------------------ */

static void reduce(const bench_case *item, int64_t element, int64_t results, unsigned char *out)
{
    const reduce_shape *r = &item->reduce;
    int64_t count = r->rows * r->cols;
    bool all = r->axis == ISO_AXIS_ALL, down = r->axis == ISO_AXIS_0;
    int64_t length = all ? count : down ? r->rows : r->cols;
    unsigned char *x = input(item, 0, count), *y = input(item, 1, count);
    for (int64_t i = 0; i < results; i++) {
        int64_t first = i * (down ? 1 : length) * item->element;
        if (!arith_reduce(r->op, item->dtype, x + first, y + first, length, down ? r->cols : 1,
                          out + i * element)) {
            tool_no_memory(what);
        }
    }
    free(x);
    free(y);
}

static void map(const bench_case *item, unsigned char *out)
{
    const map_shape *m = &item->map;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    unsigned char *x = input(item, 0, m->n), *y = input(item, 1, m->n);
    args.op = m->op;
    args.dtype = item->dtype;
    args.alpha = m->alpha;
    args.beta = m->beta;
    args.steps = m->steps;
    arith_map(&args, x, y, x, out, m->n);
    free(x);
    free(y);
}

static void transpose(const bench_case *item, unsigned char *out)
{
    const transpose_shape *t = &item->transpose;
    int64_t size = item->element;
    unsigned char *x = input(item, 0, t->rows * t->cols);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->cols; j++) {
            memcpy(out + (j * t->rows + i) * size, x + (i * t->cols + j) * size, (size_t)size);
        }
    }
    free(x);
}

void vectors_compute(const bench_case *item, vectors_result *out)
{
    bench_needs needs;
    bench_result digest = {0};
    bench_case_needs(item, &needs);
    out->count = needs.results;
    out->element = needs.result_type != 0 ? iso_dtype_size(needs.result_type) : item->element;
    out->elements = tool_alloc((size_t)needs.result + 1, 1, what);
    arith_fp_reset();
    if (item->op == &bench_gemm) {
        product(item, out->elements);
    } else if (item->op == &bench_reduce) {
        reduce(item, out->element, out->count, out->elements);
    } else if (item->op == &bench_map) {
        map(item, out->elements);
    } else {
        transpose(item, out->elements);
    }
    check_digest(&digest, needs.result_type, out->elements, out->count, out->element);
    memcpy(out->digest, digest.digest, sizeof out->digest);
}
