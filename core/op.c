/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - reads operations, resolves them, binds their operands, and passes them to the backend. */
#include "core/op.h"
#include "core/call.h"
#include "core/stream.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static iso_status read_op(const char *call, iso_op_kind kind, const void *args, core_op *out)
{
    core_fpenv callers;
    iso_status status;

    memset(out, 0, offsetof(core_op, uses));
    status = core_operation_find(call, kind, &out->row);
    if (status) {
        return status;
    }
    out->op.size = (uint32_t)sizeof out->op;
    out->op.kind = kind;
    out->op.args = &out->args;
    out->op.args_size = out->row->args_size;
    out->variant = (iso_variant *)(void *)((char *)&out->args + out->row->variant_at);
    out->cost = (iso_cost_info)ISO_COST_INFO_INIT;
    core_fpenv_enter(&callers); /* the cost is computed in floating point */
    status = out->row->read(call, args, out);
    if (!status) {
        out->row->cost(out);
    }
    core_fpenv_leave(&callers);
    return status;
}

/* ---- resolving: variant and math mode -------------------------------------------------------- */

/* Whether an operation is supported must not depend on alpha. If alpha = 0 made the sums empty, the
 * device is asked twice: first about sums of the length that the caller gave, then about empty
 * sums. */
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
    op->math_reason[0] = 0;
    if (op->math) {
        *op->math = ISO_MATH_STRICT;
    }
    return op->math && math == ISO_MATH_TF32 ? ask_tf32(call, op, device)
                                             : ask_table(call, op, device);
}

static iso_status resolve(const char *call, core_op *op, core_device *device)
{
    const iso_variant *order = op->row->order;
    iso_math math = op->math && *op->math ? *op->math : device->math;
    core_text reasons = {0};
    core_kept_error kept;
    iso_status status = ISO_UNSUPPORTED;

    /* Support must not depend on size, and backends need not handle sizes of 0. So the device is
     * asked about a single element if the operation is empty. */
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
        core_fail(status, "%s: no variant is supported: %s", call, core_text_get(&reasons));
    }
    if (status) {
        free(kept.text);
    }
    core_text_free(&reasons);
    return status;
}

/* ---- binding: operands to memory ------------------------------------------------------------- */

static void unbind(core_op *op)
{
    for (int i = 0; i < op->use_count; i++) {
        if (op->uses[i].buffer) {
            core_handle_release(op->uses[i].operand.buffer.id);
        }
    }
}

static iso_status bind_use(const char *call, core_use *use, const core_stream *stream)
{
    int64_t offset = use->operand.offset;
    iso_status status;

    if (!use->operand.buffer.id && !use->layout.bytes) {
        return ISO_OK;
    }
    status = core_operand_acquire(call, use->name, use->operand, stream, &use->buffer);
    if (!status) {
        status = core_check_range(call, use->name, offset, use->layout.bytes, use->buffer);
    }
    if (status) {
        return status;
    }
    if (offset % use->align) {
        return core_fail(ISO_INVALID,
                         "%s: %s.offset is %lld, which is not a multiple of the element's %lld "
                         "bytes",
                         call, use->name, (long long)offset, (long long)use->align);
    }
    if ((use->buffer->origin + offset) % use->align) {
        return core_fail(ISO_INVALID,
                         "%s: %s.buffer is imported memory that begins %lld bytes after a multiple "
                         "of the element's %lld bytes: import it from an aligned address",
                         call, use->name, (long long)(use->buffer->origin % use->align),
                         (long long)use->align);
    }
    return use->written && use->layout.bytes ? core_check_writable(call, use->name, use->buffer)
                                             : ISO_OK;
}

/* Sets the operands' references. Queries do not call this, so their references stay NULL. */
static void attach(core_op *op, const core_stream *stream)
{
    for (int i = 0; i < op->use_count; i++) {
        core_use *use = &op->uses[i];

        if (!use->layout.bytes) {
            continue;
        }
        *use->ref = core_buffer_ref(use->buffer, use->operand.offset);
        atomic_fetch_or(&use->buffer->used_by, stream->bit);
    }
}

/* Fails if `to`, which is written, overlaps the other operand. */
static iso_status check_pair(const char *call, const core_use *to, const core_use *other)
{
    core_overlap overlap =
        core_layouts_meet(to->operand.offset, &to->layout, other->operand.offset, &other->layout);

    if (overlap == CORE_APART) {
        return ISO_OK;
    }
    return core_fail(ISO_INVALID,
                     "%s: %s (offset %lld, %lld bytes) %s %s (offset %lld, %lld bytes) %s", call,
                     to->name, (long long)to->operand.offset, (long long)to->layout.bytes,
                     overlap == CORE_MEET ? "overlaps" : "may overlap", other->name,
                     (long long)other->operand.offset, (long long)other->layout.bytes,
                     overlap == CORE_MEET ? "in the same buffer: use blocks that share no element"
                                          : "in the same buffer: use the same leading dimension "
                                            "and stride for both, or separate ranges");
}

static iso_status check_overlap(const char *call, const core_op *op)
{
    iso_status status = ISO_OK;

    for (int i = 0; i < op->use_count; i++) {
        for (int j = 0; j < op->use_count && !status; j++) {
            const core_use *to = &op->uses[i], *other = &op->uses[j];

            if (i != j && to->written && to->buffer == other->buffer &&
                !(op->in_place && to->operand.offset == other->operand.offset)) {
                status = check_pair(call, to, other);
            }
        }
    }
    return status;
}

static iso_status bind(const char *call, core_op *op, const core_stream *stream)
{
    iso_status status = ISO_OK;

    for (int i = 0; i < op->use_count && !status; i++) {
        status = bind_use(call, &op->uses[i], stream);
    }
    return status ? status : check_overlap(call, op);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Writes the results of a reduction over no elements. */
static iso_status fill_neutral(const char *call, core_op *op, core_stream *stream)
{
    iso_status status = ISO_OK;

    for (int i = 0; i < op->use_count && !status; i++) {
        const core_use *use = &op->uses[i];
        iso_transfer fill = core_transfer_run(ISO_TRANSFER_FILL, use->layout.bytes);

        if (use->written) {
            fill.to = *use->ref;
            fill.pattern_bytes = use->align;
            memcpy(fill.pattern, &op->neutral, sizeof op->neutral);
            status = core_transfer_submit(call, stream, &fill);
        }
    }
    return status;
}

static iso_status ask_workspace(const char *call, core_op *op, core_device *device, int64_t *bytes)
{
    const iso_backend *table = device->table;
    iso_status status;

    *bytes = 0;
    if (op->empty) {
        return ISO_OK;
    }
    status = CORE_CALL(call, table, table->workspace(device->physical->device, &op->op, bytes));
    if (!status && *bytes < 0) {
        status = core_fail(
            ISO_INTERNAL,
            "%s: %s: workspace returned %lld bytes, less than 0: this is a fault in the backend",
            call, table->name, (long long)*bytes);
    }
    return status;
}

/* Makes sure that the locked stream has scratch memory of at least that many bytes. */
static iso_status provide(const char *call, core_stream *stream, int64_t bytes)
{
    core_device *device = stream->child.device;
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device;
    iso_status status;

    if (bytes <= stream->scratch_bytes) {
        return ISO_OK;
    }
    if (stream->scratch_bytes) {
        status = core_stream_drain(call, stream);
        if (status) {
            return core_stream_late(call, stream);
        }
        CORE_DO(table->memory_free(backend_device, stream->scratch.memory));
        core_memory_give(device->physical, stream->scratch_bytes);
        stream->scratch = (iso_ref){0};
        stream->scratch_bytes = 0;
    }
    status = core_memory_take(call, device, bytes);
    if (status) {
        return status;
    }
    status =
        CORE_CALL(call, table, table->memory_alloc(backend_device, bytes, &stream->scratch.memory));
    if (status) {
        core_memory_give(device->physical, bytes);
    } else {
        stream->scratch_bytes = bytes;
    }
    return status;
}

/* Runs an operation on the locked stream. The operation is already bound and resolved. */
static iso_status run(const char *call, core_op *op, core_stream *stream)
{
    const iso_backend *table = stream->child.device->table;
    core_trace_span span = {0};
    char name[192];
    iso_status status;

    core_trace_begin(stream, &span);
    status = CORE_CALL(call, table, table->execute(stream->handle, &op->op));
    if (span.on) {
        op->row->trace(op, iso_variant_name(*op->variant), name, sizeof name);
        core_trace_end(stream, &span, !status, name, op->cost.bytes_read + op->cost.bytes_written);
    }
    status = core_stream_check(call, stream, status);
    if (status == ISO_UNSUPPORTED) {
        status = core_fail(ISO_INTERNAL,
                           "%s: %s returned UNSUPPORTED for an operation that it said it "
                           "supports: this is a fault in the backend: %s",
                           call, table->name, iso_last_error());
    }
    return status;
}

static iso_status submit(const char *call, core_op *op, core_stream *stream)
{
    int64_t bytes = 0;
    iso_status status;

    status = ask_workspace(call, op, stream->child.device, &bytes);
    if (status) {
        return status;
    }
    status = core_stream_enter(call, stream);
    if (status) {
        return status;
    }
    status = provide(call, stream, bytes);
    if (!status) {
        attach(op, stream);
        if (bytes) {
            op->op.workspace = stream->scratch;
        }
        op->op.workspace_bytes = bytes ? stream->scratch_bytes : 0;
        if (op->empty == CORE_NEUTRAL) {
            status = fill_neutral(call, op, stream);
        } else if (!op->empty) {
            status = run(call, op, stream);
        }
    }
    core_stream_leave(stream);
    return status;
}

iso_status core_op_execute(const char *call, iso_stream handle, iso_op_kind kind, const void *args)
{
    CORE_HELD core_stream *stream = NULL;
    core_op op;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = read_op(call, kind, args, &op);
    }
    if (status) {
        return status;
    }
    status = bind(call, &op, stream);
    if (!status) {
        status = resolve(call, &op, stream->child.device);
    }
    if (!status) {
        status = submit(call, &op, stream);
    }
    unbind(&op);
    return status;
}

iso_status iso_execute(iso_stream stream, iso_op_kind kind, const void *args)
{
    return core_op_execute("iso_execute", stream, kind, args);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Acquires the device, then reads an operation and resolves it for this device. */
static iso_status question(const char *call, iso_device handle, iso_op_kind kind, const void *args,
                           core_device **device, core_op *op)
{
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, device);

    if (!status) {
        status = read_op(call, kind, args, op);
    }
    return status ? status : resolve(call, op, *device);
}

iso_status iso_supports(iso_device handle, iso_op_kind kind, const void *args)
{
    CORE_HELD core_device *device = NULL;
    core_op op;

    return question("iso_supports", handle, kind, args, &device, &op);
}

iso_status iso_describe(iso_device handle, iso_op_kind kind, const void *args, iso_op_info *out)
{
    const char *call = "iso_describe";
    iso_op_info info = ISO_OP_INFO_INIT;
    CORE_HELD core_device *device = NULL;
    core_op op;
    iso_status status = core_struct_check(call, "out", out, CORE_END_OF(iso_op_info, variant));

    if (!status) {
        status = question(call, handle, kind, args, &device, &op);
    }
    if (!status && device->table->describe) {
        status = CORE_CALL(call, device->table,
                           device->table->describe(device->physical->device, &op.op, &info));
    }
    if (status) {
        return status;
    }
    info.reserved = 0;
    info.variant = *op.variant;
    info.math = op.math ? *op.math : ISO_MATH_STRICT;
    snprintf(info.math_reason, sizeof info.math_reason, "%s", op.math_reason);
    info.library[ISO_NAME_MAX - 1] = info.kernel[ISO_NAME_MAX - 1] = 0;
    if (!info.library[0]) {
        snprintf(info.library, sizeof info.library, "isomer %s", ISO_VERSION_STRING);
    }
    core_struct_write(out, &info, sizeof info);
    return ISO_OK;
}

iso_status iso_workspace(iso_device handle, iso_op_kind kind, const void *args, int64_t *bytes)
{
    const char *call = "iso_workspace";
    int64_t needed = 0;
    CORE_HELD core_device *device = NULL;
    core_op op;
    iso_status status = core_check_out(call, "bytes", bytes);

    if (!status) {
        status = question(call, handle, kind, args, &device, &op);
    }
    if (!status) {
        status = ask_workspace(call, &op, device, &needed);
    }
    if (!status) {
        *bytes = needed;
    }
    return status;
}

/* Allocates the scratch memory and builds the programs that an operation will need. */
static iso_status prepare(const char *call, core_op *op, core_stream *stream)
{
    const iso_backend *table = stream->child.device->table;
    int64_t bytes;
    iso_status status = ask_workspace(call, op, stream->child.device, &bytes);

    if (!status) {
        status = core_stream_enter(call, stream);
    }
    if (status) {
        return status;
    }
    status = provide(call, stream, bytes);
    if (!status && table->prepare && !op->empty) {
        status = CORE_CALL(call, table, table->prepare(stream->handle, &op->op));
        status = core_stream_check(call, stream, status);
    }
    core_stream_leave(stream);
    return status;
}

iso_status iso_prepare(iso_stream handle, iso_op_kind kind, const void *args)
{
    const char *call = "iso_prepare";
    CORE_HELD core_stream *stream = NULL;
    core_op op;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = read_op(call, kind, args, &op);
    }
    if (!status) {
        status = resolve(call, &op, stream->child.device);
    }
    return status ? status : prepare(call, &op, stream);
}

iso_status iso_cost(iso_op_kind kind, const void *args, iso_cost_info *out)
{
    const char *call = "iso_cost";
    iso_status status = core_struct_check(call, "out", out, CORE_END_OF(iso_cost_info, flops));
    core_op op;

    if (!status) {
        status = read_op(call, kind, args, &op);
    }
    if (!status) {
        core_struct_write(out, &op.cost, sizeof op.cost);
    }
    return status;
}
