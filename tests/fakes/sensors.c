/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.c - the CPU backend's sensors over made-up trees of files: each field, fields that are
 * reported only from the second reading on, and fields that are missing with their file. */
#include "backends/openmp/sensors.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[256];
static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Writes a file of the tree and creates the folders above it. */
static void put(const char *path, const char *text)
{
    char full[512];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(full);
        exit(1);
    }
}

static int drop_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void drop(const char *path)
{
    char full[512];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    (void)nftw(full, drop_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Starting values, as the core sets them. */
static int read_now(cpu_sensors *last, iso_telemetry *out)
{
    *out = (iso_telemetry){.size = (uint32_t)sizeof *out,
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
    return cpu_sensors_read(root, last, out);
}

static int near(double is, double wanted)
{
    return fabs(is - wanted) < 1e-9 * (1 + fabs(wanted));
}

static void nothing(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    EXPECT(!read_now(&last, &said));
    EXPECT(said.clock_mhz == -1 && said.clock_max_mhz == -1 && said.throttle == -1);
    EXPECT(said.temperature_celsius == -1 && said.power_watts == -1 && said.busy_percent == -1);
    EXPECT(said.source[0] == '\0');
}

static void clocks(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    put("/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.122\n\nprocessor\t: 1\n"
                         "cpu MHz\t\t: 2400.500\n");
    EXPECT(read_now(&last, &said));
    EXPECT(said.clock_mhz == 2498 && said.clock_max_mhz == -1);
    EXPECT(strcmp(said.source, "/proc, /sys") == 0);
    /* cpu2 is not online: it has no current frequency. */
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3500000\n");
    put("/sys/devices/system/cpu/cpu2/cpufreq/cpuinfo_max_freq", "3000000\n");
    put("/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "9000000\n");
    EXPECT(read_now(&last, &said));
    EXPECT(said.clock_mhz == 1500 && said.clock_max_mhz == 3500);
    drop("/proc/cpuinfo");
    drop("/sys/devices");
}

static void heat(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    put("/sys/class/thermal/thermal_zone0/type", "acpitz\n");
    put("/sys/class/thermal/thermal_zone0/temp", "99000\n");
    EXPECT(!read_now(&last, &said) && said.temperature_celsius == -1);
    put("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    put("/sys/class/thermal/thermal_zone1/temp", "51500\n");
    EXPECT(read_now(&last, &said) && near(said.temperature_celsius, 51.5));
    /* A disk's chip is ignored, a core is not the package, and of two packages the hotter counts.
     */
    put("/sys/class/hwmon/hwmon0/name", "nvme\n");
    put("/sys/class/hwmon/hwmon0/temp1_input", "88000\n");
    for (int package = 0; package < 2; package++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", package + 1);
        put(path, "coretemp\n");
        (void)snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_label", package + 1);
        put(path, package ? "Package id 1\n" : "Package id 0\n");
        (void)snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_input", package + 1);
        put(path, package ? "63000\n" : "61000\n");
        (void)snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp2_label", package + 1);
        put(path, "Core 0\n");
        (void)snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp2_input", package + 1);
        put(path, "77000\n");
    }
    EXPECT(read_now(&last, &said) && near(said.temperature_celsius, 63));
    drop("/sys/class/hwmon");
    put("/sys/class/hwmon/hwmon0/name", "k10temp\n");
    put("/sys/class/hwmon/hwmon0/temp1_input", "45250\n");
    EXPECT(read_now(&last, &said) && near(said.temperature_celsius, 45.25));
    drop("/sys/class");
}

static void load(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    put("/proc/stat", "cpu  100 10 20 1000 50 1 2 3 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    EXPECT(read_now(&last, &said) && said.busy_percent == -1);
    /* 40 of 100 ticks, of which another guest used 4. */
    put("/proc/stat", "cpu  120 12 28 1050 60 3 6 7 9 9\n");
    EXPECT(read_now(&last, &said) && near(said.busy_percent, 40));
    EXPECT(read_now(&last, &said) && said.busy_percent == -1); /* no time has passed */
    put("/proc/stat", "cpu  220 12 28 1050 60 3 6 7 9 9\n");
    EXPECT(read_now(&last, &said) && near(said.busy_percent, 100));
    put("/proc/stat", "nonsense\n");
    EXPECT(!read_now(&last, &said) && said.busy_percent == -1);
    drop("/proc/stat");
}

static void throttling(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n");
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "0\n");
    EXPECT(read_now(&last, &said) && said.throttle == -1);
    EXPECT(read_now(&last, &said) && said.throttle == 0);
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "1\n");
    EXPECT(read_now(&last, &said) && said.throttle == ISO_THROTTLE_THERMAL);
    EXPECT(read_now(&last, &said) && said.throttle == 0);
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "2\n");
    EXPECT(read_now(&last, &said) && said.throttle == ISO_THROTTLE_THERMAL);
    drop("/sys/devices");
}

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Two packages; subdomains and zones that are not packages do not count. The real clock is used, so
 * the power is known only within bounds. */
static void power(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "9000000\n");
    put("/sys/class/powercap/intel-rapl:0:0/name", "core\n");
    put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n");
    put("/sys/class/powercap/intel-rapl:1/name", "package-1\n");
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "1000000\n");
    put("/sys/class/powercap/intel-rapl:2/name", "psys\n");
    put("/sys/class/powercap/intel-rapl:2/energy_uj", "1\n");
    struct timespec from, to;
    EXPECT(read_now(&last, &said) && said.power_watts == -1);
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"); /* 2 J: the counter wrapped */
    put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "900000000\n");
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "4000000\n"); /* 3 J */
    put("/sys/class/powercap/intel-rapl:2/energy_uj", "900000000\n");
    pause_ms(50);
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    EXPECT(read_now(&last, &said));
    const double least =
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    EXPECT(said.power_watts > 0 && said.power_watts <= 5 / least * 1.000001);
    EXPECT(said.power_watts > 5 / (least + 1)); /* one second of slack for a busy machine */
    /* One package cannot be read: the sum would be wrong. */
    drop("/sys/class/powercap/intel-rapl:1/energy_uj");
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "");
    EXPECT(read_now(&last, &said) && said.power_watts == -1);
    drop("/sys/class");
}

static int unknown(const iso_telemetry *said, const char *reason)
{
    return said->energy_joules == -1 && said->energy_scope[0] == '\0' &&
           strstr(said->energy_reason, reason);
}

/* Adds packages and memory, through a wrap; other domains do not count. */
static void energy_of_packages(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    (void)read_now(&last, &said);
    EXPECT(unknown(&said, "shows no energy counter"));
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "262143000000\n");
    EXPECT(read_now(&last, &said) && near(said.energy_joules, 262143));
    EXPECT(strcmp(said.energy_scope, "1 package") == 0 && said.energy_reason[0] == '\0');
    put("/sys/class/powercap/intel-rapl:0:0/name", "core\n");
    put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "5000000\n");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"); /* wrapped */
    EXPECT(read_now(&last, &said) && near(said.energy_joules, 262144.32885));
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "500000\n"); /* and again */
    EXPECT(read_now(&last, &said) && near(said.energy_joules, 524287.1577));
    put("/sys/class/powercap/intel-rapl:0:1/name", "dram\n");
    put("/sys/class/powercap/intel-rapl:0:1/energy_uj", "2000000\n");
    put("/sys/class/powercap/intel-rapl:1/name", "package-1\n");
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "3000000\n");
    cpu_sensors other = {0};
    EXPECT(read_now(&other, &said) && near(said.energy_joules, 5.5));
    EXPECT(strcmp(said.energy_scope, "2 packages with their memory") == 0);
    /* A wrap of a counter whose range is not known. */
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n");
    EXPECT(read_now(&other, &said) &&
           unknown(&said, "intel-rapl:1/max_energy_range_uj cannot be read"));
    drop("/sys/class");
}

/* Counters that belong to root, as most systems have them. If this process is root, it reads them
 * as another user. */
static void energy_of_root(void)
{
    const int is_root = geteuid() == 0;
    cpu_sensors last = {0};
    iso_telemetry said;
    char full[512];
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
    (void)snprintf(full, sizeof full, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    EXPECT(chmod(full, is_root ? 0400 : 0) == 0);
    for (char *at = full + strlen(root); is_root && at; at = strchr(at + 1, '/')) {
        *at = '\0';
        EXPECT(chmod(full, 0755) == 0);
        *at = '/';
    }
    EXPECT(!is_root || seteuid(65534) == 0);
    (void)read_now(&last, &said);
    EXPECT(faccessat(AT_FDCWD, root, X_OK, AT_EACCESS) != 0 ||
           unknown(&said, "intel-rapl:0/energy_uj is readable by root only"));
    EXPECT(!is_root || seteuid(0) == 0);
    drop("/sys/class");
}

static void energy_of_amd(void)
{
    cpu_sensors last = {0};
    iso_telemetry said;
    put("/sys/class/hwmon/hwmon0/name", "amd_energy\n");
    put("/sys/class/hwmon/hwmon0/energy1_label", "Ecore000\n");
    put("/sys/class/hwmon/hwmon0/energy1_input", "4000000\n");
    put("/sys/class/hwmon/hwmon0/energy9_label", "Esocket0\n");
    put("/sys/class/hwmon/hwmon0/energy9_input", "7500000\n");
    EXPECT(read_now(&last, &said) && near(said.energy_joules, 7.5));
    EXPECT(strcmp(said.energy_scope, "1 package") == 0);
    put("/sys/class/hwmon/hwmon0/energy9_input", "9000000\n");
    EXPECT(read_now(&last, &said) && near(said.energy_joules, 9) && said.power_watts > 0);
    drop("/sys/class");
}

int main(void)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(root, sizeof root, "%s/isomer-sensors.XXXXXX", folder ? folder : "/tmp");
    if (!mkdtemp(root)) {
        perror(root);
        return 1;
    }
    nothing();
    clocks();
    heat();
    load();
    throttling();
    power();
    energy_of_packages();
    energy_of_root();
    energy_of_amd();
    drop("");
    printf("%d failures\n", failures);
    return failures != 0;
}
