/* SPDX-License-Identifier: Apache-2.0 */
/* unlike.c - reports the differences that make two runs not comparable. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Reports a difference, or with --force notes it. */
static int refuse(compare_set *set, const char *format, ...) ISO_PRINTF(2, 3);
static int refuse(compare_set *set, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (set->rules.force) {
        json_array_append_new(set->forced, json_string(text));
    } else {
        tool_error(TOOL_FILES, "not comparable: %s; --force compares them anyway", text);
    }
    return 1;
}

static int unlike_math(compare_set *set)
{
    const char *a = record_text(set->a, "run.math"), *b = record_text(set->b, "run.math");
    if (strcmp(a, b) == 0) {
        return 0;
    }
    return refuse(set, "the math mode of %s is %s, that of %s is %s", set->path_a,
                  a[0] ? a : "not known", set->path_b, b[0] ? b : "not known");
}

int compare_unlike(compare_set *set)
{
    const json_t *documents[] = {set->a, set->b};
    const char *paths[] = {set->path_a, set->path_b};
    for (int i = 0; i < 2; i++) {
        /* A file of `verify` has no times, so --force cannot help. */
        if (strcmp(record_text(documents[i], "run.command"), "verify") != 0) {
            continue;
        }
        tool_error(TOOL_FILES,
                   "%s was written by `isomer verify`, which measures no times: compare files of "
                   "`isomer bench`",
                   paths[i]);
        set->rules.force = false;
        return 1;
    }
    int count = unlike_math(set);
    const json_t *seed_a = record_at(set->a, "run.seed"), *seed_b = record_at(set->b, "run.seed");
    if (seed_a && seed_b && !json_equal(seed_a, seed_b)) {
        count += refuse(set, "the seed of %s is %lld, that of %s is %lld: their inputs differ",
                        set->path_a, (long long)json_integer_value(seed_a), set->path_b,
                        (long long)json_integer_value(seed_b));
    }
    return count;
}

/* ---- devices --------------------------------------------------------------------------------- */

int compare_unlike_devices(compare_set *set)
{
    int count = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        bool said = !row->a.result || !row->b.result;
        for (int32_t k = 0; k < i && !said; k++) {
            said = set->rows[k].b.result && strcmp(set->rows[k].a.device, row->a.device) == 0 &&
                   strcmp(set->rows[k].b.device, row->b.device) == 0;
        }
        if (said) {
            continue;
        }
        const json_t *a = record_device_of(set->a, row->a.device);
        const json_t *b = record_device_of(set->b, row->b.device);
        if (!record_may_compare(a, b)) {
            count += refuse(set, "%s of %s ran on %s, %s of %s on %s", row->a.device, set->path_a,
                            tool_tiers[record_tier(a)].words, row->b.device, set->path_b,
                            tool_tiers[record_tier(b)].words);
        }
    }
    return count;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

void compare_note_sizes(compare_set *set)
{
    char text[512];
    const compare_row *first = NULL;
    int32_t count = 0;
    for (int32_t i = 0; i < set->count; i++) {
        if (!set->rows[i].other) {
            continue;
        }
        first = first ? first : &set->rows[i];
        count++;
    }
    if (!first) {
        return;
    }
    snprintf(text, sizeof text,
             "%d case%s of another size in B, such as %s for %s: %s the same flops (products and "
             "chains) or bytes",
             count, count > 1 ? "s are" : " is", first->other, first->id,
             count > 1 ? "their times are scaled to" : "its time is scaled to");
    json_array_append_new(set->forced, json_string(text));
}

/* ---- nothing in common ----------------------------------------------------------------------- */

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(record_text(a, key), record_text(b, key)) == 0;
}

/* How similar the cases of two results are; 0: their operations differ. */
static int nearness(const json_t *a, const json_t *b)
{
    if (!same_text(a, b, "op") || !same_text(a, b, "kind")) {
        return 0;
    }
    return 1 + same_text(a, b, "dtype") + same_text(a, b, "variant") + same_text(a, b, "math") +
           same_text(a, b, "fill") + same_text(a, b, "cache") +
           json_equal(json_object_get(a, "shape"), json_object_get(b, "shape"));
}

int compare_nothing(const compare_set *set)
{
    const json_t *a, *b, *near_a = NULL, *near_b = NULL;
    const json_t *all_a = json_object_get(set->a, "results");
    const json_t *all_b = json_object_get(set->b, "results");
    size_t i, k;
    int best = 0;
    json_array_foreach(all_a, i, a)
    {
        json_array_foreach(all_b, k, b)
        {
            int near = nearness(a, b);
            if (near <= best) {
                continue;
            }
            best = near;
            near_a = a;
            near_b = b;
        }
    }
    if (!near_a) {
        bool named = record_has_flag(json_object_get(set->a, "run"), "foreign") !=
                     record_has_flag(json_object_get(set->b, "run"), "foreign");
        return tool_error(TOOL_FILES, "no case is in both %s and %s: %s", set->path_a, set->path_b,
                          named ? "the names of an exported file cannot be matched with the cases "
                                  "of a results file; give two of the same form"
                                : "they measure different operations");
    }
    if (compare_same_case(near_a, near_b, false)) {
        return tool_error(
            TOOL_FILES,
            "no case of the compared devices and operations is in both %s and %s; %s has "
            "results of %s, %s of %s",
            set->path_a, set->path_b, set->path_a, record_text(near_a, "device"), set->path_b,
            record_text(near_b, "device"));
    }
    static const struct {
        const char *key, *what;
    } members[] = {{"math", "math mode"},
                   {"fill", "fill of the inputs"},
                   {"cache", "cache state"},
                   {"dtype", "type"},
                   {"variant", "variant"}};
    const char *what = "size";
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        if (!same_text(near_a, near_b, members[m].key)) {
            what = members[m].what;
            break;
        }
    }
    return tool_error(
        TOOL_FILES,
        "no case is in both %s and %s; the two most similar cases differ in %s: %s and %s",
        set->path_a, set->path_b, what, record_text(near_a, "id"), record_text(near_b, "id"));
}
