/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - cases that are no operation of the library: their arrays on a target, and the round of
 * inputs that is in them. */
#include "bench/workload/internal.h"

#include <string.h>

int64_t work_own_open(work_own *own, work_target *target, const bench_case *item)
{
    int64_t sum = 0;
    own->by = item->op->own;
    own->count = own->by->arrays(item, own->bytes);
    own->self = own->by->create(item, target->device);
    own->loaded = -1;
    for (int32_t i = 0; i < own->count; i++) {
        sum += own->bytes[i];
    }
    return sum;
}

void work_own_close(work_own *own)
{
    if (own->self) {
        own->by->destroy(own->self);
    }
    own->self = NULL;
}

static iso_status locate(work_own *own, work_target *target)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < own->count && status == ISO_OK; i++) {
        own->arrays[i].offset = 0;
        if (own->bytes[i] > 0) {
            status = work_target_own(target, i, own->bytes[i], &own->arrays[i].buffer);
        }
    }
    return status;
}

iso_status work_own_ready(work_own *own, work_target *target)
{
    if (target->owner == own && own->loaded == own->round) {
        return ISO_OK;
    }
    target->owner = own;
    own->loaded = -1;
    iso_status status = locate(own, target);
    if (status == ISO_NO_MEMORY) { /* the arrays of other cases may be in other places */
        work_target_drop_own(target);
        target->owner = own;
        status = locate(own, target);
    }
    if (status == ISO_OK) {
        status = own->by->load(own->self, target->stream, own->arrays, own->round);
    }
    own->loaded = status == ISO_OK ? own->round : -1;
    return status;
}

iso_status work_own_renew(work_own *own, work_target *target)
{
    own->round++;
    return work_own_ready(own, target);
}
