/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - cases on a device: they run and pass, and results that were not computed fail. */
#include "tests/workload/common.h"

#include <stdlib.h>
#include <string.h>

static const char cases[] =
    "[{\"op\": \"transfer\", \"size\": [4096, \"1Mi\"]},"
    " {\"op\": \"stream\", \"kind\": [\"copy\", \"scale\", \"add\", \"multiply\", \"triad\"],"
    "  \"variant\": [\"naive\", \"tiled\"], \"dtype\": [\"f16\", \"bf16\", \"f32\", \"f64\"],"
    "  \"size\": [1000, 100003]},"
    " {\"op\": \"stream\", \"kind\": [\"copy\", \"add\", \"multiply\"], \"dtype\": [\"i32\", "
    "\"i64\"],"
    "  \"size\": 100003},"
    " {\"op\": \"chain\", \"dtype\": [\"f16\", \"f32\", \"f64\"], \"size\": [5, 100003], "
    "\"steps\": [1, 1000]},"
    " {\"op\": \"stream\", \"kind\": \"dot\", \"variant\": [\"naive\", \"tiled\", \"vendor\"],"
    "  \"size\": 100003},"
    " {\"op\": \"transpose\", \"dtype\": [\"e1\", \"e2\", \"e4\", \"e8\", \"e16\"], \"rows\": "
    "[100, 257],"
    "  \"cols\": [64, 129]},"
    " {\"op\": \"reduce\", \"kind\": [\"sum\", \"product\", \"min\", \"max\", \"mean\", \"dot\", "
    "\"asum\","
    "  \"norm2\", \"argmin\", \"argmax\", \"xor\", \"amax\", \"argamax\"], \"variant\": "
    "[\"naive\", \"tiled\", "
    "\"vendor\", "
    "\"partials\"],"
    "  \"dtype\": [\"f16\", \"bf16\", \"f32\", \"f64\", \"i32\", \"i64\"], \"size\": [1, 4097, "
    "300000]},"
    " {\"op\": \"reduce\", \"kind\": [\"sum\", \"dot\", \"argmax\"], \"axis\": [\"0\", \"1\"],"
    "  \"variant\": [\"naive\", \"tiled\"], \"size\": [\"300x70\", \"5000x3\"]},"
    " {\"op\": \"gemm\", \"dtype\": [\"f16\", \"bf16\", \"f32\", \"f64\"], \"size\": [1, 65, 200],"
    "  \"trans_a\": [\"n\", \"t\"], \"trans_b\": [\"n\", \"t\"], \"parts\": true},"
    " {\"op\": \"gemm\", \"size\": \"30x20x10\", \"batch\": 3}, "
    " {\"op\": \"gemm\", \"size\": \"3x2x5000\"}]";

/* Checks that one wrong bit in one element of a result is found. In a chain the sign is changed,
 * because not every element is checked to the bit. */
static void try_wrong_bits(const bench_case *item, work_inputs *inputs)
{
    bench_needs needs;
    bench_case_needs(item, &needs);
    unsigned char *data = work_inputs_scratch(inputs, needs.result);
    int64_t size = needs.result / needs.results;
    for (uint64_t i = 0; i < 3; i++) {
        bench_result result = {0};
        int64_t at = (int64_t)(arith_mix(item->seed, i) % (uint64_t)needs.results);
        bool chain = item->by == &bench_map && item->map.op == ISO_MAP_CHAIN;
        unsigned char *byte = data + at * size + (chain ? size - 1 : (int64_t)i % size);
        unsigned char kept = *byte;
        *byte ^= chain ? 0x80 : 1;
        if (work_check(item, inputs, data, &result)) {
            fail_msg("%s: a wrong bit in element %lld passes", item->id, (long long)at);
        }
        assert_int_equal(result.status, BENCH_FAILED);
        *byte = kept;
    }
}

static void test_openmp(void **state)
{
    work_list list = list_of(cases, 7);
    work_inputs *inputs = work_inputs_create(7, &list);
    int code, ran = 0, refused = 0;
    work_target *target = work_target_open("openmp", ISO_MATH_STRICT, inputs, &code);

    (void)state;
    assert_non_null(target);
    for (int32_t i = 0; i < list.count; i++) {
        const bench_case *item = &list.items[i];
        bench_result result, spoilt = {0};
        double nanoseconds;
        work_job *job = work_job_create(target, item, 0, &result);
        assert_non_null(job);
        if (result.status == BENCH_UNSUPPORTED) {
            assert_string_not_equal(result.reason, "");
            work_job_destroy(job);
            refused++;
            continue;
        }
        if (!work_job_prepare(job, &nanoseconds, &result) || !work_job_spoil(job, &result)) {
            fail_msg("%s: %s", item->id, result.reason);
        }
        if (work_job_check(job, &spoilt)) {
            fail_msg("%s: an overwritten result passes the check", item->id);
        }
        if (!work_job_spoil(job, &result) || (item->parts && work_job_copy_in(job) != ISO_OK) ||
            work_job_submit(job) != ISO_OK || (item->parts && work_job_copy_out(job) != ISO_OK) ||
            !work_job_check(job, &result)) {
            fail_msg("%s: %s: %s", item->id, result.reason, iso_last_error());
        }
        assert_int_equal(result.status, BENCH_OK);
        assert_true(result.checks == 1 && result.method && result.library[0] != '\0');
        if (item->same_bits && item->op != &bench_gemm && result.status == BENCH_OK &&
            !(item->op == &bench_transfer && item->transfer.move == TRANSFER_READ)) {
            try_wrong_bits(item, inputs);
        }
        ran++;
        work_job_destroy(job);
    }
    print_message("%d ran, %d are not supported\n", ran, refused);
    assert_true(ran > 300);
    work_target_close(target);
    work_inputs_destroy(inputs);
    work_list_free(&list);
}

/* Backends write the same chip's uuid in different ways. */
static void test_chips(void **state)
{
    (void)state;
    assert_true(work_same_chip("GPU-ab56b204-b677-7d3e-9a2c-0f1e2d3c4b5a",
                               "ab56b204-b677-7d3e-9a2c-0f1e2d3c4b5a"));
    assert_true(work_same_chip("AB56B204B6777D3E9A2C0F1E2D3C4B5A",
                               "MIG-ab56b204-b677-7d3e-9a2c-0f1e2d3c4b5a"));
    assert_false(work_same_chip("GPU-ab56b204-b677-7d3e-9a2c-0f1e2d3c4b5a",
                                "ab56b204-b677-7d3e-9a2c-0f1e2d3c4b5b"));
    assert_false(work_same_chip("GPU-ab56b204", "ab56b204-b677"));
    assert_false(work_same_chip("", ""));
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    info.type = ISO_DEVICE_GPU;
    assert_true(work_cache_bytes(&info) >= 32 << 20); /* an unknown size is not 0 */
    info.cache_bytes = 4 << 20;
    assert_int_equal(work_cache_bytes(&info), 4 << 20);
    snprintf(info.architecture, sizeof info.architecture, "gfx942");
    assert_int_equal(work_cache_bytes(&info), 256 << 20);
}

/* A case over the memory limit is refused with its size and the limit. Two cases that do not
 * fit at the same time run in turn. */
static void test_limit(void **state)
{
    work_list list = list_of("[{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": \"10Mi\"},"
                             " {\"op\": \"sum\", \"dtype\": \"f64\", \"size\": \"5Mi\"},"
                             " {\"op\": \"stream\", \"kind\": \"copy\", \"dtype\": \"f32\","
                             "  \"size\": \"10Mi\"}]",
                             2);
    work_inputs *inputs = work_inputs_create(2, &list);
    bench_result results[3];
    work_job *jobs[3];
    double nanoseconds;
    int code;
    work_target *target = work_target_open("openmp", ISO_MATH_STRICT, inputs, &code);

    (void)state;
    assert_non_null(target);
    for (int i = 0; i < 3; i++) {
        jobs[i] = work_job_create(target, &list.items[i], 0, &results[i]);
    }
    assert_int_equal(results[2].status, BENCH_UNSUPPORTED);
    assert_non_null(strstr(results[2].reason, "40.0 MiB of results"));
    assert_non_null(strstr(results[2].reason, "64.0 MiB may be used (the memory limit)"));
    for (int i = 0; i < 6; i++) {
        work_job *job = jobs[i % 2];
        bench_result *result = &results[i % 2];
        if (!work_job_prepare(job, &nanoseconds, result) || !work_job_spoil(job, result) ||
            work_job_submit(job) != ISO_OK || !work_job_check(job, result)) {
            fail_msg("%s: %s: %s", list.items[i % 2].id, result->reason, iso_last_error());
        }
    }
    for (int i = 0; i < 3; i++) {
        work_job_destroy(jobs[i]);
    }
    work_target_close(target);
    work_inputs_destroy(inputs);
    work_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chips), cmocka_unit_test(test_openmp),
                                       cmocka_unit_test(test_limit)};
    setenv("ISOMER_MEMORY_LIMIT", "64M", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
