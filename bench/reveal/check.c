/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - what a tree leaves open, and whether it is right: which products are rounded before
 * they are added, further pairs of terms, and sums of random numbers.
 */
#include "bench/reveal/reveal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 64, VALUES = 32 };

static bool is_wide(iso_dtype dtype)
{
    return dtype == ISO_F32 || dtype == ISO_F64;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Of f16 and bf16, products are exact in f32. */
static bool has_roundings(const reveal_case *item)
{
    return item->op->products && is_wide(item->dtype) && item->math != ISO_MATH_TF32;
}

/* The lowest term among the siblings of a term. */
static int32_t partner(const reveal_tree *t, int32_t term)
{
    int32_t first = t->child[t->parent[term]];
    return t->lowest[first != term ? first : t->next[first]];
}

/* Asks for each term: y * y has more digits than the type, and -y is added to it at the term's own
 * node. All other terms are 0. */
static bool find_roundings(reveal_routine *r, reveal_tree *t)
{
    const double part = r->item->dtype == ISO_F32 ? 0x1p-12 : 0x1p-27, y = 1 + part;
    const int64_t rows = r->in->row_count, k = r->item->k, columns = r->item->n;
    const int64_t *at = r->in->rows;
    reveal_set_second(r, y);
    for (int64_t first = 0; first < k; first += rows) {
        int64_t now = k - first < rows ? k - first : rows;
        memset(r->host[0], 0, (size_t)r->bytes[0]);
        for (int64_t row = 0; row < now; row++) {
            reveal_set(r, 0, at[row] * k + first + row, y);
            reveal_set(r, 0, at[row] * k + partner(t, (int32_t)(first + row)), -1);
        }
        if (!reveal_call(r, 0)) {
            return false;
        }
        for (int64_t row = 0; row < now; row++) {
            double got = reveal_get(r, at[row] * columns + r->in->column);
            t->fused[first + row] = got == part + part * part;
            if (got != part && !t->fused[first + row]) {
                return reveal_fail(r, BENCH_FAILED,
                                   "the product of term %lld is neither exact nor rounded to "
                                   "nearest",
                                   (long long)(first + row));
            }
        }
    }
    t->products = true;
    reveal_set_second(r, 1);
    return true;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool check_pairs(reveal_routine *r, const reveal_tree *t, int32_t *checked)
{
    reveal_pair pairs[PAIRS];
    int32_t sizes[PAIRS];
    for (int32_t p = 0; p < PAIRS; p++) {
        pairs[p] = reveal_some_pair(t->terms, 2, p);
    }
    if (!reveal_ask_routine(r, pairs, PAIRS, sizes)) {
        return false;
    }
    for (int32_t p = 0; p < PAIRS; p++) {
        int32_t wanted = t->leaves[reveal_tree_meet(t, pairs[p].i, pairs[p].j)];
        if (sizes[p] != wanted) {
            return reveal_fail(
                r, BENCH_FAILED,
                "the step that joins terms %d and %d is above %d terms, not %d as in the tree that "
                "other answers gave",
                pairs[p].i, pairs[p].j, sizes[p], wanted);
        }
    }
    *checked = PAIRS;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The terms of some results, and the results. */
typedef struct samples {
    double *x, *y, *scratch; /* VALUES x k; y NULL: sums */
    unsigned char *got;
} samples;

/* The index in C of a result: the first, the last and random ones. */
static int64_t sample_at(const reveal_class *in, int32_t s)
{
    uint64_t any = arith_mix(3, (uint64_t)s) % (uint64_t)in->count;
    return in->elements[s == 0 ? 0 : s == 1 ? in->count - 1 : (int64_t)any];
}

static void free_samples(samples *s)
{
    free(s->x);
    free(s->y);
    free(s->scratch);
    free(s->got);
}

void reveal_set_random(reveal_routine *r, uint64_t seed)
{
    for (int i = 0; i < 2; i++) {
        int64_t count = r->bytes[i] / (int64_t)r->element;
        if (count > 0) {
            arith_generate(r->item->dtype, ARITH_UNIFORM, 2 * seed + (uint64_t)i, count,
                           r->host[i]);
        }
        /* Uniform numbers are multiples of one number, whose sums may be exact in every order. */
        for (int64_t at = 0; i == 0 && at < count; at++) {
            double value = arith_load(r->item->dtype, r->host[0] + (size_t)at * r->element);
            reveal_set(r, 0, at, ldexp(value, (int)(arith_mix(seed, (uint64_t)at) % 16) - 8));
        }
        r->stale[i] = true;
    }
}

/* Keeps a result and its terms. */
static void keep_sample(const reveal_routine *r, samples *s, int32_t v)
{
    const reveal_case *item = r->item;
    const int64_t k = item->k, columns = item->n;
    const bool shared = item->op->matrix; /* all rows have the same B */
    int64_t at = sample_at(r->in, v), row = at / columns, column = at % columns;
    size_t b = shared ? (size_t)column : (size_t)(row * k);
    arith_widen(item->dtype, r->host[0] + (size_t)(row * k) * r->element, 1, k, s->x + v * k);
    if (s->y) {
        arith_widen(item->dtype, r->host[1] + b * r->element, shared ? columns : 1, k,
                    s->y + v * k);
    }
    memcpy(s->got + (size_t)v * r->element, r->host[2] + (size_t)at * r->element, r->element);
}

/* Runs the routine on random numbers, several times: it may have one result only. */
static bool take_samples(reveal_routine *r, const reveal_tree *t, samples *s)
{
    const size_t terms = (size_t)(VALUES * r->item->k);
    s->x = tool_alloc(terms, sizeof *s->x, "terms");
    s->y = r->item->op->products ? tool_alloc(terms, sizeof *s->y, "terms") : NULL;
    s->scratch = tool_alloc((size_t)t->nodes, sizeof *s->scratch, "terms");
    s->got = tool_alloc(VALUES, r->element, "results");
    for (int32_t v = 0; v < VALUES; v++) {
        if (v % (r->in->count > 1 ? 4 : 1) == 0) {
            reveal_set_random(r, 11 + (uint64_t)v);
            if (!reveal_call(r, 0)) {
                return false;
            }
        }
        keep_sample(r, s, v);
    }
    return true;
}

/* How many of the results an arithmetic predicts, up to the first that it does not. */
static int32_t predicted(const reveal_routine *r, const reveal_tree *t, const samples *s,
                         const reveal_arithmetic *a)
{
    unsigned char stored[8];
    int32_t v = 0;
    for (; v < VALUES; v++) {
        int64_t at = v * r->item->k;
        double value = reveal_value(t, a, s->x + at, s->y ? s->y + at : NULL, s->scratch);
        arith_store(r->item->dtype, stored, value);
        if (memcmp(stored, s->got + (size_t)v * r->element, r->element) != 0) {
            break;
        }
    }
    return v;
}

/* Tries the formats that the sums of this type may have and, if steps add several values, the ways
 * to cut them. Returns the number of results that the best arithmetic predicts. */
static int32_t find_arithmetic(const reveal_routine *r, const reveal_tree *t, const samples *s,
                               reveal_arithmetic *out)
{
    enum { KEPT_LEAST = 20, KEPT_MOST = 40 }; /* bits; f32 has 24 */
    const iso_dtype dtype = r->item->dtype;
    const bool tried[] = {
        [REVEAL_F16] = dtype == ISO_F16, [REVEAL_F32] = true, [REVEAL_F64] = dtype == ISO_F64};
    const bool wide = reveal_tree_widest(t) > 2;
    int32_t most = -1;
    for (int f = REVEAL_F64; f >= REVEAL_F16; f--) {
        for (int32_t kept = 0; kept <= (wide ? KEPT_MOST : 0); kept += kept == 0 ? KEPT_LEAST : 1) {
            for (int cut = 0; cut < (wide ? 2 : 1) && most < VALUES && tried[f]; cut++) {
                const reveal_arithmetic a = {(reveal_format)f, kept, cut != 0};
                int32_t now = predicted(r, t, s, &a);
                if (now > most) {
                    most = now;
                    *out = a;
                }
            }
        }
    }
    return most;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Counts products that are rounded although they do not begin a chain. */
static int64_t count_rounded(const reveal_tree *t)
{
    int64_t rounded = 0;
    for (int32_t i = 0; i < t->terms && t->terms > 1; i++) {
        int32_t first = t->child[t->parent[i]], other = first != i ? first : t->next[first];
        rounded += !t->fused[i] && !(other < t->terms && t->fused[other]);
    }
    return rounded;
}

static void say_arithmetic(const reveal_routine *r, const reveal_arithmetic *a, reveal_order *o)
{
    static const char *const formats[] = {
        [REVEAL_F16] = "f16", [REVEAL_F32] = "f32", [REVEAL_F64] = "f64"};
    int32_t widest = reveal_tree_widest(&o->tree);
    const char *format = formats[a->format];
    char *to = o->arithmetic;
    size_t room = sizeof o->arithmetic;
    o->rounded = o->tree.products ? count_rounded(&o->tree) : -1;
    if (widest > 2 && o->values < VALUES) {
        snprintf(to, room, "steps of up to %d values, whose rounding is not known", widest);
    } else if (widest > 2 && a->kept == 0) {
        snprintf(to, room, "steps of up to %d values, each exact and %s to %s", widest,
                 a->cut ? "cut" : "rounded", format);
    } else if (widest > 2) {
        snprintf(to, room,
                 "steps of up to %d values, cut %d bits below the largest one's power of two; "
                 "sums %s to %s",
                 widest, a->kept, a->cut ? "cut" : "rounded", format);
    } else if (!r->item->op->products || o->rounded < 0) {
        snprintf(to, room, "sums in %s", format);
    } else if (o->rounded == 0) {
        snprintf(to, room, "by fma in %s", format);
    } else if (o->rounded == o->tree.terms) {
        snprintf(to, room, "products and sums rounded in %s", format);
    } else {
        snprintf(to, room, "by fma in %s, %lld product%s rounded first", format,
                 (long long)o->rounded, o->rounded == 1 ? "" : "s");
    }
}

bool reveal_check(reveal_routine *r, reveal_order *o)
{
    samples s = {0};
    reveal_arithmetic a = {0};
    bool one = o->tree.terms == 1, binary = reveal_tree_widest(&o->tree) <= 2;
    bool good = one || !binary || !has_roundings(r->item) || find_roundings(r, &o->tree);
    good = good && (one || check_pairs(r, &o->tree, &o->pairs));
    good = good && take_samples(r, &o->tree, &s);
    if (good) {
        o->values = find_arithmetic(r, &o->tree, &s, &a);
        good = !binary || o->values == VALUES ||
               reveal_fail(r, BENCH_FAILED,
                           "the tree that masks gave predicts other bits for result %d of %d of "
                           "random numbers",
                           o->values + 1, VALUES);
    }
    reveal_set_second(r, 1);
    if (good) {
        say_arithmetic(r, &a, o);
        reveal_tree_digest(&o->tree, o->digest);
        o->words = reveal_words(&o->tree, &o->known);
    }
    free_samples(&s);
    return good;
}
