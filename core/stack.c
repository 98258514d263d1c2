/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - how much of its stack a thread has left, so that libraries that need much are not
 * entered with little. */
#include "core/core.h"

/* Of this thread's stack; `highest` NULL: not asked yet. */
static _Thread_local char *lowest, *highest;
static char unknown;

static void look(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;

    lowest = highest = &unknown; /* then the stack is taken for large */
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &start, &bytes) && bytes) {
        lowest = start;
        highest = lowest + bytes;
    }
    pthread_attr_destroy(&attributes);
}

int64_t core_stack_left(void)
{
    char *here = __builtin_frame_address(0);

    if (!highest)
        look();
    /* A program's coroutine has a stack of its own, of a size that only the program knows. */
    return here < lowest || here >= highest ? INT64_MAX : here - lowest;
}
