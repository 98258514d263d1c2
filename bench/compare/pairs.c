/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - the pairs that a file of `bench --against` holds. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const json_t *result_of(const json_t *root, const json_t *pair)
{
    static const char *const keys[] = {"id", "device", "library"};
    const json_t *result;
    size_t at;
    json_array_foreach(json_object_get(root, "results"), at, result)
    {
        bool same = true;
        for (int i = 0; i < 3 && same; i++) {
            same = strcmp(record_text(result, keys[i]), record_text(pair, keys[i])) == 0;
        }
        if (same) {
            return result;
        }
    }
    return NULL;
}

/* The ratios are judged again: the caller's least effect need not be the one of that run. */
static bool judge_ratios(const compare_set *set, const json_t *ratios, compare_row *row)
{
    int32_t n = (int32_t)json_array_size(ratios);
    double *one = calloc((size_t)n + 1, sizeof *one), *ratio = calloc((size_t)n + 1, sizeof *ratio);
    bool good = one && ratio;
    for (int32_t i = 0; i < n && good; i++) {
        one[i] = 1;
        ratio[i] = json_number_value(json_array_get(ratios, (size_t)i));
    }
    if (good && n > 0) {
        row->judged = true;
        row->c = stats_compare_pairs(one, ratio, n, set->rules.least_effect, set->rules.alpha);
    }
    free(one);
    free(ratio);
    return good;
}

/* A number of pairs; -1: files of before such numbers have none. */
static int32_t count_of(const json_t *pair, const char *key)
{
    double value = record_number(pair, key);
    return value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

/* What is said of a side is why it has no times, or why not in some pairs. */
static const char *reason_of(const json_t *object, const char *key, const json_t *pair,
                             const char *why)
{
    const char *reason = record_text(object, key);
    return reason[0] != '\0' ? reason : record_text(pair, why);
}

static bool read_pair(const compare_set *set, const json_t *pair, compare_row *row)
{
    const json_t *result = result_of(set->a, pair), *ratios = json_object_get(pair, "pairs");
    const char *status = record_text(pair, "status_b"), *library = record_text(pair, "library_b");
    const char *device = record_text(pair, "device"), *library_a = record_text(pair, "library");
    *row = (compare_row){
        .id = record_text(pair, "id"),
        .op = record_text(result, "op"),
        .a = {result, device, library_a, record_text(result, "status"),
              reason_of(result, "reason", pair, "why_a"), record_number(pair, "a")},
        .b = {NULL, device, library[0] ? library : library_a, status[0] ? status : "ok",
              reason_of(pair, "reason_b", pair, "why_b"), record_number(pair, "b")},
        .paired = true,
        .pairs = (int32_t)json_array_size(ratios),
        .made = count_of(pair, "made"),
        .without_a = count_of(pair, "without_a"),
        .without_b = count_of(pair, "without_b"),
        .c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS}};
    bool ok_a = strcmp(row->a.status, "ok") == 0, ok_b = strcmp(row->b.status, "ok") == 0;
    int32_t lost = count_of(pair, "lost");
    row->lost = lost > 0 || (lost < 0 && ok_a && !ok_b && strcmp(row->b.status, "missing") != 0);
    if (!ok_a || !ok_b) {
        return true;
    }
    return judge_ratios(set, ratios, row);
}

int compare_pairs_read(compare_set *set)
{
    const json_t *list = json_object_get(set->a, "pairs"), *pair;
    size_t at;
    set->forced = json_array();
    set->rows = calloc(json_array_size(list) + 1, sizeof *set->rows);
    if (!set->forced || !set->rows) {
        return tool_error(TOOL_INTERNAL, "no memory for the pairs of %s", set->path_a);
    }
    json_array_foreach(list, at, pair)
    {
        compare_row *row = &set->rows[set->count];
        if (!read_pair(set, pair, row)) {
            return tool_error(TOOL_INTERNAL, "no memory for the pairs of %s", set->path_a);
        }
        set->count += compare_wants_op(set, row->op);
    }
    compare_gate(set);
    return TOOL_OK;
}
