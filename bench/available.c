/* SPDX-License-Identifier: Apache-2.0 */
/* available.c - `isomer info --available`: shows whether a device is available and whether it is
 * required. */
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

/* Whether an entry of the list names the spec's backend and device. If either names no device, the
 * backend is enough. */
static bool names(const tool_words *list, const iso_spec *spec)
{
    for (int i = 0; i < list->count; i++) {
        iso_spec entry = ISO_SPEC_INIT;
        if (iso_spec_get(list->items[i], 0, &entry) == ISO_OK &&
            strcmp(entry.backend, spec->backend) == 0 &&
            (entry.device[0] == '\0' || spec->device[0] == '\0' ||
             strcmp(entry.device, spec->device) == 0)) {
            return true;
        }
    }
    return false;
}

static int read_spec(const char *text, iso_spec *spec)
{
    tool_words words;
    int code = tool_spec_list(text, "--available", &words);
    if (code != TOOL_OK) {
        return code;
    }
    iso_status status = iso_spec_get(words.items[0], 0, spec);
    if (status != ISO_OK) {
        code = tool_error(tool_code(status), "%s", tool_reason());
    } else if (words.count != 1 || strcmp(spec->backend, "auto") == 0) {
        code = tool_error(TOOL_USAGE, "--available takes one backend or device, not \"%s\"", text);
    }
    tool_words_free(&words);
    return code;
}

/* Sets *required: whether --require or ISOMER_REQUIRE names the spec. Both lists are checked as a
 * whole first, so that an unknown backend in either is an error, even if the spec is not found. */
static int is_required(const char *require, const iso_spec *spec, bool *required)
{
    tool_words given, set = {0};
    int code = tool_required(require, "--require", &given);
    if (code == TOOL_OK) {
        code = tool_required(getenv("ISOMER_REQUIRE"), "ISOMER_REQUIRE", &set);
    }
    *required = names(&given, spec) || names(&set, spec);
    tool_words_free(&given);
    tool_words_free(&set);
    return code;
}

/* Whether the backend opens and only the device is missing. A missing device counts as unavailable,
 * as a missing backend does. An invalid setting stays an error. */
static bool lacks_device(const iso_spec *spec)
{
    iso_device device;
    if (spec->device[0] == '\0' || iso_device_open(spec->backend, &device) != ISO_OK) {
        return false;
    }
    iso_device_close(device);
    return true;
}

int tool_available(const char *text, const char *require)
{
    iso_spec spec = ISO_SPEC_INIT;
    iso_device device;
    char reason[2 * ISO_REASON_MAX];
    bool required;
    int code = read_spec(text, &spec);
    if (code == TOOL_OK) {
        code = is_required(require, &spec, &required);
    }
    if (code != TOOL_OK) {
        return code;
    }
    iso_status status = iso_device_open(spec.text, &device);
    if (status == ISO_OK) {
        iso_device_close(device);
        puts(required ? "required" : "optional");
        return TOOL_OK;
    }
    snprintf(reason, sizeof reason, "%s", tool_reason());
    code = tool_code(status);
    if (code == TOOL_USAGE && lacks_device(&spec)) {
        code = TOOL_UNAVAILABLE;
    }
    if (code == TOOL_UNAVAILABLE && !required) {
        code = TOOL_SKIP;
    }
    return tool_error(code, "%s", reason);
}
