/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - starts isomer-try, or another program, and reads its output until it ends or its time
 * is up. */
#ifndef ISOMER_TRIAL_PROCESS_H
#define ISOMER_TRIAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct process_end {
    bool in_time;
    bool known; /* `status` is valid; it is not if this process ignores SIGCHLD */
    int status; /* as from waitpid */
} process_end;

/* Finds the program's absolute path. In a build, the program is beside this library. In an
 * installation, it is at a fixed place relative to the library, so that the installation can be
 * moved. If the program is at neither place, returns false, and `path` is the last place that was
 * tried. */
bool process_find(char *path, size_t capacity);

/* Runs the program. `words` begins with its path and ends with NULL. `said` gets its output, or the
 * last part of a long output. Returns 0, or an errno value if the program did not start. */
int process_run(char *const *words, int seconds, char *said, size_t capacity, process_end *end);

/* The real path of the library's file, which contains this code. */
const char *process_library(void);

#endif
