/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - buffers and the memory that they hold, transfers, and DLPack. */
#ifndef ISOMER_CORE_MEMORY_H
#define ISOMER_CORE_MEMORY_H

#include "core/device.h"

#include <stdatomic.h>

/* Memory of a device. The buffer and every DLPack tensor of it hold a reference; the last one frees
 * it. */
typedef struct core_memory {
    atomic_int holders;
    core_physical *physical;
    void *memory;    /* the backend's; NULL if there are no bytes */
    int64_t counted; /* bytes counted against the memory limit */
    bool imported;
    void (*release)(void *context); /* of imported memory; may be NULL */
    void *context;
} core_memory;

void core_memory_drop(core_memory *memory);

typedef struct core_buffer {
    core_child child;
    /* Offset of its first byte in its memory. Imported memory is taken from an aligned address on,
     * so an offset's alignment is that of its address. */
    int64_t origin;
    int64_t bytes;
    bool read_only;
    core_memory *owner;
    _Atomic uint64_t used_by; /* bits of streams that may have work that uses it */
} core_buffer;

/* A buffer of imported memory; on failure the caller still owns the memory. */
typedef struct core_import {
    void *native;
    int64_t bytes;
    bool read_only;
    void (*release)(void *context);
    void *context;
} core_import;
iso_status core_buffer_import(const char *call, core_device *device, const core_import *what,
                              iso_buffer *out);
/* The place of a byte of the buffer, in the backend's terms. */
iso_ref core_buffer_ref(const core_buffer *buffer, int64_t offset);
/* Acquires the operand's buffer, which must be of the stream's device; on MISMATCH it is held too.
 */
iso_status core_operand_acquire(const char *call, const char *name, iso_operand operand,
                                const core_stream *stream, core_buffer **out);
/* INVALID unless the range lies in the buffer. */
iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer);
/* INVALID if the buffer must not be written. */
iso_status core_check_writable(const char *call, const char *name, const core_buffer *buffer);

/* Counts memory against the device's limit. */
iso_status core_memory_take(const char *call, core_device *device, int64_t bytes);
void core_memory_give(core_physical *physical, int64_t bytes);

/* The rest of destroying, after the handle was retired; frees the object. */
void core_buffer_finish(core_buffer *buffer);
void core_blocks_finish(core_device *device);

/* ---- transfers ------------------------------------------------------------------------------- */

/* One row of that many bytes. The caller sets its ends. */
iso_transfer core_transfer_run(iso_transfer_kind kind, int64_t bytes);
/* Submits a checked transfer to a locked stream. */
iso_status core_transfer_submit(const char *call, core_stream *stream,
                                const iso_transfer *transfer);

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* The device's DLPack type and id; UNSUPPORTED if it has none. */
iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id);
/* Whether the native object of its memory is an address. */
bool core_dlpack_is_address(int32_t type);

#endif
