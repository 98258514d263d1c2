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

/* Opens `spec`. NULL after saying why; `*code` is the exit code. Allocates nothing yet. */
/* Bytes of a device's memory, or what is taken for it where the device does not tell. */
int64_t work_memory(const iso_device_info *info);

work_target *work_target_open(const char *spec, iso_math math, work_inputs *inputs, int *code);
void work_target_close(work_target *target);
/* Takes no more than one of so many parts of the memory. */
void work_target_share(work_target *target, int32_t parts);
const iso_device_info *work_target_info(const work_target *target);
iso_device work_target_device(const work_target *target);
iso_stream work_target_stream(const work_target *target);

/* A stream after a late error runs nothing more: gives the target a new one, and gives up the
 * inputs, whose bytes nobody knows then. False: the device does not give one any more. */
bool work_target_revive(work_target *target);

/* Whether two devices are one chip by their uuids, however each backend writes it. */
bool work_same_chip(const char *uuid, const char *other);
/* What caches keep things from the memory, as far as anybody knows. */
int64_t work_cache_bytes(const iso_device_info *info);
/* A chip's last-level cache is the largest that any of its names tells of. */
void work_targets_share_caches(work_target *const *targets, int32_t count);

/* Makes room for the flush, which may cost cases their inputs. */
iso_status work_target_flush_room(work_target *target);
/* Submits a write of twice the last-level cache, so that nothing of a case is left in it. */
iso_status work_target_flush(work_target *target);

/* ---- job.c: a case on a target --------------------------------------------------------------- */

typedef struct work_job work_job;

/* Asks whether the device does it, says by which library and kernel, and whether it fits the memory
 * (BENCH_UNSUPPORTED, with what it needs and what there is, where it does not). `library` is which
 * of the vendor's libraries. Allocates and compiles nothing. NULL: no memory. The result holds what
 * was found. */
work_job *work_job_create(work_target *target, const bench_case *item, int32_t library,
                          bench_result *result);
void work_job_destroy(work_job *job);

/* Moves inputs to the device that are not there yet, and prepares: opens, compiles. Nanoseconds of
 * the preparing alone. False: the result holds why; BENCH_UNSUPPORTED where memory ran out. Where
 * cases together are larger than the memory, one may take the room of another's inputs: the other's
 * next submission moves them again. */
bool work_job_prepare(work_job *job, double *nanoseconds, bench_result *result);

/* Moves what another case's room has cost this one back to the device, so that the calls that are
 * timed need not. */
iso_status work_job_ready(work_job *job);

/* Hands one call over to the target's stream. */
iso_status work_job_submit(work_job *job);

/* For `parts`: hands over the moving of all operands from host memory, and of the result to it. */
iso_status work_job_copy_in(work_job *job);
iso_status work_job_copy_out(work_job *job);

/* Overwrites the operands and both places of the result, so that what is not moved is seen; and,
 * when all has been moved and waited for, judges what came back to the host. */
iso_status work_job_spoil_parts(work_job *job);
bool work_job_check_parts(work_job *job, bench_result *result);

/* Overwrites where the result will be, so that a result of somebody else is not taken for ours. */
bool work_job_spoil(work_job *job, bench_result *result);

/* Waits, reads what the last call left and judges it. False: BENCH_FAILED or BENCH_ERROR, with the
 * reason. References are worked out once for a problem and kept by the inputs while memory allows.
 */
bool work_job_check(work_job *job, bench_result *result);

#endif
