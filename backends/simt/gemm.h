/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - the tiles of the product, and how one is chosen. */
#ifndef ISOMER_SIMT_GEMM_H
#define ISOMER_SIMT_GEMM_H

#include "backends/simt/simt.h"

enum { SIMT_GEMM_SEGMENT = 1024 }; /* docs/bits.md */

/* The shape of a group. `full` is the percentage of its peak that a unit reaches with as many
 * groups as fit, `alone` the percentage with one group. Both are estimates from measurements. */
typedef struct simt_tile {
    int32_t bm, bn, bk; /* of a group: rows and columns of C; bk: elements along k of a slice in
                           shared memory */
    int32_t tm, tn;     /* of a work-item: rows and columns of C */
    int32_t groups;     /* groups that should fit one unit at once */
    int32_t full, alone;
    int32_t stages;     /* slices in shared memory; 0: 2 of them, copied through registers */
    int32_t copiers;    /* further work-items, which only copy slices */
    bool unit;          /* on a matrix unit */
    bool core;          /* a group is one work-item, alone on a processor's core */
    bool rolled;        /* the loop over bk is not unrolled */
    bool apart_layouts; /* each layout of A and B has its own program; else arguments choose it */
} simt_tile;

typedef struct simt_tiles {
    const simt_tile *rows;
    int32_t count;
} simt_tiles;

/* The tiles for a class of devices and a type. simt_tile_fits says which of them fit a device; the
 * one of SIMT_CLASS_SMALL fits every device. */
simt_tiles simt_gemm_tiles(simt_class device_class, iso_dtype dtype);
/* The matrix unit for products of a type, and its tiles. SIMT_UNITS: the device has none, and there
 * are no tiles. */
simt_unit simt_gemm_unit(const simt_limits *limits, iso_dtype dtype);
simt_tiles simt_gemm_unit_tiles(simt_unit unit);
bool simt_tile_is_ring(const simt_tile *tile);
int32_t simt_tile_threads(const simt_tile *tile);
/* Whether the totals of a tile on the matrix unit stay in shared memory. */
bool simt_tile_keeps(const simt_tile *tile, const simt_limits *limits);
/* Whether the launch adds the shared memory for its slices too, because it is too much to declare.
 */
bool simt_tile_added(const simt_tile *tile, const simt_limits *limits);
bool simt_tile_fits(const simt_tile *tile, const simt_limits *limits, iso_dtype dtype);

/* Work-items of a group of the naive kernel. */
int32_t simt_gemm_naive_threads(const simt_limits *limits);

/* Whether a tiled product is so small that the naive kernel is faster, and computes it. */
bool simt_gemm_is_tiny(const simt_limits *limits, const iso_gemm_op *op);

/* Bytes of the accumulation type. */
int64_t simt_gemm_acc_bytes(iso_dtype dtype);

/* How the segments of K run: one after the other, side by side, or side by side only for the tiles
 * of the last round. */
typedef enum simt_segments {
    SIMT_WHOLE = 0,
    SIMT_ALL_APART = 1,
    SIMT_LAST_APART = 2,
    SIMT_SEGMENTS = 3
} simt_segments;

typedef struct simt_way {
    const simt_tile *tile;
    simt_segments segments;
} simt_way;

/* ways.c: the way that iso_gemm_op.way names as index + 1. False: the device has none. */
bool simt_gemm_way(const simt_limits *limits, iso_dtype dtype, int32_t index, simt_way *out);

/* A tiled product as it will run. It depends only on the device's limits and the operation's sizes,
 * layout and way, never on the addresses of operands. */
typedef struct simt_gemm_plan {
    simt_tile tile;
    bool along_k_a, along_k_b; /* k is the contiguous index of A, of B */
    bool apart;                /* segments run in parallel and are joined afterwards */
    int32_t last_apart;        /* not apart: the segments of so many of the last tiles do, once all
                                  other tiles are done */
    int64_t groups;
    int64_t join_groups;
    int64_t round_k;  /* apart: the length along k that one round covers */
    int64_t total_at; /* apart: first element of work that keeps totals between rounds */
    int64_t work_bytes;
    int32_t shared_bytes; /* shared memory that the launch adds */
} simt_gemm_plan;

/* `unit`: tiles on the matrix unit may be chosen too. */
void simt_gemm_plan_make(simt_gemm_plan *plan, const simt_limits *limits, const iso_gemm_op *op,
                         bool unit);

/* ---- fixed_plan.c, gemm_fixed.c: the variant fixed ------------------------------------------- */

/* Whether it is expected to be faster than every other variant. */
bool simt_fixed_is_faster(simt_device *device, const iso_gemm_op *g);
iso_status simt_fixed_supports(const simt_device *device, const iso_gemm_op *g);
int64_t simt_fixed_workspace(simt_device *device, const iso_gemm_op *g);
void simt_fixed_describe(simt_device *device, const iso_gemm_op *g, iso_op_info *out);
iso_status simt_fixed_prepare(simt_stream *stream, const iso_op *op);
iso_status simt_fixed_execute(simt_stream *stream, const iso_op *op);
void simt_fixed_each(const simt_limits *limits, iso_dtype dtype, simt_visit *visit, void *context);

#endif
