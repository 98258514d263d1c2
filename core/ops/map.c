/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps: their arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/op.h"

#include <stdbool.h>
#include <stdio.h>

/* What a map has and takes. */
typedef struct map_row {
    int operands;       /* that it reads: x; x and y; x, y and w */
    bool alpha, beta;   /* its factors */
    bool whole, others; /* takes i32 and i64; i8 too */
    bool complex;       /* takes c64 and c128 */
    double flops;       /* an element; a chain's are of a step */
} map_row;

static const map_row rows[] = {
    [ISO_MAP_COPY] = {1, .whole = true, .others = true, .complex = true},
    [ISO_MAP_SCALE] = {1, .alpha = true, .flops = 1},
    [ISO_MAP_ADD] = {2, .whole = true, .flops = 1},
    [ISO_MAP_MULTIPLY] = {2, .whole = true, .flops = 1},
    [ISO_MAP_TRIAD] = {2, .alpha = true, .flops = 2},
    [ISO_MAP_CHAIN] = {1, .alpha = true, .beta = true, .flops = 2},
    [ISO_MAP_SUBTRACT] = {2, .whole = true, .flops = 1},
    [ISO_MAP_DIVIDE] = {2, .flops = 1},
    [ISO_MAP_MIN] = {2, .whole = true, .flops = 1},
    [ISO_MAP_MAX] = {2, .whole = true, .flops = 1},
    [ISO_MAP_ABS] = {1, .whole = true, .flops = 1},
    [ISO_MAP_NEGATE] = {1, .whole = true, .flops = 1},
    [ISO_MAP_AXPBY] = {2, .alpha = true, .beta = true, .flops = 3},
    [ISO_MAP_FMA] = {3, .flops = 2},
    [ISO_MAP_RELU] = {1, .flops = 1},
    [ISO_MAP_EXP] = {1, .flops = 1},
    [ISO_MAP_TANH] = {1, .flops = 1},
    [ISO_MAP_CONVERT] = {1, .whole = true, .others = true},
};

/* An operand: its place in the descriptors. */
typedef struct map_operand {
    const char *name;
    iso_operand given;
    int64_t ld, inc;
    iso_spread spread;
    bool written;
    iso_ref *ref;
    int64_t *row, *col; /* its steps */
    int64_t element;
} map_operand;

enum { X, Y, W, Z, OPERANDS };

/* ---- checks ---------------------------------------------------------------------------------- */

static bool takes(iso_map_op op, iso_dtype dtype)
{
    const dtype_row *type = dtype_get(dtype);
    const map_row *row = &rows[op];

    return type->floating    ? true
           : type->complex   ? row->complex
           : dtype == ISO_I8 ? row->others
                             : row->whole;
}

static iso_status check_type(const char *call, const iso_map_args *args)
{
    const char *name = iso_map_op_name(args->op), *type = iso_dtype_name(args->dtype);

    if (!takes(args->op, args->dtype)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %s and dtype %s: %s; floating-point types have every map, i32 "
                         "and i64 copy, add, multiply, subtract, min, max, abs, negate and "
                         "convert, i8 copy and convert, c64 and c128 copy",
                         call, name, type, "this type does not have it");
    }
    if (args->dtype_z && !iso_dtype_name(args->dtype_z)) {
        return core_fail(ISO_INVALID,
                         "%s: dtype_z is %d, which is not a type: use 0 for that of x, or "
                         "ISO_F16 (1) to ISO_I8 (7)",
                         call, (int)args->dtype_z);
    }
    if (args->op != ISO_MAP_CONVERT && args->dtype_z && args->dtype_z != args->dtype) {
        return core_fail(ISO_INVALID,
                         "%s: op is %s, dtype %s and dtype_z %s: only convert has a z of another "
                         "type: use dtype_z 0",
                         call, name, type, iso_dtype_name(args->dtype_z));
    }
    if (args->op == ISO_MAP_CONVERT && args->dtype_z && !takes(args->op, args->dtype_z)) {
        return core_fail(ISO_INVALID,
                         "%s: dtype_z is %s: convert makes f16, bf16, f32, f64, i32, i64 and i8",
                         call, iso_dtype_name(args->dtype_z));
    }
    return ISO_OK;
}

static iso_status check_spread(const char *call, const char *name, iso_spread spread)
{
    if (!iso_spread_name(spread)) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %d: use ISO_SPREAD_NONE (0), ISO_SPREAD_ROW (1), "
                         "ISO_SPREAD_COLUMN (2) or ISO_SPREAD_ONE (3)",
                         call, name, (int)spread);
    }
    return ISO_OK;
}

static iso_status check_values(const char *call, const iso_map_args *args)
{
    iso_map_op op = args->op;
    iso_status status = core_check_dtype(call, args->dtype);

    if (status) {
        return status;
    }
    if (!iso_map_op_name(op)) {
        return core_fail(
            ISO_INVALID,
            "%s: op is %d, which is not a map: use ISO_MAP_COPY (1) to ISO_MAP_CONVERT (18)", call,
            (int)op);
    }
    status = check_type(call, args);
    if (!status) {
        status = core_check_size(call, "n", args->n);
    }
    if (!status) {
        status = core_check_size(call, "rows", args->rows);
    }
    if (!status && op == ISO_MAP_CHAIN) {
        status = core_check_size(call, "steps", args->steps);
    }
    if (!status) {
        status = check_spread(call, "spread_x", args->spread_x);
    }
    if (!status && rows[op].operands > 1) {
        status = check_spread(call, "spread_y", args->spread_y);
    }
    if (!status && rows[op].operands > 2) {
        status = check_spread(call, "spread_w", args->spread_w);
    }
    if (!status) {
        status = core_check_reserved(call, "args", args->reserved);
    }
    return status ? status : core_check_variant(call, args->variant);
}

/* ---- operands -------------------------------------------------------------------------------- */

static iso_status too_large(const char *call, const map_operand *o, int64_t n, int64_t count)
{
    return core_fail(ISO_INVALID,
                     "%s: %s has %lld rows of %lld elements of %lld bytes, ld_%s %lld and inc_%s "
                     "%lld: its size in bytes does not fit 64 bits: use smaller sizes",
                     call, o->name, (long long)count, (long long)n, (long long)o->element, o->name,
                     (long long)o->ld, o->name, (long long)o->inc);
}

/* Sets the steps of an operand, whose map has `count` rows of n elements, and its layout: rows of
 * bytes, or if elements have gaps, each row as a matrix with one element in each row. */
static iso_status lay(const char *call, map_operand *o, int64_t n, int64_t count,
                      core_layout *layout)
{
    const bool has_rows = !(o->spread & ISO_SPREAD_ROW),
               has_cols = !(o->spread & ISO_SPREAD_COLUMN);
    const int64_t cols = has_cols ? n : 1, lines = has_rows ? count : 1;
    const int64_t inc = o->inc ? o->inc : 1;
    int64_t ld = o->spread == ISO_SPREAD_COLUMN ? inc : o->ld, width;

    layout->bytes = 0;
    if ((!ld && __builtin_mul_overflow(n > 0 ? n : 1, inc, &ld)) ||
        __builtin_mul_overflow(inc, o->element, &width)) {
        return too_large(call, o, n, count);
    }
    *o->row = lines > 1 ? ld : 0;
    *o->col = cols > 1 ? inc : 0;
    if (!n || !count) {
        return ISO_OK;
    }
    if (*o->col <= 1) {
        return core_matrix_layout(call, o->name, lines, cols, ld, 1, 0, o->element, layout);
    }
    return core_matrix_layout(call, o->name, cols, 1, inc, lines, ld, o->element, layout);
}

/* INVALID if two elements are in one place. */
static iso_status check_apart(const char *call, const map_operand *o, int64_t n, int64_t count,
                              const core_layout *layout)
{
    core_layout each = *layout;

    if (layout->batch <= 1) { /* rows of bytes */
        each.batch = each.rows;
        each.stride = each.pitch;
        each.rows = 1;
        each.pitch = 0;
    }
    if (core_layout_meets_itself(&each) == CORE_APART) {
        return ISO_OK;
    }
    return core_fail(ISO_INVALID,
                     "%s: ld_%s is %lld and inc_%s %lld: elements of two of the %lld rows of %lld "
                     "are in one place: use an ld_%s of at least %lld, or 0 for rows without gaps",
                     call, o->name, (long long)o->ld, o->name, (long long)(o->inc ? o->inc : 1),
                     (long long)count, (long long)n, o->name,
                     (long long)((n - 1) * (o->inc ? o->inc : 1) + 1));
}

static iso_status read_operand(const char *call, core_op *out, map_operand *o, int64_t n,
                               int64_t count)
{
    core_layout *layout = core_op_use(out, o->name, o->given, o->ref, o->element, o->written);
    const struct {
        const char *name;
        int64_t value;
    } steps[] = {{"ld", o->ld}, {"inc", o->inc}};
    iso_status status;

    for (size_t i = 0; i < 2; i++) {
        if (steps[i].value < 0) {
            return core_fail(ISO_INVALID, "%s: %s_%s is %lld: pass 0 or more", call, steps[i].name,
                             o->name, (long long)steps[i].value);
        }
    }
    status = lay(call, o, n, count, layout);
    return status || !layout->bytes ? status : check_apart(call, o, n, count, layout);
}

/* ---- the simplest form ----------------------------------------------------------------------- */

/* A map whose rows follow each other without a gap, in every operand, is one row; and so is a
 * column. */
static void flatten(iso_map_op_args *op)
{
    int64_t *const row[] = {&op->x_row, &op->y_row, &op->w_row, &op->z_row};
    int64_t *const col[] = {&op->x_col, &op->y_col, &op->w_col, &op->z_col};
    bool gaps = false;
    int64_t all, whole;

    if (op->rows > 1 && op->n == 1) {
        for (int i = 0; i < OPERANDS; i++) {
            *col[i] = *row[i];
            *row[i] = 0;
        }
        op->n = op->rows;
        op->rows = 1;
    }
    if (op->rows == 1 || !op->n || __builtin_mul_overflow(op->rows, op->n, &all)) {
        return;
    }
    for (int i = 0; i < OPERANDS; i++) {
        gaps = gaps || __builtin_mul_overflow(*col[i], op->n, &whole) || *row[i] != whole;
    }
    if (!gaps) {
        op->n = all;
        op->rows = 1;
        for (int i = 0; i < OPERANDS; i++) {
            *row[i] = 0;
        }
    }
}

/* A lone element needs no step. It gets that of an element beside others, so that one element is
 * no special case. */
static void set_lone(iso_map_op_args *op, int operands)
{
    int64_t *const col[] = {&op->x_col, &op->y_col, &op->w_col};

    if (op->n <= 1) {
        for (int i = 0; i < operands; i++) {
            *col[i] = 1;
        }
        op->z_col = 1;
    }
}

static bool is_general(const core_op *out)
{
    const iso_map_op_args *op = &out->args.map;
    const int operands = rows[op->op].operands;

    return op->rows != 1 || op->dtype_z != op->dtype || op->factors || op->x_col != 1 ||
           op->z_col != 1 || (operands > 1 && op->y_col != 1) || (operands > 2 && op->w_col != 1);
}

static iso_status read_operands(const char *call, const iso_map_args *args, core_op *out)
{
    iso_map_op_args *op = &out->args.map;
    int64_t bytes;
    const int64_t element = iso_dtype_size(op->dtype), count = op->rows;
    map_operand all[] = {
        [X] = {"x", args->x, args->ld_x, args->inc_x, args->spread_x, false, &op->x, &op->x_row,
               &op->x_col, element},
        [Y] = {"y", args->y, args->ld_y, args->inc_y, args->spread_y, false, &op->y, &op->y_row,
               &op->y_col, element},
        [W] = {"w", args->w, args->ld_w, args->inc_w, args->spread_w, false, &op->w, &op->w_row,
               &op->w_col, element},
        [Z] = {"z", args->z, args->ld_z, args->inc_z, ISO_SPREAD_NONE, true, &op->z, &op->z_row,
               &op->z_col, iso_dtype_size(op->dtype_z)},
    };
    iso_status status = ISO_OK;

    if (__builtin_mul_overflow(op->n, element, &bytes)) {
        return core_fail(ISO_INVALID,
                         "%s: n is %lld: that many elements of %lld bytes do not fit 64 bits: use "
                         "fewer",
                         call, (long long)op->n, (long long)element);
    }
    for (int i = 0; i < OPERANDS && !status; i++) {
        if (i == Z || i < rows[op->op].operands) {
            status = read_operand(call, out, &all[i], op->n, count);
        }
    }
    return status;
}

static iso_status read_factors(const char *call, const iso_map_args *args, core_op *out)
{
    const iso_operand none = {{0}, 0};
    const map_row *row = &rows[args->op];
    iso_map_op_args *op = &out->args.map;
    iso_status status = ISO_OK;

    if (row->alpha) {
        status = core_read_factors(call, out, args->alpha_at, row->beta ? args->beta_at : none,
                                   args->factor_dtype, args->dtype);
    }
    op->factors = (out->factors.alpha ? 1u : 0u) | (out->factors.beta ? 2u : 0u);
    op->factor_dtype = op->factors ? out->factors.dtype : (iso_dtype)0;
    return status;
}

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_map_op_args *op = &out->args.map;
    iso_map_args args;
    iso_status status;

    status = core_struct_read(call, "args", given, offsetof(iso_map_args, x), &args, sizeof args);
    if (!status) {
        status = check_values(call, &args);
    }
    if (status) {
        return status;
    }
    *op = (iso_map_op_args){
        .op = args.op,
        .dtype = args.dtype,
        .variant = args.variant,
        .n = args.n,
        .rows = args.rows ? args.rows : 1,
        .steps = args.op == ISO_MAP_CHAIN ? args.steps : 0,
        .alpha = core_round_factor(args.dtype, args.alpha),
        .beta = core_round_factor(args.dtype, args.beta),
        .dtype_z = args.dtype_z ? args.dtype_z : args.dtype,
    };
    if (op->op == ISO_MAP_CONVERT && op->dtype_z == op->dtype) {
        op->op = ISO_MAP_COPY; /* the bits are the same, and a copy needs no arithmetic */
    }
    out->in_place = true;
    status = read_operands(call, &args, out);
    if (!status) {
        status = read_factors(call, &args, out);
    }
    if (status) {
        return status;
    }
    out->empty = op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    flatten(op);
    set_lone(op, rows[op->op].operands);
    op->general = is_general(out);
    if (op->general || op->op > ISO_MAP_CHAIN || op->dtype > ISO_I64) {
        out->abi_minor = 13;
        out->newer = op->op > ISO_MAP_CHAIN ? "map of this kind" : "map of this form";
    }
    return ISO_OK;
}

static void attach(core_op *out)
{
    out->args.map.alpha_at = out->factors.alpha_at;
    out->args.map.beta_at = out->factors.beta_at;
}

/* ---- the rest of the row --------------------------------------------------------------------- */

/* Elements of an operand that are read; a spread one's count once. */
static double elements(const core_use *use, int64_t element)
{
    const core_layout *l = &use->layout;
    return l->bytes ? (double)l->width * (double)l->rows * (double)l->batch / (double)element : 0.0;
}

static void cost(core_op *out)
{
    const iso_map_op_args *op = &out->args.map;
    const double n = (double)op->n * (double)op->rows, size = (double)iso_dtype_size(op->dtype);
    const double steps = op->op == ISO_MAP_CHAIN ? (double)op->steps : 1.0;
    const int operands = rows[op->op].operands;

    out->cost.flops = rows[op->op].flops * steps * n;
    out->cost.bytes_written = n * (double)iso_dtype_size(op->dtype_z);
    for (int i = 0; i < operands; i++) {
        bool again = false;

        for (int j = 0; j < i; j++) {
            again = again || core_use_is_same(&out->uses[i], &out->uses[j]);
        }
        if (!again) {
            out->cost.bytes_read += size * elements(&out->uses[i], iso_dtype_size(op->dtype));
        }
    }
}

static void shrink(core_op *out)
{
    iso_map_op_args *op = &out->args.map;

    op->n = op->rows = 1;
    op->x_row = op->y_row = op->w_row = op->z_row = 0;
    set_lone(op, rows[op->op].operands);
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_map_op_args *op = &out->args.map;
    int length = snprintf(name, room, "%s %s %s", iso_map_op_name(op->op), variant,
                          iso_dtype_name(op->dtype));

    if (op->dtype_z != op->dtype) {
        length +=
            snprintf(name + length, room - (size_t)length, " to %s", iso_dtype_name(op->dtype_z));
    }
    length += op->rows > 1
                  ? snprintf(name + length, room - (size_t)length, " %lldx%lld",
                             (long long)op->rows, (long long)op->n)
                  : snprintf(name + length, room - (size_t)length, " %lld", (long long)op->n);
    if (op->op == ISO_MAP_CHAIN) {
        snprintf(name + length, room - (size_t)length, " steps %lld", (long long)op->steps);
    }
}

const core_operation core_map = {
    .name = "map",
    .plural = "maps",
    .variants = CORE_NAIVE | CORE_TILED,
    .order = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE},
    .abi_minor = 2,
    .args_size = (uint32_t)sizeof(iso_map_op_args),
    .variant_at = (uint32_t)offsetof(iso_map_op_args, variant),
    .read = read,
    .cost = cost,
    .shrink = shrink,
    .trace = trace,
    .attach = attach,
};

iso_status iso_map(iso_stream stream, const iso_map_args *args)
{
    return core_op_execute("iso_map", stream, ISO_OP_MAP, args);
}
