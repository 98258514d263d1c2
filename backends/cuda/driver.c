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

static void memory_free(void *native, void *memory)
{
    cuda_device *device = native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuMemFree_v2(cuda_address_of(memory)));
    if (code != CUDA_DONE) {
        cuda_host->log(ISO_LOG_DEBUG, "cuda: cuMemFree(%p) gives %s", memory, cuda_code_name(code));
    }
}

static iso_status host_alloc(void *native, int64_t bytes, void **pointer, int32_t *pinned)
{
    cuda_device *device = native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuMemHostAlloc(pointer, (size_t)bytes, CUDA_HOST_PORTABLE));
    *pinned = code == CUDA_DONE;
    return cuda_check(device, code, "cuMemHostAlloc(%lld bytes)", (long long)bytes);
}

static void host_free(void *native, void *pointer)
{
    cuda_code code;
    CUDA_ON((cuda_device *)native, code, cu.cuMemFreeHost(pointer));
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

static iso_status make_queue(cuda_device *device, cuda_stream stream, bool foreign, void **out)
{
    cuda_queue *queue = cuda_host->alloc((int64_t)sizeof *queue);
    if (!queue) {
        return ISO_NO_MEMORY;
    }
    *queue = (cuda_queue){.device = device, .stream = stream, .foreign = foreign};
    *out = queue;
    return ISO_OK;
}

static iso_status stream_create(void *native, void **out)
{
    cuda_device *device = native;
    cuda_stream stream = NULL;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING));
    iso_status status = cuda_check(device, code, "cuStreamCreate");
    if (!status) {
        status = make_queue(device, stream, false, out);
        if (status) {
            CUDA_ON(device, code, cu.cuStreamDestroy_v2(stream));
        }
    }
    return status;
}

/* The context identifies the device of a stream; the legacy default stream (NULL) belongs to any
 * device. */
static iso_status stream_adopt(void *native, void *foreign, void **out)
{
    cuda_device *device = native;
    cuda_stream stream = foreign;
    cuda_context context = NULL;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamGetCtx(stream, &context));
    if (cuda_status(code) == ISO_DEVICE_LOST) {
        return cuda_check(device, code, "cuStreamGetCtx(%p)", foreign);
    }
    if (code != CUDA_DONE) {
        return cuda_host->fail(ISO_INVALID, "stream is %p, and cuStreamGetCtx gives %s (%u)",
                               foreign, cuda_code_name(code), code);
    }
    if (context != device->context) {
        return cuda_host->fail(ISO_INVALID,
                               "stream %p belongs to context %p, and the device was opened in "
                               "context %p: adopt the device with the stream's context",
                               foreign, (void *)context, (void *)device->context);
    }
    return make_queue(device, stream, true, out);
}

static void stream_destroy(void *stream)
{
    cuda_queue *queue = stream;
    simt_scope scope = cuda_enter(queue->device);
    if (scope.code == CUDA_DONE && queue->order) {
        (void)cu.cuEventDestroy_v2(queue->order);
    }
    if (scope.code == CUDA_DONE && !queue->foreign) {
        (void)cu.cuStreamDestroy_v2(queue->stream);
    }
    cuda_leave(scope);
    cuda_host->free(queue);
}

/* An error that ends the context is also returned by every later call. */
static iso_status stream_sync(void *stream)
{
    cuda_queue *queue = stream;
    cuda_code code;
    CUDA_ON(queue->device, code, cu.cuStreamSynchronize(queue->stream));
    return cuda_check(queue->device, code, "cuStreamSynchronize");
}

static iso_status stream_query(void *stream)
{
    cuda_queue *queue = stream;
    cuda_code code;
    CUDA_ON(queue->device, code, cu.cuStreamQuery(queue->stream));
    return code == CUDA_NOT_READY ? ISO_NOT_READY
                                  : cuda_check(queue->device, code, "cuStreamQuery");
}

/* ---- events ---------------------------------------------------------------------------------- */

static iso_status event_create(void *native, void **out)
{
    cuda_device *device = native;
    cuda_mark *mark = cuda_host->alloc((int64_t)sizeof *mark);
    cuda_code code;
    if (!mark) {
        return ISO_NO_MEMORY;
    }
    *mark = (cuda_mark){.device = device};
    CUDA_ON(device, code, cu.cuEventCreate(&mark->event, 0));
    if (code != CUDA_DONE) {
        cuda_host->free(mark);
        return cuda_check(device, code, "cuEventCreate");
    }
    *out = mark;
    return ISO_OK;
}

static void event_destroy(void *event)
{
    cuda_mark *mark = event;
    cuda_code code;
    CUDA_ON(mark->device, code, cu.cuEventDestroy_v2(mark->event));
    (void)code;
    cuda_host->free(mark);
}

static iso_status event_record(void *event, void *stream)
{
    const cuda_mark *mark = event;
    cuda_queue *queue = stream;
    cuda_code code;
    CUDA_ON(queue->device, code, cu.cuEventRecord(mark->event, queue->stream));
    return cuda_check(queue->device, code, "cuEventRecord");
}

static iso_status stream_wait(void *stream, void *event)
{
    cuda_queue *queue = stream;
    const cuda_mark *mark = event;
    cuda_code code;
    CUDA_ON(queue->device, code, cu.cuStreamWaitEvent(queue->stream, mark->event, 0));
    return cuda_check(queue->device, code, "cuStreamWaitEvent");
}

static iso_status event_sync(void *event)
{
    const cuda_mark *mark = event;
    cuda_code code;
    CUDA_ON(mark->device, code, cu.cuEventSynchronize(mark->event));
    return cuda_check(mark->device, code, "cuEventSynchronize");
}

static iso_status event_query(void *event)
{
    const cuda_mark *mark = event;
    cuda_code code;
    CUDA_ON(mark->device, code, cu.cuEventQuery(mark->event));
    return code == CUDA_NOT_READY ? ISO_NOT_READY : cuda_check(mark->device, code, "cuEventQuery");
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const cuda_mark *from = start;
    const cuda_mark *to = stop;
    float milliseconds = 0;
    cuda_code code;
    CUDA_ON(from->device, code, cu.cuEventElapsedTime(&milliseconds, from->event, to->event));
    *nanoseconds = llround((double)milliseconds * 1e6);
    return cuda_check(from->device, code, "cuEventElapsedTime");
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
    /* Memory whose extent the driver cannot report (mapped piece by piece) is accepted unchecked.
     */
    if (range == CUDA_DONE && (uint64_t)bytes > (uint64_t)(base + whole - address)) {
        return cuda_host->fail(
            ISO_INVALID, "%p has %llu bytes left in its allocation, but %lld would be imported",
            foreign, base + whole - address, (long long)bytes);
    }
    *memory = foreign;
    return ISO_OK;
}

static iso_status native_get(void *native, int32_t kind, void *object, void **out)
{
    const cuda_device *device = native;
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
        *out = device->context;
        return ISO_OK;
    case ISO_NATIVE_DEVICE:
        *out = cuda_pointer((cuda_address)device->index);
        return ISO_OK;
    case ISO_NATIVE_STREAM:
        *out = ((cuda_queue *)object)->stream;
        return ISO_OK;
    default:
        *out = ((cuda_mark *)object)->event;
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

const simt_driver cuda_driver = {
    .name = "cuda",
    .probe = cuda_probe,
    .device_open = cuda_device_open,
    .device_close = cuda_device_close,
    .device_property = device_property,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_sync = stream_sync,
    .stream_query = stream_query,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .stream_wait = stream_wait,
    .event_sync = event_sync,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .transfer = cuda_transfer,
    .copy_peer = cuda_copy_peer,
    .program_identity = cuda_program_identity,
    .program_build = cuda_program_build,
    .program_load = cuda_program_load,
    .program_unload = cuda_program_unload,
    .kernel_get = cuda_kernel_get,
    .launch = cuda_launch,
    .device_adopt = cuda_device_adopt,
    .stream_adopt = stream_adopt,
    .memory_import = memory_import,
    .native_get = native_get,
    .dlpack_type = DLPACK_CUDA,
    .vendor = &cuda_vendor,
};
