/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds AMD's libraries, queries devices, and reports where it searched. */
#include "backends/hip/library.h"

#include "backends/trial/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const iso_host *hip_host;
hip_api hip;
int32_t hip_version;

int32_t hip_major(void)
{
    return hip_version / 10000000;
}

const loader_where hip_where = {
    .host = &hip_host,
    .named = {{"ISOMER_ROCM_PATH", {"", "lib", "lib64"}}, {"ROCM_PATH", {"lib", "lib64"}}},
    .folders = {"", "/opt/rocm/lib", "/opt/rocm-*/lib"},
    .advice = ". Install it, or set ISOMER_ROCM_PATH to the folder that holds it",
};

/* A success is remembered for later processes too. A failure is remembered only in this process,
 * because a newer library with the same name and time may be installed later. */
bool hip_survives(const char *const *arguments, const char *besides, char *why, size_t capacity)
{
    const trial what = {.host = hip_host,
                        .arguments = arguments,
                        .besides = besides,
                        .flags = TRIAL_KEEP_GOOD | TRIAL_KEEP_HERE};
    return trial_make(&what, why, capacity) == TRIAL_GOOD;
}

/* ---- the runtime and its errors -------------------------------------------------------------- */

/* "ROCm 6.4"; before 4.0, versions were numbered in other ways. */
static void version_text(int version, char *text, size_t capacity)
{
    enum { MAJOR = 10000000, MINOR = 100000 };
    if (version >= MAJOR) {
        (void)snprintf(text, capacity, "ROCm %d.%d", version / MAJOR, version % MAJOR / MINOR);
    } else {
        (void)snprintf(text, capacity, "a ROCm before 4.0 (%d)", version);
    }
}

static void version_of(const loader_library *library, char *text, size_t capacity)
{
    hip_code (*get)(int *version) = NULL;
    int version = 0;
    if (loader_get(library, "hipRuntimeGetVersion", &get) && get(&version) == HIP_DONE) {
        version_text(version, text, capacity);
    }
}

loader_library hip_runtime_library = {
    .title = "ROCm's HIP runtime",
    .since = HIP_OLDEST,
    .version = version_of,
    .where = &hip_where,
    /* The last is too old, and is opened so that the reason can say so. */
    .names = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so.4"},
    LOADER_FUNCTIONS(hip, HIP_RUNTIME_SYMBOLS),
};

const char *hip_code_name(hip_code code)
{
    const char *name = hip.hipGetErrorName ? hip.hipGetErrorName(code) : NULL;
    return name ? name : "an unnamed error";
}

/* Converts a runtime's code into a status. After a code that means ISO_DEVICE_LOST, the device is
 * unusable. */
iso_status hip_status(hip_code code)
{
    switch (code) {
    case HIP_DONE:
        return ISO_OK;
    case HIP_OUT_OF_MEMORY:
        return ISO_NO_MEMORY;
    case HIP_DEINITIALIZED:
    case HIP_ECC_ERROR:
    case HIP_ILLEGAL_ADDRESS:
    case HIP_LAUNCH_TIMEOUT:
    case HIP_CONTEXT_DESTROYED:
    case HIP_ASSERT:
    case HIP_LAUNCH_FAILURE:
        return ISO_DEVICE_LOST;
    default:
        return ISO_BACKEND;
    }
}

iso_status hip_check(hip_device *device, hip_code code, const char *format, ...)
{
    char what[512];
    va_list values;
    const iso_status status = hip_status(code);
    if (!status) {
        return ISO_OK;
    }
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    const char *text = hip.hipGetErrorString ? hip.hipGetErrorString(code) : NULL;
    (void)hip.hipGetLastError(); /* clears the error, so that the program does not see ours */
    if (device && status == ISO_DEVICE_LOST) {
        atomic_store(&device->lost, 1);
    }
    return hip_host->fail(status, "%s gives %s (%u)%s%s", what, hip_code_name(code), code,
                          text ? ": " : "", text ? text : "");
}

/* Writes the path of the file beside the runtime, whose version is then the runtime's. */
static void beside_runtime(char *path, size_t capacity, const char *name)
{
    const char *runtime = hip_runtime_library.path;
    const char *end = strrchr(runtime, '/');
    const int length = end ? (int)(end - runtime) : 0;
    (void)snprintf(path, capacity, "%.*s/%s", length, runtime, name);
}

/* The major version of a runtime other than ours that is loaded; 0 if there is none. */
static int other_runtime(void)
{
    for (int major = 5; major <= 9; major++) {
        char name[32];
        (void)snprintf(name, sizeof name, "libamdhip64.so.%d", major);
        if (major != hip_major() && loader_already_loaded(name)) {
            return major;
        }
    }
    return 0;
}

bool hip_open_beside(simt_library *self, const char *name, char *path)
{
    char why[96];
    beside_runtime(path, LOADER_PATH_MAX, name);
    self->loader.names[0] = path;
    self->loader.names[1] = name;
    const int before = other_runtime();
    if (!loader_open(&self->loader)) {
        return false;
    }
    const int other = other_runtime();
    if (other != before) {
        (void)snprintf(why, sizeof why, "it was made for HIP %d, but the runtime is HIP %d", other,
                       hip_major());
        loader_note(&self->loader, self->loader.path, why);
        self->loader.refused++;
        loader_close(&self->loader);
        return false;
    }
    return true;
}

/* ---- probing --------------------------------------------------------------------------------- */

static iso_probe found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void call_failed(const char *call, hip_code code)
{
    found.state = code == HIP_NO_DEVICE || code == HIP_INVALID_DEVICE ? ISO_STATE_NO_DEVICE
                                                                      : ISO_STATE_NO_DRIVER;
    (void)snprintf(found.reason, sizeof found.reason, "%s: %s gives %s (%u)",
                   hip_runtime_library.path, call, hip_code_name(code), code);
}

static void look(void)
{
    const loader_library *library = &hip_runtime_library;
    static char *no_variables[] = {NULL};
    if (!environ) {
        environ = no_variables; /* after clearenv it is NULL, and hipInit of 5.2 would crash */
    }
    if (!loader_open_driver(&hip_runtime_library, &found)) {
        return;
    }
    int count = 0;
    int version = 0;
    hip_code code = hip.hipInit(0);
    if (code != HIP_DONE) {
        call_failed("hipInit", code);
    } else if ((code = hip.hipRuntimeGetVersion(&version)) != HIP_DONE) {
        call_failed("hipRuntimeGetVersion", code);
    } else if (version < HIP_VERSION_LEAST) {
        char text[64];
        version_text(version, text, sizeof text);
        found.state = ISO_STATE_NO_DRIVER;
        (void)snprintf(found.reason, sizeof found.reason,
                       "%.1024s: this is %s, but the oldest usable version is " HIP_OLDEST,
                       library->path, text);
    } else if ((code = hip.hipGetDeviceCount(&count)) != HIP_DONE) {
        call_failed("hipGetDeviceCount", code);
    } else if (count < 1) {
        call_failed("hipGetDeviceCount", HIP_NO_DEVICE);
    } else if (!hip.hipGetDevicePropertiesR0600 &&
               (!hip.hipGetDeviceProperties || version / 10000000 > 5)) {
        found.state = ISO_STATE_LOAD_FAILED;
        (void)snprintf(found.reason, sizeof found.reason,
                       "%.1023s has no function hipGetDeviceProperties%s, which reports a device's "
                       "architecture in its version",
                       library->path, version / 10000000 > 5 ? "R0600" : "");
    } else {
        hip_version = version;
        found.state = ISO_STATE_OK;
        found.devices = count;
    }
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
}

iso_status hip_probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}
