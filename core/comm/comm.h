/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - communicators: their objects, and how a call becomes calls of an engine. */
#ifndef ISOMER_CORE_COMM_H
#define ISOMER_CORE_COMM_H

#include "core/op.h"
#include "core/stream.h"

/* ---- engines (engine.c) ---------------------------------------------------------------------- */

typedef struct core_engine {
    const iso_engine *table;
    char label[ISO_NAME_MAX];
} core_engine;

/* Finds and opens the engine that `name` (NULL: the setting, or else the one that suits) says, for
 * these devices. `processes`: for ranks of several processes. */
iso_status core_engine_find(const char *call, const char *name, core_device *const *devices,
                            int32_t count, bool processes, core_engine *out);
/* Finds the engine through which mpirun started this process, and this process's place. `name` is
 * the engine that moves the data: if it is such an engine itself, it is the only one that is tried.
 */
iso_status core_engine_world(const char *call, const core_engine *data, core_engine *out,
                             int32_t *rank, int32_t *ranks);

/* ---- communicators --------------------------------------------------------------------------- */

/* Memory that grows. Old blocks stay while the stream has work, which may still use them. */
typedef struct core_pool_block {
    struct core_pool_block *next;
    void *memory; /* device memory, or host memory of the device */
    int64_t bytes;
} core_pool_block;

/* What a communicator keeps for one of its streams. */
typedef struct core_lane {
    struct core_lane *next;
    uint64_t stream;          /* its handle */
    uint64_t serial;          /* the stream's */
    core_pool_block *scratch; /* device memory; the first block is the newest and largest */
    core_pool_block *stage;   /* host memory that the device copies fast */
    iso_engine_call *calls;
    int32_t calls_room;
    _Atomic uint64_t submitted;
    /* Of the watching thread: see watch.c. */
    void *mark;          /* an event behind the calls counted by `marked`; NULL until needed */
    uint64_t marked;     /* how many calls the mark is behind; 0: none */
    uint64_t seen;       /* how many calls are known to have finished */
    int64_t marked_time; /* when it was recorded */
    int64_t leaving; /* since when another thread is known to destroy the stream; 0: it is not */
} core_lane;

typedef struct core_job core_job;

typedef struct core_comm {
    core_child child;
    core_engine engine;
    void *rank_handle; /* the engine's */
    int32_t rank, ranks;
    int64_t timeout;             /* nanoseconds */
    pthread_mutex_t submit_lock; /* held while a device engine submits */
    _Atomic int64_t submitting;  /* since when it does; 0: it does not */
    pthread_mutex_t lock;
    /* Guarded by the lock. */
    core_lane *lanes;
    /* Streams that wait for the communicator's streams through events, as a grid's do: they fail
     * with it if they still have work. */
    uint64_t *followers; /* their handles */
    int32_t follower_count, follower_room;
    core_kept_error error;
    bool told;      /* the error was returned by a call */
    core_job *jobs; /* unused ones */
    uint64_t next_ticket;
    atomic_int failed; /* iso_status */
    /* Jobs of a host engine run one at a time, in the order of their tickets. */
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_changed;
    uint64_t turn;
    struct core_comm *watched_next;
} core_comm;

/* Frees an object that no engine knows. */
void core_comm_free(core_comm *comm);
/* Called after the handle was retired: waits for the communicator's work, leaves the engine and
 * frees everything. Returns its error, and sets *told if a call has returned it before. */
iso_status core_comm_finish(const char *call, core_comm *comm, bool *told);
/* Fails with the communicator's error, which then counts as returned; ISO_OK if it has none. */
iso_status core_comm_late(const char *call, core_comm *comm);
/* Makes it fail with this status and this thread's error text, unless it has failed before. Its
 * streams that still have work get the error. */
void core_comm_fail(core_comm *comm, iso_status status);
/* Makes the stream with this handle fail with the communicator. */
iso_status core_comm_follow(const char *call, core_comm *comm, uint64_t stream);
/* Whether the engine may still use memory that it was given: it has failed, and is one that does.
 * Such memory is never freed. */
bool core_comm_keeps(const core_comm *comm);
/* Whether the device's memory is host memory, which a host engine uses where it is. */
bool core_comm_on_host(const core_comm *comm);
/* The lane of a locked stream; NULL, with the error set, if there is no memory. */
core_lane *core_comm_lane(const char *call, core_comm *comm, const core_stream *stream);
void core_lanes_free(core_comm *comm);
/* Make sure that the first block of scratch or stage has at least that many bytes. `stream` is the
 * lane's, and locked. */
iso_status core_lane_scratch(const char *call, core_comm *comm, core_lane *lane,
                             const core_stream *stream, int64_t bytes);
iso_status core_lane_stage(const char *call, core_comm *comm, core_lane *lane,
                           const core_stream *stream, int64_t bytes);
/* Sizes in scratch and staging memory are rounded up, so that what follows is aligned. */
static inline int64_t core_lane_padded(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}
/* Room for the calls of a group that begins with this lane. */
iso_status core_lane_calls(const char *call, core_lane *lane, int32_t count);

/* ---- calls (args.c) -------------------------------------------------------------------------- */

/* A call of a rank, read and checked. */
typedef struct core_comm_op {
    core_comm *comm;
    core_stream *stream;
    core_lane *lane;
    int32_t place; /* in the caller's group */
    iso_comm_op op;
    iso_dtype dtype;
    iso_reduce_op reduce;
    iso_comm_sum sum; /* never AUTO; VENDOR if nothing is summed */
    int32_t peer;
    int64_t count, element;
    int64_t from_bytes, to_bytes; /* 0: not used */
    core_buffer *from, *to;       /* acquired; NULL: not used */
    iso_operand from_operand, to_operand;
    int64_t terms, ld_terms;
    core_trace_span span;
    /* run.c */
    int phase;
    int64_t piece_at; /* elements that earlier phases have done */
    bool done;        /* nothing is left after this phase */
} core_comm_op;

/* How many parts of `count` elements a call's operands have. */
int32_t core_comm_from_parts(iso_comm_op op, int32_t ranks);
int32_t core_comm_to_parts(iso_comm_op op, int32_t ranks);
/* Reads the descriptor, without its operands, whose sizes it computes. */
iso_status core_comm_read(const char *call, core_comm *comm, const iso_comm_args *args,
                          core_comm_op *out);
/* Acquires and checks the operands. On failure the caller still releases them. */
iso_status core_comm_bind(const char *call, core_comm_op *op);
void core_comm_unbind(core_comm_op *op);
/* UNSUPPORTED, with the reason, if the engine or the device does not have the call. */
iso_status core_comm_check(const char *call, core_comm_op *op);

/* ---- phases (phase.c) ------------------------------------------------------------------------ */

/* Whether the core makes the call from several calls of the engine. */
bool core_comm_composed(const core_comm_op *op);
/* The most calls of the engine in one phase. */
int32_t core_comm_calls(const core_comm_op *op);
/* Scratch memory that the call needs. */
int64_t core_comm_scratch(const core_comm_op *op);
/* Staging memory that its phases need at most, if the engine is a host engine. */
int64_t core_comm_stage(const core_comm_op *op);
/* Submits the device's work of the next phase, writes the calls of the engine that follow it, and
 * sets op->done if no phase is left. */
iso_status core_comm_phase(const char *call, core_comm_op *op, iso_engine_call *calls,
                           int32_t *count);

/* ---- host engines (host.c) ------------------------------------------------------------------- */

/* Submits calls of one rank on one stream to a host engine: copies to host memory, a call in the
 * stream's order, copies back. Memory of a device that is host memory is not copied. */
iso_status core_comm_host(const char *call, core_comm *comm, core_stream *stream,
                          const core_lane *lane, const iso_engine_call *calls, int32_t count);
void core_jobs_free(core_comm *comm);

/* ---- watching device engines (watch.c) ------------------------------------------------------- */

iso_status core_watch_add(const char *call, core_comm *comm);
void core_watch_remove(core_comm *comm);

#endif
