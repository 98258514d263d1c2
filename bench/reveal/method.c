/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.c - finds a tree of additions from questions about pairs of terms, after Xie and others,
 * "FPRev: Revealing the Order of Floating-Point Summation" (2024).
 *
 * A task is a set of terms that lie below one node, in one or several of its children. One of them
 * is chosen, and asked about with each other one. The answers are the sizes of the nodes on its way
 * up, and say which terms join it at which node. The terms that join at a node are a task again.
 */
#include "bench/arith/arith.h"
#include "bench/reveal/tree.h"
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct task {
    int32_t begin, count; /* of search.terms */
    int32_t above;        /* the node that they lie below; -1: they are all terms */
    int32_t size;         /* the terms below that node */
} task;

typedef struct search {
    reveal_tree *tree;
    reveal_search *says;
    int32_t *terms; /* each task has a part of them */
    task *now, *later;
    int32_t now_count, later_count;
    reveal_pair *pairs;
    int32_t *sizes;
    uint64_t chosen; /* terms that were chosen at random */
} search;

/* A term and the size of the node at which it joins the chosen one. */
typedef struct joining {
    int32_t size, term;
} joining;

static int by_size(const void *a, const void *b)
{
    const joining *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                              : (x->term > y->term) - (x->term < y->term);
}

/* Puts a set of terms below a node: one at once, more as a task. */
static void put(search *s, int32_t begin, int32_t count, int32_t above, int32_t size)
{
    if (count == 1) {
        s->tree->parent[s->terms[begin]] = above;
        s->says->placed++;
    } else if (count > 1) {
        s->later[s->later_count++] = (task){begin, count, above, size};
    }
}

static reveal_outcome contradiction(search *s, const task *t, const joining *j, int32_t expected)
{
    snprintf(s->says->problem, sizeof s->says->problem,
             "the step that joins terms %d and %d is above %d terms by one answer, %d by others",
             s->terms[t->begin], j->term, j->size, expected);
    return REVEAL_CONTRADICTION;
}

/* Uses the answers about the first term of a task and each other one. */
static reveal_outcome use(search *s, const task *t, const int32_t *sizes, joining *joinings)
{
    int32_t rest = t->count - 1, node = s->terms[t->begin], i = 0;
    for (int32_t k = 0; k < rest; k++) {
        joinings[k] = (joining){sizes[k], s->terms[t->begin + 1 + k]};
    }
    qsort(joinings, (size_t)rest, sizeof *joinings, by_size);
    for (int32_t k = 0; k < rest; k++) {
        s->terms[t->begin + 1 + k] = joinings[k].term;
    }
    while (i < rest && (t->above < 0 || joinings[i].size < t->size)) {
        int32_t end = i, size = joinings[i].size;
        while (end < rest && joinings[end].size == size) {
            end++;
        }
        /* Below the node at which they join are the terms up to here, and no others. */
        if (size != 1 + end) {
            return contradiction(s, t, &joinings[i], 1 + end);
        }
        int32_t up = reveal_tree_add(s->tree);
        s->tree->parent[node] = up;
        s->says->placed += node < s->tree->terms;
        put(s, t->begin + 1 + i, end - i, up, size);
        node = up;
        i = end;
    }
    if (i < rest && joinings[rest - 1].size != t->size) {
        return contradiction(s, t, &joinings[rest - 1], t->size);
    }
    s->tree->parent[node] = t->above;
    s->says->placed += node < s->tree->terms;
    put(s, t->begin + 1 + i, rest - i, t->above, t->size);
    return REVEAL_FOUND;
}

/* Moves a random term of a task to its front. With the first term, a chain in descending order
 * would need a question for each pair of terms. */
static void choose(search *s, const task *t)
{
    int32_t at = t->begin + (int32_t)(arith_mix(0, s->chosen++) % (uint64_t)t->count);
    int32_t term = s->terms[at];
    s->terms[at] = s->terms[t->begin];
    s->terms[t->begin] = term;
}

/* Asks for all tasks at once, so that one call of the routine answers as many as it can. */
static reveal_outcome round_of(search *s, reveal_ask *ask, void *context, joining *joinings)
{
    int32_t asked = 0;
    for (int32_t i = 0; i < s->now_count; i++) {
        const task *t = &s->now[i];
        choose(s, t);
        for (int32_t k = 1; k < t->count; k++) {
            s->pairs[asked++] = (reveal_pair){s->terms[t->begin], s->terms[t->begin + k]};
        }
    }
    s->says->questions += asked;
    if (!ask(context, s->pairs, asked, s->sizes)) {
        return REVEAL_STOPPED;
    }
    asked = 0;
    for (int32_t i = 0; i < s->now_count; i++) {
        reveal_outcome outcome = use(s, &s->now[i], s->sizes + asked, joinings);
        if (outcome != REVEAL_FOUND) {
            return outcome;
        }
        asked += s->now[i].count - 1;
    }
    return REVEAL_FOUND;
}

reveal_outcome reveal_find(int32_t terms, reveal_ask *ask, void *context, reveal_tree *tree,
                           reveal_search *says)
{
    size_t room = (size_t)terms + 1;
    reveal_outcome outcome = REVEAL_FOUND;
    *says = (reveal_search){0};
    reveal_tree_make(tree, terms);
    joining *joinings = tool_alloc(room, sizeof *joinings, "a search");
    search s = {.tree = tree,
                .says = says,
                .terms = tool_alloc(room, sizeof *s.terms, "a search"),
                .now = tool_alloc(room, sizeof *s.now, "a search"),
                .later = tool_alloc(room, sizeof *s.later, "a search"),
                .pairs = tool_alloc(room, sizeof *s.pairs, "a search"),
                .sizes = tool_alloc(room, sizeof *s.sizes, "a search")};
    for (int32_t i = 0; i < terms; i++) {
        s.terms[i] = i;
    }
    put(&s, 0, terms, -1, terms);
    while (s.later_count > 0 && outcome == REVEAL_FOUND) {
        task *swap = s.now;
        s.now = s.later;
        s.now_count = s.later_count;
        s.later = swap;
        s.later_count = 0;
        outcome = round_of(&s, ask, context, joinings);
    }
    if (outcome == REVEAL_FOUND && !reveal_tree_finish(tree)) {
        outcome = REVEAL_CONTRADICTION;
        snprintf(says->problem, sizeof says->problem, "the answers give no single tree");
    }
    if (outcome != REVEAL_FOUND) {
        reveal_tree_free(tree);
    }
    free(joinings);
    free(s.terms);
    free(s.now);
    free(s.later);
    free(s.pairs);
    free(s.sizes);
    return outcome;
}
