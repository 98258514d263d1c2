/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - the row of transposes. */
#include "bench/ops/ops.h"
#include "bench/suite/suite.h"
#include "bench/workload/workload.h"

static void set_size(work_case *item, const work_size *size)
{
    item->rows = size->beyond_cache ? work_square(size->of[0]) : size->of[0];
    item->cols = size->count > 1 ? size->of[1] : item->rows;
}

static void shape(const work_case *item, work_shape *out)
{
    *out = (work_shape){.names = {"rows", "cols"},
                        .sizes = {item->rows, item->cols},
                        .count = 2,
                        .elements = (double)item->rows * (double)item->cols};
}

static void needs(const work_case *item, work_needs *out)
{
    int64_t element = item->element;
    out->type = element <= 2 ? ISO_F16 : element == 4 ? ISO_F32 : ISO_F64;
    out->results = item->rows * item->cols;
    out->bytes[0] = out->results * element;
}

static iso_op_kind arguments(const work_case *item, work_args *args)
{
    args->transpose = (iso_transpose_args)ISO_TRANSPOSE_ARGS_INIT;
    args->transpose.variant = item->how;
    args->transpose.element_bytes = item->element;
    args->transpose.rows = item->rows;
    args->transpose.cols = item->cols;
    return ISO_OP_TRANSPOSE;
}

static void operands(const work_case *item, work_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->transpose.from = inputs[0];
    args->transpose.to = result;
}

static void slows(const work_case *item, bool native, double *rate, double *moved)
{
    (void)native;
    (void)rate;
    *moved *= item->how == ISO_VARIANT_TILED ? 1 : 4;
}

static const char *const types[] = {"e1", "e2", "e4", "e8", "e16", NULL};

const bench_op bench_transpose = {
    .name = "transpose",
    .measured = "transpose",
    .verified = "transpose",
    .title = "Transposes",
    .size = "N",
    .variants = work_plain_variants,
    .types = types,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "e4,e8",
    .counts = 1 << 0 | 1 << 1 | 1 << 2,
    .set_size = set_size,
    .shape = shape,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .slows = slows,
    .check = work_check_transpose,
    .same_in_variants = true,
    .cases = suite_list_transpose,
    .run = suite_run_transpose,
    .describe = suite_describe_transpose,
};
