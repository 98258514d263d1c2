/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - turns the results of a batch into rows. A row is made only of a shape whose every case
 * was measured to the end. A way whose bits are not those of naive is never in it. */
#include "bench/measure/measure.h"
#include "bench/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum state {
    RIGHT,
    WRONG,      /* its result failed the check, or has other bits */
    NEVER,      /* the device does not support it, or it does not fit */
    UNFINISHED, /* no time, too few rounds, or interrupted */
    BROKEN      /* a call failed */
} state;

/* What is known of a case. */
typedef struct outcome {
    state state;
    double time; /* nanoseconds */
    const char *digest, *library, *reason;
} outcome;

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static outcome outcome_of(const json_t *result)
{
    const json_t *times = json_object_get(result, "times");
    const json_t *median = json_object_get(times, "median");
    const char *status = text_of(result, "status");
    outcome out = {.state = BROKEN,
                   .time = json_is_number(median) ? json_number_value(median) : NAN,
                   .digest = text_of(json_object_get(result, "verified"), "digest"),
                   .library = text_of(result, "library"),
                   .reason = text_of(result, "reason")};
    if (strcmp(status, bench_status_name(BENCH_FAILED)) == 0) {
        out.state = WRONG;
    } else if (strcmp(status, bench_status_name(BENCH_UNSUPPORTED)) == 0) {
        out.state = NEVER;
    } else if (strcmp(status, bench_status_name(BENCH_SKIPPED)) == 0) {
        out.state = UNFINISHED;
    } else if (strcmp(status, bench_status_name(BENCH_OK)) == 0) {
        const size_t rounds = json_array_size(json_object_get(times, "samples"));
        out.state = rounds >= MEASURE_ROUNDS && out.time >= 0.5 ? RIGHT : UNFINISHED;
    } else if (strstr(out.reason, "interrupted")) {
        out.state = UNFINISHED;
    }
    return out;
}

/* Names what is wrong so that nobody overlooks it. */
static void report(tune_run *run, const tuned_shape *shape, const tune_pair *pair, const char *way,
                   const char *why)
{
    char text[160];
    tune_shape_text(shape, text, sizeof text);
    tool_error(TOOL_FAILED, "WRONG RESULT: %s, %s%s%s on %s: %s. It is not stored", text,
               iso_variant_name(tuned_variants[pair->variant]), way ? " by the way " : "",
               way ? way : "", run->device->info.spec, why);
    run->wrong++;
}

/* The digest that naive and tiled must have: that of naive, if it was right; else that of tiled as
 * the backend chooses it. */
static const char *right_digest(const outcome *outcomes, const tune_pair *pairs, int32_t first,
                                int32_t end)
{
    const char *digest = "";
    for (int32_t i = first; i < end; i++) {
        const bool naive = pairs[i].variant == TUNED_NAIVE;
        if (outcomes[i].state == RIGHT && outcomes[i].digest[0] != '\0' &&
            (naive || (digest[0] == '\0' && pairs[i].variant == TUNED_TILED && pairs[i].way < 0))) {
            digest = outcomes[i].digest;
        }
    }
    return digest;
}

/* Marks what has other bits, reports what is wrong, and returns whether the shape is finished. */
static bool settle(tune_run *run, const tuned_shape *shape, outcome *outcomes,
                   const tune_pair *pairs, char ways[TUNE_WAYS][TUNED_WAY], int32_t first,
                   int32_t end)
{
    const char *digest = right_digest(outcomes, pairs, first, end);
    bool finished = true;
    for (int32_t i = first; i < end; i++) {
        outcome *o = &outcomes[i];
        const char *way = pairs[i].way >= 0 ? ways[pairs[i].way] : NULL;
        const bool defined = pairs[i].variant == TUNED_TILED || pairs[i].variant == TUNED_NAIVE;
        if (o->state == WRONG) {
            report(run, shape, &pairs[i], way, o->reason);
        } else if (o->state == RIGHT && defined && strcmp(o->digest, digest) != 0) {
            o->state = WRONG;
            report(run, shape, &pairs[i], way, "its bits are others than before");
        } else if (o->state == BROKEN) {
            tool_error(TOOL_OK, "%s", o->reason);
        }
        finished = finished && o->state != UNFINISHED && o->state != BROKEN;
    }
    return finished;
}

/* The library of the table is that of the first vendor's product; times of another one are left
 * out. */
static bool is_library(tune_run *run, const char *name)
{
    if (run->table->library[0] == '\0') {
        snprintf(run->table->library, sizeof run->table->library, "%s", name);
    }
    return strcmp(run->table->library, name) == 0;
}

/* Replaces the row of the same shape, or adds one. */
static void put_row(tuned_table *table, const tuned_row *row)
{
    int32_t at = 0;
    while (at < table->count && tuned_compare(&table->rows[at], row) != 0) {
        at++;
    }
    table->rows[at] = *row;
    table->count += at == table->count;
}

/* Adds the row of a finished shape, if anything runs. */
static void add_row(tune_run *run, const tuned_shape *shape, const outcome *outcomes,
                    const tune_pair *pairs, char ways[TUNE_WAYS][TUNED_WAY], int32_t first,
                    int32_t end)
{
    tuned_row row = {.shape = *shape};
    bool any = false;
    for (int32_t i = first; i < end; i++) {
        const int32_t v = pairs[i].variant;
        const int64_t time = llround(fmax(outcomes[i].time, 1));
        if (outcomes[i].state != RIGHT || (row.times[v] > 0 && row.times[v] <= time) ||
            (v == TUNED_VENDOR && !is_library(run, outcomes[i].library))) {
            continue;
        }
        any = true;
        row.times[v] = time;
        if (v == TUNED_TILED) {
            snprintf(row.way, sizeof row.way, "%s", pairs[i].way >= 0 ? ways[pairs[i].way] : "");
        }
    }
    if (any) {
        put_row(run->table, &row);
        run->measured++;
    } else {
        run->impossible++;
    }
}

void tune_judge(tune_run *run, const tuned_shape *shapes, int32_t count, const tune_pair *pairs,
                char ways[TUNE_WAYS][TUNED_WAY], const json_t *results)
{
    const int32_t all = (int32_t)json_array_size(results);
    outcome *outcomes = tool_alloc((size_t)all + 1, sizeof *outcomes, "the results");
    for (int32_t i = 0; i < all; i++) {
        outcomes[i] = outcome_of(json_array_get(results, (size_t)i));
    }
    for (int32_t first = 0, end = 0; first < all; first = end) {
        for (end = first; end < all && pairs[end].shape == pairs[first].shape; end++) {
        }
        if (pairs[first].shape < count &&
            settle(run, &shapes[pairs[first].shape], outcomes, pairs, ways, first, end)) {
            add_row(run, &shapes[pairs[first].shape], outcomes, pairs, ways, first, end);
        }
    }
    free(outcomes);
}
