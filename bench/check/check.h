/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - checks results: bits, bounds and projections, and how a case ended. `verify` and
 * `bench` share them.
 */
#ifndef ISOMER_CHECK_H
#define ISOMER_CHECK_H

#include "bench/ops/ops.h"

/* ---- result.c: how a case ended -------------------------------------------------------------- */

enum { BENCH_TEXT_MAX = 2048 };

typedef struct bench_result {
    bench_status status;
    char reason[BENCH_TEXT_MAX];
    char library[ISO_NAME_MAX], kernel[ISO_NAME_MAX]; /* from iso_describe */
    const char *method;  /* how it was checked: "bits", "bound", "exact", ...; static */
    double error, bound; /* `verify`: the greatest error; `bench`: the one nearest to its bound */
    bool has_digest;
    uint64_t digest[2]; /* high, low */
    double seconds;     /* `verify` */
    /* `bench` */
    int32_t checks;
    iso_variant how; /* the variant that runs, if `auto` was asked for; otherwise that one */
    iso_math math;   /* the mode that runs; math_reason says why it is not the requested one */
    char math_reason[ISO_NOTE_MAX];
} bench_result;

/* Each of these returns false, so that a check can `return check_fail(...)`. */
bool check_fail(bench_result *result, const char *format, ...) ISO_PRINTF(2, 3);
bool check_unsupported(bench_result *result, const char *format, ...) ISO_PRINTF(2, 3);
bool check_no_memory(bench_result *result);
/* A call failed: ends the case as an error, with the text of iso_last_error. */
bool check_call_failed(bench_result *result, const char *call, iso_status status);

void check_hash(const void *data, int64_t bytes, uint64_t digest[2]);
/* Sets the digest of a dense result. Replaces every NaN with one pattern, in place, unless `dtype`
 * is 0. */
void check_digest(bench_result *result, iso_dtype dtype, void *dense, int64_t count,
                  int64_t element);

/* What an element should be. */
typedef struct check_expected {
    long double want;      /* the reference value */
    double bound;          /* the greatest error that any order of evaluation may have */
    unsigned char bits[8]; /* the model's result */
} check_expected;

/* Results to compare: `batch` matrices of rows x cols elements of `dtype`. The parts of complex
 * elements are elements of their own here. */
typedef struct check_elements {
    iso_dtype dtype;
    const void *got;
    int64_t batch, rows, cols;
} check_elements;

/* Adds to the reason of a failure what its places mean: that the result lies by columns, or that
 * two columns are the parts of one. Returns false. */
bool check_explain(bench_result *result, bool by_columns, bool parts);

/* Compares bits, except that all NaN are equal. */
bool check_bits(const check_elements *e, const check_expected *want, bench_result *result);
/* If the reference is finite, the result must be within its bound. If it is infinite or NaN, the
 * result must be the same. The largest error is kept or, with `nearest`, the one that is nearest to
 * its bound. */
bool check_bounds(const check_elements *e, const check_expected *want, bool nearest,
                  bench_result *result);
bool check_same_element(iso_dtype dtype, const void *a, const void *b);
/* Writes an element's value and its bits. Returns `text`. */
const char *check_show(char *text, size_t room, iso_dtype dtype, const void *element);
/* Fails with a message about the first wrong element. */
bool check_say_bits(const check_elements *e, int64_t first, const void *want, int64_t wrong,
                    bench_result *result);
/* Keeps this error if it is nearer to its bound than the error kept so far. */
void check_note_error(bench_result *result, double error, double bound);

/* ---- cache.c: expected results, kept --------------------------------------------------------- */

typedef struct check_cache check_cache;
check_cache *check_cache_create(int64_t limit); /* in bytes; the latest entry is always kept */
void check_cache_destroy(check_cache *cache);
/* The memory of a key. If it is `fresh`, the caller has to fill it. It is valid until the next
 * call. NULL: no memory. */
void *check_cache_get(check_cache *cache, uint64_t key, int64_t bytes, bool *fresh);
void check_cache_forget(check_cache *cache, uint64_t key);

/* ---- checks of operations -------------------------------------------------------------------- */

/* The dense operands of a case. */
typedef struct check_data {
    const unsigned char *x, *y; /* if there is only one input, y equals x */
    /* What the result contained before the call. Products with a beta read it. */
    const unsigned char *before;
    check_cache *cache;
} check_data;

bench_check check_gemm, check_syrk, check_trsm, check_transpose, check_reduce, check_map,
    check_transfer, check_spmv;

/* Like check_gemm, but the caller chooses the sizes of the blocks: `columns` in the projection of
 * the rows, and `rows` in that of the columns. */
bool check_gemm_by(const bench_case *item, const check_data *data, const void *got, int64_t columns,
                   int64_t rows, bench_result *result);

#endif
