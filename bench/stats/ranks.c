/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - the rank-sum test. Equal values share the mean of their ranks, so twice a rank is a
 * whole number. The exact distribution, even with ties, comes from counting the subsets of the
 * ranks by their sums. So small samples need no table and no approximation, which would be worst
 * for them. All counts stay below 2^53, so they are exact in a double.
 */
#include "bench/stats/sort.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 30 };

/* Returns twice the rank of a value among sorted ones. `*equal` is how many of them are equal to
 * it. */
static int32_t double_rank(double value, const double *sorted, int32_t n, int32_t *equal)
{
    int32_t from = 0, to;
    while (from < n && sorted[from] < value) {
        from++;
    }
    for (to = from; to < n && sorted[to] == value; to++)
        ;
    *equal = to - from;
    return from + 1 + to;
}

/* The sum of t^3 - t over the ties, where t values are equal. Ties reduce the variance of a rank
 * sum. */
static double ties(const double *sorted, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0, equal; i < n; i += equal) {
        double_rank(sorted[i], sorted, n, &equal);
        sum += (double)equal * equal * equal - equal;
    }
    return sum;
}

/* Sets counts[k * room + s] to the number of subsets of k ranks with the sum s. */
static void count_subsets(double *counts, int32_t most, int32_t room, const int32_t *ranks,
                          int32_t n)
{
    counts[0] = 1;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = most; k > 0; k--) {
            for (int32_t s = ranks[i]; s < room; s++) {
                counts[k * room + s] += counts[(k - 1) * room + s - ranks[i]];
            }
        }
    }
}

/* The share of the counts that are at least as far from the middle as `sum`. */
static double share(const double *counts, int32_t room, double middle, int32_t sum)
{
    double all = 0, far = 0;
    for (int32_t s = 0; s < room; s++) {
        all += counts[s];
        if (fabs(s - middle) >= fabs(sum - middle) - 1e-9) {
            far += counts[s];
        }
    }
    return far / all;
}

double stats_rank_sum(const double *x, int32_t nx, const double *y, int32_t ny)
{
    double p = NAN, *counts = NULL;
    if (nx <= 0 || ny <= 0) {
        return p;
    }
    int32_t n = nx + ny, ranks[EXACT], sum = 0, equal;
    double *both = malloc((size_t)n * sizeof *both), *sorted = NULL;
    if (!both) {
        return p;
    }
    memcpy(both, x, (size_t)nx * sizeof *both);
    memcpy(both + nx, y, (size_t)ny * sizeof *both);
    sorted = stats_sorted(both, n);
    if (!sorted) {
        goto done;
    }
    double middle = (double)nx * (n + 1), twice = 0;
    for (int32_t i = 0; i < nx; i++) {
        twice += double_rank(x[i], sorted, n, &equal);
    }
    if (n <= EXACT) {
        int32_t room = n * (n + 1) + 1;
        counts = calloc((size_t)(nx + 1) * (size_t)room, sizeof *counts);
        if (!counts) {
            goto done;
        }
        for (int32_t i = 0; i < n; i++) {
            ranks[i] = double_rank(both[i], sorted, n, &equal);
        }
        sum = (int32_t)twice;
        count_subsets(counts, nx, room, ranks, n);
        p = share(counts + (size_t)nx * (size_t)room, room, middle, sum);
    } else {
        double size = n, tied = ties(sorted, n) / (size * (size - 1));
        double variance = (double)nx * ny / 12 * (size + 1 - tied);
        double away = fabs(twice - middle) / 2 - 0.5;
        p = variance > 0 && away > 0 ? erfc(away / sqrt(variance) / sqrt(2)) : 1;
    }
done:
    free(counts);
    free(sorted);
    free(both);
    return p;
}
