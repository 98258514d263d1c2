/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c - the roofline figure: rate against arithmetic for each byte, a panel a device. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct range {
    double least, most;     /* FLOP/byte of the points */
    double memory, compute; /* the highest limits, in B/s and FLOP/s */
} range;

/* In FLOP/byte; NaN: not known. */
static double intensity_of(const report_row *row)
{
    double flops = record_number(row->json, "work.flops");
    double bytes = record_number(row->json, "work.bytes_read") +
                   record_number(row->json, "work.bytes_written");
    return flops > 0.0 && bytes > 0.0 ? flops / bytes : NAN;
}

static bool is_memory(const json_t *roof)
{
    return strcmp(record_text(roof, "unit"), "GB/s") == 0;
}

static chart_look look_of(const report_row *row)
{
    static const chart_look looks[] = {LOOK_CIRCLE, LOOK_SQUARE, LOOK_DIAMOND, LOOK_UP, LOOK_DOWN};
    return looks[bench_op_rank(row->operation) % 5];
}

/* Finds the fastest row of the largest size for each group of a device. */
static const report_row **largest(const report_model *model, int device)
{
    const report_row **best =
        record_need(calloc((size_t)model->group_count + 1, sizeof(const report_row *)));
    for (const report_row *row = NULL; (row = report_next(model, row, -1, device));) {
        const report_row *other = best[row->group];
        if ((!other || row->size > other->size ||
             (row->size == other->size && row->time.value < other->time.value)) &&
            isfinite(intensity_of(row)) && figure_shows(row)) {
            best[row->group] = row;
        }
    }
    return best;
}

static range find_range(const report_model *model, int device, const report_row *const *best)
{
    range found = {INFINITY, 0.0, 0.0, 0.0};
    size_t at;
    json_t *roof;
    json_array_foreach(json_object_get(model->devices[device].json, "roofs"), at, roof)
    {
        double *highest = is_memory(roof) ? &found.memory : &found.compute;
        *highest = fmax(record_number(roof, "value") * 1e9, *highest);
    }
    for (int g = 0; g < model->group_count; g++) {
        if (best[g]) {
            found.least = fmin(intensity_of(best[g]), found.least);
            found.most = fmax(intensity_of(best[g]), found.most);
        }
    }
    return found;
}

static void add_roofs(chart_panel *panel, const report_model *model, int device, const range *room)
{
    size_t at;
    json_t *roof;
    double ridge = room->compute / room->memory;
    json_array_foreach(json_object_get(model->devices[device].json, "roofs"), at, roof)
    {
        char text[REPORT_TEXT];
        double value = record_number(roof, "value") * 1e9;
        bool memory = is_memory(roof);
        if (!(value > 0.0)) {
            continue;
        }
        chart_value(text, memory ? CHART_MOVED : CHART_FLOPS, value);
        char *name = record_format("%s %s", record_text(roof, "name"), text);
        chart_series *series = chart_series_of(panel, device, LOOK_ROOF, name);
        double from = memory ? fmin(room->least, ridge) / 3.0 : value / room->memory;
        double until = memory ? room->compute / value : fmax(room->most, ridge) * 4.0;
        for (int end = 0; end < 2; end++) {
            double x = end ? until : from, y = memory ? x * value : value;
            chart_point_add(series, (chart_point){x, y, y, y});
        }
        free(name);
    }
}

void figure_rooflines(figure_list *list, const report_model *model)
{
    chart *data = NULL;
    for (int d = 0; d < model->device_count; d++) {
        const report_row **best = largest(model, d);
        range room = find_range(model, d, best);
        if (room.memory > 0.0 && room.compute > 0.0 && room.most > 0.0) {
            if (!data) {
                figure *shown = chart_figure(list, model, record_format("roofline"), NULL,
                                             record_format("Rooflines"));
                data = shown->data;
                data->x = (chart_axis){.unit = CHART_INTENSITY, .label = "FLOP for each byte"};
                data->y = (chart_axis){.unit = CHART_FLOPS, .label = "FLOP/s"};
                shown->caption = record_format(
                    "The fastest variant of each operation at its largest size, by the arithmetic "
                    "that it does for each byte of its operands and result. Dotted lines are the "
                    "limits of the device. Copies and transposes compute nothing and have no "
                    "place here.");
                shown->alt = record_format("Rooflines of the devices, with a point for each "
                                           "operation.");
            }
            chart_panel *panel =
                chart_panel_add(data, CHART_CURVES, record_format("%s", model->devices[d].brief));
            add_roofs(panel, model, d, &room);
            for (int g = 0; g < model->group_count; g++) {
                if (best[g]) {
                    double x = intensity_of(best[g]);
                    double y = record_number(best[g]->json, "work.flops") / best[g]->time.value;
                    chart_series *series =
                        chart_series_of(panel, d, look_of(best[g]), best[g]->operation->name);
                    chart_point_add(series, (chart_point){x, y * 1e9, NAN, NAN});
                }
            }
        }
        free(best);
    }
}
