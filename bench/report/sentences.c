/* SPDX-License-Identifier: Apache-2.0 */
/* sentences.c - what the first screen says: who is fastest at what, and how far to trust it. */
#include "bench/report/chart.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_name(FILE *out, const report_model *model, int device)
{
    report_put(out, "<span class=\"dev d%d\">%s</span>", device % REPORT_COLOURS,
               model->devices[device].brief);
}

static bool is_cpu(const report_device *device)
{
    return strcmp(record_text(device->json, "type"), "CPU") == 0;
}

/* A share of 1 in two digits: "93 %", "2.7 %", "0.24 %". */
static const char *share_text(char *text, double share)
{
    double percent = share * 100.0;
    int digits = percent >= 9.95 || percent <= 0.0 ? 0 : percent >= 0.995 ? 1 : 2;
    snprintf(text, REPORT_TEXT, "%.*f\u00a0%%", digits, percent);
    return text;
}

typedef struct told {
    FILE *out;
    const report_model *model;
    bool some;
    double half; /* half-width of the first figure; NaN: not known */
} told;

/* Writes a figure, and how far it is known if that is not far. */
static void put_value(told *said, const char *value, const report_row *row)
{
    enum { VAGUE = 10 }; /* per cent */
    char text[REPORT_TEXT];
    double half = record_half_width(row->json);
    report_put(said->out, ": <b class=\"figure\">%s</b>", value);
    if (half * 100.0 > VAGUE) {
        fprintf(said->out, " (±%s)", share_text(text, half));
    }
}

/* ---- the fastest device of a kind of work ---------------------------------------------------- */

/* Titles of groups in the order in which they are preferred. */
typedef struct topic {
    const char *titles[4];
    bool own; /* each device at its own best size, not at a common one */
} topic;

static const topic topics[] = {{{"gemm f32", "gemm f64", "gemm f16", NULL}, true},
                               {{"stream copy f32", "stream triad f32", NULL}, false},
                               {{"gemv f32", "gemv f64", NULL}, false},
                               {{"reduce sum f32", "reduce dot f32", NULL}, false},
                               {{"transpose e4", "transpose e8", NULL}, false}};

enum { TOPICS = sizeof topics / sizeof topics[0], MOST_NAMED = 3 };

static int by_rate(const void *left, const void *right)
{
    double a = (*(const report_row *const *)left)->rate.value;
    double b = (*(const report_row *const *)right)->rate.value;
    return (a < b) - (a > b);
}

/* The fastest row of each device in a group, the fastest first; returns their number. */
static int ranking(const report_model *model, const topic *about, int group,
                   const report_row **rows)
{
    const report_row *common = report_model_common(model, group, REPORT_ANY);
    int count = 0;
    for (int d = 0; d < model->device_count; d++) {
        const report_row *best =
            common ? report_model_best(model, common->problem, d, REPORT_ANY) : NULL;
        for (const report_row *row = NULL;
             about->own && (row = report_next(model, row, group, d));) {
            bool more = row->counts && (!best || row->rate.value > best->rate.value);
            best = more ? row : best;
        }
        if (best) {
            rows[count++] = best;
        }
    }
    qsort(rows, (size_t)count, sizeof *rows, by_rate);
    return count;
}

/* The ranking of the first of a topic's groups that has results; returns the number of rows. */
static int rank(const report_model *model, const topic *about, const report_row **rows)
{
    int count = 0;
    for (int t = 0; t < 4 && about->titles[t] && count == 0; t++) {
        for (int g = 0; g < model->group_count && count == 0; g++) {
            if (strcmp(model->groups[g].title, about->titles[t]) == 0) {
                count = ranking(model, about, g, rows);
            }
        }
    }
    return count;
}

/* " at N = 8192", " with 64 Mi elements" */
static void put_size(FILE *out, const char *before, const report_row *row)
{
    bool plain = strcmp(row->operation->size, "elements") == 0 && !strstr(row->shape, "×");
    report_put(out, " %s <span class=\"figure\">%s%s</span>", before, row->shape,
               plain ? " elements" : "");
}

/* The part of a sentence that a phone has no room for. */
static const char *const more[] = {"<span class=\"more\">", "</span>"};

/* "The others reach 82 % (opencl:0) and 2.7 % (openmp:0) of this speed." */
static void put_others(told *said, const report_row *const *rows, int count)
{
    char text[REPORT_TEXT];
    FILE *out = said->out;
    int named = count - 1 > MOST_NAMED + 1 ? MOST_NAMED : count - 1;
    for (int i = 1; i <= named; i++) {
        fputs(i == 1 ? count > 2 ? " The others reach " : " The other reaches "
              : i == named && named == count - 1 ? " and "
                                                 : ", ",
              out);
        fprintf(out, "<b>%s</b> (", share_text(text, rows[i]->rate.value / rows[0]->rate.value));
        put_name(out, said->model, rows[i]->device);
        fputc(')', out);
    }
    if (named < count - 1) {
        fprintf(out, " and at most %s (%d more)",
                share_text(text, rows[named + 1]->rate.value / rows[0]->rate.value),
                count - 1 - named);
    }
    fputs(count > 1 ? " of this speed." : "", out);
}

/* "products (f32)", "reductions (sum of f32)": the name that the page's headings have. */
static void put_kind_of_work(FILE *out, const report_row *row)
{
    const char *title = row->operation->title;
    fprintf(out, "<b>%c%s</b>", tolower((unsigned char)title[0]), title + 1);
    if (row->kind[0] != '\0' || row->dtype[0] != '\0') {
        report_put(out, " (%s%s%s)", row->kind, row->kind[0] && row->dtype[0] ? " of " : "",
                   report_type_words(row->dtype));
    }
}

static bool put_fastest(told *said, const topic *about)
{
    char rate[REPORT_TEXT];
    const report_model *model = said->model;
    FILE *out = said->out;
    const report_row **rows = record_need(calloc((size_t)model->device_count + 1, sizeof *rows));
    int count = rank(model, about, rows);
    if (count == 0) {
        free(rows);
        return false;
    }
    const report_row *best = rows[0];
    bool first = !said->some;
    fputs("<li>", out);
    if (first) {
        report_put(out, "The %s (", model->devices[best->device].name);
    }
    put_name(out, model, best->device);
    fprintf(out, "%s %s ", first ? ")" : "", count > 1 ? "is fastest at" : "does");
    put_kind_of_work(out, best);
    chart_value(rate, model->groups[best->group].flops ? CHART_FLOPS : CHART_MOVED,
                best->rate.value * 1e9);
    put_value(said, rate, best);
    said->half = first ? record_half_width(best->json) : said->half;
    said->some = true;
    put_size(out, "at", best);
    if (isfinite(best->percent)) {
        fprintf(out, ", <b>%.0f\u00a0%%</b> of its limit", best->percent);
    }
    fprintf(out, ".%s", more[0]);
    put_others(said, rows, count);
    fprintf(out, "%s</li>\n", more[1]);
    free(rows);
    return true;
}

/* ---- what the CPU is best at ----------------------------------------------------------------- */

/* The best of all CPUs (or of all other devices) for a problem; NULL: none. */
static const report_row *best_cpu(const report_model *model, int problem, bool cpu)
{
    const report_row *best = NULL;
    for (int d = 0; d < model->device_count; d++) {
        const report_row *row = report_model_best(model, problem, d, REPORT_ANY);
        bool takes = row && is_cpu(&model->devices[d]) == cpu;
        best = takes && (!best || row->time.value < best->time.value) ? row : best;
    }
    return best;
}

static bool put_cpu(told *said)
{
    const report_model *model = said->model;
    FILE *out = said->out;
    const report_row *top = NULL, *other = NULL;
    char text[REPORT_TEXT];
    double most = 0.0;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        const report_row *cpu = row->operation->moves ? NULL : best_cpu(model, row->problem, true);
        const report_row *rest = cpu == row ? best_cpu(model, row->problem, false) : NULL;
        if (rest && rest->time.value / cpu->time.value > most) {
            most = rest->time.value / cpu->time.value;
            top = cpu;
            other = rest;
        }
    }
    if (!top) {
        return false;
    }
    fputs("<li>", out);
    put_name(out, model, top->device);
    char *name = report_short_name(model->devices[top->device].name);
    fputs(more[0], out);
    report_put(out, " (the CPU%s%s)", name[0] ? ", " : "", name);
    fprintf(out, "%s %s ", more[1],
            most > 1.0 ? "is best at small work, most of all at"
                       : "is fastest at nothing; it comes nearest at");
    free(name);
    put_kind_of_work(out, top);
    put_value(said, report_time(text, top->time.value), top);
    put_size(out, "for", top);
    fprintf(out, ".%s ", more[0]);
    put_name(out, model, other->device);
    fprintf(out, " takes <b class=\"figure\">%s</b>, ", report_time(text, other->time.value));
    fprintf(out, "%s of this speed.%s</li>\n", share_text(text, 1.0 / most), more[1]);
    return true;
}

/* ---- at how many problems each device is fastest --------------------------------------------- */

static bool put_wins(told *said)
{
    const report_model *model = said->model;
    FILE *out = said->out;
    int *wins = record_need(calloc((size_t)model->device_count + 1, sizeof *wins));
    int problems = 0;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        int others = 0, faster = 0;
        for (int d = 0; d < model->device_count; d++) {
            const report_row *best = report_model_best(model, row->problem, d, REPORT_ANY);
            others += best && d != row->device;
            faster += d == row->device ? best != row : best && best->time.value < row->time.value;
        }
        if (others > 0 && faster == 0) {
            wins[row->device]++;
            problems++;
        }
    }
    int left = problems, shown = model->device_count;
    shown = shown > MOST_NAMED + 1 ? MOST_NAMED : shown;
    for (int i = 0; i < shown && problems > 0; i++) {
        int most = 0;
        for (int d = 1; d < model->device_count; d++) {
            most = wins[d] > wins[most] ? d : most;
        }
        if (i == 0) {
            fprintf(out, "<li>Of <b>%d</b> common problems, ", problems);
        } else {
            fputs(i == shown - 1 && shown == model->device_count ? " and " : ", ", out);
        }
        put_name(out, model, most);
        fprintf(out, " %s\u00a0<b>%d</b>", i == 0 ? "is fastest at" : "at", wins[most]);
        left -= wins[most];
        wins[most] = -1;
    }
    if (problems > 0) {
        if (shown < model->device_count) {
            fprintf(out, " and the others at <b>%d</b>", left);
        }
        fputs(".</li>\n", out);
    }
    free(wins);
    return problems > 0;
}

/* ---- how far to trust it --------------------------------------------------------------------- */

typedef struct trust {
    double half, most;      /* half-widths of intervals: of half of the results, of nine in ten */
    size_t least, greatest; /* how often a result was measured */
    int rows, wrong, lost, shaky;
    bool busy, stopped, foreign;
} trust;

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static trust trust_of(const report_model *model)
{
    trust found = {.half = NAN, .most = NAN, .least = SIZE_MAX};
    double *widths = record_need(calloc((size_t)model->row_count + 1, sizeof *widths));
    int count = 0;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        size_t rounds = json_array_size(record_at(row->json, "times.samples"));
        double half = record_half_width(row->json);
        found.wrong += strcmp(row->status, bench_status_name(BENCH_FAILED)) == 0;
        found.lost += strcmp(row->status, bench_status_name(BENCH_ERROR)) == 0;
        if (!row->counts) {
            continue;
        }
        found.rows++;
        found.shaky += row->sign > RECORD_NONE;
        found.least = rounds < found.least ? rounds : found.least;
        found.greatest = rounds > found.greatest ? rounds : found.greatest;
        if (isfinite(half)) {
            widths[count++] = half;
        }
    }
    qsort(widths, (size_t)count, sizeof *widths, by_value);
    if (count > 0) {
        found.half = widths[count / 2];
        found.most = widths[count * 9 / 10];
    }
    free(widths);
    for (int i = 0; i < model->count; i++) {
        const json_t *run = json_object_get(model->roots[i], "run");
        found.busy = found.busy || record_has_flag(run, "noisy-host");
        found.stopped = found.stopped || record_has_flag(run, "interrupted");
        found.foreign = found.foreign || record_has_flag(run, "foreign");
    }
    return found;
}

static void put_width(told *said, const trust *found)
{
    char text[REPORT_TEXT];
    FILE *out = said->out;
    if (!isfinite(found->half)) {
        fputs("How far to trust these figures is not known. ", out);
        return;
    }
    if (isfinite(said->half)) {
        fprintf(out, "The first figure is known to <b class=\"figure\">±%s</b>, ",
                share_text(text, said->half));
    }
    fprintf(out, "%s to <b class=\"figure\">±%s</b>",
            isfinite(said->half) ? "half of all results" : "Half of all results are known",
            share_text(text, found->half));
    fprintf(out, "%s, nine of ten to ±%s%s. ", more[0], share_text(text, found->most), more[1]);
}

static void put_trust(told *said)
{
    const trust found = trust_of(said->model);
    FILE *out = said->out;
    bool bad = found.wrong > 0 || found.stopped || found.foreign;
    if (found.rows == 0) {
        return;
    }
    bool weak = found.least < 6 || found.busy || found.lost > 0 || found.shaky * 10 > found.rows;
    fprintf(out, "<li class=\"trust%s\">", bad || weak ? " weak" : "");
    put_width(said, &found);
    if (found.wrong > 0) {
        fprintf(out, "<b class=\"bad\">%d results were wrong</b>; the others were measured ",
                found.wrong);
    } else {
        fprintf(out, "Every result was %smeasured ", found.foreign ? "" : "checked, and ");
    }
    if (found.least == found.greatest) {
        fprintf(out, "%zu times", found.least);
    } else {
        fprintf(out, "%zu to %zu times", found.least, found.greatest);
    }
    fprintf(out, "%s.%s", found.least < 6 ? " (an interval of 95 % needs six)" : "", more[0]);
    fputs(found.foreign ? " Another program measured some, and nothing was checked there." : "",
          out);
    if (found.lost > 0) {
        fprintf(out, " %d ended in an error.", found.lost);
    }
    fputs(found.stopped ? " The run was interrupted." : "", out);
    if (found.shaky > 0) {
        fprintf(out, " %d of %d results call for caution (! in the tables).", found.shaky,
                found.rows);
    }
    fprintf(out, "%s%s</li>\n",
            found.busy      ? " Other programs took processor time."
            : found.foreign ? ""
                            : " The machine was quiet.",
            more[1]);
}

void report_sentences(report_page *page)
{
    told said = {.out = page->out, .model = page->model, .half = NAN};
    enum { FIRST = 2, WANTED = 4 };
    int put = 0, t = 0;
    fputs("<ol class=\"sentences\">\n", page->out);
    while (t < TOPICS && put < FIRST) {
        put += put_fastest(&said, &topics[t++]);
    }
    put += put_cpu(&said);
    put += put_wins(&said);
    while (t < TOPICS && put < WANTED) {
        put += put_fastest(&said, &topics[t++]);
    }
    put_trust(&said);
    fputs("</ol>\n", page->out);
}
