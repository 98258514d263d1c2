/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - operations by a vendor's BLAS library, and its handles. Products use gemm, transposes
 * geam, reductions dot and asum. BLAS has no sum, so a sum is a dot product with a single 1, which
 * is read with stride 0. BLAS amax compares magnitudes, so it cannot serve as argmax. Results of
 * reductions stay on the device.
 */
#include "backends/simt/sparse.h"
#include "common/dtype.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *label_of(const simt_device *device)
{
    return simt_library_label(simt_vendor_library(device, 0));
}

/* ---- statuses and handles -------------------------------------------------------------------- */

/* The library's status does not tell whether the device was lost, so the stream is queried. */
iso_status simt_blas_check(simt_stream *stream, const simt_blas_numbers *numbers, uint32_t status,
                           const char *call)
{
    const simt_blas *blas = simt_blas_of(stream->device);
    char what[256];
    if (status == 0) {
        return ISO_OK;
    }
    if (numbers->status_name) {
        const char *name = numbers->status_name(status);
        (void)snprintf(what, sizeof what, "%s gives %s (%u)", call,
                       name ? name : "an unnamed status", status);
    } else {
        (void)snprintf(what, sizeof what, "%s gives status %u", call, status);
    }
    const iso_status lost = blas->lost(stream, what);
    if (lost) {
        return lost;
    }
    if (blas->forget_error) {
        blas->forget_error();
    }
    return stream->device->host->fail(status == numbers->alloc_failed ? ISO_NO_MEMORY : ISO_BACKEND,
                                      "%s", what);
}

simt_blas_stream *simt_blas_stream_of(simt_stream *stream)
{
    if (!stream->vendor) {
        stream->vendor = stream->device->host->alloc((int64_t)sizeof(simt_blas_stream));
        if (stream->vendor) {
            memset(stream->vendor, 0, sizeof(simt_blas_stream));
        }
    }
    return stream->vendor;
}

simt_blas_device *simt_blas_device_of(simt_device *device)
{
    if (!device->vendor) {
        device->vendor = device->host->alloc((int64_t)sizeof(simt_blas_device));
        if (device->vendor) {
            memset(device->vendor, 0, sizeof(simt_blas_device));
        }
    }
    return device->vendor;
}

static iso_status make_handle(simt_stream *stream, simt_blas_stream *own)
{
    const simt_blas *blas = simt_blas_of(stream->device);
    void *handle = NULL;
    iso_status status =
        simt_blas_check(stream, blas->numbers, blas->create(&handle), blas->create_name);
    if (status) {
        return status;
    }
    status = simt_blas_check(stream, blas->numbers, blas->set_up(handle, stream->native),
                             blas->set_up_name);
    if (status) {
        (void)blas->destroy(handle);
        return status;
    }
    own->handle = handle;
    return ISO_OK;
}

/* Gets the stream's handle. All settings are made again for every operation, so that none depends
 * on earlier operations. Each setting costs only a store. */
iso_status simt_blas_handle(simt_stream *stream, iso_ref workspace, int64_t bytes, bool on_device,
                            void **out)
{
    const simt_blas *blas = simt_blas_of(stream->device);
    simt_blas_stream *own = simt_blas_stream_of(stream);
    if (!own) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = own->handle ? ISO_OK : make_handle(stream, own);
    if (status) {
        return status;
    }
    *out = own->handle;
    return simt_blas_check(stream, blas->numbers,
                           blas->set(own->handle, on_device,
                                     bytes > BLAS_CONSTANT_BYTES && workspace.memory
                                         ? simt_place(workspace) + BLAS_CONSTANT_BYTES
                                         : NULL,
                                     bytes - BLAS_CONSTANT_BYTES),
                           blas->set_name);
}

iso_status simt_blas_prepare(simt_stream *stream, const iso_op *op)
{
    void *handle = NULL;
    return simt_blas_handle(stream, op->workspace, op->workspace_bytes, false, &handle);
}

int64_t simt_blas_workspace(simt_device *device, const iso_op *op)
{
    (void)op;
    return BLAS_CONSTANT_BYTES + simt_blas_of(device)->library_bytes(device);
}

void simt_blas_stream_close(simt_stream *stream)
{
    simt_blas_stream *own = stream->vendor;
    simt_scope scope;
    (void)simt_vendor_enter(stream->device, &scope);
    if (own->handle && scope.code == 0) {
        (void)simt_blas_of(stream->device)->destroy(own->handle);
    }
    if (scope.code == 0) {
        simt_sparse_stream_close(stream);
    }
    simt_lt_stream_close(stream);
    simt_vendor_leave(stream->device, scope);
}

void simt_blas_device_close(simt_device *device)
{
    simt_scope scope;
    if (!simt_vendor_enter(device, &scope)) {
        simt_lt_device_close(device);
        simt_sparse_device_close(device);
    }
    simt_vendor_leave(device, scope);
}

/* ---- products -------------------------------------------------------------------------------- */

uint32_t simt_blas_compute(const simt_blas_numbers *numbers, const iso_gemm_op *op)
{
    switch (op->dtype) {
    case ISO_F64:
        return numbers->in_f64;
    case ISO_C64:
        return numbers->in_c64;
    case ISO_C128:
        return numbers->in_c128;
    case ISO_I8:
        return numbers->in_i32;
    case ISO_F32:
        return op->math == ISO_MATH_TF32 ? numbers->in_tf32 : numbers->in_f32;
    default:
        return numbers->in_f32;
    }
}

simt_blas_scalar simt_blas_scalar_of(iso_dtype dtype, double value, double imaginary)
{
    switch (dtype) {
    case ISO_F64:
        return (simt_blas_scalar){.f64 = value};
    case ISO_C64:
        return (simt_blas_scalar){.c64 = {(float)value, (float)imaginary}};
    case ISO_C128:
        return (simt_blas_scalar){.c128 = {value, imaginary}};
    case ISO_I8:
        return (simt_blas_scalar){.i32 = (int32_t)value};
    default:
        return (simt_blas_scalar){.f32 = (float)value};
    }
}

uint32_t simt_blas_trans(const simt_blas_numbers *numbers, iso_trans trans)
{
    return trans == ISO_CONJ_TRANS ? numbers->conj_trans
           : trans == ISO_TRANS    ? numbers->trans
                                   : numbers->no_trans;
}

iso_status simt_blas_types(const simt_device *device, const simt_blas_numbers *numbers,
                           const iso_gemm_op *op, const char *library)
{
    const iso_dtype dtype = op->dtype, dtype_c = simt_gemm_dtype_c(op);
    const bool half = dtype == ISO_F16 || dtype == ISO_BF16;
    const bool known = dtype == ISO_I8    ? dtype_c == ISO_I32
                       : dtype == dtype_c ? dtype != ISO_I32 && dtype != ISO_I64
                                          : half && dtype_c == ISO_F32;
    return known && numbers->types[dtype] && numbers->types[dtype_c]
               ? ISO_OK
               : device->host->fail(ISO_UNSUPPORTED,
                                    "gemm: variant vendor: %s has no product of %s with results "
                                    "of %s; use tiled",
                                    library, iso_dtype_name(dtype), iso_dtype_name(dtype_c));
}

static iso_status gemm_supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const simt_blas *blas = simt_blas_of(device);
    const simt_blas_wish wish = {"gemm", op->dtype, op->math, op->library};
    const simt_size large = simt_gemm_large(op);
    const char *lacks = large.name ? blas->lacks_wide_gemm(op->batch > 1) : NULL;
    iso_status status = simt_blas_types(device, blas->numbers, op, label_of(device));
    if (!status && op->dtype == ISO_I8) {
        status = simt_i8_supports(device->host, op, label_of(device));
    }
    status = status ? status : blas->precision(device, &wish);
    return status || !lacks ? status
                            : simt_too_large(device->host, "gemm", large, label_of(device), lacks);
}

/* Copies of operands of i8 are after the library's own workspace. */
static int64_t gemm_workspace(simt_device *device, const iso_op *op)
{
    return simt_blas_workspace(device, op) +
           (op->gemm->dtype == ISO_I8 ? simt_i8_bytes(op->gemm) : 0);
}

static const char *gemm_name(const simt_device *device, const iso_op *op)
{
    return simt_blas_of(device)->gemm_names[op->gemm->batch > 1];
}

static iso_status gemm_execute(simt_stream *stream, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const simt_blas *blas = simt_blas_of(stream->device);
    const simt_blas_numbers *numbers = blas->numbers;
    const simt_blas_scalar alpha = simt_blas_scalar_of(op->dtype, op->alpha, op->alpha_imag);
    const simt_blas_scalar beta = simt_blas_scalar_of(op->dtype, op->beta, op->beta_imag);
    const int64_t copies = op->dtype == ISO_I8 ? simt_i8_bytes(op) : 0;
    iso_ref scratch = of->workspace;
    simt_blas_product product = {
        .wide = simt_gemm_large(op).name != NULL,
        .tf32 = op->math == ISO_MATH_TF32 && op->dtype == ISO_F32,
        .trans_1 = simt_blas_trans(numbers, op->trans_b),
        .trans_2 = simt_blas_trans(numbers, op->trans_a),
        .type = numbers->types[op->dtype] - 1,
        .type_c = numbers->types[simt_gemm_dtype_c(op)] - 1,
        .compute = simt_blas_compute(numbers, op),
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
        .alpha = &alpha,
        .beta = &beta,
        /* If k is 0, A and B are not read, but the library requires addresses and gets C's. */
        .one = simt_place(op->k > 0 ? op->b : op->c),
        .two = simt_place(op->k > 0 ? op->a : op->c),
        .c = simt_place(op->c),
    };
    iso_status status = simt_blas_handle(stream, of->workspace, of->workspace_bytes - copies, false,
                                         &product.handle);
    if (!status && op->dtype == ISO_I8) {
        scratch.offset += of->workspace_bytes - copies;
        status = simt_i8_settle(stream, op, scratch, &product);
    }
    return status ? status
                  : simt_blas_check(stream, numbers, blas->gemm(&product),
                                    gemm_name(stream->device, of));
}

static iso_status gemm_prepare(simt_stream *stream, const iso_op *op)
{
    const iso_status status = simt_blas_prepare(stream, op);
    return !status && op->gemm->dtype == ISO_I8 ? simt_i8_prepare(stream, op->gemm) : status;
}

const simt_vendor_operation simt_blas_gemm = {
    .supports = gemm_supports,
    .workspace = gemm_workspace,
    .execute = gemm_execute,
    .prepare = gemm_prepare,
    .name = gemm_name,
};

/* ---- transposes ------------------------------------------------------------------------------ */

enum { TILE = 1024 }; /* edge of the squares that are transposed in place */

static iso_status transpose_supports(simt_device *device, const iso_op *op)
{
    const simt_blas *blas = simt_blas_of(device);
    const bool ever = blas->lacks_wide_turn != NULL;
    const char *lacks = ever ? blas->lacks_wide_turn(op->transpose->element_bytes) : NULL;
    return simt_transpose_supports(device->host, op->transpose, label_of(device), ever && !lacks,
                                   lacks);
}

/* Scratch memory for one tile, if the transpose may be in place. Addresses are not known yet, so
 * only its sizes can rule that out. */
static int64_t transpose_workspace(simt_device *device, const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    (void)device;
    if (op->rows != op->cols || op->ld_from != op->ld_to) {
        return 0;
    }
    const int64_t side = op->rows < TILE ? op->rows : TILE;
    return side * side * op->element_bytes;
}

static const char *transpose_name(const simt_device *device, const iso_op *op)
{
    return simt_blas_of(device)->turn_names[op->transpose->element_bytes / 8];
}

/* geam cannot work in place, so each tile (i, j) is swapped with its mirror (j, i): the tile is
 * transposed into scratch memory, the mirror is transposed into the tile's place, and the scratch
 * memory is copied to the mirror's place. */
static iso_status turn_in_place(simt_stream *stream, const iso_op *op, simt_blas_turn turn)
{
    const simt_blas *blas = simt_blas_of(stream->device);
    const iso_transpose_op *t = op->transpose;
    const int64_t element = t->element_bytes;
    const int64_t pitch = t->ld_to * element;
    for (int64_t i = 0; i < t->rows; i += TILE) {
        const int64_t height = t->rows - i < TILE ? t->rows - i : TILE;
        for (int64_t j = i; j < t->rows; j += TILE) {
            const int64_t width = t->rows - j < TILE ? t->rows - j : TILE;
            iso_ref mirror = t->to;
            mirror.offset += j * pitch + i * element;
            char *here = simt_place(t->to) + i * pitch + j * element;
            turn.rows = height;
            turn.cols = width;
            turn.from = here;
            turn.to = simt_place(op->workspace);
            turn.ld_to = height;
            uint32_t code = blas->turn(&turn);
            if (code == 0 && i != j) {
                turn.rows = width;
                turn.cols = height;
                turn.from = simt_place(mirror);
                turn.to = here;
                turn.ld_to = t->ld_to;
                code = blas->turn(&turn);
            }
            iso_status status =
                simt_blas_check(stream, blas->numbers, code, transpose_name(stream->device, op));
            const iso_transfer put = {.size = (uint32_t)sizeof put,
                                      .kind = ISO_TRANSFER_COPY,
                                      .from = op->workspace,
                                      .from_pitch = height * element,
                                      .to = mirror,
                                      .to_pitch = pitch,
                                      .width = height * element,
                                      .height = width};
            status = status ? status : stream->device->driver->transfer(stream, &put);
            if (status) {
                return status;
            }
        }
    }
    return ISO_OK;
}

/* geam needs no workspace, so the library gets none. */
static iso_status transpose_execute(simt_stream *stream, const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    const simt_blas *blas = simt_blas_of(stream->device);
    simt_blas_turn turn = {
        .wide =
            t->rows > INT_MAX || t->cols > INT_MAX || t->ld_from > INT_MAX || t->ld_to > INT_MAX,
        .trans = blas->numbers->trans,
        .no_trans = blas->numbers->no_trans,
        .element_bytes = t->element_bytes,
        .rows = t->rows,
        .cols = t->cols,
        .ld_from = t->ld_from,
        .ld_to = t->ld_to,
        .from = simt_place(t->from),
        .to = simt_place(t->to),
    };
    const iso_status status =
        simt_blas_handle(stream, (iso_ref){.memory = NULL}, 0, false, &turn.handle);
    if (status) {
        return status;
    }
    if (turn.from == turn.to && t->rows == t->cols && t->ld_from == t->ld_to) {
        return turn_in_place(stream, op, turn);
    }
    return simt_blas_check(stream, blas->numbers, blas->turn(&turn),
                           transpose_name(stream->device, op));
}

const simt_vendor_operation simt_blas_transpose = {
    .supports = transpose_supports,
    .workspace = transpose_workspace,
    .execute = transpose_execute,
    .prepare = simt_blas_prepare,
    .name = transpose_name,
};

/* ---- reductions: of an array, or of each row ------------------------------------------------- */

static iso_status reduce_supports(simt_device *device, const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    const simt_blas *blas = simt_blas_of(device);
    const iso_status status = simt_reduce_supports(device->host, &blas->reductions, op);
    const char *lacks = op->cols > INT_MAX ? blas->lacks_wide_fold(op->op, op->dtype) : NULL;
    return status || !lacks ? status
                            : simt_too_large(device->host, "reduce", (simt_size){"cols", op->cols},
                                             label_of(device), lacks);
}

/* How many rows one call reduces. The workspace has a fixed size, and each row needs some of it. */
static int64_t rows_at_once(const simt_device *device, const iso_reduce_op_args *op)
{
    enum { ROWS_MAX = 32768 };
    const simt_blas *blas = simt_blas_of(device);
    const int64_t fit = blas->row_bytes ? blas->library_bytes(device) / blas->row_bytes(op) : 1;
    const int64_t most = fit < 1 ? 1 : fit < ROWS_MAX ? fit : ROWS_MAX;
    return op->rows < most ? op->rows : most;
}

static int64_t reduce_workspace(simt_device *device, const iso_op *op)
{
    enum { ROOM = 1 << 20 };
    const simt_blas *blas = simt_blas_of(device);
    return blas->row_bytes ? BLAS_CONSTANT_BYTES + ROOM +
                                 rows_at_once(device, op->reduce) * blas->row_bytes(op->reduce)
                           : simt_blas_workspace(device, op);
}

static const char *reduce_name(const simt_device *device, const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    const simt_blas *blas = simt_blas_of(device);
    const char *const *names = op->op == ISO_SUM   ? blas->sum_names
                               : op->op == ISO_DOT ? blas->dot_names
                                                   : blas->asum_names;
    return names[iso_dtype_size(op->dtype) / 4];
}

/* Writes a 1 of the type, as 32-bit words. */
static iso_status put_one(simt_stream *stream, iso_dtype dtype, char *at)
{
    const dtype_row *type = dtype_get(dtype);
    const simt_blas *blas = simt_blas_of(stream->device);
    const iso_status status = blas->put_words(stream, at, (uint32_t)type->one, 1);
    return status || type->bytes <= 4
               ? status
               : blas->put_words(stream, at + 4, (uint32_t)(type->one >> 32), 1);
}

static iso_status reduce_execute(simt_stream *stream, const iso_op *op)
{
    const iso_reduce_op_args *reduce = op->reduce;
    const simt_blas *blas = simt_blas_of(stream->device);
    const bool dot = reduce->op == ISO_DOT;
    const int64_t element = iso_dtype_size(reduce->dtype);
    const int64_t at_once = rows_at_once(stream->device, reduce);
    char *one = simt_place(op->workspace);
    simt_blas_fold fold = {
        .wide = reduce->cols > INT_MAX,
        .dtype = reduce->dtype,
        .type = blas->numbers->types[reduce->dtype] - 1,
        .n = reduce->cols,
        .ld_x = reduce->ld_x,
        .ld_y = dot ? reduce->ld_y : 0,
        .step_y = dot,
    };
    iso_status status =
        simt_blas_handle(stream, op->workspace, op->workspace_bytes, true, &fold.handle);
    if (!status && reduce->op == ISO_SUM) {
        status = put_one(stream, reduce->dtype, one);
    }
    for (int64_t row = 0; row < reduce->rows && !status; row += at_once) {
        fold.rows = reduce->rows - row < at_once ? reduce->rows - row : at_once;
        fold.x = simt_place(reduce->x) + row * reduce->ld_x * element;
        fold.y = dot ? simt_place(reduce->y) + row * reduce->ld_y * element : one;
        fold.result = simt_place(reduce->result) + row * element;
        status = simt_blas_check(stream, blas->numbers,
                                 reduce->op == ISO_ASUM ? blas->asum(&fold) : blas->dot(&fold),
                                 reduce_name(stream->device, op));
    }
    return status;
}

const simt_vendor_operation simt_blas_reduce = {
    .supports = reduce_supports,
    .workspace = reduce_workspace,
    .execute = reduce_execute,
    .prepare = simt_blas_prepare,
    .name = reduce_name,
};
