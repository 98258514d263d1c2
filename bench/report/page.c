/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the page as a whole. */
#include "bench/report/internal.h"

#include <stdlib.h>
#include <string.h>

/* gnuplot's marks by the names that its SVG gives them; here once for all figures. */
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
    if (figure->failed) {
        page->code = TOOL_INTERNAL;
        report_figure_free(figure);
        return;
    }
    if (figure->count == 0) {
        report_figure_free(figure);
        return;
    }
    report_figure_settle(figure);
    if (page->plotter->data && report_plotter_save(page->plotter, figure) != TOOL_OK) {
        page->data_code = TOOL_IO;
    }
    char *svg = report_plotter_run(page->plotter, figure);
    fputs("<figure>\n<figcaption>", out);
    report_html(out, figure->title);
    fputs("</figcaption>\n", out);
    if (svg) {
        fputs("<div class=\"plot-box\">", out);
        report_svg(out, svg, figure);
        fputs("</div>\n", out);
        report_figure_legend(out, figure);
        fputs("<details><summary>Values</summary>\n", out);
    } else {
        fputs("<details open><summary>Values (no plot: gnuplot did not make one)</summary>\n", out);
    }
    report_figure_table(out, figure);
    fputs("</details>\n</figure>\n", out);
    free(svg);
    page->figures++;
    report_figure_free(figure);
}

/* ---- head and foot --------------------------------------------------------------------------- */

static bool run_flag(const json_t *run, const char *flag)
{
    size_t at;
    json_t *value;
    json_array_foreach(json_object_get(run, "flags"), at, value)
    {
        if (json_is_string(value) && strcmp(json_string_value(value), flag) == 0) {
            return true;
        }
    }
    return false;
}

static void put_warnings(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    for (int i = 0; i < model->count; i++) {
        const json_t *run = json_object_get(model->roots[i], "run");
        bool fake = run_flag(run, "fake");
        for (int d = 0; d < model->device_count; d++) {
            fake = fake || (model->devices[d].file == i && model->devices[d].fake);
        }
        if (fake) {
            fputs("<p class=\"loud\" role=\"alert\"><b>FAKE devices</b> took part in ", out);
            report_html(out, model->files[i]);
            fputs(": stand-ins made for tests. None of their numbers means anything.</p>\n", out);
        }
        if (run_flag(run, "interrupted")) {
            fputs("<p class=\"loud\" role=\"alert\"><b>Interrupted:</b> ", out);
            report_html(out, model->files[i]);
            fputs(" was stopped before its end; it holds what was measured by then.</p>\n", out);
        } else if (json_is_false(json_object_get(run, "complete"))) {
            fputs("<p class=\"loud\" role=\"alert\"><b>Not complete:</b> ", out);
            report_html(out, model->files[i]);
            fputs(" ended before every case had its rounds.</p>\n", out);
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
    FILE *out = page->out;
    fputs("<p class=\"under\">", out);
    for (int i = 0; i < page->model->count; i++) {
        const json_t *run = json_object_get(page->model->roots[i], "run");
        const json_t *host = json_object_get(run, "host");
        fputs(i > 0 ? "<br>" : "", out);
        if (page->model->count > 1) {
            report_html(out, page->model->files[i]);
            fputs(": ", out);
        }
        report_htmlf(out, "%s", record_text(host, "name"));
        if (record_text(host, "cpu")[0] != '\0') {
            report_htmlf(out, ", %s", record_text(host, "cpu"));
        }
        if (record_text(run, "suite")[0] != '\0') {
            report_htmlf(out, "; suite %s", record_text(run, "suite"));
        }
        report_htmlf(out, "; %.10s", record_text(run, "time"));
        report_htmlf(out, "; isomer %s", record_text(run, "version"));
    }
    fputs("</p>\n", out);
}

static void put_devices_key(report_page *page)
{
    FILE *out = page->out;
    fputs("<ul class=\"devices-key\" aria-label=\"Colours of the devices\">", out);
    for (int i = 0; i < page->model->device_count; i++) {
        fprintf(out, "<li><span class=\"chip\" style=\"color:var(--c%d)\"></span>",
                i % (REPORT_COLOURS - 1));
        report_html(out, page->model->devices[i].label);
        fputs(page->model->devices[i].fake ? " <strong class=\"fake\">FAKE</strong></li>" : "</li>",
              out);
    }
    fputs("</ul>\n", out);
}

void report_head(report_page *page, const char *title)
{
    FILE *out = page->out;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          /* The page itself forbids that anything is loaded. */
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    report_html(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n%s<header>\n<h1>",
            report_text_css, marks);
    report_html(out, title);
    fputs("</h1>\n", out);
    put_subtitle(page);
    put_devices_key(page);
    fputs("<div id=\"theme\"></div>\n</header>\n", out);
    fputs("<nav aria-label=\"Sections\"><a href=\"#summary\">Summary</a> "
          "<a href=\"#machines\">Machines</a> <a href=\"#lines\">Time and rate</a> <a "
          "href=\"#rooflines\">Rooflines</a> "
          "<a href=\"#parts\">Parts</a> <a href=\"#speedup\">Speed-up</a> "
          "<a href=\"#transfers\">Transfers</a> <a href=\"#samples\">Samples</a> "
          "<a href=\"#results\">All results</a></nav>\n<main>\n",
          out);
    put_warnings(page);
}

void report_foot(report_page *page)
{
    FILE *out = page->out;
    fprintf(out, "</main>\n<footer><p>Made by isomer %s", iso_version());
    if (page->plotter->version) {
        fputs(" with ", out);
        report_html(out, page->plotter->version);
    }
    fputs(". Times are of verified results only. Nothing here is loaded from anywhere else.</p>"
          "</footer>\n",
          out);
    fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", report_text_js);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static char *title_for(const report_model *model)
{
    if (model->count > 1) {
        return report_format("Isomer: %d runs side by side", model->count);
    }
    const json_t *run = json_object_get(model->roots[0], "run");
    const char *host = record_text(json_object_get(run, "host"), "name");
    return host[0] != '\0' ? report_format("Isomer on %s", host) : strdup("Isomer");
}

static bool put_samples_script(FILE *out, const report_model *model)
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
    return ferror(out) == 0;
}

static bool put_result_numbers(FILE *out, const report_model *model)
{
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        const char *const texts[] = {model->devices[row->device].brief,
                                     record_text(row->json, "id"), row->library};
        fprintf(out, "%d", i);
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
            char *plain = report_plain(texts[t]);
            fprintf(out, "\t%s", plain ? plain : "");
            free(plain);
        }
        fputc('\n', out);
    }
    return ferror(out) == 0;
}

/* What --data has besides the figures: each file whole or not at all, whatever became of the
 * others. */
static int save_samples(const report_model *model, const char *folder)
{
    static const struct {
        const char *name;
        bool (*write)(FILE *out, const report_model *model);
    } parts[] = {{"samples.dat", report_samples_csv},
                 {"samples.gp", put_samples_script},
                 {"results.txt", put_result_numbers}};
    int code = TOOL_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        tool_file file = {0};
        char *path = report_format("%s/%s", folder, parts[i].name);
        int got = path ? tool_file_open(&file, path)
                       : tool_error(TOOL_IO, "no memory for %s in %s", parts[i].name, folder);
        if (got == TOOL_OK) {
            parts[i].write(file.stream, model); /* what fails here fails the commit */
            got = tool_file_commit(&file);
        }
        if (got != TOOL_OK) {
            code = got;
        }
        free(path);
    }
    return code;
}

static void put_page(report_page *page, const char *title)
{
    report_head(page, title);
    report_summary(page);
    report_machines(page);
    report_lines(page);
    report_rooflines(page);
    report_parts(page);
    report_speedup(page);
    report_transfers(page);
    report_samples(page);
    report_results(page);
    report_foot(page);
}

int report_make(json_t *const *roots, const char *const *names, int count, const char *title,
                const char *data, tool_file *out)
{
    report_model model;
    report_plotter plotter = {0};
    if (!report_model_make(&model, roots, names, count)) {
        tool_file_discard(out);
        return tool_error(TOOL_INTERNAL, "no memory for the report");
    }
    report_page page = {.model = &model, .plotter = &plotter, .out = out->stream};
    char *made = !title ? title_for(&model) : NULL;
    report_plotter_open(&plotter, data);
    put_page(&page, title ? title : made ? made : "Isomer");
    if (page.code == TOOL_INTERNAL) {
        tool_error(page.code, "no memory for the report");
    }
    if (page.code == TOOL_OK) {
        page.code = tool_file_commit(out);
    } else {
        tool_file_discard(out);
    }
    if (data && page.code != TOOL_INTERNAL && save_samples(&model, data) != TOOL_OK) {
        page.data_code = TOOL_IO;
    }
    if (page.code == TOOL_OK && model.ok == 0) {
        page.code = tool_error(TOOL_NOTHING, "no result is ok: the report has the reasons only");
    }
    if (page.data_code != TOOL_OK && page.code != TOOL_INTERNAL) {
        page.code = page.data_code;
    }
    report_plotter_close(&plotter);
    report_model_free(&model);
    free(made);
    return page.code;
}

int report_write(json_t *const *roots, const char *const *names, int count, const char *title,
                 tool_file *out)
{
    return report_make(roots, names, count, title, NULL, out);
}
