/* SPDX-License-Identifier: Apache-2.0 */
/* physical.c - physical devices that are open, each once, and the count of their memory. */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static core_physical *table_first;
static core_physical *of_parent; /* kept so that a child's leak checker sees them */

/* With the table locked. They are never freed, so that the peak of a device outlives its handles.
 */
static core_physical *find(core_backend *backend, int32_t index)
{
    core_physical *at;

    for (at = table_first; at; at = at->next)
        if (at->backend == backend && at->index == index)
            return at;
    at = calloc(1, sizeof *at);
    if (!at)
        return NULL;
    at->backend = backend;
    at->table = &backend->table;
    at->index = index;
    snprintf(at->spec, sizeof at->spec, "%.100s:%d", backend->name, index);
    pthread_mutex_init(&at->lock, NULL);
    pthread_cond_init(&at->changed, NULL);
    at->next = table_first;
    table_first = at;
    return at;
}

iso_status core_physical_open(const char *call, core_backend *backend, int32_t index,
                              core_physical **out)
{
    iso_status status = ISO_OK;
    core_physical *at;

    /* Opening one device at a time keeps two threads from opening the same one twice. */
    pthread_mutex_lock(&table_lock);
    at = find(backend, index);
    if (!at) {
        status = core_fail_no_memory(call, (int64_t)sizeof *at);
    } else if (!at->opens) {
        status = CORE_CALL(call, backend, at->table->device_open(index, &at->device));
    }
    if (!status) {
        at->opens++;
        *out = at;
    }
    pthread_mutex_unlock(&table_lock);
    if (!status) {
        pthread_mutex_lock(&backend->lock);
        backend->opened = true;
        pthread_mutex_unlock(&backend->lock);
    }
    return status;
}

void core_physical_close(core_physical *physical)
{
    pthread_mutex_lock(&table_lock);
    if (!--physical->opens) {
        physical->table->device_close(physical->device);
        physical->device = NULL;
    }
    pthread_mutex_unlock(&table_lock);
}

void core_physical_fork(int stage)
{
    core_physical **end = &table_first;

    core_fork_lock(&table_lock, stage);
    if (stage != CORE_FORK_CHILD)
        return;
    while (*end)
        end = &(*end)->next;
    *end = of_parent;
    of_parent = table_first;
    table_first = NULL;
}

iso_status core_memory_take(const char *call, core_device *device, int64_t bytes)
{
    core_physical *physical = device->physical;
    iso_status status = ISO_OK;
    int64_t total;

    pthread_mutex_lock(&physical->lock);
    if (__builtin_add_overflow(physical->used, bytes, &total)) {
        status = core_fail(ISO_NO_MEMORY,
                           "%s: bytes is %lld, with %lld used on %s: no device has as much memory",
                           call, (long long)bytes, (long long)physical->used, physical->spec);
    } else if (device->limit >= 0 && total > device->limit) {
        status =
            core_fail(ISO_NO_MEMORY,
                      "%s: the memory limit of %s would be passed: %lld bytes asked, %lld "
                      "used, limit %lld: free some, or raise the limit (ISOMER_MEMORY_LIMIT or "
                      "the option memory_limit)",
                      call, physical->spec, (long long)bytes, (long long)physical->used,
                      (long long)device->limit);
    } else {
        physical->used = total;
        if (total > physical->peak)
            physical->peak = total;
    }
    pthread_mutex_unlock(&physical->lock);
    return status;
}

void core_memory_give(core_device *device, int64_t bytes)
{
    core_physical *physical = device->physical;

    pthread_mutex_lock(&physical->lock);
    physical->used -= bytes;
    pthread_mutex_unlock(&physical->lock);
}
