/* SPDX-License-Identifier: Apache-2.0 */
/* blas_gemm.c - the product by rocBLAS. */
#include "backends/hip/blas.h"
#include "common/dtype.h"

#include <stdlib.h>
#include <string.h>

/* ---- precision ------------------------------------------------------------------------------- */

/* Variables by which the user changes what the libraries compute, whatever the program requests. */
static const char *overriding(const iso_gemm_op *op)
{
    static const char *const of_f16[] = {"ROCBLAS_INTERNAL_FP16_ALT_IMPL",
                                         "ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ", NULL};
    static const char *const of_f32[] = {"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32", NULL};
    static const char *const of_none[] = {NULL};
    const char *const *names = op->dtype == ISO_F16   ? of_f16
                               : op->dtype == ISO_F32 ? of_f32
                                                      : of_none;
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && value[0] && strcmp(value, "0") != 0) {
            return *names;
        }
    }
    return NULL;
}

iso_status hip_blas_precision(const hip_device *device, const iso_gemm_op *op)
{
    const bool tf32 = op->math == ISO_MATH_TF32 && op->dtype == ISO_F32;
    const char *variable = tf32 ? NULL : overriding(op);
    if (!dtype_get(op->dtype)->floating) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: AMD's libraries have no product of %s",
                              iso_dtype_name(op->dtype));
    }
    if (variable) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: math is strict, and %s=%s makes AMD's "
                              "libraries give up precision: unset it, or use tiled",
                              variable, getenv(variable));
    }
    if (tf32 && strncmp(device->architecture, "gfx94", 5) != 0) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: math tf32 needs xf32 matrix units (gfx940 to "
                              "gfx942), and the device is %s",
                              device->architecture);
    }
    if (tf32 && op->library == 0 && !hip_blas.rocblas_set_math_mode) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: %s has no function rocblas_set_math_mode, "
                              "which math tf32 needs",
                              hip_blas_label());
    }
    return ISO_OK;
}

/* ---- the operation --------------------------------------------------------------------------- */

static iso_status gemm_supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const iso_status status = hip_blas_precision(blas_device_of(device), op);
    const simt_size large = simt_gemm_large(op);
    const bool has_64 = op->batch > 1 ? hip_blas.rocblas_gemm_strided_batched_ex_64 != NULL
                                      : hip_blas.rocblas_gemm_ex_64 != NULL;
    return status || !large.name || has_64
               ? status
               : simt_too_large(hip_host, "gemm", large, hip_blas_label());
}

static const char *gemm_name(const iso_op *op)
{
    return op->gemm->batch > 1 ? "rocblas_gemm_strided_batched_ex" : "rocblas_gemm_ex";
}

static const rocblas_enum types[] = {
    [ISO_F16] = ROCBLAS_F16,
    [ISO_BF16] = ROCBLAS_BF16,
    [ISO_F32] = ROCBLAS_F32,
    [ISO_F64] = ROCBLAS_F64,
};

/* C' = op(B)' op(A)': a row-major matrix here is column-major there, transposed. If k is 0 neither
 * A nor B is read, but some versions still require an address. */
static rocblas_code multiply(rocblas_object handle, const iso_gemm_op *op, bool wide)
{
    const float alpha_f32 = (float)op->alpha;
    const float beta_f32 = (float)op->beta;
    const bool f64 = op->dtype == ISO_F64;
    const void *alpha = f64 ? (const void *)&op->alpha : &alpha_f32;
    const void *beta = f64 ? (const void *)&op->beta : &beta_f32;
    const rocblas_enum type = types[op->dtype];
    const rocblas_enum compute = f64 ? ROCBLAS_F64 : ROCBLAS_F32;
    const rocblas_enum one = op->trans_b == ISO_TRANS ? ROCBLAS_TRANS : ROCBLAS_NO_TRANS;
    const rocblas_enum two = op->trans_a == ISO_TRANS ? ROCBLAS_TRANS : ROCBLAS_NO_TRANS;
    void *c = blas_place(op->c);
    const void *a = op->k > 0 ? blas_place(op->a) : c;
    const void *b = op->k > 0 ? blas_place(op->b) : c;
    if (op->batch > 1 && wide) {
        return hip_blas.rocblas_gemm_strided_batched_ex_64(
            handle, one, two, op->n, op->m, op->k, alpha, b, type, op->ldb, op->stride_b, a, type,
            op->lda, op->stride_a, beta, c, type, op->ldc, op->stride_c, c, type, op->ldc,
            op->stride_c, op->batch, compute, ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    if (wide) {
        return hip_blas.rocblas_gemm_ex_64(
            handle, one, two, op->n, op->m, op->k, alpha, b, type, op->ldb, a, type, op->lda, beta,
            c, type, op->ldc, c, type, op->ldc, compute, ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    const int32_t m = (int32_t)op->m;
    const int32_t n = (int32_t)op->n;
    const int32_t k = (int32_t)op->k;
    const int32_t lda = (int32_t)op->lda;
    const int32_t ldb = (int32_t)op->ldb;
    const int32_t ldc = (int32_t)op->ldc;
    if (op->batch > 1) {
        return hip_blas.rocblas_gemm_strided_batched_ex(
            handle, one, two, n, m, k, alpha, b, type, ldb, op->stride_b, a, type, lda,
            op->stride_a, beta, c, type, ldc, op->stride_c, c, type, ldc, op->stride_c,
            (int32_t)op->batch, compute, ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    return hip_blas.rocblas_gemm_ex(handle, one, two, n, m, k, alpha, b, type, ldb, a, type, lda,
                                    beta, c, type, ldc, c, type, ldc, compute,
                                    ROCBLAS_ALGORITHM_STANDARD, 0, 0);
}

static iso_status gemm_execute(simt_stream *stream, const iso_op *op)
{
    const iso_gemm_op *gemm = op->gemm;
    rocblas_object handle = NULL;
    iso_status status = hip_blas_handle(stream, op, ROCBLAS_POINTERS_HOST, &handle);
    if (status) {
        return status;
    }
    rocblas_code code = ROCBLAS_DONE;
    if (gemm->math == ISO_MATH_TF32 && gemm->dtype == ISO_F32) {
        code = hip_blas.rocblas_set_math_mode(handle, ROCBLAS_MATH_XF32);
    }
    if (code == ROCBLAS_DONE) {
        code = multiply(handle, gemm, simt_gemm_large(gemm).name != NULL);
    }
    return hip_blas_check(blas_queue(stream), code, gemm_name(op));
}

const simt_vendor_operation hip_blas_gemm = {
    .supports = gemm_supports,
    .execute = gemm_execute,
    .name = gemm_name,
};
