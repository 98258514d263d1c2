/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - the check of reductions: bits where they are defined, else a bound.
 *
 * `tiled` is held to its bits. So are min, max, argmin, argmax and all of integers in every
 * variant. The others are held to a bound that is right for any order of evaluation. With u the
 * unit roundoff of the accumulation type and n terms, each term meets at most n roundings:
 *
 *     sum, asum, dot, mean   (n+4) u sum|term| (the mean's divided by n)
 *     2-norm                 (n+4) u |result|  (all terms are positive; the root halves it)
 *     product                (n+4) u |result|
 *
 * to first order, n u / (1 - n u) exactly; where a result may vanish, also n times half the
 * smallest subnormal; and one rounding to the stored type.
 *
 * Such a bound is loose for long sequences. So most fills of `verify` are small whole numbers, for
 * which every order is exact and the bound 0. The random terms of `bench` have random signs: every
 * partial sum is within 8 |terms| (the root of the sum of squares; Hoeffding, as in gemm.c), and n
 * roundings that favour no side add up to at most 8 u sqrt(n) times the greatest of them. There
 * sums, dots and means are also held to 64 u sqrt(n) |terms|. Terms of one sign have no such bound:
 * no list has naive sums of magnitudes at sizes where theirs says nothing.
 */
#include "bench/check/check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, LANES = 128 };

/* ---- the model, by threads ------------------------------------------------------------------- */

/* One block of up to 4096 elements; x and y in the type of the lanes. */
#define BLOCK_BODY(T, FMA, ABS)                                                                    \
    static inline __attribute__((always_inline)) T block_body_##T(iso_reduce_op op, const T *x,    \
                                                                  const T *y, int64_t count)       \
    {                                                                                              \
        T lane[LANES] = {0};                                                                       \
        for (int64_t first = 0; first < count; first += LANES) {                                   \
            int64_t width = count - first < LANES ? count - first : LANES;                         \
            if (op == ISO_DOT)                                                                     \
                for (int64_t l = 0; l < width; l++)                                                \
                    lane[l] = FMA(x[first + l], y[first + l], lane[l]);                            \
            else if (op == ISO_ASUM)                                                               \
                for (int64_t l = 0; l < width; l++)                                                \
                    lane[l] += ABS(x[first + l]);                                                  \
            else                                                                                   \
                for (int64_t l = 0; l < width; l++)                                                \
                    lane[l] += x[first + l];                                                       \
        }                                                                                          \
        for (int half = LANES / 2; half > 0; half /= 2)                                            \
            for (int l = 0; l < half; l++)                                                         \
                lane[l] += lane[l + half];                                                         \
        return lane[0];                                                                            \
    }                                                                                              \
    static T block_plain_##T(iso_reduce_op op, const T *x, const T *y, int64_t count)              \
    {                                                                                              \
        return block_body_##T(op, x, y, count);                                                    \
    }                                                                                              \
    ARITH_FAST static T block_fast_##T(iso_reduce_op op, const T *x, const T *y, int64_t count)    \
    {                                                                                              \
        return block_body_##T(op, x, y, count);                                                    \
    }                                                                                              \
    static T block_##T(iso_reduce_op op, const T *x, const T *y, int64_t count)                    \
    {                                                                                              \
        return (ARITH_HAVE_FAST() ? block_fast_##T : block_plain_##T)(op, x, y, count);            \
    }

BLOCK_BODY(float, __builtin_fmaf, __builtin_fabsf)
BLOCK_BODY(double, __builtin_fma, __builtin_fabs)

typedef struct summing {
    iso_reduce_op op; /* SUM, DOT or ASUM */
    iso_dtype dtype;
    bool wide;    /* lanes of f64 */
    bool squares; /* of f64 */
    const unsigned char *x, *y;
    int64_t n;
    float *f32;
    double *f64;        /* results of the blocks */
    _Atomic bool other; /* squares that overflow or vanish: the model has other sums for them */
} summing;

static void widen_f32(iso_dtype dtype, const unsigned char *from, int64_t count, float *out)
{
    double line[BLOCK];
    arith_widen(dtype, from, 1, count, line);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)line[i];
    }
}

static void note_squares(summing *s, const double *x, int64_t count)
{
    for (int64_t i = 0; s->squares && i < count; i++) {
        double size = fabs(x[i]);
        if (size > 0x1p486 || (size < 0x1p-511 && size > 0)) {
            atomic_store(&s->other, true);
        }
    }
}

static void sum_blocks(void *context, int64_t begin, int64_t end)
{
    summing *s = context;
    int64_t size = iso_dtype_size(s->dtype);
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * BLOCK;
        int64_t count = s->n - first < BLOCK ? s->n - first : BLOCK;
        const unsigned char *x = s->x + first * size, *y = s->y + first * size;
        _Alignas(64) double wide[2][BLOCK];
        float *narrow[2] = {(float *)(void *)wide[0], (float *)(void *)wide[1]};
        if (s->wide) {
            arith_widen(s->dtype, x, 1, count, wide[0]);
            arith_widen(s->dtype, y, 1, count, wide[1]);
            note_squares(s, wide[0], count);
            s->f64[block] = block_double(s->op, wide[0], wide[1], count);
        } else if (s->dtype == ISO_F32) {
            s->f32[block] = block_float(s->op, (const float *)(const void *)x,
                                        (const float *)(const void *)y, count);
        } else {
            widen_f32(s->dtype, x, count, narrow[0]);
            widen_f32(s->dtype, y, count, narrow[1]);
            s->f32[block] = block_float(s->op, narrow[0], narrow[1], count);
        }
    }
}

/* The levels above the first are sums of the results of blocks, which `values` holds. */
#define FOLD_BODY(T)                                                                               \
    static T fold_##T(T *values, int64_t count)                                                    \
    {                                                                                              \
        while (count > 1) {                                                                        \
            int64_t blocks = (count + BLOCK - 1) / BLOCK;                                          \
            for (int64_t b = 0; b < blocks; b++) {                                                 \
                int64_t left = count - b * BLOCK;                                                  \
                values[b] = block_##T(ISO_SUM, values + b * BLOCK, values + b * BLOCK,             \
                                      left < BLOCK ? left : BLOCK);                                \
            }                                                                                      \
            count = blocks;                                                                        \
        }                                                                                          \
        return values[0];                                                                          \
    }
FOLD_BODY(float)
FOLD_BODY(double)

/* Sums of floating-point terms; a norm is the root of a dot with itself in f64. False: not one. */
static bool model_sum(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                      void *result, bool *good)
{
    bool norm = op == ISO_NORM2;
    if (!arith_is_float(dtype) || n < 1 ||
        (op != ISO_SUM && op != ISO_DOT && op != ISO_ASUM && op != ISO_MEAN && !norm)) {
        return false;
    }
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    summing s = {.op = norm             ? ISO_DOT
                       : op == ISO_MEAN ? ISO_SUM
                                        : op,
                 .dtype = dtype,
                 .wide = norm || dtype == ISO_F64,
                 .squares = norm && dtype == ISO_F64,
                 .x = x,
                 .y = op == ISO_DOT ? y : x,
                 .n = n};
    s.f64 = calloc((size_t)blocks, sizeof *s.f64);
    s.f32 = (float *)(void *)s.f64;
    if (!s.f64) {
        *good = false;
        return true;
    }
    check_parallel(blocks, 64, sum_blocks, &s);
    if (atomic_load(&s.other)) {
        free(s.f64);
        return false;
    }
    double total = s.wide ? fold_double(s.f64, blocks) : (double)fold_float(s.f32, blocks);
    arith_store(dtype, result, norm ? sqrt(total) : op == ISO_MEAN ? total / (double)n : total);
    free(s.f64);
    return true;
}

/* What does not depend on the order: parts of the sequence, and then what they gave. */
typedef struct splitting {
    iso_reduce_op op;
    iso_dtype dtype;
    const unsigned char *x, *y;
    int64_t n, part;
    unsigned char *results;
    int64_t result_size;
} splitting;

static bool is_index(iso_reduce_op op)
{
    return op == ISO_ARGMIN || op == ISO_ARGMAX;
}

/* The first of the least or greatest elements, where no NaN, no 0 and no long integer makes that a
 * matter of docs/arithmetic.md. False: they do. */
static bool find_best(const splitting *s, const unsigned char *x, int64_t count, void *result)
{
    double line[BLOCK], best = 0;
    int64_t index = -1, size = iso_dtype_size(s->dtype);
    bool least = s->op == ISO_MIN || s->op == ISO_ARGMIN;
    if (s->dtype == ISO_I64) {
        return false;
    }
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t width = count - first < BLOCK ? count - first : BLOCK;
        double top = -INFINITY;
        bool numbers = true;
        arith_widen(s->dtype, x + first * size, 1, width, line);
        for (int64_t i = 0; i < width; i++) {
            double value = least ? -line[i] : line[i];
            top = value > top ? value : top;
            numbers = numbers && value == value;
        }
        if (!numbers || top == 0) {
            return false;
        }
        if (index >= 0 && top <= best) {
            continue;
        }
        best = top;
        for (index = first; (least ? -line[index - first] : line[index - first]) != top;) {
            index++;
        }
    }
    if (is_index(s->op)) {
        memcpy(result, &index, sizeof index);
    } else {
        memcpy(result, x + index * size, (size_t)size);
    }
    return index >= 0;
}

static bool is_order(iso_reduce_op op)
{
    return op == ISO_MIN || op == ISO_MAX || is_index(op);
}

static void reduce_parts(void *context, int64_t begin, int64_t end)
{
    splitting *s = context;
    int64_t size = iso_dtype_size(s->dtype);
    for (int64_t p = begin; p < end; p++) {
        int64_t first = p * s->part, count = s->n - first < s->part ? s->n - first : s->part;
        if (is_order(s->op) &&
            find_best(s, s->x + first * size, count, s->results + p * s->result_size)) {
            continue;
        }
        arith_reduce(s->op, s->dtype, s->x + first * size, s->y ? s->y + first * size : NULL, count,
                     1, 1, s->results + p * s->result_size);
    }
}

/* The best of the best: their values in order are reduced as the parts were. */
static void finish_parts(const splitting *s, int64_t parts, void *result)
{
    int64_t size = iso_dtype_size(s->dtype), best;
    if (!is_index(s->op)) {
        iso_reduce_op then = s->op == ISO_DOT || s->op == ISO_ASUM ? ISO_SUM : s->op;
        arith_reduce(then, s->dtype, s->results, NULL, parts, 1, 1, result);
        return;
    }
    int64_t *indices = (int64_t *)(void *)s->results;
    unsigned char *values = s->results + parts * s->result_size;
    for (int64_t p = 0; p < parts; p++) {
        indices[p] += p * s->part;
        memcpy(values + p * size, s->x + indices[p] * size, (size_t)size);
    }
    arith_reduce(s->op, s->dtype, values, NULL, parts, 1, 1, &best);
    memcpy(result, &indices[best], sizeof *indices);
}

static bool model_split(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                        void *result, bool *good)
{
    enum { PART = 1 << 18 };
    bool whole = !arith_is_float(dtype) && op != ISO_MEAN && op != ISO_ASUM;
    if (n <= PART || (!is_order(op) && !whole)) {
        return false;
    }
    int64_t parts = (n + PART - 1) / PART;
    splitting s = {.op = op,
                   .dtype = dtype,
                   .x = x,
                   .y = op == ISO_DOT ? y : NULL,
                   .n = n,
                   .part = PART,
                   .result_size = is_index(op) ? 8 : iso_dtype_size(dtype)};
    s.results = calloc((size_t)parts, 16);
    *good = s.results != NULL;
    if (*good) {
        check_parallel(parts, 1, reduce_parts, &s);
        finish_parts(&s, parts, result);
    }
    free(s.results);
    return true;
}

bool check_model_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                        void *result)
{
    bool good = true;
    if (model_sum(op, dtype, x, y, n, result, &good) ||
        model_split(op, dtype, x, y, n, result, &good)) {
        return good;
    }
    arith_reduce(op, dtype, x, op == ISO_DOT ? y : NULL, n, 1, 1, result);
    return true;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

typedef struct totals {
    iso_reduce_op op;
    iso_dtype dtype;
    const unsigned char *x, *y;
    int64_t n, part;
    long double *sums; /* of terms, magnitudes, squares: three for each part */
} totals;

static void add_terms(void *context, int64_t begin, int64_t end)
{
    totals *t = context;
    int64_t size = iso_dtype_size(t->dtype);
    double x[BLOCK], y[BLOCK];
    for (int64_t p = begin; p < end; p++) {
        int64_t last = (p + 1) * t->part < t->n ? (p + 1) * t->part : t->n;
        long double sum = t->op == ISO_PRODUCT ? 1 : 0, magnitude = 0, squares = 0;
        for (int64_t first = p * t->part; first < last; first += BLOCK) {
            int64_t count = last - first < BLOCK ? last - first : BLOCK;
            arith_widen(t->dtype, t->x + first * size, 1, count, x);
            arith_widen(t->dtype, t->y + first * size, 1, count, y);
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

/* Whether every order of evaluation gives the same number. All variants round the mean's one
 * division and the root in the same way. */
static bool exact_fill(const bench_case *item)
{
    if (item->reduce.op == ISO_PRODUCT) {
        return item->fill == ARITH_POWERS;
    }
    return item->reduce.op != ISO_NORM2 &&
           (item->fill == ARITH_INTS || item->fill == ARITH_SPARSE || item->fill == ARITH_ZEROS);
}

/* The reference of one sequence, and how far any order may be from it. False: no memory. */
static bool refer(const bench_case *item, const unsigned char *x, const unsigned char *y, int64_t n,
                  check_expected *out)
{
    enum { PART = 1 << 18 };
    iso_reduce_op op = item->reduce.op;
    iso_dtype dtype = item->dtype, wide = dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    int64_t part = item->samples > 0 || n == 0 ? PART : n, parts = (n + part - 1) / part;
    totals t = {.op = op, .dtype = dtype, .x = x, .y = op == ISO_DOT ? y : x, .n = n, .part = part};
    t.sums = calloc((size_t)parts * 3 + 1, sizeof *t.sums);
    if (!t.sums) {
        return false;
    }
    check_parallel(parts, 1, add_terms, &t);
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

typedef struct columns {
    const bench_case *item;
    const unsigned char *x, *y;
    check_expected *out;
    bool bits, bounds; /* what is worked out */
    _Atomic bool good;
} columns;

static bool expect(const columns *c, const unsigned char *x, const unsigned char *y, int64_t n,
                   check_expected *out)
{
    const bench_case *item = c->item;
    if (c->bits && !check_model_reduce(item->reduce.op, item->dtype, x, y, n, out->bits)) {
        return false;
    }
    if (!c->bounds) {
        return true;
    }
    if (!refer(item, x, y, n, out)) {
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

static void expect_rows(void *context, int64_t begin, int64_t end)
{
    columns *c = context;
    int64_t cols = c->item->reduce.cols, bytes = cols * c->item->element;
    for (int64_t i = begin; i < end; i++) {
        if (!expect(c, c->x + i * bytes, c->y + i * bytes, cols, &c->out[i])) {
            atomic_store(&c->good, false);
        }
    }
}

static void gather(const bench_case *item, const unsigned char *from, int64_t first, int64_t count,
                   unsigned char *to)
{
    size_t size = (size_t)item->element;
    const reduce_shape *r = &item->reduce;
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t j = 0; j < count; j++) {
            memcpy(to + (size_t)(j * r->rows + i) * size,
                   from + (size_t)(i * r->cols + first + j) * size, size);
        }
    }
}

/* A strip of columns, gathered first. */
static void expect_columns(void *context, int64_t begin, int64_t end)
{
    columns *c = context;
    int64_t rows = c->item->reduce.rows, bytes = rows * c->item->element, count = end - begin;
    unsigned char *x = malloc((size_t)(bytes * count) + 1),
                  *y = malloc((size_t)(bytes * count) + 1);
    if (!x || !y) {
        atomic_store(&c->good, false);
    } else {
        gather(c->item, c->x, begin, count, x);
        gather(c->item, c->y, begin, count, y);
        for (int64_t j = 0; j < count; j++) {
            if (!expect(c, x + j * bytes, y + j * bytes, rows, &c->out[begin + j])) {
                atomic_store(&c->good, false);
            }
        }
    }
    free(x);
    free(y);
}

/* What every result should be. NULL: no memory, or the model is outside its own bounds: a fault of
 * this program or of the machine's fma. */
static const check_expected *reference(columns *c, const check_data *data, iso_dtype type,
                                       int64_t results, bench_result *result)
{
    bool fresh;
    const bench_case *item = c->item;
    const reduce_shape *r = &item->reduce;
    uint64_t key = arith_mix(item->seed, 11 + (uint64_t)(c->bits + 2 * c->bounds));
    c->out = check_cache_get(data->cache, key, results * (int64_t)sizeof *c->out, &fresh);
    if (!c->out) {
        check_no_memory(result);
    }
    if (!c->out || !fresh) {
        return c->out;
    }
    if (r->axis == ISO_AXIS_ALL) {
        c->good = expect(c, c->x, c->y, r->rows * r->cols, c->out);
    } else if (r->axis == ISO_AXIS_1) {
        check_parallel(r->rows, 16, expect_rows, c);
    } else {
        check_parallel(r->cols, 32, expect_columns, c);
    }
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
    columns c = {.item = item,
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
