/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c - whether a document is one that the readers can rely on. The published schema is
 * stricter: it is what we write. This is what we read, and it names the first fault by its path.
 */
#include "bench/ops/ops.h"
#include "bench/record/record.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRING = 1,
    NUMBER = 2,
    TRUTH = 4,
    OBJECT = 8,
    ARRAY = 16,
    NIL = 32,
    LACKING = 64,  /* need not be there */
    POSITIVE = 128 /* of a number: over 0 */
};

typedef struct rule {
    const char *name;           /* the member's; NULL for the items of an array */
    int types;                  /* which it may have */
    const struct rule *members; /* of an object, up to one without types */
    const struct rule *items;   /* of an array */
    const char *const *words;   /* what a text may be */
} rule;

typedef struct walk {
    char path[256];
    char *fault;
} walk;

/* ---- the layout ------------------------------------------------------------------------------ */

static const char *const commands[] = {"bench", "against", "verify", NULL};
static const char *const statuses[] = {"ok", "failed", "unsupported", "error", NULL};
static const char *operations[BENCH_OPS + 1]; /* filled by record_fault */
static const char *const caches[] = {"hot", "cold", NULL};
static const char *const sources[] = {"measured", "table", NULL};
static const char *const verdicts[] = {"FASTER", "SLOWER", "SAME", "AMBIGUOUS", NULL};

static const rule text_item = {.types = STRING};
static const rule time_item = {.types = NUMBER};
static const rule round_item = {.types = ARRAY, .items = &time_item};

static const rule setting_members[] = {{.name = "name", .types = STRING},
                                       {.name = "value", .types = STRING | NIL},
                                       {.name = "source", .types = STRING | NIL | LACKING},
                                       {.name = "problem", .types = STRING | NIL | LACKING},
                                       {.name = NULL}};
static const rule setting_item = {.types = OBJECT, .members = setting_members};

static const rule host_members[] = {{.name = "name", .types = STRING | NIL | LACKING},
                                    {.name = "system", .types = STRING | NIL | LACKING},
                                    {.name = "release", .types = STRING | NIL | LACKING},
                                    {.name = "architecture", .types = STRING | NIL | LACKING},
                                    {.name = "cpu", .types = STRING | NIL | LACKING},
                                    {.name = "processors", .types = NUMBER | NIL | LACKING},
                                    {.name = "memory_bytes", .types = NUMBER | NIL | LACKING},
                                    {.name = "load", .types = NUMBER | NIL | LACKING},
                                    {.name = "governor", .types = STRING | NIL | LACKING},
                                    {.name = "virtual", .types = STRING | NIL | LACKING},
                                    {.name = NULL}};

static const rule build_members[] = {{.name = "compiler", .types = STRING | NIL | LACKING},
                                     {.name = "flags", .types = STRING | NIL | LACKING},
                                     {.name = "commit", .types = STRING | NIL | LACKING},
                                     {.name = "type", .types = STRING | NIL | LACKING},
                                     {.name = NULL}};

static const rule left_out_members[] = {
    {.name = "device", .types = STRING}, {.name = "reason", .types = STRING | NIL}, {.name = NULL}};
static const rule left_out_item = {.types = OBJECT, .members = left_out_members};

static const rule phase_members[] = {{.name = "preparing", .types = NUMBER},
                                     {.name = "compiling", .types = NUMBER | LACKING},
                                     {.name = "measuring", .types = NUMBER},
                                     {.name = "checking", .types = NUMBER},
                                     {.name = NULL}};

static const rule run_members[] = {
    {.name = "command", .types = STRING, .words = commands},
    {.name = "version", .types = STRING},
    {.name = "library_version", .types = STRING | NIL | LACKING},
    {.name = "time", .types = STRING},
    {.name = "finished", .types = STRING | NIL | LACKING},
    {.name = "complete", .types = TRUTH | LACKING},
    {.name = "arguments", .types = ARRAY | LACKING, .items = &text_item},
    {.name = "suite", .types = STRING | NIL | LACKING},
    {.name = "seed", .types = NUMBER | LACKING},
    {.name = "budget", .types = NUMBER | NIL | LACKING},
    {.name = "math", .types = STRING | LACKING},
    {.name = "rounds", .types = NUMBER | NIL | LACKING},
    {.name = "seconds", .types = NUMBER | NIL | LACKING},
    {.name = "phases", .types = OBJECT | LACKING, .members = phase_members},
    {.name = "probe", .types = NUMBER | NIL | LACKING},
    {.name = "left_out", .types = ARRAY | LACKING, .items = &left_out_item},
    {.name = "host", .types = OBJECT | LACKING, .members = host_members},
    {.name = "build", .types = OBJECT | LACKING, .members = build_members},
    {.name = "settings", .types = ARRAY | LACKING, .items = &setting_item},
    {.name = "environment", .types = OBJECT | LACKING},
    {.name = "flags", .types = ARRAY | LACKING, .items = &text_item},
    {.name = NULL}};

static const rule roof_members[] = {{.name = "name", .types = STRING},
                                    {.name = "unit", .types = STRING},
                                    {.name = "value", .types = NUMBER | POSITIVE},
                                    {.name = "low", .types = NUMBER | NIL | LACKING},
                                    {.name = "high", .types = NUMBER | NIL | LACKING},
                                    {.name = "source", .types = STRING, .words = sources},
                                    {.name = "by", .types = STRING | NIL | LACKING},
                                    {.name = NULL}};
static const rule roof_item = {.types = OBJECT, .members = roof_members};

/* What `isomer info` says of a device may lack: only what identifies it is needed. */
static const rule device_members[] = {
    {.name = "spec", .types = STRING},
    {.name = "backend", .types = STRING},
    {.name = "name", .types = STRING | NIL},
    {.name = "index", .types = NUMBER | LACKING},
    {.name = "vendor", .types = STRING | NIL | LACKING},
    {.name = "uuid", .types = STRING | NIL | LACKING},
    {.name = "type", .types = STRING | NIL | LACKING},
    {.name = "architecture", .types = STRING | NIL | LACKING},
    {.name = "driver", .types = STRING | NIL | LACKING},
    {.name = "runtime", .types = STRING | NIL | LACKING},
    {.name = "features", .types = ARRAY | LACKING, .items = &text_item},
    {.name = "memory_total", .types = NUMBER | NIL | LACKING},
    {.name = "memory_free", .types = NUMBER | NIL | LACKING},
    {.name = "cache_bytes", .types = NUMBER | LACKING},
    {.name = "local_bytes", .types = NUMBER | LACKING},
    {.name = "units", .types = NUMBER | LACKING},
    {.name = "threads", .types = NUMBER | LACKING},
    {.name = "clock_mhz", .types = NUMBER | LACKING},
    {.name = "properties", .types = OBJECT | LACKING},
    {.name = "fake", .types = TRUTH | LACKING},
    {.name = "open", .types = NUMBER | NIL | LACKING},
    {.name = "telemetry", .types = OBJECT | NIL | LACKING},
    {.name = "roofs", .types = ARRAY | LACKING, .items = &roof_item},
    {.name = NULL}};
static const rule device_item = {.types = OBJECT, .members = device_members};

static const rule verified_members[] = {{.name = "method", .types = STRING | NIL},
                                        {.name = "error", .types = NUMBER | NIL},
                                        {.name = "bound", .types = NUMBER | NIL},
                                        {.name = "checks", .types = NUMBER | LACKING},
                                        {.name = "digest", .types = STRING | NIL | LACKING},
                                        {.name = NULL}};

static const rule work_members[] = {{.name = "flops", .types = NUMBER},
                                    {.name = "bytes_read", .types = NUMBER},
                                    {.name = "bytes_written", .types = NUMBER},
                                    {.name = NULL}};

static const rule times_members[] = {{.name = "clock", .types = STRING},
                                     {.name = "median", .types = NUMBER | POSITIVE},
                                     {.name = "low", .types = NUMBER},
                                     {.name = "high", .types = NUMBER},
                                     {.name = "confidence", .types = NUMBER | NIL},
                                     {.name = "min", .types = NUMBER},
                                     {.name = "max", .types = NUMBER},
                                     {.name = "mean", .types = NUMBER},
                                     {.name = "deviation", .types = NUMBER | NIL},
                                     {.name = "converged", .types = TRUTH},
                                     {.name = "target", .types = NUMBER | NIL | LACKING},
                                     {.name = "stopped", .types = STRING | NIL | LACKING},
                                     {.name = "samples", .types = ARRAY, .items = &round_item},
                                     {.name = "calls", .types = NUMBER},
                                     {.name = "host", .types = NUMBER | NIL | LACKING},
                                     {.name = "submit", .types = NUMBER | NIL | LACKING},
                                     {.name = "prepare", .types = NUMBER | NIL | LACKING},
                                     {.name = "first", .types = NUMBER | NIL | LACKING},
                                     {.name = "closing", .types = NUMBER | NIL | LACKING},
                                     {.name = NULL}};

static const rule rate_members[] = {{.name = "value", .types = NUMBER},
                                    {.name = "low", .types = NUMBER | NIL},
                                    {.name = "high", .types = NUMBER | NIL},
                                    {.name = NULL}};
static const rule rates_members[] = {
    {.name = "gbps", .types = OBJECT | NIL, .members = rate_members},
    {.name = "gflops", .types = OBJECT | NIL, .members = rate_members},
    {.name = NULL}};

static const rule percent_members[] = {{.name = "name", .types = STRING},
                                       {.name = "unit", .types = STRING},
                                       {.name = "value", .types = NUMBER | POSITIVE},
                                       {.name = "percent", .types = NUMBER},
                                       {.name = "source", .types = STRING, .words = sources},
                                       {.name = NULL}};

static const rule parts_members[] = {{.name = "copy_in", .types = NUMBER | NIL},
                                     {.name = "kernel", .types = NUMBER | NIL},
                                     {.name = "copy_out", .types = NUMBER | NIL},
                                     {.name = "total", .types = NUMBER | NIL},
                                     {.name = NULL}};

static const rule clocks_members[] = {
    {.name = "mhz_low", .types = NUMBER | NIL | LACKING},
    {.name = "mhz_high", .types = NUMBER | NIL | LACKING},
    {.name = "power_watts", .types = NUMBER | NIL | LACKING},
    {.name = "temperature_celsius", .types = NUMBER | NIL | LACKING},
    {.name = NULL}};

static const rule bench_members[] = {
    {.name = "id", .types = STRING},
    {.name = "op", .types = STRING, .words = operations},
    {.name = "kind", .types = STRING | NIL},
    {.name = "variant", .types = STRING},
    {.name = "dtype", .types = STRING | NIL},
    {.name = "shape", .types = OBJECT},
    {.name = "size", .types = NUMBER},
    {.name = "layout", .types = OBJECT},
    {.name = "math", .types = STRING},
    {.name = "fill", .types = STRING},
    {.name = "cache", .types = STRING, .words = caches},
    {.name = "backend", .types = STRING},
    {.name = "device", .types = STRING},
    {.name = "library", .types = STRING | NIL},
    {.name = "kernel", .types = STRING | NIL | LACKING},
    {.name = "math_used", .types = STRING | LACKING},
    {.name = "math_reason", .types = STRING | LACKING},
    {.name = "status", .types = STRING, .words = statuses},
    {.name = "reason", .types = STRING | NIL},
    {.name = "verified", .types = OBJECT | NIL, .members = verified_members},
    {.name = "work", .types = OBJECT, .members = work_members},
    {.name = "times", .types = OBJECT | NIL, .members = times_members},
    {.name = "rates", .types = OBJECT | NIL, .members = rates_members},
    {.name = "roof", .types = OBJECT | NIL, .members = percent_members},
    {.name = "parts", .types = OBJECT | NIL, .members = parts_members},
    {.name = "clocks", .types = OBJECT | NIL | LACKING, .members = clocks_members},
    {.name = "flags", .types = ARRAY, .items = &text_item},
    {.name = NULL}};
static const rule bench_item = {.types = OBJECT, .members = bench_members};

static const rule verify_members[] = {
    {.name = "id", .types = STRING},
    {.name = "op", .types = STRING},
    {.name = "variant", .types = STRING | NIL},
    {.name = "dtype", .types = STRING | NIL},
    {.name = "backend", .types = STRING},
    {.name = "device", .types = STRING},
    {.name = "library", .types = STRING | NIL},
    {.name = "status", .types = STRING, .words = statuses},
    {.name = "reason", .types = STRING | NIL},
    {.name = "verified", .types = OBJECT | NIL, .members = verified_members},
    {.name = NULL}};
static const rule verify_item = {.types = OBJECT, .members = verify_members};

static const rule pair_members[] = {{.name = "id", .types = STRING},
                                    {.name = "device", .types = STRING},
                                    {.name = "backend", .types = STRING},
                                    {.name = "library", .types = STRING | NIL},
                                    {.name = "ratio", .types = NUMBER | NIL},
                                    {.name = "low", .types = NUMBER | NIL},
                                    {.name = "high", .types = NUMBER | NIL},
                                    {.name = "p", .types = NUMBER | NIL},
                                    {.name = "pairs", .types = ARRAY, .items = &time_item},
                                    {.name = "verdict", .types = STRING | NIL, .words = verdicts},
                                    {.name = "made", .types = NUMBER | LACKING},
                                    {.name = "without_a", .types = NUMBER | LACKING},
                                    {.name = "without_b", .types = NUMBER | LACKING},
                                    {.name = "lost", .types = NUMBER | LACKING},
                                    {.name = "why_a", .types = STRING | NIL | LACKING},
                                    {.name = "why_b", .types = STRING | NIL | LACKING},
                                    {.name = NULL}};
static const rule pair_item = {.types = OBJECT, .members = pair_members};

static const rule run_rule = {.types = OBJECT, .members = run_members};
static const rule devices_rule = {.types = ARRAY, .items = &device_item};
static const rule bench_rule = {.types = ARRAY, .items = &bench_item};
static const rule verify_rule = {.types = ARRAY, .items = &verify_item};
static const rule pairs_rule = {.types = ARRAY | LACKING, .items = &pair_item};

/* ---- the walk -------------------------------------------------------------------------------- */

static bool fault(walk *w, const char *format, ...) ISO_PRINTF(2, 3);
static bool fault(walk *w, const char *format, ...)
{
    char what[512];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    size_t room = strlen(w->path) + strlen(what) + 2;
    w->fault = malloc(room);
    if (w->fault) {
        snprintf(w->fault, room, "%s %s", w->path, what);
    }
    return false;
}

static int type_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return OBJECT;
    case JSON_ARRAY:
        return ARRAY;
    case JSON_STRING:
        return STRING;
    case JSON_INTEGER:
    case JSON_REAL:
        return NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return TRUTH;
    default:
        return NIL;
    }
}

/* "a number or null" */
static const char *type_names(char *text, size_t room, int types)
{
    static const struct {
        int type;
        const char *name;
    } names[] = {{STRING, "a text"},    {NUMBER, "a number"}, {TRUTH, "true or false"},
                 {OBJECT, "an object"}, {ARRAY, "an array"},  {NIL, "null"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((types & names[i].type) && used < room) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? " or " : "",
                                     names[i].name);
        }
    }
    return text;
}

/* A text of the file within a message: short, and without what moves a terminal's cursor. */
static const char *quoted(char *text, size_t room, const char *from)
{
    snprintf(text, room, "%s", from);
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    return text;
}

static bool word_allowed(walk *w, const rule *r, const char *word)
{
    char known[256] = "", shown[48];
    size_t used = 0;
    for (int i = 0; r->words[i]; i++) {
        if (strcmp(word, r->words[i]) == 0) {
            return true;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 r->words[i]);
    }
    return fault(w, "is \"%s\", but can be only: %s", quoted(shown, sizeof shown, word), known);
}

static bool allowed(walk *w, const rule *r, const json_t *value)
{
    char wanted[96], found[32];
    size_t length = strlen(w->path);
    int type = type_of(value);
    if ((type & r->types) == 0) {
        return fault(w, "is %s where %s belongs", type_names(found, sizeof found, type),
                     type_names(wanted, sizeof wanted, r->types));
    }
    if (type == STRING && r->words) {
        return word_allowed(w, r, json_string_value(value));
    }
    if ((r->types & POSITIVE) && type == NUMBER && !(json_number_value(value) > 0)) {
        return fault(w, "is %.17g, but has to be over 0", json_number_value(value));
    }
    for (const rule *m = r->members; type == OBJECT && m && m->types != 0; m++) {
        const json_t *inside = json_object_get(value, m->name);
        snprintf(w->path + length, sizeof w->path - length, "%s%s", length > 0 ? "." : "", m->name);
        if (!inside && !(m->types & LACKING)) {
            return fault(w, "is missing");
        }
        if (inside && !allowed(w, m, inside)) {
            return false;
        }
        w->path[length] = '\0';
    }
    for (size_t i = 0; type == ARRAY && r->items && i < json_array_size(value); i++) {
        snprintf(w->path + length, sizeof w->path - length, "[%zu]", i);
        if (!allowed(w, r->items, json_array_get(value, i))) {
            return false;
        }
        w->path[length] = '\0';
    }
    return true;
}

static bool member(walk *w, const json_t *root, const char *name, const rule *r)
{
    const json_t *value = json_object_get(root, name);
    snprintf(w->path, sizeof w->path, "%s", name);
    if (!value) {
        return (r->types & LACKING) || fault(w, "is missing");
    }
    return allowed(w, r, value);
}

/* ---- what members say of each other ---------------------------------------------------------- */

static bool has_samples(const json_t *times)
{
    const json_t *rounds = json_object_get(times, "samples");
    for (size_t i = 0; i < json_array_size(rounds); i++) {
        if (json_array_size(json_array_get(rounds, i)) > 0) {
            return true;
        }
    }
    return false;
}

static bool consistent(walk *w, const json_t *result, bool timed)
{
    size_t length = strlen(w->path);
    bool ok = strcmp(record_text(result, "status"), "ok") == 0;
    if (!ok && record_text(result, "reason")[0] == '\0') {
        snprintf(w->path + length, sizeof w->path - length, ".reason");
        return fault(w, "says nothing, but the status is \"%s\"", record_text(result, "status"));
    }
    for (int i = 0; timed && i < 2; i++) {
        const char *name = i == 0 ? "times" : "rates";
        bool there = json_is_object(json_object_get(result, name));
        snprintf(w->path + length, sizeof w->path - length, ".%s", name);
        if (there && !ok) {
            return fault(w, "has figures, but the status is \"%s\"", record_text(result, "status"));
        }
        if (!there && ok) {
            return fault(w, "is null, but the status is \"ok\"");
        }
    }
    if (timed && ok && !has_samples(json_object_get(result, "times"))) {
        snprintf(w->path + length, sizeof w->path - length, ".times.samples");
        return fault(w, "has no sample");
    }
    if (timed && ok && !json_is_object(json_object_get(result, "verified"))) {
        snprintf(w->path + length, sizeof w->path - length, ".verified");
        return fault(w, "is null: a figure that nobody has checked");
    }
    w->path[length] = '\0';
    return true;
}

/* Every result's device is among the devices, and its figures are there as its status says. */
static bool joined(walk *w, const json_t *root, bool timed)
{
    const json_t *devices = json_object_get(root, "devices");
    const json_t *results = json_object_get(root, "results");
    char shown[64];
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *spec = record_text(result, "device");
        bool known = false;
        for (size_t d = 0; !known && d < json_array_size(devices); d++) {
            known = strcmp(record_text(json_array_get(devices, d), "spec"), spec) == 0;
        }
        snprintf(w->path, sizeof w->path, "results[%zu]", i);
        if (!known) {
            return fault(w, "names the device \"%s\", which is not in devices",
                         quoted(shown, sizeof shown, spec));
        }
        if (!consistent(w, result, timed)) {
            return false;
        }
    }
    return true;
}

static bool schema_known(walk *w, const json_t *root)
{
    static const char family[] = "isomer-results/";
    char shown[64];
    const char *schema = record_text(root, "schema");
    if (!json_is_object(root) || strncmp(schema, "isomer-", 7) != 0) {
        return fault(w, "no results of isomer: it is JSON, but its \"schema\" is not \"%s\"",
                     RECORD_SCHEMA);
    }
    if (strncmp(schema, family, sizeof family - 1) != 0) {
        return fault(w, "no results: its \"schema\" is \"%s\"; `isomer bench --json` writes \"%s\"",
                     quoted(shown, sizeof shown, schema), RECORD_SCHEMA);
    }
    if (strcmp(schema, RECORD_SCHEMA) != 0) {
        return fault(w, "in the layout \"%s\", and isomer %s reads \"%s\": use a newer isomer",
                     quoted(shown, sizeof shown, schema), iso_version(), RECORD_SCHEMA);
    }
    return true;
}

char *record_fault(const json_t *root)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        operations[i] = bench_ops[i]->measured;
    }
    walk w = {.path = "it is"};
    if (!schema_known(&w, root)) {
        goto done;
    }
    if (!member(&w, root, "run", &run_rule)) {
        goto done;
    }
    bool timed = strcmp(record_text(json_object_get(root, "run"), "command"), "verify") != 0;
    if (member(&w, root, "devices", &devices_rule) &&
        member(&w, root, "results", timed ? &bench_rule : &verify_rule) &&
        member(&w, root, "pairs", &pairs_rule) && joined(&w, root, timed)) {
        return NULL;
    }
done:
    return w.fault ? w.fault : strdup("no memory to say what is wrong with it");
}
