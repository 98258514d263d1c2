/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - statistics of samples. Nothing here prints, keeps memory, or depends on the order of
 * the samples unless it says so. A figure that is not defined (no samples) is NaN.
 */
#ifndef ISOMER_STATS_H
#define ISOMER_STATS_H

#include <stdbool.h>
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

/* The level of the intervals by which results are judged. */
#define STATS_CONFIDENCE 0.95
/* From so many numbers on, order statistics give an interval of that level. */
enum { STATS_FEW = 6 };

/* How much the rounds of one device vary, as far as all its cases together show. */
typedef struct stats_noise {
    double spread;           /* the usual deviation of the logarithm of a round's time */
    double freedom;          /* how many rounds more that knowledge is worth for each case */
    double reach[STATS_FEW]; /* half an interval's width for 1 to 5 rounds of deviation 1 */
} stats_noise;
/* `spreads` are the deviations of the logarithms of the rounds of n cases, `rounds` their numbers;
 * cases with one round are ignored. */
stats_noise stats_noise_of(const double *spreads, const int32_t *rounds, int32_t n);

/* The interval of 95 % of a median of rounds. Under six rounds it assumes that logarithms of times
 * are about normal, and uses the device's noise. One round without known noise gives NaN. */
stats_interval stats_rounds_interval(const double *x, int32_t n, const stats_noise *noise);

/* Two-sided p of the hypothesis that the differences d are centred on 0, by a sign-flip permutation
 * test. It assumes only that a difference is equally likely with either sign. Differences far above
 * the usual size do not count, so that one pair that the machine disturbed does not hide what all
 * others show. */
double stats_sign_flips(const double *d, int32_t n);

/* The thresholds that the commands use; docs/benchmarking.md explains them. */
#define STATS_ALPHA        0.01
#define STATS_LEAST_EFFECT 0.03
#define STATS_EDGE         0.5 /* a ratio known to this share of the least effect is judged */

typedef enum stats_verdict {
    STATS_SAME = 0, /* within the least effect */
    STATS_FASTER,   /* B takes less time, by more than the least effect */
    STATS_SLOWER,
    STATS_AMBIGUOUS /* none of the three */
} stats_verdict;

const char *stats_verdict_name(stats_verdict verdict); /* "SAME", "FASTER", "SLOWER", "AMBIGUOUS" */

/* B compared with A. */
typedef struct stats_comparison {
    double ratio, low, high; /* B's time divided by A's; below 1 is faster */
    double p;                /* of pairs; else NaN */
    stats_verdict verdict;
} stats_comparison;

/* For rounds that were not taken in pairs: compares the intervals of two medians. `drift` is how
 * much two runs at different times may differ by chance, as a share of the time; it widens the
 * interval. There is no p. */
stats_comparison stats_compare(const stats_interval *a, const stats_interval *b, double drift,
                               double least_effect);

/* For rounds taken in pairs, A and B in turn. With fewer than 8 pairs nothing is FASTER or SLOWER
 * at STATS_ALPHA. */
stats_comparison stats_compare_pairs(const double *a, const double *b, int32_t n,
                                     double least_effect, double alpha);

/* ---- change.c: series of runs ---------------------------------------------------------------- */

/* The level of the test for a change, and the shortest series that is searched. */
#define STATS_CHANGE_ALPHA 0.05
enum { STATS_CHANGE_LEAST = 10 };

typedef struct stats_change {
    int32_t at; /* the first number after the change */
    double p;
} stats_change;

/* Finds the places where a series of logarithms changed by at least the least effect, in order. The
 * same series always gives the same answer. Returns their number, at most `room`. */
int32_t stats_changes(const double *x, int32_t n, double least_effect, stats_change *out,
                      int32_t room);

/* How far b lies above a: the median of all differences (Hodges and Lehmann) with an interval by
 * the rank-sum distribution, which assumes only that b is a moved by some amount. If too few
 * numbers are given for the confidence, the interval is the whole range, with its own level. */
stats_interval stats_shift(const double *a, int32_t na, const double *b, int32_t nb,
                           double confidence);

#endif
