/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - for authors of backends. Programs that use isomer do not need it.
 *
 * A plug-in is a shared object isomer-NAME.so that exports one function, isomer_backend_query. The
 * built-in backends are described by the very same struct. The core opens a plug-in with RTLD_NOW |
 * RTLD_LOCAL, asks it when it is looked up (again if it was refused), and never closes it.
 *
 * Versions. A plug-in and the core work together when their ABI major is the same. Both use the
 * part of each struct that both know (its `size`), in either direction: entries are only ever
 * appended, and no required entry is added within a major. A NULL optional entry means "does not
 * have it"; a NULL required entry makes the core refuse the plug-in and name the entry.
 *
 * What the core does before a call reaches a backend: handles are resolved, enumerators, sizes,
 * leading dimensions, bounds, alignment and overlap are checked, the variant is never AUTO and the
 * math mode never DEFAULT, leading dimensions are never 0, a batch is at least 1, empty products
 * (m, n or batch 0), empty transposes, empty maps and reductions over no elements do not arrive, a
 * product whose alpha rounds to 0 arrives with k = 0, the device is the one that every operand
 * belongs to, and memory is within the limit. Entries are called with floating point in its default
 * state (to nearest, subnormals kept, no traps), whatever the program's thread has set. A product
 * that may use TF32 and is UNSUPPORTED with it is asked about as a strict one. Maps do not
 * arrive as vendor, matrix or partials, nor at a backend of a minor under 2.
 *
 * Operands share no element, but their ranges may interleave: what lies between the rows of one, or
 * between the matrices of its batch, may belong to another, or to another matrix of the same batch
 * (stride_c may be less than C spans). A backend writes no byte there, not even the one that it
 * read before, because another thread may be writing it.
 *
 * What a backend promises: `execute` never answers UNSUPPORTED where `supports` answered ISO_OK for
 * the same operation, and `supports` looks at neither alpha nor beta: what it says of a product
 * holds with k = 0 too; it allocates no device memory of its own for an operation, but asks for
 * scratch memory through `workspace`; it reports failures through host->fail and allocates through
 * host->alloc; it leaves the thread's current context, floating-point environment and signal mask
 * as it found them.
 *
 * Threads. Every entry may be called from several threads at once, except that the core never calls
 * two entries with the same stream at once, other than stream_sync and stream_query: these may be
 * called while another thread submits to the stream, or waits for it. It destroys an object only
 * when no call with it is running, a stream or a buffer only when its work has finished, an event
 * only when its last record is complete; a stream may then still have a wait for it ahead.
 */
#ifndef ISOMER_BACKEND_H
#define ISOMER_BACKEND_H

#include <isomer/device.h>
#include <isomer/interop.h>
#include <isomer/memory.h>
#include <isomer/op.h>
#include <isomer/types.h>

ISO_BEGIN_DECLS

#define ISO_ABI_MAJOR 1
#define ISO_ABI_MINOR                                                                              \
    3 /* 1: adopting, importing, DLPack, iso_gemm_op.library; 2: maps, telemetry; 3: stacks,       \
         device_usable */

/* ---- What the core offers to a backend ------------------------------------------------------- */

typedef enum iso_log_level {
    ISO_LOG_ERROR = 1,
    ISO_LOG_WARN = 2,
    ISO_LOG_INFO = 3,
    ISO_LOG_DEBUG = 4
} iso_log_level;

typedef struct iso_host {
    uint32_t size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t reserved;
    const char *version; /* of the library */

    /* Host memory, aligned to 64 bytes, contents undefined; NULL if there is none (and then fail()
     * has been called with NO_MEMORY). free(NULL) does nothing. Never used on the hot path. */
    void *(*alloc)(int64_t bytes);
    void (*free)(void *pointer);

    /* Sets this thread's error text and returns `status`: `return host->fail(ISO_BACKEND, "...")`.
     * Names what failed, its value and what to do; the core puts the call's name before it. */
    iso_status (*fail)(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);

    /* A line for ISOMER_LOG. */
    void (*log)(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);

    /* The value in force of an ISOMER_ setting; NULL if it is unset and has no default. Owned by
     * the core, valid for the process's life. */
    const char *(*setting)(const char *name);

    /* The program cache: a file of up to 256 MiB for a key of any length. `load` gives a block from
     * alloc() and its size, or NULL, with the size -1 where it is there and host memory for it is
     * not (and then fail() has been called with NO_MEMORY), else 0; `store` answers 0 if it was
     * kept. A cache that cannot be used loads nothing. */
    void *(*cache_load)(const void *key, int64_t key_bytes, int64_t *bytes);
    int32_t (*cache_store)(const void *key, int64_t key_bytes, const void *data, int64_t bytes);

    /* -- minor 3 -- */
    /* Bytes that are left of this thread's stack; INT64_MAX where that is not known. */
    int64_t (*stack_left)(void);

    /* What a variable of the environment names, a folder or a file that libraries are loaded from:
     * ISOMER_'s or another's. NULL where it is unset, is not an absolute path, or is ignored since
     * the program has more rights than its caller; `problem` (capacity bytes, not NULL) says why,
     * and is "" where it is unset or good. Valid for the process's life. */
    const char *(*path)(const char *name, char *problem, int64_t capacity);

    /* Whether no other user could put something else at an absolute path: all of it belongs to
     * root, to this process's user, or to an owner of the library's own folders, and only they can
     * write there. 0: not so, and `problem` says why. A program that a backend starts has to pass.
     */
    int32_t (*trusted)(const char *path, char *problem, int64_t capacity);
} iso_host;

/* ---- Operations, resolved and checked -------------------------------------------------------- */

/* A place in device memory: what memory_alloc gave, and a byte offset. memory is NULL where an
 * operand is not used (y, or A and B where k is 0) and in questions (supports, workspace, prepare,
 * describe). */
typedef struct iso_ref {
    void *memory;
    int64_t offset;
} iso_ref;

typedef struct iso_gemm_op {
    iso_dtype dtype;
    iso_variant variant;
    iso_math math;
    iso_trans trans_a, trans_b;
    int32_t library; /* vendor: which of the device's libraries; 0 the first */
    int64_t m, n, k;
    double alpha, beta; /* already rounded to the accumulation type */
    iso_ref a, b, c;
    int64_t lda, ldb, ldc;
    int64_t batch, stride_a, stride_b, stride_c;
} iso_gemm_op;

typedef struct iso_transpose_op {
    iso_variant variant;
    uint32_t reserved;
    int64_t element_bytes;
    int64_t rows, cols;
    iso_ref from, to; /* equal where it is done in place */
    int64_t ld_from, ld_to;
} iso_transpose_op;

typedef struct iso_reduce_op_args {
    iso_reduce_op op;
    iso_dtype dtype;
    iso_dtype result_dtype;
    iso_variant variant;
    iso_axis axis;
    uint32_t reserved;
    int64_t rows, cols; /* for ISO_AXIS_ALL rows is 1 and cols the number of elements */
    iso_ref x, y;
    int64_t ld_x, ld_y;
    iso_ref result;
} iso_reduce_op_args;

typedef struct iso_map_op_args {
    iso_map_op op;
    iso_dtype dtype;
    iso_variant variant;
    uint32_t reserved;
    int64_t n, steps;   /* steps is 0 where the operation is not chain */
    double alpha, beta; /* already rounded to the type of the computation */
    iso_ref x, y, z;    /* z may equal x or y */
} iso_map_op_args;

/* One operation. The core's struct lives for the call only: a backend that runs it later copies it.
 */
typedef struct iso_op {
    uint32_t size; /* of this struct */
    iso_op_kind kind;
    union {
        const void *args; /* a kind that the backend does not know is UNSUPPORTED */
        const iso_gemm_op *gemm;
        const iso_transpose_op *transpose;
        const iso_reduce_op_args *reduce;
        const iso_map_op_args *map;
    };
    uint32_t args_size; /* of the struct behind args */
    uint32_t reserved;
    iso_ref workspace; /* scratch memory of at least what `workspace` asked for; the stream's own */
    int64_t workspace_bytes;
} iso_op;

/* One transfer: `height` rows of `width` bytes, neither 0. A 1-D transfer has height 1. */
typedef enum iso_transfer_kind {
    ISO_TRANSFER_WRITE = 1, /* host_from to `to` */
    ISO_TRANSFER_READ = 2,  /* `from` to host_to */
    ISO_TRANSFER_COPY = 3,  /* `from` to `to`, both on this device */
    ISO_TRANSFER_FILL = 4   /* the pattern to `to` */
} iso_transfer_kind;

typedef struct iso_transfer {
    uint32_t size;
    iso_transfer_kind kind;
    iso_ref to, from;
    const void *host_from;
    void *host_to;
    int64_t to_pitch, from_pitch; /* bytes from one row to the next, on either side */
    int64_t width, height;
    uint8_t pattern[16];
    int64_t pattern_bytes; /* 1, 2, 4, 8 or 16; width is a multiple of it */
} iso_transfer;

/* ---- What a backend offers to the core ------------------------------------------------------- */

/* What probing found. `devices` counts where the state is OK; `reason` says why elsewhere, with
 * every path that was tried. */
typedef struct iso_probe {
    uint32_t size;
    iso_state state;
    int32_t devices;
    uint32_t reserved;
    char reason[ISO_REASON_MAX];
} iso_probe;

/* Flags of a backend. */
enum {
    /* It only says why it is not available: `probe` is its one required entry, and never finds a
       device. */
    ISO_BACKEND_PROBE_ONLY = 1,
    /* After fork() a child may forget all objects and open devices anew. Without it the core
     * answers UNAVAILABLE in the child of a process in which probing this backend had reached a
     * driver: had answered anything but NOT_FOUND. */
    ISO_BACKEND_FORK_SAFE = 2
};

typedef struct iso_backend {
    uint32_t size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t flags;
    const char *name;       /* lower-case letters, digits, '-' and '_' */
    const char *build_info; /* one line: version, compiler, options */

    /* -- devices -- */
    /* Required. Touches the driver, fills *out. Called again only where a state may have changed.
     */
    iso_status (*probe)(iso_probe *out);
    /* Required. Describes a device without opening it (spec and backend are filled by the core). */
    iso_status (*device_info)(int32_t index, iso_device_info *out);
    /* Required. */
    iso_status (*device_open)(int32_t index, void **device);
    void (*device_close)(void *device);
    /* Optional: the i-th property; NOT_READY past the last. */
    iso_status (*device_property)(void *device, int32_t index, iso_property *out);

    /* -- memory -- */
    /* Required. bytes is at least 1; aligned to 256 bytes. */
    iso_status (*memory_alloc)(void *device, int64_t bytes, void **memory);
    void (*memory_free)(void *device, void *memory);
    /* Optional, together: host memory that the device copies fast. Without them the core gives
     * plain memory. */
    iso_status (*host_alloc)(void *device, int64_t bytes, void **pointer, int32_t *pinned);
    void (*host_free)(void *device, void *pointer);
    /* Optional, together: pin the caller's memory. */
    iso_status (*host_register)(void *device, void *pointer, int64_t bytes, int32_t *pinned);
    void (*host_unregister)(void *device, void *pointer);

    /* -- streams and events -- */
    /* Required. A flag that it does not know is UNSUPPORTED. */
    iso_status (*stream_create)(void *device, uint32_t flags, void **stream);
    /* Required. The core has synchronised the stream before. */
    void (*stream_destroy)(void *stream);
    /* Required. Waits; returns the stream's late error. After a late error the stream runs nothing
     * more, but events recorded on it still complete. */
    iso_status (*stream_sync)(void *stream);
    /* Required. ISO_OK, NOT_READY (without calling fail) or the late error. */
    iso_status (*stream_query)(void *stream);
    /* Required. */
    iso_status (*event_create)(void *device, void **event);
    void (*event_destroy)(void *event);
    iso_status (*event_record)(void *event, void *stream);
    /* Required. Work submitted to the stream later waits for the event's last record. */
    iso_status (*stream_wait)(void *stream, void *event);
    /* Required. The core calls these only for events that were recorded. */
    iso_status (*event_sync)(void *event);
    iso_status (*event_query)(void *event);
    iso_status (*event_elapsed)(void *start, void *stop, int64_t *nanoseconds);

    /* -- transfers and operations -- */
    /* Required. Host memory may be used until the stream has passed the transfer. */
    iso_status (*transfer)(void *stream, const iso_transfer *transfer);
    /* Required. ISO_OK, or UNSUPPORTED with the reason through fail. Operands are NULL. */
    iso_status (*supports)(void *device, const iso_op *op);
    /* Required. Scratch bytes (0: none) for a supported operation. */
    iso_status (*workspace)(void *device, const iso_op *op, int64_t *bytes);
    /* Required. Submits a supported operation. */
    iso_status (*execute)(void *stream, const iso_op *op);
    /* Optional. Opens and builds ahead of time what `execute` would. */
    iso_status (*prepare)(void *stream, const iso_op *op);
    /* Optional. Fills library and kernel of a supported operation. */
    iso_status (*describe)(void *device, const iso_op *op, iso_op_info *out);
    /* Optional. Copies straight from another device of this backend, ordered on both streams.
     * UNSUPPORTED where there is no path: the core then stages it. */
    iso_status (*copy_peer)(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                            int64_t bytes);

    /* -- joining with a program's own objects (minor 1); all optional -- */
    /* A device in the program's own context; *index is its number among this backend's devices. It
     * is closed by device_close, which leaves what it did not make. */
    iso_status (*device_adopt)(const iso_native_device *native, int32_t *index, void **device);
    /* A stream of the program's own; stream_destroy forgets it. */
    iso_status (*stream_adopt)(void *device, void *native, void **stream);
    /* Together: memory that somebody else owns, as what memory_alloc would give; checked as far as
     * the driver can tell (INVALID: not memory of this device, or shorter). */
    iso_status (*memory_import)(void *device, void *native, int64_t bytes, void **memory);
    void (*memory_forget)(void *device, void *memory);
    /* The native object behind what this backend gave: `object` is the device (CONTEXT, DEVICE), a
     * stream, an event or memory. */
    iso_status (*native_get)(void *device, iso_native_kind kind, void *object, void **native);
    /* The type and id that DLPack knows this device by. */
    iso_status (*dlpack_device)(void *device, int32_t *type, int32_t *id);
    /* Not 0: the driver lets nobody write that imported memory. Without it all can be written. */
    int32_t (*memory_is_read_only)(void *device, void *memory);

    /* -- minor 2 -- */
    /* Optional. What the device's sensors say now; what they do not tell is left as the core set
     * it. UNSUPPORTED, with every library that was tried, where there are no sensors. */
    iso_status (*telemetry)(void *device, iso_telemetry *out);

    /* -- minor 3 -- */
    /* Stack that this backend's libraries need, in bytes; 0: a few KiB. The core opens devices in a
     * thread with enough, and answers NO_MEMORY for an entry that allocates, submits, builds or
     * describes where the caller's thread has less left. */
    int64_t stack_bytes;
    /* Optional. UNAVAILABLE, with the reason, of a device that is there and is not to be opened
     * (ISO_STATE_BROKEN); else ISO_OK. Called before device_open, and where devices are listed; it
     * may take its time at the first call, and the core asks no more than it needs to know. */
    iso_status (*device_usable)(int32_t index);
} iso_backend;

/*
 * The one symbol of a plug-in. It touches no driver, keeps `host` (which lives as long as the
 * process) and returns a descriptor that lives as long, or NULL if it cannot work with this host.
 * `host_abi` is the core's (major << 16 | minor).
 */
#define ISO_BACKEND_QUERY_NAME "isomer_backend_query"
typedef const iso_backend *(*iso_backend_query)(uint32_t host_abi, const iso_host *host);

/* Declared here so that a plug-in's definition is exported whatever -fvisibility says. The library
 * itself defines no such function. */
#define ISO_PLUGIN_EXPORT __attribute__((visibility("default")))
ISO_PLUGIN_EXPORT const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host);

ISO_END_DECLS

#endif
