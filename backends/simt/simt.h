/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.h - code that all GPU backends share. It plans an operation (which kernel, which tile, how
 * many groups), finds the operation's program in the cache or builds it, and launches it through a
 * small driver.
 *
 * A backend provides a simt_driver (driver.c), a simt_vendor (blas.c) and a SIMT_BACKEND
 * (library.c). Two of them also share blas.h, sparse.h and comm.h. No code in this folder is for
 * one vendor only.
 *
 * The core's `void *device` is a simt_device, its `void *stream` a simt_stream, its `void *event` a
 * simt_event. Its `void *memory` comes from the driver and is passed on unchanged: the address
 * itself if limits.memory_is_address is set, else a handle. Kernels get the memory and the offset
 * as two arguments.
 *
 * Threads: the rules of backend.h apply. The driver's functions may be called from several threads
 * at once.
 */
#ifndef ISOMER_SIMT_H
#define ISOMER_SIMT_H

#include "common/gemv.h"

#include <isomer/backend.h>

#include "backends/loader/loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- devices --------------------------------------------------------------------------------- */

/* The stack that these backends ask for (backend.h), because vendors' compilers run in the caller's
 * thread. Measured: hipRTC needs up to 192 KiB, NVRTC 128, PoCL 105. A thread with a stack of 256
 * KiB is enough. */
enum { SIMT_STACK_BYTES = 224 * 1024 };

/* Classes of devices. The class decides which kernels and tiles are used. */
typedef enum simt_class {
    SIMT_CLASS_WARP32 = 0, /* a GPU whose work-items run 32 at a time */
    /* The same, but values that all work-items share are in scalar registers, which are few. */
    SIMT_CLASS_WAVE32 = 1,
    SIMT_CLASS_WAVE64 = 2, /* like WAVE32, but 64 at a time */
    SIMT_CLASS_CPU = 3,    /* a CPU: a group runs as a loop, shared memory is ordinary memory */
    SIMT_CLASS_SMALL = 4,  /* any device, with the smallest tiles (ISOMER_TILES=small) */
    SIMT_CLASS_COUNT = 5
} simt_class;

typedef struct simt_limits {
    simt_class device_class;
    int32_t units;       /* multiprocessors or compute units */
    int32_t threads_max; /* work-items of a group */
    int64_t local_bytes; /* shared memory of a group */
    int64_t alloc_max;   /* bytes of one buffer */
    int64_t cache_bytes; /* last-level cache; 0 if unknown */
    bool memory_is_address;
    bool host_pages;         /* it uses the host's page tables, so pageable memory is no slower */
    int64_t items_most;      /* work-items of a launch along x */
    bool f64;                /* computes in f64, with subnormals and infinities */
    bool f32_exact;          /* f32 with subnormals, infinities and a true fma */
    bool shuffle;            /* its compiler has ISO_SHUFFLE: see dialect.h */
    bool atomic64;           /* compare and swap of 64-bit words in global memory */
    const char *f32_problem; /* what is missing if f32_exact is false; static text */
    const char *f64_problem;
    /* Products inside other operations may use the vendor's library for bytes, because it has
     * matrix units for them. */
    bool bytes;
    /* From these m, n and k on, a fixed product by that library is expected to be faster than every
     * other variant; 0: never. */
    int32_t fixed_from_f32, fixed_from_f64;
    /* The rows of one instruction of its f64 matrix unit: 8 or 16 (see dialect.h); 0: none is used,
     * and f64_unit_problem says why, or is NULL if the device has no such unit. */
    int32_t f64_unit;
    const char *f64_unit_problem;
    bool ring;      /* it can run gemm_ring.cl: it copies into shared memory without registers */
    bool f64_split; /* it can run gemm_split.cl: see ISO_COPIERS in dialect.h */
    /* The work-items of a team for its int8 matrix units; 0: none are used, and byte_unit_problem
     * says why, or is NULL if it has none. */
    int32_t byte_unit;
    const char *byte_unit_problem;
    /* Whether it has AMD's matrix units for a type, which waves of 64 work-items execute (wave.cl);
     * if they are there but must not be used, why. */
    bool wave_f64, wave_f32;
    const char *wave_f64_problem, *wave_f32_problem;
    /* Shared memory of a group and of all groups on a unit, with what a launch may add; 0: it may
     * add nothing. */
    int64_t shared_most, shared_of_unit;
} simt_limits;

typedef struct simt_driver simt_driver;
typedef struct simt_vendor simt_vendor;
typedef struct simt_program simt_program;

/* The matrix units that a device may have. */
typedef enum simt_unit {
    SIMT_UNIT_F64 = 0, /* NVIDIA's */
    SIMT_UNIT_BYTES = 1,
    SIMT_UNIT_WAVE_F64 = 2, /* AMD's */
    SIMT_UNIT_WAVE_F32 = 3,
    SIMT_UNITS = 4
} simt_unit;

/* What is known of one of them. Once it is good or bad, it stays so. */
typedef enum simt_verdict {
    SIMT_UNIT_UNKNOWN = 0,
    SIMT_UNIT_GOOD = 1,
    SIMT_UNIT_BAD = 2
} simt_verdict;

enum { SIMT_UNIT_REASON = 512 };
typedef struct simt_unit_state {
    atomic_int verdict;            /* a simt_verdict */
    char reason[SIMT_UNIT_REASON]; /* why it is not used, once the verdict is SIMT_UNIT_BAD */
} simt_unit_state;

typedef struct simt_device {
    const simt_driver *driver;
    const iso_host *host;
    void *native; /* from the driver's device_open */
    int32_t index;
    simt_limits limits;
    /* backend.c */
    pthread_mutex_t pins_lock;
    struct simt_pin *pins; /* pinned ranges of the program's memory */
    /* program.c */
    pthread_rwlock_t programs_lock;
    pthread_mutex_t build_lock; /* one build at a time */
    simt_program *programs;
    void *vendor; /* state of the vendor's libraries, in one allocation; NULL until needed */
    pthread_mutex_t vendor_lock;
    /* graph.c: held while the driver records, and by calls that wait for the whole device. */
    pthread_mutex_t record_lock;
    /* unit.c */
    pthread_mutex_t unit_lock;
    simt_unit_state unit_states[SIMT_UNITS];
    /* ring.c */
    pthread_mutex_t rings_lock;
    struct simt_ring *rings[2]; /* of writes and of reads; NULL until needed */
    /* calls.c */
    pthread_mutex_t gates_lock;
    struct simt_gate *gates; /* those that no stream uses */
    /* bytes.c */
    atomic_int bytes_verdict; /* of the vendor's products of bytes: a simt_verdict */
    atomic_bool bytes_refused;
} simt_device;

typedef struct simt_calls simt_calls;

typedef struct simt_stream {
    simt_device *device;
    void *native;
    bool foreign; /* created by the program, not by stream_create */
    void *order;  /* the driver's event for copies between devices; NULL until needed */
    void *vendor; /* state of the vendor's libraries for this stream; NULL until needed */
    struct simt_event *reached;  /* ring.c: NULL until needed */
    _Atomic(simt_calls *) calls; /* NULL until needed */
    /* Of a stream that is a graph (graph.c): whether what is submitted is recorded, and the
     * driver's graph once that has ended. */
    bool records;
    void *graph;
} simt_stream;

typedef struct simt_event {
    simt_device *device;
    void *native;
} simt_event;

/* A call of the host in the order of a stream (calls.c). */
typedef struct simt_call {
    struct simt_call *next;
    iso_status (*run)(void *data, int32_t skip);
    void *data;
    void *mark;      /* the driver's: complete when the stream has reached the call */
    void *gate;      /* the driver's: what the stream waits for until the call has returned */
    uint32_t number; /* never that of the call before at the same gate */
} simt_call;

/* ---- the driver ------------------------------------------------------------------------------ */

/* One kernel argument. A value: `bytes` bytes at `value`. Memory: `bytes` is 0, and `value` points
 * to the `void *` from memory_alloc; if that is NULL, the kernel gets a null pointer. The last one
 * may be no argument: if its `value` is NULL, each group has `bytes` bytes of shared memory in
 * addition to what the kernel declares. Only for devices whose limits have shared_most. */
typedef struct simt_arg {
    const void *value;
    int32_t bytes; /* 0: memory */
} simt_arg;

/* Groups of a launch along each axis: along y and z at most SIMT_GROUPS_ACROSS. */
enum { SIMT_GROUPS_ACROSS = 65535 };
typedef struct simt_groups {
    int64_t x, y, z;
} simt_groups;

/* The input of a compiler: a source, and options that every compiler accepts ("-DNAME=VALUE"). Each
 * part of the source begins with a #line directive, so that logs name the part. */
typedef struct simt_source {
    const char *name; /* for logs: "gemm_tiled" */
    const char *text;
    const char *const *options;
    int32_t option_count;
    bool own;    /* it has the program's own kernels */
    bool rounds; /* OpenCL: divisions of f32 round correctly, where the device can */
} simt_source;

/* Resources of a loaded kernel; -1 for those that the driver does not report. */
typedef struct simt_kernel_info {
    int32_t registers;
    int32_t threads_max;    /* most work-items in a group of this kernel */
    int64_t local_bytes;    /* shared memory of a group */
    int64_t spill_bytes;    /* private memory of each work-item */
    int32_t groups_at_once; /* resident groups on one unit, for a group of `threads` */
} simt_kernel_info;

/*
 * What each GPU backend implements. Its other entries of backend.h are arguments of SIMT_BACKEND.
 *
 * `native` is the result of device_open, stream_create and so on. A function that fails calls
 * host->fail; the message names the vendor's call and its error code. The statuses are those of
 * backend.h; a lost device is DEVICE_LOST. Every function is required unless marked optional.
 */
struct simt_driver {
    const char *name; /* of the backend */

    iso_status (*probe)(iso_probe *out);
    iso_status (*device_open)(int32_t index, void **native, simt_limits *limits);
    void (*device_close)(void *native);
    iso_status (*device_property)(void *native, int32_t index, iso_property *out);

    iso_status (*memory_alloc)(void *native, int64_t bytes, void **memory);
    /* The entries of backend.h, of a simt_device and a simt_stream. */
    void (*memory_free)(void *device, void *memory);
    /* These two, without the failures of calls. */
    iso_status (*stream_sync)(void *stream);
    iso_status (*stream_query)(void *stream);
    /* Optional, both or neither: pin and unpin the program's memory. If memory cannot be pinned,
     * *pinned is 0 and copies still work, so the only error is a lost device. host_unregister is
     * called only for memory that host_register pinned. */
    iso_status (*host_register)(void *native, void *pointer, int64_t bytes, int32_t *pinned);
    void (*host_unregister)(void *native, void *pointer);

    /* The create functions set `native`; the destroy functions free it. */
    iso_status (*stream_create)(simt_stream *stream);
    void (*stream_destroy)(simt_stream *stream);
    iso_status (*event_create)(simt_event *event);
    void (*event_destroy)(simt_event *event);

    /* WRITE, READ and COPY, of one row or many; never FILL. */
    iso_status (*transfer)(simt_stream *stream, const iso_transfer *transfer);
    /* Optional, all or none: what ring.c needs to transfer pageable memory itself. */
    /* Whether a transfer on this stream runs, and is not recorded by anyone, and the
     * program's memory from `first` to `last` is not all pinned. False if that is not known. */
    bool (*is_pageable)(simt_stream *stream, const void *first, const void *last);
    /* The entries of backend.h, of a simt_device, a simt_event and a simt_stream. */
    iso_status (*host_alloc)(void *device, int64_t bytes, void **pointer, int32_t *pinned);
    void (*host_free)(void *device, void *pointer);
    iso_status (*event_record)(void *event, void *stream);
    iso_status (*event_sync)(void *event);
    /* Optional, all or none: calls of the host in the order of a stream. */
    /* Submits a mark and then a wait, and sets call->mark or, if a used call has one, may use it
     * again. If this fails, the stream does not wait. */
    iso_status (*call_submit)(simt_stream *stream, simt_call *call);
    /* In another thread: waits for the mark. Returns 1 if the stream has failed before. */
    int32_t (*call_await)(simt_stream *stream, simt_call *call);
    /* In that thread: lets the stream go on. It cannot fail. */
    void (*call_finish)(simt_stream *stream, simt_call *call);
    /* Frees what is left of a call that will not be used again. */
    void (*call_close)(simt_stream *stream, simt_call *call);
    /* Optional, both or neither: a gate, which the calls of one stream at a time use. The number of
     * the first call is 1. UNSUPPORTED, with the reason, if the device has no gates. */
    iso_status (*gate_open)(void *native, void **gate);
    void (*gate_close)(void *native, void *gate);
    /* Optional, all or none: graphs, whose work is first recorded on a stream of its own. */
    /* UNSUPPORTED, with the reason, if the driver at hand has none. */
    iso_status (*graph_usable)(void);
    /* Sets stream->records. What is submitted from here on does not run. */
    iso_status (*graph_begin)(simt_stream *stream);
    /* Clears stream->records, and sets stream->graph. */
    iso_status (*graph_end)(simt_stream *stream);
    /* Ends recording if it has not ended, and frees stream->graph. */
    void (*graph_drop)(simt_stream *stream);
    iso_status (*graph_run)(simt_stream *stream, void *graph);
    /* Optional: copies from another device of this driver. */
    iso_status (*copy_peer)(simt_stream *to_stream, iso_ref to, simt_stream *from_stream,
                            iso_ref from, int64_t bytes);

    /* Writes a text that names everything that affects this device's binaries, apart from sources
     * and options: architecture, compiler, driver and, for a CPU, its features. Fails with COMPILE
     * if there is no compiler. */
    iso_status (*program_identity)(void *native, char *text, int64_t capacity);
    /* The versions of the driver and of the compiler, without its path. May open the compiler. */
    iso_status (*compiler_version)(void *native, char *text, int64_t capacity);
    /* Compiles a source. *binary comes from host->alloc. If the source does not compile, fails with
     * COMPILE, and the message contains the compiler's log. */
    iso_status (*program_build)(void *native, const simt_source *source, void **binary,
                                int64_t *bytes);
    /* Loads a binary from program_build, perhaps one that an earlier process built and cached. If a
     * cached binary fails to load, the program is built again, unless memory ran out. */
    iso_status (*program_load)(void *native, const void *binary, int64_t bytes, void **program);
    void (*program_unload)(void *program);
    iso_status (*kernel_get)(void *program, const char *name, int32_t threads, void **kernel,
                             simt_kernel_info *info);
    /* Called before program_unload; NULL: program_unload releases the kernels. */
    void (*kernel_release)(void *kernel);
    /* Launches groups of `threads` work-items each, which lie along x. */
    iso_status (*launch)(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                         const simt_arg *args, int32_t arg_count);

    /* Optional: the same for a kernel that begins with ISO_AFTER_PREVIOUS. It may begin before the
     * launch before it has ended. */
    iso_status (*launch_next)(simt_stream *stream, void *kernel, simt_groups groups,
                              int32_t threads, const simt_arg *args, int32_t arg_count);

    /* Optional, all or none: use of objects that the program created; see backend.h. */
    iso_status (*device_adopt)(int32_t devices, const void *context, const void *native_device,
                               int32_t *index, void **native, simt_limits *limits);
    iso_status (*stream_adopt)(simt_stream *stream, void *foreign);
    iso_status (*memory_import)(void *native, void *foreign, int64_t bytes, void **memory);
    void (*memory_forget)(void *native, void *memory); /* NULL: memory_import allocates nothing */
    bool (*memory_is_read_only)(void *native, void *memory); /* NULL: no memory is read-only */
    /* Never called for memory. `object` is what the core holds: a simt_stream, for example. */
    iso_status (*native_get)(simt_device *device, iso_native_kind kind, void *object, void **out);
    int32_t dlpack_type; /* DLPack's number for this kind of device; 0: none */

    const simt_vendor *vendor; /* NULL: no vendor library */
};

/* ---- vendor libraries (vendor.c) ------------------------------------------------------------- */

/* How a vendor's library runs one kind of operation. If the library needs k > 0 in products,
 * vendor.c has already changed `op` accordingly. */
typedef struct simt_vendor_operation {
    iso_status (*supports)(simt_device *device, const iso_op *op);
    /* Optional: without it no scratch memory is used. */
    int64_t (*workspace)(simt_device *device, const iso_op *op);
    iso_status (*execute)(simt_stream *stream, const iso_op *op);
    iso_status (*prepare)(simt_stream *stream, const iso_op *op);
    /* The name of the library's routine. */
    const char *(*name)(const simt_device *device, const iso_op *op);
} simt_vendor_operation;

enum { SIMT_KINDS_MAX = 12 }; /* every iso_op_kind is less than this */

/* A vendor's library. The struct is static; the library is opened when it is first asked for. */
typedef struct simt_library {
    loader_library loader;
    bool (*open)(struct simt_library *library); /* loads it and writes the label */
    atomic_bool asked;                          /* `open` was called: fields no longer change */
    char label[ISO_NAME_MAX];                   /* name and version: "NAME 13.1.0" */
    size_t version_at; /* offset of the version in the label; properties show only that */
    bool needs_terms;  /* cannot compute a product with k = 0: gets one of zeros, with k = 1 */
    const simt_vendor_operation *operations[SIMT_KINDS_MAX]; /* by kind; NULL: not available */
    /* Optional: writes the label, if the version is known only once a device is open. */
    void (*describe)(simt_device *device, char *text, size_t capacity);
} simt_library;

/* The library's label; NULL if the library is not available. */
const char *simt_library_label(simt_library *library);

/* simt_vendor_enter makes a device current in this thread, and stores here what simt_vendor_leave
 * needs to restore the previous one. */
typedef struct simt_scope {
    uint32_t code;    /* status of entering; the library may be called only if this is 0 */
    int32_t previous; /* the device that leaving makes current again; -1: none */
} simt_scope;

/* The libraries of a driver. An operation selects one by its index among those that have it. */
struct simt_vendor {
    simt_library *const *libraries; /* ends with NULL */
    /* Optional: whether an available library can be used on this device; `library` is its index
     * among all. */
    iso_status (*usable)(simt_device *device, int32_t library);
    /* Optional: makes the device current around a call. Both are called even if `enter` fails. */
    iso_status (*enter)(void *native, simt_scope *scope);
    void (*leave)(simt_scope scope);
    const struct simt_blas *blas; /* NULL: its libraries do not use blas.c */
};

/* A size that may need more than 32 bits. */
typedef struct simt_size {
    const char *name;
    int64_t value;
} simt_size;
/* The operation's first size that does not fit in 32 bits; its name is NULL if all fit. */
simt_size simt_gemm_large(const iso_gemm_op *op);
simt_size simt_syrk_large(const iso_syrk_op *op);
simt_size simt_trsm_large(const iso_trsm_op *op);
/* Fails with UNSUPPORTED: `size` does not fit in the library's 32-bit sizes. `lacks` is the
 * function with 64-bit sizes that this version of the library lacks, or NULL. */
iso_status simt_too_large(const iso_host *host, const char *operation, simt_size size,
                          const char *library, const char *lacks);

/* With alpha 0 X is 0 and A must not be read. Libraries read it all the same (cuBLAS 13.1 does), so
 * they are not called. Fills with simt_fill. */
bool simt_trsm_is_zero(const iso_trsm_op *op);
iso_status simt_trsm_zero(simt_stream *stream, const iso_trsm_op *op);

/* ISO_OK if the library can do this transpose: its elements must have 4, 8 or 16 bytes and, unless
 * `wide`, its sizes must fit in 32 bits. `lacks` is as in simt_too_large. */
iso_status simt_transpose_supports(const iso_host *host, const iso_transpose_op *op,
                                   const char *library, bool wide, const char *lacks);

/* The reductions of a BLAS library: sum, dot and asum of f32 and f64. */
typedef struct simt_reductions {
    const char *library;
    const char *norm2_problem; /* why its 2-norm is not used */
    bool half;                 /* has sum and dot of f16 and bf16, too */
    bool rows;                 /* can reduce each row, too */
} simt_reductions;
iso_status simt_reduce_supports(const iso_host *host, const simt_reductions *has,
                                const iso_reduce_op_args *op);

/* backend.c calls these for an operation whose variant is VENDOR, and to close devices and streams.
 */
iso_status simt_vendor_supports(simt_device *device, const iso_op *op);
iso_status simt_vendor_workspace(simt_device *device, const iso_op *op, int64_t *bytes);
iso_status simt_vendor_execute(simt_stream *stream, const iso_op *op);
iso_status simt_vendor_prepare(simt_stream *stream, const iso_op *op);
void simt_vendor_describe(simt_device *device, const iso_op *op, iso_op_info *out);
/* One property for each library; NOT_READY after the last. */
iso_status simt_vendor_property(simt_device *device, int32_t index, iso_property *out);
void simt_vendor_device_close(simt_device *device);
void simt_vendor_stream_close(simt_stream *stream);
/* The library with that index among all; NULL: there is none. */
simt_library *simt_vendor_library(const simt_device *device, int32_t index);
/* Make the device current before calls of a vendor's library, and restore the previous one after.
 */
iso_status simt_vendor_enter(simt_device *device, simt_scope *scope);
void simt_vendor_leave(simt_device *device, simt_scope scope);

/* ---- products of bytes by a vendor's library (bytes.c) --------------------------------------- */

/* A batch of products, one behind another: sums (rows x cols, of 32 bits) = or += a * b', where a
 * has `rows` vectors of `depth` signed bytes and b has `cols` of them. Sizes are multiples of 16,
 * and places in memory are aligned to 256 bytes. */
typedef struct simt_bytes {
    int64_t rows, cols, depth, batch;
    iso_ref a, b, sums;
    bool add;
    iso_ref workspace;
    int64_t workspace_bytes;
} simt_bytes;

/* Whether the device can use such products. It never changes its answer. */
bool simt_bytes_usable(simt_device *device);
/* The rest is only for devices that can. */
int64_t simt_bytes_workspace(simt_device *device);
const char *simt_bytes_name(simt_device *device); /* the library and its version */
iso_status simt_bytes_prepare(simt_stream *stream);
/* *refused: the library does not support this product, and nothing was done. */
iso_status simt_bytes_multiply(simt_stream *stream, const simt_bytes *product, bool *refused);

/* ---- programs -------------------------------------------------------------------------------- */

enum { SIMT_DEFINES_MAX = 17, SIMT_KERNELS_MAX = 24, SIMT_ARGS_MAX = 32 };

/*
 * A source of kernels/, its parameters, and its kernels. defines[0] is always "ISO_THREADS", the
 * work-items of most kernels' groups, and defines[1] "ISO_DTYPE"; a name that begins with '?' is
 * defined only if its value is not 0. Such defines also say that a program uses f64 (ISO_USE_F64)
 * or 64-bit atomics (ISO_ATOMIC64).
 */
typedef struct simt_text {
    const char *name;
    const char *const *parts; /* dialect.h first */
    int32_t part_count;
    const char *defines[SIMT_DEFINES_MAX + 1]; /* ends with NULL */
    const char *kernels[SIMT_KERNELS_MAX + 1]; /* ends with NULL; a program may omit some */
    int8_t threads[SIMT_KERNELS_MAX]; /* the define with the work-items of a kernel's groups */
    bool rounds;                      /* as in simt_source */
} simt_text;

/* One program: a source with values for its defines (missing ones are 0). */
typedef struct simt_spec {
    const simt_text *text;
    int32_t values[SIMT_DEFINES_MAX];
} simt_spec;

/* Called with programs, one after another. */
typedef void simt_visit(const simt_spec *spec, void *context);

typedef struct simt_kernel {
    void *native;
    int32_t threads;
    simt_kernel_info info;
} simt_kernel;

/* The kernel with that index in the source's list; builds or loads its program at the first call.
 * Later calls make no allocation and no system call. The result lives until the device is closed.
 */
iso_status simt_kernel_get(simt_device *device, const simt_spec *spec, int32_t kernel,
                           const simt_kernel **out);

/* Writes the options of a spec as one line ("-DISO_THREADS=256 -DISO_DTYPE=3"), for keys and logs.
 */
void simt_spec_options(const simt_spec *spec, char *text, int64_t capacity);

/* The cache key of something that was made from a spec's source by this device and its compiler:
 * `what` says what it is. *key comes from host->alloc. */
iso_status simt_spec_key(simt_device *device, const simt_spec *spec, const char *what, char **key,
                         int64_t *bytes);

/* Frees all programs of a device that is being closed. */
void simt_programs_drop(simt_device *device);

#define SIMT_ARG(variable)    {.value = &(variable), .bytes = (int32_t)sizeof(variable)}
#define SIMT_MEMORY(variable) {.value = &(variable), .bytes = 0}
/* A factor of an operation, as a kernel argument: `wide` for f64, `narrow` for every other type. */
static inline simt_arg simt_factor(iso_dtype dtype, const double *wide, const float *narrow)
{
    return dtype == ISO_F64 ? (simt_arg)SIMT_ARG(*wide) : (simt_arg)SIMT_ARG(*narrow);
}
/* Launches `groups` groups along x. */
iso_status simt_launch(simt_stream *stream, const simt_kernel *kernel, int64_t groups,
                       const simt_arg *args, int32_t arg_count);
/* The same for a kernel that begins with ISO_AFTER_PREVIOUS, after one of the same operation. */
iso_status simt_launch_next(simt_stream *stream, const simt_kernel *kernel, int64_t groups,
                            const simt_arg *args, int32_t arg_count);
/* The same as simt_launch, with an array of arguments. */
#define SIMT_LAUNCH(stream, kernel, groups, args)                                                  \
    simt_launch(stream, kernel, groups, args, (int32_t)(sizeof(args) / sizeof *(args)))

/* The type of a product's C. */
static inline iso_dtype simt_gemm_dtype_c(const iso_gemm_op *op)
{
    return op->dtype_c ? op->dtype_c : op->dtype;
}

static inline int64_t simt_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many parts of `size` cover n. */
static inline int64_t simt_pieces(int64_t n, int64_t size)
{
    return n / size + (n % size != 0);
}

/* Guaranteed alignment of memory + offset in bytes: a power of two up to 256. */
int64_t simt_alignment(const simt_device *device, iso_ref ref);

/* ---- operations ------------------------------------------------------------------------------ */

/* Types that a device may not fully support. */
enum { SIMT_NEEDS_F32 = 1, SIMT_NEEDS_F64 = 2 };

/* One kind of operation. The functions are for its variants other than VENDOR. */
typedef struct simt_operation {
    size_t variant_at; /* offset of the variant in its arguments */
    size_t library_at; /* offset of the index of the vendor's library; 0: always the first */
    /* Optional: if an operation has no terms to add (k = 0), changes its arguments so that it adds
     * one term, whose operands are the zeros at `zeros`. Returns how many bytes of zeros that
     * takes; 0 if nothing was changed. */
    int64_t (*add_term)(void *args, iso_ref zeros);
    /* Optional: writes the product that vendors' libraries compute instead of this operation. */
    void (*as_product)(const iso_op *op, gemv_product *out);
    /* Optional: the types that it computes in, as SIMT_NEEDS bits. The core has already checked the
     * operands' type and the variant. */
    int (*needs)(const iso_op *op);
    /* Optional: further checks. Without it, an operation is supported if the device has the types
     * that it computes in. */
    iso_status (*supports)(simt_device *device, const iso_op *op);
    /* Optional: without it no scratch memory is used. */
    int64_t (*workspace)(simt_device *device, const iso_op *op);
    iso_status (*execute)(simt_stream *stream, const iso_op *op);
    iso_status (*prepare)(simt_stream *stream, const iso_op *op);
    void (*describe)(simt_device *device, const iso_op *op, iso_op_info *out);
    /* Optional: calls back with every program that a device with these limits could ever request.
     */
    void (*each)(const simt_limits *limits, simt_visit *visit, void *context);
} simt_operation;

/* table.c: NULL if the kind is not known. */
const simt_operation *simt_operation_of(iso_op_kind kind);

/* unit.c: whether products may use a matrix unit. The first call on a device tests the unit, or
 * finds the verdict of an earlier test in the program cache. */
bool simt_unit_usable(simt_device *device, simt_unit unit);
/* One property for each unit that says so; NOT_READY after the last. It starts no test. */
iso_status simt_unit_property(simt_device *device, int32_t index, iso_property *out);
void simt_unit_each(const simt_limits *limits, simt_visit *visit, void *context);

/* fill.c: fills memory, with kernels/fill.cl. */
iso_status simt_fill(simt_stream *stream, const iso_transfer *transfer);
iso_status simt_fill_prepare(simt_device *device);
void simt_fill_each(const simt_limits *limits, simt_visit *visit, void *context);

/* Every program that a device with these limits could request. */
void simt_each_spec(const simt_limits *limits, simt_visit *visit, void *context);

/* ---- graph.c: entries of the core ------------------------------------------------------------ */

iso_status simt_graph_open(void *device, void **graph);
iso_status simt_graph_begin(void *graph);
iso_status simt_graph_end(void *graph);
iso_status simt_graph_launch(void *stream, void *graph);
void simt_graph_close(void *graph);

/* thread.c: starts a thread with a stack of at least 1 MiB, which gets no signals of the process.
 * Returns the code of pthread_create. */
int simt_thread_start(pthread_t *thread, void *(*body)(void *argument), void *argument);

/* ---- calls.c: calls of the host in the order of a stream ------------------------------------- */

iso_status simt_stream_call(void *stream, iso_status (*run)(void *data, int32_t skip), void *data);
/* The failure of a call of this stream, reported again; ISO_OK: none. */
iso_status simt_calls_late(const simt_stream *stream);
/* Waits for the stream's calls, and frees what they need. */
void simt_calls_close(simt_stream *stream);
void simt_gates_close(simt_device *device);

/* ---- ring.c: large transfers of pageable memory ---------------------------------------------- */

/* Transfers through pinned memory. If that is not possible or not worth it, *taken is false and
 * nothing was done. */
iso_status simt_ring_transfer(simt_stream *stream, const iso_transfer *transfer, bool *taken);
/* What a stream, and a device, have for it. */
void simt_reached_close(simt_stream *stream);
void simt_rings_close(simt_device *device);

/* ---- the core's entries, for descriptors (backend.c) ----------------------------------------- */

iso_status simt_device_open(const simt_driver *driver, const iso_host *host, int32_t index,
                            void **device);
void simt_device_close(void *device);
iso_status simt_device_property(void *device, int32_t index, iso_property *out);
iso_status simt_memory_alloc(void *device, int64_t bytes, void **memory);
iso_status simt_host_register(void *device, void *pointer, int64_t bytes, int32_t *pinned);
void simt_host_unregister(void *device, void *pointer);
iso_status simt_stream_create(void *device, uint32_t flags, void **stream);
void simt_stream_destroy(void *stream);
iso_status simt_stream_sync(void *stream);
iso_status simt_stream_query(void *stream);
iso_status simt_event_create(void *device, void **event);
void simt_event_destroy(void *event);
iso_status simt_transfer(void *stream, const iso_transfer *transfer);
iso_status simt_supports(void *device, const iso_op *op);
iso_status simt_workspace(void *device, const iso_op *op, int64_t *bytes);
iso_status simt_execute(void *stream, const iso_op *op);
iso_status simt_prepare(void *stream, const iso_op *op);
iso_status simt_describe(void *device, const iso_op *op, iso_op_info *out);
iso_status simt_copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                          int64_t bytes);
iso_status simt_device_adopt(const simt_driver *driver, const iso_host *host,
                             const iso_native_device *native, int32_t *index, void **device);
iso_status simt_stream_adopt(void *device, void *native, void **stream);
iso_status simt_memory_import(void *device, void *native, int64_t bytes, void **memory);
void simt_memory_forget(void *device, void *memory);
int32_t simt_memory_is_read_only(void *device, void *memory);
iso_status simt_native_get(void *device, iso_native_kind kind, void *object, void **native);
int32_t simt_prefers_fixed(void *device, const iso_op *op);
iso_status simt_dlpack_device(void *device, int32_t *type, int32_t *id);
iso_status simt_program_build(void *device, const iso_program_source *source, void **program);
void simt_program_release(void *device, void *program);
iso_status simt_way_name(void *device, const iso_op *op, int32_t index, char *name,
                         int64_t capacity);
iso_status simt_kernels_identity(void *device, char *text, int64_t capacity);
iso_status simt_program_check(void *device, const iso_program_launch *launch);
iso_status simt_program_launch(void *stream, const iso_program_launch *launch);

/* The entries of a descriptor that are the same for every driver. */
#define SIMT_DESCRIPTOR_ENTRIES                                                                    \
    .size = (uint32_t)sizeof(iso_backend), .abi_major = ISO_ABI_MAJOR, .abi_minor = ISO_ABI_MINOR, \
    .stack_bytes = SIMT_STACK_BYTES, .device_close = simt_device_close,                            \
    .device_property = simt_device_property, .memory_alloc = simt_memory_alloc,                    \
    .host_register = simt_host_register, .host_unregister = simt_host_unregister,                  \
    .stream_create = simt_stream_create, .stream_destroy = simt_stream_destroy,                    \
    .stream_sync = simt_stream_sync, .stream_query = simt_stream_query,                            \
    .event_create = simt_event_create, .event_destroy = simt_event_destroy,                        \
    .transfer = simt_transfer, .supports = simt_supports, .workspace = simt_workspace,             \
    .execute = simt_execute, .prepare = simt_prepare, .describe = simt_describe,                   \
    .copy_peer = simt_copy_peer, .stream_adopt = simt_stream_adopt,                                \
    .memory_import = simt_memory_import, .memory_forget = simt_memory_forget,                      \
    .memory_is_read_only = simt_memory_is_read_only, .native_get = simt_native_get,                \
    .dlpack_device = simt_dlpack_device, .prefers_fixed = simt_prefers_fixed,                      \
    .program_build = simt_program_build, .program_release = simt_program_release,                  \
    .program_launch = simt_program_launch, .stream_call = simt_stream_call,                        \
    .graph_open = simt_graph_open, .graph_begin = simt_graph_begin, .graph_end = simt_graph_end,   \
    .graph_launch = simt_graph_launch, .graph_close = simt_graph_close,                            \
    .program_check = simt_program_check, .way_name = simt_way_name,                                \
    .kernels_identity = simt_kernels_identity

/* Defines a backend's descriptor and its query function, isomer_builtin_NAME_query, which stores
 * the host in HOST. The arguments after BUILD are the backend's own entries: probe, memory_free,
 * event_record... */
#define SIMT_BACKEND(NAME, HOST, DRIVER, BUILD, ...)                                               \
    static iso_status device_open(int32_t index, void **device)                                    \
    {                                                                                              \
        return simt_device_open(&(DRIVER), HOST, index, device);                                   \
    }                                                                                              \
    static iso_status device_adopt(const iso_native_device *native, int32_t *index, void **device) \
    {                                                                                              \
        return simt_device_adopt(&(DRIVER), HOST, native, index, device);                          \
    }                                                                                              \
    static const iso_backend descriptor = {SIMT_DESCRIPTOR_ENTRIES,                                \
                                           .name = #NAME,                                          \
                                           .build_info = #NAME " " ISO_VERSION_STRING ", " BUILD   \
                                                               ", compiled by " __VERSION__,       \
                                           .device_open = device_open,                             \
                                           .device_adopt = device_adopt,                           \
                                           __VA_ARGS__};                                           \
    const iso_backend *isomer_builtin_##NAME##_query(uint32_t host_abi, const iso_host *host);     \
    const iso_backend *isomer_builtin_##NAME##_query(uint32_t host_abi, const iso_host *host)      \
    {                                                                                              \
        if (host_abi >> 16 != ISO_ABI_MAJOR) {                                                     \
            return NULL;                                                                           \
        }                                                                                          \
        HOST = host;                                                                               \
        return &descriptor;                                                                        \
    }

#endif
