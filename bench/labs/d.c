/* SPDX-License-Identifier: Apache-2.0 */
/* d.c - the arrays lab: sums of a product's columns in four ways, ridge regression, diffusion. The
 * work itself is in examples/labs. */
#include "bench/labs/internal.h"

#include "bench/check/check.h"
#include "examples/labs/arrays.h"
#include "examples/labs/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEN = 10 };

static const iso_dtype types[] = {ISO_F32, ISO_F64};
enum { TYPES = 2 };

/* Any kernel of the text brings its program. */
static iso_status program_of(lab *l, iso_program *out)
{
    iso_kernel kernel;
    iso_status status = lab_kernel(l, LAB_ARRAYS, "diffuse_f32", &kernel);
    *out = l->programs[LAB_ARRAYS];
    return status;
}

/* ---- D1, D2, D3 ------------------------------------------------------------------------------ */

typedef struct summing {
    array_sums sums;
    array_way way;
    iso_program program;
    int times;
} summing;

static iso_status sum(lab *l, void *context)
{
    summing *s = context;
    iso_status status = ISO_OK;
    for (int i = 0; i < s->times && status == ISO_OK; i++) {
        status = array_sums_run(l->stream, s->program, &s->sums, s->way);
    }
    return status;
}

static iso_status multiply(lab *l, void *context)
{
    const array_sums *s = &((summing *)context)->sums;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = s->dtype;
    args.variant = s->variant;
    args.m = s->m;
    args.n = s->n;
    args.k = s->k;
    args.a = s->a;
    args.b = s->b;
    args.c = s->c;
    return iso_gemm(l->stream, &args);
}

static iso_status sum_columns(lab *l, void *context)
{
    summing *s = context;
    return array_sums_columns(l->stream, s->program, &s->sums);
}

/* The sums in f64, those of A's columns first; the greatest error, of the greatest sum. */
static double error_of(lab *l, const array_sums *s, const void *got)
{
    const float *a = lab_numbers(l, 1, ISO_F32, s->m * s->k);
    const float *b = lab_numbers(l, 2, ISO_F32, s->k * s->n);
    double *sums = tool_alloc((size_t)s->k, sizeof *sums, "a reference");
    double *want = tool_alloc((size_t)s->n, sizeof *want, "a reference");
    double worst = 0, most = 0;
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t p = 0; p < s->k; p++) {
            sums[p] += (double)a[i * s->k + p];
        }
    }
    for (int64_t p = 0; p < s->k; p++) {
        for (int64_t j = 0; j < s->n; j++) {
            want[j] += sums[p] * (double)b[p * s->n + j];
        }
    }
    for (int64_t j = 0; j < s->n; j++) {
        double error = fabs(lab_number(s->dtype, got, j) - want[j]);
        worst = error > worst || isnan(error) ? error : worst;
        most = fabs(want[j]) > most ? fabs(want[j]) : most;
    }
    free(sums);
    free(want);
    return worst / most;
}

static iso_status operands_of(lab *l, summing *s, iso_operand *at)
{
    array_sums *sums = &s->sums;
    const int64_t element = iso_dtype_size(sums->dtype), m = sums->m, k = sums->k, n = sums->n;
    const int64_t bytes[] = {m * k * element, k * n * element, n * element, array_sums_work(sums),
                             s->way == ARRAY_PRODUCT ? m * n * element : 0};
    iso_status status = program_of(l, &s->program);
    for (int i = 0; i < 5 && status == ISO_OK; i++) {
        status = lab_buffer(l, bytes[i], &at[i]);
    }
    status = status == ISO_OK ? lab_write(l, at[0], 1, sums->dtype, m * k) : status;
    status = status == ISO_OK ? lab_write(l, at[1], 2, sums->dtype, k * n) : status;
    sums->a = at[0];
    sums->b = at[1];
    sums->y = at[2];
    sums->work = at[3];
    sums->c = at[4];
    return status;
}

static void put_times(lab *l, json_t *entry, summing *s, const lab_times *ten, double error)
{
    lab_times product, sums;
    bool both = s->way == ARRAY_PRODUCT && lab_time(l, multiply, s, &product) == ISO_OK &&
                lab_time(l, sum_columns, s, &sums) == ISO_OK;
    const double m = (double)s->sums.m, k = (double)s->sums.k, n = (double)s->sums.n;
    const double element = (double)iso_dtype_size(s->sums.dtype);
    const double flops = s->way == ARRAY_PRODUCT || s->way == ARRAY_FUSED_PRODUCT
                             ? 2.0 * m * k * n + m * n
                             : m * k + 2.0 * k * n;
    lab_figure_of(entry, "total", "s", &ten->kernel);
    if (both) {
        lab_figure_of(entry, "product", "s", &product.kernel);
        lab_figure_of(entry, "sums", "s", &sums.kernel);
    }
    lab_figure(entry, "rate", "FLOP/s", TEN * flops / ten->kernel.median);
    lab_figure(entry, "error", "", error);
    lab_work_of(entry, TEN * flops, TEN * element * (m * k + k * n + n));
}

static void sum_way(lab *l, const char *what, array_way way, iso_variant variant, iso_dtype dtype)
{
    json_t *entry = lab_entry(l, what, dtype);
    const int64_t share = l->scale == LAB_SMALL ? 100 : l->on_cpu && l->scale != LAB_FULL ? 10 : 1;
    iso_operand at[5] = {{{0}, 0}};
    const double allowed = dtype == ISO_F64 ? 1e-8 : 1e-4;
    const int64_t element = iso_dtype_size(dtype);
    lab_times ten;
    double seconds;
    summing s = {.way = way, .times = 1};
    s.sums = (array_sums){.dtype = dtype,
                          .m = 10000 / share,
                          .k = 5000 / share,
                          .n = 7000 / share,
                          .words = !l->on_cpu,
                          .variant = variant};
    lab_case(entry, "m", (double)s.sums.m);
    lab_case(entry, "k", (double)s.sums.k);
    lab_case(entry, "n", (double)s.sums.n);
    if (!lab_fits(l, entry, element * s.sums.m * (s.sums.k + s.sums.n),
                  4 * element * s.sums.m * s.sums.k)) {
        return;
    }
    void *got = tool_alloc((size_t)s.sums.n, (size_t)element, "a result");
    iso_status status = operands_of(l, &s, at);
    status = status == ISO_OK ? lab_once(l, sum, &s, &seconds) : status;
    status = status == ISO_OK ? lab_once(l, sum, &s, &seconds) : status;
    s.times = TEN;
    if (lab_ok(l, entry, status) && TEN * seconds > lab_patience(l)) {
        lab_skip(entry,
                 "once took %.2g s, so ten times would take some %.0f s; --lab-sizes full "
                 "runs it",
                 seconds, TEN * seconds);
    } else if (status == ISO_OK) {
        status = lab_time(l, sum, &s, &ten);
        status = status == ISO_OK ? iso_read(l->stream, got, at[2], s.sums.n * element) : status;
        status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
        double error = status == ISO_OK ? error_of(l, &s.sums, got) : NAN;
        if (lab_ok(l, entry, status) &&
            lab_checked(entry, error <= allowed, "every sum to %.1g, at most %g", error, allowed)) {
            put_times(l, entry, &s, &ten, error);
        }
    }
    lab_free(at, 5);
    free(got);
}

void lab_d1(lab *l)
{
    for (int t = 0; t < TYPES; t++) {
        sum_way(l, "tiled", ARRAY_PRODUCT, ISO_VARIANT_TILED, types[t]);
        sum_way(l, "vendor", ARRAY_PRODUCT, ISO_VARIANT_VENDOR, types[t]);
    }
}

void lab_d2(lab *l)
{
    for (int t = 0; t < TYPES; t++) {
        sum_way(l, "sums first", ARRAY_SUMS_FIRST, 0, types[t]);
    }
}

void lab_d3(lab *l)
{
    for (int t = 0; t < TYPES; t++) {
        sum_way(l, "product, not stored", ARRAY_FUSED_PRODUCT, 0, types[t]);
        sum_way(l, "sums first, in one launch", ARRAY_FUSED_SUMS, 0, types[t]);
    }
}

/* ---- D4 -------------------------------------------------------------------------------------- */

typedef struct regression {
    ridge_input input;
    iso_sparse matrix;
    lsmr *solver;
    iso_operand b, x;
    ridge_point points[RIDGE_POINTS];
} regression;

static iso_status open_regression(lab *l, regression *r, int64_t n, int at_once)
{
    iso_status status = ridge_input_make(n, n, 0.1, &r->input);
    status = status == ISO_OK
                 ? ridge_input_upload(l->device, l->stream, &r->input, ISO_F32, &r->matrix, &r->b)
                 : status;
    status = status == ISO_OK ? lsmr_create(l->device, l->stream, r->matrix, at_once, &r->solver)
                              : status;
    return status == ISO_OK ? lab_buffer(l, 4 * n * at_once, &r->x) : status;
}

static void close_regression(regression *r)
{
    lsmr_destroy(r->solver);
    lab_free(&r->b, 1);
    lab_free(&r->x, 1);
    if (r->matrix.id) {
        (void)iso_sparse_destroy(r->matrix);
    }
    ridge_input_free(&r->input);
}

/* |A x - b| in f64 on the host, of the x that the device found. */
static double residual_of(const ridge_input *in, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < in->rows; i++) {
        double row = -(double)in->b[i];
        for (int32_t e = in->offsets[i]; e < in->offsets[i + 1]; e++) {
            row += (double)in->values[e] * (double)x[in->columns[e]];
        }
        sum += row * row;
    }
    return sqrt(sum);
}

static void put_points(json_t *entry, const regression *r, int at_once, double seconds)
{
    double results[RIDGE_POINTS][4];
    uint64_t digest[2];
    char shown[33];
    int64_t iterations = 0, most = 0;
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const ridge_point *p = &r->points[i];
        const int64_t these = p->result.state.iteration;
        char label[32];
        iterations += these;
        most = these > most ? these : most;
        snprintf(label, sizeof label, "%.4g", p->lambda);
        lab_curve_point(entry, "L-curve", "residual norm", "solution norm", p->residual, p->norm,
                        label);
        lab_line(entry, "lambda %10.4g  residual %11.6g  |x| %11.6g  %4lld iterations: %s",
                 p->lambda, p->residual, p->norm, (long long)these,
                 lsmr_reason_text(p->result.reason));
        memcpy(results[i], (double[]){p->residual, p->norm, p->gradient, (double)these},
               sizeof results[i]);
    }
    check_hash(results, sizeof results, digest);
    tool_digest_text(digest, shown);
    lab_line(entry, "digest of residuals, norms, gradients and iterations %s", shown);
    if (at_once > 1) {
        lab_line(entry, "the coefficients share %lld iterations", (long long)most);
        iterations = most;
    }
    lab_figure(entry, "total", "s", seconds);
    lab_figure(entry, "iterations", "", (double)iterations);
    lab_figure(entry, "iteration", "s", seconds / (double)iterations);
}

/* Whether the host's residual of the last x is the device's, and each x is a solution. */
static bool check_points(lab *l, json_t *entry, const regression *r, int at_once)
{
    const int64_t n = r->input.cols;
    const ridge_point *last = &r->points[RIDGE_POINTS - 1];
    float *x = tool_alloc((size_t)n, sizeof *x, "a solution");
    double worst = 0;
    iso_operand from = r->x;
    from.offset += 4 * n * (at_once - 1);
    iso_status status = iso_read(l->stream, x, from, 4 * n);
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    double want = status == ISO_OK ? residual_of(&r->input, x) : NAN;
    double off = fabs(last->residual - want) / want;
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const lsmr_state *s = &r->points[i].result.state;
        double gradient = r->points[i].gradient / (s->norm_a * s->residual);
        worst = gradient > worst || isnan(gradient) ? gradient : worst;
    }
    free(x);
    return lab_ok(l, entry, status) &&
           lab_checked(entry, off <= 1e-5 && worst <= 1e-4,
                       "residual within %.1g of f64's on the host, at most 1e-5; gradients %.1g of "
                       "|A||r|, at most 1e-4",
                       off, worst);
}

static void solve(lab *l, const char *what, iso_variant variant, int at_once, int64_t n)
{
    json_t *entry = lab_entry(l, what, ISO_F32);
    regression r = {.solver = NULL};
    double seconds = 0;
    lsmr_args args = lsmr_defaults();
    lab_case(entry, "n", (double)n);
    iso_status status = open_regression(l, &r, n, at_once);
    ridge_coefficients(r.points);
    args.b = r.b;
    args.x = r.x;
    args.variant = variant;
    for (int pass = 0; pass < 2 && status == ISO_OK; pass++) { /* the first one compiles */
        double began = tool_seconds();
        status = ridge_run(l->device, l->stream, r.matrix, r.solver, &args, r.points,
                           pass == 0 ? 1 : RIDGE_POINTS, at_once);
        seconds = tool_seconds() - began;
    }
    if (lab_ok(l, entry, status) && check_points(l, entry, &r, at_once)) {
        put_points(entry, &r, at_once, seconds);
    }
    close_regression(&r);
}

void lab_d4(lab *l)
{
    const int64_t n = l->scale == LAB_SMALL               ? 300
                      : l->on_cpu && l->scale != LAB_FULL ? 3000
                                                          : 15000;
    solve(l, "tiled", ISO_VARIANT_TILED, 1, n);
    solve(l, "tiled, together", ISO_VARIANT_TILED, RIDGE_POINTS, n);
    solve(l, "vendor", ISO_VARIANT_VENDOR, 1, n);
    solve(l, "vendor, together", ISO_VARIANT_VENDOR, RIDGE_POINTS, n);
}

/* ---- D5 -------------------------------------------------------------------------------------- */

typedef struct diffusing {
    array_field field;
    iso_program program;
    int64_t steps;
    int32_t each;
} diffusing;

static iso_status diffuse(lab *l, void *context)
{
    diffusing *d = context;
    return array_field_steps(l->stream, d->program, &d->field, d->steps, d->each);
}

/* A step on the host, with the kernel's order of operations. */
static void step_on_host(const float *from, float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            float up = i > 0 ? from[(i - 1) * n + j] : 0,
                  down = i < n - 1 ? from[(i + 1) * n + j] : 0;
            float left = j > 0 ? from[i * n + j - 1] : 0,
                  right = j < n - 1 ? from[i * n + j + 1] : 0;
            float old = from[i * n + j];
            float around = ((up + down) + (left + right)) - 4.0f * old;
            to[i * n + j] = fmaf(0.25f, around, old);
        }
    }
}

static iso_status read_field(lab *l, iso_operand from, float *to, int64_t n)
{
    iso_status status = iso_read(l->stream, to, from, 4 * n * n);
    return status == ISO_OK ? iso_stream_sync(l->stream) : status;
}

/* Compares some first steps with the host's, bit by bit. `field` is left with the beginning. */
static bool first_steps_agree(lab *l, diffusing *d, float *field, float *other, iso_status *status)
{
    enum { STEPS = 20 };
    const int64_t n = d->field.n, steps = d->steps;
    float *got = tool_alloc((size_t)(n * n), sizeof *got, "a field");
    *status = array_field_begin(l->stream, &d->field);
    *status = *status == ISO_OK ? read_field(l, d->field.now, field, n) : *status;
    d->steps = STEPS;
    *status = *status == ISO_OK ? diffuse(l, d) : *status;
    *status = *status == ISO_OK ? read_field(l, d->field.now, got, n) : *status;
    d->steps = steps;
    memcpy(other, field, sizeof *other * (size_t)(n * n));
    float *now = other, *next = tool_alloc((size_t)(n * n), sizeof *next, "a field"), *made = next;
    for (int i = 0; i < STEPS; i++) {
        float *swap = now;
        step_on_host(now, next, n);
        now = next;
        next = swap;
    }
    bool same = *status == ISO_OK && memcmp(got, now, sizeof *got * (size_t)(n * n)) == 0;
    free(got);
    free(made);
    return same;
}

static void diffuse_way(lab *l, int32_t each, int64_t n, int64_t steps)
{
    char what[32], shown[33];
    uint64_t digest[2];
    snprintf(what, sizeof what, each == 1 ? "a step a launch" : "%d steps a launch", (int)each);
    json_t *entry = lab_entry(l, what, ISO_F32);
    iso_operand at[2] = {{{0}, 0}};
    diffusing d = {.steps = steps, .each = each};
    double seconds = 0;
    lab_case(entry, "n", (double)n);
    lab_case(entry, "steps", (double)steps);
    float *field = tool_alloc((size_t)(n * n), sizeof *field, "a field");
    float *other = tool_alloc((size_t)(n * n), sizeof *other, "a field");
    iso_status status = program_of(l, &d.program);
    status = status == ISO_OK ? lab_buffer(l, 4 * n * n, &at[0]) : status;
    status = status == ISO_OK ? lab_buffer(l, 4 * n * n, &at[1]) : status;
    d.field = (array_field){.n = n, .now = at[0], .other = at[1]};
    bool same = status == ISO_OK && first_steps_agree(l, &d, field, other, &status);
    lab_picture(entry, "before", field, n, n);
    status = status == ISO_OK ? array_field_begin(l->stream, &d.field) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    status = status == ISO_OK ? lab_once(l, diffuse, &d, &seconds) : status;
    status = status == ISO_OK ? read_field(l, d.field.now, field, n) : status;
    status = status == ISO_OK ? array_field_laplacian(l->stream, d.program, &d.field) : status;
    status = status == ISO_OK ? read_field(l, d.field.other, other, n) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, same, "20 steps have the bits of the host's")) {
        check_hash(field, 4 * n * n, digest);
        tool_digest_text(digest, shown);
        lab_figure(entry, "step", "s", seconds / (double)steps);
        lab_line(entry, "digest of the last field %s", shown);
        lab_picture(entry, "after", field, n, n);
        lab_picture(entry, "Laplacian", other, n, n);
        lab_work_of(entry, 6.0 * (double)(n * n), 8.0 * (double)(n * n));
    }
    lab_free(at, 2);
    free(field);
    free(other);
}

void lab_d5(lab *l)
{
    const bool small = l->scale == LAB_SMALL, short_run = l->on_cpu && l->scale == LAB_USUAL;
    const int64_t n = small ? 100 : 2000, steps = small ? 50 : short_run ? 500 : 10000;
    diffuse_way(l, 1, n, steps);
    diffuse_way(l, 4, n, steps);
    diffuse_way(l, ARRAY_STEPS_MOST, n, steps);
}
