/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - scales the rows and columns of a fixed product to whole numbers, and cuts them into
 * slices. The slices are multiplied by the register tile of f64. */
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
    if (g->slices == 1) {
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
    .round_line = round_line,
};
