/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - finds the engine that moves data between ranks. A device engine belongs to the backend
 * of its devices. A host engine serves the devices of any backend that can call the host. */
#include "core/comm/comm.h"
#include "core/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_host(const iso_engine *engine)
{
    return (engine->flags & ISO_ENGINE_HOST) != 0;
}

/* Loads a backend, without looking for its devices, and returns its engine; NULL: it has none, or
 * cannot be loaded. Then `why` (if not NULL) gets the reason. */
static const iso_engine *engine_of(core_backend *backend, core_text *why)
{
    iso_probe *answer = calloc(1, sizeof *answer);
    const iso_engine *engine = NULL;
    bool loaded;

    if (!answer) {
        if (why) {
            core_text_add(why, "%s: no host memory to load it", backend->name);
        }
        return NULL;
    }
    pthread_mutex_lock(&backend->lock);
    loaded = core_backend_load(backend, answer);
    engine = loaded ? backend->table.engine : NULL;
    pthread_mutex_unlock(&backend->lock);
    if (!engine && why) {
        core_text_add(why, "%s%s", loaded ? backend->name : answer->reason,
                      loaded ? " is a backend without an engine" : "");
    }
    free(answer);
    return engine;
}

/* The built-in backend with an engine of that name, or with a host engine if the name is NULL. */
static const iso_engine *builtin_engine(const char *name)
{
    for (int i = 0; core_builtins[i].name; i++) {
        core_backend *backend = core_backend_builtin(i);
        const iso_engine *engine = engine_of(backend, NULL);

        if (engine && (name ? !strcmp(engine->name, name) : is_host(engine))) {
            return engine;
        }
    }
    return NULL;
}

/* The engine with a name that the caller or the setting gave. */
static iso_status named(const char *call, const char *name, core_engine *out)
{
    core_text why = {0};
    core_backend *backend = NULL;
    const iso_engine *engine = builtin_engine(name);
    iso_status status = ISO_OK;

    if (!engine && core_name_valid(name)) {
        status = core_backend_find(call, name, &backend);
        if (!status && backend) {
            engine = engine_of(backend, &why);
        }
    }
    if (!status && !engine) {
        status =
            backend
                ? core_fail(ISO_UNAVAILABLE, "%s: the engine %s cannot be used: %s", call, name,
                            core_text_get(&why))
                : core_fail(ISO_UNAVAILABLE,
                            "%s: there is no engine \"%s\": built in are nccl, rccl and threads; "
                            "openmpi and mpich are plug-ins, searched as isomer-%s.so in "
                            "ISOMER_BACKEND_PATH and beside the library",
                            call, name, name);
    }
    core_text_free(&why);
    *out = (core_engine){.table = engine};
    return status;
}

/* The engine that suits the devices. */
static iso_status suited(const char *call, core_device *const *devices, int32_t count,
                         bool processes, core_engine *out)
{
    const iso_engine *engine = devices[0]->table->engine;
    bool same = true;
    int32_t rank, ranks;

    for (int32_t i = 1; i < count; i++) {
        same = same && devices[i]->table == devices[0]->table;
    }
    if (same && engine && !is_host(engine)) {
        *out = (core_engine){.table = engine};
        return ISO_OK;
    }
    if (processes) {
        return core_engine_world(call, NULL, out, &rank, &ranks);
    }
    engine = builtin_engine(NULL);
    *out = (core_engine){.table = engine};
    return engine ? ISO_OK
                  : core_fail(ISO_UNAVAILABLE,
                              "%s: this build has no engine for ranks of one process: the backend "
                              "openmp has it",
                              call);
}

/* UNSUPPORTED unless the engine takes these devices. */
static iso_status check_devices(const char *call, const iso_engine *engine,
                                core_device *const *devices, int32_t count, bool processes)
{
    if (processes ? !(engine->flags & ISO_ENGINE_PROCESSES)
                  : count > 1 && !(engine->flags & ISO_ENGINE_SEATS)) {
        return core_fail(ISO_UNSUPPORTED, "%s: the engine %s joins ranks of %s only: %s", call,
                         engine->name, processes ? "one process" : "several processes",
                         processes ? "use nccl, rccl, openmpi or mpich"
                                   : "use threads, or one device in each process");
    }
    for (int32_t i = 0; i < count; i++) {
        const iso_backend *table = devices[i]->table;

        if (is_host(engine) ? !table->stream_call : table->engine != engine) {
            return core_fail(ISO_UNSUPPORTED,
                             "%s: the engine %s does not move data of %s (device %d): %s", call,
                             engine->name, devices[i]->physical->spec, i,
                             is_host(engine) ? "its backend cannot call the host from a stream"
                                             : "it takes the devices of its own backend only");
        }
    }
    return ISO_OK;
}

static iso_status open_engine(const char *call, core_engine *engine)
{
    iso_status status;

    engine->label[0] = 0;
    status = CORE_ENGINE(call, engine->table,
                         engine->table->open(engine->label, (int64_t)sizeof engine->label));
    engine->label[sizeof engine->label - 1] = 0;
    return status;
}

iso_status core_engine_find(const char *call, const char *name, core_device *const *devices,
                            int32_t count, bool processes, core_engine *out)
{
    iso_status status;

    if (!name) {
        name = core_setting("ISOMER_COMM");
    }
    status = name ? named(call, name, out) : suited(call, devices, count, processes, out);
    if (!status) {
        status = check_devices(call, out->table, devices, count, processes);
    }
    return status ? status : open_engine(call, out);
}

iso_status core_engine_world(const char *call, const core_engine *data, core_engine *out,
                             int32_t *rank, int32_t *ranks)
{
    core_text tried = {0};
    iso_status status = ISO_UNAVAILABLE;

    if (data && data->table->world) {
        *out = *data;
        return CORE_ENGINE(call, out->table, out->table->world(rank, ranks));
    }
    for (int i = 0; core_engines[i] && status; i++) {
        core_engine found = {0};

        status = named(call, core_engines[i], &found);
        if (!status) {
            status = open_engine(call, &found);
        }
        if (!status) {
            status = CORE_ENGINE(call, found.table, found.table->world(rank, ranks));
        }
        if (!status) {
            *out = found;
        } else {
            core_text_add(&tried, "%s%s", tried.length ? "; " : "", core_reason(call));
        }
    }
    if (status) {
        status =
            core_fail(ISO_UNAVAILABLE,
                      "%s: no MPI started this process, so its rank is not known: start it "
                      "with mpirun, or make all ranks in one process by iso_comm_create; tried: %s",
                      call, tried.text ? tried.text : "nothing: this build has no MPI");
    }
    core_text_free(&tried);
    return status;
}
