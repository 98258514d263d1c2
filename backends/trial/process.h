/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - starts isomer-try and reads its output until it ends or its time is up. */
#ifndef ISOMER_TRIAL_PROCESS_H
#define ISOMER_TRIAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct process_end {
    bool in_time;
    bool known; /* `status` is valid; it is not if the program ignores its children's status */
    int status; /* as from waitpid */
} process_end;

/* The program's absolute path: beside this library in a build, or at its installed place relative
 * to the library, which may have been moved. False: `path` is the last place that was tried. */
bool process_find(char *path, size_t capacity);

/* `words` ends with NULL and begins with the path. `said` gets the program's output, or the last
 * part of a long one. 0, or an errno value: it did not start. */
int process_run(char *const *words, int seconds, char *said, size_t capacity, process_end *end);

/* The real path of the file that holds this code. */
const char *process_library(void);

#endif
