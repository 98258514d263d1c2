/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - the description of a text's kernels: a JSON file that says with which sizes, values
 * and inputs each kernel runs, and what its results must be (docs/schema/isomer-kernels-1.json).
 *
 *   describe_file file;
 *   int code = describe_load(device, "stencil.isk", NULL, NULL, 0, &file);
 *   for (int32_t k = 0; code == TOOL_OK && k < file.kernel_count; k++) {
 *       const describe_case *c = &file.kernels[k].sizes[0];
 *       for (int32_t i = 0; i < c->parameter_count; i++) {
 *           if (c->parameters[i].is_buffer) {
 *               describe_make(&c->parameters[i], seed, round, memory[i]);
 *           }
 *       }
 *       arguments = c->arguments, with each buffer's operand: parameters[i].is.argument
 *       iso_launch(stream, kernel, c->groups, arguments, c->argument_count);
 *   }
 *   describe_free(&file);
 *
 * Everything is checked while the file is read: afterwards each case can be launched.
 */
#ifndef ISOMER_KERNEL_DESCRIBE_H
#define ISOMER_KERNEL_DESCRIBE_H

#include "bench/arith/arith.h"
#include "bench/tool.h"

typedef enum describe_scalar {
    DESCRIBE_STRUCT, /* its layout is not known: only its bytes */
    DESCRIBE_I8,
    DESCRIBE_U8,
    DESCRIBE_I16,
    DESCRIBE_U16,
    DESCRIBE_I32,
    DESCRIBE_U32,
    DESCRIBE_I64,
    DESCRIBE_U64,
    DESCRIBE_F32,
    DESCRIBE_F64,
    DESCRIBE_SCALARS
} describe_scalar;

/* "f32"; a struct: "bytes". */
const char *describe_scalar_name(describe_scalar scalar);
int32_t describe_scalar_bytes(describe_scalar scalar); /* a struct: 1 */
bool describe_is_float(describe_scalar scalar);

/* What a buffer begins with. */
typedef enum describe_how {
    DESCRIBE_UNWRITTEN, /* all bits are 1, which is NaN and -1: what ISO_OUT begins with */
    DESCRIBE_WORD,      /* one of bench/arith's sequences */
    DESCRIBE_RANGE,     /* each number from `from` to `to` is as likely */
    DESCRIBE_STEPS,     /* from, from + step, from + 2 * step, ... */
    DESCRIBE_REPEAT     /* these elements, again and again */
} describe_how;

typedef struct describe_fill {
    describe_how how;
    arith_fill word;
    int64_t from, to, step; /* of integers */
    double float_from, float_to, float_step;
    unsigned char *bytes; /* of REPEAT: `length` bytes */
    int64_t length;
} describe_fill;

typedef struct describe_parameter {
    iso_parameter is; /* as the library describes it */
    bool is_buffer;
    bool is_read;    /* a buffer that the kernel reads: IN or INOUT */
    bool is_written; /* OUT or INOUT */
    describe_scalar scalar;
    int32_t lanes;        /* scalars in an element; a struct: its bytes */
    int64_t elements;     /* of a buffer, at least 1, or of a shared array; else 1 */
    int64_t usable;       /* of them the kernel may use; 0: none, of a buffer without elements */
    int64_t bytes;        /* of all elements */
    describe_fill fill;   /* of a buffer */
    unsigned char *value; /* of BYTES; else NULL */
} describe_parameter;

typedef struct describe_kernel describe_kernel;

/* A kernel with one size. */
typedef struct describe_case describe_case;
struct describe_case {
    const describe_kernel *kernel;
    char size[256];                 /* "rows=3 cols=4": for messages */
    char others[128];               /* "a=0.5": the values that are no integers */
    char shape[128];                /* "3x4" */
    json_t *values;                 /* the description's object, such as {"rows": 3, "cols": 4} */
    describe_parameter *parameters; /* all of the kernel, in order */
    int32_t parameter_count;
    iso_argument *arguments; /* of a launch; the caller sets the operands of buffers in a copy */
    int32_t argument_count;
    iso_groups groups;
    double flops, reads, writes; /* of a launch; reads and writes in bytes, flops 0: not stated */
    describe_case *reference;    /* the reference kernel with the same values; NULL: none */
};

/* A text, of which only the declarations were read. */
typedef struct describe_text {
    char *path, *text;
    iso_macro *macros;
    int32_t macro_count;
    iso_program program;
} describe_text;

struct describe_kernel {
    const char *name;
    describe_text *text;
    iso_kernel kernel; /* can be asked about, not launched */
    iso_kernel_info info;
    describe_case *sizes; /* for check and verify */
    int32_t size_count;
    describe_case *bench; /* for bench */
    int32_t bench_count;
    describe_kernel *reference; /* NULL: none */
    char **model;               /* a command, its words and NULL; NULL: none */
    double tolerance;           /* against reference or model; below 0: bit by bit */
    bool bits;                  /* results are the same on every device */
    const json_t *object;       /* its description */
    int32_t index;              /* in the file, for messages */
};

typedef struct describe_file {
    char *path; /* of the description */
    json_t *root;
    describe_text text; /* the one that the description is about */
    describe_kernel *kernels;
    int32_t kernel_count;
} describe_file;

/* Reads the description of the text in `path`, which is `with`, or the file beside the text whose
 * name ends with .json. The declarations are read for `device`, which may be any one. `defines` are
 * the macros of the command line, which count more than those of the description and must live as
 * long as the file. Returns TOOL_OK, or prints a message and returns an exit code; either way
 * describe_free is allowed. */
int describe_load(iso_device device, const char *path, const char *with, const iso_macro *defines,
                  int32_t define_count, describe_file *out);
void describe_free(describe_file *file);

/* The arguments of iso_program_create for a text. */
iso_program_args describe_program(const describe_text *text);

/* NULL: the case has no parameter of that name. */
const describe_parameter *describe_find(const describe_case *item, const char *name);

/* ---- inputs.c -------------------------------------------------------------------------------- */

/* Writes what a buffer begins with to `bytes` bytes. Seed, round, the parameter's name and its fill
 * decide the data, and the machine and the number of threads do not. A shorter buffer has the
 * beginning of a longer one. */
void describe_make(const describe_parameter *parameter, uint64_t seed, int64_t round, void *out);
/* Makes only a part of at most `most` bytes, 1 MiB or more, of the data of a buffer that the kernel
 * reads. Each round has the next part. Returns the part's place, in bytes. */
int64_t describe_make_part(const describe_parameter *parameter, uint64_t seed, int64_t round,
                           int64_t most, int64_t *bytes, void *out);

#endif
