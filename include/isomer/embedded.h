/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.h - kernels that a build compiled into the program: the text, for GPUs, and for CPUs the
 * functions of each instruction set. `isomer kernel embed` makes such a table; programs only pass
 * it on, in iso_program_args (isomer/program.h).
 */
#ifndef ISOMER_EMBEDDED_H
#define ISOMER_EMBEDDED_H

#include <stdint.h>

/* How the library calls the functions and lays out their arguments and scratch memory. A table is
 * used only by a library with the same number. */
#define ISO_EMBEDDED_LAYOUT 1

/* A macro that is defined before the text. */
typedef struct iso_macro {
    const char *name;  /* without parameters */
    const char *value; /* what it stands for */
} iso_macro;

/* Runs the groups from `first` up to `end`. */
typedef void (*iso_embedded_entry)(const void *const *args, int64_t first, int64_t end,
                                   char *scratch);

/* The functions for one instruction set. */
typedef struct iso_embedded_set {
    const char *name;                  /* of the instruction set, as in ISOMER_CPU_ISA */
    const iso_embedded_entry *entries; /* one for each kernel */
} iso_embedded_set;

/* A table of kernels that a build compiled. */
typedef struct iso_embedded {
    uint32_t size;
    uint32_t layout;              /* ISO_EMBEDDED_LAYOUT */
    const char *name;             /* of the text, in messages */
    const char *text;             /* the kernels, in the language of kernel.h */
    const iso_macro *macros;      /* with which it was built */
    const iso_embedded_set *sets; /* set_count of them */
    int32_t macro_count;          /* how many macros */
    int32_t set_count;            /* how many sets */
    int32_t entry_count;          /* of each set: the kernels of the text in their order */
} iso_embedded;

#endif
