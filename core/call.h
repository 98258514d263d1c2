/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - what surrounds a call of a backend's entry: the floating-point environment, the check of
 * the stack, and the handling of failures. */
#ifndef ISOMER_CORE_CALL_H
#define ISOMER_CORE_CALL_H

#include "core/error.h"

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
#include <fenv.h>
#endif

/* Enter sets the default floating-point environment; leave restores the caller's. Used around every
 * call of a backend's entry and around the core's own floating-point computation. */
typedef struct core_fpenv {
#if defined(__x86_64__) || defined(__i386__)
    bool differs;     /* the caller's environment is not the default */
    uint32_t x87[7];  /* what fnstenv stores, if it differs */
    uint64_t control; /* MXCSR */
#elif defined(__aarch64__)
    uint64_t control; /* FPCR */
#else
    fenv_t environment;
#endif
} core_fpenv;
void core_fpenv_enter(core_fpenv *callers);
void core_fpenv_leave(const core_fpenv *callers);
/* Calls a backend's entry that returns no status, or whose status is ignored. */
#define CORE_DO(expression)                                                                        \
    do {                                                                                           \
        core_fpenv callers_;                                                                       \
        core_fpenv_enter(&callers_);                                                               \
        (void)(expression);                                                                        \
        core_fpenv_leave(&callers_);                                                               \
    } while (0)

/* ---- the stack that a thread has left -------------------------------------------------------- */

/* Bytes of stack that this thread has left; INT64_MAX if unknown. */
int64_t core_stack_left(void);
/* NO_MEMORY if this thread has less stack left than the backend's libraries need. */
iso_status core_stack_check(const char *call, const iso_backend *table);
/* Runs body, which may open any library. If this thread has little stack left, body runs in a new
 * thread, and its failure becomes this thread's. NO_MEMORY if the thread cannot be made. */
iso_status core_stack_run(const char *call, iso_status (*body)(void *context), void *context);

/* ---- calls ----------------------------------------------------------------------------------- */

/* The macros below call a backend's entry, in the default floating-point environment. A failure
 * always gets a text that begins with the public call and the backend. If the call succeeds, any
 * text that the backend set is dropped. Only CORE_ASK may return NOT_READY, and then sets no text.
 * CORE_CALL first checks that the thread has the stack that the backend needs. CORE_LIGHT is for
 * calls that need little stack. */
void core_backend_enter(void);
iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait);
/* Whether this thread is inside a backend's call. A public function sees this as true in one case
 * only: a library called exit() during a backend's call, and an exit handler calls the public
 * function. */
bool core_inside(void);
#define CORE_LIGHT(call, table, expression)                                                        \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), false))
#define CORE_ASK(call, table, expression)                                                          \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), true))
/* The same as CORE_LIGHT, for an entry of an engine. */
#define CORE_ENGINE(call, engine, expression) CORE_LIGHT(call, engine, expression)
#define CORE_CALL(call, table, expression)                                                         \
    (core_stack_check((call), (table)) ? ISO_NO_MEMORY : CORE_LIGHT(call, table, expression))

#endif
