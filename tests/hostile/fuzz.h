/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - whatever reads what others wrote, fed with anything. One program; FUZZ_TARGET says which
 * reader. libFuzzer drives it, or fuzz_main.c.
 */
#ifndef ISOMER_TESTS_FUZZ_H
#define ISOMER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says it on the stream that the program began with, and aborts: what drives it keeps the input. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A folder of the process's own, which goes away with it. */
const char *fuzz_folder(void);

/* The input as a file of that name in the folder. Its path, until the next. */
const char *fuzz_file(const char *name, const void *data, size_t size);

/* The input's lines, each with a 0 behind it; how many, at most `most`. Freed by the caller. */
char *fuzz_lines(const uint8_t *data, size_t size, char **lines, int most, int *count);

/* ---- the readers ----------------------------------------------------------------------------- */
void fuzz_results(const uint8_t *data, size_t size);
void fuzz_pair(const uint8_t *data, size_t size); /* two documents, "---" between them */
void fuzz_suite(const uint8_t *data, size_t size);
void fuzz_line(const uint8_t *data, size_t size); /* a line for each value of the command line */
void fuzz_settings(const uint8_t *data, size_t size); /* NAME=VALUE */
void fuzz_spec(const uint8_t *data, size_t size);
void fuzz_dlpack(const uint8_t *data, size_t size);
void fuzz_cache(const uint8_t *data, size_t size);
void fuzz_sensors(const uint8_t *data, size_t size); /* a line for each file */

#endif
