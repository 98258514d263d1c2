/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complex.c - checks products of complex numbers, whose parts are compared one by one.
 *
 * Bounds. The real part of an element of C is a sum of real terms: those of re(alpha) times re(a)
 * re(b) and im(a) im(b), of im(alpha) times re(a) im(b) and im(a) re(b), and two of beta and c. So
 * the bound of whole.c holds for it with S and K counted over these terms: each of the 2K terms of
 * a sum is rounded once as a product and at most 2K times in sums, and scaling by a complex factor
 * and the last sums round four more times. The imaginary part is alike. This covers four real
 * products in any order, but not three, whose terms are larger.
 *
 * A large product is checked as two real ones. With the parts of op(A)'s elements beside each
 * other, which is a matrix of m x 2K, re(C) and im(C) are its products with two matrices of 2K x n.
 * gemm.c explains how those are checked. Its bound is for sums in any order too.
 */
#include "bench/check/whole.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One member of the batch. Arrays of parts are in the accumulation type. */
typedef struct member {
    bool f64;
    iso_dtype part;
    int64_t m, n, k;
    void *a[2], *b[2], *c[2]; /* real and imaginary parts */
    void *sums[4];            /* rr, ii, ri, ir */
    void *row;                /* two rows of C */
} member;

static double at(const member *w, const void *array, int64_t i)
{
    return w->f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Takes op(X), rows x cols, apart. */
static void split(iso_dtype part, const unsigned char *stored, bool turned, int64_t rows,
                  int64_t cols, void *const *out)
{
    const size_t size = (size_t)iso_dtype_size(part);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const unsigned char *from =
                stored + (size_t)(turned ? j * rows + i : i * cols + j) * 2 * size;
            const size_t to = (size_t)(i * cols + j) * size;
            memcpy((char *)out[0] + to, from, size);
            memcpy((char *)out[1] + to, from + size, size);
        }
    }
}

static arith_conj conj_of(const gemm_shape *g)
{
    return (arith_conj){g->trans_a == ISO_CONJ_TRANS, g->trans_b == ISO_CONJ_TRANS};
}

/* The four sums of each element. */
static void multiply(const member *w, int64_t k)
{
    static const struct {
        int a, b;
    } of[4] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}};
    for (int i = 0; i < 4; i++) {
        const void *a = w->a[of[i].a], *b = w->b[of[i].b];
        if (w->f64) {
            arith_gemm_f64(w->m, w->n, k, 1, a, b, 0, a, false, w->sums[i], w->row,
                           (double *)w->row + w->n);
        } else {
            arith_gemm_f32(w->m, w->n, k, 1, a, b, 0, a, false, w->sums[i], w->row,
                           (float *)w->row + w->n);
        }
    }
}

/* The exact sums of an element's terms, and those of their magnitudes. */
typedef struct reference {
    long double re, im;
    double re_size, im_size;
} reference;

static reference refer(const member *w, int64_t i, int64_t j, int64_t k, arith_conj conj)
{
    const double sa = conj.a ? -1 : 1, sb = conj.b ? -1 : 1;
    reference r = {0};
    for (int64_t p = 0; p < k; p++) {
        const long double ar = at(w, w->a[0], i * w->k + p), ai = at(w, w->a[1], i * w->k + p);
        const long double br = at(w, w->b[0], p * w->n + j), bi = at(w, w->b[1], p * w->n + j);
        const long double rr = ar * br, ii = ai * bi, ri = ar * bi, ir = ai * br;
        r.re += rr;
        r.re -= (long double)(sa * sb) * ii;
        r.im += (long double)sb * ri;
        r.im += (long double)sa * ir;
        r.re_size += (double)(fabsl(rr) + fabsl(ii));
        r.im_size += (double)(fabsl(ri) + fabsl(ir));
    }
    return r;
}

/* A factor times a pair, as arith_scaled, but nearly exact. */
static void scale(double re, double im, long double x, long double y, long double *out_re,
                  long double *out_im)
{
    *out_re = im == 0 ? re * x : re * x - im * y;
    *out_im = im == 0 ? re * y : re * y + im * x;
}

static void set_bounds(const member *w, const arith_factors *f, const reference *r, arith_pair c,
                       check_expected *out)
{
    const double u = arith_roundoff(w->part), h = arith_half_smallest(w->part);
    const double steps = 2 * (double)w->k + 8;
    const double ar = fabs(f->alpha), ai = fabs(f->alpha_imag);
    const double br = fabs(f->beta), bi = fabs(f->beta_imag);
    const bool reads = arith_reads_c(f);
    long double t[2] = {0}, v[2] = {0};
    double sizes[2] = {ar * r->re_size, ar * r->im_size};
    if (arith_has_product(f)) {
        scale(f->alpha, f->alpha_imag, r->re, r->im, &t[0], &t[1]);
    }
    if (reads) {
        scale(f->beta, f->beta_imag, (long double)c.re, (long double)c.im, &v[0], &v[1]);
        sizes[0] += br * fabs(c.re) + (bi == 0 ? 0 : bi * fabs(c.im));
        sizes[1] += br * fabs(c.im) + (bi == 0 ? 0 : bi * fabs(c.re));
    }
    if (ai != 0) {
        sizes[0] += ai * r->im_size;
        sizes[1] += ai * r->re_size;
    }
    for (int p = 0; p < 2; p++) {
        out[p].want = t[p] + v[p];
        out[p].bound = 1.01 * (steps * u * sizes[p] + 2 * u * fabs((double)out[p].want) +
                               steps * h * (1 + ar + ai + br + bi) + h);
    }
}

/* Computes the bits, the reference and the bound of each part of one member. */
static void compute(const bench_case *item, const member *w, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    const arith_factors f = bench_factors_of(g, item->dtype);
    const int64_t k = arith_has_product(&f) ? w->k : 0;
    const bool exact = check_exact_gemm(item);
    multiply(w, k);
    for (int64_t i = 0; i < w->m; i++) {
        for (int64_t j = 0; j < w->n; j++) {
            const int64_t e = i * w->n + j;
            check_expected *o = &out[2 * (g->order == ISO_COLUMN_MAJOR ? j * w->m + i : e)];
            const arith_sums sums = {at(w, w->sums[0], e), at(w, w->sums[1], e),
                                     at(w, w->sums[2], e), at(w, w->sums[3], e)};
            const arith_pair c = {at(w, w->c[0], e), at(w, w->c[1], e)};
            const arith_pair v =
                arith_complex_value(w->part, arith_total(w->part, &sums, conj_of(g)), &f, c);
            const reference r = refer(w, i, j, k, conj_of(g));
            set_bounds(w, &f, &r, c, o);
            arith_store(w->part, o[0].bits, v.re);
            arith_store(w->part, o[1].bits, v.im);
            for (int p = 0; exact && p < 2; p++) {
                o[p].want = arith_load(w->part, o[p].bits);
                o[p].bound = 0;
            }
        }
    }
}

/* Computes what check_expected needs for all members. False: no memory. */
static bool make(const bench_case *item, const check_data *data, check_expected *out)
{
    const gemm_shape *g = &item->gemm;
    const int64_t m = g->m, n = g->n, k = g->k, size = item->element;
    const int64_t parts = 2 * (m * k + k * n + m * n) + 4 * m * n + 2 * n;
    double *memory = calloc((size_t)parts + 1, sizeof *memory), *next = memory;
    member w = {
        .f64 = item->dtype == ISO_C128, .part = arith_part(item->dtype), .m = m, .n = n, .k = k};
    if (!memory) {
        return false;
    }
    for (int i = 0; i < 4; i++, next += m * n) {
        w.sums[i] = next;
    }
    for (int i = 0; i < 2; i++) {
        w.a[i] = next;
        w.b[i] = next + m * k;
        w.c[i] = next + m * k + k * n;
        next += m * k + k * n + m * n;
    }
    w.row = next;
    for (int64_t b = 0; b < g->batch; b++) {
        split(w.part, data->x + (g->same_a ? 0 : b) * m * k * size, check_turned(g, g->trans_a), m,
              k, w.a);
        split(w.part, data->y + (g->same_b ? 0 : b) * k * n * size, check_turned(g, g->trans_b), k,
              n, w.b);
        split(w.part, data->before + b * m * n * size, check_turned(g, ISO_NO_TRANS), m, n, w.c);
        compute(item, &w, out + 2 * b * m * n);
    }
    free(memory);
    return true;
}

/* The expected parts. NULL: no memory, or the model's own result is outside the bounds. */
static const check_expected *expected(const bench_case *item, const check_data *data,
                                      bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const int64_t count = 2 * g->batch * g->m * g->n;
    bool fresh;
    check_expected *out =
        check_cache_get(data->cache, item->seed, count * (int64_t)sizeof *out, &fresh);
    bool good = out || check_no_memory(result);
    if (good && fresh) {
        good = make(item, data, out) || check_no_memory(result);
        for (int64_t i = 0; good && i < count; i++) {
            const check_elements one = {arith_part(item->dtype), out[i].bits, 1, 1, 1};
            good = check_bounds(&one, &out[i], false, result);
        }
        if (!good) {
            check_cache_forget(data->cache, item->seed);
        }
    }
    return good ? out : NULL;
}

static bool check_small(const bench_case *item, const check_data *data, const void *got,
                        bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const bool by_columns = g->order == ISO_COLUMN_MAJOR;
    const check_elements all = {arith_part(item->dtype), got, g->batch, by_columns ? g->n : g->m,
                                2 * (by_columns ? g->m : g->n)};
    const check_expected *want = expected(item, data, result);
    if (!want) {
        return false;
    }
    result->method = item->same_bits ? "bits" : check_exact_gemm(item) ? "exact" : "bound";
    return (check_bounds(&all, want, false, result) &&
            (!item->same_bits || check_bits(&all, want, result))) ||
           check_explain(result, by_columns, true);
}

/* ---- large products -------------------------------------------------------------------------- */

/* Copies elements, and changes the sign of some. */
static void put(iso_dtype part, void *to, int64_t i, const void *from, int64_t j, bool negative)
{
    if (part == ISO_F64) {
        const double x = ((const double *)from)[j];
        ((double *)to)[i] = negative ? -x : x;
    } else {
        const float x = ((const float *)from)[j];
        ((float *)to)[i] = negative ? -x : x;
    }
}

/* One part of C as a real product: `a` has the parts of op(A) beside each other. */
static bool check_part(const bench_case *item, const check_data *data, const member *w, int imag,
                       const void *a, void *b, void *c, int64_t number, bench_result *result)
{
    const arith_conj conj = conj_of(&item->gemm);
    const int64_t size = iso_dtype_size(w->part), row = w->n * size;
    for (int64_t p = 0; p < w->k; p++) {
        char *first = (char *)b + 2 * p * row, *second = first + row;
        for (int64_t j = 0; j < w->n; j++) {
            /* Beside re(a): re(b), or im(b). Beside im(a): -im(b), or re(b). */
            const int64_t at = p * w->n + j;
            put(w->part, first, j, w->b[imag], at, imag && conj.b);
            put(w->part, second, j, w->b[1 - imag], at, imag ? conj.a : conj.a == conj.b);
        }
    }
    bench_case real = *item;
    real.dtype = w->part;
    real.element = size;
    real.same_bits = false;
    real.seed = arith_mix(item->seed, (uint64_t)(2 * number + imag));
    real.gemm = (gemm_shape){.m = w->m, .n = w->n, .k = 2 * w->k, .alpha = 1, .batch = 1};
    const check_data parts = {.x = a, .y = b, .cache = data->cache};
    return check_gemm(&real, &parts, c, result);
}

/* Compares the bits of some elements. */
static bool check_sample(const bench_case *item, const member *w, int64_t number,
                         bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const int64_t k = w->k, size = iso_dtype_size(w->part);
    const arith_factors one = {.alpha = 1};
    char *memory = malloc((size_t)(4 * k * size) + 1);
    member e = {.f64 = w->f64, .part = w->part, .m = 1, .n = 1, .k = k};
    double sums[4], row[2];
    bool good = memory || check_no_memory(result);
    for (int i = 0; i < 2; i++) {
        e.b[i] = memory + i * k * size;
    }
    for (int i = 0; i < 4; i++) {
        e.sums[i] = &sums[i];
    }
    e.row = row;
    for (int32_t s = 0; s < item->samples && good; s++) {
        const uint64_t pick =
            arith_mix(item->seed ^ 0x73616d706c65, (uint64_t)(number * item->samples + s));
        const int64_t i = s == 0 ? 0 : s == 1 ? g->m - 1 : (int64_t)((pick >> 32) % (uint64_t)g->m);
        const int64_t j = s == 0   ? 0
                          : s == 1 ? g->n - 1
                                   : (int64_t)(pick % UINT32_MAX % (uint64_t)g->n);
        unsigned char want[2][8];
        for (int p = 0; p < 2; p++) {
            e.a[p] = (char *)w->a[p] + i * k * size;
            for (int64_t q = 0; q < k; q++) {
                put(w->part, e.b[p], q, w->b[p], q * w->n + j, false);
            }
        }
        multiply(&e, k);
        const arith_sums of = {at(&e, e.sums[0], 0), at(&e, e.sums[1], 0), at(&e, e.sums[2], 0),
                               at(&e, e.sums[3], 0)};
        const arith_pair v = arith_complex_value(w->part, arith_total(w->part, &of, conj_of(g)),
                                                 &one, (arith_pair){0, 0});
        arith_store(w->part, want[0], v.re);
        arith_store(w->part, want[1], v.im);
        for (int p = 0; p < 2 && good; p++) {
            const char *got = (const char *)w->c[p] + (i * w->n + j) * size;
            good =
                memcmp(got, want[p], (size_t)size) == 0 ||
                check_fail(result,
                           "the %s part of element [%lld, %lld] is %.17g, expected exactly %.17g",
                           p ? "imaginary" : "real", (long long)i, (long long)j,
                           arith_load(w->part, got), arith_load(w->part, want[p]));
        }
    }
    free(memory);
    return good;
}

/* One member of the batch. */
static bool check_large(const bench_case *item, const check_data *data, const unsigned char *got,
                        int64_t number, member *w, bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const int64_t m = g->m, n = g->n, k = g->k, size = iso_dtype_size(w->part);
    char *beside = malloc((size_t)(2 * (m * k + k * n) * size) + 1), *b = beside + 2 * m * k * size;
    bool good = beside || check_no_memory(result);
    split(w->part, data->x + number * m * k * item->element, check_turned(g, g->trans_a), m, k,
          w->a);
    split(w->part, data->y + number * k * n * item->element, check_turned(g, g->trans_b), k, n,
          w->b);
    split(w->part, got + number * m * n * item->element, false, m, n, w->c);
    for (int64_t i = 0; good && i < m * k; i++) {
        put(w->part, beside, 2 * i, w->a[0], i, false);
        put(w->part, beside, 2 * i + 1, w->a[1], i, false);
    }
    for (int imag = 0; good && imag < 2; imag++) {
        good = check_part(item, data, w, imag, beside, b, w->c[imag], number, result);
        if (!good && result->status == BENCH_FAILED) {
            const size_t length = strlen(result->reason);
            snprintf(result->reason + length, sizeof result->reason - length, " (of the %s parts)",
                     imag ? "imaginary" : "real");
        }
    }
    free(beside);
    return good && (!item->same_bits || check_sample(item, w, number, result));
}

bool check_complex_gemm(const bench_case *item, const check_data *data, const void *got,
                        bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const int64_t m = g->m, n = g->n, k = g->k, size = iso_dtype_size(arith_part(item->dtype));
    member w = {
        .f64 = item->dtype == ISO_C128, .part = arith_part(item->dtype), .m = m, .n = n, .k = k};
    if (item->samples == 0) {
        return check_small(item, data, got, result);
    }
    char *memory = malloc((size_t)(2 * (m * k + k * n + m * n) * size) + 1);
    bool good = memory || check_no_memory(result);
    for (int i = 0; i < 2; i++) {
        w.a[i] = memory + i * m * k * size;
        w.b[i] = memory + (2 * m * k + i * k * n) * size;
        w.c[i] = memory + (2 * m * k + 2 * k * n + i * m * n) * size;
    }
    for (int64_t b = 0; good && b < g->batch; b++) {
        good = check_large(item, data, got, b, &w, result);
    }
    result->method = item->same_bits ? "projection, bits of a sample" : "projection";
    free(memory);
    return good;
}
