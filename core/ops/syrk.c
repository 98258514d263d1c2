/* SPDX-License-Identifier: Apache-2.0 */
/* syrk.c - the symmetric product: its arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/compose/compose.h"

#include <stdio.h>

static iso_status check_enumerators(const char *call, const iso_syrk_args *args)
{
    iso_status status = core_check_solvable(call, args->dtype, "symmetric products take");

    if (status) {
        return status;
    }
    if (!iso_triangle_name(args->triangle)) {
        return core_fail(ISO_INVALID, "%s: triangle is %d: use ISO_LOWER (1) or ISO_UPPER (2)",
                         call, (int)args->triangle);
    }
    if (args->trans != ISO_NO_TRANS && args->trans != ISO_TRANS) {
        return core_fail(ISO_INVALID,
                         "%s: trans is %d: use ISO_NO_TRANS (0) or ISO_TRANS (1): the product is "
                         "symmetric, so nothing is conjugated",
                         call, (int)args->trans);
    }
    status = core_check_order(call, args->order);
    if (!status) {
        status = core_check_imag(call, "alpha_imag", args->dtype, args->alpha_imag);
    }
    if (!status) {
        status = core_check_imag(call, "beta_imag", args->dtype, args->beta_imag);
    }
    return status ? status : core_check_reserved(call, "args", args->reserved);
}

static iso_status check(const char *call, const iso_syrk_args *args)
{
    const bool batched = args->batch > 1;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"n", args->n},
        {"k", args->k},
        {"batch", args->batch},
        {"stride_a", batched ? args->stride_a : 0},
        {"stride_c", batched ? args->stride_c : 0},
    };
    iso_status status = check_enumerators(call, args);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !status; i++) {
        status = core_check_size(call, sizes[i].name, sizes[i].value);
    }
    return status ? status : core_check_how(call, args->variant, args->keep, args->library);
}

/* Checks the leading dimensions, and sets the layouts of the operands that are accessed. All of C
 * counts as accessed, though only a triangle is. */
static iso_status check_layout(const char *call, const iso_syrk_args *args, core_op *out)
{
    iso_syrk_op *op = &out->args.syrk;
    const bool turned = op->trans == ISO_TRANS;
    const int64_t rows = turned ? args->k : args->n, cols = turned ? args->n : args->k;
    const int64_t element = iso_dtype_size(op->dtype), unit = core_unit_of(op->dtype);
    core_layout *a = core_op_use(out, "a", args->a, &op->a, unit, false);
    core_layout *c = core_op_use(out, "c", args->c, &op->c, unit, true);
    iso_status status = core_check_line(call, "lda", "A", args->order, cols, &op->lda);

    if (!status) {
        status = core_check_line(call, "ldc", "C", args->order, args->n, &op->ldc);
    }
    if (!status && !out->empty && op->k) {
        status =
            core_matrix_layout(call, "A", rows, cols, op->lda, op->batch, op->stride_a, element, a);
    }
    if (!status && !out->empty) {
        status = core_matrix_layout(call, "C", args->n, args->n, op->ldc, op->batch, op->stride_c,
                                    element, c);
    }
    if (!status && core_layout_meets_itself(c) != CORE_APART) {
        status = core_fail(ISO_INVALID,
                           "%s: stride_c is %lld, but one C has %lld lines, ldc %lld: matrices of "
                           "the batch overlap: use a larger stride",
                           call, (long long)op->stride_c, (long long)op->n, (long long)op->ldc);
    }
    if (rows <= 1) {
        op->lda = cols > 0 ? cols : 1;
    }
    if (args->n <= 1) {
        op->ldc = 1;
    }
    return status;
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_syrk_op *op = &out->args.syrk;
    iso_syrk_args args;
    bool turned, device_alpha, device_beta;
    iso_status status =
        core_struct_read(call, "args", given, CORE_END_OF(iso_syrk_args, ldc), &args, sizeof args);

    if (!status) {
        status = check(call, &args);
    }
    if (status) {
        return status;
    }
    turned = (args.trans == ISO_TRANS) != (args.order == ISO_COLUMN_MAJOR);
    device_alpha = args.alpha_at.buffer.id != 0;
    device_beta = args.beta_at.buffer.id != 0;
    *op = (iso_syrk_op){
        .dtype = args.dtype,
        .variant = args.variant,
        .triangle = args.order == ISO_ROW_MAJOR  ? args.triangle
                    : args.triangle == ISO_LOWER ? ISO_UPPER
                                                 : ISO_LOWER,
        .trans = turned ? ISO_TRANS : ISO_NO_TRANS,
        .library = args.library,
        .n = args.n,
        .k = args.k,
        .alpha = device_alpha ? 1 : core_round_factor(args.dtype, args.alpha),
        .alpha_imag = device_alpha ? 0 : core_round_factor(args.dtype, args.alpha_imag),
        .beta = device_beta ? 1 : core_round_factor(args.dtype, args.beta),
        .beta_imag = device_beta ? 0 : core_round_factor(args.dtype, args.beta_imag),
        .lda = args.lda,
        .ldc = args.ldc,
        .batch = args.batch ? args.batch : 1,
        .stride_a = args.batch > 1 ? args.stride_a : 0,
        .stride_c = args.batch > 1 ? args.stride_c : 0,
    };
    out->summed = &op->k;
    out->summed_given = op->k;
    if (core_is_zero(op->alpha) && core_is_zero(op->alpha_imag)) {
        op->k = 0;
    }
    out->empty = op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    out->keep = args.keep;
    out->library = args.library;
    out->unmeasured = true;
    status = check_layout(call, &args, out);
    return status ? status
                  : core_read_factors(call, out, args.alpha_at, args.beta_at, args.factor_dtype,
                                      args.dtype);
}

static void cost(core_op *out)
{
    const iso_syrk_op *op = &out->args.syrk;
    const double batch = (double)op->batch, element = (double)iso_dtype_size(op->dtype);
    const double n = (double)op->n, k = (double)op->k, c = n * (n + 1) / 2 * batch;
    const bool reads_c = !core_is_zero(op->beta) || !core_is_zero(op->beta_imag);

    if (out->empty) {
        return;
    }
    out->cost.flops = (dtype_get(op->dtype)->complex ? 8.0 : 2.0) * c * k;
    out->cost.bytes_read =
        (n * k * (op->stride_a || op->batch == 1 ? batch : 1.0) + (reads_c ? c : 0.0)) * element;
    out->cost.bytes_written = c * element;
}

static void shrink(core_op *out)
{
    iso_syrk_op *op = &out->args.syrk;

    op->n = op->k = op->batch = out->summed_given = 1;
    op->lda = op->ldc = 1;
    op->stride_a = op->stride_c = 0;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_syrk_op *op = &out->args.syrk;

    snprintf(name, room, "syrk %s %s %s %s %lldx%lld batch %lld", variant,
             iso_dtype_name(op->dtype), iso_triangle_name(op->triangle), iso_trans_name(op->trans),
             (long long)op->n, (long long)op->k, (long long)op->batch);
}

const core_operation core_syrk = {
    .name = "syrk",
    .plural = "symmetric products",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR,
    .keeps = true,
    .order = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .abi_minor = 13,
    .args_size = (uint32_t)sizeof(iso_syrk_op),
    .variant_at = (uint32_t)offsetof(iso_syrk_op, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .composed = core_syrk_composed,
    .compose = core_syrk_compose,
    .trace = trace,
};

iso_status iso_syrk(iso_stream stream, const iso_syrk_args *args)
{
    return core_op_execute("iso_syrk", stream, ISO_OP_SYRK, args);
}
