/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - shared by the files of the report. */
#ifndef ISOMER_REPORT_INTERNAL_H
#define ISOMER_REPORT_INTERNAL_H

#include "bench/ops/ops.h"
#include "bench/record/record.h"
#include "bench/report/report.h"

/* ---- model.c: the documents as flat tables --------------------------------------------------- */

typedef struct report_device {
    const json_t *json; /* NULL: a result names it, but its file does not describe it */
    int file;
    const char *spec, *name, *backend;
    char *brief; /* "cuda:0"; if there are several files, "FILE: cuda:0" */
    char *label; /* `brief` and the device's name */
    int colour;
    bool fake;
} report_device;

typedef struct report_span {
    double value, low, high;
} report_span;

typedef struct report_row {
    const json_t *json;
    int device, group;
    int problem; /* a number for what is computed, by whatever variant and device */
    int place;   /* in the order of the documents */
    const bench_op *operation;
    const char *op, *kind, *variant, *dtype, *library, *status;
    char *shape; /* "4096 × 4096 × 4096" */
    bool ok, vendor, fake;
    double size;
    report_span time, rate; /* the rate in the unit of its group */
    double percent;         /* of the roof; NaN: it has none */
} report_row;

/* Results that belong in one figure: an operation with its kind, type, layout and form of shape. */
typedef struct report_group {
    char *title, *slug;
    char *plain; /* the title without the form of its shapes */
    const bench_op *operation;
    const char *op, *kind, *dtype, *unit;
    bool flops;       /* its rate is in GFLOP/s, else GB/s */
    int first, count; /* its rows in the model */
} report_group;

typedef struct report_model {
    json_t *const *roots;
    char **files; /* the name of each document */
    int count;
    report_device *devices;
    int device_count;
    report_row *rows; /* by group */
    int row_count;
    report_group *groups;
    int group_count;
    int *best; /* the fastest row of each problem, device and report_who; -1: there is none */
    int ok;
} report_model;

void report_model_make(report_model *out, json_t *const *roots, const char *const *names,
                       int count);
void report_model_free(report_model *model);

/* Returns the first ok row after `row` (NULL: the first of all) that is of this group and device
 * (-1: of any). NULL: there are no more. */
const report_row *report_next(const report_model *model, const report_row *row, int group,
                              int device);

typedef enum report_who { REPORT_ANY, REPORT_OWN, REPORT_VENDOR, REPORT_WHOS } report_who;
bool report_is_by(const report_row *row, report_who who);

/* The fastest ok row of a device for a problem; NULL: there is none. */
const report_row *report_model_best(const report_model *model, int problem, int device,
                                    report_who who);

/* Chooses the problem by which the devices of a group are compared: the one that most devices
 * solved, and the largest of these. Returns a row of that problem; NULL: no row is ok. */
const report_row *report_model_common(const report_model *model, int group, report_who who);

/* Whether the ok rows of a group have no size (0), one size (1) or several (more than 1). Only rows
 * for which `takes` returns true count; NULL: all rows. */
int report_sizes(const report_model *model, int group,
                 bool (*takes)(const report_model *model, const report_row *row));

/* ---- text.c ---------------------------------------------------------------------------------- */

/* fprintf of markup (%s, %d and doubles), with each %s escaped. */
void report_put(FILE *out, const char *format, ...) ISO_PRINTF(2, 3);
/* The same, but each %s goes through report_plain. */
void report_put_plain(FILE *out, const char *format, ...) ISO_PRINTF(2, 3);
/* Replaces characters that a gnuplot string cannot hold; to be freed. */
char *report_plain(const char *text);
/* Writes a text with the characters that control a terminal escaped. HTML is not escaped. */
void report_shown(FILE *out, const char *text, size_t length);
char *report_slug(const char *text); /* to be freed */

enum { REPORT_TEXT = 64 };
const char *report_time(char *text, double nanoseconds); /* "12.3 µs" in REPORT_TEXT bytes */
const char *report_rate(char *text, double value);
const char *report_bytes(char *text, double bytes);
const char *report_count(char *text, double value); /* "4096", "64 Mi" */
char *report_shape(const json_t *result);           /* to be freed */
char *report_value(const json_t *value);            /* any JSON, for people; to be freed */

/* ---- figure.c: a plot, its data and its script ----------------------------------------------- */

typedef enum report_axis {
    AXIS_BYTES,
    AXIS_COUNT,
    AXIS_TIME,
    AXIS_RATE,
    AXIS_RATIO,
    AXIS_INTENSITY,
    AXIS_SHARE
} report_axis;

typedef struct figure_scale {
    report_axis axis;
    const char *label;
    double low, high; /* 0: computed from the points */
} figure_scale;

typedef struct figure_point {
    double x, y, low, high; /* low and high are NaN if there is no interval */
    char *tip;
} figure_point;

typedef struct figure_series {
    char *label;
    int colour, mark, dash; /* mark 0: none; dash 0: no line */
    figure_point *points;
    int count;
} figure_series;

typedef struct figure_label {
    double x, y, angle;
    char *text;
    bool right; /* the text ends at x; otherwise it begins there */
} figure_label;

typedef enum figure_form {
    FIGURE_LINES, /* y over x, intervals in y */
    FIGURE_ROWS,  /* a row for each name, intervals in x */
    FIGURE_BARS   /* a row for each name, from low to high */
} figure_form;

typedef struct report_figure {
    char *name, *title;
    figure_form form;
    figure_scale x, y;
    double divide; /* x of a vertical line; 0: none */
    figure_series *series;
    int count;
    char **names;
    int name_count;
    figure_label *labels;
    int label_count;
} report_figure;

/* The figure frees the `char *` texts that are passed to these functions, but not the labels of
 * scales. */
report_figure *report_figure_make(figure_form form, char *name, char *title, figure_scale x,
                                  figure_scale y);
void report_figure_free(report_figure *figure);
/* Finds or makes the series with this label. The pointer is valid until the next series is made. */
figure_series *report_figure_series(report_figure *figure, char *label, int colour, int mark,
                                    int dash);
void report_figure_point(report_figure *figure, figure_series *series, figure_point point);
/* Adds a measured value as a point: in the row `name`, or over `size` if `name` is -1. */
void report_figure_value(report_figure *figure, figure_series *series, double size, int name,
                         report_span value, char *tip);
/* Adds a line between two points. Both points get the same tip. */
void report_figure_line(report_figure *figure, figure_series *series, const double x[2],
                        const double y[2], const char *tip);
int report_figure_name(report_figure *figure, char *name); /* returns its row */
void report_figure_label(report_figure *figure, figure_label label);
/* Sets ranges and order. Call it before the functions below. */
void report_figure_settle(report_figure *figure);
void report_figure_data(FILE *out, const void *figure);
void report_figure_script(FILE *out, const void *figure);
/* How many gnuplot plots the script makes for a series; the last of them has the marks. */
int report_figure_plots(const report_figure *figure, const figure_series *series);
void report_figure_table(FILE *out, const report_figure *figure);
void report_figure_legend(FILE *out, const report_figure *figure);
extern const char *const report_colours[8]; /* "#0072b2" */
enum { REPORT_COLOURS = 8 };

/* ---- axis.c ---------------------------------------------------------------------------------- */

/* Writes the tics of a gnuplot axis: "('1 us' 1000, ...)". */
void report_axis_tics(FILE *out, report_axis axis, double low, double high);
const char *report_axis_value(char *text, report_axis axis, double value, const char *unit);

/* ---- gnuplot.c, svg.c ------------------------------------------------------------------------ */

typedef struct report_plotter {
    char *program, *version; /* NULL: there is no gnuplot */
    char *folder;            /* private, temporary */
    const char *data;        /* --data, or NULL */
    int hung;                /* how often gnuplot hung */
} report_plotter;

void report_plotter_open(report_plotter *plotter, const char *data);
void report_plotter_close(report_plotter *plotter);
/* Runs gnuplot on a figure. Returns its SVG, to be freed; NULL: there is none, and the reason was
 * reported. */
char *report_plotter_run(report_plotter *plotter, const report_figure *figure);
/* Writes a file into a folder, whole or not at all. False: it failed, and said why. */
bool report_save(const char *folder, const char *name, void (*write)(FILE *out, const void *what),
                 const void *what);
bool report_save_figure(const char *folder, const report_figure *figure); /* data and script */

/* Turns gnuplot's SVG into one for the page. Only known elements and attributes are kept. */
void report_svg(FILE *out, const char *svg, const report_figure *figure);

/* ---- the page -------------------------------------------------------------------------------- */

typedef struct report_page {
    const report_model *model;
    report_plotter *plotter;
    FILE *out;
    bool data_failed; /* a file of --data was not written; the others and the page still are */
} report_page;

void report_machines(report_page *page);
void report_summary(report_page *page);
void report_lines(report_page *page);
void report_transfers(report_page *page);
void report_rooflines(report_page *page);
void report_parts(report_page *page);
void report_samples(report_page *page);
void report_results(report_page *page);

/* Writes the figure with its legend and data, and frees it. */
void report_figure_put(report_page *page, report_figure *figure);
/* Writes the start of a table that scrolls, up to its caption. */
void report_table_open(FILE *out, const char *caption);
void report_flags(FILE *out, const json_t *object); /* those of a result or run, as links */
void report_flag(FILE *out, const char *flag);

void report_samples_data(FILE *out, const void *model);
int report_make(json_t *const *roots, const char *const *names, int count, const char *title,
                const char *data, tool_file *out);

extern const char report_text_css[], report_text_js[];

#endif
