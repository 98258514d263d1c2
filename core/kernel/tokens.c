/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - splits a text into tokens. Comments and directives are skipped; definitions are kept.
 */
#include "core/kernel/tokens.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 80 };

void kernel_fail(kernel_reader *r, int32_t line, const char *format, ...)
{
    char text[1024];
    va_list list;

    if (!r->status && r->quiet) {
        r->status = ISO_INVALID;
    } else if (!r->status) {
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        r->status = core_fail(ISO_INVALID, "%s: %s:%ld: %s", r->call, r->name, (long)line, text);
    }
    r->token.kind = KERNEL_END;
}

void kernel_fail_no_memory(kernel_reader *r, int64_t bytes)
{
    if (!r->status) {
        r->status = core_fail_no_memory(r->call, bytes);
    }
    r->token.kind = KERNEL_END;
}

/* ---- characters ------------------------------------------------------------------------------ */

/* Also $ and all that is not ASCII, which some compilers allow in names. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static char peek(const kernel_reader *r, int64_t at)
{
    return at < r->end ? r->text[at] : 0;
}

/* The length of a line continuation; 0 if there is none. Compilers allow blanks in it. */
static int64_t continuation(const kernel_reader *r, int64_t at)
{
    int64_t next = at + 1;

    if (peek(r, at) != '\\') {
        return 0;
    }
    while (is_blank(peek(r, next))) {
        next++;
    }
    return peek(r, next) == '\n' ? next + 1 - at : 0;
}

/* Moves past all line continuations here. */
static void skip_continuations(kernel_reader *r)
{
    for (int64_t length; (length = continuation(r, r->at)) != 0;) {
        r->at += length;
        r->line++;
    }
}

/* ---- comments and strings -------------------------------------------------------------------- */

static void skip_line_comment(kernel_reader *r)
{
    while (r->at < r->end && r->text[r->at] != '\n') {
        int64_t length = continuation(r, r->at);

        r->line += length != 0;
        r->at += length ? length : 1;
    }
}

static void skip_block_comment(kernel_reader *r)
{
    int32_t line = r->line;

    r->at += 2;
    while (r->at < r->end) {
        char c = r->text[r->at++];

        r->line += c == '\n';
        if (c == '*') {
            skip_continuations(r);
            if (peek(r, r->at) == '/') {
                r->at++;
                return;
            }
        }
    }
    kernel_fail(r, line, "the comment that begins here has no end: add */");
}

/* A string or a character. An apostrophe of #error is none. */
static void read_quoted(kernel_reader *r)
{
    char quote = r->text[r->at];
    kernel_reader begin = *r;

    r->at++;
    while (r->at < r->end && r->text[r->at] != quote && r->text[r->at] != '\n') {
        bool escapes = r->text[r->at] == '\\';
        int64_t length = continuation(r, r->at);

        r->line += length != 0;
        r->at += length ? length : 1;
        if (escapes && !length && r->at < r->end && r->text[r->at] != '\n') {
            skip_continuations(r);
            r->at += r->at < r->end && r->text[r->at] != '\n';
        }
    }
    if (peek(r, r->at) == quote) {
        r->at++;
        r->token.kind = KERNEL_QUOTED;
    } else if (r->one_line) {
        *r = begin;
        r->at++;
        r->token.kind = KERNEL_SIGN;
    } else {
        kernel_fail(r, begin.line, "the %s that begins here has no end: add %c on the same line",
                    quote == '"' ? "string" : "character", quote);
    }
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void keep_definition(kernel_reader *r, const kernel_definition *row)
{
    kernel_definitions *defined = r->defined;

    if (!defined) {
        return;
    }
    if (defined->count == defined->room) {
        int64_t room = defined->room ? defined->room * 2 : 16;
        int64_t bytes = room * (int64_t)sizeof *row;
        kernel_definition *grown = realloc(defined->rows, (size_t)bytes);

        if (!grown) {
            kernel_fail_no_memory(r, bytes);
            return;
        }
        defined->rows = grown;
        defined->room = room;
    }
    defined->rows[defined->count++] = *row;
}

void kernel_definitions_free(kernel_definitions *defined)
{
    free(defined->rows);
    *defined = (kernel_definitions){0};
}

/* The rest of #define or #undef. Returns whether it is one. */
static bool read_definition(kernel_reader *line, bool removed, kernel_definition *row)
{
    int64_t end;

    kernel_next(line);
    if (line->token.kind != KERNEL_WORD) {
        return false;
    }
    *row = (kernel_definition){.name = line->text + line->token.at,
                               .name_length = line->token.length,
                               .conditional = line->conditions > 0,
                               .removed = removed};
    skip_continuations(line);
    row->takes = peek(line, line->at) == '(';
    kernel_next(line);
    row->value = line->text + line->token.at;
    end = line->token.at;
    while (line->token.kind != KERNEL_END) {
        end = line->token.at + line->token.length;
        kernel_next(line);
    }
    row->value_length = line->text + end - row->value;
    return true;
}

/* From its # to the end of its line. */
static void skip_directive(kernel_reader *r)
{
    kernel_reader line = *r;
    kernel_definition row;
    bool is_definition = false;

    line.at++;
    line.one_line = true;
    kernel_next(&line);
    if (kernel_is(&line, "if") || kernel_is(&line, "ifdef") || kernel_is(&line, "ifndef")) {
        r->conditions++;
    } else if (kernel_is(&line, "endif")) {
        r->conditions -= r->conditions > 0;
    } else if (kernel_is(&line, "define") || kernel_is(&line, "undef")) {
        is_definition = read_definition(&line, kernel_is(&line, "undef"), &row);
    }
    while (line.token.kind != KERNEL_END) {
        kernel_next(&line);
    }
    r->at = line.at;
    r->line = line.line;
    r->status = line.status;
    if (!r->status && is_definition) {
        keep_definition(r, &row);
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Moves to the next token's first byte. */
static void skip_blanks(kernel_reader *r)
{
    while (r->at < r->end && !r->status) {
        char c = r->text[r->at], after = peek(r, r->at + 1);

        if (c == '\n' && r->one_line) {
            return;
        }
        if (c == '\n' || is_blank(c)) {
            r->line += c == '\n';
            r->fresh = r->fresh || c == '\n';
            r->at++;
        } else if (continuation(r, r->at)) {
            skip_continuations(r);
        } else if (c == '/' && after == '/') {
            skip_line_comment(r);
        } else if (c == '/' && after == '*') {
            skip_block_comment(r);
        } else if (c == '#' && r->fresh && !r->one_line) {
            skip_directive(r);
        } else {
            return;
        }
    }
}

/* A number may contain points and the signs of exponents. */
static void read_word(kernel_reader *r)
{
    bool number = is_digit(r->text[r->at]) || r->text[r->at] == '.';

    r->token.kind = number ? KERNEL_NUMBER : KERNEL_WORD;
    for (char c; (c = peek(r, r->at)) != 0;) {
        char before = r->text[r->at - (r->at > r->token.at)];
        bool sign = (c == '+' || c == '-') && before && strchr("eEpP", before);

        if (!is_word(c) && !(number && (c == '.' || sign))) {
            break;
        }
        r->at++;
    }
    r->token.length = r->at - r->token.at;
    if (!number && peek(r, r->at) == '"' && r->text[r->at - 1] == 'R' && r->token.length <= 3) {
        kernel_fail(r, r->line, "a raw string is not C: write \"...\"");
    }
}

static void read_sign(kernel_reader *r)
{
    static const char *const digraphs[] = {"<%", "%>", "<:", ":>", "%:"};
    char c = r->text[r->at], after = peek(r, r->at + 1);

    r->token.kind = KERNEL_SIGN;
    for (size_t i = 0; i < sizeof digraphs / sizeof *digraphs; i++) {
        if (c == digraphs[i][0] && after == digraphs[i][1]) {
            kernel_fail(r, r->line, "the digraph %s is not read: write { } [ ] or #", digraphs[i]);
            return;
        }
    }
    r->at += c == after && strchr("<>+-", c) ? 2 : 1;
}

/* A token that a line continuation cuts would be read as two. */
static void check_whole(kernel_reader *r, bool word)
{
    kernel_reader later = *r;
    char c;

    if (!continuation(r, r->at)) {
        return;
    }
    skip_continuations(&later);
    c = peek(&later, later.at);
    if (word ? is_word(c) : kernel_is(r, "/") && (c == '/' || c == '*')) {
        kernel_fail(r, r->line, "a line continuation cuts \"%.*s\": put it between two tokens",
                    kernel_shown_length(r), kernel_shown(r));
    }
}

void kernel_next(kernel_reader *r)
{
    char c;

    r->past = r->at;
    skip_blanks(r);
    r->token = (kernel_token){.kind = KERNEL_END, .line = r->line, .at = r->at};
    c = peek(r, r->at);
    if (r->status || r->at >= r->end || c == '\n') {
        return;
    }
    r->fresh = false;
    if (is_word(c) || (c == '.' && is_digit(peek(r, r->at + 1)))) {
        read_word(r);
    } else if (c == '"' || c == '\'') {
        read_quoted(r);
    } else {
        read_sign(r);
    }
    r->token.length = r->at - r->token.at;
    if (r->token.kind != KERNEL_END && r->token.kind != KERNEL_QUOTED) {
        check_whole(r, r->token.kind != KERNEL_SIGN);
    }
}

bool kernel_is(const kernel_reader *r, const char *text)
{
    return (r->token.kind == KERNEL_WORD || r->token.kind == KERNEL_SIGN) &&
           (int64_t)strlen(text) == r->token.length &&
           !memcmp(r->text + r->token.at, text, (size_t)r->token.length);
}

bool kernel_is_sign(const kernel_reader *r, const char *list)
{
    return r->token.kind == KERNEL_SIGN && r->token.length == 1 &&
           strchr(list, r->text[r->token.at]);
}

const char *kernel_shown(const kernel_reader *r)
{
    return r->token.kind == KERNEL_END ? "the end" : r->text + r->token.at;
}

int kernel_shown_length(const kernel_reader *r)
{
    if (r->token.kind == KERNEL_END) {
        return (int)strlen("the end");
    }
    return r->token.length < SHOWN_MOST ? (int)r->token.length : SHOWN_MOST;
}

kernel_reader kernel_reader_open(const char *call, const char *name, const char *text,
                                 const kernel_macro *macros, int32_t macro_count,
                                 kernel_definitions *defined)
{
    kernel_reader r = {.call = call,
                       .name = name,
                       .text = text,
                       .end = (int64_t)strlen(text),
                       .line = 1,
                       .fresh = true,
                       .defined = defined};

    for (int32_t i = 0; i < macro_count && !r.status; i++) {
        kernel_reader value = {
            .call = call, .name = name, .text = macros[i].value, .one_line = true};
        kernel_definition row = {.name = macros[i].name,
                                 .value = macros[i].value,
                                 .name_length = (int64_t)strlen(macros[i].name),
                                 .value_length = (int64_t)strlen(macros[i].value),
                                 .given = true};

        value.end = row.value_length;
        do {
            kernel_next(&value);
        } while (value.token.kind != KERNEL_END);
        r.status = value.status;
        if (!r.status) {
            keep_definition(&r, &row);
        }
    }
    return r;
}
