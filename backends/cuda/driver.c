/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - memory, streams and events of the driver API, and the table that simt calls. */
#include "backends/cuda/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static iso_status memory_alloc(void *native, int64_t bytes, void **memory)
{
    cuda_device *device = native;
    cuda_address address = 0;
    cuda_code code;
    CUDA_ON(device, code, cu.cuMemAlloc_v2(&address, (size_t)bytes));
    *memory = cuda_pointer(address);
    return cuda_check(device, code, "cuMemAlloc(%lld bytes)", (long long)bytes);
}

static void memory_free(void *device, void *memory)
{
    const cuda_device *native = ((const simt_device *)device)->native;
    cuda_code code;
    CUDA_ON(native, code, cu.cuMemFree_v2(cuda_address_of(memory)));
    if (code != CUDA_DONE) {
        cuda_host->log(ISO_LOG_DEBUG, "cuda: cuMemFree(%p) gives %s", memory, cuda_code_name(code));
    }
}

static iso_status host_alloc(void *of, int64_t bytes, void **pointer, int32_t *pinned)
{
    cuda_device *device = ((simt_device *)of)->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuMemHostAlloc(pointer, (size_t)bytes, CUDA_HOST_PORTABLE));
    *pinned = code == CUDA_DONE;
    return cuda_check(device, code, "cuMemHostAlloc(%lld bytes)", (long long)bytes);
}

static void host_free(void *device, void *pointer)
{
    const cuda_device *native = ((const simt_device *)device)->native;
    cuda_code code;
    CUDA_ON(native, code, cu.cuMemFreeHost(pointer));
    (void)code;
}

static iso_status host_register(void *native, void *pointer, int64_t bytes, int32_t *pinned)
{
    cuda_device *device = native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuMemHostRegister_v2(pointer, (size_t)bytes, CUDA_REGISTER_PORTABLE));
    *pinned = code == CUDA_DONE;
    if (cuda_status(code) == ISO_DEVICE_LOST) {
        return cuda_check(device, code, "cuMemHostRegister(%p, %lld bytes)", pointer,
                          (long long)bytes);
    }
    if (!*pinned) {
        cuda_host->log(ISO_LOG_INFO, "cuda: cuMemHostRegister(%p, %lld bytes) gives %s: not pinned",
                       pointer, (long long)bytes, cuda_code_name(code));
    }
    return ISO_OK;
}

static void host_unregister(void *native, void *pointer)
{
    cuda_code code;
    CUDA_ON((cuda_device *)native, code, cu.cuMemHostUnregister(pointer));
    (void)code;
}

/* ---- streams --------------------------------------------------------------------------------- */

static iso_status stream_create(simt_stream *stream)
{
    cuda_device *device = stream->device->native;
    cuda_stream made = NULL;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamCreate(&made, CUDA_STREAM_NON_BLOCKING));
    stream->native = made;
    return cuda_check(device, code, "cuStreamCreate");
}

/* A stream belongs to the device of its context. The legacy default stream (NULL) belongs to the
 * context that is current, so every device accepts it. */
static iso_status stream_adopt(simt_stream *stream, void *foreign)
{
    cuda_device *device = stream->device->native;
    cuda_context context = NULL;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamGetCtx(foreign, &context));
    if (cuda_status(code) == ISO_DEVICE_LOST) {
        return cuda_check(device, code, "cuStreamGetCtx(%p)", foreign);
    }
    if (code != CUDA_DONE) {
        return cuda_host->fail(ISO_INVALID, "stream is %p, but cuStreamGetCtx gives %s (%u)",
                               foreign, cuda_code_name(code), code);
    }
    if (context != device->context) {
        return cuda_host->fail(ISO_INVALID,
                               "stream %p belongs to context %p, but the device was opened in "
                               "context %p: adopt the device with the stream's context",
                               foreign, (void *)context, (void *)device->context);
    }
    stream->native = foreign;
    return ISO_OK;
}

static void stream_destroy(simt_stream *stream)
{
    const simt_scope scope = cuda_enter(stream->device->native);
    if (scope.code == CUDA_DONE && stream->order) {
        (void)cu.cuEventDestroy_v2(stream->order);
    }
    if (scope.code == CUDA_DONE && !stream->foreign) {
        (void)cu.cuStreamDestroy_v2(stream->native);
    }
    cuda_leave(scope);
}

/* An error that destroys the context is not recorded here, because the driver returns it again from
 * every later call. */
static iso_status stream_sync(void *stream)
{
    const simt_stream *queue = stream;
    cuda_device *device = queue->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamSynchronize(queue->native));
    return cuda_check(device, code, "cuStreamSynchronize");
}

static iso_status stream_query(void *stream)
{
    const simt_stream *queue = stream;
    cuda_device *device = queue->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamQuery(queue->native));
    return code == CUDA_NOT_READY ? ISO_NOT_READY : cuda_check(device, code, "cuStreamQuery");
}

/* ---- events ---------------------------------------------------------------------------------- */

static iso_status event_create(simt_event *event)
{
    cuda_device *device = event->device->native;
    cuda_event made = NULL;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventCreate(&made, 0));
    event->native = made;
    return cuda_check(device, code, "cuEventCreate");
}

static void event_destroy(simt_event *event)
{
    const cuda_device *device = event->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventDestroy_v2(event->native));
    (void)code;
}

static iso_status event_record(void *event, void *stream)
{
    const simt_event *mark = event;
    const simt_stream *queue = stream;
    cuda_device *device = queue->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventRecord(mark->native, queue->native));
    return cuda_check(device, code, "cuEventRecord");
}

static iso_status stream_wait(void *stream, void *event)
{
    const simt_stream *queue = stream;
    cuda_device *device = queue->device->native;
    const simt_event *mark = event;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamWaitEvent(queue->native, mark->native, 0));
    return cuda_check(device, code, "cuStreamWaitEvent");
}

static iso_status event_sync(void *event)
{
    const simt_event *mark = event;
    cuda_device *device = mark->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventSynchronize(mark->native));
    return cuda_check(device, code, "cuEventSynchronize");
}

static iso_status event_query(void *event)
{
    const simt_event *mark = event;
    cuda_device *device = mark->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventQuery(mark->native));
    return code == CUDA_NOT_READY ? ISO_NOT_READY : cuda_check(device, code, "cuEventQuery");
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const simt_event *from = start;
    const simt_event *to = stop;
    cuda_device *device = from->device->native;
    float milliseconds = 0;
    cuda_code code;
    CUDA_ON(device, code, cu.cuEventElapsedTime(&milliseconds, from->native, to->native));
    *nanoseconds = llround((double)milliseconds * 1e6);
    return cuda_check(device, code, "cuEventElapsedTime");
}

/* ---- sharing a program's own objects --------------------------------------------------------- */

static iso_status memory_import(void *native, void *foreign, int64_t bytes, void **memory)
{
    cuda_device *device = native;
    const cuda_address address = cuda_address_of(foreign);
    unsigned type = 0;
    int ordinal = -1;
    cuda_address base = 0;
    size_t whole = 0;
    simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    cuda_code range = CUDA_INVALID_VALUE;
    if (code == CUDA_DONE) {
        code = cu.cuPointerGetAttribute(&type, CUDA_POINTER_TYPE, address);
    }
    if (code == CUDA_DONE) {
        code = cu.cuPointerGetAttribute(&ordinal, CUDA_POINTER_ORDINAL, address);
    }
    if (code == CUDA_DONE) {
        range = cu.cuMemGetAddressRange_v2(&base, &whole, address);
    }
    cuda_leave(scope);
    if (cuda_status(code) == ISO_DEVICE_LOST) {
        return cuda_check(device, code, "cuPointerGetAttribute(%p)", foreign);
    }
    if (code != CUDA_DONE || type == CUDA_MEMORY_HOST || ordinal != device->index) {
        return cuda_host->fail(ISO_INVALID, "%p is not memory of CUDA device %d%s%s", foreign,
                               device->index, code ? ": cuPointerGetAttribute gives " : "",
                               code ? cuda_code_name(code) : "");
    }
    /* The driver cannot report the extent of memory that was mapped piece by piece. Such memory is
     * accepted unchecked. */
    if (range == CUDA_DONE && (uint64_t)bytes > (uint64_t)(base + whole - address)) {
        return cuda_host->fail(
            ISO_INVALID, "%p has %llu bytes left in its allocation, but %lld would be imported",
            foreign, base + whole - address, (long long)bytes);
    }
    *memory = foreign;
    return ISO_OK;
}

static iso_status native_get(simt_device *of, iso_native_kind kind, void *object, void **out)
{
    const cuda_device *device = of->native;
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
        *out = device->context;
        return ISO_OK;
    case ISO_NATIVE_DEVICE:
        *out = cuda_pointer((cuda_address)device->index);
        return ISO_OK;
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
    const cuda_device *device = native;
    switch (index) {
    case 0:
        (void)snprintf(out->name, sizeof out->name, "CUDA driver");
        (void)snprintf(out->value, sizeof out->value, "%d.%d, %s", cuda_version / 1000,
                       cuda_version % 1000 / 10, cuda_driver_library.path);
        return ISO_OK;
    case 1:
        (void)snprintf(out->name, sizeof out->name, "CUDA context");
        (void)snprintf(out->value, sizeof out->value, "%s",
                       device->primary ? "the device's primary one" : "the program's own");
        return ISO_OK;
    case 2:
        (void)snprintf(out->name, sizeof out->name, "NVRTC");
        cuda_compiler_describe(out->value, sizeof out->value);
        return ISO_OK;
    default:
        return ISO_NOT_READY;
    }
}

enum { DLPACK_CUDA = 2 };

static const simt_driver driver = {
    .name = "cuda",
    .probe = cuda_probe,
    .device_open = cuda_device_open,
    .device_close = cuda_device_close,
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
    .transfer = cuda_transfer,
    .is_pageable = cuda_is_pageable,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .event_record = event_record,
    .event_sync = event_sync,
    .call_submit = cuda_call_submit,
    .call_await = cuda_call_await,
    .call_finish = cuda_call_finish,
    .call_close = cuda_call_close,
    .gate_open = cuda_gate_open,
    .gate_close = cuda_gate_close,
    .graph_usable = cuda_graph_usable,
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_drop = cuda_graph_drop,
    .graph_run = cuda_graph_run,
    .copy_peer = cuda_copy_peer,
    .program_identity = cuda_program_identity,
    .compiler_version = cuda_compiler_version,
    .program_build = cuda_program_build,
    .program_load = cuda_program_load,
    .program_unload = cuda_program_unload,
    .kernel_get = cuda_kernel_get,
    .launch = cuda_launch,
    .launch_next = cuda_launch_next,
    .device_adopt = cuda_device_adopt,
    .stream_adopt = stream_adopt,
    .memory_import = memory_import,
    .native_get = native_get,
    .dlpack_type = DLPACK_CUDA,
    .vendor = &cuda_vendor,
};

SIMT_BACKEND(cuda, cuda_host, driver, "driver API and NVRTC opened at run time",
             .probe = cuda_probe, .device_info = cuda_device_info, .telemetry = cuda_telemetry,
             .chip_get = cuda_chip_get, .program_try = cuda_program_try, .memory_free = memory_free,
             .host_alloc = host_alloc, .host_free = host_free, .event_record = event_record,
             .stream_wait = stream_wait, .event_sync = event_sync, .event_query = event_query,
             .event_elapsed = event_elapsed, .engine = &cuda_engine)
