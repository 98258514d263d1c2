/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - starts the threads of streams and devices. */
#include "backends/simt/simt.h"

#include <signal.h>

enum { STACK = 1 << 20 };

/* Signals for the process must reach the program's own threads. Faults are not blocked, because
 * they are delivered to the thread that caused them. */
int simt_thread_start(pthread_t *thread, void *(*body)(void *argument), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    size_t stack = 0;
    int error = pthread_attr_init(&attributes);
    if (error) {
        return error;
    }
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < STACK) {
        (void)pthread_attr_setstacksize(&attributes, STACK);
    }
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        (void)sigdelset(&blocked, faults[i]);
    }
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(thread, &attributes, body, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error;
}
