/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - the labs' numbers, which every device and the Python programs make alike, and products
 * of them. */
#include "bench/labs/internal.h"
#include "examples/labs/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 8, PRODUCTS = 32 };

typedef struct numbers {
    void *at;
    int64_t count;
} numbers;

typedef struct lab_inputs {
    numbers f32[SEEDS], f64[SEEDS];
    lab_product products[PRODUCTS];
    int32_t product_count;
} lab_inputs;

struct lab_inputs *lab_inputs_make(void)
{
    return tool_alloc(1, sizeof(lab_inputs), "inputs");
}

void lab_inputs_free(struct lab_inputs *inputs)
{
    for (int i = 0; inputs && i < SEEDS; i++) {
        free(inputs->f32[i].at);
        free(inputs->f64[i].at);
    }
    for (int32_t i = 0; inputs && i < inputs->product_count; i++) {
        free(inputs->products[i].values);
    }
    free(inputs);
}

const void *lab_numbers(lab *l, uint64_t seed, iso_dtype dtype, int64_t count)
{
    bool wide = dtype == ISO_F64;
    numbers *n = wide ? &l->inputs->f64[seed] : &l->inputs->f32[seed];
    if (n->count >= count) {
        return n->at;
    }
    n->at = tool_resize(n->at, (size_t)count, wide ? sizeof(double) : sizeof(float), "inputs");
    float *f32 = n->at;
    double *f64 = n->at;
    for (int64_t i = n->count; i < count; i++) {
        double value = lab_uniform(seed, i);
        if (wide) {
            f64[i] = value;
        } else {
            f32[i] = (float)value;
        }
    }
    n->count = count;
    return n->at;
}

iso_status lab_write(lab *l, iso_operand to, uint64_t seed, iso_dtype dtype, int64_t count)
{
    iso_status status =
        iso_write(l->stream, to, lab_numbers(l, seed, dtype, count), count * iso_dtype_size(dtype));
    return status == ISO_OK ? iso_stream_sync(l->stream) : status;
}

double lab_number(iso_dtype dtype, const void *values, int64_t index)
{
    return dtype == ISO_F64 ? ((const double *)values)[index]
                            : (double)((const float *)values)[index];
}

/* ---- products -------------------------------------------------------------------------------- */

int64_t lab_product_row(const lab_product *product, int32_t i)
{
    return product->rows > 1 ? i * (product->m - 1) / (product->rows - 1) : 0;
}

/* Adds a row of B to each of the rows, so that B is read once. */
static void multiply(const lab_product *p, const float *a, const float *b)
{
    for (int64_t k = 0; k < p->k; k++) {
        const float *from = b + k * p->n;
        for (int32_t i = 0; i < p->rows; i++) {
            const double factor = (double)a[lab_product_row(p, i) * p->k + k];
            double *to = p->values + i * p->n;
            for (int64_t j = 0; j < p->n; j++) {
                to[j] += factor * (double)from[j];
            }
        }
    }
}

const lab_product *lab_product_rows(lab *l, int64_t m, int64_t n, int64_t k)
{
    enum { FEW = 16, MANY = 64, LARGE = 6000 };
    lab_inputs *inputs = l->inputs;
    for (int32_t i = 0; i < inputs->product_count; i++) {
        const lab_product *known = &inputs->products[i];
        if (known->m == m && known->n == n && known->k == k) {
            return known;
        }
    }
    if (inputs->product_count == PRODUCTS) {
        free(inputs->products[--inputs->product_count].values);
    }
    lab_product *made = &inputs->products[inputs->product_count++];
    int64_t rows = m > LARGE ? FEW : m < MANY ? m : MANY;
    *made = (lab_product){.m = m, .n = n, .k = k, .rows = (int32_t)rows};
    made->values = tool_alloc((size_t)(rows * n), sizeof(double), "a reference");
    const float *a = lab_numbers(l, 1, ISO_F32, m * k);
    multiply(made, a, lab_numbers(l, 2, ISO_F32, k * n));
    return made;
}

void lab_product_error(const lab_product *product, iso_dtype dtype, const void *got, double *sums,
                       double *greatest)
{
    double off = 0, all = 0, worst = 0, most = 0;
    for (int32_t i = 0; i < product->rows; i++) {
        int64_t first = lab_product_row(product, i) * product->n;
        for (int64_t j = 0; j < product->n; j++) {
            double want = product->values[i * product->n + j];
            double error = fabs(lab_number(dtype, got, first + j) - want);
            off += error;
            all += fabs(want);
            worst = error > worst || isnan(error) ? error : worst;
            most = fabs(want) > most ? fabs(want) : most;
        }
    }
    *sums = off / all;
    *greatest = worst / most;
}
