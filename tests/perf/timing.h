/* SPDX-License-Identifier: Apache-2.0 */
/* timing.h - the clock and the medians of the programs in this folder. */
#ifndef ISOMER_TESTS_PERF_TIMING_H
#define ISOMER_TESTS_PERF_TIMING_H

#include <stdlib.h>
#include <time.h>

/* Seconds on a monotonic clock. */
static inline double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the numbers. */
static inline double median(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, by_value);
    return of[count / 2];
}

#endif
