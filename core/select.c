/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - from a spec to an open device: exactly what was named, or why not. */
#include "core/core.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One entry of a spec: name[:rest]. */
typedef struct item {
    char name[ISO_NAME_MAX];
    const char *rest; /* NULL: only a name */
    char text[512];   /* the whole of it */
} item;

static void list_names(core_text *into, const char *unknown, char *nearest, size_t room)
{
    int count = 0, best = core_edit_distance(unknown, "auto");
    core_backend **list = core_backend_list(&count);

    core_text_add(into, "auto");
    snprintf(nearest, room, "%s", best <= 1 ? "auto" : "");
    best = best <= 1 ? best : INT_MAX;
    for (int i = 0; list && i < count; i++) {
        int distance, allowed;

        /* A file may be called anything; what no spec can name is left to iso_enumerate. */
        if (!core_name_valid(list[i]->name))
            continue;
        distance = core_edit_distance(unknown, list[i]->name);
        allowed = (int)strlen(list[i]->name) / 2;

        core_text_add(into, ", %s", list[i]->name);
        if (distance < best && distance <= (allowed < 3 ? allowed : 3)) {
            best = distance;
            snprintf(nearest, room, "%s", list[i]->name);
        }
    }
    free(list);
}

static iso_status unknown_name(const char *call, const char *name)
{
    const char *path = core_setting("ISOMER_BACKEND_PATH");
    char nearest[ISO_NAME_MAX], ignored[1024] = "";
    core_text names = {0};
    iso_status status;

    core_plugin_path_problem(path ? path : "", ignored, sizeof ignored);
    list_names(&names, name, nearest, sizeof nearest);
    status = core_fail(
        ISO_INVALID,
        "%s: \"%s\" is not a known backend%s%s%s Known are %s; plug-ins are looked for "
        "in the folders of ISOMER_BACKEND_PATH and in %s%s%s",
        call, name, nearest[0] ? ": did you mean \"" : "", nearest, nearest[0] ? "\"?" : ".",
        core_text_get(&names), core_place(), ignored[0] ? "; " : "", ignored);
    core_text_free(&names);
    return status;
}

static iso_status parse_item(const char *call, const char *text, size_t length, bool alone,
                             item *out)
{
    const char *colon;
    char lower[ISO_NAME_MAX];

    if (length >= sizeof out->text)
        return core_fail(ISO_INVALID, "%s: a spec of %zu characters is too long: at most %zu", call,
                         length, sizeof out->text - 1);
    memcpy(out->text, text, length);
    out->text[length] = 0;
    colon = strchr(out->text, ':');
    out->rest = colon ? colon + 1 : NULL;
    length = colon ? (size_t)(colon - out->text) : length;
    if (!length)
        return core_fail(
            ISO_INVALID,
            "%s: the spec has an empty name: name a backend (\"openmp\", \"openmp:0\"), "
            "a list of them, or auto",
            call);
    if (length >= sizeof out->name)
        return core_fail(ISO_INVALID, "%s: \"%s\" has a name of %zu characters: at most %d", call,
                         out->text, length, ISO_NAME_MAX - 1);
    memcpy(out->name, out->text, length);
    out->name[length] = 0;
    for (size_t i = 0; i <= length; i++)
        lower[i] = (char)tolower((unsigned char)out->name[i]);
    if (!strcmp(lower, "auto") && (colon || !alone))
        return core_fail(ISO_INVALID,
                         "%s: \"%s\": auto stands alone: it takes no device and is no "
                         "part of a list",
                         call, out->text);
    if (out->rest && !out->rest[0])
        return core_fail(
            ISO_INVALID,
            "%s: \"%s\" has nothing after the colon: use %s:0, %s:uuid=TEXT, or a part "
            "of the device's name",
            call, out->text, out->name, out->name);
    if (strcmp(out->name, "auto") && !core_backend_find(out->name))
        return unknown_name(call, out->name);
    return ISO_OK;
}

/* Calls parse_item for each entry of the spec; with `out`, gives the index-th. */
static iso_status parse(const char *call, const char *spec, int index, item *out, int *count)
{
    iso_status status = ISO_OK;
    bool alone = !strchr(spec, ',');
    item scratch;

    *count = 0;
    if (!spec[0])
        return core_fail(ISO_INVALID,
                         "%s: the spec is empty: name a backend (\"openmp\", \"openmp:0\"), a list "
                         "of them, or auto",
                         call);
    for (const char *at = spec; at && !status; (*count)++) {
        const char *comma = strchr(at, ',');
        size_t length = comma ? (size_t)(comma - at) : strlen(at);

        status = parse_item(call, at, length, alone, out && *count == index ? out : &scratch);
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

void core_spec_problem(const char *spec, char *problem, size_t room)
{
    core_kept_error kept = core_error_keep();
    int count;

    if (parse("ISOMER_BACKEND", spec, -1, NULL, &count))
        snprintf(problem, room, "%s", iso_last_error());
    core_error_restore(&kept);
}

/* ---- which of a backend's devices ---- */

static void list_devices(core_text *into, const char *call, core_backend *backend, int32_t devices)
{
    iso_device_info info;

    for (int32_t i = 0; i < devices; i++)
        if (!core_backend_device_info(call, backend, i, &info))
            core_text_add(into, "%s%s (%s%s%s)", i ? ", " : "", info.spec, info.name,
                          info.uuid[0] ? ", uuid " : "", info.uuid);
}

static iso_status no_match(const char *call, const item *what, core_backend *backend,
                           int32_t devices, const char *why)
{
    core_text text = {0};
    iso_status status;

    list_devices(&text, call, backend, devices);
    status = core_fail(ISO_INVALID, "%s: \"%s\" %s: its devices are %s", call, what->text, why,
                       core_text_get(&text));
    core_text_free(&text);
    return status;
}

static bool matches(const iso_device_info *info, const char *rest)
{
    if (!strncmp(rest, "uuid=", 5))
        return info->uuid[0] && !strcasecmp(info->uuid, rest + 5);
    return strcasestr(info->name, rest) != NULL;
}

/* The device that `rest` means. */
static iso_status pick_named(const char *call, const item *what, core_backend *backend,
                             int32_t devices, int32_t *index)
{
    int32_t found = 0;

    if (!what->rest[strspn(what->rest, "0123456789")]) {
        long number = strlen(what->rest) > 9 ? LONG_MAX : strtol(what->rest, NULL, 10);

        if (number >= devices)
            return no_match(call, what, backend, devices, "has an index past the last device");
        *index = (int32_t)number;
        return ISO_OK;
    }
    for (int32_t i = 0; i < devices; i++) {
        iso_device_info info;

        if (!core_backend_device_info(call, backend, i, &info) && matches(&info, what->rest)) {
            if (!found++)
                *index = i;
        }
    }
    if (!found)
        return no_match(call, what, backend, devices, "matches no device");
    if (found > 1)
        return no_match(call, what, backend, devices,
                        "matches more than one device: use an index or a uuid");
    return ISO_OK;
}

/* The reason of a failure without the call's name. */
static const char *reason_of(const char *call)
{
    const char *text = iso_last_error();
    size_t length = strlen(call);

    return !strncmp(text, call, length) && text[length] == ':' ? text + length + 2 : text;
}

/* Whether the device may be the backend's first; of one that is broken, `passed` gets the reason.
 */
static bool may_be_first(const char *call, core_backend *backend, int32_t index, core_text *passed)
{
    if (core_backend_device_usable(call, backend, index)) {
        core_text_add(passed, "\n  %s", reason_of(call));
        return false;
    }
    return true;
}

/* The first device that is not a CPU, else the first, of those that can be used; -1 where there is
 * none, and where `no_cpu` and there are only CPUs. */
static int32_t pick_first(const char *call, core_backend *backend, int32_t devices, bool no_cpu,
                          core_text *passed)
{
    const bool alone = devices == 1 && !no_cpu;

    for (int32_t i = 0; i < devices && !alone; i++) {
        iso_device_info info;

        if (!core_backend_device_info(call, backend, i, &info) && info.type != ISO_DEVICE_CPU &&
            may_be_first(call, backend, i, passed)) {
            return i;
        }
    }
    for (int32_t i = 0; i < devices && !no_cpu; i++) {
        iso_device_info info;

        if ((alone || core_backend_device_info(call, backend, i, &info) ||
             info.type == ISO_DEVICE_CPU) &&
            may_be_first(call, backend, i, passed)) {
            return i;
        }
    }
    return -1;
}

/* ---- opening ---- */

static iso_status no_first(const char *call, const core_backend *backend, const core_text *passed)
{
    if (passed->length) {
        return core_fail(ISO_UNAVAILABLE, "%s: %s has no device that can be used:%s", call,
                         backend->name, core_text_get(passed));
    }
    return core_fail(ISO_UNAVAILABLE,
                     "%s: %s has only CPU devices, which auto leaves to its last backend: "
                     "name it to use one",
                     call, backend->name);
}

/* The device that one entry names. With `no_cpu` a backend that has only CPUs is passed over. */
static iso_status pick(const char *call, const item *what, core_backend *backend, bool no_cpu,
                       int32_t *index, core_text *passed)
{
    iso_probe *probe = malloc(sizeof *probe);
    iso_status status = ISO_OK;

    *index = 0;
    if (!probe)
        return core_fail_no_memory(call, (int64_t)sizeof *probe);
    core_backend_probe(backend, probe);
    if (probe->state != ISO_STATE_OK) {
        status = core_fail(ISO_UNAVAILABLE, "%s: %s is not available (%s): %s", call, backend->name,
                           iso_state_name(probe->state), probe->reason);
    } else if (what && what->rest) {
        status = pick_named(call, what, backend, probe->devices, index);
        if (!status) {
            status = core_backend_device_usable(call, backend, *index);
        }
    } else if ((*index = pick_first(call, backend, probe->devices, no_cpu, passed)) < 0) {
        status = no_first(call, backend, passed);
    }
    free(probe);
    return status;
}

/* Opens what one entry names. *over: it is refused for a setting that makes no sense, and no other
 * entry is to hide that. */
static iso_status open_item(const char *call, const item *what, core_backend *backend, bool no_cpu,
                            core_choice *out, bool *over)
{
    int32_t index;
    iso_status status = pick(call, what, backend, no_cpu, &index, &out->passed);

    *over = false;
    if (status) {
        core_text_free(&out->passed); /* the error has them */
        return status;
    }
    status = core_physical_open(call, backend, index, &out->physical);
    *over = status == ISO_INVALID;
    if (status)
        return status;
    out->backend = backend;
    out->index = index;
    return ISO_OK;
}

/* A plug-in's file may have gone since its name was looked up. */
static iso_status open_named(const char *call, const item *what, core_choice *out, bool *over)
{
    core_backend *backend = core_backend_find(what->name);

    return backend ? open_item(call, what, backend, false, out, over)
                   : unknown_name(call, what->name);
}

static iso_status open_auto(const char *call, core_choice *out)
{
    iso_status status = ISO_UNAVAILABLE;
    core_text reasons = {0};
    bool over = false;

    for (int i = 0; core_builtins[i].name && status && !over; i++) {
        core_backend *backend = core_backend_find(core_builtins[i].name);

        if (!backend)
            continue;
        status = open_item(call, NULL, backend, !backend->is_last, out, &over);
        if (status)
            core_text_add(&reasons, "\n  %s", core_reason(call));
    }
    if (status && !over)
        status = core_fail(ISO_UNAVAILABLE, "%s: auto found no device:%s", call,
                           core_text_get(&reasons));
    else if (!status)
        core_text_add(&out->story, "auto: the first with a device%s%s",
                      reasons.length ? "; not used:" : "", core_text_get(&reasons));
    core_text_free(&reasons);
    return status;
}

static iso_status open_list(const char *call, const char *spec, int count, core_choice *out)
{
    iso_status status = ISO_UNAVAILABLE;
    core_text reasons = {0};
    bool over = false;

    for (int i = 0; i < count && status && !over; i++) {
        int parsed;
        item what;

        status = parse(call, spec, i, &what, &parsed);
        if (!status)
            status = open_named(call, &what, out, &over);
        if (status)
            core_text_add(&reasons, "\n  %s", core_reason(call));
    }
    if (status && !over)
        status = core_fail(ISO_UNAVAILABLE, "%s: none of \"%s\" could be opened:%s", call, spec,
                           core_text_get(&reasons));
    else if (!status)
        core_text_add(&out->story, "the first of \"%s\" that opens%s%s", spec,
                      reasons.length ? "; not used:" : "", core_text_get(&reasons));
    core_text_free(&reasons);
    return status;
}

static iso_status open_one(const char *call, const char *spec, core_choice *out)
{
    iso_status status;
    int count;
    item what;
    bool over;

    status = parse(call, spec, 0, &what, &count);
    if (!status)
        status = open_named(call, &what, out, &over);
    if (!status)
        core_text_add(&out->story, "named by \"%s\"", spec);
    return status;
}

iso_status core_select(const char *call, const char *spec, core_choice *out)
{
    core_kept_error kept = core_error_keep();
    const char *source = "";
    char where[256];
    iso_status status;
    int count = 0;

    *out = (core_choice){0};
    if (!spec) {
        const char *set = core_variable("ISOMER_BACKEND");

        spec = set ? set : "auto";
        source = set ? "ISOMER_BACKEND: " : "";
        snprintf(where, sizeof where, "%s%s", call, set ? ": ISOMER_BACKEND" : "");
        call = where;
    }
    status = parse(call, spec, -1, NULL, &count);
    if (!status)
        core_text_add(&out->story, "%s", source);
    if (!status && !strcmp(spec, "auto"))
        status = open_auto(call, out);
    else if (!status && count > 1)
        status = open_list(call, spec, count, out);
    else if (!status)
        status = open_one(call, spec, out);
    if (!status && out->passed.length)
        core_text_add(&out->story, "; passed over:%s", core_text_get(&out->passed));
    core_text_free(&out->passed);
    if (status) {
        core_text_free(&out->story);
        free(kept.text);
        return status;
    }
    core_error_restore(&kept);
    return ISO_OK;
}
