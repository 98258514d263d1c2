/* SPDX-License-Identifier: Apache-2.0 */
/* draw_curves.c - draws panels of curves in a grid with common axes. */
#include "bench/report/draw.h"

#include <math.h>
#include <string.h>

typedef struct grid {
    scene *drawing;
    const chart *data;
    double em;
    double left, top, width, height; /* of the area of one panel */
    chart_tick x[CHART_TICKS], y[CHART_TICKS];
    int x_count, y_count;
} grid;

static double x_of(const grid *at, double value)
{
    return at->left + chart_place(&at->data->x, value) * at->width;
}

static double y_of(const grid *at, double value)
{
    double place = fmin(fmax(chart_place(&at->data->y, value), 0.0), 1.0);
    return at->top + (1.0 - place) * at->height;
}

static void put_grid(const grid *at)
{
    double right = at->left + at->width, bottom = at->top + at->height;
    scene_item *lines = scene_add(at->drawing, SCENE_SEGMENTS, SCENE_GRID, -1, 0);
    for (int i = 0; i < at->x_count; i++) {
        double x = x_of(at, at->x[i].value);
        scene_segment(lines, x, at->top, x, bottom);
    }
    for (int i = 0; i < at->y_count; i++) {
        double y = y_of(at, at->y[i].value);
        scene_segment(lines, at->left, y, right, y);
    }
    scene_item *axis = scene_add(at->drawing, SCENE_LINE, SCENE_AXIS, -1, 0);
    scene_to(axis, at->left, at->top);
    scene_to(axis, at->left, bottom);
    scene_to(axis, right, bottom);
}

/* ---- series ---------------------------------------------------------------------------------- */

static void put_whiskers(const grid *at, const chart_series *series)
{
    scene_item *bars = NULL;
    for (int i = 0; i < series->count; i++) {
        const chart_point *point = &series->points[i];
        if (!(point->low > 0.0) || !(point->high > point->low)) {
            continue;
        }
        double high = y_of(at, point->high), low = y_of(at, point->low);
        if (low - high > 2.4 * SCENE_DOT_RADIUS * at->em) { /* it is seen beside its mark */
            bars = bars ? bars
                        : scene_add(at->drawing, SCENE_SEGMENTS, SCENE_WHISKER, series->device, 0);
            double x = x_of(at, point->x);
            scene_segment(bars, x, low, x, high);
        }
    }
}

static void put_series(const grid *at, const chart_series *series)
{
    const chart_dress *dress = &chart_looks[series->look];
    scene_role role = series->look == LOOK_ROOF ? SCENE_ROOF : SCENE_CURVE;
    if (series->count > 1 && dress->dash >= 0) {
        scene_item *line = scene_add(at->drawing, SCENE_LINE, role, series->device, dress->dash);
        for (int i = 0; i < series->count; i++) {
            scene_to(line, x_of(at, series->points[i].x), y_of(at, series->points[i].y));
        }
    }
    if (dress->mark < 0) {
        return;
    }
    put_whiskers(at, series);
    scene_item *marks =
        scene_add(at->drawing, SCENE_MARKS, dress->role, series->device, dress->mark);
    for (int i = 0; i < series->count; i++) {
        scene_to(marks, x_of(at, series->points[i].x), y_of(at, series->points[i].y));
    }
}

/* ---- names of limits ------------------------------------------------------------------------- */

typedef struct box {
    double left, top, right, bottom;
} box;

static bool apart(const box *a, const box *b)
{
    return a->right < b->left || a->left > b->right || a->bottom < b->top || a->top > b->bottom;
}

/* Whether a line of the series goes through the box. */
static bool crosses(const grid *at, const chart_series *series, const box *room)
{
    enum { STEPS = 8 };
    for (int i = 0; i < series->count; i++) {
        int next = i + 1 < series->count ? i + 1 : i;
        double x0 = x_of(at, series->points[i].x), x1 = x_of(at, series->points[next].x);
        double y0 = y_of(at, series->points[i].y), y1 = y_of(at, series->points[next].y);
        if (x1 < room->left || x0 > room->right) {
            continue;
        }
        for (int step = 0; step <= STEPS; step++) { /* the part of the line above the box */
            double from = fmax(x0, room->left), until = fmin(x1, room->right);
            double x = from + (until - from) * step / STEPS;
            double y = x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
            if (y > room->top && y < room->bottom) {
                return true;
            }
        }
    }
    return false;
}

/* Names each limit above its right end, else at one of three other places, if there is one where
 * the name lies on nothing else. */
static void name_roofs(const grid *at, const chart_panel *panel)
{
    enum { MOST = 16, PLACES = 4 };
    box taken[MOST];
    int count = 0;
    for (int i = 0; i < panel->count && count < MOST; i++) {
        const chart_series *series = &panel->series[i];
        bool placed = series->look != LOOK_ROOF || series->count == 0;
        double em = at->em, width = scene_text_width(at->drawing, SCENE_TICK, series->variant);
        for (int place = 0; place < PLACES && !placed; place++) {
            bool end = place < 2, above = place % 2 == 0;
            const chart_point *by = &series->points[end ? series->count - 1 : 0];
            double x = x_of(at, by->x) + (end ? -0.1 : 0.1) * em;
            double y = y_of(at, by->y) + (above ? -0.35 : 1.1) * em;
            const box room = {end ? x - width : x, y - 0.8 * em, end ? x : x + width, y + 0.2 * em};
            placed = room.left > at->left && room.right < at->left + at->width + 0.8 * em &&
                     room.top > at->top - 0.3 * em && room.bottom < at->top + at->height;
            for (int j = 0; j < panel->count && placed; j++) {
                placed = !crosses(at, &panel->series[j], &room);
            }
            for (int j = 0; j < count; j++) {
                placed = placed && apart(&taken[j], &room);
            }
            if (placed) {
                scene_write(at->drawing, SCENE_TICK, x, y, end ? ANCHOR_END : ANCHOR_START,
                            series->variant);
                taken[count++] = room;
            }
        }
    }
}

static void put_panel(const grid *at, const chart_panel *panel)
{
    char title[120];
    put_grid(at);
    if (panel->title) {
        draw_fitting(title, sizeof title, at->drawing, SCENE_STRONG, panel->title, at->width);
        scene_write(at->drawing, SCENE_STRONG, at->left, at->top - 0.5 * at->em, ANCHOR_START,
                    title);
    }
    for (int pass = 0; pass < 2; pass++) { /* limits lie under everything */
        for (int i = 0; i < panel->count; i++) {
            if ((panel->series[i].look == LOOK_ROOF) == (pass == 0)) {
                put_series(at, &panel->series[i]);
            }
        }
    }
    name_roofs(at, panel);
}

static void put_x_ticks(const grid *at)
{
    double y = at->top + at->height + 1.15 * at->em, end = -INFINITY;
    for (int i = 0; i < at->x_count; i++) {
        double x = x_of(at, at->x[i].value);
        double half = scene_text_width(at->drawing, SCENE_TICK, at->x[i].text) / 2.0;
        if (x - half > end + 0.3 * at->em && x + half < at->drawing->width) {
            scene_write(at->drawing, SCENE_TICK, x, y, ANCHOR_MIDDLE, at->x[i].text);
            end = x + half;
        }
    }
}

static void put_y_ticks(const grid *at)
{
    for (int i = 0; i < at->y_count; i++) {
        scene_write(at->drawing, SCENE_TICK, at->left - 0.4 * at->em,
                    y_of(at, at->y[i].value) + 0.32 * at->em, ANCHOR_END, at->y[i].text);
    }
}

/* ---- the grid of panels ---------------------------------------------------------------------- */

static int columns_for(const scene *drawing, int panels)
{
    int most = (int)((drawing->width / drawing->text - 5.0) / 18.5);
    most = most < 2 ? 2 : most;
    if (panels <= most) {
        return panels;
    }
    int rows = (panels + most - 1) / most; /* the fewest rows, then columns that fill them evenly */
    return (panels + rows - 1) / rows;
}

double draw_curves(scene *drawing, const chart *data, double y)
{
    double em = drawing->text, margin = 0.0;
    int panels = 0, at_panel = 0;
    for (int i = 0; i < data->count; i++) {
        panels += data->panels[i].form == CHART_CURVES;
    }
    if (panels == 0) {
        return y;
    }
    int columns = columns_for(drawing, panels);
    grid at = {.drawing = drawing, .data = data, .em = em};
    at.y_count = chart_ticks(&data->y, 7, at.y);
    for (int i = 0; i < at.y_count; i++) {
        margin = fmax(scene_text_width(drawing, SCENE_TICK, at.y[i].text), margin);
    }
    margin += 2.0 * em;
    double gap = 1.3 * em, right = 1.0 * em;
    at.width = (drawing->width - margin - right - gap * (columns - 1)) / columns;
    at.height = fmin(fmax(at.width * 0.66, 10.0 * em), 20.0 * em);
    at.x_count = chart_ticks(&data->x, (int)(at.width / (4.4 * em)) + 1, at.x);
    double first = y + 2.0 * em, step = at.height + 2.3 * em;
    for (int i = 0; i < data->count; i++) {
        if (data->panels[i].form != CHART_CURVES) {
            continue;
        }
        int row = at_panel / columns, column = at_panel % columns;
        at.left = margin + column * (at.width + gap);
        at.top = first + row * step;
        put_panel(&at, &data->panels[i]);
        if (column == 0) {
            put_y_ticks(&at);
        }
        if (at_panel + columns >= panels) { /* the last of its column */
            put_x_ticks(&at);
        }
        at_panel++;
    }
    int rows = (panels + columns - 1) / columns;
    double bottom = first + (rows - 1) * step + at.height;
    scene_write(drawing, SCENE_TICK, margin + (drawing->width - margin - right) / 2.0,
                bottom + 2.5 * em, ANCHOR_MIDDLE, data->x.label);
    scene_write(drawing, SCENE_TICK, 0.9 * em, (first + bottom) / 2.0, ANCHOR_MIDDLE, data->y.label)
        ->upward = true;
    return bottom + 3.2 * em;
}
