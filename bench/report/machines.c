/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c - the section about the runs: when, how and on which machines and devices. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void pair(FILE *out, const char *name, const char *value)
{
    if (value[0] != '\0') {
        report_put(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, value);
    }
}

/* How a member is shown: as it is, or as a number with this unit. */
typedef enum form { AS_IS, BYTES, MHZ, SECONDS, NANOSECONDS } form;

typedef struct member {
    const char *name, *path;
    form form;
} member;

static void put_member(FILE *out, const member *m, const json_t *object)
{
    const json_t *value = record_at(object, m->path);
    double number = record_number(object, m->path);
    char text[REPORT_TEXT] = "";
    if (m->form == AS_IS && value && !json_is_null(value)) {
        char *shown = report_value(value);
        pair(out, m->name, shown);
        free(shown);
    } else if (m->form == BYTES && number > 0.0) {
        pair(out, m->name, report_bytes(text, number));
    } else if (m->form == MHZ && number > 0.0) {
        snprintf(text, sizeof text, "%.0f MHz", number);
        pair(out, m->name, text);
    } else if (m->form >= SECONDS && number >= 0.0) {
        pair(out, m->name, report_time(text, m->form == SECONDS ? number * 1e9 : number));
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
        report_put(out, "%s%s", at > 0 ? " " : "", json_string_value(word));
    }
    fputs("</code></dd></div>", out);
}

static void put_run(FILE *out, const json_t *run)
{
    static const member members[] = {{"begun", "time", AS_IS},
                                     {"ended", "finished", AS_IS},
                                     {"took", "seconds", SECONDS},
                                     {"suite", "suite", AS_IS},
                                     {"budget", "budget", SECONDS},
                                     {"compiling", "phases.compiling", SECONDS},
                                     {"preparing", "phases.preparing", SECONDS},
                                     {"measuring", "phases.measuring", SECONDS},
                                     {"checking", "phases.checking", SECONDS},
                                     {"devices found in", "probe", NANOSECONDS},
                                     {"rounds", "rounds", AS_IS},
                                     {"seed", "seed", AS_IS},
                                     {"math mode", "math", AS_IS},
                                     {"isomer", "version", AS_IS},
                                     {"library", "library_version", AS_IS},
                                     {"compiler", "build.compiler", AS_IS},
                                     {"compiler flags", "build.flags", AS_IS},
                                     {"commit", "build.commit", AS_IS},
                                     {"build", "build.type", AS_IS}};
    bool same = strcmp(record_text(run, "version"), record_text(run, "library_version")) == 0;
    fputs("<dl>", out);
    put_arguments(out, run);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (!same || strcmp(members[i].path, "library_version") != 0) {
            put_member(out, &members[i], run);
        }
    }
    fputs("</dl>\n", out);
}

static void put_host(FILE *out, const json_t *host)
{
    static const member members[] = {{"host", "name", AS_IS},
                                     {"processor", "cpu", AS_IS},
                                     {"processors", "processors", AS_IS},
                                     {"memory", "memory_bytes", BYTES},
                                     {"load before", "load", AS_IS},
                                     {"governor", "governor", AS_IS},
                                     {"virtual", "virtual", AS_IS}};
    fputs("<dl>", out);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        put_member(out, &members[i], host);
    }
    report_put(out, "<div><dt>system</dt><dd>%s %s %s</dd></div></dl>\n",
               record_text(host, "system"), record_text(host, "release"),
               record_text(host, "architecture"));
}

static void put_settings(FILE *out, const json_t *run)
{
    size_t at;
    json_t *setting;
    bool some = false;
    json_array_foreach(json_object_get(run, "settings"), at, setting)
    {
        const char *source = record_text(setting, "source");
        const char *problem = record_text(setting, "problem");
        if (strcmp(source, "default") == 0 && problem[0] == '\0') {
            continue;
        }
        fputs(some ? "" : "<h4>Settings that are not the default</h4><dl>", out);
        some = true;
        report_put(out, "<div><dt>%s</dt><dd>%s (%s)%s%s</dd></div>", record_text(setting, "name"),
                   record_text(setting, "value"), source, problem[0] != '\0' ? ": " : "", problem);
    }
    fputs(some ? "</dl>\n" : "<p class=\"quiet\">All settings are the default.</p>\n", out);
}

/* Writes all members of an object. `null` is the text for null members; if it is "", they are left
 * out. */
static void put_object(FILE *out, const char *head, json_t *object, const char *null,
                       const char *foot)
{
    const char *name;
    json_t *value;
    if (json_object_size(object) == 0) {
        return;
    }
    fprintf(out, "%s<dl>", head);
    json_object_foreach(object, name, value)
    {
        char *shown = report_value(value);
        pair(out, name, json_is_null(value) ? null : shown);
        free(shown);
    }
    fprintf(out, "</dl>%s\n", foot);
}

static void put_left_out(FILE *out, const json_t *run)
{
    size_t at;
    json_t *item;
    json_array_foreach(json_object_get(run, "left_out"), at, item)
    {
        report_put(out, "<p class=\"loud\">Left out: %s: %s</p>\n", record_text(item, "device"),
                   record_text(item, "reason"));
    }
}

/* ---- devices --------------------------------------------------------------------------------- */

static void put_roofs(report_page *page, int at)
{
    const json_t *roofs = json_object_get(page->model->devices[at].json, "roofs");
    FILE *out = page->out;
    size_t index;
    json_t *roof;
    if (json_array_size(roofs) == 0) {
        return;
    }
    report_table_open(out, "Limits of the device");
    fputs("<thead><tr><th scope=\"col\">limit</th><th scope=\"col\">value</th>"
          "<th scope=\"col\">interval</th><th scope=\"col\">from</th></tr></thead>"
          "<tbody>\n",
          out);
    json_array_foreach(roofs, index, roof)
    {
        const char *by = record_text(roof, "by");
        char value[REPORT_TEXT], low[REPORT_TEXT], high[REPORT_TEXT];
        report_put(out,
                   "<tr><th scope=\"row\">%s</th><td>%s %s</td><td>%s to %s</td>"
                   "<td>%s%s%s</td></tr>\n",
                   record_text(roof, "name"), report_rate(value, record_number(roof, "value")),
                   record_text(roof, "unit"), report_rate(low, record_number(roof, "low")),
                   report_rate(high, record_number(roof, "high")), record_text(roof, "source"),
                   by[0] != '\0' ? ": " : "", by);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_device(report_page *page, int at)
{
    static const member members[] = {{"vendor", "vendor", AS_IS},
                                     {"kind", "type", AS_IS},
                                     {"architecture", "architecture", AS_IS},
                                     {"driver", "driver", AS_IS},
                                     {"runtime", "runtime", AS_IS},
                                     {"memory", "memory_total", BYTES},
                                     {"last-level cache", "cache_bytes", BYTES},
                                     {"units", "units", AS_IS},
                                     {"clock", "clock_mhz", MHZ},
                                     {"uuid", "uuid", AS_IS},
                                     {"opened in", "open", NANOSECONDS}};
    const report_device *device = &page->model->devices[at];
    FILE *out = page->out;
    report_put(out, "<article class=\"device%s\"><h4><span class=\"dev d%d\">%s</span> %s</h4>\n",
               device->tier->timed ? "" : " fake", device->colour, device->spec, device->name);
    if (!device->tier->timed) {
        report_put(out, "<p class=\"loud\">%s: %s. Its times mean nothing.</p>\n",
                   device->tier->mark, device->tier->words);
    }
    fputs("<dl>", out);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        put_member(out, &members[i], device->json);
    }
    fputs("</dl>\n", out);
    put_roofs(page, at);
    put_object(out, "<details><summary>Sensors before the first round</summary>",
               json_object_get(device->json, "telemetry"), "", "</details>");
    put_object(out, "<details><summary>Libraries and properties</summary>",
               json_object_get(device->json, "properties"), "", "</details>");
    fputs("</article>\n", out);
}

void report_machines(report_page *page)
{
    const report_model *model = page->model;
    FILE *out = page->out;
    fputs("<section id=\"machines\"><h2>The machine and the run</h2>\n<details>"
          "<summary>Hardware, settings, limits and sensors</summary>\n",
          out);
    for (int file = 0; file < model->count; file++) {
        json_t *run = json_object_get(model->roots[file], "run");
        if (model->count > 1) {
            report_put(out, "<h3>%s</h3>\n", model->files[file]);
        }
        fputs("<div class=\"pairs\"><div>", out);
        put_host(out, json_object_get(run, "host"));
        put_left_out(out, run);
        put_settings(out, run);
        put_object(out, "<h4>Environment</h4>", json_object_get(run, "environment"), "–", "");
        fputs("</div>", out);
        put_run(out, run);
        fputs("</div>\n<div class=\"devices\">\n", out);
        for (int i = 0; i < model->device_count; i++) {
            if (model->devices[i].file == file) {
                put_device(page, i);
            }
        }
        fputs("</div>\n", out);
    }
    fputs("</details>\n<details><summary>What the notes in tables mean</summary>\n", out);
    report_flag_legend(out);
    fputs("</details></section>\n", out);
}
