/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the plainest finish and solve. Every operation is one call, which rounds to f32 if the
 * type computes in f32. */
#include "tests/steps/model.h"
#include "tests/ranks/model.h"

#include <math.h>
#include <string.h>

step_mistake step_is;

int step_is_complex(iso_dtype dtype)
{
    return dtype == ISO_C64 || dtype == ISO_C128;
}

iso_dtype step_part(iso_dtype dtype)
{
    return dtype == ISO_C64 ? ISO_F32 : dtype == ISO_C128 ? ISO_F64 : dtype;
}

iso_dtype step_real(iso_dtype dtype)
{
    return dtype == ISO_F64 || dtype == ISO_I32 || dtype == ISO_C128 ? ISO_F64 : ISO_F32;
}

int64_t step_bytes(iso_dtype dtype)
{
    return iso_dtype_size(step_part(dtype)) * (step_is_complex(dtype) ? 2 : 1);
}

double step_load(iso_dtype part, const void *array, int64_t i)
{
    const uint64_t bits = model_get(part, array, i);
    return part == ISO_I32 ? (double)(int32_t)(uint32_t)bits : model_decode(part, bits);
}

void step_store(iso_dtype part, void *array, int64_t i, double x)
{
    model_set(part, array, i,
              part == ISO_I32 ? (uint64_t)(uint32_t)(int32_t)x : model_encode(part, x));
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static int narrow; /* f32 */

static double rounded(double x)
{
    return narrow ? (double)(float)x : x;
}

static double times(double a, double b)
{
    return narrow ? (double)((float)a * (float)b) : a * b;
}

static double plus(double a, double b)
{
    return narrow ? (double)((float)a + (float)b) : a + b;
}

static double over(double a, double b)
{
    return narrow ? (double)((float)a / (float)b) : a / b;
}

static double fused(double a, double b, double c)
{
    if (step_is == STEP_NO_FMA) {
        return plus(times(a, b), c);
    }
    return narrow ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static int is_zero(double imaginary)
{
    return imaginary == 0 && step_is != STEP_IMAGINARY_ZERO;
}

/* ---- finish ---------------------------------------------------------------------------------- */

static int reads(const iso_finish_op *op, step_number beta)
{
    if (op->factors & 2 && step_is != STEP_DEVICE_ZERO) {
        return 1;
    }
    return step_is == STEP_READS || beta.re != 0 || (step_is_complex(op->dtype) && beta.im != 0);
}

static uint32_t whole(double x)
{
    if (step_is == STEP_FACTOR_ROUNDS) {
        x = rint(x);
    }
    return (uint32_t)(int64_t)x;
}

static double wrapped(double alpha, double beta, const iso_finish_op *op, const double *t, double c)
{
    const uint32_t old = reads(op, (step_number){beta, 0}) ? whole(beta) * whole(c) : 0;
    const uint32_t sum = op->planes ? whole(alpha) * (uint32_t)(int64_t)t[0] : 0;
    if (step_is == STEP_SATURATES) {
        const double all = (op->planes ? alpha * t[0] : 0) + beta * c;
        return all < -0x1p31 ? -0x1p31 : all > 0x1p31 - 1 ? 0x1p31 - 1 : all;
    }
    return (double)(int32_t)(old + sum);
}

static step_number complex_of(const iso_finish_op *op, step_number a, step_number b,
                              const double *t, step_number c)
{
    const double si = step_is == STEP_SIGN_II ? 1 : op->sign_ii;
    const double sr = step_is == STEP_SIGN_RI ? 1 : op->sign_ri;
    const double sx = step_is == STEP_SIGN_IR ? 1 : op->sign_ir;
    step_number v = {0, 0};
    const int reading = reads(op, b);
    if (reading) {
        v.re = is_zero(b.im) ? times(b.re, c.re) : fused(b.re, c.re, -times(b.im, c.im));
        v.im = is_zero(b.im) ? times(b.re, c.im) : fused(b.re, c.im, times(b.im, c.re));
    }
    if (!op->planes) {
        return v;
    }
    const int ri = step_is == STEP_PLANES ? 3 : 2;
    const double re = plus(t[0], -si * t[1]), im = plus(sr * t[ri], sx * t[5 - ri]);
    if (!reading) {
        v.re = is_zero(a.im) ? times(a.re, re) : fused(a.re, re, -times(a.im, im));
        v.im = is_zero(a.im) ? times(a.re, im) : fused(a.re, im, times(a.im, re));
        return v;
    }
    if (step_is == STEP_ORDER) {
        v.re = fused(a.re, re, v.re), v.im = fused(a.re, im, v.im);
        v.re = is_zero(a.im) ? v.re : fused(-a.im, im, v.re);
        v.im = is_zero(a.im) ? v.im : fused(a.im, re, v.im);
        return v;
    }
    v.re = fused(a.re, re, is_zero(a.im) ? v.re : fused(-a.im, im, v.re));
    v.im = fused(a.re, im, is_zero(a.im) ? v.im : fused(a.im, re, v.im));
    return v;
}

step_number step_finish(const iso_finish_op *op, step_number alpha, step_number beta,
                        const double *t, step_number c)
{
    narrow = step_real(op->dtype) == ISO_F32;
    if (op->dtype == ISO_I32) {
        return (step_number){wrapped(alpha.re, beta.re, op, t, c.re), 0};
    }
    if (step_is != STEP_WIDE_FACTOR) {
        alpha.re = rounded(alpha.re), alpha.im = rounded(alpha.im);
        beta.re = rounded(beta.re), beta.im = rounded(beta.im);
    } else {
        narrow = 0;
    }
    if (step_is_complex(op->dtype)) {
        return complex_of(op, alpha, beta, t, c);
    }
    if (!reads(op, beta)) {
        return (step_number){op->planes ? times(alpha.re, t[0]) : 0, 0};
    }
    double old = times(beta.re, c.re);
    if (step_is == STEP_STORED) {
        old = model_decode(op->dtype, model_encode(op->dtype, old));
    }
    if (step_is == STEP_OTHER_PRODUCT && op->planes) {
        return (step_number){fused(beta.re, c.re, times(alpha.re, t[0])), 0};
    }
    return (step_number){op->planes ? fused(alpha.re, t[0], old) : old, 0};
}

/* ---- solve ----------------------------------------------------------------------------------- */

static step_number divided(step_number t, step_number d, int complex)
{
    if (!complex) {
        return (step_number){
            step_is == STEP_RECIPROCAL ? times(t.re, over(1, d.re)) : over(t.re, d.re), 0};
    }
    const double c = d.re, e = d.im;
    if (step_is == STEP_TEXTBOOK) {
        const double q = fused(c, c, times(e, e));
        return (step_number){over(fused(t.re, c, times(t.im, e)), q),
                             over(fused(t.im, c, -times(t.re, e)), q)};
    }
    if (fabs(c) >= fabs(e)) {
        const double r = over(e, c), q = fused(e, r, c);
        return (step_number){over(fused(t.im, r, t.re), q), over(fused(-t.re, r, t.im), q)};
    }
    const double r = over(c, e), q = fused(c, r, e);
    return (step_number){over(fused(t.re, r, t.im), q), over(fused(t.im, r, -t.re), q)};
}

void step_solve(const iso_solve_op *op, const step_number *a, step_number *x)
{
    const int complex = step_is_complex(op->dtype);
    narrow = step_real(op->dtype) == ISO_F32;
    for (int64_t i = 0; i < op->n; i++) {
        step_number t = x[i];
        for (int64_t step = 0; step < i; step++) {
            const int64_t k = step_is == STEP_BACKWARDS ? i - 1 - step : step;
            step_number f = a[i * ISO_SOLVE_MOST + k];
            f.im = op->conj && step_is != STEP_CONJ ? -f.im : f.im;
            t.re = fused(-f.re, x[k].re, t.re);
            if (complex) {
                t.re = fused(f.im, x[k].im, t.re);
                t.im = fused(-f.re, x[k].im, t.im);
                t.im = fused(-f.im, x[k].re, t.im);
            }
        }
        step_number d = a[i * ISO_SOLVE_MOST + i];
        d.im = op->conj && step_is != STEP_CONJ ? -d.im : d.im;
        x[i] = op->unit || step_is == STEP_UNIT ? t : divided(t, d, complex);
    }
}
