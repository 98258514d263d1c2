/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - texts of kernels that are read or refused, for the tests of the core's reader. */
#ifndef ISOMER_TESTS_KERNELS_TEXTS_H
#define ISOMER_TESTS_KERNELS_TEXTS_H

#include "core/kernel/declare.h"
#include "tests/unit/unit.h"

/* The caller's macros. */
enum { TEXTS_MACROS = 2 };
extern const kernel_macro texts_macros[TEXTS_MACROS];
extern int texts_reallocs_left; /* until one fails; -1: none */

iso_status texts_read(const char *text, kernel_file *file);

typedef struct refusal {
    const char *text;
    int line;
    const char *word, *more; /* in the message */
} refusal;

/* Each of the texts up to NULL has kernels. */
void texts_accepted(const char *const *texts);
/* Each row up to one without a text is refused with its line and words. */
void texts_refused(const refusal *rows);

#define KERNEL(sizes)      "ISO_KERNEL(k, " sizes ")(i64 n) { }"
#define PARAMS(text)       "ISO_KERNEL(k, 8, 1, 1)(\n" text ") { }"
#define BODY(text)         "ISO_KERNEL(k, 8, 1, 1)(i64 n)\n{\n" text "\n}\n"
#define SIZED(sizes, text) "ISO_KERNEL(k, " sizes ")(i64 n)\n{\n" text "\n}\n"
#define SHARED(count)      "ISO_KERNEL(k, 8, 1, 1)(ISO_SHARED(f32, " count ") s) { }"

#endif
