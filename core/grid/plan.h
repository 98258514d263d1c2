/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a product over a grid: its checked arguments, and the blocks and memory it uses. */
#ifndef ISOMER_CORE_GRID_PLAN_H
#define ISOMER_CORE_GRID_PLAN_H

#include "core/grid/grid.h"

typedef struct core_grid_plan {
    const char *call;
    core_grid *grid;
    iso_stream stream;
    iso_gemm_grid_args args;
    int64_t element;
    double alpha, beta; /* rounded */
    int64_t k;          /* 0 if alpha is 0 */
    int64_t panels;
    int64_t rows, cols;             /* of this rank's part of C */
    int64_t a_cols;                 /* of its part of A */
    int64_t most_rows, most_cols;   /* of the largest part of C */
    int64_t block_rows, block_cols; /* of a block of C that is computed at once */
    bool fixed, out_of_core;
    int64_t scratch;      /* bytes that the stream has already */
    bool direct;          /* one call of iso_gemm computes a block, with alpha and beta */
    bool in_place;        /* totals are kept in C itself */
    iso_comm_call *calls; /* room for one exchange */
    iso_comm_args *sends;
    int64_t step; /* panels so far */
    int slot;     /* of the block's total and C */
} core_grid_plan;

/* Reads and checks the arguments. */
iso_status core_grid_plan_read(core_grid_plan *p, const iso_gemm_grid_args *given);
/* Chooses variant and blocks, which may take a call to the other ranks. A rank that then fails
 * alone aborts the communicator. */
iso_status core_grid_plan_make(core_grid_plan *p);
/* Gets the grid's buffers. */
iso_status core_grid_plan_room(const core_grid_plan *p);
void core_grid_plan_free(core_grid_plan *p);

/* The arguments that all calls of iso_gemm share. */
iso_gemm_args core_grid_plan_gemm(const core_grid_plan *p);

#endif
