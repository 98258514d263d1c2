/* SPDX-License-Identifier: Apache-2.0 */
/* rocsparse.c - librocsparse.so over libcusparse. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <pthread.h>
#include <stdlib.h>

#define MEMBER(result, name, parameters) static result(*name) parameters;
CUDA_CUSPARSE_SYMBOLS(MEMBER, MEMBER)

#define DECLARE(result, name, parameters) OVER_API result name parameters;
HIP_ROCSPARSE_SYMBOLS(DECLARE, DECLARE)

enum {
    OK = 0,
    INVALID_HANDLE = 1,
    NOT_IMPLEMENTED = 2,
    MEMORY = 5,
    INTERNAL = 6,
    INVALID_VALUE = 7
};
enum { CUSPARSE_INVALID = 3, CUSPARSE_UNSUPPORTED = 10 };

struct _rocsparse_handle {
    cusparse_handle cusparse;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

#define REQUIRED(result, name, parameters) {#name, (void *)&name, true},
#define OPTIONAL(result, name, parameters) {#name, (void *)&name, false},

static void start(void)
{
    static const char *const names[] = {"libcusparse.so.12", "libcusparse.so.11", NULL};
    static const over_symbol symbols[] = {CUDA_CUSPARSE_SYMBOLS(REQUIRED, OPTIONAL)};
    usable = over_open(names, symbols, (int)(sizeof symbols / sizeof symbols[0]));
}

static bool ready(void)
{
    (void)pthread_once(&once, start);
    return usable;
}

static rocsparse_code status(cusparse_code code)
{
    return code == CUSPARSE_DONE           ? OK
           : code == CUSPARSE_ALLOC_FAILED ? MEMORY
           : code == CUSPARSE_INVALID      ? INVALID_VALUE
           : code == CUSPARSE_UNSUPPORTED  ? NOT_IMPLEMENTED
                                           : INTERNAL;
}

const char *rocsparse_get_status_name(rocsparse_code code)
{
    return code == OK                ? "rocsparse_status_success"
           : code == INVALID_HANDLE  ? "rocsparse_status_invalid_handle"
           : code == NOT_IMPLEMENTED ? "rocsparse_status_not_implemented"
           : code == MEMORY          ? "rocsparse_status_memory_error"
           : code == INVALID_VALUE   ? "rocsparse_status_invalid_value"
                                     : "rocsparse_status_internal_error";
}

/* Calls cuSPARSE with the thread's device. */
#define ON_DEVICE(call)                                                                            \
    do {                                                                                           \
        rocsparse_code code_ = over_enter() ? INTERNAL : OK;                                       \
        if (code_ == OK) {                                                                         \
            code_ = status(call);                                                                  \
            over_leave();                                                                          \
        }                                                                                          \
        return code_;                                                                              \
    } while (0)

/* ---- handles --------------------------------------------------------------------------------- */

rocsparse_code rocsparse_create_handle(rocsparse_object *handle)
{
    rocsparse_object made = ready() ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        return INTERNAL;
    }
    *handle = made;
    ON_DEVICE(cusparseCreate(&made->cusparse));
}

rocsparse_code rocsparse_destroy_handle(rocsparse_object handle)
{
    if (!handle) {
        return INVALID_HANDLE;
    }
    cusparse_handle cusparse = handle->cusparse;
    free(handle);
    ON_DEVICE(cusparseDestroy(cusparse));
}

rocsparse_code rocsparse_set_stream(rocsparse_object handle, hip_stream stream)
{
    ON_DEVICE(cusparseSetStream(handle->cusparse, (cuda_stream)(void *)stream));
}

rocsparse_code rocsparse_set_pointer_mode(rocsparse_object handle, rocsparse_enum mode)
{
    ON_DEVICE(cusparseSetPointerMode(handle->cusparse, mode));
}

/* cuSPARSE's version, in rocSPARSE's form: 1200603 for 12.6.3. */
rocsparse_code rocsparse_get_version(rocsparse_object handle, int *version)
{
    int part[3] = {0, 0, 0};
    if (!handle) {
        return INVALID_HANDLE;
    }
    for (cusparse_enum i = 0; i < 3; i++) {
        (void)cusparseGetProperty(i, &part[i]);
    }
    *version = part[0] * 100000 + part[1] * 100 + part[2];
    return OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool type_of(rocsparse_enum type, cublas_enum *out)
{
    *out = type == ROCSPARSE_F64 ? CUBLAS_TYPE_F64 : CUBLAS_TYPE_F32;
    return type == ROCSPARSE_F32 || type == ROCSPARSE_F64;
}

static cusparse_enum index_of(rocsparse_enum type)
{
    return type == ROCSPARSE_I64 ? CUSPARSE_I64 : CUSPARSE_I32;
}

rocsparse_code rocsparse_create_csr_descr(rocsparse_matrix *matrix, int64_t rows, int64_t cols,
                                          int64_t entries, void *offsets, void *columns,
                                          void *values, rocsparse_enum offsets_type,
                                          rocsparse_enum columns_type, rocsparse_enum base,
                                          rocsparse_enum type)
{
    cublas_enum own;
    if (!type_of(type, &own) || base != ROCSPARSE_FROM_ZERO) {
        return INVALID_VALUE;
    }
    return status(cusparseCreateCsr((cusparse_matrix *)(void *)matrix, rows, cols, entries, offsets,
                                    columns, values, index_of(offsets_type), index_of(columns_type),
                                    CUSPARSE_FROM_ZERO, own));
}

rocsparse_code rocsparse_destroy_spmat_descr(rocsparse_matrix_in matrix)
{
    return status(cusparseDestroySpMat((cusparse_matrix_in)(const void *)matrix));
}

rocsparse_code rocsparse_create_dnvec_descr(rocsparse_vector *vector, int64_t size, void *values,
                                            rocsparse_enum type)
{
    cublas_enum own;
    if (!type_of(type, &own)) {
        return INVALID_VALUE;
    }
    return status(cusparseCreateDnVec((cusparse_vector *)(void *)vector, size, values, own));
}

rocsparse_code rocsparse_destroy_dnvec_descr(rocsparse_vector_in vector)
{
    return status(cusparseDestroyDnVec((cusparse_vector_in)(const void *)vector));
}

/* ---- products -------------------------------------------------------------------------------- */

rocsparse_code rocsparse_spmv(rocsparse_object handle, rocsparse_enum trans, const void *alpha,
                              rocsparse_matrix_in a, rocsparse_vector_in x, const void *beta,
                              rocsparse_vector y, rocsparse_enum compute, rocsparse_enum algorithm,
                              rocsparse_enum stage, size_t *bytes, void *buffer)
{
    const cusparse_matrix_in matrix = (cusparse_matrix_in)(const void *)a;
    const cusparse_vector_in from = (cusparse_vector_in)(const void *)x;
    const cusparse_vector to = (cusparse_vector)(void *)y;
    cublas_enum own;
    if (!handle) {
        return INVALID_HANDLE;
    }
    if (trans != ROCSPARSE_NO_TRANS || algorithm != ROCSPARSE_ALGORITHM ||
        !type_of(compute, &own)) {
        return NOT_IMPLEMENTED;
    }
    if (stage == ROCSPARSE_SIZE) {
        ON_DEVICE(cusparseSpMV_bufferSize(handle->cusparse, CUSPARSE_NO_TRANS, alpha, matrix, from,
                                          beta, to, own, CUSPARSE_ALGORITHM, bytes));
    }
    ON_DEVICE(cusparseSpMV(handle->cusparse, CUSPARSE_NO_TRANS, alpha, matrix, from, beta, to, own,
                           CUSPARSE_ALGORITHM, buffer));
}
