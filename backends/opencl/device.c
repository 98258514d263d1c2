/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - describes devices, and opens them in a new context or in a context of the program. */
#include "backends/opencl/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- queries --------------------------------------------------------------------------------- */

/* Gets a text from the driver, and cuts it to fit. */
void ocl_device_text(ocl_device_id device, ocl_name what, char *text, size_t capacity)
{
    char whole[1024] = "";
    if (cl.clGetDeviceInfo(device, what, sizeof whole, whole, NULL) != OCL_DONE) {
        whole[0] = '\0';
    }
    (void)snprintf(text, capacity, "%s", whole);
}

void ocl_platform_text(ocl_platform platform, ocl_name what, char *text, size_t capacity)
{
    char whole[1024] = "";
    if (cl.clGetPlatformInfo(platform, what, sizeof whole, whole, NULL) != OCL_DONE) {
        whole[0] = '\0';
    }
    (void)snprintf(text, capacity, "%s", whole);
}

/* Gets a number of 4 or 8 bytes. A variable of 8 bytes can receive both, because hosts are
 * little-endian. */
uint64_t ocl_device_number(ocl_device_id device, ocl_name what, uint64_t otherwise)
{
    uint64_t value = 0;
    return cl.clGetDeviceInfo(device, what, sizeof value, &value, NULL) == OCL_DONE ? value
                                                                                    : otherwise;
}

static uint64_t number(ocl_device_id device, ocl_name what)
{
    return ocl_device_number(device, what, 0);
}

/* Whether the device has the extension. The list of extensions is allocated, because its length is
 * unlimited. */
static bool has_extension(ocl_device_id device, const char *name)
{
    size_t bytes = 0;
    bool has = false;
    if (cl.clGetDeviceInfo(device, OCL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != OCL_DONE || !bytes) {
        return false;
    }
    char *list = ocl_host->alloc((int64_t)bytes + 1);
    if (!list) {
        return false;
    }
    if (cl.clGetDeviceInfo(device, OCL_DEVICE_EXTENSIONS, bytes, list, NULL) == OCL_DONE) {
        const size_t length = strlen(name);
        list[bytes] = '\0';
        for (const char *at = strstr(list, name); at && !has; at = strstr(at + 1, name)) {
            has = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
        }
    }
    ocl_host->free(list);
    return has;
}

static bool is_cpu(ocl_bits type)
{
    return (type & OCL_TYPE_CPU) && !(type & OCL_TYPE_GPU);
}

/* How many work-items run together; 0 if the driver does not report it. */
static int32_t width_of(ocl_device_id device)
{
    if (has_extension(device, "cl_nv_device_attribute_query")) {
        return (int32_t)number(device, OCL_DEVICE_WARP);
    }
    if (has_extension(device, "cl_amd_device_attribute_query")) {
        return (int32_t)number(device, OCL_DEVICE_WAVE);
    }
    return (int32_t)number(device, OCL_DEVICE_MULTIPLE);
}

/* ---- description ----------------------------------------------------------------------------- */

static void write_uuid(ocl_device_id device, char *text, size_t capacity)
{
    unsigned char bytes[16] = {0};
    text[0] = '\0';
    if (!has_extension(device, "cl_khr_device_uuid") ||
        cl.clGetDeviceInfo(device, OCL_DEVICE_UUID, sizeof bytes, bytes, NULL) != OCL_DONE) {
        return;
    }
    int length = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        length += snprintf(text + length, capacity - (size_t)length, "%s%02x", dash ? "-" : "",
                           (unsigned)bytes[i]);
    }
}

static uint32_t features_of(ocl_device_id device)
{
    const ocl_bits exact = OCL_DENORMALS | OCL_INFINITIES;
    const ocl_bits single = number(device, OCL_DEVICE_SINGLE);
    uint32_t features = ISO_FEATURE_COMPILES;
    features |= number(device, OCL_DEVICE_DOUBLE) ? ISO_FEATURE_F64 : 0;
    features |= (single & exact) == exact ? ISO_FEATURE_DENORMALS : 0;
    features |= (single & OCL_FMA) && !(single & OCL_SOFTWARE) ? ISO_FEATURE_FAST_FMA : 0;
    features |= number(device, OCL_DEVICE_UNIFIED) ? ISO_FEATURE_HOST_MEMORY : 0;
    return features;
}

iso_status ocl_device_info(int32_t index, iso_device_info *out)
{
    const ocl_found *at = ocl_device_at(index);
    char platform[ISO_NAME_MAX / 2];
    char driver[ISO_NAME_MAX / 2];
    if (!at) {
        return ocl_host->fail(ISO_INVALID, "there is no OpenCL device %d", index);
    }
    ocl_device_text(at->device, OCL_DEVICE_NAME, out->name, sizeof out->name);
    ocl_device_text(at->device, OCL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
    write_uuid(at->device, out->uuid, sizeof out->uuid);
    out->architecture[0] = '\0';
    ocl_platform_text(at->platform, OCL_PLATFORM_NAME, platform, sizeof platform - 2);
    ocl_device_text(at->device, OCL_DRIVER_VERSION, driver, sizeof driver);
    (void)snprintf(out->driver, sizeof out->driver, "%s %s", platform, driver);
    ocl_device_text(at->device, OCL_DEVICE_VERSION, out->runtime, sizeof out->runtime);
    const bool cpu = is_cpu(at->type);
    out->type = cpu                       ? ISO_DEVICE_CPU
                : at->type & OCL_TYPE_GPU ? ISO_DEVICE_GPU
                                          : ISO_DEVICE_ACCELERATOR;
    out->features = features_of(at->device);
    /* It interprets kernels to find faults in them. */
    out->features |= strcmp(platform, "Oclgrind") == 0 ? ISO_FEATURE_SIMULATED : 0;
    out->memory_total = (int64_t)number(at->device, OCL_DEVICE_MEMORY);
    out->memory_free = -1;
    /* A driver does not report which cache level this is. NVIDIA's driver reports the first level:
     * 4 MB on an H200, whose last level has 60 MB. For a device other than a CPU it is better to
     * report that the size is unknown. */
    out->cache_bytes = cpu ? (int64_t)number(at->device, OCL_DEVICE_CACHE) : 0;
    out->local_bytes = cpu ? 0 : (int64_t)number(at->device, OCL_DEVICE_LOCAL);
    out->units = (int32_t)number(at->device, OCL_DEVICE_UNITS);
    out->threads = cpu ? out->units : width_of(at->device);
    out->clock_mhz = (int32_t)number(at->device, OCL_DEVICE_CLOCK);
    return ISO_OK;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Returns why a floating-point configuration is not enough for the arithmetic that isomer defines,
 * or NULL if it is enough. CL_FP_FMA is not required: it only says that the hardware computes fma.
 * Without it, fma is slower but still rounds only once. */
static const char *lacks(ocl_bits config)
{
    return !(config & OCL_DENORMALS)    ? "it has no subnormal numbers (CL_FP_DENORM)"
           : !(config & OCL_INFINITIES) ? "it has no infinities and NaN (CL_FP_INF_NAN)"
           : !(config & OCL_TO_NEAREST) ? "it does not round to nearest (CL_FP_ROUND_TO_NEAREST)"
                                        : NULL;
}

static simt_class device_class(ocl_device_id device, bool cpu)
{
    return cpu                                                      ? SIMT_CLASS_CPU
           : width_of(device) == 64                                 ? SIMT_CLASS_WAVE64
           : has_extension(device, "cl_amd_device_attribute_query") ? SIMT_CLASS_WAVE32
                                                                    : SIMT_CLASS_WARP32;
}

/* As in the CUDA backend, for devices that say which chip they are. */
static ocl_bits major_of(ocl_device_id device)
{
    return has_extension(device, "cl_nv_device_attribute_query") ? number(device, OCL_DEVICE_MAJOR)
                                                                 : 0;
}

static int32_t f64_unit(ocl_device_id device)
{
    const ocl_bits major = major_of(device);
    if (!major || number(device, OCL_DEVICE_MINOR) != 0) {
        return 0;
    }
    return major == 9 || major == 10 ? 16 : major == 8 ? 8 : 0;
}

static void fill_limits(ocl_device_id device, simt_limits *limits)
{
    const ocl_bits f64_bits = number(device, OCL_DEVICE_DOUBLE);
    *limits = (simt_limits){
        .device_class = device_class(device, is_cpu(number(device, OCL_DEVICE_TYPE))),
        .units = (int32_t)number(device, OCL_DEVICE_UNITS),
        .threads_max = (int32_t)number(device, OCL_DEVICE_GROUP),
        .local_bytes = (int64_t)number(device, OCL_DEVICE_LOCAL),
        .alloc_max = (int64_t)number(device, OCL_DEVICE_ALLOC),
        .cache_bytes = (int64_t)number(device, OCL_DEVICE_CACHE),
        .memory_is_address = false,
        .items_most = INT64_MAX,
        .f32_problem = lacks(number(device, OCL_DEVICE_SINGLE)),
        .f64_problem =
            f64_bits ? lacks(f64_bits) : "it has no f64 (CL_DEVICE_DOUBLE_FP_CONFIG is 0)",
        .atomic64 = has_extension(device, "cl_khr_int64_base_atomics"),
        .f64_unit = f64_unit(device),
        .ring = major_of(device) >= 8,
        .byte_unit = major_of(device) >= 8 ? 32 : 0,
    };
    limits->f32_exact = !limits->f32_problem;
    limits->f64 = !limits->f64_problem;
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* If it succeeds, the device owns the context. */
static iso_status make(const ocl_found *at, ocl_context context, int32_t index, void **native,
                       simt_limits *limits)
{
    ocl_code code = OCL_DONE;
    char platform[ISO_NAME_MAX];
    ocl_device *device = ocl_host->alloc((int64_t)sizeof *device);
    if (!device) {
        return ISO_NO_MEMORY;
    }
    memset(device, 0, sizeof *device);
    device->platform = at->platform;
    device->id = at->device;
    device->context = context;
    device->index = index;
    device->is_cpu = is_cpu(at->type);
    device->rounds = (number(at->device, OCL_DEVICE_SINGLE) & OCL_ROUNDS) != 0;
    ocl_platform_text(at->platform, OCL_PLATFORM_NAME, platform, sizeof platform);
    device->keeps_kernels = strcmp(platform, "Portable Computing Language") == 0;
    device->fails_for_good = device->keeps_kernels || strcmp(platform, "NVIDIA CUDA") == 0;
    device->queue = cl.clCreateCommandQueue(context, at->device, 0, &code);
    if (!device->queue) {
        ocl_host->free(device);
        return ocl_fail(code, "clCreateCommandQueue(device %d)", index);
    }
    (void)pthread_mutex_init(&device->blocks_lock, NULL);
    (void)pthread_mutex_init(&device->lock, NULL);
    atomic_init(&device->releases, 0);
    fill_limits(at->device, limits);
    *native = device;
    return ISO_OK;
}

iso_status ocl_device_open(int32_t index, void **native, simt_limits *limits)
{
    const ocl_found *at = ocl_device_at(index);
    ocl_code code = OCL_DONE;
    if (!at) {
        return ocl_host->fail(ISO_INVALID, "there is no OpenCL device %d", index);
    }
    const intptr_t properties[] = {OCL_CONTEXT_PLATFORM, (intptr_t)at->platform, 0};
    ocl_context context = cl.clCreateContext(properties, 1, &at->device, NULL, NULL, &code);
    if (!context) {
        return ocl_fail(code, "clCreateContext(device %d)", index);
    }
    iso_status status = make(at, context, index, native, limits);
    if (status != ISO_OK) {
        (void)cl.clReleaseContext(context);
    }
    return status;
}

static bool context_has(ocl_context context, ocl_device_id device, ocl_code *code)
{
    ocl_device_id list[64];
    size_t bytes = 0;
    bool has = false;
    *code = cl.clGetContextInfo(context, OCL_CONTEXT_DEVICES, sizeof list, list, &bytes);
    for (size_t i = 0; *code == OCL_DONE && i < bytes / sizeof *list; i++) {
        has |= list[i] == device;
    }
    return has;
}

iso_status ocl_device_adopt(int32_t devices, const void *context, const void *native_device,
                            int32_t *index, void **native, simt_limits *limits)
{
    ocl_context own = NULL;
    ocl_code code = OCL_DONE;
    int32_t at = 0;
    (void)devices;
    while (ocl_device_at(at) && (const void *)ocl_device_at(at)->device != native_device) {
        at++;
    }
    if (!ocl_device_at(at)) {
        return ocl_host->fail(ISO_INVALID,
                              "device is %p, which is not an OpenCL device that can be used: pass "
                              "the context's cl_device_id",
                              native_device);
    }
    memcpy(&own, &context, sizeof own);
    if (!own) {
        return ocl_host->fail(ISO_INVALID,
                              "context is NULL: pass the cl_context that the device belongs to");
    }
    if (!context_has(own, ocl_device_at(at)->device, &code)) {
        return code != OCL_DONE
                   ? ocl_host->fail(ISO_INVALID,
                                    "context is %p, but clGetContextInfo gives %s (%d)", context,
                                    ocl_code_name(code), code)
                   : ocl_host->fail(ISO_INVALID, "context %p does not contain device %p", context,
                                    native_device);
    }
    code = cl.clRetainContext(own);
    if (code != OCL_DONE) {
        return ocl_fail(code, "clRetainContext(%p)", context);
    }
    *index = at;
    const iso_status status = make(ocl_device_at(at), own, at, native, limits);
    if (status != ISO_OK) {
        (void)cl.clReleaseContext(own);
    }
    return status;
}

void ocl_device_close(void *native)
{
    ocl_device *device = native;
    (void)cl.clReleaseCommandQueue(device->queue);
    (void)cl.clReleaseContext(device->context);
    (void)pthread_mutex_destroy(&device->lock);
    (void)pthread_mutex_destroy(&device->blocks_lock);
    ocl_host->free(device);
}
