/* SPDX-License-Identifier: Apache-2.0 */
/* scene_svg.c - writes a drawing as SVG, for the page or as a file. */
#include "bench/report/internal.h"
#include "bench/report/scene.h"

#include <math.h>
#include <stdlib.h>

static const char *const variables[] = {
    [PAINT_NONE] = "none",         [PAINT_INK] = "var(--ink)",   [PAINT_QUIET] = "var(--quiet)",
    [PAINT_RULE] = "var(--rule)",  [PAINT_GRID] = "var(--grid)", [PAINT_SOFT] = "var(--soft)",
    [PAINT_PAPER] = "var(--paper)"};

static void put_paint(FILE *out, const char *property, scene_paint paint, bool alone)
{
    const char *colour = scene_colour(paint, -1);
    if (paint == PAINT_DEVICE) {
        fprintf(out, "%s:currentColor;", property);
    } else {
        fprintf(out, "%s:%s;", property, !alone ? variables[paint] : colour ? colour : "none");
    }
}

/* Writes a number with at most one decimal and a point in every locale. */
static void put_number(FILE *out, double value)
{
    long all = lround(value * 10.0), whole = labs(all) / 10, rest = labs(all) % 10;
    fputs(all < 0 ? "-" : "", out);
    if (whole > 0 || rest == 0) {
        fprintf(out, "%ld", whole);
    }
    if (rest > 0) {
        fprintf(out, ".%ld", rest);
    }
}

static void put_one(FILE *out, const char *before, double value)
{
    fputs(before, out);
    put_number(out, value);
}

/* Writes two coordinates of a path. A minus sign parts them as well as a space. */
static void put_pair(FILE *out, const char *before, double x, double y)
{
    put_one(out, before[0] == ' ' && before[1] == '\0' && lround(x * 10.0) < 0 ? "" : before, x);
    put_one(out, lround(y * 10.0) < 0 ? "" : " ", y);
}

/* A place in tenths, so that steps from one to the next add up exactly. */
typedef struct tenths {
    long x, y;
} tenths;

/* Writes the step from the last place to a point. */
static void put_step(FILE *out, const char *before, double x, double y, tenths *last)
{
    tenths to = {lround(x * 10.0), lround(y * 10.0)};
    put_pair(out, before, (double)(to.x - last->x) / 10.0, (double)(to.y - last->y) / 10.0);
    *last = to;
}

/* ---- styles ---------------------------------------------------------------------------------- */

/* Lengths are in em, so that one rule fits every size of text. */
static void put_em(FILE *out, const char *property, double value)
{
    long thousandths = lround(value * 1000.0);
    fprintf(out, "%s:%ld.%03ldem;", property, thousandths / 1000, thousandths % 1000);
}

static void put_rules(FILE *out, bool alone)
{
    for (int i = 0; i < SCENE_ROLES; i++) {
        const scene_style *style = &scene_styles[i];
        fprintf(out, ".fg-%s{", style->name);
        put_paint(out, "fill", style->fill, alone);
        put_paint(out, "stroke", style->stroke, alone);
        if (style->size > 0.0) {
            put_em(out, "font-size", style->size);
            fputs(style->bold ? "font-weight:bold" : "", out);
        } else if (style->width > 0.0) {
            put_em(out, "stroke-width", style->width / 12.0);
            fputs("stroke-linejoin:round", out);
        }
        if (style->opacity > 0.0) {
            fprintf(out, "opacity:.%d", (int)(style->opacity * 10.0));
        }
        fputs("}\n", out);
    }
    for (int i = 1; i < SCENE_DASHES; i++) {
        fprintf(out, ".fg-k%d{stroke-dasharray:", i);
        for (const double *at = scene_dashes[i]; *at > 0.0; at++) {
            fprintf(out, "%s0.%03ldem", at > scene_dashes[i] ? " " : "",
                    lround(*at * scene_styles[SCENE_CURVE].width * 1000.0 / 12.0));
        }
        fputs("}\n", out);
    }
    for (int i = 0; i < SCENE_DEVICES; i++) {
        const char *colour = scene_device_colours[i];
        if (alone) {
            fprintf(out, ".fg-d%d{color:%s}\n", i, colour);
        } else {
            fprintf(out, ".fg-d%d{color:var(--device-%d,%s)}\n", i, i, colour);
        }
    }
    fputs(".fg-none{", out);
    put_paint(out, "color", PAINT_QUIET, alone);
    fputs("}\n.fg-middle{text-anchor:middle}.fg-end{text-anchor:end}\n", out);
    fputs(".fg-round,.fg-block{fill:none;stroke:currentColor;stroke-linecap:round;", out);
    put_em(out, "stroke-width", 2.0 * SCENE_DOT_RADIUS);
    fputs("}\n.fg-block{stroke-linecap:square;", out);
    put_em(out, "stroke-width", 1.8 * SCENE_DOT_RADIUS);
    fputs("}\n", out);
}

void scene_svg_style(FILE *out)
{
    put_rules(out, false);
    fputs(".fg{display:block;width:100%;height:auto}.fg-narrow{display:none}\n"
          "@media(max-width:44rem){.fg-wide{display:none}.fg-narrow{display:block}}\n",
          out);
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Filled circles and squares are lines of no length with round or square ends. */
static bool is_line(const scene_item *item)
{
    return item->form == SCENE_MARKS && item->role == SCENE_DOT &&
           (item->look == MARK_CIRCLE || item->look == MARK_SQUARE);
}

static void put_marks(FILE *out, const scene *drawing, const scene_item *item)
{
    const scene_point *corners;
    double radius = scene_mark_radius(drawing, item->role);
    int count = scene_mark_outline((scene_mark)item->look, &corners);
    tenths last = {0, 0};
    for (int i = 0; i < item->count; i++) {
        double x = item->points[i].x, y = item->points[i].y;
        if (is_line(item)) {
            put_step(out, i == 0 ? "M" : "m", x, y, &last);
            fputs("h0", out);
        } else if (count == 0) { /* an arc of nearly a whole circle */
            put_pair(out, "M", x, y - radius);
            put_pair(out, "a", radius, radius);
            fputs(" 0 1 0 .1 0z", out);
        } else {
            put_pair(out, "M", x + corners[0].x * radius, y + corners[0].y * radius);
            for (int j = 1; j < count; j++) {
                put_pair(out, j > 1 ? " " : "l", (corners[j].x - corners[j - 1].x) * radius,
                         (corners[j].y - corners[j - 1].y) * radius);
            }
            fputc('z', out);
        }
    }
}

/* Whether the point lies on the straight line between its neighbours. */
static bool is_between(const scene_item *item, int at)
{
    if (at == 0 || at == item->count - 1) {
        return false;
    }
    const scene_point *p = &item->points[at - 1];
    double run = p[2].x - p[0].x, rise = p[2].y - p[0].y;
    return run > 0.0 && fabs(p[0].y + rise * (p[1].x - p[0].x) / run - p[1].y) < 0.05;
}

static void put_shape(FILE *out, const scene_item *item)
{
    tenths last = {0, 0};
    int written = 0;
    for (int i = 0; i < item->count; i++) {
        double x = item->points[i].x, y = item->points[i].y;
        if (item->form == SCENE_LINE) {
            if (!is_between(item, i)) {
                static const char *const commands[] = {"M", "l", " "};
                put_step(out, commands[written < 2 ? written : 2], x, y, &last);
                written++;
            }
        } else if (item->form == SCENE_SEGMENTS && i % 2 > 0) {
            double from_x = item->points[i - 1].x, from_y = item->points[i - 1].y;
            put_pair(out, "M", from_x, from_y);
            if (x == from_x) {
                put_one(out, "V", y);
            } else if (y == from_y) {
                put_one(out, "H", x);
            } else {
                put_pair(out, " ", x, y);
            }
        } else if (item->form == SCENE_RECTS && i % 2 > 0) {
            double left = item->points[i - 1].x, top = item->points[i - 1].y;
            put_pair(out, "M", left, top);
            put_one(out, "H", x);
            put_one(out, "V", y);
            put_one(out, "H", left);
            fputc('z', out);
        }
    }
}

static void put_path(FILE *out, const scene *drawing, const scene_item *item)
{
    const char *marks = item->look == MARK_CIRCLE ? "round" : "block";
    fprintf(out, "<path class=\"fg-%s", is_line(item) ? marks : scene_styles[item->role].name);
    if (item->form != SCENE_MARKS && item->look > 0) {
        fprintf(out, " fg-k%d", item->look);
    }
    bool device = scene_styles[item->role].stroke == PAINT_DEVICE ||
                  scene_styles[item->role].fill == PAINT_DEVICE;
    if (device && item->device >= 0) {
        fprintf(out, " fg-d%d", item->device % SCENE_DEVICES);
    } else if (device) {
        fputs(" fg-none", out);
    }
    fputs("\" d=\"", out);
    if (item->form == SCENE_MARKS) {
        put_marks(out, drawing, item);
    } else {
        put_shape(out, item);
    }
    fputs("\"/>\n", out);
}

static void put_text(FILE *out, const scene_item *item)
{
    static const char *const anchors[] = {"", " fg-middle", " fg-end"};
    double x = item->points[0].x, y = item->points[0].y;
    fprintf(out, "<text class=\"fg-%s%s\"", scene_styles[item->role].name, anchors[item->anchor]);
    if (item->upward) {
        put_pair(out, " transform=\"translate(", x, y);
        fputs(") rotate(-90)\">", out);
    } else {
        put_one(out, " x=\"", x);
        put_one(out, "\" y=\"", y);
        fputs("\">", out);
    }
    report_put(out, "%s</text>\n", item->text);
}

void scene_svg(FILE *out, const scene *drawing, const char *name, const char *title,
               const char *description, bool alone)
{
    put_pair(out,
             alone ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg viewBox=\"0 0 "
                   : "<svg viewBox=\"0 0 ",
             drawing->width, drawing->height);
    put_one(out, "\" width=\"", drawing->width);
    put_one(out, "\" height=\"", drawing->height);
    report_put(out, "\" role=\"img\" class=\"fg %s\"", name);
    fputs(" style=\"font-size:", out);
    put_number(out, drawing->text);
    fputs("px\"", out);
    if (alone) {
        fputs(" xmlns=\"http://www.w3.org/2000/svg\" font-family=\"DejaVu Sans, Verdana, "
              "sans-serif\"",
              out);
    }
    report_put(out, "><title>%s</title><desc>%s</desc>\n", title, description);
    if (alone) {
        fputs("<style>\n", out);
        put_rules(out, true);
        fputs("</style>\n", out);
    }
    for (int i = 0; i < drawing->count; i++) {
        if (drawing->items[i].form == SCENE_TEXT) {
            put_text(out, &drawing->items[i]);
        } else if (drawing->items[i].count > 0) {
            put_path(out, drawing, &drawing->items[i]);
        }
    }
    fputs("</svg>\n", out);
}
