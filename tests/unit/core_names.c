/* SPDX-License-Identifier: Apache-2.0 */
/* core_names.c - names, their parsers, sizes, result types, the version. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define ROUND_TRIP(type, last, name_of, parse)                                                     \
    do {                                                                                           \
        for (int i_ = 0; i_ <= (int)(last); i_++) {                                                \
            const char *name_ = name_of((type)i_);                                                 \
            type back_ = (type)99;                                                                 \
            if (!name_)                                                                            \
                continue;                                                                          \
            works(parse(name_, &back_));                                                           \
            assert_int_equal((int)back_, i_);                                                      \
        }                                                                                          \
        assert_non_null(name_of(last));                                                            \
        assert_null(name_of((type)((int)(last) + 1)));                                             \
        assert_null(name_of((type) - 1));                                                          \
        type kept_ = (type)7;                                                                      \
        fails(parse("nonesuch", &kept_), ISO_INVALID, #parse, "\"nonesuch\"", name_of(last));      \
        assert_int_equal((int)kept_, 7);                                                           \
        fails(parse(NULL, &kept_), ISO_INVALID, #parse, "text", "NULL");                           \
        fails(parse("x", NULL), ISO_INVALID, #parse, "out", "NULL");                               \
    } while (0)

static void test_round_trips(void **state)
{
    (void)state;
    ROUND_TRIP(iso_dtype, ISO_C128, iso_dtype_name, iso_dtype_parse);
    ROUND_TRIP(iso_variant, ISO_VARIANT_FIXED, iso_variant_name, iso_variant_parse);
    ROUND_TRIP(iso_math, ISO_MATH_TF32, iso_math_name, iso_math_parse);
    ROUND_TRIP(iso_keep, ISO_KEEP_SCALE, iso_keep_name, iso_keep_parse);
    ROUND_TRIP(iso_reduce_op, ISO_ARGAMAX, iso_reduce_op_name, iso_reduce_op_parse);
    ROUND_TRIP(iso_axis, ISO_AXIS_1, iso_axis_name, iso_axis_parse);
    ROUND_TRIP(iso_map_op, ISO_MAP_CONVERT, iso_map_op_name, iso_map_op_parse);
    ROUND_TRIP(iso_op_kind, ISO_OP_TRSM, iso_op_kind_name, iso_op_kind_parse);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(iso_status_name(ISO_OK), "OK");
    assert_string_equal(iso_status_name(ISO_INTERNAL), "INTERNAL");
    assert_string_equal(iso_status_name((iso_status)12), "UNKNOWN");
    assert_string_equal(iso_status_name((iso_status)-1), "UNKNOWN");
    assert_string_equal(iso_dtype_name(ISO_BF16), "bf16");
    assert_string_equal(iso_trans_name(ISO_NO_TRANS), "n");
    assert_string_equal(iso_trans_name(ISO_TRANS), "t");
    assert_string_equal(iso_trans_name(ISO_CONJ_TRANS), "c");
    assert_null(iso_trans_name((iso_trans)3));
    assert_string_equal(iso_order_name(ISO_ROW_MAJOR), "row");
    assert_string_equal(iso_order_name(ISO_COLUMN_MAJOR), "column");
    assert_null(iso_order_name((iso_order)2));
    assert_string_equal(iso_triangle_name(ISO_LOWER), "lower");
    assert_string_equal(iso_triangle_name(ISO_UPPER), "upper");
    assert_null(iso_triangle_name((iso_triangle)0));
    assert_string_equal(iso_side_name(ISO_LEFT), "left");
    assert_string_equal(iso_side_name(ISO_RIGHT), "right");
    assert_null(iso_side_name((iso_side)2));
    assert_string_equal(iso_spread_name(ISO_SPREAD_NONE), "none");
    assert_string_equal(iso_spread_name(ISO_SPREAD_ONE), "one");
    assert_null(iso_spread_name((iso_spread)4));
    assert_string_equal(iso_axis_name(ISO_AXIS_ALL), "all");
    assert_string_equal(iso_map_op_name(ISO_MAP_TRIAD), "triad");
    assert_null(iso_map_op_name((iso_map_op)0));
    assert_string_equal(iso_op_kind_name(ISO_OP_MAP), "map");
    assert_string_equal(iso_op_kind_name(ISO_OP_GEMV), "gemv");
    assert_string_equal(iso_op_kind_name(ISO_OP_SPMV), "spmv");
    assert_string_equal(iso_state_name(ISO_STATE_ABI_MISMATCH), "ABI mismatch");
    assert_string_equal(iso_state_name(ISO_STATE_BROKEN), "broken");
    assert_null(iso_state_name((iso_state)0));
    assert_string_equal(iso_device_type_name(ISO_DEVICE_GPU), "GPU");
    assert_null(iso_device_type_name((iso_device_type)0));
    assert_string_equal(iso_path_name(ISO_PATH_STAGED), "staged");
    assert_null(iso_path_name((iso_path)0));
    assert_null(iso_dtype_name((iso_dtype)0));
}

static void test_sizes(void **state)
{
    static const int64_t sizes[] = {0, 2, 2, 4, 8, 4, 8, 1, 8, 16, 0};

    (void)state;
    for (int i = 0; i < 11; i++) {
        assert_int_equal(iso_dtype_size((iso_dtype)i), sizes[i]);
    }
    assert_int_equal(iso_dtype_size((iso_dtype)-1), 0);
}

static void test_version(void **state)
{
    char numbers[64];

    (void)state;
    snprintf(numbers, sizeof numbers, "%d.%d.%d", ISO_VERSION_MAJOR, ISO_VERSION_MINOR,
             ISO_VERSION_PATCH);
    assert_memory_equal(iso_version(), numbers, strlen(numbers));
    const char *suffix = iso_version() + strlen(numbers);
    assert_true(!suffix[0] || strcmp(suffix, "-dev") == 0);
    assert_string_equal(iso_version(), ISO_VERSION_STRING);
}

static void test_reduce_result(void **state)
{
    iso_dtype result;

    (void)state;
    for (int op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
        for (int dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
            int integer = dtype >= ISO_I32;
            iso_dtype expected = (iso_dtype)dtype;

            int floats = op == ISO_NORM2 || op == ISO_AMAX || op == ISO_ARGAMAX;

            if (integer ? floats : op == ISO_XOR) {
                fails(iso_reduce_result((iso_reduce_op)op, (iso_dtype)dtype, &result), ISO_INVALID,
                      iso_reduce_op_name((iso_reduce_op)op), iso_dtype_name((iso_dtype)dtype));
                continue;
            }
            if (op == ISO_ARGMIN || op == ISO_ARGMAX || op == ISO_ARGAMAX) {
                expected = ISO_I64;
            } else if (op == ISO_MEAN && integer) {
                expected = ISO_F64;
            }
            works(iso_reduce_result((iso_reduce_op)op, (iso_dtype)dtype, &result));
            assert_int_equal(result, expected);
        }
    }
    fails(iso_reduce_result((iso_reduce_op)0, ISO_F32, &result), ISO_INVALID, "op", "0");
    fails(iso_reduce_result((iso_reduce_op)14, ISO_F32, &result), ISO_INVALID, "op", "14");
    fails(iso_reduce_result(ISO_SUM, ISO_I8, &result), ISO_INVALID, "dtype is i8");
    fails(iso_reduce_result(ISO_SUM, ISO_C64, &result), ISO_INVALID, "dtype is c64");
    fails(iso_reduce_result(ISO_SUM, (iso_dtype)10, &result), ISO_INVALID, "dtype", "10");
    fails(iso_reduce_result(ISO_SUM, ISO_F32, NULL), ISO_INVALID, "result", "NULL");
}

static void test_last_error(void **state)
{
    iso_dtype type;

    (void)state;
    iso_clear_error();
    assert_string_equal(iso_last_error(), "");
    assert_int_equal(iso_last_status(), ISO_OK);
    fails(iso_dtype_parse("f8", &type), ISO_INVALID, "f8");
    works(iso_dtype_parse("f64", &type)); /* a success does not change it */
    assert_int_equal(iso_last_status(), ISO_INVALID);
    assert_non_null(strstr(iso_last_error(), "f8"));
    iso_clear_error();
    assert_string_equal(iso_last_error(), "");
    assert_int_equal(iso_last_status(), ISO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_version),
        cmocka_unit_test(test_reduce_result), cmocka_unit_test(test_last_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
