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

/* Makes the list of a suite with these cases, "[{...}, ...]", by way of a temporary file. Roofs are
 * left out. */
work_list list_of(const char *cases, uint64_t seed);

/* Writes the text to a new file NAME.json under TMPDIR, and the name of the file to `path`. */
enum { PATH_ROOM = 512 };
void write_file(char *path, const char *text, size_t length);

/* Runs `body` and copies what it writes to stderr to `text`. Returns what `body` returns. */
int said(int (*body)(void *), void *context, char *text, size_t room);

#endif
