/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - the results of the vendors' BLAS libraries, computed in plain loops on the host:
 * column-major, submitted to a stream like any other work. The fakes check what their interfaces
 * require; here sizes, leading dimensions and that operands are device memory are checked.
 */
#ifndef ISOMER_TESTS_FAKES_BLAS_H
#define ISOMER_TESTS_FAKES_BLAS_H

#include "tests/fakes/engine.h"

typedef enum fake_type { FAKE_F16 = 1, FAKE_BF16, FAKE_F32, FAKE_F64, FAKE_C64 } fake_type;

size_t fake_type_bytes(fake_type type);
/* Elements as numbers; not of C64. */
double fake_element(fake_type type, const void *at, int64_t index);
void fake_element_set(fake_type type, void *at, int64_t index, double value);

typedef struct fake_matrix {
    const void *at;
    bool trans;
    int64_t ld, stride;
} fake_matrix;

/* d = alpha * op(a) * op(b) + beta * c, for each of a batch; c and d may be the same. */
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

/* Whether a product of bytes is one that vendors support: a is transposed, and sizes and places are
 * multiples of 4. */
bool fake_bytes_fit(const fake_product *product);

/* FAKE_INVALID_VALUE if an argument is impossible. */
int fake_bytes_submit(fake_stream *stream, const fake_product *product); /* no type */
int fake_product_submit(fake_stream *stream, const fake_product *product);
int fake_sum_submit(fake_stream *stream, const fake_sum *sum);
int fake_fold_submit(fake_stream *stream, const fake_fold *fold);

#endif
