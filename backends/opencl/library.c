/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds the OpenCL loader, queries its platforms and devices, and reports what it
 * found. */
#include "backends/opencl/library.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64, WORKER_STACK = 1 << 20 };

const iso_host *ocl_host;
ocl_api cl;

static const loader_where where = {
    .host = &ocl_host,
    .advice = ". Install a loader for OpenCL 1.2 or newer, and a driver",
};

loader_library ocl_loader = {
    .title = "the OpenCL loader",
    .since = "OpenCL 1.2",
    .where = &where,
    .names = {"libOpenCL.so.1"},
    LOADER_FUNCTIONS(cl, OPENCL_SYMBOLS),
};

/* ---- errors ---------------------------------------------------------------------------------- */

const char *ocl_code_name(ocl_code code)
{
    static const char *const low[] = {"CL_SUCCESS",
                                      "CL_DEVICE_NOT_FOUND",
                                      "CL_DEVICE_NOT_AVAILABLE",
                                      "CL_COMPILER_NOT_AVAILABLE",
                                      "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                                      "CL_OUT_OF_RESOURCES",
                                      "CL_OUT_OF_HOST_MEMORY",
                                      "CL_PROFILING_INFO_NOT_AVAILABLE",
                                      "CL_MEM_COPY_OVERLAP",
                                      "CL_IMAGE_FORMAT_MISMATCH",
                                      "CL_IMAGE_FORMAT_NOT_SUPPORTED",
                                      "CL_BUILD_PROGRAM_FAILURE",
                                      "CL_MAP_FAILURE",
                                      "CL_MISALIGNED_SUB_BUFFER_OFFSET",
                                      "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                                      "CL_COMPILE_PROGRAM_FAILURE",
                                      "CL_LINKER_NOT_AVAILABLE",
                                      "CL_LINK_PROGRAM_FAILURE",
                                      "CL_DEVICE_PARTITION_FAILED",
                                      "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"};
    static const char *const high[] = {"CL_INVALID_VALUE",
                                       "CL_INVALID_DEVICE_TYPE",
                                       "CL_INVALID_PLATFORM",
                                       "CL_INVALID_DEVICE",
                                       "CL_INVALID_CONTEXT",
                                       "CL_INVALID_QUEUE_PROPERTIES",
                                       "CL_INVALID_COMMAND_QUEUE",
                                       "CL_INVALID_HOST_PTR",
                                       "CL_INVALID_MEM_OBJECT",
                                       "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
                                       "CL_INVALID_IMAGE_SIZE",
                                       "CL_INVALID_SAMPLER",
                                       "CL_INVALID_BINARY",
                                       "CL_INVALID_BUILD_OPTIONS",
                                       "CL_INVALID_PROGRAM",
                                       "CL_INVALID_PROGRAM_EXECUTABLE",
                                       "CL_INVALID_KERNEL_NAME",
                                       "CL_INVALID_KERNEL_DEFINITION",
                                       "CL_INVALID_KERNEL",
                                       "CL_INVALID_ARG_INDEX",
                                       "CL_INVALID_ARG_VALUE",
                                       "CL_INVALID_ARG_SIZE",
                                       "CL_INVALID_KERNEL_ARGS",
                                       "CL_INVALID_WORK_DIMENSION",
                                       "CL_INVALID_WORK_GROUP_SIZE",
                                       "CL_INVALID_WORK_ITEM_SIZE",
                                       "CL_INVALID_GLOBAL_OFFSET",
                                       "CL_INVALID_EVENT_WAIT_LIST",
                                       "CL_INVALID_EVENT",
                                       "CL_INVALID_OPERATION",
                                       "CL_INVALID_GL_OBJECT",
                                       "CL_INVALID_BUFFER_SIZE",
                                       "CL_INVALID_MIP_LEVEL",
                                       "CL_INVALID_GLOBAL_WORK_SIZE",
                                       "CL_INVALID_PROPERTY",
                                       "CL_INVALID_IMAGE_DESCRIPTOR",
                                       "CL_INVALID_COMPILER_OPTIONS",
                                       "CL_INVALID_LINKER_OPTIONS",
                                       "CL_INVALID_DEVICE_PARTITION_COUNT"};
    const int32_t at = -code;
    if (at >= 0 && at < (int32_t)(sizeof low / sizeof low[0])) {
        return low[at];
    }
    if (at >= 30 && at < 30 + (int32_t)(sizeof high / sizeof high[0])) {
        return high[at - 30];
    }
    return code == OCL_NO_PLATFORM ? "CL_PLATFORM_NOT_FOUND_KHR" : "an unnamed error";
}

iso_status ocl_status(ocl_code code)
{
    switch (code) {
    case OCL_DONE:
        return ISO_OK;
    case OCL_DEVICE_GONE:
        return ISO_DEVICE_LOST;
    case OCL_ALLOCATION_FAILED:
    case OCL_NO_HOST_MEMORY:
    case OCL_INVALID_BYTES: /* more bytes than the device has; 0 bytes never get here */
        return ISO_NO_MEMORY;
    default:
        return ISO_BACKEND;
    }
}

iso_status ocl_fail(ocl_code code, const char *format, ...)
{
    char what[512];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    return ocl_host->fail(ocl_status(code), "%s gives %s (%" PRId32 ")", what, ocl_code_name(code),
                          code);
}

/* ---- probing --------------------------------------------------------------------------------- */

static iso_probe found;
static ocl_found devices[DEVICES_MAX];
static int32_t device_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_reason(const char *format, ...) ISO_PRINTF(1, 2);

static void add_reason(const char *format, ...)
{
    const size_t used = strlen(found.reason);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(found.reason + used, sizeof found.reason - used, format, values);
    va_end(values);
}

/* Returns why a device cannot be used, or NULL if it can be used. */
static const char *refuse(ocl_device_id device)
{
    char version[ISO_NAME_MAX];
    int major = 0;
    int minor = 0;
    ocl_device_text(device, OCL_DEVICE_VERSION, version, sizeof version);
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) {
        return "it does not support OpenCL 1.2";
    }
    if (!ocl_device_number(device, OCL_DEVICE_AVAILABLE, 1)) {
        return "its driver reports that it is not available";
    }
    if (!ocl_device_number(device, OCL_DEVICE_COMPILER, 1)) {
        return "it has no compiler";
    }
    if (!ocl_device_number(device, OCL_DEVICE_LITTLE, 1)) {
        return "it is big-endian";
    }
    return NULL;
}

static void add_device(ocl_platform platform, const char *platform_name, ocl_device_id device)
{
    char name[ISO_NAME_MAX];
    const char *why = refuse(device);
    if (why || device_count == DEVICES_MAX) {
        ocl_device_text(device, OCL_DEVICE_NAME, name, sizeof name);
        why = why ? why : "there are too many devices";
        add_reason("; device %s of %s is not used: %s", name, platform_name, why);
        ocl_host->log(ISO_LOG_WARN, "opencl: device %s of %s is not used: %s", name, platform_name,
                      why);
        return;
    }
    devices[device_count++] = (ocl_found){.platform = platform,
                                          .device = device,
                                          .type = ocl_device_number(device, OCL_DEVICE_TYPE, 0)};
}

/* Adds the devices of one platform. If this platform fails, the others are still listed. */
static void add_platform(ocl_platform platform)
{
    ocl_device_id list[DEVICES_MAX] = {NULL};
    uint32_t count = 0;
    char name[ISO_NAME_MAX];
    ocl_platform_text(platform, OCL_PLATFORM_NAME, name, sizeof name);
    const ocl_code code = cl.clGetDeviceIDs(platform, OCL_EVERY_TYPE, DEVICES_MAX, list, &count);
    if (code != OCL_DONE) {
        add_reason("; platform %s: clGetDeviceIDs gives %s (%" PRId32 ")", name,
                   ocl_code_name(code), code);
        ocl_host->log(code == OCL_NO_DEVICE ? ISO_LOG_INFO : ISO_LOG_WARN,
                      "opencl: platform %s: clGetDeviceIDs gives %s (%" PRId32 ")", name,
                      ocl_code_name(code), code);
        return;
    }
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        if (list[i]) {
            add_device(platform, name, list[i]);
        }
    }
}

static int rank_of(ocl_bits type)
{
    return type & OCL_TYPE_GPU ? 0 : type & OCL_TYPE_CPU ? 2 : 1;
}

/* Sorts the devices by kind, and keeps the loader's order among devices of one kind. */
static void order_devices(void)
{
    for (int32_t i = 1; i < device_count; i++) {
        const ocl_found moved = devices[i];
        int32_t at = i;
        for (; at > 0 && rank_of(devices[at - 1].type) > rank_of(moved.type); at--) {
            devices[at] = devices[at - 1];
        }
        devices[at] = moved;
    }
}

/* Reports that the loader found no driver, and where it searches. */
static void explain_no_platform(ocl_code code)
{
    const char *folder = getenv("OCL_ICD_VENDORS");
    found.state = ISO_STATE_NO_DRIVER;
    add_reason("%s: clGetPlatformIDs gives %s (%" PRId32
               "): no OpenCL driver is installed, or none can be loaded. The loader searches for "
               "drivers in %s",
               ocl_loader.path, ocl_code_name(code), code,
               folder && folder[0] ? folder : "/etc/OpenCL/vendors");
    if (folder && folder[0]) {
        add_reason(" (set by OCL_ICD_VENDORS)");
    }
}

/* Sets the default stack size of new threads. PoCL runs kernels in threads with this size. It comes
 * from `ulimit -s`, and may be too small. */
static void set_stacks(size_t bytes)
{
    pthread_attr_t attributes;
    if (bytes > 0 && pthread_attr_init(&attributes) == 0) {
        if (pthread_attr_setstacksize(&attributes, bytes) == 0) {
            (void)pthread_setattr_default_np(&attributes);
        }
        (void)pthread_attr_destroy(&attributes);
    }
}

/* Raises the default stack size if it is too small. Returns the size to restore; 0 if there is
 * none. */
static size_t enlarge_stacks(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_getattr_default_np(&attributes) != 0) {
        return 0;
    }
    if (pthread_attr_getstacksize(&attributes, &bytes) != 0 || bytes >= WORKER_STACK) {
        bytes = 0;
    }
    (void)pthread_attr_destroy(&attributes);
    if (bytes > 0) {
        set_stacks(WORKER_STACK);
    }
    return bytes;
}

static void list_platforms(void)
{
    ocl_platform platforms[PLATFORMS_MAX] = {NULL};
    uint32_t count = 0;
    ocl_code code = cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    if (code == OCL_DONE && count == 0) {
        code = OCL_NO_PLATFORM;
    }
    if (code != OCL_DONE) {
        explain_no_platform(code);
        return;
    }
    count = count < PLATFORMS_MAX ? count : PLATFORMS_MAX;
    add_reason("%s: %" PRIu32 " platform%s found, but no device that can be used", ocl_loader.path,
               count, count == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++) {
        if (platforms[i]) {
            add_platform(platforms[i]);
        }
    }
    order_devices();
    found.devices = device_count;
    found.state = device_count > 0 ? ISO_STATE_OK : ISO_STATE_NO_DEVICE;
    if (device_count > 0) {
        found.reason[0] = '\0';
    }
}

static void look(void)
{
    char why[ISO_REASON_MAX / 2];
    if (!loader_open_driver(&ocl_loader, &found)) {
        return;
    }
    if (!ocl_may_list(why, sizeof why)) {
        found.state = ISO_STATE_BROKEN;
        add_reason("%s", why);
        return;
    }
    const size_t stacks = enlarge_stacks();
    list_platforms();
    set_stacks(stacks);
}

iso_status ocl_probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}

const ocl_found *ocl_device_at(int32_t index)
{
    (void)pthread_once(&once, look);
    return index >= 0 && index < device_count ? &devices[index] : NULL;
}
