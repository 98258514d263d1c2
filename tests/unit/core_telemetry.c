/* SPDX-License-Identifier: Apache-2.0 */
/* core_telemetry.c - a device's sensors: values that are not reported, devices without sensors, and
 * errors. */
#include "tests/unit/unit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static iso_device open_one(const char *spec)
{
    iso_device device;
    works(iso_device_open(spec, &device));
    return device;
}

static void test_fields(void **state)
{
    iso_device device = open_one("unit-telemetry");
    iso_telemetry said = ISO_TELEMETRY_INIT;

    (void)state;
    memset((char *)&said + sizeof said.size, 7, sizeof said - sizeof said.size);
    works(iso_device_get_telemetry(device, &said));
    assert_int_equal(said.size, sizeof said);
    assert_int_equal(said.clock_mhz, 1234);
    assert_int_equal(said.throttle, ISO_THROTTLE_THERMAL);
    assert_int_equal(said.clock_max_mhz, -1);
    assert_int_equal(said.memory_clock_mhz, -1);
    assert_int_equal(said.ecc, -1);
    assert_true(said.power_watts == -1 && said.power_cap_watts == -1);
    assert_true(said.temperature_celsius == -1 && said.busy_percent == -1);
    assert_true(said.energy_joules == -1);
    assert_string_equal(said.energy_scope, "");
    assert_string_equal(said.energy_reason, "the unit-telemetry backend reports no energy counter");
    assert_int_equal(strlen(said.partition), sizeof said.partition - 1); /* not NUL-terminated */
    assert_string_equal(said.source, "");
    works(iso_device_close(device));
}

static void test_failures(void **state)
{
    iso_device device = open_one("unit-telemetry");
    iso_telemetry said = ISO_TELEMETRY_INIT;

    (void)state;
    setenv("ISOMER_UNIT_SENSORS", "error", 1);
    fails(iso_device_get_telemetry(device, &said), ISO_BACKEND, "iso_device_get_telemetry",
          "unit-telemetry", "UNIT_LOST (7)");
    setenv("ISOMER_UNIT_SENSORS", "/nowhere/libunit.so", 1);
    fails(iso_device_get_telemetry(device, &said), ISO_UNSUPPORTED, "/nowhere/libunit.so");
    unsetenv("ISOMER_UNIT_SENSORS");
    fails(iso_device_get_telemetry(device, NULL), ISO_INVALID, "out is NULL");
    works(iso_device_close(device));
    fails(iso_device_get_telemetry(device, &said), ISO_INVALID, "device");
}

/* A program that was built before the counter of energy passes a shorter struct. */
static void test_shorter(void **state)
{
    iso_device device = open_one("unit-telemetry");
    iso_telemetry said = ISO_TELEMETRY_INIT;

    (void)state;
    said.size = (uint32_t)offsetof(iso_telemetry, energy_joules);
    said.energy_joules = 7;
    works(iso_device_get_telemetry(device, &said));
    assert_int_equal(said.clock_mhz, 1234);
    assert_true(said.energy_joules == 7);
    works(iso_device_close(device));
}

static void test_without(void **state)
{
    iso_device older = open_one("unit-telemetry-older"), none = open_one("unit-fork");
    iso_telemetry said = ISO_TELEMETRY_INIT;

    (void)state;
    fails(iso_device_get_telemetry(older, &said), ISO_UNSUPPORTED, "unit-telemetry-older");
    fails(iso_device_get_telemetry(none, &said), ISO_UNSUPPORTED, "unit-fork");
    works(iso_device_close(older));
    works(iso_device_close(none));
}

/* The machine's own sensors: reported values are plausible. */
static void test_processors(void **state)
{
    iso_device device = open_one("openmp");
    iso_telemetry said = ISO_TELEMETRY_INIT;

    (void)state;
    works(iso_device_get_telemetry(device, &said));
    assert_string_equal(said.source, "/proc, /sys");
    assert_true(said.busy_percent == -1);
    for (volatile int i = 0; i < 50000000; i++)
        ; /* the system counts in hundredths of a second */
    works(iso_device_get_telemetry(device, &said));
    assert_true(said.busy_percent > 0 && said.busy_percent <= 100);
    assert_true(said.clock_mhz == -1 || (said.clock_mhz > 100 && said.clock_mhz < 20000));
    assert_true(said.throttle >= -1 && said.throttle <= ISO_THROTTLE_THERMAL);
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),     cmocka_unit_test(test_failures),
        cmocka_unit_test(test_shorter),    cmocka_unit_test(test_without),
        cmocka_unit_test(test_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
