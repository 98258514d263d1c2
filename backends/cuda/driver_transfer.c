/* SPDX-License-Identifier: Apache-2.0 */
/* driver_transfer.c - copies one row or many between the host and a device, on a device, and
 * between devices. */
#include "backends/cuda/library.h"

#include <string.h>

static cuda_code copy_row(const simt_stream *stream, const iso_transfer *transfer, int64_t row)
{
    const size_t bytes = (size_t)transfer->width;
    const int64_t to = row * transfer->to_pitch;
    const int64_t from = row * transfer->from_pitch;
    switch (transfer->kind) {
    case ISO_TRANSFER_WRITE:
        return cu.cuMemcpyHtoDAsync_v2(cuda_place(transfer->to) + (uint64_t)to,
                                       (const char *)transfer->host_from + from, bytes,
                                       stream->native);
    case ISO_TRANSFER_READ:
        return cu.cuMemcpyDtoHAsync_v2((char *)transfer->host_to + to,
                                       cuda_place(transfer->from) + (uint64_t)from, bytes,
                                       stream->native);
    default:
        return cu.cuMemcpyDtoDAsync_v2(cuda_place(transfer->to) + (uint64_t)to,
                                       cuda_place(transfer->from) + (uint64_t)from, bytes,
                                       stream->native);
    }
}

static cuda_code copy_rows(const simt_stream *stream, const iso_transfer *transfer)
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
                                 stream->native);
}

iso_status cuda_transfer(simt_stream *stream, const iso_transfer *transfer)
{
    cuda_device *device = stream->device->native;
    const bool one = transfer->height == 1;
    /* Rows are copied one by one if the driver does not accept the pitch. That costs little,
     * because memory has room for only a few rows with such a large pitch. */
    const bool far =
        transfer->from_pitch > device->pitch_max || transfer->to_pitch > device->pitch_max;
    simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE && !one && !far) {
        code = copy_rows(stream, transfer);
    } else {
        for (int64_t row = 0; row < transfer->height && code == CUDA_DONE; row++) {
            code = copy_row(stream, transfer, row);
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

/* Whether the driver knows the memory, because it was pinned by anyone, or is managed. Asking about
 * pageable memory fails. */
static bool is_known(const void *memory)
{
    unsigned type = 0;
    return cu.cuPointerGetAttribute(&type, CUDA_POINTER_TYPE, cuda_address_of(memory)) ==
               CUDA_DONE &&
           type != 0;
}

bool cuda_is_pageable(simt_stream *stream, const void *first, const void *last)
{
    const simt_scope scope = cuda_enter(stream->device->native);
    unsigned state = CUDA_CAPTURE_NONE;
    const bool runs = scope.code == CUDA_DONE &&
                      cu.cuStreamIsCapturing(stream->native, &state) == CUDA_DONE &&
                      state == CUDA_CAPTURE_NONE;
    const bool pageable = runs && !(is_known(first) && is_known(last));
    cuda_leave(scope);
    return pageable;
}

/* ---- between devices ------------------------------------------------------------------------- */

/* Gives `to` access to the memory of `from`. */
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

/* Makes all later work on `after` wait for the work that is on `before` now. */
static cuda_code follow(const simt_stream *after, simt_stream *before)
{
    const simt_scope scope = cuda_enter(before->device->native);
    cuda_code code = scope.code;
    if (code == CUDA_DONE && !before->order) {
        cuda_event made = NULL;
        code = cu.cuEventCreate(&made, CUDA_EVENT_NO_TIMING);
        before->order = made;
    }
    if (code == CUDA_DONE) {
        code = cu.cuEventRecord(before->order, before->native);
    }
    cuda_leave(scope);
    if (code == CUDA_DONE) {
        CUDA_ON(after->device->native, code, cu.cuStreamWaitEvent(after->native, before->order, 0));
    }
    return code;
}

iso_status cuda_copy_peer(simt_stream *target, iso_ref to, simt_stream *source, iso_ref from,
                          int64_t bytes)
{
    cuda_device *here = target->device->native;
    cuda_device *there = source->device->native;
    iso_status status = connect(here, there);
    if (status) {
        return status;
    }
    cuda_code code = follow(target, source);
    if (code == CUDA_DONE) {
        CUDA_ON(here, code,
                cu.cuMemcpyPeerAsync(cuda_place(to), here->context, cuda_place(from),
                                     there->context, (size_t)bytes, target->native));
    }
    status = cuda_check(here, code, "cuMemcpyPeerAsync(%lld bytes)", (long long)bytes);
    if (!status) {
        code = follow(source, target);
        status = cuda_check(there, code, "cuStreamWaitEvent");
    }
    return status;
}
