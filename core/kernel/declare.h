/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declare.h - the kernels that a text of the kernel language declares (isomer/kernel.h). Only the
 * declarations are read, and the regions' borders; the rest of C is left to the compilers.
 */
#ifndef ISOMER_CORE_KERNEL_DECLARE_H
#define ISOMER_CORE_KERNEL_DECLARE_H

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What a parameter is. */
typedef enum kernel_role {
    KERNEL_VALUE = 1,  /* f32 a */
    KERNEL_IN = 2,     /* ISO_IN(f32) x: the kernel reads it */
    KERNEL_OUT = 3,    /* ISO_OUT(f32) y: the kernel writes it */
    KERNEL_INOUT = 4,  /* ISO_INOUT(f32) y */
    KERNEL_SHARED = 5, /* ISO_SHARED(f32, 256) part: an array that the items of a group share */
    KERNEL_OWN = 6     /* ISO_OWN(f32) sum: a value that each item keeps from region to region */
} kernel_role;

enum { KERNEL_NAME_MAX = 64, KERNEL_PARAMS_MAX = 32, KERNEL_ITEMS_MAX = 1024 };

/* Types of values and elements: i8 u8 i16 u16 i32 u32 i64 u64 f32 f64, vectors of 2 and 4 of i32,
 * u32, i64, u64, f32 and f64 ("f32x2"), and the text's structs. */
typedef struct kernel_type {
    char name[KERNEL_NAME_MAX]; /* "f32x4" */
    char scalar;                /* 'i', 'u' or 'f'; 's': a struct */
    int32_t bytes;              /* of the whole type */
    int32_t align;
    int32_t lanes; /* 1, 2 or 4 */
} kernel_type;

typedef struct kernel_struct {
    kernel_type type;
    int32_t line;
} kernel_struct;

/* An extent that a launch can compute without reading the text: numbers and parameters, each
 * operator behind its operands. */
enum { KERNEL_STEPS_MAX = 16 };
typedef struct kernel_step {
    int64_t number;
    int16_t param; /* in the kernel's params */
    char sign; /* 'n': the number; 'p': the parameter; '~': minus; + - * / %; '<' and '>': << >> */
} kernel_step;

typedef struct kernel_param {
    char name[KERNEL_NAME_MAX];
    kernel_role role;
    kernel_type type;
    int64_t count;     /* KERNEL_SHARED: elements; 0: the launch says how many */
    int64_t extent_at; /* KERNEL_IN, OUT, INOUT: where the expression of ISO_EXTENT begins in the
                          text, and its length; 0 length: none */
    int64_t extent_length;
    int64_t defined;    /* of the text's definitions, those before the extent */
    int32_t step_count; /* 0: there is no extent, or only its text tells */
    kernel_step steps[KERNEL_STEPS_MAX];
} kernel_param;

typedef struct kernel_decl {
    char name[KERNEL_NAME_MAX];
    int32_t line;           /* in the text, from 1 */
    int32_t size[3];        /* items of a group along x, y and z */
    int64_t params_at;      /* the byte after the '(' of the parameters */
    int64_t body_at;        /* the byte after the '{' of the body */
    int64_t last_region_at; /* where the body's last statement begins, if it is a region; else 0 */
    bool one_region;        /* that region is all of the body, and there are no arrays of the group:
                               groups do not differ but by their places */
    int32_t param_count;
    kernel_param params[KERNEL_PARAMS_MAX];
} kernel_decl;

typedef struct kernel_macro {
    const char *name, *value;
} kernel_macro;

static inline bool kernel_is_buffer(const kernel_param *param)
{
    return param->role == KERNEL_IN || param->role == KERNEL_OUT || param->role == KERNEL_INOUT;
}

/* Whether it is an array whose count the launch gives. */
static inline bool kernel_is_sized(const kernel_param *param)
{
    return param->role == KERNEL_SHARED && param->count == 0;
}

/* Whether a launch has an argument for it. */
static inline bool kernel_is_given(const kernel_param *param)
{
    return param->role == KERNEL_VALUE || kernel_is_buffer(param) || kernel_is_sized(param);
}

/* All kernels of a text. */
typedef struct kernel_file {
    int32_t count;
    int32_t struct_count;
    kernel_decl *kernels; /* from malloc, as the structs */
    kernel_struct *structs;
} kernel_file;

/* Reads a text. `name` is the file's name in messages. INVALID: the message of core_fail is
 * "CALL: NAME:LINE: what is wrong, the rule, what to do". */
iso_status kernel_read(const char *call, const char *name, const char *text,
                       const kernel_macro *macros, int32_t macro_count, kernel_file *out);
void kernel_file_free(kernel_file *file);

/* Evaluates a constant expression of a text (an extent) with these names for values. Integers of 64
 * bits, + - * / % << >> and parentheses. INVALID as above, also for a division by zero, a result
 * that overflows, and an unknown name. */
typedef struct kernel_value {
    const char *name;
    int64_t value;
} kernel_value;
iso_status kernel_evaluate(const char *call, const char *name, const char *text, int64_t at,
                           int64_t length, const kernel_macro *macros, int32_t macro_count,
                           const kernel_value *values, int32_t value_count, int64_t *out);
/* The same for an expression that is not in the text, with all of the text's macros. */
iso_status kernel_evaluate_other(const char *call, const char *name, const char *text,
                                 const char *words, const kernel_macro *macros, int32_t macro_count,
                                 const kernel_value *values, int32_t value_count, int64_t *out);
/* The value of an extent's steps. `integers` has the kernel's parameters, and `known` a bit for
 * each that has a value. False: the text must be read, which says what is wrong. */
bool kernel_run_steps(const kernel_param *param, const int64_t *integers, uint32_t known,
                      int64_t *out);

#endif
