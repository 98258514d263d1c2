/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c - what is done with the steps of an operation: questions, runs, recordings. */
#include "core/compose/compose.h"
#include "core/call.h"
#include "core/graph/graph.h"

#include <string.h>

enum { ROOM_ALIGN = 256 };

/* ---- steps ----------------------------------------------------------------------------------- */

void core_steps_add(core_steps *steps, int kind, const void *args, size_t bytes)
{
    iso_op op = {.size = (uint32_t)sizeof op,
                 .kind = (iso_op_kind)kind,
                 .args = args,
                 .args_size = (uint32_t)bytes};

    if (!steps->status) {
        steps->status = steps->take(steps, &op);
    }
}

iso_ref core_steps_room(core_steps *steps, int64_t count, int64_t element)
{
    iso_ref made = steps->scratch;
    int64_t bytes;

    if (__builtin_mul_overflow(count, element, &bytes) ||
        __builtin_add_overflow(bytes, ROOM_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(bytes / ROOM_ALIGN * ROOM_ALIGN, steps->used, &bytes)) {
        if (!steps->status) {
            steps->status =
                core_fail(ISO_INVALID,
                          "%s: its scratch memory has %lld elements of %lld bytes, whose size does "
                          "not fit 64 bits: use smaller sizes",
                          steps->call, (long long)count, (long long)element);
        }
        return (iso_ref){0};
    }
    made.offset = made.memory ? made.offset + steps->used : 0;
    steps->used = bytes;
    steps->most = bytes > steps->most ? bytes : steps->most;
    return made;
}

void core_steps_free(core_steps *steps, int64_t used)
{
    steps->used = used;
}

iso_ref core_ref_at(iso_ref ref, int64_t elements, int64_t element_bytes)
{
    if (ref.memory) {
        ref.offset += elements * element_bytes;
    }
    return ref;
}

bool core_is_composed(const core_op *op)
{
    return op->row->composed && op->row->composed(op);
}

/* ---- what is done with them ------------------------------------------------------------------ */

static iso_status take_supports(core_steps *steps, iso_op *op)
{
    const iso_backend *table = steps->device->table;

    return CORE_CALL(steps->call, table, table->supports(steps->device->physical->device, op));
}

static iso_status take_measure(core_steps *steps, iso_op *op)
{
    const iso_backend *table = steps->device->table;
    int64_t bytes = 0;
    iso_status status = CORE_CALL(steps->call, table,
                                  table->workspace(steps->device->physical->device, op, &bytes));

    if (!status && bytes > steps->inner) {
        steps->inner = bytes;
    }
    return status;
}

static iso_status take_prepare(core_steps *steps, iso_op *op)
{
    const iso_backend *table = steps->device->table;

    return table->prepare ? CORE_CALL(steps->call, table, table->prepare(steps->backend_stream, op))
                          : ISO_OK;
}

/* Describes the step that takes most of the time: the last product, or else the last step. */
static iso_status take_describe(core_steps *steps, iso_op *op)
{
    const iso_backend *table = steps->device->table;
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_status status = ISO_OK;

    if (table->describe) {
        status = CORE_CALL(steps->call, table,
                           table->describe(steps->device->physical->device, op, &info));
    }
    if (!status && (op->kind == ISO_OP_GEMM || op->kind == ISO_OP_GEMV ||
                    op->kind == ISO_OP_REDUCE || !steps->info->kernel[0])) {
        *steps->info = info;
    }
    return status;
}

static iso_status take_run(core_steps *steps, iso_op *op)
{
    const iso_backend *table = steps->device->table;

    op->workspace = core_ref_at(steps->scratch, steps->most, 1);
    op->workspace_bytes = steps->inner;
    return CORE_CALL(steps->call, table, table->execute(steps->backend_stream, op));
}

static iso_status take_record(core_steps *steps, iso_op *op)
{
    return core_record_step(steps->call, steps->stream, op, steps->most, steps->inner);
}

static core_steps steps_of(const char *call, core_device *device,
                           iso_status (*take)(core_steps *, iso_op *))
{
    return (core_steps){.call = call, .device = device, .take = take};
}

iso_status core_compose_supports(const char *call, core_op *op, core_device *device)
{
    core_steps steps = steps_of(call, device, take_supports);

    steps.asks = true;
    op->row->compose(op, &steps);
    return steps.status;
}

iso_status core_compose_measure(const char *call, core_op *op, core_device *device, int64_t *bytes)
{
    core_steps steps = steps_of(call, device, take_measure);

    op->row->compose(op, &steps);
    op->own_bytes = steps.most;
    if (!steps.status && __builtin_add_overflow(steps.most, steps.inner, bytes)) {
        return core_fail(ISO_NO_MEMORY,
                         "%s: its scratch memory has %lld and %lld bytes, together more than fit "
                         "64 bits: use smaller sizes",
                         call, (long long)steps.most, (long long)steps.inner);
    }
    return steps.status;
}

iso_status core_compose_describe(const char *call, core_op *op, core_device *device,
                                 iso_op_info *info)
{
    core_steps steps = steps_of(call, device, take_describe);

    steps.info = info;
    op->row->compose(op, &steps);
    return steps.status;
}

iso_status core_compose_prepare(const char *call, core_op *op, core_stream *stream,
                                void *backend_stream)
{
    core_steps steps = steps_of(call, stream->child.device, take_prepare);

    steps.backend_stream = backend_stream;
    op->row->compose(op, &steps);
    return steps.status;
}

iso_status core_compose_run(const char *call, core_op *op, core_stream *stream)
{
    core_steps steps = steps_of(call, stream->child.device, take_run);

    steps.stream = stream;
    steps.backend_stream = stream->handle;
    steps.scratch = op->op.workspace;
    steps.most = op->own_bytes;
    steps.inner = op->op.workspace_bytes - op->own_bytes;
    op->row->compose(op, &steps);
    return steps.status;
}

iso_status core_compose_record(const char *call, core_op *op, core_stream *stream)
{
    core_steps steps = steps_of(call, stream->child.device, take_record);

    steps.stream = stream;
    steps.scratch = (iso_ref){core_record_scratch, 0};
    steps.most = op->own_bytes;
    steps.inner = op->op.workspace_bytes - op->own_bytes;
    op->row->compose(op, &steps);
    return steps.status;
}
