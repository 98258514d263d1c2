/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - the figures of copy-in, kernel and copy-out. */
#include "bench/report/internal.h"

#include <math.h>

/* ---- shares of the time ---------------------------------------------------------------------- */

static const struct {
    const char *path, *label;
    int colour;
} parts[] = {{"parts.copy_in", "copy in", 4},
             {"parts.kernel", "kernel", 0},
             {"parts.copy_out", "copy out", 3}};

enum { PARTS = sizeof parts / sizeof parts[0] };

/* The time of a row with its transfers; 0: it was not measured. */
static double total_of(const report_row *row)
{
    return row->ok ? fmax(record_number(row->json, "parts.total"), 0.0) : 0.0;
}

static void add_bar(report_figure *figure, const report_row *row)
{
    char total[REPORT_TEXT], size[REPORT_TEXT], time[REPORT_TEXT];
    double spent[PARTS], sum = 0.0, at = 0.0;
    for (int i = 0; i < PARTS; i++) {
        spent[i] = fmax(record_number(row->json, parts[i].path), 0.0);
        sum += spent[i];
    }
    report_time(total, total_of(row));
    int name = report_figure_name(
        figure, record_format("%s %s, %s", row->variant, report_count(size, row->size), total));
    for (int i = 0; i < PARTS && sum > 0.0; i++) {
        double share = spent[i] / sum * 100.0;
        figure_series *series = report_figure_series(figure, record_format("%s", parts[i].label),
                                                     parts[i].colour, 5, 0);
        char *tip =
            record_format("%s %s: %s %s, %.1f %% of the parts; together %s", row->variant,
                          row->shape, parts[i].label, report_time(time, spent[i]), share, total);
        report_span middle = {at + share / 2.0, at, at + share};
        report_figure_value(figure, series, row->size, name, middle, tip);
        at += share;
    }
}

static void put_parts(report_page *page, int group, int device)
{
    const report_model *model = page->model;
    report_figure *figure = report_figure_make(
        FIGURE_BARS, record_format("parts-%s-%d", model->groups[group].slug, device),
        record_format("%s on %s", model->groups[group].title, model->devices[device].label),
        (figure_scale){AXIS_SHARE, "share of the time", 0, 0}, (figure_scale){.label = ""});
    for (const report_row *row = NULL; (row = report_next(model, row, group, device));) {
        if (total_of(row) > 0.0) {
            add_bar(figure, row);
        }
    }
    report_figure_put(page, figure);
}

void report_parts(report_page *page)
{
    const report_model *model = page->model;
    const report_row *row = NULL;
    while ((row = report_next(model, row, -1, -1)) && !(total_of(row) > 0.0)) {
    }
    if (!row) {
        return;
    }
    fputs("<section id=\"parts\"><h2>Copy in, kernel, copy out</h2>\n<p>The same work with its "
          "operands moved from host memory and its result moved back. The time beside the size is "
          "the whole, from the first copy to the last.</p>\n<div class=\"figures\">\n",
          page->out);
    for (int group = 0; group < model->group_count; group++) {
        for (int device = 0; device < model->device_count; device++) {
            put_parts(page, group, device);
        }
    }
    fputs("</div>\n</section>\n", page->out);
}
