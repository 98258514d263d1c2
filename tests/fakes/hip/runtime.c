/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c - a fake of libamdhip64.so over the engine. */
#include "tests/fakes/engine.h"

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_RUNTIME_SYMBOLS(DECLARE, DECLARE)
FAKE_API hip_code hipMemcpy(void *to, const void *from, size_t bytes, hip_enum kind);
FAKE_API hip_code hipDeviceSynchronize(void);
fake_context *fake_hip_context(void);

enum { DEVICES_MAX = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_context *contexts[DEVICES_MAX];
static _Thread_local int current;
static _Thread_local hip_code last;

/* Every failing call records its code for hipGetLastError. */
static hip_code keep(int code)
{
    if (code) {
        last = (hip_code)code;
    }
    return (hip_code)code;
}

static int device_count(void)
{
    const char *visible = getenv("HIP_VISIBLE_DEVICES");
    return visible && (!visible[0] || visible[0] == '-') ? 0 : fake_device_count();
}

static bool valid(int device)
{
    return device >= 0 && device < device_count() && device < DEVICES_MAX;
}

/* The current device's state, created at first use; NULL if there is no device. */
FAKE_API fake_context *fake_hip_context(void)
{
    if (!valid(current)) {
        return NULL;
    }
    (void)pthread_mutex_lock(&lock);
    if (!contexts[current]) {
        contexts[current] = fake_context_create(current);
    }
    (void)pthread_mutex_unlock(&lock);
    return contexts[current];
}

static int enter(fake_context **context)
{
    *context = fake_hip_context();
    return *context ? fake_context_error(*context) : FAKE_NO_DEVICE;
}

static int enter_stream(hip_stream handle, fake_stream **stream)
{
    fake_context *context = NULL;
    const int code = enter(&context);
    if (code) {
        return code;
    }
    *stream = handle ? (fake_stream *)(void *)handle : fake_stream_default(context);
    return fake_stream_known(*stream) ? fake_context_error(fake_stream_context(*stream))
                                      : FAKE_INVALID_HANDLE;
}

/* ---- the runtime and its devices ------------------------------------------------------------- */

hip_code hipInit(unsigned flags)
{
    const hip_code code = (hip_code)fake_setting("FAKE_INIT", 0);
    return keep(flags            ? FAKE_INVALID_VALUE
                : code           ? (int)code
                : device_count() ? 0
                                 : FAKE_NO_DEVICE);
}

hip_code hipRuntimeGetVersion(int *version)
{
#if defined(FAKE_ROCM_5)
    enum { VERSION = 50221153 };
#else
    enum { VERSION = 60443483 };
#endif
    *version = (int)fake_setting("FAKE_DRIVER_VERSION", VERSION);
    return FAKE_OK;
}

const char *hipGetErrorName(hip_code code)
{
    static _Thread_local char text[64];
    const char *known = code ? fake_code_text((int)code) : "Success";
    (void)snprintf(text, sizeof text, code ? "hipError_%s" : "hip%s", known ? known : "UNKNOWN");
    return text;
}

const char *hipGetErrorString(hip_code code)
{
    return code ? "an error of the test's fake runtime" : "no error";
}

hip_code hipGetLastError(void)
{
    const hip_code code = last;
    last = FAKE_OK;
    return code;
}

hip_code hipGetDeviceCount(int *count)
{
    *count = device_count();
    return keep(*count > 0 ? FAKE_OK : FAKE_NO_DEVICE);
}

hip_code hipGetDevice(int *device)
{
    *device = current;
    return keep(valid(current) ? FAKE_OK : FAKE_NO_DEVICE);
}

hip_code hipSetDevice(int device)
{
    if (!valid(device)) {
        return keep(FAKE_INVALID_DEVICE);
    }
    current = device;
    return FAKE_OK;
}

hip_code hipDeviceGetName(char *name, int length, int device)
{
    (void)snprintf(name, (size_t)length, "Isomer test fake (CPU)%s", fake_text("FAKE_NAME"));
    return keep(valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

hip_code hipDeviceGetAttribute(int *value, hip_enum attribute, int device)
{
    *value = attribute == HIP_CLOCK_KHZ        ? 1000000
             : attribute == HIP_L2_BYTES       ? 4 * 1024 * 1024
             : attribute == HIP_MAX_THREADS    ? 1024
             : attribute == HIP_UNITS          ? (int)fake_setting("FAKE_UNITS", 8)
             : attribute == HIP_SHARED_BYTES   ? 65536
             : attribute == HIP_WAVE           ? fake_wave(64)
             : attribute == HIP_PCI_DEVICE     ? device
             : attribute == HIP_HOST_PAGES     ? (int)fake_setting("FAKE_HOST_PAGES", 0)
             : attribute == HIP_CAN_WAIT_VALUE ? (int)fake_setting("FAKE_WAIT", 1)
                                               : 0;
    return keep(valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

hip_code hipDeviceTotalMem(size_t *bytes, int device)
{
    *bytes = (size_t)fake_device_memory();
    return keep(valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

hip_code hipDeviceGetUuid(struct hipUUID_t *uuid, int device)
{
    memset(uuid, 0, 16);
    memcpy(uuid, "isomer-fake", 11);
    ((char *)uuid)[15] = (char)device;
    return keep(valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

static hip_code write_properties(void *properties, int architecture_at, int device)
{
    memset(properties, 0, (size_t)architecture_at + HIP_ARCHITECTURE_BYTES);
    (void)snprintf(properties, 256, "Isomer test fake (CPU)");
    (void)snprintf((char *)properties + architecture_at, HIP_ARCHITECTURE_BYTES, "%s",
                   fake_wave(64) == 32 ? "gfx1030" : "gfx90a:sramecc+:xnack-");
    return keep(valid(device) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

#if defined(FAKE_ROCM_5)
hip_code hipGetDeviceProperties(struct hipDeviceProp_t *properties, int device)
{
    return write_properties(properties, HIP_ARCHITECTURE_AT_5, device);
}
#else
/* This version does not have the older call under this name. */
hip_code hipGetDeviceProperties(struct hipDeviceProp_t *properties, int device)
{
    (void)properties;
    (void)device;
    return keep(FAKE_NOT_SUPPORTED);
}

hip_code hipGetDevicePropertiesR0600(struct hipDeviceProp_tR0600 *properties, int device)
{
    return write_properties(properties, HIP_ARCHITECTURE_AT_R0600, device);
}
#endif

hip_code hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return keep(valid(device) && valid(peer) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

hip_code hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return keep(flags ? FAKE_INVALID_VALUE : valid(peer) ? FAKE_OK : FAKE_INVALID_DEVICE);
}

hip_code hipDeviceSynchronize(void)
{
    fake_context *context = NULL;
    const int code = enter(&context);
    return keep(code ? code : fake_context_sync(context));
}

hip_code hipDeviceReset(void)
{
    fake_context *context = fake_hip_context();
    if (context) {
        fake_context_reset(context);
    }
    return keep(context ? FAKE_OK : FAKE_NO_DEVICE);
}

/* ---- memory ---------------------------------------------------------------------------------- */

hip_code hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    fake_context *context = NULL;
    const int code = enter(&context);
    if (code == FAKE_OK) {
        *total = (size_t)fake_device_memory();
        *free_bytes = *total - (size_t)context->used;
    }
    return keep(code);
}

hip_code hipMalloc(void **address, size_t bytes)
{
    fake_context *context = NULL;
    const int code = enter(&context);
    return keep(code ? code : fake_memory_alloc(context, FAKE_MEMORY_DEVICE, bytes, address));
}

/* A signal has 8 bytes. */
hip_code hipExtMallocWithFlags(void **address, size_t bytes, unsigned flags)
{
    return flags != HIP_SIGNAL_MEMORY || bytes != 8 ? keep(FAKE_INVALID_VALUE)
                                                    : hipMalloc(address, bytes);
}

/* Waits for all work, as the real one does. */
hip_code hipFree(void *address)
{
    fake_context *context = NULL;
    const int code = enter(&context);
    return keep(code || !address ? code : fake_memory_free(FAKE_MEMORY_DEVICE, address));
}

hip_code hipMemGetAddressRange(void **base, size_t *bytes, void *address)
{
    fake_range range;
    if (!fake_memory_find(address, &range)) {
        return keep(FAKE_NOT_FOUND);
    }
    *base = range.base;
    *bytes = range.bytes;
    return FAKE_OK;
}

hip_code hipPointerGetAttribute(void *value, hip_enum attribute, void *address)
{
    fake_range range;
    if (!fake_memory_find(address, &range) || attribute != HIP_POINTER_DEVICE) {
        return keep(FAKE_INVALID_VALUE);
    }
    memcpy(value, &range.context->device, sizeof(int));
    return FAKE_OK;
}

hip_code hipHostMalloc(void **pointer, size_t bytes, unsigned flags)
{
    fake_context *context = NULL;
    const int code = flags > 7 ? FAKE_INVALID_VALUE : enter(&context);
    return keep(code ? code : fake_memory_alloc(context, FAKE_MEMORY_PINNED, bytes, pointer));
}

hip_code hipHostFree(void *pointer)
{
    return keep(fake_memory_free(FAKE_MEMORY_PINNED, pointer));
}

hip_code hipHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    fake_context *context = NULL;
    const int code = flags > 15 ? FAKE_INVALID_VALUE : enter(&context);
    return keep(code ? code : fake_host_register(context, pointer, bytes));
}

hip_code hipHostUnregister(void *pointer)
{
    return keep(fake_host_unregister(pointer));
}

hip_code hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, hip_enum kind, hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    const fake_copy copy = {.to = to,
                            .from = from,
                            .to_pitch = to_pitch,
                            .from_pitch = from_pitch,
                            .width = width,
                            .height = height,
                            .to_device = kind == HIP_TO_DEVICE || kind == HIP_ON_DEVICE,
                            .from_device = kind == HIP_TO_HOST || kind == HIP_ON_DEVICE};
    if (code || kind < HIP_TO_DEVICE || kind > HIP_ON_DEVICE || to_pitch < width ||
        from_pitch < width) {
        return keep(code ? code : FAKE_INVALID_VALUE);
    }
    return keep(fake_copy_submit(stream, &copy));
}

hip_code hipMemcpyAsync(void *to, const void *from, size_t bytes, hip_enum kind, hip_stream stream)
{
    return hipMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

hip_code hipMemcpy(void *to, const void *from, size_t bytes, hip_enum kind)
{
    const hip_code code = hipMemcpyAsync(to, from, bytes, kind, NULL);
    return code ? code : hipDeviceSynchronize();
}

hip_code hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                            size_t bytes, hip_stream stream)
{
    if (!valid(to_device) || !valid(from_device)) {
        return keep(FAKE_INVALID_DEVICE);
    }
    return hipMemcpyAsync(to, from, bytes, HIP_ON_DEVICE, stream);
}

hip_code hipMemsetD32Async(void *to, int value, size_t count, hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_fill_submit(stream, to, (uint32_t)value, 4, count));
}

/* ---- streams and events ---------------------------------------------------------------------- */

hip_code hipStreamCreateWithFlags(hip_stream *stream, unsigned flags)
{
    fake_context *context = NULL;
    fake_stream *made = NULL;
    int code = flags > 1 ? FAKE_INVALID_VALUE : enter(&context);
    code = code ? code : fake_stream_create(context, &made);
    *stream = (hip_stream)(void *)made;
    return keep(code);
}

hip_code hipStreamDestroy(hip_stream stream)
{
    return keep(fake_stream_destroy((fake_stream *)(void *)stream));
}

hip_code hipStreamSynchronize(hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_stream_sync(stream));
}

hip_code hipStreamQuery(hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_stream_query(stream));
}

hip_code hipStreamWaitEvent(hip_stream handle, hip_event event, unsigned flags)
{
    fake_stream *stream = NULL;
    const int code = flags ? FAKE_INVALID_VALUE : enter_stream(handle, &stream);
    return keep(code ? code : fake_stream_wait(stream, (fake_event *)(void *)event));
}

hip_code hipStreamWaitValue32(hip_stream handle, void *address, uint32_t value, unsigned flags,
                              uint32_t mask)
{
    fake_stream *stream = NULL;
    fake_range range;
    const int code = enter_stream(handle, &stream);
    if (code) {
        return keep(code);
    }
    if (flags != HIP_WAIT_EQUAL || mask != UINT32_MAX || !fake_memory_find(address, &range) ||
        range.kind != FAKE_MEMORY_DEVICE || range.bytes != 8) {
        return keep(FAKE_INVALID_VALUE);
    }
    return keep(fake_stream_wait_word(stream, address, value));
}

hip_code hipStreamBeginCapture(hip_stream handle, hip_enum mode)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_stream_record(stream, (int)mode));
}

hip_code hipStreamIsCapturing(hip_stream handle, hip_enum *state)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    if (code == FAKE_OK) {
        *state = fake_stream_records(stream) ? 1 : HIP_CAPTURE_NONE;
    }
    return keep(code);
}

hip_code hipStreamEndCapture(hip_stream handle, hip_graph *graph)
{
    fake_stream *stream = NULL;
    fake_graph *made = NULL;
    int code = enter_stream(handle, &stream);
    code = code ? code : fake_stream_recorded(stream, &made);
    *graph = (hip_graph)(void *)made;
    return keep(code);
}

hip_code hipGraphInstantiate(hip_graph_exec *exec, hip_graph graph, hip_graph_node *node, char *log,
                             size_t log_bytes)
{
    fake_graph *made = NULL;
    const int code = node || log || log_bytes
                         ? FAKE_INVALID_VALUE
                         : fake_graph_instantiate((const fake_graph *)(void *)graph, &made);
    *exec = (hip_graph_exec)(void *)made;
    return keep(code);
}

hip_code hipGraphLaunch(hip_graph_exec exec, hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_graph_launch((fake_graph *)(void *)exec, stream));
}

hip_code hipGraphExecDestroy(hip_graph_exec exec)
{
    return keep(fake_graph_destroy((fake_graph *)(void *)exec));
}

hip_code hipGraphDestroy(hip_graph graph)
{
    return keep(fake_graph_destroy((fake_graph *)(void *)graph));
}

hip_code hipEventCreateWithFlags(hip_event *event, unsigned flags)
{
    fake_context *context = NULL;
    fake_event *made = NULL;
    int code = flags > 7 ? FAKE_INVALID_VALUE : enter(&context);
    code = code ? code : fake_event_create(context, &made);
    *event = (hip_event)(void *)made;
    return keep(code);
}

hip_code hipEventDestroy(hip_event event)
{
    return keep(fake_event_destroy((fake_event *)(void *)event));
}

hip_code hipEventRecord(hip_event event, hip_stream handle)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    return keep(code ? code : fake_event_record((fake_event *)(void *)event, stream));
}

hip_code hipEventSynchronize(hip_event event)
{
    return keep(fake_event_sync((fake_event *)(void *)event));
}

hip_code hipEventQuery(hip_event event)
{
    return keep(fake_event_query((fake_event *)(void *)event));
}

hip_code hipEventElapsedTime(float *ms, hip_event start, hip_event stop)
{
    return keep(fake_event_elapsed((fake_event *)(void *)start, (fake_event *)(void *)stop, ms));
}

/* ---- programs -------------------------------------------------------------------------------- */

hip_code hipModuleLoadData(hip_module *module, const void *image)
{
    fake_context *context = NULL;
    fake_module *loaded = NULL;
    int code = enter(&context);
    if (code == FAKE_OK) {
        code = fake_module_load(image, fake_wave(64) == 32 ? "gfx1030" : "gfx90a", &loaded);
        *module = (hip_module)(void *)loaded;
    }
    return keep(code);
}

hip_code hipModuleUnload(hip_module module)
{
    return keep(fake_module_unload((fake_module *)(void *)module));
}

hip_code hipModuleGetFunction(hip_function *function, hip_module module, const char *name)
{
    fake_kernel *kernel = NULL;
    const int code = fake_module_kernel((fake_module *)(void *)module, name, &kernel);
    *function = (hip_function)(void *)kernel;
    return keep(code);
}

hip_code hipFuncGetAttribute(int *value, hip_enum attribute, hip_function function)
{
    const fake_kernel *kernel = (const fake_kernel *)(void *)function;
    if (!fake_kernel_known(kernel)) {
        return keep(FAKE_INVALID_HANDLE);
    }
    *value = attribute == HIP_KERNEL_THREADS     ? fake_kernel_threads(kernel)
             : attribute == HIP_KERNEL_REGISTERS ? 32
                                                 : 0;
    return FAKE_OK;
}

hip_code hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hip_function function,
                                                            int block, size_t shared_bytes)
{
    (void)shared_bytes;
    if (block < 1 || !fake_kernel_known((const fake_kernel *)(void *)function)) {
        return keep(FAKE_INVALID_VALUE);
    }
    *blocks = block > 1024 ? 0 : 2048 / block;
    return FAKE_OK;
}

hip_code hipModuleLaunchKernel(hip_function function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, hip_stream handle,
                               void **arguments, void **extra)
{
    fake_stream *stream = NULL;
    const int code = enter_stream(handle, &stream);
    if (code) {
        return keep(code);
    }
    /* The number of work-items of a launch has 32 bits. */
    if (block_y != 1 || block_z != 1 || shared_bytes > 65536 || extra ||
        (uint64_t)grid_x * block_x > UINT32_MAX) {
        return keep(FAKE_INVALID_VALUE);
    }
    return keep(fake_launch(stream, (fake_kernel *)(void *)function,
                            (unsigned[]){grid_x, grid_y, grid_z}, block_x, arguments, false));
}
