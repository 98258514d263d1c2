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
#include "backends/openmp/blas.h"
#include "backends/trial/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Opening and this product take a tenth of a second of processor time. Small products need no
 * memory of the library. */
enum { TRY_CPU_SECONDS = 2, TRY_SIZE = 256 };

static void (*multiply)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                        const float *a, int lda, const float *b, int ldb, float beta, float *c,
                        int ldc);
static void (*set_threads)(int threads);

static void find(void *library, const char *name, void *at)
{
    void *address = dlsym(library, name);
    memcpy(at, &address, sizeof address);
}

/* Whether the text ends with the system's message for a missing file, in any language. */
static int is_missing(const char *text)
{
    const char *missing = strerror(ENOENT);
    const size_t length = strlen(missing);
    const size_t whole = strlen(text);
    return whole >= length && strcmp(text + whole - length, missing) == 0;
}

/* NULL: none exists, or (`why`) an existing one cannot be opened. */
static void *open_first(int count, char **names, const char **name, const char **why)
{
    void *library = NULL;
    *why = NULL;
    for (int i = 0; i < count && !library; i++) {
        child_at("opening %s", names[i]);
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        *name = names[i];
        const char *text = library ? NULL : dlerror();
        if (text && !is_missing(text)) {
            *why = text;
            return NULL;
        }
    }
    return library;
}

/* A product of ones, whose elements all equal the number of terms. */
static int product_is_right(void)
{
    static float a[TRY_SIZE * TRY_SIZE], b[TRY_SIZE * TRY_SIZE], c[TRY_SIZE * TRY_SIZE];
    for (int i = 0; i < TRY_SIZE * TRY_SIZE; i++) {
        a[i] = b[i] = 1.0f;
    }
    multiply(CPU_BLAS_ROW_MAJOR, CPU_BLAS_NO_TRANS, CPU_BLAS_NO_TRANS, TRY_SIZE, TRY_SIZE, TRY_SIZE,
             1.0f, a, TRY_SIZE, b, TRY_SIZE, 0.0f, c, TRY_SIZE);
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
    const char *name = "";
    const char *why = NULL;
    if (count < 3 || strcmp(words[0], "blas") != 0) {
        return CHILD_CANNOT;
    }
    (void)setrlimit(RLIMIT_CPU, &most);
    void *library = open_first(count - 2, words + 2, &name, &why);
    if (library) {
        /* The backend may open it twice, to change its core. */
        (void)dlclose(library);
        library = open_first(count - 2, words + 2, &name, &why);
    }
    if (!library && why) {
        child_say("%s", why);
        return CHILD_BAD;
    }
    if (!library) {
        return CHILD_GOOD;
    }
    find(library, "cblas_sgemm", &multiply);
    find(library, "openblas_set_num_threads", &set_threads);
    if (!multiply) {
        return CHILD_GOOD;
    }
    const int threads = atoi(words[1]);
    if (set_threads && threads > 0) {
        set_threads(threads);
    }
    child_at("a product by %s", name);
    return product_is_right() ? CHILD_GOOD : CHILD_BAD;
}
