/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - scales the rows and columns of a fixed product to whole numbers, and cuts them into
 * slices. The slices are multiplied by a register tile of f64. */
#include "backends/openmp/kernels/gemm_shape.h"
#include "backends/openmp/kernels/kernels.h"

#include <isomer/types.h>

#include <string.h>

/* ---- largest magnitudes ---------------------------------------------------------------------- */

#define STORED 2
#define BITS   uint16_t
#include "backends/openmp/kernels/fixed_type.h"

#define STORED 4
#define BITS   uint32_t
#include "backends/openmp/kernels/fixed_type.h"

#define STORED 8
#define BITS   uint64_t
#include "backends/openmp/kernels/fixed_type.h"

/* ---- slices ---------------------------------------------------------------------------------- */

/* Cuts a line of whole numbers from the top: a slice is what remains, divided by the slice's weight
 * and rounded. So slices have signs, and their magnitudes are at most half the weight of one. */
static void cut_line(const cpu_fixed_pack *g, double *line)
{
    for (int s = g->slices - 1; s > 0; s--) {
        const double weight = (double)(1LL << (s * g->bits));
        const double inverse = 1 / weight;
        double *to = line + s * g->next;
        for (int64_t i = 0; i < g->width; i++) {
            to[i] = __builtin_rint(line[i] * inverse);
            line[i] -= to[i] * weight;
        }
    }
}

#define DEFINE_CUT(real, type)                                                                     \
    static void cut_##real(const cpu_fixed_pack *g)                                                \
    {                                                                                              \
        const type *x = g->strip;                                                                  \
        double *to = g->to;                                                                        \
        for (int64_t p = 0; p < g->k; p++, x += g->width, to += g->width) {                        \
            for (int64_t i = 0; i < g->width; i++) {                                               \
                to[i] = __builtin_rint((double)x[i] * g->once[i] * g->again[i]);                   \
            }                                                                                      \
            cut_line(g, to);                                                                       \
        }                                                                                          \
    }
DEFINE_CUT(f32, float)
DEFINE_CUT(f64, double)

/* ---- products of numbers below 2^24 ---------------------------------------------------------- */

/* The sum of SHORT_RUN such products and what is left of a sum stay below 2^53. */
enum { SHORT_RUN = 32, NR_F64 = NV * SIMD_F64 };

/* Adds the part of each sum that is a multiple of 2^26 to `high`, and leaves the rest, which is at
 * most 2^25. Adding `magic` rounds to that multiple. */
SIMD_INLINE void split(const int height, simd_f64 acc[MR][NV], double *high)
{
    const simd_f64 magic = simd_f64_set(0x1.8p78);
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            double *to = high + i * NR_F64 + v * SIMD_F64;
            const simd_f64 part = (acc[i][v] + magic) - magic;
            acc[i][v] -= part;
            simd_f64_store(to, simd_f64_load(to) + part);
        }
    }
}

SIMD_INLINE void split_body(const int height, int64_t k, const double *a, const double *b,
                            double *t, int add)
{
    simd_f64 acc[MR][NV];
    double *high = t + MR * NR_F64;
    if (!add) {
        memset(t, 0, sizeof(double) * 2 * MR * NR_F64);
    }
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            acc[i][v] = simd_f64_set(0);
        }
    }
    while (k > 0) {
        for (int64_t run = k < SHORT_RUN ? k : SHORT_RUN; run > 0; run--, k--) {
            simd_f64 row[NV];
            SIMD_UNROLL
            for (int v = 0; v < NV; v++) {
                row[v] = simd_f64_load(b + v * SIMD_F64);
            }
            SIMD_UNROLL
            for (int i = 0; i < height; i++) {
                const simd_f64 x = simd_f64_set(a[i]);
                SIMD_UNROLL
                for (int v = 0; v < NV; v++) {
                    acc[i][v] = simd_f64_fma(x, row[v], acc[i][v]);
                }
            }
            a += height;
            b += NR_F64;
        }
        split(height, acc, high);
    }
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            double *to = t + i * NR_F64 + v * SIMD_F64;
            simd_f64_store(to, simd_f64_load(to) + acc[i][v]);
        }
    }
}

static void tile_split(int height, int64_t k, const void *a, const void *b, void *t, int add)
{
    TILE_HEIGHTS(height, split_body, k, a, b, t, add);
}

/* ---- rounding to f32 ------------------------------------------------------------------------- */

/* high * weight + low is first rounded to f64, but to odd: then rounding to f32 gives what one
 * rounding would. */
static double join(double high, double low)
{
    const double sum = high + low;
    const double back = sum - high;
    const double lost = (high - (sum - back)) + (low - back);
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (lost != 0 && (bits & 1) == 0) {
        bits += (lost > 0) == (sum > 0) ? 1 : -1;
    }
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

static void round_line(const cpu_fixed_line *g, float *out)
{
    if (g->tiles == 1) {
        for (int64_t i = 0; i < g->count; i++) {
            out[i] = (float)(g->sums[i] * g->row * g->cols[i]);
        }
        return;
    }
    for (int64_t i = 0; i < g->count; i++) {
        out[i] = (float)(join(g->sums[g->next + i] * g->weight, g->sums[i]) * g->row * g->cols[i]);
    }
}

#define ROW(stored, real) {.largest = largest_##stored, .cut = cut_##real}

const cpu_fixed_kernels CPU_TABLE(cpu_fixed_kernels) = {
    .type = {[ISO_F16] = ROW(2, f32),
             [ISO_BF16] = ROW(2, f32),
             [ISO_F32] = ROW(4, f32),
             [ISO_F64] = ROW(8, f64)},
    .tile_split = tile_split,
    .round_line = round_line,
};
