/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - resolves the variant and math mode of an operation on a device, and whether the
 * device supports it. */
#include "core/device.h"
#include "core/error.h"
#include "core/op.h"

#include <stdio.h>
#include <stdlib.h>

/* Support does not depend on alpha: if alpha = 0 made the sums empty, the device is first queried
 * with the operation as given. After a yes, only a backend that breaks the rules can refuse. */
static iso_status ask_table(const char *call, core_op *op, core_device *device)
{
    const iso_backend *table = device->table;
    iso_status status;

    if (op->summed && *op->summed != op->summed_given) {
        *op->summed = op->summed_given;
        status = CORE_CALL(call, table, table->supports(device->physical->device, &op->op));
        *op->summed = 0;
        if (status) {
            return status;
        }
    }
    return CORE_CALL(call, table, table->supports(device->physical->device, &op->op));
}

/* Why the operation never uses TF32, on any device; NULL if it may. */
static const char *without_tf32(const core_op *op)
{
    if (op->dtype != ISO_F32) {
        return "TF32 is for products of f32";
    }
    if (*op->variant == ISO_VARIANT_NAIVE || *op->variant == ISO_VARIANT_TILED) {
        return "naive and tiled products have defined bits, without TF32";
    }
    return NULL;
}

/* TF32 is a permission: if the device refuses it, the strict product is queried. */
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

    if (table->abi_minor < op->row->abi_minor) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: %s was built for version %u.%u of the backend interface, which has "
                         "no %s: build it again",
                         call, table->name, table->abi_major, table->abi_minor, op->row->plural);
    }
    op->math_reason[0] = 0;
    if (op->math) {
        *op->math = ISO_MATH_STRICT;
    }
    return op->math && math == ISO_MATH_TF32 ? ask_tf32(call, op, device)
                                             : ask_table(call, op, device);
}

iso_status core_op_resolve(const char *call, core_op *op, core_device *device)
{
    const iso_variant *order = op->row->order;
    iso_math math = op->math && *op->math ? *op->math : device->math;
    core_text reasons = {0};
    core_kept_error kept;
    iso_status status = ISO_UNSUPPORTED;

    /* Support must not depend on size: an empty operation is queried as one of a single element,
     * and backends need not handle sizes of 0. */
    if (op->empty) {
        op->row->shrink(op);
    }
    if (*op->variant != ISO_VARIANT_AUTO) {
        if (!(op->row->variants >> *op->variant & 1)) {
            const char *name = iso_variant_name(*op->variant);
            return core_fail(ISO_UNSUPPORTED, "%s: variant is %s, which %s do not have", call,
                             name ? name : "reserved", op->row->plural);
        }
        return ask(call, op, device, math);
    }
    kept = core_error_keep();
    for (size_t i = 0; i < sizeof op->row->order / sizeof order[0] && order[i]; i++) {
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
