/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - what the tests of the workloads share. */
#ifndef ISOMER_TEST_WORKLOAD_H
#define ISOMER_TEST_WORKLOAD_H

#include "suite/internal.h"
#include "workload/internal.h"
#include "workload/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The list of a suite's text, "[{...}, ...]", in a file of its own. Roofs are left out. */
work_list list_of(const char *cases, uint64_t seed);

/* Runs `body` with stderr kept; what was said is in `text`. */
int said(int (*body)(void *), void *context, char *text, size_t room);

#endif
