/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - what the vendors' libraries for communicators do. Ranks meet in shared memory that the
 * communicator's id names, so they may be of one process or of several. As strict as NCCL: every
 * rank makes the same calls in the same order, calls wait in the order of their stream, and a rank
 * that does not arrive is awaited until the communicator is aborted. Sums go from the last rank to
 * the first.
 */
#ifndef ISOMER_TESTS_FAKES_RANKS_H
#define ISOMER_TESTS_FAKES_RANKS_H

#include "tests/fakes/engine.h"

enum { FAKE_RANKS_MAX = 16, FAKE_GROUP_MAX = 128 };

/* Results, numbered as the vendors do. */
enum {
    FAKE_RANKS_OK = 0,
    FAKE_RANKS_DRIVER = 1,
    FAKE_RANKS_SYSTEM = 2,
    FAKE_RANKS_INTERNAL = 3,
    FAKE_RANKS_ARGUMENT = 4,
    FAKE_RANKS_USAGE = 5,
    FAKE_RANKS_CODES = 8
};

typedef enum fake_call_kind {
    FAKE_BROADCAST = 1,
    FAKE_ALL_REDUCE,
    FAKE_REDUCE_SCATTER,
    FAKE_ALL_GATHER,
    FAKE_ALL_TO_ALL,
    FAKE_SEND,
    FAKE_RECEIVE
} fake_call_kind;

typedef struct fake_call {
    fake_call_kind kind;
    uint32_t type, reduce; /* as the vendors number them */
    int peer;              /* or the root */
    size_t count;
    const char *from;
    char *to;
} fake_call;

typedef struct fake_rank fake_rank;

/* Bytes of an element of a vendor's type; 0: there is no such type. */
size_t fake_rank_type_bytes(uint32_t type);

/* NULL: there is no shared memory. `name` is at most 63 characters. */
fake_rank *fake_rank_new(fake_context *context, const char *name, int ranks, int rank);
/* Arrives at the communicator; afterwards `join` waits for the others. */
int fake_rank_arrive(fake_rank *self);
int fake_rank_join(fake_rank *self);
/* This rank makes its first call; and waits until all ranks have made theirs. */
void fake_rank_present(fake_rank *self);
int fake_rank_connect(fake_rank *self);
/* Makes everything that waits end. */
void fake_rank_abort(fake_rank *self);
/* Waits for the rank's calls, and frees it. */
void fake_rank_free(fake_rank *self);
/* The error found since. */
int fake_rank_error(fake_rank *self);
fake_context *fake_rank_context(const fake_rank *self);
int fake_rank_count(const fake_rank *self);
/* Submits a collective call, or several sends and receives that progress together. */
int fake_rank_submit(fake_rank *self, fake_stream *stream, const fake_call *calls, int count);

#endif
