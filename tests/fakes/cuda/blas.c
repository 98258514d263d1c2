/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - a fake of libcublas.so: its interface and its checks; the loops are in ../blas.c. */
#include "tests/fakes/blas.h"

#include "backends/cuda/symbols.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
CUDA_CUBLAS_SYMBOLS(DECLARE, DECLARE)
FAKE_API cuda_code cuCtxGetCurrent(cuda_context *context);

enum {
    OK = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = 3,
    INVALID = 7,
    EXECUTION = 13,
    NOT_SUPPORTED = 15
};

struct cublasContext {
    uint32_t alive;
    cublas_enum pointers, math;
    bool math_set; /* the program has set the math mode; otherwise a handle may use fewer bits */
    cuda_stream stream;
    fake_context *context;
};

enum { ALIVE = 0xb1a5b1a5 };

static bool bad(cublas_handle handle)
{
    return !handle || handle->alive != ALIVE;
}

static fake_stream *stream_of(cublas_handle handle)
{
    return handle->stream ? (fake_stream *)(void *)handle->stream
                          : fake_stream_default(handle->context);
}

static cublas_code status(int code)
{
    return code == FAKE_OK              ? OK
           : code == FAKE_INVALID_VALUE ? INVALID
           : code == FAKE_OUT_OF_MEMORY ? ALLOC_FAILED
                                        : EXECUTION;
}

const char *cublasGetStatusName(cublas_code code)
{
    return code == OK                ? "CUBLAS_STATUS_SUCCESS"
           : code == NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED"
           : code == ALLOC_FAILED    ? "CUBLAS_STATUS_ALLOC_FAILED"
           : code == INVALID         ? "CUBLAS_STATUS_INVALID_VALUE"
           : code == EXECUTION       ? "CUBLAS_STATUS_EXECUTION_FAILED"
           : code == NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                     : "CUBLAS_STATUS unknown";
}

/* ---- handles --------------------------------------------------------------------------------- */

cublas_code cublasCreate_v2(cublas_handle *handle)
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

cublas_code cublasDestroy_v2(cublas_handle handle)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    handle->alive = 0;
    (void)fake_record_forbids(handle->context, true); /* the vendor's waits for the device */
    free(handle);
    return OK;
}

cublas_code cublasGetProperty(cublas_enum property, int *value)
{
    static const int version[] = {13, 0, 0};
    if (property > 2) {
        return INVALID;
    }
    *value = version[property];
    return OK;
}

cublas_code cublasSetStream_v2(cublas_handle handle, cuda_stream stream)
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

cublas_code cublasSetWorkspace_v2(cublas_handle handle, void *workspace, size_t bytes)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (bytes > 0 && ((uintptr_t)workspace % 256 || !fake_is_device(workspace, bytes))) {
        return INVALID;
    }
    return OK;
}

cublas_code cublasSetPointerMode_v2(cublas_handle handle, cublas_enum mode)
{
    if (bad(handle) || mode > 1) {
        return mode > 1 ? INVALID : NOT_INITIALIZED;
    }
    handle->pointers = mode;
    return OK;
}

cublas_code cublasSetAtomicsMode(cublas_handle handle, cublas_enum mode)
{
    return bad(handle) ? NOT_INITIALIZED : mode > 1 ? INVALID : OK;
}

cublas_code cublasSetMathMode(cublas_handle handle, cublas_enum mode)
{
    const cublas_enum flags = mode & ~15u;
    if (bad(handle) || (mode & 15u) > 8 || flags > 16) {
        return bad(handle) ? NOT_INITIALIZED : INVALID;
    }
    handle->math = mode;
    handle->math_set = true;
    return OK;
}

cublas_code cublasSetEmulationStrategy(cublas_handle handle, cublas_enum strategy)
{
    return bad(handle) ? NOT_INITIALIZED : strategy > 2 ? INVALID : OK;
}

/* ---- products -------------------------------------------------------------------------------- */

static bool type_of(cublas_enum type, fake_type *out)
{
    *out = type == CUBLAS_TYPE_F16    ? FAKE_F16
           : type == CUBLAS_TYPE_BF16 ? FAKE_BF16
           : type == CUBLAS_TYPE_F32  ? FAKE_F32
                                      : FAKE_F64;
    return type == CUBLAS_TYPE_F16 || type == CUBLAS_TYPE_BF16 || type == CUBLAS_TYPE_F32 ||
           type == CUBLAS_TYPE_F64;
}

/* The products that there are: types of A and B, of C, and of the computation. */
typedef struct product_kind {
    cublas_enum in, out, compute;
    fake_type type, type_c, factor;
} product_kind;

static const product_kind product_kinds[] = {
    {CUBLAS_TYPE_F16, CUBLAS_TYPE_F16, CUBLAS_IN_F32, FAKE_F16, FAKE_F16, FAKE_F32},
    {CUBLAS_TYPE_F16, CUBLAS_TYPE_F32, CUBLAS_IN_F32, FAKE_F16, FAKE_F32, FAKE_F32},
    {CUBLAS_TYPE_BF16, CUBLAS_TYPE_BF16, CUBLAS_IN_F32, FAKE_BF16, FAKE_BF16, FAKE_F32},
    {CUBLAS_TYPE_BF16, CUBLAS_TYPE_F32, CUBLAS_IN_F32, FAKE_BF16, FAKE_F32, FAKE_F32},
    {CUBLAS_TYPE_F32, CUBLAS_TYPE_F32, CUBLAS_IN_F32, FAKE_F32, FAKE_F32, FAKE_F32},
    {CUBLAS_TYPE_F32, CUBLAS_TYPE_F32, CUBLAS_IN_TF32, FAKE_F32, FAKE_F32, FAKE_F32},
    {CUBLAS_TYPE_F64, CUBLAS_TYPE_F64, CUBLAS_IN_F64, FAKE_F64, FAKE_F64, FAKE_F64},
    {CUBLAS_TYPE_C64, CUBLAS_TYPE_C64, CUBLAS_IN_F32, FAKE_C64, FAKE_C64, FAKE_C64},
    {CUBLAS_TYPE_C128, CUBLAS_TYPE_C128, CUBLAS_IN_F64, FAKE_C128, FAKE_C128, FAKE_C128},
};

static const product_kind *product_kind_of(cublas_enum in, cublas_enum out, cublas_enum compute)
{
    for (size_t i = 0; i < sizeof product_kinds / sizeof product_kinds[0]; i++) {
        const product_kind *kind = &product_kinds[i];
        if (kind->in == in && kind->out == out && kind->compute == compute) {
            return kind;
        }
    }
    return NULL;
}

/* A handle whose math mode was never set gives results that no check accepts: the real one might
 * use TensorFloat-32 or narrow sums. */
static double inexact(cublas_handle handle)
{
    return handle->math_set ? 1.0 : 1.25;
}

/* Types were checked. */
static cublas_code multiply_bytes(cublas_handle handle, fake_product *p, bool trans_a, bool trans_b,
                                  const int32_t *alpha, const int32_t *beta)
{
    p->alpha = *alpha;
    p->beta = *beta;
    p->a.trans = trans_a;
    p->b.trans = trans_b;
    return fake_bytes_fit(p) && handle->pointers == CUBLAS_POINTERS_HOST
               ? status(fake_bytes_submit(stream_of(handle), p))
               : NOT_SUPPORTED;
}

static cublas_code multiply(cublas_handle handle, fake_product *p, cublas_enum a_type,
                            cublas_enum b_type, cublas_enum c_type, cublas_enum compute,
                            cublas_enum trans_a, cublas_enum trans_b, const void *alpha,
                            const void *beta, cublas_algorithm algorithm)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (a_type == CUBLAS_TYPE_I8 && b_type == CUBLAS_TYPE_I8 && c_type == CUBLAS_TYPE_I32 &&
        compute == CUBLAS_IN_I32 && alpha && beta) {
        return multiply_bytes(handle, p, trans_a == CUBLAS_TRANS, trans_b == CUBLAS_TRANS, alpha,
                              beta);
    }
    if (trans_a > 2 || trans_b > 2 || !alpha || !beta || algorithm < -1) {
        return INVALID;
    }
    const product_kind *kind = product_kind_of(a_type, c_type, compute);
    if (!kind || a_type != b_type || handle->pointers != CUBLAS_POINTERS_HOST) {
        return NOT_SUPPORTED;
    }
    const fake_factor by = fake_factor_of(kind->factor, alpha);
    const fake_factor plus = fake_factor_of(kind->factor, beta);
    p->type = kind->type;
    p->type_c = kind->type_c;
    p->alpha = by.real * inexact(handle);
    p->alpha_imaginary = by.imaginary * inexact(handle);
    p->beta = plus.real;
    p->beta_imaginary = plus.imaginary;
    p->a.trans = trans_a != CUBLAS_NO_TRANS;
    p->b.trans = trans_b != CUBLAS_NO_TRANS;
    p->a.conj = trans_a == CUBLAS_CONJ_TRANS;
    p->b.conj = trans_b == CUBLAS_CONJ_TRANS;
    return status(fake_product_submit(stream_of(handle), p));
}

cublas_code cublasGemmStridedBatchedEx_64(cublas_handle handle, cublas_enum trans_a,
                                          cublas_enum trans_b, int64_t m, int64_t n, int64_t k,
                                          const void *alpha, const void *a, cublas_enum a_type,
                                          int64_t lda, long long stride_a, const void *b,
                                          cublas_enum b_type, int64_t ldb, long long stride_b,
                                          const void *beta, void *c, cublas_enum c_type,
                                          int64_t ldc, long long stride_c, int64_t batch,
                                          cublas_enum compute, cublas_algorithm algorithm)
{
    fake_product p = {.m = m,
                      .n = n,
                      .k = k,
                      .batch = batch,
                      .a = {.at = a, .ld = lda, .stride = stride_a},
                      .b = {.at = b, .ld = ldb, .stride = stride_b},
                      .c = {.at = c, .ld = ldc, .stride = stride_c},
                      .d = c,
                      .ld_d = ldc,
                      .stride_d = stride_c};
    return multiply(handle, &p, a_type, b_type, c_type, compute, trans_a, trans_b, alpha, beta,
                    algorithm);
}

cublas_code cublasGemmStridedBatchedEx(cublas_handle handle, cublas_enum trans_a,
                                       cublas_enum trans_b, int m, int n, int k, const void *alpha,
                                       const void *a, cublas_enum a_type, int lda,
                                       long long stride_a, const void *b, cublas_enum b_type,
                                       int ldb, long long stride_b, const void *beta, void *c,
                                       cublas_enum c_type, int ldc, long long stride_c, int batch,
                                       cublas_enum compute, cublas_algorithm algorithm)
{
    return cublasGemmStridedBatchedEx_64(handle, trans_a, trans_b, m, n, k, alpha, a, a_type, lda,
                                         stride_a, b, b_type, ldb, stride_b, beta, c, c_type, ldc,
                                         stride_c, batch, compute, algorithm);
}

cublas_code cublasGemmEx_64(cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b,
                            int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                            cublas_enum a_type, int64_t lda, const void *b, cublas_enum b_type,
                            int64_t ldb, const void *beta, void *c, cublas_enum c_type, int64_t ldc,
                            cublas_enum compute, cublas_algorithm algorithm)
{
    return cublasGemmStridedBatchedEx_64(handle, trans_a, trans_b, m, n, k, alpha, a, a_type, lda,
                                         0, b, b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute,
                                         algorithm);
}

cublas_code cublasGemmEx(cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b, int m,
                         int n, int k, const void *alpha, const void *a, cublas_enum a_type,
                         int lda, const void *b, cublas_enum b_type, int ldb, const void *beta,
                         void *c, cublas_enum c_type, int ldc, cublas_enum compute,
                         cublas_algorithm algorithm)
{
    return cublasGemmEx_64(handle, trans_a, trans_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb,
                           beta, c, c_type, ldc, compute, algorithm);
}

/* ---- symmetric products and triangular solves ------------------------------------------------ */

static cublas_code square(cublas_handle handle, cublas_enum triangle, cublas_enum trans,
                          fake_square *s)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (triangle > 1 || trans > 1 || handle->pointers != CUBLAS_POINTERS_HOST) {
        return INVALID;
    }
    s->lower = triangle == CUBLAS_LOWER;
    s->a.trans = trans == CUBLAS_TRANS;
    s->alpha.real *= inexact(handle);
    s->alpha.imaginary *= inexact(handle);
    return status(fake_square_submit(stream_of(handle), s));
}

static cublas_code solve(cublas_handle handle, cublas_enum side, cublas_enum triangle,
                         cublas_enum trans, cublas_enum diagonal, fake_solve *s)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (side > 1 || triangle > 1 || trans > 2 || diagonal > 1 ||
        handle->pointers != CUBLAS_POINTERS_HOST) {
        return INVALID;
    }
    s->left = side == CUBLAS_LEFT;
    s->lower = triangle == CUBLAS_LOWER;
    s->unit = diagonal == CUBLAS_UNIT;
    s->a.trans = trans != CUBLAS_NO_TRANS;
    s->a.conj = trans == CUBLAS_CONJ_TRANS;
    s->alpha.real *= inexact(handle);
    s->alpha.imaginary *= inexact(handle);
    return status(fake_solve_submit(stream_of(handle), s));
}

#define SYRK(name, size, number, pointed)                                                          \
    cublas_code name(cublas_handle handle, cublas_enum triangle, cublas_enum trans, size n,        \
                     size k, const pointed *alpha, const pointed *a, size lda,                     \
                     const pointed *beta, pointed *c, size ldc)                                    \
    {                                                                                              \
        fake_square what = {.type = number,                                                        \
                            .n = n,                                                                \
                            .k = k,                                                                \
                            .batch = 1,                                                            \
                            .alpha = fake_factor_of(number, alpha),                                \
                            .beta = fake_factor_of(number, beta),                                  \
                            .a = {.at = a, .ld = lda},                                             \
                            .c = c,                                                                \
                            .ld_c = ldc};                                                          \
        return square(handle, triangle, trans, &what);                                             \
    }
#define TRSM(name, size, number, pointed)                                                          \
    cublas_code name(cublas_handle handle, cublas_enum side, cublas_enum triangle,                 \
                     cublas_enum trans, cublas_enum diagonal, size m, size n,                      \
                     const pointed *alpha, const pointed *a, size lda, pointed *b, size ldb)       \
    {                                                                                              \
        fake_solve what = {.type = number,                                                         \
                           .m = m,                                                                 \
                           .n = n,                                                                 \
                           .batch = 1,                                                             \
                           .alpha = fake_factor_of(number, alpha),                                 \
                           .a = {.at = a, .ld = lda},                                              \
                           .b = b,                                                                 \
                           .ld_b = ldb};                                                           \
        return solve(handle, side, triangle, trans, diagonal, &what);                              \
    }
#define LEVEL3(letter, number, pointed)                                                            \
    SYRK(cublas##letter##syrk_v2, int, number, pointed)                                            \
    SYRK(cublas##letter##syrk_v2_64, int64_t, number, pointed)                                     \
    TRSM(cublas##letter##trsm_v2, int, number, pointed)                                            \
    TRSM(cublas##letter##trsm_v2_64, int64_t, number, pointed)

LEVEL3(S, FAKE_F32, float)
LEVEL3(D, FAKE_F64, double)
LEVEL3(C, FAKE_C64, struct float2)
LEVEL3(Z, FAKE_C128, struct double2)

/* ---- sums ------------------------------------------------------------------------------------ */

static cublas_code add(cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b,
                       fake_sum *sum)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (trans_a > 1 || trans_b > 1 || handle->pointers != CUBLAS_POINTERS_HOST) {
        return INVALID;
    }
    sum->a.trans = trans_a == CUBLAS_TRANS;
    sum->b.trans = trans_b == CUBLAS_TRANS;
    return status(fake_sum_submit(stream_of(handle), sum));
}

#define GEAM(name, number, pointed)                                                                \
    cublas_code name(cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b, int m, int n, \
                     const pointed *alpha, const pointed *a, int lda, const pointed *beta,         \
                     const pointed *b, int ldb, pointed *c, int ldc)                               \
    {                                                                                              \
        fake_sum sum = {.type = number,                                                            \
                        .m = m,                                                                    \
                        .n = n,                                                                    \
                        .alpha = factor(number, alpha),                                            \
                        .beta = factor(number, beta),                                              \
                        .a = {.at = a, .ld = lda},                                                 \
                        .b = {.at = b, .ld = ldb},                                                 \
                        .c = c,                                                                    \
                        .ld_c = ldc};                                                              \
        return add(handle, trans_a, trans_b, &sum);                                                \
    }

static double factor(fake_type type, const void *at)
{
    return type == FAKE_F32 ? (double)*(const float *)at : *(const double *)at;
}

GEAM(cublasSgeam, FAKE_F32, float)
GEAM(cublasDgeam, FAKE_F64, double)
GEAM(cublasZgeam, FAKE_C128, struct double2)

/* ---- folds ----------------------------------------------------------------------------------- */

static cublas_code fold(cublas_handle handle, const fake_fold *what)
{
    if (bad(handle)) {
        return NOT_INITIALIZED;
    }
    if (handle->pointers != CUBLAS_POINTERS_DEVICE) {
        return NOT_SUPPORTED;
    }
    return status(fake_fold_submit(stream_of(handle), what));
}

#define DOT(name, size, number, pointed)                                                           \
    cublas_code name(cublas_handle handle, size n, const pointed *x, size incx, const pointed *y,  \
                     size incy, pointed *result)                                                   \
    {                                                                                              \
        const fake_fold what = {.kind = FAKE_DOT,                                                  \
                                .type = number,                                                    \
                                .n = n,                                                            \
                                .batch = 1,                                                        \
                                .x = x,                                                            \
                                .y = y,                                                            \
                                .step_x = incx,                                                    \
                                .step_y = incy,                                                    \
                                .results = result};                                                \
        return fold(handle, &what);                                                                \
    }
#define NORM(name, size, which, number, pointed)                                                   \
    cublas_code name(cublas_handle handle, size n, const pointed *x, size incx, pointed *result)   \
    {                                                                                              \
        const fake_fold what = {.kind = which,                                                     \
                                .type = number,                                                    \
                                .n = n,                                                            \
                                .batch = 1,                                                        \
                                .x = x,                                                            \
                                .step_x = incx,                                                    \
                                .results = result};                                                \
        return fold(handle, &what);                                                                \
    }

DOT(cublasSdot_v2, int, FAKE_F32, float)
DOT(cublasDdot_v2, int, FAKE_F64, double)
DOT(cublasSdot_v2_64, int64_t, FAKE_F32, float)
DOT(cublasDdot_v2_64, int64_t, FAKE_F64, double)
NORM(cublasSasum_v2, int, FAKE_ASUM, FAKE_F32, float)
NORM(cublasDasum_v2, int, FAKE_ASUM, FAKE_F64, double)
NORM(cublasSasum_v2_64, int64_t, FAKE_ASUM, FAKE_F32, float)
NORM(cublasDasum_v2_64, int64_t, FAKE_ASUM, FAKE_F64, double)

cublas_code cublasDotEx_64(cublas_handle handle, int64_t n, const void *x, cublas_enum x_type,
                           int64_t incx, const void *y, cublas_enum y_type, int64_t incy,
                           void *result, cublas_enum result_type, cublas_enum execution_type)
{
    fake_fold what = {.kind = FAKE_DOT,
                      .n = n,
                      .batch = 1,
                      .x = x,
                      .y = y,
                      .step_x = incx,
                      .step_y = incy,
                      .results = result};
    if (!type_of(x_type, &what.type)) {
        return INVALID;
    }
    const cublas_enum execution = x_type == CUBLAS_TYPE_F64 ? CUBLAS_TYPE_F64 : CUBLAS_TYPE_F32;
    if (y_type != x_type || result_type != x_type || execution_type != execution) {
        return NOT_SUPPORTED;
    }
    return fold(handle, &what);
}

cublas_code cublasDotEx(cublas_handle handle, int n, const void *x, cublas_enum x_type, int incx,
                        const void *y, cublas_enum y_type, int incy, void *result,
                        cublas_enum result_type, cublas_enum execution_type)
{
    return cublasDotEx_64(handle, n, x, x_type, incx, y, y_type, incy, result, result_type,
                          execution_type);
}
