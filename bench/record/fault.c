/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c - checks that a document has what its readers rely on, and reports the path of its first
 * fault. The published schema is stricter: it describes what isomer writes. This file checks only
 * what isomer reads.
 */
#include "bench/record/fault.h"

#include <stdlib.h>
#include <string.h>

/* A step of the way to a value. The way is put into words only if there is a fault. */
typedef struct step {
    const struct step *before;
    const char *name; /* NULL: `at` is an index */
    size_t at;        /* or the length of the name */
} step;

typedef struct walk {
    char path[256]; /* where the steps begin */
    const step *last;
    char *fault;
} walk;

/* ---- the layout ------------------------------------------------------------------------------ */

/* Members are checked in this order, and only the first fault is reported. */

static const char *const commands[] = {"bench", "against", "verify", "reveal", "errors", NULL};
static const char *operations[BENCH_OPS + 3], *tiers[TOOL_TIERS + 1]; /* set by record_fault */
static const char *const purposes[] = {"roof", NULL};
static const char *const caches[] = {"hot", "cold", NULL};
static const char *const sources[] = {"measured", "table", NULL};
static const char *const verdicts[] = {"FASTER", "SLOWER", "SAME", "AMBIGUOUS", NULL};

static const rule text_item = {.types = STRING};
static const rule time_item = {.types = NUMBER};
static const rule round_item = {.types = ARRAY, .items = &time_item};

static const rule setting_members[] = {{.names = "name", .types = STRING},
                                       {.names = "value", .types = STRING | NIL},
                                       {.names = "source problem", .types = STRING | NIL | LACKING},
                                       {0}};

static const rule host_members[] = {
    {.names = "name system release architecture cpu", .types = STRING | NIL | LACKING},
    {.names = "processors memory_bytes load", .types = NUMBER | NIL | LACKING},
    {.names = "governor virtual", .types = STRING | NIL | LACKING},
    {0}};

static const rule build_members[] = {
    {.names = "compiler flags commit type", .types = STRING | NIL | LACKING}, {0}};

static const rule left_out_members[] = {
    {.names = "device", .types = STRING}, {.names = "reason", .types = STRING | NIL}, {0}};

static const rule phase_members[] = {{.names = "preparing", .types = NUMBER},
                                     {.names = "compiling", .types = NUMBER | LACKING},
                                     {.names = "energy", .types = NUMBER | LACKING},
                                     {.names = "measuring checking", .types = NUMBER},
                                     {0}};

static const rule plan_members[] = {{.names = "rounds kept skipped seconds", .types = NUMBER}, {0}};

static const rule run_members[] = {
    {.names = "command", .types = STRING, .words = commands},
    {.names = "version", .types = STRING},
    {.names = "program", .types = STRING | LACKING},
    {.names = "library_version", .types = STRING | NIL | LACKING},
    {.names = "time", .types = STRING},
    {.names = "finished", .types = STRING | NIL | LACKING},
    {.names = "complete", .types = TRUTH | LACKING},
    {.names = "arguments", .types = ARRAY | LACKING, .items = &text_item},
    {.names = "suite", .types = STRING | NIL | LACKING},
    {.names = "seed", .types = NUMBER | LACKING},
    {.names = "budget", .types = NUMBER | NIL | LACKING},
    {.names = "energy", .types = TRUTH | LACKING},
    {.names = "math", .types = STRING | LACKING},
    {.names = "rounds seconds noise", .types = NUMBER | NIL | LACKING},
    {.names = "confidence", .types = NUMBER | LACKING},
    {.names = "plan", .types = OBJECT | NIL | LACKING, .members = plan_members},
    {.names = "phases", .types = OBJECT | LACKING, .members = phase_members},
    {.names = "probe", .types = NUMBER | NIL | LACKING},
    {.names = "left_out", .types = ARRAY | LACKING, .members = left_out_members},
    {.names = "host", .types = OBJECT | LACKING, .members = host_members},
    {.names = "build", .types = OBJECT | LACKING, .members = build_members},
    {.names = "settings", .types = ARRAY | LACKING, .members = setting_members},
    {.names = "environment", .types = OBJECT | LACKING},
    {.names = "flags", .types = ARRAY | LACKING, .items = &text_item},
    {0}};

static const rule roof_members[] = {{.names = "name unit", .types = STRING},
                                    {.names = "value", .types = NUMBER | POSITIVE},
                                    {.names = "low high", .types = NUMBER | NIL | LACKING},
                                    {.names = "source", .types = STRING, .words = sources},
                                    {.names = "by", .types = STRING | NIL | LACKING},
                                    {0}};

static const rule idle_members[] = {{.names = "watts seconds", .types = NUMBER | NIL},
                                    {.names = "source reason", .types = STRING | NIL | LACKING},
                                    {0}};

/* Only what identifies a device is required. The other members of `isomer info` may be missing. */
static const rule device_members[] = {
    {.names = "spec backend", .types = STRING},
    {.names = "name", .types = STRING | NIL},
    {.names = "index", .types = NUMBER | LACKING},
    {.names = "vendor uuid type architecture driver runtime", .types = STRING | NIL | LACKING},
    {.names = "tier", .types = STRING | LACKING, .words = tiers},
    {.names = "features", .types = ARRAY | LACKING, .items = &text_item},
    {.names = "memory_total memory_free", .types = NUMBER | NIL | LACKING},
    {.names = "cache_bytes local_bytes units threads clock_mhz", .types = NUMBER | LACKING},
    {.names = "properties", .types = OBJECT | LACKING},
    {.names = "fake", .types = TRUTH | LACKING},
    {.names = "open", .types = NUMBER | NIL | LACKING},
    {.names = "telemetry", .types = OBJECT | NIL | LACKING},
    {.names = "roofs", .types = ARRAY | LACKING, .members = roof_members},
    {.names = "idle", .types = OBJECT | NIL | LACKING, .members = idle_members},
    {0}};

static const rule verified_members[] = {{.names = "method", .types = STRING | NIL},
                                        {.names = "error bound", .types = NUMBER | NIL},
                                        {.names = "checks", .types = NUMBER | LACKING},
                                        {.names = "digest", .types = STRING | NIL | LACKING},
                                        {0}};

static const rule work_members[] = {{.names = "flops bytes_read bytes_written", .types = NUMBER},
                                    {0}};

static const rule times_members[] = {
    {.names = "clock", .types = STRING},
    {.names = "median", .types = NUMBER | POSITIVE},
    {.names = "low high confidence", .types = NUMBER | NIL},
    {.names = "min max mean", .types = NUMBER},
    {.names = "deviation", .types = NUMBER | NIL},
    {.names = "converged", .types = TRUTH},
    {.names = "target", .types = NUMBER | NIL | LACKING},
    {.names = "stopped", .types = STRING | NIL | LACKING},
    {.names = "samples", .types = ARRAY, .items = &round_item},
    {.names = "calls", .types = NUMBER},
    {.names = "host submit prepare first closing", .types = NUMBER | NIL | LACKING},
    {0}};

static const rule rate_members[] = {
    {.names = "value", .types = NUMBER}, {.names = "low high", .types = NUMBER | NIL}, {0}};
static const rule rates_members[] = {
    {.names = "gbps gflops", .types = OBJECT | NIL, .members = rate_members}, {0}};

static const rule percent_members[] = {{.names = "name unit", .types = STRING},
                                       {.names = "value", .types = NUMBER | POSITIVE},
                                       {.names = "percent", .types = NUMBER},
                                       {.names = "source", .types = STRING, .words = sources},
                                       {0}};

static const rule parts_members[] = {
    {.names = "copy_in kernel copy_out total", .types = NUMBER | NIL}, {0}};

static const rule clocks_members[] = {
    {.names = "mhz_low mhz_high power_watts temperature_celsius", .types = NUMBER | NIL | LACKING},
    {0}};

static const rule energy_members[] = {
    {.names = "joules watts seconds calls gflop_per_joule gb_per_joule", .types = NUMBER | NIL},
    {.names = "source reason", .types = STRING | NIL | LACKING},
    {0}};

static const rule bench_members[] = {
    {.names = "id", .types = STRING},
    {.names = "op", .types = STRING, .words = operations},
    {.names = "kind", .types = STRING | NIL},
    {.names = "variant", .types = STRING},
    {.names = "dtype", .types = STRING | NIL},
    {.names = "shape", .types = OBJECT},
    {.names = "size", .types = NUMBER},
    {.names = "layout", .types = OBJECT},
    {.names = "math fill", .types = STRING},
    {.names = "cache", .types = STRING, .words = caches},
    {.names = "backend device", .types = STRING},
    {.names = "library", .types = STRING | NIL},
    {.names = "kernel", .types = STRING | NIL | LACKING},
    {.names = "for", .types = STRING | LACKING, .words = purposes},
    {.names = "variant_used math_used math_reason", .types = STRING | LACKING},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason", .types = STRING | NIL},
    {.names = "verified", .types = OBJECT | NIL, .members = verified_members},
    {.names = "work", .types = OBJECT, .members = work_members},
    {.names = "times", .types = OBJECT | NIL, .members = times_members},
    {.names = "rates", .types = OBJECT | NIL, .members = rates_members},
    {.names = "roof", .types = OBJECT | NIL, .members = percent_members},
    {.names = "parts", .types = OBJECT | NIL, .members = parts_members},
    {.names = "clocks", .types = OBJECT | NIL | LACKING, .members = clocks_members},
    {.names = "energy", .types = OBJECT | NIL | LACKING, .members = energy_members},
    {.names = "flags", .types = ARRAY, .items = &text_item},
    {0}};

static const rule verify_members[] = {
    {.names = "id op", .types = STRING},
    {.names = "variant dtype", .types = STRING | NIL},
    {.names = "backend device", .types = STRING},
    {.names = "library", .types = STRING | NIL},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason", .types = STRING | NIL},
    {.names = "verified", .types = OBJECT | NIL, .members = verified_members},
    {0}};

static const rule order_members[] = {{.names = "digest text arithmetic", .types = STRING},
                                     {.names = "terms depth fused pairs values", .types = NUMBER},
                                     {.names = "rounded", .types = NUMBER | NIL},
                                     {.names = "named", .types = TRUTH},
                                     {.names = "tree", .types = STRING | LACKING},
                                     {.names = "classes", .types = ARRAY | LACKING},
                                     {0}};

static const rule reveal_members[] = {
    {.names = "id op variant dtype math backend device", .types = STRING},
    {.names = "shape", .types = OBJECT},
    {.names = "math_used math_reason", .types = STRING | LACKING},
    {.names = "library", .types = STRING | NIL},
    {.names = "kernel", .types = STRING | NIL | LACKING},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason", .types = STRING | NIL},
    {.names = "order", .types = OBJECT | NIL, .members = order_members},
    {.names = "questions calls seconds", .types = NUMBER | LACKING},
    {0}};

static const rule spread_members[] = {{.names = "median largest", .types = NUMBER | NIL}, {0}};

static const rule errors_members[] = {
    {.names = "elements", .types = NUMBER},
    {.names = "of_terms of_largest", .types = OBJECT, .members = spread_members},
    {0}};

static const rule inexact_members[] = {
    {.names = "id op variant dtype math input backend device", .types = STRING},
    {.names = "shape", .types = OBJECT},
    {.names = "library", .types = STRING | NIL},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason", .types = STRING | NIL},
    {.names = "errors", .types = OBJECT | NIL, .members = errors_members},
    {0}};

/* The members of results of a command without times. */
static const struct {
    const char *command;
    const rule *members;
} untimed_results[] = {
    {"verify", verify_members}, {"reveal", reveal_members}, {"errors", inexact_members}};

static const rule *result_members(const char *untimed)
{
    const rule *found = bench_members;
    for (size_t i = 0; untimed && i < sizeof untimed_results / sizeof untimed_results[0]; i++) {
        found =
            strcmp(untimed_results[i].command, untimed) == 0 ? untimed_results[i].members : found;
    }
    return found;
}

static const rule pair_members[] = {
    {.names = "id device backend", .types = STRING},
    {.names = "library", .types = STRING | NIL},
    {.names = "device_b", .types = STRING | LACKING},
    {.names = "ratio low high p", .types = NUMBER | NIL},
    {.names = "pairs", .types = ARRAY, .items = &time_item},
    {.names = "verdict", .types = STRING | NIL, .words = verdicts},
    {.names = "made without_a without_b lost", .types = NUMBER | LACKING},
    {.names = "why_a why_b", .types = STRING | NIL | LACKING},
    {0}};

/* ---- the layout of Google Benchmark ---------------------------------------------------------- */

static const char *const time_units[] = {"ns", "us", "ms", "s", NULL};

static const rule context_members[] = {
    {.names = "date host_name executable library_version", .types = STRING | NIL | LACKING},
    {.names = "num_cpus mhz_per_cpu", .types = NUMBER | NIL | LACKING},
    {.names = "load_avg", .types = ARRAY | LACKING, .items = &time_item},
    {0}};

static const rule benchmark_members[] = {
    {.names = "name", .types = STRING},
    {.names = "run_name run_type aggregate_name label", .types = STRING | LACKING},
    {.names = "error_message skip_message", .types = STRING | LACKING},
    {.names = "error_occurred skipped", .types = TRUTH | LACKING},
    {.names = "time_unit", .types = STRING | LACKING, .words = time_units},
    {.names = "real_time iterations", .types = NUMBER | NIL | LACKING},
    {.names = "bytes_per_second flops_per_second FLOPS", .types = NUMBER | NIL | LACKING},
    {0}};

static const rule google_frame[] = {
    {.names = "context", .types = OBJECT, .members = context_members},
    {.names = "benchmarks", .types = ARRAY, .members = benchmark_members},
    {0}};

static const rule frame[] = {{.names = "run", .types = OBJECT, .members = run_members}, {0}};

/* ---- the walk -------------------------------------------------------------------------------- */

static void say_steps(char path[256], const step *last)
{
    if (!last) {
        return;
    }
    say_steps(path, last->before);
    size_t length = strlen(path), room = 256 - length;
    if (last->name) {
        snprintf(path + length, room, "%s%.*s", length > 0 ? "." : "", (int)last->at, last->name);
    } else {
        snprintf(path + length, room, "[%zu]", last->at);
    }
}

static bool fault(walk *w, const char *format, ...) ISO_PRINTF(2, 3);
static bool fault(walk *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *what = record_vformat(format, list);
    va_end(list);
    say_steps(w->path, w->last);
    w->fault = record_format("%s %s", w->path, what);
    free(what);
    return false;
}

/* Writes the names of types: "a number or null". */
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

/* Copies a text of the file for use in a message: cut to fit, and without control characters. */
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
    }
    for (int i = 0; r->words[i]; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 r->words[i]);
    }
    return fault(w, "is \"%s\", but must be one of: %s", quoted(shown, sizeof shown, word), known);
}

static bool allowed(walk *w, const rule *r, const json_t *value);

static bool members_allowed(walk *w, const rule *m, const json_t *object)
{
    size_t end;
    for (; m->types != 0; m++) {
        for (const char *name = m->names; *name != '\0'; name += end + strspn(name + end, " ")) {
            end = strcspn(name, " ");
            const step here = {w->last, name, end};
            w->last = &here;
            const json_t *inside = json_object_getn(object, name, end);
            bool good = inside ? allowed(w, m, inside)
                               : (m->types & LACKING) != 0 || fault(w, "is missing");
            w->last = here.before;
            if (!good) {
                return false;
            }
        }
    }
    return true;
}

static bool allowed(walk *w, const rule *r, const json_t *value)
{
    char wanted[96], found[32];
    int type = 1 << json_typeof(value);
    if ((type & r->types) == 0) {
        return fault(w, "is %s, but must be %s", type_names(found, sizeof found, type),
                     type_names(wanted, sizeof wanted, r->types));
    }
    if (type == STRING && r->words) {
        return word_allowed(w, r, json_string_value(value));
    }
    if ((r->types & POSITIVE) && (type & NUMBER) && !(json_number_value(value) > 0)) {
        return fault(w, "is %.17g, but must be over 0", json_number_value(value));
    }
    if (type == OBJECT && r->members && !members_allowed(w, r->members, value)) {
        return false;
    }
    const rule object = {.types = OBJECT, .members = r->members};
    for (size_t i = 0; type == ARRAY && i < json_array_size(value); i++) {
        const step here = {w->last, NULL, i};
        w->last = &here;
        bool good = allowed(w, r->items ? r->items : &object, json_array_get(value, i));
        w->last = here.before;
        if (!good) {
            return false;
        }
    }
    return true;
}

/* ---- members that depend on each other ------------------------------------------------------- */

static bool has_samples(const json_t *result)
{
    const json_t *rounds = record_at(result, "times.samples");
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
    const char *status = record_text(result, "status");
    bool ok = strcmp(status, bench_status_name(BENCH_OK)) == 0;
    if (!ok && record_text(result, "reason")[0] == '\0') {
        snprintf(w->path + length, sizeof w->path - length, ".reason");
        return fault(w, "is empty, but the status is \"%s\"", status);
    }
    for (int i = 0; timed && i < 2; i++) {
        const char *name = i == 0 ? "times" : "rates";
        bool there = json_is_object(json_object_get(result, name));
        snprintf(w->path + length, sizeof w->path - length, ".%s", name);
        if (there && !ok) {
            return fault(w, "has figures, but the status is \"%s\"", status);
        }
        if (!there && ok) {
            return fault(w, "is null, but the status is \"ok\"");
        }
    }
    if (timed && ok && !has_samples(result)) {
        snprintf(w->path + length, sizeof w->path - length, ".times.samples");
        return fault(w, "has no samples");
    }
    if (timed && ok && !json_is_object(json_object_get(result, "verified"))) {
        snprintf(w->path + length, sizeof w->path - length, ".verified");
        return fault(w, "is null, but a result with figures must have been checked");
    }
    return true;
}

/* Checks that each result names a device of the document, and has figures if its status is ok. */
static bool joined(walk *w, const json_t *root, bool timed)
{
    const json_t *results = json_object_get(root, "results");
    char shown[64];
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *spec = record_text(result, "device");
        snprintf(w->path, sizeof w->path, "results[%zu]", i);
        if (!record_device_of(root, spec)) {
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
        return fault(w,
                     "not a results file of isomer: it is JSON, but its \"schema\" is not \"%s\"; "
                     "`isomer bench --json` writes one",
                     RECORD_SCHEMA);
    }
    if (strncmp(schema, family, sizeof family - 1) != 0) {
        return fault(
            w, "not a results file: its \"schema\" is \"%s\"; `isomer bench --json` writes \"%s\"",
            quoted(shown, sizeof shown, schema), RECORD_SCHEMA);
    }
    if (strcmp(schema, RECORD_SCHEMA) != 0) {
        return fault(w, "in the layout \"%s\", and isomer %s reads \"%s\": use a newer isomer",
                     quoted(shown, sizeof shown, schema), iso_version(), RECORD_SCHEMA);
    }
    return true;
}

static void set_words(void)
{
    for (int i = 0; i < BENCH_STATUSES; i++) {
        record_statuses[i] = bench_status_name((bench_status)i);
    }
    for (int i = 0; i < RECORD_LABS; i++) {
        record_lab_ids[i] = record_labs[i].id;
    }
}

char *record_labs_fault(const json_t *root)
{
    static const rule labs[] = {{.names = "labs", .types = ARRAY, .members = record_lab_members},
                                {0}};
    walk w = {.path = ""};
    set_words();
    members_allowed(&w, labs, root);
    return w.fault;
}

char *record_fault(const json_t *root)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        operations[i] = bench_ops[i]->measured;
    }
    operations[BENCH_OPS] = bench_kernel.measured;
    operations[BENCH_OPS + 1] = bench_op_of("")->measured;
    set_words();
    for (int i = 0; i < TOOL_TIERS; i++) {
        tiers[i] = tool_tiers[i].name;
    }
    walk w = {.path = "it is"};
    if (!schema_known(&w, root)) {
        return w.fault;
    }
    w.path[0] = '\0';
    if (!members_allowed(&w, frame, root)) {
        return w.fault;
    }
    const char *untimed = record_untimed(root);
    const rule content[] = {
        {.names = "devices", .types = ARRAY, .members = device_members},
        {.names = "results", .types = ARRAY, .members = result_members(untimed)},
        {.names = "pairs", .types = ARRAY | LACKING, .members = pair_members},
        {.names = "labs", .types = ARRAY | LACKING, .members = record_lab_members},
        {.names = "comm", .types = ARRAY | LACKING, .members = record_comm_members},
        {.names = "comm_fits", .types = ARRAY | LACKING, .members = record_fit_members},
        {0}};
    if (members_allowed(&w, content, root) && joined(&w, root, !untimed)) {
        w.fault = record_comm_fault(json_object_get(root, "comm"));
    }
    return w.fault;
}

char *record_google_fault(const json_t *root)
{
    walk w = {.path = ""};
    members_allowed(&w, google_frame, root);
    return w.fault;
}
