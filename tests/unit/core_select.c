/* SPDX-License-Identifier: Apache-2.0 */
/* core_select.c - which device a spec opens, and the message if there is none. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refused(const char *spec, const char *const *words)
{
    iso_device device = {7};

    iso_clear_error();
    unit_judge(spec, iso_device_open(spec, &device), ISO_INVALID, words);
    assert_int_equal(device.id, 0);
}

static void test_bad_specs(void **state)
{
    static const struct {
        const char *spec;
        const char *words[5];
    } rows[] = {
        {"", {"empty", "auto"}},
        {"nonesuch", {"\"nonesuch\"", "not a known backend", "auto", "openmp"}},
        {"openmpp", {"did you mean \"openmp\"?"}},
        {"opnmp:0", {"did you mean \"openmp\"?"}},
        {"OpenMP", {"not a known backend", "\"openmp\""}},
        {"open mp", {"\"open mp\" has a blank in its name", "commas"}},
        {"cuda openmp", {"\"cuda openmp\" has a blank in its name", "commas"}},
        {"openmp :0", {"has a blank in its name"}},
        {"openmp:0 cuda", {"\"openmp:0 cuda\" names cuda after a blank", "commas"}},
        {"openmp:0  cuda:1", {"names cuda after a blank"}},
        {"openmp, ,openmp", {"empty name"}},
        {" ", {"empty name"}},
        {"openmp;cuda", {"\"openmp;cuda\" is not a known backend"}},
        {"aut", {"did you mean \"auto\"?"}},
        {"openmp,", {"empty name"}},
        {",openmp", {"empty name"}},
        {"openmp,,openmp", {"empty name"}},
        {"openmp,nonesuch", {"\"nonesuch\""}},
        {":0", {"empty name"}},
        {"auto:0", {"auto", "must stand alone"}},
        {"openmp,auto", {"auto", "must stand alone"}},
        {"openmp:", {"nothing after the colon"}},
        {"openmp:1", {"openmp:1", "past the last", "openmp:0"}},
        {"openmp:99999999999999999999", {"past the last"}},
        {"openmp:-1", {"openmp:-1", "matches no device"}},
        {"openmp:nonesuch", {"matches no device", "openmp:0"}},
        {"openmp:uuid=nonesuch", {"matches no device"}},
        {"../openmp", {"not a known backend"}},
        {"a/b", {"not a known backend"}},
    };
    char *long_spec = malloc(100001);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused(rows[i].spec, rows[i].words);
    }
    assert_non_null(long_spec);
    memset(long_spec, 'x', 100000);
    long_spec[100000] = 0;
    refused(long_spec, (const char *const[]){"too long", "100000", NULL});
    free(long_spec);
    fails(iso_device_open("openmp", NULL), ISO_INVALID, "out", "NULL");
}

static void test_environment(void **state)
{
    iso_device device;
    char choice[8192];

    (void)state;
    setenv("ISOMER_BACKEND", "", 1);
    fails(iso_device_open(NULL, &device), ISO_INVALID, "ISOMER_BACKEND", "empty");
    setenv("ISOMER_BACKEND", "openpm", 1);
    fails(iso_device_open(NULL, &device), ISO_INVALID, "ISOMER_BACKEND", "\"openpm\"",
          "did you mean \"openmp\"?");
    works(iso_device_open("openmp", &device)); /* an argument overrides the variable */
    works(iso_device_get_choice(device, choice, sizeof choice));
    assert_non_null(strstr(choice, "openmp:0"));
    works(iso_device_close(device));
    setenv("ISOMER_BACKEND", "openmp:0", 1);
    works(iso_device_open(NULL, &device));
    works(iso_device_get_choice(device, choice, sizeof choice));
    assert_non_null(strstr(choice, "ISOMER_BACKEND"));
    works(iso_device_close(device));
    unsetenv("ISOMER_BACKEND");
    works(iso_device_open(NULL, &device));
    works(iso_device_get_choice(device, choice, sizeof choice));
    assert_non_null(strstr(choice, "auto"));
    works(iso_device_close(device));
}

static void open_and_close(const char *spec)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_device device;

    works(iso_device_open(spec, &device));
    works(iso_device_get_info(device, &info));
    assert_string_equal(info.spec, "openmp:0");
    assert_string_equal(info.backend, "openmp");
    assert_int_equal(info.index, 0);
    assert_int_equal(info.size, sizeof info);
    works(iso_device_close(device));
}

static void test_good_specs(void **state)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_device device;
    char spec[256];

    (void)state;
    open_and_close("openmp");
    open_and_close("openmp:0");
    open_and_close("openmp:00");
    open_and_close("openmp,openmp");
    open_and_close(" openmp");
    open_and_close("openmp:0\t, openmp ");
    works(iso_device_open("openmp", &device));
    works(iso_device_get_info(device, &info));
    works(iso_device_close(device));
    snprintf(spec, sizeof spec, "openmp:%s", info.name);
    if (!strpbrk(spec + 7, ",") && spec[7]) {
        open_and_close(spec);
    }
    if (info.uuid[0]) {
        snprintf(spec, sizeof spec, "openmp:uuid=%s", info.uuid);
        open_and_close(spec);
    }
}

/* iso_spec_get parses lists in the same way. */
static void test_lists(void **state)
{
    iso_spec entry = ISO_SPEC_INIT;
    const char *list = " openmp , cuda:1,opencl:Portable Computing Language";

    (void)state;
    works(iso_spec_get(list, 0, &entry));
    assert_string_equal(entry.text, "openmp");
    assert_string_equal(entry.backend, "openmp");
    assert_string_equal(entry.device, "");
    works(iso_spec_get(list, 1, &entry));
    assert_string_equal(entry.text, "cuda:1");
    assert_string_equal(entry.device, "1");
    works(iso_spec_get(list, 2, &entry));
    assert_string_equal(entry.backend, "opencl");
    assert_string_equal(entry.device, "Portable Computing Language");
    assert_int_equal(iso_spec_get(list, 3, &entry), ISO_NOT_READY);
    works(iso_spec_get("auto", 0, &entry));
    assert_string_equal(entry.backend, "auto");
    /* The whole list is checked, whatever the index. */
    fails(iso_spec_get("openmp,CUDA", 0, &entry), ISO_INVALID, "\"CUDA\"",
          "did you mean \"cuda\"?");
    fails(iso_spec_get("", 0, &entry), ISO_INVALID, "empty");
    fails(iso_spec_get(NULL, 0, &entry), ISO_INVALID, "list is NULL");
    fails(iso_spec_get("openmp", -1, &entry), ISO_INVALID, "index is -1");
    fails(iso_spec_get("openmp", 0, NULL), ISO_INVALID, "out is NULL");
    entry.size = 3;
    fails(iso_spec_get("openmp", 0, &entry), ISO_INVALID, "size");
}

/* `auto` takes the first device that is not a CPU, in the order of the backends, and the CPU
 * backend if there is none. */
static void test_auto(void **state)
{
    enum { ROOM = 64 };
    static iso_entry entries[ROOM];
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    const char *expected = "openmp:0", *passed_over = NULL;
    char choice[8192];
    iso_device device;
    int32_t count;

    (void)state;
    entries[0].size = (uint32_t)sizeof entries[0];
    works(iso_enumerate(entries, ROOM, &count));
    assert_true(count <= ROOM);
    for (int32_t i = count - 1; i >= 0; i--) {
        if (entries[i].is_plugin || entries[i].state != ISO_STATE_OK) {
            continue;
        }
        if (entries[i].device.type != ISO_DEVICE_CPU) {
            expected = entries[i].device.spec;
        } else if (strcmp(entries[i].backend, "openmp") != 0) {
            passed_over = entries[i].backend;
        }
    }
    works(iso_device_open("auto", &device));
    works(iso_device_get_info(device, &info));
    assert_string_equal(info.spec, expected);
    works(iso_device_get_choice(device, choice, sizeof choice));
    works(iso_device_close(device));
    if (passed_over && !strcmp(expected, "openmp:0")) {
        assert_non_null(strstr(choice, "has only CPU devices"));
        /* By name, and in a list, it is used. */
        works(iso_device_open(passed_over, &device));
        works(iso_device_get_info(device, &info));
        assert_string_equal(info.backend, passed_over);
        works(iso_device_close(device));
    }
    print_message("auto takes %s; passed over: %s\n", expected, passed_over ? passed_over : "none");
}

/* A built-in backend that is not available here; NULL if all are. */
static const char *absent(iso_entry *entries, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (!entries[i].is_plugin && entries[i].state != ISO_STATE_OK) {
            return entries[i].backend;
        }
    }
    return NULL;
}

static void test_absent(void **state)
{
    iso_entry *entries = calloc(64, sizeof *entries);
    char spec[300], choice[16384];
    iso_device device;
    const char *name;
    int32_t count;

    (void)state;
    assert_non_null(entries);
    entries->size = (uint32_t)sizeof *entries;
    works(iso_enumerate(entries, 64, &count));
    name = absent(entries, count);
    if (name) {
        fails(iso_device_open(name, &device), ISO_UNAVAILABLE, name, "not available");
        assert_int_equal(device.id, 0);
        snprintf(spec, sizeof spec, "%s,openmp", name);
        iso_clear_error();
        works(iso_device_open(spec, &device));
        assert_string_equal(iso_last_error(),
                            ""); /* a failure of an earlier list entry is not reported */
        works(iso_device_get_choice(device, choice, sizeof choice));
        assert_non_null(strstr(choice, name));
        assert_non_null(strstr(choice, "not available"));
        works(iso_device_close(device));
        snprintf(spec, sizeof spec, "%s,%s", name, name);
        fails(iso_device_open(spec, &device), ISO_UNAVAILABLE, name, "none of");
    }
    free(entries);
}

/* No entry before or after it hides a backend's refusal of a setting. */
static void test_setting(void **state)
{
#if defined __x86_64__
    const char *isa = "neon";
#else
    const char *isa = "avx2";
#endif
    iso_entry *entries = calloc(64, sizeof *entries);
    const char *name;
    char spec[300];
    iso_device device;
    int32_t count;

    (void)state;
    assert_non_null(entries);
    entries->size = (uint32_t)sizeof *entries;
    works(iso_enumerate(entries, 64, &count));
    name = absent(entries, count);
    snprintf(spec, sizeof spec, "%s,openmp", name ? name : "openmp");
    setenv("ISOMER_CPU_ISA", isa, 1);
    fails(iso_device_open("openmp", &device), ISO_INVALID, "ISOMER_CPU_ISA", isa);
    fails(iso_device_open("openmp,openmp", &device), ISO_INVALID, "ISOMER_CPU_ISA", isa);
    if (name) {
        fails(iso_device_open(spec, &device), ISO_INVALID, "ISOMER_CPU_ISA", isa);
    }
    if (iso_device_open("auto", &device)) { /* there is no other device */
        fails(iso_device_open("auto", &device), ISO_INVALID, "ISOMER_CPU_ISA", isa);
        fails(iso_device_open(NULL, &device), ISO_INVALID, "ISOMER_CPU_ISA", isa);
    } else {
        works(iso_device_close(device));
    }
    unsetenv("ISOMER_CPU_ISA");
    free(entries);
}

static void put_link(const char *folder, const char *name)
{
    char path[700];

    snprintf(path, sizeof path, "%s/isomer-%s.so", folder, name);
    assert_int_equal(symlink("/nonesuch/file", path), 0);
}

/* Files that exist but cannot be opened, or whose name is not valid in a spec. */
static void test_odd_files(void **state)
{
    const char *path = getenv("ISOMER_BACKEND_PATH");
    char kept[8192], folder[512];
    iso_device device;

    (void)state;
    snprintf(kept, sizeof kept, "%s", path ? path : "");
    unit_make_folder(folder, sizeof folder);
    put_link(folder, "dang");
    put_link(folder, "UP");
    put_link(folder, "two\nlines");
    setenv("ISOMER_BACKEND_PATH", folder, 1);
    fails(iso_device_open("dang", &device), ISO_UNAVAILABLE, "isomer-dang.so",
          iso_state_name(ISO_STATE_LOAD_FAILED), "a link to a file that does not exist");
    fails(iso_device_open("UP", &device), ISO_INVALID,
          "\"UP\" is not a known backend. The known ones are");
    assert_null(strstr(iso_last_error(), ", UP"));
    assert_null(strchr(iso_last_error(), '\n'));
    fails(iso_device_open("dank", &device), ISO_INVALID,
          "did you mean \"dang\"? The known ones are", ", dang");
    setenv("ISOMER_BACKEND_PATH", kept, 1);
    unit_remove_folder(folder);
}

static void test_enumerate(void **state)
{
    iso_entry *entries = calloc(64, sizeof *entries);
    int32_t count = -1, again, found = 0;

    (void)state;
    assert_non_null(entries);
    works(iso_enumerate(NULL, 0, &count));
    assert_true(count >= 1 && count <= 64);
    entries->size = (uint32_t)sizeof *entries;
    works(iso_enumerate(entries, 1, &again)); /* counts all, writes what fits */
    assert_int_equal(again, count);
    assert_int_equal(entries[1].size, 0);
    works(iso_enumerate(entries, 64, &again));
    assert_int_equal(again, count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].size, sizeof *entries);
        assert_non_null(iso_state_name(entries[i].state));
        assert_true((entries[i].state == ISO_STATE_OK) == !entries[i].reason[0]);
        assert_true((entries[i].state == ISO_STATE_OK) == (entries[i].device.size != 0));
        found += !strcmp(entries[i].backend, "openmp") && entries[i].state == ISO_STATE_OK;
        assert_true(entries[i].is_plugin == (strcmp(entries[i].origin, "built in") != 0));
    }
    assert_int_equal(found, 1);
    fails(iso_enumerate(entries, -1, &count), ISO_INVALID, "capacity", "-1");
    fails(iso_enumerate(NULL, 1, &count), ISO_INVALID, "entries", "NULL");
    fails(iso_enumerate(entries, 1, NULL), ISO_INVALID, "count", "NULL");
    entries->size = 3;
    fails(iso_enumerate(entries, 1, &count), ISO_INVALID, "entries->size", "3");
    free(entries);
}

static void test_choice(void **state)
{
    iso_device device;
    char text[8];

    (void)state;
    works(iso_device_open("openmp", &device));
    works(iso_device_get_choice(device, text, sizeof text));
    assert_string_equal(text, "openmp:");
    fails(iso_device_get_choice(device, NULL, 8), ISO_INVALID, "text", "NULL");
    fails(iso_device_get_choice(device, text, 0), ISO_INVALID, "capacity", "0");
    fails(iso_device_get_choice(device, text, -4), ISO_INVALID, "capacity", "-4");
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_specs),  cmocka_unit_test(test_environment),
        cmocka_unit_test(test_good_specs), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_enumerate),  cmocka_unit_test(test_choice),
        cmocka_unit_test(test_setting),    cmocka_unit_test(test_odd_files),
        cmocka_unit_test(test_lists),      cmocka_unit_test(test_auto),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
