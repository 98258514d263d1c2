/* SPDX-License-Identifier: Apache-2.0 */
/* check_map.c - the arguments of a map. */
#include "core/core.h"

static bool uses_y(iso_map_op op)
{
    return op == ISO_MAP_ADD || op == ISO_MAP_MULTIPLY || op == ISO_MAP_TRIAD;
}

static iso_status check_values(const char *call, const iso_map_args *args)
{
    iso_map_op op = args->op;
    iso_status status = core_check_dtype(call, args->dtype);

    if (status) {
        return status;
    }
    if (!iso_map_op_name(op)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %d, which is no map: use ISO_MAP_COPY (1) to ISO_MAP_CHAIN (6)",
                         call, (int)op);
    }
    if ((args->dtype == ISO_I32 || args->dtype == ISO_I64) &&
        (op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %s and dtype %s: scale, triad and chain take floating-point "
                         "types; of integers there are copy, add and multiply",
                         call, iso_map_op_name(op), iso_dtype_name(args->dtype));
    }
    status = core_check_size(call, "n", args->n);
    if (!status && op == ISO_MAP_CHAIN) {
        status = core_check_size(call, "steps", args->steps);
    }
    if (!status) {
        status = core_check_variant(call, args->variant);
    }
    return status;
}

static bool same(iso_operand a, iso_operand b)
{
    return a.buffer.id && a.buffer.id == b.buffer.id && a.offset == b.offset;
}

static void cost(const iso_map_args *args, core_op *out)
{
    const iso_map_op_args *op = &out->map;
    double n = (double)op->n, bytes = n * (double)iso_dtype_size(op->dtype);
    double flops = op->op == ISO_MAP_COPY    ? 0.0
                   : op->op == ISO_MAP_TRIAD ? 2.0
                   : op->op == ISO_MAP_CHAIN ? 2.0 * (double)op->steps
                                             : 1.0;

    out->cost.flops = flops * n;
    out->cost.bytes_read = bytes * (uses_y(op->op) && !same(args->x, args->y) ? 2.0 : 1.0);
    out->cost.bytes_written = bytes;
}

iso_status core_check_map(const char *call, const void *given, core_op *out)
{
    iso_map_op_args *op = &out->map;
    int64_t element, bytes;
    iso_map_args args;
    iso_status status;

    status = core_struct_read(call, "args", given, offsetof(iso_map_args, x), &args, sizeof args);
    if (!status) {
        status = check_values(call, &args);
    }
    if (status) {
        return status;
    }
    element = iso_dtype_size(args.dtype);
    if (__builtin_mul_overflow(args.n, element, &bytes)) {
        return core_fail(ISO_INVALID,
                         "%s: n is %lld: so many elements of %lld bytes do not fit 64 bits: use "
                         "fewer",
                         call, (long long)args.n, (long long)element);
    }
    *op = (iso_map_op_args){
        .op = args.op,
        .dtype = args.dtype,
        .variant = args.variant,
        .n = args.n,
        .steps = args.op == ISO_MAP_CHAIN ? args.steps : 0,
        .alpha = core_round_factor(args.dtype, args.alpha),
        .beta = core_round_factor(args.dtype, args.beta),
    };
    out->empty = op->n ? CORE_NOT_EMPTY : CORE_NOTHING;
    out->in_place = true;
    out->variant = &op->variant;
    out->op.map = op;
    out->op.args_size = (uint32_t)sizeof *op;
    *core_op_use(out, "x", args.x, &op->x, element, false) = core_run(bytes);
    if (uses_y(op->op)) {
        *core_op_use(out, "y", args.y, &op->y, element, false) = core_run(bytes);
    }
    *core_op_use(out, "z", args.z, &op->z, element, true) = core_run(bytes);
    cost(&args, out);
    return ISO_OK;
}
