/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - the row of reductions. */
#include "bench/ops/ops.h"
#include "bench/suite/suite.h"
#include "bench/workload/workload.h"

#include <stdio.h>

static bool set_kind(work_case *item, const char *kind)
{
    iso_reduce_op_parse(kind, &item->reduction);
    return arith_is_float(item->dtype) || item->reduction != ISO_NORM2;
}

static void set_layout(work_case *item, const char *layout)
{
    iso_axis_parse(layout, &item->axis);
}

/* As a whole number; what is too large for any device stays so. */
static int64_t times(int64_t a, int64_t b)
{
    return (double)a * (double)b < 0x1p60 ? a * b : INT64_C(1) << 60;
}

/* Along an axis, one number is the side of a square. */
static void set_size(work_case *item, const work_size *size)
{
    bool all = item->axis == ISO_AXIS_ALL;
    int64_t first = size->beyond_cache && !all ? work_square(size->of[0]) : size->of[0];
    int64_t second = size->count > 1 ? size->of[1] : first;
    item->rows = all ? 1 : first;
    item->cols = all && size->count > 1 ? times(first, second) : second;
}

static void shape(const work_case *item, work_shape *out)
{
    *out = (work_shape){.names = {"rows", "cols"},
                        .sizes = {item->rows, item->cols},
                        .count = 2,
                        .elements = (double)item->rows * (double)item->cols,
                        .layout = {{"axis", iso_axis_name(item->axis)}}};
    snprintf(out->form, sizeof out->form, "/axis%s", iso_axis_name(item->axis));
    if (item->axis == ISO_AXIS_ALL) {
        out->names[0] = "elements";
        out->sizes[0] = item->cols;
        out->count = 1;
        snprintf(out->form, sizeof out->form, "/all");
    }
}

static void needs(const work_case *item, work_needs *out)
{
    out->inputs = item->reduction == ISO_DOT ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->rows * item->cols * item->element;
    out->results = item->axis == ISO_AXIS_ALL ? 1
                   : item->axis == ISO_AXIS_0 ? item->cols
                                              : item->rows;
    iso_reduce_result(item->reduction, item->dtype, &out->result_type);
}

static iso_op_kind arguments(const work_case *item, work_args *all)
{
    iso_reduce_args *args = &all->reduce;
    *args = (iso_reduce_args)ISO_REDUCE_ARGS_INIT;
    args->op = item->reduction;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->axis = item->axis;
    args->rows = item->rows;
    args->cols = item->cols;
    return ISO_OP_REDUCE;
}

static void operands(const work_case *item, work_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    args->reduce.x = inputs[0];
    if (item->reduction == ISO_DOT) {
        args->reduce.y = inputs[1];
    }
    args->reduce.result = result;
}

static bool has_bits(const work_case *item)
{
    return item->how == ISO_VARIANT_TILED || !arith_is_float(item->dtype) ||
           item->reduction == ISO_MIN || item->reduction == ISO_MAX ||
           item->reduction == ISO_ARGMIN || item->reduction == ISO_ARGMAX;
}

static int32_t roof(const work_case *item)
{
    bool reads = item->reduction == ISO_SUM || item->reduction == ISO_DOT;
    return item->axis == ISO_AXIS_ALL && reads ? WORK_ROOF_READ : WORK_NO_ROOF;
}

static const char *verified_kind(const suite_case *item)
{
    return iso_reduce_op_name(item->reduce.op);
}

static const char *const kinds[] = {"sum",  "product", "min",    "max",    "mean", "dot",
                                    "asum", "norm2",   "argmin", "argmax", NULL};
static const char *const axes[] = {"all", "0", "1", NULL};

const bench_op bench_reduce = {
    .name = "reduce",
    .measured = "reduce",
    .verified = "reduce",
    .title = "Reductions",
    .size = "elements",
    .kinds = kinds,
    .variants = work_partial_variants,
    .types = work_all_types,
    .layouts = axes,
    .usual_kinds = "sum",
    .usual_variants = "tiled",
    .usual_types = "f32,f64",
    .usual_layout = "all",
    .counts = 1 << 0 | 1 << 1 | 1 << 2,
    .set_kind = set_kind,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .has_bits = has_bits,
    .roof = roof,
    .check = work_check_reduce,
    .verified_kind = verified_kind,
    .cases = suite_list_reduce,
    .run = suite_run_reduce,
    .describe = suite_describe_reduce,
};
