/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the plug-in that the core loads. Its engine passes every call on to the part that is
 * linked with MPI, which `open` loads. */
#include "backends/mpi/part.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const iso_host *core;
static _Atomic(const iso_engine *) part;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static iso_status probe(iso_probe *out)
{
    out->state = ISO_STATE_NO_DEVICE;
    snprintf(out->reason, sizeof out->reason,
             "it is an engine for communicators between processes, and has no devices: it needs "
             "%s, and looks for it when a communicator asks",
             MPI_PLUGIN_LIBRARY);
    return ISO_OK;
}

/* Writes the path of the other part: mpi/NAME.so beside this file. */
static void find_part(char *path, size_t room)
{
    Dl_info self;
    const char *slash;

    path[0] = 0;
    if (dladdr((const void *)&lock, &self) && (slash = strrchr(self.dli_fname, '/'))) {
        snprintf(path, room, "%.*s/mpi/%s.so", (int)(slash - self.dli_fname), self.dli_fname,
                 MPI_PLUGIN);
    }
}

static iso_status load(void)
{
    char path[1024], problem[1024];
    const iso_engine *(*get)(const iso_host *host) = NULL;
    void *file;

    find_part(path, sizeof path);
    file = core->open_part(path, problem, sizeof problem);
    if (file) {
        *(void **)&get = dlsym(file, ISO_MPI_ENGINE_NAME);
    }
    if (!get) {
        return core->fail(ISO_UNAVAILABLE, "%s cannot be opened: %s: install %s", path,
                          file ? "it is not a part of this plug-in" : problem, MPI_PLUGIN_LIBRARY);
    }
    atomic_store(&part, get(core));
    return ISO_OK;
}

static iso_status open_engine(char *label, int64_t capacity)
{
    iso_status status = ISO_OK;

    pthread_mutex_lock(&lock);
    if (!atomic_load(&part)) {
        status = load();
    }
    pthread_mutex_unlock(&lock);
    return status ? status : atomic_load(&part)->open(label, capacity);
}

/* The core opens an engine before it makes any other call. */
static iso_status id_create(iso_comm_id *out)
{
    return atomic_load(&part)->id_create(out);
}

static iso_status join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                       int32_t ranks, int64_t timeout, void **joined)
{
    return atomic_load(&part)->join(seats, count, id, ranks, timeout, joined);
}

static void leave(void *rank)
{
    atomic_load(&part)->leave(rank);
}

static iso_status supports(const iso_engine_call *call)
{
    return atomic_load(&part)->supports(call);
}

static iso_status submit(const iso_engine_call *calls, int32_t count)
{
    return atomic_load(&part)->submit(calls, count);
}

static iso_status query(void *rank)
{
    return atomic_load(&part)->query(rank);
}

static void end(void *rank)
{
    atomic_load(&part)->abort(rank);
}

static iso_status world(int32_t *rank, int32_t *ranks)
{
    return atomic_load(&part)->world(rank, ranks);
}

static const iso_engine engine = {
    .size = (uint32_t)sizeof(iso_engine),
    .flags = ISO_ENGINE_HOST | ISO_ENGINE_PROCESSES | ISO_ENGINE_KEEPS,
    .name = MPI_PLUGIN,
    .open = open_engine,
    .id_create = id_create,
    .join = join,
    .leave = leave,
    .supports = supports,
    .submit = submit,
    .query = query,
    .abort = end,
    .world = world,
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
    core = host;
    return &descriptor;
}
