/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - decides whether B is faster than A. docs/benchmarking.md explains the rules. */
#include "bench/stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *stats_verdict_name(stats_verdict verdict)
{
    static const char *const names[] = {[STATS_SAME] = "SAME",
                                        [STATS_FASTER] = "FASTER",
                                        [STATS_SLOWER] = "SLOWER",
                                        [STATS_AMBIGUOUS] = "AMBIGUOUS"};
    return (unsigned)verdict < sizeof names / sizeof names[0] ? names[verdict] : "";
}

/* Whether the difference is known to be about the least effect: the whole interval is within half
 * of it around it. More rounds would not help then, and the ratio decides. */
static bool at_edge(const stats_comparison *c, double least_effect)
{
    double edge = log1p(least_effect), low = log(c->low), high = log(c->high);
    if (c->ratio < 1) {
        low = -log(c->high);
        high = -log(c->low);
    }
    return low >= (1 - STATS_EDGE) * edge && high <= (1 + STATS_EDGE) * edge;
}

/* Judges pairs: FASTER and SLOWER must be significant and large enough, and their whole interval
 * must be on one side of 1. Comparisons with NaN are false, so NaN gives AMBIGUOUS. */
static void judge(stats_comparison *c, double least_effect, double alpha)
{
    double much = 1 + least_effect;
    c->verdict = STATS_AMBIGUOUS;
    if (c->p <= alpha && c->ratio >= much && c->low > 1) {
        c->verdict = STATS_SLOWER;
    } else if (c->p <= alpha && c->ratio <= 1 / much && c->high < 1) {
        c->verdict = STATS_FASTER;
    } else if ((c->low > 1 / much && c->high < much) ||
               (at_edge(c, least_effect) && c->ratio < much && c->ratio > 1 / much)) {
        c->verdict = STATS_SAME;
    }
}

/* Whether all numbers are finite and above 0, as times must be. */
static bool are_times(const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (!(x[i] > 0) || isinf(x[i])) {
            return false;
        }
    }
    return n > 0;
}

/* The interval of the ratio reaches from one median's end to the other's. So it lies beyond the
 * least effect only where the two intervals lie apart by that much. */
stats_comparison stats_compare(const stats_interval *a, const stats_interval *b, double drift,
                               double least_effect)
{
    double much = 1 + least_effect;
    stats_comparison c = {.ratio = b->median / a->median,
                          .low = b->low / a->high / (1 + drift),
                          .high = b->high / a->low * (1 + drift),
                          .p = NAN,
                          .verdict = STATS_AMBIGUOUS};
    bool edge = at_edge(&c, least_effect);
    if (c.low > much || (edge && c.ratio >= much)) {
        c.verdict = STATS_SLOWER;
    } else if (c.high < 1 / much || (edge && c.ratio <= 1 / much)) {
        c.verdict = STATS_FASTER;
    } else if ((c.low > 1 / much && c.high < much) || edge) {
        c.verdict = STATS_SAME;
    }
    return c;
}

/* The weight of a pair whose difference is `size` times the median size. Small differences count
 * little and usual ones fully. Outliers above 2
 * count less, and from 3 on not at all, because the machine causes them. */
static double weight(double size)
{
    if (size <= 1) {
        return size;
    }
    if (size <= 2) {
        return 1;
    }
    return size < 3 ? 3 - size : 0;
}

/* Two-sided p of the sum of n signed weights: the share of all 2^n choices of signs whose sum is at
 * least as far from 0. The choices are tried in Gray code order, in which each step flips one
 * sign. */
static double flips(const double *weights, int32_t n, double sum)
{
    double now = 0, least = fabs(sum) - 1e-9;
    uint32_t far = 0, all = UINT32_C(1) << (n - 1); /* the other half has the same sums, negated */
    bool minus[32] = {false};
    for (int32_t i = 0; i < n; i++) {
        now += weights[i];
    }
    for (uint32_t step = 1;; step++) {
        far += fabs(now) >= least;
        if (step == all) {
            return (double)far / all;
        }
        int32_t at = 0;
        while (!(step >> at & 1)) {
            at++;
        }
        now += minus[at] ? 2 * weights[at] : -2 * weights[at];
        minus[at] = !minus[at];
    }
}

double stats_sign_flips(const double *d, int32_t n)
{
    enum { EXACT = 18 };
    double p = NAN, sum = 0, squares = 0;
    double *size = malloc((size_t)(n > 0 ? n : 1) * sizeof *size);
    if (!size || n <= 0) {
        goto done;
    }
    for (int32_t i = 0; i < n; i++) {
        size[i] = fabs(d[i]);
    }
    double usual = stats_median(size, n);
    if (isnan(usual) || isinf(usual)) {
        goto done;
    }
    int32_t used = 0;
    for (int32_t i = 0; i < n; i++) {
        /* If most pairs are equal, the usual size is 0, and all other pairs are outliers. */
        double w = usual > 0 ? weight(size[i] / usual) : 0;
        sum += d[i] > 0 ? w : -w;
        squares += w * w;
        if (w > 0) {
            size[used++] = w;
        }
    }
    if (used == 0) {
        p = 1;
    } else if (used <= EXACT) {
        p = flips(size, used, sum);
    } else {
        p = erfc(fabs(sum) / sqrt(2 * squares));
    }
done:
    free(size);
    return p;
}

stats_comparison stats_compare_pairs(const double *a, const double *b, int32_t n,
                                     double least_effect, double alpha)
{
    stats_comparison c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS};
    if (!are_times(a, n) || !are_times(b, n)) {
        return c;
    }
    double *d = malloc((size_t)n * sizeof *d);
    if (!d) {
        return c;
    }
    for (int32_t i = 0; i < n; i++) {
        d[i] = log(b[i] / a[i]);
    }
    stats_interval i = stats_median_interval(d, n, STATS_CONFIDENCE);
    c.ratio = exp(i.median);
    if (n > 1) {
        c.low = exp(i.low);
        c.high = exp(i.high);
    }
    c.p = stats_sign_flips(d, n);
    judge(&c, least_effect, alpha);
    free(d);
    return c;
}
