/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - a drawing as a list of shapes, which is written as SVG or PDF. */
#ifndef ISOMER_REPORT_SCENE_H
#define ISOMER_REPORT_SCENE_H

#include <stdbool.h>
#include <stdio.h>

/* What an item is for. The table of styles in scene.c gives each role its paint. */
typedef enum scene_role {
    SCENE_TITLE,    /* text */
    SCENE_STRONG,   /* text: names of panels and rows */
    SCENE_LABEL,    /* text: legends, values in words */
    SCENE_TICK,     /* text: ticks, names of axes, notes */
    SCENE_AXIS,     /* line */
    SCENE_GRID,     /* thin line */
    SCENE_BAND,     /* area behind a row */
    SCENE_CURVE,    /* line of a device */
    SCENE_WHISKER,  /* interval of a device */
    SCENE_DOT,      /* filled mark or bar of a device */
    SCENE_RING,     /* open mark of a device */
    SCENE_TINT,     /* light bar of a device */
    SCENE_SHADE,    /* middling bar of a device */
    SCENE_ROOF,     /* limit of a device, as a line */
    SCENE_TICKMARK, /* the same as a tick */
    SCENE_ROLES
} scene_role;

typedef enum scene_paint {
    PAINT_NONE,
    PAINT_INK,
    PAINT_QUIET,
    PAINT_RULE,
    PAINT_GRID,
    PAINT_SOFT,
    PAINT_PAPER,
    PAINT_DEVICE
} scene_paint;

typedef struct scene_style {
    const char *name; /* of the CSS class */
    scene_paint stroke, fill;
    double width; /* of lines, in twelfths of the size of text */
    double size;  /* of text, as a part of the scene's; 0: not text */
    bool bold;
    double opacity; /* 0: 1 */
} scene_style;

extern const scene_style scene_styles[SCENE_ROLES];

/* Colours on white paper. page.css has the same ones as --device-0 and so on. */
enum { SCENE_DEVICES = 8 };
extern const char *const scene_device_colours[SCENE_DEVICES]; /* "#0072b2" */
const char *scene_colour(scene_paint paint, int device);      /* NULL: none */

/* Dashes of lines, in widths of a line of 1; a list ends with 0. */
enum { SCENE_DASHES = 5 };
extern const double scene_dashes[SCENE_DASHES][7];

typedef enum scene_mark { MARK_CIRCLE, MARK_SQUARE, MARK_DIAMOND, MARK_UP, MARK_DOWN } scene_mark;

typedef enum scene_form {
    SCENE_LINE,     /* one line through all points */
    SCENE_SEGMENTS, /* a line between each two points */
    SCENE_RECTS,    /* a rectangle between each two points */
    SCENE_MARKS,    /* a mark at each point */
    SCENE_TEXT      /* a text at the only point */
} scene_form;

typedef enum scene_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } scene_anchor;

typedef struct scene_point {
    double x, y;
} scene_point;

typedef struct scene_item {
    scene_form form;
    scene_role role;
    int device;          /* -1: none */
    int look;            /* the dash of a line, the shape of a mark */
    scene_anchor anchor; /* of a text */
    bool upward;         /* the text is turned and reads from bottom to top */
    char *text;
    scene_point *points;
    int count;
} scene_item;

typedef struct scene {
    double width, height;
    double text; /* the size of text */
    scene_item *items;
    int count;
} scene;

scene *scene_make(double width, double text);
void scene_free(scene *drawing);
/* Adds an item without points. The pointer is valid until the next item is added. */
scene_item *scene_add(scene *drawing, scene_form form, scene_role role, int device, int look);
void scene_to(scene_item *item, double x, double y); /* adds a point */
void scene_segment(scene_item *item, double x0, double y0, double x1, double y1);
scene_item *scene_write(scene *drawing, scene_role role, double x, double y, scene_anchor anchor,
                        const char *text);
/* The width of a text, at most: fonts differ. */
double scene_text_width(const scene *drawing, scene_role role, const char *text);
/* The outline of a mark around 0, 0 with a radius of about 1. Returns the number of corners; 0: a
 * circle. */
int scene_mark_outline(scene_mark mark, const scene_point **corners);
#define SCENE_DOT_RADIUS 0.22 /* in sizes of text */
double scene_mark_radius(const scene *drawing, scene_role role);

/* svg: `title` and `description` are for people who do not see the drawing. If `alone`, the file
 * has its own colours and is XML; otherwise it is for a page that has scene_svg_style. */
void scene_svg(FILE *out, const scene *drawing, const char *name, const char *title,
               const char *description, bool alone);
void scene_svg_style(FILE *out);

/* pdf: text that is not UTF-8 makes it fail. scene_pdf_missing opens the cairo library; it returns
 * why there is none, or NULL. Call it first. */
const char *scene_pdf_missing(void);
bool scene_pdf(FILE *out, const scene *drawing, const char *title);

#endif
