/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsmr_ranks.c - the regression of lab D over several devices, with the bits of one: a sparse
 * system whose matrix is spread over ranks, for ten coefficients together.
 */
#include "lab.h"
#include "lsmr.h"
#include "ranks.h"
#include "ridge.h"
#include "spread.h"

enum { TYPES = 2 };
static const iso_dtype types[TYPES] = {ISO_F32, ISO_F64};

typedef struct solution {
    lsmr_result results[RIDGE_POINTS];
    void *x; /* of all coefficients, one after another */
    double seconds;
} solution;

/* The system, and its solutions on one device. */
typedef struct results {
    ridge_input input;
    solution right[TYPES];
} results;

/* For all coefficients together. The variant has defined bits, which `auto` need not have. */
static solution solve(const lab *l, lsmr *solver, const ridge_input *in, iso_dtype dtype)
{
    const int64_t each = iso_dtype_size(dtype), bytes = RIDGE_POINTS * in->cols * each;
    double damps[RIDGE_POINTS];
    ridge_point points[RIDGE_POINTS];
    lsmr_args args = lsmr_defaults();
    solution s = {.x = lab_alloc(bytes)};
    void *b = lab_alloc(in->rows * each);

    ridge_coefficients(points);
    for (int i = 0; i < RIDGE_POINTS; i++) {
        damps[i] = points[i].lambda;
    }
    for (int64_t i = 0; i < in->rows; i++) {
        lab_set(b, dtype, i, (double)in->b[i]);
    }
    args.damps = damps;
    args.variant = ISO_VARIANT_TILED;
    args.b = lab_upload(l, b, in->rows * each);
    args.x = lab_buffer(l, bytes);
    OK(lsmr_solve(solver, &args, s.results)); /* prepares */
    args.count = RIDGE_POINTS;
    const double start = lab_now();
    OK(lsmr_solve(solver, &args, s.results));
    s.seconds = lab_now() - start;
    lab_download(l, s.x, args.x, bytes);
    lab_free(args.b);
    lab_free(args.x);
    free(b);
    return s;
}

/* The whole matrix on one device, with its transposed copy. */
static void alone(const lab *l, const ranks_options *options, void *user)
{
    results *out = user;
    const int64_t rows = options->size > 0 ? options->size : lab_size(l, 200, 2000, 15000);

    OK(ridge_input_make(rows, rows - rows / 3, 0.1, &out->input));
    for (int type = 0; type < TYPES; type++) {
        iso_sparse matrix;
        iso_operand b;
        lsmr *solver;
        OK(ridge_input_upload(l->device, l->stream, &out->input, types[type], &matrix, &b));
        OK(lsmr_create(l->device, l->stream, matrix, RIDGE_POINTS, &solver));
        out->right[type] = solve(l, solver, &out->input, types[type]);
        lsmr_destroy(solver);
        lab_free(b);
        OK(iso_sparse_destroy(matrix));
    }
}

/* ---- On every rank --------------------------------------------------------------------------- */

static int64_t iterations_of(const solution *s)
{
    int64_t most = 0;
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const int64_t these = s->results[i].state.iteration;
        most = these > most ? these : most;
    }
    return most;
}

static void compare(const rank *r, const solution *right, const solution *got, iso_dtype dtype,
                    int64_t cols)
{
    const int64_t bytes = cols * iso_dtype_size(dtype);
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const lsmr_result *a = &right->results[i], *b = &got->results[i];
        lab_check(a->reason == b->reason && memcmp(&a->state, &b->state, sizeof a->state) == 0,
                  "rank %d of %d, %s, coefficient %d: %lld iterations, |x| = %.17g; on one device "
                  "%lld, %.17g",
                  (int)r->at, (int)r->count, iso_dtype_name(dtype), i,
                  (long long)b->state.iteration, b->state.norm_x, (long long)a->state.iteration,
                  a->state.norm_x);
        lab_check(memcmp((const char *)right->x + i * bytes, (const char *)got->x + i * bytes,
                         (size_t)bytes) == 0,
                  "rank %d of %d, %s, coefficient %d: x has other bits than on one device",
                  (int)r->at, (int)r->count, iso_dtype_name(dtype), i);
    }
}

static void together(const rank *r)
{
    const results *all = r->user;
    const ridge_input *in = &all->input;

    ranks_say(r);
    for (int type = 0; type < TYPES; type++) {
        const iso_dtype dtype = types[type];
        spread s;
        lsmr *solver;
        OK(spread_create(r->l.device, r->comm, in, dtype, &s));
        const lsmr_matrix matrix = spread_matrix(&s);
        OK(lsmr_create_for(r->l.device, r->l.stream, &matrix, RIDGE_POINTS, &solver));
        solution got = solve(&r->l, solver, in, dtype);
        compare(r, &all->right[type], &got, dtype, in->cols);
        if (r->at == 0) {
            const double iterations = fmax(1, (double)iterations_of(&got));
            const int64_t bytes = (in->rows + in->cols) * iso_dtype_size(dtype);
            printf("%lld x %lld, %s: %.0f iterations, %s each, one device %s. Gathered in each: "
                   "%s\n",
                   (long long)in->rows, (long long)in->cols, iso_dtype_name(dtype), iterations,
                   lab_seconds(got.seconds / iterations).text,
                   lab_seconds(all->right[type].seconds / iterations).text, lab_bytes(bytes).text);
        }
        ranks_gate(r);
        lsmr_destroy(solver);
        spread_destroy(&s);
        ranks_gate(r);
        free(got.x);
    }
    ranks_agree(r);
}

int main(int count, char **words)
{
    const ranks_options options = ranks_parse(count, words);
    results all = {0};
    ranks_run(&options, NULL, alone, together, &all);
    ridge_input_free(&all.input);
    for (int type = 0; type < TYPES; type++) {
        free(all.right[type].x);
    }
    return 0;
}
