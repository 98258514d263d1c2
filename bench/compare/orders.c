/* SPDX-License-Identifier: Apache-2.0 */
/* orders.c - `isomer compare` of two files of `isomer reveal`: which orders changed. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool compare_has_orders(const json_t *root)
{
    return strcmp(record_text(root, "run.command"), "reveal") == 0;
}

static bool same_case(const json_t *a, const json_t *b)
{
    return strcmp(record_text(a, "id"), record_text(b, "id")) == 0 &&
           strcmp(record_text(a, "device"), record_text(b, "device")) == 0;
}

/* The result of B for a result of A. If a device has several libraries, the first of A belongs to
 * the first of B, and so on. */
static const json_t *partner(const json_t *results_a, size_t at, const json_t *results_b)
{
    const json_t *a = json_array_get(results_a, at);
    size_t before = 0;
    for (size_t i = 0; i < at; i++) {
        before += same_case(json_array_get(results_a, i), a);
    }
    for (size_t i = 0; i < json_array_size(results_b); i++) {
        const json_t *b = json_array_get(results_b, i);
        if (same_case(a, b) && before-- == 0) {
            return b;
        }
    }
    return NULL;
}

static bool has_order(const json_t *result)
{
    return json_is_object(json_object_get(result, "order"));
}

/* Whether it is known how a case adds: in an order, or in none. */
static bool is_known(const json_t *result)
{
    return has_order(result) || strcmp(record_text(result, "status"), "failed") == 0;
}

static char *order_text(const json_t *result)
{
    return has_order(result) ? record_format("%s (%s)", record_text(result, "order.text"),
                                             record_text(result, "order.arithmetic"))
                             : record_format("no tree of additions");
}

/* What became of a case, in words; sets `*changed`. */
static char *verdict(const compare_set *set, const json_t *a, const json_t *b, bool *changed)
{
    const json_t *lacks = is_known(a) ? b : a;
    *changed = is_known(a) && is_known(b) &&
               strcmp(record_text(a, "order.digest"), record_text(b, "order.digest")) != 0;
    if (!is_known(a) || !is_known(b)) {
        return record_format("not compared: %s has no order for it: %s",
                             lacks == a ? set->path_a : set->path_b,
                             lacks ? record_text(lacks, "reason") : "it lacks the case");
    }
    if (!*changed) {
        return record_format("same order: %s", record_text(a, "order.text"));
    }
    char *was = order_text(a), *is = order_text(b);
    char *text = record_format("the order changed: was %s, is %s", was, is);
    free(was);
    free(is);
    return text;
}

/* Shows a case of which a file has an order. Returns whether both sides are known. */
static bool show_pair(const compare_set *set, const json_t *a, const json_t *b, bool *changed)
{
    const char *library_a = record_text(a, "library"), *library_b = record_text(b, "library");
    bool both = is_known(a) && is_known(b), other = both && strcmp(library_a, library_b) != 0;
    char *text = verdict(set, a, b, changed);
    char *line = record_format("%s %s, %s%s%s: %s", record_text(a, "device"), record_text(a, "id"),
                               library_a, other ? " -> " : "", other ? library_b : "", text);
    tool_wrap(stdout, 0, 2, line);
    free(text);
    free(line);
    return both;
}

int compare_orders(const compare_set *set, bool files)
{
    int32_t compared = 0, changes = 0, lost = 0;
    if (!set->b) {
        return tool_error(TOOL_USAGE, "orders are compared between two files of `isomer reveal`");
    }
    if (!compare_has_orders(set->a) || !compare_has_orders(set->b)) {
        return tool_error(TOOL_FILES,
                          "%s was written by `isomer reveal`, which measures no times, and %s was "
                          "not: compare two such files",
                          compare_has_orders(set->a) ? set->path_a : set->path_b,
                          compare_has_orders(set->a) ? set->path_b : set->path_a);
    }
    if (files) {
        return tool_error(TOOL_USAGE, "a comparison of orders is only printed: it has no --json "
                                      "and no --csv");
    }
    const json_t *results_a = json_object_get(set->a, "results");
    const json_t *results_b = json_object_get(set->b, "results");
    for (size_t i = 0; i < json_array_size(results_a); i++) {
        const json_t *a = json_array_get(results_a, i), *b = partner(results_a, i, results_b);
        bool changed = false;
        if (has_order(a) || has_order(b)) {
            compared += show_pair(set, a, b, &changed);
            changes += changed;
            lost += has_order(a) && !is_known(b);
        }
    }
    printf("%d order%s compared, %d changed, %d lost\n", compared, compared == 1 ? "" : "s",
           changes, lost);
    if (compared == 0) {
        return tool_error(TOOL_NOTHING, "no case has an order in both files");
    }
    return changes + lost > 0 && isfinite(set->rules.fail_on) ? TOOL_FAILED : TOOL_OK;
}
