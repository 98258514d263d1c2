/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - converts f16 and bf16, with the processor's instructions if it has them and otherwise in
 * plain C. Reading is exact. Writing rounds once, to nearest even: overflow gives infinity, small
 * values become subnormal, a NaN stays a NaN. Stored elements are uint16_t. */
#ifndef ISOMER_OPENMP_HALF_H
#define ISOMER_OPENMP_HALF_H

#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

static inline uint32_t cpu_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float cpu_f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds an f64 to a 16-bit format with `exponent_bits` and `fraction_bits`. An f32 can be passed
 * too: it widens to f64 exactly, so it is also rounded only once. */
static inline uint16_t cpu_f64_round16(double x, int exponent_bits, int fraction_bits)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << 15;
    const int from_exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffu;
    const uint32_t infinity = ((1u << exponent_bits) - 1u) << fraction_bits;
    if (from_exponent == 0x7ff) {
        return (uint16_t)(sign | infinity | (fraction ? 1u << (fraction_bits - 1) : 0u));
    }
    const int exponent = from_exponent - 1023 + (1 << (exponent_bits - 1)) - 1;
    if (exponent >= (1 << exponent_bits) - 1) {
        return (uint16_t)(sign | infinity);
    }
    fraction |= UINT64_C(1) << 52;
    int shift = 52 - fraction_bits;
    if (exponent <= 0) {
        shift += 1 - exponent;
    }
    if (shift > 53) {
        /* x is less than half of the smallest 16-bit subnormal, so it rounds to zero. Every
         * subnormal f64 ends up here. */
        return (uint16_t)sign;
    }
    const uint64_t rest = fraction & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    uint32_t kept = (uint32_t)(fraction >> shift);
    kept += rest > half || (rest == half && (kept & 1u));
    /* A carry out of the fraction needs no special case: it increments the exponent, up to
     * infinity. */
    if (exponent > 0) {
        kept += (uint32_t)(exponent - 1) << fraction_bits;
    }
    return (uint16_t)(sign | kept);
}

static inline uint16_t cpu_f64_to_f16(double x)
{
    return cpu_f64_round16(x, 5, 10);
}

static inline uint16_t cpu_f64_to_bf16(double x)
{
    return cpu_f64_round16(x, 8, 7);
}

static inline float cpu_f16_to_f32(uint16_t h)
{
#if defined(__F16C__)
    return _cvtsh_ss(h);
#elif defined(__aarch64__)
    __fp16 x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
#else
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t exponent = h >> 10 & 0x1fu;
    const uint32_t fraction = h & 0x3ffu;
    if (exponent == 0) { /* zero or subnormal: the value is fraction * 2^-24 */
        return cpu_f32_of_bits(sign | cpu_f32_bits((float)fraction * 0x1p-24f));
    }
    const uint32_t to_exponent = exponent == 0x1f ? 0xffu : exponent + 112u;
    return cpu_f32_of_bits(sign | to_exponent << 23 | fraction << 13);
#endif
}

static inline uint16_t cpu_f32_to_f16(float x)
{
#if defined(__F16C__)
    return (uint16_t)_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__aarch64__)
    const __fp16 h = (__fp16)x;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
#else
    return cpu_f64_to_f16((double)x);
#endif
}

static inline float cpu_bf16_to_f32(uint16_t h)
{
    return cpu_f32_of_bits((uint32_t)h << 16);
}

static inline uint16_t cpu_f32_to_bf16(float x)
{
    const uint32_t bits = cpu_f32_bits(x);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const uint32_t quiet = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

#endif
