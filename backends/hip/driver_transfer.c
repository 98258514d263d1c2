/* SPDX-License-Identifier: Apache-2.0 */
/* driver_transfer.c - copies one row or many between the host and a device, on a device, and
 * between devices. */
#include "backends/hip/library.h"

#include <stdio.h>
#include <string.h>

/* The addresses of both ends of a transfer, and its direction. */
typedef struct hip_copy {
    char *to;
    const char *from;
    hip_enum kind;
} hip_copy;

static hip_copy ends_of(const iso_transfer *transfer)
{
    switch (transfer->kind) {
    case ISO_TRANSFER_WRITE:
        return (hip_copy){simt_place(transfer->to), transfer->host_from, HIP_TO_DEVICE};
    case ISO_TRANSFER_READ:
        return (hip_copy){transfer->host_to, simt_place(transfer->from), HIP_TO_HOST};
    default:
        return (hip_copy){simt_place(transfer->to), simt_place(transfer->from), HIP_ON_DEVICE};
    }
}

iso_status hip_transfer(simt_stream *stream, const iso_transfer *transfer)
{
    /* Rows are copied one by one if the runtime does not accept the pitch. That costs little,
     * because memory has room for only a few rows with such a large pitch. */
    enum { PITCH_MAX = INT32_MAX };
    hip_device *device = stream->device->native;
    const hip_copy copy = ends_of(transfer);
    const size_t width = (size_t)transfer->width;
    const bool by_rows =
        transfer->height == 1 || transfer->from_pitch > PITCH_MAX || transfer->to_pitch > PITCH_MAX;
    const simt_scope scope = hip_enter(device);
    hip_code code = scope.code;
    if (code == HIP_DONE && !by_rows) {
        code = hip.hipMemcpy2DAsync(copy.to, (size_t)transfer->to_pitch, copy.from,
                                    (size_t)transfer->from_pitch, width, (size_t)transfer->height,
                                    copy.kind, stream->native);
    }
    for (int64_t row = 0; by_rows && row < transfer->height && code == HIP_DONE; row++) {
        code = hip.hipMemcpyAsync(copy.to + row * transfer->to_pitch,
                                  copy.from + row * transfer->from_pitch, width, copy.kind,
                                  stream->native);
    }
    hip_leave(scope);
    return hip_check(device, code, "%s %s(%lld rows of %lld bytes, pitches %lld and %lld)",
                     by_rows ? "hipMemcpyAsync" : "hipMemcpy2DAsync",
                     copy.kind == HIP_TO_DEVICE ? "to the device"
                     : copy.kind == HIP_TO_HOST ? "to the host"
                                                : "on the device",
                     (long long)transfer->height, (long long)transfer->width,
                     (long long)transfer->to_pitch, (long long)transfer->from_pitch);
}

/* Whether the runtime knows the memory, because it was pinned by anyone, or is managed. Asking
 * about pageable memory fails, or gives no device. */
static bool is_known(const void *memory)
{
    int ordinal = -1;
    void *place = NULL;
    memcpy(&place, &memory, sizeof place);
    return hip.hipPointerGetAttribute(&ordinal, HIP_POINTER_DEVICE, place) == HIP_DONE &&
           ordinal >= 0;
}

/* hipGetLastError, because the answers are not errors of the program's. */
bool hip_is_pageable(simt_stream *stream, const void *first, const void *last)
{
    hip_enum state = HIP_CAPTURE_NONE;
    if (!hip.hipPointerGetAttribute || !hip.hipStreamIsCapturing) {
        return false;
    }
    const simt_scope scope = hip_enter(stream->device->native);
    const bool runs = scope.code == HIP_DONE &&
                      hip.hipStreamIsCapturing(stream->native, &state) == HIP_DONE &&
                      state == HIP_CAPTURE_NONE;
    const bool pageable = runs && !(is_known(first) && is_known(last));
    (void)hip.hipGetLastError();
    hip_leave(scope);
    return pageable;
}

/* ---- between devices ------------------------------------------------------------------------- */

/* Gives `to` access to the memory of `from`. */
static iso_status connect_devices(hip_device *to, const hip_device *from)
{
    if (to->index == from->index || atomic_load(&to->peer) == from->index + 1) {
        return ISO_OK;
    }
    int can = 0;
    hip_code code = hip.hipDeviceCanAccessPeer(&can, to->index, from->index);
    if (code != HIP_DONE || !can) {
        return hip_host->fail(ISO_UNSUPPORTED, "devices %d and %d have no direct path", to->index,
                              from->index);
    }
    HIP_ON(to, code, hip.hipDeviceEnablePeerAccess(from->index, 0));
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
    if (code != HIP_DONE && code != HIP_PEER_ACCESS_ALREADY) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "hipDeviceEnablePeerAccess between %d and %d gives %s", to->index,
                              from->index, hip_code_name(code));
    }
    atomic_store(&to->peer, from->index + 1);
    return ISO_OK;
}

/* Makes all later work on `after` wait for the work that is on `before` now. */
static hip_code follow(const simt_stream *after, simt_stream *before)
{
    const simt_scope scope = hip_enter(before->device->native);
    hip_code code = scope.code;
    if (code == HIP_DONE && !before->order) {
        hip_event made = NULL;
        code = hip.hipEventCreateWithFlags(&made, HIP_EVENT_NO_TIMING);
        before->order = made;
    }
    if (code == HIP_DONE) {
        code = hip.hipEventRecord(before->order, before->native);
    }
    hip_leave(scope);
    if (code == HIP_DONE) {
        HIP_ON(after->device->native, code,
               hip.hipStreamWaitEvent(after->native, before->order, 0));
    }
    return code;
}

iso_status hip_copy_peer(simt_stream *target, iso_ref to, simt_stream *source, iso_ref from,
                         int64_t bytes)
{
    hip_device *here = target->device->native;
    hip_device *there = source->device->native;
    iso_status status = connect_devices(here, there);
    if (status) {
        return status;
    }
    hip_code code = follow(target, source);
    if (code == HIP_DONE) {
        HIP_ON(here, code,
               hip.hipMemcpyPeerAsync(simt_place(to), here->index, simt_place(from), there->index,
                                      (size_t)bytes, target->native));
    }
    status = hip_check(here, code, "hipMemcpyPeerAsync(%lld bytes)", (long long)bytes);
    if (!status) {
        code = follow(source, target);
        status = hip_check(there, code, "hipStreamWaitEvent");
    }
    return status;
}
