/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - tokens and macros of a text. */
#include "tests/kernels/conformance/parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACRO_PARAMS = 8, MACRO_DEPTH = 32, CONDITIONS = 16 };

typedef struct macro {
    char *name;
    int param_count; /* -1: it takes none */
    char *params[MACRO_PARAMS];
    model_tokens body;
    bool open; /* being replaced */
    struct macro *next;
} macro;

typedef struct scanner {
    model_block **blocks;
    model_escape *escape;
    macro *macros;
    int depth;
} scanner;

/* ---- memory and failures --------------------------------------------------------------------- */

void *model_take(model_block **blocks, size_t bytes)
{
    const size_t head = (sizeof(model_block) + 15) / 16 * 16;
    model_block *made = calloc(1, head + bytes);
    if (!made) {
        (void)fputs("no memory\n", stderr);
        exit(70);
    }
    made->next = *blocks;
    *blocks = made;
    return (char *)made + head;
}

void model_give_back(model_block **blocks)
{
    while (*blocks) {
        model_block *next = (*blocks)->next;
        free(*blocks);
        *blocks = next;
    }
}

void model_fail(model_escape *escape, int line, const char *format, ...)
{
    va_list list;
    const int used = snprintf(escape->why, escape->room, "line %d: ", line);
    va_start(list, format);
    if (used > 0 && (size_t)used < escape->room) {
        (void)vsnprintf(escape->why + used, escape->room - (size_t)used, format, list);
    }
    va_end(list);
    longjmp(escape->back, 1);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void add(scanner *s, model_tokens *list, model_token token)
{
    if (list->count == list->room) {
        const int room = list->room ? list->room * 2 : 16;
        model_token *grown = model_take(s->blocks, (size_t)room * sizeof *grown);
        if (list->count) {
            memcpy(grown, list->at, (size_t)list->count * sizeof *grown);
        }
        list->at = grown;
        list->room = room;
    }
    list->at[list->count++] = token;
}

static size_t sign_length(const char *at)
{
    static const char *const signs[] = {
        "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!strncmp(at, signs[i], strlen(signs[i]))) {
            return strlen(signs[i]);
        }
    }
    return 1;
}

static size_t token_length(const char *at, model_token_kind *kind)
{
    const bool number =
        isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
    size_t length = 0;
    if (!number && !isalpha((unsigned char)*at) && *at != '_') {
        *kind = TOKEN_SIGN;
        return sign_length(at);
    }
    *kind = number ? TOKEN_NUMBER : TOKEN_WORD;
    const bool hex = number && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
           (number && at[length] == '.') ||
           (number && length > 0 && (at[length] == '+' || at[length] == '-') &&
            strchr(hex ? "pP" : "eEpP", at[length - 1]))) {
        length++;
    }
    return length;
}

/* The tokens of one line, or of a macro's value. */
static model_tokens scan_line(scanner *s, const char *at, const char *end, int line)
{
    model_tokens list = {0};
    while (at < end) {
        if (isspace((unsigned char)*at) || *at == '\\') {
            at++;
            continue;
        }
        model_token token = {.line = line};
        const size_t length = token_length(at, &token.kind);
        token.text = model_take(s->blocks, length + 1);
        memcpy(token.text, at, length);
        add(s, &list, token);
        at += length;
    }
    return list;
}

/* ---- macros ---------------------------------------------------------------------------------- */

static macro *find(const scanner *s, const char *name)
{
    macro *at = s->macros;
    while (at && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    return at;
}

static void define(scanner *s, const char *at, const char *end, int line)
{
    macro *made = model_take(s->blocks, sizeof *made);
    model_token_kind kind;
    while (at < end && isspace((unsigned char)*at)) {
        at++;
    }
    const size_t length = token_length(at, &kind);
    made->name = model_take(s->blocks, length + 1);
    memcpy(made->name, at, length);
    at += length;
    made->param_count = -1;
    if (at < end && *at == '(') {
        const char *close = memchr(at, ')', (size_t)(end - at));
        const model_tokens params = scan_line(s, at + 1, close ? close : end, line);
        made->param_count = 0;
        for (int i = 0; i < params.count; i++) {
            if (params.at[i].kind == TOKEN_WORD && made->param_count < MACRO_PARAMS) {
                made->params[made->param_count++] = params.at[i].text;
            }
        }
        at = close ? close + 1 : end;
    }
    made->body = scan_line(s, at, end, line);
    made->next = s->macros;
    s->macros = made;
}

static void expand(scanner *s, const model_tokens *from, model_tokens *to);

/* From the ( after a macro's name; returns the index of its ). */
static int read_arguments(scanner *s, const model_tokens *from, int at, model_tokens *arguments)
{
    int depth = 0, count = 0;
    model_tokens raw[MACRO_PARAMS] = {{0}};
    const int line = from->at[at].line;
    for (; at < from->count; at++) {
        const char *text = from->at[at].text;
        depth += strcmp(text, "(") == 0;
        depth -= strcmp(text, ")") == 0;
        if (depth == 0) {
            for (int i = 0; i < MACRO_PARAMS; i++) {
                expand(s, &raw[i], &arguments[i]);
            }
            return at;
        }
        if (depth == 1 && strcmp(text, ",") == 0) {
            count++;
        } else if (depth > 1 || strcmp(text, "(") != 0) {
            if (count >= MACRO_PARAMS) {
                model_fail(s->escape, line, "a macro has too many arguments");
            }
            add(s, &raw[count], from->at[at]);
        }
    }
    model_fail(s->escape, line, "a macro's arguments have no end");
}

static void replace(scanner *s, macro *found, const model_tokens *arguments, int line,
                    model_tokens *to)
{
    model_tokens made = {0};
    for (int i = 0; i < found->body.count; i++) {
        model_token token = found->body.at[i];
        int which = 0;
        while (which < found->param_count && strcmp(found->params[which], token.text) != 0) {
            which++;
        }
        token.line = line;
        if (which < found->param_count) {
            for (int k = 0; k < arguments[which].count; k++) {
                add(s, &made, arguments[which].at[k]);
            }
        } else {
            add(s, &made, token);
        }
    }
    found->open = true;
    expand(s, &made, to);
    found->open = false;
}

static void expand(scanner *s, const model_tokens *from, model_tokens *to)
{
    if (++s->depth > MACRO_DEPTH) {
        model_fail(s->escape, from->count ? from->at[0].line : 0, "macros nest too deep");
    }
    for (int i = 0; i < from->count; i++) {
        const model_token *token = &from->at[i];
        macro *found = token->kind == TOKEN_WORD ? find(s, token->text) : NULL;
        const bool called = i + 1 < from->count && strcmp(from->at[i + 1].text, "(") == 0;
        if (!found || found->open || (found->param_count >= 0 && !called)) {
            add(s, to, *token);
            continue;
        }
        model_tokens arguments[MACRO_PARAMS] = {{0}};
        if (found->param_count >= 0) {
            i = read_arguments(s, from, i + 1, arguments);
        }
        replace(s, found, arguments, token->line, to);
    }
    s->depth--;
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct conditions {
    bool taken[CONDITIONS];
    int count;
} conditions;

static bool is_taken(const conditions *c)
{
    for (int i = 0; i < c->count; i++) {
        if (!c->taken[i]) {
            return false;
        }
    }
    return true;
}

static void undefine(scanner *s, const char *name)
{
    for (macro **at = &s->macros; *at; at = &(*at)->next) {
        if (!strcmp((*at)->name, name)) {
            *at = (*at)->next;
            return;
        }
    }
}

static void direct(scanner *s, conditions *c, const char *at, const char *end, int line)
{
    const model_tokens words = scan_line(s, at, end, line);
    const char *what = words.count > 1 ? words.at[1].text : "";
    const char *name = words.count > 2 ? words.at[2].text : "";
    if (!strcmp(what, "ifdef") || !strcmp(what, "ifndef")) {
        if (c->count == CONDITIONS) {
            model_fail(s->escape, line, "too many #if");
        }
        c->taken[c->count++] = (find(s, name) != NULL) == !strcmp(what, "ifdef");
    } else if (!strcmp(what, "else") && c->count) {
        c->taken[c->count - 1] = !c->taken[c->count - 1];
    } else if (!strcmp(what, "endif") && c->count) {
        c->count--;
    } else if (is_taken(c) && !strcmp(what, "define")) {
        define(s, strstr(at, "define") + strlen("define"), end, line);
    } else if (is_taken(c) && !strcmp(what, "undef")) {
        undefine(s, name);
    } else if (strcmp(what, "include") != 0 && is_taken(c)) {
        model_fail(s->escape, line, "#%s is not read", what);
    }
}

static char *without_comments(scanner *s, const char *text)
{
    char *made = model_take(s->blocks, strlen(text) + 1);
    memcpy(made, text, strlen(text));
    for (char *at = made; *at; at++) {
        if (!strncmp(at, "//", 2)) {
            while (*at && *at != '\n') {
                *at++ = ' ';
            }
            at -= *at == 0;
        } else if (!strncmp(at, "/*", 2)) {
            while (*at && strncmp(at, "*/", 2) != 0) {
                *at = *at == '\n' ? '\n' : ' ';
                at++;
            }
            if (*at) {
                at[0] = at[1] = ' ';
            }
            at -= *at == 0;
        }
    }
    return made;
}

model_tokens model_scan(model_block **blocks, model_escape *escape, const char *text,
                        const model_macro *macros, int macro_count)
{
    scanner s = {.blocks = blocks, .escape = escape};
    model_tokens list = {0}, all = {0};
    conditions c = {.count = 0};
    int line = 1;
    for (int i = 0; i < macro_count; i++) {
        const size_t room = strlen(macros[i].name) + strlen(macros[i].value) + 2;
        char *made = model_take(blocks, room);
        (void)snprintf(made, room, "%s %s", macros[i].name, macros[i].value);
        define(&s, made, made + strlen(made), 0);
    }
    for (const char *at = without_comments(&s, text); *at; line++) {
        const char *end = strchr(at, '\n');
        const char *begin = at + strspn(at, " \t");
        while (end && end > at && end[-1] == '\\') {
            end = strchr(end + 1, '\n');
            line++;
        }
        end = end ? end : at + strlen(at);
        if (*begin == '#') {
            /* What stands before it has the macros of its own place. */
            expand(&s, &list, &all);
            list = (model_tokens){0};
            direct(&s, &c, begin, end, line);
        } else if (is_taken(&c)) {
            const model_tokens more = scan_line(&s, at, end, line);
            for (int i = 0; i < more.count; i++) {
                add(&s, &list, more.at[i]);
            }
        }
        at = *end ? end + 1 : end;
    }
    expand(&s, &list, &all);
    add(&s, &all, (model_token){.kind = TOKEN_END, .line = line, .text = model_take(blocks, 1)});
    return all;
}
