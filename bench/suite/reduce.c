/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - reductions: their data, what is expected, and the judgement.
 *
 * `tiled` is held to its bits; min, max, argmin, argmax and all of integers are in every variant.
 * The others are held to a bound that is right for any order of evaluation. With u the unit
 * roundoff of the accumulation type and n terms, each term meets at most n roundings: sum,
 * magnitudes, dot, mean   (n+2) u sum|term|    (the mean's divided by n) 2-norm (n+4) u |result|
 * (all terms are positive; the root halves it) product                      (n+1) u |result|, and
 * where all factors are at most 1 in size but the result may vanish, n times half the smallest
 * subnormal times 1.01 or, where n u is not small, the exact n u / (1 - n u); and one rounding to
 * the stored type. Such a bound is loose for long sequences, so most of their fills are small whole
 * numbers, for which every order is exact and the bound 0.
 */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_X, DENSE_Y, EXPECTED, WANT, BOUND };

static bool exact_op(const suite_case *item)
{
    iso_reduce_op op = item->reduce.op;
    return !arith_is_float(item->dtype) || op == ISO_MIN || op == ISO_MAX || op == ISO_ARGMIN ||
           op == ISO_ARGMAX;
}

/* Whether every order of evaluation gives the same number. The mean's one division and the root are
 * rounded the same way by all. */
static bool exact_fill(const suite_case *item)
{
    if (item->reduce.op == ISO_PRODUCT) {
        return item->fill == ARITH_POWERS;
    }
    if (item->reduce.op == ISO_NORM2) {
        return false;
    }
    return item->fill == ARITH_INTS || item->fill == ARITH_SPARSE || item->fill == ARITH_ZEROS;
}

static long double term_of(const suite_case *item, const char *x, const char *y)
{
    long double value = arith_load(item->dtype, x);
    if (item->reduce.op == ISO_DOT) {
        return value * arith_load(item->dtype, y);
    }
    if (item->reduce.op == ISO_NORM2) {
        return value * value;
    }
    return item->reduce.op == ISO_ASUM ? fabsl(value) : value;
}

/* The reference of one sequence in long double, and the bound of any order of evaluation. */
static void refer(const suite_case *item, const char *x, const char *y, int64_t n, int64_t step,
                  long double *want, double *bound)
{
    iso_dtype wide = item->dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    int64_t size = iso_dtype_size(item->dtype);
    iso_reduce_op op = item->reduce.op;
    long double total = op == ISO_PRODUCT ? 1 : 0, magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        long double term = term_of(item, x + i * step * size, y ? y + i * step * size : NULL);
        if (op == ISO_PRODUCT) {
            total *= term;
        } else {
            total += term;
        }
        magnitude += fabsl(term);
    }
    if (op == ISO_NORM2) {
        total = sqrtl(total);
    }
    if (op == ISO_NORM2 || op == ISO_PRODUCT) {
        magnitude = fabsl(total);
    }
    if (op == ISO_MEAN) {
        total /= (long double)n;
        magnitude /= (long double)n;
    }
    double nu = ((double)n + 4) * arith_roundoff(wide);
    double growth = nu < 0.5 ? nu / (1 - nu) : nu * exp(nu);
    double vanish = op == ISO_PRODUCT || op == ISO_DOT || op == ISO_MEAN ? (double)n + 2 : 2;
    *want = total;
    *bound =
        1.01 * (growth * (double)magnitude + arith_roundoff(item->dtype) * fabs((double)total) +
                vanish * arith_half_smallest(wide) + arith_half_smallest(item->dtype));
}

static bool make_room(suite_data *d, const suite_case *item)
{
    const suite_reduce_case *r = &item->reduce;
    int64_t size = iso_dtype_size(item->dtype), out = iso_dtype_size(d->type);
    int64_t bytes = r->rows * r->cols * size;
    return suite_region_init(&d->in[0], size, r->rows, r->cols, r->pad, r->offset, 1, 0, true) &&
           suite_region_init(&d->in[1], size, r->rows, r->cols, r->pad ? r->pad + 1 : 0, 0, 1, 0,
                             true) &&
           suite_region_init(&d->out, out, 1, d->results, 0, r->offset, 1, 0, false) &&
           suite_grow(&d->blocks[DENSE_X], bytes) && suite_grow(&d->blocks[DENSE_Y], bytes) &&
           suite_grow(&d->blocks[EXPECTED], d->results * out) &&
           suite_grow(&d->blocks[WANT], d->results * (int64_t)sizeof(long double)) &&
           suite_grow(&d->blocks[BOUND], d->results * 8);
}

static bool check_model(const suite_data *d, const suite_case *item, suite_result *result)
{
    /* A product of numbers under 1 may vanish in one order and not in another, and overflow or
     * infinities between huge numbers depend on the order too: there the bits alone are defined. */
    if (exact_op(item)) {
        return true;
    }
    return suite_within(result, d->type, d->blocks[EXPECTED].data, d->blocks[WANT].data,
                        d->blocks[BOUND].data, 1, 1, d->results);
}

static bool build(suite_data *d, const suite_case *item, suite_result *result)
{
    const suite_reduce_case *r = &item->reduce;
    bool dot = r->op == ISO_DOT;
    d->problem = -1;
    d->results = r->axis == ISO_AXIS_ALL ? 1 : r->axis == ISO_AXIS_0 ? r->cols : r->rows;
    iso_status status = iso_reduce_result(r->op, item->dtype, &d->type);
    if (status != ISO_OK) {
        return suite_call_failed(result, "iso_reduce_result", status);
    }
    if (!make_room(d, item)) {
        return suite_no_memory(result);
    }
    arith_generate(item->dtype, item->fill, item->seed + 1, r->rows * r->cols,
                   d->blocks[DENSE_X].data);
    suite_region_scatter(&d->in[0], d->blocks[DENSE_X].data);
    if (dot) {
        arith_generate(item->dtype, item->fill, item->seed + 2, r->rows * r->cols,
                       d->blocks[DENSE_Y].data);
        suite_region_scatter(&d->in[1], d->blocks[DENSE_Y].data);
    }
    int64_t size = iso_dtype_size(item->dtype), out = iso_dtype_size(d->type);
    int64_t step = r->axis == ISO_AXIS_0 ? r->cols : 1;
    int64_t next = r->axis == ISO_AXIS_0 ? 1 : r->cols;
    int64_t n =
        r->axis == ISO_AXIS_ALL ? r->rows * r->cols : (r->axis == ISO_AXIS_0 ? r->rows : r->cols);
    for (int64_t i = 0; i < d->results; i++) {
        const char *x = (char *)d->blocks[DENSE_X].data + i * next * size;
        const char *y = dot ? (char *)d->blocks[DENSE_Y].data + i * next * size : NULL;
        char *expected = (char *)d->blocks[EXPECTED].data + i * out;
        long double *want = (long double *)d->blocks[WANT].data + i;
        double *bound = (double *)d->blocks[BOUND].data + i;
        arith_reduce(r->op, item->dtype, x, y, n, step, step, expected);
        if (exact_op(item)) {
            continue;
        }
        refer(item, x, y, n, step, want, bound);
        if (exact_fill(item)) {
            *want = arith_load(d->type, expected);
            *bound = 0;
        }
    }
    if (!check_model(d, item, result)) {
        return false;
    }
    d->problem = item->problem;
    return true;
}

static bool judge(suite_state *state, const suite_data *d, const suite_case *item,
                  const unsigned char *image, suite_result *result)
{
    int64_t size = iso_dtype_size(d->type);
    void *dense = suite_grow(&state->dense, (d->results + 1) * size);
    if (!dense) {
        return suite_no_memory(result);
    }
    suite_region_gather(&d->out, image, dense);
    bool bits = item->same_bits || exact_op(item);
    result->method = item->same_bits                      ? "bits"
                     : exact_op(item) || exact_fill(item) ? "exact"
                                                          : "bound";
    if (item->same_bits) {
        suite_digest(result, d->type, dense, d->results, size);
    }
    if (bits &&
        !suite_same_bits(result, d->type, dense, d->blocks[EXPECTED].data, 1, 1, d->results)) {
        return false;
    }
    return exact_op(item) || suite_within(result, d->type, dense, d->blocks[WANT].data,
                                          d->blocks[BOUND].data, 1, 1, d->results);
}

bool suite_run_reduce(suite_state *state, suite_runner *runner, const suite_case *item,
                      suite_result *result)
{
    const suite_reduce_case *r = &item->reduce;
    suite_data *d = suite_data_of(state, item);
    if (d->problem != item->problem && !build(d, item, result)) {
        return false;
    }
    bool dot = r->op == ISO_DOT;
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = r->op;
    args.dtype = item->dtype;
    args.variant = item->how;
    args.axis = r->axis;
    args.rows = r->rows;
    args.cols = r->cols;
    args.ld_x = r->pad ? d->in[0].ld : 0;
    args.ld_y = dot && r->pad ? d->in[1].ld : 0;
    suite_work work = {.kind = ISO_OP_REDUCE,
                       .args = &args,
                       .in = {&d->in[0], &d->in[1]},
                       .inputs = dot ? 2 : 1,
                       .out = &d->out};
    if (!suite_point(runner, 0, &d->in[0], 0, &args.x, result) ||
        (dot && !suite_point(runner, 1, &d->in[1], 0, &args.y, result)) ||
        !suite_point(runner, work.inputs, &d->out, 0, &args.result, result)) {
        return false;
    }
    const unsigned char *image;
    if (!suite_operate(runner, &work, &image, result)) {
        return false;
    }
    return !image || judge(state, d, item, image, result);
}

void suite_describe_reduce(const suite_case *item, json_t *result, json_t *shape, json_t *layout)
{
    const suite_reduce_case *r = &item->reduce;
    tool_set_text(result, "reduction", iso_reduce_op_name(r->op));
    tool_set_int(shape, "rows", r->rows);
    tool_set_int(shape, "cols", r->cols);
    tool_set_text(layout, "axis", iso_axis_name(r->axis));
    tool_set_int(layout, "pad", r->pad);
    tool_set_int(layout, "offset", r->offset);
}
