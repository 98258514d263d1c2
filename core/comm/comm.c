/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - communicators: keeps their error, leaves them, and answers questions. */
#include "core/comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------------------------- */

iso_status core_comm_late(const char *call, core_comm *comm)
{
    iso_status failed = (iso_status)atomic_load(&comm->failed);

    if (!failed) {
        return ISO_OK;
    }
    pthread_mutex_lock(&comm->lock);
    core_fail(failed, "%s: the communicator has failed: %s", call, core_error_text(&comm->error));
    comm->told = true;
    pthread_mutex_unlock(&comm->lock);
    return failed;
}

/* Gives the error to the streams on which the communicator still has work. The jobs of a host
 * engine do this themselves. */
static void fail_streams(core_comm *comm, iso_status status)
{
    if (comm->engine.table->flags & ISO_ENGINE_HOST) {
        return;
    }
    pthread_mutex_lock(&comm->lock);
    for (core_lane *lane = comm->lanes; lane; lane = lane->next) {
        core_stream *stream;

        if (atomic_load(&lane->submitted) != lane->seen &&
            core_handle_get(lane->stream, CORE_STREAM, &stream)) {
            core_stream_fail(stream, status);
            core_handle_release(lane->stream);
        }
    }
    pthread_mutex_unlock(&comm->lock);
}

/* Followers that are idle have got everything that they waited for. The caller holds the lock. */
static void fail_followers(core_comm *comm, iso_status status)
{
    for (int32_t i = 0; i < comm->follower_count; i++) {
        const iso_backend *table = comm->child.device->table;
        core_kept_error kept;
        core_stream *stream;
        iso_status busy;

        if (!core_handle_get(comm->followers[i], CORE_STREAM, &stream)) {
            continue;
        }
        kept = core_error_keep();
        busy = CORE_ASK("iso_comm_run", table, table->stream_query(stream->handle));
        core_error_restore(&kept);
        if (busy == ISO_NOT_READY) {
            core_stream_fail(stream, status);
        }
        core_handle_release(comm->followers[i]);
    }
}

/* Forgets streams that were destroyed, and makes room for another. The caller holds the lock. */
static iso_status follower_room(const char *call, core_comm *comm)
{
    enum { FIRST = 8 };
    const int32_t room = comm->follower_room ? 2 * comm->follower_room : FIRST;
    uint64_t *more;
    int32_t kept = 0;

    for (int32_t i = 0; i < comm->follower_count; i++) {
        if (!core_handle_gone(comm->followers[i])) {
            comm->followers[kept++] = comm->followers[i];
        }
    }
    comm->follower_count = kept;
    if (kept < comm->follower_room) {
        return ISO_OK;
    }
    more = realloc(comm->followers, (size_t)room * sizeof *more);
    if (!more) {
        return core_fail_no_memory(call, room * (int64_t)sizeof *more);
    }
    comm->followers = more;
    comm->follower_room = room;
    return ISO_OK;
}

iso_status core_comm_follow(const char *call, core_comm *comm, uint64_t stream)
{
    iso_status status = ISO_OK;
    bool known = false;

    pthread_mutex_lock(&comm->lock);
    for (int32_t i = 0; i < comm->follower_count; i++) {
        known = known || comm->followers[i] == stream;
    }
    if (!known) {
        status = follower_room(call, comm);
    }
    if (!known && !status) {
        comm->followers[comm->follower_count++] = stream;
    }
    pthread_mutex_unlock(&comm->lock);
    return status;
}

void core_comm_fail(core_comm *comm, iso_status status)
{
    bool first = false;

    pthread_mutex_lock(&comm->lock);
    if (!atomic_load(&comm->failed)) {
        /* Once `failed` is set, jobs end, and then a follower would end as if nothing were wrong.
         */
        fail_followers(comm, status);
        comm->error = core_error_keep();
        atomic_store(&comm->failed, (int)status);
        first = true;
    }
    pthread_mutex_unlock(&comm->lock);
    if (first) {
        fail_streams(comm, status);
        CORE_DO(comm->engine.table->abort(comm->rank_handle));
        pthread_mutex_lock(&comm->turn_lock);
        pthread_cond_broadcast(&comm->turn_changed);
        pthread_mutex_unlock(&comm->turn_lock);
    }
}

/* ---- leaving --------------------------------------------------------------------------------- */

bool core_comm_keeps(const core_comm *comm)
{
    return atomic_load(&comm->failed) && comm->engine.table->flags & ISO_ENGINE_KEEPS;
}

bool core_comm_on_host(const core_comm *comm)
{
    return (comm->child.device->table->flags & ISO_BACKEND_HOST_MEMORY) != 0;
}

void core_comm_free(core_comm *comm)
{
    core_lanes_free(comm);
    free(comm->followers);
    core_jobs_free(comm);
    pthread_mutex_destroy(&comm->lock);
    pthread_mutex_destroy(&comm->submit_lock);
    pthread_mutex_destroy(&comm->turn_lock);
    pthread_cond_destroy(&comm->turn_changed);
    free(comm->error.text);
    free(comm);
}

/* Waits for the work on all lanes. The handle was retired, so no lane is added or freed. */
static void drain(const core_comm *comm)
{
    for (const core_lane *lane = comm->lanes; lane; lane = lane->next) {
        core_stream_await(comm->child.device->physical, lane->serial);
    }
}

iso_status core_comm_finish(const char *call, core_comm *comm, bool *told)
{
    const uint64_t id = comm->child.id;
    iso_status status;

    drain(comm);
    core_watch_remove(comm);
    CORE_DO(comm->engine.table->leave(comm->rank_handle));
    *told = comm->told;
    status = core_comm_late(call, comm);
    core_child_unlink(&comm->child);
    core_comm_free(comm);
    core_handle_free(id);
    return status;
}

iso_status iso_comm_destroy(iso_comm handle)
{
    const char *call = "iso_comm_destroy";
    core_comm *comm;
    bool told;
    core_kept_error kept = core_error_keep();
    iso_status status = core_handle_retire(call, "comm", handle.id, CORE_COMM, &comm);

    if (!status) {
        status = core_comm_finish(call, comm, &told);
        if (status && told) {
            core_error_restore(&kept);
            return ISO_OK;
        }
    }
    free(kept.text);
    return status;
}

/* ---- queries --------------------------------------------------------------------------------- */

iso_status iso_comm_abort(iso_comm handle)
{
    const char *call = "iso_comm_abort";
    CORE_HELD core_comm *comm = NULL;
    core_kept_error kept;
    iso_status status = core_handle_acquire(call, "comm", handle.id, CORE_COMM, &comm);

    if (status) {
        return status;
    }
    kept = core_error_keep();
    core_fail(ISO_UNAVAILABLE, "rank %d of %d was aborted by iso_comm_abort", comm->rank,
              comm->ranks);
    core_comm_fail(comm, ISO_UNAVAILABLE);
    core_error_restore(&kept);
    return ISO_OK;
}

iso_status iso_comm_query(iso_comm handle)
{
    const char *call = "iso_comm_query";
    CORE_HELD core_comm *comm = NULL;
    const iso_engine *engine;
    iso_status status = core_handle_acquire(call, "comm", handle.id, CORE_COMM, &comm);

    if (status || (status = core_comm_late(call, comm))) {
        return status;
    }
    engine = comm->engine.table;
    status = CORE_ENGINE(call, engine, engine->query(comm->rank_handle));
    if (status) {
        core_comm_fail(comm, status);
        status = core_comm_late(call, comm);
    }
    return status;
}

iso_status iso_comm_get_info(iso_comm handle, iso_comm_info *out)
{
    const char *call = "iso_comm_get_info";
    CORE_HELD core_comm *comm = NULL;
    iso_comm_info info = ISO_COMM_INFO_INIT;
    iso_status status = core_handle_acquire(call, "comm", handle.id, CORE_COMM, &comm);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_comm_info, ranks));
    }
    if (status) {
        return status;
    }
    info.rank = comm->rank;
    info.ranks = comm->ranks;
    info.device.id = comm->child.device->id;
    info.timeout_nanoseconds = comm->timeout;
    snprintf(info.engine, sizeof info.engine, "%s", comm->engine.table->name);
    snprintf(info.library, sizeof info.library, "%s", comm->engine.label);
    core_struct_write(out, &info, sizeof info);
    return ISO_OK;
}
