/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.c - finds where a series of numbers changed.
 *
 * E-divisive ("A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data",
 * Matteson and James, 2014): the split with the largest energy distance between its two sides is
 * tested by permutation, and each side is searched again. It assumes nothing about the
 * distribution.
 */
#include "bench/stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 2, /* the fewest numbers on a side of a split */
    PERMUTATIONS = 999
};

/* ---- one split ------------------------------------------------------------------------------- */

/* Returns the largest energy distance between the sides of a split of n numbers, times the usual
 * factor for their sizes. `at` is the first number after that split. */
static double scan(const double *x, int32_t n, int32_t *at)
{
    double within = 0, across = 0, rest = 0, best = -1; /* sums of distances between pairs */
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < i; j++) {
            rest += fabs(x[i] - x[j]);
        }
    }
    for (int32_t k = 1; k <= n - SIDE; k++) {
        double to_left = 0, to_right = 0;
        for (int32_t j = 0; j < n; j++) {
            *(j < k ? &to_left : &to_right) += fabs(x[j] - x[k - 1]);
        }
        within += to_left;
        across += to_right - to_left;
        rest -= to_right;
        double a = k, b = n - k;
        double distance = across / (a * b) - within / (a * a) - rest / (b * b);
        if (k >= SIDE && 2 * a * b / n * distance > best) {
            best = 2 * a * b / n * distance;
            *at = k;
        }
    }
    return best;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The share of random orders of the numbers whose best split is at least as good, this order
 * included. Stops as soon as the share must be above `most`. `room` holds n numbers. */
static double chance(const double *x, int32_t n, double found, double most, double *room)
{
    uint64_t state = UINT64_C(88172645463325252);
    int32_t reached = 1, at;
    memcpy(room, x, (size_t)n * sizeof *room);
    for (int32_t turn = 0; turn < PERMUTATIONS; turn++) {
        for (int32_t i = n - 1; i > 0; i--) {
            int32_t j = (int32_t)(next_random(&state) % (uint64_t)(i + 1));
            double kept = room[i];
            room[i] = room[j];
            room[j] = kept;
        }
        reached += scan(room, n, &at) >= found * (1 - 1e-9);
        if (reached > most * (PERMUTATIONS + 1)) {
            return 1;
        }
    }
    return (double)reached / (PERMUTATIONS + 1);
}

/* ---- all splits ------------------------------------------------------------------------------ */

typedef struct search {
    const double *x;
    double least, *room;
    stats_change *found;
    int32_t count, most;
} search;

/* Whether the medians on both sides of a split differ by the least effect. */
static bool large(const search *s, int32_t from, int32_t at, int32_t to)
{
    double before = stats_median(s->x + from, at - from);
    return fabs(stats_median(s->x + at, to - at) - before) >= s->least;
}

static void split(search *s, int32_t from, int32_t to)
{
    int32_t at = 0, n = to - from;
    double best = n >= 2 * SIDE ? scan(s->x + from, n, &at) : -1;
    if (!(best > 0) || !large(s, from, from + at, to)) {
        return;
    }
    double p = chance(s->x + from, n, best, STATS_CHANGE_ALPHA, s->room);
    if (p > STATS_CHANGE_ALPHA) {
        return;
    }
    split(s, from, from + at);
    if (s->count < s->most) {
        s->found[s->count++] = (stats_change){from + at, p};
    }
    split(s, from + at, to);
}

int32_t stats_changes(const double *x, int32_t n, double least_effect, stats_change *out,
                      int32_t room)
{
    search s = {.x = x, .least = log(1 + least_effect), .found = out, .most = room};
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return 0;
        }
    }
    s.room = n >= STATS_CHANGE_LEAST ? malloc((size_t)n * sizeof *s.room) : NULL;
    if (!s.room) {
        return 0;
    }
    split(&s, 0, n);
    /* A later split can leave an earlier one with sides that hardly differ. */
    for (int32_t i = 0; i < s.count;) {
        int32_t from = i > 0 ? out[i - 1].at : 0, to = i + 1 < s.count ? out[i + 1].at : n;
        if (large(&s, from, out[i].at, to)) {
            i++;
            continue;
        }
        s.count--;
        memmove(out + i, out + i + 1, (size_t)(s.count - i) * sizeof *out);
        i = 0;
    }
    free(s.room);
    return s.count;
}

/* ---- how far two groups are apart ------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The probability that the rank-sum statistic U of groups of m and n numbers is at most `last`. The
 * counts are the coefficients of a Gaussian binomial. `room` holds last + 1 numbers. */
static double tail(int32_t m, int32_t n, int32_t last, double *room)
{
    double sum = 0;
    memset(room, 0, (size_t)(last + 1) * sizeof *room);
    room[0] = 1;
    for (int32_t i = 1; i <= m; i++) {
        for (int32_t u = last; u >= n + i; u--) {
            room[u] -= room[u - n - i];
        }
        for (int32_t u = i; u <= last; u++) {
            room[u] += room[u - i];
        }
    }
    for (int32_t u = 0; u <= last; u++) {
        sum += room[u];
    }
    return sum * exp(lgamma(m + 1.0) + lgamma(n + 1.0) - lgamma(m + n + 1.0));
}

stats_interval stats_shift(const double *a, int32_t na, const double *b, int32_t nb,
                           double confidence)
{
    stats_interval out = {NAN, NAN, NAN, NAN};
    int32_t n = na * nb, cut = 0;
    double *d = na > 0 && nb > 0 ? malloc((size_t)n * sizeof *d) : NULL;
    double *room = d ? malloc((size_t)n * sizeof *room) : NULL;
    if (room) {
        for (int32_t i = 0; i < n; i++) {
            d[i] = b[i % nb] - a[i / nb];
        }
        qsort(d, (size_t)n, sizeof *d, ascending);
        while (2 * cut + 2 < n && 1 - 2 * tail(na, nb, cut + 1, room) >= confidence) {
            cut++;
        }
        out.median = stats_median(d, n);
        out.low = d[cut];
        out.high = d[n - 1 - cut];
        out.confidence = 1 - 2 * tail(na, nb, cut, room);
    }
    free(room);
    free(d);
    return out;
}
