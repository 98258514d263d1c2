/* SPDX-License-Identifier: Apache-2.0 */
/* compose.h - operations that the core makes of a backend's operations: their steps, one after
 * another on the same stream, with arrays of their own in the stream's scratch memory. */
#ifndef ISOMER_CORE_COMPOSE_H
#define ISOMER_CORE_COMPOSE_H

#include "core/op.h"

/* Takes the steps of an operation. What `take` does with a step says what they are for: a question,
 * a run, a recording. The first failure stays, and later steps are then dropped. */
typedef struct core_steps {
    const char *call;
    core_device *device;
    core_stream *stream;
    void *backend_stream;
    iso_ref scratch;    /* no memory: nothing runs */
    int64_t used, most; /* bytes of the arrays that were made, and the most at one time */
    int64_t inner;      /* the most scratch memory that a step needs for itself */
    iso_op_info *info;
    bool asks; /* whether the device has it: then the factors do not count */
    iso_status status;
    iso_status (*take)(struct core_steps *steps, iso_op *op);
} core_steps;

/* Adds a step; `args` is the kind's struct. */
void core_steps_add(core_steps *steps, int kind, const void *args, size_t bytes);

/* An array in scratch memory, up to the next core_steps_free with what `used` was before. */
iso_ref core_steps_room(core_steps *steps, int64_t count, int64_t element);
void core_steps_free(core_steps *steps, int64_t used);

/* Whether an operation is composed, as its variant is now. */
bool core_is_composed(const core_op *op);

/* What op.c and resolve.c do with a backend's entry, for a composed operation. Measure sets
 * own_bytes, and *bytes to all that the operation needs. */
iso_status core_compose_supports(const char *call, core_op *op, core_device *device);
iso_status core_compose_measure(const char *call, core_op *op, core_device *device, int64_t *bytes);
iso_status core_compose_describe(const char *call, core_op *op, core_device *device,
                                 iso_op_info *info);
/* Prepares the steps for a stream of the backend's. */
iso_status core_compose_prepare(const char *call, core_op *op, core_stream *stream,
                                void *backend_stream);
/* The operation's scratch memory is set. */
iso_status core_compose_run(const char *call, core_op *op, core_stream *stream);
iso_status core_compose_record(const char *call, core_op *op, core_stream *stream);

/* ---- parts of several operations ------------------------------------------------------------- */

/* The place `elements` after a reference. */
iso_ref core_ref_at(iso_ref ref, int64_t elements, int64_t element_bytes);

/* A stored matrix whose elements are read: real, or split into real and imaginary parts. */
typedef struct core_side {
    iso_dtype dtype;
    iso_ref part[2]; /* [1]: imaginary parts; no memory if it is real */
    bool complex, conj;
    iso_trans trans; /* not CONJ */
    int64_t ld, stride;
} core_side;

/* A side that reads `rows` x `cols` elements of `dtype`, converted to `to` or, if complex, split
 * into planes of it, in scratch memory. If it has this type already, it is read where it is. */
core_side core_side_of(core_steps *steps, iso_dtype dtype, iso_dtype to, iso_ref at, int64_t rows,
                       int64_t cols, int64_t ld, int64_t batch, int64_t stride, iso_trans trans);
/* The part of a side that begins at element (row, col) of op(side). */
core_side core_side_from(core_side side, int64_t row, int64_t col);

/* A product's sums without factors, in scratch memory. */
typedef struct core_sums {
    iso_dtype dtype;
    int32_t planes, sign_ii, sign_ri, sign_ir;
    iso_ref at;
    int64_t plane, ld, stride;
} core_sums;
/* op(a) op(b), m x k x n. */
core_sums core_sums_of(core_steps *steps, const core_op *op, core_side a, core_side b, int64_t m,
                       int64_t n, int64_t k, int64_t batch);
/* The step that makes results of sums; the caller sets factors and C. */
iso_finish_op core_finish_of(core_sums sums, int64_t m, int64_t n, int64_t batch);
/* The same, of the part of C and of the sums that begins at (row, col). */
void core_finish_from(iso_finish_op *finish, int64_t row, int64_t col);
/* Sets the operation's factors on the device. */
void core_finish_factors(iso_finish_op *finish, const core_factors *factors);
void core_steps_finish(core_steps *steps, const iso_finish_op *finish);

/* ---- the operations (one file each; products and reductions in gemm.c) ----------------------- */

bool core_gemm_composed(const core_op *op);
void core_gemm_compose(const core_op *op, core_steps *steps);
bool core_gemv_composed(const core_op *op);
void core_gemv_compose(const core_op *op, core_steps *steps);
bool core_reduce_composed(const core_op *op);
void core_reduce_compose(const core_op *op, core_steps *steps);
bool core_syrk_composed(const core_op *op);
void core_syrk_compose(const core_op *op, core_steps *steps);
bool core_trsm_composed(const core_op *op);
void core_trsm_compose(const core_op *op, core_steps *steps);

#endif
