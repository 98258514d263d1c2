/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - memory, the program's own objects, and the table that simt calls. */
#include "backends/opencl/library.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- device memory --------------------------------------------------------------------------- */

/* Drivers postpone an allocation until the buffer is used, so a later command would get the error.
 * Moving the buffer to the device forces the allocation now. */
static iso_status memory_alloc(void *native, int64_t bytes, void **memory)
{
    ocl_device *device = native;
    ocl_code code = OCL_DONE;
    ocl_memory made =
        cl.clCreateBuffer(device->context, OCL_READ_WRITE, (size_t)bytes, NULL, &code);
    if (!made) {
        return ocl_fail(code, "clCreateBuffer(%" PRId64 " bytes)", bytes);
    }
    code = cl.clEnqueueMigrateMemObjects(device->queue, 1, &made, OCL_CONTENT_UNDEFINED, 0, NULL,
                                         NULL);
    if (code == OCL_DONE) {
        code = cl.clFinish(device->queue);
    }
    if (code != OCL_DONE) {
        (void)cl.clReleaseMemObject(made);
        /* A driver that has no memory left returns one of these codes. */
        const bool full = ocl_status(code) == ISO_NO_MEMORY || code == OCL_NO_RESOURCES;
        return full ? ocl_host->fail(ISO_NO_MEMORY,
                                     "the device has no room for %" PRId64
                                     " bytes: clEnqueueMigrateMemObjects gives %s (%" PRId32 ")",
                                     bytes, ocl_code_name(code), code)
                    : ocl_fail(code, "clEnqueueMigrateMemObjects(%" PRId64 " bytes)", bytes);
    }
    *memory = made;
    return ISO_OK;
}

/* Another buffer may get the handle, so kernels must not take it for this one. */
static void memory_forget(void *native, void *memory)
{
    ocl_device *device = native;
    (void)atomic_fetch_add(&device->releases, 1);
    const ocl_code code = cl.clReleaseMemObject(memory);
    if (code != OCL_DONE) {
        ocl_host->log(ISO_LOG_DEBUG, "opencl: clReleaseMemObject(%p) gives %s", memory,
                      ocl_code_name(code));
    }
}

static void memory_free(void *device, void *memory)
{
    memory_forget(((const simt_device *)device)->native, memory);
}

/* ---- host memory ----------------------------------------------------------------------------- */

/* A buffer in host memory that stays mapped. The program's memory begins at the first page boundary
 * in it. */
struct ocl_block {
    ocl_block *next;
    ocl_memory memory;
    void *mapped;
    void *pointer;
};

enum { PAGE = 4096 };

static iso_status map_block(ocl_device *device, ocl_block *block, size_t bytes)
{
    ocl_code code = OCL_DONE;
    block->memory =
        cl.clCreateBuffer(device->context, OCL_READ_WRITE | OCL_HOST_MEMORY, bytes, NULL, &code);
    if (!block->memory) {
        return ocl_fail(code, "clCreateBuffer(%zu bytes of host memory)", bytes);
    }
    block->mapped =
        cl.clEnqueueMapBuffer(device->queue, block->memory, 1, OCL_MAP_READ | OCL_MAP_WRITE, 0,
                              bytes, 0, NULL, NULL, &code);
    if (!block->mapped) {
        (void)cl.clReleaseMemObject(block->memory);
        return ocl_fail(code, "clEnqueueMapBuffer(%zu bytes)", bytes);
    }
    return ISO_OK;
}

static iso_status host_alloc(void *of, int64_t bytes, void **pointer, int32_t *pinned)
{
    ocl_device *device = ((simt_device *)of)->native;
    ocl_block *block = ocl_host->alloc((int64_t)sizeof *block);
    if (!block) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = map_block(device, block, (size_t)bytes + PAGE);
    if (status != ISO_OK) {
        ocl_host->free(block);
        return status;
    }
    const uintptr_t page = ((uintptr_t)block->mapped + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    block->pointer = (char *)block->mapped + (page - (uintptr_t)block->mapped);
    (void)pthread_mutex_lock(&device->blocks_lock);
    block->next = device->blocks;
    device->blocks = block;
    (void)pthread_mutex_unlock(&device->blocks_lock);
    *pointer = block->pointer;
    *pinned = 1;
    return ISO_OK;
}

static void host_free(void *of, void *pointer)
{
    ocl_device *device = ((simt_device *)of)->native;
    (void)pthread_mutex_lock(&device->blocks_lock);
    ocl_block **at = &device->blocks;
    while (*at && (*at)->pointer != pointer) {
        at = &(*at)->next;
    }
    ocl_block *block = *at;
    if (block) {
        *at = block->next;
    }
    (void)pthread_mutex_unlock(&device->blocks_lock);
    if (block) {
        (void)cl.clEnqueueUnmapMemObject(device->queue, block->memory, block->mapped, 0, NULL,
                                         NULL);
        (void)cl.clFinish(device->queue);
        (void)cl.clReleaseMemObject(block->memory);
        ocl_host->free(block);
    }
}

/* ---- a program's own objects ----------------------------------------------------------------- */

static iso_status memory_import(void *native, void *foreign, int64_t bytes, void **memory)
{
    ocl_device *device = native;
    ocl_memory at = foreign;
    uint32_t type = 0;
    size_t has = 0;
    ocl_context context = NULL;
    ocl_code code = cl.clGetMemObjectInfo(at, OCL_MEMORY_TYPE, sizeof type, &type, NULL);
    if (code == OCL_DONE) {
        code = cl.clGetMemObjectInfo(at, OCL_MEMORY_BYTES, sizeof has, &has, NULL);
    }
    if (code == OCL_DONE) {
        code = cl.clGetMemObjectInfo(at, OCL_MEMORY_CONTEXT, sizeof context, &context, NULL);
    }
    if (code != OCL_DONE || type != OCL_BUFFER) {
        return ocl_host->fail(ISO_INVALID,
                              "%p is not a buffer (cl_mem): clGetMemObjectInfo gives "
                              "%s (%" PRId32 "), type 0x%" PRIx32,
                              foreign, ocl_code_name(code), code, type);
    }
    if (context != device->context) {
        return ocl_host->fail(ISO_INVALID,
                              "buffer %p belongs to context %p, but the device was opened in "
                              "context %p: adopt the device with the buffer's context",
                              foreign, (void *)context, (void *)device->context);
    }
    if ((uint64_t)bytes > has) {
        return ocl_host->fail(ISO_INVALID,
                              "buffer %p has %zu bytes, but %" PRId64 " would be imported", foreign,
                              has, bytes);
    }
    code = cl.clRetainMemObject(at);
    if (code != OCL_DONE) {
        return ocl_fail(code, "clRetainMemObject(%p)", foreign);
    }
    *memory = at;
    return ISO_OK;
}

static bool memory_is_read_only(void *native, void *memory)
{
    (void)native;
    ocl_bits flags = 0;
    return cl.clGetMemObjectInfo(memory, OCL_MEMORY_FLAGS, sizeof flags, &flags, NULL) ==
               OCL_DONE &&
           (flags & OCL_READ_ONLY) != 0;
}

static iso_status native_get(simt_device *of, iso_native_kind kind, void *object, void **out)
{
    ocl_device *device = of->native;
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
        *out = device->context;
        return ISO_OK;
    case ISO_NATIVE_DEVICE:
        *out = device->id;
        return ISO_OK;
    case ISO_NATIVE_STREAM:
        *out = ((ocl_stream *)((simt_stream *)object)->native)->queue;
        return ISO_OK;
    default: {
        const ocl_mark *mark = ((simt_event *)object)->native;
        (void)pthread_mutex_lock(&device->lock);
        *out = mark->marker ? mark->marker : mark->last;
        (void)pthread_mutex_unlock(&device->lock);
        return *out ? ISO_OK
                    : ocl_host->fail(ISO_NOT_READY, "the event has no cl_event: record it first");
    }
    }
}

/* ---- properties and the table ---------------------------------------------------------------- */

static iso_status device_property(void *native, int32_t index, iso_property *out)
{
    const ocl_device *device = native;
    char name[256];
    char version[512];
    switch (index) {
    case 0:
        ocl_platform_text(device->platform, OCL_PLATFORM_NAME, name, sizeof name);
        ocl_platform_text(device->platform, OCL_PLATFORM_VERSION, version, sizeof version);
        (void)snprintf(out->name, sizeof out->name, "OpenCL platform");
        (void)snprintf(out->value, sizeof out->value, "%s, %s", name, version);
        return ISO_OK;
    case 1:
        ocl_device_text(device->id, OCL_DEVICE_VERSION, version, sizeof version);
        ocl_device_text(device->id, OCL_DEVICE_LANGUAGE, name, sizeof name);
        (void)snprintf(out->name, sizeof out->name, "OpenCL version");
        (void)snprintf(out->value, sizeof out->value, "%s; compiler: %s", version, name);
        return ISO_OK;
    case 2:
        (void)snprintf(out->name, sizeof out->name, "OpenCL loader");
        (void)snprintf(out->value, sizeof out->value, "%s", ocl_loader.path);
        return ISO_OK;
    default:
        return ISO_NOT_READY;
    }
}

enum { DLPACK_OPENCL = 4 };

static const simt_driver driver = {
    .name = "opencl",
    .probe = ocl_probe,
    .device_open = ocl_device_open,
    .device_close = ocl_device_close,
    .device_property = device_property,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .stream_sync = ocl_stream_sync,
    .stream_query = ocl_stream_query,
    /* No host_register: OpenCL cannot pin memory that it did not allocate. */
    .stream_create = ocl_stream_create,
    .stream_destroy = ocl_stream_destroy,
    .event_create = ocl_event_create,
    .event_destroy = ocl_event_destroy,
    .transfer = ocl_transfer,
    .call_submit = ocl_call_submit,
    .call_await = ocl_call_await,
    .call_finish = ocl_call_finish,
    .call_close = ocl_call_close,
    .program_identity = ocl_program_identity,
    .compiler_version = ocl_program_identity,
    .program_build = ocl_program_build,
    .program_load = ocl_program_load,
    .program_unload = ocl_program_unload,
    .kernel_get = ocl_kernel_get,
    .kernel_release = ocl_kernel_release,
    .launch = ocl_launch,
    .device_adopt = ocl_device_adopt,
    .stream_adopt = ocl_stream_adopt,
    .memory_import = memory_import,
    .memory_forget = memory_forget,
    .memory_is_read_only = memory_is_read_only,
    .native_get = native_get,
    .dlpack_type = DLPACK_OPENCL,
    .vendor = &ocl_vendor,
};

SIMT_BACKEND(opencl, ocl_host, driver, "OpenCL 1.2 through a loader opened at run time",
             .probe = ocl_probe, .device_info = ocl_device_info, .device_usable = ocl_device_usable,
             .memory_free = memory_free, .host_alloc = host_alloc, .host_free = host_free,
             .event_record = ocl_event_record, .stream_wait = ocl_stream_wait,
             .event_sync = ocl_event_sync, .event_query = ocl_event_query,
             .event_elapsed = ocl_event_elapsed)
