/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - handles: numbers that stand for objects. */
#ifndef ISOMER_CORE_HANDLE_H
#define ISOMER_CORE_HANDLE_H

#include <isomer/isomer.h>

#include <stdbool.h>

typedef enum core_kind {
    CORE_DEVICE = 1,
    CORE_STREAM = 2,
    CORE_EVENT = 3,
    CORE_BUFFER = 4,
    CORE_KIND_COUNT = 5
} core_kind;

/* 0: no memory (and core_fail was called). */
uint64_t core_handle_new(const char *call, core_kind kind, void *object);
/* The object, kept alive until the release. The error text names `argument`. */
iso_status core_handle_acquire(const char *call, const char *argument, uint64_t id, core_kind kind,
                               void *object);
/* The same for a handle known to be right; false if it is being destroyed. */
bool core_handle_try(uint64_t id);
void core_handle_release(uint64_t id);
/* Makes the handle stale at once, waits for calls that use it, and returns the object. Only one
 * caller succeeds. */
iso_status core_handle_retire(const char *call, const char *argument, uint64_t id, core_kind kind,
                              void *object);
bool core_handle_retire_quietly(uint64_t id);
/* After a retire: releases the slot for reuse. */
void core_handle_free(uint64_t id);

#endif
