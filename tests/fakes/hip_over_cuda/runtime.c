/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c - libamdhip64.so over libcuda.so.1. The codes of both are the same numbers. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(result, name, parameters) static result(*name) parameters;
CUDA_DRIVER_SYMBOLS(MEMBER, MEMBER)
static cuda_code (*cuCtxSynchronize)(void);

#define DECLARE(result, name, parameters) OVER_API result name parameters;
HIP_RUNTIME_SYMBOLS(DECLARE, DECLARE)
OVER_API hip_code hipMemcpy(void *to, const void *from, size_t bytes, hip_enum kind);
OVER_API hip_code hipDeviceSynchronize(void);

enum { DEVICES_MAX = 64, RUNTIME_VERSION = 60443483 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_code start_code = HIP_NO_DEVICE;
static cuda_context contexts[DEVICES_MAX];
static _Thread_local int current;
static _Thread_local hip_code last;

#define REQUIRED(result, name, parameters) {#name, (void *)&name, true},
#define OPTIONAL(result, name, parameters) {#name, (void *)&name, false},

static void start(void)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    static const over_symbol symbols[] = {CUDA_DRIVER_SYMBOLS(REQUIRED, OPTIONAL){
        "cuCtxSynchronize", (void *)&cuCtxSynchronize, true}};
    if (over_open(names, symbols, (int)(sizeof symbols / sizeof symbols[0]))) {
        start_code = cuInit(0);
    }
}

static cuda_code ready(void)
{
    (void)pthread_once(&once, start);
    return start_code;
}

static hip_code keep(cuda_code code)
{
    if (code) {
        last = code;
    }
    return code;
}

static cuda_address address_of(const void *pointer)
{
    return (cuda_address)(uintptr_t)pointer;
}

static cuda_stream stream_of(hip_stream stream)
{
    return (cuda_stream)(void *)stream;
}

static cuda_event event_of(hip_event event)
{
    return (cuda_event)(void *)event;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static cuda_code context_of(int device, cuda_context *context)
{
    cuda_ordinal ordinal = 0;
    cuda_code code = ready();
    if (code == CUDA_DONE) {
        code = device < DEVICES_MAX ? cuDeviceGet(&ordinal, device) : HIP_INVALID_DEVICE;
    }
    (void)pthread_mutex_lock(&lock);
    if (code == CUDA_DONE && !contexts[device]) {
        code = cuDevicePrimaryCtxRetain(&contexts[device], ordinal);
    }
    *context = code == CUDA_DONE ? contexts[device] : NULL;
    (void)pthread_mutex_unlock(&lock);
    return code;
}

unsigned over_enter(void)
{
    cuda_context context = NULL;
    const cuda_code code = context_of(current, &context);
    return code ? code : cuCtxPushCurrent_v2(context);
}

void over_leave(void)
{
    cuda_context popped = NULL;
    (void)cuCtxPopCurrent_v2(&popped);
}

/* Calls the driver with the thread's device. */
#define ON_DEVICE(call)                                                                            \
    do {                                                                                           \
        cuda_code code_ = over_enter();                                                            \
        if (code_ == CUDA_DONE) {                                                                  \
            code_ = (call);                                                                        \
            over_leave();                                                                          \
        }                                                                                          \
        return keep(code_);                                                                        \
    } while (0)

/* ---- the runtime and its devices ------------------------------------------------------------- */

hip_code hipInit(unsigned flags)
{
    return keep(flags ? (cuda_code)HIP_INVALID_VALUE : ready());
}

hip_code hipRuntimeGetVersion(int *version)
{
    *version = RUNTIME_VERSION;
    return HIP_DONE;
}

const char *hipGetErrorName(hip_code code)
{
    const char *name = NULL;
    if (code == HIP_DONE) {
        return "hipSuccess";
    }
    return cuGetErrorName && cuGetErrorName(code, &name) == CUDA_DONE ? name : "hipErrorUnknown";
}

const char *hipGetErrorString(hip_code code)
{
    const char *text = NULL;
    return cuGetErrorString && cuGetErrorString(code, &text) == CUDA_DONE && text ? text
                                                                                  : "no text";
}

hip_code hipGetLastError(void)
{
    const hip_code code = last;
    last = HIP_DONE;
    return code;
}

hip_code hipGetDeviceCount(int *count)
{
    cuda_code code = ready();
    *count = 0;
    if (code == CUDA_DONE) {
        code = cuDeviceGetCount(count);
    }
    return keep(code == CUDA_DONE && *count == 0 ? (cuda_code)HIP_NO_DEVICE : code);
}

hip_code hipGetDevice(int *device)
{
    *device = current;
    return keep(ready());
}

hip_code hipSetDevice(int device)
{
    int count = 0;
    const hip_code code = hipGetDeviceCount(&count);
    if (code || device < 0 || device >= count) {
        return keep(code ? code : (hip_code)HIP_INVALID_DEVICE);
    }
    current = device;
    return HIP_DONE;
}

hip_code hipDeviceGetName(char *name, int length, int device)
{
    char own[256] = "";
    const cuda_code code = ready() ? start_code : cuDeviceGetName(own, (int)sizeof own, device);
    (void)snprintf(name, (size_t)length, "HIP over CUDA (test stand-in): %s", own);
    return keep(code);
}

hip_code hipDeviceGetAttribute(int *value, hip_enum attribute, int device)
{
    enum { INTEGRATED = 18, PCI_BUS = 33, PCI_DEVICE = 34, PCI_DOMAIN = 50 };
    static const struct {
        hip_enum ours;
        cuda_attribute theirs;
    } known[] = {
        {HIP_CLOCK_KHZ, CUDA_CLOCK_KHZ},
        {HIP_INTEGRATED, INTEGRATED},
        {HIP_L2_BYTES, CUDA_CACHE_BYTES},
        {HIP_MAX_THREADS, CUDA_THREADS_OF_BLOCK},
        {HIP_UNITS, CUDA_MULTIPROCESSORS},
        {HIP_PCI_BUS, PCI_BUS},
        {HIP_PCI_DEVICE, PCI_DEVICE},
        {HIP_PCI_DOMAIN, PCI_DOMAIN},
        {HIP_SHARED_BYTES, CUDA_SHARED_OF_BLOCK},
        {HIP_WAVE, CUDA_WARP_SIZE},
        {HIP_HOST_PAGES, CUDA_HOST_PAGES},
    };
    if (attribute == HIP_CAN_WAIT_VALUE) {
        *value = !ready() && cuStreamWaitValue32_v2;
        return keep(start_code);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].ours == attribute) {
            return keep(ready() ? start_code
                                : cuDeviceGetAttribute(value, known[i].theirs, device));
        }
    }
    return keep(HIP_INVALID_VALUE);
}

hip_code hipDeviceTotalMem(size_t *bytes, int device)
{
    return keep(ready() ? start_code : cuDeviceTotalMem_v2(bytes, device));
}

hip_code hipDeviceGetUuid(struct hipUUID_t *uuid, int device)
{
    return keep(ready() ? start_code : cuDeviceGetUuid((struct CUuuid_st *)(void *)uuid, device));
}

hip_code hipGetDeviceProperties(struct hipDeviceProp_t *properties, int device)
{
    (void)properties;
    (void)device;
    return keep(HIP_NOT_SUPPORTED);
}

hip_code hipGetDevicePropertiesR0600(struct hipDeviceProp_tR0600 *properties, int device)
{
    int major = 0;
    int minor = 0;
    char *bytes = (char *)properties;
    memset(bytes, 0, HIP_ARCHITECTURE_AT_R0600 + HIP_ARCHITECTURE_BYTES);
    const hip_code code = hipDeviceGetName(bytes, 256, device);
    if (code) {
        return code;
    }
    (void)cuDeviceGetAttribute(&major, CUDA_COMPUTE_MAJOR, device);
    (void)cuDeviceGetAttribute(&minor, CUDA_COMPUTE_MINOR, device);
    (void)snprintf(bytes + HIP_ARCHITECTURE_AT_R0600, HIP_ARCHITECTURE_BYTES,
                   OVER_ARCHITECTURE "sm_%d%d", major, minor);
    return HIP_DONE;
}

hip_code hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    return keep(ready() ? start_code : cuDeviceCanAccessPeer(can, device, peer));
}

hip_code hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    cuda_context context = NULL;
    const cuda_code code = context_of(peer, &context);
    if (code) {
        return keep(code);
    }
    ON_DEVICE(cuCtxEnablePeerAccess(context, flags));
}

hip_code hipDeviceSynchronize(void)
{
    ON_DEVICE(cuCtxSynchronize());
}

hip_code hipDeviceReset(void)
{
    cuda_code code = ready();
    (void)pthread_mutex_lock(&lock);
    if (code == CUDA_DONE && contexts[current]) {
        (void)cuDevicePrimaryCtxRelease_v2(current);
        contexts[current] = NULL; /* the next call creates it again */
    }
    if (code == CUDA_DONE) {
        code = cuDevicePrimaryCtxReset_v2(current);
    }
    (void)pthread_mutex_unlock(&lock);
    return keep(code);
}

/* ---- memory ---------------------------------------------------------------------------------- */

hip_code hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    ON_DEVICE(cuMemGetInfo_v2(free_bytes, total));
}

static cuda_code allocate(void **address, size_t bytes)
{
    cuda_address made = 0;
    const cuda_code code = cuMemAlloc_v2(&made, bytes);
    *address = (void *)(uintptr_t)made;
    return code;
}

hip_code hipMalloc(void **address, size_t bytes)
{
    ON_DEVICE(allocate(address, bytes));
}

/* A signal is pinned memory, and hipFree has to know that. */
hip_code hipExtMallocWithFlags(void **address, size_t bytes, unsigned flags)
{
    if (flags != HIP_SIGNAL_MEMORY || bytes != 8) {
        return keep(HIP_INVALID_VALUE);
    }
    ON_DEVICE(cuMemHostAlloc(address, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED));
}

static cuda_code release(void *address)
{
    unsigned type = 0;
    const cuda_code code = cuPointerGetAttribute(&type, CUDA_POINTER_TYPE, address_of(address));
    return !code && type == CUDA_MEMORY_HOST ? cuMemFreeHost(address)
                                             : cuMemFree_v2(address_of(address));
}

hip_code hipFree(void *address)
{
    ON_DEVICE(release(address));
}

hip_code hipMemGetAddressRange(void **base, size_t *bytes, void *address)
{
    cuda_address found = 0;
    cuda_code code = over_enter();
    if (code == CUDA_DONE) {
        code = cuMemGetAddressRange_v2(&found, bytes, address_of(address));
        over_leave();
    }
    *base = (void *)(uintptr_t)found;
    return keep(code);
}

hip_code hipPointerGetAttribute(void *value, hip_enum attribute, void *address)
{
    if (attribute != HIP_POINTER_DEVICE) {
        return keep(HIP_INVALID_VALUE);
    }
    return keep(ready() ? start_code
                        : cuPointerGetAttribute(value, CUDA_POINTER_ORDINAL, address_of(address)));
}

hip_code hipHostMalloc(void **pointer, size_t bytes, unsigned flags)
{
    ON_DEVICE(cuMemHostAlloc(pointer, bytes, flags & CUDA_HOST_PORTABLE));
}

hip_code hipHostFree(void *pointer)
{
    ON_DEVICE(cuMemFreeHost(pointer));
}

hip_code hipHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    ON_DEVICE(cuMemHostRegister_v2(pointer, bytes, flags & CUDA_REGISTER_PORTABLE));
}

hip_code hipHostUnregister(void *pointer)
{
    ON_DEVICE(cuMemHostUnregister(pointer));
}

static cuda_code copy(void *to, const void *from, size_t bytes, hip_enum kind, hip_stream stream)
{
    switch (kind) {
    case HIP_TO_DEVICE:
        return cuMemcpyHtoDAsync_v2(address_of(to), from, bytes, stream_of(stream));
    case HIP_TO_HOST:
        return cuMemcpyDtoHAsync_v2(to, address_of(from), bytes, stream_of(stream));
    case HIP_ON_DEVICE:
        return cuMemcpyDtoDAsync_v2(address_of(to), address_of(from), bytes, stream_of(stream));
    default:
        return CUDA_INVALID_VALUE;
    }
}

hip_code hipMemcpyAsync(void *to, const void *from, size_t bytes, hip_enum kind, hip_stream stream)
{
    ON_DEVICE(copy(to, from, bytes, kind, stream));
}

hip_code hipMemcpy(void *to, const void *from, size_t bytes, hip_enum kind)
{
    const hip_code code = hipMemcpyAsync(to, from, bytes, kind, NULL);
    return code ? code : hipDeviceSynchronize();
}

hip_code hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, hip_enum kind, hip_stream stream)
{
    const bool to_device = kind == HIP_TO_DEVICE || kind == HIP_ON_DEVICE;
    const bool from_device = kind == HIP_TO_HOST || kind == HIP_ON_DEVICE;
    const cuda_copy_2d what = {
        .from_type = from_device ? CUDA_MEMORY_DEVICE : CUDA_MEMORY_HOST,
        .from_host = from_device ? NULL : from,
        .from_device = from_device ? address_of(from) : 0,
        .from_pitch = from_pitch,
        .to_type = to_device ? CUDA_MEMORY_DEVICE : CUDA_MEMORY_HOST,
        .to_host = to_device ? NULL : to,
        .to_device = to_device ? address_of(to) : 0,
        .to_pitch = to_pitch,
        .width = width,
        .height = height,
    };
    if (kind < HIP_TO_DEVICE || kind > HIP_ON_DEVICE) {
        return keep(HIP_INVALID_VALUE);
    }
    ON_DEVICE(cuMemcpy2DAsync_v2((const struct CUDA_MEMCPY2D_st *)(const void *)&what,
                                 stream_of(stream)));
}

hip_code hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                            size_t bytes, hip_stream stream)
{
    cuda_context to_context = NULL;
    cuda_context from_context = NULL;
    cuda_code code = context_of(to_device, &to_context);
    code = code ? code : context_of(from_device, &from_context);
    if (code) {
        return keep(code);
    }
    ON_DEVICE(cuMemcpyPeerAsync(address_of(to), to_context, address_of(from), from_context, bytes,
                                stream_of(stream)));
}

hip_code hipMemsetD32Async(void *to, int value, size_t count, hip_stream stream)
{
    ON_DEVICE(cuMemsetD32Async(address_of(to), (unsigned)value, count, stream_of(stream)));
}

/* ---- streams and events ---------------------------------------------------------------------- */

hip_code hipStreamCreateWithFlags(hip_stream *stream, unsigned flags)
{
    ON_DEVICE(cuStreamCreate((cuda_stream *)(void *)stream, flags));
}

hip_code hipStreamDestroy(hip_stream stream)
{
    ON_DEVICE(cuStreamDestroy_v2(stream_of(stream)));
}

hip_code hipStreamSynchronize(hip_stream stream)
{
    ON_DEVICE(cuStreamSynchronize(stream_of(stream)));
}

hip_code hipStreamQuery(hip_stream stream)
{
    ON_DEVICE(cuStreamQuery(stream_of(stream)));
}

hip_code hipStreamWaitEvent(hip_stream stream, hip_event event, unsigned flags)
{
    ON_DEVICE(cuStreamWaitEvent(stream_of(stream), event_of(event), flags));
}

hip_code hipStreamBeginCapture(hip_stream stream, hip_enum mode)
{
    ON_DEVICE(cuStreamBeginCapture_v2(stream_of(stream), mode));
}

hip_code hipStreamIsCapturing(hip_stream stream, hip_enum *state)
{
    ON_DEVICE(cuStreamIsCapturing(stream_of(stream), state));
}

hip_code hipStreamEndCapture(hip_stream stream, hip_graph *graph)
{
    ON_DEVICE(cuStreamEndCapture(stream_of(stream), (cuda_graph *)(void *)graph));
}

hip_code hipGraphInstantiate(hip_graph_exec *exec, hip_graph graph, hip_graph_node *node, char *log,
                             size_t log_bytes)
{
    (void)node, (void)log, (void)log_bytes;
    if (!cuGraphInstantiateWithFlags) {
        return keep(CUDA_NOT_SUPPORTED);
    }
    ON_DEVICE(
        cuGraphInstantiateWithFlags((cuda_graph_exec *)(void *)exec, (cuda_graph)(void *)graph, 0));
}

hip_code hipGraphLaunch(hip_graph_exec exec, hip_stream stream)
{
    ON_DEVICE(cuGraphLaunch((cuda_graph_exec)(void *)exec, stream_of(stream)));
}

hip_code hipGraphExecDestroy(hip_graph_exec exec)
{
    ON_DEVICE(cuGraphExecDestroy((cuda_graph_exec)(void *)exec));
}

hip_code hipGraphDestroy(hip_graph graph)
{
    ON_DEVICE(cuGraphDestroy((cuda_graph)(void *)graph));
}

static cuda_code wait_word(hip_stream stream, void *address, uint32_t value)
{
    return cuStreamWaitValue32_v2 ? cuStreamWaitValue32_v2(stream_of(stream), address_of(address),
                                                           value, CUDA_WAIT_EQUAL)
                                  : HIP_NOT_SUPPORTED;
}

hip_code hipStreamWaitValue32(hip_stream stream, void *address, uint32_t value, unsigned flags,
                              uint32_t mask)
{
    if (flags != HIP_WAIT_EQUAL || mask != UINT32_MAX) {
        return keep(HIP_INVALID_VALUE);
    }
    ON_DEVICE(wait_word(stream, address, value));
}

hip_code hipEventCreateWithFlags(hip_event *event, unsigned flags)
{
    ON_DEVICE(cuEventCreate((cuda_event *)(void *)event, flags));
}

hip_code hipEventDestroy(hip_event event)
{
    ON_DEVICE(cuEventDestroy_v2(event_of(event)));
}

hip_code hipEventRecord(hip_event event, hip_stream stream)
{
    ON_DEVICE(cuEventRecord(event_of(event), stream_of(stream)));
}

hip_code hipEventSynchronize(hip_event event)
{
    ON_DEVICE(cuEventSynchronize(event_of(event)));
}

hip_code hipEventQuery(hip_event event)
{
    ON_DEVICE(cuEventQuery(event_of(event)));
}

hip_code hipEventElapsedTime(float *ms, hip_event begin, hip_event end)
{
    ON_DEVICE(cuEventElapsedTime(ms, event_of(begin), event_of(end)));
}

/* ---- programs -------------------------------------------------------------------------------- */

hip_code hipModuleLoadData(hip_module *module, const void *image)
{
    ON_DEVICE(cuModuleLoadData((cuda_module *)(void *)module, image));
}

hip_code hipModuleUnload(hip_module module)
{
    ON_DEVICE(cuModuleUnload((cuda_module)(void *)module));
}

hip_code hipModuleGetFunction(hip_function *function, hip_module module, const char *name)
{
    ON_DEVICE(
        cuModuleGetFunction((cuda_function *)(void *)function, (cuda_module)(void *)module, name));
}

hip_code hipFuncGetAttribute(int *value, hip_enum attribute, hip_function function)
{
    ON_DEVICE(cuFuncGetAttribute(value, attribute, (cuda_function)(void *)function));
}

hip_code hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hip_function function,
                                                            int block, size_t shared_bytes)
{
    ON_DEVICE(cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (cuda_function)(void *)function,
                                                          block, shared_bytes));
}

hip_code hipModuleLaunchKernel(hip_function function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, hip_stream stream,
                               void **arguments, void **extra)
{
    ON_DEVICE(cuLaunchKernel((cuda_function)(void *)function, grid_x, grid_y, grid_z, block_x,
                             block_y, block_z, shared_bytes, stream_of(stream), arguments, extra));
}
