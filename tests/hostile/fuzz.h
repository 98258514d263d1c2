/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - fuzzes everything that reads input from outside. One program; FUZZ_TARGET selects the
 * reader. libFuzzer or fuzz_main.c drives it.
 */
#ifndef ISOMER_TESTS_FUZZ_H
#define ISOMER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes a message to the original stderr, and aborts: the driver keeps the input. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A folder of this process, removed at its end. */
const char *fuzz_folder(void);

/* Writes the input to a file of that name in the folder. Returns its path, valid until the next
 * call. */
const char *fuzz_file(const char *name, const void *data, size_t size);

/* The input's lines, each NUL-terminated; returns their number, at most `most`. The caller frees
 * them. */
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
void fuzz_tuned(const uint8_t *data, size_t size);

#endif
