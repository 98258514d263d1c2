/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - what a device passed, as JSON: by operation and variant, and why the rest did not
 * run. */
#include "bench/verify/internal.h"

#include <string.h>

/* The member of an object, which is 0 if it is missing, and one more. */
static void count_one(json_t *object, const char *key)
{
    tool_set_int(object, key, 1 + json_integer_value(json_object_get(object, key)));
}

/* The object of the list whose member has this text; a new one if there is none. */
static json_t *find(json_t *list, const char *key, const char *text, const char *also,
                    const char *also_text)
{
    json_t *object;
    size_t i;
    json_array_foreach(list, i, object)
    {
        const char *own = json_string_value(json_object_get(object, key));
        const char *second = also ? json_string_value(json_object_get(object, also)) : "";
        if (own && second && strcmp(own, text) == 0 && strcmp(second, also ? also_text : "") == 0) {
            return object;
        }
    }
    object = json_object();
    tool_set_text(object, key, text);
    if (also) {
        tool_set_text(object, also, also_text);
    }
    json_array_append_new(list, object);
    return object;
}

static const char *status_key(bench_status status)
{
    switch (status) {
    case BENCH_OK:
        return "passed";
    case BENCH_UNSUPPORTED:
        return "unsupported";
    case BENCH_FAILED:
        return "failed";
    default:
        return "errors";
    }
}

static void set_counts(json_t *object)
{
    static const char *const keys[] = {"passed", "failed", "errors", "unsupported"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        tool_set_int(object, keys[i], json_integer_value(json_object_get(object, keys[i])));
    }
}

/* Adds a type to a list of types, which is made if it is missing; "": no type. */
static void add_type(json_t *object, const char *key, const char *type)
{
    json_t *types = json_object_get(object, key), *one;
    size_t i;
    if (!types) {
        types = json_array();
        json_object_set_new(object, key, types);
    }
    json_array_foreach(types, i, one)
    {
        if (strcmp(json_string_value(one), type) == 0) {
            return;
        }
    }
    if (type[0] != '\0') {
        json_array_append_new(types, json_string(type));
    }
}

json_t *verify_summary(const verify_run *run, const iso_device_info *info)
{
    json_t *summary = json_object(), *operations = json_array(), *reasons = json_array(), *object;
    size_t at;
    int digests = 0;
    set_counts(summary);
    for (int t = 0; t < run->target_count; t++) {
        const verify_target *target = &run->targets[t];
        if (strcmp(target->info->spec, info->spec) != 0) {
            continue;
        }
        digests += target->digests;
        for (int i = 0; i < run->chosen_count; i++) {
            const bench_case *item = run->chosen[i];
            const verify_record *record = &target->records[i];
            const char *key = status_key(record->status);
            if (!record->ran) {
                continue;
            }
            count_one(summary, key);
            object = find(operations, "op", item->op->verified, "variant", item->variant);
            count_one(object, key);
            if (record->status == BENCH_OK) {
                add_type(object, "types", item->type);
            } else if (record->status == BENCH_UNSUPPORTED) {
                add_type(object, "unsupported_types", item->type);
                count_one(find(reasons, "reason", record->reason ? record->reason : "", NULL, NULL),
                          "cases");
            }
        }
    }
    json_array_foreach(operations, at, object)
    {
        set_counts(object);
        add_type(object, "types", "");
        add_type(object, "unsupported_types", "");
    }
    tool_set_int(summary, "digests", digests);
    json_object_set_new(summary, "operations", operations);
    json_object_set_new(summary, "reasons", reasons);
    return summary;
}
