/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - names of orders. A tree is a chain, or a known way to join items, or its parts (chains
 * that interleave or follow each other, or equal blocks) become the items of a smaller tree, which
 * is named in the same way. Every name is checked against the whole tree.
 */
#include "bench/record/record.h"
#include "bench/reveal/tree.h"

#include <stdlib.h>
#include <string.h>

enum { BRACKETS_MOST = 32, DEEPEST = 4 };

/* The parts of a name are names again, at most DEEPEST times: more say little, and take long to
 * find. */
typedef struct naming {
    int32_t depth;
    bool whole; /* the words name all of the tree */
} naming;

/* A part of a tree: a subtree. */
typedef struct part {
    int32_t node, first, count; /* its lowest term, and how many terms it has */
    /* A chain takes runs of `run` consecutive terms, whose begins are `stride` apart. 0: one run.
     */
    int32_t run, stride;
} part;

/* A chain that ends at a node: after a first step of several terms, each step adds `group` further
 * ones. */
typedef struct chain {
    bool is;
    bool tail; /* the last step added fewer terms: it cannot go on */
    int32_t steps, group;
    part terms;
} chain;

static char *describe(const reveal_tree *t, const char *unit, naming *n);

/* ---- chains ---------------------------------------------------------------------------------- */

/* The term that continues a chain, or its run if it has only one. */
static int32_t next_term(const part *p)
{
    return p->stride == 0 ? p->first + p->count
                          : p->first + p->count / p->run * p->stride + p->count % p->run;
}

/* Appends a term to a chain. False: it does not fit. */
static bool append(part *p, int32_t term)
{
    if (p->count == 0) {
        p->first = term;
    } else if (p->stride == 0 && term > next_term(p)) { /* a second run begins */
        p->run = p->count;
        p->stride = term - p->first;
    }
    if (term != next_term(p)) {
        return false;
    }
    p->count++;
    return true;
}

static bool fuses(const reveal_tree *t)
{
    for (int32_t i = 0; t->products && i < t->terms; i++) {
        if (t->fused[i]) {
            return true;
        }
    }
    return false;
}

/* Adds the terms among a node's children. Returns their number; 0: one does not fit. */
static int32_t append_terms(const reveal_tree *t, int32_t node, part *p, int32_t *fused)
{
    int32_t added = 0;
    for (int32_t c = t->child[node]; c >= 0; c = t->next[c]) {
        if (c < t->terms && !append(p, c)) {
            return 0;
        }
        added += c < t->terms;
        *fused += c < t->terms && t->products && t->fused[c];
    }
    return added;
}

/* The chain that ends at a node: the chain of its one inner child (NULL: there is none), with the
 * terms among its children. */
static chain extend(const reveal_tree *t, int32_t node, const chain *before, bool fuses)
{
    chain made = before ? *before : (chain){0};
    int32_t fused = 0;
    if (before && (!before->is || before->tail)) {
        return (chain){0};
    }
    int32_t added = append_terms(t, node, &made.terms, &fused);
    /* A product that was rounded begins another chain. */
    if (added == 0 || (fuses && t->degree[node] == 2 && fused != 1)) {
        return (chain){0};
    }
    if (!before) {
        made.group = added;
    } else if (before->steps == 1 && added == before->group - 1) {
        made.group = added; /* the sum begins with a term of the first step */
    }
    made.tail = before && added < made.group;
    made.is = added <= made.group;
    made.steps++;
    made.terms.node = node;
    return made;
}

/* The chains that end at each node; to be freed. */
static chain *find_chains(const reveal_tree *t)
{
    chain *chains = tool_alloc((size_t)t->nodes, sizeof *chains, "a tree");
    bool fused = fuses(t);
    for (int32_t at = 0; at < t->nodes; at++) {
        int32_t node = t->order[at], inner = 0;
        const chain *before = NULL;
        for (int32_t c = t->child[node]; c >= 0; c = t->next[c]) {
            if (c >= t->terms) {
                inner++;
                before = &chains[c];
            }
        }
        if (node >= t->terms && inner < 2) {
            chains[node] = extend(t, node, before, fused);
        }
    }
    return chains;
}

static int by_first(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* The size of the groups of all chains that are largest ones; 0: they differ. One step alone fits
 * every size. */
static int32_t common_group(const reveal_tree *t, const chain *chains)
{
    int32_t group = 0, alone = 1;
    for (int32_t node = t->terms; node < t->nodes; node++) {
        const chain *c = &chains[node];
        if (!c->is || (node != t->root && chains[t->parent[node]].is)) {
            continue;
        }
        if (c->steps == 1) {
            alone = c->group > alone ? c->group : alone;
        } else if (group != 0 && group != c->group) {
            return 0;
        } else {
            group = c->group;
        }
    }
    if (group == 0) {
        return alone == 2 ? 1 : alone;
    }
    return alone <= group + 1 ? group : 0;
}

/* The largest chains of a tree, and the terms that are in none, by their first terms. There are no
 * parts if their groups differ in size. */
static part *find_parts(const reveal_tree *t, int32_t *count, int32_t *group)
{
    chain *chains = find_chains(t);
    part *parts = tool_alloc((size_t)t->nodes, sizeof *parts, "a tree");
    *count = 0;
    *group = common_group(t, chains);
    for (int32_t node = 0; node < t->nodes && *group > 0; node++) {
        bool in = node != t->root && chains[t->parent[node]].is;
        if (!in && (node < t->terms || chains[node].is)) {
            parts[*count] = node < t->terms ? (part){node, node, 1, 0, 0} : chains[node].terms;
            ++*count;
        }
    }
    qsort(parts, (size_t)*count, sizeof *parts, by_first);
    free(chains);
    return parts;
}

/* ---- smaller trees --------------------------------------------------------------------------- */

/* The tree whose terms are parts of another one, which together have all its terms. */
static void contract(const reveal_tree *t, const part *parts, int32_t count, reveal_tree *out)
{
    int32_t *now = tool_alloc((size_t)t->nodes, sizeof *now, "a tree");
    memset(now, -1, (size_t)t->nodes * sizeof *now);
    reveal_tree_make(out, count);
    for (int32_t i = 0; i < count; i++) {
        now[parts[i].node] = i;
        for (int32_t up = t->parent[parts[i].node]; up >= 0 && now[up] < 0; up = t->parent[up]) {
            now[up] = reveal_tree_add(out);
        }
    }
    for (int32_t i = 0; i < t->nodes; i++) {
        if (now[i] >= 0) {
            out->parent[now[i]] = t->parent[i] < 0 ? -1 : now[t->parent[i]];
        }
    }
    reveal_tree_finish(out);
    free(now);
}

/* The tree below a node whose terms are consecutive. */
static void subtree(const reveal_tree *t, int32_t top, reveal_tree *out)
{
    int32_t *now = tool_alloc((size_t)t->nodes, sizeof *now, "a tree"), first = t->lowest[top];
    reveal_tree_make(out, t->leaves[top]);
    out->products = t->products;
    now[top] = top < t->terms ? 0 : reveal_tree_add(out);
    for (int32_t at = t->nodes - 1; at >= 0; at--) { /* parents first */
        int32_t node = t->order[at];
        if (node == top || t->lowest[node] < first || t->highest[node] > t->highest[top] ||
            t->leaves[node] >= t->leaves[top]) {
            continue;
        }
        now[node] = node < t->terms ? node - first : reveal_tree_add(out);
        out->parent[now[node]] = now[t->parent[node]];
        out->fused[now[node]] = t->fused[node];
    }
    reveal_tree_finish(out);
    free(now);
}

/* ---- parts in words -------------------------------------------------------------------------- */

static const char *ordinal(int32_t n)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    bool teen = n % 100 > 10 && n % 100 < 14;
    return ends[!teen && n % 10 < 4 ? n % 10 : 0];
}

/* Names the sizes of parts: "4 segments of 1024 terms", "11 segments (9 of 384, 2 of 320 terms)".
 */
static char *sizes_of(const part *parts, int32_t count, const char *name, const char *unit)
{
    char runs[160] = "";
    int32_t different = 0, least = parts[0].count, most = least;
    for (int32_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && parts[end].count == parts[i].count; end++) {
        }
        least = parts[i].count < least ? parts[i].count : least;
        most = parts[i].count > most ? parts[i].count : most;
        if (different++ < 4) {
            size_t used = strlen(runs);
            snprintf(runs + used, sizeof runs - used, "%s%d of %d", used > 0 ? ", " : "", end - i,
                     parts[i].count);
        }
    }
    if (different == 1) {
        return record_format("%d %s of %d %s", count, name, least, unit);
    }
    if (different > 4) {
        return record_format("%d %s of %d to %d %s", count, name, least, most, unit);
    }
    return record_format("%d %s (%s %s)", count, name, runs, unit);
}

/* Whether each part is one run, and they follow each other. */
static bool follow(const part *parts, int32_t count)
{
    int32_t next = 0;
    for (int32_t i = 0; i < count; i++) {
        if (parts[i].first != next || parts[i].stride != 0) {
            return false;
        }
        next += parts[i].count;
    }
    return true;
}

/* Whether the parts take runs of terms in turn. Returns the length of a run; 0: they do not. */
static int32_t interleave(const part *parts, int32_t count)
{
    int32_t run = 0;
    for (int32_t i = 0; i < count && run == 0; i++) {
        run = parts[i].run;
    }
    for (int32_t i = 0; i < count; i++) {
        const part *p = &parts[i];
        bool whole = p->stride == run * count && p->run == run;
        if (p->first != i * run || !(whole || (p->stride == 0 && p->count <= run))) {
            return 0;
        }
    }
    return run;
}

/* A tree without a name: as brackets if it joins a few parts, else by its depth. */
static char *unnamed(const reveal_tree *t, const char *unit, naming *n)
{
    if (t->terms <= BRACKETS_MOST && strcmp(unit, "terms") != 0) {
        char *tree = reveal_tree_brackets(t, 1000);
        char *words = record_format("added as %s", tree);
        free(tree);
        return words;
    }
    n->whole = false;
    return record_format("a tree without a name over %d %s, of depth %d", t->terms, unit,
                         reveal_tree_depth(t));
}

static char *group_words(int32_t group)
{
    return group > 1 ? record_format(" in fused groups of %d", group) : record_format("%s", "");
}

/* Names a tree by its chains; NULL: they are not regular. */
static char *by_chains(const reveal_tree *t, const char *unit, naming *n)
{
    int32_t count, group, run = 0;
    char *text = NULL, *made = NULL, *sizes = NULL;
    part *parts = find_parts(t, &count, &group);
    char *fused = group_words(group);
    if (count > 1 && count < t->terms && follow(parts, count)) {
        sizes = sizes_of(parts, count, "segments", unit);
        made = record_format("%s, each one ascending chain%s", sizes, fused);
    } else if (count > 1 && count < t->terms && (run = interleave(parts, count)) == 1) {
        made = record_format("%d chains of every %d%s of %d %s%s", count, count, ordinal(count),
                             t->terms, unit, fused);
    } else if (run > 1) {
        made = record_format("%d chains, each of %d in every %d of %d %s%s", count, run,
                             run * count, t->terms, unit, fused);
    }
    if (made) {
        reveal_tree small;
        contract(t, parts, count, &small);
        char *rest = describe(&small, run > 0 ? "chains" : "segments", n);
        text = record_format("%s, %s", made, rest);
        free(rest);
        reveal_tree_free(&small);
    }
    free(made);
    free(sizes);
    free(fused);
    free(parts);
    return text;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The largest subtree of at most `most` consecutive terms that begins with this one. */
static int32_t block_at(const reveal_tree *t, int32_t term, int32_t most)
{
    int32_t block = term;
    for (int32_t node = term; node >= 0 && t->lowest[node] == term && t->leaves[node] <= most;
         node = t->parent[node]) {
        if (t->highest[node] - term + 1 == t->leaves[node]) {
            block = node;
        }
    }
    return block;
}

/* Divides a tree into blocks of `size` terms, of which the last two may be smaller. Returns their
 * number; 0: it is not divided so. */
static int32_t divide(const reveal_tree *t, int32_t size, part *blocks)
{
    int32_t count = 0, smaller = 0;
    for (int32_t at = 0; at < t->terms; at += blocks[count++].count) {
        int32_t node = block_at(t, at, size);
        blocks[count] = (part){node, at, t->leaves[node], 0, 0};
        smaller += t->leaves[node] < size;
        if (smaller > 2 || (smaller > 0 && t->leaves[node] == size)) {
            return 0;
        }
    }
    return count > 1 ? count : 0;
}

/* A number for the shape of each node, the same wherever its terms begin; to be freed. */
static uint64_t *find_shapes(const reveal_tree *t)
{
    uint64_t *shapes = tool_alloc((size_t)t->nodes, sizeof *shapes, "a tree");
    for (int32_t at = 0; at < t->nodes; at++) {
        int32_t node = t->order[at];
        shapes[node] = t->products && t->fused[node] ? 2 : 1;
        for (int32_t c = t->child[node]; c >= 0; c = t->next[c]) {
            uint64_t offset = (uint64_t)(t->lowest[c] - t->lowest[node]) + 1;
            shapes[node] ^= shapes[c] + offset * 0x9e3779b97f4a7c15u;
            shapes[node] *= 0xbf58476d1ce4e5b9u;
            shapes[node] ^= shapes[node] >> 29;
        }
    }
    return shapes;
}

/* Whether all blocks of the first one's size have its shape. */
static bool alike(const uint64_t *shapes, const part *blocks, int32_t count)
{
    for (int32_t i = 1; i < count && blocks[i].count == blocks[0].count; i++) {
        if (shapes[blocks[i].node] != shapes[blocks[0].node]) {
            return false;
        }
    }
    return true;
}

static char *in_block(const reveal_tree *t, const part *block, const char *unit, naming *n)
{
    reveal_tree tree;
    subtree(t, block->node, &tree);
    char *text = tree.terms == 1 ? record_format("one of the %s", unit) : describe(&tree, unit, n);
    reveal_tree_free(&tree);
    return text;
}

static char *blocks_words(const reveal_tree *t, const part *blocks, int32_t count, const char *unit,
                          naming *n)
{
    reveal_tree small;
    char *sizes = sizes_of(blocks, count, "blocks", unit);
    contract(t, blocks, count, &small);
    char *outer = describe(&small, "blocks", n);
    char *inner = in_block(t, &blocks[0], unit, n);
    char *text = record_format("%s, %s; in a block %s", sizes, outer, inner);
    for (int32_t i = 1; i < count; i++) {
        if (blocks[i].count != blocks[i - 1].count) {
            char *before = text, *smaller = in_block(t, &blocks[i], unit, n);
            text = record_format("%s; in one of %d %s", before, blocks[i].count, smaller);
            free(before);
            free(smaller);
        }
    }
    reveal_tree_free(&small);
    free(sizes);
    free(outer);
    free(inner);
    return text;
}

/* Names a tree by its blocks; NULL: it has none. */
static char *by_blocks(const reveal_tree *t, const char *unit, naming *n)
{
    part *blocks = tool_alloc((size_t)t->terms, sizeof *blocks, "a tree");
    uint64_t *shapes = find_shapes(t);
    char *text = NULL;
    for (int32_t node = t->parent[0]; node >= 0 && node != t->root && !text;
         node = t->parent[node]) {
        int32_t size = t->leaves[node];
        if (t->lowest[node] != 0 || t->highest[node] != size - 1) {
            continue;
        }
        int32_t count = divide(t, size, blocks);
        if (count > 0 && alike(shapes, blocks, count)) {
            text = blocks_words(t, blocks, count, unit, n);
        }
    }
    free(shapes);
    free(blocks);
    return text;
}

/* ---- a whole tree ---------------------------------------------------------------------------- */

/* Whether it is one chain in ascending order, by steps of the same size. */
static char *one_chain(const reveal_tree *t, const char *unit)
{
    int32_t count, group;
    part *parts = find_parts(t, &count, &group);
    bool whole = count == 1 && parts[0].stride == 0 && parts[0].count == t->terms && t->terms > 1;
    free(parts);
    if (!whole || (group > 1 && group >= t->terms) || (group == 1 && strcmp(unit, "terms") != 0)) {
        return NULL;
    }
    char *fused = group_words(group);
    char *text = record_format("one ascending chain of %d %s%s", t->terms, unit, fused);
    free(fused);
    return text;
}

static char *describe(const reveal_tree *t, const char *unit, naming *n)
{
    naming chains = {n->depth + 1, true}, blocks = chains;
    bool first = strcmp(unit, "terms") == 0;
    char *text = one_chain(t, unit);
    const char *way = text || (first && fuses(t)) ? NULL : reveal_way(t);
    if (way) {
        text = first ? record_format("%d %s %s", t->terms, unit, way) : record_format("%s", way);
    }
    if (!text && (n->depth == DEEPEST || (!first && t->terms <= BRACKETS_MOST))) {
        return unnamed(t, unit, n);
    }
    text = text ? text : by_chains(t, unit, &chains);
    if (!text || !chains.whole) { /* the blocks may name all of it */
        char *other = by_blocks(t, unit, &blocks);
        if (other && (!text || blocks.whole)) {
            free(text);
            text = other;
            chains = blocks;
        } else {
            free(other);
        }
    }
    n->whole = n->whole && chains.whole;
    return text ? text : unnamed(t, unit, n);
}

char *reveal_words(const reveal_tree *tree, bool *known)
{
    naming n = {0, true};
    char *text = tree->terms == 1 ? record_format("one term") : describe(tree, "terms", &n);
    *known = n.whole;
    return text;
}
