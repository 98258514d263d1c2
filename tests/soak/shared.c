/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - handles that all threads create, use and destroy without coordination: each call
 * succeeds or finds that the handle is gone. */
#include "tests/soak/soak.h"

enum { SLOTS = 24, BYTES = 4096 };

typedef enum kind { DEVICE, STREAM, EVENT, BUFFER, KINDS } kind;

static _Atomic uint64_t slots[KINDS][SLOTS];

#define ANY (SOAK(OK) | SOAK(INVALID) | SOAK(MISMATCH) | SOAK(NOT_READY) | SOAK(NO_MEMORY))

/* Stores a handle, and destroys the previous one. */
static void put(kind what, int slot, uint64_t id)
{
    uint64_t old = atomic_exchange(&slots[what][slot], id);
    switch (what) {
    case DEVICE:
        (void)SOAK_CALL(iso_device_close((iso_device){old}), SOAK(OK) | SOAK(INVALID));
        break;
    case STREAM:
        (void)SOAK_CALL(iso_stream_destroy((iso_stream){old}), SOAK(OK) | SOAK(INVALID));
        break;
    case EVENT:
        (void)SOAK_CALL(iso_event_destroy((iso_event){old}), SOAK(OK) | SOAK(INVALID));
        break;
    default:
        (void)SOAK_CALL(iso_buffer_destroy((iso_buffer){old}), SOAK(OK) | SOAK(INVALID));
    }
}

static uint64_t pick(kind what, soak_random *random)
{
    /* Few devices, so that most handles are of the same one. */
    return atomic_load(&slots[what][soak_below(random, what == DEVICE ? 2 : SLOTS)]);
}

static void create(kind what, soak_random *random)
{
    const iso_device device = {pick(DEVICE, random)};
    const int slot = soak_below(random, what == DEVICE ? 2 : SLOTS);
    iso_device opened = {0};
    iso_stream stream = {0};
    iso_event event = {0};
    iso_buffer buffer = {0};
    switch (what) {
    case DEVICE:
        if (soak_below(random, 8) == 0) { /* including everything that belongs to it */
            SOAK_OK(iso_device_open(soak_spec, &opened));
            put(DEVICE, slot, opened.id);
        }
        break;
    case STREAM:
        if (!SOAK_CALL(
                iso_stream_create(device, soak_below(random, 2) ? ISO_STREAM_INLINE : 0, &stream),
                ANY)) {
            put(STREAM, slot, stream.id);
        }
        break;
    case EVENT:
        if (!SOAK_CALL(iso_event_create(device, &event), ANY)) {
            put(EVENT, slot, event.id);
        }
        break;
    default:
        if (!SOAK_CALL(iso_buffer_create(device, BYTES, &buffer), ANY)) {
            put(BUFFER, slot, buffer.id);
        }
    }
}

static void wait_somewhere(soak_random *random)
{
    const iso_stream stream = {pick(STREAM, random)};
    const iso_event event = {pick(EVENT, random)}, later = {pick(EVENT, random)};
    int64_t took;
    switch (soak_below(random, 7)) {
    case 0:
        (void)SOAK_CALL(iso_stream_sync(stream), ANY);
        break;
    case 1:
        (void)SOAK_CALL(iso_stream_query(stream), ANY);
        break;
    case 2:
        (void)SOAK_CALL(iso_event_record(event, stream), ANY);
        break;
    case 3:
        (void)SOAK_CALL(iso_stream_wait(stream, event), ANY);
        break;
    case 4:
        (void)SOAK_CALL(iso_event_sync(event), ANY);
        break;
    case 5:
        (void)SOAK_CALL(iso_event_elapsed(event, later, &took), ANY);
        break;
    default:
        (void)SOAK_CALL(iso_stream_sync_timeout(stream, 100000), ANY | SOAK(TIMEOUT));
    }
}

static void move_something(soak_random *random)
{
    static const char pattern[16];
    const iso_stream stream = {pick(STREAM, random)};
    const iso_operand to = {{pick(BUFFER, random)}, 0}, from = {{pick(BUFFER, random)}, 0};
    iso_map_args map = ISO_MAP_ARGS_INIT;
    switch (soak_below(random, 4)) {
    case 0:
        (void)SOAK_CALL(iso_fill(stream, to, pattern, 16, BYTES), ANY);
        break;
    case 1:
        (void)SOAK_CALL(iso_copy(stream, to, from, BYTES / 2), ANY);
        break;
    case 2:
        (void)SOAK_CALL(
            iso_copy_between(stream, to, (iso_stream){pick(STREAM, random)}, from, BYTES / 4, NULL),
            ANY);
        break;
    default:
        map.op = ISO_MAP_COPY;
        map.dtype = ISO_I32;
        map.n = BYTES / 4;
        map.x = from;
        map.z = to;
        (void)SOAK_CALL(iso_map(stream, &map), ANY);
    }
}

/* A handle of one kind with another kind's tag: the slot and its generation are right. */
static void forge(soak_random *random)
{
    const uint64_t low = (UINT64_C(1) << 56) - 1;
    const uint64_t buffer = pick(BUFFER, random), stream = pick(STREAM, random);
    if (buffer && stream) {
        (void)SOAK_CALL(iso_stream_query((iso_stream){(stream & ~low) | (buffer & low)}),
                        SOAK(INVALID));
        (void)SOAK_CALL(iso_buffer_destroy((iso_buffer){(buffer & ~low) | (stream & low)}),
                        SOAK(INVALID));
    }
}

static void ask_something(soak_random *random)
{
    const iso_device device = {pick(DEVICE, random)};
    iso_buffer_info about = ISO_BUFFER_INFO_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    void *block = NULL;
    switch (soak_below(random, 5)) {
    case 0:
        (void)SOAK_CALL(iso_buffer_get_info((iso_buffer){pick(BUFFER, random)}, &about), ANY);
        break;
    case 1:
        (void)SOAK_CALL(iso_device_get_memory_use(device, &use), ANY);
        break;
    case 2:
        if (!SOAK_CALL(iso_host_alloc(device, BYTES, &block, NULL), ANY)) {
            (void)SOAK_CALL(iso_host_free(device, block), ANY);
        }
        break;
    case 3:
        forge(random);
        break;
    default:
        (void)SOAK_CALL(iso_device_close((iso_device){soak_next(random)}), SOAK(INVALID));
    }
}

void soak_shared_step(soak_random *random)
{
    switch (soak_below(random, 4)) {
    case 0:
        create((kind)soak_below(random, KINDS), random);
        break;
    case 1:
        wait_somewhere(random);
        break;
    case 2:
        move_something(random);
        break;
    default:
        ask_something(random);
    }
}

void soak_shared_open(void)
{
    for (int slot = 0; slot < 2; slot++) {
        iso_device device = {0};
        SOAK_OK(iso_device_open(soak_spec, &device));
        atomic_store(&slots[DEVICE][slot], device.id);
    }
}

void soak_shared_close(void)
{
    for (int slot = 0; slot < 2; slot++) {
        SOAK_OK(iso_device_close((iso_device){atomic_exchange(&slots[DEVICE][slot], 0)}));
    }
    for (int what = STREAM; what < KINDS; what++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            atomic_store(&slots[what][slot], 0);
        }
    }
}
