/* SPDX-License-Identifier: Apache-2.0 */
/* ridge.c - ten regressions, and their input. */
#include "ridge.h"
#include "lab.h"

void ridge_coefficients(ridge_point points[RIDGE_POINTS])
{
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const double lambda = 0.1 * pow(5000 / 0.1, (double)i / (RIDGE_POINTS - 1));
        points[i] = (ridge_point){.lambda = lambda};
    }
}

/* What measures a solution: r has space for A x - b, g for the gradient, then one for a norm. */
typedef struct measure {
    iso_stream stream;
    iso_sparse_info info;
    iso_operand r, g, result;
} measure;

/* y = op(A) x + keep y, then its norm. */
static iso_status product_norm(const measure *m, iso_spmv_args product, double *norm)
{
    const int64_t each = iso_dtype_size(m->info.dtype);
    unsigned char found[sizeof(double)] = {0};
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    iso_status status = iso_spmv(m->stream, &product);

    args.op = ISO_NORM2;
    args.dtype = m->info.dtype;
    args.variant = ISO_VARIANT_TILED;
    args.cols = product.trans == ISO_TRANS ? m->info.cols : m->info.rows;
    args.x = product.y;
    args.result = m->result;
    status = status ? status : iso_reduce(m->stream, &args);
    status = status ? status : iso_read(m->stream, found, m->result, each);
    status = status ? status : iso_stream_sync(m->stream);
    *norm = lab_get(found, m->info.dtype, 0);
    return status;
}

static iso_status look_at(const measure *m, iso_sparse matrix, const lsmr_args *args, iso_operand x,
                          ridge_point *point)
{
    const int64_t each = iso_dtype_size(m->info.dtype);
    iso_spmv_args product = ISO_SPMV_ARGS_INIT;
    iso_status status = iso_copy(m->stream, m->r, args->b, m->info.rows * each);

    status = status ? status : iso_copy(m->stream, m->g, x, m->info.cols * each);
    product.variant = args->variant;
    product.matrix = matrix;
    product.beta = -1;
    product.x = x;
    product.y = m->r;
    status = status ? status : product_norm(m, product, &point->residual);
    product.trans = ISO_TRANS;
    product.beta = point->lambda * point->lambda;
    product.x = m->r;
    product.y = m->g;
    point->norm = point->result.state.norm_x;
    return status ? status : product_norm(m, product, &point->gradient);
}

/* Solves for `count` points together. */
static iso_status solve(const measure *m, iso_sparse matrix, lsmr *solver, const lsmr_args *args,
                        ridge_point *points, int count)
{
    const int64_t bytes = m->info.cols * iso_dtype_size(m->info.dtype);
    lsmr_args these = *args;
    lsmr_result results[RIDGE_POINTS];
    double lambdas[RIDGE_POINTS];

    for (int i = 0; i < count; i++) {
        lambdas[i] = points[i].lambda;
    }
    these.damps = lambdas;
    these.count = count;
    iso_status status = lsmr_solve(solver, &these, results);
    iso_operand x = args->x;
    for (int i = 0; !status && i < count; i++) {
        points[i].result = results[i];
        status = look_at(m, matrix, args, x, &points[i]);
        x.offset += bytes;
    }
    return status;
}

iso_status ridge_run(iso_device device, iso_stream stream, iso_sparse matrix, lsmr *solver,
                     const lsmr_args *args, ridge_point *points, int count, int at_once)
{
    measure m = {.stream = stream, .info = ISO_SPARSE_INFO_INIT};
    iso_buffer work = {0};
    iso_status status =
        count > RIDGE_POINTS || at_once < 1 ? ISO_INVALID : iso_sparse_get_info(matrix, &m.info);
    const int64_t each = iso_dtype_size(m.info.dtype);

    status =
        status ? status : iso_buffer_create(device, (m.info.rows + m.info.cols + 1) * each, &work);
    m.r = (iso_operand){work, 0};
    m.g = (iso_operand){work, m.info.rows * each};
    m.result = (iso_operand){work, (m.info.rows + m.info.cols) * each};
    for (int i = 0; !status && i < count; i += at_once) {
        const int now = count - i < at_once ? count - i : at_once;
        status = solve(&m, matrix, solver, args, points + i, now);
    }
    if (work.id) {
        (void)iso_buffer_destroy(work);
    }
    return status;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* The entries of all rows; written only if there are arrays for them. */
static int64_t fill(ridge_input *in, double density)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < in->rows; i++) {
        for (int64_t j = 0; j < in->cols; j++) {
            if (lab_present(LAB_SEED_SPARSE, in->cols, i, j, density)) {
                if (in->columns) {
                    in->columns[entries] = (int32_t)j;
                    in->values[entries] = (float)lab_uniform(LAB_SEED_SPARSE + 1, i * in->cols + j);
                }
                entries++;
            }
        }
        if (in->columns) {
            in->offsets[i + 1] = (int32_t)entries;
        }
    }
    return entries;
}

iso_status ridge_input_make(int64_t rows, int64_t cols, double density, ridge_input *out)
{
    *out = (ridge_input){.rows = rows, .cols = cols};
    out->entries = fill(out, density);
    if (out->entries > INT32_MAX) {
        return ISO_NO_MEMORY;
    }
    out->offsets = calloc((size_t)rows + 1, sizeof *out->offsets);
    out->columns = malloc((size_t)out->entries * sizeof *out->columns + 1);
    out->values = malloc((size_t)out->entries * sizeof *out->values + 1);
    out->b = malloc((size_t)rows * sizeof *out->b + 1);
    if (!out->offsets || !out->columns || !out->values || !out->b) {
        ridge_input_free(out);
        return ISO_NO_MEMORY;
    }
    (void)fill(out, density);
    for (int64_t i = 0; i < rows; i++) {
        out->b[i] = (float)lab_normal(LAB_SEED_RIGHT, i);
    }
    return ISO_OK;
}

void ridge_input_free(ridge_input *in)
{
    free(in->offsets);
    free(in->columns);
    free(in->values);
    free(in->b);
    *in = (ridge_input){0};
}

/* The same numbers as f32, or as f64; NULL: no memory. */
static void *converted(const float *from, int64_t count, iso_dtype dtype)
{
    void *made = malloc((size_t)(count * iso_dtype_size(dtype)) + 1);
    for (int64_t i = 0; made && i < count; i++) {
        lab_set(made, dtype, i, (double)from[i]);
    }
    return made;
}

iso_status ridge_input_upload(iso_device device, iso_stream stream, const ridge_input *in,
                              iso_dtype dtype, iso_sparse *matrix, iso_operand *b)
{
    const int64_t bytes = in->rows * iso_dtype_size(dtype);
    void *values = converted(in->values, in->entries, dtype);
    void *right = converted(in->b, in->rows, dtype);
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    iso_status status = values && right ? ISO_OK : ISO_NO_MEMORY;

    *matrix = (iso_sparse){0};
    *b = (iso_operand){{0}, 0};
    args.dtype = dtype;
    args.index = ISO_I32;
    args.rows = in->rows;
    args.cols = in->cols;
    args.entries = in->entries;
    args.offsets = in->offsets;
    args.columns = in->columns;
    args.values = values;
    status = status ? status : iso_sparse_create(device, &args, matrix);
    status = status ? status : iso_buffer_create(device, bytes, &b->buffer);
    status = status ? status : iso_write(stream, *b, right, bytes);
    status = status ? status : iso_stream_sync(stream);
    free(values);
    free(right);
    return status;
}
