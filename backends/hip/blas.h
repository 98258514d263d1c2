/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - rocBLAS and hipBLASLt. BLAS is column-major: a row-major matrix is the transpose of a
 * column-major one with the same leading dimension, so operands are swapped and nothing is moved.
 *
 * Handles belong to streams and are made at a stream's first vendor operation. The workspace of an
 * operation begins with a constant, followed by the library's part.
 */
#ifndef ISOMER_HIP_BLAS_H
#define ISOMER_HIP_BLAS_H

#include "backends/hip/library.h"

#define BLAS_LIBRARY_BYTES (INT64_C(32) << 20) /* AMD's default for a product */

enum {
    BLAS_CONSTANT_BYTES = 256, /* of workspace, for a constant 1 */
    BLAS_TILE = 1024,          /* edge of the squares that are transposed in place */
    BLAS_PLANS = 16            /* cached hipBLASLt products of a stream */
};

extern rocblas_api hip_blas;
extern hiplt_api hip_blaslt;

/* Each is opened at the first query; NULL if it is not available. */
const char *hip_blas_label(void);   /* "rocBLAS 5.2.0" */
const char *hip_blaslt_label(void); /* "hipBLASLt" */

/* The `vendor` of a stream and of a device. */
typedef struct blaslt_plan blaslt_plan;
typedef struct blas_stream {
    rocblas_object handle; /* NULL until needed */
    blaslt_plan *plans;    /* BLAS_PLANS; NULL until needed */
    int next_plan;
} blas_stream;

typedef struct blas_device {
    hiplt_handle lt;
    int lt_version; /* 100202 for 1.2.2 */
} blas_device;

static inline hip_device *blas_device_of(simt_device *device)
{
    return device->native;
}

static inline hip_queue *blas_queue(simt_stream *stream)
{
    return stream->native;
}

static inline char *blas_place(iso_ref ref)
{
    return (char *)ref.memory + ref.offset;
}

/* ISO_OK, or the failure of a call; a lost device is reported as such. */
iso_status hip_blas_check(hip_queue *queue, rocblas_code code, const char *call);
/* A handle on the stream, for results on the host or the device, with the workspace of `op` (the
 * library's own if it has none). The device is current. */
iso_status hip_blas_handle(simt_stream *stream, const iso_op *op, rocblas_enum pointers,
                           rocblas_object *out);

/* What each library does: blas_gemm.c, blas_lt.c, blas_level1.c. */
extern const simt_vendor_operation hip_blas_gemm, hip_blaslt_gemm, hip_blas_transpose,
    hip_blas_reduce;

/* blas_gemm.c */
/* UNSUPPORTED if an environment variable changes the requested precision, or the device does not
 * have it. */
iso_status hip_blas_precision(const hip_device *device, const iso_gemm_op *op);

/* blas_lt.c */
/* The version, once the device has a handle; 0 before. */
int blaslt_version(simt_device *device);
void hip_blaslt_stream_close(blas_stream *own);
void hip_blaslt_device_close(blas_device *own);

#endif
