/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - runs code that may end or hang a process in a separate process before the caller's
 * process runs it. */
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
    TRIAL_KEEP_GOOD = 1, /* in the program cache */
    TRIAL_KEEP_BAD = 2,
    TRIAL_KEEP_HERE = 4, /* until this process ends */
    TRIAL_WHOLE = 8      /* the program must also end normally after its last line */
};

/* What the limits of address space and data leave to this process at some time; -1: no limit. */
typedef struct trial_room {
    int64_t left[2];
} trial_room;

typedef struct trial {
    const iso_host *host;
    const char *const *arguments; /* of isomer-try: a part's name and its words; ends with NULL */
    const char *besides; /* what a stored verdict depends on besides the arguments, such as files
                            and the library's version */
    int seconds;         /* time limit; 0: ISOMER_TRIAL_SECONDS */
    unsigned flags;
    const trial_room *room; /* memory of the trial; NULL: what this process has now */
} trial;

/* `why` is "" if the verdict is TRIAL_GOOD. */
trial_verdict trial_make(const trial *what, char *why, size_t capacity);

/*
 * Whether the process's address space or data is limited (RLIMIT_AS, RLIMIT_DATA), and a text with
 * the limits. A trial runs with what they leave to this process now; its verdict is then kept only
 * for this process.
 */
bool trial_limited(char *text, size_t capacity);
trial_room trial_room_now(void);

/* How many of `wanted` further threads the system grants at this moment. */
int trial_threads(int wanted);

/* The absolute path of this library, which a trial may open; "" if it is not known. */
const char *trial_library(void);

#endif
