/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - what the core composes products of complex and of mixed types and triangular solves
 * from: C = alpha * T + beta * C, and the solution of a small triangle. Clauses 14 and 15 of
 * docs/bits.md.
 *
 * Every operation below rounds to f32 where the type computes in f32.
 */
#include "tests/plugins/reference/reference.h"

#include <math.h>

/* The type of an element's parts, of which complex types have two. */
static iso_dtype part_of(iso_dtype dtype)
{
    return dtype == ISO_C64 ? ISO_F32 : dtype == ISO_C128 ? ISO_F64 : dtype;
}

static int parts_of(iso_dtype dtype)
{
    return dtype == ISO_C64 || dtype == ISO_C128 ? 2 : 1;
}

static bool is_wide(iso_dtype dtype)
{
    return dtype == ISO_F64 || dtype == ISO_C128 || dtype == ISO_I32;
}

static double product(bool wide, double a, double b)
{
    return wide ? a * b : (double)((float)a * (float)b);
}

static double sum(bool wide, double a, double b)
{
    return wide ? a + b : (double)((float)a + (float)b);
}

static double quotient(bool wide, double a, double b)
{
    return wide ? a / b : (double)((float)a / (float)b);
}

/* a * b + c */
static double fused(bool wide, double a, double b, double c)
{
    return wide ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
}

/* ---- finish ---------------------------------------------------------------------------------- */

iso_status ref_finish_supports(const iso_finish_op *finish)
{
    const iso_dtype dtype = finish->dtype;
    const bool known = (dtype >= ISO_F16 && dtype <= ISO_I32) || parts_of(dtype) == 2;
    if (!known || (finish->planes != 0 && finish->planes != (parts_of(dtype) == 2 ? 4 : 1))) {
        return ref_host->fail(ISO_UNSUPPORTED, "dtype %d is not finished from %d planes",
                              (int)dtype, (int)finish->planes);
    }
    return ISO_OK;
}

/* One part of a factor. On the device there are two if the type is complex. */
static double factor(const iso_finish_op *finish, int bit, iso_ref at, int part, double host)
{
    if (!(finish->factors & (uint32_t)bit)) {
        return host;
    }
    const double x =
        part < parts_of(finish->dtype) ? ref_load(finish->factor_dtype, ref_at(at), part) : 0;
    return is_wide(finish->dtype) ? x : (double)(float)x;
}

typedef struct factors {
    double alpha, alpha_imag, beta, beta_imag;
    bool reads; /* C is read */
} factors;

static factors take_factors(const iso_finish_op *finish)
{
    factors f = {factor(finish, 1, finish->alpha_at, 0, finish->alpha),
                 factor(finish, 1, finish->alpha_at, 1, finish->alpha_imag),
                 factor(finish, 2, finish->beta_at, 0, finish->beta),
                 factor(finish, 2, finish->beta_at, 1, finish->beta_imag), true};
    const bool zero = f.beta == 0 && (parts_of(finish->dtype) == 1 || f.beta_imag == 0);
    f.reads = finish->factors & 2 || !zero;
    return f;
}

static void finish_real(const iso_finish_op *finish, const factors *f, int64_t t, int64_t c)
{
    const bool wide = is_wide(finish->dtype);
    void *array = ref_at(finish->c);
    double v = f->reads ? product(wide, f->beta, ref_load(finish->dtype, array, c)) : 0;
    if (finish->planes) {
        const double term = ref_load(wide ? ISO_F64 : ISO_F32, ref_at(finish->t), t);
        v = f->reads ? fused(wide, f->alpha, term, v) : product(wide, f->alpha, term);
    }
    ref_store(finish->dtype, array, c, v);
}

/* Whole numbers modulo 2^32. What no int64_t holds counts as 0. */
static uint32_t whole(double x)
{
    return x > -0x1p63 && x < 0x1p63 ? (uint32_t)(int64_t)x : 0;
}

static void finish_i32(const iso_finish_op *finish, const factors *f, int64_t t, int64_t c)
{
    uint32_t *array = (uint32_t *)(void *)ref_at(finish->c);
    uint32_t v = f->reads ? whole(f->beta) * array[c] : 0;
    if (finish->planes) {
        v += whole(f->alpha) * whole(ref_load(ISO_F64, ref_at(finish->t), t));
    }
    array[c] = v;
}

/* x * y, plus the number at `plus`, if any. An imaginary part of 0 of the factor has no products.
 */
static void add_product(bool wide, const double *x, const double *y, const double *plus, double *to)
{
    if (!plus) {
        to[0] = x[1] == 0 ? product(wide, x[0], y[0])
                          : fused(wide, x[0], y[0], -product(wide, x[1], y[1]));
        to[1] = x[1] == 0 ? product(wide, x[0], y[1])
                          : fused(wide, x[0], y[1], product(wide, x[1], y[0]));
    } else {
        to[0] = fused(wide, x[0], y[0], x[1] == 0 ? plus[0] : fused(wide, -x[1], y[1], plus[0]));
        to[1] = fused(wide, x[0], y[1], x[1] == 0 ? plus[1] : fused(wide, x[1], y[0], plus[1]));
    }
}

static void finish_complex(const iso_finish_op *finish, const factors *f, int64_t t, int64_t c)
{
    const bool wide = is_wide(finish->dtype);
    const iso_dtype part = part_of(finish->dtype);
    const double alpha[] = {f->alpha, f->alpha_imag}, beta[] = {f->beta, f->beta_imag};
    void *array = ref_at(finish->c);
    double v[2] = {0, 0};
    if (f->reads) {
        const double old[] = {ref_load(part, array, 2 * c), ref_load(part, array, 2 * c + 1)};
        add_product(wide, beta, old, NULL, v);
    }
    if (finish->planes) {
        double plane[4], all[2];
        for (int p = 0; p < 4; p++) {
            plane[p] = ref_load(part, ref_at(finish->t), t + p * finish->plane);
        }
        all[0] = sum(wide, plane[0], -finish->sign_ii * plane[1]);
        all[1] = sum(wide, finish->sign_ri * plane[2], finish->sign_ir * plane[3]);
        const double old[] = {v[0], v[1]};
        add_product(wide, alpha, all, f->reads ? old : NULL, v);
    }
    ref_store(part, array, 2 * c, v[0]);
    ref_store(part, array, 2 * c + 1, v[1]);
}

void ref_finish(const iso_finish_op *finish)
{
    const factors f = take_factors(finish);
    for (int64_t b = 0; b < finish->batch; b++) {
        for (int64_t i = 0; i < finish->m; i++) {
            const int64_t first = finish->triangle == ISO_UPPER ? i : 0;
            const int64_t end =
                finish->triangle == ISO_LOWER ? LESSER(i + 1, finish->n) : finish->n;
            for (int64_t j = first; j < end; j++) {
                const int64_t t = b * finish->stride_t + i * finish->ldt + j;
                const int64_t c = b * finish->stride_c + i * finish->c_row + j * finish->c_col;
                if (parts_of(finish->dtype) == 2) {
                    finish_complex(finish, &f, t, c);
                } else if (finish->dtype == ISO_I32) {
                    finish_i32(finish, &f, t, c);
                } else {
                    finish_real(finish, &f, t, c);
                }
            }
        }
    }
}

/* ---- solve ----------------------------------------------------------------------------------- */

iso_status ref_solve_supports(const iso_solve_op *solve)
{
    const bool known =
        solve->dtype == ISO_F32 || solve->dtype == ISO_F64 || parts_of(solve->dtype) == 2;
    if (!known || solve->n > ISO_SOLVE_MOST) {
        return ref_host->fail(ISO_UNSUPPORTED, "%lld unknowns of dtype %d are not solved for",
                              (long long)solve->n, (int)solve->dtype);
    }
    return ISO_OK;
}

/* t / d, by Smith's way: no product overflows. */
static void divide(bool wide, double *t, const double *d)
{
    const bool first = fabs(d[0]) >= fabs(d[1]);
    const double large = first ? d[0] : d[1], small = first ? d[1] : d[0];
    const double r = quotient(wide, small, large), q = fused(wide, small, r, large);
    const double re = first ? fused(wide, t[1], r, t[0]) : fused(wide, t[0], r, t[1]);
    const double im = first ? fused(wide, -t[0], r, t[1]) : fused(wide, t[1], r, -t[0]);
    t[0] = quotient(wide, re, q);
    t[1] = quotient(wide, im, q);
}

/* An element of A or an unknown. */
static void load_one(const iso_solve_op *solve, const void *array, int64_t i, double *to)
{
    const int parts = parts_of(solve->dtype);
    to[0] = ref_load(part_of(solve->dtype), array, parts * i);
    to[1] = parts == 2 ? ref_load(part_of(solve->dtype), array, 2 * i + 1) : 0;
}

static void load_a(const iso_solve_op *solve, int64_t i, double *to)
{
    load_one(solve, ref_at(solve->a), i, to);
    to[1] = solve->conj ? -to[1] : to[1];
}

static void solve_one(const iso_solve_op *solve, int64_t a_first, int64_t x_first)
{
    const bool wide = is_wide(solve->dtype), complex = parts_of(solve->dtype) == 2;
    const iso_dtype part = part_of(solve->dtype);
    void *array = ref_at(solve->x);
    for (int64_t i = 0; i < solve->n; i++) {
        const int64_t at = x_first + i * solve->x_row;
        double t[2], a[2], x[2];
        load_one(solve, array, at, t);
        for (int64_t k = 0; k < i; k++) {
            load_a(solve, a_first + i * solve->a_row + k * solve->a_col, a);
            load_one(solve, array, x_first + k * solve->x_row, x);
            t[0] = fused(wide, -a[0], x[0], t[0]);
            if (complex) {
                t[0] = fused(wide, a[1], x[1], t[0]);
                t[1] = fused(wide, -a[0], x[1], t[1]);
                t[1] = fused(wide, -a[1], x[0], t[1]);
            }
        }
        if (!solve->unit) {
            load_a(solve, a_first + i * (solve->a_row + solve->a_col), a);
            if (complex) {
                divide(wide, t, a);
            } else {
                t[0] = quotient(wide, t[0], a[0]);
            }
        }
        ref_store(part, array, (complex ? 2 : 1) * at, t[0]);
        if (complex) {
            ref_store(part, array, 2 * at + 1, t[1]);
        }
    }
}

void ref_solve(const iso_solve_op *solve)
{
    for (int64_t b = 0; b < solve->batch; b++) {
        for (int64_t s = 0; s < solve->count; s++) {
            solve_one(solve, b * solve->stride_a, b * solve->stride_x + s * solve->x_col);
        }
    }
}
