/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - places in the logs of an OpenCL compiler that ignores #line. */
#include "backends/opencl/library.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char source[] = "#line 1 \"header.h\"\none\ntwo\n#line 1 \"mine.isk\"\nfirst\nsecond\n"
                             "#line 40 \"rest\"\nlast\n";

static void becomes(const char *log, const char *expected)
{
    char to[200], small[8];
    const size_t length = ocl_log_places(log, source, to, sizeof to);
    assert_string_equal(to, expected);
    assert_int_equal(length, strlen(expected));
    assert_int_equal(ocl_log_places(log, source, NULL, 0), length);
    assert_int_equal(ocl_log_places(log, source, small, sizeof small), length);
    assert_memory_equal(small, expected, length < sizeof small ? length : sizeof small - 1);
}

static void test_places(void **state)
{
    (void)state;
    becomes("", "");
    becomes("warning: nothing here", "warning: nothing here");
    becomes("<kernel>:2:5: error: one", "header.h:1:5: error: one");
    becomes("<kernel>:6:17: error: x\n<kernel>:5: y", "mine.isk:2:17: error: x\nmine.isk:1: y");
    becomes("see <kernel>:8", "see rest:40");
    becomes("<kernel>:1: z", "<kernel>:1: z");
    becomes("<kernel>:99: z", "rest:41: z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
