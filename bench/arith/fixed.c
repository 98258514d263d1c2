/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - clause 7 of docs/bits.md: the sum of a row and a column as an exact whole number. It is
 * written from that page alone and shares no code with the kernels that it checks. */
#include "bench/arith/arith.h"

#include <math.h>

enum { LIMBS = 3, BAD = INT32_MAX };

/* A whole number in two's complement, the lowest bits first. */
typedef struct whole {
    uint64_t limb[LIMBS];
} whole;

/* e of clause 7.2; BAD if there is an infinity or a NaN. */
static int exponent_of(const double *x, int64_t step, int64_t k)
{
    double largest = 0;
    int e;
    for (int64_t i = 0; i < k; i++) {
        largest = isfinite(x[i * step]) ? fmax(largest, fabs(x[i * step])) : INFINITY;
    }
    frexp(largest, &e);
    return isfinite(largest) ? e : BAD;
}

static void add(whole *s, __int128 term)
{
    const uint64_t sign = term < 0 ? UINT64_MAX : 0;
    const uint64_t limbs[LIMBS] = {(uint64_t)term, (uint64_t)(term >> 64), sign};
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 sum = (unsigned __int128)s->limb[i] + limbs[i] + carry;
        s->limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

static int bit(const whole *s, int at)
{
    return at >= 0 && at < 64 * LIMBS ? (int)(s->limb[at / 64] >> at % 64 & 1) : 0;
}

/* s * 2^e, rounded to a number with `digits` digits whose lowest bit is at least 2^least. */
static double rounded(whole s, int e, int digits, int least)
{
    bool negative = bit(&s, 64 * LIMBS - 1);
    for (int i = 0, carry = 1; negative && i < LIMBS; i++) {
        s.limb[i] = ~s.limb[i] + (uint64_t)carry;
        carry = carry && s.limb[i] == 0;
    }
    int length = 64 * LIMBS;
    while (length > 0 && !bit(&s, length - 1)) {
        length--;
    }
    /* Bits below this one are cut; there are none if it is 0 or less. */
    int cut = length - digits > least - e ? length - digits : least - e;
    uint64_t kept = 0, rest = 0;
    for (int i = length - 1; i >= 0; i--) {
        kept = i >= cut ? 2 * kept + (uint64_t)bit(&s, i) : kept;
        rest |= (uint64_t)(i < cut - 1 ? bit(&s, i) : 0);
    }
    kept += (uint64_t)bit(&s, cut - 1) & (rest | kept); /* a tie goes to an even number */
    double value = ldexp((double)kept, cut > 0 ? e + cut : e);
    return negative ? -value : value;
}

double arith_fixed(iso_dtype dtype, int64_t k, const double *a, const double *b, int64_t step)
{
    int p = dtype == ISO_F64 ? 53 : dtype == ISO_F32 ? 24 : 15;
    int e = exponent_of(a, 1, k), f = exponent_of(b, step, k);
    whole s = {0};
    if (e == BAD || f == BAD) {
        return NAN;
    }
    for (int64_t i = 0; i < k; i++) {
        add(&s, (__int128)rint(ldexp(a[i], p - e)) * (__int128)rint(ldexp(b[i * step], p - f)));
    }
    int scale = e + f - 2 * p;
    return dtype == ISO_F64 ? rounded(s, scale, 53, -1074) : rounded(s, scale, 24, -149);
}
