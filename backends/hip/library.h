/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - AMD's libraries, opened at run time, and declarations shared by the backend's files.
 */
#ifndef ISOMER_HIP_LIBRARY_H
#define ISOMER_HIP_LIBRARY_H

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include "backends/loader/loader.h"
#include "backends/simt/comm.h"
#include "backends/simt/sparse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- libraries (library.c) ------------------------------------------------------------------- */

typedef struct hip_api LOADER_TABLE(HIP_RUNTIME_SYMBOLS) hip_api;
typedef struct hiprtc_api LOADER_TABLE(HIP_RTC_SYMBOLS) hiprtc_api;

extern const iso_host *hip_host;
extern hip_api hip; /* filled once probing has found a device */
/* The oldest usable version: that of the oldest headers that the lists in symbols.h were compared
 * with, and of the oldest compiler that the kernels were compiled by. */
enum { HIP_VERSION_LEAST = 50200000 };
#define HIP_OLDEST "ROCm 5.2"

extern int32_t hip_version;     /* of the runtime: 60443483 for 6.4 */
extern int32_t hip_major(void); /* 6 for 6.4 */

extern const loader_where hip_where; /* where AMD's libraries are searched */
extern loader_library hip_runtime_library;

/* Runs code in a separate process, because it may end the process that runs it. Returns true if the
 * code works. `arguments` are "hip" and the arguments of try.c, and end with NULL. A verdict is
 * valid only for the same arguments and the same `besides`. If the code failed or could not be
 * tried, returns false, with the reason in `why`. */
bool hip_survives(const char *const *arguments, const char *besides, char *why, size_t capacity);

/* Opens a library whose file has the same name in several versions of ROCm. It is searched beside
 * the runtime first. A file for another runtime has loaded that one, and is not used. `path` is
 * static room of LOADER_PATH_MAX bytes. */
bool hip_open_beside(simt_library *self, const char *name, char *path);

iso_status hip_status(hip_code code);
const char *hip_code_name(hip_code code);

/* ---- objects --------------------------------------------------------------------------------- */

/* The throttling counters at the last reading. */
typedef struct hip_held {
    bool known;
    uint64_t power, heat;
} hip_held;

typedef struct hip_device {
    int32_t index;
    atomic_int lost;     /* an error that made the device unusable has occurred */
    atomic_int peer;     /* the last device whose memory was made accessible to this one, plus 1 */
    atomic_int works[3]; /* of each library of blas.c: it was tried on the device, and works */
    hip_held held;       /* used by sensors.c, under its own lock */
    char architecture[HIP_ARCHITECTURE_BYTES]; /* with its features: "gfx90a:sramecc+:xnack-" */
} hip_device;

/* Makes the device this thread's current one for the calls until hip_leave, which restores the
 * previous one. */
simt_scope hip_enter(const hip_device *device);
void hip_leave(simt_scope scope);

/* Makes a call of the runtime on a device. */
#define HIP_ON(device, code, call)                                                                 \
    do {                                                                                           \
        const simt_scope scope_ = hip_enter(device);                                               \
        (code) = scope_.code == HIP_DONE ? (call) : scope_.code;                                   \
        hip_leave(scope_);                                                                         \
    } while (0)

/* Returns the status of a code, and reports a failure as "WHAT gives CODE (n): text". If the
 * failure means that the device is lost, marks the device (may be NULL) as lost. */
iso_status hip_check(hip_device *device, hip_code code, const char *format, ...) ISO_PRINTF(3, 4);

/* device.c */
iso_status hip_probe(iso_probe *out); /* library.c */
iso_status hip_device_info(int32_t index, iso_device_info *out);
iso_status hip_device_open(int32_t index, void **native, simt_limits *limits);
iso_status hip_device_adopt(int32_t devices, const void *context, const void *native_device,
                            int32_t *index, void **native, simt_limits *limits);
void hip_device_close(void *native);
/* The address on the bus: domain << 32 | bus << 8 | device << 3. */
iso_status hip_place(int32_t index, uint64_t *place);

/* simulator.c: whether the device is a simulator's */
bool hip_simulated(int32_t index);

/* sensors.c: an entry of the backend's table */
iso_status hip_telemetry(void *device, iso_telemetry *out);

/* driver_transfer.c */
iso_status hip_transfer(simt_stream *stream, const iso_transfer *transfer);
bool hip_is_pageable(simt_stream *stream, const void *first, const void *last);
iso_status hip_copy_peer(simt_stream *to_stream, iso_ref to, simt_stream *from_stream, iso_ref from,
                         int64_t bytes);

/* driver_call.c */
iso_status hip_gate_open(void *native, void **gate);
void hip_gate_close(void *native, void *gate);
iso_status hip_call_submit(simt_stream *stream, simt_call *call);
int32_t hip_call_await(simt_stream *stream, simt_call *call);
void hip_call_finish(simt_stream *stream, simt_call *call);
void hip_call_close(simt_stream *stream, simt_call *call);

/* driver_graph.c */
iso_status hip_graph_usable(void);
iso_status hip_graph_begin(simt_stream *stream);
iso_status hip_graph_end(simt_stream *stream);
void hip_graph_drop(simt_stream *stream);
iso_status hip_graph_run(simt_stream *stream, void *graph);

/* driver_program.c */
iso_status hip_program_identity(void *native, char *text, int64_t capacity);
iso_status hip_program_build(void *native, const simt_source *source, void **binary,
                             int64_t *bytes);
iso_status hip_chip_get(int32_t index, char *name, int64_t capacity);
iso_status hip_program_try(const char *chip, const iso_program_source *source);
iso_status hip_program_load(void *native, const void *binary, int64_t bytes, void **program);
void hip_program_unload(void *program);
iso_status hip_kernel_get(void *program, const char *name, int32_t threads, void **kernel,
                          simt_kernel_info *info);
iso_status hip_launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                      const simt_arg *args, int32_t arg_count);
/* Opens the compiler, and writes its version and path, or why there is no compiler. */
void hip_compiler_describe(char *text, size_t capacity);

/* blas.c */
extern const simt_vendor hip_vendor;

/* sparse.c */
extern simt_library hip_sparse_library;
extern const simt_sparse hip_sparse;

/* comm.c */
extern simt_library hip_comm_library;
extern const iso_engine hip_engine;

#endif
