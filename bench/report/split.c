/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - the figures that have a row for each case of a device: the split of its time into
 * copies and kernel, and its energy. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 24 };

/* A case that stands for its group and device: the largest size, and of these the best. */
typedef double value_of(const report_row *row); /* higher is better; 0: the case has no value */

static const report_row **chosen(const report_model *model, value_of *value)
{
    size_t cells = (size_t)model->group_count * (size_t)model->device_count;
    const report_row **best = record_need(calloc(cells + 1, sizeof(const report_row *)));
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        const report_row **cell = &best[row->group * model->device_count + row->device];
        if ((!*cell || row->size >= (*cell)->size) && value(row) > 0.0 && figure_shows(row) &&
            (!*cell || row->size > (*cell)->size || value(row) > value(*cell))) {
            *cell = row;
        }
    }
    return best;
}

/* "gemm f32, N = 1024, cuBLAS" */
static char *name_of(const report_row *row, char *variant)
{
    char *words = figure_group_words(row), *size = figure_size_words(row);
    char *name = record_format("%s%s%s, %s, %s", row->operation->name, words[0] ? " " : "", words,
                               size, variant);
    free(words);
    free(size);
    return name;
}

/* Adds a row for each chosen case, with `put` for its points. Returns how many there were. */
static int add_rows(chart *data, const report_row *const *best, value_of *value,
                    void (*put)(chart_panel *panel, const report_row *row, const char *variant,
                                int line, double value))
{
    const report_model *model = data->model;
    int cells = model->group_count * model->device_count, count = 0;
    chart_panel *panel = &data->panels[0];
    for (int i = 0; i < cells; i++) {
        char variant[48];
        if (best[i] && count++ < MOST_ROWS) {
            (void)chart_look_of(panel, best[i], variant, sizeof variant);
            int line = chart_row_add(panel, (chart_row){.name = name_of(best[i], variant)});
            put(panel, best[i], variant, line, value(best[i]));
        }
    }
    return count;
}

/* ---- split of the time ----------------------------------------------------------------------- */

static double speed_with_copies(const report_row *row)
{
    double total = record_number(row->json, "parts.total");
    return total > 0.0 ? 1.0 / total : 0.0;
}

static void put_parts(chart_panel *panel, const report_row *row, const char *variant, int line,
                      double value)
{
    static const struct {
        const char *path, *name;
        chart_look look;
    } parts[] = {{"parts.copy_in", "copy in", LOOK_IN},
                 {"parts.kernel", "kernel", LOOK_KERNEL},
                 {"parts.copy_out", "copy out", LOOK_OUT}};
    char time[REPORT_TEXT];
    double spent[3], sum = 0.0, at = 0.0;
    (void)variant;
    (void)value;
    for (int i = 0; i < 3; i++) {
        spent[i] = fmax(record_number(row->json, parts[i].path), 0.0);
        sum += spent[i];
    }
    for (int i = 0; i < 3 && sum > 0.0; i++) {
        double share = spent[i] / sum * 100.0;
        chart_point_add(chart_series_of(panel, row->device, parts[i].look, parts[i].name),
                        (chart_point){line, share, at, at + share});
        at += share;
    }
    report_time(time, record_number(row->json, "parts.total"));
    panel->rows[line].words = record_format("%s", time);
    panel->rows[line].device = row->device;
}

void figure_split(figure_list *list, const report_model *model)
{
    const report_row **best = chosen(model, speed_with_copies);
    figure *shown = chart_figure(list, model, record_format("split"), NULL,
                                 record_format("Where the time goes with transfers"));
    shown->data->y = (chart_axis){CHART_SHARE, "share of the time", 0.0, 100.0};
    chart_panel_add(shown->data, CHART_BARS, NULL);
    shown->caption = record_format(
        "The same work with its operands copied from host memory and its result copied back: the "
        "largest size, and its fastest variant. The time is the whole, from first to last.");
    shown->alt = record_format("Bar chart: shares of copying in, computing and copying out.");
    if (add_rows(shown->data, best, speed_with_copies, put_parts) == 0) {
        chart_figure_drop(list);
    }
    free(best);
}

/* ---- energy ---------------------------------------------------------------------------------- */

static double flop_per_joule(const report_row *row)
{
    return record_number(row->json, "energy.gflop_per_joule") * 1e9;
}

/* Products count as work per joule only once. */
static double bytes_per_joule(const report_row *row)
{
    return record_computes(row->json) ? 0.0 : record_number(row->json, "energy.gb_per_joule") * 1e9;
}

static void put_energy(chart_panel *panel, const report_row *row, const char *variant, int line,
                       double value)
{
    char watts[REPORT_TEXT];
    chart_point_add(chart_series_of(panel, row->device, LOOK_OWN, variant),
                    (chart_point){line, value, NAN, NAN});
    report_rate(watts, record_number(row->json, "energy.watts"));
    panel->rows[line].words = record_format("%s W", watts);
    panel->rows[line].device = row->device;
}

static void add_energy(figure_list *list, const report_model *model, const char *name,
                       chart_unit unit, const char *label, value_of *value)
{
    const report_row **best = chosen(model, value);
    figure *shown = chart_figure(list, model, record_format("%s", name), NULL,
                                 record_format("Energy: %s", label));
    shown->data->y = (chart_axis){.unit = unit, .label = label};
    chart_panel_add(shown->data, CHART_DOTS, NULL);
    shown->caption = record_format("Work for each joule of the device, further right is better: "
                                   "the largest size, and its best variant. Beside it the power.");
    shown->alt = record_format("Dot chart: %s of each device.", label);
    if (add_rows(shown->data, best, value, put_energy) == 0) {
        chart_figure_drop(list);
    }
    free(best);
}

void figure_energy(figure_list *list, const report_model *model)
{
    add_energy(list, model, "energy", CHART_PER_JOULE, "FLOP/J", flop_per_joule);
    add_energy(list, model, "energy-memory", CHART_PER_JOULE, "B/J", bytes_per_joule);
}
