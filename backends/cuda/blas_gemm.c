/* SPDX-License-Identifier: Apache-2.0 */
/* blas_gemm.c - the product by cuBLAS. */
#include "backends/cuda/blas.h"
#include "common/dtype.h"

#include <stdlib.h>
#include <string.h>

/* ---- precision ------------------------------------------------------------------------------- */

static bool is_set(const char *variable, const char *harmless)
{
    const char *value = getenv(variable);
    return value && value[0] && strcmp(value, "0") != 0 && strcmp(value, harmless) != 0;
}

/* Variables by which the user changes what cuBLAS computes, whatever the program requests. */
static const char *overriding(const iso_gemm_op *op)
{
    const bool wide = op->dtype == ISO_F64;
    const char *emulate =
        wide ? "CUBLAS_EMULATE_DOUBLE_PRECISION" : "CUBLAS_EMULATE_SINGLE_PRECISION";
    if (op->dtype != ISO_F32 && !wide) {
        return NULL;
    }
    if (!wide && is_set("NVIDIA_TF32_OVERRIDE", "0")) {
        return "NVIDIA_TF32_OVERRIDE";
    }
    return is_set(emulate, "0")                             ? emulate
           : is_set("CUBLAS_EMULATION_STRATEGY", "default") ? "CUBLAS_EMULATION_STRATEGY"
                                                            : NULL;
}

iso_status cuda_blas_precision(const cuda_device *device, const iso_gemm_op *op)
{
    enum { AMPERE = 80, PASCAL = 53 };
    const bool tf32 = op->math == ISO_MATH_TF32 && op->dtype == ISO_F32;
    const char *variable = tf32 ? NULL : overriding(op);
    if (!dtype_get(op->dtype)->floating) {
        return cuda_host->fail(ISO_UNSUPPORTED, "gemm: variant vendor: cuBLAS has no product of %s",
                               iso_dtype_name(op->dtype));
    }
    if (variable) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "gemm: variant vendor: math is strict, and %s=%s makes cuBLAS give "
                               "up precision: unset it, or use tiled",
                               variable, getenv(variable));
    }
    const char *never = getenv("NVIDIA_TF32_OVERRIDE");
    if (tf32 && never && strcmp(never, "0") == 0) {
        return cuda_host->fail(ISO_UNSUPPORTED, "gemm: variant vendor: math is tf32, and "
                                                "NVIDIA_TF32_OVERRIDE=0 forbids it");
    }
    if (device->architecture < AMPERE && (tf32 || op->dtype == ISO_BF16)) {
        return cuda_host->fail(
            ISO_UNSUPPORTED, "gemm: variant vendor: %s needs sm_%d, and the device is sm_%d%s",
            tf32 ? "math tf32" : "bf16", AMPERE, device->architecture, tf32 ? "" : "; use tiled");
    }
    if (device->architecture < PASCAL && op->dtype == ISO_F16) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "gemm: variant vendor: f16 needs sm_%d, and the device is sm_%d; "
                               "use tiled",
                               PASCAL, device->architecture);
    }
    return ISO_OK;
}

cublas_enum blas_compute(const iso_gemm_op *op)
{
    if (op->dtype == ISO_F64) {
        return CUBLAS_IN_F64;
    }
    return op->dtype == ISO_F32 && op->math == ISO_MATH_TF32 ? CUBLAS_IN_TF32 : CUBLAS_IN_F32;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static iso_status gemm_supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const simt_size large = simt_gemm_large(op);
    const bool has_64 = op->batch > 1 ? cuda_blas.cublasGemmStridedBatchedEx_64 != NULL
                                      : cuda_blas.cublasGemmEx_64 != NULL;
    return large.name && !has_64 ? simt_too_large(cuda_host, "gemm", large, cuda_blas_label())
                                 : cuda_blas_precision(blas_device_of(device), op);
}

static const char *gemm_name(const iso_op *op)
{
    return op->gemm->batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx";
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The product as it is passed to cuBLAS: C' = op(B)' op(A)', column-major. */
typedef struct swapped {
    cublas_enum trans_1, trans_2, type, compute;
    int64_t m, n, k, ld_1, ld_2, ld_c, batch, stride_1, stride_2, stride_c;
    const void *one, *two;
    void *c;
    union {
        float f32;
        double f64;
    } alpha, beta;
} swapped;

static swapped swap(const iso_gemm_op *op)
{
    swapped s = {
        .trans_1 = op->trans_b == ISO_TRANS ? CUBLAS_TRANS : CUBLAS_NO_TRANS,
        .trans_2 = op->trans_a == ISO_TRANS ? CUBLAS_TRANS : CUBLAS_NO_TRANS,
        .type = cuda_blas_types[op->dtype],
        .compute = blas_compute(op),
        .m = op->n,
        .n = op->m,
        .k = op->k,
        .ld_1 = op->ldb,
        .ld_2 = op->lda,
        .ld_c = op->ldc,
        .batch = op->batch,
        .stride_1 = op->stride_b,
        .stride_2 = op->stride_a,
        .stride_c = op->stride_c,
        /* If k is 0 neither is read, but an address is required. */
        .one = cuda_pointer(cuda_place(op->k > 0 ? op->b : op->c)),
        .two = cuda_pointer(cuda_place(op->k > 0 ? op->a : op->c)),
        .c = cuda_pointer(cuda_place(op->c)),
    };
    if (op->dtype == ISO_F64) {
        s.alpha.f64 = op->alpha;
        s.beta.f64 = op->beta;
    } else {
        s.alpha.f32 = (float)op->alpha;
        s.beta.f32 = (float)op->beta;
    }
    return s;
}

static cublas_code multiply(cublas_handle handle, const swapped *s, bool wide)
{
    if (wide) {
        return cuda_blas.cublasGemmEx_64(handle, s->trans_1, s->trans_2, s->m, s->n, s->k,
                                         &s->alpha, s->one, s->type, s->ld_1, s->two, s->type,
                                         s->ld_2, &s->beta, s->c, s->type, s->ld_c, s->compute,
                                         CUBLAS_ALGORITHM_DEFAULT);
    }
    return cuda_blas.cublasGemmEx(handle, s->trans_1, s->trans_2, (int)s->m, (int)s->n, (int)s->k,
                                  &s->alpha, s->one, s->type, (int)s->ld_1, s->two, s->type,
                                  (int)s->ld_2, &s->beta, s->c, s->type, (int)s->ld_c, s->compute,
                                  CUBLAS_ALGORITHM_DEFAULT);
}

static cublas_code multiply_batch(cublas_handle handle, const swapped *s, bool wide)
{
    if (wide) {
        return cuda_blas.cublasGemmStridedBatchedEx_64(
            handle, s->trans_1, s->trans_2, s->m, s->n, s->k, &s->alpha, s->one, s->type, s->ld_1,
            s->stride_1, s->two, s->type, s->ld_2, s->stride_2, &s->beta, s->c, s->type, s->ld_c,
            s->stride_c, s->batch, s->compute, CUBLAS_ALGORITHM_DEFAULT);
    }
    return cuda_blas.cublasGemmStridedBatchedEx(
        handle, s->trans_1, s->trans_2, (int)s->m, (int)s->n, (int)s->k, &s->alpha, s->one, s->type,
        (int)s->ld_1, s->stride_1, s->two, s->type, (int)s->ld_2, s->stride_2, &s->beta, s->c,
        s->type, (int)s->ld_c, s->stride_c, (int)s->batch, s->compute, CUBLAS_ALGORITHM_DEFAULT);
}

static iso_status gemm_execute(simt_stream *stream, const iso_op *op)
{
    cublas_handle handle = NULL;
    const iso_gemm_op *gemm = op->gemm;
    const iso_status status = cuda_blas_handle(stream, op, CUBLAS_POINTERS_HOST, &handle);
    if (status) {
        return status;
    }
    const bool wide = simt_gemm_large(gemm).name != NULL;
    const swapped s = swap(gemm);
    return cuda_blas_check(blas_queue(stream),
                           gemm->batch > 1 ? multiply_batch(handle, &s, wide)
                                           : multiply(handle, &s, wide),
                           gemm_name(op));
}

const simt_vendor_operation cuda_blas_gemm = {
    .supports = gemm_supports,
    .execute = gemm_execute,
    .name = gemm_name,
};
