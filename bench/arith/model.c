/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - products and reductions by the letter of docs/arithmetic.md, simply. */
#include "bench/arith/arith.h"

#include <math.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

/* ---- product --------------------------------------------------------------------------------- */

enum { SEGMENT = 1024 };

/* A row of C at a time, so that a compiler can take several columns at once: each element still
 * sees its own k in ascending order. */
#define GEMM_BODY(T, FMA)                                                                          \
    static inline __attribute__((always_inline)) void gemm_body_##T(                               \
        int64_t m, int64_t n, int64_t k, T alpha, const T *a, const T *b, T beta, const T *c,      \
        T *restrict out, T *restrict acc, T *restrict total)                                       \
    {                                                                                              \
        if (alpha == 0)                                                                            \
            k = 0;                                                                                 \
        for (int64_t i = 0; i < m; i++) {                                                          \
            for (int64_t j = 0; j < n; j++)                                                        \
                total[j] = 0;                                                                      \
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
                    total[j] = first == 0 ? acc[j] : total[j] + acc[j];                            \
            }                                                                                      \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[i * n + j] =                                                                   \
                    beta == 0 ? alpha * total[j] : FMA(alpha, total[j], beta * c[i * n + j]);      \
        }                                                                                          \
    }                                                                                              \
    static void gemm_plain_##T(int64_t m, int64_t n, int64_t k, T alpha, const T *a, const T *b,   \
                               T beta, const T *c, T *out, T *acc, T *total)                       \
    {                                                                                              \
        gemm_body_##T(m, n, k, alpha, a, b, beta, c, out, acc, total);                             \
    }                                                                                              \
    ARITH_FAST static void gemm_fast_##T(int64_t m, int64_t n, int64_t k, T alpha, const T *a,     \
                                         const T *b, T beta, const T *c, T *out, T *acc, T *total) \
    {                                                                                              \
        gemm_body_##T(m, n, k, alpha, a, b, beta, c, out, acc, total);                             \
    }

GEMM_BODY(float, __builtin_fmaf)
GEMM_BODY(double, __builtin_fma)

void arith_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, const float *b,
                    float beta, const float *c, float *out, float *acc, float *total)
{
    (ARITH_HAVE_FAST() ? gemm_fast_float : gemm_plain_float)(m, n, k, alpha, a, b, beta, c, out,
                                                             acc, total);
}

void arith_gemm_f64(int64_t m, int64_t n, int64_t k, double alpha, const double *a, const double *b,
                    double beta, const double *c, double *out, double *acc, double *total)
{
    (ARITH_HAVE_FAST() ? gemm_fast_double : gemm_plain_double)(m, n, k, alpha, a, b, beta, c, out,
                                                               acc, total);
}

/* ---- reduction ------------------------------------------------------------------------------- */

enum { BLOCK = 4096, LANES = 128 };

/* One running value. A reduction uses the members that its operation needs. */
typedef struct lane {
    float f;
    double d;          /* f64, and the sums of squares of shorter types */
    double big, small; /* 2-norm of f64; its `med` is d */
    uint64_t u;        /* integers, modulo */
    double best;       /* min and max and their indices: the element, exact but for i64 */
    int64_t best_int;
    int64_t index; /* -1: nothing seen */
} lane;

typedef enum family { ADD_F32, ADD_F64, ADD_INT, SQUARES, SQUARES_F64, BEST } family;

typedef struct rule {
    iso_reduce_op op;
    iso_dtype dtype;
    family family;
    bool least; /* min and argmin */
} rule;

static rule rule_of(iso_reduce_op op, iso_dtype dtype)
{
    rule made = {op, dtype, ADD_F32, op == ISO_MIN || op == ISO_ARGMIN};
    if (op == ISO_MIN || op == ISO_MAX || op == ISO_ARGMIN || op == ISO_ARGMAX) {
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
    } else {
        l->u += x;
    }
}

static void step(const rule *r, lane *l, const void *x, const void *y, int64_t index)
{
    if (r->family == BEST) {
        lane seen = {.index = index};
        if (arith_is_float(r->dtype)) {
            seen.best = arith_load(r->dtype, x);
        } else {
            seen.best_int = load_int(r->dtype, x);
        }
        if (better(r, l, &seen)) {
            *l = seen;
        }
        return;
    }
    if (r->family == ADD_INT) {
        step_int(r, l, (uint64_t)load_int(r->dtype, x), y ? (uint64_t)load_int(r->dtype, y) : 0);
        return;
    }
    double value = arith_load(r->dtype, x);
    if (r->family == SQUARES_F64) {
        step_square_f64(l, value);
    } else if (r->family == SQUARES) {
        l->d = fma(value, value, l->d);
    } else if (r->family == ADD_F64) {
        if (r->op == ISO_PRODUCT) {
            l->d *= value;
        } else if (r->op == ISO_DOT) {
            l->d = fma(value, arith_load(r->dtype, y), l->d);
        } else {
            l->d += r->op == ISO_ASUM ? fabs(value) : value;
        }
    } else {
        float single = (float)value;
        if (r->op == ISO_PRODUCT) {
            l->f *= single;
        } else if (r->op == ISO_DOT) {
            l->f = fmaf(single, (float)arith_load(r->dtype, y), l->f);
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

/* Level `level` takes its sequence from the level before; a block of it is 4096^level blocks of
 * elements. Recursion keeps one set of lanes a level. */
typedef struct source {
    const rule *r;
    const char *x, *y;
    int64_t step_x, step_y; /* bytes */
    int64_t n;
} source;

static lane reduce_block(const source *s, int level, int64_t block)
{
    int64_t width = 1;
    for (int i = 0; i < level; i++) {
        width *= BLOCK;
    }
    int64_t available = (s->n + width - 1) / width; /* members of this level's sequence */
    int64_t first = block * BLOCK;
    int64_t last = first + BLOCK < available ? first + BLOCK : available;
    lane lanes[LANES];
    for (int l = 0; l < LANES; l++) {
        lanes[l] = neutral(s->r);
    }
    for (int64_t i = first; i < last; i++) {
        lane *l = &lanes[(i - first) % LANES];
        if (level == 0) {
            step(s->r, l, s->x + i * s->step_x, s->y ? s->y + i * s->step_y : NULL, i);
        } else {
            lane below = reduce_block(s, level - 1, i);
            fold(s->r, l, &below);
        }
    }
    return fold_lanes(s->r, lanes);
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
    if (r->op == ISO_ARGMIN || r->op == ISO_ARGMAX) {
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

void arith_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                  int64_t step_x, int64_t step_y, void *result)
{
    rule r = rule_of(op, dtype);
    int64_t size = iso_dtype_size(dtype);
    source s = {&r, x, y, step_x * size, step_y * size, n};
    int level = 0;
    for (int64_t left = (n + BLOCK - 1) / BLOCK; left > 1; left = (left + BLOCK - 1) / BLOCK) {
        level++;
    }
    lane total = reduce_block(&s, level, 0);
    finish(&r, &total, n, result);
}
