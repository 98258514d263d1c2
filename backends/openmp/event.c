/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - events and the points in time that they record. */
#include "backends/openmp/futex.h"
#include "backends/openmp/runtime.h"

enum { POINT_PENDING = 0, POINT_COMPLETE = 1, POINT_AWAITED = 2 };
/* How long a thread waits before it checks again whether exit() was called. */
enum { POINT_PATIENCE_NS = 100000000 };

/* ---- points ---------------------------------------------------------------------------------- */

void cpu_point_complete(cpu_point *point)
{
    point->nanoseconds = cpu_now();
    if (atomic_exchange_explicit(&point->state, POINT_COMPLETE, memory_order_acq_rel) ==
        POINT_AWAITED) {
        cpu_futex_wake_all(&point->state);
    }
}

static int is_complete(const cpu_point *point)
{
    return atomic_load_explicit(&point->state, memory_order_acquire) == POINT_COMPLETE;
}

iso_status cpu_point_wait(cpu_point *point)
{
    cpu_spin spin = {0};
    while (!is_complete(point) && cpu_spin_more(&spin, CPU_SPIN_NS)) {
    }
    while (!is_complete(point)) {
        if (cpu_team_outside() != ISO_OK) {
            return ISO_INTERNAL;
        }
        cpu_team_resume();
        uint32_t state = POINT_PENDING;
        (void)atomic_compare_exchange_strong(&point->state, &state, POINT_AWAITED);
        if (state != POINT_COMPLETE) {
            cpu_futex_wait_for(&point->state, POINT_AWAITED, POINT_PATIENCE_NS);
        }
    }
    return ISO_OK;
}

static void drop(cpu_pool *pool, cpu_point *point)
{
    if (point && --point->references == 0) {
        point->next = pool->unused;
        pool->unused = point;
    }
}

void cpu_point_release(cpu_device_object *device, cpu_point *point)
{
    (void)pthread_mutex_lock(&device->points.lock);
    drop(&device->points, point);
    (void)pthread_mutex_unlock(&device->points.lock);
}

/* The caller holds the lock. The pool has a point for every event. So memory is allocated only if
 * an event is recorded again before the stream has reached its previous record. */
static cpu_point *take(cpu_pool *pool)
{
    cpu_point *point = pool->unused;
    if (point) {
        pool->unused = point->next;
    } else {
        point = cpu_host->alloc((int64_t)sizeof *point);
    }
    if (point) {
        *point = (cpu_point){.references = 1};
    }
    return point;
}

void cpu_pool_destroy(cpu_pool *pool)
{
    while (pool->unused) {
        cpu_point *point = pool->unused;
        pool->unused = point->next;
        cpu_host->free(point);
    }
    (void)pthread_mutex_destroy(&pool->lock);
}

/* ---- events ---------------------------------------------------------------------------------- */

cpu_point *cpu_event_begin(cpu_event *event)
{
    cpu_pool *pool = &event->device->points;
    (void)pthread_mutex_lock(&pool->lock);
    drop(pool, event->point);
    cpu_point *point = take(pool);
    if (point) {
        point->references = 2;
    }
    event->point = point;
    (void)pthread_mutex_unlock(&pool->lock);
    return point;
}

cpu_point *cpu_event_last(cpu_event *event)
{
    cpu_pool *pool = &event->device->points;
    (void)pthread_mutex_lock(&pool->lock);
    cpu_point *point = event->point;
    if (point) {
        point->references++;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return point;
}

iso_status cpu_event_create(void *device, void **event)
{
    cpu_device_object *owner = device;
    cpu_event *made = cpu_host->alloc((int64_t)sizeof *made);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    *made = (cpu_event){.device = owner};
    cpu_pool *pool = &owner->points;
    cpu_point *point = cpu_host->alloc((int64_t)sizeof *point);
    if (!point) {
        cpu_host->free(made);
        return ISO_NO_MEMORY;
    }
    (void)pthread_mutex_lock(&pool->lock);
    *point = (cpu_point){.references = 1};
    drop(pool, point);
    (void)pthread_mutex_unlock(&pool->lock);
    *event = made;
    return ISO_OK;
}

void cpu_event_destroy(void *event)
{
    cpu_event *gone = event;
    cpu_point_release(gone->device, gone->point);
    cpu_host->free(gone);
}

iso_status cpu_event_record(void *event, void *stream)
{
    cpu_event *recorded = event;
    cpu_point *point = cpu_event_begin(recorded);
    if (!point) {
        return ISO_NO_MEMORY;
    }
    cpu_command command = {.kind = CPU_COMMAND_RECORD, .point = point};
    iso_status status = cpu_stream_submit(stream, &command);
    if (status != ISO_OK) {
        /* The record was not submitted, so the stream will never complete its point. It is
         * completed here; otherwise a wait for it would never end. */
        cpu_point_complete(point);
        cpu_point_release(recorded->device, point);
    }
    return status;
}

iso_status cpu_event_sync(void *event)
{
    cpu_event *awaited = event;
    cpu_point *point = cpu_event_last(awaited);
    if (!point) {
        return cpu_host->fail(ISO_NOT_READY, "the event was never recorded");
    }
    iso_status status = cpu_point_wait(point);
    cpu_point_release(awaited->device, point);
    return status;
}

iso_status cpu_event_query(void *event)
{
    cpu_event *asked = event;
    cpu_point *point = cpu_event_last(asked);
    if (!point) {
        return ISO_NOT_READY;
    }
    iso_status status = is_complete(point) ? ISO_OK : ISO_NOT_READY;
    cpu_point_release(asked->device, point);
    if (status == ISO_NOT_READY) {
        cpu_team_resume();
    }
    return status;
}

iso_status cpu_event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    cpu_event *events[2] = {start, stop};
    int64_t times[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        cpu_point *point = cpu_event_last(events[i]);
        int complete = point && is_complete(point);
        if (complete) {
            times[i] = point->nanoseconds;
        }
        if (point) {
            cpu_point_release(events[i]->device, point);
        }
        if (!complete) {
            return cpu_host->fail(ISO_NOT_READY, "the %s event is not complete: wait for it first",
                                  i == 0 ? "start" : "stop");
        }
    }
    *nanoseconds = times[1] - times[0];
    return ISO_OK;
}
