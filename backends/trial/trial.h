/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - does in a process of its own, ahead of the caller's, what may end or stop a process. */
#ifndef ISOMER_TRIAL_H
#define ISOMER_TRIAL_H

#include <isomer/backend.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum trial_verdict {
    TRIAL_GOOD,    /* it went well */
    TRIAL_BAD,     /* it failed, crashed or did not end in time */
    TRIAL_NOT_MADE /* the program is not there, or did not start */
} trial_verdict;

enum {
    TRIAL_KEEP_GOOD = 1, /* in the program cache */
    TRIAL_KEEP_BAD = 2,
    TRIAL_KEEP_HERE = 4, /* for this process's life */
    TRIAL_WHOLE = 8      /* the program has to end well too, behind its last word */
};

/* What the limits of address space and of data left to this process at some time; -1: no limit. */
typedef struct trial_room {
    int64_t left[2];
} trial_room;

typedef struct trial {
    const iso_host *host;
    const char *const *arguments; /* of isomer-try: a part's name and its words; ends with NULL */
    const char *besides;          /* what a kept verdict depends on besides the arguments, the files
                                   * among them and the library's version */
    int seconds;                  /* at most; 0: what ISOMER_TRIAL_SECONDS says */
    unsigned flags;
    const trial_room *room; /* what the trial has; NULL: what this process has now */
} trial;

/* `why` is "" where the verdict is TRIAL_GOOD. */
trial_verdict trial_make(const trial *what, char *why, size_t capacity);

/*
 * Whether the process's address space or data is limited (RLIMIT_AS, RLIMIT_DATA), and the limits
 * in words. A trial runs under what they leave to this process now; its verdict is then kept for
 * this process alone.
 */
bool trial_limited(char *text, size_t capacity);
trial_room trial_room_now(void);

/* How many threads of `wanted` the system grants at this moment, beside those that there are. */
int trial_threads(int wanted);

/* The absolute path of this library, which a trial may open; "" where it is not known. */
const char *trial_library(void);

#endif
