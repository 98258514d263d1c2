/* SPDX-License-Identifier: Apache-2.0 */
/* google_write.c - results in the form of Google Benchmark's JSON, for the dashboards, gates and
 * scripts that take it. A round is a repetition. */
#include "bench/ops/ops.h"
#include "bench/record/record.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the context ----------------------------------------------------------------------------- */

/* Their files say "+00:00" where ours say "Z". */
static void set_date(json_t *context, const char *time)
{
    size_t length = strlen(time);
    bool utc = length > 0 && time[length - 1] == 'Z';
    char *text =
        record_format("%.*s%s", (int)(utc ? length - 1 : length), time, utc ? "+00:00" : "");
    tool_set_text(context, "date", text);
    free(text);
}

static double processor_mhz(const json_t *root)
{
    const json_t *device;
    size_t at;
    json_array_foreach(json_object_get(root, "devices"), at, device)
    {
        double mhz = record_number(device, "clock_mhz");
        if (strcmp(record_text(device, "type"), "CPU") == 0 && mhz > 0) {
            return mhz;
        }
    }
    return 0;
}

/* Other texts of a context are free: each device has one, under its spec. */
static void set_devices(json_t *context, const json_t *root)
{
    static const char *const members[] = {"name", "driver", "runtime"};
    const json_t *device;
    size_t at;
    json_array_foreach(json_object_get(root, "devices"), at, device)
    {
        char text[1024] = "";
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            tool_join(text, sizeof text, ", ", record_text(device, members[i]));
        }
        tool_set_text(context, record_text(device, "spec"), text);
    }
}

static json_t *context_of(const json_t *root)
{
    const json_t *run = json_object_get(root, "run");
    const char *program = json_string_value(json_array_get(json_object_get(run, "arguments"), 0));
    const char *governor = record_text(run, "host.governor"),
               *type = record_text(run, "build.type");
    double processors = record_number(run, "host.processors"),
           load = record_number(run, "host.load");
    json_t *context = json_object(), *loads = json_array();
    set_date(context, record_text(run, "time"));
    tool_set_text(context, "host_name", record_text(run, "host.name"));
    tool_set_text(context, "executable", program ? program : "isomer");
    tool_set_int(context, "num_cpus", processors > 0 ? (int64_t)processors : 0);
    tool_set_int(context, "mhz_per_cpu", (int64_t)processor_mhz(root));
    tool_set_bool(context, "cpu_scaling_enabled",
                  governor[0] != '\0' && strcmp(governor, "performance") != 0);
    json_object_set_new(context, "caches", json_array());
    if (isfinite(load)) {
        json_array_append_new(loads, json_real(load));
    }
    json_object_set_new(context, "load_avg", loads);
    tool_set_text(context, "library_version", record_text(run, "version"));
    tool_set_text(context, "library_build_type", strcmp(type, "Debug") == 0 ? "debug" : "release");
    tool_set_int(context, "json_schema_version", 1);
    tool_set_text(context, "isomer_commit", record_text(run, "build.commit"));
    set_devices(context, root);
    return context;
}

/* ---- the benchmarks -------------------------------------------------------------------------- */

/* What the rows of one result have in common. */
typedef struct family {
    char *name;
    json_int_t index, member;
    int32_t rounds;
    const json_t *result;
} family;

static json_t *new_row(const family *f, const char *suffix, const char *type)
{
    json_t *row = json_object();
    char *name = record_format("%s%s", f->name, suffix);
    tool_set_text(row, "name", name);
    tool_set_int(row, "family_index", f->index);
    tool_set_int(row, "per_family_instance_index", f->member);
    tool_set_text(row, "run_name", f->name);
    tool_set_text(row, "run_type", type);
    tool_set_int(row, "repetitions", f->rounds);
    free(name);
    return row;
}

/* Isomer measures no processor time, and `cpu_time` may not be missing: it repeats `real_time`. */
static void set_times(json_t *row, int64_t iterations, double time)
{
    tool_set_int(row, "iterations", iterations);
    json_object_set_new(row, "real_time", json_real(time));
    json_object_set_new(row, "cpu_time", json_real(time));
    tool_set_text(row, "time_unit", "ns");
}

/* The rates of a result, and what one call has of each. */
static const struct rate {
    const char *name, *ours, *work[2];
} rates[] = {
    {"bytes_per_second", "rates.gbps", {"work.bytes_read", "work.bytes_written"}},
    {"flops_per_second", "rates.gflops", {"work.flops", NULL}},
};
enum { RATES = sizeof rates / sizeof rates[0] };

/* The amount that the result has of a rate in one call; 0: it is not rated so. */
static double work_of(const json_t *result, const struct rate *rate)
{
    double sum = 0;
    for (int i = 0; i < 2 && rate->work[i] && json_is_object(record_at(result, rate->ours)); i++) {
        sum += record_number(result, rate->work[i]);
    }
    return isfinite(sum) ? sum : 0;
}

static void set_label(json_t *row, const json_t *result)
{
    const char *library = record_text(result, "library");
    if (library[0] != '\0') {
        tool_set_text(row, "label", library);
    }
}

static void add_rounds(json_t *list, const family *f, const double *x)
{
    const json_t *samples = record_at(f->result, "times.samples"), *round;
    int64_t calls = (int64_t)record_number(f->result, "times.calls");
    json_int_t at = 0;
    size_t i;
    json_array_foreach(samples, i, round)
    {
        int64_t count = (int64_t)json_array_size(round);
        if (count == 0) {
            continue;
        }
        json_t *row = new_row(f, "", "iteration");
        tool_set_int(row, "repetition_index", at);
        tool_set_int(row, "threads", 1);
        set_times(row, count * calls, x[at]);
        for (int r = 0; r < RATES; r++) {
            double work = work_of(f->result, &rates[r]);
            if (work > 0) {
                tool_set_number(row, rates[r].name, work / x[at] * 1e9);
            }
        }
        set_label(row, f->result);
        json_array_append_new(list, row);
        at++;
    }
}

/* A statistic of the times, and the same one of each rate. */
static void add_aggregates(json_t *list, const family *f, const double *x)
{
    static const struct {
        const char *name, *unit;
        double (*of)(const double *x, int32_t n);
        bool share; /* of the mean */
    } kinds[] = {{"mean", "time", stats_mean, false},
                 {"median", "time", stats_median, false},
                 {"stddev", "time", stats_deviation, false},
                 {"cv", "percentage", stats_deviation, true}};
    double *y = tool_alloc((size_t)f->rounds, sizeof *y, "the rounds");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && f->rounds > 1; k++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "_%s", kinds[k].name);
        json_t *row = new_row(f, suffix, "aggregate");
        double share = kinds[k].share ? stats_mean(x, f->rounds) : 1;
        tool_set_int(row, "threads", 1);
        tool_set_text(row, "aggregate_name", kinds[k].name);
        tool_set_text(row, "aggregate_unit", kinds[k].unit);
        set_times(row, f->rounds, kinds[k].of(x, f->rounds) / share);
        for (int r = 0; r < RATES; r++) {
            double work = work_of(f->result, &rates[r]);
            for (int32_t i = 0; i < f->rounds; i++) {
                y[i] = work / x[i] * 1e9;
            }
            if (work > 0) {
                share = kinds[k].share ? stats_mean(y, f->rounds) : 1;
                tool_set_number(row, rates[r].name, kinds[k].of(y, f->rounds) / share);
            }
        }
        set_label(row, f->result);
        json_array_append_new(list, row);
    }
    free(y);
}

static void add_error(json_t *list, family *f)
{
    f->rounds = 1;
    json_t *row = new_row(f, "", "iteration");
    tool_set_int(row, "repetition_index", 0);
    tool_set_int(row, "threads", 1);
    tool_set_bool(row, "error_occurred", true);
    tool_set_text(row, "error_message", record_text(f->result, "reason"));
    set_times(row, 0, 0);
    json_array_append_new(list, row);
}

/* Sets the family's numbers: results that differ only in size are one family. `seen` has for each
 * family an array of its index and the number of its members. */
static void place(family *f, json_t *seen)
{
    static const char *const members[] = {"op",   "kind", "variant", "dtype", "layout",
                                          "math", "fill", "cache",   "device"};
    json_t *key = json_array();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value = json_object_get(f->result, members[i]);
        json_array_append(key, value ? value : json_null());
    }
    char *text = record_need(json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS));
    json_t *known = json_object_get(seen, text);
    if (!known) {
        known = json_pack("[I, I]", (json_int_t)json_object_size(seen), (json_int_t)0);
        json_object_set_new(seen, text, known);
    }
    f->index = json_integer_value(json_array_get(known, 0));
    f->member = json_integer_value(json_array_get(known, 1));
    json_array_set_new(known, 1, json_integer(f->member + 1));
    json_decref(key);
    free(text);
}

/* The name is the case and the device. A second library of the same device is named too, without
 * its version, which would make another benchmark of each version. */
static char *name_of(const json_t *result, json_t *names)
{
    const char *library = record_text(result, "library");
    char *name = record_format("%s/%s", record_text(result, "id"), record_text(result, "device"));
    if (json_object_get(names, name)) {
        char *longer = record_format("%s/%.*s", name, (int)strcspn(library, " "), library);
        free(name);
        name = longer;
    }
    json_object_set_new(names, name, json_true());
    return name;
}

json_t *record_google(const json_t *root)
{
    json_t *list = json_array(), *seen = json_object(), *names = json_object();
    const json_t *result;
    size_t i;
    json_array_foreach(json_object_get(root, "results"), i, result)
    {
        const char *status = record_text(result, "status");
        bool ok = strcmp(status, bench_status_name(BENCH_OK)) == 0;
        /* Their compare.py would take a row that was not measured for one that takes no time. */
        if (!ok && strcmp(status, bench_status_name(BENCH_FAILED)) != 0 &&
            strcmp(status, bench_status_name(BENCH_ERROR)) != 0) {
            continue;
        }
        family f = {.name = name_of(result, names), .result = result};
        place(&f, seen);
        if (ok) {
            double *x = record_rounds(result, &f.rounds);
            add_rounds(list, &f, x);
            add_aggregates(list, &f, x);
            free(x);
        } else {
            add_error(list, &f);
        }
        free(f.name);
    }
    json_decref(seen);
    json_decref(names);
    return json_pack("{s:o, s:o}", "context", context_of(root), "benchmarks", list);
}
