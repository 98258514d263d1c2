/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - declarations shared by the files of the product. */
#ifndef ISOMER_OPENMP_GEMM_H
#define ISOMER_OPENMP_GEMM_H

#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"

enum { GEMM_WORK_A_THREAD = 500000 /* multiplications that justify waking a thread */ };

/* The least multiple of `size` that is at least n. */
static inline int64_t gemm_round_up(int64_t n, int64_t size)
{
    return cpu_pieces(n, size) * size;
}

/* How many rows the register tile computes for a strip that has only `rows`. */
static inline int64_t gemm_strip_height(int64_t rows)
{
    return rows == 1 ? 1 : rows + (rows & 1);
}

/* How `tiled` computes a product. A table of measured choices may name one of these. */
typedef enum gemm_way {
    GEMM_PACKED = 0, /* the operands are packed */
    GEMM_SMALL = 1,  /* read where they are: a small product */
    GEMM_ROWS = 2,   /* the same, for a few rows and a matrix */
    GEMM_WAYS = 3
} gemm_way;
extern const char *const gemm_way_names[GEMM_WAYS];

/* gemm_unpacked.c: how many of the ways a type has, how a product is computed, and one that is not
 * packed. */
int gemm_way_count(const cpu_device *device, iso_dtype dtype);
gemm_way gemm_way_of(const cpu_device *device, const iso_gemm_op *g);
void gemm_unpacked(const cpu_device *device, const iso_gemm_op *g, gemm_way way);

/* gemm_naive.c */
void gemm_naive(const cpu_device *device, const iso_gemm_op *op);

/* gemm_fixed.c */
int64_t gemm_fixed_workspace(const cpu_device *device, const iso_gemm_op *op);
void gemm_fixed(const cpu_device *device, const iso_op *op);
void gemm_fixed_describe(const cpu_device *device, const iso_gemm_op *op, iso_op_info *out);

/* gemm_vendor.c */
iso_status gemm_vendor_supports(const iso_gemm_op *op);
iso_status gemm_vendor(const cpu_device *device, const iso_gemm_op *op);
void gemm_vendor_describe(const iso_gemm_op *op, iso_op_info *out);

#endif
