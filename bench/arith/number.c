/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - stored numbers, their conversions, and the generator of inputs. It is written from
 * docs/bits.md alone and shares no code with the kernels that it checks. */
#include "bench/arith/arith.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this arithmetic must be IEEE 754"
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

void arith_fp_reset(void)
{
    fesetenv(FE_DFL_ENV); /* also resets the x87, which computes the long double references */
#if defined(__x86_64__) || defined(__i386__)
    _mm_setcsr(0x1f80); /* all exceptions masked, round to nearest, no flush to zero */
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, xzr");
#endif
}

uint64_t arith_mix(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + (index + 1) * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float arith_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
    if (exponent == 31) {
        return float_of(sign | 0x7f800000u | fraction << 13);
    }
    if (exponent != 0) {
        return float_of(sign | (exponent + 112u) << 23 | fraction << 13);
    }
    float magnitude = (float)fraction * 0x1p-24f;
    return sign ? -magnitude : magnitude;
}

float arith_bf16_to_f32(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

uint16_t arith_f32_to_f16(float value)
{
    uint32_t bits = bits_of(value), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    /* From 65520 on, half-way from the greatest f16 to 65536, the result is infinite. */
    if (size >= 0x477ff000u) {
        return (uint16_t)(sign | 0x7c00u);
    }
    /* A subnormal f16. An ulp of 0.5f is the smallest f16, so adding 0.5f rounds. */
    if (size < 0x38800000u) {
        return (uint16_t)(sign | (bits_of(0.5f + float_of(size)) - bits_of(0.5f)));
    }
    size += 0xfffu + ((size >> 13) & 1u);
    return (uint16_t)(sign | ((size - 0x38000000u) >> 13));
}

uint16_t arith_f32_to_bf16(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* Converts to f32 and rounds to odd. Rounding the result to f16 or bf16 then gives the same as
 * rounding `value` once. */
static float to_odd(double value)
{
    float near = (float)value;
    if ((double)near == value || isnan(value)) {
        return near;
    }
    uint32_t bits = bits_of(near);
    if (fabs((double)near) > fabs(value)) {
        bits--;
    }
    return float_of(bits | 1u);
}

uint16_t arith_f64_to_f16(double value)
{
    return arith_f32_to_f16(to_odd(value));
}

uint16_t arith_f64_to_bf16(double value)
{
    return arith_f32_to_bf16(to_odd(value));
}

/* One row for each type; all zeros for integers. */
static const struct {
    uint64_t nan; /* the NaN that digests use */
    double roundoff;
    double half_smallest; /* half the smallest subnormal */
    /* The scales of the extreme fills. The square of a huge number overflows; that of a tiny one
     * becomes 0. */
    double huge, tiny, subnormal;
} types[] = {
    [ISO_F16] = {0x7e00, 0x1p-11, 0x1p-25, 0x1p14, 0x1p-13, 0x1p-15},
    [ISO_BF16] = {0x7fc0, 0x1p-8, 0x1p-134, 0x1p110, 0x1p-110, 0x1p-130},
    [ISO_F32] = {0x7fc00000, 0x1p-24, 0x1p-150, 0x1p110, 0x1p-110, 0x1p-130},
    /* half of the smallest f64 cannot be represented, so this is all of it */
    [ISO_F64] = {0x7ff8000000000000, 0x1p-53, 0x1p-1074, 0x1p1000, 0x1p-1000, 0x1p-1030},
    [ISO_C128] = {0},
};

bool arith_is_float(iso_dtype dtype)
{
    return types[dtype].nan != 0;
}

bool arith_is_complex(iso_dtype dtype)
{
    return dtype == ISO_C64 || dtype == ISO_C128;
}

iso_dtype arith_part(iso_dtype dtype)
{
    return dtype == ISO_C64 ? ISO_F32 : dtype == ISO_C128 ? ISO_F64 : dtype;
}

iso_dtype arith_wide(iso_dtype dtype)
{
    return dtype == ISO_F64 || dtype == ISO_C128 ? ISO_F64 : ISO_F32;
}

static inline double load(iso_dtype dtype, const void *element)
{
    union {
        uint16_t half;
        float f32;
        double f64;
        int8_t i8;
        int32_t i32;
        int64_t i64;
    } is;
    switch (dtype) {
    case ISO_F16:
        memcpy(&is.half, element, sizeof is.half);
        return arith_f16_to_f32(is.half);
    case ISO_BF16:
        memcpy(&is.half, element, sizeof is.half);
        return arith_bf16_to_f32(is.half);
    case ISO_F32:
    case ISO_C64: /* the real part */
        memcpy(&is.f32, element, sizeof is.f32);
        return is.f32;
    case ISO_F64:
    case ISO_C128:
        memcpy(&is.f64, element, sizeof is.f64);
        return is.f64;
    case ISO_I32:
        memcpy(&is.i32, element, sizeof is.i32);
        return is.i32;
    case ISO_I64:
        memcpy(&is.i64, element, sizeof is.i64);
        return (double)is.i64;
    case ISO_I8:
        memcpy(&is.i8, element, sizeof is.i8);
        return is.i8;
    }
    return 0;
}

double arith_load(iso_dtype dtype, const void *element)
{
    return load(dtype, element);
}

void arith_store(iso_dtype dtype, void *element, double value)
{
    if (arith_is_complex(dtype)) { /* the imaginary part is +0 */
        memset(element, 0, (size_t)iso_dtype_size(dtype));
        arith_store(arith_part(dtype), element, value);
        return;
    }
    uint16_t half = dtype == ISO_F16 ? arith_f64_to_f16(value) : arith_f64_to_bf16(value);
    float f32 = (float)value;
    int64_t whole = arith_is_float(dtype) ? 0 : (int64_t)value;
    const void *from = dtype == ISO_F64 ? &value : (const void *)&f32;
    if (!arith_is_float(dtype)) {
        from = &whole; /* the machine is little-endian, so the low bytes come first */
    } else if (iso_dtype_size(dtype) == 2) {
        from = &half;
    }
    memcpy(element, from, (size_t)iso_dtype_size(dtype));
}

static inline __attribute__((always_inline)) void widen(iso_dtype dtype, const char *from,
                                                        int64_t bytes, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = load(dtype, from + i * bytes);
    }
}

/* The float types that are converted most get loops of their own: there the type is a constant, so
 * the compiler removes the switch from the loop. */
void arith_widen(iso_dtype dtype, const void *from, int64_t step, int64_t count, double *out)
{
    int64_t bytes = step * iso_dtype_size(dtype);
    if (dtype == ISO_F16) {
        widen(ISO_F16, from, step * 2, count, out);
    } else if (dtype == ISO_BF16) {
        widen(ISO_BF16, from, step * 2, count, out);
    } else if (dtype == ISO_F32) {
        widen(ISO_F32, from, step * 4, count, out);
    } else {
        widen(dtype, from, bytes, count, out);
    }
}

bool arith_is_nan(iso_dtype dtype, const void *element)
{
    if (arith_is_complex(dtype)) {
        iso_dtype part = arith_part(dtype);
        return arith_is_nan(part, element) ||
               arith_is_nan(part, (const char *)element + iso_dtype_size(part));
    }
    return arith_is_float(dtype) && isnan(arith_load(dtype, element));
}

void arith_set_nan(iso_dtype dtype, void *element)
{
    if (arith_is_complex(dtype)) {
        iso_dtype part = arith_part(dtype);
        arith_set_nan(part, element);
        arith_set_nan(part, (char *)element + iso_dtype_size(part));
    }
    if (arith_is_float(dtype)) {
        memcpy(element, &types[dtype].nan, (size_t)iso_dtype_size(dtype));
    }
}

double arith_roundoff(iso_dtype dtype)
{
    return types[dtype].roundoff;
}

double arith_half_smallest(iso_dtype dtype)
{
    return types[dtype].half_smallest;
}

/* ---- the generator --------------------------------------------------------------------------- */

const char *arith_fill_name(arith_fill fill)
{
    static const char *const names[] = {
        "uniform", "ints",  "sparse", "nan",   "inf", "subnormal", "zeros",    "ties",
        "huge",    "mixed", "powers", "near1", "top", "odd",       "extremes", "bits"};
    return names[fill];
}

static double uniform_of(iso_dtype dtype, uint64_t mix)
{
    if (dtype == ISO_F64) {
        return ((double)(int64_t)(mix >> 11) - 0x1p52) / 0x1p52;
    }
    return ((double)(int64_t)(mix >> 40) - 0x1p23) / 0x1p23;
}

static double odd_of(iso_dtype dtype, uint64_t mix)
{
    const int bits = dtype == ISO_F64 ? 27 : dtype == ISO_F32 ? 13 : dtype == ISO_F16 ? 11 : 8;
    double size = (double)(2 * (mix >> 33 & ((1u << (bits - 1)) - 1)) + 1);
    return mix & 1 ? -size : size;
}

static double float_value(iso_dtype dtype, arith_fill fill, uint64_t mix, int64_t count)
{
    double uniform = uniform_of(dtype, mix);
    uint64_t pick = mix >> 33;
    switch (fill) {
    case ARITH_INTS:
        return (double)(pick % 7) - 3;
    case ARITH_SPARSE:
        return pick % 8 == 0 ? 1 : pick % 8 == 1 ? -1 : 0;
    case ARITH_ZEROS:
        return mix & 1 ? -0.0 : 0.0;
    case ARITH_TIES:
        return ((double)(pick % 5) - 2) * 0.5;
    case ARITH_HUGE:
        return uniform * types[dtype].huge;
    case ARITH_SUBNORMAL:
        return uniform * types[dtype].subnormal;
    case ARITH_MIXED:
        return mix % 4 == 0   ? uniform * types[dtype].huge
               : mix % 4 == 1 ? uniform * types[dtype].tiny
                              : uniform;
    case ARITH_POWERS: {
        double size = pick % (uint64_t)count >= 8 ? 1 : mix & 2 ? 2 : 0.5;
        return mix & 1 ? -size : size;
    }
    case ARITH_TOP:
        return 1 - types[dtype].roundoff;
    case ARITH_ODD:
        return odd_of(dtype, mix);
    case ARITH_NEAR_ONE:
        return 1 + uniform * 0.01;
    default:
        return uniform;
    }
}

static int64_t int_value(iso_dtype dtype, arith_fill fill, uint64_t mix)
{
    int64_t low = dtype == ISO_I8 ? INT8_MIN : dtype == ISO_I32 ? INT32_MIN : INT64_MIN;
    int64_t high = dtype == ISO_I8 ? INT8_MAX : dtype == ISO_I32 ? INT32_MAX : INT64_MAX;
    const int64_t extremes[] = {low, low + 1, -1, 0, 1, high - 1, high};
    uint64_t pick = mix >> 33;
    switch (fill) {
    case ARITH_INTS:
        return (int64_t)(pick % 7) - 3;
    case ARITH_TIES:
        return (int64_t)(pick % 5) - 2;
    case ARITH_POWERS:
        return mix & 1 ? -1 : mix & 2 ? 1 : 3;
    case ARITH_EXTREMES:
        return extremes[pick % 7];
    default:
        return dtype == ISO_I8    ? (int8_t)(uint8_t)(mix >> 32)
               : dtype == ISO_I32 ? (int32_t)(uint32_t)(mix >> 32)
                                  : (int64_t)mix;
    }
}

/* Stores a NaN with a payload, or an infinity. The sign is random. */
static void put_special(iso_dtype dtype, arith_fill fill, uint64_t mix, unsigned char *element)
{
    if (fill == ARITH_NAN) {
        arith_set_nan(dtype, element);
        element[0] |= (unsigned char)(mix >> 8 & 0x3f);
    } else {
        arith_store(dtype, element, INFINITY);
    }
    if (mix & 1) {
        element[iso_dtype_size(dtype) - 1] |= 0x80;
    }
}

static void fill_floats(iso_dtype dtype, arith_fill fill, uint64_t seed, int64_t count,
                        unsigned char *out)
{
    size_t size = (size_t)iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        uint64_t mix = arith_mix(seed, (uint64_t)i);
        double value = float_value(dtype, fill, mix, count);
        value = fill == ARITH_TOP && (seed & 2) ? -value : value;
        if (dtype == ISO_F16) { /* docs/bits.md defines the value in f32 */
            uint16_t half = arith_f32_to_f16((float)value);
            memcpy(out + (size_t)i * size, &half, size);
        } else if (dtype == ISO_BF16) {
            uint16_t half = arith_f32_to_bf16((float)value);
            memcpy(out + (size_t)i * size, &half, size);
        } else {
            arith_store(dtype, out + (size_t)i * size, value);
        }
    }
    if (count > 0 && (fill == ARITH_NAN || fill == ARITH_INF)) {
        for (uint64_t p = 0; p < 3; p++) {
            uint64_t at = arith_mix(seed ^ 0x5eed, p) % (uint64_t)count;
            put_special(dtype, fill, arith_mix(seed ^ 0xfeed, p), out + at * size);
        }
    }
}

/* Random bits. A quarter of the elements have an exponent of all ones, which makes a quiet or
 * signalling NaN of either sign. */
static void fill_bits(iso_dtype dtype, uint64_t seed, int64_t count, unsigned char *out)
{
    uint64_t infinity = 0;
    size_t size = (size_t)iso_dtype_size(dtype);
    if (arith_is_float(dtype)) {
        arith_store(dtype, &infinity, INFINITY);
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t mix = arith_mix(seed, (uint64_t)i), bits = mix;
        if (mix >> 62 == 0) {
            bits |= infinity;
        }
        memcpy(out + (size_t)i * size, &bits, size);
    }
}

void arith_generate(iso_dtype dtype, arith_fill fill, uint64_t seed, int64_t count, void *elements)
{
    if (arith_is_complex(dtype)) {
        arith_generate(arith_part(dtype), fill, seed, 2 * count, elements);
        return;
    }
    if (fill == ARITH_BITS) {
        fill_bits(dtype, seed, count, elements);
        return;
    }
    if (arith_is_float(dtype)) {
        fill_floats(dtype, fill, seed, count, elements);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t value = int_value(dtype, fill, arith_mix(seed, (uint64_t)i));
        if (dtype == ISO_I8) {
            ((int8_t *)elements)[i] = (int8_t)value;
        } else if (dtype == ISO_I32) {
            ((int32_t *)elements)[i] = (int32_t)value;
        } else {
            ((int64_t *)elements)[i] = value;
        }
    }
}
