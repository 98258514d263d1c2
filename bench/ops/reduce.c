/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - the row of reductions. */
#include "bench/tool.h"
#include "bench/verify/verify.h"
#include "common/dtype.h"

#include <stdio.h>

static bool set_kind(bench_case *item, const char *kind)
{
    iso_dtype result;
    iso_reduce_op_parse(kind, &item->reduce.op);
    return iso_reduce_result(item->reduce.op, item->dtype, &result) == ISO_OK;
}

static void set_layout(bench_case *item, const char *layout)
{
    iso_axis_parse(layout, &item->reduce.axis);
}

/* a * b, limited to 2^60: more elements than any device can hold. */
static int64_t times(int64_t a, int64_t b)
{
    return (double)a * (double)b < 0x1p60 ? a * b : INT64_C(1) << 60;
}

/* Along an axis, a size of one number is the side of a square. */
static void set_size(bench_case *item, const bench_size *size)
{
    bool all = item->reduce.axis == ISO_AXIS_ALL;
    int64_t first = size->beyond_cache && !all ? bench_square(size->of[0]) : size->of[0];
    int64_t second = size->count > 1 ? size->of[1] : first;
    item->reduce.rows = all ? 1 : first;
    item->reduce.cols = all && size->count > 1 ? times(first, second) : second;
}

static void shape(const bench_case *item, bench_shape *out)
{
    *out = (bench_shape){.names = {"rows", "cols"},
                         .sizes = {item->reduce.rows, item->reduce.cols},
                         .count = 2,
                         .elements = (double)item->reduce.rows * (double)item->reduce.cols,
                         .layout = {{"axis", iso_axis_name(item->reduce.axis)}}};
    snprintf(out->form, sizeof out->form, "/axis%s", iso_axis_name(item->reduce.axis));
    if (item->reduce.axis == ISO_AXIS_ALL) {
        out->names[0] = "elements";
        out->sizes[0] = item->reduce.cols;
        out->count = 1;
        snprintf(out->form, sizeof out->form, "/all");
    }
}

static void needs(const bench_case *item, bench_needs *out)
{
    out->inputs = item->reduce.op == ISO_DOT ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->reduce.rows * item->reduce.cols * item->element;
    out->results = item->reduce.axis == ISO_AXIS_ALL ? 1
                   : item->reduce.axis == ISO_AXIS_0 ? item->reduce.cols
                                                     : item->reduce.rows;
    iso_reduce_result(item->reduce.op, item->dtype, &out->result_type);
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const reduce_shape *r = &item->reduce;
    iso_reduce_args *args = &all->reduce;
    *args = (iso_reduce_args)ISO_REDUCE_ARGS_INIT;
    args->op = r->op;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->axis = r->axis;
    args->rows = r->rows;
    args->cols = r->cols;
    args->ld_x = r->pad ? r->cols + r->pad : 0;
    args->ld_y = r->op == ISO_DOT && r->pad ? r->cols + r->pad + 1 : 0;
    return ISO_OP_REDUCE;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    args->reduce.x = inputs[0];
    if (item->reduce.op == ISO_DOT) {
        args->reduce.y = inputs[1];
    }
    args->reduce.result = result;
}

/* Whether the result is one of the elements, or the index of one. */
static bool picks_one(iso_reduce_op op)
{
    return op == ISO_MIN || op == ISO_MAX || op == ISO_AMAX || op == ISO_ARGMIN ||
           op == ISO_ARGMAX || op == ISO_ARGAMAX;
}

static bool has_bits(const bench_case *item)
{
    return item->how == ISO_VARIANT_TILED || !arith_is_float(item->dtype) ||
           picks_one(item->reduce.op);
}

/* ---- conformance cases ----------------------------------------------------------------------- */

static bool lay(const bench_case *item, verify_problem *p)
{
    const reduce_shape *r = &item->reduce;
    bench_needs has;
    bench_args args;
    bench_case_needs(item, &has);
    arguments(item, &args);
    verify_region x = {.element = item->element, .rows = r->rows, .cols = r->cols, .batch = 1}, y;
    x.ones = true;
    x.ld = args.reduce.ld_x;
    y = x;
    y.ld = args.reduce.ld_y;
    x.offset = r->offset;
    verify_region out = {.element = iso_dtype_size(has.result_type),
                         .rows = 1,
                         .cols = has.results,
                         .batch = 1,
                         .offset = r->offset};
    return verify_region_lay(&p->regions[0], &x) &&
           (has.inputs < 2 || verify_region_lay(&p->regions[1], &y)) &&
           verify_region_lay(&p->regions[2], &out);
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const reduce_shape *r = &item->reduce;
    tool_set_int(sizes, "rows", r->rows);
    tool_set_int(sizes, "cols", r->cols);
    tool_set_text(layout, "axis", iso_axis_name(r->axis));
    tool_set_int(layout, "pad", r->pad);
    tool_set_int(layout, "offset", r->offset);
}

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_PARTIALS, ISO_VARIANT_TILED,
                                       ISO_VARIANT_VENDOR};

/* In the quick list, each variant occurs with every operation and with every type, but not with
 * every pair of them. Each pair has to be compiled, which takes most of the time. The full list has
 * all pairs. */
static bool in_quick(const bench_case *item, iso_variant variant)
{
    return variant == ISO_VARIANT_TILED || variant == ISO_VARIANT_VENDOR ||
           item->dtype == ISO_F32 || item->reduce.op == ISO_SUM || item->reduce.op == ISO_ARGMIN;
}

static void add(verify_list *list, bench_case *item, int variant_count, bool full)
{
    const reduce_shape *r = &item->reduce;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after, "%s/%s/%s/r%lldc%lld/ld+%d/off%d/%s", iso_dtype_name(item->dtype),
             iso_reduce_op_name(r->op), iso_axis_name(r->axis), (long long)r->rows,
             (long long)r->cols, r->pad, r->offset, arith_fill_name(item->fill));
    iso_variant kept[COUNT(variants)];
    int count = 0;
    for (int v = 0; v < variant_count; v++) {
        if (full || in_quick(item, variants[v])) {
            kept[count++] = variants[v];
        }
    }
    verify_list_add(list, item, kept, count, after);
}

static bench_case start(iso_reduce_op op, iso_dtype dtype)
{
    bench_case item = verify_case(&bench_reduce, dtype, iso_reduce_op_name(op));
    item.reduce.op = op;
    return item;
}

/* The fills that test this operation on this type, the plain ones first. */
static const arith_fill *fills_of(iso_reduce_op op, bool is_float, int *count)
{
    static const arith_fill ints[] = {ARITH_UNIFORM, ARITH_EXTREMES, ARITH_INTS};
    static const arith_fill picks[] = {ARITH_UNIFORM, ARITH_TIES,      ARITH_NAN,  ARITH_ZEROS,
                                       ARITH_INF,     ARITH_SUBNORMAL, ARITH_MIXED};
    static const arith_fill int_picks[] = {ARITH_TIES, ARITH_EXTREMES, ARITH_UNIFORM};
    static const arith_fill products[] = {ARITH_POWERS,   ARITH_NEAR_ONE, ARITH_UNIFORM,
                                          ARITH_POWERS,   ARITH_NAN,      ARITH_ZEROS,
                                          ARITH_NEAR_ONE, ARITH_SUBNORMAL};
    static const arith_fill norms[] = {ARITH_UNIFORM, ARITH_INTS, ARITH_HUGE,      ARITH_MIXED,
                                       ARITH_NAN,     ARITH_INF,  ARITH_SUBNORMAL, ARITH_ZEROS};
    static const arith_fill sums[] = {ARITH_INTS, ARITH_UNIFORM,   ARITH_SPARSE, ARITH_NAN,
                                      ARITH_INF,  ARITH_SUBNORMAL, ARITH_ZEROS,  ARITH_UNIFORM};
    *count = 3;
    if (!is_float) {
        return picks_one(op) ? int_picks : ints;
    }
    if (picks_one(op)) {
        *count = COUNT(picks);
        return picks;
    }
    *count = 8;
    return op == ISO_PRODUCT ? products : op == ISO_NORM2 ? norms : sums;
}

static bool allows_empty(iso_reduce_op op)
{
    return op == ISO_SUM || op == ISO_PRODUCT || op == ISO_DOT || op == ISO_ASUM ||
           op == ISO_NORM2 || op == ISO_XOR;
}

/* Whether a BLAS library may have this reduction. For the others, only the corners have `vendor`
 * cases; they check that it is reported as unsupported. */
static bool vendor_may(const bench_case *item)
{
    iso_reduce_op op = item->reduce.op;
    return arith_is_float(item->dtype) &&
           (op == ISO_SUM || op == ISO_DOT || op == ISO_ASUM || op == ISO_NORM2);
}

static void set_shape(bench_case *item, iso_axis axis, int64_t length, int64_t others, int turn)
{
    static const int pads[] = {0, 3, 0, 5};
    static const int offsets[] = {0, 1, 3, 0, 6};
    reduce_shape *r = &item->reduce;
    r->axis = axis;
    r->rows = axis == ISO_AXIS_ALL ? 1 : axis == ISO_AXIS_0 ? length : others;
    r->cols = axis == ISO_AXIS_ALL ? length : axis == ISO_AXIS_0 ? others : length;
    r->pad = axis == ISO_AXIS_ALL ? 0 : pads[turn % COUNT(pads)];
    r->offset = offsets[turn % COUNT(offsets)];
}

static void one(verify_list *list, iso_reduce_op op, iso_dtype dtype, iso_axis axis, bool more,
                bool full)
{
    static const int64_t lengths[] = {1,    4096, 127,  4097,   128,    100003, 129, 4095,
                                      8191, 2,    8193, 532487, 100003, 64,     3,   12289};
    static const int64_t widths[] = {1, 3, 17, 64, 2, 33, 5, 130};
    int fill_count;
    const arith_fill *fills = fills_of(op, arith_is_float(dtype), &fill_count);
    int turn = (int)op * 3 + (int)dtype * 5 + (int)axis * 7;
    int rounds = arith_is_float(dtype) ? 6 : 4;
    if (more) {
        rounds = 32;
    }
    for (int i = 0; i < rounds; i++) {
        bench_case item = start(op, dtype);
        int t = turn + i + (more ? 6 : 0);
        int64_t length = lengths[(t * 7 + t / 16) % COUNT(lengths)];
        int64_t others = widths[(t * 5 + t / 8) % COUNT(widths)];
        item.fill = fills[(i + (more ? 5 : 0) + t / 16) % fill_count];
        while (axis != ISO_AXIS_ALL && others > 1 && length * others > (more ? 2000000 : 150000)) {
            others /= 2;
        }
        set_shape(&item, axis, length, others, t);
        add(list, &item, vendor_may(&item) ? COUNT(variants) : COUNT(variants) - 1, full);
    }
}

static void corners(verify_list *list, iso_reduce_op op, iso_dtype dtype, iso_axis axis, bool full)
{
    bench_case item = start(op, dtype);
    if (allows_empty(op)) {
        set_shape(&item, axis, 0, axis == ISO_AXIS_ALL ? 1 : 5, 0);
        add(list, &item, COUNT(variants), full);
    }
    if (axis != ISO_AXIS_ALL && (op == ISO_SUM || op == ISO_MIN)) { /* the result is empty */
        set_shape(&item, axis, 7, 0, 0);
        add(list, &item, 3, full);
    }
    if (op == ISO_DOT && arith_is_float(dtype)) { /* products underflow, so a lane may be -0 */
        item.fill = ARITH_SUBNORMAL;
        for (int64_t length = 1; length <= 129; length += 64) {
            set_shape(&item, axis, length, axis == ISO_AXIS_ALL ? 1 : 5, (int)length);
            add(list, &item, 3, full);
        }
    }
    item.fill = ARITH_INTS; /* along an axis: many results of few elements each */
    set_shape(&item, axis, axis == ISO_AXIS_ALL ? 1000 : 5, 1021, 1);
    if (axis == ISO_AXIS_ALL) { /* a matrix of several rows without gaps, which a kernel may treat
                                   as one array */
        item.reduce.rows = 7;
    }
    add(list, &item, COUNT(variants), full);
}

static void cases(verify_list *list, bool full)
{
    static const iso_axis axes[] = {ISO_AXIS_ALL, ISO_AXIS_0, ISO_AXIS_1};
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        for (iso_reduce_op op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
            iso_dtype result;
            if (iso_reduce_result(op, dtype, &result) != ISO_OK) {
                continue;
            }
            for (int a = 0; a < COUNT(axes); a++) {
                corners(list, op, dtype, axes[a], full);
                one(list, op, dtype, axes[a], false, full);
                if (full) {
                    one(list, op, dtype, axes[a], true, full);
                }
            }
            if (full) {
                bench_case item = start(op, dtype);
                item.fill = op == ISO_PRODUCT ? ARITH_POWERS : ARITH_SPARSE;
                set_shape(&item, ISO_AXIS_ALL, (1 << 24) + 5, 1, 1);
                add(list, &item, COUNT(variants), full);
            }
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"sum",   "product", "min",    "max", "mean", "dot",     "asum",
                                    "norm2", "argmin",  "argmax", "xor", "amax", "argamax", NULL};
static const char *const axes[] = {"all", "0", "1", NULL};

const bench_op bench_reduce = {
    .name = "reduce",
    .measured = "reduce",
    .verified = "reduce",
    .title = "Reductions",
    .size = "elements",
    .kinds = kinds,
    .variants = bench_partial_variants,
    .types = bench_all_types,
    .layouts = axes,
    .usual_kinds = "sum",
    .usual_variants = "tiled",
    .usual_types = "f32,f64",
    .usual_layout = "all",
    .counts = 1 << 0 | 1 << 1 | 1 << 2,
    .kind_member = "reduction",
    .size_members = bench_matrix_members,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_reduce,
    .set_kind = set_kind,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .has_bits = has_bits,
    .cases = cases,
    .lay = lay,
    .companies = reduce_companies,
    .view = reduce_view,
    .describe = describe,
};
