/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - the conformance list. */
#include "bench/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bench_case *append(verify_list *list)
{
    if (list->count == list->capacity) {
        int32_t room = list->capacity == 0 ? 4096 : list->capacity * 2;
        bench_case *larger = realloc(list->cases, (size_t)room * sizeof *larger);
        if (!larger) {
            list->failed = true;
            return NULL;
        }
        list->cases = larger;
        list->capacity = room;
    }
    return &list->cases[list->count++];
}

bench_case verify_case(const bench_op *op, iso_dtype dtype, const char *kind)
{
    bench_case item = {.op = op, .by = op, .dtype = dtype, .math = ISO_MATH_STRICT, .element = 1};
    snprintf(item.kind, sizeof item.kind, "%s", kind);
    if (dtype != 0) {
        item.element = iso_dtype_size(dtype);
        snprintf(item.type, sizeof item.type, "%s", iso_dtype_name(dtype));
    }
    return item;
}

void verify_list_add(verify_list *list, const bench_case *model, const iso_variant *variants,
                     int variant_count, const char *after)
{
    char name[BENCH_ID_MAX];
    int length = snprintf(name, sizeof name, "%s/%s", model->op->verified, after);
    uint64_t seed = XXH64(name, (size_t)length, list->seed);
    int32_t problem = list->problems++;
    for (int v = 0; v < variant_count || v == 0; v++) {
        bench_case *item = append(list);
        if (!item) {
            return;
        }
        *item = *model;
        item->seed = seed;
        item->problem = problem;
        if (variant_count > 0) {
            item->how = variants[v];
            snprintf(item->variant, sizeof item->variant, "%s", iso_variant_name(variants[v]));
            item->same_bits = item->how == ISO_VARIANT_TILED || item->how == ISO_VARIANT_FIXED ||
                              (item->how == ISO_VARIANT_NAIVE && item->op->same_in_variants);
        }
        snprintf(item->id, sizeof item->id, "%s/%s/%s", item->op->verified, item->variant, after);
    }
}

/* Removes repeated cases but keeps the first of each. They occur because the list steps through
 * each factor separately. */
static bool drop_repeated(verify_list *list)
{
    size_t slots = 1024;
    while (slots < (size_t)list->count * 2) {
        slots *= 2;
    }
    int32_t *table = calloc(slots, sizeof *table); /* index + 1; 0: an empty slot */
    if (!table) {
        return false;
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const bench_case *item = &list->cases[i];
        size_t at = XXH64(item->id, strlen(item->id), 0) & (slots - 1);
        while (table[at] != 0 && strcmp(list->cases[table[at] - 1].id, item->id) != 0) {
            at = (at + 1) & (slots - 1);
        }
        if (table[at] != 0) {
            continue;
        }
        list->cases[kept] = *item;
        table[at] = ++kept;
    }
    list->count = kept;
    free(table);
    return true;
}

verify_list *verify_list_create(bool full, bool invariance, uint64_t seed)
{
    verify_list *list = calloc(1, sizeof *list);
    if (!list) {
        return NULL;
    }
    list->seed = seed;
    list->full = full;
    if (invariance) {
        list->bases = calloc(1, sizeof *list->bases);
        if (!list->bases) {
            verify_list_destroy(list);
            return NULL;
        }
        list->bases->seed = seed;
    }
    for (int i = 0; i < VERIFY_OPS; i++) {
        bench_cases *add = invariance ? verify_ops[i]->companies : verify_ops[i]->cases;
        if (add) {
            add(list, full);
        }
    }
    if (list->failed || (list->bases && list->bases->failed) || !drop_repeated(list)) {
        verify_list_destroy(list);
        return NULL;
    }
    return list;
}

verify_list *verify_list_comm(bool full, const int32_t *ranks, int32_t count, uint64_t seed)
{
    verify_list *list = calloc(1, sizeof *list);
    if (!list) {
        return NULL;
    }
    list->seed = seed;
    list->full = full;
    for (int32_t i = 0; i < count; i++) {
        verify_comm_cases(list, ranks[i]);
    }
    if (list->failed || !drop_repeated(list)) {
        verify_list_destroy(list);
        return NULL;
    }
    return list;
}

void verify_list_destroy(verify_list *list)
{
    if (!list) {
        return;
    }
    verify_list_destroy(list->bases);
    free(list->cases);
    free(list);
}
