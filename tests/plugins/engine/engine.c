/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - a plug-in with a host engine: slow, simple, for ranks of one process, and the example
 * of an engine. With ENGINE_FAULT it has a planted bug:
 *
 *   ORDER    each rank adds in an order of its own, although the engine says that its sums are
 *            ordered
 *   SKIP     a chunk of a long result is not written
 *   STALE    a rank reads a copy of another's data that was made at an earlier call with the same
 *            buffer
 *   NOWAIT   a rank does not wait until the others have read its data, and in a barrier for nothing
 */
#include <isomer/backend.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(argument) #argument

enum fault { NONE, ORDER, SKIP, STALE, NOWAIT };

static const enum fault fault = ENGINE_FAULT;
static const iso_host *core;

/* What was sent and not received yet. */
typedef struct parcel {
    struct parcel *next;
    int32_t from, to;
    int64_t bytes;
    char data[];
} parcel;

/* What a rank does now, where the others read it. */
typedef struct seat {
    iso_engine_call call;
    void *copy; /* STALE */
    const void *copied;
    int64_t copied_bytes;
} seat;

/* The ranks of a communicator. */
typedef struct circle {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    int32_t ranks, members, arrived;
    uint64_t meetings;
    iso_status failed;
    parcel *mail;
    seat *seats;
} circle;

typedef struct rank {
    circle *of;
    int32_t number;
    int64_t timeout;
} rank;

/* ---- Waiting --------------------------------------------------------------------------------- */

static struct timespec deadline_of(const rank *self)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t end = now.tv_nsec + self->timeout % 1000000000;
    now.tv_sec += (time_t)(self->timeout / 1000000000 + end / 1000000000);
    now.tv_nsec = (long)(end % 1000000000);
    return now;
}

static iso_status tell(const circle *of)
{
    return of->failed ? core->fail(of->failed, "the ranks of a test's engine stopped: one was late "
                                               "or was aborted")
                      : ISO_OK;
}

/* The caller holds the lock. */
static void await(rank *self, const struct timespec *deadline)
{
    circle *of = self->of;
    if (pthread_cond_timedwait(&of->changed, &of->lock, deadline) == ETIMEDOUT && !of->failed) {
        of->failed = ISO_TIMEOUT;
        pthread_cond_broadcast(&of->changed);
    }
}

/* The caller holds the lock. Waits until all ranks are here. */
static iso_status meet(rank *self)
{
    circle *of = self->of;
    const struct timespec deadline = deadline_of(self);
    const uint64_t meeting = of->meetings;
    if (of->failed) {
        return tell(of);
    }
    if (++of->arrived == of->ranks) {
        of->arrived = 0;
        of->meetings++;
        pthread_cond_broadcast(&of->changed);
        return ISO_OK;
    }
    while (of->meetings == meeting && !of->failed) {
        await(self, &deadline);
    }
    return of->meetings == meeting ? tell(of) : ISO_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Reduces `count` elements of all ranks, whose arrays begin `skip` elements after `from`. */
#define FOLD(T, U)                                                                                 \
    static void fold_##T(const seat *seats, const rank *self, iso_reduce_op op, int64_t skip,      \
                         int64_t count, T *out)                                                    \
    {                                                                                              \
        const int32_t ranks = self->of->ranks, start = fault == ORDER ? self->number : 0;          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            T t = ((const T *)seats[start].call.from)[skip + i];                                   \
            for (int32_t r = 1; r < ranks; r++) {                                                  \
                const T x = ((const T *)seats[(start + r) % ranks].call.from)[skip + i];           \
                switch (op) {                                                                      \
                case ISO_PRODUCT:                                                                  \
                    t = (T)((U)t * (U)x);                                                          \
                    break;                                                                         \
                case ISO_MIN:                                                                      \
                    t = x < t ? x : t;                                                             \
                    break;                                                                         \
                case ISO_MAX:                                                                      \
                    t = x > t ? x : t;                                                             \
                    break;                                                                         \
                default:                                                                           \
                    t = (T)((U)t + (U)x);                                                          \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
            out[i] = op == ISO_MEAN ? (T)((double)t / ranks) : t;                                  \
        }                                                                                          \
    }

FOLD(float, float)
FOLD(double, double)
FOLD(int32_t, uint32_t)
FOLD(int64_t, uint64_t)

static void fold(const seat *seats, const rank *self, const iso_engine_call *call, int64_t skip,
                 void *out)
{
    switch (call->dtype) {
    case ISO_F32:
        fold_float(seats, self, call->reduce, skip, call->count, out);
        break;
    case ISO_F64:
        fold_double(seats, self, call->reduce, skip, call->count, out);
        break;
    case ISO_I32:
        fold_int32_t(seats, self, call->reduce, skip, call->count, out);
        break;
    default:
        fold_int64_t(seats, self, call->reduce, skip, call->count, out);
        break;
    }
}

/* ---- Calls of all ranks ---------------------------------------------------------------------- */

static int64_t result_bytes(const rank *self, const iso_engine_call *call)
{
    const int many = call->op == ISO_COMM_ALL_GATHER || call->op == ISO_COMM_ALL_TO_ALL;
    return call->count * iso_dtype_size(call->dtype) * (many ? self->of->ranks : 1);
}

/* Makes this rank's result from what the others give. */
static void compute(const seat *seats, const rank *self, const iso_engine_call *call, char *out)
{
    const int64_t part = call->count * iso_dtype_size(call->dtype);
    switch (call->op) {
    case ISO_COMM_BROADCAST:
        memcpy(out, seats[call->peer].call.from, (size_t)part);
        break;
    case ISO_COMM_ALL_REDUCE:
        fold(seats, self, call, 0, out);
        break;
    case ISO_COMM_REDUCE_SCATTER:
        fold(seats, self, call, self->number * call->count, out);
        break;
    default:
        for (int32_t r = 0; r < self->of->ranks; r++) {
            const int64_t skip = call->op == ISO_COMM_ALL_TO_ALL ? self->number * part : 0;
            memcpy(out + r * part, (const char *)seats[r].call.from + skip, (size_t)part);
        }
        break;
    }
}

/* STALE: shows the others a copy, which is new only if the buffer or its size is. */
static iso_status show_copy(rank *self, const iso_engine_call *call)
{
    seat *own = &self->of->seats[self->number];
    const int many = call->op == ISO_COMM_REDUCE_SCATTER || call->op == ISO_COMM_ALL_TO_ALL;
    const int64_t bytes = call->count * iso_dtype_size(call->dtype) * (many ? self->of->ranks : 1);
    if (call->from && (own->copied != call->from || own->copied_bytes != bytes)) {
        free(own->copy);
        own->copy = malloc((size_t)bytes);
        if (!own->copy) {
            return core->fail(ISO_NO_MEMORY, "no memory for %lld bytes", (long long)bytes);
        }
        memcpy(own->copy, call->from, (size_t)bytes);
        own->copied = call->from;
        own->copied_bytes = bytes;
    }
    own->call.from = call->from ? own->copy : NULL;
    return ISO_OK;
}

/* The caller holds the lock, which is not held while data are read. */
static iso_status collective(rank *self, const iso_engine_call *call)
{
    circle *of = self->of;
    const int64_t bytes = result_bytes(self, call);
    char *result = malloc((size_t)bytes + 1);
    seat *seen = calloc((size_t)of->ranks, sizeof *seen);
    iso_status status = result && seen ? ISO_OK : ISO_NO_MEMORY;
    of->seats[self->number].call = *call;
    if (status == ISO_OK && fault == STALE) {
        status = show_copy(self, call);
    }
    if (status == ISO_OK) {
        status = meet(self);
    }
    if (status == ISO_OK) {
        memcpy(seen, of->seats, (size_t)of->ranks * sizeof *seen);
        pthread_mutex_unlock(&of->lock);
        if (fault == NOWAIT && self->number == 0) { /* the others go on meanwhile */
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
        compute(seen, self, call, result);
        pthread_mutex_lock(&of->lock);
        status = fault == NOWAIT ? ISO_OK : meet(self);
    }
    if (status == ISO_OK) {
        const int64_t left_out = fault == SKIP && bytes > 1024 ? 64 : 0;
        memcpy(call->to, result, (size_t)(bytes / 2));
        memcpy((char *)call->to + bytes / 2 + left_out, result + bytes / 2 + left_out,
               (size_t)(bytes - bytes / 2 - left_out));
    }
    free(result);
    free(seen);
    return status;
}

/* ---- Send and receive ------------------------------------------------------------------------ */

static iso_status post(rank *self, const iso_engine_call *call)
{
    const int64_t bytes = call->count * iso_dtype_size(call->dtype);
    parcel *sent = malloc(sizeof *sent + (size_t)bytes), **end = &self->of->mail;
    if (!sent) {
        return core->fail(ISO_NO_MEMORY, "no memory for %lld bytes", (long long)bytes);
    }
    *sent = (parcel){.from = self->number, .to = call->peer, .bytes = bytes};
    memcpy(sent->data, call->from, (size_t)bytes);
    while (*end) {
        end = &(*end)->next;
    }
    *end = sent;
    pthread_cond_broadcast(&self->of->changed);
    return ISO_OK;
}

static iso_status take(rank *self, const iso_engine_call *call)
{
    circle *of = self->of;
    const struct timespec deadline = deadline_of(self);
    while (!of->failed) {
        parcel **at = &of->mail;
        while (*at && ((*at)->from != call->peer || (*at)->to != self->number)) {
            at = &(*at)->next;
        }
        if (*at) {
            parcel *taken = *at;
            *at = taken->next;
            memcpy(call->to, taken->data, (size_t)taken->bytes);
            free(taken);
            return ISO_OK;
        }
        await(self, &deadline);
    }
    return tell(of);
}

/* ---- The entries ----------------------------------------------------------------------------- */

static iso_status open_engine(char *label, int64_t capacity)
{
    snprintf(label, (size_t)capacity, "a test's engine");
    return ISO_OK;
}

/* Its id is for one process, which is the whole world. */
static iso_status id_create(iso_comm_id *out)
{
    memset(out, 0, sizeof *out);
    return ISO_OK;
}

static iso_status world(int32_t *number, int32_t *ranks)
{
    *number = 0;
    *ranks = 1;
    return ISO_OK;
}

static iso_status join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                       int32_t ranks, int64_t timeout, void **joined)
{
    (void)id;
    pthread_condattr_t clock;
    if (count != ranks) {
        return core->fail(ISO_UNSUPPORTED, "this engine is for ranks of one process");
    }
    circle *of = calloc(1, sizeof *of);
    rank *made = calloc((size_t)ranks, sizeof *made);
    seat *places = calloc((size_t)ranks, sizeof *places);
    if (!of || !made || !places) {
        free(of);
        free(made);
        free(places);
        return core->fail(ISO_NO_MEMORY, "no memory for %d ranks", ranks);
    }
    of->ranks = of->members = ranks;
    of->seats = places;
    pthread_mutex_init(&of->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&of->changed, &clock);
    pthread_condattr_destroy(&clock);
    for (int32_t i = 0; i < count; i++) {
        made[i] = (rank){.of = of, .number = seats[i].rank, .timeout = timeout};
        joined[i] = &made[i];
    }
    return ISO_OK;
}

/* The last rank frees everything. */
static void leave(void *of_rank)
{
    const rank *self = of_rank;
    circle *of = self->of;
    pthread_mutex_lock(&of->lock);
    const int last = --of->members == 0;
    pthread_mutex_unlock(&of->lock);
    if (!last) {
        return;
    }
    while (of->mail) {
        parcel *next = of->mail->next;
        free(of->mail);
        of->mail = next;
    }
    for (int32_t i = 0; i < of->ranks; i++) {
        free(of->seats[i].copy);
    }
    free((void *)(self - self->number)); /* the ranks are one array, in their order */
    free(of->seats);
    pthread_cond_destroy(&of->changed);
    pthread_mutex_destroy(&of->lock);
    free(of);
}

static iso_status supports(const iso_engine_call *call)
{
    const int sums = call->op == ISO_COMM_ALL_REDUCE || call->op == ISO_COMM_REDUCE_SCATTER;
    if (sums && (iso_dtype_size(call->dtype) < 4 || call->reduce == ISO_XOR)) {
        return core->fail(ISO_UNSUPPORTED, "this engine has no %s of %s",
                          iso_reduce_op_name(call->reduce), iso_dtype_name(call->dtype));
    }
    return ISO_OK;
}

static iso_status submit(const iso_engine_call *calls, int32_t count)
{
    rank *self = calls[0].rank;
    circle *of = self->of;
    pthread_mutex_lock(&of->lock);
    iso_status status = tell(of);
    for (int32_t i = 0; i < count && status == ISO_OK; i++) {
        if (calls[i].op == ISO_COMM_SEND) {
            status = post(self, &calls[i]);
        }
    }
    for (int32_t i = 0; i < count && status == ISO_OK; i++) {
        if (calls[i].op == ISO_COMM_BARRIER) {
            status = fault == NOWAIT ? ISO_OK : meet(self);
        } else if (calls[i].op == ISO_COMM_RECEIVE) {
            status = take(self, &calls[i]);
        } else if (calls[i].op != ISO_COMM_SEND) {
            status = collective(self, &calls[i]);
        }
    }
    pthread_mutex_unlock(&of->lock);
    return status;
}

static iso_status query(void *of_rank)
{
    circle *of = ((rank *)of_rank)->of;
    pthread_mutex_lock(&of->lock);
    const iso_status status = tell(of);
    pthread_mutex_unlock(&of->lock);
    return status;
}

static void abort_rank(void *of_rank)
{
    circle *of = ((rank *)of_rank)->of;
    pthread_mutex_lock(&of->lock);
    of->failed = of->failed ? of->failed : ISO_UNAVAILABLE;
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->lock);
}

static const iso_engine engine = {
    .size = (uint32_t)sizeof(iso_engine),
    .flags = ISO_ENGINE_HOST | ISO_ENGINE_SEATS | ISO_ENGINE_PROCESSES |
             (ENGINE_FAULT == ORDER ? ISO_ENGINE_ORDERED : 0),
    .name = TEXT_OF(ENGINE_NAME),
    .open = open_engine,
    .id_create = id_create,
    .join = join,
    .leave = leave,
    .supports = supports,
    .submit = submit,
    .query = query,
    .abort = abort_rank,
    .world = world,
};

/* ---- The plug-in ----------------------------------------------------------------------------- */

static iso_status probe(iso_probe *out)
{
    out->state = ISO_STATE_NO_DEVICE;
    snprintf(out->reason, sizeof out->reason, "an engine of a test, which has no devices");
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_ENGINE_ONLY,
    .name = TEXT_OF(ENGINE_NAME),
    .build_info = "a test",
    .probe = probe,
    .engine = &engine,
};

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi;
    core = host;
    return &descriptor;
}
