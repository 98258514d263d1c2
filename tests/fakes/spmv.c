/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmv.c - products of sparse matrices by a vendor's library, over a stand-in. Numbers are small
 * and whole, so that results are exact in any order.
 *
 *   spmv BACKEND all        every result is right; prints the library and its routine
 *   spmv BACKEND refusals   what the library must not get is UNSUPPORTED; prints the messages
 *   spmv BACKEND once       prints the status and the message of one product
 */
#include "tests/concurrency/check.h"

#include <stdbool.h>

typedef struct shape {
    iso_dtype dtype, index;
    int64_t rows, cols;
    int every;    /* each row has an entry in each `every`-th column; 0: no entries */
    int64_t full; /* this row has one in all columns; -1: none */
    iso_trans trans;
    double alpha, beta;
    int skip; /* elements before y in its buffer */
} shape;

static const shape shapes[] = {
    {ISO_F32, ISO_I32, 100, 70, 7, 3, ISO_NO_TRANS, 1, 0, 0},
    {ISO_F32, ISO_I64, 70, 100, 3, -1, ISO_TRANS, 2, 1, 0},
    {ISO_F64, ISO_I32, 33, 5000, 11, 32, ISO_NO_TRANS, -1, 2, 0},
    {ISO_F64, ISO_I64, 33, 5000, 60, 0, ISO_TRANS, 1, 0, 0},
    {ISO_F32, ISO_I32, 1, 1, 1, -1, ISO_NO_TRANS, 3, 1, 0},
    {ISO_F32, ISO_I32, 40, 9, 0, -1, ISO_NO_TRANS, 1, 2, 0},  /* no entries */
    {ISO_F64, ISO_I64, 40, 9, 0, -1, ISO_TRANS, 1, 0, 0},     /* the same */
    {ISO_F64, ISO_I32, 40, 0, 0, -1, ISO_NO_TRANS, 1, -1, 0}, /* no columns */
    {ISO_F32, ISO_I32, 90, 80, 2, -1, ISO_NO_TRANS, 0, 3, 0}, /* alpha 0: no entries are read */
    {ISO_F64, ISO_I32, 90, 80, 2, -1, ISO_TRANS, 0, 0, 0},
    {ISO_F32, ISO_I32, 30, 20, 3, -1, ISO_NO_TRANS, 1, 0, 1}, /* an unaligned y */
    {ISO_F64, ISO_I32, 30, 20, 3, -1, ISO_NO_TRANS, 1, 2, 1},
    {ISO_F32, ISO_I32, 30, 20, 0, -1, ISO_NO_TRANS, 1, 2, 3},
};

/* ---- matrices -------------------------------------------------------------------------------- */

typedef struct matrix {
    int64_t *offsets, *columns;
    double *values;
    int64_t entries;
} matrix;

static matrix make(const shape *s)
{
    const size_t most = (size_t)(s->rows * s->cols) + 1;
    matrix made = {check_alloc((size_t)(s->rows + 1) * 8), check_alloc(most * 8),
                   check_alloc(most * 8), 0};
    for (int64_t i = 0; i < s->rows; i++) {
        made.offsets[i] = made.entries;
        for (int64_t j = 0; j < s->cols; j++) {
            if (i == s->full || (s->every > 0 && (i + j) % s->every == 0)) {
                made.columns[made.entries] = j;
                made.values[made.entries++] = (double)((i * 3 + j) % 7 - 3);
            }
        }
    }
    made.offsets[s->rows] = made.entries;
    return made;
}

static void free_matrix(matrix *m)
{
    free(m->offsets);
    free(m->columns);
    free(m->values);
}

/* The numbers as the type has them. */
static void *floating(iso_dtype dtype, const double *from, int64_t count)
{
    void *made = check_alloc((size_t)count * 8 + 8);
    for (int64_t i = 0; i < count; i++) {
        if (dtype == ISO_F64) {
            ((double *)made)[i] = from[i];
        } else {
            ((float *)made)[i] = (float)from[i];
        }
    }
    return made;
}

static void *whole(iso_dtype index, const int64_t *from, int64_t count)
{
    void *made = check_alloc((size_t)count * 8 + 8);
    for (int64_t i = 0; i < count; i++) {
        if (index == ISO_I64) {
            ((int64_t *)made)[i] = from[i];
        } else {
            ((int32_t *)made)[i] = (int32_t)from[i];
        }
    }
    return made;
}

static iso_sparse upload(iso_device device, const shape *s, const matrix *m)
{
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    iso_sparse sparse = {0};
    void *offsets = whole(s->index, m->offsets, s->rows + 1);
    void *columns = whole(s->index, m->columns, m->entries);
    void *values = floating(s->dtype, m->values, m->entries);
    args.dtype = s->dtype;
    args.index = s->index;
    args.rows = s->rows;
    args.cols = s->cols;
    args.entries = m->entries;
    args.offsets = offsets;
    args.columns = columns;
    args.values = values;
    CHECK_OK(iso_sparse_create(device, &args, &sparse));
    free(offsets);
    free(columns);
    free(values);
    return sparse;
}

/* ---- products -------------------------------------------------------------------------------- */

static void expect(const shape *s, const matrix *m, const double *x, double *y)
{
    const bool trans = s->trans == ISO_TRANS;
    const int64_t count = trans ? s->cols : s->rows;
    double *sums = calloc((size_t)count + 1, sizeof *sums);
    CHECK(sums != NULL);
    for (int64_t i = 0; i < s->rows; i++) {
        for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
            sums[trans ? m->columns[e] : i] += m->values[e] * x[trans ? i : m->columns[e]];
        }
    }
    for (int64_t i = 0; i < count; i++) {
        y[i] = s->alpha * sums[i] + s->beta * y[i];
    }
    free(sums);
}

static iso_operand vector(iso_device device, iso_stream stream, iso_dtype dtype, const double *from,
                          int64_t count, int skip)
{
    const int64_t bytes = count * iso_dtype_size(dtype);
    iso_operand made = check_buffer(device, bytes + 64);
    made.offset = skip * iso_dtype_size(dtype);
    void *values = floating(dtype, from, count);
    if (bytes > 0) {
        CHECK_OK(iso_write(stream, made, values, bytes));
    }
    CHECK_OK(iso_stream_sync(stream));
    free(values);
    return made;
}

static void fill(double *to, int64_t count, int step)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = (double)((i * step + 1) % 5 - 2);
    }
}

static void check_result(iso_stream stream, const shape *s, iso_operand y, const double *wanted,
                         int64_t count)
{
    void *all = floating(s->dtype, wanted, count);
    const int64_t bytes = count * iso_dtype_size(s->dtype);
    void *got = check_alloc((size_t)bytes + 8);
    CHECK_OK(iso_read(stream, got, y, bytes));
    CHECK_OK(iso_stream_sync(stream));
    for (int64_t i = 0; i < count; i++) {
        const double value = s->dtype == ISO_F64 ? ((double *)got)[i] : (double)((float *)got)[i];
        if (value != wanted[i]) {
            (void)fprintf(stderr, "%lld x %lld: element %lld is %g, not %g\n", (long long)s->rows,
                          (long long)s->cols, (long long)i, value, wanted[i]);
            _Exit(1);
        }
    }
    free(got);
    free(all);
}

static void run(iso_device device, iso_stream stream, const shape *s)
{
    const bool trans = s->trans == ISO_TRANS;
    const int64_t to = trans ? s->cols : s->rows, from = trans ? s->rows : s->cols;
    matrix m = make(s);
    double *x = check_alloc((size_t)from * 8 + 8), *y = check_alloc((size_t)to * 8 + 8);
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    int64_t scratch = -1;
    fill(x, from, 3);
    fill(y, to, 2);
    args.variant = ISO_VARIANT_VENDOR;
    args.trans = s->trans;
    args.matrix = upload(device, s, &m);
    args.alpha = s->alpha;
    args.beta = s->beta;
    args.x = vector(device, stream, s->dtype, x, from, 0);
    args.y = vector(device, stream, s->dtype, y, to, s->skip);
    CHECK_OK(iso_supports(device, ISO_OP_SPMV, &args));
    CHECK_OK(iso_describe(device, ISO_OP_SPMV, &args, &info));
    CHECK_OK(iso_workspace(device, ISO_OP_SPMV, &args, &scratch));
    CHECK(scratch > 0);
    CHECK_OK(iso_prepare(stream, ISO_OP_SPMV, &args));
    for (int times = 0; times < 2; times++) {
        CHECK_OK(iso_spmv(stream, &args));
        expect(s, &m, x, y);
    }
    check_result(stream, s, args.y, y, to);
    (void)printf("%s: %s, %lld x %lld, %lld entries\n", info.library, info.kernel,
                 (long long)s->rows, (long long)s->cols, (long long)m.entries);
    CHECK_OK(iso_sparse_destroy(args.matrix));
    CHECK_OK(iso_buffer_destroy(args.x.buffer));
    CHECK_OK(iso_buffer_destroy(args.y.buffer));
    free_matrix(&m);
    free(x);
    free(y);
}

/* ---- refusals and statuses ------------------------------------------------------------------- */

/* A matrix of 2 x 1 with three entries, of which two share a place, or with one in each row. */
static iso_spmv_args small(iso_device device, bool shares)
{
    static const int32_t offsets[] = {0, 1, 2}, more_offsets[] = {0, 2, 3}, columns[] = {0, 0, 0};
    static const float values[] = {1, 2, 3};
    iso_sparse_args sparse = ISO_SPARSE_ARGS_INIT;
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;
    sparse.dtype = ISO_F32;
    sparse.index = ISO_I32;
    sparse.rows = 2;
    sparse.cols = 1;
    sparse.entries = shares ? 3 : 2;
    sparse.offsets = shares ? more_offsets : offsets;
    sparse.columns = columns;
    sparse.values = values;
    CHECK_OK(iso_sparse_create(device, &sparse, &args.matrix));
    args.variant = ISO_VARIANT_VENDOR;
    args.x = check_buffer(device, 64);
    args.y = check_buffer(device, 64);
    return args;
}

static void show(iso_status status)
{
    (void)printf("%s: %s\n", iso_status_name(status), status ? iso_last_error() : "");
}

static void refusals(iso_device device)
{
    iso_spmv_args args = small(device, true);
    iso_gemm_args product = ISO_GEMM_ARGS_INIT;
    show(iso_supports(device, ISO_OP_SPMV, &args));
    args = small(device, false);
    args.library = 1;
    show(iso_supports(device, ISO_OP_SPMV, &args));
    product.dtype = ISO_F32;
    product.variant = ISO_VARIANT_VENDOR;
    product.m = product.n = product.k = 1;
    product.library = 2;
    product.a = product.b = args.x;
    product.c = args.y;
    show(iso_supports(device, ISO_OP_GEMM, &product));
}

static void once(iso_device device, iso_stream stream)
{
    const iso_spmv_args args = small(device, false);
    iso_status status = iso_spmv(stream, &args);
    show(status ? status : iso_stream_sync(stream));
}

int main(int count, char **words)
{
    iso_device device = {0};
    CHECK(count == 3);
    CHECK_OK(iso_device_open(words[1], &device));
    const iso_stream stream = check_stream(device, 0);
    if (strcmp(words[2], "once") == 0) {
        once(device, stream);
    } else if (strcmp(words[2], "refusals") == 0) {
        refusals(device);
    } else {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            run(device, stream, &shapes[i]);
        }
    }
    CHECK_OK(iso_device_close(device));
    return 0;
}
