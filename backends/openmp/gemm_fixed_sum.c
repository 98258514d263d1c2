/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_fixed_sum.c - the exact sums of fixed products on the CPU, and their rounding. */
#include "backends/openmp/gemm_fixed.h"

#include <math.h>

void fixed_add(fixed_sum *sum, __int128 term)
{
    const uint64_t limbs[FIXED_LIMBS] = {(uint64_t)term, (uint64_t)(term >> 64),
                                         (uint64_t)(term >> 127)};
    unsigned __int128 carried = 0;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        carried += (unsigned __int128)sum->limb[i] + limbs[i];
        sum->limb[i] = (uint64_t)carried;
        carried >>= 64;
    }
}

/* The magnitude of a sum as a number of at most 64 bits, which is to be multiplied by 2^*shift. If
 * bits are lost below, its lowest bit is set: a rounding to 53 bits or fewer comes out the same. */
static uint64_t magnitude(fixed_sum sum, int *shift)
{
    unsigned carry = sum.limb[FIXED_LIMBS - 1] >> 63 != 0;
    const uint64_t flip = carry ? UINT64_MAX : 0;
    int top = 0;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        sum.limb[i] = (sum.limb[i] ^ flip) + carry;
        carry = carry && sum.limb[i] == 0;
        top = sum.limb[i] ? i : top;
    }
    *shift = 0;
    if (top == 0) {
        return sum.limb[0];
    }
    const int free_bits = __builtin_clzll(sum.limb[top]);
    uint64_t lost = free_bits ? sum.limb[top - 1] << free_bits : sum.limb[top - 1];
    uint64_t kept = sum.limb[top] << free_bits;
    kept |= free_bits ? sum.limb[top - 1] >> (64 - free_bits) : 0;
    for (int i = 0; i < top - 1; i++) {
        lost |= sum.limb[i];
    }
    *shift = 64 * top - free_bits;
    return kept | (lost != 0);
}

/* sum * 2^e, rounded to nearest even: to `digits` digits, the lowest of at least 2^least. */
static double rounded(fixed_sum sum, int e, int digits, int least)
{
    int shift;
    const uint64_t size = magnitude(sum, &shift);
    if (size == 0) {
        return 0;
    }
    e += shift;
    const double sign = sum.limb[FIXED_LIMBS - 1] >> 63 ? -1 : 1;
    const int length = 64 - __builtin_clzll(size);
    const int cut = length - digits > least - e ? length - digits : least - e;
    if (cut <= 0) {
        return ldexp(sign * (double)size, e);
    }
    if (cut > 64) { /* less than half of the smallest number */
        return sign * 0.0;
    }
    const uint64_t half = size >> (cut - 1) & 1;
    const uint64_t below = cut > 1 ? size << (65 - cut) : 0;
    uint64_t kept = cut < 64 ? size >> cut : 0;
    kept += half && (below || (kept & 1));
    return ldexp(sign * (double)kept, e + cut);
}

double fixed_round(iso_dtype dtype, fixed_sum sum, int scale)
{
    return dtype == ISO_F64 ? rounded(sum, scale, 53, -1074) : rounded(sum, scale, 24, -149);
}
