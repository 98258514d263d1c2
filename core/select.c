/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - opens the device that a spec names, or reports why it cannot. */
#include "core/device.h"
#include "core/settings.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One entry of a spec: name[:rest]. */
typedef struct item {
    char name[ISO_NAME_MAX];
    const char *rest;        /* what follows the colon; NULL without a colon */
    char text[ISO_SPEC_MAX]; /* the whole entry */
} item;

/* Lists the known names, and finds the one nearest to an unknown name. NO_MEMORY if they cannot be
 * listed. */
static iso_status list_names(const char *call, core_text *into, const char *unknown, char *nearest,
                             size_t room)
{
    int count = 0, best = core_edit_distance(unknown, "auto");
    core_backend **list = core_backend_list(&count);

    if (!list) {
        return core_fail(ISO_NO_MEMORY, "%s: no host memory for the list of backends", call);
    }
    core_text_add(into, "auto");
    snprintf(nearest, room, "%s", best <= 1 ? "auto" : "");
    best = best <= 1 ? best : INT_MAX;
    for (int i = 0; i < count; i++) {
        int distance, allowed;

        /* A plug-in's file may have any name. A name that no spec can contain is left out here;
         * iso_enumerate lists it. */
        if (!core_name_valid(list[i]->name)) {
            continue;
        }
        distance = core_edit_distance(unknown, list[i]->name);
        allowed = (int)strlen(list[i]->name) / 2;

        core_text_add(into, ", %s", list[i]->name);
        if (distance < best && distance <= (allowed < 3 ? allowed : 3)) {
            best = distance;
            snprintf(nearest, room, "%s", list[i]->name);
        }
    }
    free(list);
    return ISO_OK;
}

static iso_status unknown_name(const char *call, const char *name)
{
    const char *path = core_setting("ISOMER_BACKEND_PATH");
    char nearest[ISO_NAME_MAX], ignored[1024] = "";
    core_text names = {0};
    iso_status status = list_names(call, &names, name, nearest, sizeof nearest);

    core_plugin_path_problem(path ? path : "", ignored, sizeof ignored);
    if (!status) {
        status = core_text_check(call, &names);
    }
    if (!status) {
        status = core_fail(
            ISO_INVALID,
            "%s: \"%s\" is not a known backend%s%s%s The known ones are %s; plug-ins "
            "are searched for in the folders of ISOMER_BACKEND_PATH and in %s%s%s",
            call, name, nearest[0] ? ": did you mean \"" : "", nearest, nearest[0] ? "\"?" : ".",
            core_text_get(&names), core_place(), ignored[0] ? "; " : "", ignored);
    }
    core_text_free(&names);
    return status;
}

static const char blanks[] = " \t\r\n";

/* Rejects a list whose names are separated by blanks: only its first name would be used. Text after
 * a colon may contain blanks, so it is rejected only if a backend's name follows one. */
static iso_status check_blanks(const char *call, const item *what)
{
    const char *at = what->rest;
    core_backend *other = NULL;
    iso_status status = ISO_OK;

    if (what->name[strcspn(what->name, blanks)]) {
        return core_fail(ISO_INVALID,
                         "%s: \"%s\" has a blank in its name: separate names by commas "
                         "(\"cuda,openmp\")",
                         call, what->text);
    }
    while (at && !status && !other && at[strcspn(at, blanks)]) {
        char word[ISO_NAME_MAX];
        size_t length;

        at += strcspn(at, blanks);
        at += strspn(at, blanks);
        length = strcspn(at, " \t\r\n:");
        if (length < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            status = core_backend_find(call, word, &other);
        }
    }
    if (!status && other) {
        status =
            core_fail(ISO_INVALID, "%s: \"%s\" names %s after a blank: separate names by commas",
                      call, what->text, other->name);
    }
    return status;
}

static iso_status check_item(const char *call, const item *what, bool alone)
{
    core_backend *backend = NULL;
    iso_status status = check_blanks(call, what);

    if (!status && !strcasecmp(what->name, "auto") && (what->rest || !alone)) {
        status = core_fail(
            ISO_INVALID,
            "%s: \"%s\": auto must stand alone: it takes no device and cannot be part of a list",
            call, what->text);
    }
    if (!status && what->rest && !what->rest[0]) {
        status =
            core_fail(ISO_INVALID,
                      "%s: \"%s\" has nothing after the colon: use %s:0, %s:uuid=TEXT, or a part "
                      "of the device's name",
                      call, what->text, what->name, what->name);
    }
    if (status || !strcmp(what->name, "auto")) {
        return status;
    }
    status = core_backend_find(call, what->name, &backend);
    return status || backend ? status : unknown_name(call, what->name);
}

/* Parses one entry, without the blanks around it. */
static iso_status parse_item(const char *call, const char *text, size_t length, bool alone,
                             item *out)
{
    size_t before = strspn(text, blanks);
    const char *colon;

    before = before < length ? before : length;
    text += before;
    length -= before;
    while (length && strchr(blanks, text[length - 1])) {
        length--;
    }
    if (length >= sizeof out->text) {
        return core_fail(ISO_INVALID, "%s: a spec of %zu characters is too long: at most %zu", call,
                         length, sizeof out->text - 1);
    }
    *out = (item){0};
    memcpy(out->text, text, length);
    colon = strchr(out->text, ':');
    out->rest = colon ? colon + 1 : NULL;
    length = colon ? (size_t)(colon - out->text) : length;
    if (!length) {
        return core_fail(
            ISO_INVALID,
            "%s: the spec has an empty name: name a backend (\"openmp\", \"openmp:0\"), "
            "a list of them, or auto",
            call);
    }
    if (length >= sizeof out->name) {
        return core_fail(ISO_INVALID, "%s: \"%s\" has a name of %zu characters: at most %d", call,
                         out->text, length, ISO_NAME_MAX - 1);
    }
    memcpy(out->name, out->text, length);
    return check_item(call, out, alone);
}

/* Parses and counts all entries of the spec. If `out` is set, it gets the index-th entry. */
static iso_status parse(const char *call, const char *spec, int index, item *out, int *count)
{
    iso_status status = ISO_OK;
    bool alone = !strchr(spec, ',');
    item scratch;

    *count = 0;
    if (!spec[0]) {
        return core_fail(ISO_INVALID,
                         "%s: the spec is empty: name a backend (\"openmp\", \"openmp:0\"), a list "
                         "of them, or auto",
                         call);
    }
    for (const char *at = spec; at && !status; (*count)++) {
        const char *comma = strchr(at, ',');
        size_t length = comma ? (size_t)(comma - at) : strlen(at);

        status = parse_item(call, at, length, alone, out && *count == index ? out : &scratch);
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

iso_status iso_spec_get(const char *list, int32_t index, iso_spec *out)
{
    const char *call = "iso_spec_get";
    iso_spec answer = ISO_SPEC_INIT;
    item what = {0};
    iso_status status = core_struct_check(call, "out", out, CORE_END_OF(iso_spec, device));
    int count;

    if (!status && !list) {
        status = core_fail(ISO_INVALID, "%s: list is NULL: pass a list of specs", call);
    }
    if (!status) {
        status = core_check_size(call, "index", index);
    }
    if (!status) {
        status = parse(call, list, index, &what, &count);
    }
    if (status) {
        return status;
    }
    if (index >= count) {
        return ISO_NOT_READY;
    }
    snprintf(answer.text, sizeof answer.text, "%s", what.text);
    snprintf(answer.backend, sizeof answer.backend, "%s", what.name);
    snprintf(answer.device, sizeof answer.device, "%s", what.rest ? what.rest : "");
    core_struct_write(out, &answer, sizeof answer);
    return ISO_OK;
}

void core_require_problem(const char *list, char *problem, size_t room)
{
    core_kept_error kept = core_error_keep();
    int count;
    item what = {0};

    if (parse("ISOMER_REQUIRE", list, 0, &what, &count)) {
        snprintf(problem, room, "%s", iso_last_error());
    } else if (!strcmp(what.name, "auto")) {
        snprintf(problem, room, "auto is not a backend: name the backends that must be present");
    }
    core_error_restore(&kept);
}

void core_spec_problem(const char *spec, char *problem, size_t room)
{
    core_kept_error kept = core_error_keep();
    int count;

    if (parse("ISOMER_BACKEND", spec, -1, NULL, &count)) {
        snprintf(problem, room, "%s", iso_last_error());
    }
    core_error_restore(&kept);
}

/* ---- which of a backend's devices ------------------------------------------------------------ */

static iso_status list_devices(core_text *into, const char *call, core_backend *backend,
                               int32_t devices)
{
    iso_device_info info;
    iso_status status = ISO_OK;

    for (int32_t i = 0; i < devices && status != ISO_NO_MEMORY; i++) {
        status = core_backend_device_info(call, backend, i, &info);
        if (!status) {
            core_text_add(into, "%s%s (%s%s%s)", i ? ", " : "", info.spec, info.name,
                          info.uuid[0] ? ", uuid " : "", info.uuid);
        }
    }
    return status == ISO_NO_MEMORY ? status : core_text_check(call, into);
}

static iso_status no_match(const char *call, const item *what, core_backend *backend,
                           int32_t devices, const char *why)
{
    core_text text = {0};
    iso_status status = list_devices(&text, call, backend, devices);

    if (!status) {
        status = core_fail(ISO_INVALID, "%s: \"%s\" %s: its devices are %s", call, what->text, why,
                           core_text_get(&text));
    }
    core_text_free(&text);
    return status;
}

static bool matches(const iso_device_info *info, const char *rest)
{
    if (!strncmp(rest, "uuid=", 5)) {
        return info->uuid[0] && !strcasecmp(info->uuid, rest + 5);
    }
    return strcasestr(info->name, rest) != NULL;
}

/* Finds the device that `rest` names. */
static iso_status pick_named(const char *call, const item *what, core_backend *backend,
                             int32_t devices, int32_t *index)
{
    int32_t found = 0;

    if (!what->rest[strspn(what->rest, "0123456789")]) {
        long number = strlen(what->rest) > 9 ? LONG_MAX : strtol(what->rest, NULL, 10);

        if (number >= devices) {
            return no_match(call, what, backend, devices, "has an index past the last device");
        }
        *index = (int32_t)number;
        return ISO_OK;
    }
    for (int32_t i = 0; i < devices; i++) {
        iso_device_info info;
        iso_status status = core_backend_device_info(call, backend, i, &info);

        if (status == ISO_NO_MEMORY) {
            return status;
        }
        if (!status && matches(&info, what->rest)) {
            if (!found++) {
                *index = i;
            }
        }
    }
    if (!found) {
        return no_match(call, what, backend, devices, "matches no device");
    }
    if (found > 1) {
        return no_match(call, what, backend, devices,
                        "matches more than one device: use an index or a uuid");
    }
    return ISO_OK;
}

/* Sets *fits if the device may be used when the spec names none. With `cpus`, only CPUs fit;
 * without it, only devices that are not CPUs fit. If the device is broken, `passed` gets the
 * reason. NO_MEMORY if there was too little memory to find out. */
static iso_status judge_first(const char *call, core_backend *backend, int32_t index, bool cpus,
                              core_text *passed, bool *fits)
{
    iso_device_info info;
    iso_status status = core_backend_device_info(call, backend, index, &info);

    *fits = false;
    if (status == ISO_NO_MEMORY || (status || info.type == ISO_DEVICE_CPU) != cpus) {
        return status == ISO_NO_MEMORY ? status : ISO_OK;
    }
    status = core_backend_device_usable(call, backend, index);
    if (status == ISO_NO_MEMORY) {
        return status;
    }
    if (status) {
        core_text_add(passed, "\n  %s", core_reason(call));
    }
    *fits = !status;
    return ISO_OK;
}

/* Finds the first usable device that is not a CPU, else the first usable CPU. With `no_cpu` it
 * finds no CPU. Sets *index to -1 if there is none. */
static iso_status pick_first(const char *call, core_backend *backend, int32_t devices, bool no_cpu,
                             int32_t *index, core_text *passed)
{
    for (int cpus = 0; cpus < (no_cpu ? 1 : 2); cpus++) {
        for (*index = 0; *index < devices; ++*index) {
            bool fits;
            iso_status status = judge_first(call, backend, *index, cpus, passed, &fits);

            if (status || fits) {
                return status;
            }
        }
    }
    *index = -1;
    return ISO_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static iso_status no_first(const char *call, const core_backend *backend, const core_text *passed)
{
    if (passed->failed) {
        return core_text_check(call, passed);
    }
    if (passed->length) {
        return core_fail(ISO_UNAVAILABLE, "%s: %s has no device that can be used:%s", call,
                         backend->name, core_text_get(passed));
    }
    return core_fail(
        ISO_UNAVAILABLE,
        "%s: %s has only CPU devices, and auto uses a CPU only through the last of its "
        "backends: name %s to use one",
        call, backend->name, backend->name);
}

/* Finds the device that one entry names. With `no_cpu` a backend that has only CPUs is skipped. */
static iso_status pick(const char *call, const item *what, core_backend *backend, bool no_cpu,
                       int32_t *index, core_text *passed)
{
    int32_t devices = 0;
    iso_status status = core_backend_ready(call, backend, &devices);

    *index = 0;
    if (status) {
        return status;
    }
    if (what && what->rest) {
        status = pick_named(call, what, backend, devices, index);
        return status ? status : core_backend_device_usable(call, backend, *index);
    }
    status = pick_first(call, backend, devices, no_cpu, index, passed);
    return !status && *index < 0 ? no_first(call, backend, passed) : status;
}

/* Opens the device of one entry. Sets *over if no later entry may be tried: it would hide an
 * invalid setting or a lack of memory. */
static iso_status open_item(const char *call, const item *what, core_backend *backend, bool no_cpu,
                            core_choice *out, bool *over)
{
    int32_t index;
    iso_status status = pick(call, what, backend, no_cpu, &index, &out->passed);

    *over = status == ISO_NO_MEMORY;
    if (status) {
        core_text_free(&out->passed); /* the error text already has these reasons */
        return status;
    }
    status = core_physical_open(call, backend, index, &out->physical);
    *over = status == ISO_INVALID;
    return status;
}

/* Looks the backend up again: a plug-in's file may have been removed since. */
static iso_status open_named(const char *call, const item *what, core_choice *out, bool *over)
{
    core_backend *backend = NULL;
    iso_status status = core_backend_find(call, what->name, &backend);

    if (!status && backend) {
        return open_item(call, what, backend, false, out, over);
    }
    *over = status == ISO_NO_MEMORY;
    return status ? status : unknown_name(call, what->name);
}

/* Called if there is no memory for the text that explains the choice. Closes the device if it was
 * opened, and returns `reason`. */
static iso_status drop_choice(iso_status opened, core_choice *out, iso_status reason)
{
    if (!opened) {
        core_physical_close(out->physical);
    }
    return reason;
}

/* Opens the i-th entry of a list. Without a list, opens the i-th built-in backend by the rules of
 * `auto`. */
static iso_status open_entry(const char *call, const char *list, int i, core_choice *out,
                             bool *over)
{
    iso_status status;
    int parsed;
    item what;

    if (!list) {
        core_backend *backend = core_backend_builtin(i);

        return open_item(call, NULL, backend, !backend->is_last, out, over);
    }
    status = parse(call, list, i, &what, &parsed);
    *over = status == ISO_NO_MEMORY;
    return status ? status : open_named(call, &what, out, over);
}

/* Opens the first entry of a list that can be opened or, without a list, the first device that
 * `auto` takes. */
static iso_status open_first(const char *call, const char *list, int count, core_choice *out)
{
    iso_status status = ISO_UNAVAILABLE;
    core_text reasons = {0};
    bool over = false, short_of = false;

    for (int i = 0; i < count && status && !over; i++) {
        status = open_entry(call, list, i, out, &over);
        short_of |= status == ISO_NO_MEMORY;
        if (status) {
            core_text_add(&reasons, "\n  %s", core_reason(call));
        }
    }
    if (!over && reasons.failed) {
        status = drop_choice(status, out, core_text_check(call, &reasons));
    } else if (status && !over) {
        status = core_fail(short_of ? ISO_NO_MEMORY : ISO_UNAVAILABLE, "%s: %s%s%s:%s", call,
                           list ? "none of \"" : "auto found no device", list ? list : "",
                           list ? "\" could be opened" : "", core_text_get(&reasons));
    } else if (!status) {
        core_text_add(&out->story, "%s%s%s%s%s",
                      list ? "the first of \"" : "auto: the first with a device", list ? list : "",
                      list ? "\" that opens" : "", reasons.length ? "; not used:" : "",
                      core_text_get(&reasons));
    }
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
    if (!status) {
        status = open_named(call, &what, out, &over);
    }
    if (!status) {
        core_text_add(&out->story, "named by \"%s\"", spec);
    }
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
    if (!status) {
        core_text_add(&out->story, "%s", source);
    }
    if (!status && !strcmp(spec, "auto")) {
        for (count = 0; core_builtins[count].name; count++)
            ;
        status = open_first(call, NULL, count, out);
    } else if (!status && count > 1) {
        status = open_first(call, spec, count, out);
    } else if (!status) {
        status = open_one(call, spec, out);
    }
    if (!status && out->passed.length) {
        core_text_add(&out->story, "; passed over:%s", core_text_get(&out->passed));
    }
    if (!status && (out->story.failed || out->passed.failed)) {
        out->story.failed = true;
        status = drop_choice(status, out, core_text_check(call, &out->story));
    }
    core_text_free(&out->passed);
    if (status) {
        core_text_free(&out->story);
        free(kept.text);
        return status;
    }
    core_error_restore(&kept);
    return ISO_OK;
}
