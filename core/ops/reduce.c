/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reductions: their arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/compose/compose.h"

#include <stdbool.h>
#include <stdio.h>

static iso_status result_of(const char *call, iso_reduce_op op, iso_dtype dtype, iso_dtype *result)
{
    const dtype_row *row = dtype_get(dtype);
    iso_status status = core_check_plain(call, dtype, "reductions take");

    if (status) {
        return status;
    }
    if (!iso_reduce_op_name(op)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %d, which is not a reduction: use ISO_SUM (1) to "
                         "ISO_ARGAMAX (13)",
                         call, (int)op);
    }
    if (op == ISO_NORM2 && !row->floating) {
        return core_fail(ISO_INVALID,
                         "%s: op is norm2, but dtype is %s: 2-norms take floating-point types",
                         call, iso_dtype_name(dtype));
    }
    if (op == ISO_XOR && row->floating) {
        return core_fail(ISO_INVALID, "%s: op is xor, but dtype is %s: xor takes integers", call,
                         iso_dtype_name(dtype));
    }
    if ((op == ISO_AMAX || op == ISO_ARGAMAX) && !row->floating) {
        return core_fail(ISO_INVALID,
                         "%s: op is %s, but dtype is %s: it takes floating-point types", call,
                         iso_reduce_op_name(op), iso_dtype_name(dtype));
    }
    *result = op == ISO_ARGMIN || op == ISO_ARGMAX || op == ISO_ARGAMAX ? ISO_I64
              : op == ISO_MEAN && !row->floating                        ? ISO_F64
                                                                        : dtype;
    return ISO_OK;
}

iso_status iso_reduce_result(iso_reduce_op op, iso_dtype dtype, iso_dtype *result)
{
    const char *call = "iso_reduce_result";
    iso_status status = core_check_out(call, "result", result);

    return status ? status : result_of(call, op, dtype, result);
}

static int64_t results_of(const iso_reduce_op_args *op)
{
    return op->axis == ISO_AXIS_0 ? op->cols : op->axis == ISO_AXIS_1 ? op->rows : 1;
}

/* A result over no elements is the neutral element. A mean and an extreme have none. */
static iso_status check_empty(const char *call, const iso_reduce_args *args, core_op *out)
{
    const iso_reduce_op_args *op = &out->args.reduce;

    if (args->rows && args->cols) {
        return ISO_OK;
    }
    if (!results_of(op)) {
        out->empty = CORE_NOTHING;
        return ISO_OK;
    }
    out->empty = CORE_NEUTRAL;
    if (op->op == ISO_MIN || op->op == ISO_MAX || op->op == ISO_ARGMIN || op->op == ISO_ARGMAX ||
        op->op == ISO_AMAX || op->op == ISO_ARGAMAX || op->op == ISO_MEAN) {
        return core_fail(ISO_INVALID,
                         "%s: rows is %lld and cols %lld: %s over no elements has no result", call,
                         (long long)args->rows, (long long)args->cols, iso_reduce_op_name(op->op));
    }
    if (op->op == ISO_PRODUCT) {
        out->neutral = dtype_get(op->result_dtype)->one;
    }
    return ISO_OK;
}

/* For axis all: treats the whole array as one row. */
static iso_status fold(const char *call, const iso_reduce_args *args, iso_reduce_op_args *op)
{
    int64_t count;

    if (__builtin_mul_overflow(op->rows, op->cols, &count)) {
        return core_fail(ISO_INVALID,
                         "%s: rows is %lld and cols %lld: their product does not fit 64 bits", call,
                         (long long)op->rows, (long long)op->cols);
    }
    if (op->rows > 1 && op->cols && op->ld_x != op->cols) {
        return core_fail(ISO_INVALID,
                         "%s: ld_x is %lld, but rows hold %lld elements: for axis all there must "
                         "be no gaps between rows",
                         call, (long long)args->ld_x, (long long)op->cols);
    }
    if (op->op == ISO_DOT && op->rows > 1 && op->cols && op->ld_y != op->cols) {
        return core_fail(ISO_INVALID,
                         "%s: ld_y is %lld, but rows hold %lld elements: for axis all there must "
                         "be no gaps between rows",
                         call, (long long)args->ld_y, (long long)op->cols);
    }
    op->rows = 1;
    op->cols = count;
    op->ld_x = op->ld_y = count > 0 ? count : 1;
    return ISO_OK;
}

static iso_status check_values(const char *call, const iso_reduce_args *args, iso_dtype *result)
{
    iso_status status = result_of(call, args->op, args->dtype, result);

    if (status) {
        return status;
    }
    if (!iso_axis_name(args->axis)) {
        return core_fail(ISO_INVALID,
                         "%s: axis is %d: use ISO_AXIS_ALL (0), ISO_AXIS_0 (1) or ISO_AXIS_1 (2)",
                         call, (int)args->axis);
    }
    status = core_check_size(call, "inc_result", args->inc_result);
    return status ? status : core_check_matrix(call, args->rows, args->cols, args->variant);
}

static iso_status check_layout(const char *call, const iso_reduce_args *args, core_op *out)
{
    iso_reduce_op_args *op = &out->args.reduce;
    int64_t element = iso_dtype_size(op->dtype), result = iso_dtype_size(op->result_dtype);
    bool dot = op->op == ISO_DOT;
    core_layout *x = core_op_use(out, "x", args->x, &op->x, element, false);
    core_layout *y = dot ? core_op_use(out, "y", args->y, &op->y, element, false) : NULL;
    core_layout *results = core_op_use(out, "result", args->result, &op->result, result, true);
    iso_status status;

    status = core_check_ld(call, "ld_x", "x", op->cols, &op->ld_x);
    if (!status && dot) {
        status = core_check_ld(call, "ld_y", "y", op->cols, &op->ld_y);
    }
    if (!status && op->axis == ISO_AXIS_ALL) {
        status = fold(call, args, op);
    }
    if (!status) {
        status = core_matrix_layout(call, "x", op->rows, op->cols, op->ld_x, 1, 0, element, x);
    }
    if (!status && dot) {
        status = core_matrix_layout(call, "y", op->rows, op->cols, op->ld_y, 1, 0, element, y);
    }
    if (status) {
        return status;
    }
    status = check_empty(call, args, out);
    if (!status) {
        int64_t count = results_of(op);

        status =
            out->apart > 1
                ? core_matrix_layout(call, "result", count, 1, out->apart, 1, 0, result, results)
                : core_matrix_layout(call, "result", 1, count, count, 1, 0, result, results);
    }
    if (status) {
        return status;
    }
    /* A matrix of one row needs no leading dimension. ld_x and ld_y are set to the row length, so
     * that the caller's values make no difference to a backend. */
    if (op->rows <= 1) {
        op->ld_x = op->ld_y = op->cols > 0 ? op->cols : 1;
    }
    return ISO_OK;
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_reduce_op_args *op = &out->args.reduce;
    iso_reduce_args args;
    iso_dtype result = (iso_dtype)0;
    iso_status status;

    status =
        core_struct_read(call, "args", given, offsetof(iso_reduce_args, x), &args, sizeof args);
    if (!status) {
        status = check_values(call, &args, &result);
    }
    if (!status) {
        status = core_check_keep(call, args.keep, args.variant);
    }
    if (status) {
        return status;
    }
    *op = (iso_reduce_op_args){
        .op = args.op,
        .dtype = args.dtype,
        .result_dtype = result,
        .variant = args.variant,
        .axis = args.axis,
        .rows = args.rows,
        .cols = args.cols,
        .ld_x = args.ld_x,
        .ld_y = args.op == ISO_DOT ? args.ld_y : 0,
    };
    out->keep = args.keep;
    out->apart = results_of(op) > 1 ? args.inc_result : 1;
    if (out->apart > 1) {
        out->abi_minor = 13;
        out->newer = "reductions whose results are apart";
    } else if (args.op == ISO_XOR) {
        out->abi_minor = 5;
        out->newer = "reduction xor";
    } else if (args.op == ISO_AMAX || args.op == ISO_ARGAMAX) {
        out->abi_minor = 13;
        out->newer = "reductions amax and argamax";
    }
    return check_layout(call, &args, out);
}

static void cost(core_op *out)
{
    const iso_reduce_op_args *op = &out->args.reduce;
    double count = (double)op->rows * (double)op->cols;
    double element = (double)iso_dtype_size(op->dtype);
    bool two = op->op == ISO_DOT && !core_use_is_same(&out->uses[0], &out->uses[1]);

    out->cost.flops = count * (op->op == ISO_DOT || op->op == ISO_NORM2 ? 2.0 : 1.0);
    out->cost.bytes_read = count * element * (two ? 2.0 : 1.0);
    out->cost.bytes_written = (double)results_of(op) * (double)iso_dtype_size(op->result_dtype);
}

static void shrink(core_op *out)
{
    iso_reduce_op_args *op = &out->args.reduce;

    op->rows = op->cols = 1;
    op->ld_x = op->ld_y = 1;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_reduce_op_args *op = &out->args.reduce;

    snprintf(name, room, "%s %s %s axis %s %lldx%lld", iso_reduce_op_name(op->op), variant,
             iso_dtype_name(op->dtype), iso_axis_name(op->axis), (long long)op->rows,
             (long long)op->cols);
}

const core_operation core_reduce = {
    .name = "reduce",
    .plural = "reductions",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR | CORE_PARTIALS,
    .keeps = true,
    /* Measured: tiled is the fastest on GPUs, and on CPUs with several threads. */
    .order = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR, ISO_VARIANT_NAIVE},
    .args_size = (uint32_t)sizeof(iso_reduce_op_args),
    .variant_at = (uint32_t)offsetof(iso_reduce_op_args, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .composed = core_reduce_composed,
    .compose = core_reduce_compose,
    .trace = trace,
};

iso_status iso_reduce(iso_stream stream, const iso_reduce_args *args)
{
    return core_op_execute("iso_reduce", stream, ISO_OP_REDUCE, args);
}
