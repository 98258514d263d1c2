/* SPDX-License-Identifier: Apache-2.0 */
/* overview.c - the first figure: how fast each device is at each kind of work. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind of work: the results of an operation that stand for it. Lists are in "|a|b|" form. */
typedef struct kind_of_work {
    const char *name;
    const char *op, *kinds, *types; /* NULL: any */
    bool own;                       /* each device at its own best size, not at a common one */
    bool shortest;                  /* the problem that takes least, compared by time of a call */
} kind_of_work;

static const kind_of_work works[] = {
    {"Products, f32", "gemm", NULL, "|f32|", true, false},
    {"Products, f64", "gemm", NULL, "|f64|", true, false},
    {"Products, 16 bits", "gemm", NULL, "|f16|bf16|", true, false},
    {"Products with a vector", "gemv", NULL, "|f32|f64|", false, false},
    {"Reading and writing", "stream", "|copy|triad|", "|f32|f64|", false, false},
    {"Reductions", "reduce", "|sum|", "|f32|f64|", false, false},
    {"Transposes", "transpose", NULL, "|e4|e8|", false, false},
    {"Transfers to a device", "transfer", "|write|", NULL, false, false},
    {"Shortest call", NULL, NULL, NULL, false, true},
};

static bool listed(const char *list, const char *word)
{
    char text[40];
    snprintf(text, sizeof text, "|%s|", word);
    return !list || strstr(list, text);
}

static bool plain(const json_t *result)
{
    static const char *const usual[][2] = {{"math", "strict"},
                                           {"cache", "hot"},
                                           {"layout.trans_a", "n"},
                                           {"layout.trans_b", "n"},
                                           {"layout.axis", "all"}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        const char *word = record_text(result, usual[i][0]);
        if (word[0] != '\0' && strcmp(word, usual[i][1]) != 0) {
            return false;
        }
    }
    const json_t *shape = json_object_get(result, "shape");
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    return !(m > 0.0) || n == 1.0 || !isfinite(record_number(shape, "k")) ||
           (m == n && n == record_number(shape, "k") && !(record_number(shape, "batch") > 1.0));
}

static bool stands_for(const kind_of_work *work, const report_row *row)
{
    return figure_shows(row) &&
           (work->shortest ? !row->operation->moves
                           : strcmp(row->op, work->op) == 0 && listed(work->kinds, row->kind) &&
                                 listed(work->types, row->dtype) && row->rate.value > 0.0) &&
           plain(row->json);
}

static int by_device(const void *left, const void *right)
{
    const report_row *a = *(const report_row *const *)left;
    const report_row *b = *(const report_row *const *)right;
    return a->device != b->device ? a->device - b->device : (a > b) - (a < b);
}

/* Copies come before triads, as in the page's sentences, then larger problems first; the rows of
 * one problem stand together, by device. */
static int by_problem(const void *left, const void *right)
{
    const report_row *a = *(const report_row *const *)left;
    const report_row *b = *(const report_row *const *)right;
    int kind = strcmp(a->kind, b->kind), type = strcmp(a->dtype, b->dtype);
    return kind != 0                  ? kind
           : a->size != b->size       ? (a->size < b->size) - (a->size > b->size)
           : type != 0                ? type
           : a->problem != b->problem ? a->problem - b->problem
                                      : a->device - b->device;
}

static double speed_of(const kind_of_work *work, const report_row *row)
{
    return work->shortest ? 1.0 / row->time.value : row->rate.value;
}

/* Finds the problem that most devices solved, and of these the largest, or the one that takes
 * least: rows[*from] up to the returned index. */
static int choose(const kind_of_work *work, const report_row *const *rows, int count, int *from)
{
    int most = 0, end = 0;
    double least = INFINITY;
    for (int i = 0; i < count;) {
        int next = i, devices = 0;
        double time = INFINITY;
        for (; next < count && rows[next]->problem == rows[i]->problem; next++) {
            devices += next == i || rows[next]->device != rows[next - 1]->device;
            time = fmin(time, rows[next]->time.value);
        }
        if (devices > most || (devices == most && work->shortest && time < least)) {
            most = devices;
            least = time;
            *from = i;
            end = next;
        }
        i = next;
    }
    return end;
}

static void describe(const kind_of_work *work, const report_model *model, const report_row *best,
                     chart_row *line)
{
    char value[REPORT_TEXT];
    if (work->shortest) {
        report_time(value, best->time.value);
        line->words = record_format("%s a call", value);
    } else {
        bool flops = model->groups[best->group].flops;
        chart_value(value, flops ? CHART_FLOPS : CHART_MOVED, best->rate.value * 1e9);
        line->words = best->percent > 0.0
                          ? record_format("%s, %.0f %% of its limit", value, best->percent)
                          : record_format("%s", value);
    }
    char *words = figure_group_words(best), *size = figure_size_words(best);
    bool named = work->shortest && best->kind[0] == '\0'; /* the kind says what it is */
    line->name = record_format("%s", work->name);
    line->note = record_format("%s%s%s%s%s", named ? best->op : "", named ? " " : "", words,
                               words[0] ? ", " : "", size);
    line->device = best->device;
    free(words);
    free(size);
}

static void add_work(const kind_of_work *work, const report_model *model,
                     const report_row *const *rows, int count, chart_panel *panel)
{
    int from = 0, end = work->own ? count : choose(work, rows, count, &from);
    const report_row *best = rows[from];
    for (int i = from; i < end; i++) {
        best = speed_of(work, rows[i]) > speed_of(work, best) ? rows[i] : best;
    }
    chart_row line = {.device = -1};
    describe(work, model, best, &line);
    int at = chart_row_add(panel, line);
    double top = speed_of(work, best);
    for (int i = from; i < end;) { /* the fastest of each device */
        const report_row *mine = rows[i];
        for (int device = rows[i]->device; i < end && rows[i]->device == device; i++) {
            mine = speed_of(work, rows[i]) > speed_of(work, mine) ? rows[i] : mine;
        }
        double y = speed_of(work, mine) / top;
        report_span span = work->shortest ? mine->time : mine->rate;
        double low = work->shortest ? span.value / span.high : span.low / span.value;
        double high = work->shortest ? span.value / span.low : span.high / span.value;
        chart_point_add(chart_series_of(panel, mine->device, LOOK_OWN, "fastest variant"),
                        (chart_point){at, y, low * y, high * y});
        if (mine->percent > 0.0 && !work->shortest) {
            double limit = y / mine->percent * 100.0;
            chart_point_add(chart_series_of(panel, mine->device, LOOK_ROOF, "limit"),
                            (chart_point){at, limit, limit, limit});
        }
    }
}

void figure_overview(figure_list *list, const report_model *model)
{
    const report_row **rows =
        record_need(calloc((size_t)model->row_count + 1, sizeof(const report_row *)));
    chart_panel *panel = NULL;
    figure *shown = NULL;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        int count = 0;
        for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
            if (stands_for(&works[i], row)) {
                rows[count++] = row;
            }
        }
        if (count == 0 || (works[i].shortest && !panel)) { /* it means little alone */
            continue;
        }
        if (!panel) {
            shown = chart_figure(list, model, record_format("overview"), NULL,
                                 record_format("How fast each device is"));
            panel = chart_panel_add(shown->data, CHART_DOTS, NULL);
        }
        qsort(rows, (size_t)count, sizeof *rows, works[i].own ? by_device : by_problem);
        add_work(&works[i], model, rows, count, panel);
    }
    free(rows);
    if (!shown) {
        return;
    }
    shown->data->wide = 740.0;
    shown->data->y = (chart_axis){.unit = CHART_RATIO,
                                  .label = "speed relative to the fastest device (logarithmic)"};
    shown->caption = record_format(
        "The words are about the fastest device. Products are at each device’s best size, of "
        "which the fastest device’s is named; other work is at the largest size that most devices "
        "did. A limit is the most that the device reached in this run by only reading, copying or "
        "multiplying, or for matrix units its maker’s figure.");
    shown->alt = record_format("Dot chart: speed of %d devices relative to the fastest for %d "
                               "kinds of work.",
                               model->device_count, panel->row_count);
}
