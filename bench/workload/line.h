/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - the lines that make up suites. */
#ifndef ISOMER_WORKLOAD_LINE_H
#define ISOMER_WORKLOAD_LINE_H

#include "bench/workload/internal.h"

enum {
    WORK_WORDS = 48,        /* in one list */
    WORK_PRIORITY = 5,      /* of a line that gives none */
    WORK_PRIORITY_ROOF = 10 /* of a case that only measures a roof, where the user chose cases */
};

/* One line of a suite. It stands for every combination of the values in its lists. Each text is a
 * list "a,b,c". NULL means the operation's default. */
typedef struct work_line {
    const char *op;
    const char *kind;
    const char *variant;
    const char *dtype;
    const char *size;
    const char *layout; /* products: "nn,nt,tn,tt"; reductions: "all,0,1" */
    const char *batch;
    const char *steps;
    const char *math;
    const char *cache;
    const char *row; /* of the labs: "A2"; NULL: of none */
    const char *on;  /* "cpu": only if no device is a GPU; "gpu": only if one is; NULL: always */
    bool parts;
    int32_t priority; /* 1: kept longest if time is short; 9: dropped first; 0: the default, 5 */
    bench_roof roof;
} work_line;

typedef struct work_suite {
    const char *name;
    const work_line *lines;
    int32_t count;
} work_suite;

extern const work_suite work_suites[];
extern const int32_t work_suite_count;
extern const work_suite work_roofs;

typedef struct work_sizes {
    bench_size items[WORK_WORDS];
    int32_t count;
} work_sizes;

typedef struct work_choice {
    const char *items[WORK_WORDS];
    int32_t count;
} work_choice;

typedef struct work_parsed {
    const work_line *line;
    const bench_op *op;
    work_choice kinds, variants, types, layouts, maths, caches;
    work_sizes sizes, batches, steps;
} work_parsed;

/* Parses a line. False: its member `member` is wrong, and `text` says why. */
bool work_line_parse(const work_line *line, work_parsed *out, const char **member, char *text,
                     size_t room);

bool work_sizes_parse(const tool_words *words, work_sizes *out, char *text, size_t room);
extern const char work_size_rule[]; /* what a size looks like */
bool work_size_fits(const bench_size *size, const bench_op *op);

/* Lines from a file. work_file_load returns TOOL_OK, or an exit code after it has printed an
 * error. */
typedef struct work_file {
    json_t *root;
    work_line *lines;
    int32_t count;
    char **texts; /* the texts that the lines point to */
    int32_t text_count;
} work_file;
int work_file_load(const char *path, work_file *out);
void work_file_free(work_file *file);

#endif
