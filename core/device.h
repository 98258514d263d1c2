/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - handles, physical devices, devices, and the objects of a device. */
#ifndef ISOMER_CORE_DEVICE_H
#define ISOMER_CORE_DEVICE_H

#include "core/registry.h"

/* ---- handles: numbers that stand for objects ------------------------------------------------- */

typedef enum core_kind {
    CORE_DEVICE = 1,
    CORE_STREAM = 2,
    CORE_EVENT = 3,
    CORE_BUFFER = 4,
    CORE_KIND_COUNT = 5
} core_kind;

/* 0: no memory (and core_fail was called). Every object begins with its id. */
uint64_t core_handle_new(const char *call, core_kind kind, void *object);
/* `object` is the address of a pointer, which is set. The object stays alive until the release. The
 * error text names `argument`. */
iso_status core_handle_acquire(const char *call, const char *argument, uint64_t id, core_kind kind,
                               void *object);
/* A pointer declared with this is released when it goes out of scope, unless it is NULL. */
#define CORE_HELD __attribute__((cleanup(core_handle_put)))
void core_handle_put(void *pointer);
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

/* ---- physical devices ------------------------------------------------------------------------ */

typedef struct core_stream core_stream;
typedef struct core_block core_block;

/* A physical device that is open, shared by all handles to it, so that their streams and memory can
 * be ordered and counted together. */
typedef struct core_physical {
    core_backend *backend;
    const iso_backend *table;
    int32_t index;
    int64_t opens;            /* guarded by the table's lock; 0: closed */
    bool adopted;             /* in a context of the program's own, ... */
    iso_native_device native; /* ... this one; guarded by the table's lock */
    void *device;
    char spec[ISO_NAME_MAX];
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an object was unlinked */
    /* Guarded by the lock, as are the lists of the devices. */
    int64_t used, peak;
    core_stream *streams; /* ascending serial */
    uint64_t stream_bits;
    uint64_t next_serial;
    core_block *blocks; /* of all its handles */
    struct core_physical *next;
} core_physical;

iso_status core_physical_open(const char *call, core_backend *backend, int32_t index,
                              core_physical **out);
/* The device of a program's context; the same context gives the same device. */
iso_status core_physical_adopt(const char *call, core_backend *backend,
                               const iso_native_device *native, core_physical **out);
/* Adds a reference that keeps it open. */
void core_physical_keep(core_physical *physical);
void core_physical_close(core_physical *physical);

/* ---- devices --------------------------------------------------------------------------------- */

/* The first member of every object of a device. */
typedef struct core_child {
    uint64_t id;
    core_kind kind;
    struct core_device *device;
    struct core_child *next, *previous;
} core_child;

struct core_block {
    core_block *next;
    struct core_device *device;
    void *pointer;
    int64_t bytes;
    bool registered;   /* the caller's memory */
    bool from_backend; /* the backend allocated or pinned it */
    bool pending;      /* being pinned: no other thread may release it yet */
};

typedef struct core_device {
    uint64_t id;
    core_physical *physical;
    const iso_backend *table;
    iso_math math;
    int64_t limit; /* -1: none */
    char *choice;
    core_child *children;
} core_device;

/* Begins a call that creates an object: *out is 0 until the call succeeds, and the device is held.
 */
iso_status core_create_begin(const char *call, iso_device handle, uint64_t *out,
                             core_device **device);
/* Gives the object that begins with `child` a handle, and links it. NO_MEMORY. */
iso_status core_child_add(const char *call, core_device *device, core_child *child, core_kind kind);
void core_child_unlink(core_child *child);
/* The native object behind an object of the backend; UNSUPPORTED if the backend exposes none. */
iso_status core_native_get(const char *call, core_device *device, iso_native_kind kind,
                           void *object, void **native);
/* MISMATCH unless both are of one device handle. */
iso_status core_check_device(const char *call, const char *name, const core_child *child,
                             const char *other_name, const core_child *other);

#endif
