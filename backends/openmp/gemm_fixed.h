/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_fixed.h - what the two ways of computing fixed products share: gemm_fixed.c multiplies
 * slices of whole numbers, gemm_fixed_bytes.c their residues. */
#ifndef ISOMER_OPENMP_GEMM_FIXED_H
#define ISOMER_OPENMP_GEMM_FIXED_H

#include "backends/openmp/gemm.h"

enum {
    FIXED_ALIGN = 256,
    FIXED_LIMBS = 3,
    FIXED_FACTORS = 3,    /* for each row and column */
    FIXED_BAD = INT32_MAX /* the exponent of a row or column with an infinity or a NaN */
};

/* ---- gemm_fixed_scale.c ---------------------------------------------------------------------- */

typedef struct fixed_operands {
    const iso_gemm_op *op;
    const cpu_fixed_type *type;
    int64_t a_row, a_col, b_row, b_col; /* strides */
    int64_t a_members, b_members;       /* 1 if all members share one matrix */
} fixed_operands;

void fixed_operands_make(fixed_operands *x, const cpu_device *device, const iso_gemm_op *op);

/* Writes the exponents of all rows of A's members, then of all columns of B's. */
void fixed_exponents(const cpu_device *device, const fixed_operands *x, int threads, int32_t *to);

/* 2^(p - e) as two factors, because it may be greater or smaller than any f64; and 2^(e - p), which
 * is only used where it fits. Vectors that are not there become zeros. */
void fixed_factors(int p, const int32_t *e, int64_t count, int64_t room, double *factors);

/* ---- gemm_fixed_sum.c ------------------------------------------------------------------------ */

/* A whole number in two's complement, the lowest bits first. */
typedef struct fixed_sum {
    uint64_t limb[FIXED_LIMBS];
} fixed_sum;

void fixed_add(fixed_sum *sum, __int128 term);

/* sum * 2^scale, rounded once to the accumulation type. */
double fixed_round(iso_dtype dtype, fixed_sum sum, int scale);

/* ---- gemm_fixed_bytes.c ---------------------------------------------------------------------- */

/* Whether this product is computed by residues. */
int fixed_bytes_suits(const cpu_device *device, const iso_gemm_op *op);
int64_t fixed_bytes_workspace(const cpu_device *device, const iso_gemm_op *op);
void fixed_bytes(const cpu_device *device, const iso_op *op);
int fixed_bytes_moduli(const iso_gemm_op *op);

#endif
