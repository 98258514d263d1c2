/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syrk.c - checks symmetric products.
 *
 * Each element of the triangle has the bits and the bound of the product op(A) op(A)^T, which is
 * symmetric: element (j, i) has the same terms as (i, j) in the same order. So the triangle is
 * mirrored, what C held before is too, and the check of products does the rest. The elements of the
 * other triangle must be as they were.
 */
#include "bench/check/check.h"

#include <stdlib.h>
#include <string.h>

/* The triangle as it lies in memory, where rows follow each other. */
static bool is_lower(const syrk_shape *s)
{
    return (s->triangle == ISO_LOWER) != (s->product.order == ISO_COLUMN_MAJOR);
}

/* Copies the triangle and its mirror image. */
static void mirror(const bench_case *item, const unsigned char *from, unsigned char *to)
{
    const int64_t n = item->syrk.product.m, size = item->element;
    const bool lower = is_lower(&item->syrk);
    for (int64_t b = 0; b < item->syrk.product.batch; b++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++) {
                const int64_t here = (b * n + i) * n + j, there = (b * n + j) * n + i;
                const unsigned char *element = from + (lower ? here : there) * size;
                memcpy(to + here * size, element, (size_t)size);
                memcpy(to + there * size, element, (size_t)size);
            }
        }
    }
}

static bool check_untouched(const bench_case *item, const unsigned char *before,
                            const unsigned char *got, bench_result *result)
{
    const int64_t n = item->syrk.product.m, size = item->element;
    const bool lower = is_lower(&item->syrk);
    for (int64_t b = 0; b < item->syrk.product.batch; b++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t first = (b * n + i) * n + (lower ? i + 1 : 0);
            const int64_t count = lower ? n - i - 1 : i;
            if (memcmp(before + first * size, got + first * size, (size_t)(count * size)) != 0) {
                return check_fail(result,
                                  "row %lld of member %lld: an element of the other triangle was "
                                  "changed",
                                  (long long)i, (long long)b);
            }
        }
    }
    return true;
}

bool check_syrk(const bench_case *item, const check_data *data, const void *got,
                bench_result *result)
{
    const gemm_shape *g = &item->syrk.product;
    const int64_t bytes = g->batch * g->m * g->m * item->element;
    unsigned char *whole = malloc(2 * (size_t)bytes + 1), *before = whole + bytes;
    bool good = whole || check_no_memory(result);
    if (good && data->before) {
        good = check_untouched(item, data->before, got, result);
        mirror(item, data->before, before);
    }
    if (good) {
        bench_case product = *item;
        const check_data mirrored = {
            .x = data->x, .y = data->x, .before = before, .cache = data->cache};
        product.gemm = *g;
        product.gemm.same_b = g->same_a;
        mirror(item, got, whole);
        good = check_gemm(&product, &mirrored, whole, result);
    }
    free(whole);
    return good;
}
