/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what can be said of samples. Nothing here allocates beyond its own scratch memory,
 * prints, or depends on the order of what it is given unless it says so. NaN where a figure is not
 * defined (no samples).
 */
#ifndef ISOMER_STATS_H
#define ISOMER_STATS_H

#include <stdint.h>

/* Of n numbers, which may be in any order and stay as they are. */
double stats_median(const double *x, int32_t n);
double stats_mean(const double *x, int32_t n);
double stats_deviation(const double *x, int32_t n); /* of the sample: n - 1 */
double stats_min(const double *x, int32_t n);
double stats_max(const double *x, int32_t n);
/* (median of |x - median|) * 1.4826, the deviation of a normal distribution with that spread. */
double stats_spread(const double *x, int32_t n);

/* A median with an interval that holds the true one with at least `confidence`, where n allows it;
 * `confidence` on return is what the interval reaches (between order statistics it is
 * interpolated). Under 6 numbers it is the whole range with what that reaches. */
typedef struct stats_interval {
    double median, low, high, confidence;
} stats_interval;
stats_interval stats_median_interval(const double *x, int32_t n, double confidence);

/* Two-sided p of the rank-sum test (Mann-Whitney): exact, given the ties, up to 30 numbers in all,
 * else normal with ties and continuity corrected. */
double stats_rank_sum(const double *x, int32_t nx, const double *y, int32_t ny);

/* Two-sided p of the signed-rank test (Wilcoxon) of d = 0: exact, given the ties, up to 40 numbers
 * that are not 0, else normal with the same corrections. */
double stats_signed_rank(const double *d, int32_t n);

/* Two-sided p of d = 0 by turning signs: like the signed-rank test it supposes only that a
 * difference is as likely to be seen with either sign, but differences far over the usual size do
 * not count, so that one pair that the machine spoilt does not hide what all others say. */
double stats_sign_flips(const double *d, int32_t n);

/* What the commands judge by; docs/benchmarking.md tells why. */
#define STATS_ALPHA        0.01
#define STATS_LEAST_EFFECT 0.03

typedef enum stats_verdict {
    STATS_SAME = 0, /* the whole interval is within the least effect */
    STATS_FASTER,   /* B takes less time: significant, and by at least the least effect */
    STATS_SLOWER,
    STATS_AMBIGUOUS /* neither can be said */
} stats_verdict;

const char *stats_verdict_name(stats_verdict verdict); /* "SAME", "FASTER", "SLOWER", "AMBIGUOUS" */

/* What B is against A, as times. */
typedef struct stats_comparison {
    double ratio, low, high; /* B's time by A's; under 1 is faster */
    double p;
    stats_verdict verdict;
} stats_comparison;

/* Medians of rounds of two separate runs. `drift` is the relative spread that two runs taken at
 * different times may differ by without meaning: it widens the interval. */
stats_comparison stats_compare(const double *a, int32_t na, const double *b, int32_t nb,
                               double drift, double least_effect, double alpha);

/* Rounds taken in pairs, one of either turn by turn. Fewer than 8 pairs call nothing FASTER or
 * SLOWER at STATS_ALPHA. */
stats_comparison stats_compare_pairs(const double *a, const double *b, int32_t n,
                                     double least_effect, double alpha);

#endif
