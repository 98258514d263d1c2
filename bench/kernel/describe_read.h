/* SPDX-License-Identifier: Apache-2.0 */
/* describe_read.h - what the files that read descriptions share. */
#ifndef ISOMER_KERNEL_DESCRIBE_READ_H
#define ISOMER_KERNEL_DESCRIBE_READ_H

#include "bench/kernel/describe.h"

/* The place in the file: "kernels[0].sizes[1].n". */
typedef struct describe_reader {
    const char *path;
    iso_device device;
    describe_file *file;
    const iso_macro *defines;
    int32_t define_count;
    char place[512];
} describe_reader;

/* Goes to a member, and back to the length that the call returned. */
size_t describe_enter(describe_reader *r, const char *format, ...) ISO_PRINTF(2, 3);
void describe_leave(describe_reader *r, size_t before);
/* Prints "FILE: PLACE: ..." and returns TOOL_USAGE. */
int describe_wrong(const describe_reader *r, const char *format, ...) ISO_PRINTF(2, 3);
/* Refuses members that are not in the list. */
int describe_members(describe_reader *r, const json_t *object, const char *const *known);
/* A value as JSON text, cut to a readable length. */
const char *describe_shown(const json_t *value, char *text, size_t room);

/* ---- describe_value.c ------------------------------------------------------------------------ */

/* Sets the type of a parameter from its name. */
void describe_type(describe_parameter *parameter);
/* Sets a value's argument. */
int describe_argument(describe_reader *r, const json_t *value, describe_parameter *parameter,
                      iso_argument *out);
/* Reads a number, or an expression of the kernel's integer parameters. */
int describe_amount(describe_reader *r, const json_t *value, const describe_case *item,
                    int64_t *out);
/* Reads what a buffer begins with. NULL: what it begins with by default. */
int describe_read_fill(describe_reader *r, const json_t *value, const describe_case *item,
                       describe_parameter *parameter);

/* ---- describe_case.c ------------------------------------------------------------------------- */

/* Makes a kernel's case for an object of values. */
int describe_make_case(describe_reader *r, const describe_kernel *kernel, json_t *values,
                       describe_case *out);
void describe_free_case(describe_case *item);
/* Checks the members of a kernel's "arguments", "inputs" and "elements". */
int describe_check_names(describe_reader *r, const describe_kernel *kernel);

#endif
