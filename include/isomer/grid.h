/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - products of matrices that are spread over the ranks of a communicator.
 *
 * The ranks form a grid of `rows` x `cols`: rank r is at row r / cols and column r % cols. A matrix
 * is cut into blocks, and block (i, j) is on the rank at grid row i % rows and grid column
 * j % cols. A rank keeps its blocks as one row-major matrix without gaps, its part: block row after
 * block row, in the matrix's order. iso_grid_part says how large it is. Blocks at the lower and
 * right edge may be smaller.
 *
 * The product walks along K in panels of block_k. The ranks that own a panel of A send it along
 * their row of the grid, those of B along their column, while the panel before is multiplied. K is
 * never split over ranks, so `tiled` and `fixed` products have the bits of one device, whatever the
 * grid and the blocks are.
 *
 * Parts may lie in host memory. Then the product is computed in blocks that fit the device's
 * memory, and parts are copied while the device computes.
 *
 * Every call below except the queries is made by every rank, with the same arguments apart from its
 * own parts. Ranks of one process make their calls from different threads, because a call may wait
 * for the other ranks. If a call fails on a rank after it began, the communicator is aborted; if a
 * call is refused on a rank, the others wait for it until the timeout. If the communicator fails,
 * the stream of a product that has not finished fails too.
 */
#ifndef ISOMER_GRID_H
#define ISOMER_GRID_H

#include <isomer/comm.h>
#include <isomer/op.h>

ISO_BEGIN_DECLS

/* The ranks of a communicator as rows and columns. */
typedef struct iso_grid {
    uint64_t id;
} iso_grid;

/*
 * Makes a grid of a communicator's ranks. It has two streams of its own on the device, and memory
 * as its products need it. The communicator must not be destroyed before the grid. INVALID: a wrong
 * handle, a NULL, or rows * cols is not the number of ranks.
 */
ISO_API iso_status iso_grid_create(iso_comm comm, int32_t rows, int32_t cols, iso_grid *out);

/* Waits for the grid's work and frees it. */
ISO_API iso_status iso_grid_destroy(iso_grid grid);

/* A matrix and its blocks. */
typedef struct iso_grid_layout {
    uint32_t size;
    iso_dtype dtype;                /* of the elements */
    int64_t rows, cols;             /* of the matrix */
    int64_t block_rows, block_cols; /* of a block; at least 1 */
} iso_grid_layout;
#define ISO_GRID_LAYOUT_INIT ISO_INIT_OF(iso_grid_layout)

/* The size of the part of a rank (-1: this one). */
ISO_API iso_status iso_grid_part(iso_grid grid, const iso_grid_layout *layout, int32_t rank,
                                 int64_t *rows, int64_t *cols);

/*
 * Spreads a matrix that rank `root` has in host memory (`ld` elements from row to row, 0: no gaps)
 * over the ranks. Each rank gets its part on its device (`to`), or in host memory (`to_host`, if it
 * is not NULL). Waits until its part has arrived. `from` is read on the root alone.
 */
ISO_API iso_status iso_grid_scatter(iso_grid grid, const iso_grid_layout *layout, int32_t root,
                                    const void *from, int64_t ld, iso_operand to, void *to_host);

/* The reverse: gathers the parts into a matrix in rank `root`'s host memory. A part on a device
 * must be complete: synchronise its stream first. */
ISO_API iso_status iso_grid_gather(iso_grid grid, const iso_grid_layout *layout, int32_t root,
                                   void *to, int64_t ld, iso_operand from, const void *from_host);

/*
 * C = alpha * A * B + beta * C. A is m x k in blocks of block_m x block_k, B is k x n in blocks of
 * block_k x block_n, C is m x n in blocks of block_m x block_n. Types: f32 and f64. Variants:
 * naive, tiled, vendor, fixed and auto. With naive and tiled, block_k must be a multiple of 1024 or
 * at least k.
 *
 * A part is on the device (a, b, c) or in host memory (a_host, b_host, c_host, if not NULL); host
 * memory from iso_host_alloc is fastest. For each matrix either all ranks give host memory or none
 * does. If any part is in host memory, `memory` says how much device memory the product may use for
 * its buffers and scratch memory, beside the parts on the device; 0: as much as the smallest device
 * has left. `auto` is each device's own choice: name the variant if the ranks' devices are unlike.
 *
 * Work is ordered on the stream, and products of one grid run in the order of their calls, whatever
 * their streams. The call may return before it is done; with parts in host memory it waits.
 * INVALID: wrong handles, sizes, types or blocks. NO_MEMORY: not even one block fits. UNSUPPORTED:
 * as iso_gemm. Otherwise as iso_comm_run.
 */
typedef struct iso_gemm_grid_args {
    uint32_t size;
    iso_dtype dtype;     /* of A, B and C */
    iso_variant variant; /* how it is computed; 0: auto */
    iso_math math;       /* whether TF32 may be used */
    iso_keep keep;       /* what auto must keep */
    uint32_t reserved;
    int64_t m, n, k;                   /* rows of C, columns of C, terms of each sum */
    int64_t block_m, block_n, block_k; /* of the blocks */
    double alpha, beta;                /* factors of the product and of the old C */
    iso_operand a, b, c;               /* this rank's parts on its device */
    const void *a_host, *b_host;       /* or in host memory, if not NULL */
    void *c_host;                      /* the same */
    int64_t memory;                    /* bytes of device memory; see above */
} iso_gemm_grid_args;
#define ISO_GEMM_GRID_ARGS_INIT ISO_INIT_OF_1(iso_gemm_grid_args, alpha, 1.0)

/* Submits the product that the descriptor describes. */
ISO_API iso_status iso_gemm_grid(iso_grid grid, iso_stream stream, const iso_gemm_grid_args *args);

ISO_END_DECLS

#endif
