/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - which rows keep their rounds if time is short: priorities, dear devices, comparisons. */
#include "bench/measure/internal.h"
#include "tests/workload/common.h"

#include <math.h>
#include <stdlib.h>

/* Plans and returns how long the kept rows take. Rows come back in the order in which they went in.
 */
static int by_row(const void *a, const void *b)
{
    const plan_row *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static double fit(plan_row *rows, int32_t count, double seconds)
{
    for (int32_t i = 0; i < count; i++) {
        rows[i].row = i;
    }
    double sum = measure_plan_fit(rows, count, seconds), kept = 0;
    qsort(rows, (size_t)count, sizeof *rows, by_row);
    for (int32_t i = 0; i < count; i++) {
        kept += rows[i].kept ? rows[i].cost : 0;
    }
    assert_true(fabs(sum - kept) < 1e-6 * (1 + kept));
    assert_true(sum <= seconds);
    return sum;
}

static void test_enough(void **state)
{
    plan_row rows[] = {{.item = 0, .priority = 9, .cost = 3},
                       {.item = 1, .priority = 5, .cost = 7}};
    (void)state;
    assert_true(fit(rows, 2, 10) == 10);
    assert_true(fit(rows, 2, 0) == 0);
    assert_true(measure_plan_fit(rows, 0, 1) == 0);
}

static void test_priority(void **state)
{
    /* The roof is the dearest and stays; the cheapest goes, because it matters least. */
    plan_row rows[] = {{.item = 0, .priority = 5, .cost = 2},
                       {.item = 1, .priority = 9, .cost = 1},
                       {.item = 2, .priority = 0, .cost = 8},
                       {.item = 3, .priority = 1, .cost = 3}};
    (void)state;
    fit(rows, 4, 13);
    assert_true(rows[0].kept && !rows[1].kept && rows[2].kept && rows[3].kept);
    fit(rows, 4, 12);
    assert_true(!rows[0].kept && rows[1].kept && rows[2].kept && rows[3].kept);
    fit(rows, 4, 8);
    assert_true(!rows[0].kept && !rows[1].kept && rows[2].kept && !rows[3].kept);
}

static void test_dearest(void **state)
{
    /* Of equal priority the dearest goes first, and room that is left is used. */
    plan_row rows[] = {{.item = 0, .priority = 5, .cost = 1},
                       {.item = 1, .priority = 5, .cost = 6},
                       {.item = 2, .priority = 9, .cost = 2}};
    (void)state;
    fit(rows, 3, 7.5);
    assert_true(rows[0].kept && rows[1].kept && !rows[2].kept);
    fit(rows, 3, 5);
    assert_true(rows[0].kept && !rows[1].kept && rows[2].kept);
}

static void test_devices(void **state)
{
    /* A slow device alone goes; devices of like cost go together. */
    plan_row slow[] = {{.item = 0, .priority = 5, .cost = 1},
                       {.item = 0, .priority = 5, .cost = 1.2},
                       {.item = 0, .priority = 5, .cost = 30}};
    plan_row like[] = {{.item = 0, .priority = 5, .cost = 5},
                       {.item = 0, .priority = 5, .cost = 6},
                       {.item = 1, .priority = 5, .cost = 4},
                       {.item = 1, .priority = 5, .cost = 4}};
    (void)state;
    fit(slow, 3, 31);
    assert_true(slow[0].kept && slow[1].kept && !slow[2].kept);
    fit(like, 4, 18);
    assert_true(!like[0].kept && !like[1].kept && like[2].kept && like[3].kept);
}

/* A full suite on four devices, two of them much slower: at every budget the time is kept, no
 * roof goes, and a case is alone on a device only where the others were far dearer. */
static void test_full(void **state)
{
    enum { CASES = 350, DEVICES = 4, ROWS = CASES * DEVICES };
    static plan_row rows[ROWS];
    (void)state;
    for (double budget = 20; budget < 700; budget *= 1.5) {
        int32_t kept = 0;
        srand(7);
        for (int32_t i = 0; i < ROWS; i++) {
            int32_t item = i / DEVICES, device = i % DEVICES;
            double size = 0.001 * (1 + item % 50) * (1 + item % 7);
            rows[i] = (plan_row){.item = item,
                                 .priority = item < 6 ? 0 : 1 + item % 9,
                                 .cost = size * (device < 2 ? 1 : 4) * (1 + rand() % 100 * 0.01)};
        }
        double roofs = 0;
        for (int32_t i = 0; i < 6 * DEVICES; i++) {
            roofs += rows[i].cost;
        }
        assert_true(roofs < 20);
        fit(rows, ROWS, budget);
        for (int32_t i = 0; i < ROWS; i += DEVICES) {
            double here = 0, gone = 0;
            int32_t there = 0;
            for (int32_t d = i; d < i + DEVICES; d++) {
                here += rows[d].kept ? rows[d].cost : 0;
                gone += rows[d].kept ? 0 : rows[d].cost;
                there += rows[d].kept;
            }
            kept += there;
            assert_true(i >= 6 * DEVICES || there == DEVICES);
            assert_true(there == 0 || there == DEVICES || gone > 3 * here);
        }
        assert_true(kept > 6 * DEVICES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enough),
                                       cmocka_unit_test(test_priority),
                                       cmocka_unit_test(test_dearest),
                                       cmocka_unit_test(test_devices), cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
