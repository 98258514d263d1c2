/* SPDX-License-Identifier: Apache-2.0 */
/* reductions.c - the fast model of reductions against the suite's simple one, and the check. */
#include "tests/workload/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64, ISO_I32, ISO_I64};

static void compare_models(iso_dtype dtype, arith_fill fill, int64_t n)
{
    int64_t size = iso_dtype_size(dtype);
    unsigned char *x = malloc((size_t)(n * size) + 8), *y = malloc((size_t)(n * size) + 8);
    assert_true(x && y);
    arith_generate(dtype, fill, 3, n, x);
    arith_generate(dtype, fill, 4, n, y);
    for (int op = ISO_SUM; op <= ISO_ARGMAX; op++) {
        unsigned char simple[8] = {0}, fast[8] = {0};
        iso_dtype type;
        if (op == ISO_NORM2 && !arith_is_float(dtype)) {
            continue;
        }
        assert_int_equal(iso_reduce_result((iso_reduce_op)op, dtype, &type), ISO_OK);
        arith_reduce((iso_reduce_op)op, dtype, x, op == ISO_DOT ? y : NULL, n, 1, 1, simple);
        assert_true(check_model_reduce((iso_reduce_op)op, dtype, x, y, n, fast));
        if (memcmp(simple, fast, sizeof simple) != 0) {
            fail_msg("%s of %lld %s: %.17g, and simply %.17g",
                     iso_reduce_op_name((iso_reduce_op)op), (long long)n, iso_dtype_name(dtype),
                     arith_load(type, fast), arith_load(type, simple));
        }
    }
    free(x);
    free(y);
}

static void test_model(void **state)
{
    static const int64_t sizes[] = {1, 127, 129, 4096, 4097, 100000};
    (void)state;
    for (int t = 0; t < 6; t++) {
        for (int s = 0; s < 6; s++) {
            compare_models(types[t], ARITH_UNIFORM, sizes[s]);
        }
    }
    for (int t = 0; t < 6; t++) { /* parts, and equal elements in several of them */
        compare_models(types[t], ARITH_TIES, (1 << 19) + 77);
    }
}

/* Every result is off by one unit in the last place; and bounds detect a lost element. */
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
            arith_reduce(item->reduce.op, item->dtype, block + needs.at[0] + at * item->element,
                         block + needs.at[needs.inputs - 1] + at * item->element,
                         rows || all ? item->reduce.cols : item->reduce.rows,
                         rows || all ? 1 : item->reduce.cols, 1, got + r * size);
        }
        if (item->reduce.axis ==
            ISO_AXIS_0) { /* its second step is of y, which a sum does not have */
            assert_int_equal(item->reduce.op, ISO_SUM);
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
