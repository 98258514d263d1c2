/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - products of complex and of mixed types. Their elements are small whole numbers, so every
 * order of terms gives the same result. */
#include "tests/vendor/model.h"

#include <math.h>

typedef struct product {
    iso_dtype dtype, dtype_c;
    iso_order order;
    iso_trans trans_a, trans_b;
    int64_t m, n, k, gap, batch, shift;
    bool shared; /* A, by the whole batch */
    number alpha, beta;
} product;

static int32_t wrapped(int64_t value)
{
    return (int32_t)(uint32_t)(uint64_t)value;
}

static number term(const product *p, const matrix *a, const matrix *b, int64_t member, int64_t i,
                   int64_t j)
{
    number sum = 0;
    for (int64_t l = 0; l < p->k; l++) {
        sum += matrix_op(a, p->trans_a, member, i, l) * matrix_op(b, p->trans_b, member, l, j);
    }
    return sum;
}

static void compute(const product *p, const matrix *a, const matrix *b, matrix *c)
{
    for (int64_t member = 0; member < p->batch; member++) {
        for (int64_t i = 0; i < p->m; i++) {
            for (int64_t j = 0; j < p->n; j++) {
                const number sum = p->alpha == 0 ? 0 : term(p, a, b, member, i, j);
                const number old = p->beta == 0 ? 0 : matrix_get(c, member, i, j);
                number value = p->alpha * sum + p->beta * old;
                if (p->dtype_c == ISO_I32) {
                    value = wrapped((int64_t)creal(p->alpha) * (int64_t)creal(sum) +
                                    (int64_t)creal(p->beta) * (int64_t)creal(old));
                }
                matrix_set(c, member, i, j, value);
            }
        }
    }
}

static iso_gemm_args args_of(const bench *self, const product *p, const matrix *a, const matrix *b,
                             const matrix *c)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = p->dtype;
    args.dtype_c = p->dtype_c;
    args.variant = ISO_VARIANT_VENDOR;
    args.library = self->library;
    args.order = p->order;
    args.trans_a = p->trans_a;
    args.trans_b = p->trans_b;
    args.m = p->m;
    args.n = p->n;
    args.k = p->k;
    args.alpha = creal(p->alpha);
    args.alpha_imag = cimag(p->alpha);
    args.beta = creal(p->beta);
    args.beta_imag = cimag(p->beta);
    args.lda = a->ld;
    args.ldb = b->ld;
    args.ldc = c->ld;
    args.batch = p->batch;
    args.stride_a = a->stride;
    args.stride_b = b->stride;
    args.stride_c = c->stride;
    return args;
}

static shape shape_of(const product *p, iso_dtype dtype, bool turned, int64_t rows, int64_t cols)
{
    return (shape){.dtype = dtype,
                   .order = p->order,
                   .rows = turned ? cols : rows,
                   .cols = turned ? rows : cols,
                   .gap = p->gap,
                   .batch = p->batch};
}

static void run(bench *self, const product *p)
{
    shape of[3] = {shape_of(p, p->dtype, p->trans_a != ISO_NO_TRANS, p->m, p->k),
                   shape_of(p, p->dtype, p->trans_b != ISO_NO_TRANS, p->k, p->n),
                   shape_of(p, p->dtype_c, false, p->m, p->n)};
    of[0].shared = p->shared;
    of[0].shift = of[1].shift = p->shift;
    matrix m[3], model;
    char what[160];
    for (int i = 0; i < 3; i++) {
        m[i] = matrix_make(&of[i]);
        matrix_fill(&m[i], 4, (uint64_t)i + 1);
    }
    if (p->beta == 0 && p->dtype_c != ISO_I32) {
        matrix_spoil(&m[2]);
    }
    if (p->alpha == 0 && p->dtype != ISO_I8) {
        matrix_spoil(&m[0]);
    }
    model = matrix_make(&of[2]);
    memcpy(model.host, m[2].host, (size_t)model.bytes);
    compute(p, &m[0], &m[1], &model);
    for (int i = 0; i < 3; i++) {
        matrix_upload(self, &m[i]);
    }
    iso_gemm_args args = args_of(self, p, &m[0], &m[1], &m[2]);
    args.a = m[0].on_device;
    args.b = m[1].on_device;
    args.c = m[2].on_device;
    (void)snprintf(what, sizeof what,
                   "gemm %s->%s %s %s%s %dx%dx%d gap %d batch %d shift %d "
                   "alpha %g%+gi beta %g%+gi",
                   iso_dtype_name(p->dtype), iso_dtype_name(p->dtype_c), iso_order_name(p->order),
                   iso_trans_name(p->trans_a), iso_trans_name(p->trans_b), (int)p->m, (int)p->n,
                   (int)p->k, (int)p->gap, (int)p->batch, (int)p->shift, creal(p->alpha),
                   cimag(p->alpha), creal(p->beta), cimag(p->beta));
    bench_ran(self, what, iso_prepare(self->stream, ISO_OP_GEMM, &args));
    bench_ran(self, what, iso_gemm(self->stream, &args));
    matrix_download(self, &m[2]);
    matrix_judge(self, &m[2], &model, 0, 0, what);
    for (int i = 0; i < 3; i++) {
        matrix_free(self, &m[i]);
    }
    matrix_free(self, &model);
}

/* Factors, batches, and a k of 0. */
static void check_rest(bench *self, product p)
{
    const bool complex_type = p.dtype == ISO_C64 || p.dtype == ISO_C128;
    const bool bytes = p.dtype == ISO_I8;
    const number factors[][2] = {{1, 0}, {0, 3}, {0, 0}, {-2, 1}, {3, -1}};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        p.alpha = factors[i][0];
        p.beta = factors[i][1];
        run(self, &p);
    }
    if (complex_type) {
        const number pairs[][2] = {
            {CMPLX(0, 2), 0}, {1, CMPLX(0, -3)}, {CMPLX(2, -1), CMPLX(-1, 2)}};
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
            p.alpha = pairs[i][0];
            p.beta = pairs[i][1];
            run(self, &p);
        }
    }
    if (bytes) {
        p.alpha = 1000003;
        p.beta = -65537;
        run(self, &p);
    }
    p.batch = 3;
    run(self, &p);
    p.shared = true;
    run(self, &p);
    p.shift = 3;
    run(self, &p);
    p.k = 0;
    run(self, &p);
}

/* Small imaginary parts beside large real ones. Three real products instead of four (3M) would lose
 * them among the rounding errors of the real parts. */
static void check_parts(bench *self, iso_dtype dtype)
{
    enum { SIDE = 64 };
    const double small = dtype == ISO_C64 ? 0x1p-20 : 0x1p-45;
    const product p = {
        .dtype = dtype, .dtype_c = dtype, .m = SIDE, .n = SIDE, .k = SIDE, .batch = 1, .alpha = 1};
    const shape of = {.dtype = dtype, .rows = SIDE, .cols = SIDE, .batch = 1};
    matrix m[3];
    double apart = 0;
    for (int i = 0; i < 3; i++) {
        m[i] = matrix_make(&of);
        for (int64_t at = 0; at < SIDE * SIDE; at++) {
            matrix_set(&m[i], 0, at / SIDE, at % SIDE, CMPLX(1, small));
        }
        matrix_upload(self, &m[i]);
    }
    iso_gemm_args args = args_of(self, &p, &m[0], &m[1], &m[2]);
    args.a = m[0].on_device;
    args.b = m[1].on_device;
    args.c = m[2].on_device;
    bench_ran(self, "products of parts", iso_gemm(self->stream, &args));
    matrix_download(self, &m[2]);
    for (int64_t at = 0; at < SIDE * SIDE; at++) {
        const double part = cimag(matrix_get(&m[2], 0, at / SIDE, at % SIDE));
        apart = fmax(apart, fabs(part / (2 * SIDE * small) - 1));
    }
    self->runs++;
    if (!(apart < 1e-5)) {
        self->failures++;
        (void)printf("WRONG: %s: gemm %s: imaginary parts are apart by %.3g: not strict\n",
                     self->spec, iso_dtype_name(dtype), apart);
    }
    for (int i = 0; i < 3; i++) {
        matrix_free(self, &m[i]);
    }
}

void check_gemm(bench *self, iso_dtype dtype, iso_dtype dtype_c)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {5, 7, 9}, {33, 20, 17}, {64, 64, 64}};
    static const int64_t words[][3] = {{4, 4, 4}, {8, 12, 16}, {32, 20, 36}, {64, 64, 64}};
    const bool bytes = dtype == ISO_I8;
    const iso_trans last = dtype == ISO_C64 || dtype == ISO_C128 ? ISO_CONJ_TRANS : ISO_TRANS;
    if (last == ISO_CONJ_TRANS) {
        check_parts(self, dtype);
    }
    for (int i = 0; i < 4 * 2 * 9; i++) {
        const int64_t *size = (bytes ? words : sizes)[i % 4];
        product p = {.dtype = dtype,
                     .dtype_c = dtype_c,
                     .order = i / 4 % 2 ? ISO_COLUMN_MAJOR : ISO_ROW_MAJOR,
                     .trans_a = (iso_trans)(i / 8 % 3),
                     .trans_b = (iso_trans)(i / 24),
                     .m = size[0],
                     .n = size[1],
                     .k = size[2],
                     .gap = bytes        ? 4
                            : i % 4 == 3 ? 0
                                         : 3,
                     .batch = 1,
                     .alpha = 1,
                     .beta = 2};
        if (p.trans_a > last || p.trans_b > last) {
            continue;
        }
        run(self, &p);
        if (i % 4 == 1) {
            check_rest(self, p);
        }
        if (bytes) { /* copied first; C consists of words */
            p.gap = 0;
            p.shift = 1;
            run(self, &p);
        }
    }
}
