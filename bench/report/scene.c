/* SPDX-License-Identifier: Apache-2.0 */
/* scene.c - makes the items of a drawing; styles, colours, dashes and marks. */
#include "bench/report/scene.h"

#include "bench/record/record.h"
#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

const scene_style scene_styles[SCENE_ROLES] = {
    [SCENE_TITLE] = {"title", PAINT_NONE, PAINT_INK, 0.0, 1.1, true, 0.0},
    [SCENE_STRONG] = {"strong", PAINT_NONE, PAINT_INK, 0.0, 1.0, true, 0.0},
    [SCENE_LABEL] = {"label", PAINT_NONE, PAINT_INK, 0.0, 1.0, false, 0.0},
    [SCENE_TICK] = {"tick", PAINT_NONE, PAINT_QUIET, 0.0, 0.9, false, 0.0},
    [SCENE_AXIS] = {"axis", PAINT_QUIET, PAINT_NONE, 0.8, 0.0, false, 0.0},
    [SCENE_GRID] = {"grid", PAINT_GRID, PAINT_NONE, 0.7, 0.0, false, 0.0},
    [SCENE_BAND] = {"band", PAINT_NONE, PAINT_SOFT, 0.0, 0.0, false, 0.0},
    [SCENE_CURVE] = {"curve", PAINT_DEVICE, PAINT_NONE, 1.4, 0.0, false, 0.0},
    [SCENE_WHISKER] = {"whisker", PAINT_DEVICE, PAINT_NONE, 0.8, 0.0, false, 0.0},
    [SCENE_DOT] = {"dot", PAINT_NONE, PAINT_DEVICE, 0.0, 0.0, false, 0.0},
    [SCENE_RING] = {"ring", PAINT_DEVICE, PAINT_PAPER, 1.2, 0.0, false, 0.0},
    [SCENE_TINT] = {"tint", PAINT_NONE, PAINT_DEVICE, 0.0, 0.0, false, 0.3},
    [SCENE_SHADE] = {"shade", PAINT_NONE, PAINT_DEVICE, 0.0, 0.0, false, 0.6},
    [SCENE_ROOF] = {"roof", PAINT_DEVICE, PAINT_NONE, 1.0, 0.0, false, 0.0},
    [SCENE_TICKMARK] = {"tickmark", PAINT_DEVICE, PAINT_NONE, 1.8, 0.0, false, 0.0},
};

/* Colour-blind people can tell these apart. */
const char *const scene_device_colours[SCENE_DEVICES] = {
    "#0072b2", "#c8500a", "#00855f", "#a6448f", "#8f6410", "#5544aa", "#882255", "#777777"};

const char *scene_colour(scene_paint paint, int device)
{
    static const char *const colours[] = {
        [PAINT_NONE] = NULL,      [PAINT_INK] = "#1c1e21",  [PAINT_QUIET] = "#5b6168",
        [PAINT_RULE] = "#c4c8cd", [PAINT_GRID] = "#e3e5e8", [PAINT_SOFT] = "#f3f4f6",
        [PAINT_PAPER] = "#ffffff"};
    return paint != PAINT_DEVICE ? colours[paint]
           : device < 0          ? colours[PAINT_QUIET]
                                 : scene_device_colours[device % SCENE_DEVICES];
}

const double scene_dashes[SCENE_DASHES][7] = {
    {0.0}, {5.0, 2.5, 0.0}, {6.0, 2.0, 1.5, 2.0, 0.0}, {1.2, 2.0, 0.0}, {2.5, 2.0, 0.0}};

scene *scene_make(double width, double text)
{
    scene *drawing = record_need(calloc(1, sizeof *drawing));
    *drawing = (scene){.width = width, .text = text};
    return drawing;
}

void scene_free(scene *drawing)
{
    for (int i = 0; i < drawing->count; i++) {
        free(drawing->items[i].text);
        free(drawing->items[i].points);
    }
    free(drawing->items);
    free(drawing);
}

scene_item *scene_add(scene *drawing, scene_form form, scene_role role, int device, int look)
{
    drawing->items = record_grow(drawing->items, drawing->count, sizeof *drawing->items);
    scene_item *item = &drawing->items[drawing->count++];
    *item = (scene_item){.form = form, .role = role, .device = device, .look = look};
    return item;
}

void scene_to(scene_item *item, double x, double y)
{
    item->points = record_grow(item->points, item->count, sizeof *item->points);
    item->points[item->count++] = (scene_point){x, y};
}

void scene_segment(scene_item *item, double x0, double y0, double x1, double y1)
{
    scene_to(item, x0, y0);
    scene_to(item, x1, y1);
}

scene_item *scene_write(scene *drawing, scene_role role, double x, double y, scene_anchor anchor,
                        const char *text)
{
    scene_item *item = scene_add(drawing, SCENE_TEXT, role, -1, 0);
    item->anchor = anchor;
    size_t room = strlen(text) * 4 + 1;
    item->text = record_need(malloc(room));
    printable_line(item->text, room, text);
    scene_to(item, x, y);
    return item;
}

/* Widths are those of DejaVu Sans, which is wide, so that others fit as well. */
double scene_text_width(const scene *drawing, scene_role role, const char *text)
{
    const scene_style *style = &scene_styles[role];
    double width = 0.0;
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xc0) == 0x80) { /* a later byte of a character */
            continue;
        }
        width += strchr("ijl.,:;'|!I", c)                      ? 0.33
                 : strchr(" ()[]/-ft", c)                      ? 0.38
                 : strchr("mMW%@", c)                          ? 0.93
                 : c >= 'A' && c <= 'Z' && !strchr("EFJLZ", c) ? 0.72
                                                               : 0.62;
    }
    return width * drawing->text * style->size * (style->bold ? 1.11 : 1.0);
}

int scene_mark_outline(scene_mark mark, const scene_point **corners)
{
    static const scene_point square[] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    static const scene_point diamond[] = {{0.0, -1.3}, {1.3, 0.0}, {0.0, 1.3}, {-1.3, 0.0}};
    static const scene_point up[] = {{0.0, -1.25}, {1.15, 0.8}, {-1.15, 0.8}};
    static const scene_point down[] = {{0.0, 1.25}, {1.15, -0.8}, {-1.15, -0.8}};
    static const scene_point *const all[] = {NULL, square, diamond, up, down};
    static const int counts[] = {0, 4, 4, 3, 3};
    *corners = all[mark];
    return counts[mark];
}

double scene_mark_radius(const scene *drawing, scene_role role)
{
    return drawing->text * (role == SCENE_RING ? SCENE_DOT_RADIUS - 0.03 : SCENE_DOT_RADIUS);
}
