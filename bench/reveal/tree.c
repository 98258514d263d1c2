/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - trees of additions. */
#include "bench/reveal/tree.h"
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void reveal_tree_make(reveal_tree *tree, int32_t terms)
{
    size_t room = 2 * (size_t)terms;
    int32_t **members[] = {&tree->parent, &tree->leaves, &tree->lowest, &tree->highest,
                           &tree->degree, &tree->child,  &tree->next,   &tree->order};
    *tree = (reveal_tree){.terms = terms, .nodes = terms, .root = -1};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        *members[i] = tool_alloc(room, sizeof **members[i], "a tree");
    }
    tree->fused = tool_alloc(room, sizeof *tree->fused, "a tree");
    memset(tree->parent, -1, room * sizeof *tree->parent);
}

void reveal_tree_free(reveal_tree *tree)
{
    int32_t *members[] = {tree->parent, tree->leaves, tree->lowest, tree->highest,
                          tree->degree, tree->child,  tree->next,   tree->order};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        free(members[i]);
    }
    free(tree->fused);
    *tree = (reveal_tree){0};
}

int32_t reveal_tree_add(reveal_tree *tree)
{
    tree->parent[tree->nodes] = -1;
    return tree->nodes++;
}

/* Puts children before parents, and sums up the terms below each node. Returns the number of nodes
 * that were reached. */
static int32_t order_nodes(reveal_tree *t)
{
    int32_t *pending = tool_alloc((size_t)t->nodes, sizeof *pending, "a tree");
    int32_t count = 0;
    memcpy(pending, t->degree, (size_t)t->nodes * sizeof *pending);
    for (int32_t i = 0; i < t->terms; i++) {
        t->order[count++] = i;
        t->leaves[i] = 1;
        t->lowest[i] = t->highest[i] = i;
    }
    for (int32_t at = 0; at < count; at++) {
        int32_t node = t->order[at], up = t->parent[node];
        if (up < 0) {
            continue;
        }
        bool first = pending[up] == t->degree[up];
        t->leaves[up] = (first ? 0 : t->leaves[up]) + t->leaves[node];
        t->lowest[up] = first || t->lowest[node] < t->lowest[up] ? t->lowest[node] : t->lowest[up];
        t->highest[up] =
            first || t->highest[node] > t->highest[up] ? t->highest[node] : t->highest[up];
        if (--pending[up] == 0) {
            t->order[count++] = up;
        }
    }
    free(pending);
    return count;
}

bool reveal_tree_finish(reveal_tree *t)
{
    size_t bytes = (size_t)t->nodes * sizeof *t->degree;
    memset(t->degree, 0, bytes);
    memset(t->child, -1, bytes);
    memset(t->next, -1, bytes);
    t->root = -1;
    for (int32_t i = 0; i < t->nodes; i++) {
        if (t->parent[i] >= t->terms && t->parent[i] < t->nodes) {
            t->degree[t->parent[i]]++;
        } else if (t->parent[i] != -1 || t->root >= 0) {
            return false;
        } else {
            t->root = i;
        }
    }
    for (int32_t i = t->terms; i < t->nodes; i++) {
        if (t->degree[i] < 2) {
            return false;
        }
    }
    if (t->root < 0 || order_nodes(t) != t->nodes) {
        return false;
    }
    /* A node has the lowest term of one child. So from each term, going up as long as it is the
     * lowest one, every node is met once, and siblings in descending order of their lowest terms.
     */
    for (int32_t term = t->terms - 1; term >= 0; term--) {
        for (int32_t node = term; node != t->root && t->lowest[node] == term;
             node = t->parent[node]) {
            t->next[node] = t->child[t->parent[node]];
            t->child[t->parent[node]] = node;
        }
    }
    return true;
}

int32_t reveal_tree_meet(const reveal_tree *t, int32_t i, int32_t j)
{
    /* The node with fewer terms is never above the other one. */
    while (i != j) {
        if (t->leaves[i] <= t->leaves[j]) {
            i = t->parent[i];
        } else {
            j = t->parent[j];
        }
    }
    return i;
}

int32_t reveal_tree_depth(const reveal_tree *t)
{
    int32_t *depth = tool_alloc((size_t)t->nodes, sizeof *depth, "a tree"), most = 0;
    for (int32_t at = t->nodes - 1; at >= 0; at--) {
        int32_t node = t->order[at];
        depth[node] = node == t->root ? 0 : depth[t->parent[node]] + 1;
        most = depth[node] > most ? depth[node] : most;
    }
    free(depth);
    return most;
}

int32_t reveal_tree_widest(const reveal_tree *t)
{
    int32_t most = 0;
    for (int32_t i = t->terms; i < t->nodes; i++) {
        most = t->degree[i] > most ? t->degree[i] : most;
    }
    return most;
}

void reveal_tree_digest(const reveal_tree *t, char text[33])
{
    /* Numbers inner nodes by their place among nodes sorted by number of terms and lowest term,
     * which name a node: the same tree has the same list, whatever its nodes were called. */
    XXH3_state_t *state = record_need(XXH3_createState());
    XXH3_128bits_reset(state);
    for (int32_t term = 0; term < t->terms; term++) {
        uint8_t fused = t->products && t->fused[term];
        XXH3_128bits_update(state, &fused, 1);
        for (int32_t node = t->parent[term]; node >= 0 && t->lowest[node] == term;
             node = t->parent[node]) {
            int32_t up = t->parent[node];
            int32_t entry[] = {term, t->leaves[node], t->degree[node], up < 0 ? -1 : t->lowest[up],
                               up < 0 ? 0 : t->leaves[up]};
            XXH3_128bits_update(state, entry, sizeof entry);
        }
        int32_t up = t->parent[term];
        int32_t entry[] = {term, up < 0 ? -1 : t->lowest[up], up < 0 ? 0 : t->leaves[up]};
        XXH3_128bits_update(state, entry, sizeof entry);
    }
    XXH128_hash_t digest = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    tool_digest_text((const uint64_t[]){digest.high64, digest.low64}, text);
}

/* ---- brackets -------------------------------------------------------------------------------- */

/* Goes up from a term, but not above the node `stop`, as long as each step adds the next term, and
 * all of them round alike. Returns the last term, and sets `*top` to its step. */
static int32_t run_from(const reveal_tree *t, int32_t first, int32_t stop, int32_t *top)
{
    int32_t last = first;
    *top = first;
    while (*top != stop) {
        int32_t up = t->parent[*top], other = t->child[up] == *top ? t->next[*top] : t->child[up];
        bool rounding = t->products && last > first && t->fused[other] != t->fused[last];
        if (t->degree[up] != 2 || other != last + 1 || rounding) {
            break;
        }
        last = other;
        *top = up;
    }
    return last;
}

/* Writes a node without recursion for its left spine, which may be as long as there are terms. */
static void brackets(FILE *out, const reveal_tree *t, int32_t node, int64_t most)
{
    int32_t bottom = node, opened = 0, top;
    if (ftell(out) > most) {
        return;
    }
    while (bottom >= t->terms) {
        bottom = t->child[bottom];
    }
    int32_t last = run_from(t, bottom, node, &top);
    for (int32_t up = top; up != node; up = t->parent[up]) {
        opened++;
    }
    for (int32_t i = 0; i < opened && i <= most; i++) {
        fputc('(', out);
    }
    if (last > bottom) {
        fprintf(out, "%d-%d", bottom, last);
    } else {
        fprintf(out, "%d", bottom);
    }
    for (int32_t up = top; up != node && ftell(out) <= most; up = t->parent[up]) {
        for (int32_t other = t->next[up]; other >= 0; other = t->next[other]) {
            fputc('+', out);
            brackets(out, t, other, most);
        }
        fputc(')', out);
    }
}

char *reveal_tree_brackets(const reveal_tree *tree, int64_t most)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = record_need(open_memstream(&text, &length));
    brackets(memory, tree, tree->root, most);
    if (fclose(memory) != 0) {
        tool_no_memory("a tree");
    }
    if ((int64_t)length > most) {
        char *whole = text;
        text = record_format("%.*s...", (int)most, whole);
        free(whole);
    }
    return text;
}
