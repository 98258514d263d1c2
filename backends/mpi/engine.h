/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the engines openmpi and mpich: plug-ins that move data between processes through MPI.
 * One set of sources, compiled against each MPI (CMakeLists.txt sets MPI_PLUGIN).
 *
 * MPI may grant less than MPI_THREAD_MULTIPLE, and a call that blocks in MPI can neither time out
 * nor be interrupted. So one lock is held around every MPI call, and all calls are nonblocking and
 * tested in turns (wait.c). Only MPI_Init_thread, MPI_Comm_create_group, MPI_Finalize and the
 * duplicate of MPI_COMM_SELF may block: join.c has all ranks ready before they create a group, and
 * start.c says when MPI is finalised.
 */
#ifndef ISOMER_BACKENDS_MPI_ENGINE_H
#define ISOMER_BACKENDS_MPI_ENGINE_H

#include <isomer/backend.h>

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

extern const iso_host *mpi_core;
#define MPI_FAIL mpi_core->fail

enum { MPI_WHY_MAX = 512 };

/* Names a communicator in messages: the same on all of its ranks. */
typedef struct mpi_key {
    uint64_t serial, nonce;
    int32_t maker; /* rank in MPI_COMM_WORLD */
    int32_t world; /* 1: joined through the id of zeros */
} mpi_key;

/* What a rank that fails tells the others. */
typedef struct mpi_notice {
    mpi_key key;
    int32_t rank, status;
    char why[MPI_WHY_MAX];
} mpi_notice;

typedef struct mpi_rank {
    struct mpi_rank *next; /* of the ranks that have not left; guarded by the lock */
    MPI_Comm comm;
    mpi_key key;
    int rank, ranks;
    int64_t timeout;
    atomic_int failed; /* an iso_status, set once; `why` was set before */
    char why[MPI_WHY_MAX];
    MPI_Request listen; /* receives `heard`; guarded by the lock, as what follows */
    mpi_notice heard, told;
} mpi_rank;

/* Tags of the messages of a communicator. */
enum { MPI_TAG_CALL = 0, MPI_TAG_NOTICE = 1 };

/* ---- wait.c ---------------------------------------------------------------------------------- */

void mpi_lock(void);
void mpi_unlock(void);
bool mpi_lock_within(int64_t nanoseconds);
int64_t mpi_now(void);
/* Between two looks at a request: returns at once at first, then gives up the processor, then
 * sleeps. `turns` begins with 0. */
void mpi_pause(int *turns);
/* Writes what an MPI call's code means. Called with the lock. */
void mpi_explain(char *text, size_t room, const char *call, int code);
/* Cancels a receive. Returns whether MPI has let go of its memory. Called with the lock. */
bool mpi_cancel(MPI_Request *request);

/* ---- start.c --------------------------------------------------------------------------------- */

/* The library's name and version ("Open MPI 4.1.4"). UNAVAILABLE if it is another MPI. */
iso_status mpi_library(char *label, size_t room);
/* Initialises MPI unless the program did. `alone`: a process that no launcher started will do. */
iso_status mpi_start(bool alone);
/* UNAVAILABLE after fork and after MPI was finalised. */
iso_status mpi_alive(void);
iso_status mpi_world(int32_t *rank, int32_t *ranks);
/* Ranks that were made, and left. Called with the lock. */
void mpi_add(mpi_rank *rank);
void mpi_remove(mpi_rank *rank);
/* From now on MPI has memory that it must not lose: it is not finalised. */
void mpi_taint(void);
extern atomic_int mpi_busy; /* calls of submit and join that run */

/* ---- failure.c ------------------------------------------------------------------------------- */

/* Marks the rank as failed, unless it has failed before, and tells the other ranks if `tell` is
 * set. Called with the lock. */
void mpi_rank_fail(mpi_rank *rank, iso_status status, bool tell, const char *format, ...)
    ISO_PRINTF(4, 5);
/* ISO_OK, or the rank's failure through host->fail. */
iso_status mpi_rank_check(mpi_rank *rank);
/* Begins to listen for other ranks' failures; returns MPI's code. */
int mpi_rank_listen(mpi_rank *rank);
/* Looks whether another rank has failed. Both are called with the lock. */
void mpi_rank_hear(mpi_rank *rank);

/* ---- join.c and leave, calls.c, types.c ------------------------------------------------------ */

iso_status mpi_id_create(iso_comm_id *out);
iso_status mpi_join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                    int32_t ranks, int64_t timeout, void **joined);
void mpi_leave(void *rank);

iso_status mpi_submit(const iso_engine_call *calls, int32_t count);

const char *mpi_op_name(iso_comm_op op);
bool mpi_reduces(iso_comm_op op);
int64_t mpi_type_size(iso_dtype dtype);
MPI_Datatype mpi_type(iso_dtype dtype);
MPI_Op mpi_op(iso_reduce_op reduce);
iso_status mpi_supports(const iso_engine_call *call);

#endif
