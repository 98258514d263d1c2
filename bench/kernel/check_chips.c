/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_chips.c - compiles the text for every chip that the compilers at hand know. A vendor's
 * compiler may end the process, or disturb another one in it, so this tool runs again in a child
 * for each backend, which writes its part of the report as JSON.
 */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

const char check_chips[] = "chips";

enum { SECONDS_EACH = 10 }; /* limits of a run: there are some ten chips */

/* ---- the child ------------------------------------------------------------------------------- */

void check_run_try(check_run *run)
{
    char chip[ISO_NAME_MAX];
    iso_status status = ISO_OK;
    int32_t count = 0;
    for (; !status && !tool_stop_asked(); count += !status) {
        status = iso_chip_get(run->backend, count, chip, (int64_t)sizeof chip);
        if (!status) {
            char *subject = check_text("%s:%s", run->backend, chip);
            const iso_status tried = iso_program_try(run->backend, chip, &run->unit->args);
            (void)check_compiled(run, check_chips, subject, tried, tried ? tool_reason() : "");
            free(subject);
        }
    }
    if (status != ISO_NOT_READY || !count) {
        const char *why = status == ISO_NOT_READY ? "its compiler knows no chip" : tool_reason();
        check_say(run, check_chips, run->backend, CHECK_MISSING, "%.*s", (int)strcspn(why, ";"),
                  why);
    }
}

/* ---- the parent ------------------------------------------------------------------------------ */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void take_findings(check_run *run, const json_t *root)
{
    static const char mark[] = " for ";
    const json_t *list = json_object_get(root, "findings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *at = json_array_get(list, i);
        const int line = (int)json_integer_value(json_object_get(at, "line"));
        const char *subject = strstr(text_of(at, "what"), mark), *also = text_of(at, "also");
        if (subject) {
            check_mistake(run, subject + sizeof mark - 1, line, text_of(at, "details"));
        }
        if (subject && also[0]) { /* these are no compilers of C, or the subject is one too */
            check_mistake(run, also, line, "");
        }
    }
}

/* Chips with the same verdict and text are one row. */
static void take_rows(check_run *run, const char *backend, const json_t *root)
{
    const json_t *list = json_object_get(root, "checks");
    for (size_t i = 0; i < json_array_size(list);) {
        const json_t *first = json_array_get(list, i);
        const char *verdict = text_of(first, "verdict"), *text = text_of(first, "text");
        char *chips = strdup("");
        int count = 0;
        for (; i < json_array_size(list); i++) {
            const json_t *at = json_array_get(list, i);
            const char *chip = strchr(text_of(at, "of"), ':');
            if (strcmp(text_of(at, "verdict"), verdict) != 0 ||
                strcmp(text_of(at, "text"), text) != 0) {
                break;
            }
            char *more = check_text("%s%s%s", chips, count++ ? " " : "", chip ? chip + 1 : "");
            free(chips);
            chips = more;
        }
        check_say(run, check_chips, backend, check_verdict_of(verdict), "%s%s%s", chips,
                  chips[0] && text[0] ? ": " : "", text);
        free(chips);
    }
}

static void run_backend(check_run *run, const char *backend)
{
    char *path = check_path(run, "chips.json");
    const char *const words[] = {"--only", "try", "--backend", backend, "--json", path, NULL};
    check_child child;
    json_t *root = NULL;
    (void)remove(path);
    (void)check_again(run, NULL, words, SECONDS_EACH * (double)run->limit, &child);
    root = json_load_file(path, 0, NULL);
    if (root) {
        take_rows(run, backend, root);
        take_findings(run, root);
    } else {
        char *why = check_child_problem(&child, "its compiler, in a child process,");
        check_say(run, check_chips, backend, CHECK_MISSING, "%s", why);
        free(why);
    }
    json_decref(root);
    check_child_free(&child);
    free(path);
}

void check_run_chips(check_run *run)
{
    static const char *const backends[] = {"cuda", "hip", "openmp"};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && !tool_stop_asked(); i++) {
        if (!run->backend || tool_words_have(&run->backends, backends[i])) {
            run_backend(run, backends[i]);
        }
    }
}
