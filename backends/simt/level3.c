/* SPDX-License-Identifier: Apache-2.0 */
/* level3.c - symmetric products and triangular solves, of which a backend has only the variant
 * vendor: the core composes the others. */
#include "backends/simt/simt.h"

#include <stdbool.h>
#include <stddef.h>

static iso_status supports(simt_device *device, const iso_op *op)
{
    return device->host->fail(ISO_UNSUPPORTED, "%s: this backend has only the variant vendor",
                              iso_op_kind_name(op->kind));
}

/* One term of zeros, as for products. */
static int64_t syrk_add_term(void *args, iso_ref zeros)
{
    iso_syrk_op *op = args;
    if (op->k > 0) {
        return 0;
    }
    op->k = 1;
    op->trans = ISO_NO_TRANS;
    op->lda = 1;
    op->stride_a = 0;
    if (zeros.memory) {
        op->a = zeros;
    }
    return op->n * iso_dtype_size(op->dtype);
}

bool simt_trsm_is_zero(const iso_trsm_op *op)
{
    return !(op->alpha < 0 || op->alpha > 0 || op->alpha_imag < 0 || op->alpha_imag > 0 ||
             op->alpha != op->alpha || op->alpha_imag != op->alpha_imag);
}

iso_status simt_trsm_zero(simt_stream *stream, const iso_trsm_op *op)
{
    const int64_t cell = iso_dtype_size(op->dtype);
    iso_transfer fill = {.size = (uint32_t)sizeof fill,
                         .kind = ISO_TRANSFER_FILL,
                         .to = op->b,
                         .to_pitch = op->ldb * cell,
                         .width = op->n * cell,
                         .height = op->m,
                         .pattern_bytes = (int32_t)cell};
    iso_status status = ISO_OK;
    for (int64_t i = 0; i < op->batch && !status; i++) {
        status = simt_fill(stream, &fill);
        fill.to.offset += op->stride_b * cell;
    }
    return status;
}

const simt_operation simt_syrk = {
    .variant_at = offsetof(iso_syrk_op, variant),
    .library_at = offsetof(iso_syrk_op, library),
    .add_term = syrk_add_term,
    .supports = supports,
};

const simt_operation simt_trsm = {
    .variant_at = offsetof(iso_trsm_op, variant),
    .library_at = offsetof(iso_trsm_op, library),
    .supports = supports,
};
