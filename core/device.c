/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - handles of devices, the objects that belong to them, and native objects. */
#include "core/device.h"
#include "core/call.h"
#include "core/comm/comm.h"
#include "core/fork.h"
#include "core/graph/graph.h"
#include "core/grid/grid.h"
#include "core/host.h"
#include "core/kernel/kernel.h"
#include "core/op.h"
#include "core/settings.h"
#include "core/stream.h"
#include "core/tuned.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

iso_status core_create_begin(const char *call, iso_device handle, uint64_t *out,
                             core_device **device)
{
    iso_status status = core_check_out(call, "out", out);

    if (status) {
        return status;
    }
    *out = 0;
    return core_handle_acquire(call, "device", handle.id, CORE_DEVICE, device);
}

iso_status core_child_add(const char *call, core_device *device, core_child *child, core_kind kind)
{
    child->kind = kind;
    child->device = device;
    child->id = core_handle_new(call, kind, child);
    if (!child->id) {
        return ISO_NO_MEMORY;
    }
    pthread_mutex_lock(&device->physical->lock);
    child->next = device->children;
    if (child->next) {
        child->next->previous = child;
    }
    device->children = child;
    pthread_mutex_unlock(&device->physical->lock);
    return ISO_OK;
}

iso_status core_check_device(const char *call, const char *name, const core_child *child,
                             const char *other_name, const core_child *other)
{
    if (child->device == other->device) {
        return ISO_OK;
    }
    return core_fail(
        ISO_MISMATCH,
        "%s: %s belongs to another device handle (%s) than %s (%s): both must belong to "
        "the same one (iso_copy_between copies between two)",
        call, name, child->device->physical->spec, other_name, other->device->physical->spec);
}

/* After this call another thread may free the device. */
void core_child_unlink(core_child *child)
{
    core_physical *physical = child->device->physical;

    pthread_mutex_lock(&physical->lock);
    if (child->previous) {
        child->previous->next = child->next;
    } else {
        child->device->children = child->next;
    }
    if (child->next) {
        child->next->previous = child->previous;
    }
    pthread_cond_broadcast(&physical->changed);
    pthread_mutex_unlock(&physical->lock);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Reads the options, and checks the settings. */
static iso_status read_options(const char *call, const iso_device_options *given,
                               iso_device_options *options)
{
    iso_status status = ISO_OK;

    *options = (iso_device_options)ISO_DEVICE_OPTIONS_INIT;
    if (given) {
        status = core_struct_read(call, "options", given, CORE_END_OF(iso_device_options, math),
                                  options, sizeof *options);
    }
    if (status) {
        return status;
    }
    if (!iso_math_name(options->math)) {
        return core_fail(ISO_INVALID,
                         "%s: options->math is %d, which is not a math mode: use default "
                         "(0), strict (1) or tf32 (2)",
                         call, (int)options->math);
    }
    if (!iso_keep_name(options->keep)) {
        return core_fail(ISO_INVALID,
                         "%s: options->keep is %d: use default (0), bits (1), terms (2) or scale "
                         "(3)",
                         call, (int)options->keep);
    }
    status = core_check_reserved(call, "options", options->reserved);
    if (status) {
        return status;
    }
    if (options->memory_limit < -1) {
        return core_fail(ISO_INVALID,
                         "%s: options->memory_limit is %lld: use bytes, 0 for ISOMER_MEMORY_LIMIT "
                         "or -1 for none",
                         call, (long long)options->memory_limit);
    }
    return core_settings_check(call);
}

/* Sets the device's math mode, what auto keeps, and the memory limit, from the options and the
 * environment. */
static iso_status apply_options(const char *call, const iso_device_options *options,
                                core_device *device, int64_t memory_total)
{
    const char *math = core_setting("ISOMER_MATH"), *keep = core_setting("ISOMER_KEEP");
    const char *limit = core_setting("ISOMER_MEMORY_LIMIT");

    device->math = options->math;
    if (!device->math && (!math || iso_math_parse(math, &device->math))) {
        device->math = ISO_MATH_STRICT;
    }
    device->keep = options->keep;
    if (!device->keep && (!keep || iso_keep_parse(keep, &device->keep))) {
        device->keep = ISO_KEEP_TERMS;
    }
    device->limit = options->memory_limit;
    if (device->limit) {
        return ISO_OK;
    }
    if (limit && memory_total < 0 && strchr(limit, '%')) {
        return core_fail(
            ISO_INVALID,
            "%s: ISOMER_MEMORY_LIMIT is \"%s\", but the system or the driver does not report the "
            "memory size of %s: use bytes, or a number with K, M, G or T",
            call, limit, device->physical->spec);
    }
    device->limit = limit ? core_parse_limit(limit, memory_total) : -1;
    if (limit && device->limit < 0) {
        return core_fail(ISO_INVALID, "%s: ISOMER_MEMORY_LIMIT is \"%s\", which is not a limit",
                         call, limit);
    }
    return ISO_OK;
}

static void free_device(core_device *device)
{
    if (device) {
        core_tuned_free(device->tuned);
        free(device->choice);
        free(device);
    }
}

/* Frees the choice's text, and on failure closes its device. */
static iso_status make_device(const char *call, const iso_device_options *options,
                              core_choice *choice, iso_device *out)
{
    core_device *device = calloc(1, sizeof *device);
    core_text story = {0};
    iso_device_info info;
    iso_status status;

    if (!device) {
        status = core_fail_no_memory(call, (int64_t)sizeof *device);
        goto fail;
    }
    device->physical = choice->physical;
    device->table = choice->physical->table;
    status =
        core_backend_device_info(call, choice->physical->backend, choice->physical->index, &info);
    if (!status) {
        status = apply_options(call, options, device, info.memory_total);
    }
    if (!status) {
        status = core_tuned_open(call, device, &info, &device->tuned);
    }
    if (status) {
        goto fail;
    }
    core_text_add(&story, "%s (%s), %s", info.spec, info.name, core_text_get(&choice->story));
    device->choice = story.text;
    status = core_text_check(call, &story);
    if (!status && !(device->id = core_handle_new(call, CORE_DEVICE, device))) {
        status = ISO_NO_MEMORY;
    }
    if (status) {
        goto fail;
    }
    core_log(ISO_LOG_INFO, "opened %s", core_text_get(&story));
    out->id = device->id;
    core_text_free(&choice->story);
    return ISO_OK;
fail:
    free_device(device);
    core_physical_close(choice->physical);
    core_text_free(&choice->story);
    return status;
}

typedef struct opening {
    const char *spec;
    iso_device_options options;
    iso_device *out;
} opening;

static iso_status open_device(void *context)
{
    const char *call = "iso_device_open";
    const opening *what = context;
    core_choice choice;
    iso_status status = core_select(call, what->spec, &choice);

    return status ? status : make_device(call, &what->options, &choice, what->out);
}

iso_status iso_device_open_with(const char *spec, const iso_device_options *options,
                                iso_device *out)
{
    const char *call = "iso_device_open";
    opening what = {.spec = spec, .out = out};
    iso_status status = core_check_out(call, "out", out);

    core_fork_guard();
    if (status) {
        return status;
    }
    out->id = 0;
    status = read_options(call, options, &what.options);
    return status ? status : core_stack_run(call, open_device, &what);
}

iso_status iso_device_open(const char *spec, iso_device *out)
{
    return iso_device_open_with(spec, NULL, out);
}

/* Finds the backend of that name, which must be usable and able to adopt devices. */
static iso_status find_adopter(const char *call, const char *name, core_backend **out)
{
    int32_t devices;
    iso_status status = ISO_OK;

    if (!name || !name[0]) {
        return core_fail(ISO_INVALID, "%s: backend is %s: pass a name that iso_enumerate lists",
                         call, name ? "empty" : "NULL");
    }
    *out = NULL;
    if (core_name_valid(name)) {
        status = core_backend_find(call, name, out);
    }
    if (!status && !*out) {
        status = core_fail(ISO_INVALID,
                           "%s: backend is \"%s\", which is not a backend: use a name that "
                           "iso_enumerate lists",
                           call, name);
    }
    if (!status) {
        status = core_backend_ready(call, *out, &devices);
    }
    if (!status && !(*out)->table.device_adopt) {
        status =
            core_fail(ISO_UNSUPPORTED,
                      "%s: %s does not adopt devices: open one with iso_device_open", call, name);
    }
    return status;
}

iso_status iso_device_adopt(const char *name, const iso_native_device *native,
                            const iso_device_options *options, iso_device *out)
{
    const char *call = "iso_device_adopt";
    iso_native_device asked = ISO_NATIVE_DEVICE_INIT;
    iso_device_options checked;
    core_backend *backend;
    core_choice choice = {0};
    iso_status status = core_check_out(call, "out", out);

    core_fork_guard();
    if (status) {
        return status;
    }
    out->id = 0;
    status = core_struct_read(call, "native", native, CORE_END_OF(iso_native_device, device),
                              &asked, sizeof asked);
    if (!status) {
        status = core_check_reserved(call, "native", asked.reserved);
    }
    if (!status) {
        status = read_options(call, options, &checked);
    }
    if (!status) {
        status = find_adopter(call, name, &backend);
    }
    if (status) {
        return status;
    }
    asked.size = (uint32_t)sizeof asked;
    status = core_physical_adopt(call, backend, &asked, &choice.physical);
    if (status) {
        return status;
    }
    core_text_add(&choice.story, "adopted: the program's own context (%p)", asked.context);
    return make_device(call, &checked, &choice, out);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* Retires one object of the kind and returns it; NULL if none is left. If other threads are
 * destroying the last ones, waits until those are gone. */
static core_child *take_child(core_device *device, core_kind kind)
{
    core_physical *physical = device->physical;
    core_child *at = NULL;
    bool waits = true;

    pthread_mutex_lock(&physical->lock);
    while (waits && !at) {
        uint64_t id = 0;

        waits = false;
        for (at = device->children; at; at = at->next) {
            if (at->kind != kind) {
                continue;
            }
            waits = true;
            id = at->id;
            if (core_handle_try(id)) {
                break;
            }
        }
        if (at) {
            /* Retiring waits for the calls that use the object, so the lock is released first. If
             * another thread retires the object before this one, that thread frees it. */
            pthread_mutex_unlock(&physical->lock);
            core_handle_release(id);
            if (core_handle_retire_quietly(id)) {
                return at;
            }
            at = NULL;
            pthread_mutex_lock(&physical->lock);
        } else if (waits) {
            pthread_cond_wait(&physical->changed, &physical->lock);
        }
    }
    pthread_mutex_unlock(&physical->lock);
    return NULL;
}

iso_status iso_device_close(iso_device handle)
{
    const char *call = "iso_device_close";
    iso_status first = ISO_OK, status;
    core_kept_error kept = {0};
    core_device *device;
    core_child *child;
    bool told;

    if (core_inside()) {
        return core_fail(
            ISO_INTERNAL,
            "%s: called from an exit handler while this thread is inside a backend's call", call);
    }
    status = core_handle_retire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    while ((child = take_child(device, CORE_GRID))) {
        core_grid_finish((core_grid *)child);
    }
    while ((child = take_child(device, CORE_COMM))) {
        status = core_comm_finish(call, (core_comm *)child, &told);
        if (status && !told && !first) {
            first = status;
            kept = core_error_keep();
        }
    }
    while ((child = take_child(device, CORE_STREAM))) {

        status = core_stream_finish(call, (core_stream *)child, &told);
        if (status && !told && !first) {
            first = status;
            kept = core_error_keep();
        }
    }
    while ((child = take_child(device, CORE_GRAPH))) {
        core_graph_finish((core_graph *)child);
    }
    while ((child = take_child(device, CORE_PROGRAM))) {
        core_program_finish((core_program *)child);
    }
    while ((child = take_child(device, CORE_SPARSE))) {
        core_sparse_finish((core_sparse *)child);
    }
    while ((child = take_child(device, CORE_EVENT))) {
        core_event_finish((core_event *)child);
    }
    while ((child = take_child(device, CORE_BUFFER))) {
        core_buffer_finish((core_buffer *)child);
    }
    core_blocks_finish(device);
    core_physical_close(device->physical);
    free_device(device);
    core_handle_free(handle.id);
    if (first) {
        core_error_restore(&kept);
    }
    return first;
}

/* ---- queries --------------------------------------------------------------------------------- */

iso_status iso_device_get_info(iso_device handle, iso_device_info *out)
{
    const char *call = "iso_device_get_info";
    CORE_HELD core_device *device = NULL;
    iso_device_info info;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_device_info, index));
    }
    if (!status) {
        status = core_backend_device_info(call, device->physical->backend, device->physical->index,
                                          &info);
    }
    if (!status) {
        core_struct_write(out, &info, sizeof info);
    }
    return status;
}

iso_status iso_device_get_choice(iso_device handle, char *text, int64_t capacity)
{
    const char *call = "iso_device_get_choice";
    CORE_HELD core_device *device = NULL;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (!status) {
        status = core_check_out(call, "text", text);
    }
    if (status) {
        return status;
    }
    if (capacity < 1) {
        return core_fail(ISO_INVALID, "%s: capacity is %lld: pass 1 or more", call,
                         (long long)capacity);
    }
    snprintf(text, (size_t)capacity, "%s", device->choice ? device->choice : "");
    return ISO_OK;
}

iso_status iso_device_get_memory_use(iso_device handle, iso_memory_use *out)
{
    const char *call = "iso_device_get_memory_use";
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    CORE_HELD core_device *device = NULL;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_memory_use, used));
    }
    if (status) {
        return status;
    }
    pthread_mutex_lock(&device->physical->lock);
    use.used = device->physical->used;
    use.peak = device->physical->peak;
    pthread_mutex_unlock(&device->physical->lock);
    use.limit = device->limit;
    core_struct_write(out, &use, sizeof use);
    return ISO_OK;
}

iso_status iso_device_get_telemetry(iso_device handle, iso_telemetry *out)
{
    const char *call = "iso_device_get_telemetry";
    iso_telemetry now = {
        .size = (uint32_t)sizeof now,
        .throttle = -1,
        .clock_mhz = -1,
        .clock_max_mhz = -1,
        .memory_clock_mhz = -1,
        .ecc = -1,
        .power_watts = -1,
        .power_cap_watts = -1,
        .temperature_celsius = -1,
        .busy_percent = -1,
        .energy_joules = -1,
    };
    CORE_HELD core_device *device = NULL;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_telemetry, throttle));
    }
    if (status) {
        return status;
    }
    if (!device->table->telemetry) {
        return core_fail(ISO_UNSUPPORTED, "%s: the %s backend reads no sensors", call,
                         device->table->name);
    }
    status =
        CORE_CALL(call, device->table, device->table->telemetry(device->physical->device, &now));
    if (!status) {
        now.partition[sizeof now.partition - 1] = 0;
        now.source[sizeof now.source - 1] = 0;
        now.energy_scope[sizeof now.energy_scope - 1] = 0;
        now.energy_reason[sizeof now.energy_reason - 1] = 0;
        if (now.energy_joules < 0 && now.energy_reason[0] == '\0') {
            (void)snprintf(now.energy_reason, sizeof now.energy_reason,
                           "the %s backend reports no energy counter", device->table->name);
        }
        core_struct_write(out, &now, sizeof now);
    }
    return status;
}

/* ---- native objects -------------------------------------------------------------------------- */

iso_status core_native_get(const char *call, core_device *device, iso_native_kind kind,
                           void *object, void **native)
{
    const iso_backend *table = device->table;

    if (!table->native_get) {
        return core_fail(ISO_UNSUPPORTED, "%s: %s does not expose its native objects", call,
                         table->name);
    }
    return CORE_LIGHT(call, table,
                      table->native_get(device->physical->device, kind, object, native));
}

static iso_status get_memory(const char *call, core_buffer *buffer, void **native)
{
    iso_status status;

    if (!buffer->owner->memory) {
        return ISO_OK;
    }
    status = core_native_get(call, buffer->child.device, ISO_NATIVE_MEMORY, buffer->owner->memory,
                             native);
    if (!status) {
        *native = (char *)*native + buffer->origin;
    }
    return status;
}

static iso_status get_of(const char *call, iso_native_kind kind, void *object, void **native)
{
    core_device *device = object;
    core_stream *stream = object;
    core_event *event = object;
    iso_status status;

    switch (kind) {
    case ISO_NATIVE_STREAM:
        pthread_mutex_lock(&stream->lock);
        status = core_native_get(call, stream->child.device, kind, stream->handle, native);
        pthread_mutex_unlock(&stream->lock);
        return status;
    case ISO_NATIVE_EVENT:
        if (!atomic_load(&event->recorded)) {
            return core_fail(ISO_NOT_READY,
                             "%s: the event was never recorded, so it may have no native object "
                             "yet: record it first",
                             call);
        }
        return core_native_get(call, event->child.device, kind, event->handle, native);
    case ISO_NATIVE_MEMORY:
        return get_memory(call, object, native);
    default:
        return core_native_get(call, device, kind, device->physical->device, native);
    }
}

iso_status iso_native_get(iso_native_kind kind, uint64_t id, void **out)
{
    static const core_kind kinds[] = {
        [ISO_NATIVE_CONTEXT] = CORE_DEVICE, [ISO_NATIVE_DEVICE] = CORE_DEVICE,
        [ISO_NATIVE_STREAM] = CORE_STREAM,  [ISO_NATIVE_EVENT] = CORE_EVENT,
        [ISO_NATIVE_MEMORY] = CORE_BUFFER,
    };
    const char *call = "iso_native_get";
    CORE_HELD void *object = NULL;
    void *native = NULL;
    iso_status status;

    if ((int)kind < ISO_NATIVE_CONTEXT || (int)kind > ISO_NATIVE_MEMORY) {
        return core_fail(
            ISO_INVALID,
            "%s: kind is %d, which is not a kind: use ISO_NATIVE_CONTEXT (1), _DEVICE, "
            "_STREAM, _EVENT or _MEMORY (5)",
            call, (int)kind);
    }
    status = core_check_out(call, "out", out);
    if (!status) {
        status = core_handle_acquire(call, "id", id, kinds[kind], &object);
    }
    if (!status) {
        status = get_of(call, kind, object, &native);
    }
    if (!status) {
        *out = native;
    }
    return status;
}
