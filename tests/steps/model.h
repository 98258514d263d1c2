/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - one element of iso_finish_op and one system of iso_solve_op, in the plainest way. */
#ifndef ISOMER_STEPS_MODEL_H
#define ISOMER_STEPS_MODEL_H

#include <isomer/backend.h>

/* Mistakes in the model, one at a time: the comparison must find each. */
typedef enum step_mistake {
    STEP_RIGHT = 0,
    STEP_OTHER_PRODUCT = 1, /* alpha * t is rounded, and beta * c is not */
    STEP_READS = 2,         /* C is read though beta is 0 */
    STEP_DEVICE_ZERO = 3,   /* C is not read if beta is 0 on the device */
    STEP_SIGN_II = 4,
    STEP_SIGN_RI = 5,
    STEP_SIGN_IR = 6,
    STEP_PLANES = 7,         /* ri and ir are exchanged */
    STEP_IMAGINARY_ZERO = 8, /* products with an imaginary part of 0 are added */
    STEP_STORED = 9,         /* beta * c is rounded to the stored type */
    STEP_WIDE_FACTOR = 10,   /* a factor on the device is not rounded */
    STEP_SATURATES = 11,     /* of i32 */
    STEP_FACTOR_ROUNDS = 12, /* a factor of i32 is rounded to nearest */
    STEP_NO_DIAGONAL = 13,   /* of C's triangle */
    STEP_BACKWARDS = 14,     /* k descends */
    STEP_NO_FMA = 15,
    STEP_RECIPROCAL = 16, /* x(i) is t * (1 / a(i, i)) */
    STEP_UNIT = 17,       /* the diagonal is always ones */
    STEP_CONJ = 18,       /* a's imaginary parts never have the other sign */
    STEP_TEXTBOOK = 19,   /* complex division without Smith's way */
    STEP_ORDER = 20,      /* a complex product's terms are added in the other order */
    STEP_MISTAKES = 21
} step_mistake;
extern step_mistake step_is;

/* An element or a factor; real types have no imaginary part. */
typedef struct step_number {
    double re, im;
} step_number;

int step_is_complex(iso_dtype dtype);
/* The type of an element's parts, and that of T and of the computation (i32: f64). */
iso_dtype step_part(iso_dtype dtype);
iso_dtype step_real(iso_dtype dtype);
int64_t step_bytes(iso_dtype dtype); /* of an element */

double step_load(iso_dtype part, const void *array, int64_t i);
void step_store(iso_dtype part, void *array, int64_t i, double x);

/* The element that takes the place of c. t: what each plane has there. Factors are as the device
 * or the host has them. */
step_number step_finish(const iso_finish_op *op, step_number alpha, step_number beta,
                        const double *t, step_number c);
/* Solves for x in place, given a(i, k) at a[i * 64 + k]. */
void step_solve(const iso_solve_op *op, const step_number *a, step_number *x);

#endif
