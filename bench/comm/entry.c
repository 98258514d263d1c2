/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - members of "comm" of a document, their fits, and other programs' figures. */
#include "bench/comm/scale.h"

#include "bench/record/record.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 3, MOST_MIB = 64 };

json_t *scale_entry(const scale_run *run, const char *op, const char *variant, iso_dtype dtype,
                    int64_t bytes, int32_t ranks)
{
    json_t *entry = json_object();
    tool_set_text(entry, "op", op);
    tool_set_text(entry, "variant", variant);
    tool_set_text(entry, "dtype", dtype ? iso_dtype_name(dtype) : "");
    tool_set_int(entry, "bytes", bytes);
    tool_set_int(entry, "ranks", ranks);
    tool_set_bool(entry, "in_place", false);
    tool_set_text(entry, "by", "isomer");
    tool_set_text(entry, "engine", ranks_engine(run->team));
    tool_set_text(entry, "library", ranks_library(run->team));
    json_t *devices = json_array();
    for (int32_t i = 0; i < ranks; i++) {
        json_array_append(devices, json_array_get(run->devices, (size_t)i));
    }
    json_object_set_new(entry, "devices", devices);
    tool_set_text(entry, "status", bench_status_name(BENCH_OK));
    tool_set_text(entry, "reason", "");
    json_object_set_new(entry, "verified", json_null());
    json_object_set_new(entry, "times", json_null());
    tool_set_number(entry, "algbw", NAN);
    tool_set_number(entry, "busbw", NAN);
    json_array_append_new(run->entries, entry);
    return entry;
}

static void blank(json_t *entry)
{
    json_object_set_new(entry, "times", json_null());
    json_object_set_new(entry, "verified", json_null());
    tool_set_number(entry, "algbw", NAN);
    tool_set_number(entry, "busbw", NAN);
    if (json_object_get(entry, "gflops")) {
        tool_set_number(entry, "gflops", NAN);
    }
}

void scale_set_outcome(json_t *entry, const scale_outcome *outcome, const char *method)
{
    char text[33];
    tool_set_text(entry, "status", bench_status_name((bench_status)outcome->status));
    tool_set_text(entry, "reason", outcome->reason);
    if (outcome->status != BENCH_OK) {
        blank(entry);
        return;
    }
    json_t *verified = json_object();
    tool_set_text(verified, "method", method ? method : "none: it has no result");
    tool_digest_text(outcome->digest, text);
    tool_set_text(verified, "digest", method ? text : "");
    json_object_set_new(entry, "verified", verified);
}

void scale_skip(json_t *entry, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    blank(entry);
    tool_set_text(entry, "status", bench_status_name(BENCH_SKIPPED));
    tool_set_text(entry, "reason", text);
    free(text);
}

double scale_bus(const char *op, int32_t ranks)
{
    const double share = (ranks - 1.0) / ranks;
    return strcmp(op, "all_reduce") == 0 ? 2 * share
           : strcmp(op, "all_gather") == 0 || strcmp(op, "reduce_scatter") == 0 ||
                   strcmp(op, "all_to_all") == 0
               ? share
               : 1;
}

void scale_set_times(json_t *entry, const scale_times *t)
{
    const stats_interval median = stats_median_interval(t->samples, t->count, STATS_CONFIDENCE);
    json_t *times = json_object(), *samples = json_array();
    for (int32_t i = 0; i < t->count; i++) {
        json_array_append_new(samples, tool_json_number(t->samples[i]));
    }
    tool_set_text(times, "clock", t->clock);
    tool_set_number(times, "median", median.median);
    tool_set_number(times, "low", median.low);
    tool_set_number(times, "high", median.high);
    tool_set_number(times, "min", stats_min(t->samples, t->count));
    tool_set_number(times, "max", stats_max(t->samples, t->count));
    json_object_set_new(times, "samples", samples);
    tool_set_int(times, "calls", t->calls);
    tool_set_number(times, "host", t->host);
    tool_set_number(times, "alone", t->alone);
    json_object_set_new(entry, "times", times);
    const double bytes = record_number(entry, "bytes"), rate = bytes / median.median;
    const char *op = record_text(entry, "op");
    if (bytes > 0 && !record_comm_is_product(entry)) {
        tool_set_number(entry, "algbw", rate);
        tool_set_number(entry, "busbw",
                        rate * scale_bus(op, (int32_t)record_number(entry, "ranks")));
    }
}

/* ---- fits ------------------------------------------------------------------------------------ */

/* What entries have in common that differ in their size alone. */
static const char *const series_keys[] = {"op", "variant", "dtype", "ranks", "in_place",
                                          "by", "from",    "to",    NULL};

/* The line a + b x that has the least sum of squares of relative errors, and neither a latency nor
 * a time for a byte below 0. */
static void find_line(const double *x, const double *t, int count, double *a, double *b)
{
    double one = 0, ones = 0, slope = 0, both = 0, square = 0;
    for (int i = 0; i < count; i++) {
        const double u = 1 / t[i], v = x[i] / t[i];
        one += u;
        ones += u * u;
        slope += v;
        both += u * v;
        square += v * v;
    }
    const double divisor = ones * square - both * both;
    *a = (one * square - slope * both) / divisor;
    *b = (slope * ones - one * both) / divisor;
    if (!(*a >= 0)) {
        *a = 0;
        *b = slope / square;
    } else if (!(*b >= 0)) {
        *b = 0;
        *a = one / ones;
    }
}

static void fit(const json_t *entries, size_t first, json_t *fits)
{
    const json_t *head = json_array_get(entries, first), *entry;
    double x[SCALE_LIST], t[SCALE_LIST], errors[SCALE_LIST], a, b;
    int count = 0;
    for (size_t i = first; i < json_array_size(entries) && count < SCALE_LIST; i++) {
        entry = json_array_get(entries, i);
        const double bytes = record_number(entry, "bytes");
        const double time = record_number(entry, "times.median");
        if (record_comm_same(head, entry, series_keys) && bytes > 0 && time > 0) {
            x[count] = bytes;
            t[count++] = time;
        }
    }
    if (count < FEWEST) {
        return;
    }
    find_line(x, t, count, &a, &b);
    for (int i = 0; i < count; i++) {
        errors[i] = fabs((a + b * x[i]) / t[i] - 1);
    }
    json_t *object = json_object();
    for (int i = 0; series_keys[i]; i++) {
        json_t *value = json_object_get(head, series_keys[i]);
        if (value) {
            json_object_set(object, series_keys[i], value);
        }
    }
    const double factor = scale_bus(record_text(head, "op"), (int32_t)record_number(head, "ranks"));
    tool_set_text(object, "method", "relative least squares of a + b bytes");
    tool_set_int(object, "points", count);
    tool_set_number(object, "latency", a);
    tool_set_number(object, "algbw", b > 0 ? 1 / b : NAN);
    tool_set_number(object, "busbw", b > 0 ? factor / b : NAN);
    tool_set_number(object, "error", stats_median(errors, count));
    json_array_append_new(fits, object);
}

void scale_fit(const json_t *entries, json_t *fits)
{
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        bool first = !record_comm_is_product(entry);
        for (size_t j = 0; j < i && first; j++) {
            first = !record_comm_same(entry, json_array_get(entries, j), series_keys);
        }
        if (first) {
            fit(entries, i, fits);
        }
    }
}

/* ---- another program's figures --------------------------------------------------------------- */

/* The names of operations in other programs, and ours. NULL: not known. */
static const char *name_of(const char *op)
{
    static const char *const names[][2] = {{"all_reduce", "all_reduce"},
                                           {"reduce_scatter", "reduce_scatter"},
                                           {"all_gather", "all_gather"},
                                           {"broadcast", "broadcast"},
                                           {"all_to_all", "all_to_all"},
                                           {"send_receive", "send_receive"},
                                           {"send_recv", "send_receive"},
                                           {"send", "send"},
                                           {"copy", "copy"},
                                           {"peer_copy", "copy"},
                                           {"barrier", "barrier"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(op, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

static const char *fault_of(const json_t *line)
{
    static const char *const numbers[] = {"bytes", "ranks", "time_us", "algbw", "busbw"};
    if (!name_of(record_text(line, "op"))) {
        return "op";
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!(record_number(line, numbers[i]) >= 0)) {
            return numbers[i];
        }
    }
    return record_number(line, "ranks") >= 1 && record_number(line, "time_us") > 0 ? NULL : "ranks";
}

static void add_line(const json_t *line, json_t *entries)
{
    const char *mode = record_text(line, "mode"), *type = record_text(line, "dtype");
    json_t *entry = json_object(), *times = json_object();
    char *by = record_format("beside%s%s", mode[0] ? ", " : "", mode);
    tool_set_text(entry, "op", name_of(record_text(line, "op")));
    tool_set_text(entry, "variant", "");
    tool_set_text(entry, "dtype", type[0] ? type : "f32");
    tool_set_int(entry, "bytes", (int64_t)record_number(line, "bytes"));
    tool_set_int(entry, "ranks", (int64_t)record_number(line, "ranks"));
    tool_set_bool(entry, "in_place", json_is_true(json_object_get(line, "in_place")));
    tool_set_text(entry, "by", by);
    tool_set_text(entry, "engine", "");
    tool_set_text(entry, "library", "");
    json_object_set_new(entry, "devices", json_array());
    tool_set_text(entry, "status", bench_status_name(BENCH_OK));
    tool_set_text(entry, "reason", "");
    json_object_set_new(entry, "verified", json_null());
    const double median = 1e3 * record_number(line, "time_us");
    tool_set_text(times, "clock", "another program");
    tool_set_number(times, "median", median);
    tool_set_number(times, "low", NAN);
    tool_set_number(times, "high", NAN);
    tool_set_number(times, "min", median);
    tool_set_number(times, "max", median);
    json_object_set_new(times, "samples", json_array());
    tool_set_int(times, "calls", 1);
    tool_set_number(times, "host", 1e3 * record_number(line, "host_us"));
    tool_set_number(times, "alone", NAN);
    json_object_set_new(entry, "times", times);
    tool_set_number(entry, "algbw", record_number(line, "algbw"));
    tool_set_number(entry, "busbw", record_number(line, "busbw"));
    json_array_append_new(entries, entry);
    free(by);
}

int scale_beside(const char *path, json_t *entries)
{
    size_t length;
    char problem[256];
    json_error_t error;
    int code = TOOL_OK, number = 0;
    char *text = tool_read(path, MOST_MIB, &length), *rest = text, *line;
    if (!text) {
        return tool_error(TOOL_IO, "--beside %s: %s", path,
                          tool_read_problem(MOST_MIB, problem, sizeof problem));
    }
    text = tool_resize(text, length + 1, 1, "--beside");
    text[length] = '\0';
    rest = text;
    while (code == TOOL_OK && (line = strsep(&rest, "\n"))) {
        number++;
        if (line[strspn(line, " \t\r")] == '\0') {
            continue;
        }
        json_t *object = json_loads(line, 0, &error);
        const char *fault = object ? fault_of(object) : NULL;
        if (!object) {
            code = tool_error(TOOL_FILES, "--beside %s: line %d: %s", path, number, error.text);
        } else if (fault) {
            code = tool_error(TOOL_FILES, "--beside %s: line %d: its \"%s\" is missing or wrong",
                              path, number, fault);
        } else {
            add_line(object, entries);
        }
        json_decref(object);
    }
    free(text);
    return code;
}
