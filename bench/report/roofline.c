/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c - a figure for each device: its operations and its roofs. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The ranges of a figure. Operations without arithmetic are drawn left of all others, under the
 * memory's roofs. */
typedef struct extent {
    double zero;            /* the x of operations without arithmetic */
    double memory, compute; /* the highest roofs */
    figure_scale x, y;
} extent;

static double bytes_of(const report_row *row)
{
    return record_number(row->json, "work.bytes_read") +
           record_number(row->json, "work.bytes_written");
}

/* The arithmetic intensity in FLOP/byte; NaN: not known. */
static double intensity_of(const report_row *row)
{
    double flops = record_number(row->json, "work.flops"), bytes = bytes_of(row);
    return flops >= 0.0 && bytes > 0.0 ? flops / bytes : NAN;
}

static double height_of(const report_row *row, double zero)
{
    double flops = record_number(row->json, "work.flops");
    return flops > 0.0 ? flops / row->time.value : bytes_of(row) / row->time.value * zero;
}

/* Whether the figure shows the row. For each variant and library of a group, it shows only the row
 * of the largest size. */
static bool placed(const report_model *model, const report_row *row)
{
    if (row->operation->moves || !isfinite(intensity_of(row))) {
        return false;
    }
    for (const report_row *other = NULL;
         (other = report_next(model, other, row->group, row->device));) {
        if (strcmp(other->variant, row->variant) == 0 &&
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

/* Finds the ranges of a device's figure. False: no roof of its memory is known. */
static bool measure(const report_model *model, int device, extent *out)
{
    size_t at;
    json_t *roof;
    double least = INFINITY, most = 0.0, lowest = INFINITY, highest = 0.0;
    *out = (extent){.zero = 0.0};
    json_array_foreach(json_object_get(model->devices[device].json, "roofs"), at, roof)
    {
        double *best = is_memory(roof) ? &out->memory : &out->compute;
        *best = fmax(record_number(roof, "value"), *best);
    }
    if (!(out->memory > 0.0)) {
        return false;
    }
    for (const report_row *row = NULL; (row = report_next(model, row, -1, device));) {
        double intensity = intensity_of(row);
        if (intensity > 0.0 && placed(model, row)) {
            least = fmin(intensity, least);
            most = fmax(intensity, most);
        }
    }
    out->zero = isfinite(least) ? least / 6.0 : 1.0 / 64.0;
    for (const report_row *row = NULL; (row = report_next(model, row, -1, device));) {
        if (placed(model, row)) {
            lowest = fmin(height_of(row, out->zero), lowest);
            highest = fmax(height_of(row, out->zero), highest);
        }
    }
    double ridge = out->compute > 0.0 ? out->compute / out->memory : 1.0;
    double top = out->compute > 0.0 ? out->compute : out->memory;
    out->x = (figure_scale){AXIS_INTENSITY, "FLOP/byte", out->zero / 1.8, fmax(most, ridge) * 5.0};
    out->y = (figure_scale){AXIS_RATE, "GFLOP/s", fmin(lowest, out->memory * out->zero / 2.0) / 1.5,
                            fmax(highest * 1.5, top * 2.5)};
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
        record_format("%s: %s%s", record_text(roof, "name"), text, table ? " (table)" : "");
    double ridge = memory && room->compute > 0.0 ? room->compute / value : room->x.high;
    const double x[2] = {memory ? room->x.low : value / room->memory, fmin(ridge, room->x.high)};
    const double y[2] = {memory ? x[0] * value : value, memory ? x[1] * value : value};
    report_figure_line(figure,
                       report_figure_series(figure, label, REPORT_COLOURS - 1, 0, table ? 2 : 1), x,
                       y, text);
}

/* Labels the lines of the roofs. Roofs that are close to each other share a label. */
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
    double rise = 268.0 / log10(room->y.high / room->y.low);
    double run = 466.0 / log10(room->x.high / room->x.low);
    for (int i = 0; i < count;) {
        double value = record_number(order[i], "value");
        char *text = record_format("%s", record_text(order[i], "name"));
        int next = i + 1;
        for (; next < count && value / record_number(order[next], "value") < 1.4; next++) {
            char *longer = record_format("%s, %s", text, record_text(order[next], "name"));
            free(text);
            text = longer;
        }
        double x = memory ? room->zero * 2.2 : room->x.high / 1.1;
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
    char rate[REPORT_TEXT], share[REPORT_TEXT] = "";
    report_axis_value(rate, AXIS_RATE, row->rate.value, group->unit);
    if (isfinite(row->percent)) {
        snprintf(share, sizeof share, ", %.1f %% of its roof", row->percent);
    }
    char *tip = record_format("%s, %s%s%s; %s: %s%s; %.3g FLOP/byte", group->title, row->variant,
                              row->vendor ? " " : "", row->vendor ? row->library : "", row->shape,
                              rate, share, intensity);
    figure_series *series =
        report_figure_series(figure, record_format("%s %s", row->op, row->dtype),
                             bench_op_rank(row->operation), mark_of(row->dtype), 0);
    double height = height_of(row, room->zero);
    report_figure_value(figure, series, intensity > 0.0 ? intensity : room->zero, -1,
                        (report_span){height, height, height}, tip);
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
        report_figure_make(FIGURE_LINES, record_format("roofline-%d-%s", at, slug),
                           record_format("Roofline of %s", device->label), room.x, room.y);
    free(slug);
    figure->divide = room.zero * 2.0;
    json_array_foreach(roofs, index, roof)
    {
        add_roof(figure, roof, &room);
    }
    label_roofs(figure, roofs, true, &room);
    label_roofs(figure, roofs, false, &room);
    for (const report_row *row = NULL; (row = report_next(model, row, -1, at));) {
        if (placed(model, row)) {
            add_operation(page, figure, row, &room);
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
    fputs(
        "<section id=\"rooflines\"><h2>Rooflines</h2>\n<p>Each operation is shown at its "
        "largest size. Its place from left to right shows the arithmetic that it does for each "
        "byte of its operands and result. The roofs were measured in the same run; dashed ones "
        "come from the chip’s table. Operations without arithmetic stand left of the dotted line, "
        "each at its own height under the memory’s roofs.</p>\n<div class=\"figures\">\n",
        page->out);
    for (int i = 0; i < model->device_count; i++) {
        put_device(page, i);
    }
    fputs("</div>\n</section>\n", page->out);
}
