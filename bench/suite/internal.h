/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the suite share. */
#ifndef ISOMER_SUITE_INTERNAL_H
#define ISOMER_SUITE_INTERNAL_H

#include "bench/suite/suite.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- region.c: matrices in memory with watched bytes all around ------------------------------ */

enum { SUITE_GUARD = 256 };

/* `batch` matrices of rows x cols elements inside an image: a guard, the matrices with their
 * padding, a guard. */
typedef struct suite_region {
    int64_t element, rows, cols, ld, batch, stride;
    int64_t start; /* byte offset of the first element */
    int64_t bytes; /* of the image */
    unsigned char *image;
    int64_t capacity; /* of `image` */
} suite_region;

/* Lays it out and makes room; everything but the elements is filled: with bytes of ones where the
 * region is an input (floating-point NaN, so that a read of padding shows), else at random. False:
 * no memory. */
bool suite_region_init(suite_region *region, int64_t element, int64_t rows, int64_t cols,
                       int64_t pad, int64_t offset, int64_t batch, int64_t stride, bool input);
/* The same from a shape whose element, rows, cols, ld, batch and stride are set: `elements` is what
 * lies between the guards (0: up to the last element). */
bool suite_region_lay(suite_region *region, const suite_region *shape, int64_t offset,
                      int64_t elements, bool input);
/* `block` becomes a part of the matrix that `region` has the image of; it has no image. */
void suite_region_within(suite_region *block, const suite_region *shape, int64_t offset);
/* Spreads dense matrices over the elements that `block` has in the region's image. */
void suite_region_scatter_into(suite_region *region, const suite_region *block, const void *dense);
void suite_region_free(suite_region *region);
int64_t suite_region_at(const suite_region *region, int64_t b, int64_t i, int64_t j); /* byte */
/* Spreads `batch` dense matrices over the region's elements. */
void suite_region_scatter(suite_region *region, const void *dense);
/* Gathers the elements from an image that has this region's layout. */
void suite_region_gather(const suite_region *region, const unsigned char *image, void *dense);
/* The first byte outside the elements in which the image differs from the region's; -1: none. */
int64_t suite_region_changed(const suite_region *region, const unsigned char *image);

/* Host memory that grows. */
typedef struct suite_block {
    void *data;
    int64_t bytes;
} suite_block;

void *suite_grow(suite_block *block, int64_t bytes); /* NULL: no memory */

/* ---- runner.c -------------------------------------------------------------------------------- */

enum { SUITE_SLOTS = 4 };

typedef struct suite_slot {
    iso_buffer buffer;
    int64_t bytes;
} suite_slot;

struct suite_runner {
    iso_device device;
    iso_stream stream;
    uint32_t flags;
    int32_t library; /* of vendor products */
    iso_device_info info;
    suite_slot slots[SUITE_SLOTS];
    suite_block back; /* what was read */
};

/* The slot's buffer with room for `bytes`. */
iso_status suite_slot_room(suite_runner *runner, int slot, int64_t bytes, iso_buffer *out);

/* ---- results --------------------------------------------------------------------------------- */

/* Each gives false, so that a check can `return suite_fail(...)`. */
bool suite_fail(suite_result *result, const char *format, ...) ISO_PRINTF(2, 3);
/* A call that failed: an error with the library's text. */
bool suite_call_failed(suite_result *result, const char *call, iso_status status);

bool suite_no_memory(suite_result *result);

/* One operation: what goes in, what comes out. */
typedef struct suite_work {
    iso_op_kind kind;
    const void *args; /* operands in the slots 0.. for inputs, the slot after them for `out` */
    const suite_region *in[2];
    int inputs;
    const suite_region *out; /* its image is what was there before; an input too if in place */
} suite_work;

/* Asks, describes, uploads, executes, reads back and checks all that lies around. `*back` is the
 * output's image afterwards, NULL where the operation is UNSUPPORTED (the result says so). False:
 * the result holds a failure. */
bool suite_operate(suite_runner *runner, const suite_work *work, const unsigned char **back,
                   suite_result *result);

/* Digest of dense elements; NaN are made one if dtype is not 0 (in place). */
void suite_digest(suite_result *result, iso_dtype dtype, void *dense, int64_t count,
                  int64_t element);

/* Compares dense elements of `dtype` bit for bit, any NaN for any NaN. `cols` and `rows` of one
 * matrix name the place in the message. */
bool suite_same_bits(suite_result *result, iso_dtype dtype, const void *got, const void *want,
                     int64_t batch, int64_t rows, int64_t cols);

/* Compares dense elements with a reference within bounds, one for each element. A reference that is
 * not finite must be met exactly. */
bool suite_within(suite_result *result, iso_dtype dtype, const void *got, const long double *want,
                  const double *bound, int64_t batch, int64_t rows, int64_t cols);

/* ---- lists ----------------------------------------------------------------------------------- */

/* Adds a case for each of the variants: `format` is the id with one %s for the variant's name. The
 * seed is made from the id without it. */
void suite_list_add(suite_list *list, const suite_case *model, const iso_variant *variants,
                    int variant_count, const char *after);

extern const bench_op suite_order, suite_limits; /* script.c */

/* ---- problems -------------------------------------------------------------------------------- */

/* What is worked out for a problem and kept while its variants run. `out` is where the result goes,
 * or what lies around it; the blocks are named by the operation's file. */
typedef struct suite_data {
    int32_t problem; /* -1: nothing valid */
    suite_region in[2], out;
    suite_block blocks[12];
    int64_t results;
    iso_dtype type; /* of the results */
    bool finite;    /* made for `vendor`, which may read moved elements as numbers */
    int64_t rows[6];
} suite_data;

struct suite_state {
    uint64_t seed;
    suite_data data[BENCH_OPS]; /* by bench_op_rank */
    suite_block dense;          /* scratch */
};

suite_data *suite_data_of(suite_state *state, const suite_case *item);

/* Points an operand at a region in the buffer of a slot that holds `bytes`. */
bool suite_point(suite_runner *runner, int slot, const suite_region *region, int64_t bytes,
                 iso_operand *operand, suite_result *result);

#endif
