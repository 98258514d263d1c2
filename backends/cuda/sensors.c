/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.c - clocks, power, temperature and throttling of a device, from NVML. NVML numbers the
 * devices differently from CUDA, and CUDA_VISIBLE_DEVICES changes only CUDA's numbers. So a device
 * is looked up in NVML by its bus address. */
#include "backends/cuda/library.h"

#include <stdio.h>
#include <string.h>

/* ---- the library ----------------------------------------------------------------------------- */

static struct LOADER_TABLE(CUDA_NVML_SYMBOLS) nvml;

static loader_library library = {
    .title = "NVML, which comes with the driver,",
    .since = "that of " CUDA_OLDEST,
    .where = &cuda_where,
    .names = {"libnvidia-ml.so.1"},
    LOADER_FUNCTIONS(nvml, CUDA_NVML_SYMBOLS),
};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvml_code began; /* the result of nvmlInit */
static char label[ISO_NAME_MAX];

static void begin(void)
{
    char version[64] = "";
    if (!loader_open(&library)) {
        return;
    }
    began = nvml.nvmlInit_v2();
    if (began == NVML_DONE && nvml.nvmlSystemGetNVMLVersion &&
        nvml.nvmlSystemGetNVMLVersion(version, sizeof version) != NVML_DONE) {
        version[0] = '\0';
    }
    (void)snprintf(label, sizeof label, "NVML%s%.63s", version[0] ? " " : "", version);
}

/* ---- its errors ------------------------------------------------------------------------------ */

#define NVML_ENUMERATOR(name, number) name = (number),
enum { NVML_ERRORS(NVML_ENUMERATOR) };

static const char *name_of(nvml_code code)
{
#define NVML_NAME(name, number) {name, #name},
    static const struct {
        nvml_code code;
        const char *name;
    } names[] = {NVML_ERRORS(NVML_NAME)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "an unnamed error";
}

static iso_status fail(nvml_code code, const char *call)
{
    const char *text = nvml.nvmlErrorString(code);
    return cuda_host->fail(ISO_BACKEND, "%.512s: %s gives %s (%u)%s%s", library.path, call,
                           name_of(code), code, text ? ": " : "", text ? text : "");
}

/* Whether the call returned a value. It is not a failure if this device does not have the sensor or
 * this user may not read it. *status keeps the first failure. */
static bool answered(nvml_code code, const char *call, iso_status *status)
{
    switch (code) {
    case NVML_DONE:
        return true;
    case NVML_ERROR_INVALID_ARGUMENT:
    case NVML_ERROR_NOT_SUPPORTED:
    case NVML_ERROR_NO_PERMISSION:
    case NVML_ERROR_NOT_FOUND:
    case NVML_ERROR_FUNCTION_NOT_FOUND:
    case NVML_ERROR_NO_DATA:
        return false;
    default:
        if (*status == ISO_OK) {
            *status = fail(code, call);
        }
        return false;
    }
}

#define ASK(status, name, ...)                                                                     \
    (nvml.name && !*(status) && answered(nvml.name(__VA_ARGS__), #name, (status)))

/* ---- reading --------------------------------------------------------------------------------- */

static int32_t throttle_of(unsigned long long reasons)
{
    const unsigned long long heat = NVML_THERMAL_SOFT | NVML_THERMAL_HARD;
    const unsigned long long other =
        NVML_SET_CLOCKS | NVML_SLOWDOWN | NVML_SYNC_BOOST | NVML_POWER_BRAKE | NVML_DISPLAY_CLOCKS;
    return (reasons & NVML_POWER_CAP ? ISO_THROTTLE_POWER : 0) |
           (reasons & heat ? ISO_THROTTLE_THERMAL : 0) | (reasons & other ? ISO_THROTTLE_OTHER : 0);
}

static void read_clocks(nvml_device at, iso_status *status, iso_telemetry *out)
{
    unsigned long long reasons = 0;
    unsigned mhz = 0;
    if (ASK(status, nvmlDeviceGetClockInfo, at, NVML_SM, &mhz)) {
        out->clock_mhz = (int32_t)mhz;
    }
    if (ASK(status, nvmlDeviceGetMaxClockInfo, at, NVML_SM, &mhz)) {
        out->clock_max_mhz = (int32_t)mhz;
    }
    if (ASK(status, nvmlDeviceGetClockInfo, at, NVML_MEMORY, &mhz)) {
        out->memory_clock_mhz = (int32_t)mhz;
    }
    /* These are two names of the same call. Older drivers have only the second. */
    if (ASK(status, nvmlDeviceGetCurrentClocksEventReasons, at, &reasons) ||
        ASK(status, nvmlDeviceGetCurrentClocksThrottleReasons, at, &reasons)) {
        out->throttle = throttle_of(reasons);
    }
}

static void read_rest(nvml_device at, iso_status *status, iso_telemetry *out)
{
    nvml_utilization rates = {0, 0};
    unsigned value = 0;
    unsigned pending = 0;
    if (ASK(status, nvmlDeviceGetPowerUsage, at, &value)) {
        out->power_watts = value / 1e3;
    }
    if (ASK(status, nvmlDeviceGetPowerManagementLimit, at, &value)) {
        out->power_cap_watts = value / 1e3;
    }
    if (ASK(status, nvmlDeviceGetTemperature, at, NVML_CHIP, &value)) {
        out->temperature_celsius = value;
    }
    if (ASK(status, nvmlDeviceGetEccMode, at, &value, &pending)) {
        out->ecc = value != 0;
    }
    if (ASK(status, nvmlDeviceGetUtilizationRates, at,
            (struct nvmlUtilization_st *)(void *)&rates)) {
        out->busy_percent = rates.busy;
    }
}

/* The counter covers the whole board with its memory, from when the driver was loaded. */
static void read_energy(nvml_device at, iso_status *status, iso_telemetry *out)
{
    unsigned long long millijoules = 0;
    if (!nvml.nvmlDeviceGetTotalEnergyConsumption) {
        (void)snprintf(out->energy_reason, sizeof out->energy_reason,
                       "%s has no nvmlDeviceGetTotalEnergyConsumption", label);
    } else if (ASK(status, nvmlDeviceGetTotalEnergyConsumption, at, &millijoules)) {
        out->energy_joules = (double)millijoules / 1e3;
        (void)snprintf(out->energy_scope, sizeof out->energy_scope, "board");
    } else {
        (void)snprintf(out->energy_reason, sizeof out->energy_reason,
                       "nvmlDeviceGetTotalEnergyConsumption reports no energy of this device");
    }
}

/* For a whole device, writes "MIG off" or "MIG on". For a slice, writes the profile, such as "MIG
 * 1g.18gb". Only the name of the slice contains the profile, so the slice must first be found in
 * NVML by its uuid. */
static void read_partition(cuda_ordinal ordinal, nvml_device at, iso_status *status,
                           iso_telemetry *out)
{
    char uuid[ISO_NAME_MAX] = "";
    char name[ISO_NAME_MAX] = "";
    unsigned mode = 0;
    unsigned pending = 0;
    nvml_device slice = NULL;
    if (!ASK(status, nvmlDeviceGetMigMode, at, &mode, &pending)) {
        return;
    }
    (void)snprintf(out->partition, sizeof out->partition, "MIG %s", mode ? "on" : "off");
    cuda_device_uuid(ordinal, uuid, sizeof uuid);
    if (mode && strncmp(uuid, "MIG-", 4) == 0 &&
        ASK(status, nvmlDeviceGetHandleByUUID, uuid, &slice) &&
        ASK(status, nvmlDeviceGetName, slice, name, (unsigned)sizeof name)) {
        name[sizeof name - 1] = '\0';
        const char *what = strstr(name, "MIG ");
        if (what) {
            (void)snprintf(out->partition, sizeof out->partition, "%s", what);
        }
    }
}

/* A slice has no sensors, but it has the bus address of the whole device. So a slice gets the
 * values of the whole device. */
iso_status cuda_telemetry(void *device, iso_telemetry *out)
{
    const cuda_device *native = ((const simt_device *)device)->native;
    char place[32] = "";
    nvml_device at = NULL;
    iso_status status = ISO_OK;

    (void)pthread_once(&once, begin);
    if (!library.handle) {
        return loader_fail(&library, ISO_UNSUPPORTED, "");
    }
    if (began != NVML_DONE) {
        return fail(began, "nvmlInit");
    }
    const cuda_code code = cu.cuDeviceGetPCIBusId(place, (int)sizeof place, native->ordinal);
    if (code != CUDA_DONE) {
        return cuda_check(NULL, code, "cuDeviceGetPCIBusId(%d)", native->ordinal);
    }
    const nvml_code found = nvml.nvmlDeviceGetHandleByPciBusId_v2(place, &at);
    if (found != NVML_DONE) {
        return fail(found, "nvmlDeviceGetHandleByPciBusId");
    }
    read_clocks(at, &status, out);
    read_rest(at, &status, out);
    read_energy(at, &status, out);
    read_partition(native->ordinal, at, &status, out);
    (void)snprintf(out->source, sizeof out->source, "%s", label);
    return status;
}
