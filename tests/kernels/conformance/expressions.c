/* SPDX-License-Identifier: Apache-2.0 */
/* expressions.c - reads expressions, and gives each its type by C's rules. */
#include "tests/kernels/conformance/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static model_node *read_unary(model_reader *r);
static model_node *read_conditional(model_reader *r);

/* ---- types ----------------------------------------------------------------------------------- */

static const model_type *scalar_type(model_reader *r, model_scalar scalar)
{
    return model_scalar_type(r->program, scalar);
}

model_node *model_convert(model_reader *r, model_node *from, const model_type *type)
{
    if (from->type == type) {
        return from;
    }
    if (!from->type || from->type->kind != MODEL_SCALAR || type->kind != MODEL_SCALAR) {
        model_fail(&r->escape, from->line, "a %s becomes no %s",
                   from->type ? from->type->name : "void", type->name);
    }
    model_node *made = model_node_new(r, OP_CONVERT);
    made->a = from;
    made->type = type;
    return made;
}

static model_scalar promoted(model_reader *r, const model_node *e)
{
    if (!e->type || e->type->kind != MODEL_SCALAR) {
        model_fail(&r->escape, e->line, "an operator whose operand is no scalar");
    }
    return model_scalars[e->type->scalar].bytes < 4 ? MODEL_I32 : e->type->scalar;
}

static model_scalar common(model_scalar a, model_scalar b)
{
    const model_scalar_info *left = &model_scalars[a], *right = &model_scalars[b];
    if (left->is_float || right->is_float) {
        return a == MODEL_F64 || b == MODEL_F64 ? MODEL_F64 : MODEL_F32;
    }
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? a : b;
    }
    return left->is_signed ? b : a;
}

static model_node *binary(model_reader *r, model_op op, model_node *a, model_node *b)
{
    model_node *made = model_node_new(r, op);
    const bool shifts = op == OP_SHL || op == OP_SHR, joins = op == OP_BOTH || op == OP_EITHER;
    const model_scalar left = promoted(r, a), right = promoted(r, b);
    made->line = a->line;
    if (shifts || joins) {
        made->a = joins ? a : model_convert(r, a, scalar_type(r, left));
        made->b = joins ? b : model_convert(r, b, scalar_type(r, MODEL_I64));
        made->type = scalar_type(r, joins ? MODEL_I32 : left);
        return made;
    }
    const model_type *type = scalar_type(r, common(left, right));
    made->a = model_convert(r, a, type);
    made->b = model_convert(r, b, type);
    made->type = op >= OP_LT && op <= OP_NE ? scalar_type(r, MODEL_I32) : type;
    return made;
}

/* ---- numbers and names ----------------------------------------------------------------------- */

static model_node *read_number(model_reader *r)
{
    model_node *made = model_node_new(r, OP_CONSTANT);
    const char *text = model_token_at(r)->text;
    const size_t length = strlen(text);
    const bool hex = text[0] == '0' && (text[1] | 32) == 'x';
    char *end;
    r->at++;
    if (strpbrk(text, hex ? ".pP" : ".eE")) {
        const bool narrow = (text[length - 1] | 32) == 'f';
        made->type = scalar_type(r, narrow ? MODEL_F32 : MODEL_F64);
        made->value = narrow ? (model_value){.f = strtof(text, &end)}
                             : (model_value){.d = strtod(text, &end)};
        return made;
    }
    made->value.u = strtoull(text, &end, 0);
    const bool is_unsigned = strpbrk(end, "uU") != NULL, is_long = strpbrk(end, "lL") != NULL;
    const uint64_t value = made->value.u;
    const bool large = is_long || value > (is_unsigned || hex ? UINT32_MAX : INT32_MAX);
    const bool top = is_unsigned || (hex && value > (large ? INT64_MAX : INT32_MAX));
    made->type =
        scalar_type(r, large ? (top ? MODEL_U64 : MODEL_I64) : (top ? MODEL_U32 : MODEL_I32));
    return made;
}

static model_node *read_name(model_reader *r)
{
    model_node *made = model_node_new(r, OP_SYMBOL);
    const char *name = model_take_word(r);
    made->symbol = model_symbol_find(r, name);
    if (!made->symbol) {
        model_fail(&r->escape, made->line, "%s is not declared", name);
    }
    made->type = made->symbol->type;
    return made;
}

/* The arguments of a call, each converted to its type; types[i] NULL: as it is. */
static int read_arguments(model_reader *r, const model_type *const *types, int count,
                          model_node **arguments)
{
    int read = 0;
    model_expect(r, "(");
    while (!model_accept(r, ")")) {
        if (read == count) {
            model_fail(&r->escape, model_token_at(r)->line, "more than %d arguments", count);
        }
        model_node *one = model_read_assignment(r);
        arguments[read] = types[read] ? model_convert(r, one, types[read]) : one;
        read++;
        if (!model_is(r, ")")) {
            model_expect(r, ",");
        }
    }
    if (read != count) {
        model_fail(&r->escape, model_token_at(r)->line, "%d arguments where %d are taken", read,
                   count);
    }
    return read;
}

static model_node *read_list(model_reader *r, model_node *made, const model_type *const *types,
                             int count)
{
    model_node *arguments[MODEL_PARAMS] = {NULL};
    (void)read_arguments(r, types, count, arguments);
    for (int i = count - 1; i >= 0; i--) {
        model_node *holder = model_node_new(r, OP_COMMA);
        holder->a = arguments[i];
        holder->next = made->first;
        made->first = holder;
    }
    return made;
}

/* ---- the language's words -------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static model_node *read_here(model_reader *r, const char *word)
{
    static const struct here {
        const char *word;
        model_op op;
        int count;
    } rows[] = {
        {"iso_", OP_PLACE_OF, 1}, {"iso_group_", OP_GROUP, 0}, {"iso_groups_", OP_GROUPS, 0}};
    const model_type *const types[] = {scalar_type(r, MODEL_I64)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t length = strlen(rows[i].word);
        if (!strncmp(word, rows[i].word, length) && strlen(word) == length + 1 &&
            word[length] >= 'x' && word[length] <= 'z') {
            model_node *made = model_node_new(r, rows[i].op);
            made->number = word[length] - 'x';
            made->type = types[0];
            return read_list(r, made, types, rows[i].count);
        }
    }
    return NULL;
}

static model_node *read_math(model_reader *r, const char *word)
{
    static const struct function {
        const char *word;
        model_op op;
        int count;
    } rows[] = {{"iso_fma_", OP_FMA, 3},   {"iso_div_", OP_DIVIDE, 2},
                {"iso_sqrt_", OP_SQRT, 1}, {"iso_exp_", OP_EXP, 1},
                {"iso_bits_", OP_BITS, 1}, {"iso_from_bits_", OP_FROM_BITS, 1}};
    const bool narrow = ends_with(word, "_f32");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(word) != strlen(rows[i].word) + 3 ||
            strncmp(word, rows[i].word, strlen(rows[i].word)) != 0) {
            continue;
        }
        const model_type *number = scalar_type(r, narrow ? MODEL_F32 : MODEL_F64);
        const model_type *bits = scalar_type(r, narrow ? MODEL_U32 : MODEL_U64);
        const model_type *taken = rows[i].op == OP_FROM_BITS ? bits : number;
        model_node *made = model_node_new(r, rows[i].op);
        made->type = rows[i].op == OP_BITS ? bits : number;
        return read_list(r, made, (const model_type *const[]){taken, taken, taken}, rows[i].count);
    }
    return NULL;
}

static model_node *read_atomic(model_reader *r, const char *word)
{
    static const char *const names[] = {"iso_atomic_add_", "iso_atomic_min_", "iso_atomic_max_"};
    for (int i = 0; i < 3; i++) {
        if (strncmp(word, names[i], strlen(names[i])) != 0) {
            continue;
        }
        model_node *made = model_node_new(r, (model_op)(OP_ATOMIC_ADD + i));
        made->type = model_find_type(r->program, word + strlen(names[i]));
        model_expect(r, "(");
        model_expect(r, "&");
        made->a = read_unary(r);
        model_expect(r, ",");
        model_node *value = model_read_assignment(r);
        if (!made->type || made->a->type != made->type) {
            model_fail(&r->escape, made->line, "%s of a place of another type", word);
        }
        made->b = model_convert(r, value, made->type);
        model_expect(r, ")");
        return made;
    }
    return NULL;
}

static model_node *read_make(model_reader *r, const char *word)
{
    const model_type *type = model_find_type(r->program, word + strlen("iso_"));
    if (!type || type->kind != MODEL_VECTOR) {
        return NULL;
    }
    const model_type *one = scalar_type(r, type->scalar);
    const model_type *const types[] = {one, one, one, one};
    model_node *made = model_node_new(r, OP_MAKE);
    made->type = type;
    return read_list(r, made, types, type->member_count);
}

static model_node *read_mine(model_reader *r)
{
    model_node *made = model_node_new(r, OP_MINE);
    model_expect(r, "(");
    made->symbol = read_name(r)->symbol;
    made->type = made->symbol->type;
    model_expect(r, ")");
    if (made->symbol->role != MODEL_OWN) {
        model_fail(&r->escape, made->line, "iso_mine of %s", made->symbol->name);
    }
    return made;
}

static model_node *read_word(model_reader *r)
{
    const char *word = model_token_at(r)->text;
    model_node *made = NULL;
    if (!strncmp(word, "iso_", 4)) {
        r->at++;
        made = !strcmp(word, "iso_mine") ? read_mine(r) : read_here(r, word);
        made = made ? made : read_math(r, word);
        made = made ? made : read_atomic(r, word);
        made = made ? made : read_make(r, word);
        if (!made) {
            model_fail(&r->escape, model_token_at(r)->line, "%s is no word of the language", word);
        }
        return made;
    }
    for (model_function *at = r->program->functions; at; at = at->next) {
        if (!strcmp(at->name, word) && !strcmp(r->program->tokens.at[r->at + 1].text, "(")) {
            const model_type *types[MODEL_PARAMS] = {NULL};
            for (int i = 0; i < at->param_count; i++) {
                types[i] = at->params[i]->type;
            }
            r->at++;
            made = model_node_new(r, OP_CALL);
            made->function = at;
            made->type = at->result;
            return read_list(r, made, types, at->param_count);
        }
    }
    return read_name(r);
}

/* ---- operators ------------------------------------------------------------------------------- */

static model_node *read_primary(model_reader *r)
{
    model_node *made;
    if (model_accept(r, "(")) {
        made = model_read_expression(r);
        model_expect(r, ")");
        return made;
    }
    made = model_token_at(r)->kind == TOKEN_NUMBER ? read_number(r) : read_word(r);
    return r->wide ? model_convert(r, made, scalar_type(r, MODEL_I64)) : made;
}

static model_node *read_member(model_reader *r, model_node *of)
{
    model_node *made = model_node_new(r, OP_MEMBER);
    const char *name = model_take_word(r);
    for (int i = 0; i < of->type->member_count; i++) {
        if (!strcmp(of->type->members[i].name, name)) {
            made->member = &of->type->members[i];
        }
    }
    if (!made->member) {
        model_fail(&r->escape, made->line, "a %s has no member %s", of->type->name, name);
    }
    made->a = of;
    made->type = scalar_type(r, made->member->scalar);
    return made;
}

static model_node *add_one(model_reader *r, model_node *place, bool up)
{
    model_node *one = model_node_new(r, OP_CONSTANT);
    model_node *made = model_node_new(r, OP_ASSIGN);
    one->type = scalar_type(r, MODEL_I32);
    one->value.i = 1;
    made->a = place;
    made->b = model_convert(r, binary(r, up ? OP_ADD : OP_SUB, place, one), place->type);
    made->type = place->type;
    return made;
}

static model_node *read_postfix(model_reader *r)
{
    model_node *made = read_primary(r);
    for (;;) {
        model_node *outer;
        if (model_accept(r, "[")) {
            outer = model_node_new(r, OP_INDEX);
            outer->a = made;
            outer->b = model_convert(r, model_read_expression(r), scalar_type(r, MODEL_I64));
            outer->type = made->type;
            model_expect(r, "]");
        } else if (model_accept(r, ".")) {
            outer = read_member(r, made);
        } else if (model_is(r, "++") || model_is(r, "--")) {
            outer = model_node_new(r, OP_AFTER);
            outer->a = made;
            outer->b = add_one(r, made, model_is(r, "++"));
            outer->type = made->type;
            r->at++;
        } else {
            return made;
        }
        made = outer;
    }
}

static model_node *read_unary(model_reader *r)
{
    static const struct prefix {
        const char *text;
        model_op op;
    } rows[] = {{"-", OP_MINUS}, {"!", OP_NOT}, {"~", OP_INVERT}};
    const model_token *after = model_token_at(r) + 1;
    if (model_is(r, "(") && after->kind == TOKEN_WORD && model_find_type(r->program, after->text)) {
        r->at += 2;
        model_expect(r, ")");
        return model_convert(r, read_unary(r), model_find_type(r->program, after->text));
    }
    if (model_is(r, "++") || model_is(r, "--")) {
        const bool up = model_is(r, "++");
        r->at++;
        return add_one(r, read_unary(r), up);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (model_accept(r, rows[i].text)) {
            model_node *made = model_node_new(r, rows[i].op);
            model_node *of = read_unary(r);
            const model_type *type = scalar_type(r, promoted(r, of));
            const bool is_not = rows[i].op == OP_NOT;
            made->a = is_not ? of : model_convert(r, of, type);
            made->type = is_not ? scalar_type(r, MODEL_I32) : type;
            return made;
        }
    }
    return read_postfix(r);
}

static const struct infix {
    const char *text;
    model_op op;
    int level; /* a higher one binds first */
} infixes[] = {{"*", OP_MUL, 10},  {"/", OP_DIV, 10},   {"%", OP_REM, 10}, {"+", OP_ADD, 9},
               {"-", OP_SUB, 9},   {"<<", OP_SHL, 8},   {">>", OP_SHR, 8}, {"<", OP_LT, 7},
               {">", OP_GT, 7},    {"<=", OP_LE, 7},    {">=", OP_GE, 7},  {"==", OP_EQ, 6},
               {"!=", OP_NE, 6},   {"&", OP_AND, 5},    {"^", OP_XOR, 4},  {"|", OP_OR, 3},
               {"&&", OP_BOTH, 2}, {"||", OP_EITHER, 1}};

static model_node *read_infix(model_reader *r, int level)
{
    model_node *made = read_unary(r);
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
        if (infixes[i].level >= level && model_is(r, infixes[i].text)) {
            r->at++;
            made = binary(r, infixes[i].op, made, read_infix(r, infixes[i].level + 1));
            i = (size_t)-1; /* from the first row again */
        }
    }
    return made;
}

static model_node *read_conditional(model_reader *r)
{
    model_node *a = read_infix(r, 1);
    if (!model_accept(r, "?")) {
        return a;
    }
    model_node *made = model_node_new(r, OP_CHOOSE);
    made->a = a;
    model_node *b = model_read_expression(r);
    model_expect(r, ":");
    model_node *c = read_conditional(r);
    (void)promoted(r, a);
    made->type = b->type == c->type && b->type->kind != MODEL_SCALAR
                     ? b->type
                     : scalar_type(r, common(promoted(r, b), promoted(r, c)));
    made->b = model_convert(r, b, made->type);
    made->c = model_convert(r, c, made->type);
    return made;
}

model_node *model_read_assignment(model_reader *r)
{
    model_node *left = read_conditional(r);
    const char *text = model_token_at(r)->text;
    const size_t length = strlen(text);
    if (length == 0 || text[length - 1] != '=' || !strcmp(text, "==") || !strcmp(text, "<=") ||
        !strcmp(text, ">=") || !strcmp(text, "!=")) {
        return left;
    }
    model_node *made = model_node_new(r, OP_ASSIGN);
    made->a = left;
    made->type = left->type;
    r->at++;
    model_node *value = model_read_assignment(r);
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
        if (strlen(infixes[i].text) + 1 == length && !strncmp(infixes[i].text, text, length - 1)) {
            value = binary(r, infixes[i].op, left, value);
        }
    }
    made->b = model_convert(r, value, left->type);
    return made;
}

model_node *model_read_expression(model_reader *r)
{
    model_node *made = model_read_assignment(r);
    while (model_accept(r, ",")) {
        model_node *outer = model_node_new(r, OP_COMMA);
        outer->a = made;
        outer->b = model_read_assignment(r);
        outer->type = outer->b->type;
        made = outer;
    }
    return made;
}

int64_t model_read_constant(model_reader *r)
{
    const bool wide = r->wide;
    model_state state = {.escape = &r->escape};
    r->wide = true;
    const model_node *e = read_conditional(r);
    r->wide = wide;
    return model_evaluate(&state, e).i;
}
