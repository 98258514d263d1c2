/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.h - products of a sparse matrix and a vector by a vendor's library for sparse matrices.
 * Two vendors' libraries have the same structure: the matrix and the vectors become objects, one
 * call returns the size of the scratch memory, and one multiplies. The backend of each fills a
 * simt_sparse with its functions and numbers.
 *
 * The objects are made for each call. They describe memory that the library does not own, and their
 * analysis of a matrix would have to be dropped when the matrix is freed, which no backend is told.
 */
#ifndef ISOMER_SIMT_SPARSE_H
#define ISOMER_SIMT_SPARSE_H

#include "backends/simt/blas.h"

typedef struct simt_sparse_product {
    void *handle;
    uint32_t type, index; /* as the library numbers them */
    int64_t rows, cols, entries;
    void *offsets, *columns, *values, *x, *y;
    const void *alpha, *beta;           /* on the host, of the type of the values */
    void *matrix, *vector_x, *vector_y; /* the library's objects */
} simt_sparse_product;

/* A vendor's library. Functions return the library's status; the caller has made the device
 * current. */
typedef struct simt_sparse {
    const simt_blas_numbers *numbers; /* types, alloc_failed and status_name are used */
    const char *name;
    uint32_t index_32, index_64;
    uint32_t (*create)(void **handle);
    uint32_t (*set_up)(void *handle, void *stream); /* once, after create, for a stream's handle */
    uint32_t (*destroy)(void *handle);
    uint32_t (*make_matrix)(simt_sparse_product *product);
    uint32_t (*make_vector)(const simt_sparse_product *product, int64_t size, void *values,
                            void **vector);
    void (*free_matrix)(void *matrix);
    void (*free_vector)(void *vector);
    uint32_t (*size)(const simt_sparse_product *product, size_t *bytes);
    uint32_t (*multiply)(const simt_sparse_product *product, void *scratch, size_t bytes);
    const char *create_name, *set_up_name, *matrix_name, *vector_name, *size_name, *multiply_name;
    uint32_t (*version)(void *handle, int *version); /* optional */
} simt_sparse;

extern const simt_vendor_operation simt_sparse_spmv;

/* The version of the library as the device's handle reports it; 0 if it does not. */
int simt_sparse_version(simt_device *device);

/* Called by blas.c for a device or stream that has a state: destroy its handle. */
void simt_sparse_device_close(simt_device *device);
void simt_sparse_stream_close(simt_stream *stream);

#endif
