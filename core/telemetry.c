/* SPDX-License-Identifier: Apache-2.0 */
/* telemetry.c - reads a device's sensors through its backend. */
#include "core/device.h"
#include "core/error.h"
#include "core/handle.h"
#include "core/structs.h"

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
