/* SPDX-License-Identifier: Apache-2.0 */
/* blas_threads.c - how many threads the BLAS library may use. OpenBLAS and the OpenMP runtimes end
 * the process if the system refuses them a thread. So this file probes how many threads the system
 * grants before a library creates any. If the library uses OpenMP, the probe comes before the first
 * call from each of the program's threads. OpenBLAS creates its own threads when it is opened, so
 * the probe comes just before that. BLIS creates its own threads in each call, so the probe comes
 * before every call. OpenBLAS never gets more threads than it was opened with: version 0.3.21 waits
 * forever for a thread that is refused later.
 */
#include "backends/openmp/blas.h"
#include "backends/openmp/runtime.h"
#include "backends/trial/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "OPENBLAS_NUM_THREADS";

/* The most threads that a probe found available for the OpenMP runtime in calls from this thread.
 * The runtime keeps the threads that it creates, so a call that needs no more than these needs no
 * probe. */
static _Thread_local short granted;

void cpu_blas_threads_limit(cpu_blas_threads *was)
{
    const char *set = getenv(variable);
    const int wanted = (int)sysconf(_SC_NPROCESSORS_ONLN);
    was->value = NULL;
    was->changed = 0;
    if (wanted < 2) {
        return;
    }
    const int most = 1 + trial_threads(wanted - 1);
    const long asked = set ? strtol(set, NULL, 10) : 0;
    if (most >= wanted || (asked > 0 && asked <= most)) {
        return;
    }
    was->changed = 1;
    was->value = set ? strdup(set) : NULL;
    char number[16];
    (void)snprintf(number, sizeof number, "%d", most);
    (void)setenv(variable, number, 1);
    cpu_host->log(ISO_LOG_WARN,
                  "openmp: the system grants only %d of %d threads, so a BLAS library is "
                  "opened with %s=%d",
                  most, wanted, variable, most);
}

void cpu_blas_threads_restore(cpu_blas_threads *was)
{
    if (was->changed && was->value) {
        (void)setenv(variable, was->value, 1);
    } else if (was->changed) {
        (void)unsetenv(variable);
    }
    free(was->value);
}

int cpu_blas_threads_for(const cpu_blas *blas, int wanted)
{
    if (blas->own_threads > 0 && wanted > blas->own_threads) {
        return blas->own_threads;
    }
    if (wanted == 1 || wanted <= granted || !(blas->by_openmp || blas->by_call)) {
        return wanted;
    }
    const int got = 1 + trial_threads(wanted - 1);
    if (got < wanted) {
        cpu_host->log(ISO_LOG_WARN, "openmp: the system grants %s only %d of %d threads",
                      blas->name, got, wanted);
    } else if (blas->by_openmp) {
        granted = (short)wanted;
    }
    return got;
}
