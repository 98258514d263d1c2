/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrays.h - the work of lab D, as functions that the lab's program and others call: the sums of
 * the columns of a product in four ways, and diffusion. `program` has d_arrays.isk. Nothing is
 * printed, and nothing waits for the device.
 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <isomer/isomer.h>

#include <stdbool.h>

/* ---- y[j] = the sum over i and l of a[i, l] b[l, j] ------------------------------------------ */

typedef enum array_way {
    ARRAY_PRODUCT = 0,       /* D1: the product by iso_gemm, then the sums of its columns */
    ARRAY_SUMS_FIRST = 1,    /* D2: the sums of A's columns, then a vector times B */
    ARRAY_FUSED_PRODUCT = 2, /* D3: each element of the product is computed, none is stored */
    ARRAY_FUSED_SUMS = 3     /* D3: as D2, but A and B are read in one launch */
} array_way;

const char *array_way_name(array_way way); /* "product", "sums-first", ... */

typedef struct array_sums {
    iso_dtype dtype;     /* f32 or f64 */
    int64_t m, k, n;     /* A is m x k, B is k x n; rows follow each other */
    iso_variant variant; /* of ARRAY_PRODUCT's product */
    iso_operand a, b, y;
    iso_operand c;    /* m x n, for ARRAY_PRODUCT only */
    iso_operand work; /* array_sums_work() bytes */
    bool words;       /* read in words of 16 bytes where rows have whole ones: faster on GPUs. All
                         operands are then at multiples of 16 bytes */
} array_sums;

/* Enough for every way. */
int64_t array_sums_work(const array_sums *sums);

iso_status array_sums_run(iso_stream stream, iso_program program, const array_sums *sums,
                          array_way way);

/* The second half of ARRAY_PRODUCT: the sums of c's columns. */
iso_status array_sums_columns(iso_stream stream, iso_program program, const array_sums *sums);

/* ---- Diffusion ------------------------------------------------------------------------------- */

enum { ARRAY_STEPS_MOST = 8 }; /* in one launch */

/* A field of f32, and a second one to write to. */
typedef struct array_field {
    int64_t n;
    iso_operand now, other; /* exchanged after each launch */
    int64_t rows;           /* of n cells each; 0: n rows */
} array_field;

/* 1 in the square of a quarter of the cells in the middle, 0 elsewhere. The field has n rows. */
iso_status array_field_begin(iso_stream stream, array_field *field);

/* `each` is how many steps a launch does, 1 to ARRAY_STEPS_MOST: the bits are the same. */
iso_status array_field_steps(iso_stream stream, iso_program program, array_field *field,
                             int64_t steps, int32_t each);

/* Into `other`. */
iso_status array_field_laplacian(iso_stream stream, iso_program program, const array_field *field);

#endif
