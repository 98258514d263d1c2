/* SPDX-License-Identifier: Apache-2.0 */
/* statements.c - reads the statements of kernels and functions. */
#include "tests/kernels/conformance/parts.h"

#include <stdio.h>
#include <string.h>

static model_node *read_statement(model_reader *r);

/* ---- declarations ---------------------------------------------------------------------------- */

static void read_values(model_reader *r, model_node *made)
{
    model_node **last = &made->first;
    model_expect(r, "{");
    while (!model_accept(r, "}")) {
        model_node *holder = model_node_new(r, OP_COMMA);
        holder->a = model_convert(r, model_read_assignment(r), made->symbol->type);
        *last = holder;
        last = &holder->next;
        made->number++;
        (void)model_accept(r, ",");
    }
}

static model_node *read_declaration(model_reader *r)
{
    model_node *block = model_node_new(r, OP_BLOCK);
    model_node **last = &block->first;
    (void)model_accept(r, "const");
    const model_type *type = model_find_type(r->program, model_take_word(r));
    if (!type) {
        model_fail(&r->escape, block->line, "no type where one is declared");
    }
    do {
        model_node *made = model_node_new(r, OP_DECLARE);
        const char *name = model_take_word(r);
        /* An initialiser does not see the name that it is for. */
        model_symbol *symbol = model_symbol_new(r, name, MODEL_LOCAL, type);
        made->symbol = symbol;
        if (model_accept(r, "[")) {
            symbol->is_array = true;
            symbol->count = model_read_constant(r);
            model_expect(r, "]");
        }
        symbol->frame = r->program->frame_bytes;
        r->program->frame_bytes +=
            (type->bytes * (symbol->count ? symbol->count : 1) + 15) / 16 * 16;
        if (model_accept(r, "=")) {
            if (symbol->is_array) {
                read_values(r, made);
            } else {
                made->a = model_convert(r, model_read_assignment(r), type);
            }
        }
        *last = made;
        last = &made->next;
    } while (model_accept(r, ","));
    model_expect(r, ";");
    block->number = 1; /* declares into the block around it */
    return block;
}

/* ---- regions and folds ----------------------------------------------------------------------- */

static model_node *read_region(model_reader *r, int count)
{
    model_node *made = model_node_new(r, OP_REGION);
    model_symbol *outer = r->symbols;
    model_symbol **places[] = {&made->symbol, &made->others[0], &made->others[1]};
    made->number = count;
    model_expect(r, "(");
    for (int i = 0; i < count; i++) {
        const model_type *type = model_scalar_type(r->program, MODEL_I32);
        *places[i] = model_symbol_new(r, model_take_word(r), MODEL_LOCAL, type);
        (*places[i])->frame = r->program->frame_bytes;
        r->program->frame_bytes += 16;
        model_expect(r, i + 1 < count ? "," : ")");
    }
    made->a = model_read_block(r);
    r->symbols = outer;
    return made;
}

/* ISO_GROUP_SUM(part, own) and ISO_TEAM_SUM(part, own, w), and those of min and max. */
static model_node *read_fold(model_reader *r, const char *word)
{
    static const char *const what[] = {"SUM", "MIN", "MAX"};
    model_node *made = model_node_new(r, OP_FOLD);
    const char *name = strrchr(word, '_') + 1;
    for (int i = 0; i < 3; i++) {
        if (!strcmp(name, what[i])) {
            made->value.i = i;
        }
    }
    model_expect(r, "(");
    made->symbol = model_symbol_find(r, model_take_word(r));
    model_expect(r, ",");
    made->others[0] = model_symbol_find(r, model_take_word(r));
    made->number = 0;
    if (!strncmp(word, "ISO_TEAM_", strlen("ISO_TEAM_"))) {
        model_expect(r, ",");
        made->number = model_read_constant(r);
    }
    model_expect(r, ")");
    (void)model_accept(r, ";");
    if (!made->symbol || !made->others[0] || made->symbol->role != MODEL_SHARED ||
        made->others[0]->role != MODEL_OWN || made->symbol->type != made->others[0]->type) {
        model_fail(&r->escape, made->line, "%s needs a shared array and an own value", word);
    }
    return made;
}

static model_node *read_language(model_reader *r)
{
    static const char *const regions[] = {"ISO_REGION", "ISO_REGION_2", "ISO_REGION_3"};
    const char *word = model_token_at(r)->text;
    for (int i = 0; i < 3; i++) {
        if (model_accept(r, regions[i])) {
            return read_region(r, i + 1);
        }
    }
    if (!strncmp(word, "ISO_GROUP_", strlen("ISO_GROUP_")) ||
        !strncmp(word, "ISO_TEAM_", strlen("ISO_TEAM_"))) {
        r->at++;
        return read_fold(r, word);
    }
    return NULL;
}

/* ---- branches and loops ---------------------------------------------------------------------- */

static model_node *read_parenthesised(model_reader *r)
{
    model_expect(r, "(");
    model_node *made = model_read_expression(r);
    model_expect(r, ")");
    return made;
}

static model_node *read_if(model_reader *r)
{
    model_node *made = model_node_new(r, OP_IF);
    made->a = read_parenthesised(r);
    made->b = read_statement(r);
    made->c = model_accept(r, "else") ? read_statement(r) : NULL;
    return made;
}

static model_node *read_for(model_reader *r)
{
    model_node *made = model_node_new(r, OP_FOR);
    model_symbol *outer = r->symbols;
    model_expect(r, "(");
    made->first = read_statement(r);
    made->a = model_is(r, ";") ? NULL : model_read_expression(r);
    model_expect(r, ";");
    made->b = model_is(r, ")") ? NULL : model_read_expression(r);
    model_expect(r, ")");
    made->c = read_statement(r);
    r->symbols = outer;
    return made;
}

static model_node *read_while(model_reader *r)
{
    model_node *made = model_node_new(r, OP_FOR);
    made->a = read_parenthesised(r);
    made->c = read_statement(r);
    return made;
}

static model_node *read_do(model_reader *r)
{
    model_node *made = model_node_new(r, OP_DO);
    made->c = read_statement(r);
    model_expect(r, "while");
    made->a = read_parenthesised(r);
    model_expect(r, ";");
    return made;
}

static model_node *read_switch(model_reader *r)
{
    model_node *made = model_node_new(r, OP_SWITCH);
    made->a = model_convert(r, read_parenthesised(r), model_scalar_type(r->program, MODEL_I64));
    made->b = model_read_block(r);
    return made;
}

static model_node *read_jump(model_reader *r)
{
    static const struct jump {
        const char *word;
        model_op op;
    } rows[] = {{"break", OP_BREAK}, {"continue", OP_CONTINUE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (model_accept(r, rows[i].word)) {
            model_node *made = model_node_new(r, rows[i].op);
            model_expect(r, ";");
            return made;
        }
    }
    if (!model_accept(r, "return")) {
        return NULL;
    }
    model_node *made = model_node_new(r, OP_RETURN);
    if (!r->function) {
        model_fail(&r->escape, made->line, "return in a kernel");
    }
    made->a = model_convert(r, model_read_expression(r), r->function->result);
    made->function = r->function;
    model_expect(r, ";");
    return made;
}

static model_node *read_label(model_reader *r)
{
    model_node *made = NULL;
    if (model_accept(r, "case")) {
        made = model_node_new(r, OP_CASE);
        made->number = model_read_constant(r);
        model_expect(r, ":");
    } else if (model_accept(r, "default")) {
        made = model_node_new(r, OP_DEFAULT);
        model_expect(r, ":");
    }
    return made;
}

static model_node *read_control(model_reader *r)
{
    static const struct head {
        const char *word;
        model_node *(*read)(model_reader *r);
    } rows[] = {{"if", read_if},
                {"for", read_for},
                {"while", read_while},
                {"do", read_do},
                {"switch", read_switch}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (model_accept(r, rows[i].word)) {
            return rows[i].read(r);
        }
    }
    return NULL;
}

static model_node *read_statement(model_reader *r)
{
    if (model_is(r, "{")) {
        return model_read_block(r);
    }
    model_node *made = read_control(r);
    made = made ? made : read_jump(r);
    made = made ? made : read_label(r);
    made = made ? made : read_language(r);
    if (made) {
        return made;
    }
    if (model_is(r, "const") || model_find_type(r->program, model_token_at(r)->text)) {
        return read_declaration(r);
    }
    made = model_node_new(r, OP_EVALUATE);
    if (!model_is(r, ";")) {
        made->a = model_read_expression(r);
    }
    model_expect(r, ";");
    return made;
}

model_node *model_read_block(model_reader *r)
{
    model_node *made = model_node_new(r, OP_BLOCK);
    model_node **last = &made->first;
    model_symbol *outer = r->symbols;
    model_expect(r, "{");
    while (!model_accept(r, "}")) {
        if (model_token_at(r)->kind == TOKEN_END) {
            model_fail(&r->escape, made->line, "a block has no end");
        }
        *last = read_statement(r);
        last = &(*last)->next;
    }
    r->symbols = outer;
    return made;
}
