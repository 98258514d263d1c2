/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - t of the fixed product, clause 7 of docs/bits.md, from residues: the sum is computed
 * modulo small numbers without a common divisor, which together determine it. */
#include "tests/plugins/reference/reference.h"

#include <math.h>

enum { MODULI = 17, LIMBS = 3, BAD = INT32_MAX };

static const int moduli[MODULI] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                   227, 223, 217, 211, 199, 197, 193, 191};

static int bits_of(iso_dtype dtype)
{
    return dtype == ISO_F64 ? 53 : dtype == ISO_F32 ? 24 : 15;
}

/* How many moduli determine a sum of k terms: their product must exceed 2 k 2^(2p). It is rounded
 * here, so a part in 1e9 more is asked for. */
static int count_for(iso_dtype dtype, int64_t k)
{
    double least = ldexp(2, 2 * bits_of(dtype)) * (double)MUTATE(82, k - k / 200, k);
    double product = 1;
    int count = 0;
    while (product <= least * (1 + 1e-9) && count < MODULI) {
        product *= moduli[count++];
    }
    return MUTATE(80, count - (count > 5), product <= least ? MODULI + 1 : count);
}

bool ref_fixed_supports(iso_dtype dtype, int64_t k)
{
    return count_for(dtype, k) <= MODULI;
}

int ref_fixed_exponent(iso_dtype dtype, const void *from, int64_t step, int64_t k)
{
    double largest = 0;
    int e;
    for (int64_t i = 0; i < k; i++) {
        const double x = fabs(ref_load(dtype, from, i * step));
        if (!(x < INFINITY)) {
            return BAD;
        }
        largest = x > largest ? x : largest;
    }
    (void)frexp(largest, &e);
    return e;
}

/* The residue in [-m/2, m/2). */
static int balanced(int64_t x, int m)
{
    const int rest = (int)(x % m);
    return rest >= (m + 1) / 2 ? rest - m : rest < -(m / 2) ? rest + m : rest;
}

/* A residue between -m and m. */
static int64_t residue(int64_t x, int m)
{
    return x - (int64_t)((double)x / m) * m;
}

static int inverse(int x, int m)
{
    int y = 1;
    while (((int64_t)x * y - 1) % m != 0) {
        y++;
    }
    return y;
}

/* Digits of the sum in the number system whose places weigh 1, m0, m0 m1, ... */
static void to_digits(int count, const int64_t *sums, int *digit)
{
    for (int c = 0; c < count; c++) {
        int64_t rest = balanced(sums[c], moduli[c]);
        for (int d = 0; d < c; d++) {
            rest =
                balanced((rest - digit[d]) % moduli[c] * inverse(moduli[d] % moduli[c], moduli[c]),
                         moduli[c]);
        }
        digit[c] = (int)rest;
    }
}

/* limb = limb * m + digit, in two's complement. */
static void append(uint64_t *limb, int m, int digit)
{
    __int128 carry = digit;
    for (int i = 0; i < LIMBS; i++) {
        carry += (__int128)limb[i] * m;
        limb[i] = (uint64_t)carry;
        carry >>= 64;
        PLANT(81, carry = i == 0 && digit < 0 ? 0 : carry);
    }
}

/* The number times 2^e, rounded to nearest even. */
static double rounded(uint64_t *limb, int e, int digits, int least)
{
    const bool negative = limb[LIMBS - 1] >> 63;
    uint64_t carry = negative;
    int length = 0;
    for (int i = 0; i < LIMBS; i++) {
        limb[i] = (negative ? ~limb[i] : limb[i]) + carry;
        carry = carry && limb[i] == 0;
        length = limb[i] ? 64 * (i + 1) - __builtin_clzll(limb[i]) : length;
    }
    int cut = length - digits > least - e ? length - digits : least - e;
    cut = cut > 0 ? cut : 0;
    uint64_t kept = 0;
    bool half = false, more = false;
    for (int at = 64 * LIMBS - 1; at >= 0; at--) {
        const bool bit = limb[at / 64] >> at % 64 & 1;
        kept = at >= cut ? 2 * kept + bit : kept;
        half = at == cut - 1 ? bit : half;
        more = more || (at < cut - 1 && bit);
    }
    kept += half && (more || MUTATE(83, 1, kept & 1));
    return ldexp(negative ? -(double)kept : (double)kept, e + cut);
}

double ref_fixed(iso_dtype dtype, const ref_vector *a, const ref_vector *b, int64_t k)
{
    const int p = bits_of(dtype);
    const int count = count_for(dtype, k);
    int64_t sums[MODULI] = {0};
    int digit[MODULI];
    uint64_t limb[LIMBS] = {0};
    if (a->exponent == BAD || b->exponent == BAD) {
        return NAN;
    }
    for (int64_t i = 0; i < k; i++) {
        const double x = ldexp(ref_load(dtype, a->from, i * a->step), p - a->exponent);
        const double y = ldexp(ref_load(dtype, b->from, i * b->step), p - b->exponent);
        const int64_t qa = (int64_t)MUTATE(84, trunc(x), rint(x));
        const int64_t qb = (int64_t)MUTATE(85, floor(y + 0.5), rint(y));
        for (int c = 0; c < count; c++) {
            sums[c] += residue(qa, moduli[c]) * residue(qb, moduli[c]);
        }
    }
    to_digits(count, sums, digit);
    for (int c = count - 1; c >= 0; c--) {
        append(limb, moduli[c], digit[c]);
    }
    const int e = a->exponent + b->exponent - 2 * p;
    return dtype == ISO_F64 ? rounded(limb, e, 53, -1074) : rounded(limb, e, 24, -149);
}
