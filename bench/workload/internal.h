/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the workloads share. */
#ifndef ISOMER_WORKLOAD_INTERNAL_H
#define ISOMER_WORKLOAD_INTERNAL_H

#include "bench/workload/workload.h"

#include <stddef.h>

enum {
    WORK_TYPES = 7,       /* room for every iso_dtype */
    WORK_ALIGNMENT = 256, /* of operands: what a buffer has */
    WORK_SAMPLES = 16     /* elements of a product that are held to the model's bits */
};

/* ---- parallel.c ------------------------------------------------------------------------------ */

int32_t work_threads(void);

typedef void (*work_body)(void *context, int64_t begin, int64_t end);
/* Calls `body` on parts of [0, count) of at most `grain`, by threads that end with it. All that the
 * body computes is rounded to nearest, with subnormals kept. */
void work_parallel(int64_t count, int64_t grain, work_body body, void *context);

/* Lowers `first` to `at`, whichever thread sees it. */
void work_note_first(_Atomic int64_t *first, int64_t at);

/* Whether they are the same; else the first byte that differs. */
bool work_same(const void *got, const void *want, int64_t bytes, int64_t *first);

/* ---- case.c ---------------------------------------------------------------------------------- */

/* Works out the id, the seed and the cost of a case of which all else is set. False: it is larger
 * than any device; it has its id. */
bool work_case_finish(work_case *item, uint64_t seed);

void work_case_needs(const work_case *item, work_needs *out);

/* Whether its result is defined to the bit. */
bool work_case_has_bits(const work_case *item);

/* About how long one call takes on this device; 0 for a GPU. */
double work_case_seconds(const work_case *item, const iso_device_info *info);

/* ---- inputs.c -------------------------------------------------------------------------------- */

/* The block of a type, NULL where no case has one, and its bytes. */
const unsigned char *work_inputs_block(const work_inputs *inputs, iso_dtype type, int64_t *bytes);
/* One block of host memory for what is read back; NULL: no memory. */
void *work_inputs_scratch(work_inputs *inputs, int64_t bytes);

/* What was worked out for a problem; `make` fills it at the first time. NULL: no memory. Valid
 * until the next call. */
typedef struct work_reference {
    uint64_t key;
    uint64_t used;
    int64_t bytes;
    void *data;
} work_reference;
void *work_inputs_reference(work_inputs *inputs, uint64_t key, int64_t bytes, bool *fresh);
void work_inputs_forget(work_inputs *inputs, uint64_t key);

/* A result of a case that was judged and is right. The same bits once more, of a later call or
 * another device, need no second judging, which for a large product takes longer than the product.
 */
typedef struct work_judged {
    uint64_t key, digest[2]; /* of the case's id; of its bits */
    const char *method;
    double error, bound;
} work_judged;
/* NULL: no such bits were judged. */
const work_judged *work_inputs_judged(const work_inputs *inputs, uint64_t key,
                                      const uint64_t digest[2]);
void work_inputs_judge(work_inputs *inputs, const work_judged *judged);

/* ---- target.c -------------------------------------------------------------------------------- */

struct work_target {
    iso_device device;
    iso_stream stream;
    iso_device_info info;
    work_inputs *inputs;
    int64_t available; /* bytes that cases may use */
    bool limited;      /* by a memory limit */
    int32_t pinned;    /* whether its host memory is; -1: not asked yet */
    struct {
        iso_buffer buffer;
        int64_t bytes, wanted;
        uint64_t used;
    } input[WORK_TYPES];
    uint64_t clock;
    struct {
        iso_buffer buffer;
        int64_t bytes, wanted;
        iso_dtype type; /* of the inputs that it has the copy of; 0: it has none */
        int64_t at, length;
    } apart[2];
    iso_buffer result;
    int64_t result_bytes, result_wanted;
    iso_buffer flush;
    int64_t flush_bytes;
    void *pinned_from, *pinned_to; /* host memory that the device reaches fast */
    int64_t pinned_from_bytes, pinned_to_bytes, pinned_wanted;
    void *sink; /* ordinary host memory */
    int64_t sink_bytes, sink_wanted;
};

bool work_target_can_pin(work_target *target);
iso_status work_target_input(work_target *target, iso_dtype type, int64_t bytes, iso_buffer *out);
/* A copy of `bytes` of the inputs at `at` of their block, as number 0 or 1 of those that begin a
 * buffer of their own. */
iso_status work_target_apart(work_target *target, int which, iso_dtype type, int64_t at,
                             int64_t bytes, iso_buffer *out);
iso_status work_target_result(work_target *target, int64_t bytes, iso_buffer *out);
/* Host memory: holds the first bytes of the f32 inputs, or is to be written to. */
iso_status work_target_pinned(work_target *target, bool from, int64_t bytes, void **out);
iso_status work_target_sink(work_target *target, int64_t bytes, void **out);

/* ---- checks ---------------------------------------------------------------------------------- */

/* Each gives false, so that a check can `return work_fail(...)`. */
bool work_fail(work_result *result, const char *format, ...) ISO_PRINTF(2, 3);
bool work_no_memory(work_result *result);
bool work_call_failed(work_result *result, const char *call, iso_status status);

/* work_check_gemm with blocks of so many columns and rows. */
bool work_check_gemm_by(const work_case *item, work_inputs *inputs, const void *data,
                        int64_t columns, int64_t rows, work_result *result);

/* Keeps the error that is nearest to its bound. */
void work_note_error(work_result *result, double error, double bound);

/* What the model of docs/arithmetic.md gives for one sequence, with threads. False: no memory. */
bool work_model_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                       void *result);

/* ---- projection.c: one half of a product's projection ---------------------------------------- */

/* A matrix seen through strides in elements. */
typedef struct work_view {
    iso_dtype dtype;
    const unsigned char *data;
    int64_t rows, cols, row_step, col_step;
} work_view;

/* What C projects to when blocks of `width` columns are summed with random signs. */
typedef struct work_projection {
    int64_t rows, blocks, width;
    double *sums;   /* rows x blocks: x (y s) */
    double *norms;  /* of x's rows */
    double *spread; /* of y's blocks: the factor of an error's bound */
    double *usual;  /* of y's blocks: the factor of an ordinary sum */
} work_projection;

int64_t work_projection_bytes(int64_t rows, int64_t cols, int64_t width);
void work_projection_place(work_projection *out, void *memory, int64_t rows, int64_t cols,
                           int64_t width);
/* Fills it for x (rows x k) and y (k x cols). False: no memory. */
bool work_projection_make(work_projection *out, const work_view *x, const work_view *y,
                          uint64_t signs);
double work_sign(uint64_t signs, int64_t index);

#endif
