/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - turns the results of a batch into rows. A row is made only of a shape whose every case
 * was measured to the end. A way whose bits are not those of naive, or of tiled as the backend
 * chooses it, is never in it. */
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

/* Reports a wrong result on standard error. */
static void report(tune_run *run, const tuned_shape *shape, const tune_pair *pair, const char *way,
                   const char *why)
{
    char text[160];
    tune_shape_text(shape, text, sizeof text);
    tool_error(TOOL_FAILED, "WRONG RESULT: %s, %s%s%s on %s: %s. Its time is not stored", text,
               iso_variant_name(tuned_variants[pair->variant]), way ? " by the way " : "",
               way ? way : "", run->device->info.spec, why);
    run->wrong++;
}

/* The digest that naive and tiled must have: that of naive; else that of tiled as the backend
 * chooses it. Whatever has one passed its check, also if it had no time for its rounds. "": there
 * is none. */
static const char *right_digest(const outcome *outcomes, const tune_pair *pairs, int32_t first,
                                int32_t end)
{
    const char *digest = "";
    for (int32_t i = first; i < end; i++) {
        const bool naive = pairs[i].variant == TUNED_NAIVE;
        if (outcomes[i].state != WRONG && outcomes[i].digest[0] != '\0' &&
            (naive || (digest[0] == '\0' && pairs[i].variant == TUNED_TILED && pairs[i].way < 0))) {
            digest = outcomes[i].digest;
        }
    }
    return digest;
}

static void say_shape(const tuned_shape *shape, const char *what)
{
    char text[160];
    tune_shape_text(shape, text, sizeof text);
    tool_error(TOOL_OK, "%s: %s", text, what);
}

/* Marks what has other bits, and reports what is wrong. Returns RIGHT if the shape is finished,
 * else UNFINISHED or BROKEN. */
static state settle(tune_run *run, const tuned_shape *shape, outcome *outcomes,
                    const tune_pair *pairs, char ways[TUNE_WAYS][TUNED_WAY], int32_t first,
                    int32_t end)
{
    const char *digest = right_digest(outcomes, pairs, first, end);
    state all = RIGHT;
    bool unknown = false;
    for (int32_t i = first; i < end; i++) {
        outcome *o = &outcomes[i];
        const char *way = pairs[i].way >= 0 ? ways[pairs[i].way] : NULL;
        const bool defined = pairs[i].variant == TUNED_TILED || pairs[i].variant == TUNED_NAIVE;
        if (o->state == WRONG) {
            report(run, shape, &pairs[i], way, o->reason);
        } else if (o->state == RIGHT && defined && digest[0] == '\0') {
            unknown = true;
        } else if (o->state == RIGHT && defined && strcmp(o->digest, digest) != 0) {
            o->state = WRONG;
            report(run, shape, &pairs[i], way, "its bits are others than before");
        } else if (o->state == BROKEN) {
            say_shape(shape, o->reason);
            all = BROKEN;
        } else if (o->state == UNFINISHED && all == RIGHT) {
            all = UNFINISHED;
        }
    }
    if (all == RIGHT && unknown) {
        say_shape(shape, "not stored: neither naive nor tiled by itself has bits to compare with");
        all = BROKEN;
    }
    return all;
}

/* Times of another library than the table's are left out. */
static bool is_library(const tune_run *run, const tuned_shape *shape, const char *name)
{
    char what[2 * TUNED_LINE];
    if (strcmp(run->table->library, name) == 0) {
        return true;
    }
    snprintf(what, sizeof what, "the time of vendor is left out: it is of %s, the table is of %s",
             name[0] != '\0' ? name : "no library",
             run->table->library[0] != '\0' ? run->table->library : "none");
    say_shape(shape, what);
    return false;
}

/* Replaces the row of the same shape, or adds one. False: there is no room. */
static bool put_row(tune_run *run, const tuned_row *row)
{
    tuned_table *table = run->table;
    int32_t at = 0;
    while (at < table->count && tuned_compare(&table->rows[at], row) != 0) {
        at++;
    }
    if (at == TUNED_ROWS) {
        if (!run->full) {
            tool_error(TOOL_IO,
                       "%s has %d rows, and a table has no more: remove it with isomer tune "
                       "--reset, and measure what is needed",
                       run->device->path, TUNED_ROWS);
        }
        run->full = true;
        return false;
    }
    table->rows[at] = *row;
    table->count += at == table->count;
    return true;
}

/* Adds the row of a finished shape, if anything runs. */
static void add_row(tune_run *run, const tuned_shape *shape, const outcome *outcomes,
                    const tune_pair *pairs, char ways[TUNE_WAYS][TUNED_WAY], int32_t first,
                    int32_t end)
{
    tuned_row row = {.shape = *shape};
    bool any = false, wrong = false;
    for (int32_t i = first; i < end; i++) {
        const int32_t v = pairs[i].variant;
        const int64_t time = llround(fmax(outcomes[i].time, 1));
        if ((outcomes[i].state != RIGHT && outcomes[i].state != WRONG) ||
            (v == TUNED_VENDOR && !is_library(run, shape, outcomes[i].library))) {
            continue;
        }
        if (outcomes[i].state == WRONG) {
            wrong = true;
            row.times[v] = row.times[v] == 0 ? TUNED_WRONG : row.times[v];
            continue;
        }
        if (row.times[v] > 0 && row.times[v] <= time) {
            continue;
        }
        any = true;
        row.times[v] = time;
        if (v == TUNED_TILED) {
            snprintf(row.way, sizeof row.way, "%s", pairs[i].way >= 0 ? ways[pairs[i].way] : "");
        }
    }
    if (any) {
        run->measured += put_row(run, &row);
    } else if (wrong) {
        run->failed++;
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
        if (pairs[first].shape >= count) {
            continue;
        }
        const tuned_shape *shape = &shapes[pairs[first].shape];
        const state came = settle(run, shape, outcomes, pairs, ways, first, end);
        run->failed += came == BROKEN;
        if (came == RIGHT) {
            add_row(run, shape, outcomes, pairs, ways, first, end);
        }
    }
    free(outcomes);
}
