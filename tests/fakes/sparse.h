/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.h - the objects and the product of the vendors' libraries for sparse matrices. As strict
 * as cuSPARSE 12.6: offsets and columns of one type, aligned, and no more entries than rows *
 * columns. A row is added from its last entry to its first, without fma, and the scratch memory is
 * overwritten.
 */
#ifndef ISOMER_TESTS_FAKES_SPARSE_H
#define ISOMER_TESTS_FAKES_SPARSE_H

#include "tests/fakes/blas.h"

typedef struct fake_csr {
    uint32_t alive;
    fake_type type;
    bool wide; /* offsets and columns have 64 bits */
    int64_t rows, cols, entries;
    const void *offsets, *columns, *values;
} fake_csr;

typedef struct fake_vector {
    uint32_t alive;
    fake_type type;
    int64_t size;
    void *values;
} fake_vector;

/* Copies the object; NULL: its fields are impossible, or there is no memory. */
fake_csr *fake_csr_create(const fake_csr *fields);
fake_vector *fake_vector_create(const fake_vector *fields);
bool fake_csr_destroy(fake_csr *matrix);
bool fake_vector_destroy(fake_vector *vector);

/* y = alpha * a * x + beta * y. */
typedef struct fake_spmv {
    const fake_csr *a;
    const fake_vector *x, *y;
    double alpha, beta;
    void *scratch;
    unsigned align_y; /* an unaligned y breaks the context; 0: y may be anywhere */
} fake_spmv;

/* Whether the objects are alive and fit each other. */
bool fake_spmv_fits(const fake_spmv *product);
/* The scratch memory that it needs. With FAKE_SPARSE=grow each call returns more. */
size_t fake_spmv_bytes(const fake_spmv *product);
int fake_spmv_submit(fake_stream *stream, const fake_spmv *product);
/* FAKE_SPARSE as a number: the status that products return, except of one row, which is what the
 * backend's trial program multiplies; 0: none. */
unsigned fake_spmv_status(const fake_spmv *product);

#endif
