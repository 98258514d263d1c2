/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - reads what another program measured of the same rows, such as bench/peers/labs.py. */
#include "bench/labs/internal.h"

#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA "isomer-labs-peers/1"

enum { MOST_MIB = 64 };

int lab_beside(const char *path, json_t *entries)
{
    size_t length, at;
    char problem[256];
    json_error_t error;
    json_t *entry;
    char *text = tool_read(path, MOST_MIB, &length);
    if (!text) {
        return tool_error(TOOL_IO, "--beside %s: %s", path,
                          tool_read_problem(MOST_MIB, problem, sizeof problem));
    }
    json_t *root = json_loadb(text, length, 0, &error);
    free(text);
    int code = TOOL_OK;
    if (!root) {
        code = tool_error(TOOL_FILES, "--beside %s: line %d: %s", path, error.line, error.text);
    } else if (strcmp(record_text(root, "schema"), SCHEMA) != 0) {
        code =
            tool_error(TOOL_FILES, "--beside %s: its schema is \"%s\" but must be \"" SCHEMA "\"",
                       path, record_text(root, "schema"));
    }
    char *fault = code == TOOL_OK ? record_labs_fault(root) : NULL;
    if (fault) {
        code = tool_error(TOOL_FILES, "--beside %s: %s", path, fault);
    }
    json_array_foreach(json_object_get(root, "labs"), at, entry)
    {
        if (code == TOOL_OK) {
            json_array_append(entries, entry);
        }
    }
    free(fault);
    json_decref(root);
    return code;
}
