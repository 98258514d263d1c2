/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - the row of maps. `bench` measures the kernels of STREAM with them, and the dot product,
 * which is a reduction, belongs to those: item->map is 0 for it. Ids and documents of `bench` call
 * them "stream", as results on record do.
 */
#include "bench/ops/ops.h"
#include "bench/suite/suite.h"
#include "bench/workload/workload.h"

#include <string.h>

/* A contraction: after thousands of steps the elements still differ, and none has grown. */
static const double chain_alpha = 1 - 0x1p-11, chain_beta = 0x1p-12;

/* Maps of whole numbers are copies, sums and products. */
static bool set_kind(work_case *item, const char *kind)
{
    if (strcmp(kind, "dot") == 0) {
        return bench_reduce.set_kind(item, kind);
    }
    return iso_map_op_parse(kind, &item->map) == ISO_OK &&
           (item->how == ISO_VARIANT_NAIVE || item->how == ISO_VARIANT_TILED) &&
           (arith_is_float(item->dtype) || item->map == ISO_MAP_COPY || item->map == ISO_MAP_ADD ||
            item->map == ISO_MAP_MULTIPLY);
}

static void set_size(work_case *item, const work_size *size)
{
    item->elements = item->cols = size->of[0];
    item->rows = 1;
}

static void shape(const work_case *item, work_shape *out)
{
    *out = (work_shape){.names = {"elements", "steps"},
                        .sizes = {item->elements, item->steps},
                        .count = item->map == ISO_MAP_CHAIN ? 2 : 1,
                        .elements = (double)item->elements};
}

static void needs(const work_case *item, work_needs *out)
{
    if (item->map == 0) {
        bench_reduce.needs(item, out);
        return;
    }
    out->inputs = arith_map_has_y(item->map) ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->elements * item->element;
    out->results = item->elements;
    out->result_type = item->dtype;
}

static iso_op_kind arguments(const work_case *item, work_args *all)
{
    iso_map_args *args = &all->map;
    if (item->map == 0) {
        return bench_reduce.arguments(item, all);
    }
    *args = (iso_map_args)ISO_MAP_ARGS_INIT;
    args->op = item->map;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->n = item->elements;
    args->steps = item->steps;
    args->alpha = item->map == ISO_MAP_CHAIN ? chain_alpha : 0.4;
    args->beta = item->map == ISO_MAP_CHAIN ? chain_beta : 0;
    return ISO_OP_MAP;
}

static void operands(const work_case *item, work_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    if (item->map == 0) {
        bench_reduce.operands(item, args, inputs, result);
        return;
    }
    args->map.x = inputs[0];
    if (arith_map_has_y(item->map)) {
        args->map.y = inputs[1];
    }
    args->map.z = result;
}

static bool has_bits(const work_case *item)
{
    return item->map != 0 || bench_reduce.has_bits(item);
}

static int32_t roof(const work_case *item)
{
    if (item->map == 0) {
        return bench_reduce.roof(item);
    }
    return item->map == ISO_MAP_COPY ? WORK_ROOF_COPY : WORK_NO_ROOF;
}

static bool check(const work_case *item, work_inputs *inputs, const void *data, work_result *result)
{
    return (item->map == 0 ? work_check_reduce : work_check_map)(item, inputs, data, result);
}

static const char *verified_kind(const suite_case *item)
{
    return iso_map_op_name(item->map.op);
}

static const char *const kinds[] = {"dot",      "copy",  "scale", "add",
                                    "multiply", "triad", "chain", NULL};

const bench_op bench_map = {
    .name = "map",
    .measured = "stream",
    .verified = "map",
    .title = "Streams",
    .size = "elements",
    .computes = "chain",
    .computes_title = "Chained multiply-adds",
    .kinds = kinds,
    .variants = work_partial_variants,
    .types = work_all_types,
    .usual_kinds = "copy,scale,add,triad,dot",
    .usual_variants = "tiled",
    .usual_types = "f32,f64",
    .counts = 1 << 0 | 1 << 1,
    .set_kind = set_kind,
    .set_size = set_size,
    .shape = shape,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .has_bits = has_bits,
    .roof = roof,
    .check = check,
    .same_in_variants = true,
    .verified_kind = verified_kind,
    .cases = suite_list_map,
    .run = suite_run_map,
    .describe = suite_describe_map,
};
