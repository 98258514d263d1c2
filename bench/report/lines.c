/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - the figures of time and rate against size, and those of transfers. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines of results ------------------------------------------------------------------------ */

static const struct {
    const char *variant;
    int mark, dash;
} looks[] = {{"naive", 6, 3},    {"tiled", 5, 1},  {"vendor", 9, 2}, {"partials", 11, 4},
             {"pageable", 6, 2}, {"pinned", 5, 1}, {"device", 7, 1}};

enum { LOOKS = sizeof looks / sizeof looks[0], OTHER_LIBRARY = 11 };

/* Finds or makes the series of the row's device, variant and library. */
static figure_series *series_of(const report_page *page, report_figure *figure,
                                const report_row *row)
{
    const report_device *device = &page->model->devices[row->device];
    int mark = 4, dash = 4;
    for (int i = 0; i < LOOKS; i++) {
        if (strcmp(looks[i].variant, row->variant) == 0) {
            mark = looks[i].mark;
            dash = looks[i].dash;
        }
    }
    bool named = row->vendor && row->library[0] != '\0';
    /* A second library of the same device has another mark. */
    for (int i = 0; named && i < figure->count; i++) {
        const figure_series *other = &figure->series[i];
        if (other->mark == 9 && other->colour == device->colour &&
            strncmp(other->label, device->brief, strlen(device->brief)) == 0 &&
            !strstr(other->label, row->library)) {
            mark = OTHER_LIBRARY;
        }
    }
    char *label = named ? record_format("%s %s (%s)", device->brief, row->variant, row->library)
                        : record_format("%s %s", device->brief, row->variant);
    return report_figure_series(figure, label, device->colour, mark, dash);
}

/* A figure shows rates or times. */
typedef struct quantity {
    const char *name;
    report_axis axis;
} quantity;

static const quantity quantities[] = {{"time", AXIS_TIME}, {"rate", AXIS_RATE}};

static report_figure *make_figure(const report_group *group, figure_form form, const quantity *q,
                                  const char *title, const char *slug)
{
    figure_scale value = {q->axis, q->axis == AXIS_RATE ? group->unit : "time of one call", 0, 0};
    figure_scale size = {group->operation->moves ? AXIS_BYTES : AXIS_COUNT, group->operation->size,
                         0, 0};
    const figure_scale rows = {.label = ""};
    return report_figure_make(
        form, record_format("%s-%s", slug, q->name), record_format("%s: %s", title, q->name),
        form == FIGURE_ROWS ? value : size, form == FIGURE_ROWS ? rows : value);
}

static void add_result(report_page *page, report_figure *figure, const report_row *row,
                       report_axis axis, int name)
{
    report_span span = axis == AXIS_RATE ? row->rate : row->time;
    char value[REPORT_TEXT], low[REPORT_TEXT], high[REPORT_TEXT], share[REPORT_TEXT] = "";
    if (!(span.value > 0.0)) {
        return;
    }
    figure_series *series = series_of(page, figure, row);
    if (axis == AXIS_RATE && isfinite(row->percent)) {
        snprintf(share, sizeof share, ", %.1f %% of its roof", row->percent);
    }
    char *tip = record_format(
        "%s; %s: %s (%s to %s)%s", series->label, row->shape,
        report_axis_value(value, axis, span.value, page->model->groups[row->group].unit),
        report_axis_value(low, axis, span.low, ""), report_axis_value(high, axis, span.high, ""),
        share);
    report_figure_value(figure, series, row->size, name, span, tip);
}

/* ---- the roofs that rates are compared with -------------------------------------------------- */

static void add_roofs(report_page *page, report_figure *figure, int group)
{
    const report_model *model = page->model;
    for (int d = 0; d < model->device_count; d++) {
        double x[2] = {INFINITY, 0.0};
        const json_t *roof = NULL;
        for (const report_row *row = NULL; (row = report_next(model, row, group, d));) {
            if (row->percent > 0.0) {
                x[0] = fmin(row->size, x[0]);
                x[1] = fmax(row->size, x[1]);
                roof = json_object_get(row->json, "roof");
            }
        }
        double value = record_number(roof, "value");
        if (!(value > 0.0) || !(x[0] > 0.0)) {
            continue;
        }
        char text[REPORT_TEXT];
        report_axis_value(text, AXIS_RATE, value, record_text(roof, "unit"));
        figure_series *series = report_figure_series(
            figure,
            record_format("%s roof: %s", model->devices[d].brief, record_text(roof, "name")),
            model->devices[d].colour, 0, 3);
        report_figure_line(figure, series, x, (const double[]){value, value}, text);
    }
}

static void put_lines(report_page *page, int at, const quantity *q)
{
    const report_group *group = &page->model->groups[at];
    report_figure *figure = make_figure(group, FIGURE_LINES, q, group->title, group->slug);
    for (const report_row *row = NULL; (row = report_next(page->model, row, at, -1));) {
        if (row->size > 0.0) {
            add_result(page, figure, row, q->axis, -1);
        }
    }
    if (q->axis == AXIS_RATE) {
        add_roofs(page, figure, at);
    }
    report_figure_put(page, figure);
}

/* ---- operations with one size: a row for each ------------------------------------------------ */

static bool same_rows(const report_group *a, const report_group *b)
{
    bool many = a->operation->computes_title && !a->flops; /* a figure for each type */
    return strcmp(a->op, b->op) == 0 && a->flops == b->flops &&
           (!many || strcmp(a->dtype, b->dtype) == 0);
}

static void put_rows(report_page *page, int first, const quantity *q)
{
    const report_model *model = page->model;
    const report_group *like = &model->groups[first];
    /* "stream f32" or "stream chain" (documents call maps streams), "gemm, cases of one size" */
    char *title = like->operation->computes_title
                      ? record_format("%s %s", like->op, like->flops ? like->kind : like->dtype)
                      : record_format("%s, cases of one size", like->op);
    char *slug = report_slug(title);
    report_figure *figure = make_figure(like, FIGURE_ROWS, q, title, slug);
    free(title);
    free(slug);
    for (int g = first; g < model->group_count; g++) {
        if (!same_rows(like, &model->groups[g]) || report_sizes(model, g, NULL) != 1) {
            continue;
        }
        const char *rest = model->groups[g].plain + strlen(like->op);
        for (const report_row *row = NULL; (row = report_next(model, row, g, -1));) {
            char *name = record_format("%s, %s", rest[0] == ' ' ? rest + 1 : rest, row->shape);
            add_result(page, figure, row, q->axis, report_figure_name(figure, name));
        }
    }
    report_figure_put(page, figure);
}

static void put_group(report_page *page, int at)
{
    const report_model *model = page->model;
    int sizes = report_sizes(model, at, NULL);
    for (int g = 0; g < at && sizes == 1; g++) {
        if (same_rows(&model->groups[g], &model->groups[at]) && report_sizes(model, g, NULL) == 1) {
            return; /* drawn with the earlier group */
        }
    }
    for (int i = 0; i < 2 && sizes > 0; i++) {
        (sizes > 1 ? put_lines : put_rows)(page, at, &quantities[i]);
    }
}

/* Writes the section of all operations that transfer, or of all others. */
static void put_section(report_page *page, bool transfers, const char *head)
{
    const report_model *model = page->model;
    const report_row *row = NULL;
    while ((row = report_next(model, row, -1, -1)) && row->operation->moves != transfers) {
    }
    if (!row) {
        return;
    }
    fprintf(page->out, "%s<div class=\"figures\">\n", head);
    for (int i = 0; i < model->group_count; i++) {
        if (model->groups[i].operation->moves == transfers) {
            put_group(page, i);
        }
    }
    fputs("</div>\n</section>\n", page->out);
}

void report_lines(report_page *page)
{
    put_section(
        page, false,
        "<section id=\"lines\"><h2>Time and rate against size</h2>\n<p>The median of the rounds’ "
        "medians of one call, with its interval. A colour is a device, a mark is a variant; a "
        "dotted line without marks is the roof of a device. Point at a mark, or go along them "
        "with the arrow keys, to read its value; choose a line in the key to see it alone.</p>\n");
}

void report_transfers(report_page *page)
{
    put_section(
        page, true,
        "<section id=\"transfers\"><h2>Transfers</h2>\n<p><em>write</em> is from host memory to "
        "the device, <em>read</em> back, <em>copy</em> within the device. <em>pinned</em> host "
        "memory is page-locked, <em>pageable</em> is not.</p>\n");
}
