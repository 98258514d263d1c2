/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - reads and checks a results file. */
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

/* Reports why a file is not JSON. */
static void report_broken(const char *name, const json_error_t *error, const char *text,
                          size_t length)
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
                   "create or copy it again",
                   name, error->line, error->column);
    } else {
        tool_error(TOOL_FILES, "%s is not JSON: line %d, column %d: %s", name, error->line,
                   error->column, reason);
    }
}

static json_t *parse(char *text, size_t length, json_error_t *error)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *root = json_loadb(text, length, flags, error);
    if (!root && memmem(text, length, "\"benchmarks\"", 12) &&
        record_google_numbers(text, length)) {
        root = json_loadb(text, length, flags, error);
    }
    return root;
}

json_t *record_load(const char *path, int *code)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    json_error_t error;
    json_t *root = NULL;
    size_t length = 0;
    char *text = tool_read(path, RECORD_MOST_MIB, &length), problem[160];
    if (!text) {
        tool_read_problem(RECORD_MOST_MIB, problem, sizeof problem);
        *code = tool_error(TOOL_IO, "cannot read %s: %s", name, problem);
        return NULL;
    }
    if (length == 0) {
        tool_error(TOOL_FILES, "%s is empty: it has no results", name);
    } else if (!(root = parse(text, length, &error))) {
        report_broken(name, &error, text, length);
    }
    free(text);
    bool foreign = record_is_google(root);
    char *wrong = foreign ? record_google_fault(root) : NULL;
    if (foreign && !wrong) {
        json_t *made = record_from_google(root);
        json_decref(root);
        root = made;
    }
    wrong = root && !wrong ? record_fault(root) : wrong;
    if (wrong) {
        tool_error(TOOL_FILES, "%s cannot be used: %s", name, wrong);
        json_decref(root);
        root = NULL;
    }
    free(wrong);
    *code = root ? TOOL_OK : TOOL_FILES;
    return root;
}
