/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a slow model of sums over ranks, written from docs/bits.md, section 13. Numbers are
 * read exactly into f64, and sums of whole numbers are exact in 128 bits. */
#ifndef ISOMER_RANKS_MODEL_H
#define ISOMER_RANKS_MODEL_H

#include <isomer/backend.h>

/* Mistakes in the model, one at a time: the comparison must find each. */
typedef enum model_mistake {
    MODEL_RIGHT = 0,
    MODEL_FROM_ZERO = 1,   /* a sum starts from +0 */
    MODEL_BACKWARDS = 2,   /* the last source comes first */
    MODEL_STORED = 3,      /* a sum is rounded to the stored type at each source */
    MODEL_STORED_MEAN = 4, /* a mean divides a sum that was rounded to the stored type */
    MODEL_ZEROS_EQUAL = 5, /* -0 and +0 compare equal */
    MODEL_NAN_LOSES = 6,
    MODEL_TERM_UP = 7,     /* ties go up when a term becomes a whole number */
    MODEL_TERM_CUT = 8,    /* a term is cut, not rounded */
    MODEL_JOIN_AWAY = 9,   /* ties go away from 0 when a sum is rounded */
    MODEL_JOIN_TWICE = 10, /* a sum is rounded to 53 bits before */
    MODEL_JOIN_LOST = 11,  /* the bits below the upper 64 are lost */
    MODEL_SUBNORMAL = 12,  /* a subnormal term has the least normal exponent */
    MODEL_INFINITIES = 13, /* infinities of both signs give the positive one */
    MODEL_MISTAKES = 14
} model_mistake;
extern model_mistake model_is;

int model_is_floating(iso_dtype dtype);
int model_exponent_bits(iso_dtype dtype); /* p of clause 13.3 */
/* Exponents of a term that is finite and not 0: from the first up to the second. */
void model_exponents(iso_dtype dtype, int *least, int *most);

uint64_t model_get(iso_dtype dtype, const void *array, int64_t i);
void model_set(iso_dtype dtype, void *array, int64_t i, uint64_t bits);
double model_decode(iso_dtype dtype, uint64_t bits);
uint64_t model_encode(iso_dtype dtype, double x);
/* The same bits, or both NaN. */
int model_same(iso_dtype dtype, uint64_t a, uint64_t b);

uint64_t model_fold(iso_dtype dtype, iso_reduce_op op, const uint64_t *x, int count);

int32_t model_code(iso_dtype dtype, uint64_t bits);
/* A finite term as a whole number, for this exponent. */
__int128 model_whole(iso_dtype dtype, uint64_t bits, int32_t code);
/* The bits of sum * 2^(code - p). */
uint64_t model_join(iso_dtype dtype, __int128 sum, int32_t code);
/* The whole of clauses 13.3 and 13.4. */
uint64_t model_fixed(iso_dtype dtype, const uint64_t *x, int count);

#endif
