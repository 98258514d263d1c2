/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.c - the check of products that are compared with the model element by element.
 *
 * Bounds. Let u be the unit roundoff of the accumulation type and S = sum |a||b|. Whatever the
 * order of the k products, each term is rounded at most k + 1 times: once as a product, then once
 * in each sum that contains it. Scaling by alpha, beta*c and the last sum round three more times.
 * So to first order the computed value is off by at most (k+4) u (|alpha| S + |beta c|). As k u is
 * far below 0.01, a factor of 1.01 covers the higher orders. Each of those operations can also lose
 * half the smallest subnormal. Rounding to the stored type adds its own roundoff of the value. The
 * reference is computed in a type so wide that the same factor covers its error.
 *
 * Fills of small whole numbers make every product and sum exact in any order. Their bound is 0. So
 * the check finds an element that is off by one in any variant.
 */
#include "bench/check/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool check_exact_gemm(const bench_case *item)
{
    double a = item->gemm.alpha * 4, b = item->gemm.beta * 4;
    return (item->fill == ARITH_INTS || item->fill == ARITH_SPARSE) && a == rint(a) && b == rint(b);
}

/* One member of the batch: op(A), op(B), C and the model's product, all in the accumulation type,
 * scratch memory for a row of C (twice), and for a row of A and a column of B. */
typedef struct member {
    bool f64;
    void *a, *b, *c, *product, *row;
    double *line;
} member;

static double load(const member *m, const void *array, int64_t at)
{
    return m->f64 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

/* Converts op(X), which has rows x cols elements, from the stored X. */
static void widen(const bench_case *item, const unsigned char *stored, iso_trans trans,
                  int64_t rows, int64_t cols, void *out)
{
    int64_t row_step = trans == ISO_TRANS ? 1 : cols, col_step = trans == ISO_TRANS ? rows : 1;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            int64_t at = i * row_step + j * col_step;
            double value = arith_load(item->dtype, stored + at * item->element);
            if (item->dtype == ISO_F64) {
                ((double *)out)[i * cols + j] = value;
            } else {
                ((float *)out)[i * cols + j] = (float)value;
            }
        }
    }
}

/* Computes the sum of the terms of one f64 element, and the sum of their magnitudes. */
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

/* The same for a row of f32 elements. The products of f32 numbers are exact in f64. */
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

/* Only vendors' products are checked with this bound; the model itself must meet it too. `lost` is
 * what a fixed product may lose of the sum. The last rounding may be off by a whole unit, because
 * vendors' libraries do not promise to round to nearest (cuBLAS does not, for halves and small
 * products). Nor do they promise to add beta * C before they round the product to halves: a row of
 * C from cuBLAS was as far off as if the product was rounded first. */
static void set_bound(const bench_case *item, double alpha, double beta, long double sum,
                      double size, double lost, double c, check_expected *out)
{
    iso_dtype wide = item->dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    double steps = (double)item->gemm.k + 4;
    double scaled = beta == 0 ? 0 : fabs(beta * c);
    double product = beta == 0 || item->dtype == wide ? 0 : fabs(alpha * (double)sum);
    out->want = (alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : (long double)beta * c);
    out->want = isnan(lost) ? lost : out->want;
    out->bound =
        1.01 *
        (fabs(alpha) * lost + steps * arith_roundoff(wide) * (fabs(alpha) * size + scaled) +
         2 * arith_roundoff(item->dtype) * (fabs((double)out->want) + product) +
         steps * arith_half_smallest(wide) * (1 + fabs(alpha)) + arith_half_smallest(item->dtype));
}

/* The product of variant fixed. */
static void multiply_fixed(const bench_case *item, const member *w, double alpha, double beta)
{
    const gemm_shape *g = &item->gemm;
    int64_t n = g->n, k = alpha == 0 ? 0 : g->k;
    double *a = w->line, *b = a + k;
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t p = 0; p < k; p++) {
            a[p] = load(w, w->a, i * g->k + p);
        }
        for (int64_t j = 0; j < n; j++) {
            for (int64_t p = 0; p < k; p++) {
                b[p] = load(w, w->b, p * n + j);
            }
            double t = arith_fixed(item->dtype, k, a, b, 1);
            int64_t at = i * n + j;
            double value = arith_fixed_value(item->dtype, t, alpha, beta, load(w, w->c, at));
            if (w->f64) {
                ((double *)w->product)[at] = value;
            } else {
                ((float *)w->product)[at] = (float)value;
            }
        }
    }
}

/* Clause 9.4 of docs/bits.md: what a fixed product may lose of a sum. NaN if the row or the column
 * holds an infinity or a NaN, because the result is NaN then. */
static double lost_in(const bench_case *item, const member *w, int64_t i, int64_t j, int64_t k)
{
    const int p = item->dtype == ISO_F64 ? 53 : item->dtype == ISO_F32 ? 24 : 15;
    const gemm_shape *g = &item->gemm;
    double a = 0, b = 0;
    for (int64_t q = 0; q < k; q++) {
        double x = load(w, w->a, i * g->k + q), y = load(w, w->b, q * g->n + j);
        if (!isfinite(x) || !isfinite(y)) {
            return NAN;
        }
        a = fmax(a, fabs(x));
        b = fmax(b, fabs(y));
    }
    return 4.01 * (double)k * ldexp(a, -p) * b;
}

/* Rounds a factor to f32 unless the type is f64. `narrow` is volatile, because gcc 12 drops the
 * conversion to f32 and back when it vectorizes two of them. */
static double rounded(bool f64, double factor)
{
    volatile float narrow = (float)factor;
    return f64 ? factor : (double)narrow;
}

/* Computes the bits, the reference and the bound of each element of one member. */
static void compute(const bench_case *item, const member *w, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    int64_t n = g->n, k = g->k;
    double alpha = rounded(w->f64, g->alpha), beta = rounded(w->f64, g->beta);
    bool fixed = item->how == ISO_VARIANT_FIXED;
    double *sums = w->row, *sizes = sums + n;
    if (fixed) {
        multiply_fixed(item, w, alpha, beta);
    } else if (w->f64) {
        arith_gemm_f64(g->m, n, k, alpha, w->a, w->b, beta, w->c, g->continues, w->product, sums,
                       sizes);
    } else {
        arith_gemm_f32(g->m, n, k, (float)alpha, w->a, w->b, (float)beta, w->c, g->continues,
                       w->product, w->row, (float *)w->row + n);
    }
    for (int64_t i = 0; i < g->m; i++) {
        if (!w->f64) {
            refer_f32((float *)w->a + i * k, w->b, n, alpha == 0 ? 0 : k, sums, sizes);
        }
        for (int64_t j = 0; j < n; j++) {
            int64_t at = i * n + j;
            long double sum = sums[j];
            double size = sizes[j];
            if (w->f64) {
                refer_f64((double *)w->a + i * k, (double *)w->b + j, n, alpha == 0 ? 0 : k, &sum,
                          &size);
            }
            double lost = fixed && alpha != 0 ? lost_in(item, w, i, j, k) : 0;
            set_bound(item, alpha, beta, sum, size, lost, load(w, w->c, at), &out[at]);
            arith_store(item->dtype, out[at].bits, load(w, w->product, at));
            if (check_exact_gemm(item)) {
                out[at].want = arith_load(item->dtype, out[at].bits);
                out[at].bound = 0;
            }
        }
    }
}

/* Computes what check_expected needs for all members. False: no memory. */
static bool make(const bench_case *item, const check_data *data, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    int64_t m = g->m, n = g->n, k = g->k, size = item->element;
    int64_t elements = m * k + k * n + 2 * m * n;
    double *memory = calloc((size_t)(elements + 2 * n + 2 * k + 1), sizeof *memory);
    if (!memory) {
        return false;
    }
    member w = {.f64 = item->dtype == ISO_F64, .a = memory, .b = memory + m * k};
    w.c = memory + m * k + k * n;
    w.product = memory + m * k + k * n + m * n;
    w.row = memory + elements;
    w.line = memory + elements + 2 * n;
    for (int64_t b = 0; b < g->batch; b++) {
        widen(item, data->x + (g->same_a ? 0 : b) * m * k * size, g->trans_a, m, k, w.a);
        widen(item, data->y + (g->same_b ? 0 : b) * k * n * size, g->trans_b, k, n, w.b);
        widen(item, data->before + b * m * n * size, ISO_NO_TRANS, m, n, w.c);
        compute(item, &w, out + b * m * n);
    }
    free(memory);
    return true;
}

/* Naive and tiled products have the same expected results, and so have vendors' products. */
static uint64_t key_of(const bench_case *item)
{
    return item->how == ISO_VARIANT_FIXED ? arith_mix(item->seed, 7) : item->seed;
}

/* The expected results. NULL: no memory, or the model's own result is outside the bounds. That
 * would be a bug of this program or of the machine's fma. */
static const check_expected *reference(const bench_case *item, const check_data *data,
                                       bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    int64_t count = g->batch * g->m * g->n;
    bool fresh;
    check_expected *out =
        check_cache_get(data->cache, key_of(item), count * (int64_t)sizeof *out, &fresh);
    bool good = out || check_no_memory(result);
    if (good && fresh) {
        good = make(item, data, out) || check_no_memory(result);
        for (int64_t i = 0; good && i < count; i++) {
            good = check_bounds(&(check_elements){item->dtype, out[i].bits, 1, 1, 1}, &out[i],
                                false, result);
        }
        if (!good) {
            check_cache_forget(data->cache, key_of(item));
        }
    }
    return good ? out : NULL;
}

bool check_whole_gemm(const bench_case *item, const check_data *data, const void *got,
                      bench_result *result)
{
    check_elements all = {item->dtype, got, item->gemm.batch, item->gemm.m, item->gemm.n};
    const check_expected *want = reference(item, data, result);
    if (!want) {
        return false;
    }
    result->method = item->same_bits ? "bits" : check_exact_gemm(item) ? "exact" : "bound";
    return check_bounds(&all, want, false, result) &&
           (!item->same_bits || check_bits(&all, want, result));
}
