/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call.c - the driver's part of calls of the host. The mark is an event: unlike a host
 * function, it also ends if the device has failed. The gate is a signal, the only memory for which
 * a stream may wait, and its lower half is the word.
 *
 * Streams that share one of the runtime's hardware queues (GPU_MAX_HW_QUEUES, normally 4) wait for
 * each other's gates.
 */
#include "backends/hip/library.h"

enum { SIGNAL_BYTES = 8, ALL_BITS = -1 };

static const char *missing(const hip_device *device)
{
    int can = 0;
    if (!hip.hipStreamWaitValue32) {
        return "the runtime has no function hipStreamWaitValue32";
    }
    if (!hip.hipExtMallocWithFlags) {
        return "the runtime has no function hipExtMallocWithFlags";
    }
    if (hip.hipDeviceGetAttribute(&can, HIP_CAN_WAIT_VALUE, device->index) != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
    return can ? NULL : "hipDeviceAttributeCanUseStreamWaitValue is 0 for this device";
}

iso_status hip_gate_open(void *native, void **gate)
{
    hip_device *device = native;
    hip_code code;
    const char *why = missing(device);
    if (why) {
        return hip_host->fail(
            ISO_UNSUPPORTED, "a stream cannot wait for a call of the host, because %s: update ROCm",
            why);
    }
    void *word = NULL;
    HIP_ON(device, code, hip.hipExtMallocWithFlags(&word, SIGNAL_BYTES, HIP_SIGNAL_MEMORY));
    if (code == HIP_DONE) {
        atomic_init((_Atomic uint64_t *)word, 0);
        *gate = word;
    }
    return hip_check(device, code, "hipExtMallocWithFlags(%d bytes, hipMallocSignalMemory)",
                     SIGNAL_BYTES);
}

void hip_gate_close(void *native, void *gate)
{
    hip_code code;
    HIP_ON((const hip_device *)native, code, hip.hipFree(gate));
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
}

iso_status hip_call_submit(simt_stream *stream, simt_call *call)
{
    hip_device *device = stream->device->native;
    const char *what = "hipEventCreateWithFlags";
    const simt_scope scope = hip_enter(device);
    hip_code code = scope.code;
    if (code == HIP_DONE && !call->mark) {
        hip_event made = NULL;
        code = hip.hipEventCreateWithFlags(&made, HIP_EVENT_NO_TIMING | HIP_EVENT_BLOCKING);
        call->mark = made;
    }
    if (code == HIP_DONE) {
        what = "hipEventRecord";
        code = hip.hipEventRecord(call->mark, stream->native);
    }
    if (code == HIP_DONE) {
        what = "hipStreamWaitValue32";
        code = hip.hipStreamWaitValue32(stream->native, call->gate, call->number, HIP_WAIT_EQUAL,
                                        (uint32_t)ALL_BITS);
    }
    hip_leave(scope);
    const iso_status status = hip_check(device, code, "%s", what);
    return code != HIP_NOT_SUPPORTED
               ? status
               : hip_host->fail(ISO_UNSUPPORTED,
                                "a stream cannot wait for a call of the host: %s gives %s (%u)",
                                what, hip_code_name(code), code);
}

int32_t hip_call_await(simt_stream *stream, simt_call *call)
{
    hip_device *device = stream->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipEventSynchronize(call->mark));
    return hip_check(device, code, "hipEventSynchronize") || atomic_load(&device->lost);
}

void hip_call_finish(simt_stream *stream, simt_call *call)
{
    (void)stream;
    atomic_store((_Atomic uint64_t *)call->gate, call->number);
}

void hip_call_close(simt_stream *stream, simt_call *call)
{
    if (call->mark) {
        hip_code code;
        HIP_ON((const hip_device *)stream->device->native, code, hip.hipEventDestroy(call->mark));
        if (code != HIP_DONE) {
            (void)hip.hipGetLastError();
        }
    }
}
