/* SPDX-License-Identifier: Apache-2.0 */
/* core_settings.c - the ISOMER_ variables: listed, checked, and refused if their values make no
 * sense. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static iso_setting setting_of(const char *name)
{
    iso_setting setting = ISO_SETTING_INIT;

    for (int32_t i = 0; iso_get_setting(i, &setting) == ISO_OK; i++) {
        if (!strcmp(setting.name, name)) {
            return setting;
        }
    }
    fail_msg("%s is not listed", name);
    return setting;
}

static void test_list(void **state)
{
    static const char *const names[] = {
        "ISOMER_BACKEND",      "ISOMER_MEMORY_LIMIT",  "ISOMER_MATH",      "ISOMER_BLAS",
        "ISOMER_NUM_THREADS",  "ISOMER_REQUIRE",       "ISOMER_CACHE_DIR", "ISOMER_BACKEND_PATH",
        "ISOMER_LOG",          "ISOMER_TRACE",         "ISOMER_CPU_ISA",   "ISOMER_TILES",
        "ISOMER_OPENCL_FORCE", "ISOMER_TRIAL_SECONDS", "ISOMER_KEEP",      "ISOMER_CC",
        "ISOMER_TUNED",
    };
    iso_setting setting = ISO_SETTING_INIT;
    int32_t count = 0;

    (void)state;
    iso_clear_error();
    while (iso_get_setting(count, &setting) == ISO_OK) {
        assert_int_equal(strncmp(setting.name, "ISOMER_", 7), 0);
        assert_true(setting.meaning[0] != 0);
        assert_true(!strcmp(setting.source, "environment") || !strcmp(setting.source, "default"));
        count++;
    }
    assert_int_equal(iso_get_setting(count, &setting), ISO_NOT_READY);
    assert_string_equal(iso_last_error(), "");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setting_of(names[i]);
    }
    fails(iso_get_setting(-1, &setting), ISO_INVALID, "index is -1");
    fails(iso_get_setting(0, NULL), ISO_INVALID, "out is NULL");
}

static void test_values(void **state)
{
    (void)state;
    unsetenv("ISOMER_MATH");
    assert_string_equal(setting_of("ISOMER_MATH").value, "strict");
    assert_string_equal(setting_of("ISOMER_MATH").source, "default");
    setenv("ISOMER_MATH", "tf32", 1);
    assert_string_equal(setting_of("ISOMER_MATH").value, "tf32");
    assert_string_equal(setting_of("ISOMER_MATH").source, "environment");
    assert_string_equal(setting_of("ISOMER_MATH").problem, "");
    unsetenv("ISOMER_MATH");
    setenv("ISOMER_NUM_THREADS", "1024", 1);
    assert_string_equal(setting_of("ISOMER_NUM_THREADS").problem, "");
    unsetenv("ISOMER_NUM_THREADS");
    setenv("ISOMER_BACKEND", "", 1);
    assert_non_null(strstr(setting_of("ISOMER_BACKEND").problem, "empty"));
    setenv("ISOMER_BACKEND", "openmq", 1);
    assert_non_null(strstr(setting_of("ISOMER_BACKEND").problem, "openmp"));
    unsetenv("ISOMER_BACKEND");
    setenv("ISOMER_REQUIRE", "openmp, opencl", 1);
    assert_string_equal(setting_of("ISOMER_REQUIRE").problem, "");
    setenv("ISOMER_REQUIRE", "openmp,CUDA", 1);
    assert_non_null(strstr(setting_of("ISOMER_REQUIRE").problem, "did you mean \"cuda\"?"));
    setenv("ISOMER_REQUIRE", "auto", 1);
    assert_non_null(strstr(setting_of("ISOMER_REQUIRE").problem, "auto is not a backend"));
    unsetenv("ISOMER_REQUIRE");
    assert_string_equal(setting_of("ISOMER_BACKEND").value, "auto");
    setenv("ISOMER_TUNED", "relative/folder", 1);
    assert_non_null(strstr(setting_of("ISOMER_TUNED").problem, "neither off nor an absolute path"));
    setenv("ISOMER_TUNED", "/somewhere", 1);
    assert_string_equal(setting_of("ISOMER_TUNED").problem, "");
    unsetenv("ISOMER_TUNED");
    setenv("ISOMER_CACHE_DIR", "/somewhere", 1);
    assert_string_equal(setting_of("ISOMER_TUNED").value, "/somewhere/tuned");
    setenv("ISOMER_CACHE_DIR", "relative/folder", 1);
    assert_non_null(strstr(setting_of("ISOMER_CACHE_DIR").problem, "not an absolute path"));
    setenv("ISOMER_CACHE_DIR", "off", 1);
    assert_string_equal(setting_of("ISOMER_CACHE_DIR").problem, "");
}

/* Invalid values prevent every device from opening; valid ones do not. */
static void test_validation(void **state)
{
    static const struct {
        const char *name, *value;
        int good;
    } rows[] = {
        {"ISOMER_MATH", "fast", 0},
        {"ISOMER_MATH", "default", 0},
        {"ISOMER_MATH", "tf32", 1},
        {"ISOMER_MATH", "", 1},
        {"ISOMER_KEEP", "tiled", 0},
        {"ISOMER_KEEP", "default", 0},
        {"ISOMER_KEEP", "bits", 1},
        {"ISOMER_KEEP", "", 1},
        {"ISOMER_MEMORY_LIMIT", "8G", 1},
        {"ISOMER_MEMORY_LIMIT", "8g", 1},
        {"ISOMER_MEMORY_LIMIT", "100%", 1},
        {"ISOMER_MEMORY_LIMIT", "123456789", 1},
        {"ISOMER_MEMORY_LIMIT", "101%", 0},
        {"ISOMER_MEMORY_LIMIT", "0%", 0},
        {"ISOMER_MEMORY_LIMIT", "0", 0},
        {"ISOMER_MEMORY_LIMIT", "-5", 0},
        {"ISOMER_MEMORY_LIMIT", "8X", 0},
        {"ISOMER_MEMORY_LIMIT", "8GB", 0},
        {"ISOMER_MEMORY_LIMIT", "1.5G", 0},
        {"ISOMER_MEMORY_LIMIT", "9000000T", 0},
        {"ISOMER_MEMORY_LIMIT", "99999999999999999999", 0},
        {"ISOMER_MEMORY_LIMIT", "much", 0},
        {"ISOMER_NUM_THREADS", "2", 1},
        {"ISOMER_NUM_THREADS", "0", 0},
        {"ISOMER_NUM_THREADS", "-1", 0},
        {"ISOMER_NUM_THREADS", "2x", 0},
        {"ISOMER_NUM_THREADS", " 2", 0},
        {"ISOMER_NUM_THREADS", "1025", 0},
        {"ISOMER_LOG", "loud", 0},
        {"ISOMER_TILES", "large", 0},
        {"ISOMER_TILES", "small", 1},
        {"ISOMER_TILES", "plain", 1},
        {"ISOMER_TILES", "own", 1},
        {"ISOMER_OPENCL_FORCE", "yes", 0},
        {"ISOMER_OPENCL_FORCE", "1", 1},
        {"ISOMER_TRIAL_SECONDS", "0", 0},
        {"ISOMER_TRIAL_SECONDS", "3601", 0},
        {"ISOMER_TRIAL_SECONDS", "2m", 0},
        {"ISOMER_TRIAL_SECONDS", "3600", 1},
        {"ISOMER_CPU_ISA", "sse9", 0},
        {"ISOMER_CPU_ISA", "generic", 1},
        {"ISOMER_TRACE", "/nonesuch/trace.json", 0},
        {"ISOMER_TRACE", "/", 0},
    };
    char quoted[128];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        iso_device device;

        setenv(rows[i].name, rows[i].value, 1);
        if (rows[i].good) {
            works(iso_device_open("openmp", &device));
            works(iso_device_close(device));
            assert_string_equal(setting_of(rows[i].name).problem, "");
        } else {
            snprintf(quoted, sizeof quoted, "\"%s\"", rows[i].value);
            fails(iso_device_open("openmp", &device), ISO_INVALID, rows[i].name, quoted);
            assert_int_equal(device.id, 0);
            assert_non_null(strstr(setting_of(rows[i].name).problem, quoted));
        }
        unsetenv(rows[i].name);
    }
}

/* ISOMER_MATH, the device's option and the operation's argument, in ascending priority. */
static void test_math(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_gemm_args args = unit_gemm((iso_buffer){0}, 8);
    iso_device device;

    (void)state;
    args.variant = ISO_VARIANT_TILED;
    args.math = ISO_MATH_TF32;
    works(iso_device_open("openmp", &device));
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.math, ISO_MATH_STRICT); /* tiled has one arithmetic */
    works(iso_device_close(device));
    options.math = ISO_MATH_STRICT;
    setenv("ISOMER_MATH", "tf32", 1);
    works(iso_device_open_with("openmp", &options, &device));
    args.math = ISO_MATH_DEFAULT;
    works(iso_describe(device, ISO_OP_GEMM, &args, &info));
    assert_int_equal(info.math, ISO_MATH_STRICT);
    works(iso_device_close(device));
    unsetenv("ISOMER_MATH");
}

/* A relative entry is skipped with a reason; the rest of the path is used. */
static void test_backend_path(void **state)
{
    char *path = getenv("ISOMER_BACKEND_PATH");
    char kept[8192], mixed[8300];
    iso_device device;

    (void)state;
    snprintf(kept, sizeof kept, "%s", path ? path : "");
    snprintf(mixed, sizeof mixed, "here/plugins::%s", kept);
    setenv("ISOMER_BACKEND_PATH", mixed, 1);
    assert_non_null(strstr(setting_of("ISOMER_BACKEND_PATH").problem, "\"here/plugins\""));
    works(iso_device_open("openmp", &device));
    works(iso_device_close(device));
    setenv("ISOMER_BACKEND_PATH", kept, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),         cmocka_unit_test(test_values),
        cmocka_unit_test(test_validation),   cmocka_unit_test(test_math),
        cmocka_unit_test(test_backend_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
