/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.c - products of a sparse matrix and a vector by a vendor's library.
 *
 * The size of the scratch memory is known only to the library, which is asked with a handle of the
 * device. No memory is given then, and the library reads none. Before the library's own scratch
 * memory there are two parts. The first is for a product without entries, which gets one: a 0 in
 * the last row, times a vector that is a single 0. The second is for an unaligned y: cuSPARSE 12
 * stores y in words of 16 bytes, and an unaligned one would break the context, so the product is
 * then computed in an aligned copy.
 */
#include "backends/simt/sparse.h"

#include <string.h>

enum { SPARSE_ALIGN = 256, SPARSE_LEAST = 256, SPARSE_ALIGN_Y = 16 };

static const simt_sparse *sparse_of(const simt_device *device)
{
    return simt_blas_of(device)->sparse;
}

/* ---- handles --------------------------------------------------------------------------------- */

static iso_status make_handle(simt_stream *stream, void **out)
{
    const simt_sparse *sparse = sparse_of(stream->device);
    void *handle = NULL;
    iso_status status =
        simt_blas_check(stream, sparse->numbers, sparse->create(&handle), sparse->create_name);
    if (status) {
        return status;
    }
    status = simt_blas_check(stream, sparse->numbers, sparse->set_up(handle, stream->native),
                             sparse->set_up_name);
    if (status) {
        (void)sparse->destroy(handle);
        return status;
    }
    *out = handle;
    return ISO_OK;
}

/* The stream's handle, which the first call creates. */
static iso_status stream_handle(simt_stream *stream, void **out)
{
    simt_blas_stream *own = simt_blas_stream_of(stream);
    if (!own) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = own->sparse ? ISO_OK : make_handle(stream, &own->sparse);
    *out = own->sparse;
    return status;
}

/* The device's handle, which the first call creates; NULL if that fails. The caller holds
 * vendor_lock. */
static void *device_handle(simt_device *device)
{
    const simt_sparse *sparse = sparse_of(device);
    simt_blas_device *own = simt_blas_device_of(device);
    if (own && !own->sparse && sparse->create(&own->sparse) != 0) {
        own->sparse = NULL;
    }
    return own ? own->sparse : NULL;
}

int simt_sparse_version(simt_device *device)
{
    const simt_sparse *sparse = sparse_of(device);
    int version = 0;
    simt_scope scope;
    (void)pthread_mutex_lock(&device->vendor_lock);
    if (!simt_vendor_enter(device, &scope)) {
        void *handle = device_handle(device);
        if (!handle || sparse->version(handle, &version) != 0) {
            version = 0;
        }
    }
    simt_vendor_leave(device, scope);
    (void)pthread_mutex_unlock(&device->vendor_lock);
    return version;
}

void simt_sparse_device_close(simt_device *device)
{
    const simt_blas_device *own = device->vendor;
    if (own->sparse) {
        (void)sparse_of(device)->destroy(own->sparse);
    }
}

void simt_sparse_stream_close(simt_stream *stream)
{
    const simt_blas_stream *own = stream->vendor;
    if (own->sparse) {
        (void)sparse_of(stream->device)->destroy(own->sparse);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct factors {
    simt_blas_scalar alpha, beta;
} factors;

static int64_t round_up(int64_t bytes)
{
    return (bytes + SPARSE_ALIGN - 1) / SPARSE_ALIGN * SPARSE_ALIGN;
}

/* Bytes of the offsets of a product without entries; after them is the place of its zero. */
static int64_t empty_offsets(const iso_spmv_op *op)
{
    return round_up((op->rows + 1) * iso_dtype_size(op->index));
}

static int64_t empty_bytes(const iso_spmv_op *op)
{
    return op->entries > 0 ? 0 : empty_offsets(op) + SPARSE_ALIGN;
}

static int64_t copy_bytes(const iso_spmv_op *op)
{
    return round_up(op->rows * iso_dtype_size(op->dtype));
}

/* The place of the copy of y. */
static iso_ref copy_of_y(const iso_op *op)
{
    iso_ref copy = op->workspace;
    copy.offset += empty_bytes(op->spmv);
    return copy;
}

/* The address of an operand. If it has no memory yet, an address that is never read. */
static void *place_of(iso_ref ref)
{
    static _Alignas(SPARSE_ALIGN) char nowhere[SPARSE_ALIGN];
    return ref.memory ? simt_place(ref) : nowhere;
}

static void make_product(const simt_device *device, const iso_op *of, factors *of_op,
                         simt_sparse_product *out)
{
    const iso_spmv_op *op = of->spmv;
    const simt_sparse *sparse = sparse_of(device);
    of_op->alpha = simt_blas_scalar_of(op->dtype, op->alpha, 0);
    of_op->beta = simt_blas_scalar_of(op->dtype, op->beta, 0);
    *out = (simt_sparse_product){
        .type = sparse->numbers->types[op->dtype] - 1,
        .index = op->index == ISO_I64 ? sparse->index_64 : sparse->index_32,
        .rows = op->rows,
        .cols = op->cols,
        .entries = op->entries,
        .offsets = place_of(op->offsets),
        .columns = place_of(op->columns),
        .values = place_of(op->values),
        .x = place_of(op->x),
        .y = place_of(op->y),
        .alpha = &of_op->alpha,
        .beta = &of_op->beta,
    };
    if (op->entries == 0) {
        iso_ref zero = of->workspace;
        zero.offset += empty_offsets(op);
        out->offsets = place_of(of->workspace);
        out->columns = out->values = out->x = place_of(zero);
        out->cols = out->entries = 1;
    }
}

static void drop_objects(const simt_sparse *sparse, simt_sparse_product *product)
{
    if (product->matrix) {
        sparse->free_matrix(product->matrix);
    }
    if (product->vector_x) {
        sparse->free_vector(product->vector_x);
    }
    if (product->vector_y) {
        sparse->free_vector(product->vector_y);
    }
}

/* Makes the objects and asks for the size. If a call fails, returns its status, and its name. */
static uint32_t make_objects(const simt_sparse *sparse, simt_sparse_product *product, size_t *bytes,
                             const char **call)
{
    *call = sparse->matrix_name;
    uint32_t code = sparse->make_matrix(product);
    if (code == 0) {
        *call = sparse->vector_name;
        code = sparse->make_vector(product, product->cols, product->x, &product->vector_x);
    }
    if (code == 0) {
        code = sparse->make_vector(product, product->rows, product->y, &product->vector_y);
    }
    if (code == 0) {
        *call = sparse->size_name;
        code = sparse->size(product, bytes);
    }
    return code;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Both vendors refuse a matrix with more entries than places, which has some columns twice. */
static iso_status spmv_supports(simt_device *device, const iso_op *of)
{
    const iso_spmv_op *op = of->spmv;
    const simt_sparse *sparse = sparse_of(device);
    if (!sparse->numbers->types[op->dtype]) {
        return device->host->fail(ISO_UNSUPPORTED, "spmv: variant vendor: %s has no product of %s",
                                  sparse->name, iso_dtype_name(op->dtype));
    }
    if (op->rows > 0 && op->entries > 0 && op->cols <= (op->entries - 1) / op->rows) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "spmv: variant vendor: the matrix has %lld entries, but %s "
                                  "accepts at most rows * columns (%lld * %lld): use tiled",
                                  (long long)op->entries, sparse->name, (long long)op->rows,
                                  (long long)op->cols);
    }
    return ISO_OK;
}

/* If the library does not tell the size, spmv_execute reports why. */
static int64_t spmv_workspace(simt_device *device, const iso_op *op)
{
    const simt_sparse *sparse = sparse_of(device);
    simt_sparse_product product;
    factors of_op;
    const char *call = NULL;
    simt_scope scope;
    size_t bytes = 0;
    make_product(device, op, &of_op, &product);
    (void)pthread_mutex_lock(&device->vendor_lock);
    if (!simt_vendor_enter(device, &scope)) {
        product.handle = device_handle(device);
        if (product.handle) {
            if (make_objects(sparse, &product, &bytes, &call) != 0) {
                bytes = 0;
            }
            drop_objects(sparse, &product);
        }
    }
    simt_vendor_leave(device, scope);
    (void)pthread_mutex_unlock(&device->vendor_lock);
    return empty_bytes(op->spmv) + copy_bytes(op->spmv) + SPARSE_LEAST + round_up((int64_t)bytes);
}

static iso_status put_zeros(simt_stream *stream, const iso_op *op)
{
    const simt_blas *blas = simt_blas_of(stream->device);
    char *at = simt_place(op->workspace);
    const int64_t last = op->spmv->rows * iso_dtype_size(op->spmv->index);
    const iso_status status = blas->put_words(stream, at, 0, empty_bytes(op->spmv) / 4);
    return status ? status : blas->put_words(stream, at + last, 1, 1);
}

static iso_status copy_y(simt_stream *stream, const iso_spmv_op *op, iso_ref from, iso_ref to)
{
    const int64_t bytes = op->rows * iso_dtype_size(op->dtype);
    const iso_transfer copy = {.size = (uint32_t)sizeof copy,
                               .kind = ISO_TRANSFER_COPY,
                               .from = from,
                               .from_pitch = bytes,
                               .to = to,
                               .to_pitch = bytes,
                               .width = bytes,
                               .height = 1};
    return stream->device->driver->transfer(stream, &copy);
}

/* Makes the objects and multiplies, with `room` bytes of scratch memory. */
static iso_status multiply(simt_stream *stream, simt_sparse_product *product, void *scratch,
                           int64_t room)
{
    const simt_sparse *sparse = sparse_of(stream->device);
    const char *call = NULL;
    size_t bytes = 0;
    uint32_t code = make_objects(sparse, product, &bytes, &call);
    iso_status status = ISO_OK;
    if (code == 0 && (int64_t)bytes > room) {
        status = stream->device->host->fail(ISO_BACKEND,
                                            "%s asks for %zu bytes of scratch memory, but before "
                                            "it asked for fewer, and has %lld",
                                            call, bytes, (long long)room);
    } else {
        if (code == 0) {
            call = sparse->multiply_name;
            code = sparse->multiply(product, scratch, (size_t)room);
        }
        status = simt_blas_check(stream, sparse->numbers, code, call);
    }
    drop_objects(sparse, product);
    return status;
}

static iso_status spmv_execute(simt_stream *stream, const iso_op *op)
{
    const iso_spmv_op *spmv = op->spmv;
    const int64_t before = empty_bytes(spmv) + copy_bytes(spmv);
    const bool unaligned = simt_alignment(stream->device, spmv->y) < SPARSE_ALIGN_Y;
    simt_sparse_product product;
    factors of_op;
    make_product(stream->device, op, &of_op, &product);
    iso_status status = stream_handle(stream, &product.handle);
    if (!status && spmv->entries == 0) {
        status = put_zeros(stream, op);
    }
    if (!status && unaligned) {
        product.y = simt_place(copy_of_y(op));
        status = spmv->beta != 0 ? copy_y(stream, spmv, spmv->y, copy_of_y(op)) : ISO_OK;
    }
    if (!status) {
        status = multiply(stream, &product, simt_place(op->workspace) + before,
                          op->workspace_bytes - before);
    }
    return !status && unaligned ? copy_y(stream, spmv, copy_of_y(op), spmv->y) : status;
}

static iso_status spmv_prepare(simt_stream *stream, const iso_op *op)
{
    void *handle = NULL;
    (void)op;
    return stream_handle(stream, &handle);
}

static const char *spmv_name(const simt_device *device, const iso_op *op)
{
    (void)op;
    return sparse_of(device)->multiply_name;
}

const simt_vendor_operation simt_sparse_spmv = {
    .supports = spmv_supports,
    .workspace = spmv_workspace,
    .execute = spmv_execute,
    .prepare = spmv_prepare,
    .name = spmv_name,
};
