/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_engine.c - a plug-in with an engine and no devices. UNIT_NO_ENGINE leaves the engine out,
 * and with UNIT_CLAIMS its probe claims a device. Both also replace the handler of a signal when
 * they are loaded, as some libraries do. */
#include <isomer/backend.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(UNIT_NO_ENGINE)
#define UNIT_NAME "unit-engine-none"
#define UNIT_HAS  NULL
#elif defined(UNIT_CLAIMS)
#define UNIT_NAME "unit-engine-claims"
#define UNIT_HAS  &engine
#else
#define UNIT_NAME "unit-engine"
#define UNIT_HAS  &engine
#endif

static const iso_host *core;

static void on_fault(int number)
{
    (void)number;
}

__attribute__((constructor)) static void replace_handler(void)
{
    const struct sigaction action = {.sa_handler = on_fault};

    sigaction(SIGTRAP, &action, NULL);
}

static iso_status probe(iso_probe *out)
{
#if defined(UNIT_CLAIMS)
    out->state = ISO_STATE_OK;
    out->devices = 1;
#else
    out->state = ISO_STATE_NO_DEVICE;
#endif
    snprintf(out->reason, sizeof out->reason, "an engine of a test, which has no devices");
    return ISO_OK;
}

static iso_status refuse(void)
{
    return core->fail(ISO_UNSUPPORTED, "this engine does nothing");
}

/* Opens a part of its own first, if the test names one. */
static iso_status open_engine(char *label, int64_t capacity)
{
    const char *path = getenv("UNIT_ENGINE_PART");
    char problem[512];

    if (path && !core->open_part(path, problem, sizeof problem)) {
        return core->fail(ISO_UNAVAILABLE, "the part is not opened: %s", problem);
    }
    snprintf(label, (size_t)capacity, "Nothing 1.0");
    return ISO_OK;
}

static iso_status id_create(iso_comm_id *out)
{
    (void)out;
    return refuse();
}

static iso_status join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                       int32_t ranks, int64_t timeout_nanoseconds, void **joined)
{
    (void)seats, (void)count, (void)id, (void)ranks, (void)timeout_nanoseconds, (void)joined;
    return refuse();
}

static iso_status supports(const iso_engine_call *call)
{
    (void)call;
    return refuse();
}

static iso_status submit(const iso_engine_call *calls, int32_t count)
{
    (void)calls, (void)count;
    return refuse();
}

static iso_status query(void *rank)
{
    (void)rank;
    return refuse();
}

static void of_rank(void *rank)
{
    (void)rank;
}

static const iso_engine engine = {
    .size = (uint32_t)sizeof(iso_engine),
    .flags = ISO_ENGINE_HOST,
    .name = UNIT_NAME,
    .open = open_engine,
    .id_create = id_create,
    .join = join,
    .leave = of_rank,
    .supports = supports,
    .submit = submit,
    .query = query,
    .abort = of_rank,
};

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_ENGINE_ONLY,
    .name = UNIT_NAME,
    .build_info = "a test",
    .probe = probe,
    .engine = UNIT_HAS,
};

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi;
    (void)engine;
    core = host;
    return &descriptor;
}
