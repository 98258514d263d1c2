/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - lanes: what a communicator keeps for one of its streams, and their memory. */
#include "core/comm/comm.h"

#include <stdlib.h>

static void free_blocks(core_comm *comm, core_pool_block *blocks, bool on_host)
{
    core_device *device = comm->child.device;
    const iso_backend *table = device->table;
    void *backend_device = device->physical->device;

    while (blocks) {
        core_pool_block *block = blocks;

        blocks = block->next;
        if (!on_host) {
            CORE_DO(table->memory_free(backend_device, block->memory));
            core_memory_give(device->physical, block->bytes);
        } else if (table->host_free) {
            CORE_DO(table->host_free(backend_device, block->memory));
        } else {
            free(block->memory);
        }
        free(block);
    }
}

static void free_lane(core_comm *comm, core_lane *lane)
{
    const iso_backend *table = comm->child.device->table;

    if (!core_comm_keeps(comm) || !core_comm_on_host(comm)) {
        free_blocks(comm, lane->scratch, false);
    }
    if (!core_comm_keeps(comm)) {
        free_blocks(comm, lane->stage, true);
    }
    free(lane->calls);
    if (lane->mark) {
        CORE_DO(table->event_destroy(lane->mark));
    }
    free(lane);
}

/* Frees the lanes of streams that were destroyed. The caller holds the lock. */
static void sweep(core_comm *comm)
{
    core_lane **at = &comm->lanes;

    while (*at) {
        core_lane *lane = *at;

        if (core_handle_gone(lane->stream)) {
            *at = lane->next;
            free_lane(comm, lane);
        } else {
            at = &lane->next;
        }
    }
}

core_lane *core_comm_lane(const char *call, core_comm *comm, const core_stream *stream)
{
    core_lane *lane;

    pthread_mutex_lock(&comm->lock);
    for (lane = comm->lanes; lane && lane->stream != stream->child.id; lane = lane->next)
        ;
    if (!lane) {
        sweep(comm);
        lane = calloc(1, sizeof *lane);
        if (lane) {
            lane->stream = stream->child.id;
            lane->serial = stream->serial;
            lane->next = comm->lanes;
            comm->lanes = lane;
        } else {
            core_fail_no_memory(call, (int64_t)sizeof *lane);
        }
    }
    pthread_mutex_unlock(&comm->lock);
    return lane;
}

static iso_status allocate(const char *call, core_comm *comm, int64_t bytes, bool on_host,
                           void **memory)
{
    core_device *device = comm->child.device;
    const iso_backend *table = device->table;
    int32_t pinned = 0;
    iso_status status;

    if (on_host) {
        if (table->host_alloc) {
            return CORE_CALL(call, table,
                             table->host_alloc(device->physical->device, bytes, memory, &pinned));
        }
        *memory = malloc((size_t)bytes);
        return *memory ? ISO_OK : core_fail_no_memory(call, bytes);
    }
    status = core_memory_take(call, device, bytes);
    if (status) {
        return status;
    }
    status = CORE_CALL(call, table, table->memory_alloc(device->physical->device, bytes, memory));
    if (status) {
        core_memory_give(device->physical, bytes);
    }
    return status;
}

/* Frees the blocks if no work of the stream can use them. */
static void shed(core_comm *comm, const core_stream *stream, core_pool_block **blocks, bool on_host)
{
    const iso_backend *table = comm->child.device->table;
    core_kept_error kept = core_error_keep();

    if (!CORE_ASK("iso_comm_run", table, table->stream_query(stream->handle))) {
        free_blocks(comm, *blocks, on_host);
        *blocks = NULL;
    }
    core_error_restore(&kept);
}

/* Makes sure that the newest of the blocks has that many bytes. It does not wait for work that uses
 * an older one, because that might wait for calls that this thread has yet to make for other ranks.
 * So a new block has at least twice the size of the one before, and few are kept. */
static iso_status grow(const char *call, core_comm *comm, const core_stream *stream,
                       core_pool_block **blocks, int64_t bytes, bool on_host)
{
    core_pool_block *made;
    iso_status status;

    if (!bytes || (*blocks && (*blocks)->bytes >= bytes)) {
        return ISO_OK;
    }
    if (*blocks) {
        shed(comm, stream, blocks, on_host);
    }
    if (*blocks && bytes < 2 * (*blocks)->bytes) {
        bytes = 2 * (*blocks)->bytes;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return core_fail_no_memory(call, (int64_t)sizeof *made);
    }
    made->bytes = core_lane_padded(bytes);
    status = allocate(call, comm, made->bytes, on_host, &made->memory);
    if (status) {
        free(made);
        return status;
    }
    made->next = *blocks;
    *blocks = made;
    return ISO_OK;
}

iso_status core_lane_scratch(const char *call, core_comm *comm, core_lane *lane,
                             const core_stream *stream, int64_t bytes)
{
    return grow(call, comm, stream, &lane->scratch, bytes, false);
}

iso_status core_lane_stage(const char *call, core_comm *comm, core_lane *lane,
                           const core_stream *stream, int64_t bytes)
{
    return grow(call, comm, stream, &lane->stage, bytes, true);
}

iso_status core_lane_calls(const char *call, core_lane *lane, int32_t count)
{
    iso_engine_call *more;

    if (count <= lane->calls_room) {
        return ISO_OK;
    }
    more = realloc(lane->calls, (size_t)count * sizeof *more);
    if (!more) {
        return core_fail_no_memory(call, count * (int64_t)sizeof *more);
    }
    lane->calls = more;
    lane->calls_room = count;
    return ISO_OK;
}

void core_lanes_free(core_comm *comm)
{
    while (comm->lanes) {
        core_lane *lane = comm->lanes;

        comm->lanes = lane->next;
        free_lane(comm, lane);
    }
}
