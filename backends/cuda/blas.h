/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - cuBLAS and cuBLASLt. BLAS is column-major: a row-major matrix is the transpose of a
 * column-major one with the same leading dimension, so operands are swapped and nothing is moved.
 *
 * Handles belong to streams and are made at a stream's first vendor operation. The workspace of an
 * operation begins with a constant, followed by the library's part.
 */
#ifndef ISOMER_CUDA_BLAS_H
#define ISOMER_CUDA_BLAS_H

#include "backends/cuda/library.h"

enum {
    BLAS_CONSTANT_BYTES = 256, /* of workspace, for a constant 1 */
    BLAS_TILE = 1024,          /* edge of the squares that are transposed in place */
    BLAS_PLANS = 16            /* cached cuBLASLt products of a stream */
};

extern cublas_api cuda_blas;
extern cublaslt_api cuda_blaslt;

/* Each is opened at the first query; NULL if it is not available. */
const char *cuda_blas_label(void);   /* "cuBLAS 13.1.0" */
const char *cuda_blaslt_label(void); /* "cuBLASLt 13.1.0" */

/* The `vendor` of a stream and of a device. */
typedef struct blaslt_plan blaslt_plan;
typedef struct blas_stream {
    cublas_handle handle; /* NULL until needed */
    blaslt_plan *plans;   /* BLAS_PLANS; NULL until needed */
    int next_plan;
} blas_stream;

typedef struct blas_device {
    cublaslt_handle lt;
} blas_device;

/* Size of the library's workspace on this device. */
int64_t blas_library_bytes(const cuda_device *device);

static inline cuda_device *blas_device_of(simt_device *device)
{
    return device->native;
}

static inline cuda_queue *blas_queue(simt_stream *stream)
{
    return stream->native;
}

/* The library's part of the operation's workspace. */
static inline void *blas_workspace(const iso_op *op)
{
    return cuda_pointer(cuda_place(op->workspace) + BLAS_CONSTANT_BYTES);
}

static inline cuda_address blas_constant(const iso_op *op)
{
    return cuda_place(op->workspace);
}

/* cuBLAS's number for a stored type. */
extern const cublas_enum cuda_blas_types[];

/* ISO_OK, or the failure of a call; a lost device is reported as such. */
iso_status cuda_blas_check(cuda_queue *queue, cublas_code code, const char *call);
/* A handle on the stream, for results on the host or the device, with the workspace of `op` (none
 * if it has none). The device's context is current. */
iso_status cuda_blas_handle(simt_stream *stream, const iso_op *op, cublas_enum pointers,
                            cublas_handle *out);

/* What each library does: blas_gemm.c, blas_lt.c, blas_level1.c. */
extern const simt_vendor_operation cuda_blas_gemm, cuda_blaslt_gemm, cuda_blas_transpose,
    cuda_blas_reduce;

/* blas_gemm.c */
cublas_enum blas_compute(const iso_gemm_op *op);
/* UNSUPPORTED if an environment variable changes the requested precision, or the device does not
 * have it. */
iso_status cuda_blas_precision(const cuda_device *device, const iso_gemm_op *op);

/* blas_lt.c */
void cuda_blaslt_stream_close(blas_stream *own);
void cuda_blaslt_device_close(blas_device *own);

#endif
