/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - collects the pairs of many short runs. */
#include "bench/compare/compare.h"
#include "bench/measure/measure.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct half {
    json_t *result;  /* the first that failed a check, else the first that is ok, else the first */
    bool failed;     /* a check failed in one of the pairs, so none of the times count */
    int32_t without; /* pairs in which it was not ok */
    json_t *why;     /* the reason in the first of those pairs */
} half;

typedef struct entry {
    half own, other; /* of A and of B */
    json_t *rounds;  /* the samples of A, one round for each pair */
    double *a, *b;   /* the medians of each pair */
    int32_t count, room;
    int32_t made;   /* pairs in which either side has the case */
    int32_t lost;   /* pairs in which A was ok and B was not */
    int32_t absent; /* pairs in which B had no such case */
    int32_t seen;   /* the last pair that has the case */
} entry;

struct compare_tally {
    entry *entries;
    int32_t count, room, pairs;
    bool wrong;
};

compare_tally *compare_tally_create(void)
{
    return tool_alloc(1, sizeof(compare_tally), "the pairs");
}

static void free_entry(entry *e)
{
    json_decref(e->own.result);
    json_decref(e->own.why);
    json_decref(e->other.result);
    json_decref(e->other.why);
    json_decref(e->rounds);
    free(e->a);
    free(e->b);
}

void compare_tally_free(compare_tally *tally)
{
    for (int32_t i = 0; i < tally->count; i++) {
        free_entry(&tally->entries[i]);
    }
    free(tally->entries);
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

/* Finds the entry of a row, or adds one. The search begins at `hint`, the row's position, because
 * the order hardly ever changes. */
static entry *entry_of(compare_tally *tally, const compare_row *row, int32_t hint)
{
    for (int32_t k = 0; k < tally->count; k++) {
        entry *e = &tally->entries[(hint + k) % tally->count];
        if (e->seen != tally->pairs && is_of(e, row)) {
            return e;
        }
    }
    if (tally->count == tally->room) {
        tally->room = tally->room > 0 ? 2 * tally->room : 256;
        tally->entries =
            tool_resize(tally->entries, (size_t)tally->room, sizeof *tally->entries, "the pairs");
    }
    entry *e = &tally->entries[tally->count++];
    *e = (entry){.rounds = json_array()};
    return e;
}

static void add_times(entry *e, double a, double b)
{
    if (e->count == e->room) {
        e->room = e->room > 0 ? 2 * e->room : 16;
        e->a = tool_resize(e->a, (size_t)e->room, sizeof *e->a, "the pairs");
        e->b = tool_resize(e->b, (size_t)e->room, sizeof *e->b, "the pairs");
    }
    e->a[e->count] = a;
    e->b[e->count++] = b;
}

static void keep(half *h, const compare_side *side)
{
    bool failed = strcmp(side->status, "failed") == 0;
    bool better = !h->result || (failed && !h->failed) ||
                  (strcmp(record_text(h->result, "status"), "ok") != 0 && !h->failed && side->ok);
    h->failed = h->failed || failed;
    if (!side->ok && h->without++ == 0) {
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
    compare_set set = {
        .a = a, .b = b, .path_a = "this program", .path_b = name_b, .rules = {.fail_on = NAN}};
    int code = compare_match(&set);
    tally->pairs += code == TOOL_OK;
    for (int32_t i = 0; i < set.count && code == TOOL_OK; i++) {
        const compare_row *row = &set.rows[i];
        entry *e = entry_of(tally, row, i);
        e->seen = tally->pairs;
        e->made++;
        e->lost += row->lost;
        e->absent += !row->lost && row->a.ok && !row->b.result;
        keep(&e->own, &row->a);
        keep(&e->other, &row->b);
        tally->wrong = tally->wrong || is_wrong(&row->a) || is_wrong(&row->b);
        if (row->judged) {
            json_array_extend(e->rounds, record_at(row->a.result, "times.samples"));
            add_times(e, row->a.median, row->b.median);
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

/* All samples of the rounds in one list. */
static double *flatten(const json_t *rounds, int32_t *count)
{
    const json_t *round;
    json_t *all = json_array();
    size_t at;
    json_array_foreach(rounds, at, round)
    {
        json_array_extend(all, (json_t *)round);
    }
    double *x = record_numbers(all, count);
    json_decref(all);
    return x;
}

static void drop_flag(json_t *flags, const char *name)
{
    for (size_t i = json_array_size(flags); i-- > 0;) {
        if (strcmp(json_string_value(json_array_get(flags, i)), name) == 0) {
            json_array_remove(flags, i);
        }
    }
}

/* Replaces the times of a result, which has one round, by those of the rounds of all pairs. */
static void merge(const entry *e, json_t *result)
{
    json_t *times = json_object_get(result, "times"), *roof = json_object_get(result, "roof");
    int32_t n;
    double *x = flatten(e->rounds, &n);
    stats_interval time = stats_median_interval(e->a, e->count, MEASURE_CONFIDENCE);
    double before = record_number(times, "median"), target = record_number(times, "target");
    double bytes =
        record_number(result, "work.bytes_read") + record_number(result, "work.bytes_written");
    measure_set_times(times, &time, x, n);
    free(x);
    tool_set_bool(times, "converged",
                  e->count >= MEASURE_ROUNDS && (time.high - time.low) / 2 <= target * time.median);
    json_object_set(times, "samples", e->rounds);
    measure_set_rate(record_at(result, "rates.gbps"), bytes, &time);
    measure_set_rate(record_at(result, "rates.gflops"), record_number(result, "work.flops"), &time);
    if (json_is_object(roof)) {
        tool_set_number(roof, "percent", record_number(roof, "percent") * before / time.median);
    }
    if (e->count >= MEASURE_ROUNDS) {
        drop_flag(json_object_get(result, "flags"), "few-rounds");
    }
}

static void set_half(json_t *pair, const half *h, const char *without, const char *why)
{
    tool_set_int(pair, without, h->without);
    json_object_set(pair, why, h->why ? h->why : json_null());
}

static json_t *pair_json(const entry *e)
{
    const json_t *a = e->own.result, *b = e->other.result;
    const char *status = record_text(b, "status");
    json_t *pair = json_object(), *ratios = json_array();
    stats_comparison c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS};
    double median_a = NAN, median_b = NAN;
    bool judged = e->count > 0 && !e->own.failed && !e->other.failed;
    if (judged) {
        c = stats_compare_pairs(e->a, e->b, e->count, STATS_LEAST_EFFECT, STATS_ALPHA);
        median_a = stats_median(e->a, e->count);
        median_b = stats_median(e->b, e->count);
    }
    for (int32_t i = 0; i < e->count && judged; i++) {
        json_array_append_new(ratios, json_real(e->b[i] / e->a[i]));
    }
    tool_set_text(pair, "id", record_text(a, "id"));
    tool_set_text(pair, "device", record_text(a, "device"));
    tool_set_text(pair, "backend", record_text(a, "backend"));
    tool_set_text(pair, "library", record_text(a, "library"));
    if (b && strcmp(record_text(b, "device"), record_text(a, "device")) != 0) {
        tool_set_text(pair, "device_b", record_text(b, "device"));
    }
    tool_set_text(pair, "library_b", record_text(b, "library"));
    tool_set_text(pair, "status_b", status[0] ? status : "missing");
    tool_set_text(pair, "reason_b", record_text(b, "reason"));
    tool_set_int(pair, "made", e->made);
    set_half(pair, &e->own, "without_a", "why_a");
    set_half(pair, &e->other, "without_b", "why_b");
    /* If B has the case in some pair, every pair without it counts as lost. */
    tool_set_int(pair, "lost", e->lost + (b ? e->absent : 0));
    tool_set_number(pair, "a", median_a);
    tool_set_number(pair, "b", median_b);
    tool_set_number(pair, "ratio", c.ratio);
    tool_set_number(pair, "low", c.low);
    tool_set_number(pair, "high", c.high);
    tool_set_number(pair, "p", c.p);
    json_object_set_new(pair, "pairs", ratios);
    tool_set_text(pair, "verdict", judged ? stats_verdict_name(c.verdict) : "");
    return pair;
}

void compare_tally_write(const compare_tally *tally, json_t *root)
{
    json_t *results = json_array(), *pairs = json_array();
    for (int32_t i = 0; i < tally->count; i++) {
        const entry *e = &tally->entries[i];
        if (!e->own.result) {
            continue; /* only B has the case */
        }
        json_t *result = json_deep_copy(e->own.result);
        if (e->count > 0 && strcmp(record_text(result, "status"), "ok") == 0) {
            merge(e, result);
        }
        json_array_append_new(results, result);
        json_array_append_new(pairs, pair_json(e));
    }
    json_object_set_new(root, "results", results);
    json_object_set_new(root, "pairs", pairs);
}

json_t *compare_round_pairs(const compare_set *set)
{
    json_t *pairs = json_array();
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        entry e = {.made = 1, .lost = row->lost};
        if (!row->a.result) {
            continue; /* only B has the case */
        }
        keep(&e.own, &row->a);
        keep(&e.other, &row->b);
        /* A round that the end of the time cut short may lack B. */
        for (int32_t r = 0; r < row->count[0] && r < row->count[1]; r++) {
            add_times(&e, row->rounds[0][r], row->rounds[1][r]);
        }
        e.made = e.count > 0 ? e.count : 1;
        json_array_append_new(pairs, pair_json(&e));
        free_entry(&e);
    }
    return pairs;
}
