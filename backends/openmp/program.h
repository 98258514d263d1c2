/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - declarations shared by the files that build and run the program's own kernels. */
#ifndef ISOMER_OPENMP_PROGRAM_H
#define ISOMER_OPENMP_PROGRAM_H

#include "backends/openmp/runtime.h"

/* ---- program_build.c: the C compiler --------------------------------------------------------- */

/* A program of which nothing is built yet. */
typedef struct cpu_build {
    const iso_program_source *source;
    const char *compiler; /* absolute path */
    const char *identity; /* its version, in its words */
    const char *flags;    /* for the instruction set: words separated by blanks */
} cpu_build;

/* Finds the compiler. UNSUPPORTED if there is none that can be used. */
iso_status cpu_build_begin(const cpu_kernels *set, const iso_program_source *source,
                           cpu_build *out);
/* The key of the program cache, in a block from alloc(). NULL: no memory. */
char *cpu_build_key(const cpu_build *build);
/* Compiles to a shared object: a block from alloc(). */
iso_status cpu_build_compile(const cpu_build *build, void **binary, int64_t *bytes);

/* Creates a folder that only this user can access, and deletes it with its files. */
enum { CPU_FOLDER_MAX = 1024 };
iso_status cpu_folder_make(char *folder, size_t capacity);
void cpu_folder_delete(const char *folder);
/* Writes a new file. Returns 0 or an errno value. */
int cpu_file_write(const char *path, const void *data, size_t bytes);

#endif
