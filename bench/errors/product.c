/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - products on a device or by the model of TF32, and their errors. */
#include "bench/errors/errors.h"

#include "bench/arith/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const errors_routine errors_routines[ERRORS_ROUTINES] = {
    {"naive", ISO_VARIANT_NAIVE, ISO_MATH_STRICT, false},
    {"tiled", ISO_VARIANT_TILED, ISO_MATH_STRICT, false},
    {"fixed", ISO_VARIANT_FIXED, ISO_MATH_STRICT, false},
    {"vendor", ISO_VARIANT_VENDOR, ISO_MATH_STRICT, false},
    {"tf32", ISO_VARIANT_VENDOR, ISO_MATH_TF32, false},
    {"model", ISO_VARIANT_VENDOR, ISO_MATH_TF32, true}};

/* ---- a problem ------------------------------------------------------------------------------- */

static void exact_results(void *context, int64_t begin, int64_t end)
{
    const errors_problem *p = context;
    for (int64_t at = begin; at < end; at++) {
        const double *a = p->wide_a + at / p->n * p->k, *b = p->wide_b + at % p->n * p->k;
        errors_sum sum = {{0}};
        double magnitudes = 0;
        for (int64_t i = 0; i < p->k; i++) {
            errors_sum_add(&sum, a[i], b[i]);
            magnitudes += fabs(a[i] * b[i]);
        }
        errors_sum_round(&sum, &p->high[at], &p->low[at]);
        p->terms[at] = magnitudes;
    }
}

/* Makes an operand: `lines` rows of A or columns of B. */
static void make_operand(const errors_problem *p, int operand, uint64_t seed)
{
    int64_t lines = operand == 0 ? p->m : p->n, element = iso_dtype_size(p->dtype);
    double *wide = operand == 0 ? p->wide_a : p->wide_b;
    double *largest = operand == 0 ? p->largest_a : p->largest_b;
    unsigned char *stored = operand == 0 ? p->a : p->b;
    for (int64_t line = 0; line < lines; line++) {
        for (int64_t k = 0; k < p->k; k++) {
            unsigned char *at =
                stored + (operand == 0 ? line * p->k + k : k * p->n + line) * element;
            arith_store(p->dtype, at, errors_element(p->input, operand, seed, line, k, p->k));
            double value = arith_load(p->dtype, at);
            wide[line * p->k + k] = value;
            largest[line] = fmax(largest[line], fabs(value));
        }
    }
}

void errors_problem_make(errors_problem *out, const errors_input *input, iso_dtype dtype,
                         const int64_t size[3], uint64_t seed)
{
    static const char what[] = "operands and exact results";
    *out =
        (errors_problem){.input = input, .dtype = dtype, .m = size[0], .n = size[1], .k = size[2]};
    size_t element = (size_t)iso_dtype_size(dtype);
    size_t a = (size_t)(out->m * out->k), b = (size_t)(out->k * out->n);
    size_t c = (size_t)(out->m * out->n);
    out->a = tool_alloc(a, element, what);
    out->b = tool_alloc(b, element, what);
    out->wide_a = tool_alloc(a, sizeof(double), what);
    out->wide_b = tool_alloc(b, sizeof(double), what);
    out->largest_a = tool_alloc((size_t)out->m, sizeof(double), what);
    out->largest_b = tool_alloc((size_t)out->n, sizeof(double), what);
    out->high = tool_alloc(c, sizeof(double), what);
    out->low = tool_alloc(c, sizeof(double), what);
    out->terms = tool_alloc(c, sizeof(double), what);
    make_operand(out, 0, seed);
    make_operand(out, 1, seed);
    arith_parallel(out->m * out->n, 16, exact_results, out);
}

void errors_problem_free(errors_problem *problem)
{
    void *const blocks[] = {problem->a,      problem->b,         problem->wide_a,
                            problem->wide_b, problem->largest_a, problem->largest_b,
                            problem->high,   problem->low,       problem->terms};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        free(blocks[i]);
    }
    *problem = (errors_problem){0};
}

/* ---- products -------------------------------------------------------------------------------- */

/* Rounds to the 11 binary digits of TF32, to nearest even. */
static float to_tf32(double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits += 0xfffu + (bits >> 13 & 1u);
    bits &= ~0x1fffu;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Inputs in TF32, products without rounding, and sums in f32 in the order of the terms. */
static void run_model(const errors_problem *p, unsigned char *c)
{
    for (int64_t at = 0; at < p->m * p->n; at++) {
        const double *a = p->wide_a + at / p->n * p->k, *b = p->wide_b + at % p->n * p->k;
        float sum = 0;
        for (int64_t i = 0; i < p->k; i++) {
            sum = fmaf(to_tf32(a[i]), to_tf32(b[i]), sum);
        }
        memcpy(c + at * (int64_t)sizeof sum, &sum, sizeof sum);
    }
}

static iso_gemm_args arguments(const errors_problem *p, const errors_result *r)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = p->dtype;
    args.variant = r->routine->variant;
    args.math = r->routine->math;
    args.library = r->library;
    args.m = p->m;
    args.n = args.ldb = args.ldc = p->n;
    args.k = args.lda = p->k;
    return args;
}

static iso_status run_device(iso_device device, const errors_problem *p, const errors_result *r,
                             unsigned char *c)
{
    iso_gemm_args args = arguments(p, r);
    const int64_t element = iso_dtype_size(p->dtype);
    const int64_t bytes[3] = {p->m * p->k * element, p->k * p->n * element, p->m * p->n * element};
    iso_operand *const operands[3] = {&args.a, &args.b, &args.c};
    iso_stream stream;
    iso_status status = iso_stream_create(device, 0, &stream);
    if (status != ISO_OK) {
        return status;
    }
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = iso_buffer_create(device, bytes[i], &operands[i]->buffer);
    }
    status = status == ISO_OK ? iso_write(stream, args.a, p->a, bytes[0]) : status;
    status = status == ISO_OK ? iso_write(stream, args.b, p->b, bytes[1]) : status;
    status = status == ISO_OK ? iso_gemm(stream, &args) : status;
    status = status == ISO_OK ? iso_read(stream, c, args.c, bytes[2]) : status;
    iso_status end = status == ISO_OK ? iso_stream_sync(stream) : status;
    for (int i = 0; i < 3; i++) {
        if (operands[i]->buffer.id != 0) {
            iso_buffer_destroy(operands[i]->buffer);
        }
    }
    iso_stream_destroy(stream);
    return end;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static errors_spread spread_of(double *errors, int64_t count)
{
    qsort(errors, (size_t)count, sizeof *errors, ascending);
    double middle = errors[count / 2], below = errors[(count - 1) / 2];
    return (errors_spread){(middle + below) / 2, errors[count - 1]};
}

/* 0 of 0 is no error. */
static double part(double error, double of)
{
    return error > 0 ? error / of : 0;
}

static void judge(const errors_problem *p, const unsigned char *c, errors_result *r)
{
    int64_t count = p->m * p->n, element = iso_dtype_size(p->dtype);
    double *terms = tool_alloc(2 * (size_t)count, sizeof *terms, "errors"),
           *largest = terms + count;
    for (int64_t at = 0; at < count; at++) {
        double value = arith_load(p->dtype, c + at * element);
        double error = isfinite(value) ? fabs((value - p->high[at]) - p->low[at]) : INFINITY;
        terms[at] = part(error, p->terms[at]);
        largest[at] = part(error, (double)p->k * p->largest_a[at / p->n] * p->largest_b[at % p->n]);
    }
    r->terms = spread_of(terms, count);
    r->largest = spread_of(largest, count);
    free(terms);
}

static void fail(errors_result *r, bench_status status, const char *why)
{
    r->status = status;
    snprintf(r->reason, sizeof r->reason, "%s", why);
}

/* Whether the device computes in the mode of the routine. */
static bool describe(iso_device device, const errors_problem *p, errors_result *r)
{
    iso_gemm_args args = arguments(p, r);
    r->info = (iso_op_info)ISO_OP_INFO_INIT;
    iso_status status = iso_describe(device, ISO_OP_GEMM, &args, &r->info);
    tool_need_memory(status);
    if (status != ISO_OK) {
        fail(r, status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR, tool_reason());
    } else if (r->info.math != r->routine->math) {
        fail(r, BENCH_UNSUPPORTED, r->info.math_reason);
    }
    return r->status == BENCH_OK;
}

void errors_run(iso_device device, const errors_problem *problem, errors_result *r)
{
    size_t bytes = (size_t)(problem->m * problem->n * iso_dtype_size(problem->dtype));
    r->status = BENCH_OK;
    r->input = problem->input;
    if (problem->dtype == ISO_F16 && problem->input->wide) {
        fail(r, BENCH_UNSUPPORTED, "f16 has no numbers of the sizes of this input");
        return;
    }
    if (!r->routine->model && !describe(device, problem, r)) {
        return;
    }
    unsigned char *c = tool_alloc(bytes, 1, "the result");
    iso_status status = ISO_OK;
    if (r->routine->model) {
        run_model(problem, c);
    } else {
        status = run_device(device, problem, r, c);
    }
    tool_need_memory(status);
    if (status == ISO_OK) {
        judge(problem, c, r);
    } else {
        fail(r, BENCH_ERROR, tool_reason());
    }
    free(c);
}
