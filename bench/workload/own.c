/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - cases that are no operation of the library: their arrays on a target, and the round of
 * inputs that is in them. */
#include "bench/workload/internal.h"

int64_t work_own_open(work_own *own, work_target *target, const bench_case *item)
{
    own->by = item->op->own;
    own->count = own->by->arrays(item, own->bytes);
    own->self = own->by->create(item, target->device);
    own->loaded = -1;
    for (int32_t i = 0; i < own->count; i++) {
        own->sum += own->bytes[i];
    }
    return own->sum;
}

static void drop(work_own *own, work_target *target)
{
    for (int32_t i = 0; i < own->count; i++) {
        if (own->arrays[i].buffer.id != 0) {
            iso_buffer_destroy(own->arrays[i].buffer);
        }
        own->arrays[i].buffer.id = 0;
    }
    for (work_own **at = &target->owners; own->held && *at; at = &(*at)->next) {
        if (*at == own) {
            *at = own->next;
            break;
        }
    }
    target->owned -= own->held ? own->sum : 0;
    own->held = false;
    own->loaded = -1;
}

void work_own_close(work_own *own, work_target *target)
{
    drop(own, target);
    if (own->self) {
        own->by->destroy(own->self);
    }
    own->self = NULL;
}

bool work_own_drop_oldest(work_target *target)
{
    work_own *oldest = target->owners;
    for (work_own *own = oldest; own; own = own->next) {
        oldest = own->used < oldest->used ? own : oldest;
    }
    if (oldest) {
        drop(oldest, target);
    }
    return oldest;
}

/* Cases may keep arrays in half of the memory. If that is too little, those that were used longest
 * ago lose theirs, and get them again with the inputs of their next round. */
static iso_status make(work_own *own, work_target *target)
{
    iso_status status = ISO_OK;
    while (target->owned + own->sum > target->available / 2 && work_own_drop_oldest(target)) {
    }
    for (int32_t i = 0; i < own->count && status == ISO_OK; i++) {
        if (own->bytes[i] == 0) {
            continue;
        }
        status = iso_buffer_create(target->device, own->bytes[i], &own->arrays[i].buffer);
        while (status == ISO_NO_MEMORY &&
               (work_own_drop_oldest(target) || work_target_drop_inputs(target))) {
            status = iso_buffer_create(target->device, own->bytes[i], &own->arrays[i].buffer);
        }
        if (status != ISO_OK) {
            own->arrays[i].buffer.id = 0;
        }
    }
    if (status != ISO_OK) {
        drop(own, target);
        return status;
    }
    own->held = true;
    own->next = target->owners;
    target->owners = own;
    target->owned += own->sum;
    return ISO_OK;
}

static iso_status load(work_own *own, work_target *target, bool whole)
{
    iso_status status = own->held ? ISO_OK : make(own, target);
    own->used = ++target->clock;
    whole = whole || own->loaded < 0;
    if (status == ISO_OK) {
        status = own->by->load(own->self, target->stream, own->arrays, own->round, whole);
    }
    own->loaded = status == ISO_OK ? own->round : -1;
    return status;
}

iso_status work_own_ready(work_own *own, work_target *target)
{
    return own->held && own->loaded == own->round ? ISO_OK : load(own, target, true);
}

iso_status work_own_renew(work_own *own, work_target *target, bool whole)
{
    own->round++;
    return load(own, target, whole);
}
