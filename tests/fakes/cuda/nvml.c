/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - a fake of libnvidia-ml.so.1, whose readings a test sets. With FAKE_FEW it has only the
 * required functions. */
#include "tests/fakes/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name, number) name = (number),
enum { NVML_ERRORS(CODE) };

#define NOTHING(result, name, parameters)
CUDA_NVML_SYMBOLS(DECLARE, NOTHING)

enum { DEVICES_MAX = 8 };

static char devices[DEVICES_MAX];
static bool initialised;

nvml_code nvmlInit_v2(void)
{
    const nvml_code code = (nvml_code)fake_setting("FAKE_SENSORS_INIT", NVML_DONE);
    initialised = code == NVML_DONE;
    return code;
}

const char *nvmlErrorString(nvml_code code)
{
    return code ? "an error of the test's fake sensors" : "no error";
}

nvml_code nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvml_device *device)
{
    unsigned domain = 0, bus = 0, slot = 0;
    if (!initialised) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3 || domain || slot ||
        bus < FAKE_FIRST_BUS || bus >= (unsigned)(FAKE_FIRST_BUS + fake_device_count()) ||
        bus >= FAKE_FIRST_BUS + DEVICES_MAX) {
        return NVML_ERROR_NOT_FOUND;
    }
    *device = (nvml_device)(void *)&devices[bus - FAKE_FIRST_BUS];
    return NVML_DONE;
}

#if !defined(FAKE_FEW)
CUDA_NVML_SYMBOLS(NOTHING, DECLARE)

static char slice;

/* The answer to any query about a device, before its details are checked. */
static nvml_code ask(nvml_device device)
{
    const char *at = (const char *)(void *)device;
    if (!initialised) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (at < devices || at >= devices + DEVICES_MAX) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    return (nvml_code)fake_setting("FAKE_SENSORS_ERROR", NVML_DONE);
}

static nvml_code give(nvml_device device, const char *name, int64_t otherwise, unsigned *value)
{
    const nvml_code code = ask(device);
    if (code == NVML_DONE) {
        *value = (unsigned)fake_setting(name, otherwise);
    }
    return code;
}

nvml_code nvmlSystemGetNVMLVersion(char *text, unsigned length)
{
    (void)snprintf(text, length, "12.0.fake");
    return NVML_DONE;
}

nvml_code nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device *device)
{
    if (strncmp(uuid, "MIG-", 4) != 0 || strlen(uuid) != 40) {
        return NVML_ERROR_NOT_FOUND;
    }
    *device = (nvml_device)(void *)&slice;
    return NVML_DONE;
}

nvml_code nvmlDeviceGetName(nvml_device device, char *name, unsigned length)
{
    (void)snprintf(name, length, "Isomer test fake%s",
                   (char *)(void *)device == &slice ? " MIG 1g.18gb" : "");
    return NVML_DONE;
}

nvml_code nvmlDeviceGetMigMode(nvml_device device, unsigned *mode, unsigned *pending)
{
    *pending = 0;
    return give(device, "FAKE_MIG", 0, mode);
}

nvml_code nvmlDeviceGetClockInfo(nvml_device device, unsigned type, unsigned *mhz)
{
    return type == NVML_SM       ? give(device, "FAKE_CLOCK", 1500, mhz)
           : type == NVML_MEMORY ? give(device, "FAKE_MEMORY_CLOCK", 2600, mhz)
                                 : NVML_ERROR_INVALID_ARGUMENT;
}

nvml_code nvmlDeviceGetMaxClockInfo(nvml_device device, unsigned type, unsigned *mhz)
{
    return type == NVML_SM ? give(device, "FAKE_CLOCK_MAX", 1980, mhz)
                           : NVML_ERROR_INVALID_ARGUMENT;
}

nvml_code nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts)
{
    const nvml_code code = (nvml_code)fake_setting("FAKE_SENSORS_POWER", NVML_DONE);
    return code ? code : give(device, "FAKE_POWER", 123500, milliwatts);
}

nvml_code nvmlDeviceGetPowerManagementLimit(nvml_device device, unsigned *milliwatts)
{
    return give(device, "FAKE_POWER_CAP", 700000, milliwatts);
}

nvml_code nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoules)
{
    const nvml_code code = (nvml_code)fake_setting("FAKE_SENSORS_ENERGY", NVML_DONE);
    *millijoules = (unsigned long long)fake_energy();
    return code ? code : ask(device);
}

nvml_code nvmlDeviceGetTemperature(nvml_device device, unsigned sensor, unsigned *celsius)
{
    const nvml_code code = give(device, "FAKE_TEMPERATURE", 40, celsius);
    if (code == NVML_DONE) {
        *celsius += (unsigned)((char *)(void *)device - devices);
    }
    return sensor == NVML_CHIP ? code : NVML_ERROR_INVALID_ARGUMENT;
}

nvml_code nvmlDeviceGetEccMode(nvml_device device, unsigned *mode, unsigned *pending)
{
    *pending = 0;
    return give(device, "FAKE_ECC", 1, mode);
}

/* Not reported by a divided device. */
nvml_code nvmlDeviceGetUtilizationRates(nvml_device device, struct nvmlUtilization_st *rates)
{
    nvml_utilization said = {0, 0};
    const nvml_code code = give(device, "FAKE_BUSY", 7, &said.busy);
    memcpy(rates, &said, sizeof said);
    return fake_setting("FAKE_MIG", 0) ? NVML_ERROR_NOT_SUPPORTED : code;
}

/* A driver that has the newer function but does not support it for this chip. */
nvml_code nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
    (void)device;
    (void)reasons;
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

nvml_code nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *reasons)
{
    unsigned value = 0;
    const nvml_code code = give(device, "FAKE_THROTTLE", NVML_IDLE, &value);
    *reasons = value;
    return code;
}
#endif
