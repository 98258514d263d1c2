/* SPDX-License-Identifier: Apache-2.0 */
/* team.c - the threads. A service thread enters one parallel region, which lasts as long as the
 * team. The region's OpenMP threads sleep between tasks, and run the bodies as thread 1 and up. The
 * caller of cpu_team_run is thread 0. So the OpenMP runtime places the threads, but its waiting
 * policy, pool and nesting rules do not matter. OpenMP's own thread 0 only sleeps, because the
 * caller works in its place. */
#include "backends/openmp/futex.h"
#include "backends/openmp/runtime.h"
#include "backends/trial/trial.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TEAM_THREADS_MAX = 1024,
    TEAM_LINGER_NS = 200000, /* spin this long after a task: the next one often follows at once */
    SPIN_ROUNDS = 32,        /* between two reads of the clock */
    TEAM_PATIENCE_NS = 100000000, /* between two checks of `ended` */
    CPU_THREAD_STACK = 1 << 20
};

#define TEAM_SLEEPER 0x80000000u /* set in `remaining` while the caller sleeps */

typedef struct team_worker {
    _Alignas(64) _Atomic uint32_t ticket; /* counts the tasks given to this worker */
} team_worker;

struct cpu_team {
    int size, asked;
    int served;
    char *scratch; /* every thread's block, one after another */
    pthread_t service;
    pthread_mutex_t lock;
    _Atomic uint32_t entered; /* threads that have reached the region */
    _Atomic uint32_t granted; /* 0 until all of them have */
    _Atomic uint32_t stop;
    /* The runtime starts and ends its threads with synchronisation that sanitizers may not see. For
     * them, `begun` orders earlier writes before a thread's work, and `gone` orders its work before
     * later reads. */
    _Atomic uint32_t begun, gone;

    int background; /* the lock's holder is a stream's worker */
    cpu_body body;  /* the task; published by the tickets */
    void *context;
    int threads;

    _Alignas(64) _Atomic uint32_t remaining;
    _Alignas(64) _Atomic uint32_t arrived; /* number of threads at the barrier */
    _Alignas(64) _Atomic uint32_t generation;
    _Atomic uint32_t sleepers;

    team_worker workers[]; /* as many as requested */
};

static struct {
    pthread_mutex_t lock;
    cpu_team *team;
    int users;
    cpu_team *left_behind; /* the team from before a fork(): its threads are not in this process */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* 1: threads outnumber processors, so one that spins may stop what it awaits. */
static _Atomic uint32_t crowded;
static _Atomic uint32_t parked; /* 1: exit() has begun, so streams' workers begin nothing new */

/* Whether this thread runs an operation, or a team's region. A vendor's library or an OpenMP
 * runtime may call exit() there: exit handlers must not wait for locks that this thread holds. */
static _Thread_local unsigned char within;
static _Atomic uint32_t ended; /* 1 once exit() was called there: that operation never returns */

/* ---- waiting --------------------------------------------------------------------------------- */

int cpu_spin_more(cpu_spin *spin, int64_t most)
{
    if (atomic_load_explicit(&crowded, memory_order_relaxed)) {
        return 0;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    if (spin->rounds++ % SPIN_ROUNDS != 0) {
        return 1;
    }
    const int64_t time = cpu_now();
    if (spin->end == 0) {
        spin->end = time + most;
    }
    return time < spin->end;
}

void cpu_team_barrier(cpu_team *team)
{
    if (team->threads == 1) {
        return;
    }
    uint32_t generation = atomic_load_explicit(&team->generation, memory_order_acquire);
    uint32_t place = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
    if (place + 1 == (uint32_t)team->threads) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store(&team->generation, generation + 1);
        if (atomic_load(&team->sleepers) > 0) {
            cpu_futex_wake_all(&team->generation);
        }
        return;
    }
    cpu_spin spin = {0};
    while (atomic_load_explicit(&team->generation, memory_order_acquire) == generation) {
        if (!cpu_spin_more(&spin, CPU_SPIN_NS)) {
            atomic_fetch_add(&team->sleepers, 1);
            cpu_futex_wait(&team->generation, generation);
            atomic_fetch_sub(&team->sleepers, 1);
        }
    }
}

static void wait_for_all(cpu_team *team)
{
    cpu_spin spin = {0};
    uint32_t left = atomic_load_explicit(&team->remaining, memory_order_acquire);
    while (left != 0 && cpu_spin_more(&spin, CPU_SPIN_NS)) {
        left = atomic_load_explicit(&team->remaining, memory_order_acquire);
    }
    if (left == 0) {
        return;
    }
    left = atomic_fetch_or(&team->remaining, TEAM_SLEEPER) | TEAM_SLEEPER;
    while (left != TEAM_SLEEPER) {
        cpu_futex_wait(&team->remaining, left);
        left = atomic_load_explicit(&team->remaining, memory_order_acquire);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* Each thread wakes two more, so that a large team is awake after the time of a few wake-ups. */
static void wake_children(cpu_team *team, int thread, int threads)
{
    for (int child = 2 * thread + 1; child <= 2 * thread + 2 && child < threads; child++) {
        _Atomic uint32_t *ticket = &team->workers[child].ticket;
        atomic_fetch_add_explicit(ticket, 1, memory_order_release);
        cpu_futex_wake(ticket, 1);
    }
}

/* An inline stream's thread has been given its environment by the core. */
static void run_body(cpu_team *team, int thread)
{
    if (thread == 0 && !team->background) {
        team->body(team->context, 0, team->threads);
        return;
    }
    const uint64_t control = cpu_control_enter();
    team->body(team->context, thread, team->threads);
    cpu_control_leave(control);
}

static void attend(cpu_team *team, int thread)
{
    char name[24];
    within = 1;
    (void)snprintf(name, sizeof name, "isomer-%d", thread);
    (void)pthread_setname_np(pthread_self(), name);
    _Atomic uint32_t *ticket = &team->workers[thread].ticket;
    uint32_t seen = 0;
    for (;;) {
        cpu_spin spin = {0};
        while (atomic_load_explicit(ticket, memory_order_acquire) == seen) {
            if (!cpu_spin_more(&spin, TEAM_LINGER_NS)) {
                cpu_futex_wait(ticket, seen);
            }
        }
        seen++;
        if (atomic_load_explicit(&team->stop, memory_order_acquire)) {
            return;
        }
        wake_children(team, thread, team->threads);
        run_body(team, thread);
        if (atomic_fetch_sub(&team->remaining, 1) == (TEAM_SLEEPER | 1)) {
            cpu_futex_wake(&team->remaining, 1);
        }
    }
}

void cpu_team_run(cpu_team *team, int threads, cpu_body body, void *context)
{
    team->threads = threads < 1 ? 1 : threads > team->size ? team->size : threads;
    team->body = body;
    team->context = context;
    if (team->threads > 1) {
        atomic_store_explicit(&team->remaining, (uint32_t)team->threads - 1, memory_order_relaxed);
        wake_children(team, 0, team->threads);
    }
    run_body(team, 0);
    if (team->threads > 1) {
        wait_for_all(team);
    }
}

int cpu_team_size(const cpu_team *team)
{
    return team->size;
}

int cpu_team_threads(const cpu_team *team, double wanted)
{
    return wanted < 1 ? 1 : wanted < team->size ? (int)wanted : team->size;
}

void *cpu_team_scratch(cpu_team *team, int thread)
{
    return team->scratch + (int64_t)CPU_TEAM_SCRATCH * thread;
}

/* ---- the life of a team ---------------------------------------------------------------------- */

static void *serve(void *argument)
{
    cpu_team *team = argument;
    within = 1;
    (void)pthread_setname_np(pthread_self(), "isomer-team");
    /* Otherwise the runtime could start fewer threads because the system is busy at this moment,
     * but the region lasts as long as the team. This setting affects only this thread. */
    omp_set_dynamic(0);
    atomic_store_explicit(&team->begun, 1, memory_order_release);
#pragma omp parallel num_threads(team->asked) firstprivate(team)
    {
        int thread = omp_get_thread_num();
        (void)atomic_load_explicit(&team->begun, memory_order_acquire);
        /* The last to come reports the team: a thread that the runtime is still starting would read
         * what the runtime frees at exit(). */
        const uint32_t threads = (uint32_t)omp_get_num_threads();
        if (atomic_fetch_add(&team->entered, 1) + 1 == threads) {
            atomic_store_explicit(&team->granted, threads, memory_order_release);
            cpu_futex_wake_all(&team->granted);
        }
        if (thread > 0) {
            attend(team, thread);
            (void)atomic_fetch_add_explicit(&team->gone, 1, memory_order_release);
        } else {
            while (!atomic_load_explicit(&team->stop, memory_order_acquire)) {
                cpu_futex_wait(&team->stop, 0);
            }
        }
    }
    return NULL;
}

int cpu_thread_start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    /* Signals for the process must reach the program's own threads, so they are blocked here.
     * Faults are not blocked, because they are delivered to the thread that caused them. */
    sigset_t blocked, before;
    (void)sigfillset(&blocked);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        (void)sigdelset(&blocked, faults[i]);
    }
    pthread_attr_t attributes;
    size_t stack = 0;
    int error = pthread_attr_init(&attributes);
    if (error) {
        return error;
    }
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < CPU_THREAD_STACK) {
        (void)pthread_attr_setstacksize(&attributes, CPU_THREAD_STACK);
    }
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(thread, &attributes, body, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

iso_status cpu_run_apart(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    const int error = cpu_thread_start(&thread, body, argument);
    if (error != 0) {
        return cpu_host->fail(ISO_NO_MEMORY,
                              "this call needs more stack than the %lld KiB that this thread has "
                              "left, and no thread with more stack could be started "
                              "(pthread_create: %s): call from a thread with more stack",
                              (long long)(cpu_host->stack_left() / 1024), strerror(error));
    }
    (void)pthread_join(thread, NULL);
    return ISO_OK;
}

static void team_destroy(cpu_team *team)
{
    if (team->served) {
        atomic_store(&team->stop, 1);
        cpu_futex_wake_all(&team->stop);
        for (int i = 1; i < team->size; i++) {
            atomic_fetch_add_explicit(&team->workers[i].ticket, 1, memory_order_release);
            cpu_futex_wake(&team->workers[i].ticket, 1);
        }
        (void)pthread_join(team->service, NULL);
        (void)atomic_load_explicit(&team->gone, memory_order_acquire);
    }
    (void)pthread_mutex_destroy(&team->lock);
    cpu_host->free(team);
}

static iso_status team_create(int threads, cpu_team **out)
{
    if (threads > 1) { /* a runtime may end the process if the system refuses it a thread */
        int possible = trial_threads(threads);
        if (possible < threads) {
            cpu_host->log(ISO_LOG_WARN, "openmp: the system grants %d of %d threads", possible,
                          threads);
            threads = possible > 1 ? possible : 1;
        }
    }
    int64_t bytes = (int64_t)(sizeof(cpu_team) + sizeof(team_worker) * (size_t)threads);
    cpu_team *team = cpu_host->alloc(bytes + (int64_t)CPU_TEAM_SCRATCH * threads);
    if (!team) {
        return ISO_NO_MEMORY;
    }
    memset(team, 0, (size_t)bytes);
    team->scratch = (char *)team + bytes;
    team->asked = threads;
    team->size = 1;
    team->threads = 1;
    atomic_store(&crowded, cpu_cores_get() < 2 || threads > cpu_cores_get());
    (void)pthread_mutex_init(&team->lock, NULL);
    if (threads > 1 && cpu_thread_start(&team->service, serve, team) == 0) {
        team->served = 1;
        while (atomic_load_explicit(&team->granted, memory_order_acquire) == 0) {
            cpu_futex_wait(&team->granted, 0);
        }
        team->size = (int)atomic_load_explicit(&team->granted, memory_order_acquire);
    }
    if (team->size < threads) {
        cpu_host->log(ISO_LOG_WARN, "openmp: the OpenMP runtime grants %d of %d threads",
                      team->size, threads);
    }
    *out = team;
    return ISO_OK;
}

iso_status cpu_team_plan(int *threads)
{
    const char *text = cpu_host->setting("ISOMER_NUM_THREADS");
    if (text) {
        char *end = NULL;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end != '\0' || errno != 0 || value < 1 || value > TEAM_THREADS_MAX) {
            return cpu_host->fail(ISO_INVALID,
                                  "ISOMER_NUM_THREADS is \"%s\": use a number of threads from 1 to "
                                  "%d, or leave it unset for one on each processor",
                                  text, (int)TEAM_THREADS_MAX);
        }
        *threads = (int)value;
        return ISO_OK;
    }
    int count = omp_get_max_threads();
    int cores = cpu_cores_get();
    count = count > cores ? cores : count;
    *threads = count < 1 ? 1 : count > TEAM_THREADS_MAX ? TEAM_THREADS_MAX : count;
    return ISO_OK;
}

/* ---- one team for the process ---------------------------------------------------------------- */

static void forget_in_child(void)
{
    (void)pthread_mutex_init(&shared.lock, NULL);
    if (shared.team) {
        shared.left_behind = shared.team;
    }
    shared.team = NULL;
    shared.users = 0;
    atomic_store(&parked, 0);
    atomic_store(&ended, 0);
}

/* Waits for the operation that runs now, and then stops the streams' workers, because exit() goes
 * on to tear down libraries that operations use. If a thread then waits for a worker, the worker
 * runs again. */
static void park_at_exit(void)
{
    if (within) { /* the locks stay held: this operation does not return */
        atomic_store(&ended, 1);
        atomic_store(&parked, 1);
        return;
    }
    (void)pthread_mutex_lock(&shared.lock);
    if (shared.team) {
        (void)pthread_mutex_lock(&shared.team->lock);
        atomic_store(&parked, 1);
        (void)pthread_mutex_unlock(&shared.team->lock);
    }
    (void)pthread_mutex_unlock(&shared.lock);
}

static void register_handlers(void)
{
    /* When a thread of an OpenMP runtime ends, it calls pthread_exit, and glibc then loads libgcc.
     * A fork() during that load would leave a half-loaded libgcc in the child. So libgcc is loaded
     * in advance. */
    (void)dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    (void)pthread_atfork(NULL, NULL, forget_in_child);
    (void)atexit(park_at_exit);
}

iso_status cpu_team_outside(void)
{
    return !within && !cpu_team_ended()
               ? ISO_OK
               : cpu_host->fail(
                     ISO_INTERNAL,
                     "a library is ending the process within an operation (see its message "
                     "on standard error): nothing more can run or be waited for");
}

int cpu_team_ended(void)
{
    return atomic_load_explicit(&ended, memory_order_acquire) != 0;
}

struct timespec cpu_team_patience(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += TEAM_PATIENCE_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Waits with a time limit, because the thread that holds the lock may never return. */
static iso_status lock_team(cpu_team *team)
{
    if (pthread_mutex_trylock(&team->lock) == 0) {
        return ISO_OK;
    }
    for (;;) {
        const struct timespec until = cpu_team_patience();
        if (cpu_team_outside() != ISO_OK) {
            return ISO_INTERNAL;
        }
        if (pthread_mutex_timedlock(&team->lock, &until) == 0) {
            return ISO_OK;
        }
    }
}

iso_status cpu_team_acquire(cpu_team **out)
{
    if (cpu_team_outside() != ISO_OK) {
        return ISO_INTERNAL;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_handlers);
    (void)pthread_mutex_lock(&shared.lock);
    iso_status status = ISO_OK;
    if (!shared.team) {
        int threads = 1;
        status = cpu_team_plan(&threads);
        if (status == ISO_OK) {
            status = team_create(threads, &shared.team);
        }
    }
    if (status == ISO_OK) {
        shared.users++;
        *out = shared.team;
    }
    (void)pthread_mutex_unlock(&shared.lock);
    return status;
}

void cpu_team_release(cpu_team *team)
{
    if (within) {
        return;
    }
    (void)pthread_mutex_lock(&shared.lock);
    if (team == shared.team && --shared.users == 0) {
        shared.team = NULL;
        team_destroy(team);
    }
    (void)pthread_mutex_unlock(&shared.lock);
}

iso_status cpu_team_lock(cpu_team *team, int background)
{
    iso_status status = lock_team(team);
    while (status == ISO_OK && background && atomic_load_explicit(&parked, memory_order_acquire)) {
        (void)pthread_mutex_unlock(&team->lock);
        cpu_futex_wait(&parked, 1);
        status = lock_team(team);
    }
    if (status == ISO_OK) {
        team->background = background;
        within = 1;
    }
    return status;
}

void cpu_team_unlock(cpu_team *team)
{
    within = 0;
    (void)pthread_mutex_unlock(&team->lock);
}

iso_status cpu_team_pass(void)
{
    while (atomic_load_explicit(&parked, memory_order_acquire) && !cpu_team_ended()) {
        cpu_futex_wait(&parked, 1);
    }
    return cpu_team_outside();
}

void cpu_team_resume(void)
{
    if (atomic_load_explicit(&parked, memory_order_acquire)) {
        atomic_store(&parked, 0);
        cpu_futex_wake_all(&parked);
    }
}
