/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - the files between `isomer kernel check` and the program that it makes of a text and of
 * the sources in this folder. The program runs one kernel once, watches each access, and writes
 * what it found. Both are made for the same machine, so structs go through the files as they are.
 *
 *   the case: judge_case, then the contents of each value and buffer
 *   the end:  judge_end, then its findings, then for each buffer that is not only read an element
 *             that is 0 in bytes that do not count, because they are padding, the contents, and a
 *             byte for each of its grains, which is 1 if the kernel wrote it
 */
#ifndef ISOMER_BENCH_KERNEL_JUDGE_JUDGE_H
#define ISOMER_BENCH_KERNEL_JUDGE_JUDGE_H

#include <stdint.h>

enum { JUDGE_MAGIC = 0x6a646731, JUDGE_PARAMS = 32, JUDGE_FINDINGS = 256, JUDGE_NOTE = 128 };

/* As iso_parameter_role. */
typedef enum judge_role {
    JUDGE_VALUE = 1,
    JUDGE_IN = 2,
    JUDGE_OUT = 3,
    JUDGE_INOUT = 4,
    JUDGE_SHARED = 5,
    JUDGE_OWN = 6
} judge_role;

typedef struct judge_param {
    int32_t role;
    int32_t bytes; /* of an element */
    int32_t grain; /* bytes that are watched as one: a scalar's, and 1 in a struct */
    int32_t reserved;
    int64_t count; /* elements; OWN: items */
} judge_param;

typedef struct judge_case {
    uint32_t magic;
    int32_t entry; /* of the program's table */
    int32_t param_count;
    int32_t reversed; /* items and groups run from the last to the first */
    int32_t seconds;  /* after which the run is ended */
    int32_t reserved;
    int64_t groups[3];
    judge_param params[JUDGE_PARAMS];
} judge_case;

typedef enum judge_kind {
    JUDGE_RACE,          /* two items of a region */
    JUDGE_RACE_GROUPS,   /* two groups of a launch */
    JUDGE_BOUNDS,        /* outside of an array */
    JUDGE_OTHER_OWN,     /* another item's own value */
    JUDGE_UNSET,         /* read before it is set */
    JUDGE_WRITE_BETWEEN, /* code between regions writes */
    JUDGE_READ_BETWEEN,  /* code between regions reads what the next region writes */
    JUDGE_OVERFLOW,      /* of signed integers */
    JUDGE_SHIFT,
    JUDGE_DIVISION,
    JUDGE_CONVERSION,
    JUDGE_INDEX, /* outside of a private array, or of an array in a struct */
    JUDGE_CRASH,
    JUDGE_HANG,
    JUDGE_KINDS
} judge_kind;

/* Who touched a place, and where in the text. */
typedef struct judge_access {
    uint64_t pc;
    int64_t group;
    int32_t item;   /* -1: code between regions */
    int32_t region; /* the line on which it begins; 0: not known */
    int32_t writes;
    int32_t atomic;
} judge_access;

/* Equal findings are one, with a count. The accesses are those of the first. */
typedef struct judge_finding {
    int32_t kind;
    int32_t param;  /* -1: none */
    int64_t index;  /* of the element */
    int64_t offset; /* bytes in the element */
    int64_t count;
    judge_access now, before; /* before.pc is 0: there is none */
    char note[JUDGE_NOTE];
} judge_finding;

typedef struct judge_end {
    uint32_t magic;
    int32_t whole; /* the launch was not ended early */
    int32_t finding_count;
    int32_t lost; /* findings that had no room */
    int64_t accesses;
} judge_end;

#endif
