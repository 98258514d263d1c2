/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the interface between the core and an engine, which moves data between ranks; for
 * authors of engines. A backend may have one (backend.h). A plug-in may have an engine and no
 * devices.
 *
 * There are two kinds. A device engine gets memory and streams of its own backend, and submits to
 * the streams. A host engine (ISO_ENGINE_HOST) gets host memory, moves the data in the calling
 * thread and returns when that is done. The core calls it from a thread that runs in the order of
 * the rank's stream, and copies between host and device where a device needs that.
 *
 * What the core guarantees: sizes, types, peers and overlap were checked; no part is empty, except
 * in a barrier; a stream belongs to the rank's device. It calls `submit` for one rank from one
 * thread at a time, except that a host engine may get calls of one rank from several threads, if
 * the program uses several streams. `abort` and `query` may be called while `submit` runs. `leave`
 * is called last, when nothing of the rank runs.
 */
#ifndef ISOMER_ENGINE_H
#define ISOMER_ENGINE_H

#include <isomer/comm.h>

ISO_BEGIN_DECLS

/* One call of one rank. */
typedef struct iso_engine_call {
    void *rank;           /* from join */
    void *stream;         /* the backend's; NULL for a host engine */
    iso_comm_op op;       /* this and the next four: as in iso_comm_args */
    iso_dtype dtype;      /* of the elements */
    iso_reduce_op reduce; /* how they are summed; never 0 */
    int32_t peer;         /* the other rank, or the root */
    int64_t count;        /* n */
    /* A device engine: memory of the backend and an offset. A host engine: a pointer and 0. NULL:
     * not used. For the operations that may be in place, they may be in place. */
    void *from, *to;
    int64_t from_offset, to_offset;
} iso_engine_call;

/* A rank of this process that joins. */
typedef struct iso_engine_seat {
    void *device; /* the backend's; NULL for a host engine */
    int32_t rank; /* its number, from 0 */
    uint32_t reserved;
} iso_engine_seat;

/* Flags of an engine. */
enum {
    /* A host engine. */
    ISO_ENGINE_HOST = 1,
    /* Its sums are ordered: the same rules and bits (docs/bits.md, 13). */
    ISO_ENGINE_ORDERED = 2,
    /* Ranks of several processes can join. */
    ISO_ENGINE_PROCESSES = 4,
    /* Several ranks of one process can join. */
    ISO_ENGINE_SEATS = 8,
    /* After a failure its library may still use the memory of calls that have not finished: the
     * core keeps what is its own. */
    ISO_ENGINE_KEEPS = 16
};

/* What an engine offers to the core. */
typedef struct iso_engine {
    uint32_t size;
    uint32_t flags;   /* ISO_ENGINE_... */
    const char *name; /* lower-case letters, digits, '-' and '_' */

    /* Opens the library and writes its name and version ("NCCL 2.28.3"). UNAVAILABLE, with every
     * path that was tried, if there is none. May be called again. */
    iso_status (*open)(char *label, int64_t capacity);
    /* Makes an id in its first bytes: at most ISO_ENGINE_ID_BYTES. */
    iso_status (*id_create)(iso_comm_id *out);
    /* Joins `count` ranks of this process to a communicator of `ranks`, and waits for the others.
     * `id` is NULL if all ranks are of this process. TIMEOUT if not all have joined in time. Sets
     * each joined[i]. */
    iso_status (*join)(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                       int32_t ranks, int64_t timeout_nanoseconds, void **joined);
    void (*leave)(void *rank);
    /* UNSUPPORTED, with the reason, if the engine does not have an operation, type or reduction.
     * Only these fields of the call are set, and the rank. */
    iso_status (*supports)(const iso_engine_call *call);
    /* Submits calls of one or several ranks as a group (a host engine gets those of one rank, and
     * returns when all have finished). A failure leaves the communicator unusable. */
    iso_status (*submit)(const iso_engine_call *calls, int32_t count);
    /* ISO_OK, or an error that the engine found since. */
    iso_status (*query)(void *rank);
    /* Makes calls that run, and all later ones, fail soon, on all ranks if the engine can tell
     * them. May be called several times. */
    void (*abort)(void *rank);
    /* Optional: this process's place among those that mpirun started. UNAVAILABLE if it was not. An
     * engine with this entry takes an id of zeros for a communicator of all of them. */
    iso_status (*world)(int32_t *rank, int32_t *ranks);
} iso_engine;

/* The core keeps the rest of an id for itself. */
enum { ISO_ENGINE_ID_BYTES = 192 };

ISO_END_DECLS

#endif
