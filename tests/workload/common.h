/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - helpers of the workload tests. */
#ifndef ISOMER_TEST_WORKLOAD_H
#define ISOMER_TEST_WORKLOAD_H

#include "bench/arith/arith.h"
#include "bench/workload/internal.h"
#include "bench/workload/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The list of a suite's text, "[{...}, ...]", written to a temporary file. Roofs are left out. */
work_list list_of(const char *cases, uint64_t seed);

/* A file NAME.json that holds the text, under TMPDIR; its path goes to `path`. */
enum { PATH_ROOM = 512 };
void write_file(char *path, const char *text, size_t length);

/* Runs `body` with stderr captured; the messages are in `text`. */
int said(int (*body)(void *), void *context, char *text, size_t room);

#endif
