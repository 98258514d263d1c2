/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.h - what compilers get for a text of the kernel language: the language's own header, the
 * text with the library's parameter and constants in each kernel, and an entry function for each.
 * Lines keep their numbers.
 *
 * On a GPU the entry of kernel NAME is iso_kernel_NAME(place, ...). A value is one argument, a
 * buffer an address, or in OpenCL a handle and the offset in elements; an array that the launch
 * sizes is one, its count. On a CPU it is
 *
 *   void iso_kernel_NAME(const void *const *args, int64_t first, int64_t end, char *scratch)
 *
 * which runs the groups from `first` up to `end`; args[i] points to an argument, and the shared
 * arrays and the items' own values are in the scratch memory, which is aligned to 64 bytes.
 *
 * Programs embed such functions when they are built. A change of their arguments, or of how their
 * scratch memory is laid out, raises ISO_EMBEDDED_LAYOUT (isomer/embedded.h).
 */
#ifndef ISOMER_CORE_KERNEL_GENERATE_H
#define ISOMER_CORE_KERNEL_GENERATE_H

#include "core/kernel/declare.h"

/* Before a launch's own arguments a CPU's entry has the members of its place (iso_program_place in
 * backend.h). */
enum { KERNEL_AXES = 3, KERNEL_ARGS_BEFORE = 5, KERNEL_ALIGN = 64 };

/* Bytes of scratch memory that a group needs on a CPU, without arrays that a launch sizes. */
int64_t kernel_scratch(const kernel_decl *kernel);
/* Bytes of an array that a launch gives `count` elements, with what aligns the next one. */
int64_t kernel_sized(const kernel_param *param, int64_t count);
/* Arguments of the entry on a GPU, and in args; and their bytes. */
int32_t kernel_arg_count(const kernel_decl *kernel);
int64_t kernel_arg_bytes(const kernel_decl *kernel);

/* `name` is the text's name in messages of compilers. The result is a core_text. */
void kernel_generate(const kernel_file *file, const char *name, const char *text,
                     const kernel_macro *macros, int32_t macro_count, core_text *out);

#endif
