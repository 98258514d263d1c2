/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the matrix product: its arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/compose/compose.h"

#include <stdbool.h>
#include <stdio.h>

/* The type of C, which follows from that of A and B if it is not given. */
static iso_status read_dtype_c(const char *call, iso_gemm_args *args)
{
    const iso_dtype given = args->dtype_c, dtype = args->dtype;
    const iso_dtype own = dtype == ISO_I8 ? ISO_I32 : dtype;
    const bool wider = given == ISO_F32 && (dtype == ISO_F16 || dtype == ISO_BF16);
    const char *name = iso_dtype_name(given);

    args->dtype_c = given ? given : own;
    if (args->dtype_c != own && !wider) {
        return core_fail(ISO_INVALID, "%s: dtype_c is %d (%s) and dtype %s: use %s%s, or 0 for it",
                         call, (int)given, name ? name : "not a type", iso_dtype_name(dtype),
                         iso_dtype_name(own),
                         dtype == ISO_F16 || dtype == ISO_BF16 ? " or f32" : "");
    }
    return ISO_OK;
}

static iso_status check_trans(const char *call, const char *name, iso_trans trans)
{
    if (!iso_trans_name(trans)) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %d: use ISO_NO_TRANS (0), ISO_TRANS (1) or ISO_CONJ_TRANS (2)",
                         call, name, (int)trans);
    }
    return ISO_OK;
}

static iso_status check_enumerators(const char *call, iso_gemm_args *args)
{
    iso_status status = core_check_dtype(call, args->dtype);

    if (!status && (args->dtype == ISO_I32 || args->dtype == ISO_I64)) {
        status = core_fail(ISO_INVALID,
                           "%s: dtype is %s: products take f16, bf16, f32, f64, c64, c128 and i8",
                           call, iso_dtype_name(args->dtype));
    }
    if (!status) {
        status = read_dtype_c(call, args);
    }
    if (!status) {
        status = check_trans(call, "trans_a", args->trans_a);
    }
    if (!status) {
        status = check_trans(call, "trans_b", args->trans_b);
    }
    if (!status) {
        status = core_check_order(call, args->order);
    }
    if (status) {
        return status;
    }
    if (!iso_math_name(args->math)) {
        return core_fail(ISO_INVALID,
                         "%s: math is %d: use ISO_MATH_DEFAULT (0), ISO_MATH_STRICT (1) or "
                         "ISO_MATH_TF32 (2)",
                         call, (int)args->math);
    }
    return ISO_OK;
}

/* Factors of i8 are whole numbers; only complex types have imaginary parts. */
static iso_status check_factors(const char *call, const iso_gemm_args *args)
{
    const struct {
        const char *name;
        double value;
    } factors[] = {{"alpha", args->alpha}, {"beta", args->beta}};
    iso_status status = core_check_imag(call, "alpha_imag", args->dtype, args->alpha_imag);

    if (!status) {
        status = core_check_imag(call, "beta_imag", args->dtype, args->beta_imag);
    }
    for (size_t i = 0; i < 2 && !status && args->dtype == ISO_I8; i++) {
        const double value = factors[i].value;

        if (!(value >= INT32_MIN && value <= INT32_MAX && value == (double)(int32_t)value)) {
            status = core_fail(ISO_INVALID,
                               "%s: %s is %g and dtype i8: factors of products of i8 are whole "
                               "numbers of 32 bits",
                               call, factors[i].name, value);
        }
    }
    return status;
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
    if (args->alpha_at.buffer.id || args->beta_at.buffer.id) {
        return core_fail(ISO_INVALID,
                         "%s: continues is 1 and %s has a buffer: alpha and beta must be 1, on the "
                         "host",
                         call, args->alpha_at.buffer.id ? "alpha_at" : "beta_at");
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

/* What A and B are called in messages. Of column-major matrices B is multiplied by A, transposed,
 * so the first operand is B. */
typedef struct operand_words {
    const char *use, *matrix, *ld;
} operand_words;
static const operand_words words[] = {{"a", "A", "lda"}, {"b", "B", "ldb"}};

static void swap_sizes(int64_t *a, int64_t *b)
{
    const int64_t saved = *a;

    *a = *b;
    *b = saved;
}

/* Makes the row-major product C' = B' A' of a column-major one. */
static void exchange(iso_gemm_args *args)
{
    const iso_operand a = args->a;
    const iso_trans trans_a = args->trans_a;

    args->a = args->b;
    args->b = a;
    args->trans_a = args->trans_b;
    args->trans_b = trans_a;
    swap_sizes(&args->m, &args->n);
    swap_sizes(&args->lda, &args->ldb);
    swap_sizes(&args->stride_a, &args->stride_b);
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
                     "%s: stride_c is %lld, but one C has %lld lines of %lld elements, ldc %lld: "
                     "matrices of the batch overlap: use a stride of at least %lld elements, or "
                     "one that places them side by side",
                     call, (long long)op->stride_c, (long long)op->m, (long long)op->n,
                     (long long)op->ldc, (long long)((op->m - 1) * op->ldc + op->n));
}

/* Checks the leading dimensions, and sets the layouts of the operands that are accessed. */
static iso_status check_layout(const char *call, const iso_gemm_args *args, core_op *out)
{
    iso_gemm_op *op = &out->args.gemm;
    const bool ta = op->trans_a != ISO_NO_TRANS, tb = op->trans_b != ISO_NO_TRANS;
    const operand_words *first = &words[args->order == ISO_COLUMN_MAJOR];
    const operand_words *second = &words[args->order != ISO_COLUMN_MAJOR];
    int64_t a_rows = ta ? args->k : args->m, a_cols = ta ? args->m : args->k;
    int64_t b_rows = tb ? args->n : args->k, b_cols = tb ? args->k : args->n;
    const int64_t element = iso_dtype_size(op->dtype), element_c = iso_dtype_size(op->dtype_c);
    core_layout *a = core_op_use(out, first->use, args->a, &op->a, core_unit_of(op->dtype), false);
    core_layout *b = core_op_use(out, second->use, args->b, &op->b, core_unit_of(op->dtype), false);
    core_layout *c = core_op_use(out, "c", args->c, &op->c, core_unit_of(op->dtype_c), true);
    iso_status status;

    status = core_check_line(call, first->ld, first->matrix, args->order, a_cols, &op->lda);
    if (!status) {
        status = core_check_line(call, second->ld, second->matrix, args->order, b_cols, &op->ldb);
    }
    if (!status) {
        status = core_check_line(call, "ldc", "C", args->order, args->n, &op->ldc);
    }
    if (!status && !out->empty && op->k) {
        status = core_matrix_layout(call, first->matrix, a_rows, a_cols, op->lda, op->batch,
                                    op->stride_a, element, a);
        if (!status) {
            status = core_matrix_layout(call, second->matrix, b_rows, b_cols, op->ldb, op->batch,
                                        op->stride_b, element, b);
        }
    }
    if (!status && !out->empty) {
        status = core_matrix_layout(call, "C", args->m, args->n, op->ldc, op->batch, op->stride_c,
                                    element_c, c);
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

/* A transpose of real numbers conjugates nothing. */
static iso_trans trans_of(iso_dtype dtype, iso_trans trans)
{
    return trans == ISO_CONJ_TRANS && !dtype_get(dtype)->complex ? ISO_TRANS : trans;
}

static iso_status check(const char *call, iso_gemm_args *args)
{
    iso_status status = check_enumerators(call, args);

    if (!status) {
        status = check_continues(call, args);
    }
    if (!status) {
        status = check_factors(call, args);
    }
    if (!status) {
        status = check_sizes(call, args);
    }
    return status ? status : core_check_how(call, args->variant, args->keep, args->library);
}

/* Which version of the interface has such a product, and why it cannot be fixed. */
static void set_form(core_op *out)
{
    const iso_gemm_op *op = &out->args.gemm;
    const bool complex = dtype_get(op->dtype)->complex;
    const bool factors = out->factors.alpha || out->factors.beta;

    if (complex || op->dtype_c != op->dtype) {
        out->abi_minor = 13;
        out->newer = complex               ? "products of complex numbers"
                     : op->dtype == ISO_I8 ? "products of i8"
                                           : "products with another type of C";
        out->unmeasured = true;
    }
    out->unmeasured = out->unmeasured || factors;
    if (complex || op->dtype == ISO_I8) {
        out->not_fixed = complex ? "and dtype complex: fixed products are of f16, bf16, f32 and "
                                   "f64: use naive or tiled"
                                 : "and dtype i8, whose sums are exact in every variant: use naive "
                                   "or tiled";
    } else if (factors && op->dtype_c == op->dtype && dtype_get(op->dtype)->bytes == 2) {
        out->not_fixed = "and a factor is on the device: fixed products of f16 and bf16 take "
                         "factors of the host: use naive or tiled";
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
        status = check(call, &args);
    }
    if (status) {
        return status;
    }
    if (args.order == ISO_COLUMN_MAJOR) {
        exchange(&args);
    }
    *op = (iso_gemm_op){
        .dtype = args.dtype,
        .variant = args.variant,
        .math = args.math,
        .library = args.library,
        .trans_a = trans_of(args.dtype, args.trans_a),
        .trans_b = trans_of(args.dtype, args.trans_b),
        .dtype_c = args.dtype_c,
        .m = args.m,
        .n = args.n,
        .k = args.k,
        .alpha = args.alpha_at.buffer.id ? 1 : core_round_factor(args.dtype, args.alpha),
        .alpha_imag = args.alpha_at.buffer.id ? 0 : core_round_factor(args.dtype, args.alpha_imag),
        .beta = args.beta_at.buffer.id ? 1 : core_round_factor(args.dtype, args.beta),
        .beta_imag = args.beta_at.buffer.id ? 0 : core_round_factor(args.dtype, args.beta_imag),
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
    if (core_is_zero(op->alpha) && core_is_zero(op->alpha_imag)) {
        op->k = 0;
    }
    out->empty = op->m && op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    if (op->continues) {
        set_continues(out);
    }
    out->dtype = op->dtype;
    out->math = &op->math;
    out->keep = args.keep;
    out->library = args.library;
    status = check_layout(call, &args, out);
    if (!status) {
        status = core_read_factors(call, out, args.alpha_at, args.beta_at, args.factor_dtype,
                                   args.dtype);
    }
    if (!status) {
        set_form(out);
    }
    return status;
}

static void cost(core_op *out)
{
    const iso_gemm_op *op = &out->args.gemm;
    double batch = (double)op->batch, element = (double)iso_dtype_size(op->dtype);
    double m = (double)op->m, n = (double)op->n, k = (double)op->k;
    double a = m * k * (op->stride_a || op->batch == 1 ? batch : 1.0);
    double b = k * n * (op->stride_b || op->batch == 1 ? batch : 1.0);
    double c = m * n * batch * (double)iso_dtype_size(op->dtype_c);
    bool reads_c = !core_is_zero(op->beta) || !core_is_zero(op->beta_imag);

    if (out->empty) {
        return;
    }
    out->cost.flops = (dtype_get(op->dtype)->complex ? 8.0 : 2.0) * m * n * k * batch;
    if (core_use_is_same(&out->uses[0], &out->uses[1])) {
        a = a > b ? a : b;
        b = 0.0;
    }
    out->cost.bytes_read = (a + b) * element + (reads_c ? c : 0.0);
    out->cost.bytes_written = c;
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

    snprintf(name, room, "gemm %s %s%s%s %s%s %lldx%lldx%lld batch %lld%s", variant,
             iso_dtype_name(op->dtype), op->dtype_c == op->dtype ? "" : " to ",
             op->dtype_c == op->dtype ? "" : iso_dtype_name(op->dtype_c),
             iso_trans_name(op->trans_a), iso_trans_name(op->trans_b), (long long)op->m,
             (long long)op->n, (long long)op->k, (long long)op->batch,
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
    .composed = core_gemm_composed,
    .compose = core_gemm_compose,
    .trace = trace,
    .measured = measured,
};

iso_status iso_gemm(iso_stream stream, const iso_gemm_args *args)
{
    return core_op_execute("iso_gemm", stream, ISO_OP_GEMM, args);
}
