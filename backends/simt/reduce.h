/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - tiles and plans of reductions, shared by the files that implement them. */
#ifndef ISOMER_SIMT_REDUCE_H
#define ISOMER_SIMT_REDUCE_H

#include "backends/simt/simt.h"

enum {
    SIMT_REDUCE_BLOCK = 4096, /* elements that are reduced to one element of the next level */
    SIMT_REDUCE_LANES = 128   /* of a block; reduce_last takes no more results of a sequence */
};

/* Tile sizes for a class of devices. Threads and columns are powers of two. */
typedef struct simt_reduce_tile {
    int32_t threads;       /* of a group: at least 32 */
    int32_t block_threads; /* the same, of kernels that read one long array by blocks */
    int32_t columns;       /* columns that a group reduces together along axis 0 */
    int32_t columns_wide;  /* the same, if a lane is more than one number */
    int32_t batch;         /* rows of 128 elements that a team reads ahead */
    int32_t stream;        /* vectors that reduce_stream reads ahead; 0: not used */
    int32_t read;          /* xor: vectors that a work-item of reduce_read has in flight */
    int32_t vectors;       /* work-items of a group of reduce_vectors; 0: not used */
    int32_t looped;        /* a group runs as a loop over its work-items */
    int32_t groups;        /* groups per unit for partial results */
    int64_t groups_max;    /* of a launch; groups loop over the rest */
} simt_reduce_tile;

simt_reduce_tile simt_reduce_tile_of(const simt_limits *limits, iso_reduce_op op, iso_dtype dtype);

typedef struct simt_reduce_plan {
    int64_t n, sequences;
    int64_t next_x, step_x, next_y, step_y; /* in elements */
    int64_t lane_bytes;                     /* size of a block's intermediate result */
    bool columns;                           /* tiled: by reduce_columns */
    int64_t vectors;                        /* tiled: groups of reduce_vectors for each block, if
                                               aligned to 16 bytes; 0: not by it */
    bool stream;                            /* tiled: by reduce_stream, if aligned to 16 bytes */
    bool read;                              /* tiled: by reduce_read, if aligned to 16 bytes */
    int32_t past;                           /* tiled: reduce_blocks reads past the first cache */
    bool atomic;                            /* naive: into one word by compare and swap */
    int64_t parts;                          /* partial results of a sequence */
    int64_t work_bytes;
    simt_reduce_tile tile;
} simt_reduce_plan;

void simt_reduce_plan_make(simt_reduce_plan *plan, const simt_limits *limits,
                           const iso_reduce_op_args *op);

/* Whether the operation computes in f64, and whether its lanes are one 64-bit word. */
bool simt_reduce_uses_f64(iso_reduce_op op, iso_dtype dtype);
bool simt_reduce_is_long(iso_reduce_op op, iso_dtype dtype);
/* Whether a lane is more than one number. */
bool simt_reduce_is_wide(iso_reduce_op op, iso_dtype dtype);

/* Work-items for a sequence of at most one block: 32, or fewer if each then has at most four
 * elements. */
int32_t simt_reduce_width(int64_t n);

#endif
