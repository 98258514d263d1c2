/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - median, mean, spread and the like of one sample. */
#include "bench/stats/sort.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double *stats_sorted(const double *x, int32_t n)
{
    if (n <= 0) {
        return NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        if (isnan(x[i])) {
            return NULL;
        }
    }
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) {
        return NULL;
    }
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return sorted;
}

double stats_middle(const double *sorted, int32_t n)
{
    double low = sorted[(n - 1) / 2], high = sorted[n / 2];
    return low == high ? low : low + (high - low) / 2;
}

double stats_median(const double *x, int32_t n)
{
    double *sorted = stats_sorted(x, n);
    double median = sorted ? stats_middle(sorted, n) : NAN;
    free(sorted);
    return median;
}

double stats_mean(const double *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / n : NAN;
}

double stats_deviation(const double *x, int32_t n)
{
    double mean = stats_mean(x, n), sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += (x[i] - mean) * (x[i] - mean);
    }
    return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}

static double extreme(const double *x, int32_t n, int32_t place)
{
    double *sorted = stats_sorted(x, n);
    double value = sorted ? sorted[place] : NAN;
    free(sorted);
    return value;
}

double stats_min(const double *x, int32_t n)
{
    return extreme(x, n, 0);
}

double stats_max(const double *x, int32_t n)
{
    return extreme(x, n, n - 1);
}

double stats_spread(const double *x, int32_t n)
{
    double *away = stats_sorted(x, n), spread = NAN;
    if (away) {
        double median = stats_middle(away, n);
        for (int32_t i = 0; i < n; i++) {
            away[i] = fabs(away[i] - median);
        }
        spread = 1.4826 * stats_median(away, n);
    }
    free(away);
    return spread;
}
