/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - the labs' numbers: the same in every language, from a seed and an index. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

static inline uint64_t lab_bits(uint64_t seed, int64_t i)
{
    uint64_t z = seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    z ^= z >> 30;
    z *= UINT64_C(0xBF58476D1CE4E5B9);
    z ^= z >> 27;
    z *= UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* In [-1, 1), with 24 bits: exact in f32. */
static inline double lab_uniform(uint64_t seed, int64_t i)
{
    return (double)(lab_bits(seed, i) >> 40) * 0x1p-23 - 1;
}

/* About a normal distribution with mean 3 and deviation 1: the sum of twelve uniform numbers. */
static inline double lab_normal(uint64_t seed, int64_t i)
{
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        sum += (double)(lab_bits(seed, 12 * i + k) >> 40) * 0x1p-24;
    }
    return 3 + sum - 6;
}

#endif
