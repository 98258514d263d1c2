/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lu.c - factors a matrix into P A = L U on the backend that ISOMER_BACKEND names, in place and by
 * blocks, as LAPACK's dgetrf does. A panel of columns is factored on the host; row swaps,
 * triangular solves and updates happen in the device's memory. Unlike dgetrf it stops at a pivot of
 * 0.
 *
 *     lu [order [columns of a panel]]
 */
#include <isomer/isomer.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ELEMENT = sizeof(double),
    ALLOWED = 30 /* limit of the residual, as in LAPACK's own tests */
};

typedef struct lu {
    int64_t n, block;
    iso_stream stream;
    iso_buffer matrix; /* n x n, row-major; at the end U, with L below the diagonal */
    iso_buffer row;    /* scratch row for swapping two rows */
    double *panel;     /* host memory, n x block */
    int64_t *pivot;    /* row i was swapped with row pivot[i], in this order */
} lu;

static iso_operand at(const lu *f, int64_t i, int64_t j)
{
    return (iso_operand){f->matrix, (i * f->n + j) * ELEMENT};
}

/* C -= A B. All three are blocks of one matrix and share no element. */
static iso_status update(const lu *f, iso_operand c, iso_operand a, iso_operand b, int64_t m,
                         int64_t n, int64_t k)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = ISO_F64;
    args.m = m, args.n = n, args.k = k;
    args.alpha = -1, args.beta = 1;
    args.a = a, args.b = b, args.c = c;
    args.lda = args.ldb = args.ldc = f->n;
    return iso_gemm(f->stream, &args);
}

/* B = L^-1 B, where L is the unit lower triangle at (i, i) and B the `rows` x `cols` block at (i,
 * j). Recursive: solves the upper half of B, subtracts it from the lower half, and solves that. */
static iso_status solve(const lu *f, int64_t i, int64_t j, int64_t rows, int64_t cols)
{
    int64_t upper = rows / 2, lower = rows - upper;
    iso_status status;

    if (rows == 1) {
        return ISO_OK;
    }
    status = solve(f, i, j, upper, cols);
    if (!status) {
        status =
            update(f, at(f, i + upper, j), at(f, i + upper, i), at(f, i, j), lower, cols, upper);
    }
    return status ? status : solve(f, i + upper, j, lower, cols);
}

static iso_status swap_rows(const lu *f, int64_t i, int64_t k)
{
    const iso_operand row = {f->row, 0};
    int64_t bytes = f->n * ELEMENT;
    iso_status status = iso_copy(f->stream, row, at(f, i, 0), bytes);

    if (!status) {
        status = iso_copy(f->stream, at(f, i, 0), at(f, k, 0), bytes);
    }
    return status ? status : iso_copy(f->stream, at(f, k, 0), row, bytes);
}

/* Factors a panel on the host, column by column. Returns false if a pivot is exactly 0. */
static bool factor_panel(double *panel, int64_t rows, int64_t cols, int64_t *pivot)
{
    for (int64_t j = 0; j < cols; j++) {
        double *top = panel + j * cols, *best = top;

        for (int64_t i = j + 1; i < rows; i++) {
            if (fabs(panel[i * cols + j]) > fabs(best[j])) {
                best = panel + i * cols;
            }
        }
        pivot[j] = (best - panel) / cols;
        if (best[j] == 0) {
            return false;
        }
        for (int64_t k = 0; best != top && k < cols; k++) {
            double kept = top[k];

            top[k] = best[k];
            best[k] = kept;
        }
        for (int64_t i = j + 1; i < rows; i++) {
            double *row = panel + i * cols;

            row[j] /= top[j];
            for (int64_t k = j + 1; k < cols; k++) {
                row[k] -= row[j] * top[k];
            }
        }
    }
    return true;
}

/* Factors the columns j to j + width - 1. Whole rows are swapped, including the panel's old
 * columns, which the factored panel then overwrites. The host panel must stay unchanged until that
 * write has run. It does, because only the read of the next panel changes it, and that read is on
 * the same stream. */
static iso_status step(const lu *f, int64_t j, int64_t width, bool *singular)
{
    int64_t rows = f->n - j, rest = rows - width, bytes = width * ELEMENT, pitch = f->n * ELEMENT;
    iso_status status = iso_read_2d(f->stream, f->panel, bytes, at(f, j, j), pitch, bytes, rows);

    if (!status) {
        status = iso_stream_sync(f->stream);
    }
    if (status) {
        return status;
    }
    *singular = !factor_panel(f->panel, rows, width, f->pivot + j);
    if (*singular) {
        return ISO_OK;
    }
    for (int64_t i = j; i < j + width && !status; i++) {
        f->pivot[i] += j; /* counted from the matrix's first row */
        if (f->pivot[i] != i) {
            status = swap_rows(f, i, f->pivot[i]);
        }
    }
    if (!status) {
        status = iso_write_2d(f->stream, at(f, j, j), pitch, f->panel, bytes, bytes, rows);
    }
    if (status || !rest) {
        return status;
    }
    status = solve(f, j, j + width, width, rest);
    return status ? status
                  : update(f, at(f, j + width, j + width), at(f, j + width, j), at(f, j, j + width),
                           rest, rest, width);
}

static iso_status factor(const lu *f, bool *singular)
{
    iso_status status = ISO_OK;

    *singular = false;
    for (int64_t j = 0; j < f->n && !status && !*singular; j += f->block) {
        status = step(f, j, f->n - j < f->block ? f->n - j : f->block, singular);
    }
    return status;
}

/* |P A - L U| / (|A| n eps) in the infinity norm (largest row sum); eps is 2^-53. `a` becomes P A.
 */
static double residual(const lu *f, double *a, const double *factors)
{
    int64_t n = f->n;
    double difference = 0, size = 0;

    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n, *other = a + f->pivot[i] * n;

        for (int64_t j = 0; row != other && j < n; j++) {
            double kept = row[j];

            row[j] = other[j];
            other[j] = kept;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n, off = 0, sum = 0;

        for (int64_t j = 0; j < n; j++) {
            sum += fabs(row[j]);
        }
        for (int64_t k = 0; k <= i; k++) {
            double l = k == i ? 1 : factors[i * n + k];

            for (int64_t j = k; j < n; j++) {
                row[j] -= l * factors[k * n + j];
            }
        }
        for (int64_t j = 0; j < n; j++) {
            off += fabs(row[j]);
        }
        difference = off > difference || isnan(off) ? off : difference;
        size = sum > size ? sum : size;
    }
    return difference / (size * (double)n * (DBL_EPSILON / 2));
}

/* Numbers between -1/2 and 1/2, the same in every run. */
static void fill(double *a, int64_t count)
{
    uint64_t state = 1;

    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        a[i] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
    }
}

/* Factors `a` on the device and checks the result. Returns 0 if it is correct. */
static int run(iso_device device, lu *f, double *a, double *factors)
{
    int64_t bytes = f->n * f->n * ELEMENT;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    void *panel;
    bool singular;
    double off;

    if (iso_device_get_info(device, &info) || iso_stream_create(device, 0, &f->stream) ||
        iso_buffer_create(device, bytes, &f->matrix) ||
        iso_buffer_create(device, f->n * ELEMENT, &f->row) ||
        iso_host_alloc(device, f->n * f->block * ELEMENT, &panel, NULL)) {
        return fprintf(stderr, "lu: %s\n", iso_last_error()), 1;
    }
    f->panel = panel;
    if (iso_write(f->stream, at(f, 0, 0), a, bytes) || factor(f, &singular) ||
        iso_read(f->stream, factors, at(f, 0, 0), bytes) || iso_stream_sync(f->stream)) {
        return fprintf(stderr, "lu: %s\n", iso_last_error()), 1;
    }
    if (singular) {
        return fprintf(stderr, "lu: the matrix is singular: a pivot is exactly zero\n"), 1;
    }
    off = residual(f, a, factors);
    printf("%s (%s): order %lld, panels of %lld columns: |PA - LU| / (|A| n eps) is %.2g\n",
           info.spec, info.name, (long long)f->n, (long long)f->block, off);
    if (!(off < ALLOWED)) {
        return fprintf(stderr, "lu: the residual is not below %d\n", ALLOWED), 1;
    }
    return 0;
}

static bool number(const char *text, int64_t *out)
{
    char *end;

    *out = strtoll(text, &end, 10);
    return end != text && !*end && *out >= 1 && *out <= 30000;
}

int main(int count, char **words)
{
    lu f = {.n = 500, .block = 64};
    iso_device device;
    double *a, *factors;
    int failed = 1;

    if (count > 3 || (count > 1 && !number(words[1], &f.n)) ||
        (count > 2 && !number(words[2], &f.block))) {
        return fprintf(stderr, "usage: lu [order [columns of a panel]], each 1 to 30000\n"), 2;
    }
    f.block = f.block < f.n ? f.block : f.n;
    a = malloc((size_t)(f.n * f.n) * ELEMENT);
    factors = malloc((size_t)(f.n * f.n) * ELEMENT);
    f.pivot = malloc((size_t)f.n * sizeof *f.pivot);
    if (!a || !factors || !f.pivot) {
        fprintf(stderr, "lu: no memory for a matrix of order %lld\n", (long long)f.n);
    } else if (iso_device_open(NULL, &device)) {
        fprintf(stderr, "lu: %s\n", iso_last_error());
    } else {
        fill(a, f.n * f.n);
        failed = run(device, &f, a, factors);
        if (iso_device_close(device)) { /* also frees everything that was created on it */
            fprintf(stderr, "lu: %s\n", iso_last_error());
            failed = 1;
        }
    }
    free(a);
    free(factors);
    free(f.pivot);
    return failed;
}
