/* SPDX-License-Identifier: Apache-2.0 */
/* rccl.c - librccl.so over libnccl.so. The functions of both have the same names, and numbers mean
 * the same. Every call is made with the thread's device, which NCCL reads when it joins. There is
 * no all-to-all, as in an old library, so the engine's own is used. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(result, name, parameters) OVER_API result name parameters;
HIP_RCCL_SYMBOLS(DECLARE, DECLARE)

/* NCCL's functions. */
#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    SIMT_COMM_SYMBOLS(MEMBER, MEMBER, lib, nccl)
} nccl;

enum { OK = 0, INTERNAL_ERROR = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

#define REQUIRED(result, name, parameters) {#name, (void *)&nccl.name, true},
#define OPTIONAL(result, name, parameters) {#name, (void *)&nccl.name, false},

static void start(void)
{
    static const char *const names[] = {"libnccl.so.2", NULL};
    over_symbol symbols[] = {SIMT_COMM_SYMBOLS(REQUIRED, OPTIONAL, lib, nccl)};
    enum { COUNT = (int)(sizeof symbols / sizeof symbols[0]) };
    static char texts[COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "nccl%s", symbols[i].name + sizeof "lib" - 1);
        symbols[i].name = texts[i];
    }
    usable = over_open(names, symbols, COUNT);
}

static bool ready(void)
{
    (void)pthread_once(&once, start);
    return usable;
}

/* Calls NCCL with the thread's device. */
#define ON_DEVICE(call)                                                                            \
    do {                                                                                           \
        uint32_t code_ = !ready() || over_enter() ? INTERNAL_ERROR : OK;                           \
        if (code_ == OK) {                                                                         \
            code_ = (call);                                                                        \
            over_leave();                                                                          \
        }                                                                                          \
        return code_;                                                                              \
    } while (0)

uint32_t ncclGetVersion(int *version)
{
    return ready() ? nccl.libGetVersion(version) : INTERNAL_ERROR;
}

const char *ncclGetErrorString(uint32_t code)
{
    return ready() ? nccl.libGetErrorString(code) : "NCCL was not found";
}

const char *ncclGetLastError(rccl_handle comm)
{
    return ready() && nccl.libGetLastError ? nccl.libGetLastError(comm) : "";
}

uint32_t ncclGetUniqueId(rccl_id *id)
{
    return ready() ? nccl.libGetUniqueId((nccl_id *)(void *)id) : INTERNAL_ERROR;
}

uint32_t ncclCommInitRank(rccl_handle *comm, int ranks, rccl_id id, int rank)
{
    nccl_id own;
    memcpy(&own, &id, sizeof own);
    ON_DEVICE(nccl.libCommInitRank(comm, ranks, own, rank));
}

uint32_t ncclCommDestroy(rccl_handle comm)
{
    ON_DEVICE(nccl.libCommDestroy(comm));
}

uint32_t ncclCommAbort(rccl_handle comm)
{
    ON_DEVICE(nccl.libCommAbort(comm));
}

uint32_t ncclCommGetAsyncError(rccl_handle comm, uint32_t *code)
{
    return ready() ? nccl.libCommGetAsyncError(comm, code) : INTERNAL_ERROR;
}

uint32_t ncclGroupStart(void)
{
    return ready() ? nccl.libGroupStart() : INTERNAL_ERROR;
}

uint32_t ncclGroupEnd(void)
{
    ON_DEVICE(nccl.libGroupEnd());
}

uint32_t ncclBroadcast(const void *from, void *to, size_t count, uint32_t type, int root,
                       rccl_handle comm, rccl_stream stream)
{
    ON_DEVICE(nccl.libBroadcast(from, to, count, type, root, comm, (nccl_stream)(void *)stream));
}

uint32_t ncclAllReduce(const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,
                       rccl_handle comm, rccl_stream stream)
{
    ON_DEVICE(nccl.libAllReduce(from, to, count, type, reduce, comm, (nccl_stream)(void *)stream));
}

uint32_t ncclReduceScatter(const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,
                           rccl_handle comm, rccl_stream stream)
{
    ON_DEVICE(
        nccl.libReduceScatter(from, to, count, type, reduce, comm, (nccl_stream)(void *)stream));
}

uint32_t ncclAllGather(const void *from, void *to, size_t count, uint32_t type, rccl_handle comm,
                       rccl_stream stream)
{
    ON_DEVICE(nccl.libAllGather(from, to, count, type, comm, (nccl_stream)(void *)stream));
}

uint32_t ncclSend(const void *from, size_t count, uint32_t type, int peer, rccl_handle comm,
                  rccl_stream stream)
{
    ON_DEVICE(nccl.libSend(from, count, type, peer, comm, (nccl_stream)(void *)stream));
}

uint32_t ncclRecv(void *to, size_t count, uint32_t type, int peer, rccl_handle comm,
                  rccl_stream stream)
{
    ON_DEVICE(nccl.libRecv(to, count, type, peer, comm, (nccl_stream)(void *)stream));
}
