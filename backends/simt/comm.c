/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.c - calls of a vendor's library that moves data between ranks. comm_join.c makes and ends
 * communicators.
 *
 * The library restores a thread's current device, but not that a thread had none. So every call of
 * it is made with a device current; which one does not matter, except in joining.
 */
#include "backends/simt/comm.h"

#include <stdio.h>
#include <string.h>

static const iso_host *host_of(const simt_comm *table)
{
    return *table->host;
}

/* ---- the library and its errors -------------------------------------------------------------- */

bool simt_comm_accept(simt_library *library, const simt_comm *table)
{
    /* Before 2.9 the parts of a version had other places. */
    enum { MAJOR = 10000, MINOR = 100, MAJOR_BEFORE = 1000, FIRST = 20900 };
    int version = 0;
    (void)table->api->libGetVersion(&version);
    const int major = version >= FIRST ? MAJOR : MAJOR_BEFORE;
    (void)snprintf(library->label, sizeof library->label, "%s %d.%d.%d", library->loader.title,
                   version / major, version % major / MINOR, version % MINOR);
    if (version < SIMT_COMM_VERSION_LEAST) {
        char why[2 * ISO_NAME_MAX];
        (void)snprintf(why, sizeof why,
                       "this is %s, but the oldest usable version is " SIMT_COMM_OLDEST,
                       library->label);
        loader_note(&library->loader, library->loader.path, why);
        library->loader.refused++;
        loader_close(&library->loader);
        return false;
    }
    return true;
}

iso_status simt_comm_open(const simt_comm *table, char *label, int64_t capacity)
{
    const char *found = simt_library_label(table->library);
    if (!found) {
        char purpose[ISO_NAME_MAX];
        (void)snprintf(purpose, sizeof purpose, "engine %s: ", table->engine);
        return loader_fail(&table->library->loader, ISO_UNAVAILABLE, purpose);
    }
    if (label) {
        (void)snprintf(label, (size_t)capacity, "%s", found);
    }
    return ISO_OK;
}

const char *simt_comm_last(const simt_comm *table, uint32_t code)
{
    const simt_comm_api *api = table->api;
    const char *text = api->libGetLastError ? api->libGetLastError(NULL) : NULL;
    return text && text[0] ? text : api->libGetErrorString(code);
}

iso_status simt_comm_check(const simt_comm *table, simt_device *device, uint32_t code,
                           const char *name, const char *last)
{
    if (code == SIMT_COMM_DONE) {
        return ISO_OK;
    }
    char what[128];
    const char *known = code < SIMT_COMM_CODE_COUNT ? table->code_names[code] : NULL;
    const char *text = last ? last : simt_comm_last(table, code);
    (void)snprintf(what, sizeof what, "%s%s gives %s (%u)", table->prefix, name,
                   known ? known : "an unknown result", code);
    const iso_status status = device ? table->lost(device, what) : ISO_OK;
    if (status) {
        return status;
    }
    return host_of(table)->fail(ISO_BACKEND, "%s%s%s%s", what, text ? ": " : "", text ? text : "",
                                code == SIMT_COMM_REMOTE_ERROR ? "; another rank failed" : "");
}

/* ---- what the library has -------------------------------------------------------------------- */

/* The library's numbers plus 1; 0: it has none. */
static const uint8_t types[] = {
    [ISO_F16] = SIMT_COMM_F16 + 1, [ISO_BF16] = SIMT_COMM_BF16 + 1, [ISO_F32] = SIMT_COMM_F32 + 1,
    [ISO_F64] = SIMT_COMM_F64 + 1, [ISO_I32] = SIMT_COMM_I32 + 1,   [ISO_I64] = SIMT_COMM_I64 + 1,
};
static const uint8_t reductions[] = {
    [0] = SIMT_COMM_SUM + 1,
    [ISO_SUM] = SIMT_COMM_SUM + 1,
    [ISO_PRODUCT] = SIMT_COMM_PRODUCT + 1,
    [ISO_MIN] = SIMT_COMM_MIN + 1,
    [ISO_MAX] = SIMT_COMM_MAX + 1,
    [ISO_MEAN] = SIMT_COMM_MEAN + 1,
};
enum {
    TYPES = (int)(sizeof types / sizeof types[0]),
    REDUCTIONS = (int)(sizeof reductions / sizeof reductions[0])
};

/* The functions without their prefix, for messages. */
static const char *const functions[] = {
    [ISO_COMM_BARRIER] = "AllReduce",
    [ISO_COMM_BROADCAST] = "Broadcast",
    [ISO_COMM_ALL_REDUCE] = "AllReduce",
    [ISO_COMM_REDUCE_SCATTER] = "ReduceScatter",
    [ISO_COMM_ALL_GATHER] = "AllGather",
    [ISO_COMM_ALL_TO_ALL] = "AlltoAll",
    [ISO_COMM_SEND] = "Send",
    [ISO_COMM_RECEIVE] = "Recv",
};
enum { OPS = (int)(sizeof functions / sizeof functions[0]) };

static bool reduces(iso_comm_op op)
{
    return op == ISO_COMM_ALL_REDUCE || op == ISO_COMM_REDUCE_SCATTER;
}

iso_status simt_comm_supports(const iso_engine_call *call)
{
    const simt_comm_rank *rank = call->rank;
    const iso_host *host = host_of(rank->table);
    const char *engine = rank->table->engine;
    if ((int)call->op < 1 || (int)call->op >= OPS) {
        return host->fail(ISO_UNSUPPORTED, "engine %s: op is %d, but it has no such operation",
                          engine, (int)call->op);
    }
    if (call->op == ISO_COMM_BARRIER) {
        return ISO_OK;
    }
    if ((int)call->dtype < 1 || (int)call->dtype >= TYPES || !types[call->dtype]) {
        return host->fail(ISO_UNSUPPORTED, "engine %s: dtype is %d, but it has no such type",
                          engine, (int)call->dtype);
    }
    if (!reduces(call->op)) {
        return ISO_OK;
    }
    if ((int)call->reduce < 0 || (int)call->reduce >= REDUCTIONS || !reductions[call->reduce]) {
        const char *name = iso_reduce_op_name(call->reduce);
        return host->fail(ISO_UNSUPPORTED,
                          "engine %s: %s has no %s over ranks: it has sum, product, min, max and "
                          "mean; use ordered sums",
                          engine, rank->table->library->loader.title,
                          name ? name : "such reduction");
    }
    if (call->reduce == ISO_MEAN && (call->dtype == ISO_I32 || call->dtype == ISO_I64)) {
        return host->fail(ISO_UNSUPPORTED,
                          "engine %s: there is no mean of %s: a mean is of a floating-point type",
                          engine, iso_dtype_name(call->dtype));
    }
    return ISO_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

iso_status simt_comm_begin(simt_comm_rank *rank)
{
    (void)atomic_fetch_add(&rank->busy, 1);
    if (!atomic_load(&rank->aborted)) {
        return ISO_OK;
    }
    simt_comm_end(rank);
    return host_of(rank->table)
        ->fail(ISO_UNAVAILABLE,
               "engine %s: the communicator of rank %d was "
               "aborted: destroy it",
               rank->table->engine, rank->rank);
}

void simt_comm_end(simt_comm_rank *rank)
{
    (void)atomic_fetch_sub(&rank->busy, 1);
}

/* All-to-all of a library without a function for it. */
static uint32_t exchange(const simt_comm_api *api, const simt_comm_rank *rank, const char *from,
                         char *to, const iso_engine_call *call)
{
    const uint32_t type = types[call->dtype] - 1u;
    const int64_t part = call->count * iso_dtype_size(call->dtype);
    void *stream = ((simt_stream *)call->stream)->native;
    uint32_t code = api->libGroupStart();
    if (code != SIMT_COMM_DONE) {
        return code;
    }
    for (int32_t i = 0; i < rank->ranks && code == SIMT_COMM_DONE; i++) {
        code = api->libSend(from + i * part, (size_t)call->count, type, i, rank->comm, stream);
        if (code == SIMT_COMM_DONE) {
            code = api->libRecv(to + i * part, (size_t)call->count, type, i, rank->comm, stream);
        }
    }
    const uint32_t end = api->libGroupEnd(); /* after a failure too: it empties the group */
    return code != SIMT_COMM_DONE ? code : end;
}

static uint32_t make_call(const iso_engine_call *call)
{
    const simt_comm_rank *rank = call->rank;
    const simt_comm_api *api = rank->table->api;
    void *comm = rank->comm;
    void *stream = ((simt_stream *)call->stream)->native;
    const char *from = call->from ? (const char *)call->from + call->from_offset : NULL;
    char *to = call->to ? (char *)call->to + call->to_offset : NULL;
    const size_t count = (size_t)call->count;
    if (call->op == ISO_COMM_BARRIER) {
        return api->libAllReduce(rank->mark, rank->mark, 1, SIMT_COMM_I8, SIMT_COMM_MAX, comm,
                                 stream);
    }
    const uint32_t type = types[call->dtype] - 1u;
    switch (call->op) {
    case ISO_COMM_BROADCAST:
        return api->libBroadcast(from ? from : to, to, count, type, call->peer, comm, stream);
    case ISO_COMM_ALL_REDUCE:
        return api->libAllReduce(from, to, count, type, reductions[call->reduce] - 1u, comm,
                                 stream);
    case ISO_COMM_REDUCE_SCATTER:
        return api->libReduceScatter(from, to, count, type, reductions[call->reduce] - 1u, comm,
                                     stream);
    case ISO_COMM_ALL_GATHER:
        return api->libAllGather(from, to, count, type, comm, stream);
    case ISO_COMM_ALL_TO_ALL:
        return api->libAlltoAll ? api->libAlltoAll(from, to, count, type, comm, stream)
                                : exchange(api, rank, from, to, call);
    case ISO_COMM_SEND:
        return api->libSend(from, count, type, call->peer, comm, stream);
    case ISO_COMM_RECEIVE:
        return api->libRecv(to, count, type, call->peer, comm, stream);
    default:
        return SIMT_COMM_INVALID_ARGUMENT;
    }
}

/* Makes the calls, as a group if there are several. *at is the one that failed; `count`: the group
 * did. */
static uint32_t make_calls(const simt_comm_api *api, const iso_engine_call *calls, int32_t count,
                           int32_t *at)
{
    *at = 0;
    if (count == 1) {
        return make_call(calls);
    }
    uint32_t code = api->libGroupStart();
    if (code != SIMT_COMM_DONE) {
        *at = count;
        return code;
    }
    for (int32_t i = 0; i < count && code == SIMT_COMM_DONE; i++) {
        *at = i;
        code = make_call(&calls[i]);
    }
    const uint32_t end = api->libGroupEnd(); /* after a failure too: it empties the group */
    if (code == SIMT_COMM_DONE) {
        *at = count;
        code = end;
    }
    return code;
}

/* A failed call. If it failed because the communicator was aborted, that is the reason. */
static iso_status call_failed(const iso_engine_call *calls, int32_t count, int32_t at,
                              uint32_t code)
{
    const simt_comm *table = ((simt_comm_rank *)calls[0].rank)->table;
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < count; i++) {
        simt_comm_rank *rank = calls[i].rank;
        atomic_store(&rank->failed, true);
        if (!status && !(status = simt_comm_begin(rank))) {
            simt_comm_end(rank);
        }
    }
    for (int32_t i = 0; i < count && !status; i++) {
        simt_device *device = ((simt_comm_rank *)calls[i].rank)->device;
        if (at == i || at == count) {
            const char *name = at < count ? functions[calls[at].op] : "GroupEnd";
            status = simt_comm_check(table, device, code, name, NULL);
        }
        if (status == ISO_BACKEND && at == count && i + 1 < count) {
            status = ISO_OK; /* perhaps the device of another call is lost */
        }
    }
    return status;
}

iso_status simt_comm_submit(const iso_engine_call *calls, int32_t count)
{
    simt_comm_rank *first = calls[0].rank;
    int32_t begun = 0, at = 0;
    iso_status status = ISO_OK;
    while (begun < count && !(status = simt_comm_begin(calls[begun].rank))) {
        begun++;
    }
    if (!status) {
        simt_scope scope;
        uint32_t code = SIMT_COMM_DONE;
        status = simt_vendor_enter(first->device, &scope);
        if (!status) {
            code = make_calls(first->table->api, calls, count, &at);
        }
        simt_vendor_leave(first->device, scope);
        if (code != SIMT_COMM_DONE) {
            status = call_failed(calls, count, at, code);
        }
    }
    while (begun > 0) {
        simt_comm_end(calls[--begun].rank);
    }
    return status;
}

iso_status simt_comm_query(void *of)
{
    simt_comm_rank *rank = of;
    uint32_t found = SIMT_COMM_DONE;
    iso_status status = simt_comm_begin(rank);
    if (status) {
        return status;
    }
    const uint32_t code = rank->table->api->libCommGetAsyncError(rank->comm, &found);
    if (code != SIMT_COMM_DONE || (found != SIMT_COMM_DONE && found != SIMT_COMM_IN_PROGRESS)) {
        atomic_store(&rank->failed, true);
        status = simt_comm_check(rank->table, rank->device, code ? code : found,
                                 "CommGetAsyncError", NULL);
    }
    simt_comm_end(rank);
    return status;
}
