/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - the OpenCL loader, opened at run time, and declarations shared by the backend's
 * files. */
#ifndef ISOMER_OPENCL_LIBRARY_H
#define ISOMER_OPENCL_LIBRARY_H

#include "backends/opencl/symbols.h"

#include "backends/loader/loader.h"
#include "backends/simt/simt.h"

/* ---- the loader (library.c) ------------------------------------------------------------------ */

typedef struct ocl_api LOADER_TABLE(OPENCL_SYMBOLS) ocl_api;

/* A usable device. GPUs come first, then accelerators, then CPUs. Devices of one kind are in the
 * order of the loader's platforms and their devices. */
typedef struct ocl_found {
    ocl_platform platform;
    ocl_device_id device;
    ocl_bits type;
} ocl_found;

extern const iso_host *ocl_host;
extern ocl_api cl; /* filled once probing has found a device */
extern loader_library ocl_loader;

iso_status ocl_probe(iso_probe *out);
/* The device of this index; NULL after the last device. */
const ocl_found *ocl_device_at(int32_t index);

const char *ocl_code_name(ocl_code code);
iso_status ocl_status(ocl_code code);
/* "WHAT gives CL_X (n)". */
iso_status ocl_fail(ocl_code code, const char *format, ...) ISO_PRINTF(2, 3);
/* log.c: writes a compiler's log with the places that the source's #line directives give. Returns
 * its length, as snprintf does. */
size_t ocl_log_places(const char *log, const char *source, char *to, size_t room);

/* ---- objects --------------------------------------------------------------------------------- */

typedef struct ocl_block ocl_block; /* host memory, mapped */
typedef struct ocl_mark ocl_mark;

typedef struct ocl_device {
    ocl_platform platform;
    ocl_device_id id;
    ocl_context context;
    ocl_queue queue; /* used to map memory and to force allocations */
    int32_t index;
    bool is_cpu;
    bool rounds;        /* divisions and square roots of f32 correctly, if asked to */
    bool keeps_kernels; /* compiles kernels at their first run, and caches them itself */
    /* A command that fails late is the end of the context or of the process: clFinish and all later
     * commands fail too. So a launch needs no event that tells of it. */
    bool fails_for_good;
    pthread_mutex_t blocks_lock;
    ocl_block *blocks;
    pthread_mutex_t lock;      /* guards the links between streams and events */
    uint64_t next_serial;      /* number of streams so far */
    _Atomic uint64_t releases; /* of memory, so far */
} ocl_device;

/* A command that was submitted and may not have finished. */
typedef struct ocl_command {
    ocl_event event;
    const char *call;
} ocl_command;

/* Guarded by the device's lock, except for constant fields. */
typedef struct ocl_stream {
    ocl_device *device;
    ocl_queue queue;
    uint64_t serial;
    bool foreign; /* the program submits its own commands to it */
    bool timed;
    ocl_command *commands; /* a ring */
    uint32_t capacity, first, count;
    uint64_t submitted; /* number of commands so far */
    ocl_event last;     /* of the last command or wait; NULL: none yet */
    const char *untold; /* a command after `last` whose end has no event yet; NULL: none */
    ocl_event asked;    /* foreign: the marker that shows whether the queue is idle */
    ocl_mark *waiting;  /* marks that have no command after them yet */
    iso_status late;    /* the first late error, and the parts of its message */
    ocl_code late_code;
    const char *late_call;
    atomic_int calls; /* of the host, that the queue waits for or will */
} ocl_stream;

/* An event of the core. Its time is that of `marker` or, if that is NULL, the end of `last`. */
struct ocl_mark {
    ocl_device *device;
    ocl_stream *stream; /* NULL: not in a stream's list */
    ocl_mark *next;
    uint64_t serial;    /* of the stream */
    uint64_t submitted; /* number of the stream's commands at the record */
    ocl_event last;     /* the stream's last command at the record */
    ocl_event marker;   /* used if the stream was idle */
    ocl_event after;    /* the first command after the record; NULL: none, or a wait came first */
};

/* sound.c. ocl_may_list: whether this process may query the drivers for their devices.
 * ocl_device_usable: ISO_UNAVAILABLE if the driver of the device failed its trial. */
bool ocl_may_list(char *why, size_t capacity);
iso_status ocl_device_usable(int32_t index);

/* device.c */
iso_status ocl_device_info(int32_t index, iso_device_info *out);
iso_status ocl_device_open(int32_t index, void **native, simt_limits *limits);
iso_status ocl_device_adopt(int32_t devices, const void *context, const void *native_device,
                            int32_t *index, void **native, simt_limits *limits);
void ocl_device_close(void *native);
/* A number of a device; `otherwise` if the driver does not report it. */
uint64_t ocl_device_number(ocl_device_id device, ocl_name what, uint64_t otherwise);
void ocl_device_text(ocl_device_id device, ocl_name what, char *text, size_t capacity);
void ocl_platform_text(ocl_platform platform, ocl_name what, char *text, size_t capacity);

/* driver_stream.c */
iso_status ocl_stream_create(simt_stream *stream);
iso_status ocl_stream_adopt(simt_stream *stream, void *foreign);
void ocl_stream_destroy(simt_stream *stream);
iso_status ocl_stream_sync(void *stream);
iso_status ocl_stream_query(void *stream);
iso_status ocl_stream_wait(void *stream, void *event);
/* Must follow every call that puts a command into the queue. Keeps the command's event, which the
 * stream then owns, or reports the failure. `call` is static text. */
iso_status ocl_submitted(ocl_stream *stream, ocl_code code, ocl_event event, const char *call);
/* Whether the launch of a kernel needs an event. */
bool ocl_launch_is_watched(ocl_stream *stream);
/* Must follow a launch or a library's routine that was submitted without an event. `name` is static
 * text. */
iso_status ocl_unwatched(ocl_stream *stream, const char *name);
/* Precedes such a routine. */
iso_status ocl_routine_begins(ocl_stream *stream);
/* Creates the event at the end of commands without events if there is none yet. Called before the
 * end is queried. */
iso_status ocl_tell(ocl_stream *stream);
/* The state of a command: OCL_COMPLETE, larger while it is not complete, smaller if it failed. */
ocl_code ocl_event_state(ocl_event event);

/* Whether a command failed, as far as its end is known. Unlike a query it submits nothing. */
bool ocl_stream_failed(ocl_stream *stream);

/* The event of the stream's last command, retained; NULL if that is unknown, or if an event of the
 * core needs a command of its own here. */
ocl_event ocl_stream_end(ocl_stream *stream);

/* driver_call.c */
iso_status ocl_call_submit(simt_stream *stream, simt_call *call);
int32_t ocl_call_await(simt_stream *stream, simt_call *call);
void ocl_call_finish(simt_stream *stream, simt_call *call);
void ocl_call_close(simt_stream *stream, simt_call *call);

/* driver_event.c */
iso_status ocl_event_create(simt_event *event);
void ocl_event_destroy(simt_event *event);
iso_status ocl_event_record(void *event, void *stream);
iso_status ocl_event_sync(void *event);
iso_status ocl_event_query(void *event);
iso_status ocl_event_elapsed(void *start, void *stop, int64_t *nanoseconds);

/* driver_transfer.c */
iso_status ocl_transfer(simt_stream *stream, const iso_transfer *transfer);

/* driver_program.c */
iso_status ocl_program_identity(void *native, char *text, int64_t capacity);
iso_status ocl_program_build(void *native, const simt_source *source, void **binary,
                             int64_t *bytes);
iso_status ocl_program_load(void *native, const void *binary, int64_t bytes, void **program);
void ocl_program_unload(void *program);
iso_status ocl_kernel_get(void *program, const char *name, int32_t threads, void **kernel,
                          simt_kernel_info *info);
void ocl_kernel_release(void *kernel);
iso_status ocl_launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                      const simt_arg *args, int32_t arg_count);

/* blas.c */
extern const simt_vendor ocl_vendor;

#endif
