/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_vendor.c - reductions by the BLAS library: sum, dot, asum and nrm2 of f32 and f64, of the
 * whole array or row by row. If a library has no sum, it is computed as a dot product with a single
 * 1 of stride 0. There is no argmax, because BLAS's iamax compares magnitudes. */
#include "backends/openmp/blas.h"
#include "backends/openmp/reduce.h"

#include <limits.h>

/* BLAS counts elements in an int. */
enum { CALL_ELEMENTS = INT_MAX };

/* The library's functions for f32 and f64. */
static const char *const functions[ISO_ARGAMAX + 1][2] = {
    [ISO_SUM] = {"cblas_ssum", "cblas_dsum"},
    [ISO_DOT] = {"cblas_sdot", "cblas_ddot"},
    [ISO_ASUM] = {"cblas_sasum", "cblas_dasum"},
    [ISO_NORM2] = {"cblas_snrm2", "cblas_dnrm2"},
};

iso_status cpu_reduce_vendor_supports(const iso_reduce_op_args *op)
{
    if (op->dtype != ISO_F32 && op->dtype != ISO_F64) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "reduce: BLAS libraries reduce f32 and f64, not %s: use tiled",
                              iso_dtype_name(op->dtype));
    }
    if (!functions[op->op][0]) {
        return cpu_host->fail(
            ISO_UNSUPPORTED,
            "reduce: BLAS libraries have sum, dot, asum and norm2, but no %s: use "
            "tiled",
            iso_reduce_op_name(op->op));
    }
    if (op->axis == ISO_AXIS_0) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "reduce: BLAS libraries have no reduction along axis 0: use tiled");
    }
    const cpu_blas *blas = cpu_blas_need("reduce");
    if (!blas) {
        return ISO_UNSUPPORTED;
    }
    if (op->cols > CALL_ELEMENTS) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "reduce: cols is %lld, but %s reduces at most %lld elements in one "
                              "call: use tiled",
                              (long long)op->cols, blas->name, (long long)CALL_ELEMENTS);
    }
    return ISO_OK;
}

void cpu_reduce_vendor_describe(const iso_reduce_op_args *op, iso_op_info *out)
{
    const cpu_blas *blas = cpu_blas_get();
    const int wide = op->dtype == ISO_F64;
    if (op->op != ISO_SUM || (wide ? blas->dsum != NULL : blas->ssum != NULL)) {
        cpu_blas_describe(out, functions[op->op][wide]);
    } else {
        cpu_blas_describe(out, wide ? "cblas_ddot with a 1 of stride 0"
                                    : "cblas_sdot with a 1 of stride 0");
    }
}

static float reduce_f32(const cpu_blas *blas, iso_reduce_op op, int n, const float *x,
                        const float *y)
{
    static const float one = 1.0f;
    switch (op) {
    case ISO_DOT:
        return blas->sdot(n, x, 1, y, 1);
    case ISO_ASUM:
        return blas->sasum(n, x, 1);
    case ISO_NORM2:
        return blas->snrm2(n, x, 1);
    default:
        return blas->ssum ? blas->ssum(n, x, 1) : blas->sdot(n, x, 1, &one, 0);
    }
}

static double reduce_f64(const cpu_blas *blas, iso_reduce_op op, int n, const double *x,
                         const double *y)
{
    static const double one = 1.0;
    switch (op) {
    case ISO_DOT:
        return blas->ddot(n, x, 1, y, 1);
    case ISO_ASUM:
        return blas->dasum(n, x, 1);
    case ISO_NORM2:
        return blas->dnrm2(n, x, 1);
    default:
        return blas->dsum ? blas->dsum(n, x, 1) : blas->ddot(n, x, 1, &one, 0);
    }
}

static void reduce_all(void *context)
{
    const cpu_blas *blas = cpu_blas_get();
    const iso_reduce_op_args *op = *(const iso_reduce_op_args *const *)context;
    const int n = (int)op->cols;
    for (int64_t i = 0; i < op->rows; i++) {
        if (op->dtype == ISO_F32) {
            const float *x = (const float *)cpu_at(op->x) + i * op->ld_x;
            const float *y = op->op == ISO_DOT ? (const float *)cpu_at(op->y) + i * op->ld_y : NULL;
            ((float *)cpu_at(op->result))[i] = reduce_f32(blas, op->op, n, x, y);
        } else {
            const double *x = (const double *)cpu_at(op->x) + i * op->ld_x;
            const double *y =
                op->op == ISO_DOT ? (const double *)cpu_at(op->y) + i * op->ld_y : NULL;
            ((double *)cpu_at(op->result))[i] = reduce_f64(blas, op->op, n, x, y);
        }
    }
}

iso_status cpu_reduce_vendor(cpu_device *device, const iso_reduce_op_args *op)
{
    return cpu_blas_call(device, reduce_all, &op);
}
