/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.c - the product of a matrix and a vector: its arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/compose/compose.h"

#include <stdbool.h>
#include <stdio.h>

static iso_status check_enumerators(const char *call, const iso_gemv_args *args)
{
    iso_status status = core_check_dtype(call, args->dtype);

    if (!status && !dtype_get(args->dtype)->floating) {
        status = core_fail(ISO_INVALID, "%s: dtype is %s: products take floating-point types", call,
                           iso_dtype_name(args->dtype));
    }
    if (!status && !iso_trans_name(args->trans)) {
        status = core_fail(ISO_INVALID,
                           "%s: trans is %d: use ISO_NO_TRANS (0), ISO_TRANS (1) or "
                           "ISO_CONJ_TRANS (2)",
                           call, (int)args->trans);
    }
    if (!status) {
        status = core_check_order(call, args->order);
    }
    return status ? status : core_check_how(call, args->variant, args->keep, args->library);
}

static iso_status check_sizes(const char *call, const iso_gemv_args *args)
{
    bool batched = args->batch > 1;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"m", args->m},
        {"k", args->k},
        {"batch", args->batch},
        {"inc_x", args->inc_x},
        {"inc_y", args->inc_y},
        {"stride_a", batched ? args->stride_a : 0},
        {"stride_x", batched ? args->stride_x : 0},
        {"stride_y", batched ? args->stride_y : 0},
    };
    iso_status status = ISO_OK;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !status; i++) {
        status = core_check_size(call, sizes[i].name, sizes[i].value);
    }
    return status;
}

/* The vectors y of a batch must not overlap each other. */
static iso_status check_members(const char *call, const iso_gemv_op *op, const core_layout *y)
{
    if (core_layout_meets_itself(y) == CORE_APART) {
        return ISO_OK;
    }
    return core_fail(
        ISO_INVALID,
        "%s: stride_y is %lld, but one y has %lld elements, inc_y %lld: members of the batch "
        "overlap: use a stride of at least %lld elements, or one that interleaves them",
        call, (long long)op->stride_y, (long long)op->m, (long long)op->inc_y,
        (long long)((op->m - 1) * op->inc_y + 1));
}

/* Checks the leading dimension, and sets the layouts of the operands that are accessed. */
static iso_status check_layout(const char *call, const iso_gemv_args *args, core_op *out)
{
    iso_gemv_op *op = &out->args.gemv;
    bool trans = op->trans == ISO_TRANS;
    int64_t rows = trans ? args->k : args->m, cols = trans ? args->m : args->k;
    int64_t element = iso_dtype_size(op->dtype);
    core_layout *a = core_op_use(out, "a", args->a, &op->a, element, false);
    core_layout *x = core_op_use(out, "x", args->x, &op->x, element, false);
    core_layout *y = core_op_use(out, "y", args->y, &op->y, element, true);
    iso_status status = core_check_line(call, "lda", "A", args->order, cols, &op->lda);

    if (!status && !out->empty && op->k) {
        status =
            core_matrix_layout(call, "A", rows, cols, op->lda, op->batch, op->stride_a, element, a);
        if (!status) {
            status = core_matrix_layout(call, "x", args->k, 1, op->inc_x, op->batch, op->stride_x,
                                        element, x);
        }
    }
    if (!status && !out->empty) {
        status = core_matrix_layout(call, "y", args->m, 1, op->inc_y, op->batch, op->stride_y,
                                    element, y);
        if (!status) {
            status = check_members(call, op, y);
        }
    }
    /* A matrix of one row needs no leading dimension, and a vector of one element no increment.
     * They are set to the row length and to 1, so that the caller's values make no difference to a
     * backend. */
    if (rows <= 1) {
        op->lda = cols > 0 ? cols : 1;
    }
    if (args->k <= 1) {
        op->inc_x = 1;
    }
    if (args->m <= 1) {
        op->inc_y = 1;
    }
    return status;
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_gemv_op *op = &out->args.gemv;
    iso_gemv_args args;
    iso_status status;

    status =
        core_struct_read(call, "args", given, CORE_END_OF(iso_gemv_args, keep), &args, sizeof args);
    if (!status) {
        status = check_enumerators(call, &args);
    }
    if (!status) {
        status = check_sizes(call, &args);
    }
    if (status) {
        return status;
    }
    *op = (iso_gemv_op){
        .dtype = args.dtype,
        .variant = args.variant,
        .trans = (args.trans != ISO_NO_TRANS) != (args.order == ISO_COLUMN_MAJOR) ? ISO_TRANS
                                                                                  : ISO_NO_TRANS,
        .library = args.library,
        .m = args.m,
        .k = args.k,
        .alpha = args.alpha_at.buffer.id ? 1 : core_round_factor(args.dtype, args.alpha),
        .beta = args.beta_at.buffer.id ? 1 : core_round_factor(args.dtype, args.beta),
        .lda = args.lda,
        .inc_x = args.inc_x ? args.inc_x : 1,
        .inc_y = args.inc_y ? args.inc_y : 1,
        .batch = args.batch ? args.batch : 1,
        .stride_a = args.batch > 1 ? args.stride_a : 0,
        .stride_x = args.batch > 1 ? args.stride_x : 0,
        .stride_y = args.batch > 1 ? args.stride_y : 0,
    };
    out->summed = &op->k;
    out->summed_given = op->k;
    if (core_is_zero(op->alpha)) {
        op->k = 0;
    }
    out->keep = args.keep;
    out->empty = op->m ? CORE_NOT_EMPTY : CORE_NOTHING;
    status = check_layout(call, &args, out);
    if (!status) {
        status = core_read_factors(call, out, args.alpha_at, args.beta_at, args.factor_dtype,
                                   args.dtype);
    }
    if (out->factors.alpha || out->factors.beta) {
        out->unmeasured = true;
        if (dtype_get(op->dtype)->bytes == 2) {
            out->not_fixed = "and a factor is on the device: fixed products of f16 and bf16 take "
                             "factors of the host: use naive or tiled";
        }
    }
    return status;
}

static void cost(core_op *out)
{
    const iso_gemv_op *op = &out->args.gemv;
    double batch = (double)op->batch, element = (double)iso_dtype_size(op->dtype);
    double m = (double)op->m, k = (double)op->k;
    double a = m * k * (op->stride_a || op->batch == 1 ? batch : 1.0);
    double x = k * (op->stride_x || op->batch == 1 ? batch : 1.0);
    double y = m * batch;

    if (out->empty) {
        return;
    }
    if (core_use_is_same(&out->uses[0], &out->uses[1])) {
        a = a > x ? a : x;
        x = 0.0;
    }
    out->cost.flops = 2.0 * m * k * batch;
    out->cost.bytes_read = (a + x + (core_is_zero(op->beta) ? 0.0 : y)) * element;
    out->cost.bytes_written = y * element;
}

static void shrink(core_op *out)
{
    iso_gemv_op *op = &out->args.gemv;

    op->m = op->k = op->batch = out->summed_given = 1;
    op->lda = op->inc_x = op->inc_y = 1;
    op->stride_a = op->stride_x = op->stride_y = 0;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_gemv_op *op = &out->args.gemv;

    snprintf(name, room, "gemv %s %s %s %lldx%lld batch %lld", variant, iso_dtype_name(op->dtype),
             iso_trans_name(op->trans), (long long)op->m, (long long)op->k, (long long)op->batch);
}

static void measured(const core_op *out, tuned_shape *shape, int32_t *library)
{
    const iso_gemv_op *op = &out->args.gemv;

    *library = op->library;
    *shape = (tuned_shape){.op = ISO_OP_GEMV,
                           .dtype = op->dtype,
                           .layout = op->trans == ISO_TRANS ? 2 : 0,
                           .sizes = {op->m, 1, out->summed_given, op->batch}};
}

const core_operation core_gemv = {
    .name = "gemv",
    .plural = "products with a vector",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR | CORE_FIXED,
    .keeps = true,
    .order = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .abi_minor = 4,
    .args_size = (uint32_t)sizeof(iso_gemv_op),
    .variant_at = (uint32_t)offsetof(iso_gemv_op, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .composed = core_gemv_composed,
    .compose = core_gemv_compose,
    .trace = trace,
    .measured = measured,
};

iso_status iso_gemv(iso_stream stream, const iso_gemv_args *args)
{
    return core_op_execute("iso_gemv", stream, ISO_OP_GEMV, args);
}
