/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - a product on a stand-in and the same one on the CPU, for the programs that compare
 * their bits. */
#ifndef ISOMER_TESTS_FAKES_PRODUCT_H
#define ISOMER_TESTS_FAKES_PRODUCT_H

#include "tests/concurrency/check.h"

#include <stdbool.h>

typedef struct product {
    iso_dtype dtype;
    int64_t m, n, k;
    int64_t gap; /* of the lines in memory; odd ones are not aligned */
    double alpha, beta;
    int64_t batch;
    bool shared_a;  /* all products of the batch have the same A */
    bool continues; /* C holds the total of earlier terms */
} product;

/* Stores element `at` of an operand, of which `random` has random bits. Those of A and B may be
 * `special`. */
typedef void product_put(iso_dtype dtype, void *to, int64_t at, uint64_t random, bool special);

typedef struct product_results {
    int64_t elements, bytes; /* with the gaps */
    uint8_t *own, *cpu;
    char kernel[ISO_NAME_MAX];
} product_results;

/* Computes the product on both. `layout` is 1 if A is transposed, plus 2 if B is. The caller frees
 * the two results. */
product_results product_run(const char *backend, iso_variant variant, const product *p, int layout,
                            product_put *put, bool special);

#endif
