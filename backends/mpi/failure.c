/* SPDX-License-Identifier: Apache-2.0 */
/* failure.c - ranks that fail, and how the other ranks of the communicator learn of it. */
#include "backends/mpi/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PUSHES = 20 };

/* The rank's memory is kept for ever, so that the sends need not be awaited. */
static void tell_others(mpi_rank *rank)
{
    mpi_notice *told = &rank->told;
    int done;

    *told = (mpi_notice){.key = rank->key, .rank = rank->rank, .status = rank->failed};
    snprintf(told->why, sizeof told->why, "%s", rank->why);
    for (int to = 0; to < rank->ranks; to++) {
        MPI_Request request;

        if (to != rank->rank && !MPI_Isend(told, (int)sizeof *told, MPI_BYTE, to, MPI_TAG_NOTICE,
                                           rank->comm, &request)) {
            MPI_Request_free(&request);
        }
    }
    /* This rank may make no more MPI calls, in which MPI sends what is pending. So it is sent now.
     */
    for (int i = 0; i < PUSHES; i++) {
        (void)MPI_Iprobe(MPI_PROC_NULL, MPI_TAG_CALL, rank->comm, &done, MPI_STATUS_IGNORE);
        (void)MPI_Test(&rank->listen, &done, MPI_STATUS_IGNORE);
    }
}

void mpi_rank_fail(mpi_rank *rank, iso_status status, bool tell, const char *format, ...)
{
    va_list list;

    if (rank->failed) {
        return;
    }
    va_start(list, format);
    vsnprintf(rank->why, sizeof rank->why, format, list);
    va_end(list);
    rank->failed = status;
    mpi_taint();
    if (tell) {
        tell_others(rank);
    }
}

iso_status mpi_rank_check(mpi_rank *rank)
{
    const iso_status status = (iso_status)rank->failed;

    return status ? MPI_FAIL(status, "%s", rank->why) : ISO_OK;
}

int mpi_rank_listen(mpi_rank *rank)
{
    return MPI_Irecv(&rank->heard, (int)sizeof rank->heard, MPI_BYTE, MPI_ANY_SOURCE,
                     MPI_TAG_NOTICE, rank->comm, &rank->listen);
}

void mpi_rank_hear(mpi_rank *rank)
{
    mpi_notice *heard = &rank->heard;
    int done = 0, code;

    if (rank->failed || rank->ranks < 2) {
        return;
    }
    code = MPI_Test(&rank->listen, &done, MPI_STATUS_IGNORE);
    if (!code && !done) {
        return;
    }
    /* A communicator that was freed may have had the same context in MPI. */
    if (!code && memcmp(&heard->key, &rank->key, sizeof rank->key)) {
        code = mpi_rank_listen(rank);
        if (!code) {
            return;
        }
    }
    if (code) {
        char text[MPI_WHY_MAX - 100];

        mpi_explain(text, sizeof text, "MPI_Test", code);
        mpi_rank_fail(rank, ISO_BACKEND, true, "rank %d of %d lost touch with the others: %s",
                      rank->rank, rank->ranks, text);
        return;
    }
    heard->why[sizeof heard->why - 1] = 0;
    mpi_rank_fail(rank, heard->status > 0 ? (iso_status)heard->status : ISO_BACKEND, false,
                  "rank %d has failed: %.440s", heard->rank, heard->why);
}
