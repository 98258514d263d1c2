/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_between.c - copies from a buffer of one device to one of another. */
#include "core/error.h"
#include "core/handle.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/op.h"
#include "core/overlap.h"
#include "core/stream.h"
#include "core/trace.h"
#include "core/transfer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

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
