/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the matrix product: its arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/op.h"

#include <stdbool.h>
#include <stdio.h>

static iso_status check_enumerators(const char *call, const iso_gemm_args *args)
{
    iso_status status = core_check_dtype(call, args->dtype);

    if (status) {
        return status;
    }
    if (!dtype_get(args->dtype)->floating) {
        return core_fail(ISO_INVALID, "%s: dtype is %s: products take floating-point types", call,
                         iso_dtype_name(args->dtype));
    }
    if (!iso_trans_name(args->trans_a)) {
        return core_fail(ISO_INVALID, "%s: trans_a is %d: use ISO_NO_TRANS (0) or ISO_TRANS (1)",
                         call, (int)args->trans_a);
    }
    if (!iso_trans_name(args->trans_b)) {
        return core_fail(ISO_INVALID, "%s: trans_b is %d: use ISO_NO_TRANS (0) or ISO_TRANS (1)",
                         call, (int)args->trans_b);
    }
    if (!iso_math_name(args->math)) {
        return core_fail(ISO_INVALID,
                         "%s: math is %d: use ISO_MATH_DEFAULT (0), ISO_MATH_STRICT (1) or "
                         "ISO_MATH_TF32 (2)",
                         call, (int)args->math);
    }
    return ISO_OK;
}

static iso_status check_continues(const char *call, const iso_gemm_args *args)
{
    const struct {
        const char *name;
        double value;
    } factors[] = {{"alpha", args->alpha}, {"beta", args->beta}};

    if (args->continues != 0 && args->continues != 1) {
        return core_fail(ISO_INVALID,
                         "%s: continues is %d: use 0, or 1 if C holds the total of earlier terms",
                         call, args->continues);
    }
    if (!args->continues) {
        return ISO_OK;
    }
    if (args->dtype != ISO_F32 && args->dtype != ISO_F64) {
        return core_fail(ISO_INVALID,
                         "%s: continues is 1 and dtype is %s, which cannot hold a total: products "
                         "of f32 and f64 can be continued",
                         call, iso_dtype_name(args->dtype));
    }
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (!core_is_one(factors[i].value)) {
            return core_fail(ISO_INVALID,
                             "%s: continues is 1 and %s is %g: alpha and beta must be 1; use a "
                             "call of its own for other factors",
                             call, factors[i].name, factors[i].value);
        }
    }
    return ISO_OK;
}

static iso_status check_sizes(const char *call, const iso_gemm_args *args)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"m", args->m},
        {"n", args->n},
        {"k", args->k},
        {"batch", args->batch},
    };
    iso_status status = ISO_OK;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !status; i++) {
        status = core_check_size(call, sizes[i].name, sizes[i].value);
    }
    if (status || args->batch <= 1) {
        return status;
    }
    status = core_check_size(call, "stride_a", args->stride_a);
    if (!status) {
        status = core_check_size(call, "stride_b", args->stride_b);
    }
    if (!status) {
        status = core_check_size(call, "stride_c", args->stride_c);
    }
    return status;
}

/* Matrices of a batched C must not overlap each other. */
static iso_status check_members(const char *call, const iso_gemm_op *op, const core_layout *c)
{
    core_overlap overlap = core_layout_meets_itself(c);

    if (overlap == CORE_APART) {
        return ISO_OK;
    }
    return core_fail(ISO_INVALID,
                     "%s: stride_c is %lld, but one C has %lld rows of %lld elements, ldc %lld: "
                     "matrices of the batch overlap: use a stride of at least %lld elements, or "
                     "one that places them side by side",
                     call, (long long)op->stride_c, (long long)op->m, (long long)op->n,
                     (long long)op->ldc, (long long)((op->m - 1) * op->ldc + op->n));
}

/* Checks the leading dimensions, and sets the layouts of the operands that are accessed. */
static iso_status check_layout(const char *call, const iso_gemm_args *args, core_op *out)
{
    iso_gemm_op *op = &out->args.gemm;
    bool ta = op->trans_a == ISO_TRANS, tb = op->trans_b == ISO_TRANS;
    int64_t a_rows = ta ? args->k : args->m, a_cols = ta ? args->m : args->k;
    int64_t b_rows = tb ? args->n : args->k, b_cols = tb ? args->k : args->n;
    int64_t element = iso_dtype_size(op->dtype);
    core_layout *a = core_op_use(out, "a", args->a, &op->a, element, false);
    core_layout *b = core_op_use(out, "b", args->b, &op->b, element, false);
    core_layout *c = core_op_use(out, "c", args->c, &op->c, element, true);
    iso_status status;

    status = core_check_ld(call, "lda", "A", a_cols, &op->lda);
    if (!status) {
        status = core_check_ld(call, "ldb", "B", b_cols, &op->ldb);
    }
    if (!status) {
        status = core_check_ld(call, "ldc", "C", args->n, &op->ldc);
    }
    if (!status && !out->empty && op->k) {
        status = core_matrix_layout(call, "A", a_rows, a_cols, op->lda, op->batch, op->stride_a,
                                    element, a);
        if (!status) {
            status = core_matrix_layout(call, "B", b_rows, b_cols, op->ldb, op->batch, op->stride_b,
                                        element, b);
        }
    }
    if (!status && !out->empty) {
        status = core_matrix_layout(call, "C", args->m, args->n, op->ldc, op->batch, op->stride_c,
                                    element, c);
    }
    if (!status) {
        status = check_members(call, op, c);
    }
    if (status) {
        return status;
    }
    /* A matrix of one row needs no leading dimension. It is set to the row length, so that the
     * caller's value makes no difference to a backend. */
    if (a_rows <= 1) {
        op->lda = a_cols > 0 ? a_cols : 1;
    }
    if (b_rows <= 1) {
        op->ldb = b_cols > 0 ? b_cols : 1;
    }
    if (op->m <= 1) {
        op->ldc = op->n > 0 ? op->n : 1;
    }
    return ISO_OK;
}

static void set_continues(core_op *out)
{
    out->abi_minor = 10;
    out->newer = "products that continue a total";
    out->not_fixed =
        "and continues is 1: the sums of fixed have no totals to continue: use naive or tiled";
    if (out->args.gemm.k == 0) { /* the total stays as it is */
        out->empty = CORE_NOTHING;
    }
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_gemm_op *op = &out->args.gemm;
    iso_gemm_args args;
    iso_status status;

    status =
        core_struct_read(call, "args", given, offsetof(iso_gemm_args, alpha), &args, sizeof args);
    if (!status) {
        status = check_enumerators(call, &args);
    }
    if (!status) {
        status = core_check_reserved(call, "args", args.reserved);
    }
    if (!status) {
        status = check_continues(call, &args);
    }
    if (!status) {
        status = check_sizes(call, &args);
    }
    if (!status) {
        status = core_check_variant(call, args.variant);
    }
    if (!status) {
        status = core_check_keep(call, args.keep, args.variant);
    }
    if (status) {
        return status;
    }
    if (args.library < 0) {
        return core_fail(ISO_INVALID,
                         "%s: args->library is %d: use 0 for the device's first vendor library, 1 "
                         "for the next",
                         call, args.library);
    }
    *op = (iso_gemm_op){
        .dtype = args.dtype,
        .variant = args.variant,
        .math = args.math,
        .library = args.library,
        .trans_a = args.trans_a,
        .trans_b = args.trans_b,
        .m = args.m,
        .n = args.n,
        .k = args.k,
        .alpha = core_round_factor(args.dtype, args.alpha),
        .beta = core_round_factor(args.dtype, args.beta),
        .lda = args.lda,
        .ldb = args.ldb,
        .ldc = args.ldc,
        .batch = args.batch ? args.batch : 1,
        .stride_a = args.batch > 1 ? args.stride_a : 0,
        .stride_b = args.batch > 1 ? args.stride_b : 0,
        .stride_c = args.batch > 1 ? args.stride_c : 0,
        .continues = args.continues,
    };
    out->summed = &op->k;
    out->summed_given = op->k;
    if (core_is_zero(op->alpha)) {
        op->k = 0;
    }
    out->empty = op->m && op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    if (op->continues) {
        set_continues(out);
    }
    out->dtype = op->dtype;
    out->math = &op->math;
    out->keep = args.keep;
    return check_layout(call, &args, out);
}

static void cost(core_op *out)
{
    const iso_gemm_op *op = &out->args.gemm;
    double batch = (double)op->batch, element = (double)iso_dtype_size(op->dtype);
    double m = (double)op->m, n = (double)op->n, k = (double)op->k;
    double a = m * k * (op->stride_a || op->batch == 1 ? batch : 1.0);
    double b = k * n * (op->stride_b || op->batch == 1 ? batch : 1.0);
    double c = m * n * batch;

    if (out->empty) {
        return;
    }
    out->cost.flops = 2.0 * m * n * k * batch;
    if (core_use_is_same(&out->uses[0], &out->uses[1])) {
        a = a > b ? a : b;
        b = 0.0;
    }
    out->cost.bytes_read = (a + b + (core_is_zero(op->beta) ? 0.0 : c)) * element;
    out->cost.bytes_written = c * element;
}

static void shrink(core_op *out)
{
    iso_gemm_op *op = &out->args.gemm;

    op->m = op->n = op->k = op->batch = out->summed_given = 1;
    op->lda = op->ldb = op->ldc = 1;
    op->stride_a = op->stride_b = op->stride_c = 0;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_gemm_op *op = &out->args.gemm;

    snprintf(name, room, "gemm %s %s %s%s %lldx%lldx%lld batch %lld%s", variant,
             iso_dtype_name(op->dtype), iso_trans_name(op->trans_a), iso_trans_name(op->trans_b),
             (long long)op->m, (long long)op->n, (long long)op->k, (long long)op->batch,
             op->continues ? " continues" : "");
}

static void measured(const core_op *out, tuned_shape *shape, int32_t *library)
{
    const iso_gemm_op *op = &out->args.gemm;

    *library = op->library;
    *shape =
        (tuned_shape){.op = ISO_OP_GEMM,
                      .dtype = op->dtype,
                      .layout = (op->trans_a == ISO_TRANS ? 2 : 0) | (op->trans_b == ISO_TRANS),
                      .sizes = {op->m, op->n, out->summed_given, op->batch}};
}

const core_operation core_gemm = {
    .name = "gemm",
    .plural = "products",
    .variants = CORE_NAIVE | CORE_TILED | CORE_VENDOR | CORE_FIXED,
    .keeps = true,
    .order = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .args_size = (uint32_t)sizeof(iso_gemm_op),
    .variant_at = (uint32_t)offsetof(iso_gemm_op, variant),
    .way_at = (uint32_t)offsetof(iso_gemm_op, way),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .trace = trace,
    .measured = measured,
};

iso_status iso_gemm(iso_stream stream, const iso_gemm_args *args)
{
    return core_op_execute("iso_gemm", stream, ISO_OP_GEMM, args);
}
