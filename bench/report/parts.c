/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - copy-in, kernel and copy-out, and the speed-up over the CPU backend. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares of the time ---------------------------------------------------------------------- */

static const struct {
    const char *key, *label;
    int colour;
} parts[] = {{"copy_in", "copy in", 4}, {"kernel", "kernel", 0}, {"copy_out", "copy out", 3}};

enum { PARTS = sizeof parts / sizeof parts[0] };

static const json_t *parts_of(const report_row *row)
{
    const json_t *all = json_object_get(row->json, "parts");
    return row->ok && record_number(all, "total") > 0.0 ? all : NULL;
}

static void add_bar(report_figure *figure, const report_row *row)
{
    const json_t *all = parts_of(row);
    char *shape = report_shape(row), total[REPORT_TEXT], size[REPORT_TEXT];
    double sum = 0.0, at = 0.0;
    for (int i = 0; i < PARTS; i++) {
        sum += fmax(record_number(all, parts[i].key), 0.0);
    }
    report_time(total, record_number(all, "total"));
    int name = report_figure_name(
        figure, report_format("%s %s, %s", row->variant, report_count(size, row->size), total));
    for (int i = 0; i < PARTS && sum > 0.0 && shape; i++) {
        double nanoseconds = fmax(record_number(all, parts[i].key), 0.0);
        double share = nanoseconds / sum * 100.0;
        char time[REPORT_TEXT];
        figure_series *series =
            report_figure_series(figure, strdup(parts[i].label), parts[i].colour, 5, 0);
        char *tip =
            report_format("%s %s: %s %s, %.1f %% of the parts; together %s", row->variant, shape,
                          parts[i].label, report_time(time, nanoseconds), share, total);
        report_figure_point(
            figure, series,
            (figure_point){
                .x = at + share / 2.0, .y = name + 1.0, .low = at, .high = at + share, .tip = tip});
        at += share;
    }
    free(shape);
}

static void put_parts(report_page *page, int group, int device)
{
    const report_model *model = page->model;
    int bars = 0;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        bars += row->group == group && row->device == device && parts_of(row);
    }
    if (bars == 0) {
        return;
    }
    report_figure *figure = report_figure_make(
        FIGURE_BARS, report_format("parts-%s-%d", model->groups[group].slug, device),
        report_format("%s on %s", model->groups[group].title, model->devices[device].label),
        strdup(""));
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = AXIS_SHARE;
    figure->x_label = "share of the time";
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group == group && row->device == device && parts_of(row)) {
            add_bar(figure, row);
        }
    }
    report_figure_put(page, figure);
}

void report_parts(report_page *page)
{
    const report_model *model = page->model;
    bool some = false;
    for (int i = 0; i < model->row_count; i++) {
        some = some || parts_of(&model->rows[i]);
    }
    if (!some) {
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

/* ---- speed-up -------------------------------------------------------------------------------- */

static const char baseline_backend[] = "openmp";

static bool is_baseline(const report_device *device)
{
    return strcmp(device->backend, baseline_backend) == 0 ||
           strncmp(device->spec, "openmp:", 7) == 0;
}

/* The CPU backend of the same file; else of any. */
static int baseline_of(const report_model *model, int device)
{
    int found = -1;
    for (int i = 0; i < model->device_count; i++) {
        if (!is_baseline(&model->devices[i])) {
            continue;
        }
        if (model->devices[i].file == model->devices[device].file) {
            return i;
        }
        found = found < 0 ? i : found;
    }
    return found;
}

/* The fastest of a device with its transfers. */
static const report_row *whole_of(const report_model *model, const char *problem, int device)
{
    const report_row *best = NULL;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        const json_t *all = row->device == device ? parts_of(row) : NULL;
        if (all && strcmp(row->problem, problem) == 0 &&
            (!best || record_number(all, "total") < record_number(parts_of(best), "total"))) {
            best = row;
        }
    }
    return best;
}

static void add_speedup(report_page *page, report_figure *figure, const report_row *row,
                        double time, bool whole, int name)
{
    const report_model *model = page->model;
    int base = baseline_of(model, row->device);
    const report_row *cpu = report_model_best(model, row->problem, base, REPORT_ANY);
    char *shape = report_shape(row), mine[REPORT_TEXT], theirs[REPORT_TEXT], ratio[REPORT_TEXT];
    if (!cpu || !shape || !(time > 0.0)) {
        free(shape);
        return;
    }
    double value = cpu->time / time;
    char *tip = report_format("%s %s%s; %s: %s times as fast (%s against %s of %s %s)",
                              model->devices[row->device].brief, row->variant,
                              whole ? " with transfers" : "", shape, report_rate(ratio, value),
                              report_time(mine, time), report_time(theirs, cpu->time),
                              model->devices[base].brief, cpu->variant);
    free(shape);
    figure_series *series =
        report_figure_series(figure,
                             report_format("%s %s", model->devices[row->device].brief,
                                           whole ? "with transfers" : "without transfers"),
                             row->device % (REPORT_COLOURS - 1), whole ? 6 : 5, whole ? 2 : 1);
    figure_point point = {.x = name < 0 ? row->size : value,
                          .y = name < 0 ? value : name + 1.0,
                          .low = value,
                          .high = value,
                          .tip = tip};
    report_figure_point(figure, series, point);
}

/* The first row of its problem on its device, so that each is drawn once. */
static bool leads(const report_model *model, const report_row *row)
{
    for (const report_row *other = model->rows; other < row; other++) {
        if (other->ok && other->device == row->device &&
            strcmp(other->problem, row->problem) == 0) {
            return false;
        }
    }
    return true;
}

static bool compared(const report_model *model, const report_row *row)
{
    if (!row->ok || !(row->size > 0.0) || row->operation->moves ||
        is_baseline(&model->devices[row->device]) || !leads(model, row)) {
        return false;
    }
    int base = baseline_of(model, row->device);
    return base >= 0 && report_model_best(model, row->problem, base, REPORT_ANY);
}

static int speedup_sizes(const report_model *model, int group)
{
    double first = NAN;
    int sizes = 0;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group != group || !compared(model, row) || row->size == first) {
            continue;
        }
        if (isnan(first)) {
            first = row->size;
        }
        sizes++;
    }
    return sizes;
}

static void add_both(report_page *page, report_figure *figure, const report_row *row, bool named)
{
    const report_model *model = page->model;
    const report_row *best = report_model_best(model, row->problem, row->device, REPORT_ANY);
    const report_row *whole = whole_of(model, row->problem, row->device);
    int name = -1;
    if (named) {
        char *shape = report_shape(row);
        name = report_figure_name(
            figure, shape ? report_format("%s, %s", model->groups[row->group].plain, shape) : NULL);
        free(shape);
    }
    add_speedup(page, figure, best, best->time, false, name);
    if (whole) {
        add_speedup(page, figure, whole, record_number(parts_of(whole), "total"), true, name);
    }
}

static void put_speedup(report_page *page, int group)
{
    const report_model *model = page->model;
    report_figure *figure = report_figure_make(
        FIGURE_LINES, report_format("speedup-%s", model->groups[group].slug),
        report_format("%s: speed-up over the CPU", model->groups[group].title), strdup(""));
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = AXIS_COUNT;
    figure->y = AXIS_RATIO;
    figure->x_label = model->groups[group].operation->size;
    figure->y_label = "times as fast";
    for (int i = 0; i < model->row_count; i++) {
        if (model->rows[i].group == group && compared(model, &model->rows[i])) {
            add_both(page, figure, &model->rows[i], false);
        }
    }
    report_figure_put(page, figure);
}

/* What has one size goes into one figure. */
static void put_single(report_page *page)
{
    const report_model *model = page->model;
    report_figure *figure =
        report_figure_make(FIGURE_ROWS, strdup("speedup-others"),
                           strdup("Operations of one size: speed-up over the CPU"), strdup(""));
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = AXIS_RATIO;
    figure->x_label = "times as fast";
    for (int i = 0; i < model->row_count; i++) {
        if (compared(model, &model->rows[i]) && speedup_sizes(model, model->rows[i].group) == 1) {
            add_both(page, figure, &model->rows[i], true);
        }
    }
    report_figure_put(page, figure);
}

void report_speedup(report_page *page)
{
    const report_model *model = page->model;
    int single = 0, lines = 0;
    for (int i = 0; i < model->group_count; i++) {
        int sizes = speedup_sizes(model, i);
        single += sizes == 1;
        lines += sizes > 1;
    }
    if (single + lines == 0) {
        return;
    }
    fputs("<section id=\"speedup\"><h2>Speed-up over the CPU backend</h2>\n<p>The fastest of a "
          "device against the fastest of the CPU backend on the same problem, with its own "
          "transfers counted and without.</p>\n<div class=\"figures\">\n",
          page->out);
    for (int i = 0; i < model->group_count; i++) {
        if (speedup_sizes(model, i) > 1) {
            put_speedup(page, i);
        }
    }
    if (single > 0) {
        put_single(page);
    }
    fputs("</div>\n</section>\n", page->out);
}
