/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nth.c - the n-th allocation of libisomer fails, alone or with all later ones, in the first
 * session of a process (in a new process each time) and in a later session.
 *
 *     isomer_faults_nth SPEC STRIDE [WHICH]
 *
 * Tests every STRIDE-th n. WHICH selects a single case: "cold:12", "cold:12+", "warm:12" or
 * "warm:12+".
 */
#include "tests/faults/nth.h"

#include "tests/faults/starve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEADLINE = 240, FEWEST = 15 };

/* Results that a process reports to its parent, in shared memory. */
typedef struct report {
    nth_record record;
    long cold_count, warm_count; /* allocations of the first and of a later session */
    long live;                   /* blocks held after several sessions */
    long refused;
    bool done;
} report;

static report *shared;
static const char *spec;

static bool fails(const char *kind, long n, bool onwards, const char *why)
{
    printf("FAIL: %s: %s:%ld%s: %s\n", spec, kind, n, onwards ? "+" : "", why);
    return false;
}

static bool session(const char *kind, long n, bool onwards, const char *which)
{
    nth_session made = {.spec = spec, .record = &shared->record, .onwards = onwards};
    char text[1200];
    nth_run(&made);
    if (!made.problem[0]) {
        return true;
    }
    snprintf(text, sizeof text, "%s: %s", which, made.problem);
    return fails(kind, n, onwards, text);
}

/* ---- in the child process -------------------------------------------------------------------- */

static bool take(void)
{
    if (starve_take("/libisomer.so") > 5) {
        return true;
    }
    printf("FAIL: libisomer has no slots for malloc: nothing would be tried\n");
    return false;
}

static bool measure(long n, bool onwards)
{
    (void)n;
    (void)onwards;
    bool good = session("none", 0, false, "the first session");
    shared->cold_count = starve_count();
    for (int i = 0; i < 2 && good; i++) {
        starve_arm(0, false);
        good = session("none", 0, false, "a later session");
        shared->warm_count = starve_count();
    }
    shared->live = starve_live();
    return good;
}

static bool check_live(const char *kind, long n, bool onwards, long expected, long since)
{
    char text[120];
    if (starve_live() <= expected) { /* memory kept for later use may already be free */
        return true;
    }
    snprintf(text, sizeof text, "%ld blocks and files are held, not at most %ld", starve_live(),
             expected);
    fails(kind, n, onwards, text);
    fflush(stdout);
    starve_show(since);
    return false;
}

static bool cold(long n, bool onwards)
{
    starve_arm(n, onwards);
    bool good = session("cold", n, onwards, "the session with the failure");
    shared->refused = starve_refused();
    for (int i = 0; i < 2 && good; i++) {
        starve_arm(0, false);
        good = session("cold", n, onwards, "a session after it");
    }
    return good && check_live("cold", n, onwards, shared->live, 0);
}

static bool warm_one(long n, bool onwards)
{
    const long live = starve_live(), mark = starve_mark();
    alarm(DEADLINE); /* for each session */
    starve_arm(n, onwards);
    bool good = session("warm", n, onwards, "the session with the failure");
    shared->refused = starve_refused();
    starve_arm(0, false);
    good = good && session("warm", n, onwards, "the session after it");
    return good && check_live("warm", n, onwards, live, mark);
}

static long stride;

static bool warm(long n, bool onwards)
{
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        good = session("warm", 0, false, "a session");
    }
    for (long at = n ? n : 1 + stride / 2; good && at <= (n ? n : shared->warm_count);
         at += stride) {
        good = n ? warm_one(at, onwards) : warm_one(at, false) && warm_one(at, true);
    }
    return good;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static bool in_child(bool (*task)(long n, bool onwards), const char *kind, long n, bool onwards)
{
    int state = 0;
    char text[80];
    shared->done = false;
    shared->refused = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(DEADLINE);
        const bool good = take() && task(n, onwards);
        fflush(stdout);
        shared->done = true;
        exit(good ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &state, 0) != child) {
        return fails(kind, n, onwards, "no process could be started");
    }
    if (WIFSIGNALED(state)) {
        snprintf(text, sizeof text, "ended by signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
        return fails(kind, n, onwards, text);
    }
    if (!shared->done) {
        return fails(kind, n, onwards, "the process ended by itself");
    }
    return WEXITSTATUS(state) == 0;
}

static bool all_cold(void)
{
    long failed = 0, tried = 0;
    for (long n = 1 + stride / 2; n <= shared->cold_count && failed < 10; n += stride) {
        for (int onwards = 0; onwards < 2; onwards++, tried++) {
            if (!in_child(cold, "cold", n, onwards)) {
                failed++;
            } else if (!shared->refused) {
                failed += !fails("cold", n, onwards, "nothing was refused: it proves nothing");
            }
        }
    }
    printf("%s: %ld of %ld failures in a first session (%ld allocations): %ld wrong\n", spec, tried,
           2 * shared->cold_count, shared->cold_count, failed);
    return failed == 0;
}

static bool one_of(const char *which)
{
    char *end;
    const bool is_cold = strncmp(which, "cold:", 5) == 0;
    const long n = strtol(which + 5, &end, 10);
    return in_child(is_cold ? cold : warm, is_cold ? "cold" : "warm", n, *end == '+');
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s SPEC STRIDE [WHICH]\n", argv[0]);
        return 2;
    }
    spec = argv[1];
    stride = strtol(argv[2], NULL, 10);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || stride < 1) {
        return 2;
    }
    /* The first process builds kernels; the others find them in the cache. */
    if (!in_child(measure, "none", 0, false) || !in_child(measure, "none", 0, false)) {
        return 1;
    }
    if (shared->cold_count < FEWEST || shared->warm_count < FEWEST) {
        printf("FAIL: a session allocates %ld times, then %ld times: nothing would be tried\n",
               shared->cold_count, shared->warm_count);
        return 1;
    }
    if (argc > 3) {
        return !one_of(argv[3]);
    }
    const bool good = all_cold();
    const bool later = in_child(warm, "warm", 0, false);
    printf("%s: every %ld. of %ld allocations of a later session: %s\n", spec, stride,
           shared->warm_count, later ? "right" : "wrong");
    return !good || !later;
}
