/* SPDX-License-Identifier: Apache-2.0 */
/* complex.c - clause 14 of docs/bits.md: elements of complex products, and products of i8. It is
 * written from that page alone and shares no code with the kernels that it checks. */
#include "bench/arith/arith.h"

#include <math.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

/* Every operation rounds once, to the type `wide`. The volatile float keeps a compiler from
 * dropping a rounding. */
static double rounded(iso_dtype wide, double value)
{
    volatile float narrow = (float)value;
    return wide == ISO_F64 ? value : (double)narrow;
}

/* Sums and products of two f32 in f64 round to f32 like one operation. */
static double add(iso_dtype wide, double a, double b)
{
    return rounded(wide, a + b);
}

static double times(iso_dtype wide, double a, double b)
{
    return rounded(wide, a * b);
}

static double fused(iso_dtype wide, double a, double b, double c)
{
    return wide == ISO_F64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
}

arith_pair arith_total(iso_dtype wide, const arith_sums *s, arith_conj conj)
{
    const double sa = conj.a ? -1 : 1, sb = conj.b ? -1 : 1;
    return (arith_pair){add(wide, s->rr, -(sa * sb * s->ii)), add(wide, sb * s->ri, sa * s->ir)};
}

arith_pair arith_scaled(iso_dtype wide, double re, double im, arith_pair c)
{
    if (im == 0) {
        return (arith_pair){times(wide, re, c.re), times(wide, re, c.im)};
    }
    return (arith_pair){fused(wide, re, c.re, -times(wide, im, c.im)),
                        fused(wide, re, c.im, times(wide, im, c.re))};
}

arith_pair arith_complex_value(iso_dtype wide, arith_pair t, const arith_factors *f, arith_pair c)
{
    if (!arith_reads_c(f)) {
        return arith_scaled(wide, f->alpha, f->alpha_imag, t);
    }
    arith_pair v = arith_scaled(wide, f->beta, f->beta_imag, c);
    if (f->alpha_imag != 0) {
        v.re = fused(wide, -f->alpha_imag, t.im, v.re);
        v.im = fused(wide, f->alpha_imag, t.re, v.im);
    }
    return (arith_pair){fused(wide, f->alpha, t.re, v.re), fused(wide, f->alpha, t.im, v.im)};
}

void arith_gemm_i8(int64_t m, int64_t n, int64_t k, int32_t alpha, const int8_t *a, const int8_t *b,
                   int32_t beta, const int32_t *c, int32_t *out)
{
    for (int64_t i = 0; i < m; i++) {
        uint32_t *row = (uint32_t *)out + i * n;
        for (int64_t j = 0; j < n; j++) {
            row[j] = beta == 0 ? 0 : (uint32_t)beta * (uint32_t)c[i * n + j];
        }
        for (int64_t p = 0; alpha != 0 && p < k; p++) {
            const uint32_t x = (uint32_t)alpha * (uint32_t)(int32_t)a[i * k + p];
            for (int64_t j = 0; j < n; j++) {
                const int32_t y = b[p * n + j];
                row[j] += x * (uint32_t)y;
            }
        }
    }
}
