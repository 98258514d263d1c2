/* SPDX-License-Identifier: Apache-2.0 */
/* chart.h - the data of a figure: panels with series of points. */
#ifndef ISOMER_REPORT_CHART_H
#define ISOMER_REPORT_CHART_H

#include "bench/report/figure.h"
#include "bench/report/scene.h"

typedef enum chart_unit {
    CHART_COUNT,
    CHART_BYTES,
    CHART_FLOPS, /* FLOP/s */
    CHART_MOVED, /* B/s */
    CHART_RATIO, /* of the best, which is 1 */
    CHART_SHARE, /* per cent; the only axis that is not logarithmic */
    CHART_INTENSITY,
    CHART_PER_JOULE,
    CHART_ERROR
} chart_unit;

typedef struct chart_axis {
    chart_unit unit;
    const char *label;
    double low, high; /* 0: computed from the points */
} chart_axis;

/* In panels of rows x is the number of the row. */
typedef struct chart_point {
    double x, y, low, high;
} chart_point;

/* How the lines and marks of a variant look. */
typedef enum chart_look {
    LOOK_OWN,
    LOOK_NAIVE,
    LOOK_VENDOR,
    LOOK_VENDOR_2,
    LOOK_OTHER,
    LOOK_ROOF,
    LOOK_KERNEL, /* parts of a bar */
    LOOK_IN,
    LOOK_OUT,
    LOOK_CIRCLE, /* marks without lines */
    LOOK_SQUARE,
    LOOK_DIAMOND,
    LOOK_UP,
    LOOK_DOWN,
    LOOKS
} chart_look;

typedef struct chart_series {
    int device;
    chart_look look;
    char *variant; /* "tiled", "cuBLAS"; of a roof its name and value */
    double named;  /* the x of the point that names a limit */
    chart_point *points;
    int count;
} chart_series;

typedef struct chart_row {
    char *name;
    char *note;  /* in small letters under the name, or NULL */
    char *words; /* after the row, or NULL */
    int device;  /* that the words are about */
} chart_row;

typedef enum chart_form {
    CHART_CURVES, /* y over x */
    CHART_DOTS,   /* a row for each name, y to the right */
    CHART_BARS    /* the same with bars from low to high */
} chart_form;

typedef struct chart_panel {
    chart_form form;
    char *title;
    chart_series *series;
    int count;
    chart_row *rows;
    int row_count;
} chart_panel;

struct chart {
    const report_model *model;
    chart_axis x, y; /* common to all panels */
    double wide;     /* pixels on a desktop */
    chart_panel *panels;
    int count;
};

/* ---- chart.c --------------------------------------------------------------------------------- */

figure *chart_figure(figure_list *list, const report_model *model, char *name, const char *op,
                     char *title);
void chart_figure_drop(figure_list *list); /* removes the last one */
chart_panel *chart_panel_add(chart *data, chart_form form, char *title);
chart_series *chart_series_of(chart_panel *panel, int device, chart_look look, const char *variant);
void chart_point_add(chart_series *series, chart_point point);
int chart_row_add(chart_panel *panel, chart_row row); /* returns its number */
/* The look of a row's variant in a panel; its name is written to `variant`. */
chart_look chart_look_of(const chart_panel *panel, const report_row *row, char *variant,
                         size_t room);
/* Sorts and thins the points, and sets the ranges of the axes. */
void chart_settle(figure *shown);

/* ---- ticks.c --------------------------------------------------------------------------------- */

enum { CHART_TICKS = 24, CHART_TICK_TEXT = 16 };
typedef struct chart_tick {
    double value;
    char text[CHART_TICK_TEXT];
} chart_tick;

/* Chooses at most `most` ticks. Returns their number. */
int chart_ticks(const chart_axis *axis, int most, chart_tick ticks[CHART_TICKS]);
double chart_place(const chart_axis *axis, double value); /* 0 at the low end, 1 at the high end */
/* "51.2 TFLOP/s", "4.20 TB/s" in REPORT_TEXT bytes */
const char *chart_value(char *text, chart_unit unit, double value);

/* ---- the figures and their drawing ----------------------------------------------------------- */

void figure_overview(figure_list *list, const report_model *model);
void figure_rates(figure_list *list, const report_model *model);
bool figure_shows(const report_row *row); /* it is ok and not invalid */

void figure_rooflines(figure_list *list, const report_model *model);
void figure_split(figure_list *list, const report_model *model);
void figure_energy(figure_list *list, const report_model *model);
void figure_errors(figure_list *list, const report_model *model);

/* Words for people, to be freed: "sum f32, along axis 0"; ", 1:1:64", of shapes that are not
 * square; "N = 4096", "64 × 4096 × 4096". */
char *figure_group_words(const report_row *row);
char *figure_form_words(const report_row *row);
char *figure_size_words(const report_row *row);

scene *figure_draw(const figure *shown, figure_width width);

#endif
