/* SPDX-License-Identifier: Apache-2.0 */
/* percents.c - why cases of another command have no percentage of a roof. */
#include "bench/bench.h"
#include "bench/record/record.h"

#include <math.h>
#include <string.h>

static const bench_case *case_of(const bench *b, const char *id)
{
    for (int32_t i = 0; i < b->given->count; i++) {
        if (strcmp(b->given->cases[i].id, id) == 0) {
            return &b->given->cases[i];
        }
    }
    return NULL;
}

static const iso_device_info *device_of(const bench *b, const char *spec)
{
    for (int32_t i = 0; i < b->target_count; i++) {
        const iso_device_info *info = work_target_info(b->targets[i]);
        if (strcmp(info->spec, spec) == 0) {
            return info;
        }
    }
    return NULL;
}

/* Rounded up to a number that is easy to read, such as "32Mi". */
static const char *round_up(char *text, size_t room, double count)
{
    const double unit = count > 0x1p20 ? 0x1p20 : count > 0x1p10 ? 0x1p10 : 1;
    return record_count(text, room, ceil(count / unit) * unit);
}

/* A result without a percentage. */
typedef struct lacking {
    const bench_case *item;
    const iso_device_info *info;
    bool cached; /* its arrays are under four times the last-level cache */
    double bytes;
} lacking;

static bool lacks(const bench *b, const json_t *result, lacking *out)
{
    *out = (lacking){.item = case_of(b, record_text(result, "id")),
                     .info = device_of(b, record_text(result, "device"))};
    if (!out->item || !out->info || strcmp(record_text(result, "status"), "ok") != 0 ||
        isfinite(record_percent(result))) {
        return false;
    }
    out->bytes = (double)work_case_array(out->item);
    out->cached = record_has_flag(result, "in-cache") && out->bytes > 0;
    return true;
}

/* Whether one text is enough for both. */
static bool same(const lacking *a, const lacking *b)
{
    return a->cached == b->cached && strcmp(a->item->kind, b->item->kind) == 0 &&
           strcmp(a->item->type, b->item->type) == 0 &&
           (a->cached ? a->info->cache_bytes == b->info->cache_bytes : a->info == b->info);
}

/* Whether another result stands for this one: one of a larger size, or the first. */
static bool is_told(const bench *b, const json_t *results, size_t index, const lacking *self)
{
    lacking other;
    for (size_t i = 0; i < json_array_size(results); i++) {
        if (i != index && lacks(b, json_array_get(results, i), &other) && same(self, &other) &&
            (other.bytes > self->bytes || (other.bytes == self->bytes && i < index))) {
            return true;
        }
    }
    return false;
}

static json_t *reason_of(const lacking *l)
{
    char array[32], cache[32], least[32];
    const double all = 4 * (double)l->info->cache_bytes;
    if (!l->cached) {
        return json_sprintf("No percent for %s %s on %s: this run measured no roof for it.",
                            l->item->kind, l->item->type, l->info->spec);
    }
    return json_sprintf(
        "No percent for %s %s: arrays of %s are under four times the last-level cache (%s). Use a "
        "size with at least %s elements.",
        l->item->kind, l->item->type, tool_bytes(array, sizeof array, (int64_t)l->bytes),
        tool_bytes(cache, sizeof cache, l->info->cache_bytes),
        round_up(least, sizeof least, (double)l->item->size * all / l->bytes));
}

json_t *bench_percents(const bench *b)
{
    const json_t *results = json_object_get(b->root, "results");
    json_t *list = json_array();
    lacking found;
    for (size_t i = 0; i < json_array_size(results) && !b->request.no_roofs; i++) {
        if (lacks(b, json_array_get(results, i), &found) && !is_told(b, results, i, &found)) {
            json_array_append_new(list, reason_of(&found));
        }
    }
    return list;
}
