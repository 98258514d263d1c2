/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - the launches of lab D. */
#include "arrays.h"

#include <stdbool.h>
#include <stdlib.h>

/* As in d_arrays.isk. */
enum {
    SUM_ITEMS = 256,
    SUM_ROWS = 64,
    WORD = 16,       /* bytes */
    WORDS = 32,      /* of a group of column_sums_f32x4 and column_sums_f64x2 */
    WORD_ROWS = 256, /* that are added to one */
    JOIN_COLS = 32,
    FUSED_COLS = 16,
    SHARES = 2, /* of A's rows, in fused_sums: so there are groups enough for a large GPU */
    TILE = 128,
    CELLS_X = 64,
    CELLS_Y = 16,
    INNER_WIDE = 112,
    INNER_HIGH = 48
};

static int64_t blocks(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static iso_status launch(iso_stream stream, iso_program program, const char *name,
                         iso_groups groups, const iso_argument *arguments, int count)
{
    iso_kernel kernel;
    const iso_status status = iso_kernel_get(program, name, &kernel);
    return status ? status : iso_launch(stream, kernel, groups, arguments, count);
}

/* ---- sums ------------------------------------------------------------------------------------ */

const char *array_way_name(array_way way)
{
    static const char *const names[] = {[ARRAY_PRODUCT] = "product",
                                        [ARRAY_SUMS_FIRST] = "sums-first",
                                        [ARRAY_FUSED_PRODUCT] = "fused-product",
                                        [ARRAY_FUSED_SUMS] = "fused-sums"};
    return (size_t)way < sizeof names / sizeof *names ? names[way] : "unknown";
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t array_sums_work(const array_sums *s)
{
    const int64_t of_c = blocks(s->m, SUM_ROWS) * s->n;
    const int64_t of_a = blocks(s->m, SUM_ROWS) * s->k, of_b = blocks(s->k, SUM_ROWS) * s->n;
    const int64_t fused = blocks(s->k, FUSED_COLS) * SHARES * s->n;
    const int64_t parts = largest(largest(of_c, of_a), largest(of_b, fused));
    return (s->k + parts) * iso_dtype_size(s->dtype) + WORD;
}

/* y = the sum of `rows` rows of partial sums. */
static iso_status join(iso_stream stream, iso_program program, iso_dtype dtype, iso_operand partial,
                       int64_t rows, int64_t cols, iso_operand y)
{
    const iso_argument arguments[] = {iso_arg_buffer(partial), iso_arg_buffer(y),
                                      iso_arg_integer(rows), iso_arg_integer(cols)};
    return launch(stream, program, dtype == ISO_F64 ? "join_f64" : "join_f32",
                  (iso_groups){blocks(cols, JOIN_COLS), 1, 1}, arguments, 4);
}

/* Adds each `share` rows of a to one of `to`. */
static iso_status add_words(iso_stream stream, iso_program program, iso_dtype dtype,
                            const iso_operand *weights, iso_operand a, int64_t rows, int64_t cols,
                            int64_t share, iso_operand to)
{
    const bool wide = dtype == ISO_F64;
    const int64_t words = cols * iso_dtype_size(dtype) / WORD;
    const iso_argument arguments[] = {iso_arg_buffer(weights ? *weights : a),
                                      iso_arg_integer(weights != NULL),
                                      iso_arg_buffer(a),
                                      iso_arg_buffer(to),
                                      iso_arg_integer(rows),
                                      iso_arg_integer(words),
                                      iso_arg_integer(share)};
    return launch(stream, program, wide ? "column_sums_f64x2" : "column_sums_f32x4",
                  (iso_groups){blocks(words, WORDS), blocks(rows, share), 1}, arguments, 7);
}

/* y = the sums of a's columns; with `weights`, row r counts weights[r] times. */
static iso_status sum_columns(iso_stream stream, iso_program program, const array_sums *s,
                              const iso_operand *weights, iso_operand a, int64_t rows, int64_t cols,
                              iso_operand partial, iso_operand y)
{
    static const char *const names[2][2] = {{"column_sums_f32", "column_sums_f64"},
                                            {"vector_matrix_f32", "vector_matrix_f64"}};
    const bool words = s->words && rows > 0 && cols * iso_dtype_size(s->dtype) % WORD == 0;
    const int64_t parts = blocks(rows, words ? WORD_ROWS : SUM_ROWS);
    iso_argument arguments[5];
    iso_status status;
    int count = 0;

    if (words) {
        status = add_words(stream, program, s->dtype, weights, a, rows, cols, WORD_ROWS, partial);
        return status ? status
                      : add_words(stream, program, s->dtype, NULL, partial, parts, cols, parts, y);
    }
    if (weights) {
        arguments[count++] = iso_arg_buffer(*weights);
    }
    arguments[count++] = iso_arg_buffer(a);
    arguments[count++] = iso_arg_buffer(partial);
    arguments[count++] = iso_arg_integer(rows);
    arguments[count++] = iso_arg_integer(cols);
    status = launch(stream, program, names[weights != NULL][s->dtype == ISO_F64],
                    (iso_groups){blocks(cols, SUM_ITEMS), parts, 1}, arguments, count);
    return status ? status : join(stream, program, s->dtype, partial, parts, cols, y);
}

iso_status array_sums_columns(iso_stream stream, iso_program program, const array_sums *s)
{
    return sum_columns(stream, program, s, NULL, s->c, s->m, s->n, s->work, s->y);
}

static iso_status run_product(iso_stream stream, iso_program program, const array_sums *s)
{
    iso_gemm_args product = ISO_GEMM_ARGS_INIT;
    product.dtype = s->dtype;
    product.variant = s->variant;
    product.m = s->m;
    product.n = s->n;
    product.k = s->k;
    product.a = s->a;
    product.b = s->b;
    product.c = s->c;
    const iso_status status = iso_gemm(stream, &product);
    return status ? status : array_sums_columns(stream, program, s);
}

static iso_status run_sums_first(iso_stream stream, iso_program program, const array_sums *s)
{
    const iso_operand sums = s->work;
    iso_operand partial = s->work;
    partial.offset += blocks(s->k * iso_dtype_size(s->dtype), WORD) * WORD;
    const iso_status status =
        sum_columns(stream, program, s, NULL, s->a, s->m, s->k, partial, sums);
    return status ? status
                  : sum_columns(stream, program, s, &sums, s->b, s->k, s->n, partial, s->y);
}

static iso_status run_fused(iso_stream stream, iso_program program, const array_sums *s,
                            const char *name, iso_groups groups, int64_t rows, int count)
{
    const iso_argument arguments[] = {iso_arg_buffer(s->a),
                                      iso_arg_buffer(s->b),
                                      iso_arg_buffer(s->work),
                                      iso_arg_integer(s->m),
                                      iso_arg_integer(s->k),
                                      iso_arg_integer(s->n),
                                      iso_arg_integer(blocks(s->m, SHARES))};
    const iso_status status = launch(stream, program, name, groups, arguments, count);
    return status ? status : join(stream, program, s->dtype, s->work, rows, s->n, s->y);
}

iso_status array_sums_run(iso_stream stream, iso_program program, const array_sums *s,
                          array_way way)
{
    const bool wide = s->dtype == ISO_F64;
    const iso_groups tiles = {blocks(s->n, TILE), blocks(s->m, TILE), 1};
    iso_groups shares = {blocks(s->k, FUSED_COLS), 1, 1};

    shares.y = s->m > 0 ? blocks(s->m, blocks(s->m, SHARES)) : 0;
    switch (way) {
    case ARRAY_SUMS_FIRST:
        return run_sums_first(stream, program, s);
    case ARRAY_FUSED_PRODUCT:
        return run_fused(stream, program, s, wide ? "fused_product_f64" : "fused_product_f32",
                         tiles, tiles.y, 6);
    case ARRAY_FUSED_SUMS:
        return run_fused(stream, program, s, wide ? "fused_sums_f64" : "fused_sums_f32", shares,
                         shares.x * shares.y, 7);
    case ARRAY_PRODUCT:
    default:
        return run_product(stream, program, s);
    }
}

/* ---- diffusion ------------------------------------------------------------------------------- */

iso_status array_field_begin(iso_stream stream, array_field *field)
{
    const int64_t n = field->n, first = n / 4, end = 3 * n / 4;
    const float one = 1, zero = 0;
    iso_operand square = field->now;
    iso_status status =
        iso_fill(stream, field->now, &zero, sizeof zero, n * n * (int64_t)sizeof zero);

    square.offset += (first * n + first) * (int64_t)sizeof one;
    return status ? status
                  : iso_fill_2d(stream, square, n * (int64_t)sizeof one, &one, sizeof one,
                                (end - first) * (int64_t)sizeof one, end - first);
}

static int64_t rows_of(const array_field *field)
{
    return field->rows > 0 ? field->rows : field->n;
}

static iso_status field_launch(iso_stream stream, iso_program program, const array_field *field,
                               const char *name, iso_groups groups, int32_t each)
{
    const iso_argument arguments[] = {iso_arg_buffer(field->now), iso_arg_buffer(field->other),
                                      iso_arg_integer(rows_of(field)), iso_arg_integer(field->n),
                                      iso_arg_integer(each)};
    return launch(stream, program, name, groups, arguments, each > 1 ? 5 : 4);
}

static iso_groups cells(const array_field *field)
{
    return (iso_groups){blocks(field->n, CELLS_X), blocks(rows_of(field), CELLS_Y), 1};
}

iso_status array_field_steps(iso_stream stream, iso_program program, array_field *field,
                             int64_t steps, int32_t each)
{
    const iso_groups tiles = {blocks(field->n, INNER_WIDE), blocks(rows_of(field), INNER_HIGH), 1};
    iso_status status = ISO_OK;

    for (int64_t done = 0; !status && done < steps;) {
        const int32_t now = steps - done < each ? (int32_t)(steps - done) : each;
        const iso_operand was = field->now;
        status = now > 1 ? field_launch(stream, program, field, "diffuse_steps_f32", tiles, now)
                         : field_launch(stream, program, field, "diffuse_f32", cells(field), 1);
        field->now = field->other;
        field->other = was;
        done += now;
    }
    return status;
}

iso_status array_field_laplacian(iso_stream stream, iso_program program, const array_field *field)
{
    return field_launch(stream, program, field, "laplacian_f32", cells(field), 1);
}
