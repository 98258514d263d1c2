/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds the OpenCL loader, asks it for platforms and devices, and says what it found.
 */
#include <backends/loader/loader.h>

#include <isomer/backend.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The interface, as far as it is asked. */
enum {
    CL_OK = 0,
    CL_NO_DEVICE = -1,      /* CL_DEVICE_NOT_FOUND */
    CL_NO_PLATFORM = -1001, /* CL_PLATFORM_NOT_FOUND_KHR */
    CL_INFO_DEVICE_NAME = 0x102b,
    CL_PLATFORMS_MOST = 16,
    CL_DEVICES_MOST = 64
};
#define CL_EVERY_DEVICE ((uint64_t)0xffffffff)

typedef struct cl_api {
    int32_t (*platforms)(uint32_t capacity, void **platforms, uint32_t *count);
    int32_t (*devices)(void *platform, uint64_t type, uint32_t capacity, void **devices,
                       uint32_t *count);
    int32_t (*device_info)(void *device, uint32_t what, size_t bytes, void *value, size_t *needed);
} cl_api;

static iso_probe found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_state(iso_state state)
{
    found.state = state;
    found.devices = 0;
}

static void *open_library(char *path, int64_t capacity)
{
    static const char *const names[] = {"libOpenCL.so.1"};
    char tried[ISO_REASON_MAX - 512] = "";
    loader_search search = {
        .names = names, .name_count = 1, .tried = tried, .tried_capacity = (int64_t)sizeof tried};
    void *library = loader_open(&search, path, capacity);
    if (!library) {
        set_state(search.refused > 0 ? ISO_STATE_LOAD_FAILED : ISO_STATE_NOT_FOUND);
        (void)snprintf(found.reason, sizeof found.reason,
                       "the OpenCL loader %s; tried: %s. Install an OpenCL loader and a driver",
                       search.refused > 0 ? "is there and cannot be used" : "was not found", tried);
    }
    return library;
}

static int find_symbols(void *library, const char *path, cl_api *api)
{
    const struct {
        const char *name;
        void *function;
    } required[] = {{"clGetPlatformIDs", &api->platforms},
                    {"clGetDeviceIDs", &api->devices},
                    {"clGetDeviceInfo", &api->device_info}};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!loader_symbol(library, required[i].name, required[i].function)) {
            set_state(ISO_STATE_LOAD_FAILED);
            (void)snprintf(found.reason, sizeof found.reason, "%s has no function %s", path,
                           required[i].name);
            return 0;
        }
    }
    return 1;
}

typedef struct cl_found {
    uint32_t platforms, devices;
    int32_t code; /* of the last call for devices that failed; 0 if none did */
    char names[ISO_REASON_MAX / 2];
} cl_found;

/* Adds the devices of one platform, with their names. */
static void add_devices(const cl_api *api, void *platform, cl_found *sum)
{
    void *devices[CL_DEVICES_MOST] = {NULL};
    uint32_t count = 0;
    int32_t code = api->devices(platform, CL_EVERY_DEVICE, CL_DEVICES_MOST, devices, &count);
    if (code != CL_OK) {
        sum->code = code == CL_NO_DEVICE ? sum->code : code;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        char name[ISO_NAME_MAX] = "";
        if (i >= CL_DEVICES_MOST || !devices[i] ||
            api->device_info(devices[i], CL_INFO_DEVICE_NAME, sizeof name, name, NULL) != CL_OK) {
            (void)snprintf(name, sizeof name, "no name");
        }
        name[sizeof name - 1] = '\0';
        size_t used = strlen(sum->names);
        (void)snprintf(sum->names + used, sizeof sum->names - used, "%s%s",
                       sum->devices > 0 ? ", " : "", name);
        sum->devices++;
    }
}

static void judge(const char *path, const cl_found *sum)
{
    if (sum->devices > 0) {
        set_state(ISO_STATE_LOAD_FAILED);
        (void)snprintf(found.reason, sizeof found.reason,
                       "%s: %" PRIu32 " device%s found (%s), but this version of isomer runs "
                       "nothing on opencl yet",
                       path, sum->devices, sum->devices == 1 ? "" : "s", sum->names);
    } else if (sum->code != CL_OK) {
        set_state(ISO_STATE_NO_DRIVER);
        (void)snprintf(found.reason, sizeof found.reason, "%s: clGetDeviceIDs gives %" PRId32, path,
                       sum->code);
    } else {
        set_state(ISO_STATE_NO_DEVICE);
        (void)snprintf(found.reason, sizeof found.reason,
                       "%s: %" PRIu32 " platform%s found, and no device", path, sum->platforms,
                       sum->platforms == 1 ? "" : "s");
    }
}

static void look(void)
{
    char path[1024];
    cl_api api;
    void *library = open_library(path, (int64_t)sizeof path);
    if (!library || !find_symbols(library, path, &api)) {
        return;
    }
    void *platforms[CL_PLATFORMS_MOST] = {NULL};
    cl_found sum = {.platforms = 0};
    int32_t code = api.platforms(CL_PLATFORMS_MOST, platforms, &sum.platforms);
    if (code == CL_NO_PLATFORM || (code == CL_OK && sum.platforms == 0)) {
        set_state(ISO_STATE_NO_DRIVER);
        (void)snprintf(found.reason, sizeof found.reason,
                       "%s: clGetPlatformIDs finds no platform: no OpenCL driver is installed",
                       path);
        return;
    }
    if (code != CL_OK) {
        set_state(ISO_STATE_NO_DRIVER);
        (void)snprintf(found.reason, sizeof found.reason, "%s: clGetPlatformIDs gives %" PRId32,
                       path, code);
        return;
    }
    for (uint32_t i = 0; i < sum.platforms && i < CL_PLATFORMS_MOST; i++) {
        if (platforms[i]) {
            add_devices(&api, platforms[i], &sum);
        }
    }
    judge(path, &sum);
}

static iso_status probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_PROBE_ONLY,
    .name = "opencl",
    .build_info = "opencl " ISO_VERSION_STRING ", finds devices only",
    .probe = probe,
};

const iso_backend *isomer_builtin_opencl_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_builtin_opencl_query(uint32_t host_abi, const iso_host *host)
{
    (void)host;
    return host_abi >> 16 == ISO_ABI_MAJOR ? &descriptor : NULL;
}
