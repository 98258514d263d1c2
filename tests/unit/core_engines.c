/* SPDX-License-Identifier: Apache-2.0 */
/* core_engines.c - plug-ins that have an engine and no devices: how they are listed, and what
 * naming one as a device gives. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void write_file(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fputs("not a library", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A part of a plug-in is opened by an absolute path that others cannot write to. */
static void test_part(void **state)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    char folder[512], path[600];
    iso_device device;
    iso_comm comm;

    (void)state;
    options.engine = "unit-engine";
    works(iso_device_open("openmp", &device));
    unit_make_folder(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/part.so", folder);
    assert_int_equal(setenv("UNIT_ENGINE_PART", "part.so", 1), 0);
    fails(iso_comm_create(&device, 1, &options, &comm), ISO_UNAVAILABLE, "not an absolute path");
    assert_int_equal(setenv("UNIT_ENGINE_PART", path, 1), 0);
    fails(iso_comm_create(&device, 1, &options, &comm), ISO_UNAVAILABLE, "the part is not opened",
          path);
    write_file(path, 0666);
    fails(iso_comm_create(&device, 1, &options, &comm), ISO_UNAVAILABLE, "written to by others");
    assert_int_equal(chmod(path, 0600), 0);
    fails(iso_comm_create(&device, 1, &options, &comm), ISO_UNAVAILABLE, path, "file too short");
    assert_int_equal(unsetenv("UNIT_ENGINE_PART"), 0);
    fails(iso_comm_create(&device, 1, &options, &comm), ISO_UNSUPPORTED,
          "this engine does nothing");
    unit_remove_folder(folder);
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
