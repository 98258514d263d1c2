/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c - what was run, when and on what. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void pair(FILE *out, const char *name, const char *value)
{
    if (!value || value[0] == '\0') {
        return;
    }
    fputs("<div><dt>", out);
    report_html(out, name);
    fputs("</dt><dd>", out);
    report_html(out, value);
    fputs("</dd></div>", out);
}

/* A member of any type. */
static void member(FILE *out, const char *name, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) {
        return;
    }
    char *text = report_value(value);
    pair(out, name, text);
    free(text);
}

static void member_bytes(FILE *out, const char *name, const json_t *object, const char *key)
{
    char text[REPORT_TEXT];
    double value = record_number(object, key);
    if (value > 0.0) {
        pair(out, name, report_bytes(text, value));
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void put_arguments(FILE *out, const json_t *run)
{
    size_t at;
    json_t *word;
    if (json_array_size(json_object_get(run, "arguments")) == 0) {
        return;
    }
    fputs("<div><dt>command</dt><dd><code>", out);
    json_array_foreach(json_object_get(run, "arguments"), at, word)
    {
        if (at > 0) {
            fputc(' ', out);
        }
        report_html(out, json_is_string(word) ? json_string_value(word) : "");
    }
    fputs("</code></dd></div>", out);
}

static void put_phases(FILE *out, const json_t *phases)
{
    static const char *const names[] = {"compiling", "preparing", "measuring", "checking"};
    char text[REPORT_TEXT];
    for (int32_t i = 0; i < 4; i++) {
        if (record_number(phases, names[i]) >= 0.0) {
            pair(out, names[i], report_time(text, record_number(phases, names[i]) * 1e9));
        }
    }
}

static void put_run(FILE *out, const json_t *run)
{
    char text[REPORT_TEXT];
    fputs("<dl>", out);
    put_arguments(out, run);
    member(out, "begun", run, "time");
    member(out, "ended", run, "finished");
    if (record_number(run, "seconds") >= 0.0) {
        pair(out, "took", report_time(text, record_number(run, "seconds") * 1e9));
    }
    member(out, "suite", run, "suite");
    if (record_number(run, "budget") >= 0.0) {
        pair(out, "budget", report_time(text, record_number(run, "budget") * 1e9));
    }
    put_phases(out, json_object_get(run, "phases"));
    if (record_number(run, "probe") >= 0.0) {
        pair(out, "devices found in", report_time(text, record_number(run, "probe")));
    }
    member(out, "rounds", run, "rounds");
    member(out, "seed", run, "seed");
    member(out, "math mode", run, "math");
    member(out, "isomer", run, "version");
    if (strcmp(record_text(run, "version"), record_text(run, "library_version")) != 0) {
        member(out, "library", run, "library_version");
    }
    const json_t *build = json_object_get(run, "build");
    member(out, "compiler", build, "compiler");
    member(out, "compiler flags", build, "flags");
    member(out, "commit", build, "commit");
    member(out, "build", build, "type");
    fputs("</dl>\n", out);
}

static void put_host(FILE *out, const json_t *host)
{
    fputs("<dl>", out);
    member(out, "host", host, "name");
    member(out, "processor", host, "cpu");
    member(out, "processors", host, "processors");
    member_bytes(out, "memory", host, "memory_bytes");
    member(out, "load before", host, "load");
    member(out, "governor", host, "governor");
    member(out, "virtual", host, "virtual");
    char *system = report_format("%s %s %s", record_text(host, "system"),
                                 record_text(host, "release"), record_text(host, "architecture"));
    pair(out, "system", system);
    free(system);
    fputs("</dl>\n", out);
}

static void put_settings(FILE *out, const json_t *run)
{
    size_t at;
    json_t *setting, *value;
    const char *name;
    bool some = false;
    json_array_foreach(json_object_get(run, "settings"), at, setting)
    {
        const char *source = record_text(setting, "source"),
                   *problem = record_text(setting, "problem");
        if (strcmp(source, "default") == 0 && problem[0] == '\0') {
            continue;
        }
        fputs(some ? "" : "<h4>Settings that are not the default</h4><dl>", out);
        some = true;
        char *shown = report_format("%s (%s)%s%s", record_text(setting, "value"), source,
                                    problem[0] != '\0' ? ": " : "", problem);
        pair(out, record_text(setting, "name"), shown);
        free(shown);
    }
    fputs(some ? "</dl>\n" : "<p class=\"quiet\">All settings are the default.</p>\n", out);
    if (json_object_size(json_object_get(run, "environment")) == 0) {
        return;
    }
    fputs("<h4>Environment</h4><dl>", out);
    json_object_foreach(json_object_get(run, "environment"), name, value)
    {
        char *shown = report_value(value);
        pair(out, name, shown);
        free(shown);
    }
    fputs("</dl>\n", out);
}

static void put_left_out(FILE *out, const json_t *run)
{
    size_t at;
    json_t *item;
    json_array_foreach(json_object_get(run, "left_out"), at, item)
    {
        fputs("<p class=\"loud\">Left out: ", out);
        report_html(out, record_text(item, "device"));
        fputs(": ", out);
        report_html(out, record_text(item, "reason"));
        fputs("</p>\n", out);
    }
}

static void put_flags(FILE *out, const json_t *run)
{
    size_t at;
    json_t *flag;
    if (json_array_size(json_object_get(run, "flags")) == 0) {
        return;
    }
    fputs("<p>Flags of the run: ", out);
    json_array_foreach(json_object_get(run, "flags"), at, flag)
    {
        if (json_is_string(flag)) {
            report_flag(out, json_string_value(flag));
        }
    }
    fputs("</p>\n", out);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* The row that measured a roof; -1. */
static int row_of(const report_model *model, int device, const char *id)
{
    for (int i = 0; i < model->row_count; i++) {
        if (model->rows[i].device == device &&
            strcmp(record_text(model->rows[i].json, "id"), id) == 0) {
            return i;
        }
    }
    return -1;
}

static void put_roofs(report_page *page, int at)
{
    const json_t *roofs = json_object_get(page->model->devices[at].json, "roofs");
    FILE *out = page->out;
    size_t index;
    json_t *roof;
    if (json_array_size(roofs) == 0) {
        return;
    }
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Roofs\"><table>"
          "<caption>Roofs</caption><thead><tr><th scope=\"col\">roof</th><th scope=\"col\" "
          "class=\"n\">value</th><th scope=\"col\" class=\"n\">interval</th><th scope=\"col\">"
          "from</th></tr></thead><tbody>\n",
          out);
    json_array_foreach(roofs, index, roof)
    {
        const char *by = record_text(roof, "by");
        char text[REPORT_TEXT];
        int row = row_of(page->model, at, by);
        fputs("<tr><th scope=\"row\">", out);
        report_html(out, record_text(roof, "name"));
        fprintf(out, "</th><td class=\"n\">%s ", report_rate(text, record_number(roof, "value")));
        report_html(out, record_text(roof, "unit"));
        fprintf(out, "</td><td class=\"n\">%s", report_rate(text, record_number(roof, "low")));
        fprintf(out, " to %s</td><td class=\"by\">",
                report_rate(text, record_number(roof, "high")));
        report_html(out, record_text(roof, "source"));
        if (row >= 0) {
            fprintf(out, ": <a href=\"#r%d\">", row);
        } else if (by[0] != '\0') {
            fputs(": ", out);
        }
        report_html(out, by);
        fputs(row >= 0 ? "</a></td></tr>\n" : "</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_object(FILE *out, const char *title, const json_t *object)
{
    const char *name;
    json_t *value;
    if (json_object_size(object) == 0) {
        return;
    }
    fprintf(out, "<details><summary>%s</summary><dl>", title);
    json_object_foreach((json_t *)object, name, value)
    {
        char *shown = json_is_null(value) ? NULL : report_value(value);
        pair(out, name, shown);
        free(shown);
    }
    fputs("</dl></details>\n", out);
}

static void put_device(report_page *page, int at)
{
    const report_device *device = &page->model->devices[at];
    const json_t *json = device->json;
    FILE *out = page->out;
    char text[REPORT_TEXT];
    fprintf(out,
            "<article class=\"device%s\"><h4><span class=\"chip\" style=\"color:var(--c%d)\">"
            "</span>",
            device->fake ? " fake" : "", at % (REPORT_COLOURS - 1));
    report_html(out, device->spec);
    fputs(" <span>", out);
    report_html(out, device->name);
    fputs("</span></h4>\n", out);
    if (device->fake) {
        fputs("<p class=\"loud\">FAKE: a stand-in made for tests. None of its numbers means "
              "anything.</p>\n",
              out);
    }
    fputs("<dl>", out);
    member(out, "vendor", json, "vendor");
    member(out, "kind", json, "type");
    member(out, "architecture", json, "architecture");
    member(out, "driver", json, "driver");
    member(out, "runtime", json, "runtime");
    member_bytes(out, "memory", json, "memory_total");
    member_bytes(out, "last-level cache", json, "cache_bytes");
    member(out, "units", json, "units");
    if (record_number(json, "clock_mhz") > 0.0) {
        snprintf(text, sizeof text, "%.0f MHz", record_number(json, "clock_mhz"));
        pair(out, "clock", text);
    }
    member(out, "uuid", json, "uuid");
    if (record_number(json, "open") >= 0.0) {
        pair(out, "opened in", report_time(text, record_number(json, "open")));
    }
    fputs("</dl>\n", out);
    put_roofs(page, at);
    put_object(out, "Sensors before the first round", json_object_get(json, "telemetry"));
    put_object(out, "Libraries and properties", json_object_get(json, "properties"));
    fputs("</article>\n", out);
}

void report_machines(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    fputs("<section id=\"machines\"><h2>Machines and runs</h2>\n", out);
    for (int file = 0; file < model->count; file++) {
        json_t *run = json_object_get(model->roots[file], "run");
        if (model->count > 1) {
            fputs("<h3>", out);
            report_html(out, model->files[file]);
            fputs("</h3>\n", out);
        }
        fputs("<div class=\"pairs\">", out);
        fputs("<div>", out);
        put_host(out, json_object_get(run, "host"));
        put_flags(out, run);
        put_left_out(out, run);
        put_settings(out, run);
        fputs("</div>", out);
        put_run(out, run);
        fputs("</div>\n", out);
        fputs("<div class=\"devices\">\n", out);
        for (int i = 0; i < model->device_count; i++) {
            if (model->devices[i].file == file) {
                put_device(page, i);
            }
        }
        fputs("</div>\n", out);
    }
    fputs("</section>\n", out);
}
