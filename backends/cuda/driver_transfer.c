/* SPDX-License-Identifier: Apache-2.0 */
/* driver_transfer.c - copies: host and device, of one row or many, and between devices. */
#include "backends/cuda/library.h"

#include <string.h>

static cuda_code copy_row(cuda_queue *queue, const iso_transfer *transfer, int64_t row)
{
    const size_t bytes = (size_t)transfer->width;
    const int64_t to = row * transfer->to_pitch;
    const int64_t from = row * transfer->from_pitch;
    switch (transfer->kind) {
    case ISO_TRANSFER_WRITE:
        return cu.cuMemcpyHtoDAsync_v2(cuda_place(transfer->to) + (uint64_t)to,
                                       (const char *)transfer->host_from + from, bytes,
                                       queue->stream);
    case ISO_TRANSFER_READ:
        return cu.cuMemcpyDtoHAsync_v2((char *)transfer->host_to + to,
                                       cuda_place(transfer->from) + (uint64_t)from, bytes,
                                       queue->stream);
    default:
        return cu.cuMemcpyDtoDAsync_v2(cuda_place(transfer->to) + (uint64_t)to,
                                       cuda_place(transfer->from) + (uint64_t)from, bytes,
                                       queue->stream);
    }
}

static cuda_code copy_rows(cuda_queue *queue, const iso_transfer *transfer)
{
    cuda_copy_2d copy = {
        .from_type = CUDA_MEMORY_DEVICE,
        .to_type = CUDA_MEMORY_DEVICE,
        .from_pitch = (size_t)transfer->from_pitch,
        .to_pitch = (size_t)transfer->to_pitch,
        .width = (size_t)transfer->width,
        .height = (size_t)transfer->height,
    };
    if (transfer->kind == ISO_TRANSFER_WRITE) {
        copy.from_type = CUDA_MEMORY_HOST;
        copy.from_host = transfer->host_from;
    } else {
        copy.from_device = cuda_place(transfer->from);
    }
    if (transfer->kind == ISO_TRANSFER_READ) {
        copy.to_type = CUDA_MEMORY_HOST;
        copy.to_host = transfer->host_to;
    } else {
        copy.to_device = cuda_place(transfer->to);
    }
    return cu.cuMemcpy2DAsync_v2((const struct CUDA_MEMCPY2D_st *)(const void *)&copy,
                                 queue->stream);
}

iso_status cuda_transfer(void *stream, const iso_transfer *transfer)
{
    cuda_queue *queue = stream;
    cuda_device *device = queue->device;
    const bool one = transfer->height == 1;
    /* Rows further apart than the driver accepts are so large that there are few of them. */
    const bool far =
        transfer->from_pitch > device->pitch_max || transfer->to_pitch > device->pitch_max;
    simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE && !one && !far) {
        code = copy_rows(queue, transfer);
    } else {
        for (int64_t row = 0; row < transfer->height && code == CUDA_DONE; row++) {
            code = copy_row(queue, transfer, row);
        }
    }
    cuda_leave(scope);
    return cuda_check(device, code, "%s(%lld rows of %lld bytes, pitches %lld and %lld)",
                      one || far                             ? "cuMemcpyAsync"
                      : transfer->kind == ISO_TRANSFER_WRITE ? "cuMemcpy2DAsync to the device"
                      : transfer->kind == ISO_TRANSFER_READ  ? "cuMemcpy2DAsync to the host"
                                                             : "cuMemcpy2DAsync on the device",
                      (long long)transfer->height, (long long)transfer->width,
                      (long long)transfer->to_pitch, (long long)transfer->from_pitch);
}

/* ---- between devices ------------------------------------------------------------------------- */

/* Gives one context access to the other's memory. */
static iso_status connect(cuda_device *to, cuda_device *from)
{
    if (to->context == from->context || atomic_load(&to->peer) == from->context) {
        return ISO_OK;
    }
    int can = to->ordinal == from->ordinal;
    cuda_code code = CUDA_DONE;
    if (!can) {
        code = cu.cuDeviceCanAccessPeer(&can, to->ordinal, from->ordinal);
    }
    if (code != CUDA_DONE || !can) {
        return cuda_host->fail(ISO_UNSUPPORTED, "devices %d and %d have no direct path", to->index,
                               from->index);
    }
    simt_scope scope = cuda_enter(to);
    code = scope.code;
    if (code == CUDA_DONE && to->ordinal != from->ordinal) {
        code = cu.cuCtxEnablePeerAccess(from->context, 0);
    }
    cuda_leave(scope);
    if (code != CUDA_DONE && code != CUDA_PEER_ALREADY_ENABLED) {
        return cuda_host->fail(ISO_UNSUPPORTED, "cuCtxEnablePeerAccess between %d and %d gives %s",
                               to->index, from->index, cuda_code_name(code));
    }
    atomic_store(&to->peer, from->context);
    return ISO_OK;
}

/* Later work on one stream waits for the current work on the other. */
static cuda_code follow(cuda_queue *after, cuda_queue *before)
{
    simt_scope scope = cuda_enter(before->device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE && !before->order) {
        code = cu.cuEventCreate(&before->order, CUDA_EVENT_NO_TIMING);
    }
    if (code == CUDA_DONE) {
        code = cu.cuEventRecord(before->order, before->stream);
    }
    cuda_leave(scope);
    if (code != CUDA_DONE) {
        return code;
    }
    CUDA_ON(after->device, code, cu.cuStreamWaitEvent(after->stream, before->order, 0));
    return code;
}

iso_status cuda_copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                          int64_t bytes)
{
    cuda_queue *target = to_stream;
    cuda_queue *source = from_stream;
    iso_status status = connect(target->device, source->device);
    if (status) {
        return status;
    }
    cuda_code code = follow(target, source);
    if (code == CUDA_DONE) {
        CUDA_ON(target->device, code,
                cu.cuMemcpyPeerAsync(cuda_place(to), target->device->context, cuda_place(from),
                                     source->device->context, (size_t)bytes, target->stream));
    }
    status = cuda_check(target->device, code, "cuMemcpyPeerAsync(%lld bytes)", (long long)bytes);
    if (!status) {
        code = follow(source, target);
        status = cuda_check(source->device, code, "cuStreamWaitEvent");
    }
    return status;
}
