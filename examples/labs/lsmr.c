/* SPDX-License-Identifier: Apache-2.0 */
/* lsmr.c - LSMR on a device. The names are those of the paper where it has one. */
#include "lsmr.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256, GROUPS_MOST = 256, SQUARES_AT = 16 };

/* What the device gives to the host: a norm of the matrix's type, and the sums of squares of x. */
typedef struct figures {
    unsigned char norm[SQUARES_AT];
    double squares[GROUPS_MOST];
} figures;

/* u and v are kept as the products left them: u / beta and v / alpha are the unit vectors. */
struct lsmr {
    iso_device device;
    iso_stream stream;
    iso_sparse matrix;
    iso_kernel update;
    iso_dtype dtype;
    int64_t rows, cols, groups;
    iso_operand u, v, h, hbar, figures; /* on the device */
    figures *host;
    iso_variant variant;
};

/* ---- Scalars: the two QR factorizations of the paper ----------------------------------------- */

typedef struct rotation {
    double c, s, r;
} rotation;

/* c a + s b = r and s a - c b = 0. */
static rotation rotate(double a, double b)
{
    const double r = hypot(a, b);
    return r > 0 ? (rotation){a / r, b / r, r} : (rotation){1, 0, 0};
}

typedef struct scalars {
    double alpha, beta;         /* of the bidiagonalization */
    double alphabar, rho;       /* of the first factorization, */
    double zetabar, sbar, cbar; /* of the second, */
    double rhobar, zeta;        /* and what the next iteration needs of both */
    double betadd, betad;       /* the right-hand side of the residual's estimate */
    double rhod, thetatilde, tautilde;
    double d;         /* squares of the residual that no longer change */
    double squares_a; /* of A's bidiagonal form */
    double most_rhobar, least_rhobar;
    double norm_b;
} scalars;

/* What an iteration does to the vectors. */
typedef struct factors {
    double v, h, hbar, x;
} factors;

static scalars begin(double beta, double alpha)
{
    return (scalars){.alpha = alpha,
                     .beta = beta,
                     .alphabar = alpha,
                     .rho = 1,
                     .zetabar = alpha * beta,
                     .cbar = 1,
                     .rhobar = 1,
                     .betadd = beta,
                     .rhod = 1,
                     .squares_a = alpha * alpha,
                     .least_rhobar = 1e100,
                     .norm_b = beta};
}

/* |r|, from the rotations of this iteration. */
static double residual(scalars *k, rotation hat, rotation first, double thetabar, double zeta_was)
{
    const double acute = hat.c * k->betadd, check = -hat.s * k->betadd;
    const double betahat = first.c * acute, thetatilde_was = k->thetatilde;
    const rotation tilde = rotate(k->rhod, thetabar);
    double tau;

    k->betadd = -first.s * acute;
    k->thetatilde = tilde.s * k->rhobar;
    k->rhod = tilde.c * k->rhobar;
    k->betad = -tilde.s * k->betad + tilde.c * betahat;
    k->tautilde = (zeta_was - thetatilde_was * k->tautilde) / tilde.r;
    tau = (k->zeta - k->thetatilde * k->tautilde) / k->rhod;
    k->d += check * check;
    return sqrt(k->d + (k->betad - tau) * (k->betad - tau) + k->betadd * k->betadd);
}

/* Takes the norms of the new u and v into the factorizations. */
static factors advance(scalars *k, double damp, double beta, double alpha, lsmr_state *state)
{
    const rotation hat = rotate(k->alphabar, damp);
    const rotation first = rotate(hat.r, beta);
    const double theta = first.s * alpha, thetabar = k->sbar * first.r, rhotemp = k->cbar * first.r;
    const double rho_was = k->rho, rhobar_was = k->rhobar, zeta_was = k->zeta;
    const rotation second = rotate(rhotemp, theta);
    factors f;

    k->alpha = alpha;
    k->beta = beta;
    k->alphabar = first.c * alpha;
    k->rho = first.r;
    k->cbar = second.c;
    k->sbar = second.s;
    k->rhobar = second.r;
    k->zeta = k->cbar * k->zetabar;
    k->zetabar = -k->sbar * k->zetabar;
    f.v = alpha > 0 ? 1 / alpha : 0;
    f.h = theta / k->rho;
    f.hbar = thetabar * k->rho / (rho_was * rhobar_was);
    f.x = k->zeta / (k->rho * k->rhobar);

    k->squares_a += beta * beta;
    k->most_rhobar = fmax(k->most_rhobar, rhobar_was);
    if (state->iteration > 0) { /* the first rhobar is none of A's */
        k->least_rhobar = fmin(k->least_rhobar, rhobar_was);
    }
    state->iteration++;
    state->residual = residual(k, hat, first, thetabar, zeta_was);
    state->gradient = fabs(k->zetabar);
    state->norm_a = sqrt(k->squares_a);
    state->condition = fmax(k->most_rhobar, rhotemp) / fmin(k->least_rhobar, rhotemp);
    k->squares_a += alpha * alpha;
    return f;
}

/* Whether to stop after an iteration. */
static bool finished(const lsmr_args *args, const scalars *k, const lsmr_state *s, int64_t most,
                     lsmr_reason *reason)
{
    const double size = s->norm_a * s->norm_x;
    const double relative = s->residual / k->norm_b;
    const double slope =
        s->norm_a * s->residual > 0 ? s->gradient / (s->norm_a * s->residual) : HUGE_VAL;
    const double inverse = 1 / s->condition;
    const struct {
        bool holds;
        lsmr_reason reason;
    } tests[] = {
        {relative <= args->btol + args->atol * size / k->norm_b, LSMR_RESIDUAL},
        {slope <= args->atol, LSMR_GRADIENT},
        {args->conlim > 0 && inverse <= 1 / args->conlim, LSMR_CONDITION},
        {1 + relative / (1 + size / k->norm_b) <= 1, LSMR_RESIDUAL_EPS},
        {1 + slope <= 1, LSMR_GRADIENT_EPS},
        {1 + inverse <= 1, LSMR_CONDITION_EPS},
        {s->iteration >= most, LSMR_MOST},
        {args->each && args->each(args->user, s), LSMR_STOPPED},
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (tests[i].holds) {
            *reason = tests[i].reason;
            return true;
        }
    }
    return false;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* y = factor A x + keep y, or A', and its norm on the device. */
static iso_status multiply(lsmr *s, iso_trans trans, double factor, iso_operand x, double keep,
                           iso_operand y)
{
    const int64_t count = trans == ISO_TRANS ? s->cols : s->rows;
    iso_spmv_args product = ISO_SPMV_ARGS_INIT;
    iso_reduce_args norm = ISO_REDUCE_ARGS_INIT;

    product.variant = s->variant;
    product.trans = trans;
    product.matrix = s->matrix;
    product.alpha = factor;
    product.beta = keep;
    product.x = x;
    product.y = y;
    norm.op = ISO_NORM2;
    norm.dtype = s->dtype;
    norm.variant = ISO_VARIANT_TILED;
    norm.cols = count;
    norm.x = y;
    norm.result = s->figures;
    const iso_status status = iso_spmv(s->stream, &product);
    return status ? status : iso_reduce(s->stream, &norm);
}

/* Waits for the figures that were computed last. */
static iso_status look(lsmr *s, double *norm, double *norm_x)
{
    const int64_t bytes = SQUARES_AT + s->groups * (int64_t)sizeof(double);
    iso_status status = iso_read(s->stream, s->host, s->figures, bytes);
    double squares = 0;
    float single;

    status = status ? status : iso_stream_sync(s->stream);
    if (status) {
        return status;
    }
    if (s->dtype == ISO_F64) {
        memcpy(norm, s->host->norm, sizeof *norm);
    } else {
        memcpy(&single, s->host->norm, sizeof single);
        *norm = single;
    }
    for (int64_t i = 0; i < s->groups; i++) {
        squares += s->host->squares[i];
    }
    *norm_x = sqrt(squares);
    return ISO_OK;
}

/* hbar, x and h in one launch. */
static iso_status update(lsmr *s, factors f, iso_operand x)
{
    iso_operand squares = s->figures;
    squares.offset += SQUARES_AT;
    const iso_argument arguments[] = {iso_arg_float(f.v),       iso_arg_float(f.h),
                                      iso_arg_float(f.hbar),    iso_arg_float(f.x),
                                      iso_arg_buffer(s->v),     iso_arg_buffer(s->h),
                                      iso_arg_buffer(s->hbar),  iso_arg_buffer(x),
                                      iso_arg_integer(s->cols), iso_arg_buffer(squares)};
    return iso_launch(s->stream, s->update, (iso_groups){s->groups, 1, 1}, arguments,
                      sizeof arguments / sizeof *arguments);
}

/* u = b, v = A' u; h = the unit v; x and hbar are 0. */
static iso_status start(lsmr *s, const lsmr_args *args, double *beta, double *alpha)
{
    const int64_t each = iso_dtype_size(s->dtype);
    const unsigned char zero = 0;
    iso_reduce_args norm = ISO_REDUCE_ARGS_INIT;
    iso_map_args scale = ISO_MAP_ARGS_INIT;
    iso_status status = iso_copy(s->stream, s->u, args->b, s->rows * each);
    double norm_x;

    norm.op = ISO_NORM2;
    norm.dtype = s->dtype;
    norm.variant = ISO_VARIANT_TILED;
    norm.cols = s->rows;
    norm.x = s->u;
    norm.result = s->figures;
    *alpha = 0;
    status = status ? status : iso_fill(s->stream, args->x, &zero, 1, s->cols * each);
    status = status ? status : iso_fill(s->stream, s->hbar, &zero, 1, s->cols * each);
    status = status ? status : iso_fill(s->stream, s->figures, &zero, 1, sizeof(figures));
    status = status ? status : iso_reduce(s->stream, &norm);
    status = status ? status : look(s, beta, &norm_x);
    if (status || !(*beta > 0)) {
        return status;
    }
    status = multiply(s, ISO_TRANS, 1 / *beta, s->u, 0, s->v);
    status = status ? status : look(s, alpha, &norm_x);
    if (status || !(*alpha > 0)) {
        return status;
    }
    scale.op = ISO_MAP_SCALE;
    scale.dtype = s->dtype;
    scale.n = s->cols;
    scale.alpha = 1 / *alpha;
    scale.x = s->v;
    scale.z = s->h;
    return iso_map(s->stream, &scale);
}

iso_status lsmr_solve(lsmr *s, const lsmr_args *args, lsmr_result *result)
{
    const int64_t least = s->rows < s->cols ? s->rows : s->cols;
    const int64_t most = args->most > 0 ? args->most : least;
    double beta = 0, alpha = 0;
    scalars k;

    *result = (lsmr_result){LSMR_ZERO, {0}};
    s->variant = args->variant;
    iso_status status = start(s, args, &beta, &alpha);
    result->state.residual = beta;
    if (status || !isfinite(alpha + beta) || alpha == 0) {
        result->reason = isfinite(alpha + beta) ? LSMR_ZERO : LSMR_NOT_FINITE;
        return status;
    }
    k = begin(beta, alpha);
    for (;;) {
        /* The norm of x comes with that of the next u: the host waits once for both. */
        status = multiply(s, ISO_NO_TRANS, 1 / k.alpha, s->v, -k.alpha / k.beta, s->u);
        status = status ? status : look(s, &beta, &result->state.norm_x);
        if (status || (result->state.iteration > 0 &&
                       finished(args, &k, &result->state, most, &result->reason))) {
            return status;
        }
        alpha = 0;
        if (beta > 0) {
            double unused;
            status = multiply(s, ISO_TRANS, 1 / beta, s->u, -beta / k.alpha, s->v);
            status = status ? status : look(s, &alpha, &unused);
        }
        if (status || !isfinite(alpha + beta)) {
            result->reason = LSMR_NOT_FINITE;
            return status;
        }
        status = update(s, advance(&k, args->damp, beta, alpha, &result->state), args->x);
        if (status) {
            return status;
        }
    }
}

/* ---- The solver ------------------------------------------------------------------------------ */

lsmr_args lsmr_defaults(void)
{
    return (lsmr_args){.atol = 1e-6, .btol = 1e-6, .conlim = 1e8};
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
    };
    return (size_t)reason < sizeof texts / sizeof *texts ? texts[reason] : "unknown";
}

static iso_status make(lsmr *s, iso_program program)
{
    const int64_t each = iso_dtype_size(s->dtype);
    const struct {
        iso_operand *operand;
        int64_t bytes;
    } vectors[] = {{&s->u, s->rows * each},
                   {&s->v, s->cols * each},
                   {&s->h, s->cols * each},
                   {&s->hbar, s->cols * each},
                   {&s->figures, sizeof(figures)}};
    const char *const name = s->dtype == ISO_F64 ? "lsmr_update_f64" : "lsmr_update_f32";
    iso_status status = iso_kernel_get(program, name, &s->update);

    for (size_t i = 0; !status && i < sizeof vectors / sizeof *vectors; i++) {
        status = iso_buffer_create(s->device, vectors[i].bytes, &vectors[i].operand->buffer);
    }
    return status ? status : iso_host_alloc(s->device, sizeof *s->host, (void **)&s->host, NULL);
}

iso_status lsmr_create(iso_device device, iso_stream stream, iso_program program, iso_sparse matrix,
                       lsmr **out)
{
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    iso_status status = iso_sparse_get_info(matrix, &info);
    lsmr *s = status ? NULL : calloc(1, sizeof *s);

    *out = NULL;
    if (!s) {
        return status ? status : ISO_NO_MEMORY;
    }
    s->device = device;
    s->stream = stream;
    s->matrix = matrix;
    s->dtype = info.dtype;
    s->rows = info.rows;
    s->cols = info.cols;
    s->groups = (info.cols + ITEMS - 1) / ITEMS;
    s->groups = s->groups < GROUPS_MOST ? s->groups : GROUPS_MOST;
    status = make(s, program);
    if (status) {
        lsmr_destroy(s);
        return status;
    }
    *out = s;
    return ISO_OK;
}

void lsmr_destroy(lsmr *s)
{
    if (!s) {
        return;
    }
    const iso_operand vectors[] = {s->u, s->v, s->h, s->hbar, s->figures};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (vectors[i].buffer.id) {
            (void)iso_buffer_destroy(vectors[i].buffer);
        }
    }
    if (s->host) {
        (void)iso_host_free(s->device, s->host);
    }
    free(s);
}
