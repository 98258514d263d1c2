/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - objects of a target that cases' arguments name. Jobs with the same data share one. */
#include "bench/workload/internal.h"

#include <stdlib.h>

struct work_object {
    work_object *next;
    const bench_object *by;
    uint64_t seed, id;
    int32_t users;
};

iso_status work_object_take(work_target *target, const bench_case *item, work_object **out)
{
    const bench_object *by = item->by->object;
    work_object *at = target->objects;
    while (at && (at->by != by || at->seed != item->seed)) {
        at = at->next;
    }
    if (!at) {
        at = calloc(1, sizeof *at);
        if (!at) {
            return ISO_NO_MEMORY;
        }
        iso_status status = by->make(item, target->device, &at->id);
        if (status != ISO_OK) {
            free(at);
            return status;
        }
        at->by = by;
        at->seed = item->seed;
        at->next = target->objects;
        target->objects = at;
    }
    at->users++;
    *out = at;
    return ISO_OK;
}

uint64_t work_object_id(const work_object *object)
{
    return object->id;
}

void work_object_leave(work_target *target, work_object *object)
{
    work_object **at = &target->objects;
    if (!object || --object->users > 0) {
        return;
    }
    while (*at != object) {
        at = &(*at)->next;
    }
    *at = object->next;
    object->by->drop(object->id);
    free(object);
}
