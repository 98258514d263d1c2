/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - the figures of copy-in, kernel and copy-out, and of the speed-up over the CPU. */
#include "bench/report/internal.h"

#include <math.h>
#include <string.h>

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

/* ---- speed-up -------------------------------------------------------------------------------- */

static const char baseline_backend[] = "openmp";

static bool is_baseline(const report_device *device)
{
    return strcmp(device->backend, baseline_backend) == 0 ||
           strncmp(device->spec, "openmp:", 7) == 0;
}

/* The CPU device that a device is compared with: one of its own file, else one of any file; -1:
 * there is none. */
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

/* The baseline's fastest row for the problem of `row`; NULL: it has none. */
static const report_row *baseline_row(const report_model *model, const report_row *row)
{
    int base = baseline_of(model, row->device);
    return base < 0 ? NULL : report_model_best(model, row->problem, base, REPORT_ANY);
}

/* A device's fastest row for a problem if transfers are counted; NULL: there is none. */
static const report_row *whole_of(const report_model *model, const char *problem, int device)
{
    const report_row *best = NULL;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, device));) {
        if (total_of(row) > 0.0 && strcmp(row->problem, problem) == 0 &&
            (!best || total_of(row) < total_of(best))) {
            best = row;
        }
    }
    return best;
}

static void add_speedup(report_page *page, report_figure *figure, const report_row *row, bool whole,
                        int name)
{
    const report_model *model = page->model;
    const report_device *device = &model->devices[row->device];
    const report_row *cpu = baseline_row(model, row);
    char mine[REPORT_TEXT], theirs[REPORT_TEXT], ratio[REPORT_TEXT];
    double time = whole ? total_of(row) : row->time.value, value = cpu->time.value / time;
    char *tip = record_format("%s %s%s; %s: %s times as fast (%s against %s of %s %s)",
                              device->brief, row->variant, whole ? " with transfers" : "",
                              row->shape, report_rate(ratio, value), report_time(mine, time),
                              report_time(theirs, cpu->time.value),
                              model->devices[cpu->device].brief, cpu->variant);
    figure_series *series = report_figure_series(
        figure,
        record_format("%s %s", device->brief, whole ? "with transfers" : "without transfers"),
        device->colour, whole ? 6 : 5, whole ? 2 : 1);
    report_figure_value(figure, series, row->size, name, (report_span){value, value, value}, tip);
}

/* Whether it is the first ok row of its problem on its device: only that one is drawn. */
static bool leads(const report_model *model, const report_row *row)
{
    const report_row *other = NULL;
    while ((other = report_next(model, other, -1, row->device)) &&
           strcmp(other->problem, row->problem) != 0) {
    }
    return other == row;
}

static bool compared(const report_model *model, const report_row *row)
{
    return row->size > 0.0 && !row->operation->moves &&
           !is_baseline(&model->devices[row->device]) && leads(model, row) &&
           baseline_row(model, row);
}

/* Draws the compared rows of a group. If `group` is -1, draws those of all groups with one size,
 * each in its own row of the figure. */
static void put_speedup(report_page *page, report_figure *figure, int group)
{
    const report_model *model = page->model;
    for (const report_row *row = NULL; (row = report_next(model, row, group, -1));) {
        int name = -1;
        if (!compared(model, row) ||
            (group < 0 && report_sizes(model, row->group, compared) != 1)) {
            continue;
        }
        if (group < 0) {
            const char *title = model->groups[row->group].plain;
            name = report_figure_name(figure, record_format("%s, %s", title, row->shape));
        }
        const report_row *whole = whole_of(model, row->problem, row->device);
        add_speedup(page, figure, report_model_best(model, row->problem, row->device, REPORT_ANY),
                    false, name);
        if (whole) {
            add_speedup(page, figure, whole, true, name);
        }
    }
    report_figure_put(page, figure);
}

void report_speedup(report_page *page)
{
    const report_model *model = page->model;
    const figure_scale ratio = {AXIS_RATIO, "times as fast", 0, 0};
    int sizes = 0;
    for (int g = 0; g < model->group_count; g++) {
        sizes += report_sizes(model, g, compared);
    }
    if (sizes == 0) {
        return;
    }
    fputs("<section id=\"speedup\"><h2>Speed-up over the CPU backend</h2>\n<p>The fastest of a "
          "device against the fastest of the CPU backend on the same problem, with its own "
          "transfers counted and without.</p>\n<div class=\"figures\">\n",
          page->out);
    for (int g = 0; g < model->group_count; g++) {
        const report_group *group = &model->groups[g];
        if (report_sizes(model, g, compared) > 1) {
            const figure_scale size = {AXIS_COUNT, group->operation->size, 0, 0};
            put_speedup(page,
                        report_figure_make(FIGURE_LINES, record_format("speedup-%s", group->slug),
                                           record_format("%s: speed-up over the CPU", group->title),
                                           size, ratio),
                        g);
        }
    }
    put_speedup(page,
                report_figure_make(FIGURE_ROWS, record_format("speedup-others"),
                                   record_format("Operations of one size: speed-up over the CPU"),
                                   ratio, (figure_scale){.label = ""}),
                -1);
    fputs("</div>\n</section>\n", page->out);
}
