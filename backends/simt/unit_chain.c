/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_chain.c - the data that test units of floating types. A product may use such a unit only if
 * a chain of its instructions has the bits of a chain of fma in ascending order (docs/bits.md,
 * 4.2). No vendor promises that. So a unit is tested on data with wide exponents, subnormals,
 * underflow to both zeros, overflow, infinities, NaN, cancellation and ties, against the same chain
 * by fma on the device and on the host.
 */
#include "backends/simt/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS = SIMT_CHAIN_ROWS,
    TERMS = SIMT_CHAIN_TERMS,
    CASES = SIMT_CHAIN_CASES,
    KINDS = 10,
    SIZE_A = ROWS * TERMS
};

static int64_t size_b(const simt_unit_chain *of)
{
    return (int64_t)TERMS * of->cols;
}

static int size_c(const simt_unit_chain *of)
{
    return ROWS * of->cols;
}

/* Elements are handled as f64, which has every f32. */
static double get(iso_dtype type, const void *from, int64_t at)
{
    return type == ISO_F64 ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

static void put(iso_dtype type, void *to, int64_t at, double value)
{
    if (type == ISO_F64) {
        ((double *)to)[at] = value;
    } else {
        ((float *)to)[at] = (float)value;
    }
}

/* ---- the inputs ------------------------------------------------------------------------------ */

/* Exponents of numbers: one of `span` from `low` on. */
typedef struct range {
    int low, span;
} range;

/* What the kinds of cases are made of, in each type. */
typedef struct numbers {
    int fraction_bits;
    range of[KINDS];
    range second; /* of B, where that of A is subnormal */
    double ties[5], rare[5], small[5];
} numbers;

enum { OVERFLOW = 4, RARE = 5, SUBNORMAL = 6, TIES = 7, SMALL = 8, CANCEL = 9 };

/* clang-format off */
static const numbers numbers_of[ISO_F64 + 1] = {
    [ISO_F64] = {.fraction_bits = 52,
                       .of = {{-3, 3}, {-20, 41}, {-300, 601}, {-545, 41}, [OVERFLOW] = {500, 12},
                              [RARE] = {-20, 41}, [SUBNORMAL] = {-1074, 52}, [CANCEL] = {-8, 17}},
                       .second = {0, 60},
                       .ties = {1.0, 0x1p-53, 0x1.8p-53, 1.0 + 0x1p-52, 3.0},
                       .rare = {INFINITY, NAN, 0.0, 0x1p-1074, 0x1.fffffffffffffp+1023},
                       .small = {0.0, 0.0, 0.0, 0x1p-540, 0x1p-1074}},
    [ISO_F32] = {.fraction_bits = 23,
                       .of = {{-3, 3}, {-20, 41}, {-60, 121}, {-81, 31}, [OVERFLOW] = {57, 8},
                              [RARE] = {-20, 41}, [SUBNORMAL] = {-149, 23}, [CANCEL] = {-8, 17}},
                       .second = {0, 30},
                       .ties = {1.0, 0x1p-24, 0x1.8p-24, 1.0 + 0x1p-23, 3.0},
                       .rare = {INFINITY, NAN, 0.0, 0x1p-149, 0x1.fffffep+127},
                       .small = {0.0, 0.0, 0.0, 0x1p-76, 0x1p-149}},
};
/* clang-format on */

static uint64_t mix(uint64_t index)
{
    uint64_t z = (index + 1) * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number with a full fraction. */
static double wide(uint64_t m, int fraction_bits, range of)
{
    const double fraction = 1.0 + ldexp((double)(m >> (64 - fraction_bits)), -fraction_bits);
    return ldexp(m & 1 ? -fraction : fraction, of.low + (int)(m >> 1 & 0x7ff) % of.span);
}

static double pick(uint64_t m, const double *from)
{
    return (m & 1 ? -1.0 : 1.0) * from[(m >> 1) % 5];
}

/* An element of A or of B (`second`) in a case of a kind. Kinds 0 to 2 have wider and wider
 * exponents. Products of kind 3 are subnormal or underflow to a zero of either sign, those of SMALL
 * are zeros or underflow. */
static double element(const numbers *from, int kind, bool second, uint64_t m)
{
    if (kind == TIES || kind == SMALL || (kind == RARE && m >> 55 == 0)) {
        return pick(m, kind == TIES ? from->ties : kind == SMALL ? from->small : from->rare);
    }
    return wide(m, from->fraction_bits,
                kind == SUBNORMAL && second ? from->second : from->of[kind]);
}

/* Makes each odd term the opposite of the one before, but for the last bit of some. */
static void cancel(const simt_unit_chain *of, void *to, int64_t a)
{
    const iso_dtype type = of->dtype;
    const int64_t b = a + SIZE_A;
    const double one_bit = ldexp(1.0, -numbers_of[type].fraction_bits);
    for (int k = 1; k < TERMS; k += 2) {
        for (int row = 0; row < ROWS; row++) {
            const double before = get(type, to, a + row * TERMS + k - 1);
            const double less = before - before * one_bit / 2; /* rounds to the next towards 0 */
            put(type, to, a + row * TERMS + k, row % 3 ? -before : -less);
        }
        for (int col = 0; col < of->cols; col++) {
            put(type, to, b + (int64_t)k * of->cols + col,
                get(type, to, b + (int64_t)(k - 1) * of->cols + col));
        }
    }
}

void simt_unit_chain_make(const simt_unit_chain *of, void *inputs)
{
    const numbers *from = &numbers_of[of->dtype];
    const int64_t before_c = SIZE_A + size_b(of);
    uint64_t index = 0;
    int64_t at = 0;
    for (int each = 0; each < CASES; each++) {
        const int kind = each % KINDS;
        const int64_t first = at;
        for (int64_t i = 0; i < before_c; i++) {
            put(of->dtype, inputs, at++, element(from, kind, i >= SIZE_A, mix(index++)));
        }
        /* Half of the cases begin with a zero of either sign, as a product does with +0. */
        for (int i = 0; i < size_c(of); i++) {
            const uint64_t m = mix(index++);
            put(of->dtype, inputs, at++,
                each % 2 ? (m & 1 ? -0.0 : 0.0) : element(from, kind, false, m));
        }
        if (kind == CANCEL) {
            cancel(of, inputs, first);
        }
    }
}

/* ---- the comparison -------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return (isnan(a) && isnan(b)) || bits[0] == bits[1];
}

/* The chain of fma of element `at` of the case that begins at `a`. */
static double chain(const simt_unit_chain *of, const void *inputs, int64_t a, int at)
{
    const int64_t row = a + (int64_t)(at / of->cols) * TERMS;
    const int64_t col = a + SIZE_A + at % of->cols;
    double sum = get(of->dtype, inputs, a + SIZE_A + size_b(of) + at);
    for (int k = 0; k < TERMS; k++) {
        const double x = get(of->dtype, inputs, row + k);
        const double y = get(of->dtype, inputs, col + (int64_t)k * of->cols);
        sum = of->dtype == ISO_F64 ? fma(x, y, sum) : (double)fmaf((float)x, (float)y, (float)sum);
    }
    return sum;
}

simt_verdict simt_unit_chain_compare(const simt_unit_chain *of, const void *inputs,
                                     const void *results, char *reason, size_t room)
{
    const int64_t whole = SIZE_A + size_b(of) + size_c(of);
    for (int each = 0; each < CASES; each++) {
        for (int at = 0; at < size_c(of); at++) {
            const double sum = chain(of, inputs, each * whole, at);
            for (int way = 0; way < of->ways; way++) {
                const double got =
                    get(of->dtype, results, (int64_t)(each * of->ways + way) * size_c(of) + at);
                if (!same(got, sum)) {
                    (void)snprintf(reason, room,
                                   "%s%d of its terms at a time gave %a in case %d of its test, "
                                   "and the chain of fma is %a",
                                   way ? "" : "fma, not the unit: ", of->terms[way], got, each,
                                   sum);
                    return SIMT_UNIT_BAD;
                }
            }
        }
    }
    return SIMT_UNIT_GOOD;
}

iso_status simt_unit_chain_launch(simt_stream *stream, const simt_spec *spec,
                                  const simt_unit_chain *of, void *memory)
{
    const simt_arg args[] = {SIMT_MEMORY(memory)};
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, spec, 0, &kernel);
    return status ? status : SIMT_LAUNCH(stream, kernel, (int64_t)CASES * of->ways, args);
}
