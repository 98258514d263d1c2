/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - fakes of libnccl.so and, with FAKE_RCCL, of librccl.so: their interface and their
 * checks. What the ranks do is in ranks.c. */
#include "tests/fakes/ranks.h"

#include "backends/cuda/symbols.h"
#include "backends/hip/symbols.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
#if defined(FAKE_RCCL)
#define nccl_id     rccl_id
#define nccl_handle rccl_handle
#define nccl_stream rccl_stream
HIP_RCCL_SYMBOLS(DECLARE, DECLARE)
fake_context *fake_hip_context(void);
#else
CUDA_NCCL_SYMBOLS(DECLARE, DECLARE)
FAKE_API cuda_code cuCtxGetCurrent(cuda_context *context);
#endif

struct ncclComm {
    uint32_t alive;
    fake_rank *rank;
    bool joining;   /* a group is about to use it */
    bool dropped;   /* it was aborted meanwhile: the group frees it */
    bool connected; /* it has made a call */
    int users;      /* atomic: calls that run */
};

enum { ALIVE = 0x0cc1ca11, INITS_MAX = FAKE_RANKS_MAX };

typedef struct entry {
    nccl_handle comm;
    fake_stream *stream;
    fake_call call;
} entry;

static _Thread_local struct group {
    int depth, count, inits, drops;
    uint32_t error;
    entry entries[FAKE_GROUP_MAX];
    nccl_handle joining[INITS_MAX];
    nccl_handle dropped[INITS_MAX]; /* aborted: freed at the end */
} group;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of joining and dropped */
static char last_error[256];

__attribute__((format(printf, 2, 3))) static uint32_t fail(uint32_t code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)pthread_mutex_lock(&lock);
    (void)vsnprintf(last_error, sizeof last_error, format, values);
    (void)pthread_mutex_unlock(&lock);
    va_end(values);
    return code;
}

static fake_context *current_context(void)
{
#if defined(FAKE_RCCL)
    return fake_hip_context();
#else
    cuda_context context = NULL;
    (void)cuCtxGetCurrent(&context);
    return (fake_context *)(void *)context;
#endif
}

/* ---- the library ----------------------------------------------------------------------------- */

uint32_t ncclGetVersion(int *version)
{
    *version = (int)fake_setting("FAKE_COMM_VERSION", 22809);
    return FAKE_RANKS_OK;
}

const char *ncclGetErrorString(uint32_t code)
{
    static const char *const texts[FAKE_RANKS_CODES] = {"no error",
                                                        "unhandled cuda error",
                                                        "unhandled system error",
                                                        "internal error",
                                                        "invalid argument",
                                                        "invalid usage",
                                                        "remote process exited",
                                                        "operation in progress"};
    return code < FAKE_RANKS_CODES ? texts[code] : "unknown result code";
}

const char *ncclGetLastError(nccl_handle comm)
{
    (void)comm;
    return last_error;
}

/* The name of the shared memory. */
uint32_t ncclGetUniqueId(nccl_id *id)
{
    uint64_t noise[2] = {0, 0};
    memset(id, 0, sizeof *id);
    if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise) {
        return fail(FAKE_RANKS_SYSTEM, "no random bytes");
    }
    (void)snprintf(id->bytes, sizeof id->bytes, "/isomer-fake-%016llx%016llx",
                   (unsigned long long)noise[0], (unsigned long long)noise[1]);
    return FAKE_RANKS_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void comm_free(nccl_handle comm)
{
    if (__atomic_load_n(&comm->users, __ATOMIC_SEQ_CST) > 0) {
        fprintf(stderr, "fake: a communicator is freed while a call of it runs\n");
    }
    comm->alive = 0;
    fake_rank_free(comm->rank);
    free(comm);
}

/* Frees a communicator that was aborted, or lets the group that joins it do so. */
static void drop(nccl_handle comm)
{
    (void)pthread_mutex_lock(&lock);
    comm->dropped = true;
    const bool free_now = !comm->joining;
    (void)pthread_mutex_unlock(&lock);
    if (free_now) {
        comm_free(comm);
    }
}

/* Joins the group's new communicators. */
static uint32_t join_all(void)
{
    uint32_t code = FAKE_RANKS_OK;
    for (int i = 0; i < group.inits && !code; i++) {
        code = (uint32_t)fake_rank_arrive(group.joining[i]->rank);
    }
    for (int i = 0; i < group.inits && !code; i++) {
        code = (uint32_t)fake_rank_join(group.joining[i]->rank);
        if (code == FAKE_RANKS_USAGE) {
            code = fail(code, "Duplicate GPU detected");
        } else if (code) {
            code = fail(code, "joining was aborted");
        }
    }
    for (int i = 0; i < group.inits; i++) {
        nccl_handle comm = group.joining[i];
        (void)pthread_mutex_lock(&lock);
        comm->joining = false;
        const bool dropped = comm->dropped;
        (void)pthread_mutex_unlock(&lock);
        if (dropped) {
            comm_free(comm);
        }
    }
    return code;
}

/* Submits the entries of one communicator and stream: sends and receives together. */
static uint32_t submit_of(const entry *first, bool *taken)
{
    fake_call messages[FAKE_GROUP_MAX];
    int count = 0;
    uint32_t code = FAKE_RANKS_OK;
    for (int i = 0; i < group.count && !code; i++) {
        const entry *at = &group.entries[i];
        if (taken[i] || at->comm != first->comm || at->stream != first->stream) {
            continue;
        }
        taken[i] = true;
        if (at->call.kind >= FAKE_SEND) {
            messages[count++] = at->call;
        } else {
            code = (uint32_t)fake_rank_submit(at->comm->rank, at->stream, &at->call, 1);
        }
    }
    if (!code && count > 0) {
        code = (uint32_t)fake_rank_submit(first->comm->rank, first->stream, messages, count);
    }
    return code;
}

static uint32_t submit_all(void)
{
    bool taken[FAKE_GROUP_MAX] = {false};
    uint32_t code = FAKE_RANKS_OK;
    for (int i = 0; i < group.count && !code; i++) {
        if (!taken[i]) {
            code = submit_of(&group.entries[i], taken);
        }
    }
    return code ? fail(code, "a stream refuses work") : code;
}

/* As NCCL connects ranks at their first call. All of the group's have to be waited for at once. */
static uint32_t connect_all(void)
{
    uint32_t code = FAKE_RANKS_OK;
    if (!fake_setting("FAKE_COMM_CONNECT", 0)) {
        return code;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < group.count && !code; i++) {
            nccl_handle comm = group.entries[i].comm;
            if (pass == 0 && !comm->connected) {
                fake_rank_present(comm->rank);
            } else if (!comm->connected) {
                code = (uint32_t)fake_rank_connect(comm->rank);
                comm->connected = code == FAKE_RANKS_OK;
            }
        }
    }
    return code ? fail(code, "connecting was aborted") : code;
}

uint32_t ncclGroupStart(void)
{
    group.depth++;
    return FAKE_RANKS_OK;
}

uint32_t ncclGroupEnd(void)
{
    if (group.depth == 0) {
        return fail(FAKE_RANKS_USAGE, "not in a group");
    }
    if (--group.depth > 0) {
        return FAKE_RANKS_OK;
    }
    uint32_t code = group.error;
    if (group.inits > 0) {
        const uint32_t joined = join_all();
        code = code ? code : joined;
    }
    if (!code) {
        code = connect_all();
    }
    if (!code) {
        code = submit_all();
    }
    for (int i = 0; i < group.count; i++) {
        (void)__atomic_fetch_sub(&group.entries[i].comm->users, 1, __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < group.drops; i++) {
        drop(group.dropped[i]);
    }
    group.inits = group.count = group.drops = 0;
    group.error = FAKE_RANKS_OK;
    return code;
}

/* ---- communicators --------------------------------------------------------------------------- */

uint32_t ncclCommInitRank(nccl_handle *comm, int ranks, nccl_id id, int rank)
{
    fake_context *context = current_context();
    if (!comm || ranks < 1 || ranks > FAKE_RANKS_MAX || rank < 0 || rank >= ranks ||
        id.bytes[0] != '/') {
        return fail(FAKE_RANKS_ARGUMENT, "Invalid rank requested : %d/%d", rank, ranks);
    }
    if (!context || fake_context_error(context)) {
        return fail(FAKE_RANKS_DRIVER, "Cuda failure %d",
                    context ? fake_context_error(context) : 0);
    }
    nccl_handle made = calloc(1, sizeof *made);
    if (!made || group.inits == INITS_MAX) {
        free(made);
        return fail(FAKE_RANKS_SYSTEM, "no memory");
    }
    made->rank = fake_rank_new(context, id.bytes, ranks, rank);
    if (!made->rank) {
        free(made);
        return fail(FAKE_RANKS_SYSTEM, "no shared memory");
    }
    made->alive = ALIVE;
    made->joining = true;
    (void)ncclGroupStart();
    group.joining[group.inits++] = made;
    __atomic_store_n(comm, made, __ATOMIC_SEQ_CST); /* before it has joined, as NCCL does */
    return ncclGroupEnd();
}

static bool dead(nccl_handle comm)
{
    if (comm && comm->alive == ALIVE) {
        return false;
    }
    fprintf(stderr, "fake: %p is no communicator\n", (void *)comm);
    return true;
}

uint32_t ncclCommAbort(nccl_handle comm)
{
    if (dead(comm)) {
        return FAKE_RANKS_ARGUMENT;
    }
    fake_rank_abort(comm->rank); /* at once */
    (void)ncclGroupStart();
    if (group.drops < INITS_MAX) {
        group.dropped[group.drops++] = comm;
    }
    return ncclGroupEnd();
}

uint32_t ncclCommDestroy(nccl_handle comm)
{
    if (dead(comm)) {
        return FAKE_RANKS_ARGUMENT;
    }
    comm_free(comm);
    return FAKE_RANKS_OK;
}

uint32_t ncclCommGetAsyncError(nccl_handle comm, uint32_t *code)
{
    if (dead(comm)) {
        return FAKE_RANKS_ARGUMENT;
    }
    const uint32_t own = (uint32_t)fake_rank_error(comm->rank);
    *code = own ? own : (uint32_t)fake_setting("FAKE_COMM_ERROR", 0);
    if (*code) {
        (void)fail(*code, "found by the stand-in");
    }
    return FAKE_RANKS_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool fits(nccl_handle comm, const void *at, size_t elements, size_t size, const char *what)
{
    fake_range range;
    if ((uintptr_t)at % size == 0 && fake_is_device(at, elements * size) &&
        fake_memory_find(at, &range) && range.context == fake_rank_context(comm->rank)) {
        return true;
    }
    fprintf(stderr,
            "fake: %s of a communicator: %zu elements of %zu bytes at %p are not memory of "
            "its device\n",
            what, elements, size, at);
    return false;
}

static bool operands_fit(nccl_handle comm, const fake_call *call)
{
    const size_t ranks = (size_t)fake_rank_count(comm->rank);
    const size_t size = fake_rank_type_bytes(call->type);
    const bool all_from = call->kind == FAKE_REDUCE_SCATTER || call->kind == FAKE_ALL_TO_ALL;
    const bool all_to = call->kind == FAKE_ALL_GATHER || call->kind == FAKE_ALL_TO_ALL;
    return (call->kind == FAKE_RECEIVE ||
            fits(comm, call->from, call->count * (all_from ? ranks : 1), size, "from")) &&
           (call->kind == FAKE_SEND ||
            fits(comm, call->to, call->count * (all_to ? ranks : 1), size, "to"));
}

static uint32_t injected(nccl_handle comm)
{
    if (fake_setting("FAKE_COMM_LOST", 0)) {
        fake_context_break(fake_rank_context(comm->rank), FAKE_ILLEGAL_ADDRESS);
        return fail(FAKE_RANKS_DRIVER, "Cuda failure 'an illegal memory access'");
    }
    const uint32_t code = (uint32_t)fake_setting("FAKE_COMM_FAIL", 0);
    return code ? fail(code, "refused by the stand-in") : code;
}

static uint32_t add(nccl_handle comm, void *stream, const fake_call *call)
{
    fake_stream *own = stream;
    enum { MEAN = 4 };
    if (dead(comm)) {
        return FAKE_RANKS_ARGUMENT;
    }
    const uint32_t code = injected(comm);
    if (code) {
        return code;
    }
    if (!own) {
        own = fake_stream_default(fake_rank_context(comm->rank));
    }
    if (!fake_stream_known(own) || fake_stream_context(own) != fake_rank_context(comm->rank)) {
        return fail(FAKE_RANKS_ARGUMENT, "the stream is not one of the communicator's device");
    }
    if (call->peer < 0 || call->peer >= fake_rank_count(comm->rank) || call->reduce > MEAN ||
        !fake_rank_type_bytes(call->type) || !operands_fit(comm, call)) {
        return fail(FAKE_RANKS_ARGUMENT, "an argument is impossible");
    }
    if (group.count == FAKE_GROUP_MAX) {
        return fail(FAKE_RANKS_SYSTEM, "too many calls in a group");
    }
    (void)__atomic_fetch_add(&comm->users, 1, __ATOMIC_SEQ_CST);
    group.entries[group.count++] = (entry){.comm = comm, .stream = own, .call = *call};
    return FAKE_RANKS_OK;
}

/* A call outside of a group is a group. */
static uint32_t call_on(nccl_handle comm, void *stream, const fake_call *call)
{
    (void)ncclGroupStart();
    const uint32_t code = add(comm, stream, call);
    if (code) {
        group.error = code;
    }
    const uint32_t end = ncclGroupEnd();
    return code ? code : end;
}

uint32_t ncclBroadcast(const void *from, void *to, size_t count, uint32_t type, int root,
                       nccl_handle comm, nccl_stream stream)
{
    const fake_call call = {FAKE_BROADCAST, type, 0, root, count, from, to};
    return call_on(comm, stream, &call);
}

uint32_t ncclAllReduce(const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,
                       nccl_handle comm, nccl_stream stream)
{
    const fake_call call = {FAKE_ALL_REDUCE, type, reduce, 0, count, from, to};
    return call_on(comm, stream, &call);
}

uint32_t ncclReduceScatter(const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,
                           nccl_handle comm, nccl_stream stream)
{
    const fake_call call = {FAKE_REDUCE_SCATTER, type, reduce, 0, count, from, to};
    return call_on(comm, stream, &call);
}

uint32_t ncclAllGather(const void *from, void *to, size_t count, uint32_t type, nccl_handle comm,
                       nccl_stream stream)
{
    const fake_call call = {FAKE_ALL_GATHER, type, 0, 0, count, from, to};
    return call_on(comm, stream, &call);
}

uint32_t ncclAlltoAll(const void *from, void *to, size_t count, uint32_t type, nccl_handle comm,
                      nccl_stream stream)
{
    const fake_call call = {FAKE_ALL_TO_ALL, type, 0, 0, count, from, to};
    return call_on(comm, stream, &call);
}

#if defined(FAKE_RCCL)
uint32_t ncclAllToAll(const void *from, void *to, size_t count, uint32_t type, nccl_handle comm,
                      nccl_stream stream)
{
    return ncclAlltoAll(from, to, count, type, comm, stream);
}
#endif

uint32_t ncclSend(const void *from, size_t count, uint32_t type, int peer, nccl_handle comm,
                  nccl_stream stream)
{
    const fake_call call = {FAKE_SEND, type, 0, peer, count, from, NULL};
    return call_on(comm, stream, &call);
}

uint32_t ncclRecv(void *to, size_t count, uint32_t type, int peer, nccl_handle comm,
                  nccl_stream stream)
{
    const fake_call call = {FAKE_RECEIVE, type, 0, peer, count, NULL, to};
    return call_on(comm, stream, &call);
}
