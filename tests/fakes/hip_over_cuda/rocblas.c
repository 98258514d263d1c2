/* SPDX-License-Identifier: Apache-2.0 */
/* rocblas.c - librocblas.so over libcublas. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(result, name, parameters) static result(*name) parameters;
CUDA_CUBLAS_SYMBOLS(MEMBER, MEMBER)

#define DECLARE(result, name, parameters) OVER_API result name parameters;
HIP_ROCBLAS_SYMBOLS(DECLARE, DECLARE)

enum {
    OK = 0,
    INVALID_HANDLE = 1,
    NOT_IMPLEMENTED = 2,
    INVALID_POINTER = 3,
    INVALID_SIZE = 4,
    MEMORY = 5,
    INTERNAL = 6,
    INVALID_VALUE = 11
};
enum { CUBLAS_ALLOC = 3, CUBLAS_INVALID = 7, CUBLAS_UNSUPPORTED = 15 };

struct _rocblas_handle {
    cublas_handle cublas;
    rocblas_enum math;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

#define REQUIRED(result, name, parameters) {#name, (void *)&name, true},
#define OPTIONAL(result, name, parameters) {#name, (void *)&name, false},

static void start(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        NULL};
    static const over_symbol symbols[] = {CUDA_CUBLAS_SYMBOLS(REQUIRED, OPTIONAL)};
    usable = over_open(names, symbols, (int)(sizeof symbols / sizeof symbols[0]));
}

static bool ready(void)
{
    (void)pthread_once(&once, start);
    return usable;
}

static rocblas_code status(cublas_code code)
{
    return code == CUBLAS_DONE          ? OK
           : code == CUBLAS_ALLOC       ? MEMORY
           : code == CUBLAS_INVALID     ? INVALID_SIZE
           : code == CUBLAS_UNSUPPORTED ? NOT_IMPLEMENTED
                                        : INTERNAL;
}

/* Calls cuBLAS with the thread's device. */
#define ON_DEVICE(call)                                                                            \
    do {                                                                                           \
        rocblas_code code_ = over_enter() ? INTERNAL : OK;                                         \
        if (code_ == OK) {                                                                         \
            code_ = status(call);                                                                  \
            over_leave();                                                                          \
        }                                                                                          \
        return code_;                                                                              \
    } while (0)

/* ---- handles --------------------------------------------------------------------------------- */

/* As strict as AMD's: no TensorFloat-32, no narrow sums. */
static cublas_code create(cublas_handle *handle)
{
    cublas_code code = cublasCreate_v2(handle);
    if (code == CUBLAS_DONE) {
        code = cublasSetMathMode(*handle, CUBLAS_MATH_DEFAULT | CUBLAS_MATH_FULL_SUMS);
    }
    return code;
}

rocblas_code rocblas_create_handle(rocblas_object *handle)
{
    rocblas_object made = ready() ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        return INTERNAL;
    }
    *handle = made;
    ON_DEVICE(create(&made->cublas));
}

rocblas_code rocblas_destroy_handle(rocblas_object handle)
{
    if (!handle) {
        return INVALID_HANDLE;
    }
    cublas_handle cublas = handle->cublas;
    free(handle);
    ON_DEVICE(cublasDestroy_v2(cublas));
}

rocblas_code rocblas_set_stream(rocblas_object handle, hip_stream stream)
{
    ON_DEVICE(cublasSetStream_v2(handle->cublas, (cuda_stream)(void *)stream));
}

rocblas_code rocblas_set_pointer_mode(rocblas_object handle, rocblas_enum mode)
{
    ON_DEVICE(cublasSetPointerMode_v2(handle->cublas, mode));
}

rocblas_code rocblas_set_atomics_mode(rocblas_object handle, rocblas_enum mode)
{
    ON_DEVICE(cublasSetAtomicsMode(handle->cublas, mode));
}

rocblas_code rocblas_set_math_mode(rocblas_object handle, rocblas_enum mode)
{
    if (mode > ROCBLAS_MATH_XF32) {
        return INVALID_VALUE;
    }
    handle->math = mode;
    return OK;
}

rocblas_code rocblas_set_workspace(rocblas_object handle, void *address, size_t bytes)
{
    ON_DEVICE(cublasSetWorkspace_v2(handle->cublas, address, bytes));
}

rocblas_code rocblas_get_version_string(char *text, size_t capacity)
{
    int part[3] = {0, 0, 0};
    for (cublas_enum i = 0; ready() && i < 3; i++) {
        (void)cublasGetProperty(i, &part[i]);
    }
    const int length =
        snprintf(text, capacity, "4.4.0.over-cublas-%d.%d.%d", part[0], part[1], part[2]);
    return length < (int)capacity ? OK : INVALID_SIZE;
}

const char *rocblas_status_to_string(rocblas_code code)
{
    return code == OK                ? "rocblas_status_success"
           : code == NOT_IMPLEMENTED ? "rocblas_status_not_implemented"
           : code == INVALID_SIZE    ? "rocblas_status_invalid_size"
           : code == MEMORY          ? "rocblas_status_memory_error"
                                     : "rocblas_status_internal_error";
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct product {
    rocblas_enum trans_a, trans_b, type, compute;
    int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    const void *alpha, *a, *b, *beta;
    void *c;
} product;

/* What may be multiplied: the types of a and b, of c and d, and of the computation. */
typedef struct kind {
    rocblas_enum in, out, compute;
    cublas_enum cublas_in, cublas_out, cublas_compute;
} kind;

static const kind kinds[] = {
    {ROCBLAS_F16, ROCBLAS_F16, ROCBLAS_F32, CUBLAS_TYPE_F16, CUBLAS_TYPE_F16, CUBLAS_IN_F32},
    {ROCBLAS_BF16, ROCBLAS_BF16, ROCBLAS_F32, CUBLAS_TYPE_BF16, CUBLAS_TYPE_BF16, CUBLAS_IN_F32},
    {ROCBLAS_F32, ROCBLAS_F32, ROCBLAS_F32, CUBLAS_TYPE_F32, CUBLAS_TYPE_F32, CUBLAS_IN_F32},
    {ROCBLAS_F64, ROCBLAS_F64, ROCBLAS_F64, CUBLAS_TYPE_F64, CUBLAS_TYPE_F64, CUBLAS_IN_F64},
    {ROCBLAS_I8, ROCBLAS_I32, ROCBLAS_I32, CUBLAS_TYPE_I8, CUBLAS_TYPE_I32, CUBLAS_IN_I32},
    {ROCBLAS_F16, ROCBLAS_F32, ROCBLAS_F32, CUBLAS_TYPE_F16, CUBLAS_TYPE_F32, CUBLAS_IN_F32},
    {ROCBLAS_BF16, ROCBLAS_F32, ROCBLAS_F32, CUBLAS_TYPE_BF16, CUBLAS_TYPE_F32, CUBLAS_IN_F32},
    {ROCBLAS_C64, ROCBLAS_C64, ROCBLAS_C64, CUBLAS_TYPE_C64, CUBLAS_TYPE_C64, CUBLAS_IN_F32},
    {ROCBLAS_C128, ROCBLAS_C128, ROCBLAS_C128, CUBLAS_TYPE_C128, CUBLAS_TYPE_C128, CUBLAS_IN_F64},
};

/* The types of a, b, c, d and of the computation. */
static const kind *kind_of(const rocblas_enum types[5])
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const kind *k = &kinds[i];
        if (types[0] == k->in && types[1] == k->in && types[2] == k->out && types[3] == k->out &&
            types[4] == k->compute) {
            return k;
        }
    }
    return NULL;
}

static bool trans_of(rocblas_enum trans, cublas_enum *out)
{
    *out = trans == ROCBLAS_TRANS        ? CUBLAS_TRANS
           : trans == ROCBLAS_CONJ_TRANS ? CUBLAS_CONJ_TRANS
                                         : CUBLAS_NO_TRANS;
    return trans == ROCBLAS_TRANS || trans == ROCBLAS_NO_TRANS || trans == ROCBLAS_CONJ_TRANS;
}

static bool fits(const product *p)
{
    const int64_t sizes[] = {p->m, p->n, p->k, p->lda, p->ldb, p->ldc, p->batch};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] > INT_MAX) {
            return false;
        }
    }
    return true;
}

static cublas_code call(rocblas_object handle, const product *p, const kind *k, cublas_enum trans_a,
                        cublas_enum trans_b)
{
    const cublas_enum in = k->cublas_in;
    const cublas_enum out = k->cublas_out;
    const cublas_enum compute = k->in == ROCBLAS_F32 && handle->math == ROCBLAS_MATH_XF32
                                    ? CUBLAS_IN_TF32
                                    : k->cublas_compute;
    if (fits(p)) {
        return cublasGemmStridedBatchedEx(
            handle->cublas, trans_a, trans_b, (int)p->m, (int)p->n, (int)p->k, p->alpha, p->a, in,
            (int)p->lda, p->stride_a, p->b, in, (int)p->ldb, p->stride_b, p->beta, p->c, out,
            (int)p->ldc, p->stride_c, (int)p->batch, compute, CUBLAS_ALGORITHM_DEFAULT);
    }
    if (!cublasGemmStridedBatchedEx_64) {
        return CUBLAS_UNSUPPORTED;
    }
    return cublasGemmStridedBatchedEx_64(handle->cublas, trans_a, trans_b, p->m, p->n, p->k,
                                         p->alpha, p->a, in, p->lda, p->stride_a, p->b, in, p->ldb,
                                         p->stride_b, p->beta, p->c, out, p->ldc, p->stride_c,
                                         p->batch, compute, CUBLAS_ALGORITHM_DEFAULT);
}

static rocblas_code multiply(rocblas_object handle, const product *p, const rocblas_enum types[5],
                             bool in_place)
{
    const kind *k = kind_of(types);
    cublas_enum trans_a = 0;
    cublas_enum trans_b = 0;
    if (!handle) {
        return INVALID_HANDLE;
    }
    if (!trans_of(p->trans_a, &trans_a) || !trans_of(p->trans_b, &trans_b)) {
        return INVALID_VALUE;
    }
    if (!k || !in_place) {
        return NOT_IMPLEMENTED;
    }
    ON_DEVICE(call(handle, p, k, trans_a, trans_b));
}

#define GEMM(name, size)                                                                           \
    rocblas_code name(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m,   \
                      size n, size k, const void *alpha, const void *a, rocblas_enum a_type,       \
                      size lda, const void *b, rocblas_enum b_type, size ldb, const void *beta,    \
                      const void *c, rocblas_enum c_type, size ldc, void *d, rocblas_enum d_type,  \
                      size ldd, rocblas_enum compute_type, rocblas_enum algorithm,                 \
                      int32_t solution, uint32_t flags)                                            \
    {                                                                                              \
        const rocblas_enum types[] = {a_type, b_type, c_type, d_type, compute_type};               \
        const product p = {trans_a, trans_b, a_type, compute_type, m, n, k,    lda, ldb, ldd, 1,   \
                           0,       0,       0,      alpha,        a, b, beta, d};                 \
        (void)algorithm;                                                                           \
        (void)solution;                                                                            \
        (void)flags;                                                                               \
        return multiply(handle, &p, types, c == d && ldc == ldd);                                  \
    }
#define GEMM_BATCHED(name, size)                                                                   \
    rocblas_code name(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m,   \
                      size n, size k, const void *alpha, const void *a, rocblas_enum a_type,       \
                      size lda, int64_t stride_a, const void *b, rocblas_enum b_type, size ldb,    \
                      int64_t stride_b, const void *beta, const void *c, rocblas_enum c_type,      \
                      size ldc, int64_t stride_c, void *d, rocblas_enum d_type, size ldd,          \
                      int64_t stride_d, size batch, rocblas_enum compute_type,                     \
                      rocblas_enum algorithm, int32_t solution, uint32_t flags)                    \
    {                                                                                              \
        const rocblas_enum types[] = {a_type, b_type, c_type, d_type, compute_type};               \
        const product p = {trans_a, trans_b,  a_type,   compute_type, m,     n, k, lda,  ldb, ldd, \
                           batch,   stride_a, stride_b, stride_d,     alpha, a, b, beta, d};       \
        (void)algorithm;                                                                           \
        (void)solution;                                                                            \
        (void)flags;                                                                               \
        return multiply(handle, &p, types, c == d && ldc == ldd && stride_c == stride_d);          \
    }

GEMM(rocblas_gemm_ex, int32_t)
GEMM(rocblas_gemm_ex_64, int64_t)
GEMM_BATCHED(rocblas_gemm_strided_batched_ex, int32_t)
GEMM_BATCHED(rocblas_gemm_strided_batched_ex_64, int64_t)

/* The calls of the backend's trial program. */
OVER_API rocblas_code rocblas_sgemm(rocblas_object handle, rocblas_enum trans_a,
                                    rocblas_enum trans_b, int32_t m, int32_t n, int32_t k,
                                    const float *alpha, const float *a, int32_t lda, const float *b,
                                    int32_t ldb, const float *beta, float *c, int32_t ldc);
rocblas_code rocblas_sgemm(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b,
                           int32_t m, int32_t n, int32_t k, const float *alpha, const float *a,
                           int32_t lda, const float *b, int32_t ldb, const float *beta, float *c,
                           int32_t ldc)
{
    return rocblas_gemm_ex(handle, trans_a, trans_b, m, n, k, alpha, a, ROCBLAS_F32, lda, b,
                           ROCBLAS_F32, ldb, beta, c, ROCBLAS_F32, ldc, c, ROCBLAS_F32, ldc,
                           ROCBLAS_F32, ROCBLAS_ALGORITHM_STANDARD, 0, 0);
}

/* ---- symmetric products and triangular solves: a batch, one member after another ------------- */

static cublas_enum triangle_of(rocblas_enum triangle)
{
    return triangle == ROCBLAS_UPPER ? CUBLAS_UPPER : CUBLAS_LOWER;
}

#define SYRK(name, pointed, passed, size, theirs)                                                  \
    rocblas_code name(rocblas_object handle, rocblas_enum triangle, rocblas_enum trans, size n,    \
                      size k, const pointed *alpha, const pointed *a, size lda, int64_t stride_a,  \
                      const pointed *beta, pointed *c, size ldc, int64_t stride_c, size batch)     \
    {                                                                                              \
        cublas_code code = theirs ? CUBLAS_DONE : (cublas_code)CUBLAS_UNSUPPORTED;                 \
        cublas_enum own = 0;                                                                       \
        if (!handle || !trans_of(trans, &own) || over_enter()) {                                   \
            return handle ? INTERNAL : INVALID_HANDLE;                                             \
        }                                                                                          \
        for (int64_t i = 0; i < (int64_t)batch && code == CUBLAS_DONE; i++) {                      \
            code = theirs(handle->cublas, triangle_of(triangle), own, n, k, (const passed *)alpha, \
                          (const passed *)(a + i * stride_a), lda, (const passed *)beta,           \
                          (passed *)(c + i * stride_c), ldc);                                      \
        }                                                                                          \
        over_leave();                                                                              \
        return status(code);                                                                       \
    }
#define TRSM(name, pointed, passed, size, theirs)                                                  \
    rocblas_code name(rocblas_object handle, rocblas_enum side, rocblas_enum triangle,             \
                      rocblas_enum trans, rocblas_enum diagonal, size m, size n,                   \
                      const pointed *alpha, const pointed *a, size lda, int64_t stride_a,          \
                      pointed *b, size ldb, int64_t stride_b, size batch)                          \
    {                                                                                              \
        cublas_code code = theirs ? CUBLAS_DONE : (cublas_code)CUBLAS_UNSUPPORTED;                 \
        cublas_enum own = 0;                                                                       \
        if (!handle || !trans_of(trans, &own) || over_enter()) {                                   \
            return handle ? INTERNAL : INVALID_HANDLE;                                             \
        }                                                                                          \
        for (int64_t i = 0; i < (int64_t)batch && code == CUBLAS_DONE; i++) {                      \
            code = theirs(handle->cublas, side == ROCBLAS_LEFT ? CUBLAS_LEFT : CUBLAS_RIGHT,       \
                          triangle_of(triangle), own,                                              \
                          diagonal == ROCBLAS_UNIT ? CUBLAS_UNIT : CUBLAS_NON_UNIT, m, n,          \
                          (const passed *)alpha, (const passed *)(a + i * stride_a), lda,          \
                          (passed *)(b + i * stride_b), ldb);                                      \
        }                                                                                          \
        over_leave();                                                                              \
        return status(code);                                                                       \
    }
#define LEVEL3(letter, pointed, passed, theirs)                                                    \
    SYRK(rocblas_##letter##syrk_strided_batched, pointed, passed, int32_t,                         \
         cublas##theirs##syrk_v2)                                                                  \
    SYRK(rocblas_##letter##syrk_strided_batched_64, pointed, passed, int64_t,                      \
         cublas##theirs##syrk_v2_64)                                                               \
    TRSM(rocblas_##letter##trsm_strided_batched, pointed, passed, int32_t,                         \
         cublas##theirs##trsm_v2)                                                                  \
    TRSM(rocblas_##letter##trsm_strided_batched_64, pointed, passed, int64_t,                      \
         cublas##theirs##trsm_v2_64)

LEVEL3(s, float, float, S)
LEVEL3(d, double, double, D)
LEVEL3(c, rocblas_f32_pair, struct float2, C)
LEVEL3(z, rocblas_f64_pair, struct double2, Z)

/* ---- sums and folds -------------------------------------------------------------------------- */

/* cuBLAS has these sums in 32 bits only. */
static bool small(int64_t one, int64_t two)
{
    return one <= INT_MAX && two <= INT_MAX;
}

#define GEAM(name, pointed, passed, size, theirs)                                                  \
    rocblas_code name(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m,   \
                      size n, const pointed *alpha, const pointed *a, size lda,                    \
                      const pointed *beta, const pointed *b, size ldb, pointed *c, size ldc)       \
    {                                                                                              \
        cublas_enum own_a = 0;                                                                     \
        cublas_enum own_b = 0;                                                                     \
        if (!handle || !trans_of(trans_a, &own_a) || !trans_of(trans_b, &own_b)) {                 \
            return handle ? INVALID_VALUE : INVALID_HANDLE;                                        \
        }                                                                                          \
        if (!small(m, n) || !small(lda, ldb) || !small(ldc, 0)) {                                  \
            return NOT_IMPLEMENTED;                                                                \
        }                                                                                          \
        ON_DEVICE(theirs(handle->cublas, own_a, own_b, (int)m, (int)n, (const passed *)alpha,      \
                         (const passed *)a, (int)lda, (const passed *)beta, (const passed *)b,     \
                         (int)ldb, (passed *)c, (int)ldc));                                        \
    }

/* A batch, one member after another. */
#define DOT(name, pointed, size, theirs)                                                           \
    rocblas_code name(rocblas_object handle, size n, const pointed *x, size step_x,                \
                      int64_t stride_x, const pointed *y, size step_y, int64_t stride_y,           \
                      size batch, pointed *results)                                                \
    {                                                                                              \
        cublas_code code = theirs ? CUBLAS_DONE : (cublas_code)CUBLAS_UNSUPPORTED;                 \
        if (!handle || over_enter()) {                                                             \
            return handle ? INTERNAL : INVALID_HANDLE;                                             \
        }                                                                                          \
        for (int64_t i = 0; i < (int64_t)batch && code == CUBLAS_DONE; i++) {                      \
            code = theirs(handle->cublas, n, x + i * stride_x, step_x, y + i * stride_y, step_y,   \
                          results + i);                                                            \
        }                                                                                          \
        over_leave();                                                                              \
        return status(code);                                                                       \
    }
#define NORM(name, pointed, size, theirs)                                                          \
    rocblas_code name(rocblas_object handle, size n, const pointed *x, size step_x,                \
                      int64_t stride_x, size batch, pointed *results)                              \
    {                                                                                              \
        cublas_code code = theirs ? CUBLAS_DONE : (cublas_code)CUBLAS_UNSUPPORTED;                 \
        if (!handle || over_enter()) {                                                             \
            return handle ? INTERNAL : INVALID_HANDLE;                                             \
        }                                                                                          \
        for (int64_t i = 0; i < (int64_t)batch && code == CUBLAS_DONE; i++) {                      \
            code = theirs(handle->cublas, n, x + i * stride_x, step_x, results + i);               \
        }                                                                                          \
        over_leave();                                                                              \
        return status(code);                                                                       \
    }

GEAM(rocblas_sgeam, float, float, int32_t, cublasSgeam)
GEAM(rocblas_dgeam, double, double, int32_t, cublasDgeam)
GEAM(rocblas_zgeam, rocblas_f64_pair, struct double2, int32_t, cublasZgeam)
GEAM(rocblas_sgeam_64, float, float, int64_t, cublasSgeam)
GEAM(rocblas_dgeam_64, double, double, int64_t, cublasDgeam)
GEAM(rocblas_zgeam_64, rocblas_f64_pair, struct double2, int64_t, cublasZgeam)
DOT(rocblas_sdot_strided_batched, float, int32_t, cublasSdot_v2)
DOT(rocblas_ddot_strided_batched, double, int32_t, cublasDdot_v2)
DOT(rocblas_sdot_strided_batched_64, float, int64_t, cublasSdot_v2_64)
DOT(rocblas_ddot_strided_batched_64, double, int64_t, cublasDdot_v2_64)
NORM(rocblas_sasum_strided_batched, float, int32_t, cublasSasum_v2)
NORM(rocblas_dasum_strided_batched, double, int32_t, cublasDasum_v2)
NORM(rocblas_sasum_strided_batched_64, float, int64_t, cublasSasum_v2_64)
NORM(rocblas_dasum_strided_batched_64, double, int64_t, cublasDasum_v2_64)
