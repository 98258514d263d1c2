/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes: their arguments, cost and name in traces. */
#include "core/op.h"

#include <stdbool.h>
#include <stdio.h>

static iso_status check_values(const char *call, const iso_transpose_args *args)
{
    int64_t size = args->element_bytes;

    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
        return core_fail(ISO_INVALID, "%s: element_bytes is %lld: use 1, 2, 4, 8 or 16", call,
                         (long long)size);
    }
    return core_check_matrix(call, args->rows, args->cols, args->variant);
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_transpose_op *op = &out->args.transpose;
    core_layout *from, *to;
    iso_transpose_args args;
    iso_status status;

    status = core_struct_read(call, "args", given, offsetof(iso_transpose_args, from), &args,
                              sizeof args);
    if (!status) {
        status = check_values(call, &args);
    }
    if (status) {
        return status;
    }
    *op = (iso_transpose_op){
        .variant = args.variant,
        .element_bytes = args.element_bytes,
        .rows = args.rows,
        .cols = args.cols,
        .ld_from = args.ld_from,
        .ld_to = args.ld_to,
    };
    out->empty = op->rows && op->cols ? CORE_NOT_EMPTY : CORE_NOTHING;
    from = core_op_use(out, "from", args.from, &op->from, op->element_bytes, false);
    to = core_op_use(out, "to", args.to, &op->to, op->element_bytes, true);
    status = core_check_ld(call, "ld_from", "from", op->cols, &op->ld_from);
    if (!status) {
        status = core_check_ld(call, "ld_to", "to", op->rows, &op->ld_to);
    }
    if (!status) {
        status = core_matrix_layout(call, "from", op->rows, op->cols, op->ld_from, 1, 0,
                                    op->element_bytes, from);
    }
    if (!status) {
        status = core_matrix_layout(call, "to", op->cols, op->rows, op->ld_to, 1, 0,
                                    op->element_bytes, to);
    }
    if (status) {
        return status;
    }
    out->in_place = args.from.buffer.id == args.to.buffer.id &&
                    args.from.offset == args.to.offset && op->ld_from == op->ld_to &&
                    op->rows == op->cols;
    /* A matrix of one row needs no leading dimension. It is set to the row length, so that the
     * caller's value makes no difference to a backend. */
    if (op->rows <= 1) {
        op->ld_from = op->cols > 0 ? op->cols : 1;
    }
    if (op->cols <= 1) {
        op->ld_to = op->rows > 0 ? op->rows : 1;
    }
    return ISO_OK;
}

static void cost(core_op *out)
{
    const iso_transpose_op *op = &out->args.transpose;
    double moved = (double)op->rows * (double)op->cols * (double)op->element_bytes;

    out->cost.bytes_read = moved;
    out->cost.bytes_written = moved;
}

static void shrink(core_op *out)
{
    iso_transpose_op *op = &out->args.transpose;

    op->rows = op->cols = 1;
    op->ld_from = op->ld_to = 1;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_transpose_op *op = &out->args.transpose;

    snprintf(name, room, "transpose %s %lld-byte %lldx%lld", variant, (long long)op->element_bytes,
             (long long)op->rows, (long long)op->cols);
}

const core_operation core_transpose = {
    .name = "transpose",
    .plural = "transposes",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR,
    /* A vendor's transpose multiplies by a factor alpha, which may change the bits of an element.
     * auto therefore tries it last. */
    .order = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE, ISO_VARIANT_VENDOR},
    .args_size = (uint32_t)sizeof(iso_transpose_op),
    .variant_at = (uint32_t)offsetof(iso_transpose_op, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .trace = trace,
};

iso_status iso_transpose(iso_stream stream, const iso_transpose_args *args)
{
    return core_op_execute("iso_transpose", stream, ISO_OP_TRANSPOSE, args);
}
