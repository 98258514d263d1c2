/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - the last failure of each thread. Its texts are in a block that the thread's first
 * failure allocates. A thread-local block of that size would take stack from every thread, and if
 * the program opens the library with dlopen, there might be no room for it at all.
 */
#include "common/printable.h"
#include "core/call.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_TEXT = 160 /* used if there is no memory for the block */ };

typedef enum role {
    LAST,    /* the text of the last failure */
    BACKEND, /* the text that the backend set in this call; if the call fails, LAST includes it */
    SPARE,   /* a new text is formatted here first: its arguments may point into an old text */
    ROLES
} role;

typedef struct texts {
    char in[ROLES][CORE_TEXT_MAX];
} texts;

static _Thread_local texts *mine; /* NULL until it is needed, and if there is no memory */
static _Thread_local char short_text[SHORT_TEXT];
static _Thread_local iso_status last_status;
static _Thread_local bool inside; /* a backend's entry is running */
static _Thread_local bool told;   /* this entry has set a text */
static _Thread_local core_fpenv callers;

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool has_end_key;

/* Runs when a thread ends. If a later destructor of the thread makes a call that fails, that call
 * allocates a new block. */
static void forget(void *block)
{
    mine = NULL;
    free(block);
}

static void make_end_key(void)
{
    has_end_key = !pthread_key_create(&end_key, forget);
}

static texts *get_texts(role which)
{
    texts *made;

    if (mine) {
        return mine;
    }
    pthread_once(&end_once, make_end_key);
    made = has_end_key ? malloc(sizeof *made) : NULL;
    if (!made || pthread_setspecific(end_key, made)) {
        free(made);
        return NULL;
    }
    for (int i = 0; i < ROLES; i++) {
        made->in[i][0] = 0;
    }
    memcpy(made->in[which], short_text, sizeof short_text);
    mine = made;
    return made;
}

static const char *get_text(role which)
{
    return mine ? mine->in[which] : short_text;
}

static void set_list(role which, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

static void set_list(role which, const char *format, va_list list)
{
    texts *at = get_texts(which);

    if (at) {
        vsnprintf(at->in[SPARE], CORE_TEXT_MAX, format, list);
        printable_copy(at->in[which], CORE_TEXT_MAX, at->in[SPARE]);
    } else {
        char text[SHORT_TEXT];

        vsnprintf(text, sizeof text, format, list);
        printable_copy(short_text, sizeof short_text, text);
    }
}

static void set_last(const char *format, ...) ISO_PRINTF(1, 2);

static void set_last(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    set_list(LAST, format, list);
    va_end(list);
}

iso_status core_fail(iso_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    set_list(inside ? BACKEND : LAST, format, list);
    va_end(list);
    if (inside) {
        told = true;
    } else {
        last_status = status;
    }
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

bool core_inside(void)
{
    return inside;
}

iso_status core_backend_leave(const char *call, const char *backend, iso_status status,
                              bool may_wait)
{
    core_fpenv_leave(&callers);
    inside = false;
    if (status == ISO_OK || (status == ISO_NOT_READY && may_wait)) {
        return status;
    }
    if (status == ISO_NOT_READY) {
        return core_fail(
            ISO_INTERNAL,
            "%s: backend %s returned NOT_READY from an entry that must not return it: %s", call,
            backend, told ? get_text(BACKEND) : "it set no text");
    }
    if (status < ISO_OK || status > ISO_INTERNAL) {
        return core_fail(ISO_INTERNAL, "%s: backend %s returned %d, which is not a status: %s",
                         call, backend, (int)status, told ? get_text(BACKEND) : "it set no text");
    }
    if (!told) {
        return core_fail(status, "%s: backend %s returned %s without a reason", call, backend,
                         iso_status_name(status));
    }
    return core_fail(status, "%s: %s: %s", call, backend, get_text(BACKEND));
}

core_error_place core_error_lend(void)
{
    return (core_error_place){get_texts(LAST), last_status};
}

void core_error_borrow(core_error_place place)
{
    mine = place.texts;
    last_status = place.status;
}

core_error_place core_error_return(void)
{
    core_error_place place = {mine, last_status};

    mine = NULL; /* the lender frees it */
    return place;
}

void core_error_take(core_error_place place)
{
    last_status = place.status;
}

core_kept_error core_error_keep(void)
{
    core_kept_error kept = {.status = last_status};

    if (!get_text(LAST)[0]) {
        return kept;
    }
    kept.text = strdup(get_text(LAST));
    if (!kept.text) {
        snprintf(kept.brief, sizeof kept.brief, "%.*s", CORE_BRIEF_MAX - 1, get_text(LAST));
    }
    return kept;
}

const char *core_error_text(const core_kept_error *kept)
{
    return kept->text ? kept->text : kept->brief;
}

void core_error_restore(core_kept_error *kept)
{
    last_status = kept->status;
    if (core_error_text(kept)[0] || get_text(LAST)[0]) {
        set_last("%s", core_error_text(kept));
    }
    free(kept->text);
    kept->text = NULL;
}

void core_text_add(core_text *text, const char *format, ...)
{
    va_list list;
    int more;

    va_start(list, format);
    more = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (more < 0) {
        return;
    }
    if (text->length + (size_t)more + 1 > text->room) {
        size_t room = (text->length + (size_t)more + 1) * 2;
        char *grown = realloc(text->text, room);

        if (!grown) {
            text->failed = true;
            return;
        }
        text->text = grown;
        text->room = room;
    }
    va_start(list, format);
    vsnprintf(text->text + text->length, (size_t)more + 1, format, list);
    va_end(list);
    text->length += (size_t)more;
}

const char *core_text_get(const core_text *text)
{
    return text->text ? text->text : "";
}

iso_status core_text_check(const char *call, const core_text *text)
{
    return text->failed ? core_fail(ISO_NO_MEMORY,
                                    "%s: no host memory for the text that gives the reasons", call)
                        : ISO_OK;
}

void core_text_free(core_text *text)
{
    free(text->text);
    *text = (core_text){0};
}

const char *iso_last_error(void)
{
    /* During a backend's call, the backend reads the text that it set itself. */
    return get_text(inside && told ? BACKEND : LAST);
}

const char *core_reason(const char *call)
{
    const char *text = iso_last_error();
    size_t length = strlen(call);

    return !strncmp(text, call, length) && text[length] == ':' ? text + length + 2 : text;
}

iso_status iso_last_status(void)
{
    return last_status;
}

void iso_clear_error(void)
{
    if (mine || short_text[0]) {
        set_last("%s", "");
    }
    last_status = ISO_OK;
}
