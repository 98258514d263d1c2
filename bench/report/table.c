/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the table of all results, and the flags. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags ----------------------------------------------------------------------------------- */

void report_flag(FILE *out, const char *flag)
{
    char *slug = report_slug(flag);
    report_put(out, "<a class=\"flag\" href=\"#flag-%s\" title=\"%s\">%s</a> ", slug,
               record_flag_meaning(flag), flag);
    free(slug);
}

void report_flags(FILE *out, const json_t *object)
{
    size_t at;
    json_t *flag;
    json_array_foreach(json_object_get(object, "flags"), at, flag)
    {
        report_flag(out, json_string_value(flag));
    }
}

static void put_flag_legend(FILE *out)
{
    fputs("<h3>Flags</h3>\n<dl class=\"flags\">", out);
    for (const record_flag *flag = record_flags; flag->name; flag++) {
        fprintf(out, "<div id=\"flag-%s\"><dt>%s</dt><dd>%s</dd></div>", flag->name, flag->name,
                flag->meaning);
    }
    fputs("</dl>\n", out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

void report_table_open(FILE *out, const char *caption)
{
    report_put(out,
               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
               "<caption>%s</caption>",
               caption, caption);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
    bool number;
} columns[] = {
    {"operation", "the operation with its kind and what sets it apart", false},
    {"variant", "whose way of doing it", false},
    {"size", "the shape", true},
    {"device", "who did it", false},
    {"status", "whether its result was right", false},
    {"time", "the median of the rounds’ medians of one call", true},
    {"interval", "of that median", true},
    {"rate", "by that time", true},
    {"of roof", "the share of the roof that is named", true},
    {"flags", "explained below", false},
    {"least", "the shortest sample", true},
    {"deviation", "the standard deviation over all samples, by their mean", true},
    {"host", "the median by the host’s clock", true},
    {"submit", "the median time to hand one call over", true},
    {"first", "the first call", true},
    {"prepare", "preparing, compilation too", true},
    {"clock", "the device’s clock and power meanwhile", true},
    {"check", "how the result was checked: the error by its bound", false},
    {"library", "the library and the kernel", false},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], FIRST_NUMBER = 5 };

static void number_cell(FILE *out, double value, const char *text)
{
    if (isfinite(value)) {
        report_put(out, "<td class=\"n\" data-v=\"%.6g\">%s</td>", value, text);
    } else {
        report_put(out, "<td class=\"n\">%s</td>", text);
    }
}

static void time_cell(FILE *out, const json_t *result, const char *path)
{
    char text[REPORT_TEXT];
    double value = record_number(result, path);
    number_cell(out, value, report_time(text, value));
}

static void clocks_cell(FILE *out, const json_t *clocks)
{
    double low = record_number(clocks, "mhz_low"), high = record_number(clocks, "mhz_high");
    double watts = record_number(clocks, "power_watts");
    char power[REPORT_TEXT] = "";
    if (isfinite(watts)) {
        snprintf(power, sizeof power, ", %.0f W", watts);
    }
    char *text = isfinite(low) && isfinite(high)
                     ? record_format("%.0f to %.0f MHz%s", low, high, power)
                     : record_format("–");
    number_cell(out, high, text);
    free(text);
}

static void put_numbers(report_page *page, const report_row *row)
{
    const json_t *json = row->json;
    const report_span *time = &row->time;
    char text[REPORT_TEXT], low[REPORT_TEXT], high[REPORT_TEXT];
    FILE *out = page->out;
    number_cell(out, time->value, report_time(text, time->value));
    bool converged = !json_is_false(record_at(json, "times.converged"));
    char *interval =
        record_format("%s to %s%s%s", report_time(low, time->low), report_time(high, time->high),
                      converged ? "" : ", ", converged ? "" : record_text(json, "times.stopped"));
    number_cell(out, (time->high - time->low) / time->value, interval);
    free(interval);
    char *rate = record_format("%s %s", report_rate(text, row->rate.value),
                               page->model->groups[row->group].unit);
    number_cell(out, row->rate.value, isfinite(row->rate.value) ? rate : "–");
    free(rate);
    char *share = record_format("%.1f %% of %s", row->percent, record_text(json, "roof.name"));
    number_cell(out, row->percent, isfinite(row->percent) ? share : "–");
    free(share);
    fputs("<td>", out);
    report_flags(out, json);
    if (row->fake && !record_has_flag(json, "fake")) {
        report_flag(out, "fake");
    }
    fputs("</td>", out);
    time_cell(out, json, "times.min");
    double spread = record_number(json, "times.deviation") / record_number(json, "times.mean");
    snprintf(text, sizeof text, isfinite(spread) ? "%.2f %%" : "–", spread * 100.0);
    number_cell(out, spread, text);
    time_cell(out, json, "times.host");
    time_cell(out, json, "times.submit");
    time_cell(out, json, "times.first");
    time_cell(out, json, "times.prepare");
    clocks_cell(out, json_object_get(json, "clocks"));
}

static void put_row(report_page *page, int at)
{
    const report_row *row = &page->model->rows[at];
    const json_t *json = row->json;
    FILE *out = page->out;
    bool bad = strcmp(row->status, bench_status_name(BENCH_FAILED)) == 0 ||
               strcmp(row->status, bench_status_name(BENCH_ERROR)) == 0;
    report_put(out,
               "<tr id=\"r%d\" class=\"%s%s\" title=\"%s\"><th scope=\"row\">%s</th><td>%s</td>",
               at, bad ? "bad" : row->status, row->fake ? " fake" : "", record_text(json, "id"),
               page->model->groups[row->group].title, row->variant);
    number_cell(out, row->size, row->shape);
    report_put(out, "<td>%s</td><td>%s</td>", page->model->devices[row->device].brief, row->status);
    if (row->ok) {
        put_numbers(page, row);
    } else {
        report_put(out, "<td colspan=\"%d\" class=\"reason\">%s</td>", COLUMNS - 2 - FIRST_NUMBER,
                   record_text(json, "reason"));
    }
    double error = record_number(json, "verified.error");
    double bound = record_number(json, "verified.bound");
    report_put(out, "<td>%s", record_text(json, "verified.method"));
    if (isfinite(error) && isfinite(bound)) {
        report_put(out, " %.2g of %.2g", error, bound);
    }
    const char *kernel = record_text(json, "kernel");
    report_put(out, "</td><td>%s", row->library);
    if (kernel[0] != '\0' && strcmp(kernel, row->library) != 0) {
        report_put(out, " <small>%s</small>", kernel);
    }
    fputs("</td></tr>\n", out);
}

void report_results(report_page *page)
{
    FILE *out = page->out;
    fprintf(out,
            "<section id=\"results\"><h2>All results</h2>\n<div id=\"filter\" hidden></div>\n"
            "<div class=\"scroll all\" tabindex=\"0\" role=\"region\" aria-label=\"All results\">"
            "<table id=\"all\"><caption>%d results; a reason stands where there is no "
            "number</caption>\n<thead><tr>",
            page->model->row_count);
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(out, "<th scope=\"col\"%s title=\"%s\">%s</th>",
                columns[i].number ? " class=\"n\"" : "", columns[i].title, columns[i].name);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < page->model->row_count; i++) {
        put_row(page, i);
    }
    fputs("</tbody></table></div>\n", out);
    put_flag_legend(out);
    fputs("</section>\n", out);
}
