/* SPDX-License-Identifier: Apache-2.0 */
/* trsm.c - clause 15 of docs/bits.md: triangular solves. It is written from that page alone and
 * shares no code with the kernels that it checks. */
#include "bench/arith/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

enum { PANEL = 1024, BLOCK = 64 };

/* Unknowns from `first` to before `last`, in ascending order. */
typedef struct range {
    int64_t first, last;
} range;

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The ranges whose sums are taken from unknown i, in their order: the panels that are solved before
 * its own, and what is solved of its own panel before its block. Writes them to `out`, which has
 * room for n / PANEL + 2. */
static int64_t ranges_of(const arith_triangle *t, int64_t i, range *out)
{
    const int64_t panel = i / PANEL, block = i / BLOCK, end = lesser((panel + 1) * PANEL, t->n);
    int64_t count = 0;
    if (t->lower) {
        for (int64_t q = 0; q < panel; q++) {
            out[count++] = (range){q * PANEL, (q + 1) * PANEL};
        }
        out[count] = (range){panel * PANEL, block * BLOCK};
    } else {
        for (int64_t q = (t->n - 1) / PANEL; q > panel; q--) {
            out[count++] = (range){q * PANEL, lesser((q + 1) * PANEL, t->n)};
        }
        out[count] = (range){lesser((block + 1) * BLOCK, end), end};
    }
    return out[count].first < out[count].last ? count + 1 : count;
}

/* A system is a column, so that the compiler can vectorize over systems. `sums` has room for four
 * rows of them. */
#define TRSM_BODY(T, FMA, ABS)                                                                     \
    static inline __attribute__((always_inline)) void chain_##T(const T *a, const T *x, int64_t n, \
                                                                range r, T *restrict sum)          \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++)                                                            \
            sum[j] = 0;                                                                            \
        for (int64_t k = r.first; k < r.last; k++)                                                 \
            for (int64_t j = 0; j < n; j++)                                                        \
                sum[j] = FMA(a[k], x[k * n + j], sum[j]);                                          \
    }                                                                                              \
    static inline __attribute__((always_inline)) void real_##T(                                    \
        const arith_triangle *t, int64_t i, const range *ranges, int64_t count, T *x, T *sum)      \
    {                                                                                              \
        const T *a = (const T *)t->re + i * t->n;                                                  \
        const int64_t n = t->systems, step = t->lower ? 1 : -1;                                    \
        T *restrict row = x + i * n;                                                               \
        for (int64_t r = 0; r < count; r++) {                                                      \
            chain_##T(a, x, n, ranges[r], sum);                                                    \
            for (int64_t j = 0; j < n; j++)                                                        \
                row[j] = FMA((T) - 1, sum[j], row[j]);                                             \
        }                                                                                          \
        const int64_t begin = i / BLOCK * BLOCK;                                                   \
        for (int64_t k = t->lower ? begin : lesser(begin + BLOCK, t->n) - 1; k != i; k += step)    \
            for (int64_t j = 0; j < n; j++)                                                        \
                row[j] = FMA(-a[k], x[k * n + j], row[j]);                                         \
        for (int64_t j = 0; !t->unit && j < n; j++)                                                \
            row[j] = row[j] / a[i];                                                                \
    }                                                                                              \
    /* Smith's division of a row by c + e i. */                                                    \
    static inline                                                                                  \
        __attribute__((always_inline)) void divide_##T(T c, T e, int64_t n, T *re, T *im)          \
    {                                                                                              \
        const bool wide = ABS(c) >= ABS(e);                                                        \
        const T g = wide ? e / c : c / e, q = wide ? FMA(e, g, c) : FMA(c, g, e);                  \
        for (int64_t j = 0; j < n; j++) {                                                          \
            const T u = re[j], v = im[j];                                                          \
            re[j] = (wide ? FMA(v, g, u) : FMA(u, g, v)) / q;                                      \
            im[j] = (wide ? FMA(-u, g, v) : FMA(v, g, -u)) / q;                                    \
        }                                                                                          \
    }                                                                                              \
    static inline __attribute__((always_inline)) void complex_##T(                                 \
        const arith_triangle *t, int64_t i, const range *ranges, int64_t count, T *x, T *y,        \
        T *sum)                                                                                    \
    {                                                                                              \
        const T *a = (const T *)t->re + i * t->n, *b = (const T *)t->im + i * t->n;                \
        const T sign = t->conj ? -1 : 1;                                                           \
        const int64_t n = t->systems, step = t->lower ? 1 : -1;                                    \
        T *re = x + i * n, *im = y + i * n, *rr = sum, *ii = sum + n, *ri = ii + n, *ir = ri + n;  \
        for (int64_t r = 0; r < count; r++) {                                                      \
            chain_##T(a, x, n, ranges[r], rr);                                                     \
            chain_##T(b, y, n, ranges[r], ii);                                                     \
            chain_##T(a, y, n, ranges[r], ri);                                                     \
            chain_##T(b, x, n, ranges[r], ir);                                                     \
            for (int64_t j = 0; j < n; j++) {                                                      \
                re[j] = FMA((T) - 1, rr[j] - sign * ii[j], re[j]);                                 \
                im[j] = FMA((T) - 1, ri[j] + sign * ir[j], im[j]);                                 \
            }                                                                                      \
        }                                                                                          \
        const int64_t begin = i / BLOCK * BLOCK;                                                   \
        for (int64_t k = t->lower ? begin : lesser(begin + BLOCK, t->n) - 1; k != i; k += step) {  \
            const T c = a[k], e = sign * b[k];                                                     \
            for (int64_t j = 0; j < n; j++) {                                                      \
                const T u = x[k * n + j], v = y[k * n + j];                                        \
                re[j] = FMA(e, v, FMA(-c, u, re[j]));                                              \
                im[j] = FMA(-e, u, FMA(-c, v, im[j]));                                             \
            }                                                                                      \
        }                                                                                          \
        if (!t->unit)                                                                              \
            divide_##T(a[i], sign *b[i], n, re, im);                                               \
    }                                                                                              \
    static inline __attribute__((always_inline)) void solve_body_##T(                              \
        const arith_triangle *t, range *ranges, T *x, T *y, T *sum)                                \
    {                                                                                              \
        for (int64_t step = 0; step < t->n; step++) {                                              \
            const int64_t i = t->lower ? step : t->n - 1 - step;                                   \
            const int64_t count = ranges_of(t, i, ranges);                                         \
            if (y)                                                                                 \
                complex_##T(t, i, ranges, count, x, y, sum);                                       \
            else                                                                                   \
                real_##T(t, i, ranges, count, x, sum);                                             \
        }                                                                                          \
    }                                                                                              \
    static void solve_plain_##T(const arith_triangle *t, range *ranges, T *x, T *y, T *sum)        \
    {                                                                                              \
        solve_body_##T(t, ranges, x, y, sum);                                                      \
    }                                                                                              \
    ARITH_FAST static void solve_fast_##T(const arith_triangle *t, range *ranges, T *x, T *y,      \
                                          T *sum)                                                  \
    {                                                                                              \
        solve_body_##T(t, ranges, x, y, sum);                                                      \
    }                                                                                              \
    /* r = alpha b. */                                                                             \
    static void scale_##T(const arith_triangle *t, T *x, T *y)                                     \
    {                                                                                              \
        const arith_factors *f = &t->factors;                                                      \
        for (int64_t i = 0; i < t->n * t->systems; i++) {                                          \
            if (!y) {                                                                              \
                x[i] = (T)f->alpha * x[i];                                                         \
            } else {                                                                               \
                arith_pair v = arith_scaled(t->wide, f->alpha, f->alpha_imag,                      \
                                            (arith_pair){(double)x[i], (double)y[i]});             \
                x[i] = (T)v.re;                                                                    \
                y[i] = (T)v.im;                                                                    \
            }                                                                                      \
        }                                                                                          \
    }

TRSM_BODY(float, __builtin_fmaf, __builtin_fabsf)
TRSM_BODY(double, __builtin_fma, __builtin_fabs)

bool arith_trsm(const arith_triangle *t, void *x, void *y)
{
    const size_t size = t->wide == ISO_F64 ? sizeof(double) : sizeof(float);
    const size_t count = (size_t)(t->n * t->systems);
    if (!arith_has_product(&t->factors)) {
        memset(x, 0, count * size);
        if (y) {
            memset(y, 0, count * size);
        }
        return true;
    }
    range *ranges = malloc((size_t)(t->n / PANEL + 2) * sizeof *ranges);
    void *sums = malloc(4 * (size_t)t->systems * size + 1);
    bool good = ranges && sums;
    if (good && t->wide == ISO_F64) {
        scale_double(t, x, y);
        (ARITH_HAVE_FAST() ? solve_fast_double : solve_plain_double)(t, ranges, x, y, sums);
    } else if (good) {
        scale_float(t, x, y);
        (ARITH_HAVE_FAST() ? solve_fast_float : solve_plain_float)(t, ranges, x, y, sums);
    }
    free(ranges);
    free(sums);
    return good;
}
