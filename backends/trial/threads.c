/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - how many threads the system grants, for libraries that end the process where it
 * refuses them one: as many are made, and ended. */
#include <backends/trial/trial.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { GONE_NS = 10000000 /* at most, for a thread that was joined */ };

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
} gate;

typedef struct tried {
    pthread_t thread;
    pid_t id;
    gate *at;
} tried;

static void *wait_at(void *argument)
{
    tried *mine = argument;
    mine->id = gettid();
    (void)pthread_mutex_lock(&mine->at->lock);
    while (!mine->at->open) {
        (void)pthread_cond_wait(&mine->at->opened, &mine->at->lock);
    }
    (void)pthread_mutex_unlock(&mine->at->lock);
    return NULL;
}

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

int trial_threads(const iso_host *host, int wanted)
{
    tried *all = host->alloc((int64_t)sizeof *all * wanted);
    if (!all) {
        return 0;
    }
    gate at = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    sigset_t blocked;
    sigset_t before;
    int count = 0;
    (void)sigfillset(&blocked); /* signals are for the program's own threads */
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    for (; count < wanted; count++) {
        all[count].at = &at;
        if (pthread_create(&all[count].thread, NULL, wait_at, &all[count]) != 0) {
            break;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_mutex_lock(&at.lock);
    at.open = true;
    (void)pthread_cond_broadcast(&at.opened);
    (void)pthread_mutex_unlock(&at.lock);
    for (int i = 0; i < count; i++) {
        (void)pthread_join(all[i].thread, NULL);
        wait_until_gone(all[i].id);
    }
    host->free(all);
    return count;
}
