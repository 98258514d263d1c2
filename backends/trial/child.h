/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - what the parts of isomer-try share. Each backend that has something to try brings a
 * part: a function that is called with the words behind its name, and never runs in a caller's
 * process. */
#ifndef ISOMER_TRIAL_CHILD_H
#define ISOMER_TRIAL_CHILD_H

#include <isomer/types.h>

#include <stddef.h>

typedef enum child_answer {
    CHILD_GOOD,
    CHILD_BAD,   /* child_say has told why */
    CHILD_CANNOT /* the words make no sense, or what is needed is not there */
} child_answer;

typedef child_answer (*child_part)(int count, char **words);

/* The reason of a failure: a line for the parent. */
void child_say(const char *format, ...) ISO_PRINTF(1, 2);
/* What is done next, for the parent to know if it is the last thing that was done. */
void child_at(const char *format, ...) ISO_PRINTF(1, 2);

typedef struct child_symbol {
    const char *name;
    void *at; /* the function pointer that it goes into */
} child_symbol;

/* The library with all these functions in their places; NULL after child_say. */
void *child_open(const char *path, const child_symbol *symbols, size_t count);

/* backends/NAME/try.c */
child_answer hip_try(int count, char **words);
child_answer openmp_try(int count, char **words);
child_answer opencl_try(int count, char **words);

#endif
