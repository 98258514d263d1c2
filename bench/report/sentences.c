/* SPDX-License-Identifier: Apache-2.0 */
/* sentences.c - what the first screen says: who is fastest at what, and how far to trust it. */
#include "bench/report/chart.h"

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

/* A share of 1 as "93 %", and a small one as "0.2 %". */
static const char *share_text(char *text, double share)
{
    double percent = share * 100.0;
    int digits = percent >= 9.95 || percent <= 0.0 ? 0 : percent >= 0.095 ? 1 : 3;
    snprintf(text, REPORT_TEXT, "%.*f\u00a0%%", digits, percent);
    return text;
}

/* ---- the fastest device of a kind of work ---------------------------------------------------- */

/* Titles of groups in the order in which they are preferred. */
typedef struct topic {
    const char *titles[4], *words;
    bool own; /* each device at its own best size, not at a common one */
} topic;

static const topic topics[] = {
    {{"gemm f32", "gemm f64", "gemm f16", NULL}, "products of matrices", true},
    {{"stream copy f32", "stream triad f32", "reduce sum f32", NULL},
     "reading and writing memory",
     false},
    {{"gemv f32", "gemv f64", NULL}, "products of a matrix and a vector", false},
    {{"reduce sum f32", "reduce dot f32", NULL}, "sums", false},
    {{"transpose e4", "transpose e8", NULL}, "transposes", false}};

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

static void put_others(FILE *out, const report_model *model, const report_row *const *rows,
                       int count)
{
    char text[REPORT_TEXT];
    int named = count - 1 > MOST_NAMED + 1 ? MOST_NAMED : count - 1;
    for (int i = 1; i <= named; i++) {
        fprintf(out, "%s<span class=\"figure\">",
                i == 1                             ? " "
                : i == named && named == count - 1 ? " and "
                                                   : ", ");
        put_name(out, model, rows[i]->device);
        fprintf(out, "%s <b>%s</b></span>%s", i == 1 ? " reaches" : "",
                share_text(text, rows[i]->rate.value / rows[0]->rate.value),
                i == 1 ? " of that" : "");
    }
    if (named < count - 1) {
        fprintf(out, " and %d more at most %s", count - 1 - named,
                share_text(text, rows[named + 1]->rate.value / rows[0]->rate.value));
    }
    fputs(count > 1 ? "." : "", out);
}

static bool put_fastest(FILE *out, const report_model *model, const topic *about, bool whole_name)
{
    char rate[REPORT_TEXT];
    const report_row **rows = record_need(calloc((size_t)model->device_count + 1, sizeof *rows));
    int count = rank(model, about, rows);
    if (count == 0) {
        free(rows);
        return false;
    }
    const report_row *best = rows[0];
    const report_group *group = &model->groups[best->group];
    fputs("<li>", out);
    if (whole_name) {
        report_put(out, "The %s (", model->devices[best->device].name);
    }
    put_name(out, model, best->device);
    report_put(out, "%s %s <b>%s</b> (%s%s%s): <b class=\"figure\">%s</b>", whole_name ? ")" : "",
               count > 1 ? "is fastest at" : "does", about->words, best->kind,
               best->kind[0] ? " of " : "", report_type_words(best->dtype),
               chart_value(rate, group->flops ? CHART_FLOPS : CHART_MOVED, best->rate.value * 1e9));
    put_size(out, "at", best);
    if (isfinite(best->percent)) {
        fprintf(out, ", <b>%.0f\u00a0%%</b> of its limit", best->percent);
    }
    fputs(".", out);
    put_others(out, model, rows, count);
    fputs("</li>\n", out);
    free(rows);
    return true;
}

/* ---- what the CPU is best at ----------------------------------------------------------------- */

/* "f32 sums" */
static void put_work(FILE *out, const report_row *row)
{
    static const char *const names[][2] = {{"sum", "sums"},
                                           {"dot", "dot products"},
                                           {"copy", "copies"},
                                           {"triad", "triads"},
                                           {"scale", "scalings"},
                                           {"add", "additions"},
                                           {"write", "writes"},
                                           {"read", "reads"},
                                           {"gemm", "products"},
                                           {"transpose", "transposes"},
                                           {"max", "maxima"},
                                           {"min", "minima"},
                                           {"mean", "means"},
                                           {"norm2", "norms"},
                                           {"multiply", "products of elements"},
                                           {"gemv", "matrix-vector products"}};
    const char *word = row->kind[0] != '\0' ? row->kind : row->op, *plural = word;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        plural = strcmp(names[i][0], word) == 0 ? names[i][1] : plural;
    }
    report_put(out, "%s%s%s", plural, row->dtype[0] ? " of " : "", report_type_words(row->dtype));
}

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

static bool put_cpu(FILE *out, const report_model *model)
{
    const report_row *top = NULL, *other = NULL;
    char mine[REPORT_TEXT], theirs[REPORT_TEXT], ratio[REPORT_TEXT];
    double most = 0.0;
    int cases = 0, wins = 0;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        const report_row *cpu = row->operation->moves ? NULL : best_cpu(model, row->problem, true);
        const report_row *rest = cpu == row ? best_cpu(model, row->problem, false) : NULL;
        if (!rest) {
            continue;
        }
        double times = rest->time.value / cpu->time.value;
        cases++;
        wins += times > 1.0;
        if (times > most) {
            most = times;
            top = cpu;
            other = rest;
        }
    }
    if (!top) {
        return false;
    }
    fputs(most > 1.0 ? "<li>The <b>CPU</b> (" : "<li>The CPU (", out);
    put_name(out, model, top->device);
    fputs(most > 1.0 ? ") is best at small work, most of all at <b>"
                     : ") wins nothing here; it comes nearest at <b>",
          out);
    put_work(out, top);
    report_put(out, "</b>: <b class=\"figure\">%s</b>", report_time(mine, top->time.value));
    put_size(out, "for", top);
    fputs(", where ", out);
    put_name(out, model, other->device);
    report_put(out, " takes <b class=\"figure\">%s</b>", report_time(theirs, other->time.value));
    if (most > 1.0) {
        report_put(out, " (%s times as long). It wins <b>%d</b> of %d cases",
                   report_rate(ratio, most), wins, cases);
    }
    fputs(".</li>\n", out);
    return true;
}

/* ---- how many cases each device wins --------------------------------------------------------- */

static bool put_wins(FILE *out, const report_model *model)
{
    int *wins = record_need(calloc((size_t)model->device_count + 1, sizeof *wins));
    int cases = 0;
    bool first = true;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        int others = 0, faster = 0;
        for (int d = 0; d < model->device_count; d++) {
            const report_row *best = report_model_best(model, row->problem, d, REPORT_ANY);
            others += best && d != row->device;
            faster += d == row->device ? best != row : best && best->time.value < row->time.value;
        }
        if (others > 0 && faster == 0) {
            wins[row->device]++;
            cases++;
        }
    }
    if (cases > 0) {
        fprintf(out, "<li>Of <b>%d</b> cases that several devices ran, ", cases);
        int left = cases;
        for (int named = 0; left > 0 && named <= MOST_NAMED; named++, first = false) {
            int most = 0;
            for (int d = 1; d < model->device_count; d++) {
                most = wins[d] > wins[most] ? d : most;
            }
            fputs(first ? "" : wins[most] == left ? " and " : ", ", out);
            put_name(out, model, most);
            fprintf(out, "%s <b>%d</b>", first ? " is fastest in" : "", wins[most]);
            left -= wins[most];
            wins[most] = 0;
        }
        if (left > 0) {
            fprintf(out, ", others <b>%d</b>", left);
        }
        fputs(".</li>\n", out);
    }
    free(wins);
    return cases > 0;
}

/* ---- how far to trust it --------------------------------------------------------------------- */

typedef struct trust {
    double half, most;      /* half-widths of intervals: of half of the rows, of nine in ten */
    size_t least, greatest; /* rounds of a row */
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

static void put_trust(FILE *out, const report_model *model)
{
    const trust found = trust_of(model);
    char half[REPORT_TEXT], most[REPORT_TEXT];
    bool bad = found.wrong > 0 || found.stopped || found.foreign;
    if (found.rows == 0) {
        return;
    }
    bool weak = found.least < 6 || found.busy || found.lost > 0 || found.shaky * 10 > found.rows;
    fprintf(out, "<li class=\"trust%s\">", bad || weak ? " weak" : "");
    if (isfinite(found.half)) {
        fprintf(out, "%s to <b class=\"figure\">±%s</b> (half of the rows; nine of ten: ±%s): ",
                bad || weak ? "Trust these figures only" : "These figures can be trusted",
                share_text(half, found.half), share_text(most, found.most));
    } else {
        fputs("How far to trust these figures is not known: ", out);
    }
    if (found.least == found.greatest) {
        fprintf(out, "every row has %zu rounds", found.least);
    } else {
        fprintf(out, "rows have %zu to %zu rounds", found.least, found.greatest);
    }
    fputs(found.least < 6 ? ", and an interval of 95 % needs six; " : ", ", out);
    if (found.wrong > 0) {
        fprintf(out, "<b class=\"bad\">%d results were wrong</b>, ", found.wrong);
    } else {
        fputs(found.foreign ? "another program measured some, " : "every result was checked, ",
              out);
    }
    if (found.lost > 0) {
        fprintf(out, "%d cases ended in an error, ", found.lost);
    }
    if (found.stopped) {
        fputs("the run was interrupted, ", out);
    }
    if (found.shaky > 0) {
        fprintf(out, "%d of %d rows carry a sign (!), ", found.shaky, found.rows);
    }
    fprintf(out, "%s.</li>\n",
            found.busy ? "and other programs took processor time" : "and the machine was quiet");
}

void report_sentences(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    enum { WANTED = 4 };
    fputs("<ol class=\"sentences\">\n", out);
    int put = put_fastest(out, model, &topics[0], true);
    put += put_fastest(out, model, &topics[1], false);
    put += put_cpu(out, model);
    put += put_wins(out, model);
    for (int t = 2; t < TOPICS && put < WANTED; t++) {
        put += put_fastest(out, model, &topics[t], false);
    }
    put_trust(out, model);
    fputs("</ol>\n", out);
}
