/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of `isomer verify` share. */
#ifndef ISOMER_VERIFY_INTERNAL_H
#define ISOMER_VERIFY_INTERNAL_H

#include "bench/tool.h"
#include "bench/verify/verify.h"

/* The result of a case on a device, as it is kept. */
typedef struct verify_record {
    bench_status status;
    bool ran; /* false: skipped by --fail-fast */
    bool has_digest;
    char *reason; /* NULL: none */
    const char *library, *method;
    double error, bound, seconds;
    uint64_t digest[2];
} verify_record;

/* A device under test. */
typedef struct verify_target {
    verify_runner *runner;
    int32_t library; /* over 0: a further vendor library of the device before; its products alone */
    char title[ISO_NAME_MAX * 2 + 8]; /* the spec, and the further library */
    const iso_device_info *info;
    verify_record *records; /* one for each chosen case */
    uint64_t digest[2];     /* over the cases that are defined to the bit */
    int digests;
    char libraries[8][ISO_NAME_MAX]; /* those that results name */
} verify_target;

typedef struct verify_run {
    /* options */
    const char *backend, *require, *suite, *op, *variant, *dtype, *case_id, *json, *junit, *seed;
    bool list, bitwise, inline_streams, fail_fast, help;
    bool full;
    uint64_t seed_value;
    int argc; /* as it was called */
    char **argv;
    /* what was chosen */
    verify_list *cases;
    const bench_case **chosen;
    int chosen_count;
    verify_target *targets;
    int target_count;
    /* how it went */
    int passed, failed, unsupported, errors;
    double seconds;
    tool_file json_file, junit_file;
    FILE *out; /* where text for people goes */
} verify_run;

enum { VERIFY_SEED = 1 };

/* select.c: backends and cases. TOOL_OK or an exit code, said. */
int verify_choose_cases(verify_run *run);
int verify_open_targets(verify_run *run);
void verify_free(verify_run *run);

/* digest.c */
void verify_compare_digests(verify_run *run);
void verify_digest_text(const uint64_t digest[2], char text[33]);

/* report.c */
void verify_report(verify_run *run);
/* The command that repeats a case on a device; cut to fit. */
void verify_command(const verify_run *run, const verify_target *target, const bench_case *item,
                    char *text, size_t room);

/* files.c */
int verify_write_files(verify_run *run);

#endif
