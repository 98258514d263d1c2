/* SPDX-License-Identifier: Apache-2.0 */
/* reductions.c - the model of reductions, and their check. */
#include "tests/workload/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64, ISO_I32, ISO_I64};

/* Compares with small whole numbers, for which every order of evaluation gives the same result. */
static void compare(iso_dtype dtype, int64_t n)
{
    int64_t size = iso_dtype_size(dtype), best = 0, index = -1, step = 3;
    double sum = 0, is;
    unsigned char *x = malloc((size_t)(n * step * size)), result[8];
    assert_non_null(x);
    arith_generate(dtype, ARITH_INTS, 3, n * step, x);
    for (int64_t i = 0; i < n; i++) {
        double value = arith_load(dtype, x + i * step * size);
        sum += value;
        best = value > arith_load(dtype, x + best * step * size) ? i : best;
    }
    assert_true(arith_reduce(ISO_ARGMAX, dtype, x, NULL, n, step, &index));
    assert_int_equal(index, best);
    assert_true(arith_reduce(ISO_SUM, dtype, x, NULL, n, step, result));
    is = arith_load(dtype, result);
    if (fabs(is - sum) > 2 * arith_roundoff(dtype) * fabs(sum)) {
        fail_msg("%lld %s: %.17g, expected %.17g", (long long)n, iso_dtype_name(dtype), is, sum);
    }
    free(x);
}

static void test_model(void **state)
{
    static const int64_t sizes[] = {1, 127, 129, 4096, 4097, 100000, (1 << 19) + 77};
    (void)state;
    for (int t = 0; t < 6; t++) {
        for (int s = 0; s < 7; s++) {
            compare(types[t], sizes[s]);
        }
    }
}

/* A wrong last bit is found if results have defined bits, and a difference of 0.05 if they have a
 * bound. */
static void test_judging(void **state)
{
    work_list list = list_of("[{\"op\": \"reduce\", \"kind\": [\"sum\", \"dot\", \"argmax\"],"
                             "  \"variant\": [\"naive\", \"tiled\"], \"dtype\": [\"f32\", \"f64\"],"
                             "  \"size\": 5000},"
                             " {\"op\": \"sum\", \"axis\": [\"0\", \"1\"], \"size\": \"40x30\"}]",
                             5);
    work_inputs *inputs = work_inputs_create(5, &list);
    (void)state;
    for (int32_t i = 0; i < list.count; i++) {
        const bench_case *item = &list.items[i];
        bench_needs needs;
        bench_result result = {0};
        int64_t there;
        bench_case_needs(item, &needs);
        const unsigned char *block = work_inputs_block(inputs, needs.type, &there);
        int64_t size = iso_dtype_size(needs.result_type);
        unsigned char *got = calloc((size_t)needs.results, 8);
        bool rows = item->reduce.axis == ISO_AXIS_1, all = item->reduce.axis == ISO_AXIS_ALL;
        for (int64_t r = 0; r < needs.results; r++) {
            int64_t at = all ? 0 : rows ? r * item->reduce.cols : r;
            assert_true(arith_reduce(item->reduce.op, item->dtype,
                                     block + needs.at[0] + at * item->element,
                                     block + needs.at[needs.inputs - 1] + at * item->element,
                                     rows || all ? item->reduce.cols : item->reduce.rows,
                                     rows || all ? 1 : item->reduce.cols, got + r * size));
        }
        if (!work_check(item, inputs, got, &result)) {
            fail_msg("%s: %s", item->id, result.reason);
        }
        for (int64_t r = 0; r < needs.results; r += 7) {
            unsigned char kept[8];
            memcpy(kept, got + r * size, (size_t)size);
            if (item->same_bits) {
                got[r * size] ^= 1;
            } else {
                arith_store(item->dtype, got + r * size, arith_load(item->dtype, kept) + 0.05);
            }
            assert_false(work_check(item, inputs, got, &result));
            assert_int_equal(result.status, BENCH_FAILED);
            memcpy(got + r * size, kept, (size_t)size);
        }
        free(got);
    }
    work_inputs_destroy(inputs);
    work_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model),
                                       cmocka_unit_test(test_judging)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
