/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - structs, functions and kernels of a text. */
#include "tests/kernels/conformance/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------------- */

const model_token *model_token_at(const model_reader *r)
{
    return &r->program->tokens.at[r->at];
}

bool model_is(const model_reader *r, const char *text)
{
    return !strcmp(model_token_at(r)->text, text);
}

bool model_accept(model_reader *r, const char *text)
{
    const bool found = model_is(r, text);
    r->at += found;
    return found;
}

void model_expect(model_reader *r, const char *text)
{
    if (!model_accept(r, text)) {
        model_fail(&r->escape, model_token_at(r)->line, "\"%s\" where %s is expected",
                   model_token_at(r)->text, text);
    }
}

char *model_take_word(model_reader *r)
{
    const model_token *token = model_token_at(r);
    if (token->kind != TOKEN_WORD) {
        model_fail(&r->escape, token->line, "\"%s\" where a name is expected", token->text);
    }
    r->at++;
    return token->text;
}

/* ---- trees ----------------------------------------------------------------------------------- */

model_node *model_node_new(model_reader *r, model_op op)
{
    model_node *made = model_take(&r->program->blocks, sizeof *made);
    made->op = op;
    made->line = model_token_at(r)->line;
    return made;
}

model_symbol *model_symbol_new(model_reader *r, const char *name, model_role role,
                               const model_type *type)
{
    model_symbol *made = model_take(&r->program->blocks, sizeof *made);
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->role = role;
    made->type = type;
    made->outer = r->symbols;
    r->symbols = made;
    return made;
}

model_symbol *model_symbol_find(const model_reader *r, const char *name)
{
    model_symbol *at = r->symbols;
    while (at && strcmp(at->name, name) != 0) {
        at = at->outer;
    }
    return at;
}

static void give_frame(model_reader *r, model_symbol *symbol, int64_t bytes)
{
    symbol->frame = r->program->frame_bytes;
    r->program->frame_bytes += (bytes + 15) / 16 * 16;
}

static const model_type *take_type(model_reader *r)
{
    (void)model_accept(r, "const");
    const model_token *token = model_token_at(r);
    const model_type *type = model_find_type(r->program, token->text);
    if (!type) {
        model_fail(&r->escape, token->line, "\"%s\" is no type", token->text);
    }
    r->at++;
    return type;
}

/* ---- structs --------------------------------------------------------------------------------- */

static void read_member(model_reader *r, model_type *type, model_scalar scalar)
{
    const int size = model_scalars[scalar].bytes;
    if (type->member_count == MODEL_MEMBERS) {
        model_fail(&r->escape, model_token_at(r)->line, "too many members");
    }
    model_member *member = &type->members[type->member_count++];
    (void)snprintf(member->name, sizeof member->name, "%s", model_take_word(r));
    member->scalar = scalar;
    member->offset = (type->bytes + size - 1) / size * size;
    if (model_accept(r, "[")) {
        member->count = (int)model_read_constant(r);
        model_expect(r, "]");
    }
    type->bytes = member->offset + size * (member->count ? member->count : 1);
    type->align = type->align > size ? type->align : size;
}

static void read_struct(model_reader *r)
{
    struct model_type_list *made = model_take(&r->program->blocks, sizeof *made);
    model_type *type = &made->type;
    model_expect(r, "(");
    (void)snprintf(type->name, sizeof type->name, "%s", model_take_word(r));
    type->kind = MODEL_STRUCT;
    model_expect(r, ")");
    model_expect(r, "{");
    while (!model_accept(r, "}")) {
        const model_scalar scalar = take_type(r)->scalar;
        do {
            read_member(r, type, scalar);
        } while (model_accept(r, ","));
        model_expect(r, ";");
    }
    model_expect(r, ";");
    type->bytes = (type->bytes + type->align - 1) / type->align * type->align;
    made->next = r->program->types;
    r->program->types = made;
}

/* ---- functions ------------------------------------------------------------------------------- */

static void read_function(model_reader *r)
{
    model_function *made = model_take(&r->program->blocks, sizeof *made);
    made->result = take_type(r);
    (void)snprintf(made->name, sizeof made->name, "%s", model_take_word(r));
    model_expect(r, "(");
    while (!model_accept(r, ")")) {
        const model_type *type = take_type(r);
        model_symbol *param = model_symbol_new(r, model_take_word(r), MODEL_LOCAL, type);
        give_frame(r, param, type->bytes);
        made->params[made->param_count++] = param;
        (void)model_accept(r, ",");
    }
    model_symbol result = {0};
    give_frame(r, &result, made->result->bytes);
    made->result_frame = result.frame;
    r->function = made;
    made->body = model_read_block(r);
    r->function = NULL;
    r->symbols = NULL;
    made->next = r->program->functions;
    r->program->functions = made;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static model_role take_role(model_reader *r)
{
    static const char *const words[] = {[MODEL_IN] = "ISO_IN",
                                        [MODEL_OUT] = "ISO_OUT",
                                        [MODEL_INOUT] = "ISO_INOUT",
                                        [MODEL_SHARED] = "ISO_SHARED",
                                        [MODEL_OWN] = "ISO_OWN"};
    for (int role = MODEL_IN; role <= MODEL_OWN; role++) {
        if (model_accept(r, words[role])) {
            return (model_role)role;
        }
    }
    return MODEL_PARAM;
}

static void read_param(model_reader *r, model_kernel *kernel)
{
    const model_role role = take_role(r);
    int64_t count = 0;
    if (role != MODEL_PARAM) {
        model_expect(r, "(");
    }
    const model_type *type = take_type(r);
    if (role == MODEL_SHARED) {
        model_expect(r, ",");
        count = model_accept(r, "ISO_AT_LAUNCH") ? 0 : model_read_constant(r);
    }
    if (role != MODEL_PARAM) {
        model_expect(r, ")");
    }
    model_symbol *param = model_symbol_new(r, model_take_word(r), role, type);
    param->count = count;
    param->is_array = role != MODEL_PARAM && role != MODEL_OWN;
    param->index = kernel->param_count;
    if (role == MODEL_PARAM) {
        give_frame(r, param, type->bytes);
    }
    kernel->params[kernel->param_count++] = param;
}

/* An extent may name parameters that follow it. */
static void read_extents(model_reader *r, model_kernel *kernel, const int *places)
{
    const int after = r->at;
    r->wide = true;
    for (int i = 0; i < kernel->param_count; i++) {
        if (places[i]) {
            r->at = places[i];
            kernel->extents[i] = model_read_assignment(r);
        }
    }
    r->wide = false;
    r->at = after;
}

static void skip_parentheses(model_reader *r)
{
    int depth = 0;
    do {
        depth += model_is(r, "(");
        depth -= model_is(r, ")");
        r->at++;
    } while (depth > 0 && model_token_at(r)->kind != TOKEN_END);
}

static void read_kernel(model_reader *r)
{
    model_kernel *made = model_take(&r->program->blocks, sizeof *made);
    int places[MODEL_PARAMS] = {0};
    model_expect(r, "(");
    (void)snprintf(made->name, sizeof made->name, "%s", model_take_word(r));
    for (int i = 0; i < 3; i++) {
        model_expect(r, ",");
        made->size[i] = (int)model_read_constant(r);
    }
    model_expect(r, ")");
    model_expect(r, "(");
    while (!model_accept(r, ")")) {
        if (made->param_count == MODEL_PARAMS) {
            model_fail(&r->escape, model_token_at(r)->line, "too many parameters");
        }
        read_param(r, made);
        if (model_accept(r, "ISO_EXTENT")) {
            places[made->param_count - 1] = r->at;
            skip_parentheses(r);
        }
        (void)model_accept(r, ",");
    }
    read_extents(r, made, places);
    r->in_kernel = true;
    made->body = model_read_block(r);
    r->in_kernel = false;
    r->symbols = NULL;
    made->next = r->program->kernels;
    r->program->kernels = made;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void read_all(model_reader *r, const char *text, const model_macro *macros, int macro_count)
{
    model_program *program = r->program;
    program->tokens = model_scan(&program->blocks, &r->escape, text, macros, macro_count);
    model_add_types(program);
    while (model_token_at(r)->kind != TOKEN_END) {
        if (model_accept(r, "ISO_STRUCT")) {
            read_struct(r);
        } else if (model_accept(r, "ISO_FUNCTION")) {
            read_function(r);
        } else {
            model_expect(r, "ISO_KERNEL");
            read_kernel(r);
        }
    }
}

model_program *model_read(const char *text, const model_macro *macros, int macro_count, char *why,
                          size_t room)
{
    model_reader r = {.program = calloc(1, sizeof *r.program),
                      .escape = {.why = why, .room = room}};
    if (r.program && setjmp(r.escape.back)) {
        model_free(r.program);
        return NULL;
    }
    if (r.program) {
        read_all(&r, text, macros, macro_count);
    }
    return r.program;
}

void model_free(model_program *program)
{
    if (program) {
        model_give_back(&program->blocks);
        free(program);
    }
}

const model_kernel *model_find(const model_program *program, const char *name)
{
    const model_kernel *at = program->kernels;
    while (at && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    return at;
}

void model_words(const model_program *program, void (*use)(void *context, const char *word),
                 void *context)
{
    for (int i = 0; i < program->tokens.count; i++) {
        if (program->tokens.at[i].kind == TOKEN_WORD) {
            use(context, program->tokens.at[i].text);
        }
    }
}
