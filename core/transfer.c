/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - checks and submits transfers from host to device, from device to host, within a
 * device and between devices, and fills. */
#include "core/graph/graph.h"
#include "core/host.h"
#include "core/op.h"
#include "core/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of a transfer that are not in its iso_transfer. */
typedef struct asked {
    const char *call;
    const char *width; /* the name of the width argument */
    iso_operand to, from;
    const void *pattern;
} asked;

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
        return core_fail(ISO_INVALID,
                         "%s: height is %lld and %s %lld: their product does not fit 64 bits", call,
                         (long long)height, name, (long long)pitch);
    }
    return ISO_OK;
}

static iso_status check_pattern(const asked *what, const iso_transfer *transfer)
{
    int64_t size = transfer->pattern_bytes;
    const struct {
        const char *name;
        int64_t value;
    } multiples[] = {
        {what->width, transfer->width},
        {"to.offset", what->to.offset},
        {"to_pitch", transfer->to_pitch},
    };

    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
        return core_fail(ISO_INVALID, "%s: pattern_bytes is %lld: use 1, 2, 4, 8 or 16", what->call,
                         (long long)size);
    }
    for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; i++) {
        if (multiples[i].value % size) {
            return core_fail(
                ISO_INVALID, "%s: %s is %lld, which is not a multiple of pattern_bytes (%lld)",
                what->call, multiples[i].name, (long long)multiples[i].value, (long long)size);
        }
    }
    if (!what->pattern && transfer->width && transfer->height) {
        return core_fail(ISO_INVALID, "%s: pattern is NULL: pass the %lld bytes to repeat",
                         what->call, (long long)size);
    }
    return ISO_OK;
}

/* Makes all checks that do not depend on the buffers. */
static iso_status check_shape(const asked *what, const iso_transfer *transfer, core_layout *to,
                              core_layout *from)
{
    bool nothing = !transfer->width || !transfer->height;
    const char *call = what->call;
    iso_status status = core_check_size(call, what->width, transfer->width);

    if (!status) {
        status = core_check_size(call, "height", transfer->height);
    }
    if (!status) {
        status = check_pitch(call, "to_pitch", transfer->to_pitch, transfer->width,
                             transfer->height, to);
    }
    if (!status && transfer->kind != ISO_TRANSFER_FILL) {
        status = check_pitch(call, "from_pitch", transfer->from_pitch, transfer->width,
                             transfer->height, from);
    }
    if (status) {
        return status;
    }
    if (transfer->kind == ISO_TRANSFER_FILL) {
        return check_pattern(what, transfer);
    }
    if (transfer->kind == ISO_TRANSFER_WRITE && !transfer->host_from && !nothing) {
        return core_fail(ISO_INVALID, "%s: from is NULL: pass the memory to copy from", call);
    }
    if (transfer->kind == ISO_TRANSFER_READ && !transfer->host_to && !nothing) {
        return core_fail(ISO_INVALID, "%s: to is NULL: pass the memory to copy to", call);
    }
    return ISO_OK;
}

/* Checks the buffers. `to` or `from` is NULL if the transfer has no buffer at that end. */
static iso_status check_ends(const asked *what, const iso_transfer *transfer,
                             const core_layout *to_layout, const core_layout *from_layout,
                             const core_buffer *to, const core_buffer *from)
{
    int64_t pattern = transfer->pattern_bytes;
    int64_t to_bytes = to_layout->bytes, from_bytes = from_layout->bytes;
    iso_status status = ISO_OK;

    if (to) {
        status = core_check_range(what->call, "to", what->to.offset, to_bytes, to);
    }
    if (!status && to && to_bytes) {
        status = core_check_writable(what->call, "to", to);
    }
    if (!status && to && pattern && to->origin % pattern) {
        status = core_fail(ISO_INVALID,
                           "%s: to.buffer is imported memory that begins %lld bytes after a "
                           "multiple of pattern_bytes (%lld): use a shorter pattern",
                           what->call, (long long)(to->origin % pattern), (long long)pattern);
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

    if (atomic_load(&stream->record)) {
        return core_record_transfer(call, stream, transfer);
    }
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

/* Marks the buffers as used by work on the streams. Either buffer may be NULL. */
static void mark_used(core_buffer *to, core_buffer *from, uint64_t to_bit, uint64_t from_bit)
{
    if (to) {
        atomic_fetch_or(&to->used_by, to_bit);
    }
    if (from) {
        atomic_fetch_or(&from->used_by, from_bit);
    }
}

/* Notes the buffers if the locked stream records. */
static iso_status record_buffers(const char *call, core_stream *stream, const core_buffer *to,
                                 const core_buffer *from)
{
    iso_status status = ISO_OK;

    if (!atomic_load(&stream->record)) {
        return ISO_OK;
    }
    status = core_record_use(call, stream, to ? &to->child : NULL);
    return status ? status : core_record_use(call, stream, from ? &from->child : NULL);
}

static iso_status submit(const asked *what, core_stream *stream, iso_transfer *transfer,
                         core_buffer *to, core_buffer *from)
{
    iso_status status = core_stream_enter_recording(what->call, stream);

    if (status) {
        return status;
    }
    if (transfer->width && transfer->height) {
        transfer->to = core_buffer_ref(to, what->to.offset);
        transfer->from = core_buffer_ref(from, what->from.offset);
        if (what->pattern) {
            memcpy(transfer->pattern, what->pattern, (size_t)transfer->pattern_bytes);
        }
        mark_used(to, from, stream->bit, stream->bit);
        status = record_buffers(what->call, stream, to, from);
        if (!status) {
            status = core_transfer_submit(what->call, stream, transfer);
        }
    }
    core_stream_leave(stream);
    return status;
}

static iso_status checked_transfer(const asked *what, iso_stream handle, iso_transfer transfer)
{
    bool reads = transfer.kind == ISO_TRANSFER_READ || transfer.kind == ISO_TRANSFER_COPY;
    core_layout to_layout = {.bytes = 0}, from_layout = {.bytes = 0};
    CORE_HELD core_stream *stream = NULL;
    CORE_HELD core_buffer *to = NULL, *from = NULL;
    iso_status status;

    status = core_handle_acquire(what->call, "stream", handle.id, CORE_STREAM, &stream);
    if (!status) {
        status = check_shape(what, &transfer, &to_layout, &from_layout);
    }
    if (!status && transfer.kind != ISO_TRANSFER_READ) {
        status = core_operand_acquire(what->call, "to", what->to, stream, &to);
    }
    if (!status && reads) {
        status = core_operand_acquire(what->call, "from", what->from, stream, &from);
    }
    if (!status) {
        status = check_ends(what, &transfer, &to_layout, &from_layout, to, from);
    }
    if (!status) {
        status = submit(what, stream, &transfer, to, from);
    }
    return status && stream ? core_record_note(stream, status) : status;
}

static iso_transfer rows(iso_transfer_kind kind, int64_t to_pitch, int64_t from_pitch,
                         int64_t width, int64_t height)
{
    return (iso_transfer){.size = (uint32_t)sizeof(iso_transfer),
                          .kind = kind,
                          .to_pitch = to_pitch,
                          .from_pitch = from_pitch,
                          .width = width,
                          .height = height};
}

iso_transfer core_transfer_run(iso_transfer_kind kind, int64_t bytes)
{
    return rows(kind, bytes, bytes, bytes, 1);
}

iso_status iso_write(iso_stream stream, iso_operand to, const void *from, int64_t bytes)
{
    iso_transfer run = core_transfer_run(ISO_TRANSFER_WRITE, bytes);

    run.host_from = from;
    return checked_transfer(&(asked){"iso_write", "bytes", .to = to}, stream, run);
}

iso_status iso_read(iso_stream stream, void *to, iso_operand from, int64_t bytes)
{
    iso_transfer run = core_transfer_run(ISO_TRANSFER_READ, bytes);

    run.host_to = to;
    return checked_transfer(&(asked){"iso_read", "bytes", .from = from}, stream, run);
}

iso_status iso_copy(iso_stream stream, iso_operand to, iso_operand from, int64_t bytes)
{
    iso_transfer run = core_transfer_run(ISO_TRANSFER_COPY, bytes);

    return checked_transfer(&(asked){"iso_copy", "bytes", to, from, NULL}, stream, run);
}

iso_status iso_fill(iso_stream stream, iso_operand to, const void *pattern, int64_t pattern_bytes,
                    int64_t bytes)
{
    iso_transfer run = core_transfer_run(ISO_TRANSFER_FILL, bytes);

    run.pattern_bytes = pattern_bytes;
    return checked_transfer(&(asked){"iso_fill", "bytes", .to = to, .pattern = pattern}, stream,
                            run);
}

iso_status iso_write_2d(iso_stream stream, iso_operand to, int64_t to_pitch, const void *from,
                        int64_t from_pitch, int64_t width, int64_t height)
{
    iso_transfer block = rows(ISO_TRANSFER_WRITE, to_pitch, from_pitch, width, height);

    block.host_from = from;
    return checked_transfer(&(asked){"iso_write_2d", "width", .to = to}, stream, block);
}

iso_status iso_read_2d(iso_stream stream, void *to, int64_t to_pitch, iso_operand from,
                       int64_t from_pitch, int64_t width, int64_t height)
{
    iso_transfer block = rows(ISO_TRANSFER_READ, to_pitch, from_pitch, width, height);

    block.host_to = to;
    return checked_transfer(&(asked){"iso_read_2d", "width", .from = from}, stream, block);
}

iso_status iso_copy_2d(iso_stream stream, iso_operand to, int64_t to_pitch, iso_operand from,
                       int64_t from_pitch, int64_t width, int64_t height)
{
    iso_transfer block = rows(ISO_TRANSFER_COPY, to_pitch, from_pitch, width, height);

    return checked_transfer(&(asked){"iso_copy_2d", "width", to, from, NULL}, stream, block);
}

iso_status iso_fill_2d(iso_stream stream, iso_operand to, int64_t to_pitch, const void *pattern,
                       int64_t pattern_bytes, int64_t width, int64_t height)
{
    iso_transfer block = rows(ISO_TRANSFER_FILL, to_pitch, 0, width, height);

    block.pattern_bytes = pattern_bytes;
    return checked_transfer(&(asked){"iso_fill_2d", "width", .to = to, .pattern = pattern}, stream,
                            block);
}

/* ---- copies between two devices -------------------------------------------------------------- */

enum { STAGE_BYTES = 4 << 20 };

/* A checked copy between two streams; all handles are held. */
typedef struct between {
    const char *call;
    core_stream *to_stream, *from_stream;
    core_buffer *to, *from;
    int64_t to_offset, from_offset, bytes;
} between;

/* Copies on `to_stream` if both buffers are on one physical device. The copy waits for earlier work
 * on both streams, and later work on both streams waits for the copy. */
static iso_status copy_same(const between *what)
{
    bool two = what->to_stream != what->from_stream;
    iso_transfer copy = core_transfer_run(ISO_TRANSFER_COPY, what->bytes);
    iso_status status = ISO_OK;

    copy.to = core_buffer_ref(what->to, what->to_offset);
    copy.from = core_buffer_ref(what->from, what->from_offset);
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

/* Runs one stage of a staged copy, and waits for it. */
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
        iso_transfer read = core_transfer_run(ISO_TRANSFER_READ, part);
        iso_transfer write = core_transfer_run(ISO_TRANSFER_WRITE, part);

        read.from = core_buffer_ref(what->from, what->from_offset + done);
        read.host_to = host;
        write.to = core_buffer_ref(what->to, what->to_offset + done);
        write.host_from = host;
        status = stage(what, what->from_stream, &read);
        if (!status) {
            status = stage(what, what->to_stream, &write);
        }
    }
    free(host);
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

iso_status iso_copy_between(iso_stream to_stream, iso_operand to, iso_stream from_stream,
                            iso_operand from, int64_t bytes, iso_path *path)
{
    const asked ends = {.call = "iso_copy_between", .to = to, .from = from};
    const iso_transfer checked = core_transfer_run(ISO_TRANSFER_COPY, bytes);
    const core_layout run = core_run(bytes);
    const char *call = ends.call;
    CORE_HELD core_stream *into = NULL, *out_of = NULL;
    CORE_HELD core_buffer *to_buffer = NULL, *from_buffer = NULL;
    iso_path went = ISO_PATH_SAME;
    iso_status status = core_handle_acquire(call, "to_stream", to_stream.id, CORE_STREAM, &into);

    if (!status) {
        status = core_handle_acquire(call, "from_stream", from_stream.id, CORE_STREAM, &out_of);
    }
    if (!status) {
        status = core_handle_acquire(call, "to.buffer", to.buffer.id, CORE_BUFFER, &to_buffer);
    }
    if (!status) {
        status =
            core_handle_acquire(call, "from.buffer", from.buffer.id, CORE_BUFFER, &from_buffer);
    }
    if (!status) {
        status = core_check_device(call, "to.buffer", &to_buffer->child, "to_stream", &into->child);
    }
    if (!status) {
        status = core_check_device(call, "from.buffer", &from_buffer->child, "from_stream",
                                   &out_of->child);
    }
    if (!status) {
        status = core_check_size(call, "bytes", bytes);
    }
    if (!status) {
        status = check_ends(&ends, &checked, &run, &run, to_buffer, from_buffer);
    }
    if (!status) {
        status = core_streams_enter(call, into, out_of);
    }
    if (status) {
        return status;
    }
    if (bytes) {
        const between what = {.call = call,
                              .to_stream = into,
                              .from_stream = out_of,
                              .to = to_buffer,
                              .from = from_buffer,
                              .to_offset = to.offset,
                              .from_offset = from.offset,
                              .bytes = bytes};

        mark_used(to_buffer, from_buffer, into->bit, out_of->bit);
        status = copy(&what, &went);
    }
    core_streams_leave(into, out_of);
    if (!status && path) {
        *path = went;
    }
    return status;
}
