/* SPDX-License-Identifier: Apache-2.0 */
/* property.c - the properties of a device: the backend's, then those of its table of measured
 * choices. */
#include "core/call.h"
#include "core/tuned.h"

#include <stdlib.h>
#include <string.h>

static iso_status find_property(const char *call, core_device *device, int32_t index,
                                iso_property *out)
{
    const iso_backend *table = device->table;
    void *of = device->physical->device;
    iso_status status = ISO_NOT_READY;
    int32_t count = 0;

    if (table->device_property) {
        status = CORE_ASK(call, table, table->device_property(of, index, out));
        out->name[sizeof out->name - 1] = 0;
        out->value[sizeof out->value - 1] = 0;
    }
    if (status != ISO_NOT_READY) {
        return status;
    }
    while (table->device_property && count < index &&
           !CORE_ASK(call, table, table->device_property(of, count, out))) {
        count++;
    }
    memset(out, 0, sizeof *out);
    out->size = (uint32_t)sizeof *out;
    return core_tuned_property(call, device, index - count, out);
}

iso_status iso_device_get_property(iso_device handle, int32_t index, iso_property *out)
{
    const char *call = "iso_device_get_property";
    CORE_HELD core_device *device = NULL;
    iso_property *property;
    iso_status status = core_handle_acquire(call, "device", handle.id, CORE_DEVICE, &device);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_property, name));
    }
    if (!status) {
        status = core_check_size(call, "index", index);
    }
    if (!status) {
        status = core_stack_check(call, device->table);
    }
    if (status) {
        return status;
    }
    property = calloc(1, sizeof *property);
    if (!property) {
        return core_fail_no_memory(call, (int64_t)sizeof *property);
    }
    property->size = (uint32_t)sizeof *property;
    status = find_property(call, device, index, property);
    if (!status) {
        core_struct_write(out, property, sizeof *property);
    }
    free(property);
    return status;
}
