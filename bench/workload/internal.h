/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the workloads share. */
#ifndef ISOMER_WORKLOAD_INTERNAL_H
#define ISOMER_WORKLOAD_INTERNAL_H

#include "bench/workload/workload.h"

#include <stddef.h>

enum { WORK_TYPES = 7 }; /* room for every iso_dtype */

/* ---- case.c ---------------------------------------------------------------------------------- */

/* Works out the id, the seed and the cost of a case of which all else is set. False: it is larger
 * than any device; it has its id. */
bool work_case_finish(bench_case *item, uint64_t seed);

/* About how long one call takes on this device; 0 for a GPU. */
double work_case_seconds(const bench_case *item, const iso_device_info *info);

/* ---- inputs.c -------------------------------------------------------------------------------- */

/* The block of a type, NULL where no case has one, and its bytes. */
const unsigned char *work_inputs_block(const work_inputs *inputs, iso_dtype type, int64_t *bytes);
/* One block of host memory for what is read back; NULL: no memory. */
void *work_inputs_scratch(work_inputs *inputs, int64_t bytes);

/* Checks `got`, a result of the case that lies in host memory. */
bool work_check(const bench_case *item, work_inputs *inputs, const void *got, bench_result *result);

/* The results that were checked and are right. The same bits again, of a later call or another
 * device, need no second check, which for a large product takes longer than the product. */
check_cache *work_inputs_judged(work_inputs *inputs);

/* ---- target.c -------------------------------------------------------------------------------- */

/* Device memory that cases share. */
typedef struct work_room {
    iso_buffer buffer;
    int64_t bytes, wanted;
    uint64_t used;  /* inputs: when */
    iso_dtype type; /* apart: of the inputs that it has the copy of; 0: it has none */
    int64_t at, length;
} work_room;

struct work_target {
    iso_device device;
    iso_stream stream;
    iso_device_info info;
    work_inputs *inputs;
    int64_t available; /* bytes that cases may use */
    bool limited;      /* by a memory limit */
    int32_t pinned;    /* whether its host memory is; -1: not asked yet */
    work_room input[WORK_TYPES], apart[2], result, flush;
    uint64_t clock;
    void *pinned_from, *pinned_to; /* host memory that the device reaches fast */
    int64_t pinned_from_bytes, pinned_to_bytes, pinned_wanted;
    void *sink; /* ordinary host memory */
    int64_t sink_bytes, sink_wanted;
};

bool work_target_can_pin(work_target *target);
iso_status work_target_input(work_target *target, iso_dtype type, int64_t bytes, iso_buffer *out);
/* A copy of `bytes` of the inputs at `at` of their block, as number 0 or 1 of those that begin a
 * buffer of their own. */
iso_status work_target_apart(work_target *target, int which, iso_dtype type, int64_t at,
                             int64_t bytes, iso_buffer *out);
iso_status work_target_result(work_target *target, int64_t bytes, iso_buffer *out);
/* Host memory: `from` holds the first bytes of the f32 inputs; the other is written to. */
iso_status work_target_pinned(work_target *target, bool from, int64_t bytes, void **out);
iso_status work_target_sink(work_target *target, int64_t bytes, void **out);

#endif
