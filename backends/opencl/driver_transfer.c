/* SPDX-License-Identifier: Apache-2.0 */
/* driver_transfer.c - transfers, of one row or of many. */
#include "backends/opencl/library.h"

static const char *call_of(iso_transfer_kind kind, bool rows)
{
    return kind == ISO_TRANSFER_WRITE  ? rows ? "clEnqueueWriteBufferRect" : "clEnqueueWriteBuffer"
           : kind == ISO_TRANSFER_READ ? rows ? "clEnqueueReadBufferRect" : "clEnqueueReadBuffer"
           : rows                      ? "clEnqueueCopyBufferRect"
                                       : "clEnqueueCopyBuffer";
}

/* Copies `count` rows from row `row` on. The rows have no gaps on either side. */
static iso_status copy_run(ocl_stream *stream, const iso_transfer *transfer, int64_t row,
                           int64_t count)
{
    const int64_t to = row * transfer->to_pitch;
    const int64_t from = row * transfer->from_pitch;
    const size_t bytes = (size_t)(count * transfer->width);
    ocl_event event = NULL;
    ocl_code code;
    if (transfer->kind == ISO_TRANSFER_WRITE) {
        code = cl.clEnqueueWriteBuffer(stream->queue, transfer->to.memory, 0,
                                       (size_t)(transfer->to.offset + to), bytes,
                                       (const char *)transfer->host_from + from, 0, NULL, &event);
    } else if (transfer->kind == ISO_TRANSFER_READ) {
        code = cl.clEnqueueReadBuffer(stream->queue, transfer->from.memory, 0,
                                      (size_t)(transfer->from.offset + from), bytes,
                                      (char *)transfer->host_to + to, 0, NULL, &event);
    } else {
        code = cl.clEnqueueCopyBuffer(stream->queue, transfer->from.memory, transfer->to.memory,
                                      (size_t)(transfer->from.offset + from),
                                      (size_t)(transfer->to.offset + to), bytes, 0, NULL, &event);
    }
    return ocl_submitted(stream, code, event, call_of(transfer->kind, false));
}

static ocl_code copy_rows(ocl_stream *stream, const iso_transfer *transfer, ocl_event *event)
{
    const size_t region[3] = {(size_t)transfer->width, (size_t)transfer->height, 1};
    const size_t to[3] = {(size_t)transfer->to.offset, 0, 0};
    const size_t from[3] = {(size_t)transfer->from.offset, 0, 0};
    const size_t none[3] = {0, 0, 0};
    const size_t to_row = (size_t)transfer->to_pitch;
    const size_t from_row = (size_t)transfer->from_pitch;
    if (transfer->kind == ISO_TRANSFER_WRITE) {
        return cl.clEnqueueWriteBufferRect(stream->queue, transfer->to.memory, 0, to, none, region,
                                           to_row, 0, from_row, 0, transfer->host_from, 0, NULL,
                                           event);
    }
    if (transfer->kind == ISO_TRANSFER_READ) {
        return cl.clEnqueueReadBufferRect(stream->queue, transfer->from.memory, 0, from, none,
                                          region, from_row, 0, to_row, 0, transfer->host_to, 0,
                                          NULL, event);
    }
    return cl.clEnqueueCopyBufferRect(stream->queue, transfer->from.memory, transfer->to.memory,
                                      from, to, region, from_row, 0, to_row, 0, 0, NULL, event);
}

/* Some drivers refuse rectangles that OpenCL allows (an offset beyond the pitch, a last row without
 * its gap). Such a rectangle is transferred row by row. */
iso_status ocl_transfer(simt_stream *stream, const iso_transfer *transfer)
{
    ocl_stream *self = stream->native;
    const bool dense =
        transfer->to_pitch == transfer->width && transfer->from_pitch == transfer->width;
    if (transfer->height == 1 || dense) {
        return copy_run(self, transfer, 0, transfer->height);
    }
    ocl_event event = NULL;
    const ocl_code code = copy_rows(self, transfer, &event);
    if (code == OCL_DONE || ocl_status(code) != ISO_BACKEND) {
        return ocl_submitted(self, code, event, call_of(transfer->kind, true));
    }
    iso_status status = ISO_OK;
    for (int64_t row = 0; row < transfer->height && status == ISO_OK; row++) {
        status = copy_run(self, transfer, row, 1);
    }
    return status;
}
