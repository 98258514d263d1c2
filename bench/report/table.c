/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the folded table of an operation: a block for each group, a line for each row. */
#include "bench/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* End tags of rows and cells may be left out in HTML; with many rows they would be a fifth of the
 * page. */

static const char *const columns[][2] = {{"size", "n"},         {"device", ""},    {"variant", ""},
                                         {"time", "n"},         {"interval", "n"}, {"speed", "n"},
                                         {"of its limit", "n"}, {"notes", ""}};

enum { COLUMNS = sizeof columns / sizeof columns[0], FIGURES = COLUMNS - 3 };

/* Writes the flags that nothing at the top says of the whole run: cautions with a sign. The last
 * sentence there is about rounds. */
static void put_flags(FILE *out, const report_page *page, const report_row *row)
{
    const record_signs *signs = &page->model->signs[page->model->devices[row->device].file];
    size_t at;
    json_t *flag;
    bool some = false;
    if (row->sign >= RECORD_CAUTION) {
        fprintf(out, "<b class=\"sign\" title=\"%s\">!</b> ",
                row->sign == RECORD_INVALID ? "this number counts nowhere"
                                            : "trust this number less");
    }
    json_array_foreach(json_object_get(row->json, "flags"), at, flag)
    {
        const char *word = json_string_value(flag);
        if (record_sign_has(signs, row->json, word) && strcmp(word, "few-rounds") != 0) {
            report_put(out, "%s%s", some ? ", " : "", word);
            some = true;
        }
    }
}

static void put_figures(report_page *page, const report_row *row)
{
    FILE *out = page->out;
    char time[REPORT_TEXT], rate[REPORT_TEXT];
    double half = record_half_width(row->json) * 100.0;
    fprintf(out, "<td>%s<td>", report_time(time, row->time.value));
    if (isfinite(half)) {
        fprintf(out, "±%.*f %%", half < 9.95 ? 1 : 0, half);
    }
    fprintf(out, "<td>%s<td>",
            chart_value(rate, page->model->groups[row->group].flops ? CHART_FLOPS : CHART_MOVED,
                        row->rate.value * 1e9));
    if (isfinite(row->percent)) {
        fprintf(out, "%.0f %%", row->percent);
    }
    fputs("<td>", out);
    put_flags(out, page, row);
}

static void put_row(report_page *page, const report_row *row)
{
    FILE *out = page->out;
    bool wrong = strcmp(row->status, bench_status_name(BENCH_FAILED)) == 0;
    bool broken = strcmp(row->status, bench_status_name(BENCH_ERROR)) == 0;
    fputs(row->ok ? "<tr>" : wrong || broken ? "<tr class=bad>" : "<tr class=off>", out);
    report_put(out, "<td>%s<td class=\"d%d\">%s<td>%s", row->shape, row->device % REPORT_COLOURS,
               page->model->devices[row->device].brief, row->variant);
    const char *used = record_text(row->json, "variant_used"); /* where it is auto */
    if (used[0] != '\0') {
        report_put(out, " (%s)", used);
    }
    if ((row->vendor || strcmp(used, "vendor") == 0) && row->library[0] != '\0') {
        report_put(out, " <i>%s</i>", row->library);
    }
    if (row->ok) {
        put_figures(page, row);
    } else {
        report_put(out, "<td colspan=%d>%s: %s", FIGURES, row->status,
                   record_text(row->json, "reason"));
    }
    fputc('\n', out);
}

void report_table(report_page *page, const char *op)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    int count = 0;
    for (int g = 0; g < model->group_count; g++) {
        count += strcmp(model->groups[g].op, op) == 0 ? model->groups[g].count : 0;
    }
    report_put(out, "<details class=\"rows\"><summary>Table of all %d results</summary>\n", count);
    report_table_open(out, "All results");
    fputs("<thead><tr>", out);
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(out, "<th scope=\"col\"%s>%s", columns[i][1][0] ? " class=\"n\"" : "",
                columns[i][0]);
    }
    fputs("</thead>\n", out);
    for (int g = 0; g < model->group_count; g++) {
        const report_group *group = &model->groups[g];
        if (strcmp(group->op, op) != 0) {
            continue;
        }
        char *words = figure_group_words(&model->rows[group->first]);
        char *form = figure_form_words(&model->rows[group->first]);
        report_put(out, "<tbody><tr><th colspan=%d scope=\"rowgroup\">%s%s\n", COLUMNS, words,
                   form);
        free(words);
        free(form);
        for (int i = 0; i < group->count; i++) {
            put_row(page, &model->rows[group->first + i]);
        }
    }
    fputs("</table></div></details>\n", out);
}

void report_table_open(FILE *out, const char *caption)
{
    report_put(out,
               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>",
               caption);
}

void report_flag_legend(FILE *out)
{
    fputs("<dl class=\"flags\">", out);
    for (const record_flag *flag = record_flags; flag->name; flag++) {
        fprintf(out, "<div><dt>%s%s</dt><dd>%s</dd></div>\n",
                flag->level >= RECORD_CAUTION ? "! " : "", flag->name, flag->meaning);
    }
    fputs("</dl>\n", out);
}
