/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - solves a triangle for a strip of systems, which are the lanes of some vectors. */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

enum { VECTORS = CPU_SOLVE_BYTES / SIMD_BYTES };

/* Eight chains keep the multipliers busy; what does not fit in registers is a second pass. */
enum { PASS = VECTORS < 8 ? VECTORS : 8, PASS_COMPLEX = VECTORS / 2 < 4 ? VECTORS / 2 : 4 };

#define KIND            f32
#define REAL            float
#define FMA             __builtin_fmaf
#define REAL_NAME(x)    x##_f32
#define COMPLEX_NAME(x) x##_c64
#include "backends/openmp/kernels/solve_type.h"

#define KIND            f64
#define REAL            double
#define FMA             __builtin_fma
#define REAL_NAME(x)    x##_f64
#define COMPLEX_NAME(x) x##_c128
#include "backends/openmp/kernels/solve_type.h"

const cpu_solve_kernels CPU_TABLE(cpu_solve_kernels) = {
    .strip =
        {
            [ISO_F32] = strip_f32,
            [ISO_F64] = strip_f64,
            [ISO_C64] = strip_c64,
            [ISO_C128] = strip_c128,
        },
};
