/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.c - clocks, power, temperature and partitions of a device, from ROCm SMI.
 * HIP_VISIBLE_DEVICES changes HIP's order of devices, but not ROCm SMI's. So a device is looked up
 * in ROCm SMI by its bus address. */
#include "backends/hip/library.h"

#include <stdio.h>
#include <string.h>

/* ---- the library ----------------------------------------------------------------------------- */

static struct LOADER_TABLE(HIP_RSMI_SYMBOLS) smi;

static loader_library library = {
    .title = "ROCm SMI",
    .since = HIP_OLDEST,
    .where = &hip_where,
    .names = {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
              "librocm_smi64.so.4", "librocm_smi64.so.3", "librocm_smi64.so.2",
              "librocm_smi64.so.1"},
    LOADER_FUNCTIONS(smi, HIP_RSMI_SYMBOLS),
};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static rsmi_code began; /* the result of rsmi_init */
static char label[ISO_NAME_MAX];

static void begin(void)
{
    rsmi_release version = {0, 0, 0, NULL};
    if (!loader_open(&library)) {
        return;
    }
    began = smi.rsmi_init(0);
    (void)snprintf(label, sizeof label, "ROCm SMI");
    if (began == RSMI_DONE && smi.rsmi_version_get && smi.rsmi_version_get(&version) == RSMI_DONE) {
        (void)snprintf(label, sizeof label, "ROCm SMI %u.%u.%u", version.major, version.minor,
                       version.patch);
    }
}

/* ---- its errors ------------------------------------------------------------------------------ */

#define SMI_ENUMERATOR(name, number) name = (number),
enum { HIP_RSMI_ERRORS(SMI_ENUMERATOR) };

static const char *name_of(rsmi_code code)
{
#define SMI_NAME(name, number) {name, #name},
    static const struct {
        rsmi_code code;
        const char *name;
    } names[] = {HIP_RSMI_ERRORS(SMI_NAME)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "an unnamed error";
}

static iso_status fail(rsmi_code code, const char *call)
{
    const char *text = NULL;
    if (!smi.rsmi_status_string || smi.rsmi_status_string(code, &text) != RSMI_DONE) {
        text = NULL;
    }
    return hip_host->fail(ISO_BACKEND, "%.512s: %s gives %s (%u)%s%s", library.path, call,
                          name_of(code), code, text ? ": " : "", text ? text : "");
}

/* Whether the call returned a value. It is not a failure if this device does not have the sensor or
 * this user may not read it. *status keeps the first failure. */
static bool answered(rsmi_code code, const char *call, iso_status *status)
{
    switch (code) {
    case RSMI_DONE:
        return true;
    case RSMI_STATUS_INVALID_ARGS:
    case RSMI_STATUS_NOT_SUPPORTED:
    case RSMI_STATUS_FILE_ERROR:
    case RSMI_STATUS_PERMISSION:
    case RSMI_STATUS_NOT_YET_IMPLEMENTED:
    case RSMI_STATUS_NOT_FOUND:
    case RSMI_STATUS_NO_DATA:
    case RSMI_STATUS_UNEXPECTED_DATA:
        return false;
    default:
        if (*status == ISO_OK) {
            *status = fail(code, call);
        }
        return false;
    }
}

#define ASK(status, name, ...)                                                                     \
    (smi.name && !*(status) && answered(smi.name(__VA_ARGS__), #name, (status)))

/* ---- finding the device ---------------------------------------------------------------------- */

/* Finds the device with the same bus address. Partitions of one device share its address and its
 * sensors. */
static iso_status find(const hip_device *device, uint32_t *at)
{
    const uint64_t domain_bus_device = 0xffffffff0000fff8;
    uint64_t place = 0;
    uint32_t count = 0;
    iso_status status = hip_place(device->index, &place);
    if (status) {
        return status;
    }
    const rsmi_code code = smi.rsmi_num_monitor_devices(&count);
    if (code != RSMI_DONE) {
        return fail(code, "rsmi_num_monitor_devices");
    }
    for (*at = 0; *at < count; (*at)++) {
        uint64_t here = 0;
        if (smi.rsmi_dev_pci_id_get(*at, &here) == RSMI_DONE &&
            (here & domain_bus_device) == place) {
            return ISO_OK;
        }
    }
    return hip_host->fail(
        ISO_UNSUPPORTED,
        "%.512s has %u devices, but none has this device's bus address, %04x:%02x:%02x",
        library.path, count, (unsigned)(place >> 32), (unsigned)(place >> 8 & 0xff),
        (unsigned)(place >> 3 & 0x1f));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Gets the current and the highest frequency of the list. Changes nothing if the list is not
 * plausible. */
static void pick(const rsmi_clocks *clocks, int32_t *now, int32_t *highest)
{
    const bool newer = clocks->new.deep_sleep <= 1 && clocks->new.count > 0;
    const uint32_t count = newer ? clocks->new.count : clocks->old.count;
    const uint32_t current = newer ? clocks->new.current : clocks->old.current;
    const uint64_t *hertz = newer ? clocks->new.hertz : clocks->old.hertz;
    uint64_t most = 0;
    if (count > (newer ? RSMI_FREQUENCIES_6 : RSMI_FREQUENCIES_5) || current >= count ||
        hertz[current] == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        most = hertz[i] > most ? hertz[i] : most;
    }
    *now = (int32_t)(hertz[current] / 1000000);
    *highest = (int32_t)(most / 1000000);
}

static void read_clocks(uint32_t at, iso_status *status, iso_telemetry *out)
{
    rsmi_clocks clocks;
    int32_t unused = -1;
    memset(&clocks, 0, sizeof clocks);
    if (ASK(status, rsmi_dev_gpu_clk_freq_get, at, RSMI_CLOCK_COMPUTE, &clocks)) {
        pick(&clocks, &out->clock_mhz, &out->clock_max_mhz);
    }
    memset(&clocks, 0, sizeof clocks);
    if (ASK(status, rsmi_dev_gpu_clk_freq_get, at, RSMI_CLOCK_MEMORY, &clocks)) {
        pick(&clocks, &out->memory_clock_mhz, &unused);
    }
}

static void read_power(uint32_t at, iso_status *status, iso_telemetry *out)
{
    uint64_t microwatts = 0;
    int64_t millidegrees = 0;
    rsmi_enum kind = 0;
    /* Chips report power in two ways. The newer call supports both, so it is tried first. */
    if (ASK(status, rsmi_dev_power_get, at, &microwatts, &kind) ||
        ASK(status, rsmi_dev_power_ave_get, at, 0, &microwatts)) {
        out->power_watts = (double)microwatts / 1e6;
    }
    if (ASK(status, rsmi_dev_power_cap_get, at, 0, &microwatts)) {
        out->power_cap_watts = (double)microwatts / 1e6;
    }
    if (ASK(status, rsmi_dev_temp_metric_get, at, RSMI_SENSOR_JUNCTION, RSMI_TEMPERATURE_NOW,
            &millidegrees) ||
        ASK(status, rsmi_dev_temp_metric_get, at, RSMI_SENSOR_EDGE, RSMI_TEMPERATURE_NOW,
            &millidegrees)) {
        out->temperature_celsius = (double)millidegrees / 1e3;
    }
}

/* The counter covers the device that ROCm SMI lists. It counts in units of a few microjoules. A
 * library from before the unit was an argument writes the 64-bit time in its place, and leaves the
 * last argument as it is. */
static void read_energy(uint32_t at, iso_status *status, iso_telemetry *out)
{
    union {
        float microjoules;
        uint64_t nanoseconds;
    } unit = {.nanoseconds = 0};
    uint64_t count = UINT64_MAX;
    uint64_t time = UINT64_MAX;
    if (!smi.rsmi_dev_energy_count_get) {
        (void)snprintf(out->energy_reason, sizeof out->energy_reason,
                       "%s has no rsmi_dev_energy_count_get", label);
    } else if (ASK(status, rsmi_dev_energy_count_get, at, &count, &unit.microjoules, &time) &&
               count != UINT64_MAX && time != UINT64_MAX && unit.microjoules > 0) {
        out->energy_joules = (double)count * (double)unit.microjoules / 1e6;
        (void)snprintf(out->energy_scope, sizeof out->energy_scope, "device");
    } else {
        (void)snprintf(out->energy_reason, sizeof out->energy_reason,
                       "rsmi_dev_energy_count_get reports no energy of this device");
    }
}

static void read_state(uint32_t at, iso_status *status, iso_telemetry *out)
{
    char compute[32] = "";
    char memory[32] = "";
    uint32_t percent = 0;
    rsmi_enum state = 0;
    if (ASK(status, rsmi_dev_busy_percent_get, at, &percent)) {
        out->busy_percent = percent;
    }
    /* ECC is on in every state except these two: in all others it counts errors. */
    if (ASK(status, rsmi_dev_ecc_status_get, at, RSMI_BLOCK_MEMORY, &state) &&
        state != RSMI_ECC_NONE && state <= RSMI_ECC_ENABLED) {
        out->ecc = state != RSMI_ECC_DISABLED;
    }
    (void)ASK(status, rsmi_dev_compute_partition_get, at, compute, (uint32_t)sizeof compute);
    (void)ASK(status, rsmi_dev_memory_partition_get, at, memory, (uint32_t)sizeof memory);
    (void)snprintf(out->partition, sizeof out->partition, "%.31s%s%.31s", compute,
                   compute[0] && memory[0] ? ", " : "", memory);
}

/* ---- throttling ---------------------------------------------------------------------------------
 * Each chip has a table of metrics. How the table reports throttling depends on the version of its
 * content. Up to version 2, the table has bits whose meaning differs between chips. In version 3
 * (MI200, Radeon RX), the driver translates them into bits that mean the same on all chips. From
 * version 6 on (MI300), there are counters. Versions 4 and 5 do not report throttling.
 */

static int32_t kinds_of(uint64_t bits)
{
    const uint64_t power = 0xff;
    const uint64_t heat = (uint64_t)0xffff << 32;
    int32_t kinds = bits & ~(power | heat) ? ISO_THROTTLE_OTHER : 0;
    kinds |= bits & power ? ISO_THROTTLE_POWER : 0;
    return kinds | (bits & heat ? ISO_THROTTLE_THERMAL : 0);
}

/* Returns the causes whose counters have changed since the device's last reading, in any thread.
 * Returns -1 at the first reading, because there is nothing to compare with. */
static int32_t kinds_since(hip_held *last, const rsmi_metrics_7 *now)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const uint64_t heat[] = {now->held_by_board, now->held_by_heat, now->held_by_regulators,
                             now->held_by_memory};
    hip_held held = {.known = now->held_by_power != UINT64_MAX, .power = now->held_by_power};
    int32_t kinds = -1;
    for (int i = 0; i < 4; i++) {
        held.known = held.known && heat[i] != UINT64_MAX;
        held.heat += heat[i];
    }
    (void)pthread_mutex_lock(&lock);
    if (held.known && last->known) {
        kinds = held.power != last->power ? ISO_THROTTLE_POWER : 0;
        kinds |= held.heat != last->heat ? ISO_THROTTLE_THERMAL : 0;
    }
    *last = held;
    (void)pthread_mutex_unlock(&lock);
    return kinds;
}

static void read_throttle(hip_device *device, uint32_t at, iso_telemetry *out)
{
    if (!smi.rsmi_dev_gpu_metrics_info_get) {
        return;
    }
    rsmi_metrics *metrics = hip_host->alloc((int64_t)sizeof *metrics);
    if (!metrics) {
        return;
    }
    const rsmi_metrics_7 *now = &metrics->now;
    memset(metrics, 0xff, sizeof *metrics);
    /* Errors are ignored, because an older library does not know the table of a newer chip. */
    if (smi.rsmi_dev_gpu_metrics_info_get(at, metrics) != RSMI_DONE || now->format != 1) {
        hip_host->free(metrics);
        return;
    }
    if (now->content >= 6) {
        out->throttle = kinds_since(&device->held, now);
    } else if (now->content == 3 && now->throttle_kinds != UINT64_MAX) {
        out->throttle = kinds_of(now->throttle_kinds);
    } else if (now->content <= 3 && now->throttle != UINT32_MAX) {
        out->throttle = now->throttle ? ISO_THROTTLE_OTHER : 0;
    }
    hip_host->free(metrics);
}

iso_status hip_telemetry(void *device, iso_telemetry *out)
{
    hip_device *native = ((const simt_device *)device)->native;
    uint32_t at = 0;

    (void)pthread_once(&once, begin);
    if (!library.handle) {
        return loader_fail(&library, ISO_UNSUPPORTED, "");
    }
    if (began != RSMI_DONE) {
        return fail(began, "rsmi_init");
    }
    iso_status status = find(native, &at);
    if (status) {
        return status;
    }
    read_clocks(at, &status, out);
    read_power(at, &status, out);
    read_energy(at, &status, out);
    read_state(at, &status, out);
    read_throttle(native, at, out);
    (void)snprintf(out->source, sizeof out->source, "%s", label);
    return status;
}
