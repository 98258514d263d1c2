/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - transfers host to device, device to host, within a device and between devices, and
 * fills: checked and submitted. */
#include "core/host.h"
#include "core/op.h"
#include "core/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A transfer as requested. */
typedef struct asked {
    const char *call;
    iso_transfer_kind kind;
    iso_stream stream;
    iso_operand to, from;
    void *host_to;
    const void *host_from;
    const void *pattern;
    bool is_2d;
    int64_t to_pitch, from_pitch, width, height, pattern_bytes;
} asked;

iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer)
{
    if (offset < 0) {
        return core_fail(ISO_INVALID, "%s: %s.offset is %lld: pass 0 or more", call, name,
                         (long long)offset);
    }
    if (offset > buffer->bytes || bytes > buffer->bytes - offset) {
        return core_fail(ISO_INVALID,
                         "%s: %s.offset is %lld and %lld bytes follow, but its buffer holds %lld "
                         "bytes",
                         call, name, (long long)offset, (long long)bytes, (long long)buffer->bytes);
    }
    return ISO_OK;
}

/* One end of the transfer on a device. */
static iso_status acquire_buffer(const char *call, const char *name, iso_operand operand,
                                 const core_stream *stream, core_buffer **buffer)
{
    char argument[32];
    iso_status status;

    snprintf(argument, sizeof argument, "%s.buffer", name);
    status = core_handle_acquire(call, argument, operand.buffer.id, CORE_BUFFER, buffer);
    if (status || (*buffer)->child.device == stream->child.device) {
        return status;
    }
    status = core_fail(ISO_MISMATCH,
                       "%s: %s belongs to another device handle (%s) than the stream (%s): use "
                       "iso_copy_between, or open one device",
                       call, argument, (*buffer)->child.device->physical->spec,
                       stream->child.device->physical->spec);
    core_handle_release(operand.buffer.id);
    *buffer = NULL;
    return status;
}

static iso_status check_pitch(const char *call, const char *name, int64_t pitch, int64_t width,
                              int64_t height, core_layout *out)
{
    if (pitch < width) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %lld, but a row holds %lld bytes (width): use at least that",
                         call, name, (long long)pitch, (long long)width);
    }
    *out =
        (core_layout){.width = width, .rows = height, .pitch = height > 1 ? pitch : 0, .batch = 1};
    if (!width || !height) {
        return ISO_OK;
    }
    if (__builtin_mul_overflow(height - 1, pitch, &out->bytes) ||
        __builtin_add_overflow(out->bytes, width, &out->bytes)) {
        return core_fail(ISO_INVALID, "%s: height is %lld and %s %lld: the product is too large",
                         call, (long long)height, name, (long long)pitch);
    }
    return ISO_OK;
}

static iso_status check_pattern(const asked *what, bool nothing)
{
    int64_t size = what->pattern_bytes;
    const char *width = what->is_2d ? "width" : "bytes";

    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
        return core_fail(ISO_INVALID, "%s: pattern_bytes is %lld: use 1, 2, 4, 8 or 16", what->call,
                         (long long)size);
    }
    if (what->width % size) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %lld, which is not a multiple of pattern_bytes (%lld)",
                         what->call, width, (long long)what->width, (long long)size);
    }
    if (what->to.offset % size) {
        return core_fail(ISO_INVALID,
                         "%s: to.offset is %lld, which is not a multiple of pattern_bytes (%lld)",
                         what->call, (long long)what->to.offset, (long long)size);
    }
    if (what->is_2d && what->to_pitch % size) {
        return core_fail(ISO_INVALID,
                         "%s: to_pitch is %lld, which is not a multiple of pattern_bytes (%lld)",
                         what->call, (long long)what->to_pitch, (long long)size);
    }
    if (!what->pattern && !nothing) {
        return core_fail(ISO_INVALID, "%s: pattern is NULL: pass %lld bytes to repeat", what->call,
                         (long long)size);
    }
    return ISO_OK;
}

/* All checks that do not depend on buffers. */
static iso_status check_shape(const asked *what, core_layout *to, core_layout *from)
{
    bool nothing = !what->width || !what->height;
    const char *call = what->call;
    iso_status status;

    status = core_check_size(call, what->is_2d ? "width" : "bytes", what->width);
    if (!status) {
        status = core_check_size(call, "height", what->height);
    }
    if (!status) {
        status = check_pitch(call, "to_pitch", what->to_pitch, what->width, what->height, to);
    }
    if (!status && what->kind != ISO_TRANSFER_FILL) {
        status = check_pitch(call, "from_pitch", what->from_pitch, what->width, what->height, from);
    }
    if (status) {
        return status;
    }
    if (what->kind == ISO_TRANSFER_FILL) {
        return check_pattern(what, nothing);
    }
    if (what->kind == ISO_TRANSFER_WRITE && !what->host_from && !nothing) {
        return core_fail(ISO_INVALID, "%s: from is NULL: pass the memory to copy from", call);
    }
    if (what->kind == ISO_TRANSFER_READ && !what->host_to && !nothing) {
        return core_fail(ISO_INVALID, "%s: to is NULL: pass the memory to copy to", call);
    }
    return ISO_OK;
}

static iso_status check_ends(const asked *what, const core_layout *to_layout,
                             const core_layout *from_layout, const core_buffer *to,
                             const core_buffer *from)
{
    int64_t to_bytes = to_layout->bytes, from_bytes = from_layout->bytes;
    iso_status status = ISO_OK;

    if (to) {
        status = core_check_range(what->call, "to", what->to.offset, to_bytes, to);
    }
    if (!status && to && to_bytes) {
        status = core_check_writable(what->call, "to", to);
    }
    if (!status && to && what->kind == ISO_TRANSFER_FILL && to->origin % what->pattern_bytes) {
        status = core_fail(ISO_INVALID,
                           "%s: to.buffer is imported memory that begins %lld bytes after a "
                           "multiple of pattern_bytes (%lld): use a shorter pattern",
                           what->call, (long long)(to->origin % what->pattern_bytes),
                           (long long)what->pattern_bytes);
    }
    if (!status && from) {
        status = core_check_range(what->call, "from", what->from.offset, from_bytes, from);
    }
    if (!status && to && from == to &&
        core_layouts_meet(what->to.offset, to_layout, what->from.offset, from_layout)) {
        status = core_fail(ISO_INVALID,
                           "%s: to (offset %lld, %lld bytes) overlaps from (offset %lld, %lld "
                           "bytes) in the same buffer: use blocks that share no byte",
                           what->call, (long long)what->to.offset, (long long)to_bytes,
                           (long long)what->from.offset, (long long)from_bytes);
    }
    return status;
}

static const char *const kind_names[] = {
    [ISO_TRANSFER_WRITE] = "write",
    [ISO_TRANSFER_READ] = "read",
    [ISO_TRANSFER_COPY] = "copy",
    [ISO_TRANSFER_FILL] = "fill",
};

iso_status core_transfer_submit(const char *call, core_stream *stream, const iso_transfer *transfer)
{
    const iso_backend *table = stream->child.device->table;
    core_trace_span span = {0};
    iso_status status;
    char name[128];

    core_trace_begin(stream, &span);
    status = CORE_CALL(call, table, table->transfer(stream->handle, transfer));
    if (span.on) {
        double bytes = (double)transfer->width * (double)transfer->height;

        snprintf(name, sizeof name, "%s %lldx%lld", kind_names[transfer->kind],
                 (long long)transfer->height, (long long)transfer->width);
        core_trace_end(stream, &span, !status, name, bytes);
    }
    return core_stream_check(call, stream, status);
}

static iso_status submit(const asked *what, core_stream *stream, core_buffer *to, core_buffer *from)
{
    iso_transfer transfer = {
        .size = (uint32_t)sizeof transfer,
        .kind = what->kind,
        .to = core_buffer_ref(to, what->to.offset),
        .from = core_buffer_ref(from, what->from.offset),
        .host_from = what->host_from,
        .host_to = what->host_to,
        .to_pitch = what->to_pitch,
        .from_pitch = what->from_pitch,
        .width = what->width,
        .height = what->height,
        .pattern_bytes = what->pattern_bytes,
    };
    iso_status status = core_stream_enter(what->call, stream);

    if (status) {
        return status;
    }
    if (what->pattern && what->width && what->height) {
        memcpy(transfer.pattern, what->pattern, (size_t)what->pattern_bytes);
    }
    if (what->width && what->height) {
        if (to) {
            atomic_fetch_or(&to->used_by, stream->bit);
        }
        if (from) {
            atomic_fetch_or(&from->used_by, stream->bit);
        }
        status = core_transfer_submit(what->call, stream, &transfer);
    }
    core_stream_leave(stream);
    return status;
}

static iso_status transfer(const asked *what)
{
    bool reads = what->kind == ISO_TRANSFER_READ || what->kind == ISO_TRANSFER_COPY;
    core_buffer *to = NULL, *from = NULL;
    core_layout to_layout = {.bytes = 0}, from_layout = {.bytes = 0};
    core_stream *stream;
    iso_status status;

    status = core_handle_acquire(what->call, "stream", what->stream.id, CORE_STREAM, &stream);
    if (status) {
        return status;
    }
    status = check_shape(what, &to_layout, &from_layout);
    if (!status && what->kind != ISO_TRANSFER_READ) {
        status = acquire_buffer(what->call, "to", what->to, stream, &to);
    }
    if (!status && reads) {
        status = acquire_buffer(what->call, "from", what->from, stream, &from);
    }
    if (!status) {
        status = check_ends(what, &to_layout, &from_layout, to, from);
    }
    if (!status) {
        status = submit(what, stream, to, from);
    }
    if (to) {
        core_handle_release(what->to.buffer.id);
    }
    if (from) {
        core_handle_release(what->from.buffer.id);
    }
    core_handle_release(what->stream.id);
    return status;
}

/* A 1-D transfer is one row whose pitch is its width. */
#define ROW(bytes) .to_pitch = (bytes), .from_pitch = (bytes), .width = (bytes), .height = 1

iso_status iso_write(iso_stream stream, iso_operand to, const void *from, int64_t bytes)
{
    return transfer(&(asked){.call = "iso_write",
                             .kind = ISO_TRANSFER_WRITE,
                             .stream = stream,
                             .to = to,
                             .host_from = from,
                             ROW(bytes)});
}

iso_status iso_read(iso_stream stream, void *to, iso_operand from, int64_t bytes)
{
    return transfer(&(asked){.call = "iso_read",
                             .kind = ISO_TRANSFER_READ,
                             .stream = stream,
                             .host_to = to,
                             .from = from,
                             ROW(bytes)});
}

iso_status iso_copy(iso_stream stream, iso_operand to, iso_operand from, int64_t bytes)
{
    return transfer(&(asked){.call = "iso_copy",
                             .kind = ISO_TRANSFER_COPY,
                             .stream = stream,
                             .to = to,
                             .from = from,
                             ROW(bytes)});
}

iso_status iso_fill(iso_stream stream, iso_operand to, const void *pattern, int64_t pattern_bytes,
                    int64_t bytes)
{
    return transfer(&(asked){.call = "iso_fill",
                             .kind = ISO_TRANSFER_FILL,
                             .stream = stream,
                             .to = to,
                             .pattern = pattern,
                             .pattern_bytes = pattern_bytes,
                             ROW(bytes)});
}

iso_status iso_write_2d(iso_stream stream, iso_operand to, int64_t to_pitch, const void *from,
                        int64_t from_pitch, int64_t width, int64_t height)
{
    return transfer(&(asked){.call = "iso_write_2d",
                             .kind = ISO_TRANSFER_WRITE,
                             .stream = stream,
                             .is_2d = true,
                             .to = to,
                             .to_pitch = to_pitch,
                             .host_from = from,
                             .from_pitch = from_pitch,
                             .width = width,
                             .height = height});
}

iso_status iso_read_2d(iso_stream stream, void *to, int64_t to_pitch, iso_operand from,
                       int64_t from_pitch, int64_t width, int64_t height)
{
    return transfer(&(asked){.call = "iso_read_2d",
                             .kind = ISO_TRANSFER_READ,
                             .stream = stream,
                             .is_2d = true,
                             .host_to = to,
                             .to_pitch = to_pitch,
                             .from = from,
                             .from_pitch = from_pitch,
                             .width = width,
                             .height = height});
}

iso_status iso_copy_2d(iso_stream stream, iso_operand to, int64_t to_pitch, iso_operand from,
                       int64_t from_pitch, int64_t width, int64_t height)
{
    return transfer(&(asked){.call = "iso_copy_2d",
                             .kind = ISO_TRANSFER_COPY,
                             .stream = stream,
                             .is_2d = true,
                             .to = to,
                             .to_pitch = to_pitch,
                             .from = from,
                             .from_pitch = from_pitch,
                             .width = width,
                             .height = height});
}

iso_status iso_fill_2d(iso_stream stream, iso_operand to, int64_t to_pitch, const void *pattern,
                       int64_t pattern_bytes, int64_t width, int64_t height)
{
    return transfer(&(asked){.call = "iso_fill_2d",
                             .kind = ISO_TRANSFER_FILL,
                             .stream = stream,
                             .is_2d = true,
                             .to = to,
                             .to_pitch = to_pitch,
                             .pattern = pattern,
                             .pattern_bytes = pattern_bytes,
                             .width = width,
                             .height = height});
}

/* ---- from a buffer of one device to one of another ------------------------------------------- */

enum { STAGE_BYTES = 4 << 20 };

/* A checked copy between two streams, both counted in. */
typedef struct between {
    const char *call;
    core_stream *to_stream, *from_stream;
    core_buffer *to, *from;
    int64_t to_offset, from_offset, bytes;
} between;

/* Two streams are always locked in the same order. */
static iso_status enter(const between *what)
{
    bool swapped = what->to_stream > what->from_stream;
    core_stream *first = swapped ? what->from_stream : what->to_stream;
    core_stream *second = swapped ? what->to_stream : what->from_stream;
    iso_status status = core_stream_enter(what->call, first);

    if (status || first == second) {
        return status;
    }
    status = core_stream_enter(what->call, second);
    if (status) {
        core_stream_leave(first);
    }
    return status;
}

static void leave(const between *what)
{
    core_stream_leave(what->to_stream);
    if (what->from_stream != what->to_stream) {
        core_stream_leave(what->from_stream);
    }
}

/* Both on one backend device: a copy on `to_stream`, ordered on both. */
static iso_status copy_same(const between *what)
{
    bool two = what->to_stream != what->from_stream;
    iso_transfer copy = {
        .size = (uint32_t)sizeof copy,
        .kind = ISO_TRANSFER_COPY,
        .to = core_buffer_ref(what->to, what->to_offset),
        .from = core_buffer_ref(what->from, what->from_offset),
        .to_pitch = what->bytes,
        .from_pitch = what->bytes,
        .width = what->bytes,
        .height = 1,
    };
    iso_status status = ISO_OK;

    if (two) {
        status = core_stream_link(what->call, what->from_stream, what->to_stream);
    }
    if (!status) {
        status = core_transfer_submit(what->call, what->to_stream, &copy);
    }
    if (!status && two) {
        status = core_stream_link(what->call, what->to_stream, what->from_stream);
    }
    return status;
}

static iso_status copy_peer(const between *what)
{
    const iso_backend *table = what->to->child.device->table;
    iso_ref to = core_buffer_ref(what->to, what->to_offset);
    iso_ref from = core_buffer_ref(what->from, what->from_offset);
    core_trace_span span = {0};
    iso_status status;

    if (what->from->child.device->physical->backend != what->to->child.device->physical->backend ||
        !table->copy_peer) {
        return ISO_UNSUPPORTED;
    }
    core_trace_begin(what->to_stream, &span);
    status = CORE_CALL(what->call, table,
                       table->copy_peer(what->to_stream->handle, to, what->from_stream->handle,
                                        from, what->bytes));
    if (span.on) {
        core_trace_end(what->to_stream, &span, !status, "copy peer", (double)what->bytes);
    }
    if (status && status != ISO_UNSUPPORTED) {
        status = core_stream_check(what->call, what->to_stream, status);
        status = core_stream_check(what->call, what->from_stream, status);
    }
    return status;
}

/* One stage of a staged copy; waits for it. */
static iso_status stage(const between *what, core_stream *stream, const iso_transfer *part)
{
    iso_status status = core_transfer_submit(what->call, stream, part);

    if (!status) {
        core_stream_drain(what->call, stream);
    }
    return status ? status : core_stream_late(what->call, stream);
}

static iso_status copy_staged(const between *what)
{
    int64_t most = what->bytes < STAGE_BYTES ? what->bytes : STAGE_BYTES;
    void *host = core_alloc(most);
    iso_status status = ISO_OK;

    if (!host) {
        return core_fail_no_memory(what->call, most);
    }
    for (int64_t done = 0; done < what->bytes && !status; done += most) {
        int64_t left = what->bytes - done, part = left < most ? left : most;
        iso_transfer read = {
            .size = (uint32_t)sizeof read,
            .kind = ISO_TRANSFER_READ,
            .from = core_buffer_ref(what->from, what->from_offset + done),
            .host_to = host,
            .to_pitch = part,
            .from_pitch = part,
            .width = part,
            .height = 1,
        };
        iso_transfer write = {
            .size = (uint32_t)sizeof write,
            .kind = ISO_TRANSFER_WRITE,
            .to = core_buffer_ref(what->to, what->to_offset + done),
            .host_from = host,
            .to_pitch = part,
            .from_pitch = part,
            .width = part,
            .height = 1,
        };

        status = stage(what, what->from_stream, &read);
        if (!status) {
            status = stage(what, what->to_stream, &write);
        }
    }
    core_free(host);
    return status;
}

static iso_status copy(const between *what, iso_path *path)
{
    core_kept_error kept;
    iso_status status;

    if (what->to_stream->child.device->physical == what->from_stream->child.device->physical) {
        *path = ISO_PATH_SAME;
        return copy_same(what);
    }
    *path = ISO_PATH_PEER;
    kept = core_error_keep();
    status = copy_peer(what);
    if (status != ISO_UNSUPPORTED) {
        free(kept.text);
        return status;
    }
    core_error_restore(&kept);
    *path = ISO_PATH_STAGED;
    return copy_staged(what);
}

static iso_status check(const between *what)
{
    const char *call = what->call;
    core_layout run;
    iso_status status;

    if (what->to->child.device != what->to_stream->child.device) {
        return core_fail(ISO_MISMATCH,
                         "%s: to.buffer belongs to another device handle (%s) than to_stream "
                         "(%s)",
                         call, what->to->child.device->physical->spec,
                         what->to_stream->child.device->physical->spec);
    }
    if (what->from->child.device != what->from_stream->child.device) {
        return core_fail(ISO_MISMATCH,
                         "%s: from.buffer belongs to another device handle (%s) than "
                         "from_stream (%s)",
                         call, what->from->child.device->physical->spec,
                         what->from_stream->child.device->physical->spec);
    }
    status = core_check_size(call, "bytes", what->bytes);
    if (!status) {
        status = core_check_range(call, "to", what->to_offset, what->bytes, what->to);
    }
    if (!status) {
        status = core_check_range(call, "from", what->from_offset, what->bytes, what->from);
    }
    if (!status && what->bytes) {
        status = core_check_writable(call, "to", what->to);
    }
    run = core_run(what->bytes);
    if (!status && what->to == what->from &&
        core_layouts_meet(what->to_offset, &run, what->from_offset, &run)) {
        status = core_fail(ISO_INVALID,
                           "%s: to (offset %lld) overlaps from (offset %lld): %lld bytes in the "
                           "same buffer",
                           call, (long long)what->to_offset, (long long)what->from_offset,
                           (long long)what->bytes);
    }
    return status;
}

iso_status iso_copy_between(iso_stream to_stream, iso_operand to, iso_stream from_stream,
                            iso_operand from, int64_t bytes, iso_path *path)
{
    between what = {
        .call = "iso_copy_between",
        .to_offset = to.offset,
        .from_offset = from.offset,
        .bytes = bytes,
    };
    iso_path went = ISO_PATH_SAME;
    iso_status status;

    status =
        core_handle_acquire(what.call, "to_stream", to_stream.id, CORE_STREAM, &what.to_stream);
    if (status) {
        goto out;
    }
    status = core_handle_acquire(what.call, "from_stream", from_stream.id, CORE_STREAM,
                                 &what.from_stream);
    if (status) {
        goto out;
    }
    status = core_handle_acquire(what.call, "to.buffer", to.buffer.id, CORE_BUFFER, &what.to);
    if (status) {
        goto out;
    }
    status = core_handle_acquire(what.call, "from.buffer", from.buffer.id, CORE_BUFFER, &what.from);
    if (!status) {
        status = check(&what);
    }
    if (!status) {
        status = enter(&what);
    }
    if (status) {
        goto out;
    }
    if (bytes) {
        atomic_fetch_or(&what.to->used_by, what.to_stream->bit);
        atomic_fetch_or(&what.from->used_by, what.from_stream->bit);
        status = copy(&what, &went);
    }
    leave(&what);
    if (!status && path) {
        *path = went;
    }
out:
    if (what.from) {
        core_handle_release(from.buffer.id);
    }
    if (what.to) {
        core_handle_release(to.buffer.id);
    }
    if (what.from_stream) {
        core_handle_release(from_stream.id);
    }
    if (what.to_stream) {
        core_handle_release(to_stream.id);
    }
    return status;
}
