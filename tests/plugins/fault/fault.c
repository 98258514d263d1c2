/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c - a plug-in that misbehaves on demand: the reference plug-in behind a layer of faults.
 *
 * Faults at loading are chosen at build time (-DFAULT_BUILT_IN="name"); all others by ISOMER_FAULT,
 * which is read at every call:
 *
 *   probe-fails        probe returns BACKEND             no-device     probe finds no device
 *   open-fails         device_open returns BACKEND       stream-fails  stream_create does
 *   no-gemm            supports refuses products         alloc:N       the N-th host->alloc fails
 *   no-small-tiles     device_open returns BACKEND while ISOMER_TILES is set, which the device has
 *   execute-fails      execute returns BACKEND           late-error    stream_sync does, later
 *   device-lost        stream_sync returns DEVICE_LOST   never-ready   queries never return OK
 *   wrong-result       one element of a result is wrong
 *   unsupported        execute returns UNSUPPORTED although supports returned OK
 *   no-words           execute fails and gives no reason
 *   odd-status         execute returns a number that is not a status
 *   aborts             execute ends the process, as some drivers do
 *   huge-workspace     requests more scratch memory than there is
 *   slow-execute       execute begins two seconds late
 *   prefers-fixed      says that fixed products are faster, although they are not
 *   graph-open, graph-begin, graph-end, graph-memory
 *                      graphs fail when they are opened, begun or ended; with NO_MEMORY at the end
 *   escapes            all its texts contain characters that control a terminal
 *   escapes-probe      ... and probe fails with such a text
 *   escapes-execute    ... and execute does
 */
#include "tests/plugins/reference/reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reference plug-in's query, which is renamed in this build. */
const iso_backend *reference_query(uint32_t host_abi, const iso_host *host);

static const iso_host *real_host;
static const iso_backend *reference;

static const char *fault(void)
{
#if defined(FAULT_BUILT_IN)
    return FAULT_BUILT_IN;
#else
    const char *name = getenv("ISOMER_FAULT");
    return name ? name : "";
#endif
}

static int fault_is(const char *name)
{
    return strcmp(fault(), name) == 0;
}

/* ---- Allocation ------------------------------------------------------------------------------ */

/* Whether this call is the N-th since ISOMER_FAULT was set to "alloc:N". */
static int allocation_fails(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char counted[32];
    static long calls;
    int fails = 0;
    const char *name = fault();

    pthread_mutex_lock(&lock);
    if (strncmp(counted, name, sizeof(counted) - 1) != 0) {
        strncpy(counted, name, sizeof(counted) - 1);
        calls = 0;
    }
    if (strncmp(name, "alloc:", 6) == 0) {
        calls++;
        fails = calls == strtol(name + 6, NULL, 10);
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

static void *faulty_alloc(int64_t bytes)
{
    if (allocation_fails()) {
        real_host->fail(ISO_NO_MEMORY, "no memory for %lld bytes", (long long)bytes);
        return NULL;
    }
    return real_host->alloc(bytes);
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* A colour, a title, a C1 control, a direction mark, invalid UTF-8, a newline, a carriage return.
 */
#define ESCAPES "\033[31m\033]0;t\a\302\233m\342\200\256\377\nisomer: forged\r\b\177"

static int escapes(void)
{
    return strncmp(fault(), "escapes", 7) == 0;
}

/* ESCAPES after a text that makes it unique. */
static void put_escapes(char *text, size_t room, const char *what)
{
    snprintf(text, room, "%s%s", what, ESCAPES);
}

static iso_status device_info(int32_t index, iso_device_info *out)
{
    const iso_status status = reference->device_info(index, out);
    if (status == ISO_OK && escapes()) {
        put_escapes(out->name, sizeof(out->name), "name");
        put_escapes(out->vendor, sizeof(out->vendor), "vendor");
        put_escapes(out->uuid, sizeof(out->uuid), "uuid");
        put_escapes(out->architecture, sizeof(out->architecture), "architecture");
        put_escapes(out->driver, sizeof(out->driver), "driver");
        put_escapes(out->runtime, sizeof(out->runtime), "runtime");
    }
    if (status == ISO_OK && fault_is("no-small-tiles")) {
        out->features |= ISO_FEATURE_COMPILES;
    }
    return status;
}

static iso_status device_property(void *device, int32_t index, iso_property *out)
{
    if (!escapes()) {
        return reference->device_property(device, index, out);
    }
    if (index > 0) {
        return ISO_NOT_READY;
    }
    put_escapes(out->name, sizeof(out->name), "property");
    put_escapes(out->value, sizeof(out->value), "value");
    real_host->log(ISO_LOG_ERROR, "said %s", ESCAPES);
    return ISO_OK;
}

static iso_status telemetry(void *device, iso_telemetry *out)
{
    (void)device;
    if (!escapes()) {
        return ISO_UNSUPPORTED;
    }
    out->clock_mhz = 1;
    put_escapes(out->source, sizeof(out->source), "source");
    put_escapes(out->partition, sizeof(out->partition), "part");
    return ISO_OK;
}

static iso_status describe(void *device, const iso_op *op, iso_op_info *out)
{
    const iso_status status = reference->describe ? reference->describe(device, op, out) : ISO_OK;
    if (status == ISO_OK && escapes()) {
        put_escapes(out->library, sizeof(out->library), "library");
        put_escapes(out->kernel, sizeof(out->kernel), "kernel");
    }
    return status;
}

static iso_status probe(iso_probe *out)
{
    if (fault_is("probe-fails")) {
        return real_host->fail(ISO_BACKEND, "faultInit answered 3 (NOT_INITIALIZED)");
    }
    if (fault_is("escapes-probe")) {
        return real_host->fail(ISO_BACKEND, "probe said %s", ESCAPES);
    }
    if (fault_is("no-device")) {
        out->state = ISO_STATE_NO_DEVICE;
        out->devices = 0;
        strcpy(out->reason, "faultDeviceCount answered 0");
        return ISO_OK;
    }
    return reference->probe(out);
}

static iso_status device_open(int32_t index, void **device)
{
    if (fault_is("open-fails") || (fault_is("no-small-tiles") && getenv("ISOMER_TILES"))) {
        return real_host->fail(ISO_BACKEND, "faultOpen answered 4 (BUSY)");
    }
    return reference->device_open(index, device);
}

/* ---- Streams: a stream of the reference plug-in, and its error ------------------------------- */

typedef struct stream {
    void *inner;
    atomic_int broken; /* its late error; ISO_OK while it has none */
} stream;

static void *inner(void *outer)
{
    return ((const stream *)outer)->inner;
}

static iso_status state_of(stream *s)
{
    const iso_status status = (iso_status)atomic_load(&s->broken);
    switch (status) {
    case ISO_OK:
        return ISO_OK;
    case ISO_DEVICE_LOST:
        return real_host->fail(status, "faultSync answered 9 (GONE)");
    default:
        return real_host->fail(status, "faultSync answered 7 (LAUNCH_FAILED)");
    }
}

static iso_status stream_create(void *device, uint32_t flags, void **out)
{
    if (fault_is("stream-fails")) {
        return real_host->fail(ISO_BACKEND, "faultStreamCreate answered 5 (LIMIT)");
    }
    stream *made = faulty_alloc((int64_t)sizeof(*made));
    if (!made) {
        return ISO_NO_MEMORY;
    }
    atomic_init(&made->broken, ISO_OK);
    const iso_status status = reference->stream_create(device, flags, &made->inner);
    if (status != ISO_OK) {
        real_host->free(made);
        return status;
    }
    *out = made;
    return ISO_OK;
}

static void stream_destroy(void *outer)
{
    reference->stream_destroy(inner(outer));
    real_host->free(outer);
}

static iso_status stream_sync(void *outer)
{
    return state_of(outer);
}

static iso_status stream_query(void *outer)
{
    if (fault_is("never-ready")) {
        return ISO_NOT_READY;
    }
    return state_of(outer);
}

static iso_status event_record(void *event, void *outer)
{
    return reference->event_record(event, inner(outer));
}

static iso_status stream_wait(void *outer, void *event)
{
    return reference->stream_wait(inner(outer), event);
}

static iso_status event_query(void *event)
{
    return fault_is("never-ready") ? ISO_NOT_READY : reference->event_query(event);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static iso_status transfer(void *outer, const iso_transfer *t)
{
    stream *s = outer;
    return atomic_load(&s->broken) == ISO_OK ? reference->transfer(s->inner, t) : ISO_OK;
}

static iso_status copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                            int64_t bytes)
{
    return reference->copy_peer(inner(to_stream), to, inner(from_stream), from, bytes);
}

static iso_status supports(void *device, const iso_op *op)
{
    if (fault_is("no-gemm") && op->kind == ISO_OP_GEMM) {
        return real_host->fail(ISO_UNSUPPORTED, "there are no products here");
    }
    if (escapes() && op->kind == ISO_OP_GEMM) {
        return real_host->fail(ISO_UNSUPPORTED, "no products: %s", ESCAPES);
    }
    if (fault_is("older-minor") &&
        (op->kind == ISO_OP_MAP || (op->kind == ISO_OP_REDUCE && op->reduce->op >= ISO_XOR))) {
        abort(); /* these were added in minors 2, 5 and 13 */
    }
    return reference->supports(device, op);
}

static iso_status workspace(void *device, const iso_op *op, int64_t *bytes)
{
    if (fault_is("huge-workspace")) {
        *bytes = INT64_C(1) << 60;
        return ISO_OK;
    }
    return reference->workspace(device, op, bytes);
}

/* Changes the highest byte of the first element of the result. */
static void spoil(const iso_op *op)
{
    if (op->kind == ISO_OP_GEMM) {
        const iso_dtype dtype = op->gemm->dtype;
        ref_at(op->gemm->c)[dtype == ISO_F64 ? 7 : dtype == ISO_F32 ? 3 : 1] ^= 0x40;
    } else if (op->kind == ISO_OP_TRANSPOSE) {
        ref_at(op->transpose->to)[op->transpose->element_bytes - 1] ^= 0x40;
    } else if (op->kind == ISO_OP_MAP) {
        ref_at(op->map->z)[1] ^= 0x40;
    } else {
        ref_at(op->reduce->result)[1] ^= 0x40;
    }
}

static iso_status execute(void *outer, const iso_op *op)
{
    stream *s = outer;
    if (atomic_load(&s->broken) != ISO_OK) {
        return ISO_OK; /* accepted and dropped: the next synchronisation reports it */
    }
    if (fault_is("late-error")) {
        atomic_store(&s->broken, ISO_BACKEND);
        return ISO_OK;
    }
    if (fault_is("device-lost")) {
        atomic_store(&s->broken, ISO_DEVICE_LOST);
        return ISO_OK;
    }
    if (fault_is("execute-fails")) {
        return real_host->fail(ISO_BACKEND, "faultLaunch answered 6 (BAD_KERNEL)");
    }
    if (fault_is("escapes-execute")) {
        return real_host->fail(ISO_BACKEND, "execute said %s", ESCAPES);
    }
    if (fault_is("unsupported")) {
        return real_host->fail(ISO_UNSUPPORTED, "on second thoughts, no");
    }
    if (fault_is("no-words")) {
        return ISO_BACKEND;
    }
    if (fault_is("aborts")) {
        abort();
    }
    if (fault_is("odd-status")) {
        return (iso_status)77;
    }
    if (fault_is("slow-execute")) {
        (void)sleep(2);
    }
    const iso_status status = reference->execute(s->inner, op);
    if (status == ISO_OK && fault_is("wrong-result")) {
        spoil(op);
    }
    return status;
}

/* Only graphs that fail, after a stream took their work. */
static iso_status graph_open(void *device, void **graph)
{
    if (strncmp(fault(), "graph-", strlen("graph-")) != 0) {
        return real_host->fail(ISO_UNSUPPORTED, "graphs only fail here");
    }
    if (fault_is("graph-open")) {
        return real_host->fail(ISO_BACKEND, "faultGraph answered 8 (FULL)");
    }
    return stream_create(device, 0, graph);
}

static iso_status graph_begin(void *graph)
{
    (void)graph;
    return fault_is("graph-begin") ? real_host->fail(ISO_BACKEND, "faultBegin answered 10 (SHUT)")
                                   : ISO_OK;
}

static iso_status graph_end(void *graph)
{
    (void)graph;
    return fault_is("graph-memory")
               ? real_host->fail(ISO_NO_MEMORY, "no memory for the graph")
               : real_host->fail(ISO_UNSUPPORTED, "faultEnd answered 11 (TORN)");
}

/* No graph gets that far. */
static iso_status graph_launch(void *outer, void *graph)
{
    (void)outer;
    (void)graph;
    abort();
}

static void graph_close(void *graph)
{
    (void)reference->stream_sync(inner(graph));
    stream_destroy(graph);
}

static int32_t prefers_fixed(void *device, const iso_op *op)
{
    (void)device;
    (void)op;
    return fault_is("prefers-fixed");
}

static iso_status prepare(void *outer, const iso_op *op)
{
    (void)outer;
    (void)op;
    return ISO_OK;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* An entry of a newer core's table, which this plug-in must not touch. */
static void never_called(void)
{
    abort();
}

/* A plug-in for a newer minor: the table, and entries that the core does not know. */
static struct longer_table {
    iso_backend table;
    void (*newer[8])(void);
} longer;

/* A plug-in for an older minor: the table without its last, optional entries. It is allocated at
 * its exact size, so that a memory checker sees a read past its end. */
static const iso_backend *shortened(iso_backend *table, size_t bytes)
{
    static void *shorter;
    table->size = (uint32_t)bytes;
    if (!shorter) {
        shorter = malloc(bytes);
    }
    return shorter ? memcpy(shorter, table, bytes) : NULL;
}

static const iso_backend *faulty_table(void)
{
    iso_backend *table = &longer.table;

    if (fault_is("query-null")) {
        return NULL;
    }
    if (fault_is("wrong-major")) {
        table->abi_major += 1;
    } else if (fault_is("newer-minor")) {
        table->abi_minor += 7;
    } else if (fault_is("older-minor")) {
        table->abi_minor = 1;
    } else if (fault_is("no-execute")) {
        table->execute = NULL;
    } else if (fault_is("no-graph-launch")) {
        table->graph_launch = NULL;
    } else if (fault_is("wrong-name")) {
        table->name = "another";
    } else if (fault_is("no-name")) {
        table->name = NULL;
    } else if (fault_is("longer")) {
        table->size = (uint32_t)sizeof(longer);
        for (size_t i = 0; i < sizeof(longer.newer) / sizeof(longer.newer[0]); i++) {
            longer.newer[i] = never_called;
        }
    } else if (fault_is("shorter")) {
        return shortened(table, offsetof(iso_backend, prepare));
    } else if (fault_is("tiny")) {
        return shortened(table, offsetof(iso_backend, name));
    }
    return table;
}

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    static iso_host faulty_host;

    real_host = host;
    faulty_host = *host;
    faulty_host.size = (uint32_t)sizeof(faulty_host);
    faulty_host.alloc = faulty_alloc;
    reference = reference_query(host_abi, &faulty_host);
    if (!reference) {
        return NULL;
    }
    longer.table = *reference;
    longer.table.probe = probe;
    longer.table.device_info = device_info;
    longer.table.device_property = device_property;
    longer.table.telemetry = telemetry;
    longer.table.describe = describe;
    longer.table.device_open = device_open;
    longer.table.stream_create = stream_create;
    longer.table.stream_destroy = stream_destroy;
    longer.table.stream_sync = stream_sync;
    longer.table.stream_query = stream_query;
    longer.table.stream_wait = stream_wait;
    longer.table.event_record = event_record;
    longer.table.event_query = event_query;
    longer.table.transfer = transfer;
    longer.table.supports = supports;
    longer.table.workspace = workspace;
    longer.table.execute = execute;
    longer.table.prepare = prepare;
    longer.table.copy_peer = copy_peer;
    longer.table.prefers_fixed = prefers_fixed;
    longer.table.graph_open = graph_open;
    longer.table.graph_begin = graph_begin;
    longer.table.graph_end = graph_end;
    longer.table.graph_launch = graph_launch;
    longer.table.graph_close = graph_close;
    return faulty_table();
}
