/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - makes the data of a figure, and writes it as CSV. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

figure *chart_figure(figure_list *list, const report_model *model, char *name, const char *op,
                     char *title)
{
    list->items = record_grow(list->items, list->count, sizeof *list->items);
    figure *made = &list->items[list->count++];
    *made = (figure){.name = name, .op = op, .title = title};
    made->data = record_need(calloc(1, sizeof *made->data));
    *made->data = (chart){.model = model, .wide = 1120.0};
    return made;
}

static void free_panel(chart_panel *panel)
{
    for (int i = 0; i < panel->count; i++) {
        free(panel->series[i].variant);
        free(panel->series[i].points);
    }
    for (int i = 0; i < panel->row_count; i++) {
        free(panel->rows[i].name);
        free(panel->rows[i].note);
        free(panel->rows[i].words);
    }
    free(panel->series);
    free(panel->rows);
    free(panel->title);
}

void chart_figure_drop(figure_list *list)
{
    figure *shown = &list->items[--list->count];
    for (int j = 0; j < shown->data->count; j++) {
        free_panel(&shown->data->panels[j]);
    }
    free(shown->data->panels);
    free(shown->data);
    free(shown->name);
    free(shown->title);
    free(shown->caption);
    free(shown->alt);
}

void report_figures_free(figure_list *list)
{
    while (list->count > 0) {
        chart_figure_drop(list);
    }
    free(list->items);
    *list = (figure_list){0};
}

chart_panel *chart_panel_add(chart *data, chart_form form, char *title)
{
    data->panels = record_grow(data->panels, data->count, sizeof *data->panels);
    data->panels[data->count] = (chart_panel){.form = form, .title = title};
    return &data->panels[data->count++];
}

chart_series *chart_series_of(chart_panel *panel, int device, chart_look look, const char *variant)
{
    for (int i = 0; i < panel->count; i++) {
        chart_series *series = &panel->series[i];
        if (series->device == device && series->look == look &&
            strcmp(series->variant, variant) == 0) {
            return series;
        }
    }
    panel->series = record_grow(panel->series, panel->count, sizeof *panel->series);
    panel->series[panel->count] =
        (chart_series){.device = device, .look = look, .variant = record_format("%s", variant)};
    return &panel->series[panel->count++];
}

void chart_point_add(chart_series *series, chart_point point)
{
    series->points = record_grow(series->points, series->count, sizeof *series->points);
    series->points[series->count++] = point;
}

int chart_row_add(chart_panel *panel, chart_row row)
{
    panel->rows = record_grow(panel->rows, panel->row_count, sizeof *panel->rows);
    panel->rows[panel->row_count] = row;
    return panel->row_count++;
}

chart_look chart_look_of(const chart_panel *panel, const report_row *row, char *variant,
                         size_t room)
{
    static const struct {
        const char *variant;
        chart_look look;
    } looks[] = {{"tiled", LOOK_OWN},      {"naive", LOOK_NAIVE},   {"vendor", LOOK_VENDOR},
                 {"pageable", LOOK_NAIVE}, {"device", LOOK_VENDOR}, {"pinned", LOOK_OWN}};
    chart_look look = LOOK_OTHER;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        look = strcmp(looks[i].variant, row->variant) == 0 ? looks[i].look : look;
    }
    bool named = row->vendor && row->library[0] != '\0';
    /* A library's version is not shown. */
    snprintf(variant, room, "%.*s", (int)(named ? strcspn(row->library, " ") : 40),
             named ? row->library : row->variant);
    /* A second library of the same device looks different. */
    for (int i = 0; named && i < panel->count; i++) {
        const chart_series *other = &panel->series[i];
        if (other->device == row->device && other->look == LOOK_VENDOR &&
            strcmp(other->variant, variant) != 0) {
            look = LOOK_VENDOR_2;
        }
    }
    return look;
}

bool figure_shows(const report_row *row)
{
    return row->counts && row->operation;
}

/* ---- order and ranges ------------------------------------------------------------------------ */

static int by_x(const void *left, const void *right)
{
    const chart_point *a = left, *b = right;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y > b->y) - (a->y < b->y);
}

/* Keeps the lowest and highest point of each part of the axis that is no wider than a line. */
static void thin(chart_series *series, const chart_axis *axis)
{
    enum { PARTS = 240 };
    int kept = 0;
    if (series->count <= 2 * PARTS) {
        return;
    }
    for (int i = 0; i < series->count;) {
        int part = (int)(chart_place(axis, series->points[i].x) * PARTS), low = i, high = i;
        for (; i < series->count && (int)(chart_place(axis, series->points[i].x) * PARTS) == part;
             i++) {
            low = series->points[i].y < series->points[low].y ? i : low;
            high = series->points[i].y > series->points[high].y ? i : high;
        }
        chart_point first = series->points[low < high ? low : high];
        chart_point second = series->points[low < high ? high : low];
        series->points[kept++] = first;
        if (low != high) {
            series->points[kept++] = second;
        }
    }
    series->count = kept;
}

/* Variants may have different limits at a size: the highest counts. */
static void merge_limits(chart_series *series)
{
    int kept = 0;
    for (int i = 0; i < series->count; i++) { /* sorted by x, then y */
        kept -= kept > 0 && series->points[kept - 1].x == series->points[i].x;
        series->points[kept++] = series->points[i];
    }
    series->count = kept;
}

static void include(chart_axis *axis, double value)
{
    if (value > 0.0 && isfinite(value)) {
        axis->low = axis->low > 0.0 ? fmin(axis->low, value) : value;
        axis->high = fmax(axis->high, value);
    }
}

static void widen(chart_axis *axis, double least)
{
    if (!(axis->low > 0.0)) {
        axis->low = axis->high = 1.0;
    }
    double room = fmax(pow(axis->high / axis->low, 0.04), 1.1);
    axis->low /= room;
    axis->high *= room;
    if (axis->high / axis->low < least) {
        double middle = sqrt(axis->low * axis->high);
        axis->low = middle / sqrt(least);
        axis->high = middle * sqrt(least);
    }
}

/* A limit of memory that is the same at every size is drawn from end to end, although results that
 * fit a cache are not compared with it. */
static void extend_limit(chart_series *series, const chart_axis *axis)
{
    chart_point first = series->points[0];
    for (int i = 1; i < series->count; i++) {
        if (fabs(series->points[i].y / first.y - 1.0) > 0.01) {
            return;
        }
    }
    series->count = 1;
    series->points[0].x = axis->low;
    first.x = axis->high;
    chart_point_add(series, first);
}

void chart_settle(figure *shown)
{
    chart *data = shown->data;
    bool ranged = data->y.high > 0.0;
    for (int i = 0; i < data->count; i++) {
        chart_panel *panel = &data->panels[i];
        for (int j = 0; j < panel->count; j++) {
            chart_series *series = &panel->series[j];
            if (panel->form == CHART_CURVES || series->look == LOOK_ROOF) {
                qsort(series->points, (size_t)series->count, sizeof *series->points, by_x);
            }
            if (series->look == LOOK_ROOF && shown->op) {
                merge_limits(series);
            }
            for (int k = 0; k < series->count; k++) {
                const chart_point *point = &series->points[k];
                if (panel->form == CHART_CURVES) {
                    include(&data->x, point->x);
                }
                if (!ranged) {
                    include(&data->y, point->y);
                }
                if (!ranged && panel->form == CHART_DOTS) { /* no interval is cut off */
                    include(&data->y, point->low);
                    include(&data->y, point->high);
                }
            }
        }
    }
    widen(&data->x, 4.0);
    if (!ranged) {
        widen(&data->y, 4.0);
    }
    for (int i = 0; i < data->count; i++) {
        for (int j = 0; j < data->panels[i].count && data->panels[i].form == CHART_CURVES; j++) {
            chart_series *series = &data->panels[i].series[j];
            thin(series, &data->x);
            if (series->look == LOOK_ROOF && shown->op && data->y.unit == CHART_MOVED) {
                extend_limit(series, &data->x);
            }
        }
    }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_number(FILE *out, double value)
{
    char text[40] = "";
    if (isfinite(value)) {
        snprintf(text, sizeof text, "%.9g", value);
    }
    fprintf(out, ",%s", record_point(text));
}

static void put_point(FILE *out, const figure *shown, const chart_panel *panel,
                      const chart_series *series, const chart_point *point)
{
    const char *device =
        series->device < 0 ? "" : shown->data->model->devices[series->device].brief;
    const char *const texts[] = {shown->name, panel->title ? panel->title : "",
                                 series->look == LOOK_ROOF ? "limit" : "measured", device,
                                 series->variant};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fputs(i > 0 ? "," : "", out);
        record_csv_text(out, texts[i]);
    }
    if (panel->form == CHART_CURVES) {
        put_number(out, point->x);
    } else {
        fputc(',', out);
        record_csv_text(out, panel->rows[(int)point->x].name);
    }
    put_number(out, point->y);
    put_number(out, point->low);
    put_number(out, point->high);
    fputs("\r\n", out);
}

void report_figure_csv(FILE *out, const figure *shown)
{
    fputs("figure,panel,series,device,variant,x,y,low,high\r\n", out);
    for (int i = 0; i < shown->data->count; i++) {
        const chart_panel *panel = &shown->data->panels[i];
        for (int j = 0; j < panel->count; j++) {
            for (int k = 0; k < panel->series[j].count; k++) {
                put_point(out, shown, panel, &panel->series[j], &panel->series[j].points[k]);
            }
        }
    }
}
