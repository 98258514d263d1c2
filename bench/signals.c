/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - what is said and taken away when a signal, or a library that calls exit, ends the
 * process. A backend's driver runs in this process, and takes it along when it dies. */
#include "tool.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char doing[768];
static volatile sig_atomic_t busy;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nowhere to say it */
}

static const char *name_of(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"},
                 {SIGBUS, "SIGBUS"},
                 {SIGILL, "SIGILL"},
                 {SIGFPE, "SIGFPE"},
                 {SIGABRT, "SIGABRT"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

static void say_doing(const char *end)
{
    say("\nisomer: ");
    say(end);
    say(" ended the process while ");
    say(doing);
    say("\n");
}

static void leave(int number)
{
    const char *name = name_of(number);
    if (busy && name != NULL)
        say_doing(name);
    busy = 0;
    tool_files_sweep();
    raise(number); /* with its default action: SA_RESETHAND */
}

/* Some libraries call exit where they cannot go on, and that with 0. */
static void left(void)
{
    if (!busy)
        return;
    say_doing("a library's call of exit");
    tool_files_sweep();
    _exit(TOOL_INTERNAL);
}

void tool_signals_watch(void)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGPIPE, SIGQUIT,
                                  SIGSEGV, SIGBUS,  SIGILL, SIGFPE,  SIGABRT};
    static bool registered;
    struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;
        /* LLVM's handler of SIGABRT, which OpenCL on processors brings, passes it on to nobody. */
        if (sigaction(signals[i], NULL, &before) == 0 &&
            (before.sa_handler == SIG_DFL || signals[i] == SIGABRT))
            sigaction(signals[i], &action, NULL);
    }
    if (!registered)
        registered = atexit(left) == 0;
}

void tool_doing(const char *format, ...)
{
    va_list list;
    busy = 0;
    if (format == NULL)
        return;
    va_start(list, format);
    vsnprintf(doing, sizeof doing, format, list);
    va_end(list);
    busy = 1;
}
