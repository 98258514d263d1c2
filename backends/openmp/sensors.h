/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.h - reads the processors' clocks, temperature, energy and load from the system's files.
 */
#ifndef ISOMER_OPENMP_SENSORS_H
#define ISOMER_OPENMP_SENSORS_H

#include <isomer/device.h>

#define CPU_SENSORS_TRIED                                                                          \
    "/proc/stat, /proc/cpuinfo, /sys/devices/system/cpu, /sys/class/hwmon, /sys/class/thermal, "   \
    "/sys/class/powercap"

enum { CPU_ZONES_MAX = 32 }; /* counters of energy */

/* The counters at the last reading. All are 0 before the first. */
typedef struct cpu_sensors {
    int has_times, has_throttles, has_energy;
    int64_t busy, total;           /* processor time, in the system's ticks */
    int64_t throttles;             /* how often a core or a package was too hot */
    int64_t energy[CPU_ZONES_MAX]; /* microjoules; a counter wraps at its maximum */
    double wrapped[CPU_ZONES_MAX]; /* what the wraps have taken away, in microjoules */
    double joules;                 /* the sum, and the time when it was read */
    int64_t energy_at;             /* in nanoseconds; 0: never */
} cpu_sensors;

/* Reads the files below `root` ("" for the machine's own) and fills the fields that they report.
 * Load, power and throttling are measured since the last reading, so the first reading does not
 * report them. Returns 0 if none of the files can be read. Calls with one cpu_sensors must not
 * overlap. */
int cpu_sensors_read(const char *root, cpu_sensors *last, iso_telemetry *out);

#endif
