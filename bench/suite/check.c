/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - judging what came back: bits, bounds, digests. */
#include "bench/suite/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool suite_fail(suite_result *result, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(result->reason, sizeof result->reason, format, list);
    va_end(list);
    result->status = BENCH_FAILED;
    return false;
}

bool suite_no_memory(suite_result *result)
{
    return suite_call_failed(result, "the suite's memory", ISO_NO_MEMORY);
}

bool suite_call_failed(suite_result *result, const char *call, iso_status status)
{
    snprintf(result->reason, sizeof result->reason, "%s answered %s: %s", call,
             iso_status_name(status), iso_last_error());
    result->status = BENCH_ERROR;
    return false;
}

void suite_digest(suite_result *result, iso_dtype dtype, void *dense, int64_t count,
                  int64_t element)
{
    char *at = dense;
    for (int64_t i = 0; dtype != 0 && i < count; i++, at += element) {
        if (arith_is_nan(dtype, at)) {
            arith_set_nan(dtype, at);
        }
    }
    XXH128_hash_t hash = XXH3_128bits(dense, (size_t)(count * element));
    result->digest[0] = hash.high64;
    result->digest[1] = hash.low64;
    result->has_digest = 1;
}

/* "[1][2, 3]" for an element of a batch, "[2, 3]" of a single matrix, "[3]" of an array. */
static const char *place(char *text, size_t room, int64_t index, int64_t batch, int64_t rows,
                         int64_t cols)
{
    long long b = index / (rows * cols), i = index / cols % rows, j = index % cols;
    if (batch > 1) {
        snprintf(text, room, "[%lld][%lld, %lld]", b, i, j);
    } else if (rows > 1) {
        snprintf(text, room, "[%lld, %lld]", i, j);
    } else {
        snprintf(text, room, "[%lld]", j);
    }
    return text;
}

/* The value and its bits. */
static const char *show(char *text, size_t room, iso_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    size_t size = (size_t)iso_dtype_size(dtype);
    memcpy(&bits, element, size);
    if (dtype == ISO_I64) {
        snprintf(text, room, "%lld", (long long)bits);
    } else if (dtype == ISO_I32) {
        snprintf(text, room, "%d", (int)(uint32_t)bits);
    } else {
        snprintf(text, room, "%.*g (0x%0*llx)", dtype == ISO_F64 ? 17 : 9,
                 arith_load(dtype, element), (int)size * 2, (unsigned long long)bits);
    }
    return text;
}

bool suite_same_bits(suite_result *result, iso_dtype dtype, const void *got, const void *want,
                     int64_t batch, int64_t rows, int64_t cols)
{
    int64_t count = batch * rows * cols, size = iso_dtype_size(dtype), wrong = 0, first = -1;
    const char *g = got, *w = want;
    if (count == 0 || memcmp(g, w, (size_t)(count * size)) == 0) {
        return true;
    }
    for (int64_t i = 0; i < count; i++) {
        const char *a = g + i * size, *b = w + i * size;
        if (memcmp(a, b, (size_t)size) == 0 || (arith_is_nan(dtype, a) && arith_is_nan(dtype, b))) {
            continue;
        }
        if (wrong++ == 0) {
            first = i;
        }
    }
    if (wrong == 0) {
        return true;
    }
    char where[96], one[64], two[64];
    result->error = fabs(arith_load(dtype, g + first * size) - arith_load(dtype, w + first * size));
    result->bound = 0;
    return suite_fail(result, "element %s is %s, expected exactly %s; %lld of %lld differ",
                      place(where, sizeof where, first, batch, rows, cols),
                      show(one, sizeof one, dtype, g + first * size),
                      show(two, sizeof two, dtype, w + first * size), (long long)wrong,
                      (long long)count);
}

/* The greatest finite value of a type. */
static long double greatest(iso_dtype dtype)
{
    switch (dtype) {
    case ISO_F16:
        return 65504.0L;
    case ISO_BF16:
        return 0x1.fep127L;
    case ISO_F32:
        return 0x1.fffffep127L;
    default:
        return 0x1.fffffffffffffp1023L;
    }
}

/* How far `got` is over its bound: 0 or less is right. */
static long double excess(iso_dtype dtype, double got, long double want, double bound)
{
    if (isnan(want)) {
        return isnan(got) ? 0 : INFINITY;
    }
    if (isnan(got)) {
        return INFINITY;
    }
    if (isinf(want)) {
        return (long double)got == want ? 0 : INFINITY;
    }
    if (isinf(got)) { /* right where the reference may round there */
        long double edge = greatest(dtype) * (1 + (long double)arith_roundoff(dtype));
        bool reached = got > 0 ? want + bound >= edge : want - bound <= -edge;
        return reached ? 0 : INFINITY;
    }
    return fabsl((long double)got - want) - (long double)bound;
}

bool suite_within(suite_result *result, iso_dtype dtype, const void *got, const long double *want,
                  const double *bound, int64_t batch, int64_t rows, int64_t cols)
{
    int64_t count = batch * rows * cols, size = iso_dtype_size(dtype), wrong = 0, first = -1;
    const char *g = got;
    for (int64_t i = 0; i < count; i++) {
        double value = arith_load(dtype, g + i * size);
        long double over = excess(dtype, value, want[i], bound[i]);
        if (over > 0) {
            if (wrong++ == 0) {
                first = i;
            }
            continue;
        }
        double error = isfinite(value) ? fabs((double)((long double)value - want[i])) : 0;
        if (isfinite(error) && error > result->error) {
            result->error = error;
            result->bound = bound[i];
        }
    }
    if (wrong == 0) {
        return true;
    }
    char where[96], one[64];
    result->error = fabs((double)((long double)arith_load(dtype, g + first * size) - want[first]));
    result->bound = bound[first];
    return suite_fail(result,
                      "element %s is %s, expected %.17Lg within %.3g, off by %.3g; %lld of %lld "
                      "are out of bounds",
                      place(where, sizeof where, first, batch, rows, cols),
                      show(one, sizeof one, dtype, g + first * size), want[first], bound[first],
                      result->error, (long long)wrong, (long long)count);
}
