/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_vendor.c - the product by the BLAS library. */
#include "backends/openmp/blas.h"
#include "backends/openmp/gemm.h"

#include <limits.h>
#include <stdio.h>

typedef struct named_size {
    const char *name;
    int64_t value;
} named_size;

iso_status gemm_vendor_supports(const iso_gemm_op *op)
{
    const cpu_blas *blas = cpu_blas_need("gemm");
    if (!blas) {
        return ISO_UNSUPPORTED;
    }
    if (op->library > 0) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: there is no library %d, only %s (0)",
                              op->library, blas->label);
    }
    if (op->dtype != ISO_F32 && op->dtype != ISO_F64) {
        return cpu_host->fail(
            ISO_UNSUPPORTED,
            "gemm: variant vendor: %s has no product for matrices of type %s; use tiled",
            blas->label, iso_dtype_name(op->dtype));
    }
    const named_size sizes[] = {{"m", op->m},     {"n", op->n},     {"k", op->k},
                                {"lda", op->lda}, {"ldb", op->ldb}, {"ldc", op->ldc}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].value > INT_MAX) {
            return cpu_host->fail(
                ISO_UNSUPPORTED,
                "gemm: variant vendor: %s is %lld, but %s takes sizes of at most %d; use tiled",
                sizes[i].name, (long long)sizes[i].value, blas->label, INT_MAX);
        }
    }
    return ISO_OK;
}

static void multiply(const cpu_blas *blas, const iso_gemm_op *op, const void *a, const void *b,
                     void *c)
{
    const int trans_a = op->trans_a == ISO_TRANS ? CPU_BLAS_TRANS : CPU_BLAS_NO_TRANS;
    const int trans_b = op->trans_b == ISO_TRANS ? CPU_BLAS_TRANS : CPU_BLAS_NO_TRANS;
    const int m = (int)op->m;
    const int n = (int)op->n;
    const int k = (int)op->k;
    const int lda = (int)op->lda;
    const int ldb = (int)op->ldb;
    const int ldc = (int)op->ldc;
    if (op->dtype == ISO_F32) {
        blas->sgemm(CPU_BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, (float)op->alpha, a, lda, b, ldb,
                    (float)op->beta, c, ldc);
    } else {
        blas->dgemm(CPU_BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, op->alpha, a, lda, b, ldb,
                    op->beta, c, ldc);
    }
}

static void multiply_all(void *context)
{
    const cpu_blas *blas = cpu_blas_get();
    const iso_gemm_op *op = *(const iso_gemm_op *const *)context;
    const int64_t cell = iso_dtype_size(op->dtype);
    /* If k is 0 the library reads neither A nor B, but some libraries still require addresses. */
    const char *a = op->k > 0 ? cpu_at(op->a) : cpu_at(op->c);
    const char *b = op->k > 0 ? cpu_at(op->b) : cpu_at(op->c);
    const int64_t a_next = op->k > 0 ? op->stride_a * cell : 0;
    const int64_t b_next = op->k > 0 ? op->stride_b * cell : 0;
    char *c = cpu_at(op->c);
    for (int64_t i = 0; i < op->batch; i++) {
        multiply(blas, op, a + i * a_next, b + i * b_next, c + i * op->stride_c * cell);
    }
}

iso_status gemm_vendor(const cpu_device *device, const iso_gemm_op *op)
{
    return cpu_blas_call(device, multiply_all, &op);
}

void gemm_vendor_describe(const iso_gemm_op *op, iso_op_info *out)
{
    cpu_blas_describe(out, op->dtype == ISO_F32 ? "cblas_sgemm" : "cblas_dgemm");
}
