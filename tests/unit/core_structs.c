/* SPDX-License-Identifier: Apache-2.0 */
/* core_structs.c - structs of programs built against other versions of the headers. */
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

/* A descriptor with extra room after it. */
typedef struct longer {
    union {
        iso_gemm_args gemm;
        iso_transpose_args transpose;
        iso_reduce_args reduce;
        iso_map_args map;
        iso_gemv_args gemv;
        iso_spmv_args spmv;
    };
    unsigned char tail[64];
} longer;

static void check_longer(iso_op_kind kind, longer *args, size_t known)
{
    uint32_t size = (uint32_t)known + 48;
    unsigned char *bytes = (unsigned char *)args;

    memset(bytes + known, 0, sizeof *args - known);
    memcpy(bytes, &size, sizeof size);
    works(iso_execute(s.stream, kind, args));
    bytes[known + 47] = 9;
    fails(iso_execute(s.stream, kind, args), ISO_INVALID, "args->size", "is 9", "must be 0");
    bytes[known + 47] = 0;
    bytes[known + 48] = 9; /* past its end */
    works(iso_execute(s.stream, kind, args));
    size = 0;
    memcpy(bytes, &size, sizeof size);
    fails(iso_execute(s.stream, kind, args), ISO_INVALID, "args->size is 0", "_INIT");
    size = 8;
    memcpy(bytes, &size, sizeof size);
    fails(iso_execute(s.stream, kind, args), ISO_INVALID, "args->size is 8");
    size = UINT32_MAX;
    memcpy(bytes, &size, sizeof size);
    fails(iso_execute(s.stream, kind, args), ISO_INVALID, "args->size is 4294967295");
}

static void test_arguments(void **state)
{
    longer args;

    (void)state;
    args.gemm = unit_gemm(s.buffer, 8);
    check_longer(ISO_OP_GEMM, &args, sizeof args.gemm);
    args.transpose = unit_transpose(s.buffer, 8);
    check_longer(ISO_OP_TRANSPOSE, &args, sizeof args.transpose);
    args.reduce = unit_sum(s.buffer, 8);
    check_longer(ISO_OP_REDUCE, &args, sizeof args.reduce);
    args.map = unit_add(s.buffer, 8);
    check_longer(ISO_OP_MAP, &args, sizeof args.map);
    args.gemv = unit_gemv(s.buffer, 8);
    check_longer(ISO_OP_GEMV, &args, sizeof args.gemv);
    args.spmv = unit_spmv(s.device, s.buffer, 8);
    check_longer(ISO_OP_SPMV, &args, sizeof args.spmv);
    works(iso_sparse_destroy(args.spmv.matrix));
    works(iso_stream_sync(s.stream));
}

/* Fields beyond the end of a shorter struct count as zero: here the batch, and no operands. */
static void test_shorter(void **state)
{
    iso_gemm_args args = unit_gemm(s.buffer, 0);
    iso_cost_info cost = ISO_COST_INFO_INIT;

    (void)state;
    args = unit_gemm(s.buffer, 8);
    args.size = offsetof(iso_gemm_args, batch);
    args.batch = -5; /* ignored */
    works(iso_gemm(s.stream, &args));
    args.size = offsetof(iso_gemm_args, alpha);
    works(iso_cost(ISO_OP_GEMM, &args, &cost));
    assert_true(cost.flops == 0.0); /* alpha is 0 */
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "c.buffer", "zero");
    args.size--;
    fails(iso_gemm(s.stream, &args), ISO_INVALID, "args->size");
    fails(iso_gemm(s.stream, NULL), ISO_INVALID, "args", "NULL");
}

#define CHECK_OUT(type, init, call, least)                                                         \
    do {                                                                                           \
        struct {                                                                                   \
            type out;                                                                              \
            unsigned char tail[16];                                                                \
        } *at_ = malloc(sizeof *at_);                                                              \
        type initial_ = init;                                                                      \
        type *out = &at_->out;                                                                     \
                                                                                                   \
        at_->out = initial_;                                                                       \
        memset(at_->tail, 7, sizeof at_->tail);                                                    \
        works(call);                                                                               \
        assert_int_equal(at_->tail[0], 7);                                                         \
        out->size = (uint32_t)sizeof(type) + 8; /* a newer header's */                             \
        works(call);                                                                               \
        assert_int_equal(out->size, sizeof(type) + 8);                                             \
        assert_int_equal(at_->tail[0], 0);                                                         \
        assert_int_equal(at_->tail[8], 7);                                                         \
        memset(out, 7, sizeof *out);                                                               \
        out->size = (uint32_t)(least); /* an older one's */                                        \
        works(call);                                                                               \
        assert_int_equal(((unsigned char *)out)[least], 7);                                        \
        out->size = 3;                                                                             \
        fails(call, ISO_INVALID, "out->size is 3");                                                \
        out = NULL;                                                                                \
        fails(call, ISO_INVALID, "out is NULL");                                                   \
        free(at_);                                                                                 \
    } while (0)

static void test_answers(void **state)
{
    iso_gemm_args gemm = unit_gemm(s.buffer, 8);
    iso_graph graph;

    (void)state;
    works(iso_graph_begin(s.stream));
    works(iso_graph_end(s.stream, &graph));
    CHECK_OUT(iso_graph_info, ISO_GRAPH_INFO_INIT, iso_graph_get_info(graph, out), 8);
    works(iso_graph_destroy(graph));
    CHECK_OUT(iso_device_info, ISO_DEVICE_INFO_INIT, iso_device_get_info(s.device, out), 264);
    CHECK_OUT(iso_memory_use, ISO_MEMORY_USE_INIT, iso_device_get_memory_use(s.device, out), 16);
    CHECK_OUT(iso_telemetry, ISO_TELEMETRY_INIT, iso_device_get_telemetry(s.device, out), 8);
    CHECK_OUT(iso_buffer_info, ISO_BUFFER_INFO_INIT, iso_buffer_get_info(s.buffer, out), 16);
    CHECK_OUT(iso_setting, ISO_SETTING_INIT, iso_get_setting(0, out), 136);
    CHECK_OUT(iso_property, ISO_PROPERTY_INIT, iso_device_get_property(s.device, 0, out), 132);
    CHECK_OUT(iso_op_info, ISO_OP_INFO_INIT, iso_describe(s.device, ISO_OP_GEMM, &gemm, out), 16);
    CHECK_OUT(iso_cost_info, ISO_COST_INFO_INIT, iso_cost(ISO_OP_GEMM, &gemm, out), 16);
}

/* A reserved field may get a meaning in a later version: a value other than zero is refused in a
 * struct that is read, and a struct that is filled has zero there. tests/lint/reserved.sh compares
 * this list with the headers. */
static void test_reserved_read(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;  /* RESERVED iso_device_options */
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;     /* RESERVED iso_native_device */
    iso_spmv_args spmv = unit_spmv(s.device, s.buffer, 8); /* RESERVED iso_spmv_args */
    iso_gemm_args gemm = unit_gemm(s.buffer, 8);
    iso_syrk_args syrk = ISO_SYRK_ARGS_INIT;  /* RESERVED iso_syrk_args */
    iso_trsm_args trsm = ISO_TRSM_ARGS_INIT;  /* RESERVED iso_trsm_args */
    iso_map_args map = unit_add(s.buffer, 8); /* RESERVED iso_map_args */
    iso_device device;

    (void)state;
    options.reserved = 6;
    fails(iso_device_open_with("openmp", &options, &device), ISO_INVALID, "options->reserved is 6",
          "0");
    options.size = offsetof(iso_device_options, reserved); /* beyond the end */
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_device_close(device));
    native.reserved = 7;
    fails(iso_device_adopt("openmp", &native, NULL, &device), ISO_INVALID, "native->reserved is 7",
          "0");
    native.reserved = 0;
    works(iso_device_adopt("openmp", &native, NULL, &device));
    works(iso_device_close(device));
    spmv.reserved = 5;
    fails(iso_spmv(s.stream, &spmv), ISO_INVALID, "args->reserved is 5", "0");
    works(iso_sparse_destroy(spmv.matrix));
    syrk.dtype = trsm.dtype = ISO_F32;
    syrk.triangle = trsm.triangle = ISO_LOWER;
    syrk.reserved = trsm.reserved = 3;
    fails(iso_syrk(s.stream, &syrk), ISO_INVALID, "args->reserved is 3", "0");
    fails(iso_trsm(s.stream, &trsm), ISO_INVALID, "args->reserved is 3", "0");
    map.reserved = 1;
    fails(iso_map(s.stream, &map), ISO_INVALID, "args->reserved is 1", "0");
    gemm.size = offsetof(iso_gemm_args, continues); /* of an older header */
    works(iso_gemm(s.stream, &gemm));
    works(iso_stream_sync(s.stream));
}

static void test_reserved_of_ranks(void **state)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;     /* RESERVED iso_comm_options */
    iso_comm_args args = ISO_COMM_ARGS_INIT;              /* RESERVED iso_comm_args */
    iso_gemm_grid_args product = ISO_GEMM_GRID_ARGS_INIT; /* RESERVED iso_gemm_grid_args */
    iso_comm_info info;                                   /* RESERVED iso_comm_info */
    iso_comm comm;
    iso_grid grid;

    (void)state;
    options.reserved = 3;
    fails(iso_comm_create(&s.device, 1, &options, &comm), ISO_INVALID, "options->reserved is 3",
          "0");
    works(iso_comm_create(&s.device, 1, NULL, &comm));
    args.op = ISO_COMM_BARRIER;
    args.reserved = 2;
    fails(iso_comm_run(comm, s.stream, &args), ISO_INVALID, "args->reserved is 2", "0");
    works(iso_grid_create(comm, 1, 1, &grid));
    product.dtype = ISO_F32;
    product.block_m = product.block_n = product.block_k = 1;
    product.reserved = 1;
    fails(iso_gemm_grid(grid, s.stream, &product), ISO_INVALID, "args->reserved is 1", "0");
    product.reserved = 0;
    works(iso_gemm_grid(grid, s.stream, &product));
    memset(&info, 0xff, sizeof info);
    info.size = (uint32_t)sizeof info;
    works(iso_comm_get_info(comm, &info));
    assert_int_equal(info.reserved, 0);
    works(iso_grid_destroy(grid));
    works(iso_comm_destroy(comm));
}

#define CHECK_FILLED(type, call)                                                                   \
    do {                                                                                           \
        type *out = malloc(sizeof *out);                                                           \
                                                                                                   \
        memset(out, 0xff, sizeof *out);                                                            \
        out->size = (uint32_t)sizeof *out;                                                         \
        works(call);                                                                               \
        if (out->reserved != 0)                                                                    \
            fail_msg("%s: reserved is 0x%x", #call, (unsigned)out->reserved);                      \
        free(out);                                                                                 \
    } while (0)

static void test_reserved_filled(void **state)
{
    iso_gemm_args gemm = unit_gemm(s.buffer, 8);
    int32_t count;

    (void)state;
    CHECK_FILLED(iso_device_info,
                 iso_device_get_info(s.device, out));       /* RESERVED iso_device_info */
    CHECK_FILLED(iso_entry, iso_enumerate(out, 1, &count)); /* RESERVED iso_entry */
    CHECK_FILLED(iso_memory_use,
                 iso_device_get_memory_use(s.device, out)); /* RESERVED iso_memory_use */
    CHECK_FILLED(iso_setting, iso_get_setting(0, out));     /* RESERVED iso_setting */
    CHECK_FILLED(iso_spec, iso_spec_get("openmp", 0, out)); /* RESERVED iso_spec */
    CHECK_FILLED(iso_buffer_info,
                 iso_buffer_get_info(s.buffer, out)); /* RESERVED iso_buffer_info */
    CHECK_FILLED(iso_op_info,
                 iso_describe(s.device, ISO_OP_GEMM, &gemm, out));  /* RESERVED iso_op_info */
    CHECK_FILLED(iso_cost_info, iso_cost(ISO_OP_GEMM, &gemm, out)); /* RESERVED iso_cost_info */
}

static void test_options(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_device device;

    (void)state;
    options.memory_limit = -2;
    fails(iso_device_open_with("openmp", &options, &device), ISO_INVALID, "options->memory_limit",
          "-2");
    options.memory_limit = 12345;
    options.math = (iso_math)3;
    fails(iso_device_open_with("openmp", &options, &device), ISO_INVALID, "options->math", "3");
    options.math = ISO_MATH_TF32;
    options.keep = (iso_keep)4;
    fails(iso_device_open_with("openmp", &options, &device), ISO_INVALID, "options->keep", "4");
    options.keep = ISO_KEEP_SCALE;
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_device_get_memory_use(device, &use));
    assert_int_equal(use.limit, 12345);
    works(iso_device_close(device));
    options.size = 8; /* ends before the limit */
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_device_get_memory_use(device, &use));
    assert_int_equal(use.limit, -1);
    works(iso_device_close(device));
    options.size = 4;
    fails(iso_device_open_with("openmp", &options, &device), ISO_INVALID, "options->size", "4");
    assert_int_equal(device.id, 0);
    works(iso_device_open_with("openmp", NULL, &device));
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),         cmocka_unit_test(test_shorter),
        cmocka_unit_test(test_answers),           cmocka_unit_test(test_reserved_read),
        cmocka_unit_test(test_reserved_of_ranks), cmocka_unit_test(test_reserved_filled),
        cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
