/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - all results, the flags, and the samples. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags ----------------------------------------------------------------------------------- */

void report_flag(FILE *out, const char *flag)
{
    char *slug = report_slug(flag);
    fputs("<a class=\"flag\" href=\"#flag-", out);
    report_html(out, slug);
    fputs("\" title=\"", out);
    report_html(out, record_flag_meaning(flag));
    fputs("\">", out);
    report_html(out, flag);
    fputs("</a> ", out);
    free(slug);
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
        fprintf(out, "<td class=\"n\" data-v=\"%.6g\">", value);
    } else {
        fputs("<td class=\"n\">", out);
    }
    report_html(out, text);
    fputs("</td>", out);
}

static void time_cell(FILE *out, const json_t *times, const char *key)
{
    char text[REPORT_TEXT];
    double value = record_number(times, key);
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
                     ? report_format("%.0f to %.0f MHz%s", low, high, power)
                     : strdup("–");
    number_cell(out, high, text);
    free(text);
}

static void put_flags(FILE *out, const report_row *row)
{
    size_t at;
    json_t *flag;
    json_array_foreach(json_object_get(row->json, "flags"), at, flag)
    {
        if (json_is_string(flag)) {
            report_flag(out, json_string_value(flag));
        }
    }
    if (row->fake && !report_row_flag(row, "fake")) {
        report_flag(out, "fake");
    }
}

static void put_numbers(report_page *page, const report_row *row)
{
    const json_t *times = json_object_get(row->json, "times");
    const json_t *roof = json_object_get(row->json, "roof");
    const char *unit = report_model_unit(&page->model->groups[row->group]);
    char text[REPORT_TEXT], low[REPORT_TEXT], high[REPORT_TEXT];
    FILE *out = page->out;
    number_cell(out, row->time, report_time(text, row->time));
    double width = (row->high - row->low) / row->time;
    bool converged = !json_is_false(json_object_get(times, "converged"));
    char *interval =
        report_format("%s to %s%s%s", report_time(low, row->low), report_time(high, row->high),
                      converged ? "" : ", ", converged ? "" : record_text(times, "stopped"));
    number_cell(out, width, interval);
    free(interval);
    char *rate = report_format("%s %s", report_rate(text, row->rate), unit);
    number_cell(out, row->rate, isfinite(row->rate) ? rate : "–");
    free(rate);
    char *share = isfinite(row->percent)
                      ? report_format("%.1f %% of %s", row->percent, record_text(roof, "name"))
                      : NULL;
    number_cell(out, row->percent, share ? share : "–");
    free(share);
    fputs("<td>", out);
    put_flags(out, row);
    fputs("</td>", out);
    time_cell(out, times, "min");
    double spread = record_number(times, "deviation") / record_number(times, "mean");
    snprintf(text, sizeof text, isfinite(spread) ? "%.2f %%" : "–", spread * 100.0);
    number_cell(out, spread, text);
    time_cell(out, times, "host");
    time_cell(out, times, "submit");
    time_cell(out, times, "first");
    time_cell(out, times, "prepare");
    clocks_cell(out, json_object_get(row->json, "clocks"));
}

static void put_check(FILE *out, const json_t *verified)
{
    fputs("<td>", out);
    if (json_is_object(verified)) {
        report_html(out, record_text(verified, "method"));
        if (isfinite(record_number(verified, "error")) &&
            isfinite(record_number(verified, "bound"))) {
            fprintf(out, " %.2g of %.2g", record_number(verified, "error"),
                    record_number(verified, "bound"));
        }
    }
    fputs("</td>", out);
}

static void text_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    report_html(out, text);
    fputs("</td>", out);
}

static void put_row(report_page *page, int at)
{
    const report_row *row = &page->model->rows[at];
    FILE *out = page->out;
    char *shape = report_shape(row);
    fprintf(out, "<tr id=\"r%d\" class=\"%s%s\"", at,
            strcmp(row->status, "ok") == 0            ? "ok"
            : strcmp(row->status, "unsupported") == 0 ? "unsupported"
                                                      : "bad",
            row->fake ? " fake" : "");
    fputs(" title=\"", out);
    report_html(out, record_text(row->json, "id"));
    fputs("\"><th scope=\"row\">", out);
    report_html(out, page->model->groups[row->group].title);
    fputs("</th>", out);
    text_cell(out, row->variant);
    number_cell(out, row->size, shape ? shape : "");
    free(shape);
    text_cell(out, page->model->devices[row->device].brief);
    text_cell(out, row->status);
    if (row->ok) {
        put_numbers(page, row);
    } else {
        fprintf(out, "<td colspan=\"%d\" class=\"reason\">", COLUMNS - 2 - FIRST_NUMBER);
        report_html(out, record_text(row->json, "reason"));
        fputs("</td>", out);
    }
    put_check(out, json_object_get(row->json, "verified"));
    const char *kernel = record_text(row->json, "kernel");
    fputs("<td>", out);
    report_html(out, row->library);
    if (kernel[0] != '\0' && strcmp(kernel, row->library) != 0) {
        fputs(" <small>", out);
        report_html(out, kernel);
        fputs("</small>", out);
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
