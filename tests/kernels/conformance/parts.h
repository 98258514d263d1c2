/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the files of the model share. */
#ifndef ISOMER_TESTS_MODEL_PARTS_H
#define ISOMER_TESTS_MODEL_PARTS_H

#include "tests/kernels/conformance/model.h"

#include <setjmp.h>

/* ---- memory and failures --------------------------------------------------------------------- */

/* Blocks that are freed together. */
typedef struct model_block {
    struct model_block *next;
} model_block;
void *model_take(model_block **blocks, size_t bytes); /* zeroed; ends the process without memory */
void model_give_back(model_block **blocks);

/* Where a failure returns to, and what it says. */
typedef struct model_escape {
    jmp_buf back;
    char *why;
    size_t room;
} model_escape;
_Noreturn void model_fail(model_escape *escape, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- tokens ---------------------------------------------------------------------------------- */

typedef enum model_token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_SIGN } model_token_kind;

typedef struct model_token {
    model_token_kind kind;
    int line;
    char *text;
} model_token;

typedef struct model_tokens {
    model_token *at;
    int count, room;
} model_tokens;

/* The text's tokens, with macros replaced; an END follows the last. */
model_tokens model_scan(model_block **blocks, model_escape *escape, const char *text,
                        const model_macro *macros, int macro_count);

/* ---- trees ----------------------------------------------------------------------------------- */

typedef enum model_op {
    /* expressions */
    OP_CONSTANT,
    OP_SYMBOL,
    OP_INDEX,  /* a[b] */
    OP_MEMBER, /* a.member */
    OP_MINE,
    OP_CONVERT,
    OP_MINUS,
    OP_NOT,
    OP_INVERT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_LT,
    OP_GT,
    OP_LE,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_BOTH,
    OP_EITHER,
    OP_CHOOSE, /* a ? b : c */
    OP_COMMA,
    OP_ASSIGN,
    OP_AFTER, /* a's value, then b is evaluated */
    OP_CALL,
    OP_MAKE,     /* a vector */
    OP_PLACE_OF, /* iso_x(i) and the groups: `number` is the axis */
    OP_GROUP,
    OP_GROUPS,
    OP_FMA,
    OP_DIVIDE,
    OP_SQRT,
    OP_EXP,
    OP_BITS,
    OP_FROM_BITS,
    OP_ATOMIC_ADD,
    OP_ATOMIC_MIN,
    OP_ATOMIC_MAX,
    /* statements */
    OP_BLOCK,
    OP_DECLARE,
    OP_EVALUATE,
    OP_IF,
    OP_FOR,
    OP_DO,
    OP_SWITCH,
    OP_CASE,
    OP_DEFAULT,
    OP_BREAK,
    OP_CONTINUE,
    OP_RETURN,
    OP_REGION,
    OP_FOLD
} model_op;

typedef struct model_function {
    char name[MODEL_NAME];
    const model_type *result;
    int param_count;
    model_symbol *params[MODEL_PARAMS];
    model_node *body;
    int64_t result_frame;
    struct model_function *next;
} model_function;

struct model_node {
    model_op op;
    int line;
    const model_type *type; /* of an expression */
    model_node *a, *b, *c, *d;
    model_node *next;  /* in a list of statements or arguments */
    model_node *first; /* of the list */
    model_symbol *symbol, *others[2];
    const model_function *function;
    const model_member *member;
    model_value value;
    int64_t number;
};

struct model_program {
    model_block *blocks;
    model_tokens tokens;
    struct model_type_list {
        model_type type;
        struct model_type_list *next;
    } *types;
    model_function *functions;
    model_kernel *kernels;
    int64_t frame_bytes;
};

/* The state of a reader. */
typedef struct model_reader {
    model_program *program;
    model_escape escape;
    int at;
    model_symbol *symbols; /* in scope, the innermost first */
    const model_function *function;
    bool in_kernel, wide; /* wide: an extent, where each name and number is an i64 */
} model_reader;

/* types.c */
const model_type *model_scalar_type(model_program *program, model_scalar scalar);
const model_type *model_find_type(model_program *program, const char *name);
void model_add_types(model_program *program);

/* read.c */
const model_token *model_token_at(const model_reader *r);
bool model_is(const model_reader *r, const char *text);
bool model_accept(model_reader *r, const char *text);
void model_expect(model_reader *r, const char *text);
char *model_take_word(model_reader *r);
model_node *model_node_new(model_reader *r, model_op op);
model_symbol *model_symbol_new(model_reader *r, const char *name, model_role role,
                               const model_type *type);
model_symbol *model_symbol_find(const model_reader *r, const char *name);

/* expressions.c */
model_node *model_read_expression(model_reader *r); /* with commas */
model_node *model_read_assignment(model_reader *r);
int64_t model_read_constant(model_reader *r);
model_node *model_convert(model_reader *r, model_node *from, const model_type *type);

/* statements.c */
model_node *model_read_block(model_reader *r);

/* Who used an element last. Groups and regions are counted from 1; 0: nobody did. */
typedef struct model_use {
    int64_t group, region;
    int item;
} model_use;

typedef struct model_race {
    model_use wrote, read, atomic;
} model_race;

typedef enum model_access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } model_access;

/* The state of a run. */
typedef struct model_state {
    model_escape *escape;
    const model_program *program;
    const model_kernel *kernel;
    const model_launch *launch;
    unsigned char *frame;
    unsigned char *at[MODEL_PARAMS]; /* buffers, shared arrays, own values */
    int64_t count[MODEL_PARAMS];
    model_race *races[MODEL_PARAMS];
    int64_t group[3], group_number, region, extent;
    int extent_index;
    int item; /* -1: between regions */
    model_block *blocks, *temporary;
} model_state;

/* arithmetic.c */
model_value model_binary(model_state *s, int line, model_op op, model_scalar scalar, model_value a,
                         model_value b);
model_value model_convert_value(model_state *s, int line, model_scalar from, model_scalar to,
                                model_value value);
model_value model_math(model_op op, model_scalar scalar, const model_value *args);

/* evaluate.c */
model_value model_evaluate(model_state *s, const model_node *e);
bool model_is_true(model_state *s, const model_node *e);
void model_write(const model_type *type, unsigned char *to, model_value value);

/* races.c */
void model_touch(model_state *s, int line, const model_symbol *symbol, int64_t index,
                 model_access access);
/* Marks an element as written between two regions, or as having any contents. */
void model_mark(model_state *s, const model_symbol *symbol, int64_t index, bool written);

/* run.c */
void model_call(model_state *s, const model_function *function);

#endif
