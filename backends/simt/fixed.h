/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed.h - the plan of a fixed product on a device (fixed_plan.c), which gemm_fixed.c runs. C is
 * computed in blocks, whose residues and sums are in scratch memory.
 *
 * Bytes of residues are multiplied in one of several ways:
 *
 *   planes   [modulus][member][vector][pitch] bytes: rows of op(A), columns of op(B). For
 *            fixed_matrix.c [modulus][member][slice][vector][64]: what a tile copies at a time is
 *            contiguous
 *   sums     [modulus][member][row][column] of sum_bytes
 *
 * A block's vectors, rows and columns are padded to multiples of `pad`, and vectors to their pitch
 * (a multiple of 64), all with zeros. The sums of the padding are computed and never read.
 */
#ifndef ISOMER_SIMT_FIXED_H
#define ISOMER_SIMT_FIXED_H

#include "backends/simt/gemm.h"

typedef enum simt_fixed_way {
    SIMT_FIXED_PLAIN = 0,   /* the kernel fixed_multiply */
    SIMT_FIXED_LIBRARY = 1, /* the vendor's library: bytes.c */
    SIMT_FIXED_MATRIX = 2   /* int8 matrix units: fixed_matrix.c */
} simt_fixed_way;

/* The kernels of its program. */
enum {
    FIXED_CLEAR,
    FIXED_EXPONENTS,
    FIXED_RESIDUES,
    FIXED_MULTIPLY,
    FIXED_REDUCE,
    FIXED_JOIN,
    FIXED_KERNELS
};
enum { FIXED_TILE_DEPTH = 64, FIXED_TILE_VECTORS = 32 }; /* see the kernels */

typedef struct simt_fixed_plan {
    simt_spec spec;
    simt_fixed_way way;
    int32_t side;      /* rows and columns of a tile of fixed_multiply */
    int32_t count;     /* of moduli */
    int32_t sum_bytes; /* 4: as a library leaves a sum; 1: modulo the modulus */
    int64_t pad;
    int64_t members, rows, cols, depth, pitch; /* of a block, without padding */
    int64_t a_members, b_members;              /* for exponents: 1 if all share one matrix */
    /* Places in scratch memory, in bytes; A's exponents are at 0. */
    int64_t exponents_b, planes_a, planes_b, sums, library, bytes;
} simt_fixed_plan;

/* It depends only on the device and on the operation's sizes, never on addresses. */
void simt_fixed_plan_make(simt_fixed_plan *plan, simt_device *device, const iso_gemm_op *g);

#endif
