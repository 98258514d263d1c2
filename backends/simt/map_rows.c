/* SPDX-License-Identifier: Apache-2.0 */
/* map_rows.c - plans maps of rows, with gaps between elements, with factors on the device, or to
 * another type: kernels/map_rows.cl. */
#include "backends/simt/map.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

enum { GROUPS_MOST = 1 << 22, RUN = 4, THREADS = 256, THREADS_SMALL = 4, THREADS_LOOP = 64 };

static const char *const matrix_parts[] = {kernel_text_dialect, kernel_text_map_value,
                                           kernel_text_map_rows, kernel_text_map_matrix};
static const char *const convert_parts[] = {kernel_text_dialect, kernel_text_map_value,
                                            kernel_text_map_rows, kernel_text_map_convert};

#define DEFINES {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "MAP_RUN"}
enum { VALUE_THREADS, VALUE_DTYPE, VALUE_F64, VALUE_RUN };

/* By iso_map_op - 1. */
static const simt_text matrix_text = {
    .name = "map_matrix",
    .parts = matrix_parts,
    .part_count = 4,
    .rounds = true,
    .defines = DEFINES,
    .kernels = {"matrix_copy", "matrix_scale", "matrix_add", "matrix_multiply", "matrix_triad",
                "matrix_chain", "matrix_subtract", "matrix_divide", "matrix_min", "matrix_max",
                "matrix_abs", "matrix_negate", "matrix_axpby", "matrix_fma", "matrix_relu",
                "matrix_exp", "matrix_tanh"},
};

/* By iso_dtype - 1 of the result. */
static const simt_text convert_text = {
    .name = "map_convert",
    .parts = convert_parts,
    .part_count = 4,
    .rounds = true,
    .defines = DEFINES,
    .kernels = {"convert_to_f16", "convert_to_bf16", "convert_to_f32", "convert_to_f64",
                "convert_to_i32", "convert_to_i64", "convert_to_i8"},
};

static simt_spec spec_for(const simt_limits *limits, iso_map_op op, iso_dtype dtype, iso_dtype to)
{
    const int32_t wanted = limits->device_class == SIMT_CLASS_SMALL ? THREADS_SMALL
                           : limits->device_class == SIMT_CLASS_CPU ? THREADS_LOOP
                                                                    : THREADS;
    const bool convert = op == ISO_MAP_CONVERT;
    /* A copy only moves bits. */
    if (op == ISO_MAP_COPY && (dtype == ISO_C64 || (dtype == ISO_F64 && !limits->f64))) {
        dtype = ISO_I64;
    }
    return (simt_spec){
        .text = convert ? &convert_text : &matrix_text,
        .values = {[VALUE_THREADS] = wanted <= limits->threads_max ? wanted : THREADS_SMALL,
                   [VALUE_DTYPE] = (int32_t)dtype,
                   [VALUE_F64] = dtype == ISO_F64 || (convert && to == ISO_F64),
                   [VALUE_RUN] = RUN}};
}

static simt_spec spec_of(const simt_device *device, const iso_map_op_args *op)
{
    return spec_for(&device->limits, op->op, op->dtype, op->dtype_z);
}

static int32_t kernel_of(const iso_map_op_args *op)
{
    return (int32_t)(op->op == ISO_MAP_CONVERT ? (int)op->dtype_z : (int)op->op) - 1;
}

/* ---- execution ------------------------------------------------------------------------------- */

/* An operand as arguments of a kernel. */
typedef struct operand {
    void *memory;
    int64_t at, row, col;
} operand;

static operand operand_of(iso_ref ref, iso_dtype dtype, int64_t row, int64_t col)
{
    return (operand){ref.memory, ref.offset / iso_dtype_size(dtype), row, col};
}

/* Where neighbours in a column lie closer than those in a row, columns are handled as rows, so that
 * neighbouring work-items write neighbouring elements. */
static void turn(operand *of, int count, int64_t *n, int64_t *rows)
{
    const int64_t cols = *n;
    if (*rows == 1 || of[count - 1].row >= of[count - 1].col) {
        return;
    }
    *n = *rows;
    *rows = cols;
    for (int i = 0; i < count; i++) {
        const int64_t row = of[i].row;
        of[i].row = of[i].col;
        of[i].col = row;
    }
}

/* Adds the factors' arguments. Memory that is not read is the result's. */
static int32_t add_factors(const iso_map_op_args *op, const float narrow[2], int64_t at[2],
                           void **from[2], int32_t *type, int32_t *factors, simt_arg *args)
{
    const iso_ref refs[2] = {op->alpha_at, op->beta_at};
    const int64_t size = op->factors ? iso_dtype_size(op->factor_dtype) : 1;
    int32_t count = 0;
    args[count++] = simt_factor(op->dtype, &op->alpha, &narrow[0]);
    args[count++] = simt_factor(op->dtype, &op->beta, &narrow[1]);
    for (int i = 0; i < 2; i++) {
        at[i] = op->factors >> i & 1 ? refs[i].offset / size : 0;
        args[count++] = (simt_arg)SIMT_MEMORY(*from[i]);
        args[count++] = (simt_arg)SIMT_ARG(at[i]);
    }
    *type = (int32_t)op->factor_dtype;
    *factors = (int32_t)op->factors;
    args[count++] = (simt_arg)SIMT_ARG(*type);
    args[count++] = (simt_arg)SIMT_ARG(*factors);
    return count;
}

iso_status simt_map_rows_execute(simt_stream *stream, const iso_map_op_args *op)
{
    enum { ARGS_MOST = 32, OPERANDS = 4 };
    const int reads = simt_map_operands(op->op), used = reads + 1;
    const operand all[OPERANDS] = {operand_of(op->x, op->dtype, op->x_row, op->x_col),
                                   operand_of(op->y, op->dtype, op->y_row, op->y_col),
                                   operand_of(op->w, op->dtype, op->w_row, op->w_col)};
    const float narrow[2] = {(float)op->alpha, (float)op->beta};
    const simt_spec spec = spec_of(stream->device, op);
    const int32_t threads = spec.values[VALUE_THREADS];
    operand of[OPERANDS];
    simt_arg args[ARGS_MOST];
    void *alpha = op->factors & 1 ? op->alpha_at.memory : op->z.memory;
    void *beta = op->factors & 2 ? op->beta_at.memory : op->z.memory;
    void **from[2] = {&alpha, &beta};
    int64_t n = op->n, rows = op->rows, at[2];
    int32_t count = 0, shift = 0, type, factors;
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, kernel_of(op), &kernel);
    if (status != ISO_OK) {
        return status;
    }
    for (int i = 0; i < reads; i++) {
        of[i] = all[i];
    }
    of[reads] = operand_of(op->z, op->dtype_z, op->z_row, op->z_col);
    turn(of, used, &n, &rows);
    while ((1 << shift) < threads && (int64_t)1 << shift < n) {
        shift++;
    }
    for (int i = 0; i < used; i++) {
        args[count++] = (simt_arg)SIMT_MEMORY(of[i].memory);
        args[count++] = (simt_arg)SIMT_ARG(of[i].at);
        args[count++] = (simt_arg)SIMT_ARG(of[i].row);
        args[count++] = (simt_arg)SIMT_ARG(of[i].col);
    }
    args[count++] = (simt_arg)SIMT_ARG(n);
    args[count++] = (simt_arg)SIMT_ARG(rows);
    args[count++] = (simt_arg)SIMT_ARG(shift);
    if (simt_map_has_factors(op->op)) {
        count += add_factors(op, narrow, at, from, &type, &factors, args + count);
    }
    if (op->op == ISO_MAP_CHAIN) {
        args[count++] = (simt_arg)SIMT_ARG(op->steps);
    }
    const int64_t along = simt_pieces(n, (int64_t)RUN << shift);
    const int64_t down = simt_pieces(rows, threads >> shift);
    const int64_t groups = simt_least(along, GROUPS_MOST) * simt_least(down, GROUPS_MOST);
    return simt_launch(stream, kernel, simt_least(groups, GROUPS_MOST), args, count);
}

/* ---- entries --------------------------------------------------------------------------------- */

iso_status simt_map_rows_prepare(simt_stream *stream, const iso_map_op_args *op)
{
    const simt_spec spec = spec_of(stream->device, op);
    const simt_kernel *kernel = NULL;
    return simt_kernel_get(stream->device, &spec, kernel_of(op), &kernel);
}

void simt_map_rows_describe(simt_device *device, const iso_map_op_args *op, iso_op_info *out)
{
    const simt_spec spec = spec_of(device, op);
    (void)snprintf(out->kernel, sizeof out->kernel,
                   "%s, %d elements of a row, %" PRId32 " work-items",
                   spec.text->kernels[kernel_of(op)], RUN, spec.values[VALUE_THREADS]);
}

void simt_map_rows_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_C128; dtype++) {
        const bool skip = dtype == ISO_C64 || (dtype == ISO_F64 && !limits->f64);
        const simt_spec matrix = spec_for(limits, ISO_MAP_COPY, dtype, dtype);
        if (skip) {
            continue;
        }
        visit(&matrix, context);
        for (int f64 = dtype == ISO_F64; f64 <= (limits->f64 ? 1 : 0) && dtype <= ISO_I8; f64++) {
            const simt_spec convert =
                spec_for(limits, ISO_MAP_CONVERT, dtype, f64 ? ISO_F64 : ISO_F32);
            visit(&convert, context);
        }
    }
}
