/* SPDX-License-Identifier: Apache-2.0 */
/* declare.c - reads the declarations of a text's kernels. */
#include "core/kernel/declare.h"
#include "core/kernel/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MOST = 65536 };

static const struct form {
    const char *word;
    kernel_role role;
} forms[] = {{"ISO_IN", KERNEL_IN},
             {"ISO_OUT", KERNEL_OUT},
             {"ISO_INOUT", KERNEL_INOUT},
             {"ISO_SHARED", KERNEL_SHARED},
             {"ISO_OWN", KERNEL_OWN}};

/* ---- parameters ------------------------------------------------------------------------------ */

static void read_count(kernel_reader *r, kernel_param *param)
{
    const char *what = "the count of ISO_SHARED";
    kernel_range range;

    if (!kernel_expect(r, ",", "the type of ISO_SHARED")) {
        return;
    }
    range = kernel_read_argument(r, what, ",)");
    if (range.length == (int64_t)strlen("ISO_AT_LAUNCH") &&
        !memcmp(r->text + range.at, "ISO_AT_LAUNCH", (size_t)range.length)) {
        param->count = 0;
        return;
    }
    param->count = kernel_number(r, range, what, NULL, 0);
    if (!r->status && (param->count < 1 || param->count > SHARED_MOST)) {
        kernel_fail(r, range.line, "%s is %lld: use 1 to %d, or ISO_AT_LAUNCH", what,
                    (long long)param->count, SHARED_MOST);
    }
}

static void read_extent(kernel_reader *r, kernel_param *param)
{
    kernel_range range;

    if (param->role != KERNEL_IN && param->role != KERNEL_OUT && param->role != KERNEL_INOUT) {
        kernel_fail(r, r->token.line,
                    "parameter %s has ISO_EXTENT: only ISO_IN, ISO_OUT and ISO_INOUT have extents, "
                    "drop it",
                    param->name);
        return;
    }
    kernel_next(r);
    if (!kernel_expect(r, "(", "ISO_EXTENT")) {
        return;
    }
    range = kernel_read_argument(r, "an ISO_EXTENT", ")");
    param->extent_at = range.at;
    param->extent_length = range.length;
    param->defined = r->defined ? r->defined->count : 0;
    kernel_expect(r, ")", "the extent");
}

static void check_unique(kernel_reader *r, const kernel_decl *kernel, const kernel_param *param,
                         int32_t line)
{
    for (const kernel_param *other = kernel->params; other < param; other++) {
        if (!strcmp(other->name, param->name)) {
            kernel_fail(r, line, "kernel %s has two parameters with the name %s: rename one",
                        kernel->name, param->name);
        }
    }
}

static void read_param(kernel_reader *r, const kernel_file *file, const kernel_decl *kernel,
                       kernel_param *param)
{
    const char *word = NULL;
    int32_t line;

    param->role = KERNEL_VALUE;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (kernel_is(r, forms[i].word)) {
            word = forms[i].word;
            param->role = forms[i].role;
        }
    }
    if (word) {
        kernel_next(r);
        kernel_expect(r, "(", word);
    }
    kernel_read_type(r, file, &param->type);
    if (param->role == KERNEL_SHARED) {
        read_count(r, param);
    }
    if (word) {
        kernel_expect(r, ")", param->role == KERNEL_SHARED ? "the count" : "the type");
    }
    line = r->token.line;
    kernel_read_name(r, KERNEL_NAME_INSIDE, "a parameter", param->name);
    if (r->status) {
        return;
    }
    check_unique(r, kernel, param, line);
    if (kernel_is(r, "ISO_EXTENT")) {
        read_extent(r, param);
    }
}

/* After the ( up to and with the ). */
static void read_params(kernel_reader *r, const kernel_file *file, kernel_decl *kernel)
{
    if (kernel_is(r, ")")) {
        kernel_next(r);
        return;
    }
    while (!r->status) {
        if (kernel->param_count == KERNEL_PARAMS_MAX) {
            kernel_fail(r, r->token.line, "kernel %s has more than %d parameters: use fewer",
                        kernel->name, KERNEL_PARAMS_MAX);
            return;
        }
        read_param(r, file, kernel, &kernel->params[kernel->param_count++]);
        if (kernel_is(r, ")")) {
            kernel_next(r);
            return;
        }
        if (!r->status && !kernel_is(r, ",")) {
            kernel_fail(r, r->token.line,
                        "parameter %s of kernel %s has \"%.*s\" after it, and needs , or ) there",
                        kernel->params[kernel->param_count - 1].name, kernel->name,
                        kernel_shown_length(r), kernel_shown(r));
        }
        kernel_next(r);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void read_sizes(kernel_reader *r, kernel_decl *kernel)
{
    int64_t items = 1;

    for (int i = 0; i < 3; i++) {
        char what[KERNEL_NAME_MAX + 32];
        kernel_range range;
        int64_t size;

        snprintf(what, sizeof what, "the size along %c of kernel %s", 'x' + i, kernel->name);
        if (!kernel_expect(r, ",", i ? "a size of ISO_KERNEL" : "the name of ISO_KERNEL")) {
            return;
        }
        range = kernel_read_argument(r, what, ",)");
        size = kernel_number(r, range, what, NULL, 0);
        if (!r->status && (size < 1 || size > KERNEL_ITEMS_MAX)) {
            kernel_fail(r, range.line, "%s is %lld: use 1 to %d", what, (long long)size,
                        KERNEL_ITEMS_MAX);
        }
        if (r->status) {
            return;
        }
        kernel->size[i] = (int32_t)size;
        items *= size;
    }
    if (items > KERNEL_ITEMS_MAX) {
        kernel_fail(r, kernel->line,
                    "a group of kernel %s has %ld x %ld x %ld = %lld items: at most %d",
                    kernel->name, (long)kernel->size[0], (long)kernel->size[1],
                    (long)kernel->size[2], (long long)items, KERNEL_ITEMS_MAX);
    }
}

static void read_kernel(kernel_reader *r, const kernel_file *file, kernel_decl *kernel)
{
    kernel->line = r->token.line;
    kernel_next(r);
    if (!kernel_expect(r, "(", "ISO_KERNEL")) {
        return;
    }
    kernel_read_name(r, KERNEL_NAME_OUTSIDE, "a kernel", kernel->name);
    for (const kernel_decl *other = file->kernels; other < kernel && !r->status; other++) {
        if (!strcmp(other->name, kernel->name)) {
            kernel_fail(r, kernel->line, "kernel %s is declared on line %ld too: rename one",
                        kernel->name, (long)other->line);
        }
    }
    if (r->status) {
        return;
    }
    read_sizes(r, kernel);
    if (r->status || !kernel_expect(r, ")", "the third size of ISO_KERNEL")) {
        return;
    }
    kernel->params_at = r->token.at + 1;
    if (!kernel_expect(r, "(", "ISO_KERNEL(...)")) {
        return;
    }
    read_params(r, file, kernel);
    kernel_set_steps(r, kernel);
    kernel->body_at = r->token.at + 1;
    if (!r->status && !kernel_is(r, "{")) {
        kernel_fail(r, r->token.line,
                    "the parameters of kernel %s have \"%.*s\" after them: give the body in { }",
                    kernel->name, kernel_shown_length(r), kernel_shown(r));
    }
    if (!r->status) {
        kernel_skip_body(r, file, kernel);
    }
}

/* Adds an empty kernel; NULL without memory. */
static kernel_decl *add_kernel(kernel_reader *r, kernel_file *file, int32_t *room)
{
    if (file->count == *room) {
        int32_t more = *room ? *room * 2 : 4;
        int64_t bytes = more * (int64_t)sizeof *file->kernels;
        kernel_decl *grown = realloc(file->kernels, (size_t)bytes);

        if (!grown) {
            kernel_fail_no_memory(r, bytes);
            return NULL;
        }
        file->kernels = grown;
        *room = more;
    }
    memset(&file->kernels[file->count], 0, sizeof *file->kernels);
    return &file->kernels[file->count++];
}

static void fail_pointer(kernel_reader *r, const kernel_reader *at)
{
    kernel_fail(
        r, at->token.line,
        "a function has a pointer, but only values may be its parameters and its result, because "
        "backends differ in pointers: call it with x[index], or make it a macro (#define)");
}

/* Past the parameters of a function, from the ( before them. The size of an array may have a *. */
static void check_values(kernel_reader *r, kernel_reader *ahead)
{
    int brackets = 0;

    while (ahead->token.kind != KERNEL_END && !kernel_is_sign(ahead, "){")) {
        brackets += kernel_is(ahead, "[") - kernel_is(ahead, "]");
        if (kernel_is(ahead, "*") && brackets == 0) {
            fail_pointer(r, ahead);
        }
        kernel_next(ahead);
    }
    kernel_next(ahead);
}

/* The calls in the body of a function, from its {. Its variables may have names of other compilers'
 * functions. */
static void check_calls(kernel_reader *r, kernel_reader *ahead)
{
    int depth = 0;

    do {
        const kernel_reader word = *ahead;

        depth += kernel_is(ahead, "{") - kernel_is(ahead, "}");
        kernel_next(ahead);
        if (kernel_is(ahead, "(") || kernel_is_reserved(&word)) {
            kernel_check_word(r, &word, "a function");
        }
    } while (depth > 0 && ahead->token.kind != KERNEL_END);
}

/* ISO_FUNCTION, its type and its name. Its parameters and body are only looked at: they are read as
 * any text between kernels. */
static void read_function(kernel_reader *r, const kernel_file *file)
{
    kernel_reader ahead;

    kernel_next(r);
    if (!kernel_is_type(r, file) && !kernel_is(r, "void")) {
        return;
    }
    kernel_next(r);
    if (kernel_is(r, "*")) {
        fail_pointer(r, r);
    }
    if (r->token.kind == KERNEL_WORD) {
        kernel_check_name(r, KERNEL_NAME_FUNCTION, "a function");
    }
    ahead = *r;
    ahead.defined = NULL;
    kernel_next(&ahead);
    if (kernel_is(&ahead, "(")) {
        check_values(r, &ahead);
    }
    if (kernel_is(&ahead, "{")) {
        check_calls(r, &ahead);
    }
}

static void read_all(kernel_reader *r, kernel_file *file)
{
    kernel_scope outside = {.reader = r};
    int32_t room = 0;

    kernel_next(r);
    while (r->token.kind != KERNEL_END) {
        if (kernel_is(r, "ISO_KERNEL")) {
            kernel_decl *kernel = add_kernel(r, file, &room);

            if (kernel) {
                read_kernel(r, file, kernel);
            }
        } else if (kernel_is(r, "ISO_STRUCT")) {
            kernel_read_struct(r, file);
        } else if (kernel_is(r, "ISO_FUNCTION")) {
            read_function(r, file);
        } else if (kernel_is_sign(r, "([{")) {
            kernel_skip_brackets(&outside);
        } else if (kernel_is_sign(r, ")]}")) {
            kernel_fail(r, r->token.line, "\"%.*s\" closes nothing: remove it",
                        kernel_shown_length(r), kernel_shown(r));
        } else {
            kernel_next(r);
        }
    }
    if (!r->status && !file->count) {
        kernel_fail(r, r->line,
                    "the text has no kernel: declare one, as in ISO_KERNEL(name, 256, 1, 1)"
                    "(parameters) { ... }");
    }
}

iso_status kernel_read(const char *call, const char *name, const char *text,
                       const kernel_macro *macros, int32_t macro_count, kernel_file *out)
{
    kernel_definitions defined = {0};
    kernel_reader r = kernel_reader_open(call, name, text, macros, macro_count, &defined);

    *out = (kernel_file){0};
    read_all(&r, out);
    kernel_definitions_free(&defined);
    if (r.status) {
        kernel_file_free(out);
    }
    return r.status;
}

void kernel_file_free(kernel_file *file)
{
    free(file->kernels);
    free(file->structs);
    *file = (kernel_file){0};
}
