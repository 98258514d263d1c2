/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - a compiled text of the kernel language. */
#ifndef ISOMER_CORE_KERNEL_KERNEL_H
#define ISOMER_CORE_KERNEL_KERNEL_H

#include "core/kernel/generate.h"
#include "core/stream.h"

#include <isomer/program.h>

/* What a launch passes to the backend: the groups, and two for each buffer. One place is left for
 * the memory of arrays that the launch sizes. Every OpenCL device takes so many bytes. */
enum { PROGRAM_ARGS_MAX = 31, PROGRAM_ARGS_BYTES = 1024 };

typedef struct core_program {
    core_child child;
    void *handle; /* the backend's */
    kernel_file file;
    kernel_macro *macros; /* with their texts, in one block; for extents */
    int32_t macro_count;
    char *name, *text;
    _Atomic uint64_t used_by; /* bits of streams that may have a launch of it */
} core_program;

/* Whether the argument of a value parameter is an integer, as a number or as bytes, that an extent
 * can use. */
bool kernel_read_integer(const kernel_param *param, const iso_argument *given, int64_t *value);

/* Called after the handle was retired: waits for launches and frees the program. */
void core_program_finish(core_program *program);

#endif
