/* SPDX-License-Identifier: Apache-2.0 */
/* exact.c - sums of products of f64, without rounding. */
#include "bench/errors/errors.h"

#include <math.h>

/* The exponent of the lowest bit. A product of two of the smallest numbers, each as 53 digits, is a
 * multiple of 2^-2252. */
enum { LOWEST = -2304, DIGITS = 53 };

/* Adds `digits` * 2^(64 * at), or subtracts it. */
static void add_at(errors_sum *sum, int at, unsigned __int128 digits, int shift, bool negative)
{
    uint64_t parts[3] = {(uint64_t)digits << shift, (uint64_t)(digits >> (64 - shift)),
                         shift == 0 ? 0 : (uint64_t)(digits >> 64 >> (64 - shift))};
    unsigned carry = 0;
    for (int i = 0; at + i < ERRORS_LIMBS && (i < 3 || carry != 0); i++) {
        uint64_t part = i < 3 ? parts[i] : 0, *limb = &sum->limb[at + i];
        unsigned __int128 made = negative ? (unsigned __int128)*limb - part - carry
                                          : (unsigned __int128)*limb + part + carry;
        *limb = (uint64_t)made;
        carry = (unsigned)(made >> 64) & 1;
    }
}

void errors_sum_add(errors_sum *sum, double a, double b)
{
    int e, f;
    int64_t x = (int64_t)ldexp(frexp(a, &e), DIGITS), y = (int64_t)ldexp(frexp(b, &f), DIGITS);
    __int128 product = (__int128)x * y;
    int place = e + f - 2 * DIGITS - LOWEST;
    if (product != 0) {
        add_at(sum, place / 64, (unsigned __int128)(product < 0 ? -product : product), place % 64,
               product < 0);
    }
}

static int bit(const errors_sum *sum, int at)
{
    return at < 0 ? 0 : (int)(sum->limb[at / 64] >> at % 64 & 1);
}

static double nearest(errors_sum sum)
{
    bool negative = bit(&sum, 64 * ERRORS_LIMBS - 1) != 0;
    int length = 64 * ERRORS_LIMBS;
    uint64_t kept = 0, rest = 0;
    for (int i = 0, carry = 1; negative && i < ERRORS_LIMBS; i++) {
        sum.limb[i] = ~sum.limb[i] + (uint64_t)carry;
        carry = carry && sum.limb[i] == 0;
    }
    while (length > 0 && !bit(&sum, length - 1)) {
        length -= sum.limb[(length - 1) / 64] == 0 ? (length - 1) % 64 + 1 : 1;
    }
    int cut = length > DIGITS ? length - DIGITS : 0;
    for (int i = length - 1; i >= cut; i--) {
        kept = 2 * kept + (uint64_t)bit(&sum, i);
    }
    for (int i = 0; i < cut - 1 && rest == 0; i++) {
        rest |= (uint64_t)bit(&sum, i);
    }
    kept += (uint64_t)bit(&sum, cut - 1) & (rest | (kept & 1));
    double value = ldexp((double)kept, cut + LOWEST);
    return negative ? -value : value;
}

void errors_sum_round(const errors_sum *sum, double *high, double *low)
{
    errors_sum left = *sum;
    *high = nearest(left);
    errors_sum_add(&left, -*high, 1);
    *low = nearest(left);
}
