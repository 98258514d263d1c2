/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.c - the product of a matrix and a vector. `naive`, `tiled` and `fixed` run the product of
 * A and a matrix of one column. `tiled` exchanges the two operands, so that one SIMD vector
 * holds neighbouring elements of y. `vendor` calls the BLAS library's own gemv. */
#include "common/gemv.h"
#include "backends/openmp/blas.h"
#include "backends/openmp/cpu.h"

#include <stdbool.h>
#include <stdio.h>

extern const cpu_operation cpu_gemm;

/* Whether the library's gemv is called. If k is 0 it is not, because BLAS libraries then leave y as
 * it is instead of scaling it. */
static bool calls_vendor(const iso_gemv_op *op)
{
    const cpu_blas *blas = op->variant == ISO_VARIANT_VENDOR ? cpu_blas_get() : NULL;
    return blas && op->k > 0 && (op->dtype == ISO_F32 ? blas->sgemv != NULL : blas->dgemv != NULL);
}

static iso_status gemv_supports(cpu_device *device, const iso_op *op)
{
    gemv_product product;
    gemv_product_of(op, &product);
    return cpu_gemm.supports(device, &product.op);
}

static int64_t gemv_workspace(cpu_device *device, const iso_op *op)
{
    gemv_product product;
    gemv_product_of(op, &product);
    return cpu_gemm.workspace(device, &product.op);
}

static void gemv_describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    gemv_product product;
    gemv_product_of(op, &product);
    cpu_gemm.describe(device, &product.op, out);
    if (calls_vendor(op->gemv)) {
        (void)snprintf(out->kernel, sizeof out->kernel, "%s",
                       op->gemv->dtype == ISO_F32 ? "cblas_sgemv" : "cblas_dgemv");
    }
}

static void multiply_all(void *context)
{
    const cpu_blas *blas = cpu_blas_get();
    const iso_gemv_op *op = *(const iso_gemv_op *const *)context;
    const bool trans = op->trans == ISO_TRANS;
    const int rows = (int)(trans ? op->k : op->m), cols = (int)(trans ? op->m : op->k);
    const int way = trans ? CPU_BLAS_TRANS : CPU_BLAS_NO_TRANS;
    const int lda = (int)op->lda, inc_x = (int)op->inc_x, inc_y = (int)op->inc_y;
    for (int64_t i = 0; i < op->batch; i++) {
        if (op->dtype == ISO_F32) {
            blas->sgemv(CPU_BLAS_ROW_MAJOR, way, rows, cols, (float)op->alpha,
                        (const float *)cpu_at(op->a) + i * op->stride_a, lda,
                        (const float *)cpu_at(op->x) + i * op->stride_x, inc_x, (float)op->beta,
                        (float *)cpu_at(op->y) + i * op->stride_y, inc_y);
        } else {
            blas->dgemv(CPU_BLAS_ROW_MAJOR, way, rows, cols, op->alpha,
                        (const double *)cpu_at(op->a) + i * op->stride_a, lda,
                        (const double *)cpu_at(op->x) + i * op->stride_x, inc_x, op->beta,
                        (double *)cpu_at(op->y) + i * op->stride_y, inc_y);
        }
    }
}

static iso_status gemv_execute(cpu_device *device, const iso_op *op)
{
    const iso_gemv_op *args = op->gemv;
    gemv_product product;
    if (calls_vendor(args)) {
        return cpu_blas_call(device, multiply_all, &args);
    }
    gemv_product_of(op, &product);
    return cpu_gemm.execute(device, &product.op);
}

const cpu_operation cpu_gemv = {
    .supports = gemv_supports,
    .workspace = gemv_workspace,
    .describe = gemv_describe,
    .execute = gemv_execute,
};
