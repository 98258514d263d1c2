/* SPDX-License-Identifier: Apache-2.0 */
/* core_engines.c - plug-ins that have an engine and no devices: how they are listed, and what
 * naming one as a device gives. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static iso_entry find(const char *name)
{
    iso_entry *entries, found;
    int32_t count = 0, i = 0;

    works(iso_enumerate(NULL, 0, &count));
    entries = calloc((size_t)count, sizeof *entries);
    assert_non_null(entries);
    entries[0].size = (uint32_t)sizeof *entries;
    works(iso_enumerate(entries, count, &count));
    while (i < count && strcmp(entries[i].backend, name)) {
        i++;
    }
    assert_true(i < count);
    found = entries[i];
    free(entries);
    return found;
}

static void test_listed(void **state)
{
    iso_entry entry = find("unit-engine");

    (void)state;
    assert_int_equal(entry.state, ISO_STATE_NO_DEVICE);
    assert_int_equal(entry.is_plugin, 1);
    assert_string_equal(entry.reason, "an engine of a test, which has no devices");
    entry = find("unit-engine-claims"); /* it cannot have devices, whatever its probe says */
    assert_int_equal(entry.state, ISO_STATE_NO_DEVICE);
    entry = find("unit-engine-none");
    assert_int_equal(entry.state, ISO_STATE_LOAD_FAILED);
    assert_non_null(strstr(entry.reason, "its required entry engine is NULL"));
}

static void test_named(void **state)
{
    iso_device device = {1};
    char choice[ISO_REASON_MAX];

    (void)state;
    fails(iso_device_open("unit-engine", &device), ISO_UNAVAILABLE, "unit-engine", "no device",
          "an engine of a test");
    fails(iso_device_open("unit-engine:0", &device), ISO_UNAVAILABLE, "an engine of a test");
    fails(iso_device_open("unit-engine-claims", &device), ISO_UNAVAILABLE, "no device");
    fails(iso_device_open("unit-engine-none", &device), ISO_UNAVAILABLE, "engine is NULL");
    assert_int_equal(device.id, 0);
    works(iso_device_open("unit-engine,openmp", &device));
    works(iso_device_get_choice(device, choice, sizeof choice));
    assert_non_null(strstr(choice, "an engine of a test"));
    works(iso_device_close(device));
}

static void on_fault(int number)
{
    (void)number;
}

/* Runs first: a plug-in is loaded only once, and other backends' drivers have handlers too. */
static void test_handlers(void **state)
{
    struct sigaction action = {.sa_handler = on_fault}, after;
    iso_device device;

    (void)state;
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    fails(iso_device_open("unit-engine", &device), ISO_UNAVAILABLE, "an engine of a test");
    assert_int_equal(sigaction(SIGTRAP, NULL, &after), 0);
    assert_true(after.sa_handler == on_fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
