/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - which devices a command takes: --backend, --require and their variables. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* What must be there is opened and closed again, by itself: that opens no other backend's files. */
static int check_required(const char *list, const char *from)
{
    tool_words words;
    int code = TOOL_OK;
    if (!tool_split(list, &words))
        return tool_error(TOOL_INTERNAL, "no memory");
    for (int i = 0; i < words.count && code == TOOL_OK; i++) {
        iso_device device;
        iso_status status = iso_device_open(words.items[i], &device);
        if (status == ISO_OK)
            iso_device_close(device);
        else
            code = tool_error(tool_code(status), "%s names %s, which is not available: %s", from,
                              words.items[i], iso_last_error());
    }
    tool_words_free(&words);
    return code;
}

static int every_device(char **text)
{
    int32_t count = 0;
    iso_entry *entries = tool_enumerate(&count);
    if (entries == NULL)
        return TOOL_INTERNAL;
    *text = calloc((size_t)count + 1, ISO_NAME_MAX + 1);
    for (int32_t i = 0; *text != NULL && i < count; i++) {
        if (entries[i].state == ISO_STATE_BROKEN)
            tool_error(TOOL_OK, "%s is left out (broken): %s", entries[i].backend,
                       entries[i].reason);
        if (entries[i].state != ISO_STATE_OK)
            continue;
        if ((*text)[0] != '\0')
            strcat(*text, ",");
        strcat(*text, entries[i].device.spec);
    }
    free(entries);
    if (*text == NULL)
        return tool_error(TOOL_INTERNAL, "no memory");
    if ((*text)[0] == '\0')
        return tool_error(TOOL_NOTHING, "no backend has a device; `%s info` says why", tool_name);
    return TOOL_OK;
}

bool tool_takes_all(const char *backend)
{
    if (backend == NULL)
        return getenv("ISOMER_BACKEND") == NULL;
    return strcmp(backend, "all") == 0;
}

int tool_specs(const char *backend, const char *require, tool_words *out)
{
    *out = (tool_words){0};
    int code = check_required(require, "--require");
    if (code == TOOL_OK)
        code = check_required(getenv("ISOMER_REQUIRE"), "ISOMER_REQUIRE");
    if (code != TOOL_OK)
        return code;
    char *all = NULL;
    if (tool_takes_all(backend))
        code = every_device(&all);
    else if (backend == NULL)
        all = strdup("-"); /* a place for the one that the environment names */
    const char *list = all != NULL ? all : backend;
    if (code == TOOL_OK && (list == NULL || !tool_split(list, out)))
        code = tool_error(TOOL_INTERNAL, "no memory");
    if (code == TOOL_OK && out->count == 0)
        code = tool_error(TOOL_USAGE, "--backend \"%s\" names no backend", backend);
    if (code == TOOL_OK && backend == NULL && !tool_takes_all(backend))
        out->items[0] = NULL;
    free(all);
    return code;
}
