/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the last failure of each thread. */
#include "core/core.h"

#include "printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_text[CORE_TEXT_MAX];
static _Thread_local iso_status last_status;

/* What a backend said since core_backend_enter: it becomes the last failure where the call fails.
 */
static _Thread_local char backend_text[CORE_TEXT_MAX];
static _Thread_local bool inside; /* a backend's entry */
static _Thread_local bool told;   /* ... and it said something */
static _Thread_local core_fpenv callers;

static iso_status fail_list(iso_status status, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

static iso_status fail_list(iso_status status, const char *format, va_list list)
{
    char text[CORE_TEXT_MAX]; /* the arguments may be parts of the old text */

    vsnprintf(text, sizeof text, format, list);
    printable_copy(inside ? backend_text : last_text, CORE_TEXT_MAX, text);
    if (inside)
        told = true;
    else
        last_status = status;
    return status;
}

iso_status core_fail(iso_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fail_list(status, format, list);
    va_end(list);
    return status;
}

iso_status core_fail_no_memory(const char *call, int64_t bytes)
{
    return core_fail(ISO_NO_MEMORY, "%s: no host memory for %lld bytes", call, (long long)bytes);
}

void core_backend_enter(void)
{
    core_fpenv_enter(&callers);
    inside = true;
    told = false;
}

iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait)
{
    core_fpenv_leave(&callers);
    inside = false;
    if (status == ISO_OK || (status == ISO_NOT_READY && may_wait))
        return status;
    if (status == ISO_NOT_READY)
        return core_fail(ISO_INTERNAL, "%s: backend %s answered NOT_READY where it may not: %s",
                         call, backend, told ? backend_text : "it gave no text");
    if (status < ISO_OK || status > ISO_INTERNAL)
        return core_fail(ISO_INTERNAL, "%s: backend %s answered %d, which is no status: %s", call,
                         backend, (int)status, told ? backend_text : "it gave no text");
    if (!told)
        return core_fail(status, "%s: backend %s answered %s and gave no reason", call, backend,
                         iso_status_name(status));
    return core_fail(status, "%s: %s: %s", call, backend, backend_text);
}

core_kept_error core_error_keep(void)
{
    core_kept_error kept = {last_status, NULL};

    if (last_text[0])
        kept.text = strdup(last_text);
    return kept;
}

void core_error_restore(core_kept_error *kept)
{
    last_status = kept->status;
    snprintf(last_text, sizeof last_text, "%s", kept->text ? kept->text : "");
    free(kept->text);
    kept->text = NULL;
}

void core_text_add(core_text *text, const char *format, ...)
{
    char part[CORE_TEXT_MAX];
    va_list list;
    size_t more;

    va_start(list, format);
    vsnprintf(part, sizeof part, format, list);
    va_end(list);
    more = strlen(part);
    if (text->length + more + 1 > text->room) {
        size_t room = (text->length + more + 1) * 2;
        char *grown = realloc(text->text, room);

        if (!grown)
            return;
        text->text = grown;
        text->room = room;
    }
    memcpy(text->text + text->length, part, more + 1);
    text->length += more;
}

const char *core_text_get(const core_text *text)
{
    return text->text ? text->text : "";
}

void core_text_free(core_text *text)
{
    free(text->text);
    *text = (core_text){0};
}

const char *iso_last_error(void)
{
    return inside && told ? backend_text : last_text; /* a backend may ask what it has said */
}

iso_status iso_last_status(void)
{
    return last_status;
}

void iso_clear_error(void)
{
    last_text[0] = 0;
    last_status = ISO_OK;
}
