/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - the types of parameters, and the structs that a text declares. */
#include "core/kernel/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACROS_MOST = 16, STRUCT_BYTES_MOST = 4096 };

static const char types[] = "i8, u8, i16, u16, i32, u32, i64, u64, f32 and f64; those of 32 and 64 "
                            "bits with x2 or x4 after it (f32x4); and structs that ISO_STRUCT "
                            "declared before";

/* The language's names of C's types. */
static const char *type_instead(const kernel_reader *r)
{
    static const char *const rows[][2] = {
        {"float", "; float is f32"},     {"double", "; double is f64"},
        {"int", "; int is i32"},         {"unsigned", "; unsigned is u32"},
        {"char", "; char is i8"},        {"short", "; short is i16"},
        {"long", "; long is i64"},       {"size_t", "; size_t is u64"},
        {"int32_t", "; int32_t is i32"}, {"uint32_t", "; uint32_t is u32"},
        {"int64_t", "; int64_t is i64"}, {"uint64_t", "; uint64_t is u64"},
        {"bool", "; use u8 for bool"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (kernel_is(r, rows[i][0])) {
            return rows[i][1];
        }
    }
    return "";
}

static const struct scalar {
    const char *name;
    int32_t bytes;
    bool vectors;
} scalars[] = {{"i8", 1, false}, {"u8", 1, false}, {"i16", 2, false}, {"u16", 2, false},
               {"i32", 4, true}, {"u32", 4, true}, {"i64", 8, true},  {"u64", 8, true},
               {"f32", 4, true}, {"f64", 8, true}};

/* ---- types ----------------------------------------------------------------------------------- */

static bool find_scalar(const kernel_reader *word, kernel_type *type)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        for (int32_t lanes = 1; lanes <= (scalars[i].vectors ? 4 : 1); lanes *= 2) {
            char name[8];

            snprintf(name, sizeof name, lanes > 1 ? "%sx%d" : "%s", scalars[i].name, (int)lanes);
            if (kernel_is(word, name)) {
                *type = (kernel_type){.scalar = name[0],
                                      .bytes = scalars[i].bytes * lanes,
                                      .align = scalars[i].bytes * lanes,
                                      .lanes = lanes};
                memcpy(type->name, name, sizeof name);
                return true;
            }
        }
    }
    return false;
}

static bool find_struct(const kernel_reader *word, const kernel_file *file, kernel_type *type)
{
    for (int32_t i = 0; i < file->struct_count; i++) {
        if (kernel_is(word, file->structs[i].type.name)) {
            *type = file->structs[i].type;
            return true;
        }
    }
    return false;
}

/* A reader at the first word of a macro's value. */
static kernel_reader macro_reader(const kernel_reader *r, const kernel_definition *row)
{
    kernel_reader word = {.call = r->call,
                          .name = r->name,
                          .text = row->value,
                          .end = row->value_length,
                          .line = r->token.line,
                          .one_line = true};

    kernel_next(&word);
    return word;
}

/* If the current word is a macro, makes a reader of its value, and so on. The value must be one
 * word. */
static kernel_reader resolve(kernel_reader *r)
{
    kernel_reader word = *r;

    for (int i = 0; i < MACROS_MOST && !r->status; i++) {
        const kernel_definition *row = kernel_find_macro(r, &word, r->token.line, "a type");

        if (!row) {
            break;
        }
        word = macro_reader(r, row);
    }
    return word;
}

/* The macro's last definition; NULL: the word is none. */
static const kernel_definition *last_definition(const kernel_definitions *defined,
                                                const kernel_reader *word)
{
    for (int64_t i = defined->count; i > 0; i--) {
        if (kernel_names(&defined->rows[i - 1], word)) {
            return defined->rows[i - 1].removed ? NULL : &defined->rows[i - 1];
        }
    }
    return NULL;
}

bool kernel_is_macro(const kernel_reader *r, bool *takes)
{
    const kernel_definition *row = r->defined ? last_definition(r->defined, r) : NULL;

    *takes = row && row->takes;
    return row != NULL;
}

bool kernel_is_type(const kernel_reader *r, const kernel_file *file)
{
    kernel_reader word = *r;
    kernel_type type;

    for (int i = 0; i < MACROS_MOST; i++) {
        const kernel_definition *row = last_definition(r->defined, &word);

        if (!row || row->takes) {
            break;
        }
        word = macro_reader(r, row);
    }
    return find_scalar(&word, &type) || find_struct(&word, file, &type);
}

void kernel_read_type(kernel_reader *r, const kernel_file *file, kernel_type *type)
{
    const kernel_reader word = resolve(r);

    if (r->status) {
        return;
    }
    if (!find_scalar(&word, type) && !find_struct(&word, file, type)) {
        kernel_fail(r, r->token.line, "\"%.*s\" is no type of a parameter%s: the types are %s",
                    kernel_shown_length(r), kernel_shown(r), type_instead(r), types);
        return;
    }
    kernel_next(r);
}

/* ---- structs --------------------------------------------------------------------------------- */

static kernel_struct *add_struct(kernel_reader *r, kernel_file *file)
{
    const int64_t bytes = (file->struct_count + 1) * (int64_t)sizeof *file->structs;
    kernel_struct *grown = realloc(file->structs, (size_t)bytes);

    if (!grown) {
        kernel_fail_no_memory(r, bytes);
        return NULL;
    }
    file->structs = grown;
    grown[file->struct_count] = (kernel_struct){.line = r->token.line};
    return &grown[file->struct_count];
}

static int64_t read_count(kernel_reader *r)
{
    const char *what = "the count of a struct's array";
    kernel_range range;
    int64_t count;

    kernel_next(r);
    range = kernel_read_argument(r, what, "]");
    if (!kernel_expect(r, "]", what)) {
        return 1;
    }
    count = kernel_number(r, range, what, NULL, 0);
    if (!r->status && (count < 1 || count > STRUCT_BYTES_MOST)) {
        kernel_fail(r, range.line, "%s is %lld: use 1 to %d", what, (long long)count,
                    STRUCT_BYTES_MOST);
    }
    return count;
}

static void read_members(kernel_reader *r, kernel_type *type)
{
    char name[KERNEL_NAME_MAX];
    kernel_type member = {0};
    const kernel_reader word = resolve(r);

    if (!r->status && (!find_scalar(&word, &member) || member.lanes > 1)) {
        kernel_fail(r, r->token.line,
                    "struct %s has a member of type \"%.*s\": the types are i8, u8, i16, u16, i32, "
                    "u32, i64, u64, f32 and f64",
                    type->name, kernel_shown_length(r), kernel_shown(r));
    }
    do {
        int64_t count = 1;

        kernel_next(r);
        kernel_read_name(r, KERNEL_NAME_INSIDE, "a member", name);
        if (kernel_is(r, "[")) {
            count = read_count(r);
        }
        if (r->status) {
            return;
        }
        type->bytes = (type->bytes + member.bytes - 1) / member.bytes * member.bytes;
        type->bytes += (int32_t)count * member.bytes;
        type->align = type->align > member.bytes ? type->align : member.bytes;
        if (type->bytes > STRUCT_BYTES_MOST) {
            kernel_fail(r, r->token.line, "struct %s has more than %d bytes at %s: make it smaller",
                        type->name, STRUCT_BYTES_MOST, name);
        }
    } while (kernel_is(r, ","));
    kernel_expect(r, ";", "a member of a struct");
}

static void check_name(kernel_reader *r, const kernel_file *file, const kernel_struct *made)
{
    for (int32_t i = 0; i < file->struct_count; i++) {
        if (!strcmp(file->structs[i].type.name, made->type.name)) {
            kernel_fail(r, made->line, "struct %s is declared on line %ld too: rename one",
                        made->type.name, (long)file->structs[i].line);
        }
    }
}

void kernel_read_struct(kernel_reader *r, kernel_file *file)
{
    kernel_struct *made = add_struct(r, file);

    if (!made) {
        return;
    }
    kernel_next(r);
    if (!kernel_expect(r, "(", "ISO_STRUCT")) {
        return;
    }
    kernel_read_name(r, KERNEL_NAME_OUTSIDE, "a struct", made->type.name);
    check_name(r, file, made);
    if (r->status || !kernel_expect(r, ")", "the name of a struct") ||
        !kernel_expect(r, "{", "ISO_STRUCT(name)")) {
        return;
    }
    if (kernel_is(r, "}")) {
        kernel_fail(r, made->line, "struct %s has no members: add one", made->type.name);
    }
    while (!r->status && !kernel_is(r, "}")) {
        read_members(r, &made->type);
    }
    if (r->status || !kernel_expect(r, "}", "the members of a struct") ||
        !kernel_expect(r, ";", "a struct")) {
        return;
    }
    made->type.bytes =
        (made->type.bytes + made->type.align - 1) / made->type.align * made->type.align;
    made->type.scalar = 's';
    made->type.lanes = 1;
    file->struct_count++;
}
