/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - the figures of a report: what they show, and how they are written. */
#ifndef ISOMER_REPORT_FIGURE_H
#define ISOMER_REPORT_FIGURE_H

#include "bench/report/internal.h"

/* A figure's data. chart.h has what is in it. */
typedef struct chart chart;

typedef struct figure {
    char *name;     /* "overview", "rate-gemm", "roofline", "split", "energy", "errors-f32" */
    const char *op; /* of a figure of one operation, as in results; else NULL */
    char *title, *caption;
    char *alt; /* what it shows, for people who do not see it */
    chart *data;
} figure;

typedef struct figure_list {
    figure *items;
    int count;
} figure_list;

/* Makes the figures for which there are results, the overview first. They use the model until they
 * are freed. */
figure_list report_figures(const report_model *model);
void report_figures_free(figure_list *list);
const figure *report_figure_of(const figure_list *list, const char *name); /* NULL: not there */

/* The widths that a figure can have. */
typedef enum figure_width {
    FIGURE_WIDE,        /* a page on a desktop */
    FIGURE_NARROW,      /* a page on a phone: 358 pixels */
    FIGURE_ONE_COLUMN,  /* of a paper: 3.4 inches */
    FIGURE_TWO_COLUMNS, /* of a paper: 7 inches */
    FIGURE_WIDTHS
} figure_width;

/* Writes a figure for a page: an <svg class="fg fg-wide"> or fg-narrow, without title and caption.
 * A page has both, and report_figure_style writes the rules for all classes, by which one is shown.
 * Colours are the page's variables --device-0 to --device-7, --ink, --quiet, --grid, --soft and
 * --paper. */
void report_figure_svg(FILE *out, const figure *shown, figure_width width);
void report_figure_style(FILE *out);
/* Writes a whole <figure>, at both widths. */
void report_figure_put(FILE *out, const figure *shown);

/* Writes exactly what is drawn, as CSV: a line for each point. */
void report_figure_csv(FILE *out, const figure *shown);

/* Writes every figure into a folder as SVG and PDF, and its data into another as CSV; NULL: no
 * folder. If a file cannot be written, which is reported, the others still are. */
int report_figure_files(const figure_list *list, const char *figures, const char *data);

#endif
