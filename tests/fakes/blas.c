/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - products, sums and folds as a BLAS defines them. */
#include "tests/fakes/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t fake_type_bytes(fake_type type)
{
    static const size_t bytes[] = {
        [FAKE_F16] = 2, [FAKE_BF16] = 2,  [FAKE_F32] = 4, [FAKE_F64] = 8,
        [FAKE_C64] = 8, [FAKE_C128] = 16, [FAKE_I8] = 1,  [FAKE_I32] = 4};
    return bytes[type];
}

/* ---- elements -------------------------------------------------------------------------------- */

static float from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31) {
        return fraction ? NAN : sign * INFINITY;
    }
    return sign * (exponent ? ldexpf((float)(1024 + fraction), exponent - 25)
                            : ldexpf((float)fraction, -24));
}

static uint16_t to_half(float value)
{
    const unsigned sign = signbit(value) ? 0x8000u : 0u;
    const float size = fabsf(value);
    if (isnan(value)) {
        return 0x7e00;
    }
    if (size >= 65520.0f) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (size < 0x1p-14f) {
        return (uint16_t)(sign | (unsigned)lrintf(size * 0x1p24f));
    }
    const int exponent = ilogbf(size);
    const unsigned fraction = (unsigned)lrintf(ldexpf(size, 10 - exponent));
    return (uint16_t)(sign | (((unsigned)(exponent + 14) << 10) + fraction));
}

static float from_bfloat(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t to_bfloat(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static double get(fake_type type, const void *at, int64_t index)
{
    switch (type) {
    case FAKE_F16:
        return (double)from_half(((const uint16_t *)at)[index]);
    case FAKE_BF16:
        return (double)from_bfloat(((const uint16_t *)at)[index]);
    case FAKE_F32:
        return (double)((const float *)at)[index];
    default:
        return ((const double *)at)[index];
    }
}

static void put(fake_type type, void *at, int64_t index, double value)
{
    switch (type) {
    case FAKE_F16:
        ((uint16_t *)at)[index] = to_half((float)value);
        break;
    case FAKE_BF16:
        ((uint16_t *)at)[index] = to_bfloat((float)value);
        break;
    case FAKE_F32:
        ((float *)at)[index] = (float)value;
        break;
    default:
        ((double *)at)[index] = value;
        break;
    }
}

double fake_element(fake_type type, const void *at, int64_t index)
{
    return get(type, at, index);
}

void fake_element_set(fake_type type, void *at, int64_t index, double value)
{
    put(type, at, index, value);
}

/* ---- checks of the arguments ----------------------------------------------------------------- */

bool fake_on_device(const char *what, const void *at, int64_t elements, fake_type type)
{
    if (elements <= 0 || fake_is_device(at, (size_t)elements * fake_type_bytes(type))) {
        return true;
    }
    fprintf(stderr, "fake: operand %s of a BLAS call: %lld elements at %p are not device memory\n",
            what, (long long)elements, at);
    return false;
}

int64_t fake_extent(int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch)
{
    return rows > 0 && cols > 0 ? (batch - 1) * stride + (cols - 1) * ld + rows : 0;
}

bool fake_ld_fits(int64_t rows, int64_t ld)
{
    return ld >= (rows > 1 ? rows : 1);
}

/* ---- products -------------------------------------------------------------------------------- */

/* op(matrix) as rows x cols, dense. */
static double *dense(fake_type type, const fake_matrix *matrix, int64_t number, int64_t rows,
                     int64_t cols)
{
    double *out = malloc((size_t)(rows * cols + 1) * sizeof *out);
    const char *at =
        (const char *)matrix->at + number * matrix->stride * (int64_t)fake_type_bytes(type);
    for (int64_t j = 0; out && j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            out[j * rows + i] =
                get(type, at, matrix->trans ? i * matrix->ld + j : j * matrix->ld + i);
        }
    }
    return out;
}

/* A column of the product, accumulated in f32 except for f64. */
static void column_f32(int64_t m, int64_t k, const double *a, const double *b, float *sum)
{
    memset(sum, 0, (size_t)m * sizeof *sum);
    for (int64_t l = 0; l < k; l++) {
        const float factor = (float)b[l];
        const double *from = a + l * m;
        for (int64_t i = 0; i < m; i++) {
            sum[i] += (float)from[i] * factor;
        }
    }
}

static void column_f64(int64_t m, int64_t k, const double *a, const double *b, double *sum)
{
    memset(sum, 0, (size_t)m * sizeof *sum);
    for (int64_t l = 0; l < k; l++) {
        const double *from = a + l * m;
        for (int64_t i = 0; i < m; i++) {
            sum[i] += from[i] * b[l];
        }
    }
}

static fake_type type_c_of(const fake_product *p)
{
    return p->type_c ? p->type_c : p->type;
}

static int multiply_one(const fake_product *p, int64_t number)
{
    const int64_t k = p->alpha == 0 ? 0 : p->k;
    const fake_type type_c = type_c_of(p);
    const int64_t bytes = (int64_t)fake_type_bytes(type_c);
    const char *c = (const char *)p->c.at + number * p->c.stride * bytes;
    char *d = (char *)p->d + number * p->stride_d * bytes;
    double *a = dense(p->type, &p->a, number, k > 0 ? p->m : 0, k);
    double *b = dense(p->type, &p->b, number, k, k > 0 ? p->n : 0);
    double *sum = malloc((size_t)p->m * sizeof *sum);
    float *narrow = malloc((size_t)p->m * sizeof *narrow);
    const bool done = a && b && sum && narrow;
    for (int64_t j = 0; done && j < p->n; j++) {
        if (p->type == FAKE_F64) {
            column_f64(p->m, k, a, b + j * k, sum);
        } else {
            column_f32(p->m, k, a, b + j * k, narrow);
            for (int64_t i = 0; i < p->m; i++) {
                sum[i] = (double)narrow[i];
            }
        }
        for (int64_t i = 0; i < p->m; i++) {
            const double scaled = p->alpha == 0 ? 0 : p->alpha * sum[i];
            const double old = p->beta == 0 ? 0 : p->beta * get(type_c, c, j * p->c.ld + i);
            put(type_c, d, j * p->ld_d + i, scaled + old);
        }
    }
    free(a);
    free(b);
    free(sum);
    free(narrow);
    return done ? FAKE_OK : FAKE_OUT_OF_MEMORY;
}

static int multiply(void *data)
{
    const fake_product *product = data;
    int code = FAKE_OK;
    for (int64_t i = 0; i < product->batch && !code; i++) {
        if (product->type == FAKE_C64 || product->type == FAKE_C128) {
            fake_complex_product(product, i);
        } else {
            code = multiply_one(product, i);
        }
    }
    return code;
}

int fake_product_submit(fake_stream *stream, const fake_product *p)
{
    const int64_t rows_a = p->a.trans ? p->k : p->m;
    const int64_t cols_a = p->a.trans ? p->m : p->k;
    const int64_t rows_b = p->b.trans ? p->n : p->k;
    const int64_t cols_b = p->b.trans ? p->k : p->n;
    if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || !fake_ld_fits(rows_a, p->a.ld) ||
        !fake_ld_fits(rows_b, p->b.ld) || !fake_ld_fits(p->m, p->c.ld) ||
        !fake_ld_fits(p->m, p->ld_d)) {
        return FAKE_INVALID_VALUE;
    }
    if (p->m == 0 || p->n == 0 || p->batch == 0) {
        return FAKE_OK;
    }
    const bool reads = (p->alpha != 0 || p->alpha_imaginary != 0) && p->k > 0;
    const bool adds = p->beta != 0 || p->beta_imaginary != 0;
    const fake_type type_c = type_c_of(p);
    if ((reads &&
         (!fake_on_device("a", p->a.at, fake_extent(rows_a, cols_a, p->a.ld, p->a.stride, p->batch),
                          p->type) ||
          !fake_on_device("b", p->b.at, fake_extent(rows_b, cols_b, p->b.ld, p->b.stride, p->batch),
                          p->type))) ||
        (adds &&
         !fake_on_device("c", p->c.at, fake_extent(p->m, p->n, p->c.ld, p->c.stride, p->batch),
                         type_c)) ||
        !fake_on_device("d", p->d, fake_extent(p->m, p->n, p->ld_d, p->stride_d, p->batch),
                        type_c)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, multiply, p, sizeof *p);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int64_t place(const fake_matrix *matrix, int64_t i, int64_t j)
{
    return matrix->trans ? i * matrix->ld + j : j * matrix->ld + i;
}

static double scaled(fake_type type, double factor, const fake_matrix *matrix, int64_t i, int64_t j,
                     int64_t part)
{
    const int64_t parts = type == FAKE_C128 ? 2 : 1;
    return factor == 0 ? 0
                       : factor * get(type == FAKE_C128 ? FAKE_F64 : type, matrix->at,
                                      place(matrix, i, j) * parts + part);
}

static int add(void *data)
{
    const fake_sum *sum = data;
    const size_t bytes = fake_type_bytes(sum->type);
    const int64_t parts = sum->type == FAKE_C128 ? 2 : 1;
    const bool move = sum->alpha == 1 && sum->beta == 0;
    for (int64_t j = 0; j < sum->n; j++) {
        for (int64_t i = 0; i < sum->m; i++) {
            const int64_t to = j * sum->ld_c + i;
            if (move) {
                memcpy((char *)sum->c + (size_t)to * bytes,
                       (const char *)sum->a.at + (size_t)place(&sum->a, i, j) * bytes, bytes);
                continue;
            }
            for (int64_t part = 0; part < parts; part++) {
                put(parts == 2 ? FAKE_F64 : sum->type, sum->c, to * parts + part,
                    scaled(sum->type, sum->alpha, &sum->a, i, j, part) +
                        scaled(sum->type, sum->beta, &sum->b, i, j, part));
            }
        }
    }
    return FAKE_OK;
}

/* In place only if nothing is transposed, as the vendors document. */
static bool in_place_wrongly(const fake_sum *sum, const fake_matrix *matrix, double factor)
{
    return factor != 0 && matrix->at == sum->c && (matrix->trans || matrix->ld != sum->ld_c);
}

int fake_sum_submit(fake_stream *stream, const fake_sum *sum)
{
    const fake_matrix *operands[] = {&sum->a, &sum->b};
    const double factors[] = {sum->alpha, sum->beta};
    if (sum->m < 0 || sum->n < 0 || !fake_ld_fits(sum->m, sum->ld_c)) {
        return FAKE_INVALID_VALUE;
    }
    for (int i = 0; i < 2; i++) {
        const int64_t rows = operands[i]->trans ? sum->n : sum->m;
        const int64_t cols = operands[i]->trans ? sum->m : sum->n;
        if (!fake_ld_fits(rows, operands[i]->ld) ||
            in_place_wrongly(sum, operands[i], factors[i]) ||
            (factors[i] != 0 &&
             !fake_on_device(i ? "b" : "a", operands[i]->at,
                             fake_extent(rows, cols, operands[i]->ld, 0, 1), sum->type))) {
            return FAKE_INVALID_VALUE;
        }
    }
    if (sum->m == 0 || sum->n == 0) {
        return FAKE_OK;
    }
    if (!fake_on_device("c", sum->c, fake_extent(sum->m, sum->n, sum->ld_c, 0, 1), sum->type)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, add, sum, sizeof *sum);
}

/* ---- folds ----------------------------------------------------------------------------------- */

static int fold_now(void *data)
{
    const fake_fold *fold = data;
    for (int64_t number = 0; number < fold->batch; number++) {
        long double sum = 0;
        for (int64_t i = 0; i < fold->n; i++) {
            const double x = get(fold->type, fold->x, number * fold->stride_x + i * fold->step_x);
            const double y =
                fold->kind == FAKE_DOT
                    ? get(fold->type, fold->y, number * fold->stride_y + i * fold->step_y)
                    : x;
            sum += fold->kind == FAKE_ASUM ? (long double)fabs(x) : (long double)x * y;
        }
        put(fold->type, fold->results, number, (double)sum);
    }
    return FAKE_OK;
}

int fake_fold_submit(fake_stream *stream, const fake_fold *fold)
{
    if (fold->batch < 0 || !fold->results || fold->step_x < 0 || fold->step_y < 0) {
        return FAKE_INVALID_VALUE;
    }
    const int64_t last = fold->n - 1;
    const int64_t before = fold->batch - 1;
    if ((fold->n > 0 && fold->batch > 0 &&
         (!fake_on_device("x", fold->x, before * fold->stride_x + last * fold->step_x + 1,
                          fold->type) ||
          (fold->kind == FAKE_DOT &&
           !fake_on_device("y", fold->y, before * fold->stride_y + last * fold->step_y + 1,
                           fold->type)))) ||
        !fake_on_device("result", fold->results, fold->batch, fold->type)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, fold_now, fold, sizeof *fold);
}
