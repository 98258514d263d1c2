/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - checks a launch against the kernel's declaration, and submits it. */
#include "core/call.h"
#include "core/graph/graph.h"
#include "core/kernel/kernel.h"

#include <math.h>
#include <string.h>

/* A value that the call converts. Bytes stay where the caller has them. */
typedef union launch_value {
    int64_t integer;
    double number;
    float narrow;
} launch_value;

/* A launch that is being checked. */
typedef struct launch {
    const char *call;
    core_program *program;
    const kernel_decl *kernel;
    core_stream *stream;
    int32_t arg_count, buffer_count, value_count;
    int64_t shared_bytes;
    iso_program_arg args[PROGRAM_ARGS_MAX];
    launch_value values[PROGRAM_ARGS_MAX];
    /* Values of integer parameters, for extents: by the parameter, with a bit for each that has
     * one; and by name. */
    int64_t integers[KERNEL_PARAMS_MAX];
    uint32_t known;
    kernel_value named[PROGRAM_ARGS_MAX];
    struct launch_buffer {
        const kernel_param *param;
        core_buffer *buffer; /* acquired */
        int64_t offset, end; /* bytes */
    } buffers[PROGRAM_ARGS_MAX];
} launch;

static bool is_written(const kernel_param *param)
{
    return param->role == KERNEL_OUT || param->role == KERNEL_INOUT;
}

static void name_value(launch *of, const kernel_param *param, int64_t value)
{
    const ptrdiff_t index = param - of->kernel->params;
    of->integers[index] = value;
    of->known |= UINT32_C(1) << index;
    of->named[of->value_count++] = (kernel_value){.name = param->name, .value = value};
}

static launch_value *add_value(launch *of, int64_t bytes)
{
    launch_value *value = &of->values[of->arg_count];
    of->args[of->arg_count++] = (iso_program_arg){.value = value, .bytes = bytes};
    return value;
}

static const char *kind_name(iso_argument_kind kind)
{
    static const char *const names[] = {[ISO_ARGUMENT_INTEGER] = "an integer",
                                        [ISO_ARGUMENT_FLOAT] = "a float",
                                        [ISO_ARGUMENT_BUFFER] = "a buffer",
                                        [ISO_ARGUMENT_BYTES] = "bytes"};
    return kind >= ISO_ARGUMENT_INTEGER && kind <= ISO_ARGUMENT_BYTES ? names[kind] : "unknown";
}

static iso_status fail_kind(const launch *of, const kernel_param *param, const iso_argument *given)
{
    return core_fail(
        ISO_INVALID, "%s: kernel %s: argument %s is %s (kind %d), but it is declared as %s%s",
        of->call, of->kernel->name, param->name, kind_name(given->kind), (int)given->kind,
        kernel_is_buffer(param) ? "a buffer of " : "", param->type.name);
}

/* ---- values ---------------------------------------------------------------------------------- */

static iso_status take_integer(launch *of, const kernel_param *param, int64_t given)
{
    const int32_t bits = param->type.bytes * 8;
    const bool is_signed = param->type.scalar == 'i';
    const int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t least = !is_signed ? 0 : bits == 64 ? INT64_MIN : -most - 1;
    if (given < least || given > most) {
        return core_fail(ISO_INVALID,
                         "%s: kernel %s: argument %s is %lld, which is no %s: it must be from %lld "
                         "to %lld",
                         of->call, of->kernel->name, param->name, (long long)given,
                         param->type.name, (long long)least, (long long)most);
    }
    launch_value *value = add_value(of, param->type.bytes);
    value->integer = given; /* the low bytes come first */
    name_value(of, param, given);
    return ISO_OK;
}

/* The low bytes come first. */
static int64_t read_integer(const kernel_type *type, const void *bytes)
{
    const int unused = 64 - type->bytes * 8;
    uint64_t value = 0;
    memcpy(&value, bytes, (size_t)type->bytes);
    return type->scalar == 'i' ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

bool kernel_read_integer(const kernel_param *param, const iso_argument *given, int64_t *value)
{
    const kernel_type *type = &param->type;
    const bool is_unsigned = type->scalar == 'u';
    if (type->lanes != 1 || (type->scalar != 'i' && !is_unsigned)) {
        return false;
    }
    if (given->kind == ISO_ARGUMENT_INTEGER) {
        *value = given->integer;
        return true;
    }
    if (given->kind != ISO_ARGUMENT_BYTES || !given->bytes || given->integer != type->bytes) {
        return false;
    }
    *value = read_integer(type, given->bytes);
    return !is_unsigned || *value >= 0; /* extents have no larger ones */
}

static iso_status take_bytes(launch *of, const kernel_param *param, const iso_argument *given)
{
    if (!given->bytes || given->integer != param->type.bytes) {
        return core_fail(ISO_INVALID,
                         "%s: kernel %s: argument %s has %lld bytes at %p, but a %s has %d",
                         of->call, of->kernel->name, param->name, (long long)given->integer,
                         given->bytes, param->type.name, param->type.bytes);
    }
    int64_t value;
    if (kernel_read_integer(param, given, &value)) {
        name_value(of, param, value);
    }
    of->args[of->arg_count++] =
        (iso_program_arg){.value = given->bytes, .bytes = param->type.bytes};
    return ISO_OK;
}

static iso_status take_value(launch *of, const kernel_param *param, const iso_argument *given)
{
    const char scalar = param->type.lanes == 1 ? param->type.scalar : 0;
    if (given->kind == ISO_ARGUMENT_BYTES) {
        return take_bytes(of, param, given);
    }
    if (given->kind == ISO_ARGUMENT_INTEGER && (scalar == 'i' || scalar == 'u')) {
        return take_integer(of, param, given->integer);
    }
    if (given->kind == ISO_ARGUMENT_FLOAT && scalar == 'f') {
        launch_value *value = add_value(of, param->type.bytes);
        if (param->type.bytes == 8) {
            value->number = given->number;
        } else {
            value->narrow = (float)given->number;
        }
        return ISO_OK;
    }
    return fail_kind(of, param, given);
}

/* The count of an array that the launch sizes. */
static iso_status take_count(launch *of, const kernel_param *param, const iso_argument *given)
{
    const int64_t most = INT32_MAX / (param->type.bytes + KERNEL_ALIGN);
    if (given->kind != ISO_ARGUMENT_INTEGER) {
        return core_fail(ISO_INVALID,
                         "%s: kernel %s: argument %s is %s (kind %d), but the shared array takes "
                         "its count, an integer",
                         of->call, of->kernel->name, param->name, kind_name(given->kind),
                         (int)given->kind);
    }
    if (given->integer < 1 || given->integer > most) {
        return core_fail(
            ISO_INVALID, "%s: kernel %s: the shared array %s is given %lld elements: use 1 to %lld",
            of->call, of->kernel->name, param->name, (long long)given->integer, (long long)most);
    }
    add_value(of, (int64_t)sizeof(int64_t))->integer = given->integer;
    of->shared_bytes += kernel_sized(param, given->integer);
    if (of->shared_bytes > INT32_MAX) {
        return core_fail(ISO_INVALID,
                         "%s: kernel %s: the shared arrays have %lld bytes: at most %d", of->call,
                         of->kernel->name, (long long)of->shared_bytes, INT32_MAX);
    }
    return ISO_OK;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Nearly every type has a power of two of bytes, which needs no division. */
static bool is_multiple(int64_t at, int64_t size)
{
    return (size & (size - 1)) == 0 ? (at & (size - 1)) == 0 : at % size == 0;
}

static int64_t elements_in(int64_t bytes, int64_t size)
{
    return (size & (size - 1)) == 0 ? bytes >> __builtin_ctzll((uint64_t)size) : bytes / size;
}

static iso_status take_buffer(launch *of, const kernel_param *param, const iso_argument *given)
{
    if (given->kind != ISO_ARGUMENT_BUFFER) {
        return fail_kind(of, param, given);
    }
    struct launch_buffer *use = &of->buffers[of->buffer_count];
    use->buffer = NULL;
    const int64_t offset = given->buffer.offset, size = param->type.bytes;
    iso_status status =
        core_operand_acquire(of->call, param->name, given->buffer, of->stream, &use->buffer);
    of->buffer_count += use->buffer != NULL;
    if (!status) {
        status = core_check_range(of->call, param->name, offset, 0, use->buffer);
    }
    if (!status &&
        !(is_multiple(offset, size) && is_multiple(use->buffer->origin + offset, size))) {
        status =
            core_fail(ISO_INVALID,
                      "%s: kernel %s: %s begins at byte %lld of its memory, but elements of "
                      "type %s need a multiple of %lld",
                      of->call, of->kernel->name, param->name,
                      (long long)(use->buffer->origin + offset), param->type.name, (long long)size);
    }
    if (!status && is_written(param)) {
        status = core_check_writable(of->call, param->name, use->buffer);
    }
    if (status) {
        return status;
    }
    use->param = param;
    use->offset = offset;
    use->end = use->buffer->bytes;
    const iso_ref ref = core_buffer_ref(use->buffer, offset);
    of->args[of->arg_count++] = (iso_program_arg){
        .memory = ref.memory, .bytes = ref.offset, .first = elements_in(ref.offset, size)};
    return ISO_OK;
}

/* The extent that the declaration states, and whether the buffer has it. */
static iso_status check_extent(launch *of, struct launch_buffer *use)
{
    const kernel_param *param = use->param;
    int64_t elements = 0;
    if (param->extent_length == 0) {
        return ISO_OK;
    }
    const core_program *program = of->program;
    if (param->step_count == 0 || !kernel_run_steps(param, of->integers, of->known, &elements)) {
        const iso_status status = kernel_evaluate(
            of->call, program->name, program->text, param->extent_at, param->extent_length,
            program->macros, program->macro_count, of->named, of->value_count, &elements);
        if (status) {
            return status;
        }
    }
    const int64_t has = elements_in(use->end - use->offset, param->type.bytes);
    if (elements > has) {
        return core_fail(
            ISO_INVALID,
            "%s: kernel %s: %s must have %lld elements (%.*s), but its buffer has %lld "
            "from offset %lld on",
            of->call, of->kernel->name, param->name, (long long)elements, (int)param->extent_length,
            program->text + param->extent_at, (long long)has, (long long)use->offset);
    }
    use->end = use->offset + (elements > 0 ? elements : 0) * param->type.bytes;
    return ISO_OK;
}

static iso_status fail_overlap(const launch *of, const struct launch_buffer *to,
                               const struct launch_buffer *other)
{
    return core_fail(ISO_INVALID,
                     "%s: kernel %s writes %s (bytes %lld to %lld), which shares bytes with %s "
                     "(%lld to %lld) in the same buffer: use other places, and state ISO_EXTENT if "
                     "they end earlier",
                     of->call, of->kernel->name, to->param->name, (long long)to->offset,
                     (long long)to->end, other->param->name, (long long)other->offset,
                     (long long)other->end);
}

static iso_status check_overlap(const launch *of)
{
    for (int32_t i = 1; i < of->buffer_count; i++) {
        const struct launch_buffer *one = &of->buffers[i];
        for (int32_t j = 0; j < i; j++) {
            const struct launch_buffer *other = &of->buffers[j];
            const int64_t first = one->offset > other->offset ? one->offset : other->offset;
            const int64_t end = one->end < other->end ? one->end : other->end;
            if (one->buffer != other->buffer || first >= end) {
                continue;
            }
            if (is_written(other->param)) {
                return fail_overlap(of, other, one);
            }
            if (is_written(one->param)) {
                return fail_overlap(of, one, other);
            }
        }
    }
    return ISO_OK;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static int32_t count_given(const kernel_decl *kernel)
{
    int32_t count = 0;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        count += kernel_is_given(&kernel->params[i]);
    }
    return count;
}

static iso_status fail_count(const launch *of, const iso_argument *given, int32_t count)
{
    const kernel_decl *kernel = of->kernel;
    core_text names = {0};
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        if (kernel_is_given(param)) {
            core_text_add(&names, "%s%s%s", names.length ? ", " : "",
                          kernel_is_sized(param) ? "the count of " : "", param->name);
        }
    }
    const iso_status status =
        core_fail(ISO_INVALID, "%s: kernel %s takes %d arguments (%s), and count is %d%s", of->call,
                  kernel->name, count_given(kernel), core_text_get(&names), count,
                  given || count == 0 ? "" : " with arguments NULL");
    core_text_free(&names);
    return status;
}

static iso_status take_arguments(launch *of, const iso_argument *given, int32_t count)
{
    const kernel_decl *kernel = of->kernel;
    iso_status status = ISO_OK;
    if (count != count_given(kernel) || (count > 0 && !given)) {
        return fail_count(of, given, count);
    }
    for (int32_t i = 0; i < kernel->param_count && !status; i++) {
        const kernel_param *param = &kernel->params[i];
        if (kernel_is_buffer(param)) {
            status = take_buffer(of, param, given++);
        } else if (param->role == KERNEL_VALUE) {
            status = take_value(of, param, given++);
        } else if (kernel_is_sized(param)) {
            status = take_count(of, param, given++);
        }
    }
    for (int32_t i = 0; i < of->buffer_count && !status; i++) {
        status = check_extent(of, &of->buffers[i]);
    }
    return status ? status : check_overlap(of);
}

static iso_status take_groups(launch *of, iso_groups groups, int64_t *total)
{
    const int64_t axes[KERNEL_AXES] = {groups.x, groups.y, groups.z};
    *total = 1;
    for (int i = 0; i < KERNEL_AXES; i++) {
        if (axes[i] < 0 || __builtin_mul_overflow(*total, axes[i], total) || *total > INT32_MAX) {
            return core_fail(ISO_INVALID,
                             "%s: groups are %lld x %lld x %lld: none may be negative, and all "
                             "together must be below 2^31",
                             of->call, (long long)groups.x, (long long)groups.y,
                             (long long)groups.z);
        }
    }
    return ISO_OK;
}

/* Only the end of the stream clears its bit. */
static void mark_used(_Atomic uint64_t *used_by, const core_stream *stream)
{
    if (!(atomic_load_explicit(used_by, memory_order_relaxed) & stream->bit)) {
        atomic_fetch_or(used_by, stream->bit);
    }
}

/* Adds the launch to what the locked stream records, unless the backend would refuse it. */
static iso_status record(const launch *of, const iso_program_launch *what)
{
    const core_device *device = of->stream->child.device;
    const iso_backend *table = device->table;
    iso_status status =
        table->program_check
            ? CORE_CALL(of->call, table, table->program_check(device->physical->device, what))
            : ISO_OK;
    if (!status) {
        status = core_record_use(of->call, of->stream, &of->program->child);
    }
    for (int32_t i = 0; i < of->buffer_count && !status; i++) {
        status = core_record_use(of->call, of->stream, &of->buffers[i].buffer->child);
    }
    return status ? status : core_record_launch(of->call, of->stream, what);
}

static iso_status submit(launch *of, int32_t index, iso_groups groups)
{
    core_stream *stream = of->stream;
    const iso_backend *table = stream->child.device->table;
    const iso_program_launch what = {.size = (uint32_t)sizeof what,
                                     .entry = index,
                                     .program = of->program->handle,
                                     .place.groups = {groups.x, groups.y, groups.z},
                                     .args = of->args,
                                     .arg_count = of->arg_count,
                                     .shared_bytes = of->shared_bytes};
    core_trace_span span = {0};
    iso_status status = core_stream_enter_recording(of->call, stream);
    if (status) {
        return status;
    }
    for (int32_t i = 0; i < of->buffer_count; i++) {
        mark_used(&of->buffers[i].buffer->used_by, stream);
    }
    mark_used(&of->program->used_by, stream);
    if (atomic_load(&stream->record)) {
        status = record(of, &what);
        core_stream_leave(stream);
        return status;
    }
    core_trace_begin(stream, &span);
    status = CORE_CALL(of->call, table, table->program_launch(stream->handle, &what));
    if (span.on) {
        core_trace_end(stream, &span, !status, of->kernel->name, 0);
    }
    status = core_stream_check(of->call, stream, status);
    core_stream_leave(stream);
    return status;
}

static iso_status run(launch *of, iso_kernel kernel, iso_groups groups, const iso_argument *given,
                      int32_t count)
{
    int64_t total = 0;
    if (kernel.index < 0 || kernel.index >= of->program->file.count) {
        return core_fail(ISO_INVALID, "%s: kernel.index is %lld: use what iso_kernel_get gave",
                         of->call, (long long)kernel.index);
    }
    of->kernel = &of->program->file.kernels[kernel.index];
    if (!of->program->handle) {
        return core_fail(ISO_NOT_READY,
                         "%s: kernel %s was only declared, not compiled: create the program with "
                         "args->declared 0",
                         of->call, of->kernel->name);
    }
    iso_status status = core_check_device(of->call, "kernel.program", &of->program->child, "stream",
                                          &of->stream->child);
    if (!status) {
        status = take_groups(of, groups, &total);
    }
    if (!status) {
        status = take_arguments(of, given, count);
    }
    if (!status && total > 0) {
        status = submit(of, (int32_t)kernel.index, groups);
    }
    for (int32_t i = 0; i < of->buffer_count; i++) {
        core_handle_release(of->buffers[i].buffer->child.id);
    }
    return status;
}

iso_status iso_launch(iso_stream stream_handle, iso_kernel kernel, iso_groups groups,
                      const iso_argument *arguments, int32_t count)
{
    const char *call = "iso_launch";
    CORE_HELD core_stream *stream = NULL;
    CORE_HELD core_program *program = NULL;
    iso_status status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, &stream);
    if (!status) {
        status =
            core_handle_acquire(call, "kernel.program", kernel.program.id, CORE_PROGRAM, &program);
    }
    if (status) {
        return status;
    }
    launch of; /* the arrays are written as far as they are used */
    of.call = call;
    of.program = program;
    of.stream = stream;
    of.arg_count = of.buffer_count = of.value_count = 0;
    of.shared_bytes = 0;
    of.known = 0;
    status = run(&of, kernel, groups, arguments, count);
    return status ? core_record_note(stream, status) : ISO_OK;
}
