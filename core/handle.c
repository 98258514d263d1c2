/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - handles: an id is [kind 8][generation 32][slot 24]. A look-up takes no lock: one
 * compare-and-swap on the slot's state registers the call if the generation is right and the handle
 * alive.
 */
#include "core/call.h"
#include "core/device.h"
#include "core/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SLOTS = 256, CHUNKS = 65536, SLOT_BITS = 24 };

/* A slot's state is [generation 32][alive 1][calls 31]. */
#define ALIVE       (UINT64_C(1) << 31)
#define CALLS(s)    ((s) & (ALIVE - 1))
#define OF_STATE(s) ((uint32_t)((s) >> 32))

typedef struct slot {
    _Atomic uint64_t state;
    void *object;
    uint32_t next_free; /* slot + 1; 0: none */
    /* Atomic, because a look-up with a stale handle may read it while the slot is being reused.
     * That look-up then fails at its compare-and-swap, because the generation differs. */
    _Atomic uint8_t kind;
} slot;

static _Atomic(slot *) chunks[CHUNKS];
static atomic_uint slot_count;
static atomic_uint inherited; /* in a child of fork(): slots below it belong to the parent */
static uint32_t first_free;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle_changed = PTHREAD_COND_INITIALIZER;

static const char *const kind_names[CORE_KIND_COUNT] = {
    [CORE_DEVICE] = "a device",     [CORE_STREAM] = "a stream",   [CORE_EVENT] = "an event",
    [CORE_BUFFER] = "a buffer",     [CORE_PROGRAM] = "a program", [CORE_SPARSE] = "a sparse matrix",
    [CORE_COMM] = "a communicator", [CORE_GRID] = "a grid",       [CORE_GRAPH] = "a graph",
};

static slot *slot_at(uint32_t index)
{
    slot *chunk = atomic_load_explicit(&chunks[index / CHUNK_SLOTS], memory_order_acquire);

    return chunk ? &chunk[index % CHUNK_SLOTS] : NULL;
}

static uint32_t id_slot(uint64_t id)
{
    return (uint32_t)(id & ((1u << SLOT_BITS) - 1));
}

static uint32_t id_generation(uint64_t id)
{
    return (uint32_t)(id >> SLOT_BITS);
}

static uint32_t id_kind(uint64_t id)
{
    return (uint32_t)(id >> 56);
}

/* Called with the table locked. */
static slot *slot_take(uint32_t *index)
{
    uint32_t count = atomic_load(&slot_count);
    slot *free_slot;

    if (first_free) {
        *index = first_free - 1;
        free_slot = slot_at(*index);
        first_free = free_slot->next_free;
        return free_slot;
    }
    if (count == (uint32_t)CHUNK_SLOTS * CHUNKS) {
        return NULL;
    }
    if (!slot_at(count)) {
        slot *chunk = calloc(CHUNK_SLOTS, sizeof *chunk);

        if (!chunk) {
            return NULL;
        }
        for (int i = 0; i < CHUNK_SLOTS; i++) {
            atomic_init(&chunk[i].state, UINT64_C(1) << 32);
        }
        atomic_store_explicit(&chunks[count / CHUNK_SLOTS], chunk, memory_order_release);
    }
    *index = count;
    atomic_store(&slot_count, count + 1);
    return slot_at(count);
}

uint64_t core_handle_new(const char *call, core_kind kind, void *object)
{
    uint32_t index = 0, generation;
    slot *taken;

    pthread_mutex_lock(&table_lock);
    taken = slot_take(&index);
    pthread_mutex_unlock(&table_lock);
    if (!taken) {
        core_fail(ISO_NO_MEMORY, "%s: no host memory for another handle", call);
        return 0;
    }
    generation = OF_STATE(atomic_load(&taken->state));
    taken->object = object;
    atomic_store_explicit(&taken->kind, (uint8_t)kind, memory_order_relaxed);
    atomic_store_explicit(&taken->state, (uint64_t)generation << 32 | ALIVE, memory_order_release);
    return (uint64_t)kind << 56 | (uint64_t)generation << SLOT_BITS | index;
}

/* Fails with the reason why an id is not a valid handle of the kind. */
static iso_status refuse(const char *call, const char *argument, uint64_t id, core_kind kind)
{
    uint32_t index = id_slot(id), is = id_kind(id);
    slot *at = index < atomic_load(&slot_count) ? slot_at(index) : NULL;
    uint64_t state = at ? atomic_load(&at->state) : 0;
    const char *why = "was destroyed";

    if (!id) {
        return core_fail(ISO_INVALID, "%s: %s is zero, which is not a handle: pass %s", call,
                         argument, kind_names[kind]);
    }
    if (!at || is < CORE_DEVICE || is >= CORE_KIND_COUNT || id_generation(id) > OF_STATE(state) ||
        !id_generation(id)) {
        return core_fail(ISO_INVALID, "%s: %s (0x%016llx) is not a handle: pass %s", call, argument,
                         (unsigned long long)id, kind_names[kind]);
    }
    if (is != (uint32_t)kind) {
        return core_fail(ISO_INVALID, "%s: %s (0x%016llx) is %s, not %s", call, argument,
                         (unsigned long long)id, kind_names[is], kind_names[kind]);
    }
    if (index < atomic_load(&inherited) && id_generation(id) == OF_STATE(state) && state & ALIVE) {
        why = "was opened before fork(): open another in the child process";
    }
    return core_fail(ISO_INVALID, "%s: %s (0x%016llx) is %s that %s", call, argument,
                     (unsigned long long)id, kind_names[kind], why);
}

/* Finds the slot of an id, and registers the call or, with `retire`, marks the handle as destroyed.
 * NULL if the id is not valid. */
static slot *enter(uint64_t id, bool retire)
{
    uint32_t index = id_slot(id);
    uint64_t state, changed;
    slot *at;

    if (index >= atomic_load_explicit(&slot_count, memory_order_acquire) ||
        index < atomic_load_explicit(&inherited, memory_order_relaxed)) {
        return NULL;
    }
    at = slot_at(index);
    state = atomic_load_explicit(&at->state, memory_order_acquire);
    do {
        if (OF_STATE(state) != id_generation(id) || !(state & ALIVE) ||
            atomic_load_explicit(&at->kind, memory_order_relaxed) != id_kind(id)) {
            return NULL;
        }
        changed = retire ? state & ~ALIVE : state + 1;
    } while (!atomic_compare_exchange_weak_explicit(&at->state, &state, changed,
                                                    memory_order_acq_rel, memory_order_acquire));
    return at;
}

bool core_handle_get(uint64_t id, core_kind kind, void *object)
{
    slot *at = id_kind(id) == (uint32_t)kind ? enter(id, false) : NULL;

    if (at) {
        memcpy(object, &at->object, sizeof at->object);
    }
    return at != NULL;
}

iso_status core_handle_acquire(const char *call, const char *argument, uint64_t id, core_kind kind,
                               void *object)
{
    return core_handle_get(id, kind, object) ? ISO_OK : refuse(call, argument, id, kind);
}

bool core_handle_try(uint64_t id)
{
    return enter(id, false) != NULL;
}

bool core_handle_alive(uint64_t id)
{
    const uint64_t state = atomic_load(&slot_at(id_slot(id))->state);

    return OF_STATE(state) == id_generation(id) && state & ALIVE;
}

bool core_handle_gone(uint64_t id)
{
    const slot *at = slot_at(id_slot(id));

    return OF_STATE(atomic_load_explicit(&at->state, memory_order_acquire)) != id_generation(id);
}

void core_handle_release(uint64_t id)
{
    slot *at = slot_at(id_slot(id));
    uint64_t left = atomic_fetch_sub_explicit(&at->state, 1, memory_order_acq_rel) - 1;

    if (!(left & ALIVE) && !CALLS(left)) {
        pthread_mutex_lock(&idle_lock);
        pthread_cond_broadcast(&idle_changed);
        pthread_mutex_unlock(&idle_lock);
    }
}

void core_handle_put(void *pointer)
{
    const uint64_t *object; /* its id is its first member */

    memcpy(&object, pointer, sizeof object);
    if (object) {
        core_handle_release(*object);
    }
}

static slot *retire(uint64_t id)
{
    slot *at = enter(id, true);

    if (!at) {
        return NULL;
    }
    pthread_mutex_lock(&idle_lock);
    while (CALLS(atomic_load_explicit(&at->state, memory_order_acquire))) {
        pthread_cond_wait(&idle_changed, &idle_lock);
    }
    pthread_mutex_unlock(&idle_lock);
    return at;
}

iso_status core_handle_in_use(const char *call, const char *argument)
{
    return core_fail(ISO_INTERNAL,
                     "%s: %s is in use: called from an exit handler while this thread is inside a "
                     "backend's call",
                     call, argument);
}

iso_status core_handle_retire(const char *call, const char *argument, uint64_t id, core_kind kind,
                              void *object)
{
    slot *at;

    if (core_inside() && id_slot(id) < atomic_load(&slot_count) &&
        CALLS(atomic_load(&slot_at(id_slot(id))->state))) {
        return core_handle_in_use(call, argument);
    }
    at = id_kind(id) == (uint32_t)kind ? retire(id) : NULL;
    if (!at) {
        return refuse(call, argument, id, kind);
    }
    memcpy(object, &at->object, sizeof at->object);
    return ISO_OK;
}

bool core_handle_retire_quietly(uint64_t id)
{
    return retire(id) != NULL;
}

void core_handle_free(uint64_t id)
{
    slot *at = slot_at(id_slot(id));
    uint32_t generation = id_generation(id) + 1;

    pthread_mutex_lock(&table_lock);
    at->object = NULL;
    if (generation) { /* a slot whose generations are used up is not reused */
        atomic_store_explicit(&at->state, (uint64_t)generation << 32, memory_order_release);
        at->next_free = first_free;
        first_free = id_slot(id) + 1;
    }
    pthread_mutex_unlock(&table_lock);
}

void core_handle_fork(int stage)
{
    core_fork_lock(&table_lock, stage);
    if (stage != CORE_FORK_CHILD) {
        return;
    }
    /* The child does not reuse the parent's slots, so that it can recognise the parent's handles.
     */
    atomic_store(&inherited, atomic_load(&slot_count));
    first_free = 0;
    pthread_mutex_init(&idle_lock, NULL);
    pthread_cond_init(&idle_changed, NULL);
}
