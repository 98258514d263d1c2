/* SPDX-License-Identifier: Apache-2.0 */
/* draw_rows.c - draws a panel with a row for each name, as dots or bars. */
#include "bench/report/draw.h"

#include <math.h>

typedef struct track {
    scene *drawing;
    const chart *data;
    const chart_panel *panel;
    double em;
    double left, width; /* of the area of values */
    double top, row;    /* of the first row; the height of each */
    double head;        /* the part of a row above its dots */
    double step;        /* between the devices of a row */
    int first, last;    /* devices */
} track;

static double x_of(const track *at, double value)
{
    double place = fmin(fmax(chart_place(&at->data->y, value), 0.0), 1.0);
    return at->left + place * at->width;
}

static bool has_dot(const track *at, double row, int device)
{
    for (int i = 0; i < at->panel->count; i++) {
        const chart_series *series = &at->panel->series[i];
        for (int j = 0; j < series->count && series->device == device; j++) {
            if (series->points[j].x == row) {
                return true;
            }
        }
    }
    return false;
}

/* The height of a device's dots in a row: those of its devices lie a little apart. */
static double y_of(const track *at, double row, int device)
{
    double middle = at->top + (row + 0.5) * at->row + at->head / 2.0;
    int before = 0, after = 0;
    for (int i = at->first; i <= at->last; i++) {
        before += i < device && has_dot(at, row, i);
        after += i > device && has_dot(at, row, i);
    }
    return middle + (before - after) / 2.0 * at->step;
}

static void put_bands(const track *at)
{
    scene_item *bands = scene_add(at->drawing, SCENE_RECTS, SCENE_BAND, -1, 0);
    for (int i = 0; i < at->panel->row_count; i += 2) {
        scene_segment(bands, 0.0, at->top + i * at->row, at->drawing->width,
                      at->top + (i + 1) * at->row);
    }
}

static void put_axis(const track *at)
{
    chart_tick ticks[CHART_TICKS];
    int count = chart_ticks(&at->data->y, (int)(at->width / (4.0 * at->em)) + 1, ticks);
    double bottom = at->top + at->panel->row_count * at->row;
    scene_item *lines = scene_add(at->drawing, SCENE_SEGMENTS, SCENE_GRID, -1, 0);
    for (int i = 0; i < count; i++) {
        double x = x_of(at, ticks[i].value);
        scene_segment(lines, x, at->top, x, bottom);
    }
    scene_item *axis = scene_add(at->drawing, SCENE_SEGMENTS, SCENE_AXIS, -1, 0);
    scene_segment(axis, at->left, bottom, at->left + at->width, bottom);
    for (int i = 0; i < count; i++) {
        double x = x_of(at, ticks[i].value);
        double half = scene_text_width(at->drawing, SCENE_TICK, ticks[i].text) / 2.0;
        bool last = x + half > at->drawing->width;
        scene_write(at->drawing, SCENE_TICK, last ? at->drawing->width : x, bottom + 1.15 * at->em,
                    last ? ANCHOR_END : ANCHOR_MIDDLE, ticks[i].text);
    }
    scene_write(at->drawing, SCENE_TICK, at->left + at->width / 2.0, bottom + 2.4 * at->em,
                ANCHOR_MIDDLE, at->data->y.label);
}

/* Writes a row's words with a chip in the colour of their device: after the row, or at the right
 * end of the line above its dots. Returns the width that they take. */
static double put_words(const track *at, const chart_row *row, double y, bool stacked)
{
    double em = at->em, x = at->left + at->width + 1.2 * em;
    double chip = stacked ? at->drawing->width - 1.0 * em : x;
    double width = scene_text_width(at->drawing, SCENE_LABEL, row->words);
    scene_write(at->drawing, SCENE_LABEL, stacked ? chip - 0.5 * em : chip + 1.0 * em, y,
                stacked ? ANCHOR_END : ANCHOR_START, row->words);
    scene_segment(scene_add(at->drawing, SCENE_RECTS, SCENE_DOT, row->device, 0), chip,
                  y - 0.65 * em, chip + 0.6 * em, y - 0.05 * em);
    return width + 2.0 * em;
}

static void put_names(const track *at, double room, bool stacked)
{
    char text[160];
    for (int i = 0; i < at->panel->row_count; i++) {
        const chart_row *row = &at->panel->rows[i];
        double top = at->top + i * at->row, em = at->em, middle = top + at->row / 2.0;
        double y = stacked ? top + 1.25 * em : middle + (row->note ? -0.15 : 0.35) * em;
        scene_role role = row->note ? SCENE_STRONG : SCENE_LABEL;
        if (row->words) {
            double taken = put_words(at, row, stacked ? y : middle + 0.35 * em, stacked);
            room = stacked ? at->drawing->width - taken - 0.8 * em : room;
        }
        draw_fitting(text, sizeof text, at->drawing, role, row->name, room);
        scene_write(at->drawing, role, 0.4 * em, y, ANCHOR_START, text);
        if (row->note && !stacked) {
            draw_fitting(text, sizeof text, at->drawing, SCENE_TICK, row->note, room);
            scene_write(at->drawing, SCENE_TICK, 0.4 * em, y + 1.15 * em, ANCHOR_START, text);
        }
    }
}

static void put_dots(const track *at, const chart_series *series)
{
    const chart_dress *dress = &chart_looks[series->look];
    double em = at->em;
    bool roof = series->look == LOOK_ROOF;
    scene_item *marks =
        roof ? scene_add(at->drawing, SCENE_SEGMENTS, SCENE_TICKMARK, series->device, 0)
             : scene_add(at->drawing, SCENE_MARKS, dress->role, series->device, dress->mark);
    for (int i = 0; i < series->count; i++) {
        const chart_point *point = &series->points[i];
        double x = x_of(at, point->y), y = y_of(at, point->x, series->device);
        if (roof) {
            scene_segment(marks, x, y - 0.35 * em, x, y + 0.35 * em);
        } else {
            scene_to(marks, x, y);
        }
    }
    scene_item *bars = scene_add(at->drawing, SCENE_SEGMENTS, SCENE_WHISKER, series->device, 0);
    for (int i = 0; i < series->count && !roof; i++) {
        const chart_point *point = &series->points[i];
        double low = x_of(at, point->low), high = x_of(at, point->high);
        double y = y_of(at, point->x, series->device);
        if (point->low > 0.0 && high - low > 2.4 * SCENE_DOT_RADIUS * em) {
            scene_segment(bars, low, y, high, y);
        }
    }
}

static void put_bars(const track *at, const chart_series *series)
{
    scene_item *bars =
        scene_add(at->drawing, SCENE_RECTS, chart_looks[series->look].role, series->device, 0);
    for (int i = 0; i < series->count; i++) {
        const chart_point *point = &series->points[i];
        double y = at->top + point->x * at->row;
        scene_segment(bars, x_of(at, point->low), y + 0.2 * at->row, x_of(at, point->high),
                      y + 0.8 * at->row);
    }
}

double draw_rows(scene *drawing, const chart *data, const chart_panel *panel, double y)
{
    double em = drawing->text, name = 0.0, words = 0.0;
    bool notes = false;
    track at = {.drawing = drawing, .data = data, .panel = panel, .em = em, .first = 1 << 20};
    for (int i = 0; i < panel->row_count; i++) {
        const chart_row *row = &panel->rows[i];
        name = fmax(scene_text_width(drawing, row->note ? SCENE_STRONG : SCENE_LABEL, row->name),
                    name);
        if (row->note) {
            notes = true;
            name = fmax(scene_text_width(drawing, SCENE_TICK, row->note), name);
        }
        if (row->words) {
            words = fmax(scene_text_width(drawing, SCENE_LABEL, row->words) + 2.6 * em, words);
        }
    }
    for (int i = 0; i < panel->count; i++) {
        at.first = panel->series[i].device < at.first ? panel->series[i].device : at.first;
        at.last = panel->series[i].device > at.last ? panel->series[i].device : at.last;
    }
    bool bars = panel->form == CHART_BARS;
    bool stacked = words > 0.0 && name + words > 0.65 * drawing->width;
    double room = stacked ? drawing->width - words : fmin(name, 0.5 * drawing->width);
    int devices = at.last - at.first + 1;
    at.step = bars ? 0.0 : words > 0.0 ? 0.55 * em : fmin(0.4, 1.2 / devices) * em;
    at.head = stacked ? 1.5 * em : 0.0;
    at.row = at.head + fmax((notes && !stacked ? 2.7 : 1.6) * em, at.step * devices + 0.8 * em);
    at.left = stacked ? 0.8 * em : room + 1.2 * em;
    at.width = drawing->width - at.left - (stacked ? 0.8 * em : fmax(words, 1.0 * em));
    at.top = y + 0.6 * em;
    if (panel->title) {
        char title[120];
        draw_fitting(title, sizeof title, drawing, SCENE_STRONG, panel->title, drawing->width);
        scene_write(drawing, SCENE_STRONG, 0.4 * em, y + 1.5 * em, ANCHOR_START, title);
        at.top = y + 2.2 * em;
    }
    put_bands(&at);
    put_axis(&at);
    put_names(&at, room, stacked);
    for (int i = 0; i < panel->count; i++) {
        (bars ? put_bars : put_dots)(&at, &panel->series[i]);
    }
    return at.top + panel->row_count * at.row + 3.0 * em;
}
