/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of `isomer verify` share. */
#ifndef ISOMER_VERIFY_INTERNAL_H
#define ISOMER_VERIFY_INTERNAL_H

#include "bench/ranks/ranks.h"
#include "bench/tool.h"
#include "bench/verify/verify.h"

/* The result of a case on a device, kept for the report. */
typedef struct verify_record {
    bench_status status;
    bool ran;     /* false: skipped by --fail-fast or an interruption, or its setting is not one of
                     this device */
    bool changed; /* --invariance: the bits are not those of the base */
    bool has_digest;
    char *reason; /* NULL: none */
    const char *library, *method;
    double error, bound, seconds;
    uint64_t digest[2];
} verify_record;

/* A device under test. */
typedef struct verify_target {
    verify_runner *runner;
    int32_t library; /* above 0: this target uses another vendor library of its device, only for
                        products */
    char title[ISO_NAME_MAX * 2 + 8]; /* the spec, and the other library's name */
    const iso_device_info *info;
    verify_record *records; /* one for each chosen case */
    uint64_t digest[2];     /* of all cases whose bits are defined */
    int digests;
    char libraries[8][ISO_NAME_MAX]; /* the libraries that the results name */
} verify_target;

enum { VERIFY_RANKS = 16 /* numbers of ranks in one run */ };

typedef struct verify_run {
    /* options */
    const char *backend, *require, *suite, *op, *variant, *dtype, *case_id, *json, *junit, *seed;
    bool list, bitwise, invariance, comm, inline_streams, fail_fast, brief, help;
    ranks_options comm_options; /* those of --comm */
    bool full;
    uint64_t seed_value;
    int argc; /* the command line */
    char **argv;
    const verify_request *given; /* NULL: the conformance list */
    /* what was chosen */
    verify_list *cases;
    const bench_case **chosen;
    int chosen_count;
    verify_target *targets;
    int target_count;
    /* --comm */
    ranks_team *team; /* NULL: not opened */
    int32_t counts[VERIFY_RANKS], count_count;
    uint64_t fixed_digest[2]; /* of the sums that do not depend on the number of ranks */
    int fixed_count;
    FILE *silence; /* what a process of a world prints to that does not speak; NULL: it does */
    /* results */
    int passed, failed, unsupported, errors;
    bool interrupted, over; /* over: no other case shall run */
    double began, seconds;
    int now, now_target; /* the case that runs, and where */
    double now_began;
    tool_file json_file, junit_file;
    FILE *out; /* for text that people read */
} verify_run;

enum { VERIFY_SEED = 1, VERIFY_LIBRARIES = 4 /* of a device, for products */ };

/* command.c: keeps a result, and decides whether other cases shall run. */
void verify_keep(verify_run *run, verify_target *target, int index, const bench_result *result);

/* company_fit.c. A base and its data, which a case has among others. */
typedef struct company_alone {
    const bench_case *base;
    const verify_problem *problem;
} company_alone;

verify_fit company_cancel; /* of a base, if its terms shall cancel */
verify_fit company_put;    /* of a case: `context` is a company_alone */
/* Compares the base's result, which is dense, with its part of the case's. */
bool company_compare(const bench_case *item, const bench_case *base, void *alone, void *among,
                     bench_result *result);

/* company_load.c: the large product that keeps a device busy. It is made at the first case that
 * needs it. */
typedef struct company_load {
    bool made;
    iso_buffer buffers[3];
    iso_gemm_args args;
} company_load;

/* False: the device cannot do it, and the result says why. */
bool company_load_make(company_load *load, verify_runner *runner, bench_result *result);

/* company_run.c: runs the chosen cases of --invariance. */
int verify_run_companies(verify_run *run);
/* company_report.c: a device's table, and what the vendor's library changed. */
void verify_report_companies(const verify_run *run, const verify_target *target);

/* select.c: chooses cases and devices. Returns TOOL_OK, or an exit code after it has printed an
 * error. */
int verify_choose_cases(verify_run *run);
int verify_choose_given(verify_run *run); /* those of the request */
int verify_open_targets(verify_run *run);
void verify_free(verify_run *run);

/* digest.c */
/* Makes a record fail, because its digest is not that of another one. */
void verify_differ(verify_record *record, const char *mine, const char *theirs,
                   const verify_record *other);
void verify_compare_digests(verify_run *run);
/* The digest of a device's cases of one kind; NULL: of all. Returns how many cases it is of. */
int verify_digest_of(const verify_run *run, const verify_target *target, const char *kind,
                     uint64_t digest[2]);

/* report.c */
enum { VERIFY_CELL = 11 /* columns */ };
typedef struct verify_cell {
    int passed, failed, unsupported;
} verify_cell;
void verify_cell_add(verify_cell *cell, const verify_record *record);
void verify_cell_print(FILE *out, const verify_cell *cell);
void verify_report(verify_run *run);
/* The command that repeats a case on a device. The text is cut off if it is longer than `room`. */
void verify_command(const verify_run *run, const verify_target *target, const bench_case *item,
                    char *text, size_t room);

/* summary.c: counts for a device, by operation and by reason */
json_t *verify_summary(const verify_run *run, const iso_device_info *info);

/* files.c */
int verify_write_files(verify_run *run);

#endif
