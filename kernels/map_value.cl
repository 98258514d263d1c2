/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_value.cl - what maps compute of their elements: docs/bits.md, 6. Constants are written as
 * their bits, because not every compiler reads hexadecimal numbers.
 */
#define ISO_I8  7
#define INTEGER (ISO_DTYPE == ISO_I32 || ISO_DTYPE == ISO_I64)
#define COPIES  (ISO_DTYPE > ISO_I64) /* a type that has copies only */

enum {
    SCALE,
    ADD,
    MULTIPLY,
    TRIAD,
    CHAIN,
    SUBTRACT,
    DIVIDE,
    LEAST,
    MOST,
    MAGNITUDE,
    OPPOSITE,
    AXPBY,
    FMA_OF,
    RELU,
    EXP,
    TANH
};
#define READS_Y(op)                                                                                \
    ((op) == ADD || (op) == MULTIPLY || (op) == TRIAD || (op) == SUBTRACT || (op) == DIVIDE ||     \
     (op) == LEAST || (op) == MOST || (op) == AXPBY || (op) == FMA_OF)
#define READS_W(op) ((op) == FMA_OF)

#if COPIES

#elif INTEGER

/* `op` is a constant in every call, so code for other operations is removed. */
ISO_INLINE acc value_of(int op, acc x, acc y, acc w, acc alpha, acc beta)
{
    switch (op) {
    case ADD:
        return x + y;
    case SUBTRACT:
        return x - y;
    case LEAST:
        return (elem)x < (elem)y ? x : y;
    case MOST:
        return (elem)x < (elem)y ? y : x;
    case MAGNITUDE:
        return (elem)x < 0 ? (acc)0 - x : x;
    case OPPOSITE:
        return (acc)0 - x;
    default:
        return x * y;
    }
}

#else

#if ISO_DTYPE == ISO_F64
#define VALUE(bits)  iso_as_f64(bits)
#define BITS_OF(v)   iso_as_u64(v)
#define DIGITS       52
#define BIAS         1023
#define divide(a, b) ((a) / (b))
typedef iso_u64 value_bits;
typedef iso_i64 value_whole;
#define EXP_LEAST    VALUE(0xc087500000000000u)
#define EXP_MOST     VALUE(0x4086300000000000u)
#define EXP_LOG2     VALUE(0x3ff71547652b82feu)
#define EXP_HIGH     VALUE(0xbfe62e42ff000000u)
#define EXP_LOW      VALUE(0x3dc718432a1b0e26u)
#define WHOLE        VALUE(0x4338000000000000u)
#define TANH_TOP     VALUE(0x4034000000000000u)
#define TANH_SMALL   VALUE(0x3fe9800000000000u)

ISO_INLINE acc exp_terms(acc x)
{
    acc p = VALUE(0x3e5ad8dcc540e8c5u);
    p = acc_fma(p, x, VALUE(0x3e928ae4e475fcb6u));
    p = acc_fma(p, x, VALUE(0x3ec71df1ce6681ccu));
    p = acc_fma(p, x, VALUE(0x3efa01999128ca8fu));
    p = acc_fma(p, x, VALUE(0x3f2a01a012dd5481u));
    p = acc_fma(p, x, VALUE(0x3f56c16c1848d831u));
    p = acc_fma(p, x, VALUE(0x3f81111111127257u));
    p = acc_fma(p, x, VALUE(0x3fa555555555067bu));
    p = acc_fma(p, x, VALUE(0x3fc55555555554fcu));
    p = acc_fma(p, x, VALUE(0x3fe000000000000au));
    p = acc_fma(p, x, VALUE(0x3ff0000000000000u));
    p = acc_fma(p, x, VALUE(0x3ff0000000000000u));
    return p;
}

ISO_INLINE acc tanh_terms(acc x)
{
    acc p = VALUE(0xbeb4b255bb40a6b8u);
    p = acc_fma(p, x, VALUE(0x3ee1eddcbe92c3bau));
    p = acc_fma(p, x, VALUE(0xbf00cea74cae4905u));
    p = acc_fma(p, x, VALUE(0x3f181a286f37866eu));
    p = acc_fma(p, x, VALUE(0xbf2f060431548887u));
    p = acc_fma(p, x, VALUE(0x3f434e544b7fd73cu));
    p = acc_fma(p, x, VALUE(0xbf57d95086fb842du));
    p = acc_fma(p, x, VALUE(0x3f6d6d28eddffa7au));
    p = acc_fma(p, x, VALUE(0xbf8226e2bc83a303u));
    p = acc_fma(p, x, VALUE(0x3f9664f482468f7du));
    p = acc_fma(p, x, VALUE(0xbfaba1ba1b7f5d9eu));
    p = acc_fma(p, x, VALUE(0x3fc111111110de75u));
    p = acc_fma(p, x, VALUE(0xbfd5555555555521u));
    return p;
}

#else
#define VALUE(bits) iso_as_f32(bits)
#define BITS_OF(v)  iso_as_u32(v)
#define DIGITS      23
#define BIAS        127
typedef iso_u32 value_bits;
typedef iso_i32 value_whole;
#define EXP_LEAST   VALUE(0xc2d00000u)
#define EXP_MOST    VALUE(0x42b20000u)
#define EXP_LOG2    VALUE(0x3fb8aa3bu)
#define EXP_HIGH    VALUE(0xbf317200u)
#define EXP_LOW     VALUE(0xb5bfbe8eu)
#define WHOLE       VALUE(0x4b400000u)
#define TANH_TOP    VALUE(0x41200000u)
#define TANH_SMALL  VALUE(0x3f4c0000u)

ISO_INLINE acc exp_terms(acc x)
{
    acc p = VALUE(0x3ab52f1au);
    p = acc_fma(p, x, VALUE(0x3c091d68u));
    p = acc_fma(p, x, VALUE(0x3d2aac51u));
    p = acc_fma(p, x, VALUE(0x3e2aaa48u));
    p = acc_fma(p, x, VALUE(0x3efffffeu));
    p = acc_fma(p, x, VALUE(0x3f800000u));
    p = acc_fma(p, x, VALUE(0x3f800000u));
    return p;
}

ISO_INLINE acc tanh_terms(acc x)
{
    acc p = VALUE(0x3ad00338u);
    p = acc_fma(p, x, VALUE(0xbbf2f232u));
    p = acc_fma(p, x, VALUE(0x3cae8afau));
    p = acc_fma(p, x, VALUE(0xbd5c9596u));
    p = acc_fma(p, x, VALUE(0x3e0885acu));
    p = acc_fma(p, x, VALUE(0xbeaaaa9fu));
    return p;
}

/* OpenCL's compilers may divide f32 with errors of a few units. Most devices round correctly if the
 * compiler is asked to, and then ISO_ROUNDS_ is defined; on the others integers divide. */
#if (defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)) && !defined(ISO_ROUNDS_)
ISO_INLINE float divide(float x, float y)
{
    const iso_u32 infinity = 0x7f800000u, one = 0x800000u;
    iso_u32 a = iso_as_u32(x), b = iso_as_u32(y), rest, middle, kept;
    const iso_u32 sign = (a ^ b) & 0x80000000u;
    iso_u64 top;
    int exponent, drop;
    a &= 0x7fffffffu;
    b &= 0x7fffffffu;
    if (a > infinity || b > infinity || (a == b && (a == 0 || a == infinity))) {
        return iso_as_f32(0x7fc00000u);
    }
    if (a == infinity || b == 0) {
        return iso_as_f32(sign | infinity);
    }
    if (a == 0 || b == infinity) {
        return iso_as_f32(sign);
    }
    exponent = BIAS;
    if (a < one) {
        drop = (int)iso_clz32(a) - 8;
        exponent += 1 - drop;
        a <<= drop;
    } else {
        exponent += (int)(a >> DIGITS);
        a = (a & (one - 1)) | one;
    }
    if (b < one) {
        drop = (int)iso_clz32(b) - 8;
        exponent -= 1 - drop;
        b <<= drop;
    } else {
        exponent -= (int)(b >> DIGITS);
        b = (b & (one - 1)) | one;
    }
    if (a < b) {
        a <<= 1;
        exponent--;
    }
    top = (iso_u64)a << 25; /* two bits more than a result has, and one for what is left */
    kept = (iso_u32)(top / b);
    kept |= (iso_u64)kept * b != top;
    if (exponent >= 255) {
        return iso_as_f32(sign | infinity);
    }
    drop = exponent >= 1 ? 2 : 3 - exponent;
    if (drop > 27) {
        return iso_as_f32(sign);
    }
    rest = kept & ((1u << drop) - 1u);
    middle = 1u << (drop - 1);
    kept >>= drop;
    kept += rest > middle || (rest == middle && (kept & 1u)) ? 1u : 0u;
    return iso_as_f32(sign | (kept + (exponent >= 1 ? (iso_u32)(exponent - 1) << DIGITS : 0u)));
}
#else
#define divide(a, b) ((a) / (b))
#endif
#endif

#define SIGN_BIT ((value_bits)1 << (sizeof(value_bits) * 8 - 1))

/* -0 is less than +0. A sum with a NaN is a NaN. */
ISO_INLINE acc least_of(acc x, acc y)
{
    return x < y ? x : y < x ? y : x == y ? VALUE(BITS_OF(x) | BITS_OF(y)) : x + y;
}

ISO_INLINE acc most_of(acc x, acc y)
{
    return x > y ? x : y > x ? y : x == y ? VALUE(BITS_OF(x) & BITS_OF(y)) : x + y;
}

/* 2^k is multiplied in two parts, because it may be neither a normal number nor finite. */
ISO_INLINE acc exp_of(acc given)
{
    const acc below = given > EXP_MOST ? EXP_MOST : given;
    const acc x = below < EXP_LEAST ? EXP_LEAST : below;
    const acc t = acc_fma(x, EXP_LOG2, WHOLE), k = t - WHOLE;
    const acc first = acc_fma(k, EXP_HIGH, x), r = acc_fma(k, EXP_LOW, first);
    const value_whole power = (value_whole)(BITS_OF(t) - BITS_OF(WHOLE)), middle = power >> 1;
    const acc part = exp_terms(r) * VALUE((value_bits)(middle + BIAS) << DIGITS);
    return part * VALUE((value_bits)(power - middle + BIAS) << DIGITS);
}

ISO_INLINE acc tanh_of(acc given)
{
    const acc all = VALUE(BITS_OF(given) & ~SIGN_BIT), a = all > TANH_TOP ? TANH_TOP : all;
    const acc s = a * a, part = a * s, low = acc_fma(part, tanh_terms(s), a);
    const acc d = exp_of(a + a) + (acc)1, share = divide((acc)2, d), high = (acc)1 - share;
    const acc size = a < TANH_SMALL ? low : high;
    return VALUE(BITS_OF(size) | (BITS_OF(given) & SIGN_BIT));
}

/* `op` is a constant in every call, so code for other operations is removed. */
ISO_INLINE acc value_of(int op, acc x, acc y, acc w, acc alpha, acc beta)
{
    acc part;
    switch (op) {
    case SCALE:
        return alpha * x;
    case ADD:
        return x + y;
    case MULTIPLY:
        return x * y;
    case TRIAD:
        return acc_fma(alpha, y, x);
    case SUBTRACT:
        return x - y;
    case DIVIDE:
        return divide(x, y);
    case LEAST:
        return least_of(x, y);
    case MOST:
        return most_of(x, y);
    case MAGNITUDE:
        return VALUE(BITS_OF(x) & ~SIGN_BIT);
    case OPPOSITE:
        return VALUE(BITS_OF(x) ^ SIGN_BIT);
    case AXPBY:
        part = beta * y;
        return acc_fma(alpha, x, part);
    case FMA_OF:
        return acc_fma(x, y, w);
    case RELU:
        return x > (acc)0 || x != x ? x : (acc)0;
    case EXP:
        return exp_of(x);
    default:
        return tanh_of(x);
    }
}

#endif
