/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c - the operations of a device under its roofs. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What has no arithmetic stands left of all else, at its own place under the memory's roofs. */
typedef struct extent {
    double zero;            /* where no arithmetic stands on the axis */
    double memory, compute; /* the highest roofs */
    double x_high, y_low, y_high;
} extent;

static double intensity_of(const report_row *row)
{
    const json_t *work = json_object_get(row->json, "work");
    double flops = record_number(work, "flops");
    double bytes = record_number(work, "bytes_read") + record_number(work, "bytes_written");
    return flops >= 0.0 && bytes > 0.0 ? flops / bytes : NAN;
}

static double height_of(const report_row *row, double zero)
{
    const json_t *work = json_object_get(row->json, "work");
    double flops = record_number(work, "flops");
    double bytes = record_number(work, "bytes_read") + record_number(work, "bytes_written");
    return flops > 0.0 ? flops / row->time : bytes / row->time * zero;
}

/* The largest size of each line of each group. */
static bool placed(const report_model *model, const report_row *row, int device)
{
    if (row->device != device || !row->ok || row->operation->moves ||
        !isfinite(intensity_of(row))) {
        return false;
    }
    for (int i = 0; i < model->row_count; i++) {
        const report_row *other = &model->rows[i];
        if (other->ok && other->device == device && other->group == row->group &&
            strcmp(other->variant, row->variant) == 0 &&
            strcmp(other->library, row->library) == 0 && other->size > row->size) {
            return false;
        }
    }
    return true;
}

static bool is_memory(const json_t *roof)
{
    return strcmp(record_text(roof, "unit"), "GB/s") == 0;
}

static bool measure(const report_model *model, int device, extent *out)
{
    size_t at;
    json_t *roof;
    double least = INFINITY, most = 0.0;
    *out = (extent){.y_low = INFINITY};
    json_array_foreach(json_object_get(model->devices[device].json, "roofs"), at, roof)
    {
        double value = record_number(roof, "value");
        double *best = is_memory(roof) ? &out->memory : &out->compute;
        *best = value > *best ? value : *best;
    }
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        double intensity = intensity_of(row);
        if (!placed(model, row, device) || !(intensity > 0.0)) {
            continue;
        }
        least = intensity < least ? intensity : least;
        most = intensity > most ? intensity : most;
    }
    if (!(out->memory > 0.0)) {
        return false;
    }
    out->zero = isfinite(least) ? least / 6.0 : 1.0 / 64.0;
    double ridge = out->compute > 0.0 ? out->compute / out->memory : 1.0;
    out->x_high = (most > ridge ? most : ridge) * 5.0;
    out->y_high = (out->compute > 0.0 ? out->compute : out->memory) * 2.5;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (!placed(model, row, device)) {
            continue;
        }
        double height = height_of(row, out->zero);
        out->y_low = height < out->y_low ? height : out->y_low;
        out->y_high = height * 1.5 > out->y_high ? height * 1.5 : out->y_high;
    }
    double corner = out->memory * out->zero / 2.0;
    out->y_low = (out->y_low < corner ? out->y_low : corner) / 1.5;
    return true;
}

/* ---- roofs ----------------------------------------------------------------------------------- */

static void add_roof(report_figure *figure, const json_t *roof, const extent *room)
{
    double value = record_number(roof, "value");
    bool table = strcmp(record_text(roof, "source"), "table") == 0, memory = is_memory(roof);
    char text[REPORT_TEXT];
    if (!(value > 0.0)) {
        return;
    }
    report_axis_value(text, AXIS_RATE, value, record_text(roof, "unit"));
    char *label =
        report_format("%s: %s%s", record_text(roof, "name"), text, table ? " (table)" : "");
    double from = memory ? room->zero / 1.8 : value / room->memory;
    double to = memory && room->compute > 0.0 ? room->compute / value : room->x_high;
    to = to > room->x_high ? room->x_high : to;
    figure_series *series =
        report_figure_series(figure, label, REPORT_COLOURS - 1, 0, table ? 2 : 1);
    for (int end = 0; end < 2; end++) {
        double x = end ? to : from, y = memory ? x * value : value;
        report_figure_point(
            figure, series,
            (figure_point){.x = x, .y = y, .low = y, .high = y, .tip = strdup(text)});
    }
}

/* Written beside the lines: one text for roofs that nearly fall together. */
static void label_roofs(report_figure *figure, const json_t *roofs, bool memory, const extent *room)
{
    enum { MOST = 32 };
    const json_t *order[MOST];
    int count = 0;
    size_t at;
    json_t *roof;
    json_array_foreach(roofs, at, roof)
    {
        double value = record_number(roof, "value");
        if (is_memory(roof) != memory || !(value > 0.0) || count == MOST) {
            continue;
        }
        int to = count++;
        for (; to > 0 && record_number(order[to - 1], "value") < value; to--) {
            order[to] = order[to - 1];
        }
        order[to] = roof;
    }
    double rise = 268.0 / log10(room->y_high / room->y_low);
    double run = 466.0 / log10(room->x_high / (room->zero / 1.8));
    for (int i = 0; i < count;) {
        double value = record_number(order[i], "value");
        char *text = strdup(record_text(order[i], "name"));
        int next = i + 1;
        for (; next < count && text && value / record_number(order[next], "value") < 1.4; next++) {
            char *longer = report_format("%s, %s", text, record_text(order[next], "name"));
            free(text);
            text = longer;
        }
        double x = memory ? room->zero * 2.2 : room->x_high / 1.1;
        report_figure_label(figure,
                            (figure_label){.x = x,
                                           .y = memory ? x * value : value,
                                           .angle = memory ? atan2(rise, run) * 57.29578 : 0.0,
                                           .text = text,
                                           .right = !memory});
        i = next;
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static int mark_of(const char *dtype)
{
    static const struct {
        const char *dtype;
        int mark;
    } marks[] = {{"f32", 5}, {"f64", 7}, {"f16", 9}, {"bf16", 11}, {"e4", 5}, {"e8", 7}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strcmp(marks[i].dtype, dtype) == 0) {
            return marks[i].mark;
        }
    }
    return 13;
}

static void add_operation(report_page *page, report_figure *figure, const report_row *row,
                          const extent *room)
{
    const report_group *group = &page->model->groups[row->group];
    double intensity = intensity_of(row);
    char rate[REPORT_TEXT], *shape = report_shape(row), *tip = NULL;
    int colour = bench_op_rank(row->operation);
    report_axis_value(rate, AXIS_RATE, row->rate, report_model_unit(group));
    if (shape && isfinite(row->percent)) {
        tip = report_format("%s, %s%s%s; %s: %s, %.1f %% of its roof; %.3g FLOP/byte", group->title,
                            row->variant, row->vendor ? " " : "", row->vendor ? row->library : "",
                            shape, rate, row->percent, intensity);
    } else if (shape) {
        tip = report_format("%s, %s%s%s; %s: %s; %.3g FLOP/byte", group->title, row->variant,
                            row->vendor ? " " : "", row->vendor ? row->library : "", shape, rate,
                            intensity);
    }
    free(shape);
    figure_series *series = report_figure_series(
        figure, report_format("%s %s", row->op, row->dtype), colour, mark_of(row->dtype), 0);
    double y = height_of(row, room->zero);
    report_figure_point(figure, series,
                        (figure_point){.x = intensity > 0.0 ? intensity : room->zero,
                                       .y = y,
                                       .low = y,
                                       .high = y,
                                       .tip = tip});
}

static void put_device(report_page *page, int at)
{
    const report_model *model = page->model;
    const report_device *device = &model->devices[at];
    const json_t *roofs = json_object_get(device->json, "roofs");
    extent room;
    size_t index;
    json_t *roof;
    if (!measure(model, at, &room)) {
        return;
    }
    char *slug = report_slug(device->brief);
    report_figure *figure =
        report_figure_make(FIGURE_LINES, slug ? report_format("roofline-%d-%s", at, slug) : NULL,
                           report_format("Roofline of %s", device->label), strdup(""));
    free(slug);
    if (!figure) {
        page->code = TOOL_INTERNAL;
        return;
    }
    figure->x = AXIS_INTENSITY;
    figure->y = AXIS_RATE;
    figure->x_label = "FLOP/byte";
    figure->y_label = "GFLOP/s";
    figure->x_low = room.zero / 1.8;
    figure->x_high = room.x_high;
    figure->y_low = room.y_low;
    figure->y_high = room.y_high;
    figure->divide = room.zero * 2.0;
    json_array_foreach(roofs, index, roof) add_roof(figure, roof, &room);
    label_roofs(figure, roofs, true, &room);
    label_roofs(figure, roofs, false, &room);
    for (int i = 0; i < model->row_count; i++) {
        if (placed(model, &model->rows[i], at)) {
            add_operation(page, figure, &model->rows[i], &room);
        }
    }
    report_figure_put(page, figure);
}

void report_rooflines(report_page *page)
{
    const report_model *model = page->model;
    bool some = false;
    extent room;
    for (int i = 0; i < model->device_count; i++) {
        some = some || measure(model, i, &room);
    }
    if (!some) {
        return;
    }
    fputs("<section id=\"rooflines\"><h2>Rooflines</h2>\n<p>Each operation at its largest size, by "
          "the arithmetic that it does for each byte of its operands and result. The roofs were "
          "measured in the same run; dashed ones come from the chip’s table. What does no "
          "arithmetic stands left of the dotted line, at its own height under the memory’s "
          "roofs.</p>\n<div class=\"figures\">\n",
          page->out);
    for (int i = 0; i < model->device_count; i++) {
        put_device(page, i);
    }
    fputs("</div>\n</section>\n", page->out);
}
