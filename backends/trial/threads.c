/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - how many threads the system grants, for libraries that end the process where it
 * refuses them one. Each thread makes the next and waits for it, so that all are there at once and
 * none of it needs memory of this library. */
#include "backends/trial/trial.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { GONE_NS = 10000000 /* at most, for a thread that was joined */ };

typedef struct chained {
    int wanted;
    int granted;
    pid_t id;
} chained;

static int64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A thread that was joined counts against the system's limits until it has no number any more. */
static void wait_until_gone(pid_t id)
{
    for (int64_t end = now() + GONE_NS; tgkill(getpid(), id, 0) == 0 && now() < end;) {
        (void)sched_yield();
    }
}

static void *make_next(void *argument);

static int chain(int wanted)
{
    chained first = {.wanted = wanted};
    pthread_t thread;
    if (wanted < 1 || pthread_create(&thread, NULL, make_next, &first) != 0) {
        return 0;
    }
    (void)pthread_join(thread, NULL);
    wait_until_gone(first.id);
    return first.granted;
}

static void *make_next(void *argument)
{
    chained *mine = argument;
    mine->id = gettid();
    mine->granted = 1 + chain(mine->wanted - 1);
    return NULL;
}

int trial_threads(int wanted)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all); /* signals are for the program's own threads */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int granted = chain(wanted);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return granted;
}
