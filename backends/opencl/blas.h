/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - what the files that call CLBlast share. */
#ifndef ISOMER_OPENCL_BLAS_H
#define ISOMER_OPENCL_BLAS_H

#include "backends/opencl/library.h"

/* Operations of one class use the same kernels. */
enum {
    OCL_CLASSES_OF_TRANSPOSES = 1024, /* before these: products */
    OCL_CLASSES_OF_REDUCTIONS = 1088,
    OCL_CLASSES_OF_SYRK = 1152,
    OCL_CLASSES_OF_TRSM = 1280,
    OCL_BLAS_CLASSES = 1536,
    OCL_PREPARE_SIDE = 640 /* larger sizes are cut to this when an operation is prepared */
};

typedef struct clblast_table LOADER_TABLE(CLBLAST_SYMBOLS) clblast_table;
extern clblast_table ocl_clblast;

bool ocl_blas_has_type(iso_dtype dtype); /* products, symmetric products and solves of it */
int ocl_blas_type(iso_dtype dtype);      /* 0 to 3: f32, f64, c64, c128 */
unsigned ocl_blas_trans(iso_trans trans);
clblast_narrow_pair ocl_narrow_pair(double real, double imaginary);
clblast_pair ocl_pair(double real, double imaginary);

/* UNSUPPORTED if the device has no f64. The second function: if the type needs it. */
iso_status ocl_blas_check_f64(const simt_device *device, const char *what);
iso_status ocl_blas_check_f64_of(const simt_device *device, const char *what, iso_dtype dtype);
/* UNSUPPORTED if a matrix has too many elements. */
iso_status ocl_blas_check_span(const char *name, int64_t rows, int64_t ld, int64_t batch,
                               int64_t stride);

/* Submits a routine, which consists of several commands that get no events. */
iso_status ocl_blas_submit(ocl_stream *stream, clblast_code (*routine)(ocl_stream *, const void *),
                           const void *args, const char *name);

/* The temporary buffers of a run that prepares a routine: operands and a workspace. */
typedef struct ocl_rehearsal {
    ocl_device *device;
    ocl_memory memory[4];
    int32_t count;
} ocl_rehearsal;
iso_status ocl_blas_take(ocl_rehearsal *self, int64_t bytes, iso_ref *ref);
/* Less than 8. */
uint32_t ocl_blas_size_class(int64_t m, int64_t n, int64_t k);
/* Runs the routine once on temporary buffers, unless an operation of its class was prepared
 * before. */
iso_status ocl_blas_prepare(simt_stream *stream, const iso_op *op, uint32_t bit,
                            iso_status (*run)(ocl_rehearsal *, simt_stream *, const iso_op *));

/* blas_level3.c */
extern const simt_vendor_operation ocl_blas_syrk, ocl_blas_trsm;

#endif
