/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - `isomer bench --comm`: what calls of communicators, copies between devices and products
 * over ranks take.
 *
 * Every process of a world runs the same steps in the same order, so whatever decides about them (a
 * time, a number of calls, whether a check failed) is shared first. Only the process of rank 0
 * shows and writes results.
 */
#ifndef ISOMER_BENCH_SCALE_H
#define ISOMER_BENCH_SCALE_H

#include "bench/comm/comm.h"
#include "bench/ops/ops.h"
#include "bench/ranks/ranks.h"

enum { SCALE_LIST = 64, SCALE_SAMPLES = 64, SCALE_ALONE = 16, SCALE_REASON = 512 };

/* What is moved: a row of elements for each rank, which repeats after a prime number of them. So
 * every result is known without an array of its size. */
typedef struct scale_data {
    iso_dtype dtype;
    int64_t element;
    int32_t ranks;
    bool exact;                 /* so are sums of all rows, in any order */
    unsigned char *base, *sums; /* one period: of row 0, and of the sums of all rows */
} scale_data;

/* The memory and events of a rank of this process. */
typedef struct scale_memory {
    iso_buffer from, to;
    int64_t bytes; /* of each */
    iso_event begin, end;
    unsigned char *stage; /* host memory that the device copies fast */
} scale_memory;

struct scale_run {
    const scale_options *options;
    ranks_team *team;
    int32_t ranks; /* of the communicator now */
    int32_t counts[SCALE_LIST], count_count;
    tool_words ops, variants;
    iso_dtype dtypes[8];
    int32_t dtype_count;
    int64_t sizes[SCALE_LIST];
    int32_t size_count;
    int64_t memory; /* of products in host memory; 0: parts are on devices */
    scale_data data;
    scale_memory memories[RANKS_MOST];
    json_t *root, *entries, *fits, *devices;
    tool_file *file;         /* gets the document now and then; NULL: none */
    double began;            /* in seconds, by the clock of this process */
    bool stopped;            /* the user stopped the run, on any rank */
    bool over;               /* it was stopped, or the communicator is gone */
    char lost[SCALE_REASON]; /* why the communicator is gone */
};

/* Products over ranks are of these types. */
static inline bool scale_multiplies(iso_dtype dtype)
{
    return dtype == ISO_F32 || dtype == ISO_F64;
}

/* ---- command.c ------------------------------------------------------------------------------- */

void scale_keep(const scale_run *run);                       /* writes what there is so far */
bool scale_wants(const tool_words *words, const char *word); /* it is listed, or nothing is */

/* ---- share.c: what all processes know -------------------------------------------------------- */

/* The communicator has failed, and the library's last error says why: the run is over. */
void scale_lose(scale_run *run);

/* The greatest of the numbers of all ranks; `mine` has those of this process. NaN: it is not known,
 * and the run is over. */
double scale_most(scale_run *run, const double *mine);
/* Seconds of the run, by the latest rank. Whatever depends on the time asks here, so that all ranks
 * decide alike. If the user has stopped a rank, the run is over on all of them. */
double scale_now(scale_run *run);
/* How the parts of the ranks ended: the first that is not ok. `status` is shared as a number. */
typedef struct scale_outcome {
    int64_t status; /* bench_status */
    uint64_t digest[2];
    char reason[SCALE_REASON];
} scale_outcome;
/* Replaces outcome `mine[0]` by the worst of all ranks, with a digest of all digests. False: it is
 * not ok. */
bool scale_agree(scale_run *run, scale_outcome *mine);
/* Notes how ranks_run ended: sets the outcome of each rank whose call failed. */
void scale_note(scale_run *run, const char *what, scale_outcome *mine);
int32_t scale_here(const scale_run *run); /* the ranks of this process */
int32_t scale_number(const scale_run *run, const ranks_seat *seat);

/* ---- entry.c: members of "comm" -------------------------------------------------------------- */

/* Times of calls in nanoseconds, of the slowest rank. */
typedef struct scale_times {
    const char *clock; /* "device", "host" */
    double samples[SCALE_SAMPLES];
    int32_t count, calls; /* calls of a sample */
    double host;          /* the median by the host's clock */
    double alone;         /* of one call and the wait for it; NaN: not measured */
} scale_times;

json_t *scale_entry(const scale_run *run, const char *op, const char *variant, iso_dtype dtype,
                    int64_t bytes, int32_t ranks);
void scale_set_outcome(json_t *entry, const scale_outcome *outcome, const char *method);
void scale_set_times(json_t *entry, const scale_times *times);
void scale_skip(json_t *entry, const char *format, ...) ISO_PRINTF(2, 3);
/* The time that nccl-tests count a call's bytes against: bus bandwidth by algorithm bandwidth. */
double scale_bus(const char *op, int32_t ranks);
/* Adds the fits of all series. */
void scale_fit(const json_t *entries, json_t *fits);
/* Adds another program's figures. Returns an exit code. */
int scale_beside(const char *path, json_t *entries);

/* ---- data.c ---------------------------------------------------------------------------------- */

bool scale_data_make(scale_data *data, iso_dtype dtype, int32_t ranks, uint64_t seed);
void scale_data_free(scale_data *data);
/* Where a row begins in the period. */
int64_t scale_row(int32_t rank);
/* Writes a row from its first element on. */
iso_status scale_upload(const scale_data *data, const ranks_seat *seat, iso_buffer to,
                        int64_t bytes);
/* Compares `count` elements at `to` with a period of `table` that begins at `first`, and adds them
 * to the digest. */
typedef struct scale_part {
    const unsigned char *table;
    int64_t first, count;
} scale_part;
bool scale_compare(const scale_data *data, const ranks_seat *seat, scale_memory *memory,
                   int64_t offset, const scale_part *part, scale_outcome *outcome);
/* Gives every rank memory for arrays of so many bytes, with its row in `from`. */
bool scale_need(scale_run *run, int64_t bytes, scale_outcome *outcome);
void scale_release(scale_run *run);

/* ---- samples.c ------------------------------------------------------------------------------- */

/* Sets how many calls a sample has, and how many samples there are, if a call takes so many
 * seconds. */
void scale_plan(const scale_run *run, double seconds, double slice, int32_t calls_most,
                int32_t samples_least, scale_times *times);
/* The greatest of all ranks, for each of `count` numbers. `mine` has `width` numbers of each rank
 * of this process. False: the outcome says why they are not known. */
bool scale_slowest(scale_run *run, const void *mine, int32_t width, int32_t count, double *out,
                   scale_outcome *outcome);
/* Sets the times of the slowest rank from those of this process. `device` (NULL: the host's clock
 * counts) may have no times. False: as above. */
bool scale_collect(scale_run *run, double (*device)[SCALE_SAMPLES], double (*host)[SCALE_SAMPLES],
                   scale_times *times, scale_outcome *outcome);

/* ---- call.c, copy.c, moves.c, scaling.c ------------------------------------------------------ */

typedef struct scale_case {
    scale_run *run;
    iso_comm_op op;
    iso_comm_sum sum;
    bool in_place;
    bool ring;        /* of ISO_COMM_SEND: every rank sends to the next, all at once */
    int32_t from, to; /* of ISO_COMM_SEND */
    int64_t count, bytes;
    /* How it is timed. */
    double slice; /* seconds for this case */
    scale_times times;
    int32_t alone; /* samples of one call */
    double (*device)[SCALE_SAMPLES], (*host)[SCALE_SAMPLES], (*single)[SCALE_ALONE];
    scale_outcome *outcomes;
} scale_case;

/* The op of an entry. */
const char *scale_name(iso_comm_op op, bool ring);
/* Measures a call, and adds its entry. */
json_t *scale_call(scale_case *of);
/* Measures a copy from one device of this process to another. */
void scale_copy(scale_case *of);
void scale_moves(scale_run *run, double until);
void scale_links(scale_run *run, double until);
void scale_products(scale_run *run, double until);
/* The memory that each rank may use, if none is in use: its share of the device's, or of
 * ISOMER_MEMORY_LIMIT. */
int64_t scale_memory_of(scale_run *run);
/* Makes the communicator again if it failed. If that cannot be, the run is over. */
void scale_mend(scale_run *run);

#endif
