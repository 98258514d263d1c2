/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - shared by the parts of isomer-try. Each backend that has code to try adds a part: a
 * function that gets the words after its name. A part never runs in a caller's process. */
#ifndef ISOMER_TRIAL_CHILD_H
#define ISOMER_TRIAL_CHILD_H

#include <isomer/types.h>

#include <stddef.h>

typedef enum child_answer {
    CHILD_GOOD,
    CHILD_BAD,   /* child_say has reported why */
    CHILD_CANNOT /* the words are invalid, or something needed is missing */
} child_answer;

typedef child_answer (*child_part)(int count, char **words);

/* Prints the reason of a failure, as a line for the parent. */
void child_say(const char *format, ...) ISO_PRINTF(1, 2);
/* Prints the next step. If the process ends in that step, the parent knows the step from this
 * line. */
void child_at(const char *format, ...) ISO_PRINTF(1, 2);

typedef struct child_symbol {
    const char *name;
    void *at; /* the function pointer that is filled */
} child_symbol;

/* Opens the library and fills the pointers of all these functions. If that fails, calls child_say
 * and returns NULL. */
void *child_open(const char *path, const child_symbol *symbols, size_t count);

/* backends/NAME/try.c */
child_answer hip_try(int count, char **words);
child_answer openmp_try(int count, char **words);
child_answer opencl_try(int count, char **words);

#endif
