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
    const gemm_shape *g = &item->gemm;
    const double factors[] = {g->alpha * 4, g->beta * 4, g->alpha_imag * 4, g->beta_imag * 4};
    bool exact = item->fill == ARITH_INTS || item->fill == ARITH_SPARSE;
    for (int i = 0; i < 4; i++) {
        exact = exact && factors[i] == rint(factors[i]);
    }
    return exact;
}

bool check_turned(const gemm_shape *g, iso_trans trans)
{
    return (trans != ISO_NO_TRANS) != (g->order == ISO_COLUMN_MAJOR);
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
static void widen(iso_dtype dtype, const unsigned char *stored, bool turned, int64_t rows,
                  int64_t cols, void *out)
{
    int64_t row_step = turned ? 1 : cols, col_step = turned ? rows : 1;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            int64_t at = i * row_step + j * col_step;
            double value = arith_load(dtype, stored + at * iso_dtype_size(dtype));
            if (dtype == ISO_F64) {
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
static void set_bound(const bench_case *item, const arith_factors *f, long double sum, double size,
                      double lost, double c, check_expected *out)
{
    const iso_dtype wide = arith_wide(item->dtype), stored = bench_result_type(item);
    const double alpha = f->alpha, beta = f->beta;
    const bool reads = arith_reads_c(f);
    double steps = (double)item->gemm.k + 4;
    double scaled = reads ? fabs(beta * c) : 0;
    double product = !reads || stored == wide ? 0 : fabs(alpha * (double)sum);
    out->want = (arith_has_product(f) ? alpha * sum : 0) + (reads ? (long double)beta * c : 0);
    out->want = isnan(lost) ? lost : out->want;
    out->bound =
        1.01 *
        (fabs(alpha) * lost + steps * arith_roundoff(wide) * (fabs(alpha) * size + scaled) +
         2 * arith_roundoff(stored) * (fabs((double)out->want) + product) +
         steps * arith_half_smallest(wide) * (1 + fabs(alpha)) + arith_half_smallest(stored));
}

/* The type whose fixed product it is: f16 and bf16 with a result of f32 are first converted. */
static iso_dtype fixed_type(const bench_case *item)
{
    return item->dtype_c != 0 ? item->dtype_c : item->dtype;
}

/* The sums t of variant fixed. */
static void multiply_fixed(const bench_case *item, const member *w, int64_t k)
{
    const gemm_shape *g = &item->gemm;
    int64_t n = g->n;
    double *a = w->line, *b = a + k;
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t p = 0; p < k; p++) {
            a[p] = load(w, w->a, i * g->k + p);
        }
        for (int64_t j = 0; j < n; j++) {
            for (int64_t p = 0; p < k; p++) {
                b[p] = load(w, w->b, p * n + j);
            }
            double t = arith_fixed(fixed_type(item), k, a, b, 1);
            if (w->f64) {
                ((double *)w->product)[i * n + j] = t;
            } else {
                ((float *)w->product)[i * n + j] = (float)t;
            }
        }
    }
}

/* The model's product. Its sums are made with an alpha of 1, which changes none of them, unless
 * they continue a total. */
static void multiply(const bench_case *item, const member *w, const arith_factors *f)
{
    const gemm_shape *g = &item->gemm;
    const iso_dtype wide = w->f64 ? ISO_F64 : ISO_F32;
    const int64_t n = g->n, k = arith_has_product(f) ? g->k : 0;
    double *sums = w->row;
    if (item->how == ISO_VARIANT_FIXED) {
        multiply_fixed(item, w, k);
    } else if (w->f64) {
        arith_gemm_f64(g->m, n, k, 1, w->a, w->b, 0, w->c, g->continues, w->product, sums,
                       sums + n);
    } else {
        arith_gemm_f32(g->m, n, k, 1, w->a, w->b, 0, w->c, g->continues, w->product, w->row,
                       (float *)w->row + n);
    }
    for (int64_t i = 0; !g->continues && i < g->m * n; i++) {
        double value = arith_value(wide, load(w, w->product, i), f, load(w, w->c, i));
        if (w->f64) {
            ((double *)w->product)[i] = value;
        } else {
            ((float *)w->product)[i] = (float)value;
        }
    }
}

/* Clause 9.4 of docs/bits.md: what a fixed product may lose of a sum. NaN if the row or the column
 * holds an infinity or a NaN, because the result is NaN then. */
static double lost_in(const bench_case *item, const member *w, int64_t i, int64_t j, int64_t k)
{
    const iso_dtype type = fixed_type(item);
    const int p = type == ISO_F64 ? 53 : type == ISO_F32 ? 24 : 15;
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

/* Computes the bits, the reference and the bound of each element of one member. */
static void compute(const bench_case *item, const member *w, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    const arith_factors f = bench_factors_of(g, item->dtype);
    const int64_t n = g->n, k = g->k, terms = arith_has_product(&f) ? k : 0;
    const bool by_columns = g->order == ISO_COLUMN_MAJOR, fixed = item->how == ISO_VARIANT_FIXED;
    double *sums = w->row, *sizes = sums + n;
    multiply(item, w, &f);
    for (int64_t i = 0; i < g->m; i++) {
        if (!w->f64) {
            refer_f32((float *)w->a + i * k, w->b, n, terms, sums, sizes);
        }
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = i * n + j;
            check_expected *o = &out[by_columns ? j * g->m + i : at];
            long double sum = sums[j];
            double size = sizes[j];
            if (w->f64) {
                refer_f64((double *)w->a + i * k, (double *)w->b + j, n, terms, &sum, &size);
            }
            double lost = fixed && terms > 0 ? lost_in(item, w, i, j, k) : 0;
            set_bound(item, &f, sum, size, lost, load(w, w->c, at), o);
            arith_store(bench_result_type(item), o->bits, load(w, w->product, at));
            if (check_exact_gemm(item)) {
                o->want = arith_load(bench_result_type(item), o->bits);
                o->bound = 0;
            }
        }
    }
}

/* Computes what check_expected needs for all members. False: no memory. */
static bool make(const bench_case *item, const check_data *data, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    const iso_dtype type = bench_result_type(item);
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
        widen(item->dtype, data->x + (g->same_a ? 0 : b) * m * k * size,
              check_turned(g, g->trans_a), m, k, w.a);
        widen(item->dtype, data->y + (g->same_b ? 0 : b) * k * n * size,
              check_turned(g, g->trans_b), k, n, w.b);
        widen(type, data->before + b * m * n * iso_dtype_size(type), check_turned(g, ISO_NO_TRANS),
              m, n, w.c);
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
            const check_elements one = {bench_result_type(item), out[i].bits, 1, 1, 1};
            good = check_bounds(&one, &out[i], false, result);
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
    const gemm_shape *g = &item->gemm;
    const bool by_columns = g->order == ISO_COLUMN_MAJOR;
    const check_elements all = {bench_result_type(item), got, g->batch, by_columns ? g->n : g->m,
                                by_columns ? g->m : g->n};
    const check_expected *want = reference(item, data, result);
    if (!want) {
        return false;
    }
    result->method = item->same_bits ? "bits" : check_exact_gemm(item) ? "exact" : "bound";
    return (check_bounds(&all, want, false, result) &&
            (!item->same_bits || check_bits(&all, want, result))) ||
           check_explain(result, by_columns, false);
}
