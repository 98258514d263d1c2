/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - how much the rounds of a device vary, learnt from all its cases together.
 *
 * Two to five rounds of one case say little about its noise. Smyth's moderated variance ("Linear
 * models and empirical Bayes methods", 2004) adds what the other cases say: the more alike the
 * cases are, the more rounds that knowledge is worth. All spreads are of logarithms of times, so
 * they are relative.
 */
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.141592653589793;

/* The first derivative of log(gamma(x)), or the second one. */
static double gamma_derivative(double x, bool second)
{
    double sum = 0;
    for (; x < 8; x++) {
        sum += second ? 1 / (x * x) : -1 / x;
    }
    double s = 1 / (x * x);
    if (second) {
        return sum + 1 / x + s / 2 + s / x * (1.0 / 6 - s * (1.0 / 30 - s / 42));
    }
    return sum + log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s / 252));
}

/* The 97.5 % quantile of Student's t. With x = sqrt(f) tan(angle), its density is a power of the
 * cosine, which is summed up to 95 % of its half. Below one degree of freedom it is NaN. */
static double t_quantile(double freedom)
{
    const double step = 1e-4;
    double wanted = 0.95 * sqrt(pi) / 2 * exp(lgamma(freedom / 2) - lgamma((freedom + 1) / 2));
    double angle = 0, sum = 0, slice = 0;
    if (!(freedom >= 1)) {
        return NAN;
    }
    while (sum < wanted) {
        slice = step * pow(cos(angle + step / 2), freedom - 1);
        sum += slice;
        angle += step;
    }
    return sqrt(freedom) * tan(angle - step * (sum - wanted) / slice);
}

/* The deviation of a sample median, relative to that of the mean of normal numbers. */
static const double median_cost[STATS_FEW] = {1, 1, 1, 1.160, 1.092, 1.198};

stats_noise stats_noise_of(const double *spreads, const int32_t *rounds, int32_t n)
{
    enum { MOST = 100 }; /* further rounds hardly change the quantile */
    stats_noise noise = {.spread = 0};
    double *logs = calloc((size_t)(n > 0 ? n : 1), sizeof *logs);
    double least = 1e-3 * stats_median(spreads, n), mean = 0, variance = 0, own = 0;
    int32_t used = 0;
    for (int32_t i = 0; i < n && logs && least > 0; i++) {
        if (rounds[i] < 2) {
            continue;
        }
        double half = (rounds[i] - 1) / 2.0, spread = fmax(spreads[i], least);
        logs[used] = 2 * log(spread) - gamma_derivative(half, false) + log(half);
        mean += logs[used++];
        own += gamma_derivative(half, true); /* the variance that the few rounds explain */
    }
    mean /= used;
    for (int32_t i = 0; i < used; i++) {
        variance += (logs[i] - mean) * (logs[i] - mean);
    }
    free(logs);
    if (used > 1) {
        double between = variance / (used - 1) - own / used, low = 0, high = MOST / 2.0;
        for (int i = 0; i < 60; i++) {
            double middle = (low + high) / 2;
            *(gamma_derivative(middle, true) > between ? &low : &high) = middle;
        }
        noise.freedom = 2 * high;
        noise.spread = exp((mean + gamma_derivative(high, false) - log(high)) / 2);
    }
    for (int32_t i = 1; i < STATS_FEW; i++) {
        noise.reach[i] = t_quantile(i - 1 + noise.freedom) * median_cost[i] / sqrt(i);
    }
    return noise;
}

stats_interval stats_rounds_interval(const double *x, int32_t n, const stats_noise *noise)
{
    stats_interval out = stats_median_interval(x, n, STATS_CONFIDENCE);
    if (n <= 0 || n >= STATS_FEW || isnan(out.median)) {
        return out;
    }
    double logs[STATS_FEW];
    for (int32_t i = 0; i < n; i++) {
        logs[i] = log(x[i]);
    }
    double own = n > 1 ? stats_deviation(logs, n) : 0, usual = noise->spread;
    double squares = (n - 1) * own * own + noise->freedom * usual * usual;
    double reach = noise->reach[n] * sqrt(squares / (n - 1 + noise->freedom));
    out.low = out.median * exp(-reach);
    out.high = out.median * exp(reach);
    out.confidence = STATS_CONFIDENCE;
    return out;
}
