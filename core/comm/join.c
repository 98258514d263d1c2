/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - makes communicators: of devices of this process, and with ranks of other processes. */
#include "core/comm/comm.h"
#include "core/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Engines add to a timeout what the clock shows. */
#define TIMEOUT_MOST (INT64_MAX / 4)

static const char id_magic[8] = "isomer1";

/* ---- ranks of this process ------------------------------------------------------------------- */

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
    if (out->timeout > TIMEOUT_MOST) {
        out->timeout = TIMEOUT_MOST;
    }
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
        core_comm_free(comm);
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
        core_comm_free(comm);
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

/* Gives the ranks to their communicators. On failure they have left. */
static iso_status take_ranks(const joining *what, void *const *joined, core_comm *const *comms)
{
    const iso_engine *engine = what->engine.table;
    iso_status status = ISO_OK;
    core_kept_error kept;
    int32_t watched = 0;

    for (int32_t i = 0; i < what->count; i++) {
        comms[i]->rank_handle = joined[i];
        comms[i]->rank = what->first + i;
        comms[i]->ranks = what->ranks;
    }
    while (watched < what->count && !status) {
        status = core_watch_add(what->call, comms[watched]);
        watched += !status;
    }
    if (!status) {
        return ISO_OK;
    }
    kept = core_error_keep();
    for (int32_t i = 0; i < what->count; i++) {
        if (i < watched) {
            core_watch_remove(comms[i]);
        }
        CORE_DO(engine->leave(joined[i]));
    }
    core_error_restore(&kept);
    return status;
}

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
    if (!status) {
        status = take_ranks(what, joined, comms);
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
    iso_comm_id *sent = malloc(sizeof *sent);
    iso_engine_call send = {.op = ISO_COMM_BROADCAST,
                            .dtype = ISO_I32,
                            .count = (int64_t)(sizeof id->bytes / sizeof(int32_t))};
    void *rank = NULL;
    iso_status status;

    if (!sent) {
        return core_fail_no_memory(call, (int64_t)sizeof *sent);
    }
    *sent = *id;
    send.from = send.to = sent->bytes;
    status = CORE_ENGINE(call, engine,
                         engine->join(&seat, 1, &everyone, what->ranks, what->how.timeout, &rank));
    if (!status) {
        send.rank = rank;
        status = CORE_ENGINE(call, engine, engine->submit(&send, 1));
        CORE_DO(engine->leave(rank));
        if (status && engine->flags & ISO_ENGINE_KEEPS) {
            return status; /* the engine may still use `sent`, which is lost */
        }
    }
    *id = *sent;
    free(sent);
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
