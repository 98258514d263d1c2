/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - finds the devices that a command uses: --backend, --require and their variables. */
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

int tool_spec_list(const char *list, const char *from, tool_words *out)
{
    iso_spec entry = ISO_SPEC_INIT;
    iso_status status = ISO_NO_MEMORY;
    char *at;
    size_t room = strlen(list) + 1;
    *out = (tool_words){.text = tool_alloc(room, 1, "a list of devices"),
                        .items = tool_alloc(room, sizeof *out->items, "a list of devices")};
    at = out->text;
    while ((status = iso_spec_get(list, out->count, &entry)) == ISO_OK) {
        strcpy(at, entry.text); /* fits: in the list, a comma or a 0 follows the same text */
        out->items[out->count++] = at;
        at += strlen(at) + 1;
    }
    if (status == ISO_NOT_READY) {
        return TOOL_OK;
    }
    tool_words_free(out);
    return tool_error(tool_code(status), "%s \"%s\": %s%s", from, list, tool_reason(),
                      strcmp(list, "cpu") == 0 ? " (openmp is the CPU)" : "");
}

int tool_required(const char *list, const char *from, tool_words *out)
{
    *out = (tool_words){0};
    if (!list || list[0] == '\0') {
        return TOOL_OK;
    }
    int code = tool_spec_list(list, from, out);
    if (code == TOOL_OK && strcmp(out->items[0], "auto") == 0) {
        tool_words_free(out);
        code = tool_error(TOOL_USAGE, "%s \"%s\": auto is not a backend: name the required ones",
                          from, list);
    }
    return code;
}

/* Opens and closes each required device. It opens them by name, so that the files of other backends
 * are not opened. */
static int check_required(const char *list, const char *from)
{
    tool_words words;
    int code = tool_required(list, from, &words);
    for (int i = 0; i < words.count && code == TOOL_OK; i++) {
        iso_device device;
        iso_status status = iso_device_open(words.items[i], &device);
        if (status == ISO_OK) {
            iso_device_close(device);
        } else {
            code = tool_error(tool_code(status), "%s names %s, which is not available: %s", from,
                              words.items[i], tool_reason());
        }
    }
    tool_words_free(&words);
    return code;
}

static int every_device(char **text)
{
    int32_t count = 0;
    iso_entry *entries = tool_enumerate(&count);
    if (!entries) {
        return TOOL_INTERNAL;
    }
    *text = tool_alloc((size_t)count + 1, ISO_NAME_MAX + 1, "a list of devices");
    for (int32_t i = 0; i < count; i++) {
        if (entries[i].state == ISO_STATE_BROKEN) {
            tool_error(TOOL_OK, "%s is left out (broken): %s", entries[i].backend,
                       entries[i].reason);
        }
        if (entries[i].state != ISO_STATE_OK) {
            continue;
        }
        if ((*text)[0] != '\0') {
            strcat(*text, ",");
        }
        strcat(*text, entries[i].device.spec);
    }
    free(entries);
    if ((*text)[0] == '\0') {
        return tool_error(TOOL_NOTHING, "no backend has a device; `%s info` says why", tool_name);
    }
    return TOOL_OK;
}

bool tool_takes_all(const char *backend)
{
    if (!backend) {
        return !getenv("ISOMER_BACKEND");
    }
    return strcmp(backend, "all") == 0;
}

int tool_specs(const char *backend, const char *require, tool_words *out)
{
    *out = (tool_words){0};
    int code = check_required(require, "--require");
    if (code == TOOL_OK) {
        code = check_required(getenv("ISOMER_REQUIRE"), "ISOMER_REQUIRE");
    }
    if (code != TOOL_OK) {
        return code;
    }
    if (!backend && !tool_takes_all(backend)) {
        out->items = tool_alloc(1, sizeof *out->items, "a list of devices");
        out->count = 1; /* NULL: the device that the environment names */
        return TOOL_OK;
    }
    char *all = NULL;
    if (tool_takes_all(backend)) {
        code = every_device(&all);
    }
    if (code == TOOL_OK) {
        code = tool_spec_list(all ? all : backend, "--backend", out);
    }
    free(all);
    return code;
}
