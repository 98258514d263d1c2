/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsmr.h - LSMR: the x that makes |A x - b|^2 + damp^2 |x|^2 least, for a sparse matrix A of f32 or
 * f64. After D. C.-L. Fong and M. Saunders, "LSMR: An iterative algorithm for sparse least-squares
 * problems", SIAM J. Sci. Comput. 33 (2011). |.| is the 2-norm, A' the transpose.
 *
 * Several damping factors can be solved for together. The vectors u and v, which A and
 * A' are multiplied with, begin with b and do not depend on the factor; only what makes x of them
 * does. So ten factors take little longer than the slowest of them alone, and each x has the bits
 * that it has alone.
 *
 * Vectors and numbers stay on the device. An iteration is two sparse products and five kernels of
 * lsmr.isk; the host looks after some iterations whether problems are left.
 */
#ifndef LSMR_H
#define LSMR_H

#include <isomer/isomer.h>

/* What is known after an iteration. |r| is that of the damped problem: |r|^2 = |A x - b|^2 + damp^2
 * |x|^2. All but |x| are estimates that cost no pass over the vectors. */
typedef struct lsmr_state {
    int64_t iteration; /* from 1 */
    double residual;   /* |r| */
    double gradient;   /* |A' r|, damped: 0 at the solution */
    double norm_x;     /* |x| */
    double norm_a;     /* |A|, the Frobenius norm: an estimate that is at most the true one */
    double condition;  /* of A: likewise */
} lsmr_state;

/* Is called after each iteration of each problem that goes on, by the thread that called
 * lsmr_solve; `problem` counts from 0. Not 0: stop this problem. It must not call lsmr_solve. */
typedef int (*lsmr_each)(void *user, int problem, const lsmr_state *state);

typedef struct lsmr_args {
    iso_operand b;       /* rows elements of the matrix's type; not changed */
    iso_operand x;       /* cols elements for each problem, one problem after another; is set */
    const double *damps; /* one for each problem, 0 or more; host memory */
    int count;           /* of problems: 1 to what the lsmr was made for */
    double atol, btol;   /* how exact A and b are: see lsmr_reason */
    double conlim;       /* stop if A's condition seems larger; 0: never */
    int64_t most;        /* iterations of a problem; 0: the less of rows and cols */
    iso_variant variant;
    lsmr_each each; /* may be NULL; else the host looks after each iteration */
    void *user;
} lsmr_args;

/* One problem without damping; atol and btol 1e-6, conlim 1e8. */
lsmr_args lsmr_defaults(void);

typedef enum lsmr_reason {
    LSMR_ZERO = 0,         /* x = 0 is the solution */
    LSMR_RESIDUAL = 1,     /* |r| <= btol |b| + atol |A| |x|: A x = b is solved */
    LSMR_GRADIENT = 2,     /* |A' r| <= atol |A| |r|: the least squares are found */
    LSMR_CONDITION = 3,    /* conlim */
    LSMR_RESIDUAL_EPS = 4, /* as 1, 2, 3, but as exactly as f64 can tell */
    LSMR_GRADIENT_EPS = 5,
    LSMR_CONDITION_EPS = 6,
    LSMR_MOST = 7,       /* the greatest number of iterations */
    LSMR_STOPPED = 8,    /* by the callback */
    LSMR_NOT_FINITE = 9, /* A, b or a norm has NaN or is infinite: x means nothing */
    LSMR_RANGE = 10      /* |b| or |A' b| / |b| is below 1e-150, or so large that f64 does not
                          * have its square: x means nothing. Scale A or b */
} lsmr_reason;

const char *lsmr_reason_text(lsmr_reason reason);

typedef struct lsmr_result {
    lsmr_reason reason;
    lsmr_state state; /* after the last iteration */
} lsmr_result;

/* A matrix with the kernels, and the vectors for up to `most` damping factors at a time. */
typedef struct lsmr lsmr;

/* `most` is from 1 to 256. The matrix must have a transposed copy. It and the stream must live as
 * long as the lsmr. */
iso_status lsmr_create(iso_device device, iso_stream stream, iso_sparse matrix, int most,
                       lsmr **out);

/* A matrix that is not one iso_sparse: what LSMR needs to know of it. */
typedef struct lsmr_matrix {
    iso_dtype dtype; /* f32 or f64 */
    int64_t rows, cols;
    int64_t room; /* elements that `y` has at least; 0: those of the product */
    /* Submits y = A x, or y = A' x for ISO_TRANS, to the stream. */
    iso_status (*multiply)(void *user, iso_stream stream, iso_trans trans, iso_variant variant,
                           iso_operand x, iso_operand y);
    void *user;
} lsmr_matrix;

/* The same for such a matrix; *matrix is copied. */
iso_status lsmr_create_for(iso_device device, iso_stream stream, const lsmr_matrix *matrix,
                           int most, lsmr **out);
void lsmr_destroy(lsmr *solver); /* may be NULL */

/* Waits for the solutions: each x is complete when it returns, also that of a problem that was
 * stopped. `results` has args->count. INVALID: a count or a factor that is not allowed. After
 * another status than OK neither x nor the results mean anything. */
iso_status lsmr_solve(lsmr *solver, const lsmr_args *args, lsmr_result *results);

#endif
