/* SPDX-License-Identifier: Apache-2.0 */
/* chips.c - texts compiled for chips without a device, by one backend, whose name is the first
 * argument. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char *backend;

static const char good[] = "ISO_KERNEL(k, 64, 1, 1)(ISO_OUT(f32) y ISO_EXTENT(64))\n"
                           "{\n"
                           "    ISO_REGION(i) { y[i] = 2.0f; }\n"
                           "}\n";
static const char wrong[] = "ISO_KERNEL(k, 64, 1, 1)(ISO_OUT(f32) y ISO_EXTENT(64))\n"
                            "{\n"
                            "    ISO_REGION(i) { y[i] = absent; }\n"
                            "}\n";

static iso_status try_text(const char *chip, const char *text)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = "chips.isk";
    args.text = text;
    return iso_program_try(backend, chip, &args);
}

static void test_chips(void **state)
{
    (void)state;
    char chip[ISO_NAME_MAX], short_name[3];
    int32_t count = 0;
    for (; iso_chip_get(backend, count, chip, sizeof chip) == ISO_OK; count++) {
        assert_true(strlen(chip) > 1);
        if (count == 0) {
            works(try_text(chip, good));
            fails(try_text(chip, wrong), ISO_COMPILE, "absent");
            assert_non_null(strstr(iso_last_error(), "chips.isk"));
            fails(try_text(chip, "ISO_KERNEL(k"), ISO_INVALID, "iso_program_try: chips.isk:1:");
        }
    }
    assert_true(count > 0);
    assert_int_equal(iso_chip_get(backend, count, chip, sizeof chip), ISO_NOT_READY);
    works(iso_chip_get(backend, 0, short_name, sizeof short_name));
    assert_int_equal(strlen(short_name), 2);
    fails(try_text("no such chip", good), strcmp(backend, "hip") == 0 ? ISO_COMPILE : ISO_INVALID,
          "no such chip");
}

static void test_refused(void **state)
{
    (void)state;
    char chip[ISO_NAME_MAX];
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.text = good;
    fails(iso_chip_get(NULL, 0, chip, sizeof chip), ISO_INVALID, "backend is NULL");
    fails(iso_chip_get("none", 0, chip, sizeof chip), ISO_INVALID, "no backend has the name");
    fails(iso_chip_get(backend, -1, chip, sizeof chip), ISO_INVALID, "index is -1");
    fails(iso_chip_get(backend, 0, chip, 0), ISO_INVALID, "capacity 0");
    fails(iso_chip_get(backend, 0, NULL, 1), ISO_INVALID, "name is NULL");
    fails(iso_program_try(backend, NULL, &args), ISO_INVALID, "chip is NULL");
    fails(iso_program_try(backend, "x", NULL), ISO_INVALID, "args is NULL");
    if (strcmp(backend, "openmp") == 0) { /* a vendor's compiler and PoCL may both bring an LLVM */
        fails(iso_chip_get("opencl", 0, chip, sizeof chip), ISO_UNSUPPORTED,
              "opencl does not compile without a device");
    }
}

int main(int argc, char **argv)
{
    char chip[ISO_NAME_MAX];
    backend = argc > 1 ? argv[1] : "openmp";
    if (iso_chip_get(backend, 0, chip, sizeof chip) == ISO_UNSUPPORTED) {
        (void)printf("skip: %s\n", iso_last_error());
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chips),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
