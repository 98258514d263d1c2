/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - cases on devices, measured until their intervals are narrow or the budget ends.
 *
 * A round visits every case on every device once, in a random order of its own. A visit takes
 * samples; a sample is a number of calls between two events. What is said of a case comes from the
 * medians of its rounds, so that drift between rounds is in the interval.
 */
#ifndef ISOMER_MEASURE_H
#define ISOMER_MEASURE_H

#include "bench/tool.h"
#include "bench/workload/workload.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct measure_plan {
    const work_list *list;
    work_target **targets;
    int32_t target_count;
    double budget;      /* seconds for the rounds */
    double whole;       /* seconds that the run should take, to which the budget is cut; 0: any */
    double target;      /* half the width of an interval that is enough, by its median: 0.02 */
    int32_t rounds_min; /* 5 */
    int32_t rounds_max; /* 0: no limit */
    uint64_t seed;      /* of the order */
    json_t *run;        /* of record_run; what is known only afterwards is added to it */
    json_t *devices;    /* of record_device, one for each target; roofs are added */
    struct crew *crew;  /* to compile ahead; it is ended. NULL: none */
    tool_file *file;    /* NULL, or a file that has the whole document after each round */
    bool progress;      /* a bar on stderr */
} measure_plan;

/* Measures. `*root` is the document, also where it was interrupted or a device died; to be freed by
 * json_decref. The exit code. */
int measure_run(const measure_plan *plan, json_t **root);

/* ---- crew.c, ahead.c: processes that compile ahead ------------------------------------------- */

/*
 * Compilers take one thread, and some lock the whole process. Several processes fill the caches on
 * the disk at once, and the run finds there what it needs. They are forked before any device is
 * opened, because no driver survives a fork.
 *
 * A task and its answers are lines: "SPEC LIBRARY GROUP", answered by "ID PREPARE FIRST" for each
 * case (nanoseconds), and an empty line.
 */
enum { CREW_MOST = 8, CREW_LINE = WORK_ID_MAX + ISO_NAME_MAX + 64 };

typedef struct crew {
    int32_t count; /* members; 0: none */
    pid_t pids[CREW_MOST];
    int lines[CREW_MOST];  /* to each */
    FILE *tasks, *answers; /* a member's own line */
} crew;

/* Makes up to `count` members; fewer where the system gives no more. True in a member, which has no
 * output but its line and ends by crew_leave. */
bool crew_start(crew *self, int32_t count);
/* Lets all go and waits for them; `now`: in the middle of what they do. */
void crew_end(crew *self, bool now);

/* ---- in a member ----------------------------------------------------------------------------- */

/* The next task; false: there is none any more. */
bool crew_next(crew *self, char text[CREW_LINE]);
/* Does a task: each case of its group on the target that it names. */
void crew_work(crew *self, const char *task, const work_list *list, work_target *const *targets,
               int32_t target_count);
_Noreturn void crew_leave(void);

/* Cases whose kernels are alike: "gemm/tiled/f32". */
void crew_group(const work_case *item, char text[WORK_ID_MAX]);

#endif
