/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - figures that need several entries: speed-ups, shares of roofs, and the roofline. */
#include "bench/labs/internal.h"

#include "bench/record/record.h"

#include <math.h>
#include <string.h>

static bool is(const json_t *entry, const char *member, const char *text)
{
    return strcmp(record_text(entry, member), text) == 0;
}

/* The entry of the same case: of another device (NULL: any), or of another type (NULL: the same).
 */
static json_t *like(json_t *entries, const json_t *of, const char *backend, const char *dtype)
{
    size_t at;
    json_t *entry;
    json_array_foreach(entries, at, entry)
    {
        json_t *mine = json_deep_copy(json_object_get(entry, "case"));
        json_t *theirs = json_deep_copy(json_object_get(of, "case"));
        if (dtype) {
            tool_set_text(theirs, "dtype", dtype);
        }
        bool same = entry != of && record_lab_ok(entry) &&
                    is(entry, "row", record_text(of, "row")) &&
                    is(entry, "by", record_text(of, "by")) && json_equal(mine, theirs) &&
                    (backend ? strncmp(record_text(entry, "device"), backend, strlen(backend)) == 0
                             : is(entry, "device", record_text(of, "device")));
        json_decref(mine);
        json_decref(theirs);
        if (same) {
            return entry;
        }
    }
    return NULL;
}

/* Adds how much faster `entry` is than `other` by this figure. */
static void add_ratio(json_t *entry, const json_t *other, const char *figure, const char *name)
{
    double mine = record_lab_figure(entry, figure);
    double theirs = other ? record_lab_figure(other, figure) : NAN;
    if (mine > 0 && theirs > 0) {
        lab_figure(entry, name, "", theirs / mine);
    }
}

static double roof_of(const json_t *device, const char *name)
{
    size_t at;
    const json_t *roof;
    json_array_foreach(json_object_get(device, "roofs"), at, roof)
    {
        if (is(roof, "name", name)) {
            return 1e9 * record_number(roof, "value"); /* GB/s, GFLOP/s */
        }
    }
    return NAN;
}

static const json_t *device_of(const json_t *devices, const json_t *entry)
{
    size_t at;
    const json_t *device;
    json_array_foreach(devices, at, device)
    {
        if (is(device, "spec", record_text(entry, "device"))) {
            return device;
        }
    }
    return NULL;
}

/* The seconds of one call. */
static double seconds_of(const json_t *entry)
{
    static const char *const names[] = {"kernel", "time", "step", "total"};
    double seconds = NAN;
    for (int i = 0; i < 4 && isnan(seconds); i++) {
        seconds = record_lab_figure(entry, names[i]);
    }
    return seconds;
}

/* The time that the nearer roof allows, as a share of the time taken; and which roof that is. */
static double share_of(const json_t *entry, const json_t *device, const char **limit)
{
    bool wide = is(entry, "case.dtype", "f64");
    double flops = record_number(entry, "flops"), bytes = record_number(entry, "bytes");
    double memory = roof_of(device, "triad"), fma = roof_of(device, wide ? "fma f64" : "fma f32");
    double by_bytes = bytes / memory, by_flops = flops > 0 ? flops / fma : 0;
    *limit = by_flops > by_bytes ? "fma" : "memory";
    double least = fmax(by_flops, by_bytes), seconds = seconds_of(entry);
    return seconds > 0 && bytes > 0 && memory > 0 ? least / seconds : NAN;
}

static void add_shares(json_t *entries, const json_t *devices)
{
    size_t at;
    json_t *entry;
    json_array_foreach(entries, at, entry)
    {
        const char *limit, *row = record_text(entry, "row");
        bool listed = strcmp(row, "E1") == 0 || strcmp(row, "E4") == 0;
        double share = share_of(entry, device_of(devices, entry), &limit);
        if (listed && isfinite(share)) {
            lab_figure(entry, "of-peak", "%", 100.0 * share);
        }
    }
}

/* ---- E5 -------------------------------------------------------------------------------------- */

/* The fastest entry of a row on a device, of its largest work. */
static json_t *best_of(json_t *entries, const char *row, const char *device)
{
    size_t at;
    json_t *entry, *best = NULL;
    json_array_foreach(entries, at, entry)
    {
        double bytes = record_number(entry, "bytes");
        if (!is(entry, "row", row) || !is(entry, "device", device) || !is(entry, "by", "isomer") ||
            !record_lab_ok(entry) || !(bytes > 0) || !(seconds_of(entry) > 0) ||
            is(entry, "case.what", "TF32")) { /* other units compute it */
            continue;
        }
        double most = best ? record_number(best, "bytes") : 0;
        if (bytes > most || (bytes == most && seconds_of(entry) < seconds_of(best))) {
            best = entry;
        }
    }
    return best;
}

static void add_roofline(json_t *entries, const json_t *device)
{
    const char *spec = record_text(device, "spec"), *limit;
    lab l = {.row = "E5", .entries = entries};
    snprintf(l.info.spec, sizeof l.info.spec, "%s", spec);
    json_t *entry = lab_entry(&l, "every row with flops and bytes", 0);
    int placed = 0;
    for (int i = 0; i < RECORD_LABS; i++) {
        json_t *row = best_of(entries, record_labs[i].id, spec);
        double share = row ? share_of(row, device, &limit) : NAN;
        if (!isfinite(share)) {
            continue;
        }
        double flops = record_number(row, "flops"), bytes = record_number(row, "bytes");
        lab_line(entry, "%s %-22s %9.3g FLOP/B %9.3g GFLOP/s %9.3g GB/s %6.1f %% of %s%s",
                 record_labs[i].id, record_text(row, "case.what"), flops / bytes,
                 1e-9 * flops / seconds_of(row), 1e-9 * bytes / seconds_of(row), 100.0 * share,
                 limit, share > 1.05 ? ": its arrays fit a cache" : "");
        if (flops > 0) {
            lab_curve_point(entry, "roofline", "FLOP/B", "FLOP/s", flops / bytes,
                            flops / seconds_of(row), record_labs[i].id);
        }
        placed++;
    }
    if (placed == 0) {
        lab_skip(entry, "no row with flops and bytes ran, or the roofs were not measured "
                        "(--no-roofs)");
        return;
    }
    (void)lab_checked(entry, true, "of verified rows, against roofs of this run");
    lab_figure(entry, "rows", "", placed);
}

void lab_finish(json_t *entries, const json_t *devices, bool roofline)
{
    size_t at;
    json_t *entry;
    json_array_foreach(entries, at, entry)
    {
        if (!record_lab_ok(entry) || !is(entry, "by", "isomer")) {
            continue;
        }
        if (!is(entry, "device", "openmp:0")) {
            const json_t *cpu = like(entries, entry, "openmp", NULL);
            add_ratio(entry, cpu, "kernel", "over-cpu");
            add_ratio(entry, cpu, "total", "over-cpu-total");
        }
        if (is(entry, "case.dtype", "f32")) {
            add_ratio(entry, like(entries, entry, NULL, "f64"), "kernel", "f32-over-f64");
        }
        if (is(entry, "row", "B1") && is(entry, "case.what", "TF32")) {
            json_t *strict = json_deep_copy(entry);
            json_object_set_new(json_object_get(strict, "case"), "what", json_string("strict"));
            add_ratio(entry, like(entries, strict, NULL, "f32"), "time", "over-strict");
            json_decref(strict);
        }
    }
    add_shares(entries, devices);
    const json_t *device;
    json_array_foreach(devices, at, device)
    {
        if (roofline) {
            add_roofline(entries, device);
        }
    }
}
