/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - devices with streams and arrays, for the tests of a backend's engine (comm.c). They call
 * the backend's table as the core does. */
#ifndef ISOMER_TESTS_FAKES_COMM_H
#define ISOMER_TESTS_FAKES_COMM_H

#include <isomer/isomer.h>

#include <isomer/backend.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,         \
                    comm_text());                                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { RANKS_MOST = 4, ARRAY_BYTES = 1 << 20 };
#define SECONDS(n) ((int64_t)((n) * 1e9))

typedef struct side {
    void *device, *stream, *from, *to;
    void *rank; /* of the engine */
} side;

extern const iso_backend *comm_backend;
extern const iso_engine *comm_engine;
extern side comm_sides[RANKS_MOST];

/* The text of this thread's last failure. */
const char *comm_text(void);

/* Joins all of the first `ranks` sides. */
iso_status comm_join(int ranks, int64_t timeout);
void comm_leave_all(int ranks);
/* Writes or reads the beginning of a side's array, and waits. */
void comm_write(side *at, void *memory, const void *data, int64_t bytes);
void comm_read(side *at, void *memory, void *data, int64_t bytes);
void comm_sync(int ranks);
/* Submits the calls of `ranks` ranks: as a group, or each from a thread of its own. */
typedef enum comm_way { AS_GROUP, AS_THREADS } comm_way;
iso_status comm_submit(const iso_engine_call *calls, int ranks, comm_way way);
/* A call of a rank, from its array to its other array. */
iso_engine_call comm_call(int rank, iso_comm_op op, iso_dtype dtype, int64_t count);

/* comm_calls.c */
void comm_test_collectives(comm_way way);
void comm_test_messages(void);
void comm_test_order(void);

#endif
