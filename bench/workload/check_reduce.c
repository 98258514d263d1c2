/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_reduce.c - reductions: bits where they are defined, else a bound.
 *
 * The bound holds for any order of evaluation. A result of n terms is off by at most (n+4) u
 * sum|term| (bench/suite/reduce.c), whatever the terms and the roundings. For millions of terms
 * that says nothing, but these are random with random signs: every partial sum is within 8 |terms|
 * (the root of the sum of squares; Hoeffding, as in check_gemm.c), and n roundings that favour
 * no side add up to at most 8 u sqrt(n) times the greatest of them. So sums, dots and means are
 * also held to 64 u sqrt(n) |terms|. Terms of one sign have no such bound: naive sums of magnitudes
 * are in no list at sizes where theirs says nothing.
 */
#include "bench/arith/arith.h"
#include "bench/workload/internal.h"

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
    bool wide; /* lanes of f64 */
    const unsigned char *x, *y;
    int64_t n;
    float *f32;
    double *f64; /* results of the blocks */
} summing;

static void widen_f32(iso_dtype dtype, const unsigned char *from, int64_t count, float *out)
{
    double line[BLOCK];
    arith_widen(dtype, from, 1, count, line);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)line[i];
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
                 .x = x,
                 .y = op == ISO_DOT ? y : x,
                 .n = n};
    s.f64 = calloc((size_t)blocks, sizeof *s.f64);
    s.f32 = (float *)(void *)s.f64;
    if (!s.f64) {
        *good = false;
        return true;
    }
    work_parallel(blocks, 64, sum_blocks, &s);
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
        work_parallel(parts, 1, reduce_parts, &s);
        finish_parts(&s, parts, result);
    }
    free(s.results);
    return true;
}

bool work_model_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
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

/* The exact result of one sequence, and how far any order may be from it. False: no memory. */
static bool refer(iso_reduce_op op, iso_dtype dtype, const unsigned char *x, const unsigned char *y,
                  int64_t n, double *want, double *bound)
{
    enum { PART = 1 << 18 };
    int64_t parts = (n + PART - 1) / PART;
    totals t = {.op = op, .dtype = dtype, .x = x, .y = op == ISO_DOT ? y : x, .n = n, .part = PART};
    t.sums = calloc((size_t)parts * 3, sizeof *t.sums);
    if (!t.sums) {
        return false;
    }
    work_parallel(parts, 1, add_terms, &t);
    bool product = op == ISO_PRODUCT;
    long double sum = product ? 1 : 0, magnitude = 0, squares = 0;
    for (int64_t p = 0; p < parts; p++) {
        sum = product ? sum * t.sums[p * 3] : sum + t.sums[p * 3];
        magnitude += t.sums[p * 3 + 1];
        squares += t.sums[p * 3 + 2];
    }
    free(t.sums);
    if (op == ISO_NORM2) {
        sum = magnitude = sqrtl(sum);
    }
    if (product) {
        magnitude = fabsl(sum);
    }
    iso_dtype wide = dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    double u = arith_roundoff(wide), nu = ((double)n + 4) * u;
    double error = (nu < 0.5 ? nu / (1 - nu) : nu * exp(nu)) * (double)magnitude;
    if (op == ISO_SUM || op == ISO_DOT || op == ISO_MEAN) {
        error = fmin(error, 64 * u * sqrt((double)n + 4) * (double)sqrtl(squares));
    }
    double by = op == ISO_MEAN ? (double)n : 1;
    *want = (double)(sum / by);
    /* A vendor's last rounding may be off by a whole unit; the reference's own is in f64. */
    *bound = 1.01 * (error / by + (2 * arith_roundoff(dtype) + 0x1p-52) * fabs(*want) +
                     (product ? (double)n + 2 : 2) * arith_half_smallest(wide) +
                     arith_half_smallest(dtype));
    return true;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* What is kept of a problem: the bits, and for other variants the exact result and its bound. */
typedef struct expected {
    double want, bound;
    unsigned char bits[8];
} expected;

typedef struct columns {
    const work_case *item;
    const unsigned char *x, *y;
    expected *out;
    bool bits;
    _Atomic bool good;
} columns;

static bool expect(const work_case *item, const unsigned char *x, const unsigned char *y, int64_t n,
                   bool bits, expected *out)
{
    if (bits) {
        return work_model_reduce(item->reduction, item->dtype, x, y, n, out->bits);
    }
    return refer(item->reduction, item->dtype, x, y, n, &out->want, &out->bound);
}

static void expect_rows(void *context, int64_t begin, int64_t end)
{
    columns *c = context;
    const work_case *item = c->item;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i * item->cols * item->element;
        if (!expect(item, c->x + at, c->y + at, item->cols, c->bits, &c->out[i])) {
            atomic_store(&c->good, false);
        }
    }
}

static void gather(const work_case *item, const unsigned char *from, int64_t first, int64_t count,
                   unsigned char *to)
{
    size_t size = (size_t)item->element;
    for (int64_t i = 0; i < item->rows; i++) {
        for (int64_t j = 0; j < count; j++) {
            memcpy(to + (size_t)(j * item->rows + i) * size,
                   from + (size_t)(i * item->cols + first + j) * size, size);
        }
    }
}

/* A strip of columns, gathered first. */
static void expect_columns(void *context, int64_t begin, int64_t end)
{
    columns *c = context;
    const work_case *item = c->item;
    int64_t bytes = item->rows * item->element, count = end - begin;
    unsigned char *x = malloc((size_t)(bytes * count)), *y = malloc((size_t)(bytes * count));
    if (!x || !y) {
        atomic_store(&c->good, false);
    } else {
        gather(item, c->x, begin, count, x);
        gather(item, c->y, begin, count, y);
        for (int64_t j = 0; j < count; j++) {
            if (!expect(item, x + j * bytes, y + j * bytes, item->rows, c->bits,
                        &c->out[begin + j])) {
                atomic_store(&c->good, false);
            }
        }
    }
    free(x);
    free(y);
}

static expected *reference(const work_case *item, work_inputs *inputs, const work_needs *needs,
                           bool bits)
{
    int64_t there;
    bool fresh;
    const unsigned char *block = work_inputs_block(inputs, needs->type, &there);
    uint64_t key = arith_mix(item->seed, bits ? 11 : 12);
    columns c = {.item = item,
                 .x = block + needs->at[0],
                 .y = block + needs->at[needs->inputs - 1],
                 .bits = bits,
                 .good = true};
    c.out = work_inputs_reference(inputs, key, needs->results * (int64_t)sizeof *c.out, &fresh);
    if (!c.out || !fresh) {
        return c.out;
    }
    if (item->axis == ISO_AXIS_ALL) {
        c.good = expect(item, c.x, c.y, item->cols, bits, c.out);
    } else if (item->axis == ISO_AXIS_1) {
        work_parallel(item->rows, 16, expect_rows, &c);
    } else {
        work_parallel(item->cols, 32, expect_columns, &c);
    }
    if (!c.good) {
        work_inputs_forget(inputs, key);
    }
    return c.good ? c.out : NULL;
}

/* How far a result is from what it should be; 0 where it overflowed as it should, or may. */
static double error_of(iso_dtype dtype, double is, const expected *want)
{
    unsigned char edge[8];
    if (isinf(is)) {
        arith_store(dtype, edge, want->want + (is > 0 ? want->bound : -want->bound));
        return arith_load(dtype, edge) == is ? 0 : INFINITY;
    }
    return fabs(is - want->want);
}

bool work_check_reduce(const work_case *item, work_inputs *inputs, const void *data,
                       work_result *result)
{
    work_needs needs;
    work_case_needs(item, &needs);
    bool bits = work_case_has_bits(item);
    const expected *want = reference(item, inputs, &needs, bits);
    if (!want) {
        return work_no_memory(result);
    }
    size_t size = (size_t)iso_dtype_size(needs.result_type);
    result->method = bits ? "bits" : "bound";
    for (int64_t i = 0; i < needs.results; i++) {
        const unsigned char *got = (const unsigned char *)data + (size_t)i * size;
        double is = arith_load(needs.result_type, got);
        double error = bits ? 0 : error_of(needs.result_type, is, &want[i]);
        if (bits && memcmp(got, want[i].bits, size) != 0) {
            return work_fail(result, "result [%lld] is %.17g, expected exactly %.17g", (long long)i,
                             is, arith_load(needs.result_type, want[i].bits));
        }
        if (!bits && !(error <= want[i].bound)) {
            result->error = error;
            result->bound = want[i].bound;
            return work_fail(result, "result [%lld] is %.17g, expected %.17g within %.3g",
                             (long long)i, is, want[i].want, want[i].bound);
        }
        if (!bits) {
            work_note_error(result, error, want[i].bound);
        }
    }
    return true;
}
