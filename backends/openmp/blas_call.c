/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_call.c - calls of the BLAS library. An OpenMP runtime ends the process where the system
 * refuses it a thread, so the system is asked before the library's first call of each thread. A
 * caller with too little stack has the call made by a thread that has enough.
 */
#include "backends/openmp/blas.h"
#include "backends/openmp/runtime.h"

#include <omp.h>
#include <string.h>

/* The most threads that the runtime was seen to get for calls of this thread: it keeps them. */
static _Thread_local short granted;

static int threads_for(const cpu_device *device, int by_openmp)
{
    const int wanted = cpu_team_size(device->team);
    if (!by_openmp || wanted <= granted || wanted == 1) {
        return wanted;
    }
    const int more = cpu_threads_to_be_had(wanted - 1);
    if (more < wanted - 1) {
        cpu_host->log(ISO_LOG_WARN, "openmp: the system grants %s %d of %d threads",
                      cpu_blas_get()->name, more + 1, wanted);
        return more + 1;
    }
    granted = (short)wanted;
    return wanted;
}

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
    const int threads = threads_for(what->device, blas->by_openmp);
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
