/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the engine of the vendors' fakes: a "device" whose memory is the host's, whose
 * compiler is the host's C++ compiler, and whose kernels run on the CPU with one fiber per
 * work-item. Test code: the library is not aware of it.
 *
 * Codes are those of the CUDA driver, which HIP shares.
 *
 * Settings of a test:
 *
 *   FAKE_ORDER=reverse     work-items and groups run last to first
 *   FAKE_WAVE=32|64        work-items of a wave (HIP)
 *   FAKE_DELAY=us          delay before each piece of work on a stream
 *   FAKE_DEVICES=n         number of devices (1)
 *   FAKE_CHIP=90           architecture of CUDA's devices
 *   FAKE_NAME=text         follows the device's name
 *   FAKE_MEMORY=bytes      of each device (4 GiB)
 *   FAKE_UNITS=n           multiprocessors or compute units (8)
 *   FAKE_LOST=n            the n-th launch loses the device
 *   FAKE_INIT=code         result of cuInit and hipInit
 *   FAKE_DRIVER_VERSION=n  version that the driver reports (13000)
 *   FAKE_ROCBLAS_VERSION=text  version that rocBLAS reports
 *   FAKE_CUSPARSE_MINOR=n  second part of cuSPARSE's version (6)
 *   FAKE_SPARSE=code|grow  status of products of sparse matrices; each query of their scratch
 *                          memory returns more
 *   FAKE_COMM_ERROR=code   what communicators report as an error found since
 *   FAKE_COMM_FAIL=code    result of calls on communicators
 *   FAKE_COMM_LOST=1       a call on a communicator loses the device
 *   FAKE_COMM_CONNECT=1    the first call on a communicator returns when all ranks have made theirs
 *   FAKE_COMM_STUCK=file   joining does not notice that it was aborted, until the file is there
 *   FAKE_COMM_VERSION=n    version that the library reports (22809)
 *   FAKE_COMPILE=fail      the compiler refuses every program, with a log
 *   FAKE_COMPILE=text      ... every program with that text in its name
 *   FAKE_REFUSE=n          the first n binaries are refused
 *   FAKE_HOST_PAGES=1      the device uses the host's page tables
 *   FAKE_PINNED=bytes      pinned memory in allocations of at most so many bytes
 *   FAKE_COPY=n            the n-th copy is refused
 *   FAKE_COPY_LOST=n       the n-th copy loses the device when it runs
 *   FAKE_EVENT=n           the n-th record of an event is refused
 *   FAKE_WAIT=0            streams cannot wait for words of memory
 *   FAKE_RECORD=n          the n-th piece of work that a stream records spoils the recording
 *   FAKE_ASAN=1            kernels are built with the address sanitizer
 *   FAKE_CXX=compiler      the host's C++ compiler
 *   FAKE_CACHE=folder      where what it made is kept; nothing is, if empty
 *   FAKE_BYTES=wrong|refuse  products of bytes by BLAS libraries have a wrong sum, or are refused
 *   FAKE_UNIT=1|2|3        a fault of matrix units (prelude.h); compiled into programs
 *   FAKE_CLOCK, FAKE_CLOCK_MAX, FAKE_MEMORY_CLOCK=MHz, FAKE_POWER, FAKE_POWER_CAP=mW,
 *   FAKE_TEMPERATURE=degrees (each further device has one more), FAKE_BUSY=percent, FAKE_ECC=0|1,
 *   FAKE_THROTTLE=bits     readings of the sensors; the bits are the vendor's
 *   FAKE_METRICS=n         AMD's readings are in a table of content n, or in none (0)
 *   FAKE_ENERGY=mJ         the counter of energy; without it, it counts FAKE_POWER, and
 *                          FAKE_POWER_BUSY (mW, 0) for the processor time of the process, every
 *                          20 ms
 *   FAKE_ENERGY_OLD=1      AMD's counter has no unit, as in old versions
 *   FAKE_MIG=0|1           CUDA's devices are slices of a divided device
 *   FAKE_SENSORS_INIT=code, FAKE_SENSORS_ERROR=code, FAKE_SENSORS_POWER=code,
 *   FAKE_SENSORS_ENERGY=code  results of the initialisation, of all queries, of those for power and
 *                          energy
 */
#ifndef ISOMER_TESTS_FAKES_ENGINE_H
#define ISOMER_TESTS_FAKES_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAKE_OK = 0,
    FAKE_INVALID_VALUE = 1,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_NO_DEVICE = 100,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_IMAGE = 200,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_NO_BINARY = 209,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_READY = 600,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_OUT_OF_RESOURCES = 701,
    FAKE_PEER_ENABLED = 704,
    FAKE_CONTEXT_DESTROYED = 709,
    FAKE_HOST_REGISTERED = 712,
    FAKE_HOST_NOT_REGISTERED = 713,
    FAKE_LAUNCH_FAILED = 719,
    FAKE_NOT_SUPPORTED = 801,
    FAKE_ILLEGAL_STATE = 401,
    FAKE_RECORD_UNSUPPORTED = 900,
    FAKE_RECORD_SPOILED = 901
};

#define FAKE_API __attribute__((visibility("default")))

/* The number in an environment variable, or `otherwise`. */
int64_t fake_setting(const char *name, int64_t otherwise);
const char *fake_text(const char *name); /* "" if it is not set */
/* The vendor's name of a code without its prefix: "INVALID_VALUE", "OUT_OF_MEMORY"; NULL if
 * unknown. */
const char *fake_code_text(int code);
int fake_device_count(void);
int64_t fake_device_memory(void);
/* The counter of energy now, in millijoules. */
int64_t fake_energy(void);
/* FAKE_WAVE, or `otherwise`. */
int fake_wave(int otherwise);

/* ---- contexts -------------------------------------------------------------------------------- */

/* The state of a device, of which a program may have several: memory, streams, and a sticky error.
 */
typedef struct fake_context {
    int device;
    int error; /* atomic: 0, or the sticky error */
    int64_t used;
    int references; /* for the owner's use */
} fake_context;

fake_context *fake_context_create(int device);
/* Waits for its streams, frees its memory and clears its error. */
void fake_context_reset(fake_context *context);
/* Waits for all of its streams. */
int fake_context_sync(fake_context *context);
int fake_context_error(fake_context *context);
void fake_context_break(fake_context *context, int code);
bool fake_context_known(const fake_context *context);

/* ---- memory ---------------------------------------------------------------------------------- */

typedef enum fake_memory_kind {
    FAKE_MEMORY_DEVICE = 1,
    FAKE_MEMORY_PINNED = 2,
    FAKE_MEMORY_REGISTERED = 3
} fake_memory_kind;

typedef struct fake_range {
    char *base;
    size_t bytes;
    fake_memory_kind kind;
    fake_context *context;
    void *mapping;
    size_t mapped;
} fake_range;

int fake_memory_alloc(fake_context *context, fake_memory_kind kind, size_t bytes, void **out);
/* Reports on stderr if memory before or after it was written. */
int fake_memory_free(fake_memory_kind kind, void *pointer);
int fake_host_register(fake_context *context, void *pointer, size_t bytes);
int fake_host_unregister(void *pointer);
/* The allocation that contains the address. */
bool fake_memory_find(const void *address, fake_range *out);
/* Whether all these bytes are device memory. */
bool fake_is_device(const void *address, size_t bytes);
/* Whether the bytes next to every allocation are unchanged; reports on stderr which are not. */
bool fake_memory_intact(void);
/* Bytes of pinned memory that were allocated and not freed. */
int64_t fake_memory_pinned(void);
void fake_memory_drop(const fake_context *context);

/* ---- streams and events ---------------------------------------------------------------------- */

typedef struct fake_stream fake_stream;
typedef struct fake_event fake_event;

/* Submits work to a stream: it is called later with a copy of `data`; a result other than 0 becomes
 * the sticky error. */
typedef int (*fake_work)(void *data);

int fake_stream_create(fake_context *context, fake_stream **out);
int fake_stream_destroy(fake_stream *stream);
bool fake_stream_known(const fake_stream *stream);
bool fake_stream_records(const fake_stream *stream);
fake_context *fake_stream_context(const fake_stream *stream);
int fake_stream_submit(fake_stream *stream, fake_work work, const void *data, size_t bytes);
int fake_stream_sync(fake_stream *stream);
int fake_stream_query(fake_stream *stream);
int fake_stream_wait(fake_stream *stream, fake_event *event);
/* The stream waits until the word has this value, or its context fails. */
int fake_stream_wait_word(fake_stream *stream, const uint32_t *word, uint32_t value);
/* The context's own stream, for calls that name none. */
fake_stream *fake_stream_default(fake_context *context);

int fake_event_create(fake_context *context, fake_event **out);
int fake_event_destroy(fake_event *event);
bool fake_event_known(const fake_event *event);
int fake_event_record(fake_event *event, fake_stream *stream);
int fake_event_sync(fake_event *event);
int fake_event_query(fake_event *event);
int fake_event_elapsed(fake_event *start, fake_event *stop, float *milliseconds);

/* ---- graphs (graph.c) ------------------------------------------------------------------------ */

typedef struct fake_graph fake_graph;
enum { FAKE_GLOBAL = 0, FAKE_OF_THREAD = 1, FAKE_RELAXED = 2 };

/* From here on the stream records; what is submitted to it does not run. */
int fake_stream_record(fake_stream *stream, int mode);
/* Ends this. Unless the recording was spoiled, sets *out. */
int fake_stream_recorded(fake_stream *stream, fake_graph **out);
int fake_graph_instantiate(const fake_graph *graph, fake_graph **out);
/* Two launches of a graph that run at once break the context. */
int fake_graph_launch(fake_graph *graph, fake_stream *stream);
int fake_graph_destroy(fake_graph *graph);

/* For stream.c, memory.c and libraries. */
int fake_record_begin(fake_context *context, int mode, fake_graph **out);
int fake_record_end(fake_graph *graph);
int fake_record_add(fake_graph *graph, fake_work work, const void *data, size_t bytes);
int fake_record_spoil(fake_graph *graph); /* returns the code */
/* The code of a call that a recording in this context forbids, which spoils it; FAKE_OK: none does.
 * `waits`: the call waits for the context. */
int fake_record_forbids(const fake_context *context, bool waits);

/* Transfers, checked and submitted to the stream. */
typedef struct fake_copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
    bool to_device, from_device;
} fake_copy;
int fake_copy_submit(fake_stream *stream, const fake_copy *copy);
/* How many were submitted whose host memory is pinned, or is not. */
int64_t fake_copies(bool pinned);
int fake_fill_submit(fake_stream *stream, void *to, uint32_t value, int width, size_t count);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct fake_compile {
    const char *text;
    const char *name;
    const char *const *options; /* -D... for the host's compiler */
    int option_count;
    const char *target; /* recorded in the binary */
    bool contract;      /* the vendor's options allow a * b + c to become an fma */
} fake_compile;

/* Both results come from malloc; `log` is never NULL. False: the program was refused. */
bool fake_compile_program(const fake_compile *what, void **binary, size_t *bytes, char **log);

typedef struct fake_module fake_module;
typedef struct fake_kernel fake_kernel;

int fake_module_load(const void *image, const char *target, fake_module **out);
int fake_module_unload(fake_module *module);
int fake_module_kernel(fake_module *module, const char *name, fake_kernel **out);
bool fake_kernel_known(const fake_kernel *kernel);
int fake_kernel_threads(const fake_kernel *kernel);
int64_t fake_kernel_shared(const fake_kernel *kernel);
/* `groups` along x, y and z; a group's threads lie along x. `early`: the kernel may begin before
 * the launch before it has ended. */
int fake_launch(fake_stream *stream, fake_kernel *kernel, const unsigned groups[3],
                unsigned threads, void **arguments, bool early);

/* The part of a kernel that the fibers need; see prelude.h. */
typedef struct fake_state fake_state;
typedef struct fake_grid {
    fake_state *state;
    void (*call)(void **arguments);
    void **arguments;
    unsigned groups[3], threads;
    char *shared;
    size_t shared_bytes;
    const char *name;
    bool early; /* every work-item must wait for the launch before */
} fake_grid;

/* Runs every group; returns a code of the list above. Called by one thread at a time. */
int fake_grid_run(const fake_grid *grid);

/* Runs the work; an access to unmapped memory becomes FAKE_ILLEGAL_ADDRESS. */
int fake_guarded(fake_work work, void *data);

#endif
