/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - random kernels: parameters, regions, and what stands around them. */
#include "tests/kernels/conformance/random.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 3, PLACES = 3, DEPTH = 2 };

typedef struct kernel {
    random_state g;
    bool only; /* one region alone: a CPU may run several groups in one loop */
    conf_text parameters;
    int written;                   /* buffers that the kernel writes */
    model_scalar scalars[BUFFERS]; /* of their elements */
    int lanes[BUFFERS];            /* 1: no vectors */
    int reader_count;              /* elements that it reads */
    random_expression readers[BUFFERS * PLACES];
} kernel;

static const int shapes[][3] = {{1, 1, 1}, {32, 1, 1}, {7, 1, 1},   {3, 5, 2},  {64, 1, 1},
                                {8, 4, 1}, {2, 1, 9},  {100, 1, 1}, {1, 13, 1}, {16, 2, 2}};
static const int64_t launches[][3] = {{1, 1, 1}, {3, 1, 1}, {2, 2, 1}, {1, 1, 2}, {1, 3, 1}};

static const char group[] = "(iso_group_x() + iso_groups_x() * (iso_group_y() + iso_groups_y() * "
                            "iso_group_z()))";

/* ---- parameters ------------------------------------------------------------------------------ */

static const char *vector_member(random_state *g, model_scalar scalar, int *lanes)
{
    *lanes = model_scalars[scalar].has_vectors ? 1 << conf_below(&g->random, 3) : 1;
    return *lanes == 1 ? "" : random_text(g, ".%c", "xyzw"[conf_below(&g->random, *lanes)]);
}

static const char *type_text(random_state *g, model_scalar scalar, int lanes)
{
    const char *name = model_scalars[scalar].name;
    return lanes == 1 ? name : random_text(g, "%sx%d", name, lanes);
}

static void add_values(kernel *k)
{
    random_state *g = &k->g;
    const int count = 1 + conf_below(&g->random, 4);
    for (int i = 0; i < count; i++) {
        const model_scalar scalar = random_scalar(g);
        int lanes;
        const char *member = vector_member(g, scalar, &lanes);
        conf_add(&k->parameters, "%s p%d, ", type_text(g, scalar, lanes), i);
        random_add_source(g, random_text(g, "p%d%s", i, member), scalar);
    }
}

static void add_readers(kernel *k)
{
    random_state *g = &k->g;
    const int count = 1 + conf_below(&g->random, BUFFERS);
    for (int i = 0; i < count; i++) {
        const model_scalar scalar = random_scalar(g);
        const int lanes = model_scalars[scalar].has_vectors ? 1 << conf_below(&g->random, 3) : 1;
        conf_add(&k->parameters, "ISO_IN(%s) x%d ISO_EXTENT(n), ", type_text(g, scalar, lanes), i);
        for (int place = 0; place < PLACES; place++) {
            const char *index = random_text(g, "(at * %d + %d) %% n", 1 + conf_below(&g->random, 9),
                                            conf_below(&g->random, 50));
            const char *member =
                lanes == 1 ? "" : random_text(g, ".%c", "xyzw"[conf_below(&g->random, lanes)]);
            k->readers[k->reader_count++] = (random_expression){
                .text = random_text(g, "x%d[%s]%s", i, index, member), .scalar = scalar};
        }
    }
}

static void add_writers(kernel *k)
{
    random_state *g = &k->g;
    k->written = 1 + conf_below(&g->random, BUFFERS);
    for (int i = 0; i < k->written; i++) {
        k->scalars[i] = random_scalar(g);
        (void)vector_member(g, k->scalars[i], &k->lanes[i]);
        conf_add(&k->parameters, "ISO_INOUT(%s) y%d ISO_EXTENT(n), ",
                 type_text(g, k->scalars[i], k->lanes[i]), i);
    }
}

/* An own value and a shared array have the same type, so that groups can be summed. */
static void add_scratch(kernel *k)
{
    random_state *g = &k->g;
    g->array_count = g->own_count = k->only ? 0 : conf_below(&g->random, ARRAYS + 1);
    for (int i = 0; i < g->array_count; i++) {
        const model_scalar scalar = random_scalar(g);
        const bool sized = conf_below(&g->random, 3) == 0;
        const char *count = sized ? "ISO_AT_LAUNCH" : random_text(g, "%d", g->items);
        g->owns[i] = scalar;
        g->arrays[i] = (random_array){.scalar = scalar, .width = 1};
        conf_add(&k->parameters, "ISO_SHARED(%s, %s) s%d, ISO_OWN(%s) o%d, ",
                 model_scalars[scalar].name, count, i, model_scalars[scalar].name, i);
    }
    conf_add(&k->parameters, "%sISO_OUT(u64) traces ISO_EXTENT(n), i64 n",
             k->only ? "" : "ISO_OWN(u64) trace, ");
}

/* ---- regions --------------------------------------------------------------------------------- */

static void open_region(kernel *k)
{
    random_state *g = &k->g;
    const int *size = g->size;
    const int needed = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    const int indices = needed + conf_below(&g->random, 4 - needed);
    static const char *const heads[] = {"ISO_REGION(i)", "ISO_REGION_2(i, j)",
                                        "ISO_REGION_3(i, j, k)"};
    conf_add(&g->text,
             "%s {\nconst i32 item = (%s * %d + %s) * %d + i;\n"
             "const i64 at = %s * %d + item;\n",
             heads[indices - 1], indices > 2 ? "k" : "0", size[1], indices > 1 ? "j" : "0", size[0],
             k->only ? group : "group", g->items);
    random_add_range(g, "i", MODEL_I32, 0, size[0]);
    random_add_range(g, "item", MODEL_I32, 0, g->items);
    random_add_range(g, "at", MODEL_I64, 0, INT32_MAX);
    random_add_range(g, "iso_x(i)", MODEL_I64, 0, INT32_MAX);
    if (indices > 2) {
        random_add_range(g, "iso_z(k)", MODEL_I64, 0, INT32_MAX);
    }
    for (int i = 0; i < k->reader_count; i++) {
        random_add_source(g, k->readers[i].text, k->readers[i].scalar);
    }
}

static void add_own(random_state *g, int index)
{
    const char *text = random_text(g, "iso_mine(o%d)", index);
    if (g->target_count < TARGETS) {
        g->targets[g->target_count++] = (random_target){text, g->owns[index]};
    }
    random_add_source(g, text, g->owns[index]);
}

/* In a region an array is read, or each item writes its own element. */
static void use_array(random_state *g, int index, bool write)
{
    random_array *array = &g->arrays[index];
    if (write) {
        const bool back = conf_below(&g->random, 2);
        const char *slot = back ? random_text(g, "s%d[%d - item]", index, g->items - 1)
                                : random_text(g, "s%d[item]", index);
        conf_add(&g->text, "%s = %s;\n", slot, random_make(g, array->scalar, DEPTH));
        array->width = 1;
        if (g->target_count < TARGETS) {
            g->targets[g->target_count++] = (random_target){slot, array->scalar};
        }
        random_add_source(g, slot, array->scalar);
    } else {
        const char *slot = array->width == 1 ? random_text(g, "s%d[(item + %d) %% %d]", index,
                                                           conf_below(&g->random, 99), g->items)
                                             : random_text(g, "s%d[item / %d * %d]", index,
                                                           array->width, array->width);
        random_add_source(g, slot, array->scalar);
    }
}

static void add_region(kernel *k, bool first)
{
    random_state *g = &k->g;
    const int sources = g->source_count;
    open_region(k);
    for (int i = 0; i < g->own_count; i++) {
        if (first) {
            conf_add(&g->text, "iso_mine(o%d) = %s;\n", i, random_make(g, g->owns[i], DEPTH));
        }
        add_own(g, i);
        use_array(g, i, first || conf_below(&g->random, 3) == 0);
    }
    if (first) {
        conf_add(&g->text, "iso_mine(trace) = 7;\n");
    }
    random_add_statements(g, 1 + conf_below(&g->random, 4), DEPTH);
    random_add_trace(g, 0);
    if (conf_below(&g->random, 4) == 0) {
        const char *condition = random_condition(g, 1);
        if (random_keep(g)) {
            conf_add(&g->text, "if (%s) { continue; }\n", condition);
        }
        random_add_statements(g, 2, 1);
    }
    conf_add(&g->text, "}\n");
    g->source_count = sources;
    g->target_count = 0;
}

/* Each item writes its elements of the buffers. */
static void add_last(kernel *k)
{
    random_state *g = &k->g;
    const int sources = g->source_count;
    open_region(k);
    conf_add(&g->text, "%s", k->only ? "u64 trace = 7;\n" : "");
    for (int i = 0; i < g->own_count; i++) {
        add_own(g, i);
        use_array(g, i, false);
    }
    random_add_statements(g, 1 + conf_below(&g->random, 3), DEPTH);
    random_add_trace(g, 0);
    conf_add(&g->text, "if (at < n) {\ntraces[at] = %s;\n", g->trace);
    for (int i = 0; i < k->written; i++) {
        const random_target target = {random_text(g, "y%d[at]%s", i, k->lanes[i] == 1 ? "" : ".y"),
                                      k->scalars[i]};
        if (k->lanes[i] > 1) {
            conf_add(&g->text, "y%d[at].x = %s;\n", i, random_make(g, k->scalars[i], DEPTH));
        }
        conf_add(&g->text, "%s = %s;\n", target.text, random_make(g, k->scalars[i], DEPTH));
        random_add_source(g, target.text, target.scalar);
        random_add_assignment(g, &target);
    }
    for (int i = 0; i < g->own_count; i++) {
        for (int w = 0; w < k->written; w++) { /* what the regions made must be seen */
            if (g->owns[i] == k->scalars[w] && k->lanes[w] == 1) {
                conf_add(&g->text, "y%d[at] = at %% 2 ? y%d[at] : iso_mine(o%d);\n", w, w, i);
            }
        }
    }
    conf_add(&g->text, "}\n}\n");
    g->source_count = sources;
    g->target_count = 0;
}

/* ---- around regions -------------------------------------------------------------------------- */

/* Sums are of types that wrap, or do not overflow. */
static void add_fold(random_state *g)
{
    static const int widths[] = {2, 3, 5, 8, 32, 100};
    const int which = conf_below(&g->random, 3), index = conf_below(&g->random, ARRAYS);
    const bool team = conf_below(&g->random, 2);
    const int width = team ? widths[conf_below(&g->random, 6)] : g->items;
    if (index >= g->array_count) {
        return;
    }
    const model_scalar_info *info = &model_scalars[g->arrays[index].scalar];
    const char *name = which == 0 && !info->is_signed ? "SUM" : which == 1 ? "MIN" : "MAX";
    if (!random_keep(g)) {
        return;
    }
    if (team) {
        conf_add(&g->text, "ISO_TEAM_%s(s%d, o%d, %d);\n", name, index, index, width);
    } else {
        conf_add(&g->text, "ISO_GROUP_%s(s%d, o%d);\n", name, index, index);
    }
    g->arrays[index].width = width > 1 ? width : 1;
}

/* A region that may not run leaves arrays as they were. */
static void add_branch(kernel *k)
{
    random_state *g = &k->g;
    random_array before[ARRAYS];
    memcpy(before, g->arrays, sizeof before);
    conf_add(&g->text, "if (%s) {\n", random_condition(g, 2));
    add_region(k, false);
    for (int i = 0; i < g->array_count; i++) {
        g->arrays[i].width = before[i].width;
    }
    if (conf_below(&g->random, 2)) {
        conf_add(&g->text, "} else {\n");
        add_region(k, false);
    }
    conf_add(&g->text, "}\n");
    for (int i = 0; i < g->array_count; i++) {
        g->arrays[i].width = before[i].width;
    }
}

static void add_loop(kernel *k)
{
    random_state *g = &k->g;
    const int sources = g->source_count;
    const char *name = random_text(g, "r%d", g->names++);
    const int count = 1 + conf_below(&g->random, 3);
    conf_add(&g->text, "for (i32 %s = 0; %s < %d; %s++) {\n", name, name, count, name);
    random_add_range(g, name, MODEL_I32, 0, count);
    add_region(k, false);
    add_region(k, false);
    g->source_count = sources;
    conf_add(&g->text, "}\n");
}

static void add_group_variable(random_state *g)
{
    const model_scalar scalar = random_scalar(g);
    const char *name = random_text(g, "g%d", g->names++);
    conf_add(&g->text, "const %s %s = %s;\n", model_scalars[scalar].name, name,
             random_make(g, scalar, DEPTH));
    random_add_source(g, name, scalar);
}

static void add_step(kernel *k)
{
    switch (conf_below(&k->g.random, 6)) {
    case 0:
        add_branch(k);
        break;
    case 1:
        if (k->g.has_loops) {
            add_loop(k);
        } else {
            add_branch(k);
        }
        break;
    case 2:
        add_group_variable(&k->g);
        break;
    case 3:
        add_fold(&k->g);
        break;
    default:
        add_region(k, false);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Functions that keep a float in a range, and out of NaN. */
static void add_helpers(random_state *g)
{
    for (int scalar = MODEL_F32; scalar <= MODEL_F64; scalar++) {
        const char *name = model_scalars[scalar].name;
        const char *const keys[] = {"T", name, "N", g->id, NULL};
        conf_fill(
            &g->text,
            "ISO_FUNCTION $T within_$T_$N($T x, $T m) { return x > -m && x < m ? x : ($T)1; }\n"
            "ISO_FUNCTION $T below_$T_$N($T x, $T m) { return x > ($T)-0.5f && x < m ? x : ($T)1; "
            "}\n"
            "ISO_FUNCTION $T known_$T_$N($T x) { return x == x ? x : ($T)0.25f; }\n",
            keys);
    }
}

static void add_body(kernel *k)
{
    random_state *g = &k->g;
    conf_add(&g->text, "{\n");
    random_add_range(g, "iso_group_x()", MODEL_I64, 0, INT32_MAX);
    random_add_range(g, "iso_groups_y()", MODEL_I64, 0, INT32_MAX);
    if (!k->only) {
        conf_add(&g->text, "const i64 group = %s;\n", group);
        random_add_range(g, "group", MODEL_I64, 0, INT32_MAX);
        add_group_variable(g);
        add_region(k, true);
    }
    const int steps = k->only ? 0 : conf_below(&g->random, 5);
    for (int i = 0; i < steps; i++) {
        const size_t length = g->text.length;
        const random_state before = *g;
        const bool keep = random_keep(g);
        const conf_random after = {conf_draw(&g->random)};
        add_step(k);
        g->random = after;
        if (!keep) {
            g->text.length = length;
            g->text.at[length] = 0;
            g->source_count = before.source_count;
            memcpy(g->arrays, before.arrays, sizeof g->arrays);
        }
    }
    add_last(k);
    conf_add(&g->text, "}\n");
}

void conf_add_random(conf_suite *suite, uint64_t seed, int index, const unsigned char *without,
                     int *parts)
{
    kernel *k = calloc(1, sizeof *k);
    char values[32];
    if (!k) {
        exit(70);
    }
    random_state *g = &k->g;
    (void)snprintf(g->id, sizeof g->id, "%llu_%d", (unsigned long long)seed, index);
    g->random = conf_seed(seed, g->id);
    g->without = without;
    const int *size = shapes[conf_below(&g->random, (int)(sizeof shapes / sizeof *shapes))];
    const int64_t *groups =
        launches[conf_below(&g->random, (int)(sizeof launches / sizeof *launches))];
    memcpy(g->size, size, sizeof g->size);
    g->items = size[0] * size[1] * size[2];
    const int n = (int)(groups[0] * groups[1] * groups[2]) * g->items;
    (void)snprintf(values, sizeof values, "n=%d", n > 3 ? n - conf_below(&g->random, 3) : n);
    k->only = conf_below(&g->random, 5) == 0;
    g->trace = k->only ? "trace" : "iso_mine(trace)";
    g->has_switches = conf_below(&g->random, 5) == 0;
    g->has_loops = conf_below(&g->random, 3) > 0;
    add_helpers(g);
    add_values(k);
    add_readers(k);
    add_writers(k);
    add_scratch(k);
    conf_add(&g->text, "ISO_KERNEL(random_%s, %d, %d, %d)(%s)\n", g->id, size[0], size[1], size[2],
             k->parameters.at);
    add_body(k);
    conf_add_case(suite, "random", &g->text, groups, values);
    if (parts) {
        *parts = g->part;
    }
    free(k->parameters.at);
    model_give_back(&g->blocks);
    free(k);
}
