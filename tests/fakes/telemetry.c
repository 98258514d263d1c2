/* SPDX-License-Identifier: Apache-2.0 */
/* telemetry.c SPEC - opens a device and prints its sensor readings, one field a line, or the status
 * and text of the failure. READINGS says how often it reads; the last is printed. First it checks
 * that only this call opens a sensor library. */
#include "tests/concurrency/check.h"

#include <dlfcn.h>
#include <stdlib.h>

static int is_loaded(void)
{
    return dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD) ||
           dlopen("librocm_smi64.so.7", RTLD_NOW | RTLD_NOLOAD);
}

int main(int argc, char **argv)
{
    iso_device device = {0};
    iso_telemetry said = ISO_TELEMETRY_INIT;

    CHECK(argc == 2);
    CHECK_OK(iso_device_open(argv[1], &device));
    CHECK(!is_loaded());
    const char *readings = getenv("READINGS");
    iso_status status = iso_device_get_telemetry(device, &said);
    for (int i = 1; readings && i < atoi(readings); i++) {
        status = iso_device_get_telemetry(device, &said);
    }
    printf("status %s\n", iso_status_name(status));
    if (status) {
        printf("text %s\n", iso_last_error());
    } else {
        printf("clock %d\nclock_max %d\nmemory_clock %d\n", said.clock_mhz, said.clock_max_mhz,
               said.memory_clock_mhz);
        printf("throttle %d\necc %d\n", said.throttle, said.ecc);
        printf("power %g\ncap %g\n", said.power_watts, said.power_cap_watts);
        printf("temperature %g\nbusy %g\n", said.temperature_celsius, said.busy_percent);
        printf("energy %.10g\nscope %s\nreason %s\n", said.energy_joules, said.energy_scope,
               said.energy_reason);
        printf("partition %s\nsource %s\n", said.partition, said.source);
    }
    CHECK_OK(iso_device_close(device));
    return 0;
}
