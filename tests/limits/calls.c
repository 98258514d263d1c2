/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - all the groups of public calls of calls.h. */
#include "tests/limits/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, CELLS = SIDE * SIDE, PART = CELLS * 16, BYTES = 4 * PART, ROWS_MAX = 64 };

static int check(calls_scene *scene, const char *what, iso_status status)
{
    if (status == ISO_OK || status == ISO_UNSUPPORTED || status == ISO_NOT_READY) {
        scene->done++;
        return status == ISO_OK;
    }
    scene->refused++;
    /* If the system is short of something, vendors' compilers may fail in any way. */
    const int foreign =
        (status == ISO_COMPILE || status == ISO_BACKEND) && strcmp(scene->spec, "openmp") != 0;
    if ((status != ISO_NO_MEMORY && status != ISO_UNAVAILABLE && !foreign) ||
        !iso_last_error()[0]) {
        scene->wrong++;
        (void)fprintf(stderr, "%s: %s gives %s: %s\n", scene->spec, what, iso_status_name(status),
                      iso_last_error());
    }
    return 0;
}

/* If kernels are built at first use, one type must do. */
static int last_dtype(const calls_scene *scene, iso_dtype last)
{
    return strcmp(scene->spec, "openmp") == 0 ? (int)last : (int)ISO_F32;
}

static int first_dtype(const calls_scene *scene)
{
    return strcmp(scene->spec, "openmp") == 0 ? (int)ISO_F16 : (int)ISO_F32;
}

#define TRY(call) check(scene, #call, call)

static iso_operand at(const calls_scene *scene, int part)
{
    return (iso_operand){scene->memory, (int64_t)part * PART};
}

/* ---- devices --------------------------------------------------------------------------------- */

static void open_device(calls_scene *scene)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    (void)TRY(iso_device_open_with(scene->spec, &options, &scene->device));
}

static void enumerate(calls_scene *scene)
{
    int32_t count = 0;
    iso_entry *rows = calloc(ROWS_MAX, sizeof *rows);
    if (rows) {
        rows[0].size = (uint32_t)sizeof *rows;
        (void)TRY(iso_enumerate(rows, ROWS_MAX, &count));
    }
    free(rows);
}

static void describe(calls_scene *scene)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    char choice[256];
    (void)TRY(iso_device_get_info(scene->device, &info));
    (void)TRY(iso_device_get_choice(scene->device, choice, (int64_t)sizeof choice));
    (void)TRY(iso_device_get_memory_use(scene->device, &use));
    void *native = NULL;
    (void)TRY(iso_native_get(ISO_NATIVE_DEVICE, scene->device.id, &native));
}

static void properties(calls_scene *scene)
{
    iso_property *property = calloc(1, sizeof *property);
    iso_setting *setting = calloc(1, sizeof *setting);
    iso_status status = ISO_OK;
    for (int32_t i = 0; property && status == ISO_OK; i++) {
        property->size = (uint32_t)sizeof *property;
        status = iso_device_get_property(scene->device, i, property);
        (void)check(scene, "iso_device_get_property", status);
    }
    status = ISO_OK;
    for (int32_t i = 0; setting && status == ISO_OK; i++) {
        setting->size = (uint32_t)sizeof *setting;
        status = iso_get_setting(i, setting);
        (void)check(scene, "iso_get_setting", status);
    }
    free(property);
    free(setting);
}

static void telemetry(calls_scene *scene)
{
    iso_telemetry now = ISO_TELEMETRY_INIT;
    (void)TRY(iso_device_get_telemetry(scene->device, &now));
}

/* ---- memory and streams ---------------------------------------------------------------------- */

static void create(calls_scene *scene)
{
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    void *block = NULL;
    (void)TRY(iso_stream_create(scene->device, scene->flags, &scene->stream));
    if (TRY(iso_buffer_create(scene->device, BYTES, &scene->memory))) {
        (void)TRY(iso_buffer_get_info(scene->memory, &info));
    }
    if (TRY(iso_host_alloc(scene->device, BYTES, &block, NULL))) {
        (void)TRY(iso_host_free(scene->device, block));
    }
    block = aligned_alloc(4096, 4096);
    if (block && TRY(iso_host_register(scene->device, block, 4096, NULL))) {
        (void)TRY(iso_host_unregister(scene->device, block));
    }
    free(block);
}

static void transfers(calls_scene *scene)
{
    const iso_stream s = scene->stream;
    char *host = calloc(1, PART);
    iso_path path;
    if (!host) {
        return;
    }
    (void)TRY(iso_write(s, at(scene, 0), host, PART));
    (void)TRY(iso_read(s, host, at(scene, 0), PART));
    (void)TRY(iso_copy(s, at(scene, 1), at(scene, 0), PART));
    (void)TRY(iso_fill(s, at(scene, 2), "0123456789abcdef", 16, PART));
    (void)TRY(iso_write_2d(s, at(scene, 0), 64, host, 64, 48, 100));
    (void)TRY(iso_read_2d(s, host, 64, at(scene, 0), 64, 48, 100));
    (void)TRY(iso_copy_2d(s, at(scene, 1), 64, at(scene, 0), 64, 48, 100));
    (void)TRY(iso_fill_2d(s, at(scene, 2), 64, "abcd", 4, 48, 100));
    (void)TRY(iso_copy_between(s, at(scene, 3), s, at(scene, 0), 1000, &path));
    (void)TRY(iso_stream_sync(s));
    free(host);
}

static void events(calls_scene *scene)
{
    iso_event first = {0}, second = {0};
    int64_t took = 0;
    if (TRY(iso_event_create(scene->device, &first)) &&
        TRY(iso_event_create(scene->device, &second))) {
        (void)TRY(iso_event_record(first, scene->stream));
        (void)TRY(iso_stream_wait(scene->stream, first));
        (void)TRY(iso_event_record(second, scene->stream));
        (void)TRY(iso_event_sync(second));
        (void)TRY(iso_event_query(second));
        (void)TRY(iso_event_elapsed(first, second, &took));
        (void)TRY(iso_stream_query(scene->stream));
        (void)TRY(iso_stream_sync_timeout(scene->stream, INT64_C(60000000000)));
        (void)TRY(iso_event_destroy(first));
        (void)TRY(iso_event_destroy(second));
    }
}

static void tensors(calls_scene *scene)
{
    iso_tensor tensor = ISO_TENSOR_INIT, back = ISO_TENSOR_INIT;
    void *managed = NULL;
    tensor.buffer = scene->memory;
    tensor.dtype = ISO_F32;
    tensor.ndim = 2;
    tensor.shape[0] = tensor.shape[1] = SIDE;
    tensor.strides[0] = SIDE;
    tensor.strides[1] = 1;
    if (TRY(iso_dlpack_export(scene->stream, scene->stream, &tensor, &managed)) &&
        TRY(iso_dlpack_import(scene->stream, managed, ISO_DLPACK_VERSIONED, &back))) {
        (void)TRY(iso_buffer_destroy(back.buffer));
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

/* All queries about an operation, and the operation itself. */
static void operate(calls_scene *scene, iso_op_kind kind, const void *args)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_cost_info cost = ISO_COST_INFO_INIT;
    int64_t bytes = 0;
    if (TRY(iso_supports(scene->device, kind, args))) {
        (void)TRY(iso_describe(scene->device, kind, args, &info));
        (void)TRY(iso_workspace(scene->device, kind, args, &bytes));
        (void)TRY(iso_cost(kind, args, &cost));
        (void)TRY(iso_prepare(scene->stream, kind, args));
        (void)TRY(iso_execute(scene->stream, kind, args));
    }
}

static void products(calls_scene *scene)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.m = args.n = args.k = SIDE;
    args.a = at(scene, 0);
    args.b = at(scene, 1);
    args.c = at(scene, 2);
    for (int dtype = first_dtype(scene); dtype <= last_dtype(scene, ISO_F64); dtype++) {
        for (int variant = ISO_VARIANT_NAIVE; variant <= ISO_VARIANT_TILED; variant++) {
            args.dtype = (iso_dtype)dtype;
            args.variant = (iso_variant)variant;
            args.trans_b = (iso_trans)(variant % 2);
            operate(scene, ISO_OP_GEMM, &args);
        }
        args.variant = ISO_VARIANT_FIXED;
        operate(scene, ISO_OP_GEMM, &args);
    }
    (void)TRY(iso_stream_sync(scene->stream));
}

static void transposes(calls_scene *scene)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.rows = args.cols = SIDE;
    for (int64_t bytes = first_dtype(scene) == ISO_F16 ? 1 : 4;
         bytes <= (first_dtype(scene) == ISO_F16 ? 16 : 4); bytes *= 2) {
        for (int variant = ISO_VARIANT_NAIVE; variant <= ISO_VARIANT_TILED; variant++) {
            for (int in_place = 0; in_place < 2; in_place++) {
                args.element_bytes = bytes;
                args.variant = (iso_variant)variant;
                args.from = at(scene, 0);
                args.to = at(scene, in_place ? 0 : 1);
                operate(scene, ISO_OP_TRANSPOSE, &args);
            }
        }
    }
    (void)TRY(iso_stream_sync(scene->stream));
}

static void reductions(calls_scene *scene)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_PARTIALS};
    args.rows = args.cols = SIDE;
    args.x = at(scene, 0);
    args.y = at(scene, 1);
    args.result = at(scene, 2);
    for (int op = ISO_SUM; op <= ISO_ARGAMAX; op += first_dtype(scene) == ISO_F16 ? 1 : 3) {
        for (int dtype = first_dtype(scene); dtype <= last_dtype(scene, ISO_I64); dtype++) {
            for (int axis = ISO_AXIS_ALL; axis <= ISO_AXIS_1; axis++) {
                args.op = (iso_reduce_op)op;
                args.dtype = (iso_dtype)dtype;
                args.axis = (iso_axis)axis;
                args.variant = variants[(op + dtype + axis) % 3];
                const int floats = op == ISO_NORM2 || op == ISO_AMAX || op == ISO_ARGAMAX;
                if (dtype <= ISO_F64 ? op != ISO_XOR : !floats) {
                    operate(scene, ISO_OP_REDUCE, &args);
                }
            }
        }
    }
    (void)TRY(iso_stream_sync(scene->stream));
}

static void maps(calls_scene *scene)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.n = CELLS;
    args.steps = 3;
    args.x = at(scene, 0);
    args.y = at(scene, 1);
    args.z = at(scene, 2);
    for (int op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
        for (int dtype = first_dtype(scene); dtype <= last_dtype(scene, ISO_F64); dtype++) {
            args.op = (iso_map_op)op;
            args.dtype = (iso_dtype)dtype;
            args.steps = op == ISO_MAP_CHAIN ? 3 : 0;
            args.variant = op % 2 ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED;
            operate(scene, ISO_OP_MAP, &args);
        }
    }
    (void)TRY(iso_stream_sync(scene->stream));
}

static void sparse(calls_scene *scene)
{
    static int64_t offsets[SIDE + 1], columns[CELLS];
    static double values[CELLS];
    iso_sparse_args of = ISO_SPARSE_ARGS_INIT;
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;
    for (int64_t i = 0; i < CELLS; i++) {
        columns[i] = i % SIDE;
        offsets[i / SIDE + 1] = i + 1;
    }
    of.dtype = ISO_F32;
    of.index = ISO_I64;
    of.rows = of.cols = SIDE;
    of.entries = CELLS;
    of.offsets = offsets;
    of.columns = columns;
    of.values = values;
    if (!TRY(iso_sparse_create(scene->device, &of, &args.matrix))) {
        return;
    }
    (void)TRY(iso_sparse_get_info(args.matrix, &info));
    (void)TRY(iso_sparse_write(scene->stream, args.matrix, values, CELLS * 4));
    args.x = at(scene, 0);
    args.y = at(scene, 1);
    for (int variant = ISO_VARIANT_NAIVE; variant <= ISO_VARIANT_TILED; variant++) {
        args.variant = (iso_variant)variant;
        args.trans = (iso_trans)(variant % 2);
        operate(scene, ISO_OP_SPMV, &args);
    }
    (void)TRY(iso_stream_sync(scene->stream));
    (void)TRY(iso_sparse_destroy(args.matrix));
}

static void graphs(calls_scene *scene)
{
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    iso_gemm_args product = ISO_GEMM_ARGS_INIT;
    iso_graph graph = {0};
    if (!TRY(iso_graph_begin(scene->stream))) {
        return;
    }
    product.dtype = ISO_F32;
    product.m = product.n = product.k = SIDE;
    product.a = at(scene, 0);
    product.b = at(scene, 1);
    product.c = at(scene, 2);
    (void)TRY(iso_fill(scene->stream, at(scene, 0), "0123", 4, PART));
    (void)TRY(iso_copy(scene->stream, at(scene, 1), at(scene, 0), PART));
    (void)TRY(iso_gemm(scene->stream, &product));
    if (TRY(iso_graph_end(scene->stream, &graph))) {
        (void)TRY(iso_graph_get_info(graph, &info));
        (void)TRY(iso_graph_launch(graph, scene->stream));
        (void)TRY(iso_graph_launch(graph, scene->stream));
        (void)TRY(iso_graph_destroy(graph));
    }
    (void)TRY(iso_stream_sync(scene->stream));
}

static void vendor(calls_scene *scene)
{
    iso_gemm_args gemm = ISO_GEMM_ARGS_INIT;
    iso_transpose_args transpose = ISO_TRANSPOSE_ARGS_INIT;
    iso_reduce_args reduce = ISO_REDUCE_ARGS_INIT;
    gemm.variant = transpose.variant = reduce.variant = ISO_VARIANT_VENDOR;
    /* Large enough for the library's threads. */
    const int64_t side = 256, part = side * side * 8;
    iso_buffer large = {0};
    if (!TRY(iso_buffer_create(scene->device, 3 * part, &large))) {
        return;
    }
    gemm.m = gemm.n = gemm.k = transpose.rows = transpose.cols = reduce.rows = reduce.cols = side;
    gemm.a = transpose.from = reduce.x = (iso_operand){large, 0};
    gemm.b = reduce.y = (iso_operand){large, part};
    gemm.c = transpose.to = reduce.result = (iso_operand){large, 2 * part};
    for (int dtype = ISO_F32; dtype <= last_dtype(scene, ISO_F64); dtype++) {
        gemm.dtype = reduce.dtype = (iso_dtype)dtype;
        transpose.element_bytes = iso_dtype_size(gemm.dtype);
        gemm.variant = ISO_VARIANT_AUTO; /* the library again */
        operate(scene, ISO_OP_GEMM, &gemm);
        gemm.variant = ISO_VARIANT_VENDOR;
        operate(scene, ISO_OP_GEMM, &gemm);
        operate(scene, ISO_OP_TRANSPOSE, &transpose);
        for (int op = ISO_DOT; op <= ISO_NORM2; op++) {
            reduce.op = (iso_reduce_op)op;
            operate(scene, ISO_OP_REDUCE, &reduce);
        }
    }
    (void)TRY(iso_stream_sync(scene->stream));
    (void)TRY(iso_buffer_destroy(large));
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Wrong calls are reported as wrong, however little memory there is. */
static void failures(calls_scene *scene)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_device none = {0};
    iso_dtype dtype = ISO_F32;
    args.dtype = ISO_F32;
    args.m = -1;
    scene->wrong += iso_gemm(scene->stream, &args) == ISO_OK;
    scene->wrong += iso_device_open("no-such-backend,opencl:no-such-device", &none) == ISO_OK;
    scene->wrong += iso_device_close(none) != ISO_INVALID;
    scene->wrong += iso_dtype_parse("f33", &dtype) != ISO_INVALID;
    scene->wrong += !strstr(iso_last_error(), "f33");
    iso_clear_error();
}

static void close_device(calls_scene *scene)
{
    if (scene->memory.id) {
        (void)TRY(iso_buffer_destroy(scene->memory));
    }
    if (scene->stream.id) {
        (void)TRY(iso_stream_destroy(scene->stream));
    }
    if (scene->device.id) {
        (void)TRY(iso_device_close(scene->device));
    }
}

const calls_group calls_groups[] = {
    {"open", 0, open_device},
    {"enumerate", 0, enumerate},
    {"describe", CALLS_NEED_DEVICE, describe},
    {"properties", CALLS_NEED_DEVICE, properties},
    {"telemetry", CALLS_NEED_DEVICE, telemetry},
    {"create", CALLS_NEED_DEVICE, create},
    {"transfers", CALLS_NEED_ALL, transfers},
    {"events", CALLS_NEED_ALL, events},
    {"tensors", CALLS_NEED_ALL, tensors},
    {"products", CALLS_NEED_ALL, products},
    {"transposes", CALLS_NEED_ALL, transposes},
    {"reductions", CALLS_NEED_ALL, reductions},
    {"maps", CALLS_NEED_ALL, maps},
    {"sparse", CALLS_NEED_ALL, sparse},
    {"graphs", CALLS_NEED_ALL, graphs},
    {"vendor", CALLS_NEED_ALL, vendor},
    {"failures", 0, failures},
    {"close", 0, close_device},
};
const int calls_group_count = sizeof calls_groups / sizeof calls_groups[0];

int calls_possible(const calls_scene *scene, const calls_group *group)
{
    return group->needs == 0 || (scene->device.id && (group->needs == CALLS_NEED_DEVICE ||
                                                      (scene->stream.id && scene->memory.id)));
}
