/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - clause 13 of docs/bits.md: sums over ranks. It is written from that page alone and
 * shares no code with the kernels that it checks. */
#include "bench/arith/arith.h"

#include <math.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

/* ---- ordered --------------------------------------------------------------------------------- */

static float step_f32(iso_reduce_op op, float t, float x)
{
    return op == ISO_PRODUCT ? t * x : t + x;
}

static double step_f64(iso_reduce_op op, double t, double x)
{
    return op == ISO_PRODUCT ? t * x : t + x;
}

/* Clause 5.7: -0 is less than +0, and any NaN makes the result NaN. */
static double step_best(iso_reduce_op op, double t, double x)
{
    if (isnan(t) || isnan(x)) {
        return NAN;
    }
    if (t == x) {
        return (signbit(t) != 0) == (op == ISO_MIN) ? t : x;
    }
    return (x < t) == (op == ISO_MIN) ? x : t;
}

/* Integers wrap, so they are computed without a sign. */
static uint64_t step_int(iso_reduce_op op, uint64_t t, uint64_t x)
{
    switch (op) {
    case ISO_PRODUCT:
        return t * x;
    case ISO_XOR:
        return t ^ x;
    case ISO_MIN:
        return (int64_t)x < (int64_t)t ? x : t;
    case ISO_MAX:
        return (int64_t)x > (int64_t)t ? x : t;
    default:
        return t + x;
    }
}

static uint64_t load_int(iso_dtype dtype, const char *element)
{
    int32_t narrow;
    int64_t wide;
    if (dtype == ISO_I32) {
        memcpy(&narrow, element, sizeof narrow);
        return (uint64_t)(int64_t)narrow;
    }
    memcpy(&wide, element, sizeof wide);
    return (uint64_t)wide;
}

static void ordered_float(iso_reduce_op op, iso_dtype dtype, const void *const *x, int32_t ranks,
                          int64_t at, char *out)
{
    const bool best = op == ISO_MIN || op == ISO_MAX;
    double t = arith_load(dtype, (const char *)x[0] + at);
    for (int32_t r = 1; r < ranks; r++) {
        double next = arith_load(dtype, (const char *)x[r] + at);
        t = best               ? step_best(op, t, next)
            : dtype == ISO_F64 ? step_f64(op, t, next)
                               : (double)step_f32(op, (float)t, (float)next);
    }
    arith_store(dtype, out + at, op == ISO_MEAN ? t / ranks : t);
}

void arith_ordered(iso_reduce_op op, iso_dtype dtype, const void *const *x, int32_t ranks,
                   int64_t count, void *out)
{
    const int64_t bytes = iso_dtype_size(dtype);
    for (int64_t at = 0; at < count * bytes; at += bytes) {
        if (arith_is_float(dtype)) {
            ordered_float(op, dtype, x, ranks, at, out);
            continue;
        }
        uint64_t t = load_int(dtype, (const char *)x[0] + at);
        for (int32_t r = 1; r < ranks; r++) {
            t = step_int(op, t, load_int(dtype, (const char *)x[r] + at));
        }
        memcpy((char *)out + at, &t, (size_t)bytes); /* the low bytes come first */
    }
}

/* ---- fixed ----------------------------------------------------------------------------------- */

/* The digits of a type, and the exponent of its smallest number. */
static const struct {
    int digits, least;
} shapes[] = {
    [ISO_F16] = {11, -24}, [ISO_BF16] = {8, -133}, [ISO_F32] = {24, -149}, [ISO_F64] = {53, -1074}};

/* m / 2^shift, rounded to nearest even; shift may be negative. */
static __int128 shifted(__int128 m, int shift)
{
    if (shift <= 0) {
        return m * ((__int128)1 << -shift);
    }
    if (shift > 120) {
        return 0; /* |m| is below 2^119 wherever this is used, so it is less than a half */
    }
    const __int128 one = (__int128)1 << shift;
    __int128 whole = m >= 0 ? m / one : -((-m + one - 1) / one); /* rounds down */
    const __int128 rest = m - whole * one;
    if (rest > one / 2 || (rest == one / 2 && (whole & 1))) {
        whole++;
    }
    return whole;
}

/* term * 2^k as a whole number. */
static __int128 scaled(double term, int k)
{
    int e;
    const double fraction = frexp(term, &e);
    const int64_t digits = (int64_t)ldexp(fraction, 53); /* term = digits * 2^(e - 53) */
    return shifted(digits, 53 - e - k);
}

/* s * 2^k, rounded once to the type, as a double. */
static double unscaled(iso_dtype dtype, __int128 s, int k)
{
    unsigned __int128 size = s < 0 ? -(unsigned __int128)s : (unsigned __int128)s;
    int length = 0;
    while (length < 128 && size >> length) {
        length++;
    }
    int cut = length - shapes[dtype].digits;
    cut = cut > shapes[dtype].least - k ? cut : shapes[dtype].least - k;
    if (cut > 0) {
        s = shifted(s, cut);
        k += cut;
    }
    return ldexp((double)s, k); /* exact, except where it overflows */
}

static void fixed_element(iso_dtype dtype, const void *const *x, int32_t terms, int64_t at,
                          char *out)
{
    const int p = dtype == ISO_F64 ? 80 : 40;
    bool above = false, below = false, nan = false;
    double largest = 0;
    __int128 s = 0;
    int e;
    for (int32_t i = 0; i < terms; i++) {
        const double term = arith_load(dtype, (const char *)x[i] + at);
        nan = nan || isnan(term);
        above = above || (isinf(term) && term > 0);
        below = below || (isinf(term) && term < 0);
        largest = isfinite(term) ? fmax(largest, fabs(term)) : largest;
    }
    if (nan || above || below) {
        arith_store(dtype, out + at, nan || (above && below) ? NAN : above ? INFINITY : -INFINITY);
        return;
    }
    frexp(largest, &e);
    for (int32_t i = 0; i < terms && largest > 0; i++) {
        s += scaled(arith_load(dtype, (const char *)x[i] + at), p - e);
    }
    arith_store(dtype, out + at, s == 0 ? 0 : unscaled(dtype, s, e - p));
}

void arith_fixed_terms(iso_dtype dtype, const void *const *x, int32_t terms, int64_t count,
                       void *out)
{
    const int64_t bytes = iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        fixed_element(dtype, x, terms, i * bytes, out);
    }
}

/* ---- any order ------------------------------------------------------------------------------- */

void arith_any_order(iso_reduce_op op, iso_dtype dtype, const void *const *x, int32_t ranks,
                     int64_t at, long double *want, double *bound)
{
    const double u = arith_roundoff(dtype), h = arith_half_smallest(dtype);
    const int64_t bytes = iso_dtype_size(dtype);
    long double t = op == ISO_PRODUCT ? 1 : 0, sizes = 0;
    for (int32_t r = 0; r < ranks; r++) {
        const double next = arith_load(dtype, (const char *)x[r] + at * bytes);
        t = op == ISO_PRODUCT ? t * next : t + next;
        sizes += fabs(next);
    }
    /* Each step rounds once, in the worst case to the stored type. Libraries may divide the terms
     * of a mean before they add them. */
    sizes = op == ISO_PRODUCT ? fabsl(t) : op == ISO_MEAN ? sizes / ranks : sizes;
    *want = op == ISO_MEAN ? t / ranks : t;
    *bound = (double)(1.01L * (ranks + 2) * u * sizes) + (ranks + 2) * h;
}
