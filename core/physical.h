/* SPDX-License-Identifier: Apache-2.0 */
/* physical.h - a physical device that is open, shared by all handles to it. */
#ifndef ISOMER_CORE_PHYSICAL_H
#define ISOMER_CORE_PHYSICAL_H

#include "core/registry.h"

struct core_stream;
struct core_block;

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
    struct core_stream *streams; /* ascending serial */
    uint64_t stream_bits;
    uint64_t next_serial;
    struct core_block *blocks; /* of all its handles */
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

#endif
