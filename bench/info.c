/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - `isomer info`: shows backends, devices and settings, and why something is missing. */
#include "bench/tool.h"

#include "common/printable.h"
#include "common/tuned.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: isomer info [OPTIONS]\n"
    "\n"
    "  --all             every property and setting, and every folder that was searched\n"
    "  --backend LIST    only these devices; exit code 3 if one is not available\n"
    "  --json FILE       also writes all of it as JSON; - is standard output\n"
    "  --available SPEC  for scripts: exit code 0 if it is available, 3 if it is required but\n"
    "                    missing, 77 if it is missing and not required\n"
    "  --require LIST    with --available: what must be available, besides ISOMER_REQUIRE\n"
    "  --help            shows this text\n";

/* These two print nothing if `out` is NULL: without --all, the long form only makes the JSON. */

static void heading(FILE *out, const char *text)
{
    bool colour = out && tool_colour(out);
    if (!out) {
        return;
    }
    fputc('\n', out);
    tool_escape(out, colour ? "\033[1m" : "");
    fputs(text, out);
    tool_escape(out, colour ? "\033[0m" : "");
    fputc('\n', out);
}

/* Prints a name in a column, with a wrapped text beside it. */
static void line(FILE *out, int indent, int column, const char *name, const char *text)
{
    char shown[4 * ISO_NAME_MAX];
    if (!out) {
        return;
    }
    printable_line(shown, sizeof shown, name);
    int at = fprintf(out, "%*s%-*s", indent, "", column - indent - 1, shown);
    fputc(' ', out);
    tool_wrap(out, at + 1, column, text);
}

/* ---- backends -------------------------------------------------------------------------------- */

/* A summary of a backend's rows. */
typedef struct summary {
    const iso_entry *first; /* the row whose state is shown for the backend */
    int devices, broken;
} summary;

/* Summarizes the backend whose first row is `at`. Returns false if `at` is not the first row of its
 * backend. */
static bool summarize(const iso_entry *entries, int32_t count, int32_t at, summary *out)
{
    *out = (summary){.first = &entries[at]};
    if (at > 0 && strcmp(entries[at].backend, entries[at - 1].backend) == 0) {
        return false;
    }
    for (int32_t i = at; i < count && strcmp(entries[i].backend, entries[at].backend) == 0; i++) {
        out->devices += entries[i].state == ISO_STATE_OK;
        out->broken += entries[i].state == ISO_STATE_BROKEN;
        if (entries[i].state == ISO_STATE_OK && out->devices == 1) {
            out->first = &entries[i];
        }
    }
    return true;
}

static void show_backends(FILE *out, const iso_entry *entries, int32_t count)
{
    heading(out, "Backends");
    for (int32_t i = 0; i < count; i++) {
        summary s;
        if (!summarize(entries, count, i, &s)) {
            continue;
        }
        const iso_entry *e = s.first;
        char text[2 * ISO_REASON_MAX + 64], name[ISO_NAME_MAX + 32], broken[48] = "";
        if (s.broken > 0) {
            snprintf(broken, sizeof broken, ", %d broken", s.broken);
        }
        if (e->state == ISO_STATE_OK) {
            snprintf(text, sizeof text, "%d device%s%s; %s", s.devices, s.devices == 1 ? "" : "s",
                     broken, e->origin);
        } else {
            snprintf(text, sizeof text, "%s%s%s", e->reason, e->is_plugin ? "; " : "",
                     e->is_plugin ? e->origin : "");
        }
        snprintf(name, sizeof name, "%-11s %s", e->backend, iso_state_name(e->state));
        line(out, 2, 29, name, text);
    }
}

static json_t *backends_json(const iso_entry *entries, int32_t count)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        summary s;
        if (!summarize(entries, count, i, &s)) {
            continue;
        }
        const iso_entry *e = s.first;
        json_t *b = json_object();
        tool_set_text(b, "backend", e->backend);
        tool_set_text(b, "state", iso_state_name(e->state));
        tool_set_text(b, "origin", e->origin);
        tool_set_bool(b, "plugin", e->is_plugin);
        tool_set_text(b, "reason", e->reason);
        json_array_append_new(list, b);
    }
    return list;
}

/* ---- devices --------------------------------------------------------------------------------- */

static void show_numbers(FILE *out, const iso_device_info *d)
{
    char text[1024] = "", part[128], bytes[32], spare[32];
    if (d->memory_total >= 0) {
        tool_bytes(bytes, sizeof bytes, d->memory_total);
    } else {
        snprintf(bytes, sizeof bytes, "unknown");
    }
    if (d->memory_free >= 0) {
        snprintf(part, sizeof part, "%s, %s free", bytes,
                 tool_bytes(spare, sizeof spare, d->memory_free));
    } else {
        snprintf(part, sizeof part, "%s", bytes);
    }
    tool_join(text, sizeof text, "", part);
    if (d->cache_bytes > 0) {
        snprintf(part, sizeof part, "last-level cache %s",
                 tool_bytes(bytes, sizeof bytes, d->cache_bytes));
        tool_join(text, sizeof text, "; ", part);
    }
    if (d->local_bytes > 0) {
        snprintf(part, sizeof part, "local %s", tool_bytes(bytes, sizeof bytes, d->local_bytes));
        tool_join(text, sizeof text, "; ", part);
    }
    line(out, 4, 29, "memory", text);
    bool cpu = d->type == ISO_DEVICE_CPU;
    snprintf(text, sizeof text, "%d %s, %d %s", d->units,
             cpu ? (d->units == 1 ? "core" : "cores") : "units", d->threads,
             cpu ? (d->threads == 1 ? "thread" : "threads") : "wide");
    if (d->clock_mhz > 0) {
        snprintf(part, sizeof part, "%d MHz", d->clock_mhz);
        tool_join(text, sizeof text, ", ", part);
    }
    line(out, 4, 29, "units", text);
}

static void show_features(FILE *out, uint32_t bits)
{
    static const char *const has[] = {"f64",
                                      "subnormals",
                                      "fused multiply-add in hardware",
                                      "host memory",
                                      "FAKE: a stand-in for tests",
                                      "kernels built at first use",
                                      "SIMULATED: its times mean nothing"};
    static const char *const lacks[] = {
        "no f64", "no subnormals, infinities or NaN", "slow fused multiply-add", NULL, NULL, NULL,
        NULL};
    char text[512] = "";
    for (unsigned i = 0; i < sizeof has / sizeof has[0]; i++) {
        const char *word = bits & (1u << i) ? has[i] : lacks[i];
        if (word) {
            tool_join(text, sizeof text, ", ", word);
        }
    }
    line(out, 4, 29, "features", text);
}

static void show_device(FILE *out, const iso_device_info *d)
{
    char text[4 * ISO_NAME_MAX];
    snprintf(text, sizeof text, "%s", d->name);
    line(out, 2, 29, d->spec, text);
    snprintf(text, sizeof text, "%s%s%s%s%s", iso_device_type_name(d->type),
             d->architecture[0] ? ", " : "", d->architecture, d->vendor[0] ? ", " : "", d->vendor);
    line(out, 4, 29, "kind", text);
    show_numbers(out, d);
    show_features(out, d->features | (tool_is_fake(d) ? ISO_FEATURE_FAKE : 0));
    if (d->driver[0] != '\0') {
        line(out, 4, 29, "driver", d->driver);
    }
    if (d->runtime[0] != '\0') {
        line(out, 4, 29, "runtime", d->runtime);
    }
    if (d->uuid[0] != '\0') {
        line(out, 4, 29, "uuid", d->uuid);
    }
}

/* Writes "123.5 of 700 W", "123.5 W" or "at most 700 W"; "" if neither is known. */
static void of_most(char *text, size_t room, double now, double most, const char *unit)
{
    text[0] = '\0';
    if (now >= 0 && most >= 0) {
        snprintf(text, room, "%.4g of %.4g %s", now, most, unit);
    } else if (now >= 0 || most >= 0) {
        snprintf(text, room, "%s%.4g %s", now >= 0 ? "" : "at most ", now >= 0 ? now : most, unit);
    }
}

static void show_throttle(char *text, size_t room, int32_t bits)
{
    static const char *const names[] = {"power", "heat", "other reasons"};
    if (bits == 0) {
        tool_join(text, room, "; ", "not throttled");
    }
    for (unsigned i = 0; bits > 0 && i < sizeof names / sizeof names[0]; i++) {
        if ((uint32_t)bits & (1u << i)) {
            tool_join(text, room, "; ", "throttled by ");
            tool_join(text, room, "", names[i]);
        }
    }
}

static void show_telemetry(FILE *out, const iso_telemetry *t)
{
    char text[1024] = "", part[128];
    of_most(part, sizeof part, t->clock_mhz, t->clock_max_mhz, "MHz");
    if (part[0] != '\0') {
        tool_join(text, sizeof text, "", t->clock_mhz >= 0 ? "now " : "");
        tool_join(text, sizeof text, "", part);
    }
    if (t->memory_clock_mhz >= 0) {
        snprintf(part, sizeof part, "memory %d MHz", t->memory_clock_mhz);
        tool_join(text, sizeof text, ", ", part);
    }
    of_most(part, sizeof part, t->power_watts, t->power_cap_watts, "W");
    if (part[0] != '\0') {
        tool_join(text, sizeof text, "; ", part);
    }
    if (t->temperature_celsius >= 0) {
        snprintf(part, sizeof part, "%.4g °C", t->temperature_celsius);
        tool_join(text, sizeof text, "; ", part);
    }
    if (t->busy_percent >= 0) {
        snprintf(part, sizeof part, "%.3g %% busy", t->busy_percent);
        tool_join(text, sizeof text, "; ", part);
    }
    if (t->ecc >= 0) {
        tool_join(text, sizeof text, "; ", t->ecc ? "ECC on" : "ECC off");
    }
    if (t->partition[0] != '\0') {
        tool_join(text, sizeof text, "; ", t->partition);
    }
    show_throttle(text, sizeof text, t->throttle);
    if (t->energy_joules >= 0) {
        snprintf(part, sizeof part, "energy counted (%.100s)", t->energy_scope);
        tool_join(text, sizeof text, "; ", part);
    } else {
        tool_join(text, sizeof text, "; ", "energy not counted: ");
        tool_join(text, sizeof text, "", t->energy_reason);
    }
    if (text[0] != '\0') {
        snprintf(part, sizeof part, " (%.100s)", t->source);
        tool_join(text, sizeof text, "", t->source[0] != '\0' ? part : "");
        line(out, 4, 29, "sensors", text);
    }
}

static void describe_sensors(FILE *out, iso_device device, json_t *into)
{
    iso_telemetry telemetry = ISO_TELEMETRY_INIT;
    iso_status status = iso_device_get_telemetry(device, &telemetry);
    tool_need_memory(status);
    if (status == ISO_OK) {
        show_telemetry(out, &telemetry);
    } else if (status != ISO_UNSUPPORTED) {
        line(out, 4, 29, "sensors", tool_reason());
    }
    json_object_set_new(into, "telemetry",
                        tool_json_telemetry(status == ISO_OK ? &telemetry : NULL));
}

/* Shows whether products use TF32. The check may open the vendor's library, so it is made only if
 * ISOMER_MATH permits TF32. */
static void describe_tf32(FILE *out, iso_device device, json_t *properties)
{
    const char *math = getenv("ISOMER_MATH");
    char text[ISO_NOTE_MAX + 64];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    if (!math || strcmp(math, "tf32") != 0) {
        return;
    }
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_VENDOR;
    args.m = args.n = args.k = 64;
    iso_status status = iso_describe(device, ISO_OP_GEMM, &args, &info);
    tool_need_memory(status);
    if (status != ISO_OK) {
        snprintf(text, sizeof text, "not used: the device has no vendor's library for products");
    } else if (info.math == ISO_MATH_TF32) {
        snprintf(text, sizeof text, "used by f32 products of %s", info.library);
    } else {
        snprintf(text, sizeof text, "not used, products are strict: %s", info.math_reason);
    }
    line(out, 4, 29, "TF32", text);
    tool_set_text(properties, "TF32", text);
}

/* The vendor's libraries for products. */
static void libraries_json(iso_device device, json_t *into)
{
    enum { MOST = 8 };
    char names[MOST][ISO_NAME_MAX];
    json_t *list = json_array();
    int32_t count = tool_libraries(device, names, MOST);
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, tool_json_text(names[i]));
    }
    json_object_set_new(into, "libraries", list);
}

/* Opens the device, because some properties are known only then. For a broken device, only the
 * problem is shown. */
static void describe_open(FILE *out, const iso_entry *entry, json_t *into)
{
    bool broken = entry->state == ISO_STATE_BROKEN;
    const char *problem = entry->reason;
    iso_device device = {0};
    iso_property property = ISO_PROPERTY_INIT;
    json_t *list = json_object();
    iso_status status = ISO_UNAVAILABLE;
    if (!broken) {
        status = iso_device_open(entry->device.spec, &device);
        tool_need_memory(status);
        problem = tool_reason();
    }
    if (status != ISO_OK) {
        line(out, 4, 29, broken ? "broken" : "does not open", problem);
        tool_set_text(into, "problem", problem);
        json_object_set_new(into, "telemetry", tool_json_telemetry(NULL));
    } else {
        libraries_json(device, into);
        for (int32_t i = 0; tool_property(device, i, &property); i++) {
            line(out, 4, 29, property.name, property.value);
            tool_set_text(list, property.name, property.value);
        }
        describe_tf32(out, device, list);
        describe_sensors(out, device, into);
        iso_device_close(device);
    }
    json_object_set_new(into, "properties", list);
}

static json_t *show_devices(FILE *out, const iso_entry *entries, int32_t count)
{
    json_t *list = json_array();
    bool any = false;
    heading(out, "Devices");
    for (int32_t i = 0; i < count; i++) {
        const iso_entry *e = &entries[i];
        const bool broken = e->state == ISO_STATE_BROKEN && e->device.size > 0;
        if (e->state != ISO_STATE_OK && !broken) {
            continue;
        }
        any = true;
        json_t *device = tool_json_device(&e->device);
        tool_set_text(device, "state", iso_state_name(e->state));
        show_device(out, &e->device);
        describe_open(out, e, device);
        json_array_append_new(list, device);
    }
    if (!any && out) {
        fprintf(out, "  none\n");
    }
    return list;
}

/* ---- settings -------------------------------------------------------------------------------- */

static json_t *show_settings(FILE *out)
{
    json_t *list = json_array();
    iso_setting s = ISO_SETTING_INIT;
    heading(out, "Settings");
    for (int32_t i = 0; tool_setting(i, &s); i++) {
        char text[3 * ISO_REASON_MAX];
        bool set = strcmp(s.source, "environment") == 0;
        snprintf(text, sizeof text, "%s%s%s%s%s", s.value[0] || set ? s.value : "not set",
                 set          ? " (from the environment)"
                 : s.value[0] ? " (default)"
                              : "",
                 s.meaning[0] ? "\n" : "", s.meaning, s.problem[0] ? "\nproblem: " : "");
        tool_join(text, sizeof text, "", s.problem);
        line(out, 2, 29, s.name, text);
        json_t *setting = json_object();
        tool_set_text(setting, "name", s.name);
        json_object_set_new(setting, "value",
                            set && s.value[0] == '\0' ? json_string("") : tool_json_text(s.value));
        tool_set_text(setting, "source", s.source);
        tool_set_text(setting, "meaning", s.meaning);
        tool_set_text(setting, "problem", s.problem);
        json_array_append_new(list, setting);
    }
    return list;
}

/* ---- the short form -------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

/* What the table of measured choices, if there is one, means for the user. */
static void brief_table(const json_t *device, char *text, size_t room)
{
    const char *told = text_of(json_object_get(device, "properties"), "tuned table");
    int rows;
    if (tuned_told(told, &rows) > 0) {
        char part[48];
        snprintf(part, sizeof part, "tuned for %d shape%s", rows, rows == 1 ? "" : "s");
        tool_join(text, room, "; ", part);
    } else if (strncmp(told, "refused: ", 9) == 0) {
        tool_join(text, room, "; ", "its table of choices is refused: --all says why");
    }
}

/* One device: "NVIDIA H200, 139 GiB, sm_90, CUDA driver 13.0; cuBLAS 13.1". */
static void brief_device(FILE *out, const json_t *device)
{
    char text[4 * ISO_NAME_MAX + ISO_REASON_MAX], part[64], bytes[32];
    bool cpu = strcmp(text_of(device, "type"), iso_device_type_name(ISO_DEVICE_CPU)) == 0;
    json_int_t memory = json_integer_value(json_object_get(device, "memory_total"));
    json_t *library;
    size_t i;
    snprintf(text, sizeof text, "%s", text_of(device, "name"));
    if (cpu) {
        json_int_t units = json_integer_value(json_object_get(device, "units"));
        snprintf(part, sizeof part, "%lld core%s", (long long)units, units == 1 ? "" : "s");
        tool_join(text, sizeof text, ", ", part);
    }
    if (memory > 0) {
        tool_join(text, sizeof text, ", ", tool_bytes(bytes, sizeof bytes, memory));
    }
    for (i = 0; i < 2; i++) {
        const char *word = text_of(device, i == 0 ? "architecture" : "driver");
        if (word[0] != '\0') {
            tool_join(text, sizeof text, ", ", word);
        }
    }
    json_array_foreach(json_object_get(device, "libraries"), i, library)
    {
        tool_join(text, sizeof text, i == 0 ? "; " : ", ", json_string_value(library));
    }
    brief_table(device, text, sizeof text);
    if (text_of(device, "problem")[0] != '\0') {
        tool_join(text, sizeof text, "; ", "it cannot be used: ");
        tool_join(text, sizeof text, "", text_of(device, "problem"));
    }
    line(out, 2, 15, text_of(device, "spec"), text);
}

/* Writes a reason without the list of what was tried: what is missing, and what the user can do. */
static void brief_reason(char *text, size_t room, const char *reason)
{
    const char *tried = strstr(reason, "; tried"), *advice = "";
    for (const char *at = tried; at && (at = strstr(at, ". ")); at++) {
        advice = at;
    }
    snprintf(text, room, "%.*s%s", tried ? (int)(tried - reason) : (int)strlen(reason), reason,
             advice);
}

static void show_brief(FILE *out, const json_t *root)
{
    char text[2 * ISO_REASON_MAX];
    bool missing = false, set = false;
    json_t *item;
    size_t i;
    heading(out, "Devices");
    json_array_foreach(json_object_get(root, "devices"), i, item)
    {
        brief_device(out, item);
    }
    json_array_foreach(json_object_get(root, "backends"), i, item)
    {
        if (strcmp(text_of(item, "state"), iso_state_name(ISO_STATE_OK)) == 0) {
            continue;
        }
        if (!missing) {
            heading(out, "Not available");
            missing = true;
        }
        brief_reason(text, sizeof text, text_of(item, "reason"));
        line(out, 2, 15, text_of(item, "backend"), text);
    }
    json_array_foreach(json_object_get(root, "settings"), i, item)
    {
        if (strcmp(text_of(item, "source"), "environment") != 0) {
            continue;
        }
        if (!set) {
            heading(out, "Settings in the environment");
            set = true;
        }
        snprintf(text, sizeof text, "%s%s%s", text_of(item, "value"),
                 text_of(item, "problem")[0] != '\0' ? "\nproblem: " : "",
                 text_of(item, "problem"));
        line(out, 2, 24, text_of(item, "name"), text);
    }
    fputs("\n`isomer info --all` shows every property and setting, and where it searched.\n", out);
}

static json_t *show(FILE *out, bool all, const iso_entry *entries, int32_t count)
{
    json_t *root = json_object();
    FILE *details = all ? out : NULL;
    tool_set_text(root, "schema", "isomer-info/1");
    tool_set_text(root, "version", iso_version());
    fprintf(out, "isomer %s\n", iso_version());
    show_backends(details, entries, count);
    json_object_set_new(root, "backends", backends_json(entries, count));
    json_object_set_new(root, "devices", show_devices(details, entries, count));
    json_object_set_new(root, "settings", show_settings(details));
    if (!all) {
        show_brief(out, root);
    }
    return root;
}

/* Lists only the devices that were named. */
static int find_named(const char *backend, iso_entry **entries, int32_t *count)
{
    tool_words specs;
    int code = tool_specs(backend, NULL, &specs);
    *entries = tool_alloc((size_t)specs.count, sizeof **entries, "the devices");
    for (int i = 0; i < specs.count && code == TOOL_OK; i++) {
        iso_entry *e = &(*entries)[(*count)++];
        iso_device device;
        *e = (iso_entry)ISO_ENTRY_INIT;
        e->state = ISO_STATE_OK;
        e->device = (iso_device_info)ISO_DEVICE_INFO_INIT;
        iso_status status = iso_device_open(specs.items[i], &device);
        if (status == ISO_OK) {
            status = iso_device_get_info(device, &e->device);
            iso_device_close(device);
        }
        if (status != ISO_OK) {
            code = tool_error(tool_code(status), "%s", tool_reason());
        }
        snprintf(e->backend, sizeof e->backend, "%s", e->device.backend);
        snprintf(e->origin, sizeof e->origin, "asked for by name");
    }
    tool_words_free(&specs);
    return code;
}

int tool_info(int argc, char **argv)
{
    const char *path = NULL, *backend = NULL, *available = NULL, *require = NULL;
    bool wants_help = false, all = false;
    const tool_option options[] = {{"all", NULL, &all},         {"backend", &backend, NULL},
                                   {"json", &path, NULL},       {"available", &available, NULL},
                                   {"require", &require, NULL}, {"help", NULL, &wants_help}};
    int code = tool_options(argc, argv, options, 6, NULL);
    if (code != TOOL_OK) {
        return code;
    }
    if (wants_help) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    if (available && (backend || path || all)) {
        return tool_error(TOOL_USAGE, "--available takes no other option except --require");
    }
    if (available) {
        return tool_available(available, require);
    }
    if (require) {
        return tool_error(TOOL_USAGE, "--require needs --available here");
    }
    tool_file json = {0};
    code = tool_file_open(&json, path);
    if (code != TOOL_OK) {
        return code;
    }
    int32_t count = 0;
    iso_entry *entries = NULL;
    if (backend && strcmp(backend, "all") != 0) {
        code = find_named(backend, &entries, &count);
    } else if (!(entries = tool_enumerate(&count))) {
        code = TOOL_INTERNAL;
    }
    if (code == TOOL_OK) {
        json_t *root = show(json.stream == tool_data() ? stderr : stdout, all, entries, count);
        code = tool_file_json(&json, root);
        json_decref(root);
    }
    tool_file_discard(&json);
    free(entries);
    return code;
}
