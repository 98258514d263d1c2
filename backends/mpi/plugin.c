/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the descriptor of a plug-in that has an engine and no devices. */
#include "backends/mpi/engine.h"

#include <stdio.h>

const iso_host *mpi_core;

static iso_status probe(iso_probe *out)
{
    char label[ISO_NAME_MAX];
    const iso_status status = mpi_library(label, sizeof label);

    if (status) {
        return status;
    }
    out->state = ISO_STATE_NO_DEVICE;
    snprintf(out->reason, sizeof out->reason,
             "it is an engine for communicators between processes, and has no devices: %s", label);
    return ISO_OK;
}

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
    mpi_rank_fail(mine, ISO_BACKEND, true, "rank %d of %d was aborted", mine->rank, mine->ranks);
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

/* Fork-safe: a child learns that it cannot use MPI when it tries to join. */
static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_ENGINE_ONLY | ISO_BACKEND_FORK_SAFE,
    .name = MPI_PLUGIN,
    .build_info = "an engine for communicators through " MPI_PLUGIN_LIBRARY,
    .probe = probe,
    .engine = &engine,
};

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    /* Before minor 10 the core knows no engines. */
    if ((host_abi & 0xffff) < 10) {
        return NULL;
    }
    mpi_core = host;
    return &descriptor;
}
