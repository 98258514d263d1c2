/* SPDX-License-Identifier: Apache-2.0 */
/* flip.c - a complete backend: a plug-in that copies and transposes on this processor and supports
 * nothing else. Each call has finished its work when it returns, so streams never wait. */
#include <isomer/backend.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 256, WIDEST = 16 };

static const iso_host *core; /* the functions that the core offers */

/* ---- devices: on entry `out` is all zero except for its size --------------------------------- */

static iso_status probe(iso_probe *out)
{
    /* A backend that is not usable sets another state, and lists the paths that it tried in
     * out->reason. */
    out->state = ISO_STATE_OK;
    out->devices = 1;
    return ISO_OK;
}

static iso_status device_info(int32_t index, iso_device_info *out)
{
    out->index = index;
    snprintf(out->name, sizeof out->name, "flip");
    out->type = ISO_DEVICE_CPU;
    out->features = ISO_FEATURE_HOST_MEMORY;
    out->memory_total = INT64_C(1) << 30;
    out->memory_free = -1; /* unknown */
    out->units = out->threads = 1;
    return ISO_OK;
}

/* Devices, streams and events can be any pointer: the core only passes them back. */
static iso_status device_open(int32_t index, void **device)
{
    (void)index;
    *device = core->alloc(1);
    return *device ? ISO_OK : ISO_NO_MEMORY; /* alloc() has set the error text */
}

static void forget(void *object)
{
    core->free(object);
}

/* ---- memory: the handle is the aligned address; the pointer from alloc() is right before it -- */

static iso_status memory_alloc(void *device, int64_t bytes, void **memory)
{
    (void)device;
    if (bytes > INT64_MAX - ALIGNMENT) {
        return core->fail(ISO_NO_MEMORY, "%lld bytes are too many", (long long)bytes);
    }
    char *block = core->alloc(bytes + ALIGNMENT); /* aligned to 64, so the pointer fits in front */
    if (!block) {
        return ISO_NO_MEMORY;
    }
    char *aligned = block + ALIGNMENT - (uintptr_t)block % ALIGNMENT;
    memcpy(aligned - sizeof block, &block, sizeof block);
    *memory = aligned;
    return ISO_OK;
}

static void memory_free(void *device, void *memory)
{
    char *block;
    (void)device;
    memcpy(&block, (char *)memory - sizeof block, sizeof block);
    core->free(block);
}

static char *at(iso_ref place)
{
    return (char *)place.memory + place.offset;
}

/* ---- streams and events ---------------------------------------------------------------------- */

static iso_status stream_create(void *device, uint32_t flags, void **stream)
{
    (void)device;
    if (flags & ~(uint32_t)ISO_STREAM_INLINE) {
        return core->fail(ISO_UNSUPPORTED, "stream flags are 0x%x; known flags are 0x%x",
                          (unsigned)flags, (unsigned)ISO_STREAM_INLINE);
    }
    *stream = core->alloc(1);
    return *stream ? ISO_OK : ISO_NO_MEMORY;
}

static iso_status event_create(void *device, void **event)
{
    (void)device;
    *event = core->alloc((int64_t)sizeof(struct timespec));
    return *event ? ISO_OK : ISO_NO_MEMORY;
}

static iso_status event_record(void *event, void *stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, event);
    return ISO_OK;
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    const struct timespec *from = start, *to = stop;
    *nanoseconds = (to->tv_sec - from->tv_sec) * INT64_C(1000000000) + to->tv_nsec - from->tv_nsec;
    return ISO_OK;
}

static iso_status done(void *object) /* sync and query, of streams and events */
{
    (void)object;
    return ISO_OK;
}

static iso_status stream_wait(void *stream, void *event)
{
    (void)stream;
    return done(event);
}

/* ---- transfers and operations ---------------------------------------------------------------- */

static iso_status transfer(void *stream, const iso_transfer *t)
{
    (void)stream;
    for (int64_t row = 0; row < t->height; row++) {
        char *to = t->kind == ISO_TRANSFER_READ ? t->host_to : at(t->to);
        const char *from = t->kind == ISO_TRANSFER_WRITE ? t->host_from : NULL;
        if (t->kind == ISO_TRANSFER_READ || t->kind == ISO_TRANSFER_COPY) {
            from = at(t->from);
        }
        to += row * t->to_pitch;
        if (t->kind == ISO_TRANSFER_FILL) {
            for (int64_t i = 0; i < t->width; i += t->pattern_bytes) {
                memcpy(to + i, t->pattern, (size_t)t->pattern_bytes);
            }
        } else {
            memcpy(to, from + row * t->from_pitch, (size_t)t->width);
        }
    }
    return ISO_OK;
}

/* Copies the part of the arguments that both the core and this plug-in know; the rest is 0. */
static iso_transpose_op arguments(const iso_op *op)
{
    iso_transpose_op t = {0};
    memcpy(&t, op->args, op->args_size < sizeof t ? op->args_size : sizeof t);
    return t;
}

static iso_status supports(void *device, const iso_op *op)
{
    (void)device;
    if (op->kind != ISO_OP_TRANSPOSE) {
        return core->fail(ISO_UNSUPPORTED, "flip supports only transposes");
    }
    iso_transpose_op t = arguments(op);
    if (t.variant != ISO_VARIANT_NAIVE && t.variant != ISO_VARIANT_TILED) {
        return core->fail(ISO_UNSUPPORTED, "flip has only the variants naive and tiled");
    }
    if (t.element_bytes > WIDEST) {
        return core->fail(ISO_UNSUPPORTED,
                          "element_bytes is %lld, but the most that flip supports is %d",
                          (long long)t.element_bytes, WIDEST);
    }
    return ISO_OK;
}

static iso_status workspace(void *device, const iso_op *op, int64_t *bytes)
{
    (void)device, (void)op;
    *bytes = 0;
    return ISO_OK;
}

/* In place, each pair across the diagonal is swapped once. */
static iso_status execute(void *stream, const iso_op *op)
{
    (void)stream;
    iso_transpose_op t = arguments(op);
    size_t bytes = (size_t)t.element_bytes;
    char *source = at(t.from), *target = at(t.to), kept[WIDEST];
    for (int64_t i = 0; i < t.rows; i++) {
        for (int64_t j = 0; j < (source == target ? i : t.cols); j++) {
            char *from = source + (i * t.ld_from + j) * t.element_bytes;
            char *to = target + (j * t.ld_to + i) * t.element_bytes;
            memcpy(kept, from, bytes);
            if (source == target) {
                memcpy(from, to, bytes);
            }
            memcpy(to, kept, bytes);
        }
    }
    return ISO_OK;
}

static const iso_backend table = {
    .size = (uint32_t)sizeof table,
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_FORK_SAFE,
    .name = "flip", /* the file is isomer-flip.so */
    .build_info = "an example",
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = forget,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .stream_create = stream_create,
    .stream_destroy = forget,
    .stream_sync = done,
    .stream_query = done,
    .event_create = event_create,
    .event_destroy = forget,
    .event_record = event_record,
    .stream_wait = stream_wait,
    .event_sync = done,
    .event_query = done,
    .event_elapsed = event_elapsed,
    .transfer = transfer,
    .supports = supports,
    .workspace = workspace,
    .execute = execute,
};

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi; /* the core's version; the core refuses a plug-in that it cannot use */
    core = host;
    return &table;
}
