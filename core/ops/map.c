/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps: their arguments, cost and name in traces. */
#include "common/dtype.h"
#include "core/op.h"

#include <stdbool.h>
#include <stdio.h>

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
        return core_fail(
            ISO_INVALID,
            "%s: op is %d, which is not a map: use ISO_MAP_COPY (1) to ISO_MAP_CHAIN (6)", call,
            (int)op);
    }
    if (!dtype_get(args->dtype)->floating &&
        (op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %s and dtype %s: scale, triad and chain take floating-point "
                         "types; integers have only copy, add and multiply",
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

static iso_status read(const char *call, const void *given, core_op *out)
{
    iso_map_op_args *op = &out->args.map;
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
                         "%s: n is %lld: that many elements of %lld bytes do not fit 64 bits: use "
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
    *core_op_use(out, "x", args.x, &op->x, element, false) = core_run(bytes);
    if (uses_y(op->op)) {
        *core_op_use(out, "y", args.y, &op->y, element, false) = core_run(bytes);
    }
    *core_op_use(out, "z", args.z, &op->z, element, true) = core_run(bytes);
    return ISO_OK;
}

static void cost(core_op *out)
{
    const iso_map_op_args *op = &out->args.map;
    double n = (double)op->n, bytes = n * (double)iso_dtype_size(op->dtype);
    double flops = op->op == ISO_MAP_COPY    ? 0.0
                   : op->op == ISO_MAP_TRIAD ? 2.0
                   : op->op == ISO_MAP_CHAIN ? 2.0 * (double)op->steps
                                             : 1.0;
    bool two = uses_y(op->op) && !core_use_is_same(&out->uses[0], &out->uses[1]);

    out->cost.flops = flops * n;
    out->cost.bytes_read = bytes * (two ? 2.0 : 1.0);
    out->cost.bytes_written = bytes;
}

static void shrink(core_op *out)
{
    out->args.map.n = 1;
}

static void trace(const core_op *out, const char *variant, char *name, size_t room)
{
    const iso_map_op_args *op = &out->args.map;
    int length = snprintf(name, room, "%s %s %s %lld", iso_map_op_name(op->op), variant,
                          iso_dtype_name(op->dtype), (long long)op->n);

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
};

iso_status iso_map(iso_stream stream, const iso_map_args *args)
{
    return core_op_execute("iso_map", stream, ISO_OP_MAP, args);
}
