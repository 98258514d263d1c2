/* SPDX-License-Identifier: Apache-2.0 */
/* blas_level3.c - symmetric products and triangular solves by CLBlast, whose matrices are row-major
 * here. Members of a batch are computed one after another. */
#include "backends/opencl/blas.h"

/* ---- symmetric products ---------------------------------------------------------------------- */

static const struct {
    void *routine;
    const char *name;
} syrks[] =
    {
        {(void *)&ocl_clblast.CLBlastSsyrk, "CLBlastSsyrk"},
        {(void *)&ocl_clblast.CLBlastDsyrk, "CLBlastDsyrk"},
        {(void *)&ocl_clblast.CLBlastCsyrk, "CLBlastCsyrk"},
        {(void *)&ocl_clblast.CLBlastZsyrk, "CLBlastZsyrk"},
},
  trsms[] = {
      {(void *)&ocl_clblast.CLBlastStrsm, "CLBlastStrsm"},
      {(void *)&ocl_clblast.CLBlastDtrsm, "CLBlastDtrsm"},
      {(void *)&ocl_clblast.CLBlastCtrsm, "CLBlastCtrsm"},
      {(void *)&ocl_clblast.CLBlastZtrsm, "CLBlastZtrsm"},
};

/* Whether the library has the routine at this address of its table. */
static iso_status check_routine(const char *operation, iso_dtype dtype, const void *routine,
                                const char *name)
{
    if (!ocl_blas_has_type(dtype)) {
        return ocl_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: CLBlast has none for %s: use tiled", operation,
                              iso_dtype_name(dtype));
    }
    return *(void *const *)routine
               ? ISO_OK
               : ocl_host->fail(ISO_UNSUPPORTED, "%s: variant vendor: this CLBlast has no %s",
                                operation, name);
}

static const char *syrk_name(const simt_device *device, const iso_op *op)
{
    (void)device;
    return syrks[ocl_blas_type(op->syrk->dtype)].name;
}

static iso_status syrk_supports(simt_device *device, const iso_op *of)
{
    const iso_syrk_op *op = of->syrk;
    const int type = ocl_blas_type(op->dtype);
    const int64_t lines = op->trans == ISO_NO_TRANS ? op->n : op->k;
    iso_status status = check_routine("syrk", op->dtype, syrks[type].routine, syrks[type].name);
    if (!status) {
        status = ocl_blas_check_f64_of(device, "syrk: variant vendor", op->dtype);
    }
    if (!status) {
        status = ocl_blas_check_span("a", lines, op->lda, op->batch, op->stride_a);
    }
    return status ? status : ocl_blas_check_span("c", op->n, op->ldc, op->batch, op->stride_c);
}

static clblast_code square(ocl_stream *stream, const void *args)
{
    const iso_syrk_op *op = args;
    const int64_t cell = iso_dtype_size(op->dtype);
    const unsigned triangle = op->triangle == ISO_LOWER ? CLBLAST_LOWER : CLBLAST_UPPER;
    const unsigned trans = ocl_blas_trans(op->trans);
    const size_t n = (size_t)op->n, k = (size_t)op->k;
    const size_t lda = (size_t)op->lda, ldc = (size_t)op->ldc;
    const size_t a = (size_t)(op->a.offset / cell), c = (size_t)(op->c.offset / cell);
    ocl_memory in_a = op->a.memory, in_c = op->c.memory;
#define SYRK(letter, alpha, beta)                                                                  \
    ocl_clblast.CLBlast##letter##syrk(CLBLAST_ROWS, triangle, trans, n, k, alpha, in_a, a, lda,    \
                                      beta, in_c, c, ldc, &stream->queue, NULL)
    switch (op->dtype) {
    case ISO_F32:
        return SYRK(S, (float)op->alpha, (float)op->beta);
    case ISO_F64:
        return SYRK(D, op->alpha, op->beta);
    case ISO_C64:
        return SYRK(C, ocl_narrow_pair(op->alpha, op->alpha_imag),
                    ocl_narrow_pair(op->beta, op->beta_imag));
    default:
        return SYRK(Z, ocl_pair(op->alpha, op->alpha_imag), ocl_pair(op->beta, op->beta_imag));
    }
#undef SYRK
}

static iso_status syrk_execute(simt_stream *stream, const iso_op *of)
{
    iso_syrk_op op = *of->syrk;
    const int64_t cell = iso_dtype_size(op.dtype);
    iso_status status = ISO_OK;
    for (int64_t i = 0; i < op.batch && !status; i++) {
        status = ocl_blas_submit(stream->native, square, &op, syrk_name(stream->device, of));
        op.a.offset += op.stride_a * cell;
        op.c.offset += op.stride_c * cell;
    }
    return status;
}

static iso_status rehearse_syrk(ocl_rehearsal *self, simt_stream *stream, const iso_op *given)
{
    iso_syrk_op op = *given->syrk;
    const int64_t cell = iso_dtype_size(op.dtype);
    const iso_op whole = {.size = (uint32_t)sizeof whole, .kind = ISO_OP_SYRK, .syrk = &op};
    op.n = simt_least(op.n, OCL_PREPARE_SIDE);
    op.k = simt_least(op.k, OCL_PREPARE_SIDE);
    op.batch = 1;
    op.lda = op.trans == ISO_NO_TRANS ? op.k : op.n;
    op.ldc = op.n;
    iso_status status = ocl_blas_take(self, op.n * op.k * cell, &op.a);
    status = status ? status : ocl_blas_take(self, op.n * op.n * cell, &op.c);
    return status ? status : syrk_execute(stream, &whole);
}

static iso_status syrk_prepare(simt_stream *stream, const iso_op *of)
{
    const iso_syrk_op *op = of->syrk;
    const uint32_t kind =
        ocl_blas_size_class(op->n, op->n, op->k) | (uint32_t)ocl_blas_type(op->dtype) << 3 |
        (uint32_t)(op->trans != ISO_NO_TRANS) << 5 | (uint32_t)(op->triangle == ISO_LOWER) << 6;
    return ocl_blas_prepare(stream, of, OCL_CLASSES_OF_SYRK + kind, rehearse_syrk);
}

const simt_vendor_operation ocl_blas_syrk = {
    .supports = syrk_supports, .execute = syrk_execute, .prepare = syrk_prepare, .name = syrk_name};

/* ---- triangular solves ----------------------------------------------------------------------- */

static const char *trsm_name(const simt_device *device, const iso_op *op)
{
    (void)device;
    return trsms[ocl_blas_type(op->trsm->dtype)].name;
}

static iso_status trsm_supports(simt_device *device, const iso_op *of)
{
    const iso_trsm_op *op = of->trsm;
    const int type = ocl_blas_type(op->dtype);
    const int64_t order = op->side == ISO_LEFT ? op->m : op->n;
    iso_status status = check_routine("trsm", op->dtype, trsms[type].routine, trsms[type].name);
    if (!status) {
        status = ocl_blas_check_f64_of(device, "trsm: variant vendor", op->dtype);
    }
    if (!status) {
        status = ocl_blas_check_span("a", order, op->lda, op->batch, op->stride_a);
    }
    return status ? status : ocl_blas_check_span("b", op->m, op->ldb, op->batch, op->stride_b);
}

static clblast_code solve(ocl_stream *stream, const void *args)
{
    const iso_trsm_op *op = args;
    const int64_t cell = iso_dtype_size(op->dtype);
    const unsigned side = op->side == ISO_LEFT ? CLBLAST_LEFT : CLBLAST_RIGHT;
    const unsigned triangle = op->triangle == ISO_LOWER ? CLBLAST_LOWER : CLBLAST_UPPER;
    const unsigned trans = ocl_blas_trans(op->trans);
    const unsigned diagonal = op->unit ? CLBLAST_UNIT : CLBLAST_NON_UNIT;
    const size_t m = (size_t)op->m, n = (size_t)op->n;
    const size_t lda = (size_t)op->lda, ldb = (size_t)op->ldb;
    const size_t a = (size_t)(op->a.offset / cell), b = (size_t)(op->b.offset / cell);
    ocl_memory in_a = op->a.memory, in_b = op->b.memory;
#define TRSM(letter, alpha)                                                                        \
    ocl_clblast.CLBlast##letter##trsm(CLBLAST_ROWS, side, triangle, trans, diagonal, m, n, alpha,  \
                                      in_a, a, lda, in_b, b, ldb, &stream->queue, NULL)
    switch (op->dtype) {
    case ISO_F32:
        return TRSM(S, (float)op->alpha);
    case ISO_F64:
        return TRSM(D, op->alpha);
    case ISO_C64:
        return TRSM(C, ocl_narrow_pair(op->alpha, op->alpha_imag));
    default:
        return TRSM(Z, ocl_pair(op->alpha, op->alpha_imag));
    }
#undef TRSM
}

static iso_status trsm_execute(simt_stream *stream, const iso_op *of)
{
    iso_trsm_op op = *of->trsm;
    const int64_t cell = iso_dtype_size(op.dtype);
    iso_status status = ISO_OK;
    if (simt_trsm_is_zero(&op)) {
        return simt_trsm_zero(stream, &op);
    }
    for (int64_t i = 0; i < op.batch && !status; i++) {
        status = ocl_blas_submit(stream->native, solve, &op, trsm_name(stream->device, of));
        op.a.offset += op.stride_a * cell;
        op.b.offset += op.stride_b * cell;
    }
    return status;
}

static iso_status rehearse_trsm(ocl_rehearsal *self, simt_stream *stream, const iso_op *given)
{
    iso_trsm_op op = *given->trsm;
    const int64_t cell = iso_dtype_size(op.dtype);
    const iso_op whole = {.size = (uint32_t)sizeof whole, .kind = ISO_OP_TRSM, .trsm = &op};
    op.m = simt_least(op.m, OCL_PREPARE_SIDE);
    op.n = simt_least(op.n, OCL_PREPARE_SIDE);
    op.batch = 1;
    op.lda = op.side == ISO_LEFT ? op.m : op.n;
    op.ldb = op.n;
    iso_status status = ocl_blas_take(self, op.lda * op.lda * cell, &op.a);
    status = status ? status : ocl_blas_take(self, op.m * op.n * cell, &op.b);
    return status ? status : trsm_execute(stream, &whole);
}

static iso_status trsm_prepare(simt_stream *stream, const iso_op *of)
{
    const iso_trsm_op *op = of->trsm;
    const int64_t order = op->side == ISO_LEFT ? op->m : op->n;
    const uint32_t kind =
        ocl_blas_size_class(op->m, op->n, order) | (uint32_t)ocl_blas_type(op->dtype) << 3 |
        (uint32_t)(op->side == ISO_LEFT) << 5 | (uint32_t)(op->triangle == ISO_LOWER) << 6 |
        (uint32_t)(op->trans != ISO_NO_TRANS) << 7;
    const iso_status status = simt_fill_prepare(stream->device);
    return status ? status
                  : ocl_blas_prepare(stream, of, OCL_CLASSES_OF_TRSM + kind, rehearse_trsm);
}

const simt_vendor_operation ocl_blas_trsm = {
    .supports = trsm_supports, .execute = trsm_execute, .prepare = trsm_prepare, .name = trsm_name};
