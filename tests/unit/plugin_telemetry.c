/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_telemetry.c - a device that does nothing and has sensors, which ISOMER_UNIT_SENSORS makes
 * fail. With UNIT_OLDER its table ends before the sensor entries, like that of an older plug-in. */
#define isomer_backend_query fork_query
#include "tests/unit/plugin_fork.c"
#undef isomer_backend_query

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static iso_status telemetry(void *given, iso_telemetry *out)
{
    const char *how = getenv("ISOMER_UNIT_SENSORS");
    (void)given;
    if (how && strcmp(how, "error") == 0) {
        return core->fail(ISO_BACKEND, "unitSensors gives UNIT_LOST (7)");
    }
    if (how) {
        return core->fail(ISO_UNSUPPORTED, "no library for sensors; tried: %s", how);
    }
    out->clock_mhz = 1234;
    out->throttle = ISO_THROTTLE_THERMAL;
    memset(out->partition, 'x', sizeof out->partition);
    return ISO_OK;
}

static iso_backend table;

__attribute__((visibility("default"))) const iso_backend *
isomer_backend_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    table = *fork_query(host_abi, host);
    table.telemetry = telemetry;
    table.name = "unit-telemetry";
#if defined(UNIT_OLDER)
    table.name = "unit-telemetry-older";
    table.size = (uint32_t)offsetof(iso_backend, telemetry);
    table.abi_minor = 1;
#endif
    return &table;
}
