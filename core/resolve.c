/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - how a device runs an operation: asks its backend what it supports, and chooses the
 * variant and the math mode. */
#include "core/call.h"
#include "core/compose/compose.h"
#include "core/host.h"
#include "core/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- support and math mode ------------------------------------------------------------------- */

static iso_status ask_once(const char *call, core_op *op, core_device *device)
{
    const iso_backend *table = device->table;

    return core_is_composed(op)
               ? core_compose_supports(call, op, device)
               : CORE_CALL(call, table, table->supports(device->physical->device, &op->op));
}

/* Whether an operation is supported must not depend on alpha. If alpha = 0 made the sums empty, the
 * device is asked twice: first about sums of the length that the caller gave, then about empty
 * sums. */
static iso_status ask_table(const char *call, core_op *op, core_device *device)
{
    iso_status status;

    if (op->summed && *op->summed != op->summed_given) {
        *op->summed = op->summed_given;
        status = ask_once(call, op, device);
        *op->summed = 0;
        if (status) {
            return status;
        }
    }
    return ask_once(call, op, device);
}

/* Why the operation never uses TF32, on any device; NULL if it may. */
static const char *without_tf32(const core_op *op)
{
    if (op->dtype != ISO_F32) {
        return "only products of f32 can use TF32";
    }
    if (*op->variant == ISO_VARIANT_NAIVE || *op->variant == ISO_VARIANT_TILED ||
        *op->variant == ISO_VARIANT_FIXED) {
        return "naive, tiled and fixed products do not use TF32: their results are defined bit by "
               "bit";
    }
    return NULL;
}

/* TF32 is allowed, not required: a device that refuses it is asked about the strict product. */
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

/* What a backend built for this version of the interface does not know about the operation; NULL if
 * it knows everything. Such a backend is not asked, because it may take an unknown variant for one
 * that it has. */
static const char *unknown_to(const iso_backend *table, const core_op *op)
{
    enum { MINOR_OF_FIXED = 6 };

    if (table->abi_minor < op->row->abi_minor) {
        return op->row->plural;
    }
    if (table->abi_minor < op->abi_minor) {
        return op->newer;
    }
    return *op->variant == ISO_VARIANT_FIXED && table->abi_minor < MINOR_OF_FIXED ? "variant fixed"
                                                                                  : NULL;
}

static iso_status ask(const char *call, core_op *op, core_device *device, iso_math math)
{
    const iso_backend *table = device->table;
    const char *unknown = unknown_to(table, op);

    if (unknown) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: %s was built for version %u.%u of the backend interface, which has "
                         "no %s: rebuild it",
                         call, table->name, table->abi_major, table->abi_minor, unknown);
    }
    if (*op->variant == ISO_VARIANT_FIXED && op->not_fixed) {
        return core_fail(ISO_UNSUPPORTED, "%s: variant is fixed, %s", call, op->not_fixed);
    }
    op->math_reason[0] = 0;
    if (op->math) {
        *op->math = ISO_MATH_STRICT;
    }
    return op->math && math == ISO_MATH_TF32 ? ask_tf32(call, op, device)
                                             : ask_table(call, op, device);
}

/* ---- what the caller keeps ------------------------------------------------------------------- */

static iso_keep keep_of(const core_op *op, const core_device *device)
{
    return !op->row->keeps ? ISO_KEEP_TERMS : op->keep ? op->keep : device->keep;
}

/* Whether the backend expects fixed to be faster than the other variants. A product that may use
 * TF32 is not fixed: TF32 is faster. The choice must not depend on alpha, so the backend gets the
 * length that the caller gave. */
static bool prefers_fixed(const char *call, core_op *op, core_device *device, iso_math math)
{
    const iso_backend *table = device->table;
    int32_t preferred = 0;
    int64_t summed;

    if (!(op->row->variants & CORE_FIXED) || op->not_fixed || op->unmeasured ||
        !table->prefers_fixed || (op->dtype == ISO_F32 && math == ISO_MATH_TF32) ||
        core_stack_check(call, table)) {
        return false;
    }
    summed = *op->summed;
    *op->summed = op->summed_given;
    *op->variant = ISO_VARIANT_FIXED;
    CORE_DO(preferred = table->prefers_fixed(device->physical->device, &op->op));
    *op->summed = summed;
    return preferred != 0;
}

/* ---- measured choices ------------------------------------------------------------------------ */

/* Whether the times of a table are of this library. A table of the package was measured elsewhere,
 * so another version of the same library counts for it. */
static bool is_measured(const core_tuned *tuned, const char *library)
{
    return !strcmp(library, tuned->table->library) ||
           (tuned->packaged && tuned_same_major(library, tuned->table->library));
}

/* Whether the vendor's library is one that the table's times are of, or does not support the
 * operation: then the other variants' times are left. The first library's answer is kept. */
static bool library_is_same(const char *call, core_op *op, core_device *device)
{
    const iso_backend *table = device->table;
    core_tuned *tuned = device->tuned;
    iso_op_info info = ISO_OP_INFO_INIT;
    int verdict = atomic_load(&tuned->library);
    iso_status status;

    if (verdict != CORE_LIBRARY_UNKNOWN) {
        return verdict == CORE_LIBRARY_SAME;
    }
    *op->variant = ISO_VARIANT_VENDOR;
    status = ask(call, op, device, ISO_MATH_STRICT);
    if (status || !table->describe ||
        CORE_CALL(call, table, table->describe(device->physical->device, &op->op, &info))) {
        return status == ISO_UNSUPPORTED;
    }
    info.library[sizeof info.library - 1] = '\0';
    verdict = is_measured(tuned, info.library) ? CORE_LIBRARY_SAME : CORE_LIBRARY_OTHER;
    if (verdict == CORE_LIBRARY_OTHER && atomic_exchange(&tuned->library, verdict) != verdict) {
        core_log(ISO_LOG_WARN,
                 "%s: the table of measured choices is of %s, but the vendor's library is %s: auto "
                 "does not choose by it: run isomer tune",
                 device->physical->spec, tuned->table->library, info.library);
    }
    atomic_store(&tuned->library, verdict);
    return verdict == CORE_LIBRARY_SAME;
}

/* What a variant is sorted by. The vendor's without a time stays first, others without a time
 * follow those that have one, and what gave a wrong result comes last. */
static int64_t rank_of(iso_variant variant, const tuned_row *row)
{
    for (int v = 0; v < TUNED_VARIANTS; v++) {
        if (tuned_variants[v] == variant && row->times[v]) {
            return row->times[v] == TUNED_WRONG ? INT64_MAX : row->times[v];
        }
    }
    return variant == ISO_VARIANT_VENDOR ? 0 : INT64_MAX - 1;
}

/* Sorts the variants of `order` from `first` on by the row's times. Equals keep their order. */
static void sort_by_times(iso_variant *order, int first, int count, const tuned_row *row)
{
    int64_t times[CORE_ORDER_MAX + 2];

    for (int i = first; i < count; i++) {
        const iso_variant variant = order[i];
        const int64_t time = rank_of(variant, row);
        int at = i;

        for (; at > first && times[at - 1] > time; at--) {
            times[at] = times[at - 1];
            order[at] = order[at - 1];
        }
        times[at] = time;
        order[at] = variant;
    }
}

/* Orders the variants that the caller allows by the times of the row that covers the operation.
 * Times are of strict products and of the first library. */
static void apply_row(const char *call, core_op *op, core_device *device, iso_math math,
                      iso_keep keep, iso_variant *order, int count)
{
    int32_t library = 0;
    const tuned_row *row = core_tuned_row(device, op, &library);
    const bool fixed = keep == ISO_KEEP_SCALE && row && row->times[TUNED_FIXED] > 0 &&
                       (op->row->variants & CORE_FIXED) && !op->not_fixed;
    iso_variant sorted[CORE_ORDER_MAX + 2];
    int first = 0, all = 0;

    if (!row || library != 0 || (op->dtype == ISO_F32 && math == ISO_MATH_TF32)) {
        return;
    }
    if (fixed && order[0] != ISO_VARIANT_FIXED) {
        sorted[all++] = ISO_VARIANT_FIXED;
    }
    memcpy(sorted + all, order, (size_t)count * sizeof *order);
    all += count;
    /* Not measured: it stays where the backend wants it. */
    first = order[0] == ISO_VARIANT_FIXED && !row->times[TUNED_FIXED];
    sort_by_times(sorted, first, all, row);
    if (sorted[0] != order[0] && row->times[TUNED_VENDOR] && !library_is_same(call, op, device)) {
        return;
    }
    memcpy(order, sorted, (size_t)all * sizeof *order);
    order[all] = ISO_VARIANT_AUTO;
}

/* Says which way of tiled the table names. */
static void set_way(core_op *op, const core_device *device)
{
    int32_t library = 0, way = 0;
    const tuned_row *row = op->row->way_at && *op->variant == ISO_VARIANT_TILED
                               ? core_tuned_row(device, op, &library)
                               : NULL;

    if (row) {
        way = row->way_number;
        memcpy((char *)&op->args + op->row->way_at, &way, sizeof way);
    }
}

/* ---- auto ------------------------------------------------------------------------------------ */

/* Fills `order` with the variants to try in turn: at most CORE_ORDER_MAX + 1, and a 0. */
static void order_of(const char *call, core_op *op, core_device *device, iso_math math,
                     iso_variant *order)
{
    iso_keep keep = keep_of(op, device);
    int count = 0;

    if (keep == ISO_KEEP_BITS) {
        order[0] = ISO_VARIANT_TILED;
        order[1] = ISO_VARIANT_AUTO;
        return;
    }
    if (keep == ISO_KEEP_SCALE && prefers_fixed(call, op, device, math)) {
        order[count++] = ISO_VARIANT_FIXED;
    }
    for (int i = 0; i < CORE_ORDER_MAX && op->row->order[i]; i++) {
        order[count++] = op->row->order[i];
    }
    order[count] = ISO_VARIANT_AUTO;
    apply_row(call, op, device, math, keep, order, count);
}

/* Replaces the variant auto by the first one that the device supports. */
static iso_status choose(const char *call, core_op *op, core_device *device, iso_math math)
{
    iso_variant order[CORE_ORDER_MAX + 2];
    core_text reasons = {0};
    core_kept_error kept = core_error_keep();
    iso_status status = ISO_UNSUPPORTED;

    order_of(call, op, device, math, order);
    for (int i = 0; order[i]; i++) {
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
        core_fail(status, "%s: %s: %s", call,
                  keep_of(op, device) == ISO_KEEP_BITS
                      ? "keep is bits, and only tiled keeps them, but it is not supported"
                      : "no variant is supported",
                  core_text_get(&reasons));
    }
    if (status) {
        free(kept.text);
    }
    core_text_free(&reasons);
    return status;
}

iso_status core_op_resolve(const char *call, core_op *op, core_device *device)
{
    iso_math math = op->math && *op->math ? *op->math : device->math;
    iso_status status;

    /* Support must not depend on size, and backends need not handle sizes of 0. So the device is
     * asked about a single element if the operation is empty. */
    if (op->empty) {
        op->row->shrink(op);
    }
    if (*op->variant == ISO_VARIANT_AUTO) {
        status = choose(call, op, device, math);
    } else if (op->row->variants >> *op->variant & 1) {
        status = ask(call, op, device, math);
    } else {
        const char *name = iso_variant_name(*op->variant);
        return core_fail(ISO_UNSUPPORTED, "%s: variant is %s, which %s do not have", call,
                         name ? name : "reserved", op->row->plural);
    }
    if (!status) {
        set_way(op, device);
    }
    return status;
}
