/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the model, and the mistakes that it can make. */
#include "tests/ranks/model.h"

#include <math.h>
#include <string.h>

model_mistake model_is;

typedef struct format {
    int bits, fraction, least; /* the exponent of the least number */
} format;

static const format formats[] = {
    [ISO_F16] = {16, 10, -24},   [ISO_BF16] = {16, 7, -133}, [ISO_F32] = {32, 23, -149},
    [ISO_F64] = {64, 52, -1074}, [ISO_I32] = {32, 0, 0},     [ISO_I64] = {64, 0, 0},
};

int model_is_floating(iso_dtype dtype)
{
    return formats[dtype].fraction > 0;
}

int model_exponent_bits(iso_dtype dtype)
{
    return dtype == ISO_F64 ? 80 : 40;
}

/* The largest exponent field; 0 for integers, which have none. */
static int field_most(iso_dtype dtype)
{
    const format *f = &formats[dtype];
    return f->fraction ? (1 << (f->bits - 1 - f->fraction)) - 1 : 0;
}

void model_exponents(iso_dtype dtype, int *least, int *most)
{
    const format *f = &formats[dtype];
    *least = f->least + 1;
    *most = field_most(dtype) - 1 + f->least + f->fraction;
}

uint64_t model_get(iso_dtype dtype, const void *array, int64_t i)
{
    const size_t bytes = (size_t)formats[dtype].bits / 8;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array + (size_t)i * bytes, bytes);
    return bits;
}

void model_set(iso_dtype dtype, void *array, int64_t i, uint64_t bits)
{
    const size_t bytes = (size_t)formats[dtype].bits / 8;
    memcpy((char *)array + (size_t)i * bytes, &bits, bytes);
}

double model_decode(iso_dtype dtype, uint64_t bits)
{
    const format *f = &formats[dtype];
    const int field = (int)(bits >> f->fraction & (uint64_t)field_most(dtype));
    const uint64_t fraction = bits & ((UINT64_C(1) << f->fraction) - 1);
    double x = INFINITY;
    if (field == field_most(dtype)) {
        x = fraction ? NAN : x;
    } else if (field == 0) {
        x = ldexp((double)fraction, f->least);
    } else {
        x = ldexp((double)(fraction | UINT64_C(1) << f->fraction), f->least + field - 1);
    }
    return bits >> (f->bits - 1) & 1 ? -x : x;
}

/* The bits of whole * 2^unit, where `whole` has at most one bit more than the fraction, or is the
 * power of two after that. */
static uint64_t assemble(iso_dtype dtype, int negative, uint64_t whole, int unit)
{
    const format *f = &formats[dtype];
    const uint64_t sign = (uint64_t)negative << (f->bits - 1);
    if (whole >> (f->fraction + 1)) {
        whole /= 2;
        unit++;
    }
    const int64_t field = whole >> f->fraction ? unit - f->least + 1 : 0;
    if (field >= field_most(dtype)) {
        return sign | (uint64_t)field_most(dtype) << f->fraction;
    }
    return sign | (uint64_t)field << f->fraction | (whole & ((UINT64_C(1) << f->fraction) - 1));
}

static uint64_t nan_of(iso_dtype dtype)
{
    const format *f = &formats[dtype];
    return ((uint64_t)field_most(dtype) * 2 + 1) << (f->fraction - 1);
}

uint64_t model_encode(iso_dtype dtype, double x)
{
    const format *f = &formats[dtype];
    const int negative = signbit(x) != 0;
    int exponent;
    if (isnan(x)) {
        return nan_of(dtype);
    }
    if (isinf(x)) {
        return assemble(dtype, negative, UINT64_C(1) << f->fraction, 100000);
    }
    if (x == 0) {
        return assemble(dtype, negative, 0, 0);
    }
    (void)frexp(x, &exponent);
    const int unit = exponent - 1 - f->fraction > f->least ? exponent - 1 - f->fraction : f->least;
    return assemble(dtype, negative, (uint64_t)rint(ldexp(fabs(x), -unit)), unit);
}

int model_same(iso_dtype dtype, uint64_t a, uint64_t b)
{
    return a == b || (model_is_floating(dtype) && isnan(model_decode(dtype, a)) &&
                      isnan(model_decode(dtype, b)));
}

/* ---- in order -------------------------------------------------------------------------------- */

static uint64_t fold_whole(iso_dtype dtype, iso_reduce_op op, uint64_t a, uint64_t b)
{
    const int64_t x = dtype == ISO_I32 ? (int32_t)a : (int64_t)a;
    const int64_t y = dtype == ISO_I32 ? (int32_t)b : (int64_t)b;
    const uint64_t all = op == ISO_SUM       ? a + b
                         : op == ISO_PRODUCT ? a * b
                         : op == ISO_XOR     ? a ^ b
                         : op == ISO_MIN     ? (x < y ? a : b)
                                             : (x > y ? a : b);
    return dtype == ISO_I32 ? (uint32_t)all : all;
}

/* Whether b replaces a. */
static int is_better(iso_reduce_op op, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return model_is == MODEL_NAN_LOSES ? isnan(a) : isnan(b);
    }
    if (a == b && model_is != MODEL_ZEROS_EQUAL) {
        return op == ISO_MIN ? signbit(b) && !signbit(a) : signbit(a) && !signbit(b);
    }
    return op == ISO_MIN ? b < a : b > a;
}

static double add(iso_dtype dtype, iso_reduce_op op, double a, double b)
{
    double t;
    if (dtype == ISO_F64) {
        t = op == ISO_PRODUCT ? a * b : a + b;
    } else {
        const float x = (float)a, y = (float)b;
        t = op == ISO_PRODUCT ? (double)(x * y) : (double)(x + y);
    }
    return model_is == MODEL_STORED ? model_decode(dtype, model_encode(dtype, t)) : t;
}

static double mean_of(iso_dtype dtype, double total, int count)
{
    if (model_is == MODEL_STORED_MEAN) {
        total = model_decode(dtype, model_encode(dtype, total));
    }
    return total / (double)count;
}

uint64_t model_fold(iso_dtype dtype, iso_reduce_op op, const uint64_t *x, int count)
{
    const int backwards = model_is == MODEL_BACKWARDS;
    uint64_t best = x[backwards ? count - 1 : 0];
    double t = model_is_floating(dtype) ? model_decode(dtype, best) : 0;
    if (model_is == MODEL_FROM_ZERO && (op == ISO_SUM || op == ISO_MEAN)) {
        t = 0 + t;
    }
    for (int s = 1; s < count; s++) {
        const uint64_t next = x[backwards ? count - 1 - s : s];
        if (!model_is_floating(dtype)) {
            best = fold_whole(dtype, op, best, next);
        } else if (op == ISO_MIN || op == ISO_MAX) {
            best =
                is_better(op, model_decode(dtype, best), model_decode(dtype, next)) ? next : best;
        } else {
            t = add(dtype, op, t, model_decode(dtype, next));
        }
    }
    if (!model_is_floating(dtype) || op == ISO_MIN || op == ISO_MAX) {
        return best;
    }
    return model_encode(dtype, op == ISO_MEAN ? mean_of(dtype, t, count) : t);
}

/* ---- exact sums ------------------------------------------------------------------------------ */

int32_t model_code(iso_dtype dtype, uint64_t bits)
{
    const double x = model_decode(dtype, bits);
    const format *f = &formats[dtype];
    int exponent;
    if (isnan(x) || isinf(x)) {
        return isnan(x) ? ISO_RANKS_NAN : ISO_RANKS_INFINITY;
    }
    if (x == 0) {
        return ISO_RANKS_ZERO;
    }
    (void)frexp(x, &exponent);
    if (model_is == MODEL_SUBNORMAL && exponent < f->least + f->fraction + 1) {
        return f->least + f->fraction + 1;
    }
    return exponent;
}

__int128 model_whole(iso_dtype dtype, uint64_t bits, int32_t code)
{
    int exponent;
    const double part = frexp(model_decode(dtype, bits), &exponent);
    const int64_t m = (int64_t)ldexp(part, 53);
    const int shift = exponent - 53 + model_exponent_bits(dtype) - code;
    if (m == 0 || shift < -60) {
        return 0;
    }
    if (shift >= 0) {
        return m * ((__int128)1 << shift);
    }
    const int64_t unit = INT64_C(1) << -shift, whole = (m - ((m % unit) + unit) % unit) / unit;
    const int64_t rest = m - whole * unit;
    if (model_is == MODEL_TERM_CUT) {
        return m / unit;
    }
    const int up =
        2 * rest > unit || (2 * rest == unit && (model_is == MODEL_TERM_UP || whole % 2));
    return whole + up;
}

static int length_of(unsigned __int128 x)
{
    int length = 0;
    for (; x; x /= 2) {
        length++;
    }
    return length;
}

uint64_t model_join(iso_dtype dtype, __int128 sum, int32_t code)
{
    const format *f = &formats[dtype];
    const int scale = code - model_exponent_bits(dtype);
    const int negative = sum < 0;
    unsigned __int128 size = (unsigned __int128)(negative ? -sum : sum);
    if (size == 0) {
        return 0;
    }
    const int length = length_of(size), wanted = length - 1 - f->fraction + scale;
    if (model_is == MODEL_JOIN_LOST && length > 64) {
        size = size >> (length - 64) << (length - 64);
    }
    if (model_is == MODEL_JOIN_TWICE) {
        size = (unsigned __int128)(double)size;
    }
    const int unit = wanted > f->least ? wanted : f->least, shift = unit - scale;
    if (shift <= 0) {
        return assemble(dtype, negative, (uint64_t)size << -shift, unit);
    }
    if (shift > 120) {
        return assemble(dtype, negative, 0, unit);
    }
    const unsigned __int128 one = (unsigned __int128)1 << shift, rest = size % one;
    const uint64_t whole = (uint64_t)(size / one);
    const int tie_up = model_is == MODEL_JOIN_AWAY || whole % 2;
    const int up = rest > one / 2 || (rest == one / 2 && tie_up);
    return assemble(dtype, negative, whole + (uint64_t)up, unit);
}

uint64_t model_fixed(iso_dtype dtype, const uint64_t *x, int count)
{
    int32_t code = ISO_RANKS_ZERO;
    int up = 0, down = 0;
    __int128 sum = 0;
    for (int t = 0; t < count; t++) {
        const int32_t of_term = model_code(dtype, x[t]);
        code = of_term > code ? of_term : code;
        up += of_term == ISO_RANKS_INFINITY && model_decode(dtype, x[t]) > 0;
        down += of_term == ISO_RANKS_INFINITY && model_decode(dtype, x[t]) < 0;
    }
    if (code == ISO_RANKS_NAN || (up && down && model_is != MODEL_INFINITIES)) {
        return nan_of(dtype);
    }
    if (code == ISO_RANKS_INFINITY) {
        return model_encode(dtype, up ? INFINITY : -INFINITY);
    }
    for (int t = 0; t < count; t++) {
        sum += model_whole(dtype, x[t], code);
    }
    return model_join(dtype, sum, code);
}
