/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ridge.h - ridge regression of a sparse system by LSMR, for several coefficients: the points of an
 * L-curve. With the coefficient lambda, x makes |A x - b|^2 + lambda^2 |x|^2 least.
 */
#ifndef RIDGE_H
#define RIDGE_H

#include "lsmr.h"

typedef struct ridge_point {
    double lambda;
    double residual; /* |A x - b|, computed from x */
    double norm;     /* |x| */
    double gradient; /* |A' (A x - b) + lambda^2 x|, computed from x: 0 but for rounding */
    lsmr_result result;
} ridge_point;

enum { RIDGE_POINTS = 10 };

/* Points with ten coefficients from 0.1 to 5000, each the same multiple of the one before. */
void ridge_coefficients(ridge_point points[RIDGE_POINTS]);

/* Solves for up to RIDGE_POINTS points, `at_once` of them at a time (what the solver was made for,
 * or less). `args` has b, an x of `at_once` vectors, and what else lsmr_solve takes. */
iso_status ridge_run(iso_device device, iso_stream stream, iso_sparse matrix, lsmr *solver,
                     const lsmr_args *args, ridge_point *points, int count, int at_once);

/* ---- Input ----------------------------------------------------------------------------------- */

/* A random sparse matrix on the host, as iso_sparse_args has it: i32 and f32. */
typedef struct ridge_input {
    int64_t rows, cols, entries;
    int32_t *offsets, *columns;
    float *values;
    float *b; /* rows elements: normal, mean 3, deviation 1 */
} ridge_input;

/* Each element is there with the probability `density`. NO_MEMORY, or more than 2^31 - 1 entries:
 * nothing is kept. */
iso_status ridge_input_make(int64_t rows, int64_t cols, double density, ridge_input *out);
void ridge_input_free(ridge_input *input);
/* To the device, as f32 or f64. Waits until all is there. `b` is a new buffer. */
iso_status ridge_input_upload(iso_device device, iso_stream stream, const ridge_input *input,
                              iso_dtype dtype, iso_sparse *matrix, iso_operand *b);

#endif
