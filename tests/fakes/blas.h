/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - what the vendors' BLAS libraries compute, in plain loops on the host: column-major,
 * put on a stream like any other work. The stand-ins check what their interfaces promise; here it
 * is checked that sizes and leading dimensions fit and that operands are device memory.
 */
#ifndef ISOMER_TESTS_FAKES_BLAS_H
#define ISOMER_TESTS_FAKES_BLAS_H

#include "tests/fakes/engine.h"

typedef enum fake_type { FAKE_F16 = 1, FAKE_BF16, FAKE_F32, FAKE_F64, FAKE_C64 } fake_type;

size_t fake_type_bytes(fake_type type);

typedef struct fake_matrix {
    const void *at;
    bool trans;
    int64_t ld, stride;
} fake_matrix;

/* d = alpha * op(a) * op(b) + beta * c, for each of a batch; c and d may be one. */
typedef struct fake_product {
    fake_type type;
    int64_t m, n, k, batch;
    double alpha, beta;
    fake_matrix a, b, c;
    void *d;
    int64_t ld_d, stride_d;
} fake_product;

/* c = alpha * op(a) + beta * op(b), m x n. For C64 the factors are real. */
typedef struct fake_sum {
    fake_type type;
    int64_t m, n;
    double alpha, beta;
    fake_matrix a, b;
    void *c;
    int64_t ld_c;
} fake_sum;

typedef enum fake_fold_kind { FAKE_DOT, FAKE_ASUM } fake_fold_kind;

/* Results are in device memory. */
typedef struct fake_fold {
    fake_fold_kind kind;
    fake_type type;
    int64_t n, batch;
    const void *x, *y;
    int64_t step_x, step_y, stride_x, stride_y;
    void *results;
} fake_fold;

/* FAKE_INVALID_VALUE where an argument cannot be. */
int fake_product_submit(fake_stream *stream, const fake_product *product);
int fake_sum_submit(fake_stream *stream, const fake_sum *sum);
int fake_fold_submit(fake_stream *stream, const fake_fold *fold);

#endif
