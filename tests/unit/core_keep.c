/* SPDX-License-Identifier: Apache-2.0 */
/* core_keep.c - which variant auto is, by what the caller keeps. The plug-in unit-keep supports
 * every variant, and expects fixed to be faster from k = 100. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { FAST = 100, SLOW = 99 };

static iso_variant chosen(iso_device device, iso_op_kind kind, const void *args)
{
    iso_op_info info = ISO_OP_INFO_INIT;

    works(iso_describe(device, kind, args, &info));
    return info.variant;
}

static iso_gemm_args product(iso_keep keep, int64_t k)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = ISO_F32;
    args.keep = keep;
    args.m = args.n = 2;
    args.k = k;
    return args;
}

static iso_variant product_is(iso_device device, iso_keep keep, int64_t k)
{
    iso_gemm_args args = product(keep, k);

    return chosen(device, ISO_OP_GEMM, &args);
}

static iso_variant vector_is(iso_device device, iso_keep keep, int64_t k)
{
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;

    args.dtype = ISO_F64;
    args.keep = keep;
    args.beta = 0.5;
    args.m = 2;
    args.k = k;
    return chosen(device, ISO_OP_GEMV, &args);
}

static iso_variant sum_is(iso_device device, iso_keep keep)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.keep = keep;
    args.cols = FAST;
    return chosen(device, ISO_OP_REDUCE, &args);
}

static void test_choice(void **state)
{
    static const struct {
        iso_keep keep;
        iso_variant slow, fast, sum;
    } rows[] = {
        {ISO_KEEP_DEFAULT, ISO_VARIANT_VENDOR, ISO_VARIANT_VENDOR, ISO_VARIANT_TILED},
        {ISO_KEEP_BITS, ISO_VARIANT_TILED, ISO_VARIANT_TILED, ISO_VARIANT_TILED},
        {ISO_KEEP_TERMS, ISO_VARIANT_VENDOR, ISO_VARIANT_VENDOR, ISO_VARIANT_TILED},
        {ISO_KEEP_SCALE, ISO_VARIANT_VENDOR, ISO_VARIANT_FIXED, ISO_VARIANT_TILED},
    };
    iso_device device;

    (void)state;
    works(iso_device_open("unit-keep", &device));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(product_is(device, rows[i].keep, SLOW), rows[i].slow);
        assert_int_equal(product_is(device, rows[i].keep, FAST), rows[i].fast);
        assert_int_equal(vector_is(device, rows[i].keep, SLOW), rows[i].slow);
        assert_int_equal(vector_is(device, rows[i].keep, FAST), rows[i].fast);
        assert_int_equal(sum_is(device, rows[i].keep), rows[i].sum);
    }
    works(iso_device_close(device));
}

/* ISOMER_KEEP, the device's option and the operation's argument, in ascending priority. */
static void test_priority(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;

    (void)state;
    setenv("ISOMER_KEEP", "scale", 1);
    works(iso_device_open("unit-keep", &device));
    setenv("ISOMER_KEEP", "terms", 1); /* read when the device is opened */
    assert_int_equal(product_is(device, ISO_KEEP_DEFAULT, FAST), ISO_VARIANT_FIXED);
    assert_int_equal(product_is(device, ISO_KEEP_TERMS, FAST), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
    options.keep = ISO_KEEP_BITS;
    works(iso_device_open_with("unit-keep", &options, &device));
    unsetenv("ISOMER_KEEP");
    assert_int_equal(product_is(device, ISO_KEEP_DEFAULT, FAST), ISO_VARIANT_TILED);
    assert_int_equal(product_is(device, ISO_KEEP_SCALE, FAST), ISO_VARIANT_FIXED);
    assert_int_equal(sum_is(device, ISO_KEEP_DEFAULT), ISO_VARIANT_TILED);
    setenv("ISOMER_UNIT_REFUSES", "tiled", 1); /* bits would have no other */
    assert_int_equal(sum_is(device, ISO_KEEP_TERMS), ISO_VARIANT_VENDOR);
    unsetenv("ISOMER_UNIT_REFUSES");
    works(iso_device_close(device));
}

/* A variant that is named is used, whatever the device's default is. In one descriptor the two must
 * agree. */
static void test_named(void **state)
{
    static const struct {
        iso_keep keep;
        iso_variant variant;
        const char *words;
    } wrong[] = {
        {ISO_KEEP_BITS, ISO_VARIANT_NAIVE, "naive, but keep is bits, which allows only tiled"},
        {ISO_KEEP_BITS, ISO_VARIANT_VENDOR, "vendor, but keep is bits"},
        {ISO_KEEP_BITS, ISO_VARIANT_FIXED, "fixed, but keep is bits"},
        {ISO_KEEP_TERMS, ISO_VARIANT_FIXED, "fixed, but keep is terms, which allows every"},
    };
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_gemm_args args = product(ISO_KEEP_DEFAULT, SLOW);
    iso_device device;

    (void)state;
    options.keep = ISO_KEEP_BITS;
    works(iso_device_open_with("unit-keep", &options, &device));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        args.variant = wrong[i].variant;
        args.keep = ISO_KEEP_DEFAULT;
        assert_int_equal(chosen(device, ISO_OP_GEMM, &args), args.variant);
        args.keep = wrong[i].keep;
        fails(iso_supports(device, ISO_OP_GEMM, &args), ISO_INVALID, wrong[i].words);
        args.keep = ISO_KEEP_SCALE;
        assert_int_equal(chosen(device, ISO_OP_GEMM, &args), args.variant);
    }
    args.keep = ISO_KEEP_BITS;
    args.variant = ISO_VARIANT_TILED;
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_TILED);
    works(iso_device_close(device));
}

/* TF32 is a permission. auto with bits is strict, and with scale it is not fixed, because TF32 is
 * faster. Other types have no TF32. */
static void test_math(void **state)
{
    iso_gemm_args args = product(ISO_KEEP_SCALE, FAST);
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_device device;

    (void)state;
    works(iso_device_open("unit-keep", &device));
    args.math = ISO_MATH_TF32;
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_VENDOR);
    assert_int_equal(info.math, ISO_MATH_TF32);
    args.keep = ISO_KEEP_BITS;
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    assert_int_equal(info.math, ISO_MATH_STRICT);
    assert_non_null(strstr(info.math_reason, "do not use TF32"));
    args.keep = ISO_KEEP_SCALE;
    args.dtype = ISO_F64;
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_FIXED);
    assert_int_equal(info.math, ISO_MATH_STRICT);
    works(iso_device_close(device));
}

/* The choice depends on sizes and types, not on factors; an empty product has one term. */
static void test_sizes(void **state)
{
    iso_gemm_args args = product(ISO_KEEP_SCALE, FAST);
    iso_device device;

    (void)state;
    works(iso_device_open("unit-keep", &device));
    args.alpha = 0;
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_FIXED);
    args.m = 0;
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_VENDOR);
    args = product(ISO_KEEP_BITS, FAST);
    args.size = offsetof(iso_gemm_args, keep); /* a program built before the field */
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
}

/* Another variant is chosen only if `keep` allows it, and an earlier failure stays recorded. */
static void test_refused(void **state)
{
    iso_gemm_args args = product(ISO_KEEP_SCALE, FAST);
    iso_map_args map = ISO_MAP_ARGS_INIT;
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;

    (void)state;
    options.keep = ISO_KEEP_BITS;
    works(iso_device_open_with("unit-keep", &options, &device));
    setenv("ISOMER_UNIT_REFUSES", "fixed", 1);
    fails(iso_supports(device, ISO_OP_GEMM, NULL), ISO_INVALID, "args is NULL");
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_VENDOR);
    assert_non_null(strstr(iso_last_error(), "args is NULL"));
    setenv("ISOMER_UNIT_REFUSES", "tiled", 1);
    args.keep = ISO_KEEP_BITS;
    fails(iso_supports(device, ISO_OP_GEMM, &args), ISO_UNSUPPORTED, "keep is bits", "only tiled",
          "this device refuses tiled");
    args.keep = ISO_KEEP_DEFAULT;
    fails(iso_supports(device, ISO_OP_GEMM, &args), ISO_UNSUPPORTED, "keep is bits");
    map.op = ISO_MAP_ADD; /* naive has the same bits */
    map.dtype = ISO_F32;
    map.n = 1;
    assert_int_equal(chosen(device, ISO_OP_MAP, &map), ISO_VARIANT_NAIVE);
    unsetenv("ISOMER_UNIT_REFUSES");
    works(iso_device_close(device));
}

/* A product that continues a total is never fixed, and an older plug-in does not have it. */
static void test_continues(void **state)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_device device;

    (void)state;
    args.dtype = ISO_F32;
    args.m = args.n = 1;
    args.k = FAST;
    args.beta = 1;
    args.continues = 1;
    args.keep = ISO_KEEP_SCALE;
    works(iso_device_open("unit-keep", &device));
    assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
    works(iso_device_open("unit-keep-older", &device));
    fails(iso_supports(device, ISO_OP_GEMM, &args), ISO_UNSUPPORTED,
          "version 1.5 of the backend interface", "no products that continue a total");
    args.continues = 0;
    works(iso_supports(device, ISO_OP_GEMM, &args));
    works(iso_device_close(device));
}

/* A plug-in without the entry, and the CPU, whose fixed products are slower. */
static void test_others(void **state)
{
    iso_device device;

    (void)state;
    works(iso_device_open("unit-keep-older", &device));
    assert_int_equal(product_is(device, ISO_KEEP_SCALE, FAST), ISO_VARIANT_VENDOR);
    assert_int_equal(product_is(device, ISO_KEEP_BITS, FAST), ISO_VARIANT_TILED);
    works(iso_device_close(device));
    works(iso_device_open("openmp", &device));
    assert_int_not_equal(product_is(device, ISO_KEEP_SCALE, 1 << 20), ISO_VARIANT_FIXED);
    assert_int_equal(product_is(device, ISO_KEEP_BITS, 1 << 20), ISO_VARIANT_TILED);
    works(iso_device_close(device));
}

/* What the variants make of (1e10, 1) times (0, 1): fixed loses the 1. */
static void test_runs(void **state)
{
    static const struct {
        iso_keep keep;
        float result;
    } rows[] = {{ISO_KEEP_BITS, 1}, {ISO_KEEP_TERMS, 1}, {ISO_KEEP_SCALE, 0}};
    const float in[] = {1e10f, 1, 0, 1};
    iso_device device;
    unit_session s;

    (void)state;
    if (iso_device_open("fault", &device) != ISO_OK) {
        skip(); /* its plug-in was not built */
    }
    works(iso_device_close(device));
    setenv("ISOMER_FAULT", "prefers-fixed", 1);
    unit_open(&s, "fault");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        iso_gemm_args args = product(rows[i].keep, 2);
        float out = -1;

        args.m = args.n = 1;
        args.a = (iso_operand){s.buffer, 0};
        args.b = (iso_operand){s.buffer, 8};
        args.c = (iso_operand){s.buffer, 16};
        works(iso_write(s.stream, args.a, in, sizeof in));
        works(iso_prepare(s.stream, ISO_OP_GEMM, &args));
        works(iso_gemm(s.stream, &args));
        works(iso_read(s.stream, &out, args.c, sizeof out));
        works(iso_stream_sync(s.stream));
        assert_true(out == rows[i].result);
    }
    unit_close(&s);
    unsetenv("ISOMER_FAULT");
}

static iso_variant square_is(iso_device device, iso_dtype dtype, int64_t side)
{
    iso_gemm_args args = product(ISO_KEEP_SCALE, side);

    args.dtype = dtype;
    args.m = args.n = side;
    return chosen(device, ISO_OP_GEMM, &args);
}

/* A stand-in for an NVIDIA GPU: fixed from the sizes of which a figure is known, if the library
 * multiplies bytes. */
static void test_cuda(void **state)
{
    iso_gemm_args args = product(ISO_KEEP_SCALE, 1536);
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_device device;

    (void)state;
    if (iso_device_open("cuda", &device) != ISO_OK) {
        skip(); /* no stand-in */
    }
    assert_int_equal(square_is(device, ISO_F32, 1535), ISO_VARIANT_VENDOR);
    assert_int_equal(square_is(device, ISO_F32, 1536), ISO_VARIANT_FIXED);
    assert_int_equal(square_is(device, ISO_F64, 5119), ISO_VARIANT_VENDOR);
    assert_int_equal(square_is(device, ISO_F64, 5120), ISO_VARIANT_FIXED);
    assert_int_equal(square_is(device, ISO_F16, 16384), ISO_VARIANT_VENDOR);
    assert_int_equal(square_is(device, ISO_BF16, 16384), ISO_VARIANT_VENDOR);
    for (int i = 0; i < 3; i++) { /* each size has to be large enough */
        args.m = 1536 - (i == 0);
        args.n = 1536 - (i == 1);
        args.k = 1536 - (i == 2);
        assert_int_equal(chosen(device, ISO_OP_GEMM, &args), ISO_VARIANT_VENDOR);
    }
    args.m = args.n = args.k = 1536;
    assert_int_equal(vector_is(device, ISO_KEEP_SCALE, 16384), ISO_VARIANT_VENDOR);
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_non_null(strstr(info.kernel, "cuBLAS"));
    works(iso_device_close(device));
    setenv("ISOMER_TILES", "own", 1); /* no library multiplies bytes */
    works(iso_device_open("cuda", &device));
    assert_int_equal(square_is(device, ISO_F32, 1536), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
    unsetenv("ISOMER_TILES");
}

static void test_bits(void **state)
{
    enum { SIDE = 33, CELLS = SIDE * SIDE };
    iso_gemm_args args;
    float in[CELLS], is[CELLS], should[CELLS];
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    args = unit_gemm(s.buffer, SIDE);
    for (int i = 0; i < CELLS; i++) {
        in[i] = 1.0f / (float)(i + 3);
    }
    works(iso_write(s.stream, args.a, in, sizeof in));
    works(iso_write(s.stream, args.b, in, sizeof in));
    args.keep = ISO_KEEP_BITS;
    works(iso_gemm(s.stream, &args));
    works(iso_read(s.stream, is, args.c, sizeof is));
    args.variant = ISO_VARIANT_TILED;
    works(iso_gemm(s.stream, &args));
    works(iso_read(s.stream, should, args.c, sizeof should));
    works(iso_stream_sync(s.stream));
    assert_memory_equal(is, should, sizeof is);
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),    cmocka_unit_test(test_priority),
        cmocka_unit_test(test_named),     cmocka_unit_test(test_math),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_continues), cmocka_unit_test(test_others),
        cmocka_unit_test(test_bits),      cmocka_unit_test(test_runs),
        cmocka_unit_test(test_cuda),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
