/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sensors.c - the CPU backend's sensors, over files of /proc and /sys with arbitrary content.
 */
#include "backends/openmp/sensors.h"
#include "tests/hostile/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", fuzz_folder(), path);
    for (char *at = full + strlen(fuzz_folder()) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *out = fopen(full, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0) {
        fuzz_fail("%s cannot be written", full);
    }
}

static void check(double value, double most)
{
    if (!isfinite(value) || (value < 0 && value != -1) || value > most) {
        fuzz_fail("a reading is %g", value);
    }
}

void fuzz_sensors(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {
        "/proc/stat",
        "/proc/cpuinfo",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
        "/sys/class/hwmon/hwmon0/name",
        "/sys/class/hwmon/hwmon0/temp1_label",
        "/sys/class/hwmon/hwmon0/temp1_input",
        "/sys/class/hwmon/hwmon0/energy1_label",
        "/sys/class/hwmon/hwmon0/energy1_input",
        "/sys/class/thermal/thermal_zone0/type",
        "/sys/class/thermal/thermal_zone0/temp",
        "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "/sys/class/powercap/intel-rapl:0/name",
        "/sys/class/powercap/intel-rapl:0/energy_uj",
        "/sys/class/powercap/intel-rapl:0/max_energy_range_uj"};
    enum { PATHS = sizeof paths / sizeof paths[0] };
    char *lines[2 * PATHS];
    int count;
    char *own = fuzz_lines(data, size, lines, 2 * PATHS, &count);
    cpu_sensors last = {0};
    /* Two readings: differences are only reported at the second. */
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < PATHS; i++) {
            put(paths[i], turn * PATHS + i < count ? lines[turn * PATHS + i] : "");
        }
        iso_telemetry out = {.size = (uint32_t)sizeof out,
                             .throttle = -1,
                             .clock_mhz = -1,
                             .clock_max_mhz = -1,
                             .memory_clock_mhz = -1,
                             .ecc = -1,
                             .power_watts = -1,
                             .power_cap_watts = -1,
                             .temperature_celsius = -1,
                             .busy_percent = -1,
                             .energy_joules = -1};
        cpu_sensors_read(fuzz_folder(), &last, &out);
        check(out.clock_mhz, 1e10);
        check(out.clock_max_mhz, 1e10);
        check(out.power_watts, 1e308);
        check(out.temperature_celsius, 1e308);
        check(out.busy_percent, 100);
        check(out.energy_joules, 1e308);
    }
    free(own);
}
