/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.h - code shared by the GPU backends: an operation is planned once (which kernel, which tile,
 * how many groups), its program is built or found in the cache, and a small driver launches it.
 *
 * A backend provides a simt_driver (driver.c), a simt_vendor (blas.c) and a SIMT_BACKEND
 * (library.c). blas.h is what two of them share beyond that. No vendor is named here.
 *
 * The core's `void *device` is a simt_device, its `void *stream` a simt_stream, its `void *event` a
 * simt_event. Its `void *memory` is the driver's own and is passed through: if
 * limits.memory_is_address it is the address itself, else a handle. Kernels get the memory and the
 * offset as two arguments.
 *
 * Threads: as in backend.h. The driver's functions may be called from several threads at once.
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

/* Vendors' compilers run in the caller's thread: hipRTC was seen to need up to 192 KiB of stack,
 * NVRTC 128, PoCL 105. A thread of 256 KiB is enough. */
enum { SIMT_STACK_BYTES = 224 * 1024 };

/* Classes of devices, by which kernels and tiles are chosen. */
typedef enum simt_class {
    SIMT_CLASS_WARP32 = 0, /* a GPU whose work-items run 32 at a time */
    SIMT_CLASS_WAVE32 = 1, /* ... with values shared by the work-items in scalar registers, of which
                              there are few */
    SIMT_CLASS_WAVE64 = 2, /* the same with 64 at a time */
    SIMT_CLASS_CPU = 3,    /* a CPU: a group is a loop, shared memory is memory */
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
    bool f64;                /* computes in f64, with subnormals and infinities */
    bool f32_exact;          /* f32 with subnormals, infinities and a true fma */
    bool shuffle;            /* its compiler has ISO_SHUFFLE: see dialect.h */
    bool atomic64;           /* compare and swap of 64-bit words in global memory */
    const char *f32_problem; /* what is missing if f32_exact is false; static text */
    const char *f64_problem;
} simt_limits;

typedef struct simt_driver simt_driver;
typedef struct simt_vendor simt_vendor;
typedef struct simt_program simt_program;

typedef struct simt_device {
    const simt_driver *driver;
    const iso_host *host;
    void *native; /* the driver's own */
    int32_t index;
    simt_limits limits;
    /* backend.c */
    pthread_mutex_t pins_lock;
    struct simt_pin *pins; /* pinned ranges of the program's memory */
    /* program.c */
    pthread_rwlock_t programs_lock;
    pthread_mutex_t build_lock; /* one build at a time */
    simt_program *programs;
    void *vendor; /* what the vendor's libraries keep, in one allocation; NULL until needed */
    pthread_mutex_t vendor_lock;
} simt_device;

typedef struct simt_stream {
    simt_device *device;
    void *native;
    bool foreign; /* the program's own */
    void *order;  /* the driver's: an event that orders copies between devices; NULL until needed */
    void *vendor; /* as of a device */
} simt_stream;

typedef struct simt_event {
    simt_device *device;
    void *native;
} simt_event;

/* ---- the driver ------------------------------------------------------------------------------ */

/* One kernel argument: `value` of `bytes`, or memory (a pointer to the `void *` from memory_alloc;
 * NULL memory is passed as a null pointer). */
typedef struct simt_arg {
    const void *value;
    int32_t bytes; /* 0: memory */
} simt_arg;

/* The input of a compiler: a source, whose parts begin with marks by which logs name them, and
 * options that every compiler accepts ("-DNAME=VALUE"). */
typedef struct simt_source {
    const char *name; /* for logs: "gemm_tiled" */
    const char *text;
    const char *const *options;
    int32_t option_count;
} simt_source;

/* Resources of a loaded kernel, if the driver reports them (else -1). */
typedef struct simt_kernel_info {
    int32_t registers;
    int32_t threads_max;    /* of a group of this kernel */
    int64_t local_bytes;    /* shared memory of a group */
    int64_t spill_bytes;    /* private memory of each work-item */
    int32_t groups_at_once; /* resident groups on one unit, for a group of `threads` */
} simt_kernel_info;

/*
 * What backend.h asks of a backend and does not stand here, a driver gives to SIMT_BACKEND.
 *
 * `native` is the result of device_open, stream_create and so on. Each function fails through
 * host->fail with the vendor's call and the name of the code in the text. The statuses are those of
 * backend.h; a device that is gone is DEVICE_LOST. All are required unless marked optional.
 */
struct simt_driver {
    const char *name; /* of the backend */

    iso_status (*probe)(iso_probe *out);
    iso_status (*device_open)(int32_t index, void **native, simt_limits *limits);
    void (*device_close)(void *native);
    iso_status (*device_property)(void *native, int32_t index, iso_property *out);

    iso_status (*memory_alloc)(void *native, int64_t bytes, void **memory);
    /* Optional, both or neither: pin the program's memory. Memory that cannot be pinned is still
     * copied: only a lost device is an error. Only memory pinned here is unpinned. */
    iso_status (*host_register)(void *native, void *pointer, int64_t bytes, int32_t *pinned);
    void (*host_unregister)(void *native, void *pointer);

    /* Set and free `native`. */
    iso_status (*stream_create)(simt_stream *stream);
    void (*stream_destroy)(simt_stream *stream);
    iso_status (*event_create)(simt_event *event);
    void (*event_destroy)(simt_event *event);

    /* WRITE, READ and COPY, of one row or many; never FILL. */
    iso_status (*transfer)(simt_stream *stream, const iso_transfer *transfer);
    /* Optional: from another device of this driver. */
    iso_status (*copy_peer)(simt_stream *to_stream, iso_ref to, simt_stream *from_stream,
                            iso_ref from, int64_t bytes);

    /* A text for everything besides sources and options that affects this device's binaries:
     * architecture, compiler, driver, for a CPU its features. COMPILE: there is no compiler. */
    iso_status (*program_identity)(void *native, char *text, int64_t capacity);
    /* Compiles. *binary comes from host->alloc. COMPILE, with the log in the text. */
    iso_status (*program_build)(void *native, const simt_source *source, void **binary,
                                int64_t *bytes);
    /* Loads a binary from program_build, perhaps of an earlier process. After any failure it is
     * built again. */
    iso_status (*program_load)(void *native, const void *binary, int64_t bytes, void **program);
    void (*program_unload)(void *program);
    iso_status (*kernel_get)(void *program, const char *name, int32_t threads, void **kernel,
                             simt_kernel_info *info);
    void (*kernel_release)(void *kernel); /* before program_unload; NULL: that releases it */
    /* Launches `groups` groups of `threads` work-items, in one dimension. */
    iso_status (*launch)(simt_stream *stream, void *kernel, int64_t groups, int32_t threads,
                         const simt_arg *args, int32_t arg_count);

    /* Optional, all or none: sharing a program's own objects; see backend.h. */
    iso_status (*device_adopt)(int32_t devices, const void *context, const void *native_device,
                               int32_t *index, void **native, simt_limits *limits);
    iso_status (*stream_adopt)(simt_stream *stream, void *foreign);
    iso_status (*memory_import)(void *native, void *foreign, int64_t bytes, void **memory);
    void (*memory_forget)(void *native, void *memory); /* NULL: nothing was allocated for it */
    bool (*memory_is_read_only)(void *native, void *memory); /* NULL: no memory is read-only */
    /* Not for memory. `object` is the core's. */
    iso_status (*native_get)(simt_device *device, iso_native_kind kind, void *object, void **out);
    int32_t dlpack_type; /* DLPack's number for this kind of device; 0: none */

    const simt_vendor *vendor; /* NULL: no vendor library */
};

/* ---- vendor libraries (vendor.c) ------------------------------------------------------------- */

/* What a vendor's library does for one kind of operation. `op` is a product with k > 0 if the
 * library needs that. */
typedef struct simt_vendor_operation {
    iso_status (*supports)(simt_device *device, const iso_op *op);
    /* Optional: without it no scratch memory is used. */
    int64_t (*workspace)(simt_device *device, const iso_op *op);
    iso_status (*execute)(simt_stream *stream, const iso_op *op);
    iso_status (*prepare)(simt_stream *stream, const iso_op *op);
    /* Of the library's routine. */
    const char *(*name)(const simt_device *device, const iso_op *op);
} simt_vendor_operation;

enum { SIMT_KINDS_MAX = 8 }; /* numbers of kinds of operations are below this */

/* A vendor's library: static, and opened at the first query. */
typedef struct simt_library {
    loader_library loader;
    bool (*open)(struct simt_library *library); /* loads it and writes the label */
    bool asked;
    char label[ISO_NAME_MAX]; /* with the version: "NAME 13.1.0" */
    size_t version_at;        /* where properties begin in the label */
    bool needs_terms;         /* has no product with k = 0: it gets one of zeros, with k = 1 */
    const simt_vendor_operation *operations[SIMT_KINDS_MAX]; /* by kind; NULL: it has none */
    /* Optional: the label, if its version is known only once a device is open. */
    void (*describe)(simt_device *device, char *text, size_t capacity);
} simt_library;

/* Its label, or NULL: it is not available. */
const char *simt_library_label(simt_library *library);

/* Makes a device this thread's current one, until it is left. */
typedef struct simt_scope {
    uint32_t code;    /* the driver's, of entering; calls in between are made only if it is 0 */
    int32_t previous; /* what leaving restores; -1: nothing */
} simt_scope;

/* The libraries of a driver. An operation names one by its index; 0 is the first. */
struct simt_vendor {
    simt_library *const *libraries; /* ends with NULL */
    /* Optional: whether the library, which is available, can be used on this device. */
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
/* The operation's first size over 32 bits; its name is NULL if all fit. */
simt_size simt_gemm_large(const iso_gemm_op *op);
/* Fails with UNSUPPORTED: the library's sizes have 32 bits, which this one exceeds. */
iso_status simt_too_large(const iso_host *host, const char *operation, simt_size size,
                          const char *library);

/* Transposes of elements of 4, 8 and 16 bytes; `wide`: with sizes of 64 bits. */
iso_status simt_transpose_supports(const iso_host *host, const iso_transpose_op *op,
                                   const char *library, bool wide);

/* The reductions of a BLAS library: sum, dot and asum of f32 and f64. */
typedef struct simt_reductions {
    const char *library;
    const char *norm2_problem; /* why its 2-norm is not used */
    bool half;                 /* sum and dot also of f16 and bf16 */
    bool rows;                 /* also of each row */
} simt_reductions;
iso_status simt_reduce_supports(const iso_host *host, const simt_reductions *has,
                                const iso_reduce_op_args *op);

/* How backend.c runs an operation whose variant is VENDOR, and what it closes. */
iso_status simt_vendor_supports(simt_device *device, const iso_op *op);
iso_status simt_vendor_workspace(simt_device *device, const iso_op *op, int64_t *bytes);
iso_status simt_vendor_execute(simt_stream *stream, const iso_op *op);
iso_status simt_vendor_prepare(simt_stream *stream, const iso_op *op);
void simt_vendor_describe(simt_device *device, const iso_op *op, iso_op_info *out);
/* One property for each library; NOT_READY after the last. */
iso_status simt_vendor_property(simt_device *device, int32_t index, iso_property *out);
void simt_vendor_device_close(simt_device *device);
void simt_vendor_stream_close(simt_stream *stream);
/* The library of that index; NULL: there is none. */
simt_library *simt_vendor_library(const simt_device *device, int32_t index);
/* A vendor's scope around calls in a device. */
iso_status simt_vendor_enter(simt_device *device, simt_scope *scope);
void simt_vendor_leave(simt_device *device, simt_scope scope);

/* ---- programs -------------------------------------------------------------------------------- */

enum { SIMT_DEFINES_MAX = 12, SIMT_KERNELS_MAX = 24, SIMT_ARGS_MAX = 32 };

/*
 * A source of kernels/, its parameters, and its kernels. defines[0] is always "ISO_THREADS", the
 * work-items of a group, and defines[1] "ISO_DTYPE"; a name that begins with '?' is defined only if
 * its value is not 0. A source's use of f64 (ISO_USE_F64) and 64-bit atomics (ISO_ATOMIC64) are
 * such defines.
 */
typedef struct simt_text {
    const char *name;
    const char *const *parts; /* dialect.h first */
    int32_t part_count;
    const char *defines[SIMT_DEFINES_MAX + 1]; /* ends with NULL */
    const char *kernels[SIMT_KERNELS_MAX + 1]; /* ends with NULL; a program may omit some */
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

/* Frees all programs of a device that is being closed. */
void simt_programs_drop(simt_device *device);

#define SIMT_ARG(variable)    {.value = &(variable), .bytes = (int32_t)sizeof(variable)}
#define SIMT_MEMORY(variable) {.value = &(variable), .bytes = 0}
/* A factor of an operation: f64 computes with it as it is, every other type with `narrow`. */
static inline simt_arg simt_factor(iso_dtype dtype, const double *wide, const float *narrow)
{
    return dtype == ISO_F64 ? (simt_arg)SIMT_ARG(*wide) : (simt_arg)SIMT_ARG(*narrow);
}
iso_status simt_launch(simt_stream *stream, const simt_kernel *kernel, int64_t groups,
                       const simt_arg *args, int32_t arg_count);
/* The same, with an array of arguments. */
#define SIMT_LAUNCH(stream, kernel, groups, args)                                                  \
    simt_launch(stream, kernel, groups, args, (int32_t)(sizeof(args) / sizeof *(args)))

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
    size_t library_at; /* of the index of the vendor's library; 0: always the first */
    /* Optional: changes the arguments of an operation that sums nothing, so that it sums one term
     * of zeros, which will lie at `zeros`. The bytes of zeros; 0: it sums something. */
    int64_t (*add_term)(void *args, iso_ref zeros);
    /* Optional: vendors' libraries do it as this product. */
    void (*as_product)(const iso_op *op, gemv_product *out);
    /* Optional: the types that it computes in, as bits. The core has checked the operands' type,
     * and that the operation has the variant. */
    int (*needs)(const iso_op *op);
    /* Optional: without it everything is supported that computes in the device's types. */
    iso_status (*supports)(simt_device *device, const iso_op *op);
    /* Optional: without it no scratch memory is used. */
    int64_t (*workspace)(simt_device *device, const iso_op *op);
    iso_status (*execute)(simt_stream *stream, const iso_op *op);
    iso_status (*prepare)(simt_stream *stream, const iso_op *op);
    void (*describe)(simt_device *device, const iso_op *op, iso_op_info *out);
    /* Calls back with every program that a device with these limits could ever request. */
    void (*each)(const simt_limits *limits, simt_visit *visit, void *context);
} simt_operation;

/* table.c: NULL if the kind is not known. */
const simt_operation *simt_operation_of(iso_op_kind kind);

/* fill.c: kernels/fill.cl. */
iso_status simt_fill(simt_stream *stream, const iso_transfer *transfer);
iso_status simt_fill_prepare(simt_device *device);
void simt_fill_each(const simt_limits *limits, simt_visit *visit, void *context);

/* Every program that a device with these limits could request. */
void simt_each_spec(const simt_limits *limits, simt_visit *visit, void *context);

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
iso_status simt_dlpack_device(void *device, int32_t *type, int32_t *id);

/* The entries of a descriptor that are the same for every driver. */
#define SIMT_DESCRIPTOR_ENTRIES                                                                    \
    .size = (uint32_t)sizeof(iso_backend), .abi_major = ISO_ABI_MAJOR, .abi_minor = ISO_ABI_MINOR, \
    .stack_bytes = SIMT_STACK_BYTES, .device_close = simt_device_close,                            \
    .device_property = simt_device_property, .memory_alloc = simt_memory_alloc,                    \
    .host_register = simt_host_register, .host_unregister = simt_host_unregister,                  \
    .stream_create = simt_stream_create, .stream_destroy = simt_stream_destroy,                    \
    .event_create = simt_event_create, .event_destroy = simt_event_destroy,                        \
    .transfer = simt_transfer, .supports = simt_supports, .workspace = simt_workspace,             \
    .execute = simt_execute, .prepare = simt_prepare, .describe = simt_describe,                   \
    .copy_peer = simt_copy_peer, .stream_adopt = simt_stream_adopt,                                \
    .memory_import = simt_memory_import, .memory_forget = simt_memory_forget,                      \
    .memory_is_read_only = simt_memory_is_read_only, .native_get = simt_native_get,                \
    .dlpack_device = simt_dlpack_device

/* A backend's descriptor and its query, isomer_builtin_NAME_query, which stores the host in HOST.
 * The arguments after BUILD are the backend's own entries: probe, memory_free, stream_sync... */
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
