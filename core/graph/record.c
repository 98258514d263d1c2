/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - keeps what a stream records: steps, and the objects that they use. */
#include "core/compose/compose.h"
#include "core/graph/graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16, VALUE_ALIGN = 16, RECENT = 8 };

static core_record *record_of(const core_stream *stream)
{
    return atomic_load(&stream->record);
}

/* Returns an array with room for one more element; NULL: no memory, and the old array stays. */
static void *grow(const char *call, void *array, int64_t count, int64_t *room, size_t element)
{
    const int64_t more = *room ? *room * 2 : FIRST_ROOM;
    void *made;

    if (count < *room) {
        return array;
    }
    made = realloc(array, (size_t)more * element);
    if (!made) {
        core_fail_no_memory(call, more * (int64_t)element);
        return NULL;
    }
    *room = more;
    return made;
}

/* A new last step; NULL: no memory. It counts once its caller has filled it. */
static core_step *next_step(const char *call, core_work *work)
{
    core_step *steps = grow(call, work->steps, work->count, &work->room, sizeof *steps);

    if (!steps) {
        return NULL;
    }
    work->steps = steps;
    return &steps[work->count];
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Neighbouring steps often use the same objects; the rest of the repetitions are removed at the
 * end. */
static bool is_known(const core_work *work, uint64_t id)
{
    const int64_t first = work->used_count > RECENT ? work->used_count - RECENT : 0;
    bool known = false;

    for (int64_t i = first; i < work->used_count; i++) {
        known = known || work->used[i].id == id;
    }
    return known;
}

iso_status core_record_use(const char *call, core_stream *stream, const core_child *child)
{
    core_work *work = &record_of(stream)->work;
    core_used *used;

    if (!child || is_known(work, child->id)) {
        return ISO_OK;
    }
    used = grow(call, work->used, work->used_count, &work->used_room, sizeof *used);
    if (!used) {
        return ISO_NO_MEMORY;
    }
    work->used = used;
    used[work->used_count++] = (core_used){.id = child->id, .kind = child->kind};
    return ISO_OK;
}

iso_status core_record_uses(const char *call, core_stream *stream, const core_op *op)
{
    iso_status status = op->matrix ? core_record_use(call, stream, &op->matrix->child) : ISO_OK;

    for (int i = 0; i < op->use_count && !status; i++) {
        if (op->uses[i].buffer && op->uses[i].layout.bytes) {
            status = core_record_use(call, stream, &op->uses[i].buffer->child);
        }
    }
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

iso_status core_record_prepare(const char *call, core_stream *stream, core_op *op)
{
    const iso_backend *table = stream->child.device->table;
    void *graph = record_of(stream)->work.graph;

    if (!table->prepare || op->empty) {
        return ISO_OK;
    }
    if (core_is_composed(op)) {
        return core_compose_prepare(call, op, stream, graph ? graph : stream->handle);
    }
    return CORE_CALL(call, table, table->prepare(graph ? graph : stream->handle, &op->op));
}

char core_record_scratch[1];

iso_status core_record_step(const char *call, core_stream *stream, const iso_op *op, int64_t own,
                            int64_t workspace)
{
    core_work *work = &record_of(stream)->work;
    core_step *step = next_step(call, work);

    if (!step) {
        return ISO_NO_MEMORY;
    }
    step->kind = CORE_STEP_OPERATION;
    step->op = *op;
    memcpy(&step->args, op->args, op->args_size);
    step->op.workspace = (iso_ref){core_record_scratch, own};
    step->op.workspace_bytes = workspace;
    if (own + workspace > work->scratch_bytes) {
        work->scratch_bytes = own + workspace;
    }
    work->count++;
    return ISO_OK;
}

iso_status core_record_op(const char *call, core_stream *stream, core_op *op, int64_t workspace)
{
    iso_status status;

    op->op.workspace_bytes = workspace;
    status = core_is_composed(op) ? core_compose_record(call, op, stream)
                                  : core_record_step(call, stream, &op->op, 0, workspace);
    if (!status) {
        record_of(stream)->work.bytes += op->cost.bytes_read + op->cost.bytes_written;
    }
    return status;
}

iso_status core_record_transfer(const char *call, core_stream *stream, const iso_transfer *transfer)
{
    core_work *work = &record_of(stream)->work;
    core_step *step = next_step(call, work);

    if (!step) {
        return ISO_NO_MEMORY;
    }
    step->kind = CORE_STEP_TRANSFER;
    step->transfer = *transfer;
    work->bytes += (double)transfer->width * (double)transfer->height;
    work->count++;
    return ISO_OK;
}

static int64_t room_of(const iso_program_arg *arg)
{
    return arg->value ? (arg->bytes + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN : 0;
}

/* A copy of a launch; NULL: no memory. Behind it are its arguments, and then their values. */
static iso_program_launch *copy_launch(const char *call, const iso_program_launch *launch)
{
    const size_t count = (size_t)launch->arg_count;
    const size_t head = sizeof *launch + count * sizeof *launch->args;
    int64_t at = (int64_t)((head + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN), bytes = at;
    iso_program_launch *made;
    iso_program_arg *args;

    for (size_t i = 0; i < count; i++) {
        bytes += room_of(&launch->args[i]);
    }
    made = malloc((size_t)bytes);
    if (!made) {
        core_fail_no_memory(call, bytes);
        return NULL;
    }
    args = (iso_program_arg *)(void *)(made + 1);
    *made = *launch;
    made->args = args;
    for (size_t i = 0; i < count; i++) {
        args[i] = launch->args[i];
        if (args[i].value) {
            args[i].value = memcpy((char *)made + at, args[i].value, (size_t)args[i].bytes);
            at += room_of(&args[i]);
        }
    }
    return made;
}

iso_status core_record_launch(const char *call, core_stream *stream,
                              const iso_program_launch *launch)
{
    core_work *work = &record_of(stream)->work;
    core_step *step = next_step(call, work);
    iso_program_launch *copy = step ? copy_launch(call, launch) : NULL;

    if (!copy) {
        return ISO_NO_MEMORY;
    }
    step->kind = CORE_STEP_LAUNCH;
    step->launch = copy;
    work->count++;
    return ISO_OK;
}

iso_status core_record_refuse(const char *call, const core_stream *stream)
{
    if (!record_of(stream)) {
        return ISO_OK;
    }
    return core_fail(ISO_INVALID,
                     "%s: the stream records a graph, and this call cannot be recorded: make it "
                     "before iso_graph_begin or after iso_graph_end",
                     call);
}

iso_status core_record_note(core_stream *stream, iso_status status)
{
    const bool refused =
        status == ISO_INVALID || status == ISO_MISMATCH || status == ISO_UNSUPPORTED;
    core_record *record;

    if (!atomic_load(&stream->record)) {
        return status;
    }
    if (core_inside()) {
        return status; /* an exit handler's thread may hold the lock, and does not go on */
    }
    pthread_mutex_lock(&stream->lock);
    record = record_of(stream);
    if (record && refused) {
        record->refused++;
    } else if (record && !record->failed) {
        record->failed = status;
        record->error = core_error_keep();
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

void core_work_free(core_device *device, core_work *work)
{
    if (work->graph) {
        CORE_DO(device->table->graph_close(work->graph));
    }
    for (int64_t i = 0; work->steps && i < work->count; i++) {
        if (work->steps[i].kind == CORE_STEP_LAUNCH) {
            free(work->steps[i].launch);
        }
    }
    free(work->steps);
    free(work->used);
    *work = (core_work){0};
}

void core_record_free(core_device *device, core_record *record)
{
    if (record) {
        core_work_free(device, &record->work);
        free(record->error.text);
        free(record);
    }
}
