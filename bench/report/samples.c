/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - every sample, for the script of the page and for --data. */
#include "bench/report/internal.h"

#include <math.h>

/* Writes samples as differences from the median, in ten-thousandths of it, to keep the page
 * small. */
static void put_samples(FILE *out, const report_row *row)
{
    const report_span *time = &row->time;
    size_t at, index;
    json_t *round, *sample;
    fprintf(out, "\"m\":%.9g,\"l\":%.9g,\"h\":%.9g,\"s\":[", time->value,
            isfinite(time->low) ? time->low : time->value,
            isfinite(time->high) ? time->high : time->value);
    json_array_foreach(record_at(row->json, "times.samples"), at, round)
    {
        bool first = true;
        fputs(at > 0 ? ",[" : "[", out);
        json_array_foreach(round, index, sample)
        {
            double value = json_number_value(sample);
            if (!json_is_number(sample) || !isfinite(value)) {
                continue;
            }
            fprintf(out, "%s%.0f", first ? "" : ",", (value / time->value - 1.0) * 1e4 + 0.0);
            first = false;
        }
        fputc(']', out);
    }
    fputc(']', out);
}

void report_samples(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    bool first = true;
    if (model->ok == 0) {
        return;
    }
    fputs(
        "<section id=\"samples\"><h2>Samples</h2>\n<p>Every sample of a case, round by round, so "
        "that drift is seen; beside them how they are spread. The line is the median, the band its "
        "interval, a short bar the median of a round.</p>\n<noscript><p>This figure is drawn for "
        "the case that the reader chooses, which needs JavaScript. The table of all results has "
        "the least sample and the deviation of each.</p></noscript>\n"
        "<div id=\"strip\"></div>\n<script type=\"application/json\" id=\"samples-data\">{",
        out);
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        if (json_array_size(record_at(row->json, "times.samples")) > 0) {
            fprintf(out, "%s\"%d\":{", first ? "" : ",", (int)(row - model->rows));
            put_samples(out, row);
            fputs("}\n", out);
            first = false;
        }
    }
    fputs("}</script>\n</section>\n", out);
}

void report_samples_data(FILE *out, const void *what)
{
    const report_model *model = what;
    fputs("# result round sample nanoseconds; the numbers of results are those of results.txt\n",
          out);
    for (int i = 0; i < model->row_count; i++) {
        size_t at, index;
        json_t *round, *sample;
        json_array_foreach(record_at(model->rows[i].json, "times.samples"), at, round)
        {
            json_array_foreach(round, index, sample)
            {
                fprintf(out, "%d %d %d %.9g\n", i, (int)at, (int)index, json_number_value(sample));
            }
        }
    }
}
