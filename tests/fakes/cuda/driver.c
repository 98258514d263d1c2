/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - a fake of libcuda.so.1 over the engine. It is as strict as the real one where that
 * matters: handles, the current context, ranges, sticky errors of a context.
 */
#include "tests/fakes/cuda/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 8, DEPTH_MAX = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static fake_context *primaries[DEVICES_MAX];
static _Thread_local fake_context *stack[DEPTH_MAX];
static _Thread_local int depth;

/* ---- casts ----------------------------------------------------------------------------------- */

static fake_context *context_of(cuda_context context)
{
    return (fake_context *)(void *)context;
}
static void *at(cuda_address address)
{
    return (void *)(uintptr_t)address;
}

cuda_code fake_enter(fake_context **context)
{
    if (!initialised) {
        return FAKE_NOT_INITIALIZED;
    }
    *context = depth > 0 ? stack[depth - 1] : NULL;
    if (!*context) {
        return FAKE_INVALID_CONTEXT;
    }
    return (cuda_code)fake_context_error(*context);
}

cuda_code fake_enter_stream(cuda_stream handle, fake_stream **stream)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code) {
        return code;
    }
    *stream = handle ? (fake_stream *)(void *)handle : fake_stream_default(context);
    if (!fake_stream_known(*stream)) {
        return FAKE_INVALID_HANDLE;
    }
    return (cuda_code)fake_context_error(fake_stream_context(*stream));
}

static bool valid(cuda_ordinal device)
{
    return device >= 0 && device < fake_device_count() && device < DEVICES_MAX;
}

/* ---- the driver and its devices -------------------------------------------------------------- */

cuda_code cuInit(unsigned flags)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const cuda_code code = (cuda_code)fake_setting("FAKE_INIT", 0);
    if (flags) {
        return FAKE_INVALID_VALUE;
    }
    if (code) {
        return code;
    }
    if (fake_device_count() < 1 || (visible && (!visible[0] || visible[0] == '-'))) {
        return FAKE_NO_DEVICE;
    }
    initialised = true;
    return FAKE_OK;
}

cuda_code cuDriverGetVersion(int *version)
{
    *version = (int)fake_setting("FAKE_DRIVER_VERSION", 13000);
    return FAKE_OK;
}

cuda_code cuGetErrorName(cuda_code code, const char **name)
{
    static _Thread_local char text[64];
    const char *known = code ? fake_code_text((int)code) : "SUCCESS";
    *name = NULL;
    if (!known) {
        return FAKE_INVALID_VALUE;
    }
    (void)snprintf(text, sizeof text, code ? "CUDA_ERROR_%s" : "CUDA_%s", known);
    *name = text;
    return FAKE_OK;
}

cuda_code cuGetErrorString(cuda_code code, const char **text)
{
    *text = fake_code_text((int)code) ? "an error of the test's fake driver" : NULL;
    return *text ? FAKE_OK : FAKE_INVALID_VALUE;
}

cuda_code cuDeviceGetCount(int *count)
{
    if (!initialised) {
        return FAKE_NOT_INITIALIZED;
    }
    *count = fake_device_count();
    return FAKE_OK;
}

cuda_code cuDeviceGet(cuda_ordinal *device, int ordinal)
{
    if (!initialised) {
        return FAKE_NOT_INITIALIZED;
    }
    *device = ordinal;
    return valid(ordinal) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

cuda_code cuDeviceGetName(char *name, int length, cuda_ordinal device)
{
    (void)snprintf(name, (size_t)length, "Isomer test fake (CPU)%s", fake_text("FAKE_NAME"));
    return valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

cuda_code cuDeviceGetUuid(struct CUuuid_st *uuid, cuda_ordinal device)
{
    memset(uuid, 0, 16);
    memcpy(uuid, "isomer-fake", 11);
    ((char *)uuid)[15] = (char)device;
    return valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

/* A slice has its own uuid; the older call returns the whole device's. */
cuda_code cuDeviceGetUuid_v2(struct CUuuid_st *uuid, cuda_ordinal device)
{
    const cuda_code code = cuDeviceGetUuid(uuid, device);
    ((char *)uuid)[14] = (char)fake_setting("FAKE_MIG", 0);
    return code;
}

cuda_code cuDeviceGetPCIBusId(char *id, int length, cuda_ordinal device)
{
    (void)snprintf(id, (size_t)length, "0000:%02X:00.0", FAKE_FIRST_BUS + device);
    return valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

cuda_code cuDeviceGetAttribute(int *value, cuda_attribute attribute, cuda_ordinal device)
{
    static const struct {
        cuda_attribute attribute;
        int value;
    } known[] = {
        {1, 1024},     {2, 1024},        {3, 1024},
        {4, 64},       {5, 0x7fffffff},  {6, 65535},
        {7, 65535},    {8, 49152},       {9, 65536},
        {10, 32},      {11, 0x7fffffff}, {12, 65536},
        {13, 1000000}, {20, 0},          {31, 1},
        {36, 1000000}, {37, 64},         {38, 4 * 1024 * 1024},
        {39, 2048},    {40, 1},          {41, 1},
        {81, 233472},  {82, 65536},      {83, 0},
    };
    if (!valid(device)) {
        return FAKE_INVALID_DEVICE;
    }
    if (attribute == 16 /* multiprocessors */) {
        *value = (int)fake_setting("FAKE_UNITS", 8);
        return FAKE_OK;
    }
    if (attribute == 75 || attribute == 76) {
        const int chip = (int)fake_setting("FAKE_CHIP", CHIP);
        *value = attribute == 75 ? chip / 10 : chip % 10;
        return FAKE_OK;
    }
    if (attribute == 100 /* uses the host's page tables */) {
        *value = (int)fake_setting("FAKE_HOST_PAGES", 0);
        return FAKE_OK;
    }
    if (attribute == 97 /* shared memory of a group, with what a launch adds */) {
        *value = (int)fake_setting("FAKE_SHARED_MOST", 232448);
        return FAKE_OK;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return FAKE_OK;
        }
    }
    *value = 0;
    return attribute > 200 || attribute == 0 ? FAKE_INVALID_VALUE : FAKE_OK;
}

cuda_code cuDeviceTotalMem_v2(size_t *bytes, cuda_ordinal device)
{
    *bytes = (size_t)fake_device_memory();
    return valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

/* ---- contexts -------------------------------------------------------------------------------- */

cuda_code cuDevicePrimaryCtxRetain(cuda_context *context, cuda_ordinal device)
{
    if (!initialised || !valid(device)) {
        return initialised ? FAKE_INVALID_DEVICE : FAKE_NOT_INITIALIZED;
    }
    (void)pthread_mutex_lock(&lock);
    if (!primaries[device]) {
        primaries[device] = fake_context_create(device);
    }
    primaries[device]->references++;
    *context = (cuda_context)(void *)primaries[device];
    (void)pthread_mutex_unlock(&lock);
    return FAKE_OK;
}

cuda_code cuDevicePrimaryCtxRelease_v2(cuda_ordinal device)
{
    cuda_code code = FAKE_INVALID_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    if (valid(device) && primaries[device] && primaries[device]->references > 0) {
        code = FAKE_OK;
        if (--primaries[device]->references == 0) {
            fake_context_reset(primaries[device]);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return code;
}

cuda_code cuDevicePrimaryCtxReset_v2(cuda_ordinal device)
{
    if (!valid(device)) {
        return FAKE_INVALID_DEVICE;
    }
    (void)pthread_mutex_lock(&lock);
    if (primaries[device]) {
        fake_context_reset(primaries[device]);
    }
    (void)pthread_mutex_unlock(&lock);
    return FAKE_OK;
}

cuda_code cuDevicePrimaryCtxGetState(cuda_ordinal device, unsigned *flags, int *active)
{
    if (!valid(device)) {
        return FAKE_INVALID_DEVICE;
    }
    *flags = 0;
    *active = primaries[device] && primaries[device]->references > 0;
    return FAKE_OK;
}

cuda_code cuCtxGetCurrent(cuda_context *context)
{
    *context = depth > 0 ? (cuda_context)(void *)stack[depth - 1] : NULL;
    return initialised ? FAKE_OK : FAKE_NOT_INITIALIZED;
}

cuda_code cuCtxPushCurrent_v2(cuda_context context)
{
    if (!initialised || !fake_context_known(context_of(context))) {
        return initialised ? FAKE_INVALID_CONTEXT : FAKE_NOT_INITIALIZED;
    }
    if (depth == DEPTH_MAX) {
        fprintf(stderr, "fake: contexts are pushed and never popped\n");
        abort();
    }
    stack[depth++] = context_of(context);
    return FAKE_OK;
}

cuda_code cuCtxPopCurrent_v2(cuda_context *context)
{
    if (depth == 0) {
        return FAKE_INVALID_CONTEXT;
    }
    depth--;
    if (context) {
        *context = (cuda_context)(void *)stack[depth];
    }
    return FAKE_OK;
}

/* For programs with contexts of their own. */
FAKE_API cuda_code cuCtxCreate_v2(cuda_context *context, unsigned flags, cuda_ordinal device);
cuda_code cuCtxCreate_v2(cuda_context *context, unsigned flags, cuda_ordinal device)
{
    (void)flags;
    if (!initialised || !valid(device)) {
        return initialised ? FAKE_INVALID_DEVICE : FAKE_NOT_INITIALIZED;
    }
    *context = (cuda_context)(void *)fake_context_create(device);
    return cuCtxPushCurrent_v2(*context);
}

FAKE_API cuda_code cuCtxSetCurrent(cuda_context context);
cuda_code cuCtxSetCurrent(cuda_context context)
{
    if (context && !fake_context_known(context_of(context))) {
        return FAKE_INVALID_CONTEXT;
    }
    depth = depth > 0 ? depth - 1 : 0;
    return context ? cuCtxPushCurrent_v2(context) : FAKE_OK;
}

FAKE_API cuda_code cuCtxSynchronize(void);
cuda_code cuCtxSynchronize(void)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    return code ? code : (cuda_code)fake_context_sync(context);
}

cuda_code cuCtxGetDevice(cuda_ordinal *device)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (context) {
        *device = context->device;
        return FAKE_OK;
    }
    return code;
}

cuda_code cuDeviceCanAccessPeer(int *can, cuda_ordinal device, cuda_ordinal peer)
{
    *can = device != peer;
    return valid(device) && valid(peer) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

cuda_code cuCtxEnablePeerAccess(cuda_context peer, unsigned flags)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code || flags) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    return fake_context_known(context_of(peer)) ? FAKE_OK : FAKE_INVALID_CONTEXT;
}

/* ---- memory ---------------------------------------------------------------------------------- */

cuda_code cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code == FAKE_OK) {
        *total = (size_t)fake_device_memory();
        *free_bytes = *total - (size_t)context->used;
    }
    return code;
}

cuda_code cuMemAlloc_v2(cuda_address *address, size_t bytes)
{
    fake_context *context = NULL;
    void *memory = NULL;
    cuda_code code = fake_enter(&context);
    if (code == FAKE_OK) {
        code = (cuda_code)fake_memory_alloc(context, FAKE_MEMORY_DEVICE, bytes, &memory);
        *address = (cuda_address)(uintptr_t)memory;
    }
    return code;
}

cuda_code cuMemFree_v2(cuda_address address)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code || !address) {
        return code;
    }
    return (cuda_code)fake_memory_free(FAKE_MEMORY_DEVICE, at(address));
}

cuda_code cuMemGetAddressRange_v2(cuda_address *base, size_t *bytes, cuda_address address)
{
    fake_range range;
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code) {
        return code;
    }
    if (!fake_memory_find(at(address), &range)) {
        return FAKE_NOT_FOUND;
    }
    if (base) {
        *base = (cuda_address)(uintptr_t)range.base;
    }
    if (bytes) {
        *bytes = range.bytes;
    }
    return FAKE_OK;
}

cuda_code cuPointerGetAttribute(void *value, cuda_attribute attribute, cuda_address address)
{
    fake_range range;
    if (!initialised) {
        return FAKE_NOT_INITIALIZED;
    }
    if (!fake_memory_find(at(address), &range)) {
        return FAKE_INVALID_VALUE;
    }
    if (attribute == CUDA_POINTER_TYPE) {
        const unsigned type = range.kind == FAKE_MEMORY_DEVICE ? 2 : 1;
        memcpy(value, &type, sizeof type);
    } else if (attribute == CUDA_POINTER_ORDINAL) {
        memcpy(value, &range.context->device, sizeof(int));
    } else if (attribute == 1) { /* the context */
        memcpy(value, &range.context, sizeof range.context);
    } else {
        return FAKE_INVALID_VALUE;
    }
    return FAKE_OK;
}

cuda_code cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code || flags > 7) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    return (cuda_code)fake_memory_alloc(context, FAKE_MEMORY_PINNED, bytes, pointer);
}

cuda_code cuMemFreeHost(void *pointer)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    return code ? code : (cuda_code)fake_memory_free(FAKE_MEMORY_PINNED, pointer);
}

cuda_code cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    if (code || flags > 15) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    return (cuda_code)fake_host_register(context, pointer, bytes);
}

cuda_code cuMemHostUnregister(void *pointer)
{
    fake_context *context = NULL;
    const cuda_code code = fake_enter(&context);
    return code ? code : (cuda_code)fake_host_unregister(pointer);
}

/* ---- transfers ------------------------------------------------------------------------------- */

static cuda_code copy(cuda_stream handle, const fake_copy *what)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_copy_submit(stream, what);
}

cuda_code cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t bytes, cuda_stream stream)
{
    return copy(
        stream,
        &(fake_copy){.to = at(to), .from = from, .width = bytes, .height = 1, .to_device = true});
}

cuda_code cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t bytes, cuda_stream stream)
{
    return copy(
        stream,
        &(fake_copy){.to = to, .from = at(from), .width = bytes, .height = 1, .from_device = true});
}

cuda_code cuMemcpyDtoDAsync_v2(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream)
{
    return copy(stream, &(fake_copy){.to = at(to),
                                     .from = at(from),
                                     .width = bytes,
                                     .height = 1,
                                     .to_device = true,
                                     .from_device = true});
}

cuda_code cuMemcpy2DAsync_v2(const struct CUDA_MEMCPY2D_st *given, cuda_stream stream)
{
    cuda_copy_2d what;
    memcpy(&what, given, sizeof what);
    const bool to_device = what.to_type == CUDA_MEMORY_DEVICE;
    const bool from_device = what.from_type == CUDA_MEMORY_DEVICE;
    if ((!to_device && what.to_type != CUDA_MEMORY_HOST) ||
        (!from_device && what.from_type != CUDA_MEMORY_HOST) || what.to_array || what.from_array ||
        what.to_pitch < what.width || what.from_pitch < what.width) {
        return FAKE_INVALID_VALUE;
    }
    char *to = to_device ? at(what.to_device) : what.to_host;
    const char *from = from_device ? at(what.from_device) : what.from_host;
    return copy(stream, &(fake_copy){.to = to + what.to_y * what.to_pitch + what.to_x,
                                     .from = from + what.from_y * what.from_pitch + what.from_x,
                                     .to_pitch = what.to_pitch,
                                     .from_pitch = what.from_pitch,
                                     .width = what.width,
                                     .height = what.height,
                                     .to_device = to_device,
                                     .from_device = from_device});
}

cuda_code cuMemcpyPeerAsync(cuda_address to, cuda_context to_context, cuda_address from,
                            cuda_context from_context, size_t bytes, cuda_stream stream)
{
    if (!fake_context_known(context_of(to_context)) ||
        !fake_context_known(context_of(from_context))) {
        return FAKE_INVALID_CONTEXT;
    }
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

cuda_code cuMemsetD32Async(cuda_address to, unsigned value, size_t count, cuda_stream handle)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_fill_submit(stream, at(to), value, 4, count);
}
