/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - memory, streams and events of the HIP runtime, and the table that simt calls. */
#include "backends/hip/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Destructors cannot report errors; the sticky error is cleared so that the application does not
 * see ours. */
static void forget_error(hip_code code, const char *call)
{
    if (code != HIP_DONE) {
        hip_host->log(ISO_LOG_DEBUG, "hip: %s gives %s", call, hip_code_name(code));
        (void)hip.hipGetLastError();
    }
}

/* "Not ready" is a normal answer, but the runtime records it as this thread's last error. So it is
 * cleared here. */
static iso_status answer(hip_device *device, hip_code code, const char *call)
{
    if (code == HIP_NOT_READY) {
        (void)hip.hipGetLastError();
        return ISO_NOT_READY;
    }
    return hip_check(device, code, "%s", call);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static iso_status memory_alloc(void *native, int64_t bytes, void **memory)
{
    hip_device *device = native;
    hip_code code;
    HIP_ON(device, code, hip.hipMalloc(memory, (size_t)bytes));
    return hip_check(device, code, "hipMalloc(%lld bytes)", (long long)bytes);
}

static void memory_free(void *device, void *memory)
{
    const hip_device *native = ((const simt_device *)device)->native;
    hip_code code;
    HIP_ON(native, code, hip.hipFree(memory));
    forget_error(code, "hipFree");
}

static iso_status host_alloc(void *of, int64_t bytes, void **pointer, int32_t *pinned)
{
    hip_device *device = ((simt_device *)of)->native;
    hip_code code;
    HIP_ON(device, code, hip.hipHostMalloc(pointer, (size_t)bytes, HIP_HOST_PORTABLE));
    *pinned = code == HIP_DONE;
    return hip_check(device, code, "hipHostMalloc(%lld bytes)", (long long)bytes);
}

static void host_free(void *device, void *pointer)
{
    const hip_device *native = ((const simt_device *)device)->native;
    hip_code code;
    HIP_ON(native, code, hip.hipHostFree(pointer));
    forget_error(code, "hipHostFree");
}

static iso_status host_register(void *native, void *pointer, int64_t bytes, int32_t *pinned)
{
    hip_device *device = native;
    hip_code code;
    HIP_ON(device, code, hip.hipHostRegister(pointer, (size_t)bytes, HIP_REGISTER_PORTABLE));
    *pinned = code == HIP_DONE;
    if (hip_status(code) == ISO_DEVICE_LOST) {
        return hip_check(device, code, "hipHostRegister(%p, %lld bytes)", pointer,
                         (long long)bytes);
    }
    forget_error(code, "hipHostRegister");
    return ISO_OK;
}

static void host_unregister(void *native, void *pointer)
{
    hip_code code;
    HIP_ON((hip_device *)native, code, hip.hipHostUnregister(pointer));
    forget_error(code, "hipHostUnregister");
}

/* ---- streams --------------------------------------------------------------------------------- */

static iso_status stream_create(simt_stream *stream)
{
    hip_device *device = stream->device->native;
    hip_stream made = NULL;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamCreateWithFlags(&made, HIP_STREAM_NON_BLOCKING));
    stream->native = made;
    return hip_check(device, code, "hipStreamCreateWithFlags");
}

/* Checks only that the pointer is a stream. Its device is not checked, because not every version
 * can report that. */
static iso_status stream_adopt(simt_stream *stream, void *foreign)
{
    hip_device *device = stream->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamQuery(foreign));
    if (code == HIP_NOT_READY) {
        (void)hip.hipGetLastError();
    } else if (code != HIP_DONE) {
        const iso_status status = hip_check(device, code, "hipStreamQuery(%p)", foreign);
        return status == ISO_DEVICE_LOST
                   ? status
                   : hip_host->fail(ISO_INVALID, "stream is %p, but hipStreamQuery gives %s (%u)",
                                    foreign, hip_code_name(code), code);
    }
    stream->native = foreign;
    return ISO_OK;
}

static void stream_destroy(simt_stream *stream)
{
    const hip_device *device = stream->device->native;
    hip_code code = HIP_DONE;
    if (stream->order) {
        HIP_ON(device, code, hip.hipEventDestroy(stream->order));
        forget_error(code, "hipEventDestroy");
    }
    if (!stream->foreign) {
        HIP_ON(device, code, hip.hipStreamDestroy(stream->native));
        forget_error(code, "hipStreamDestroy");
    }
}

/* Reports again that the device is lost. The runtime returns the error only once, but the device
 * does not recover. */
static iso_status still_lost(const hip_device *device, const char *call)
{
    if (atomic_load(&device->lost)) {
        return hip_host->fail(ISO_DEVICE_LOST,
                              "%s: device %d has failed, and everything on it is lost: close the "
                              "device and open it again",
                              call, device->index);
    }
    return ISO_OK;
}

static iso_status stream_sync(void *stream)
{
    const simt_stream *queue = stream;
    hip_device *device = queue->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamSynchronize(queue->native));
    const iso_status status = hip_check(device, code, "hipStreamSynchronize");
    return status ? status : still_lost(device, "hipStreamSynchronize");
}

static iso_status stream_query(void *stream)
{
    const simt_stream *queue = stream;
    hip_device *device = queue->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamQuery(queue->native));
    const iso_status status = answer(device, code, "hipStreamQuery");
    return status ? status : still_lost(device, "hipStreamQuery");
}

/* ---- events ---------------------------------------------------------------------------------- */

static iso_status event_create(simt_event *event)
{
    hip_device *device = event->device->native;
    hip_event made = NULL;
    hip_code code;
    HIP_ON(device, code, hip.hipEventCreateWithFlags(&made, HIP_EVENT_TIMING));
    event->native = made;
    return hip_check(device, code, "hipEventCreateWithFlags");
}

static void event_destroy(simt_event *event)
{
    const hip_device *device = event->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipEventDestroy(event->native));
    forget_error(code, "hipEventDestroy");
}

static iso_status event_record(void *event, void *stream)
{
    const simt_event *mark = event;
    const simt_stream *queue = stream;
    hip_device *device = queue->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipEventRecord(mark->native, queue->native));
    return hip_check(device, code, "hipEventRecord");
}

static iso_status stream_wait(void *stream, void *event)
{
    const simt_stream *queue = stream;
    hip_device *device = queue->device->native;
    const simt_event *mark = event;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamWaitEvent(queue->native, mark->native, 0));
    return hip_check(device, code, "hipStreamWaitEvent");
}

static iso_status event_sync(void *event)
{
    const simt_event *mark = event;
    hip_device *device = mark->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipEventSynchronize(mark->native));
    return hip_check(device, code, "hipEventSynchronize");
}

static iso_status event_query(void *event)
{
    const simt_event *mark = event;
    hip_device *device = mark->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipEventQuery(mark->native));
    return answer(device, code, "hipEventQuery");
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const simt_event *from = start;
    const simt_event *to = stop;
    hip_device *device = from->device->native;
    float milliseconds = 0;
    hip_code code;
    HIP_ON(device, code, hip.hipEventElapsedTime(&milliseconds, from->native, to->native));
    *nanoseconds = llround((double)milliseconds * 1e6);
    return hip_check(device, code, "hipEventElapsedTime");
}

/* ---- sharing a program's own objects --------------------------------------------------------- */

/* Checks the device of the memory, but not the kind of memory, because the constants for kinds
 * differ between versions. */
static iso_status memory_import(void *native, void *foreign, int64_t bytes, void **memory)
{
    hip_device *device = native;
    int ordinal = device->index;
    void *base = NULL;
    size_t whole = 0;
    const simt_scope scope = hip_enter(device);
    hip_code code = scope.code;
    if (code == HIP_DONE) {
        code = hip.hipMemGetAddressRange(&base, &whole, foreign);
    }
    if (code == HIP_DONE && hip.hipPointerGetAttribute) {
        code = hip.hipPointerGetAttribute(&ordinal, HIP_POINTER_DEVICE, foreign);
    }
    hip_leave(scope);
    if (hip_status(code) == ISO_DEVICE_LOST) {
        return hip_check(device, code, "hipMemGetAddressRange(%p)", foreign);
    }
    if (code != HIP_DONE || ordinal != device->index) {
        (void)hip.hipGetLastError();
        return hip_host->fail(ISO_INVALID, "%p is not memory of HIP device %d%s%s", foreign,
                              device->index, code ? ": hipMemGetAddressRange gives " : "",
                              code ? hip_code_name(code) : "");
    }
    const uint64_t left = (uint64_t)(uintptr_t)base + whole - (uint64_t)(uintptr_t)foreign;
    if ((uint64_t)bytes > left) {
        return hip_host->fail(
            ISO_INVALID, "%p has %llu bytes left in its allocation, but %lld would be imported",
            foreign, (unsigned long long)left, (long long)bytes);
    }
    *memory = foreign;
    return ISO_OK;
}

static iso_status native_get(simt_device *of, iso_native_kind kind, void *object, void **out)
{
    const hip_device *device = of->native;
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
        *out = NULL; /* HIP's contexts are not used */
        return ISO_OK;
    case ISO_NATIVE_DEVICE: {
        const intptr_t number = device->index;
        memcpy(out, &number, sizeof number);
        return ISO_OK;
    }
    case ISO_NATIVE_STREAM:
        *out = ((simt_stream *)object)->native;
        return ISO_OK;
    default:
        *out = ((simt_event *)object)->native;
        return ISO_OK;
    }
}

/* ---- properties and the table ---------------------------------------------------------------- */

static iso_status device_property(void *native, int32_t index, iso_property *out)
{
    const hip_device *device = native;
    switch (index) {
    case 0:
        (void)snprintf(out->name, sizeof out->name, "HIP runtime");
        (void)snprintf(out->value, sizeof out->value, "%d.%d (%d), %s", hip_major(),
                       hip_version / 100000 % 100, hip_version, hip_runtime_library.path);
        return ISO_OK;
    case 1:
        (void)snprintf(out->name, sizeof out->name, "architecture");
        (void)snprintf(out->value, sizeof out->value, "%s", device->architecture);
        return ISO_OK;
    case 2:
        (void)snprintf(out->name, sizeof out->name, "hipRTC");
        hip_compiler_describe(out->value, sizeof out->value);
        return ISO_OK;
    default:
        return ISO_NOT_READY;
    }
}

enum { DLPACK_ROCM = 10 };

static const simt_driver driver = {
    .name = "hip",
    .probe = hip_probe,
    .device_open = hip_device_open,
    .device_close = hip_device_close,
    .device_property = device_property,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .stream_sync = stream_sync,
    .stream_query = stream_query,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .transfer = hip_transfer,
    .is_pageable = hip_is_pageable,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .event_record = event_record,
    .event_sync = event_sync,
    .call_submit = hip_call_submit,
    .call_await = hip_call_await,
    .call_finish = hip_call_finish,
    .call_close = hip_call_close,
    .gate_open = hip_gate_open,
    .gate_close = hip_gate_close,
    .graph_usable = hip_graph_usable,
    .graph_begin = hip_graph_begin,
    .graph_end = hip_graph_end,
    .graph_drop = hip_graph_drop,
    .graph_run = hip_graph_run,
    .copy_peer = hip_copy_peer,
    .program_identity = hip_program_identity,
    .compiler_version = hip_program_identity,
    .program_build = hip_program_build,
    .program_load = hip_program_load,
    .program_unload = hip_program_unload,
    .kernel_get = hip_kernel_get,
    .launch = hip_launch,
    .device_adopt = hip_device_adopt,
    .stream_adopt = stream_adopt,
    .memory_import = memory_import,
    .native_get = native_get,
    .dlpack_type = DLPACK_ROCM,
    .vendor = &hip_vendor,
};

SIMT_BACKEND(hip, hip_host, driver, "module API and hipRTC opened at run time", .probe = hip_probe,
             .device_info = hip_device_info, .telemetry = hip_telemetry, .chip_get = hip_chip_get,
             .program_try = hip_program_try, .memory_free = memory_free, .host_alloc = host_alloc,
             .host_free = host_free, .event_record = event_record, .stream_wait = stream_wait,
             .event_sync = event_sync, .event_query = event_query, .event_elapsed = event_elapsed,
             .engine = &hip_engine)
