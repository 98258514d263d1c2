/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - the product of a sparse matrix and a vector: clause 12 of docs/bits.md. `starts` is not
 * needed here: it helps to share long rows among threads. */
#include "tests/plugins/reference/reference.h"

#include <math.h>

enum { LANES = MUTATE(96, 16, 32), SEGMENT = MUTATE(97, 4095, ISO_SPARSE_SEGMENT) };

iso_status ref_spmv_supports(const iso_spmv_op *spmv)
{
    if (spmv->variant != ISO_VARIANT_NAIVE && spmv->variant != ISO_VARIANT_TILED) {
        return ref_host->fail(ISO_UNSUPPORTED, "spmv: variant %d: this plug-in has naive and tiled",
                              (int)spmv->variant);
    }
    if ((spmv->dtype != ISO_F32 && spmv->dtype != ISO_F64) ||
        (spmv->index != ISO_I32 && spmv->index != ISO_I64)) {
        return ref_host->fail(ISO_UNSUPPORTED, "spmv: types %d and %d are not known",
                              (int)spmv->dtype, (int)spmv->index);
    }
    return ISO_OK;
}

static int64_t number(const iso_spmv_op *spmv, iso_ref array, int64_t i)
{
    return spmv->index == ISO_I32 ? ((const int32_t *)(const void *)ref_at(array))[i]
                                  : ((const int64_t *)(const void *)ref_at(array))[i];
}

/* a * b + c in the type, rounded once. A float is exact in a double. */
static double multiply_add(iso_dtype dtype, double a, double b, double c)
{
    if (MUTATE(98, dtype == ISO_F32, false)) {
        const float product = (float)a * (float)b;
        return (double)(product + (float)c);
    }
    return dtype == ISO_F32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static double add(iso_dtype dtype, double a, double b)
{
    return dtype == ISO_F32 ? (double)((float)a + (float)b) : a + b;
}

/* Continues a chain with entry i. */
static double step(const iso_spmv_op *spmv, int64_t i, double sum)
{
    const iso_ref x = {spmv->x.memory, MUTATE(99, 0, spmv->x.offset)};
    return multiply_add(spmv->dtype, ref_load(spmv->dtype, ref_at(spmv->values), i),
                        ref_load(spmv->dtype, ref_at(x), number(spmv, spmv->columns, i)), sum);
}

static double segment(const iso_spmv_op *spmv, int64_t from, int64_t count)
{
    double lane[LANES] = {0.0};
    for (int64_t i = 0; i < count; i++) {
        lane[i % LANES] = step(spmv, from + i, lane[i % LANES]);
    }
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            lane[l] = MUTATE(100, add(spmv->dtype, lane[2 * l], lane[2 * l + 1]),
                             add(spmv->dtype, lane[l], lane[l + half]));
        }
    }
    return lane[0];
}

static double sum_of(const iso_spmv_op *spmv, int64_t from, int64_t end)
{
    double sum = 0.0;
    if (spmv->variant == ISO_VARIANT_NAIVE) {
        for (int64_t i = from; i < end; i++) {
            sum = step(spmv, i, sum);
        }
        return sum;
    }
    for (int64_t i = from; i < end; i += SEGMENT) {
        const int64_t at = MUTATE(101, from + (end - 1 - i) / SEGMENT * SEGMENT, i);
        const double one = segment(spmv, at, LESSER(end - at, SEGMENT));
        sum = i == from ? one : add(spmv->dtype, sum, one);
    }
    return sum;
}

static void finish(const iso_spmv_op *spmv, int64_t row, double sum)
{
    const iso_dtype dtype = spmv->dtype;
    void *y = ref_at(spmv->y);
    double value;
    if (MUTATE(102, false, spmv->beta == 0.0)) {
        value = dtype == ISO_F32 ? (double)((float)spmv->alpha * (float)sum) : spmv->alpha * sum;
    } else {
        const double before = ref_load(dtype, y, row);
        const double scaled =
            dtype == ISO_F32 ? (double)((float)spmv->beta * (float)before) : spmv->beta * before;
        value = multiply_add(dtype, spmv->alpha, sum, scaled);
    }
    ref_store(dtype, y, row, value);
}

void ref_spmv(const iso_spmv_op *spmv)
{
    for (int64_t row = 0; row < spmv->rows - MUTATE(103, spmv->rows > 1, 0); row++) {
        const bool any = spmv->entries > 0;
        const int64_t from = any ? number(spmv, spmv->offsets, row) : 0;
        const int64_t end = any ? number(spmv, spmv->offsets, row + 1) : 0;
        if (MUTATE(104, any && from == end, false)) {
            continue;
        }
        finish(spmv, row, sum_of(spmv, from, end - MUTATE(105, end - from > 32, 0)));
    }
}
