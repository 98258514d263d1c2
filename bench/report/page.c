/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the page as a whole. */
#include "bench/report/chart.h"
#include "bench/report/comm.h"
#include "bench/report/labs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- title ----------------------------------------------------------------------------------- */

/* Adds a name unless one of the list is a part of it. */
static void add_name(json_t *names, const char *name)
{
    char *text = report_short_name(name);
    size_t at;
    json_t *known;
    bool there = text[0] == '\0';
    json_array_foreach(names, at, known)
    {
        there = there || strstr(text, json_string_value(known));
    }
    if (!there) {
        json_array_append_new(names, tool_json_text(text));
    }
    free(text);
}

/* "22 November 2026", "21–22 November 2026": when the runs were, from the first to the last; to be
 * freed. */
static char *dates_of(const report_model *model)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    const char *ends[2] = {record_text(model->roots[0], "run.time"), NULL};
    int year[2] = {0}, month[2] = {0}, day[2] = {0};
    ends[1] = ends[0];
    for (int i = 1; i < model->count; i++) {
        const char *time = record_text(model->roots[i], "run.time");
        ends[0] = strcmp(time, ends[0]) < 0 ? time : ends[0];
        ends[1] = strcmp(time, ends[1]) > 0 ? time : ends[1];
    }
    for (int i = 0; i < 2; i++) {
        if (sscanf(ends[i], "%4d-%2d-%2d", &year[i], &month[i], &day[i]) != 3 || month[i] < 1 ||
            month[i] > 12) {
            return record_format("%.10s", ends[i]);
        }
    }
    const char *last = months[month[1] - 1];
    if (year[0] != year[1] || month[0] != month[1]) {
        return record_format("%d\u00a0%s\u00a0%d – %d\u00a0%s\u00a0%d", day[0],
                             months[month[0] - 1], year[0], day[1], last, year[1]);
    }
    return day[0] != day[1] ? record_format("%d–%d\u00a0%s\u00a0%d", day[0], day[1], last, year[1])
                            : record_format("%d\u00a0%s\u00a0%d", day[1], last, year[1]);
}

/* "NVIDIA H200, Intel Xeon · 22 November 2026" */
static char *title_for(const report_model *model)
{
    enum { MOST = 4 };
    json_t *names = json_array(), *name;
    char *text = NULL;
    size_t length = 0, at;
    FILE *out = record_need(open_memstream(&text, &length));
    for (int i = 0; i < model->count; i++) {
        add_name(names, record_text(model->roots[i], "run.host.cpu"));
    }
    size_t hosts = json_array_size(names);
    for (int i = 0; i < model->device_count; i++) {
        add_name(names, model->devices[i].name);
    }
    /* Devices other than the hosts' processors stand first. */
    for (size_t i = 0; i < hosts; i++) {
        name = json_incref(json_array_get(names, 0));
        json_array_remove(names, 0);
        json_array_append_new(names, name);
    }
    json_array_foreach(names, at, name)
    {
        if (at < MOST) {
            fprintf(out, "%s%s", at > 0 ? ", " : "", json_string_value(name));
        }
    }
    if (json_array_size(names) > MOST) {
        fprintf(out, " and %zu more", json_array_size(names) - MOST);
    }
    char *dates = dates_of(model);
    fprintf(out, "%s%s", json_array_size(names) > 0 ? " · " : "", dates);
    free(dates);
    json_decref(names);
    return record_need(fclose(out) == 0 ? text : NULL);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_warnings(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    for (int i = 0; i < model->count; i++) {
        const json_t *run = json_object_get(model->roots[i], "run");
        for (int d = 0; d < model->device_count; d++) {
            const report_device *device = &model->devices[d];
            if (device->file == i && !device->tier->timed) {
                report_put(out,
                           "<p class=\"loud\" role=\"alert\"><b>%s: %s</b> of %s is %s. Its times "
                           "mean nothing.</p>\n",
                           device->tier->mark, device->spec, model->files[i], device->tier->words);
            }
        }
        if (record_has_flag(run, "interrupted")) {
            report_put(out,
                       "<p class=\"loud\" role=\"alert\"><b>Interrupted:</b> %s was stopped before "
                       "its end; it holds what was measured by then.</p>\n",
                       model->files[i]);
        }
    }
}

/* What holds for a whole run is said here, and not in each row. */
static void put_notes(report_page *page)
{
    const report_model *model = page->model;
    size_t at, count = 0;
    json_t *note;
    for (int i = 0; i < model->count; i++) {
        count += json_array_size(model->signs[i].notes);
    }
    if (count == 0) {
        return;
    }
    fprintf(page->out,
            "<details class=\"notes\"><summary>%zu note%s on the whole run</summary><ul>\n", count,
            count > 1 ? "s" : "");
    for (int i = 0; i < model->count; i++) {
        json_array_foreach(model->signs[i].notes, at, note)
        {
            report_put(page->out, "<li>%s%s%s</li>\n", model->count > 1 ? model->files[i] : "",
                       model->count > 1 ? ": " : "", json_string_value(note));
        }
    }
    fputs("</ul></details>\n", page->out);
}

static void put_subtitle(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    fputs("<ul class=\"key\" aria-label=\"Colours of the devices\">", out);
    for (int i = 0; i < model->device_count; i++) {
        const tool_tier_words *tier = model->devices[i].tier;
        char *name = report_short_name(model->devices[i].name);
        report_put(out, "<li><b class=\"dev d%d\">%s</b> %s", model->devices[i].colour,
                   model->devices[i].brief, name);
        if (!tier->timed) {
            report_put(out, " <strong class=\"bad\">%s</strong>", tier->mark);
        }
        fputs("</li>", out);
        free(name);
    }
    fputs("</ul>\n", out);
}

static void put_run_words(report_page *page)
{
    const report_model *model = page->model;
    const json_t *run = json_object_get(model->roots[0], "run");
    const char *suite = record_text(run, "suite");
    FILE *out = page->out;
    fputs("<p class=\"under\">", out);
    if (model->count > 1) {
        fprintf(out, "%d runs side by side", model->count);
    } else {
        report_put(out, "%s%s", suite[0] != '\0' ? "Suite " : "One run", suite);
    }
    const char *program = record_text(run, "program");
    report_put(out, " · %d results of %d devices · %s%s</p>\n", model->row_count,
               model->device_count, program[0] != '\0' ? program : "isomer ",
               record_text(run, "version"));
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
    fputs(report_text_css, out);
    report_figure_style(out);
    report_put(
        out,
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
        "<header>\n<h1>%s</h1>\n",
        title);
    put_run_words(page);
    put_subtitle(page);
    fputs("</header>\n", out);
}

static void put_foot(report_page *page)
{
    report_put(page->out,
               "</main>\n<footer><p>Made by isomer %s. Times are of verified results only. Nothing "
               "here is loaded from anywhere else.</p></footer>\n",
               iso_version());
    fprintf(page->out, "<script>\n%s</script>\n</body>\n</html>\n", report_text_js);
}

/* ---- figures and sections -------------------------------------------------------------------- */

void report_figure_put(FILE *out, const figure *shown)
{
    report_put(out, "<figure id=\"%s\"><figcaption><b>%s</b> %s</figcaption>\n", shown->name,
               shown->title, shown->caption);
    report_figure_svg(out, shown, FIGURE_WIDE);
    report_figure_svg(out, shown, FIGURE_NARROW);
    fputs("</figure>\n", out);
}

static bool is_first(const report_model *model, int group)
{
    for (int g = 0; g < group; g++) {
        if (strcmp(model->groups[g].op, model->groups[group].op) == 0) {
            return false;
        }
    }
    return true;
}

static const char *title_of(const report_group *group)
{
    return group->operation->title ? group->operation->title : group->op;
}

static void put_links(report_page *page, const figure_list *figures)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    fputs("<nav aria-label=\"Sections\"><a href=\"#answer\">Answer</a>", out);
    for (int g = 0; g < model->group_count; g++) {
        if (is_first(model, g)) {
            report_put(out, "<a href=\"#op-%s\">%s</a>", model->groups[g].op,
                       title_of(&model->groups[g]));
        }
    }
    for (int i = 0; i < 5; i++) {
        const char letter = (char)('A' + i);
        if (report_labs_has(model, letter)) {
            report_put(out, "<a href=\"#lab-%s\">Lab %s</a>", (char[]){letter, '\0'},
                       (char[]){letter, '\0'});
        }
    }
    fputs(report_comm_any(model) ? "<a href=\"#comm\">Communicators</a>" : "", out);
    if (report_figure_of(figures, "roofline") || report_figure_of(figures, "split")) {
        fputs("<a href=\"#all\">Limits</a>", out);
    }
    fputs("<a href=\"#machines\">Machine</a><form id=\"search\" role=\"search\" hidden>"
          "<label for=\"query\" class=\"unseen\">Search all results</label>"
          "<input id=\"query\" type=\"search\" autocomplete=\"off\" "
          "placeholder=\"Search all results\">"
          "<output id=\"found\" for=\"query\"></output></form></nav>\n",
          out);
}

static void put_answer(report_page *page, const figure_list *figures)
{
    const figure *overview = report_figure_of(figures, "overview");
    fputs("<main id=\"main\">\n<section id=\"answer\">\n<h2 class=\"unseen\">The answer</h2>\n"
          "<div class=\"says\">\n",
          page->out);
    put_warnings(page);
    if (page->model->ok > 0) {
        report_sentences(page);
    } else if (!report_labs_any(page->model) && !report_comm_any(page->model)) {
        fputs("<p class=\"loud\">No result is ok, so there is nothing to sum up. The reasons are "
              "in the tables.</p>\n",
              page->out);
    }
    put_notes(page);
    fputs("</div>\n", page->out);
    if (overview) {
        report_figure_put(page->out, overview);
    }
    fputs("</section>\n", page->out);
}

static void put_operations(report_page *page, const figure_list *figures)
{
    const report_model *model = page->model;
    for (int g = 0; g < model->group_count; g++) {
        const report_group *group = &model->groups[g];
        if (!is_first(model, g)) {
            continue;
        }
        report_put(page->out, "<section id=\"op-%s\"><h2>%s</h2>\n", group->op, title_of(group));
        for (int i = 0; i < figures->count; i++) {
            if (figures->items[i].op && strcmp(figures->items[i].op, group->op) == 0) {
                report_figure_put(page->out, &figures->items[i]);
            }
        }
        report_table(page, group->op);
        fputs("</section>\n", page->out);
    }
}

/* The figures of all operations: rooflines, the split of time, energy. */
static void put_common(report_page *page, const figure_list *figures)
{
    bool some = false;
    for (int i = 0; i < figures->count; i++) {
        const figure *shown = &figures->items[i];
        if (shown->op || strcmp(shown->name, "overview") == 0 ||
            strncmp(shown->name, "lab-", 4) == 0 || strncmp(shown->name, "comm-", 5) == 0) {
            continue;
        }
        fputs(some ? "" : "<section id=\"all\"><h2>Limits, transfers and energy</h2>\n", page->out);
        report_figure_put(page->out, shown);
        some = true;
    }
    fputs(some ? "</section>\n" : "", page->out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

int report_write(json_t *const *roots, const char *const *names, int count, const char *title,
                 tool_file *out)
{
    report_model model;
    report_model_make(&model, roots, names, count);
    report_page page = {.model = &model, .out = out->stream};
    figure_list figures = report_figures(&model);
    char *made = title_for(&model);
    put_head(&page, title ? title : made);
    put_links(&page, &figures);
    put_answer(&page, &figures);
    report_labs(&page, &figures);
    report_comm(&page, &figures);
    put_operations(&page, &figures);
    put_common(&page, &figures);
    report_libraries(&page);
    report_machines(&page);
    put_foot(&page);
    int code = tool_file_commit(out);
    if (code == TOOL_OK && model.ok == 0 && !report_labs_any(&model) && !report_comm_any(&model)) {
        code = tool_error(TOOL_NOTHING, "no result is ok: the report has only the reasons");
    }
    report_figures_free(&figures);
    report_model_free(&model);
    free(made);
    return code;
}
