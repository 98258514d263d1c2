/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - implements ranks.h. Data goes in pieces through slots of the shared memory. Whoever
 * waits polls, so no lock is shared, and a process that ended leaves nothing locked. */
#include "tests/fakes/ranks.h"

#include "tests/fakes/blas.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 32 * 1024, CHANNEL = 8 * 1024, NAME_MAX_BYTES = 64 };

/* From one rank to another. The sender fills it if it is empty. */
typedef struct channel {
    atomic_llong written, read; /* pieces */
    size_t total, bytes;        /* of the message and of this piece */
    _Alignas(16) char data[CHANNEL];
} channel;

/* All zeros at the beginning. */
typedef struct meeting {
    atomic_int joined;
    atomic_int taken[FAKE_RANKS_MAX];     /* the rank's device plus 1 */
    atomic_int connected[FAKE_RANKS_MAX]; /* it has made a call */
    atomic_llong arrived[FAKE_RANKS_MAX]; /* steps */
    fake_call calls[FAKE_RANKS_MAX];      /* the collective calls at hand; no addresses are used */
    _Alignas(16) char slots[FAKE_RANKS_MAX][SLOT];
    channel channels[FAKE_RANKS_MAX][FAKE_RANKS_MAX]; /* from, to */
} meeting;

struct fake_rank {
    fake_context *context;
    meeting *at;
    char name[NAME_MAX_BYTES];
    int rank, ranks;
    long long steps, tickets;
    atomic_llong turn; /* the ticket whose call may run */
    atomic_bool aborted;
    atomic_int pending, running, error;
};

typedef struct task {
    fake_rank *self;
    long long ticket;
    int count;
    fake_call calls[FAKE_GROUP_MAX];
    size_t done[FAKE_GROUP_MAX]; /* bytes of sends and receives */
} task;

static void pause_a_little(void)
{
    const struct timespec time = {.tv_nsec = 20000};
    (void)nanosleep(&time, NULL);
}

/* Pauses, or only lets others run. False: it is no use to wait any longer. */
static bool waits(fake_rank *self)
{
    enum { YIELDS = 50 };
    static _Thread_local unsigned times;
    if (atomic_load(&self->aborted) || atomic_load(&self->error) ||
        fake_context_error(self->context)) {
        return false;
    }
    if (times++ % (2 * YIELDS) < YIELDS) {
        (void)sched_yield();
    } else {
        pause_a_little();
    }
    return true;
}

/* Waits until every rank has made as many steps. */
static bool step(fake_rank *self)
{
    const long long mine = ++self->steps;
    atomic_store(&self->at->arrived[self->rank], mine);
    for (int i = 0; i < self->ranks; i++) {
        while (atomic_load(&self->at->arrived[i]) < mine) {
            if (!waits(self)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

enum { I8 = 0, I32 = 2, I64 = 4, F16 = 6, F32 = 7, F64 = 8, BF16 = 9 };
enum { SUM = 0, PRODUCT = 1, MAX = 2, MIN = 3, MEAN = 4 };

size_t fake_rank_type_bytes(uint32_t type)
{
    switch (type) {
    case I8:
        return 1;
    case F16:
    case BF16:
        return 2;
    case I32:
    case F32:
        return 4;
    case I64:
    case F64:
        return 8;
    default:
        return 0;
    }
}

static fake_type float_type(uint32_t type)
{
    return type == F16 ? FAKE_F16 : type == BF16 ? FAKE_BF16 : type == F32 ? FAKE_F32 : FAKE_F64;
}

static int64_t get_integer(uint32_t type, const char *at, size_t i)
{
    return type == I8    ? ((const int8_t *)at)[i]
           : type == I32 ? ((const int32_t *)(const void *)at)[i]
                         : ((const int64_t *)(const void *)at)[i];
}

static void put_integer(uint32_t type, char *at, size_t i, int64_t value)
{
    if (type == I8) {
        ((int8_t *)at)[i] = (int8_t)value;
    } else if (type == I32) {
        ((int32_t *)(void *)at)[i] = (int32_t)value;
    } else {
        ((int64_t *)(void *)at)[i] = value;
    }
}

static int64_t fold_integers(uint32_t reduce, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return reduce == PRODUCT ? (int64_t)(x * y)
           : reduce == MAX   ? (a > b ? a : b)
           : reduce == MIN   ? (a < b ? a : b)
                             : (int64_t)(x + y);
}

static double fold_floats(uint32_t reduce, double a, double b)
{
    return reduce == PRODUCT ? a * b
           : reduce == MAX   ? (a > b ? a : b)
           : reduce == MIN   ? (a < b ? a : b)
                             : a + b;
}

/* Reduces element i of all slots. */
static void fold(const fake_rank *self, const fake_call *call, char *to, size_t i)
{
    const char(*slots)[SLOT] = (const char(*)[SLOT])self->at->slots;
    if (call->type == I8 || call->type == I32 || call->type == I64) {
        int64_t total = get_integer(call->type, slots[self->ranks - 1], i);
        for (int r = self->ranks - 2; r >= 0; r--) {
            total = fold_integers(call->reduce, total, get_integer(call->type, slots[r], i));
        }
        put_integer(call->type, to, i, call->reduce == MEAN ? total / self->ranks : total);
        return;
    }
    const fake_type type = float_type(call->type);
    double total = fake_element(type, slots[self->ranks - 1], (int64_t)i);
    for (int r = self->ranks - 2; r >= 0; r--) {
        total = fold_floats(call->reduce, total, fake_element(type, slots[r], (int64_t)i));
    }
    fake_element_set(type, to, (int64_t)i, call->reduce == MEAN ? total / self->ranks : total);
}

/* ---- collective calls ------------------------------------------------------------------------ */

static bool same(const fake_call *a, const fake_call *b)
{
    return a->kind == b->kind && a->type == b->type && a->reduce == b->reduce &&
           a->peer == b->peer && a->count == b->count;
}

/* Takes this rank's share of the slots, which hold `n` elements from `at` on of part `part`. */
static void take(const fake_rank *self, const fake_call *call, int part, size_t at, size_t n)
{
    const size_t size = fake_rank_type_bytes(call->type);
    char *to = call->to + at * size;
    switch (call->kind) {
    case FAKE_BROADCAST:
        memcpy(to, self->at->slots[call->peer], n * size);
        return;
    case FAKE_ALL_REDUCE:
    case FAKE_REDUCE_SCATTER:
        for (size_t i = 0; i < n && (call->kind == FAKE_ALL_REDUCE || part == self->rank); i++) {
            fold(self, call, to, i);
        }
        return;
    default:
        for (int r = 0; r < self->ranks; r++) {
            if (call->kind == FAKE_ALL_GATHER || part == self->rank) {
                memcpy(to + (size_t)r * call->count * size, self->at->slots[r], n * size);
            }
        }
        return;
    }
}

static void collective(fake_rank *self, const fake_call *call)
{
    const size_t size = fake_rank_type_bytes(call->type);
    const size_t most = SLOT / size;
    const bool gives = call->kind != FAKE_BROADCAST || call->peer == self->rank;
    const int parts =
        call->kind == FAKE_REDUCE_SCATTER || call->kind == FAKE_ALL_TO_ALL ? self->ranks : 1;
    self->at->calls[self->rank] = *call;
    if (!step(self)) {
        return;
    }
    for (int r = 0; r < self->ranks; r++) {
        if (!same(call, &self->at->calls[r])) {
            fprintf(stderr, "fake: ranks %d and %d make different calls\n", self->rank, r);
            atomic_store(&self->error, FAKE_RANKS_USAGE);
            return;
        }
    }
    for (int part = 0; part < parts; part++) {
        for (size_t at = 0; at < call->count; at += most) {
            const size_t n = call->count - at < most ? call->count - at : most;
            if (gives) {
                memcpy(self->at->slots[self->rank],
                       call->from + ((size_t)part * call->count + at) * size, n * size);
            }
            if (!step(self)) {
                return;
            }
            take(self, call, part, at, n);
            if (!step(self)) {
                return;
            }
        }
    }
}

/* ---- sends and receives ---------------------------------------------------------------------- */

static size_t bytes_of(const fake_call *call)
{
    return call->count * fake_rank_type_bytes(call->type);
}

/* Moves a piece of a message, if it can. */
static bool move(task *work, int i)
{
    fake_rank *self = work->self;
    const fake_call *call = &work->calls[i];
    const size_t total = bytes_of(call), done = work->done[i];
    const bool sends = call->kind == FAKE_SEND;
    channel *by = sends ? &self->at->channels[self->rank][call->peer]
                        : &self->at->channels[call->peer][self->rank];
    const bool full = atomic_load(&by->written) > atomic_load(&by->read);
    if (full == sends) {
        return false;
    }
    if (sends) {
        by->total = total;
        by->bytes = total - done < CHANNEL ? total - done : CHANNEL;
        memcpy(by->data, call->from + done, by->bytes);
        work->done[i] += by->bytes;
        (void)atomic_fetch_add(&by->written, 1);
        return true;
    }
    if (by->total != total) {
        fprintf(stderr, "fake: rank %d receives %zu bytes, but rank %d sends %zu\n", self->rank,
                total, call->peer, by->total);
        atomic_store(&self->error, FAKE_RANKS_USAGE);
        return false;
    }
    memcpy(call->to + done, by->data, by->bytes);
    work->done[i] += by->bytes;
    (void)atomic_fetch_add(&by->read, 1);
    return true;
}

/* Whether an earlier message between the same two ranks is not done. */
static bool behind(const task *work, int i)
{
    for (int j = 0; j < i; j++) {
        if (work->calls[j].kind == work->calls[i].kind &&
            work->calls[j].peer == work->calls[i].peer &&
            work->done[j] < bytes_of(&work->calls[j])) {
            return true;
        }
    }
    return false;
}

static void messages(task *work)
{
    for (bool left = true; left;) {
        bool moved = false;
        left = false;
        for (int i = 0; i < work->count; i++) {
            if (work->done[i] < bytes_of(&work->calls[i])) {
                left = true;
                moved |= !behind(work, i) && move(work, i);
            }
        }
        if (left && !moved && !waits(work->self)) {
            return;
        }
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Calls of one rank run one after another, on whichever streams they are. */
static int perform(void *data)
{
    task *work = *(task **)data;
    fake_rank *self = work->self;
    (void)atomic_fetch_add(&self->running, 1);
    bool go = true;
    while (go && atomic_load(&self->turn) != work->ticket) {
        go = waits(self);
    }
    if (go && work->calls[0].kind >= FAKE_SEND) {
        messages(work);
    } else if (go) {
        collective(self, &work->calls[0]);
    }
    (void)atomic_fetch_add(&self->turn, 1);
    free(work);
    (void)atomic_fetch_sub(&self->pending, 1);
    (void)atomic_fetch_sub(&self->running, 1);
    return FAKE_OK;
}

int fake_rank_submit(fake_rank *self, fake_stream *stream, const fake_call *calls, int count)
{
    task *work = count > FAKE_GROUP_MAX ? NULL : calloc(1, sizeof *work);
    if (!work) {
        return FAKE_RANKS_SYSTEM;
    }
    work->self = self;
    work->count = count;
    work->ticket = self->tickets;
    memcpy(work->calls, calls, (size_t)count * sizeof *calls);
    (void)atomic_fetch_add(&self->pending, 1);
    if (fake_stream_submit(stream, perform, &work, sizeof work)) {
        (void)atomic_fetch_sub(&self->pending, 1);
        free(work);
        return FAKE_RANKS_DRIVER;
    }
    self->tickets++;
    return FAKE_RANKS_OK;
}

void fake_rank_present(fake_rank *self)
{
    atomic_store(&self->at->connected[self->rank], 1);
}

int fake_rank_connect(fake_rank *self)
{
    for (int i = 0; i < self->ranks; i++) {
        while (!atomic_load(&self->at->connected[i])) {
            if (!waits(self)) {
                return FAKE_RANKS_INTERNAL;
            }
        }
    }
    return FAKE_RANKS_OK;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

fake_rank *fake_rank_new(fake_context *context, const char *name, int ranks, int rank)
{
    fake_rank *self = calloc(1, sizeof *self);
    const int file = self ? shm_open(name, O_CREAT | O_RDWR, 0600) : -1;
    if (file < 0 || ftruncate(file, (off_t)sizeof(meeting)) != 0) {
        free(self);
        return NULL;
    }
    self->at = mmap(NULL, sizeof(meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    if (self->at == MAP_FAILED) {
        free(self);
        return NULL;
    }
    (void)snprintf(self->name, sizeof self->name, "%s", name);
    self->context = context;
    self->ranks = ranks;
    self->rank = rank;
    return self;
}

int fake_rank_arrive(fake_rank *self)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&self->at->taken[self->rank], &none,
                                        self->context->device + 1)) {
        return FAKE_RANKS_USAGE;
    }
    (void)atomic_fetch_add(&self->at->joined, 1);
    return FAKE_RANKS_OK;
}

int fake_rank_join(fake_rank *self)
{
    /* Deaf to aborts until a file of this name is there, which then goes. */
    const char *stuck = getenv("FAKE_COMM_STUCK");
    bool waited = true;
    while (waited && atomic_load(&self->at->joined) < self->ranks) {
        pause_a_little();
        waited = waits(self) || (stuck && access(stuck, F_OK) != 0);
    }
    if (stuck && !waited) {
        (void)unlink(stuck);
    }
    (void)shm_unlink(self->name); /* all are here, or it is of no use any more */
    for (int i = 0; waited && i < self->ranks; i++) {
        if (i != self->rank && self->at->taken[i] == self->at->taken[self->rank]) {
            return FAKE_RANKS_USAGE; /* two ranks on one device */
        }
    }
    return waited ? FAKE_RANKS_OK : FAKE_RANKS_INTERNAL;
}

void fake_rank_abort(fake_rank *self)
{
    atomic_store(&self->aborted, true);
}

/* Calls in a broken context that have not begun never will. */
void fake_rank_free(fake_rank *self)
{
    while (atomic_load(&self->pending) > 0 &&
           (!fake_context_error(self->context) || atomic_load(&self->running) > 0)) {
        pause_a_little();
    }
    while (atomic_load(&self->running) > 0) {
        pause_a_little();
    }
    (void)munmap(self->at, sizeof *self->at);
    free(self);
}

int fake_rank_error(fake_rank *self)
{
    return atomic_load(&self->error);
}

fake_context *fake_rank_context(const fake_rank *self)
{
    return self->context;
}

int fake_rank_count(const fake_rank *self)
{
    return self->ranks;
}
