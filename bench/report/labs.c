/* SPDX-License-Identifier: Apache-2.0 */
/* labs.c - the sections of the labs: for each row its table, the labs' own figure, what other
 * programs took beside it, curves and pictures. */
#include "bench/report/labs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static int colour_of(const report_model *model, int file, const json_t *entry)
{
    int device = report_lab_device(model, file, entry);
    return device < 0 ? REPORT_COLOURS - 1 : model->devices[device].colour;
}

static void put_entry(report_page *page, int file, const json_t *entry,
                      const record_lab_columns *columns)
{
    char text[RECORD_LAB_TEXT];
    FILE *out = page->out;
    record_lab_who(entry, text);
    report_put(out, "<tr%s><th scope=\"row\"><span class=\"dev d%d\">%s</span>",
               record_lab_ok(entry) ? "" : " class=\"off\"", colour_of(page->model, file, entry),
               text);
    for (int i = 0; i < columns->count; i++) {
        record_lab_cell(entry, columns, i, text);
        report_put(out, "<td%s>%s", i == 0 ? "" : " class=\"n\"", text);
    }
    if (record_lab_ok(entry)) {
        report_put(out, "<td>%s\n", record_text(entry, "checked"));
    } else {
        report_put(out, "<td>%s: %s\n", record_text(entry, "status"), record_text(entry, "reason"));
    }
}

/* The texts of all entries of a row. */
static void put_lines(FILE *out, const json_t *entries, const char *id)
{
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        const json_t *lines = json_object_get(entry, "lines"), *line;
        size_t at;
        if (json_array_size(lines) == 0) {
            continue;
        }
        char who[RECORD_LAB_TEXT];
        record_lab_who(entry, who);
        report_put(out, "<p>%s, %s %s:</p>\n<pre>", who, record_text(entry, "case.what"),
                   record_text(entry, "case.dtype"));
        json_array_foreach(lines, at, line)
        {
            report_put(out, "%s\n", json_string_value(line));
        }
        fputs("</pre>\n", out);
    }
}

static void put_table(report_page *page, int file, const json_t *entries, const record_lab *row)
{
    record_lab_columns columns;
    FILE *out = page->out;
    record_lab_find(entries, row->id, &columns);
    report_table_open(out, row->title);
    fputs("<thead><tr><th scope=\"col\">device", out);
    for (int i = 0; i < columns.count; i++) {
        report_put(out, "<th scope=\"col\"%s>%s", i == 0 ? "" : " class=\"n\"", columns.names[i]);
    }
    fputs("<th scope=\"col\">checked</thead>\n<tbody>\n", out);
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, row->id));) {
        put_entry(page, file, entry, &columns);
    }
    fputs("</tbody></table></div>\n<dl>", out);
    for (int i = 0; i < columns.count; i++) {
        const char *meaning = record_lab_meaning(row->id, columns.names[i]);
        if (meaning) {
            report_put(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", columns.names[i], meaning);
        }
    }
    fputs("<div><dt>!</dt><dd>the greatest sample is over twice the least</dd></div>\n</dl>\n",
          out);
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { SHADES = 24, WIDTH = 256 };

static void find_range(const json_t *values, double *low, double *high)
{
    size_t at;
    const json_t *value;
    *low = INFINITY;
    *high = -INFINITY;
    json_array_foreach(values, at, value)
    {
        *low = fmin(*low, json_number_value(value));
        *high = fmax(*high, json_number_value(value));
    }
}

/* Cells of one shade that follow each other in a row are one rectangle. */
static void put_picture(FILE *out, const json_t *picture)
{
    const json_t *values = json_object_get(picture, "values");
    int rows = (int)record_number(picture, "rows"), cols = (int)record_number(picture, "cols");
    double low, high;
    if (rows < 1 || cols < 1 || (size_t)rows * (size_t)cols != json_array_size(values)) {
        return;
    }
    const int cell = cols > WIDTH / 4 ? 4 : WIDTH / 2 / cols > 4 ? WIDTH / 2 / cols : 4;
    find_range(values, &low, &high);
    report_put(out,
               "<div><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s: from %g "
               "to %g\">",
               cols * cell, rows * cell, cols * cell, record_text(picture, "name"), low, high);
    for (int i = 0; i < rows; i++) {
        for (int j = 0, end = 0; j < cols; j = end) {
            double share = 0;
            for (end = j; end < cols; end++) {
                const json_t *value = json_array_get(values, (size_t)(i * cols + end));
                double here = high > low ? (json_number_value(value) - low) / (high - low) : 0;
                here = floor(here * (SHADES - 1) + 0.5) / (SHADES - 1);
                if (end > j && here != share) {
                    break;
                }
                share = here;
            }
            if (share > 0) {
                report_put(out,
                           "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                           "fill-opacity=\"%.3f\"/>",
                           j * cell, i * cell, (end - j) * cell, cell, share);
            }
        }
    }
    report_put(out, "</svg><p>%s: from %.4g to %.4g</p></div>\n", record_text(picture, "name"), low,
               high);
}

static void put_pictures(FILE *out, const json_t *entries, const char *id)
{
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        const json_t *pictures = json_object_get(entry, "pictures"), *picture;
        char text[RECORD_LAB_TEXT];
        size_t at;
        if (json_array_size(pictures) == 0) {
            continue;
        }
        record_lab_who(entry, text);
        report_put(out, "<p>%s</p>\n<div class=\"pictures\">\n", text);
        json_array_foreach(pictures, at, picture)
        {
            put_picture(out, picture);
        }
        fputs("</div>\n", out);
    }
}

/* ---- sections -------------------------------------------------------------------------------- */

static void put_row(report_page *page, int file, const json_t *entries, const record_lab *row,
                    const figure_list *figures)
{
    FILE *out = page->out;
    char *name = report_lab_name(page->model, file, row);
    report_put(out, "<h3 id=\"row-%s\">%s. %s</h3>\n<p>Look at: %s.</p>\n", name, row->id,
               row->title, row->look);
    if (row->published) {
        report_put(out, "<p class=\"under\">The labs' own programs on an H200: %s.</p>\n",
                   row->published);
    }
    for (int i = 0; i < figures->count; i++) {
        if (strcmp(figures->items[i].name, name) == 0) {
            report_figure_put(out, &figures->items[i]);
        }
    }
    put_table(page, file, entries, row);
    put_lines(out, entries, row->id);
    put_pictures(out, entries, row->id);
    free(name);
}

bool report_labs_has(const report_model *model, char letter)
{
    for (int file = 0; file < model->count; file++) {
        const json_t *entries = json_object_get(model->roots[file], "labs");
        for (int i = 0; i < RECORD_LABS; i++) {
            if (record_labs[i].id[0] == letter &&
                record_lab_next(entries, NULL, record_labs[i].id)) {
                return true;
            }
        }
    }
    return false;
}

bool report_labs_any(const report_model *model)
{
    bool any = false;
    for (int i = 0; i < 5; i++) {
        const char letter = (char)('A' + i);
        any = any || report_labs_has(model, letter);
    }
    return any;
}

void report_labs(report_page *page, const figure_list *figures)
{
    const report_model *model = page->model;
    for (int i = 0; i < 5; i++) {
        const char letter = (char)('A' + i);
        if (!report_labs_has(model, letter)) {
            continue;
        }
        report_put(page->out, "<section id=\"lab-%s\"><h2>Lab %s: %s</h2>\n",
                   (char[]){letter, '\0'}, (char[]){letter, '\0'}, record_lab_title(letter));
        for (int file = 0; file < model->count; file++) {
            const json_t *entries = json_object_get(model->roots[file], "labs");
            for (int r = 0; r < RECORD_LABS; r++) {
                const record_lab *row = &record_labs[r];
                if (row->id[0] == letter && record_lab_next(entries, NULL, row->id)) {
                    put_row(page, file, entries, row, figures);
                }
            }
        }
        fputs("</section>\n", page->out);
    }
}
