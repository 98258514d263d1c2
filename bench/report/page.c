/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the page as a whole. */
#include "bench/report/internal.h"

#include <stdlib.h>
#include <string.h>

/* gnuplot's marks, under the names that its SVG uses; all figures share them. */
static const char marks[] =
    "<svg class=\"marks\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
    "<circle id=\"gpDot\" r=\".5\"/>"
    "<path id=\"gpPt0\" class=\"o\" d=\"M-1,0h2M0,-1v2\"/>"
    "<path id=\"gpPt1\" class=\"o\" d=\"M-1,-1L1,1M1,-1L-1,1\"/>"
    "<path id=\"gpPt2\" class=\"o\" d=\"M-1,0h2M0,-1v2M-1,-1L1,1M-1,1L1,-1\"/>"
    "<path id=\"gpPt3\" class=\"o\" d=\"M-1,-1h2v2h-2z\"/>"
    "<path id=\"gpPt4\" class=\"f\" d=\"M-1,-1h2v2h-2z\"/>"
    "<circle id=\"gpPt5\" class=\"o\" r=\"1\"/>"
    "<circle id=\"gpPt6\" class=\"f\" r=\"1.05\"/>"
    "<path id=\"gpPt7\" class=\"o\" d=\"M0,-1.33L-1.33,.67L1.33,.67z\"/>"
    "<path id=\"gpPt8\" class=\"f\" d=\"M0,-1.33L-1.33,.8L1.33,.8z\"/>"
    "<path id=\"gpPt9\" class=\"o\" d=\"M0,1.33L-1.33,-.67L1.33,-.67z\"/>"
    "<path id=\"gpPt10\" class=\"f\" d=\"M0,1.33L-1.33,-.8L1.33,-.8z\"/>"
    "<path id=\"gpPt11\" class=\"o\" d=\"M0,-1.4L1.4,0L0,1.4L-1.4,0z\"/>"
    "<path id=\"gpPt12\" class=\"f\" d=\"M0,-1.4L1.4,0L0,1.4L-1.4,0z\"/>"
    "<path id=\"gpPt13\" class=\"o\" d=\"M0,1.33L1.27,.41L.78,-1.07L-.78,-1.07L-1.27,.41z\"/>"
    "<path id=\"gpPt14\" class=\"f\" d=\"M0,1.33L1.27,.41L.78,-1.07L-.78,-1.07L-1.27,.41z\"/>"
    "</defs></svg>\n";

/* ---- figures --------------------------------------------------------------------------------- */

void report_figure_put(report_page *page, report_figure *figure)
{
    FILE *out = page->out;
    if (figure->count > 0) {
        report_figure_settle(figure);
        if (page->plotter->data && !report_save_figure(page->plotter->data, figure)) {
            page->data_failed = true;
        }
        char *svg = report_plotter_run(page->plotter, figure);
        report_put(out, "<figure>\n<figcaption>%s</figcaption>\n", figure->title);
        if (svg) {
            fputs("<div class=\"plot-box\">", out);
            report_svg(out, svg, figure);
            fputs("</div>\n", out);
            report_figure_legend(out, figure);
            fputs("<details><summary>Values</summary>\n", out);
        } else {
            fputs("<details open><summary>Values (no plot: gnuplot did not make one)</summary>\n",
                  out);
        }
        report_figure_table(out, figure);
        fputs("</details>\n</figure>\n", out);
        free(svg);
    }
    report_figure_free(figure);
}

/* ---- head and foot --------------------------------------------------------------------------- */

static void put_warnings(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    for (int i = 0; i < model->count; i++) {
        const json_t *run = json_object_get(model->roots[i], "run");
        bool fake = record_has_flag(run, "fake");
        for (int d = 0; d < model->device_count; d++) {
            fake = fake || (model->devices[d].file == i && model->devices[d].fake);
        }
        if (fake) {
            report_put(out,
                       "<p class=\"loud\" role=\"alert\"><b>FAKE devices</b> took part in %s: "
                       "stand-ins made for tests. None of their numbers means anything.</p>\n",
                       model->files[i]);
        }
        if (record_has_flag(run, "interrupted")) {
            report_put(out,
                       "<p class=\"loud\" role=\"alert\"><b>Interrupted:</b> %s was stopped before "
                       "its end; it holds what was measured by then.</p>\n",
                       model->files[i]);
        } else if (json_is_false(json_object_get(run, "complete"))) {
            report_put(
                out,
                "<p class=\"loud\" role=\"alert\"><b>Not complete:</b> %s ended before every "
                "case had its rounds.</p>\n",
                model->files[i]);
        }
    }
    if (!page->plotter->program) {
        fputs("<p class=\"loud quietly\">gnuplot was not at hand when this page was made: tables "
              "stand where its plots would be.</p>\n",
              out);
    }
}

static void put_subtitle(report_page *page)
{
    static const char *const members[][2] = {{"host.cpu", ", "}, {"suite", "; suite "}};
    FILE *out = page->out;
    fputs("<p class=\"under\">", out);
    for (int i = 0; i < page->model->count; i++) {
        const json_t *run = json_object_get(page->model->roots[i], "run");
        fputs(i > 0 ? "<br>" : "", out);
        if (page->model->count > 1) {
            report_put(out, "%s: ", page->model->files[i]);
        }
        report_put(out, "%s", record_text(run, "host.name"));
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            const char *text = record_text(run, members[m][0]);
            report_put(out, "%s%s", text[0] != '\0' ? members[m][1] : "", text);
        }
        report_put(out, "; %.10s; isomer %s", record_text(run, "time"),
                   record_text(run, "version"));
    }
    fputs("</p>\n", out);
}

static void put_devices_key(report_page *page)
{
    FILE *out = page->out;
    fputs("<ul class=\"devices-key\" aria-label=\"Colours of the devices\">", out);
    for (int i = 0; i < page->model->device_count; i++) {
        const report_device *device = &page->model->devices[i];
        report_put(out, "<li><span class=\"chip\" style=\"color:var(--c%d)\"></span>%s",
                   device->colour, device->label);
        fputs(device->fake ? " <strong class=\"fake\">FAKE</strong></li>" : "</li>", out);
    }
    fputs("</ul>\n", out);
}

static void put_head(report_page *page, const char *title)
{
    FILE *out = page->out;
    report_put(out,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               /* The page forbids the browser to load anything. */
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n",
               title);
    fprintf(out, "%s</style>\n</head>\n<body>\n%s", report_text_css, marks);
    report_put(out, "<header>\n<h1>%s</h1>\n", title);
    put_subtitle(page);
    put_devices_key(page);
    fputs("<div id=\"theme\"></div>\n</header>\n"
          "<nav aria-label=\"Sections\"><a href=\"#summary\">Summary</a> "
          "<a href=\"#machines\">Machines</a> <a href=\"#lines\">Time and rate</a> <a "
          "href=\"#rooflines\">Rooflines</a> "
          "<a href=\"#parts\">Parts</a> "
          "<a href=\"#transfers\">Transfers</a> <a href=\"#samples\">Samples</a> "
          "<a href=\"#results\">All results</a></nav>\n<main>\n",
          out);
    put_warnings(page);
}

static void put_foot(report_page *page)
{
    const char *version = page->plotter->version;
    report_put(page->out,
               "</main>\n<footer><p>Made by isomer %s%s%s. Times are of verified results only. "
               "Nothing here is loaded from anywhere else.</p></footer>\n",
               iso_version(), version ? " with " : "", version ? version : "");
    fprintf(page->out, "<script>\n%s</script>\n</body>\n</html>\n", report_text_js);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static char *title_for(const report_model *model)
{
    const char *host = record_text(model->roots[0], "run.host.name");
    return model->count > 1 ? record_format("Isomer: %d runs side by side", model->count)
                            : record_format("Isomer%s%s", host[0] != '\0' ? " on " : "", host);
}

static void put_samples_script(FILE *out, const void *model)
{
    (void)model;
    fputs("# All samples of one result, round by round: gnuplot -e 'result=12' samples.gp writes\n"
          "# samples.svg. results.txt says which result has which number.\n"
          "if (!exists('result')) result = 0\n"
          "set terminal svg size 560,330 dynamic font 'sans-serif,12'\n"
          "set output 'samples.svg'\n"
          "set xlabel 'round'\nset ylabel 'nanoseconds'\nunset key\n"
          "set offsets 0.5, 0.5, graph 0.05, graph 0.05\n"
          "plot 'samples.dat' using ($1 == result ? $2 + 1 : NaN):4 with points pt 7 ps 0.4\n",
          out);
}

static void put_result_numbers(FILE *out, const void *what)
{
    const report_model *model = what;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        report_put_plain(out, "%d\t%s\t%s\t%s\n", i, model->devices[row->device].brief,
                         record_text(row->json, "id"), row->library);
    }
}

/* Writes the files of --data that are not figures. If one fails, the others are still written. */
static bool save_samples(const report_model *model, const char *folder)
{
    bool data = report_save(folder, "samples.dat", report_samples_data, model);
    bool script = report_save(folder, "samples.gp", put_samples_script, model);
    bool numbers = report_save(folder, "results.txt", put_result_numbers, model);
    return data && script && numbers;
}

int report_make(json_t *const *roots, const char *const *names, int count, const char *title,
                const char *data, tool_file *out)
{
    report_model model;
    report_plotter plotter;
    report_model_make(&model, roots, names, count);
    report_page page = {.model = &model, .plotter = &plotter, .out = out->stream};
    char *made = title_for(&model);
    report_plotter_open(&plotter, data);
    put_head(&page, title ? title : made);
    report_summary(&page);
    report_machines(&page);
    report_lines(&page);
    report_rooflines(&page);
    report_parts(&page);
    report_transfers(&page);
    report_samples(&page);
    report_results(&page);
    put_foot(&page);
    int code = tool_file_commit(out);
    if (data && !save_samples(&model, data)) {
        page.data_failed = true;
    }
    if (code == TOOL_OK && model.ok == 0) {
        code = tool_error(TOOL_NOTHING, "no result is ok: the report has only the reasons");
    }
    report_plotter_close(&plotter);
    report_model_free(&model);
    free(made);
    return page.data_failed ? TOOL_IO : code;
}

int report_write(json_t *const *roots, const char *const *names, int count, const char *title,
                 tool_file *out)
{
    return report_make(roots, names, count, title, NULL, out);
}
