/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - device and pinned memory. Each allocation is a mapping of its own, filled with NaN,
 * that ends at a guard page (with up to 255 bytes between, which are checked after every launch).
 */
#include "tests/fakes/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 1 << 20, ALIGNMENT = 256, FRONT = 256, CANARY = 0xc5 };
#define POISON_ALL (64u << 20)
#define POISON_END (1u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_range *ranges;
static size_t range_count, range_capacity;
static int64_t pinned; /* atomic */

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static void add(const fake_range *range)
{
    if (range_count == range_capacity) {
        range_capacity = range_capacity ? 2 * range_capacity : 64;
        ranges = realloc(ranges, range_capacity * sizeof *ranges);
        if (!ranges) {
            abort();
        }
    }
    ranges[range_count++] = *range;
}

/* The slack between an allocation's end and the guard page. */
static size_t slack_of(const fake_range *range)
{
    char *end = (char *)range->mapping + range->mapped - GUARD;
    return (size_t)(end - (range->base + range->bytes));
}

static bool intact(const fake_range *range, size_t front)
{
    const unsigned char *before = (unsigned char *)range->base - front;
    const unsigned char *behind = (unsigned char *)range->base + range->bytes;
    const size_t slack = slack_of(range);
    for (size_t i = 0; i < front; i++) {
        if (before[i] != CANARY) {
            fprintf(stderr, "fake: something was written %zu bytes before %p (%zu bytes)\n",
                    front - i, (void *)range->base, range->bytes);
            return false;
        }
    }
    for (size_t i = 0; i < slack; i++) {
        if (behind[i] != CANARY) {
            fprintf(stderr,
                    "fake: something was written %zu bytes behind the end of %p (%zu bytes)\n", i,
                    (void *)range->base, range->bytes);
            return false;
        }
    }
    return true;
}

int fake_memory_alloc(fake_context *context, fake_memory_kind kind, size_t bytes, void **out)
{
    const int forbidden = fake_record_forbids(context, false);
    if (bytes == 0 || !out) {
        return FAKE_INVALID_VALUE;
    }
    if (forbidden) {
        return forbidden;
    }
    if (kind == FAKE_MEMORY_PINNED && (int64_t)bytes > fake_setting("FAKE_PINNED", INT64_MAX)) {
        return FAKE_OUT_OF_MEMORY;
    }
    const size_t charged = kind == FAKE_MEMORY_DEVICE ? round_up(bytes, 512) : 0;
    if (charged >
        (size_t)fake_device_memory() - (size_t)__atomic_load_n(&context->used, __ATOMIC_SEQ_CST)) {
        return FAKE_OUT_OF_MEMORY;
    }
    const size_t aligned = round_up(bytes, ALIGNMENT);
    const size_t mapped = round_up(aligned + FRONT, PAGE) + GUARD;
    char *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        return FAKE_OUT_OF_MEMORY;
    }
    (void)mprotect(mapping + mapped - GUARD, GUARD, PROT_NONE);
    fake_range range = {.base = mapping + mapped - GUARD - aligned,
                        .bytes = bytes,
                        .kind = kind,
                        .context = context,
                        .mapping = mapping,
                        .mapped = mapped};
    memset(mapping, CANARY, (size_t)(range.base - mapping));
    memset(range.base + bytes, CANARY, aligned - bytes);
    if (bytes <= POISON_ALL) {
        memset(range.base, 0xff, bytes);
    } else {
        memset(range.base, 0xff, POISON_END);
        memset(range.base + bytes - POISON_END, 0xff, POISON_END);
    }
    (void)__atomic_add_fetch(&context->used, (int64_t)charged, __ATOMIC_SEQ_CST);
    if (kind == FAKE_MEMORY_PINNED) {
        (void)__atomic_add_fetch(&pinned, (int64_t)bytes, __ATOMIC_SEQ_CST);
    }
    (void)pthread_mutex_lock(&lock);
    add(&range);
    (void)pthread_mutex_unlock(&lock);
    *out = range.base;
    return FAKE_OK;
}

static void unmap(const fake_range *range)
{
    if (range->kind == FAKE_MEMORY_DEVICE) {
        (void)__atomic_sub_fetch(&range->context->used, (int64_t)round_up(range->bytes, 512),
                                 __ATOMIC_SEQ_CST);
    }
    if (range->mapping) {
        (void)munmap(range->mapping, range->mapped);
    }
}

static int take(fake_memory_kind kind, const void *pointer, int otherwise)
{
    int code = otherwise;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].base == pointer && ranges[i].kind == kind) {
            const fake_range range = ranges[i];
            ranges[i] = ranges[--range_count];
            if (range.mapping) {
                (void)intact(&range, (size_t)(range.base - (char *)range.mapping));
            }
            unmap(&range);
            if (kind == FAKE_MEMORY_PINNED) {
                (void)__atomic_sub_fetch(&pinned, (int64_t)range.bytes, __ATOMIC_SEQ_CST);
            }
            code = FAKE_OK;
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return code;
}

int fake_memory_free(fake_memory_kind kind, void *pointer)
{
    return take(kind, pointer, FAKE_INVALID_VALUE);
}

static bool find(const void *address, fake_range *out)
{
    const char *at = address;
    for (size_t i = 0; i < range_count; i++) {
        if (at >= ranges[i].base && at < ranges[i].base + ranges[i].bytes) {
            *out = ranges[i];
            return true;
        }
    }
    return false;
}

bool fake_memory_find(const void *address, fake_range *out)
{
    (void)pthread_mutex_lock(&lock);
    const bool found = find(address, out);
    (void)pthread_mutex_unlock(&lock);
    return found;
}

bool fake_is_device(const void *address, size_t bytes)
{
    fake_range range;
    return fake_memory_find(address, &range) && range.kind == FAKE_MEMORY_DEVICE &&
           bytes <= (size_t)(range.base + range.bytes - (const char *)address);
}

int fake_host_register(fake_context *context, void *pointer, size_t bytes)
{
    fake_range range;
    if (!pointer || bytes == 0) {
        return FAKE_INVALID_VALUE;
    }
    int code = FAKE_OK;
    (void)pthread_mutex_lock(&lock);
    if (find(pointer, &range) || find((char *)pointer + bytes - 1, &range)) {
        code = FAKE_HOST_REGISTERED;
    } else {
        range = (fake_range){
            .base = pointer, .bytes = bytes, .kind = FAKE_MEMORY_REGISTERED, .context = context};
        add(&range);
    }
    (void)pthread_mutex_unlock(&lock);
    return code;
}

int fake_host_unregister(void *pointer)
{
    return take(FAKE_MEMORY_REGISTERED, pointer, FAKE_HOST_NOT_REGISTERED);
}

bool fake_memory_intact(void)
{
    bool whole = true;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count && whole; i++) {
        whole = !ranges[i].mapping || intact(&ranges[i], FRONT);
    }
    (void)pthread_mutex_unlock(&lock);
    return whole;
}

int64_t fake_memory_pinned(void)
{
    return __atomic_load_n(&pinned, __ATOMIC_SEQ_CST);
}

void fake_memory_drop(const fake_context *context)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = range_count; i > 0; i--) {
        if (ranges[i - 1].context == context) {
            unmap(&ranges[i - 1]);
            ranges[i - 1] = ranges[--range_count];
        }
    }
    (void)pthread_mutex_unlock(&lock);
}
