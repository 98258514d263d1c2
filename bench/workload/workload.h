/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - what is measured: cases, lists of them, and a case on a device, ready to be run and
 * judged. It takes no times.
 *
 * A case says what is computed on which data; backend, device and library are no part of it. Inputs
 * are made once by the seed for the whole run and are the same on every device: each device holds
 * one block of inputs for each type, and each case reads its operands at places of its own in it.
 * One block of memory on each device takes every case's results.
 */
#ifndef ISOMER_WORKLOAD_H
#define ISOMER_WORKLOAD_H

#include "bench/arith/arith.h"
#include "bench/ops/ops.h"
#include "bench/tool.h"

enum { WORK_ID_MAX = 160, WORK_TEXT_MAX = 2048, WORK_LIBRARIES = 4 };

typedef enum work_move { WORK_WRITE, WORK_READ, WORK_COPY } work_move;

/* Whose measured figure a case gives, beside being a case like any other. */
typedef enum work_roof { WORK_NO_ROOF, WORK_ROOF_READ, WORK_ROOF_COPY, WORK_ROOF_FMA } work_roof;

typedef struct work_case {
    char id[WORK_ID_MAX]; /* "gemm/tiled/f32/1024x1024x1024/nn/strict/uniform/hot" */
    const bench_op *op;
    char kind[16];    /* "write", "triad", "sum"; "" */
    char variant[16]; /* "tiled"; of transfers "pageable", "pinned", "device" */
    iso_variant how;  /* not of transfers */
    iso_dtype dtype;  /* 0 where bytes or elements are only moved */
    int64_t element;  /* bytes of an element; 1 for transfers */
    iso_math math;    /* STRICT or TF32 */
    int32_t library;  /* which of the vendor's; products */
    bool cold;        /* caches are overwritten before each sample */
    bool parts;       /* also with its operands moved in and its result out */
    work_roof roof;
    work_move move;          /* transfers */
    iso_map_op map;          /* maps; 0: dot */
    iso_reduce_op reduction; /* reductions */
    iso_axis axis;
    iso_trans trans_a, trans_b;              /* products */
    int64_t m, n, k, batch;                  /* products */
    int64_t rows, cols;                      /* transposes; reductions: rows 1 for whole arrays */
    int64_t bytes;                           /* transfers */
    int64_t elements, steps;                 /* maps */
    int64_t size;                            /* the number for a plot's axis */
    double flops, bytes_read, bytes_written; /* of one call */
    bool vast;                               /* its bytes are more than any device holds */
    uint64_t seed;                           /* of its places in the inputs */
    double longest; /* seconds: what would take a processor longer for one call is not tried */
} work_case;

/* The members of a result that say what the case is: id, op, kind, variant, dtype, shape, size,
 * layout, math, fill, cache, work. */
json_t *work_case_json(const work_case *item);

/* ---- lists: list.c, file.c ------------------------------------------------------------------- */

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
    work_case *items;
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
int64_t work_case_array(const work_case *item);

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

typedef struct work_result {
    bench_status status;
    char reason[WORK_TEXT_MAX];
    char library[ISO_NAME_MAX], kernel[ISO_NAME_MAX]; /* by iso_describe */
    iso_math math; /* that it runs in, and why not in the one that was asked for */
    char math_reason[ISO_NOTE_MAX];
    const char *method;  /* of the check: "bits", "bound", "projection", "exact", or two of them */
    double error, bound; /* of the element or row that was nearest to its bound */
    int32_t checks;
    bool has_digest;
    uint64_t digest[2];
} work_result;

typedef struct work_job work_job;

/* Asks whether the device does it, says by which library and kernel, and whether it fits the memory
 * (BENCH_UNSUPPORTED, with what it needs and what there is, where it does not). `library` is which
 * of the vendor's libraries. Allocates and compiles nothing. NULL: no memory. The result holds what
 * was found. */
work_job *work_job_create(work_target *target, const work_case *item, int32_t library,
                          work_result *result);
void work_job_destroy(work_job *job);

/* Moves inputs to the device that are not there yet, and prepares: opens, compiles. Nanoseconds of
 * the preparing alone. False: the result holds why; BENCH_UNSUPPORTED where memory ran out. Where
 * cases together are larger than the memory, one may take the room of another's inputs: the other's
 * next submission moves them again. */
bool work_job_prepare(work_job *job, double *nanoseconds, work_result *result);

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
bool work_job_check_parts(work_job *job, work_result *result);

/* Overwrites where the result will be, so that a result of somebody else is not taken for ours. */
bool work_job_spoil(work_job *job, work_result *result);

/* Waits, reads what the last call left and judges it. False: BENCH_FAILED or BENCH_ERROR, with the
 * reason. References are worked out once for a problem and kept by the inputs while memory allows.
 */
bool work_job_check(work_job *job, work_result *result);

/* ---- for the rows of operations -------------------------------------------------------------- */

typedef struct work_size {
    int64_t of[3];
    int32_t count;     /* "1024": 1, "64x32": 2, "64x32x16": 3 */
    bool beyond_cache; /* "beyond-cache": arrays that no cache holds */
} work_size;

/* The side of a square of about so many elements. */
int64_t work_square(int64_t elements);

/* What a case is the size of: `count` numbers that make it, and `more` that a document has too. */
typedef struct work_shape {
    const char *names[4];
    int64_t sizes[4];
    int32_t count, more;
    double elements; /* of its arrays together, about */
    char form[48];   /* in the id after the sizes: "/nn" */
    struct {
        const char *name, *value;
    } layout[2];
} work_shape;

/* Where a case's operands are in the inputs of their type, and what it writes. */
typedef struct work_needs {
    iso_dtype type; /* of the block of inputs */
    int32_t inputs; /* 0, 1, 2 */
    int64_t at[2], bytes[2];
    int64_t end; /* of the block: bytes that have to be there */
    int64_t result;
    iso_dtype result_type; /* 0: elements that are only moved */
    int64_t results;       /* elements */
    bool apart;            /* each operand begins a buffer of its own */
} work_needs;
typedef union work_args {
    iso_gemm_args gemm;
    iso_transpose_args transpose;
    iso_reduce_args reduce;
    iso_map_args map;
} work_args;
/* Words of lines; each list ends with NULL. */
extern const char *const work_plain_variants[];   /* naive, tiled, vendor */
extern const char *const work_partial_variants[]; /* and partials */
extern const char *const work_float_types[], *const work_all_types[];

/* Judge host memory that holds a case's results. */
bench_check work_check_transfer, work_check_transpose, work_check_map, work_check_reduce,
    work_check_gemm;

#endif
