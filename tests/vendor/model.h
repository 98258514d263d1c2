/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - matrices of random whole numbers on the host and on a device, and plain loops that say
 * what an operation gives. The model knows nothing of how a backend calls a library. */
#ifndef ISOMER_TESTS_VENDOR_MODEL_H
#define ISOMER_TESTS_VENDOR_MODEL_H

#include "tests/concurrency/check.h"

#include <complex.h>
#include <stdbool.h>

typedef double complex number;

/* A batch of matrices. A call must not change the elements between its rows and matrices. */
typedef struct matrix {
    iso_dtype dtype;
    iso_order order;
    int64_t rows, cols, ld, batch, stride; /* elements; a stride of 0: all are the same */
    int64_t start;                         /* bytes before the first element */
    int64_t bytes;
    uint8_t *host, *before; /* now, and as it was uploaded */
    iso_operand on_device;
} matrix;

typedef struct shape {
    iso_dtype dtype;
    iso_order order;
    int64_t rows, cols, gap, batch;
    bool shared;   /* one matrix for the whole batch */
    int64_t shift; /* of the start, in elements */
} shape;

typedef struct bench {
    const char *spec;
    iso_device device;
    iso_stream stream;
    int library; /* index */
    int64_t runs, failures;
} bench;

/* A call that must succeed. */
void bench_ran(bench *self, const char *what, iso_status status);

matrix matrix_make(const shape *of);
void matrix_free(bench *self, matrix *m);
number matrix_get(const matrix *m, int64_t member, int64_t i, int64_t j);
void matrix_set(matrix *m, int64_t member, int64_t i, int64_t j, number value);
/* Elements are whole numbers of up to `most` in magnitude; those of i8 are any, and
 * those of i32 near the ends. */
void matrix_fill(matrix *m, int most, uint64_t seed);
/* Every element becomes a NaN. */
void matrix_spoil(matrix *m);
void matrix_upload(bench *self, matrix *m);
void matrix_download(bench *self, matrix *m);

/* Element (i, j) of op(m). */
number matrix_op(const matrix *m, iso_trans trans, int64_t member, int64_t i, int64_t j);
/* Whether element (i, j) is in the triangle; 0: all are. */
bool in_triangle(iso_triangle triangle, int64_t i, int64_t j);

/* Compares the downloaded matrix with `model`, to within a share of the largest magnitude; 0: the
 * same numbers. What is outside of the triangle, and between rows and matrices, must have the bits
 * that were uploaded. */
void matrix_judge(bench *self, const matrix *is, const matrix *model, iso_triangle triangle,
                  double share, const char *what);
/* The next random number. */
uint64_t random_next(uint64_t *state);

void check_gemm(bench *self, iso_dtype dtype, iso_dtype dtype_c);
void check_syrk(bench *self, iso_dtype dtype);
void check_trsm(bench *self, iso_dtype dtype);

#endif
