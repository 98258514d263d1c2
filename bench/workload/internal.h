/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the workloads share. */
#ifndef ISOMER_WORKLOAD_INTERNAL_H
#define ISOMER_WORKLOAD_INTERNAL_H

#include "bench/workload/workload.h"

#include <stddef.h>

enum { WORK_TYPES = 10 }; /* room for every iso_dtype */

/* ---- case.c ---------------------------------------------------------------------------------- */

/* ---- inputs.c -------------------------------------------------------------------------------- */

/* The inputs of a type, and their size in bytes. NULL: no case needs inputs of this type. */
const unsigned char *work_inputs_block(const work_inputs *inputs, iso_dtype type, int64_t *bytes);
/* Host memory for results that are read back. NULL: no memory. */
void *work_inputs_scratch(work_inputs *inputs, int64_t bytes);

/* Checks `got`, the case's result in host memory. */
bool work_check(const bench_case *item, work_inputs *inputs, const void *got, bench_result *result);

/* The results that were found right. If a later call or another device gives the same bits, that
 * result is not checked again: for a large product a check takes longer than the product. */
check_cache *work_inputs_judged(work_inputs *inputs);

/* ---- target.c -------------------------------------------------------------------------------- */

/* Device memory that cases share. */
typedef struct work_room {
    iso_buffer buffer;
    int64_t bytes, wanted;
    uint64_t used;  /* for inputs: the value of the target's `clock` at their last use */
    iso_dtype type; /* for `apart`: the type of the inputs that were copied here; 0: none */
    int64_t at, length;
} work_room;

struct work_target {
    iso_device device;
    iso_stream stream;
    iso_device_info info;
    work_inputs *inputs;
    int64_t available; /* bytes that cases may use */
    bool limited;      /* `available` is a memory limit */
    int32_t pinned;    /* 1 if it can pin host memory, 0 if not, -1 if that is not known yet */
    work_room input[WORK_TYPES], apart[2], result, flush;
    struct work_object *objects; /* what cases' arguments name */
    struct work_own *owners;     /* cases that are no operations of the library and have arrays */
    int64_t owned;               /* bytes of these arrays */
    uint64_t clock;
    void *pinned_from, *pinned_to; /* pinned host memory */
    int64_t pinned_from_bytes, pinned_to_bytes, pinned_wanted;
    void *sink; /* ordinary host memory */
    int64_t sink_bytes, sink_wanted;
};

bool work_target_can_pin(work_target *target);
/* Whether the inputs of all cases do not fit the memory together. */
bool work_target_crowded(const work_target *target);
iso_status work_target_input(work_target *target, iso_dtype type, int64_t bytes, iso_buffer *out);
/* Copies `bytes` of the inputs, from the offset `at` of their block, to the beginning of another
 * buffer. There are two such buffers: `which` is 0 or 1. */
iso_status work_target_apart(work_target *target, int which, iso_dtype type, int64_t at,
                             int64_t bytes, iso_buffer *out);
iso_status work_target_result(work_target *target, int64_t bytes, iso_buffer *out);
/* Pinned host memory. With `from`, it holds the first bytes of the f32 inputs; without, transfers
 * write to it. */
iso_status work_target_pinned(work_target *target, bool from, int64_t bytes, void **out);
iso_status work_target_sink(work_target *target, int64_t bytes, void **out);
/* Frees inputs of operations. False: there are none. */
bool work_target_drop_inputs(work_target *target);

/* ---- object.c -------------------------------------------------------------------------------- */

typedef struct work_object work_object;
/* The object of a case on this target. It is made for the first job that takes it, and dropped when
 * the last one leaves it. */
iso_status work_object_take(work_target *target, const bench_case *item, work_object **out);
uint64_t work_object_id(const work_object *object);
void work_object_leave(work_target *target, work_object *object); /* NULL: none */

/* ---- own.c ----------------------------------------------------------------------------------- */

/* A case that is no operation of the library. */
typedef struct work_own {
    const bench_own *by;
    void *self; /* NULL: not open */
    int32_t count;
    int64_t bytes[BENCH_ARRAYS], sum;
    iso_operand arrays[BENCH_ARRAYS];
    bool held; /* it has the arrays */
    struct work_own *next;
    uint64_t used;         /* the value of the target's `clock` at the last use */
    int64_t round, loaded; /* the round whose inputs it wants, and has; -1: none */
} work_own;

/* Returns the bytes of its arrays. */
int64_t work_own_open(work_own *own, work_target *target, const bench_case *item);
void work_own_close(work_own *own, work_target *target);
/* Writes the inputs of its round to its arrays, unless they are there. */
iso_status work_own_ready(work_own *own, work_target *target);
/* Those of the next round; without `whole`, only a part of each large array. */
iso_status work_own_renew(work_own *own, work_target *target, bool whole);
/* Frees the arrays that were used longest ago. False: no case has any. */
bool work_own_drop_oldest(work_target *target);

#endif
