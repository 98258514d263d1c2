/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - shared by the files of this folder. */
#ifndef ISOMER_MEASURE_INTERNAL_H
#define ISOMER_MEASURE_INTERNAL_H

#include "bench/measure/measure.h"
#include "bench/record/record.h"

enum {
    MEASURE_PARTS = 4,      /* copy in, kernel, copy out, total */
    MEASURE_PART_VISITS = 3 /* how often the parts of a row are measured */
};

/* One sample. The times are nanoseconds per call. */
typedef struct measure_sample {
    double time;   /* by events on the stream; without them, the same as `host` */
    double host;   /* from the first submission to the end, by the host's clock */
    double submit; /* spent on submitting */
    int32_t round;
} measure_sample;

/* The energy of a case, or the power of a device at rest. */
typedef struct measure_energy {
    bool counted;   /* the device has a counter */
    double joules;  /* of a call; NaN: not measured */
    double watts;   /* NaN: not measured */
    double seconds; /* how long the window was */
    int64_t calls;  /* in the window */
    char source[2 * ISO_NAME_MAX + 8];
    char reason[ISO_NOTE_MAX + 128]; /* why it was not measured */
} measure_energy;

/* A case on a device, with one of its libraries. */
typedef struct measure_row {
    const bench_case *item;
    int32_t target, library;
    work_job *job;
    bench_result result;
    measure_sample *samples;
    int32_t count, room;
    int32_t rounds;  /* rounds that have a sample */
    int64_t calls;   /* calls in each sample */
    double estimate; /* nanoseconds of a call */
    /* Seconds: of a visit with one sample, of measuring its parts, of its last check. They are
     * estimated while the row is prepared; the first two are corrected in each visit. */
    double visit, moving, checking;
    double prepare, first;
    bool ahead; /* a crew member compiled the case and measured the two times above */
    /* Nanoseconds of a call in the last sample. It belongs to no round; its result is checked. */
    double closing;
    double parts[MEASURE_PART_VISITS][MEASURE_PARTS];
    int32_t part_count;
    bool host_clock;                          /* the device's events have no times */
    bool settled;                             /* its interval is narrow enough */
    bool wanted;                              /* noisy, or not yet decided between devices */
    bool held;                                /* it waits: the time left is for other rows */
    bool cut;                                 /* its device was lost during a visit to this row */
    double mhz_low, mhz_high, watts, celsius; /* over all visits; NaN: not known */
    uint32_t throttle;                        /* bits of ISO_THROTTLE_... over all visits */
    measure_energy *energy;                   /* NULL: not chosen */
} measure_row;

/* A device. */
typedef struct measure_device {
    iso_event start, stop;
    bool gpu;
    bool dead;
    int32_t chip;         /* the first target on the same chip */
    double worked;        /* of a chip: when its last sample ended; seconds */
    int32_t sensors;      /* the target whose sensors show this device; -1: none */
    measure_energy *idle; /* at rest; NULL: not asked for */
} measure_device;

typedef struct measure_state {
    const measure_plan *plan;
    measure_device *devices;
    measure_row *rows;
    int32_t count;
    int32_t *order;                    /* the order of the rows in a round */
    int32_t round;                     /* the first is 1 */
    double began;                      /* when preparing began, in seconds */
    double rounds_began, rounds_ended; /* in seconds; 0: not reached yet */
    double budget;                     /* seconds for the rounds */
    double compiled;                   /* seconds that the crew took */
    double seen, expected;             /* seconds that the last visits took, and should have */
    double need;                       /* seconds of the missing rounds, at `planned_at` */
    double planned_at;                 /* when the plan was last looked at */
    double planned;                    /* seconds that the plan expects the rounds to take */
    int32_t skipped;                   /* rows that the plan skipped before the first round */
    double saved;                      /* when the file was last written */
    const char *phase;                 /* the phase that was last shown, and when it began */
    double phase_began;
    double beat; /* when the last line was written that shows that the run is alive */
    bool kept;   /* the file has results */
    bool interrupted, lost;
    double energy_seconds; /* how long the phase of --energy took */
    int32_t pool;          /* the threads that the last visit used */
    record_noise noise;
} measure_state;

/* ---- ahead.c --------------------------------------------------------------------------------- */

/* Lets the crew compile what the rows need, and waits. */
void measure_ahead(measure_state *state);

/* ---- measure.c ------------------------------------------------------------------------------- */

/* Whether a row should be visited: it has a result, and its interval is still too wide. */
bool measure_active(const measure_state *state, const measure_row *row);

/* ---- order.c --------------------------------------------------------------------------------- */

/* Which threads of this process a row keeps busy: those of its device or, on a CPU, of the vendor's
 * library. */
int32_t measure_pool(const measure_state *state, const measure_row *row);
/* Finds, after a round, which rows are known well enough and which need rounds most. */
void measure_settle(measure_state *state);
/* Writes the rows of the next round to state->order, in their order, and returns how many there
 * are. */
int32_t measure_order(measure_state *state, uint64_t *random);

/* ---- plan.c ---------------------------------------------------------------------------------- */

/* A row as the plan sees it. */
typedef struct plan_row {
    int32_t row, item; /* rows of the same case, on several devices, have the same item */
    int32_t priority;  /* of its case: 0 is kept longest */
    double cost;       /* seconds */
    bool kept;         /* the answer */
} plan_row;

/* Decides which rows to keep so that they take at most `seconds`, and returns how long they take.
 * Sorts the rows. */
double measure_plan_fit(plan_row *rows, int32_t count, double seconds);

/* Skips the rows that have no time for their rounds, and says so. */
void measure_plan_make(measure_state *state);
/* Holds rows back if the missing rounds no longer fit into `left` seconds. */
void measure_plan_again(measure_state *state, double left);
/* Gives the rows that are held back another chance: the machine may be faster again. */
void measure_plan_release(measure_state *state);
/* Skips the rows that lack rounds now that the time is over. */
void measure_plan_end(measure_state *state);
void measure_skip(measure_row *row);

/* Seconds that the missing rounds of all rows will take. */
double measure_lacking(const measure_state *state);
/* Notes how many seconds a visit took, with one sample and without parts. */
void measure_pace(measure_state *state, measure_row *row, double seconds);
/* How many rows are kept, or skipped. */
int32_t measure_kept(const measure_state *state);
int32_t measure_skipped(const measure_state *state);

/* ---- pairs.c --------------------------------------------------------------------------------- */

/* Puts the rows of a case side by side in the order of the round, which has n rows, and leaves out
 * rows whose partner waits. Returns how many rows are left. */
int32_t measure_pair_up(measure_state *state, int32_t n);
/* Removes the samples of this round that have no partner, so that both rows of a case have the
 * same rounds. */
void measure_pair_even(measure_state *state);

/* ---- sample.c -------------------------------------------------------------------------------- */

/* Prepares a row, runs it once, checks the result, and chooses the number of calls in a sample. */
void measure_prepare(measure_state *state, measure_row *row);
/* Takes one sample, and more while they fit into `seconds`. */
void measure_visit(measure_state *state, measure_row *row, double seconds);
/* Takes one last sample and checks its result. */
void measure_close(measure_state *state, measure_row *row);
/* Keeps a GPU busy until its clock is steady. */
void measure_warm(measure_state *state, int32_t target);

/* ---- energy.c -------------------------------------------------------------------------------- */

/* Chooses rows, says how long it will take, and measures the power of the devices at rest and the
 * energy of the rows. */
void measure_energies(measure_state *state);
/* The member `energy` of a result, or `idle` of a device (`item` is NULL). */
json_t *measure_energy_json(const measure_energy *energy, const bench_case *item);

/* ---- result.c -------------------------------------------------------------------------------- */

/* Writes the medians of a row's rounds to `out`, which has room for row->rounds numbers, and
 * returns how many there are. They are by the host's clock if `host` is true, otherwise by the
 * row's own. */
int32_t measure_round_medians(const measure_row *row, double *out, bool host);

bool measure_has_times(const measure_row *row);

/* Whether the device's clock and the host's contradict each other: a device cannot work longer than
 * the host waits. It may work much shorter, but not by more than starting and waiting can
 * explain. */
bool measure_clock_wrong(const measure_row *row);

/* The whole document as it is now. */
json_t *measure_document(measure_state *state, bool finished);

/* ---- roof.c ---------------------------------------------------------------------------------- */

/* What limits a device: its memory at three mixes of reads and writes, and its arithmetic. */
enum {
    ROOF_READ,  /* only reads */
    ROOF_TRIAD, /* two reads for each write */
    ROOF_COPY,  /* one read for each write */
    ROOF_FMA_F32,
    ROOF_FMA_F64,
    ROOF_MATRIX_F16,
    ROOF_MATRIX_BF16,
    ROOF_MATRIX_TF32,
    ROOF_MATRIX_F64,
    MEASURE_ROOFS
};

typedef struct measure_roof {
    double value, low, high; /* GB/s or GFLOP/s; NaN: not known */
    const char *source, *by;
} measure_roof;

/* The memory's roof whose mix is nearest to these bytes; MEASURE_ROOFS: there are no bytes. */
int measure_mix(double read, double written);

/* Whether the caches may hold an array of this case. */
bool measure_in_cache(const bench_case *item, const iso_device_info *info);

/* Finds the MEASURE_ROOFS roofs of a device in the rows so far. */
void measure_find_roofs(const measure_state *state, int32_t target, measure_roof *roofs);
/* The member `roofs` of a device. */
json_t *measure_roofs_json(const measure_roof *roofs);
/* The member `roof` of a result whose calls take `median` nanoseconds. */
json_t *measure_roof_json(const measure_state *state, const measure_row *row,
                          const measure_roof *roofs, double median);

/* ---- chips.c --------------------------------------------------------------------------------- */

/* Dense GFLOP/s of a chip's matrix units by its maker's data sheet; NaN if this table lacks the
 * chip or the type. `type` is "f16", "bf16", "tf32" or "f64"; `*line` names the data sheet. */
double measure_chip_peak(const char *device, const char *type, const char **line);

/* ---- progress.c ------------------------------------------------------------------------------ */

/* Says how far a phase is. `done` is from 0 to 1; `left` is in seconds, below 0: not known. */
void measure_progress(measure_state *state, const char *phase, double done, double left,
                      const measure_row *row);
void measure_progress_end(const measure_state *state);

#endif
