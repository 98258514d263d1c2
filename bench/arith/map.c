/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - a plain model of maps, exactly as docs/bits.md defines them. */
#include "bench/arith/arith.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024 };

bool arith_map_has_y(iso_map_op op)
{
    switch (op) {
    case ISO_MAP_ADD:
    case ISO_MAP_MULTIPLY:
    case ISO_MAP_TRIAD:
    case ISO_MAP_SUBTRACT:
    case ISO_MAP_DIVIDE:
    case ISO_MAP_MIN:
    case ISO_MAP_MAX:
    case ISO_MAP_AXPBY:
    case ISO_MAP_FMA:
        return true;
    default:
        return false;
    }
}

bool arith_map_has_alpha(iso_map_op op)
{
    return op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN || op == ISO_MAP_AXPBY;
}

bool arith_map_has(iso_map_op op, iso_dtype dtype)
{
    if (dtype == ISO_C64 || dtype == ISO_C128) {
        return op == ISO_MAP_COPY;
    }
    if (dtype == ISO_I8) {
        return op == ISO_MAP_COPY || op == ISO_MAP_CONVERT;
    }
    return arith_is_float(dtype) ||
           (!arith_map_has_alpha(op) && op != ISO_MAP_DIVIDE && op <= ISO_MAP_NEGATE) ||
           op == ISO_MAP_CONVERT;
}

/* ---- clauses 6.8 and 6.9 --------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

INLINE float exp_float(float x)
{
    static const float terms[] = {
        0x1.6a5e34p-10f, 0x1.123adp-7f, 0x1.5558a2p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f};
    if (x != x) {
        return x;
    }
    x = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
    float k = (float)rint((double)x * (double)0x1.715476p0f); /* the product is exact */
    float r = __builtin_fmaf(k, -0x1.62e4p-1f, x), p = terms[0];
    r = __builtin_fmaf(k, -0x1.7f7d1cp-20f, r);
    for (int i = 1; i < 7; i++) {
        p = __builtin_fmaf(p, r, terms[i]);
    }
    return ldexpf(p, (int)k);
}

INLINE double exp_double(double x)
{
    static const double terms[] = {0x1.ad8dcc540e8c5p-26,
                                   0x1.28ae4e475fcb6p-22,
                                   0x1.71df1ce6681ccp-19,
                                   0x1.a01999128ca8fp-16,
                                   0x1.a01a012dd5481p-13,
                                   0x1.6c16c1848d831p-10,
                                   0x1.1111111127257p-7,
                                   0x1.555555555067bp-5,
                                   0x1.55555555554fcp-3,
                                   0x1.000000000000ap-1,
                                   1.0,
                                   1.0};
    if (x != x) {
        return x;
    }
    x = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;
    double k = __builtin_fma(x, 0x1.71547652b82fep0, 0x1.8p52) - 0x1.8p52, p = terms[0];
    double r = __builtin_fma(k, -0x1.62e42ffp-1, x);
    r = __builtin_fma(k, 0x1.718432a1b0e26p-35, r);
    for (int i = 1; i < 12; i++) {
        p = __builtin_fma(p, r, terms[i]);
    }
    return ldexp(p, (int)k);
}

INLINE float tanh_float(float x)
{
    static const float terms[] = {0x1.a0067p-10f,  -0x1.e5e464p-8f, 0x1.5d15f4p-6f,
                                  -0x1.b92b2cp-5f, 0x1.110b58p-3f,  -0x1.55553ep-2f};
    float a = fabsf(x), q = terms[0], s;
    if (x != x) {
        return x;
    }
    a = a > 10.0f ? 10.0f : a;
    s = a * a;
    for (int i = 1; i < 6; i++) {
        q = __builtin_fmaf(q, s, terms[i]);
    }
    return copysignf(
        a < 0.796875f ? __builtin_fmaf(a * s, q, a) : 1.0f - 2.0f / (exp_float(a + a) + 1.0f), x);
}

INLINE double tanh_double(double x)
{
    static const double terms[] = {
        -0x1.4b255bb40a6b8p-20, 0x1.1eddcbe92c3bap-17,  -0x1.0cea74cae4905p-15,
        0x1.81a286f37866ep-14,  -0x1.f060431548887p-13, 0x1.34e544b7fd73cp-11,
        -0x1.7d95086fb842dp-10, 0x1.d6d28eddffa7ap-9,   -0x1.226e2bc83a303p-7,
        0x1.664f482468f7dp-6,   -0x1.ba1ba1b7f5d9ep-5,  0x1.111111110de75p-3,
        -0x1.5555555555521p-2};
    double a = fabs(x), q = terms[0], s;
    if (x != x) {
        return x;
    }
    a = a > 20.0 ? 20.0 : a;
    s = a * a;
    for (int i = 1; i < 13; i++) {
        q = __builtin_fma(q, s, terms[i]);
    }
    return copysign(
        a < 0.796875 ? __builtin_fma(a * s, q, a) : 1.0 - 2.0 / (exp_double(a + a) + 1.0), x);
}

/* ---- the maps -------------------------------------------------------------------------------- */

/* The lesser, or if `most` the greater one. */
#define DEFINE_LESSER(T)                                                                           \
    INLINE T lesser_##T(T x, T y, bool most)                                                       \
    {                                                                                              \
        if (x != x || y != y) {                                                                    \
            return x + y;                                                                          \
        }                                                                                          \
        if (x == y) {                                                                              \
            return (__builtin_signbit(x) != 0) != most ? x : y;                                    \
        }                                                                                          \
        return (x < y) != most ? x : y;                                                            \
    }

DEFINE_LESSER(float)
DEFINE_LESSER(double)

#define EACH(value)                                                                                \
    for (int64_t i = 0; i < count; i++) {                                                          \
        z[i] = (value);                                                                            \
    }                                                                                              \
    break

#define MAP_BODY(T, FMA)                                                                           \
    INLINE void map_body_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *restrict x,   \
                             const T *restrict y, const T *restrict w, T *restrict z,              \
                             int64_t count)                                                        \
    {                                                                                              \
        switch (op) {                                                                              \
        case ISO_MAP_COPY:                                                                         \
        case ISO_MAP_CONVERT:                                                                      \
            break;                                                                                 \
        case ISO_MAP_SCALE:                                                                        \
            EACH(alpha *x[i]);                                                                     \
        case ISO_MAP_ADD:                                                                          \
            EACH(x[i] + y[i]);                                                                     \
        case ISO_MAP_MULTIPLY:                                                                     \
            EACH(x[i] * y[i]);                                                                     \
        case ISO_MAP_TRIAD:                                                                        \
            EACH(FMA(alpha, y[i], x[i]));                                                          \
        case ISO_MAP_CHAIN:                                                                        \
            memcpy(z, x, (size_t)count * sizeof *z);                                               \
            for (int64_t s = 0; s < steps; s++)                                                    \
                for (int64_t i = 0; i < count; i++)                                                \
                    z[i] = FMA(z[i], alpha, beta);                                                 \
            break;                                                                                 \
        case ISO_MAP_SUBTRACT:                                                                     \
            EACH(x[i] - y[i]);                                                                     \
        case ISO_MAP_DIVIDE:                                                                       \
            EACH(x[i] / y[i]);                                                                     \
        case ISO_MAP_MIN:                                                                          \
            EACH(lesser_##T(x[i], y[i], false));                                                   \
        case ISO_MAP_MAX:                                                                          \
            EACH(lesser_##T(x[i], y[i], true));                                                    \
        case ISO_MAP_ABS:                                                                          \
            EACH(__builtin_signbit(x[i]) ? -x[i] : x[i]);                                          \
        case ISO_MAP_NEGATE:                                                                       \
            EACH(-x[i]);                                                                           \
        case ISO_MAP_AXPBY:                                                                        \
            EACH(FMA(alpha, x[i], beta *y[i]));                                                    \
        case ISO_MAP_FMA:                                                                          \
            EACH(FMA(x[i], y[i], w[i]));                                                           \
        case ISO_MAP_RELU:                                                                         \
            EACH(x[i] > 0 || x[i] != x[i] ? x[i] : 0);                                             \
        case ISO_MAP_EXP:                                                                          \
            EACH(exp_##T(x[i]));                                                                   \
        case ISO_MAP_TANH:                                                                         \
            EACH(tanh_##T(x[i]));                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void map_plain_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x,           \
                              const T *y, const T *w, T *z, int64_t count)                         \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, w, z, count);                                   \
    }                                                                                              \
    ARITH_FAST static void map_fast_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x, \
                                        const T *y, const T *w, T *z, int64_t count)               \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, w, z, count);                                   \
    }

MAP_BODY(float, __builtin_fmaf)
MAP_BODY(double, __builtin_fma)

static void narrow(iso_dtype dtype, const void *element, float *out, int64_t count)
{
    const unsigned char *at = element;
    int64_t size = iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)arith_load(dtype, at + i * size);
    }
}

static void map_halves(const iso_map_args *a, const void *x, const void *y, const void *w, void *z,
                       int64_t count)
{
    float in[CHUNK], other[CHUNK], third[CHUNK], out[CHUNK];
    int64_t size = iso_dtype_size(a->dtype);
    narrow(a->dtype, x, in, count);
    narrow(a->dtype, y, other, count);
    narrow(a->dtype, w, third, count);
    (ARITH_HAVE_FAST() ? map_fast_float : map_plain_float)(a->op, (float)a->alpha, (float)a->beta,
                                                           a->steps, in, other, third, out, count);
    for (int64_t i = 0; i < count; i++) {
        arith_store(a->dtype, (unsigned char *)z + i * size, (double)out[i]);
    }
}

#define WHOLE_BODY(T, SIGNED)                                                                      \
    static T whole_of_##T(iso_map_op op, T x, T y)                                                 \
    {                                                                                              \
        switch (op) {                                                                              \
        case ISO_MAP_ADD:                                                                          \
            return x + y;                                                                          \
        case ISO_MAP_SUBTRACT:                                                                     \
            return x - y;                                                                          \
        case ISO_MAP_MULTIPLY:                                                                     \
            return x * y;                                                                          \
        case ISO_MAP_MIN:                                                                          \
            return (SIGNED)y < (SIGNED)x ? y : x;                                                  \
        case ISO_MAP_MAX:                                                                          \
            return (SIGNED)y > (SIGNED)x ? y : x;                                                  \
        case ISO_MAP_ABS:                                                                          \
            return (SIGNED)x < 0 ? 0 - x : x;                                                      \
        case ISO_MAP_NEGATE:                                                                       \
            return 0 - x;                                                                          \
        default:                                                                                   \
            return x;                                                                              \
        }                                                                                          \
    }                                                                                              \
    static void whole_##T(iso_map_op op, const T *x, const T *y, T *z, int64_t count)              \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            z[i] = whole_of_##T(op, x[i], y[i]);                                                   \
    }
WHOLE_BODY(uint32_t, int32_t)
WHOLE_BODY(uint64_t, int64_t)

/* ---- conversions ----------------------------------------------------------------------------- */

/* A number toward zero, between -2^bits and 2^bits - 1; 0 for a NaN. */
static int64_t saturated(double value, int bits)
{
    int64_t most = (int64_t)((UINT64_C(1) << bits) - 1);
    double limit = ldexp(1, bits);
    return value != value ? 0 : value >= limit ? most : value < -limit ? -most - 1 : (int64_t)value;
}

static int64_t whole_at(iso_dtype dtype, const void *element)
{
    int64_t whole;
    if (dtype != ISO_I64) {
        return (int64_t)arith_load(dtype, element);
    }
    memcpy(&whole, element, sizeof whole);
    return whole;
}

static void convert(const iso_map_args *a, const unsigned char *x, unsigned char *z)
{
    iso_dtype to = a->dtype_z ? a->dtype_z : a->dtype;
    bool real = arith_is_float(a->dtype);
    int64_t whole;
    if (arith_is_float(to)) {
        /* From i64 it is rounded to f32 or f64 directly; f16 and bf16 are rounded from f32. */
        double value = real            ? arith_load(a->dtype, x)
                       : to == ISO_F64 ? (double)whole_at(a->dtype, x)
                                       : (double)(float)whole_at(a->dtype, x);
        arith_store(to, z, value);
        return;
    }
    whole = real ? saturated(arith_load(a->dtype, x), (int)iso_dtype_size(to) * 8 - 1)
                 : whole_at(a->dtype, x);
    memcpy(z, &whole, (size_t)iso_dtype_size(to)); /* the machine is little-endian */
}

static void map_chunk(const iso_map_args *a, const void *x, const void *y, const void *w, void *z,
                      int64_t count)
{
    switch (a->dtype) {
    case ISO_F16:
    case ISO_BF16:
        map_halves(a, x, y, w, z, count);
        break;
    case ISO_F32:
        (ARITH_HAVE_FAST() ? map_fast_float : map_plain_float)(
            a->op, (float)a->alpha, (float)a->beta, a->steps, x, y, w, z, count);
        break;
    case ISO_F64:
        (ARITH_HAVE_FAST() ? map_fast_double : map_plain_double)(a->op, a->alpha, a->beta, a->steps,
                                                                 x, y, w, z, count);
        break;
    case ISO_I32:
        whole_uint32_t(a->op, x, y, z, count);
        break;
    case ISO_I64:
        whole_uint64_t(a->op, x, y, z, count);
        break;
    default: /* i8 and complex types have no arithmetic here */
        break;
    }
}

void arith_map(const iso_map_args *args, const void *x, const void *y, const void *w, void *z,
               int64_t count)
{
    int64_t size = iso_dtype_size(args->dtype);
    if (args->op == ISO_MAP_COPY) {
        memcpy(z, x, (size_t)(count * size));
        return;
    }
    if (args->op == ISO_MAP_CONVERT) {
        int64_t to = iso_dtype_size(args->dtype_z ? args->dtype_z : args->dtype);
        for (int64_t i = 0; i < count; i++) {
            convert(args, (const unsigned char *)x + i * size, (unsigned char *)z + i * to);
        }
        return;
    }
    const char *from = x, *other = arith_map_has_y(args->op) ? y : x;
    const char *third = args->op == ISO_MAP_FMA ? w : x;
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t left = count - first, at = first * size;
        map_chunk(args, from + at, other + at, third + at, (char *)z + at,
                  left < CHUNK ? left : CHUNK);
    }
}
