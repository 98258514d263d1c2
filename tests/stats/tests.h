/* SPDX-License-Identifier: Apache-2.0 */
/* tests.h - declarations shared by the files of this test. */
#ifndef ISOMER_TESTS_STATS_H
#define ISOMER_TESTS_STATS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/stats/stats.h"

#define COUNT(x) ((int32_t)(sizeof(x) / sizeof((x)[0])))

/* random.c: the same numbers in each run, from random_restart() on. */
void random_restart(void);
double random_uniform(void); /* above 0, below 1 */
double random_normal(void);  /* with a deviation of 1 */
double random_heavy(void);   /* Student's t with 3 degrees of freedom */

int run_judge_tests(void);
int run_change_tests(void);

#endif
