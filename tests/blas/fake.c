/* SPDX-License-Identifier: Apache-2.0 */
/* fake.c - a library that looks like OpenBLAS and knows no processor: it takes every one for a
 * Prescott unless OPENBLAS_CORETYPE names a core that it has (FAKE_CORES, separated by spaces).
 * Its products are of the simplest kind, with sums in x87 registers where there are any, and its
 * other functions are there and compute nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static char core[64] = "Prescott";

__attribute__((constructor)) static void choose(void)
{
    const char *wanted = getenv("OPENBLAS_CORETYPE");
    char list[] = " " FAKE_CORES " ";
    char name[sizeof core + 2];
    if (wanted && snprintf(name, sizeof name, " %s ", wanted) < (int)sizeof name &&
        strstr(list, name)) {
        (void)snprintf(core, sizeof core, "%s", wanted);
    }
}

EXPORT const char *openblas_get_config(void);
EXPORT char *openblas_get_corename(void);
EXPORT int openblas_get_parallel(void);
EXPORT void openblas_set_num_threads(int threads);

const char *openblas_get_config(void)
{
    return "OpenBLAS 0.0.1 DYNAMIC_ARCH fake";
}

char *openblas_get_corename(void)
{
    return core;
}

int openblas_get_parallel(void)
{
    return 0;
}

void openblas_set_num_threads(int threads)
{
    (void)threads;
}

#define PRODUCT(name, type)                                                                        \
    EXPORT void name(int order, int trans_a, int trans_b, int m, int n, int k, type alpha,         \
                     const type *a, int lda, const type *b, int ldb, type beta, type *c, int ldc); \
    void name(int order, int trans_a, int trans_b, int m, int n, int k, type alpha, const type *a, \
              int lda, const type *b, int ldb, type beta, type *c, int ldc)                        \
    {                                                                                              \
        (void)order;                                                                               \
        for (int i = 0; i < m; i++) {                                                              \
            for (int j = 0; j < n; j++) {                                                          \
                long double sum = 0;                                                               \
                for (int p = 0; p < k; p++) {                                                      \
                    sum += (long double)(trans_a == 112 ? a[p * lda + i] : a[i * lda + p]) *       \
                           (trans_b == 112 ? b[j * ldb + p] : b[p * ldb + j]);                     \
                }                                                                                  \
                type *to = c + i * ldc + j;                                                        \
                *to = alpha * (type)sum + (beta > 0 || beta < 0 ? beta * *to : 0);                 \
            }                                                                                      \
        }                                                                                          \
    }

PRODUCT(cblas_sgemm, float)
PRODUCT(cblas_dgemm, double)

#define NOTHING(name, type)                                                                        \
    EXPORT type name(void);                                                                        \
    type name(void)                                                                                \
    {                                                                                              \
        return 0;                                                                                  \
    }

NOTHING(cblas_sdot, float)
NOTHING(cblas_ddot, double)
NOTHING(cblas_sasum, float)
NOTHING(cblas_dasum, double)
NOTHING(cblas_snrm2, float)
NOTHING(cblas_dnrm2, double)
