/* SPDX-License-Identifier: Apache-2.0 */
/* dlpack_export.c - exported tensors, which keep their memory alive. */
#include "common/dtype.h"
#include "core/device.h"
#include "core/dlpack.h"
#include "core/error.h"
#include "core/handle.h"
#include "core/memory.h"
#include "core/physical.h"
#include "core/stream.h"
#include "core/transfer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_CPU = 1 };

/* What the exported pointer refers to. */
typedef struct exported {
    iso_dlpack_managed_versioned managed; /* first: the deleter gets a pointer to it */
    int64_t shape[ISO_TENSOR_DIMS_MAX], strides[ISO_TENSOR_DIMS_MAX];
    core_memory *memory;
    pid_t process;
} exported;

/* May run in any thread, long after the device's last handle was closed. */
static void delete_exported(iso_dlpack_managed_versioned *managed)
{
    exported *self = (exported *)managed;

    /* In a child of fork() the device belongs to the parent. */
    if (self->process == getpid()) {
        core_physical *physical = self->memory->physical;

        core_memory_drop(self->memory);
        core_physical_close(physical);
    }
    free(self);
}

static void fill_dtype(iso_dtype dtype, iso_dlpack_tensor *out)
{
    const dtype_row *row = dtype_get(dtype);

    out->code = row->dlpack_code;
    out->bits = (uint8_t)(row->bytes * 8);
    out->lanes = 1;
}

/* All strides 0 means row-major without gaps. */
static iso_status fill_strides(const char *call, iso_tensor *tensor)
{
    int64_t next = 1;

    for (int i = 0; i < tensor->ndim; i++) {
        if (tensor->strides[i]) {
            return ISO_OK;
        }
    }
    for (int i = tensor->ndim - 1; i >= 0; i--) {
        tensor->strides[i] = next;
        if (__builtin_mul_overflow(next, tensor->shape[i] > 1 ? tensor->shape[i] : 1, &next)) {
            return core_fail(ISO_INVALID,
                             "%s: tensor->shape has more elements than fit 64 bits: use less",
                             call);
        }
    }
    return ISO_OK;
}

/* Checks that the tensor lies in the buffer and its elements are aligned. */
static iso_status check_place(const char *call, const iso_tensor *tensor, const core_buffer *buffer)
{
    int64_t element = iso_dtype_size(tensor->dtype), low, bytes, first;
    iso_status status = core_tensor_span(call, tensor, &low, &bytes);

    if (status) {
        return status;
    }
    if (tensor->offset < 0 || __builtin_add_overflow(tensor->offset, low, &first)) {
        return core_fail(ISO_INVALID, "%s: tensor->offset is %lld: pass 0 or more", call,
                         (long long)tensor->offset);
    }
    if (first < 0) {
        return core_fail(ISO_INVALID,
                         "%s: tensor->offset is %lld, but negative strides reach %lld bytes before "
                         "it",
                         call, (long long)tensor->offset, (long long)-low);
    }
    if ((buffer->origin + tensor->offset) % element) {
        return core_fail(ISO_INVALID,
                         "%s: tensor->offset is %lld, which does not align elements of %lld bytes",
                         call, (long long)tensor->offset, (long long)element);
    }
    return core_check_range(call, "tensor", first, bytes, buffer);
}

/* Orders `consumer`, if there is one, behind what was submitted to the stream. */
static iso_status order(const char *call, core_stream *stream, core_stream *consumer, int32_t type)
{
    bool swapped =
        consumer && consumer < stream; /* two streams are always locked in the same order */
    core_stream *first = swapped ? consumer : stream, *second = swapped ? stream : consumer;
    iso_status status = ISO_OK;

    if (type == TYPE_CPU) {
        core_stream_drain(call, stream);
        status = core_stream_late(call, stream);
    }
    if (status || !consumer || consumer == stream) {
        return status;
    }
    status = core_stream_enter(call, first);
    if (status) {
        return status;
    }
    status = core_stream_enter(call, second);
    if (!status) {
        status = core_stream_link(call, stream, consumer);
        core_stream_leave(second);
    }
    core_stream_leave(first);
    return status;
}

/* The address of the tensor's first element, or the object and an offset. */
static iso_status place(const char *call, const core_buffer *buffer, const iso_tensor *tensor,
                        int32_t type, iso_dlpack_tensor *out)
{
    const core_physical *physical = buffer->child.device->physical;
    const iso_backend *table = physical->table;
    int64_t offset = buffer->origin + tensor->offset;
    iso_status status;

    if (!buffer->memory) {
        return ISO_OK;
    }
    if (!table->native_get) {
        return core_fail(ISO_UNSUPPORTED, "%s: %s does not expose its memory", call, table->name);
    }
    status = CORE_LIGHT(
        call, table,
        table->native_get(physical->device, ISO_NATIVE_MEMORY, buffer->memory, &out->data));
    if (status) {
        return status;
    }
    if (core_dlpack_is_address(type)) {
        out->data = (char *)out->data + offset; /* some consumers ignore byte_offset */
    } else {
        out->byte_offset = (uint64_t)offset;
    }
    return ISO_OK;
}

static iso_status make(const char *call, const iso_tensor *tensor, core_buffer *buffer,
                       int32_t type, int32_t id, exported **out)
{
    exported *made = calloc(1, sizeof *made);
    iso_dlpack_tensor *to;
    iso_status status;

    if (!made) {
        return core_fail_no_memory(call, (int64_t)sizeof *made);
    }
    to = &made->managed.tensor;
    status = place(call, buffer, tensor, type, to);
    if (status) {
        free(made);
        return status;
    }
    memcpy(made->shape, tensor->shape, sizeof made->shape);
    memcpy(made->strides, tensor->strides, sizeof made->strides);
    fill_dtype(tensor->dtype, to);
    to->device_type = type;
    to->device_id = id;
    to->ndim = tensor->ndim;
    to->shape = made->shape;
    to->strides = made->strides;
    made->managed.major = 1;
    made->managed.deleter = delete_exported;
    made->managed.flags = tensor->flags;
    if (buffer->read_only) {
        made->managed.flags |= ISO_TENSOR_READ_ONLY;
    }
    made->memory = buffer->owner;
    made->process = getpid();
    *out = made;
    return ISO_OK;
}

/* All handles are held. */
static iso_status export(const char *call, core_stream *stream, core_stream *consumer,
                         iso_tensor *tensor, core_buffer *buffer, exported **out)
{
    core_device *device = stream->child.device;
    int32_t type = 0, id = 0;
    iso_status status;

    if (buffer->child.device != device || (consumer && consumer->child.device != device)) {
        return core_fail(ISO_MISMATCH,
                         "%s: %s belongs to another device handle than stream (%s): use one device",
                         call, buffer->child.device != device ? "tensor->buffer" : "consumer",
                         device->physical->spec);
    }
    status = fill_strides(call, tensor);
    if (!status) {
        status = check_place(call, tensor, buffer);
    }
    if (!status) {
        status = core_dlpack_device(call, device->physical, &type, &id);
    }
    if (!status) {
        status = make(call, tensor, buffer, type, id, out);
    }
    if (status) {
        return status;
    }
    status = order(call, stream, consumer, type);
    if (status) {
        free(*out);
        return status;
    }
    core_physical_keep(device->physical);
    atomic_fetch_add(&buffer->owner->holders, 1);
    return ISO_OK;
}

iso_status iso_dlpack_export(iso_stream stream_handle, iso_stream consumer_handle,
                             const iso_tensor *given, void **managed)
{
    const char *call = "iso_dlpack_export";
    core_stream *stream = NULL, *consumer = NULL;
    iso_tensor tensor = ISO_TENSOR_INIT;
    core_buffer *buffer = NULL;
    exported *made = NULL;
    iso_status status;

    if (!managed) {
        return core_fail(ISO_INVALID, "%s: managed is NULL: pass where the pointer goes", call);
    }
    status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, &stream);
    if (!status && consumer_handle.id) {
        status = core_handle_acquire(call, "consumer", consumer_handle.id, CORE_STREAM, &consumer);
    }
    if (!status) {
        status = core_tensor_read(call, given, &tensor);
    }
    if (!status) {
        status =
            core_handle_acquire(call, "tensor->buffer", tensor.buffer.id, CORE_BUFFER, &buffer);
    }
    if (!status) {
        status = export(call, stream, consumer, &tensor, buffer, &made);
    }
    if (!status) {
        *managed = &made->managed;
    }
    if (buffer) {
        core_handle_release(tensor.buffer.id);
    }
    if (consumer) {
        core_handle_release(consumer_handle.id);
    }
    if (stream) {
        core_handle_release(stream_handle.id);
    }
    return status;
}
