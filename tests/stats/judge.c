/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - the verdicts: on clear cases, and how often they are wrong. */
#include "tests/stats/tests.h"

#include <math.h>

static double wild(void) /* one in ten is ten times as far away */
{
    return random_normal() * (random_uniform() < 0.1 ? 10 : 1);
}

/* Counts how often, in `tries`, pairs with this noise and a true ratio of `ratio` get `verdict`. */
static int count(stats_verdict verdict, double (*noise)(void), double size, double ratio, int pairs,
                 int tries)
{
    double a[64], b[64];
    int found = 0;
    for (int t = 0; t < tries; t++) {
        for (int i = 0; i < pairs; i++) {
            a[i] = 1e6 * (1 + 0.2 * random_uniform()); /* drift of both, which pairing cancels */
            b[i] = a[i] * ratio * exp(size * noise());
        }
        found +=
            stats_compare_pairs(a, b, pairs, STATS_LEAST_EFFECT, STATS_ALPHA).verdict == verdict;
    }
    return found;
}

static void test_false_calls(void **state)
{
    (void)state;
    double (*const noises[])(void) = {random_normal, random_heavy, wild};
    const double sizes[] = {0.015, 0.05, 0.2};
    for (size_t n = 0; n < 3; n++) {
        for (size_t s = 0; s < 3; s++) {
            int called = count(STATS_SLOWER, noises[n], sizes[s], 1, 10, 500) +
                         count(STATS_FASTER, noises[n], sizes[s], 1, 10, 500);
            if (called > 19) { /* of 1000, each of which could be wrong once: 1 % are expected */
                fail_msg("noise %zu of %g: %d of 1000 equal cases are called", n, sizes[s], called);
            }
        }
    }
}

static void test_found(void **state)
{
    (void)state;
    assert_in_range(count(STATS_SLOWER, random_normal, 0.01, 1.05, 10, 300), 300, 300);
    assert_in_range(count(STATS_SLOWER, random_normal, 0.02, 1.05, 12, 300), 293, 300);
    assert_in_range(count(STATS_FASTER, random_normal, 0.01, 1 / 1.05, 10, 300), 300, 300);
    assert_in_range(count(STATS_SLOWER, wild, 0.01, 1.05, 16, 300), 290, 300);
    assert_in_range(count(STATS_SAME, random_normal, 0.01, 1, 10, 300), 290, 300);
    assert_in_range(count(STATS_SLOWER, random_normal, 0.005, 1.02, 16, 300), 0, 0); /* too small */
}

static void test_pairs(void **state)
{
    (void)state;
    const double a[] = {10, 20, 30, 40, 50, 60, 70, 80};
    double b[8];
    for (int i = 0; i < 8; i++) {
        b[i] = 1.1 * a[i];
    }
    stats_comparison c = stats_compare_pairs(a, b, 8, 0.03, 0.01);
    assert_true(fabs(c.ratio - 1.1) < 1e-12 && fabs(c.low - 1.1) < 1e-12);
    assert_int_equal(c.verdict, STATS_SLOWER);
    assert_int_equal(stats_compare_pairs(b, a, 8, 0.03, 0.01).verdict, STATS_FASTER);
    assert_int_equal(stats_compare_pairs(a, a, 8, 0.03, 0.01).verdict, STATS_SAME);
    assert_int_equal(stats_compare_pairs(a, b, 7, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_int_equal(stats_compare_pairs(a, a, 1, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_int_equal(stats_compare_pairs(a, b, 0, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    b[3] = NAN;
    c = stats_compare_pairs(a, b, 8, 0.03, 0.01);
    assert_true(isnan(c.ratio) && c.verdict == STATS_AMBIGUOUS);
    b[3] = 0;
    assert_int_equal(stats_compare_pairs(a, b, 8, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
}

static stats_verdict compared(double low, double median, double high, double drift)
{
    const stats_interval a = {100, 99, 101, 0.95}, b = {median, low, high, 0.95};
    return stats_compare(&a, &b, drift, 0.03).verdict;
}

static void test_unpaired(void **state)
{
    (void)state;
    const stats_interval a = {100, 99, 101, 0.95}, b = {110, 108, 112, 0.95};
    stats_comparison c = stats_compare(&a, &b, 0, 0.03);
    assert_true(fabs(c.ratio - 1.1) < 1e-12 && isnan(c.p));
    assert_true(fabs(c.low - 108.0 / 101) < 1e-12 && fabs(c.high - 112.0 / 99) < 1e-12);
    assert_int_equal(c.verdict, STATS_SLOWER);
    c = stats_compare(&a, &b, 0.02, 0.03);
    assert_true(fabs(c.low - 108.0 / 101 / 1.02) < 1e-12);
    assert_true(fabs(c.high - 112.0 / 99 * 1.02) < 1e-12);
    assert_int_equal(compared(104.1, 105, 106, 0), STATS_SLOWER);  /* 104.1 / 101 is 1.0307 */
    assert_int_equal(compared(104, 105, 106, 0), STATS_AMBIGUOUS); /* 104 / 101 is 1.0297 */
    assert_int_equal(compared(104.1, 105, 106, 0.01), STATS_AMBIGUOUS);
    assert_int_equal(compared(95, 95.5, 96.1, 0), STATS_FASTER); /* 96.1 / 99 is 0.9707 */
    assert_int_equal(compared(95, 95.5, 96.2, 0), STATS_AMBIGUOUS);
    assert_int_equal(compared(98.5, 100, 101.9, 0), STATS_SAME); /* 0.9752 to 1.0293 */
    assert_int_equal(compared(98.5, 100, 102, 0), STATS_AMBIGUOUS);
    assert_int_equal(compared(10, 12, 14, 0), STATS_FASTER);
    /* Well known to be about 3 %: the ratio decides. 1.03 to the power of 0.5 and 1.5 is 1.0149 and
     * 1.0453. */
    assert_int_equal(compared(102.6, 102.9, 103.2, 0), STATS_SAME); /* 1.0158 to 1.0424 */
    assert_int_equal(compared(102.8, 103.1, 103.4, 0), STATS_SLOWER);
    assert_int_equal(compared(102.4, 102.9, 103.2, 0), STATS_AMBIGUOUS); /* from 1.0139 on */
    assert_int_equal(compared(102.8, 103.1, 103.6, 0), STATS_AMBIGUOUS); /* to 1.0465 */
    assert_int_equal(compared(96.7, 96.9, 97.4, 0), STATS_FASTER);       /* 1 / 1.0445 on */
    assert_int_equal(compared(NAN, 12, NAN, 0), STATS_AMBIGUOUS);
    assert_int_equal(compared(10, 12, 14, NAN), STATS_AMBIGUOUS);
    assert_string_equal(stats_verdict_name(STATS_FASTER), "FASTER");
    assert_string_equal(stats_verdict_name((stats_verdict)77), "");
}

enum { CASES = 100 };

/* Compares two runs of CASES cases that have `rounds` rounds each, and counts one verdict. The
 * deviations of the cases are spread about `size` by a factor of e; each round keeps the share
 * `memory` of the noise of the one before. */
static int count_unpaired(stats_verdict verdict, double (*noise)(void), double size, double memory,
                          double ratio, int rounds)
{
    static double x[2][CASES][16], spreads[2][CASES];
    int32_t counts[CASES];
    stats_noise known[2];
    int found = 0;
    for (int i = 0; i < CASES; i++) {
        double own = size * exp(random_normal());
        counts[i] = rounds;
        for (int side = 0; side < 2; side++) {
            double e = noise();
            for (int r = 0; r < rounds; r++) {
                x[side][i][r] = own * e;
                e = memory * e + sqrt(1 - memory * memory) * noise();
            }
            spreads[side][i] = stats_deviation(x[side][i], rounds);
        }
    }
    for (int side = 0; side < 2; side++) {
        known[side] = stats_noise_of(spreads[side], counts, CASES);
    }
    for (int i = 0; i < CASES; i++) {
        stats_interval time[2];
        for (int side = 0; side < 2; side++) {
            for (int r = 0; r < rounds; r++) {
                x[side][i][r] = (side ? ratio : 1) * exp(x[side][i][r]);
            }
            time[side] = stats_rounds_interval(x[side][i], rounds, &known[side]);
        }
        found += stats_compare(&time[0], &time[1], 0, STATS_LEAST_EFFECT).verdict == verdict;
    }
    return found;
}

/* Two devices of one run: few rounds may not be enough, but they never mislead. */
static void test_few_rounds(void **state)
{
    (void)state;
    double (*const noises[])(void) = {random_normal, random_heavy, wild, random_normal};
    const double memories[] = {0, 0, 0, 0.2}, sizes[] = {0.005, 0.02, 0.1};
    const int rounds[] = {2, 3, 4, 6, 12};
    for (size_t n = 0; n < 4; n++) {
        for (size_t r = 0; r < 5; r++) {
            int called = 0, sure = 0;
            for (size_t s = 0; s < 3; s++) {
                for (int t = 0; t < 4; t++) {
                    called += count_unpaired(STATS_SLOWER, noises[n], sizes[s], memories[n], 1,
                                             rounds[r]);
                    called += count_unpaired(STATS_FASTER, noises[n], sizes[s], memories[n], 1,
                                             rounds[r]);
                }
                sure +=
                    count_unpaired(STATS_FASTER, noises[n], sizes[s], memories[n], 0.1, rounds[r]);
            }
            if (called > 48) { /* of 2400 */
                fail_msg("noise %zu, %d rounds: %d of 2400 equal cases are called", n, rounds[r],
                         called);
            }
            if (sure < (rounds[r] > 2 ? 285 : 270)) { /* of 300 */
                fail_msg("noise %zu, %d rounds: ten times as fast is seen in %d of 300", n,
                         rounds[r], sure);
            }
        }
    }
    assert_in_range(count_unpaired(STATS_SLOWER, random_normal, 0.01, 0, 1.04, 3), 0, 40);
}

int run_judge_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_calls),
                                       cmocka_unit_test(test_found), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_unpaired),
                                       cmocka_unit_test(test_few_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
