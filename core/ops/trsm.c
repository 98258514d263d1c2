/* SPDX-License-Identifier: Apache-2.0 */
/* trsm.c - the triangular solve: its arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/compose/compose.h"

#include <stdio.h>

static iso_status check_enumerators(const char *call, const iso_trsm_args *args)
{
    iso_status status = core_check_solvable(call, args->dtype, "triangular solves take");

    if (status) {
        return status;
    }
    if (!iso_side_name(args->side)) {
        return core_fail(ISO_INVALID, "%s: side is %d: use ISO_LEFT (0) or ISO_RIGHT (1)", call,
                         (int)args->side);
    }
    if (!iso_triangle_name(args->triangle)) {
        return core_fail(ISO_INVALID, "%s: triangle is %d: use ISO_LOWER (1) or ISO_UPPER (2)",
                         call, (int)args->triangle);
    }
    if (!iso_trans_name(args->trans)) {
        return core_fail(ISO_INVALID,
                         "%s: trans is %d: use ISO_NO_TRANS (0), ISO_TRANS (1) or ISO_CONJ_TRANS "
                         "(2)",
                         call, (int)args->trans);
    }
    if (args->unit_diagonal != 0 && args->unit_diagonal != 1) {
        return core_fail(ISO_INVALID,
                         "%s: unit_diagonal is %d: use 0, or 1 if the diagonal counts as ones",
                         call, args->unit_diagonal);
    }
    status = core_check_order(call, args->order);
    if (!status) {
        status = core_check_imag(call, "alpha_imag", args->dtype, args->alpha_imag);
    }
    return status ? status : core_check_reserved(call, "args", args->reserved);
}

static iso_status check(const char *call, const iso_trsm_args *args)
{
    const bool batched = args->batch > 1;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"m", args->m},
        {"n", args->n},
        {"batch", args->batch},
        {"stride_a", batched ? args->stride_a : 0},
        {"stride_b", batched ? args->stride_b : 0},
    };
    iso_status status = check_enumerators(call, args);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !status; i++) {
        status = core_check_size(call, sizes[i].name, sizes[i].value);
    }
    return status ? status : core_check_how(call, args->variant, args->keep, args->library);
}

/* Checks the leading dimensions, and sets the layouts of the operands that are accessed. `op` is
 * row-major, the words of messages are the caller's. */
static iso_status check_layout(const char *call, const iso_trsm_args *args, core_op *out)
{
    iso_trsm_op *op = &out->args.trsm;
    const int64_t size = op->side == ISO_LEFT ? op->m : op->n;
    const int64_t element = iso_dtype_size(op->dtype), unit = core_unit_of(op->dtype);
    core_layout *a = core_op_use(out, "a", args->a, &op->a, unit, false);
    core_layout *b = core_op_use(out, "b", args->b, &op->b, unit, true);
    iso_status status = core_check_line(call, "lda", "A", args->order, size, &op->lda);

    if (!status) {
        status = core_check_line(call, "ldb", "B", args->order, op->n, &op->ldb);
    }
    if (!status && !out->empty && out->reads_a) {
        status =
            core_matrix_layout(call, "A", size, size, op->lda, op->batch, op->stride_a, element, a);
    }
    if (!status && !out->empty) {
        status = core_matrix_layout(call, "B", op->m, op->n, op->ldb, op->batch, op->stride_b,
                                    element, b);
    }
    if (!status && core_layout_meets_itself(b) != CORE_APART) {
        status = core_fail(ISO_INVALID,
                           "%s: stride_b is %lld, but one B has %lld lines of %lld elements, ldb "
                           "%lld: matrices of the batch overlap: use a larger stride",
                           call, (long long)op->stride_b, (long long)op->m, (long long)op->n,
                           (long long)op->ldb);
    }
    if (size <= 1) {
        op->lda = 1;
    }
    if (op->m <= 1) {
        op->ldb = op->n > 0 ? op->n : 1;
    }
    return status;
}

static iso_trsm_op row_major(const iso_trsm_args *args)
{
    const bool column = args->order == ISO_COLUMN_MAJOR, device = args->alpha_at.buffer.id != 0;

    return (iso_trsm_op){
        .dtype = args->dtype,
        .variant = args->variant,
        .side = (args->side == ISO_LEFT) != column ? ISO_LEFT : ISO_RIGHT,
        .triangle = (args->triangle == ISO_LOWER) != column ? ISO_LOWER : ISO_UPPER,
        .trans = args->trans == ISO_CONJ_TRANS && !dtype_get(args->dtype)->complex ? ISO_TRANS
                                                                                   : args->trans,
        .unit = args->unit_diagonal,
        .library = args->library,
        .m = column ? args->n : args->m,
        .n = column ? args->m : args->n,
        .alpha = device ? 1 : core_round_factor(args->dtype, args->alpha),
        .alpha_imag = device ? 0 : core_round_factor(args->dtype, args->alpha_imag),
        .lda = args->lda,
        .ldb = args->ldb,
        .batch = args->batch ? args->batch : 1,
        .stride_a = args->batch > 1 ? args->stride_a : 0,
        .stride_b = args->batch > 1 ? args->stride_b : 0,
    };
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_trsm_op *op = &out->args.trsm;
    iso_trsm_args args;
    iso_status status =
        core_struct_read(call, "args", given, CORE_END_OF(iso_trsm_args, ldb), &args, sizeof args);

    if (!status) {
        status = check(call, &args);
    }
    if (status) {
        return status;
    }
    *op = row_major(&args);
    out->empty = op->m && op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    out->reads_a = !core_is_zero(op->alpha) || !core_is_zero(op->alpha_imag);
    out->keep = args.keep;
    out->library = args.library;
    out->unmeasured = true;
    status = check_layout(call, &args, out);
    return status ? status
                  : core_read_factors(call, out, args.alpha_at, (iso_operand){0}, args.factor_dtype,
                                      args.dtype);
}

static void cost(core_op *out)
{
    const iso_trsm_op *op = &out->args.trsm;
    const double batch = (double)op->batch, element = (double)iso_dtype_size(op->dtype);
    const double size = (double)(op->side == ISO_LEFT ? op->m : op->n);
    const double b = (double)op->m * (double)op->n * batch;
    const double a = size * (size + 1) / 2 * (op->stride_a || op->batch == 1 ? batch : 1.0);

    if (out->empty) {
        return;
    }
    out->cost.flops = out->reads_a ? (dtype_get(op->dtype)->complex ? 4.0 : 1.0) * b * size : 0.0;
    out->cost.bytes_read = out->reads_a ? (a + b) * element : 0.0;
    out->cost.bytes_written = b * element;
}

static void shrink(core_op *out)
{
    iso_trsm_op *op = &out->args.trsm;

    op->m = op->n = op->batch = 1;
    op->lda = op->ldb = 1;
    op->stride_a = op->stride_b = 0;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_trsm_op *op = &out->args.trsm;

    snprintf(name, room, "trsm %s %s %s %s %s%s %lldx%lld batch %lld", variant,
             iso_dtype_name(op->dtype), iso_side_name(op->side), iso_triangle_name(op->triangle),
             iso_trans_name(op->trans), op->unit ? " unit" : "", (long long)op->m, (long long)op->n,
             (long long)op->batch);
}

const core_operation core_trsm = {
    .name = "trsm",
    .plural = "triangular solves",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR,
    .keeps = true,
    .order = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .abi_minor = 13,
    .args_size = (uint32_t)sizeof(iso_trsm_op),
    .variant_at = (uint32_t)offsetof(iso_trsm_op, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .composed = core_trsm_composed,
    .compose = core_trsm_compose,
    .trace = trace,
};

iso_status iso_trsm(iso_stream stream, const iso_trsm_args *args)
{
    return core_op_execute("iso_trsm", stream, ISO_OP_TRSM, args);
}
