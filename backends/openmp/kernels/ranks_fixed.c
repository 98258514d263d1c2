/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_fixed.c - the steps of exact sums over ranks (docs/bits.md, 13.3 and 13.4): exponents,
 * whole numbers, and the number that they stand for.
 *
 * Terms are read a block at a time, as f32 or f64. A whole number is found in f64: a term times a
 * power of two is exact, and adding 2^52 or 1.5 * 2^52 rounds it. So no loop over elements has
 * branches, except where a code says infinity or NaN.
 */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/backend.h>

enum { BLOCK = 64 };

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

SIMD_INLINE uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SIMD_INLINE double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Adding this to a number of at most 2^51 rounds it: the sum's bits are those of ROUNDER plus the
 * whole number. */
#define ROUNDER 0x1.8p52
SIMD_INLINE int64_t whole_of(double x)
{
    return (int64_t)(f64_bits(x + ROUNDER) - f64_bits(ROUNDER));
}

/* ---- reading --------------------------------------------------------------------------------- */

#define DEFINE_READ16(name, convert, load)                                                         \
    SIMD_INLINE void read_##name(const void *from, int n, float *to)                               \
    {                                                                                              \
        const uint16_t *x = from;                                                                  \
        int i = 0;                                                                                 \
        for (; i + SIMD_F32 <= n; i += SIMD_F32) {                                                 \
            simd_f32_store(to + i, load(x + i));                                                   \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            to[i] = convert(x[i]);                                                                 \
        }                                                                                          \
    }

DEFINE_READ16(f16, cpu_f16_to_f32, simd_f32_load_f16)
DEFINE_READ16(bf16, cpu_bf16_to_f32, simd_f32_load_bf16)

SIMD_INLINE void read_f32(const void *from, int n, float *to)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

SIMD_INLINE void read_f64(const void *from, int n, double *to)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- exponents ------------------------------------------------------------------------------- */

/* A subnormal number is a whole number of the least ones. As the fraction of 2^23 or 2^52 it
 * becomes a number of its own, which has an exponent. */
SIMD_INLINE int32_t code_f32(float x)
{
    const uint32_t bits = cpu_f32_bits(x) & 0x7fffffffu;
    const float whole = cpu_f32_of_bits(bits | 0x4b000000u) - 0x1p23f;
    int32_t code = (int32_t)(bits >> 23) - 126;
    code = bits < 0x00800000u ? (int32_t)(cpu_f32_bits(whole) >> 23) - 126 - 149 : code;
    code = bits == 0 ? ISO_RANKS_ZERO : code;
    code = bits == 0x7f800000u ? ISO_RANKS_INFINITY : code;
    return bits > 0x7f800000u ? ISO_RANKS_NAN : code;
}

SIMD_INLINE int32_t code_f64(double x)
{
    const int64_t bits = (int64_t)(f64_bits(x) & 0x7fffffffffffffffu);
    const double whole = f64_of_bits((uint64_t)bits | 0x4330000000000000u) - 0x1p52;
    int64_t code = (bits >> 52) - 1022;
    code = bits < 0x0010000000000000 ? (int64_t)(f64_bits(whole) >> 52) - 1022 - 1074 : code;
    code = bits == 0 ? ISO_RANKS_ZERO : code;
    code = bits == 0x7ff0000000000000 ? ISO_RANKS_INFINITY : code;
    return (int32_t)(bits > 0x7ff0000000000000 ? ISO_RANKS_NAN : code);
}

#define DEFINE_EXPONENTS(name, real, kind, bytes)                                                  \
    static void exponents_##name(const cpu_ranks_part *p)                                          \
    {                                                                                              \
        const char *x = p->x;                                                                      \
        for (int64_t at = 0; at < p->n; at += BLOCK) {                                             \
            const int n = (int)LEAST(p->n - at, BLOCK);                                            \
            real term[BLOCK] = {0};                                                                \
            int32_t best[BLOCK];                                                                   \
            for (int i = 0; i < BLOCK; i++) {                                                      \
                best[i] = ISO_RANKS_ZERO;                                                          \
            }                                                                                      \
            for (int32_t t = 0; t < p->count; t++) {                                               \
                read_##name(x + (t * p->stride + at) * (bytes), n, term);                          \
                for (int i = 0; i < BLOCK; i++) {                                                  \
                    const int32_t code = code_##kind(term[i]);                                     \
                    best[i] = code > best[i] ? code : best[i];                                     \
                }                                                                                  \
            }                                                                                      \
            memcpy(p->exponents + at, best, (size_t)n * sizeof *best);                             \
        }                                                                                          \
    }

DEFINE_EXPONENTS(f16, float, f32, 2)
DEFINE_EXPONENTS(bf16, float, f32, 2)
DEFINE_EXPONENTS(f32, float, f32, 4)
DEFINE_EXPONENTS(f64, double, f64, 8)

/* ---- limbs ----------------------------------------------------------------------------------- */

/* 2^n, for n within what a factor needs; a code that is no exponent gives some factor. */
SIMD_INLINE double power_of(int32_t n)
{
    const int32_t within = n < -1000 ? -1000 : n > 1000 ? 1000 : n;
    return f64_of_bits((uint64_t)(1023 + within) << 52);
}

/* Whether a block has such a code. */
SIMD_INLINE int is_special(const int32_t *codes, int n)
{
    int32_t most = ISO_RANKS_ZERO;
    for (int i = 0; i < n; i++) {
        most = codes[i] > most ? codes[i] : most;
    }
    return most >= ISO_RANKS_INFINITY;
}

/* Not inlined: it is rare. One limb or two of the elements with such a code. */
#define DEFINE_SPECIAL(name, real, bytes)                                                          \
    static __attribute__((noinline)) void special_##name(const cpu_ranks_part *p, int64_t at,      \
                                                         int n, int limbs)                         \
    {                                                                                              \
        const int32_t *codes = p->exponents + at;                                                  \
        for (int i = 0; i < n; i++) {                                                              \
            for (int l = 0; l < limbs && codes[i] >= ISO_RANKS_INFINITY; l++) {                    \
                p->limbs[l * p->limb_stride + at + i] = 0;                                         \
            }                                                                                      \
        }                                                                                          \
        for (int32_t t = 0; t < p->count; t++) {                                                   \
            real term[BLOCK];                                                                      \
            read_##name((const char *)p->x + (t * p->stride + at) * (bytes), n, term);             \
            for (int i = 0; i < n; i++) {                                                          \
                const int up = term[i] == (real)__builtin_inf();                                   \
                const int down = term[i] == -(real)__builtin_inf();                                \
                if (codes[i] == ISO_RANKS_INFINITY) {                                              \
                    p->limbs[at + i] += up + ((int64_t)down << 31);                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define DEFINE_LIMBS(name, bytes)                                                                  \
    DEFINE_SPECIAL(name, float, bytes)                                                             \
    static void limbs_##name(const cpu_ranks_part *p)                                              \
    {                                                                                              \
        for (int64_t at = 0; at < p->n; at += BLOCK) {                                             \
            const int n = (int)LEAST(p->n - at, BLOCK);                                            \
            const int32_t *codes = p->exponents + at;                                              \
            float term[BLOCK] = {0};                                                               \
            double factor[BLOCK] = {0};                                                            \
            uint64_t sum[BLOCK] = {0};                                                             \
            for (int i = 0; i < n; i++) {                                                          \
                factor[i] = power_of(ISO_RANKS_BITS - codes[i]);                                   \
            }                                                                                      \
            for (int32_t t = 0; t < p->count; t++) {                                               \
                read_##name((const char *)p->x + (t * p->stride + at) * (bytes), n, term);         \
                for (int i = 0; i < BLOCK; i++) {                                                  \
                    sum[i] += (uint64_t)whole_of((double)term[i] * factor[i]);                     \
                }                                                                                  \
            }                                                                                      \
            memcpy(p->limbs + at, sum, (size_t)n * sizeof *sum);                                   \
            if (is_special(codes, n)) {                                                            \
                special_##name(p, at, n, 1);                                                       \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_LIMBS(f16, 2)
DEFINE_LIMBS(bf16, 2)
DEFINE_LIMBS(f32, 4)

DEFINE_SPECIAL(f64, double, 8)

/* Two factors, because their product may overflow. If the first one rounds, the whole number is
 * 0 anyway. */
static void limbs_f64(const cpu_ranks_part *p)
{
    for (int64_t at = 0; at < p->n; at += BLOCK) {
        const int n = (int)LEAST(p->n - at, BLOCK);
        const int32_t *codes = p->exponents + at;
        double term[BLOCK] = {0}, once[BLOCK] = {0}, again[BLOCK] = {0};
        uint64_t low[BLOCK] = {0}, rest[BLOCK] = {0};
        for (int i = 0; i < n; i++) {
            const int32_t n_bits = ISO_RANKS_WIDE_BITS - codes[i];
            once[i] = power_of(n_bits / 2);
            again[i] = power_of(n_bits - n_bits / 2);
        }
        for (int32_t t = 0; t < p->count; t++) {
            read_f64((const char *)p->x + (t * p->stride + at) * 8, n, term);
            for (int i = 0; i < BLOCK; i++) {
                const double x = term[i] * once[i] * again[i];
                const double size = f64_of_bits(f64_bits(x) & 0x7fffffffffffffffu);
                const double rounder =
                    f64_of_bits(f64_bits(0x1p52) | (f64_bits(x) & 0x8000000000000000u));
                const double rounded = (x + rounder) - rounder;
                const double whole = size < 0x1p52 ? rounded : x;
                const double part = whole * 0x1p-40;
                const double near = (part + ROUNDER) - ROUNDER;
                const double high = near > part ? near - 1.0 : near;
                low[i] += (uint64_t)whole_of(whole - high * 0x1p40);
                rest[i] += (uint64_t)whole_of(high);
            }
        }
        memcpy(p->limbs + at, low, (size_t)n * sizeof *low);
        memcpy(p->limbs + p->limb_stride + at, rest, (size_t)n * sizeof *rest);
        if (is_special(codes, n)) {
            special_f64(p, at, n, 2);
        }
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct format {
    int fraction, least; /* bits of the fraction; exponent of the least number */
    uint64_t infinity;
} format;

/* The bits of m * 2^scale, rounded to nearest even. m is not 0. */
SIMD_INLINE uint64_t round_to(format to, uint64_t m, int scale)
{
    const int unit_wanted = 63 - __builtin_clzll(m) - to.fraction + scale;
    const int unit = unit_wanted > to.least ? unit_wanted : to.least;
    const int shift = unit - scale;
    uint64_t kept = 0;
    if (shift <= 0) {
        kept = m << -shift;
    } else if (shift <= 64) {
        const uint64_t half = UINT64_C(1) << (shift - 1);
        const uint64_t rest = m & (2 * half - 1);
        kept = shift < 64 ? m >> shift : 0;
        kept += rest > half || (rest == half && (kept & 1u));
    }
    /* The fraction's leading bit, which is not stored, adds 1 to the exponent. */
    const uint64_t bits = ((uint64_t)(unit - to.least) << to.fraction) + kept;
    return bits < to.infinity ? bits : to.infinity;
}

/* The bits, with the sign at sign_at, of a sum of rest * 2^40 + low. */
SIMD_INLINE uint64_t join_bits(format to, int sign_at, int p, int32_t code, int64_t low,
                               int64_t rest)
{
    const uint64_t mask = (UINT64_C(1) << 40) - 1, sign = UINT64_C(1) << sign_at;
    const uint64_t nan = to.infinity | (UINT64_C(1) << (to.fraction - 1));
    if (code >= ISO_RANKS_INFINITY) {
        const uint64_t up = (uint64_t)low & 0x7fffffffu, down = (uint64_t)low >> 31;
        const int both = (up && down) || code >= ISO_RANKS_NAN;
        return both ? nan : to.infinity | (down ? sign : 0);
    }
    rest += low >> 40;
    uint64_t digits = (uint64_t)low & mask, high = (uint64_t)rest;
    const int negative = rest < 0;
    if (negative) {
        high = 0 - high - (digits != 0);
        digits = (0 - digits) & mask;
    }
    if ((high | digits) == 0) {
        return 0;
    }
    /* The upper 64 bits; the last one also records whether lower ones are set. */
    int dropped = 0;
    uint64_t m = high << 40 | digits;
    if (high >> 24) {
        const int room = __builtin_clzll(high);
        dropped = 40 - room;
        m = high << room | digits >> dropped;
        m |= (digits & ((UINT64_C(1) << dropped) - 1)) != 0;
    }
    return round_to(to, m, code - p + dropped) | (negative ? sign : 0);
}

#define DEFINE_JOIN(name, cell, p_bits, two, fraction_bits, least_power, infinity_bits)            \
    static void join_##name(const cpu_ranks_part *p)                                               \
    {                                                                                              \
        const format to = {fraction_bits, least_power, infinity_bits};                             \
        const int64_t *rest = p->limbs + ((two) ? p->limb_stride : 0);                             \
        cell *z = p->z;                                                                            \
        const int64_t n = p->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            z[i] = (cell)join_bits(to, 8 * (int)sizeof(cell) - 1, p_bits, p->exponents[i],         \
                                   p->limbs[i], (two) ? rest[i] : 0);                              \
        }                                                                                          \
    }

DEFINE_JOIN(f16, uint16_t, ISO_RANKS_BITS, 0, 10, -24, 0x7c00)
DEFINE_JOIN(bf16, uint16_t, ISO_RANKS_BITS, 0, 7, -133, 0x7f80)
DEFINE_JOIN(f32, uint32_t, ISO_RANKS_BITS, 0, 23, -149, 0x7f800000)
DEFINE_JOIN(f64, uint64_t, ISO_RANKS_WIDE_BITS, 1, 52, -1074, 0x7ff0000000000000)

#define FLOATS(name)                                                                               \
    [ISO_F16] = name##_f16, [ISO_BF16] = name##_bf16, [ISO_F32] = name##_f32, [ISO_F64] = name##_f64

const cpu_ranks_fixed_kernels CPU_TABLE(cpu_ranks_fixed_kernels) = {
    .exponents = {FLOATS(exponents)},
    .limbs = {FLOATS(limbs)},
    .join = {FLOATS(join)},
};
