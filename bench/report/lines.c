/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - time and rate against size, and transfers. */
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

figure_series *report_series_of(report_page *page, report_figure *figure, const report_row *row)
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
        if (other->mark == 9 && other->colour == row->device % (REPORT_COLOURS - 1) &&
            strncmp(other->label, device->brief, strlen(device->brief)) == 0 &&
            !strstr(other->label, row->library)) {
            mark = OTHER_LIBRARY;
        }
    }
    char *label = named ? report_format("%s %s (%s)", device->brief, row->variant, row->library)
                        : report_format("%s %s", device->brief, row->variant);
    return report_figure_series(figure, label, row->device % (REPORT_COLOURS - 1), mark, dash);
}

static char *tip_of(const report_row *row, const char *label, bool rate, const char *unit)
{
    char *shape = report_shape(row), *tip = NULL, value[REPORT_TEXT], low[REPORT_TEXT],
         high[REPORT_TEXT];
    report_axis axis = rate ? AXIS_RATE : AXIS_TIME;
    report_axis_value(value, axis, rate ? row->rate : row->time, unit);
    report_axis_value(low, axis, rate ? row->rate_low : row->low, "");
    report_axis_value(high, axis, rate ? row->rate_high : row->high, "");
    if (shape && isfinite(row->percent) && rate) {
        tip = report_format("%s; %s: %s (%s to %s), %.1f %% of its roof", label, shape, value, low,
                            high, row->percent);
    } else if (shape) {
        tip = report_format("%s; %s: %s (%s to %s)", label, shape, value, low, high);
    }
    free(shape);
    return tip;
}

static void add_result(report_page *page, report_figure *figure, const report_row *row, bool rate,
                       int name)
{
    const report_group *group = &page->model->groups[row->group];
    double value = rate ? row->rate : row->time;
    if (!(value > 0.0)) {
        return;
    }
    figure_series *series = report_series_of(page, figure, row);
    char *tip = tip_of(row, series ? series->label : "", rate, report_model_unit(group));
    figure_point point = {.low = rate ? row->rate_low : row->low,
                          .high = rate ? row->rate_high : row->high,
                          .tip = tip};
    point.x = name < 0 ? row->size : value;
    point.y = name < 0 ? value : name + 1.0; /* rows count from 1 until they are settled */
    report_figure_point(figure, series, point);
}

static int sizes_of(const report_model *model, int group)
{
    double first = NAN;
    int sizes = 0;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group != group || !row->ok || !(row->size > 0.0) || row->size == first) {
            continue;
        }
        first = isnan(first) ? row->size : first;
        sizes++;
    }
    return sizes;
}

/* ---- the roofs that rates are held against --------------------------------------------------- */

static void add_roofs(report_page *page, report_figure *figure, int group)
{
    const report_model *model = page->model;
    for (int device = 0; device < model->device_count; device++) {
        double low = INFINITY, high = 0.0;
        const json_t *roof = NULL;
        for (int i = 0; i < model->row_count; i++) {
            const report_row *row = &model->rows[i];
            if (row->group != group || row->device != device || !row->ok || !(row->percent > 0.0)) {
                continue;
            }
            low = row->size < low ? row->size : low;
            high = row->size > high ? row->size : high;
            roof = json_object_get(row->json, "roof");
        }
        double value = record_number(roof, "value");
        if (!(value > 0.0) || !(low > 0.0)) {
            continue;
        }
        char text[REPORT_TEXT];
        report_axis_value(text, AXIS_RATE, value, record_text(roof, "unit"));
        figure_series *series = report_figure_series(
            figure,
            report_format("%s roof: %s", model->devices[device].brief, record_text(roof, "name")),
            device % (REPORT_COLOURS - 1), 0, 3);
        for (int end = 0; end < 2; end++) {
            report_figure_point(figure, series,
                                (figure_point){.x = end ? high : low,
                                               .y = value,
                                               .low = value,
                                               .high = value,
                                               .tip = strdup(text)});
        }
    }
}

static void put_lines(report_page *page, int at, bool rate)
{
    const report_group *group = &page->model->groups[at];
    report_figure *figure = report_figure_make(
        FIGURE_LINES, report_format("%s-%s", group->slug, rate ? "rate" : "time"),
        report_format("%s: %s", group->title, rate ? "rate" : "time"), strdup(""));
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = group->operation->moves ? AXIS_BYTES : AXIS_COUNT;
    figure->y = rate ? AXIS_RATE : AXIS_TIME;
    figure->x_label = group->operation->size;
    figure->y_label = rate ? report_model_unit(group) : "time of one call";
    for (int i = 0; i < page->model->row_count; i++) {
        const report_row *row = &page->model->rows[i];
        if (row->group == at && row->ok && row->size > 0.0) {
            add_result(page, figure, row, rate, -1);
        }
    }
    if (rate) {
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

/* "stream f32", as documents call maps; "stream chain"; "gemm, cases of one size". */
static char *rows_title(const report_group *like)
{
    if (like->operation->computes_title) {
        return report_format("%s %s", like->op, like->flops ? like->kind : like->dtype);
    }
    return report_format("%s, cases of one size", like->op);
}

static void add_row(report_page *page, report_figure *figure, const report_row *row, bool rate)
{
    const report_group *group = &page->model->groups[row->group];
    const char *rest = group->plain + strlen(group->op);
    char *shape = report_shape(row);
    int name = report_figure_name(
        figure, shape ? report_format("%s, %s", rest[0] == ' ' ? rest + 1 : rest, shape) : NULL);
    free(shape);
    add_result(page, figure, row, rate, name);
}

static void put_rows(report_page *page, int first, bool rate)
{
    const report_model *model = page->model;
    const report_group *like = &model->groups[first];
    const char *what = rate ? "rate" : "time";
    char *title = rows_title(like), *slug = title ? report_slug(title) : NULL;
    report_figure *figure = NULL;
    if (slug) {
        figure = report_figure_make(FIGURE_ROWS, report_format("%s-%s", slug, what),
                                    report_format("%s: %s", title, what), strdup(""));
    }
    free(title);
    free(slug);
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = rate ? AXIS_RATE : AXIS_TIME;
    figure->x_label = rate ? report_model_unit(like) : "time of one call";
    for (int g = first; g < model->group_count; g++) {
        if (!same_rows(like, &model->groups[g]) || sizes_of(model, g) != 1) {
            continue;
        }
        for (int i = 0; i < model->row_count; i++) {
            if (model->rows[i].group == g && model->rows[i].ok) {
                add_row(page, figure, &model->rows[i], rate);
            }
        }
    }
    report_figure_put(page, figure);
}

static void put_group(report_page *page, int at)
{
    const report_model *model = page->model;
    int sizes = sizes_of(model, at);
    if (sizes > 1) {
        put_lines(page, at, false);
        put_lines(page, at, true);
    } else if (sizes == 1) {
        for (int g = 0; g < at; g++) { /* drawn with an earlier one */
            if (same_rows(&model->groups[g], &model->groups[at]) && sizes_of(model, g) == 1) {
                return;
            }
        }
        put_rows(page, at, false);
        put_rows(page, at, true);
    }
}

static bool any(const report_model *model, bool transfers)
{
    for (int i = 0; i < model->row_count; i++) {
        if (model->rows[i].ok && model->rows[i].operation->moves == transfers) {
            return true;
        }
    }
    return false;
}

static void put_all(report_page *page, bool transfers)
{
    fputs("<div class=\"figures\">\n", page->out);
    for (int i = 0; i < page->model->group_count; i++) {
        if (page->model->groups[i].operation->moves == transfers) {
            put_group(page, i);
        }
    }
    fputs("</div>\n</section>\n", page->out);
}

void report_lines(report_page *page)
{
    if (!any(page->model, false)) {
        return;
    }
    fputs("<section id=\"lines\"><h2>Time and rate against size</h2>\n<p>The median of the rounds’ "
          "medians of one call, with its interval. A colour is a device, a mark is a variant; a "
          "dotted line without marks is the roof of a device. Point at a mark, or go along them "
          "with the arrow keys, to read its value; choose a line in the key to see it alone.</p>\n",
          page->out);
    put_all(page, false);
}

void report_transfers(report_page *page)
{
    if (!any(page->model, true)) {
        return;
    }
    fputs("<section id=\"transfers\"><h2>Transfers</h2>\n<p><em>write</em> is from host memory to "
          "the device, <em>read</em> back, <em>copy</em> within the device. <em>pinned</em> host "
          "memory is page-locked, <em>pageable</em> is not.</p>\n",
          page->out);
    put_all(page, true);
}
