/* SPDX-License-Identifier: Apache-2.0 */
/* lsmr.c - the ends that LSMR of lab D can come to: solved, stopped, nothing to do, not a number;
 * and several problems together, which have the bits of each alone. The device is the first
 * argument, or the CPU. */
#include "examples/labs/lsmr.h"
#include "examples/labs/lab.h"

enum { N = 3 };

/* Stops after as many iterations as `user` says. */
static int stop(void *user, int problem, const lsmr_state *state)
{
    (void)problem;
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
    OK(lsmr_create(l->device, l->stream, matrix, 1, &solver));
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

/* ---- Several damping factors ----------------------------------------------------------------- */

enum { ROWS = 40, COLS = 30, DAMPS = 4 };

/* Stops the second problem after two iterations. */
static int stop_one(void *user, int problem, const lsmr_state *state)
{
    int *calls = user;
    calls[problem]++;
    return problem == 1 && state->iteration == 2;
}

static iso_sparse full_matrix(const lab *l, iso_dtype dtype)
{
    int32_t offsets[ROWS + 1], columns[ROWS * COLS];
    float singles[ROWS * COLS];
    double doubles[ROWS * COLS];
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    iso_sparse matrix;

    for (int32_t i = 0; i <= ROWS; i++) {
        offsets[i] = i * COLS;
    }
    for (int32_t e = 0; e < ROWS * COLS; e++) {
        columns[e] = e % COLS;
        doubles[e] = lab_uniform(LAB_SEED_A, e);
        singles[e] = (float)doubles[e];
    }
    args.dtype = dtype;
    args.index = ISO_I32;
    args.rows = ROWS;
    args.cols = COLS;
    args.entries = ROWS * COLS;
    args.offsets = offsets;
    args.columns = columns;
    args.values = dtype == ISO_F64 ? (const void *)doubles : singles;
    OK(iso_sparse_create(l->device, &args, &matrix));
    return matrix;
}

static bool same(lsmr_result a, lsmr_result b)
{
    return a.reason == b.reason && memcmp(&a.state, &b.state, sizeof a.state) == 0;
}

static void several(const lab *l, iso_dtype dtype)
{
    const double damps[DAMPS] = {0, 0.5, 3, 50};
    const int64_t bytes = COLS * iso_dtype_size(dtype);
    iso_sparse matrix = full_matrix(l, dtype);
    lsmr_args args = lsmr_defaults();
    lsmr_result together[DAMPS], apart, halted[DAMPS];
    unsigned char x[DAMPS * COLS * sizeof(double)], one[COLS * sizeof(double)];
    void *b = lab_random(dtype, LAB_SEED_B, ROWS);
    int calls[DAMPS] = {0};
    lsmr *solver;

    args.b = lab_upload(l, b, ROWS * iso_dtype_size(dtype));
    args.x = lab_buffer(l, DAMPS * bytes);
    OK(lsmr_create(l->device, l->stream, matrix, DAMPS, &solver));
    args.damps = damps;
    args.count = DAMPS;
    OK(lsmr_solve(solver, &args, together));
    lab_download(l, x, args.x, DAMPS * bytes);
    args.each = stop_one;
    args.user = calls;
    OK(lsmr_solve(solver, &args, halted));
    for (int i = 0; i < DAMPS; i++) {
        const bool stopped = i == 1;
        lab_check(calls[i] == halted[i].state.iteration - (stopped ? 0 : 1),
                  "problem %d: %d calls of the callback", i, calls[i]);
        lab_check(stopped ? halted[i].reason == LSMR_STOPPED && halted[i].state.iteration == 2
                          : same(halted[i], together[i]),
                  "problem %d: %s after %lld iterations", i, lsmr_reason_text(halted[i].reason),
                  (long long)halted[i].state.iteration);
    }
    args.each = NULL;
    args.count = 1;
    for (int i = 0; i < DAMPS; i++) {
        args.damps = &damps[i];
        OK(lsmr_solve(solver, &args, &apart));
        lab_download(l, one, args.x, bytes);
        lab_check(same(apart, together[i]),
                  "damping %g: alone after %lld iterations, with others after %lld", damps[i],
                  (long long)apart.state.iteration, (long long)together[i].state.iteration);
        lab_check(memcmp(one, x + i * bytes, (size_t)bytes) == 0,
                  "damping %g: x has other bits alone than with others", damps[i]);
    }
    lab_check(together[0].state.iteration > together[3].state.iteration, "all took %lld iterations",
              (long long)together[0].state.iteration);
    const double wrong[] = {-1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        args.damps = &wrong[i];
        lab_check(lsmr_solve(solver, &args, &apart) == ISO_INVALID, "damping %g: no error",
                  wrong[i]);
    }
    args.damps = damps;
    for (args.count = 0; args.count <= DAMPS + 1; args.count += DAMPS + 1) {
        lab_check(lsmr_solve(solver, &args, &apart) == ISO_INVALID, "%d problems: no error",
                  args.count);
    }
    lsmr_destroy(solver);
    lab_free(args.b);
    lab_free(args.x);
    OK(iso_sparse_destroy(matrix));
    free(b);
}

int main(int count, char **words)
{
    lab l = lab_open_device(count > 1 ? words[1] : "openmp", NULL);
    lsmr_args args = lsmr_defaults();
    const double b[] = {1, 4, 12}, none[N] = {0}, nan[] = {1, (double)NAN, 1};
    const double one = 1;
    double x[N];
    int two = 2;

    expect("a system", solve(&l, 4, b, args, x), LSMR_RESIDUAL, 3);
    lab_check(fabs(x[0] - 1) + fabs(x[1] - 2) + fabs(x[2] - 3) < 1e-9, "x is %g %g %g", x[0], x[1],
              x[2]);
    expect("b = 0", solve(&l, 4, none, args, x), LSMR_ZERO, 0);
    lab_check(x[0] == 0 && x[1] == 0 && x[2] == 0, "x is not 0");
    expect("a NaN in b", solve(&l, 4, nan, args, x), LSMR_NOT_FINITE, 0);
    expect("an infinity in A", solve(&l, (double)INFINITY, b, args, x), LSMR_NOT_FINITE, 0);
    const double tiny[] = {1e-170, 1e-170, 1e-170}, huge[] = {1e170, 1e170, 1e170};
    expect("a tiny b", solve(&l, 4, tiny, args, x), LSMR_RANGE, 0);
    expect("a huge b", solve(&l, 4, huge, args, x), LSMR_RANGE, 0);
    args.damps = &one;
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
    args.damps = &none[0];
    args.conlim = 1.5;
    expect("a condition", solve(&l, 4, b, args, x), LSMR_CONDITION, 2);
    several(&l, ISO_F32);
    several(&l, ISO_F64);
    lab_close(&l);
    return 0;
}
