/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_adopt.c - a plug-in with two devices whose contexts and streams are plain structs. Its
 * memory is an opaque object for DLPack (type 12, an extension), and work has finished when its
 * submission returns. */
#include "tests/unit/plugin_adopt.h"

#include <isomer/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const iso_host *core;
static adopt_context own_contexts[2] = {{0, 0}, {1, 0}};

static iso_status probe(iso_probe *out)
{
    out->state = ISO_STATE_OK;
    out->devices = 2;
    return ISO_OK;
}

static iso_status device_info(int32_t index, iso_device_info *out)
{
    snprintf(out->name, sizeof out->name, "a device %d that can be adopted", index);
    out->type = ISO_DEVICE_ACCELERATOR;
    return ISO_OK;
}

/* A device is a slot that holds its context. */
static iso_status open_in(adopt_context *context, void **device)
{
    adopt_context **made = core->alloc((int64_t)sizeof *made);

    if (!made) {
        return ISO_NO_MEMORY;
    }
    context->opens++;
    *made = context;
    *device = made;
    return ISO_OK;
}

static iso_status device_open(int32_t index, void **device)
{
    return open_in(&own_contexts[index], device);
}

static iso_status device_adopt(const iso_native_device *native, int32_t *index, void **device)
{
    adopt_context *context = native->context;

    if (!context) {
        context = &own_contexts[native->device ? 1 : 0];
    }
    if (context->index > 1) {
        return core->fail(ISO_INVALID, "context is of device %d, and there are 2", context->index);
    }
    *index = context->index;
    return open_in(context, device);
}

static void device_close(void *device)
{
    (*(adopt_context **)device)->opens--;
    core->free(device);
}

static iso_status memory_alloc(void *device, int64_t bytes, void **memory)
{
    (void)device;
    *memory = core->alloc(bytes);
    return *memory ? ISO_OK : ISO_NO_MEMORY;
}

static void memory_free(void *device, void *memory)
{
    (void)device;
    core->free(memory);
}

static iso_status memory_import(void *device, void *native, int64_t bytes, void **memory)
{
    (void)device;
    if (bytes > 1000) {
        return core->fail(ISO_INVALID, "%lld bytes are more than this memory has",
                          (long long)bytes);
    }
    *memory = native;
    (void)core->fail(ISO_BACKEND, "a way that this call got over");
    return ISO_OK;
}

/* Memory that begins with an 'r' is read-only. */
static int32_t memory_is_read_only(void *device, void *memory)
{
    (void)device;
    return *(const char *)memory == 'r';
}

static void memory_forget(void *device, void *memory)
{
    (void)device, (void)memory;
}

/* The backend's own streams contain a queue of their own. */
typedef struct stream {
    adopt_queue own, *queue;
} stream;

static iso_status make_stream(adopt_queue *queue, void **out)
{
    stream *made = core->alloc((int64_t)sizeof *made);

    if (!made) {
        return ISO_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->queue = queue ? queue : &made->own;
    made->queue->adopted++;
    *out = made;
    return ISO_OK;
}

static iso_status stream_create(void *device, uint32_t flags, void **out)
{
    (void)device, (void)flags;
    return make_stream(NULL, out);
}

static iso_status stream_adopt(void *device, void *native, void **out)
{
    (void)device;
    return native ? make_stream(native, out) : core->fail(ISO_INVALID, "native is NULL");
}

static void stream_destroy(void *object)
{
    ((stream *)object)->queue->forgotten++;
    core->free(object);
}

static iso_status stream_sync(void *object)
{
    ((stream *)object)->queue->synced++;
    return ISO_OK;
}

static iso_status stream_query(void *object)
{
    (void)object;
    return ISO_OK;
}

static iso_status event_create(void *device, void **event)
{
    (void)device;
    *event = core->alloc(1);
    return *event ? ISO_OK : ISO_NO_MEMORY;
}

static void event_destroy(void *event)
{
    core->free(event);
}

static iso_status event_record(void *event, void *object)
{
    (void)event, (void)object;
    return ISO_OK;
}

static iso_status stream_wait(void *object, void *event)
{
    (void)event;
    ((stream *)object)->queue->waits++;
    return ISO_OK;
}

static iso_status event_done(void *event)
{
    (void)event;
    return ISO_OK;
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    (void)start, (void)stop;
    *nanoseconds = 0;
    return ISO_OK;
}

/* The test needs only fills of one row. */
static iso_status transfer(void *object, const iso_transfer *what)
{
    (void)object;
    if (what->kind != ISO_TRANSFER_FILL || what->pattern_bytes != 1) {
        return core->fail(ISO_UNSUPPORTED, "only fills with a byte");
    }
    memset((char *)what->to.memory + what->to.offset, what->pattern[0], (size_t)what->width);
    return ISO_OK;
}

static iso_status on_op(void *object, const iso_op *op)
{
    (void)object, (void)op;
    return core->fail(ISO_UNSUPPORTED, "this device does nothing");
}

static iso_status workspace(void *device, const iso_op *op, int64_t *bytes)
{
    (void)bytes;
    return on_op(device, op);
}

static iso_status native_get(void *device, iso_native_kind kind, void *object, void **native)
{
    adopt_context *context = *(adopt_context **)device;

    if (kind == ISO_NATIVE_CONTEXT) {
        *native = context;
    } else if (kind == ISO_NATIVE_DEVICE) {
        *native = (void *)(intptr_t)context->index;
    } else {
        *native = kind == ISO_NATIVE_STREAM ? ((stream *)object)->queue : object;
    }
    return ISO_OK;
}

static iso_status dlpack_device(void *device, int32_t *type, int32_t *id)
{
    *type = 12;
    *id = (*(adopt_context **)device)->index;
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .name = "unit-adopt",
    .build_info = "a test",
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_sync = stream_sync,
    .stream_query = stream_query,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .stream_wait = stream_wait,
    .event_sync = event_done,
    .event_query = event_done,
    .event_elapsed = event_elapsed,
    .transfer = transfer,
    .supports = on_op,
    .workspace = workspace,
    .execute = on_op,
    .device_adopt = device_adopt,
    .stream_adopt = stream_adopt,
    .memory_import = memory_import,
    .memory_forget = memory_forget,
    .native_get = native_get,
    .dlpack_device = dlpack_device,
    .memory_is_read_only = memory_is_read_only,
};

__attribute__((visibility("default"))) const iso_backend *
isomer_backend_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi;
    core = host;
    return &descriptor;
}
