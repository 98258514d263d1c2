/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - the section of communicators: for each operation its curves, its table and, between
 * devices, a matrix; then products and the fits. */
#include "bench/report/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_comm_any(const report_model *model)
{
    for (int file = 0; file < model->count; file++) {
        if (json_array_size(json_object_get(model->roots[file], "comm")) > 0) {
            return true;
        }
    }
    return false;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_time(FILE *out, double nanoseconds)
{
    char text[REPORT_TEXT];
    fprintf(out, "<td class=\"n\">%s", nanoseconds > 0 ? report_time(text, nanoseconds) : "");
}

/* A number of 10^9 per second. */
static void put_rate(FILE *out, chart_unit unit, double value)
{
    char text[REPORT_TEXT];
    fprintf(out, "<td class=\"n\">%s", value > 0 ? chart_value(text, unit, 1e9 * value) : "");
}

static void put_end(FILE *out, const json_t *entry)
{
    if (record_comm_ok(entry)) {
        report_put(out, "<td>%s\n", record_text(entry, "verified.method"));
    } else {
        report_put(out, "<td>%s: %s\n", record_text(entry, "status"), record_text(entry, "reason"));
    }
}

static void put_heads(FILE *out, const char *caption, const char *const *heads)
{
    report_table_open(out, caption);
    fputs("<thead><tr>", out);
    for (int i = 0; heads[i]; i++) {
        report_put(out, "<th scope=\"col\"%s>%s", i == 0 ? "" : " class=\"n\"", heads[i]);
    }
    fputs("</thead>\n<tbody>\n", out);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void put_call(FILE *out, const json_t *entry)
{
    char size[REPORT_TEXT];
    const char *by = record_text(entry, "by"), *variant = record_text(entry, "variant");
    const bool ours = strcmp(by, "isomer") == 0;
    report_put(out, "<tr%s><th scope=\"row\">%s<td class=\"n\">%s%s%s",
               record_comm_ok(entry) ? "" : " class=\"off\"",
               report_bytes(size, record_number(entry, "bytes")), ours ? "" : by, variant,
               json_is_true(json_object_get(entry, "in_place")) ? " in place" : "");
    if (record_number(entry, "from") >= 0) {
        report_put(out, " %d to %d", (int)record_number(entry, "from"),
                   (int)record_number(entry, "to"));
    }
    put_time(out, record_number(entry, "times.median"));
    put_time(out, record_number(entry, "times.alone"));
    put_rate(out, CHART_MOVED, record_number(entry, "algbw"));
    put_rate(out, CHART_MOVED, record_number(entry, "busbw"));
    put_end(out, entry);
}

static void put_calls(FILE *out, const json_t *entries, const json_t *head, const char *title)
{
    static const char *const heads[] = {"bytes",     "how", "time",    "alone",
                                        "algorithm", "bus", "checked", NULL};
    size_t at;
    const json_t *entry;
    fputs("<details class=\"rows\"><summary>Table of all results</summary>\n", out);
    put_heads(out, title, heads);
    json_array_foreach(entries, at, entry)
    {
        if (record_comm_is_of(head, entry)) {
            put_call(out, entry);
        }
    }
    fputs("</tbody></table></div></details>\n", out);
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* The largest size that the last rank sent. */
static double matrix_bytes(const json_t *entries, const json_t *head, int ranks)
{
    size_t at;
    const json_t *entry;
    double bytes = 0;
    json_array_foreach(entries, at, entry)
    {
        if (record_comm_is_of(head, entry) && record_comm_ok(entry) &&
            record_number(entry, "from") == ranks - 1) {
            bytes = fmax(bytes, record_number(entry, "bytes"));
        }
    }
    return bytes;
}

static void put_cell(FILE *out, const json_t *entries, const json_t *head, double bytes, int from,
                     int to)
{
    size_t at;
    const json_t *entry;
    double rate = NAN;
    json_array_foreach(entries, at, entry)
    {
        if (record_comm_is_of(head, entry) && record_number(entry, "bytes") == bytes &&
            record_number(entry, "from") == from && record_number(entry, "to") == to) {
            rate = record_number(entry, "algbw");
        }
    }
    put_rate(out, CHART_MOVED, rate);
}

static void put_matrix(FILE *out, const json_t *entries, const json_t *head)
{
    const int ranks = (int)record_number(head, "ranks");
    const double bytes = matrix_bytes(entries, head, ranks);
    char size[REPORT_TEXT];
    if (!(bytes > 0)) {
        return;
    }
    char *caption = record_format("Bandwidth between devices: %s of %s from a rank (rows) to "
                                  "another (columns)",
                                  record_text(head, "op"), report_bytes(size, bytes));
    report_table_open(out, caption);
    fputs("<thead><tr><th scope=\"col\">rank", out);
    for (int to = 0; to < ranks; to++) {
        fprintf(out, "<th scope=\"col\" class=\"n\">%d", to);
    }
    fputs("</thead>\n<tbody>\n", out);
    for (int from = 0; from < ranks; from++) {
        const json_t *spec = json_array_get(json_object_get(head, "devices"), (size_t)from);
        report_put(out, "<tr><th scope=\"row\">%d: %s", from,
                   json_is_string(spec) ? json_string_value(spec) : "");
        for (int to = 0; to < ranks; to++) {
            put_cell(out, entries, head, bytes, from, to);
        }
        fputc('\n', out);
    }
    fputs("</tbody></table></div>\n", out);
    free(caption);
}

/* ---- products and fits ----------------------------------------------------------------------- */

static void put_products(FILE *out, const json_t *entries)
{
    static const char *const heads[] = {"product", "N",      "ranks",      "grid",    "scaling",
                                        "time",    "FLOP/s", "efficiency", "checked", NULL};
    size_t at;
    const json_t *entry;
    put_heads(out, "Products over ranks", heads);
    json_array_foreach(entries, at, entry)
    {
        if (!record_comm_is_product(entry)) {
            continue;
        }
        const double share = record_number(entry, "efficiency");
        report_put(out,
                   "<tr%s><th scope=\"row\">%s %s<td class=\"n\">%.0f<td class=\"n\">%.0f<td "
                   "class=\"n\">%s<td class=\"n\">%s",
                   record_comm_ok(entry) ? "" : " class=\"off\"", record_text(entry, "dtype"),
                   record_text(entry, "variant"), record_number(entry, "n"),
                   record_number(entry, "ranks"), record_text(entry, "grid"),
                   record_text(entry, "scaling"));
        put_time(out, record_number(entry, "times.median"));
        put_rate(out, CHART_FLOPS, record_number(entry, "gflops"));
        if (isfinite(share)) {
            report_put(out, "<td class=\"n\">%.1f %%", 100 * share);
        } else {
            fputs("<td>", out);
        }
        put_end(out, entry);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_fits(FILE *out, const json_t *fits)
{
    static const char *const heads[] = {"operation", "type", "ranks", "latency",
                                        "algorithm", "bus",  "error", NULL};
    size_t at;
    const json_t *fit;
    if (json_array_size(fits) == 0) {
        return;
    }
    fputs("<h3>Latency and bandwidth</h3>\n<p>Time = latency + bytes / bandwidth: the line with "
          "the least squares of relative errors. The error is the median one.</p>\n",
          out);
    put_heads(out, "Fits", heads);
    json_array_foreach(fits, at, fit)
    {
        const char *by = record_text(fit, "by");
        report_put(out, "<tr><th scope=\"row\">%s %s%s%s<td class=\"n\">%s<td class=\"n\">%d",
                   record_text(fit, "op"), record_text(fit, "variant"),
                   json_is_true(json_object_get(fit, "in_place")) ? " in place" : "",
                   strcmp(by, "isomer") == 0 ? "" : ", beside", record_text(fit, "dtype"),
                   (int)record_number(fit, "ranks"));
        put_time(out, record_number(fit, "latency"));
        put_rate(out, CHART_MOVED, record_number(fit, "algbw"));
        put_rate(out, CHART_MOVED, record_number(fit, "busbw"));
        report_put(out, "<td class=\"n\">%.0f %%\n", 100 * record_number(fit, "error"));
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- the section ----------------------------------------------------------------------------- */

static void put_figure(FILE *out, const figure_list *figures, char *name)
{
    const figure *shown = report_figure_of(figures, name);
    if (shown) {
        report_figure_put(out, shown);
    }
    free(name);
}

static void put_file(report_page *page, int file, const figure_list *figures)
{
    const report_model *model = page->model;
    const json_t *root = model->roots[file], *entries = json_object_get(root, "comm");
    const json_t *product = NULL;
    FILE *out = page->out;
    if (model->count > 1 && json_array_size(entries) > 0) {
        report_put(out, "<h3>%s</h3>\n", model->files[file]);
    }
    for (const json_t *head = NULL; (head = record_comm_next(entries, head));) {
        if (record_comm_is_product(head)) {
            product = product ? product : head;
            continue;
        }
        char *title = record_comm_title(head);
        report_put(out, "<h3>%s</h3>\n", title);
        put_figure(out, figures, report_comm_name(model, file, head));
        put_matrix(out, entries, head);
        put_calls(out, entries, head, title);
        free(title);
    }
    if (product) {
        fputs("<h3>Products over ranks</h3>\n", out);
        put_figure(out, figures, report_comm_name(model, file, product));
        put_products(out, entries);
    }
    put_fits(out, json_object_get(root, "comm_fits"));
}

void report_comm(report_page *page, const figure_list *figures)
{
    if (!report_comm_any(page->model)) {
        return;
    }
    fputs("<section id=\"comm\"><h2>Communicators</h2>\n<p>Times are of the slowest rank; alone is "
          "one call and the wait for it. Bandwidths are those of nccl-tests: bytes in the time of "
          "a call (algorithm), and what one rank must send (bus). Every result was "
          "checked.</p>\n",
          page->out);
    for (int file = 0; file < page->model->count; file++) {
        put_file(page, file, figures);
    }
    fputs("</section>\n", page->out);
}
