/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c - what flags mean, how grave they are, and what is said once for the whole run.
 *
 * A flag is a caution only if its reader should trust the number less. How the work was measured
 * (in a cache, bound by submission, under the power limit) is information. A number that is wrong
 * or means nothing is invalid.
 */
#include "bench/record/record.h"

#include "bench/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const record_flag record_flags[RECORD_FLAGS + 1] = {
    {"clock-wrong", RECORD_INVALID, "the device's clock and the host's contradict each other"},
    {"fake", RECORD_INVALID, "a stand-in made for tests ran it: the number means nothing"},
    {"simulated", RECORD_INVALID, "a simulator of the hardware ran it: its time means nothing"},
    {"noisy", RECORD_CAUTION, "the interval reaches over 20 % to each side (50 % if submit-bound)"},
    {"above-roof", RECORD_CAUTION, "over 103 % of its roof: the roof or the number is wrong"},
    {"overheated", RECORD_CAUTION, "heat held the device back"},
    {"checked-once", RECORD_CAUTION, "the last result was not checked: the run or device stopped"},
    {"few-rounds", RECORD_INFO, "fewer than six rounds: the interval's level is under 95 %"},
    {"power-limited", RECORD_INFO, "the device was at its power limit, as heavy work often is"},
    {"throttled", RECORD_INFO, "power or heat held the device back (files of older versions)"},
    {"unsteady-clock", RECORD_INFO, "the device's clock rate changed by more than a twentieth"},
    {"clock-disagree", RECORD_INFO, "the host waited over a tenth longer than the device worked"},
    {"submit-bound", RECORD_INFO, "submitting the calls took longer than running them"},
    {"in-cache", RECORD_INFO, "the operands are under four times the last-level cache"},
    {"ran-strict", RECORD_INFO, "TF32 was asked for and is not there: ran in full precision"},
    {"noisy-host", RECORD_CAUTION, "other work took processor time"},
    {"device-lost", RECORD_CAUTION, "a device stopped answering: its other cases are errors"},
    {"interrupted", RECORD_CAUTION, "the run was interrupted: it has what was measured until then"},
    {"foreign", RECORD_CAUTION, "another program wrote the file: isomer checked none of it"},
    {"budget", RECORD_INFO, "the budget ended before every case had its rounds"},
    {NULL, RECORD_NONE, NULL}};

/* The number of a flag in the table; the last, without a name, is for flags that are not known. */
static int place(const char *flag)
{
    int i = 0;
    while (record_flags[i].name && strcmp(record_flags[i].name, flag) != 0) {
        i++;
    }
    return i;
}

const char *record_flag_meaning(const char *flag)
{
    const char *meaning = record_flags[place(flag)].meaning;
    return meaning ? meaning : "not known to this version";
}

bool record_has_flag(const json_t *object, const char *flag)
{
    return record_lists(object, "flags", flag);
}

/* ---- levels ---------------------------------------------------------------------------------- */

double record_half_width(const json_t *result)
{
    double rounds = (double)json_array_size(record_at(result, "times.samples"));
    double width = record_number(result, "times.high") - record_number(result, "times.low");
    return rounds < 2 ? (double)NAN : width / 2 / record_number(result, "times.median");
}

double record_percent(const json_t *result)
{
    bool memory = strcmp(record_text(result, "roof.unit"), "GB/s") == 0;
    bool cached = memory && record_has_flag(result, "in-cache");
    return cached ? (double)NAN : record_number(result, "roof.percent");
}

bool record_is_noisy(double half_width, bool submit_bound)
{
    return half_width > (submit_bound ? 0.5 : 0.2);
}

bool record_is_above_roof(double percent)
{
    return percent > 103;
}

/* Whether a flag counts. Older versions set some flags at lower thresholds. `said`: a note says it
 * of the whole device, so it counts only for results that are much worse. */
static bool counts(const json_t *result, const char *flag, bool said)
{
    if (strcmp(flag, "noisy") == 0) {
        bool submit_bound = record_has_flag(result, "submit-bound");
        return record_is_noisy(record_half_width(result), said || submit_bound);
    }
    if (strcmp(flag, "above-roof") == 0) {
        return !said && record_is_above_roof(record_percent(result));
    }
    return !said;
}

/* The highest level among the flags of a result; `said` has a bit for each flag that is said of its
 * device. */
static record_level highest(const json_t *result, unsigned said)
{
    record_level level = RECORD_NONE;
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(result, "flags"), i, value)
    {
        int flag = place(json_string_value(value));
        if (record_flags[flag].level > level &&
            counts(result, json_string_value(value), said >> flag & 1)) {
            level = record_flags[flag].level;
        }
    }
    return level;
}

record_level record_level_of(const json_t *result)
{
    return highest(result, 0);
}

const char *record_level_name(record_level level)
{
    static const char *const names[] = {"", "info", "caution", "invalid"};
    return names[level];
}

/* ---- what is said once ----------------------------------------------------------------------- */

static void say(record_signs *signs, const char *format, ...) ISO_PRINTF(2, 3);
static void say(record_signs *signs, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    json_array_append_new(signs->notes, tool_json_text(text));
    free(text);
}

/* The notes about the whole run: what happened, and what to do. */
static void say_run(record_signs *signs, const json_t *run, int skipped, const char *names)
{
    double noise = 100 * record_number(run, "noise"), budget = record_number(run, "budget");
    if (record_has_flag(run, "interrupted")) {
        say(signs, "The run was interrupted; these are its results until then. Run it again.");
    }
    if (record_has_flag(run, "device-lost")) {
        say(signs, "A device stopped answering, and its other cases are errors. Run it again.");
    }
    if (record_has_flag(run, "foreign")) {
        bool ours = strncmp(record_text(run, "program"), "isomer", 6) == 0;
        say(signs, ours ? "This file is an export of isomer, which does not say how results were "
                          "checked."
                        : "Another program wrote this file: isomer checked none of its results.");
    }
    if (record_has_flag(run, "noisy-host")) {
        say(signs, "Other work used %s%.0f %% of the processors meanwhile. Stop it and run again.",
            isfinite(noise) ? "" : "over ", isfinite(noise) ? noise : 5);
    }
    const char *more = "Give the run more time, such as";
    if (skipped > 0) {
        say(signs, "%d result%s not measured: no time (%s). %s --budget %.0f.", skipped,
            skipped > 1 ? "s were" : " was", names, more,
            isfinite(budget) ? 2 * ceil(budget) : 240);
    } else if (record_has_flag(run, "budget") && isfinite(budget)) {
        say(signs, "The budget of %.0f s ended before every case had its rounds. %s --budget %.0f.",
            budget, more, 2 * ceil(budget));
    }
    if (record_text(run, "host.virtual")[0] != '\0') {
        say(signs,
            "This is a virtual machine (%s): others on its host may slow it without a trace. "
            "Repeat a run before you rely on a small difference.",
            record_text(run, "host.virtual"));
    }
}

/* What the results of a device have in common. */
typedef struct tally {
    const char *spec;
    int count, flags[RECORD_FLAGS + 1]; /* results with a number, and with each flag */
    double *widths, level; /* the half widths of intervals, and the lowest level among them */
    int width_count;
} tally;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tally count_device(const json_t *results, const char *spec)
{
    tally t = {.spec = spec, .level = 1};
    json_t *result, *flag;
    size_t i, f;
    t.widths = record_need(calloc(json_array_size(results) + 1, sizeof *t.widths));
    json_array_foreach(results, i, result)
    {
        if (!json_is_object(json_object_get(result, "times")) ||
            strcmp(record_text(result, "device"), spec) != 0) {
            continue;
        }
        double width = record_half_width(result);
        t.count++;
        if (isfinite(width)) {
            t.widths[t.width_count++] = width;
            t.level = fmin(t.level, record_number(result, "times.confidence"));
        }
        json_array_foreach(json_object_get(result, "flags"), f, flag)
        {
            const char *name = json_string_value(flag);
            t.flags[place(name)] += counts(result, name, false);
        }
    }
    qsort(t.widths, (size_t)t.width_count, sizeof *t.widths, ascending);
    return t;
}

/* Says what over a tenth of a device's results have. Returns the flags that were said. */
static unsigned say_device(record_signs *signs, const tally *t)
{
    static const struct {
        const char *flag, *format;
        bool any; /* also for fewer than a tenth of the results */
    } words[] = {
        {"clock-wrong",
         "%s: in %.0f of %.0f results the clocks contradict each other, so these have no number. "
         "Update the driver.",
         false},
        {"noisy",
         "%s: %.0f of %.0f results are unsteady, so a sign marks only those that may be off by "
         "half. Stop other work, or give the run more time.",
         false},
        {"above-roof",
         "%s: %.0f of %.0f results are over 103 %% of their roof, which was measured too low. Do "
         "not rely on its percentages.",
         false},
        {"overheated", "%s: heat held back %.0f of %.0f results. Cool the device and run again.",
         false},
        {"checked-once", "%s: %.0f of %.0f results were not checked again at the end.", false},
        {"ran-strict",
         "%s has no TF32: %.0f of %.0f results, asked for as tf32, ran in full precision.", true}};
    unsigned said = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int flag = place(words[i].flag);
        bool most = t->count > 1 && 10 * t->flags[flag] > t->count;
        if (most || (words[i].any && t->flags[flag] > 0)) {
            say(signs, words[i].format, t->spec, (double)t->flags[flag], (double)t->count);
            said |= record_flags[flag].level == RECORD_INVALID ? 0 : 1u << flag;
        }
    }
    return said;
}

/* Says how well the numbers of each device are known, with the level of the intervals. */
static void say_intervals(record_signs *signs, const tally *tallies, size_t count)
{
    char text[512] = "";
    double level = 1;
    int results = 0;
    for (size_t d = 0; d < count; d++) {
        const tally *t = &tallies[d];
        char one[128], number[32];
        results += t->count;
        if (t->width_count == 0) {
            continue;
        }
        double percent = 100 * t->widths[t->width_count / 2];
        level = fmin(level, t->level);
        snprintf(number, sizeof number, percent < 9.95 ? "%.1f" : "%.0f", percent);
        snprintf(one, sizeof one, "%s %% on %.64s", record_point(number), t->spec);
        tool_join(text, sizeof text, ", ", one);
    }
    if (text[0] == '\0' && results > 0) {
        say(signs, "With one round nothing shows how steady a number is. Use six: --rounds 6.");
    } else if (level < 0.945) {
        say(signs,
            "A typical number is known to within %s (intervals of %.0f %% and more; six rounds "
            "give "
            "95 %%).",
            text, 100 * level);
    } else if (text[0] != '\0') {
        say(signs, "A typical number is known to within %s (intervals of 95 %%).", text);
    }
}

/* Returns how many results were skipped. `*names` gets the ids of the first five cases, and how
 * many more there are; to be freed. */
static int count_skipped(const json_t *results, char **names)
{
    enum { NAMED = 5 };
    json_t *result, *seen = json_object();
    size_t i, length;
    int skipped = 0;
    FILE *out = record_need(open_memstream(names, &length));
    json_array_foreach(results, i, result)
    {
        const char *id = record_text(result, "id");
        if (strcmp(record_text(result, "status"), bench_status_name(BENCH_SKIPPED)) != 0) {
            continue;
        }
        skipped++;
        size_t cases = json_object_size(seen);
        json_object_set_new(seen, id, json_true());
        if (json_object_size(seen) > cases && cases < NAMED) {
            fprintf(out, "%s%s", cases > 0 ? ", " : "", id);
        }
    }
    if (json_object_size(seen) > NAMED) {
        fprintf(out, " and %zu more", json_object_size(seen) - NAMED);
    }
    json_decref(seen);
    record_need(fclose(out) == 0 ? *names : NULL);
    return skipped;
}

void record_signs_make(const json_t *root, record_signs *out)
{
    const json_t *devices = json_object_get(root, "devices");
    size_t count = json_array_size(devices);
    char *names;
    int skipped = count_skipped(json_object_get(root, "results"), &names);
    tally *tallies = record_need(calloc(count + 1, sizeof *tallies));
    *out = (record_signs){.root = root, .notes = json_array()};
    out->said = record_need(calloc(count + 1, sizeof *out->said));
    say_run(out, json_object_get(root, "run"), skipped, names);
    free(names);
    for (size_t d = 0; d < count; d++) {
        const json_t *device = json_array_get(devices, d);
        tallies[d] = count_device(json_object_get(root, "results"), record_text(device, "spec"));
        const tool_tier_words *tier = &tool_tiers[record_tier(device)];
        if (!tier->timed) {
            say(out, "%s is %s: its numbers mean nothing.", tallies[d].spec, tier->words);
            out->said[d] = 1u << place("fake") | 1u << place("simulated");
        }
        out->said[d] |= say_device(out, &tallies[d]);
    }
    say_intervals(out, tallies, count);
    for (size_t d = 0; d < count; d++) {
        free(tallies[d].widths);
    }
    free(tallies);
}

void record_signs_free(record_signs *signs)
{
    free(signs->said);
    json_decref(signs->notes);
    *signs = (record_signs){0};
}

/* The bits of what was said of a result's device. */
static unsigned said_of(const record_signs *signs, const json_t *result)
{
    const json_t *devices = json_object_get(signs->root, "devices");
    const char *spec = record_text(result, "device");
    for (size_t d = 0; d < json_array_size(devices); d++) {
        if (strcmp(record_text(json_array_get(devices, d), "spec"), spec) == 0) {
            return signs->said[d];
        }
    }
    return 0;
}

record_level record_sign(const record_signs *signs, const json_t *result)
{
    record_level level = highest(result, said_of(signs, result));
    return level == RECORD_INFO ? RECORD_NONE : level;
}

bool record_sign_has(const record_signs *signs, const json_t *result, const char *flag)
{
    return record_has_flag(result, flag) &&
           counts(result, flag, said_of(signs, result) >> place(flag) & 1);
}
