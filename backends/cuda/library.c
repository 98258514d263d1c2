/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds NVIDIA's libraries and reports where it searched. */
#include "backends/cuda/library.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const iso_host *cuda_host;
static int oldest_chip; /* the oldest architecture of all devices: 90 for sm_90; 0 before probing */

/* ---- where to search ------------------------------------------------------------------------- */

/* A driver does not accept a toolkit that is newer than the driver, and CUDA 13 does not support
 * chips before sm_75. */
int cuda_newest_toolkit(void)
{
    enum { CUDA_WITH_ALL = 12, CHIP_OF_13 = 75 };
    const int newest = cuda_version / 1000;
    return newest > CUDA_WITH_ALL && oldest_chip < CHIP_OF_13 ? CUDA_WITH_ALL : newest;
}

void cuda_too_new(char *why, size_t capacity)
{
    (void)snprintf(why, capacity, "driver %d.%d and sm_%d support at most CUDA %d",
                   cuda_version / 1000, cuda_version % 1000 / 10, oldest_chip,
                   cuda_newest_toolkit());
}

/* Returns true if a toolkit's library cannot be used here. The number after ".so." in the file name
 * of a toolkit's library is the version of the toolkit. For the driver's own library, this number
 * is always 1. Without a driver, a compiler is only tried. */
static bool refuses(const char *name, char *why, size_t capacity)
{
    enum { OLDEST_TOOLKIT = 11 };
    const char *number = strstr(name, ".so.");
    const int major = number ? atoi(number + strlen(".so.")) : 0;
    if (cuda_version == 0 || major < OLDEST_TOOLKIT || major <= cuda_newest_toolkit()) {
        return false;
    }
    cuda_too_new(why, capacity);
    return true;
}

/* For the message about a driver that lacks a function; such a driver may not be initialised. */
static void version_of(const loader_library *library, char *text, size_t capacity)
{
    cuda_code (*get)(int *version) = NULL;
    int version = 0;
    if (loader_get(library, "cuDriverGetVersion", &get) && get(&version) == CUDA_DONE) {
        (void)snprintf(text, capacity, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    }
}

#define BELOW {"", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}
const loader_where cuda_where = {
    .host = &cuda_host,
    .named = {{"ISOMER_CUDA_PATH", BELOW}, {"CUDA_PATH", BELOW}},
    .folders = {"", "/usr/local/cuda*/lib64", LOADER_SYSTEM_FOLDER, "/usr/local/nvidia/lib64",
                "/usr/lib/wsl/lib"},
    .newest_anywhere = true,
    .refuses = refuses,
    .advice = ". Install it, or set ISOMER_CUDA_PATH to the folder that holds it",
};

/* ---- the driver and its errors --------------------------------------------------------------- */

cuda_api cu;
int32_t cuda_version;

loader_library cuda_driver_library = {
    .title = "NVIDIA's driver library",
    .since = CUDA_OLDEST,
    .version = version_of,
    .where = &cuda_where,
    .names = {"libcuda.so.1"},
    LOADER_FUNCTIONS(cu, CUDA_DRIVER_SYMBOLS),
};

const char *cuda_code_name(cuda_code code)
{
    const char *name = NULL;
    if (!cu.cuGetErrorName || cu.cuGetErrorName(code, &name) != CUDA_DONE || !name) {
        name = "an unnamed error";
    }
    return name;
}

/* Converts a driver's code into a status. After a code in `lost`, the context is unusable. */
iso_status cuda_status(cuda_code code)
{
    static const unsigned short lost[] = {CUDA_DEINITIALIZED,      CUDA_DEVICE_UNAVAILABLE,
                                          CUDA_ECC_UNCORRECTABLE,  CUDA_NVLINK_UNCORRECTABLE,
                                          CUDA_ILLEGAL_ADDRESS,    CUDA_LAUNCH_TIMEOUT,
                                          CUDA_CONTEXT_DESTROYED,  CUDA_ASSERT,
                                          CUDA_HARDWARE_STACK,     CUDA_ILLEGAL_INSTRUCTION,
                                          CUDA_MISALIGNED_ADDRESS, CUDA_INVALID_ADDRESS_SPACE,
                                          CUDA_INVALID_PC,         CUDA_LAUNCH_FAILED,
                                          CUDA_CONTAINED,          CUDA_TENSOR_MEMORY_LEAK,
                                          CUDA_MPS_RPC_FAILURE,    CUDA_MPS_CLIENT_TERMINATED,
                                          CUDA_EXTERNAL_DEVICE,    CUDA_UNKNOWN};
    if (code == CUDA_DONE) {
        return ISO_OK;
    }
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        if (code == lost[i]) {
            return ISO_DEVICE_LOST;
        }
    }
    return code == CUDA_OUT_OF_MEMORY ? ISO_NO_MEMORY : ISO_BACKEND;
}

iso_status cuda_check(cuda_device *device, cuda_code code, const char *format, ...)
{
    char what[512];
    const char *text = NULL;
    va_list values;
    const iso_status status = cuda_status(code);
    if (!status) {
        return ISO_OK;
    }
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (!cu.cuGetErrorString || cu.cuGetErrorString(code, &text) != CUDA_DONE) {
        text = NULL;
    }
    if (device && status == ISO_DEVICE_LOST) {
        atomic_store(&device->lost, 1);
    }
    return cuda_host->fail(status, "%s gives %s (%u)%s%s%s", what, cuda_code_name(code), code,
                           text ? ": " : "", text ? text : "",
                           status == ISO_DEVICE_LOST
                               ? "; the device's context is lost: destroy its handles and open it "
                                 "again"
                               : "");
}

/* ---- probing --------------------------------------------------------------------------------- */

static iso_probe found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void call_failed(const char *call, cuda_code code)
{
    const char *hint = "";
    found.state = code == CUDA_NO_DEVICE ? ISO_STATE_NO_DEVICE : ISO_STATE_NO_DRIVER;
    if (code == CUDA_NO_DEVICE && getenv("CUDA_VISIBLE_DEVICES")) {
        hint = "; CUDA_VISIBLE_DEVICES is set and hides every device that it does not name";
    }
    (void)snprintf(found.reason, sizeof found.reason, "%s: %s gives %s (%u)%s",
                   cuda_driver_library.path, call, cuda_code_name(code), code, hint);
}

static int oldest_of(int count)
{
    int oldest = INT_MAX;
    for (int i = 0; i < count; i++) {
        cuda_ordinal device = 0;
        if (cu.cuDeviceGet(&device, i) == CUDA_DONE) {
            const int chip = cuda_architecture_of(device);
            oldest = chip < oldest ? chip : oldest;
        }
    }
    return oldest;
}

static void look(void)
{
    const loader_library *library = &cuda_driver_library;
    if (!loader_open_driver(&cuda_driver_library, &found)) {
        return;
    }
    int count = 0;
    int version = 0;
    cuda_code code = cu.cuInit(0);
    if (code != CUDA_DONE) {
        call_failed("cuInit", code);
    } else if ((code = cu.cuDriverGetVersion(&version)) != CUDA_DONE) {
        call_failed("cuDriverGetVersion", code);
    } else if ((code = cu.cuDeviceGetCount(&count)) != CUDA_DONE) {
        call_failed("cuDeviceGetCount", code);
    } else if (version < CUDA_VERSION_LEAST) {
        found.state = ISO_STATE_NO_DRIVER;
        (void)snprintf(found.reason, sizeof found.reason,
                       "%.1024s: the driver supports CUDA %d.%d, but the oldest usable version "
                       "is " CUDA_OLDEST,
                       library->path, version / 1000, version % 1000 / 10);
    } else if (count < 1) {
        call_failed("cuDeviceGetCount", CUDA_NO_DEVICE);
    } else {
        cuda_version = version;
        oldest_chip = oldest_of(count);
        found.state = ISO_STATE_OK;
        found.devices = count;
    }
}

iso_status cuda_probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}
