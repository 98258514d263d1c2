/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - the check of reductions: bits where they are defined, else a bound.
 *
 * The bits are compared for `tiled`, and in every variant for min, max, argmin, argmax and all
 * reductions of integers. Other results must meet a bound that holds for any order of evaluation.
 * Let u be the unit roundoff of the accumulation type and n the number of terms. Each term is
 * rounded at most n times, so the error is at most
 *
 *     sum, asum, dot, mean   (n+4) u sum|term| (divided by n for the mean)
 *     2-norm                 (n+4) u |result|  (no term is negative; the root halves the error)
 *     product                (n+4) u |result|
 *
 * to first order. The exact bound has n u / (1 - n u) in place of n u. Where a term or a result may
 * underflow, n times half the smallest subnormal is added. The rounding to the stored type is added
 * too.
 *
 * For long sequences this bound is too wide to find most errors. So most fills of `verify` are
 * small whole numbers. They make every order exact, so the bound is 0. The terms of `bench` have
 * random signs. Let |terms| be the root of the sum of their squares. Every partial sum is then
 * within 8 |terms| (Hoeffding, as in gemm.c), and n unbiased roundings add up to at most 8 u
 * sqrt(n) times the greatest partial sum. So in `bench`, sums, dots and means must also be within
 * 64 u sqrt(n) |terms|. This does not hold if all terms have the same sign. Therefore no list has
 * naive sums of magnitudes (asum) at sizes for which the wide bound finds too little.
 */
#include "bench/check/check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

static bool is_order(iso_reduce_op op)
{
    return op == ISO_MIN || op == ISO_MAX || op == ISO_AMAX || op == ISO_ARGMIN ||
           op == ISO_ARGMAX || op == ISO_ARGAMAX;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

typedef struct totals {
    iso_reduce_op op;
    iso_dtype dtype;
    const unsigned char *x, *y;
    int64_t step, n, part;
    /* Three sums for each part: of the terms, of their magnitudes and of their squares. */
    long double *sums;
} totals;

static void add_terms(void *context, int64_t begin, int64_t end)
{
    totals *t = context;
    int64_t size = t->step * iso_dtype_size(t->dtype);
    double x[BLOCK], y[BLOCK];
    for (int64_t p = begin; p < end; p++) {
        int64_t last = (p + 1) * t->part < t->n ? (p + 1) * t->part : t->n;
        long double sum = t->op == ISO_PRODUCT ? 1 : 0, magnitude = 0, squares = 0;
        for (int64_t first = p * t->part; first < last; first += BLOCK) {
            int64_t count = last - first < BLOCK ? last - first : BLOCK;
            arith_widen(t->dtype, t->x + first * size, t->step, count, x);
            arith_widen(t->dtype, t->y + first * size, t->step, count, y);
            for (int64_t i = 0; i < count; i++) {
                long double term = t->op == ISO_DOT || t->op == ISO_NORM2 ? (long double)x[i] * y[i]
                                   : t->op == ISO_ASUM                    ? fabsl(x[i])
                                                                          : x[i];
                sum = t->op == ISO_PRODUCT ? sum * term : sum + term;
                magnitude += fabsl(term);
                squares += term * term;
            }
        }
        t->sums[p * 3] = sum;
        t->sums[p * 3 + 1] = magnitude;
        t->sums[p * 3 + 2] = squares;
    }
}

static bool exact_op(const bench_case *item)
{
    return is_order(item->reduce.op) || !arith_is_float(item->dtype);
}

/* Whether every order of evaluation gives the same number. A mean is also divided by n, but all
 * variants round that in the same way. */
static bool exact_fill(const bench_case *item)
{
    if (item->reduce.op == ISO_PRODUCT) {
        return item->fill == ARITH_POWERS;
    }
    return item->reduce.op != ISO_NORM2 &&
           (item->fill == ARITH_INTS || item->fill == ARITH_SPARSE || item->fill == ARITH_ZEROS);
}

/* Computes the reference of one sequence and its bound. False: no memory. */
static bool refer(const bench_case *item, const unsigned char *x, const unsigned char *y, int64_t n,
                  int64_t step, check_expected *out)
{
    enum { PART = 1 << 18 };
    iso_reduce_op op = item->reduce.op;
    iso_dtype dtype = item->dtype, wide = dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    int64_t part = item->samples > 0 || n == 0 ? PART : n, parts = (n + part - 1) / part;
    totals t = {.op = op, .dtype = dtype, .x = x, .y = op == ISO_DOT ? y : x, .step = step};
    t.n = n;
    t.part = part;
    t.sums = calloc((size_t)parts * 3 + 1, sizeof *t.sums);
    if (!t.sums) {
        return false;
    }
    arith_parallel(parts, 1, add_terms, &t);
    bool product = op == ISO_PRODUCT, signs = op == ISO_SUM || op == ISO_DOT || op == ISO_MEAN;
    long double sum = product ? 1 : 0, magnitude = 0, squares = 0;
    for (int64_t p = 0; p < parts; p++) {
        sum = product ? sum * t.sums[p * 3] : sum + t.sums[p * 3];
        magnitude += t.sums[p * 3 + 1];
        squares += t.sums[p * 3 + 2];
    }
    free(t.sums);
    if (op == ISO_NORM2) {
        sum = sqrtl(sum);
    }
    if (op == ISO_NORM2 || product) {
        magnitude = fabsl(sum);
    }
    double u = arith_roundoff(wide), nu = ((double)n + 4) * u, store = arith_roundoff(dtype);
    double growth = nu < 0.5 ? nu / (1 - nu) : nu * exp(nu);
    double by = op == ISO_MEAN ? (double)n : 1, error = growth * (double)(magnitude / by);
    out->want = sum / by;
    if (item->samples > 0) { /* a vendor's last rounding may be off by a whole unit */
        store = 2 * store + 0x1p-52;
        if (signs) {
            error = fmin(error, 64 * u * sqrt((double)n + 4) * (double)sqrtl(squares) / by);
        }
    }
    double vanish = product || op == ISO_DOT || op == ISO_MEAN ? (double)n + 2 : 2;
    out->bound = 1.01 * (error + store * fabs((double)out->want) +
                         vanish * arith_half_smallest(wide) + arith_half_smallest(dtype));
    return true;
}

/* ---- sequences ------------------------------------------------------------------------------- */

typedef struct sequences {
    const bench_case *item;
    const unsigned char *x, *y;
    /* In elements: the length of a sequence, the distance between its elements, and the distance
     * between the first elements of two sequences. */
    int64_t n, step, next;
    check_expected *out;
    bool bits, bounds; /* what to compute */
    _Atomic bool good;
} sequences;

static bool expect(const sequences *c, const unsigned char *x, const unsigned char *y,
                   check_expected *out)
{
    const bench_case *item = c->item;
    if (c->bits && !arith_reduce(item->reduce.op, item->dtype, x, y, c->n, c->step, out->bits)) {
        return false;
    }
    if (!c->bounds) {
        return true;
    }
    if (!refer(item, x, y, c->n, c->step, out)) {
        return false;
    }
    if (exact_fill(item) && item->samples == 0) {
        iso_dtype type;
        iso_reduce_result(item->reduce.op, item->dtype, &type);
        out->want = arith_load(type, out->bits);
        out->bound = 0;
    }
    return true;
}

static void expect_each(void *context, int64_t begin, int64_t end)
{
    sequences *c = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * c->next * c->item->element;
        if (!expect(c, c->x + first, c->y + first, &c->out[i])) {
            atomic_store(&c->good, false);
        }
    }
}

/* The expected results. NULL: no memory, or the model's own result is outside the bounds. That
 * would be a bug of this program or of the machine's fma. */
static const check_expected *reference(sequences *c, const check_data *data, iso_dtype type,
                                       int64_t results, bench_result *result)
{
    bool fresh;
    const bench_case *item = c->item;
    uint64_t key = arith_mix(item->seed, 11 + (uint64_t)(c->bits + 2 * c->bounds));
    c->out = check_cache_get(data->cache, key, results * (int64_t)sizeof *c->out, &fresh);
    if (!c->out) {
        check_no_memory(result);
    }
    if (!c->out || !fresh) {
        return c->out;
    }
    arith_parallel(results, 16, expect_each, c);
    bool good = c->good || check_no_memory(result);
    for (int64_t i = 0; good && c->bits && c->bounds && i < results; i++) {
        good = check_bounds(&(check_elements){type, c->out[i].bits, 1, 1, 1}, &c->out[i], false,
                            result);
    }
    if (!good) {
        check_cache_forget(data->cache, key);
    }
    return good ? c->out : NULL;
}

bool check_reduce(const bench_case *item, const check_data *data, const void *got,
                  bench_result *result)
{
    bench_needs needs;
    bool exact = exact_op(item), bits = item->same_bits || exact;
    bench_case_needs(item, &needs);
    const reduce_shape *r = &item->reduce;
    bool all_of_it = r->axis == ISO_AXIS_ALL, down = r->axis == ISO_AXIS_0;
    sequences c = {.item = item,
                   .n = all_of_it ? r->rows * r->cols
                        : down    ? r->rows
                                  : r->cols,
                   .step = down ? r->cols : 1,
                   .next = down ? 1 : r->cols,
                   .x = data->x,
                   .y = data->y,
                   .bits = bits || item->samples == 0,
                   .bounds = !exact && !(bits && item->samples > 0),
                   .good = true};
    const check_expected *want = reference(&c, data, needs.result_type, needs.results, result);
    if (!want) {
        return false;
    }
    check_elements all = {needs.result_type, got, 1, 1, needs.results};
    bool same = item->samples == 0 && !item->same_bits && (exact || exact_fill(item));
    result->method = same ? "exact" : bits ? "bits" : "bound";
    return (!bits || check_bits(&all, want, result)) &&
           (!c.bounds || check_bounds(&all, want, item->samples > 0, result));
}
