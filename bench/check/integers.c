/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integers.c - checks products of i8, whose sums wrap in i32 and are exact in every order. So every
 * variant, vendors' too, must give the model's bits.
 *
 * A large product is too much for the model. There each row of C, times a vector of random odd
 * numbers modulo 2^32, must equal A times (B times the vector). An odd number times an error other
 * than 0 is not 0 modulo 2^32, so no wrong element that is alone in its row passes. Errors of
 * several elements of a row cancel with a chance of about 2^-31.
 */
#include "bench/check/whole.h"

#include <stdlib.h>
#include <string.h>

/* op(X), which has rows x cols elements. */
static void copy(const unsigned char *stored, bool turned, int64_t rows, int64_t cols, int8_t *out)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            out[i * cols + j] = (int8_t)stored[turned ? j * rows + i : i * cols + j];
        }
    }
}

static bool say(const bench_case *item, int64_t member, int64_t i, int64_t j, int32_t is,
                int32_t should, bench_result *result)
{
    result->error = 1;
    result->bound = 0;
    return check_fail(result, "element [%lld, %lld] of member %lld is %d, expected exactly %d",
                      (long long)i, (long long)j, (long long)(item->gemm.batch > 1 ? member : 0),
                      is, should);
}

/* One member of the batch, element by element. `c` is what C held, and `got` what it holds. */
static bool check_all(const bench_case *item, const int8_t *a, const int8_t *b, const int32_t *c,
                      const int32_t *got, int64_t member, bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    const bool by_columns = g->order == ISO_COLUMN_MAJOR;
    const int64_t count = g->m * g->n;
    int32_t *before = calloc((size_t)count * 2 + 1, sizeof *before), *want = before + count;
    bool good = before || check_no_memory(result);
    for (int64_t at = 0; good && c && at < count; at++) {
        before[at] = c[by_columns ? at % g->n * g->m + at / g->n : at];
    }
    if (good) {
        arith_gemm_i8(g->m, g->n, g->k, (int32_t)g->alpha, a, b, (int32_t)g->beta, before, want);
    }
    for (int64_t at = 0; good && at < count; at++) {
        const int64_t i = at / g->n, j = at % g->n;
        const int32_t is = got[by_columns ? j * g->m + i : at];
        good = is == want[at] || say(item, member, i, j, is, want[at], result);
    }
    free(before);
    return good;
}

/* One member of a large product by rows: alpha is 1 and beta is 0. */
static bool check_rows(const bench_case *item, const int8_t *a, const int8_t *b, const int32_t *got,
                       int64_t member, bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    uint32_t *odd = calloc((size_t)(g->n + g->k) + 1, sizeof *odd), *sums = odd + g->n;
    bool good = odd || check_no_memory(result);
    for (int64_t j = 0; good && j < g->n; j++) {
        odd[j] = (uint32_t)arith_mix(item->seed ^ 0x6f6464, (uint64_t)j) | 1;
    }
    for (int64_t p = 0; good && p < g->k; p++) {
        for (int64_t j = 0; j < g->n; j++) {
            sums[p] += (uint32_t)b[p * g->n + j] * odd[j];
        }
    }
    for (int64_t i = 0; good && i < g->m; i++) {
        uint32_t is = 0, should = 0;
        for (int64_t j = 0; j < g->n; j++) {
            is += (uint32_t)got[i * g->n + j] * odd[j];
        }
        for (int64_t p = 0; p < g->k; p++) {
            should += (uint32_t)a[i * g->k + p] * sums[p];
        }
        if (is != should) {
            result->error = 1;
            good = check_fail(result,
                              "row %lld of member %lld: the sum of its elements, times random odd "
                              "numbers, is %u modulo 2^32, expected %u: at least one is wrong",
                              (long long)i, (long long)member, is, should);
        }
    }
    free(odd);
    return good;
}

bool check_integer_gemm(const bench_case *item, const check_data *data, const void *got,
                        bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    int8_t *a = malloc((size_t)(g->m * g->k + g->k * g->n) + 1), *b = a + g->m * g->k;
    bool good = a || check_no_memory(result);
    result->method = item->samples > 0 ? "exact projection" : "exact";
    for (int64_t member = 0; good && member < g->batch; member++) {
        const int64_t at = member * g->m * g->n;
        const int32_t *c = (const int32_t *)got + at;
        copy(data->x + (g->same_a ? 0 : member) * g->m * g->k, check_turned(g, g->trans_a), g->m,
             g->k, a);
        copy(data->y + (g->same_b ? 0 : member) * g->k * g->n, check_turned(g, g->trans_b), g->k,
             g->n, b);
        if (item->samples > 0) {
            good = check_rows(item, a, b, c, member, result);
        } else {
            const int32_t *before = (const int32_t *)(const void *)data->before;
            good = check_all(item, a, b, before ? before + at : NULL, c, member, result);
        }
    }
    free(a);
    return good;
}
