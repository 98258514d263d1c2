/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - the lock around MPI, time, and waiting for requests. */
#include "backends/mpi/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
    SPINS = 100,
    YIELDS = 1000,
    SLEEP_LEAST = 2000, /* ns */
    SLEEP_MOST = 50000,
    CANCEL_TESTS = 1000
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mpi_lock(void)
{
    pthread_mutex_lock(&lock);
}

void mpi_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool mpi_lock_within(int64_t nanoseconds)
{
    const int64_t end = mpi_now() + nanoseconds;
    int turns = SPINS;

    while (pthread_mutex_trylock(&lock)) {
        if (mpi_now() > end) {
            return false;
        }
        mpi_pause(&turns);
    }
    return true;
}

int64_t mpi_now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void mpi_pause(int *turns)
{
    struct timespec sleep = {.tv_nsec = SLEEP_LEAST};

    if (*turns < SPINS + YIELDS) {
        if (++*turns > SPINS) {
            (void)sched_yield();
        }
        return;
    }
    sleep.tv_nsec += 100L * (++*turns - SPINS - YIELDS);
    if (sleep.tv_nsec >= SLEEP_MOST) {
        sleep.tv_nsec = SLEEP_MOST;
        --*turns;
    }
    (void)nanosleep(&sleep, NULL);
}

void mpi_explain(char *text, size_t room, const char *call, int code)
{
    char error[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;

    if (MPI_Error_string(code, error, &length)) {
        error[0] = 0;
    }
    snprintf(text, room, "%s returned %d (%.300s)", call, code, error);
}

bool mpi_cancel(MPI_Request *request)
{
    int done = *request == MPI_REQUEST_NULL;

    if (!done && !MPI_Cancel(request)) {
        for (int i = 0; !done && i < CANCEL_TESTS; i++) {
            if (MPI_Test(request, &done, MPI_STATUS_IGNORE)) {
                return false;
            }
        }
    }
    return done;
}
