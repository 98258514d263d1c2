/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - runs statements, regions and groups, one after another. */
#include "tests/kernels/conformance/parts.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 1 << 20, ANY_CONTENTS = 0xa5 };

typedef enum outcome { NEXT, BROKE, CONTINUED, RETURNED } outcome;

static outcome execute(model_state *s, const model_node *node);

/* ---- regions --------------------------------------------------------------------------------- */

static void set_index(model_state *s, const model_symbol *symbol, int value)
{
    if (symbol) {
        model_store(MODEL_I32, s->frame + symbol->frame, (model_value){.i = value});
    }
}

static void run_region(model_state *s, const model_node *node)
{
    const int *size = s->kernel->size;
    if (s->item >= 0) {
        model_fail(s->escape, node->line, "a region in a region");
    }
    s->region++;
    s->item = 0;
    for (int k = 0; k < size[2]; k++) {
        for (int j = 0; j < size[1]; j++) {
            for (int i = 0; i < size[0]; i++) {
                set_index(s, node->symbol, i);
                set_index(s, node->others[0], j);
                set_index(s, node->others[1], k);
                (void)execute(s, node->a);
                model_give_back(&s->temporary);
                s->item++;
            }
        }
    }
    s->item = -1;
}

/* ---- sums over groups and teams -------------------------------------------------------------- */

/* Of n values, item i < n / 2 adds value (n + 1) / 2 + i to its own, until one is left. */
static model_value fold(model_state *s, const model_node *node, model_value *values, int n)
{
    const model_scalar scalar = node->symbol->type->scalar;
    /* i8 and i16 are added as i32. */
    const model_scalar sum = model_scalars[scalar].bytes < 4 ? MODEL_I32 : scalar;
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++) {
            const model_value other = values[(n + 1) / 2 + i];
            if (node->value.i == 0) {
                values[i] = model_binary(s, node->line, OP_ADD, sum, values[i], other);
                values[i] = model_convert_value(s, node->line, sum, scalar, values[i]);
            } else {
                const model_op better = node->value.i == 1 ? OP_LT : OP_GT;
                values[i] = model_binary(s, node->line, better, scalar, other, values[i]).i
                                ? other
                                : values[i];
            }
        }
    }
    return values[0];
}

static void run_fold(model_state *s, const model_node *node)
{
    const model_symbol *part = node->symbol, *own = node->others[0];
    const int items = s->kernel->size[0] * s->kernel->size[1] * s->kernel->size[2];
    const int width = node->number ? (int)node->number : items;
    const int bytes = part->type->bytes;
    model_value values[MODEL_ITEMS];
    if (s->item >= 0 || s->count[part->index] < items) {
        model_fail(s->escape, node->line, "%s has too few elements, or stands in a region",
                   part->name);
    }
    s->region++;
    for (int first = 0; first < items; first += width) {
        const int count = items - first < width ? items - first : width;
        for (int i = 0; i < count; i++) {
            s->item = first + i;
            model_touch(s, node->line, own, s->item, ACCESS_READ);
            values[i] = model_load(own->type->scalar, s->at[own->index] + (first + i) * bytes);
            model_mark(s, part, first + i, i == 0);
        }
        s->item = -1;
        model_store(part->type->scalar, s->at[part->index] + first * bytes,
                    fold(s, node, values, count));
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static outcome run_list(model_state *s, const model_node *at)
{
    outcome out = NEXT;
    for (; at && out == NEXT; at = at->next) {
        out = execute(s, at);
    }
    return out;
}

static outcome run_loop(model_state *s, const model_node *node)
{
    int64_t steps = 0;
    if (node->first) {
        (void)execute(s, node->first);
    }
    while (node->op == OP_DO || !node->a || model_is_true(s, node->a)) {
        const outcome out = execute(s, node->c);
        if (out == BROKE || out == RETURNED) {
            return out == BROKE ? NEXT : out;
        }
        if (node->op == OP_DO && !model_is_true(s, node->a)) {
            break;
        }
        if (node->b) {
            (void)model_evaluate(s, node->b);
        }
        if (++steps > STEPS_MOST) {
            model_fail(s->escape, node->line, "a loop does not end");
        }
    }
    return NEXT;
}

static outcome run_switch(model_state *s, const model_node *node)
{
    const int64_t value = model_evaluate(s, node->a).i;
    const model_node *found = NULL, *otherwise = NULL;
    for (const model_node *at = node->b->first; at; at = at->next) {
        found = !found && at->op == OP_CASE && at->number == value ? at : found;
        otherwise = at->op == OP_DEFAULT ? at : otherwise;
    }
    const outcome out = run_list(s, found ? found : otherwise);
    return out == BROKE ? NEXT : out;
}

static void declare(model_state *s, const model_node *node)
{
    unsigned char *at = s->frame + node->symbol->frame;
    const model_type *type = node->symbol->type;
    if (node->a) {
        model_write(type, at, model_evaluate(s, node->a));
    }
    if (node->first) {
        memset(at, 0, (size_t)(node->symbol->count * type->bytes));
    }
    for (const model_node *one = node->first; one; one = one->next) {
        model_write(type, at, model_evaluate(s, one->a));
        at += type->bytes;
    }
}

static outcome execute(model_state *s, const model_node *node)
{
    switch (node->op) {
    case OP_BLOCK:
        return run_list(s, node->first);
    case OP_DECLARE:
        declare(s, node);
        return NEXT;
    case OP_EVALUATE:
        if (node->a) {
            (void)model_evaluate(s, node->a);
        }
        return NEXT;
    case OP_IF:
        if (model_is_true(s, node->a)) {
            return execute(s, node->b);
        }
        return node->c ? execute(s, node->c) : NEXT;
    case OP_FOR:
    case OP_DO:
        return run_loop(s, node);
    case OP_SWITCH:
        return run_switch(s, node);
    case OP_BREAK:
        return BROKE;
    case OP_CONTINUE:
        return CONTINUED;
    case OP_RETURN:
        model_write(node->a->type, s->frame + node->function->result_frame,
                    model_evaluate(s, node->a));
        return RETURNED;
    case OP_REGION:
        run_region(s, node);
        return NEXT;
    case OP_FOLD:
        run_fold(s, node);
        return NEXT;
    default: /* a label */
        return NEXT;
    }
}

void model_call(model_state *s, const model_function *function)
{
    if (execute(s, function->body) != RETURNED) {
        model_fail(s->escape, function->body->line, "%s returns nothing", function->name);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

static void open_launch(model_state *s)
{
    const model_kernel *kernel = s->kernel;
    const int items = kernel->size[0] * kernel->size[1] * kernel->size[2];
    s->item = -1;
    s->frame = model_take(&s->blocks, (size_t)s->program->frame_bytes + 1);
    for (int i = 0; i < kernel->param_count; i++) {
        const model_symbol *param = kernel->params[i];
        const size_t bytes = (size_t)param->type->bytes;
        if (param->role == MODEL_PARAM) {
            memcpy(s->frame + param->frame, s->launch->at[i], bytes);
            continue;
        }
        s->at[i] = s->launch->at[i];
        s->count[i] = param->role == MODEL_OWN ? items
                      : param->count           ? param->count
                                               : s->launch->count[i];
        if (param->role == MODEL_SHARED || param->role == MODEL_OWN) {
            s->at[i] = model_take(&s->blocks, bytes * (size_t)s->count[i]);
        }
        s->races[i] = model_take(&s->blocks, sizeof *s->races[i] * (size_t)(s->count[i] + 1));
    }
}

static void begin_group(model_state *s)
{
    s->group_number++;
    for (int i = 0; i < s->kernel->param_count; i++) {
        const model_symbol *param = s->kernel->params[i];
        if (param->role == MODEL_SHARED || param->role == MODEL_OWN) {
            memset(s->at[i], ANY_CONTENTS, (size_t)(param->type->bytes * s->count[i]));
        }
    }
}

static void run_groups(model_state *s)
{
    const int64_t *groups = s->launch->groups;
    open_launch(s);
    for (s->group[2] = 0; s->group[2] < groups[2]; s->group[2]++) {
        for (s->group[1] = 0; s->group[1] < groups[1]; s->group[1]++) {
            for (s->group[0] = 0; s->group[0] < groups[0]; s->group[0]++) {
                begin_group(s);
                (void)execute(s, s->kernel->body);
                model_give_back(&s->temporary);
            }
        }
    }
}

static void find_extent(model_state *s)
{
    s->frame = model_take(&s->blocks, (size_t)s->program->frame_bytes + 1);
    for (int i = 0; i < s->kernel->param_count; i++) {
        const model_symbol *param = s->kernel->params[i];
        if (param->role == MODEL_PARAM && s->launch->at[i]) {
            memcpy(s->frame + param->frame, s->launch->at[i], (size_t)param->type->bytes);
        }
    }
    s->extent = model_evaluate(s, s->kernel->extents[s->extent_index]).i;
}

/* False if the work fails. */
static bool guard(model_state *s, void (*work)(model_state *s))
{
    if (setjmp(s->escape->back)) {
        return false;
    }
    work(s);
    return true;
}

bool model_run(const model_program *program, const model_kernel *kernel, const model_launch *launch,
               char *why, size_t room)
{
    model_escape escape = {.why = why, .room = room};
    model_state s = {.escape = &escape, .program = program, .kernel = kernel, .launch = launch};
    const bool good = guard(&s, run_groups);
    model_give_back(&s.temporary);
    model_give_back(&s.blocks);
    return good;
}

int64_t model_extent(const model_program *program, const model_kernel *kernel, int index,
                     const model_launch *launch, char *why, size_t room)
{
    model_escape escape = {.why = why, .room = room};
    model_state s = {.escape = &escape,
                     .program = program,
                     .kernel = kernel,
                     .launch = launch,
                     .extent = -1,
                     .extent_index = index};
    if (kernel->extents[index]) {
        (void)guard(&s, find_extent);
    }
    model_give_back(&s.blocks);
    return s.extent;
}
