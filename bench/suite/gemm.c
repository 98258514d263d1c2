/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - products: their data, what is expected, and the judgement.
 *
 * Bounds. Let u be the unit roundoff of the accumulation type and S = sum |a||b|. Whatever the
 * order of the k products, each term meets at most k + 1 roundings (its product and the sums above
 * it), and scaling by alpha, beta*c and the last sum add three more, so that the computed value is
 * off by at most (k+4) u (|alpha| S + |beta c|) to first order, 1.01 times that with the higher
 * orders (k u is far under 0.01). Each of those operations can lose half the smallest subnormal
 * instead. Rounding to the stored type adds its own roundoff of the value. The reference is kept in
 * a type wide enough that its own error is in that 1 %.
 *
 * Fills of small whole numbers make every product and sum exact in any order, so that there the
 * bound is 0: a single element that is off by one shows in any variant. Products too large to
 * compute twice are projected: with x of random +1 and -1, C x = A (B x) holds exactly for them,
 * and one wrong element in a row breaks the row's equation.
 */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLED_ROWS = 6 };

/* DENSE as stored, without padding; WIDE op(A), op(B) and C of one member in the accumulation type,
 * RESULT its product there. */
enum {
    DENSE_A,
    DENSE_B,
    DENSE_C,
    WIDE_A,
    WIDE_B,
    WIDE_C,
    RESULT,
    EXPECTED, /* bits */
    WANT,     /* the reference of each element */
    BOUND,    /* and its bound */
    ROW       /* scratch of the model */
};

static bool exact_fill(const suite_case *item)
{
    double a = item->gemm.alpha * 4, b = item->gemm.beta * 4;
    return (item->fill == ARITH_INTS || item->fill == ARITH_SPARSE) && a == rint(a) && b == rint(b);
}

/* Rows of op(A) that are computed: all, or a sample. */
static int64_t computed_rows(const suite_case *item)
{
    return item->gemm.sampled ? SAMPLED_ROWS : item->gemm.m;
}

/* op(X)(i, j) of a stored matrix in the accumulation type. */
static void widen(iso_dtype dtype, const char *stored, iso_trans trans, int64_t rows, int64_t cols,
                  const int64_t *pick, int64_t all_rows, void *out)
{
    int64_t size = iso_dtype_size(dtype);
    for (int64_t i = 0; i < rows; i++) {
        int64_t from = pick ? pick[i] : i;
        for (int64_t j = 0; j < cols; j++) {
            int64_t at = trans == ISO_TRANS ? j * all_rows + from : from * cols + j;
            double value = arith_load(dtype, stored + at * size);
            if (dtype == ISO_F64) {
                ((double *)out)[i * cols + j] = value;
            } else {
                ((float *)out)[i * cols + j] = (float)value;
            }
        }
    }
}

/* Sum and sum of magnitudes of the products of one element, for f64. */
static void refer_f64(const double *a, const double *b, int64_t n, int64_t k, long double *sum,
                      double *size)
{
    long double s = 0;
    double z = 0;
    for (int64_t p = 0; p < k; p++) {
        long double term = (long double)a[p] * b[p * n];
        s += term;
        z += fabs((double)term);
    }
    *sum = s;
    *size = z;
}

/* The same for a row of f32 operands; their products are exact in f64. */
static void refer_f32(const float *restrict a, const float *restrict b, int64_t n, int64_t k,
                      double *restrict sum, double *restrict size)
{
    for (int64_t j = 0; j < n; j++) {
        sum[j] = size[j] = 0;
    }
    for (int64_t p = 0; p < k; p++) {
        double x = (double)a[p];
        const float *row = b + p * n;
        for (int64_t j = 0; j < n; j++) {
            double term = x * (double)row[j];
            sum[j] += term;
            size[j] += fabs(term);
        }
    }
}

/* The last rounding may be off by a whole unit: vendors' libraries do not promise to round to
 * nearest (cuBLAS does not, for halves and small products). Nor that they add beta * C before the
 * product is rounded to halves: a row of C from cuBLAS was as far off as if it were rounded first.
 * Only vendors' products are held to this; naive and tiled are held to their bits. */
static void set_bound(const suite_case *item, double alpha, double beta, long double sum,
                      double size, double c, long double *want, double *bound)
{
    iso_dtype wide = item->dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    double steps = (double)item->gemm.k + 4;
    double scaled = beta == 0 ? 0 : fabs(beta * c);
    double product = beta == 0 || item->dtype == wide ? 0 : fabs(alpha * (double)sum);
    *want = (alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : (long double)beta * c);
    *bound = 1.01 * (steps * arith_roundoff(wide) * (fabs(alpha) * size + scaled) +
                     2 * arith_roundoff(item->dtype) * (fabs((double)*want) + product) +
                     steps * arith_half_smallest(wide) * (1 + fabs(alpha)) +
                     arith_half_smallest(item->dtype));
}

/* volatile: gcc 12 drops the conversion there and back where it makes vectors of two of them. */
static double rounded(bool f64, double factor)
{
    volatile float narrow = (float)factor;
    return f64 ? factor : (double)narrow;
}

/* One member of the batch: the model's bits, the reference and the bounds. */
static void compute(suite_data *d, const suite_case *item, int64_t member, int64_t rows)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t n = g->n, k = g->k, size = iso_dtype_size(item->dtype);
    bool f64 = item->dtype == ISO_F64;
    double alpha = rounded(f64, g->alpha);
    double beta = rounded(f64, g->beta);
    char *expected = (char *)d->blocks[EXPECTED].data + member * rows * n * size;
    long double *want = (long double *)d->blocks[WANT].data + member * rows * n;
    double *bound = (double *)d->blocks[BOUND].data + member * rows * n;
    double *scratch = d->blocks[ROW].data;
    if (f64) {
        arith_gemm_f64(rows, n, k, alpha, d->blocks[WIDE_A].data, d->blocks[WIDE_B].data, beta,
                       d->blocks[WIDE_C].data, d->blocks[RESULT].data, scratch, scratch + n);
    } else {
        arith_gemm_f32(rows, n, k, (float)alpha, d->blocks[WIDE_A].data, d->blocks[WIDE_B].data,
                       (float)beta, d->blocks[WIDE_C].data, d->blocks[RESULT].data,
                       d->blocks[ROW].data, (float *)d->blocks[ROW].data + n);
    }
    for (int64_t i = 0; i < rows; i++) {
        if (!f64) {
            refer_f32((float *)d->blocks[WIDE_A].data + i * k, d->blocks[WIDE_B].data, n,
                      alpha == 0 ? 0 : k, scratch, scratch + n);
        }
        for (int64_t j = 0; j < n; j++) {
            int64_t at = i * n + j;
            long double sum = scratch[j];
            double magnitude = scratch[n + j];
            if (f64) {
                refer_f64((double *)d->blocks[WIDE_A].data + i * k,
                          (double *)d->blocks[WIDE_B].data + j, n, alpha == 0 ? 0 : k, &sum,
                          &magnitude);
            }
            double c = f64 ? ((double *)d->blocks[WIDE_C].data)[at]
                           : (double)((float *)d->blocks[WIDE_C].data)[at];
            set_bound(item, alpha, beta, sum, magnitude, c, &want[at], &bound[at]);
            arith_store(item->dtype, expected + at * size,
                        f64 ? ((double *)d->blocks[RESULT].data)[at]
                            : (double)((float *)d->blocks[RESULT].data)[at]);
            if (exact_fill(item)) {
                want[at] = arith_load(item->dtype, expected + at * size);
                bound[at] = 0;
            }
        }
    }
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A, C and B beside each other, as blocks of C's image. */
static bool make_neighbours(suite_data *d, const suite_case *item)
{
    const suite_gemm_case *g = &item->gemm;
    bool ta = g->trans_a == ISO_TRANS, tb = g->trans_b == ISO_TRANS;
    suite_region a = {.element = iso_dtype_size(item->dtype), .batch = g->batch}, b = a, c = a;
    a.rows = ta ? g->k : g->m, a.cols = ta ? g->m : g->k;
    b.rows = tb ? g->n : g->k, b.cols = tb ? g->k : g->n;
    c.rows = g->m, c.cols = g->n;
    a.ld = b.ld = c.ld = a.cols + b.cols + c.cols + g->pad;
    a.stride = b.stride = c.stride = greater(greater(a.rows, b.rows), c.rows) * c.ld;
    suite_region_within(&d->in[0], &a, g->offset);
    suite_region_within(&d->in[1], &b, g->offset + a.cols + c.cols);
    return suite_region_lay(&d->out, &c, g->offset + a.cols, g->offset + g->batch * c.stride,
                            false);
}

static bool make_regions(suite_data *d, const suite_case *item)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t size = iso_dtype_size(item->dtype);
    bool ta = g->trans_a == ISO_TRANS, tb = g->trans_b == ISO_TRANS;
    suite_region beside = {.element = size,
                           .rows = g->m,
                           .cols = g->n,
                           .ld = g->batch * g->n + g->pad,
                           .batch = g->batch,
                           .stride = g->n};
    if (g->blocks == SUITE_NEIGHBOURS) {
        return make_neighbours(d, item);
    }
    return suite_region_init(&d->in[0], size, ta ? g->k : g->m, ta ? g->m : g->k, g->pad, g->offset,
                             g->batch, g->same_a ? 0 : -1, true) &&
           suite_region_init(&d->in[1], size, tb ? g->n : g->k, tb ? g->k : g->n, g->pad, g->offset,
                             g->batch, g->same_b ? 0 : -1, true) &&
           (g->blocks == SUITE_BESIDE ? suite_region_lay(&d->out, &beside, g->offset, 0, false)
                                      : suite_region_init(&d->out, size, g->m, g->n, g->pad,
                                                          g->offset, g->batch, -1, false));
}

static bool make_room(suite_data *d, const suite_case *item, int64_t rows)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t size = iso_dtype_size(item->dtype), wide = item->dtype == ISO_F64 ? 8 : 4;
    int64_t batch = g->batch;
    return make_regions(d, item) && suite_grow(&d->blocks[DENSE_A], batch * g->m * g->k * size) &&
           suite_grow(&d->blocks[DENSE_B], batch * g->k * g->n * size) &&
           suite_grow(&d->blocks[DENSE_C], batch * g->m * g->n * size) &&
           suite_grow(&d->blocks[WIDE_A], rows * g->k * wide) &&
           suite_grow(&d->blocks[WIDE_B], g->k * g->n * wide) &&
           suite_grow(&d->blocks[WIDE_C], rows * g->n * wide) &&
           suite_grow(&d->blocks[RESULT], rows * g->n * wide) &&
           suite_grow(&d->blocks[ROW], 2 * g->n * 8) &&
           suite_grow(&d->blocks[EXPECTED], batch * rows * g->n * size) &&
           suite_grow(&d->blocks[WANT], batch * rows * g->n * (int64_t)sizeof(long double)) &&
           suite_grow(&d->blocks[BOUND], batch * rows * g->n * 8);
}

static void generate(suite_data *d, const suite_case *item)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t size = iso_dtype_size(item->dtype), count_c = g->batch * g->m * g->n;
    arith_generate(item->dtype, item->fill, item->seed + 1,
                   (g->same_a ? 1 : g->batch) * g->m * g->k, d->blocks[DENSE_A].data);
    arith_generate(item->dtype, item->fill, item->seed + 2,
                   (g->same_b ? 1 : g->batch) * g->k * g->n, d->blocks[DENSE_B].data);
    arith_generate(item->dtype, item->fill, item->seed + 3, count_c, d->blocks[DENSE_C].data);
    if (g->beta == 0) { /* C is not read: whatever is there must not show */
        for (int64_t i = 0; i < count_c; i++) {
            arith_set_nan(item->dtype, (char *)d->blocks[DENSE_C].data + i * size);
        }
    }
    bool one = g->blocks == SUITE_NEIGHBOURS;
    suite_region_scatter_into(one ? &d->out : &d->in[0], &d->in[0], d->blocks[DENSE_A].data);
    suite_region_scatter_into(one ? &d->out : &d->in[1], &d->in[1], d->blocks[DENSE_B].data);
    suite_region_scatter(&d->out, d->blocks[DENSE_C].data);
}

static bool build(suite_data *d, const suite_case *item, suite_result *result)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t rows = computed_rows(item), size = iso_dtype_size(item->dtype);
    d->problem = -1;
    if (!make_room(d, item, rows)) {
        return suite_no_memory(result);
    }
    generate(d, item);
    for (int64_t i = 0; g->sampled && i < SAMPLED_ROWS;
         i++) { /* the first, the last, some others */
        d->rows[i] =
            i < 2 ? i * (g->m - 1) : (int64_t)(arith_mix(item->seed, (uint64_t)i) % (uint64_t)g->m);
    }
    const int64_t *pick = g->sampled ? d->rows : NULL;
    for (int64_t b = 0; b < g->batch; b++) {
        const char *a = (char *)d->blocks[DENSE_A].data + (g->same_a ? 0 : b) * g->m * g->k * size;
        const char *x = (char *)d->blocks[DENSE_B].data + (g->same_b ? 0 : b) * g->k * g->n * size;
        widen(item->dtype, a, g->trans_a, rows, g->k, pick, g->m, d->blocks[WIDE_A].data);
        widen(item->dtype, x, g->trans_b, g->k, g->n, NULL, g->k, d->blocks[WIDE_B].data);
        widen(item->dtype, (char *)d->blocks[DENSE_C].data + b * g->m * g->n * size, ISO_NO_TRANS,
              rows, g->n, pick, g->m, d->blocks[WIDE_C].data);
        compute(d, item, b, rows);
    }
    if (!suite_within(result, item->dtype, d->blocks[EXPECTED].data, d->blocks[WANT].data,
                      d->blocks[BOUND].data, g->batch, rows, g->n)) {
        return false; /* the model itself is off: a fault of the suite or of this machine's fma */
    }
    d->problem = item->problem;
    return true;
}

/* C x against A (B x), both exact. */
static bool project(const suite_data *d, const suite_case *item, const char *dense,
                    suite_result *result)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t size = iso_dtype_size(item->dtype);
    bool ta = g->trans_a == ISO_TRANS, ok = true;
    double *bx = calloc((size_t)g->k, sizeof *bx);
    if (!bx) {
        return suite_no_memory(result);
    }
    for (int64_t p = 0; p < g->k; p++) {
        for (int64_t j = 0; j < g->n; j++) {
            double b = item->dtype == ISO_F64
                           ? ((double *)d->blocks[WIDE_B].data)[p * g->n + j]
                           : (double)((float *)d->blocks[WIDE_B].data)[p * g->n + j];
            bx[p] += arith_mix(item->seed, (uint64_t)j) & 1 ? b : -b;
        }
    }
    for (int64_t i = 0; i < g->m && ok; i++) {
        double want = 0, got = 0;
        for (int64_t p = 0; p < g->k; p++) {
            want += bx[p] * arith_load(item->dtype, (char *)d->blocks[DENSE_A].data +
                                                        (ta ? p * g->m + i : i * g->k + p) * size);
        }
        for (int64_t j = 0; j < g->n; j++) {
            double c = arith_load(item->dtype, dense + (i * g->n + j) * size);
            got += arith_mix(item->seed, (uint64_t)j) & 1 ? c : -c;
        }
        if (got != want) {
            ok = suite_fail(result,
                            "row %lld projects to %.17g, expected exactly %.17g: it holds a "
                            "wrong element",
                            (long long)i, got, want);
        }
    }
    free(bx);
    return ok;
}

static bool judge(suite_state *state, const suite_data *d, const suite_case *item,
                  const unsigned char *image, suite_result *result)
{
    const suite_gemm_case *g = &item->gemm;
    int64_t size = iso_dtype_size(item->dtype), rows = computed_rows(item);
    int64_t count = g->batch * g->m * g->n;
    char *dense = suite_grow(&state->dense, (count + 1) * size);
    if (!dense) {
        return suite_no_memory(result);
    }
    suite_region_gather(&d->out, image, dense);
    if (g->sampled) {
        if (exact_fill(item) && !project(d, item, dense, result)) {
            return false;
        }
        if (item->same_bits) {
            suite_digest(result, item->dtype, dense, count, size);
        }
        for (int64_t i = 0; i < rows; i++) {
            result->method = item->same_bits ? "bits of sampled rows" : "bound in sampled rows";
            const char *row = dense + d->rows[i] * g->n * size;
            const char *want = (char *)d->blocks[EXPECTED].data + i * g->n * size;
            if (item->same_bits
                    ? !suite_same_bits(result, item->dtype, row, want, 1, 1, g->n)
                    : !suite_within(result, item->dtype, row,
                                    (long double *)d->blocks[WANT].data + i * g->n,
                                    (double *)d->blocks[BOUND].data + i * g->n, 1, 1, g->n)) {
                return false;
            }
        }
        return true;
    }
    result->method = item->same_bits ? "bits" : exact_fill(item) ? "exact" : "bound";
    if (!suite_within(result, item->dtype, dense, d->blocks[WANT].data, d->blocks[BOUND].data,
                      g->batch, g->m, g->n)) {
        return false;
    }
    if (!item->same_bits) {
        return true;
    }
    suite_digest(result, item->dtype, dense, count, size);
    return suite_same_bits(result, item->dtype, dense, d->blocks[EXPECTED].data, g->batch, g->m,
                           g->n);
}

/* Whether a device does a product does not depend on its factors. */
static bool same_support(suite_runner *runner, const iso_gemm_args *args, suite_result *result)
{
    static const double others[][2] = {{1, 0}, {0, 0}, {0, 0.5}};
    iso_gemm_args other = *args;
    iso_status first = iso_supports(suite_runner_device(runner), ISO_OP_GEMM, args);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        other.alpha = others[i][0];
        other.beta = others[i][1];
        iso_status status = iso_supports(suite_runner_device(runner), ISO_OP_GEMM, &other);
        if (status != first) {
            return suite_fail(result,
                              "iso_supports answers %s, and %s with alpha %g and beta %g: %.512s",
                              iso_status_name(first), iso_status_name(status), other.alpha,
                              other.beta, iso_last_error());
        }
    }
    return true;
}

bool suite_run_gemm(suite_state *state, suite_runner *runner, const suite_case *item,
                    suite_result *result)
{
    const suite_gemm_case *g = &item->gemm;
    suite_data *d = suite_data_of(state, item);
    if (d->problem != item->problem && !build(d, item, result)) {
        return false;
    }
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = item->dtype;
    args.variant = item->how;
    args.math = ISO_MATH_STRICT;
    args.library = item->how == ISO_VARIANT_VENDOR ? runner->library : 0;
    args.trans_a = g->trans_a;
    args.trans_b = g->trans_b;
    args.m = g->m;
    args.n = g->n;
    args.k = g->k;
    args.alpha = g->alpha;
    args.beta = g->beta;
    bool one = g->blocks == SUITE_NEIGHBOURS;
    args.lda = g->pad || one ? d->in[0].ld : 0;
    args.ldb = g->pad || one ? d->in[1].ld : 0;
    args.ldc = g->pad || g->blocks ? d->out.ld : 0;
    args.batch = g->batch;
    args.stride_a = d->in[0].stride;
    args.stride_b = d->in[1].stride;
    args.stride_c = d->out.stride;
    suite_work work = {.kind = ISO_OP_GEMM,
                       .args = &args,
                       .in = {&d->in[0], &d->in[1]},
                       .inputs = 2,
                       .out = &d->out};
    if (one) { /* A and B come and stay with what lies around C */
        work.inputs = 0;
    }
    int64_t all = one ? d->out.bytes : 0;
    if (!suite_point(runner, 0, &d->in[0], all, &args.a, result) ||
        !suite_point(runner, one ? 0 : 1, &d->in[1], all, &args.b, result) ||
        !suite_point(runner, one ? 0 : 2, &d->out, all, &args.c, result)) {
        return false;
    }
    const unsigned char *image;
    if (!same_support(runner, &args, result) || !suite_operate(runner, &work, &image, result)) {
        return false;
    }
    return !image || judge(state, d, item, image, result);
}

void suite_describe_gemm(const suite_case *item, json_t *result, json_t *shape, json_t *layout)
{
    const suite_gemm_case *g = &item->gemm;
    (void)result;
    tool_set_int(shape, "m", g->m);
    tool_set_int(shape, "n", g->n);
    tool_set_int(shape, "k", g->k);
    tool_set_int(shape, "batch", g->batch);
    tool_set_text(layout, "trans_a", iso_trans_name(g->trans_a));
    tool_set_text(layout, "trans_b", iso_trans_name(g->trans_b));
    tool_set_int(layout, "pad", g->pad);
    tool_set_int(layout, "offset", g->offset);
    tool_set_number(layout, "alpha", g->alpha);
    tool_set_number(layout, "beta", g->beta);
    json_object_set_new(layout, "same_a", json_boolean(g->same_a));
    json_object_set_new(layout, "same_b", json_boolean(g->same_b));
    if (g->blocks != SUITE_OWN) {
        tool_set_text(layout, "blocks", g->blocks == SUITE_BESIDE ? "beside" : "neighbours");
    }
}
