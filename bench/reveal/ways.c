/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c - known ways to add all items of a list. */
#include "bench/reveal/tree.h"
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

static int32_t join(reveal_tree *t, int32_t a, int32_t b)
{
    int32_t node = reveal_tree_add(t);
    t->parent[a] = t->parent[b] = node;
    return node;
}

/* Item l and item l + half are added, for halves of the next power of two down to 1. */
static void join_halves(reveal_tree *t, int32_t *items, int32_t count)
{
    int32_t half = 1;
    while (2 * half < count) {
        half *= 2;
    }
    for (; half >= 1; half /= 2) {
        for (int32_t l = 0; l + half < count; l++) {
            items[l] = join(t, items[l], items[l + half]);
        }
        count = count > half ? half : count;
    }
}

static void join_neighbours(reveal_tree *t, int32_t *items, int32_t count)
{
    while (count > 1) {
        int32_t kept = 0;
        for (int32_t i = 0; i < count; i += 2) {
            items[kept++] = i + 1 < count ? join(t, items[i], items[i + 1]) : items[i];
        }
        count = kept;
    }
}

static void join_in_order(reveal_tree *t, int32_t *items, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        items[0] = join(t, items[0], items[i]);
    }
}

static void join_in_reverse(reveal_tree *t, int32_t *items, int32_t count)
{
    for (int32_t i = count - 1; i > 0; i--) {
        items[i - 1] = join(t, items[i], items[i - 1]);
    }
}

static void join_first_last(reveal_tree *t, int32_t *items, int32_t count)
{
    int32_t sum = count > 1 ? items[1] : items[0];
    for (int32_t i = 2; i < count; i++) {
        sum = join(t, sum, items[i]);
    }
    if (count > 1) {
        join(t, sum, items[0]);
    }
}

static void join_at_once(reveal_tree *t, int32_t *items, int32_t count)
{
    int32_t node = reveal_tree_add(t);
    for (int32_t i = 0; i < count; i++) {
        t->parent[items[i]] = node;
    }
}

static const struct way {
    void (*join)(reveal_tree *t, int32_t *items, int32_t count);
    int32_t least; /* items, so that it is no other way */
    const char *words;
} ways[] = {{join_in_order, 2, "added in order"},
            {join_halves, 3, "folded in halves"},
            {join_neighbours, 4, "added pairwise, neighbours first"},
            {join_in_reverse, 3, "added in reverse order"},
            {join_first_last, 3, "added in order, the first one last"},
            {join_at_once, 3, "added in one step"}};

const char *reveal_way(const reveal_tree *t)
{
    int32_t *items = tool_alloc((size_t)t->terms, sizeof *items, "a tree");
    reveal_tree shape = *t;
    const char *words = NULL;
    char wanted[33], found[33];
    shape.products = false;
    reveal_tree_digest(&shape, wanted);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0] && !words; w++) {
        reveal_tree made;
        if (t->terms < ways[w].least) {
            continue;
        }
        reveal_tree_make(&made, t->terms);
        for (int32_t i = 0; i < t->terms; i++) {
            items[i] = i;
        }
        ways[w].join(&made, items, t->terms);
        reveal_tree_finish(&made);
        reveal_tree_digest(&made, found);
        words = strcmp(wanted, found) == 0 ? ways[w].words : NULL;
        reveal_tree_free(&made);
    }
    free(items);
    return words;
}
