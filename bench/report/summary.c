/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - isomer's kernels against the vendor's library, and performance portability. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
                fputs("<details><summary>Speed of isomer’s kernels, that of the vendor’s library "
                      "being 1</summary>\n",
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
        fputs("</tbody></table></div></details>\n", page->out);
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
        fprintf(out, "<td class=\"n\">%.0f %%</td>", found->value * 100.0);
    }
}

static void put_portability(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    if (model->device_count < 2) {
        return;
    }
    fputs("<details><summary>Performance portability</summary>\n<p>The harmonic mean, over all "
          "devices here, of the fraction of its limit that each reaches on the same problem "
          "(Pennycook’s metric): 0 where one of them cannot do it.</p>\n",
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
    fputs("</tbody></table></div></details>\n", out);
}

void report_libraries(report_page *page)
{
    if (page->model->ok > 0) {
        fputs("<section id=\"libraries\"><h2>Isomer’s kernels and the vendors’ libraries</h2>\n",
              page->out);
        put_vendor(page);
        put_portability(page);
        fputs("</section>\n", page->out);
    }
}
