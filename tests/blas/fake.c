/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.c - a library that looks like OpenBLAS and recognises no processor: it uses the Prescott
 * core unless OPENBLAS_CORETYPE names a core that it has (FAKE_CORES, separated by spaces). Its
 * products are of the simplest kind, with sums in x87 registers if there are any; its other
 * functions exist and compute nothing.
 *
 * With FAKE_THREADS it creates threads when it is opened, as many as OPENBLAS_NUM_THREADS or the
 * processors, and more on request. If a thread is refused it ends the process by SIGINT, as
 * OpenBLAS does.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { THREADS_MAX = 64 };

static pthread_t threads[THREADS_MAX];
static int thread_count = 1; /* including the caller */
static sem_t stop;

static void *wait_for_work(void *unused)
{
    (void)unused;
    while (sem_wait(&stop) != 0) {
    }
    return NULL;
}

static void make_threads(int wanted)
{
    for (; thread_count < wanted && thread_count < THREADS_MAX; thread_count++) {
        if (pthread_create(&threads[thread_count], NULL, wait_for_work, NULL) != 0) {
            (void)fprintf(stderr, "OpenBLAS blas_thread_init: pthread_create failed\n");
            (void)raise(SIGINT);
        }
    }
}

#ifdef FAKE_THREADS
__attribute__((constructor)) static void start_threads(void)
{
    const char *number = getenv("OPENBLAS_NUM_THREADS");
    const int wanted = number ? (int)strtol(number, NULL, 10) : 0;
    (void)sem_init(&stop, 0, 0);
    make_threads(wanted > 0 ? wanted : (int)sysconf(_SC_NPROCESSORS_ONLN));
}

__attribute__((destructor)) static void stop_threads(void)
{
    for (int i = 1; i < thread_count; i++) {
        (void)sem_post(&stop);
    }
    for (int i = 1; i < thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

enum { MODEL = 1 };
#else
enum { MODEL = 0 };
#endif

EXPORT const char *openblas_get_config(void);
EXPORT int openblas_get_num_threads(void);
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
    return MODEL;
}

int openblas_get_num_threads(void)
{
    return thread_count;
}

void openblas_set_num_threads(int wanted)
{
    if (MODEL == 1) {
        make_threads(wanted);
    }
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
