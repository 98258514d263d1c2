/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - what JSON files have in common. */
#include "bench/tool.h"

#include "common/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Its bytes that are no UTF-8 are written "\xff". */
static json_t *from_bytes(const char *text)
{
    size_t room = strlen(text) * 4 + 1;
    char *shown = malloc(room);
    if (!shown) {
        return NULL;
    }
    printable_copy(shown, room, text);
    json_t *value = json_string(shown);
    free(shown);
    return value;
}

json_t *tool_json_text(const char *text)
{
    json_t *value = !text || text[0] == '\0' ? NULL : json_string(text);
    if (!value && text && text[0] != '\0') {
        value = from_bytes(text);
    }
    return value ? value : json_null();
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

bool tool_is_fake(const iso_device_info *info)
{
    /* To a backend the stand-ins of tests/fakes are devices like any other: they say what they are
     * in the one place that is theirs. */
    return (info->features & ISO_FEATURE_FAKE) != 0 || strstr(info->name, "test fake") ||
           strstr(info->name, "test stand-in");
}

static json_t *features(uint32_t bits)
{
    static const char *const names[] = {"f64",         "denormals", "fast-fma",
                                        "host-memory", "fake",      "compiles"};
    json_t *list = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bits & (1u << i)) {
            json_array_append_new(list, json_string(names[i]));
        }
    }
    return list;
}

void tool_set_int(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

void tool_set_text(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, tool_json_text(value));
}

void tool_set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, tool_json_number(value));
}

json_t *tool_json_device(const iso_device_info *info)
{
    json_t *device = json_object();
    json_object_set_new(device, "spec", tool_json_text(info->spec));
    json_object_set_new(device, "backend", tool_json_text(info->backend));
    json_object_set_new(device, "index", json_integer(info->index));
    json_object_set_new(device, "name", tool_json_text(info->name));
    json_object_set_new(device, "vendor", tool_json_text(info->vendor));
    json_object_set_new(device, "uuid", tool_json_text(info->uuid));
    json_object_set_new(device, "type", tool_json_text(iso_device_type_name(info->type)));
    json_object_set_new(device, "architecture", tool_json_text(info->architecture));
    json_object_set_new(device, "driver", tool_json_text(info->driver));
    json_object_set_new(device, "runtime", tool_json_text(info->runtime));
    json_object_set_new(device, "features",
                        features(info->features | (tool_is_fake(info) ? ISO_FEATURE_FAKE : 0)));
    json_object_set_new(device, "memory_total",
                        info->memory_total < 0 ? json_null() : json_integer(info->memory_total));
    json_object_set_new(device, "memory_free",
                        info->memory_free < 0 ? json_null() : json_integer(info->memory_free));
    json_object_set_new(device, "cache_bytes", json_integer(info->cache_bytes));
    json_object_set_new(device, "local_bytes", json_integer(info->local_bytes));
    json_object_set_new(device, "units", json_integer(info->units));
    json_object_set_new(device, "threads", json_integer(info->threads));
    json_object_set_new(device, "clock_mhz", json_integer(info->clock_mhz));
    return device;
}

static json_t *reading(double value)
{
    return value < 0 ? json_null() : tool_json_number(value);
}

static json_t *whole(int32_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static json_t *throttle(int32_t bits)
{
    static const char *const names[] = {"power", "thermal", "other"};
    if (bits < 0) {
        return json_null();
    }
    json_t *list = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((uint32_t)bits & (1u << i)) {
            json_array_append_new(list, json_string(names[i]));
        }
    }
    return list;
}

json_t *tool_json_telemetry(const iso_telemetry *telemetry)
{
    if (!telemetry) {
        return json_null();
    }
    json_t *said = json_object();
    json_object_set_new(said, "source", tool_json_text(telemetry->source));
    json_object_set_new(said, "clock_mhz", whole(telemetry->clock_mhz));
    json_object_set_new(said, "clock_max_mhz", whole(telemetry->clock_max_mhz));
    json_object_set_new(said, "memory_clock_mhz", whole(telemetry->memory_clock_mhz));
    json_object_set_new(said, "power_watts", reading(telemetry->power_watts));
    json_object_set_new(said, "power_cap_watts", reading(telemetry->power_cap_watts));
    json_object_set_new(said, "temperature_celsius", reading(telemetry->temperature_celsius));
    json_object_set_new(said, "busy_percent", reading(telemetry->busy_percent));
    json_object_set_new(said, "ecc",
                        telemetry->ecc < 0 ? json_null() : json_boolean(telemetry->ecc));
    json_object_set_new(said, "partition", tool_json_text(telemetry->partition));
    json_object_set_new(said, "throttle", throttle(telemetry->throttle));
    return said;
}
