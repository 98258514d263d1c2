/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - reads operations, binds their operands, and passes them to the backend. */
#include "core/op.h"
#include "core/call.h"
#include "core/compose/compose.h"
#include "core/graph/graph.h"
#include "core/recent.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Releases what reading the operation acquired. */
static void drop(core_op *op)
{
    if (op->matrix) {
        core_handle_release(op->matrix->child.id);
        op->matrix = NULL;
    }
}

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
    if (status) {
        drop(out);
    }
    return status;
}

/* MISMATCH unless the operation's matrix, if it has one, belongs to the device. */
static iso_status check_matrix(const char *call, const core_op *op, core_device *device,
                               const char *other)
{
    const core_child of_device = {.device = device};

    return op->matrix ? core_check_device(call, "matrix", &op->matrix->child, other, &of_device)
                      : ISO_OK;
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
    if (!status) {
        status = core_check_alignment(call, use->name, offset, use->align, use->buffer);
    }
    if (status) {
        return status;
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
    if (op->matrix) {
        atomic_fetch_or(&op->matrix->used_by, stream->bit);
    }
    if (op->row->attach) {
        op->row->attach(op);
    }
}

/* Whether two operands that begin at the same place have each element in the same place. */
static bool is_laid_same(const core_layout *a, const core_layout *b)
{
    return a->width == b->width && a->rows == b->rows && a->batch == b->batch &&
           (a->rows <= 1 || a->pitch == b->pitch) && (a->batch <= 1 || a->stride == b->stride);
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
                !(op->in_place && to->operand.offset == other->operand.offset &&
                  is_laid_same(&to->layout, &other->layout))) {
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
        iso_transfer fill = core_transfer_run(ISO_TRANSFER_FILL, use->layout.width);

        if (use->written && use->layout.bytes) {
            fill.height = use->layout.rows;
            fill.to_pitch = use->layout.rows > 1 ? use->layout.pitch : use->layout.width;
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
    status =
        core_is_composed(op)
            ? core_compose_measure(call, op, device, bytes)
            : CORE_CALL(call, table, table->workspace(device->physical->device, &op->op, bytes));
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
    core_trace_span span;
    char name[192];
    iso_status status;

    core_trace_begin(stream, &span);
    status = core_is_composed(op) ? core_compose_run(call, op, stream)
                                  : CORE_CALL(call, table, table->execute(stream->handle, &op->op));
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

/* Submits an operation that is attached to the locked stream and takes so much scratch memory. */
static iso_status submit(const char *call, core_op *op, core_stream *stream, int64_t bytes)
{
    iso_status status = provide(call, stream, bytes);

    if (status) {
        return status;
    }
    if (bytes) {
        op->op.workspace = stream->scratch;
    }
    op->op.workspace_bytes = bytes ? stream->scratch_bytes : 0;
    if (op->empty == CORE_NEUTRAL) {
        return fill_neutral(call, op, stream);
    }
    return op->empty ? ISO_OK : run(call, op, stream);
}

/* Runs an operation that the stream has run before. Returns whether there is one. If the stream has
 * failed, its error must not come before errors of the arguments, so there is none. */
static bool run_again(const char *call, core_stream *stream, iso_op_kind kind, const void *args,
                      iso_status *status)
{
    int64_t bytes;
    core_op *op;

    if (atomic_load(&stream->late) || atomic_load(&stream->record) ||
        core_stream_enter_recording(call, stream)) {
        return false;
    }
    if (atomic_load(&stream->record)) {
        core_stream_leave(stream);
        return false;
    }
    core_stream_again_begin(stream);
    op = core_recent_find(stream, kind, args, &bytes);
    if (op) {
        *status = submit(call, op, stream, bytes);
    }
    core_stream_again_end(stream);
    core_stream_leave(stream);
    return op != NULL;
}

/* Adds an operation to what the locked stream records. */
static iso_status record(const char *call, core_op *op, core_stream *stream, int64_t bytes)
{
    iso_status status = core_record_prepare(call, stream, op);

    if (status || op->empty == CORE_NOTHING) {
        return status;
    }
    attach(op, stream);
    status = core_record_uses(call, stream, op);
    if (status) {
        return status;
    }
    return op->empty == CORE_NEUTRAL ? fill_neutral(call, op, stream)
                                     : core_record_op(call, stream, op, bytes);
}

static iso_status run_first(const char *call, core_op *op, core_stream *stream, const void *args)
{
    int64_t bytes = 0;
    iso_status status = ask_workspace(call, op, stream->child.device, &bytes);

    if (!status) {
        status = core_stream_enter_recording(call, stream);
    }
    if (status) {
        return status;
    }
    if (atomic_load(&stream->record)) {
        status = record(call, op, stream, bytes);
    } else {
        attach(op, stream);
        status = submit(call, op, stream, bytes);
        if (!status) {
            core_recent_keep(stream, args, op, bytes);
        }
    }
    core_stream_leave(stream);
    return status;
}

void core_op_close(core_op *op)
{
    unbind(op);
    drop(op);
}

iso_status core_op_open(const char *call, core_stream *stream, iso_op_kind kind, const void *args,
                        core_op *out)
{
    iso_status status = read_op(call, kind, args, out);

    if (status) {
        return status;
    }
    status = bind(call, out, stream);
    if (!status) {
        status = check_matrix(call, out, stream->child.device, "stream");
    }
    if (!status) {
        status = core_op_resolve(call, out, stream->child.device);
    }
    if (status) {
        core_op_close(out);
    }
    return status;
}

iso_status core_op_execute(const char *call, iso_stream handle, iso_op_kind kind, const void *args)
{
    CORE_HELD core_stream *stream = NULL;
    core_op op;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (status || run_again(call, stream, kind, args, &status)) {
        return status;
    }
    status = core_op_open(call, stream, kind, args, &op);
    if (!status) {
        status = run_first(call, &op, stream, args);
        core_op_close(&op);
    }
    return status ? core_record_note(stream, status) : ISO_OK;
}

iso_status core_op_run_all(const char *call, core_stream *stream, core_op *ops, int64_t count)
{
    int64_t most = 0, bytes;
    iso_status status = ISO_OK;

    for (int64_t i = 0; i < count && !status; i++) {
        status = ask_workspace(call, &ops[i], stream->child.device, &bytes);
        most = bytes > most ? bytes : most;
    }
    if (!status) {
        status = core_stream_enter_recording(call, stream);
    }
    if (status) {
        return status;
    }
    if (!atomic_load(&stream->record)) {
        status = provide(call, stream, most);
    }
    for (int64_t i = 0; i < count && !status; i++) {
        if (atomic_load(&stream->record)) {
            status = record(call, &ops[i], stream, most);
        } else {
            attach(&ops[i], stream);
            status = submit(call, &ops[i], stream, most);
        }
    }
    core_stream_leave(stream);
    return status;
}

iso_status iso_execute(iso_stream stream, iso_op_kind kind, const void *args)
{
    return core_op_execute("iso_execute", stream, kind, args);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Acquires the device, then reads an operation and resolves it for this device. If this succeeds,
 * the operation must be dropped. */
static iso_status question(const char *call, iso_device handle, iso_op_kind kind, const void *args,
                           core_device **device, core_op *op)
{
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, device);

    if (!status) {
        status = read_op(call, kind, args, op);
    }
    if (status) {
        return status;
    }
    status = check_matrix(call, op, *device, "device");
    if (!status) {
        status = core_op_resolve(call, op, *device);
    }
    if (status) {
        drop(op);
    }
    return status;
}

iso_status iso_supports(iso_device handle, iso_op_kind kind, const void *args)
{
    CORE_HELD core_device *device = NULL;
    core_op op;
    iso_status status = question("iso_supports", handle, kind, args, &device, &op);

    if (!status) {
        drop(&op);
    }
    return status;
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
    if (status) {
        return status;
    }
    if (core_is_composed(&op)) {
        status = core_compose_describe(call, &op, device, &info);
    } else if (device->table->describe) {
        status = CORE_CALL(call, device->table,
                           device->table->describe(device->physical->device, &op.op, &info));
    }
    drop(&op);
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
    if (status) {
        return status;
    }
    status = ask_workspace(call, &op, device, &needed);
    drop(&op);
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
        status = core_stream_enter_recording(call, stream);
    }
    if (status) {
        return status;
    }
    status = provide(call, stream, bytes);
    if (!status && table->prepare && !op->empty) {
        status = core_is_composed(op)
                     ? core_compose_prepare(call, op, stream, stream->handle)
                     : CORE_CALL(call, table, table->prepare(stream->handle, &op->op));
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
    if (status) {
        return status;
    }
    status = check_matrix(call, &op, stream->child.device, "stream");
    if (!status) {
        status = core_op_resolve(call, &op, stream->child.device);
    }
    if (!status) {
        status = prepare(call, &op, stream);
    }
    drop(&op);
    return status;
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
        drop(&op);
    }
    return status;
}
