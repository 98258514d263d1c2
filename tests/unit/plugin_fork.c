/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_fork.c - a plug-in with one device that does nothing and does not survive a fork. */
#include <isomer/backend.h>

#include <stdio.h>

static const iso_host *core;
static int one_device;

static iso_status probe(iso_probe *out)
{
    out->state = ISO_STATE_OK;
    out->devices = 1;
    return ISO_OK;
}

static iso_status device_info(int32_t index, iso_device_info *out)
{
    (void)index;
    snprintf(out->name, sizeof out->name, "a device that does nothing");
    out->type = ISO_DEVICE_ACCELERATOR;
    return ISO_OK;
}

static iso_status device_open(int32_t index, void **device)
{
    (void)index;
    *device = &one_device;
    return ISO_OK;
}

static void device_close(void *device)
{
    (void)device;
}

static iso_status refuse(void)
{
    return core->fail(ISO_UNSUPPORTED, "this device does nothing");
}

static iso_status memory_alloc(void *device, int64_t bytes, void **memory)
{
    (void)device, (void)bytes, (void)memory;
    return refuse();
}

static void memory_free(void *device, void *memory)
{
    (void)device, (void)memory;
}

static iso_status stream_create(void *device, uint32_t flags, void **stream)
{
    (void)device, (void)flags, (void)stream;
    return refuse();
}

static iso_status event_create(void *device, void **event)
{
    (void)device, (void)event;
    return refuse();
}

static void destroy(void *object)
{
    (void)object;
}

static iso_status on_object(void *object)
{
    (void)object;
    return refuse();
}

static iso_status on_two(void *first, void *second)
{
    (void)first, (void)second;
    return refuse();
}

static iso_status event_elapsed(void *start, void *stop, int64_t *nanoseconds)
{
    (void)start, (void)stop, (void)nanoseconds;
    return refuse();
}

static iso_status transfer(void *stream, const iso_transfer *what)
{
    (void)stream, (void)what;
    return refuse();
}

static iso_status on_op(void *object, const iso_op *op)
{
    (void)object, (void)op;
    return refuse();
}

static iso_status workspace(void *device, const iso_op *op, int64_t *bytes)
{
    (void)device, (void)op, (void)bytes;
    return refuse();
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .name = "unit-fork",
    .build_info = "a test",
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .stream_create = stream_create,
    .stream_destroy = destroy,
    .stream_sync = on_object,
    .stream_query = on_object,
    .event_create = event_create,
    .event_destroy = destroy,
    .event_record = on_two,
    .stream_wait = on_two,
    .event_sync = on_object,
    .event_query = on_object,
    .event_elapsed = event_elapsed,
    .transfer = transfer,
    .supports = on_op,
    .workspace = workspace,
    .execute = on_op,
};

__attribute__((visibility("default"))) const iso_backend *
isomer_backend_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    (void)host_abi;
    core = host;
    return &descriptor;
}
