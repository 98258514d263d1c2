/* SPDX-License-Identifier: Apache-2.0 */
/* level3.c - symmetric products, of whole numbers, and triangular solves, whose results are not
 * exact. */
#include "tests/vendor/model.h"

#include <math.h>

static double share_of(iso_dtype dtype)
{
    return dtype == ISO_F32 || dtype == ISO_C64 ? 2e-4 : 1e-12;
}

static bool is_complex(iso_dtype dtype)
{
    return dtype == ISO_C64 || dtype == ISO_C128;
}

/* ---- symmetric products ---------------------------------------------------------------------- */

typedef struct square {
    iso_dtype dtype;
    iso_order order;
    iso_triangle triangle;
    iso_trans trans;
    int64_t n, k, batch;
    number alpha, beta;
} square;

static void compute_square(const square *s, const matrix *a, matrix *c)
{
    for (int64_t at = 0; at < s->batch * s->n * s->n; at++) {
        const int64_t member = at / (s->n * s->n), i = at / s->n % s->n, j = at % s->n;
        number sum = 0;
        if (!in_triangle(s->triangle, i, j)) {
            continue;
        }
        for (int64_t l = 0; l < s->k && s->alpha != 0; l++) {
            sum += matrix_op(a, s->trans, member, i, l) * matrix_op(a, s->trans, member, j, l);
        }
        const number old = s->beta == 0 ? 0 : matrix_get(c, member, i, j);
        matrix_set(c, member, i, j, s->alpha * sum + s->beta * old);
    }
}

static void run_square(bench *self, const square *s)
{
    const bool turned = s->trans != ISO_NO_TRANS;
    const shape of_a = {.dtype = s->dtype,
                        .order = s->order,
                        .rows = turned ? s->k : s->n,
                        .cols = turned ? s->n : s->k,
                        .gap = 2,
                        .batch = s->batch};
    const shape of_c = {.dtype = s->dtype,
                        .order = s->order,
                        .rows = s->n,
                        .cols = s->n,
                        .gap = 3,
                        .batch = s->batch};
    matrix a = matrix_make(&of_a), c = matrix_make(&of_c), model = matrix_make(&of_c);
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;
    char what[160];
    matrix_fill(&a, 4, 1);
    matrix_fill(&c, 4, 2);
    if (s->beta == 0) {
        matrix_spoil(&c);
    }
    if (s->alpha == 0) {
        matrix_spoil(&a);
    }
    memcpy(model.host, c.host, (size_t)c.bytes);
    compute_square(s, &a, &model);
    matrix_upload(self, &a);
    matrix_upload(self, &c);
    args.dtype = s->dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.triangle = s->triangle;
    args.trans = s->trans;
    args.order = s->order;
    args.n = s->n;
    args.k = s->k;
    args.alpha = creal(s->alpha);
    args.alpha_imag = cimag(s->alpha);
    args.beta = creal(s->beta);
    args.beta_imag = cimag(s->beta);
    args.a = a.on_device;
    args.c = c.on_device;
    args.lda = a.ld;
    args.ldc = c.ld;
    args.batch = s->batch;
    args.stride_a = a.stride;
    args.stride_c = c.stride;
    (void)snprintf(what, sizeof what, "syrk %s %s %s %s %dx%d batch %d alpha %g%+gi beta %g%+gi",
                   iso_dtype_name(s->dtype), iso_order_name(s->order),
                   iso_triangle_name(s->triangle), iso_trans_name(s->trans), (int)s->n, (int)s->k,
                   (int)s->batch, creal(s->alpha), cimag(s->alpha), creal(s->beta), cimag(s->beta));
    bench_ran(self, what, iso_prepare(self->stream, ISO_OP_SYRK, &args));
    bench_ran(self, what, iso_syrk(self->stream, &args));
    matrix_download(self, &c);
    matrix_judge(self, &c, &model, s->triangle, 0, what);
    matrix_free(self, &a);
    matrix_free(self, &c);
    matrix_free(self, &model);
}

void check_syrk(bench *self, iso_dtype dtype)
{
    static const int64_t sizes[][2] = {{1, 1}, {7, 5}, {36, 33}, {70, 64}};
    const number i = is_complex(dtype) ? CMPLX(0, 1) : 0;
    const number factors[][2] = {{1, 0}, {0, 3}, {0, 0}, {2 - i, 1}, {1 + 2 * i, 3 * i}, {-1, 2}};
    for (int which = 0; which < 32; which++) {
        square s = {.dtype = dtype,
                    .order = which / 4 % 2 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR,
                    .triangle = which / 8 % 2 ? ISO_LOWER : ISO_UPPER,
                    .trans = which / 16 ? ISO_TRANS : ISO_NO_TRANS,
                    .n = sizes[which % 4][0],
                    .k = sizes[which % 4][1],
                    .batch = 1,
                    .alpha = 1 - 2 * i,
                    .beta = 2 + i};
        run_square(self, &s);
        for (size_t f = 0; f < sizeof factors / sizeof factors[0] && which % 4 == 1; f++) {
            s.batch = 1 + 2 * ((int64_t)f % 2);
            s.alpha = factors[f][0];
            s.beta = factors[f][1];
            run_square(self, &s);
        }
    }
}

/* ---- triangular solves ----------------------------------------------------------------------- */

typedef struct solve {
    iso_dtype dtype;
    iso_order order;
    iso_side side;
    iso_triangle triangle;
    iso_trans trans;
    int unit;
    int64_t m, n, batch;
    bool shared; /* A */
    number alpha;
} solve;

/* Small elements beside a large diagonal. What must not be read is NaN. */
static void fill_triangle(const solve *s, matrix *a)
{
    matrix_fill(a, 4, 3);
    for (int64_t at = 0; at < (a->stride ? a->batch : 1) * a->rows * a->rows; at++) {
        const int64_t member = at / (a->rows * a->rows), i = at / a->rows % a->rows;
        const int64_t j = at % a->rows;
        number value = matrix_get(a, member, i, j) / 32;
        if (i == j) {
            value =
                is_complex(s->dtype) ? CMPLX(1.5 + (double)(i % 3), 0.5) : 1.5 + (double)(i % 3);
        }
        if (!in_triangle(s->triangle, i, j) || (i == j && s->unit)) {
            value = CMPLX((double)NAN, (double)NAN);
        }
        matrix_set(a, member, i, j, value);
    }
}

/* Element (i, j) of T, where T x = alpha b for each column of B (left), or each row of it. */
static number of_system(const solve *s, const matrix *a, int64_t member, int64_t i, int64_t j)
{
    const int64_t row = s->side == ISO_LEFT ? i : j, col = s->side == ISO_LEFT ? j : i;
    const bool turned = s->trans != ISO_NO_TRANS;
    if (i == j && s->unit) {
        return 1;
    }
    return in_triangle(s->triangle, turned ? col : row, turned ? row : col)
               ? matrix_op(a, s->trans, member, row, col)
               : 0;
}

static void compute_one(const solve *s, const matrix *a, matrix *b, int64_t member, int64_t system)
{
    const bool left = s->side == ISO_LEFT;
    const int64_t order = left ? s->m : s->n;
    const bool turned = s->trans != ISO_NO_TRANS;
    const bool forward = ((s->triangle == ISO_LOWER) != turned) == left; /* T is lower */
    for (int64_t step = 0; step < order; step++) {
        const int64_t i = forward ? step : order - 1 - step;
        number x = s->alpha * matrix_get(b, member, left ? i : system, left ? system : i);
        for (int64_t before = 0; before < step; before++) {
            const int64_t j = forward ? before : order - 1 - before;
            x -= of_system(s, a, member, i, j) *
                 matrix_get(b, member, left ? j : system, left ? system : j);
        }
        matrix_set(b, member, left ? i : system, left ? system : i,
                   s->alpha == 0 ? 0 : x / of_system(s, a, member, i, i));
    }
}

static iso_trsm_args solve_args(const solve *s, const matrix *a, const matrix *b)
{
    iso_trsm_args args = ISO_TRSM_ARGS_INIT;
    args.dtype = s->dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.side = s->side;
    args.triangle = s->triangle;
    args.trans = s->trans;
    args.unit_diagonal = s->unit;
    args.order = s->order;
    args.m = s->m;
    args.n = s->n;
    args.alpha = creal(s->alpha);
    args.alpha_imag = cimag(s->alpha);
    args.a = a->on_device;
    args.b = b->on_device;
    args.lda = a->ld;
    args.ldb = b->ld;
    args.batch = s->batch;
    args.stride_a = a->stride;
    args.stride_b = b->stride;
    return args;
}

static void run_solve(bench *self, const solve *s)
{
    const int64_t order = s->side == ISO_LEFT ? s->m : s->n,
                  systems = s->side == ISO_LEFT ? s->n : s->m;
    const shape of_a = {.dtype = s->dtype,
                        .order = s->order,
                        .rows = order,
                        .cols = order,
                        .gap = 2,
                        .batch = s->batch,
                        .shared = s->shared};
    const shape of_b = {.dtype = s->dtype,
                        .order = s->order,
                        .rows = s->m,
                        .cols = s->n,
                        .gap = 3,
                        .batch = s->batch};
    matrix a = matrix_make(&of_a), b = matrix_make(&of_b), model = matrix_make(&of_b);
    char what[160];
    fill_triangle(s, &a);
    if (s->alpha == 0) {
        matrix_spoil(&a);
    }
    matrix_fill(&b, 4, 5);
    /* The model computes in double precision and rounds at every store. */
    memcpy(model.host, b.host, (size_t)b.bytes);
    for (int64_t at = 0; at < s->batch * systems; at++) {
        compute_one(s, &a, &model, at / systems, at % systems);
    }
    matrix_upload(self, &a);
    matrix_upload(self, &b);
    const iso_trsm_args args = solve_args(s, &a, &b);
    (void)snprintf(what, sizeof what, "trsm %s %s %s %s %s%s %dx%d batch %d alpha %g%+gi",
                   iso_dtype_name(s->dtype), iso_order_name(s->order), iso_side_name(s->side),
                   iso_triangle_name(s->triangle), iso_trans_name(s->trans), s->unit ? " unit" : "",
                   (int)s->m, (int)s->n, (int)s->batch, creal(s->alpha), cimag(s->alpha));
    bench_ran(self, what, iso_prepare(self->stream, ISO_OP_TRSM, &args));
    bench_ran(self, what, iso_trsm(self->stream, &args));
    matrix_download(self, &b);
    matrix_judge(self, &b, &model, 0, share_of(s->dtype), what);
    matrix_free(self, &a);
    matrix_free(self, &b);
    matrix_free(self, &model);
}

void check_trsm(bench *self, iso_dtype dtype)
{
    static const int64_t sizes[][2] = {{1, 1}, {6, 11}, {37, 18}, {72, 65}};
    const number i = is_complex(dtype) ? CMPLX(0, 1) : 0;
    for (int which = 0; which < 4 * 2 * 2 * 2 * 3 * 2; which++) {
        solve s = {.dtype = dtype,
                   .order = which / 4 % 2 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR,
                   .side = which / 8 % 2 ? ISO_RIGHT : ISO_LEFT,
                   .triangle = which / 16 % 2 ? ISO_LOWER : ISO_UPPER,
                   .unit = which / 32 % 2,
                   .trans = (iso_trans)(which / 64),
                   .m = sizes[which % 4][0],
                   .n = sizes[which % 4][1],
                   .batch = 1,
                   .alpha = 2 - i};
        if (s.trans == ISO_CONJ_TRANS && !is_complex(dtype)) {
            continue;
        }
        run_solve(self, &s);
        if (which % 4 == 1) {
            s.batch = 3;
            run_solve(self, &s);
            s.shared = true;
            s.alpha = 1;
            run_solve(self, &s);
            s.alpha = 0;
            run_solve(self, &s);
        }
    }
}
