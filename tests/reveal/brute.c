/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brute.c BACKEND: of all orders in which up to seven terms can be added, with products rounded or
 * not, those that give a routine's bits on random numbers. The order that `isomer reveal` finds
 * must be among them, and all of them must have its tree. Nothing here uses its arithmetic.
 */
#include "bench/reveal/reveal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 7, NODES = 2 * TERMS, SAMPLES = 200 };

/* An order: inner nodes have two children. Bit k of `fused`: product k is not rounded. */
typedef struct order {
    int32_t count, root, parent[NODES], child[NODES][2];
    uint32_t fused;
} order;

typedef struct trial {
    const reveal_case *item;
    double x[SAMPLES][TERMS], y[SAMPLES][TERMS], got[SAMPLES];
    int32_t samples, terms, matches;
    char wanted[33];
    bool found; /* the order that was revealed is among the matches */
} trial;

static double round_to(const trial *t, double value)
{
    return t->item->dtype == ISO_F32 ? (float)value : value;
}

static double evaluate(const trial *t, const order *o, int32_t node, int32_t sample)
{
    const double *x = t->x[sample], *y = t->y[sample];
    if (node < t->terms) { /* a product of floats is exact in double */
        return round_to(t, x[node] * y[node]);
    }
    for (int side = 0; side < 2; side++) {
        int32_t leaf = o->child[node][side], other = o->child[node][1 - side];
        if (leaf < t->terms && (o->fused >> leaf & 1)) {
            double sum = evaluate(t, o, other, sample);
            return t->item->dtype == ISO_F32
                       ? (double)fmaf((float)x[leaf], (float)y[leaf], (float)sum)
                       : fma(x[leaf], y[leaf], sum);
        }
    }
    double a = evaluate(t, o, o->child[node][0], sample);
    double b = evaluate(t, o, o->child[node][1], sample);
    return t->item->dtype == ISO_F32 ? (double)((float)a + (float)b) : a + b;
}

/* Counts an order that gives all bits. */
static void try_order(trial *t, const order *o)
{
    for (int32_t s = 0; s < t->samples; s++) {
        if (evaluate(t, o, o->root, s) != t->got[s]) {
            return;
        }
    }
    reveal_tree tree;
    char digest[33];
    reveal_tree_make(&tree, t->terms);
    while (tree.nodes < o->count) {
        reveal_tree_add(&tree);
    }
    for (int32_t i = 0; i < o->count; i++) {
        tree.parent[i] = o->parent[i];
    }
    tree.products = t->item->op->products;
    for (int32_t i = 0; i < t->terms; i++) {
        tree.fused[i] = o->fused >> i & 1;
    }
    if (reveal_tree_finish(&tree)) {
        reveal_tree_digest(&tree, digest);
        t->matches++;
        t->found = t->found || strcmp(digest, t->wanted) == 0;
    }
    reveal_tree_free(&tree);
}

/* All ways to round or not to round the products of an order. Without products there is one. */
static void try_roundings(trial *t, order *o)
{
    for (uint32_t fused = 0; fused < (t->item->op->products ? 1u << t->terms : 1u); fused++) {
        bool possible = true;
        for (int32_t node = t->terms; node < o->count; node++) {
            int32_t a = o->child[node][0], b = o->child[node][1];
            possible =
                possible && !(a < t->terms && b < t->terms && (fused >> a & 1) && (fused >> b & 1));
        }
        o->fused = fused;
        if (possible) {
            try_order(t, o);
        }
    }
}

/* Adds the next term above each node in turn. */
static void enumerate(trial *t, const order *o, int32_t term)
{
    if (term == t->terms) {
        order whole = *o;
        try_roundings(t, &whole);
        return;
    }
    for (int32_t at = 0; at < o->count; at++) {
        bool there = at < term || at >= t->terms;
        if (!there) {
            continue;
        }
        order more = *o;
        int32_t up = more.count++, above = o->parent[at];
        more.child[up][0] = at;
        more.child[up][1] = term;
        more.parent[up] = above;
        more.parent[at] = more.parent[term] = up;
        if (above < 0) {
            more.root = up;
        } else {
            more.child[above][more.child[above][1] == at] = up;
        }
        enumerate(t, &more, term + 1);
    }
}

/* Runs the routine on random numbers. */
static bool sample(trial *t, reveal_routine *r)
{
    const int64_t k = t->item->k, columns = t->item->n;
    const bool shared = t->item->op->matrix;
    for (int32_t run = 0; t->samples < SAMPLES; run++) {
        reveal_set_random(r, 100u + (unsigned)run);
        if (!reveal_call(r, 0)) {
            return false;
        }
        for (int64_t s = 0; s < r->in->count && t->samples < SAMPLES; s++) {
            int64_t at = r->in->elements[s], row = at / columns, column = at % columns;
            for (int64_t i = 0; i < k; i++) {
                int64_t b = shared ? i * columns + column : row * k + i;
                size_t a = (size_t)(row * k + i) * r->element;
                t->x[t->samples][i] = arith_load(t->item->dtype, r->host[0] + a);
                t->y[t->samples][i] =
                    t->item->op->products
                        ? arith_load(t->item->dtype, r->host[1] + (size_t)b * r->element)
                        : 1;
            }
            t->got[t->samples++] = reveal_get(r, at);
        }
    }
    return true;
}

static bool check(iso_device device, const reveal_case *item)
{
    reveal_routine r;
    reveal_class classes[REVEAL_CLASSES] = {{0}};
    reveal_order found = {0};
    reveal_search search;
    trial t = {.item = item, .terms = (int32_t)item->k};
    bool good = reveal_open(&r, device, item, 60) && reveal_calibrate(&r) &&
                reveal_classify(&r, classes) > 0;
    r.in = &classes[0];
    good =
        good && reveal_find(t.terms, reveal_ask_routine, &r, &found.tree, &search) == REVEAL_FOUND;
    bool refused = good && !reveal_check(&r, &found);
    good = good && (!refused || r.status == BENCH_FAILED) && sample(&t, &r);
    if (good) {
        order first = {.count = t.terms, .root = 0};
        memset(first.parent, -1, sizeof first.parent);
        memcpy(t.wanted, found.digest, sizeof t.wanted);
        enumerate(&t, &first, 1);
        /* If no order was accepted, there must be none. */
        good = refused ? t.matches == 0 : t.found && t.matches == 1;
    }
    printf("%s %s %s of %d terms: %d of all orders give the bits of %d results, %s; %s\n",
           iso_dtype_name(item->dtype), iso_variant_name(item->variant), item->op->name, t.terms,
           t.matches, t.samples, t.found ? "the revealed one too" : "not the revealed one",
           found.words ? found.words : r.problem);
    reveal_tree_free(&found.tree);
    free(found.words);
    reveal_classes_free(classes);
    reveal_close(&r);
    return good;
}

int main(int argc, char **argv)
{
    const iso_variant variants[] = {ISO_VARIANT_VENDOR, ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};
    const int32_t most = argc > 2 ? atoi(argv[2]) : TERMS;
    int checked = 0, wrong = 0;
    iso_device device;
    if (argc < 2 || iso_device_open(argv[1], &device) != ISO_OK) {
        printf("SKIP: %s\n", argc < 2 ? "no backend is named" : iso_last_error());
        return 77;
    }
    for (int32_t i = 0; i < REVEAL_OPS * 3 * 2; i++) {
        const reveal_op *op = &reveal_ops[i % REVEAL_OPS];
        for (int32_t k = 2; k <= most; k++) {
            const reveal_case item = {.op = op,
                                      .variant = variants[i / REVEAL_OPS % 3],
                                      .dtype = i / REVEAL_OPS < 3 ? ISO_F32 : ISO_F64,
                                      .math = ISO_MATH_STRICT,
                                      .m = op->matrix ? 6 : 1,
                                      .n = op->row == &bench_gemm ? 5 : 1,
                                      .k = k};
            iso_op_info info;
            if (reveal_describe(device, &item, &info) == ISO_OK) {
                checked++;
                wrong += !check(device, &item);
            }
        }
    }
    iso_device_close(device);
    printf("%d routines, %d wrong\n", checked, wrong);
    return wrong > 0 || checked == 0;
}
