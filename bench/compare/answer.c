/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what a comparison of two devices says as a whole. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool compare_same_math(const compare_row *row)
{
    return strcmp(record_text(row->a.result, "math_used"),
                  record_text(row->b.result, "math_used")) == 0;
}

bool compare_counts(const compare_row *row)
{
    return row->judged && compare_same_math(row) &&
           record_level_of(row->a.result) != RECORD_INVALID &&
           record_level_of(row->b.result) != RECORD_INVALID;
}

bool compare_same_devices(const compare_row *x, const compare_row *y)
{
    return strcmp(x->a.device, y->a.device) == 0 && strcmp(x->b.device, y->b.device) == 0;
}

bool compare_first_of_devices(const compare_set *set, int32_t i)
{
    for (int32_t k = 0; k < i; k++) {
        if (set->rows[k].judged && compare_same_devices(&set->rows[k], &set->rows[i])) {
            return false;
        }
    }
    return set->rows[i].judged;
}

static bool belongs(const compare_row *row, const compare_row *first, const char *op)
{
    return compare_counts(row) && compare_same_devices(row, first) &&
           (!op || strcmp(row->op, op) == 0);
}

/* How far the geometric mean of one side's times may be off, as logarithms. What disturbs a round
 * disturbs many cases at once, so the cases do not average it out. The geometric mean of each round
 * is therefore one number, relative to the medians, and the interval comes from these. */
static void reach_of(const compare_set *set, const compare_row *first, int side, double *down,
                     double *up)
{
    const stats_noise none = stats_noise_of(NULL, NULL, 0);
    double *sums = NULL;
    int32_t *counts = NULL, most = 0, used = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        most = row->count[side] > most ? row->count[side] : most;
    }
    sums = tool_alloc((size_t)most, sizeof *sums, "the rounds");
    counts = tool_alloc((size_t)most, sizeof *counts, "the rounds");
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        double median = stats_median(row->rounds[side], row->count[side]);
        for (int32_t r = 0; r < row->count[side] && belongs(row, first, NULL); r++) {
            sums[r] += log(row->rounds[side][r] / median);
            counts[r]++;
        }
    }
    /* A round that few cases reached says little about the others. */
    while (used < most && counts[used] > 0 && 2 * counts[used] >= counts[0]) {
        sums[used] = exp(sums[used] / counts[used]);
        used++;
    }
    stats_interval i = stats_rounds_interval(sums, used, &none);
    *down = log(i.median / i.low);
    *up = log(i.high / i.median);
    free(sums);
    free(counts);
}

static void set_interval(const compare_set *set, compare_answer *out)
{
    double down[2] = {0, 0}, up[2] = {0, 0};
    for (int side = out->first->paired ? 1 : 0; side < 2; side++) {
        reach_of(set, out->first, side, &down[side], &up[side]);
    }
    out->low = out->times * exp(-down[0] - up[1]) / (1 + out->drift);
    out->high = out->times * exp(up[0] + down[1]) * (1 + out->drift);
}

/* The median over the counted rows of half an interval's width, or of the drift (side 2). */
static double usual(const compare_set *set, const compare_row *first, int side)
{
    double *x = tool_alloc((size_t)set->count, sizeof *x, "the cases");
    int32_t n = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        double value = side == 2 ? row->drift : row->half[side];
        if (belongs(row, first, NULL) && isfinite(value)) {
            x[n++] = value;
        }
    }
    double median = stats_median(x, n);
    free(x);
    return median;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How the cases differ: the quarters, and the means by who wrote the variant. */
static void set_spread(const compare_set *set, compare_answer *out)
{
    double *x = tool_alloc((size_t)set->count, sizeof *x, "the cases"), logs[2] = {0, 0};
    int32_t n = 0, counts[2] = {0, 0};
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        if (!belongs(row, out->first, NULL)) {
            continue;
        }
        bool vendor = strcmp(record_text(row->a.result, "variant"), "vendor") == 0;
        x[n++] = 1 / row->c.ratio;
        if (!bench_op_of(row->op)->moves) { /* neither wrote these */
            logs[vendor] -= log(row->c.ratio);
            counts[vendor]++;
        }
    }
    qsort(x, (size_t)n, sizeof *x, ascending);
    out->quarter[0] = x[n / 4];
    out->quarter[1] = x[n - 1 - n / 4];
    for (int i = 0; i < 2; i++) {
        out->by[i] = counts[i] > 0 ? exp(logs[i] / counts[i]) : (double)NAN;
    }
    free(x);
}

compare_answer compare_answer_of(const compare_set *set, const compare_row *first, const char *op)
{
    compare_answer out = {.first = first, .times = NAN, .low = NAN, .high = NAN};
    double logs = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        if (row->judged && !compare_counts(row) && compare_same_devices(row, first)) {
            out.other_math += !compare_same_math(row);
            out.invalid += compare_same_math(row);
        }
        if (!belongs(row, first, op)) {
            continue;
        }
        logs -= log(row->c.ratio);
        out.verdicts[row->c.verdict]++;
        if (!out.most || row->c.ratio < out.most->c.ratio) {
            out.most = row;
        }
        if (!out.least || row->c.ratio > out.least->c.ratio) {
            out.least = row;
        }
        out.rounds_least =
            out.cases == 0 || row->pairs < out.rounds_least ? row->pairs : out.rounds_least;
        out.rounds_most = row->pairs > out.rounds_most ? row->pairs : out.rounds_most;
        out.cases++;
    }
    if (out.cases > 0) {
        out.times = exp(logs / out.cases);
    }
    if (out.cases > 0 && !op) {
        out.drift = usual(set, first, 2);
        out.half[0] = usual(set, first, 0);
        out.half[1] = usual(set, first, 1);
        set_spread(set, &out);
        set_interval(set, &out);
    }
    return out;
}
