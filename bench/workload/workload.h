/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - what is measured: lists of cases, and a case on a device, ready to be run and
 * checked. It takes no times.
 *
 * The seed makes the inputs once for the whole run; they are the same on every device. Each device
 * holds one block of inputs for each type, and each case reads its operands at its own places in
 * it. One block of memory on each device takes every case's results.
 */
#ifndef ISOMER_WORKLOAD_H
#define ISOMER_WORKLOAD_H

#include "bench/check/check.h"
#include "bench/tool.h"

/* The members of a result that say what the case is: id, op, kind, variant, dtype, shape, size,
 * layout, math, fill, cache, work. */
json_t *work_case_json(const bench_case *item);

/* ---- lists: list.c, file.c ------------------------------------------------------------------- */

enum { WORK_LIBRARIES = 4 }; /* of one vendor */

typedef struct work_request {
    const char *suite; /* quick, full, stream, gemm, transfer, or a file; NULL: quick */
    const char *op;    /* lists of words, or NULL */
    const char *variant;
    const char *dtype;
    const char *size; /* "1024,4Ki,2M": N, elements or bytes, as the operation counts */
    iso_math math;
    uint64_t seed;
    int64_t cache_bytes;  /* the greatest last-level cache of the devices */
    int64_t memory_bytes; /* the least memory of the devices */
    bool all_cpu;         /* no GPU takes part: sizes for a processor */
    bool no_roofs;        /* the cases that measure roofs are left out */
} work_request;

typedef struct work_list {
    bench_case *items;
    int32_t count;
} work_list;

/* Makes the list in a fixed order; several cases may measure the same roof. TOOL_OK, or an exit
 * code after saying what was wrong: an unknown suite (with the known ones and the nearest),
 * operation, variant, type or size; a file that is not there, no JSON, or wrong at a place that is
 * named. TOOL_NOTHING: no case matches. Cases that measure roofs are always in it, whatever was
 * asked for. */
int work_list_make(const work_request *request, work_list *out);
void work_list_free(work_list *list);

/* ---- case.c ---------------------------------------------------------------------------------- */

/* Bytes of the smallest of its arrays. */
int64_t work_case_array(const bench_case *item);

/* ---- inputs.c: data that every device gets --------------------------------------------------- */

typedef struct work_inputs work_inputs;
work_inputs *work_inputs_create(uint64_t seed, const work_list *list); /* NULL: no memory; said */
/* The same without data: targets leave memory as it is, and nothing can be judged. */
work_inputs *work_inputs_plan(uint64_t seed, const work_list *list);
void work_inputs_destroy(work_inputs *inputs);

/* ---- target.c: a device with its memory ------------------------------------------------------ */

typedef struct work_target work_target;

/* Bytes of a device's memory; a guess where the device does not report it. */
int64_t work_memory(const iso_device_info *info);

/* Opens `spec`. NULL after an error message; `*code` is the exit code. Allocates no device memory.
 */
work_target *work_target_open(const char *spec, iso_math math, work_inputs *inputs, int *code);
void work_target_close(work_target *target);
/* Limits the target to one of `parts` equal parts of the memory. */
void work_target_share(work_target *target, int32_t parts);
const iso_device_info *work_target_info(const work_target *target);
iso_device work_target_device(const work_target *target);
iso_stream work_target_stream(const work_target *target);

/* A stream runs nothing more after a late error. Gives the target a new one, and drops the inputs,
 * whose bytes are unknown then. False: the device gives no new stream. */
bool work_target_revive(work_target *target);

/* Whether two devices are one chip by their uuids, however each backend writes it. */
bool work_same_chip(const char *uuid, const char *other);
/* Bytes of the last-level cache; a guess where the device does not report it. */
int64_t work_cache_bytes(const iso_device_info *info);
/* A chip that has several backends has the largest last-level cache that one of them reports. */
void work_targets_share_caches(work_target *const *targets, int32_t count);

/* Makes room for the flush, which may cost cases their inputs. */
iso_status work_target_flush_room(work_target *target);
/* Submits a write of twice the last-level cache, so that nothing of a case is left in it. */
iso_status work_target_flush(work_target *target);

/* ---- job.c: a case on a target --------------------------------------------------------------- */

typedef struct work_job work_job;

/* Queries whether the device supports the case, by which library and kernel, and whether it fits
 * the memory; the result holds the answers. It is BENCH_UNSUPPORTED, with the bytes needed and
 * there, if it does not fit. `library` is which of the vendor's libraries. Allocates and compiles
 * nothing. NULL: no memory. */
work_job *work_job_create(work_target *target, const bench_case *item, int32_t library,
                          bench_result *result);
void work_job_destroy(work_job *job);

/* Moves missing inputs to the device, and prepares the operation: opens libraries, compiles.
 * `*nanoseconds` is the time of preparing alone. False: the result holds the reason;
 * BENCH_UNSUPPORTED if memory ran out. If all cases together exceed the memory, one may take the
 * room of another's inputs; the other's next submission moves them again. */
bool work_job_prepare(work_job *job, double *nanoseconds, bench_result *result);

/* Moves inputs that another case displaced back to the device, so that timed calls need not. */
iso_status work_job_ready(work_job *job);

/* Hands one call over to the target's stream. */
iso_status work_job_submit(work_job *job);

/* For `parts`: submit the copies of all operands from host memory, and of the result to it. */
iso_status work_job_copy_in(work_job *job);
iso_status work_job_copy_out(work_job *job);

/* The first overwrites the operands and both places of the result, so that a missing copy is seen.
 * The second, called when all copies are done, checks what came back to the host. */
iso_status work_job_spoil_parts(work_job *job);
bool work_job_check_parts(work_job *job, bench_result *result);

/* Overwrites where the result will be, so that an older result is not taken for this case's. */
bool work_job_spoil(work_job *job, bench_result *result);

/* Waits, reads what the last call left and judges it. False: BENCH_FAILED or BENCH_ERROR, with the
 * reason. References are worked out once for a problem and kept by the inputs while memory allows.
 */
bool work_job_check(work_job *job, bench_result *result);

#endif
