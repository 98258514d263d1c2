/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the order in which a routine adds its terms, as a tree: how it is found from answers to
 * questions, what it predicts, and what it is called. Nothing here runs a routine.
 *
 * The leaves are the terms 0 to terms - 1. An inner node adds the values of its children in one
 * step. It has two of them if the step is an addition, more if a matrix unit adds several terms at
 * once.
 */
#ifndef ISOMER_REVEAL_TREE_H
#define ISOMER_REVEAL_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* ---- tree.c ---------------------------------------------------------------------------------- */

typedef struct reveal_tree {
    int32_t terms, nodes, root; /* nodes below `terms` are the terms */
    int32_t *parent;            /* of each node; -1: none. The others are made from it */
    int32_t *leaves;            /* terms below the node, and itself */
    int32_t *lowest, *highest;  /* among these terms */
    int32_t *degree;            /* children */
    int32_t *child, *next;      /* the first child and the next sibling, by lowest term; -1: none */
    int32_t *order;             /* all nodes, children before their parents */
    /* Whether a term's product enters the sum by a fused multiply-add, without being rounded. Has
     * no meaning unless `products` is set. */
    bool *fused;
    bool products;
} reveal_tree;

/* A tree of `terms` leaves without inner nodes. It has room for all that it may need. */
void reveal_tree_make(reveal_tree *tree, int32_t terms);
int32_t reveal_tree_add(reveal_tree *tree); /* a node without a parent */
/* Fills in what follows from `parent`. False: it is not one tree over all terms. */
bool reveal_tree_finish(reveal_tree *tree);
void reveal_tree_free(reveal_tree *tree);

/* The lowest node above both terms. */
int32_t reveal_tree_meet(const reveal_tree *tree, int32_t i, int32_t j);
int32_t reveal_tree_depth(const reveal_tree *tree);
/* The greatest number of children; 2 for additions. */
int32_t reveal_tree_widest(const reveal_tree *tree);
/* XXH3-128 of the tree, the same for two trees if and only if they are the same. */
void reveal_tree_digest(const reveal_tree *tree, char text[33]);
/* The tree in brackets: a range 0-9 is a chain of these terms in ascending order, + joins what one
 * step adds. At most `most` bytes, then "...". The caller frees the text. */
char *reveal_tree_brackets(const reveal_tree *tree, int64_t most);

/* ---- method.c -------------------------------------------------------------------------------- */

typedef struct reveal_pair {
    int32_t i, j;
} reveal_pair;

/* Finds, for each pair of terms, how many terms are below the lowest node above both. False: it
 * cannot go on. */
typedef bool reveal_ask(void *context, const reveal_pair *pairs, int32_t count, int32_t *sizes);

typedef enum reveal_outcome {
    REVEAL_FOUND,
    REVEAL_CONTRADICTION, /* no tree gives these answers */
    REVEAL_STOPPED        /* `ask` returned false */
} reveal_outcome;

typedef struct reveal_search {
    int64_t questions; /* pairs that were asked for */
    int32_t placed;    /* terms whose place is known */
    char problem[160]; /* of a contradiction */
} reveal_search;

/* Finds the tree, which the caller frees if REVEAL_FOUND is returned. */
reveal_outcome reveal_find(int32_t terms, reveal_ask *ask, void *context, reveal_tree *tree,
                           reveal_search *search);

/* ---- values.c -------------------------------------------------------------------------------- */

/* The arithmetic of a step. */
typedef enum reveal_format { REVEAL_F16, REVEAL_F32, REVEAL_F64 } reveal_format;

typedef struct reveal_arithmetic {
    reveal_format format; /* of the sums */
    /* Nodes with over two children: each value is cut to a multiple of 2^-kept of the power of two
     * above the largest, their sum is exact, and then it is cut to the format (`cut`) or rounded to
     * nearest. 0: the sum is exact and rounded once. */
    int32_t kept;
    bool cut;
} reveal_arithmetic;

/* The sum of x[k] * y[k] (y NULL: of x[k]) as the tree computes it. `scratch` has room for a value
 * of each node. */
double reveal_value(const reveal_tree *tree, const reveal_arithmetic *arithmetic, const double *x,
                    const double *y, double *scratch);

/* ---- ways.c ---------------------------------------------------------------------------------- */

/* How the tree adds its terms, in words: "folded in halves". NULL: no known way. */
const char *reveal_way(const reveal_tree *tree);

/* ---- words.c --------------------------------------------------------------------------------- */

/* Names the order: "one chain, ascending", ... The caller frees the text. `known` is false if it
 * has no name. */
char *reveal_words(const reveal_tree *tree, bool *known);

#endif
