/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - tries code that may crash or hang the process. A separate process runs it first, so
 * that the caller's process can avoid code that fails. */
#ifndef ISOMER_TRIAL_H
#define ISOMER_TRIAL_H

#include <isomer/backend.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum trial_verdict {
    TRIAL_GOOD,    /* it succeeded */
    TRIAL_BAD,     /* it failed, crashed or did not end in time */
    TRIAL_NOT_MADE /* the program is missing, or did not start */
} trial_verdict;

enum {
    TRIAL_KEEP_GOOD = 1, /* keep a good verdict in the program cache */
    TRIAL_KEEP_BAD = 2,  /* keep a bad verdict there */
    TRIAL_KEEP_HERE = 4, /* keep any verdict until this process ends */
    TRIAL_WHOLE = 8      /* the program must also end normally after its last line */
};

/* How many more bytes of address space and of data this process could use when this was measured;
 * -1 if there is no limit. */
typedef struct trial_room {
    int64_t left[2];
} trial_room;

typedef struct trial {
    const iso_host *host;
    const char *const *arguments; /* of isomer-try: the name of a part, then that part's arguments;
                                     ends with NULL */
    const char *besides; /* what else a stored verdict depends on, such as files and the library's
                            version */
    int seconds;         /* time limit; 0: ISOMER_TRIAL_SECONDS */
    unsigned flags;
    const trial_room *room; /* what the trial may use; NULL: what this process can use now */
} trial;

/* Runs the trial, unless its verdict is stored. `why` is "" if the verdict is TRIAL_GOOD. */
trial_verdict trial_make(const trial *what, char *why, size_t capacity);

/*
 * Whether the address space or the data of this process is limited (RLIMIT_AS, RLIMIT_DATA). Writes
 * a text with the limits. Under limits, a trial gets only the memory that this process can still
 * use, and its verdict is kept only in this process.
 */
bool trial_limited(char *text, size_t capacity);
trial_room trial_room_now(void);

/* How many of `wanted` additional threads the system grants now. */
int trial_threads(int wanted);

/* The absolute path of this library, which a trial may open; "" if it is not known. */
const char *trial_library(void);

#endif
