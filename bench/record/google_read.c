/* SPDX-License-Identifier: Apache-2.0 */
/*
 * google_read.c - turns Google Benchmark's JSON into a results document in memory. A benchmark is a
 * case of the operation "other", a repetition is a round, and the real time is the time.
 */
#include "bench/ops/ops.h"
#include "bench/record/record.h"
#include "bench/stats/stats.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool record_is_google(const json_t *root)
{
    return json_object_get(root, "context") && json_object_get(root, "benchmarks") &&
           !json_object_get(root, "schema");
}

bool record_google_numbers(char *text, size_t length)
{
    static const char *const words[] = {"-Infinity", "Infinity", "-NaN", " NaN"};
    bool quoted = false, changed = false;
    for (size_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            quoted = !quoted;
        }
        for (size_t w = 0; w < sizeof words / sizeof words[0] && !quoted; w++) {
            size_t size = strlen(words[w]);
            if (length - i >= size && memcmp(text + i, words[w], size) == 0) {
                memset(text + i, ' ', size);
                memcpy(text + i, "null", 4);
                changed = true;
            }
        }
    }
    return changed;
}

/* ---- rows of a benchmark --------------------------------------------------------------------- */

/* The statistic that a row has ("median"); "": it is a repetition. Files of old versions say it
 * only in the name. */
static const char *statistic(const json_t *row)
{
    static const char *const known[] = {"mean", "median", "stddev", "cv", "BigO", "RMS", NULL};
    const char *name = strrchr(record_text(row, "name"), '_');
    if (strcmp(record_text(row, "run_type"), "aggregate") == 0) {
        return record_text(row, "aggregate_name");
    }
    bool old = !json_object_get(row, "run_type") && name && tool_find(known, name + 1) >= 0;
    return old ? name + 1 : "";
}

/* The rows of each benchmark, by its name. */
static json_t *by_name(const json_t *rows)
{
    json_t *names = json_object(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *run = record_text(row, "run_name"), *name = record_text(row, "name");
        const char *which = statistic(row);
        size_t cut = which[0] != '\0' && strlen(name) > strlen(which) ? strlen(which) + 1 : 0;
        char *key = run[0] != '\0' ? record_format("%s", run)
                                   : record_format("%.*s", (int)(strlen(name) - cut), name);
        json_t *list = json_object_get(names, key);
        if (!list) {
            list = json_array();
            json_object_set_new(names, key, list);
        }
        json_array_append(list, row);
        free(key);
    }
    return names;
}

/* The rows that have the rounds: the repetitions, or else the median or the mean as one round. */
static json_t *rounds_of(const json_t *rows)
{
    static const char *const order[] = {"", "median", "mean"};
    json_t *found = json_array(), *row;
    size_t i;
    for (size_t k = 0; k < sizeof order / sizeof order[0] && json_array_size(found) == 0; k++) {
        json_array_foreach(rows, i, row)
        {
            if (strcmp(statistic(row), order[k]) == 0) {
                json_array_append(found, row);
            }
        }
    }
    return found;
}

static double nanoseconds(const json_t *row)
{
    const char *unit = record_text(row, "time_unit");
    double factor = strcmp(unit, "s") == 0    ? 1e9
                    : strcmp(unit, "ms") == 0 ? 1e6
                    : strcmp(unit, "us") == 0 ? 1e3
                                              : 1;
    return factor * record_number(row, "real_time");
}

/* Why the rounds give no time; NULL: they do. */
static const char *problem_of(const json_t *rounds, bench_status *status)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rounds, i, row)
    {
        bool error = json_is_true(json_object_get(row, "error_occurred"));
        bool skipped = json_is_true(json_object_get(row, "skipped"));
        const char *why = record_text(row, error ? "error_message" : "skip_message");
        double time = nanoseconds(row);
        *status = skipped && !error ? BENCH_UNSUPPORTED : BENCH_ERROR;
        if (error || skipped) {
            return why[0] != '\0' ? why : "no reason is given";
        }
        if (!(time > 0) || isinf(time)) {
            return "its real_time is not above 0";
        }
    }
    *status = BENCH_OK;
    return NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

/* A median of n numbers with its interval, which one number does not have. */
static json_t *span(const char *name, const double *x, int32_t n)
{
    stats_interval i = stats_median_interval(x, n, 0.95);
    double low = n > 1 ? i.low : NAN, high = n > 1 ? i.high : NAN;
    return json_pack("{s:o, s:o, s:o, s:o}", name, tool_json_number(i.median), "low",
                     tool_json_number(low), "high", tool_json_number(high), "confidence",
                     tool_json_number(n > 1 ? i.confidence : NAN));
}

static json_t *times_of(const json_t *rounds)
{
    int32_t n = 0;
    json_t *samples = json_array(), *row;
    double *x = tool_alloc(json_array_size(rounds), sizeof *x, "the rounds");
    double calls = record_number(json_array_get(rounds, 0), "iterations");
    size_t i;
    json_array_foreach(rounds, i, row)
    {
        x[n] = nanoseconds(row);
        json_array_append_new(samples, json_pack("[f]", x[n]));
        n++;
    }
    json_t *times = span("median", x, n);
    tool_set_text(times, "clock", "host");
    tool_set_number(times, "min", stats_min(x, n));
    tool_set_number(times, "max", stats_max(x, n));
    tool_set_number(times, "mean", stats_mean(x, n));
    tool_set_number(times, "deviation", stats_deviation(x, n));
    tool_set_bool(times, "converged", false);
    tool_set_int(times, "calls", calls >= 1 && calls < 1e15 ? (int64_t)calls : 1);
    json_object_set_new(times, "samples", samples);
    free(x);
    return times;
}

/* A rate in units of 1e9 per second; null if a round lacks it. */
static json_t *rate_of(const json_t *rounds, const char *name, const char *other)
{
    int32_t n = 0;
    double *x = tool_alloc(json_array_size(rounds), sizeof *x, "the rounds");
    const json_t *row;
    size_t i;
    bool all = true;
    json_array_foreach(rounds, i, row)
    {
        double value = record_number(row, name);
        x[n] = (isfinite(value) ? value : record_number(row, other)) / 1e9;
        all = all && x[n] > 0;
        n++;
    }
    json_t *rate = all ? span("value", x, n) : json_null();
    free(x);
    return rate;
}

/* Splits "copy/4096/real_time" at its last number. Returns the number; 0: there is none. */
static double split_name(const char *name, char **kind)
{
    const char *from = NULL, *to = NULL;
    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        size_t digits = strspn(at + 1, "0123456789");
        if (digits > 0 && digits < 16 && (at[1 + digits] == '/' || at[1 + digits] == '\0')) {
            from = at;
            to = at + 1 + digits;
        }
    }
    *kind =
        from ? record_format("%.*s%s", (int)(from - name), name, to) : record_format("%s", name);
    return from ? strtod(from + 1, NULL) : 0;
}

static json_t *result_of(const char *name, const json_t *rounds, const char *device)
{
    bench_status status;
    const char *problem = problem_of(rounds, &status);
    const char *label = record_text(json_array_get(rounds, 0), "label");
    char *kind;
    double size = split_name(name, &kind);
    json_t *result =
        json_pack("{s:s, s:s, s:s, s:s, s:n, s:{}, s:f, s:{}}", "id", name, "op", "other", "kind",
                  kind, "variant", "", "dtype", "shape", "size", size, "layout");
    if (size > 0) {
        tool_set_int(json_object_get(result, "shape"), "elements", (int64_t)size);
    }
    json_object_update_new(result, json_pack("{s:s, s:s, s:s, s:s, s:s}", "math", "", "fill", "",
                                             "cache", "hot", "backend", "other", "device", device));
    json_object_set_new(result, "library", json_null());
    json_object_set_new(result, "kernel", tool_json_text(label));
    tool_set_text(result, "status", bench_status_name(status));
    json_object_set_new(result, "reason", problem ? json_string(problem) : json_null());
    json_object_set_new(
        result, "verified",
        json_pack("{s:s, s:n, s:n, s:i}", "method", "none", "error", "bound", "checks", 0));
    json_object_set_new(
        result, "work",
        json_pack("{s:i, s:i, s:i}", "flops", 0, "bytes_read", 0, "bytes_written", 0));
    json_object_set_new(result, "times", problem ? json_null() : times_of(rounds));
    json_object_set_new(result, "rates",
                        problem ? json_null()
                                : json_pack("{s:o, s:o}", "gbps",
                                            rate_of(rounds, "bytes_per_second", ""), "gflops",
                                            rate_of(rounds, "flops_per_second", "FLOPS")));
    json_object_update_new(result,
                           json_pack("{s:n, s:n, s:n, s:[]}", "roof", "parts", "clocks", "flags"));
    free(kind);
    return result;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* "2026-11-22T22:44:30+01:00" in UTC; a date of another form stays. */
static void set_time(json_t *run, const char *date)
{
    struct tm parts = {0};
    char text[32], sign = '+';
    int hours = 0, minutes = 0;
    const char *rest = strptime(date, "%Y-%m-%dT%H:%M:%S", &parts);
    bool zone = rest && sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) == 3;
    time_t seconds = rest ? timegm(&parts) : 0;
    if (zone) {
        seconds -= (sign == '-' ? -60 : 60) * (60 * hours + minutes);
    }
    if (rest && gmtime_r(&seconds, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0) {
        date = text;
    }
    json_object_set_new(run, "time", json_string(date));
}

static json_t *run_of(const json_t *context)
{
    const char *version = record_text(context, "library_version");
    const char *program = record_text(context, "executable");
    bool ours = json_object_get(context, "isomer_commit") != NULL && strcmp(program, "isomer") == 0;
    char *by = record_format("%s%s%s%s", ours ? "isomer" : "Google Benchmark",
                             version[0] != '\0' ? " " : "", version, ours ? ", exported" : "");
    json_t *run = json_object(), *host = json_object();
    tool_set_text(run, "command", "bench");
    json_object_set_new(run, "version", json_string(""));
    tool_set_text(run, "program", by);
    set_time(run, record_text(context, "date"));
    json_object_set_new(run, "arguments",
                        program[0] != '\0' ? json_pack("[s]", program) : json_array());
    json_object_set_new(host, "name", tool_json_text(record_text(context, "host_name")));
    tool_set_number(host, "processors", record_number(context, "num_cpus"));
    tool_set_number(host, "load",
                    json_number_value(json_array_get(json_object_get(context, "load_avg"), 0)));
    json_object_set_new(run, "host", host);
    json_object_set_new(run, "flags", json_pack("[s]", "foreign"));
    free(by);
    return run;
}

json_t *record_from_google(const json_t *root)
{
    static const char device[] = "other:0";
    const json_t *context = json_object_get(root, "context");
    json_t *results = json_array(), *names = by_name(json_object_get(root, "benchmarks")), *rows;
    const char *name;
    json_object_foreach(names, name, rows)
    {
        json_t *rounds = rounds_of(rows);
        if (json_array_size(rounds) > 0) { /* a fit of complexity has no rounds */
            json_array_append_new(results, result_of(name, rounds, device));
        }
        json_decref(rounds);
    }
    json_decref(names);
    double mhz = record_number(context, "mhz_per_cpu");
    json_t *about = json_pack("{s:s, s:s, s:o, s:s, s:f, s:[]}", "spec", device, "backend", "other",
                              "name", tool_json_text(record_text(context, "host_name")), "type",
                              "CPU", "clock_mhz", isfinite(mhz) ? mhz : 0.0, "roofs");
    return json_pack("{s:s, s:o, s:[o], s:o}", "schema", RECORD_SCHEMA, "run", run_of(context),
                     "devices", about, "results", results);
}
