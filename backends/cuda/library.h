/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - NVIDIA's libraries, opened at run time, and declarations shared by the backend's
 * files. */
#ifndef ISOMER_CUDA_LIBRARY_H
#define ISOMER_CUDA_LIBRARY_H

#include "backends/cuda/symbols.h"

#include "backends/loader/loader.h"
#include "backends/simt/comm.h"
#include "backends/simt/sparse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* ---- libraries (library.c) ------------------------------------------------------------------- */

typedef struct cuda_api LOADER_TABLE(CUDA_DRIVER_SYMBOLS) cuda_api;
typedef struct nvrtc_api LOADER_TABLE(CUDA_NVRTC_SYMBOLS) nvrtc_api;

/* The oldest usable version, of the driver and of the toolkit's libraries. Only from 11.0 on the
 * driver exports cuDevicePrimaryCtxRelease_v2, and cuBLAS has its types of computation. */
enum { CUDA_VERSION_LEAST = 11000 };
#define CUDA_OLDEST "CUDA 11.0"

extern const iso_host *cuda_host;
extern cuda_api cu;          /* filled once probing has found a device */
extern int32_t cuda_version; /* of the driver: 13000 for 13.0; 0 before probing */

/* The newest toolkit whose libraries can be used with this driver and on all of these chips: 12 for
 * CUDA 12. */
int cuda_newest_toolkit(void);
/* Writes why a library of a newer toolkit cannot be used. */
void cuda_too_new(char *why, size_t capacity);

extern const loader_where cuda_where; /* where NVIDIA's libraries are searched */
extern loader_library cuda_driver_library;

iso_status cuda_status(cuda_code code);
const char *cuda_code_name(cuda_code code);

/* ---- objects (driver.c) ---------------------------------------------------------------------- */

typedef struct cuda_device {
    cuda_ordinal ordinal;
    int32_t index;
    cuda_context context;
    bool primary;         /* the context is the device's primary one, retained */
    atomic_int lost;      /* an error that destroyed the context has occurred */
    int32_t architecture; /* 90 for sm_90 */
    int64_t pitch_max;
    _Atomic(cuda_context) peer; /* the last context whose memory was made accessible to this one */
} cuda_device;

/* The backend's handle of device memory is the memory's address. */
static inline void *cuda_pointer(cuda_address address)
{
    const uintptr_t number = (uintptr_t)address;
    void *pointer = NULL;
    memcpy(&pointer, &number, sizeof pointer);
    return pointer;
}

static inline cuda_address cuda_address_of(const void *memory)
{
    return (cuda_address)(uintptr_t)memory;
}

static inline cuda_address cuda_place(iso_ref ref)
{
    return cuda_address_of(ref.memory) + (cuda_address)ref.offset;
}

/* Makes the context current for the calls until cuda_leave, which restores the previous one. */
simt_scope cuda_enter(const cuda_device *device);
void cuda_leave(simt_scope scope);

/* Makes a driver call in a device's context. */
#define CUDA_ON(device, code, call)                                                                \
    do {                                                                                           \
        const simt_scope scope_ = cuda_enter(device);                                              \
        (code) = scope_.code == CUDA_DONE ? (call) : scope_.code;                                  \
        cuda_leave(scope_);                                                                        \
    } while (0)

/* Returns the status of a code, and reports a failure as "WHAT gives CODE (n): text". If the
 * failure means that the device is lost, marks the device (may be NULL) as lost. */
iso_status cuda_check(cuda_device *device, cuda_code code, const char *format, ...)
    ISO_PRINTF(3, 4);

/* device.c */
iso_status cuda_probe(iso_probe *out);
iso_status cuda_device_info(int32_t index, iso_device_info *out);
int32_t cuda_architecture_of(cuda_ordinal device);                       /* 90 for sm_90 */
void cuda_device_uuid(cuda_ordinal device, char *text, size_t capacity); /* "" if there is none */
iso_status cuda_device_open(int32_t index, void **native, simt_limits *limits);
iso_status cuda_device_adopt(int32_t devices, const void *context, const void *native_device,
                             int32_t *index, void **native, simt_limits *limits);
void cuda_device_close(void *native);

/* sensors.c: an entry of the backend's table */
iso_status cuda_telemetry(void *device, iso_telemetry *out);

/* driver_transfer.c */
iso_status cuda_transfer(simt_stream *stream, const iso_transfer *transfer);
bool cuda_is_pageable(simt_stream *stream, const void *first, const void *last);
iso_status cuda_copy_peer(simt_stream *to_stream, iso_ref to, simt_stream *from_stream,
                          iso_ref from, int64_t bytes);

/* driver_call.c */
iso_status cuda_gate_open(void *native, void **gate);
void cuda_gate_close(void *native, void *gate);
iso_status cuda_call_submit(simt_stream *stream, simt_call *call);
int32_t cuda_call_await(simt_stream *stream, simt_call *call);
void cuda_call_finish(simt_stream *stream, simt_call *call);
void cuda_call_close(simt_stream *stream, simt_call *call);

/* driver_graph.c */
iso_status cuda_graph_usable(void);
iso_status cuda_graph_begin(simt_stream *stream);
iso_status cuda_graph_end(simt_stream *stream);
void cuda_graph_drop(simt_stream *stream);
iso_status cuda_graph_run(simt_stream *stream, void *graph);

/* driver_program.c */
iso_status cuda_program_identity(void *native, char *text, int64_t capacity);
iso_status cuda_compiler_version(void *native, char *text, int64_t capacity);
iso_status cuda_program_build(void *native, const simt_source *source, void **binary,
                              int64_t *bytes);
iso_status cuda_chip_get(int32_t index, char *name, int64_t capacity);
iso_status cuda_program_try(const char *chip, const iso_program_source *source);
iso_status cuda_program_load(void *native, const void *binary, int64_t bytes, void **program);
void cuda_program_unload(void *program);
iso_status cuda_kernel_get(void *program, const char *name, int32_t threads, void **kernel,
                           simt_kernel_info *info);
iso_status cuda_launch_next(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                            const simt_arg *args, int32_t arg_count);
iso_status cuda_launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                       const simt_arg *args, int32_t arg_count);
/* Opens the compiler, and writes its version and path, or why there is no compiler. */
void cuda_compiler_describe(char *text, size_t capacity);
/* Whether it compiles for one chip alone ("sm_90a"); NVRTC 12.0 or newer does. Does not open it. */
bool cuda_compiler_knows_chips(void);
enum { CUDA_HOPPER = 90 };

/* blas.c */
extern const simt_vendor cuda_vendor;

/* sparse.c */
extern simt_library cuda_sparse_library;
extern const simt_sparse cuda_sparse;

/* comm.c */
extern simt_library cuda_comm_library;
extern const iso_engine cuda_engine;

#endif
