/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - the tables at the top: which device is fastest at what, isomer's kernels against the
 * vendor's library, performance portability. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts ---------------------------------------------------------------------------------- */

/* The number of results of a device (-1: of all) that have this status. */
static int count_of(const report_model *model, int device, const char *status)
{
    int count = 0;
    for (int i = 0; i < model->row_count; i++) {
        count += (device < 0 || model->rows[i].device == device) &&
                 strcmp(model->rows[i].status, status) == 0;
    }
    return count;
}

static void put_counts(report_page *page)
{
    enum { STATES = BENCH_STATUSES };
    const report_model *model = page->model;
    FILE *out = page->out;
    const char *names[STATES];
    fputs("<ul class=\"counts\">", out);
    for (int s = 0; s < STATES; s++) {
        names[s] = bench_status_name((bench_status)s);
        int count = count_of(model, -1, names[s]);
        fprintf(out, "<li class=\"%s%s\"><b>%d</b> %s</li>", names[s], count == 0 ? " zero" : "",
                count, names[s]);
    }
    fputs("</ul>\n", out);
    if (model->device_count < 2) {
        return;
    }
    fputs("<details><summary>Results by device</summary>\n", out);
    report_table_open(out, "Results by device");
    fputs("\n<thead><tr><th scope=\"col\">device</th>", out);
    for (int s = 0; s < STATES; s++) {
        fprintf(out, "<th scope=\"col\" class=\"n\">%s</th>", names[s]);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int d = 0; d < model->device_count; d++) {
        report_put(out, "<tr><th scope=\"row\">%s</th>", model->devices[d].label);
        for (int s = 0; s < STATES; s++) {
            fprintf(out, "<td class=\"n\">%d</td>", count_of(model, d, names[s]));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

/* ---- the best of each operation -------------------------------------------------------------- */

/* Writes the number of flags of a row, as a link to the row of the table that names them. */
static void put_mark(report_page *page, const report_row *row)
{
    const json_t *flags = json_object_get(row->json, "flags");
    size_t at, count = json_array_size(flags);
    json_t *flag;
    FILE *out = page->out;
    if (count == 0) {
        return;
    }
    fprintf(out, "<a class=\"mark\" href=\"#r%d\" title=\"", (int)(row - page->model->rows));
    json_array_foreach(flags, at, flag)
    {
        const char *word = json_string_value(flag);
        report_put(out, "%s%s: %s", at > 0 ? "; " : "", word, record_flag_meaning(word));
    }
    fprintf(out, "\">%d flag%s</a>", (int)count, count > 1 ? "s" : "");
}

static void best_cell(report_page *page, const report_row *row, bool fastest, const char *unit)
{
    FILE *out = page->out;
    char rate[REPORT_TEXT];
    if (!row) {
        fputs("<td class=\"n none\">–</td>", out);
        return;
    }
    report_put(out,
               "<td class=\"n%s\"><a href=\"#r%d\"><span class=\"v\">%s</span> "
               "<small>%s</small></a><small>%s",
               fastest ? " best" : "", (int)(row - page->model->rows),
               report_rate(rate, row->rate.value), unit, row->variant);
    if (isfinite(row->percent)) {
        fprintf(out, ", %.0f %% of roof", row->percent);
    }
    fputs(row->fake ? " <strong class=\"fake\">FAKE</strong></small>" : "</small>", out);
    if (isfinite(row->percent)) {
        fprintf(out, "<span class=\"bar\"><i%s style=\"width:%.1f%%\"></i></span>",
                row->percent > 100.0 ? " class=\"over\"" : "", fmin(row->percent, 100.0));
    }
    put_mark(page, row);
    fputs(fastest ? "<span class=\"unseen\">the fastest</span></td>" : "</td>", out);
}

static void put_best(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    fputs("<h3>Fastest at each operation</h3>\n<p>The fastest variant of each device, at the "
          "largest size that most of them have. Bold is the fastest of all; the bar is the share "
          "of the device’s roof.</p>\n",
          out);
    report_table_open(out, "Fastest variant of each device");
    fputs("\n<thead><tr><th scope=\"col\">operation</th><th scope=\"col\" class=\"n\">size</th>",
          out);
    for (int d = 0; d < model->device_count; d++) {
        report_put(out,
                   "<th scope=\"col\" class=\"n\"><span class=\"chip\" "
                   "style=\"color:var(--c%d)\"></span>%s</th>",
                   model->devices[d].colour, model->devices[d].brief);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int g = 0; g < model->group_count; g++) {
        const report_row *common = report_model_common(model, g, REPORT_ANY);
        const report_row *fastest = NULL;
        if (!common) {
            continue;
        }
        for (int d = 0; d < model->device_count; d++) {
            const report_row *row = report_model_best(model, common->problem, d, REPORT_ANY);
            if (row && (!fastest || row->time.value < fastest->time.value)) {
                fastest = row;
            }
        }
        report_put(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td>",
                   model->groups[g].title, common->shape);
        for (int d = 0; d < model->device_count; d++) {
            const report_row *row = report_model_best(model, common->problem, d, REPORT_ANY);
            best_cell(page, row, row == fastest && model->device_count > 1, model->groups[g].unit);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- against the vendor's library ------------------------------------------------------------ */

typedef struct contest {
    const report_row *own, *vendor; /* at the largest problem that both solved */
    double least, most, logs;
    int count;
} contest;

static contest against(const report_model *model, int group, int device)
{
    contest found = {.least = INFINITY};
    for (const report_row *row = NULL; (row = report_next(model, row, group, device));) {
        const report_row *own = report_model_best(model, row->problem, device, REPORT_OWN);
        if (!own || report_model_best(model, row->problem, device, REPORT_VENDOR) != row) {
            continue;
        }
        double ratio = row->time.value / own->time.value;
        found.least = fmin(ratio, found.least);
        found.most = fmax(ratio, found.most);
        found.logs += log(ratio);
        found.count++;
        if (!found.vendor || row->size > found.vendor->size) {
            found.vendor = row;
            found.own = own;
        }
    }
    return found;
}

static void vendor_row(report_page *page, int group, int device, const contest *found)
{
    double ratio = found->vendor->time.value / found->own->time.value;
    char there[REPORT_TEXT], mean[REPORT_TEXT], least[REPORT_TEXT], most[REPORT_TEXT];
    report_put(page->out,
               "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td class=\"n\">%s"
               "</td><td class=\"n %s\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s to %s</td>"
               "<td class=\"n\">%d</td></tr>\n",
               page->model->groups[group].title, page->model->devices[device].brief,
               found->own->variant, found->vendor->library, found->vendor->shape,
               ratio >= 1.0 ? "up" : "down", report_rate(there, ratio),
               report_rate(mean, exp(found->logs / found->count)), report_rate(least, found->least),
               report_rate(most, found->most), found->count);
}

static void put_vendor(report_page *page)
{
    const report_model *model = page->model;
    bool headed = false;
    for (int g = 0; g < model->group_count; g++) {
        for (int d = 0; d < model->device_count; d++) {
            contest found = against(model, g, d);
            if (found.count == 0) {
                continue;
            }
            if (!headed) {
                fputs("<h3>Isomer’s kernels against the vendor’s library</h3>\n<p>The library’s "
                      "time by that of our fastest kernel on the same problem and device: above 1, "
                      "ours is faster.</p>\n",
                      page->out);
                report_table_open(page->out, "Isomer’s kernels against the vendor’s library");
                fputs("\n<thead><tr><th scope=\"col\">operation</th><th scope=\"col\">device</th>"
                      "<th scope=\"col\">ours</th><th scope=\"col\">library</th>"
                      "<th scope=\"col\" class=\"n\">largest size</th>"
                      "<th scope=\"col\" class=\"n\">ratio there</th>"
                      "<th scope=\"col\" class=\"n\">geometric mean</th>"
                      "<th scope=\"col\" class=\"n\">range</th>"
                      "<th scope=\"col\" class=\"n\">sizes</th></tr></thead><tbody>\n",
                      page->out);
                headed = true;
            }
            vendor_row(page, g, d, &found);
        }
    }
    if (headed) {
        fputs("</tbody></table></div>\n", page->out);
    }
}

/* ---- performance portability ----------------------------------------------------------------- */

typedef struct portability {
    double value;      /* NaN: not known */
    char missing[256]; /* devices without a result or a roof */
} portability;

/* Whether a device has a result without a number in this group. If not, it was not measured. */
static bool refused(const report_model *model, int group, int device, report_who who)
{
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group == group && row->device == device && !row->ok && report_is_by(row, who)) {
            return true;
        }
    }
    return false;
}

static portability portability_of(const report_model *model, int group, report_who who)
{
    portability found = {.value = 0.0};
    const report_row *common = report_model_common(model, group, who);
    double inverse = 0.0;
    bool lacking = false, unknown = false;
    for (int d = 0; d < model->device_count; d++) {
        const report_row *row = common ? report_model_best(model, common->problem, d, who) : NULL;
        bool bad = !row || !(row->percent > 0.0);
        if (!bad) {
            inverse += 1.0 / fmin(row->percent / 100.0, 1.0);
            continue;
        }
        bool none = !row && refused(model, group, d, who);
        lacking = lacking || none;
        unknown = unknown || !none;
        size_t used = strlen(found.missing);
        snprintf(found.missing + used, sizeof found.missing - used, "%s%s %s", used > 0 ? "; " : "",
                 none   ? "none on"
                 : !row ? "not measured on"
                        : "no roof on",
                 model->devices[d].brief);
    }
    if (!lacking) {
        found.value = unknown || inverse == 0.0 ? NAN : model->device_count / inverse;
    }
    return found;
}

static bool has_roof(const report_model *model, int group)
{
    for (int i = 0; i < model->row_count; i++) {
        if (model->rows[i].group == group && model->rows[i].percent > 0.0) {
            return true;
        }
    }
    return false;
}

static void portability_cell(FILE *out, const portability *found)
{
    if (isnan(found->value)) {
        fputs("<td class=\"n none\">not known</td>", out);
    } else {
        fprintf(out,
                "<td class=\"n beside\"><span class=\"bar\">"
                "<i style=\"width:%.1f%%\"></i></span>%.0f %%</td>",
                found->value * 100.0, found->value * 100.0);
    }
}

static void put_portability(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    if (model->device_count < 2) {
        return;
    }
    fputs(
        "<h3>Performance portability</h3>\n<p>The harmonic mean, over all devices here, of the "
        "fraction of its roof that each reaches on the same problem (Pennycook’s metric); 0 where "
        "one of them does not do it, not known where it was not asked. More than the roof counts "
        "as the roof.</p>\n",
        out);
    report_table_open(out, "Performance portability");
    fputs("\n<thead><tr><th scope=\"col\">operation</th><th scope=\"col\" class=\"n\">isomer’s "
          "kernels</th><th scope=\"col\" class=\"n\">with vendors’ libraries</th>"
          "<th scope=\"col\">what is missing</th></tr></thead><tbody>\n",
          out);
    for (int g = 0; g < model->group_count; g++) {
        if (!has_roof(model, g) ||
            (model->groups[g].flops && model->groups[g].operation->computes_title) ||
            model->groups[g].operation->moves) {
            continue;
        }
        portability own = portability_of(model, g, REPORT_OWN);
        portability all = portability_of(model, g, REPORT_ANY);
        report_put(out, "<tr><th scope=\"row\">%s</th>", model->groups[g].title);
        portability_cell(out, &own);
        portability_cell(out, &all);
        report_put(out, "<td>%s</td></tr>\n", own.missing);
    }
    fputs("</tbody></table></div>\n", out);
}

void report_summary(report_page *page)
{
    fputs("<section id=\"summary\"><h2>Summary</h2>\n", page->out);
    put_counts(page);
    if (page->model->ok > 0) {
        put_best(page);
        put_vendor(page);
        put_portability(page);
    } else {
        fputs("<p>No result is ok, so there is nothing to sum up. The reasons are in the table of "
              "all results.</p>\n",
              page->out);
    }
    fputs("</section>\n", page->out);
}
