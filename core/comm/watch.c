/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - watches communicators of device engines. Their work waits on the device: if a rank is
 * missing, the others wait without end, and no call on the host fails. So one thread looks at all
 * communicators in turn. It asks the engine for errors, and puts an event behind the work of each
 * stream. If the event is not reached in time, the communicator fails.
 */
#include "core/comm/comm.h"
#include "core/fork.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define TICK_LEAST INT64_C(1000000)
#define TICK_MOST  INT64_C(100000000)
enum { TICKS = 16 /* of the shortest timeout */ };

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_changed;
static bool has_condition; /* watch_changed was made */
static core_comm *watched;
static bool running;

static int64_t tick_of(int64_t timeout)
{
    const int64_t tick = timeout / TICKS;

    return tick < TICK_LEAST ? TICK_LEAST : tick > TICK_MOST ? TICK_MOST : tick;
}

static void fail_late(core_comm *comm, int64_t waited)
{
    core_fail(ISO_TIMEOUT,
              "%s: rank %d of %d waited %.3f s for the other ranks, and the timeout is %.3f s: one "
              "of them has stopped, or makes its calls in another order",
              comm->engine.table->name, comm->rank, comm->ranks, (double)waited * 1e-9,
              (double)comm->timeout * 1e-9);
    core_comm_fail(comm, ISO_TIMEOUT);
}

/* Puts the mark behind what was submitted. Gives up if the stream is busy submitting. */
static void put_mark(core_comm *comm, core_lane *lane, core_stream *stream)
{
    const iso_backend *table = comm->child.device->table;
    const uint64_t submitted = atomic_load(&lane->submitted);
    iso_status status = ISO_OK;

    if (pthread_mutex_trylock(&stream->lock)) {
        return;
    }
    if (!lane->mark) {
        status = CORE_LIGHT("watch", table,
                            table->event_create(comm->child.device->physical->device, &lane->mark));
    }
    if (!status) {
        status = CORE_LIGHT("watch", table, table->event_record(lane->mark, stream->handle));
    }
    pthread_mutex_unlock(&stream->lock);
    if (!status) {
        lane->marked = submitted;
        lane->marked_time = core_now();
    }
}

/* Returns how long the lane's mark has waited; 0: it does not. The communicator is locked. */
static int64_t look_at(core_comm *comm, core_lane *lane)
{
    const iso_backend *table = comm->child.device->table;
    core_stream *stream;

    if (lane->marked) {
        if (CORE_ASK("watch", table, table->event_query(lane->mark)) == ISO_NOT_READY) {
            return core_now() - lane->marked_time;
        }
        lane->seen = lane->marked;
        lane->marked = 0;
    }
    if (lane->seen == atomic_load(&lane->submitted)) {
        return 0;
    }
    if (core_handle_get(lane->stream, CORE_STREAM, &stream)) {
        put_mark(comm, lane, stream);
        core_handle_release(lane->stream);
        return 0;
    }
    if (core_handle_gone(lane->stream)) {
        return 0;
    }
    lane->leaving = lane->leaving ? lane->leaving : core_now();
    return core_now() - lane->leaving;
}

static void look(core_comm *comm)
{
    const iso_engine *engine = comm->engine.table;
    const int64_t since = atomic_load(&comm->submitting), margin = 2 * tick_of(comm->timeout);
    int64_t waited = since ? core_now() - since : 0;
    iso_status status;

    if (atomic_load(&comm->failed)) {
        return;
    }
    status = CORE_ENGINE("watch", engine, engine->query(comm->rank_handle));
    if (status) {
        core_comm_fail(comm, status);
        return;
    }
    pthread_mutex_lock(&comm->lock);
    for (core_lane *lane = comm->lanes; lane; lane = lane->next) {
        const int64_t lane_waited = look_at(comm, lane);

        waited = lane_waited > waited ? lane_waited : waited;
    }
    pthread_mutex_unlock(&comm->lock);
    if (waited &&
        waited + (margin < comm->timeout / 2 ? margin : comm->timeout / 2) > comm->timeout) {
        fail_late(comm, waited);
    }
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch_lock);
    while (watched) {
        int64_t tick = TICK_MOST;
        struct timespec until;

        for (core_comm *comm = watched; comm; comm = comm->watched_next) {
            const int64_t own = tick_of(comm->timeout);

            look(comm);
            tick = own < tick ? own : tick;
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += tick;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&watch_changed, &watch_lock, &until);
    }
    running = false;
    pthread_mutex_unlock(&watch_lock);
    return NULL;
}

/* The caller holds the lock. */
static iso_status start(const char *call)
{
    pthread_condattr_t clock;
    pthread_attr_t attributes;
    sigset_t all, callers;
    pthread_t thread;
    int error;

    if (!has_condition) {
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&watch_changed, &clock);
        pthread_condattr_destroy(&clock);
        has_condition = true;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &callers); /* the program's handlers run in its threads */
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &callers, NULL);
    running = !error;
    return error ? core_fail(ISO_NO_MEMORY,
                             "%s: no thread could be started to watch the communicator "
                             "(pthread_create: %s): end other threads",
                             call, strerror(error))
                 : ISO_OK;
}

iso_status core_watch_add(const char *call, core_comm *comm)
{
    iso_status status;

    if (comm->engine.table->flags & ISO_ENGINE_HOST) {
        return ISO_OK;
    }
    pthread_mutex_lock(&watch_lock);
    status = running ? ISO_OK : start(call);
    if (!status) {
        comm->watched_next = watched;
        watched = comm;
    }
    pthread_mutex_unlock(&watch_lock);
    return status;
}

void core_watch_remove(core_comm *comm)
{
    pthread_mutex_lock(&watch_lock);
    for (core_comm **at = &watched; *at; at = &(*at)->watched_next) {
        if (*at == comm) {
            *at = comm->watched_next;
            break;
        }
    }
    if (has_condition) {
        pthread_cond_broadcast(&watch_changed);
    }
    pthread_mutex_unlock(&watch_lock);
}

void core_watch_fork(int stage)
{
    core_fork_lock(&watch_lock, stage);
    if (stage == CORE_FORK_CHILD) {
        watched = NULL;
        running = has_condition = false;
    }
}
