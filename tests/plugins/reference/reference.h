/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - declarations shared by the files of the reference plug-in.
 *
 * The reference plug-in computes everything slowly, simply and correctly, in the calling thread.
 * Other backends' bits are compared with it, and it is the example of how to write a backend: of
 * isomer it uses only <isomer/backend.h>.
 *
 *   backend.c     the descriptor and the one exported function      <- start reading here
 *   device.c      probing, describing and opening the device
 *   memory.c      device memory and transfers
 *   stream.c      streams and events
 *   operation.c   the supported operations; supports, workspace, execute, describe
 *   gemm.c, gemv.c, spmv.c, transpose.c, reduce.c, map.c   one operation each, exactly as in
 *                 docs/bits.md
 *   steps.c       what the core composes other products, and solves, from
 *   fixed.c       the sum of a fixed product
 *   half.c        f16 and bf16
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <isomer/backend.h>

#include <stdbool.h>

#include "tests/plugins/reference/mutants.h"

/* The functions that the core offers: allocation, error texts. Set once, by isomer_backend_query.
 */
extern const iso_host *ref_host;

/* ---- device.c -------------------------------------------------------------------------------- */

iso_status ref_probe(iso_probe *out);
iso_status ref_device_info(int32_t index, iso_device_info *out);
iso_status ref_device_open(int32_t index, void **device);
void ref_device_close(void *device);
iso_status ref_device_property(void *device, int32_t index, iso_property *out);

/* ---- memory.c -------------------------------------------------------------------------------- */

iso_status ref_memory_alloc(void *device, int64_t bytes, void **memory);
void ref_memory_free(void *device, void *memory);
iso_status ref_transfer(void *stream, const iso_transfer *transfer);
iso_status ref_copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                         int64_t bytes);

/* The address of a place in device memory. */
unsigned char *ref_at(iso_ref place);

/* ---- stream.c -------------------------------------------------------------------------------- */

iso_status ref_stream_create(void *device, uint32_t flags, void **stream);
void ref_stream_destroy(void *stream);
iso_status ref_stream_sync(void *stream);
iso_status ref_stream_query(void *stream);
iso_status ref_event_create(void *device, void **event);
void ref_event_destroy(void *event);
iso_status ref_event_record(void *event, void *stream);
iso_status ref_stream_wait(void *stream, void *event);
iso_status ref_event_sync(void *event);
iso_status ref_event_query(void *event);
iso_status ref_event_elapsed(void *start, void *stop, int64_t *nanoseconds);

/* ---- operation.c ----------------------------------------------------------------------------- */

iso_status ref_supports(void *device, const iso_op *op);
iso_status ref_workspace(void *device, const iso_op *op, int64_t *bytes);
iso_status ref_execute(void *stream, const iso_op *op);
iso_status ref_describe(void *device, const iso_op *op, iso_op_info *out);

/* ---- gemm.c, gemv.c, spmv.c, transpose.c, reduce.c, map.c, steps.c --------------------------- */

/* ISO_OK, or UNSUPPORTED with the reason. */
iso_status ref_gemm_supports(const iso_gemm_op *gemm);
iso_status ref_transpose_supports(const iso_transpose_op *transpose);
iso_status ref_reduce_supports(const iso_reduce_op_args *reduce);
iso_status ref_map_supports(const iso_map_op_args *map);
iso_status ref_gemv_supports(const iso_gemv_op *gemv);
iso_status ref_spmv_supports(const iso_spmv_op *spmv);
iso_status ref_finish_supports(const iso_finish_op *finish);
iso_status ref_solve_supports(const iso_solve_op *solve);

void ref_gemm(const iso_gemm_op *gemm);
/* The ways of the variant tiled, which a table of measured choices may name. */
enum { REF_WAY_ROWS = 1, REF_WAY_COLUMNS = 2 };
iso_status ref_way_name(void *device, const iso_op *op, int32_t index, char *name,
                        int64_t capacity);
void ref_transpose(const iso_transpose_op *transpose);
void ref_reduce(const iso_reduce_op_args *reduce, void *workspace);
void ref_map(const iso_map_op_args *map);
void ref_gemv(const iso_gemv_op *gemv);
void ref_spmv(const iso_spmv_op *spmv);
void ref_finish(const iso_finish_op *finish);
void ref_solve(const iso_solve_op *solve);

/* Bytes of scratch memory that ref_reduce needs; the others need none. */
int64_t ref_reduce_workspace(const iso_reduce_op_args *reduce);

/* ---- fixed.c --------------------------------------------------------------------------------- */

/* A row of op(A) or a column of op(B). */
typedef struct ref_vector {
    const void *from;
    int64_t step;
    int exponent; /* from ref_fixed_exponent */
} ref_vector;

bool ref_fixed_supports(iso_dtype dtype, int64_t k);
int ref_fixed_exponent(iso_dtype dtype, const void *from, int64_t step, int64_t k);
/* t of clause 7 of docs/bits.md. It still has to be converted to f32, unless the type is f64. */
double ref_fixed(iso_dtype dtype, const ref_vector *a, const ref_vector *b, int64_t k);

/* ---- half.c ---------------------------------------------------------------------------------- */

/* Widening is exact. Narrowing rounds once, to nearest even. */
double ref_from_f16(uint16_t bits);
double ref_from_bf16(uint16_t bits);
uint16_t ref_to_f16(double value);
uint16_t ref_to_bf16(double value);

/* Reads the index-th element of an array of a floating-point type; stores one, rounding once. */
double ref_load(iso_dtype dtype, const void *array, int64_t index);
void ref_store(iso_dtype dtype, void *array, int64_t index, double value);

#endif
