/* SPDX-License-Identifier: Apache-2.0 */
/* rocblas.c - a fake of librocblas.so: its interface and its checks; the loops are in ../blas.c. */
#include "tests/fakes/blas.h"

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_ROCBLAS_SYMBOLS(DECLARE, DECLARE)
fake_context *fake_hip_context(void);

enum {
    OK = 0,
    INVALID_HANDLE = 1,
    NOT_IMPLEMENTED = 2,
    INVALID_POINTER = 3,
    INVALID_SIZE = 4,
    MEMORY = 5,
    INTERNAL = 6,
    INVALID_VALUE = 11,
    ALIVE = 0x0cb1a5
};

struct _rocblas_handle {
    uint32_t alive;
    rocblas_enum pointers;
    fake_context *context;
    hip_stream stream;
};

static bool bad(rocblas_object handle)
{
    return !handle || handle->alive != ALIVE;
}

static fake_stream *stream_of(rocblas_object handle)
{
    return handle->stream ? (fake_stream *)(void *)handle->stream
                          : fake_stream_default(handle->context);
}

static rocblas_code status(int code)
{
    return code == FAKE_OK              ? OK
           : code == FAKE_INVALID_VALUE ? INVALID_SIZE
           : code == FAKE_OUT_OF_MEMORY ? MEMORY
                                        : INTERNAL;
}

/* ---- handles --------------------------------------------------------------------------------- */

rocblas_code rocblas_create_handle(rocblas_object *handle)
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

rocblas_code rocblas_destroy_handle(rocblas_object handle)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    handle->alive = 0;
    free(handle);
    return OK;
}

rocblas_code rocblas_set_stream(rocblas_object handle, hip_stream stream)
{
    if (bad(handle) || (stream && !fake_stream_known((fake_stream *)(void *)stream))) {
        return INVALID_HANDLE;
    }
    handle->stream = stream;
    return OK;
}

rocblas_code rocblas_set_pointer_mode(rocblas_object handle, rocblas_enum mode)
{
    if (bad(handle) || mode > 1) {
        return mode > 1 ? INVALID_VALUE : INVALID_HANDLE;
    }
    handle->pointers = mode;
    return OK;
}

rocblas_code rocblas_set_atomics_mode(rocblas_object handle, rocblas_enum mode)
{
    return bad(handle) ? INVALID_HANDLE : mode > 1 ? INVALID_VALUE : OK;
}

rocblas_code rocblas_set_math_mode(rocblas_object handle, rocblas_enum mode)
{
    return bad(handle) ? INVALID_HANDLE : mode > 1 ? INVALID_VALUE : OK;
}

rocblas_code rocblas_set_workspace(rocblas_object handle, void *address, size_t bytes)
{
    return bad(handle)                                    ? INVALID_HANDLE
           : bytes > 0 && !fake_is_device(address, bytes) ? INVALID_POINTER
                                                          : OK;
}

rocblas_code rocblas_get_version_string(char *text, size_t capacity)
{
    const char *set = getenv("FAKE_ROCBLAS_VERSION");
    const char *version = set ? set : "4.4.0.isomer-test-fake";
    if (capacity <= strlen(version)) {
        return INVALID_SIZE;
    }
    (void)strcpy(text, version);
    return OK;
}

const char *rocblas_status_to_string(rocblas_code code)
{
    static const char *const names[] = {
        "rocblas_status_success",         "rocblas_status_invalid_handle",
        "rocblas_status_not_implemented", "rocblas_status_invalid_pointer",
        "rocblas_status_invalid_size",    "rocblas_status_memory_error",
        "rocblas_status_internal_error"};
    return code < sizeof names / sizeof names[0] ? names[code] : "rocblas_status_invalid_value";
}

/* ---- products -------------------------------------------------------------------------------- */

/* The products that there are: types of A and B, of C, and of the computation. */
typedef struct product_kind {
    rocblas_enum in, out, compute;
    fake_type type, type_c, factor;
} product_kind;

static const product_kind product_kinds[] = {
    {ROCBLAS_F16, ROCBLAS_F16, ROCBLAS_F32, FAKE_F16, FAKE_F16, FAKE_F32},
    {ROCBLAS_F16, ROCBLAS_F32, ROCBLAS_F32, FAKE_F16, FAKE_F32, FAKE_F32},
    {ROCBLAS_BF16, ROCBLAS_BF16, ROCBLAS_F32, FAKE_BF16, FAKE_BF16, FAKE_F32},
    {ROCBLAS_BF16, ROCBLAS_F32, ROCBLAS_F32, FAKE_BF16, FAKE_F32, FAKE_F32},
    {ROCBLAS_F32, ROCBLAS_F32, ROCBLAS_F32, FAKE_F32, FAKE_F32, FAKE_F32},
    {ROCBLAS_F64, ROCBLAS_F64, ROCBLAS_F64, FAKE_F64, FAKE_F64, FAKE_F64},
    {ROCBLAS_C64, ROCBLAS_C64, ROCBLAS_C64, FAKE_C64, FAKE_C64, FAKE_C64},
    {ROCBLAS_C128, ROCBLAS_C128, ROCBLAS_C128, FAKE_C128, FAKE_C128, FAKE_C128},
};

/* `types` has the types of a, b, c, d and of the computation. */
static const product_kind *product_kind_of(const rocblas_enum types[5])
{
    for (size_t i = 0; i < sizeof product_kinds / sizeof product_kinds[0]; i++) {
        const product_kind *kind = &product_kinds[i];
        if (types[0] == kind->in && types[1] == kind->in && types[2] == kind->out &&
            types[3] == kind->out && types[4] == kind->compute) {
            return kind;
        }
    }
    return NULL;
}

static bool is_trans(rocblas_enum trans)
{
    return trans == ROCBLAS_NO_TRANS || trans == ROCBLAS_TRANS || trans == ROCBLAS_CONJ_TRANS;
}

/* Types were checked. */
static rocblas_code multiply_bytes(rocblas_object handle, fake_product *p, bool trans_a,
                                   bool trans_b, const int32_t *alpha, const int32_t *beta)
{
    p->alpha = *alpha;
    p->beta = *beta;
    p->a.trans = trans_a;
    p->b.trans = trans_b;
    return fake_bytes_fit(p) && handle->pointers == ROCBLAS_POINTERS_HOST
               ? status(fake_bytes_submit(stream_of(handle), p))
               : NOT_IMPLEMENTED;
}

static rocblas_code multiply(rocblas_object handle, fake_product *p, const rocblas_enum types[5],
                             rocblas_enum trans_a, rocblas_enum trans_b, const void *alpha,
                             const void *beta, rocblas_enum algorithm)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if (types[0] == ROCBLAS_I8 && types[1] == ROCBLAS_I8 && types[2] == ROCBLAS_I32 &&
        types[3] == ROCBLAS_I32 && types[4] == ROCBLAS_I32 && alpha && beta) {
        return multiply_bytes(handle, p, trans_a == ROCBLAS_TRANS, trans_b == ROCBLAS_TRANS, alpha,
                              beta);
    }
    if (!is_trans(trans_a) || !is_trans(trans_b)) {
        return INVALID_VALUE;
    }
    if (!alpha || !beta) {
        return INVALID_POINTER;
    }
    const product_kind *kind = product_kind_of(types);
    if (!kind || handle->pointers != ROCBLAS_POINTERS_HOST || algorithm > 1) {
        return NOT_IMPLEMENTED;
    }
    const fake_factor by = fake_factor_of(kind->factor, alpha);
    const fake_factor plus = fake_factor_of(kind->factor, beta);
    p->type = kind->type;
    p->type_c = kind->type_c;
    p->alpha = by.real;
    p->alpha_imaginary = by.imaginary;
    p->beta = plus.real;
    p->beta_imaginary = plus.imaginary;
    p->a.trans = trans_a != ROCBLAS_NO_TRANS;
    p->b.trans = trans_b != ROCBLAS_NO_TRANS;
    p->a.conj = trans_a == ROCBLAS_CONJ_TRANS;
    p->b.conj = trans_b == ROCBLAS_CONJ_TRANS;
    return status(fake_product_submit(stream_of(handle), p));
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
        fake_product p = {.m = m,                                                                  \
                          .n = n,                                                                  \
                          .k = k,                                                                  \
                          .batch = 1,                                                              \
                          .a = {.at = a, .ld = lda},                                               \
                          .b = {.at = b, .ld = ldb},                                               \
                          .c = {.at = c, .ld = ldc},                                               \
                          .d = d,                                                                  \
                          .ld_d = ldd};                                                            \
        (void)solution;                                                                            \
        (void)flags;                                                                               \
        return multiply(handle, &p, types, trans_a, trans_b, alpha, beta, algorithm);              \
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
        fake_product p = {.m = m,                                                                  \
                          .n = n,                                                                  \
                          .k = k,                                                                  \
                          .batch = batch,                                                          \
                          .a = {.at = a, .ld = lda, .stride = stride_a},                           \
                          .b = {.at = b, .ld = ldb, .stride = stride_b},                           \
                          .c = {.at = c, .ld = ldc, .stride = stride_c},                           \
                          .d = d,                                                                  \
                          .ld_d = ldd,                                                             \
                          .stride_d = stride_d};                                                   \
        (void)solution;                                                                            \
        (void)flags;                                                                               \
        return multiply(handle, &p, types, trans_a, trans_b, alpha, beta, algorithm);              \
    }

GEMM(rocblas_gemm_ex, int32_t)
GEMM(rocblas_gemm_ex_64, int64_t)
GEMM_BATCHED(rocblas_gemm_strided_batched_ex, int32_t)
GEMM_BATCHED(rocblas_gemm_strided_batched_ex_64, int64_t)

/* Only the backend's trial program calls rocblas_sgemm. */
FAKE_API rocblas_code rocblas_sgemm(rocblas_object handle, rocblas_enum trans_a,
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

/* ---- symmetric products and triangular solves ------------------------------------------------ */

static bool is_triangle(rocblas_enum triangle)
{
    return triangle == ROCBLAS_UPPER || triangle == ROCBLAS_LOWER;
}

static rocblas_code square(rocblas_object handle, rocblas_enum triangle, rocblas_enum trans,
                           fake_square *s)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if (!is_triangle(triangle) || (trans != ROCBLAS_NO_TRANS && trans != ROCBLAS_TRANS) ||
        handle->pointers != ROCBLAS_POINTERS_HOST) {
        return INVALID_VALUE;
    }
    s->lower = triangle == ROCBLAS_LOWER;
    s->a.trans = trans == ROCBLAS_TRANS;
    return status(fake_square_submit(stream_of(handle), s));
}

/* With FAKE_ROCBLAS_MEMORY=little the result is right, and the status says that it was slow. */
static rocblas_code solve(rocblas_object handle, rocblas_enum side, rocblas_enum triangle,
                          rocblas_enum trans, rocblas_enum diagonal, fake_solve *s)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if ((side != ROCBLAS_LEFT && side != ROCBLAS_RIGHT) || !is_triangle(triangle) ||
        !is_trans(trans) || (diagonal != ROCBLAS_UNIT && diagonal != ROCBLAS_NON_UNIT) ||
        handle->pointers != ROCBLAS_POINTERS_HOST) {
        return INVALID_VALUE;
    }
    s->left = side == ROCBLAS_LEFT;
    s->lower = triangle == ROCBLAS_LOWER;
    s->unit = diagonal == ROCBLAS_UNIT;
    s->a.trans = trans != ROCBLAS_NO_TRANS;
    s->a.conj = trans == ROCBLAS_CONJ_TRANS;
    const rocblas_code code = status(fake_solve_submit(stream_of(handle), s));
    return code == OK && strcmp(fake_text("FAKE_ROCBLAS_MEMORY"), "little") == 0
               ? (rocblas_code)ROCBLAS_PERF_DEGRADED
               : code;
}

#define SYRK(name, pointed, size, number)                                                          \
    rocblas_code name(rocblas_object handle, rocblas_enum triangle, rocblas_enum trans, size n,    \
                      size k, const pointed *alpha, const pointed *a, size lda, int64_t stride_a,  \
                      const pointed *beta, pointed *c, size ldc, int64_t stride_c, size batch)     \
    {                                                                                              \
        fake_square what = {.type = number,                                                        \
                            .n = n,                                                                \
                            .k = k,                                                                \
                            .batch = batch,                                                        \
                            .alpha = fake_factor_of(number, alpha),                                \
                            .beta = fake_factor_of(number, beta),                                  \
                            .a = {.at = a, .ld = lda, .stride = stride_a},                         \
                            .c = c,                                                                \
                            .ld_c = ldc,                                                           \
                            .stride_c = stride_c};                                                 \
        return square(handle, triangle, trans, &what);                                             \
    }
#define TRSM(name, pointed, size, number)                                                          \
    rocblas_code name(rocblas_object handle, rocblas_enum side, rocblas_enum triangle,             \
                      rocblas_enum trans, rocblas_enum diagonal, size m, size n,                   \
                      const pointed *alpha, const pointed *a, size lda, int64_t stride_a,          \
                      pointed *b, size ldb, int64_t stride_b, size batch)                          \
    {                                                                                              \
        fake_solve what = {.type = number,                                                         \
                           .m = m,                                                                 \
                           .n = n,                                                                 \
                           .batch = batch,                                                         \
                           .alpha = fake_factor_of(number, alpha),                                 \
                           .a = {.at = a, .ld = lda, .stride = stride_a},                          \
                           .b = b,                                                                 \
                           .ld_b = ldb,                                                            \
                           .stride_b = stride_b};                                                  \
        return solve(handle, side, triangle, trans, diagonal, &what);                              \
    }
#define LEVEL3(letter, pointed, number)                                                            \
    SYRK(rocblas_##letter##syrk_strided_batched, pointed, int32_t, number)                         \
    SYRK(rocblas_##letter##syrk_strided_batched_64, pointed, int64_t, number)                      \
    TRSM(rocblas_##letter##trsm_strided_batched, pointed, int32_t, number)                         \
    TRSM(rocblas_##letter##trsm_strided_batched_64, pointed, int64_t, number)

LEVEL3(s, float, FAKE_F32)
LEVEL3(d, double, FAKE_F64)
LEVEL3(c, rocblas_f32_pair, FAKE_C64)
LEVEL3(z, rocblas_f64_pair, FAKE_C128)

/* ---- sums and folds -------------------------------------------------------------------------- */

static double factor(fake_type type, const void *at)
{
    return type == FAKE_F32 ? (double)*(const float *)at : *(const double *)at;
}

static rocblas_code add(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b,
                        fake_sum *sum)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if (!is_trans(trans_a) || !is_trans(trans_b) || handle->pointers != ROCBLAS_POINTERS_HOST) {
        return INVALID_VALUE;
    }
    sum->a.trans = trans_a == ROCBLAS_TRANS;
    sum->b.trans = trans_b == ROCBLAS_TRANS;
    return status(fake_sum_submit(stream_of(handle), sum));
}

static rocblas_code fold(rocblas_object handle, const fake_fold *what)
{
    if (bad(handle)) {
        return INVALID_HANDLE;
    }
    if (handle->pointers != ROCBLAS_POINTERS_DEVICE) {
        return NOT_IMPLEMENTED;
    }
    return status(fake_fold_submit(stream_of(handle), what));
}

#define GEAM(name, pointed, size, number)                                                          \
    rocblas_code name(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m,   \
                      size n, const pointed *alpha, const pointed *a, size lda,                    \
                      const pointed *beta, const pointed *b, size ldb, pointed *c, size ldc)       \
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
#define DOT(name, pointed, size, number)                                                           \
    rocblas_code name(rocblas_object handle, size n, const pointed *x, size step_x,                \
                      int64_t stride_x, const pointed *y, size step_y, int64_t stride_y,           \
                      size batch, pointed *results)                                                \
    {                                                                                              \
        const fake_fold what = {.kind = FAKE_DOT,                                                  \
                                .type = number,                                                    \
                                .n = n,                                                            \
                                .batch = batch,                                                    \
                                .x = x,                                                            \
                                .y = y,                                                            \
                                .step_x = step_x,                                                  \
                                .step_y = step_y,                                                  \
                                .stride_x = stride_x,                                              \
                                .stride_y = stride_y,                                              \
                                .results = results};                                               \
        return fold(handle, &what);                                                                \
    }
#define NORM(name, pointed, size, which, number)                                                   \
    rocblas_code name(rocblas_object handle, size n, const pointed *x, size step_x,                \
                      int64_t stride_x, size batch, pointed *results)                              \
    {                                                                                              \
        const fake_fold what = {.kind = which,                                                     \
                                .type = number,                                                    \
                                .n = n,                                                            \
                                .batch = batch,                                                    \
                                .x = x,                                                            \
                                .step_x = step_x,                                                  \
                                .stride_x = stride_x,                                              \
                                .results = results};                                               \
        return fold(handle, &what);                                                                \
    }

GEAM(rocblas_sgeam, float, int32_t, FAKE_F32)
GEAM(rocblas_dgeam, double, int32_t, FAKE_F64)
GEAM(rocblas_zgeam, rocblas_f64_pair, int32_t, FAKE_C128)
GEAM(rocblas_sgeam_64, float, int64_t, FAKE_F32)
GEAM(rocblas_dgeam_64, double, int64_t, FAKE_F64)
GEAM(rocblas_zgeam_64, rocblas_f64_pair, int64_t, FAKE_C128)
DOT(rocblas_sdot_strided_batched, float, int32_t, FAKE_F32)
DOT(rocblas_ddot_strided_batched, double, int32_t, FAKE_F64)
DOT(rocblas_sdot_strided_batched_64, float, int64_t, FAKE_F32)
DOT(rocblas_ddot_strided_batched_64, double, int64_t, FAKE_F64)
NORM(rocblas_sasum_strided_batched, float, int32_t, FAKE_ASUM, FAKE_F32)
NORM(rocblas_dasum_strided_batched, double, int32_t, FAKE_ASUM, FAKE_F64)
NORM(rocblas_sasum_strided_batched_64, float, int64_t, FAKE_ASUM, FAKE_F32)
NORM(rocblas_dasum_strided_batched_64, double, int64_t, FAKE_ASUM, FAKE_F64)
