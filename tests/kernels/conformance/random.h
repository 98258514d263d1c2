/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - what the parts of the random generator share. */
#ifndef ISOMER_TESTS_CONFORMANCE_RANDOM_H
#define ISOMER_TESTS_CONFORMANCE_RANDOM_H

#include "tests/kernels/conformance/conformance.h"
#include "tests/kernels/conformance/parts.h"

enum { SOURCES = 128, TARGETS = 32, ARRAYS = 3 };

typedef __int128 random_wide;

/* An expression, and the range of its values if it is an integer. */
typedef struct random_expression {
    const char *text;
    model_scalar scalar;
    random_wide low, high;
} random_expression;

/* What an assignment may write. */
typedef struct random_target {
    const char *text;
    model_scalar scalar;
} random_target;

/* A shared array: all its elements are written, or only the first of each `width`. */
typedef struct random_array {
    model_scalar scalar;
    int width;        /* 1: all elements */
    const char *slot; /* the item's own element, in a region that writes the array */
} random_array;

typedef struct random_state {
    conf_random random;
    conf_text text;
    model_block *blocks;
    const unsigned char *without;
    int part, names;
    char id[32];
    int size[3], items;
    random_expression sources[SOURCES];
    int source_count;
    random_target targets[TARGETS];
    int target_count;
    random_array arrays[ARRAYS];
    int array_count;
    model_scalar owns[ARRAYS];
    int own_count;
    const char *trace; /* what the statements' values are mixed into */
    bool in_loop;      /* inside of a region */
    /* Some kernels have none: a driver may be wrong about all of them. */
    bool has_switches, has_loops;
} random_state;

/* random_expressions.c */
bool random_keep(random_state *g);
const char *random_text(random_state *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
model_scalar random_scalar(random_state *g);
/* The range of an integer type. */
random_wide random_least(model_scalar scalar);
random_wide random_most(model_scalar scalar);
void random_add_source(random_state *g, const char *text, model_scalar scalar);
void random_add_range(random_state *g, const char *text, model_scalar scalar, int64_t low,
                      int64_t high);
const char *random_make(random_state *g, model_scalar scalar, int depth);
const char *random_condition(random_state *g, int depth);

/* random_statements.c */
void random_add_statements(random_state *g, int count, int depth);
void random_add_trace(random_state *g, int from);
void random_add_assignment(random_state *g, const random_target *target);

#endif
