/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - reports and cleans up when a signal, or a library that calls exit, ends the process.
 * This can happen because a backend's driver runs in this process and may crash. */
#include "bench/tool.h"
#include "common/printable.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char doing[768];
static volatile sig_atomic_t busy;
static const struct {
    int number;
    const char *name; /* only of signals that mean a fault */
} signals[] = {{SIGINT, NULL},     {SIGTERM, NULL},      {SIGHUP, NULL},     {SIGPIPE, NULL},
               {SIGQUIT, NULL},    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"},
               {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}};
enum { STOPPING = 3, OUTSIDE = 5 }; /* the first 3 ask to stop; the first 5 come from outside */
static volatile pid_t own_child;    /* leads a process group */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return; /* there is no way to report this */
    }
}

static void say_doing(const char *end)
{
    say("\nisomer: ");
    say(end);
    say(" ended the process while ");
    say(doing);
    say("\n");
}

/* Calls only what a signal handler may call. */
static void clean_up(void)
{
    if (own_child > 0) {
        kill(-own_child, SIGKILL);
        waitpid(own_child, NULL, 0); /* after this it cannot write any more */
    }
    tool_files_sweep();
}

void tool_signals_clean(void)
{
    busy = 0;
    clean_up();
}

static void leave(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0] && busy; i++) {
        if (signals[i].number == number && signals[i].name) {
            say_doing(signals[i].name);
        }
    }
    busy = 0;
    clean_up();
    raise(number); /* SA_RESETHAND has restored the default action */
}

/* Some libraries call exit(0) when they fail. */
static void exited(void)
{
    if (!busy) {
        return;
    }
    say_doing("a library's call to exit()");
    clean_up();
    _exit(TOOL_INTERNAL);
}

void tool_signals_watch(void)
{
    static bool registered;
    struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;
        /* A handler that is already there stays, except for SIGABRT: OpenCL on CPUs loads LLVM, and
         * its handler does not call ours. */
        if (sigaction(signals[i].number, NULL, &before) == 0 &&
            (before.sa_handler == SIG_DFL || signals[i].number == SIGABRT)) {
            sigaction(signals[i].number, &action, NULL);
        }
    }
    if (!registered) {
        registered = atexit(exited) == 0;
    }
}

void tool_signals_hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < OUTSIDE; i++) {
        sigaddset(&held, signals[i].number);
    }
    sigprocmask(SIG_BLOCK, &held, before);
}

static volatile sig_atomic_t asked;          /* the signal's number; 0: none */
static volatile sig_atomic_t again, waiting; /* see tool_stop_again, tool_stop_wait */
static _Atomic int64_t asked_at;             /* milliseconds */
static bool told;

/* The second signal ends the process. `timeout` sends each signal to the process and to its group,
 * so one that follows at once is the same. */
static void ask(int number)
{
    enum { SAME = 1000 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t at = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (asked == 0) {
        asked_at = at;
        asked = number;
    } else if (at - asked_at >= SAME && waiting) {
        again = 1;
    } else if (at - asked_at >= SAME) {
        tool_signals_clean();
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void set_handlers(bool on)
{
    static struct sigaction before[STOPPING];
    static bool watching;
    const struct sigaction action = {.sa_handler = ask};
    for (int i = 0; i < STOPPING && on != watching; i++) {
        if (!on) {
            sigaction(signals[i].number, &before[i], NULL);
            continue;
        }
        sigaction(signals[i].number, NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) { /* ignored signals stay ignored, as under nohup */
            sigaction(signals[i].number, &action, NULL);
        }
    }
    watching = on;
}

void tool_stop_watch(bool on)
{
    static int watches; /* that began and did not end */
    if (on && watches++ == 0) {
        asked = again = 0;
        told = false;
        set_handlers(true);
    } else if (!on && watches > 0 && --watches == 0) {
        set_handlers(false);
    }
}

bool tool_stop_asked(void)
{
    return asked != 0;
}

bool tool_stop_again(void)
{
    return again != 0;
}

void tool_stop_wait(bool on)
{
    waiting = on;
}

bool tool_interrupted(void)
{
    if (asked != 0 && !told) {
        told = true;
        set_handlers(false);
        if (isatty(STDERR_FILENO)) {
            tool_progress_end();
        }
        tool_error(TOOL_OK, "interrupted: results are kept (a second signal ends at once)");
    }
    return asked != 0;
}

void tool_signals_child(pid_t child)
{
    own_child = child;
}

void tool_doing(const char *format, ...)
{
    char text[sizeof doing];
    va_list list;
    busy = 0;
    if (!format) {
        return;
    }
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printable_line(doing, sizeof doing, text);
    busy = 1;
}
