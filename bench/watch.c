/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - ends the process if work on a device does not end. A launch cannot be cancelled, so a
 * thread of its own watches the clock, keeps the results so far, and leaves. */
#include "bench/tool.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK = 100000000, /* nanoseconds between two looks */
    GRACE = 5,        /* seconds for the work to end after a signal */
    LAST = 10         /* seconds for keeping the results */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool watching, over;
static tool_watch plan;
static char work[512]; /* what runs; "": nothing */
static double began;   /* when it began */
static volatile sig_atomic_t code;

/* The results could not be kept in time. */
static void leave(int number)
{
    (void)number;
    tool_signals_clean();
    _exit(code);
}

/* The lock is held, and never given back: if the work ends now, it is too late. */
_Noreturn static void end(int exit_code, const char *text)
{
    const struct sigaction action = {.sa_handler = leave};
    code = exit_code;
    sigaction(SIGALRM, &action, NULL);
    (void)alarm(LAST);
    if (isatty(STDERR_FILENO)) {
        tool_progress_end();
    }
    tool_error(TOOL_OK, "%s", text);
    if (plan.late) {
        plan.late(plan.context, exit_code, text);
    }
    (void)tool_terminal_done();
    tool_signals_clean();
    _exit(exit_code);
}

static void look(void)
{
    static double asked; /* when a signal was first seen; 0: none */
    char text[sizeof work + 160];
    const double now = tool_seconds();
    asked = !tool_stop_asked() ? 0 : asked == 0 ? now : asked;
    if (work[0] == '\0') {
        return;
    }
    if (asked > 0 && (tool_stop_again() || now - (asked > began ? asked : began) > GRACE)) {
        snprintf(text, sizeof text, "%s does not end: stopped", work);
        end(TOOL_INTERRUPTED, text);
    }
    if (now - began > plan.seconds) {
        snprintf(text, sizeof text,
                 "%s does not end within %g second%s: look for a loop without an end, or give it "
                 "more --seconds",
                 work, plan.seconds, plan.seconds == 1 ? "" : "s");
        end(TOOL_FAILED, text);
    }
}

static void *run(void *context)
{
    const struct timespec tick = {0, TICK};
    bool more = true;
    (void)context;
    while (more) {
        nanosleep(&tick, NULL);
        pthread_mutex_lock(&lock);
        more = !over;
        if (more) {
            look();
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void tool_watch_begin(const tool_watch *what)
{
    sigset_t all, before;
    sigfillset(&all);
    plan = *what;
    over = false;
    /* Signals are for the threads that work. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watching = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tool_watch_end(void)
{
    if (!watching) {
        return;
    }
    pthread_mutex_lock(&lock);
    over = true;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    watching = false;
}

void tool_watch_work(const char *format, ...)
{
    va_list list;
    if (!watching) {
        return;
    }
    pthread_mutex_lock(&lock);
    va_start(list, format);
    vsnprintf(work, sizeof work, format, list);
    va_end(list);
    began = tool_seconds();
    tool_stop_wait(true);
    pthread_mutex_unlock(&lock);
}

void tool_watch_done(void)
{
    if (!watching) {
        return;
    }
    pthread_mutex_lock(&lock);
    work[0] = '\0';
    tool_stop_wait(false);
    pthread_mutex_unlock(&lock);
}
