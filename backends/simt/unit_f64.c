/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_f64.c - the test of an f64 matrix unit. A product may use it only if a chain of its
 * instructions has the bits of a chain of fma in ascending order (docs/bits.md, 4.2). No vendor
 * promises that. So the unit is tested on data with wide exponents, subnormals, underflow to both
 * zeros, overflow, infinities, NaN, cancellation and ties, against the same chain by fma on the
 * device and on the host.
 */
#include "backends/simt/unit.h"
#include "kernel_texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS = 16,
    COLS = 8,
    TERMS = 128,
    KINDS = 10,
    CASES = 5 * KINDS,
    WAYS = 4, /* of unit_f64.cl: by fma, and by instructions of 4, 8 and 16 terms */
    SIZE_A = ROWS * TERMS,
    SIZE_B = TERMS * COLS,
    SIZE_C = ROWS * COLS,
    CASE = SIZE_A + SIZE_B + SIZE_C,
    INPUTS = CASES * CASE,
    RESULTS = CASES * WAYS * SIZE_C
};

static const char *const unit_parts[] = {kernel_text_dialect, kernel_text_unit_f64};
static const simt_text unit_text = {
    .name = "unit_f64",
    .parts = unit_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_USE_F64", "ISO_UNIT", "ISO_CASES", "ISO_TERMS"},
    .kernels = {"unit_f64"},
};

static bool has(const simt_limits *limits, const char **problem)
{
    *problem = limits->f64_unit_problem;
    return limits->f64_unit != 0;
}

static simt_spec spec_for(const simt_limits *limits)
{
    enum { TEAM = 32 };
    return (simt_spec){.text = &unit_text,
                       .values = {TEAM, ISO_F64, 1, limits->f64_unit, CASES, TERMS}};
}

/* ---- the inputs ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t index)
{
    uint64_t z = (index + 1) * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number with a full fraction whose exponent is one of `span` from `low` on. */
static double wide(uint64_t m, int low, int span)
{
    const double fraction = 1.0 + (double)(m >> 12) * 0x1p-52;
    return ldexp(m & 1 ? -fraction : fraction, low + (int)(m >> 1 & 0x7ff) % span);
}

static double pick(uint64_t m, const double *from, int count)
{
    return (m & 1 ? -1.0 : 1.0) * from[(m >> 1) % (uint64_t)count];
}

/* An element of A or of B (`second`) in a case of a kind. */
static double element(int kind, bool second, uint64_t m)
{
    static const double ties[] = {1.0, 0x1p-53, 0x1.8p-53, 1.0 + 0x1p-52, 3.0};
    static const double rare[] = {INFINITY, NAN, 0.0, 0x1p-1074, 0x1.fffffffffffffp+1023};
    static const double small[] = {0.0, 0.0, 0.0, 0x1p-540, 0x1p-1074};
    switch (kind) {
    case 0:
        return wide(m, -3, 3);
    case 1:
        return wide(m, -20, 41);
    case 2:
        return wide(m, -300, 601);
    case 3: /* products are subnormal or underflow to a zero of either sign */
        return wide(m, -545, 41);
    case 4: /* sums overflow */
        return wide(m, 500, 12);
    case 5:
        return m >> 55 ? wide(m, -20, 41) : pick(m, rare, 5);
    case 6: /* subnormal factors */
        return second ? wide(m, 0, 60) : wide(m, -1074, 52);
    case 7:
        return pick(m, ties, 5);
    case 8: /* nothing but zeros and what underflows */
        return pick(m, small, 5);
    default: /* see cancel */
        return wide(m, -8, 17);
    }
}

/* Makes each odd term the opposite of the one before, but for the last bit of some. */
static void cancel(double *a, double *b)
{
    for (int k = 1; k < TERMS; k += 2) {
        for (int row = 0; row < ROWS; row++) {
            const double before = a[row * TERMS + k - 1];
            a[row * TERMS + k] = row % 3 ? -before : -nextafter(before, 0.0);
        }
        memcpy(b + (size_t)k * COLS, b + (size_t)(k - 1) * COLS, COLS * sizeof *b);
    }
}

static void make_inputs(void *inputs)
{
    double *to = inputs;
    uint64_t index = 0;
    for (int each = 0; each < CASES; each++, to += CASE) {
        const int kind = each % KINDS;
        for (int i = 0; i < SIZE_A + SIZE_B; i++) {
            to[i] = element(kind, i >= SIZE_A, mix(index++));
        }
        /* Half of the cases begin with a zero of either sign, as a product does with +0. */
        for (int i = 0; i < SIZE_C; i++) {
            const uint64_t m = mix(index++);
            to[SIZE_A + SIZE_B + i] = each % 2 ? (m & 1 ? -0.0 : 0.0) : element(kind, false, m);
        }
        if (kind == KINDS - 1) {
            cancel(to, to + SIZE_A);
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

static simt_verdict compare(const void *from, const void *got_from, char *reason, size_t room)
{
    const double *inputs = from;
    const double *results = got_from;
    static const int terms[WAYS] = {1, 4, 8, 16};
    for (int each = 0; each < CASES; each++) {
        const double *a = inputs + (size_t)each * CASE;
        const double *b = a + SIZE_A;
        for (int at = 0; at < SIZE_C; at++) {
            double sum = b[SIZE_B + at];
            for (int k = 0; k < TERMS; k++) {
                sum = fma(a[at / COLS * TERMS + k], b[k * COLS + at % COLS], sum);
            }
            for (int way = 0; way < WAYS; way++) {
                const double got = results[(each * WAYS + way) * SIZE_C + at];
                if (!same(got, sum)) {
                    (void)snprintf(reason, room,
                                   "%s%d of its terms at a time gave %a in case %d of its test, "
                                   "and the chain of fma is %a",
                                   way ? "" : "fma, not the unit: ", terms[way], got, each, sum);
                    return SIMT_UNIT_BAD;
                }
            }
        }
    }
    return SIMT_UNIT_GOOD;
}

static iso_status launch(simt_stream *stream, void *memory)
{
    const simt_arg args[] = {SIMT_MEMORY(memory)};
    const simt_spec spec = spec_for(&stream->device->limits);
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    return status ? status : SIMT_LAUNCH(stream, kernel, (int64_t)CASES * WAYS, args);
}

const simt_unit_test simt_unit_test_f64 = {
    .name = "f64 matrix units",
    .first_use = "the first tiled product of f64",
    .has = has,
    .in = (int64_t)INPUTS * 8,
    .out = (int64_t)RESULTS * 8,
    .spec = spec_for,
    .make = make_inputs,
    .launch = launch,
    .compare = compare,
};
