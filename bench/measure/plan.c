/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - decides which rows have time for their rounds, before the first round and again
 * whenever the machine turns out to be slower than expected.
 */
#include "bench/measure/internal.h"

#include <math.h>
#include <stdlib.h>

/* ---- the decision ---------------------------------------------------------------------------- */

/* What is dropped at once: a case on all its devices, or on the one device that takes most of its
 * time. */
typedef struct unit {
    int32_t first, count; /* its rows, in the sorted list */
    int32_t priority;
    double cost;
} unit;

/* Sorts the rows of a case together, the dearest first. */
static int by_case(const void *a, const void *b)
{
    const plan_row *x = a, *y = b;
    if (x->item != y->item) {
        return x->item < y->item ? -1 : 1;
    }
    if (x->cost != y->cost) {
        return x->cost > y->cost ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* Sorts the units that are dropped first to the front: the least important, then the dearest. */
static int by_turn(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (x->cost != y->cost) {
        return x->cost > y->cost ? -1 : 1;
    }
    return (x->first < y->first) - (x->first > y->first);
}

/* Splits the rows of a case into units. A row is a unit of its own if it takes more than three
 * quarters of the case's time: the other devices can then still be compared at little cost. Rows
 * that are left are dropped together, because a case on only one of several devices compares
 * nothing. Returns how many units were written. */
static int32_t split_case(const plan_row *rows, int32_t first, int32_t end, unit *out)
{
    const double most = 0.75;
    double cost = 0;
    int32_t units = 0;
    for (int32_t i = first; i < end; i++) {
        cost += rows[i].cost;
    }
    for (; first + 1 < end && rows[first].cost > most * cost; first++) {
        out[units++] = (unit){first, 1, rows[first].priority, rows[first].cost};
        cost -= rows[first].cost;
    }
    out[units++] = (unit){first, end - first, rows[first].priority, cost};
    return units;
}

static void keep_unit(plan_row *rows, const unit *of, bool kept)
{
    for (int32_t i = of->first; i < of->first + of->count; i++) {
        rows[i].kept = kept;
    }
}

double measure_plan_fit(plan_row *rows, int32_t count, double seconds)
{
    unit *units = tool_alloc((size_t)count + 1, sizeof *units, "the plan");
    int32_t unit_count = 0, dropped = 0;
    double sum = 0;
    qsort(rows, (size_t)count, sizeof *rows, by_case);
    for (int32_t i = 0, end = 0; i < count; i = end) {
        for (; end < count && rows[end].item == rows[i].item; end++) {
            rows[end].kept = true;
            sum += rows[end].cost;
        }
        unit_count += split_case(rows, i, end, units + unit_count);
    }
    qsort(units, (size_t)unit_count, sizeof *units, by_turn);
    for (; dropped < unit_count && sum > seconds; dropped++) {
        keep_unit(rows, &units[dropped], false);
        sum -= units[dropped].cost;
    }
    /* The last unit that was dropped may have left room for cheaper ones before it. */
    while (dropped-- > 0) {
        if (sum + units[dropped].cost <= seconds) {
            keep_unit(rows, &units[dropped], true);
            sum += units[dropped].cost;
        }
    }
    free(units);
    return sum;
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* The seconds that a row takes for so many rounds. */
static double cost_of(const measure_row *row, int32_t rounds)
{
    int32_t parts = row->item->parts ? MEASURE_PART_VISITS - row->part_count : 0;
    return rounds * row->visit + fmin(fmax(parts, 0), rounds) * row->moving;
}

static int32_t lacking(const measure_state *state, const measure_row *row)
{
    bool takes_part = measure_active(state, row) && row->rounds < state->plan->rounds_min;
    return takes_part ? state->plan->rounds_min - row->rounds : 0;
}

/* How much longer than expected the last visits took. */
static double pace(const measure_state *state)
{
    double base = 0.02 * state->budget; /* so that the first visits alone say little */
    return (base + state->seen) / (base + state->expected);
}

double measure_lacking(const measure_state *state)
{
    double sum = 0;
    for (int32_t i = 0; i < state->count; i++) {
        sum += cost_of(&state->rows[i], lacking(state, &state->rows[i]));
    }
    return sum * pace(state);
}

void measure_pace(measure_state *state, measure_row *row, double seconds)
{
    /* A visit longer ago than the horizon counts little, and so does a single interruption. */
    const double horizon = 0.1 * state->budget, most = 3;
    double seen = fmin(seconds, most * row->visit), kept = fmax(1 - row->visit / horizon, 0);
    state->seen = kept * state->seen + seen;
    state->expected = kept * state->expected + row->visit;
    row->visit = (row->visit + seen) / 2;
}

/* ---- dropping -------------------------------------------------------------------------------- */

void measure_skip(measure_row *row)
{
    row->result.status = BENCH_SKIPPED;
    snprintf(row->result.reason, sizeof row->result.reason, "%s", MEASURE_NO_TIME);
}

/* Decides which rows keep their missing rounds, and last checks if `checks`, within `seconds`. The
 * others are held back. Returns the seconds of the kept rows' rounds. */
static double fit(measure_state *state, double seconds, bool checks)
{
    plan_row *rows = tool_alloc((size_t)state->count + 1, sizeof *rows, "the plan");
    int32_t count = 0;
    double sum = 0;
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        int32_t rounds = lacking(state, row);
        if (rounds > 0) {
            rows[count++] = (plan_row){.row = i,
                                       .item = (int32_t)(row->item - state->plan->list->items),
                                       .priority = row->item->priority,
                                       .cost = pace(state) * cost_of(row, rounds) +
                                               (checks ? row->checking : 0)};
        }
    }
    measure_plan_fit(rows, count, seconds);
    for (int32_t i = 0; i < count; i++) {
        measure_row *row = &state->rows[rows[i].row];
        row->held = !rows[i].kept;
        sum += rows[i].kept ? rows[i].cost - (checks ? row->checking : 0) : 0;
    }
    free(rows);
    return sum;
}

static void skip_held(measure_state *state)
{
    for (int32_t i = 0; i < state->count; i++) {
        if (state->rows[i].held) {
            measure_skip(&state->rows[i]);
        }
    }
}

static double checking(const measure_state *state)
{
    double sum = 0;
    for (int32_t i = 0; i < state->count; i++) {
        sum += measure_active(state, &state->rows[i]) ? state->rows[i].checking : 0;
    }
    return sum;
}

int32_t measure_skipped(const measure_state *state)
{
    int32_t skipped = 0;
    for (int32_t i = 0; i < state->count; i++) {
        skipped += state->rows[i].result.status == BENCH_SKIPPED;
    }
    return skipped;
}

int32_t measure_kept(const measure_state *state)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        kept += row->result.status == BENCH_OK && row->calls > 0;
    }
    return kept;
}

void measure_plan_make(measure_state *state)
{
    /* The estimates come from one or two calls of each row; the rest of the time is a reserve. */
    const double used = 0.85, least = 60;
    const measure_plan *plan = state->plan;
    double left = plan->whole - (tool_seconds() - state->began);
    if (plan->rounds_max == 1) {
        return;
    }
    if (plan->whole > 0) {
        state->planned = fit(state, used * fmax(left, least), true);
        state->budget = fmin(state->budget, fmax(left - checking(state), least));
    } else {
        state->planned = fit(state, used * state->budget, false);
    }
    skip_held(state);
    state->skipped = measure_skipped(state);
    if (state->skipped > 0 && !state->plan->one_device) {
        measure_progress_end(state);
        tool_error(TOOL_OK,
                   "%d of %d results are skipped, because %.3g s have no time for %d rounds of "
                   "each: give more with --budget, choose fewer with --op or --size, or leave "
                   "out the cases that only measure roofs with --no-roofs",
                   (int)state->skipped, (int)(state->skipped + measure_kept(state)), state->budget,
                   (int)plan->rounds_min);
    }
}

void measure_plan_again(measure_state *state, double left)
{
    const double used = 0.95, pause = 0.02;
    double now = tool_seconds();
    if (state->plan->rounds_max == 1 || now - state->planned_at < pause) {
        return;
    }
    state->planned_at = now;
    state->need = measure_lacking(state);
    if (state->need > left) {
        state->need = fit(state, used * fmax(left, 0), false);
    }
}

void measure_plan_release(measure_state *state)
{
    for (int32_t i = 0; i < state->count; i++) {
        state->rows[i].held = false;
    }
}

void measure_plan_end(measure_state *state)
{
    measure_plan_release(state);
    for (int32_t i = 0; i < state->count; i++) {
        if (lacking(state, &state->rows[i]) > 0) {
            measure_skip(&state->rows[i]);
        }
    }
    int32_t late = measure_skipped(state) - state->skipped;
    if (late > 0 && state->plan->rounds_max != 1 && !state->plan->one_device) {
        measure_progress_end(state);
        tool_error(TOOL_OK,
                   "%d more results are skipped, because the machine became slower while it "
                   "measured",
                   (int)late);
    }
}
