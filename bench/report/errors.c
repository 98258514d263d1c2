/* SPDX-License-Identifier: Apache-2.0 */
/* errors.c - the figures of a file of `isomer errors`: the error of each routine on each input, and
 * how it grows with the number of terms. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct measure {
    const char *path, *title;
} measure;

static const measure measures[] = {
    {"errors.of_terms", "divided by the sum of the magnitudes of its terms"},
    {"errors.of_largest", "divided by K times the largest magnitudes of its row and column"}};

static const char label[] = "error of an element";

/* Whether a row is drawn in the figures of a type: those of f32 also have isomer's f64. */
static bool belongs(const report_row *row, const char *dtype)
{
    bool beside = strcmp(dtype, "f32") == 0 && strcmp(row->dtype, "f64") == 0;
    return json_is_object(json_object_get(row->json, "errors")) &&
           (strcmp(row->dtype, dtype) == 0 || (beside && strcmp(row->variant, "tiled") == 0));
}

static chart_series *series_of(chart_panel *panel, const report_row *row, const char *dtype)
{
    static const struct {
        const char *variant;
        chart_look look;
    } looks[] = {{"tiled", LOOK_OWN}, {"naive", LOOK_NAIVE}, {"fixed", LOOK_OTHER}};
    bool tf32 = strcmp(record_text(row->json, "math"), "tf32") == 0;
    chart_look look = tf32 ? LOOK_NAIVE : LOOK_VENDOR;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        look = strcmp(looks[i].variant, row->variant) == 0 ? looks[i].look : look;
    }
    look = strcmp(row->dtype, dtype) == 0 ? look : LOOK_VENDOR_2;
    bool named = row->vendor && row->library[0] != '\0';
    char *name = record_format("%.*s%s%s", (int)(named ? strcspn(row->library, " ") : 40),
                               named ? row->library : row->variant, tf32 ? " of TF32" : "",
                               strcmp(row->dtype, dtype) == 0 ? "" : " in f64");
    chart_series *series = chart_series_of(panel, row->device, look, name);
    free(name);
    return series;
}

static double terms_of(const report_row *row)
{
    return record_number(row->json, "shape.k");
}

/* The number of a row of dots, which is added if the panel does not have it. */
static int row_of(chart_panel *panel, const char *name)
{
    for (int i = 0; i < panel->row_count; i++) {
        if (strcmp(panel->rows[i].name, name) == 0) {
            return i;
        }
    }
    return chart_row_add(panel, (chart_row){.name = record_format("%s", name)});
}

/* The panel of curves of an input. */
static chart_panel *panel_of(chart *data, const char *input)
{
    for (int i = 0; i < data->count; i++) {
        if (strcmp(data->panels[i].title, input) == 0) {
            return &data->panels[i];
        }
    }
    return chart_panel_add(data, CHART_CURVES, record_format("%s", input));
}

static void add_point(chart_panel *panel, const report_row *row, const char *dtype,
                      const measure *what, double x)
{
    const json_t *errors = record_at(row->json, what->path);
    double largest = record_number(errors, "largest"), median = record_number(errors, "median");
    if (largest > 0.0 && isfinite(largest)) {
        chart_point_add(series_of(panel, row, dtype), (chart_point){x, largest, median, largest});
    }
}

static void add_dots(figure_list *list, const report_model *model, const char *dtype, double terms)
{
    figure *shown = chart_figure(list, model, record_format("errors-%s", dtype), NULL,
                                 record_format("Errors of products of %s, K = %.0f", dtype, terms));
    shown->data->y = (chart_axis){.unit = CHART_ERROR, .label = label};
    shown->caption = record_format("Each row is an input. Further left is better.");
    shown->alt = record_format("Dot chart: errors of products of %s on each input.", dtype);
    for (int i = 0; i < 2; i++) {
        chart_panel *panel =
            chart_panel_add(shown->data, CHART_DOTS,
                            record_format("The error of an element, %s", measures[i].title));
        for (int r = 0; r < model->row_count; r++) {
            const report_row *row = &model->rows[r];
            if (belongs(row, dtype) && terms_of(row) == terms) {
                add_point(panel, row, dtype, &measures[i],
                          row_of(panel, record_text(row->json, "input")));
            }
        }
    }
}

static void add_curves(figure_list *list, const report_model *model, const char *dtype)
{
    figure *shown = chart_figure(list, model, record_format("errors-%s-terms", dtype), NULL,
                                 record_format("Errors of products of %s by K", dtype));
    shown->data->x = (chart_axis){.unit = CHART_COUNT, .label = "K, the number of terms"};
    shown->data->y =
        (chart_axis){.unit = CHART_ERROR, .label = "largest error, of the terms' magnitudes"};
    shown->caption = record_format("Each panel is an input. The error of an element is %s; lower "
                                   "is better.",
                                   measures[0].title);
    shown->alt = record_format("Curves: errors of products of %s by the number of terms.", dtype);
    for (int r = 0; r < model->row_count; r++) {
        const report_row *row = &model->rows[r];
        if (belongs(row, dtype)) {
            add_point(panel_of(shown->data, record_text(row->json, "input")), row, dtype,
                      &measures[0], terms_of(row));
        }
    }
}

void figure_errors(figure_list *list, const report_model *model)
{
    static const char *const types[] = {"f16", "bf16", "f32", "f64"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        double least = INFINITY, most = 0.0;
        for (int r = 0; r < model->row_count; r++) {
            const report_row *row = &model->rows[r];
            if (belongs(row, types[t]) && strcmp(row->dtype, types[t]) == 0) {
                least = fmin(least, terms_of(row));
                most = fmax(most, terms_of(row));
            }
        }
        if (most > 0.0) {
            add_dots(list, model, types[t], most);
        }
        if (most > least) {
            add_curves(list, model, types[t]);
        }
    }
}
