/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - the tables that answer first: which device is fastest at what, our kernels against
 * the vendor's library, performance portability. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void scroll_open(FILE *out, const char *label)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
            "<caption>%s</caption>\n",
            label, label);
}

static void device_head(FILE *out, const report_device *device, int at)
{
    fprintf(out,
            "<th scope=\"col\" class=\"n\"><span class=\"chip\" style=\"color:var(--c%d)\"></span>",
            at % (REPORT_COLOURS - 1));
    report_html(out, device->brief);
    fputs("</th>", out);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void put_counts(report_page *page)
{
    static const char *const names[] = {"ok", "failed", "unsupported", "error"};
    enum { STATES = sizeof names / sizeof names[0] };
    const report_model *model = page->model;
    FILE *out = page->out;
    int all[STATES] = {0};
    for (int i = 0; i < model->row_count; i++) {
        for (int s = 0; s < STATES; s++) {
            all[s] += strcmp(model->rows[i].status, names[s]) == 0;
        }
    }
    fputs("<ul class=\"counts\">", out);
    for (int s = 0; s < STATES; s++) {
        fprintf(out, "<li class=\"%s%s\"><b>%d</b> %s</li>", names[s], all[s] == 0 ? " zero" : "",
                all[s], names[s]);
    }
    fputs("</ul>\n", out);
    if (model->device_count < 2) {
        return;
    }
    fputs("<details><summary>Results by device</summary>\n", out);
    scroll_open(out, "Results by device");
    fputs("<thead><tr><th scope=\"col\">device</th>", out);
    for (int s = 0; s < STATES; s++) {
        fprintf(out, "<th scope=\"col\" class=\"n\">%s</th>", names[s]);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int d = 0; d < model->device_count; d++) {
        fputs("<tr><th scope=\"row\">", out);
        report_html(out, model->devices[d].label);
        fputs("</th>", out);
        for (int s = 0; s < STATES; s++) {
            int count = 0;
            for (int i = 0; i < model->row_count; i++) {
                count += model->rows[i].device == d && strcmp(model->rows[i].status, names[s]) == 0;
            }
            fprintf(out, "<td class=\"n\">%d</td>", count);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

/* ---- the best of each operation -------------------------------------------------------------- */

/* How many flags it has, and which; they stand with its row. */
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
        const char *word = json_is_string(flag) ? json_string_value(flag) : "";
        fputs(at > 0 ? "; " : "", out);
        report_html(out, word);
        fputs(": ", out);
        report_html(out, record_flag_meaning(word));
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
    fprintf(
        out, "<td class=\"n%s\"><a href=\"#r%d\"><span class=\"v\">%s</span> <small>%s</small></a>",
        fastest ? " best" : "", (int)(row - page->model->rows), report_rate(rate, row->rate), unit);
    fputs("<small>", out);
    report_html(out, row->variant);
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
    scroll_open(out, "Fastest variant of each device");
    fputs("<thead><tr><th scope=\"col\">operation</th><th scope=\"col\" class=\"n\">size</th>",
          out);
    for (int d = 0; d < model->device_count; d++) {
        device_head(out, &model->devices[d], d);
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
            if (row && (!fastest || row->time < fastest->time)) {
                fastest = row;
            }
        }
        char *shape = report_shape(common);
        fputs("<tr><th scope=\"row\">", out);
        report_html(out, model->groups[g].title);
        fputs("</th><td class=\"n\">", out);
        report_html(out, shape);
        fputs("</td>", out);
        free(shape);
        for (int d = 0; d < model->device_count; d++) {
            const report_row *row = report_model_best(model, common->problem, d, REPORT_ANY);
            best_cell(page, row, row == fastest && model->device_count > 1,
                      report_model_unit(&model->groups[g]));
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
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group != group || row->device != device || !row->ok || !row->vendor ||
            report_model_best(model, row->problem, device, REPORT_VENDOR) != row) {
            continue;
        }
        const report_row *own = report_model_best(model, row->problem, device, REPORT_OWN);
        if (!own) {
            continue;
        }
        double ratio = row->time / own->time;
        found.least = ratio < found.least ? ratio : found.least;
        found.most = ratio > found.most ? ratio : found.most;
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
    FILE *out = page->out;
    double ratio = found->vendor->time / found->own->time;
    char *shape = report_shape(found->vendor), text[REPORT_TEXT];
    fputs("<tr><th scope=\"row\">", out);
    report_html(out, page->model->groups[group].title);
    fputs("</th><td>", out);
    report_html(out, page->model->devices[device].brief);
    fputs("</td><td>", out);
    report_html(out, found->own->variant);
    fputs("</td><td>", out);
    report_html(out, found->vendor->library);
    fputs("</td><td class=\"n\">", out);
    report_html(out, shape);
    free(shape);
    fprintf(out, "</td><td class=\"n %s\">%s</td>", ratio >= 1.0 ? "up" : "down",
            report_rate(text, ratio));
    fprintf(out, "<td class=\"n\">%s</td>", report_rate(text, exp(found->logs / found->count)));
    fprintf(out, "<td class=\"n\">%s", report_rate(text, found->least));
    fprintf(out, " to %s</td><td class=\"n\">%d</td></tr>\n", report_rate(text, found->most),
            found->count);
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
                scroll_open(page->out, "Isomer’s kernels against the vendor’s library");
                fputs("<thead><tr><th scope=\"col\">operation</th><th scope=\"col\">device</th>"
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
    char missing[256]; /* devices without it, or without a roof for it */
} portability;

/* Whether the device was asked for it and had no answer: what nobody asked for is not known. */
static bool refused(const report_model *model, int group, int device, report_who who)
{
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->group == group && row->device == device && !row->ok &&
            (who == REPORT_ANY || (who == REPORT_VENDOR) == row->vendor)) {
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
    scroll_open(out, "Performance portability");
    fputs("<thead><tr><th scope=\"col\">operation</th><th scope=\"col\" class=\"n\">isomer’s "
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
        fputs("<tr><th scope=\"row\">", out);
        report_html(out, model->groups[g].title);
        fputs("</th>", out);
        portability_cell(out, &own);
        portability_cell(out, &all);
        fputs("<td>", out);
        report_html(out, own.missing);
        fputs("</td></tr>\n", out);
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
