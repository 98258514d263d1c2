/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - this thread's last failure, calls of a backend's entries, and growing texts. */
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
/* The last failure's text without the name of the call. */
const char *core_reason(const char *call);
iso_status core_fail_no_memory(const char *call, int64_t bytes);

/* Used around a call of a backend's entry, which runs in the default floating-point environment. A
 * failure always gets a text that begins with the public call and the backend. Texts that the
 * backend sets in a call that succeeds are dropped. Only CORE_ASK passes NOT_READY on, without a
 * text. CORE_CALL first checks that the thread has the stack that the backend needs; CORE_LIGHT is
 * for calls that only wait or query. */
void core_backend_enter(void);
iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait);
/* Whether this thread is inside a backend's call. Public functions are called there only if a
 * library ends the process in the middle of a call, from exit()'s handlers. */
bool core_inside(void);
#define CORE_LIGHT(call, table, expression)                                                        \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), false))
#define CORE_ASK(call, table, expression)                                                          \
    (core_backend_enter(), core_backend_leave((call), (table)->name, (expression), true))
#define CORE_CALL(call, table, expression)                                                         \
    (core_stack_check((call), (table)) ? ISO_NO_MEMORY : CORE_LIGHT(call, table, expression))

/* Where this thread's failures are written; a helper thread writes to its caller's place. */
typedef struct core_error_place {
    void *texts;
    iso_status status;
} core_error_place;
core_error_place core_error_lend(void);
void core_error_borrow(core_error_place place);
/* Called in the thread that borrowed it. */
core_error_place core_error_return(void);
/* Called in the thread that lent it. */
void core_error_take(core_error_place place);

/* Saves the caller's last failure, and restores it if the call recovers from a failure of its own.
 */
enum { CORE_BRIEF_MAX = 256 };
typedef struct core_kept_error {
    iso_status status;
    char *text; /* NULL: the text is in `brief` */
    char
        brief[CORE_BRIEF_MAX]; /* the beginning of the text, if there was no memory for all of it */
} core_kept_error;
core_kept_error core_error_keep(void);
const char *core_error_text(const core_kept_error *kept);
void core_error_restore(core_kept_error *kept);

/* A text that grows. */
typedef struct core_text {
    char *text; /* NULL: nothing added yet */
    size_t length, room;
    bool failed; /* memory ran out, so a part is missing */
} core_text;
void core_text_add(core_text *text, const char *format, ...) ISO_PRINTF(2, 3);
const char *core_text_get(const core_text *text);
void core_text_free(core_text *text);

#endif
