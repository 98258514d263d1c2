/* SPDX-License-Identifier: Apache-2.0 */
/* nth.h - a session of public calls, and the answer of each. */
#ifndef NTH_H
#define NTH_H

#include <isomer/isomer.h>

#include <stdbool.h>

enum { NTH_STEPS = 160, NTH_NAME = 64 };

/* The answers of a session's steps without failures; recorded by the first session. */
typedef struct nth_record {
    int count;
    bool known; /* later sessions are compared with it */
    struct {
        char name[NTH_NAME];
        iso_status status;
        uint64_t value; /* the call's result, if it is the same in every run */
    } steps[NTH_STEPS];
} nth_record;

typedef struct nth_session {
    const char *spec;
    nth_record *record;
    bool onwards;       /* all later allocations fail too: the session ends at the first failure */
    int failed;         /* calls that returned NO_MEMORY */
    char problem[1024]; /* what went wrong; "" if nothing */
} nth_session;

/* Every step must answer as recorded, or NO_MEMORY with a text. With one failed allocation the step
 * is repeated and must succeed. */
void nth_run(nth_session *session);

#endif
