/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.c - the part of isomer-try that opens a BLAS library and multiplies with it. It needs a
 * process of its own, because OpenBLAS requests memory in an endless loop if the process's limits
 * refuse it. The arguments are:
 *
 *   openmp blas THREADS NAME...    the first of the names that opens is tried
 *
 * If no library exists, the answer is good: the backend then searches for itself. If a library
 * exists but cannot be opened, the answer is bad: the backend may have more memory than this
 * process, and could open the library and then hang.
 */
#include "backends/loader/loader.h"
#include "backends/openmp/blas.h"
#include "backends/trial/child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Opening the library and this product take a tenth of a second of processor time. The product is
 * not smaller, because for a small one the library allocates no memory. */
enum { TRY_CPU_SECONDS = 2, TRY_SIZE = 256 };

static struct {
    void (*multiply)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                     const float *a, int lda, const float *b, int ldb, float beta, float *c,
                     int ldc);
    void (*set_threads)(int threads);
} blas;

static const loader_function functions[] = {{"cblas_sgemm", false},
                                            {"openblas_set_num_threads", false}};
static const loader_where where; /* empty: only the loader's default search */
static loader_library library = {
    .where = &where,
    .functions = functions,
    .table = &blas,
    .function_count = (int)(sizeof functions / sizeof functions[0]),
};

/* Opens the first of the libraries. False: none exists or, if library.refused is set, one exists
 * but cannot be opened. */
static bool open_first(int count, char **names)
{
    for (int i = 0; i < count && !library.refused; i++) {
        child_at("opening %s", names[i]);
        library.names[0] = names[i];
        if (loader_open(&library)) {
            if (blas.multiply) {
                return true;
            }
            /* The library has no sgemm. The backend, too, would skip it and try the next name. */
            loader_close(&library);
        }
    }
    return false;
}

/* Multiplies two matrices of ones. All elements of the product must equal the number of terms. */
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
            child_say("element %d of a product of ones is not %d but %g", i, TRY_SIZE,
                      (double)c[i]);
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
