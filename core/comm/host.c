/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - calls of host engines. A job is what an engine does for one rank between the copies to
 * host memory and the copies back. A backend runs it in the order of the stream. Jobs of one
 * communicator run one after another in the order in which they were submitted, so that all ranks
 * agree on the order even if they use several streams.
 */
#include "core/comm/comm.h"

#include <stdlib.h>
#include <string.h>

struct core_job {
    core_job *next;
    core_comm *comm;
    uint64_t ticket;
    int32_t count, room;
    iso_engine_call calls[];
};

/* ---- jobs ------------------------------------------------------------------------------------ */

static core_job *take_job(const char *call, core_comm *comm, int32_t count)
{
    core_job *job;

    pthread_mutex_lock(&comm->lock);
    job = comm->jobs;
    if (job) {
        comm->jobs = job->next;
    }
    pthread_mutex_unlock(&comm->lock);
    if (job && job->room < count) {
        free(job);
        job = NULL;
    }
    if (!job) {
        const size_t bytes = sizeof *job + (size_t)count * sizeof job->calls[0];

        job = malloc(bytes);
        if (!job) {
            core_fail_no_memory(call, (int64_t)bytes);
            return NULL;
        }
        job->room = count;
    }
    job->comm = comm;
    job->count = count;
    return job;
}

static void give_job(core_job *job)
{
    core_comm *comm = job->comm;

    pthread_mutex_lock(&comm->lock);
    job->next = comm->jobs;
    comm->jobs = job;
    pthread_mutex_unlock(&comm->lock);
}

void core_jobs_free(core_comm *comm)
{
    while (comm->jobs) {
        core_job *job = comm->jobs;

        comm->jobs = job->next;
        free(job);
    }
}

static void await_turn(core_comm *comm, uint64_t ticket)
{
    pthread_mutex_lock(&comm->turn_lock);
    while (comm->turn != ticket && !atomic_load(&comm->failed)) {
        pthread_cond_wait(&comm->turn_changed, &comm->turn_lock);
    }
    pthread_mutex_unlock(&comm->turn_lock);
}

static void pass_turn(core_comm *comm, uint64_t ticket)
{
    pthread_mutex_lock(&comm->turn_lock);
    comm->turn = ticket + 1;
    pthread_cond_broadcast(&comm->turn_changed);
    pthread_mutex_unlock(&comm->turn_lock);
}

/* Called by the backend, in the order of the stream. */
static iso_status run_job(void *data, int32_t skip)
{
    const char *call = "iso_comm_run";
    core_job *job = data;
    core_comm *comm = job->comm;
    const uint64_t ticket = job->ticket;
    iso_status status;

    await_turn(comm, ticket);
    status = core_comm_late(call, comm);
    if (!status && skip) {
        status = core_fail(ISO_BACKEND,
                           "rank %d of %d cannot go on, because its stream has failed before",
                           comm->rank, comm->ranks);
        core_comm_fail(comm, status);
    } else if (!status) {
        status = CORE_ENGINE(call, comm->engine.table,
                             comm->engine.table->submit(job->calls, job->count));
        if (status) {
            core_comm_fail(comm, status);
        }
    }
    give_job(job);
    pass_turn(comm, ticket);
    return status;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Bytes that a call reads and writes. */
static void measure(const core_comm *comm, const iso_engine_call *call, int64_t *from, int64_t *to)
{
    const int64_t part = call->count * iso_dtype_size(call->dtype);

    *from = call->from ? core_comm_from_parts(call->op, comm->ranks) * part : 0;
    *to = call->to ? core_comm_to_parts(call->op, comm->ranks) * part : 0;
}

/* Where the operands of a call are in staging memory. */
typedef struct staged {
    int64_t from_bytes, to_bytes;
    char *from, *to;
} staged;

/* Called for each call in turn; *next begins with the lane's staging memory. */
static staged next_staged(const core_comm *comm, const iso_engine_call *call, char **next)
{
    staged out;

    measure(comm, call, &out.from_bytes, &out.to_bytes);
    out.from = *next;
    out.to = *next + core_lane_padded(out.from_bytes);
    *next = out.to + core_lane_padded(out.to_bytes);
    return out;
}

/* Sets the host addresses of a job's calls. */
static void place(const core_comm *comm, const core_lane *lane, core_job *job)
{
    char *next = lane->stage ? lane->stage->memory : NULL;

    for (int32_t i = 0; i < job->count; i++) {
        iso_engine_call *at = &job->calls[i];

        if (core_comm_on_host(comm)) {
            at->from = at->from ? (char *)at->from + at->from_offset : NULL;
            at->to = at->to ? (char *)at->to + at->to_offset : NULL;
        } else {
            const staged where = next_staged(comm, at, &next);

            at->from = where.from_bytes ? where.from : NULL;
            at->to = where.to_bytes ? where.to : NULL;
        }
        at->from_offset = at->to_offset = 0;
        at->stream = NULL;
    }
}

/* Copies what the calls read to staging memory, or what they wrote back. */
static iso_status copy(const char *call, const core_comm *comm, const core_lane *lane,
                       core_stream *stream, const iso_engine_call *calls, int32_t count,
                       iso_transfer_kind kind)
{
    char *next = lane->stage ? lane->stage->memory : NULL;
    iso_status status = ISO_OK;

    for (int32_t i = 0; i < count && !status && !core_comm_on_host(comm); i++) {
        const staged where = next_staged(comm, &calls[i], &next);
        iso_transfer run =
            core_transfer_run(kind, kind == ISO_TRANSFER_READ ? where.from_bytes : where.to_bytes);

        run.from = (iso_ref){calls[i].from, calls[i].from_offset};
        run.host_to = where.from;
        run.to = (iso_ref){calls[i].to, calls[i].to_offset};
        run.host_from = where.to;
        if (run.width) {
            status = core_transfer_submit(call, stream, &run);
        }
    }
    return status;
}

iso_status core_comm_host(const char *call, core_comm *comm, core_stream *stream,
                          const core_lane *lane, const iso_engine_call *calls, int32_t count)
{
    const iso_backend *table = comm->child.device->table;
    core_job *job = take_job(call, comm, count);
    iso_status status;

    if (!job) {
        return ISO_NO_MEMORY;
    }
    memcpy(job->calls, calls, (size_t)count * sizeof *calls);
    place(comm, lane, job);
    status = copy(call, comm, lane, stream, calls, count, ISO_TRANSFER_READ);
    if (!status) {
        pthread_mutex_lock(&comm->lock);
        job->ticket = comm->next_ticket++;
        pthread_mutex_unlock(&comm->lock);
        status = CORE_CALL(call, table, table->stream_call(stream->handle, run_job, job));
        status = core_stream_check(call, stream, status);
    }
    if (status) {
        give_job(job);
        return status;
    }
    return copy(call, comm, lane, stream, calls, count, ISO_TRANSFER_WRITE);
}
