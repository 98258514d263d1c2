/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the program's own kernels. A text of the language that isomer/kernel.h describes is
 * compiled for a device and launched on its streams. The same text gives the same bits on every
 * device, but for what kernel.h excepts.
 *
 *   iso_program program;
 *   iso_kernel axpy;
 *   iso_program_args text = ISO_PROGRAM_ARGS_INIT;
 *   text.name = "axpy.isk";
 *   text.text = "ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x, ...";
 *   iso_program_create(device, &text, &program);
 *   iso_kernel_get(program, "axpy", &axpy);
 *   iso_argument args[] = {iso_arg_float(2), iso_arg_buffer(x), iso_arg_buffer(y),
 *                          iso_arg_integer(n)};
 *   iso_launch(stream, axpy, (iso_groups){(n + 255) / 256, 1, 1}, args, 4);
 */
#ifndef ISOMER_PROGRAM_H
#define ISOMER_PROGRAM_H

#include <isomer/embedded.h>
#include <isomer/memory.h>
#include <isomer/stream.h>

ISO_BEGIN_DECLS

/* A text that was compiled for a device. */
typedef struct iso_program {
    uint64_t id;
} iso_program;

/* A kernel of a program, valid as long as the program is. There is nothing to destroy. */
typedef struct iso_kernel {
    iso_program program; /* to which it belongs */
    int64_t index;       /* in the text, from 0 */
} iso_kernel;

/* A text, and how it is compiled. */
typedef struct iso_program_args {
    uint32_t size;
    int32_t macro_count;     /* how many macros */
    const char *name;        /* of the text, in messages; NULL means "program" */
    const char *text;        /* the kernels, in the language of kernel.h */
    const iso_macro *macros; /* defined before the text */
    int64_t declared; /* not 0: only the declarations are read and nothing is compiled. Kernels can
                         be asked about, but not launched */
    const iso_embedded *embedded; /* kernels that the build compiled: the text is theirs */
} iso_program_args;
#define ISO_PROGRAM_ARGS_INIT ISO_INIT_OF(iso_program_args)

/*
 * Compiles a text, or finds it in the program cache. On a CPU, ISOMER_CC must name a C compiler.
 * The text is read only during the call.
 *
 * With `embedded` a CPU needs no compiler: it runs the functions of the best instruction set that
 * the table and the device have. GPUs compile the table's text with its macros. `text` must be NULL
 * and macro_count 0, because the build gave them; `name` may be another one. The functions must
 * stay loaded as long as the program lives.
 *
 * INVALID: the text declares a kernel wrongly; the message names its line. Also a table that was
 * built for a library with another layout. COMPILE: the text does not compile; the message has the
 * compiler's log, with the text's own lines. UNSUPPORTED: the device has no compiler, or the table
 * no instruction set of this CPU. A program of which only the declarations are read needs neither.
 */
ISO_API iso_status iso_program_create(iso_device device, const iso_program_args *args,
                                      iso_program *out);

/*
 * The text that compilers get for these arguments: the language's header, the macros, the text and
 * an entry for each kernel, with one part for each kind of compiler. No device is needed. `*bytes`
 * is set to its size with the final 0. `out` may be NULL with capacity 0, which asks for the size.
 *
 * INVALID: as for iso_program_create, or a capacity that is too small: `*bytes` is set then too.
 */
ISO_API iso_status iso_program_text(const iso_program_args *args, char *out, int64_t capacity,
                                    int64_t *bytes);

/*
 * The C text of a table for kernels that a build compiles, for builds that cannot use `isomer
 * kernel embed`. For each instruction set the build compiles what iso_program_text gives with the
 * macro ISO_EMBEDDED_ENTRIES defined as SYMBOL_SET, and this text once; it defines the iso_embedded
 * SYMBOL. No device is needed. `sets` has names of instruction sets. `*bytes`, `out` and `capacity`
 * are as above.
 *
 * INVALID: as for iso_program_text, or no set, or a symbol or set that is no C identifier.
 */
ISO_API iso_status iso_embedded_text(const iso_program_args *args, const char *symbol,
                                     const char *const *sets, int32_t set_count, char *out,
                                     int64_t capacity, int64_t *bytes);

/*
 * The name of the index-th chip, from 0, for which a backend's compiler can compile: "sm_90". No
 * device is needed.
 *
 * INVALID: no backend has that name. NOT_READY: there are no more. UNSUPPORTED: the backend has no
 * compiler that compiles without a device, or it is not here; the message says why.
 */
ISO_API iso_status iso_chip_get(const char *backend, int32_t index, char *name, int64_t capacity);

/*
 * Compiles a text for such a chip, and keeps nothing: to see whether it compiles. Fails as
 * iso_program_create does.
 */
ISO_API iso_status iso_program_try(const char *backend, const char *chip,
                                   const iso_program_args *args);

/* Waits for the launches of the program's kernels, and frees it. */
ISO_API iso_status iso_program_destroy(iso_program program);

/* The kernel with that name. INVALID: the program has none; the message lists those that it has. */
ISO_API iso_status iso_kernel_get(iso_program program, const char *name, iso_kernel *out);

/* The index-th kernel of the text, from 0. NOT_READY: there are no more. */
ISO_API iso_status iso_kernel_at(iso_program program, int32_t index, iso_kernel *out);

/* What is known of a kernel. */
typedef struct iso_kernel_info {
    uint32_t size;
    int32_t line;            /* of its declaration in the text, from 1 */
    int32_t items[3];        /* of a group along x, y and z */
    int32_t parameters;      /* how many */
    char name[ISO_NAME_MAX]; /* as declared */
} iso_kernel_info;
#define ISO_KERNEL_INFO_INIT ISO_INIT_OF(iso_kernel_info)

/* Fills `*out` (set its size first). INVALID: not a kernel, NULL, wrong size. */
ISO_API iso_status iso_kernel_get_info(iso_kernel kernel, iso_kernel_info *out);

/* How a parameter is declared. */
typedef enum iso_parameter_role {
    ISO_PARAMETER_VALUE = 1,  /* a value */
    ISO_PARAMETER_IN = 2,     /* ISO_IN */
    ISO_PARAMETER_OUT = 3,    /* ISO_OUT */
    ISO_PARAMETER_INOUT = 4,  /* ISO_INOUT */
    ISO_PARAMETER_SHARED = 5, /* ISO_SHARED */
    ISO_PARAMETER_OWN = 6     /* ISO_OWN */
} iso_parameter_role;

/* A parameter of a kernel. */
typedef struct iso_parameter {
    uint32_t size;
    iso_parameter_role role;   /* how it is declared */
    int32_t argument;          /* its index among the arguments of a launch; -1: it is none */
    int32_t bytes;             /* of the value, or of an element */
    int64_t count;             /* SHARED: elements, or 0 if the launch gives them; else 0 */
    char name[ISO_NAME_MAX];   /* as declared */
    char type[ISO_NAME_MAX];   /* "f32", "i32x4", or a struct's name */
    char extent[ISO_NOTE_MAX]; /* the text in ISO_EXTENT; "": none */
} iso_parameter;
#define ISO_PARAMETER_INIT ISO_INIT_OF(iso_parameter)

/* The index-th parameter, from 0. NOT_READY: there are no more. */
ISO_API iso_status iso_kernel_get_parameter(iso_kernel kernel, int32_t index, iso_parameter *out);

/* What an argument of a launch is. */
typedef enum iso_argument_kind {
    ISO_ARGUMENT_INTEGER = 1, /* for i8 to i64 and u8 to u64, if the type has the value */
    ISO_ARGUMENT_FLOAT = 2,   /* for f32, to which it is rounded, and f64 */
    ISO_ARGUMENT_BUFFER = 3,  /* for buffers; the offset is a multiple of the element's size */
    ISO_ARGUMENT_BYTES = 4    /* for any value, vectors too: its exact bytes */
} iso_argument_kind;

/* An argument of a launch; the functions below make one. */
typedef struct iso_argument {
    int64_t integer;        /* INTEGER: the value; BYTES: how many */
    double number;          /* FLOAT: the value */
    const void *bytes;      /* BYTES: read during the call */
    iso_operand buffer;     /* BUFFER: where its first element is */
    iso_argument_kind kind; /* which of these it is */
} iso_argument;

/* An argument for a parameter that is an integer. */
static inline iso_argument iso_arg_integer(int64_t value)
{
    iso_argument made = {0, 0, 0, {{0}, 0}, ISO_ARGUMENT_INTEGER};
    made.integer = value;
    return made;
}

/* An argument for a parameter of type f32 or f64. */
static inline iso_argument iso_arg_float(double value)
{
    iso_argument made = {0, 0, 0, {{0}, 0}, ISO_ARGUMENT_FLOAT};
    made.number = value;
    return made;
}

/* An argument for a parameter that is a buffer. */
static inline iso_argument iso_arg_buffer(iso_operand buffer)
{
    iso_argument made = {0, 0, 0, {{0}, 0}, ISO_ARGUMENT_BUFFER};
    made.buffer = buffer;
    return made;
}

/* An argument for a value of any type, by its bytes. */
static inline iso_argument iso_arg_bytes(const void *bytes, int64_t count)
{
    iso_argument made = {0, 0, 0, {{0}, 0}, ISO_ARGUMENT_BYTES};
    made.bytes = bytes;
    made.integer = count;
    return made;
}

/* Groups along each axis. */
typedef struct iso_groups {
    int64_t x, y, z; /* 0 or more */
} iso_groups;

/*
 * Submits a launch. The arguments are the kernel's parameters in order, without own values and
 * without shared arrays of a fixed size; a shared array that the launch sizes takes its count, an
 * integer. With 0 groups nothing runs. The program is compiled already: no launch compiles.
 *
 * INVALID: negative groups, or 2^31 and more in all; a wrong number or kind of arguments; a value
 * that its parameter's type does not have; a buffer that is misaligned, ends before its extent, may
 * not be written, or shares bytes with one that the kernel writes (a buffer without ISO_EXTENT
 * counts to its end). The message names the parameter. MISMATCH: a buffer, the program and the
 * stream do not belong to one device. NOT_READY: only the program's declarations were read.
 */
ISO_API iso_status iso_launch(iso_stream stream, iso_kernel kernel, iso_groups groups,
                              const iso_argument *arguments, int32_t count);

/*
 * The elements that parameter `index` must have, by its ISO_EXTENT, in a launch with these
 * arguments; -1: none are stated. Arguments that are no integers are not looked at.
 */
ISO_API iso_status iso_kernel_get_extent(iso_kernel kernel, int32_t index,
                                         const iso_argument *arguments, int32_t count,
                                         int64_t *elements);

/*
 * The value of an expression, such as "(n + 255) / 256", in a launch with these arguments. It has
 * the names of integer parameters, numbers, the text's macros, + - * / % << >> and ( ).
 *
 * INVALID: it is no such expression, divides by 0, or leaves the range of int64_t.
 */
ISO_API iso_status iso_kernel_evaluate(iso_kernel kernel, const char *expression,
                                       const iso_argument *arguments, int32_t count,
                                       int64_t *value);

ISO_END_DECLS

#endif
