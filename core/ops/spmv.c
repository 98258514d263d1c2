/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - the product of a sparse matrix and a vector: its arguments, cost and name in traces. */
#include "core/op.h"

#include <stdio.h>

static iso_status check_enumerators(const char *call, const iso_spmv_args *args)
{
    iso_status status = core_check_reserved(call, "args", args->reserved);

    if (!status) {
        status = core_check_variant(call, args->variant);
    }
    if (!status && args->trans != ISO_NO_TRANS && args->trans != ISO_TRANS) {
        status = core_fail(ISO_INVALID, "%s: trans is %d: use ISO_NO_TRANS (0) or ISO_TRANS (1)",
                           call, (int)args->trans);
    }
    if (!status) {
        status = core_check_keep(call, args->keep, args->variant);
    }
    if (!status && args->library < 0) {
        status = core_fail(ISO_INVALID,
                           "%s: args->library is %d: use 0 for the device's first vendor library, "
                           "1 for the next",
                           call, args->library);
    }
    return status;
}

static iso_status find_matrix(const char *call, const iso_spmv_args *args, core_op *out)
{
    iso_status status =
        core_handle_acquire(call, "matrix", args->matrix.id, CORE_SPARSE, &out->matrix);

    if (!status && args->trans == ISO_TRANS && !out->matrix->places) {
        status = core_fail(ISO_INVALID,
                           "%s: trans is ISO_TRANS, but the matrix was made with "
                           "ISO_SPARSE_NO_TRANSPOSE: make it without that flag",
                           call);
    }
    return status;
}

/* Sets the layouts of the vectors that are accessed. */
static void set_vectors(const iso_spmv_args *args, core_op *out)
{
    iso_spmv_op *op = &out->args.spmv;
    const int64_t element = iso_dtype_size(op->dtype);
    core_layout *x = core_op_use(out, "x", args->x, &op->x, element, false);
    core_layout *y = core_op_use(out, "y", args->y, &op->y, element, true);

    /* The sizes of a matrix fit 64 bits in bytes. */
    if (op->entries) {
        *x = core_run(op->cols * element);
    }
    *y = core_run(op->rows * element);
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_spmv_op *op = &out->args.spmv;
    const core_sparse_side *side;
    iso_spmv_args args;
    iso_status status;

    status =
        core_struct_read(call, "args", given, CORE_END_OF(iso_spmv_args, y), &args, sizeof args);
    if (!status) {
        status = check_enumerators(call, &args);
    }
    if (!status) {
        status = find_matrix(call, &args, out);
    }
    if (status) {
        return status;
    }
    out->transposed = args.trans == ISO_TRANS;
    side = &out->matrix->side[out->transposed];
    *op = (iso_spmv_op){
        .dtype = out->matrix->dtype,
        .index = out->matrix->index,
        .variant = args.variant,
        .library = args.library,
        .rows = side->rows,
        .cols = side->cols,
        .entries = out->matrix->entries,
        .narrow = side->narrow.memory != NULL,
        .longest = side->longest,
        .segments = side->segments,
        .alpha = core_round_factor(out->matrix->dtype, args.alpha),
        .beta = core_round_factor(out->matrix->dtype, args.beta),
    };
    out->summed = &op->entries;
    out->summed_given = op->entries;
    if (core_is_zero(op->alpha)) {
        op->entries = op->longest = 0;
        op->segments = op->rows;
    }
    out->keep = args.keep;
    out->empty = op->rows ? CORE_NOT_EMPTY : CORE_NOTHING;
    set_vectors(&args, out);
    return ISO_OK;
}

static void attach(core_op *out)
{
    iso_spmv_op *op = &out->args.spmv;
    const core_sparse_side *side = &out->matrix->side[out->transposed];

    if (op->entries && !out->empty) {
        op->offsets.memory = side->offsets.memory;
        op->columns.memory = side->columns.memory;
        op->values.memory = side->values.memory;
        op->starts.memory = side->starts.memory;
        op->narrow_columns.memory = side->narrow.memory;
    }
}

static void cost(core_op *out)
{
    const iso_spmv_op *op = &out->args.spmv;
    const double element = (double)iso_dtype_size(op->dtype);
    const double number = (double)iso_dtype_size(op->index);
    const double column = op->narrow ? (double)sizeof(uint16_t) : number;
    const double entries = (double)op->entries, rows = (double)op->rows;

    if (out->empty) {
        return;
    }
    out->cost.flops = 2.0 * entries;
    if (op->entries) {
        out->cost.bytes_read =
            entries * (element + column) + (rows + 1.0) * number + (double)op->cols * element;
    }
    out->cost.bytes_read += core_is_zero(op->beta) ? 0.0 : rows * element;
    out->cost.bytes_written = rows * element;
}

static void shrink(core_op *out)
{
    iso_spmv_op *op = &out->args.spmv;

    op->rows = op->cols = op->entries = op->longest = op->segments = out->summed_given = 1;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_spmv_op *op = &out->args.spmv;

    snprintf(name, room, "spmv %s %s %s %lldx%lld entries %lld", variant, iso_dtype_name(op->dtype),
             iso_trans_name(out->transposed ? ISO_TRANS : ISO_NO_TRANS), (long long)op->rows,
             (long long)op->cols, (long long)op->entries);
}

const core_operation core_spmv = {
    .name = "spmv",
    .plural = "products of sparse matrices",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR,
    .keeps = true,
    .order = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .abi_minor = 9,
    .args_size = (uint32_t)sizeof(iso_spmv_op),
    .variant_at = (uint32_t)offsetof(iso_spmv_op, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .trace = trace,
    .attach = attach,
};

iso_status iso_spmv(iso_stream stream, const iso_spmv_args *args)
{
    return core_op_execute("iso_spmv", stream, ISO_OP_SPMV, args);
}
