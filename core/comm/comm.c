/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - communicators: makes them, keeps their memory and their error, and leaves them. */
#include "core/comm/comm.h"
#include "core/fork.h"
#include "core/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_ALIGN = 256 };
static const char id_magic[8] = "isomer1";

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

/* Followers that are idle have got everything that they waited for. */
static void fail_followers(core_comm *comm, iso_status status)
{
    uint64_t followers[CORE_FOLLOWERS];

    pthread_mutex_lock(&comm->lock);
    memcpy(followers, comm->followers, sizeof followers);
    pthread_mutex_unlock(&comm->lock);
    for (int i = 0; i < CORE_FOLLOWERS; i++) {
        const iso_backend *table = comm->child.device->table;
        core_kept_error kept;
        core_stream *stream;
        iso_status busy;

        if (!followers[i] || !core_handle_get(followers[i], CORE_STREAM, &stream)) {
            continue;
        }
        kept = core_error_keep();
        busy = CORE_ASK("iso_comm_run", table, table->stream_query(stream->handle));
        core_error_restore(&kept);
        if (busy == ISO_NOT_READY) {
            core_stream_fail(stream, status);
        }
        core_handle_release(followers[i]);
    }
}

void core_comm_follow(core_comm *comm, uint64_t stream)
{
    bool known = false;

    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < CORE_FOLLOWERS; i++) {
        known = known || comm->followers[i] == stream;
    }
    if (!known) {
        comm->followers[comm->follower_count++ % CORE_FOLLOWERS] = stream;
    }
    pthread_mutex_unlock(&comm->lock);
}

void core_comm_fail(core_comm *comm, iso_status status)
{
    bool first = false;

    pthread_mutex_lock(&comm->lock);
    if (!atomic_load(&comm->failed)) {
        comm->error = core_error_keep();
        atomic_store(&comm->failed, (int)status);
        first = true;
    }
    pthread_mutex_unlock(&comm->lock);
    if (first) {
        fail_streams(comm, status);
        fail_followers(comm, status);
        CORE_DO(comm->engine.table->abort(comm->rank_handle));
        pthread_mutex_lock(&comm->turn_lock);
        pthread_cond_broadcast(&comm->turn_changed);
        pthread_mutex_unlock(&comm->turn_lock);
    }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

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

    free_blocks(comm, lane->scratch, false);
    if (!(atomic_load(&comm->failed) && comm->engine.table->flags & ISO_ENGINE_KEEPS)) {
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

        if (core_handle_try(lane->stream)) {
            core_handle_release(lane->stream);
            at = &lane->next;
        } else {
            *at = lane->next;
            free_lane(comm, lane);
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

/* Makes sure that the newest of the blocks has that many bytes. An older block stays, because
 * waiting for its work might wait for calls that this thread has yet to make for other ranks. */
static iso_status grow(const char *call, core_comm *comm, core_pool_block **blocks, int64_t bytes,
                       bool on_host)
{
    core_pool_block *made;
    iso_status status;

    if (*blocks && (*blocks)->bytes >= bytes) {
        return ISO_OK;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return core_fail_no_memory(call, (int64_t)sizeof *made);
    }
    made->bytes = (bytes + LANE_ALIGN - 1) / LANE_ALIGN * LANE_ALIGN;
    status = allocate(call, comm, made->bytes, on_host, &made->memory);
    if (status) {
        free(made);
        return status;
    }
    made->next = *blocks;
    *blocks = made;
    return ISO_OK;
}

iso_status core_lane_scratch(const char *call, core_comm *comm, core_lane *lane, int64_t bytes)
{
    return bytes ? grow(call, comm, &lane->scratch, bytes, false) : ISO_OK;
}

iso_status core_lane_stage(const char *call, core_comm *comm, core_lane *lane, int64_t bytes)
{
    return bytes ? grow(call, comm, &lane->stage, bytes, true) : ISO_OK;
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

/* ---- making ---------------------------------------------------------------------------------- */

static void free_comm(core_comm *comm)
{
    while (comm->lanes) {
        core_lane *lane = comm->lanes;

        comm->lanes = lane->next;
        free_lane(comm, lane);
    }
    core_jobs_free(comm);
    pthread_mutex_destroy(&comm->lock);
    pthread_mutex_destroy(&comm->submit_lock);
    pthread_mutex_destroy(&comm->turn_lock);
    pthread_cond_destroy(&comm->turn_changed);
    free(comm->error.text);
    free(comm);
}

typedef struct options {
    const char *engine; /* NULL: not named */
    int64_t timeout;
} options;

static iso_status read_options(const char *call, const iso_comm_options *given, options *out)
{
    iso_comm_options read = ISO_COMM_OPTIONS_INIT;
    const char *seconds = core_setting("ISOMER_COMM_TIMEOUT");
    iso_status status = core_settings_check(call);

    if (!status && given) {
        status = core_struct_read(call, "options", given,
                                  CORE_END_OF(iso_comm_options, timeout_nanoseconds), &read,
                                  sizeof read);
    }
    if (!status) {
        status = core_check_reserved(call, "options", read.reserved);
    }
    if (!status) {
        status = core_check_size(call, "options.timeout_nanoseconds", read.timeout_nanoseconds);
    }
    out->engine = read.engine;
    out->timeout = read.timeout_nanoseconds ? read.timeout_nanoseconds
                                            : strtoll(seconds, NULL, 10) * INT64_C(1000000000);
    return status;
}

/* Makes the objects of ranks that have joined, and gives them their handles. */
static iso_status make_comm(const char *call, core_device *device, const core_engine *engine,
                            const options *how, iso_comm *out, core_comm **made)
{
    core_comm *comm = calloc(1, sizeof *comm);
    iso_status status;

    if (!comm) {
        return core_fail_no_memory(call, (int64_t)sizeof *comm);
    }
    comm->engine = *engine;
    comm->timeout = how->timeout;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_mutex_init(&comm->submit_lock, NULL);
    pthread_mutex_init(&comm->turn_lock, NULL);
    pthread_cond_init(&comm->turn_changed, NULL);
    status = core_child_add(call, device, &comm->child, CORE_COMM);
    if (status) {
        free_comm(comm);
        return status;
    }
    out->id = comm->child.id;
    *made = comm;
    return ISO_OK;
}

/* Undoes make_comm for a rank that has not joined. */
static void unmake(core_comm *comm, iso_comm *out)
{
    const uint64_t id = comm->child.id;

    out->id = 0;
    if (core_handle_retire_quietly(id)) {
        core_child_unlink(&comm->child);
        free_comm(comm);
        core_handle_free(id);
    }
}

typedef struct joining {
    const char *call;
    core_device *const *devices;
    int32_t count;
    const iso_comm_id *id; /* NULL: all ranks are of this process */
    int32_t first;         /* the rank of the first device */
    int32_t ranks;
    core_engine engine;
    options how;
} joining;

/* Lets the engine join the ranks. */
static iso_status join_engine(const joining *what, core_comm *const *comms)
{
    const iso_engine *engine = what->engine.table;
    iso_engine_seat *seats = calloc((size_t)what->count, sizeof *seats);
    void **joined = calloc((size_t)what->count, sizeof *joined);
    iso_status status = ISO_OK;

    if (!seats || !joined) {
        status = core_fail_no_memory(what->call, what->count * (int64_t)sizeof *seats);
    }
    for (int32_t i = 0; i < what->count && !status; i++) {
        const bool on_host = engine->flags & ISO_ENGINE_HOST;

        seats[i].device = on_host ? NULL : what->devices[i]->physical->device;
        seats[i].rank = what->first + i;
    }
    if (!status) {
        status = core_stack_check(what->call, what->devices[0]->table);
    }
    if (!status) {
        status = CORE_ENGINE(
            what->call, engine,
            engine->join(seats, what->count, what->id, what->ranks, what->how.timeout, joined));
    }
    for (int32_t i = 0; i < what->count && !status; i++) {
        comms[i]->rank_handle = joined[i];
        comms[i]->rank = what->first + i;
        comms[i]->ranks = what->ranks;
        core_watch_add(comms[i]);
    }
    free(seats);
    free(joined);
    return status;
}

static iso_status join(const joining *what, iso_comm *out)
{
    core_comm **comms = calloc((size_t)what->count, sizeof(core_comm *));
    iso_status status = ISO_OK;
    int32_t made = 0;

    if (!comms) {
        return core_fail_no_memory(what->call, what->count * (int64_t)sizeof(core_comm *));
    }
    while (made < what->count && !status) {
        status = make_comm(what->call, what->devices[made], &what->engine, &what->how, &out[made],
                           &comms[made]);
        made += !status;
    }
    if (!status) {
        status = join_engine(what, comms);
    }
    for (int32_t i = 0; i < made && status; i++) {
        core_kept_error kept = core_error_keep();

        unmake(comms[i], &out[i]);
        core_error_restore(&kept);
    }
    free(comms);
    return status;
}

static void release_devices(core_device **devices, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        core_handle_put(&devices[i]);
    }
    free(devices);
}

iso_status iso_comm_create(const iso_device *devices, int32_t count, const iso_comm_options *given,
                           iso_comm *out)
{
    const char *call = "iso_comm_create";
    joining what = {.call = call, .count = count, .ranks = count};
    core_device **held;
    iso_status status = core_check_out(call, "out", out);

    if (!status && count < 1) {
        status = core_fail(ISO_INVALID, "%s: count is %d: pass at least one device", call, count);
    }
    if (status) {
        return status;
    }
    memset(out, 0, (size_t)count * sizeof *out);
    status = core_check_out(call, "devices", devices);
    if (!status) {
        status = read_options(call, given, &what.how);
    }
    if (status) {
        return status;
    }
    held = calloc((size_t)count, sizeof(core_device *));
    if (!held) {
        return core_fail_no_memory(call, count * (int64_t)sizeof(core_device *));
    }
    for (int32_t i = 0; i < count && !status; i++) {
        char name[32];

        snprintf(name, sizeof name, "devices[%d]", i);
        status = core_handle_acquire(call, name, devices[i].id, CORE_DEVICE, &held[i]);
    }
    what.devices = held;
    if (!status) {
        status = core_engine_find(call, what.how.engine, held, count, false, &what.engine);
    }
    if (!status) {
        status = join(&what, out);
    }
    release_devices(held, count);
    return status;
}

/* ---- ranks of several processes -------------------------------------------------------------- */

/* An id is [magic 8][the engine's name 56][the engine's bytes 192]. */
enum { ID_NAME = 56 };

static void wrap_id(const char *engine, const iso_comm_id *inner, iso_comm_id *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, id_magic, sizeof id_magic);
    snprintf(out->bytes + sizeof id_magic, ID_NAME, "%s", engine);
    memcpy(out->bytes + sizeof id_magic + ID_NAME, inner->bytes, ISO_ENGINE_ID_BYTES);
}

static iso_status unwrap_id(const char *call, const iso_comm_id *id, char name[ID_NAME],
                            iso_comm_id *inner)
{
    if (memcmp(id->bytes, id_magic, sizeof id_magic)) {
        return core_fail(ISO_INVALID,
                         "%s: id does not come from iso_comm_id_create: move all %d bytes of it",
                         call, ISO_COMM_ID_BYTES);
    }
    memcpy(name, id->bytes + sizeof id_magic, ID_NAME);
    name[ID_NAME - 1] = 0;
    memset(inner, 0, sizeof *inner);
    memcpy(inner->bytes, id->bytes + sizeof id_magic + ID_NAME, ISO_ENGINE_ID_BYTES);
    return ISO_OK;
}

static iso_status create_id(const char *call, const core_engine *engine, iso_comm_id *inner)
{
    memset(inner, 0, sizeof *inner);
    return CORE_ENGINE(call, engine->table, engine->table->id_create(inner));
}

iso_status iso_comm_id_create(iso_device handle, const iso_comm_options *given, iso_comm_id *out)
{
    const char *call = "iso_comm_id_create";
    CORE_HELD core_device *device = NULL;
    core_engine engine;
    iso_comm_id inner;
    options how;
    iso_status status = core_check_out(call, "out", out);

    if (!status) {
        status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    }
    if (!status) {
        status = read_options(call, given, &how);
    }
    if (!status) {
        status = core_engine_find(call, how.engine, &device, 1, true, &engine);
    }
    if (!status) {
        status = create_id(call, &engine, &inner);
    }
    if (!status) {
        wrap_id(engine.table->name, &inner, out);
    }
    return status;
}

iso_status iso_comm_join(iso_device handle, const iso_comm_id *id, int32_t rank, int32_t ranks,
                         const iso_comm_options *given, iso_comm *out)
{
    const char *call = "iso_comm_join";
    CORE_HELD core_device *device = NULL;
    joining what = {.call = call, .count = 1, .first = rank, .ranks = ranks};
    char name[ID_NAME];
    iso_comm_id inner;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (!status) {
        status = core_check_out(call, "id", id);
    }
    if (!status && (ranks < 1 || rank < 0 || rank >= ranks)) {
        status = core_fail(ISO_INVALID,
                           "%s: rank is %d and ranks %d: use ranks of at least 1, and a rank from "
                           "0 to ranks - 1",
                           call, rank, ranks);
    }
    if (!status) {
        status = read_options(call, given, &what.how);
    }
    if (!status) {
        status = unwrap_id(call, id, name, &inner);
    }
    if (!status && what.how.engine && strcmp(what.how.engine, name)) {
        status = core_fail(ISO_INVALID,
                           "%s: options.engine is %s, but the id was made for %s: use the same "
                           "options in all processes",
                           call, what.how.engine, name);
    }
    if (!status) {
        status = core_engine_find(call, name, &device, 1, true, &what.engine);
    }
    what.devices = &device;
    what.id = &inner;
    return status ? status : join(&what, out);
}

/* Sends the bytes of rank 0's id to the others, through the engine of mpirun. */
static iso_status spread_id(const char *call, const core_engine *world, const joining *what,
                            iso_comm_id *id)
{
    const iso_engine *engine = world->table;
    const iso_engine_seat seat = {.rank = what->first};
    const iso_comm_id everyone = {{0}};
    iso_engine_call send = {.op = ISO_COMM_BROADCAST,
                            .dtype = ISO_I32,
                            .count = (int64_t)(sizeof id->bytes / sizeof(int32_t)),
                            .from = id->bytes,
                            .to = id->bytes};
    void *rank = NULL;
    iso_status status = CORE_ENGINE(
        call, engine, engine->join(&seat, 1, &everyone, what->ranks, what->how.timeout, &rank));

    if (!status) {
        send.rank = rank;
        status = CORE_ENGINE(call, engine, engine->submit(&send, 1));
        CORE_DO(engine->leave(rank));
    }
    return status;
}

/* Gets the id of an engine that mpirun does not know. If rank 0 cannot make one, it still sends
 * zeros, so that the others do not wait for it. */
static iso_status world_id(const char *call, const core_engine *world, const joining *what,
                           iso_comm_id *id)
{
    static const iso_comm_id none;
    core_kept_error kept;
    iso_status status = what->first ? ISO_OK : create_id(call, &what->engine, id);
    iso_status sent;

    if (what->ranks == 1) {
        return status;
    }
    kept = core_error_keep();
    sent = spread_id(call, world, what, id);
    if (status || !sent) {
        core_error_restore(&kept);
    } else {
        free(kept.text);
    }
    if (!status && !sent && !memcmp(id, &none, sizeof none)) {
        return core_fail(ISO_UNAVAILABLE, "%s: rank 0 could not make an id for %s: see its error",
                         call, what->engine.table->name);
    }
    return status ? status : sent;
}

iso_status iso_comm_world(iso_device handle, const iso_comm_options *given, iso_comm *out)
{
    const char *call = "iso_comm_world";
    CORE_HELD core_device *device = NULL;
    joining what = {.call = call, .count = 1};
    core_engine world;
    iso_comm_id id = {{0}}; /* of all processes */
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (!status) {
        status = read_options(call, given, &what.how);
    }
    if (!status) {
        status = core_engine_find(call, what.how.engine, &device, 1, true, &what.engine);
    }
    if (!status) {
        status = core_engine_world(call, &what.engine, &world, &what.first, &what.ranks);
    }
    if (!status && world.table != what.engine.table) {
        status = world_id(call, &world, &what, &id);
    }
    what.devices = &device;
    what.id = &id;
    return status ? status : join(&what, out);
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* Waits for the work on all lanes. The handle was retired, so no lane is added or freed. */
static void drain(const char *call, core_comm *comm)
{
    for (core_lane *lane = comm->lanes; lane; lane = lane->next) {
        core_stream *stream;

        if (core_handle_get(lane->stream, CORE_STREAM, &stream)) {
            core_stream_drain(call, stream);
            core_handle_release(lane->stream);
        }
    }
}

iso_status core_comm_finish(const char *call, core_comm *comm, bool *told)
{
    const uint64_t id = comm->child.id;
    iso_status status;

    drain(call, comm);
    core_watch_remove(comm);
    CORE_DO(comm->engine.table->leave(comm->rank_handle));
    *told = comm->told;
    status = core_comm_late(call, comm);
    core_child_unlink(&comm->child);
    free_comm(comm);
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
