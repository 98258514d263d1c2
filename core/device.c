/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - handles of devices, the objects that belong to them, and native objects. */
#include "core/device.h"
#include "core/call.h"
#include "core/fork.h"
#include "core/host.h"
#include "core/op.h"
#include "core/settings.h"
#include "core/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void core_child_link(core_device *device, core_child *child)
{
    pthread_mutex_lock(&device->physical->lock);
    child->device = device;
    child->previous = NULL;
    child->next = device->children;
    if (child->next) {
        child->next->previous = child;
    }
    device->children = child;
    pthread_mutex_unlock(&device->physical->lock);
}

/* The device may be freed after this call. */
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
    if (options->memory_limit < -1) {
        return core_fail(ISO_INVALID,
                         "%s: options->memory_limit is %lld: use bytes, 0 for ISOMER_MEMORY_LIMIT "
                         "or -1 for none",
                         call, (long long)options->memory_limit);
    }
    return ISO_OK;
}

/* The math mode and the limit from the options and the environment. */
static iso_status apply_options(const char *call, const iso_device_options *options,
                                core_device *device, int64_t memory_total)
{
    const char *math = core_setting("ISOMER_MATH"), *limit = core_setting("ISOMER_MEMORY_LIMIT");

    device->math = options->math;
    if (!device->math && (!math || iso_math_parse(math, &device->math))) {
        device->math = ISO_MATH_STRICT;
    }
    device->limit = options->memory_limit;
    if (device->limit) {
        return ISO_OK;
    }
    if (limit && memory_total < 0 && strchr(limit, '%')) {
        return core_fail(
            ISO_INVALID,
            "%s: ISOMER_MEMORY_LIMIT is \"%s\", but the memory size of %s is not known here (the "
            "system or the driver does not report it): use bytes, or a number "
            "with K, M, G or T",
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
    free(device->choice);
    free(device);
}

static iso_status make_device(const char *call, const iso_device_options *options,
                              core_choice *choice, iso_device *out)
{
    core_device *device = calloc(1, sizeof *device);
    core_text story = {0};
    iso_device_info info;
    iso_status status;

    if (!device) {
        return core_fail_no_memory(call, (int64_t)sizeof *device);
    }
    device->physical = choice->physical;
    device->table = choice->physical->table;
    status = core_backend_device_info(call, choice->backend, choice->index, &info);
    if (!status) {
        status = apply_options(call, options, device, info.memory_total);
    }
    if (status) {
        goto fail;
    }
    core_text_add(&story, "%s (%s), %s", info.spec, info.name, core_text_get(&choice->story));
    device->choice = story.text;
    if (story.failed) {
        status = core_fail(ISO_NO_MEMORY, "%s: no host memory for the reasons of the choice", call);
        goto fail;
    }
    device->id = core_handle_new(call, CORE_DEVICE, device);
    if (!device->id) {
        status = ISO_NO_MEMORY;
        goto fail;
    }
    core_log(ISO_LOG_INFO, "opened %s", core_text_get(&story));
    out->id = device->id;
    return ISO_OK;
fail:
    free_device(device);
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

    if (status) {
        return status;
    }
    status = make_device(call, &what->options, &choice, what->out);
    if (status) {
        core_physical_close(choice.physical);
    }
    core_text_free(&choice.story);
    return status;
}

iso_status iso_device_open_with(const char *spec, const iso_device_options *options,
                                iso_device *out)
{
    const char *call = "iso_device_open";
    opening what = {.spec = spec, .out = out};
    iso_status status;

    core_fork_guard();
    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
    }
    out->id = 0;
    status = read_options(call, options, &what.options);
    if (!status) {
        status = core_settings_check(call);
    }
    return status ? status : core_stack_run(call, open_device, &what);
}

iso_status iso_device_open(const char *spec, iso_device *out)
{
    return iso_device_open_with(spec, NULL, out);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* Retires one object of the kind; NULL if none is left. Waits for those that another thread is
 * destroying. */
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
            /* The object lives while a call holds its handle; the thread that retires it frees it.
             */
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

    if (core_inside()) {
        return core_fail(ISO_INTERNAL,
                         "%s: called inside a backend's call in which a library exits the process",
                         call);
    }
    status = core_handle_retire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    while ((child = take_child(device, CORE_STREAM))) {
        bool told;

        status = core_stream_finish(call, (core_stream *)child, &told);
        if (status && !told && !first) {
            first = status;
            kept = core_error_keep();
        }
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
    core_device *device;
    iso_device_info info;
    iso_status status;

    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_device_info, index));
    if (!status) {
        status = core_backend_device_info(call, device->physical->backend, device->physical->index,
                                          &info);
    }
    if (!status) {
        core_struct_write(out, &info, sizeof info);
    }
    core_handle_release(handle.id);
    return status;
}

iso_status iso_device_get_choice(iso_device handle, char *text, int64_t capacity)
{
    const char *call = "iso_device_get_choice";
    core_device *device;
    iso_status status;

    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    if (!text) {
        status = core_fail(ISO_INVALID, "%s: text is NULL: pass where the text goes", call);
    } else if (capacity < 1) {
        status = core_fail(ISO_INVALID, "%s: capacity is %lld: pass 1 or more", call,
                           (long long)capacity);
    } else {
        snprintf(text, (size_t)capacity, "%s", device->choice ? device->choice : "");
    }
    core_handle_release(handle.id);
    return status;
}

iso_status iso_device_get_property(iso_device handle, int32_t index, iso_property *out)
{
    const char *call = "iso_device_get_property";
    iso_property *property;
    core_device *device;
    iso_status status;

    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_property, name));
    if (!status && index < 0) {
        status = core_fail(ISO_INVALID, "%s: index is %d: the first property is 0", call, index);
    }
    if (!status && !device->table->device_property) {
        status = ISO_NOT_READY;
    }
    if (!status) {
        status = core_stack_check(call, device->table);
    }
    property = status ? NULL : calloc(1, sizeof *property);
    if (!status && !property) {
        status = core_fail_no_memory(call, (int64_t)sizeof *property);
    }
    if (!status) {
        property->size = (uint32_t)sizeof *property;
        status =
            CORE_ASK(call, device->table,
                     device->table->device_property(device->physical->device, index, property));
    }
    if (!status) {
        property->name[sizeof property->name - 1] = 0;
        property->value[sizeof property->value - 1] = 0;
        core_struct_write(out, property, sizeof *property);
    }
    free(property);
    core_handle_release(handle.id);
    return status;
}

iso_status iso_device_get_memory_use(iso_device handle, iso_memory_use *out)
{
    const char *call = "iso_device_get_memory_use";
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    core_device *device;
    iso_status status;

    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_memory_use, used));
    if (!status) {
        pthread_mutex_lock(&device->physical->lock);
        use.used = device->physical->used;
        use.peak = device->physical->peak;
        pthread_mutex_unlock(&device->physical->lock);
        use.limit = device->limit;
        core_struct_write(out, &use, sizeof use);
    }
    core_handle_release(handle.id);
    return status;
}

/* ---- adopting -------------------------------------------------------------------------------- */

/* Loads the backend, which must be usable and able to adopt. */
static iso_status find_backend(const char *call, const char *name, core_backend **out)
{
    core_backend *backend = NULL;
    iso_probe *probe;
    iso_status status = ISO_OK;

    if (!name || !name[0]) {
        return core_fail(ISO_INVALID,
                         "%s: backend is %s: pass the name of one, as iso_enumerate lists them",
                         call, name ? "empty" : "NULL");
    }
    if (core_name_valid(name)) {
        status = core_backend_find(call, name, &backend);
    }
    if (status) {
        return status;
    }
    if (!backend) {
        return core_fail(
            ISO_INVALID,
            "%s: backend is \"%s\", which is not a backend: use a name that iso_enumerate "
            "lists",
            call, name);
    }
    probe = malloc(sizeof *probe);
    if (!probe) {
        return core_fail_no_memory(call, (int64_t)sizeof *probe);
    }
    status = core_backend_probe(call, backend, probe);
    if (!status && probe->state != ISO_STATE_OK) {
        status = core_fail(ISO_UNAVAILABLE, "%s: %s is not available (%s): %s", call, name,
                           iso_state_name(probe->state), probe->reason);
    } else if (!status && !backend->table.device_adopt) {
        status =
            core_fail(ISO_UNSUPPORTED,
                      "%s: %s does not adopt devices: open one with iso_device_open", call, name);
    }
    free(probe);
    *out = backend;
    return status;
}

iso_status iso_device_adopt(const char *name, const iso_native_device *native,
                            const iso_device_options *options, iso_device *out)
{
    const char *call = "iso_device_adopt";
    iso_native_device asked = ISO_NATIVE_DEVICE_INIT;
    iso_device_options checked;
    core_choice choice = {0};
    iso_status status;

    core_fork_guard();
    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the handle goes", call);
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
        status = core_settings_check(call);
    }
    if (!status) {
        status = find_backend(call, name, &choice.backend);
    }
    if (status) {
        return status;
    }
    asked.size = (uint32_t)sizeof asked;
    status = core_physical_adopt(call, choice.backend, &asked, &choice.physical);
    if (status) {
        return status;
    }
    choice.index = choice.physical->index;
    core_text_add(&choice.story, "adopted: the program's own context (%p)", asked.context);
    status = make_device(call, &checked, &choice, out);
    if (status) {
        core_physical_close(choice.physical);
    }
    core_text_free(&choice.story);
    return status;
}

/* ---- native objects -------------------------------------------------------------------------- */

static iso_status get(const char *call, core_device *device, iso_native_kind kind, void *object,
                      void **native)
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

    if (!buffer->memory) {
        return ISO_OK;
    }
    status = get(call, buffer->child.device, ISO_NATIVE_MEMORY, buffer->memory, native);
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
        status = get(call, stream->child.device, kind, stream->handle, native);
        pthread_mutex_unlock(&stream->lock);
        return status;
    case ISO_NATIVE_EVENT:
        if (!atomic_load(&event->recorded)) {
            return core_fail(ISO_NOT_READY,
                             "%s: the event was never recorded, and may have no native object yet: "
                             "record it first",
                             call);
        }
        return get(call, event->child.device, kind, event->handle, native);
    case ISO_NATIVE_MEMORY:
        return get_memory(call, object, native);
    default:
        return get(call, device, kind, device->physical->device, native);
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
    void *object, *native = NULL;
    iso_status status;

    if ((int)kind < ISO_NATIVE_CONTEXT || (int)kind > ISO_NATIVE_MEMORY) {
        return core_fail(
            ISO_INVALID,
            "%s: kind is %d, which is not a kind: use ISO_NATIVE_CONTEXT (1), _DEVICE, "
            "_STREAM, _EVENT or _MEMORY (5)",
            call, (int)kind);
    }
    if (!out) {
        return core_fail(ISO_INVALID, "%s: out is NULL: pass where the pointer goes", call);
    }
    status = core_handle_acquire(call, "id", id, kinds[kind], &object);
    if (status) {
        return status;
    }
    status = get_of(call, kind, object, &native);
    core_handle_release(id);
    if (!status) {
        *out = native;
    }
    return status;
}

/* ---- sensors --------------------------------------------------------------------------------- */

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
    };
    core_device *device;
    iso_status status;

    status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);
    if (status) {
        return status;
    }
    status = core_struct_check(call, "out", out, CORE_END_OF(iso_telemetry, throttle));
    if (!status && !device->table->telemetry) {
        status = core_fail(ISO_UNSUPPORTED, "%s: the %s backend reads no sensors", call,
                           device->table->name);
    }
    if (!status) {
        status = CORE_CALL(call, device->table,
                           device->table->telemetry(device->physical->device, &now));
    }
    if (!status) {
        now.partition[sizeof now.partition - 1] = 0;
        now.source[sizeof now.source - 1] = 0;
        core_struct_write(out, &now, sizeof now);
    }
    core_handle_release(handle.id);
    return status;
}
