/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_level3.c - symmetric products and triangular solves by a vendor's BLAS library. The core
 * composes the other variants.
 *
 * The library's matrices are column-major, so it sees the transposes of ours: the lower triangle is
 * its upper one. C = op(A) op(A)^T becomes the product of the other op. op(A) X = alpha B becomes
 * X^T op(A)^T = alpha B^T, so the sides are exchanged, and op stays, because A^T is what is stored.
 */
#include "backends/simt/blas.h"

#include <stdio.h>

enum { MOST_AT_ONCE = 32768 }; /* members of a batch in one call */

static const char *label_of(const simt_device *device)
{
    return simt_library_label(simt_vendor_library(device, 0));
}

/* ISO_OK if the library has the function for these types, and its precision suits. `lacks` is the
 * function that it lacks; NULL: none. `known`: BLAS has the type. */
static iso_status allows(simt_device *device, const simt_blas_wish *wish, bool known,
                         const char *lacks, simt_size large)
{
    if (!known) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "%s: variant vendor: %s has none for %s; use tiled",
                                  wish->operation, label_of(device), iso_dtype_name(wish->dtype));
    }
    if (lacks && large.name) {
        return simt_too_large(device->host, wish->operation, large, label_of(device), lacks);
    }
    if (lacks) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "%s: variant vendor: %s has no function %s; use tiled",
                                  wish->operation, label_of(device), lacks);
    }
    return simt_blas_of(device)->precision(device, wish);
}

static bool has_type(iso_dtype dtype)
{
    return dtype == ISO_F32 || dtype == ISO_F64 || dtype == ISO_C64 || dtype == ISO_C128;
}

static int name_of(iso_dtype dtype)
{
    return dtype == ISO_C128 ? 3 : dtype == ISO_C64 ? 2 : dtype == ISO_F64;
}

static uint32_t turned_triangle(const simt_blas_numbers *numbers, iso_triangle triangle)
{
    return triangle == ISO_LOWER ? numbers->upper : numbers->lower;
}

/* ---- symmetric products ---------------------------------------------------------------------- */

static iso_status syrk_supports(simt_device *device, const iso_op *of)
{
    const iso_syrk_op *op = of->syrk;
    const simt_blas_wish wish = {"syrk", op->dtype, ISO_MATH_STRICT, op->library};
    const simt_size large = simt_syrk_large(op);
    const bool known = has_type(op->dtype);
    const char *lacks =
        known ? simt_blas_of(device)->lacks_square(op->dtype, large.name != NULL) : NULL;
    return allows(device, &wish, known, lacks, large);
}

static const char *syrk_name(const simt_device *device, const iso_op *op)
{
    return simt_blas_of(device)->square_names[name_of(op->syrk->dtype)];
}

static iso_status syrk_execute(simt_stream *stream, const iso_op *of)
{
    const iso_syrk_op *op = of->syrk;
    const simt_blas *blas = simt_blas_of(stream->device);
    const simt_blas_numbers *numbers = blas->numbers;
    const simt_blas_scalar alpha = simt_blas_scalar_of(op->dtype, op->alpha, op->alpha_imag);
    const simt_blas_scalar beta = simt_blas_scalar_of(op->dtype, op->beta, op->beta_imag);
    const int64_t cell = iso_dtype_size(op->dtype);
    const int64_t at_once = blas->batches ? MOST_AT_ONCE : 1;
    simt_blas_square square = {
        .wide = simt_syrk_large(op).name != NULL,
        .dtype = op->dtype,
        .triangle = turned_triangle(numbers, op->triangle),
        .trans = op->trans == ISO_NO_TRANS ? numbers->trans : numbers->no_trans,
        .n = op->n,
        .k = op->k,
        .lda = op->lda,
        .ldc = op->ldc,
        .stride_a = op->stride_a,
        .stride_c = op->stride_c,
        .alpha = &alpha,
        .beta = &beta,
    };
    iso_status status =
        simt_blas_handle(stream, of->workspace, of->workspace_bytes, false, &square.handle);
    for (int64_t i = 0; i < op->batch && !status; i += at_once) {
        square.batch = simt_least(at_once, op->batch - i);
        square.c = simt_place(op->c) + i * op->stride_c * cell;
        /* If k is 0, A is not read, but the library requires an address and gets C's. */
        square.a = op->k > 0 ? simt_place(op->a) + i * op->stride_a * cell : square.c;
        status =
            simt_blas_check(stream, numbers, blas->square(&square), syrk_name(stream->device, of));
    }
    return status;
}

const simt_vendor_operation simt_blas_syrk = {
    .supports = syrk_supports,
    .workspace = simt_blas_workspace,
    .execute = syrk_execute,
    .prepare = simt_blas_prepare,
    .name = syrk_name,
};

/* ---- triangular solves ----------------------------------------------------------------------- */

static iso_status trsm_supports(simt_device *device, const iso_op *of)
{
    const iso_trsm_op *op = of->trsm;
    const simt_blas_wish wish = {"trsm", op->dtype, ISO_MATH_STRICT, op->library};
    const simt_size large = simt_trsm_large(op);
    const bool known = has_type(op->dtype);
    const char *lacks =
        known ? simt_blas_of(device)->lacks_solve(op->dtype, large.name != NULL) : NULL;
    return allows(device, &wish, known, lacks, large);
}

static const char *trsm_name(const simt_device *device, const iso_op *op)
{
    return simt_blas_of(device)->solve_names[name_of(op->trsm->dtype)];
}

/* How many solves of a batch one call does. The workspace has a fixed size, and each may need some
 * of it. */
static int64_t solves_at_once(simt_device *device, const iso_trsm_op *op)
{
    const simt_blas *blas = simt_blas_of(device);
    if (!blas->batches) {
        return 1;
    }
    const int64_t each = blas->solve_bytes ? blas->solve_bytes(op) : 1;
    const int64_t fit = each > 0 ? blas->library_bytes(device) / each : op->batch;
    return simt_least(simt_least(op->batch, MOST_AT_ONCE), fit > 1 ? fit : 1);
}

static int64_t trsm_workspace(simt_device *device, const iso_op *of)
{
    enum { ROOM = 1 << 20 };
    const simt_blas *blas = simt_blas_of(device);
    return blas->solve_bytes ? BLAS_CONSTANT_BYTES + ROOM +
                                   solves_at_once(device, of->trsm) * blas->solve_bytes(of->trsm)
                             : simt_blas_workspace(device, of);
}

static iso_status trsm_execute(simt_stream *stream, const iso_op *of)
{
    const iso_trsm_op *op = of->trsm;
    const simt_blas *blas = simt_blas_of(stream->device);
    const simt_blas_numbers *numbers = blas->numbers;
    const simt_blas_scalar alpha = simt_blas_scalar_of(op->dtype, op->alpha, op->alpha_imag);
    const int64_t cell = iso_dtype_size(op->dtype);
    const int64_t at_once = solves_at_once(stream->device, op);
    simt_blas_solve solve = {
        .wide = simt_trsm_large(op).name != NULL,
        .dtype = op->dtype,
        .side = op->side == ISO_LEFT ? numbers->right : numbers->left,
        .triangle = turned_triangle(numbers, op->triangle),
        .trans = simt_blas_trans(numbers, op->trans),
        .diagonal = op->unit ? numbers->unit : numbers->non_unit,
        .m = op->n,
        .n = op->m,
        .lda = op->lda,
        .ldb = op->ldb,
        .stride_a = op->stride_a,
        .stride_b = op->stride_b,
        .alpha = &alpha,
    };
    if (simt_trsm_is_zero(op)) {
        return simt_trsm_zero(stream, op);
    }
    iso_status status =
        simt_blas_handle(stream, of->workspace, of->workspace_bytes, false, &solve.handle);
    for (int64_t i = 0; i < op->batch && !status; i += at_once) {
        solve.batch = simt_least(at_once, op->batch - i);
        solve.b = simt_place(op->b) + i * op->stride_b * cell;
        solve.a = simt_place(op->a) + i * op->stride_a * cell;
        status =
            simt_blas_check(stream, numbers, blas->solve(&solve), trsm_name(stream->device, of));
    }
    return status;
}

static iso_status trsm_prepare(simt_stream *stream, const iso_op *op)
{
    const iso_status status = simt_fill_prepare(stream->device);
    return status ? status : simt_blas_prepare(stream, op);
}

const simt_vendor_operation simt_blas_trsm = {
    .supports = trsm_supports,
    .workspace = trsm_workspace,
    .execute = trsm_execute,
    .prepare = trsm_prepare,
    .name = trsm_name,
};
