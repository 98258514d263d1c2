/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - a sparse matrix that is spread over the ranks of a communicator, for LSMR. Each rank
 * has a block of A's rows and a block of A's columns, as rows of A'. Vectors are whole on every
 * rank. A product with A or A' computes the block's elements on each rank, and gathers them.
 *
 * So a row's sum is never divided, and products have the bits of one device, however many ranks
 * there are. All else that LSMR does is the same on every rank.
 */
#ifndef SPREAD_H
#define SPREAD_H

#include "lsmr.h"
#include "ridge.h"

/* Half 0 is of A and half 1 of A'. */
typedef struct spread {
    iso_comm comm;
    int32_t rank, ranks;
    iso_dtype dtype;
    struct {
        int64_t count, each; /* rows; of a rank's block, where the last ones may be smaller */
        iso_sparse block;
    } halves[2];
} spread;

/* `input` is the whole matrix. It need not live longer than the call. */
iso_status spread_create(iso_device device, iso_comm comm, const ridge_input *input,
                         iso_dtype dtype, spread *out);
void spread_destroy(spread *s);

/* For lsmr_create_for. `s` must live as long as the lsmr. */
lsmr_matrix spread_matrix(spread *s);

#endif
