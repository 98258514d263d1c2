/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reductions: dispatches to the variants. */
#include "backends/openmp/reduce.h"

#include <stdio.h>

static iso_status supports(cpu_device *device, const iso_op *op)
{
    (void)device;
    return op->reduce->variant == ISO_VARIANT_VENDOR ? cpu_reduce_vendor_supports(op->reduce)
                                                     : ISO_OK;
}

static int64_t workspace(cpu_device *device, const iso_op *op)
{
    if (op->reduce->variant != ISO_VARIANT_TILED && op->reduce->variant != ISO_VARIANT_PARTIALS) {
        return 0;
    }
    cpu_reduction r;
    cpu_reduction_init(&r, op->reduce);
    return cpu_reduce_tiled_workspace(device, &r);
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_reduce_op_args *args = op->reduce;
    if (args->variant == ISO_VARIANT_VENDOR) {
        cpu_reduce_vendor_describe(args, out);
        return;
    }
    cpu_reduction r;
    cpu_reduction_init(&r, args);
    /* The naive min and max are the same in all instruction sets. */
    const int plain = args->variant == ISO_VARIANT_NAIVE && r.order >= 0;
    snprintf(out->kernel, sizeof out->kernel, "%s_%s_%s%s%s", iso_reduce_op_name(args->op),
             iso_variant_name(args->variant), iso_dtype_name(args->dtype), plain ? "" : "_",
             plain ? "" : device->kernels->name);
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    cpu_reduction r;
    cpu_reduction_init(&r, op->reduce);
    switch (op->reduce->variant) {
    case ISO_VARIANT_NAIVE:
        cpu_reduce_naive(device, &r);
        break;
    case ISO_VARIANT_VENDOR:
        return cpu_reduce_vendor(device, op->reduce);
    default:
        cpu_reduce_tiled(device, &r, cpu_at(op->workspace));
    }
    return ISO_OK;
}

const cpu_operation cpu_reduce = {
    .supports = supports,
    .workspace = workspace,
    .describe = describe,
    .execute = execute,
};
