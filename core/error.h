/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - this thread's last failure, calls of a backend, and texts that grow. */
#ifndef ISOMER_CORE_ERROR_H
#define ISOMER_CORE_ERROR_H

#include "core/stack.h"

#include <isomer/backend.h>

#include <stdbool.h>

enum {
    CORE_TEXT_MAX = 16384 /* of an error text: room for every path that several backends tried */
};

/* Sets the text and the status, and returns the status. The arguments may point into the old text.
 */
iso_status core_fail(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);
/* The last failure's text without the call's name. */
const char *core_reason(const char *call);
iso_status core_fail_no_memory(const char *call, int64_t bytes);

/* Around a call of a backend's entry, which runs in the default floating-point environment. Its
 * failure always has a text that begins with the public call and the backend. What the backend says
 * in a call that succeeds is forgotten. Only CORE_ASK lets NOT_READY pass, without a text.
 * CORE_CALL asks first whether the thread has
 * the stack that the backend needs; what only waits, or asks for what is there, is CORE_LIGHT. */
void core_backend_enter(void);
iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait);
/* Whether this thread is in a backend's call: public functions are called there only by a library
 * that ends the process in the middle of one, through exit()'s handlers. */
bool core_inside(void);
#define CORE_LIGHT(call, table, expression)                                                        \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), false))
#define CORE_ASK(call, table, expression)                                                          \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), true))
#define CORE_CALL(call, table, expression)                                                         \
    (core_stack_check((call), (table)) ? ISO_NO_MEMORY : CORE_LIGHT(call, table, expression))

/* Where this thread's failures go; a thread that works for another one writes to that one's. */
typedef struct core_error_place {
    void *texts;
    iso_status status;
} core_error_place;
core_error_place core_error_lend(void);
void core_error_borrow(core_error_place place);
/* In the thread that borrowed it. */
core_error_place core_error_return(void);
/* In the one that lent it. */
void core_error_take(core_error_place place);

/* A failure that a call gets over leaves the caller's last failure as it was. */
enum { CORE_BRIEF_MAX = 256 };
typedef struct core_kept_error {
    iso_status status;
    char *text;                 /* NULL: the text is in `brief` */
    char brief[CORE_BRIEF_MAX]; /* its beginning, where there was no memory for all of it */
} core_kept_error;
core_kept_error core_error_keep(void);
const char *core_error_text(const core_kept_error *kept);
void core_error_restore(core_kept_error *kept);

/* A text that grows. */
typedef struct core_text {
    char *text; /* NULL: nothing was added yet */
    size_t length, room;
    bool failed; /* memory ran out, and a part is missing */
} core_text;
void core_text_add(core_text *text, const char *format, ...) ISO_PRINTF(2, 3);
const char *core_text_get(const core_text *text);
void core_text_free(core_text *text);

#endif
