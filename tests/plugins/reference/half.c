/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.c - the 16-bit floating-point types, bit by bit, and elements of any floating-point type.
 *
 * Both 16-bit types have the IEEE 754 layout: a sign, a biased exponent, a fraction. Every
 * conversion goes through f64, which holds every value of every smaller type exactly, so a value
 * computed in f32 is still rounded once.
 */
#include "tests/plugins/reference/reference.h"

#include <string.h>

typedef struct format {
    int fraction_bits;
    int exponent_bits;
} format;

static const format f16 = {.fraction_bits = 10, .exponent_bits = 5};
static const format bf16 = {.fraction_bits = 7, .exponent_bits = 8};

enum { F64_FRACTION_BITS = 52, F64_BIAS = 1023, F64_EXPONENT_MAX = 2047 };

static int bias(format f)
{
    return (1 << (f.exponent_bits - 1)) - 1;
}

static int exponent_max(format f)
{
    return (1 << f.exponent_bits) - 1;
}

static double f64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double widen(format f, uint16_t bits)
{
    const uint64_t sign = bits >> 15;
    const int exponent = bits >> f.fraction_bits & exponent_max(f);
    uint64_t fraction = bits & ((1u << f.fraction_bits) - 1);
    int64_t wide_exponent;

    if (exponent == exponent_max(f)) { /* infinity or NaN */
        wide_exponent = F64_EXPONENT_MAX;
    } else if (exponent > 0) {
        wide_exponent = exponent - bias(f) + F64_BIAS;
    } else if (fraction == 0) { /* zero */
        wide_exponent = 0;
    } else {
        /* Subnormal: there is no leading one before the point. Shift until there is; the exponent
         * range of f64 holds the result as a normal number. */
        wide_exponent = 1 - bias(f) + F64_BIAS;
        while (!(fraction >> f.fraction_bits)) {
            fraction <<= 1;
            wide_exponent--;
        }
        fraction &= (1u << f.fraction_bits) - 1;
    }
    return f64_of_bits(sign << 63 | (uint64_t)wide_exponent << F64_FRACTION_BITS |
                       fraction << (F64_FRACTION_BITS - f.fraction_bits));
}

/* The magnitude `significand` shifted right by `shift` (1 to 63), rounded to nearest, ties to even.
 */
static uint64_t shift_and_round(uint64_t significand, int shift)
{
    const uint64_t kept = significand >> shift;
    const uint64_t lost = significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    return kept + (lost > half || (lost == half && (kept & 1)));
}

static uint16_t narrow(format f, double value)
{
    const uint64_t bits = bits_of_f64(value);
    const uint64_t sign = bits >> 63 << 15;
    const int wide_exponent = (int)(bits >> F64_FRACTION_BITS & F64_EXPONENT_MAX);
    const uint64_t fraction = bits & ((UINT64_C(1) << F64_FRACTION_BITS) - 1);
    const uint64_t infinity = (uint64_t)exponent_max(f) << f.fraction_bits;

    if (wide_exponent == F64_EXPONENT_MAX) {
        const uint64_t quiet_nan = infinity | UINT64_C(1) << (f.fraction_bits - 1);
        return (uint16_t)(sign | (fraction ? quiet_nan : infinity));
    }
    const int exponent = wide_exponent - F64_BIAS + bias(f);
    if (exponent >= exponent_max(f)) {
        return (uint16_t)(sign | infinity);
    }
    /* Numbers that would need an exponent below 1 are subnormal: they all have the exponent of 1,
     * and lose one more bit for each step below it. If more than 63 bits are lost the result is 0;
     * so it is for a subnormal f64. */
    int shift = F64_FRACTION_BITS - f.fraction_bits;
    if (exponent < 1) {
        shift += 1 - exponent;
    }
    if (shift > 63 || wide_exponent == 0) {
        return (uint16_t)sign;
    }
    const uint64_t significand = fraction | UINT64_C(1) << F64_FRACTION_BITS;
    uint64_t rounded = shift_and_round(significand, shift);
    PLANT(17, if (f.fraction_bits == 10) rounded = significand >> shift);
    PLANT(18, rounded = shift_and_round(shift_and_round(significand, shift - 2), 2));
    PLANT(54, if (f.fraction_bits == 7) rounded = significand >> shift);
    /* The leading one of a normal number adds 1 to the exponent below it. A carry out of the
     * rounded fraction goes there too, and turns a value that is too large into infinity. */
    const uint64_t exponent_below = exponent < 1 ? 0 : (uint64_t)(exponent - 1);
    return (uint16_t)(sign | ((exponent_below << f.fraction_bits) + rounded));
}

double ref_from_f16(uint16_t bits)
{
    return widen(f16, bits);
}

double ref_from_bf16(uint16_t bits)
{
    return widen(bf16, bits);
}

uint16_t ref_to_f16(double value)
{
    return narrow(f16, value);
}

uint16_t ref_to_bf16(double value)
{
    return narrow(bf16, value);
}

double ref_load(iso_dtype dtype, const void *array, int64_t index)
{
    switch (dtype) {
    case ISO_F16:
        return ref_from_f16(((const uint16_t *)array)[index]);
    case ISO_BF16:
        return ref_from_bf16(((const uint16_t *)array)[index]);
    case ISO_F32:
        return (double)((const float *)array)[index];
    default:
        return ((const double *)array)[index];
    }
}

void ref_store(iso_dtype dtype, void *array, int64_t index, double value)
{
    switch (dtype) {
    case ISO_F16:
        ((uint16_t *)array)[index] = ref_to_f16(value);
        break;
    case ISO_BF16:
        ((uint16_t *)array)[index] = ref_to_bf16(value);
        break;
    case ISO_F32:
        ((float *)array)[index] = (float)value;
        break;
    default:
        ((double *)array)[index] = value;
        break;
    }
}
