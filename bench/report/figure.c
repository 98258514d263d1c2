/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - a figure: what it shows, its data file and its gnuplot script. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Colour-blind people can tell these apart. The last is for roofs. On the page, svg.c replaces them
 * by the colours of page.css, which suit light and dark pages. */
const char *const report_colours[REPORT_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#aa4499",
                                                    "#a6761d", "#5544aa", "#882255", "#777777"};

enum { WIDTH = 560, HEIGHT = 330, ROW = 24, RIGHT = 22, TOP = 10, BOTTOM = 52, FONT = 12 };

report_figure *report_figure_make(figure_form form, char *name, char *title, figure_scale x,
                                  figure_scale y)
{
    report_figure *figure = record_need(calloc(1, sizeof *figure));
    *figure = (report_figure){.form = form, .name = name, .title = title, .x = x, .y = y};
    return figure;
}

void report_figure_free(report_figure *figure)
{
    for (int i = 0; i < figure->count; i++) {
        for (int j = 0; j < figure->series[i].count; j++) {
            free(figure->series[i].points[j].tip);
        }
        free(figure->series[i].points);
        free(figure->series[i].label);
    }
    for (int i = 0; i < figure->name_count; i++) {
        free(figure->names[i]);
    }
    for (int i = 0; i < figure->label_count; i++) {
        free(figure->labels[i].text);
    }
    free(figure->series);
    free(figure->names);
    free(figure->labels);
    free(figure->name);
    free(figure->title);
    free(figure);
}

/* ---- parts ----------------------------------------------------------------------------------- */

figure_series *report_figure_series(report_figure *figure, char *label, int colour, int mark,
                                    int dash)
{
    for (int i = 0; i < figure->count; i++) {
        if (strcmp(figure->series[i].label, label) == 0) {
            free(label);
            return &figure->series[i];
        }
    }
    figure->series = record_grow(figure->series, figure->count, sizeof *figure->series);
    figure->series[figure->count] =
        (figure_series){.label = label, .colour = colour, .mark = mark, .dash = dash};
    return &figure->series[figure->count++];
}

void report_figure_point(report_figure *figure, figure_series *series, figure_point point)
{
    double value = figure->form == FIGURE_ROWS ? point.x : point.y;
    point.low = isfinite(point.low) ? point.low : value;
    point.high = isfinite(point.high) ? point.high : value;
    series->points = record_grow(series->points, series->count, sizeof *series->points);
    series->points[series->count++] = point;
}

void report_figure_value(report_figure *figure, figure_series *series, double size, int name,
                         report_span value, char *tip)
{
    figure_point point = {size, value.value, value.low, value.high, tip};
    if (name >= 0) { /* until settle_rows is called, rows count from 1 */
        point.x = value.value;
        point.y = name + 1.0;
    }
    report_figure_point(figure, series, point);
}

void report_figure_line(report_figure *figure, figure_series *series, const double x[2],
                        const double y[2], const char *tip)
{
    for (int end = 0; end < 2; end++) {
        report_figure_point(figure, series,
                            (figure_point){x[end], y[end], NAN, NAN, record_format("%s", tip)});
    }
}

int report_figure_name(report_figure *figure, char *name)
{
    for (int i = 0; i < figure->name_count; i++) {
        if (strcmp(figure->names[i], name) == 0) {
            free(name);
            return i;
        }
    }
    figure->names = record_grow(figure->names, figure->name_count, sizeof *figure->names);
    figure->names[figure->name_count] = name;
    return figure->name_count++;
}

void report_figure_label(report_figure *figure, figure_label label)
{
    figure->labels = record_grow(figure->labels, figure->label_count, sizeof *figure->labels);
    figure->labels[figure->label_count++] = label;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int by_x(const void *left, const void *right)
{
    double a = ((const figure_point *)left)->x, b = ((const figure_point *)right)->x;
    return (a > b) - (a < b);
}

static void include(figure_scale *scale, double value)
{
    if (!(value > 0.0) || !isfinite(value)) {
        return;
    }
    scale->low = scale->low > 0.0 && scale->low < value ? scale->low : value;
    scale->high = scale->high > value ? scale->high : value;
}

/* Makes room around the points. Then makes the ratio of the ends at least `least`, so that the axis
 * has more than one tic. */
static void widen(figure_scale *scale, double least)
{
    if (!(scale->low > 0.0)) {
        scale->low = scale->high = 1.0;
    }
    double room = fmax(pow(scale->high / scale->low, 0.05), 1.12);
    scale->low /= room;
    scale->high *= room;
    if (scale->high / scale->low < least) {
        double middle = sqrt(scale->low * scale->high);
        scale->low = middle / sqrt(least);
        scale->high = middle * sqrt(least);
    }
}

/* Changes the rows, which count from 1 until here, to count from 0. In a figure of rows, also
 * moves the points of different series within a row a little apart. */
static void settle_rows(report_figure *figure)
{
    double step = figure->form == FIGURE_ROWS && figure->count > 1 ? 0.7 / figure->count : 0.0;
    for (int i = 0; i < figure->count; i++) {
        for (int j = 0; j < figure->series[i].count; j++) {
            figure->series[i].points[j].y += step * (i - (figure->count - 1) / 2.0) - 1.0;
        }
    }
}

void report_figure_settle(report_figure *figure)
{
    bool chosen = figure->x.low > 0.0; /* the maker of the figure set its ranges */
    figure_scale *value = figure->form == FIGURE_ROWS ? &figure->x : &figure->y;
    for (int i = 0; i < figure->count; i++) {
        figure_series *series = &figure->series[i];
        if (figure->form == FIGURE_LINES) {
            qsort(series->points, (size_t)series->count, sizeof *series->points, by_x);
        }
        for (int j = 0; j < series->count && !chosen; j++) {
            const figure_point *point = &series->points[j];
            include(&figure->x, point->x);
            include(&figure->y, point->y);
            include(value, point->low);
            include(value, point->high);
        }
    }
    if (figure->form != FIGURE_LINES) {
        settle_rows(figure);
    }
    if (figure->form == FIGURE_BARS) {
        figure->x.low = 0.0;
        figure->x.high = 100.0;
    } else if (!chosen) {
        widen(&figure->x, figure->form == FIGURE_ROWS ? 4.0 : 2.0);
        widen(&figure->y, 4.0);
    }
}

/* ---- data and script ------------------------------------------------------------------------- */

void report_figure_data(FILE *out, const void *what)
{
    static const char *const columns[] = {[FIGURE_LINES] = "x y low high",
                                          [FIGURE_ROWS] = "x row low high",
                                          [FIGURE_BARS] = "middle row from to"};
    const report_figure *figure = what;
    report_put_plain(out, "# %s\n# %s\n", figure->title, columns[figure->form]);
    for (int i = 0; i < figure->count; i++) {
        const figure_series *series = &figure->series[i];
        fputs(i > 0 ? "\n\n" : "", out);
        report_put_plain(out, "# %s\n", series->label);
        for (int j = 0; j < series->count; j++) {
            const figure_point *point = &series->points[j];
            fprintf(out, "%.9g %.9g %.9g %.9g\n", point->x, point->y, point->low, point->high);
        }
    }
}

static void script_rows(FILE *out, const report_figure *figure)
{
    fprintf(out, "set yrange [%g:-0.5]\nset ytics (", figure->name_count - 0.5);
    for (int i = 0; i < figure->name_count; i++) {
        char *name = report_plain(figure->names[i]);
        fputs(i > 0 ? ", '" : "'", out);
        for (const char *at = name; *at != '\0'; at++) {
            /* gnuplot reads the text of a tic as a format. */
            fputs(*at == '%' ? "%%" : (char[]){*at, '\0'}, out);
        }
        fprintf(out, "' %d", i);
        free(name);
    }
    fputs(") scale 0\n", out);
}

static int left_of(const report_figure *figure)
{
    int left = 72;
    for (int i = 0; i < figure->name_count; i++) {
        int wanted = (int)(tool_columns(figure->names[i]) * 7.4) + 20;
        left = wanted > left ? wanted : left;
    }
    return left < WIDTH / 2 ? left : WIDTH / 2;
}

static void script_frame(FILE *out, const report_figure *figure)
{
    int row = figure->form == FIGURE_ROWS ? ROW + 6 * figure->count : ROW;
    int height = figure->form == FIGURE_LINES ? HEIGHT : TOP + BOTTOM + row * figure->name_count;
    report_put_plain(out,
                     "# %s. `gnuplot %s.gp` writes %s.svg from %s.dat.\n"
                     "set encoding utf8\n"
                     "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,%d'\n"
                     "set output '%s.svg'\n",
                     figure->title, figure->name, figure->name, figure->name, WIDTH, height, FONT,
                     figure->name);
    report_put_plain(
        out,
        "if (exists('report')) set lmargin at screen %.4f; set rmargin at screen %.4f; "
        "set tmargin at screen %.4f; set bmargin at screen %.4f; unset key\n",
        (double)left_of(figure) / WIDTH, 1.0 - (double)RIGHT / WIDTH, 1.0 - (double)TOP / height,
        (double)BOTTOM / height);
    report_put_plain(out, "if (!exists('report')) set title '%s'; set key outside bottom center\n",
                     figure->title);
    fputs("set border 3 lw 0.8 lc rgb '#777777'\nset tics nomirror out scale 0.5 tc rgb 'black'\n"
          "set grid xtics ytics lt 1 lw 0.6 lc rgb '#808080'\nset bars 0.4\n"
          "set pointintervalbox 0\nset style fill solid 1 noborder\n",
          out);
}

static void script_labels(FILE *out, const report_figure *figure)
{
    for (int i = 0; i < figure->label_count; i++) {
        const figure_label *label = &figure->labels[i];
        report_put_plain(
            out, "set label '%s' at %.9g,%.9g %s rotate by %.1f font ',10' offset 0,0.45\n",
            label->text, label->x, label->y, label->right ? "right" : "left", label->angle);
    }
    if (figure->divide > 0.0) {
        fprintf(out, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dt 3 lc rgb '#777777'\n",
                figure->divide, figure->divide);
    }
}

int report_figure_plots(const report_figure *figure, const figure_series *series)
{
    return figure->form == FIGURE_LINES && series->mark > 0 && series->dash > 0 ? 2 : 1;
}

static void script_series(FILE *out, const report_figure *figure, int at)
{
    const figure_series *series = &figure->series[at];
    fprintf(out, "%s'%s.dat' index %d using ", at > 0 ? ", \\\n     " : "plot ", figure->name, at);
    if (figure->form == FIGURE_BARS) {
        fputs("1:2:3:4:($2-0.34):($2+0.34) with boxxyerror", out);
    } else if (figure->form == FIGURE_ROWS) {
        fprintf(out, "1:2:3:4 with xerrorbars pt %d ps 0.7 lw 1.5", series->mark);
    } else if (series->mark == 0) {
        fprintf(out, "1:2 with lines dt %d lw 1.3", series->dash);
    } else if (series->dash == 0) {
        fprintf(out, "1:2:3:4 with yerrorbars pt %d ps 0.8 lw 1.3", series->mark);
    } else { /* the line is a separate plot, so that the intervals are not dashed */
        fprintf(out,
                "1:2 with lines dt %d lw 1.5 lc rgb '%s' notitle, \\\n"
                "     '' index %d using 1:2:3:4 with yerrorbars pt %d ps 0.6 lw 1.3",
                series->dash, report_colours[series->colour], at, series->mark);
    }
    report_put_plain(out, " lc rgb '%s' title '%s'", report_colours[series->colour], series->label);
}

void report_figure_script(FILE *out, const void *what)
{
    const report_figure *figure = what;
    script_frame(out, figure);
    fprintf(out, "set xlabel '%s' offset 0,0.5\nset xrange [%.9g:%.9g]\nset xtics ",
            figure->x.label, figure->x.low, figure->x.high);
    report_axis_tics(out, figure->x.axis, figure->divide > 0.0 ? figure->divide : figure->x.low,
                     figure->x.high);
    if (figure->divide > 0.0) { /* points left of it have no x value */
        fprintf(out, "\nset xtics add ('none' %.9g)", figure->divide / 2.0);
    }
    fputc('\n', out);
    if (figure->form == FIGURE_LINES) {
        fprintf(out, "set ylabel '%s' offset 0.5,0\nset yrange [%.9g:%.9g]\nset ytics ",
                figure->y.label, figure->y.low, figure->y.high);
        report_axis_tics(out, figure->y.axis, figure->y.low, figure->y.high);
        fputs("\nset logscale xy\n", out);
    } else {
        script_rows(out, figure);
        if (figure->form == FIGURE_ROWS) {
            fputs("set logscale x\n", out);
        }
    }
    script_labels(out, figure);
    for (int i = 0; i < figure->count; i++) {
        script_series(out, figure, i);
    }
    fputc('\n', out);
}

/* ---- for people ------------------------------------------------------------------------------ */

void report_figure_legend(FILE *out, const report_figure *figure)
{
    static const char *const dashes[] = {"", "", "6 4", "2 3", "7 3 2 3"};
    fputs("<ul class=\"legend\">", out);
    for (int i = 0; i < figure->count; i++) {
        const figure_series *series = &figure->series[i];
        fprintf(out,
                "<li data-s=\"%d\"><svg class=\"key\" viewBox=\"0 0 32 12\" aria-hidden=\"true\" "
                "style=\"color:var(--c%d)\">",
                i, series->colour);
        if (figure->form == FIGURE_BARS) {
            fputs("<rect x=\"8\" y=\"1\" width=\"16\" height=\"10\" fill=\"currentColor\"/>", out);
        } else if (series->dash > 0 && figure->form == FIGURE_LINES) {
            fprintf(out,
                    "<path d=\"M1 6H31\" stroke=\"currentColor\" stroke-width=\"1.6\" "
                    "stroke-dasharray=\"%s\"/>",
                    dashes[series->dash]);
        }
        if (series->mark > 0 && figure->form != FIGURE_BARS) {
            fprintf(out, "<use href=\"#gpPt%d\" transform=\"translate(16,6) scale(4)\"/>",
                    series->mark - 1);
        }
        report_put(out, "</svg>%s</li>", series->label);
    }
    fputs("</ul>\n", out);
}

void report_figure_table(FILE *out, const report_figure *figure)
{
    report_put(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Data of the figure\"><table class=\"data\"><caption>%s</caption><thead><tr>"
        "<th scope=\"col\">line</th><th scope=\"col\">point</th></tr></thead><tbody>\n",
        figure->title);
    for (int i = 0; i < figure->count; i++) {
        const figure_series *series = &figure->series[i];
        for (int j = 0; j < series->count; j++) {
            report_put(out, "<tr><td>%s</td><td>%s</td></tr>\n", j == 0 ? series->label : "",
                       series->points[j].tip);
        }
    }
    fputs("</tbody></table></div>\n", out);
}
