/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - keeps the expected values of a problem, so that its other variants and devices do not
 * compute them again. */
#include "bench/check/check.h"

#include <stdlib.h>

enum { KEPT = 512 };

typedef struct entry {
    uint64_t key, used;
    int64_t bytes;
    void *data;
} entry;

struct check_cache {
    entry entries[KEPT];
    int64_t bytes, limit;
    uint64_t clock;
};

check_cache *check_cache_create(int64_t limit)
{
    check_cache *cache = calloc(1, sizeof *cache);
    if (cache) {
        cache->limit = limit;
    }
    return cache;
}

static void drop(check_cache *cache, entry *e)
{
    cache->bytes -= e->bytes;
    free(e->data);
    *e = (entry){0};
}

void check_cache_destroy(check_cache *cache)
{
    for (int i = 0; cache && i < KEPT; i++) {
        free(cache->entries[i].data);
    }
    free(cache);
}

static entry *find(check_cache *cache, uint64_t key)
{
    for (int i = 0; i < KEPT; i++) {
        if (cache->entries[i].data && cache->entries[i].key == key) {
            return &cache->entries[i];
        }
    }
    return NULL;
}

void check_cache_forget(check_cache *cache, uint64_t key)
{
    entry *found = find(cache, key);
    if (found) {
        drop(cache, found);
    }
}

/* Returns the entry that was used longest ago. An empty entry counts as the oldest, unless `full`
 * asks for one with data. */
static entry *oldest(check_cache *cache, bool full)
{
    entry *best = NULL;
    for (int i = 0; i < KEPT; i++) {
        entry *e = &cache->entries[i];
        if ((e->data || !full) && (!best || e->used < best->used)) {
            best = e;
        }
    }
    return best;
}

void *check_cache_get(check_cache *cache, uint64_t key, int64_t bytes, bool *fresh)
{
    entry *place = find(cache, key);
    *fresh = !place;
    if (place) {
        place->used = ++cache->clock;
        return place->data;
    }
    while (cache->bytes > 0 && cache->bytes + bytes > cache->limit) {
        drop(cache, oldest(cache, true));
    }
    place = oldest(cache, false);
    if (place->data) {
        drop(cache, place);
    }
    void *data = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
    if (!data) {
        return NULL;
    }
    *place = (entry){.key = key, .used = ++cache->clock, .bytes = bytes, .data = data};
    cache->bytes += bytes;
    return data;
}
