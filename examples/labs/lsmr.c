/* SPDX-License-Identifier: Apache-2.0 */
/* lsmr.c - LSMR on a device, for several damping factors at a time. The names are those of the
 * paper where it has one. */
#include "lsmr.h"

#include "lsmr.isk.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 1e-150 /* squares of less lose bits in f64 */

/* ITEMS and SLOTS as in lsmr.isk. A vector has a sum of squares for each group. */
enum { ITEMS = 256, GROUPS_MOST = 256, SLOTS = 33, RUNNING = -1 };

/* A problem's numbers, in the order of lsmr.isk; the last ones are the kernels' own. */
typedef struct problem {
    double reason; /* RUNNING, or an lsmr_reason */
    double iteration, residual, gradient, norm_x, norm_a, condition;
    double damp, atol, btol, inverse_conlim, most, norm_b;
    double alphabar, rho, zetabar, sbar, cbar, rhobar, zeta;
    double betadd, betad, rhod, thetatilde, tautilde, settled;
    double squares_a, most_rhobar, least_rhobar;
    double factors[4];
} problem;

_Static_assert(sizeof(problem) == SLOTS * sizeof(double), "as in lsmr.isk");

/* All but `host` is on the device. u and v are kept as the products left them: their norms are beta
 * and alpha. */
struct lsmr {
    iso_device device;
    iso_stream stream;
    iso_stream side; /* of the problems: a GPU runs it beside the products; else the same stream */
    iso_event made, taken; /* v is there; the problems need it no more */
    lsmr_matrix matrix;
    iso_sparse sparse; /* of lsmr_create */
    iso_program program;
    iso_kernel next, advance, update, test;
    iso_dtype dtype;
    int64_t rows, cols, row_groups, col_groups;
    int most;
    int active;                   /* up to the last problem that runs */
    iso_operand u, v, t, h, hbar; /* t: a product; h and hbar: of every problem */
    iso_operand beta, alpha, u_squares, v_squares, x_squares;
    iso_operand problems;
    problem *host;
};

/* ---- An iteration ---------------------------------------------------------------------------- */

#define LAUNCH(s, where, kernel, x, y, ...)                                                        \
    iso_launch((s)->where, (s)->kernel, (iso_groups){x, y, 1},                                     \
               (const iso_argument[]){__VA_ARGS__},                                                \
               sizeof((const iso_argument[]){__VA_ARGS__}) / sizeof(iso_argument))

static bool is_apart(const lsmr *s)
{
    return s->side.id != s->stream.id;
}

/* The next u = A v / alpha - alpha u / beta, or the next v = A' u / beta - beta v / alpha. */
static iso_status next(lsmr *s, iso_trans trans, iso_variant variant)
{
    const bool is_v = trans == ISO_TRANS;
    const int64_t count = is_v ? s->cols : s->rows, groups = is_v ? s->col_groups : s->row_groups;
    iso_status status =
        s->matrix.multiply(s->matrix.user, s->stream, trans, variant, is_v ? s->u : s->v, s->t);

    if (is_v && is_apart(s)) {
        status = status ? status : iso_stream_wait(s->stream, s->taken);
    }
    return status ? status
                  : LAUNCH(s, stream, next, groups, 1, iso_arg_buffer(s->t),
                           iso_arg_buffer(is_v ? s->v : s->u), iso_arg_integer(count),
                           iso_arg_buffer(is_v ? s->u_squares : s->v_squares),
                           iso_arg_integer(is_v ? s->row_groups : s->col_groups),
                           iso_arg_buffer(is_v ? s->alpha : s->beta),
                           iso_arg_buffer(is_v ? s->beta : s->alpha),
                           iso_arg_buffer(is_v ? s->v_squares : s->u_squares));
}

static iso_status iterate(lsmr *s, const lsmr_args *args)
{
    iso_status status = next(s, ISO_NO_TRANS, args->variant);
    status = status ? status : next(s, ISO_TRANS, args->variant);
    if (is_apart(s)) {
        status = status ? status : iso_event_record(s->made, s->stream);
        status = status ? status : iso_stream_wait(s->side, s->made);
    }
    status = status ? status
                    : LAUNCH(s, side, advance, 1, 1, iso_arg_buffer(s->v_squares),
                             iso_arg_integer(s->col_groups), iso_arg_buffer(s->beta),
                             iso_arg_buffer(s->problems), iso_arg_integer(s->active));
    status = status ? status
                    : LAUNCH(s, side, update, s->col_groups, s->active, iso_arg_buffer(s->problems),
                             iso_arg_integer(s->active), iso_arg_buffer(s->v), iso_arg_buffer(s->h),
                             iso_arg_buffer(s->hbar), iso_arg_buffer(args->x),
                             iso_arg_integer(s->cols), iso_arg_buffer(s->x_squares));
    if (is_apart(s)) {
        status = status ? status : iso_event_record(s->taken, s->side);
    }
    return status ? status
                  : LAUNCH(s, side, test, s->active, 1, iso_arg_buffer(s->x_squares),
                           iso_arg_integer(s->col_groups), iso_arg_buffer(s->problems),
                           iso_arg_integer(s->active));
}

/* ---- The beginning --------------------------------------------------------------------------- */

static iso_status zero(lsmr *s, iso_operand at, int64_t bytes)
{
    const unsigned char none = 0;
    return iso_fill(s->stream, at, &none, 1, bytes);
}

/* The norm of a vector, of its sums of squares. Waits. */
static iso_status look(lsmr *s, iso_operand squares, int64_t groups, double *norm)
{
    double *sums = (double *)s->host, sum = 0;
    iso_status status = iso_read(s->stream, sums, squares, groups * (int64_t)sizeof *sums);
    status = status ? status : iso_stream_sync(s->stream);
    for (int64_t i = 0; !status && i < groups; i++) {
        sum += sums[i];
    }
    *norm = sqrt(sum);
    return status;
}

/* The reason to stop before the first iteration, where the norm of b or of the first v is too small
 * or not finite. The library's norm scales, so it has every size. */
static iso_status look_closer(lsmr *s, iso_operand x, int64_t count, lsmr_reason *reason)
{
    unsigned char found[sizeof(double)];
    double norm;
    float single;
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

    args.op = ISO_NORM2;
    args.dtype = s->dtype;
    args.variant = ISO_VARIANT_TILED;
    args.cols = count;
    args.x = x;
    args.result = s->t;
    iso_status status = iso_reduce(s->stream, &args);
    status = status ? status : iso_read(s->stream, found, s->t, iso_dtype_size(s->dtype));
    status = status ? status : iso_stream_sync(s->stream);
    if (status) {
        return status;
    }
    memcpy(&norm, found, sizeof norm);
    memcpy(&single, found, sizeof single);
    norm = s->dtype == ISO_F64 ? norm : (double)single;
    *reason = norm == 0 ? LSMR_ZERO : isfinite(norm) ? LSMR_RANGE : LSMR_NOT_FINITE;
    return ISO_OK;
}

/* u = b and v = A' u / beta: the norms of nothing before them are 1 and 0. */
static iso_status first_vectors(lsmr *s, const lsmr_args *args, double *beta, double *alpha)
{
    const double one = 1;
    const int64_t each = iso_dtype_size(s->dtype), sum = sizeof one;
    iso_status status = zero(s, args->x, args->count * s->cols * each);

    *alpha = 0;
    status = status ? status : zero(s, s->hbar, args->count * s->cols * each);
    status = status ? status : zero(s, s->u, s->rows * each);
    status = status ? status : zero(s, s->v, s->cols * each);
    status = status ? status : zero(s, s->beta, sum);
    status = status ? status : zero(s, s->v_squares, s->col_groups * sum);
    status = status ? status : iso_fill(s->stream, s->v_squares, &one, sizeof one, sum);
    status = status ? status
                    : LAUNCH(s, stream, next, s->row_groups, 1, iso_arg_buffer(args->b),
                             iso_arg_buffer(s->u), iso_arg_integer(s->rows),
                             iso_arg_buffer(s->v_squares), iso_arg_integer(s->col_groups),
                             iso_arg_buffer(s->beta), iso_arg_buffer(s->alpha),
                             iso_arg_buffer(s->u_squares));
    status = status ? status : look(s, s->u_squares, s->row_groups, beta);
    if (status || !(*beta > 0)) {
        return status;
    }
    if (is_apart(s)) {
        status = iso_event_record(s->taken, s->side);
    }
    status = status ? status : next(s, ISO_TRANS, args->variant);
    return status ? status : look(s, s->v_squares, s->col_groups, alpha);
}

/* h = the unit v, for every problem; and its numbers. */
static iso_status first_problems(lsmr *s, const lsmr_args *args, double beta, double alpha)
{
    const int64_t bytes = s->cols * iso_dtype_size(s->dtype);
    const int64_t least = s->rows < s->cols ? s->rows : s->cols;
    iso_map_args scale = ISO_MAP_ARGS_INIT;
    iso_status status = ISO_OK;

    scale.op = ISO_MAP_SCALE;
    scale.dtype = s->dtype;
    scale.n = s->cols;
    scale.alpha = 1 / alpha;
    scale.x = s->v;
    scale.z = s->h;
    for (int i = 0; !status && i < args->count; i++) {
        s->host[i] = (problem){.reason = RUNNING,
                               .damp = args->damps[i],
                               .atol = args->atol,
                               .btol = args->btol,
                               .inverse_conlim = args->conlim > 0 ? 1 / args->conlim : -1,
                               .most = (double)(args->most > 0 ? args->most : least),
                               .norm_b = beta,
                               .alphabar = alpha,
                               .rho = 1,
                               .zetabar = alpha * beta,
                               .cbar = 1,
                               .rhobar = 1,
                               .betadd = beta,
                               .rhod = 1,
                               .squares_a = alpha * alpha,
                               .least_rhobar = 1e100};
        status = iso_map(s->stream, &scale);
        scale.z.offset += bytes;
    }
    return status
               ? status
               : iso_write(s->stream, s->problems, s->host, args->count * (int64_t)sizeof *s->host);
}

/* ---- Until all problems are finished --------------------------------------------------------- */

static lsmr_result result_of(const problem *p)
{
    const lsmr_state state = {(int64_t)p->iteration, p->residual, p->gradient, p->norm_x, p->norm_a,
                              p->condition};
    return (lsmr_result){(lsmr_reason)(int)p->reason, state};
}

/* Looks at the problems, and asks the caller about those that run. Waits. */
static iso_status look_around(lsmr *s, const lsmr_args *args)
{
    const int64_t bytes = args->count * (int64_t)sizeof *s->host;
    bool stopped = false;
    iso_status status = iso_read(s->side, s->host, s->problems, bytes);

    status = status ? status : iso_stream_sync(s->side);
    s->active = 0;
    for (int i = 0; !status && i < args->count; i++) {
        problem *p = &s->host[i];
        if (p->reason == RUNNING && args->each) {
            const lsmr_state state = result_of(p).state;
            p->reason = args->each(args->user, i, &state) ? LSMR_STOPPED : RUNNING;
            stopped = stopped || p->reason == LSMR_STOPPED;
        }
        s->active = p->reason == RUNNING ? i + 1 : s->active;
    }
    return status || !stopped ? status : iso_write(s->side, s->problems, s->host, bytes);
}

iso_status lsmr_solve(lsmr *s, const lsmr_args *args, lsmr_result *results)
{
    enum { OFTEN = 8, BATCH_MOST = 16 };
    double beta = 0, alpha = 0;
    iso_status status = ISO_INVALID;

    if (args->count < 1 || args->count > s->most) {
        return status;
    }
    for (int i = 0; i < args->count; i++) {
        if (!(args->damps[i] >= 0 && isfinite(args->damps[i]))) {
            return status;
        }
    }
    status = first_vectors(s, args, &beta, &alpha);
    if (!status && (!isfinite(alpha + beta) || alpha < LEAST || beta < LEAST)) {
        const bool is_b = !isfinite(beta) || beta < LEAST;
        lsmr_reason reason = LSMR_ZERO;
        status = look_closer(s, is_b ? args->b : s->v, is_b ? s->rows : s->cols, &reason);
        for (int i = 0; i < args->count; i++) {
            results[i] = (lsmr_result){reason, {.residual = beta}};
        }
        return status;
    }
    if (status) {
        return status;
    }
    status = first_problems(s, args, beta, alpha);
    s->active = args->count;
    for (int64_t done = 0; !status && s->active > 0;) {
        /* A look stops the device for some time, so there are more iterations from one to the next.
         */
        const int64_t usual = 1 + done / OFTEN, most = args->each ? 1 : BATCH_MOST;
        const int64_t batch = usual < most ? usual : most;
        for (int64_t i = 0; !status && i < batch; i++) {
            status = iterate(s, args);
        }
        status = status ? status : look_around(s, args);
        done += batch;
    }
    for (int i = 0; !status && i < args->count; i++) {
        results[i] = result_of(&s->host[i]);
    }
    /* Also after an error: nothing of this solution may be under way when the next begins. */
    const iso_status side = iso_stream_sync(s->side), end = iso_stream_sync(s->stream);
    return status ? status : side ? side : end;
}

/* ---- The solver ------------------------------------------------------------------------------ */

lsmr_args lsmr_defaults(void)
{
    static const double none = 0;
    return (lsmr_args){.damps = &none, .count = 1, .atol = 1e-6, .btol = 1e-6, .conlim = 1e8};
}

const char *lsmr_reason_text(lsmr_reason reason)
{
    static const char *const texts[] = {
        [LSMR_ZERO] = "x = 0 is the solution",
        [LSMR_RESIDUAL] = "A x = b is solved",
        [LSMR_GRADIENT] = "the least squares are found",
        [LSMR_CONDITION] = "the condition of A is too large",
        [LSMR_RESIDUAL_EPS] = "A x = b is solved as exactly as can be",
        [LSMR_GRADIENT_EPS] = "the least squares are found as exactly as can be",
        [LSMR_CONDITION_EPS] = "A is singular as far as can be told",
        [LSMR_MOST] = "the greatest number of iterations",
        [LSMR_STOPPED] = "the caller stopped it",
        [LSMR_NOT_FINITE] = "a norm is infinite or NaN",
        [LSMR_RANGE] = "the squares of a norm do not fit f64",
    };
    return (size_t)reason < sizeof texts / sizeof *texts ? texts[reason] : "unknown";
}

static int64_t groups_of(int64_t count)
{
    const int64_t groups = (count + ITEMS - 1) / ITEMS;
    return groups < 1 ? 1 : groups < GROUPS_MOST ? groups : GROUPS_MOST;
}

static iso_status make_kernels(lsmr *s)
{
    const bool wide = s->dtype == ISO_F64;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    const struct {
        iso_kernel *kernel;
        const char *name;
    } kernels[] = {{&s->next, wide ? "lsmr_next_f64" : "lsmr_next_f32"},
                   {&s->advance, "lsmr_advance"},
                   {&s->update, wide ? "lsmr_update_f64" : "lsmr_update_f32"},
                   {&s->test, "lsmr_test"}};
    args.embedded = &lsmr_isk;
    iso_status status = iso_program_create(s->device, &args, &s->program);

    for (size_t i = 0; !status && i < sizeof kernels / sizeof *kernels; i++) {
        status = iso_kernel_get(s->program, kernels[i].name, kernels[i].kernel);
    }
    return status;
}

enum { OPERANDS = 11 };

typedef struct space {
    iso_operand *operand;
    int64_t bytes;
} space;

static void spaces_of(lsmr *s, space out[OPERANDS])
{
    const int64_t each = iso_dtype_size(s->dtype), sum = sizeof(double);
    int64_t larger = s->rows > s->cols ? s->rows : s->cols;

    larger = larger > s->matrix.room ? larger : s->matrix.room;
    const space all[OPERANDS] = {{&s->u, s->rows * each},
                                 {&s->v, s->cols * each},
                                 {&s->t, larger * each},
                                 {&s->h, s->most * s->cols * each},
                                 {&s->hbar, s->most * s->cols * each},
                                 {&s->beta, sum},
                                 {&s->alpha, sum},
                                 {&s->u_squares, s->row_groups * sum},
                                 {&s->v_squares, s->col_groups * sum},
                                 {&s->x_squares, s->most * s->col_groups * sum},
                                 {&s->problems, s->most * (int64_t)sizeof(problem)}};
    memcpy(out, all, sizeof all);
}

/* A CPU has its threads for the products: a second stream would take them away. */
static iso_status make_side(lsmr *s)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_status status = iso_device_get_info(s->device, &info);

    s->side = s->stream;
    if (status || info.type != ISO_DEVICE_GPU) {
        return status;
    }
    status = iso_stream_create(s->device, 0, &s->side);
    status = status ? status : iso_event_create(s->device, &s->made);
    return status ? status : iso_event_create(s->device, &s->taken);
}

static iso_status make(lsmr *s)
{
    int64_t bytes = s->most * (int64_t)sizeof(problem);
    space spaces[OPERANDS];
    iso_status status = make_side(s);

    status = status ? status : make_kernels(s);
    spaces_of(s, spaces);
    for (size_t i = 0; !status && i < OPERANDS; i++) {
        status = iso_buffer_create(s->device, spaces[i].bytes, &spaces[i].operand->buffer);
    }
    if (bytes < GROUPS_MOST * (int64_t)sizeof(double)) {
        bytes = GROUPS_MOST * (int64_t)sizeof(double); /* look() reads sums there */
    }
    return status ? status : iso_host_alloc(s->device, bytes, (void **)&s->host, NULL);
}

iso_status lsmr_create_for(iso_device device, iso_stream stream, const lsmr_matrix *matrix,
                           int most, lsmr **out)
{
    iso_status status = most < 1 || most > ITEMS ? ISO_INVALID : ISO_OK;
    lsmr *s = status ? NULL : calloc(1, sizeof *s);

    *out = NULL;
    if (!s) {
        return status ? status : ISO_NO_MEMORY;
    }
    s->device = device;
    s->stream = stream;
    s->matrix = *matrix;
    s->dtype = matrix->dtype;
    s->rows = matrix->rows;
    s->cols = matrix->cols;
    s->row_groups = groups_of(s->rows);
    s->col_groups = groups_of(s->cols);
    s->most = most;
    status = make(s);
    if (status) {
        lsmr_destroy(s);
        return status;
    }
    *out = s;
    return ISO_OK;
}

static iso_status multiply_sparse(void *user, iso_stream stream, iso_trans trans,
                                  iso_variant variant, iso_operand x, iso_operand y)
{
    const lsmr *s = user;
    iso_spmv_args product = ISO_SPMV_ARGS_INIT;

    product.variant = variant;
    product.trans = trans;
    product.matrix = s->sparse;
    product.x = x;
    product.y = y;
    return iso_spmv(stream, &product);
}

iso_status lsmr_create(iso_device device, iso_stream stream, iso_sparse matrix, int most,
                       lsmr **out)
{
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    iso_status status = iso_sparse_get_info(matrix, &info);
    const lsmr_matrix made = {
        .dtype = info.dtype, .rows = info.rows, .cols = info.cols, .multiply = multiply_sparse};

    *out = NULL;
    status = status ? status : lsmr_create_for(device, stream, &made, most, out);
    if (!status) {
        (*out)->sparse = matrix;
        (*out)->matrix.user = *out;
    }
    return status;
}

void lsmr_destroy(lsmr *s)
{
    space spaces[OPERANDS];

    if (!s) {
        return;
    }
    if (s->made.id) {
        (void)iso_event_destroy(s->made);
    }
    if (s->taken.id) {
        (void)iso_event_destroy(s->taken);
    }
    if (is_apart(s) && s->side.id) {
        (void)iso_stream_destroy(s->side);
    }
    spaces_of(s, spaces);
    for (size_t i = 0; i < OPERANDS; i++) {
        if (spaces[i].operand->buffer.id) {
            (void)iso_buffer_destroy(spaces[i].operand->buffer);
        }
    }
    if (s->host) {
        (void)iso_host_free(s->device, s->host);
    }
    if (s->program.id) {
        (void)iso_program_destroy(s->program);
    }
    free(s);
}
