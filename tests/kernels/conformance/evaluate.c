/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - the values of expressions. */
#include "tests/kernels/conformance/parts.h"

#include <string.h>

/* ---- places ---------------------------------------------------------------------------------- */

static unsigned char *address(model_state *s, const model_node *e, model_access access);

static unsigned char *element(model_state *s, const model_node *e, model_access access)
{
    const int64_t index = model_evaluate(s, e->b).i;
    const model_node *of = e->a;
    const model_symbol *symbol = of->op == OP_SYMBOL ? of->symbol : NULL;
    const bool local = symbol && symbol->role == MODEL_LOCAL;
    const int64_t count = !symbol ? (of->op == OP_MEMBER ? of->member->count : 0)
                          : local ? symbol->count
                                  : s->count[symbol->index];
    if (index < 0 || index >= count) {
        model_fail(s->escape, e->line, "index %lld of %lld of %s", (long long)index,
                   (long long)count, symbol ? symbol->name : "a member");
    }
    if (!symbol) {
        return address(s, of->a, access) + of->member->offset + index * e->type->bytes;
    }
    if (local) {
        return s->frame + symbol->frame + index * e->type->bytes;
    }
    model_touch(s, e->line, symbol, index, access);
    return s->at[symbol->index] + index * e->type->bytes;
}

static unsigned char *address(model_state *s, const model_node *e, model_access access)
{
    switch (e->op) {
    case OP_SYMBOL:
        if (e->symbol->role != MODEL_LOCAL && e->symbol->role != MODEL_PARAM) {
            model_fail(s->escape, e->line, "%s has no index", e->symbol->name);
        }
        return s->frame + e->symbol->frame;
    case OP_INDEX:
        return element(s, e, access);
    case OP_MEMBER:
        return address(s, e->a, access) + e->member->offset;
    case OP_MINE:
        model_touch(s, e->line, e->symbol, s->item, access);
        return s->at[e->symbol->index] + s->item * e->type->bytes;
    default:
        return model_evaluate(s, e).at;
    }
}

void model_write(const model_type *type, unsigned char *to, model_value value)
{
    if (type->kind == MODEL_SCALAR) {
        model_store(type->scalar, to, value);
    } else {
        memmove(to, value.at, (size_t)type->bytes);
    }
}

static model_value read_place(model_state *s, const model_node *e)
{
    unsigned char *at = address(s, e, ACCESS_READ);
    return e->type->kind == MODEL_SCALAR ? model_load(e->type->scalar, at)
                                         : (model_value){.at = at};
}

/* ---- values ---------------------------------------------------------------------------------- */

bool model_is_true(model_state *s, const model_node *e)
{
    const model_value value = model_evaluate(s, e);
    return e->type->scalar == MODEL_F32   ? value.f != 0
           : e->type->scalar == MODEL_F64 ? value.d != 0
                                          : value.u != 0;
}

static model_value negative(model_state *s, const model_node *e)
{
    const model_scalar scalar = e->type->scalar;
    const model_value value = model_evaluate(s, e->a);
    if (e->op == OP_INVERT) {
        const model_value ones = {.i = -1};
        return model_binary(s, e->line, OP_XOR, scalar, value,
                            scalar == MODEL_U32 ? (model_value){.u = UINT32_MAX} : ones);
    }
    return scalar == MODEL_F32 ? (model_value){.f = -value.f}
           : scalar == MODEL_F64
               ? (model_value){.d = -value.d}
               : model_binary(s, e->line, OP_SUB, scalar, (model_value){0}, value);
}

static model_value copy(model_state *s, const model_type *type, const unsigned char *from)
{
    if (type->kind == MODEL_SCALAR) {
        return model_load(type->scalar, from);
    }
    unsigned char *made = model_take(&s->temporary, (size_t)type->bytes);
    memcpy(made, from, (size_t)type->bytes);
    return (model_value){.at = made};
}

static model_value call(model_state *s, const model_node *e)
{
    model_value values[MODEL_PARAMS];
    int count = 0;
    for (const model_node *one = e->first; one; one = one->next) {
        values[count++] = model_evaluate(s, one->a);
    }
    for (int i = 0; i < count; i++) {
        const model_symbol *param = e->function->params[i];
        model_write(param->type, s->frame + param->frame, values[i]);
    }
    model_call(s, e->function);
    return copy(s, e->type, s->frame + e->function->result_frame);
}

static model_value make(model_state *s, const model_node *e)
{
    unsigned char *made = model_take(&s->temporary, (size_t)e->type->bytes);
    int i = 0;
    for (const model_node *one = e->first; one; one = one->next) {
        model_store(e->type->scalar, made + e->type->members[i++].offset,
                    model_evaluate(s, one->a));
    }
    return (model_value){.at = made};
}

static model_value atomic(model_state *s, const model_node *e)
{
    const model_scalar scalar = e->type->scalar;
    const model_value value = model_evaluate(s, e->b);
    unsigned char *at = address(s, e->a, ACCESS_ATOMIC);
    const model_value old = model_load(scalar, at);
    model_value made = value;
    if (e->op == OP_ATOMIC_ADD) {
        made = model_binary(s, e->line, OP_ADD, scalar, old, value);
    } else {
        const model_op better = e->op == OP_ATOMIC_MIN ? OP_LT : OP_GT;
        made = model_binary(s, e->line, better, scalar, value, old).i ? value : old;
    }
    model_store(scalar, at, made);
    return old;
}

static model_value math(model_state *s, const model_node *e)
{
    model_value values[3] = {{0}};
    int count = 0;
    for (const model_node *one = e->first; one; one = one->next) {
        values[count++] = model_evaluate(s, one->a);
    }
    return model_math(e->op, e->type->scalar, values);
}

/* A float's bits are its value's. */
static model_value bits(model_state *s, const model_node *e)
{
    const model_node *of = e->first->a;
    const model_value value = model_evaluate(s, of);
    model_value made = {0};
    memcpy(&made, &value, (size_t)e->type->bytes);
    if (e->op == OP_BITS &&
        (of->type->scalar == MODEL_F32 ? value.f != value.f : value.d != value.d)) {
        model_fail(s->escape, e->line, "the bits of a NaN");
    }
    return made;
}

/* Places and functions. */
static model_value evaluate_words(model_state *s, const model_node *e)
{
    switch (e->op) {
    case OP_PLACE_OF:
        return (model_value){.i = s->group[e->number] * s->kernel->size[e->number] +
                                  model_evaluate(s, e->first->a).i};
    case OP_GROUP:
        return (model_value){.i = s->group[e->number]};
    case OP_GROUPS:
        return (model_value){.i = s->launch->groups[e->number]};
    case OP_BITS:
    case OP_FROM_BITS:
        return bits(s, e);
    case OP_ATOMIC_ADD:
    case OP_ATOMIC_MIN:
    case OP_ATOMIC_MAX:
        return atomic(s, e);
    case OP_CALL:
        return call(s, e);
    case OP_MAKE:
        return make(s, e);
    default:
        return math(s, e);
    }
}

static model_value assign(model_state *s, const model_node *e)
{
    const model_value value = model_evaluate(s, e->b);
    model_write(e->type, address(s, e->a, ACCESS_WRITE), value);
    return value;
}

static model_value evaluate_operator(model_state *s, const model_node *e)
{
    switch (e->op) {
    case OP_NOT:
        return (model_value){.i = !model_is_true(s, e->a)};
    case OP_BOTH:
        return (model_value){.i = model_is_true(s, e->a) && model_is_true(s, e->b)};
    case OP_EITHER:
        return (model_value){.i = model_is_true(s, e->a) || model_is_true(s, e->b)};
    case OP_CHOOSE:
        return model_evaluate(s, model_is_true(s, e->a) ? e->b : e->c);
    case OP_COMMA:
        (void)model_evaluate(s, e->a);
        return model_evaluate(s, e->b);
    case OP_ASSIGN:
        return assign(s, e);
    default: /* both are evaluated, the left one first */
        break;
    }
    const model_value a = model_evaluate(s, e->a);
    return model_binary(s, e->line, e->op, e->a->type->scalar, a, model_evaluate(s, e->b));
}

model_value model_evaluate(model_state *s, const model_node *e)
{
    model_value value;
    switch (e->op) {
    case OP_CONSTANT:
        return e->value;
    case OP_SYMBOL:
    case OP_INDEX:
    case OP_MEMBER:
    case OP_MINE:
        return read_place(s, e);
    case OP_CONVERT:
        return model_convert_value(s, e->line, e->a->type->scalar, e->type->scalar,
                                   model_evaluate(s, e->a));
    case OP_MINUS:
    case OP_INVERT:
        return negative(s, e);
    case OP_AFTER:
        value = model_evaluate(s, e->a);
        (void)model_evaluate(s, e->b);
        return value;
    default:
        return e->op >= OP_CALL ? evaluate_words(s, e) : evaluate_operator(s, e);
    }
}
