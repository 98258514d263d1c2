/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - what a text of the kernel language means, in plain C: a reader of the part of C that
 * kernels use, and an interpreter of regions, items and groups, one after another. It is written
 * from the words of isomer/kernel.h, and shares no code with it or with the library.
 *
 * The interpreter also checks the rules that no compiler checks: signed overflow, conversions out
 * of range, indices out of bounds, and places that two items or two groups use at once. A text that
 * breaks one of them is a fault of the test.
 */
#ifndef ISOMER_TESTS_MODEL_H
#define ISOMER_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_NAME = 64, MODEL_PARAMS = 32, MODEL_MEMBERS = 40, MODEL_ITEMS = 1024 };

/* ---- types ----------------------------------------------------------------------------------- */

typedef enum model_scalar {
    MODEL_I8,
    MODEL_U8,
    MODEL_I16,
    MODEL_U16,
    MODEL_I32,
    MODEL_U32,
    MODEL_I64,
    MODEL_U64,
    MODEL_F32,
    MODEL_F64,
    MODEL_SCALARS
} model_scalar;

typedef struct model_scalar_info {
    const char *name;
    int bytes;
    bool is_float, is_signed, has_vectors;
} model_scalar_info;
extern const model_scalar_info model_scalars[MODEL_SCALARS];

typedef enum model_kind { MODEL_SCALAR, MODEL_VECTOR, MODEL_STRUCT } model_kind;

typedef struct model_member {
    char name[MODEL_NAME];
    model_scalar scalar;
    int count; /* of an array; else 0 */
    int offset;
} model_member;

/* A vector has the members x, y, z and w; a scalar has none. */
typedef struct model_type {
    char name[MODEL_NAME];
    model_kind kind;
    model_scalar scalar; /* of a scalar, or a vector's members */
    int bytes, align;
    int member_count;
    model_member members[MODEL_MEMBERS];
} model_type;

/* A scalar's value. Integers are widened to 64 bits by their type. */
typedef union model_value {
    int64_t i;
    uint64_t u;
    float f;
    double d;
    unsigned char *at; /* of a vector or a struct: where its bytes are */
} model_value;

model_value model_load(model_scalar scalar, const unsigned char *from);
void model_store(model_scalar scalar, unsigned char *to, model_value value);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct model_node model_node;

typedef enum model_role {
    MODEL_PARAM, /* a value */
    MODEL_IN,
    MODEL_OUT,
    MODEL_INOUT,
    MODEL_SHARED,
    MODEL_OWN,
    MODEL_LOCAL /* a variable or an array of the body, or a function's parameter */
} model_role;

/* A name in a body. */
typedef struct model_symbol {
    char name[MODEL_NAME];
    model_role role;
    const model_type *type;
    int64_t count; /* elements of an array; 0: none, or given by the launch */
    bool is_array;
    int64_t frame; /* where a value or a local is in the frame */
    int index;     /* of a buffer, a shared array or an own value: the parameter's */
    struct model_symbol *outer;
} model_symbol;

typedef struct model_kernel {
    char name[MODEL_NAME];
    int size[3];
    int param_count;
    model_symbol *params[MODEL_PARAMS];
    model_node *extents[MODEL_PARAMS]; /* NULL: none */
    model_node *body;
    struct model_kernel *next;
} model_kernel;

typedef struct model_macro {
    const char *name, *value;
} model_macro;

typedef struct model_program model_program;

/* NULL: the text is not read; `why` says where and why. */
model_program *model_read(const char *text, const model_macro *macros, int macro_count, char *why,
                          size_t room);
void model_free(model_program *program);
const model_kernel *model_find(const model_program *program, const char *name);
/* Calls `use` with each word of the text after its macros are replaced. */
void model_words(const model_program *program, void (*use)(void *context, const char *word),
                 void *context);

/* ---- launches -------------------------------------------------------------------------------- */

typedef struct model_launch {
    int64_t groups[3];
    /* For a value its bytes; for a buffer its elements and how many they are; for a shared array
     * that the launch sizes the count. */
    unsigned char *at[MODEL_PARAMS];
    int64_t count[MODEL_PARAMS];
} model_launch;

/* The elements that the extent of parameter `index` states; -1: none, or a failure. */
int64_t model_extent(const model_program *program, const model_kernel *kernel, int index,
                     const model_launch *launch, char *why, size_t room);
/* Runs a launch. False: the text breaks a rule; `why` says which. */
bool model_run(const model_program *program, const model_kernel *kernel, const model_launch *launch,
               char *why, size_t room);

#endif
