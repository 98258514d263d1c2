/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - the figures of rate against size for each operation, and of the cases of few sizes. */
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
    int panel;             /* -1: none */
    int line;              /* of the panel of rows; -1: none */
    const report_row *row; /* of the largest size */
} share;

typedef struct rates {
    figure_list *list;
    const report_model *model;
    share *shares;        /* of each group */
    chart *curves, *dots; /* of the operation that is being drawn */
} rates;

/* ---- points ---------------------------------------------------------------------------------- */

/* The limit of a row in the unit of its rate; NaN: none. */
static double limit_of(const report_row *row)
{
    return row->percent > 0.0 ? row->rate.value / row->percent * 1e11 : NAN;
}

/* Adds a point to the limit of a device. In a curve that of the largest size names it. */
static void add_limit(chart_panel *panel, const report_row *row, double x)
{
    double limit = limit_of(row);
    chart_series *series = NULL;
    for (int i = 0; i < panel->count && !series; i++) {
        bool same = panel->series[i].device == row->device && panel->series[i].look == LOOK_ROOF;
        series = same ? &panel->series[i] : NULL;
    }
    if (!(limit > 0.0)) {
        return;
    }
    series = series ? series : chart_series_of(panel, row->device, LOOK_ROOF, "limit");
    chart_point_add(series, (chart_point){x, limit, limit, limit});
    if (panel->form == CHART_CURVES && x > series->named) {
        series->named = x;
        const json_t *roof = json_object_get(row->json, "roof");
        bool moved = strcmp(record_text(roof, "unit"), "GB/s") == 0;
        char text[REPORT_TEXT];
        chart_value(text, moved ? CHART_MOVED : CHART_FLOPS, record_number(roof, "value") * 1e9);
        free(series->variant);
        series->variant = record_format("%s %s", record_text(roof, "name"), text);
    }
}

static void add_row(const rates *work, const report_row *row)
{
    const share *part = &work->shares[row->group];
    bool curve = part->panel >= 0;
    char variant[48];
    if (!(row->rate.value > 0.0) || (curve && !(row->size > 0.0)) ||
        (!curve && (part->line < 0 || row->size != part->largest))) {
        return;
    }
    chart_panel *panel = curve ? &work->curves->panels[part->panel] : &work->dots->panels[0];
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

static chart *begin(const rates *work, const report_group *like, bool curves)
{
    const bench_op *operation = like->operation;
    bool second = like->flops && operation->computes && operation->computes[0] != '\0';
    const char *title = second ? operation->computes_title : operation->title;
    figure *shown = chart_figure(
        work->list, work->model,
        record_format("%s-%s%s%s", curves ? "rate" : "cases", operation->name, second ? "-" : "",
                      second ? operation->computes : ""),
        like->op, record_format("%s: %s", title, curves ? "rate against size" : "other cases"));
    shown->data->y = (chart_axis){.unit = like->flops ? CHART_FLOPS : CHART_MOVED,
                                  .label = like->flops ? "FLOP/s" : "B/s"};
    shown->data->x = (chart_axis){.unit = operation->moves ? CHART_BYTES : CHART_COUNT,
                                  .label = operation->size};
    shown->caption =
        curves ? record_format(
                     "Median rate of each variant on each device, both axes logarithmic. Whiskers "
                     "are the intervals of the medians where they are wider than the marks. A "
                     "dotted line is the limit of the device for that work.")
               : record_format("Cases that were measured at one or two sizes: the rate at the "
                               "larger, with its interval. A bar is the limit of the device.");
    shown->alt = record_format("%s of %d devices.",
                               curves ? "Curves of rate against size" : "Rates, a row for a case,",
                               work->model->device_count);
    return shown->data;
}

/* Gives each group a panel of curves or a row of dots, while there is room. */
static void place_group(rates *work, const report_group *like, share *part)
{
    char *words = figure_group_words(part->row);
    if (part->size_count >= FEWEST_SIZES && (!work->curves || work->curves->count < MOST_PANELS)) {
        char *form = figure_form_words(part->row);
        work->curves = work->curves ? work->curves : begin(work, like, true);
        part->panel = work->curves->count;
        chart_panel_add(work->curves, CHART_CURVES, record_format("%s%s", words, form));
        free(form);
    } else if (!work->dots || work->dots->panels[0].row_count < MOST_ROWS) {
        if (!work->dots) {
            work->dots = begin(work, like, false);
            chart_panel_add(work->dots, CHART_DOTS, NULL);
        }
        char *size = figure_size_words(part->row);
        part->line = chart_row_add(
            &work->dots->panels[0],
            (chart_row){.name = record_format("%s%s%s", words, words[0] ? ", " : "", size)});
        free(size);
    }
    free(words);
}

static void make_figures(rates *work, int first)
{
    const report_model *model = work->model;
    const report_group *like = &model->groups[first];
    work->curves = work->dots = NULL;
    for (int pass = 0; pass < 2; pass++) { /* curves first, so that their figure stands first */
        for (int g = first; g < model->group_count; g++) {
            share *part = &work->shares[g];
            if (part->row && belongs(like, &model->groups[g]) &&
                (part->size_count >= FEWEST_SIZES) == (pass == 0)) {
                place_group(work, like, part);
            }
        }
    }
    for (int g = first; g < model->group_count; g++) {
        bool drawn = work->shares[g].panel >= 0 || work->shares[g].line >= 0;
        const report_row *row = NULL;
        while (drawn && belongs(like, &model->groups[g]) &&
               (row = report_next(model, row, g, -1))) {
            if (figure_shows(row)) {
                add_row(work, row);
            }
        }
    }
}

void figure_rates(figure_list *list, const report_model *model)
{
    rates work = {.list = list,
                  .model = model,
                  .shares = record_need(calloc((size_t)model->group_count + 1, sizeof(share)))};
    for (int g = 0; g < model->group_count; g++) {
        work.shares[g].panel = work.shares[g].line = -1;
    }
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        share *part = &work.shares[row->group];
        bool known = !(row->size > 0.0) || part->size_count == FEWEST_SIZES;
        for (int i = 0; i < part->size_count; i++) {
            known = known || part->sizes[i] == row->size;
        }
        bool larger = !part->row || row->size > part->largest;
        if ((known && !larger) || !figure_shows(row)) {
            continue;
        }
        if (!known) {
            part->sizes[part->size_count++] = row->size;
        }
        if (larger) {
            part->largest = row->size;
            part->row = row;
        }
    }
    for (int g = 0; g < model->group_count; g++) {
        bool first = work.shares[g].row != NULL;
        for (int before = 0; before < g && first; before++) {
            first = !work.shares[before].row || !belongs(&model->groups[before], &model->groups[g]);
        }
        if (first) {
            make_figures(&work, g);
        }
    }
    free(work.shares);
}
