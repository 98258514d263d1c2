/* SPDX-License-Identifier: Apache-2.0 */
/* lsmr.c - the ends that LSMR of lab D can come to: solved, stopped, nothing to do, not a number.
 */
#include "examples/labs/lsmr.h"
#include "examples/labs/lab.h"

#include "d_arrays.isk.h"

enum { N = 3 };

/* Stops after as many iterations as `user` says. */
static int stop(void *user, const lsmr_state *state)
{
    return state->iteration >= *(const int *)user;
}

/* diag(1, 2, last) x = b */
static lsmr_result solve(const lab *l, double last, const double b[N], lsmr_args args, double x[N])
{
    const int32_t offsets[] = {0, 1, 2, 3}, columns[] = {0, 1, 2};
    const double values[] = {1, 2, last};
    iso_sparse_args matrix_args = ISO_SPARSE_ARGS_INIT;
    iso_sparse matrix;
    lsmr_result result;
    lsmr *solver;

    matrix_args.dtype = ISO_F64;
    matrix_args.index = ISO_I32;
    matrix_args.rows = matrix_args.cols = matrix_args.entries = N;
    matrix_args.offsets = offsets;
    matrix_args.columns = columns;
    matrix_args.values = values;
    OK(iso_sparse_create(l->device, &matrix_args, &matrix));
    args.b = lab_upload(l, b, N * sizeof *b);
    args.x = lab_buffer(l, N * sizeof *x);
    OK(lsmr_create(l->device, l->stream, l->program, matrix, &solver));
    OK(lsmr_solve(solver, &args, &result));
    lab_download(l, x, args.x, N * sizeof *x);
    lsmr_destroy(solver);
    lab_free(args.b);
    lab_free(args.x);
    OK(iso_sparse_destroy(matrix));
    return result;
}

static void expect(const char *what, lsmr_result result, lsmr_reason reason, int64_t iterations)
{
    lab_check(result.reason == reason && result.state.iteration == iterations,
              "%s: %s after %lld iterations, not %s after %lld", what,
              lsmr_reason_text(result.reason), (long long)result.state.iteration,
              lsmr_reason_text(reason), (long long)iterations);
}

int main(void)
{
    lab l = lab_open_device("openmp", &d_arrays_isk);
    lsmr_args args = lsmr_defaults();
    const double b[] = {1, 4, 12}, none[N] = {0}, nan[] = {1, (double)NAN, 1};
    double x[N];
    int two = 2;

    expect("a system", solve(&l, 4, b, args, x), LSMR_RESIDUAL, 3);
    lab_check(fabs(x[0] - 1) + fabs(x[1] - 2) + fabs(x[2] - 3) < 1e-9, "x is %g %g %g", x[0], x[1],
              x[2]);
    expect("b = 0", solve(&l, 4, none, args, x), LSMR_ZERO, 0);
    lab_check(x[0] == 0 && x[1] == 0 && x[2] == 0, "x is not 0");
    expect("a NaN in b", solve(&l, 4, nan, args, x), LSMR_NOT_FINITE, 0);
    expect("an infinity in A", solve(&l, (double)INFINITY, b, args, x), LSMR_NOT_FINITE, 0);
    args.damp = 1;
    expect("damped", solve(&l, 4, b, args, x), LSMR_GRADIENT, 3);
    lab_check(fabs(x[0] - 0.5) + fabs(x[1] - 1.6) + fabs(x[2] - 48. / 17) < 1e-9, "x is %g %g %g",
              x[0], x[1], x[2]);
    args.most = 1;
    expect("one iteration", solve(&l, 4, b, args, x), LSMR_MOST, 1);
    args.most = 0;
    args.each = stop;
    args.user = &two;
    expect("a callback", solve(&l, 4, b, args, x), LSMR_STOPPED, 2);
    args.each = NULL;
    args.damp = 0;
    args.conlim = 1.5;
    expect("a condition", solve(&l, 4, b, args, x), LSMR_CONDITION, 2);
    lab_close(&l);
    return 0;
}
