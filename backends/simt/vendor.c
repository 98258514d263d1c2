/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.c - passes operations of the variant vendor to the driver's libraries. Some libraries
 * cannot do a product with k = 0 (or alpha 0): they get one of a column and a row of zeros, which
 * are put before the library's own scratch memory. */
#include "backends/simt/simt.h"
#include "common/dtype.h"

#include <limits.h>
#include <string.h>

enum { ZEROS_ALIGN = 256 };

/* The operation that is passed to the library. */
typedef struct vendor_op {
    iso_op op;
    iso_gemm_op gemm;
    int64_t zeros; /* bytes; 0: the operation is unchanged */
} vendor_op;

static void read_op(vendor_op *self, const simt_device *device, const iso_op *op)
{
    const simt_vendor *vendor = device->driver->vendor;
    *self = (vendor_op){.op = *op};
    if (op->kind != ISO_OP_GEMM || op->gemm->k > 0 || !vendor->needs_k ||
        !vendor->needs_k(op->gemm)) {
        return;
    }
    self->gemm = *op->gemm;
    self->op.gemm = &self->gemm;
    const int64_t longer = self->gemm.m > self->gemm.n ? self->gemm.m : self->gemm.n;
    const int64_t bytes = longer * iso_dtype_size(self->gemm.dtype);
    self->zeros = (bytes + ZEROS_ALIGN - 1) / ZEROS_ALIGN * ZEROS_ALIGN;
    self->gemm.k = 1;
    self->gemm.trans_a = self->gemm.trans_b = ISO_NO_TRANS;
    self->gemm.lda = 1;
    self->gemm.ldb = self->gemm.n;
    self->gemm.stride_a = self->gemm.stride_b = 0;
    if (op->workspace.memory) {
        self->gemm.a = self->gemm.b = op->workspace;
        self->op.workspace.offset += self->zeros;
        self->op.workspace_bytes -= self->zeros;
    }
}

iso_status simt_vendor_supports(simt_device *device, const iso_op *op)
{
    vendor_op self;
    if (!device->driver->vendor) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "variant is vendor, but %s has no vendor library: use tiled",
                                  device->driver->name);
    }
    read_op(&self, device, op);
    return device->driver->vendor->supports(device, &self.op);
}

iso_status simt_vendor_workspace(simt_device *device, const iso_op *op, int64_t *bytes)
{
    vendor_op self;
    read_op(&self, device, op);
    const iso_status status = device->driver->vendor->workspace(device, &self.op, bytes);
    *bytes += self.zeros;
    return status;
}

iso_status simt_vendor_execute(simt_stream *stream, const iso_op *op)
{
    vendor_op self;
    iso_status status = ISO_OK;
    read_op(&self, stream->device, op);
    if (self.zeros > 0) {
        const iso_transfer fill = {.size = (uint32_t)sizeof fill,
                                   .kind = ISO_TRANSFER_FILL,
                                   .to = op->workspace,
                                   .to_pitch = self.zeros,
                                   .width = self.zeros,
                                   .height = 1,
                                   .pattern_bytes = 16};
        status = simt_fill(stream, &fill);
    }
    return status == ISO_OK ? stream->device->driver->vendor->execute(stream, &self.op) : status;
}

iso_status simt_vendor_prepare(simt_stream *stream, const iso_op *op)
{
    vendor_op self;
    read_op(&self, stream->device, op);
    const iso_status status = self.zeros > 0 ? simt_fill_prepare(stream->device) : ISO_OK;
    return status == ISO_OK ? stream->device->driver->vendor->prepare(stream, &self.op) : status;
}

void simt_vendor_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    vendor_op self;
    read_op(&self, device, op);
    device->driver->vendor->describe(device, &self.op, out);
}

/* ---- what several libraries have in common --------------------------------------------------- */

static simt_size first_large(const simt_size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].value > INT_MAX) {
            return sizes[i];
        }
    }
    return (simt_size){NULL, 0};
}

simt_size simt_gemm_large(const iso_gemm_op *op)
{
    const simt_size sizes[] = {{"m", op->m},        {"n", op->n},     {"k", op->k},
                               {"lda", op->lda},    {"ldb", op->ldb}, {"ldc", op->ldc},
                               {"batch", op->batch}};
    return first_large(sizes, sizeof sizes / sizeof sizes[0]);
}

iso_status simt_too_large(const iso_host *host, const char *operation, simt_size size,
                          const char *library)
{
    return host->fail(ISO_UNSUPPORTED,
                      "%s: variant vendor: %s is %lld, and the sizes of %s have 32 bits: at most "
                      "%d; use tiled",
                      operation, size.name, (long long)size.value, library, INT_MAX);
}

iso_status simt_transpose_supports(const iso_host *host, const iso_transpose_op *op,
                                   const char *library, bool wide)
{
    const simt_size sizes[] = {
        {"rows", op->rows}, {"cols", op->cols}, {"ld_from", op->ld_from}, {"ld_to", op->ld_to}};
    const simt_size large = first_large(sizes, sizeof sizes / sizeof sizes[0]);
    if (op->element_bytes < 4) {
        return host->fail(ISO_UNSUPPORTED,
                          "transpose: element_bytes is %lld, but %s transposes elements of 4, 8 "
                          "and 16 bytes: use tiled",
                          (long long)op->element_bytes, library);
    }
    return large.name && !wide ? simt_too_large(host, "transpose", large, library) : ISO_OK;
}

int64_t simt_transpose_tile(const iso_transpose_op *op, int64_t edge)
{
    if (op->rows != op->cols || op->ld_from != op->ld_to) {
        return 0;
    }
    const int64_t side = op->rows < edge ? op->rows : edge;
    return side * side * op->element_bytes;
}

iso_status simt_reduce_supports(const iso_host *host, const simt_reductions *has,
                                const iso_reduce_op_args *op)
{
    const char *name = iso_reduce_op_name(op->op);
    const bool dot = op->op == ISO_SUM || op->op == ISO_DOT;
    const dtype_row *type = dtype_get(op->dtype);
    const bool half = type->floating && type->bytes == 2;
    if (op->op == ISO_NORM2) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s's nrm2 %s: use tiled", has->library,
                          has->norm2_problem);
    }
    if (!dot && op->op != ISO_ASUM) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s has sum, dot and asum, but no %s: use tiled",
                          has->library, name);
    }
    if (op->dtype != ISO_F32 && op->dtype != ISO_F64 && !(half && dot && has->half)) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s has no %s of %s: use tiled", has->library,
                          name, iso_dtype_name(op->dtype));
    }
    if (op->axis == ISO_AXIS_0 || (op->axis != ISO_AXIS_ALL && !has->rows)) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s reduces %s: use tiled", has->library,
                          has->rows ? "arrays and rows, not along axis 0"
                                    : "whole arrays, not along an axis");
    }
    return ISO_OK;
}

void *simt_stream_vendor(simt_stream *stream, int64_t bytes)
{
    if (!stream->vendor) {
        stream->vendor = stream->device->host->alloc(bytes);
        if (stream->vendor) {
            memset(stream->vendor, 0, (size_t)bytes);
        }
    }
    return stream->vendor;
}
