/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - the figures of rate against size, one for each operation. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Groups with fewer sizes are rows of one panel instead of a panel each. */
enum { FEWEST_SIZES = 3, MOST_PANELS = 12, MOST_ROWS = 24 };

/* What is drawn of a group. */
typedef struct share {
    double sizes[FEWEST_SIZES]; /* the first different ones */
    int size_count;
    double largest;
    int rows;
    int panel;             /* -1: none */
    int line;              /* of the panel of rows; -1: none */
    const report_row *row; /* any one */
} share;

typedef struct rates {
    figure_list *list;
    const report_model *model;
    share *shares; /* of each group */
} rates;

/* ---- words ----------------------------------------------------------------------------------- */

static const char *type_words(const char *dtype)
{
    static const char *const words[][2] = {{"e1", "1-byte elements"},
                                           {"e2", "2-byte elements"},
                                           {"e4", "4-byte elements"},
                                           {"e8", "8-byte elements"},
                                           {"e16", "16-byte elements"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], dtype) == 0) {
            return words[i][1];
        }
    }
    return dtype;
}

static void add_words(char *text, size_t room, const char *words)
{
    if (words[0] != '\0') {
        tool_join(text, room, ", ", words);
    }
}

/* "sum f32, along axis 0", "f64, B transposed, 64 at once" */
char *figure_group_words(const report_row *row)
{
    char text[160], more[80];
    const json_t *shape = json_object_get(row->json, "shape");
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    snprintf(text, sizeof text, "%s%s%s", row->kind, row->kind[0] && row->dtype[0] ? " " : "",
             type_words(row->dtype));
    static const char *const layouts[][3] = {{"layout.trans_a", "t", "A transposed"},
                                             {"layout.trans_b", "t", "B transposed"},
                                             {"layout.axis", "0", "along axis 0"},
                                             {"layout.axis", "1", "along axis 1"},
                                             {"math", "tf32", "tf32"},
                                             {"math", "fast", "fast"},
                                             {"cache", "cold", "cold caches"},
                                             {"fill", "special", "special values"}};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (strcmp(record_text(row->json, layouts[i][0]), layouts[i][1]) == 0) {
            add_words(text, sizeof text, layouts[i][2]);
        }
    }
    more[0] = '\0';
    if (m > 0.0 && n > 0.0 && k > 0.0 && (m != n || n != k)) {
        double least = fmin(m, fmin(n, k));
        snprintf(more, sizeof more, "%.4g:%.4g:%.4g", m / least, n / least, k / least);
    } else if (rows > 1.0 && cols > 0.0 && rows != cols) {
        double least = fmin(rows, cols);
        snprintf(more, sizeof more, "%.4g:%.4g", rows / least, cols / least);
    }
    add_words(text, sizeof text, more);
    if (batch > 1.0) {
        snprintf(more, sizeof more, "%.0f at once", batch);
        add_words(text, sizeof text, more);
    }
    return record_format("%s", text);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The limit of a row in the unit of its rate; NaN: none. */
static double limit_of(const report_row *row)
{
    return row->percent > 0.0 ? row->rate.value / row->percent * 1e11 : NAN;
}

/* Adds to a device's limit at a size: variants may have different ones, and the highest counts. */
static void add_limit(chart_panel *panel, const report_row *row, double x)
{
    double limit = limit_of(row);
    char text[REPORT_TEXT];
    if (!(limit > 0.0)) {
        return;
    }
    const json_t *roof = json_object_get(row->json, "roof");
    const bool flops = strcmp(record_text(roof, "unit"), "GB/s") != 0;
    chart_series *series = NULL;
    for (int i = 0; i < panel->count && !series; i++) {
        bool same = panel->series[i].device == row->device && panel->series[i].look == LOOK_ROOF;
        series = same ? &panel->series[i] : NULL;
    }
    series = series ? series : chart_series_of(panel, row->device, LOOK_ROOF, "");
    chart_value(text, flops ? CHART_FLOPS : CHART_MOVED, record_number(roof, "value") * 1e9);
    double last = 0.0;
    for (int i = 0; i < series->count; i++) {
        last = fmax(series->points[i].x, last);
        if (series->points[i].x == x) {
            series->points[i].y = fmax(series->points[i].y, limit);
            return;
        }
    }
    if (x >= last) { /* the limit of the largest size names the line */
        free(series->variant);
        series->variant = record_format("%s %s", record_text(roof, "name"), text);
    }
    chart_point_add(series, (chart_point){x, limit, limit, limit});
}

static void add_row(rates *work, figure *shown, const report_row *row)
{
    const share *part = &work->shares[row->group];
    bool curve = part->panel >= 0 && row->size > 0.0;
    char variant[48];
    if (!(row->rate.value > 0.0) || (!curve && (part->line < 0 || row->size != part->largest))) {
        return;
    }
    int at = curve ? part->panel : shown->data->count - 1;
    chart_panel *panel = &shown->data->panels[at];
    double x = curve ? row->size : part->line;
    chart_look look = chart_look_of(panel, row, variant, sizeof variant);
    chart_point_add(
        chart_series_of(panel, row->device, look, variant),
        (chart_point){x, row->rate.value * 1e9, row->rate.low * 1e9, row->rate.high * 1e9});
    add_limit(panel, row, x);
}

/* ---- figures --------------------------------------------------------------------------------- */

static bool belongs(const report_group *a, const report_group *b)
{
    return a->operation == b->operation && strcmp(a->op, b->op) == 0 && a->flops == b->flops;
}

/* Gives each group a panel or a line of the panel of rows. Returns how many groups got neither. */
static int place_groups(rates *work, figure *shown, const report_group *like)
{
    const report_model *model = work->model;
    int curves = 0, lines = 0, left = 0;
    for (int g = 0; g < model->group_count; g++) {
        share *part = &work->shares[g];
        if (part->rows == 0 || !belongs(like, &model->groups[g])) {
            continue;
        }
        if (part->size_count >= FEWEST_SIZES && curves < MOST_PANELS) {
            part->panel = curves++;
            chart_panel_add(shown, CHART_CURVES, figure_group_words(part->row));
        } else {
            left += lines++ >= MOST_ROWS;
        }
    }
    if (lines == 0) {
        return 0;
    }
    const char *title = curves > 0 ? "Cases of one or two sizes: the largest" : NULL;
    chart_panel *rows =
        chart_panel_add(shown, CHART_DOTS, title ? record_format("%s", title) : NULL);
    for (int g = 0; g < model->group_count; g++) {
        share *part = &work->shares[g];
        if (part->rows == 0 || part->panel >= 0 || !belongs(like, &model->groups[g]) ||
            rows->row_count == MOST_ROWS) {
            continue;
        }
        char *words = figure_group_words(part->row);
        char size[REPORT_TEXT];
        report_count(size, part->largest);
        part->line = chart_row_add(rows, (chart_row){.name = record_format("%s, %s", words, size)});
        free(words);
    }
    return left;
}

static void make_figure(rates *work, int first)
{
    const report_model *model = work->model;
    const report_group *like = &model->groups[first];
    const bench_op *operation = like->operation;
    bool second = like->flops && operation->computes && operation->computes[0] != '\0';
    figure *shown =
        chart_figure(work->list, model,
                     record_format("rate-%s%s%s", operation->name, second ? "-" : "",
                                   second ? operation->computes : ""),
                     like->op,
                     record_format("%s: rate against size",
                                   second ? operation->computes_title : operation->title));
    shown->data->y = (chart_axis){.unit = like->flops ? CHART_FLOPS : CHART_MOVED,
                                  .label = like->flops ? "FLOP/s" : "B/s"};
    shown->data->x = (chart_axis){.unit = operation->moves ? CHART_BYTES : CHART_COUNT,
                                  .label = operation->size};
    int left = place_groups(work, shown, like);
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        if (figure_shows(row) && belongs(like, &model->groups[row->group])) {
            add_row(work, shown, row);
        }
    }
    char *more = left > 0 ? record_format(" %d more groups are only in the tables.", left)
                          : record_format("%s", "");
    shown->caption = record_format(
        "Median rate of each variant on each device, both axes logarithmic. Whiskers are the "
        "intervals of the medians where they are wider than the marks. A dotted line is the limit "
        "of the device for that work.%s",
        more);
    shown->alt = record_format("Line chart: rate of %d devices in %d panels.", model->device_count,
                               shown->data->count);
    free(more);
}

void figure_rates(figure_list *list, const report_model *model)
{
    rates work = {list, model,
                  record_need(calloc((size_t)model->group_count + 1, sizeof *work.shares))};
    for (int g = 0; g < model->group_count; g++) {
        work.shares[g].panel = work.shares[g].line = -1;
    }
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        share *part = &work.shares[row->group];
        if (!figure_shows(row) || !row->operation) {
            continue;
        }
        bool known = !(row->size > 0.0);
        for (int i = 0; i < part->size_count; i++) {
            known = known || part->sizes[i] == row->size;
        }
        if (!known && part->size_count < FEWEST_SIZES) {
            part->sizes[part->size_count++] = row->size;
        }
        part->largest = fmax(row->size, part->largest);
        part->row = row;
        part->rows++;
    }
    for (int g = 0; g < model->group_count; g++) {
        bool first = work.shares[g].rows > 0;
        for (int before = 0; before < g; before++) {
            first = first && !(work.shares[before].rows > 0 &&
                               belongs(&model->groups[before], &model->groups[g]));
        }
        if (first) {
            make_figure(&work, g);
        }
    }
    free(work.shares);
}
