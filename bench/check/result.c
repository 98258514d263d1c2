/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - how a case ended, and the comparison of results with bits and bounds. */
#include "bench/check/check.h"
#include "bench/tool.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool check_fail(bench_result *result, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(result->reason, sizeof result->reason, format, list);
    va_end(list);
    result->status = BENCH_FAILED;
    return false;
}

bool check_explain(bench_result *result, bool by_columns, bool parts)
{
    const size_t at = strlen(result->reason);
    snprintf(result->reason + at, sizeof result->reason - at, "%s%s",
             by_columns ? " (the result lies by columns: a place is [column, row])" : "",
             parts ? " (the last index counts real and imaginary parts)" : "");
    return false;
}

bool check_unsupported(bench_result *result, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(result->reason, sizeof result->reason, format, list);
    va_end(list);
    result->status = BENCH_UNSUPPORTED;
    return false;
}

bool check_no_memory(bench_result *result)
{
    snprintf(result->reason, sizeof result->reason, "no host memory to check the result");
    result->status = BENCH_ERROR;
    return false;
}

bool check_call_failed(bench_result *result, const char *call, iso_status status)
{
    snprintf(result->reason, sizeof result->reason, "%s failed with %s: %s", call,
             iso_status_name(status), tool_reason());
    result->status = BENCH_ERROR;
    return false;
}

void check_hash(const void *data, int64_t bytes, uint64_t digest[2])
{
    XXH128_hash_t hash = XXH3_128bits(data, (size_t)bytes);
    digest[0] = hash.high64;
    digest[1] = hash.low64;
}

void check_digest(bench_result *result, iso_dtype dtype, void *dense, int64_t count,
                  int64_t element)
{
    char *at = dense;
    const int64_t bytes = count * element;
    if (arith_is_complex(dtype)) {
        dtype = arith_part(dtype);
        element /= 2;
        count *= 2;
    }
    for (int64_t i = 0; dtype != 0 && i < count; i++, at += element) {
        if (arith_is_nan(dtype, at)) {
            arith_set_nan(dtype, at);
        }
    }
    check_hash(dense, bytes, result->digest);
    result->has_digest = true;
}

/* "[1][2, 3]" for an element of a batch, "[2, 3]" for one of a single matrix, "[3]" for one of an
 * array. */
static const char *place(const check_elements *e, int64_t index, char *text, size_t room)
{
    long long b = index / (e->rows * e->cols), i = index / e->cols % e->rows, j = index % e->cols;
    if (e->batch > 1) {
        snprintf(text, room, "[%lld][%lld, %lld]", b, i, j);
    } else if (e->rows > 1) {
        snprintf(text, room, "[%lld, %lld]", i, j);
    } else {
        snprintf(text, room, "[%lld]", j);
    }
    return text;
}

const char *check_show(char *text, size_t room, iso_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    if (arith_is_complex(dtype)) { /* its real part */
        dtype = arith_part(dtype);
    }
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

static const char *at(const check_elements *e, int64_t index)
{
    return (const char *)e->got + index * iso_dtype_size(e->dtype);
}

static int64_t count_of(const check_elements *e)
{
    return e->batch * e->rows * e->cols;
}

bool check_same_element(iso_dtype dtype, const void *a, const void *b)
{
    if (arith_is_complex(dtype)) {
        const iso_dtype part = arith_part(dtype);
        const int64_t size = iso_dtype_size(part);
        return check_same_element(part, a, b) &&
               check_same_element(part, (const char *)a + size, (const char *)b + size);
    }
    return memcmp(a, b, (size_t)iso_dtype_size(dtype)) == 0 ||
           (arith_is_nan(dtype, a) && arith_is_nan(dtype, b));
}

bool check_say_bits(const check_elements *e, int64_t first, const void *want, int64_t wrong,
                    bench_result *result)
{
    char where[96], one[64], two[64];
    result->error = fabs(arith_load(e->dtype, at(e, first)) - arith_load(e->dtype, want));
    result->bound = 0;
    return check_fail(
        result, "element %s is %s, expected exactly %s; %lld of %lld differ",
        place(e, first, where, sizeof where), check_show(one, sizeof one, e->dtype, at(e, first)),
        check_show(two, sizeof two, e->dtype, want), (long long)wrong, (long long)count_of(e));
}

bool check_bits(const check_elements *e, const check_expected *want, bench_result *result)
{
    int64_t wrong = 0, first = 0;
    for (int64_t i = 0; i < count_of(e); i++) {
        if (!check_same_element(e->dtype, at(e, i), want[i].bits) && wrong++ == 0) {
            first = i;
        }
    }
    return wrong == 0 || check_say_bits(e, first, want[first].bits, wrong, result);
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

/* Returns the error of `got` minus the bound. If that is 0 or less, `got` is right. */
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
    if (isinf(got)) { /* right if some value within the bound rounds to infinity */
        long double edge = greatest(dtype) * (1 + (long double)arith_roundoff(dtype));
        bool reached = got > 0 ? want + bound >= edge : want - bound <= -edge;
        return reached ? 0 : INFINITY;
    }
    return fabsl((long double)got - want) - (long double)bound;
}

void check_note_error(bench_result *result, double error, double bound)
{
    if (result->bound <= 0 || error * result->bound > result->error * bound) {
        result->error = error;
        result->bound = bound;
    }
}

bool check_bounds(const check_elements *e, const check_expected *want, bool nearest,
                  bench_result *result)
{
    int64_t wrong = 0, first = 0;
    for (int64_t i = 0; i < count_of(e); i++) {
        double value = arith_load(e->dtype, at(e, i));
        if (excess(e->dtype, value, want[i].want, want[i].bound) > 0) {
            if (wrong++ == 0) {
                first = i;
            }
            continue;
        }
        double error = isfinite(value) ? fabs((double)((long double)value - want[i].want)) : 0;
        if (nearest) {
            check_note_error(result, error, want[i].bound);
        } else if (isfinite(error) && error > result->error) {
            result->error = error;
            result->bound = want[i].bound;
        }
    }
    if (wrong == 0) {
        return true;
    }
    char where[96], one[64];
    const check_expected *w = &want[first];
    result->error = fabs((double)((long double)arith_load(e->dtype, at(e, first)) - w->want));
    result->bound = w->bound;
    return check_fail(result,
                      "element %s is %s, expected %.17Lg within %.3g, off by %.3g; %lld of %lld "
                      "exceed their bounds",
                      place(e, first, where, sizeof where),
                      check_show(one, sizeof one, e->dtype, at(e, first)), w->want, w->bound,
                      result->error, (long long)wrong, (long long)count_of(e));
}
