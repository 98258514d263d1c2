/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - products over some of the ranks: product.c runs one, scaling.c chooses them. */
#ifndef ISOMER_BENCH_PRODUCT_H
#define ISOMER_BENCH_PRODUCT_H

#include "bench/check/check.h"
#include "bench/comm/scale.h"

/* A rank's parts. */
typedef struct product_part {
    iso_grid grid;
    iso_buffer buffers[3]; /* of A, B and C */
    void *host[3];         /* instead, if parts are in host memory */
    iso_event begin, end;
    int64_t bytes[3];
} product_part;

typedef struct product {
    scale_run *run;
    iso_variant how;
    iso_dtype dtype;
    int64_t n, block_k;
    int32_t ranks, rows, cols;
    const char *scaling; /* "strong", "weak" */
    double slice;        /* seconds to measure */
    double until;        /* seconds of the run at which larger work is left out */
    iso_comm *comms;     /* of each rank of this process; id 0: it takes no part */
    product_part parts[RANKS_MOST];
    /* On rank 0: all of A, B and C. */
    unsigned char *a, *b, *c;
    check_cache *cache;
    bool homeless; /* its host has no room for them */
    scale_times times;
    double (*device)[SCALE_SAMPLES], (*host)[SCALE_SAMPLES];
    scale_outcome *outcomes;
} product;

json_t *product_entry(const product *p); /* without figures */
/* Spreads the inputs over the ranks, for all variants. False: the outcome says why. */
bool product_begin(product *p);
void product_end(product *p); /* after product_begin, whatever it returned */
/* Measures the product, and returns its entry. */
json_t *product_measure(product *p);
/* The seconds of one call; negative: it failed. */
double product_probe(product *p);

#endif
