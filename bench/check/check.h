/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - checks of results: how a case ended, bits, bounds and projections. `verify` and `bench`
 * share them.
 */
#ifndef ISOMER_CHECK_H
#define ISOMER_CHECK_H

#include "bench/ops/ops.h"

/* ---- result.c: how a case ended -------------------------------------------------------------- */

enum { BENCH_TEXT_MAX = 2048 };

typedef struct bench_result {
    bench_status status;
    char reason[BENCH_TEXT_MAX];
    char library[ISO_NAME_MAX], kernel[ISO_NAME_MAX]; /* by iso_describe */
    const char *method;  /* of the check: "bits", "bound", "exact", ...; static */
    double error, bound; /* `verify`: the greatest error; `bench`: the one nearest to its bound */
    bool has_digest;
    uint64_t digest[2]; /* high, low */
    double seconds;     /* `verify` */
    /* `bench` */
    int32_t checks;
    iso_math math; /* that it runs in, and why it is not the one that was asked for */
    char math_reason[ISO_NOTE_MAX];
} bench_result;

/* Each returns false, so that a check can `return check_fail(...)`. */
bool check_fail(bench_result *result, const char *format, ...) ISO_PRINTF(2, 3);
bool check_unsupported(bench_result *result, const char *format, ...) ISO_PRINTF(2, 3);
bool check_no_memory(bench_result *result);
/* A call that failed: an error with the library's text. */
bool check_call_failed(bench_result *result, const char *call, iso_status status);

void check_hash(const void *data, int64_t bytes, uint64_t digest[2]);
/* The digest of a dense result. NaN become one pattern, in place; not where `dtype` is 0. */
void check_digest(bench_result *result, iso_dtype dtype, void *dense, int64_t count,
                  int64_t element);

/* What an element should be. */
typedef struct check_expected {
    long double want; /* the reference, and how far any order of evaluation may be from it */
    double bound;
    unsigned char bits[8]; /* by the model */
} check_expected;

/* Both compare `batch` matrices of rows x cols elements of `dtype`. */
typedef struct check_elements {
    iso_dtype dtype;
    const void *got;
    int64_t batch, rows, cols;
} check_elements;

/* Any NaN equals any other. */
bool check_bits(const check_elements *e, const check_expected *want, bench_result *result);
/* Finite references within bounds; others exactly. `nearest`: keeps the error that is nearest to
 * its bound, not the greatest. */
bool check_bounds(const check_elements *e, const check_expected *want, bool nearest,
                  bench_result *result);
bool check_same_element(iso_dtype dtype, const void *a, const void *b);
/* The message about the first of the wrong elements. */
bool check_say_bits(const check_elements *e, int64_t first, const void *want, int64_t wrong,
                    bench_result *result);
/* Keeps the error that is nearest to its bound. */
void check_note_error(bench_result *result, double error, double bound);

/* ---- cache.c: what was computed for a problem ------------------------------------------------ */

typedef struct check_cache check_cache;
check_cache *check_cache_create(int64_t limit); /* bytes; the latest is always kept */
void check_cache_destroy(check_cache *cache);
/* The caller fills it if it is fresh. NULL: no memory. Valid until the next call. */
void *check_cache_get(check_cache *cache, uint64_t key, int64_t bytes, bool *fresh);
void check_cache_forget(check_cache *cache, uint64_t key);

/* ---- checks of operations -------------------------------------------------------------------- */

/* The dense operands of a case. */
typedef struct check_data {
    const unsigned char *x, *y;  /* y is x where there is one input */
    const unsigned char *before; /* what the result held; read by products with a beta */
    check_cache *cache;
} check_data;

bench_check check_gemm, check_transpose, check_reduce, check_map, check_transfer;

/* check_gemm by projections with blocks of so many columns and rows. */
bool check_gemm_by(const bench_case *item, const check_data *data, const void *got, int64_t columns,
                   int64_t rows, bench_result *result);

#endif
