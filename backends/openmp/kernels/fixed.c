/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - scales the rows and columns of a fixed product to whole numbers, and cuts them into
 * slices. The slices are multiplied by the register tile of f64. */
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/kernels/kernels.h"

#include <isomer/types.h>

#define SAME(x) (x)

/* Cuts a line of whole numbers into slices, from the top: a slice is what remains, divided by the
 * slice's weight and rounded. So slices have signs, and their magnitudes are at most half the
 * weight of one. */
static void cut(const cpu_fixed_pack *g, double *line)
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

#define STORED f16
#define CELL   uint16_t
#define BITS   uint16_t
#define READ   (double)cpu_f16_to_f32
#include "backends/openmp/kernels/fixed_type.h"

#define STORED bf16
#define CELL   uint16_t
#define BITS   uint16_t
#define READ   (double)cpu_bf16_to_f32
#include "backends/openmp/kernels/fixed_type.h"

#define STORED f32
#define CELL   float
#define BITS   uint32_t
#define READ   (double)SAME
#include "backends/openmp/kernels/fixed_type.h"

#define STORED f64
#define CELL   double
#define BITS   uint64_t
#define READ   SAME
#include "backends/openmp/kernels/fixed_type.h"

#define ROW(stored) {.largest = largest_##stored, .pack = pack_##stored}

const cpu_fixed_kernels CPU_TABLE(cpu_fixed_kernels) = {
    .type = {
        [ISO_F16] = ROW(f16), [ISO_BF16] = ROW(bf16), [ISO_F32] = ROW(f32), [ISO_F64] = ROW(f64)}};
