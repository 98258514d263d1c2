/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trsm.c - checks triangular solves: their bits, and the residuals of vendors' solutions.
 *
 * The bound. Whatever the order of its terms, substitution finds an x for which
 * |op(A) x - alpha b| <= g |op(A)| |x| for each element, where g is about n u: each term a(i,k)
 * x(k) is rounded once as a product and at most n times in sums, and the division and alpha round
 * once more each. Complex numbers double the number of terms and take a few more roundings.
 * Vendors' libraries often multiply by inverses of diagonal blocks D instead of dividing. Then |D|
 * |inv(D)| is a factor of the bound. The triangles of the cases are dominated by their diagonals,
 * so that it stays near 1; it is 4 here, with all else.
 *
 * So for each unknown the residual is at most c (n + 4) u (|A| |x| + |alpha b|), with c = 2, for
 * complex numbers 4, and for a vendor's library four times that. Each operation may also lose half
 * the smallest subnormal. The host's own sums are in a wider type.
 *
 * Where the model's solution has an infinity or a NaN, only bits are compared.
 */
#include "bench/check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One member of the batch. Arrays of parts are in the type of the parts; `im` are NULL for real
 * numbers. Row i of the triangle has the coefficients of unknown i. */
typedef struct member {
    const bench_case *item;
    iso_dtype part;
    bool f64, complex, lower, flipped; /* flipped: the coefficients are A's columns */
    int64_t n, systems;
    void *a[2], *b[2], *x[2], *want[2];
    arith_factors factors;
} member;

static double at(const member *w, const void *array, int64_t i)
{
    return !array ? 0 : w->f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Takes rows x cols elements apart, which lie by rows, or turned. */
static void split(const member *w, const unsigned char *stored, bool turned, int64_t rows,
                  int64_t cols, void *const *out)
{
    const int64_t size = iso_dtype_size(w->part), element = w->item->element;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const unsigned char *from = stored + (turned ? j * rows + i : i * cols + j) * element;
            const int64_t to = (i * cols + j) * size;
            memcpy((char *)out[0] + to, from, (size_t)size);
            if (w->complex) {
                memcpy((char *)out[1] + to, from + size, (size_t)size);
            }
        }
    }
}

static member shape_of(const bench_case *item)
{
    const trsm_shape *t = &item->trsm;
    const bool right = t->side == ISO_RIGHT;
    const gemm_shape factors = {.alpha = t->alpha,
                                .alpha_imag = t->alpha_imag,
                                .alpha_at = t->alpha_at,
                                .factor_dtype = t->factor_dtype};
    member w = {.item = item,
                .part = arith_part(item->dtype),
                .complex = arith_is_complex(item->dtype),
                .n = right ? t->n : t->m,
                .systems = right ? t->m : t->n,
                .factors = bench_factors_of(&factors, item->dtype)};
    w.f64 = w.part == ISO_F64;
    w.flipped = (t->trans != ISO_NO_TRANS) != right;
    w.lower = (t->triangle == ISO_LOWER) != w.flipped;
    return w;
}

/* The model's solution, in `want`. */
static bool solve(member *w)
{
    const trsm_shape *t = &w->item->trsm;
    const arith_triangle a = {.wide = w->part,
                              .lower = w->lower,
                              .unit = t->unit,
                              .conj = t->trans == ISO_CONJ_TRANS,
                              .n = w->n,
                              .systems = w->systems,
                              .re = w->a[0],
                              .im = w->a[1],
                              .factors = w->factors};
    const size_t bytes = (size_t)(w->n * w->systems * iso_dtype_size(w->part));
    for (int p = 0; p < (w->complex ? 2 : 1); p++) {
        memcpy(w->want[p], w->b[p], bytes);
    }
    return arith_trsm(&a, w->want[0], w->want[1]);
}

/* The place of an element in X. */
static void say(const member *w, int64_t i, int64_t s, int64_t number, char *text, size_t room)
{
    const bool right = w->item->trsm.side == ISO_RIGHT;
    const long long row = right ? s : i, col = right ? i : s;
    if (w->item->trsm.batch > 1) {
        snprintf(text, room, "[%lld][%lld, %lld]", (long long)number, row, col);
    } else {
        snprintf(text, room, "[%lld, %lld]", row, col);
    }
}

static bool check_same(const member *w, int64_t number, bench_result *result)
{
    const int64_t size = iso_dtype_size(w->part);
    for (int64_t e = 0; e < w->n * w->systems; e++) {
        for (int p = 0; p < (w->complex ? 2 : 1); p++) {
            const char *got = (const char *)w->x[p] + e * size;
            const char *want = (const char *)w->want[p] + e * size;
            char place[96], one[64], two[64];
            if (check_same_element(w->part, got, want)) {
                continue;
            }
            say(w, e / w->systems, e % w->systems, number, place, sizeof place);
            result->error = fabs(arith_load(w->part, got) - arith_load(w->part, want));
            return check_fail(result, "%selement %s is %s, expected exactly %s",
                              !w->complex ? ""
                              : p         ? "the imaginary part of "
                                          : "the real part of ",
                              place, check_show(one, sizeof one, w->part, got),
                              check_show(two, sizeof two, w->part, want));
        }
    }
    return true;
}

/* The residual of one equation of one system, and what its bound is a multiple of. */
static void residual_of(const member *w, int64_t i, int64_t s, long double *re, long double *im,
                        double *size)
{
    const arith_factors *f = &w->factors;
    const double sign = w->item->trsm.trans == ISO_CONJ_TRANS ? -1 : 1;
    const int64_t first = w->lower ? 0 : i, last = w->lower ? i : w->n - 1;
    const long double br = at(w, w->b[0], i * w->systems + s);
    const long double bi = at(w, w->b[1], i * w->systems + s);
    *re = -(f->alpha * br - f->alpha_imag * bi);
    *im = -(f->alpha * bi + f->alpha_imag * br);
    *size = (double)(fabsl(*re) + fabsl(*im));
    for (int64_t k = first; k <= last; k++) {
        const bool one = k == i && w->item->trsm.unit;
        const long double ar = one ? 1 : at(w, w->a[0], i * w->n + k);
        const long double ai = one ? 0 : sign * at(w, w->a[1], i * w->n + k);
        const long double xr = at(w, w->x[0], k * w->systems + s);
        const long double xi = at(w, w->x[1], k * w->systems + s);
        *re += ar * xr - ai * xi;
        *im += ar * xi + ai * xr;
        *size += (double)((fabsl(ar) + fabsl(ai)) * (fabsl(xr) + fabsl(xi)));
    }
}

static bool is_finite(const member *w, int64_t s)
{
    bool finite = true;
    for (int64_t i = 0; i < w->n; i++) {
        for (int p = 0; p < 2; p++) {
            finite = finite && isfinite(at(w, w->want[p], i * w->systems + s));
        }
    }
    return finite;
}

static bool check_residuals(const member *w, int64_t number, bench_result *result)
{
    const double most = (w->complex ? 4 : 2) * (w->item->how == ISO_VARIANT_VENDOR ? 4 : 1);
    const double steps = most * (double)(w->n + 4);
    const double u = arith_roundoff(w->part), h = arith_half_smallest(w->part);
    if (!arith_has_product(&w->factors)) { /* A is not read */
        return true;
    }
    for (int64_t s = 0; s < w->systems; s++) {
        if (!is_finite(w, s)) {
            continue;
        }
        for (int64_t i = 0; i < w->n; i++) {
            long double re, im;
            double size;
            char place[96];
            residual_of(w, i, s, &re, &im, &size);
            const double off = (double)fmaxl(fabsl(re), fabsl(im));
            const double bound = 1.01 * steps * (u * size + h);
            if (!(off <= bound)) {
                say(w, i, s, number, place, sizeof place);
                result->error = off;
                result->bound = bound;
                return check_fail(result, "the equation of element %s is off by %.3g, allowed %.3g",
                                  place, off, bound);
            }
            check_note_error(result, off, bound);
        }
    }
    return true;
}

static bool check_member(const check_data *data, const unsigned char *got, member *w,
                         int64_t number, bench_result *result)
{
    const trsm_shape *t = &w->item->trsm;
    const int64_t element = w->item->element, count = w->n * w->systems;
    /* B's rows are systems if A is on the right. */
    const bool turned = (t->side == ISO_RIGHT) != (t->order == ISO_COLUMN_MAJOR);
    split(w, data->x + (t->same_a ? 0 : number) * w->n * w->n * element,
          w->flipped != (t->order == ISO_COLUMN_MAJOR), w->n, w->n, w->a);
    split(w, data->before + number * count * element, turned, w->n, w->systems, w->b);
    split(w, got + number * count * element, turned, w->n, w->systems, w->x);
    if (!solve(w)) {
        return check_no_memory(result);
    }
    return check_residuals(w, number, result) &&
           (!w->item->same_bits || check_same(w, number, result));
}

bool check_trsm(const bench_case *item, const check_data *data, const void *got,
                bench_result *result)
{
    member w = shape_of(item);
    const int64_t size = iso_dtype_size(w.part), square = w.n * w.n, count = w.n * w.systems;
    char *memory = malloc((size_t)(2 * (square + 3 * count) * size) + 1), *next = memory;
    bool good = memory || check_no_memory(result);
    for (int p = 0; p < (w.complex ? 2 : 1); p++) {
        w.a[p] = next;
        w.b[p] = next + square * size;
        w.x[p] = next + (square + count) * size;
        w.want[p] = next + (square + 2 * count) * size;
        next += (square + 3 * count) * size;
    }
    result->method = item->same_bits ? "bits" : "residual";
    for (int64_t b = 0; good && b < item->trsm.batch; b++) {
        good = check_member(data, got, &w, b, result);
    }
    free(memory);
    return good;
}
