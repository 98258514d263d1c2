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
    CORE_PROGRAM = 5,
    CORE_SPARSE = 6,
    CORE_COMM = 7,
    CORE_GRID = 8,
    CORE_GRAPH = 9,
    CORE_KIND_COUNT = 10
} core_kind;

/* If there is no memory, calls core_fail and returns 0. The first member of every object is its id.
 */
uint64_t core_handle_new(const char *call, core_kind kind, void *object);
/* Stores the object's pointer at the address `object`. The object stays alive until it is released.
 * The error text names `argument`. */
iso_status core_handle_acquire(const char *call, const char *argument, uint64_t id, core_kind kind,
                               void *object);
/* The same without an error text; false: the handle is not valid. */
bool core_handle_get(uint64_t id, core_kind kind, void *object);
/* A pointer declared with this is released when it goes out of scope, unless it is NULL. */
#define CORE_HELD __attribute__((cleanup(core_handle_put)))
void core_handle_put(void *pointer);
/* Acquires a handle that is known to be valid; false if its object is being destroyed. */
bool core_handle_try(uint64_t id);
/* Whether it is valid now. */
bool core_handle_alive(uint64_t id);
/* Whether its object was freed. A handle that is being destroyed is not gone yet. */
bool core_handle_gone(uint64_t id);
void core_handle_release(uint64_t id);
/* Makes the handle stale at once, waits for calls that use it, and returns the object. Only one
 * caller succeeds. */
iso_status core_handle_retire(const char *call, const char *argument, uint64_t id, core_kind kind,
                              void *object);
bool core_handle_retire_quietly(uint64_t id);
/* The error of an exit handler that destroys what its thread's call uses. */
iso_status core_handle_in_use(const char *call, const char *argument);
/* Lets the slot of a retired handle be reused. */
void core_handle_free(uint64_t id);

/* ---- physical devices ------------------------------------------------------------------------ */

typedef struct core_stream core_stream;
typedef struct core_block core_block;

/* An open physical device. All handles to it share this struct, so that their streams can be
 * ordered and their memory counted together. */
typedef struct core_physical {
    core_backend *backend;
    const iso_backend *table;
    int32_t index;
    int64_t opens;            /* references; 0: closed; guarded by the table's lock */
    bool adopted;             /* opened in a context that the program made */
    iso_native_device native; /* that context; guarded by the table's lock */
    void *device;
    char spec[ISO_NAME_MAX];
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when an object is unlinked */
    /* The lock guards these fields and the lists in each core_device. */
    int64_t used, peak;
    core_stream *streams; /* by ascending serial */
    uint64_t stream_bits;
    uint64_t next_serial;
    core_block *blocks; /* of all handles to this device */
    struct core_physical *next;
} core_physical;

iso_status core_physical_open(const char *call, core_backend *backend, int32_t index,
                              core_physical **out);
/* Opens the device of a context that the program made; the same context gives the same device. */
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

typedef struct core_tuned core_tuned;

typedef struct core_device {
    uint64_t id;
    core_physical *physical;
    const iso_backend *table;
    iso_math math;
    iso_keep keep; /* never DEFAULT */
    int64_t limit; /* -1: none */
    char *choice;
    core_tuned *tuned; /* its table of measured choices: tuned.h */
    core_child *children;
} core_device;

/* Begins a call that creates an object: sets *out to 0, and acquires the device. */
iso_status core_create_begin(const char *call, iso_device handle, uint64_t *out,
                             core_device **device);
/* Gives the object that begins with `child` a handle and links it. NO_MEMORY if that fails. */
iso_status core_child_add(const char *call, core_device *device, core_child *child, core_kind kind);
void core_child_unlink(core_child *child);
/* The native object behind an object of the backend; UNSUPPORTED if the backend exposes none. */
iso_status core_native_get(const char *call, core_device *device, iso_native_kind kind,
                           void *object, void **native);
/* MISMATCH unless both belong to the same device handle. */
iso_status core_check_device(const char *call, const char *name, const core_child *child,
                             const char *other_name, const core_child *other);

#endif
