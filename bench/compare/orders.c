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

/* The result of B for a result of A, or of A for one of B. If a device has several libraries, the
 * first of A belongs to the first of B, and so on. NULL: the other file lacks the case. */
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

/* What became of a case, in words; sets `*changed`. A file that lacks the case has NULL. */
static char *verdict(const compare_set *set, const json_t *a, const json_t *b, bool *changed)
{
    const json_t *lacks = is_known(a) ? b : a;
    *changed = is_known(a) && is_known(b) &&
               strcmp(record_text(a, "order.digest"), record_text(b, "order.digest")) != 0;
    if (!a || !b) {
        return record_format("not compared: %s lacks the case", a ? set->path_b : set->path_a);
    }
    if (!is_known(a) || !is_known(b)) {
        return record_format("not compared: %s has no order for it: %s",
                             lacks == a ? set->path_a : set->path_b, record_text(lacks, "reason"));
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

typedef struct tally {
    int32_t compared, changed, lost, added;
} tally;

/* Shows and counts a case of which a file has an order, or that only one file has. */
static void show_pair(const compare_set *set, const json_t *a, const json_t *b, tally *counts)
{
    const json_t *one = a ? a : b;
    const char *library = record_text(one, "library"), *library_b = record_text(b, "library");
    bool both = is_known(a) && is_known(b), other = both && strcmp(library, library_b) != 0;
    bool changed = false;
    if (a && b && !has_order(a) && !has_order(b)) {
        return;
    }
    char *text = verdict(set, a, b, &changed);
    char *line =
        record_format("%s %s, %s%s%s: %s", record_text(one, "device"), record_text(one, "id"),
                      library, other ? " -> " : "", other ? library_b : "", text);
    tool_wrap(stdout, 0, 2, line);
    counts->compared += both;
    counts->changed += changed;
    counts->lost += has_order(a) && !is_known(b);
    counts->added += has_order(b) && !is_known(a);
    free(text);
    free(line);
}

int compare_orders(const compare_set *set, bool files)
{
    tally counts = {0};
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
        show_pair(set, json_array_get(results_a, i), partner(results_a, i, results_b), &counts);
    }
    for (size_t i = 0; i < json_array_size(results_b); i++) {
        if (!partner(results_b, i, results_a)) {
            show_pair(set, NULL, json_array_get(results_b, i), &counts);
        }
    }
    printf("%d order%s compared, %d changed, %d lost, %d new\n", counts.compared,
           counts.compared == 1 ? "" : "s", counts.changed, counts.lost, counts.added);
    if (counts.compared == 0) {
        return tool_error(TOOL_NOTHING, "no case has an order in both files");
    }
    bool worse = counts.changed + counts.lost > 0;
    return worse && isfinite(set->rules.fail_on) ? TOOL_FAILED : TOOL_OK;
}
