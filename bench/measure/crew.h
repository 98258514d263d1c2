/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - processes beside the run that compile what it is going to need. Compilers take one
 * thread, and some lock the whole process: several processes fill the caches on the disk at once,
 * and the run finds there what it asks for. They are forked before anything was opened, since no
 * driver lives through a fork.
 *
 * A task and its answers are lines: "SPEC LIBRARY GROUP", answered by "ID PREPARE FIRST" for each
 * case (nanoseconds), and an empty line.
 */
#ifndef ISOMER_MEASURE_CREW_H
#define ISOMER_MEASURE_CREW_H

#include "bench/workload/workload.h"

#include <stdio.h>
#include <sys/types.h>

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
