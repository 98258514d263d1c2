/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - what is measured: lists of cases, and a case on a device, ready to run and to be
 * checked. Nothing here measures time.
 *
 * The inputs are made from the seed once for the whole run and are the same on every device. Each
 * device holds one block of inputs for each type. Each case reads its operands at its own places in
 * that block. All cases write their results to one block of memory on each device.
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
    const char *suite; /* quick, full, stream, gemm, transfer, labs, or a file; NULL: quick */
    const char *op;    /* this, variant, dtype and size are lists of words; NULL: all */
    const char *variant;
    const char *dtype;
    const char *size; /* "1024,4Ki,2M": N, elements or bytes, depending on the operation */
    const char *axis; /* "0,1,all": only reductions, along these */
    /* A part of an id, or a pattern with * and ?. Without `suite`, all built-in suites are
     * searched, and a whole id also works if no suite has it. */
    const char *case_id;
    iso_math math;
    uint64_t seed;
    int64_t cache_bytes;     /* the greatest last-level cache of the devices */
    int64_t memory_bytes;    /* the least memory of the devices */
    const bench_case *given; /* cases that are made already, instead of a suite; or NULL */
    int32_t given_count;
    bool all_cpu; /* no device is a GPU: uses sizes for CPUs */
    /* Of the suite `labs`: rows such as "A2,C", whose cases are measured. NULL: all. */
    const char *rows;
    bool no_lines; /* leaves out the suite's cases */
    bool no_roofs; /* leaves out the cases that measure roofs */
} work_request;

typedef struct work_list {
    bench_case *items;
    int32_t count;
} work_list;

/* Whether a list of rows (NULL: all) has this one. */
bool work_row_listed(const char *rows, const char *row);

/* Whether the user chose operations, ids, variants, types, sizes or axes. */
bool work_request_chooses(const work_request *request);

/* Makes the list in a fixed order. Returns TOOL_OK, or an exit code after it has printed what is
 * wrong: an unknown suite, operation, variant, type or size, or a file that cannot be read or that
 * has an error. TOOL_NOTHING: no case matches. The request does not filter the cases that measure
 * roofs. Several cases may measure the same roof. */
int work_list_make(const work_request *request, work_list *out);
void work_list_free(work_list *list);

/* ---- line.c ---------------------------------------------------------------------------------- */

/* Parses "4Ki", "64x64x16384" or "beyond-cache". False: the word is not a size. */
bool work_size_parse(const char *word, bench_size *out);

/* ---- case.c ---------------------------------------------------------------------------------- */

/* The bytes of the smallest of its arrays. Ignores results of only a few elements. */
int64_t work_case_array(const bench_case *item);
/* Sets the id, the seed and the cost of a case. All its other members are already set. False: the
 * id is too long. */
bool work_case_finish(bench_case *item, uint64_t seed);
/* About how many seconds one call takes on this device; 0 for a GPU. */
double work_case_seconds(const bench_case *item, const iso_device_info *info);

/* ---- inputs.c: data that every device gets --------------------------------------------------- */

typedef struct work_inputs work_inputs;
/* Makes the inputs of a list. NULL: no memory; an error is printed. */
work_inputs *work_inputs_create(uint64_t seed, const work_list *list);
/* Like work_inputs_create, but makes no data. Targets then write no inputs to their memory, and
 * results cannot be checked. */
work_inputs *work_inputs_plan(uint64_t seed, const work_list *list);
void work_inputs_destroy(work_inputs *inputs);

/* ---- target.c: a device with its memory ------------------------------------------------------ */

typedef struct work_target work_target;

/* The bytes of a device's memory. If the device does not report them, a guess. */
int64_t work_memory(const iso_device_info *info);

/* Opens `spec`. Allocates no device memory. NULL: it failed and printed an error; `*code` is the
 * exit code. */
work_target *work_target_open(const char *spec, iso_math math, work_inputs *inputs, int *code);
void work_target_close(work_target *target);
/* Limits the target to 1 / `parts` of the memory. */
void work_target_share(work_target *target, int32_t parts);
const iso_device_info *work_target_info(const work_target *target);
iso_device work_target_device(const work_target *target);
iso_stream work_target_stream(const work_target *target);

/* After a late error a stream runs nothing more. Gives the target a new stream. Also drops the
 * inputs on the device, because the error may have changed them. False: the device cannot create a
 * stream. */
bool work_target_revive(work_target *target);

/* Whether two uuids name the same chip. Backends write them in different ways. */
bool work_same_chip(const char *uuid, const char *other);
/* The bytes of the last-level cache. If the device does not report them, a guess. */
int64_t work_cache_bytes(const iso_device_info *info);
/* Sets the last-level cache of each chip to the largest size that any of its backends reports. */
void work_targets_share_caches(work_target *const *targets, int32_t count);

/* Allocates memory for the flush. This may free the inputs of cases. */
iso_status work_target_flush_room(work_target *target);
/* Submits a write of twice the last-level cache, so that no data of a case stay in the cache. */
iso_status work_target_flush(work_target *target);

/* ---- job.c: a case on a target --------------------------------------------------------------- */

typedef struct work_job work_job;

/* Finds out whether the device supports the case, with which library and kernel, and whether the
 * case fits the memory. The result holds the answers. If the case does not fit, it is
 * BENCH_UNSUPPORTED, and the reason has the bytes that are needed and available. `library`
 * selects one of the vendor's libraries. Allocates no device memory and compiles nothing. NULL:
 * no memory. */
work_job *work_job_create(work_target *target, const bench_case *item, int32_t library,
                          bench_result *result);
void work_job_destroy(work_job *job);

/* Moves missing inputs to the device and prepares the operation: opens libraries and compiles.
 * `*nanoseconds` is the time of the preparation alone. If the cases do not all fit the memory
 * together, a case may take the memory of another case's inputs. The next submission of that other
 * case moves its inputs back. False: the result holds the reason; it is BENCH_UNSUPPORTED if memory
 * ran out. */
bool work_job_prepare(work_job *job, double *nanoseconds, bench_result *result);

/* If the inputs of all cases do not fit the device's memory together: a number over 0 that cases
 * with the same inputs share. Such cases should run one after the other. Otherwise 0. */
int32_t work_job_inputs(const work_job *job);

/* If another case displaced the inputs, moves them back to the device, so that this time is not
 * measured. */
iso_status work_job_ready(work_job *job);

/* Before a round: gives a case that is no operation of the library other inputs. */
iso_status work_job_renew(work_job *job);

/* Submits one call to the target's stream. */
iso_status work_job_submit(work_job *job);

/* For `parts`: submit the copies of all operands to the device, and of the result to the host. */
iso_status work_job_copy_in(work_job *job);
iso_status work_job_copy_out(work_job *job);

/* work_job_spoil_parts overwrites the operands, and the result on the device and on the host, so
 * that a missing copy is noticed. work_job_check_parts checks the result on the host after all
 * copies. */
iso_status work_job_spoil_parts(work_job *job);
bool work_job_check_parts(work_job *job, bench_result *result);

/* Overwrites the memory of the result, so that an old result cannot be mistaken for a new one. */
bool work_job_spoil(work_job *job, bench_result *result);

/* Waits for the last call, reads its result and checks it. False: BENCH_FAILED or BENCH_ERROR, with
 * the reason. The expected values of a problem are computed once; the inputs keep them while memory
 * allows. */
bool work_job_check(work_job *job, bench_result *result);

#endif
