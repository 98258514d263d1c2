/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the last failure of each thread, growing texts, and checks of structs. */
#ifndef ISOMER_CORE_ERROR_H
#define ISOMER_CORE_ERROR_H

#include <isomer/backend.h>

#include <stdbool.h>
#include <stddef.h>

enum {
    CORE_TEXT_MAX = 16384 /* bytes of an error text, which may list all paths that were tried */
};

/* Sets this thread's text and status, and returns the status. The arguments may point into the old
 * text.
 */
iso_status core_fail(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);
/* The last failure's text without the name of the call. */
const char *core_reason(const char *call);
iso_status core_fail_no_memory(const char *call, int64_t bytes);

/* Where a thread's failures are written. A helper thread borrows the place of its caller. */
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

/* A saved failure. A call that recovers from a failure of its own restores the earlier one. */
enum { CORE_BRIEF_MAX = 256 };
typedef struct core_kept_error {
    iso_status status;
    char *text;                 /* NULL: the text is in `brief` */
    char brief[CORE_BRIEF_MAX]; /* the text's beginning, if there was no memory for all of it */
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
/* NO_MEMORY if a part of the text is missing. */
iso_status core_text_check(const char *call, const core_text *text);
void core_text_free(core_text *text);

/* ---- structs whose `size` differs from this version's ---------------------------------------- */

/* Copies the caller's struct into `to` (`known` bytes), extended with zeros. */
iso_status core_struct_read(const char *call, const char *name, const void *from, size_t least,
                            void *to, size_t known);
/* INVALID if a pointer to a result is NULL. */
iso_status core_check_out(const char *call, const char *name, const void *out);
/* INVALID if a size is negative. */
iso_status core_check_size(const char *call, const char *name, int64_t value);
/* A reserved field must be 0 in a struct that is read. */
iso_status core_check_reserved(const char *call, const char *name, uint32_t value);
/* Checks the `size` of a struct that the library will fill. */
iso_status core_struct_check(const char *call, const char *name, const void *out, size_t least);
/* Fills the caller's struct and keeps its `size`. Fields that this version does not know become 0.
 */
void core_struct_write(void *out, const void *from, size_t known);
#define CORE_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

#endif
