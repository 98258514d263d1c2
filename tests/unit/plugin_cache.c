/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_cache.c - a plug-in without devices, through which a test reaches what the core offers to
 * backends. UNIT_CACHE is "store KEY DATA" or "load KEY"; probing runs it, and the probe's reason
 * is the result.
 */
#include <isomer/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const iso_host *core;

static void act(char *order, char *answer, size_t room)
{
    char *rest = order, *verb = strsep(&rest, " "), *key = strsep(&rest, " ");
    int64_t bytes = 0;
    char *data;

    if (!key) {
        return;
    }
    if (!strcmp(verb, "store") && rest) {
        int32_t kept = core->cache_store(key, (int64_t)strlen(key), rest, (int64_t)strlen(rest));

        snprintf(answer, room, "stored: %d", (int)kept);
        return;
    }
    data = core->cache_load(key, (int64_t)strlen(key), &bytes);
    snprintf(answer, room, "loaded: %.*s", data ? (int)bytes : 7, data ? data : "nothing");
    core->free(data);
}

static iso_status probe(iso_probe *out)
{
    const char *order = getenv("UNIT_CACHE");
    char *copy = strdup(order ? order : "");

    out->state = ISO_STATE_NO_DEVICE;
    out->devices = 0;
    snprintf(out->reason, sizeof out->reason, "nothing was asked for");
    if (!copy) {
        return core->fail(ISO_NO_MEMORY, "no memory for the order");
    }
    act(copy, out->reason, sizeof out->reason);
    free(copy);
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_PROBE_ONLY,
    .name = "unit-cache",
    .build_info = "a test",
    .probe = probe,
};

__attribute__((visibility("default"))) const iso_backend *
isomer_backend_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi;
    core = host;
    return &descriptor;
}
