/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - the verdicts: on clear cases, and how often they are wrong. */
#include "tests/stats/tests.h"

#include <math.h>

static uint64_t state_of_noise = 88172645463325252u;

static double uniform(void)
{
    state_of_noise ^= state_of_noise << 13;
    state_of_noise ^= state_of_noise >> 7;
    state_of_noise ^= state_of_noise << 17;
    return ((double)(state_of_noise >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double heavy(void) /* Student's t, 3 degrees of freedom */
{
    double x = normal(), a = normal(), b = normal(), c = normal();
    return x / sqrt((a * a + b * b + c * c) / 3);
}

static double wild(void) /* one in ten is ten times as far away */
{
    return normal() * (uniform() < 0.1 ? 10 : 1);
}

/* Counts how often, in `tries`, pairs with this noise and a true ratio of `ratio` get `verdict`. */
static int count(stats_verdict verdict, double (*noise)(void), double size, double ratio, int pairs,
                 int tries)
{
    double a[64], b[64];
    int found = 0;
    for (int t = 0; t < tries; t++) {
        for (int i = 0; i < pairs; i++) {
            a[i] = 1e6 * (1 + 0.2 * uniform()); /* drift of both, which pairing cancels */
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
    double (*const noises[])(void) = {normal, heavy, wild};
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
    assert_in_range(count(STATS_SLOWER, normal, 0.01, 1.05, 10, 300), 300, 300);
    assert_in_range(count(STATS_SLOWER, normal, 0.02, 1.05, 12, 300), 293, 300);
    assert_in_range(count(STATS_FASTER, normal, 0.01, 1 / 1.05, 10, 300), 300, 300);
    assert_in_range(count(STATS_SLOWER, wild, 0.01, 1.05, 16, 300), 290, 300);
    assert_in_range(count(STATS_SAME, normal, 0.01, 1, 10, 300), 290, 300);
    assert_in_range(count(STATS_SLOWER, normal, 0.005, 1.02, 16, 300), 0, 0); /* too small */
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

static void test_rounds(void **state)
{
    (void)state;
    const double a[] = {100, 101, 99, 100.5, 99.5, 100.2},
                 b[] = {110, 111, 109, 110.5, 109.5, 110.2};
    stats_comparison c = stats_compare(a, 6, b, 6, 0, 0.03, 0.01);
    assert_int_equal(c.verdict, STATS_SLOWER);
    assert_true(fabs(c.ratio - 110.1 / 100.1) < 1e-12);
    assert_true(c.low > 1.08 && c.low < c.ratio && c.ratio < c.high && c.high < 1.12);
    stats_comparison wide = stats_compare(a, 6, b, 6, 0.15, 0.03, 0.01);
    assert_int_equal(wide.verdict, STATS_AMBIGUOUS); /* drift could explain all of it */
    assert_true(wide.low < c.low && wide.high > c.high);
    assert_int_equal(stats_compare(b, 6, a, 6, 0, 0.03, 0.01).verdict, STATS_FASTER);
    assert_int_equal(stats_compare(a, 6, a, 6, 0, 0.03, 0.01).verdict, STATS_SAME);
    assert_int_equal(stats_compare(a, 4, b, 4, 0, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_int_equal(stats_compare(a, 1, b, 1, 0, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_int_equal(stats_compare(a, 0, b, 6, 0, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_int_equal(stats_compare(a, 6, b, 6, NAN, 0.03, 0.01).verdict, STATS_AMBIGUOUS);
    assert_string_equal(stats_verdict_name(STATS_FASTER), "FASTER");
    assert_string_equal(stats_verdict_name((stats_verdict)77), "");
}

int run_judge_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_calls),
                                       cmocka_unit_test(test_found), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
