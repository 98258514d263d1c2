/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - decides which rows a round visits, and in which order. */
#include "bench/measure/internal.h"
#include "bench/stats/stats.h"

#include <stdlib.h>

int32_t measure_pool(const measure_state *state, const measure_row *row)
{
    const measure_device *device = &state->devices[row->target];
    return 2 * device->chip + (!device->gpu && row->item->how == ISO_VARIANT_VENDOR);
}

/* ---- which rows ------------------------------------------------------------------------------ */

/* What is known about a row after a round. */
typedef struct known {
    stats_interval time;
    double half; /* of the interval's width, divided by the median */
    bool judged; /* it has the rounds that an interval needs */
} known;

static known know(const measure_state *state, const measure_row *row)
{
    known out = {.judged = row->result.status == BENCH_OK && row->rounds >= MEASURE_ROUNDS &&
                           row->rounds >= state->plan->rounds_min};
    if (out.judged) {
        double *x = tool_alloc((size_t)row->rounds, sizeof *x, "the rounds");
        out.time =
            stats_median_interval(x, measure_round_medians(row, x, false), MEASURE_CONFIDENCE);
        out.half = (out.time.high - out.time.low) / 2 / out.time.median;
        free(x);
    }
    return out;
}

/* Whether it is not known which of two devices is faster at the case of rows[i]. The rows of a case
 * are side by side. */
static bool undecided(const measure_state *state, const known *rows, int32_t i)
{
    const measure_row *row = &state->rows[i];
    int32_t first = i;
    while (first > 0 && state->rows[first - 1].item == row->item) {
        first--;
    }
    for (int32_t k = first; k < state->count && state->rows[k].item == row->item; k++) {
        const measure_row *other = &state->rows[k];
        if (rows[k].judged && other->target != row->target && other->library == row->library &&
            stats_compare(&rows[i].time, &rows[k].time, 0, STATS_LEAST_EFFECT).verdict ==
                STATS_AMBIGUOUS) {
            return true;
        }
    }
    return false;
}

void measure_settle(measure_state *state)
{
    /* More rounds of a row that is known so well will not decide either. */
    const double hopeless = state->plan->target / 4;
    known *rows = tool_alloc((size_t)state->count, sizeof *rows, "the rounds");
    for (int32_t i = 0; i < state->count; i++) {
        rows[i] = know(state, &state->rows[i]);
    }
    for (int32_t i = 0; i < state->count; i++) {
        measure_row *row = &state->rows[i];
        if (rows[i].judged && !row->settled) {
            bool open = undecided(state, rows, i);
            row->settled = rows[i].half <= (open ? hopeless : state->plan->target);
            row->wanted = open || record_is_noisy(rows[i].half, false);
        }
    }
    free(rows);
}

/* Whether a row needs rounds more than others do. */
static bool urgent(const measure_state *state, const measure_row *row)
{
    return row->wanted || row->rounds < state->plan->rounds_min;
}

/* Whether all rows take part in this round, or only the urgent ones. */
static bool all_take_part(const measure_state *state)
{
    enum { SELDOM = 8 };
    for (int32_t i = 0; i < state->count; i++) {
        if (measure_active(state, &state->rows[i]) && urgent(state, &state->rows[i])) {
            return state->round % SELDOM == 0;
        }
    }
    return true;
}

/* ---- the order ------------------------------------------------------------------------------- */

/* xorshift64*: the order differs from round to round, and is the same for the same seed. */
static uint64_t next_random(uint64_t *x)
{
    *x ^= *x >> 12;
    *x ^= *x << 25;
    *x ^= *x >> 27;
    return *x * 0x2545f4914f6cdd1dULL;
}

/* The place of a row in a round. */
typedef struct turn {
    uint64_t run;
    int32_t place, row;
} turn;

static int by_run(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    return x->run != y->run ? (x->run > y->run) - (x->run < y->run)
                            : (x->place > y->place) - (x->place < y->place);
}

/* Puts the rows in random order, and then the rows with the same threads in short runs, which are
 * also in random order. So a GPU does not have to be woken for each row, and threads that still
 * spin after their work do not disturb each row of the others. Where memory is short, the rows with
 * the same inputs are one run: otherwise inputs would be moved to the device for each row. */
int32_t measure_order(measure_state *state, uint64_t *random)
{
    enum { RUN = 16 };
    const int32_t targets = state->plan->target_count;
    const bool all = all_take_part(state);
    turn *turns = tool_alloc((size_t)state->count + 1, sizeof *turns, "the round");
    int32_t *seen = tool_alloc(2 * (size_t)targets, sizeof *seen, "the round"), n = 0;
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        if (measure_active(state, row) && (all || urgent(state, row))) {
            turns[n++].row = i;
        }
    }
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = (int32_t)(next_random(random) % (uint64_t)(i + 1)), kept = turns[i].row;
        turns[i].row = turns[j].row;
        turns[j].row = kept;
    }
    uint64_t key = next_random(random);
    for (int32_t i = 0; i < n; i++) {
        const measure_row *row = &state->rows[turns[i].row];
        int32_t inputs = work_job_inputs(row->job), pool = measure_pool(state, row);
        int32_t run = inputs > 0 ? -inputs : seen[pool]++ / RUN;
        pool = inputs > 0 ? pool & ~1 : pool;
        turns[i].place = i;
        turns[i].run = arith_mix(key, (uint64_t)((int64_t)run * 2 * targets + pool));
    }
    qsort(turns, (size_t)n, sizeof *turns, by_run);
    for (int32_t i = 0; i < n; i++) {
        state->order[i] = turns[i].row;
    }
    free(seen);
    free(turns);
    return state->plan->paired ? measure_pair_up(state, n) : n;
}
