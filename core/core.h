/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - what the files of the core share. No other folder includes it. */
#ifndef ISOMER_CORE_CORE_H
#define ISOMER_CORE_CORE_H

#include <isomer/backend.h>
#include <isomer/isomer.h>

#include <fenv.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    CORE_TEXT_MAX = 16384 /* of an error text: room for every path that several backends tried */
};

/* ---- fpenv.c --------------------------------------------------------------------------------- */

/* Around what computes in floating point: every call of a backend's entry, and the core's own. */
typedef struct core_fpenv {
#if defined(__x86_64__) || defined(__i386__)
    bool differs;     /* ... from the default; the rest is of no meaning elsewhere */
    uint32_t x87[7];  /* what fnstenv stores */
    uint64_t control; /* MXCSR */
#elif defined(__aarch64__)
    uint64_t control; /* FPCR */
#else
    fenv_t environment;
#endif
} core_fpenv;
void core_fpenv_enter(core_fpenv *callers);
void core_fpenv_leave(const core_fpenv *callers);
/* Around an entry of a backend that has no status, or whose status is not looked at. */
#define CORE_DO(expression)                                                                        \
    do {                                                                                           \
        core_fpenv callers_;                                                                       \
        core_fpenv_enter(&callers_);                                                               \
        (void)(expression);                                                                        \
        core_fpenv_leave(&callers_);                                                               \
    } while (0)

/* ---- error.c: this thread's last failure ----------------------------------------------------- */

/* Sets the text and the status, and returns the status. The arguments may point into the old text.
 */
iso_status core_fail(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);
/* The last failure's text without the call's name. */
const char *core_reason(const char *call);
iso_status core_fail_no_memory(const char *call, int64_t bytes);

/* Around a call of a backend's entry, which runs in the default floating-point environment. Its
 * failure always has a text that begins with the public call and the backend. What the backend says
 * in a call that succeeds is forgotten. Only CORE_ASK lets NOT_READY pass, without a text.
 * CORE_CALL asks first whether the thread has
 * the stack that the backend needs; what only waits, or asks for what is there, is CORE_LIGHT. */
void core_backend_enter(void);
iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait);
/* Whether this thread is in a backend's call: public functions are called there only by a library
 * that ends the process in the middle of one, through exit()'s handlers. */
bool core_inside(void);
#define CORE_LIGHT(call, table, expression)                                                        \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), false))
#define CORE_ASK(call, table, expression)                                                          \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), true))
#define CORE_CALL(call, table, expression)                                                         \
    (core_stack_check((call), (table)) ? ISO_NO_MEMORY : CORE_LIGHT(call, table, expression))

/* Where this thread's failures go; a thread that works for another one writes to that one's. */
typedef struct core_error_place {
    void *texts;
    iso_status status;
} core_error_place;
core_error_place core_error_lend(void);
void core_error_borrow(core_error_place place);
/* In the thread that borrowed it. */
core_error_place core_error_return(void);
/* In the one that lent it. */
void core_error_take(core_error_place place);

/* A failure that a call gets over leaves the caller's last failure as it was. */
enum { CORE_BRIEF_MAX = 256 };
typedef struct core_kept_error {
    iso_status status;
    char *text;                 /* NULL: the text is in `brief` */
    char brief[CORE_BRIEF_MAX]; /* its beginning, where there was no memory for all of it */
} core_kept_error;
core_kept_error core_error_keep(void);
const char *core_error_text(const core_kept_error *kept);
void core_error_restore(core_kept_error *kept);

/* A text that grows. */
typedef struct core_text {
    char *text; /* NULL: nothing was added yet */
    size_t length, room;
    bool failed; /* memory ran out, and a part is missing */
} core_text;
void core_text_add(core_text *text, const char *format, ...) ISO_PRINTF(2, 3);
const char *core_text_get(const core_text *text);
void core_text_free(core_text *text);

/* ---- host.c, log.c, version.c ---------------------------------------------------------------- */

extern const iso_host core_host;
void *core_alloc(int64_t bytes);
void core_free(void *pointer);

bool core_log_on(iso_log_level level);
void core_log(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);
/* 0: not a level. */
int core_log_parse(const char *text);

/* ---- stack.c --------------------------------------------------------------------------------- */

/* Bytes of this thread's stack below the caller; INT64_MAX where that is not known. */
int64_t core_stack_left(void);
/* NO_MEMORY where this thread has less than the backend says that its libraries need. */
iso_status core_stack_check(const char *call, const iso_backend *table);
/* Runs body, which may open any library: in a thread of its own where this one has little stack.
 * Its failure becomes this thread's. NO_MEMORY: no such thread could be made. */
iso_status core_stack_run(const char *call, iso_status (*body)(void *context), void *context);

/* ---- place.c --------------------------------------------------------------------------------- */

/* The folder "isomer" beside the library, with what its package brings; "" where it is not known.
 */
const char *core_place(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int core_edit_distance(const char *a, const char *b);

/* ---- structs.c: structs whose `size` differs from ours --------------------------------------- */

/* Copies the caller's struct into `to` (`known` bytes), extended with zeros. */
iso_status core_struct_read(const char *call, const char *name, const void *from, size_t least,
                            void *to, size_t known);
/* A field without a meaning is 0 in a struct that is read. */
iso_status core_check_reserved(const char *call, const char *name, uint32_t value);
/* Checks the size of a struct that will be filled. */
iso_status core_struct_check(const char *call, const char *name, const void *out, size_t least);
/* Fills it, keeping its size; what it has beyond ours becomes zero. */
void core_struct_write(void *out, const void *from, size_t known);
#define CORE_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* ---- environment.c --------------------------------------------------------------------------- */

/* The value of a variable that names no path, wherever it came from; NULL where it is unset. */
const char *core_variable(const char *name);
/* The value of one that names a path; NULL also where the program has more rights than its caller,
 * and then core_path_ignored says why. */
const char *core_path_variable(const char *name);
extern const char core_path_ignored[];
/* Fills `problem` where a value is not an absolute path, and leaves it alone elsewhere. */
void core_absolute_problem(const char *value, char *problem, size_t room);
/* iso_host.path. */
const char *core_host_path(const char *name, char *problem, int64_t capacity);

/* ---- trust.c --------------------------------------------------------------------------------- */

/* Fills `problem` where others than those that are trusted with it (trust.c) could put something
 * else at this absolute path; it is "" elsewhere, and where nothing is there. */
void core_path_problem(const char *path, char *problem, size_t room);

/* ---- settings.c ------------------------------------------------------------------------------ */

/* The value in force, valid for the process's life; NULL if unset without a default. */
const char *core_setting(const char *name);
/* A copy of the text that lives as long as the process; NULL: no memory. */
const char *core_keep(const char *text);
/* INVALID if some setting has a value that makes no sense. */
iso_status core_settings_check(const char *call);
/* Bytes of a limit ("8G", "50%" of total); -1: not a limit. */
int64_t core_parse_limit(const char *text, int64_t total);

/* ---- cache.c: the program cache -------------------------------------------------------------- */

void *core_cache_load(const void *key, int64_t key_bytes, int64_t *bytes);
int32_t core_cache_store(const void *key, int64_t key_bytes, const void *data, int64_t bytes);
/* The directory in force ("" if none), and why it is not used ("" if it is). */
void core_cache_where(char *path, size_t path_room, char *problem, size_t problem_room);

/* ---- handle.c -------------------------------------------------------------------------------- */

typedef enum core_kind {
    CORE_DEVICE = 1,
    CORE_STREAM = 2,
    CORE_EVENT = 3,
    CORE_BUFFER = 4,
    CORE_KIND_COUNT = 5
} core_kind;

/* 0: no memory (and core_fail was called). */
uint64_t core_handle_new(const char *call, core_kind kind, void *object);
/* The object, kept alive until the release. `argument` is named in the text. */
iso_status core_handle_acquire(const char *call, const char *argument, uint64_t id, core_kind kind,
                               void *object);
/* The same for a handle that the core knows to be right; false if it is being destroyed. */
bool core_handle_try(uint64_t id);
void core_handle_release(uint64_t id);
/* Makes the handle stale at once, waits for the calls that use it, and gives the object. Only one
 * caller wins. */
iso_status core_handle_retire(const char *call, const char *argument, uint64_t id, core_kind kind,
                              void *object);
bool core_handle_retire_quietly(uint64_t id);
/* After a retire: the slot may be used again. */
void core_handle_free(uint64_t id);

/* ---- fork.c ---------------------------------------------------------------------------------- */

/* Called once before anything is opened; the functions below are called in the child or around the
 * fork. */
void core_fork_guard(void);
void core_handle_fork(int stage);
void core_registry_fork(int stage);
void core_physical_fork(int stage);
void core_settings_fork(int stage);
void core_trace_fork(int stage);
void core_trust_fork(int stage);
enum { CORE_FORK_BEFORE, CORE_FORK_PARENT, CORE_FORK_CHILD };
void core_fork_lock(pthread_mutex_t *lock, int stage);

/* ---- registry.c, plugin.c -------------------------------------------------------------------- */

typedef struct core_backend {
    char name[ISO_NAME_MAX];
    const char *origin;      /* "built in" or the path */
    iso_backend_query query; /* of a built-in; else NULL */
    bool is_plugin;
    bool is_last; /* the last built-in: the one that `auto` falls back to */
    pthread_mutex_t lock;
    /* The rest is guarded by the lock. */
    bool loaded;
    bool touched;      /* probing it reached a driver in this process */
    bool forked;       /* ... or in the parent, and it cannot be used after a fork */
    iso_backend table; /* our copy, extended with zeros */
    iso_probe probe;   /* its state is 0 where it was not probed */
    struct core_backend *next;
} core_backend;

typedef struct core_builtin {
    const char *name;
    iso_backend_query query;
} core_builtin;
extern const core_builtin core_builtins[]; /* ends with a NULL name */
/* One for each: without an allocation none of them can be missing. */
extern core_backend core_builtin_backends[];

/* Finds it without loading it; *out is NULL where no backend has that name. NO_MEMORY: it could not
 * be looked for. */
iso_status core_backend_find(const char *call, const char *name, core_backend **out);
/* All of them: built-ins in order, then plug-ins by name. A list that the caller frees; NULL: no
 * memory. */
core_backend **core_backend_list(int *count);
/* Loads and probes; the answer is ISO_STATE_OK or has a reason. NO_MEMORY: it is not known. */
iso_status core_backend_probe(const char *call, core_backend *backend, iso_probe *out);
/* Loads a plug-in or built-in into backend->table; false: *out says why. */
bool core_backend_load(core_backend *backend, iso_probe *out);
bool core_name_valid(const char *name);
/* The folders to look in; calls back until it answers false. False: no memory to list them. */
bool core_plugin_folders(bool (*visit)(const char *folder, void *context), void *context);
/* Why an entry of ISOMER_BACKEND_PATH, or the library's own folder, is ignored. Fills `problem` for
 * the first such one, and leaves it alone where there is none. */
void core_plugin_path_problem(const char *path, char *problem, size_t room);
/* The device's description with what the core fills in. */
iso_status core_backend_device_info(const char *call, core_backend *backend, int32_t index,
                                    iso_device_info *out);
/* UNAVAILABLE, with the reason, of a device that is broken. */
iso_status core_backend_device_usable(const char *call, core_backend *backend, int32_t index);

/* ---- select.c -------------------------------------------------------------------------------- */

typedef struct core_choice {
    core_backend *backend;
    int32_t index;
    struct core_physical *physical; /* opened */
    core_text story;
    core_text passed; /* the backend's devices that were passed over, and why */
} core_choice;

iso_status core_select(const char *call, const char *spec, core_choice *out);
/* Why a spec cannot be meant at all ("" if it can), without loading anything. */
void core_spec_problem(const char *spec, char *problem, size_t room);
/* The same for a list of what has to be there, which `auto` is no part of. */
void core_require_problem(const char *list, char *problem, size_t room);

/* ---- device.c and objects -------------------------------------------------------------------- */

struct core_stream;
struct core_device;

/* A physical device that is open, shared by all handles to it, so that their streams and memory
 * know each other. */
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
    /* Guarded by the lock, with the lists of the devices. */
    int64_t used, peak;
    struct core_stream *streams; /* ascending serial */
    uint64_t stream_bits;
    uint64_t next_serial;
    struct core_block *blocks; /* of all its handles */
    struct core_physical *next;
} core_physical;

iso_status core_physical_open(const char *call, core_backend *backend, int32_t index,
                              core_physical **out);
/* The device of a program's context; the same context gives the same one. */
iso_status core_physical_adopt(const char *call, core_backend *backend,
                               const iso_native_device *native, core_physical **out);
/* One more reason to stay open. */
void core_physical_keep(core_physical *physical);
void core_physical_close(core_physical *physical);

/* What every object of a device begins with. */
typedef struct core_child {
    struct core_child *next, *previous;
    struct core_device *device;
    uint64_t id;
    core_kind kind;
} core_child;

typedef struct core_block {
    struct core_block *next;
    struct core_device *device;
    void *pointer;
    int64_t bytes;
    bool registered;   /* the caller's memory */
    bool from_backend; /* the backend allocated or pinned it */
    bool pending;      /* being pinned: nobody else may let go of it yet */
} core_block;

typedef struct core_device {
    uint64_t id;
    core_physical *physical;
    const iso_backend *table;
    iso_math math;
    int64_t limit; /* -1: none */
    char *choice;
    core_child *children;
} core_device;

typedef struct core_trace_stream core_trace_stream;

typedef struct core_stream {
    core_child child;
    void *handle; /* the backend's */
    uint64_t bit; /* in the used_by of buffers */
    uint64_t serial;
    struct core_stream *next; /* of the physical device */
    pthread_mutex_t lock;     /* held while something is submitted */
    iso_ref scratch;
    int64_t scratch_bytes;
    void *link; /* an event that orders copies between streams; NULL until it is needed */
    core_trace_stream *trace;
    pthread_mutex_t late_lock;
    atomic_int late; /* iso_status */
    bool late_told;
    core_kept_error late_error;
} core_stream;

typedef struct core_event {
    core_child child;
    void *handle;
    atomic_bool recorded;
} core_event;

/* Memory of a device. A buffer holds it, and so does each DLPack tensor that shows it: the last one
 * lets go of it. */
typedef struct core_memory {
    atomic_int holders;
    core_physical *physical;
    void *memory;    /* the backend's; NULL where there are no bytes */
    int64_t counted; /* bytes against the memory limit */
    bool imported;
    void (*release)(void *context); /* of imported memory; may be NULL */
    void *context;
} core_memory;

void core_memory_drop(core_memory *memory);

typedef struct core_buffer {
    core_child child;
    void *memory; /* NULL where it holds no bytes */
    /* Where its first byte lies in `memory`: memory of others is imported from an aligned address
     * on, so that offsets tell alignment. */
    int64_t origin;
    int64_t bytes;
    bool read_only;
    core_memory *owner;
    _Atomic uint64_t used_by; /* bits of streams that may have work with it */
} core_buffer;

void core_child_link(core_device *device, core_child *child);
void core_child_unlink(core_child *child);

/* A buffer of memory that somebody else owns; on failure it stays theirs. */
typedef struct core_import {
    void *native;
    int64_t bytes;
    bool read_only;
    void (*release)(void *context);
    void *context;
} core_import;
iso_status core_buffer_import(const char *call, core_device *device, const core_import *what,
                              iso_buffer *out);
/* The place of a byte of the buffer, as a backend knows it. */
iso_ref core_buffer_ref(const core_buffer *buffer, int64_t offset);
/* INVALID if the buffer is not to be written. */
iso_status core_check_writable(const char *call, const char *name, const core_buffer *buffer);

/* How DLPack knows the device; UNSUPPORTED where it does not. */
iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id);
/* Whether a native object of its memory is an address. */
bool core_dlpack_is_address(int32_t type);

/* A tensor that the caller wrote, its fields checked alone. */
iso_status core_tensor_read(const char *call, const iso_tensor *given, iso_tensor *out);
/* The bytes that it touches, from `low` (0 or less) after its offset on. */
iso_status core_tensor_span(const char *call, const iso_tensor *tensor, int64_t *low,
                            int64_t *bytes);

/* device.c: the parts of opening that adopting needs too. */
iso_status core_device_options(const char *call, const iso_device_options *given,
                               iso_device_options *options);
iso_status core_device_make(const char *call, const iso_device_options *options,
                            core_choice *choice, iso_device *out);

/* Counts memory against the device's limit. */
iso_status core_memory_take(const char *call, core_device *device, int64_t bytes);
void core_memory_give(core_physical *physical, int64_t bytes);

/* The rest of destroying, after the handle was retired; frees the object. */
iso_status core_stream_finish(const char *call, core_stream *stream, bool *told);
void core_event_finish(core_event *event);
void core_buffer_finish(core_buffer *buffer);
void core_blocks_finish(core_device *device);

/* Locks the stream for a submission; fails with its late error. */
iso_status core_stream_enter(const char *call, core_stream *stream);
void core_stream_leave(core_stream *stream);
/* What a failed submission means: a late error of the stream sticks to it. */
iso_status core_stream_check(const char *call, core_stream *stream, iso_status status);
/* Waits for the stream and keeps its late error. */
iso_status core_stream_drain(const char *call, core_stream *stream);
/* Its late error, now told to somebody; ISO_OK if it has none. */
iso_status core_stream_late(const char *call, core_stream *stream);
/* Waits for the streams of `physical` whose bits are in the mask. */
void core_streams_drain(core_physical *physical, uint64_t mask);
/* Orders what is submitted to `after` from now on behind what was submitted to `before`. Both are
 * locked, and of one physical device. */
iso_status core_stream_link(const char *call, core_stream *before, core_stream *after);

/* ---- overlap.c ------------------------------------------------------------------------------- */

/* Where an operand's bytes lie, counted from its first: `batch` matrices, `stride` apart, of `rows`
 * rows, `pitch` apart, of `width` bytes. */
typedef struct core_layout {
    int64_t bytes; /* from the first to the last, 64 bits hold them; 0: it is not touched */
    int64_t width;
    int64_t rows, pitch;   /* pitch: only where there are several rows */
    int64_t batch, stride; /* stride: only where there are several matrices */
} core_layout;

typedef enum core_overlap {
    CORE_APART = 0,
    CORE_MEET = 1,   /* some byte belongs to both */
    CORE_UNKNOWN = 2 /* three or more distances, and too many matrices to try: to be refused */
} core_overlap;

/* Two operands in one buffer; `at` are their offsets, and both end within 63 bits. */
core_overlap core_layouts_meet(int64_t a_at, const core_layout *a, int64_t b_at,
                               const core_layout *b);
/* Two matrices of one batch. */
core_overlap core_layout_meets_itself(const core_layout *layout);
/* Bytes that follow each other. */
core_layout core_run(int64_t bytes);

/* ---- op.c, ops/: operations ------------------------------------------------------------------ */

typedef struct core_op core_op;

/* Variants as bits. */
enum {
    CORE_NAIVE = 1 << ISO_VARIANT_NAIVE,
    CORE_TILED = 1 << ISO_VARIANT_TILED,
    CORE_VENDOR = 1 << ISO_VARIANT_VENDOR,
    CORE_MATRIX = 1 << ISO_VARIANT_MATRIX,
    CORE_PARTIALS = 1 << ISO_VARIANT_PARTIALS
};

/* What the core knows of one operation. Adding one: a file of ops/, and its line in ops/table.c. */
typedef struct core_operation {
    const char *name;     /* "gemm" */
    const char *plural;   /* "products", for messages */
    int variants;         /* bits of those that any device may have */
    iso_variant order[3]; /* auto tries these in turn; ends early with 0 */
    uint32_t abi_minor;   /* of the backend interface that brought it */
    uint32_t args_size;   /* of its member of iso_op_args, and where the variant lies there */
    uint32_t variant_at;
    /* Checks the caller's descriptor and fills args, uses and what differs from zero. */
    iso_status (*read)(const char *call, const void *args, core_op *out);
    /* Fills the cost of what was read. */
    void (*cost)(core_op *op);
    /* Makes an empty operation one of a single element. */
    void (*shrink)(core_op *op);
    void (*trace)(const core_op *op, const char *variant, char *name, size_t room);
} core_operation;

/* ops/table.c: NULL, or INVALID: there is no such kind. */
const core_operation *core_operation_of(iso_op_kind kind);
iso_status core_operation_find(const char *call, iso_op_kind kind, const core_operation **out);

/* An operand that an operation uses. */
typedef struct core_use {
    const char *name; /* "a" */
    iso_operand operand;
    core_layout layout;
    int64_t align;
    bool written;
    iso_ref *ref;
    core_buffer *buffer; /* acquired by bind() */
} core_use;

typedef enum core_empty {
    CORE_NOT_EMPTY = 0,
    CORE_NOTHING = 1, /* nothing is written */
    CORE_NEUTRAL = 2  /* what is written is filled with the neutral element */
} core_empty;

enum { CORE_USES_MAX = 4 };

/* An operation that was read and checked. Points into itself: it is not copied. */
struct core_op {
    const core_operation *row;
    iso_op op;
    iso_op_args args;
    iso_variant *variant;           /* in args */
    iso_math *math;                 /* in args; NULL where there is none */
    iso_dtype dtype;                /* where there is math */
    char math_reason[ISO_NOTE_MAX]; /* why it is strict although TF32 was asked for; else "" */
    int64_t *summed; /* in args: the length of sums that alpha = 0 makes 0; NULL: there is none */
    int64_t summed_given; /* ... and what the caller gave */
    core_empty empty;
    uint64_t neutral; /* bits of the neutral element */
    bool in_place;    /* its result may be an operand as a whole, though not a part of one */
    int use_count;
    iso_cost_info cost;
    core_use uses[CORE_USES_MAX]; /* the last: not cleared, but set by core_op_use */
};

iso_status core_op_read(const char *call, iso_op_kind kind, const void *args, core_op *out);
iso_status core_op_execute(const char *call, iso_stream stream, iso_op_kind kind, const void *args);

/* resolve.c: makes the variant and the math mode definite. UNSUPPORTED, if the device does not do
 * it. */
iso_status core_op_resolve(const char *call, core_op *op, core_device *device);

/* ops/check.c: what reading an operation needs. */

/* Adds an operand that is not touched; the caller writes its layout if it is. */
core_layout *core_op_use(core_op *op, const char *name, iso_operand operand, iso_ref *ref,
                         int64_t align, bool written);
/* Whether two operands are one, given twice. */
bool core_use_is_same(const core_use *a, const core_use *b);
/* `batch` matrices of elements; INVALID where 64 bits do not hold their bytes. */
iso_status core_matrix_layout(const char *call, const char *name, int64_t rows, int64_t cols,
                              int64_t ld, int64_t batch, int64_t stride, int64_t element,
                              core_layout *out);
/* Sets *ld where it is 0; INVALID where it is under the row length. */
iso_status core_check_ld(const char *call, const char *name, const char *matrix, int64_t cols,
                         int64_t *ld);
iso_status core_check_size(const char *call, const char *name, int64_t value);
iso_status core_check_variant(const char *call, iso_variant variant);
iso_status core_check_dtype(const char *call, iso_dtype dtype);

/* ---- factor.c: without floating-point arithmetic --------------------------------------------- */

/* A factor rounded to the type in which operations on `dtype` compute: to nearest even, with that
 * type's subnormals and overflow; a NaN stays one. */
double core_round_factor(iso_dtype dtype, double factor);
bool core_is_zero(double factor);

/* ---- transfer.c ------------------------------------------------------------------------------ */

/* Submits a checked transfer to a stream that is locked. */
iso_status core_transfer_submit(const char *call, core_stream *stream,
                                const iso_transfer *transfer);
/* INVALID unless the range lies in the buffer. */
iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer);

/* ---- trace.c --------------------------------------------------------------------------------- */

extern atomic_bool core_trace_on;
typedef struct core_trace_span {
    bool on;
    core_fpenv callers; /* from begin to end */
    int64_t began;
    void *start; /* backend event */
} core_trace_span;

/* Opens the file that ISOMER_TRACE names, if it is not open; `problem` is "" on success. */
bool core_trace_open(const char *path, char *problem, size_t room);
/* Around a submission to a locked stream. */
void core_trace_begin(core_stream *stream, core_trace_span *span);
void core_trace_end(core_stream *stream, core_trace_span *span, bool accepted, const char *name,
                    double bytes);
/* Writes what has finished. The stream is locked or being destroyed. */
void core_trace_resolve(core_stream *stream);
void core_trace_drop(core_stream *stream);

#endif
