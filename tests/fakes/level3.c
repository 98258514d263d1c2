/* SPDX-License-Identifier: Apache-2.0 */
/* level3.c - complex products, symmetric products and triangular solves as a BLAS defines them. All
 * compute in double precision. */
#include "tests/fakes/blas.h"

#include <complex.h>
#include <string.h>

typedef double complex number;

fake_factor fake_factor_of(fake_type type, const void *at)
{
    const float *narrow = at;
    const double *wide = at;
    switch (type) {
    case FAKE_F64:
        return (fake_factor){wide[0], 0};
    case FAKE_C64:
        return (fake_factor){(double)narrow[0], (double)narrow[1]};
    case FAKE_C128:
        return (fake_factor){wide[0], wide[1]};
    default:
        return (fake_factor){(double)narrow[0], 0};
    }
}

static number of_factor(fake_factor factor)
{
    return CMPLX(factor.real, factor.imaginary);
}

static number get(fake_type type, const void *at, int64_t index)
{
    const float *narrow = at;
    const double *wide = at;
    switch (type) {
    case FAKE_F32:
        return (double)narrow[index];
    case FAKE_F64:
        return wide[index];
    case FAKE_C64:
        return CMPLX((double)narrow[2 * index], (double)narrow[2 * index + 1]);
    default:
        return CMPLX(wide[2 * index], wide[2 * index + 1]);
    }
}

static void put(fake_type type, void *at, int64_t index, number value)
{
    const float narrow[] = {(float)creal(value), (float)cimag(value)};
    const double wide[] = {creal(value), cimag(value)};
    const size_t bytes = fake_type_bytes(type);
    const bool small = type == FAKE_F32 || type == FAKE_C64;
    memcpy((char *)at + (size_t)index * bytes, small ? (const void *)narrow : (const void *)wide,
           bytes);
}

/* Element (i, j) of op(matrix). */
static number of_op(fake_type type, const fake_matrix *matrix, int64_t member, int64_t i, int64_t j)
{
    const int64_t at = matrix->trans ? i * matrix->ld + j : j * matrix->ld + i;
    const number element = get(type, matrix->at, member * matrix->stride + at);
    return matrix->conj ? conj(element) : element;
}

void fake_complex_product(const fake_product *p, int64_t member)
{
    const number alpha = CMPLX(p->alpha, p->alpha_imaginary);
    const number beta = CMPLX(p->beta, p->beta_imaginary);
    for (int64_t at = 0; at < p->m * p->n; at++) {
        const int64_t i = at % p->m, j = at / p->m;
        number sum = 0;
        for (int64_t l = 0; l < p->k && alpha != 0; l++) {
            sum += of_op(p->type, &p->a, member, i, l) * of_op(p->type, &p->b, member, l, j);
        }
        const number old =
            beta == 0 ? 0 : get(p->type, p->c.at, member * p->c.stride + j * p->c.ld + i);
        put(p->type, p->d, member * p->stride_d + j * p->ld_d + i, alpha * sum + beta * old);
    }
}

/* ---- symmetric products ---------------------------------------------------------------------- */

static int square_now(void *data)
{
    const fake_square *s = data;
    const number alpha = of_factor(s->alpha), beta = of_factor(s->beta);
    for (int64_t at = 0; at < s->batch * s->n * s->n; at++) {
        const int64_t member = at / (s->n * s->n), i = at / s->n % s->n, j = at % s->n;
        const int64_t to = member * s->stride_c + j * s->ld_c + i;
        number sum = 0;
        if (s->lower ? j > i : j < i) {
            continue;
        }
        for (int64_t l = 0; l < s->k && alpha != 0; l++) {
            sum += of_op(s->type, &s->a, member, i, l) * of_op(s->type, &s->a, member, j, l);
        }
        put(s->type, s->c, to, alpha * sum + (beta == 0 ? 0 : beta * get(s->type, s->c, to)));
    }
    return FAKE_OK;
}

int fake_square_submit(fake_stream *stream, const fake_square *s)
{
    const int64_t rows = s->a.trans ? s->k : s->n, cols = s->a.trans ? s->n : s->k;
    if (s->n < 0 || s->k < 0 || s->batch < 0 || s->a.conj || !fake_ld_fits(rows, s->a.ld) ||
        !fake_ld_fits(s->n, s->ld_c) ||
        (of_factor(s->alpha) != 0 &&
         !fake_on_device("a", s->a.at, fake_extent(rows, cols, s->a.ld, s->a.stride, s->batch),
                         s->type)) ||
        !fake_on_device("c", s->c, fake_extent(s->n, s->n, s->ld_c, s->stride_c, s->batch),
                        s->type)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, square_now, s, sizeof *s);
}

/* ---- triangular solves ----------------------------------------------------------------------- */

/* One row (right) or column (left) of b. Substitution begins where op(a) has only the diagonal.
 * With alpha 0 it reads a and b all the same, as cuBLAS was seen to do. */
static void solve_one(const fake_solve *s, int64_t member, int64_t line)
{
    const int64_t order = s->left ? s->m : s->n;
    const bool forward = (s->lower != s->a.trans) == s->left;
    const int64_t first = member * s->stride_b + (s->left ? line * s->ld_b : line);
    const int64_t step = s->left ? 1 : s->ld_b;
    const number alpha = of_factor(s->alpha);
    for (int64_t count = 0; count < order; count++) {
        const int64_t i = forward ? count : order - 1 - count;
        number x = alpha * get(s->type, s->b, first + i * step);
        for (int64_t done = 0; done < count; done++) {
            const int64_t j = forward ? done : order - 1 - done;
            x -= of_op(s->type, &s->a, member, s->left ? i : j, s->left ? j : i) *
                 get(s->type, s->b, first + j * step);
        }
        if (!s->unit) {
            x /= of_op(s->type, &s->a, member, i, i);
        }
        put(s->type, s->b, first + i * step, x);
    }
}

static int solve_now(void *data)
{
    const fake_solve *s = data;
    const int64_t lines = s->left ? s->n : s->m;
    for (int64_t at = 0; at < s->batch * lines; at++) {
        solve_one(s, at / lines, at % lines);
    }
    return FAKE_OK;
}

int fake_solve_submit(fake_stream *stream, const fake_solve *s)
{
    const int64_t order = s->left ? s->m : s->n;
    if (s->m < 0 || s->n < 0 || s->batch < 0 || !fake_ld_fits(order, s->a.ld) ||
        !fake_ld_fits(s->m, s->ld_b) ||
        !fake_on_device("a", s->a.at, fake_extent(order, order, s->a.ld, s->a.stride, s->batch),
                        s->type) ||
        !fake_on_device("b", s->b, fake_extent(s->m, s->n, s->ld_b, s->stride_b, s->batch),
                        s->type)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, solve_now, s, sizeof *s);
}
