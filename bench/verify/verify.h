/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the conformance list over the public API, and what runs one of its cases on a device.
 *
 * Cases of the same problem (the same data under several variants) stand next to each other in the
 * list, so that their data are made once for all variants and all devices.
 */
#ifndef ISOMER_VERIFY_H
#define ISOMER_VERIFY_H

#include "bench/check/check.h"

/* ---- list.c ---------------------------------------------------------------------------------- */

typedef struct verify_list {
    bench_case *cases;
    int32_t count, capacity;
    int32_t problems;
    uint64_t seed;
    bool failed; /* memory ran out */
} verify_list;

/* Makes the list; full adds to what quick has. NULL: no memory. */
verify_list *verify_list_create(bool full, uint64_t seed);
void verify_list_destroy(verify_list *list);

/* Adds a case for each of the variants; without them one that has its variant. The id is
 * "OP/VARIANT/after"; the seed is made from it without the variant. */
void verify_list_add(verify_list *list, const bench_case *model, const iso_variant *variants,
                     int variant_count, const char *after);

/* A case of an operation on elements of `dtype`; and of one of its kinds. */
bench_case verify_case(const bench_op *op, iso_dtype dtype, const char *kind);

extern const bench_op verify_order, verify_limits; /* script.c */

/* ---- region.c: matrices in memory with watched bytes all around ------------------------------ */

/* Host memory that grows. */
typedef struct verify_block {
    void *data;
    int64_t bytes;
} verify_block;

void *verify_grow(verify_block *block, int64_t bytes); /* NULL: no memory */

enum { VERIFY_GUARD = 256 }; /* bytes */

/* `batch` matrices of rows x cols elements inside an image: a guard, the matrices with their
 * padding, a guard. */
typedef struct verify_region {
    int64_t element, rows, cols;
    int64_t ld; /* 0: no padding */
    int64_t batch, stride;
    int64_t offset; /* elements before the first one */
    int64_t least;  /* elements between the guards; 0: up to the last one */
    bool ones;      /* all around is filled with bytes of ones: NaN, so that a read of it shows.
                     * Else it is random. */
    int64_t start;  /* byte offset of the first element */
    int64_t bytes;  /* of the image */
    verify_block image;
    const struct verify_region *within; /* it is part of this one's image and has none of its own */
} verify_region;

/* Takes over a shape, of which the members up to `ones` are set, and makes room for its image.
 * False: no memory. */
bool verify_region_lay(verify_region *region, const verify_region *shape);
/* Takes over a shape inside the image of another region. */
void verify_region_within(verify_region *region, const verify_region *shape,
                          const verify_region *other);
/* The region whose image has this one's elements. */
const verify_region *verify_region_owner(const verify_region *region);
/* Spreads `batch` dense matrices over the region's elements. */
void verify_region_scatter(const verify_region *region, const void *dense);
/* Gathers the elements from an image that has this region's layout. */
void verify_region_gather(const verify_region *region, const unsigned char *image, void *dense);
/* The first byte outside the elements in which the image differs from the region's; -1: none. */
int64_t verify_region_changed(const verify_region *region, const unsigned char *image);

/* ---- runner.c -------------------------------------------------------------------------------- */

/* The data of a problem: the operands x and y and the result. */
typedef struct verify_problem {
    int32_t number; /* -1: nothing valid */
    bool finite;    /* made for `vendor`, which may read moved elements as numbers */
    verify_region regions[3];
    const verify_region *lies[3]; /* where each of them is; two that share memory are one */
    verify_block dense[3];        /* the elements of x and y, and of the result before the call */
} verify_problem;

typedef struct verify_state {
    verify_problem problem;
    verify_block dense; /* the result, gathered */
    check_cache *cache;
} verify_state;

verify_state *verify_state_create(void); /* NULL: no memory */
void verify_state_destroy(verify_state *state);

enum { VERIFY_SLOTS = 3 };

/* A device with what the cases need there. */
typedef struct verify_runner {
    iso_device device;
    iso_stream stream;
    uint32_t flags;
    iso_device_info info;
    struct {
        iso_buffer buffer;
        int64_t bytes;
    } slots[VERIFY_SLOTS];
    verify_block back; /* what was read */
} verify_runner;

/* Opens `spec`, or what the environment names if it is NULL. NULL: it did not open; iso_last_error
 * reports why. */
verify_runner *verify_runner_open(const char *spec, uint32_t stream_flags);
void verify_runner_close(verify_runner *runner);
/* The slot's buffer with room for `bytes`. */
iso_status verify_slot_room(verify_runner *runner, int slot, int64_t bytes, iso_buffer *out);

/* Runs one case; `library` is which of the vendor's libraries it uses. Whatever happens, the runner
 * can run the next one. Sets rounding to nearest and keeps subnormals for its own arithmetic,
 * whatever a loaded library has set. */
void verify_run_case(verify_state *state, verify_runner *runner, const bench_case *item,
                     int32_t library, bench_result *result);

#endif
