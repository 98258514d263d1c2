/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - describes devices, and opens them in their primary context or in a context of the
 * program. */
#include "backends/cuda/library.h"

#include <stdio.h>
#include <string.h>

static int32_t attribute_of(cuda_ordinal device, cuda_attribute attribute)
{
    int value = 0;
    return cu.cuDeviceGetAttribute(&value, attribute, device) == CUDA_DONE ? value : 0;
}

int32_t cuda_architecture_of(cuda_ordinal device)
{
    return attribute_of(device, CUDA_COMPUTE_MAJOR) * 10 + attribute_of(device, CUDA_COMPUTE_MINOR);
}

/* ---- description ----------------------------------------------------------------------------- */

/* Writes the uuid as nvidia-smi shows it. A slice of a device (MIG) has its own uuid, but the older
 * call returns the uuid of the whole device. */
void cuda_device_uuid(cuda_ordinal device, char *text, size_t capacity)
{
    cuda_uuid whole = {{0}};
    cuda_uuid own = {{0}};
    text[0] = '\0';
    if (cu.cuDeviceGetUuid((struct CUuuid_st *)(void *)&whole, device) != CUDA_DONE) {
        return;
    }
    if (!cu.cuDeviceGetUuid_v2 ||
        cu.cuDeviceGetUuid_v2((struct CUuuid_st *)(void *)&own, device) != CUDA_DONE) {
        own = whole;
    }
    const bool slice = memcmp(&own, &whole, sizeof own) != 0;
    int length = snprintf(text, capacity, slice ? "MIG-" : "GPU-");
    for (size_t i = 0; i < sizeof own.bytes; i++) {
        const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        length += snprintf(text + length, capacity - (size_t)length, "%s%02x", dash ? "-" : "",
                           (unsigned)(unsigned char)own.bytes[i]);
    }
}

/* Returns -1 if no primary context is active, because a query would have to create one, which is
 * slow. */
static int64_t free_memory(cuda_ordinal device)
{
    unsigned flags = 0;
    int active = 0;
    size_t free = 0;
    size_t total = 0;
    cuda_device at = {.ordinal = device};
    if (cu.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_DONE || !active ||
        cu.cuDevicePrimaryCtxRetain(&at.context, device) != CUDA_DONE) {
        return -1;
    }
    simt_scope scope = cuda_enter(&at);
    const bool known = scope.code == CUDA_DONE && cu.cuMemGetInfo_v2(&free, &total) == CUDA_DONE;
    cuda_leave(scope);
    (void)cu.cuDevicePrimaryCtxRelease_v2(device);
    return known ? (int64_t)free : -1;
}

iso_status cuda_device_info(int32_t index, iso_device_info *out)
{
    cuda_ordinal device = 0;
    size_t bytes = 0;
    cuda_code code = cu.cuDeviceGet(&device, index);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDeviceGet(%d)", index);
    }
    code = cu.cuDeviceGetName(out->name, (int)sizeof out->name, device);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDeviceGetName(%d)", index);
    }
    out->name[sizeof out->name - 1] = '\0';
    code = cu.cuDeviceTotalMem_v2(&bytes, device);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDeviceTotalMem(%d)", index);
    }
    (void)snprintf(out->vendor, sizeof out->vendor, "NVIDIA");
    cuda_device_uuid(device, out->uuid, sizeof out->uuid);
    (void)snprintf(out->architecture, sizeof out->architecture, "sm_%d",
                   cuda_architecture_of(device));
    (void)snprintf(out->driver, sizeof out->driver, "CUDA driver %d.%d", cuda_version / 1000,
                   cuda_version % 1000 / 10);
    out->runtime[0] = '\0';
    out->type = ISO_DEVICE_GPU;
    out->features =
        ISO_FEATURE_F64 | ISO_FEATURE_DENORMALS | ISO_FEATURE_FAST_FMA | ISO_FEATURE_COMPILES;
    out->memory_total = (int64_t)bytes;
    out->memory_free = free_memory(device);
    out->cache_bytes = attribute_of(device, CUDA_CACHE_BYTES);
    out->local_bytes = attribute_of(device, CUDA_SHARED_OF_BLOCK);
    out->units = attribute_of(device, CUDA_MULTIPROCESSORS);
    out->threads = attribute_of(device, CUDA_WARP_SIZE);
    out->clock_mhz = attribute_of(device, CUDA_CLOCK_KHZ) / 1000;
    return ISO_OK;
}

/* Chips whose f64 matrix units are faster than their other f64 units; the instructions of sm_90
 * have twice as many rows. Later and smaller chips execute these instructions too, but no faster.
 */
static int32_t f64_unit(int32_t architecture)
{
    return architecture == 90 || architecture == 100 ? 16 : architecture == 80 ? 8 : 0;
}

/* Measured on an H200 with cuBLAS 13.1, in TFLOP/s, fixed and the faster of cuBLAS and cuBLASLt: in
 * f32 37 and 35 at N = 1280, 51 and 37 at 1536; in f64 61 and 58 at 4096, 66 and 59 at 5120. f16
 * and bf16 have faster matrix units of their own. No other chip was measured. */
enum { MEASURED = 90, FIXED_FROM_F32 = 1536, FIXED_FROM_F64 = 5120 };

static void fill_limits(const cuda_device *device, simt_limits *limits)
{
    enum {
        TURING = 75, /* the first with matrix units for bytes */
        AMPERE = 80  /* the first with cp.async */
    };
    const bool measured = device->architecture == MEASURED;
    size_t bytes = 0;
    if (cu.cuDeviceTotalMem_v2(&bytes, device->ordinal) != CUDA_DONE) {
        bytes = 0;
    }
    *limits = (simt_limits){
        .device_class = SIMT_CLASS_WARP32,
        .units = attribute_of(device->ordinal, CUDA_MULTIPROCESSORS),
        .threads_max = attribute_of(device->ordinal, CUDA_THREADS_OF_BLOCK),
        .local_bytes = attribute_of(device->ordinal, CUDA_SHARED_OF_BLOCK),
        .alloc_max = (int64_t)bytes,
        .cache_bytes = attribute_of(device->ordinal, CUDA_CACHE_BYTES),
        .host_pages = attribute_of(device->ordinal, CUDA_HOST_PAGES) != 0,
        .memory_is_address = true,
        .items_most = INT64_MAX,
        .f64 = true,
        .f32_exact = true,
        .shuffle = true,
        .atomic64 = true,
        .bytes = device->architecture >= TURING,
        .fixed_from_f32 = measured ? FIXED_FROM_F32 : 0,
        .fixed_from_f64 = measured ? FIXED_FROM_F64 : 0,
        .f64_unit = f64_unit(device->architecture),
        .ring = device->architecture >= AMPERE,
        .f64_split = device->architecture == CUDA_HOPPER && cuda_compiler_knows_chips(),
        .byte_unit = device->architecture >= 80 ? 32 : 0,
        .shared_most = attribute_of(device->ordinal, CUDA_SHARED_MOST),
        .shared_of_unit = attribute_of(device->ordinal, CUDA_SHARED_OF_UNIT),
    };
}

/* ---- contexts -------------------------------------------------------------------------------- */

simt_scope cuda_enter(const cuda_device *device)
{
    simt_scope scope = {.code = CUDA_DONE, .previous = -1};
    cuda_context current = NULL;
    if (cu.cuCtxGetCurrent(&current) != CUDA_DONE || current != device->context) {
        scope.code = cu.cuCtxPushCurrent_v2(device->context);
        scope.previous = scope.code == CUDA_DONE ? 0 : -1; /* cuda_leave pops the context */
    }
    return scope;
}

void cuda_leave(simt_scope scope)
{
    if (scope.previous >= 0) {
        cuda_context popped = NULL;
        (void)cu.cuCtxPopCurrent_v2(&popped);
    }
}

/* Creates the device object for an existing context. */
static iso_status make(cuda_context context, bool primary, cuda_ordinal ordinal, int32_t index,
                       void **native, simt_limits *limits)
{
    cuda_device *device = cuda_host->alloc((int64_t)sizeof *device);
    if (!device) {
        return ISO_NO_MEMORY;
    }
    memset(device, 0, sizeof *device);
    device->ordinal = ordinal;
    device->index = index;
    device->context = context;
    device->primary = primary;
    device->architecture = cuda_architecture_of(ordinal);
    device->pitch_max = attribute_of(ordinal, CUDA_PITCH_MAX);
    atomic_init(&device->lost, 0);
    atomic_init(&device->peer, NULL);
    fill_limits(device, limits);
    *native = device;
    return ISO_OK;
}

iso_status cuda_device_open(int32_t index, void **native, simt_limits *limits)
{
    cuda_ordinal ordinal = 0;
    cuda_context context = NULL;
    cuda_code code = cu.cuDeviceGet(&ordinal, index);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDeviceGet(%d)", index);
    }
    code = cu.cuDevicePrimaryCtxRetain(&context, ordinal);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDevicePrimaryCtxRetain(device %d)", index);
    }
    const iso_status status = make(context, true, ordinal, index, native, limits);
    if (status) {
        (void)cu.cuDevicePrimaryCtxRelease_v2(ordinal);
    }
    return status;
}

/* Finds the device that a program's context belongs to. */
static cuda_code device_of(cuda_context context, cuda_ordinal *ordinal)
{
    const cuda_device at = {.context = context};
    cuda_code code;
    CUDA_ON(&at, code, cu.cuCtxGetDevice(ordinal));
    return code;
}

static int32_t index_of(cuda_ordinal ordinal)
{
    int count = 0;
    (void)cu.cuDeviceGetCount(&count);
    for (int32_t i = 0; i < count; i++) {
        cuda_ordinal device = 0;
        if (cu.cuDeviceGet(&device, i) == CUDA_DONE && device == ordinal) {
            return i;
        }
    }
    return -1;
}

iso_status cuda_device_adopt(int32_t devices, const void *context, const void *native_device,
                             int32_t *index, void **native, simt_limits *limits)
{
    const int64_t asked = (int64_t)(intptr_t)native_device;
    if (!context) {
        if (asked < 0 || asked >= devices) {
            return cuda_host->fail(ISO_INVALID, "device is %lld, but the devices are 0 to %d",
                                   (long long)asked, devices - 1);
        }
        *index = (int32_t)asked;
        return cuda_device_open(*index, native, limits);
    }
    cuda_context own = NULL;
    memcpy(&own, &context, sizeof own);
    cuda_ordinal ordinal = 0;
    const cuda_code code = device_of(own, &ordinal);
    if (code != CUDA_DONE) {
        return cuda_host->fail(ISO_INVALID, "context is %p, but cuCtxPushCurrent gives %s (%u)",
                               context, cuda_code_name(code), code);
    }
    *index = index_of(ordinal);
    if (*index < 0 || (asked != 0 && asked != *index)) {
        return cuda_host->fail(
            ISO_INVALID,
            "context belongs to device %d, but device is %lld: pass the context's device, or 0",
            *index, (long long)asked);
    }
    return make(own, false, ordinal, *index, native, limits);
}

/* Resets a lost primary context, even if other code in the process still holds it. That code cannot
 * use the lost context either. After the reset, the device can be opened again. */
void cuda_device_close(void *native)
{
    cuda_device *device = native;
    if (device->primary) {
        unsigned flags = 0;
        int active = 0;
        (void)cu.cuDevicePrimaryCtxRelease_v2(device->ordinal);
        if (atomic_load(&device->lost) &&
            cu.cuDevicePrimaryCtxGetState(device->ordinal, &flags, &active) == CUDA_DONE &&
            active) {
            (void)cu.cuDevicePrimaryCtxReset_v2(device->ordinal);
        }
    }
    cuda_host->free(device);
}
