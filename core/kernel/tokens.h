/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - the tokens of a text of the kernel language, and the macros that it defines. */
#ifndef ISOMER_CORE_KERNEL_TOKENS_H
#define ISOMER_CORE_KERNEL_TOKENS_H

#include "core/kernel/declare.h"

#include <stdbool.h>

typedef enum kernel_token_kind {
    KERNEL_END, /* of the text, or a failure */
    KERNEL_WORD,
    KERNEL_NUMBER,
    KERNEL_QUOTED,
    KERNEL_SIGN /* one character; also << >> ++ -- */
} kernel_token_kind;

typedef struct kernel_token {
    kernel_token_kind kind;
    int32_t line;
    int64_t at, length;
} kernel_token;

/* One #define or #undef, or a macro of the caller. */
typedef struct kernel_definition {
    const char *name, *value;
    int64_t name_length, value_length;
    bool given;       /* by the caller */
    bool takes;       /* a function-like macro */
    bool conditional; /* under #if */
    bool removed;     /* #undef */
} kernel_definition;

typedef struct kernel_definitions {
    kernel_definition *rows; /* from malloc */
    int64_t count, room;
} kernel_definitions;

typedef struct kernel_reader {
    const char *call, *name, *text;
    int64_t at, end;
    int64_t past; /* the end of the token before the current one */
    int32_t line;
    int32_t conditions;          /* open #if */
    kernel_definitions *defined; /* NULL: definitions are not kept */
    bool fresh;                  /* nothing but blanks on this line so far */
    bool one_line;               /* a directive or a macro's value: ends with its line */
    bool quiet;                  /* failures have no message */
    iso_status status;           /* of the first failure */
    kernel_token token;          /* the current one */
} kernel_reader;

/* Begins before the first token. The caller's macros become the first definitions. */
kernel_reader kernel_reader_open(const char *call, const char *name, const char *text,
                                 const kernel_macro *macros, int32_t macro_count,
                                 kernel_definitions *defined);
void kernel_definitions_free(kernel_definitions *defined);
/* Moves to the next token. */
void kernel_next(kernel_reader *r);
/* The first failure counts, and ends the text. */
void kernel_fail(kernel_reader *r, int32_t line, const char *format, ...) ISO_PRINTF(3, 4);
void kernel_fail_no_memory(kernel_reader *r, int64_t bytes);
/* Whether the current token is this word or sign. */
bool kernel_is(const kernel_reader *r, const char *text);
/* Whether it is one character of the list. */
bool kernel_is_sign(const kernel_reader *r, const char *list);
/* For messages: the token and its length for "%.*s", cut if it is long. */
const char *kernel_shown(const kernel_reader *r);
int kernel_shown_length(const kernel_reader *r);

#endif
