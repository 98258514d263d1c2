/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - the engine `threads`: ranks of one process, whose threads read each other's memory.
 *
 * All ranks meet at a gate, read what they need of the others, and meet again, so that the memory
 * may be changed afterwards. A rank can give up only at the first gate of a call. At later gates
 * all ranks are known to be there, and each stays until the others have read its memory.
 */
#include "backends/openmp/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REASON = 1024 };

/* What is sent to a rank. It lies on the sender's stack until it was taken and `done` is set. */
typedef struct parcel {
    struct parcel *next;
    const void *from;
    int64_t bytes;
    int32_t sender;
    int taken, done;
} parcel;

typedef struct seat {
    const iso_engine_call *call; /* what this rank does now; NULL: it has not arrived */
    parcel *inbox;               /* in the order in which they were sent */
} seat;

typedef struct circle {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    int32_t ranks, members;
    int32_t arrived;
    uint64_t gate; /* how often all ranks have met */
    iso_status failed;
    iso_status agreed; /* what `failed` was at the last gate: the same for all ranks */
    char reason[REASON];
    seat *seats;
    const cpu_kernels *kernels;
} circle;

typedef struct rank {
    circle *of;
    int32_t rank;
    int64_t timeout;
    const void **sources; /* one for each rank */
} rank;

/* ---- failures -------------------------------------------------------------------------------- */

/* The caller holds the lock. */
static void fail_circle(circle *of, iso_status status, const char *reason)
{
    if (!of->failed) {
        of->failed = status;
        (void)snprintf(of->reason, sizeof of->reason, "%s", reason);
        (void)pthread_cond_broadcast(&of->changed);
    }
}

/* The caller holds the lock. */
static iso_status tell(const circle *of)
{
    return of->failed ? cpu_host->fail(of->failed, "%s", of->reason) : ISO_OK;
}

/* Names the ranks that have not arrived. */
static void name_missing(const circle *of, char *text, size_t room)
{
    size_t length = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < of->ranks && length < room; i++) {
        if (!of->seats[i].call) {
            const int wrote =
                snprintf(text + length, room - length, "%s%" PRId32, length ? ", " : "", i);
            length += wrote > 0 ? (size_t)wrote : room;
        }
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static struct timespec until(int64_t nanoseconds)
{
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                            .tv_nsec = (long)(nanoseconds % 1000000000)};
    return time;
}

/* Waits for a change until the deadline (0: none). Returns 0 once it has passed. */
static int wait_until(circle *of, int64_t deadline)
{
    if (!deadline) {
        (void)pthread_cond_wait(&of->changed, &of->lock);
        return 1;
    }
    const struct timespec last = until(deadline);
    return pthread_cond_timedwait(&of->changed, &of->lock, &last) != ETIMEDOUT;
}

/* The caller holds the lock. Waits until all ranks are at this gate. At the first gate of a call,
 * `call` is this rank's; at later ones it is NULL. */
static iso_status meet(rank *self, const iso_engine_call *call)
{
    circle *of = self->of;
    const uint64_t gate = of->gate;
    const int64_t began = cpu_now();
    if (call) {
        const iso_status status = tell(of);
        if (status != ISO_OK) {
            return status;
        }
        of->seats[self->rank].call = call;
    }
    if (++of->arrived == of->ranks) {
        of->arrived = 0;
        of->gate++;
        of->agreed = of->failed;
        (void)pthread_cond_broadcast(&of->changed);
        return ISO_OK;
    }
    while (of->gate == gate && !(call && of->failed)) {
        if (!wait_until(of, call ? began + self->timeout : 0) && of->gate == gate) {
            char missing[256];
            char reason[REASON];
            name_missing(of, missing, sizeof missing);
            (void)snprintf(reason, sizeof reason,
                           "rank %" PRId32 " waited %.3f s in %s for rank %s of %" PRId32
                           ": it has stopped, or makes its calls in another order",
                           self->rank, (double)(cpu_now() - began) * 1e-9,
                           iso_comm_op_name(call->op), missing, of->ranks);
            fail_circle(of, ISO_TIMEOUT, reason);
        }
    }
    return of->gate == gate ? tell(of) : ISO_OK;
}

/* ---- collective calls ------------------------------------------------------------------------ */

static const char *from_of(const circle *of, int32_t who, int64_t bytes)
{
    return (const char *)of->seats[who].call->from + bytes;
}

static void move(void *to, const void *from, int64_t bytes)
{
    if (to != from) {
        memcpy(to, from, (size_t)bytes);
    }
}

/* Reduces elements `first` up to `end` of every rank's array to this rank's `to`. */
static void fold(rank *self, const iso_engine_call *call, int64_t first, int64_t end, void *to)
{
    const circle *of = self->of;
    const int64_t bytes = iso_dtype_size(call->dtype);
    if (end <= first) {
        return;
    }
    for (int32_t i = 0; i < of->ranks; i++) {
        self->sources[i] = from_of(of, i, first * bytes);
    }
    const uint64_t control = cpu_control_enter();
    of->kernels->ranks->fold[call->reduce][call->dtype](self->sources, of->ranks, to, end - first);
    cpu_control_leave(control);
}

/* Every rank reduces one part of the array, and then copies the other parts. */
static void all_reduce_part(rank *self, const iso_engine_call *call)
{
    const int64_t bytes = iso_dtype_size(call->dtype);
    const int64_t first = cpu_split(call->count, self->of->ranks, self->rank);
    const int64_t end = cpu_split(call->count, self->of->ranks, self->rank + 1);
    fold(self, call, first, end, (char *)call->to + first * bytes);
}

static void all_reduce_rest(rank *self, const iso_engine_call *call)
{
    const circle *of = self->of;
    const int64_t bytes = iso_dtype_size(call->dtype);
    for (int32_t i = 0; i < of->ranks; i++) {
        const int64_t first = cpu_split(call->count, of->ranks, i) * bytes;
        const int64_t end = cpu_split(call->count, of->ranks, i + 1) * bytes;
        move((char *)call->to + first, (const char *)of->seats[i].call->to + first, end - first);
    }
}

static void read_others(rank *self, const iso_engine_call *call)
{
    const circle *of = self->of;
    const int64_t part = call->count * iso_dtype_size(call->dtype);
    char *to = call->to;
    switch (call->op) {
    case ISO_COMM_BROADCAST:
        move(to, from_of(of, call->peer, 0), part);
        break;
    case ISO_COMM_ALL_REDUCE:
        all_reduce_part(self, call);
        break;
    case ISO_COMM_REDUCE_SCATTER:
        fold(self, call, self->rank * call->count, (self->rank + 1) * call->count, to);
        break;
    case ISO_COMM_ALL_GATHER:
        for (int32_t i = 0; i < of->ranks; i++) {
            move(to + i * part, from_of(of, i, 0), part);
        }
        break;
    case ISO_COMM_ALL_TO_ALL:
        for (int32_t i = 0; i < of->ranks; i++) {
            move(to + i * part, from_of(of, i, self->rank * part), part);
        }
        break;
    default:
        break;
    }
}

static void show_call(const iso_engine_call *call, char *text, size_t room)
{
    const int adds = call->op == ISO_COMM_ALL_REDUCE || call->op == ISO_COMM_REDUCE_SCATTER;
    const int length = snprintf(text, room, "%s%s%s of %" PRId64 " %s", iso_comm_op_name(call->op),
                                adds ? " " : "", adds ? iso_reduce_op_name(call->reduce) : "",
                                call->count, iso_dtype_name(call->dtype));
    if (call->op == ISO_COMM_BROADCAST && length > 0 && (size_t)length < room) {
        (void)snprintf(text + length, room - (size_t)length, " from rank %" PRId32, call->peer);
    }
}

/* INVALID, on every rank, unless all make the same call. The caller holds the lock. */
static iso_status compare(circle *of, int32_t self)
{
    const iso_engine_call *first = of->seats[0].call, *own = of->seats[self].call;
    if (own->op == first->op && own->dtype == first->dtype && own->count == first->count &&
        own->peer == first->peer && own->reduce == first->reduce) {
        return ISO_OK;
    }
    char calls[2][128];
    char reason[REASON];
    show_call(first, calls[0], sizeof calls[0]);
    show_call(own, calls[1], sizeof calls[1]);
    (void)snprintf(reason, sizeof reason,
                   "rank 0 calls %s and rank %" PRId32 " at the same time %s: every rank must make "
                   "the same calls in the same order",
                   calls[0], self, calls[1]);
    fail_circle(of, ISO_INVALID, reason);
    return ISO_INVALID;
}

/* The caller holds the lock. */
static iso_status collective(rank *self, const iso_engine_call *call)
{
    circle *of = self->of;
    iso_status status = meet(self, call);
    if (status != ISO_OK) {
        return status;
    }
    (void)compare(of, self->rank);
    (void)meet(self, NULL); /* now every rank has compared */
    status = of->agreed ? tell(of) : ISO_OK;
    if (status == ISO_OK) {
        (void)pthread_mutex_unlock(&of->lock);
        read_others(self, call);
        (void)pthread_mutex_lock(&of->lock);
        (void)meet(self, NULL);
        if (call->op == ISO_COMM_ALL_REDUCE) {
            (void)pthread_mutex_unlock(&of->lock);
            all_reduce_rest(self, call);
            (void)pthread_mutex_lock(&of->lock);
            (void)meet(self, NULL);
        }
    }
    of->seats[self->rank].call = NULL;
    return status;
}

/* ---- send and receive ------------------------------------------------------------------------ */

/* The caller holds the lock. */
static void post(rank *self, const iso_engine_call *call, parcel *sent)
{
    parcel **end = &self->of->seats[call->peer].inbox;
    *sent = (parcel){.from = call->from,
                     .bytes = call->count * iso_dtype_size(call->dtype),
                     .sender = self->rank};
    while (*end) {
        end = &(*end)->next;
    }
    *end = sent;
    (void)pthread_cond_broadcast(&self->of->changed);
}

/* Takes a parcel out of the inbox of its receiver. The caller holds the lock. */
static void unpost(seat *receiver, const parcel *gone)
{
    parcel **at = &receiver->inbox;
    while (*at && *at != gone) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = gone->next;
    }
}

static void fail_late(rank *self, const iso_engine_call *call, int64_t began)
{
    char reason[REASON];
    const int sends = call->op == ISO_COMM_SEND;
    (void)snprintf(reason, sizeof reason,
                   "rank %" PRId32 " waited %.3f s %s rank %" PRId32 " of %" PRId32
                   ": it has stopped, or makes its calls in another order",
                   self->rank, (double)(cpu_now() - began) * 1e-9,
                   sends ? "to send to" : "to receive from", call->peer, self->of->ranks);
    fail_circle(self->of, ISO_TIMEOUT, reason);
}

static iso_status check_length(rank *self, const iso_engine_call *call, const parcel *sent)
{
    const int64_t bytes = call->count * iso_dtype_size(call->dtype);
    if (sent->bytes == bytes) {
        return ISO_OK;
    }
    char reason[REASON];
    (void)snprintf(reason, sizeof reason,
                   "rank %" PRId32 " sends %" PRId64 " bytes and rank %" PRId32 " receives %" PRId64
                   ": both must be the same",
                   sent->sender, sent->bytes, self->rank, bytes);
    fail_circle(self->of, ISO_INVALID, reason);
    return ISO_INVALID;
}

/* The caller holds the lock. */
static iso_status receive(rank *self, const iso_engine_call *call)
{
    circle *of = self->of;
    seat *own = &of->seats[self->rank];
    const int64_t began = cpu_now();
    for (;;) {
        parcel *sent = own->inbox;
        while (sent && sent->sender != call->peer) {
            sent = sent->next;
        }
        if (of->failed || (sent && check_length(self, call, sent) != ISO_OK)) {
            return tell(of);
        }
        if (sent) {
            unpost(own, sent);
            sent->taken = 1;
            (void)pthread_mutex_unlock(&of->lock);
            move(call->to, sent->from, sent->bytes);
            (void)pthread_mutex_lock(&of->lock);
            sent->done = 1;
            (void)pthread_cond_broadcast(&of->changed);
            return ISO_OK;
        }
        if (!wait_until(of, began + self->timeout)) {
            fail_late(self, call, began);
        }
    }
}

/* The caller holds the lock. A parcel that was taken is always waited for. */
static iso_status await_taken(rank *self, const iso_engine_call *call, parcel *sent)
{
    circle *of = self->of;
    const int64_t began = cpu_now();
    while (!sent->done && !(of->failed && !sent->taken)) {
        if (!wait_until(of, sent->taken ? 0 : began + self->timeout) && !sent->taken) {
            fail_late(self, call, began);
        }
    }
    if (!sent->done) {
        unpost(&of->seats[call->peer], sent);
        return tell(of);
    }
    return ISO_OK;
}

/* ---- the entries ----------------------------------------------------------------------------- */

static iso_status open_engine(char *label, int64_t capacity)
{
    (void)snprintf(label, (size_t)capacity, "isomer %s", ISO_VERSION_STRING);
    return ISO_OK;
}

static iso_status id_create(iso_comm_id *out)
{
    (void)out;
    return cpu_host->fail(ISO_UNSUPPORTED,
                          "the engine threads joins ranks of one process: use iso_comm_create");
}

static void free_circle(circle *of)
{
    (void)pthread_cond_destroy(&of->changed);
    (void)pthread_mutex_destroy(&of->lock);
    cpu_host->free(of->seats);
    cpu_host->free(of);
}

static iso_status make_circle(int32_t ranks, circle **out)
{
    circle *of = cpu_host->alloc((int64_t)sizeof *of);
    pthread_condattr_t clock;
    if (!of) {
        return ISO_NO_MEMORY;
    }
    memset(of, 0, sizeof *of);
    of->ranks = of->members = ranks;
    iso_status status = cpu_isa_choose(&of->kernels);
    of->seats = status ? NULL : cpu_host->alloc(ranks * (int64_t)sizeof *of->seats);
    if (!of->seats) {
        cpu_host->free(of);
        return status ? status : ISO_NO_MEMORY;
    }
    memset(of->seats, 0, (size_t)ranks * sizeof *of->seats);
    (void)pthread_mutex_init(&of->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&of->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    *out = of;
    return ISO_OK;
}

static void leave(void *of)
{
    rank *self = of;
    circle *left = self->of;
    (void)pthread_mutex_lock(&left->lock);
    const int last = --left->members == 0;
    (void)pthread_mutex_unlock(&left->lock);
    if (last) {
        free_circle(left);
    }
    cpu_host->free((void *)self->sources);
    cpu_host->free(self);
}

static iso_status join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                       int32_t ranks, int64_t timeout, void **joined)
{
    circle *of = NULL;
    if (id || count != ranks) {
        return id_create(NULL);
    }
    iso_status status = make_circle(ranks, &of);
    int32_t made = 0;
    while (made < count && status == ISO_OK) {
        rank *self = cpu_host->alloc((int64_t)sizeof *self);
        const void **sources = cpu_host->alloc(ranks * (int64_t)sizeof *sources);
        if (!self || !sources) {
            cpu_host->free(self);
            cpu_host->free((void *)sources);
            status = ISO_NO_MEMORY;
            break;
        }
        *self = (rank){.of = of, .rank = seats[made].rank, .timeout = timeout, .sources = sources};
        joined[made++] = self;
    }
    if (status != ISO_OK && of) {
        of->members = made + 1; /* the last member frees the circle: this call is one */
        while (made > 0) {
            leave(joined[--made]);
        }
        free_circle(of);
    }
    return status;
}

static iso_status supports(const iso_engine_call *call)
{
    const int adds = call->op == ISO_COMM_ALL_REDUCE || call->op == ISO_COMM_REDUCE_SCATTER;
    const cpu_kernels *kernels = NULL;
    const iso_status status = cpu_isa_choose(&kernels);
    if (status != ISO_OK || !adds || kernels->ranks->fold[call->reduce][call->dtype]) {
        return status;
    }
    return cpu_host->fail(ISO_UNSUPPORTED, "%s of %s over ranks is not defined",
                          iso_reduce_op_name(call->reduce), iso_dtype_name(call->dtype));
}

enum { PARCELS = 32 }; /* of one group without an allocation */

static iso_status submit(const iso_engine_call *calls, int32_t count)
{
    rank *self = calls[0].rank;
    circle *of = self->of;
    parcel few[PARCELS];
    parcel *sent = count <= PARCELS ? few : cpu_host->alloc(count * (int64_t)sizeof *sent);
    iso_status status = sent ? ISO_OK : ISO_NO_MEMORY;
    if (!sent) {
        return status;
    }
    (void)pthread_mutex_lock(&of->lock);
    status = tell(of);
    int32_t posted = 0;
    while (posted < count && status == ISO_OK) {
        if (calls[posted].op == ISO_COMM_SEND) {
            post(self, &calls[posted], &sent[posted]);
        }
        posted++;
    }
    for (int32_t i = 0; i < count && status == ISO_OK; i++) {
        if (calls[i].op == ISO_COMM_RECEIVE) {
            status = receive(self, &calls[i]);
        } else if (calls[i].op != ISO_COMM_SEND) {
            status = collective(self, &calls[i]);
        }
    }
    for (int32_t i = 0; i < posted; i++) { /* even after a failure: they lie on this stack */
        if (calls[i].op == ISO_COMM_SEND) {
            const iso_status one = await_taken(self, &calls[i], &sent[i]);
            status = status ? status : one;
        }
    }
    (void)pthread_mutex_unlock(&of->lock);
    if (sent != few) {
        cpu_host->free(sent);
    }
    return status;
}

static iso_status query(void *of)
{
    circle *asked = ((rank *)of)->of;
    (void)pthread_mutex_lock(&asked->lock);
    const iso_status status = tell(asked);
    (void)pthread_mutex_unlock(&asked->lock);
    return status;
}

static void abort_rank(void *of)
{
    const rank *self = of;
    char reason[REASON];
    (void)snprintf(reason, sizeof reason, "rank %" PRId32 " of %" PRId32 " has failed: %.800s",
                   self->rank, self->of->ranks, iso_last_error());
    (void)pthread_mutex_lock(&self->of->lock);
    fail_circle(self->of, ISO_UNAVAILABLE, reason);
    (void)pthread_mutex_unlock(&self->of->lock);
}

const iso_engine cpu_engine = {
    .size = (uint32_t)sizeof(iso_engine),
    .flags = ISO_ENGINE_HOST | ISO_ENGINE_ORDERED | ISO_ENGINE_SEATS,
    .name = "threads",
    .open = open_engine,
    .id_create = id_create,
    .join = join,
    .leave = leave,
    .supports = supports,
    .submit = submit,
    .query = query,
    .abort = abort_rank,
};
