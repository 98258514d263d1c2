/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - which rows a round visits: all, or those that are noisy or undecided between devices.
 */
#include "bench/measure/internal.h"
#include "tests/workload/common.h"

#include <stdlib.h>

enum { ROWS = 6, ROUNDS = 12 };

/* A run of three cases on two devices, whose rounds spread by `spread` to each side. The second
 * device takes `ratio` times as long as the first. */
typedef struct run {
    measure_plan plan;
    measure_device devices[2];
    bench_case items[3];
    measure_row rows[ROWS];
    measure_sample samples[ROWS][ROUNDS];
    measure_state state;
} run;

static void make(run *r, const double *spread, const double *ratio)
{
    *r = (run){.plan = {.target_count = 2, .rounds_min = MEASURE_ROUNDS, .target = 0.01}};
    for (int i = 0; i < ROWS; i++) {
        measure_row *row = &r->rows[i];
        double time = i % 2 == 0 ? 1000 : 1000 * ratio[i / 2];
        *row = (measure_row){.item = &r->items[i / 2],
                             .target = i % 2,
                             .result = {.status = BENCH_OK},
                             .calls = 1,
                             .rounds = ROUNDS,
                             .count = ROUNDS,
                             .samples = r->samples[i]};
        for (int k = 0; k < ROUNDS; k++) {
            double off = spread[i / 2] * (2.0 * k / (ROUNDS - 1) - 1);
            r->samples[i][k] = (measure_sample){.time = time * (1 + off), .round = k + 1};
        }
    }
    r->state = (measure_state){
        .plan = &r->plan, .devices = r->devices, .rows = r->rows, .count = ROWS, .round = ROUNDS};
    measure_settle(&r->state);
}

static void test_wanted(void **state)
{
    /* Equal but uncertain; ten times as fast and uncertain; as fast as it gets, and certain. */
    const double spread[] = {0.1, 0.1, 0.001}, ratio[] = {1, 10, 1};
    run r;
    (void)state;
    make(&r, spread, ratio);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(r.rows[i].wanted, i < 2);
        assert_int_equal(r.rows[i].settled, i >= 4);
    }
}

static void test_noisy(void **state)
{
    /* Decided, but the intervals reach over 20 %. */
    const double spread[] = {0.8, 0.1, 0.1}, ratio[] = {100, 10, 10};
    run r;
    (void)state;
    make(&r, spread, ratio);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(r.rows[i].wanted, i < 2);
    }
}

static void test_near(void **state)
{
    /* Known to within 1 %, but the intervals still reach to both sides of the least effect. */
    const double spread[] = {0.015, 0.015, 0.0005}, ratio[] = {1.02, 1.5, 1.0};
    run r;
    (void)state;
    make(&r, spread, ratio);
    assert_true(r.rows[0].wanted && !r.rows[0].settled && r.rows[1].wanted && !r.rows[1].settled);
    assert_true(r.rows[2].settled && r.rows[3].settled && r.rows[4].settled);
}

static void test_few_rounds(void **state)
{
    const double spread[] = {0, 0, 0}, ratio[] = {1, 1, 1};
    run r;
    (void)state;
    make(&r, spread, ratio);
    assert_true(r.rows[0].settled);
    r.rows[0].settled = false;
    r.rows[0].count = r.rows[0].rounds = MEASURE_ROUNDS - 1;
    measure_settle(&r.state);
    assert_false(r.rows[0].settled);
    assert_false(r.rows[1].wanted); /* nothing is known about the other side */
}

static void test_pools(void **state)
{
    bench_case own = {.how = ISO_VARIANT_TILED}, vendor = {.how = ISO_VARIANT_VENDOR};
    measure_device devices[] = {{.chip = 0, .gpu = true}, {.chip = 0, .gpu = true}, {.chip = 2}};
    measure_state own_state = {.devices = devices};
    measure_row row[] = {{.item = &own},
                         {.item = &vendor, .target = 1},
                         {.item = &own, .target = 2},
                         {.item = &vendor, .target = 2}};
    (void)state;
    /* Two backends on one GPU use the same; a CPU's library has threads of its own. */
    assert_int_equal(measure_pool(&own_state, &row[0]), measure_pool(&own_state, &row[1]));
    assert_int_not_equal(measure_pool(&own_state, &row[2]), measure_pool(&own_state, &row[3]));
    assert_int_not_equal(measure_pool(&own_state, &row[0]), measure_pool(&own_state, &row[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted), cmocka_unit_test(test_noisy), cmocka_unit_test(test_near),
        cmocka_unit_test(test_few_rounds), cmocka_unit_test(test_pools)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
