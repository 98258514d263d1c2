/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - measures cases on devices until their intervals are narrow or the budget ends.
 *
 * A round visits every case on every device once, in its own random order. A visit takes samples; a
 * sample is a number of calls between two events. A case's figures come from the medians of its
 * rounds, so that the interval includes drift between rounds.
 */
#ifndef ISOMER_MEASURE_H
#define ISOMER_MEASURE_H

#include "bench/stats/stats.h"
#include "bench/tool.h"
#include "bench/workload/workload.h"

#include <stdio.h>
#include <sys/types.h>

/* The rounds that every kept case gets: the fewest whose median has an interval of 95 %. */
enum { MEASURE_ROUNDS = 6 };
#define MEASURE_CONFIDENCE 0.95
#define MEASURE_NO_TIME    "no time" /* the reason of BENCH_SKIPPED */

typedef struct measure_plan {
    const work_list *list;
    work_target **targets;
    int32_t target_count;
    double budget; /* seconds for the rounds */
    double whole;  /* seconds for the whole run, which may reduce the budget; 0: no limit */
    /* A case is settled when half its interval's width, divided by the median, is at most this. */
    double target;
    int32_t rounds_min; /* usually MEASURE_ROUNDS; rows without time for so many are skipped */
    int32_t rounds_max; /* 0: no limit */
    double energy;      /* seconds of --energy for each case; 0: not asked for */
    bool energy_every;  /* the user chose the cases: measures every kind of them */
    bool paired;        /* two devices, which visit a case one after the other; no row settles */
    /* The targets are handles of one device. Only the first warms it up, of a vendor's libraries
     * only the first is measured, and the caller says what had no time. */
    bool one_device;
    /* Whether a case is measured on a target; it is asked in the order of the results. NULL:
     * always.
     */
    bool (*takes)(void *context, const bench_case *item, int32_t target);
    void *context;
    uint64_t seed;     /* for the order of the rows */
    json_t *run;       /* from record_run; the document's copy also has members set later */
    json_t *devices;   /* from record_device, one per target; the document's copy has the roofs */
    struct crew *crew; /* compiles in advance and is then ended; NULL: none */
    tool_file *file;   /* gets the document so far every few seconds; NULL: none */
    bool progress;     /* a bar on stderr */
} measure_plan;

/* Measures and returns the exit code. Sets `*root` to the document, even after an interruption or a
 * lost device; the caller frees it with json_decref. It is NULL if nothing could be measured. */
int measure_run(const measure_plan *plan, json_t **root);

/* ---- result.c -------------------------------------------------------------------------------- */

/* Sets the members of "times" that come from the interval and from all n samples. */
void measure_set_times(json_t *times, const stats_interval *time, const double *x, int32_t n);
/* Sets the members of a rate, unless it is null. */
void measure_set_rate(json_t *rate, double work, const stats_interval *time);

/* ---- crew.c, ahead.c: processes that compile ahead ------------------------------------------- */

/*
 * A compiler uses one thread, and some lock the whole process. So several processes fill the caches
 * on disk at once, and the run finds its kernels there. They are forked before any device is
 * opened, because no driver survives a fork.
 *
 * A task is a line "SPEC LIBRARY GROUP". The answer is a line "ID PREPARE FIRST" (nanoseconds) for
 * each case, and an empty line.
 */
enum { CREW_MOST = 8, CREW_LINE = BENCH_ID_MAX + ISO_NAME_MAX + 64 };

typedef struct crew {
    int32_t count; /* members; 0: none */
    pid_t pids[CREW_MOST];
    int lines[CREW_MOST];  /* the sockets to the members */
    FILE *tasks, *answers; /* of a member: both directions of its socket */
} crew;

/* Starts `count` members, or fewer if the system allows no more. Returns false in the run and true
 * in each member. A member writes only to its socket and ends with crew_leave. */
bool crew_start(crew *self, int32_t count);
/* Ends the members and waits for them; `now`: without finishing their tasks. */
void crew_end(crew *self, bool now);

/* ---- in a member ----------------------------------------------------------------------------- */

/* Reads the next task; false after the last. */
bool crew_next(crew *self, char text[CREW_LINE]);
/* Compiles each case of the task's group on the task's device, and sends the answer. */
void crew_work(crew *self, const char *task, const work_list *list, work_target *const *targets,
               int32_t target_count);
_Noreturn void crew_leave(void);

/* Writes the name of the group of cases that have the same kernels as `item`. */
void crew_group(const bench_case *item, char text[BENCH_ID_MAX]);

#endif
