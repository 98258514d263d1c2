/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.c - passes operations of the variant vendor to the driver's libraries. Some libraries
 * cannot do a product with k = 0 (or alpha 0): they get one of a column and a row of zeros, which
 * are put before the library's own scratch memory. */
#include "backends/simt/simt.h"

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
