/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - makes the values and objects that occur in several JSON files. */
#include "bench/tool.h"

#include "common/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes a text in which bytes that are not UTF-8 are escaped, such as "\xff". */
static json_t *from_bytes(const char *text)
{
    size_t room = strlen(text) * 4 + 1;
    char *shown = tool_alloc(1, room, "a text");
    printable_copy(shown, room, text);
    json_t *value = json_string(shown);
    free(shown);
    return value;
}

json_t *tool_json_text(const char *text)
{
    if (!text || text[0] == '\0') {
        return json_null();
    }
    json_t *value = json_string(text);
    return value ? value : from_bytes(text);
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The names of the bits that are set. */
static json_t *bits_json(uint32_t bits, const char *const *names, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++) {
        if (bits & (1u << i)) {
            json_array_append_new(list, json_string(names[i]));
        }
    }
    return list;
}

static json_t *whole(int64_t value) /* null: not known */
{
    return value < 0 ? json_null() : json_integer(value);
}

void tool_set_int(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

void tool_set_text(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, tool_json_text(value));
}

void tool_set_bool(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

void tool_set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, tool_json_number(value));
}

json_t *tool_json_device(const iso_device_info *info)
{
    static const char *const features[] = {"f64",  "denormals", "fast-fma", "host-memory",
                                           "fake", "compiles",  "simulated"};
    uint32_t bits = info->features | (tool_is_fake(info) ? ISO_FEATURE_FAKE : 0);
    json_t *device = json_object();
    tool_set_text(device, "spec", info->spec);
    tool_set_text(device, "backend", info->backend);
    tool_set_int(device, "index", info->index);
    tool_set_text(device, "name", info->name);
    tool_set_text(device, "vendor", info->vendor);
    tool_set_text(device, "uuid", info->uuid);
    tool_set_text(device, "type", iso_device_type_name(info->type));
    tool_set_text(device, "tier", tool_tiers[tool_tier_of(info)].name);
    tool_set_text(device, "architecture", info->architecture);
    tool_set_text(device, "driver", info->driver);
    tool_set_text(device, "runtime", info->runtime);
    json_object_set_new(device, "features",
                        bits_json(bits, features, sizeof features / sizeof features[0]));
    json_object_set_new(device, "memory_total", whole(info->memory_total));
    json_object_set_new(device, "memory_free", whole(info->memory_free));
    tool_set_int(device, "cache_bytes", info->cache_bytes);
    tool_set_int(device, "local_bytes", info->local_bytes);
    tool_set_int(device, "units", info->units);
    tool_set_int(device, "threads", info->threads);
    tool_set_int(device, "clock_mhz", info->clock_mhz);
    return device;
}

static json_t *reading(double value)
{
    return value < 0 ? json_null() : tool_json_number(value);
}

json_t *tool_json_telemetry(const iso_telemetry *telemetry)
{
    static const char *const reasons[] = {"power", "thermal", "other"};
    if (!telemetry) {
        return json_null();
    }
    json_t *said = json_object();
    tool_set_text(said, "source", telemetry->source);
    json_object_set_new(said, "clock_mhz", whole(telemetry->clock_mhz));
    json_object_set_new(said, "clock_max_mhz", whole(telemetry->clock_max_mhz));
    json_object_set_new(said, "memory_clock_mhz", whole(telemetry->memory_clock_mhz));
    json_object_set_new(said, "power_watts", reading(telemetry->power_watts));
    json_object_set_new(said, "power_cap_watts", reading(telemetry->power_cap_watts));
    json_object_set_new(said, "temperature_celsius", reading(telemetry->temperature_celsius));
    json_object_set_new(said, "busy_percent", reading(telemetry->busy_percent));
    json_object_set_new(said, "ecc",
                        telemetry->ecc < 0 ? json_null() : json_boolean(telemetry->ecc));
    json_object_set_new(said, "energy_joules", reading(telemetry->energy_joules));
    tool_set_text(said, "energy_scope", telemetry->energy_scope);
    tool_set_text(said, "energy_reason", telemetry->energy_reason);
    tool_set_text(said, "partition", telemetry->partition);
    json_object_set_new(said, "throttle",
                        telemetry->throttle < 0 ? json_null()
                                                : bits_json((uint32_t)telemetry->throttle, reasons,
                                                            sizeof reasons / sizeof reasons[0]));
    return said;
}
