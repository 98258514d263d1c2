/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - buffers and the memory that they hold, transfers, and DLPack. */
#ifndef ISOMER_CORE_MEMORY_H
#define ISOMER_CORE_MEMORY_H

#include "core/device.h"

#include <stdatomic.h>

/* Memory of a device. Its buffer and every DLPack tensor that was exported from it hold a reference
 * each; the memory is freed when the last reference is dropped. */
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
    /* The offset of the buffer's first byte in its memory. Imported memory is made to begin at an
     * aligned address, which may be before the buffer. So `origin` plus an offset in the buffer has
     * the same alignment as the address there. */
    int64_t origin;
    int64_t bytes;
    bool read_only;
    core_memory *owner;
    _Atomic uint64_t used_by; /* bits of streams that may have work that uses it */
} core_buffer;

/* Memory to import as a buffer. If the import fails, the caller still owns the memory. */
typedef struct core_import {
    void *native;
    int64_t bytes;
    bool read_only;
    void (*release)(void *context);
    void *context;
} core_import;
iso_status core_buffer_import(const char *call, core_device *device, const core_import *what,
                              iso_buffer *out);
/* The backend's reference to a byte of the buffer. */
iso_ref core_buffer_ref(const core_buffer *buffer, int64_t offset);
/* Acquires the operand's buffer, which must belong to the stream's device. On MISMATCH the buffer
 * was acquired too, and must be released. */
iso_status core_operand_acquire(const char *call, const char *name, iso_operand operand,
                                const core_stream *stream, core_buffer **out);
/* INVALID unless the range lies in the buffer. */
iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer);
/* INVALID unless elements of `align` bytes may begin at the offset. */
iso_status core_check_alignment(const char *call, const char *name, int64_t offset, int64_t align,
                                const core_buffer *buffer);
/* INVALID if the buffer must not be written. */
iso_status core_check_writable(const char *call, const char *name, const core_buffer *buffer);

/* Counts memory against the device's limit. */
iso_status core_memory_take(const char *call, core_device *device, int64_t bytes);
void core_memory_give(core_physical *physical, int64_t bytes);

/* Called after the handle of the buffer or device was retired: frees the buffer, or the device's
 * blocks of host memory. */
void core_buffer_finish(core_buffer *buffer);
/* Its memory is never freed: a library that failed may still write to it. */
void core_buffer_keep(iso_buffer handle);
void core_blocks_finish(core_device *device);

/* ---- transfers ------------------------------------------------------------------------------- */

/* A transfer of one row of that many bytes. The caller sets where it reads and writes. */
iso_transfer core_transfer_run(iso_transfer_kind kind, int64_t bytes);
/* Submits a checked transfer to a locked stream. */
iso_status core_transfer_submit(const char *call, core_stream *stream,
                                const iso_transfer *transfer);

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* The device's DLPack type and id; UNSUPPORTED if it has none. */
iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id);
/* Whether the native object for memory of this DLPack type is an address. */
bool core_dlpack_is_address(int32_t type);

#endif
