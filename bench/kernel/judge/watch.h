/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - shared by the sources of the program that judges. */
#ifndef ISOMER_BENCH_KERNEL_JUDGE_WATCH_H
#define ISOMER_BENCH_KERNEL_JUDGE_WATCH_H

#include "bench/kernel/judge/judge.h"

#include <stdbool.h>
#include <stddef.h>

/* One access to a place. An epoch is one run of a region, with the code before it; epoch 0 is
 * none. */
typedef struct watch_touch {
    uint32_t epoch, pc;
    int32_t item;
} watch_touch;

/* What is known of one grain of an array. Groups run one after the other, and so do items, so the
 * first access of a launch or of an epoch shows whether another group or item was there. */
typedef struct watch_cell {
    watch_touch write;
    watch_touch read, read_now;
    watch_touch atomic, atomic_now;
    uint32_t set; /* the epoch in which it was set first; 0: never */
} watch_cell;

typedef struct watch_array {
    const judge_param *param;
    unsigned char *at;            /* the first element */
    int64_t bytes;                /* of all */
    watch_cell *cells;            /* one for each grain */
    const unsigned char *padding; /* of an element: 0 where a struct has padding; NULL: none */
} watch_array;

/* What runs at the moment. */
typedef struct watch_state {
    bool on;
    bool reversed;
    int32_t items; /* of a group */
    int32_t item;  /* -1: between regions */
    int64_t group;
    uint32_t epoch, group_epoch; /* the first epoch of the group */
    uint64_t last_pc;            /* of the last access */
    int64_t accesses;
    watch_array arrays[JUDGE_PARAMS];
    judge_end end;
    judge_finding findings[JUDGE_FINDINGS];
} watch_state;

extern watch_state watch;

/* Reserves the address space of all arrays. False: there is none. */
bool watch_open(void);
/* Makes room for an array, with places around it that can be reached but belong to none. */
bool watch_add(int index, const judge_param *param);
/* Begins a group. False: no memory. */
bool watch_group(int64_t group);
/* Adds a finding, or counts it. */
judge_finding *watch_find(judge_kind kind, int param, uint64_t pc, const judge_access *before);
/* Ends the launch. Does not return. */
_Noreturn void watch_stop(void);

#endif
