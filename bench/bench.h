/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what `isomer bench` measures with, also for cases of another command. */
#ifndef ISOMER_BENCH_H
#define ISOMER_BENCH_H

#include "bench/comm/comm.h"
#include "bench/measure/measure.h"
#include "bench/tool.h"

/* Cases of another command, which are measured, shown and written in the way of `isomer bench`. */
typedef struct bench_given {
    const tool_option *options; /* of the command, besides those of bench */
    int option_count;
    tool_words *files;
    bool *roofs;       /* whether the tables of the cases that measure roofs are wanted */
    const char *suite; /* the name of the cases in documents */
    double seconds;    /* that a launch may take; `make` sets it */
    /* Makes the cases, which live as long as the given object. Returns an exit code. */
    int (*make)(struct bench_given *given, uint64_t seed);
    /* Adds to the run's object in documents. */
    void (*describe)(const struct bench_given *given, json_t *run);
    const bench_case *cases;
    int32_t count;
    void *context;
    int argc; /* the command line, for documents */
    char **argv;
} bench_given;

/* Runs the rows of the suite `labs` after its cases. It has kernels that are compiled while the
 * tool is built, so it is no part of the library that does that: main sets it. */
typedef struct bench_labs {
    /* Checks --lab, --lab-sizes and --beside before anything is measured. NULL texts: not given.
     * Returns an exit code. */
    int (*check)(const char *rows, const char *sizes, const char *beside);
    bool (*small)(const char *sizes); /* whether the suite's cases are left out for a test */
    /* Runs the rows on the devices of `root`, and adds them to it. After each, `file` (NULL: none)
     * gets the document so far. Returns an exit code. */
    int (*run)(const char *rows, const char *sizes, const char *beside, json_t *root,
               tool_file *file);
} bench_labs;
extern const bench_labs *bench_with_labs; /* NULL: the tool has no labs */

/* Reads the options, makes the cases and measures them. Returns an exit code. */
int bench_measure_given(int argc, char **argv, bench_given *given);

/* ---- bench_options.c ------------------------------------------------------------------------- */

/* The files that can be written, in the order of writing. */
enum { JSON, CSV, MARKDOWN, REPORT, EXPORT, OUTPUTS };

typedef struct bench {
    const char *backend, *require, *budget_text, *rounds_text, *seed_text, *math_text, *jobs_text;
    const char *against, *against_backend, *fail_on_text, *timeout_text, *energy_text, *lab_sizes,
        *beside, *paths[OUTPUTS];
    bool self_check, list, energy, help;
    bool labs; /* the suite is `labs` */
    bool comm; /* communicators instead of cases */
    scale_options scale;
    bench_given *given; /* NULL: suites */
    work_request request;
    double budget, whole, fail_on, timeout, energy_seconds;
    int32_t rounds, jobs;
    crew crew;
    tool_words specs;
    double probing;     /* nanoseconds to find all devices; NaN: the user named them */
    double *opening;    /* nanoseconds to open each device */
    iso_device *opened; /* kept open until the targets are open, to make each context once */
    json_t *left_out;   /* devices that could not be opened */
    work_list cases;
    work_inputs *inputs;
    work_target **targets;
    int32_t target_count;
    tool_file files[OUTPUTS];
    json_t *run, *devices, *root;
} bench;

/* Reads the command line. Returns an exit code. */
int bench_parse(bench *b, int argc, char **argv);

/* ---- percents.c ------------------------------------------------------------------------------ */

/* Texts that say why given cases have no percentage of a roof, and what to do. */
json_t *bench_percents(const bench *b);

#endif
