/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - changes in series of runs: simulated histories, and the distance of two groups. */
#include "tests/stats/tests.h"

#include <math.h>
#include <stdbool.h>

/* Student's t with 3 degrees of freedom, with a deviation of 1. */
static double heavy(void)
{
    return random_heavy() / sqrt(3);
}

enum { RUNS = 10, ROUNDS = 7, HISTORIES = 100, PLANTED = 6 /* the seventh */ };

/* Makes a history: the run-to-run drift has heavy tails, the rounds of a run spread by 1 %. */
static void make_history(double *x, int32_t n, double drift, double slower)
{
    for (int32_t i = 0; i < n; i++) {
        double rounds[ROUNDS], level = drift * heavy() + (i >= PLANTED ? log(slower) : 0);
        for (int32_t r = 0; r < ROUNDS; r++) {
            rounds[r] = level + 0.01 * heavy();
        }
        x[i] = stats_median(rounds, ROUNDS);
    }
}

/* How many of a hundred histories have exactly one change, at the planted run or (with `slower` 1)
 * none. */
static int right(double drift, double slower, int histories)
{
    int count = 0;
    for (int h = 0; h < histories; h++) {
        double x[RUNS];
        stats_change found[RUNS];
        make_history(x, RUNS, drift, slower);
        int32_t n = stats_changes(x, RUNS, STATS_LEAST_EFFECT, found, RUNS);
        count += slower > 1 ? n == 1 && found[0].at == PLANTED : n == 0;
    }
    return count;
}

static void test_histories(void **state)
{
    (void)state;
    int with = right(0.01, 1.06, HISTORIES), without = right(0.01, 1, HISTORIES);
    print_message("found at the seventh run: %d of %d; none where there is none: %d of %d\n", with,
                  HISTORIES, without, HISTORIES);
    assert_in_range(with, 95, HISTORIES);
    assert_in_range(without, 95, HISTORIES);
    /* The figures of docs/benchmarking.md. */
    for (int percent = 1; percent <= 3; percent++) {
        double drift = percent / 100.0;
        print_message("drift %d %%: found %d, none %d of 2000\n", percent, right(drift, 1.06, 2000),
                      right(drift, 1, 2000));
    }
    assert_in_range(right(0.03, 1, 1000), 950, 1000);
}

static void test_several(void **state)
{
    (void)state;
    double x[30];
    stats_change found[30];
    for (int i = 0; i < 30; i++) {
        x[i] = 0.002 * (i % 3) + (i >= 10 ? 0.08 : 0) - (i >= 20 ? 0.05 : 0);
    }
    assert_int_equal(stats_changes(x, 30, STATS_LEAST_EFFECT, found, 30), 2);
    assert_int_equal(found[0].at, 10);
    assert_int_equal(found[1].at, 20);
    assert_true(found[0].p > 0 && found[0].p <= STATS_CHANGE_ALPHA);
    assert_int_equal(stats_changes(x, 30, 0.2, found, 30), 0);  /* too small */
    assert_int_equal(stats_changes(x, 9, 0.001, found, 30), 0); /* too short */
    assert_int_equal(stats_changes(x, 30, STATS_LEAST_EFFECT, found, 1), 1);
    for (int i = 0; i < 30; i++) {
        x[i] = 1;
    }
    assert_int_equal(stats_changes(x, 30, STATS_LEAST_EFFECT, found, 30), 0);
    x[3] = 2; /* one run that something disturbed */
    assert_int_equal(stats_changes(x, 30, STATS_LEAST_EFFECT, found, 30), 0);
    x[3] = NAN;
    assert_int_equal(stats_changes(x, 30, STATS_LEAST_EFFECT, found, 30), 0);
}

static void test_shift(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {11, 12, 13, 14};
    stats_interval s = stats_shift(a, 6, b, 4, 0.95);
    assert_true(fabs(s.median - 9) < 1e-12);
    /* U of 6 and 4 numbers is at most 2 with a probability of 4/210. */
    assert_true(fabs(s.confidence - (1 - 8.0 / 210)) < 1e-9);
    assert_true(s.low == 6 && s.high == 12);
    s = stats_shift(a, 2, b, 2, 0.95);
    assert_true(fabs(s.confidence - (1 - 2.0 / 6)) < 1e-9 && s.low == 9 && s.high == 11);
    s = stats_shift(a, 1, b, 1, 0.95);
    assert_true(s.confidence < 1e-9 && s.low == 10 && s.high == 10);
    assert_true(isnan(stats_shift(a, 0, b, 1, 0.95).median));
    /* The interval has the true distance at least as often as it says. */
    int inside = 0;
    for (int i = 0; i < 1000; i++) {
        double x[6], y[5];
        for (int k = 0; k < 6; k++) {
            x[k] = heavy();
        }
        for (int k = 0; k < 5; k++) {
            y[k] = heavy() + 2;
        }
        s = stats_shift(x, 6, y, 5, 0.95);
        inside += s.low <= 2 && 2 <= s.high;
    }
    assert_in_range(inside, 940, 1000);
}

int run_change_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_histories),
                                       cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_shift)};
    random_restart();
    return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
