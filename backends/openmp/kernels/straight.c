/* SPDX-License-Identifier: Apache-2.0 */
/* straight.c - the loops of the textbook reductions. Each keeps one running value and takes the
 * elements in order. They are compiled for each instruction set only because of fma: without an
 * instruction for it, fma is a call of the C library. */
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/kernels/kernels.h"

#include <isomer/types.h>

#include <math.h>
#include <stddef.h>

#define SAME(x)             (x)
#define WIDEN(x)            ((uint64_t)(int64_t)(x))
#define DOUBLE(x)           ((double)(x))
#define F16(x)              cpu_f16_to_f32(x)
#define BF16(x)             cpu_bf16_to_f32(x)
#define F16D(x)             ((double)cpu_f16_to_f32(x))
#define BF16D(x)            ((double)cpu_bf16_to_f32(x))
#define ABS_U(x, type, top) ((x) >> (top) ? (type)(0 - (x)) : (x))
#define ABS_U32(x)          ABS_U(x, uint32_t, 31)
#define ABS_U64(x)          ABS_U(x, uint64_t, 63)
#define MAC_U(x, y, acc)    ((acc) + (x) * (y))

/* STEP computes the next value of acc from x's element `at` and, for a dot product, y's element
 * `and`. */
#define DEFINE(name, type, lane, READ, START, READ_Y, STEP)                                        \
    static void name(const void *from_x, int64_t step_x, const void *from_y, int64_t step_y,       \
                     int64_t n, void *out)                                                         \
    {                                                                                              \
        const type *x = from_x, *y = from_y;                                                       \
        lane acc = (START);                                                                        \
        (void)y;                                                                                   \
        (void)step_y;                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const lane at = READ(x[i * step_x]), and = READ_Y;                                     \
            (void)and;                                                                             \
            acc = (STEP);                                                                          \
        }                                                                                          \
        *(lane *)out = acc;                                                                        \
    }

#define DEFINE_ALL(suffix, type, lane, READ, ABS, MAC)                                             \
    DEFINE(sum_##suffix, type, lane, READ, 0, 0, acc + at)                                         \
    DEFINE(product_##suffix, type, lane, READ, 1, 0, acc *at)                                      \
    DEFINE(dot_##suffix, type, lane, READ, 0, READ(y[i * step_y]), MAC(at, and, acc))              \
    DEFINE(asum_##suffix, type, lane, READ, 0, 0, acc + ABS(at))

DEFINE_ALL(f16, uint16_t, float, F16, fabsf, fmaf)
DEFINE_ALL(bf16, uint16_t, float, BF16, fabsf, fmaf)
DEFINE_ALL(f32, float, float, SAME, fabsf, fmaf)
DEFINE_ALL(f64, double, double, SAME, fabs, fma)
DEFINE_ALL(i32, uint32_t, uint32_t, SAME, ABS_U32, MAC_U)
DEFINE_ALL(i64, uint64_t, uint64_t, SAME, ABS_U64, MAC_U)
DEFINE(squares_f16, uint16_t, double, F16D, 0, 0, fma(at, at, acc))
DEFINE(squares_bf16, uint16_t, double, BF16D, 0, 0, fma(at, at, acc))
DEFINE(squares_f32, float, double, DOUBLE, 0, 0, fma(at, at, acc))
DEFINE(xor_i32, uint32_t, uint32_t, SAME, 0, 0, acc ^ at)
DEFINE(xor_i64, uint64_t, uint64_t, SAME, 0, 0, acc ^ at)
DEFINE(sum_wide, int32_t, uint64_t, WIDEN, 0, 0, acc + at)

/* Large and small elements have separate sums, because their squares would overflow or underflow.
 */
static void squares_f64(const void *from_x, int64_t step_x, const void *from_y, int64_t step_y,
                        int64_t n, void *out)
{
    const double *x = from_x;
    double *sums = out;
    (void)from_y;
    (void)step_y;
    for (int plane = 0; plane < CPU_REDUCE_PLANES; plane++) {
        sums[plane] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        const double at = x[i * step_x];
        if (fabs(at) > 0x1p486) {
            sums[1] = fma(at * 0x1p-538, at * 0x1p-538, sums[1]);
        } else if (fabs(at) < 0x1p-511) {
            sums[2] = fma(at * 0x1p537, at * 0x1p537, sums[2]);
        } else {
            sums[0] = fma(at, at, sums[0]);
        }
    }
}

#define FLOATS(prefix)                                                                             \
    [ISO_F16] = prefix##_f16, [ISO_BF16] = prefix##_bf16, [ISO_F32] = prefix##_f32,                \
    [ISO_F64] = prefix##_f64
#define ALL(prefix) FLOATS(prefix), [ISO_I32] = prefix##_i32, [ISO_I64] = prefix##_i64

const cpu_straight_kernels CPU_TABLE(cpu_straight_kernels) = {
    .run = {[CPU_STEP_SUM] = {ALL(sum)},
            [CPU_STEP_PRODUCT] = {ALL(product)},
            [CPU_STEP_DOT] = {ALL(dot)},
            [CPU_STEP_ASUM] = {ALL(asum)},
            [CPU_STEP_SQUARES] = {FLOATS(squares)},
            [CPU_STEP_SUM_WIDE] = {[ISO_I32] = sum_wide},
            [CPU_STEP_XOR] = {[ISO_I32] = xor_i32, [ISO_I64] = xor_i64}},
};
