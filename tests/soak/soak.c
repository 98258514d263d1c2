/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soak.c - random calls over the whole public interface, from several threads, with forks between
 * them: soak SECONDS [SEED [SPEC]]. Valid calls must have their known results, invalid ones must be
 * refused with a reason, and calls that race with other threads must return one of the allowed
 * statuses. Each round has its own seed, printed if it fails: soak 0 SEED repeats that round.
 */
#include "tests/soak/soak.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define SOAK_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SOAK_TSAN
#endif
#endif

enum { THREADS_MAX = 4, STEPS = 300, CHILD_STEPS = 40, CHILD_SECONDS = 100, STUCK_SECONDS = 240 };

const char *soak_spec = "openmp";
atomic_llong soak_calls;
static uint64_t round_seed;

uint64_t soak_next(soak_random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int soak_below(soak_random *random, int limit)
{
    return (int)(soak_next(random) % (uint64_t)limit);
}

_Noreturn void soak_failed(const char *file, int line, const char *what, iso_status status)
{
    const char *name = iso_status_name(status);
    (void)fprintf(stderr, "%s:%d: %s%s%s%s%s\nrepeat it with: soak 0 %llu %s\n", file, line, what,
                  status ? ": " : "", status ? (name ? name : "no status") : "", status ? ": " : "",
                  status ? iso_last_error() : "", (unsigned long long)round_seed, soak_spec);
    _Exit(1);
}

iso_status soak_judge(iso_status status, unsigned allowed, const char *file, int line,
                      const char *what)
{
    (void)atomic_fetch_add_explicit(&soak_calls, 1, memory_order_relaxed);
    if (status < ISO_OK || status > ISO_INTERNAL || !(allowed & (1u << status)) ||
        (status != ISO_OK && status != ISO_NOT_READY && !iso_last_error()[0])) {
        soak_failed(file, line, what, status);
    }
    return status;
}

typedef struct task {
    pthread_t thread;
    uint64_t seed;
    int steps;
    soak_own *own;
} task;

static void *work(void *argument)
{
    task *mine = argument;
    soak_random random = {mine->seed};
    mine->own = soak_own_open(soak_next(&random));
    for (int i = 0; i < mine->steps; i++) {
        int what = soak_below(&random, 10);
        if (what < 5) {
            soak_own_step(mine->own);
        } else if (what < 7) {
            soak_wrong_step(mine->own, &random);
        } else {
            soak_shared_step(&random);
        }
    }
    return NULL;
}

/* In the child of a fork: the parent's handles are invalid, and it opens its own. */
static void be_child(soak_own *parents, uint64_t seed)
{
    (void)alarm(CHILD_SECONDS);
    soak_own_forked(parents);
#if defined(SOAK_TSAN)
    /* Its runtime reads threads of the parent whose stacks new threads here reuse. */
    (void)seed;
#else
    soak_shared_open();
    task mine = {.seed = seed, .steps = CHILD_STEPS};
    (void)work(&mine);
    soak_own_close(mine.own);
    soak_shared_close();
#endif
    _exit(0); /* what the sanitizers' runtimes do at a child's end is not tested */
}

static void fork_once(soak_own *own, uint64_t seed)
{
#if defined(__SANITIZE_ADDRESS__)
    soak_own_settle(
        own); /* its malloc does not hold its locks over fork: other threads must be idle */
#endif
    pid_t child = fork();
    SOAK_CHECK(child >= 0);
    if (child == 0) {
        be_child(own, seed);
    }
    int status = 0;
    SOAK_CHECK(waitpid(child, &status, 0) == child);
    SOAK_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void run_round(uint64_t seed)
{
    soak_random random = {seed};
    task tasks[THREADS_MAX];
    const int threads = 1 + soak_below(&random, THREADS_MAX);
    round_seed = seed;
    (void)alarm(STUCK_SECONDS); /* a round takes a second or two */
    soak_shared_open();
    for (int i = 0; i < threads; i++) {
        tasks[i] = (task){.seed = soak_next(&random), .steps = STEPS};
        SOAK_CHECK(pthread_create(&tasks[i].thread, NULL, work, &tasks[i]) == 0);
    }
    for (int i = 0; i < threads; i++) {
        SOAK_CHECK(pthread_join(tasks[i].thread, NULL) == 0);
    }
    if (soak_below(&random, 3) == 0) {
        soak_own_step(tasks[0].own);
        fork_once(tasks[0].own, soak_next(&random));
    }
    /* A fork does not change the parent's objects: checks everything again. */
    for (int i = threads - 1; i >= 0; i--) {
        soak_own_close(tasks[i].own);
    }
    soak_shared_close();
}

static void stuck(int number)
{
    char text[96];
    (void)number;
    const int length = snprintf(text, sizeof text, "stuck; repeat it with: soak 0 %llu\n",
                                (unsigned long long)round_seed);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    abort();
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    struct timespec began, now;
    (void)clock_gettime(CLOCK_REALTIME, &began);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10)
                             : (uint64_t)began.tv_sec * 1000000 + (uint64_t)began.tv_nsec / 1000;
    soak_spec = argc > 3 ? argv[3] : soak_spec;
    (void)signal(SIGALRM, stuck);
    (void)printf("seed %llu\n", (unsigned long long)seed);
    (void)fflush(stdout);
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    soak_random random = {seed};
    int rounds = 0;
    double took;
    do {
        run_round(rounds == 0 ? seed : soak_next(&random));
        rounds++;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        took = (double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec);
    } while (took < seconds);
    (void)printf("%d rounds, %lld calls in %.1f s\n", rounds, (long long)atomic_load(&soak_calls),
                 took);
    return 0;
}
