/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - what `isomer bench --comm` does, for the command bench. */
#ifndef ISOMER_BENCH_COMM_H
#define ISOMER_BENCH_COMM_H

#include "bench/ranks/ranks.h"

/* The command line. NULL: not given. */
typedef struct scale_options {
    const char *op, *variant, *dtype, *size, *memory, *beside;
    ranks_options ranks;
    double budget;
    int32_t rounds; /* 0: as many as the budget has time for */
    uint64_t seed;
} scale_options;

typedef struct scale_run scale_run;

/* Checks the command line, and opens the ranks. `options` must outlive the run. Returns an exit
 * code after an error message; the run is to be closed in any case. */
int scale_open(const scale_options *options, scale_run **out);
bool scale_speaks(const scale_run *run); /* this process writes and shows results */
/* The greatest exit code of all processes, which have all come here: mpirun ends the others when
 * one fails, and so that of rank 0 must have written its files before. */
int scale_settle(scale_run *run, int code);
/* Measures, and adds "comm" and what belongs to it to the document. `file` (NULL: none) gets it now
 * and then. Returns an exit code. */
int scale_measure(scale_run *run, json_t *root, tool_file *file);
void scale_close(scale_run *run);

#endif
