/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - a figure: what it shows, its data file and its gnuplot script. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Told apart by colour-blind people too; page.css has the same for the dark page. The last is for
 * roofs. */
const char *const report_colours[REPORT_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#aa4499",
                                                    "#a6761d", "#5544aa", "#882255", "#777777"};

enum { WIDTH = 560, HEIGHT = 330, ROW = 24, RIGHT = 22, TOP = 10, BOTTOM = 52, FONT = 12 };

report_figure *report_figure_make(figure_form form, char *name, char *title, char *caption)
{
    report_figure *figure = calloc(1, sizeof *figure);
    if (!figure || !name || !title || !caption) {
        free(name);
        free(title);
        free(caption);
        free(figure);
        return NULL;
    }
    *figure = (report_figure){.form = form, .name = name, .title = title, .caption = caption};
    figure->x_label = figure->y_label = "";
    return figure;
}

void report_figure_free(report_figure *figure)
{
    if (!figure) {
        return;
    }
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
    free(figure->caption);
    free(figure);
}

/* ---- parts ----------------------------------------------------------------------------------- */

figure_series *report_figure_series(report_figure *figure, char *label, int colour, int mark,
                                    int dash)
{
    for (int i = 0; label && i < figure->count; i++) {
        if (strcmp(figure->series[i].label, label) == 0) {
            free(label);
            return &figure->series[i];
        }
    }
    figure_series *grown = realloc(figure->series, sizeof *grown * (size_t)(figure->count + 1));
    if (grown) {
        figure->series = grown;
    }
    if (!grown || !label) {
        free(label);
        figure->failed = true;
        return NULL;
    }
    grown[figure->count] =
        (figure_series){.label = label, .colour = colour, .mark = mark, .dash = dash};
    return &grown[figure->count++];
}

void report_figure_point(report_figure *figure, figure_series *series, figure_point point)
{
    figure_point *grown = NULL;
    if (series) {
        grown = realloc(series->points, sizeof *grown * (size_t)(series->count + 1));
    }
    if (!grown || !point.tip) {
        free(point.tip);
        figure->failed = true;
        if (grown) {
            series->points = grown;
        }
        return;
    }
    double value = figure->form == FIGURE_ROWS ? point.x : point.y;
    if (!isfinite(point.low)) {
        point.low = value;
    }
    if (!isfinite(point.high)) {
        point.high = value;
    }
    series->points = grown;
    series->points[series->count++] = point;
}

int report_figure_name(report_figure *figure, char *name)
{
    for (int i = 0; name && i < figure->name_count; i++) {
        if (strcmp(figure->names[i], name) == 0) {
            free(name);
            return i;
        }
    }
    char **grown = realloc(figure->names, sizeof *grown * (size_t)(figure->name_count + 1));
    if (grown) {
        figure->names = grown;
    }
    if (!grown || !name) {
        free(name);
        figure->failed = true;
        return 0;
    }
    grown[figure->name_count] = name;
    return figure->name_count++;
}

void report_figure_label(report_figure *figure, figure_label label)
{
    figure_label *grown =
        realloc(figure->labels, sizeof *grown * (size_t)(figure->label_count + 1));
    if (grown) {
        figure->labels = grown;
    }
    if (!grown || !label.text) {
        free(label.text);
        figure->failed = true;
        return;
    }
    grown[figure->label_count++] = label;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int by_x(const void *left, const void *right)
{
    double a = ((const figure_point *)left)->x, b = ((const figure_point *)right)->x;
    return (a > b) - (a < b);
}

static void include(double *low, double *high, double value)
{
    if (!(value > 0.0) || !isfinite(value)) {
        return;
    }
    *low = *low > 0.0 && *low < value ? *low : value;
    *high = *high > value ? *high : value;
}

/* Room around the points, and no axis so short that it has a single tic. */
static void widen(double *low, double *high, double least)
{
    if (!(*low > 0.0)) {
        *low = *high = 1.0;
    }
    double room = pow(*high / *low, 0.05);
    room = room > 1.12 ? room : 1.12;
    *low /= room;
    *high *= room;
    if (*high / *low < least) {
        double middle = sqrt(*low * *high);
        *low = middle / sqrt(least);
        *high = middle * sqrt(least);
    }
}

/* Rows were counted from 1; those of different series stand a little apart. */
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
    double x_low = 0.0, x_high = 0.0, y_low = 0.0, y_high = 0.0;
    for (int i = 0; i < figure->count; i++) {
        figure_series *series = &figure->series[i];
        if (figure->form == FIGURE_LINES) {
            qsort(series->points, (size_t)series->count, sizeof *series->points, by_x);
        }
        for (int j = 0; j < series->count; j++) {
            const figure_point *point = &series->points[j];
            include(&x_low, &x_high, point->x);
            include(&y_low, &y_high, point->y);
            include(figure->form == FIGURE_ROWS ? &x_low : &y_low,
                    figure->form == FIGURE_ROWS ? &x_high : &y_high, point->low);
            include(figure->form == FIGURE_ROWS ? &x_low : &y_low,
                    figure->form == FIGURE_ROWS ? &x_high : &y_high, point->high);
        }
    }
    if (figure->form != FIGURE_LINES) {
        settle_rows(figure);
    }
    if (figure->form == FIGURE_BARS) {
        figure->x_low = 0.0;
        figure->x_high = 100.0;
        return;
    }
    if (figure->x_low > 0.0) { /* chosen by who made it */
        return;
    }
    widen(&x_low, &x_high, figure->form == FIGURE_ROWS ? 4.0 : 2.0);
    widen(&y_low, &y_high, 4.0);
    figure->x_low = x_low;
    figure->x_high = x_high;
    figure->y_low = y_low;
    figure->y_high = y_high;
}

/* ---- data and script ------------------------------------------------------------------------- */

bool report_figure_data(FILE *out, const report_figure *figure)
{
    static const char *const columns[] = {[FIGURE_LINES] = "x y low high",
                                          [FIGURE_ROWS] = "x row low high",
                                          [FIGURE_BARS] = "middle row from to"};
    char *title = report_plain(figure->title);
    fprintf(out, "# %s\n# %s\n", title ? title : "", columns[figure->form]);
    free(title);
    for (int i = 0; i < figure->count; i++) {
        const figure_series *series = &figure->series[i];
        char *label = report_plain(series->label);
        fprintf(out, "%s# %s\n", i > 0 ? "\n\n" : "", label ? label : "");
        free(label);
        for (int j = 0; j < series->count; j++) {
            const figure_point *point = &series->points[j];
            fprintf(out, "%.9g %.9g %.9g %.9g\n", point->x, point->y, point->low, point->high);
        }
    }
    return ferror(out) == 0;
}

static void script_rows(FILE *out, const report_figure *figure)
{
    fprintf(out, "set yrange [%g:-0.5]\nset ytics (", figure->name_count - 0.5);
    for (int i = 0; i < figure->name_count; i++) {
        char *name = report_plain(figure->names[i]);
        fputs(i > 0 ? ", '" : "'", out);
        for (const char *at = name; at && *at != '\0'; at++) {
            fputs(*at == '%' ? "%%" : (char[]){*at, '\0'}, out); /* it is taken for a format */
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
    char *title = report_plain(figure->title);
    fprintf(out,
            "# %s. `gnuplot %s.gp` writes %s.svg from %s.dat.\n"
            "set encoding utf8\n"
            "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,%d'\n"
            "set output '%s.svg'\n",
            title ? title : "", figure->name, figure->name, figure->name, WIDTH, height, FONT,
            figure->name);
    fprintf(out,
            "if (exists('report')) set lmargin at screen %.4f; set rmargin at screen %.4f; "
            "set tmargin at screen %.4f; set bmargin at screen %.4f; unset key\n",
            (double)left_of(figure) / WIDTH, 1.0 - (double)RIGHT / WIDTH,
            1.0 - (double)TOP / height, (double)BOTTOM / height);
    fprintf(out, "if (!exists('report')) set title '%s'; set key outside bottom center\n",
            title ? title : "");
    free(title);
    fputs("set border 3 lw 0.8 lc rgb '#777777'\nset tics nomirror out scale 0.5 tc rgb 'black'\n"
          "set grid xtics ytics lt 1 lw 0.6 lc rgb '#808080'\nset bars 0.4\n"
          "set pointintervalbox 0\nset style fill solid 1 noborder\n",
          out);
}

static void script_labels(FILE *out, const report_figure *figure)
{
    for (int i = 0; i < figure->label_count; i++) {
        const figure_label *label = &figure->labels[i];
        char *text = report_plain(label->text);
        fprintf(out, "set label '%s' at %.9g,%.9g %s rotate by %.1f font ',10' offset 0,0.45\n",
                text ? text : "", label->x, label->y, label->right ? "right" : "left",
                label->angle);
        free(text);
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
    char *label = report_plain(series->label);
    fprintf(out, "%s'%s.dat' index %d using ", at > 0 ? ", \\\n     " : "plot ", figure->name, at);
    if (figure->form == FIGURE_BARS) {
        fputs("1:2:3:4:($2-0.34):($2+0.34) with boxxyerror", out);
    } else if (figure->form == FIGURE_ROWS) {
        fprintf(out, "1:2:3:4 with xerrorbars pt %d ps 0.7 lw 1.5", series->mark);
    } else if (series->mark == 0) {
        fprintf(out, "1:2 with lines dt %d lw 1.3", series->dash);
    } else if (series->dash == 0) {
        fprintf(out, "1:2:3:4 with yerrorbars pt %d ps 0.8 lw 1.3", series->mark);
    } else { /* the line apart, so that the intervals are not dashed */
        fprintf(out,
                "1:2 with lines dt %d lw 1.5 lc rgb '%s' notitle, \\\n"
                "     '' index %d using 1:2:3:4 with yerrorbars pt %d ps 0.6 lw 1.3",
                series->dash, report_colours[series->colour], at, series->mark);
    }
    fprintf(out, " lc rgb '%s' title '%s'", report_colours[series->colour], label ? label : "");
    free(label);
}

bool report_figure_script(FILE *out, const report_figure *figure)
{
    script_frame(out, figure);
    fprintf(out, "set xlabel '%s' offset 0,0.5\nset xrange [%.9g:%.9g]\nset xtics ",
            figure->x_label, figure->x_low, figure->x_high);
    report_axis_tics(out, figure->x, figure->divide > 0.0 ? figure->divide : figure->x_low,
                     figure->x_high);
    if (figure->divide > 0.0) { /* what stands left of it has none */
        fprintf(out, "\nset xtics add ('none' %.9g)", figure->divide / 2.0);
    }
    fputc('\n', out);
    if (figure->form == FIGURE_LINES) {
        fprintf(out, "set ylabel '%s' offset 0.5,0\nset yrange [%.9g:%.9g]\nset ytics ",
                figure->y_label, figure->y_low, figure->y_high);
        report_axis_tics(out, figure->y, figure->y_low, figure->y_high);
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
    return ferror(out) == 0;
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
        fputs("</svg>", out);
        report_html(out, series->label);
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
}

void report_figure_table(FILE *out, const report_figure *figure)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Data of the figure\">"
          "<table class=\"data\"><caption>",
          out);
    report_html(out, figure->title);
    fputs("</caption><thead><tr><th scope=\"col\">line</th><th "
          "scope=\"col\">point</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < figure->count; i++) {
        const figure_series *series = &figure->series[i];
        for (int j = 0; j < series->count; j++) {
            fputs("<tr><td>", out);
            report_html(out, j == 0 ? series->label : "");
            fputs("</td><td>", out);
            report_html(out, series->points[j].tip);
            fputs("</td></tr>\n", out);
        }
    }
    fputs("</tbody></table></div>\n", out);
}
