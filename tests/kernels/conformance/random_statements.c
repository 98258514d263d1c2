/* SPDX-License-Identifier: Apache-2.0 */
/* random_statements.c - random statements of a region. */
#include "tests/kernels/conformance/random.h"

#include <string.h>

enum { EXPRESSION_DEPTH = 3 };

static void add_target(random_state *g, const char *text, model_scalar scalar)
{
    if (g->target_count < TARGETS) {
        g->targets[g->target_count++] = (random_target){text, scalar};
    }
    random_add_source(g, text, scalar);
}

void random_add_assignment(random_state *g, const random_target *target)
{
    static const char *const operators[] = {"=", "+=", "-=", "*=", "^=", "|=", "&="};
    const model_scalar scalar = target->scalar;
    const bool is_float = model_scalars[scalar].is_float;
    /* Sums of signed types might overflow, those of narrow ones are signed. */
    const int choices = is_float ? 4 : scalar == MODEL_U32 || scalar == MODEL_U64 ? 7 : 1;
    const char *operator=
        operators[conf_below(&g->random, 2) ? 0 : conf_below(&g->random, choices)];
    const char *value = random_make(g, scalar, EXPRESSION_DEPTH);
    if (random_keep(g)) {
        conf_add(&g->text, "%s %s %s;\n", target->text, operator, value);
    }
}

static void add_assignment(random_state *g)
{
    if (g->target_count) {
        random_add_assignment(g, &g->targets[conf_below(&g->random, g->target_count)]);
    }
}

static void add_local(random_state *g)
{
    const model_scalar scalar = random_scalar(g);
    const char *name = random_text(g, "v%d", g->names++);
    conf_add(&g->text, "%s %s = %s;\n", model_scalars[scalar].name, name,
             random_make(g, scalar, EXPRESSION_DEPTH));
    add_target(g, name, scalar);
}

static void add_vector(random_state *g)
{
    static const model_scalar scalars[] = {MODEL_I32, MODEL_U32, MODEL_I64,
                                           MODEL_U64, MODEL_F32, MODEL_F64};
    const model_scalar scalar = scalars[conf_below(&g->random, 6)];
    const int lanes = conf_below(&g->random, 2) ? 4 : 2;
    const char *name = random_text(g, "v%d", g->names++), *type = model_scalars[scalar].name;
    conf_add(&g->text, "%sx%d %s = iso_%sx%d(", type, lanes, name, type, lanes);
    for (int i = 0; i < lanes; i++) {
        conf_add(&g->text, "%s%s", i ? ", " : "", random_make(g, scalar, 1));
    }
    conf_add(&g->text, ");\n");
    add_target(g, random_text(g, "%s.%c", name, "xyzw"[conf_below(&g->random, lanes)]), scalar);
    random_add_source(g, random_text(g, "%s.x", name), scalar);
    random_add_source(g, random_text(g, "%s.y", name), scalar);
}

static void add_array(random_state *g)
{
    const model_scalar scalar = random_scalar(g);
    const int count = 2 + conf_below(&g->random, 5);
    const char *name = random_text(g, "v%d", g->names++);
    conf_add(&g->text, "%s %s[%d] = {", model_scalars[scalar].name, name, count);
    for (int i = 0; i < count; i++) {
        conf_add(&g->text, "%s%s", i ? ", " : "", random_make(g, scalar, 1));
    }
    conf_add(&g->text, "};\n");
    add_target(g, random_text(g, "%s[(i + %d) %% %d]", name, conf_below(&g->random, 9), count),
               scalar);
    random_add_source(g, random_text(g, "%s[%d]", name, conf_below(&g->random, count)), scalar);
    random_add_source(g, random_text(g, "%s[(item * 3 + 1) %% %d]", name, count), scalar);
}

/* Mixes what the block's variables have into a value that the kernel writes at its end. */
void random_add_trace(random_state *g, int from)
{
    for (int i = from; i < g->target_count; i++) {
        const random_target *target = &g->targets[i];
        const char *name = model_scalars[target->scalar].name;
        const bool is_float = model_scalars[target->scalar].is_float;
        if (target->text[0] != 'v' || !random_keep(g)) {
            continue;
        }
        conf_add(&g->text, "%s = %s * 31 + ", g->trace, g->trace);
        if (is_float) {
            conf_add(&g->text, "iso_bits_%s(known_%s_%s(%s));\n", name, name, g->id, target->text);
        } else {
            conf_add(&g->text, "(u64)%s;\n", target->text);
        }
    }
}

/* Names of a block end with it. */
static void add_block(random_state *g, int count, int depth)
{
    const int sources = g->source_count, targets = g->target_count;
    random_add_statements(g, count, depth - 1);
    random_add_trace(g, targets);
    g->source_count = sources;
    g->target_count = targets;
}

static void add_branch(random_state *g, int depth)
{
    conf_add(&g->text, "if (%s) {\n", random_condition(g, 2));
    add_block(g, 2, depth);
    if (conf_below(&g->random, 2)) {
        conf_add(&g->text, "} else {\n");
        add_block(g, 2, depth);
    }
    conf_add(&g->text, "}\n");
}

static void add_jump(random_state *g, const char *word)
{
    const char *condition = random_condition(g, 1);
    if (random_keep(g)) {
        conf_add(&g->text, "if (%s) { %s; }\n", condition, word);
    }
}

static void add_loop(random_state *g, int depth)
{
    const bool outer = g->in_loop;
    const int sources = g->source_count, count = 1 + conf_below(&g->random, 4);
    const char *name = random_text(g, "k%d", g->names++);
    conf_add(&g->text, "for (i32 %s = 0; %s < %d; %s++) {\n", name, name, count, name);
    random_add_range(g, name, MODEL_I32, 0, count);
    g->in_loop = true;
    add_block(g, 2, depth);
    if (conf_below(&g->random, 2)) {
        add_jump(g, conf_below(&g->random, 2) ? "break" : "continue");
        add_block(g, 1, depth);
    }
    g->in_loop = outer;
    g->source_count = sources;
    conf_add(&g->text, "}\n");
}

static void add_switch(random_state *g, int depth)
{
    const int cases = 2 + conf_below(&g->random, 3);
    conf_add(&g->text, "switch ((%s) & 3) {\n",
             random_make(g, conf_below(&g->random, 2) ? MODEL_I32 : MODEL_U32, 2));
    for (int i = 0; i < cases; i++) {
        if (i + 1 == cases && conf_below(&g->random, 2)) {
            conf_add(&g->text, "default: {\n");
        } else {
            conf_add(&g->text, "case %d: {\n", i);
        }
        add_block(g, 1, depth);
        conf_add(&g->text, "}\n%s", conf_below(&g->random, 3) ? "break;\n" : "");
    }
    conf_add(&g->text, "}\n");
}

static void add_statement(random_state *g, int depth)
{
    const int what = conf_below(&g->random, depth > 0 ? 13 : 8);
    if (what <= 3) {
        add_assignment(g);
    } else if (what <= 5) {
        add_local(g);
    } else if (what == 6) {
        add_vector(g);
    } else if (what == 7) {
        add_array(g);
    } else if (what == 12 && g->has_switches) {
        add_switch(g, depth);
    } else if (what > 9 && g->has_loops) {
        add_loop(g, depth);
    } else {
        add_branch(g, depth);
    }
}

/* A statement that is left out takes its text and its names with it. */
void random_add_statements(random_state *g, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        const size_t length = g->text.length;
        const int sources = g->source_count, targets = g->target_count;
        const bool keep = random_keep(g);
        const conf_random after = {conf_draw(&g->random)};
        add_statement(g, depth);
        g->random = after;
        if (!keep) {
            g->text.length = length;
            g->text.at[length] = 0;
            g->source_count = sources;
            g->target_count = targets;
        }
    }
}
