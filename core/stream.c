/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - streams. A stream takes one submission at a time. If work that it accepted fails
 * later, it keeps this late error and reports it from then on. */
#include "core/stream.h"
#include "core/graph/graph.h"
#include "core/kernel/kernel.h"
#include "core/sparse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Streams past the 63rd share the last bit. */
enum { SHARED_BIT = 63 };

/* The stream must already have its handle (core_child_add gives it one), because another thread
 * uses the handle as soon as it finds the stream in this list. */
static void link_stream(core_stream *stream)
{
    core_physical *physical = stream->child.device->physical;
    core_stream **end;
    int bit = 0;

    pthread_mutex_lock(&physical->lock);
    while (bit < SHARED_BIT && physical->stream_bits >> bit & 1) {
        bit++;
    }
    stream->bit = UINT64_C(1) << bit;
    physical->stream_bits |= stream->bit;
    stream->serial = ++physical->next_serial;
    for (end = &physical->streams; *end; end = &(*end)->next)
        ;
    *end = stream;
    pthread_mutex_unlock(&physical->lock);
}

static void unlink_stream(core_stream *stream)
{
    core_physical *physical = stream->child.device->physical;
    core_stream **at;

    pthread_mutex_lock(&physical->lock);
    for (at = &physical->streams; *at != stream; at = &(*at)->next)
        ;
    *at = stream->next;
    if (stream->bit != UINT64_C(1) << SHARED_BIT) {
        /* A new stream, which has not used these buffers, may get this bit. So it is cleared. */
        for (core_child *child = stream->child.device->children; child; child = child->next) {
            if (child->kind == CORE_BUFFER) {
                atomic_fetch_and(&((core_buffer *)child)->used_by, ~stream->bit);
            } else if (child->kind == CORE_PROGRAM) {
                atomic_fetch_and(&((core_program *)child)->used_by, ~stream->bit);
            } else if (child->kind == CORE_SPARSE) {
                atomic_fetch_and(&((core_sparse *)child)->used_by, ~stream->bit);
            } else if (child->kind == CORE_GRAPH) {
                atomic_fetch_and(&((core_graph *)child)->used_by, ~stream->bit);
            }
        }
        physical->stream_bits &= ~stream->bit;
    }
    pthread_mutex_unlock(&physical->lock);
    core_child_unlink(&stream->child);
}

static void free_stream(core_stream *stream)
{
    pthread_mutex_destroy(&stream->lock);
    pthread_mutex_destroy(&stream->late_lock);
    free(stream->late_error.text);
    free(stream->recent);
    free(stream);
}

/* Adopts the native stream, or has the backend create one. */
static iso_status make_stream(const char *call, core_device *device, bool adopts, void *native,
                              uint32_t flags, iso_stream *out)
{
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device;
    core_stream *stream = calloc(1, sizeof *stream);
    iso_status status;

    if (!stream) {
        return core_fail_no_memory(call, (int64_t)sizeof *stream);
    }
    pthread_mutex_init(&stream->lock, NULL);
    pthread_mutex_init(&stream->late_lock, NULL);
    stream->runs_inline = flags & ISO_STREAM_INLINE;
    status = CORE_CALL(call, table,
                       adopts ? table->stream_adopt(backend_device, native, &stream->handle)
                              : table->stream_create(backend_device, flags, &stream->handle));
    if (!status) {
        status = core_child_add(call, device, &stream->child, CORE_STREAM);
        if (status) {
            CORE_DO(table->stream_destroy(stream->handle));
        }
    }
    if (status) {
        free_stream(stream);
        return status;
    }
    link_stream(stream);
    out->id = stream->child.id;
    return ISO_OK;
}

iso_status iso_stream_create(iso_device handle, uint32_t flags, iso_stream *out)
{
    const char *call = "iso_stream_create";
    CORE_HELD core_device *device = NULL;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (status) {
        return status;
    }
    if (flags & ~(uint32_t)ISO_STREAM_INLINE) {
        return core_fail(ISO_INVALID, "%s: flags is 0x%x: only ISO_STREAM_INLINE (1) is known",
                         call, flags);
    }
    return make_stream(call, device, false, NULL, flags, out);
}

iso_status iso_stream_adopt(iso_device handle, void *native, iso_stream *out)
{
    const char *call = "iso_stream_adopt";
    CORE_HELD core_device *device = NULL;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (status) {
        return status;
    }
    if (!device->table->stream_adopt) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: %s does not adopt streams: create one with iso_stream_create", call,
                         device->table->name);
    }
    return make_stream(call, device, true, native, 0, out);
}

/* ---- late errors ----------------------------------------------------------------------------- */

void core_stream_fail(core_stream *stream, iso_status status)
{
    pthread_mutex_lock(&stream->late_lock);
    if (!atomic_load(&stream->late)) {
        stream->late_error = core_error_keep();
        atomic_store(&stream->late, (int)status);
    }
    pthread_mutex_unlock(&stream->late_lock);
}

iso_status core_stream_late(const char *call, core_stream *stream)
{
    iso_status late = (iso_status)atomic_load(&stream->late);

    if (!late) {
        return ISO_OK;
    }
    pthread_mutex_lock(&stream->late_lock);
    core_fail(late, "%s: the stream has failed: %s", call, core_error_text(&stream->late_error));
    stream->late_told = true;
    pthread_mutex_unlock(&stream->late_lock);
    return late;
}

iso_status core_stream_lock(const char *call, core_stream *stream)
{
    if (!core_inside()) {
        pthread_mutex_lock(&stream->lock);
    } else if (pthread_mutex_trylock(&stream->lock)) {
        return core_fail(
            ISO_INTERNAL,
            "%s: called from an exit handler while this thread is inside a backend's call", call);
    }
    return ISO_OK;
}

iso_status core_stream_enter_recording(const char *call, core_stream *stream)
{
    iso_status status = core_stream_lock(call, stream);

    if (!status) {
        status = core_stream_late(call, stream);
        if (status) {
            pthread_mutex_unlock(&stream->lock);
        }
    }
    return status;
}

/* Whether the stream takes work that it cannot record. */
static iso_status ready(const char *call, core_stream *stream)
{
    const iso_status late = core_stream_late(call, stream);

    return late ? late : core_record_refuse(call, stream);
}

iso_status core_stream_enter(const char *call, core_stream *stream)
{
    iso_status status = core_stream_lock(call, stream);

    if (!status) {
        status = ready(call, stream);
        if (status) {
            pthread_mutex_unlock(&stream->lock);
        }
    }
    return status;
}

void core_stream_leave(core_stream *stream)
{
    pthread_mutex_unlock(&stream->lock);
}

/* Two streams are always locked in the order of their addresses. */
iso_status core_streams_enter(const char *call, core_stream *a, core_stream *b)
{
    core_stream *first = a < b ? a : b, *second = a < b ? b : a;
    iso_status status = core_stream_enter(call, first);

    if (status || first == second) {
        return status;
    }
    status = core_stream_enter(call, second);
    if (status) {
        core_stream_leave(first);
    }
    return status;
}

void core_streams_leave(core_stream *a, core_stream *b)
{
    core_stream_leave(a);
    if (a != b) {
        core_stream_leave(b);
    }
}

/* Asks whether the stream's late error was reported, or sets that. */
static bool late_told(core_stream *stream, const bool *set)
{
    bool told;

    pthread_mutex_lock(&stream->late_lock);
    told = stream->late_told;
    stream->late_told = set ? *set : told;
    pthread_mutex_unlock(&stream->late_lock);
    return told;
}

/* Makes one locked stream wait for the other, which is locked too. If the other one has failed, its
 * work ends soon, and this thread waits for it; the error is not reported here. Only the wait shows
 * whether the link failed for that reason. */
static iso_status follow(const char *call, core_stream *stream, core_stream *before)
{
    const bool told = late_told(before, NULL);
    core_kept_error kept = core_error_keep();
    iso_status status =
        atomic_load(&before->late) ? ISO_OK : core_stream_link(call, before, stream);

    if (status || atomic_load(&before->late)) {
        core_stream_drain(call, before);
    }
    if (atomic_load(&before->late)) {
        late_told(before, &told);
        core_error_restore(&kept);
        return core_stream_late(call, stream);
    }
    free(kept.text);
    return status;
}

/* An inline stream waits in this thread, so `before` is not locked: other threads can still submit
 * to it. */
static iso_status enter_inline(const char *call, core_stream *stream, core_stream *before)
{
    iso_status status = core_stream_enter(call, stream);

    if (!status) {
        core_stream_drain(call, before);
    }
    return status;
}

iso_status core_stream_enter_after(const char *call, core_stream *stream, core_stream *before)
{
    core_stream *first = stream < before ? stream : before;
    core_stream *second = stream < before ? before : stream;
    iso_status status;

    if (stream->runs_inline) {
        return enter_inline(call, stream, before);
    }
    status = core_stream_lock(call, first);
    if (status) {
        return status;
    }
    status = core_stream_lock(call, second);
    if (status) {
        core_stream_leave(first);
        return status;
    }
    status = ready(call, stream);
    if (!status) {
        status = follow(call, stream, before);
    }
    core_stream_leave(before);
    if (status) {
        core_stream_leave(stream);
    }
    return status;
}

iso_status core_stream_check(const char *call, core_stream *stream, iso_status status)
{
    const iso_backend *table = stream->child.device->table;
    core_kept_error kept;
    iso_status late;

    if (!status) {
        return ISO_OK;
    }
    kept = core_error_keep();
    late = CORE_ASK(call, table, table->stream_query(stream->handle));
    if (late && late != ISO_NOT_READY) {
        core_stream_fail(stream, late);
        free(kept.text);
        return core_stream_late(call, stream);
    }
    core_error_restore(&kept);
    return status;
}

iso_status core_stream_drain(const char *call, core_stream *stream)
{
    const iso_backend *table = stream->child.device->table;
    core_kept_error kept = core_error_keep();
    iso_status status = CORE_LIGHT(call, table, table->stream_sync(stream->handle));

    if (status) {
        core_stream_fail(stream, status);
    }
    core_error_restore(&kept);
    return status;
}

void core_stream_again_begin(core_stream *stream)
{
    const uint64_t count = atomic_load_explicit(&stream->again, memory_order_relaxed);

    atomic_store(&stream->again, count + 1);
}

void core_stream_again_end(core_stream *stream)
{
    const uint64_t count = atomic_load_explicit(&stream->again, memory_order_relaxed);

    atomic_store_explicit(&stream->again, count + 1, memory_order_release);
}

static bool is_again(const core_stream *stream)
{
    return atomic_load(&stream->again) & 1;
}

/* Waits for the submission that is going on, if there is one: then it has seen that its buffer's
 * handle was destroyed, or its work is among the stream's. Later ones see it anyway. */
static void await_again(core_stream *stream)
{
    const struct timespec pause = {.tv_nsec = 20000};
    const uint64_t count = atomic_load(&stream->again);

    while (count & 1 && atomic_load(&stream->again) == count) {
        nanosleep(&pause, NULL);
    }
}

bool core_streams_again(core_physical *physical, uint64_t mask)
{
    bool again = false;

    pthread_mutex_lock(&physical->lock);
    for (core_stream *at = physical->streams; at; at = at->next) {
        again = again || (at->bit & mask && is_again(at));
    }
    pthread_mutex_unlock(&physical->lock);
    return again;
}

void core_streams_drain(core_physical *physical, uint64_t mask, const core_device *device)
{
    uint64_t passed = 0, last;
    core_stream *at;

    /* The handle that was destroyed, and then `again`: a submission does it the other way round. */
    atomic_thread_fence(memory_order_seq_cst);
    pthread_mutex_lock(&physical->lock);
    last = physical->next_serial;
    for (;;) {
        for (at = physical->streams; at; at = at->next) {
            if (at->serial > passed && at->bit & mask && (!device || at->child.device == device)) {
                break;
            }
        }
        if (!at || at->serial > last) {
            break;
        }
        if (core_handle_try(at->child.id)) {
            uint64_t id = at->child.id;

            passed = at->serial;
            pthread_mutex_unlock(&physical->lock);
            await_again(at);
            core_stream_drain("waiting for a stream", at);
            core_handle_release(id);
            pthread_mutex_lock(&physical->lock);
        } else {
            /* Another thread is destroying this stream, and waits for its work too. */
            pthread_cond_wait(&physical->changed, &physical->lock);
        }
    }
    pthread_mutex_unlock(&physical->lock);
}

void core_stream_await(core_physical *physical, uint64_t serial)
{
    core_stream *at;

    pthread_mutex_lock(&physical->lock);
    for (;;) {
        for (at = physical->streams; at && at->serial != serial; at = at->next)
            ;
        if (!at || core_handle_try(at->child.id)) {
            break;
        }
        pthread_cond_wait(&physical->changed, &physical->lock);
    }
    pthread_mutex_unlock(&physical->lock);
    if (at) {
        core_stream_drain("waiting for a stream", at);
        core_handle_release(at->child.id);
    }
}

iso_status core_stream_finish(const char *call, core_stream *stream, bool *told)
{
    core_device *device = stream->child.device;
    const iso_backend *table = device->table;
    uint64_t id = stream->child.id;
    iso_status status;

    core_record_free(device, atomic_exchange(&stream->record, NULL));
    core_stream_drain(call, stream);
    if (stream->trace) {
        core_trace_resolve(stream);
        core_trace_drop(stream);
    }
    *told = stream->late_told;
    status = core_stream_late(call, stream);
    if (stream->link) {
        CORE_DO(table->event_destroy(stream->link));
    }
    CORE_DO(table->stream_destroy(stream->handle));
    if (stream->scratch.memory) {
        CORE_DO(table->memory_free(device->physical->device, stream->scratch.memory));
        core_memory_give(device->physical, stream->scratch_bytes);
    }
    unlink_stream(stream);
    free_stream(stream);
    core_handle_free(id);
    return status;
}

iso_status iso_stream_destroy(iso_stream handle)
{
    const char *call = "iso_stream_destroy";
    core_stream *stream;
    iso_status status;
    bool told;

    status = core_handle_retire(call, "stream", handle.id, CORE_STREAM, &stream);
    return status ? status : core_stream_finish(call, stream, &told);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Called after the stream was found idle. */
static void resolve_trace(core_stream *stream)
{
    if (!atomic_load_explicit(&core_trace_on, memory_order_relaxed)) {
        return;
    }
    pthread_mutex_lock(&stream->lock);
    core_trace_resolve(stream);
    pthread_mutex_unlock(&stream->lock);
}

iso_status iso_stream_sync(iso_stream handle)
{
    const char *call = "iso_stream_sync";
    CORE_HELD core_stream *stream = NULL;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_record_refuse(call, stream);
    }
    if (status) {
        return status;
    }
    core_stream_drain(call, stream);
    resolve_trace(stream);
    return core_stream_late(call, stream);
}

/* Returns the state of the stream, and keeps its late error. NOT_READY sets no error text. */
static iso_status query(const char *call, core_stream *stream)
{
    const iso_backend *table = stream->child.device->table;
    iso_status status = CORE_ASK(call, table, table->stream_query(stream->handle));

    if (status == ISO_NOT_READY) {
        return status;
    }
    if (status) {
        core_stream_fail(stream, status);
    }
    resolve_trace(stream);
    return core_stream_late(call, stream);
}

iso_status iso_stream_sync_timeout(iso_stream handle, int64_t nanoseconds)
{
    const char *call = "iso_stream_sync_timeout";
    int64_t began = core_now(), nap = 2000, spent = 0;
    CORE_HELD core_stream *stream = NULL;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_check_size(call, "nanoseconds", nanoseconds);
    }
    if (!status) {
        status = core_record_refuse(call, stream);
    }
    if (!status) {
        status = query(call, stream);
    }
    while (status == ISO_NOT_READY && (spent = core_now() - began) < nanoseconds) {
        int64_t left = nanoseconds - spent;
        struct timespec time = {0, nap < left ? nap : left};

        nanosleep(&time, NULL);
        nap = nap < 500000 ? nap * 2 : 1000000;
        status = query(call, stream);
    }
    if (status == ISO_NOT_READY) {
        return core_fail(
            ISO_TIMEOUT,
            "%s: the stream's work has not finished after %lld nanoseconds and continues", call,
            (long long)nanoseconds);
    }
    return status;
}

iso_status iso_stream_query(iso_stream handle)
{
    const char *call = "iso_stream_query";
    CORE_HELD core_stream *stream = NULL;
    iso_status status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_record_refuse(call, stream);
    }
    return status ? status : query(call, stream);
}

iso_status core_stream_link(const char *call, core_stream *before, core_stream *after)
{
    core_device *device = before->child.device;
    const iso_backend *table = device->table;
    iso_status status = ISO_OK;

    if (!before->link) {
        status =
            CORE_CALL(call, table, table->event_create(device->physical->device, &before->link));
    }
    if (!status) {
        status = CORE_CALL(call, table, table->event_record(before->link, before->handle));
    }
    status = core_stream_check(call, before, status);
    if (status) {
        return status;
    }
    status = CORE_CALL(call, table, table->stream_wait(after->handle, before->link));
    return core_stream_check(call, after, status);
}
