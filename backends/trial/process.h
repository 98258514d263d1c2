/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - starts isomer-try and listens to it until it ends or its time is up. */
#ifndef ISOMER_TRIAL_PROCESS_H
#define ISOMER_TRIAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct process_end {
    bool in_time;
    bool known; /* `status` is there: a program may have said that it waits for no child */
    int status; /* as waitpid gives it */
} process_end;

/* The program's path, absolute: beside this library, as a build leaves it; where the installation
 * puts it, seen from the library, which may have been moved. False: `path` is the last place that
 * was looked at. */
bool process_find(char *path, size_t capacity);

/* `words` ends with NULL and begins with the path. `said` gets what the program writes, of a long
 * text the last part. 0, or an errno value: it did not start. */
int process_run(char *const *words, int seconds, char *said, size_t capacity, process_end *end);

/* The real path of the file that holds this code. */
const char *process_library(void);

#endif
