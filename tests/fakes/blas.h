/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - the results of the vendors' BLAS libraries, computed in plain loops on the host:
 * column-major, submitted to a stream like any other work. The fakes check what their interfaces
 * require; here sizes, leading dimensions and that operands are device memory are checked.
 */
#ifndef ISOMER_TESTS_FAKES_BLAS_H
#define ISOMER_TESTS_FAKES_BLAS_H

#include "tests/fakes/engine.h"

typedef enum fake_type {
    FAKE_F16 = 1,
    FAKE_BF16,
    FAKE_F32,
    FAKE_F64,
    FAKE_C64,
    FAKE_C128,
    FAKE_I8,
    FAKE_I32
} fake_type;

size_t fake_type_bytes(fake_type type);
/* Elements as numbers; not of complex types and integers. */
double fake_element(fake_type type, const void *at, int64_t index);
void fake_element_set(fake_type type, void *at, int64_t index, double value);

typedef struct fake_matrix {
    const void *at;
    bool trans;
    int64_t ld, stride;
    bool conj; /* complex types */
} fake_matrix;

/* A factor. Its type has those of complex types, too. */
typedef struct fake_factor {
    double real, imaginary;
} fake_factor;
/* Reads a factor of this type. */
fake_factor fake_factor_of(fake_type type, const void *at);

/* d = alpha * op(a) * op(b) + beta * c, for each of a batch; c and d may be the same. */
typedef struct fake_product {
    fake_type type, type_c; /* type_c, of c and d: 0: the same */
    int64_t m, n, k, batch;
    double alpha, beta;
    double alpha_imaginary, beta_imaginary;
    fake_matrix a, b, c;
    void *d;
    int64_t ld_d, stride_d;
} fake_product;

/* c = alpha * op(a) * op(a)' + beta * c for one triangle, each of a batch. */
typedef struct fake_square {
    fake_type type;
    bool lower;
    int64_t n, k, batch;
    fake_factor alpha, beta;
    fake_matrix a;
    void *c;
    int64_t ld_c, stride_c;
} fake_square;

/* Solves op(a) x = alpha b, or x op(a) = alpha b, in place, each of a batch. */
typedef struct fake_solve {
    fake_type type;
    bool left, lower, unit;
    int64_t m, n, batch;
    fake_factor alpha;
    fake_matrix a;
    void *b;
    int64_t ld_b, stride_b;
} fake_solve;

/* c = alpha * op(a) + beta * op(b), m x n. For C128 the factors are real. */
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

/* Whether a product of bytes is one that vendors support: a is transposed and b is not, and sizes
 * and places are multiples of 4. */
bool fake_bytes_fit(const fake_product *product);

/* FAKE_INVALID_VALUE if an argument is impossible. */
int fake_bytes_submit(fake_stream *stream, const fake_product *product); /* no type */
int fake_product_submit(fake_stream *stream, const fake_product *product);
int fake_square_submit(fake_stream *stream, const fake_square *square);
int fake_solve_submit(fake_stream *stream, const fake_solve *solve);
int fake_sum_submit(fake_stream *stream, const fake_sum *sum);
int fake_fold_submit(fake_stream *stream, const fake_fold *fold);

/* ---- parts of the above ---------------------------------------------------------------------- */

/* Says on stderr which operand is not device memory. */
bool fake_on_device(const char *what, const void *at, int64_t elements, fake_type type);
/* From the first element of a batch of rows x cols to the last. */
int64_t fake_extent(int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch);
bool fake_ld_fits(int64_t rows, int64_t ld);
/* level3.c: one product of complex numbers. */
void fake_complex_product(const fake_product *product, int64_t number);

#endif
