/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - checks products of sparse matrices: every element is compared with the model's bits, or
 * with the bound that whole.c derives, where K is the number of the row's entries. */
#include "bench/check/check.h"

#include <math.h>
#include <stdlib.h>

static bool is_exact(const bench_case *item)
{
    const double a = item->spmv.alpha * 4, b = item->spmv.beta * 4;
    return item->fill == ARITH_INTS && a == rint(a) && b == rint(b);
}

/* `narrow` is volatile, because gcc 12 drops the conversion to f32 and back when it vectorizes. */
static double rounded(iso_dtype dtype, double factor)
{
    volatile float narrow = (float)factor;
    return dtype == ISO_F64 ? factor : (double)narrow;
}

typedef struct judging {
    const bench_case *item;
    const arith_sparse *a; /* op(A) */
    const unsigned char *x, *before, *model;
    check_expected *out;
} judging;

static void set_rows(void *context, int64_t begin, int64_t end)
{
    const judging *j = context;
    const iso_dtype dtype = j->item->dtype;
    const double alpha = rounded(dtype, j->item->spmv.alpha);
    const double beta = rounded(dtype, j->item->spmv.beta);
    const int64_t size = j->item->element;
    for (int64_t row = begin; row < end; row++) {
        const int64_t from = j->a->offsets[row];
        const int64_t count = alpha == 0 ? 0 : j->a->offsets[row + 1] - from;
        check_expected *e = &j->out[row];
        long double sum = 0;
        double sizes = 0;
        for (int64_t i = from; i < from + count; i++) {
            const double value = arith_load(dtype, (const char *)j->a->values + i * size);
            const double x = arith_load(dtype, j->x + j->a->columns[i] * size);
            sum += (long double)value * x;
            sizes += fabs(value * x);
        }
        const double c = beta == 0 ? 0 : arith_load(dtype, j->before + row * size);
        const double steps = (double)count + 4;
        arith_store(dtype, e->bits, arith_load(dtype, j->model + row * size));
        e->want = (alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : (long double)beta * c);
        e->bound = 1.01 * (steps * arith_roundoff(dtype) * (fabs(alpha) * sizes + fabs(beta * c)) +
                           2 * arith_roundoff(dtype) * fabs((double)e->want) +
                           steps * arith_half_smallest(dtype) * (1 + fabs(alpha)) +
                           arith_half_smallest(dtype));
        if (is_exact(j->item)) {
            e->want = arith_load(dtype, e->bits);
            e->bound = 0;
        }
    }
}

/* Computes what the elements should be. False: no memory. */
static bool make(const bench_case *item, const check_data *data, check_expected *out)
{
    const spmv_shape *s = &item->spmv;
    const arith_sparse_shape shape = bench_sparse_shape(item);
    arith_sparse given, turned = {0};
    if (!arith_sparse_make(&shape, item->dtype, item->fill, &given)) {
        return false;
    }
    bool good = s->trans == ISO_NO_TRANS || arith_sparse_transpose(&given, &turned);
    const arith_sparse *a = s->trans == ISO_NO_TRANS ? &given : &turned;
    void *model = good ? malloc((size_t)(a->rows * item->element) + 1) : NULL;
    good = good && model;
    if (good) {
        judging j = {item, a, data->x, data->before, model, out};
        arith_spmv(a, item->how != ISO_VARIANT_NAIVE, rounded(item->dtype, s->alpha),
                   rounded(item->dtype, s->beta), data->x, data->before, model);
        arith_parallel(a->rows, 64, set_rows, &j);
    }
    free(model);
    arith_sparse_free(&turned);
    arith_sparse_free(&given);
    return good;
}

/* Vendors' products have the expected results of tiled, but only their bounds. */
static const check_expected *reference(const bench_case *item, const check_data *data, int64_t rows,
                                       bench_result *result)
{
    const uint64_t key = item->how == ISO_VARIANT_NAIVE ? arith_mix(item->seed, 8) : item->seed;
    bool fresh;
    check_expected *out = check_cache_get(data->cache, key, rows * (int64_t)sizeof *out, &fresh);
    bool good = out || check_no_memory(result);
    if (good && fresh) {
        good = make(item, data, out) || check_no_memory(result);
        for (int64_t i = 0; good && i < rows; i++) {
            good = check_bounds(&(check_elements){item->dtype, out[i].bits, 1, 1, 1}, &out[i],
                                false, result);
        }
        if (!good) {
            check_cache_forget(data->cache, key);
        }
    }
    return good ? out : NULL;
}

bool check_spmv(const bench_case *item, const check_data *data, const void *got,
                bench_result *result)
{
    const int64_t rows = item->spmv.trans == ISO_TRANS ? item->spmv.cols : item->spmv.rows;
    const check_elements all = {item->dtype, got, 1, rows, 1};
    const check_expected *want = reference(item, data, rows, result);
    if (!want) {
        return false;
    }
    result->method = item->same_bits ? "bits" : is_exact(item) ? "exact" : "bound";
    return check_bounds(&all, want, item->samples > 0, result) &&
           (!item->same_bits || check_bits(&all, want, result));
}
