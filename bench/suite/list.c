/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - the one list of cases. */
#include "bench/suite/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const bench_op *const suite_ops[SUITE_OPS] = {&bench_transfer, &bench_transpose, &bench_reduce,
                                              &bench_gemm,     &bench_map,       &suite_order,
                                              &suite_limits};

static suite_case *append(suite_list *list)
{
    if (list->count == list->capacity) {
        int32_t room = list->capacity == 0 ? 4096 : list->capacity * 2;
        suite_case *larger = realloc(list->cases, (size_t)room * sizeof *larger);
        if (!larger) {
            list->failed = 1;
            return NULL;
        }
        list->cases = larger;
        list->capacity = room;
    }
    return &list->cases[list->count++];
}

void suite_list_add(suite_list *list, const suite_case *model, const iso_variant *variants,
                    int variant_count, const char *after)
{
    char name[SUITE_ID_MAX];
    int length = snprintf(name, sizeof name, "%s/%s", model->op->verified, after);
    uint64_t seed = XXH64(name, (size_t)length, list->seed);
    int32_t problem = list->problems++;
    for (int v = 0; v < variant_count || v == 0; v++) {
        suite_case *item = append(list);
        if (!item) {
            return;
        }
        *item = *model;
        item->seed = seed;
        item->problem = problem;
        if (variant_count > 0) {
            item->how = variants[v];
            snprintf(item->variant, sizeof item->variant, "%s", iso_variant_name(variants[v]));
            item->same_bits = item->how == ISO_VARIANT_TILED ||
                              (item->how == ISO_VARIANT_NAIVE && item->op->same_in_variants);
        }
        snprintf(item->id, sizeof item->id, "%s/%s/%s", item->op->verified, item->variant, after);
    }
}

/* The walks through factors may come by the same case twice: the first one stays. */
static bool drop_repeated(suite_list *list)
{
    size_t slots = 1024;
    while (slots < (size_t)list->count * 2) {
        slots *= 2;
    }
    int32_t *table = calloc(slots, sizeof *table); /* index + 1 */
    if (!table) {
        return false;
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const suite_case *item = &list->cases[i];
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

suite_list *suite_list_create(int full, uint64_t seed)
{
    suite_list *list = calloc(1, sizeof *list);
    if (!list) {
        return NULL;
    }
    list->seed = seed;
    for (int i = 0; i < SUITE_OPS; i++) {
        suite_ops[i]->cases(list, full);
    }
    if (list->failed || !drop_repeated(list)) {
        suite_list_destroy(list);
        return NULL;
    }
    return list;
}

void suite_list_destroy(suite_list *list)
{
    if (!list) {
        return;
    }
    free(list->cases);
    free(list);
}
