/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - lays out a figure: its legend, and its panels below each other or side by side. */
#include "bench/report/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const chart_dress chart_looks[LOOKS] = {
    [LOOK_OWN] = {0, MARK_CIRCLE, SCENE_DOT},     [LOOK_NAIVE] = {3, MARK_CIRCLE, SCENE_RING},
    [LOOK_VENDOR] = {1, MARK_SQUARE, SCENE_DOT},  [LOOK_VENDOR_2] = {2, MARK_DIAMOND, SCENE_DOT},
    [LOOK_OTHER] = {4, MARK_UP, SCENE_DOT},       [LOOK_ROOF] = {3, -1, SCENE_ROOF},
    [LOOK_KERNEL] = {0, MARK_SQUARE, SCENE_DOT},  [LOOK_IN] = {0, MARK_SQUARE, SCENE_TINT},
    [LOOK_OUT] = {0, MARK_SQUARE, SCENE_SHADE},   [LOOK_CIRCLE] = {-1, MARK_CIRCLE, SCENE_DOT},
    [LOOK_SQUARE] = {-1, MARK_SQUARE, SCENE_DOT}, [LOOK_DIAMOND] = {-1, MARK_DIAMOND, SCENE_DOT},
    [LOOK_UP] = {-1, MARK_UP, SCENE_DOT},         [LOOK_DOWN] = {-1, MARK_DOWN, SCENE_DOT},
};

void draw_fitting(char *text, size_t room, const scene *drawing, scene_role role, const char *full,
                  double width)
{
    snprintf(text, room, "%s", full);
    size_t length = strlen(text);
    bool cut = strlen(full) > length;
    while (length > 1 && (cut || scene_text_width(drawing, role, text) > width)) {
        do {
            length--;
        } while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
        length = length + 4 > room ? room - 4 : length;
        memcpy(text + length, "…", sizeof "…");
        cut = false;
    }
}

void draw_mark(scene *drawing, chart_look look, int device, double x, double y)
{
    const chart_dress *dress = &chart_looks[look];
    scene_to(scene_add(drawing, SCENE_MARKS, dress->role, device, dress->mark), x, y);
}

/* ---- legend ---------------------------------------------------------------------------------- */

typedef struct legend {
    scene *drawing;
    double x, y;
    double key; /* width of a key with the gap after it */
} legend;

/* Moves to the next place with room for a text, and writes the text. */
static void put_entry(legend *at, const char *text, double *x, double *y)
{
    char fitting[96];
    double em = at->drawing->text;
    draw_fitting(fitting, sizeof fitting, at->drawing, SCENE_LABEL, text,
                 at->drawing->width - at->key);
    double width = at->key + scene_text_width(at->drawing, SCENE_LABEL, fitting);
    if (at->x > 0.0 && at->x + width > at->drawing->width) {
        at->x = 0.0;
        at->y += 1.5 * em;
    }
    *x = at->x;
    *y = at->y - 0.33 * em;
    scene_write(at->drawing, SCENE_LABEL, at->x + at->key, at->y, ANCHOR_START, fitting);
    at->x += width + 1.3 * em;
}

static bool uses(const chart *data, int device, chart_look look)
{
    for (int i = 0; i < data->count; i++) {
        for (int j = 0; j < data->panels[i].count; j++) {
            const chart_series *series = &data->panels[i].series[j];
            if (device >= 0 ? series->device == device : series->look == look) {
                return true;
            }
        }
    }
    return false;
}

/* The names of the variants that have a look: "cuBLAS, OpenBLAS". */
static void name_look(const chart *data, chart_look look, char *text, size_t room)
{
    text[0] = '\0';
    for (int i = 0; i < data->count && look != LOOK_ROOF; i++) {
        for (int j = 0; j < data->panels[i].count; j++) {
            const chart_series *series = &data->panels[i].series[j];
            const char *found = strstr(text, series->variant);
            size_t length = strlen(series->variant);
            while (found && !(strchr(", ", found[length]) && (found == text || found[-1] == ' '))) {
                found = strstr(found + 1, series->variant);
            }
            if (series->look == look && !found) {
                tool_join(text, room, ", ", series->variant);
            }
        }
    }
    if (look == LOOK_ROOF) {
        snprintf(text, room, "limit of the device");
    }
}

static void put_look(legend *at, const chart *data, chart_look look)
{
    char text[200];
    double x, y, em = at->drawing->text;
    const chart_dress *dress = &chart_looks[look];
    bool rows = data->panels[0].form != CHART_CURVES;
    name_look(data, look, text, sizeof text);
    put_entry(at, text, &x, &y);
    if (look == LOOK_ROOF && rows) {
        scene_segment(scene_add(at->drawing, SCENE_SEGMENTS, SCENE_TICKMARK, -1, 0), x + 0.7 * em,
                      y - 0.45 * em, x + 0.7 * em, y + 0.45 * em);
        return;
    }
    if (data->panels[0].form == CHART_BARS) {
        scene_segment(scene_add(at->drawing, SCENE_RECTS, dress->role, -1, 0), x + 0.5 * em,
                      y - 0.4 * em, x + 2.2 * em, y + 0.4 * em);
        return;
    }
    if (!rows && dress->dash >= 0) {
        scene_role role = look == LOOK_ROOF ? SCENE_ROOF : SCENE_CURVE;
        scene_segment(scene_add(at->drawing, SCENE_SEGMENTS, role, -1, dress->dash), x, y,
                      x + 2.2 * em, y);
    }
    if (dress->mark >= 0) {
        draw_mark(at->drawing, look, -1, x + (rows ? 0.7 : 1.1) * em, y);
    }
}

/* Whether a panel of dots has an interval that is wide enough to be seen. */
static bool has_whisker(const chart *data)
{
    for (int i = 0; i < data->count && data->panels[i].form == CHART_DOTS; i++) {
        for (int j = 0; j < data->panels[i].count; j++) {
            const chart_series *series = &data->panels[i].series[j];
            for (int k = 0; k < series->count && series->look != LOOK_ROOF; k++) {
                const chart_point *point = &series->points[k];
                double width =
                    chart_place(&data->y, point->high) - chart_place(&data->y, point->low);
                if (point->low > 0.0 && width > 0.02) {
                    return true;
                }
            }
        }
    }
    return false;
}

static double put_legend(scene *drawing, const chart *data, bool devices)
{
    double em = drawing->text, x, y;
    legend at = {.drawing = drawing, .y = 1.1 * em, .key = 1.2 * em};
    for (int i = 0; i < data->model->device_count && devices; i++) {
        if (uses(data, i, LOOK_OWN)) {
            put_entry(&at, data->model->devices[i].label, &x, &y);
            if (data->panels[0].form == CHART_DOTS) {
                draw_mark(drawing, LOOK_OWN, i, x + 0.4 * em, y);
            } else {
                scene_segment(scene_add(drawing, SCENE_RECTS, SCENE_DOT, i, 0), x, y - 0.4 * em,
                              x + 0.8 * em, y + 0.4 * em);
            }
        }
    }
    if (at.x > 0.0) {
        at.x = 0.0;
        at.y += 1.5 * em;
    }
    at.key = data->panels[0].form == CHART_DOTS ? 1.8 * em : 2.7 * em;
    for (int look = 0; look < LOOKS; look++) {
        if (uses(data, -1, (chart_look)look)) {
            put_look(&at, data, (chart_look)look);
        }
    }
    if (has_whisker(data)) {
        put_entry(&at,
                  data->y.unit == CHART_ERROR ? "from the median to the largest"
                                              : "interval, if it is wide",
                  &x, &y);
        scene_segment(scene_add(drawing, SCENE_SEGMENTS, SCENE_WHISKER, -1, 0), x, y, x + 1.4 * em,
                      y);
    }
    return at.x > 0.0 ? at.y + 0.9 * em : at.y - 0.6 * em;
}

/* ---- a figure -------------------------------------------------------------------------------- */

scene *figure_draw(const figure *shown, figure_width width)
{
    static const double sizes[FIGURE_WIDTHS][2] = {[FIGURE_WIDE] = {0.0, 13.4},
                                                   [FIGURE_NARROW] = {358.0, 12.0},
                                                   [FIGURE_ONE_COLUMN] = {244.8, 7.8},
                                                   [FIGURE_TWO_COLUMNS] = {504.0, 8.0}};
    const chart *data = shown->data;
    scene *drawing =
        scene_make(width == FIGURE_WIDE ? data->wide : sizes[width][0], sizes[width][1]);
    /* On a phone the page's head is the overview's key. */
    double y =
        put_legend(drawing, data, width != FIGURE_NARROW || strcmp(shown->name, "overview") != 0);
    y = draw_curves(drawing, data, y);
    for (int i = 0; i < data->count; i++) {
        if (data->panels[i].form != CHART_CURVES) {
            y = draw_rows(drawing, data, &data->panels[i], y);
        }
    }
    drawing->height = ceil(y);
    return drawing;
}

void report_figure_svg(FILE *out, const figure *shown, figure_width width)
{
    scene *drawing = figure_draw(shown, width);
    scene_svg(out, drawing, width == FIGURE_WIDE ? "fg-wide" : "fg-narrow", shown->title,
              shown->alt, false);
    scene_free(drawing);
}

void report_figure_style(FILE *out)
{
    scene_svg_style(out);
}
