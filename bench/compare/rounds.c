/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - judges matched results by their rounds, which were not taken in pairs. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the noise of a device ------------------------------------------------------------------- */

/* The noise of a device, from all its results in the file. */
static stats_noise noise_of(const json_t *root, const char *device)
{
    const json_t *result, *results = json_object_get(root, "results");
    size_t at, room = json_array_size(results);
    double *spreads = tool_alloc(room, sizeof *spreads, "the results");
    int32_t *counts = tool_alloc(room, sizeof *counts, "the results"), used = 0;
    json_array_foreach(results, at, result)
    {
        int32_t n = 0;
        if (strcmp(record_text(result, "device"), device) != 0) {
            continue;
        }
        double *x = record_rounds(result, &n);
        for (int32_t i = 0; i < n; i++) {
            x[i] = log(x[i]);
        }
        double spread = stats_deviation(x, n);
        if (isfinite(spread)) {
            spreads[used] = spread;
            counts[used++] = n;
        }
        free(x);
    }
    stats_noise noise = stats_noise_of(spreads, counts, used);
    free(spreads);
    free(counts);
    return noise;
}

/* ---- judging --------------------------------------------------------------------------------- */

static double relative_spread(const double *x, int32_t n)
{
    double spread = stats_spread(x, n) / stats_median(x, n);
    return spread >= 0 ? spread : 0;
}

/* The drift is how much two runs at different times may differ by chance: the spread between the
 * rounds of this case, or the median spread of all cases if that is larger. The median is needed
 * because a few rounds can be alike by chance. */
static void add_drift(compare_set *set)
{
    double *all = tool_alloc((size_t)set->count, sizeof *all, "the cases");
    int32_t used = 0;
    for (int32_t i = 0; i < set->count; i++) {
        if (set->rows[i].judged) {
            all[used++] = set->rows[i].drift;
        }
    }
    double usual = stats_median(all, used);
    for (int32_t i = 0; i < set->count; i++) {
        if (set->rows[i].drift < usual) {
            set->rows[i].drift = usual;
        }
    }
    free(all);
}

/* What is known about one side of a row. */
typedef struct known {
    stats_interval time;
    stats_noise noise;
    double spread; /* between the rounds, as a share of the time */
} known;

/* Fills sides[i][b]; the rows before i are known already. */
static void learn(compare_set *set, int32_t i, bool b, known (*sides)[2])
{
    compare_row *row = &set->rows[i];
    const compare_side *side = b ? &row->b : &row->a;
    known *own = &sides[i][b];
    int32_t k = i - 1, n;
    for (; k >= 0; k--) {
        const compare_row *other = &set->rows[k];
        if (other->judged && strcmp((b ? &other->b : &other->a)->device, side->device) == 0) {
            break;
        }
    }
    own->noise = k >= 0 ? sides[k][b].noise : noise_of(b ? set->b : set->a, side->device);
    double *x = record_rounds(side->result, &n);
    for (int32_t r = 0; r < n && b; r++) {
        x[r] *= row->share;
    }
    own->time = stats_rounds_interval(x, n, &own->noise);
    own->spread = relative_spread(x, n);
    row->rounds[b] = x;
    row->count[b] = n;
    row->half[b] = (own->time.high - own->time.low) / 2 / own->time.median;
}

void compare_judge(compare_set *set)
{
    known(*sides)[2] = tool_alloc((size_t)set->count, sizeof *sides, "the cases");
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        if (!row->judged) {
            continue;
        }
        learn(set, i, false, sides);
        learn(set, i, true, sides);
        row->pairs = row->count[0] < row->count[1] ? row->count[0] : row->count[1];
        row->drift = set->unpaired ? fmax(sides[i][0].spread, sides[i][1].spread) : 0;
    }
    if (set->unpaired) {
        add_drift(set);
    }
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        if (row->judged) {
            row->c = stats_compare(&sides[i][0].time, &sides[i][1].time, row->drift,
                                   set->rules.least_effect);
        }
    }
    free(sides);
    compare_gate(set);
}

void compare_gate(compare_set *set)
{
    double limit = 1 + set->rules.fail_on;
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        bool slower = row->judged && row->c.verdict == STATS_SLOWER && row->c.ratio > limit;
        row->worse = isfinite(limit) && (row->lost || slower);
    }
}
