/* SPDX-License-Identifier: Apache-2.0 */
/* missing_uses.c - each use of a device that needs a vendor's library, once and small. */
#include "tests/fakes/missing.h"

#include <stdbool.h>

/* Sets x to 2 and y to 3. */
static iso_status numbers(const bench *at)
{
    float two[SIZE * SIZE * 4];
    float three[SIZE * SIZE * 4];
    for (int i = 0; i < SIZE * SIZE * 4; i++) {
        two[i] = 2;
        three[i] = 3;
    }
    TRY(iso_write(at->stream, at->x, two, at->bytes));
    TRY(iso_write(at->stream, at->y, three, at->bytes));
    return iso_stream_sync(at->stream);
}

/* The first `count` numbers of z are `wanted`. */
static iso_status expect(const bench *at, int count, float wanted)
{
    float got[SIZE * SIZE];
    TRY(iso_read(at->stream, got, at->z, (int64_t)sizeof got));
    TRY(iso_stream_sync(at->stream));
    for (int i = 0; i < count; i++) {
        CHECK(got[i] == wanted);
    }
    return ISO_OK;
}

static iso_status transfers(const bench *at)
{
    float from[SIZE * SIZE] = {0};
    float *pinned = NULL;
    int32_t is_pinned = 0;
    for (int i = 0; i < SIZE * SIZE; i++) {
        from[i] = 7;
    }
    TRY(iso_host_alloc(at->device, (int64_t)sizeof from, (void **)(void *)&pinned, &is_pinned));
    memcpy(pinned, from, sizeof from);
    TRY(iso_host_register(at->device, from, (int64_t)sizeof from, &is_pinned));
    TRY(iso_write(at->stream, at->x, pinned, (int64_t)sizeof from));
    TRY(iso_write_2d(at->stream, at->y, SIZE * 4, from, SIZE * 4, SIZE * 4, SIZE));
    TRY(iso_copy(at->stream, at->z, at->x, (int64_t)sizeof from));
    TRY(expect(at, SIZE * SIZE, 7));
    TRY(iso_copy_2d(at->stream, at->z, SIZE * 4, at->y, SIZE * 4, SIZE * 4, SIZE));
    TRY(expect(at, SIZE * SIZE, 7));
    TRY(iso_host_unregister(at->device, from));
    return iso_host_free(at->device, pinned);
}

static iso_status events(const bench *at)
{
    iso_event from = {0};
    iso_event to = {0};
    iso_stream other = {0};
    int64_t nanoseconds = -1;
    TRY(iso_event_create(at->device, &from));
    TRY(iso_event_create(at->device, &to));
    TRY(iso_stream_create(at->device, 0, &other));
    TRY(iso_event_record(from, at->stream));
    TRY(numbers(at));
    TRY(iso_event_record(to, at->stream));
    TRY(iso_stream_wait(other, to));
    TRY(iso_stream_sync(other));
    TRY(iso_event_sync(to));
    TRY(iso_event_query(to));
    TRY(iso_event_elapsed(from, to, &nanoseconds));
    CHECK(nanoseconds >= 0);
    TRY(iso_stream_destroy(other));
    TRY(iso_event_destroy(from));
    return iso_event_destroy(to);
}

/* The device, a stream and memory of isomer's own, as if the program had made them. */
static iso_status adoption(const bench *at)
{
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;
    iso_device device = {0};
    iso_stream stream = {0};
    iso_buffer buffer = {0};
    void *object = NULL;
    TRY(iso_native_get(ISO_NATIVE_CONTEXT, at->device.id, &native.context));
    TRY(iso_native_get(ISO_NATIVE_DEVICE, at->device.id, &native.device));
    TRY(iso_device_adopt(missing_backend, &native, NULL, &device));
    TRY(iso_native_get(ISO_NATIVE_STREAM, at->stream.id, &object));
    TRY(iso_stream_adopt(device, object, &stream));
    TRY(iso_native_get(ISO_NATIVE_MEMORY, at->x.buffer.id, &object));
    TRY(iso_buffer_import(device, object, at->bytes, 0, NULL, NULL, &buffer));
    TRY(iso_buffer_destroy(buffer));
    TRY(iso_stream_destroy(stream));
    return iso_device_close(device);
}

static iso_status kernels(const bench *at)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_NAIVE;
    args.n = SIZE * SIZE;
    args.x = at->x;
    args.y = at->y;
    args.z = at->z;
    TRY(numbers(at));
    TRY(iso_map(at->stream, &args));
    return expect(at, SIZE * SIZE, 5);
}

static iso_status fills(const bench *at)
{
    const float five = 5;
    TRY(iso_fill(at->stream, at->z, &five, sizeof five, at->bytes));
    return expect(at, SIZE * SIZE, 5);
}

/* Without the driver's graphs the work is submitted in turn. */
static iso_status graphs(const bench *at)
{
    const float two = 2;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    iso_graph graph = {0};
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_NAIVE;
    args.n = SIZE * SIZE;
    args.x = at->x;
    args.y = at->z;
    args.z = at->z;
    TRY(numbers(at));
    TRY(iso_graph_begin(at->stream));
    const iso_status status = iso_map(at->stream, &args);
    if (status) {
        (void)iso_graph_end(at->stream, NULL);
        return status;
    }
    TRY(iso_graph_end(at->stream, &graph));
    TRY(iso_graph_get_info(graph, &info));
    CHECK(info.whole || strstr(info.reason, "no function") ||
          strcmp(missing_backend, "opencl") == 0);
    TRY(iso_fill(at->stream, at->z, &two, sizeof two, at->bytes));
    TRY(iso_graph_launch(graph, at->stream));
    TRY(iso_graph_launch(graph, at->stream));
    TRY(expect(at, SIZE * SIZE, 6));
    return iso_graph_destroy(graph);
}

/* CLBlast compiles for a minute, and one call of it shows no more than what it supports. */
static bool only_asks(void)
{
    return strcmp(missing_backend, "opencl") == 0;
}

static iso_status product(const bench *at, iso_dtype dtype, int32_t library, int64_t batch,
                          int64_t n)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.m = args.k = n > SIZE ? 1 : n;
    args.n = n;
    args.lda = args.ldb = args.ldc = n;
    args.stride_a = args.stride_b = args.stride_c = args.m * n;
    args.batch = batch;
    args.library = library;
    args.a = at->x;
    args.b = at->y;
    args.c = at->z;
    if (n > SIZE || dtype != ISO_F32 || only_asks()) {
        return iso_supports(at->device, ISO_OP_GEMM, &args);
    }
    TRY(numbers(at));
    TRY(iso_gemm(at->stream, &args));
    return expect(at, (int)(batch * n * n), (float)(6 * n));
}

static iso_status one_product(const bench *at)
{
    return product(at, ISO_F32, 0, 1, SIZE);
}
static iso_status products(const bench *at)
{
    return product(at, ISO_F32, 0, 2, 4);
}
static iso_status products_f64(const bench *at)
{
    return product(at, ISO_F64, 0, 2, 4);
}
static iso_status lt_product(const bench *at)
{
    return product(at, ISO_F32, 1, 1, SIZE);
}
static iso_status lt_products(const bench *at)
{
    return product(at, ISO_F32, 1, 2, 4);
}

static iso_status transpose(const bench *at, int64_t element_bytes, int64_t cols)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.variant = ISO_VARIANT_VENDOR;
    args.element_bytes = element_bytes;
    args.rows = cols > SIZE ? 1 : SIZE;
    args.cols = cols;
    args.from = at->x;
    args.to = at->z;
    args.ld_from = cols;
    args.ld_to = args.rows;
    if (cols > SIZE || only_asks()) {
        return iso_supports(at->device, ISO_OP_TRANSPOSE, &args);
    }
    TRY(numbers(at));
    TRY(iso_transpose(at->stream, &args));
    return expect(at, SIZE * SIZE, 2);
}

static iso_status transpose_4(const bench *at)
{
    return transpose(at, 4, SIZE);
}
static iso_status transpose_8(const bench *at)
{
    return transpose(at, 8, SIZE);
}
static iso_status transpose_16(const bench *at)
{
    return transpose(at, 16, SIZE);
}

static iso_status reduce(const bench *at, iso_reduce_op op, iso_dtype dtype, int64_t cols)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = op;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.cols = cols;
    args.x = at->x;
    args.y = at->y;
    args.ld_x = args.ld_y = cols;
    args.result = at->z;
    if (cols > SIZE || dtype != ISO_F32 || only_asks()) {
        return iso_supports(at->device, ISO_OP_REDUCE, &args);
    }
    TRY(numbers(at));
    TRY(iso_reduce(at->stream, &args));
    return expect(at, 1, op == ISO_DOT ? 6.0F * SIZE : 2.0F * SIZE);
}

static iso_status sum(const bench *at)
{
    return reduce(at, ISO_SUM, ISO_F32, SIZE);
}
static iso_status dot(const bench *at)
{
    return reduce(at, ISO_DOT, ISO_F32, SIZE);
}
static iso_status asum(const bench *at)
{
    return reduce(at, ISO_ASUM, ISO_F32, SIZE);
}
static iso_status dot_f64(const bench *at)
{
    return reduce(at, ISO_DOT, ISO_F64, SIZE);
}

/* Sizes that need 64 bits: whether they are supported. */
#define LARGE ((int64_t)1 << 31)
static iso_status wide_product(const bench *at)
{
    return product(at, ISO_F32, 0, 1, LARGE);
}
static iso_status wide_products(const bench *at)
{
    return product(at, ISO_F32, 0, 2, LARGE);
}
static iso_status wide_transpose_4(const bench *at)
{
    return transpose(at, 4, LARGE);
}
static iso_status wide_transpose_8(const bench *at)
{
    return transpose(at, 8, LARGE);
}
static iso_status wide_transpose_16(const bench *at)
{
    return transpose(at, 16, LARGE);
}
static iso_status wide_dot_f16(const bench *at)
{
    return reduce(at, ISO_DOT, ISO_F16, LARGE);
}
static iso_status wide_dot_f32(const bench *at)
{
    return reduce(at, ISO_DOT, ISO_F32, LARGE);
}
static iso_status wide_dot_f64(const bench *at)
{
    return reduce(at, ISO_DOT, ISO_F64, LARGE);
}
static iso_status wide_asum_f32(const bench *at)
{
    return reduce(at, ISO_ASUM, ISO_F32, LARGE);
}
static iso_status wide_asum_f64(const bench *at)
{
    return reduce(at, ISO_ASUM, ISO_F64, LARGE);
}

/* Whether symmetric products and triangular solves are supported; vendor.* runs them. */
static iso_status square(const bench *at, iso_dtype dtype, int64_t k)
{
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.triangle = ISO_LOWER;
    args.n = k > SIZE ? 1 : SIZE;
    args.k = k;
    return iso_supports(at->device, ISO_OP_SYRK, &args);
}

static iso_status solve(const bench *at, iso_dtype dtype, int64_t n)
{
    iso_trsm_args args = ISO_TRSM_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.triangle = ISO_LOWER;
    args.m = n > SIZE ? 1 : SIZE;
    args.n = n;
    return iso_supports(at->device, ISO_OP_TRSM, &args);
}

#define LEVEL3(type, dtype)                                                                        \
    static iso_status square_##type(const bench *at)                                               \
    {                                                                                              \
        return square(at, dtype, SIZE);                                                            \
    }                                                                                              \
    static iso_status wide_square_##type(const bench *at)                                          \
    {                                                                                              \
        return square(at, dtype, LARGE);                                                           \
    }                                                                                              \
    static iso_status solve_##type(const bench *at)                                                \
    {                                                                                              \
        return solve(at, dtype, SIZE);                                                             \
    }                                                                                              \
    static iso_status wide_solve_##type(const bench *at)                                           \
    {                                                                                              \
        return solve(at, dtype, LARGE);                                                            \
    }
LEVEL3(f32, ISO_F32)
LEVEL3(f64, ISO_F64)
LEVEL3(c64, ISO_C64)
LEVEL3(c128, ISO_C128)

static iso_status product_c64(const bench *at)
{
    return product(at, ISO_C64, 0, 1, 4);
}
static iso_status products_c64(const bench *at)
{
    return product(at, ISO_C64, 0, 2, 4);
}
static iso_status product_c128(const bench *at)
{
    return product(at, ISO_C128, 0, 1, 4);
}
static iso_status products_c128(const bench *at)
{
    return product(at, ISO_C128, 0, 2, 4);
}

/* Of a matrix with the number 3 in each row, and of one without entries. */
static iso_status sparse_product(const bench *at, bool entries)
{
    iso_sparse_args matrix = ISO_SPARSE_ARGS_INIT;
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;
    int32_t offsets[SIZE + 1], columns[SIZE];
    float values[SIZE];
    for (int i = 0; i < SIZE; i++) {
        offsets[i + 1] = entries ? i + 1 : 0;
        columns[i] = SIZE - 1 - i;
        values[i] = 3;
    }
    offsets[0] = 0;
    matrix.dtype = ISO_F32;
    matrix.index = ISO_I32;
    matrix.rows = matrix.cols = SIZE;
    matrix.entries = offsets[SIZE];
    matrix.offsets = offsets;
    matrix.columns = columns;
    matrix.values = values;
    TRY(iso_sparse_create(at->device, &matrix, &args.matrix));
    args.variant = ISO_VARIANT_VENDOR;
    args.x = at->x;
    args.y = at->z;
    iso_status status = numbers(at);
    status = status ? status : iso_spmv(at->stream, &args);
    status = status ? status : expect(at, SIZE, entries ? 6 : 0);
    return status ? status : iso_sparse_destroy(args.matrix);
}

static iso_status full_sparse_product(const bench *at)
{
    return sparse_product(at, true);
}
static iso_status empty_sparse_product(const bench *at)
{
    return sparse_product(at, false);
}

static iso_status sensors(const bench *at)
{
    iso_telemetry said = ISO_TELEMETRY_INIT;
    return iso_device_get_telemetry(at->device, &said);
}

#define LEVEL3_USES(type)                                                                          \
    {"symmetric product of " #type, PRODUCTS, square_##type},                                      \
        {"large symmetric product of " #type, PRODUCTS, wide_square_##type},                       \
        {"solve of " #type, PRODUCTS, solve_##type},                                               \
    {                                                                                              \
        "large solve of " #type, PRODUCTS, wide_solve_##type                                       \
    }

const use missing_uses[] = {
    {"transfers", DRIVER, transfers},
    {"events", DRIVER, events},
    {"adoption", DRIVER, adoption},
    {"kernels", COMPILER, kernels},
    {"fills", COMPILER, fills},
    {"graphs", COMPILER, graphs},
    {"product", PRODUCTS, one_product},
    {"products", PRODUCTS, products},
    {"products of f64", PRODUCTS, products_f64},
    {"transpose 4", PRODUCTS, transpose_4},
    {"transpose 8", PRODUCTS, transpose_8},
    {"transpose 16", PRODUCTS, transpose_16},
    {"sum", PRODUCTS, sum},
    {"dot", PRODUCTS, dot},
    {"asum", PRODUCTS, asum},
    {"dot of f64", PRODUCTS, dot_f64},
    {"product of large matrices", PRODUCTS, wide_product},
    {"products of large matrices", PRODUCTS, wide_products},
    {"large transpose 4", PRODUCTS, wide_transpose_4},
    {"large transpose 8", PRODUCTS, wide_transpose_8},
    {"large transpose 16", PRODUCTS, wide_transpose_16},
    {"large dot of f16", PRODUCTS, wide_dot_f16},
    {"large dot of f32", PRODUCTS, wide_dot_f32},
    {"large dot of f64", PRODUCTS, wide_dot_f64},
    {"large asum of f32", PRODUCTS, wide_asum_f32},
    {"large asum of f64", PRODUCTS, wide_asum_f64},
    LEVEL3_USES(f32),
    LEVEL3_USES(f64),
    LEVEL3_USES(c64),
    LEVEL3_USES(c128),
    {"product of c64", PRODUCTS, product_c64},
    {"products of c64", PRODUCTS, products_c64},
    {"product of c128", PRODUCTS, product_c128},
    {"products of c128", PRODUCTS, products_c128},
    {"product, library 1", MORE_PRODUCTS, lt_product},
    {"products, library 1", MORE_PRODUCTS, lt_products},
    {"sparse product", SPARSE_PRODUCTS, full_sparse_product},
    {"sparse product without entries", SPARSE_PRODUCTS, empty_sparse_product},
    {"sensors", SENSORS, sensors},
};
_Static_assert(sizeof missing_uses / sizeof missing_uses[0] == USES, "count them in missing.h");
