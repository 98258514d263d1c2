/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the engine's table, in the part of the plug-in that is linked with MPI. */
#include "backends/mpi/engine.h"
#include "backends/mpi/part.h"

#include <stdio.h>

const iso_host *mpi_core;

static iso_status open_library(char *label, int64_t capacity)
{
    char text[ISO_NAME_MAX];
    const iso_status status = mpi_library(text, sizeof text);

    if (!status && capacity > 0) {
        snprintf(label, (size_t)capacity, "%s", text);
    }
    return status;
}

static iso_status query(void *rank)
{
    mpi_rank *mine = rank;

    if (mine->ranks > 1 && !mine->failed && !mpi_alive()) {
        mpi_lock();
        mpi_rank_hear(mine);
        mpi_unlock();
    }
    return mpi_rank_check(mine);
}

static void end(void *rank)
{
    mpi_rank *mine = rank;

    if (mpi_alive()) {
        return;
    }
    mpi_lock();
    mpi_rank_fail(mine, ISO_UNAVAILABLE, true, "rank %d of %d was aborted", mine->rank,
                  mine->ranks);
    mpi_unlock();
}

static const iso_engine engine = {
    .size = (uint32_t)sizeof(iso_engine),
    .flags = ISO_ENGINE_HOST | ISO_ENGINE_PROCESSES | ISO_ENGINE_KEEPS,
    .name = MPI_PLUGIN,
    .open = open_library,
    .id_create = mpi_id_create,
    .join = mpi_join,
    .leave = mpi_leave,
    .supports = mpi_supports,
    .submit = mpi_submit,
    .query = query,
    .abort = end,
    .world = mpi_world,
};

const iso_engine *isomer_mpi_engine(const iso_host *host)
{
    mpi_core = host;
    return &engine;
}
