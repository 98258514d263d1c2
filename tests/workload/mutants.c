/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.c - the checks of `isomer bench` find the bugs of tests/plugins/mutants.txt that its
 * cases can meet, so that none yields a number. */
#include "tests/workload/common.h"

#include <string.h>

static const struct {
    int number;
    const char *cases;
} mutants[] = {
    {1, "{\"op\": \"gemm\", \"size\": 65}"},
    {2, "{\"op\": \"gemm\", \"size\": 65}"},
    {9, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": \"20x30x3000\"}"},
    {10, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": \"20x30x3000\"}"},
    {11, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": \"20x30x3000\"}"},
    {12, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": \"20x30x3000\"}"},
    {13, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": 65}"},
    {14, "{\"op\": \"gemm\", \"size\": 65}"},
    {16, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": 33, \"batch\": 3}"},
    {17, "{\"op\": \"gemm\", \"dtype\": \"f16\", \"size\": 65}"},
    {21, "{\"op\": \"gemm\", \"dtype\": \"f64\", \"size\": 65}"},
    {22, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": 33, \"batch\": 3}"},
    {24, "{\"op\": \"gemm\", \"dtype\": \"f64\", \"size\": \"20x30x3000\"}"},
    {25, "{\"op\": \"gemm\", \"dtype\": \"f32\", \"size\": 65}"},
    {27, "{\"op\": \"transpose\", \"size\": 65}"},
    {28, "{\"op\": \"transpose\", \"dtype\": \"e2\", \"size\": 65}"},
    {31, "{\"op\": \"transpose\", \"dtype\": \"e16\", \"size\": 65}"},
    {32, "{\"op\": \"transpose\", \"size\": 65}"},
    {33, "{\"op\": \"transpose\", \"size\": 65}"},
    {34, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 5000}"},
    {35, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 5000}"},
    {36, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 100000}"},
    {41, "{\"op\": \"sum\", \"dtype\": \"i32\", \"size\": 5000}"},
    {44, "{\"op\": \"reduce\", \"kind\": \"dot\", \"dtype\": \"f32\", \"size\": [100, 1000, 3000, "
         "5000]}"},
    {47, "{\"op\": \"norm2\", \"dtype\": \"f32\", \"axis\": \"1\", \"size\": \"100x3000\"}"},
    {48, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 5000}"},
    {49, "{\"op\": \"argmax\", \"dtype\": \"f32\", \"size\": 100000}"},
    {50, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 1000000}"},
    {51, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 5000}"},
    {53, "{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 5000}"},
    {54, "{\"op\": \"sum\", \"dtype\": \"bf16\", \"size\": [5000, 5001, 5002, 5003, 5004, 5005]}"},
    {55, "{\"op\": \"sum\", \"dtype\": \"f32\", \"axis\": \"1\", \"size\": 65}"},
    {58, "{\"op\": \"transfer\", \"size\": 5000}"},
    {60, "{\"op\": \"transfer\", \"size\": 5000}"},
    {63, "{\"op\": \"triad\", \"dtype\": \"f32\", \"size\": 5000}"},
    {64, "{\"op\": \"add\", \"size\": 5000}"},
    {65, "{\"op\": \"chain\", \"dtype\": \"f16\", \"size\": 5000, \"steps\": 10}"},
    {67, "{\"op\": \"multiply\", \"dtype\": \"i64\", \"size\": 5000}"},
};

/* Counts how many of the cases pass and how many fail. */
static void count(const char *spec, const char *cases, int *passed, int *failed)
{
    char text[256];
    int code;
    snprintf(text, sizeof text, "[%s]", cases);
    work_list list = list_of(text, 3);
    work_inputs *inputs = work_inputs_create(3, &list);
    work_target *target = work_target_open(spec, ISO_MATH_STRICT, inputs, &code);
    *passed = *failed = 0;
    assert_non_null(target);
    for (int32_t i = 0; i < list.count; i++) {
        bench_result result;
        double nanoseconds;
        work_job *job = work_job_create(target, &list.items[i], 0, &result);
        if (result.status == BENCH_OK) {
            bool good = work_job_prepare(job, &nanoseconds, &result) &&
                        work_job_spoil(job, &result) && work_job_submit(job) == ISO_OK &&
                        work_job_check(job, &result);
            assert_true(good == (result.status == BENCH_OK));
            *passed += good;
            *failed += result.status == BENCH_FAILED;
        }
        work_job_destroy(job);
    }
    work_target_close(target);
    work_inputs_destroy(inputs);
    work_list_free(&list);
}

static void test_mutants(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        char spec[32];
        int passed, failed;
        snprintf(spec, sizeof spec, "mutant%d", mutants[i].number);
        count("reference", mutants[i].cases, &passed, &failed);
        if (passed == 0 || failed > 0) {
            fail_msg("the reference: %d pass and %d fail of %s", passed, failed, mutants[i].cases);
        }
        count(spec, mutants[i].cases, &passed, &failed);
        if (failed == 0) {
            fail_msg("%s passes %s", spec, mutants[i].cases);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
