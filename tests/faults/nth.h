/* SPDX-License-Identifier: Apache-2.0 */
/* nth.h - a session of public calls, and what each of them answered. */
#ifndef NTH_H
#define NTH_H

#include <isomer/isomer.h>

#include <stdbool.h>

enum { NTH_STEPS = 160, NTH_NAME = 64 };

/* What the steps of a session answer where nothing fails; made by a first one. */
typedef struct nth_record {
    int count;
    bool known; /* a later session is held against it */
    struct {
        char name[NTH_NAME];
        iso_status status;
        uint64_t value; /* of what the call gave, where that is the same every time */
    } steps[NTH_STEPS];
} nth_record;

typedef struct nth_session {
    const char *spec;
    nth_record *record;
    bool onwards; /* all later allocations fail: the session ends at the first that is missed */
    int failed;   /* calls that answered NO_MEMORY */
    char problem[1024]; /* what was wrong; "" nothing */
} nth_session;

/* Every step answers as it is recorded, or NO_MEMORY with a text. With one failed allocation the
 * step is made again, and has to succeed. */
void nth_run(nth_session *session);

#endif
