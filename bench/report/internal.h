/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the report share. */
#ifndef ISOMER_REPORT_INTERNAL_H
#define ISOMER_REPORT_INTERNAL_H

#include "bench/ops/ops.h"
#include "bench/record/record.h"
#include "bench/report/report.h"

/* ---- model.c: the documents as flat tables --------------------------------------------------- */

typedef struct report_device {
    const json_t *json; /* NULL where a result names a device that its file does not describe */
    int file;
    const char *spec, *name, *backend;
    char *brief; /* "cuda:0", after its file's name where there are several files */
    char *label; /* the same with the device's name */
    bool fake, cpu;
} report_device;

typedef struct report_row {
    const json_t *json;
    int file, device, group;
    const bench_op *operation;
    const char *op, *kind, *variant, *dtype, *library, *status;
    char *problem; /* what is computed, but for the variant */
    bool ok, vendor, fake;
    double size, time, low, high;
    double rate, rate_low, rate_high; /* in the unit of its group */
    double percent;                   /* of the roof; NaN where it has none */
} report_row;

/* Results that belong in one figure: an operation with its kind, type, layout and form of shape. */
typedef struct report_group {
    char *key, *title, *slug;
    char *plain; /* the title without the form of its shapes */
    const bench_op *operation;
    const char *op, *kind, *dtype;
    bool flops; /* its rate is GFLOP/s, else GB/s */
} report_group;

typedef struct report_model {
    json_t *const *roots;
    char **files; /* what each document is called */
    int count;
    report_device *devices;
    int device_count;
    report_row *rows;
    int row_count;
    report_group *groups;
    int group_count;
    int ok;
    bool complete;
} report_model;

bool report_model_make(report_model *out, json_t *const *roots, const char *const *names,
                       int count); /* false: no memory */
void report_model_free(report_model *model);
const char *report_model_unit(const report_group *group);
bool report_row_flag(const report_row *row, const char *flag);

typedef enum report_who { REPORT_ANY, REPORT_OWN, REPORT_VENDOR } report_who;

/* The fastest of a device for a problem; NULL where it has none. */
const report_row *report_model_best(const report_model *model, const char *problem, int device,
                                    report_who who);

/* The problem by which devices are compared within a group: of those that most devices solved, the
 * largest. A row of it; NULL where nothing is ok. */
const report_row *report_model_common(const report_model *model, int group, report_who who);

/* ---- text.c ---------------------------------------------------------------------------------- */

char *report_format(const char *format, ...) ISO_PRINTF(1, 2); /* to be freed; NULL: no memory */
void report_html(FILE *out, const char *text);                 /* escaped */
/* Escaped as on a terminal, but not for HTML. */
void report_shown(FILE *out, const char *text, size_t length);
void report_htmlf(FILE *out, const char *format, ...) ISO_PRINTF(2, 3);
/* Plain enough to stand in a gnuplot string and in SVG. */
char *report_plain(const char *text);
char *report_slug(const char *text);

enum { REPORT_TEXT = 64 };
const char *report_time(char *text, double nanoseconds); /* "12.3 µs" in REPORT_TEXT bytes */
const char *report_rate(char *text, double value);
const char *report_bytes(char *text, double bytes);
const char *report_count(char *text, double value); /* "4096", "64 Mi" */
char *report_shape(const report_row *row);          /* "4096 × 4096 × 4096" */
char *report_value(const json_t *value);            /* any JSON, for people */

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

typedef struct figure_point {
    double x, y, low, high;
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
    bool right; /* ends at x */
} figure_label;

typedef enum figure_form {
    FIGURE_LINES, /* y over x, intervals in y */
    FIGURE_ROWS,  /* a row for each name, intervals in x */
    FIGURE_BARS   /* a row for each name, from low to high */
} figure_form;

typedef struct report_figure {
    char *name, *title, *caption;
    figure_form form;
    report_axis x, y;
    const char *x_label, *y_label;
    double x_low, x_high, y_low, y_high; /* found from the points where 0 */
    double divide;                       /* a line across at this x; 0: none */
    figure_series *series;
    int count;
    char **names;
    int name_count;
    figure_label *labels;
    int label_count;
    bool failed; /* no memory for a part of it */
} report_figure;

report_figure *report_figure_make(figure_form form, char *name, char *title, char *caption);
void report_figure_free(report_figure *figure);
figure_series *report_figure_series(report_figure *figure, char *label, int colour, int mark,
                                    int dash);
void report_figure_point(report_figure *figure, figure_series *series, figure_point point);
int report_figure_name(report_figure *figure, char *name); /* its row */
void report_figure_label(report_figure *figure, figure_label label);
void report_figure_settle(report_figure *figure); /* ranges and order, before the next three */
bool report_figure_data(FILE *out, const report_figure *figure);
bool report_figure_script(FILE *out, const report_figure *figure);
/* How many plots its script makes of a series; the last has the marks. */
int report_figure_plots(const report_figure *figure, const figure_series *series);
void report_figure_table(FILE *out, const report_figure *figure);
void report_figure_legend(FILE *out, const report_figure *figure);
extern const char *const report_colours[8]; /* "#0072B2" */
enum { REPORT_COLOURS = 8 };

/* ---- axis.c ---------------------------------------------------------------------------------- */

/* The tics of a gnuplot axis: "('1 us' 1000, ...)". */
void report_axis_tics(FILE *out, report_axis axis, double low, double high);
const char *report_axis_value(char *text, report_axis axis, double value, const char *unit);

/* ---- gnuplot.c, svg.c ------------------------------------------------------------------------ */

typedef struct report_plotter {
    char *program, *version; /* NULL: no gnuplot */
    char *folder;            /* private, temporary */
    const char *data;        /* --data, or NULL */
    int hung;
} report_plotter;

void report_plotter_open(report_plotter *plotter, const char *data);
void report_plotter_close(report_plotter *plotter);
/* The SVG of a figure as gnuplot made it, to be freed; NULL after saying why. */
char *report_plotter_run(report_plotter *plotter, const report_figure *figure);
/* Writes the figure's data and script into the folder for --data, each whole or not at all.
 * TOOL_OK or TOOL_IO, said. */
int report_plotter_save(const report_plotter *plotter, const report_figure *figure);

/* Turns gnuplot's SVG into one for the page. Lets through only what it knows. */
void report_svg(FILE *out, const char *svg, const report_figure *figure);

/* ---- the page -------------------------------------------------------------------------------- */

typedef struct report_page {
    const report_model *model;
    report_plotter *plotter;
    FILE *out;
    int figures;
    int code;      /* of the page itself */
    int data_code; /* of the files for --data: one that fails costs no other, nor the page */
} report_page;

void report_head(report_page *page, const char *title);
void report_machines(report_page *page);
void report_summary(report_page *page);
void report_lines(report_page *page);
void report_transfers(report_page *page);
void report_rooflines(report_page *page);
void report_parts(report_page *page);
void report_speedup(report_page *page);
void report_samples(report_page *page);
void report_results(report_page *page);
void report_foot(report_page *page);

/* Writes the figure with its legend and data, and frees it. */
void report_figure_put(report_page *page, report_figure *figure);
void report_flag(FILE *out, const char *flag);
/* A series for a line of results: its label, colour, mark and dash. */
figure_series *report_series_of(report_page *page, report_figure *figure, const report_row *row);

bool report_samples_csv(FILE *out, const report_model *model);
int report_make(json_t *const *roots, const char *const *names, int count, const char *title,
                const char *data, tool_file *out);

extern const char report_text_css[], report_text_js[];

#endif
