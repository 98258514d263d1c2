/* SPDX-License-Identifier: Apache-2.0 */
/* tests.h - declarations shared by the two files of this test. */
#ifndef ISOMER_TESTS_STATS_H
#define ISOMER_TESTS_STATS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/stats/stats.h"

#define COUNT(x) ((int32_t)(sizeof(x) / sizeof((x)[0])))

int run_judge_tests(void);
int run_change_tests(void);

#endif
