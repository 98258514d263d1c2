/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.h - test vectors of docs/bits.md: cases, their results by the plain model, and the lines
 * that describe them. No device is used.
 */
#ifndef ISOMER_VECTORS_H
#define ISOMER_VECTORS_H

#include "bench/ops/ops.h"

/* The conformance levels, in the order of a file. */
typedef enum vectors_level {
    VECTORS_MAPS,
    VECTORS_SUMS,
    VECTORS_PRODUCTS,
    VECTORS_FIXED,
    VECTORS_LEVELS
} vectors_level;

const char *vectors_level_name(vectors_level level); /* "maps", ... */

/* ---- cases.c --------------------------------------------------------------------------------- */

/* Makes case `number` of a level, from 1. It depends on nothing else, so that a shorter file has
 * cases of a longer one. */
void vectors_case(vectors_level level, uint64_t seed, int64_t number, bench_case *out);

/* ---- special.c ------------------------------------------------------------------------------- */

/* Changes a drawn case to a special one, if it has the number of one. These numbers are beyond
 * those of the first 100,000 cases. */
void vectors_special(vectors_level level, int64_t number, bench_case *item);

/* ---- place.c --------------------------------------------------------------------------------- */

/* Where the operands of a case lie. The last of the lists is the result's; C of a product is both.
 */
typedef struct vectors_place {
    int32_t count; /* of the lists; 0: nothing is said */
    bool rows;     /* the operands have rows, with gaps between them */
    int64_t offset[3], gap[3];
    int64_t batch, member, apart; /* products: elements between members */
    int32_t on;                   /* the operand that the result overwrites; -1: none */
} vectors_place;

void vectors_place_of(const bench_case *item, vectors_place *out);

/* ---- compute.c ------------------------------------------------------------------------------- */

typedef struct vectors_result {
    unsigned char *elements;
    int64_t count, element; /* the number of elements, and the bytes of one */
    uint64_t digest[2];     /* high, low */
} vectors_result;

/* Computes a case with the plain model. The caller frees `elements`. */
void vectors_compute(const bench_case *item, vectors_result *out);

/* ---- line.c ---------------------------------------------------------------------------------- */

json_t *vectors_first_line(uint64_t seed, int64_t count);
json_t *vectors_line(vectors_level level, int64_t number, const bench_case *item,
                     const vectors_result *result);

#endif
