/* SPDX-License-Identifier: Apache-2.0 */
/* dlpack.c - imports DLPack tensors, describes tensors as matrices, and exports them. */
#include "common/dtype.h"
#include "core/graph/graph.h"
#include "core/op.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_CPU = 1, TYPE_CUDA = 2, TYPE_CUDA_HOST = 3, TYPE_ROCM = 10, TYPE_ROCM_HOST = 11 };

bool core_dlpack_is_address(int32_t type)
{
    return type == TYPE_CPU || type == TYPE_CUDA || type == TYPE_ROCM;
}

iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id)
{
    const iso_backend *table = physical->table;

    if (!table->dlpack_device) {
        return core_fail(ISO_UNSUPPORTED, "%s: DLPack has no type for devices of %s", call,
                         table->name);
    }
    return CORE_LIGHT(call, table, table->dlpack_device(physical->device, type, id));
}

/* The name of a device type in DLPack. */
static const char *type_name(int32_t type)
{
    static const char *const names[] = {
        [1] = "kDLCPU",       [2] = "kDLCUDA",     [3] = "kDLCUDAHost",     [4] = "kDLOpenCL",
        [7] = "kDLVulkan",    [8] = "kDLMetal",    [9] = "kDLVPI",          [10] = "kDLROCM",
        [11] = "kDLROCMHost", [12] = "kDLExtDev",  [13] = "kDLCUDAManaged", [14] = "kDLOneAPI",
        [15] = "kDLWebGPU",   [16] = "kDLHexagon",
    };

    if (type < 1 || type >= (int32_t)(sizeof names / sizeof names[0]) || !names[type]) {
        return "an unknown type";
    }
    return names[type];
}

static iso_status check_device(const char *call, const core_stream *stream,
                               const iso_dlpack_tensor *tensor, int32_t *type)
{
    const core_physical *physical = stream->child.device->physical;
    bool host = tensor->device_type == TYPE_CUDA_HOST || tensor->device_type == TYPE_ROCM_HOST;
    int32_t id = 0;
    iso_status status = core_dlpack_device(call, physical, type, &id);

    if (status) {
        return status;
    }
    if (*type == TYPE_CPU && host) {
        return ISO_OK; /* pinned host memory, whichever device pinned it */
    }
    if (*type == tensor->device_type && id == tensor->device_id) {
        return ISO_OK;
    }
    return core_fail(
        ISO_MISMATCH,
        "%s: the tensor is on %s (%d) device %d, but stream is of %s, which is %s (%d) "
        "device %d: use a stream of the tensor's device",
        call, type_name(tensor->device_type), tensor->device_type, tensor->device_id,
        physical->spec, type_name(*type), *type, id);
}

static iso_status check_dtype(const char *call, const iso_dlpack_tensor *tensor, iso_dtype *out)
{
    static const char *const codes[] = {"int",    "uint",    "float", "opaque handle",
                                        "bfloat", "complex", "bool"};
    char name[32];

    if (tensor->lanes != 1) {
        return core_fail(
            ISO_UNSUPPORTED,
            "%s: the tensor's elements have %u lanes: use 1 lane and one more dimension", call,
            tensor->lanes);
    }
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        const dtype_row *row = dtype_get(dtype);

        if (row->dlpack_code == tensor->code && row->bytes * 8 == tensor->bits) {
            *out = dtype;
            return ISO_OK;
        }
    }
    if (tensor->code < sizeof codes / sizeof codes[0]) {
        snprintf(name, sizeof name, "%s%u", codes[tensor->code], tensor->bits);
    } else {
        snprintf(name, sizeof name, "type code %u of %u bits", tensor->code, tensor->bits);
    }
    return core_fail(ISO_UNSUPPORTED,
                     "%s: the tensor's elements are %s: use float16, bfloat16, float32, float64, "
                     "int32 or int64",
                     call, name);
}

/* `of` is "tensor->" or "the tensor's ", for messages. */
static iso_status check_shape(const char *call, const char *of, int32_t ndim, const int64_t *shape)
{
    if (ndim < 0 || ndim > ISO_TENSOR_DIMS_MAX) {
        return core_fail(ISO_INVALID, "%s: %sndim is %d: use 0 to %d", call, of, ndim,
                         ISO_TENSOR_DIMS_MAX);
    }
    if (ndim && !shape) {
        return core_fail(ISO_INVALID, "%s: %sshape is NULL, but ndim is %d", call, of, ndim);
    }
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0) {
            return core_fail(ISO_INVALID, "%s: %sshape[%d] is %lld: use 0 or more", call, of, i,
                             (long long)shape[i]);
        }
    }
    return ISO_OK;
}

/* Sets the strides of a row-major tensor without gaps. */
static iso_status pack(const char *call, const char *of, int32_t ndim, const int64_t *shape,
                       int64_t *strides)
{
    int64_t next = 1;

    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = next;
        if (__builtin_mul_overflow(next, shape[i] > 1 ? shape[i] : 1, &next)) {
            return core_fail(ISO_INVALID,
                             "%s: %sshape has more elements than fit 64 bits: use fewer", call, of);
        }
    }
    return ISO_OK;
}

static iso_status read_shape(const char *call, const iso_dlpack_tensor *from, iso_tensor *out)
{
    static const char of[] = "the tensor's ";
    iso_status status = check_shape(call, of, from->ndim, from->shape);

    if (!status) {
        status = pack(call, of, from->ndim, from->shape, out->strides);
    }
    if (status) {
        return status;
    }
    out->ndim = from->ndim;
    for (int i = 0; i < from->ndim; i++) {
        out->shape[i] = from->shape[i];
        out->strides[i] = from->strides ? from->strides[i] : out->strides[i];
    }
    return ISO_OK;
}

/* Finds the bytes that the tensor touches. `low` (0 or less) is where they begin, relative to the
 * tensor's offset. */
static iso_status span(const char *call, const iso_tensor *tensor, int64_t *low, int64_t *bytes)
{
    int64_t element = iso_dtype_size(tensor->dtype), least = 0, most = 0, reach, all;

    *low = *bytes = 0;
    for (int i = 0; i < tensor->ndim; i++) {
        if (!tensor->shape[i]) {
            return ISO_OK;
        }
    }
    for (int i = 0; i < tensor->ndim; i++) {
        int64_t *end = tensor->strides[i] < 0 ? &least : &most;

        if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &reach) ||
            __builtin_add_overflow(*end, reach, end)) {
            goto too_large;
        }
    }
    if (__builtin_sub_overflow(most, least, &all) || __builtin_add_overflow(all, 1, &all) ||
        __builtin_mul_overflow(all, element, bytes) ||
        __builtin_mul_overflow(least, element, low)) {
        goto too_large;
    }
    return ISO_OK;
too_large:
    return core_fail(ISO_INVALID,
                     "%s: the tensor's shape and strides span more bytes than fit 64 bits", call);
}

/* Finds where the tensor's bytes begin, and the offset of its first element from there. */
static iso_status locate(const char *call, const iso_dlpack_tensor *from, int32_t type,
                         iso_tensor *out, core_import *what)
{
    int64_t element = iso_dtype_size(out->dtype), low;
    uintptr_t first, begin;
    iso_status status = span(call, out, &low, &what->bytes);

    if (status || !what->bytes) {
        return status;
    }
    if (!from->data) {
        return core_fail(ISO_INVALID, "%s: the tensor's data is NULL, but it has %lld bytes", call,
                         (long long)what->bytes);
    }
    if (from->byte_offset > (uint64_t)INT64_MAX - (uint64_t)what->bytes) {
        return core_fail(ISO_INVALID, "%s: the tensor's byte_offset is %" PRIu64 ": too large",
                         call, from->byte_offset);
    }
    if (from->byte_offset % (uint64_t)element) {
        return core_fail(ISO_INVALID,
                         "%s: the tensor's byte_offset is %" PRIu64
                         ", which is not a multiple of its elements' %lld bytes: let the producer "
                         "copy it",
                         call, from->byte_offset, (long long)element);
    }
    if (!core_dlpack_is_address(type)) {
        /* `data` is a memory object, not an address. It is imported from its start to the tensor's
         * last byte. */
        out->offset = (int64_t)from->byte_offset;
        if (out->offset + low < 0) {
            return core_fail(ISO_INVALID, "%s: the tensor begins before its memory", call);
        }
        what->native = from->data;
        what->bytes += out->offset + low;
        return ISO_OK;
    }
    if (__builtin_add_overflow((uintptr_t)from->data, (uintptr_t)from->byte_offset, &first) ||
        first < (uintptr_t)-low ||
        __builtin_add_overflow(first - (uintptr_t)-low, (uintptr_t)what->bytes, &begin)) {
        return core_fail(ISO_INVALID,
                         "%s: the tensor's data (%p, byte_offset %" PRIu64 ") and shape reach "
                         "outside of memory",
                         call, from->data, from->byte_offset);
    }
    if (first % (uintptr_t)element) {
        return core_fail(ISO_INVALID,
                         "%s: the tensor's data (%p, byte_offset %" PRIu64
                         ") is not aligned to its "
                         "elements of %lld bytes: let the producer copy it",
                         call, from->data, from->byte_offset, (long long)element);
    }
    what->native = (char *)from->data + (int64_t)from->byte_offset + low;
    out->offset = -low;
    return ISO_OK;
}

static void release_legacy(void *context)
{
    iso_dlpack_managed *managed = context;

    if (managed->deleter) {
        managed->deleter(managed);
    }
}

static void release_versioned(void *context)
{
    iso_dlpack_managed_versioned *managed = context;

    if (managed->deleter) {
        managed->deleter(managed);
    }
}

static iso_status import(const char *call, core_stream *stream, void *managed, bool is_versioned,
                         iso_tensor *tensor)
{
    const iso_dlpack_managed_versioned *versioned = managed;
    const iso_dlpack_tensor *from =
        is_versioned ? &versioned->tensor : &((const iso_dlpack_managed *)managed)->tensor;
    core_import what = {.context = managed,
                        .release = is_versioned ? release_versioned : release_legacy};
    int32_t type = 0;
    iso_status status;

    if (is_versioned && versioned->major != 1) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: the tensor is of DLPack version %u.%u: only version 1 is supported; "
                         "the caller still owns the tensor",
                         call, versioned->major, versioned->minor);
    }
    if (is_versioned) {
        tensor->flags = (uint32_t)(versioned->flags & (ISO_TENSOR_READ_ONLY | ISO_TENSOR_COPIED));
    }
    what.read_only = (tensor->flags & ISO_TENSOR_READ_ONLY) != 0;
    status = check_device(call, stream, from, &type);
    if (!status) {
        status = check_dtype(call, from, &tensor->dtype);
    }
    if (!status) {
        status = read_shape(call, from, tensor);
    }
    if (!status) {
        status = locate(call, from, type, tensor, &what);
    }
    if (!status) {
        status = core_buffer_import(call, stream->child.device, &what, &tensor->buffer);
    }
    return status;
}

iso_status iso_dlpack_import(iso_stream handle, void *managed, uint32_t flags, iso_tensor *out)
{
    const char *call = "iso_dlpack_import";
    iso_tensor tensor = ISO_TENSOR_INIT;
    CORE_HELD core_stream *stream = NULL;
    iso_status status = core_struct_check(call, "out", out, CORE_END_OF(iso_tensor, strides));

    if (!status) {
        status = core_handle_acquire(call, "stream", handle.id, CORE_STREAM, &stream);
    }
    if (status) {
        return status;
    }
    if (!managed) {
        return core_fail(ISO_INVALID, "%s: managed is NULL: pass a DLPack tensor", call);
    }
    if (flags & ~(uint32_t)ISO_DLPACK_VERSIONED) {
        return core_fail(ISO_INVALID, "%s: flags is 0x%x: only ISO_DLPACK_VERSIONED (1) is known",
                         call, flags);
    }
    status = import(call, stream, managed, (flags & ISO_DLPACK_VERSIONED) != 0, &tensor);
    if (!status) {
        core_struct_write(out, &tensor, sizeof tensor);
    }
    return status;
}

/* ---- tensors as matrices --------------------------------------------------------------------- */

/* Copies a tensor that the caller filled and checks its fields, but not its buffer. */
static iso_status read_tensor(const char *call, const iso_tensor *given, iso_tensor *out)
{
    iso_status status =
        core_struct_read(call, "tensor", given, CORE_END_OF(iso_tensor, strides), out, sizeof *out);

    if (!status) {
        status = core_check_dtype(call, out->dtype);
    }
    if (!status) {
        status = check_shape(call, "tensor->", out->ndim, out->shape);
    }
    if (status) {
        return status;
    }
    if (out->flags & ~(uint32_t)(ISO_TENSOR_READ_ONLY | ISO_TENSOR_COPIED)) {
        return core_fail(ISO_INVALID,
                         "%s: tensor->flags is 0x%x: only ISO_TENSOR_READ_ONLY (1) and "
                         "ISO_TENSOR_COPIED (2) are known",
                         call, out->flags);
    }
    return ISO_OK;
}

/* Whether a leading dimension can describe these lines: each has `length` elements without gaps,
 * and the lines do not overlap. Sets `*ld`. */
static bool lies(int64_t lines, int64_t stride, int64_t length, int64_t step, int64_t *ld)
{
    if (length > 1 && step != 1) {
        return false;
    }
    if (lines > 1 && (stride < length || stride < 1)) {
        return false;
    }
    *ld = lines > 1 ? stride : length > 0 ? length : 1;
    return true;
}

iso_status iso_tensor_matrix(const iso_tensor *given, iso_operand *out, int64_t *rows,
                             int64_t *cols, int64_t *ld, iso_trans *trans)
{
    const char *call = "iso_tensor_matrix";
    iso_tensor tensor = ISO_TENSOR_INIT;
    const struct {
        const char *name;
        const void *pointer;
    } results[] = {{"out", out}, {"rows", rows}, {"cols", cols}, {"ld", ld}, {"trans", trans}};
    iso_status status = read_tensor(call, given, &tensor);
    iso_trans how = ISO_NO_TRANS;
    int64_t distance = 0;

    for (size_t i = 0; i < sizeof results / sizeof results[0] && !status; i++) {
        status = core_check_out(call, results[i].name, results[i].pointer);
    }
    if (status) {
        return status;
    }
    if (tensor.ndim != 2) {
        return core_fail(ISO_UNSUPPORTED, "%s: tensor->ndim is %d: a matrix has 2", call,
                         tensor.ndim);
    }
    if (!lies(tensor.shape[0], tensor.strides[0], tensor.shape[1], tensor.strides[1], &distance)) {
        how = ISO_TRANS;
        if (!lies(tensor.shape[1], tensor.strides[1], tensor.shape[0], tensor.strides[0],
                  &distance)) {
            return core_fail(ISO_UNSUPPORTED,
                             "%s: tensor->strides are %lld and %lld for a shape of %lld x %lld, "
                             "which is neither row-major nor column-major: copy it",
                             call, (long long)tensor.strides[0], (long long)tensor.strides[1],
                             (long long)tensor.shape[0], (long long)tensor.shape[1]);
        }
    }
    *out = (iso_operand){tensor.buffer, tensor.offset};
    *rows = tensor.shape[0];
    *cols = tensor.shape[1];
    *ld = distance;
    *trans = how;
    return ISO_OK;
}

/* ---- exported tensors, which keep their memory alive ----------------------------------------- */

/* An exported tensor: iso_dlpack_export returns a pointer to its first member. */
typedef struct exported {
    iso_dlpack_managed_versioned managed; /* must be first: the deleter casts a pointer to it */
    int64_t shape[ISO_TENSOR_DIMS_MAX], strides[ISO_TENSOR_DIMS_MAX];
    core_memory *memory;
    pid_t process;
} exported;

/* Called by the tensor's consumer, in any thread, perhaps long after the device's last handle was
 * closed. */
static void delete_exported(iso_dlpack_managed_versioned *managed)
{
    exported *self = (exported *)managed;

    /* In a child of fork() the memory is not freed: the device belongs to the parent. */
    if (self->process == getpid()) {
        core_physical *physical = self->memory->physical;

        core_memory_drop(self->memory);
        core_physical_close(physical);
    }
    free(self);
}

/* All strides 0 means row-major without gaps. */
static iso_status fill_strides(const char *call, iso_tensor *tensor)
{
    for (int i = 0; i < tensor->ndim; i++) {
        if (tensor->strides[i]) {
            return ISO_OK;
        }
    }
    return pack(call, "tensor->", tensor->ndim, tensor->shape, tensor->strides);
}

/* Checks that the tensor lies in the buffer and its elements are aligned. */
static iso_status check_place(const char *call, const iso_tensor *tensor, const core_buffer *buffer)
{
    int64_t element = iso_dtype_size(tensor->dtype), low, bytes, first;
    iso_status status = span(call, tensor, &low, &bytes);

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

/* Makes `consumer`, if there is one, wait for the work that was submitted to the stream. A CPU's
 * memory can be read without a stream, so the stream is drained first. */
static iso_status order(const char *call, core_stream *stream, core_stream *consumer, int32_t type)
{
    iso_status status = core_record_refuse(call, stream);

    if (!status && consumer) {
        status = core_record_refuse(call, consumer);
    }
    if (!status && type == TYPE_CPU) {
        core_stream_drain(call, stream);
        status = core_stream_late(call, stream);
    }
    if (status || !consumer || consumer == stream) {
        return status;
    }
    status = core_streams_enter(call, stream, consumer);
    if (status) {
        return status;
    }
    status = core_stream_link(call, stream, consumer);
    core_streams_leave(stream, consumer);
    return status;
}

/* Sets the address of the tensor's first element, or the memory object and an offset. */
static iso_status place(const char *call, const core_buffer *buffer, const iso_tensor *tensor,
                        int32_t type, iso_dlpack_tensor *out)
{
    int64_t offset = buffer->origin + tensor->offset;
    iso_status status;

    if (!buffer->owner->memory) {
        return ISO_OK;
    }
    status = core_native_get(call, buffer->child.device, ISO_NATIVE_MEMORY, buffer->owner->memory,
                             &out->data);
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
    const dtype_row *row = dtype_get(tensor->dtype);
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
    to->code = row->dlpack_code;
    to->bits = (uint8_t)(row->bytes * 8);
    to->lanes = 1;
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

/* The caller holds all handles. */
static iso_status export(const char *call, core_stream *stream, core_stream *consumer,
                         iso_tensor *tensor, core_buffer *buffer, exported **out)
{
    core_device *device = stream->child.device;
    int32_t type = 0, id = 0;
    iso_status status;

    status = core_check_device(call, "tensor->buffer", &buffer->child, "stream", &stream->child);
    if (!status && consumer) {
        status = core_check_device(call, "consumer", &consumer->child, "stream", &stream->child);
    }
    if (!status) {
        status = fill_strides(call, tensor);
    }
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
    CORE_HELD core_stream *stream = NULL, *consumer = NULL;
    iso_tensor tensor = ISO_TENSOR_INIT;
    CORE_HELD core_buffer *buffer = NULL;
    exported *made = NULL;
    iso_status status = core_check_out(call, "managed", managed);

    if (!status) {
        status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, &stream);
    }
    if (!status && consumer_handle.id) {
        status = core_handle_acquire(call, "consumer", consumer_handle.id, CORE_STREAM, &consumer);
    }
    if (!status) {
        status = read_tensor(call, given, &tensor);
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
    return status;
}
