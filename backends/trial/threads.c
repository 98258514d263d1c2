/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - counts how many threads the system can create now, because some libraries end the
 * process if they cannot create a thread. Each thread creates the next and waits for it. All
 * therefore exist at once, and no memory is needed to keep track of them. */
#include "backends/trial/trial.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { GONE_NS = 10000000 /* the longest wait for a joined thread to disappear */ };

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

/* A joined thread counts against the system's limits until its id is gone. */
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
    (void)sigfillset(&all); /* these threads must not receive the program's signals */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int granted = chain(wanted);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return granted;
}
