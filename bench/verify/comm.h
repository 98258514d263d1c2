/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - what the files of `isomer verify --comm` share. */
#ifndef ISOMER_VERIFY_COMM_H
#define ISOMER_VERIFY_COMM_H

#include "bench/ranks/ranks.h"
#include "bench/verify/internal.h"

/* ---- comm_data.c: inputs, and what results must be ------------------------------------------- */

enum { COMM_CALLS = 6 }; /* the most calls of one kind in a case */

/* The data of a case, the same in every process. */
typedef struct comm_problem {
    const bench_case *item;
    int32_t calls;
    int64_t row;     /* elements of a row: of a rank's `from`, or of a term of `fixed` */
    int32_t rows;    /* ranks, or the terms of all ranks */
    int64_t results; /* elements of the sums of all ranks; 0: nothing is summed */
    bool exact;      /* results are compared bit by bit */
    verify_block inputs, sums, bounds;
} comm_problem;

/* False: no memory. */
bool comm_build(comm_problem *problem, const bench_case *item);
void comm_free(comm_problem *problem);
/* The first of a rank's terms. That of the rank behind the last is their number. */
int32_t comm_first_term(const comm_problem *problem, int32_t rank);

/* Where the operands of a rank lie in images of device memory. A call in place has one image. */
typedef struct comm_layout {
    int64_t from_bytes, to_bytes; /* 0: not used */
    int64_t from_at, to_at;       /* in the image */
    int64_t from_size, to_size;   /* of the image; from_size 0: `from` is in the image of `to` */
    int32_t terms;
    int64_t ld; /* elements between terms */
} comm_layout;

void comm_lay(const comm_problem *problem, int32_t rank, comm_layout *out);
/* Make the images before call number `call`, and that of `to` behind it, except for sums that are
 * not exact, whose place keeps what it had. */
void comm_image_from(const comm_problem *problem, const comm_layout *at, int32_t rank, int call,
                     unsigned char *image);
void comm_image_to(const comm_problem *problem, const comm_layout *at, int32_t rank, int call,
                   unsigned char *image);
void comm_image_want(const comm_problem *problem, const comm_layout *at, int32_t rank, int call,
                     unsigned char *image);
/* The bounds of a rank's sums that are not exact. */
const check_expected *comm_bounds(const comm_problem *problem, int32_t rank, int call);

/* ---- comm_case.c: one rank's part of a case -------------------------------------------------- */

/* How a rank's part ended. In a world it travels to the other ranks. */
typedef struct comm_outcome {
    int64_t status; /* bench_status */
    int64_t has_digest;
    uint64_t digest[2];
    double error, bound;
    char reason[BENCH_TEXT_MAX];
} comm_outcome;

typedef struct comm_case comm_case;

/* Memory of one rank. */
typedef struct comm_memory {
    iso_stream streams[3]; /* the second and third; the first is the seat's */
    iso_buffer store, history, work[COMM_CALLS], idle;
    int64_t bytes[COMM_CALLS + 3];
    verify_block store_image, history_image, want;
    bench_result *result;
} comm_memory;

struct comm_case {
    const comm_problem *problem;
    ranks_team *of;
    comm_memory *memories;  /* of each rank of this process */
    comm_outcome *outcomes; /* the same */
    iso_comm *second;       /* the other communicator; NULL: none */
    iso_event *events;      /* of all ranks of this process, for barriers; NULL: not looked at */
};

ranks_work comm_ask;     /* whether the call is supported */
ranks_work comm_refuse;  /* it is not, so the call must say so too */
ranks_work comm_prepare; /* uploads the images */
ranks_work comm_submit;  /* makes the calls */
ranks_work comm_judge;   /* waits, and checks results */
/* Makes the calls of all ranks as one group, from the calling thread. */
iso_status comm_submit_all(comm_case *of);
void comm_memory_free(comm_memory *memory);

/* ---- comm_run.c ------------------------------------------------------------------------------ */

/* Finds the numbers of ranks. This function and the next return an exit code. */
int comm_counts(verify_run *run);
int comm_open(verify_run *run);
int comm_run_cases(verify_run *run);
/* Sums that do not depend on the number of ranks must have the same bits for every number. Returns
 * how many there are, and their digest. */
int comm_compare(verify_run *run, uint64_t digest[2]);

/* ---- comm_report.c --------------------------------------------------------------------------- */

void comm_report(const verify_run *run, const verify_target *target);
void comm_report_fixed(const verify_run *run);
json_t *comm_json(const verify_run *run);

#endif
