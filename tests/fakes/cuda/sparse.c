/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - a fake of libcusparse.so: its interface and its checks; the loops are in ../sparse.c.
 */
#include "tests/fakes/sparse.h"

#include "backends/cuda/symbols.h"

#include <stdlib.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
CUDA_CUSPARSE_SYMBOLS(DECLARE, DECLARE)
FAKE_API cuda_code cuCtxGetCurrent(cuda_context *context);

enum {
    OK = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = 2,
    INVALID = 3,
    EXECUTION = 6,
    NOT_SUPPORTED = 10,
    RESOURCES = 11
};

struct cusparseContext {
    uint32_t alive;
    cusparse_enum pointers;
    cuda_stream stream;
    fake_context *context;
};

enum { ALIVE = 0xc5ba5e };

static bool bad(cusparse_handle handle)
{
    return !handle || handle->alive != ALIVE;
}

const char *cusparseGetErrorName(cusparse_code code)
{
    return code == OK                ? "CUSPARSE_STATUS_SUCCESS"
           : code == NOT_INITIALIZED ? "CUSPARSE_STATUS_NOT_INITIALIZED"
           : code == ALLOC_FAILED    ? "CUSPARSE_STATUS_ALLOC_FAILED"
           : code == INVALID         ? "CUSPARSE_STATUS_INVALID_VALUE"
           : code == EXECUTION       ? "CUSPARSE_STATUS_EXECUTION_FAILED"
           : code == NOT_SUPPORTED   ? "CUSPARSE_STATUS_NOT_SUPPORTED"
           : code == RESOURCES       ? "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"
                                     : "unrecognized error code";
}

cusparse_code cusparseGetProperty(cusparse_enum property, int *value)
{
    const int version[] = {12, (int)fake_setting("FAKE_CUSPARSE_MINOR", 6), 3};
    if (property > 2) {
        return INVALID;
    }
    *value = version[property];
    return OK;
}

/* ---- handles --------------------------------------------------------------------------------- */

cusparse_code cusparseCreate(cusparse_handle *handle)
{
    cuda_context current = NULL;
    if (cuCtxGetCurrent(&current) != 0 || !current) {
        return NOT_INITIALIZED;
    }
    *handle = calloc(1, sizeof **handle);
    if (!*handle) {
        return ALLOC_FAILED;
    }
    (*handle)->alive = ALIVE;
    (*handle)->context = (fake_context *)(void *)current;
    return fake_context_error((*handle)->context) ? EXECUTION : OK;
}

cusparse_code cusparseDestroy(cusparse_handle handle)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    handle->alive = 0;
    free(handle);
    return OK;
}

cusparse_code cusparseSetStream(cusparse_handle handle, cuda_stream stream)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (stream && !fake_stream_known((fake_stream *)(void *)stream)) {
        return INVALID;
    }
    handle->stream = stream;
    return OK;
}

cusparse_code cusparseSetPointerMode(cusparse_handle handle, cusparse_enum mode)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    handle->pointers = mode;
    return mode > 1 ? INVALID : OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool type_of(cublas_enum type, fake_type *out)
{
    *out = type == CUBLAS_TYPE_F64 ? FAKE_F64 : FAKE_F32;
    return type == CUBLAS_TYPE_F32 || type == CUBLAS_TYPE_F64;
}

cusparse_code cusparseCreateCsr(cusparse_matrix *matrix, int64_t rows, int64_t cols,
                                int64_t entries, void *offsets, void *columns, void *values,
                                cusparse_enum offsets_type, cusparse_enum columns_type,
                                cusparse_enum base, cublas_enum type)
{
    fake_csr fields = {.wide = columns_type == CUSPARSE_I64,
                       .rows = rows,
                       .cols = cols,
                       .entries = entries,
                       .offsets = offsets,
                       .columns = columns,
                       .values = values};
    if (offsets_type != columns_type || !type_of(type, &fields.type)) {
        return NOT_SUPPORTED;
    }
    if (base != CUSPARSE_FROM_ZERO || (!fields.wide && columns_type != CUSPARSE_I32)) {
        return INVALID;
    }
    *matrix = (cusparse_matrix)(void *)fake_csr_create(&fields);
    return *matrix ? OK : INVALID;
}

static fake_csr *csr_of(cusparse_matrix_in matrix)
{
    return (fake_csr *)(uintptr_t)matrix;
}

static fake_vector *vector_of(cusparse_vector_in vector)
{
    return (fake_vector *)(uintptr_t)vector;
}

cusparse_code cusparseDestroySpMat(cusparse_matrix_in matrix)
{
    return fake_csr_destroy(csr_of(matrix)) ? OK : INVALID;
}

cusparse_code cusparseCreateDnVec(cusparse_vector *vector, int64_t size, void *values,
                                  cublas_enum type)
{
    fake_vector fields = {.size = size, .values = values};
    if (!type_of(type, &fields.type)) {
        return NOT_SUPPORTED;
    }
    *vector = (cusparse_vector)(void *)fake_vector_create(&fields);
    return *vector ? OK : INVALID;
}

cusparse_code cusparseDestroyDnVec(cusparse_vector_in vector)
{
    return fake_vector_destroy(vector_of(vector)) ? OK : INVALID;
}

/* ---- products -------------------------------------------------------------------------------- */

static cusparse_code product_of(cusparse_handle handle, cusparse_enum trans, const void *alpha,
                                cusparse_matrix_in a, cusparse_vector_in x, const void *beta,
                                cusparse_vector y, cublas_enum compute, cusparse_enum algorithm,
                                fake_spmv *out)
{
    fake_type type;
    *out = (fake_spmv){.a = csr_of(a), .x = vector_of(x), .y = vector_of(y)};
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (trans != CUSPARSE_NO_TRANS || algorithm > 3 || !type_of(compute, &type) ||
        handle->pointers != CUSPARSE_POINTERS_HOST) {
        return NOT_SUPPORTED;
    }
    if (!fake_spmv_fits(out) || !alpha || !beta || out->a->type != type) {
        return INVALID;
    }
    const bool f64 = type == FAKE_F64;
    out->alpha = f64 ? *(const double *)alpha : (double)*(const float *)alpha;
    out->beta = f64 ? *(const double *)beta : (double)*(const float *)beta;
    return OK;
}

cusparse_code cusparseSpMV_bufferSize(cusparse_handle handle, cusparse_enum trans,
                                      const void *alpha, cusparse_matrix_in a, cusparse_vector_in x,
                                      const void *beta, cusparse_vector y, cublas_enum compute,
                                      cusparse_enum algorithm, size_t *bytes)
{
    fake_spmv product;
    const cusparse_code code =
        product_of(handle, trans, alpha, a, x, beta, y, compute, algorithm, &product);
    if (code == OK) {
        *bytes = fake_spmv_bytes(&product);
    }
    return code;
}

cusparse_code cusparseSpMV(cusparse_handle handle, cusparse_enum trans, const void *alpha,
                           cusparse_matrix_in a, cusparse_vector_in x, const void *beta,
                           cusparse_vector y, cublas_enum compute, cusparse_enum algorithm,
                           void *buffer)
{
    fake_spmv product;
    cusparse_code code =
        product_of(handle, trans, alpha, a, x, beta, y, compute, algorithm, &product);
    if (code == OK) {
        code = fake_spmv_status(&product);
    }
    if (code != OK) {
        return code;
    }
    product.scratch = buffer;
    product.align_y = 16;
    const int done = fake_spmv_submit(handle->stream ? (fake_stream *)(void *)handle->stream
                                                     : fake_stream_default(handle->context),
                                      &product);
    return done == FAKE_OK ? OK : done == FAKE_INVALID_VALUE ? INVALID : EXECUTION;
}
