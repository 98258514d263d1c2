/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees.c - made-up orders of addition: the method finds each of them exactly, by asking a routine
 * that adds in this order; contradictions are noticed; known orders get their names.
 */
#include "bench/reveal/reveal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t most)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % most;
}

/* ---- a routine ------------------------------------------------------------------------------- */

typedef struct routine {
    const reveal_tree *tree;
    double *x, *scratch;
    int32_t wrong; /* this answer is wrong; -1: none */
    int64_t answers;
    int64_t most; /* answers that it gives */
} routine;

/* Runs the routine on a mask: ones, 2^60 and -2^60. */
static bool ask(void *context, const reveal_pair *pairs, int32_t count, int32_t *sizes)
{
    routine *r = context;
    const reveal_arithmetic f32 = {.format = REVEAL_F32, .kept = 24, .cut = true};
    for (int32_t p = 0; p < count; p++) {
        for (int32_t i = 0; i < r->tree->terms; i++) {
            r->x[i] = 1;
        }
        r->x[pairs[p].i] = 0x1p60;
        r->x[pairs[p].j] = -0x1p60;
        double left = reveal_value(r->tree, &f32, r->x, NULL, r->scratch);
        sizes[p] = r->tree->terms - (int32_t)left + (r->answers == r->wrong);
        if (++r->answers > r->most) {
            return false;
        }
    }
    return true;
}

static routine make_routine(const reveal_tree *tree)
{
    routine r = {.tree = tree, .wrong = -1, .most = INT64_MAX};
    r.x = calloc((size_t)tree->terms, sizeof *r.x);
    r.scratch = calloc((size_t)tree->nodes, sizeof *r.scratch);
    assert_true(r.x && r.scratch);
    return r;
}

static void free_routine(routine *r)
{
    free(r->x);
    free(r->scratch);
}

/* Finds the tree by the method, and returns how many questions that took. */
static int64_t find(const reveal_tree *tree)
{
    routine r = make_routine(tree);
    reveal_tree found;
    reveal_search search;
    char wanted[33], got[33];
    assert_int_equal(reveal_find(tree->terms, ask, &r, &found, &search), REVEAL_FOUND);
    assert_int_equal(search.placed, tree->terms);
    reveal_tree_digest(tree, wanted);
    reveal_tree_digest(&found, got);
    assert_string_equal(wanted, got);
    reveal_tree_free(&found);
    free_routine(&r);
    return search.questions;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Joins random items until one is left; a node has up to `most` children. */
static void make_random(reveal_tree *tree, int32_t terms, uint32_t most)
{
    int32_t count = terms, *items = calloc((size_t)terms, sizeof *items);
    assert_non_null(items);
    reveal_tree_make(tree, terms);
    for (int32_t i = 0; i < terms; i++) {
        items[i] = i;
    }
    while (count > 1) {
        uint32_t children = 2 + random_below(most - 1);
        int32_t node = reveal_tree_add(tree);
        for (uint32_t c = 0; c < children && count > 0; c++) {
            uint32_t at = random_below((uint32_t)count);
            tree->parent[items[at]] = node;
            items[at] = items[--count];
        }
        items[count++] = node;
    }
    free(items);
    assert_true(reveal_tree_finish(tree));
}

/* A chain of the terms first, first + step, ... below `end`, `group` at a time. */
static int32_t make_chain(reveal_tree *tree, int32_t first, int32_t step, int32_t end,
                          int32_t group)
{
    int32_t node = first, i = first + step;
    if (group > 1) {
        node = reveal_tree_add(tree);
        for (i = first; i < end && i < first + group * step; i += step) {
            tree->parent[i] = node;
        }
    }
    while (i < end) {
        int32_t up = reveal_tree_add(tree);
        tree->parent[node] = up;
        for (int32_t g = 0; g < group && i < end; g++, i += step) {
            tree->parent[i] = up;
        }
        node = up;
    }
    return node;
}

static int32_t make_join(reveal_tree *tree, int32_t a, int32_t b)
{
    int32_t node = reveal_tree_add(tree);
    tree->parent[a] = tree->parent[b] = node;
    return node;
}

/* Clause 5 of docs/bits.md, without its first step if `lanes` is 1. */
static int32_t make_lanes(reveal_tree *tree, int32_t first, int32_t end, int32_t lanes)
{
    int32_t lane[128];
    for (int32_t l = 0; l < lanes; l++) {
        lane[l] = first + l < end ? make_chain(tree, first + l, lanes, end, 1) : -1;
    }
    for (int32_t half = lanes / 2; half > 0; half /= 2) {
        for (int32_t l = 0; l < half; l++) {
            lane[l] = lane[l + half] < 0 ? lane[l] : make_join(tree, lane[l], lane[l + half]);
        }
    }
    return lane[0];
}

static void check_name(reveal_tree *tree, const char *wanted)
{
    bool known;
    assert_true(reveal_tree_finish(tree));
    char *words = reveal_words(tree, &known);
    assert_string_equal(words, wanted);
    assert_true(known);
    free(words);
    tree->products = false; /* the method does not look at them */
    find(tree);
    reveal_tree_free(tree);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_random(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 400; i++) {
        reveal_tree tree;
        make_random(&tree, 1 + (int32_t)random_below(i < 300 ? 20 : 200), 2 + (uint32_t)i % 4);
        find(&tree);
        reveal_tree_free(&tree);
    }
}

static void test_questions(void **state)
{
    (void)state;
    enum { TERMS = 1000 };
    reveal_tree tree;
    reveal_tree_make(&tree, TERMS);
    make_chain(&tree, 0, 1, TERMS, 1);
    assert_true(reveal_tree_finish(&tree));
    assert_true(find(&tree) < 4 * TERMS);
    reveal_tree_free(&tree);
    reveal_tree_make(&tree, TERMS);
    int32_t node = TERMS - 1;
    for (int32_t i = TERMS - 2; i >= 0; i--) {
        node = make_join(&tree, node, i);
    }
    assert_true(reveal_tree_finish(&tree));
    assert_true(find(&tree) < 4 * TERMS);
    reveal_tree_free(&tree);
}

static void test_contradictions(void **state)
{
    (void)state;
    int noticed = 0;
    for (int32_t wrong = 0; wrong < 100; wrong++) {
        reveal_tree tree, found;
        reveal_search search;
        make_random(&tree, 40, 3);
        routine r = make_routine(&tree);
        r.wrong = wrong;
        char digests[2][33];
        if (reveal_find(40, ask, &r, &found, &search) == REVEAL_FOUND) {
            /* One wrong answer may fit another tree. */
            reveal_tree_digest(&tree, digests[0]);
            reveal_tree_digest(&found, digests[1]);
            assert_int_equal(strcmp(digests[0], digests[1]) != 0, r.answers > wrong);
            reveal_tree_free(&found);
        } else {
            assert_true(r.answers > wrong);
            assert_string_not_equal(search.problem, "");
            noticed++;
        }
        free_routine(&r);
        reveal_tree_free(&tree);
    }
    assert_true(noticed > 50);
}

static void test_stopped(void **state)
{
    (void)state;
    reveal_tree tree, found;
    reveal_search search;
    make_random(&tree, 50, 2);
    routine r = make_routine(&tree);
    r.most = 60;
    assert_int_equal(reveal_find(50, ask, &r, &found, &search), REVEAL_STOPPED);
    assert_true(search.placed < 50);
    free_routine(&r);
    reveal_tree_free(&tree);
}

static void test_broken(void **state)
{
    (void)state;
    reveal_tree tree;
    reveal_tree_make(&tree, 3); /* no node joins the terms */
    assert_false(reveal_tree_finish(&tree));
    make_join(&tree, 0, 1); /* nor all of them */
    assert_false(reveal_tree_finish(&tree));
    reveal_tree_free(&tree);
}

static void test_chains(void **state)
{
    (void)state;
    reveal_tree t;
    reveal_tree_make(&t, 1);
    check_name(&t, "one term");
    reveal_tree_make(&t, 100);
    make_chain(&t, 0, 1, 100, 1);
    check_name(&t, "one ascending chain of 100 terms");
    reveal_tree_make(&t, 64);
    make_chain(&t, 0, 1, 64, 16);
    check_name(&t, "one ascending chain of 64 terms in fused groups of 16");
    reveal_tree_make(&t, 70);
    make_chain(&t, 0, 1, 70, 8);
    check_name(&t, "one ascending chain of 70 terms in fused groups of 8");
    reveal_tree_make(&t, 9);
    make_chain(&t, 0, 1, 9, 9);
    check_name(&t, "9 terms added in one step");
}

static void test_segments(void **state)
{
    (void)state;
    static const int32_t ends[] = {384, 768, 1088, 1408};
    reveal_tree t;
    int32_t node = -1, begin = 0;
    reveal_tree_make(&t, 1408);
    for (int32_t i = 0; i < 4; begin = ends[i++]) {
        int32_t part = make_chain(&t, begin, 1, ends[i], 1);
        node = node < 0 ? part : make_join(&t, node, part);
    }
    check_name(&t,
               "4 segments (2 of 384, 2 of 320 terms), each one ascending chain, added in order");

    /* Only the rounding of its product shows that the last term is a segment. */
    reveal_tree_make(&t, 33);
    node = make_join(&t, make_chain(&t, 0, 1, 32, 1), 32);
    t.products = true;
    memset(t.fused, true, 32 * sizeof *t.fused);
    t.fused[0] = false;
    check_name(&t, "2 segments (1 of 32, 1 of 1 terms), each one ascending chain, added in order");
}

static void test_lanes(void **state)
{
    (void)state;
    reveal_tree t;
    reveal_tree_make(&t, 1000);
    make_lanes(&t, 0, 1000, 128);
    check_name(&t, "128 chains of every 128th of 1000 terms, folded in halves");
    reveal_tree_make(&t, 100);
    make_lanes(&t, 0, 100, 128);
    check_name(&t, "100 terms folded in halves");
    reveal_tree_make(&t, 3000);
    make_join(&t, make_join(&t, make_lanes(&t, 0, 1024, 8), make_lanes(&t, 2048, 3000, 8)),
              make_lanes(&t, 1024, 2048, 8));
    check_name(&t, "3 blocks (2 of 1024, 1 of 952 terms), folded in halves; in a block 8 chains of "
                   "every 8th of 1024 terms, folded in halves; in one of 952 8 chains of every 8th "
                   "of 952 terms, folded in halves");
    reveal_tree_make(&t, 64);
    int32_t a = make_join(&t, make_chain(&t, 0, 4, 64, 1), make_chain(&t, 1, 4, 64, 1));
    make_join(&t, a, make_join(&t, make_chain(&t, 2, 4, 64, 1), make_chain(&t, 3, 4, 64, 1)));
    check_name(&t, "4 chains of every 4th of 64 terms, added pairwise, neighbours first");
}

static void test_unnamed(void **state)
{
    (void)state;
    reveal_tree tree;
    bool known;
    make_random(&tree, 100, 2);
    char *words = reveal_words(&tree, &known);
    assert_false(known);
    assert_non_null(strstr(words, "a tree without a name over 100 terms, of depth "));
    free(words);
    reveal_tree_free(&tree);
}

/* Terms join on the right and on the left in turn: without a limit the words would be nested 10000
 * deep. */
static void test_nested(void **state)
{
    (void)state;
    enum { TERMS = 20001 };
    reveal_tree tree;
    bool known;
    int32_t node = TERMS / 2;
    reveal_tree_make(&tree, TERMS);
    for (int32_t i = 1; i <= TERMS / 2; i++) {
        node = make_join(&tree, make_join(&tree, node, TERMS / 2 + i), TERMS / 2 - i);
    }
    assert_true(reveal_tree_finish(&tree));
    char *words = reveal_words(&tree, &known);
    assert_false(known);
    assert_true(strlen(words) < 500);
    free(words);
    reveal_tree_free(&tree);
}

static void test_brackets(void **state)
{
    (void)state;
    reveal_tree tree;
    reveal_tree_make(&tree, 10);
    make_join(&tree, make_join(&tree, make_chain(&tree, 0, 1, 4, 1), make_chain(&tree, 4, 1, 8, 1)),
              make_join(&tree, 8, 9));
    assert_true(reveal_tree_finish(&tree));
    char *whole = reveal_tree_brackets(&tree, 100), *part = reveal_tree_brackets(&tree, 5);
    assert_string_equal(whole, "((0-3+4-7)+8-9)");
    assert_string_equal(part, "((0-3...");
    free(whole);
    free(part);
    reveal_tree_free(&tree);
}

/* Sixteen columns of which the last three differ from the others, and one result that differs from
 * all. */
static void test_classes(void **state)
{
    (void)state;
    enum { ROWS = 8, COLUMNS = 16 };
    uint64_t signatures[ROWS * COLUMNS];
    reveal_class classes[REVEAL_CLASSES] = {{0}};
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        signatures[i] = i % COLUMNS < 13 ? 7 : 5;
    }
    signatures[2 * COLUMNS + 14] = 6;
    assert_int_equal(reveal_divide(signatures, ROWS, COLUMNS, classes), 3);
    assert_string_equal(classes[0].where, "columns 0-12");
    assert_int_equal(classes[0].count, ROWS * 13);
    assert_int_equal(classes[1].column, 13);
    assert_int_equal(classes[1].row_count, ROWS);
    assert_string_equal(classes[1].where, "23 of 128 results, the first in row 0, column 13");
    assert_int_equal(classes[2].count, 1);
    assert_string_equal(classes[2].where, "1 of 128 results, the first in row 2, column 14");
    reveal_classes_free(classes);
}

/* Results of a routine that adds in another order each time all differ. */
static void test_many_classes(void **state)
{
    (void)state;
    enum { SIDE = 1024 };
    reveal_class classes[REVEAL_CLASSES] = {{0}};
    uint64_t *signatures = calloc(SIDE * SIDE, sizeof *signatures);
    assert_non_null(signatures);
    for (int i = 0; i < SIDE * SIDE; i++) {
        signatures[i] = (uint64_t)i * 0x9e3779b97f4a7c15u;
    }
    assert_int_equal(reveal_divide(signatures, SIDE, SIDE, classes), SIDE * SIDE);
    assert_int_equal(classes[REVEAL_CLASSES - 1].elements[0], REVEAL_CLASSES - 1);
    reveal_classes_free(classes);
    free(signatures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),         cmocka_unit_test(test_questions),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_broken),         cmocka_unit_test(test_chains),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_unnamed),        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_brackets),       cmocka_unit_test(test_classes),
        cmocka_unit_test(test_many_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
