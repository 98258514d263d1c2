/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.c - the median with an interval that assumes nothing about the distribution.
 *
 * The binomial distribution gives the probability that the median lies between the d-th smallest
 * and the d-th largest of n numbers. Between two such pairs, Hettmansperger and Sheather's
 * interpolation ("Confidence intervals based on interpolated order statistics", 1986) comes close
 * to the wanted confidence, for symmetric and for skew distributions.
 */
#include "bench/stats/sort.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* The probability of at most `last` heads among n fair coins. It uses logarithms, because 2^-n
 * underflows for large n. */
static double coins(int32_t last, int32_t n)
{
    double sum = 0, power = -(double)n * log(2);
    for (int32_t k = 0; k <= last; k++) {
        sum += exp(power);
        power += log((double)(n - k) / (k + 1));
    }
    return sum < 1 ? sum : 1;
}

static double reached(int32_t d, int32_t n)
{
    double inside = 1 - 2 * coins(d - 1, n);
    return inside > 0 ? inside : 0;
}

stats_interval stats_median_interval(const double *x, int32_t n, double confidence)
{
    stats_interval out = {NAN, NAN, NAN, NAN};
    double *s = stats_sorted(x, n);
    if (!s) {
        return out;
    }
    out.median = stats_middle(s, n);
    int32_t d = 1;
    double outer = reached(1, n), inner = 0;
    while (d < (n + 1) / 2) {
        inner = reached(d + 1, n);
        if (inner < confidence) {
            break;
        }
        outer = inner;
        d++;
    }
    out.low = s[d - 1];
    out.high = s[n - d];
    out.confidence = outer;
    if (outer > confidence && 2 * d < n) {
        double part = (outer - confidence) / (outer - inner);
        double weight = (n - d) * part / (d + (n - 2 * d) * part);
        out.low += weight * (s[d] - s[d - 1]);
        out.high += weight * (s[n - d - 1] - s[n - d]);
        out.confidence = confidence;
    }
    free(s);
    return out;
}
