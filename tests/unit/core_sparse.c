/* SPDX-License-Identifier: Apache-2.0 */
/* core_sparse.c - sparse matrices as handles: what is refused, and with which words; memory; other
 * values; a matrix that is destroyed while products of it are queued. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static unit_session s;

static int setup(void **state)
{
    (void)state;
    unit_open(&s, "openmp");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_close(&s);
    return 0;
}

/* 1 0 2 / 0 0 0 / 0 3 0 */
static const int32_t offsets[] = {0, 2, 2, 3}, columns[] = {0, 2, 1};
static const float values[] = {1, 2, 3};

static iso_sparse_args small(void)
{
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;

    args.dtype = ISO_F32;
    args.index = ISO_I32;
    args.rows = args.cols = args.entries = 3;
    args.offsets = offsets;
    args.columns = columns;
    args.values = values;
    return args;
}

static iso_sparse make(const iso_sparse_args *args)
{
    iso_sparse sparse;

    works(iso_sparse_create(s.device, args, &sparse));
    return sparse;
}

static iso_spmv_args product(iso_sparse sparse)
{
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;

    args.matrix = sparse;
    args.x = (iso_operand){s.buffer, 0};
    args.y = (iso_operand){s.buffer, 1024};
    return args;
}

/* op(A) times 1, 10, 100. */
static void expect(const iso_spmv_args *args, float first, float second, float third)
{
    const float x[] = {1, 10, 100}, want[] = {first, second, third};
    float got[3];

    works(iso_write(s.stream, args->x, x, sizeof x));
    works(iso_spmv(s.stream, args));
    works(iso_read(s.stream, got, args->y, sizeof got));
    works(iso_stream_sync(s.stream));
    for (int i = 0; i < 3; i++) {
        assert_true(got[i] == want[i]);
    }
}

static int64_t used(iso_device device)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;

    works(iso_device_get_memory_use(device, &use));
    return use.used;
}

static void test_product(void **state)
{
    iso_sparse_args of = small();
    iso_sparse sparse = make(&of);
    iso_spmv_args args = product(sparse);

    (void)state;
    for (iso_variant v = ISO_VARIANT_AUTO; v <= ISO_VARIANT_TILED; v++) {
        args.variant = v;
        args.trans = ISO_NO_TRANS;
        expect(&args, 201, 0, 30);
        args.trans = ISO_TRANS;
        expect(&args, 1, 300, 2);
    }
    args.variant = ISO_VARIANT_VENDOR;
    fails(iso_spmv(s.stream, &args), ISO_UNSUPPORTED, "vendor", "use tiled");
    args.variant = ISO_VARIANT_FIXED;
    fails(iso_spmv(s.stream, &args), ISO_UNSUPPORTED, "fixed", "products of sparse matrices");
    works(iso_sparse_destroy(sparse));
    fails(iso_sparse_destroy(sparse), ISO_INVALID, "sparse", "a sparse matrix that was destroyed");
    args.variant = ISO_VARIANT_TILED;
    fails(iso_spmv(s.stream, &args), ISO_INVALID, "matrix", "was destroyed");
    args.matrix.id = 0;
    fails(iso_spmv(s.stream, &args), ISO_INVALID, "matrix is zero");
    args.matrix.id = s.buffer.id;
    fails(iso_supports(s.device, ISO_OP_SPMV, &args), ISO_INVALID, "is a buffer, not a sparse");
}

static void refused(const iso_sparse_args *args, const char *a, const char *b, const char *c)
{
    const int64_t before = used(s.device);
    iso_sparse sparse = {7};

    fails(iso_sparse_create(s.device, args, &sparse), ISO_INVALID, "iso_sparse_create: ", a, b, c);
    assert_true(sparse.id == 0);
    assert_int_equal(used(s.device), before);
}

static void test_arguments(void **state)
{
    iso_sparse_args args = small();

    (void)state;
    args.dtype = ISO_F16;
    refused(&args, "dtype is 1 (f16)", "ISO_F32 (3)", "");
    args.dtype = (iso_dtype)99;
    refused(&args, "dtype is 99 (not a type)", "", "");
    args = small();
    args.index = ISO_F32;
    refused(&args, "index is 3 (f32)", "ISO_I64 (6)", "");
    args = small();
    args.flags = 8;
    refused(&args, "flags is 0x8", "ISO_SPARSE_NO_TRANSPOSE (1)", "");
    args = small();
    args.rows = -1;
    refused(&args, "rows is -1", "0 or more", "");
    args = small();
    args.cols = -5;
    refused(&args, "cols is -5", "0 or more", "");
    args = small();
    args.entries = INT64_MIN;
    refused(&args, "entries is -9223372036854775808", "", "");
    args.entries = INT64_MAX;
    refused(&args, "entries is 9223372036854775807", "does not fit 64 bits", "");
    args = small();
    args.rows = INT64_MAX;
    refused(&args, "rows is 9223372036854775807", "does not fit 64 bits", "");
    args = small();
    args.offsets = NULL;
    refused(&args, "offsets is NULL", "an array of 4", "");
    args = small();
    args.columns = NULL;
    refused(&args, "columns is NULL", "an array of 3", "");
    args = small();
    args.values = NULL;
    refused(&args, "values is NULL", "", "");
    fails(iso_sparse_create(s.device, &args, NULL), ISO_INVALID, "out is NULL");
    fails(iso_sparse_create(s.device, NULL, &(iso_sparse){0}), ISO_INVALID, "args is NULL");
}

/* Arrays that are not a matrix: the message names the row. */
static void test_matrices(void **state)
{
    int32_t wrong[] = {0, 2, 2, 3}, places[] = {0, 2, 1};
    int64_t wide[] = {0, 2, 1, 3};
    iso_sparse_args args = small();

    (void)state;
    args.offsets = wrong;
    wrong[0] = 1;
    refused(&args, "offsets[0] is 1", "row 0 begin at 0", "");
    wrong[0] = 0;
    wrong[2] = 1;
    refused(&args, "row 1: offsets go from 2 back to 1", "", "");
    wrong[2] = INT32_MIN;
    refused(&args, "row 1: offsets go from 2 back to -2147483648", "", "");
    wrong[2] = 2;
    wrong[3] = 2;
    refused(&args, "offsets[3] is 2, but entries is 3", "", "");
    wrong[3] = 1000000; /* columns are not read behind their end */
    refused(&args, "offsets[3] is 1000000, but entries is 3", "", "");
    args = small();
    args.columns = places;
    places[2] = 3;
    refused(&args, "row 2: entry 0 (number 2 of the matrix) has column 3", "columns are 0 to 2",
            "");
    places[2] = -1;
    refused(&args, "row 2: entry 0 (number 2 of the matrix) has column -1", "", "");
    places[2] = 1;
    places[1] = 17;
    refused(&args, "row 0: entry 1 (number 1 of the matrix) has column 17", "", "");
    args = small();
    args.cols = 0;
    refused(&args, "row 0 has an entry, but cols is 0", "", "");
    args = small();
    args.index = ISO_I64;
    args.offsets = wide;
    refused(&args, "row 1: offsets go from 2 back to 1", "", "");
}

static void test_empty(void **state)
{
    const int32_t none[] = {0, 0, 0, 0};
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    iso_sparse_args args = small();
    iso_spmv_args of;
    iso_sparse sparse;

    (void)state;
    args.offsets = none;
    args.columns = args.values = NULL;
    args.entries = 0;
    sparse = make(&args);
    of = product(sparse);
    expect(&of, 0, 0, 0);
    of.x = (iso_operand){{0}, 0}; /* x is not read */
    works(iso_spmv(s.stream, &of));
    works(iso_sparse_get_info(sparse, &info));
    assert_int_equal(info.empty, 3);
    assert_int_equal(info.longest, 0);
    works(iso_sparse_write(s.stream, sparse, NULL, 0));
    works(iso_sparse_destroy(sparse));
    args.rows = 0;
    sparse = make(&args);
    of = product(sparse);
    of.y.offset = UNIT_BYTES;
    works(iso_spmv(s.stream, &of)); /* nothing */
    of = product(sparse);
    of.trans = ISO_TRANS;
    of.beta = 2;
    works(iso_spmv(s.stream, &of));
    works(iso_sparse_destroy(sparse));
    args.cols = 0;
    works(iso_sparse_destroy(make(&args)));
    works(iso_stream_sync(s.stream));
}

static void test_info(void **state)
{
    const int64_t before = used(s.device);
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    iso_sparse_args args = small();
    iso_sparse sparse = make(&args);
    iso_spmv_args of;

    (void)state;
    works(iso_sparse_get_info(sparse, &info));
    assert_int_equal(info.dtype, ISO_F32);
    assert_int_equal(info.index, ISO_I32);
    assert_true(info.device.id == s.device.id);
    assert_int_equal(info.rows, 3);
    assert_int_equal(info.cols, 3);
    assert_int_equal(info.entries, 3);
    assert_int_equal(info.longest, 2);
    assert_int_equal(info.empty, 1);
    assert_int_equal(info.bytes, 2 * (16 + 12 + 12 + 6));
    assert_int_equal(used(s.device) - before, info.bytes);
    works(iso_sparse_destroy(sparse));
    assert_int_equal(used(s.device), before);
    args.flags = ISO_SPARSE_NO_TRANSPOSE;
    sparse = make(&args);
    works(iso_sparse_get_info(sparse, &info));
    assert_int_equal(info.flags, ISO_SPARSE_NO_TRANSPOSE);
    assert_int_equal(info.bytes, 46);
    of = product(sparse);
    expect(&of, 201, 0, 30);
    of.trans = ISO_TRANS;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "ISO_SPARSE_NO_TRANSPOSE");
    fails(iso_supports(s.device, ISO_OP_SPMV, &of), ISO_INVALID, "ISO_SPARSE_NO_TRANSPOSE");
    works(iso_sparse_destroy(sparse));
}

static void test_write(void **state)
{
    const float others[] = {2, 4, 6};
    iso_sparse_args args = small();
    iso_sparse sparse = make(&args);
    iso_spmv_args of = product(sparse);

    (void)state;
    works(iso_sparse_write(s.stream, sparse, others, sizeof others));
    expect(&of, 402, 0, 60);
    of.trans = ISO_TRANS;
    expect(&of, 2, 600, 4);
    fails(iso_sparse_write(s.stream, sparse, others, 8), ISO_INVALID, "bytes is 8", "have 12");
    fails(iso_sparse_write(s.stream, sparse, NULL, 12), ISO_INVALID, "values is NULL");
    fails(iso_sparse_write(s.stream, (iso_sparse){0}, others, 12), ISO_INVALID, "sparse is zero");
    works(iso_sparse_destroy(sparse));
    fails(iso_sparse_write(s.stream, sparse, others, 12), ISO_INVALID, "was destroyed");
}

static void test_devices(void **state)
{
    iso_sparse_args args = small();
    iso_sparse sparse;
    iso_spmv_args of;
    iso_device other;

    (void)state;
    works(iso_device_open("openmp", &other));
    works(iso_sparse_create(other, &args, &sparse));
    of = product(sparse);
    fails(iso_spmv(s.stream, &of), ISO_MISMATCH, "matrix", "stream");
    fails(iso_prepare(s.stream, ISO_OP_SPMV, &of), ISO_MISMATCH, "matrix", "stream");
    fails(iso_supports(s.device, ISO_OP_SPMV, &of), ISO_MISMATCH, "matrix", "device");
    fails(iso_sparse_write(s.stream, sparse, values, 12), ISO_MISMATCH, "sparse", "stream");
    works(iso_device_close(other)); /* frees the matrix */
    fails(iso_sparse_destroy(sparse), ISO_INVALID, "was destroyed");
}

static void test_operands(void **state)
{
    iso_sparse_args args = small();
    iso_sparse sparse = make(&args);
    iso_spmv_args of = product(sparse);

    (void)state;
    of.y.offset = 8;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "y (offset 8, 12 bytes) overlaps x (offset 0");
    of.alpha = 0; /* x is not read */
    works(iso_spmv(s.stream, &of));
    of = product(sparse);
    of.y.offset = 2;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "y.offset is 2", "multiple");
    of.y.offset = UNIT_BYTES - 8;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "y.offset", "12 bytes follow");
    of = product(sparse);
    of.keep = ISO_KEEP_BITS;
    of.variant = ISO_VARIANT_NAIVE;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "keep is bits", "only tiled");
    of.reserved = 1;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "reserved is 1");
    of = product(sparse);
    of.trans = (iso_trans)9;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "trans is 9");
    of = product(sparse);
    of.library = -1;
    fails(iso_spmv(s.stream, &of), ISO_INVALID, "library is -1");
    works(iso_stream_sync(s.stream));
    works(iso_sparse_destroy(sparse));
}

/* A matrix in which every row has all columns, so that a product takes a while. */
static iso_sparse make_full(iso_device device, int64_t n)
{
    const size_t count = (size_t)n * (size_t)n;
    int64_t *begins = malloc(((size_t)n + 1) * 8), *places = malloc(count * 8);
    double *ones = malloc(count * 8);
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    iso_sparse sparse = {0};

    assert_true(begins && places && ones);
    for (int64_t i = 0; i <= n; i++) {
        begins[i] = i * n;
    }
    for (size_t i = 0; i < count; i++) {
        places[i] = (int64_t)i % n;
        ones[i] = 1;
    }
    args.dtype = ISO_F64;
    args.index = ISO_I64;
    args.rows = args.cols = n;
    args.entries = n * n;
    args.offsets = begins;
    args.columns = places;
    args.values = ones;
    (void)iso_sparse_create(device, &args, &sparse);
    free(begins);
    free(places);
    free(ones);
    return sparse;
}

static void test_destroyed_in_use(void **state)
{
    enum { N = 500 };
    const double one = 1;
    double y[N];

    (void)state;
    for (int round = 0; round < 10; round++) {
        iso_sparse sparse = make_full(s.device, N);
        iso_spmv_args of = product(sparse);

        of.y.offset = UNIT_BYTES / 2;
        of.variant = ISO_VARIANT_NAIVE;
        works(iso_fill(s.stream, of.x, &one, sizeof one, (int64_t)sizeof y));
        for (int i = 0; i < 10; i++) {
            works(iso_spmv(s.stream, &of));
        }
        works(iso_sparse_destroy(sparse)); /* waits */
        works(iso_read(s.stream, y, of.y, sizeof y));
        works(iso_stream_sync(s.stream));
        assert_true(y[0] == N && y[N - 1] == N);
    }
}

static void test_limit(void **state)
{
    enum { N = 100, BYTES = N * N * (8 + 4 + 2) + (N + 1) * 4 };
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;
    iso_sparse sparse;

    (void)state;
    options.memory_limit = 2 * BYTES - 1;
    works(iso_device_open_with("openmp", &options, &device));
    const int64_t before = used(device);
    sparse = make_full(device, N);
    assert_true(sparse.id == 0);
    assert_int_equal(iso_last_status(), ISO_NO_MEMORY);
    assert_non_null(strstr(iso_last_error(), "limit"));
    assert_int_equal(used(device), before);
    works(iso_device_close(device));
    options.memory_limit = before + 2 * BYTES;
    works(iso_device_open_with("openmp", &options, &device));
    sparse = make_full(device, N);
    assert_true(sparse.id != 0);
    works(iso_device_close(device));
}

/* What a product costs: index i32 and columns u16, though the caller's are i64. */
static void test_cost(void **state)
{
    enum { N = 10 };
    iso_sparse sparse = make_full(s.device, N);
    iso_cost_info cost = ISO_COST_INFO_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_spmv_args of = product(sparse);

    (void)state;
    works(iso_cost(ISO_OP_SPMV, &of, &cost));
    assert_true(cost.flops == 2 * N * N);
    assert_true(cost.bytes_read == N * N * 10 + (N + 1) * 4 + N * 8);
    assert_true(cost.bytes_written == N * 8);
    of.beta = 1;
    of.alpha = 0;
    works(iso_cost(ISO_OP_SPMV, &of, &cost));
    assert_true(cost.flops == 0);
    assert_true(cost.bytes_read == N * 8);
    of = product(sparse);
    works(iso_describe(s.device, ISO_OP_SPMV, &of, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    assert_non_null(strstr(info.kernel, "spmv_tiled_f64_u16"));
    works(iso_sparse_destroy(sparse));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_destroyed_in_use),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_cost),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
