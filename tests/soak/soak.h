/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h - declarations shared by the files of the soak test: random numbers, checks, and the three
 * kinds of calls: valid ones with known results, invalid ones, and those that race with other
 * threads. */
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

/* Prints the seed that repeats this, and ends the process. */
_Noreturn void soak_failed(const char *file, int line, const char *what, iso_status status);

#define SOAK_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            soak_failed(__FILE__, __LINE__, #condition, ISO_OK);                                   \
        }                                                                                          \
    } while (0)

/* `allowed` has the bit of each status that may be returned: SOAK(INVALID) | SOAK(OK). A failure
 * has a text. */
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
/* One command, or a check of earlier results. */
void soak_own_step(soak_own *own);
/* Checks all memory and closes. */
void soak_own_close(soak_own *own);
/* Waits for all submitted work. */
void soak_own_settle(soak_own *own);
/* After a fork: no handle of the parent is valid here. */
void soak_own_forked(soak_own *own);

/* ---- wrong.c: calls that break a rule -------------------------------------------------------- */

void soak_wrong_step(soak_own *own, soak_random *random);

/* ---- shared.c: handles that all threads create, use and destroy ------------------------------ */

void soak_shared_open(void);
void soak_shared_step(soak_random *random);
void soak_shared_close(void);

/* A thread's own objects that wrong.c needs. */
typedef struct soak_view {
    iso_device device, other; /* two handles to one device */
    iso_stream stream;
    iso_buffer buffer, others; /* of the device, and of the other */
    iso_event event;
    uint64_t stale[4]; /* a device, a stream, an event and a buffer that were destroyed; or 0 */
    int64_t bytes;     /* of the buffer */
} soak_view;
const soak_view *soak_own_view(soak_own *own);

#endif
