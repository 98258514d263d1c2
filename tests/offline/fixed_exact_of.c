/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_exact_of.c - the kernels of the fixed product as C, for one type and one number of moduli
 * (ISO_DTYPE, ISO_MODULI, ISO_WIDE): their constants, their whole numbers, their residues, and
 * the sums that they find, up to the greatest that they may have. NAME is the function's name.
 */
#include "backends/simt/fixed_moduli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ISO_F16  1
#define ISO_BF16 2
#define ISO_F32  3
#define ISO_F64  4

typedef int32_t iso_i32;
typedef uint32_t iso_u32;
typedef int64_t iso_i64;
typedef uint64_t iso_u64;
typedef uint8_t iso_u8;
typedef uint16_t iso_u16;
#if ISO_DTYPE == ISO_F64
typedef double elem, acc;
#define iso_load(p, i)     ((p)[i])
#define iso_store(p, i, v) ((p)[i] = (v))
#else
typedef float elem, acc;
#define iso_load(p, i)     ((p)[i])
#define iso_store(p, i, v) ((p)[i] = (v))
#endif
/* Only what is before the store is tested. */
#define iso_finish(c, at, total, alpha, beta) iso_store(c, at, (alpha) * (total) + (beta))

/* A device with one work-item. */
#define ISO_KERNEL(threads)            static inline void
#define ISO_KERNEL_OF(threads, groups) ISO_KERNEL(threads)
#define ISO_GLOBAL
#define ISO_SHARED static
#define ISO_SHARED_AT
#define ISO_CONSTANT static const
#define ISO_INLINE   static inline
#define ISO_UNROLL
#define ISO_THREADS       1
#define ISO_SIDE          4
#define ISO_TM            2
#define ISO_LOCAL_ID()    0
#define ISO_GROUP_ID()    ((iso_i64)0)
#define ISO_GROUP_COUNT() ((iso_i64)1)
#define ISO_BARRIER()     ((void)0)
#define iso_clz32(u)      ((iso_u32)__builtin_clz(u))
#define iso_max32(p, u)   (*(p) = *(p) < (u) ? (u) : *(p))
#define iso_dot4(a, b, s) ((s) + 0 * (iso_i32)((a) + (b)))
#define iso_round_i32(f)  ((iso_i32)rintf(f))
#define iso_pack4(a, b, c, d)                                                                      \
    (((a) & 0xffu) | ((b) & 0xffu) << 8 | ((c) & 0xffu) << 16 | (iso_u32)(d) << 24)

static inline float iso_as_f32(iso_u32 bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline double iso_as_f64(iso_u64 bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline float iso_bf16_to_f32(iso_u16 bits)
{
    return iso_as_f32((iso_u32)bits << 16);
}
static inline float iso_f16_to_f32(iso_u16 bits)
{
    const int field = bits >> 10 & 31, fraction = bits & 1023;
    const float size =
        field ? ldexpf((float)(fraction + 1024), field - 25) : ldexpf((float)fraction, -24);
    return bits & 0x8000 ? -size : size;
}

#include "kernels/fixed_moduli.cl"
#include "kernels/gemm_fixed.cl"

#include "kernels/fixed_weights.h"

#include "kernels/fixed_join.cl"

/* ---- long numbers ---------------------------------------------------------------------------- */

typedef struct number {
    iso_u32 word[LIMBS + 1];
} number;

static number times(number n, iso_u32 factor, iso_u32 add)
{
    iso_u64 carry = add;
    for (int i = 0; i <= LIMBS; i++) {
        carry += (iso_u64)n.word[i] * factor;
        n.word[i] = (iso_u32)carry;
        carry >>= 32;
    }
    return n;
}

static iso_u32 rest(const number *n, iso_u32 m)
{
    iso_u64 r = 0;
    for (int i = LIMBS; i >= 0; i--) {
        r = (r << 32 | n->word[i]) % m;
    }
    return (iso_u32)r;
}

static number half(number n)
{
    for (int i = 0; i < LIMBS; i++) {
        n.word[i] = n.word[i] >> 1 | n.word[i + 1] << 31;
    }
    n.word[LIMBS] >>= 1;
    return n;
}

static number minus(number a, const number *b)
{
    iso_u64 borrow = 0;
    for (int i = 0; i <= LIMBS; i++) {
        const iso_u64 d = (iso_u64)a.word[i] - b->word[i] - borrow;
        a.word[i] = (iso_u32)d;
        borrow = d >> 63;
    }
    return a;
}

static int less_than(const number *a, const number *b)
{
    for (int i = LIMBS; i >= 0; i--) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i];
        }
    }
    return 0;
}

static number product_of_moduli(void)
{
    number n = {{1}};
    for (int c = 0; c < ISO_MODULI; c++) {
        n = times(n, (iso_u32)modulus(c), 0);
    }
    return n;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int failed(const char *what, long long at)
{
    fprintf(stderr, "type %d, %d moduli: %s, at %lld\n", ISO_DTYPE, ISO_MODULI, what, at);
    return 1;
}

static uint64_t next(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int constants(const number *all)
{
    const number zero = {{0}};
    number lowest = minus(zero, all);
    lowest.word[LIMBS] = 0;
    if (memcmp(lowest.word, less, sizeof less) != 0) {
        return failed("less is wrong", 0);
    }
    for (int c = 0; c < ISO_MODULI; c++) {
        number one = {{0}};
        memcpy(one.word, &weight[c * LIMBS], sizeof *weight * LIMBS);
        const iso_u32 m = (iso_u32)modulus(c);
        const number back = times(one, m, 0);
        if (memcmp(&back, all, sizeof back) != 0) {
            return failed("a weight is wrong", c);
        }
        if (rest(&one, m) * inverse[c] % m != 1) {
            return failed("an inverse is wrong", c);
        }
    }
    return 0;
}

/* The greatest magnitude that fixed_join.cl allows: M / 2 - M / 2^21. */
static number greatest(const number *all)
{
    number part = *all;
    for (int i = 0; i < 21; i++) {
        part = half(part);
    }
    return minus(half(*all), &part);
}

/* Every number of terms that is planned for so many moduli stays below it. */
static int reaches(const number *most)
{
    const fixed_moduli *row = &fixed_moduli_of[ISO_DTYPE];
    number n = {{0}};
    const uint64_t k = (uint64_t)row->reach[ISO_MODULI - row->least];
    n.word[0] = (iso_u32)k;
    n.word[1] = (iso_u32)(k >> 32);
    for (int factor = 0; factor < 2; factor++) { /* times 2^p - 1 */
        const number one = n;
        for (int i = 0; i < DIGITS; i++) {
            n = times(n, 2, 0);
        }
        n = minus(n, &one);
    }
    return less_than(&n, most) ? 0 : failed("too many terms are allowed", (long long)k);
}

/* Finds a sum again from its residues; `turn` chooses which of the numbers of a residue stand for
 * it where sums have 32 bits. */
static int sum_is_found(const number *size, int negative, int turn)
{
    sum_type sums[ISO_MODULI];
    iso_i32 residue[ISO_MODULI];
    iso_u32 limb[LIMBS];
    const number zero = {{0}};
    const number wanted = negative ? minus(zero, size) : *size;
    for (int c = 0; c < ISO_MODULI; c++) {
        const iso_i32 m = modulus(c);
        const iso_i32 r = (iso_i32)rest(size, (iso_u32)m);
        const iso_i32 residue = negative && r ? m - r : r;
#if defined(ISO_WIDE)
        const iso_i32 steps[] = {0, (INT32_MAX - residue) / m, -((residue - (INT32_MIN + m)) / m),
                                 -1, (iso_i32)(next() >> 42) - (1 << 21)};
        sums[c] = residue + steps[(turn + c * (turn % 3)) % 5] * (int64_t)m;
#else
        (void)turn;
        sums[c] = (sum_type)residue;
#endif
    }
    load_sums(residue, sums, 0, 1, 0);
    exact_sum(limb, residue);
    return memcmp(limb, wanted.word, sizeof limb) == 0 ? 0 : failed("a sum is wrong", turn);
}

static int sums(const number *most)
{
    int bad = 0;
    for (int i = 0; i < 3000 && !bad; i++) {
        const number small = {{(iso_u32)i}};
        const number large = minus(*most, &small);
        bad |= sum_is_found(&small, i & 1, i) | sum_is_found(&large, i & 1, i / 2);
    }
    for (int i = 0; i < 60000 && !bad; i++) {
        number any = {{0}};
        for (int w = 0; w <= LIMBS; w++) {
            any.word[w] = i % 7 == 0 ? 0xffffffffu : (iso_u32)(next() >> 17);
        }
        for (int cuts = (int)(next() % (32 * LIMBS)); cuts > 0 || !less_than(&any, most); cuts--) {
            any = half(any);
        }
        bad |= sum_is_found(&any, i & 1, i);
    }
    return bad;
}

static int residue_fits(whole q)
{
    const pieces p = pieces_of(q);
    for (int c = 0; c < ISO_MODULI; c++) {
        const iso_i64 r = (int8_t)(residue_of(&p, modulus(c)) & 0xffu);
        if (((iso_i64)q - r) % modulus(c) != 0) {
            return failed("a residue is wrong", (long long)q);
        }
    }
    return 0;
}

static int residues(void)
{
    const whole top = (whole)(((iso_i64)1 << DIGITS) - 1);
    int bad = 0;
    for (int i = 0; i < 100000 && !bad; i++) {
        const whole any = (whole)((iso_i64)(next() >> (64 - DIGITS)) >> (i % DIGITS));
        const whole near = i < 50000 ? (whole)i : (whole)(top - (i - 50000));
        bad |= residue_fits(any) | residue_fits((whole)-any);
        if (near <= top) {
            bad |= residue_fits(near) | residue_fits((whole)-near);
        }
    }
    return bad;
}

/* Every number that residue_of and modulo may divide. */
static int divisions(void)
{
    enum { MOST = 1 << 25 };
    for (int c = 1; c < ISO_MODULI; c++) {
        const iso_i32 m = modulus(c);
        int outside = 0;
        for (iso_i32 x = -MOST; x < MOST; x++) {
            const iso_i32 r = modulo(x, m);
            outside |= r < 0 || r > m;
        }
        if (outside) {
            return failed("a division is wrong by more than one", m);
        }
    }
    return 0;
}

static double value(word bits)
{
#if ISO_DTYPE == ISO_F64
    return iso_as_f64(bits);
#else
    return (double)value_of(bits);
#endif
}

/* Whole numbers by the host's arithmetic: of a number, with its own key or a larger one. */
static int whole_numbers(void)
{
    const word infinity = (word)(2 * BIAS + 1) << FRACTION;
    for (int i = 0; i < 400000; i++) {
        word bits = (word)next() & MAGNITUDE;
        if (i % 5 == 0) {
            bits = bits >> next() % (FRACTION + 2); /* subnormal, or small */
        }
        if (i % 3 == 0) {
            bits &= ~(((word)1 << next() % (FRACTION + 1)) - 1); /* a tie, sometimes */
        }
        if (bits >= infinity) {
            continue;
        }
        const iso_u32 key = key_of(bits) + (bits && i % 4 ? (iso_u32)(next() % (DIGITS + 4)) : 0);
        if (key >= EXPONENT_BIAS + BIAS + 2) {
            continue;
        }
        const int e = (int)key - EXPONENT_BIAS;
        const long double scaled = key ? rintl(ldexpl((long double)value(bits), DIGITS - e)) : 0.0L;
        if ((long double)whole_of(bits, key) != scaled ||
            whole_of(bits | (MAGNITUDE + 1), key) != -whole_of(bits, key)) {
            return failed("a whole number is wrong", (long long)bits);
        }
    }
    return whole_of(infinity, EXPONENT_BAD) == 0 && whole_of(infinity + 1, EXPONENT_BAD) == 0
               ? 0
               : failed("an infinity gives a whole number", 0);
}

int NAME(void);
int NAME(void)
{
    const number all = product_of_moduli();
    const number most = greatest(&all);
    return constants(&all) || reaches(&most) || sums(&most) || residues() || whole_numbers() ||
           (ISO_MODULI == 18 && divisions());
}
