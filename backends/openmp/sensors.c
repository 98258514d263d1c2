/* SPDX-License-Identifier: Apache-2.0 */
/* sensors.c - reads the processors' clocks, temperature, energy and load from the system's files.
 */
#include "backends/openmp/sensors.h"
#include "backends/loader/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The room for a path; longer ones are ignored. It is small, because a small stack must hold
 * several. */
enum { PATH_ROOM = 1024 };

/* Readings above these are implausible and ignored. */
enum { MHZ_MOST = 1000000, MILLIDEGREES_MOST = 1000000 };

/* ---- files ----------------------------------------------------------------------------------- */

static int read_text(const char *path, char *text, size_t capacity)
{
    if (!files_read(path, text, capacity)) {
        return 0;
    }
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

/* Returns the whole number, 0 or more, that a text begins with; -1 if there is none. Numbers that
 * no counter can reach also give -1, so that sums and differences of numbers do not overflow. */
static int64_t parse_number(const char *text, char **end)
{
    const int64_t most = INT64_C(1) << 53;
    const long long value = strtoll(text, end, 10);
    return *end == text || value < 0 || value > most ? -1 : value;
}

/* Reads a file that holds one number; -1 if it does not. */
static int64_t read_number(const char *path)
{
    char text[64];
    char *end = NULL;
    return read_text(path, text, sizeof text) ? parse_number(text, &end) : -1;
}

/* Writes the path of the file `name` in the folder of `path`. */
static void beside(const char *path, const char *name, char *out)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (snprintf(out, PATH_ROOM, "%.*s/%s", (int)length, path, name) >= PATH_ROOM) {
        out[0] = '\0';
    }
}

static void find(const char *root, const char *pattern, glob_t *found)
{
    char path[PATH_ROOM];
    memset(found, 0, sizeof *found);
    if (snprintf(path, sizeof path, "%s%s", root, pattern) < (int)sizeof path &&
        glob(path, 0, NULL, found) != 0) {
        found->gl_pathc = 0;
    }
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Returns the mean clock, in MHz, of the processors that are online. An offline one has no file. */
static double mean_frequency(const char *root)
{
    glob_t found;
    double sum = 0;
    int count = 0;
    find(root, "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq", &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const int64_t khz = read_number(found.gl_pathv[i]);
        if (khz > 0) {
            sum += (double)khz / 1e3;
            count++;
        }
    }
    globfree(&found);
    return count > 0 ? sum / count : -1;
}

static double mean_of_cpuinfo(const char *root)
{
    char path[PATH_ROOM];
    char line[256];
    double sum = 0;
    int count = 0;
    (void)snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    files_lines lines;
    files_lines_open(&lines, path);
    while (files_lines_next(&lines, line, sizeof line)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "cpu MHz", 7) == 0) {
            /* Not strtod, which depends on the program's locale. */
            char *end = NULL;
            const int64_t mhz = parse_number(colon + 1, &end);
            sum += mhz > 0 ? (double)mhz : 0;
            count += mhz > 0;
        }
    }
    return count > 0 ? sum / count : -1;
}

static void read_clocks(const char *root, iso_telemetry *out)
{
    glob_t found;
    double mhz = mean_frequency(root);
    int64_t highest = -1;
    if (mhz < 0) {
        mhz = mean_of_cpuinfo(root);
    }
    find(root, "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq", &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const int64_t khz = read_number(found.gl_pathv[i]);
        highest = khz > highest ? khz : highest;
    }
    globfree(&found);
    out->clock_mhz = mhz > 0 && mhz < MHZ_MOST ? (int32_t)(mhz + 0.5) : -1;
    out->clock_max_mhz =
        highest > 0 && highest < MHZ_MOST * INT64_C(1000) ? (int32_t)(highest / 1000) : -1;
}

/* ---- temperature ----------------------------------------------------------------------------- */

static int is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(text, *list) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns the highest of a chip's readings that describe a whole package; -1 if there are none. If
 * the chip has no labels, its first reading is used. */
static int64_t temperature_of_chip(const char *name_file)
{
    char path[PATH_ROOM];
    char pattern[PATH_ROOM];
    char label[64];
    int64_t highest = -1;
    glob_t found;
    beside(name_file, "temp*_label", pattern);
    find("", pattern, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *file = found.gl_pathv[i];
        if (read_text(file, label, sizeof label) &&
            (strncmp(label, "Package", 7) == 0 || strcmp(label, "Tdie") == 0 ||
             strcmp(label, "Tctl") == 0) &&
            snprintf(path, sizeof path, "%.*sinput", (int)(strlen(file) - strlen("label")), file) <
                (int)sizeof path) {
            const int64_t value = read_number(path);
            highest = value > highest ? value : highest;
        }
    }
    if (found.gl_pathc == 0) {
        beside(name_file, "temp1_input", path);
        highest = read_number(path);
    }
    globfree(&found);
    return highest;
}

static void read_temperature(const char *root, iso_telemetry *out)
{
    static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", NULL};
    static const char *const zones[] = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", NULL};
    char text[64];
    char path[PATH_ROOM];
    int64_t highest = -1;
    glob_t found;
    find(root, "/sys/class/hwmon/hwmon*/name", &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (read_text(found.gl_pathv[i], text, sizeof text) && is_one_of(text, chips)) {
            const int64_t value = temperature_of_chip(found.gl_pathv[i]);
            highest = value > highest ? value : highest;
        }
    }
    globfree(&found);
    find(highest < 0 ? root : "/nowhere", "/sys/class/thermal/thermal_zone*/type", &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (read_text(found.gl_pathv[i], text, sizeof text) && is_one_of(text, zones)) {
            beside(found.gl_pathv[i], "temp", path);
            const int64_t value = read_number(path);
            highest = value > highest ? value : highest;
        }
    }
    globfree(&found);
    out->temperature_celsius =
        highest < 0 || highest > MILLIDEGREES_MOST ? -1 : (double)highest / 1e3;
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Computes the load since the last reading. Time that another guest of the same host used counts as
 * busy, because this system could not use it. */
static int read_times(const char *root, cpu_sensors *last, iso_telemetry *out)
{
    enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 };
    char path[PATH_ROOM];
    char line[512];
    int64_t total = 0;
    int64_t idle = 0;
    (void)snprintf(path, sizeof path, "%s/proc/stat", root);
    if (!read_text(path, line, sizeof line) || strncmp(line, "cpu ", 4) != 0) {
        return 0;
    }
    const char *at = line + 4;
    for (int i = 0; i < FIELDS; i++) {
        char *end = NULL;
        const int64_t ticks = parse_number(at, &end);
        if (ticks < 0) {
            return 0;
        }
        total += ticks;
        idle += i == IDLE || i == IOWAIT ? ticks : 0;
        at = end;
    }
    const int64_t span = total - last->total;
    const int64_t busy = total - idle;
    if (last->has_times && span <= 0) {
        return 1; /* too soon: keep the last reading as the reference */
    }
    if (last->has_times) {
        const double percent = 100.0 * (double)(busy - last->busy) / (double)span;
        /* The system's count of idle time may step back a little. */
        out->busy_percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    }
    last->has_times = 1;
    last->total = total;
    last->busy = busy;
    return 1;
}

static void read_throttles(const char *root, cpu_sensors *last, iso_telemetry *out)
{
    static const char *const counters[] = {
        "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count",
        "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/package_throttle_count"};
    int64_t sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        glob_t found;
        find(root, counters[i], &found);
        for (size_t j = 0; j < found.gl_pathc; j++) {
            const int64_t value = read_number(found.gl_pathv[j]);
            sum += value > 0 ? value : 0;
            count += value >= 0;
        }
        globfree(&found);
    }
    if (count > 0 && last->has_throttles) {
        out->throttle = sum != last->throttles ? ISO_THROTTLE_THERMAL : 0;
    }
    last->has_throttles = count > 0;
    last->throttles = sum;
}

static int64_t now(void)
{
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- energy ---------------------------------------------------------------------------------- */

/* The sum of the counters that one reading found. */
typedef struct energy {
    int packages, memories; /* domains of each kind */
    int zones;              /* their number */
    int known;              /* every one could be read */
    double joules;
} energy;

static void not_known(energy *sum, const char *path, iso_telemetry *out)
{
    const int closed = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 && errno == EACCES;
    sum->known = 0;
    (void)snprintf(out->energy_reason, sizeof out->energy_reason, "%.200s %s", path,
                   closed ? "is readable by root only" : "cannot be read");
}

/* Adds a counter of microjoules. `range`: the file with the value at which it wraps to 0; "" if it
 * does not wrap. */
static void add_counter(const char *path, const char *range, cpu_sensors *last, energy *sum,
                        iso_telemetry *out)
{
    const int64_t value = read_number(path);
    const int zone = sum->zones++;
    if (value < 0) {
        not_known(sum, path, out);
        return;
    }
    if (value < last->energy[zone] && range[0] != '\0') {
        const int64_t most = read_number(range);
        if (most < 0) {
            not_known(sum, range, out);
            return;
        }
        last->wrapped[zone] += (double)most;
    }
    last->energy[zone] = value;
    sum->joules += ((double)value + last->wrapped[zone]) / 1e6;
}

/* Memory has a domain of its own, which the package's does not include. Cores and the integrated
 * GPU are parts of the package; `psys` is the whole platform. */
static void add_rapl(const char *root, cpu_sensors *last, energy *sum, iso_telemetry *out)
{
    glob_t found;
    char text[64];
    char path[PATH_ROOM];
    find(root, "/sys/class/powercap/intel-rapl:*/energy_uj", &found);
    for (size_t i = 0; i < found.gl_pathc && sum->zones < CPU_ZONES_MAX; i++) {
        beside(found.gl_pathv[i], "name", path);
        if (!read_text(path, text, sizeof text)) {
            continue;
        }
        const int package = strncmp(text, "package", 7) == 0;
        const int memory = strcmp(text, "dram") == 0;
        if (package || memory) {
            sum->packages += package;
            sum->memories += memory;
            beside(found.gl_pathv[i], "max_energy_range_uj", path);
            add_counter(found.gl_pathv[i], path, last, sum, out);
        }
    }
    globfree(&found);
}

/* AMD's older driver shows the same counters among the hardware monitors. It follows the wraps. */
static void add_amd_energy(const char *root, cpu_sensors *last, energy *sum, iso_telemetry *out)
{
    glob_t found;
    char text[64];
    char path[PATH_ROOM];
    find(root, "/sys/class/hwmon/hwmon*/energy*_label", &found);
    for (size_t i = 0; i < found.gl_pathc && sum->zones < CPU_ZONES_MAX; i++) {
        const char *file = found.gl_pathv[i];
        beside(file, "name", path);
        if (!read_text(path, text, sizeof text) || strcmp(text, "amd_energy") != 0 ||
            !read_text(file, text, sizeof text) || strncmp(text, "Esocket", 7) != 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%.*sinput", (int)(strlen(file) - strlen("label")), file);
        sum->packages++;
        add_counter(path, "", last, sum, out);
    }
    globfree(&found);
}

/* Reports the energy of all packages together, or none if one of them is unknown: many systems show
 * the counters only to root. The mean power since the last reading follows from it. */
static void read_energy(const char *root, cpu_sensors *last, iso_telemetry *out)
{
    energy sum = {.known = 1};
    add_rapl(root, last, &sum, out);
    if (sum.zones == 0) {
        add_amd_energy(root, last, &sum, out);
    }
    if (sum.zones == 0) {
        (void)snprintf(out->energy_reason, sizeof out->energy_reason,
                       "this system shows no energy counter of the processors (neither "
                       "/sys/class/powercap/intel-rapl nor amd_energy)");
    }
    last->has_energy = sum.zones > 0;
    if (sum.zones == 0 || !sum.known) {
        last->energy_at = 0;
        return;
    }
    const int64_t time = now();
    if (last->energy_at > 0 && time > last->energy_at && sum.joules >= last->joules) {
        out->power_watts = (sum.joules - last->joules) * 1e9 / (double)(time - last->energy_at);
    }
    last->joules = sum.joules;
    last->energy_at = time;
    out->energy_joules = sum.joules;
    (void)snprintf(out->energy_scope, sizeof out->energy_scope, "%d package%s%s", sum.packages,
                   sum.packages == 1 ? "" : "s",
                   sum.memories == 0   ? ""
                   : sum.packages == 1 ? " with its memory"
                                       : " with their memory");
}

int cpu_sensors_read(const char *root, cpu_sensors *last, iso_telemetry *out)
{
    read_clocks(root, out);
    read_temperature(root, out);
    read_throttles(root, last, out);
    read_energy(root, last, out);
    const int any = read_times(root, last, out) || last->has_throttles || last->has_energy ||
                    out->clock_mhz >= 0 || out->temperature_celsius >= 0;
    if (any) {
        (void)snprintf(out->source, sizeof out->source, "/proc, /sys");
    }
    return any;
}
