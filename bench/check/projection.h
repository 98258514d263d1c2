/* SPDX-License-Identifier: Apache-2.0 */
/* projection.h - one half of a check by projections; gemm.c explains it. */
#ifndef ISOMER_CHECK_PROJECTION_H
#define ISOMER_CHECK_PROJECTION_H

#include "bench/check/check.h"

/* A matrix whose rows and columns are row_step and col_step elements apart. */
typedef struct check_view {
    iso_dtype dtype;
    const unsigned char *data;
    int64_t rows, cols, row_step, col_step;
} check_view;

/* The expected projection of C: blocks of `width` columns are summed with random signs. */
typedef struct check_projection {
    int64_t rows, blocks, width;
    double *sums;   /* rows x blocks: x (y s) */
    double *norms;  /* the norms of x's rows */
    double *spread; /* for each block of y: times a norm and the relative error, the bound of an
                       error */
    double *usual;  /* for each block of y: times a norm, the size of an ordinary sum */
} check_projection;

int64_t check_projection_bytes(int64_t rows, int64_t cols, int64_t width);
void check_projection_place(check_projection *out, void *memory, int64_t rows, int64_t cols,
                            int64_t width);
/* Computes the projection of x (rows x k) times y (k x cols). False: no memory. */
bool check_projection_make(check_projection *out, const check_view *x, const check_view *y,
                           uint64_t signs);
double check_sign(uint64_t signs, int64_t index);

#endif
