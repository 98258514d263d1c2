/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - what JSON files have in common. */
#include "tool.h"

#include <math.h>

json_t *tool_json_text(const char *text)
{
    json_t *value = text == NULL || text[0] == '\0' ? NULL : json_string(text);
    return value != NULL ? value : json_null();
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *features(uint32_t bits)
{
    static const char *const names[] = {"f64", "denormals", "fast-fma", "host-memory", "fake"};
    json_t *list = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bits & (1u << i))
            json_array_append_new(list, json_string(names[i]));
    return list;
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
    json_object_set_new(device, "features", features(info->features));
    json_object_set_new(device, "memory_total", json_integer(info->memory_total));
    json_object_set_new(device, "memory_free",
                        info->memory_free < 0 ? json_null() : json_integer(info->memory_free));
    json_object_set_new(device, "cache_bytes", json_integer(info->cache_bytes));
    json_object_set_new(device, "local_bytes", json_integer(info->local_bytes));
    json_object_set_new(device, "units", json_integer(info->units));
    json_object_set_new(device, "threads", json_integer(info->threads));
    json_object_set_new(device, "clock_mhz", json_integer(info->clock_mhz));
    return device;
}
