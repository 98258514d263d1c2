/* SPDX-License-Identifier: Apache-2.0 */
/* variables.c - the variables of a kernel's body, and which of them a region may write. A value
 * that belongs to the group is one variable for all items on a CPU and one for each item on a GPU,
 * so a region that writes it would mean two things. */
#include "core/kernel/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of C, which compilers accept too. */
static const char *const others[] = {"int",   "unsigned", "signed", "char",   "short", "long",
                                     "float", "double",   "bool",   "size_t", "auto"};

static void add(kernel_scope *s, kernel_name_kind kind, const char *text, int64_t length)
{
    kernel_variables *names = s->names;

    if (names->count == names->room) {
        const int64_t room = names->room ? names->room * 2 : 32;
        const int64_t bytes = room * (int64_t)sizeof *names->rows;
        kernel_name *grown = realloc(names->rows, (size_t)bytes);

        if (!grown) {
            kernel_fail_no_memory(s->reader, bytes);
            return;
        }
        names->rows = grown;
        names->room = room;
    }
    names->rows[names->count++] = (kernel_name){.text = text, .length = length, .kind = kind};
}

void kernel_variables_begin(kernel_scope *s)
{
    for (int32_t i = 0; i < s->kernel->param_count; i++) {
        const kernel_param *param = &s->kernel->params[i];
        const kernel_name_kind kind = param->role == KERNEL_VALUE ? KERNEL_NAME_GROUP
                                      : param->role == KERNEL_OWN ? KERNEL_NAME_OWN
                                                                  : KERNEL_NAME_ARRAY;

        add(s, kind, param->name, (int64_t)strlen(param->name));
    }
}

void kernel_variables_free(kernel_variables *names)
{
    free(names->rows);
    *names = (kernel_variables){0};
}

void kernel_add_index(kernel_scope *s, int axis)
{
    const kernel_reader *r = s->reader;

    add(s, KERNEL_NAME_ITEM, r->text + r->token.at, r->token.length);
    s->indices[axis] = (kernel_name){.text = r->text + r->token.at, .length = r->token.length};
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* A reader that looks ahead of another one. */
static kernel_reader ahead_of(const kernel_reader *r)
{
    kernel_reader ahead = *r;

    ahead.defined = NULL;
    return ahead;
}

/* To the sign of a declaration that ends one of its names: , ; ) or : */
static void skip_declarator(kernel_reader *ahead)
{
    int depth = 0;

    while (ahead->token.kind != KERNEL_END && (depth > 0 || !kernel_is_sign(ahead, ",;):"))) {
        depth += kernel_is_sign(ahead, "([{") ? 1 : kernel_is_sign(ahead, ")]}") ? -1 : 0;
        kernel_next(ahead);
    }
}

static bool is_other_type(const kernel_reader *r)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (kernel_is(r, others[i])) {
            return true;
        }
    }
    return false;
}

/* If the current word is the type of a declaration, adds the names that it declares. */
static void read_declaration(kernel_scope *s)
{
    kernel_reader ahead = ahead_of(s->reader);

    if (!is_other_type(s->reader) && !kernel_is_type(s->reader, s->file)) {
        return;
    }
    kernel_next(&ahead);
    while (kernel_is(&ahead, "const") || kernel_is(&ahead, "volatile")) {
        kernel_next(&ahead);
    }
    if (kernel_is(&ahead, "*")) {
        kernel_fail(s->reader, s->reader->token.line,
                    "kernel %s has a pointer, %.*s *, but backends differ in pointers: use an "
                    "index, and write "
                    "x[index]",
                    s->kernel->name, kernel_shown_length(s->reader), kernel_shown(s->reader));
        return;
    }
    while (ahead.token.kind == KERNEL_WORD) {
        kernel_check_variable(s->reader, &ahead);
        add(s, s->in_region ? KERNEL_NAME_ITEM : KERNEL_NAME_GROUP, ahead.text + ahead.token.at,
            ahead.token.length);
        kernel_next(&ahead);
        skip_declarator(&ahead);
        if (!kernel_is(&ahead, ",")) {
            return;
        }
        kernel_next(&ahead);
    }
}

/* ---- uses ------------------------------------------------------------------------------------ */

/* The character that ends the token before, `back` characters earlier; 0: there is none. */
static char before(const kernel_reader *r, int64_t back)
{
    return r->past > back ? r->text[r->past - 1 - back] : 0;
}

/* Whether the & before the current word takes an address. */
static bool takes_address(const kernel_reader *r)
{
    int64_t at = r->past - 1;

    if (before(r, 0) != '&' || before(r, 1) == '&') {
        return false;
    }
    do {
        at--;
    } while (at >= 0 && strchr(" \t\n", r->text[at]));
    return at < 0 || strchr("(,=+-*/%|^!~?:;{}<>[&", r->text[at]);
}

/* Whether the current sign assigns to what stands before it. */
static bool assigns(const kernel_reader *r)
{
    const char *at = r->text + r->token.at;
    const int64_t left = r->end - r->token.at;
    const bool wide = kernel_is(r, "<<") || kernel_is(r, ">>");

    if (kernel_is(r, "=")) {
        return left < 2 || at[1] != '=';
    }
    if (kernel_is(r, "++") || kernel_is(r, "--")) {
        return true;
    }
    return (wide && left > 2 && at[2] == '=') ||
           (kernel_is_sign(r, "+-*/%&|^") && left > 1 && at[1] == '=');
}

typedef struct use {
    bool indexed, written;
} use;

static use find_use(const kernel_reader *r)
{
    kernel_reader ahead = ahead_of(r);
    use found = {0};

    kernel_next(&ahead);
    for (;;) {
        if (kernel_is(&ahead, ".")) {
            kernel_next(&ahead);
            kernel_next(&ahead);
        } else if (kernel_is(&ahead, "[")) {
            kernel_next(&ahead);
            for (int depth = 1; depth > 0 && ahead.token.kind != KERNEL_END; kernel_next(&ahead)) {
                depth += kernel_is_sign(&ahead, "([{") ? 1 : kernel_is_sign(&ahead, ")]}") ? -1 : 0;
            }
            found.indexed = true;
        } else {
            break;
        }
    }
    found.written = assigns(&ahead) || takes_address(r) ||
                    (before(r, 0) == before(r, 1) && before(r, 0) && strchr("+-", before(r, 0)));
    return found;
}

static const kernel_name *find_name(const kernel_scope *s, const kernel_reader *r)
{
    for (int64_t i = s->names->count; i > 0; i--) {
        const kernel_name *row = &s->names->rows[i - 1];

        if (row->length == r->token.length &&
            !memcmp(row->text, r->text + r->token.at, (size_t)row->length)) {
            return row;
        }
    }
    return NULL;
}

static void check_variable(kernel_scope *s, const kernel_reader *word, const kernel_name *row)
{
    kernel_reader *r = s->reader;
    const use found = find_use(word);
    const int length = kernel_shown_length(word);
    const char *name = kernel_shown(word), *kernel = s->kernel->name;

    if (row->kind == KERNEL_NAME_GROUP && s->in_region && found.written) {
        kernel_fail(r, r->token.line,
                    "kernel %s writes %.*s in a region, but %.*s is declared outside of regions, "
                    "where it belongs to the group: use an ISO_OWN or ISO_SHARED parameter, or "
                    "declare it in the region",
                    kernel, length, name, length, name);
    } else if (row->kind == KERNEL_NAME_ARRAY && !found.indexed && found.written) {
        kernel_fail(r, r->token.line,
                    "kernel %s changes %.*s itself, which is an array: write its elements, and add "
                    "to indices instead",
                    kernel, length, name);
    } else if (row->kind == KERNEL_NAME_ARRAY && !s->in_region && found.written) {
        kernel_fail(r, r->token.line,
                    "kernel %s writes %.*s outside of regions, where all items of a group run the "
                    "same: put it in a region, if (i == 0) for one item",
                    kernel, length, name);
    } else if (row->kind == KERNEL_NAME_OWN && (found.indexed || found.written)) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses %.*s, a value of each item, without iso_mine: write "
                    "iso_mine(%.*s)",
                    kernel, length, name, length, name);
    }
}

/* iso_x(i) and its like take the index of the region, by its name. */
static void check_place(kernel_scope *s)
{
    static const char *const words[] = {"iso_x", "iso_y", "iso_z"};
    kernel_reader *r = s->reader, given = ahead_of(r), after;
    int axis = 0;

    while (axis < 3 && !kernel_is(r, words[axis])) {
        axis++;
    }
    if (axis == 3 || !s->in_region) {
        return;
    }
    const kernel_name *index = &s->indices[axis];
    kernel_next(&given);
    kernel_next(&given);
    after = given;
    kernel_next(&after);
    if (!index->text) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses %s, but the region has no index along %c: use ISO_REGION_%d",
                    s->kernel->name, words[axis], "xyz"[axis], axis + 1);
    } else if (given.token.length != index->length || !kernel_is(&after, ")") ||
               memcmp(given.text + given.token.at, index->text, (size_t)index->length) != 0) {
        const int64_t at = given.token.at;

        for (int depth = 0; given.token.kind != KERNEL_END && (depth || !kernel_is(&given, ")"));
             kernel_next(&given)) {
            depth += kernel_is(&given, "(") - kernel_is(&given, ")");
        }
        kernel_fail(r, r->token.line,
                    "kernel %s uses %s(%.*s): it takes the name of the region's index alone: write "
                    "%s(%.*s), and add to the result if you need another place",
                    s->kernel->name, words[axis], (int)(given.past > at ? given.past - at : 0),
                    r->text + at, words[axis], (int)index->length, index->text);
    }
}

static bool is_stray(const struct kernel_stray *row, const char *text, int64_t length)
{
    return row->length == length && !memcmp(row->text, text, (size_t)length);
}

static void fail_stray(kernel_scope *s, int32_t line, const struct kernel_stray *index)
{
    kernel_fail(s->reader, line,
                "kernel %s uses %.*s outside of regions: %.*s is the item's index in the region of "
                "line %ld, and exists only there: move this into that region",
                s->kernel->name, (int)index->length, index->text, (int)index->length, index->text,
                (long)index->line);
}

void kernel_check_strays(kernel_scope *s, int32_t line)
{
    kernel_strays *all = &s->strays;

    for (int32_t i = 0; i < all->word_count && !all->off; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const struct kernel_stray index = {s->indices[axis].text, s->indices[axis].length,
                                               line};

            if (index.text && is_stray(&all->words[i], index.text, index.length)) {
                fail_stray(s, all->words[i].line, &index);
            }
        }
    }
}

void kernel_keep_indices(kernel_scope *s, int32_t line)
{
    kernel_strays *all = &s->strays;

    for (int axis = 0; axis < 3 && all->index_count < KERNEL_STRAYS_MAX; axis++) {
        if (s->indices[axis].text) {
            all->indices[all->index_count++] =
                (struct kernel_stray){s->indices[axis].text, s->indices[axis].length, line};
        }
    }
}

/* A word outside of regions that is no variable. */
static void check_stray(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    kernel_strays *all = &s->strays;
    bool takes = false;

    if (kernel_is_macro(r, &takes)) {
        all->off = all->off || takes;
        return;
    }
    for (int32_t i = 0; i < all->index_count && !all->off; i++) {
        if (is_stray(&all->indices[i], r->text + r->token.at, r->token.length)) {
            fail_stray(s, r->token.line, &all->indices[i]);
            return;
        }
    }
    for (int32_t i = 0; i < all->word_count; i++) {
        if (is_stray(&all->words[i], r->text + r->token.at, r->token.length)) {
            return;
        }
    }
    if (all->word_count < KERNEL_STRAYS_MAX) {
        all->words[all->word_count++] = (struct kernel_stray){
            .text = r->text + r->token.at, .length = r->token.length, .line = r->token.line};
    }
}

/* Words that need an item. */
static void check_outside(kernel_scope *s, const kernel_reader *word)
{
    kernel_reader *r = s->reader;
    static const char atomic[] = "iso_atomic_";
    const bool is_atomic = word->token.length >= (int64_t)sizeof atomic &&
                           !memcmp(word->text + word->token.at, atomic, sizeof atomic - 1);

    if (is_atomic || kernel_is(word, "iso_mine") || kernel_is(word, "iso_x") ||
        kernel_is(word, "iso_y") || kernel_is(word, "iso_z")) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses %.*s outside of regions, where there is no item: put it in a "
                    "region; loops and branches around regions must be the same for all items",
                    s->kernel->name, kernel_shown_length(word), kernel_shown(word));
    }
}

void kernel_check_use(kernel_scope *s, const kernel_reader *word)
{
    const kernel_name *row;
    char user[KERNEL_NAME_MAX + 8];

    if (word->token.kind != KERNEL_WORD || s->reader->status) {
        return;
    }
    if (before(word, 0) == '.' || (before(word, 0) == '>' && before(word, 1) == '-')) {
        return; /* a member */
    }
    row = find_name(s, word);
    if (row) {
        check_variable(s, word, row);
    } else {
        snprintf(user, sizeof user, "kernel %s", s->kernel->name);
        kernel_check_word(s->reader, word, user);
    }
    if (!row && !s->in_region) {
        check_outside(s, word);
    }
    if (word == s->reader) {
        check_place(s);
        read_declaration(s);
    }
    if (!row && !s->in_region && word == s->reader) {
        check_stray(s);
    }
}
