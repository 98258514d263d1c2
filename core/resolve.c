/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - which variant and math mode an operation has on a device, and whether that does it.
 */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>

enum { MINOR_OF_MAPS = 2 };

/* An operation that does nothing is asked about as if it had one element: support does not depend
 * on sizes being 0, and backends never see them so, nor the other sizes, which need not fit memory.
 */
static void make_askable(core_op *op)
{
    if (!op->empty) {
        return;
    }
    if (op->op.kind == ISO_OP_GEMM) {
        op->gemm.m = op->gemm.n = op->gemm.k = op->gemm.batch = op->given_k = 1;
        op->gemm.lda = op->gemm.ldb = op->gemm.ldc = 1;
        op->gemm.stride_a = op->gemm.stride_b = op->gemm.stride_c = 0;
    } else if (op->op.kind == ISO_OP_TRANSPOSE) {
        op->transpose.rows = op->transpose.cols = 1;
        op->transpose.ld_from = op->transpose.ld_to = 1;
    } else if (op->op.kind == ISO_OP_MAP) {
        op->map.n = 1;
    } else {
        op->reduce.rows = op->reduce.cols = 1;
        op->reduce.ld_x = op->reduce.ld_y = 1;
    }
}

/* The answer does not depend on alpha, where that is 0 and k counts as 0: the device is asked about
 * the product with its k. Only one that breaks the rule for backends may then say no to k = 0. */
static iso_status ask_table(const char *call, core_op *op, core_device *device)
{
    const iso_backend *table = device->table;
    iso_status status;

    if (op->op.kind == ISO_OP_GEMM && op->gemm.k != op->given_k) {
        op->gemm.k = op->given_k;
        status = CORE_CALL(call, table, table->supports(device->physical->device, &op->op));
        op->gemm.k = 0;
        if (status) {
            return status;
        }
    }
    return CORE_CALL(call, table, table->supports(device->physical->device, &op->op));
}

/* What takes no TF32, whatever the device: NULL for a product that may. */
static const char *without_tf32(const core_op *op)
{
    if (op->gemm.dtype != ISO_F32) {
        return "TF32 is for products of f32";
    }
    if (op->gemm.variant != ISO_VARIANT_VENDOR && op->gemm.variant != ISO_VARIANT_MATRIX) {
        return "naive and tiled products have defined bits, without TF32";
    }
    return NULL;
}

/* TF32 is permission: where the device says no to it, the strict product is asked about. */
static iso_status ask_tf32(const char *call, core_op *op, core_device *device)
{
    const char *never = without_tf32(op);
    core_kept_error kept;
    iso_status status;

    if (never) {
        snprintf(op->math_reason, sizeof op->math_reason, "%s", never);
        return ask_table(call, op, device);
    }
    kept = core_error_keep();
    *op->math = ISO_MATH_TF32;
    status = ask_table(call, op, device);
    if (status == ISO_UNSUPPORTED) {
        snprintf(op->math_reason, sizeof op->math_reason, "%s", core_reason(call));
        *op->math = ISO_MATH_STRICT;
        status = ask_table(call, op, device);
    }
    if (status) {
        free(kept.text);
    } else {
        core_error_restore(&kept);
    }
    return status;
}

static iso_status ask(const char *call, core_op *op, core_device *device, iso_math math)
{
    const iso_backend *table = device->table;

    if (op->op.kind == ISO_OP_MAP && table->abi_minor < MINOR_OF_MAPS) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: %s was built for version %u.%u of the backend interface, which has "
                         "no maps: build it anew",
                         call, table->name, table->abi_major, table->abi_minor);
    }
    op->math_reason[0] = 0;
    if (op->math) {
        *op->math = ISO_MATH_STRICT;
    }
    return op->math && math == ISO_MATH_TF32 ? ask_tf32(call, op, device)
                                             : ask_table(call, op, device);
}

/* Variants that an operation of this kind never has, whatever the device. */
static iso_status check_kind_has(const char *call, const core_op *op)
{
    iso_variant variant = *op->variant;

    if (variant == ISO_VARIANT_PARTIALS && op->op.kind != ISO_OP_REDUCE) {
        return core_fail(ISO_UNSUPPORTED, "%s: variant is partials, which only reductions have",
                         call);
    }
    if (op->op.kind == ISO_OP_MAP &&
        (variant == ISO_VARIANT_VENDOR || variant == ISO_VARIANT_MATRIX)) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: variant is %s, which maps do not have: use tiled or naive", call,
                         iso_variant_name(variant));
    }
    return ISO_OK;
}

iso_status core_op_resolve(const char *call, core_op *op, core_device *device)
{
    /* A vendor's transpose may compute with what it moves (it has a factor alpha): auto keeps the
     * bits. */
    static const iso_variant product[] = {ISO_VARIANT_VENDOR, ISO_VARIANT_TILED, ISO_VARIANT_NAIVE};
    static const iso_variant move[] = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE, ISO_VARIANT_VENDOR};
    static const iso_variant map[] = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE, ISO_VARIANT_AUTO};
    const iso_variant *order = op->op.kind == ISO_OP_TRANSPOSE ? move
                               : op->op.kind == ISO_OP_MAP     ? map
                                                               : product;
    iso_math math = op->math && *op->math ? *op->math : device->math;
    core_text reasons = {0};
    core_kept_error kept;
    iso_status status = check_kind_has(call, op);

    if (status) {
        return status;
    }
    make_askable(op);
    if (*op->variant != ISO_VARIANT_AUTO) {
        return ask(call, op, device, math);
    }
    kept = core_error_keep();
    for (size_t i = 0; i < sizeof product / sizeof product[0] && order[i]; i++) {
        *op->variant = order[i];
        status = ask(call, op, device, math);
        if (status != ISO_UNSUPPORTED) {
            break;
        }
        core_text_add(&reasons, "%s%s", i ? "; " : "", iso_last_error());
    }
    if (!status) {
        core_error_restore(&kept);
    } else if (status == ISO_UNSUPPORTED) {
        core_fail(status, "%s: no variant: %s", call, core_text_get(&reasons));
    }
    if (status) {
        free(kept.text);
    }
    core_text_free(&reasons);
    return status;
}
