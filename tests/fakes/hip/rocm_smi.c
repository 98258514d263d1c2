/* SPDX-License-Identifier: Apache-2.0 */
/* rocm_smi.c - a fake of librocm_smi64.so, whose readings a test sets. It lists the devices in the
 * opposite order to HIP. With FAKE_FEW it is an old version: only the required functions, and the
 * clocks in the old struct. */
#include "tests/fakes/engine.h"

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <stdio.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_RSMI_SYMBOLS(DECLARE, DECLARE)

#define CODE(name, number) name = (number),
enum { HIP_RSMI_ERRORS(CODE) };

static bool initialised;

/* The answer to any query about a device, before its details are checked. */
static rsmi_code ask(uint32_t device)
{
    return !initialised                              ? RSMI_STATUS_INIT_ERROR
           : device >= (uint32_t)fake_device_count() ? RSMI_STATUS_INVALID_ARGS
                                                     : RSMI_DONE;
}

rsmi_code rsmi_init(uint64_t flags)
{
    const rsmi_code code = (rsmi_code)fake_setting("FAKE_SENSORS_INIT", RSMI_DONE);
    initialised = code == RSMI_DONE;
    return flags ? RSMI_STATUS_INVALID_ARGS : code;
}

rsmi_code rsmi_num_monitor_devices(uint32_t *count)
{
    *count = (uint32_t)fake_device_count();
    return ask(0);
}

static uint32_t place_of(uint32_t device)
{
    return (uint32_t)fake_device_count() - 1 - device;
}

rsmi_code rsmi_dev_pci_id_get(uint32_t device, uint64_t *place)
{
    *place = (uint64_t)1 << 28 | place_of(device) << 3; /* includes the number of a partition */
    return ask(device);
}

rsmi_code rsmi_dev_gpu_clk_freq_get(uint32_t device, rsmi_enum clock, rsmi_clocks *clocks)
{
    const bool memory = clock == RSMI_CLOCK_MEMORY;
    const uint64_t hertz[] = {500000000, (uint64_t)fake_setting("FAKE_CLOCK_MAX", 1980) * 1000000,
                              (uint64_t)(memory ? fake_setting("FAKE_MEMORY_CLOCK", 2600)
                                                : fake_setting("FAKE_CLOCK", 1500)) *
                                  1000000};
    const rsmi_code code = (rsmi_code)fake_setting("FAKE_SENSORS_ERROR", RSMI_DONE);
    if (code || (clock != RSMI_CLOCK_COMPUTE && !memory)) {
        return code ? code : RSMI_STATUS_INVALID_ARGS;
    }
#if defined(FAKE_FEW)
    clocks->old.count = 3;
    clocks->old.current = 2;
    memcpy(clocks->old.hertz, hertz, sizeof hertz);
#else
    clocks->new.deep_sleep = 1;
    clocks->new.count = 3;
    clocks->new.current = 2;
    memcpy(clocks->new.hertz, hertz, sizeof hertz);
#endif
    return ask(device);
}

#if !defined(FAKE_FEW)
/* The number of a setting, or the status that the query must return instead. */
static rsmi_code give(uint32_t device, const char *name, int64_t otherwise, int64_t *value)
{
    const rsmi_code code = (rsmi_code)fake_setting("FAKE_SENSORS_ERROR", RSMI_DONE);
    *value = fake_setting(name, otherwise);
    return code ? code : ask(device);
}

rsmi_code rsmi_status_string(rsmi_code code, const char **text)
{
    *text = code ? "an error of the test's fake sensors" : "no error";
    return RSMI_DONE;
}

rsmi_code rsmi_version_get(rsmi_release *version)
{
    *version = (rsmi_release){7, 0, 99, "fake"};
    return RSMI_DONE;
}

/* A chip that reports its power only in the older way. */
rsmi_code rsmi_dev_power_get(uint32_t device, uint64_t *microwatts, rsmi_enum *kind)
{
    *microwatts = 1;
    *kind = 0xffffffff;
    return ask(device) ? ask(device) : RSMI_STATUS_NOT_SUPPORTED;
}

rsmi_code rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *microwatts)
{
    int64_t milliwatts = 0;
    const rsmi_code power = (rsmi_code)fake_setting("FAKE_SENSORS_POWER", RSMI_DONE);
    const rsmi_code code = give(device, "FAKE_POWER", 123500, &milliwatts);
    *microwatts = (uint64_t)milliwatts * 1000;
    return sensor ? RSMI_STATUS_INVALID_ARGS : power ? power : code;
}

rsmi_code rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t *microwatts)
{
    int64_t milliwatts = 0;
    const rsmi_code code = give(device, "FAKE_POWER_CAP", 700000, &milliwatts);
    *microwatts = (uint64_t)milliwatts * 1000;
    return sensor ? RSMI_STATUS_INVALID_ARGS : code;
}

/* An old version has no argument for the unit: it writes the time there. */
rsmi_code rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *microjoules,
                                    uint64_t *nanoseconds)
{
    const rsmi_code code = (rsmi_code)fake_setting("FAKE_SENSORS_ENERGY", RSMI_DONE);
    const uint64_t time = 1;
    *count = (uint64_t)fake_energy() * 80;
    if (fake_setting("FAKE_ENERGY_OLD", 0)) {
        memcpy(microjoules, &time, sizeof time);
    } else {
        *microjoules = 12.5F;
        *nanoseconds = time;
    }
    return code ? code : ask(device);
}

rsmi_code rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, rsmi_enum metric,
                                   int64_t *millidegrees)
{
    int64_t degrees = 0;
    const rsmi_code code = give(device, "FAKE_TEMPERATURE", 40, &degrees);
    *millidegrees = (degrees + place_of(device)) * 1000;
    return sensor == RSMI_SENSOR_JUNCTION && metric == RSMI_TEMPERATURE_NOW
               ? code
               : RSMI_STATUS_NOT_SUPPORTED;
}

rsmi_code rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent)
{
    int64_t value = 0;
    const rsmi_code code = give(device, "FAKE_BUSY", 7, &value);
    *percent = (uint32_t)value;
    return code;
}

rsmi_code rsmi_dev_ecc_status_get(uint32_t device, rsmi_block block, rsmi_enum *state)
{
    int64_t value = 0;
    const rsmi_code code = give(device, "FAKE_ECC", 1, &value);
    *state = value ? RSMI_ECC_ENABLED : RSMI_ECC_DISABLED;
    return block == RSMI_BLOCK_MEMORY ? code : RSMI_STATUS_INVALID_ARGS;
}

/* The library's struct for a table of content FAKE_METRICS: fields that the table lacks are all
 * ones. FAKE_METRICS + 100 is another format. From content 6 on FAKE_THROTTLE's bits 0 and 32 to 35
 * are counted. */
rsmi_code rsmi_dev_gpu_metrics_info_get(uint32_t device, rsmi_metrics *metrics)
{
    static uint64_t cycles = 1000;
    const int64_t content = fake_setting("FAKE_METRICS", 0);
    const uint64_t bits = (uint64_t)fake_setting("FAKE_THROTTLE", 0);
    uint64_t *const held[] = {&metrics->now.held_by_power, &metrics->now.held_by_heat,
                              &metrics->now.held_by_board, &metrics->now.held_by_regulators,
                              &metrics->now.held_by_memory};
    if (content == 0) {
        return RSMI_STATUS_NOT_SUPPORTED;
    }
    memset(metrics, 0xff, sizeof metrics->now);
    metrics->now.format = (uint8_t)(1 + content / 100);
    metrics->now.content = (uint8_t)(content % 100);
    metrics->now.throttle = content <= 2 ? (uint32_t)bits : 0;
    if (content == 3) {
        metrics->now.throttle_kinds = bits;
    }
    cycles++;
    for (int i = 0; i < 5 && content >= 6; i++) {
        *held[i] = bits >> (i ? 31 + i : 0) & 1 ? cycles : 7;
    }
    return ask(device);
}

rsmi_code rsmi_dev_compute_partition_get(uint32_t device, char *text, uint32_t length)
{
    (void)snprintf(text, length, "SPX");
    return ask(device);
}

rsmi_code rsmi_dev_memory_partition_get(uint32_t device, char *text, uint32_t length)
{
    (void)snprintf(text, length, "NPS1");
    return ask(device);
}
#endif
