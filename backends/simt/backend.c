/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - the entries that the core calls: each unwraps the core's objects and calls the
 * driver, the vendor's libraries or the operation. */
#include "backends/simt/simt.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

/* ---- devices --------------------------------------------------------------------------------- */

/* A range of the program's memory that simt_host_register pinned. */
typedef struct simt_pin {
    void *pointer;
    struct simt_pin *next;
} simt_pin;

static simt_device *device_new(const simt_driver *driver, const iso_host *host)
{
    simt_device *device = host->alloc((int64_t)sizeof *device);
    if (!device) {
        return NULL;
    }
    memset(device, 0, sizeof *device);
    device->driver = driver;
    device->host = host;
    (void)pthread_rwlock_init(&device->programs_lock, NULL);
    (void)pthread_mutex_init(&device->build_lock, NULL);
    (void)pthread_mutex_init(&device->vendor_lock, NULL);
    (void)pthread_mutex_init(&device->record_lock, NULL);
    (void)pthread_mutex_init(&device->pins_lock, NULL);
    (void)pthread_mutex_init(&device->unit_lock, NULL);
    (void)pthread_mutex_init(&device->gates_lock, NULL);
    (void)pthread_mutex_init(&device->rings_lock, NULL);
    for (int unit = 0; unit < SIMT_UNITS; unit++) {
        atomic_init(&device->unit_states[unit].verdict, SIMT_UNIT_UNKNOWN);
    }
    atomic_init(&device->bytes_verdict, SIMT_UNIT_UNKNOWN);
    atomic_init(&device->bytes_refused, false);
    return device;
}

static void device_delete(simt_device *device)
{
    while (device->pins) {
        simt_pin *pin = device->pins;
        device->pins = pin->next;
        device->host->free(pin);
    }
    (void)pthread_mutex_destroy(&device->rings_lock);
    (void)pthread_mutex_destroy(&device->gates_lock);
    (void)pthread_mutex_destroy(&device->unit_lock);
    (void)pthread_mutex_destroy(&device->pins_lock);
    (void)pthread_mutex_destroy(&device->record_lock);
    (void)pthread_mutex_destroy(&device->vendor_lock);
    (void)pthread_mutex_destroy(&device->build_lock);
    (void)pthread_rwlock_destroy(&device->programs_lock);
    device->host->free(device);
}

static void switch_units_off(simt_limits *limits, const char *why)
{
    limits->f64_unit_problem = limits->f64_unit ? why : limits->f64_unit_problem;
    limits->wave_f64_problem = limits->wave_f64 ? why : limits->wave_f64_problem;
    limits->wave_f32_problem = limits->wave_f32 ? why : limits->wave_f32_problem;
    limits->byte_unit_problem = limits->byte_unit ? why : limits->byte_unit_problem;
    limits->f64_unit = 0;
    limits->byte_unit = 0;
    limits->wave_f64 = limits->wave_f32 = false;
}

/* Applies the user's settings to what the driver found. */
static void apply_settings(simt_device *device)
{
    const char *tiles = device->host->setting("ISOMER_TILES");
    const bool small = tiles && strcmp(tiles, "small") == 0;
    const bool plain = small || (tiles && strcmp(tiles, "plain") == 0);
    if (small) {
        device->limits.device_class = SIMT_CLASS_SMALL;
    }
    if (plain || (tiles && strcmp(tiles, "own") == 0)) {
        device->limits.bytes = false;
    }
    if (plain) {
        switch_units_off(&device->limits,
                         small ? "ISOMER_TILES is small" : "ISOMER_TILES is plain");
    }
}

static iso_status device_keep(simt_device *made, iso_status status, int32_t index, void **device)
{
    if (status) {
        device_delete(made);
        return status;
    }
    made->index = index;
    apply_settings(made);
    *device = made;
    return ISO_OK;
}

iso_status simt_device_open(const simt_driver *driver, const iso_host *host, int32_t index,
                            void **device)
{
    simt_device *made = device_new(driver, host);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = driver->device_open(index, &made->native, &made->limits);
    return device_keep(made, status, index, device);
}

/* Counts the devices by asking the driver. There may be no earlier count, because a program may
 * adopt a context first. */
static iso_status count_devices(const simt_driver *driver, const iso_host *host, int32_t *count)
{
    iso_probe *probe = host->alloc((int64_t)sizeof *probe);
    if (!probe) {
        return ISO_NO_MEMORY;
    }
    memset(probe, 0, sizeof *probe);
    probe->size = (uint32_t)sizeof *probe;
    (void)driver->probe(probe);
    *count = probe->devices;
    const iso_status status =
        probe->state == ISO_STATE_OK ? ISO_OK : host->fail(ISO_UNAVAILABLE, "%s", probe->reason);
    host->free(probe);
    return status;
}

iso_status simt_device_adopt(const simt_driver *driver, const iso_host *host,
                             const iso_native_device *native, int32_t *index, void **device)
{
    int32_t count = 0;
    if (!driver->device_adopt) {
        return host->fail(ISO_UNSUPPORTED,
                          "%s cannot use a context that the program created: use iso_device_open",
                          driver->name);
    }
    iso_status status = count_devices(driver, host, &count);
    if (status) {
        return status;
    }
    simt_device *made = device_new(driver, host);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    status = driver->device_adopt(count, native->context, native->device, index, &made->native,
                                  &made->limits);
    return device_keep(made, status, *index, device);
}

void simt_device_close(void *device)
{
    simt_device *self = device;
    simt_vendor_device_close(self);
    simt_programs_drop(self);
    simt_gates_close(self);
    simt_rings_close(self);
    self->driver->device_close(self->native);
    device_delete(self);
}

/* The driver's properties, then that of the matrix unit, then one for each of the vendor's
 * libraries. */
iso_status simt_device_property(void *device, int32_t index, iso_property *out)
{
    simt_device *self = device;
    iso_status status = self->driver->device_property(self->native, index, out);
    if (status != ISO_NOT_READY) {
        return status;
    }
    int32_t own = 0;
    while (own < index && self->driver->device_property(self->native, own, out) == ISO_OK) {
        own++;
    }
    int32_t units = 0;
    status = simt_unit_property(self, index - own, out);
    if (status != ISO_NOT_READY) {
        return status;
    }
    while (simt_unit_property(self, units, out) == ISO_OK) {
        units++;
    }
    return simt_vendor_property(self, index - own - units, out);
}

/* ---- memory ---------------------------------------------------------------------------------- */

iso_status simt_memory_alloc(void *device, int64_t bytes, void **memory)
{
    simt_device *self = device;
    if (self->limits.alloc_max > 0 && bytes > self->limits.alloc_max) {
        return self->host->fail(ISO_NO_MEMORY,
                                "%" PRId64 " bytes were asked for in one buffer, but this device "
                                "allows %" PRId64 ": use several buffers",
                                bytes, self->limits.alloc_max);
    }
    return self->driver->memory_alloc(self->native, bytes, memory);
}

iso_status simt_host_register(void *device, void *pointer, int64_t bytes, int32_t *pinned)
{
    simt_device *self = device;
    *pinned = 0;
    if (!self->driver->host_register) {
        return ISO_OK;
    }
    simt_pin *pin = self->host->alloc((int64_t)sizeof *pin);
    if (!pin) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = self->driver->host_register(self->native, pointer, bytes, pinned);
    if (status || !*pinned) {
        self->host->free(pin);
        return status;
    }
    pin->pointer = pointer;
    (void)pthread_mutex_lock(&self->pins_lock);
    pin->next = self->pins;
    self->pins = pin;
    (void)pthread_mutex_unlock(&self->pins_lock);
    return ISO_OK;
}

void simt_host_unregister(void *device, void *pointer)
{
    simt_device *self = device;
    (void)pthread_mutex_lock(&self->pins_lock);
    simt_pin **at = &self->pins;
    while (*at && (*at)->pointer != pointer) {
        at = &(*at)->next;
    }
    simt_pin *found = *at;
    if (found) {
        *at = found->next;
    }
    (void)pthread_mutex_unlock(&self->pins_lock);
    if (found) {
        self->driver->host_unregister(self->native, pointer);
        self->host->free(found);
    }
}

iso_status simt_memory_import(void *device, void *native, int64_t bytes, void **memory)
{
    simt_device *self = device;
    if (!self->driver->memory_import) {
        return self->host->fail(ISO_UNSUPPORTED,
                                "%s cannot import memory that it did not allocate: copy it into a "
                                "buffer",
                                self->driver->name);
    }
    return self->driver->memory_import(self->native, native, bytes, memory);
}

void simt_memory_forget(void *device, void *memory)
{
    simt_device *self = device;
    if (self->driver->memory_forget) {
        self->driver->memory_forget(self->native, memory);
    }
}

int32_t simt_memory_is_read_only(void *device, void *memory)
{
    const simt_device *self = device;
    return self->driver->memory_is_read_only &&
           self->driver->memory_is_read_only(self->native, memory);
}

/* ---- streams and events ---------------------------------------------------------------------- */

static simt_stream *stream_new(simt_device *device)
{
    simt_stream *stream = device->host->alloc((int64_t)sizeof *stream);
    if (stream) {
        *stream = (simt_stream){.device = device};
    }
    return stream;
}

static iso_status stream_keep(simt_stream *made, iso_status status, void **stream)
{
    if (status != ISO_OK) {
        made->device->host->free(made);
        return status;
    }
    *stream = made;
    return ISO_OK;
}

iso_status simt_stream_create(void *device, uint32_t flags, void **stream)
{
    simt_device *self = device;
    if (flags & ISO_STREAM_INLINE) {
        return self->host->fail(
            ISO_UNSUPPORTED,
            "flags has ISO_STREAM_INLINE, but %s never runs work in the calling "
            "thread: pass 0",
            self->driver->name);
    }
    if (flags) {
        return self->host->fail(ISO_UNSUPPORTED,
                                "flags is 0x%" PRIx32 ", but %s supports no flags: pass 0", flags,
                                self->driver->name);
    }
    simt_stream *made = stream_new(self);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    return stream_keep(made, self->driver->stream_create(made), stream);
}

iso_status simt_stream_adopt(void *device, void *native, void **stream)
{
    simt_device *self = device;
    if (!self->driver->stream_adopt) {
        return self->host->fail(ISO_UNSUPPORTED, "%s cannot use a program's own stream: create one",
                                self->driver->name);
    }
    simt_stream *made = stream_new(self);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    made->foreign = true;
    return stream_keep(made, self->driver->stream_adopt(made, native), stream);
}

void simt_stream_destroy(void *stream)
{
    simt_stream *self = stream;
    const simt_driver *driver = self->device->driver;
    simt_calls_close(self);
    simt_vendor_stream_close(self);
    simt_reached_close(self);
    driver->stream_destroy(self);
    self->device->host->free(self);
}

iso_status simt_stream_sync(void *stream)
{
    const simt_stream *self = stream;
    const iso_status status = self->device->driver->stream_sync(stream);
    return status ? status : simt_calls_late(self);
}

iso_status simt_stream_query(void *stream)
{
    const simt_stream *self = stream;
    const iso_status status = self->device->driver->stream_query(stream);
    return status ? status : simt_calls_late(self);
}

iso_status simt_event_create(void *device, void **event)
{
    simt_device *self = device;
    simt_event *made = self->host->alloc((int64_t)sizeof *made);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    *made = (simt_event){.device = self};
    iso_status status = self->driver->event_create(made);
    if (status != ISO_OK) {
        self->host->free(made);
        return status;
    }
    *event = made;
    return ISO_OK;
}

void simt_event_destroy(void *event)
{
    simt_event *self = event;
    self->device->driver->event_destroy(self);
    self->device->host->free(self);
}

iso_status simt_native_get(void *device, iso_native_kind kind, void *object, void **native)
{
    simt_device *self = device;
    if (!self->driver->native_get) {
        return self->host->fail(ISO_UNSUPPORTED, "%s does not expose its native objects",
                                self->driver->name);
    }
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
    case ISO_NATIVE_DEVICE:
    case ISO_NATIVE_STREAM:
    case ISO_NATIVE_EVENT:
        return self->driver->native_get(self, kind, object, native);
    case ISO_NATIVE_MEMORY:
        *native = object;
        return ISO_OK;
    default:
        return self->host->fail(ISO_UNSUPPORTED, "%s has no native object of kind %d",
                                self->driver->name, (int)kind);
    }
}

iso_status simt_dlpack_device(void *device, int32_t *type, int32_t *id)
{
    const simt_device *self = device;
    *type = self->driver->dlpack_type;
    *id = self->index;
    return *type ? ISO_OK
                 : self->host->fail(ISO_UNSUPPORTED, "DLPack has no device type for memory of %s",
                                    self->driver->name);
}

/* ---- transfers ------------------------------------------------------------------------------- */

iso_status simt_transfer(void *stream, const iso_transfer *transfer)
{
    simt_stream *self = stream;
    const iso_status late = simt_calls_late(self);
    if (late) {
        return late;
    }
    if (transfer->kind == ISO_TRANSFER_FILL) {
        return simt_fill(self, transfer);
    }
    bool taken = false;
    const iso_status status = simt_ring_transfer(self, transfer, &taken);
    return taken || status ? status : self->device->driver->transfer(self, transfer);
}

iso_status simt_copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                          int64_t bytes)
{
    simt_stream *there = to_stream, *here = from_stream;
    const simt_driver *driver = there->device->driver;
    if (!driver->copy_peer) {
        return there->device->host->fail(
            ISO_UNSUPPORTED, "%s cannot copy directly from one device to another", driver->name);
    }
    iso_status late = simt_calls_late(there);
    late = late ? late : simt_calls_late(here);
    if (late) {
        return late;
    }
    return driver->copy_peer(there, to, here, from, bytes);
}

/* ---- operations ------------------------------------------------------------------------------ */

static iso_variant variant_of(const iso_op *op)
{
    iso_variant variant;
    memcpy(&variant, (const char *)op->args + simt_operation_of(op->kind)->variant_at,
           sizeof variant);
    return variant;
}

/* Whether the device computes in the types that the operation needs. */
static iso_status check_arithmetic(simt_device *device, const iso_op *op)
{
    const simt_operation *operation = simt_operation_of(op->kind);
    const int needs = operation->needs ? operation->needs(op) : 0;
    if (needs & SIMT_NEEDS_F64 && !device->limits.f64) {
        return device->host->fail(
            ISO_UNSUPPORTED, "this operation computes in f64, but this device cannot: %s",
            device->limits.f64_problem ? device->limits.f64_problem : "it has no f64");
    }
    if (needs & SIMT_NEEDS_F32 && !device->limits.f32_exact) {
        return device->host->fail(
            ISO_UNSUPPORTED,
            "naive and tiled need exact f32 arithmetic, which this device lacks: %s",
            device->limits.f32_problem ? device->limits.f32_problem : "it is not IEEE 754");
    }
    return ISO_OK;
}

iso_status simt_supports(void *device, const iso_op *op)
{
    simt_device *self = device;
    const simt_operation *operation = simt_operation_of(op->kind);
    if (!operation) {
        return self->host->fail(ISO_UNSUPPORTED, "kind is %d, but %s has no such operation",
                                (int)op->kind, self->driver->name);
    }
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        return simt_vendor_supports(self, op);
    }
    iso_status status = check_arithmetic(self, op);
    return status == ISO_OK && operation->supports ? operation->supports(self, op) : status;
}

iso_status simt_workspace(void *device, const iso_op *op, int64_t *bytes)
{
    simt_device *self = device;
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        return simt_vendor_workspace(self, op, bytes);
    }
    const simt_operation *operation = simt_operation_of(op->kind);
    *bytes = operation->workspace ? operation->workspace(self, op) : 0;
    return ISO_OK;
}

iso_status simt_execute(void *stream, const iso_op *op)
{
    simt_stream *self = stream;
    const iso_status late = simt_calls_late(self);
    if (late) {
        return late;
    }
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        return simt_vendor_execute(self, op);
    }
    return simt_operation_of(op->kind)->execute(self, op);
}

iso_status simt_prepare(void *stream, const iso_op *op)
{
    simt_stream *self = stream;
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        return simt_vendor_prepare(self, op);
    }
    return simt_operation_of(op->kind)->prepare(self, op);
}

iso_status simt_describe(void *device, const iso_op *op, iso_op_info *out)
{
    simt_device *self = device;
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        simt_vendor_describe(self, op, out);
    } else {
        simt_operation_of(op->kind)->describe(self, op, out);
    }
    return ISO_OK;
}

iso_status simt_launch(simt_stream *stream, const simt_kernel *kernel, int64_t groups,
                       const simt_arg *args, int32_t arg_count)
{
    return stream->device->driver->launch(stream, kernel->native, (simt_groups){groups, 1, 1},
                                          kernel->threads, args, arg_count);
}

iso_status simt_launch_next(simt_stream *stream, const simt_kernel *kernel, int64_t groups,
                            const simt_arg *args, int32_t arg_count)
{
    const simt_driver *driver = stream->device->driver;
    return (driver->launch_next ? driver->launch_next : driver->launch)(
        stream, kernel->native, (simt_groups){groups, 1, 1}, kernel->threads, args, arg_count);
}

int64_t simt_alignment(const simt_device *device, iso_ref ref)
{
    enum { MOST = 256 }; /* the alignment of every allocation */
    uint64_t place = (uint64_t)ref.offset;
    if (device->limits.memory_is_address) {
        place += (uint64_t)(uintptr_t)ref.memory;
    }
    uint64_t lowest = place & (~place + 1);
    return lowest == 0 || lowest > MOST ? MOST : (int64_t)lowest;
}
