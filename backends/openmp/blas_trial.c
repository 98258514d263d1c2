/* SPDX-License-Identifier: Apache-2.0 */
/* blas_trial.c - finds out whether a BLAS library can be opened under this process's limits.
 * OpenBLAS requests its memory, 128 MB per thread in some builds, in an endless loop until the
 * system grants it. */
#include "backends/openmp/blas.h"
#include "backends/openmp/runtime.h"
#include "backends/trial/trial.h"

#include <omp.h>
#include <stdio.h>

enum { TRIAL_SIZE = 256, TRIAL_SECONDS = 20, NAMES_MAX = 6 };

int cpu_blas_may_open(const char *const *names, int count, char *why, size_t capacity)
{
    char limits[160];
    char number[16];
    char reason[1024];
    const char *words[NAMES_MAX + 4] = {"openmp", "blas", number};
    int threads = 1;
    why[0] = '\0';
    if (!trial_limited(limits, sizeof limits)) {
        return 1;
    }
    (void)cpu_team_plan(&threads);
    (void)snprintf(number, sizeof number, "%d", threads);
    for (int i = 0; i < count && i < NAMES_MAX; i++) {
        words[3 + i] = names[i];
    }
    const trial what = {
        .host = cpu_host, .arguments = words, .besides = "", .seconds = TRIAL_SECONDS};
    if (trial_make(&what, reason, sizeof reason) == TRIAL_GOOD) {
        return 1;
    }
    (void)snprintf(why, capacity,
                   "not opened: %s, and in a separate process under the same limits %s", limits,
                   reason);
    return 0;
}

void cpu_blas_settle(const cpu_blas *blas)
{
    char limits[160];
    int threads = 1;
    if (!trial_limited(limits, sizeof limits) || !blas->sgemm) {
        return;
    }
    const size_t elements = (size_t)TRIAL_SIZE * TRIAL_SIZE;
    float *ones = cpu_host->alloc((int64_t)(2 * elements * sizeof *ones));
    if (!ones) {
        return;
    }
    for (size_t i = 0; i < elements; i++) {
        ones[i] = 1.0f;
    }
    (void)cpu_team_plan(&threads);
    threads = cpu_blas_threads_for(blas, threads);
    const int saved = omp_get_max_threads();
    const cpu_fpenv env = cpu_fpenv_enter();
    if (blas->set_threads_int) {
        blas->set_threads_int(threads);
    }
    blas->sgemm(CPU_BLAS_ROW_MAJOR, CPU_BLAS_NO_TRANS, CPU_BLAS_NO_TRANS, TRIAL_SIZE, TRIAL_SIZE,
                TRIAL_SIZE, 1.0f, ones, TRIAL_SIZE, ones, TRIAL_SIZE, 0.0f, ones + elements,
                TRIAL_SIZE);
    cpu_fpenv_leave(env);
    omp_set_num_threads(saved);
    cpu_host->free(ones);
}
