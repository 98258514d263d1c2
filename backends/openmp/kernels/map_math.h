/* SPDX-License-Identifier: Apache-2.0 */
/* map_math.h - what maps compute of their elements (docs/bits.md, 6), for one type of value: a
 * vector or a number. Included once for each, with these defined: MATH (a prefix of names), VALUE,
 * BITS and SIGNED (the type, and unsigned and signed integers of its size), MASK (of a comparison:
 * all bits or none) and, for floating point, TO_BITS and OF_BITS (the bits of a value), SET (a
 * constant), FMA and MATH_64 (1 for f64). */

#define F(name) CPU_JOIN(MATH, name)

#if defined(FMA)

#define PICK(mask, a, b) OF_BITS((TO_BITS(a) & (mask)) | (TO_BITS(b) & ~(mask)))
#if MATH_64
#define DIGITS       52
#define SIGN         (UINT64_C(1) << 63)
#define BIAS         UINT64_C(1023)
#define EXP_LEAST    -746.0
#define EXP_MOST     710.0
#define EXP_LOG2     0x1.71547652b82fep0
#define EXP_LN2_HIGH 0x1.62e42ffp-1
#define EXP_LN2_LOW  -0x1.718432a1b0e26p-35
#define WHOLE        0x1.8p52
#define TANH_MOST    20.0
#define TANH_SMALL   0.796875
#define NUMBER       double
#define EXP_TERMS                                                                                  \
    0x1.ad8dcc540e8c5p-26, 0x1.28ae4e475fcb6p-22, 0x1.71df1ce6681ccp-19, 0x1.a01999128ca8fp-16,    \
        0x1.a01a012dd5481p-13, 0x1.6c16c1848d831p-10, 0x1.1111111127257p-7, 0x1.555555555067bp-5,  \
        0x1.55555555554fcp-3, 0x1.000000000000ap-1, 1.0, 1.0
#define TANH_TERMS                                                                                 \
    -0x1.4b255bb40a6b8p-20, 0x1.1eddcbe92c3bap-17, -0x1.0cea74cae4905p-15, 0x1.81a286f37866ep-14,  \
        -0x1.f060431548887p-13, 0x1.34e544b7fd73cp-11, -0x1.7d95086fb842dp-10,                     \
        0x1.d6d28eddffa7ap-9, -0x1.226e2bc83a303p-7, 0x1.664f482468f7dp-6, -0x1.ba1ba1b7f5d9ep-5,  \
        0x1.111111110de75p-3, -0x1.5555555555521p-2
#else
#define DIGITS       23
#define SIGN         0x80000000u
#define BIAS         127u
#define EXP_LEAST    -104.0f
#define EXP_MOST     89.0f
#define EXP_LOG2     0x1.715476p0f
#define EXP_LN2_HIGH 0x1.62e4p-1f
#define EXP_LN2_LOW  0x1.7f7d1cp-20f
#define WHOLE        0x1.8p23f
#define TANH_MOST    10.0f
#define TANH_SMALL   0.796875f
#define NUMBER       float
#define EXP_TERMS                                                                                  \
    0x1.6a5e34p-10f, 0x1.123adp-7f, 0x1.5558a2p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f
#define TANH_TERMS                                                                                 \
    0x1.a0067p-10f, -0x1.e5e464p-8f, 0x1.5d15f4p-6f, -0x1.b92b2cp-5f, 0x1.110b58p-3f,              \
        -0x1.55553ep-2f
#endif

/* -0 is less than +0: of equal numbers the bits are the same but for zeros. */
SIMD_INLINE VALUE F(least)(VALUE x, VALUE y)
{
    const BITS less = MASK(x < y), same = MASK(x == y), ordered = MASK(x == x) & MASK(y == y);
    const VALUE sum = x + y, value = PICK(less, x, y);
    const VALUE least = OF_BITS(TO_BITS(value) | (TO_BITS(x) & same));
    return PICK(ordered, least, sum);
}

SIMD_INLINE VALUE F(most)(VALUE x, VALUE y)
{
    const BITS more = MASK(x > y), same = MASK(x == y), ordered = MASK(x == x) & MASK(y == y);
    const VALUE sum = x + y, value = PICK(more, x, y);
    const VALUE most = OF_BITS(TO_BITS(value) & (TO_BITS(x) | ~same));
    return PICK(ordered, most, sum);
}

SIMD_INLINE VALUE F(magnitude)(VALUE x)
{
    return OF_BITS(TO_BITS(x) & ~SIGN);
}

SIMD_INLINE VALUE F(opposite)(VALUE x)
{
    return OF_BITS(TO_BITS(x) ^ SIGN);
}

SIMD_INLINE VALUE F(relu)(VALUE x)
{
    return OF_BITS(TO_BITS(x) & (MASK(x > 0) | MASK(x != x)));
}

SIMD_INLINE VALUE F(polynomial)(const NUMBER *terms, int count, VALUE x)
{
    VALUE p = SET(terms[0]);
    SIMD_UNROLL
    for (int i = 1; i < count; i++) {
        p = FMA(p, x, SET(terms[i]));
    }
    return p;
}

/* 2^k is multiplied in two parts, because it may be neither a normal number nor finite. */
SIMD_INLINE VALUE F(exp)(VALUE given)
{
    static const NUMBER terms[] = {EXP_TERMS};
    const VALUE low = SET(EXP_LEAST), high = SET(EXP_MOST), whole = SET(WHOLE);
    const VALUE below = PICK(MASK(given > high), high, given);
    const VALUE x = PICK(MASK(below < low), low, below);
    const VALUE t = FMA(x, SET(EXP_LOG2), whole), k = t - whole;
    const VALUE r = FMA(k, SET(-EXP_LN2_LOW), FMA(k, SET(-EXP_LN2_HIGH), x));
    const VALUE p = F(polynomial)(terms, (int)(sizeof terms / sizeof *terms), r);
    const BITS power = TO_BITS(t) - TO_BITS(whole), half = (BITS)((SIGNED)power >> 1);
    const BITS first = (half + BIAS) << DIGITS, second = (power - half + BIAS) << DIGITS;
    return p * OF_BITS(first) * OF_BITS(second);
}

SIMD_INLINE VALUE F(tanh)(VALUE given)
{
    static const NUMBER terms[] = {TANH_TERMS};
    const VALUE all = F(magnitude)(given), top = SET(TANH_MOST), one = SET(1);
    const VALUE a = PICK(MASK(all > top), top, all), s = a * a;
    const VALUE q = F(polynomial)(terms, (int)(sizeof terms / sizeof *terms), s);
    const VALUE small = FMA(a * s, q, a), d = F(exp)(a + a) + one;
    const VALUE large = one - SET(2) / d;
    const VALUE size = PICK(MASK(a < SET(TANH_SMALL)), small, large);
    return OF_BITS(TO_BITS(size) | (TO_BITS(given) & SIGN));
}

SIMD_INLINE VALUE F(apply)(enum what what, VALUE x, VALUE y, VALUE w, VALUE alpha, VALUE beta)
{
    switch (what) {
    case SCALE:
        return alpha * x;
    case ADD:
        return x + y;
    case MULTIPLY:
        return x * y;
    case TRIAD:
        return FMA(alpha, y, x);
    case SUBTRACT:
        return x - y;
    case DIVIDE:
        return x / y;
    case LEAST:
        return F(least)(x, y);
    case MOST:
        return F(most)(x, y);
    case MAGNITUDE:
        return F(magnitude)(x);
    case OPPOSITE:
        return F(opposite)(x);
    case AXPBY:
        return FMA(alpha, x, beta * y);
    case FMA_OF:
        return FMA(x, y, w);
    case RELU:
        return F(relu)(x);
    case EXP:
        return F(exp)(x);
    default:
        return F(tanh)(x);
    }
}

#undef PICK
#undef DIGITS
#undef SIGN
#undef BIAS
#undef EXP_LEAST
#undef EXP_MOST
#undef EXP_LOG2
#undef EXP_LN2_HIGH
#undef EXP_LN2_LOW
#undef WHOLE
#undef TANH_MOST
#undef TANH_SMALL
#undef NUMBER
#undef EXP_TERMS
#undef TANH_TERMS
#undef TO_BITS
#undef OF_BITS
#undef SET
#undef FMA
#undef MATH_64

#else

/* Integers wrap, so they are unsigned. */
SIMD_INLINE VALUE F(apply)(enum what what, VALUE x, VALUE y, VALUE w, VALUE alpha, VALUE beta)
{
    const BITS less = MASK((SIGNED)x < (SIGNED)y), negative = MASK((SIGNED)x < 0);
    (void)w;
    (void)alpha;
    (void)beta;
    switch (what) {
    case ADD:
        return x + y;
    case SUBTRACT:
        return x - y;
    case LEAST:
        return (x & less) | (y & ~less);
    case MOST:
        return (y & less) | (x & ~less);
    case MAGNITUDE:
        return (x ^ negative) - negative;
    case OPPOSITE:
        return -x;
    default:
        return x * y;
    }
}

#endif

#undef F
#undef MATH
#undef VALUE
#undef BITS
#undef SIGNED
#undef MASK
