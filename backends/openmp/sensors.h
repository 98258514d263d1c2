/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.h - what the system's files say of the processors' clocks, heat and load. */
#ifndef ISOMER_OPENMP_SENSORS_H
#define ISOMER_OPENMP_SENSORS_H

#include <isomer/device.h>

#define CPU_SENSORS_TRIED                                                                          \
    "/proc/stat, /proc/cpuinfo, /sys/devices/system/cpu, /sys/class/hwmon, /sys/class/thermal, "   \
    "/sys/class/powercap"

enum { CPU_PACKAGES_MAX = 16 };

/* Counters as they were at the last reading. Zeros before the first. */
typedef struct cpu_sensors {
    int has_times, has_throttles, has_energy;
    int64_t busy, total;                 /* processor time, in the system's ticks */
    int64_t throttles;                   /* how often a core or a package was too hot */
    int64_t energy[CPU_PACKAGES_MAX];    /* microjoules; starts anew at its end */
    int64_t energy_at[CPU_PACKAGES_MAX]; /* nanoseconds: when it was read; 0: it was not */
} cpu_sensors;

/* Reads the files below `root` ("" for the machine's own) and fills what they tell. What is a
 * difference (load, power, throttling) is since the last reading, and is not told at the first.
 * 0: none of them can be read. One reading of a cpu_sensors at a time. */
int cpu_sensors_read(const char *root, cpu_sensors *last, iso_telemetry *out);

#endif
