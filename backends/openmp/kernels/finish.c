/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - lines of C = alpha * T + beta * C. Every element is computed separately, and by the
 * same operations wherever it is. */
#include "backends/openmp/kernels/elements.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

/* ---- real types ------------------------------------------------------------------------------ */

#define SAME(x) (x)

#define TYPE    f16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    load_f16
#define STORE   store_f16
#define READ    cpu_f16_to_f32
#define WRITE   cpu_f32_to_f16
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/finish_type.h"

#define TYPE    bf16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load_bf16
#define STORE   simd_f32_store_bf16
#define READ    cpu_bf16_to_f32
#define WRITE   cpu_f32_to_bf16
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/finish_type.h"

#define TYPE    f32
#define ELEMENT float
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load
#define STORE   simd_f32_store
#define READ    SAME
#define WRITE   SAME
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/finish_type.h"

#define TYPE    f64
#define ELEMENT double
#define KIND    f64
#define REAL    double
#define LOAD    simd_f64_load
#define STORE   simd_f64_store
#define READ    SAME
#define WRITE   SAME
#define FMA     __builtin_fma
#include "backends/openmp/kernels/finish_type.h"

/* ---- i32, modulo 2^32 ------------------------------------------------------------------------ */

static void line_i32(const cpu_finish_line *g)
{
    const double *t = g->t[0];
    uint32_t *c = g->c;
    const int64_t n = g->n, step = g->step;
    const int reads = g->reads;
    const uint32_t alpha = (uint32_t)(int64_t)g->alpha, beta = (uint32_t)(int64_t)g->beta;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t sum = t ? alpha * (uint32_t)(int64_t)t[i] : 0;
        c[i * step] = reads ? sum + beta * c[i * step] : sum;
    }
}

/* ---- complex types --------------------------------------------------------------------------- */

#define TYPE c64
#define REAL float
#define FMA  __builtin_fmaf
#include "backends/openmp/kernels/finish_complex.h"

#define TYPE c128
#define REAL double
#define FMA  __builtin_fma
#include "backends/openmp/kernels/finish_complex.h"

const cpu_finish_kernels CPU_TABLE(cpu_finish_kernels) = {
    .line =
        {
            [ISO_F16] = line_f16,
            [ISO_BF16] = line_bf16,
            [ISO_F32] = line_f32,
            [ISO_F64] = line_f64,
            [ISO_I32] = line_i32,
            [ISO_C64] = line_c64,
            [ISO_C128] = line_c128,
        },
};
