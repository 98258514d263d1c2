/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - medians, intervals and tests, compared with values from SciPy or from counting all
 * cases. */
#include "tests/stats/tests.h"

#include <math.h>

static const double ten[] = {19.2, 21.4, 17.7, 22.8, 20.1, 18.3, 25.0, 16.2, 20.7, 21.9};

static void near_to(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-12 + 1e-9 * fabs(wanted))) {
        fail_msg("%.17g instead of %.17g", found, wanted);
    }
}

static void test_describe(void **state)
{
    (void)state;
    near_to(stats_median(ten, 10), 20.4);
    near_to(stats_median(ten, 9), 20.1);
    near_to(stats_median(ten, 1), 19.2);
    near_to(stats_mean(ten, 10), 20.33);
    near_to(stats_deviation(ten, 10), 2.6051444830906747);
    near_to(stats_spread(ten, 10), 2.66868);
    near_to(stats_min(ten, 10), 16.2);
    near_to(stats_max(ten, 10), 25.0);
    assert_true(ten[0] == 19.2 && ten[9] == 21.9); /* unchanged */
}

static void test_nothing(void **state)
{
    (void)state;
    const double bad[] = {1, NAN, 2};
    const double endless[] = {1, INFINITY, 2};
    double (*const figures[])(const double *, int32_t) = {
        stats_median, stats_mean,       stats_deviation, stats_min,
        stats_max,    stats_sign_flips, stats_spread};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        assert_true(isnan(figures[i](NULL, 0)));
        assert_true(isnan(figures[i](ten, -1)));
        assert_true(isnan(figures[i](bad, 3)));
        figures[i](endless, 3);
    }
    assert_true(isnan(stats_deviation(ten, 1)));
    assert_true(isnan(stats_median_interval(NULL, 0, 0.95).median));
    assert_true(isnan(stats_median_interval(bad, 3, 0.95).low));
    assert_true(isinf(stats_max(endless, 3)));
}

static void check_interval(const double *x, int32_t n, double confidence, double low, double high,
                           double reached)
{
    stats_interval i = stats_median_interval(x, n, confidence);
    near_to(i.low, low);
    near_to(i.high, high);
    near_to(i.confidence, reached);
    near_to(i.median, stats_median(x, n));
}

static void test_interval(void **state)
{
    (void)state;
    static double many[2000], some[25];
    for (int i = 0; i < 2000; i++) {
        many[i] = (double)(i * 37 % 2003) / 10;
    }
    for (int i = 0; i < 25; i++) {
        some[i] = (double)(i * 37 % 101) / 10;
    }
    check_interval(ten, 10, 0.95, 18.094594594594597, 22.208108108108107, 0.95);
    check_interval(ten, 6, 0.95, 17.914285714285715, 22.3, 0.95);
    check_interval(some, 25, 0.95, 3.0594361851927863, 6.940563814807215, 0.95);
    check_interval(many, 2000, 0.99, 94.19206295397314, 105.70793704602687, 0.99);
    check_interval(ten, 5, 0.95, 17.7, 22.8, 0.9375); /* the full range */
    check_interval(ten, 2, 0.95, 19.2, 21.4, 0.5);
    check_interval(ten, 1, 0.95, 19.2, 19.2, 0);
    for (int32_t n = 1; n <= 25; n++) { /* never crossed, at any level */
        for (double confidence = 0; confidence < 1; confidence += 0.05) {
            stats_interval i = stats_median_interval(some, n, confidence);
            assert_true(i.low <= i.median && i.median <= i.high);
        }
    }
    const double same[] = {3, 3, 3, 3, 3, 3, 3};
    check_interval(same, 7, 0.95, 3, 3, 0.95);
}

/* The values of Student's t and of the derivatives of the gamma function are from tables. */
static void test_noise(void **state)
{
    (void)state;
    const double alike[] = {0.1, 0.1, 0.1, 0.1}, apart[] = {0.001, 0.01, 0.1, 1, 0.001, 1};
    const int32_t rounds[] = {3, 3, 3, 3, 3, 3}, ones[] = {1, 1, 1, 1};
    stats_noise own = stats_noise_of(alike, rounds, 1); /* one case says nothing about others */
    assert_true(own.freedom == 0 && isnan(own.reach[1]));
    assert_true(fabs(own.reach[2] - 12.70620 / sqrt(2)) < 1e-4);
    assert_true(fabs(own.reach[3] - 4.302653 * 1.160 / sqrt(3)) < 1e-4);
    assert_true(fabs(own.reach[5] - 2.776445 * 1.198 / sqrt(5)) < 1e-4);
    stats_noise same = stats_noise_of(alike, rounds, 4); /* as good as a hundred rounds more */
    assert_true(fabs(same.freedom - 100) < 1e-6);
    assert_true(fabs(same.spread - 0.1 * exp((0.577216 - 0.010033) / 2)) < 1e-6);
    assert_true(fabs(same.reach[1] - 1.983972) < 1e-4);
    assert_true(fabs(same.reach[3] - 1.983495 * 1.160 / sqrt(3)) < 1e-4);
    assert_true(stats_noise_of(apart, rounds, 6).freedom < 1); /* so uneven that it says little */
    assert_true(stats_noise_of(alike, ones, 4).freedom == 0);
    assert_true(stats_noise_of(NULL, NULL, 0).freedom == 0);
}

static void test_rounds_interval(void **state)
{
    (void)state;
    const double three[] = {100, 100 * exp(0.1), 100 * exp(-0.1)}, zero[] = {0, 1, 2};
    const stats_noise none = stats_noise_of(NULL, NULL, 0);
    stats_noise known = {.spread = 0.2, .freedom = 2, .reach = {0, 3, 3, 1.5}};
    stats_interval i = stats_rounds_interval(three, 3, &none);
    near_to(i.median, 100);
    near_to(i.confidence, 0.95);
    assert_true(fabs(log(i.high / 100) - 4.302653 * 1.160 / sqrt(3) * 0.1) < 1e-5);
    assert_true(fabs(log(i.low / 100) + 4.302653 * 1.160 / sqrt(3) * 0.1) < 1e-5);
    /* (2 * 0.1^2 + 2 * 0.2^2) / 4 = 0.025 */
    near_to(stats_rounds_interval(three, 3, &known).high, 100 * exp(1.5 * sqrt(0.025)));
    near_to(stats_rounds_interval(three, 1, &known).low, 100 * exp(-3 * 0.2));
    assert_true(isnan(stats_rounds_interval(three, 1, &none).low));
    assert_true(isnan(stats_rounds_interval(three, 0, &none).median));
    assert_true(!(stats_rounds_interval(zero, 3, &none).low > 0));
    near_to(stats_rounds_interval(ten, 6, &none).high, 22.3); /* of order statistics */
}

static void test_sign_flips(void **state)
{
    (void)state;
    const double spoilt[] = {.05, .06, .04, .05, .055, .045, .052, .048, .051, -.2};
    const double mixed[] = {.05, -.02, .04, .05, -.055, .045, .052, .11, .051}, none[] = {0, 0};
    static double many[30];
    for (int i = 0; i < 30; i++) {
        many[i] = (i % 3 ? 0.01 : -0.02) * (1 + i / 40.0);
    }
    near_to(stats_sign_flips(spoilt, 10), 0.00390625); /* the signed-rank test gives 0.08 */
    near_to(stats_sign_flips(mixed, 9), 0.0703125);
    near_to(stats_sign_flips(many, 30), 0.1329899642902294);
    near_to(stats_sign_flips(none, 2), 1);
    near_to(stats_sign_flips(mixed, 1), 1);
    near_to(stats_sign_flips(spoilt, 8), 2.0 / 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_interval),        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_rounds_interval), cmocka_unit_test(test_sign_flips)};
    int wrong = cmocka_run_group_tests(tests, NULL, NULL);
    return wrong + run_judge_tests() + run_change_tests();
}
