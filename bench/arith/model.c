/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a plain model of products and reductions, exactly as docs/bits.md defines them.
 */
#include "bench/arith/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

/* ---- product --------------------------------------------------------------------------------- */

enum { SEGMENT = 1024 };

/* Computes a row of C at a time, so that the compiler can vectorize over columns. Each element
 * still adds its terms in ascending order of k. */
#define GEMM_BODY(T, FMA)                                                                          \
    static inline __attribute__((always_inline)) void gemm_body_##T(                               \
        int64_t m, int64_t n, int64_t k, T alpha, const T *a, const T *b, T beta, const T *c,      \
        bool continues, T *restrict out, T *restrict acc, T *restrict total)                       \
    {                                                                                              \
        if (alpha == 0)                                                                            \
            k = 0;                                                                                 \
        for (int64_t i = 0; i < m; i++) {                                                          \
            for (int64_t j = 0; j < n; j++)                                                        \
                total[j] = continues ? c[i * n + j] : 0;                                           \
            for (int64_t first = 0; first < k; first += SEGMENT) {                                 \
                int64_t last = first + SEGMENT < k ? first + SEGMENT : k;                          \
                for (int64_t j = 0; j < n; j++)                                                    \
                    acc[j] = 0;                                                                    \
                for (int64_t p = first; p < last; p++) {                                           \
                    T x = a[i * k + p];                                                            \
                    const T *row = b + p * n;                                                      \
                    for (int64_t j = 0; j < n; j++)                                                \
                        acc[j] = FMA(x, row[j], acc[j]);                                           \
                }                                                                                  \
                for (int64_t j = 0; j < n; j++)                                                    \
                    total[j] = first == 0 && !continues ? acc[j] : total[j] + acc[j];              \
            }                                                                                      \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[i * n + j] = continues   ? total[j]                                            \
                                 : beta == 0 ? alpha * total[j]                                    \
                                             : FMA(alpha, total[j], beta * c[i * n + j]);          \
        }                                                                                          \
    }                                                                                              \
    static void gemm_plain_##T(int64_t m, int64_t n, int64_t k, T alpha, const T *a, const T *b,   \
                               T beta, const T *c, bool continues, T *out, T *acc, T *total)       \
    {                                                                                              \
        gemm_body_##T(m, n, k, alpha, a, b, beta, c, continues, out, acc, total);                  \
    }                                                                                              \
    ARITH_FAST static void gemm_fast_##T(int64_t m, int64_t n, int64_t k, T alpha, const T *a,     \
                                         const T *b, T beta, const T *c, bool continues, T *out,   \
                                         T *acc, T *total)                                         \
    {                                                                                              \
        gemm_body_##T(m, n, k, alpha, a, b, beta, c, continues, out, acc, total);                  \
    }

GEMM_BODY(float, __builtin_fmaf)
GEMM_BODY(double, __builtin_fma)

void arith_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, const float *b,
                    float beta, const float *c, bool continues, float *out, float *acc,
                    float *total)
{
    (ARITH_HAVE_FAST() ? gemm_fast_float : gemm_plain_float)(m, n, k, alpha, a, b, beta, c,
                                                             continues, out, acc, total);
}

void arith_gemm_f64(int64_t m, int64_t n, int64_t k, double alpha, const double *a, const double *b,
                    double beta, const double *c, bool continues, double *out, double *acc,
                    double *total)
{
    (ARITH_HAVE_FAST() ? gemm_fast_double : gemm_plain_double)(m, n, k, alpha, a, b, beta, c,
                                                               continues, out, acc, total);
}

bool arith_has_product(const arith_factors *f)
{
    return f->alpha != 0 || f->alpha_imag != 0 || f->alpha_at;
}

bool arith_reads_c(const arith_factors *f)
{
    return f->beta != 0 || f->beta_imag != 0 || f->beta_at;
}

double arith_value(iso_dtype wide, double t, const arith_factors *f, double c)
{
    bool alone = !arith_reads_c(f);
    if (wide == ISO_F64) {
        return alone ? f->alpha * t : fma(f->alpha, t, f->beta * c);
    }
    float a = (float)f->alpha, b = (float)f->beta, sum = (float)t;
    return (double)(alone ? a * sum : fmaf(a, sum, b * (float)c));
}

double arith_fixed_value(iso_dtype dtype, double t, double alpha, double beta, double c)
{
    if (dtype == ISO_F64) {
        return beta == 0 ? alpha * t : fma(alpha, t, beta * c);
    }
    float a = (float)alpha, b = (float)beta, sum = (float)t;
    return (double)(b == 0 ? a * sum : fmaf(a, sum, b * (float)c));
}

/* ---- reduction ------------------------------------------------------------------------------- */

enum { BLOCK = 4096, LANES = 128 };

/* One running value. A reduction uses the members that its operation needs. */
typedef struct lane {
    float f;
    double d;          /* sums of f64, and sums of squares of shorter types */
    double big, small; /* 2-norm of f64: scaled squares of huge and tiny elements; d has the rest */
    uint64_t u;        /* sums and products of integers, modulo 2^64 */
    double best;       /* those that pick an element: the best so far */
    int64_t best_int;  /* the same for integers */
    int64_t index;     /* -1: nothing seen */
} lane;

typedef enum family { ADD_F32, ADD_F64, ADD_INT, SQUARES, SQUARES_F64, BEST } family;

typedef struct rule {
    iso_reduce_op op;
    iso_dtype dtype;
    family family;
    bool least; /* min and argmin */
    bool sizes; /* amax and argamax */
} rule;

static rule rule_of(iso_reduce_op op, iso_dtype dtype)
{
    rule made = {op, dtype, ADD_F32, op == ISO_MIN || op == ISO_ARGMIN,
                 op == ISO_AMAX || op == ISO_ARGAMAX};
    if (op == ISO_MIN || op == ISO_MAX || op == ISO_AMAX || op == ISO_ARGMIN || op == ISO_ARGMAX ||
        op == ISO_ARGAMAX) {
        made.family = BEST;
    } else if (!arith_is_float(dtype)) {
        made.family = ADD_INT;
    } else if (op == ISO_NORM2) {
        made.family = dtype == ISO_F64 ? SQUARES_F64 : SQUARES;
    } else {
        made.family = dtype == ISO_F64 ? ADD_F64 : ADD_F32;
    }
    return made;
}

static lane neutral(const rule *r)
{
    lane l = {0};
    l.index = -1;
    if (r->op == ISO_PRODUCT) {
        l.f = 1;
        l.d = 1;
        l.u = 1;
    }
    return l;
}

/* Whether (value, index) b comes before a: NaN first, then by value with -0 under +0, then by
 * index. */
static bool better(const rule *r, const lane *a, const lane *b)
{
    if (a->index < 0 || b->index < 0) {
        return a->index < 0 && b->index >= 0;
    }
    if (!arith_is_float(r->dtype)) {
        if (a->best_int != b->best_int) {
            return r->least ? b->best_int < a->best_int : b->best_int > a->best_int;
        }
        return b->index < a->index;
    }
    bool nan_a = isnan(a->best), nan_b = isnan(b->best);
    if (nan_a || nan_b) {
        return nan_a && nan_b ? b->index < a->index : nan_b;
    }
    if (a->best != b->best) {
        return r->least ? b->best < a->best : b->best > a->best;
    }
    if (signbit(a->best) != signbit(b->best)) {
        return r->least ? signbit(b->best) != 0 : signbit(b->best) == 0;
    }
    return b->index < a->index;
}

static int64_t load_int(iso_dtype dtype, const void *element)
{
    int32_t i32;
    int64_t i64;
    if (dtype == ISO_I32) {
        memcpy(&i32, element, sizeof i32);
        return i32;
    }
    memcpy(&i64, element, sizeof i64);
    return i64;
}

static void step_square_f64(lane *l, double x)
{
    if (fabs(x) > 0x1p486) {
        l->big = fma(x * 0x1p-538, x * 0x1p-538, l->big);
    } else if (fabs(x) < 0x1p-511) {
        l->small = fma(x * 0x1p537, x * 0x1p537, l->small);
    } else {
        l->d = fma(x, x, l->d);
    }
}

static void step_int(const rule *r, lane *l, uint64_t x, uint64_t y)
{
    if (r->op == ISO_PRODUCT) {
        l->u *= x;
    } else if (r->op == ISO_DOT) {
        l->u += x * y;
    } else if (r->op == ISO_ASUM) {
        l->u += (int64_t)x < 0 ? 0 - x : x;
    } else if (r->op == ISO_XOR) {
        l->u ^= x;
    } else {
        l->u += x;
    }
}

static void step_float(const rule *r, lane *l, double x, double y)
{
    if (r->family == SQUARES_F64) {
        step_square_f64(l, x);
    } else if (r->family == SQUARES) {
        l->d = fma(x, x, l->d);
    } else if (r->family == ADD_F64) {
        if (r->op == ISO_PRODUCT) {
            l->d *= x;
        } else if (r->op == ISO_DOT) {
            l->d = fma(x, y, l->d);
        } else {
            l->d += r->op == ISO_ASUM ? fabs(x) : x;
        }
    } else {
        float single = (float)x;
        if (r->op == ISO_PRODUCT) {
            l->f *= single;
        } else if (r->op == ISO_DOT) {
            l->f = fmaf(single, (float)y, l->f);
        } else {
            l->f += r->op == ISO_ASUM ? fabsf(single) : single;
        }
    }
}

static void fold(const rule *r, lane *a, const lane *b)
{
    if (r->family == BEST) {
        if (better(r, a, b)) {
            *a = *b;
        }
    } else if (r->op == ISO_PRODUCT) {
        a->f *= b->f;
        a->d *= b->d;
        a->u *= b->u;
    } else if (r->op == ISO_XOR) {
        a->u ^= b->u;
    } else {
        a->f += b->f;
        a->d += b->d;
        a->big += b->big;
        a->small += b->small;
        a->u += b->u;
    }
}

static lane fold_lanes(const rule *r, lane *lanes)
{
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            fold(r, &lanes[l], &lanes[l + half]);
        }
    }
    return lanes[0];
}

/* The input of the first level. The results of its blocks form the sequence of the next level. */
typedef struct source {
    const rule *r;
    const char *x, *y;
    int64_t step; /* elements */
    int64_t n;
    lane *blocks;
} source;

static void step_block(const source *s, int64_t first, int64_t count, lane *lanes)
{
    const rule *r = s->r;
    int64_t bytes = s->step * iso_dtype_size(r->dtype);
    const char *from = s->x + first * bytes, *other = s->y ? s->y + first * bytes : from;
    double x[BLOCK], y[BLOCK];
    bool is_float = arith_is_float(r->dtype);
    if (is_float) {
        arith_widen(r->dtype, from, s->step, count, x);
        arith_widen(r->dtype, other, s->step, r->op == ISO_DOT ? count : 0, y);
    }
    for (int64_t i = 0; i < count; i++) {
        lane *l = &lanes[i % LANES];
        if (r->family == BEST) {
            lane seen = {.index = first + i};
            if (is_float) {
                seen.best = r->sizes ? fabs(x[i]) : x[i];
            } else {
                seen.best_int = load_int(r->dtype, from + i * bytes);
            }
            if (better(r, l, &seen)) {
                *l = seen;
            }
        } else if (is_float) {
            step_float(r, l, x[i], r->op == ISO_DOT ? y[i] : 0);
        } else {
            step_int(r, l, (uint64_t)load_int(r->dtype, from + i * bytes),
                     (uint64_t)load_int(r->dtype, other + i * bytes));
        }
    }
}

static void reduce_blocks(void *context, int64_t begin, int64_t end)
{
    const source *s = context;
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * BLOCK, left = s->n - first;
        lane lanes[LANES];
        for (int l = 0; l < LANES; l++) {
            lanes[l] = neutral(s->r);
        }
        step_block(s, first, left < BLOCK ? left : BLOCK, lanes);
        s->blocks[block] = fold_lanes(s->r, lanes);
    }
}

/* Folds one block of a higher level. `to` may be in the memory of `from`. */
static void fold_block(const rule *r, const lane *from, int64_t count, lane *to)
{
    lane lanes[LANES];
    for (int l = 0; l < LANES; l++) {
        lanes[l] = neutral(r);
    }
    for (int64_t i = 0; i < count; i++) {
        fold(r, &lanes[i % LANES], &from[i]);
    }
    *to = fold_lanes(r, lanes);
}

static double finish_norm_f64(const lane *l)
{
    double med = l->d;
    bool has_med = med > 0 || isnan(med);
    if (l->big > 0) {
        double s = has_med ? fma(med * 0x1p-538, 0x1p-538, l->big) : l->big;
        return sqrt(s) / 0x1p-538;
    }
    if (l->small > 0) {
        double q = sqrt(l->small) / 0x1p537;
        if (!has_med) {
            return q;
        }
        double p = sqrt(med);
        double hi = isnan(p) || p > q ? p : q, lo = hi == q ? p : q;
        double ratio = lo / hi;
        return sqrt(hi * hi * fma(ratio, ratio, 1));
    }
    return sqrt(med);
}

static void store_int(iso_dtype dtype, void *result, uint64_t value)
{
    uint32_t low = (uint32_t)value;
    if (dtype == ISO_I32) {
        memcpy(result, &low, sizeof low);
    } else {
        memcpy(result, &value, sizeof value);
    }
}

static void store_f32(iso_dtype dtype, void *result, float value)
{
    arith_store(dtype, result, (double)value);
}

static void finish(const rule *r, const lane *l, int64_t n, void *result)
{
    double mean = 0;
    if (r->op == ISO_ARGMIN || r->op == ISO_ARGMAX || r->op == ISO_ARGAMAX) {
        memcpy(result, &l->index, sizeof l->index);
    } else if (r->family == BEST) {
        if (arith_is_float(r->dtype)) {
            arith_store(r->dtype, result, l->best);
        } else {
            store_int(r->dtype, result, (uint64_t)l->best_int);
        }
    } else if (r->op == ISO_MEAN && r->family == ADD_INT) {
        mean = (double)(int64_t)l->u / (double)n;
        memcpy(result, &mean, sizeof mean);
    } else if (r->op == ISO_MEAN) {
        mean = (r->family == ADD_F32 ? (double)l->f : l->d) / (double)n;
        arith_store(r->dtype, result, mean);
    } else if (r->family == ADD_INT) {
        store_int(r->dtype, result, l->u);
    } else if (r->family == SQUARES_F64) {
        arith_store(r->dtype, result, finish_norm_f64(l));
    } else if (r->family == SQUARES) {
        arith_store(r->dtype, result, sqrt(l->d));
    } else if (r->family == ADD_F64) {
        arith_store(r->dtype, result, l->d);
    } else {
        store_f32(r->dtype, result, l->f);
    }
}

bool arith_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                  int64_t step, void *result)
{
    rule r = rule_of(op, dtype);
    int64_t count = n > 0 ? (n + BLOCK - 1) / BLOCK : 1;
    source s = {.r = &r, .x = x, .y = op == ISO_DOT ? y : NULL, .step = step, .n = n};
    s.blocks = malloc((size_t)count * sizeof *s.blocks);
    if (!s.blocks) {
        return false;
    }
    arith_parallel(count, 16, reduce_blocks, &s);
    while (count > 1) {
        int64_t below = count;
        count = (below + BLOCK - 1) / BLOCK;
        for (int64_t b = 0; b < count; b++) {
            int64_t first = b * BLOCK, left = below - first;
            fold_block(&r, &s.blocks[first], left < BLOCK ? left : BLOCK, &s.blocks[b]);
        }
    }
    finish(&r, &s.blocks[0], n, result);
    free(s.blocks);
    return true;
}
