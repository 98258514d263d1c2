/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - each case over time: reads the series, finds their changes, judges the gate. */
#include "bench/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

enum {
    MACHINE,
    SPEC,
    DEVICE,
    CASE,
    LIBRARY,
    OP,
    DTYPE,
    RUN,
    TIME,
    COMMIT,
    RELEASE,
    SYSTEM,
    DRIVER,
    RUNTIME,
    MEDIAN,
    LOW,
    HIGH,
    CONFIDENCE,
    PROPERTIES
};

static const char query[] =
    "SELECT r.machine, d.spec, d.name, c.name, t.library, c.op, c.dtype, r.id, r.time, r.commit_id,"
    " r.version, r.system, d.driver, d.runtime, t.median, t.low, t.high, t.confidence,"
    " d.properties"
    " FROM times t JOIN cases c ON c.id = t.case_id JOIN devices d ON d.id = t.device"
    " JOIN runs r ON r.id = d.run"
    " ORDER BY r.machine, d.spec, d.name, c.id,"
    " substr(t.library, 1, instr(t.library || ' ', ' ') - 1), r.time, r.id";

typedef struct reading {
    const history_filter *filter;
    history_set *set;
} reading;

static bool wanted(const history_filter *f, const history_value *c)
{
    size_t length = f->device ? strlen(f->device) : 0;
    const char *spec = c[SPEC].text;
    bool device = !f->device || strcmp(spec, f->device) == 0 ||
                  (strncmp(spec, f->device, length) == 0 && spec[length] == ':');
    return device && (!f->machine || strcmp(f->machine, c[MACHINE].text) == 0) &&
           (!f->dtype || strcmp(f->dtype, c[DTYPE].text) == 0) &&
           (f->ops->count == 0 || tool_words_have(f->ops, c[OP].text)) &&
           (!f->pattern || tool_matches(f->pattern, c[CASE].text));
}

static const char *keep(history_set *set, const char *text)
{
    json_t *kept = json_string(text);
    json_array_append_new(set->texts, kept);
    return json_string_value(kept);
}

/* Libraries are compared without their versions. */
static bool same_library(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");
    return length == strcspn(b, " ") && strncmp(a, b, length) == 0;
}

static bool continues(const history_series *s, const history_value *c)
{
    return strcmp(s->machine, c[MACHINE].text) == 0 && strcmp(s->device, c[SPEC].text) == 0 &&
           strcmp(s->device_name, c[DEVICE].text) == 0 && strcmp(s->name, c[CASE].text) == 0 &&
           same_library(s->library, c[LIBRARY].text);
}

static void read_point(void *data, const history_value *c)
{
    reading *r = data;
    history_set *set = r->set;
    if (!wanted(r->filter, c) || !(c[MEDIAN].number > 0)) {
        return;
    }
    if (set->count == 0 || !continues(&set->series[set->count - 1], c)) {
        set->machines = set->machines ||
                        (set->count > 0 && strcmp(set->series[0].machine, c[MACHINE].text) != 0);
        set->series = record_grow(set->series, set->count, sizeof *set->series);
        set->series[set->count++] = (history_series){.machine = keep(set, c[MACHINE].text),
                                                     .device = keep(set, c[SPEC].text),
                                                     .device_name = keep(set, c[DEVICE].text),
                                                     .name = keep(set, c[CASE].text),
                                                     .library = keep(set, c[LIBRARY].text)};
    }
    history_series *s = &set->series[set->count - 1];
    if (s->count > 0 && s->points[s->count - 1].run == (int64_t)c[RUN].number) {
        return; /* two versions of a library in one run: the first is the device's default */
    }
    s->points = record_grow(s->points, s->count, sizeof *s->points);
    s->points[s->count++] = (history_point){.run = (int64_t)c[RUN].number,
                                            .time = keep(set, c[TIME].text),
                                            .commit = keep(set, c[COMMIT].text),
                                            .version = keep(set, c[RELEASE].text),
                                            .system = keep(set, c[SYSTEM].text),
                                            .driver = keep(set, c[DRIVER].text),
                                            .runtime = keep(set, c[RUNTIME].text),
                                            .library = keep(set, c[LIBRARY].text),
                                            .properties = keep(set, c[PROPERTIES].text),
                                            .median = c[MEDIAN].number,
                                            .low = c[LOW].number,
                                            .high = c[HIGH].number,
                                            .confidence = c[CONFIDENCE].number};
}

/* ---- changes --------------------------------------------------------------------------------- */

static stats_interval ratio_of(const double *x, int32_t from, int32_t at, int32_t to)
{
    stats_interval i = stats_shift(x + from, at - from, x + at, to - at, 0.95);
    return (stats_interval){exp(i.median), exp(i.low), exp(i.high), i.confidence};
}

/* Whether only the newest run stands out from the `n` runs of its level before it: beyond each of
 * them, by five times their spread and by the least effect. */
static bool stands_out(const double *x, int32_t n, double newest)
{
    double step = newest - stats_median(x, n);
    bool beyond = step > 0 ? newest > stats_max(x, n) : newest < stats_min(x, n);
    return n >= STATS_CHANGE_LEAST - 1 && beyond && fabs(step) >= 5 * stats_spread(x, n) &&
           fabs(step) >= log(1 + STATS_LEAST_EFFECT);
}

static void find_steps(history_series *s, const history_filter *f)
{
    int32_t n = s->count, from = 0;
    double *x = tool_alloc((size_t)n, sizeof *x, "the runs");
    stats_change *found = tool_alloc((size_t)n, sizeof *found, "the runs");
    s->steps = tool_alloc((size_t)n + 1, sizeof *s->steps, "the runs");
    for (int32_t i = 0; i < n; i++) {
        x[i] = log(s->points[i].median);
    }
    int32_t count = stats_changes(x, n, STATS_LEAST_EFFECT, found, n);
    for (int32_t i = 0; i < count; i++) {
        int32_t to = i + 1 < count ? found[i + 1].at : n;
        s->steps[s->step_count++] = (history_step){
            .at = found[i].at, .p = found[i].p, .ratio = ratio_of(x, from, found[i].at, to)};
        from = found[i].at;
    }
    if (n > 0 && stands_out(x + from, n - 1 - from, x[n - 1])) {
        s->steps[s->step_count++] =
            (history_step){.at = n - 1, .p = NAN, .ratio = ratio_of(x, from, n - 1, n)};
    }
    if (s->step_count > 0) {
        history_step *last = &s->steps[s->step_count - 1];
        last->fails = n - last->at <= f->within && last->ratio.median > 1 + f->fail_on;
    }
    free(found);
    free(x);
}

int history_read(history_db *db, const history_filter *filter, history_set *out)
{
    *out = (history_set){.texts = json_array()};
    reading r = {filter, out};
    int code = history_run(db, query, NULL, 0, read_point, &r);
    for (int32_t i = 0; i < out->count; i++) {
        history_series *s = &out->series[i];
        int32_t drop = filter->last > 0 && s->count > filter->last ? s->count - filter->last : 0;
        s->count -= drop;
        memmove(s->points, s->points + drop, (size_t)s->count * sizeof *s->points);
        find_steps(s, filter);
        out->judged += s->count >= STATS_CHANGE_LEAST;
        out->fails += s->step_count > 0 && s->steps[s->step_count - 1].fails;
    }
    return code;
}

void history_free(history_set *set)
{
    for (int32_t i = 0; i < set->count; i++) {
        free(set->series[i].points);
        free(set->series[i].steps);
    }
    free(set->series);
    json_decref(set->texts);
    *set = (history_set){0};
}

/* ---- in words -------------------------------------------------------------------------------- */

/* Adds the properties of the device that differ, without the paths of files. */
static void add_properties(FILE *out, const history_point *a, const history_point *b)
{
    json_t *before = json_loads(a->properties, 0, NULL),
           *after = json_loads(b->properties, 0, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(after, name, value)
    {
        const char *x = json_string_value(json_object_get(before, name));
        const char *y = json_string_value(value);
        if (!x || !y) {
            continue;
        }
        const char *path_x = strstr(x, ", /"), *path_y = strstr(y, ", /");
        int m = (int)(path_x ? (size_t)(path_x - x) : strlen(x));
        int n = (int)(path_y ? (size_t)(path_y - y) : strlen(y));
        if (m > 0 && n > 0 && (m != n || strncmp(x, y, (size_t)n) != 0)) {
            fprintf(out, ", %s %.*s -> %.*s", name, m, x, n, y);
        }
    }
    json_decref(before);
    json_decref(after);
}

const char *history_time(char *text, size_t room, const history_point *point)
{
    bool clock = strlen(point->time) >= 16;
    snprintf(text, room, "%.10s%s%.5s", point->time, clock ? " " : "",
             clock ? point->time + 11 : "");
    return text;
}

/* Adds what differs between the two runs around a step. What is usually the cause, the driver and
 * the commit, is also named if it is the same. */
static void add_suspects(FILE *out, const history_point *a, const history_point *b)
{
    char before[32], after[32];
    history_commit(before, sizeof before, a->commit);
    history_commit(after, sizeof after, b->commit);
    const struct {
        const char *name, *before, *after;
        int shown; /* characters */
        bool always;
    } items[] = {{"driver", a->driver, b->driver, 60, true},
                 {"commit", before, after, 16, true},
                 {"runtime", a->runtime, b->runtime, 60, false},
                 {"library", a->library, b->library, 60, false},
                 {"version", a->version, b->version, 60, false},
                 {"system", a->system, b->system, 60, false}};
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        bool known = items[i].before[0] != '\0' && items[i].after[0] != '\0';
        bool same = strcmp(items[i].before, items[i].after) == 0;
        if (same && items[i].always) {
            fprintf(out, ", %s %s", known ? "same" : "unknown", items[i].name);
        } else if (!same) {
            fprintf(out, ", %s %.*s -> %.*s", items[i].name, items[i].shown,
                    items[i].before[0] != '\0' ? items[i].before : "unknown", items[i].shown,
                    items[i].after[0] != '\0' ? items[i].after : "unknown");
        }
    }
    add_properties(out, a, b);
}

char *history_sentence(const history_set *set, const history_series *series,
                       const history_step *step)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = record_need(open_memstream(&text, &length));
    const history_point *after = &series->points[step->at];
    char when[32];
    history_time(when, sizeof when, after);
    bool slower = step->ratio.median > 1, alone = isnan(step->p);
    double low = 100 * (step->ratio.low - 1), high = 100 * (step->ratio.high - 1);
    fprintf(out, "%s on %s%s%s %s %.1f %% %s", series->name, series->device,
            set->machines ? " of " : "", set->machines ? series->machine : "",
            alone ? "is" : "became", fabs(100 * (step->ratio.median - 1)),
            slower ? "slower" : "faster");
    if (alone) {
        fprintf(out, " in the newest run alone, %lld of %s", (long long)after->run, when);
    } else {
        fprintf(out, " (%.1f to %.1f, %.3g %%) with run %lld of %s", slower ? low : -high,
                slower ? high : -low, 100 * step->ratio.confidence, (long long)after->run, when);
    }
    add_suspects(out, after - 1, after);
    return record_need(fclose(out) == 0 ? text : NULL);
}
