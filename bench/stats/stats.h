/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - statistics of samples. Nothing here prints, keeps memory, or depends on the order of
 * the samples unless it says so. A figure that is not defined (no samples) is NaN.
 */
#ifndef ISOMER_STATS_H
#define ISOMER_STATS_H

#include <stdint.h>

/* Statistics of n numbers in any order, which are not changed. */
double stats_median(const double *x, int32_t n);
double stats_mean(const double *x, int32_t n);
double stats_deviation(const double *x, int32_t n); /* of a sample: divides by n - 1 */
double stats_min(const double *x, int32_t n);
double stats_max(const double *x, int32_t n);
/* (median of |x - median|) * 1.4826, the deviation of a normal distribution with that spread. */
double stats_spread(const double *x, int32_t n);

/* A median with an interval that contains the true median with at least the given `confidence`, if
 * n is large enough. The result's `confidence` is the one that the interval reaches. The ends are
 * interpolated between order statistics; below 6 numbers the interval is the whole range. */
typedef struct stats_interval {
    double median, low, high, confidence;
} stats_interval;
stats_interval stats_median_interval(const double *x, int32_t n, double confidence);

/* Two-sided p of the rank-sum test (Mann-Whitney). It is exact, even with ties, for up to 30
 * numbers in all. For more it is the normal approximation, corrected for ties and continuity. */
double stats_rank_sum(const double *x, int32_t nx, const double *y, int32_t ny);

/* Two-sided p of the hypothesis that the differences d are centred on 0, by a sign-flip permutation
 * test. It assumes only that a difference is equally likely with either sign. Differences far above
 * the usual size do not count, so that one pair that the machine disturbed does not hide what all
 * others show. */
double stats_sign_flips(const double *d, int32_t n);

/* The thresholds that the commands use; docs/benchmarking.md explains them. */
#define STATS_ALPHA        0.01
#define STATS_LEAST_EFFECT 0.03

typedef enum stats_verdict {
    STATS_SAME = 0, /* the whole interval is within the least effect */
    STATS_FASTER,   /* B takes less time: significant, and by at least the least effect */
    STATS_SLOWER,
    STATS_AMBIGUOUS /* none of the three */
} stats_verdict;

const char *stats_verdict_name(stats_verdict verdict); /* "SAME", "FASTER", "SLOWER", "AMBIGUOUS" */

/* B compared with A. */
typedef struct stats_comparison {
    double ratio, low, high; /* B's time divided by A's; below 1 is faster */
    double p;
    stats_verdict verdict;
} stats_comparison;

/* For medians of rounds of two separate runs. `drift` is how much two runs at different times may
 * differ by chance, as a share of the time; it widens the interval. */
stats_comparison stats_compare(const double *a, int32_t na, const double *b, int32_t nb,
                               double drift, double least_effect, double alpha);

/* For rounds taken in pairs, A and B in turn. With fewer than 8 pairs nothing is FASTER or SLOWER
 * at STATS_ALPHA. */
stats_comparison stats_compare_pairs(const double *a, const double *b, int32_t n,
                                     double least_effect, double alpha);

#endif
