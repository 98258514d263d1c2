/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - large transfers of pageable memory. Drivers move such memory through a small pinned
 * block of their own, with one thread, several times slower than the link. Here several threads
 * move it: the caller, and helpers that a device gets at the first such transfer of each direction.
 * Each of them has pinned blocks of its own. It takes one part of the transfer after another, and
 *
 *   writes  waits until its block's last copy is done, fills the block and submits the block's copy
 *   reads   submits the copies of as many parts as it has blocks, and empties each when it is done
 *
 * All copies are on the transfer's stream. The call returns when the program's memory has been
 * read, or written: as with the driver's own path, that is earlier than the program may rely on.
 *
 * One transfer at a time uses the blocks of a direction. So that others never wait for more than
 * copies, a transfer first waits, without the blocks, for the stream's earlier work, which may wait
 * for anything.
 */
#include "backends/simt/simt.h"

#include <isomer/status.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    RING_BLOCK = 2 << 20,
    RING_BLOCKS = 3,       /* of each thread */
    RING_HELPERS_MOST = 7, /* and at most half of the processors */
    RING_LEAST = 8 << 20,  /* smaller transfers are left to the driver */
    RING_PAGE = 4096,
    RING_TEXT = 1024
};

typedef struct ring_block {
    char *memory;
    simt_event done; /* the block's last copy */
    bool made;       /* the event exists */
    bool pending;    /* the copy may be running */
    int64_t part;    /* what the block is to be emptied to; -1: nothing */
} ring_block;

/* What one thread has. */
typedef struct ring_share {
    struct simt_ring *ring;
    pthread_t thread;
    uint64_t seen; /* the number of the last transfer in which it helped */
    int32_t turn;  /* the block that was used least recently */
    ring_block blocks[RING_BLOCKS];
} ring_share;

/* One transfer, in parts of `rows` rows of `width` bytes; the last parts may be smaller. */
typedef struct ring_job {
    simt_stream *stream;
    iso_transfer transfer;
    int64_t rows, width;
    int64_t across; /* parts of a row */
    int64_t count;
    atomic_llong next;
    atomic_int failed; /* the status of the first failure, whose text the ring has */
} ring_job;

/* The blocks of a device for one direction. */
typedef struct simt_ring {
    simt_device *device;
    void *memory;         /* pinned: all blocks */
    pthread_mutex_t busy; /* held by the transfer that uses the blocks */
    bool unusable;        /* a block may be in use for ever; guarded by busy */
    pthread_mutex_t lock; /* guards the following fields */
    pthread_cond_t begun, ended;
    ring_job *job; /* NULL: none that wants help */
    uint64_t number;
    int32_t working; /* helpers */
    bool stop;
    int32_t helpers; /* their shares follow the caller's */
    char text[RING_TEXT];
    ring_share shares[1 + RING_HELPERS_MOST];
} simt_ring;

/* ---- parts ----------------------------------------------------------------------------------- */

/* Where a part lies in the transfer. */
typedef struct ring_place {
    int64_t row, at, rows, width;
} ring_place;

static void divide(ring_job *job)
{
    iso_transfer *whole = &job->transfer;
    if (whole->height == 1 ||
        (whole->to_pitch == whole->width && whole->from_pitch == whole->width)) {
        whole->width *= whole->height;
        whole->height = 1;
        whole->to_pitch = whole->from_pitch = whole->width;
    }
    job->across = simt_pieces(whole->width, RING_BLOCK);
    job->rows = job->across > 1 ? 1 : RING_BLOCK / whole->width;
    /* Parts of a long row are about equal, so that none of them is very small. */
    job->width = job->across > 1
                     ? simt_pieces(simt_pieces(whole->width, job->across), RING_PAGE) * RING_PAGE
                     : whole->width;
    job->count = job->across * simt_pieces(whole->height, job->rows);
    atomic_init(&job->next, 0);
    atomic_init(&job->failed, ISO_OK);
}

static ring_place place_of(const ring_job *job, int64_t part)
{
    const int64_t row = part / job->across * job->rows;
    const int64_t at = part % job->across * job->width;
    return (ring_place){.row = row,
                        .at = at,
                        .rows = simt_least(job->rows, job->transfer.height - row),
                        .width = simt_least(job->width, job->transfer.width - at)};
}

static void copy_rows(char *to, int64_t to_pitch, const char *from, int64_t from_pitch,
                      const ring_place *place)
{
    if (to_pitch == place->width && from_pitch == place->width) {
        memcpy(to, from, (size_t)(place->width * place->rows));
        return;
    }
    for (int64_t row = 0; row < place->rows; row++) {
        memcpy(to + row * to_pitch, from + row * from_pitch, (size_t)place->width);
    }
}

static void fill(const ring_job *job, const ring_block *block, const ring_place *place)
{
    const iso_transfer *whole = &job->transfer;
    const char *from = (const char *)whole->host_from + place->row * whole->from_pitch + place->at;
    copy_rows(block->memory, place->width, from, whole->from_pitch, place);
}

static void empty(const ring_job *job, const ring_block *block)
{
    const iso_transfer *whole = &job->transfer;
    const ring_place place = place_of(job, block->part);
    char *to = (char *)whole->host_to + place.row * whole->to_pitch + place.at;
    copy_rows(to, whole->to_pitch, block->memory, place.width, &place);
}

/* ---- the work of a thread -------------------------------------------------------------------- */

static bool reads(const ring_job *job)
{
    return job->transfer.kind == ISO_TRANSFER_READ;
}

static void note(simt_ring *ring, ring_job *job, iso_status status)
{
    int none = ISO_OK;
    if (status && atomic_compare_exchange_strong(&job->failed, &none, (int)status)) {
        (void)snprintf(ring->text, sizeof ring->text, "%s", iso_last_error());
    }
}

/* Waits until the block may be used again, and first empties it if it has been read into. */
static iso_status settle(const ring_job *job, ring_block *block)
{
    if (block->pending) {
        const iso_status status = job->stream->device->driver->event_sync(&block->done);
        if (status) {
            return status;
        }
        block->pending = false;
    }
    if (block->part >= 0) {
        empty(job, block);
        block->part = -1;
    }
    return ISO_OK;
}

/* Submits the copy of a part between its block and the device. */
static void submit(simt_ring *ring, ring_job *job, ring_block *block, int64_t part)
{
    const simt_driver *driver = ring->device->driver;
    const ring_place place = place_of(job, part);
    iso_transfer copy = job->transfer;
    copy.width = place.width;
    copy.height = place.rows;
    if (reads(job)) {
        copy.from.offset += place.row * copy.from_pitch + place.at;
        copy.host_to = block->memory;
        copy.to_pitch = place.width;
    } else {
        copy.to.offset += place.row * copy.to_pitch + place.at;
        copy.host_from = block->memory;
        copy.from_pitch = place.width;
    }
    iso_status status = driver->transfer(job->stream, &copy);
    if (!status) {
        status = driver->event_record(&block->done, job->stream);
    }
    if (!status) {
        block->pending = true;
        block->part = reads(job) ? part : -1;
        return;
    }
    note(ring, job, status);
}

static void carry(ring_share *share, ring_job *job)
{
    simt_ring *ring = share->ring;
    while (atomic_load(&job->failed) == ISO_OK) {
        const int64_t part = atomic_fetch_add(&job->next, 1);
        if (part >= job->count) {
            break;
        }
        ring_block *block = &share->blocks[share->turn];
        share->turn = (share->turn + 1) % RING_BLOCKS;
        const iso_status status = settle(job, block);
        if (status) {
            note(ring, job, status);
            break;
        }
        if (!reads(job)) {
            const ring_place place = place_of(job, part);
            fill(job, block, &place);
        }
        submit(ring, job, block, part);
    }
    for (int32_t i = 0; i < RING_BLOCKS; i++) {
        ring_block *block = &share->blocks[(share->turn + i) % RING_BLOCKS];
        if (block->part >= 0 && atomic_load(&job->failed) == ISO_OK) {
            note(ring, job, settle(job, block));
        }
        block->part = -1;
    }
}

static void *help(void *argument)
{
    ring_share *share = argument;
    simt_ring *ring = share->ring;
    (void)pthread_setname_np(pthread_self(), "isomer-copies");
    (void)pthread_mutex_lock(&ring->lock);
    while (!ring->stop) {
        ring_job *job = share->seen == ring->number ? NULL : ring->job;
        if (!job) {
            (void)pthread_cond_wait(&ring->begun, &ring->lock);
            continue;
        }
        share->seen = ring->number;
        ring->working++;
        (void)pthread_mutex_unlock(&ring->lock);
        carry(share, job);
        (void)pthread_mutex_lock(&ring->lock);
        if (--ring->working == 0) {
            (void)pthread_cond_signal(&ring->ended);
        }
    }
    (void)pthread_mutex_unlock(&ring->lock);
    return NULL;
}

/* ---- the life of a ring ---------------------------------------------------------------------- */

static void ring_close(simt_ring *ring)
{
    simt_device *device = ring->device;
    (void)pthread_mutex_lock(&ring->lock);
    ring->stop = true;
    (void)pthread_cond_broadcast(&ring->begun);
    (void)pthread_mutex_unlock(&ring->lock);
    for (int32_t i = 1; i <= ring->helpers; i++) {
        (void)pthread_join(ring->shares[i].thread, NULL);
    }
    for (int32_t i = 0; i < (1 + RING_HELPERS_MOST) * RING_BLOCKS; i++) {
        ring_block *block = &ring->shares[i / RING_BLOCKS].blocks[i % RING_BLOCKS];
        if (block->pending) {
            (void)device->driver->event_sync(&block->done);
        }
        if (block->made) {
            device->driver->event_destroy(&block->done);
        }
    }
    if (ring->memory) {
        device->driver->host_free(device, ring->memory);
    }
    (void)pthread_cond_destroy(&ring->ended);
    (void)pthread_cond_destroy(&ring->begun);
    (void)pthread_mutex_destroy(&ring->lock);
    (void)pthread_mutex_destroy(&ring->busy);
    device->host->free(ring);
}

/* The processors on which this thread may run. */
static int32_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    return (int32_t)sysconf(_SC_NPROCESSORS_ONLN); /* more than the set has room for */
}

static iso_status share_open(simt_ring *ring, int32_t index)
{
    const simt_driver *driver = ring->device->driver;
    ring_share *share = &ring->shares[index];
    iso_status status = ISO_OK;
    share->ring = ring;
    for (int32_t i = 0; i < RING_BLOCKS && !status; i++) {
        ring_block *block = &share->blocks[i];
        block->memory = (char *)ring->memory + ((int64_t)index * RING_BLOCKS + i) * RING_BLOCK;
        block->part = -1;
        block->done.device = ring->device;
        status = driver->event_create(&block->done);
        block->made = status == ISO_OK;
    }
    return status;
}

/* NULL: the driver has no pinned memory, or there are no events. Fewer helpers are no failure. */
static simt_ring *ring_open(simt_device *device)
{
    const int32_t most = (int32_t)simt_least(processors() / 2, RING_HELPERS_MOST);
    const int64_t bytes = (int64_t)(1 + most) * RING_BLOCKS * RING_BLOCK;
    simt_ring *ring = device->host->alloc((int64_t)sizeof *ring);
    int32_t pinned = 0;
    if (!ring) {
        return NULL;
    }
    memset(ring, 0, sizeof *ring);
    ring->device = device;
    (void)pthread_mutex_init(&ring->busy, NULL);
    (void)pthread_mutex_init(&ring->lock, NULL);
    (void)pthread_cond_init(&ring->begun, NULL);
    (void)pthread_cond_init(&ring->ended, NULL);
    iso_status status = device->driver->host_alloc(device, bytes, &ring->memory, &pinned);
    ring->memory = status ? NULL : ring->memory;
    for (int32_t i = 0; i <= most && !status; i++) {
        status = share_open(ring, i);
    }
    if (status || !pinned) {
        device->host->log(ISO_LOG_INFO,
                          "%s: no pinned memory for large transfers of pageable memory, so they "
                          "are left to the driver: %s",
                          device->driver->name, status ? iso_last_error() : "it is not pinned");
        ring_close(ring);
        return NULL;
    }
    while (ring->helpers < most) {
        ring_share *share = &ring->shares[ring->helpers + 1];
        if (simt_thread_start(&share->thread, help, share)) {
            break;
        }
        ring->helpers++;
    }
    return ring;
}

static simt_ring *ring_get(simt_device *device, bool to_host)
{
    (void)pthread_mutex_lock(&device->rings_lock);
    if (!device->rings[to_host]) {
        device->rings[to_host] = ring_open(device);
    }
    simt_ring *ring = device->rings[to_host];
    (void)pthread_mutex_unlock(&device->rings_lock);
    return ring;
}

void simt_rings_close(simt_device *device)
{
    for (int i = 0; i < 2; i++) {
        if (device->rings[i]) {
            ring_close(device->rings[i]);
        }
        device->rings[i] = NULL;
    }
}

/* ---- the entry ------------------------------------------------------------------------------- */

static bool is_wanted(simt_stream *stream, const iso_transfer *transfer)
{
    const simt_driver *driver = stream->device->driver;
    const bool read = transfer->kind == ISO_TRANSFER_READ;
    if ((!read && transfer->kind != ISO_TRANSFER_WRITE) || !driver->is_pageable ||
        stream->device->limits.host_pages || transfer->width * transfer->height < RING_LEAST) {
        return false;
    }
    const char *first = read ? transfer->host_to : transfer->host_from;
    const int64_t pitch = read ? transfer->to_pitch : transfer->from_pitch;
    return driver->is_pageable(stream, first,
                               first + (transfer->height - 1) * pitch + transfer->width - 1);
}

/* Waits for the stream's work until now. *can: this was possible. */
static iso_status reach(simt_stream *stream, bool *can)
{
    const simt_driver *driver = stream->device->driver;
    iso_status status = driver->stream_query(stream);
    *can = true;
    if (status != ISO_NOT_READY) {
        return status;
    }
    if (!stream->reached) {
        void *made = NULL;
        *can = simt_event_create(stream->device, &made) == ISO_OK;
        stream->reached = made;
    }
    if (!stream->reached) {
        return ISO_OK;
    }
    status = driver->event_record(stream->reached, stream);
    return status ? status : driver->event_sync(stream->reached);
}

static iso_status run(simt_ring *ring, ring_job *job)
{
    (void)pthread_mutex_lock(&ring->lock);
    ring->job = job;
    ring->number++;
    (void)pthread_cond_broadcast(&ring->begun);
    (void)pthread_mutex_unlock(&ring->lock);
    carry(&ring->shares[0], job);
    (void)pthread_mutex_lock(&ring->lock);
    ring->job = NULL;
    while (ring->working > 0) {
        (void)pthread_cond_wait(&ring->ended, &ring->lock);
    }
    (void)pthread_mutex_unlock(&ring->lock);
    const iso_status failed = (iso_status)atomic_load(&job->failed);
    if (!failed) {
        return ISO_OK;
    }
    /* There may be copies whose end no event tells. */
    ring->unusable = ring->device->driver->stream_sync(job->stream) != ISO_OK;
    return ring->device->host->fail(failed, "%s", ring->text);
}

iso_status simt_ring_transfer(simt_stream *stream, const iso_transfer *transfer, bool *taken)
{
    *taken = is_wanted(stream, transfer);
    if (!*taken) {
        return ISO_OK;
    }
    const iso_status status = reach(stream, taken);
    if (status || !*taken) {
        return status;
    }
    simt_ring *ring = ring_get(stream->device, transfer->kind == ISO_TRANSFER_READ);
    *taken = ring != NULL;
    if (!ring) {
        return ISO_OK;
    }
    ring_job job = {.stream = stream, .transfer = *transfer};
    divide(&job);
    (void)pthread_mutex_lock(&ring->busy);
    *taken = !ring->unusable;
    const iso_status done = *taken ? run(ring, &job) : ISO_OK;
    (void)pthread_mutex_unlock(&ring->busy);
    return done;
}

void simt_reached_close(simt_stream *stream)
{
    if (stream->reached) {
        simt_event_destroy(stream->reached);
    }
    stream->reached = NULL;
}
