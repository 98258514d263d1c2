/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - reads the pairs in a file of `bench --against`. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The result of one side of a pair. B's is in the file only if it is of another device. */
static const json_t *result_of(const json_t *root, const json_t *pair, bool b)
{
    const char *device = record_text(pair, b ? "device_b" : "device");
    const char *library = record_text(pair, b ? "library_b" : "library");
    const json_t *result;
    size_t at;
    json_array_foreach(json_object_get(root, "results"), at, result)
    {
        bool same = strcmp(record_text(result, "id"), record_text(pair, "id")) == 0 &&
                    strcmp(record_text(result, "device"), device) == 0 &&
                    strcmp(record_text(result, "library"), library) == 0;
        if (same) {
            return result;
        }
    }
    return NULL;
}

/* Judges the ratios again, because the least effect may differ from the one of the run that wrote
 * them. */
static void judge_ratios(const compare_set *set, const json_t *ratios, compare_row *row)
{
    int32_t n;
    double *ratio = record_numbers(ratios, &n);
    double *one = tool_alloc((size_t)n, sizeof *one, "the pairs");
    for (int32_t i = 0; i < n; i++) {
        one[i] = 1;
    }
    if (n > 0) {
        row->judged = true;
        row->c = stats_compare_pairs(one, ratio, n, set->rules.least_effect, set->rules.alpha);
    }
    row->rounds[1] = ratio;
    row->count[1] = n;
    row->half[0] = NAN;
    row->half[1] = (row->c.high - row->c.low) / 2 / row->c.ratio;
    free(one);
}

/* Reads a number of pairs, such as "lost". Returns -1 if the file is too old to have it. */
static int32_t count_of(const json_t *pair, const char *key)
{
    double value = record_number(pair, key);
    return value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

/* The reason why a side has no times: that of its result if there is one, otherwise that of the
 * first pair without a time. */
static const char *reason_of(const json_t *object, const char *key, const json_t *pair,
                             const char *why)
{
    const char *reason = record_text(object, key);
    return reason[0] != '\0' ? reason : record_text(pair, why);
}

static void read_pair(const compare_set *set, const json_t *pair, compare_row *row)
{
    const json_t *result = result_of(set->a, pair, false), *other = result_of(set->a, pair, true);
    const json_t *ratios = json_object_get(pair, "pairs");
    const char *status = record_text(pair, "status_b"), *library = record_text(pair, "library_b");
    const char *device = record_text(pair, "device"), *library_a = record_text(pair, "library");
    const char *device_b = record_text(pair, "device_b");
    *row = (compare_row){.id = record_text(pair, "id"),
                         .op = record_text(result, "op"),
                         .a = {result, device, library_a, record_text(result, "status"),
                               reason_of(result, "reason", pair, "why_a"), record_number(pair, "a"),
                               strcmp(record_text(result, "status"), "ok") == 0},
                         .b = {other, device_b[0] ? device_b : device,
                               library[0] ? library : library_a, status[0] ? status : "ok",
                               reason_of(pair, "reason_b", pair, "why_b"), record_number(pair, "b"),
                               !status[0] || strcmp(status, "ok") == 0},
                         .paired = true,
                         .pairs = (int32_t)json_array_size(ratios),
                         .made = count_of(pair, "made"),
                         .without_a = count_of(pair, "without_a"),
                         .without_b = count_of(pair, "without_b"),
                         .c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS}};
    int32_t lost = count_of(pair, "lost");
    row->lost = lost > 0 || (lost < 0 && row->a.ok && !row->b.ok && strcmp(status, "missing") != 0);
    if (row->a.ok && row->b.ok) {
        judge_ratios(set, ratios, row);
    }
}

void compare_pairs_read(compare_set *set)
{
    const json_t *list = json_object_get(set->a, "pairs"), *pair;
    size_t at;
    set->forced = json_array();
    set->rows = tool_alloc(json_array_size(list), sizeof *set->rows, "the pairs");
    json_array_foreach(list, at, pair)
    {
        compare_row *row = &set->rows[set->count];
        read_pair(set, pair, row);
        if (compare_wants(set, row->a.result)) {
            set->count++;
        } else {
            free(row->rounds[1]);
        }
    }
    compare_gate(set);
}
