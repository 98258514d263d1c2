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
    struct crew *crew;  /* of crew.h, to compile ahead; it is ended. NULL: none */
    tool_file *file;    /* NULL, or a file that has the whole document after each round */
    bool progress;      /* a bar on stderr */
} measure_plan;

/* Measures. `*root` is the document, also where it was interrupted or a device died; to be freed by
 * json_decref. The exit code. */
int measure_run(const measure_plan *plan, json_t **root);

#endif
