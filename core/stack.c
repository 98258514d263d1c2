/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - measures the stack that a thread has left, so that no library is called with less than
 * it needs. */
#include "core/call.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
    LIBRARY_STACK = 224 * 1024, /* enough to open any library */
    APART_STACK = 1 << 20       /* stack of the thread that is made if the caller has less */
};

/* The bounds of this thread's stack. They are NULL until they are first needed. */
static _Thread_local char *lowest, *highest;
static char unknown;

static void look(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;

    lowest = highest = &unknown; /* if the bounds cannot be found, the stack counts as large */
    if (pthread_getattr_np(pthread_self(), &attributes)) {
        return;
    }
    if (!pthread_attr_getstack(&attributes, &start, &bytes) && bytes) {
        lowest = start;
        highest = lowest + bytes;
    }
    pthread_attr_destroy(&attributes);
}

int64_t core_stack_left(void)
{
    char *here = __builtin_frame_address(0);

    if (!highest) {
        look();
    }
    /* Outside the bounds, a coroutine of the program is running on its own stack, whose size only
     * the program knows. */
    return here < lowest || here >= highest ? INT64_MAX : here - lowest;
}

iso_status core_stack_check(const char *call, const iso_backend *table)
{
    int64_t left;

    if (!table->stack_bytes) {
        return ISO_OK;
    }
    left = core_stack_left();
    if (left >= table->stack_bytes) {
        return ISO_OK;
    }
    return core_fail(ISO_NO_MEMORY,
                     "%s: backend %s needs %lld KiB of stack, and this thread has %lld KiB left: "
                     "call from a thread with more (ulimit -s, pthread_attr_setstacksize)",
                     call, table->name, (long long)(table->stack_bytes / 1024),
                     (long long)(left / 1024));
}

typedef struct apart {
    iso_status (*body)(void *context);
    void *context;
    iso_status status;
    core_error_place place;
} apart;

static void *work(void *argument)
{
    apart *mine = argument;

    core_error_borrow(mine->place);
    mine->status = mine->body(mine->context);
    mine->place = core_error_return();
    return NULL;
}

/* Starts a thread that blocks signals, so that signals for the process reach the program's own
 * threads. Faults are not blocked: they are delivered to the thread that caused them. */
static int start(pthread_t *thread, apart *what)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    pthread_attr_t attributes;
    sigset_t blocked, before;
    size_t stack = 0;
    int error = pthread_attr_init(&attributes);

    if (error) {
        return error;
    }
    if (!pthread_attr_getstacksize(&attributes, &stack) && stack < APART_STACK) {
        pthread_attr_setstacksize(&attributes, APART_STACK);
    }
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(thread, &attributes, work, what);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

iso_status core_stack_run(const char *call, iso_status (*body)(void *context), void *context)
{
    apart what = {.body = body, .context = context};
    pthread_t thread;
    int error;

    if (core_stack_left() >= LIBRARY_STACK) {
        return body(context);
    }
    what.place = core_error_lend();
    error = start(&thread, &what);
    if (error) {
        return core_fail(ISO_NO_MEMORY,
                         "%s: libraries that it may open need %d KiB of stack, this thread has "
                         "%lld KiB left, and a thread with more could not be started "
                         "(pthread_create: %s): call from a thread with more stack",
                         call, LIBRARY_STACK / 1024, (long long)(core_stack_left() / 1024),
                         strerror(error));
    }
    pthread_join(thread, NULL);
    if (what.status && !what.place.texts) {
        return core_fail_no_memory(call, 0);
    }
    core_error_take(what.place);
    return what.status;
}
