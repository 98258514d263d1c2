/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.c - lists every backend and device, with the reason for what is not available. */
#include "core/error.h"
#include "core/registry.h"
#include "core/stack.h"
#include "core/structs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rows {
    char *entries; /* `stride` bytes apart */
    uint32_t stride;
    int32_t capacity, count;
} rows;

static void put(rows *into, const iso_entry *entry)
{
    if (into->count < into->capacity) {
        char *at = into->entries + (size_t)into->count * into->stride;

        memcpy(at, &into->stride, sizeof into->stride);
        core_struct_write(at, entry, sizeof *entry);
    }
    into->count++;
}

/* The text of a backend's failure, without the names that the core has prefixed. */
static const char *own_words(const char *call, const core_backend *backend)
{
    const char *text = iso_last_error();
    char start[2 * ISO_NAME_MAX];
    const int length = snprintf(start, sizeof start, "%s: %s: ", call, backend->name);

    return strncmp(text, start, (size_t)length) ? text : text + length;
}

/* NO_MEMORY, or the row describes the device. */
static iso_status describe_device(const char *call, core_backend *backend, int32_t index,
                                  iso_entry *entry)
{
    core_kept_error kept = core_error_keep();
    iso_status status = core_backend_device_info(call, backend, index, &entry->device);
    const bool known = !status;

    if (known) {
        status = core_backend_device_usable(call, backend, index);
    }
    if (status == ISO_NO_MEMORY) {
        free(kept.text);
        return status;
    }
    if (!known) {
        entry->state = ISO_STATE_NO_DEVICE;
        snprintf(entry->reason, sizeof entry->reason, "device %d: %.4000s", index,
                 iso_last_error());
        memset(&entry->device, 0, sizeof entry->device);
    } else if (status) {
        entry->state = ISO_STATE_BROKEN;
        snprintf(entry->reason, sizeof entry->reason, "%s", own_words(call, backend));
    }
    core_error_restore(&kept);
    return ISO_OK;
}

/* NO_MEMORY, or the backend's rows were added. */
static iso_status put_backend(const char *call, rows *into, core_backend *backend, iso_entry *entry,
                              iso_probe *probe)
{
    iso_status status = core_backend_probe(call, backend, probe);

    for (int32_t i = 0; !status && (i < probe->devices || i == 0); i++) {
        memset(entry, 0, sizeof *entry);
        entry->size = (uint32_t)sizeof *entry;
        entry->state = probe->state;
        entry->is_plugin = backend->is_plugin;
        snprintf(entry->backend, sizeof entry->backend, "%s", backend->name);
        snprintf(entry->origin, sizeof entry->origin, "%s", backend->origin);
        snprintf(entry->reason, sizeof entry->reason, "%s",
                 probe->state == ISO_STATE_OK ? "" : probe->reason);
        if (probe->state == ISO_STATE_OK && into->count < into->capacity) {
            status = describe_device(call, backend, i, entry);
        }
        if (!status) {
            put(into, entry);
        }
    }
    return status;
}

/* The rows are a context. */
static iso_status list_all(void *context)
{
    const char *call = "iso_enumerate";
    rows *into = context;
    iso_status status = ISO_OK;
    iso_entry *entry = malloc(sizeof *entry);
    iso_probe *probe = malloc(sizeof *probe);
    int backends = 0;
    core_backend **list = core_backend_list(&backends);

    if (!list || !entry || !probe) {
        status = core_fail_no_memory(call, (int64_t)(sizeof *entry + sizeof *probe));
    }
    for (int i = 0; i < backends && !status; i++) {
        status = put_backend(call, into, list[i], entry, probe);
    }
    free(list);
    free(entry);
    free(probe);
    return status;
}

iso_status iso_enumerate(iso_entry *entries, int32_t capacity, int32_t *count)
{
    const char *call = "iso_enumerate";
    rows into = {.entries = (char *)entries, .capacity = capacity};
    iso_status status;

    if (!count) {
        return core_fail(ISO_INVALID, "%s: count is NULL: pass where the number of rows goes",
                         call);
    }
    if (capacity < 0) {
        return core_fail(ISO_INVALID, "%s: capacity is %d: pass 0 or more", call, capacity);
    }
    if (capacity > 0) {
        status = core_struct_check(call, "entries", entries, CORE_END_OF(iso_entry, state));
        if (status) {
            return status;
        }
        into.stride = entries->size;
    }
    status = core_stack_run(call, list_all, &into);
    if (!status) {
        *count = into.count;
    }
    return status;
}
