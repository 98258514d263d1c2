/* SPDX-License-Identifier: Apache-2.0 */
/* blas_call.c - calls the BLAS library. If the caller has too little stack, a new thread with
 * enough stack makes the call. */
#include "backends/openmp/blas.h"
#include "backends/openmp/runtime.h"

#include <omp.h>
#include <string.h>

typedef struct call {
    const cpu_device *device;
    void (*body)(void *context);
    void *context;
} call;

static void run(const call *what)
{
    const cpu_blas *blas = cpu_blas_get();
    const cpu_fpenv env = cpu_fpenv_enter();
    const int before = blas->by_openmp ? omp_get_max_threads() : 0;
    const int threads = cpu_blas_threads_for(blas, cpu_team_size(what->device->team));
    int local = 0;
    if (blas->set_threads_int) {
        blas->set_threads_int(threads);
    } else if (blas->set_threads_long) {
        blas->set_threads_long(threads);
    } else if (blas->set_threads_local) {
        local = blas->set_threads_local(threads);
    }
    what->body(what->context);
    if (blas->set_threads_local) {
        (void)blas->set_threads_local(local);
    } else if (blas->by_openmp) {
        omp_set_num_threads(before);
    }
    cpu_fpenv_leave(env);
}

static void *run_apart(void *argument)
{
    run(argument);
    return NULL;
}

iso_status cpu_blas_call(const cpu_device *device, void (*body)(void *context), void *context)
{
    call what = {device, body, context};
    if (cpu_host->stack_left() >= CPU_BLAS_STACK) {
        run(&what);
        return ISO_OK;
    }
    return cpu_run_apart(run_apart, &what);
}
