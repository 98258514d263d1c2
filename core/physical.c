/* SPDX-License-Identifier: Apache-2.0 */
/* physical.c - opens each physical device once, and counts the memory used on it. */
#include "core/call.h"
#include "core/fork.h"
#include "core/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static core_physical *table_first;
/* In a child of fork(): the parent's devices, kept reachable so that a leak checker does not report
 * them. */
static core_physical *of_parent;

/* Called with the table locked. Finds the backend's device or, with `context`, the device that was
 * adopted in this context. If there is none, reuses the entry of a closed adopted device or adds an
 * entry; NULL if there is no memory. Entries are never freed, so that a device's peak outlives its
 * handles. */
static core_physical *find(core_backend *backend, int32_t index, const void *context)
{
    core_physical *at, *unused = NULL;

    for (at = table_first; at; at = at->next) {
        if (at->backend != backend || at->adopted != (context != NULL)) {
            continue;
        }
        if (at->index == index && (!context || (at->opens && at->native.context == context))) {
            return at;
        }
        if (context && !at->opens) {
            unused = at;
        }
    }
    at = unused ? unused : calloc(1, sizeof *at);
    if (!at || unused) {
        return at;
    }
    at->backend = backend;
    at->table = &backend->table;
    at->index = index;
    at->adopted = context != NULL;
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
    at = find(backend, index, NULL);
    if (!at) {
        status = core_fail_no_memory(call, (int64_t)sizeof *at);
    } else if (!at->opens) {
        status = CORE_CALL(call, at->table, at->table->device_open(index, &at->device));
    }
    if (!status) {
        at->opens++;
        *out = at;
    }
    pthread_mutex_unlock(&table_lock);
    return status;
}

/* Called with the table locked. Whether the ordinary (not adopted) device is open and uses this
 * context. */
static bool is_own(const core_physical *ordinary, void *context)
{
    const iso_backend *table = ordinary->table;
    void *own = NULL;

    return ordinary->opens && table->native_get &&
           !table->native_get(ordinary->device, ISO_NATIVE_CONTEXT, ordinary->device, &own) &&
           own == context;
}

/* Called with the table locked. Adopts the context. The backend finds out on which of its devices
 * the context is, because a program may name the device in several ways. */
static iso_status adopt(const char *call, core_backend *backend, const iso_native_device *native,
                        core_physical **out)
{
    const iso_backend *table = &backend->table;
    core_physical *at;
    void *device = NULL;
    int32_t index = 0;
    iso_status status = CORE_CALL(call, table, table->device_adopt(native, &index, &device));

    if (status) {
        return status;
    }
    at = find(backend, index, NULL);
    if (at && native->context && !is_own(at, native->context)) {
        at = find(backend, index, native->context);
    }
    if (!at) {
        CORE_DO(table->device_close(device));
        return core_fail_no_memory(call, (int64_t)sizeof *at);
    }
    if (at->opens) {
        CORE_DO(table->device_close(device)); /* the device that is already open is shared */
    } else {
        at->device = device;
        at->index = index;
        at->native = *native;
        if (at->adopted) {
            at->peak = 0;
            snprintf(at->spec, sizeof at->spec, "%.80s:%d in context %p", backend->name, index,
                     native->context);
        }
    }
    *out = at;
    return ISO_OK;
}

iso_status core_physical_adopt(const char *call, core_backend *backend,
                               const iso_native_device *native, core_physical **out)
{
    iso_status status;

    pthread_mutex_lock(&table_lock);
    status = adopt(call, backend, native, out);
    if (!status) {
        (*out)->opens++;
    }
    pthread_mutex_unlock(&table_lock);
    return status;
}

void core_physical_keep(core_physical *physical)
{
    pthread_mutex_lock(&table_lock);
    physical->opens++;
    pthread_mutex_unlock(&table_lock);
}

void core_physical_close(core_physical *physical)
{
    pthread_mutex_lock(&table_lock);
    if (!--physical->opens) {
        CORE_DO(physical->table->device_close(physical->device));
        physical->device = NULL;
    }
    pthread_mutex_unlock(&table_lock);
}

void core_physical_fork(int stage)
{
    core_physical **end = &table_first;

    core_fork_lock(&table_lock, stage);
    if (stage != CORE_FORK_CHILD) {
        return;
    }
    while (*end) {
        end = &(*end)->next;
    }
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
                           "%s: bytes is %lld, with %lld used on %s: together they exceed 64 bits",
                           call, (long long)bytes, (long long)physical->used, physical->spec);
    } else if (device->limit >= 0 && total > device->limit) {
        status =
            core_fail(ISO_NO_MEMORY,
                      "%s: the memory limit of %s would be exceeded: %lld bytes requested, %lld "
                      "used, limit %lld: free some, or raise the limit (ISOMER_MEMORY_LIMIT or "
                      "the option memory_limit)",
                      call, physical->spec, (long long)bytes, (long long)physical->used,
                      (long long)device->limit);
    } else {
        physical->used = total;
        if (total > physical->peak) {
            physical->peak = total;
        }
    }
    pthread_mutex_unlock(&physical->lock);
    return status;
}

void core_memory_give(core_physical *physical, int64_t bytes)
{
    pthread_mutex_lock(&physical->lock);
    physical->used -= bytes;
    pthread_mutex_unlock(&physical->lock);
}
