/* SPDX-License-Identifier: Apache-2.0 */
/* rocsparse.c - a fake of librocsparse.so: its interface and its checks; the loops are in
 * ../sparse.c. */
#include "tests/fakes/sparse.h"

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <stdlib.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_ROCSPARSE_SYMBOLS(DECLARE, DECLARE)
fake_context *fake_hip_context(void);

enum {
    OK = 0,
    INVALID_HANDLE = 1,
    NOT_IMPLEMENTED = 2,
    INVALID_POINTER = 3,
    INVALID_SIZE = 4,
    MEMORY = 5,
    INTERNAL = 6,
    INVALID_VALUE = 7,
    TYPE_MISMATCH = 11,
    ALIVE = 0x05ba5e
};

struct _rocsparse_handle {
    uint32_t alive;
    rocsparse_enum pointers;
    fake_context *context;
    hip_stream stream;
};

static bool bad(rocsparse_object handle)
{
    return !handle || handle->alive != ALIVE;
}

const char *rocsparse_get_status_name(rocsparse_code code)
{
    static const char *const names[] = {
        "rocsparse_status_success",         "rocsparse_status_invalid_handle",
        "rocsparse_status_not_implemented", "rocsparse_status_invalid_pointer",
        "rocsparse_status_invalid_size",    "rocsparse_status_memory_error",
        "rocsparse_status_internal_error",  "rocsparse_status_invalid_value"};
    return code < sizeof names / sizeof names[0] ? names[code] : "Unrecognized status code";
}

/* ---- handles --------------------------------------------------------------------------------- */

rocsparse_code rocsparse_create_handle(rocsparse_object *handle)
{
    fake_context *context = fake_hip_context();
    if (!context) {
        return INTERNAL;
    }
    *handle = calloc(1, sizeof **handle);
    if (!*handle) {
        return MEMORY;
    }
    (*handle)->alive = ALIVE;
    (*handle)->context = context;
    return OK;
}

rocsparse_code rocsparse_destroy_handle(rocsparse_object handle)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    handle->alive = 0;
    free(handle);
    return OK;
}

rocsparse_code rocsparse_set_stream(rocsparse_object handle, hip_stream stream)
{
    if (bad(handle) || (stream && !fake_stream_known((fake_stream *)(void *)stream))) {
        return INVALID_HANDLE;
    }
    handle->stream = stream;
    return OK;
}

rocsparse_code rocsparse_set_pointer_mode(rocsparse_object handle, rocsparse_enum mode)
{
    if (bad(handle) || mode > 1) {
        return mode > 1 ? INVALID_VALUE : INVALID_HANDLE;
    }
    handle->pointers = mode;
    return OK;
}

rocsparse_code rocsparse_get_version(rocsparse_object handle, int *version)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    *version = 300201;
    return OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool type_of(rocsparse_enum type, fake_type *out)
{
    *out = type == ROCSPARSE_F64 ? FAKE_F64 : FAKE_F32;
    return type == ROCSPARSE_F32 || type == ROCSPARSE_F64;
}

rocsparse_code rocsparse_create_csr_descr(rocsparse_matrix *matrix, int64_t rows, int64_t cols,
                                          int64_t entries, void *offsets, void *columns,
                                          void *values, rocsparse_enum offsets_type,
                                          rocsparse_enum columns_type, rocsparse_enum base,
                                          rocsparse_enum type)
{
    fake_csr fields = {.wide = columns_type == ROCSPARSE_I64,
                       .rows = rows,
                       .cols = cols,
                       .entries = entries,
                       .offsets = offsets,
                       .columns = columns,
                       .values = values};
    if (!offsets || (entries > 0 && (!columns || !values))) {
        return INVALID_POINTER;
    }
    if (offsets_type != columns_type) {
        return TYPE_MISMATCH; /* AMD's accepts i64 with i32, which is not used */
    }
    if (base != ROCSPARSE_FROM_ZERO || (!fields.wide && columns_type != ROCSPARSE_I32) ||
        !type_of(type, &fields.type)) {
        return INVALID_VALUE;
    }
    *matrix = (rocsparse_matrix)(void *)fake_csr_create(&fields);
    return *matrix ? OK : INVALID_SIZE;
}

static fake_csr *csr_of(rocsparse_matrix_in matrix)
{
    return (fake_csr *)(uintptr_t)matrix;
}

static fake_vector *vector_of(rocsparse_vector_in vector)
{
    return (fake_vector *)(uintptr_t)vector;
}

rocsparse_code rocsparse_destroy_spmat_descr(rocsparse_matrix_in matrix)
{
    return fake_csr_destroy(csr_of(matrix)) ? OK : INVALID_POINTER;
}

rocsparse_code rocsparse_create_dnvec_descr(rocsparse_vector *vector, int64_t size, void *values,
                                            rocsparse_enum type)
{
    fake_vector fields = {.size = size, .values = values};
    if (!type_of(type, &fields.type)) {
        return INVALID_VALUE;
    }
    if (size > 0 && !values) {
        return INVALID_POINTER;
    }
    *vector = (rocsparse_vector)(void *)fake_vector_create(&fields);
    return *vector ? OK : INVALID_SIZE;
}

rocsparse_code rocsparse_destroy_dnvec_descr(rocsparse_vector_in vector)
{
    return fake_vector_destroy(vector_of(vector)) ? OK : INVALID_POINTER;
}

/* ---- products -------------------------------------------------------------------------------- */

static rocsparse_code run(rocsparse_object handle, fake_spmv *product)
{
    const int code = fake_spmv_submit(handle->stream ? (fake_stream *)(void *)handle->stream
                                                     : fake_stream_default(handle->context),
                                      product);
    return code == FAKE_OK ? OK : code == FAKE_INVALID_VALUE ? INVALID_POINTER : INTERNAL;
}

rocsparse_code rocsparse_spmv(rocsparse_object handle, rocsparse_enum trans, const void *alpha,
                              rocsparse_matrix_in a, rocsparse_vector_in x, const void *beta,
                              rocsparse_vector y, rocsparse_enum compute, rocsparse_enum algorithm,
                              rocsparse_enum stage, size_t *bytes, void *buffer)
{
    fake_spmv product = {.a = csr_of(a), .x = vector_of(x), .y = vector_of(y), .scratch = buffer};
    fake_type type;
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if (!alpha || !beta || !fake_spmv_fits(&product) || (!buffer && !bytes)) {
        return INVALID_POINTER;
    }
    if (trans != ROCSPARSE_NO_TRANS || algorithm != ROCSPARSE_ALGORITHM ||
        !type_of(compute, &type) || type != product.a->type ||
        handle->pointers != ROCSPARSE_POINTERS_HOST) {
        return NOT_IMPLEMENTED;
    }
    const bool f64 = type == FAKE_F64;
    product.alpha = f64 ? *(const double *)alpha : (double)*(const float *)alpha;
    product.beta = f64 ? *(const double *)beta : (double)*(const float *)beta;
    switch (stage) {
    case ROCSPARSE_SIZE:
        *bytes = fake_spmv_bytes(&product);
        return OK;
    case ROCSPARSE_COMPUTE:
        return fake_spmv_status(&product) ? fake_spmv_status(&product) : run(handle, &product);
    default:
        return INVALID_VALUE;
    }
}
