/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - a device with its stream and the memory that cases share on it. */
#include "bench/workload/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Cases may use this part of the free memory. The rest is left for other uses of the device. */
static const double usable = 0.9;

/* UNKNOWN_CACHE is for a device that does not report the size of its cache. AMD's runtimes report
 * only the L2 cache; behind it is the larger Infinity Cache. INFINITY_CACHE is the largest size
 * that this cache has. */
enum { UNKNOWN_CACHE = 64 << 20, INFINITY_CACHE = 256 << 20 };

/* The size that is assumed if a device does not report how much memory it has. */
enum { UNKNOWN_MEMORY = 1 << 30 };

int64_t work_memory(const iso_device_info *info)
{
    return info->memory_total >= 0 ? info->memory_total : UNKNOWN_MEMORY;
}

static void find_available(work_target *target)
{
    const iso_device_info *info = &target->info;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    int64_t there = info->memory_free >= 0 ? info->memory_free : work_memory(info);
    target->available = (int64_t)((double)there * usable);
    if (iso_device_get_memory_use(target->device, &use) == ISO_OK && use.limit >= 0 &&
        use.limit < target->available) {
        target->available = use.limit;
        target->limited = true;
    }
}

work_target *work_target_open(const char *spec, iso_math math, work_inputs *inputs, int *code)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    work_target *target = calloc(1, sizeof *target);
    if (!target) {
        *code = tool_error(TOOL_INTERNAL, "no memory to open %s", spec ? spec : "a device");
        return NULL;
    }
    target->inputs = inputs;
    target->pinned = -1;
    target->info = (iso_device_info)ISO_DEVICE_INFO_INIT;
    options.math = math;
    iso_status status = iso_device_open_with(spec, &options, &target->device);
    if (status == ISO_OK) {
        status = iso_device_get_info(target->device, &target->info);
    }
    if (status == ISO_OK) {
        status = iso_stream_create(target->device, 0, &target->stream);
    }
    if (status != ISO_OK) {
        *code = tool_error(tool_code(status), "%s", tool_reason());
        work_target_close(target);
        return NULL;
    }
    find_available(target);
    *code = TOOL_OK;
    return target;
}

static void unmap(void *block, int64_t bytes)
{
    if (block) {
        munmap(block, (size_t)bytes);
    }
}

void work_target_close(work_target *target)
{
    if (!target) {
        return;
    }
    if (target->stream.id != 0) {
        iso_stream_sync(target->stream); /* work that still uses the sink must end first */
    }
    if (target->device.id != 0) {
        iso_device_close(target->device); /* also frees everything on it */
    }
    unmap(target->sink, target->sink_bytes);
    free(target);
}

void work_target_share(work_target *target, int32_t parts)
{
    target->available /= parts;
}

const iso_device_info *work_target_info(const work_target *target)
{
    return &target->info;
}

iso_device work_target_device(const work_target *target)
{
    return target->device;
}

iso_stream work_target_stream(const work_target *target)
{
    return target->stream;
}

static void drop(work_room *room)
{
    if (room->buffer.id != 0) {
        iso_buffer_destroy(room->buffer);
    }
    room->buffer.id = 0;
    room->bytes = 0;
}

static bool drop_apart(work_target *target)
{
    bool any = false;
    for (int i = 0; i < 2; i++) {
        any |= target->apart[i].bytes > 0;
        drop(&target->apart[i]);
        target->apart[i].type = (iso_dtype)0;
    }
    return any;
}

bool work_target_revive(work_target *target)
{
    if (target->stream.id != 0) {
        iso_stream_destroy(target->stream);
    }
    target->stream.id = 0;
    for (int type = 1; type < WORK_TYPES; type++) {
        drop(&target->input[type]);
    }
    drop_apart(target);
    while (work_own_drop_oldest(target)) {
    }
    return iso_stream_create(target->device, 0, &target->stream) == ISO_OK;
}

/* ---- device memory --------------------------------------------------------------------------- */

/* Frees the inputs that were used longest ago, but never those of type `but`. */
static bool evict(work_target *target, iso_dtype but)
{
    int oldest = 0;
    for (int type = 1; type < WORK_TYPES; type++) {
        if (type != (int)but && target->input[type].bytes > 0 &&
            (oldest == 0 || target->input[type].used < target->input[oldest].used)) {
            oldest = type;
        }
    }
    if (oldest == 0) {
        return false;
    }
    drop(&target->input[oldest]);
    return true;
}

bool work_target_crowded(const work_target *target)
{
    int64_t sum = target->result.wanted + target->apart[0].wanted + target->apart[1].wanted;
    for (int type = 1; type < WORK_TYPES; type++) {
        sum += target->input[type].wanted;
    }
    return sum > target->available;
}

/* Allocates a room that is large enough for every case. If memory is short, it is only large enough
 * for this case, so that a small case does not displace the inputs of large ones. */
static iso_status make(work_target *target, iso_dtype keep, int64_t needed, work_room *room)
{
    drop(room);
    bool small = needed < room->wanted / 4 && work_target_crowded(target);
    int64_t asked = room->wanted > needed && !small ? room->wanted : needed;
    iso_status status = iso_buffer_create(target->device, asked, &room->buffer);
    bool apart = room == &target->apart[0] || room == &target->apart[1];
    while (status == ISO_NO_MEMORY && (evict(target, keep) || (!apart && drop_apart(target)) ||
                                       work_own_drop_oldest(target))) {
        status = iso_buffer_create(target->device, asked, &room->buffer);
    }
    if (status == ISO_NO_MEMORY && asked > needed) {
        asked = needed;
        status = iso_buffer_create(target->device, asked, &room->buffer);
    }
    room->bytes = status == ISO_OK ? asked : 0;
    return status;
}

iso_status work_target_input(work_target *target, iso_dtype type, int64_t bytes, iso_buffer *out)
{
    int64_t there;
    const unsigned char *block = work_inputs_block(target->inputs, type, &there);
    work_room *room = &target->input[type];
    room->used = ++target->clock;
    if (room->bytes < bytes) {
        iso_status status = make(target, type, bytes, room);
        if (status == ISO_OK && block) {
            status = iso_write(target->stream, (iso_operand){room->buffer, 0}, block, room->bytes);
        }
        if (status == ISO_OK) {
            status = iso_stream_sync(target->stream);
        }
        if (status != ISO_OK) {
            drop(room);
            return status;
        }
    }
    *out = room->buffer;
    return ISO_OK;
}

iso_status work_target_apart(work_target *target, int which, iso_dtype type, int64_t at,
                             int64_t bytes, iso_buffer *out)
{
    work_room *room = &target->apart[which];
    iso_status status = ISO_OK;
    *out = room->buffer;
    if (room->type == type && room->at == at && room->length == bytes) {
        return ISO_OK;
    }
    room->type = (iso_dtype)0;
    if (room->bytes < bytes) {
        status = make(target, type, bytes, room);
    }
    if (status == ISO_OK) {
        status = iso_copy(target->stream, (iso_operand){room->buffer, 0},
                          (iso_operand){target->input[type].buffer, at}, bytes);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(target->stream);
    }
    if (status != ISO_OK) {
        return status;
    }
    room->type = type;
    room->at = at;
    room->length = bytes;
    *out = room->buffer;
    return ISO_OK;
}

iso_status work_target_result(work_target *target, int64_t bytes, iso_buffer *out)
{
    work_room *room = &target->result;
    iso_status status = room->bytes < bytes ? make(target, (iso_dtype)0, bytes, room) : ISO_OK;
    *out = room->buffer;
    return status;
}

bool work_target_drop_inputs(work_target *target)
{
    return evict(target, (iso_dtype)0) || drop_apart(target);
}

static int64_t flush_bytes(const work_target *target)
{
    return (2 * work_cache_bytes(&target->info) + 255) / 256 * 256;
}

iso_status work_target_flush_room(work_target *target)
{
    int64_t bytes = flush_bytes(target);
    return target->flush.bytes < bytes ? make(target, (iso_dtype)0, bytes, &target->flush) : ISO_OK;
}

iso_status work_target_flush(work_target *target)
{
    static const uint32_t pattern = 0x5a5a5a5a;
    iso_status status = work_target_flush_room(target);
    if (status != ISO_OK) {
        return status;
    }
    return iso_fill(target->stream, (iso_operand){target->flush.buffer, 0}, &pattern,
                    sizeof pattern, flush_bytes(target));
}

/* ---- chips ----------------------------------------------------------------------------------- */

/* Returns the next digit of a uuid, or 0 at its end. */
static int next_digit(const char **at)
{
    while (**at == '-') {
        ++*at;
    }
    return **at != '\0' ? tolower((unsigned char)*(*at)++) : 0;
}

bool work_same_chip(const char *uuid, const char *other)
{
    const char *at[] = {uuid, other};
    if (uuid[0] == '\0' || other[0] == '\0') {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (strncmp(at[i], "GPU-", 4) == 0 || strncmp(at[i], "MIG-", 4) == 0) {
            at[i] += 4;
        }
    }
    int a, b;
    do {
        a = next_digit(&at[0]);
        b = next_digit(&at[1]);
    } while (a == b && a != 0);
    return a == b;
}

int64_t work_cache_bytes(const iso_device_info *info)
{
    int64_t bytes = info->cache_bytes;
    if (info->type == ISO_DEVICE_GPU && strncmp(info->architecture, "gfx", 3) == 0 &&
        bytes < INFINITY_CACHE) {
        bytes = INFINITY_CACHE;
    }
    return bytes > 0 ? bytes : UNKNOWN_CACHE;
}

void work_targets_share_caches(work_target *const *targets, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        targets[i]->info.cache_bytes = work_cache_bytes(&targets[i]->info);
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < count; j++) {
            if (work_same_chip(targets[i]->info.uuid, targets[j]->info.uuid) &&
                targets[j]->info.cache_bytes > targets[i]->info.cache_bytes) {
                targets[i]->info.cache_bytes = targets[j]->info.cache_bytes;
            }
        }
    }
}

/* ---- host memory ----------------------------------------------------------------------------- */

bool work_target_can_pin(work_target *target)
{
    if (target->pinned < 0) {
        void *block;
        int32_t pinned = 0;
        if (iso_host_alloc(target->device, 4096, &block, &pinned) == ISO_OK) {
            iso_host_free(target->device, block);
        }
        target->pinned = pinned != 0;
    }
    return target->pinned > 0;
}

iso_status work_target_pinned(work_target *target, bool from, int64_t bytes, void **out)
{
    void **block = from ? &target->pinned_from : &target->pinned_to;
    int64_t *have = from ? &target->pinned_from_bytes : &target->pinned_to_bytes;
    if (*have < bytes) {
        int64_t there, asked = target->pinned_wanted > bytes ? target->pinned_wanted : bytes;
        const unsigned char *inputs = work_inputs_block(target->inputs, ISO_F32, &there);
        if (*block) {
            iso_host_free(target->device, *block);
        }
        *block = NULL;
        *have = 0;
        iso_status status = iso_host_alloc(target->device, asked, block, NULL);
        if (status != ISO_OK) {
            return status;
        }
        *have = asked;
        if (from) {
            memcpy(*block, inputs, (size_t)(asked < there ? asked : there));
        }
    }
    *out = *block;
    return ISO_OK;
}

iso_status work_target_sink(work_target *target, int64_t bytes, void **out)
{
    if (target->sink_bytes < bytes) {
        int64_t asked = target->sink_wanted > bytes ? target->sink_wanted : bytes;
        iso_status status = iso_stream_sync(target->stream);
        if (status != ISO_OK) {
            return status;
        }
        unmap(target->sink, target->sink_bytes);
        target->sink_bytes = 0;
        target->sink = mmap(NULL, (size_t)asked, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (target->sink == MAP_FAILED) {
            target->sink = NULL;
            return ISO_NO_MEMORY;
        }
        memset(target->sink, 0x5a, (size_t)asked); /* so that no page fault is timed */
        target->sink_bytes = asked;
    }
    *out = target->sink;
    return ISO_OK;
}
