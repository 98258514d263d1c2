/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h - what the files of the soak test share: random numbers, checks, and the three kinds of
 * calls: right ones whose results are known, wrong ones, and those that meet other threads'. */
#ifndef ISOMER_TESTS_SOAK_H
#define ISOMER_TESTS_SOAK_H

#include <isomer/isomer.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same numbers for the same seed, on every machine. */
typedef struct soak_random {
    uint64_t state;
} soak_random;

uint64_t soak_next(soak_random *random);
int soak_below(soak_random *random, int limit);

/* Says which seed repeats this, and ends the process. */
_Noreturn void soak_failed(const char *file, int line, const char *what, iso_status status);

#define SOAK_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            soak_failed(__FILE__, __LINE__, #condition, ISO_OK);                                   \
        }                                                                                          \
    } while (0)

/* `allowed` has the bit of each status that may come back: SOAK(INVALID) | SOAK(OK). A failure has
 * a text. */
#define SOAK(name)               (1u << ISO_##name)
#define SOAK_CALL(call, allowed) soak_judge((call), (allowed), __FILE__, __LINE__, #call)
#define SOAK_OK(call)            ((void)SOAK_CALL(call, SOAK(OK)))
iso_status soak_judge(iso_status status, unsigned allowed, const char *file, int line,
                      const char *what);

extern const char *soak_spec; /* of the device */
extern atomic_llong soak_calls;

/* ---- own.c: a thread's own device, whose memory has a copy on the host ----------------------- */

typedef struct soak_own soak_own;
soak_own *soak_own_open(uint64_t seed);
/* One command, or a look at what they did. */
void soak_own_step(soak_own *own);
/* Checks all memory and closes. */
void soak_own_close(soak_own *own);
/* Has the work done that was submitted. */
void soak_own_settle(soak_own *own);
/* After a fork: no handle of the parent's is one here. */
void soak_own_forked(soak_own *own);

/* ---- wrong.c: calls that break a rule -------------------------------------------------------- */

void soak_wrong_step(soak_own *own, soak_random *random);

/* ---- shared.c: handles that all threads create, use and destroy ------------------------------ */

void soak_shared_open(void);
void soak_shared_step(soak_random *random);
void soak_shared_close(void);

/* What wrong.c needs of a thread's own. */
typedef struct soak_view {
    iso_device device, other; /* two handles to one device */
    iso_stream stream;
    iso_buffer buffer, others; /* of the one device, and of the other */
    iso_event event;
    uint64_t stale[4]; /* a device, a stream, an event and a buffer that were destroyed; or 0 */
    int64_t bytes;     /* of the buffer */
} soak_view;
const soak_view *soak_own_view(soak_own *own);

#endif
