/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky.c - factors a symmetric positive definite matrix into A = L L^T on the backend that
 * ISOMER_BACKEND names, in place and by blocks of columns, as LAPACK's dpotrf does. L has the same
 * bits on every device.
 *
 *     cholesky [order [block]]
 *
 * The blocks on the diagonal are factored on the host: their square roots and divisions wait for
 * each other, and a block is too small to keep a device busy. Everything else, nearly all of the
 * work, is a solve and a symmetric product for each block.
 */
#include <isomer/isomer.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    ((call) ? (fprintf(stderr, "cholesky: %s\n", iso_last_error()), exit(1)) : (void)0)

enum {
    ELEMENT = sizeof(double),
    ALLOWED = 30 /* limit of the residual, as in LAPACK's own tests */
};

typedef struct cholesky {
    int64_t n, block;
    iso_stream stream;
    iso_buffer matrix; /* n x n, row-major; at the end L, and above the diagonal still A */
    double *diagonal;  /* host memory, block x block */
} cholesky;

static iso_operand at(const cholesky *f, int64_t i, int64_t j)
{
    return (iso_operand){f->matrix, (i * f->n + j) * ELEMENT};
}

/* Factors a block on the host, row by row. fma() says where to round, whatever the compiler's
 * options are: the bits depend on it. */
static void factor_block(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];

            for (int64_t k = 0; k < j; k++) {
                sum = fma(-a[i * n + k], a[j * n + k], sum);
            }
            if (i == j && !(sum > 0)) {
                fprintf(stderr, "cholesky: the matrix is not positive definite\n");
                exit(1);
            }
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
}

/* The diagonal block at (j, j). The host's copy must stay unchanged until it is written back. It
 * does: only the read of the next block changes it, and that is on the same stream. */
static void factor_diagonal(const cholesky *f, int64_t j, int64_t width)
{
    const int64_t bytes = width * ELEMENT, pitch = f->n * ELEMENT;

    CHECK(iso_read_2d(f->stream, f->diagonal, bytes, at(f, j, j), pitch, bytes, width));
    CHECK(iso_stream_sync(f->stream));
    factor_block(f->diagonal, width);
    CHECK(iso_write_2d(f->stream, at(f, j, j), pitch, f->diagonal, bytes, bytes, width));
}

/* The rows below the block: X L^T = B, where L is the block's factor; X replaces B. */
static void solve_below(const cholesky *f, int64_t j, int64_t width)
{
    iso_trsm_args args = ISO_TRSM_ARGS_INIT;

    args.dtype = ISO_F64, args.keep = ISO_KEEP_BITS;
    args.side = ISO_RIGHT, args.triangle = ISO_LOWER, args.trans = ISO_TRANS;
    args.m = f->n - j - width, args.n = width;
    args.a = at(f, j, j), args.b = at(f, j + width, j);
    args.lda = args.ldb = f->n;
    CHECK(iso_trsm(f->stream, &args));
}

/* What is left: C -= X X^T, of which only the lower triangle is computed. */
static void update_rest(const cholesky *f, int64_t j, int64_t width)
{
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;

    args.dtype = ISO_F64, args.keep = ISO_KEEP_BITS;
    args.triangle = ISO_LOWER;
    args.n = f->n - j - width, args.k = width;
    args.alpha = -1, args.beta = 1;
    args.a = at(f, j + width, j), args.c = at(f, j + width, j + width);
    args.lda = args.ldc = f->n;
    CHECK(iso_syrk(f->stream, &args));
}

static void factor(const cholesky *f)
{
    for (int64_t j = 0; j < f->n; j += f->block) {
        const int64_t width = f->n - j < f->block ? f->n - j : f->block;

        factor_diagonal(f, j, width);
        if (j + width < f->n) {
            solve_below(f, j, width);
            update_rest(f, j, width);
        }
    }
}

/* |A - L L^T| / (|A| n eps) of the lower triangles, in the largest element; eps is 2^-53. */
static double residual(const double *a, const double *l, int64_t n)
{
    double difference = 0, size = 0;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double off = a[i * n + j];

            size = fabs(off) > size ? fabs(off) : size;
            for (int64_t k = 0; k <= j; k++) {
                off -= l[i * n + k] * l[j * n + k];
            }
            difference = fabs(off) > difference || isnan(off) ? fabs(off) : difference;
        }
    }
    return difference / (size * (double)n * (DBL_EPSILON / 2));
}

/* Numbers between -1/2 and 1/2, the same in every run, and a large diagonal. */
static void fill(double *a, int64_t n)
{
    uint64_t state = 1;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            a[i * n + j] = a[j * n + i] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
        }
        a[i * n + i] = (double)n;
    }
}

static uint64_t digest(const double *l, int64_t n)
{
    uint64_t sum = 0, bits;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            memcpy(&bits, &l[i * n + j], sizeof bits);
            sum = sum * 31 + bits;
        }
    }
    return sum;
}

static int number(const char *text, int64_t *out)
{
    char *end;

    *out = strtoll(text, &end, 10);
    return end != text && !*end && *out >= 1 && *out <= 30000;
}

int main(int count, char **words)
{
    cholesky f = {.n = 300, .block = 64};
    iso_device device;
    double off;

    if (count > 3 || (count > 1 && !number(words[1], &f.n)) ||
        (count > 2 && !number(words[2], &f.block))) {
        return fprintf(stderr, "usage: cholesky [order [block]], each 1 to 30000\n"), 2;
    }
    f.block = f.block < f.n ? f.block : f.n;
    const int64_t bytes = f.n * f.n * ELEMENT;
    double *a = malloc((size_t)bytes), *l = malloc((size_t)bytes);
    f.diagonal = malloc((size_t)(f.block * f.block) * ELEMENT);
    if (!a || !l || !f.diagonal) {
        return fprintf(stderr, "cholesky: no memory for order %lld\n", (long long)f.n), 1;
    }
    fill(a, f.n);
    CHECK(iso_device_open(NULL, &device) || iso_stream_create(device, 0, &f.stream));
    CHECK(iso_buffer_create(device, bytes, &f.matrix));
    CHECK(iso_write(f.stream, at(&f, 0, 0), a, bytes));
    factor(&f);
    CHECK(iso_read(f.stream, l, at(&f, 0, 0), bytes) || iso_stream_sync(f.stream));
    off = residual(a, l, f.n);
    printf("order %lld, blocks of %lld: |A - L L^T| / (|A| n eps) is %.2g, digest %016llx\n",
           (long long)f.n, (long long)f.block, off, (unsigned long long)digest(l, f.n));
    CHECK(iso_device_close(device));
    free(a), free(l), free(f.diagonal);
    return off < ALLOWED ? 0 : 1;
}
