/* SPDX-License-Identifier: Apache-2.0 */
/* errors.h - how far products are from the exact result, on inputs of like and unlike sizes. */
#ifndef ISOMER_ERRORS_H
#define ISOMER_ERRORS_H

#include "bench/ops/ops.h"
#include "bench/tool.h"

/* ---- exact.c: sums without rounding ---------------------------------------------------------- */

enum { ERRORS_LIMBS = 72 };

/* A sum of products of finite f64: a whole number in two's complement, the lowest bits first, times
 * a power of two that is below every such product. */
typedef struct errors_sum {
    uint64_t limb[ERRORS_LIMBS];
} errors_sum;

void errors_sum_add(errors_sum *sum, double a, double b); /* adds a*b, without rounding */
/* The nearest number, and the one nearest to what is left. */
void errors_sum_round(const errors_sum *sum, double *high, double *low);

/* ---- inputs.c -------------------------------------------------------------------------------- */

/* How the elements of A and B are made. Sizes are exponents of 2. */
typedef struct errors_input {
    const char *name, *words;
    bool normal;    /* of the normal distribution; otherwise uniform in [-1, 1) */
    int32_t rows;   /* each row of A and column of B has a size of its own, from -rows to rows */
    int32_t spread; /* each element has one of its own, from -2 spread to 0 */
    int32_t graded; /* sizes fall along a row of A, and rise along a column of B */
    int32_t large;  /* one element in each row of A is larger by this */
    bool hidden;    /* each row of A begins with 1e10, each column of B with 0 */
    bool wide;      /* f16 cannot hold the elements or the results */
} errors_input;

enum { ERRORS_INPUTS = 11 };
extern const errors_input errors_inputs[ERRORS_INPUTS];

/* The k-th of `terms` elements of a row of A (`operand` 0) or of a column of B (1). */
double errors_element(const errors_input *input, int operand, uint64_t seed, int64_t row, int64_t k,
                      int64_t terms);

/* ---- product.c ------------------------------------------------------------------------------- */

/* Operands, with what their product is exactly. */
typedef struct errors_problem {
    const errors_input *input;
    iso_dtype dtype;
    int64_t m, n, k;
    void *a, *b;                   /* as stored: m x k and k x n */
    double *wide_a, *wide_b;       /* the same numbers; the columns of B are rows here */
    double *largest_a, *largest_b; /* the largest magnitude of each row and column */
    double *high, *low;            /* the exact results */
    double *terms;                 /* the sum of the magnitudes of each result's terms */
} errors_problem;

void errors_problem_make(errors_problem *out, const errors_input *input, iso_dtype dtype,
                         const int64_t size[3], uint64_t seed);
void errors_problem_free(errors_problem *problem);

/* What computes a product. */
typedef struct errors_routine {
    const char *name; /* of --variant */
    iso_variant variant;
    iso_math math;
    bool model; /* the tool itself, by a model of TF32; otherwise a device */
} errors_routine;

enum { ERRORS_ROUTINES = 6, ERRORS_LIBRARIES = 4 };
extern const errors_routine errors_routines[ERRORS_ROUTINES];

typedef struct errors_spread {
    double median, largest;
} errors_spread;

typedef struct errors_result {
    const errors_routine *routine;
    const errors_input *input;
    iso_dtype dtype;
    int64_t size[3];
    int32_t library;
    const iso_device_info *device;
    iso_op_info info;
    bench_status status;
    char reason[400];
    /* The errors of the elements, divided by the sum of the magnitudes of an element's terms, and
     * by K times the largest magnitudes of its row and column. */
    errors_spread terms, largest;
} errors_result;

/* Runs a product and sets what the result does not have yet. */
void errors_run(iso_device device, const errors_problem *problem, errors_result *result);

/* ---- show.c ---------------------------------------------------------------------------------- */

json_t *errors_json(const errors_result *result);
/* The tables of all results of this size. */
void errors_show(FILE *out, const errors_result *results, int32_t count, const int64_t size[3]);

#endif
