/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.c - opens a BLAS library and multiplies with it, as a part of isomer-try, because OpenBLAS
 * requests memory in an endless loop if the process's limits refuse it:
 *
 *   openmp blas THREADS NAME...    the first of the names that opens
 *
 * A missing library counts as good: the backend then searches for itself. A library that exists but
 * does not fit into memory counts as bad: the backend may have more memory.
 */
#include "backends/loader/loader.h"
#include "backends/openmp/blas.h"
#include "backends/trial/child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Opening and this product take a tenth of a second of processor time. Small products need no
 * memory of the library. */
enum { TRY_CPU_SECONDS = 2, TRY_SIZE = 256 };

static struct {
    void (*multiply)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                     const float *a, int lda, const float *b, int ldb, float beta, float *c,
                     int ldc);
    void (*set_threads)(int threads);
} blas;

static const loader_function functions[] = {{"cblas_sgemm", false},
                                            {"openblas_set_num_threads", false}};
static const loader_where where; /* the loader's own search alone */
static loader_library library = {
    .where = &where,
    .functions = functions,
    .table = &blas,
    .function_count = (int)(sizeof functions / sizeof functions[0]),
};

/* False: none exists, or (`refused`) an existing one cannot be opened. */
static bool open_first(int count, char **names)
{
    for (int i = 0; i < count && !library.refused; i++) {
        child_at("opening %s", names[i]);
        library.names[0] = names[i];
        if (loader_open(&library)) {
            if (blas.multiply) {
                return true;
            }
            loader_close(&library); /* without products: the backend goes on to the next name */
        }
    }
    return false;
}

/* A product of ones, whose elements all equal the number of terms. */
static int product_is_right(void)
{
    static float a[TRY_SIZE * TRY_SIZE], b[TRY_SIZE * TRY_SIZE], c[TRY_SIZE * TRY_SIZE];
    for (int i = 0; i < TRY_SIZE * TRY_SIZE; i++) {
        a[i] = b[i] = 1.0f;
    }
    blas.multiply(CPU_BLAS_ROW_MAJOR, CPU_BLAS_NO_TRANS, CPU_BLAS_NO_TRANS, TRY_SIZE, TRY_SIZE,
                  TRY_SIZE, 1.0f, a, TRY_SIZE, b, TRY_SIZE, 0.0f, c, TRY_SIZE);
    for (int i = 0; i < TRY_SIZE * TRY_SIZE; i++) {
        if (c[i] != (float)TRY_SIZE) {
            child_say("element %d of a product of ones over %d is %g", i, TRY_SIZE, (double)c[i]);
            return 0;
        }
    }
    return 1;
}

child_answer openmp_try(int count, char **words)
{
    const struct rlimit most = {TRY_CPU_SECONDS, TRY_CPU_SECONDS + 1};
    if (count < 3 || strcmp(words[0], "blas") != 0) {
        return CHILD_CANNOT;
    }
    (void)setrlimit(RLIMIT_CPU, &most);
    bool open = open_first(count - 2, words + 2);
    if (open) {
        /* The backend may open it twice, to change its core. */
        loader_close(&library);
        open = open_first(count - 2, words + 2);
    }
    if (!open && library.refused) {
        child_say("%s", library.tried);
        return CHILD_BAD;
    }
    if (!open) {
        return CHILD_GOOD;
    }
    const int threads = atoi(words[1]);
    if (blas.set_threads && threads > 0) {
        blas.set_threads(threads);
    }
    child_at("a product by %s", library.names[0]);
    return product_is_right() ? CHILD_GOOD : CHILD_BAD;
}
