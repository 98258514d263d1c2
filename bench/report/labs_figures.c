/* SPDX-License-Identifier: Apache-2.0 */
/* labs_figures.c - the figures of the labs' rows. */
#include "bench/report/labs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_SIZES = 3 };

int report_lab_device(const report_model *model, int file, const json_t *entry)
{
    for (int i = 0; i < model->device_count; i++) {
        if (model->devices[i].file == file &&
            strcmp(model->devices[i].spec, record_text(entry, "device")) == 0) {
            return i;
        }
    }
    return -1;
}

char *report_lab_name(const report_model *model, int file, const record_lab *row)
{
    char *name = model->count > 1 ? record_format("lab-%s-%d", row->id, file + 1)
                                  : record_format("lab-%s", row->id);
    for (char *at = name; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return name;
}

static double size_of(const json_t *entry)
{
    double n = record_number(entry, "case.n"), bytes = record_number(entry, "case.bytes");
    return n > 0 ? n : bytes;
}

static chart_look look_of(const json_t *entry)
{
    static const struct {
        const char *what;
        chart_look look;
    } looks[] = {{"naive", LOOK_NAIVE},
                 {"the student's", LOOK_OTHER},
                 {"tiled", LOOK_OWN},
                 {"vendor", LOOK_VENDOR},
                 {"tree", LOOK_OWN},
                 {"atomics", LOOK_NAIVE},
                 {"partials", LOOK_OTHER},
                 {"pinned write", LOOK_OWN},
                 {"pinned read", LOOK_OTHER},
                 {"pageable write", LOOK_NAIVE},
                 {"pageable read", LOOK_VENDOR_2}};
    const char *what = record_text(entry, "case.what"), *by = record_text(entry, "by");
    chart_look look = LOOK_VENDOR_2;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        look = strcmp(looks[i].what, what) == 0 ? looks[i].look : look;
    }
    return strcmp(by, "isomer") == 0 ? look : strncmp(by, "Numba", 5) == 0 ? LOOK_UP : LOOK_DIAMOND;
}

/* The series of an entry: its device, and who did what. */
static chart_series *series_of(chart_panel *panel, const report_model *model, int file,
                               const json_t *entry)
{
    const char *by = record_text(entry, "by"), *what = record_text(entry, "case.what");
    bool ours = strcmp(by, "isomer") == 0;
    char *name = ours ? record_format("%s", what) : record_format("%s: %s", by, what);
    chart_series *series =
        chart_series_of(panel, report_lab_device(model, file, entry), look_of(entry), name);
    free(name);
    return series;
}

static bool rates_flops(const json_t *entry)
{
    size_t at;
    const json_t *item;
    json_array_foreach(json_object_get(entry, "figures"), at, item)
    {
        if (strcmp(record_text(item, "name"), "rate") == 0) {
            return strcmp(record_text(item, "unit"), "FLOP/s") == 0;
        }
    }
    return false;
}

/* How many sizes have a rate, up to FEWEST_SIZES. */
static int count_sizes(const json_t *entries, const char *id, bool *flops)
{
    double seen[FEWEST_SIZES];
    int count = 0;
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        bool known = !(size_of(entry) > 0) || !(record_lab_figure(entry, "rate") > 0);
        for (int i = 0; i < count; i++) {
            known = known || seen[i] == size_of(entry);
        }
        if (!known && count < FEWEST_SIZES) {
            seen[count++] = size_of(entry);
            *flops = *flops || rates_flops(entry);
        }
    }
    return count;
}

static chart_panel *panel_of(chart *data, const char *title)
{
    for (int i = 0; i < data->count; i++) {
        if (strcmp(data->panels[i].title, title) == 0) {
            return &data->panels[i];
        }
    }
    return chart_panel_add(data, CHART_CURVES, record_format("%s", title));
}

static void add_rates(figure_list *list, const report_model *model, int file, const json_t *entries,
                      const record_lab *row)
{
    bool flops = false;
    if (count_sizes(entries, row->id, &flops) < FEWEST_SIZES) {
        return;
    }
    figure *shown = chart_figure(list, model, report_lab_name(model, file, row), NULL,
                                 record_format("%s: rate against size", row->id));
    bool bytes = row->id[0] == 'E' && row->id[1] == '3';
    shown->data->x =
        (chart_axis){.unit = bytes ? CHART_BYTES : CHART_COUNT, .label = bytes ? "bytes" : "n"};
    shown->data->y =
        (chart_axis){.unit = flops ? CHART_FLOPS : CHART_MOVED, .label = flops ? "FLOP/s" : "B/s"};
    shown->caption = record_format("Both axes are logarithmic. A colour is a device, a dash or a "
                                   "mark is a way.");
    shown->alt = record_format("Curves of rate against size for %s.", row->title);
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, row->id));) {
        double rate = record_lab_figure(entry, "rate");
        if (rate > 0 && size_of(entry) > 0) {
            chart_panel *panel = panel_of(shown->data, record_text(entry, "case.dtype"));
            chart_point_add(series_of(panel, model, file, entry),
                            (chart_point){size_of(entry), rate, NAN, NAN});
        }
    }
}

/* ---- the curves of entries ------------------------------------------------------------------- */

static void add_curve(figure_list *list, const report_model *model, int file, const json_t *entries,
                      const record_lab *row)
{
    figure *shown = NULL;
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, row->id));) {
        const json_t *curve = json_array_get(json_object_get(entry, "curves"), 0), *point;
        size_t at;
        if (!curve || strcmp(record_text(curve, "name"), "L-curve") != 0) {
            continue;
        }
        if (!shown) {
            shown = chart_figure(list, model, report_lab_name(model, file, row), NULL,
                                 record_format("%s: %s", row->id, record_text(curve, "name")));
            shown->data->x = (chart_axis){.unit = CHART_ERROR, .label = "residual norm"};
            shown->data->y = (chart_axis){.unit = CHART_ERROR, .label = "solution norm"};
            shown->caption = record_format(
                "Each point is a coefficient; the smallest is at the upper left. Further right "
                "the solution is smaller and fits worse. The bend is where neither is bought "
                "dearly. The curves of devices and programs lie on each other.");
            shown->alt = record_format("The norm of the solution against that of the residual.");
            chart_panel_add(shown->data, CHART_CURVES, record_format("f32"));
        }
        chart_series *series = series_of(&shown->data->panels[0], model, file, entry);
        json_array_foreach(json_object_get(curve, "points"), at, point)
        {
            double x = json_number_value(json_array_get(point, 0));
            double y = json_number_value(json_array_get(point, 1));
            chart_point_add(series, (chart_point){x, y, NAN, NAN});
        }
    }
}

void figure_labs(figure_list *list, const report_model *model)
{
    for (int file = 0; file < model->count; file++) {
        const json_t *entries = json_object_get(model->roots[file], "labs");
        for (int i = 0; i < RECORD_LABS; i++) {
            add_rates(list, model, file, entries, &record_labs[i]);
            add_curve(list, model, file, entries, &record_labs[i]);
        }
    }
}
