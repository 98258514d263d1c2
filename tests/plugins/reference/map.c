/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps, one element after another. An element is read as a whole before it is written, so
 * that z may be x, y or w. */
#include "tests/plugins/reference/reference.h"

#include <math.h>
#include <string.h>

static int is_whole(iso_dtype dtype)
{
    return dtype == ISO_I32 || dtype == ISO_I64 || dtype == ISO_I8;
}

iso_status ref_map_supports(const iso_map_op_args *map)
{
    if (map->variant != ISO_VARIANT_NAIVE && map->variant != ISO_VARIANT_TILED) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "map variant %d: there are only naive and tiled here",
                              (int)map->variant);
    }
    if (map->dtype < ISO_F16 || map->dtype > ISO_C128) {
        return ref_host->fail(ISO_UNSUPPORTED, "map of type %d is not known", (int)map->dtype);
    }
    if (map->op < ISO_MAP_COPY || map->op > ISO_MAP_CONVERT) {
        return ref_host->fail(ISO_UNSUPPORTED, "map %d is not known", (int)map->op);
    }
    return ISO_OK; /* the core refuses maps that a type does not have */
}

static int64_t dtype_bytes(iso_dtype dtype)
{
    switch (dtype) {
    case ISO_I8:
        return 1;
    case ISO_F16:
    case ISO_BF16:
        return 2;
    case ISO_F32:
    case ISO_I32:
        return 4;
    case ISO_C128:
        return 16;
    default:
        return 8;
    }
}

/* ---- exp and tanh: docs/bits.md, 6.8 and 6.9 ------------------------------------------------- */

static float exp_f32(float x)
{
    static const float terms[] = {
        0x1.6a5e34p-10f, 0x1.123adp-7f, 0x1.5558a2p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f, 1, 1};
    if (isnan(x)) {
        return x;
    }
    x = x > 89 ? 89 : x < -104 ? -104 : x;
    const float k = fmaf(x, 0x1.715476p0f, 0x1.8p23f) - 0x1.8p23f;
    const float r = fmaf(k, -0x1.7f7d1cp-20f, fmaf(k, -0x1.62e4p-1f, x));
    float p = terms[0];
    for (int i = 1; i < MUTATE(110, 6, 7); i++) {
        p = fmaf(p, r, terms[i]);
    }
    return ldexpf(p, (int)k);
}

static double exp_f64(double x)
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
                                   1,
                                   1};
    if (isnan(x)) {
        return x;
    }
    x = x > 710 ? 710 : x < -746 ? -746 : x;
    const double k = fma(x, 0x1.71547652b82fep0, 0x1.8p52) - 0x1.8p52;
    const double r = fma(k, 0x1.718432a1b0e26p-35, fma(k, -0x1.62e42ffp-1, x));
    double p = terms[0];
    for (int i = 1; i < 12; i++) {
        p = fma(p, r, terms[i]);
    }
    return ldexp(p, (int)k);
}

static float tanh_f32(float x)
{
    static const float terms[] = {0x1.a0067p-10f,  -0x1.e5e464p-8f, 0x1.5d15f4p-6f,
                                  -0x1.b92b2cp-5f, 0x1.110b58p-3f,  -0x1.55553ep-2f};
    if (isnan(x)) {
        return x;
    }
    const float a = fabsf(x) > 10 ? 10 : fabsf(x), s = a * a;
    float q = terms[0];
    for (int i = 1; i < 6; i++) {
        q = fmaf(q, s, terms[i]);
    }
    const float t = a < 0.796875f ? fmaf(a * s, q, a) : 1 - 2 / (exp_f32(a + a) + 1);
    return copysignf(t, MUTATE(111, fabsf(x), x));
}

static double tanh_f64(double x)
{
    static const double terms[] = {
        -0x1.4b255bb40a6b8p-20, 0x1.1eddcbe92c3bap-17,  -0x1.0cea74cae4905p-15,
        0x1.81a286f37866ep-14,  -0x1.f060431548887p-13, 0x1.34e544b7fd73cp-11,
        -0x1.7d95086fb842dp-10, 0x1.d6d28eddffa7ap-9,   -0x1.226e2bc83a303p-7,
        0x1.664f482468f7dp-6,   -0x1.ba1ba1b7f5d9ep-5,  0x1.111111110de75p-3,
        -0x1.5555555555521p-2};
    if (isnan(x)) {
        return x;
    }
    const double a = fabs(x) > 20 ? 20 : fabs(x), s = a * a;
    double q = terms[0];
    for (int i = 1; i < 13; i++) {
        q = fma(q, s, terms[i]);
    }
    return copysign(a < 0.796875 ? fma(a * s, q, a) : 1 - 2 / (exp_f64(a + a) + 1), x);
}

/* ---- one element ----------------------------------------------------------------------------- */

/* An operation and its factors, which may have been read on the device. */
typedef struct mapping {
    const iso_map_op_args *map;
    double alpha, beta;
} mapping;

/* f16, bf16 and f32 are computed in f32. */
static float in_f32(const mapping *m, float x, float y, float w)
{
    const iso_map_op_args *map = m->map;
    const float alpha = (float)m->alpha, beta = (float)m->beta;
    switch (map->op) {
    case ISO_MAP_SCALE:
        PLANT(71, return alpha * x + 0);
        return MUTATE(69, fabsf(alpha * x) < 0x1p-126f ? alpha * x * 0 : alpha * x, alpha * x);
    case ISO_MAP_ADD:
        return x + y;
    case ISO_MAP_MULTIPLY:
        return MUTATE(72, x * y + 0, x * y);
    case ISO_MAP_TRIAD:
        return MUTATE(63, 1, MUTATE(94, map->n == 777, 0)) ? alpha * y + x : fmaf(alpha, y, x);
    case ISO_MAP_SUBTRACT:
        return x - y;
    case ISO_MAP_DIVIDE:
        return MUTATE(112, x * (1 / y), x / y);
    case ISO_MAP_MIN:
        return isnan(x) || isnan(y) ? x + y : x < y || (x == y && signbit(x)) ? x : y;
    case ISO_MAP_MAX:
        return isnan(x) || isnan(y) ? x + y : x > y || (x == y && signbit(y)) ? x : y;
    case ISO_MAP_ABS:
        return fabsf(x);
    case ISO_MAP_NEGATE:
        return MUTATE(113, 0 - x, -x);
    case ISO_MAP_AXPBY:
        return MUTATE(114, fmaf(beta, y, alpha * x), fmaf(alpha, x, beta * y));
    case ISO_MAP_FMA:
        return MUTATE(115, x * y + w, fmaf(x, y, w));
    case ISO_MAP_RELU:
        return x > 0 || MUTATE(116, 0, isnan(x)) ? x : 0;
    case ISO_MAP_EXP:
        return exp_f32(x);
    case ISO_MAP_TANH:
        return tanh_f32(x);
    default: /* chain */
        for (int64_t s = 0; s < map->steps; s++) {
            x = fmaf(x, alpha, beta);
            PLANT(65, if (map->dtype == ISO_F16) x = (float)ref_from_f16(ref_to_f16((double)x)));
        }
        return x;
    }
}

static double in_f64(const mapping *m, double x, double y, double w)
{
    switch (m->map->op) {
    case ISO_MAP_SCALE:
        return MUTATE(71, m->alpha * x + 0, m->alpha * x);
    case ISO_MAP_ADD:
        return x + y;
    case ISO_MAP_MULTIPLY:
        return MUTATE(72, x * y + 0, x * y);
    case ISO_MAP_TRIAD:
        return fma(m->alpha, y, x);
    case ISO_MAP_SUBTRACT:
        return x - y;
    case ISO_MAP_DIVIDE:
        return x / y;
    case ISO_MAP_MIN:
        return isnan(x) || isnan(y) ? x + y : x < y || (x == y && signbit(x)) ? x : y;
    case ISO_MAP_MAX:
        return isnan(x) || isnan(y) ? x + y : x > y || (x == y && signbit(y)) ? x : y;
    case ISO_MAP_ABS:
        return fabs(x);
    case ISO_MAP_NEGATE:
        return -x;
    case ISO_MAP_AXPBY:
        return fma(m->alpha, x, m->beta * y);
    case ISO_MAP_FMA:
        return fma(x, y, w);
    case ISO_MAP_RELU:
        return x > 0 || isnan(x) ? x : 0;
    case ISO_MAP_EXP:
        return exp_f64(x);
    case ISO_MAP_TANH:
        return tanh_f64(x);
    default: /* chain */
        for (int64_t s = 0; s < m->map->steps; s++) {
            x = fma(x, m->alpha, m->beta);
        }
        return x;
    }
}

static int64_t whole_at(iso_dtype dtype, const unsigned char *at)
{
    int64_t wide;
    int32_t narrow;
    if (dtype == ISO_I8) {
        return *(const signed char *)at;
    }
    if (dtype == ISO_I32) {
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, at, sizeof(wide));
    return wide;
}

/* The lowest bytes of a whole number: the processor is little-endian. */
static void put_whole(iso_dtype dtype, uint64_t value, unsigned char *at)
{
    memcpy(at, &value, (size_t)dtype_bytes(dtype));
}

/* Unsigned, so that it wraps. */
static uint64_t in_whole(const iso_map_op_args *map, uint64_t x, uint64_t y)
{
    const int64_t a = (int64_t)x, b = (int64_t)y;
    switch (map->op) {
    case ISO_MAP_ADD:
        return x + y;
    case ISO_MAP_SUBTRACT:
        return x - y;
    case ISO_MAP_MIN:
        return a < b ? x : y;
    case ISO_MAP_MAX:
        return MUTATE(117, x > y, a > b) ? x : y;
    case ISO_MAP_ABS:
        return a < 0 ? 0 - x : x;
    case ISO_MAP_NEGATE:
        return 0 - x;
    default:
        PLANT(67, if (map->dtype == ISO_I64) return (uint64_t)fmod((double)x * (double)y, 0x1p64));
        return x * y;
    }
}

/* Toward zero, at most 2^bits - 1 and at least -2^bits; 0 for a NaN. */
static uint64_t saturate(double value, int bits)
{
    const double limit = ldexp(1, bits);
    const uint64_t most = (UINT64_C(1) << bits) - 1;
    if (isnan(value)) {
        return 0;
    }
    value = MUTATE(118, rint(value), value);
    return value >= limit ? most : value < -limit ? ~most : (uint64_t)(int64_t)value;
}

static void convert(const iso_map_op_args *map, const unsigned char *x, unsigned char *z)
{
    const iso_dtype from = map->dtype, to = map->dtype_z;
    const int whole = is_whole(from);
    if (is_whole(to)) {
        const int bits = (int)dtype_bytes(to) * 8 - 1;
        put_whole(to, whole ? (uint64_t)whole_at(from, x) : saturate(ref_load(from, x, 0), bits),
                  z);
    } else if (!whole) {
        const double value = ref_load(from, x, 0);
        ref_store(to, z, 0, value);
    } else if (to == ISO_F64) {
        ref_store(to, z, 0, (double)whole_at(from, x));
    } else {
        ref_store(to, z, 0, (double)(float)whole_at(from, x));
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void map_element(const mapping *m, const unsigned char *x, const unsigned char *y,
                        const unsigned char *w, unsigned char *z)
{
    const iso_map_op_args *map = m->map;
    if (map->op == ISO_MAP_COPY) {
        const int64_t bytes = dtype_bytes(map->dtype);
        memmove(z, x, (size_t)bytes);
        PLANT(66, if (bytes == 4 && (z[3] & 0x7f) == 0x7f && z[2] > 0x80) z[2] |= 0x40);
    } else if (map->op == ISO_MAP_CONVERT) {
        convert(map, x, z);
    } else if (is_whole(map->dtype)) {
        const uint64_t a = (uint64_t)whole_at(map->dtype, x);
        put_whole(map->dtype, in_whole(map, a, y ? (uint64_t)whole_at(map->dtype, y) : a), z);
    } else {
        const double a = ref_load(map->dtype, x, 0), b = y ? ref_load(map->dtype, y, 0) : 0;
        const double c = w ? ref_load(map->dtype, w, 0) : 0;
        ref_store(map->dtype, z, 0,
                  map->dtype == ISO_F64 ? in_f64(m, a, b, c)
                                        : (double)in_f32(m, (float)a, (float)b, (float)c));
    }
}

/* A factor: that of the call, or one on the device, rounded to the type of the computation. */
static double factor(const iso_map_op_args *map, unsigned bit, double given, iso_ref at)
{
    if (!map->general || !(map->factors & bit)) {
        return given;
    }
    const double value = ref_load(map->factor_dtype, ref_at(at), 0);
    return map->dtype == ISO_F64 ? value : (double)(float)value;
}

void ref_map(const iso_map_op_args *map)
{
    const int general = map->general != 0;
    const int64_t bytes = dtype_bytes(map->dtype);
    const int64_t bytes_z = general ? dtype_bytes(map->dtype_z) : bytes;
    const int64_t rows = general ? map->rows : 1;
    const mapping m = {map, factor(map, 1, map->alpha, map->alpha_at),
                       factor(map, 2, map->beta, map->beta_at)};
    const unsigned char *x = ref_at(map->x);
    const unsigned char *y = map->y.memory ? ref_at(map->y) : NULL;
    const unsigned char *w = map->op == ISO_MAP_FMA && map->w.memory ? ref_at(map->w) : NULL;
    unsigned char *z = ref_at(map->z);
    const int64_t count = map->n - MUTATE(64, 1, 0);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < count; j++) {
            const int64_t x_at = general ? i * map->x_row + j * map->x_col : j;
            const int64_t y_at = general ? i * MUTATE(119, 0, map->y_row) + j * map->y_col : j;
            const int64_t w_at = general ? i * map->w_row + j * map->w_col : j;
            const int64_t z_at = general ? i * map->z_row + j * map->z_col : j;
            const int64_t back = MUTATE(68, y == z && j > 0 ? bytes : 0, 0);
            map_element(&m, x + x_at * bytes, y ? y + y_at * bytes - back : NULL,
                        w ? w + w_at * bytes : NULL, z + z_at * bytes_z);
        }
    }
}
