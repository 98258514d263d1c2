/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_composed.c - operations that the core composes have the bits of the plain operations that
 * they stand for, run directly, from a graph, and twice, and write nothing else.
 *
 *   core_composed DEVICE...   on each device; skips if none of them is there
 */
#include <isomer/isomer.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 21, PARTS = 4, PART = BYTES / PARTS };

static iso_device device;
static iso_stream stream;
static iso_buffer buffer;
static unsigned char before[BYTES], first[BYTES], second[BYTES];
static int failures, compared;

static void must(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}
#define MUST(call) must(call, #call)

static uint64_t random_state = 1;

static int64_t next(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

static iso_operand at(int part, int64_t offset)
{
    return (iso_operand){buffer, (int64_t)part * PART + offset};
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint16_t half_of(int64_t eighths) /* exact: a multiple of 1/8 below 16 */
{
    const int sign = eighths < 0 ? 0x8000 : 0;
    int64_t size = eighths < 0 ? -eighths : eighths;
    int exponent = 15 - 3 + 10;

    if (!size) {
        return (uint16_t)sign;
    }
    for (; size < 1024; size *= 2) {
        exponent--;
    }
    return (uint16_t)(sign | exponent << 10 | (size & 1023));
}

static uint16_t brain_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static iso_dtype part_of(iso_dtype dtype)
{
    return dtype == ISO_C64 ? ISO_F32 : dtype == ISO_C128 ? ISO_F64 : dtype;
}

/* Stores a multiple of 1/8 below 16 as element `index` of an array. */
static void store(void *to, iso_dtype dtype, int64_t index, int64_t eighths)
{
    const double value = (double)eighths / 8;
    const float narrow = (float)value;
    const uint16_t half = dtype == ISO_F16 ? half_of(eighths) : brain_of(narrow);
    const int8_t byte = (int8_t)eighths;
    const int32_t whole = (int32_t)eighths;

    switch (dtype) {
    case ISO_F16:
    case ISO_BF16:
        memcpy((char *)to + index * 2, &half, 2);
        break;
    case ISO_F32:
        memcpy((char *)to + index * 4, &narrow, 4);
        break;
    case ISO_F64:
        memcpy((char *)to + index * 8, &value, 8);
        break;
    case ISO_I32:
        memcpy((char *)to + index * 4, &whole, 4);
        break;
    default:
        memcpy((char *)to + index, &byte, 1);
    }
}

/* Fills a part of the buffer's image with values that every type holds exactly. */
static void fill(int part, iso_dtype dtype)
{
    const iso_dtype element = part_of(dtype);

    for (int64_t i = 0; i < PART / iso_dtype_size(element); i++) {
        store(before + part * PART, element, i, next(127) - 63);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void upload(void)
{
    MUST(iso_write(stream, (iso_operand){buffer, 0}, before, BYTES));
}

static void download(unsigned char *to)
{
    MUST(iso_read(stream, to, (iso_operand){buffer, 0}, BYTES));
    MUST(iso_stream_sync(stream));
}

typedef struct work {
    iso_op_kind kind;
    const void *args;
    const iso_gemm_args *group; /* not NULL: a group instead */
    int64_t count;
} work;

static void submit(const work *w)
{
    if (w->group) {
        MUST(iso_gemm_group(stream, w->group, w->count));
    } else {
        must(iso_execute(stream, w->kind, w->args), iso_op_kind_name(w->kind));
    }
}

static void note(const char *what, bool same)
{
    compared++;
    if (!same) {
        failures++;
        fprintf(stderr, "%s: the bits differ\n", what);
    }
}

/* Runs the work on the image. It must give the same bits again and from a graph. */
static void run(const char *what, const work *w, unsigned char *to)
{
    static unsigned char again[BYTES];
    iso_graph graph;

    upload();
    submit(w);
    download(to);
    upload();
    submit(w);
    download(again);
    note(what, !memcmp(to, again, BYTES));
    MUST(iso_graph_begin(stream));
    submit(w);
    MUST(iso_graph_end(stream, &graph));
    upload();
    MUST(iso_graph_launch(graph, stream));
    download(again);
    MUST(iso_graph_destroy(graph));
    note(what, !memcmp(to, again, BYTES));
}

static void compare(const char *what, const work *one, const work *other)
{
    run(what, one, first);
    run(what, other, second);
    note(what, !memcmp(first, second, BYTES));
}

/* ---- products -------------------------------------------------------------------------------- */

static iso_gemm_args product(iso_dtype dtype, iso_variant variant, int64_t k)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = dtype;
    args.variant = variant;
    args.m = 13;
    args.n = 17;
    args.k = k;
    args.lda = k + 2;
    args.ldb = args.n + 1;
    args.ldc = args.n + 3;
    args.alpha = 1.25;
    args.beta = -0.5;
    args.a = at(0, 64);
    args.b = at(1, 0);
    args.c = at(2, 32);
    return args;
}

static void test_device_factors(iso_dtype dtype, iso_variant variant)
{
    const bool complex = part_of(dtype) != dtype;
    const double values[] = {1.25, complex ? 0.75 : 0, -0.5, complex ? 2 : 0};
    iso_gemm_args host = product(dtype, variant, 1100), on_device;
    char name[96];

    snprintf(name, sizeof name, "factors on the device: %s %s", iso_dtype_name(dtype),
             iso_variant_name(variant));
    for (int part = 0; part < 3; part++) {
        fill(part, dtype);
    }
    memcpy(before + 3 * PART, values, sizeof values);
    host.alpha_imag = values[1];
    host.beta_imag = values[3];
    on_device = host;
    on_device.factor_dtype = ISO_F64;
    on_device.alpha_at = at(3, 0);
    on_device.beta_at = at(3, 16);
    on_device.alpha = on_device.beta = 7;
    compare(name, &(work){ISO_OP_GEMM, &host, NULL, 0}, &(work){ISO_OP_GEMM, &on_device, NULL, 0});
}

static void test_gemv_factors(iso_dtype dtype)
{
    const double values[] = {1.25, -0.5};
    iso_gemv_args host = ISO_GEMV_ARGS_INIT, on_device;

    for (int part = 0; part < 3; part++) {
        fill(part, dtype);
    }
    memcpy(before + 3 * PART, values, sizeof values);
    host.dtype = dtype;
    host.variant = ISO_VARIANT_TILED;
    host.m = 29;
    host.k = 33;
    host.inc_x = 2;
    host.inc_y = 3;
    host.alpha = values[0];
    host.beta = values[1];
    host.a = at(0, 0);
    host.x = at(1, 8);
    host.y = at(2, 16);
    host.batch = 2;
    host.stride_a = 29 * 33;
    host.stride_x = 100;
    host.stride_y = 90;
    on_device = host;
    on_device.factor_dtype = ISO_F64;
    on_device.alpha_at = at(3, 0);
    on_device.beta_at = at(3, 8);
    compare("factors of gemv on the device", &(work){ISO_OP_GEMV, &host, NULL, 0},
            &(work){ISO_OP_GEMV, &on_device, NULL, 0});
}

/* Inputs of 16 bits with results of f32 against a product of f32. */
static void test_wider(iso_dtype dtype, iso_variant variant)
{
    iso_gemm_args wide = product(ISO_F32, variant, 70), narrow = product(dtype, variant, 70);
    char name[64];

    snprintf(name, sizeof name, "%s to f32: %s", iso_dtype_name(dtype), iso_variant_name(variant));
    fill(2, ISO_F32);
    random_state = 9;
    fill(0, ISO_F32);
    fill(1, ISO_F32);
    run(name, &(work){ISO_OP_GEMM, &wide, NULL, 0}, first);
    random_state = 9;
    for (int part = 0; part < 2; part++) { /* the same values in the same order */
        for (int64_t i = 0; i < PART / 4; i++) {
            store(before + part * PART, dtype, i, next(127) - 63);
        }
    }
    narrow.dtype_c = ISO_F32;
    narrow.a.offset = 32;
    run(name, &(work){ISO_OP_GEMM, &narrow, NULL, 0}, second);
    note(name, !memcmp(first + 2 * PART, second + 2 * PART, PART));
}

static void test_i8(iso_variant variant, double alpha, double beta)
{
    iso_gemm_args args = product(ISO_I8, variant, 300);
    int32_t *c = (int32_t *)(void *)(before + 2 * PART + 32);
    const int8_t *a = (const int8_t *)(before + 64), *b = (const int8_t *)(before + PART);

    for (int64_t i = 0; i < PART; i++) {
        before[i] = (unsigned char)next(256);
        before[PART + i] = (unsigned char)next(256);
    }
    fill(2, ISO_I32);
    args.alpha = alpha;
    args.beta = beta;
    run("i8", &(work){ISO_OP_GEMM, &args, NULL, 0}, first);
    for (int64_t i = 0; i < args.m; i++) {
        for (int64_t j = 0; j < args.n; j++) {
            int64_t sum = 0;
            int32_t *to = &c[i * args.ldc + j];

            for (int64_t k = 0; k < args.k; k++) {
                sum += a[i * args.lda + k] * b[k * args.ldb + j];
            }
            *to = (int32_t)((uint32_t)(int32_t)alpha * (uint32_t)sum +
                            (uint32_t)(int32_t)beta * (uint32_t)*to);
        }
    }
    note("i8", !memcmp(first, before, BYTES));
}

/* The same matrices stored by columns. */
static void test_columns(iso_dtype dtype)
{
    iso_gemm_args rows = product(dtype, ISO_VARIANT_TILED, 19), columns = rows;
    const int64_t bytes = iso_dtype_size(dtype);

    for (int part = 0; part < 3; part++) {
        fill(part, dtype);
    }
    run("rows", &(work){ISO_OP_GEMM, &rows, NULL, 0}, first);
    /* Stored by columns, a transposed matrix has the bytes of the other one stored by rows. */
    columns.order = ISO_COLUMN_MAJOR;
    columns.trans_a = columns.trans_b = ISO_TRANS;
    columns.ldc = columns.m + 2;
    memset(before + 2 * PART, 0, PART);
    columns.beta = rows.beta = 0;
    run("rows", &(work){ISO_OP_GEMM, &rows, NULL, 0}, first);
    run("columns", &(work){ISO_OP_GEMM, &columns, NULL, 0}, second);
    for (int64_t i = 0; i < rows.m; i++) {
        for (int64_t j = 0; j < rows.n; j++) {
            note("columns",
                 !memcmp(first + 2 * PART + 32 + (i * rows.ldc + j) * bytes,
                         second + 2 * PART + 32 + (j * columns.ldc + i) * bytes, (size_t)bytes));
        }
    }
}

/* ---- symmetric products, solves -------------------------------------------------------------- */

/* Each triangle against a product of A and A. */
static void test_syrk(iso_dtype dtype, iso_triangle triangle, iso_trans trans, int64_t n)
{
    const int64_t bytes = iso_dtype_size(dtype), k = 21;
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;
    iso_gemm_args whole = ISO_GEMM_ARGS_INIT;
    bool same = true;

    fill(0, dtype);
    fill(2, dtype);
    args.dtype = dtype;
    args.variant = ISO_VARIANT_TILED;
    args.triangle = triangle;
    args.trans = trans;
    args.n = n;
    args.k = k;
    args.alpha = 1.5;
    args.beta = 0.25;
    args.a = at(0, 0);
    args.c = at(2, 0);
    whole.dtype = dtype;
    whole.variant = ISO_VARIANT_TILED;
    whole.trans_a = trans;
    whole.trans_b = trans == ISO_NO_TRANS ? ISO_TRANS : ISO_NO_TRANS;
    whole.m = whole.n = n;
    whole.k = k;
    whole.alpha = args.alpha;
    whole.beta = args.beta;
    whole.a = whole.b = args.a;
    whole.c = args.c;
    run("syrk", &(work){ISO_OP_SYRK, &args, NULL, 0}, first);
    run("syrk", &(work){ISO_OP_GEMM, &whole, NULL, 0}, second);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            const int64_t place = 2 * PART + (i * n + j) * bytes;
            const unsigned char *right =
                (triangle == ISO_LOWER ? j <= i : j >= i) ? second : before;

            same = same && !memcmp(first + place, right + place, (size_t)bytes);
        }
    }
    note("syrk", same);
}

/* op(A) X with the solved X gives B again: whole numbers, ones on the diagonal, so all is exact. */
static void test_trsm(iso_dtype dtype, iso_side side, iso_triangle triangle, iso_trans trans)
{
    const iso_dtype part = part_of(dtype);
    const int64_t size = 150, other = 5, bytes = iso_dtype_size(dtype),
                  parts = bytes / iso_dtype_size(part);
    iso_trsm_args solve = ISO_TRSM_ARGS_INIT;
    iso_gemm_args check = ISO_GEMM_ARGS_INIT;

    memset(before, 0, BYTES);
    for (int64_t i = 0; i < size; i++) {
        for (int64_t j = 0; j < size; j++) {
            const bool inside = triangle == ISO_LOWER ? j < i : j > i;
            const int64_t value = i == j ? 8 : inside && next(100) < 2 ? 8 * (next(3) - 1) : 0;

            for (int64_t p = 0; p < parts; p++) {
                store(before, part, (i * size + j) * parts + p, p && i == j ? 0 : value);
            }
        }
    }
    for (int64_t i = 0; i < size * other * parts; i++) {
        store(before + PART, part, i, 8 * (next(7) - 3));
    }
    solve.dtype = dtype;
    solve.variant = ISO_VARIANT_TILED;
    solve.side = side;
    solve.triangle = triangle;
    solve.trans = trans;
    solve.m = side == ISO_LEFT ? size : other;
    solve.n = side == ISO_LEFT ? other : size;
    solve.a = at(0, 0);
    solve.b = at(1, 0);
    run("trsm", &(work){ISO_OP_TRSM, &solve, NULL, 0}, first);
    memcpy(second, before, BYTES);
    memcpy(before, first, BYTES);
    check.dtype = dtype;
    check.variant = ISO_VARIANT_TILED;
    check.m = solve.m;
    check.n = solve.n;
    check.k = size;
    check.a = side == ISO_LEFT ? at(0, 0) : at(1, 0);
    check.b = side == ISO_LEFT ? at(1, 0) : at(0, 0);
    check.trans_a = side == ISO_LEFT ? trans : ISO_NO_TRANS;
    check.trans_b = side == ISO_LEFT ? ISO_NO_TRANS : trans;
    check.c = at(2, 0);
    run("trsm", &(work){ISO_OP_GEMM, &check, NULL, 0}, first);
    note("trsm", !memcmp(first + 2 * PART, second + PART, (size_t)(size * other * bytes)));
}

/* ---- groups, results apart ------------------------------------------------------------------- */

static void test_group(void)
{
    iso_gemm_args list[6];
    bool same = true;

    for (int part = 0; part < 3; part++) {
        fill(part, ISO_F32);
    }
    for (int i = 0; i < 6; i++) {
        list[i] = product(ISO_F32, ISO_VARIANT_TILED, 9);
        list[i].a = at(0, i < 4 ? i * 2048 : 32768);
        list[i].b = at(1, i < 4 ? 0 : 4096);
        list[i].c = at(2, i * 4096);
        list[i].m = i < 4 ? 13 : 5 + i;
    }
    run("group", &(work){.group = list, .count = 6}, first);
    upload();
    for (int i = 0; i < 6; i++) {
        MUST(iso_gemm(stream, &list[i]));
    }
    download(second);
    note("group", !memcmp(first, second, BYTES));
    list[5].c = at(2, 4 * 4096 + 16);
    upload();
    same = iso_gemm_group(stream, list, 6) == ISO_INVALID &&
           strstr(iso_last_error(), "of product 5") && strstr(iso_last_error(), "of product 4");
    download(first);
    note("a group whose results meet", same && !memcmp(first, before, BYTES));
    list[5].c = at(2, 5 * 4096);
    for (int i = 0; i < 3; i++) { /* alike, but the third is outside the buffer */
        list[i].c = at(3, PART - 12288 + i * 8192);
        list[i].b = at(1, 0);
    }
    same = iso_gemm_group(stream, list, 3) == ISO_INVALID &&
           strstr(iso_last_error(), "iso_gemm_group: product 2: c");
    download(first);
    note("a group outside its buffer", same && !memcmp(first, before, BYTES));
    for (int i = 0; i < 3; i++) {
        list[i].c = at(2, i * 4096);
    }
    list[3].k = -1;
    same = iso_gemm_group(stream, list, 6) == ISO_INVALID &&
           strstr(iso_last_error(), "iso_gemm_group: product 3: k is -1");
    download(first);
    note("a group with a wrong product", same && !memcmp(first, before, BYTES));
}

static void test_apart(iso_reduce_op op, iso_axis axis)
{
    iso_reduce_args packed = ISO_REDUCE_ARGS_INIT, apart;
    iso_dtype result;
    int64_t bytes;
    bool same = true;

    fill(0, ISO_F32);
    fill(2, ISO_F32);
    MUST(iso_reduce_result(op, ISO_F32, &result));
    bytes = iso_dtype_size(result);
    packed.op = op;
    packed.dtype = ISO_F32;
    packed.variant = ISO_VARIANT_TILED;
    packed.axis = axis;
    packed.rows = 37;
    packed.cols = 41;
    packed.x = at(0, 0);
    packed.result = at(2, 0);
    apart = packed;
    apart.inc_result = 5;
    run("results apart", &(work){ISO_OP_REDUCE, &packed, NULL, 0}, first);
    run("results apart", &(work){ISO_OP_REDUCE, &apart, NULL, 0}, second);
    for (int64_t i = 0; i < (axis == ISO_AXIS_0 ? packed.cols : packed.rows); i++) {
        unsigned char *to = second + 2 * PART + i * 5 * bytes;

        same = same && !memcmp(first + 2 * PART + i * bytes, to, (size_t)bytes);
        memcpy(to, before + 2 * PART + i * 5 * bytes, (size_t)bytes);
    }
    note("results apart", same && !memcmp(second, before, BYTES));
}

static void test_all(void)
{
    static const iso_dtype all[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64, ISO_C64, ISO_C128};
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};

    for (size_t t = 0; t < sizeof all / sizeof all[0]; t++) {
        test_device_factors(all[t], variants[t % 2]);
        test_columns(all[t]);
    }
    test_gemv_factors(ISO_F16);
    test_gemv_factors(ISO_F64);
    for (int v = 0; v < 2; v++) {
        test_wider(ISO_F16, variants[v]);
        test_wider(ISO_BF16, variants[v]);
        test_i8(variants[v], 3, v ? -2 : 0);
    }
    test_wider(ISO_F16, ISO_VARIANT_FIXED);
    for (int i = 0; i < 4; i++) {
        const iso_triangle triangle = i & 1 ? ISO_UPPER : ISO_LOWER;

        test_syrk(all[2 + i], triangle, i & 2 ? ISO_TRANS : ISO_NO_TRANS, 50);
        for (int turn = 0; turn < 4; turn++) {
            test_trsm(all[2 + turn], i & 2 ? ISO_RIGHT : ISO_LEFT, triangle,
                      turn == 3  ? ISO_CONJ_TRANS
                      : turn & 1 ? ISO_TRANS
                                 : ISO_NO_TRANS);
        }
    }
    test_syrk(ISO_F32, ISO_LOWER, ISO_NO_TRANS, 200);
    test_syrk(ISO_F32, ISO_UPPER, ISO_TRANS, 200);
    test_group();
    test_apart(ISO_SUM, ISO_AXIS_0);
    test_apart(ISO_ARGMAX, ISO_AXIS_1);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (iso_device_open(argv[i], &device)) {
            printf("%s is not here: %s\n", argv[i], iso_last_error());
            continue;
        }
        MUST(iso_stream_create(device, 0, &stream));
        MUST(iso_buffer_create(device, BYTES, &buffer));
        test_all();
        MUST(iso_buffer_destroy(buffer));
        MUST(iso_stream_destroy(stream));
        MUST(iso_device_close(device));
    }
    printf("%d comparisons, %d failures\n", compared, failures);
    return failures ? 1 : compared ? 0 : 77;
}
