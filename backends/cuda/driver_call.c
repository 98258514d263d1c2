/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call.c - the driver's part of calls of the host. The mark is an event: unlike a host
 * function, it also ends if the context has failed. The gate is a word of host memory.
 *
 * Streams that share one of the driver's hardware queues (CUDA_DEVICE_MAX_CONNECTIONS, normally 8)
 * wait for each other's gates.
 */
#include "backends/cuda/library.h"

iso_status cuda_gate_open(void *native, void **gate)
{
    cuda_device *device = native;
    void *word = NULL;
    cuda_code code;
    if (!cu.cuStreamWaitValue32_v2) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "a stream cannot wait for a call of the host, because the driver "
                               "has no function cuStreamWaitValue32_v2: it supports CUDA %d.%d, "
                               "and 11.7 has the function; update the driver",
                               cuda_version / 1000, cuda_version % 1000 / 10);
    }
    CUDA_ON(device, code,
            cu.cuMemHostAlloc(&word, sizeof(uint32_t), CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED));
    if (code == CUDA_DONE) {
        atomic_init((_Atomic uint32_t *)word, 0);
        *gate = word;
    }
    return cuda_check(device, code, "cuMemHostAlloc(%zu bytes)", sizeof(uint32_t));
}

void cuda_gate_close(void *native, void *gate)
{
    cuda_code code;
    CUDA_ON((const cuda_device *)native, code, cu.cuMemFreeHost(gate));
    (void)code;
}

iso_status cuda_call_submit(simt_stream *stream, simt_call *call)
{
    cuda_device *device = stream->device->native;
    const char *what = "cuEventCreate";
    const simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE && !call->mark) {
        cuda_event made = NULL;
        code = cu.cuEventCreate(&made, CUDA_EVENT_NO_TIMING | CUDA_EVENT_BLOCKING);
        call->mark = made;
    }
    if (code == CUDA_DONE) {
        what = "cuEventRecord";
        code = cu.cuEventRecord(call->mark, stream->native);
    }
    if (code == CUDA_DONE) {
        what = "cuStreamWaitValue32";
        code = cu.cuStreamWaitValue32_v2(stream->native, cuda_address_of(call->gate), call->number,
                                         CUDA_WAIT_EQUAL);
    }
    cuda_leave(scope);
    const iso_status status = cuda_check(device, code, "%s", what);
    return code != CUDA_NOT_SUPPORTED
               ? status
               : cuda_host->fail(ISO_UNSUPPORTED,
                                 "a stream cannot wait for a call of the host: %s gives %s (%u)",
                                 what, cuda_code_name(code), code);
}

int32_t cuda_call_await(simt_stream *stream, simt_call *call)
{
    cuda_device *device = stream->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventSynchronize(call->mark));
    return cuda_check(device, code, "cuEventSynchronize") || atomic_load(&device->lost);
}

void cuda_call_finish(simt_stream *stream, simt_call *call)
{
    (void)stream;
    atomic_store((_Atomic uint32_t *)call->gate, call->number);
}

void cuda_call_close(simt_stream *stream, simt_call *call)
{
    if (call->mark) {
        cuda_code code;
        CUDA_ON((const cuda_device *)stream->device->native, code,
                cu.cuEventDestroy_v2(call->mark));
        (void)code;
    }
}
