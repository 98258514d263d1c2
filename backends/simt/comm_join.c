/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_join.c - makes and ends communicators of a vendor's library.
 *
 * A communicator is a blocking one: for the others the library starts a thread for each group of
 * calls. But then joining may wait for ever in the library, so a thread of its own does it. If the
 * time runs out, the communicators are aborted, which makes the library return, and that thread is
 * left alone if it does not. What it uses is in a block that belongs to whoever comes last. So a
 * library that never returns costs this block, and nothing that was freed is used.
 *
 * An abort in a group makes what waits return at once, but frees communicators only at the end of
 * the group. So calls that run in other threads have time to return. (This was read in version
 * 2.30 of one library. The other's 2.21 frees with the last abort of a process, so calls get the
 * time before that, too.)
 */
#include "backends/simt/comm.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
/* How long a joining that was aborted, and calls that run when their communicator is aborted, have
 * to end. */
#define PATIENCE_JOIN  (2 * SECOND)
#define PATIENCE_CALLS (SECOND / 10)

/* The ranks of this process that joined together. The last to leave frees them. */
typedef struct simt_comm_local {
    const iso_host *host;
    pthread_mutex_t lock; /* of leaving and aborting */
    int32_t count, left;
    simt_comm_rank ranks[];
} simt_comm_local;

static int64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

/* ---- joining --------------------------------------------------------------------------------- */

typedef struct joining {
    const simt_comm *table;
    const iso_host *host;
    const simt_vendor *vendor;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended; /* the library has returned */
    /* The time ran out, and the caller has gone: the thread must not use the devices, and frees
     * this block. */
    bool abandoned;
    uint32_t code;
    int32_t failed_at; /* the seat whose device is at fault; -1: any */
    const char *name;  /* of the function that failed */
    char last[512];    /* what the library says about it */
    simt_comm_id id;
    int32_t count, ranks;
    struct joining_seat {
        void *native;          /* the device; not used once this is abandoned */
        simt_comm_handle comm; /* the library sets it early, so that it can be aborted */
        int32_t rank;
        bool aborted;
    } seats[];
} joining;

/* The library's thread writes the handles. */
static simt_comm_handle handle_of(joining *self, int32_t i)
{
    return __atomic_load_n(&self->seats[i].comm, __ATOMIC_SEQ_CST);
}

/* Aborts the communicators that there are, each once. */
static void abort_seats(joining *self)
{
    for (int32_t i = 0; i < self->count; i++) {
        simt_comm_handle comm = handle_of(self, i);
        if (comm && !self->seats[i].aborted) {
            self->seats[i].aborted = true;
            (void)self->table->api->libCommAbort(comm);
        }
    }
}

static void joining_free(joining *self)
{
    (void)pthread_cond_destroy(&self->changed);
    (void)pthread_mutex_destroy(&self->lock);
    self->host->free(self);
}

/* Begins to join one seat. Its device is made current under the lock, because it may be closed once
 * the joining was abandoned. */
static uint32_t begin_seat(joining *self, int32_t i)
{
    struct joining_seat *seat = &self->seats[i];
    simt_scope scope = {.previous = -1};
    iso_status status = ISO_TIMEOUT;
    (void)pthread_mutex_lock(&self->lock);
    if (!self->abandoned) {
        status = self->vendor->enter(seat->native, &scope);
    }
    (void)pthread_mutex_unlock(&self->lock);
    uint32_t code = SIMT_COMM_DRIVER_ERROR;
    if (!status) {
        code = self->table->api->libCommInitRank(&seat->comm, self->ranks, self->id, seat->rank);
    }
    self->vendor->leave(scope);
    return code;
}

/* Joins all seats. It returns when all ranks have joined. */
static void join_seats(joining *self)
{
    const simt_comm_api *api = self->table->api;
    self->name = "GroupStart";
    self->code = api->libGroupStart();
    if (self->code != SIMT_COMM_DONE) {
        return;
    }
    for (int32_t i = 0; i < self->count && self->code == SIMT_COMM_DONE; i++) {
        self->name = "CommInitRank";
        self->failed_at = i;
        self->code = begin_seat(self, i);
    }
    (void)pthread_mutex_lock(&self->lock);
    const bool abandoned = self->abandoned;
    (void)pthread_mutex_unlock(&self->lock);
    if (abandoned) {
        abort_seats(self);
    }
    const uint32_t end = api->libGroupEnd();
    if (self->code == SIMT_COMM_DONE) {
        self->failed_at = -1;
        self->code = end;
    }
}

static void *join_thread(void *data)
{
    joining *self = data;
    join_seats(self);
    if (self->code != SIMT_COMM_DONE) {
        (void)snprintf(self->last, sizeof self->last, "%s",
                       simt_comm_last(self->table, self->code));
    }
    (void)pthread_mutex_lock(&self->lock);
    const bool mine = self->abandoned;
    self->ended = true;
    (void)pthread_cond_broadcast(&self->changed);
    (void)pthread_mutex_unlock(&self->lock);
    if (mine) {
        abort_seats(self);
        joining_free(self);
    }
    return NULL;
}

/* Starts the thread, in which no signal is handled. */
static iso_status start_thread(joining *self)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, &attributes, join_thread, self);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error ? self->host->fail(ISO_NO_MEMORY,
                                    "engine %s: no thread could be started for joining "
                                    "(pthread_create: %s): end other threads",
                                    self->table->engine, strerror(error))
                 : ISO_OK;
}

/* Waits until the thread has ended or the time has come. The caller holds the lock. */
static void await_end(joining *self, int64_t until)
{
    const struct timespec time = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = until % SECOND};
    while (!self->ended &&
           pthread_cond_timedwait(&self->changed, &self->lock, &time) != ETIMEDOUT) {
    }
}

/* Aborts what was joined, and gives the thread time to end. Returns whether it has. If not, the
 * block is the thread's own, which may have freed it when this returns. */
static bool stop(joining *self, const iso_engine_seat *seats)
{
    const simt_comm_api *api = self->table->api;
    const int64_t until = now() + PATIENCE_JOIN;
    simt_scope scope;
    bool ended;
    (void)simt_vendor_enter(seats[0].device, &scope);
    (void)api->libGroupStart();
    do { /* a communicator may come late */
        abort_seats(self);
        (void)pthread_mutex_lock(&self->lock);
        await_end(self, now() + PATIENCE_CALLS);
        ended = self->ended;
        (void)pthread_mutex_unlock(&self->lock);
    } while (!ended && now() < until);
    (void)api->libGroupEnd();
    simt_vendor_leave(seats[0].device, scope);
    (void)pthread_mutex_lock(&self->lock);
    ended = self->ended;
    self->abandoned = !ended;
    (void)pthread_mutex_unlock(&self->lock);
    return ended;
}

static iso_status joining_status(const joining *self, const iso_engine_seat *seats)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < self->count && status != ISO_DEVICE_LOST; i++) {
        if (self->failed_at < 0 || self->failed_at == i) {
            status =
                simt_comm_check(self->table, seats[i].device, self->code, self->name, self->last);
        }
    }
    return status;
}

/* Joins, in another thread. The handles are then in `self`, which the caller frees if *owned. */
static iso_status join_in_time(joining *self, const iso_engine_seat *seats, int64_t nanoseconds,
                               bool *owned)
{
    const simt_comm *table = self->table;
    const iso_host *host = self->host;
    const int64_t begun = now();
    const iso_status status = start_thread(self);
    if (status) {
        return status;
    }
    (void)pthread_mutex_lock(&self->lock);
    await_end(self, begun + nanoseconds);
    const bool late = !self->ended;
    const bool failed = late || self->code != SIMT_COMM_DONE;
    (void)pthread_mutex_unlock(&self->lock);
    if (failed) {
        *owned = stop(self, seats); /* before the error's text, which it may replace */
    }
    if (late) {
        return host->fail(ISO_TIMEOUT,
                          "engine %s: not all ranks joined within %.3g s: start them all, or raise "
                          "the timeout",
                          table->engine, (double)nanoseconds / (double)SECOND);
    }
    return joining_status(self, seats);
}

static joining *joining_new(const simt_comm *table, const iso_engine_seat *seats, int32_t count,
                            int32_t ranks)
{
    const iso_host *host = *table->host;
    const size_t bytes = sizeof(joining) + (size_t)count * sizeof(struct joining_seat);
    joining *self = host->alloc((int64_t)bytes);
    if (!self) {
        return NULL;
    }
    memset(self, 0, bytes);
    self->table = table;
    self->host = host;
    self->vendor = ((const simt_device *)seats[0].device)->driver->vendor;
    self->count = count;
    self->ranks = ranks;
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&self->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&self->lock, NULL);
    for (int32_t i = 0; i < count; i++) {
        self->seats[i].native = ((simt_device *)seats[i].device)->native;
        self->seats[i].rank = seats[i].rank;
    }
    return self;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void local_free(simt_comm_local *local)
{
    (void)pthread_mutex_destroy(&local->lock);
    local->host->free(local);
}

static void drop_marks(simt_comm_local *local)
{
    for (int32_t i = 0; i < local->count; i++) {
        simt_comm_rank *rank = &local->ranks[i];
        if (rank->mark) {
            rank->device->driver->memory_free(rank->device, rank->mark);
        }
    }
}

/* Checks the devices and allocates what the ranks need. */
static iso_status local_new(const simt_comm *table, const iso_engine_seat *seats, int32_t count,
                            int32_t ranks, simt_comm_local **out)
{
    enum { MARK_BYTES = 256 };
    const iso_host *host = *table->host;
    const size_t bytes = sizeof(simt_comm_local) + (size_t)count * sizeof(simt_comm_rank);
    simt_comm_local *local = host->alloc((int64_t)bytes);
    if (!local) {
        return ISO_NO_MEMORY;
    }
    memset(local, 0, bytes);
    local->host = host;
    local->count = count;
    (void)pthread_mutex_init(&local->lock, NULL);
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < count && !status; i++) {
        simt_comm_rank *rank = &local->ranks[i];
        rank->local = local;
        rank->table = table;
        rank->device = seats[i].device;
        rank->rank = seats[i].rank;
        rank->ranks = ranks;
        status = table->usable ? table->usable(rank->device) : ISO_OK;
        if (!status) {
            status =
                rank->device->driver->memory_alloc(rank->device->native, MARK_BYTES, &rank->mark);
        }
        if (status) {
            rank->mark = NULL;
        }
    }
    if (status) {
        drop_marks(local);
        local_free(local);
        return status;
    }
    *out = local;
    return ISO_OK;
}

static iso_status fill_id(const simt_comm *table, simt_device *device, const iso_comm_id *id,
                          simt_comm_id *out)
{
    if (id) {
        memcpy(out, id->bytes, sizeof *out);
        return ISO_OK;
    }
    simt_scope scope;
    uint32_t code = SIMT_COMM_DONE;
    iso_status status = simt_vendor_enter(device, &scope);
    if (!status) {
        code = table->api->libGetUniqueId(out);
    }
    simt_vendor_leave(device, scope);
    return status ? status : simt_comm_check(table, device, code, "GetUniqueId", NULL);
}

iso_status simt_comm_id_create(const simt_comm *table, iso_comm_id *out)
{
    _Static_assert((int)SIMT_COMM_ID_BYTES <= (int)ISO_ENGINE_ID_BYTES, "the id does not fit");
    simt_comm_id id;
    iso_status status = simt_comm_open(table, NULL, 0);
    if (!status) {
        status = simt_comm_check(table, NULL, table->api->libGetUniqueId(&id), "GetUniqueId", NULL);
    }
    if (!status) {
        memcpy(out->bytes, &id, sizeof id);
    }
    return status;
}

iso_status simt_comm_join(const simt_comm *table, const iso_engine_seat *seats, int32_t count,
                          const iso_comm_id *id, int32_t ranks, int64_t timeout_nanoseconds,
                          void **joined)
{
    simt_comm_local *local = NULL;
    bool owned = true;
    iso_status status = simt_comm_open(table, NULL, 0);
    if (!status) {
        status = local_new(table, seats, count, ranks, &local);
    }
    if (status) {
        return status;
    }
    joining *self = joining_new(table, seats, count, ranks);
    status = self ? fill_id(table, seats[0].device, id, &self->id) : ISO_NO_MEMORY;
    if (!status) {
        status = join_in_time(self, seats, timeout_nanoseconds, &owned);
    }
    for (int32_t i = 0; i < count && !status; i++) {
        local->ranks[i].comm = self->seats[i].comm;
        joined[i] = &local->ranks[i];
    }
    if (self && owned) {
        joining_free(self);
    }
    if (status) {
        drop_marks(local);
        local_free(local);
    }
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Waits a while until no call of these ranks runs. */
static void await_calls(simt_comm_local *local)
{
    const struct timespec pause = {.tv_nsec = 100000};
    const int64_t until = now() + PATIENCE_CALLS;
    for (int32_t i = 0; i < local->count; i++) {
        while (atomic_load(&local->ranks[i].busy) > 0 && now() < until) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static void report(const simt_comm_rank *rank, uint32_t code)
{
    if (code != SIMT_COMM_DONE) {
        rank->local->host->log(ISO_LOG_DEBUG, "engine %s: ending rank %d gives %u",
                               rank->table->engine, rank->rank, code);
    }
}

/* Aborts all ranks that joined with this one: the library tells no other rank. A call that waits
 * for another rank returns only now. The caller holds the lock. */
static void abort_all(const simt_comm_rank *rank)
{
    const simt_comm_api *api = rank->table->api;
    simt_comm_local *local = rank->local;
    simt_scope scope;
    for (int32_t i = 0; i < local->count; i++) {
        atomic_store(&local->ranks[i].aborted, true);
    }
    await_calls(local);
    (void)simt_vendor_enter(rank->device, &scope); /* on a lost device the library reports it */
    (void)api->libGroupStart();
    int32_t rest = local->count - local->left;
    for (int32_t i = 0; i < local->count; i++) {
        if (!local->ranks[i].left) {
            if (--rest == 0) {
                await_calls(local); /* an old version frees all with the last */
            }
            report(&local->ranks[i], api->libCommAbort(local->ranks[i].comm));
        }
    }
    await_calls(local);
    report(rank, api->libGroupEnd());
    simt_vendor_leave(rank->device, scope);
}

static void destroy(const simt_comm_rank *rank)
{
    simt_scope scope;
    (void)simt_vendor_enter(rank->device, &scope);
    report(rank, rank->table->api->libCommDestroy(rank->comm));
    simt_vendor_leave(rank->device, scope);
}

void simt_comm_abort(void *of)
{
    simt_comm_rank *rank = of;
    simt_comm_local *local = rank->local;
    (void)pthread_mutex_lock(&local->lock);
    if (!atomic_load(&rank->aborted)) {
        abort_all(rank);
    }
    (void)pthread_mutex_unlock(&local->lock);
}

/* The library frees the communicators of a process with the last of them, so no order of leaving
 * makes one wait for another. But where one failed, the work of the others may never end. */
void simt_comm_leave(void *of)
{
    simt_comm_rank *rank = of;
    simt_comm_local *local = rank->local;
    (void)pthread_mutex_lock(&local->lock);
    if (!atomic_load(&rank->aborted) && atomic_load(&rank->failed)) {
        abort_all(rank);
    } else if (!atomic_load(&rank->aborted)) {
        atomic_store(&rank->aborted, true);
        destroy(rank);
    }
    rank->left = true;
    rank->device->driver->memory_free(rank->device, rank->mark);
    const bool last = ++local->left == local->count;
    (void)pthread_mutex_unlock(&local->lock);
    if (last) {
        local_free(local);
    }
}
