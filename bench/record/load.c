/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - a results file, read and checked. */
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

static json_t *failed(int *code, int which)
{
    *code = which;
    return NULL;
}

static char *read_path(const char *path, const char *name, size_t *length)
{
    char problem[160];
    char *text = tool_read(path, RECORD_MOST_MIB, length);
    if (!text) {
        tool_error(TOOL_IO, "cannot read %s: %s", name,
                   tool_read_problem(RECORD_MOST_MIB, problem, sizeof problem));
    }
    return text;
}

/* Says why it is no JSON. */
static void say_broken(const char *name, const json_error_t *error, const char *text, size_t length)
{
    size_t begin = 0;
    char reason[JSON_ERROR_TEXT_LENGTH];
    snprintf(reason, sizeof reason, "%s", error->text);
    for (char *c = reason; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = ' ';
        }
    }
    while (begin < length && strchr(" \t\r\n", text[begin]) && text[begin] != '\0') {
        begin++;
    }
    enum json_error_code what = json_error_code(error);
    bool ended = what == json_error_premature_end_of_input ||
                 ((size_t)error->position >= length && what != json_error_end_of_input_expected);
    if (text[begin] == '{' && ended) {
        tool_error(TOOL_FILES,
                   "%s is truncated: it ends in the middle of JSON, at line %d, column %d; "
                   "make it or copy it again",
                   name, error->line, error->column);
    } else {
        tool_error(TOOL_FILES, "%s is no JSON: line %d, column %d: %s", name, error->line,
                   error->column, reason);
    }
}

json_t *record_load(const char *path, int *code)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    json_error_t error;
    size_t length = 0;
    char *text = read_path(path, name, &length);
    *code = TOOL_OK;
    if (!text) {
        return failed(code, TOOL_IO);
    }
    if (length == 0) {
        free(text);
        return failed(code, tool_error(TOOL_FILES, "%s is empty: no results are in it", name));
    }
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root) {
        say_broken(name, &error, text, length);
    }
    free(text);
    if (!root) {
        return failed(code, TOOL_FILES);
    }
    char *wrong = record_fault(root);
    if (!wrong) {
        return root;
    }
    json_decref(root);
    tool_error(TOOL_FILES, "%s cannot be used: %s", name, wrong);
    free(wrong);
    return failed(code, TOOL_FILES);
}
