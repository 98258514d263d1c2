/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - what many short runs say together. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct half {
    json_t *result;  /* the first that has times, or the first */
    bool failed;     /* a check failed in one of the pairs: none of its times counts */
    int32_t without; /* pairs in which it was not ok */
    json_t *why;     /* the reason of the first of them */
} half;

typedef struct entry {
    half own, other; /* of A and of B */
    json_t *rounds;  /* the samples of A, a round for each pair */
    double *a, *b;   /* the medians of each pair */
    int32_t count, room;
    int32_t made;   /* pairs in which either has the case */
    int32_t lost;   /* those in which A was ok, and B was not */
    int32_t absent; /* those in which B had nothing of the kind */
    int32_t seen;   /* in which pair last */
} entry;

struct compare_tally {
    entry *entries;
    int32_t count, room, pairs;
    bool wrong;
};

compare_tally *compare_tally_create(void)
{
    return calloc(1, sizeof(compare_tally));
}

void compare_tally_free(compare_tally *tally)
{
    for (int32_t i = 0; tally && i < tally->count; i++) {
        entry *e = &tally->entries[i];
        json_decref(e->own.result);
        json_decref(e->own.why);
        json_decref(e->other.result);
        json_decref(e->other.why);
        json_decref(e->rounds);
        free(e->a);
        free(e->b);
    }
    if (tally) {
        free(tally->entries);
    }
    free(tally);
}

static bool is_of(const entry *e, const compare_row *row)
{
    bool own = e->own.result != NULL;
    const json_t *result = own ? e->own.result : e->other.result;
    const compare_side *side = own ? &row->a : &row->b;
    return strcmp(record_text(result, "id"), row->id) == 0 &&
           strcmp(record_text(result, "device"), side->device) == 0 &&
           strcmp(record_text(result, "library"), side->library) == 0;
}

/* The entry of a row; the order hardly ever changes, so the place of the last time is tried first.
 */
static entry *entry_of(compare_tally *tally, const compare_row *row, int32_t hint)
{
    for (int32_t k = 0; k < tally->count; k++) {
        entry *e = &tally->entries[(hint + k) % tally->count];
        if (e->seen != tally->pairs && is_of(e, row)) {
            return e;
        }
    }
    if (tally->count == tally->room) {
        int32_t room = tally->room > 0 ? 2 * tally->room : 256;
        entry *grown = realloc(tally->entries, (size_t)room * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        tally->entries = grown;
        tally->room = room;
    }
    entry *e = &tally->entries[tally->count++];
    *e = (entry){.rounds = json_array()};
    return e;
}

static bool grow(double **x, int32_t room)
{
    double *more = realloc(*x, (size_t)room * sizeof *more);
    if (more) {
        *x = more;
    }
    return more != NULL;
}

static bool add_times(entry *e, double a, double b)
{
    if (e->count == e->room) {
        int32_t room = e->room > 0 ? 2 * e->room : 16;
        if (!grow(&e->a, room) || !grow(&e->b, room)) {
            return false;
        }
        e->room = room;
    }
    e->a[e->count] = a;
    e->b[e->count++] = b;
    return true;
}

static void keep(half *h, const compare_side *side)
{
    bool ok = strcmp(side->status, "ok") == 0, failed = strcmp(side->status, "failed") == 0;
    bool better = !h->result || (failed && !h->failed) ||
                  (strcmp(record_text(h->result, "status"), "ok") != 0 && !h->failed && ok);
    h->failed = h->failed || failed;
    if (!ok && h->without++ == 0) {
        h->why = tool_json_text(side->result ? side->reason : "it has no such case");
    }
    if (!side->result || !better) {
        return;
    }
    json_decref(h->result);
    h->result = json_deep_copy(side->result);
}

static bool is_wrong(const compare_side *side)
{
    return strcmp(side->status, "failed") == 0 || strcmp(side->status, "error") == 0;
}

int compare_tally_add(compare_tally *tally, const json_t *a, const json_t *b, const char *name_b)
{
    const tool_words all = {0};
    compare_set set = {.a = a,
                       .b = b,
                       .path_a = "this program",
                       .path_b = name_b,
                       .rules = {.fail_on = NAN, .ops = &all}};
    int code = compare_match(&set);
    if (code == TOOL_OK) {
        tally->pairs++;
    }
    for (int32_t i = 0; i < set.count && code == TOOL_OK; i++) {
        const compare_row *row = &set.rows[i];
        entry *e = entry_of(tally, row, i);
        if (!e) {
            code = tool_error(TOOL_INTERNAL, "no memory for the pairs");
            break;
        }
        e->seen = tally->pairs;
        e->made++;
        e->lost += row->lost;
        e->absent += !row->lost && strcmp(row->a.status, "ok") == 0 && !row->b.result;
        keep(&e->own, &row->a);
        keep(&e->other, &row->b);
        tally->wrong = tally->wrong || is_wrong(&row->a) || is_wrong(&row->b);
        if (!row->judged) {
            continue;
        }
        json_t *samples = json_object_get(json_object_get(row->a.result, "times"), "samples");
        json_array_extend(e->rounds, samples);
        if (!add_times(e, row->a.median, row->b.median)) {
            code = tool_error(TOOL_INTERNAL, "no memory for the pairs");
        }
    }
    compare_free(&set);
    return code;
}

bool compare_tally_wrong(const compare_tally *tally)
{
    return tally->wrong;
}

/* ---- the document ---------------------------------------------------------------------------- */

static void set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, tool_json_number(value));
}

/* All samples in one list; their number. */
static int32_t flatten(const json_t *rounds, double *out)
{
    int32_t n = 0;
    for (size_t r = 0; r < json_array_size(rounds); r++) {
        for (size_t s = 0; s < json_array_size(json_array_get(rounds, r)); s++) {
            if (out) {
                out[n] = json_number_value(json_array_get(json_array_get(rounds, r), s));
            }
            n++;
        }
    }
    return n;
}

static void set_rate(json_t *rates, const char *key, double work, const stats_interval *time)
{
    json_t *rate = json_object_get(rates, key);
    if (!json_is_object(rate)) {
        return;
    }
    set_number(rate, "value", work / time->median);
    set_number(rate, "low", work / time->high);
    set_number(rate, "high", work / time->low);
}

static void drop_flag(json_t *flags, const char *name)
{
    for (size_t i = json_array_size(flags); i-- > 0;) {
        if (strcmp(json_string_value(json_array_get(flags, i)), name) == 0) {
            json_array_remove(flags, i);
        }
    }
}

/* A result of one round with the rounds of all pairs. */
static bool merge(const entry *e, json_t *result)
{
    json_t *times = json_object_get(result, "times"), *rates = json_object_get(result, "rates");
    json_t *roof = json_object_get(result, "roof"), *work = json_object_get(result, "work");
    int32_t n = flatten(e->rounds, NULL);
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x) {
        return false;
    }
    flatten(e->rounds, x);
    stats_interval time = stats_median_interval(e->a, e->count, 0.95);
    double before = record_number(times, "median"), target = record_number(times, "target");
    double bytes = record_number(work, "bytes_read") + record_number(work, "bytes_written");
    set_number(times, "median", time.median);
    set_number(times, "low", time.low);
    set_number(times, "high", time.high);
    set_number(times, "confidence", time.confidence);
    set_number(times, "min", stats_min(x, n));
    set_number(times, "max", stats_max(x, n));
    set_number(times, "mean", stats_mean(x, n));
    set_number(times, "deviation", stats_deviation(x, n));
    json_object_set_new(
        times, "converged",
        json_boolean(e->count >= 5 && (time.high - time.low) / 2 <= target * time.median));
    json_object_set(times, "samples", e->rounds);
    set_rate(rates, "gbps", bytes, &time);
    set_rate(rates, "gflops", record_number(work, "flops"), &time);
    if (json_is_object(roof)) {
        set_number(roof, "percent", record_number(roof, "percent") * before / time.median);
    }
    if (e->count >= 5) {
        drop_flag(json_object_get(result, "flags"), "few-rounds");
    }
    free(x);
    return true;
}

static void set_half(json_t *pair, const half *h, const char *without, const char *why)
{
    json_object_set_new(pair, without, json_integer(h->without));
    json_object_set(pair, why, h->why ? h->why : json_null());
}

static json_t *pair_json(const entry *e)
{
    stats_comparison c = stats_compare_pairs(e->a, e->b, e->count, STATS_LEAST_EFFECT, STATS_ALPHA);
    json_t *pair = json_object(), *ratios = json_array();
    const char *status = record_text(e->other.result, "status");
    const json_t *a = e->own.result, *b = e->other.result;
    bool judged = e->count > 0 && !e->own.failed && !e->other.failed;
    /* Where B has the case in another pair, it could have had it in all. */
    int32_t lost = e->lost + (b ? e->absent : 0);
    json_object_set_new(pair, "id", tool_json_text(record_text(a, "id")));
    json_object_set_new(pair, "device", tool_json_text(record_text(a, "device")));
    json_object_set_new(pair, "backend", tool_json_text(record_text(a, "backend")));
    json_object_set_new(pair, "library", tool_json_text(record_text(a, "library")));
    json_object_set_new(pair, "library_b", tool_json_text(record_text(b, "library")));
    json_object_set_new(pair, "status_b", json_string(status[0] ? status : "missing"));
    json_object_set_new(pair, "reason_b", tool_json_text(record_text(b, "reason")));
    json_object_set_new(pair, "made", json_integer(e->made));
    set_half(pair, &e->own, "without_a", "why_a");
    set_half(pair, &e->other, "without_b", "why_b");
    json_object_set_new(pair, "lost", json_integer(lost));
    set_number(pair, "a", judged ? stats_median(e->a, e->count) : (double)NAN);
    set_number(pair, "b", judged ? stats_median(e->b, e->count) : (double)NAN);
    set_number(pair, "ratio", judged ? c.ratio : (double)NAN);
    set_number(pair, "low", judged ? c.low : (double)NAN);
    set_number(pair, "high", judged ? c.high : (double)NAN);
    set_number(pair, "p", judged ? c.p : (double)NAN);
    for (int32_t i = 0; i < e->count && judged; i++) {
        json_array_append_new(ratios, json_real(e->b[i] / e->a[i]));
    }
    json_object_set_new(pair, "pairs", ratios);
    json_object_set_new(pair, "verdict",
                        tool_json_text(judged ? stats_verdict_name(c.verdict) : ""));
    return pair;
}

bool compare_tally_write(const compare_tally *tally, json_t *root)
{
    json_t *results = json_array(), *pairs = json_array();
    bool good = results && pairs;
    for (int32_t i = 0; i < tally->count && good; i++) {
        const entry *e = &tally->entries[i];
        if (!e->own.result) {
            continue; /* B alone knows the case */
        }
        json_t *result = json_deep_copy(e->own.result);
        good = result != NULL;
        if (good && e->count > 0 && strcmp(record_text(result, "status"), "ok") == 0) {
            good = merge(e, result);
        }
        json_array_append_new(results, result);
        json_array_append_new(pairs, pair_json(e));
    }
    json_object_set_new(root, "results", results);
    json_object_set_new(root, "pairs", pairs);
    return good;
}
